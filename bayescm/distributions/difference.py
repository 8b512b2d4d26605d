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
from bayescm.distributions.quadrature import Outer

Array = NDArray[np.float64]

_LEAST = 1e-290  # ratio
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

    def cdf(self, x: float) -> float:
        """Return P(contrast <= x)."""
        return float(self.both(x)[0][0])

    def sf(self, x: float) -> float:
        """Return P(contrast > x)."""
        return float(self.both(x)[0][1])

    def ppf(self, p: float) -> float:
        """Return the quantile at `p`."""
        from scipy.optimize import brentq

        def excess(x: float) -> float:
            below, above = self.both(np.exp(x) if self.ratio else x)[0]
            normal = special.ndtri(below) if below < above else -special.ndtri(above)
            return float(np.clip(normal - special.ndtri(p), -40.0, 40.0))

        low, high = np.log(np.clip(self.bracket(p), _LEAST, 1.0 / _LEAST)) if self.ratio else self.bracket(p)
        if not excess(low) < 0.0 < excess(high):  # the quantile is an end of the bracket, by rounding
            found = low if abs(excess(low)) <= abs(excess(high)) else high
        else:
            found = brentq(excess, low, high, xtol=1e-12 * (high - low), rtol=1e-12)
        return float(np.exp(found) if self.ratio else found)

    def pdf(self, x: float) -> float:
        """Return the density, by differences of the cdf."""
        step = 2.5e-3 * float(self.ppf(0.975) - self.ppf(0.025))
        below = [self.cdf(x + k * step) for k in (-2, -1, 1, 2)]
        return float((below[0] - 8.0 * below[1] + 8.0 * below[2] - below[3]) / (12.0 * step))

    def error(self, x: float) -> float:
        """Return the estimated error of cdf and sf at x, relative to the smaller of them or to 1e-3."""
        return self.both(x)[1]


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
        inside, outside, sign = self.first, self.second, 1.0
        if inside.spread < outside.spread:
            inside, outside, sign = outside, inside, -1.0

        def moved(y: Any, direction: float) -> Any:
            return y * x**direction if self.ratio else y + direction * x

        def values(y: Array) -> Array:
            at = moved(y, sign)
            return np.stack([inside.dist.cdf(at), inside.dist.sf(at)][:: int(sign)])

        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            found, error = outside.mean_of(values, (moved(inside.lower, -sign), moved(inside.upper, -sign)))
        return found, error + inside.error + outside.error

    def bracket(self, p: float) -> tuple[float, float]:
        """Return bounds by Bonferroni's inequality."""
        low, high = 0.5 * p, 0.5 * (1.0 - p)
        first, second = self.first.dist, self.second.dist
        ends = [(first.ppf(low), second.isf(low)), (first.isf(high), second.ppf(high))]
        with np.errstate(divide="ignore", over="ignore"):
            found = [float(a / b) if self.ratio else float(a - b) for a, b in ends]
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
    def side(self) -> Outer:
        """U: of these, the share that the first gets."""
        return Outer(Beta(np.float64(self.b), np.float64(self.c)), 0.0, 1.0)  # type: ignore[arg-type]

    def both(self, x: float) -> tuple[Array, float]:  # noqa: D102
        side, size = self.side.dist, self.size.dist
        if x == 0.0:
            return np.array([side.cdf(0.5), side.sf(0.5)]), 0.0
        if abs(x) >= 1.0:
            return np.array([1.0, 0.0] if x > 0 else [0.0, 1.0]), 0.0
        lean = (self.b - self.c) / (self.b + self.c)
        if lean and float(size.sd() / size.mean()) > 2.0 * float(side.sd()) / abs(lean):
            return self.side.mean_of(lambda u: self._given_side(u, x), (0.5, 0.5 * (1.0 + x)))
        return self.size.mean_of(lambda t: self._given_size(t, x), (abs(x),))

    def _given_size(self, t: Array, x: float) -> Array:
        with np.errstate(divide="ignore", over="ignore"):
            at = 0.5 + 0.5 * (x / t)
        return np.stack([self.side.dist.cdf(at), self.side.dist.sf(at)])

    def _given_side(self, u: Array, x: float) -> Array:
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            at = x / (2.0 * u - 1.0)
        far = (at < 0.0) | np.isnan(at)  # on the other side of 0 than x
        below, above = np.where(far, x > 0, self.size.dist.cdf(at)), np.where(far, x < 0, self.size.dist.sf(at))
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
