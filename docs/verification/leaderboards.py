"""Rebuild the calibration of ranks: ``python -m uv run python docs/verification/leaderboards.py`` (some ten minutes).

Five systems with true accuracies from Beta(90, 10), 300 items, many leaderboards. Of all squares of P(rank) whose
stated probability falls into a bin, in how many does the system have that rank? (a) A test set for each system, with
the true prior and with the default one. (b) The same items for all, half of which are as hard for one system as for
another: ranked together, and taken as independent. Writes leaderboards.csv and its table. ``--quick`` runs a small part
and writes nothing. Either fails if a promise of the page is broken.
"""

import itertools
import sys
import warnings
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from rows import write_rows

import bayescm

Array = NDArray[np.float64]

HERE = Path(__file__).parent
SYSTEMS, ITEMS, TRUTH, SHARED = 5, 300, (90.0, 10.0), 0.5
REPEATS, DRAWS = 4000, 2000
BINS = np.array([0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99, 1.0 + 1e-9])
LINES = ("true prior", "default prior", "same items, together", "same items, as independent")


def boards(repeat: int) -> tuple[Array, dict[str, Array]]:
    """Return the true ranks of two designs and P(rank) as each line states it."""
    rng = np.random.default_rng(repeat)
    accuracy = rng.beta(*TRUTH, SYSTEMS)
    right = rng.binomial(ITEMS, accuracy)
    data = xr.Dataset({"correct": ("system", right), "wrong": ("system", ITEMS - right)})
    common = rng.random(ITEMS) < SHARED
    hard = np.where(common, rng.random(ITEMS), rng.random((SYSTEMS, ITEMS)))
    actual = rng.integers(0, 2, ITEMS)
    answers = {f"s{s}": np.where(hard[s] < accuracy[s], actual, 1 - actual) for s in range(SYSTEMS)}
    told = bayescm.predictions(actual, answers)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that the same items are taken as independent: the point of it
        stated = {
            LINES[0]: bayescm.leaderboard(data, prior=TRUTH),
            LINES[1]: bayescm.leaderboard(data),
            LINES[2]: bayescm.leaderboard(told, draws=DRAWS, random_seed=repeat),
            LINES[3]: bayescm.leaderboard(told, method="exact"),
        }
    ranks = np.eye(SYSTEMS)[np.argsort(np.argsort(-accuracy))]
    return ranks, {line: board["rank_probability"].values for line, board in stated.items()}


def study(repeats: int) -> list[dict[str, object]]:
    """Return one row per line and bin of stated probabilities."""
    found = [boards(repeat) for repeat in range(repeats)]
    truth = np.concatenate([ranks.ravel() for ranks, _ in found])
    rows: list[dict[str, object]] = []
    for line in LINES:
        stated = np.concatenate([board[line].ravel() for _, board in found])
        where = np.digitize(stated, BINS) - 1
        for b in range(len(BINS) - 1):
            mine = where == b
            if mine.sum() >= 20:
                spread = np.sqrt(stated[mine] * (1 - stated[mine])).mean()
                rows.append({
                    "line": line, "from": BINS[b], "to": min(BINS[b + 1], 1.0), "squares": int(mine.sum()),
                    "stated": round(float(stated[mine].mean()), 4), "true": round(float(truth[mine].mean()), 4),
                    "standard_error": round(float(spread / mine.sum() ** 0.5), 4),
                })  # fmt: skip
    return rows


def check(rows: list[dict[str, object]]) -> None:
    """Fail where ranks by the true prior are further from their frequencies than chance allows."""
    for row in rows:
        if row["line"] == LINES[0]:
            gap = abs(float(str(row["true"])) - float(str(row["stated"])))
            assert gap < 4.5 * float(str(row["standard_error"])) + 1e-3, row


def table(rows: list[dict[str, object]]) -> str:
    """Return the frequencies beside what was stated."""
    lines = ["| stated | " + " | ".join(LINES) + " |", "| --- |" + " ---: |" * len(LINES)]
    for low, high in itertools.pairwise(BINS):
        cells = [
            next((f"{r['stated']:.3f}: {r['true']:.3f}" for r in rows if r["line"] == line and r["from"] == low), "")
            for line in LINES
        ]
        lines.append(f"| {low:g} to {min(high, 1):g} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    quick = "--quick" in sys.argv[1:]
    found = study(60 if quick else REPEATS)
    check(found)
    print(table(found))
    if not quick:
        write_rows(HERE / "leaderboards.csv", found)
        (HERE / "leaderboards_table.inc").write_text(table(found), encoding="utf-8")
