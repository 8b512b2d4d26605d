"""Conditional Monte Carlo for averages over classes: one Beta of each draw is integrated out, exactly.

Each draw of the rest gives the average as a monotone function of U ~ Beta (:mod:`bayescm.distributions.splits`), so
P(average <= x | rest) is a Beta's cdf, and its mean over the draws a smooth cdf. What is known exactly (means of the
classes, the variance, both moments of the average to first order) takes part as control variates.
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

_STEP, _REACH = 0.7, 5.6  # of the nodes, in normal quantiles of U
_NORMAL = np.arange(-_REACH, _REACH + 0.5 * _STEP, _STEP)
_WEIGHTS = np.exp(-0.5 * _NORMAL**2) / np.exp(-0.5 * _NORMAL**2).sum()
_LEVELS = np.linspace(-4.6, 4.6, 31)  # normal quantiles of the average at which its cdf is found
_POINTS, _NEWTON = 6, 4  # of an interpolation, and steps of its solution
_MIDDLE = 0.5 * (_POINTS - 1)
_POLYNOMIAL = np.linalg.inv(np.vander(np.arange(_POINTS) - _MIDDLE, increasing=True))
_FINE = 401
_CLOSE = 1e-3  # normal quantiles that are one
_APART = 1e-13  # of nodes that would be one
_BATCHES = 16
_FOURTH, _ENOUGH = 4, 4000  # of the draws: so many first
_INTERPOLATED = 4e-5  # error of a probability p, in sqrt(p (1 - p))
_PER_CONTROL = 100  # draws at least
_MOST_CONTROLS = 32
_CONSTANT, _COLLINEAR = 8.0, 1e-6  # standard errors that a mean is off; share of the largest eigenvalue
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
        self.metric, self.split, self.known, self.draws, self.rng = metric, split, known, draws, rng
        self.first = max(draws // _FOURTH, min(draws, _ENOUGH))
        self.odds = beta_quantiles.logit_at_normal(_NORMAL, split.a, split.b)
        self.values = np.empty((len(_NORMAL), draws))
        some = known.classes is not None and len(known.classes) <= min(_MOST_CONTROLS, draws // _PER_CONTROL - 2)
        self.classes = np.zeros((len(known.classes), draws)) if some and known.classes is not None else None
        self.first_order = np.zeros((2, draws))
        self.done, self.enough = 0, False
        self.judged: tuple[int, ConditionalDraws | None] = 0, None

    def add(self, theta: Array) -> None:
        """Take draws (K, K, n) of the cells, as many as are needed."""
        while theta.shape[-1] and not self.enough:
            some = (self.first if self.done < self.first else self.draws) - self.done
            self._add(theta[..., :some])
            theta = theta[..., some:]
            if self.done == self.first:
                self.enough = self._settled()
            self.enough = self.enough or self.done == self.draws

    def _add(self, theta: Array) -> None:
        for part, cells in self.split.along(theta, self.odds, self.rng):
            place = slice(self.done + part.start, self.done + part.stop)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                for node, (each, weight) in enumerate(zip(cells, _WEIGHTS, strict=True)):
                    self.values[node, place], values = average(self.metric, each)
                    near = self.split.first_order(each)
                    self.first_order[0, place] += weight * near
                    self.first_order[1, place] += weight * near**2
                    if self.classes is not None and values is not None:
                        self.classes[:, place] += weight * values
        self.done += theta.shape[-1]

    def _settled(self) -> bool:
        """Say whether the first draws say twice as much as all draws of the cells would; or nothing can be said."""
        found = self.distribution()
        self.judged = self.done, found
        return found is None or found.gain() > 2.0 * self.draws / self.done

    def distribution(self) -> "ConditionalDraws | None":
        """Return the distribution, or None where the average isn't monotone in U."""
        if self.done == self.judged[0] > 0:
            return self.judged[1]
        values = self.values[:, : self.done]
        if values[-1].mean() < values[0].mean():
            values = values[::-1]
        if not (np.diff(values, axis=0) >= 0.0).all():  # also NaN
            return None
        first, second = self.first_order[:, : self.done]
        controls = [first, second - self.split.variance]
        if self.known.mean is not None:
            controls.append(_WEIGHTS @ values - self.known.mean)
            if self.known.variance is not None:
                controls.append(_WEIGHTS @ (values - self.known.mean) ** 2 - self.known.variance)
        if self.classes is not None and self.known.classes is not None:
            controls += list(
                (self.classes[:, : self.done] - self.known.classes[:, None])[1:]
            )  # they add up to another one
        return ConditionalDraws(values, self.metric.lower, self.metric.upper, self.known, np.array(controls).T)


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
    controls : ndarray of shape (n, c)
        Control variates, whose exact means are 0.
    """

    values: Array
    lower: float
    upper: float
    known: Known
    controls: Array

    def _unbounded(self, x: Any) -> Array:
        """Return the log-odds of x within the range, in which the average is nearly linear in those of U."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.asarray(x) - self.lower) - np.log(self.upper - np.asarray(x)))

    @cached_property
    def _nodes(self) -> Array:
        inside = np.clip(self.values, self.lower + 1e-300, self.upper - 1e-16)
        return self._unbounded(inside) + _APART * np.arange(len(_NORMAL))[:, None]

    def _conditional(self, place: float, nodes: Array) -> Array:
        """Return P(average <= x | rest) for each draw, at the log-odds of one x.

        The normal quantile of U is where a polynomial through six of the nodes (m, n) is there, by Newton's steps.
        """
        m, n = nodes.shape
        above = (nodes <= place).sum(0)
        first = np.clip(above - _POINTS // 2, 0, m - _POINTS)
        flat, every = first * n + np.arange(n), nodes.ravel()
        near = np.stack([every[flat + i * n] for i in range(_POINTS)]) - place
        powers = _POLYNOMIAL @ near
        low = np.clip(above - 1, 0, m - 2) - first
        left, right = (np.take_along_axis(near, (low + i)[None], 0)[0] for i in (0, 1))
        at = low + np.clip(left / np.minimum(left - right, -1e-300), 0.0, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            for _ in range(_NEWTON):
                value, slope = powers[-1], np.zeros(n)
                for power in powers[-2::-1]:
                    value, slope = value * (at - _MIDDLE) + power, slope * (at - _MIDDLE) + value
                moved = np.clip(at - value / slope, low, low + 1.0)
                at = np.where(np.isfinite(moved), moved, at)
        return np.asarray(special.ndtr(_NORMAL[0] + _STEP * (first + at)))

    @cached_property
    def _regression(self) -> tuple[Array, Array, Array]:
        """Return the control variates in standard deviations, less their mean here, these means, and the inverse."""
        scale, away = self.controls.std(0), np.abs(self.controls.mean(0))
        use = away * np.sqrt(len(self.controls)) < _CONSTANT * scale  # else U is all that it depends on
        table = self.controls[:, use] / scale[use]
        means = table.mean(0)
        away = table - means
        return away, means, np.linalg.pinv(away.T @ away, rcond=_COLLINEAR, hermitian=True)

    def _adjusted(self, values: Array) -> Array:
        """Return variables (n, ...) with the same mean and less variance, by regression on the control variates."""
        away, means, inverse = self._regression
        slopes = inverse @ (away.T @ values)
        return np.asarray(values - away @ slopes - means @ slopes)

    @cached_property
    def _places(self) -> Array:
        """Return places (log-odds), rising, at which the cdf is to be found."""
        each = max(self.values.shape[1] // _ROUGH, 1)
        nodes = np.ascontiguousarray(self._nodes[:, ::each])
        middle = float(np.average(nodes.mean(1), weights=_WEIGHTS))
        spread = float(np.sqrt(np.average(((nodes - middle) ** 2).mean(1), weights=_WEIGHTS)))
        rough = middle + spread * np.linspace(-9.0, 9.0, 37)
        for levels in (np.linspace(-5.0, 5.0, 61), _LEVELS):
            cdf = np.maximum.accumulate([self._conditional(float(at), nodes).mean() for at in rough])
            normal = special.ndtri(np.clip(cdf, 1e-12, 1.0 - 1e-12))
            use = np.append(True, np.diff(normal) > _CLOSE)
            rough = np.interp(levels, normal[use], rough[use])
        return np.asarray(rough)

    def gain(self) -> float:
        """Return how many draws of the cells one of these is worth, at least, at three quantiles."""
        found = []
        for place in np.interp([-1.96, 0.0, 1.96], _LEVELS, self._places):
            plain = self._conditional(float(place), self._nodes)
            share = float(plain.mean())
            found.append(share * (1.0 - share) / max(float(self._adjusted(plain).var()), 1e-300))
        return min(found)

    @cached_property
    def _probabilities(self) -> Array:
        """Return the adjusted conditional probabilities (n, places)."""
        plain = np.stack([self._conditional(at, self._nodes) for at in self._places], 1)
        share = plain.mean(0)
        central = (share > _TAIL) & (share < 1.0 - _TAIL)
        return np.where(central, self._adjusted(plain), plain)

    def _table(self, cdf: Array) -> Table:
        """Tabulate the distribution whose cdf at the places is given: places are smooth in normal quantiles."""
        from scipy.interpolate import CubicSpline

        normal = special.ndtri(np.clip(np.maximum.accumulate(cdf), 1e-15, 1.0 - 1e-15))
        use = np.append(True, np.diff(normal) > _CLOSE)
        levels = np.linspace(normal[0], normal[use][-1], _FINE)
        places = np.maximum.accumulate(CubicSpline(normal[use], self._places[use])(levels))
        x = self.lower + (self.upper - self.lower) * special.expit(places)
        apart = np.append(True, np.diff(x) > 0.0)
        return Table(x[apart], special.ndtr(levels)[apart], np.zeros(int(apart.sum())), (self.lower, self.upper))

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
        found = float(np.clip(plain.mean(), 0.0, 1.0))
        return found, float(np.sqrt(plain.var() / len(plain) + _INTERPOLATED**2 * found * (1.0 - found)))

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
        each = self._adjusted(_WEIGHTS @ self.values)
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
        density = np.maximum(self.table.pdf(np.array([lower, upper])), 1e-3 / (self.upper - self.lower))
        spread = np.hypot(spread, _INTERPOLATED * np.sqrt(0.25 * (1.0 - prob**2)) / density)
        return {
            "mean": self.mean(), "median": float(self.ppf(0.5)), "sd": self.sd(), "lower": lower, "upper": upper,
            "is_hdi": kind == "hdi" and self.table.single_peak, "error": np.nan,
            "mcse_mean": self._mean[1], "mcse_lower": float(spread[0]), "mcse_upper": float(spread[1]),
        }  # fmt: skip
