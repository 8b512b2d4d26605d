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


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows of equal keys as a table of a page; numbers from a hundred on without decimals."""
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + " ---: |" * len(rows[0])]
    cells = [[f"{v:,.0f}" if isinstance(v, int | float) and v >= 100 else str(v) for v in row.values()] for row in rows]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in cells]) + "\n"
