"""Reliability of items that come in units: shares of bins and losses where units weigh at random, and one more unit."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescm.data.random import Stream, matrix_rng

Array = NDArray[np.float64]

_WORK, _LEAST, _MOST = 20_000_000, 4_000, 40_000
"""Weights that are drawn at most, but for the least number of draws, and the most draws that are made."""
_BLOCK = 2**21
"""Weights that are held at a time: 16 MB."""


class OfUnits(NamedTuple):
    """What the units say of bins and losses.

    Attributes
    ----------
    band : ndarray of shape (bins, 2)
    error : ndarray of shape (losses,)
        Standard errors of the mean losses, of units that vary.
    limits : ndarray of shape (losses, 2)
    """

    band: Array
    error: Array
    limits: Array


def of_units(
    unit: NDArray[np.int64], place: NDArray[np.int64], positive: Array, losses: Array, prior: Array, bins: int,
    levels: tuple[float, float], seed: int,
) -> OfUnits:  # fmt: skip
    """Return the band of shares, at the level of a bin, and what losses (L, n) have, at the level of each.

    The prior unit has as many items as units have on average, and a share of positives, or of right answers, of
    Beta(1/2, 1/2); right answers lose ``prior[:, 0]``, wrong ones ``prior[:, 1]``. With one item in each unit both are
    the posteriors of items: Jeffreys' Beta, and the Bayesian bootstrap with half an item of either kind.
    """
    g = int(unit.max()) + 1
    each = np.stack([np.bincount(unit, one, g) for one in (np.ones(len(unit)), *losses)])  # items, then losses
    items, hits = np.zeros((2, bins, g))
    np.add.at(items, (place, unit), 1.0)
    np.add.at(hits, (place, unit), positive)
    some = np.maximum((items > 0).sum(1), 1)
    sizes = np.concatenate([items.sum(1) / some, np.full(len(losses), each[0].mean())])
    top, bottom = np.concatenate([hits, each[1:]]), np.concatenate([items, np.repeat(each[:1], len(losses), 0)])

    n = int(np.clip(_WORK // g, _LEAST, _MOST))
    weigh, prior_unit, prior_share = (matrix_rng(seed, i, Stream.RELIABILITY) for i in range(3))
    drawn = []
    for start in range(0, n, step := max(_BLOCK // g, 1)):
        size = min(step, n - start)
        weight, more = weigh.standard_exponential((size, g)), prior_unit.standard_exponential((size, 1)) * sizes
        share = prior_share.beta(0.5, 0.5, (size, len(sizes)))
        share[:, bins:] = share[:, bins:] * prior[:, 0] + (1.0 - share[:, bins:]) * prior[:, 1]
        with np.errstate(invalid="ignore"):
            drawn.append((weight @ top.T + more * share) / (weight @ bottom.T + more))
    values, ends = np.concatenate(drawn), np.full(len(sizes), levels[1])
    ends[:bins] = levels[0]
    limits = np.array([
        np.quantile(one, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
        for one, level in zip(values.T, ends, strict=True)
    ])  # fmt: skip
    error = np.full(len(losses), np.nan)
    if g > 1:
        off = each[1:] - each[1:].sum(1, keepdims=True) / len(unit) * each[0]
        error = np.sqrt(g / (g - 1) * (off**2).sum(1)) / len(unit)
    return OfUnits(limits[:bins], error, limits[bins:])
