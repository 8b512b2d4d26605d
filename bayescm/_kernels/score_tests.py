"""Bounds of score intervals: the differences or ratios of two proportions that a score test doesn't reject."""

import math

from bayescm._kernels.codes import DIFFERENCE, ODDS_RATIO, RISK_RATIO, SAME_ITEMS
from bayescm._kernels.jit import kernel

_HALVINGS_OF_SHARE = 60  # of [0, 1], to its last digit
_HALVINGS = 80  # of the range of a bound: those of 10^9 items are 1e-9 and have digits, too
_FAR = 60.0  # logarithm of a ratio: that of odds among 10^9 items is up to 43


@kernel
def bounds(kind, k1, k2, n1, n2, z, out):
    """Fill the lower and the upper bounds (n, 2), of ratios their logarithms, whose statistic is z and -z.

    Parameters
    ----------
    kind : int
        A code: what is compared. Of the same items k1 and k2 are those that only one side gets, and n1 = n2.
    k1, k2, n1, n2 : ndarray of shape (n,)
        Successes and sizes, none of them 0.
    z : float
    out : ndarray of shape (n, 2)
        An infinite logarithm where the statistic stays on one side; -1 or 1 of a difference.
    """
    ratio = kind in (RISK_RATIO, ODDS_RATIO)
    far, end = (_FAR, math.inf) if ratio else (1.0, 1.0)
    for i in range(len(k1)):
        for side in range(2):
            low, high = -far, far
            limit = z if side == 0 else -z
            if side == 0 and not _statistic(kind, low, k1[i], k2[i], n1[i], n2[i]) > limit:
                out[i, side] = -end
                continue
            if side == 1 and not _statistic(kind, high, k1[i], k2[i], n1[i], n2[i]) < limit:
                out[i, side] = end
                continue
            for _ in range(_HALVINGS):
                middle = 0.5 * (low + high)
                if not low < middle < high:
                    break
                if _statistic(kind, middle, k1[i], k2[i], n1[i], n2[i]) > limit:
                    low = middle
                else:
                    high = middle
            out[i, side] = 0.5 * (low + high)


@kernel
def _statistic(kind, x, k1, k2, n1, n2):
    """Return how many standard deviations the samples are from the likeliest ones with x; it falls with x.

    With the factor N / (N - 1) in the variance of independent samples, as Miettinen and Nurminen have it.
    """
    if kind == SAME_ITEMS:
        b, c, d = (k1, k2, x) if x >= 0.0 else (k2, k1, -x)
        free = d * (1.0 - d)
        middle = (2.0 * n1 - b + c) * d - b - c
        root = math.sqrt(middle**2 + 8.0 * n1 * c * free)
        share = 2.0 * c * free / (middle + root) if middle > 0.0 else (root - middle) / (4.0 * n1)
        gap, spread = (k1 - k2) / n1 - x, (2.0 * share + free) / n1
    else:
        if kind == DIFFERENCE:
            p2 = _likeliest(k1, k2, n1, n2, x)
            p1 = min(max(p2 + x, 0.0), 1.0)
            gap, spread = k1 / n1 - k2 / n2 - x, p1 * (1.0 - p1) / n1 + p2 * (1.0 - p2) / n2
        elif kind == RISK_RATIO:
            r = math.exp(x)
            b = n1 * r + k1 + n2 + k2 * r
            p2 = 2.0 * (k1 + k2) / (b + math.sqrt(max(b * b - 4.0 * (n1 + n2) * r * (k1 + k2), 0.0)))
            p1 = min(p2 * r, 1.0)
            gap, spread = k1 / n1 - r * k2 / n2, p1 * (1.0 - p1) / n1 + r * r * p2 * (1.0 - p2) / n2
        else:
            gap, spread = _of_odds(x, k1, k2, n1, n2) if x >= 0.0 else _of_odds(-x, k2, k1, n2, n1)
            gap = gap if x >= 0.0 else -gap
        spread *= (n1 + n2) / (n1 + n2 - 1.0)
    if spread > 0.0:
        return gap / math.sqrt(spread)
    return math.copysign(math.inf, gap) if gap != 0.0 else 0.0


@kernel
def _of_odds(x, k1, k2, n1, n2):
    """Return how many successes the first sample has too many for a ratio of odds of at least 1, and the variance."""
    r = math.exp(x)
    a, b = n2 * (r - 1.0), n1 * r + n2 - (k1 + k2) * (r - 1.0)
    root = math.sqrt(b * b + 4.0 * a * (k1 + k2))
    p2 = 2.0 * (k1 + k2) / (b + root) if b > 0.0 else (root - b) / (2.0 * a)
    p1, q1 = p2 * r / (1.0 + p2 * (r - 1.0)), (1.0 - p2) / (1.0 + p2 * (r - 1.0))
    one, two = n1 * p1 * q1, n2 * p2 * (1.0 - p2)
    gap = k1 - n1 * p1 if p1 < 0.5 else n1 * q1 - (n1 - k1)
    return gap, one * two / (one + two) if one + two > 0.0 else 0.0


@kernel
def _likeliest(k1, k2, n1, n2, difference):
    """Return the second proportion where the likelihood is largest, given the difference of the first from it.

    There the score, which falls, is 0: by halves, from its sign alone, that of the cubic which it is times all shares.
    """
    low, high = max(0.0, -difference), min(1.0, 1.0 - difference)
    for _ in range(_HALVINGS_OF_SHARE):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        first = middle + difference
        if (k1 - n1 * first) * middle * (1.0 - middle) + (k2 - n2 * middle) * first * (1.0 - first) > 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
