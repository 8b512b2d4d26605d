"""What is thought of a rate before the test, and what it says of the counts to come."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bayescm.data import validate
from bayescm.distributions import beta_quantiles

Array = NDArray[np.float64]

MOST = 10**9
"""Items of a test to come."""
MOST_ADDED = 8192
"""Items up to which the probabilities of all outcomes are added up, which is faster there."""
_Z = np.linspace(-8.3, 8.3, 50)  # the trapezoid rule in the normal quantile: errors below 1e-12
_WEIGHTS = np.exp(-0.5 * _Z**2) / np.exp(-0.5 * _Z**2).sum()
_NODES, _MOST_TIMES = 21, 1e4
"""Of the same rule to 1e-8, for two Betas of as many items; how many times as many the other may have."""


class Rate(NamedTuple):
    """A rate that is Beta(a, b), or known: then `known` is its value."""

    a: float
    b: float
    known: float | None = None

    @classmethod
    def of_mode(cls, name: str, mode: Any, concentration: Any) -> "Rate":
        """Return Beta(w(k - 2) + 1, (1 - w)(k - 2) + 1) of mode w and concentration k (Kruschke); None: known."""
        w = validate.number(name, mode, 0, 1, closed=True)
        if concentration is None:
            return cls(0.0, 0.0, w)
        k = validate.number("concentration", concentration, 2, MOST, closed=True)
        return cls(w * (k - 2) + 1, (1 - w) * (k - 2) + 1)

    def reversed(self) -> "Rate":
        """Return the distribution of one minus the rate."""
        return Rate(self.b, self.a, None if self.known is None else 1 - self.known)

    def cdf(self, k: ArrayLike, n: ArrayLike) -> Array:
        """Return P(K <= k) of K successes in n trials: beta-binomial, or binomial if the rate is known.

        P(K <= k) = P(rate < X) with X ~ Beta(k + 1, n - k), so it is the probability that one Beta is below another.
        """
        k, n = np.broadcast_arrays(np.asarray(k, np.float64), np.asarray(n, np.float64))
        inside = (k >= 0) & (k < n)
        at, trials = np.where(inside, k, 0.0), np.where(inside, n, 1.0)
        if self.known is None:
            found = below(self.a, self.b, at + 1, trials - at)
        else:
            found = special.betaincc(at + 1, trials - at, self.known)
        return np.where(inside, found, np.where(k < 0, 0.0, 1.0))

    def log_pmf(self, k: ArrayLike, n: ArrayLike) -> Array:
        """Return log P(K = k), by a table as long as the largest n."""
        k, n = np.asarray(k, np.int64), np.asarray(n, np.int64)
        return self._log_pmf(int(n.max()))(k, n)

    def _log_pmf(self, most: int) -> Callable[[Any, Any], Array]:
        """Return the function log P(K = k) of k and n, at most `most`."""
        p = self.known
        if p is not None:
            return lambda k, n: np.asarray(
                special.xlogy(k, p) + special.xlog1py(n - k, -p) - np.log1p(n) - special.betaln(k + 1.0, n - k + 1.0)
            )
        last = np.arange(float(most))
        # log of c (c + 1) ... (c + k - 1) / k!, whose terms lose nothing where c is large, as betaln does
        a, b, both = (
            np.append(0.0, np.cumsum(np.log((c + last) / (1.0 + last)))) for c in (self.a, self.b, self.a + self.b)
        )
        return lambda k, n: np.asarray(a[k] + b[n - k] - both[n])

    def outcomes(self, n: int, most: int) -> tuple[Array, Array]:
        """Return the counts of successes in n trials and their probabilities."""
        return self.outcomes_of([n], most)[0]

    def outcomes_of(self, sizes: ArrayLike, most: int, shifts: ArrayLike = 0.5) -> list[tuple[Array, Array]]:
        """Return the counts of successes in each of these numbers of trials, and their probabilities.

        More than `most` are put together: the middle of neighbours stands for them, with their whole probability.
        Where the cuts lie follows `shifts`, from 0 to 1: averaged over shifts, less of the errors remains.
        """
        n = np.asarray(sizes, np.int64)[:, None]
        steps = np.arange(most) + np.broadcast_to(shifts, len(n))[:, None]
        share = (1 - np.cos(np.pi * steps / most)) / 2  # finer at the ends of the probability
        many = n[:, 0] >= most
        inside = np.full(share.shape, -1.0)
        inside[many] = np.floor(n[many] * beta_quantiles.ppf(share[many], *self._like(n[many])))
        log_pmf = self._log_pmf(min(int(n.max()), MOST_ADDED))
        found = []
        for size, cuts in zip(n[:, 0].tolist(), inside, strict=True):
            each = np.exp(log_pmf(np.arange(size + 1), size)) if size <= MOST_ADDED else None
            if each is not None and size < most:
                found.append((np.arange(size + 1.0), each))
                continue
            edges = np.unique(np.concatenate([[-1.0], cuts[cuts < size], [size]]))
            if each is None:
                below = self.cdf(edges, float(size))
            else:  # adding up is faster
                below = np.append(0.0, np.cumsum(each))[edges.astype(int) + 1]
            found.append((0.5 * (edges[:-1] + 1 + edges[1:]), np.diff(below)))
        return found

    def mean(self) -> float:
        """Return the mean of the rate."""
        return self.a / (self.a + self.b) if self.known is None else self.known

    def reach(self, n: ArrayLike, tail: float) -> tuple[Array, Array]:
        """Return shares of successes in n trials that are rarely passed, about."""
        like = self._like(np.asarray(n))
        return beta_quantiles.ppf(tail, *like), beta_quantiles.isf(tail, *like)

    def _like(self, n: NDArray[Any]) -> tuple[Array, Array]:
        """Return a Beta with mean and variance of the share of successes in n trials."""
        mean = min(max(self.mean(), 1e-12), 1 - 1e-12)
        size = n if self.known is not None else 1 / (1 / n + (1 - 1 / n) / (self.a + self.b + 1))
        return mean * np.maximum(size - 1, 1e-6), (1 - mean) * np.maximum(size - 1, 1e-6)


def below(a: ArrayLike, b: ArrayLike, c: ArrayLike, d: ArrayLike) -> Array:
    """Return P(X < Y) of X ~ Beta(a, b) and Y ~ Beta(c, d): the cdf of one at quantiles of that with more items."""
    a, b, c, d = np.broadcast_arrays(*(np.asarray(v, np.float64)[..., None] for v in (a, b, c, d)))
    fewer = a + b < c + d
    y = beta_quantiles.logit_at_normal(_Z, np.where(fewer, c, a), np.where(fewer, d, b))
    y, a, b = np.where(fewer, y, -y), np.where(fewer, a, d), np.where(fewer, b, c)  # else it is P(1 - Y < 1 - X)
    return np.asarray(beta_quantiles.logit_cdf(y, a, b) @ _WEIGHTS)


def above(a: Array, b: Array, items: float) -> Callable[[Array, Array], Array]:
    """Return the function P(X > Y) of c and d, for X ~ Beta(a, b) and many Y ~ Beta(c, d), c + d = `items`.

    Right to 1e-8 from concentrations of a half on, if Y has at most 10,000 times as many items as X.
    """
    times = np.clip(items / np.min(a + b), 1.0, _MOST_TIMES)  # the more, the steeper it is between the nodes
    z = np.linspace(-6.0, 6.0, int(_NODES * np.sqrt(times)))
    weights = np.exp(-0.5 * z**2) / np.exp(-0.5 * z**2).sum()
    y = beta_quantiles.logit_at_normal(z, a[..., None], b[..., None])
    return lambda c, d: np.asarray(beta_quantiles.logit_cdf(y, c[..., None], d[..., None]) @ weights)


def last(
    holds: Callable[[Array], NDArray[np.bool_]], shape: tuple[int, ...], n: int, near: Array | None = None
) -> Array:
    """Return the largest count, -1 for none, up to which something holds; it is sooner found if it is known about."""
    low, high, step = np.full(shape, -1.0), np.full(shape, n + 1.0), 0.25
    middle = np.floor((low + high) / 2) if near is None else np.floor(near)
    while (high - low > 1).any():
        good = (middle < 0) | holds(middle.clip(0, n))
        low, high = np.where(good, np.maximum(low, middle), low), np.where(good, high, np.minimum(high, middle))
        middle = np.floor((low + high) / 2)
        if near is not None:  # outwards, by 1, 1, 4, 16 and so on, until there are counts on both sides
            middle = np.where(high > n, np.minimum(low + np.ceil(step), middle), middle)
            middle = np.where(low < 0, np.maximum(high - np.ceil(step), middle), middle)
            step *= 4.0
    return low
