"""Conditional Monte Carlo for averages over classes: one Beta of each draw is integrated out, exactly.

Each draw of the rest gives the average as a monotone function of U ~ Beta (:mod:`bayescm.distributions.splits`), so
P(average <= x | rest) is a Beta's cdf, and its mean over the draws a smooth cdf. What is known exactly (means of the
classes, the variance, both moments of the average to first order) takes part as control variates.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.distributions import beta_quantiles, dirichlet
from bayescm.distributions.protocol import Distribution, Side
from bayescm.distributions.splits import Split, average
from bayescm.distributions.tabulated import Table
from bayescm.metrics import Metric

Array = NDArray[np.float64]

_STEP, _REACH = 0.7, 5.6  # of the nodes, in normal quantiles of U
_SPARSEST, _SPARSE, _CLOSER = 0.3, 3.0, 0.7  # concentrations of U between which steps are shorter, and their power
_LEVELS = np.linspace(-4.6, 4.6, 25)  # normal quantiles of the average at which its cdf is found
_POINTS, _NEWTON = 6, 2  # of an interpolation, and steps of its solution
_MIDDLE = 0.5 * (_POINTS - 1)
_POLYNOMIAL = np.linalg.inv(np.vander(np.arange(_POINTS) - _MIDDLE, increasing=True))
_FINE = 401
_CLOSE = 1e-3  # normal quantiles that are one
_APART = 1e-13  # of nodes that would be one
_FIRST, _LEAST = 40, 1000  # the share of the draws, and the number, that are made first
_BETTER, _MOST = 16.0, 4  # how much less variance than that of all draws of the cells; the share of these at most
_INTERPOLATED = 4e-5  # error of a probability p, in sqrt(p (1 - p))
_PER_CONTROL = 100  # draws at least
_MOST_CONTROLS = 32
_CONSTANT, _COLLINEAR = 8.0, 1e-6  # standard errors that a mean is off; share of the largest eigenvalue
_TAIL = 1e-3  # probability from which on the control variates take part
_ROUGH = 500  # draws by which places are chosen
_GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)
_NEAR = 0.2  # of the smaller tail: by how much probabilities differ where a slope is needed


@dataclass(frozen=True, slots=True)
class Known:
    """What is known exactly of an average: its mean, its variance, and the means of the classes."""

    mean: float | None = None
    variance: float | None = None
    classes: Array | None = None


@dataclass(frozen=True, eq=False)
class Nodes:
    """Equidistant normal quantiles of U, where averages are computed."""

    normal: Array

    @classmethod
    def of(cls, split: Split) -> "Nodes":
        """Return nodes for the Beta that is integrated out.

        One of a low concentration is often next to 0 or 1, and the average a steep function of its normal quantile.
        """
        step = _STEP * (np.clip(min(split.a, split.b), _SPARSEST, _SPARSE) / _SPARSE) ** _CLOSER
        return cls(np.linspace(-_REACH, _REACH, 2 * round(_REACH / step) + 1))

    @cached_property
    def step(self) -> float:
        """From one node to the next."""
        return float(self.normal[1] - self.normal[0])

    @cached_property
    def weights(self) -> Array:
        """By which their mean is one over U."""
        weights = np.exp(-0.5 * self.normal**2)
        return np.asarray(weights / weights.sum())


@dataclass(frozen=True, eq=False)
class Average:
    """An average, what is integrated out of it, and what is known of it."""

    metric: Metric
    split: Split
    known: Known = Known()

    @cached_property
    def nodes(self) -> Nodes:
        """Where it is computed."""
        return Nodes.of(self.split)

    @cached_property
    def odds(self) -> Array:
        """The log-odds of U there."""
        return beta_quantiles.logit_at_normal(self.nodes.normal, self.split.a, self.split.b)


def conditional_draws(
    averages: Sequence[Average], draws: int, rng: np.random.Generator
) -> "list[ConditionalDraws | None]":
    """Return the distribution of each average of one matrix, or None where it isn't monotone in U.

    Parameters
    ----------
    averages : sequence of Average
        They share the draws of the rest, but no answer depends on which others there are.
    draws : int
        Of the cells, than which the answers shall be better; they take fewer.
    rng : numpy.random.Generator
    """
    few = min(draws, max(draws // _FIRST, _LEAST))
    controls = min(_MOST_CONTROLS, few // _PER_CONTROL - 2)
    every = [
        replace(one, known=replace(one.known, classes=None))
        if len(one.known.classes if one.known.classes is not None else ()) > controls
        else one
        for one in averages
    ]
    found: list[ConditionalDraws | None] = [None] * len(every)
    parts: list[list[tuple[Array, Array]]] = [[] for _ in every]
    left = [few] * len(every)  # draws that each still takes
    which = every[0].split.which if every else None
    while which is not None and max(left) > 0:
        theta, gammas = dirichlet.theta_and_rows(which, rng, few)
        for i, one in enumerate(every):
            if left[i] <= 0:
                continue
            parts[i].append(_given_rest(one, theta, gammas))
            left[i] -= theta.shape[-1]
            if left[i] <= 0:
                first = found[i] is None
                found[i] = now = _monotone(one, *(np.concatenate(part, 1) for part in zip(*parts[i], strict=True)))
                if first and now is not None:
                    left[i] = int(min(_BETTER * draws / now.gain(), draws // _MOST)) - now.values.shape[1]
    return found


def _given_rest(one: Average, theta: Array, gammas: Array) -> tuple[Array, Array]:
    """Return an average at nodes of U, (m, n), and control variates whose means are 0, (c, n), of draws of the rest."""
    n, known, split, weights = theta.shape[-1], one.known, one.split, one.nodes.weights
    values, near = np.empty((len(weights), n)), np.zeros((2, n))
    classes = np.zeros((0 if known.classes is None else len(known.classes), n))
    for place, cells in split.along(theta, one.odds, gammas):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            for node, (each, weight) in enumerate(zip(cells, weights, strict=True)):
                values[node, place], of_classes = average(one.metric, each)
                away = split.first_order(each)
                near[:, place] += weight * np.stack([away, away**2 - split.variance])
                if len(classes) and of_classes is not None:
                    classes[:, place] += weight * of_classes
    controls = [*near]
    if known.mean is not None:
        away = values - known.mean
        controls.append(weights @ away)
        if known.variance is not None:
            controls.append(weights @ away**2 - known.variance)
    if len(classes) and known.classes is not None:
        controls += [*(classes - known.classes[:, None])[1:]]  # they add up to another one
    return values, np.array(controls)


def _monotone(one: Average, values: Array, controls: Array) -> "ConditionalDraws | None":
    """Return the distribution, or None where the average isn't monotone in U."""
    if values[-1].mean() < values[0].mean():
        values = values[::-1]
    if not (np.diff(values, axis=0) >= 0.0).all():  # also NaN
        return None
    return ConditionalDraws(one.nodes, values, one.metric.lower, one.metric.upper, one.known, controls.T)


@dataclass(frozen=True, eq=False)
class ConditionalDraws(Distribution):
    """The distribution of an average whose values at normal quantiles of U are known for each draw of the rest.

    Attributes
    ----------
    nodes : Nodes
    values : ndarray of shape (m, n)
        Rising with the normal quantile.
    lower, upper : float
        Range of the metric.
    known : Known
    controls : ndarray of shape (n, c)
        Control variates, whose exact means are 0.
    """

    nodes: Nodes
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
    def _unbounded_values(self) -> Array:
        inside = np.clip(self.values, self.lower + 1e-300, self.upper - 1e-16)
        return self._unbounded(inside) + _APART * np.arange(len(inside))[:, None]

    def _conditional(self, place: float) -> Array:
        """Return P(average <= x | rest) for each draw, at the log-odds of one x.

        The normal quantile of U is where a polynomial through six of the nodes (m, n) is there, by Newton's steps.
        """
        nodes = self._unbounded_values
        m, n = nodes.shape
        above = (nodes <= place).sum(0)
        first = np.clip(above - _POINTS // 2, 0, m - _POINTS)
        near = nodes.ravel()[first * n + np.arange(n) + n * np.arange(_POINTS)[:, None]] - place
        powers = _POLYNOMIAL @ near
        low = np.clip(above - 1, 0, m - 2) - first
        left, right = (near.ravel()[(low + i) * n + np.arange(n)] for i in (0, 1))
        at = low + np.clip(left / np.minimum(left - right, -1e-300), 0.0, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            for _ in range(_NEWTON):
                slope = powers[-1]
                value = slope * (at - _MIDDLE) + powers[-2]
                for power in powers[-3::-1]:
                    value, slope = value * (at - _MIDDLE) + power, slope * (at - _MIDDLE) + value
                moved = np.clip(at - value / slope, low, low + 1.0)
                at = np.where(np.isfinite(moved), moved, at)
        return np.asarray(special.ndtr(self.nodes.normal[0] + self.nodes.step * (first + at)))

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
        """Return places (log-odds), rising, at which the cdf is to be found: quantiles of some draws."""
        nodes = self._unbounded_values[:, :: max(self.values.shape[1] // _ROUGH, 1)]
        between = np.arange(nodes.shape[1]) * _GOLDEN % 1.0
        some = (nodes[:-1] + between * np.diff(nodes, axis=0)).ravel()
        weights = np.exp(-0.5 * (self.nodes.normal[:-1, None] + self.nodes.step * between) ** 2).ravel()
        order = np.argsort(some)
        share = np.cumsum(weights[order]) - 0.5 * weights[order]
        return np.asarray(np.interp(_LEVELS, special.ndtri(share / weights.sum()), some[order]))

    def gain(self) -> float:
        """Return how many draws of the cells one of these is worth, at least, at three quantiles."""
        found = []
        for place in np.interp([-1.96, 0.0, 1.96], _LEVELS, self._places):
            plain = self._conditional(float(place))
            share = float(plain.mean())
            found.append(share * (1.0 - share) / max(float(self._adjusted(plain).var()), 1e-300))
        return min(found)

    @cached_property
    def _probabilities(self) -> Array:
        """Return the adjusted conditional probabilities (n, places)."""
        plain = np.stack([self._conditional(at) for at in self._places], 1)
        share = plain.mean(0)
        central = (share > _TAIL) & (share < 1.0 - _TAIL)
        return np.where(central, self._adjusted(plain), plain)

    @cached_property
    def _spline(self) -> tuple[NDArray[np.bool_], Any]:
        """Return which places are used, and log-odds as a spline in normal quantiles, in which they are smooth."""
        from scipy.interpolate import CubicSpline

        cdf = np.maximum.accumulate(self._probabilities.mean(0))
        normal = special.ndtri(np.clip(cdf, 1e-15, 1.0 - 1e-15))
        use = np.append(True, np.diff(normal) > _CLOSE)
        return use, CubicSpline(normal[use], self._places[use])

    @cached_property
    def table(self) -> Table:
        """The distribution as a table."""
        spline = self._spline[1]
        levels = np.linspace(spline.x[0], spline.x[-1], _FINE)
        x = self.lower + (self.upper - self.lower) * special.expit(np.maximum.accumulate(spline(levels)))
        apart = np.append(True, np.diff(x) > 0.0)
        doubt = self._probabilities[:, self._spline[0]].std(0) / np.sqrt(self.values.shape[1])
        errors = np.interp(levels, spline.x, doubt)
        return Table(x[apart], special.ndtr(levels)[apart], errors[apart], (self.lower, self.upper))

    def probability(self, x: float) -> tuple[float, float]:
        """Return P(average <= x) and its Monte Carlo standard error."""
        if not self.lower < x < self.upper:
            return float(x >= self.upper), 0.0
        plain = self._conditional(float(self._unbounded(x)))
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
        each = self._adjusted(self.nodes.weights @ self.values)
        return float(each.mean()), float(each.std() / np.sqrt(len(each)))

    def sd(self) -> float:
        """Return the standard deviation: the exact one, where it is known."""
        if self.known.variance is not None:
            return float(np.sqrt(self.known.variance))
        each = self.nodes.weights @ (self.values - self.mean()) ** 2
        return float(np.sqrt(max(self._adjusted(each).mean(), 0.0)))

    def error(self, x: Any) -> Array:
        """Return the Monte Carlo standard error of cdf and sf at x, relative to the smaller of them."""
        found = np.array([self.probability(float(each)) for each in np.ravel(x)])
        share, error = found.T
        least = np.maximum(np.minimum(share, 1.0 - share), 1e-300)
        return np.reshape(error / least, np.shape(x))

    def side(self, x: Any, sign: str) -> Side:  # noqa: D102
        below, error = self.probability(float(x))
        return Side(1.0 - below if sign[0] == ">" else below, np.nan, error)

    def hdi(self, prob: float) -> tuple[float, float, bool]:
        """Return the highest-density interval, and whether it is one: else it is equal-tailed."""
        return self.table.hdi(prob)

    def statistics(self, prob: float, kind: str) -> dict[str, Any]:
        """Return mean, median, sd and interval and their Monte Carlo errors, those of bounds by the delta method."""
        lower, upper, is_hdi = self.hdi(prob) if kind == "hdi" else (*self.eti(prob), False)
        errors = self._bound_errors(lower, prob, shortest=is_hdi)
        return {
            "mean": self.mean(), "median": float(self.ppf(0.5)), "sd": self.sd(), "lower": lower, "upper": upper,
            "is_hdi": is_hdi, "error": np.nan,
            "mcse_mean": self._mean[1], "mcse_lower": errors[0], "mcse_upper": errors[1],
        }  # fmt: skip

    def _bound_errors(self, lower: float, prob: float, *, shortest: bool) -> list[float]:
        """Return standard errors of both ends of an interval, from those of quantiles at and next to its ends.

        A highest-density interval begins where the width w of the interval with the probability p below it is least;
        if quantiles move by q, p moves by -(q'(p + prob) - q'(p)) / w''(p).
        """
        from scipy.interpolate import CubicSpline

        use, spline = self._spline
        left = float(self.table.cdf(np.asarray(lower)))
        near = _NEAR * min(left, 1.0 - prob - left)
        p = np.array([left - near, left, left + near])
        p = np.concatenate([p, p + prob])
        x, levels = self.table.ppf(p), np.clip(special.ndtri(p), spline.x[0], spline.x[-1])
        # how far quantiles move with the probabilities at the places
        slopes = -spline(spline.x, 1) * np.sqrt(2.0 * np.pi) * np.exp(0.5 * spline.x**2)
        rates = slopes[:, None] * CubicSpline(spline.x, np.eye(len(slopes)))(levels).T
        each = self._probabilities[:, use] @ rates * ((x - self.lower) * (self.upper - x) / (self.upper - self.lower))
        moved = each[:, [1, 4]]
        if shortest and near > 0.0:
            width = x[3:] - x[:3]
            curve = max(width[0] - 2.0 * width[1] + width[2], 1e-300) / near**2
            shift = -((each[:, 5] - each[:, 3]) - (each[:, 2] - each[:, 0])) / (2.0 * near * curve)
            moved = moved + shift[:, None] * ((x - np.roll(x, 2))[[2, 5]] / (2.0 * near))
        ends = x[[1, 4]]
        density = np.maximum(self.table.pdf(ends), 1e-3 / (self.upper - self.lower))
        interpolated = _INTERPOLATED * np.sqrt(0.25 * (1.0 - prob**2)) / density
        interpolated *= (ends > self.lower) & (ends < self.upper)
        return [float(v) for v in np.hypot(moved.std(0) / np.sqrt(len(moved)), interpolated)]
