"""Drift of a series: how often nothing is called worse, and how soon a loss is found.

``python docs/verification/drift.py`` (about four minutes) writes ``drift.csv``. Accuracy is .9 at acceptance; after ten
weeks of 20 comes a loss, at once or over ten weeks. Each week asks of all weeks until then, as a monitor does.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from rows import write_study

import bayescm

HERE = Path(__file__).parent
WEEKS, FROM, RUNS = 20, 10, 60
LOSSES = ((0.0, "none"), (0.05, "step"), (0.1, "step"), (0.2, "step"), (0.1, "slow"), (0.2, "slow"))
ITEMS = (50, 200)


def main(runs: int) -> pd.DataFrame:
    """Return how often "worse" is said in a week, ever, and before the loss, and how many weeks after it at first."""
    rows = []
    for loss, kind in LOSSES:
        lost = np.zeros(WEEKS)
        lost[FROM:] = loss if kind == "step" else loss * np.arange(1, WEEKS - FROM + 1) / (WEEKS - FROM)
        for n in ITEMS:
            said, held, since = np.zeros((runs, WEEKS), bool), [], []
            for run in range(runs):
                right = np.random.default_rng([run, n, int(100 * loss)]).binomial(n, 0.9 - lost)
                for week in range(1, WEEKS):
                    until = {"correct": right[: week + 1].tolist(), "wrong": (n - right[: week + 1]).tolist()}
                    found = bayescm.drift(until, draws=1000, random_seed=run)
                    said[run, week] = found.attrs["verdict"] == "worse"
                low, high = found["interval"].values[-1]
                held.append(low <= 0.9 - lost[-1] <= high)
                since.append(int(found["since"].values.argmax()))
            first = np.where(said[:, FROM:].any(1), said[:, FROM:].argmax(1) + 1, np.nan)
            known, late = np.isfinite(first), np.abs(np.array(since)[said[:, -1]] - FROM)
            rows.append({
                "loss": loss, "kind": kind, "items": n, "runs": runs, "worse_at_end": said[:, -1].mean(),
                "worse_before": said[:, :FROM].any(1).mean(), "worse_ever": said.any(1).mean(),
                "weeks_to_find": np.median(first[known]) if known.mean() > 0.5 else np.nan,
                "since_within_1": np.mean(late <= 1) if len(late) else np.nan,
                "held_at_end": np.mean(held),
            })  # fmt: skip
    return pd.DataFrame(rows).round(3)


if __name__ == "__main__":
    write_study(main, HERE / "drift.csv", RUNS, quick=1)
