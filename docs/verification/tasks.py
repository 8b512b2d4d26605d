"""Boards over tasks: how often intervals of mean scores and win rates hold, and whether P(best) is right.

``python docs/verification/tasks.py`` (three to four minutes) writes ``tasks.csv``. Five systems, tasks of 10 to 40
items. A logit is that of its system (normal, standard deviation .3) and its task (1) and of both together (.4), around
1.5. ``fixed``: the truth is of these tasks; ``sample``: of the population that they come from.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from rows import write_study
from scipy import special

import bayescm

HERE = Path(__file__).parent
SYSTEMS, RUNS = 5, 150
TASKS = (3, 10, 30)
AVERAGES = {"fixed": "fixed_units", "sample": "units", "pooled": "items"}


def logits(rng: np.random.Generator, skill: np.ndarray, tasks: int) -> np.ndarray:
    """Return logits (systems, tasks)."""
    return 1.5 + skill[:, None] + rng.normal(0, 1, tasks) + rng.normal(0, 0.4, (len(skill), tasks))


def wins(rates: np.ndarray) -> np.ndarray:
    """Return the mean win rate of each system."""
    return (rates.argsort(0).argsort(0) / (len(rates) - 1)).mean(1)


def main(runs: int) -> pd.DataFrame:
    """Return coverage, widths, and P(best) of the leader beside how often it is the best, over boards."""
    rows: dict[tuple[int, str], list[dict[str, float]]] = {}
    for tasks in TASKS:
        for run in range(runs):
            rng = np.random.default_rng([tasks, run])
            skill = rng.normal(0, 0.3, SYSTEMS)
            rates, all_rates = special.expit(logits(rng, skill, tasks)), special.expit(logits(rng, skill, 20_000))
            n = rng.integers(10, 41, tasks)
            right = rng.binomial(n, rates)
            cells = {"tp": right, "fn": n - right, "fp": 0 * right, "tn": 0 * right}
            board = bayescm.from_cells(**cells, dims=("system", "task"))
            for name, average in AVERAGES.items():
                truth = rates if name == "fixed" else all_rates
                found = bayescm.leaderboard(
                    board, metric="recall", unit="task", average=average, draws=2000, random_seed=run
                )
                low, high = found["interval"].values.T
                leader = int(found["expected_rank"].values.argmin())
                one = {
                    "held": np.mean((low <= truth.mean(1)) & (truth.mean(1) <= high)), "width": np.mean(high - low),
                    "p_best": float(found["probability_best"][leader]), "is_best": leader == truth.mean(1).argmax(),
                    "in_best_set": bool(found["best_set"][int(truth.mean(1).argmax())]),
                }  # fmt: skip
                if "win_rate" in found:
                    low, high = found["win_rate_interval"].values.T
                    one["wins_held"] = np.mean((low <= wins(truth)) & (wins(truth) <= high))
                rows.setdefault((tasks, name), []).append(one)
    means = [{"tasks": t, "as": name, "boards": runs, **pd.DataFrame(one).mean()} for (t, name), one in rows.items()]
    return pd.DataFrame(means).round(3)


if __name__ == "__main__":
    write_study(main, HERE / "tasks.csv", RUNS, quick=2)
