"""Intervals of a difference of two proportions, first minus second, beside Newcombe's.

Miettinen and Nurminen 1985 (independent samples), Tango 1998 (the same items): the differences that a score test
doesn't reject. Agresti and Caffo 2000: Wald's interval after one more success and failure in either sample.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from bayescm.inference.proportions import normal_quantile

Array = NDArray[np.float64]

_HALVINGS = 60
_FAR = 30.0  # logarithm of a ratio
_START = 1e-12
"""Items from the estimate to where the search for a bound starts: at the estimate the variance may be 0."""


def miettinen_nurminen(k: tuple[float, float], n: tuple[float, float], ci_prob: float) -> Array:
    """Return the differences whose score statistic, with the factor N / (N - 1) in its variance, is at most z."""
    if min(n) == 0:
        return np.full(2, np.nan)
    (k1, k2), (n1, n2) = k, n
    factor = (n1 + n2) / (n1 + n2 - 1.0)

    def variance(difference: float) -> float:
        """Return the variance of the estimate at the likeliest proportions with a difference."""
        p2 = _likeliest(k1, n1, k2, n2, difference)
        p1 = min(max(p2 + difference, 0.0), 1.0)
        return factor * (p1 * (1.0 - p1) / n1 + p2 * (1.0 - p2) / n2)

    return _bounds(k1 / n1 - k2 / n2, n1 + n2, variance, ci_prob)


def ratio(k: tuple[float, float], n: tuple[float, float], ci_prob: float, *, of_odds: bool = False) -> Array:
    """Return the ratios of the first share, or its odds, to the second whose score statistic is at most z.

    With the factor N / (N - 1) in its variance, as Miettinen and Nurminen have it. From 0, and to infinity, where one
    sample has no successes, or of odds no failures.
    """
    if min(n) == 0 or sum(k) == 0 or (of_odds and sum(k) == sum(n)):
        return np.full(2, np.nan)
    (k1, k2), (n1, n2) = k, n
    z, factor, both = normal_quantile(ci_prob), (n1 + n2) / (n1 + n2 - 1.0), k1 + k2

    def statistic(log: float) -> float:
        """Return how many standard deviations the samples are from the likeliest ones with a ratio; it falls."""
        r = float(np.exp(log))
        if of_odds:
            a, b = n2 * (r - 1.0), n1 * r + n2 - both * (r - 1.0)
            root = np.sqrt(b * b + 4.0 * a * both)
            p2 = 2.0 * both / (b + root) if b > 0 else (root - b) / (2.0 * a)
            p1 = p2 * r / (1.0 + p2 * (r - 1.0))
            one, two = n1 * p1 * (1.0 - p1), n2 * p2 * (1.0 - p2)
            gap, spread = k1 - n1 * p1, one * two / (one + two) if one + two > 0.0 else 0.0
        else:
            b = n1 * r + k1 + n2 + k2 * r
            p2 = 2.0 * both / (b + np.sqrt(max(b * b - 4.0 * (n1 + n2) * r * both, 0.0)))
            p1 = min(p2 * r, 1.0)
            gap, spread = k1 / n1 - r * k2 / n2, p1 * (1.0 - p1) / n1 + r * r * p2 * (1.0 - p2) / n2
        return float(gap / np.sqrt(factor * spread)) if spread > 0 else float(np.sign(gap)) * np.inf

    found = []
    for limit, end in ((z, 0.0), (-z, np.inf)):
        beyond = (statistic(-_FAR) - limit) * (statistic(_FAR) - limit) >= 0
        found.append(
            end if beyond else np.exp(optimize.brentq(lambda x, s=limit: statistic(x) - s, -_FAR, _FAR, xtol=1e-12))
        )
    return np.array(found)


def tango(only_first: float, only_second: float, n: float, ci_prob: float) -> Array:
    """Return the same of n items, of which so many are right by one system only."""
    if n == 0:
        return np.full(2, np.nan)

    def variance(difference: float) -> float:
        """Return the variance at the likeliest shares of discordant items with a difference."""
        b, c, d = (only_first, only_second, difference) if difference >= 0 else (only_second, only_first, -difference)
        free = d * (1.0 - d)
        middle = (2.0 * n - b + c) * d - b - c
        root = np.sqrt(middle**2 + 8.0 * n * c * free)
        share = 2.0 * c * free / (middle + root) if middle > 0 else (root - middle) / (4.0 * n)
        return float(2.0 * share + free) / n

    return _bounds((only_first - only_second) / n, n, variance, ci_prob)


def agresti_caffo(k: tuple[float, float], n: tuple[float, float], ci_prob: float) -> Array:
    """Return Wald's interval of the samples with one success and one failure more, within [-1, 1]."""
    if min(n) == 0:
        return np.full(2, np.nan)
    (p1, m1), (p2, m2) = (((each + 1.0) / (size + 2.0), size + 2.0) for each, size in zip(k, n, strict=True))
    half = normal_quantile(ci_prob) * np.sqrt(p1 * (1.0 - p1) / m1 + p2 * (1.0 - p2) / m2)
    return np.asarray(np.clip([p1 - p2 - half, p1 - p2 + half], -1.0, 1.0))


def _likeliest(k1: float, n1: float, k2: float, n2: float, difference: float) -> float:
    """Return the second proportion where the likelihood is largest, given the difference of the first from it.

    There the score, which falls, is 0: by halves, from its sign alone, that of the cubic which it is times all shares.
    """
    low, high = max(0.0, -difference), min(1.0, 1.0 - difference)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        first = middle + difference
        rises = (k1 - n1 * first) * middle * (1.0 - middle) + (k2 - n2 * middle) * first * (1.0 - first) > 0.0
        low, high = (middle, high) if rises else (low, middle)
    return 0.5 * (low + high)


def _bounds(estimate: float, n: float, variance: Callable[[float], float], ci_prob: float) -> Array:
    """Return the differences on either side at which the square of the statistic is z^2."""
    z = normal_quantile(ci_prob)

    def excess(difference: float) -> float:
        return float(abs(estimate - difference) - z * np.sqrt(variance(difference)))

    found = []
    for end in (-1.0, 1.0):
        start = estimate + end * _START / n
        beyond = (start - end) * end >= 0 or excess(start) >= 0.0
        found.append(max(min(start, 1.0), -1.0) if beyond else optimize.brentq(excess, start, end, xtol=1e-14))
    return np.array(found)
