"""How probably the better of two systems is found so by a test to come: all outcomes, with their probabilities.

A system is found better where the central interval of the difference excludes 0, that is where its posterior
probability to be better passes `sure`. What is thought of the rates before the test says how probable the outcomes are.
If that leaves open which system is the better one, either may be found so, and verdicts for the worse one don't count.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.distributions import beta_quantiles
from bayescm.distributions.beta_binomial import Rate, above, last

Array = NDArray[np.float64]

_ONE_BY_ONE, _GROUPS = 512, 128
_COARSE = 48  # groups of outcomes of either system, to correct by verdicts for the worse one: good to 2e-4
_TAIL, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_TAIL, _WEIGHTS = (1.0 + _TAIL) / 2.0, _WEIGHTS / 2.0
_EVEN = Rate(0.0, 0.0, 0.5)


class Apart(NamedTuple):
    """Two systems, each on items of its own: what is thought of their rates, and the prior of the analysis to come."""

    first: Rate
    second: Rate
    prior: tuple[float, float]
    sure: float
    ratio: float = 1.0
    """Items of the second system to one of the first."""

    def right(self, n: int) -> float:
        """Return the probability that n items for the first system, and those of the second, show the better one."""
        m = self.of_second(n)
        found = self._found(self.first, n, self.second, m)
        if self.first.known is not None:
            return found
        return found + self._found(self.second, m, self.first, n) - self._worse(n, m)

    def wrong(self, n: int, rates: tuple[float, float]) -> float:
        """Return the probability that one of two equal systems is found better, of the rates whichever errs more."""
        m = self.of_second(n)
        known = [Rate(0.0, 0.0, rate) for rate in rates]
        sizes = [(n, m)] if n == m else [(n, m), (m, n)]
        return 2.0 * max(np.mean([self._found(rate, i, rate, j) for i, j in sizes]) for rate in known)

    def of_second(self, n: int) -> int:
        """Return the items of the second system."""
        return max(round(n * self.ratio), 1)

    def _found(self, first: Rate, n: int, second: Rate, m: int) -> float:
        """Return the probability that the first of two systems is found better."""
        k, chance = _outcomes(first, n)
        return float(chance @ second.cdf(self._most(k, n, m), m))

    def _most(self, k: Array, n: int, m: int) -> Array:
        """Return the most right answers to m items that the other may give, for the one with k to n to be better."""
        a, b = self.prior
        better = above(k + a, n - k + b, m + a + b)

        def sure(other: Array) -> NDArray[np.bool_]:
            return np.asarray(better(other + a, m - other + b) > self.sure)

        near = _boundary((k + a) / (n + a + b), n + a + b, m + a + b, self.sure) * (m + a + b) - a
        return last(sure, k.shape, m, near.clip(0, m))

    def _worse(self, n: int, m: int) -> float:
        """Return the probability that the worse one is found better."""
        (one, p), (other, q) = self.first.outcomes(n, _COARSE), self.second.outcomes(m, _COARSE)
        (a, b, _), (c, d, _) = self.first, self.second
        truly = above(one[:, None] + a, n - one[:, None] + b, m + c + d)(other + c, m - other + d)
        wrong = np.where(other <= self._most(one, n, m)[:, None], 1.0 - truly, 0.0)
        wrong += np.where(one[:, None] <= self._most(other, m, n), truly, 0.0)
        return float(p @ wrong @ q)


class Together(NamedTuple):
    """Two systems on the same items: the share that one alone gets right, the first's part of it, the prior of each."""

    share: Rate
    part: Rate
    prior: float
    sure: float

    def right(self, n: int) -> float:
        """Return the probability that n items show the better system."""
        m, chance, most = self._sizes(n)
        others = self.part.reversed()
        right = others.cdf(most, m)
        if self.part.known is None:
            right += self.part.cdf(most, m) - _beyond_half(others, most, m) - _beyond_half(self.part, most, m)
        return float(chance @ right)

    def wrong(self, n: int, share: float) -> float:
        """Return the probability that one of two equal systems is found better, with this share of such items."""
        return 2.0 * self._replace(share=Rate(0.0, 0.0, share), part=_EVEN).right(n)

    def _sizes(self, n: int) -> tuple[Array, Array, Array]:
        """Return how many items tell the systems apart, how probably, and how many may speak for the worse-looking."""
        m, chance = _outcomes(self.share, n)
        m = np.floor(m)

        def sure(wrong: Array) -> NDArray[np.bool_]:
            inside = np.maximum(m - wrong, 0.0)
            return np.asarray(
                (wrong <= m) & (special.betaincc(inside + self.prior, wrong + self.prior, 0.5) > self.sure)
            )

        return m, chance, last(sure, m.shape, n)


def _boundary(share: Array, n: float, m: float, sure: float) -> Array:
    """Return about the share of m items that another share of n items is surely above."""
    z = special.ndtri(sure)
    found = share
    for _ in range(3):
        found = (share - z * np.sqrt(share * (1.0 - share) / n + found * (1.0 - found) / m)).clip(0.0, 1.0)
    return found


def _beyond_half(rate: Rate, most: Array, m: Array) -> Array:
    """Return P(a rate is above 1/2, yet gives at most so many of m): the integral over the Beta that counts at most so.

    P(K <= k) = P(rate < Z) of Z ~ Beta(k + 1, m - k), so it is the mean of P(1/2 < rate < Z) over Z above 1/2.
    """
    some = most >= 0
    a, b = np.where(some, most + 1.0, 1.0), np.where(some, m - most, 1.0)
    above_half = special.betaincc(a, b, 0.5)
    z = beta_quantiles.isf(above_half[:, None] * _TAIL, a[:, None], b[:, None])
    inside = special.betainc(rate.a, rate.b, z) - special.betainc(rate.a, rate.b, 0.5)
    return np.where(some, above_half * (inside @ _WEIGHTS), 0.0)


def _outcomes(rate: Rate, n: int) -> tuple[Array, Array]:
    """Return the counts of successes and their probabilities, many in groups."""
    return rate.outcomes(n, _ONE_BY_ONE if n < _ONE_BY_ONE else _GROUPS)
