"""Which metrics of more than two labels are sums of independent Betas, or ratios of such sums."""

import numpy as np
from numpy.typing import NDArray

from bayescm.distributions.beta import Point
from bayescm.distributions.integral import form_of
from bayescm.distributions.linear import Linear
from bayescm.distributions.quotient import Quotient
from bayescm.metrics import Metric, binary, multiclass
from bayescm.priors.concentrations import Concentrations

Array = NDArray[np.float64]

_NONE = 1e-14
LEAST_OF_ALL = 0.4
"""Sum of the smaller concentrations of each Beta, below which their sum is nearly a mixture of points."""


def several_distribution(metric: Metric, which: Concentrations) -> Linear | Quotient | Point | None:
    """Return the distribution of a metric of several labels that such sums give, or None.

    Macro recall (balanced accuracy) and its complement; under one Dirichlet also macro precision and its complement; at
    known class shares accuracy and its complement, and metrics per class that are ratios of linear forms in the cells
    (F1, precision, Jaccard index, expected cost, net benefit, ...). None also below :data:`LEAST_OF_ALL`.
    """
    per_class = metric.kind == "cells" and which.known
    found = _of_class(metric, which) if per_class else _of_metric(metric, which)
    sums = found.rest if isinstance(found, Quotient) else found
    if isinstance(sums, Linear) and (np.minimum(sums.a, sums.b).sum(-1) < LEAST_OF_ALL).any():
        return None
    return found


def _of_class(metric: Metric, which: Concentrations) -> Linear | Quotient | Point | None:
    """Return the distribution of a metric of each class at known shares."""
    form = form_of(metric)
    if form is None or form.scale != "identity" or not np.isfinite(metric.upper):
        return None
    shares, nothing = which.shares, np.zeros_like(which.shares)
    one = np.ones_like(shares)
    tp, fn = (nothing, shares, nothing), (shares, -shares, nothing)  # forms in 1, R, V: see Quotient
    fp, tn = (nothing, nothing, one), (1.0 - shares, nothing, -one)
    cells = np.stack([np.stack(each, -1) for each in (tp, fn, fp, tn)], -2)
    squares = [np.swapaxes(cells, -1, -2) @ matrix @ cells for matrix in (form.num, form.den)]
    if any(np.abs(square[..., 1:, 1:]).max() > _NONE for square in squares):
        return None
    above, below = (square[..., 0, :] * [1.0, 2.0, 2.0] for square in squares)
    off = 1.0 - np.eye(which.rows.shape[-1])
    a, b = np.swapaxes(which.rows, -1, -2), np.swapaxes(which.rows @ off, -1, -2)  # of column c: its class is the c-th
    others = shares[..., None, :] * off
    if np.abs(below[..., 1:]).max() <= _NONE:
        forms = above / below[..., :1]
        if np.abs(forms[..., 1:]).max() <= _NONE:
            return Point(forms[..., 0])
        own = np.where(np.abs(forms[..., 1, None]) > _NONE, forms[..., 1, None], 0.0)
        return Linear(forms[..., 2:] * others + own * (1.0 - off), a, b, forms[..., 0])
    places = np.stack([np.ones(4), [0.01, 0.01, 0.99, 0.99], [0.01, 0.99, 0.01, 0.99]])
    places = places * np.stack([one, one, 1.0 - shares], -1)[..., None]
    x = (above[..., None] * places).sum(-2) / (below[..., None] * places).sum(-2)
    slopes = [above[..., i, None] - x * below[..., i, None] for i in (1, 2)]
    if not ((slopes[0] > 0.0) & (slopes[1] < 0.0)).all() and not ((slopes[0] < 0.0) & (slopes[1] > 0.0)).all():
        return None
    diagonal = np.diagonal(which.rows, axis1=-2, axis2=-1)
    return Quotient(above, below, diagonal, (which.rows * off).sum(-1), Linear(others, a, b))


def _of_metric(metric: Metric, which: Concentrations) -> Linear | None:
    k = which.rows.shape[-1]
    diagonal = np.diagonal(which.rows, axis1=-2, axis2=-1)
    others = which.rows * (1.0 - np.eye(k))
    equal = np.full(k, 1.0 / k)
    rows, columns = (diagonal, others.sum(-1)), (diagonal, others.sum(-2))
    if metric.function is multiclass.balanced_accuracy:
        return Linear(equal, *rows)
    if metric.kind == "macro" and metric.function in (binary.recall, binary.false_negative_rate):
        return Linear(equal, *(rows if metric.function is binary.recall else rows[::-1]))
    if metric.kind == "macro" and metric.function in (binary.precision, binary.false_discovery_rate):
        in_order = columns if metric.function is binary.precision else columns[::-1]
        return Linear(equal, *in_order) if which.one_dirichlet else None
    if which.known and metric.ratio in (_RIGHT, _RIGHT[::-1]):
        return Linear(which.shares, *(rows if metric.ratio == _RIGHT else rows[::-1]))
    return None


_RIGHT = ("diagonal",), ("off_diagonal",)
