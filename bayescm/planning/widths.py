"""How wide the interval of one proportion will be: exact, for any number of items.

A posterior Beta(k + a, n - k + b) has n + a + b items whatever k is, and its interval is the narrower the farther the
two numbers are apart. So the outcomes whose interval is narrow enough lie beyond a distance from the middle, on both
sides, and their probability is a sum of two beta-binomial tails: there is nothing to simulate, or to add up.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayescm.distributions import Beta
from bayescm.distributions.beta_binomial import Rate

Array = NDArray[np.float64]

_HALVINGS = 50
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
        dist = Beta(k + self.a, np.asarray(n - k + self.b))
        lower, upper = dist.interval(self.ci_prob, self.ci_kind)
        return np.asarray(upper - lower)

    def assurance(self, n: Array, width: float) -> Array:
        """Return P(the interval is at most `width` long) for numbers of items."""
        half = 0.5 * (n + self.a + self.b)
        near, far = np.zeros(n.shape), half.copy()
        for _ in range(_HALVINGS):  # the distance from which on intervals are narrow enough
            middle = 0.5 * (near + far)
            narrow = self.width(half - self.a - middle, n) <= width
            near, far = np.where(narrow, near, middle), np.where(narrow, middle, far)
        return self._beyond(far, n)

    def quantile(self, n: Array, assurance: float) -> Array:
        """Return the least width that is reached with at least a probability."""
        half = 0.5 * (n + self.a + self.b)
        near, far = np.zeros(n.shape), half.copy()
        for _ in range(_HALVINGS):
            middle = 0.5 * (near + far)
            often = self._beyond(middle, n) >= assurance - 1e-12
            near, far = np.where(often, middle, near), np.where(often, far, middle)
        low, high = self._ends(near, n)
        candidates = np.stack([np.where(low >= 0, low, high), np.where(high <= n, high, low)])
        return np.asarray(self.width(np.clip(candidates, 0, n), n).max(0))

    def mean(self, n: Array) -> Array:
        """Return the mean width; many outcomes are put together, see :meth:`Rate.outcomes`."""
        found = [self.rate.outcomes(int(size), _OUTCOMES) for size in n]
        return np.array([p @ self.width(k, size) for (k, p), size in zip(found, n, strict=True)])

    def _ends(self, distance: Array, n: Array) -> tuple[Array, Array]:
        """Return the last outcome below, and the first above, that are at least so far from the middle."""
        half = 0.5 * (n + self.a + self.b)
        slack = 1e-9 * (1 + half)  # of rounding; outcomes are one apart
        return np.floor(half - self.a - distance + slack), np.ceil(half - self.a + distance - slack)

    def _beyond(self, distance: Array, n: Array) -> Array:
        """Return the probability of the outcomes at least so far from the middle."""
        low, high = self._ends(distance, n)
        return np.minimum(self.rate.cdf(low, n) + self.rate.reversed().cdf(n - np.maximum(high, low + 1), n), 1.0)
