"""Distributions in closed form: a Beta variable, a monotone map of one, a known number."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.distributions import beta_many, beta_quantiles, interpolation
from bayescm.distributions.narrowest import narrowest
from bayescm.distributions.protocol import Distribution, Side, Summarised, holds, placed

Array = NDArray[np.float64]
_CONTENT = 1e-7
"""By which what an interval holds may differ from what it should."""


@dataclass(frozen=True, slots=True, eq=False)
class Beta(Distribution):
    """The distribution of g(X) with X ~ Beta(a, b) and g the identity or x -> 2x/(1+x).

    Attributes
    ----------
    a, b : ndarray
        Concentrations, one per matrix (and class).
    link : {"identity", "f1"}
    """

    a: Array
    b: Array
    link: Literal["identity", "f1"] = "identity"
    words: ClassVar[str] = "a Beta"

    @property
    def concentrations(self) -> tuple[Array, Array] | None:  # noqa: D102
        return (self.a, self.b) if self.link == "identity" else None

    def at(self, *place: Any) -> Self:  # noqa: D102
        batch = np.broadcast_shapes(np.shape(self.a), np.shape(self.b))
        return replace(self, a=placed(self.a, batch, place), b=placed(self.b, batch, place))

    def _map(self, x: Array) -> Array:
        return 2.0 * x / (1.0 + x) if self.link == "f1" else x

    def mean(self) -> Array:
        """Return the mean."""
        a, b = self.a, self.b
        return np.asarray(a / (a + b) * (special.hyp2f1(1, b, a + b + 1, 0.5) if self.link == "f1" else 1.0))

    def sd(self) -> Array:
        """Return the standard deviation.

        For F1 it is that of 2X/(1+X) or, where that is close to 1, of 1 - F1 = C/(2-C) with C = 1 - X, so that little
        cancels; the moments follow from Euler's integral, E[(2X/(1+X))^m] = (a)_m/(a+b)_m 2F1(m, b; a+b+m; 1/2) after
        Pfaff's transformation, E[(C/(2-C))^m] = 2^-m (b)_m/(a+b)_m 2F1(m, b+m; a+b+m; 1/2).
        """
        a, b = self.a, self.b
        if self.link == "identity":
            return np.sqrt(a * b / (a + b + 1.0)) / (a + b)
        near_one = a > 2.0 * b
        first, second = (
            special.poch(np.where(near_one, b, a), m)
            / special.poch(a + b, m)
            * np.where(near_one, 2.0**-m, 1.0)
            * special.hyp2f1(m, np.where(near_one, b + m, b), a + b + m, 0.5)
            for m in (1, 2)
        )
        return np.asarray(np.sqrt(np.maximum(second - first**2, 0.0)))

    def ppf(self, p: float | Array) -> Array:
        """Return the quantile at `p`."""
        return self._map(beta_quantiles.ppf(p, self.a, self.b))

    def isf(self, q: float | Array) -> Array:
        """Return the quantile with the probability `q` above it."""
        return self._map(beta_quantiles.isf(q, self.a, self.b))

    def at_log_odds(self, y: Array) -> Array:
        """Return g(x) at log(x / (1 - x))."""
        return self._map(special.expit(y))

    def _back(self, x: float | Array) -> Array:
        x = np.clip(x, 0.0, 1.0)
        return x / (2.0 - x) if self.link == "f1" else x

    def cdf(self, x: float | Array) -> Array:
        """Return P(g(X) <= x)."""
        return np.asarray(special.betainc(self.a, self.b, self._back(x)))

    def sf(self, x: float | Array) -> Array:
        """Return P(g(X) > x), with full relative precision where it is small."""
        return np.asarray(special.betaincc(self.a, self.b, self._back(x)))

    def tails(self, x: Array) -> tuple[Array, Array]:
        """Return both: SciPy's `betaincc` takes ten times as long as its `betainc`."""
        a, b, at = np.broadcast_arrays(self.a, self.b, self._back(x))
        below = special.betainc(a, b, at)
        above, upper = np.asarray(1.0 - below), below > 0.5
        above[upper] = special.betainc(b[upper], a[upper], 1.0 - at[upper])
        tiny = upper & (at < 1e-3)  # 1 - at would lose digits
        above[tiny] = special.betaincc(a[tiny], b[tiny], at[tiny])
        return below, above

    def pdf(self, x: float | Array) -> Array:
        """Return the density; 0 outside [0, 1]."""
        a, b = self.a, self.b
        at = self._back(x)
        with np.errstate(divide="ignore", invalid="ignore"):
            log = special.xlogy(a - 1.0, at) + special.xlog1py(b - 1.0, -at) - special.betaln(a, b)
            density = np.exp(log + (2.0 * np.log1p(at) - np.log(2.0) if self.link == "f1" else 0.0))
        return np.where((np.asarray(x) < 0.0) | (np.asarray(x) > 1.0), 0.0, density)

    def eti(self, prob: float) -> tuple[Array, Array]:
        """Return the equal-tailed interval."""
        ends = _equal_tails(*self._concentrations(), prob)
        return self.at_log_odds(ends[0]), self.at_log_odds(ends[1])

    def hdi(self, prob: float) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Return the highest-density interval, and where it is one.

        Returns
        -------
        lower, upper : ndarray
            Equal-tailed where the density has no single peak (flat or U-shaped): the highest-density set is not
            unique or not an interval there.
        exists : ndarray of bool
        """
        a, b = self._concentrations()
        rising, falling, peaked = _shape(a, b, self.link)
        ends = np.full((2, *a.shape), np.nan)
        ends[0, falling], ends[1, rising] = -np.inf, np.inf
        ends[0, rising] = beta_quantiles.logit_ppf(1.0 - prob, a[rising], b[rising])
        ends[1, falling] = beta_quantiles.logit_isf(1.0 - prob, a[falling], b[falling])
        if peaked.any():
            ends[:, peaked] = narrowest(a[peaked], b[peaked], prob, self.link)
        exists = np.array(rising | falling | peaked)
        exists[exists] = _holds(ends[:, exists], a[exists], b[exists], prob)
        if not exists.all():
            ends[:, ~exists] = _equal_tails(a[~exists], b[~exists], prob)
        lower, upper = self.at_log_odds(ends[0]), self.at_log_odds(ends[1])
        return lower, upper, exists

    def statistics(self, prob: float, kind: str) -> dict[str, Any]:
        """Return mean, median, sd, lower, upper and whether the interval is a highest-density one."""
        many = np.broadcast(self.a, self.b).size >= interpolation.FEW
        return beta_many.statistics(self, prob, kind) if many else self.one_by_one(prob, kind)

    def one_by_one(self, prob: float, kind: str) -> dict[str, Any]:
        """Return the same, each worked out by itself."""
        return Distribution.statistics(self, prob, kind)

    def median_and_interval(self, prob: float, kind: str) -> tuple[Array, Array, Array]:
        """Return the median and the bounds of an interval: those of equal tails are searched for with it."""
        if kind == "hdi":
            return Distribution.median_and_interval(self, prob, kind)
        lower, upper, median = (self.at_log_odds(y) for y in _solved(*self._concentrations(), prob))
        return median, lower, upper

    def _concentrations(self) -> tuple[Array, Array]:
        a, b = np.broadcast_arrays(np.asarray(self.a, np.float64), np.asarray(self.b, np.float64))
        return a, b


@dataclass(frozen=True, slots=True, eq=False)
class Point(Summarised):
    """The distribution of a known number.

    Attributes
    ----------
    value : ndarray
    """

    value: Array
    words: ClassVar[str] = "a known number"
    has_density: ClassVar[bool] = False

    def at(self, *place: Any) -> Self:  # noqa: D102
        return replace(self, value=np.asarray(self.value)[place])

    def side(self, x: Any, sign: str) -> Side:  # noqa: D102
        held = holds(self.value, sign, x).astype(np.float64)
        return Side(held, np.zeros(held.shape), np.zeros(held.shape))

    def ppf(self, p: float | Array) -> Array:
        """Return the number, whatever `p`."""
        return np.broadcast_arrays(self.value, p)[0]

    def cdf(self, x: float | Array) -> Array:
        """Return whether the number is at most `x`."""
        return np.asarray(self.value <= x, dtype=np.float64)

    def sf(self, x: float | Array) -> Array:
        """Return whether the number exceeds `x`."""
        return np.asarray(self.value > x, dtype=np.float64)

    def pdf(self, x: float | Array) -> Array:
        """Return infinity at the number, 0 elsewhere."""
        return np.where(self.value == x, np.inf, 0.0)

    def statistics(self, prob: float, kind: str) -> dict[str, Any]:
        """Return mean, median, lower and upper, all the number, and the sd 0."""
        found = dict.fromkeys(("mean", "median", "lower", "upper"), self.value)
        return found | {"sd": np.zeros_like(self.value), "is_hdi": np.full(np.shape(self.value), kind == "hdi")}


def _shape(a: Array, b: Array, link: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Say where the density of g(X) rises throughout, falls throughout, or has one peak inside.

    The slope of its logarithm times x(1-x) (identity), or times x(1-x)(1+x) (F1), is a polynomial q; for F1
    q = -(a+b) x^2 + (3-b) x + (a-1), concave, with q(0) = a - 1 and q(1) = 2 - 2b.
    """
    left, right = a - 1.0, 1.0 - b
    peaked = (left > 0) & (right < 0)
    rising = (left >= 0) & (right >= 0)
    falling = (left <= 0) & (right <= 0)
    if link == "f1":
        bump = (3.0 - b) ** 2 + 4.0 * (a + b) * left > 0  # q has real roots; where its top lies inside, it is positive
        inside = (3.0 - b > 0) & (3.0 - b < 2.0 * (a + b))
        crosses = falling & bump & inside
        peaked = peaked | (crosses & (left == 0) & (right < 0))
        falling = falling & ~crosses & ~rising
    else:
        flat = (left == 0) & (right == 0)
        rising, falling = rising & ~flat, falling & ~flat
    return rising, falling, peaked


def _equal_tails(a: Array, b: Array, prob: float) -> Array:
    """Return the log-odds of the ends of the equal-tailed interval, (2, ...)."""
    tail = 0.5 * (1.0 - prob)
    ends, rest = np.empty((2, *a.shape)), np.ones(a.shape, bool)
    if a.size >= interpolation.FEW:
        interpolated, known = beta_many.equal_tails(a.ravel(), b.ravel(), tail)
        ends, rest = interpolated.reshape(ends.shape), ~known.reshape(a.shape)
    ends[:, rest] = _solved(a[rest], b[rest], prob)[:2]
    return ends


def _solved(a: Array, b: Array, prob: float) -> Array:
    """Return the log-odds of these ends and of the median, (3, ...), each searched for."""
    found = beta_quantiles.logit_tails(0.5 * (1.0 - prob), a, b)
    wrong = ~_holds(found[:2], a, b, prob)
    if wrong.any():
        raise ArithmeticError(
            f"no interval of probability {prob:g} was found for Beta({a[wrong][0]:.17g}, {b[wrong][0]:.17g}); "
            "take draws of bayescm.posterior."
        )
    return found


def _holds(ends: Array, a: Array, b: Array, prob: float) -> NDArray[np.bool_]:
    """Say whether intervals in the log-odds are in order, and hold what they should."""
    outside = beta_quantiles.logit_cdf(ends[0], a, b) + beta_quantiles.logit_cdf(-ends[1], b, a)
    return np.asarray((ends[0] <= ends[1]) & (np.abs(outside - (1.0 - prob)) < _CONTENT))
