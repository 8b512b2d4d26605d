"""A prior learnt from the systems themselves: their rates scatter, and all of them together say how.

On phi = arcsin(sqrt(rate)) a system is of one of two clusters, normal with unknown places, scatters and shares, or of
a broad rest, whose rates are uniform. So systems may be close, in groups, or apart from all others, and which of it is
the case is learnt. Places, and the share of the first of the two clusters, are uniform; the share of the rest is
Beta(1, 3); scatters are half-Cauchy. All six are integrated by the midpoint rule on a grid that the board's own noise
makes: nothing is left to chance.

A node of the grid gives every cell of a lattice a probability, so that evidence and posteriors of all systems are
products of matrices. Given a node systems are independent. Nodes that say much the same of the leaders are merged.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.comparison.lattice import END, Lattice, Part

Array = NDArray[np.float64]
Integers = NDArray[np.intp]

SCATTER, WIDEST = 0.02, 0.45
"""Scale of the half-Cauchy scatter of a cluster on the scale of the arcsine, and the largest scatter."""
_CLUSTERS = 3.0  # prior weight of the clusters beside that of the rest, 1
_STEP = 1.7  # of a grid, in standard deviations of what is integrated: the midpoint rule is right to .003 of it
_LEAST, _MOST = 4, 20  # systems between which grids get finer
_ALONE = 2.0  # further systems by which places are laid out, so that the density of one by itself is smooth
_ROUGH = 32  # systems that stand for many, to find the nodes that matter
_PAIRED, _PARTNERS, _ROUNDS = 500, 24, 3  # clusters of which all pairs are tried; else they are sought in rounds
_MESH, _SOME = 1500, 200  # points and systems by which places are laid out
_EM = 6  # steps, after which few pairs gain more than a logarithm
_UNLIKELY = 10.0  # logarithms below the best pair of clusters
_DROPPED = 3e-3  # probability of the nodes left out
_GROUPS, _FEW, _EACH = 32, 4, 1600  # merged nodes: at most, at least, and times systems
_LEADERS, _SAMPLE = 4, 2000  # systems and nodes by which nodes are merged
_BLOCK = 2**15  # numbers that stay in cache


class Nodes(NamedTuple):
    """Pairs of clusters by their numbers, shares (nodes, 3) of the rest and of both, and the nodes' weights."""

    first: Integers
    second: Integers
    share: Array
    weight: Array

    def take(self, which: Integers | slice) -> "Nodes":
        """Return some nodes."""
        return Nodes(self.first[which], self.second[which], self.share[which], self.weight[which])

    def mixed(self, rest: Array, table: Array) -> Array:
        """Return (nodes, systems), of what the rest (systems,) and each cluster (clusters, systems) say."""

        def some(i: slice) -> Array:
            rows = self.share[i, :1] * rest
            rows += self.share[i, 1:2] * table[self.first[i]]
            rows += self.share[i, 2:] * table[self.second[i]]
            return rows

        return _in_blocks(len(self.weight), len(rest), some)


class Merged(NamedTuple):
    """Some nodes as one: their weight, and prior probabilities of cells as sums over clusters.

    Attributes
    ----------
    weight : float
    clusters : ndarray of int
    share : ndarray of shape (clusters, systems)
        Of each cluster, divided by the systems' evidence.
    rest : ndarray of shape (systems,)
        Of the rest, as well.
    """

    weight: float
    clusters: Integers
    share: Array
    rest: Array


@dataclass(frozen=True, eq=False)
class Learned:
    """The posterior of all systems: a mixture of merged nodes, at each of which systems are independent.

    Attributes
    ----------
    lattice : Lattice
    place, scatter : ndarray of shape (clusters,)
    merged : list of Merged
    link : {"identity", "f1"}
        From the rate to the metric.
    """

    lattice: Lattice
    place: Array
    scatter: Array
    merged: list[Merged]
    link: Literal["identity", "f1"]

    @property
    def weight(self) -> Array:
        """Weights of the merged nodes."""
        return np.array([one.weight for one in self.merged])

    def cells(self, one: Merged) -> list[Array]:
        """Return the posterior probabilities of the cells of each part, (some, cells)."""
        place, scatter = self.place[one.clusters], self.scatter[one.clusters]
        found = [
            part.likelihood
            * (
                one.share[:, part.some].T @ cluster_cells(self.lattice, part, place, scatter)
                + one.rest[part.some, None] * self.lattice.flat[part.cells]
            )
            for part in self.lattice.parts
        ]
        whole = np.zeros(self.lattice.systems)
        for part, cells in zip(self.lattice.parts, found, strict=True):
            whole[part.some] += cells.sum(1)
        return [cells / whole[part.some, None] for part, cells in zip(self.lattice.parts, found, strict=True)]

    @cached_property
    def _known(self) -> tuple[list[Array], float]:
        """Posterior probabilities of the cells of each part, and the mean variance of the metric between systems."""
        out = [np.zeros(part.likelihood.shape) for part in self.lattice.parts]
        n, between = self.lattice.systems, 0.0
        for one in self.merged:
            found = self.cells(one)
            for total, cells in zip(out, found, strict=True):
                total += one.weight * cells
            mean, square = self._moments(found)
            own = np.maximum(square - mean**2, 0.0).sum() * (
                1.0 / n - 1.0 / n**2
            )  # given a node systems are independent
            between += one.weight * (mean.var() + own) * n / max(n - 1, 1)
        return out, float(between)

    def _moments(self, cells: list[Array]) -> tuple[Array, Array]:
        """Return the means of each system's metric, and of its square."""
        out, metric = np.zeros((2, self.lattice.systems)), self.metric(self.lattice.middle)
        for part, own in zip(self.lattice.parts, cells, strict=True):
            out[:, part.some] += own @ metric[part.cells], own @ metric[part.cells] ** 2
        return out[0], out[1]

    def between(self) -> tuple[float, float]:
        """Return the mean of the systems' metrics, and the standard deviation between them."""
        return float(self.mean().mean()), float(np.sqrt(self._known[1]))

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
        return self._moments(self._known[0])[0]

    def eti(self, prob: float) -> tuple[Array, Array]:
        """Return the equal-tailed interval of each system's metric."""
        tails = (1.0 - prob) / 2.0, (1.0 + prob) / 2.0
        low, high = (self.metric(quantiles(self.lattice, self._known[0], np.full((1, self.lattice.systems), p))[0])
                     for p in tails)  # fmt: skip
        return low, high

    def draw(self, draws: int, rng: np.random.Generator) -> Array:
        """Draw metrics, (draws, systems); given a node systems are independent."""
        node = np.sort(rng.choice(len(self.merged), draws, p=self.weight))
        u = rng.random((draws, self.lattice.systems))
        for i in np.unique(node):
            u[node == i] = quantiles(self.lattice, self.cells(self.merged[i]), u[node == i])
        return self.metric(u)[rng.permutation(draws)]


def quantiles(lattice: Lattice, cells: list[Array], p: Array) -> Array:
    """Return places below which systems lie with probabilities p (n, systems), given those of cells."""
    out, start = np.zeros_like(p), np.zeros(lattice.systems)
    for part, mass in zip(lattice.parts, cells, strict=True):
        edges = lattice.edges[part.cells.start : part.cells.stop + 1]
        for row, s in enumerate(part.some):
            below = start[s] + np.concatenate([[0.0], np.cumsum(mass[row])])
            inside = p[:, s] > start[s]
            out[inside, s] = np.interp(p[inside, s], below, edges)
            start[s] = below[-1]
    return out


def cluster_cells(lattice: Lattice, part: Part, place: Array, scatter: Array) -> Array:
    """Return the probabilities of a part's cells in clusters, whose rates are normal between 0 and 1."""
    edges = lattice.edges[part.cells.start : part.cells.stop + 1]
    place, scatter = place[:, None], scatter[:, None]
    inside = special.ndtr((END - place) / scatter) - special.ndtr(-place / scatter)
    return np.asarray(np.diff(special.ndtr((edges - place) / scatter), axis=1) / inside)


def learn(
    right: Array, wrong: Array, link: Literal["identity", "f1"] = "identity", *, smallest: bool = False
) -> Learned:
    """Learn from how many items each system got right and wrong; `smallest` are the leaders, or the largest."""
    lattice = Lattice.of_counts(np.asarray(right, np.float64), np.asarray(wrong, np.float64))
    place, scatter, mass = clusters(lattice)
    rest = lattice.summed(lattice.flat[:, None])[:, 0]
    nodes = _nodes(lattice, rest, _table(lattice, place, scatter), mass)
    used, number = np.unique(np.stack([nodes.first, nodes.second]), return_inverse=True)
    place, scatter, nodes = place[used], scatter[used], nodes._replace(first=number[0], second=number[1])
    tables = [_table(lattice, place, scatter, power) for power in range(3)]
    evidence = nodes.mixed(rest, tables[0])
    flat = lattice.summed(np.stack([lattice.flat * lattice.middle**power for power in (1, 2)], 1)).T
    means = (nodes.weight @ (nodes.mixed(flat[0], tables[1]) / evidence)) * (-1.0 if smallest else 1.0)
    top = np.argsort(-means, kind="stable")[:_LEADERS]
    one, two = (nodes.mixed(flat[i, top], tables[1 + i][:, top]) / evidence[:, top] for i in (0, 1))
    label = _groups(np.concatenate([one, np.sqrt(np.maximum(two - one**2, 0.0))], 1), nodes.weight, lattice.systems)
    merged = [_merged(nodes, evidence, np.flatnonzero(label == group)) for group in np.unique(label)]
    return Learned(lattice, place, scatter, merged, link)


def _table(lattice: Lattice, place: Array, scatter: Array, power: int = 0) -> Array:
    """Return each system's evidence of clusters, (clusters, systems), or its integral with a power of the place."""
    out = np.zeros((len(place), lattice.systems))
    for part in lattice.parts:
        cells = cluster_cells(lattice, part, place, scatter)
        if power:
            cells *= lattice.middle[part.cells] ** power
        out[:, part.some] += cells @ part.likelihood.T
    return np.maximum(out, 1e-300)


def _merged(nodes: Nodes, evidence: Array, which: Integers) -> Merged:
    """Return nodes as one."""
    own = nodes.take(which)
    weight = float(own.weight.sum())
    scaled = own.weight[:, None] / weight / evidence[which]
    used, places = np.unique(np.concatenate([own.first, own.second]), return_inverse=True)
    share = np.zeros((len(used), evidence.shape[1]))
    np.add.at(share, places[: len(which)], own.share[:, 1:2] * scaled)
    np.add.at(share, places[len(which) :], own.share[:, 2:] * scaled)
    return Merged(weight, used, share, own.share[:, 0] @ scaled)


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


def _nodes(lattice: Lattice, rest: Array, table: Array, mass: Array) -> Nodes:
    """Return the nodes that matter, by the evidence of the rest (systems,) and of clusters (clusters, systems)."""
    rough, times = _standing(lattice, np.concatenate([table, rest[None]]))
    rough, some = rough[:-1], rough[-1]
    first, second = np.triu_indices(len(mass))
    prior = np.log(mass[first]) + np.log(mass[second]) + np.where(first < second, np.log(2.0), 0.0)
    best = _profiles(some, rough, first, second, times)
    kept = np.flatnonzero(best + prior > (best + prior).max() - _UNLIKELY)
    first, second, prior = first[kept], second[kept], prior[kept]
    shares, likely = _shares(_effective(lattice))

    def evidence(i: slice) -> Array:
        one, other = rough[first[i]], rough[second[i]]
        return np.stack([np.log(part[0] * some + part[1] * one + part[2] * other) @ times for part in shares], 1)

    logs = _in_blocks(len(first), len(times), evidence)
    before = (prior[:, None] + np.log(likely)).ravel()
    which, weight = _kept(logs.ravel() + before)
    pair, point = np.divmod(which, len(likely))
    nodes = Nodes(first[pair], second[pair], shares[point], weight)
    if len(times) < lattice.systems:
        exact = _in_blocks(len(weight), lattice.systems, lambda i: np.log(nodes.take(i).mixed(rest, table)).sum(1))
        which, weight = _kept(before[which] + exact)
        nodes = nodes.take(which)._replace(weight=weight)
    return nodes


def _kept(logs: Array) -> tuple[Integers, Array]:
    """Return which nodes matter, and their weights."""
    some = np.flatnonzero(logs > logs.max() - 2.0 * _UNLIKELY)
    order = some[np.argsort(-logs[some], kind="stable")]
    weight = np.exp(logs[order] - logs[order[0]])
    total = np.cumsum(weight)
    count = int(np.searchsorted(total, (1.0 - _DROPPED) * total[-1])) + 1
    return order[:count], weight[:count] / total[count - 1]


def _in_blocks(size: int, width: int, function: Callable[[slice], Array]) -> Array:
    """Return what a function gives for slices of so many rows, each as wide, that their numbers stay in cache."""
    step = max(_BLOCK // width, 1)
    return np.concatenate([function(slice(start, start + step)) for start in range(0, size, step)])


def _standing(lattice: Lattice, table: Array) -> tuple[Array, Array]:
    """Return numbers (any, systems) of few systems that stand for many, and for how many each."""
    systems = lattice.systems
    if systems <= 2 * _ROUGH:
        return table, np.ones(systems)
    mean, noise = lattice.moments
    order = np.lexsort((mean, np.round(np.log2(noise))))
    starts = np.linspace(0, systems, _ROUGH + 1).astype(np.intp)[:-1]
    times = np.diff(np.append(starts, systems)).astype(np.float64)
    return np.add.reduceat(table[:, order], starts, 1) / times, times


def _profiles(rest: Array, table: Array, first: Integers, second: Integers, times: Array) -> Array:
    """Return about the largest log evidence that any shares give pairs of clusters, by steps of EM."""

    def some(i: slice) -> Array:
        one, other = table[first[i]], table[second[i]]
        share = np.full((len(one), 3), 1.0 / 3.0)
        for _ in range(_EM):
            parts = share[:, :1] * rest, share[:, 1:2] * one, share[:, 2:] * other
            total = parts[0] + parts[1] + parts[2]
            share = np.stack([(part / total) @ times for part in parts], 1) / times.sum()
        return np.asarray(np.log(total) @ times)

    return _in_blocks(len(first), len(times), some)


def _effective(lattice: Lattice) -> float:
    """Return of how many systems grids are made fine enough."""
    return float(np.clip(lattice.systems, _LEAST, _MOST))


def clusters(lattice: Lattice) -> tuple[Array, Array, Array]:
    """Return places and scatters that a cluster may have, and their prior probabilities."""
    mean, noise = lattice.moments
    stride = -(-lattice.systems // _SOME)
    some = np.argsort(mean, kind="stable")[::stride]
    mesh = np.append(lattice.edges[: -1 : max(len(lattice.edges) // _MESH, 1)], END)
    found = []
    for scatter, mass in zip(*_scatters(0.5 * np.sqrt(noise.min()), _effective(lattice)), strict=True):
        at, share = _places(mean[some], scatter**2 + noise[some], mesh, stride)
        found.append((at, np.full(len(at), scatter), mass * share))
    place, scatters, prior = (np.concatenate(one) for one in zip(*found, strict=True))
    likely = _likely(lattice, place, scatters, prior) if len(place) > _PAIRED else slice(None)
    return place[likely], scatters[likely], prior[likely]


def _likely(lattice: Lattice, place: Array, scatter: Array, mass: Array) -> Integers:
    """Return the clusters that go best with others, as if likelihoods were normal: of all pairs there are too many."""
    mean, noise = lattice.moments
    (mean, noise), times = _standing(lattice, np.stack([mean, noise]))
    variance = scatter[:, None] ** 2 + noise
    table = np.exp(-0.5 * (mean - place[:, None]) ** 2 / variance) / np.sqrt(2.0 * np.pi * variance)
    rest, partners = np.sin(2.0 * mean) + 1e-12, np.arange(0, len(place), len(place) // _PARTNERS)
    for _ in range(_ROUNDS):
        first, second = np.repeat(np.arange(len(place)), len(partners)), np.tile(partners, len(place))
        logs = _profiles(rest, table, first, second, times) + np.log(mass[first] * mass[second])
        best = logs.reshape(len(place), -1).max(1)
        order = np.argsort(-best, kind="stable")
        partners = order[:_PARTNERS]
    return np.sort(order[:_PAIRED])


def _scatters(least: float, effective: float) -> tuple[Array, Array]:
    """Return scatters and their prior probabilities, steps of sinh, as fine as so many systems tell them apart."""
    reach = np.arcsinh(WIDEST / least)
    count = int(np.ceil(reach * np.sqrt(2.0 * effective) / _STEP))
    scatter = least * np.sinh(np.linspace(0.0, reach, 2 * count + 1))
    below = np.arctan(scatter / SCATTER) / np.arctan(WIDEST / SCATTER)
    return scatter[1::2], np.diff(below[::2])


def _places(mean: Array, variance: Array, mesh: Array, stride: int) -> tuple[Array, Array]:
    """Return places and their prior probabilities, fine where systems are that a cluster may hold."""
    near = stride * np.exp(-0.25 * (mesh[:, None] - mean) ** 2 / variance)
    there = np.maximum(near.sum(1), 1e-9)
    precision = (near / variance).sum(1) * (np.minimum(1.0, _MOST / there) + _ALONE * np.minimum(1.0, 1.0 / there))
    density = (np.sqrt(precision) + 10.0 / END) / _STEP
    cells = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(mesh))])
    at = np.interp(np.linspace(0.0, cells[-1], 2 * int(np.ceil(cells[-1])) + 1), cells, mesh)
    return at[1::2], np.diff(at[::2]) / END


def _shares(effective: float) -> tuple[Array, Array]:
    """Return shares of the rest and of both clusters, (points, 3), and their prior probabilities."""
    count = int(np.ceil(2.0 * END * np.sqrt(effective) / _STEP))
    angle = (np.arange(count) + 0.5) * END / count
    share, slope = np.sin(angle) ** 2, np.sin(2.0 * angle)
    rest, first = np.repeat(share, count), np.tile(share, count)
    mass = np.repeat(slope * (1.0 - share) ** (_CLUSTERS - 1.0), count) * np.tile(slope, count)
    return np.stack([rest, (1.0 - rest) * first, (1.0 - rest) * (1.0 - first)], 1), mass / mass.sum()
