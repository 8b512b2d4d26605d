"""Simultaneous confidence intervals for the shares of the cells of a multinomial sample.

Kernels over plain arrays: counts (..., K) of one sample each and the level `ci_prob` give (lower, upper), each of the
same shape, which hold all K shares at once. An empty sample leaves every share possible: [0, 1].
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bayescm.inference import proportions

Array = NDArray[np.float64]
Bounds = tuple[Array, Array]

_NOISE = 1e-6


def goodman(counts: ArrayLike, ci_prob: float = 0.95) -> Bounds:
    """Return Wilson's intervals, each at the level 1 - (1 - ci_prob)/K (Goodman 1965)."""
    counts = np.asarray(counts, np.float64)
    level = 1.0 - (1.0 - ci_prob) / counts.shape[-1]
    return proportions.wilson(counts, counts.sum(-1, keepdims=True), level)


def sison_glaz(counts: ArrayLike, ci_prob: float = 0.95) -> Bounds:
    """Return intervals of one length, as long as a sample around these counts takes (Sison and Glaz 1995).

    With c the most items by which no cell departs from the counts with at most the wanted probability, the bounds are
    (n_i - c)/n and (n_i + c + 2 g)/n, and g is what of the step to c + 1 is missing.
    """
    counts = np.asarray(counts, np.float64)
    lower, upper = np.zeros(counts.shape), np.ones(counts.shape)
    for place in np.ndindex(counts.shape[:-1]):
        if (n := counts[place].sum()) > 0:
            c, part = _reach(counts[place], ci_prob)
            lower[place] = np.clip((counts[place] - c) / n, 0.0, 1.0)
            upper[place] = np.clip((counts[place] + c + 2.0 * part) / n, 0.0, 1.0)
    return lower, upper


def _reach(counts: Array, ci_prob: float) -> tuple[int, float]:
    """Return c and g."""
    low, high = 0, 1
    while high <= counts.sum() and _all_within(counts, high) <= ci_prob:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _all_within(counts, middle) <= ci_prob else (low, middle)
    here, beyond = _all_within(counts, low), _all_within(counts, high)
    return low, float(np.clip((ci_prob - here) / (beyond - here), 0.0, 1.0)) if beyond > here else 0.0


def _all_within(counts: Array, c: int) -> float:
    """Return the probability that no cell of a sample with these shares departs by more than c from these counts.

    Of independent Poisson counts, given their sum (Levin 1981): the sum of the truncated ones by Edgeworth's expansion.
    """
    n = counts.sum()
    low, high = np.maximum(counts - c, 0.0), counts + c
    within = _between(low, high, counts)
    moments = [counts**r * _between(low - r, high - r, counts) / within for r in range(1, 5)]
    mean, second, third, fourth = _central(*moments)
    variance = second.sum()
    whole = np.exp(special.gammaln(n + 1.0) - n * np.log(n) + n)  # 1 / P(the sum is n)
    if variance < _NOISE:  # no cell varies
        return float(np.minimum(whole * within.prod(), 1.0))
    z = (n - mean.sum()) / np.sqrt(variance)
    skew = third.sum() / variance**1.5
    excess = (fourth - 3.0 * second**2).sum() / variance**2
    series = 1.0 + skew * (z**3 - 3.0 * z) / 6.0 + excess * (z**4 - 6.0 * z**2 + 3.0) / 24.0
    series += skew**2 * (z**6 - 15.0 * z**4 + 45.0 * z**2 - 15.0) / 72.0
    density = np.exp(-(z**2) / 2.0) / np.sqrt(2.0 * np.pi * variance) * series
    return float(np.clip(whole * within.prod() * density, 0.0, 1.0))


def _between(low: Array, high: Array, mean: Array) -> Array:
    """Return the probability that Poisson counts lie from `low` to `high`."""
    above = np.where(high >= 0, special.pdtr(np.maximum(high, 0.0), mean), 0.0)
    below = np.where(low >= 1, special.pdtr(np.maximum(low - 1.0, 0.0), mean), 0.0)
    return np.asarray(above - below)


def _central(first: Array, second: Array, third: Array, fourth: Array) -> tuple[Array, Array, Array, Array]:
    """Return the mean and the second to fourth central moments from factorial ones."""
    a = first
    return (
        a,
        second + a - a**2,
        third + second * (3.0 - 3.0 * a) + a - 3.0 * a**2 + 2.0 * a**3,
        fourth
        + third * (6.0 - 4.0 * a)
        + second * (7.0 - 12.0 * a + 6.0 * a**2)
        + a
        - 4.0 * a**2
        + 6.0 * a**3
        - 3.0 * a**4,
    )
