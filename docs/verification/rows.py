"""What the studies of this folder share."""

import csv
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd


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


def write_study(main: Callable[[int], pd.DataFrame], file: Path, runs: int, quick: int) -> None:
    """Print a study's table of so many runs, and write it; with ``--quick`` of few runs, and write nothing."""
    few = "--quick" in sys.argv
    table = main(quick if few else runs)
    print(table.to_string(index=False))
    if not few:
        table.to_csv(file, index=False)
