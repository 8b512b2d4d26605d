"""A prior learnt from the systems themselves: their rates scatter, and all of them together say how.

The prior of :mod:`bayescm.comparison.clusters` is integrated by nodes. A node gives every cell of a lattice a
probability, so that evidence and posteriors of all systems are products of matrices. Given a node systems are
independent. Nodes that say much the same of the leaders are merged.
"""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bayescm.comparison import clusters
from bayescm.comparison.clusters import Nodes
from bayescm.comparison.lattice import Lattice

Array = NDArray[np.float64]
Integers = NDArray[np.intp]

_DROPPED = 3e-3  # probability of the nodes left out
_GROUPS, _FEW, _EACH = 16, 2, 1600  # merged nodes: at most, at least, and times systems
_LEADERS, _SAMPLE = 4, 2000  # systems and nodes by which nodes are merged
_BLOCK = 2**20  # probabilities of cells at a time


@dataclass(frozen=True, eq=False)
class Learned:
    """The posterior of all systems: a mixture of merged nodes, at each of which systems are independent.

    Attributes
    ----------
    lattice : Lattice
    weight : ndarray of shape (nodes,)
    cells : list of ndarray of shape (systems, cells)
        Posterior probabilities of the lattice's cells at each node.
    link : {"identity", "f1"}
        From the rate to the metric.
    """

    lattice: Lattice
    weight: Array
    cells: list[Array]
    link: Literal["identity", "f1"]

    @cached_property
    def _mixed(self) -> Array:
        """Posterior probabilities of the cells."""
        return np.asarray(sum(weight * cells for weight, cells in zip(self.weight, self.cells, strict=True)))

    def between(self) -> tuple[float, float]:
        """Return the mean of the systems' metrics, and the standard deviation between them."""
        metric, variance = self.metric(self.lattice.middle), 0.0
        for weight, cells in zip(self.weight, self.cells, strict=True):
            mean, square = cells @ metric, cells @ metric**2
            n = len(mean)
            own = np.maximum(square - mean**2, 0.0).mean()  # given a node systems are independent
            variance += weight * (mean.var() * n / max(n - 1, 1) + own)
        return float(self.mean().mean()), float(np.sqrt(variance))

    def metric(self, phi: Array) -> Array:
        """Return the metric at places on the scale of the arcsine."""
        rate = np.sin(phi) ** 2
        return np.asarray(2.0 * rate / (1.0 + rate) if self.link == "f1" else rate)

    def phi(self, metric: Array) -> Array:
        """Return the places of metrics."""
        rate = metric / (2.0 - metric) if self.link == "f1" else metric
        return np.asarray(np.arcsin(np.sqrt(np.clip(rate, 0.0, 1.0))))

    def mean(self) -> Array:
        """Return the mean of each system's metric."""
        return np.asarray(self._mixed @ self.metric(self.lattice.middle))

    def eti(self, prob: float) -> tuple[Array, Array]:
        """Return the equal-tailed interval of each system's metric."""
        tails = np.outer([(1.0 - prob) / 2.0, (1.0 + prob) / 2.0], np.ones(len(self._mixed)))
        low, high = self.metric(self.lattice.quantiles(self._mixed, tails))
        return low, high

    def draw(self, draws: int, rng: np.random.Generator) -> Array:
        """Draw metrics, (draws, systems); given a node systems are independent."""
        node = np.sort(rng.choice(len(self.weight), draws, p=self.weight))
        u = rng.random((draws, len(self._mixed)))
        for i in np.unique(node):
            u[node == i] = self.lattice.quantiles(self.cells[i], u[node == i])
        return self.metric(u)[rng.permutation(draws)]


def learn(
    right: Array, wrong: Array, link: Literal["identity", "f1"] = "identity", *, smallest: bool = False
) -> Learned:
    """Learn from how many items each system got right and wrong; `smallest` are the leaders, or the largest."""
    lattice = Lattice.of_counts(np.asarray(right, np.float64), np.asarray(wrong, np.float64))
    nodes = clusters.nodes(*lattice.moments(), lattice.likelihood @ np.diff(np.sin(lattice.edges) ** 2))
    evidence = _evidence(lattice, nodes)
    kept, weight = _likeliest(nodes.log_prior + np.log(evidence).sum(1))
    nodes, evidence = nodes.take(kept), evidence[kept]
    label = _groups(_said(lattice, nodes, weight, smallest), weight, len(right))
    groups = [np.flatnonzero(label == group) for group in np.unique(label)]
    cells = [_posterior(lattice, nodes.take(some), weight[some], evidence[some]) for some in groups]
    return Learned(lattice, np.array([weight[some].sum() for some in groups]), cells, link)


def _evidence(lattice: Lattice, nodes: Nodes) -> Array:
    """Return the evidence of systems, (nodes, systems)."""
    step = max(_BLOCK // len(lattice.edges), 1)
    blocks = (nodes.take(slice(start, start + step)) for start in range(0, len(nodes.share), step))
    found = [np.maximum(some.cells(lattice.edges) @ lattice.likelihood.T, 1e-300) for some in blocks]
    return np.concatenate(found)


def _likeliest(logs: Array) -> tuple[Integers, Array]:
    """Return which nodes matter, and their weights."""
    order = np.argsort(-logs, kind="stable")
    weight = np.exp(logs[order] - logs[order[0]])
    total = np.cumsum(weight)
    count = int(np.searchsorted(total, (1.0 - _DROPPED) * total[-1])) + 1
    return order[:count], weight[:count] / total[count - 1]


def _said(lattice: Lattice, nodes: Nodes, weight: Array, smallest: bool) -> Array:
    """Return the means and standard deviations of the leaders at nodes, (nodes, moments)."""
    x, prior = lattice.middle, nodes.cells(lattice.edges)
    whole, mean = (lattice.likelihood @ (x**power * (weight @ prior)) for power in (0, 1))
    leaders = np.argsort(mean / whole * (1.0 if smallest else -1.0), kind="stable")[:_LEADERS]
    whole, mean, square = (prior @ (x**power * lattice.likelihood[leaders]).T for power in range(3))
    mean, square = mean / whole, square / whole
    return np.concatenate([mean, np.sqrt(np.maximum(square - mean**2, 0.0))], 1)


def _groups(said: Array, weight: Array, systems: int) -> Integers:
    """Return a number for each node, the same of nodes that say much the same (nodes, moments)."""
    from scipy.cluster.vq import kmeans2, vq

    groups = int(np.clip(_EACH // systems, _FEW, _GROUPS))
    if len(weight) <= groups:
        return np.arange(len(weight))
    steps = (np.arange(_SAMPLE) + 0.5) / _SAMPLE
    some = np.searchsorted(np.cumsum(weight), steps * weight.sum()).clip(max=len(weight) - 1)
    scaled = said / max(said[some].std(0).mean(), 1e-300)
    centres = np.unique(scaled[some], axis=0)
    if len(centres) > groups:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of a group that is left empty
            centres = kmeans2(scaled[some], groups, minit="++", rng=1)[0]
    return np.asarray(vq(scaled, centres)[0], np.intp)


def _posterior(lattice: Lattice, nodes: Nodes, weight: Array, evidence: Array) -> Array:
    """Return the posterior probabilities of cells, (systems, cells), by nodes that are taken as one."""
    scaled = (weight / weight.sum())[:, None] / evidence
    return np.asarray(lattice.likelihood * (scaled.T @ nodes.cells(lattice.edges)))
