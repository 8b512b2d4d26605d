"""Coverage of simultaneous intervals of multinomial shares, by enumeration of every sample (a minute).

``python -m uv run python docs/verification/simultaneous.py``. Writes simultaneous.csv and simultaneous_table.inc.
``--quick`` runs a small part, writes nothing, and fails if Goodman's intervals hold too seldom.
"""

import itertools
import sys
from functools import partial
from pathlib import Path

import numpy as np
from rows import write_rows

from bayescm.calibration import coverage_of
from bayescm.inference.multinomial import goodman, sison_glaz

HERE = Path(__file__).parent
LEVEL = 0.95
METHODS = {"goodman": goodman, "sison_glaz": sison_glaz}
SAMPLES = ((3, 10), (3, 30), (3, 100), (4, 20), (4, 40))
"""Cells and items."""
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.8, 0.9)


def coverage(k: int, n: int) -> list[dict[str, object]]:
    """Return a row per method: mean and least probability to hold all shares, over shares of which none is tiny."""
    truths = [(*p, 1.0 - sum(p)) for p in itertools.product(SHARES, repeat=k - 1) if sum(p) < 0.97]
    rows: list[dict[str, object]] = []
    for name, method in METHODS.items():
        found = coverage_of(partial(method, ci_prob=LEVEL), truths, n, simultaneous=True)
        held, width = found["coverage"], found["width"]
        numbers = {"mean": np.mean(held), "least": np.min(held), "width": np.mean(width)}
        rows.append({"cells": k, "items": n, "method": name} | {key: round(float(v), 4) for key, v in numbers.items()})
    return rows


def table(rows: list[dict[str, object]]) -> str:
    """Return the table of the page."""
    lines = ["| cells | items | method | mean coverage | least | mean width |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {r['cells']} | {r['items']} | `{r['method']}` | {r['mean']:.3f} | {r['least']:.3f} | {r['width']:.3f} |"
        for r in rows
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    rows = [row for sizes in (SAMPLES[:1] if quick else SAMPLES) for row in coverage(*sizes)]
    print(table(rows))
    if any(row["method"] == "goodman" and float(str(row["least"])) < 0.93 for row in rows):
        raise SystemExit("Goodman's intervals hold too seldom.")
    if not quick:
        write_rows(HERE / "simultaneous.csv", rows)
        (HERE / "simultaneous_table.inc").write_text(table(rows))
