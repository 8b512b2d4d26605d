"""Regions by kernels: how often they hold the truth, beside Wilks', the credible and the papers' bootstrap contour.

``python docs/verification/kernels.py`` (two minutes) writes ``kernels.csv``: precision and recall of matrices of three
truths. "bootstrap" is the contour of scipy's kernel estimate of the cloud of resampled matrices (Urlus et al. 2023,
appendix A).
"""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from rows import write_study
from scipy import stats

import bayescm

HERE = Path(__file__).parent
RUNS, LEVELS = 100, (0.683, 0.954)
TRUTHS = {  # shares TN, FP, FN, TP
    "40 items": (40, (0.6, 0.05, 0.05, 0.3)), "400 items": (400, (0.6, 0.05, 0.05, 0.3)),
    "100 items, few errors": (100, (0.68, 0.02, 0.02, 0.28)),
}  # fmt: skip


def of_bootstrap(counts: object, precision: float, recall: float, seed: int) -> float:
    """Return the level of the contour of the cloud's density through a point."""
    made = bayescm.regions.bootstrap(counts, draws=1000, random_seed=seed)
    cloud = np.stack([made["precision"], made["recall"]])
    cloud = cloud[:, ~np.isnan(cloud).any(0)]
    try:
        density = stats.gaussian_kde(cloud)
    except np.linalg.LinAlgError:  # no false positive, or no false negative
        return 1.0
    return float((density(cloud) > density([precision, recall])).mean())


def main(runs: int) -> pd.DataFrame:
    """Return the share of regions that hold the truth."""
    rows = []
    for name, (n, shares) in TRUTHS.items():
        precision, recall = shares[3] / (shares[3] + shares[1]), shares[3] / (shares[3] + shares[2])
        levels: dict[str, list[float]] = {}
        for run in range(runs):
            rng = np.random.default_rng([n, run])
            tn, fp, fn, tp = rng.multinomial(n, shares)
            counts = bayescm.from_cells(tp=tp, fn=fn, fp=fp, tn=tn)
            around = ([precision, precision + 1e-6], [recall, recall + 1e-6])
            by_kernels = bayescm.region(counts, ordering="kde", grid=around, draws=22_000, random_seed=run)
            found = {
                "kde": by_kernels.level.values[0, 0], "bootstrap": of_bootstrap(counts, precision, recall, run),
                **{method: bayescm.regions.region_level(counts, precision=precision, recall=recall, method=method).level
                   for method in ("credible", "wilks")},
            }  # fmt: skip
            for method, level in found.items():
                levels.setdefault(method, []).append(float(level))
        rows += [
            {"truth": name, "method": method, **{f"holds_{level}": np.mean(np.array(got) <= level) for level in LEVELS}}
            for method, got in levels.items()
        ]
    return pd.DataFrame(rows).round(3)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    write_study(main, HERE / "kernels.csv", RUNS, quick=3)
