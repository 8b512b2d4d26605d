"""Files of JSON."""

import json
from pathlib import Path
from typing import Any


def parsed(path: Path, text: str | bytes) -> Any:
    """Return what stands in a text of JSON."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"{path.name!r} can't be read as JSON: {error}.") from None


def records_of(path: Path) -> Any:
    """Return what stands in a file of JSON, or of JSON line by line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name!r} can't be read as JSON: {error}.") from None
    if path.suffix.casefold() == ".jsonl":
        return [parsed(path, line) for line in text.split("\n") if line.strip()]
    return parsed(path, text)
