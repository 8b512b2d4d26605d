"""Sums of weighted independent Betas: averages over classes, and accuracy at known class shares.

Under a cell Dirichlet the rows are independent of one another, and so are the columns: recall of each class is a Beta
independent of the others', and precision too. Each Beta is put on a lattice, whose masses keep the first moment of
every cell, and the lattices are convolved by FFT. The error falls with the square of the step, so two steps are
extrapolated, and halved until two extrapolations agree.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.distributions.protocol import Distribution
from bayescm.metrics import Metric, binary, multiclass
from bayescm.priors.concentrations import Concentrations

Array = NDArray[np.float64]

_LOG_TAIL = 30.0  # minus the log of the probability beyond the table
_GOAL = 5e-7  # of the change of probabilities at the last halving; usually the error is a tenth of it
_LEAST = 0.4  # concentration below which the density is too steep for the lattice
_HALVINGS = 9
_LEAST_NODES = 256
_CLOSE = 1e-9  # of the step of the table
_FLAT = 1e-7  # of the largest density: changes that are none


@dataclass(frozen=True, eq=False)
class Linear(Distribution):
    """The distribution of sum_i w_i X_i with independent X_i ~ Beta(a_i, b_i).

    Probabilities are right to an absolute error of 1e-7 or so, less where the density is infinite; `error` says how far
    two steps of the lattice differ.

    Attributes
    ----------
    weights, a, b : ndarray of shape (..., m)
        Positive weights and concentrations.
    """

    weights: Array
    a: Array
    b: Array

    @cached_property
    def _tables(self) -> list["_Table"]:
        each = (array.reshape(-1, array.shape[-1]) for array in np.broadcast_arrays(self.weights, self.a, self.b))
        return [_table(*(v[w > 0] for v in (w, a, b))) for w, a, b in zip(*each, strict=True)]

    def _at(self, x: float | Array, name: str) -> Array:
        """Call a method of each matrix's table; leading axes of `x` beyond the batch's are more points."""
        batch = np.broadcast_shapes(self.weights.shape, self.a.shape)[:-1]
        x = np.asarray(x, np.float64)
        shape = np.broadcast_shapes(batch, x.shape)
        points = np.broadcast_to(x, shape).reshape(-1, len(self._tables))
        found = [getattr(table, name)(column) for table, column in zip(self._tables, points.T, strict=True)]
        return np.stack(found, -1).reshape(shape)

    def cdf(self, x: float | Array) -> Array:
        """Return P(sum <= x)."""
        return self._at(x, "cdf")

    def sf(self, x: float | Array) -> Array:
        """Return P(sum > x), with an absolute error as that of the cdf."""
        return 1.0 - self.cdf(x)

    def pdf(self, x: float | Array) -> Array:
        """Return the density."""
        return self._at(x, "pdf")

    def error(self, x: float | Array) -> Array:
        """Return the estimated relative error of the smaller of cdf and sf at x."""
        return self._at(x, "relative_error")

    def ppf(self, p: float | Array) -> Array:
        """Return the quantile at `p`."""
        return self._at(p, "ppf")

    def mean(self) -> Array:
        """Return the mean."""
        return np.asarray((self.weights * self.a / (self.a + self.b)).sum(-1))

    def sd(self) -> Array:
        """Return the standard deviation."""
        return np.sqrt(_variances(self.weights, self.a, self.b).sum(-1))

    def hdi(self, prob: float) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Return the highest-density interval, and where it is one (else it is equal-tailed)."""
        found = np.array([table.hdi(prob) for table in self._tables]).reshape(*self.a.shape[:-1], 3)
        return found[..., 0], found[..., 1], found[..., 2] > 0

    def statistics(self, prob: float, kind: str) -> dict[str, Any]:
        """Return mean, median, sd, lower, upper, is_hdi, and the estimated relative error of the probabilities."""
        return super().statistics(prob, kind) | {"error": self._at(0.5 * (1.0 - prob), "error_at")}


class _Table:
    """One distribution as a cubic spline of its cdf."""

    def __init__(self, x: Array, cdf: Array, highest: float, error: float) -> None:
        from scipy.interpolate import CubicSpline

        self.x, self.highest, self.error = x, highest, error
        self.values = np.clip(np.maximum.accumulate(cdf), 0.0, 1.0)
        self.spline = CubicSpline(x, cdf)
        self.slope = self.spline.derivative()

    def cdf(self, x: Array) -> Array:
        inside = np.clip(self.spline(np.clip(x, self.x[0], self.x[-1])), 0.0, 1.0)
        below = (x <= 0.0) | (x < self.x[0])
        return np.where(below, 0.0, np.where((x >= self.highest) | (x > self.x[-1]), 1.0, inside))

    def pdf(self, x: Array) -> Array:
        inside = (x > max(0.0, self.x[0])) & (x < min(self.highest, self.x[-1]))
        return np.where(inside, np.maximum(self.slope(np.clip(x, self.x[0], self.x[-1])), 0.0), 0.0)

    def relative_error(self, x: Array) -> Array:
        below = self.cdf(x)
        return self.error_at(np.minimum(below, 1.0 - below))

    def error_at(self, p: Array) -> Array:
        """Return the error relative to a probability; of none it is 0."""
        return np.where(p > 0.0, self.error / np.where(p > 0.0, p, 1.0), 0.0)

    def ppf(self, p: Array) -> Array:
        place = np.clip(np.searchsorted(self.values, p), 1, len(self.x) - 1)
        low, high = self.x[place - 1].copy(), self.x[place].copy()
        found = 0.5 * (low + high)
        for _ in range(40):  # Newton's steps inside of the bracket
            excess = self.spline(found) - p
            low, high = np.where(excess < 0.0, found, low), np.where(excess < 0.0, high, found)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = found - excess / self.slope(found)
            moved = np.where((step > low) & (step < high), step, 0.5 * (low + high))
            close, found = np.max(np.abs(moved - found), initial=0.0) <= _CLOSE * (self.x[1] - self.x[0]), moved
            if close:
                break
        found = np.where(p <= 0.0, 0.0, np.where(p >= 1.0, self.highest, found))
        return np.asarray(np.clip(found, 0.0, self.highest))

    @cached_property
    def single_peak(self) -> bool:
        """Whether the density rises, then falls."""
        density = self.slope(self.x)
        turns = np.diff(density)
        up = turns[np.abs(turns) > _FLAT * density.max()] > 0.0
        return not (up[1:] & ~up[:-1]).any()

    def hdi(self, prob: float) -> tuple[float, float, bool]:
        """Return the ends of the narrowest interval; equal tails and False where there are several peaks."""
        from scipy.optimize import brentq

        def ends(left: float) -> Array:
            return self.ppf(np.array([left, left + prob]))

        def tilt(left: float) -> float:
            lower, upper = self.pdf(ends(left))
            return float(upper - lower)

        left = 0.5 * (1.0 - prob)
        if self.single_peak:
            least, most = 1e-3 * self.error, 1.0 - prob - 1e-3 * self.error
            left = (
                0.0 if tilt(least) <= 0.0 else 1.0 - prob if tilt(most) >= 0.0 else brentq(tilt, least, most, xtol=1e-9)
            )
        lower, upper = ends(left)
        return float(lower), float(upper), self.single_peak


def _variances(weights: Array, a: Array, b: Array) -> Array:
    n = a + b
    return np.asarray(weights**2 * a * b / (n**2 * (n + 1.0)))


def _reach(weights: Array, a: Array, b: Array) -> float:
    """Return how far above its mean the sum is, but for the tail left out.

    Bernstein's inequality for Betas (Skorski 2023), whose constants add up over independent ones, or the largest sum.
    """
    n = a + b
    scale = max(float((2.0 * weights * (b - a) / (n * (n + 2.0))).max()), 0.0) / 3.0 * _LOG_TAIL
    reach = scale + np.sqrt(scale**2 + 2.0 * _LOG_TAIL * _variances(weights, a, b).sum())
    return float(min(reach, (weights * b / n).sum()))


def _table(weights: Array, a: Array, b: Array) -> _Table:
    """Tabulate one distribution: halve the step of the lattice until two extrapolations agree."""
    from scipy.interpolate import CubicSpline

    mean = float((weights * a / (a + b)).sum())
    low, high = mean - _reach(weights, b, a), mean + _reach(weights, a, b)
    count = 2 ** int(np.ceil(np.log2(_LEAST_NODES + 4 * len(a))))
    step = (high - low) / (count - 2 * len(a) - 4)
    base = float(weights[a > b].sum())
    start = int(np.floor((low - base) / step)) - len(a) - 1
    coarse = _cumulated(weights, a, b, start, step, count)
    x, found, error = base + step * (start + np.arange(count) + 0.5), coarse, 1.0
    for halving in range(_HALVINGS):
        step, start, count = 0.5 * step, 2 * start, 2 * count
        at = base + step * (start + np.arange(count) + 0.5)
        fine = _cumulated(weights, a, b, start, step, count)
        better = fine + (fine - CubicSpline(x, coarse)(at)) / 3.0
        if halving:
            error = float(np.abs(better - CubicSpline(x, found)(at)).max())
        coarse, found, x = fine, better, at
        if error < _GOAL:
            break
    return _Table(x, found, float(weights.sum()), error)


def _cumulated(weights: Array, a: Array, b: Array, start: int, step: float, count: int) -> Array:
    """Return the probabilities up to the middles between nodes, which lie at `step` times whole numbers from the ends.

    They start at the number `start`, counted from where each Beta is at its steeper end.
    """
    transform: Any = 1.0
    first = 0
    for w, a_, b_ in zip(weights, a, b, strict=True):
        index, masses = _on_lattice(step / w, a_, b_)
        transform = transform * np.fft.rfft(np.bincount((index - index[0]) % count, masses, count))
        first += int(index[0])
    masses = np.fft.irfft(transform, count)
    return np.cumsum(np.roll(masses, first - start))


def _on_lattice(step: float, a: float, b: float) -> tuple[NDArray[np.int64], Array]:
    """Put Beta(a, b) on a lattice from its steeper end on: each cell's mass on its two nodes so that its mean stays."""
    one, end = np.ones(1), float(a > b)
    mean = a / (a + b)
    low, high = mean - _reach(one, one * b, one * a), mean + _reach(one, one * a, one * b)
    nodes = np.arange(int(np.floor((low - end) / step)), int(np.ceil((high - end) / step)) + 1)
    edges = np.clip(end + nodes * step, 0.0, 1.0)
    below = special.betainc(a, b, edges)
    below[0], below[-1] = 0.0, 1.0  # the tails beyond go into the outer cells
    with np.errstate(divide="ignore"):
        log = special.xlogy(a, edges) + special.xlog1py(b, -edges) - special.betaln(a, b)
    moment = mean * (below - np.exp(log) / a)
    moment[0], moment[-1] = 0.0, mean
    mass = np.diff(below)
    right = np.clip((np.diff(moment) - (end + nodes[:-1] * step) * mass) / step, 0.0, mass)
    masses = np.zeros(len(nodes))
    masses[:-1] += mass - right
    masses[1:] += right
    return nodes, masses


def linear_distribution(metric: Metric, which: Concentrations) -> Linear | None:
    """Return the distribution of a metric of several labels that is a sum of independent Betas, or None.

    Macro recall (balanced accuracy) and its complement; under one Dirichlet also macro precision and its complement; at
    known class shares accuracy and its complement. None also with concentrations below 0.4.
    """
    found = _of_metric(metric, which)
    if found is None or any(((v > 0.0) & (v < _LEAST)).any() for v in (found.a, found.b)):
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
    if which.known and metric.function in (multiclass.accuracy, multiclass.error_rate):
        return Linear(which.shares, *(rows if metric.function is multiclass.accuracy else rows[::-1]))
    return None
