"""How wide the intervals of any metrics will be after a whole test: random class totals, two rates.

The number of positives, the true positives among them and the true negatives are beta-binomial (or binomial), one after
the other. Their outcomes are weighted by their exact probabilities; many are put together. The width of a metric's
interval is a smooth function of them, so it is computed at Chebyshev nodes in the log-odds, and interpolated.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from scipy import special

from bayescm.distributions import Distribution, exact_distribution
from bayescm.distributions.beta_binomial import Rate
from bayescm.inference import proportions
from bayescm.metrics import Metric, parts
from bayescm.priors.concentrations import Concentrations

Array = NDArray[np.float64]

_OUTCOMES = (513, 97, 49)  # of the rates with fixed totals; of the positives, and of the rates, with random ones
_TINY = 1e-300  # the length of an interval of a known number
_REACH = 1e-8  # probability beyond the nodes, on either side


@dataclass(frozen=True, slots=True, eq=False)
class Test:
    """A test to come: what is thought of the rates, and the prior and the interval that will be reported."""

    metrics: tuple[Metric, ...]
    prevalence: Rate
    recall: Rate
    specificity: Rate
    fixed_totals: bool
    prior: Concentrations
    ci_prob: float
    ci_kind: str
    interval: str = ""
    """The name of the interval of proportions that will be reported; empty of the credible one."""

    def widths(self, n: int) -> tuple[Array, Array]:
        """Return the widths, (metrics, outcomes), of the outcomes of n items, and their probabilities."""
        if self.fixed_totals and n < 2:
            return np.full((len(self.metrics), 1), np.inf), np.ones(1)  # no design with both classes
        positives, chances = self._positives(n)
        smooth = [
            np.log(np.maximum(self._exact(metric, *self._nodes(n, degrees), n), _TINY))
            for metric, degrees in self._degrees()
        ]
        most, steps = _OUTCOMES[0] if len(positives) == 1 else _OUTCOMES[2], np.arange(len(positives))
        shares = _place(positives, n, *_ends(self.prevalence, np.array(n)))
        places, cuts, given = [], [], []
        for rate, size, shift in ((self.recall, positives, 0.618034), (self.specificity, n - positives, 0.754878)):
            items = np.round(size)
            counts, of_counts = zip(*rate.outcomes_of(items, most, shift * steps % 1), strict=True)
            lengths = [len(k) for k in counts]
            ends = (np.repeat(end, lengths) for end in (items, *_ends(rate, items)))
            places.append(_place(np.concatenate(counts), *ends))
            cuts.append(np.cumsum(lengths)[:-1])
            given.append(of_counts)
        found = []
        for values in smooth:
            sides = map(np.split, map(_weights, places, values.shape[1:]), cuts)
            at_shares = np.tensordot(_weights(shares, len(values)), values, 1)
            each = [(left @ one @ right.T).ravel() for one, left, right in zip(at_shares, *sides, strict=True)]
            found.append(np.concatenate(each))
        weights = [chance * np.outer(p, q).ravel() for chance, p, q in zip(chances, *given, strict=True)]
        return np.exp(np.stack(found)), np.concatenate(weights)

    def cells(self, recall: float, specificity: float) -> Array:
        """Return the expected shares of the cells at two rates, (2, 2)."""
        share = self.prevalence.mean()
        negatives = (1.0 - share) * np.array([specificity, 1.0 - specificity])
        return np.stack([negatives, share * np.array([1.0 - recall, recall])])

    def _degrees(self) -> list[tuple[Metric, tuple[int, int, int]]]:
        """Return the metrics with the numbers of nodes: fewer for a distribution of two integrals, which costs more."""
        across = 1 if self.fixed_totals else 9 if self.prevalence.known is not None else 13
        one = np.ones(1)
        dear = [getattr(self._dist(metric, one, one, one, 2), "integrals", 0) > 1 for metric in self.metrics]
        return [
            (metric, (min(across, 9), 9, 9) if slow else (across, 13, 13))
            for metric, slow in zip(self.metrics, dear, strict=True)
        ]

    def _positives(self, n: int) -> tuple[Array, Array]:
        """Return numbers of positives and their probabilities."""
        if self.fixed_totals:
            return np.array([self._fixed(n)]), np.ones(1)
        return self.prevalence.outcomes(n, _OUTCOMES[1])

    def _fixed(self, n: int) -> float:
        """Return the number of positives of a design with both classes."""
        return float(np.clip(round(n * self.prevalence.mean()), 1, n - 1))

    def _nodes(self, n: int, degrees: tuple[int, int, int]) -> tuple[Array, Array, Array]:
        """Return positives, true positives and true negatives at the nodes, over three axes."""
        if self.fixed_totals:
            positives = np.array([self._fixed(n)])
        else:
            positives = _count(degrees[0], self.prevalence, np.array(float(n)))
        tp = _count(degrees[1], self.recall, positives)
        tn = _count(degrees[2], self.specificity, n - positives)
        return positives[:, None, None], tp[:, :, None], tn[:, None, :]

    def _dist(self, metric: Metric, positives: Array, tp: Array, tn: Array, n: int) -> Distribution:
        """Return the posterior that will be reported after given counts."""
        totals = np.stack([n - positives, positives], -1)
        rows = self.prior.rows + np.stack(
            [np.stack([tn, n - positives - tn], -1), np.stack([positives - tp, tp], -1)], -2
        )
        if self.fixed_totals:
            which = Concentrations(rows, totals / n, known=True)
        else:
            which = Concentrations(rows, self.prior.shares + totals, one_dirichlet=self.prior.one_dirichlet)
        dist = exact_distribution(metric, which)
        if dist is None:
            raise ValueError(
                f"`metric`: no exact distribution of {metric.name} is known, so its width can't be planned."
            )
        return dist

    def _exact(self, metric: Metric, positives: Array, tp: Array, tn: Array, n: int) -> Array:
        """Return the width of the interval that will be reported after given counts."""
        positives, tp, tn = np.broadcast_arrays(positives, tp, tn)
        if self.interval:
            cells = np.stack([np.stack([tn, n - positives - tn], -1), np.stack([positives - tp, tp], -1)], -2)
            successes, failures = parts(metric, cells)
            lower, upper = getattr(proportions, self.interval)(successes, successes + failures, self.ci_prob)
            return np.asarray(np.minimum(upper, 1.0) - np.maximum(lower, 0.0))
        found = self._dist(metric, positives, tp, tn, n).statistics(self.ci_prob, self.ci_kind)
        return np.broadcast_to(np.asarray(found["upper"] - found["lower"]), tp.shape)


def quantile(values: Array, weights: Array, probability: float) -> float:
    """Return the least value that holds at least a probability."""
    order = np.argsort(values)
    at = np.searchsorted(np.cumsum(weights[order]), probability - 1e-12)
    return float(values[order[min(int(at), len(order) - 1)]])


def _ends(rate: Rate, size: Array) -> tuple[Array, Array]:
    """Return the log-odds between which nearly all counts are."""
    low, high = rate.reach(size + 1.0, _REACH)
    edge = 1.0 / (2.0 * size + 1.0)  # the odds of a count of 0, see `_place`; added, so that there is no kink
    return np.log(low / np.maximum(1.0 - low, edge) + edge), -np.log((1.0 - high) / np.maximum(high, edge) + edge)


def _place(k: Array, size: Any, low: Any, high: Any) -> Array:
    """Return the places of counts on [-1, 1]: the log-odds log((k + 1/2) / (size - k + 1/2)) between two ends."""
    odds = np.log((k + 0.5) / (size - k + 0.5))
    return np.asarray(np.clip((odds - low) / np.maximum(high - low, 1e-12) * 2.0 - 1.0, -1.0, 1.0))


def _count(degree: int, rate: Rate, size: Array) -> Array:
    """Return the counts (..., nodes) of sizes (...) at the nodes: :func:`_place` undone."""
    low, high = _ends(rate, size[..., None])
    odds = low + (_chebyshev(degree) + 1.0) / 2.0 * (high - low)
    return np.asarray(np.clip(special.expit(odds) * (size[..., None] + 1.0) - 0.5, 0.0, size[..., None]))


def _chebyshev(degree: int) -> Array:
    """Return the Chebyshev nodes with the ends."""
    return -np.cos(np.pi * np.arange(degree) / (degree - 1))


def _weights(places: Array, degree: int) -> Array:
    """Return the weights with which values at the nodes give those at places, (places, nodes)."""
    if degree == 1:
        return np.ones((len(places), 1))
    return np.asarray(chebyshev.chebvander(places, degree - 1) @ _coefficients(degree))


@lru_cache
def _coefficients(degree: int) -> Array:
    """Return the coefficients of Chebyshev polynomials, (polynomials, nodes), of values at the nodes."""
    return np.asarray(np.linalg.inv(chebyshev.chebvander(_chebyshev(degree), degree - 1)))
