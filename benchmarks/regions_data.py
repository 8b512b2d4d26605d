"""The confusion matrices (TN, FP, FN, TP) on which the regions are timed. Needs NumPy alone: peers read them too.

`python benchmarks/regions_data.py > cases.json` writes them for regions_mmu.py.
"""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

SEED, THRESHOLDS, BINS = 20231121, 500, 1000
MATRIX = (201, 55, 41, 203)
SIMULATED_BINS, SAMPLES = 100, 10_000


def matrices(items: int, thresholds: int = THRESHOLDS) -> NDArray[np.int64]:
    """Return one matrix per threshold, (thresholds, 4), the thresholds ascending.

    Half of the items are positive; scores are normal with means 0.75 and -0.75 and standard deviation 1. The
    thresholds are quantiles of all the scores, from the least to the greatest, each of them a score that occurs, so
    rounding cannot change a count; a score equal to the threshold counts as positive.
    """
    truth = np.arange(items) < items // 2
    scores = np.random.default_rng(SEED).normal(np.where(truth, 0.75, -0.75), 1.0)
    at = np.quantile(scores, np.linspace(0, 1, thresholds), method="nearest")
    tp, fp = ((scores[truth == side] >= at[:, None]).sum(axis=1) for side in (True, False))
    return np.stack([(~truth).sum() - fp, fp, truth.sum() - tp, tp], axis=1).astype(np.int64)


def cases() -> list[dict[str, Any]]:
    """Return what to run: the space, the method, the matrices, the cells along each axis, the rounds."""
    small, large = matrices(500).tolist(), matrices(5000).tolist()
    single = [list(MATRIX)]
    pr, roc = {"space": "pr", "bins": BINS, "rounds": 9}, {"space": "roc", "bins": BINS, "rounds": 9}
    simulated = {"bins": SIMULATED_BINS, "rounds": 2, "samples": SAMPLES}
    return [
        {"name": "pr_wilks_band_500", "method": "wilks_band", "matrices": small, **pr},
        {"name": "pr_wilks_band_5000", "method": "wilks_band", "matrices": large, **pr},
        {"name": "roc_wilks_band_500", "method": "wilks_band", "matrices": small, **roc},
        {"name": "pr_wilks_point", "method": "wilks_point", "matrices": single, **pr},
        {"name": "pr_wilks_point_on_axis", "method": "wilks_band", "matrices": single, **pr},
        {"name": "pr_ellipse_band_500", "method": "ellipse_band", "matrices": small, **pr},
        {"name": "pr_ellipse_point_on_axis", "method": "ellipse_point", "matrices": single, **pr},
        {"name": "pr_simulated_point", "method": "simulated_point", "matrices": single, **pr, **simulated},
    ]


if __name__ == "__main__":
    print(json.dumps({"threads": [1, 2], "cases": cases()}))
