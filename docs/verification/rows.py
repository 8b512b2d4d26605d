"""What the studies of this folder share."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def write_rows(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows of equal keys as csv, with a header."""
    with file.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.DictWriter(lines, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
