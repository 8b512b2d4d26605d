"""How wide the interval of one proportion will be: exact, for any number of items.

A posterior Beta(k + a, n - k + b) has n + a + b items whatever k is, and its interval is the narrower the farther the
two numbers are apart. So the outcomes whose interval is narrow enough lie beyond a distance from the middle, on both
sides, and their probability is a sum of two beta-binomial tails: there is nothing to simulate, or to add up.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.distributions import Beta
from bayescm.distributions.beta_binomial import MOST_ADDED, Rate, last
from bayescm.inference import proportions

Array = NDArray[np.float64]

_SLACK = 1e-9  # of a distance, for rounding; outcomes are one apart
_OUTCOMES = 256


@dataclass(frozen=True, slots=True)
class Proportion:
    """A proportion of n items: what is thought of it, and the prior and the interval that will be reported."""

    rate: Rate
    a: float
    b: float
    ci_prob: float
    ci_kind: str

    def width(self, k: Array, n: Array | float) -> Array:
        """Return the length of the interval after k successes in n trials."""
        lower, upper = self._interval(k, n)
        return np.asarray(upper - lower)

    def _interval(self, k: Array, n: Array | float) -> tuple[Array, Array]:
        return Beta(k + self.a, np.asarray(n - k + self.b)).interval(self.ci_prob, self.ci_kind)

    def assurance(self, n: Array, width: float) -> Array:
        """Return P(the interval is at most `width` long) for numbers of items."""
        from scipy.optimize.elementwise import find_root

        half = 0.5 * (n + self.a + self.b)

        def excess(distance: Array, size: Array) -> Array:
            return self.width(0.5 * (size + self.a + self.b) - self.a - distance, size) - width

        near, far = np.zeros(n.shape), half - min(self.a, self.b)  # from the middle to the last outcome
        narrow, wide = excess(near, n) <= 0, excess(far, n) > 0
        found = np.where(narrow, 0.0, half)  # the distance from which on intervals are narrow enough
        if (some := ~(narrow | wide)).any():
            ends = near[some], far[some]
            found[some] = find_root(excess, ends, args=(n[some],), tolerances={"xatol": 0.1 * _SLACK}).x
        return self._beyond(found, n)

    def quantile(self, n: Array, assurance: float) -> Array:
        """Return the least width that is reached with at least a probability."""
        return np.array([self._quantile(float(size), assurance) for size in n.tolist()])

    def _quantile(self, n: float, assurance: float) -> float:
        half, tails = 0.5 * (n + self.a + self.b), self._tails(n)
        near, far = 0.0, half
        while far - near > _SLACK * (1 + half):
            middle = 0.5 * (near + far)
            low, high = self._ends(middle, n)
            often = min(sum(tails(low, max(high, low + 1))), 1.0) >= assurance - 1e-12
            near, far = (middle, far) if often else (near, middle)
        low, high = self._ends(near, n)
        candidates = np.array([low if low >= 0 else high, high if high <= n else low])
        return float(self.width(np.clip(candidates, 0, n), n).max())

    def _tails(self, n: float) -> Callable[[float, float], tuple[float, float]]:
        """Return the function P(K <= low), P(K >= high): sums of the outcomes of few items, found once."""
        if n > MOST_ADDED:
            turned = self.rate.reversed()
            return lambda low, high: (float(self.rate.cdf(low, n)), float(turned.cdf(n - high, n)))
        p = np.exp(self.rate.log_pmf(np.arange(n + 1), n))
        below, above = np.append(0.0, np.cumsum(p)), np.append(0.0, np.cumsum(p[::-1]))
        last = int(n) + 1
        return lambda low, high: (
            float(below[min(max(int(low) + 1, 0), last)]), float(above[min(max(last - int(high), 0), last)])
        )  # fmt: skip

    def mean(self, n: Array) -> Array:
        """Return the mean width; many outcomes are put together, see :meth:`Rate.outcomes_of`."""
        found = self.rate.outcomes_of(n, _OUTCOMES)
        return np.array([p @ self.width(k, size) for (k, p), size in zip(found, n, strict=True)])

    def _ends(self, distance: Any, n: Any) -> tuple[Any, Any]:
        """Return the last outcome below, and the first above, that are at least so far from the middle."""
        half = 0.5 * (n + self.a + self.b)
        slack = _SLACK * (1 + half)
        return np.floor(half - self.a - distance + slack), np.ceil(half - self.a + distance - slack)

    def _beyond(self, distance: Array, n: Array) -> Array:
        """Return the probability of the outcomes at least so far from the middle."""
        low, high = self._ends(distance, n)
        return np.minimum(self.rate.cdf(low, n) + self.rate.reversed().cdf(n - np.maximum(high, low + 1), n), 1.0)


@dataclass(frozen=True, slots=True)
class Named(Proportion):
    """A proportion whose interval is one of :mod:`bayescm.inference.proportions`, by its name; without a prior."""

    method: str

    def _interval(self, k: Array, n: Array | float) -> tuple[Array, Array]:
        lower, upper = getattr(proportions, self.method)(k, n, self.ci_prob)
        return np.maximum(lower, 0.0), np.minimum(upper, 1.0)

    def assurance(self, n: Array, width: float) -> Array:  # noqa: D102
        half = np.floor(0.5 * n)
        low = last(lambda k: (k <= half) & (self.width(np.minimum(k, half), n) <= width), n.shape, int(n.max()))
        return np.minimum(self.rate.cdf(low, n) + self.rate.reversed().cdf(np.minimum(low, n - low - 1), n), 1.0)


@dataclass(frozen=True, slots=True)
class Bound:
    """A proportion whose lower bound, alone at the level, is to be above a value: at most so far below the stated one.

    Attributes
    ----------
    of : Proportion
        With the level of the interval whose lower end the bound is.
    stated : float
    """

    of: Proportion
    stated: float

    def assurance(self, n: Array, distance: float) -> Array:
        """Return P(the bound is at most so far below) for numbers of items."""
        below = last(lambda k: self._bound(np.minimum(k, n), n) < self.stated - distance, n.shape, int(n.max()))
        return self.of.rate.reversed().cdf(n - np.minimum(below, n) - 1, n)

    def quantile(self, n: Array, assurance: float) -> Array:
        """Return the least distance that is reached with at least a probability."""
        fewest = last(lambda k: self.of.rate.cdf(k - 1, n) <= 1.0 - assurance + 1e-12, n.shape, int(n.max()))
        return self.stated - self._bound(np.clip(fewest, 0, n), n)

    def _bound(self, k: Array, n: Array) -> Array:
        return self.of._interval(k, n)[0]
