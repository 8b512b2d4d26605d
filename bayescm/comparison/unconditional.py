"""Boschloo's and Barnard's tests that two shares of items of their own are the same, whatever both are.

Barnard 1947, Biometrika 34, page 123, with the score statistic; Boschloo 1970, Statistica Neerlandica 24, page 1.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]

_EQUAL = 1e-9  # relative: two tables are as extreme as each other
_STEPS = 24  # of the angle of the share for sqrt(items): a binomial standard deviation is nearly eight of them
_NEAR = 0.01  # relative: humps lower than the highest by so much can't be the highest between two steps
_FINER = np.linspace(-1.0, 1.0, 41)
_TIMES = 3  # each so much finer: the top is missed by 1e-5 of a standard deviation, its height by 1e-10


def boschloo_and_barnard(k: tuple[float, float], n: tuple[float, float]) -> list[float]:
    """Return the two-sided p-values: twice the smaller of Boschloo's one-sided ones, and Barnard's.

    Of all outcomes (x1, x2), those as extreme as (k1, k2) are looked at, and the largest probability that they have for
    any share: Boschloo's are extreme by Fisher's one-sided p-value, Barnard's by the squared difference of the shares
    over its pooled variance.
    """
    if n[0] > n[1]:
        return boschloo_and_barnard(k[::-1], n[::-1])
    x1, x2 = np.ogrid[: int(n[0]) + 1, : int(n[1]) + 1]
    seen = int(k[0]), int(k[1])
    pooled = (x1 + x2) / sum(n)
    with np.errstate(invalid="ignore"):
        score = np.nan_to_num((x1 / n[0] - x2 / n[1]) ** 2 / (pooled * (1.0 - pooled)))
    extreme = [at <= at[seen] * (1.0 + _EQUAL) for at in _fisher(x1 + x2)] + [score >= score[seen] * (1.0 - _EQUAL)]
    less, greater, barnard = _largest(np.array(extreme, float))
    return [min(2.0 * less, 2.0 * greater, 1.0), min(barnard, 1.0)]


def _fisher(sums: NDArray[np.int64]) -> tuple[Array, Array]:
    """Return Fisher's one-sided p-values of all outcomes, whose sums these are: that the first has fewer, or more."""
    n1, n2 = sums.shape[0] - 1, sums.shape[1] - 1
    chance = np.zeros((n1 + 1, n1 + n2 + 1))  # of the first given the sum
    log = _log_ways(n1)[:, None] + _log_ways(n2) - _log_ways(n1 + n2)[sums]
    np.put_along_axis(chance, sums, np.exp(log), 1)
    below, above = np.cumsum(chance, 0), np.cumsum(chance[::-1], 0)[::-1]
    return np.take_along_axis(below, sums, 1), np.take_along_axis(above, sums, 1)


def _log_ways(n: int) -> Array:
    """Return the logarithms of the binomial coefficients of n."""
    x = np.arange(n + 1.0)
    return np.asarray(special.gammaln(n + 1.0) - special.gammaln(x + 1.0) - special.gammaln(n - x + 1.0))


def _largest(sets: Array) -> list[float]:
    """Return the largest probability of sets of outcomes (set, n1 + 1, n2 + 1), over the share that both have."""
    sizes = sets.shape[1] - 1, sets.shape[2] - 1
    angles = np.linspace(0.0, 0.5 * np.pi, 2 + int(_STEPS * np.sqrt(sum(sizes))))
    return [_top(one, angles, row) for one, row in zip(sets, _probability(sets, angles), strict=True)]


def _top(one: Array, angles: Array, rough: Array) -> float:
    """Return the largest probability of a set, given what it is at these angles."""
    if rough.max() > 1.0 - _EQUAL:  # as wide as rounding lets it be
        return 1.0
    padded = np.pad(rough, 1)
    humps = (rough >= padded[:-2]) & (rough >= padded[2:]) & (rough >= (1.0 - _NEAR) * rough.max())
    best, step = angles[humps], angles[1]
    for _ in range(_TIMES):
        finer = np.clip(best[:, None] + step * _FINER, 0.0, 0.5 * np.pi)
        found = _probability(one[None], finer.ravel())[0].reshape(finer.shape)
        best, step = finer[np.arange(len(best)), found.argmax(1)], step * (_FINER[1] - _FINER[0])
    return float(found.max())


def _probability(sets: Array, angles: Array) -> Array:
    """Return the probabilities of sets, (set, angle), if either share is the squared sine."""
    one, other = (_binomial(n - 1, np.sin(angles)[:, None] ** 2) for n in sets.shape[1:])
    return np.asarray(np.einsum("sgj,gj->sg", one @ sets, other))


def _binomial(n: int, share: Array) -> Array:
    x = np.arange(n + 1.0)
    return np.asarray(np.exp(_log_ways(n) + special.xlogy(x, share) + special.xlog1py(n - x, -share)))
