"""Numbers of items by the formulas that protocols quote.

They take stated rates for the truth, every count for its mean, and intervals for normal ones: an average test is just
good enough, so that about half of all tests aren't. Buderer 1996 (a proportion of items that are themselves a share of
the test); Simel, Samsa and Matchar 1991 (likelihood ratios); Connor 1987 and Lachenbruch 1992 (McNemar's test).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.distributions.beta_binomial import Rate
from bayescm.inference.proportions import normal_quantile
from bayescm.metrics import Metric, compute, parts

Array = NDArray[np.float64]

BUDERER, SIMEL = "buderer", "simel"
OF_INTERVALS = (BUDERER, SIMEL)
OF_PAIRS = ("connor", "lachenbruch")
_RATIOS = ("positive_likelihood_ratio", "negative_likelihood_ratio")


def most_probable(rate: Rate) -> float:
    """Return the value of a rate that was stated: its mode, or its mean where that is no single value."""
    if rate.known is None and min(rate.a, rate.b) >= 1.0 and rate.a + rate.b > 2.0:
        return (rate.a - 1.0) / (rate.a + rate.b - 2.0)
    return rate.mean()


def named(metric: Metric) -> str:
    """Return whose formula plans a metric; empty where none does."""
    if metric.ratio is not None and metric.link == "identity":
        return BUDERER
    return SIMEL if metric.name in _RATIOS else ""


def one_sided(ci_prob: float) -> float:
    """Return the level of the interval whose lower end is a bound of this level by itself."""
    if ci_prob <= 0.5:
        raise ValueError(f"`ci_prob` must be above 0.5 for `lower`, one bound alone; got {ci_prob:g}.")
    return 2.0 * ci_prob - 1.0


@dataclass(frozen=True, slots=True)
class Goal:
    """What is wanted of an interval: a width, or a lower bound, which is that of an interval of this level."""

    ci_prob: float
    width: float = math.nan
    lower: float | None = None

    def items(self, metric: Metric, cells: Array) -> float:
        """Return the items after which an average test is good enough, for expected shares (2, 2) of the cells.

        NaN without a formula.
        """
        if named(metric) == BUDERER:
            return self.of_proportion(*map(float, parts(metric, cells)))
        if named(metric) != SIMEL:
            return math.nan
        point = self._above(metric.name, float(compute([metric], cells)[0]))
        (tn, fp), (fn, tp) = cells
        over, under = (tp, fp) if metric.name == _RATIOS[0] else (fn, tn)
        variance = 1.0 / over - 1.0 / (fn + tp) + 1.0 / under - 1.0 / (tn + fp)  # of the logarithm, of one item
        far = math.asinh(self.width / (2.0 * point)) if self.lower is None else math.log(point / self.lower)
        return self._whole(variance / far**2)

    def of_proportion(self, successes: float, failures: float) -> float:
        """Return the same of a proportion, for the expected shares of an item to be either."""
        share = successes + failures
        p = self._above("rate", successes / share)
        half = self.width / 2.0 if self.lower is None else p - self.lower
        return self._whole(p * (1.0 - p) / half**2 / share)

    def _above(self, name: str, point: float) -> float:
        if self.lower is not None and not point > self.lower:
            raise ValueError(f"`lower` must be below the stated {name}, {point:g}; got {self.lower:g}.")
        return point

    def _whole(self, squares: float) -> float:
        return max(math.ceil(normal_quantile(self.ci_prob) ** 2 * squares - 1e-9), 1)


def pairs(method: str, gap: float, discordance: float, ci_prob: float, assurance: float) -> int:
    """Return the items on which McNemar's test finds a difference with a probability."""
    z, power = normal_quantile(ci_prob), float(special.ndtri(assurance))
    if method == "connor":
        return math.ceil((z * math.sqrt(discordance) + power * math.sqrt(discordance - gap**2)) ** 2 / gap**2 - 1e-9)
    return math.ceil((z + power) ** 2 * discordance / gap**2 - 1e-9)
