"""Derivatives of metrics in the cells of a matrix, numerically."""

import numpy as np
from numpy.typing import NDArray

from bayescm.metrics import Metric, compute

Array = NDArray[np.float64]

_STEP = 1e-3  # relative, of the derivatives
_NEAR, _FAR = 1e-6, 1e-4  # items put into an empty cell, to see whether the metric is smooth there


def in_cell(metrics: tuple[Metric, ...], cells: Array, i: int, j: int) -> list[Array]:
    """Return the derivatives of metrics in one cell; of an empty cell 0, or NaN where the metric isn't smooth there.

    An empty cell's slope has no weight in the variance, if n g^2 vanishes with n: if the metric changes more slowly
    than sqrt(n) there.
    """
    cell = cells[..., i, j]
    moved = np.stack([cells] * 4)
    steps = np.multiply.outer([-2.0, -1.0, 1.0, 2.0], cell * _STEP)
    moved[..., i, j] += np.where(cell > 0, steps, np.multiply.outer([0.0, _NEAR, _FAR, _FAR], np.ones_like(cell)))
    slopes = []
    for values in compute(metrics, moved):
        a, b, c, d = values
        n = along(cell, a)
        with np.errstate(divide="ignore", invalid="ignore"):
            smooth = np.abs(b - a) <= np.maximum(0.05 * np.abs(c - a), 1e-12 * (1.0 + np.abs(a)))
            inside = (a - 8.0 * b + 8.0 * c - d) / (12.0 * _STEP * n)
        slopes.append(np.where(n > 0, inside, np.where(smooth, 0.0, np.nan)))
    return slopes


def along(values: Array, like: Array) -> Array:
    """Return values per matrix so that they go with values per class."""
    return values[..., None] if like.ndim > values.ndim else values
