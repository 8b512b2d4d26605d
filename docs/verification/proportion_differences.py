"""Coverage of intervals of a difference of two proportions, by enumeration (a minute).

``python -m uv run python docs/verification/proportion_differences.py``. Every outcome is enumerated, nothing is
simulated. Writes proportion_differences.csv and proportion_differences_table.inc. ``--quick`` runs a small part, writes
nothing, and fails if the score intervals cover much too little.
"""

import itertools
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from rows import write_rows

from bayescm.calibration import coverage_of
from bayescm.comparison import frequentist
from bayescm.comparison.frequentist import Agreement

Array = NDArray[np.float64]

HERE = Path(__file__).parent
LEVEL = 0.95
SAMPLES = ((10, 10), (20, 20), (50, 50), (50, 10))
ITEMS = (10, 20, 40)
RATES = np.concatenate([[0.01], np.arange(0.05, 1.0, 0.05), [0.99]])
DISCORDANT = (0.05, 0.1, 0.2, 0.4)
"""Shares of items that one system alone gets right, of either."""
RIGHT = (0.1, 0.5, 0.9)
"""Share of the other items that both get right."""


def of_independent(n1: int, n2: int) -> list[dict[str, object]]:
    """Return coverage and mean width of each interval, over all pairs of rates."""
    truths = [[(1.0 - p1, p1), (1.0 - p2, p2)] for p1 in RATES for p2 in RATES]

    def intervals(counts: Array) -> Array:
        return np.array([frequentist.independent_intervals(tuple(k), (n1, n2), LEVEL) for k in counts[..., 1].tolist()])

    found = coverage_of(both(intervals), truths, (n1, n2), target=lambda p: p[0, 1] - p[1, 1])
    return rows("independent", f"{n1} and {n2}", frequentist.INDEPENDENT_INTERVALS, found)


def of_paired(n: int) -> list[dict[str, object]]:
    """Return the same for items that both systems answered."""
    truths = [((1.0 - b - c) * right, b, c, (1.0 - b - c) * (1.0 - right))
              for b, c, right in itertools.product(DISCORDANT, DISCORDANT, RIGHT)]  # fmt: skip

    def intervals(counts: Array) -> Array:
        return np.array([frequentist.paired_intervals(Agreement(*map(float, row)), LEVEL) for row in counts])

    found = coverage_of(both(intervals), truths, n, target=lambda p: p[1] - p[2])
    return rows("paired", str(n), frequentist.PAIRED_INTERVALS, found)


def both(intervals: Callable[[Array], Array]) -> Callable[[Array], tuple[Array, Array]]:
    """Return lower and upper bounds (samples, intervals), a rounding error wider."""

    def bounds(counts: Array) -> tuple[Array, Array]:
        lower, upper = np.moveaxis(intervals(counts), -1, 0)
        return lower - 1e-12, upper + 1e-12

    return bounds


def rows(design: str, items: str, names: tuple[str, ...], found: xr.Dataset) -> list[dict[str, object]]:
    """Return a row per interval: mean and least coverage over the truths, misses on either side, mean width."""
    made: list[dict[str, object]] = []
    for i, name in enumerate(names):
        one = found.isel(quantity=i)
        values = {
            "mean": one["coverage"].mean(), "least": one["coverage"].min(),
            "largest_one_sided_miss": max(one["below"].max(), one["above"].max()), "width": one["width"].mean(),
        }  # fmt: skip
        made.append({"design": design, "items": items, "interval": name}
                    | {key: round(float(value), 4) for key, value in values.items()})  # fmt: skip
    return made


def table(found: list[dict[str, object]]) -> str:
    """Return the table of the page."""
    lines = ["| design | items | interval | mean coverage | least | largest miss on one side | mean width |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    lines += [
        f"| {r['design']} | {r['items']} | `{r['interval']}` | {r['mean']:.3f} | {r['least']:.3f} | "
        f"{r['largest_one_sided_miss']:.3f} | {r['width']:.3f} |"
        for r in found
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    found = [r for sizes in (SAMPLES[:1] if quick else SAMPLES) for r in of_independent(*sizes)]
    found += [r for n in (ITEMS[:1] if quick else ITEMS) for r in of_paired(n)]
    print(table(found))
    for one in found:
        if one["interval"] in ("miettinen_nurminen", "tango") and not 0.94 < float(str(one["mean"])) < 0.98:
            raise SystemExit(f"The mean coverage of {one} is off.")
    if not quick:
        write_rows(HERE / "proportion_differences.csv", found)
        (HERE / "proportion_differences_table.inc").write_text(table(found))
