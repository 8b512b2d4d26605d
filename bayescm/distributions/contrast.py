"""What a number that compares two systems is asked for: quantiles by few steps, shortest intervals by splines."""

from abc import abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.distributions.protocol import Distribution

Array = NDArray[np.float64]

_LEAST = 1e-290  # ratio
_SPREAD = 6.0  # standard deviations, and normal quantiles, over which quantiles are interpolated
_COARSE, _FINE = 17, 41  # places between which they are
_RISE = 1e-6  # of the normal quantile from one place to the next
_APART = 1.0  # normal quantiles between two places at most
_ALIKE = 1e-5  # of the whole range: largest difference of the spline from that with every second place
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

    @cached_property
    def _placed(self) -> dict[float, float]:
        """Places of normal quantiles that were found, of a ratio their logarithms."""
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
        wanted = np.ravel(special.ndtri(p))
        if new := [one for one in wanted.tolist() if one not in self._placed]:
            self._placed.update(zip(new, self._stepwise(np.array(new)).tolist(), strict=True))
        for one in wanted.tolist():
            if np.isnan(self._placed[one]):
                self._placed[one] = self._solved(one)
        found = np.array([self._placed[one] for one in wanted.tolist()])
        return (np.exp(found) if self.ratio else found).reshape(np.shape(p))[()]

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
