"""Metrics of K labels: pure functions of the K x K cells, rows actual, columns predicted.

Averages follow scikit-learn with ``zero_division=nan``: a class whose metric is undefined is left out of macro and
weighted averages; micro pools the one-vs-rest cells.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    position = np.arange(matrix.shape[-1])
    weights = np.abs(position[:, None] - position).astype(np.float64) ** power if power else 1.0 - np.eye(len(position))
    total = matrix.sum((-2, -1))
    expected = np.einsum("...i,...j,ij->...", matrix.sum(-1), matrix.sum(-2), weights)
    observed = np.einsum("...ij,ij->...", matrix, weights)
    return np.asarray(1.0 - observed * total / expected)


def _correlation_of_shares(cells: Cells) -> Array:
    return _correlation(cells.tp.sum(0), cells.tp + cells.fn, cells.tp + cells.fp, 1.0, 0)


def _agreement_of_shares(cells: Cells) -> Array:
    by_chance = ((cells.tp + cells.fn) * (cells.tp + cells.fp)).sum(0)
    return np.asarray((cells.tp.sum(0) - by_chance) / (1.0 - by_chance))


OF_SHARES = {matthews_correlation: _correlation_of_shares, cohen_kappa: _agreement_of_shares}
"""Metrics of a matrix by the cells (K, n) of each class against the rest, which add up to 1."""
