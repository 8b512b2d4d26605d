"""Which metrics of more than two labels are sums of independent Betas."""

import numpy as np
from numpy.typing import NDArray

from bayescm.distributions.linear import Linear
from bayescm.metrics import Metric, binary, multiclass
from bayescm.priors.concentrations import Concentrations

Array = NDArray[np.float64]

LEAST_OF_ALL = 0.4
"""Sum of the smaller concentrations of each Beta, below which their sum is nearly a mixture of points."""


def several_distribution(metric: Metric, which: Concentrations) -> Linear | None:
    """Return the distribution of a metric of several labels that is a sum of independent Betas, or None.

    Macro recall (balanced accuracy) and its complement; under one Dirichlet also macro precision and its complement; at
    known class shares accuracy and its complement. None also below :data:`LEAST_OF_ALL`.
    """
    found = _of_metric(metric, which)
    if found is None or (np.minimum(found.a, found.b).sum(-1) < LEAST_OF_ALL).any():
        return None
    return found


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
