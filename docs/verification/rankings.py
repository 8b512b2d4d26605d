"""Rankings and votes: how often intervals hold and whether P(best) is right, also where judges differ.

``python docs/verification/rankings.py`` (four minutes) writes ``rankings.csv``. Log worths of five systems are normal
with the standard deviation `spread`; 20 and 100 complete rankings or 100 votes on pairs at random, by as many judges.
`differ`: 10 judges give 10 rankings or votes each, and each judge's log worths differ from the others' by a standard
deviation of .7; the truth is how often the population of judges has one system above another.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from rows import write_study
from scipy import special

import bayescm

HERE = Path(__file__).parent
SYSTEMS, RUNS = 5, 60
SCENARIOS = [
    ("rankings", 20, 0.5, 0.0), ("rankings", 20, 1.5, 0.0), ("rankings", 100, 0.5, 0.0), ("votes", 100, 0.5, 0.0),
    ("votes", 100, 1.5, 0.0), ("rankings", 100, 0.5, 0.7), ("votes", 100, 0.5, 0.7),
]  # fmt: skip


def orders(rng: np.random.Generator, logs: np.ndarray) -> np.ndarray:
    """Return one order of systems for each row of log worths, the best first."""
    return np.argsort(-(logs + rng.gumbel(size=logs.shape)), 1)


def main(runs: int) -> pd.DataFrame:
    """Return coverage of P(one above another), P(best) of the leader, and how often it is the best."""
    rows = []
    for kind, number, spread, differ in SCENARIOS[:: 1 if runs > 1 else 2]:  # --quick: every other
        for prior in ("jeffreys", "laplace")[: 1 if differ else 2]:
            held, width, stated, right = [], [], [], []
            for run in range(runs):
                rng = np.random.default_rng([number, run, int(10 * spread), int(10 * differ)])
                logs = rng.normal(0, spread, SYSTEMS)
                judges = logs + rng.normal(0, differ, (10, SYSTEMS)) if differ else logs[None]
                given = orders(rng, judges[np.arange(number) % len(judges)])
                if kind == "votes":
                    pairs = np.argsort(rng.random((number, SYSTEMS)), 1)[:, :2]
                    places = np.argsort(given, 1)
                    first = np.take_along_axis(places, pairs, 1).argmin(1)
                    given = np.stack([pairs[np.arange(number), first], pairs[np.arange(number), 1 - first]], 1)
                names = [tuple("ABCDE"[i] for i in order) for order in given]
                board = bayescm.leaderboard(names, model="plackett_luce", prior=prior, draws=4000, random_seed=run)
                population = logs + rng.normal(0, differ, (10_000 if differ else 1, SYSTEMS))
                true = special.expit(population[:, :, None] - population[:, None]).mean(0)
                pair = np.triu_indices(SYSTEMS, 1)
                low, high = (board["probability_above_interval"].values[..., end][pair] for end in (0, 1))
                held.append(((low <= true[pair]) & (true[pair] <= high)).mean())
                width.append((high - low).mean())
                best = int(board["probability_best"].values.argmax())
                stated.append(board["probability_best"].values[best])
                right.append(best == true.sum(1).argmax())
            rows.append({
                "of": kind, "number": number, "spread": spread, "differ": differ, "prior": prior, "boards": runs,
                "holds": np.mean(held), "width": np.mean(width), "p_best": np.mean(stated), "is_best": np.mean(right),
            })  # fmt: skip
    return pd.DataFrame(rows).round(3)


if __name__ == "__main__":
    write_study(main, HERE / "rankings.csv", RUNS, quick=1)
