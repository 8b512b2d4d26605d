"""Exact distributions of the difference and of the ratio of two systems' metrics."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.distributions import Beta
from bayescm.distributions.protocol import Distribution
from bayescm.distributions.quadrature import GOAL, LINE, Outer

Array = NDArray[np.float64]

_LEAST = 1e-290  # ratio
_SPREAD = 6.0  # standard deviations, and normal quantiles, over which quantiles are interpolated
_COARSE, _FINE = 17, 41  # places between which they are
_RISE = 1e-6  # of the normal quantile from one place to the next
_APART = 1.0  # normal quantiles between two places at most
_ALIKE = 1e-5  # of the whole range: largest difference of the spline from that with every second place
_STEPS = 9  # at most from near a quantile to it
_ASIDE = 0.1  # normal quantiles on either side, for a first slope
_CLOSE = 1e-11  # normal quantiles from the one that is wanted
TRUSTED = 1e-5
"""Largest error of a distribution that is used; else there are draws."""


class Contrast(Distribution):
    """The distribution of one number that compares two systems.

    Attributes
    ----------
    ratio : bool
        Whether it is a ratio, whose quantiles are sought on the logarithmic scale, or a difference.
    """

    ratio: bool = False

    @abstractmethod
    def both(self, x: float) -> tuple[Array, float]:
        """Return the probabilities below and above x, and their estimated error."""

    @abstractmethod
    def bracket(self, p: float) -> tuple[float, float]:
        """Return two numbers between which the quantile at p lies."""

    @cached_property
    def _asked(self) -> dict[float, tuple[Array, float]]:
        return {}

    def _at(self, x: float) -> tuple[Array, float]:
        """Return what :meth:`both` does, worked out once: an end of a rope is asked for twice or more."""
        if x not in self._asked:
            self._asked[x] = self.both(x)
        return self._asked[x]

    def cdf(self, x: float) -> float:
        """Return P(contrast <= x)."""
        return float(self._at(float(x))[0][0])

    def sf(self, x: float) -> float:
        """Return P(contrast > x)."""
        return float(self._at(float(x))[0][1])

    def ppf(self, p: Any) -> Any:
        """Return the quantile at `p`, of which there may be many."""
        wanted = special.ndtri(p)
        found = self._stepwise(np.ravel(wanted))
        for i in np.flatnonzero(np.isnan(found)):
            found[i] = self._solved(float(np.ravel(wanted)[i]))
        found = np.exp(found) if self.ratio else found
        return found.reshape(np.shape(p))[()]

    def eti(self, prob: float) -> tuple[Any, Any]:
        """Return the equal-tailed interval."""
        lower, upper = self.ppf(0.5 + 0.5 * np.array([-prob, prob]))
        return lower, upper

    def median_and_interval(self, prob: float, kind: str) -> tuple[float, float, float]:
        """Return the median and the bounds of an interval: those of equal tails are sought with it."""
        if kind == "hdi":
            return self.ppf(0.5), *self.hdi(prob)[:2]
        median, lower, upper = self.ppf(0.5 + 0.5 * np.array([0.0, -prob, prob]))
        return median, lower, upper

    def _stepwise(self, wanted: Array) -> Array:
        """Return the places of normal quantiles as far as few steps lead to them, else NaN."""
        return np.full(len(wanted), np.nan)

    def _solved(self, wanted: float) -> float:
        """Return the place of a normal quantile, by bisection and interpolation in its bracket."""
        from scipy.optimize import brentq

        (low, high), known = self._bracket(wanted)

        def excess(x: float) -> float:
            if x not in known:
                known[x] = self._normal(x)
            return float(np.clip(known[x] - wanted, -40.0, 40.0))

        if not excess(low) < 0.0 < excess(high):  # the quantile is an end of the bracket, by rounding
            return low if abs(excess(low)) <= abs(excess(high)) else high
        return float(brentq(excess, low, high, xtol=1e-12 * (high - low), rtol=1e-12))

    def hdi(self, prob: float) -> tuple[float, float, bool]:
        """Return the shortest interval: where it begins by interpolated quantiles, its ends by quantiles themselves."""
        from scipy.optimize import minimize_scalar

        if not self.ratio and not np.isfinite(self.sd()):
            return super().hdi(prob)
        rough, needed = self._rough, special.ndtri(0.1 * (1.0 - prob))
        if rough is None or not rough.t[0] < needed < -needed < rough.t[-1]:
            return super().hdi(prob)

        def width(left: float) -> float:
            low, high = rough(special.ndtri([left, left + prob]))
            return float(np.exp(high) - np.exp(low) if self.ratio else high - low)

        options = {"xatol": 1e-6 * (1.0 - prob)}
        left = float(minimize_scalar(width, bounds=(0.0, 1.0 - prob), method="bounded", options=options).x)
        return self.ppf(left), self.ppf(left + prob), True

    def _normal(self, x: float) -> float:
        """Return the normal quantile with as much below it as is below x, or below exp(x) of a ratio."""
        below, above = self.both(float(np.exp(x)) if self.ratio else x)[0]
        return float(special.ndtri(below) if below < above else -special.ndtri(above))

    def _normals(self, places: Array) -> Array:
        """Return what :meth:`_normal` does at many places."""
        return np.array([self._normal(x) for x in places])

    @cached_property
    def _known(self) -> tuple[Array, Array]:
        """Normal quantiles and their places, both rising; none where the tails are so long that some are far apart.

        First there are places over the whole range, then those at even normal quantiles.
        """
        low, high = (self._wide(side * _SPREAD)[side > 0] for side in (-1.0, 1.0))
        if not self.ratio:
            far = 2.0 * _SPREAD * self.sd()
            low, high = max(low, self.mean() - far), min(high, self.mean() + far)
        normal, places = self._rising(np.linspace(low, high, _COARSE))
        if len(normal) < 2:
            return np.empty(0), np.empty(0)
        steps = np.linspace(-_SPREAD, _SPREAD, _FINE)
        more = np.interp(steps[(steps > normal[0]) & (steps < normal[-1])], normal, places)
        normal, places = self._rising(np.unique(np.concatenate([places, more])))
        close = len(normal) > 0 and bool((np.diff(normal)[np.abs(normal[1:]) < _SPREAD] < _APART).all())
        return (normal, places) if close else (np.empty(0), np.empty(0))

    def _rising(self, places: Array) -> tuple[Array, Array]:
        """Return normal quantiles of places, and the places, as far as both rise."""
        normal = self._normals(places)
        use = np.isfinite(normal)
        use[use] &= np.diff(np.maximum.accumulate(normal[use]), prepend=-np.inf) > _RISE
        return normal[use], places[use]

    @cached_property
    def _rough(self) -> Any:
        """Quantiles, of a ratio their logarithms, as splines over normal quantiles; None where they bend too much."""
        from scipy.interpolate import make_interp_spline

        normal, places = self._known
        if len(normal) < _COARSE:
            return None
        near = np.abs(normal) < _SPREAD
        half = make_interp_spline(normal[::2], places[::2], 5)(normal[1::2])
        wrong = np.abs(half - places[1::2])[near[1::2]].max()
        return make_interp_spline(normal, places, 5) if wrong < _ALIKE * np.ptp(places[near]) else None

    def _bracket(self, wanted: float) -> tuple[tuple[float, float], dict[float, float]]:
        """Return a bracket of the place of a normal quantile, and normal quantiles that are known there."""
        if "_known" in self.__dict__:
            normal, places = self._known
            after = int(np.searchsorted(normal, wanted))
            if 0 < after < len(normal):
                low, high = float(places[after - 1]), float(places[after])
                return (low, high), {low: float(normal[after - 1]), high: float(normal[after])}
        return self._wide(wanted), {}

    def _wide(self, wanted: float) -> tuple[float, float]:
        """Return places, of a ratio logarithms, between which that of a normal quantile lies."""
        low, high = self.bracket(float(special.ndtr(wanted)))
        if self.ratio:
            low, high = np.log(np.clip((low, high), _LEAST, 1.0 / _LEAST))
        return float(low), float(high)

    def pdf(self, x: float) -> float:
        """Return the density, by differences of the cdf."""
        step = 2.5e-3 * float(self.ppf(0.975) - self.ppf(0.025))
        below = [self.cdf(x + k * step) for k in (-2, -1, 1, 2)]
        return float((below[0] - 8.0 * below[1] + 8.0 * below[2] - below[3]) / (12.0 * step))

    def error(self, x: float) -> float:
        """Return the estimated error of cdf and sf at x, relative to the smaller of them or to 1e-3."""
        return self._at(float(x))[1]


@dataclass(frozen=True, eq=False)
class Independent(Contrast):
    """The distribution of X - Y, or of X / Y for positive ones, of independent X and Y.

    P(X - Y <= d) is the mean of P(X <= Y + d) over Y, or of P(Y >= X - d) over X: the narrower distribution is outside.

    Attributes
    ----------
    first, second : Outer
    ratio : bool
    """

    first: Outer
    second: Outer
    ratio: bool = False

    def both(self, x: float) -> tuple[Array, float]:  # noqa: D102
        inside, outside, sign = self._order
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            cuts = self._moved(inside.lower, x, -sign), self._moved(inside.upper, x, -sign)
            found, error = outside.mean_of(lambda y: self._given(y, x), cuts)
        return found, error + inside.error + outside.error

    @cached_property
    def _order(self) -> tuple[Outer, Outer, float]:
        """Which is inside, which outside, and 1.0 if the first is inside, else -1.0."""
        middle = len(LINE) // 2
        first, second = (float(line[middle + 8] - line[middle - 8]) for line in self._lines)  # of 95%
        wide = first >= second
        return (self.first, self.second, 1.0) if wide else (self.second, self.first, -1.0)

    def _moved(self, y: Any, x: Any, direction: float) -> Any:
        return y * x**direction if self.ratio else y + direction * x

    def _given(self, y: Array, x: Any) -> Array:
        """Return the probabilities below and above x, (..., 2, n), given values (n,) of the variable outside."""
        inside, _, sign = self._order
        at = self._moved(y, x, sign)
        return np.stack(inside.dist.tails(at)[:: int(sign)], -2)

    def _normals(self, places: Array) -> Array:  # at once, where the fixed nodes are enough
        x = np.exp(places) if self.ratio else places
        outside = self._order[1]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            found, error = outside.mean_on_line(self._given(outside.line, x[:, None]))
        below, above = found.T
        normal = np.where(below < above, special.ndtri(below), -special.ndtri(above))
        for i in np.flatnonzero(~(error < GOAL)):
            normal[i] = self._normal(float(places[i]))
        return np.asarray(normal)

    @cached_property
    def _lines(self) -> tuple[Array, Array]:
        """Both variables at the fixed nodes; for a ratio their logarithms."""
        one, other = self.first.line, self.second.line
        return (np.log(np.maximum(one, _LEAST)), np.log(np.maximum(other, _LEAST))) if self.ratio else (one, other)

    def _nearby(self, normal: Array) -> Array:
        """Return places close to those of normal quantiles: distances from the medians, squared and added."""
        one, other = self._lines
        middle = len(LINE) // 2
        away = np.interp(normal, LINE, one) - one[middle], np.interp(-normal, LINE, other) - other[middle]
        return np.asarray(one[middle] - other[middle] + np.sign(normal) * np.hypot(*away))

    def _stepwise(self, wanted: Array) -> Array:
        """Return the places by secants from close ones."""
        x = self._nearby(wanted)
        slope = (self._nearby(wanted + _ASIDE) - self._nearby(wanted - _ASIDE)) / (2.0 * _ASIDE)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            excess = self._normals(x) - wanted
            for _ in range(_STEPS):
                if (np.abs(excess) < _CLOSE).all():
                    break
                step, before = -excess * slope, excess
                x = x + step
                excess = self._normals(x) - wanted
                secant = step / (excess - before)
                slope = np.where((secant > 0.25 * slope) & (secant < 4.0 * slope), secant, slope)
        return np.where(np.abs(excess) < _CLOSE, x, np.nan)

    def bracket(self, p: float) -> tuple[float, float]:
        """Return bounds by Bonferroni's inequality, from the fixed nodes next to the quantiles."""
        ends = special.ndtri(0.5 * p), -special.ndtri(0.5 * (1.0 - p))
        places = np.clip(np.searchsorted(LINE, ends) - [1, 0], 0, len(LINE) - 1)
        pairs = zip(self.first.line[places], self.second.line[-1 - places], strict=True)
        with np.errstate(divide="ignore", over="ignore"):
            found = [float(a / b) if self.ratio else float(a - b) for a, b in pairs]
        return found[0], found[1]

    def mean(self) -> float:
        """Return the mean of the difference."""
        with np.errstate(invalid="ignore"):
            return float(self.first.dist.mean() - self.second.dist.mean())

    def sd(self) -> float:
        """Return the standard deviation of the difference."""
        return float(np.hypot(self.first.dist.sd(), self.second.dist.sd()))


@dataclass(frozen=True, eq=False)
class Discordant(Contrast):
    """The distribution of the difference of two proportions of the same items.

    Of the items, the share that only the first system gets and the share that only the second gets are two cells of a
    Dirichlet; the difference is T(2U - 1) with T ~ Beta(b + c, r) and U ~ Beta(b, c), independent.

    Attributes
    ----------
    b, c, r : float
        Concentrations: only the first, only the second, the rest.
    """

    b: float
    c: float
    r: float

    @cached_property
    def size(self) -> Outer:
        """T: the share of the items on which the systems differ."""
        return Outer(Beta(np.float64(self.b + self.c), np.float64(self.r)), 0.0, 1.0)  # type: ignore[arg-type]

    @cached_property
    def part(self) -> Outer:
        """U: of these, the share that the first gets."""
        return Outer(Beta(np.float64(self.b), np.float64(self.c)), 0.0, 1.0)  # type: ignore[arg-type]

    def both(self, x: float) -> tuple[Array, float]:  # noqa: D102
        side, size = self.part.dist, self.size.dist
        if x == 0.0:
            return np.array([side.cdf(0.5), side.sf(0.5)]), 0.0
        if abs(x) >= 1.0:
            return np.array([1.0, 0.0] if x > 0 else [0.0, 1.0]), 0.0
        lean = (self.b - self.c) / (self.b + self.c)
        if lean and float(size.sd() / size.mean()) > 2.0 * float(side.sd()) / abs(lean):
            return self.part.mean_of(lambda u: self._given_side(u, x), (0.5, 0.5 * (1.0 + x)))
        return self.size.mean_of(lambda t: self._given_size(t, x), (abs(x),))

    def _given_size(self, t: Array, x: float) -> Array:
        with np.errstate(divide="ignore", over="ignore"):
            at = 0.5 + 0.5 * (x / t)
        return np.stack(self.part.dist.tails(at))

    def _given_side(self, u: Array, x: float) -> Array:
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            at = x / (2.0 * u - 1.0)
        far = (at < 0.0) | np.isnan(at)  # on the other side of 0 than x
        below, above = self.size.dist.tails(at)
        below, above = np.where(far, x > 0, below), np.where(far, x < 0, above)
        return np.stack([below, above] if x > 0 else [np.where(far, below, above), np.where(far, above, below)])

    def bracket(self, p: float) -> tuple[float, float]:
        """Return the range."""
        return -1.0, 1.0

    def mean(self) -> float:
        """Return the mean."""
        return (self.b - self.c) / (self.b + self.c + self.r)

    def sd(self) -> float:
        """Return the standard deviation."""
        n = self.b + self.c + self.r
        return float(np.sqrt(((self.b + self.c) / n - self.mean() ** 2) / (n + 1.0)))
