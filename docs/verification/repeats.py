"""Rebuild the study of repeated runs: ``python -m uv run python docs/verification/repeats.py`` (some minutes).

Items have chances of their own, which two systems share in part; every item is run several times. How often do nominal
95% intervals hold the mean over all items, and the difference of two systems that are equally good, and how often do
equal systems get a verdict at .95 (at most 10% is meant)? Beside these the intervals of the pooled runs, as if each
were an item. Writes repeats.csv and repeats_table.inc. ``--quick`` runs a small part and writes nothing. Either fails
if a promise of the page is broken.
"""

import itertools
import sys
from pathlib import Path

import numpy as np
from rows import write_rows
from scipy import stats

import bayescm

Row = dict[str, object]

HERE = Path(__file__).parent
RUNS, REPEATS = (1, 4, 10), 200
ITEMS = ((0.3, 20), (0.3, 100), (5.0, 20))  # how chances scatter, and how many items
SHARED = 0.5  # correlation of the two systems' chances, on a normal scale
LEVEL = 0.95


def study(items: int, runs: int, spread: float, repeats: int) -> Row:
    """Return how often intervals hold for so many items and runs; chances come from Beta(spread, spread)."""
    rng = np.random.default_rng([items, runs, int(10 * spread)])
    held = np.zeros(5)
    for repeat in range(repeats):
        common, *own = rng.standard_normal((3, items))
        normal = np.sqrt(SHARED) * common + np.sqrt(1 - SHARED) * np.array(own)
        passes = rng.binomial(runs, stats.beta.ppf(stats.norm.cdf(normal), spread, spread))
        told = {"A": passes[0], "B": passes[1]}
        one = bayescm.summary(told, runs=runs, ci_prob=LEVEL, ci_kind="eti", draws=2000, random_seed=repeat)
        two = bayescm.compare_systems(told, runs=runs, ci_prob=LEVEL, ci_kind="eti", draws=500, random_seed=repeat)
        alone, apart = (np.squeeze(found.interval.values) for found in (one.isel(system=0), two["summary"]))
        share = passes.sum(1) / (items * runs)
        pooled = stats.beta.ppf([0.025, 0.975], passes[0].sum() + 1, items * runs - passes[0].sum() + 1)
        reach = stats.norm.ppf(0.975) * np.sqrt((share * (1 - share)).sum() / (items * runs))
        decided = two["summary"].verdict.item() != "undecided"
        held += [
            alone[0] <= 0.5 <= alone[1], apart[0] <= 0 <= apart[1], decided, pooled[0] <= 0.5 <= pooled[1],
            abs(share[0] - share[1]) <= reach,
        ]  # fmt: skip
    names = ("mean", "difference", "verdicts", "mean_pooled", "difference_pooled")
    shares = dict(zip(names, (held / repeats).round(4).tolist(), strict=True))
    print(items, runs, spread, shares, flush=True)
    return {"items": items, "runs": runs, "spread": spread, "repeats": repeats, **shares}


def table(made: list[Row]) -> str:
    """Return the table of the page."""
    lines = [
        "| chances of the items | items | runs | mean | pooled | difference | pooled | verdicts on equals |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in made:
        names = ("mean", "mean_pooled", "difference", "difference_pooled", "verdicts")
        cells = [f"{row[name]:.3f}" for name in names]
        first = f"Beta({row['spread']:g}, {row['spread']:g}) | {row['items']} | {row['runs']}"
        lines.append(f"| {first} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def broken(made: list[Row]) -> list[str]:
    """Return the promises of the page that rows don't keep, with a margin of four standard errors."""
    said = []
    for row in made:
        found = {name: float(str(row[name])) for name in ("mean", "difference", "verdicts", "mean_pooled")}
        what = f"{row['items']} items, {row['runs']} runs, Beta({row['spread']})"
        margin = 4 * float(np.sqrt(0.95 * 0.05 / int(str(row["repeats"]))))
        if min(found["mean"], found["difference"]) < LEVEL - 0.02 - margin:
            said.append(f"intervals are too short: {what}")
        if found["verdicts"] > 0.12 + margin * 1.4:
            said.append(f"equal systems get verdicts too often: {what}")
        if row["runs"] == 10 and row["spread"] == 0.3 and found["mean_pooled"] > 0.6 + 1.5 * margin:
            said.append(f"pooling does no harm? {what}")
    return said


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    plan = [(ITEMS[0], RUNS[-1])] if quick else list(itertools.product(ITEMS, RUNS))
    made = [study(items, runs, spread, 20 if quick else REPEATS) for (spread, items), runs in plan]
    if not quick:
        write_rows(HERE / "repeats.csv", made)
        (HERE / "repeats_table.inc").write_text(table(made))
    print(table(made))
    sys.exit("\n".join(broken(made)) or None)
