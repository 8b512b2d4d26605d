"""Discrete distributions: what a test to come may show, or items that nobody looked at."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MOST_MATRICES = 2_000_000
"""Matrices that are enumerated."""
_DECIMALS = 12  # in which equal values of a metric agree


class Discrete(NamedTuple):
    """A discrete distribution: its distinct values in order, their probabilities, and that of no value (0/0)."""

    values: Array
    probability: Array
    undefined: float

    def statistics(self, ci_prob: float, ci_kind: str) -> dict[str, float]:
        """Return mean, median, sd and interval, given that the metric is defined."""
        if not len(self.values):
            return dict.fromkeys(("mean", "median", "sd", "lower", "upper"), np.nan) | {"undefined": 1.0}
        p = self.probability / self.probability.sum()
        with np.errstate(invalid="ignore"):
            mean = float(p @ self.values)
            sd = float(np.sqrt(p @ (self.values - mean) ** 2))
        below = np.cumsum(p)
        lower, upper = self._narrowest(below, ci_prob) if ci_kind == "hdi" else (
            self._quantile(below, (1 - ci_prob) / 2), self._quantile(below, (1 + ci_prob) / 2))  # fmt: skip
        found = {"mean": mean, "median": self._quantile(below, 0.5), "sd": sd, "lower": lower, "upper": upper}
        return found | {"undefined": self.undefined}

    def _quantile(self, below: Array, share: float) -> float:
        """Return the least value that holds at least a share."""
        return float(self.values[min(int(np.searchsorted(below, share - 1e-12)), len(below) - 1)])

    def _narrowest(self, below: Array, share: float) -> tuple[float, float]:
        """Return the narrowest interval between two values that holds at least a share."""
        before = np.append(0.0, below[:-1])
        last = np.maximum(np.searchsorted(below, before + share - 1e-12), np.arange(len(below)))
        first = np.flatnonzero(last < len(below))
        with np.errstate(invalid="ignore"):
            widths = self.values[last[first]] - self.values[first]
        start = first[int(np.argmin(np.where(np.isnan(widths), np.inf, widths)))]
        return float(self.values[start]), float(self.values[last[start]])

    def compare(self, other: "Discrete") -> tuple[float, float]:
        """Return P(larger than the other) and P(equal), of independent values; undefined ones are neither."""
        below = np.append(0.0, np.cumsum(other.probability))
        left, right = (np.searchsorted(other.values, self.values, side) for side in ("left", "right"))
        return float(self.probability @ below[left]), float(self.probability @ (below[right] - below[left]))


def distinct(values: Array) -> tuple[Array, NDArray[np.intp]]:
    """Return the distinct values in order, NaN last, and which of them each is."""
    found, group = np.unique(np.round(values, _DECIMALS) + 0.0, return_inverse=True)
    return found, group


def collected(values: Array, probability: Array) -> Discrete:
    """Return the distribution, with the probability of NaN apart."""
    defined = ~np.isnan(values)
    return Discrete(values[defined], probability[defined], float(probability[~defined].sum()))
