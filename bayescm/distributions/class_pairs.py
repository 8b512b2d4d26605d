"""The exact variance of a macro average of proportions under one Dirichlet, from the covariances of its classes.

The proportion of a class is X = N/D, linear forms in the cells, which are independent gammas divided by their sum. As
N/D doesn't change with that sum, 1/D = int exp(-z D) dz over the gammas themselves gives

    cov(X_i, X_j) = int int E[N_i N_j exp(-z D_i - y D_j)] - E[N_i exp(-z D_i)] E[N_j exp(-y D_j)] dz dy,

and both expectations are products of powers over at most nine sums of cells.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescm.distributions.beta import Beta
from bayescm.metrics import Metric

Array = NDArray[np.float64]

LEAST = 0.5
"""Sum of concentrations of a class's proportion, below which the integrals end too late."""
_MOST = 32
"""Classes, of whose pairs each takes half a millisecond."""
_STEP = 0.4  # of the trapezoid rule in log z
_LOG_TAIL = 22.0
_KINDS = {"tp": 0, "fn": 1, "fp": 2, "tn": 3}
_OF_FIRST = np.array([0, 1, 1, 2, 3, 3, 2, 3, 3])
"""Which cell of the class i against the rest each sum is: actual i, j, other times predicted i, j, other."""
_OF_SECOND = np.array([3, 2, 3, 1, 0, 1, 3, 2, 3])


class _Rule(NamedTuple):
    """Nodes z and weights of the integral of one class."""

    z: Array
    weight: Array


def macro_variance(metric: Metric, rows: Array, of_class: Beta) -> float | None:
    """Return the variance of the mean of a metric over the classes.

    Parameters
    ----------
    metric : Metric
        The one of a class; it has a `ratio`.
    rows : ndarray of shape (K, K)
        Concentrations of the cells, one Dirichlet.
    of_class : Beta
        The distributions of the classes.

    Returns
    -------
    float or None
        Right to 1e-8 of itself; None below :data:`LEAST`, and of more classes than ``_MOST``.
    """
    k = len(rows)
    if metric.ratio is None or k > _MOST:
        return None
    over, under = (np.isin(list(_KINDS), names).astype(np.float64) for names in metric.ratio)
    above = over * (2.0 if metric.link == "f1" else 1.0)  # N in tp, fn, fp, tn
    below = above + under
    sums = np.broadcast_to(of_class.a + of_class.b, k)
    if sums.min() < LEAST:
        return None
    rules = [_rule(float(each)) for each in sums]
    total = float((np.broadcast_to(of_class.sd(), k) ** 2).sum())
    row, column = rows.sum(1), rows.sum(0)
    everything = float(rows.sum())
    for i in range(k):
        for j in range(i + 1, k):
            four = rows[np.ix_([i, j], [i, j])]
            right, bottom = row[[i, j]] - four.sum(1), column[[i, j]] - four.sum(0)
            rest = everything - four.sum() - right.sum() - bottom.sum()
            groups = np.array([*four[0], right[0], *four[1], right[1], *bottom, max(rest, 0.0)])
            total += 2.0 * _covariance(groups, above, below, rules[i], rules[j])
    return total / k**2


def _rule(total: float) -> _Rule:
    """Return the rule for a class whose D has this sum of concentrations: D decides where exp(-z D) falls."""
    start = -np.log(total) - _LOG_TAIL
    stop = max(np.log(2.0 * _LOG_TAIL / total), _LOG_TAIL / total)
    z = np.exp(np.arange(start, stop + _STEP, _STEP))
    return _Rule(z, _STEP * z)


def _covariance(groups: Array, above: Array, below: Array, first: _Rule, second: _Rule) -> float:
    """Return the covariance of two classes, from the concentrations of the nine sums of cells."""
    z, y = first.z[:, None], second.z[None, :]
    log_first, log_second, apart = (np.zeros(np.broadcast_shapes(v.shape)) for v in (z, y, z * y))
    means = [np.zeros_like(v) for v in (z, y, z * y, z * y)]
    both = np.zeros_like(apart)
    for a, i, j in zip(groups, _OF_FIRST, _OF_SECOND, strict=True):
        c, d = below[i] * z, below[j] * y
        log_first, log_second = log_first - a * np.log1p(c), log_second - a * np.log1p(d)
        if below[i] and below[j]:
            apart = apart + a * np.log1p(c * d / (1.0 + c + d))
        if above[i]:
            means[0] = means[0] + above[i] * a / (1.0 + c)
            means[2] = means[2] + above[i] * a / (1.0 + c + d)
        if above[j]:
            means[1] = means[1] + above[j] * a / (1.0 + d)
            means[3] = means[3] + above[j] * a / (1.0 + c + d)
        if above[i] and above[j]:
            both = both + above[i] * above[j] * a / (1.0 + c + d) ** 2
    alone = means[0] * means[1]
    with np.errstate(over="ignore", invalid="ignore"):  # where nothing is left of the exponential
        joint = np.exp(log_first + log_second + apart)
        change = alone * np.exp(log_first + log_second) * np.expm1(apart) + (means[2] * means[3] - alone + both) * joint
    return float(first.weight @ np.where(np.isfinite(change), change, 0.0) @ second.weight)
