"""Ranks under a learnt prior: at each of its nodes the systems are independent, so the exact ranks are averaged."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm._kernels.codes import NEVER
from bayescm.comparison import ranks
from bayescm.comparison.population import Learned, quantile
from bayescm.distributions import Beta

Array = NDArray[np.float64]
Integers = NDArray[np.intp]


@dataclass(frozen=True)
class Mixed:
    """Probabilities of ranks, the best first, averaged over nodes.

    Attributes
    ----------
    weight : ndarray of shape (nodes,)
    parts : list of Exact
    """

    weight: Array
    parts: list[ranks.Exact]

    @property
    def ranks(self) -> Array:
        """P(rank), (systems, ranks)."""
        return self._mean([part.ranks for part in self.parts])

    @property
    def error(self) -> float:
        """How far the sums that must be 1 are from it."""
        return float(self.weight @ [part.error for part in self.parts])

    def smallest_first(self) -> "Mixed":
        """Return the ranks where small values are good."""
        return Mixed(self.weight, [part.smallest_first() for part in self.parts])

    def beats(self, system: int, others: Integers) -> Array:
        """Return the probabilities that a system is better than others."""
        return self._mean([part.beats(system, others) for part in self.parts])

    def pairwise(self) -> Array:
        """Return P(row is better than column)."""
        return self._mean([part.pairwise() for part in self.parts])

    def equivalent(self, rope: float) -> Array:
        """Return P(row and column differ by at most `rope`)."""
        return self._mean([part.equivalent(rope) for part in self.parts])

    def _mean(self, values: list[Array]) -> Array:
        return np.asarray(sum(weight * value for weight, value in zip(self.weight, values, strict=True)))


def of_learned(dist: Learned) -> Mixed:
    """Return the ranks of systems whose prior was learnt."""
    nodes = zip(dist.share, dist.a, dist.b, strict=True)
    return Mixed(dist.weight, [_of_two(share, Beta(a, b, dist.link)) for share, a, b in nodes])


def _of_two(share: Array, dist: Beta) -> ranks.Exact:
    """Return the ranks of independent mixtures of two Betas, (2, systems)."""
    betas = [ranks.Betas.of(Beta(a, b, dist.link)) for a, b in zip(dist.a, dist.b, strict=True)]
    used = share > NEVER

    def fill(nodes: Array, some: Integers, upper: Array, density: Array) -> None:
        one, slope = np.zeros((2, *upper.shape))
        for part, beta in enumerate(betas):
            beta.fill(nodes, some, one, slope)
            upper += share[part, some] * one
            density += share[part, some] * slope

    low = np.where(used, [beta.knots[:, 0] for beta in betas], np.inf).min(0)
    high = np.where(used, [beta.knots[:, -1] for beta in betas], -np.inf).max(0)
    ends = np.stack([low, _median(share, dist), high], axis=1)
    knots = np.concatenate([beta.knots[which] for beta, which in zip(betas, used, strict=True)])
    return ranks.refined(knots, fill, ends, ranks.shifted(dist.link))


def _median(share: Array, dist: Beta) -> Array:
    """Return the medians of mixtures in log-odds."""

    def both(y: Array) -> tuple[Array, Array]:
        x = special.expit(y)
        rate = Beta(dist.a, dist.b)
        return (share * rate.cdf(x)).sum(0), (share * rate.pdf(x)).sum(0) * x * special.expit(-y)

    mean = (share * dist.a / (dist.a + dist.b)).sum(0)
    return quantile(both, 0.5, special.logit(mean), np.full(len(mean), -700.0), np.full(len(mean), 700.0))
