"""Conditional Monte Carlo for averages over classes: one Beta of each draw is integrated out, exactly.

Each draw of the rest gives the average as a monotone function of U ~ Beta (:mod:`bayescm.distributions.splits`), so
P(average <= x | rest) is a Beta's cdf, and its mean over the draws a smooth cdf. What is known exactly (the means of the
classes and their second moment) takes part as control variates.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.distributions import beta_quantiles
from bayescm.distributions.protocol import Distribution
from bayescm.distributions.splits import Split, average
from bayescm.distributions.tabulated import Table
from bayescm.metrics import Metric

Array = NDArray[np.float64]

_STEP, _REACH = 0.8, 5.6  # of the nodes, in normal quantiles of U
_NORMAL = np.arange(-_REACH, _REACH + 0.5 * _STEP, _STEP)
_WEIGHTS = np.exp(-0.5 * _NORMAL**2) / np.exp(-0.5 * _NORMAL**2).sum()
_LEVELS = np.linspace(-4.6, 4.6, 31)  # normal quantiles of the average at which its cdf is found
_FINE = 401
_BATCHES = 16
_PER_CONTROL = 100  # draws at least
_MOST_CONTROLS = 32
_TAIL = 1e-3  # probability from which on the control variates take part
_ROUGH = 1000  # draws by which places are chosen


@dataclass(frozen=True, slots=True)
class Known:
    """What is known exactly of an average: its mean, its variance, and the means of the classes."""

    mean: float | None = None
    variance: float | None = None
    classes: Array | None = None


class Conditional:
    """Collects the draws of one average, block by block.

    Parameters
    ----------
    metric : Metric
    split : Split
    known : Known
    draws : int
    rng : numpy.random.Generator
        Of what the draws of the cells don't hold.
    """

    def __init__(self, metric: Metric, split: Split, known: Known, draws: int, rng: np.random.Generator) -> None:
        self.metric, self.split, self.known, self.rng = metric, split, known, rng
        self.odds = beta_quantiles.logit_at_normal(_NORMAL, split.a, split.b)
        self.values = np.empty((len(_NORMAL), draws))
        some = known.classes is not None and len(known.classes) <= min(_MOST_CONTROLS, draws // _PER_CONTROL - 2)
        self.classes = np.zeros((len(known.classes), draws)) if some and known.classes is not None else None
        self.done = 0

    def add(self, theta: Array) -> None:
        """Take draws (K, K, n) of the cells."""
        for part, cells in self.split.along(theta, self.odds, self.rng):
            place = slice(self.done + part.start, self.done + part.stop)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                for node, (each, weight) in enumerate(zip(cells, _WEIGHTS, strict=True)):
                    self.values[node, place], values = average(self.metric, each)
                    if self.classes is not None and values is not None:
                        self.classes[:, place] += weight * values
        self.done += theta.shape[-1]

    def distribution(self) -> "ConditionalDraws | None":
        """Return the distribution, or None where the average isn't monotone in U."""
        values = self.values
        if values[-1].mean() < values[0].mean():
            values = values[::-1]
        if not (np.diff(values, axis=0) >= 0.0).all():  # also NaN
            return None
        return ConditionalDraws(values, self.metric.lower, self.metric.upper, self.known, self.classes)


@dataclass(frozen=True, eq=False)
class ConditionalDraws(Distribution):
    """The distribution of an average whose values at normal quantiles of U are known for each draw of the rest.

    Attributes
    ----------
    values : ndarray of shape (m, n)
        Rising with the normal quantile.
    lower, upper : float
        Range of the metric.
    known : Known
    classes : ndarray of shape (K, n) or None
        Conditional means of the classes.
    """

    values: Array
    lower: float
    upper: float
    known: Known
    classes: Array | None

    def _unbounded(self, x: Any) -> Array:
        """Return the log-odds of x within the range, in which the average is nearly linear in those of U."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.asarray(x) - self.lower) - np.log(self.upper - np.asarray(x)))

    @cached_property
    def _nodes(self) -> Array:
        return self._unbounded(np.clip(self.values, self.lower + 1e-300, self.upper - 1e-16)) + 1e-9 * _NORMAL[:, None]

    def _conditional(self, place: float, nodes: Array) -> Array:
        """Return P(average <= x | rest) for each draw, at the log-odds of one x: by cubic inverse interpolation."""
        m = len(_NORMAL)
        above = (nodes <= place).sum(0)
        first = np.clip(above - 2, 0, m - 4)[None]
        v = np.stack([np.take_along_axis(nodes, first + i, 0)[0] for i in range(4)]) - place
        z0 = _NORMAL[first[0]]
        cubic = np.zeros_like(z0)
        for i in range(4):
            others = [j for j in range(4) if j != i]
            weight = np.prod([v[j] / (v[j] - v[i]) for j in others], axis=0)
            cubic += weight * (z0 + _STEP * i)
        low = np.clip(above - 1, 0, m - 2)
        inside = low - first[0]
        left, right = (np.take_along_axis(v, (inside + i)[None], 0)[0] for i in (0, 1))
        straight = _NORMAL[low] - left / (right - left) * _STEP
        away = (above == 0) | (above == m)
        found = np.where(away, straight, np.clip(cubic, _NORMAL[low], _NORMAL[low] + _STEP))
        return np.asarray(special.ndtr(found))

    @cached_property
    def _controls(self) -> tuple[Array, Array]:
        """Return control variates (n, c), whose exact means are 0, and the inverse of their covariances."""
        columns = []
        if self.known.mean is not None:
            columns.append(_WEIGHTS @ self.values - self.known.mean)
            if self.known.variance is not None:
                columns.append(_WEIGHTS @ (self.values - self.known.mean) ** 2 - self.known.variance)
        if self.classes is not None and self.known.classes is not None:
            columns += list((self.classes - self.known.classes[:, None])[1:])  # they add up to the first one
        table = np.array(columns).reshape(len(columns), -1).T
        scale = table.std(0)
        table = table[:, scale > 0.0] / scale[scale > 0.0]
        return table, np.linalg.pinv(np.atleast_2d(np.cov(table.T, bias=True)), rcond=1e-9, hermitian=True)

    def _adjusted(self, values: Array) -> Array:
        """Return variables (n, ...) with the same mean and less variance, by regression on the control variates."""
        if self.known.mean is None:
            return values
        table, inverse = self._controls
        slopes = inverse @ (table - table.mean(0)).T @ values / len(table)
        return np.asarray(values - table @ slopes)

    @cached_property
    def _places(self) -> Array:
        """Return places (log-odds), rising, at which the cdf is to be found."""
        each = max(self.values.shape[1] // _ROUGH, 1)
        nodes = self._nodes[:, ::each]
        middle = float(np.average(nodes.mean(1), weights=_WEIGHTS))
        spread = float(np.sqrt(np.average(((nodes - middle) ** 2).mean(1), weights=_WEIGHTS)))
        rough = middle + spread * np.linspace(-9.0, 9.0, 55)
        cdf = np.array([self._conditional(at, nodes).mean() for at in rough])
        normal = special.ndtri(np.clip(cdf, 1e-12, 1.0 - 1e-12))
        use = np.append(True, np.diff(np.maximum.accumulate(normal)) > 1e-6)
        return np.asarray(np.interp(_LEVELS, normal[use], rough[use]))

    @cached_property
    def _probabilities(self) -> Array:
        """Return the adjusted conditional probabilities (n, places)."""
        plain = np.stack([self._conditional(at, self._nodes) for at in self._places], 1)
        share = plain.mean(0)
        central = (share > _TAIL) & (share < 1.0 - _TAIL)
        return np.where(central, self._adjusted(plain), plain)

    def _table(self, cdf: Array) -> Table:
        """Tabulate the distribution whose cdf at the places is given: normal quantiles are smooth in log-odds."""
        from scipy.interpolate import CubicSpline

        normal = special.ndtri(np.clip(np.maximum.accumulate(cdf), 1e-15, 1.0 - 1e-15))
        apart = np.append(True, np.diff(self._places) > 0.0)
        at = np.linspace(self._places[0], self._places[-1], _FINE)
        fine = np.maximum.accumulate(special.ndtr(CubicSpline(self._places[apart], normal[apart])(at)))
        x = self.lower + (self.upper - self.lower) * special.expit(at)
        use = np.append(True, np.diff(x) > 0.0)
        return Table(x[use], fine[use], np.zeros(int(use.sum())), (self.lower, self.upper))

    @cached_property
    def table(self) -> Table:
        """The distribution as a table."""
        return self._table(self._probabilities.mean(0))

    def probability(self, x: float) -> tuple[float, float]:
        """Return P(average <= x) and its Monte Carlo standard error."""
        if not self.lower < x < self.upper:
            return float(x >= self.upper), 0.0
        plain = self._conditional(float(self._unbounded(x)), self._nodes)
        if _TAIL < plain.mean() < 1.0 - _TAIL:
            plain = self._adjusted(plain)
        return float(np.clip(plain.mean(), 0.0, 1.0)), float(plain.std() / np.sqrt(len(plain)))

    def pdf(self, x: Any) -> Array:
        """Return the density."""
        return self.table.pdf(np.asarray(x, np.float64))

    def cdf(self, x: Any) -> Array:
        """Return P(average <= x)."""
        found = [self.probability(float(each))[0] for each in np.ravel(x)]
        return np.reshape(found, np.shape(x))

    def sf(self, x: Any) -> Array:
        """Return P(average > x)."""
        return 1.0 - self.cdf(x)

    def ppf(self, p: Any) -> Array:
        """Return the quantile at `p`."""
        return self.table.ppf(np.asarray(p, np.float64))

    def mean(self) -> float:
        """Return the mean: the exact one, where it is known."""
        return self._mean[0]

    @cached_property
    def _mean(self) -> tuple[float, float]:
        if self.known.mean is not None:
            return self.known.mean, 0.0
        each = _WEIGHTS @ self.values
        return float(each.mean()), float(each.std() / np.sqrt(len(each)))

    def sd(self) -> float:
        """Return the standard deviation: the exact one, where it is known."""
        if self.known.variance is not None:
            return float(np.sqrt(self.known.variance))
        each = _WEIGHTS @ (self.values - self.mean()) ** 2
        return float(np.sqrt(max(self._adjusted(each).mean(), 0.0)))

    def error(self, x: Any) -> Array:
        """Return the Monte Carlo standard error of cdf and sf at x, relative to the smaller of them."""
        found = np.array([self.probability(float(each)) for each in np.ravel(x)])
        share, error = found.T
        least = np.maximum(np.minimum(share, 1.0 - share), 1e-300)
        return np.reshape(error / least, np.shape(x))

    def hdi(self, prob: float) -> tuple[float, float, bool]:
        """Return the highest-density interval, and whether it is one: else it is equal-tailed."""
        return self.table.hdi(prob)

    def statistics(self, prob: float, kind: str) -> dict[str, Any]:
        """Return mean, median, sd and interval and their Monte Carlo errors, those of bounds from 16 batches."""

        def bounds(table: Table) -> tuple[float, float]:
            if kind == "hdi":
                return table.hdi(prob)[:2]
            lower, upper = table.ppf(np.array([0.5 * (1.0 - prob), 0.5 * (1.0 + prob)]))
            return float(lower), float(upper)

        each = self._probabilities
        size = len(each) // _BATCHES
        batches = each[: size * _BATCHES].reshape(_BATCHES, size, -1).mean(1)
        spread = np.std([bounds(self._table(batch)) for batch in batches], axis=0, ddof=1) / np.sqrt(_BATCHES)
        lower, upper = bounds(self.table)
        return {
            "mean": self.mean(), "median": float(self.ppf(0.5)), "sd": self.sd(), "lower": lower, "upper": upper,
            "is_hdi": kind == "hdi" and self.table.single_peak, "error": np.nan,
            "mcse_mean": self._mean[1], "mcse_lower": float(spread[0]), "mcse_upper": float(spread[1]),
        }  # fmt: skip
