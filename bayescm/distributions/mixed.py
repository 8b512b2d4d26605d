"""Mixtures of distributions of one number: with given probabilities it has one of several."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayescm.distributions.beta import Beta
from bayescm.distributions.protocol import Distribution, placed

Array = NDArray[np.float64]

_CLOSE, _STEPS = 1e-10, 80
"""Steps of a quantile that are none, and how many are taken at most."""
_LEAST, _BELOW_1 = 1e-300, 1.0 - 2.0**-53
_MOST = 0.25
"""Skewness that a second term adds or takes: with more the density is negative within four standard deviations."""


@dataclass(frozen=True, slots=True, eq=False)
class Skewed(Distribution):
    """A Beta's distribution with another third moment: the first two terms of a series of Jacobi polynomials.

    What the second one moves is its `error`. Quantiles are those of the Beta.

    Attributes
    ----------
    beta : Beta
    excess : ndarray
        Third central moment less the Beta's.
    """

    beta: Beta
    excess: Array
    words: ClassVar[str] = "a Beta of three moments"

    def at(self, *place: Any) -> "Skewed":  # noqa: D102
        return Skewed(self.beta.at(*place), placed(self.excess, np.broadcast(self.beta.a, self.beta.b).shape, place))

    def _term(self, x: Any) -> tuple[Any, Any]:
        """Return what the second term adds to the cdf and to the density, both in units of the Beta's density."""
        a, b = self.beta.a, self.beta.b
        p, q, n = a + 1.0, b + 1.0, a + b + 2.0
        variance = p * q / (n**2 * (n + 1.0))
        skew = 2.0 * (q - p) / (n + 2.0) * np.sqrt((n + 1.0) / (p * q))
        kurtosis = 6.0 * ((p - q) ** 2 * (n + 1.0) - p * q * (n + 2.0)) / (p * q * (n + 2.0) * (n + 3.0))
        z = (x - p / n) / np.sqrt(variance)
        second = z * z - skew * z - 1.0
        sd = np.sqrt(a * b / (n - 1.0)) / (n - 2.0)
        excess = np.clip(self.excess, -_MOST * sd**3, _MOST * sd**3)
        scale = -excess * (n - 2.0) * (n - 1.0) / (3.0 * a * b * variance * (2.0 + kurtosis - skew**2))
        slope = (2.0 * z - skew) / np.sqrt(variance)
        return scale * second * x * (1.0 - x), scale * ((a - (n - 2.0) * x) * second + x * (1.0 - x) * slope)

    def moved(self, x: Any) -> Any:
        """Return what the second term adds to the cdf."""
        at = np.clip(x, _LEAST, _BELOW_1)
        return self._term(at)[0] * self.beta.pdf(at)

    def cdf(self, x: Any) -> Any:  # noqa: D102
        return self.beta.cdf(x) + self.moved(x)

    def sf(self, x: Any) -> Any:  # noqa: D102
        return self.beta.sf(x) - self.moved(x)

    def pdf(self, x: Any) -> Any:  # noqa: D102
        return self.beta.pdf(x) * (1.0 + self._term(np.asarray(x))[1])

    def error(self, x: Any) -> Any:  # noqa: D102
        return np.abs(self.moved(x)) / np.maximum(_least(self.cdf(x)), _LEAST)

    def ppf(self, p: Any) -> Any:  # noqa: D102
        return self.beta.ppf(p)

    def mean(self) -> Any:  # noqa: D102
        return self.beta.mean()

    def sd(self) -> Any:  # noqa: D102
        return self.beta.sd()


def _least(below: Any) -> Any:
    return np.minimum(below, 1.0 - below)


@dataclass(frozen=True, slots=True, eq=False)
class Mixed(Distribution):
    """The mixture of distributions.

    Attributes
    ----------
    parts : Distribution
        Over (..., M).
    weight : ndarray of shape (..., M)
        Their probabilities.
    """

    parts: Distribution
    weight: Array
    words: ClassVar[str] = "a mixture"

    @classmethod
    def of(cls, parts: Distribution, weight: Array) -> Distribution:
        """Return the mixture of parts over (M,); Betas that are the same count once."""
        if isinstance(parts, Beta):
            a, b = (np.broadcast_to(one, weight.shape) for one in (parts.a, parts.b))
            (a, b), which = np.unique(np.stack([a, b]), axis=1, return_inverse=True)
            parts, weight = Beta(a, b, parts.link), np.bincount(which.ravel(), weight)
        return parts.at(0) if len(weight) == 1 else cls(parts, weight / weight.sum())

    @property
    def worst(self) -> float:  # noqa: D102
        return self.parts.worst

    def at(self, *place: Any) -> "Mixed":  # noqa: D102
        if not place:
            return self
        whole = (*place, slice(None))
        return Mixed(self.parts.at(*whole), self.weight[whole])

    def over(self, batch: tuple[int, ...]) -> "Mixed":
        """Return the same (n, ...) over the batch (*batch, ...) of n."""
        if batch == ():
            return self.at(0)
        return self.at(np.arange(len(self.weight)).reshape(batch))

    def _mean_of(self, value: Any, x: Any) -> Any:
        return np.asarray((value(np.asarray(x, np.float64)[..., None]) * self.weight).sum(-1))[()]

    def pdf(self, x: Any) -> Any:  # noqa: D102
        return self._mean_of(self.parts.pdf, x)

    def cdf(self, x: Any) -> Any:  # noqa: D102
        return self._mean_of(self.parts.cdf, x)

    def sf(self, x: Any) -> Any:  # noqa: D102
        return self._mean_of(self.parts.sf, x)

    def error(self, x: Any) -> Any:  # noqa: D102
        if not isinstance(self.parts, Skewed):
            return self._mean_of(self.parts.error, x)
        moved = self.parts.moved
        return self._mean_of(lambda x: np.abs(moved(x)), x) / np.maximum(_least(self.cdf(x)), _LEAST)

    def warn_undefined(self, name: str) -> None:  # noqa: D102
        self.parts.warn_undefined(name)

    def ppf(self, p: Any) -> Any:  # noqa: D102
        return self._quantile(p, "ppf", "cdf", 1.0)

    def isf(self, q: Any) -> Any:  # noqa: D102
        return self._quantile(q, "isf", "sf", -1.0)

    def _quantile(self, p: Any, of_parts: str, tail: str, sign: float) -> Any:
        """Invert a tail, between the quantiles of the parts, by Newton's steps in its log-odds."""
        p, x = np.broadcast_arrays(np.asarray(p, np.float64), np.asarray(self.mean()))
        if isinstance(self.parts, Beta | Skewed):
            low, high = np.zeros(p.shape), np.ones(p.shape)
        else:
            each = getattr(self.parts, of_parts)(p[..., None] + np.zeros_like(self.weight))
            low, high = each.min(-1), each.max(-1)
        shape = p.shape
        places = np.indices(shape).reshape(len(shape), p.size)[len(shape) - self.weight.ndim + 1 :]
        p, x, low, high = (v.ravel() for v in (p, np.where((x > low) & (x < high), x, 0.5 * (low + high)), low, high))
        left = np.arange(len(x))
        with np.errstate(all="ignore"):
            for _ in range(_STEPS):
                some = self.at(*places[:, left])
                at, wanted = x[left], p[left]
                found = np.clip(getattr(some, tail)(at), _LEAST, _BELOW_1)  # two terms of a series may pass 0 and 1
                excess = sign * (np.log(found / wanted) - np.log((1.0 - found) / (1.0 - wanted)))
                low[left], high[left] = np.where(excess < 0.0, at, low[left]), np.where(excess < 0.0, high[left], at)
                step = at - excess * found * (1.0 - found) / some.pdf(at)
                inside = (step > low[left]) & (step < high[left])
                x[left] = np.where(inside, step, 0.5 * (low[left] + high[left]))
                left = left[np.abs(x[left] - at) > np.maximum(_CLOSE * np.abs(at), 1e-15)]
                if not len(left):
                    break
        return x.reshape(shape)[()]

    def statistics(self, prob: float, kind: str) -> dict[str, Any]:  # noqa: D102
        found = Distribution.statistics(self, prob, kind)
        if isinstance(self.parts, Skewed):
            found["error"] = np.maximum(self.error(found["lower"]), self.error(found["upper"]))
        return found

    def hdi(self, prob: float) -> tuple[Any, Any, Any]:
        """Return the shortest interval."""
        if self.weight.ndim == 1:
            return Distribution.hdi(self, prob)
        ends = [Distribution.hdi(self.at(*place), prob)[:2] for place in np.ndindex(self.weight.shape[:-1])]
        lower, upper = np.array(ends).T.reshape(2, *self.weight.shape[:-1])
        return lower, upper, True

    def mean(self) -> Any:  # noqa: D102
        return (np.asarray(self.parts.mean()) * self.weight).sum(-1)[()]

    def sd(self) -> Any:  # noqa: D102
        means, sds = self.parts.mean(), self.parts.sd()
        off = means - np.asarray(self.mean())[..., None]
        return np.sqrt(((sds**2 + off**2) * self.weight).sum(-1))[()]
