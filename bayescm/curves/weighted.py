"""Areas under the ROC curve of items that weigh."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def areas(score: Array, positive: NDArray[np.bool_], weights: Array) -> Array:
    """Return the areas (n,) of items whose weights are (n, items), ties counted half; NaN where a class has none.

    Items without a score (NaN) count as absent.
    """
    order = np.argsort(score, kind="stable")[: int((~np.isnan(score)).sum())]
    of_cases, of_controls = (np.where(kind, weights[:, order], 0.0) for kind in (positive[order], ~positive[order]))
    ranked = score[order]
    new = np.append(0, np.flatnonzero(ranked[1:] != ranked[:-1]) + 1)
    cases, controls = (np.add.reduceat(one, new, axis=1) for one in (of_cases, of_controls))
    below = np.cumsum(controls, 1) - controls / 2.0
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((cases * below).sum(1) / (cases.sum(1) * controls.sum(1)))
