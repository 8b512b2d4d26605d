"""Intervals of a difference or ratio of two proportions, first to second, beside Newcombe's.

Miettinen and Nurminen 1985 (independent samples), Tango 1998 (the same items): the values that a score test doesn't
reject. Agresti and Caffo 2000: Wald's interval after one more success and failure in either sample.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm._kernels.codes import DIFFERENCE, ODDS_RATIO, RISK_RATIO, SAME_ITEMS
from bayescm._kernels.dispatch import kernel
from bayescm.inference.proportions import normal_quantile

Array = NDArray[np.float64]

_SECONDS = 0.01  # of Python for the bounds of one pair


def miettinen_nurminen(k: Any, n: Any, ci_prob: float) -> Array:
    """Return the bounds (..., 2) of the difference of shares k / n (..., 2); NaN of no items."""
    return _bounds(DIFFERENCE, k, n, ci_prob)


def ratio(k: Any, n: Any, ci_prob: float, *, of_odds: bool = False) -> Array:
    """Return the bounds (..., 2) of the ratio of the first share, or its odds, to the second.

    From 0, and to infinity, where one sample has no successes, or of odds no failures; NaN where both have none.
    """
    k, n = np.asarray(k, np.float64), np.asarray(n, np.float64)
    unknown = (k.sum(-1) == 0.0) | (of_odds & (k.sum(-1) == n.sum(-1)))
    found = np.exp(_bounds(ODDS_RATIO if of_odds else RISK_RATIO, k, np.where(unknown[..., None], 0.0, n), ci_prob))
    return np.asarray(found)


def tango(only_first: float, only_second: float, n: float, ci_prob: float) -> Array:
    """Return the bounds of the difference of n items, of which so many are right by one system only."""
    return _bounds(SAME_ITEMS, (only_first, only_second), (n, n), ci_prob)


def agresti_caffo(k: Any, n: Any, ci_prob: float) -> Array:
    """Return Wald's interval of the samples with one success and one failure more, within [-1, 1]."""
    k, n = np.asarray(k, np.float64), np.asarray(n, np.float64)
    share, size = (k + 1.0) / (n + 2.0), n + 2.0
    half = normal_quantile(ci_prob) * np.sqrt((share * (1.0 - share) / size).sum(-1))
    gap = share[..., 0] - share[..., 1]
    return np.where(n.min(-1, keepdims=True) > 0, np.clip(np.stack([gap - half, gap + half], -1), -1.0, 1.0), np.nan)


def _bounds(kind: int, k: Any, n: Any, ci_prob: float) -> Array:
    """Return what the kernel says of successes and sizes (..., 2); NaN where a size is 0."""
    k, n = np.broadcast_arrays(np.asarray(k, np.float64), np.asarray(n, np.float64))
    used = n.min(-1) > 0
    found = np.empty((int(used.sum()), 2))
    given = (np.ascontiguousarray(part[used][:, i]) for part in (k, n) for i in range(2))
    kernel("score_tests", "bounds", _SECONDS * len(found))(kind, *given, normal_quantile(ci_prob), found)
    out = np.full((*used.shape, 2), np.nan)
    out[used] = found
    return out
