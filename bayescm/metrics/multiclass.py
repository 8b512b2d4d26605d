"""Metrics of K labels: pure functions of the K x K cells, rows actual, columns predicted.

Averages follow scikit-learn with ``zero_division=nan``: a class whose metric is undefined is left out of macro and
weighted averages; micro pools the one-vs-rest cells.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescm.metrics.binary import of_a_sample

Array = NDArray[np.float64]


_FEW = 16
"""Labels, up to which all sums at once are faster than one after the other."""
_NEAR = 1e-3  # of the total: a difference of that size has twelve digits


class Cells(NamedTuple):
    """The four cells of a table of two, or of each class against the rest."""

    tp: Array
    fn: Array
    fp: Array
    tn: Array


def of_two(matrix: Array) -> Cells:
    """Return the cells of a two-label matrix; the last label is the positive one."""
    return Cells(matrix[..., 1, 1], matrix[..., 1, 0], matrix[..., 0, 1], matrix[..., 0, 0])


@lru_cache(maxsize=32)
def _masks(k: int) -> Array:
    """Return, for the four kinds of cells and each class, which of the K^2 cells add up to it."""
    one = np.eye(k, dtype=bool)
    row, column = one[:, :, None], one[:, None, :]
    kinds = np.stack([row & column, row & ~column, ~row & column, ~row & ~column])
    masks = kinds.reshape(4 * k, k * k).T.astype(np.float64)
    masks.flags.writeable = False
    return masks


def one_vs_rest(matrix: Array) -> Cells:
    """Return the cells of each class against the rest, with the class as last axis.

    They are sums of cells, or differences that lose no digits, so that small probabilities keep theirs.
    """
    k = matrix.shape[-1]
    if k > _FEW and matrix.ndim == 3 and not np.isnan(matrix).any():
        return _of_many(matrix)
    batch = matrix.shape[:-2]
    flat = matrix.reshape(-1, k * k)
    undefined = np.isnan(flat)  # rates of a class without items: they concern only the sums that they are part of
    if undefined.any():
        sums = np.where(undefined @ _masks(k) > 0, np.nan, np.where(undefined, 0.0, flat) @ _masks(k))
    else:
        sums = flat @ _masks(k)
    return Cells(*np.moveaxis(sums.reshape(*batch, 4, k), -2, 0))


def _of_many(matrix: Array) -> Cells:
    """Return the cells of each class against the rest, of matrices (n, K, K), in time that grows with K^2."""
    every = np.arange(matrix.shape[-1])
    tp = matrix[:, every, every].astype(np.float64)
    off = matrix.copy(order="K")
    off[:, every, every] = 0.0
    fn, fp = off.sum(-1, dtype=np.float64), off.sum(-2, dtype=np.float64)
    total = matrix.sum((-2, -1), dtype=np.float64)[:, None]
    tn = total - (tp + fn + fp)
    for label in np.flatnonzero((tn < _NEAR * total).any(0)):  # a class that has nearly all
        rest = every != label
        tn[:, label] = matrix[:, rest][:, :, rest].sum((-2, -1))
    return Cells(tp, fn, fp, tn)


def average(values: Array, weights: Array) -> Array:
    """Return the mean over the classes where the metric is defined, with weights."""
    defined = ~np.isnan(values)
    weights = np.where(defined, weights, 0.0)
    return np.asarray((np.where(defined, values, 0.0) * weights).sum(-1) / weights.sum(-1))


def _trace(matrix: Array) -> Array:
    return np.asarray(np.trace(matrix, axis1=-2, axis2=-1))


def accuracy(matrix: Array) -> Array:
    """Diagonal / N."""
    return np.asarray(_trace(matrix) / matrix.sum((-2, -1)))


def error_rate(matrix: Array) -> Array:
    """Off-diagonal / N."""
    off = ~np.eye(matrix.shape[-1], dtype=bool)
    return np.asarray(np.where(off, matrix, 0.0).sum((-2, -1)) / matrix.sum((-2, -1)))


def balanced_accuracy(matrix: Array) -> Array:
    """Mean recall over the classes that have items."""
    cells = one_vs_rest(matrix)
    return average(cells.tp / (cells.tp + cells.fn), np.ones_like(cells.tp))


def matthews_correlation(matrix: Array) -> Array:
    """Gorodkin's R_K: the correlation of the actual and the predicted indicators."""
    total = matrix.sum((-2, -1))
    return _correlation(_trace(matrix), matrix.sum(-1), matrix.sum(-2), total, -1)


def _correlation(right: Array, actual: Array, predicted: Array, total: Array | float, axis: int) -> Array:
    """Return R_K from the correct items and the totals, whose classes are along an axis."""
    covariance = right * total - (actual * predicted).sum(axis)
    spread = (total**2 - (actual**2).sum(axis)) * (total**2 - (predicted**2).sum(axis))
    return np.asarray(covariance / np.sqrt(spread))


def cohen_kappa(matrix: Array, *, power: int = 0) -> Array:
    """1 - observed / expected disagreement, weighted by the distance of the labels to a `power` (0: all alike)."""
    return _chance_corrected(matrix, matrix.sum(-1), matrix.sum(-2), _apart(matrix.shape[-1], power))


def scotts_pi(matrix: Array, *, power: int = 0) -> Array:
    """Cohen's kappa where both raters have the mean of their shares; of many raters' pairs Fleiss' kappa."""
    shares = _both(matrix)
    return _chance_corrected(matrix, shares, shares, _apart(matrix.shape[-1], power))


def krippendorff_alpha(matrix: Array, *, power: int = 0) -> Array:
    """Scott's pi, of counts corrected for their number."""
    return _of_ratings(matrix, scotts_pi(matrix, power=power))


def ordinal_alpha(matrix: Array) -> Array:
    """Krippendorff's alpha where labels are apart by the ratings that lie between them."""
    shares = _both(matrix)
    middle = np.cumsum(shares, -1) - 0.5 * shares
    apart = (middle[..., :, None] - middle[..., None, :]) ** 2
    return _of_ratings(matrix, _chance_corrected(matrix, shares, shares, apart))


def _of_ratings(matrix: Array, pi: Array) -> Array:
    return np.asarray(pi + (1.0 - pi) * of_a_sample(matrix.sum((-2, -1))))


def gwets_ac(matrix: Array, *, power: int = 0) -> Array:
    """AC1, and with a power AC2 (Gwet 2014): chance is that of items that are rated at random, not of all."""
    k = matrix.shape[-1]
    apart = _apart(k, power)
    apart = apart / np.maximum(apart.max(), 1.0)
    total = matrix.sum((-2, -1))
    shares = _both(matrix) / total[..., None]
    chance = (k * k - apart.sum()) / (k * (k - 1)) * (shares * (1.0 - shares)).sum(-1)
    return np.asarray(1.0 - np.einsum("...ij,ij->...", matrix, apart) / total / (1.0 - chance))


def _both(matrix: Array) -> Array:
    """Return the mean of row and column sums."""
    return np.asarray(0.5 * (matrix.sum(-1) + matrix.sum(-2)))


def _apart(k: int, power: int) -> Array:
    """Return how far labels are apart, to a power (0: all alike)."""
    position = np.arange(k)
    return np.abs(position[:, None] - position).astype(np.float64) ** power if power else 1.0 - np.eye(k)


def _chance_corrected(matrix: Array, rows: Array, columns: Array, apart: Array) -> Array:
    """Return 1 - observed / expected disagreement."""
    expected = np.einsum("...i,...j,...ij->...", rows, columns, apart)
    observed = np.einsum("...ij,...ij->...", matrix, apart)
    return np.asarray(1.0 - observed * matrix.sum((-2, -1)) / expected)


def _correlation_of_shares(cells: Cells) -> Array:
    return _correlation(cells.tp.sum(0), cells.tp + cells.fn, cells.tp + cells.fp, 1.0, 0)


def _agreement_of_shares(cells: Cells) -> Array:
    by_chance = ((cells.tp + cells.fn) * (cells.tp + cells.fp)).sum(0)
    return np.asarray((cells.tp.sum(0) - by_chance) / (1.0 - by_chance))


OF_SHARES = {matthews_correlation: _correlation_of_shares, cohen_kappa: _agreement_of_shares}
"""Metrics of a matrix by the cells (K, n) of each class against the rest, which add up to 1."""
