"""Discrete distributions: what a test to come may show, or items that nobody looked at."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.distributions.protocol import Distribution, Side

Array = NDArray[np.float64]

MOST_MATRICES = 2_000_000
"""Matrices that are enumerated."""
_MOST_PAIRS = 2**23  # of values of two systems
_DECIMALS = 12  # in which equal values of a metric agree
_PLACES, _BEYOND = 4096, 1e-3  # into which values are sorted, and the share of them beyond the first and the last
_SAME = 1e-11  # by how much a value may be missed by rounding
_NEXT = 5e-11  # beside a number: more than rounding misses it by, less than there is between two values


class Discrete(NamedTuple):
    """A discrete distribution: its distinct values in order, their probabilities, and that of no value (0/0)."""

    values: Array
    probability: Array
    undefined: float

    def statistics(self, ci_prob: float, ci_kind: str) -> dict[str, float]:
        """Return mean, median, sd and interval, given that the metric is defined."""
        found = statistics_of(self.values, self.probability, self.undefined, ci_prob)
        if ci_kind == "hdi" and len(self.values):
            below = np.cumsum(self.probability / self.probability.sum())
            found["lower"], found["upper"] = self._narrowest(below, ci_prob)
        return found

    def _narrowest(self, below: Array, share: float) -> tuple[float, float]:
        """Return the narrowest interval between two values that holds at least a share."""
        before = np.append(0.0, below[:-1])
        last = np.maximum(np.searchsorted(below, before + share - 1e-12), np.arange(len(below)))
        first = np.flatnonzero(last < len(below))
        with np.errstate(invalid="ignore"):
            widths = self.values[last[first]] - self.values[first]
        start = first[int(np.argmin(np.where(np.isnan(widths), np.inf, widths)))]
        return float(self.values[start]), float(self.values[last[start]])

    def below(self, x: Array) -> Array:
        """Return P(X <= x) where there is a value; x agrees with a value to rounding."""
        return self._cumulated(np.searchsorted(self.values, x + _SAME, "right"))

    def above(self, x: Array) -> Array:
        """Return P(X > x) where there is a value, precisely where it is small."""
        if not len(self.values):
            return np.full(np.shape(x), np.nan)
        after = np.append(np.cumsum(self.probability[::-1])[::-1], 0.0) / self.probability.sum()
        return np.asarray(after[np.searchsorted(self.values, x + _SAME, "right")])

    def quantiles(self, p: Array) -> Array:
        """Return the least values that hold at least the probabilities p."""
        if not len(self.values):
            return np.full(np.shape(p), np.nan)
        below = self._cumulated(np.arange(1, len(self.values) + 1))
        return np.asarray(self.values[np.minimum(np.searchsorted(below, p - 1e-12), len(below) - 1)])

    def _cumulated(self, n: NDArray[np.intp]) -> Array:
        """Return the probability of the n least values, given that there is a value."""
        if not len(self.values):
            return np.full(np.shape(n), np.nan)
        return np.asarray(np.append(0.0, np.cumsum(self.probability))[n] / self.probability.sum())

    def minus(self, other: "Discrete") -> "Discrete | None":
        """Return the distribution of X - Y with Y, which has the other, independent of X; None of too many pairs."""
        if len(self.values) * len(other.values) > _MOST_PAIRS:
            return None
        values, place = distinct(np.subtract.outer(self.values, other.values).ravel())
        chance = np.multiply.outer(self.probability, other.probability).ravel()
        undefined = 1.0 - (1.0 - self.undefined) * (1.0 - other.undefined)
        return Discrete(values, np.bincount(place, chance, len(values)), undefined)

    def compare(self, other: "Discrete") -> tuple[float, float]:
        """Return P(larger than the other) and P(equal), of independent values; undefined ones are neither."""
        below = np.append(0.0, np.cumsum(other.probability))
        left, right = (np.searchsorted(other.values, self.values, side) for side in ("left", "right"))
        return float(self.probability @ below[left]), float(self.probability @ (below[right] - below[left]))


class Unsorted(NamedTuple):
    """A discrete distribution by its values in any order, equal ones perhaps apart: nothing is sorted that needn't be.

    Attributes
    ----------
    values, probability, undefined
        As of :class:`Discrete`.
    """

    values: Array
    probability: Array
    undefined: float

    @classmethod
    def of(cls, values: Array, probability: Array) -> "Unsorted":
        """Take the probability of NaN apart."""
        return cls(*collected(rounded(values), probability))

    def statistics(self, ci_prob: float, _: str = "eti") -> dict[str, float]:
        """Return mean, median, sd and equal-tailed interval, given that the metric is defined."""
        return statistics_of(*self, ci_prob)


def statistics_of(values: Array, probability: Array, undefined: float, prob: float) -> dict[str, float]:
    """Return mean, median, sd and equal-tailed interval of values in any order, given that there is one.

    Quantiles are the least values that hold at least a share: only those near them are sorted.
    """
    if not len(values):
        return dict.fromkeys(("mean", "median", "sd", "lower", "upper"), np.nan) | {"undefined": 1.0}
    p = probability / probability.sum()
    with np.errstate(invalid="ignore", over="ignore"):
        mean = float(p @ values)
        sd = float(np.sqrt(p @ (values - mean) ** 2))
        low, high = _bulk(*(part[:: max(len(values) // _PLACES, 1)] for part in (values, p)))
        place = np.clip((values - low) * (_PLACES / (high - low)), 0.0, _PLACES).astype(np.intp)
    below = np.cumsum(np.bincount(place, p, _PLACES + 1))

    def quantile(share: float) -> float:
        at = min(int(np.searchsorted(below, share - 1e-12)), int(place.max()))
        inside = np.flatnonzero(place == at)
        inside = inside[np.argsort(values[inside])]
        held = (below[at - 1] if at else 0.0) + np.cumsum(p[inside])
        return float(values[inside[min(int(np.searchsorted(held, share - 1e-12)), len(inside) - 1)]])

    median, lower, upper = (quantile(share) for share in (0.5, 0.5 - 0.5 * prob, 0.5 + 0.5 * prob))
    return {"mean": mean, "median": median, "sd": sd, "lower": lower, "upper": upper, "undefined": undefined}


def _bulk(values: Array, p: Array) -> tuple[float, float]:
    """Return two numbers between which most finite values lie."""
    order = np.argsort(values)
    below = np.cumsum(np.where(np.isfinite(values), p, 0.0)[order])
    at = np.searchsorted(below, np.array([_BEYOND, 1.0 - _BEYOND]) * below[-1])
    low, high = (float(end) for end in values[order[np.minimum(at, len(order) - 1)]])
    return (low, high) if np.isfinite([low, high]).all() and high > low else (0.0, 1.0)


def rounded(values: Array) -> Array:
    """Return values, of which those that differ by rounding alone are equal."""
    return np.asarray(np.round(values, _DECIMALS) + 0.0)


def distinct(values: Array) -> tuple[Array, NDArray[np.intp]]:
    """Return the distinct values in order, NaN last, and which of them each is."""
    found, group = np.unique(rounded(values), return_inverse=True)
    return found, group


def collected(values: Array, probability: Array) -> Discrete:
    """Return the distribution, with the probability of NaN apart."""
    defined = ~np.isnan(values)
    if defined.all():
        return Discrete(values, probability, 0.0)
    use = np.flatnonzero(defined)
    return Discrete(values[use], probability[use], float(probability[~defined].sum()))


@dataclass(frozen=True, eq=False)
class DiscreteDistribution(Distribution):
    """A discrete distribution, or one for every class, asked as all others are; given that the metric is defined.

    Attributes
    ----------
    each : tuple of Discrete
    several : bool
        Whether there is one for every class.
    """

    each: tuple[Discrete, ...]
    several: bool = False
    words: ClassVar[str] = "of finitely many values"
    has_density: ClassVar[bool] = False

    def at(self, *place: Any) -> "DiscreteDistribution":  # noqa: D102
        return DiscreteDistribution((self.each[place[-1]],)) if self.several else super().at(*place)

    def minus(self, other: Distribution) -> "DiscreteDistribution | None":  # noqa: D102
        if not isinstance(other, DiscreteDistribution) or self.several or other.several:
            return None
        difference = self.each[0].minus(other.each[0])
        return None if difference is None else DiscreteDistribution((difference,))

    def side(self, x: Any, sign: str) -> Side:  # noqa: D102
        outside = np.asarray(x) + _NEXT * (1.0 if (sign[0] == ">") != sign.endswith("=") else -1.0)
        return super().side(outside, sign[0] + "=")

    @property
    def undefined(self) -> Any:
        """The probability of no value (0/0)."""
        return self._of_all([one.undefined for one in self.each])

    def warn_undefined(self, name: str) -> None:  # noqa: D102
        if ((self.undefined > 0.0) & (self.undefined < 1.0)).any():
            validate.warn(f"These items may leave {name} undefined (0/0); what is said is for where it isn't.")

    def pdf(self, x: Any) -> Any:
        """Refuse: there is none."""
        raise ValueError(
            "the metric of these items has finitely many values and no density: take cdf, sf, ppf, mean, std, eti or "
            "hdi, or the values and their probabilities, `.dist.each[0].values` and `.dist.each[0].probability`."
        )

    def cdf(self, x: Any) -> Any:  # noqa: D102
        return self._at(x, lambda one, at: one.below(at))

    def sf(self, x: Any) -> Any:  # noqa: D102
        return self._at(x, lambda one, at: one.above(at))

    def ppf(self, p: Any) -> Any:
        """Return the least value that holds at least the probability `p`."""
        return self._at(p, lambda one, at: one.quantiles(at))

    def mean(self) -> Any:  # noqa: D102
        return self.statistics(0.5, "eti")["mean"]

    def sd(self) -> Any:  # noqa: D102
        return self.statistics(0.5, "eti")["sd"]

    def eti(self, prob: float) -> tuple[Any, Any]:
        """Return the equal-tailed interval."""
        found = self.statistics(prob, "eti")
        return found["lower"], found["upper"]

    def hdi(self, prob: float) -> tuple[Any, Any, Any]:
        """Return the narrowest interval between two values with enough probability."""
        found = self.statistics(prob, "hdi")
        return found["lower"], found["upper"], found["is_hdi"]

    def statistics(self, prob: float, kind: str) -> dict[str, Any]:
        """Return mean, median, sd, lower, upper and whether the interval is the narrowest."""
        found = [one.statistics(prob, kind) | {"is_hdi": kind == "hdi"} for one in self.each]
        return {name: self._of_all([one[name] for one in found]) for name in found[0]}

    def _of_all(self, values: list[Any]) -> Array:
        return np.asarray(values if self.several else values[0])

    def _at(self, x: Any, value: Callable[[Discrete, Array], Array]) -> Array:
        """Return values at x (..., class), or at x of any shape where there is one."""
        at = np.asarray(x, np.float64)
        if not self.several:
            return value(self.each[0], at)
        at = np.broadcast_to(at, np.broadcast_shapes(at.shape, (len(self.each),)))
        return np.stack([value(one, at[..., i]) for i, one in enumerate(self.each)], -1)
