"""Ranks under a learnt prior: at each of its nodes the systems are independent, so the exact ranks are averaged."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayescm._kernels.dispatch import constants
from bayescm.comparison import population, ranks
from bayescm.comparison.population import Learned

Array = NDArray[np.float64]
Integers = NDArray[np.intp]

_TAILS = 0.05, 0.95
_NODES = 2.5  # in a cell, for each standard deviation by which the number of systems above changes


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

    def between(self, system: int) -> tuple[float, float]:
        """Return between which P(best) of a system is with a probability of .9, given how the systems scatter."""
        best = np.array([part.ranks[system, 0] for part in self.parts])
        order = np.argsort(best)
        shares = np.cumsum(self.weight[order]) / self.weight.sum()
        low, high = best[order][np.searchsorted(shares, _TAILS).clip(max=len(best) - 1)]
        return float(low), float(high)

    def _mean(self, values: list[Array]) -> Array:
        return np.asarray(sum(weight * value for weight, value in zip(self.weight, values, strict=True)))


def of_learned(dist: Learned) -> Mixed:
    """Return the ranks of systems whose prior was learnt."""
    return Mixed(dist.weight, [_of_cells(dist, dist.cells(one)) for one in dist.merged])


def _of_cells(dist: Learned, cells: list[Array]) -> ranks.Exact:
    """Return the ranks of independent systems that are uniform within cells, whose probabilities are given."""
    lattice = dist.lattice
    systems = lattice.systems
    starts = [np.zeros(systems)]
    for part, mass in zip(lattice.parts, cells, strict=True):
        starts.append(starts[-1].copy())
        starts[-1][part.some] += mass.sum(1)
    median = population.quantiles(lattice, cells, np.full((1, systems), 0.5))[0]

    def pieces() -> Iterator[tuple[ranks.Piece, Integers]]:
        for part, mass, start in zip(lattice.parts, cells, starts, strict=False):
            order = np.argsort(median[part.some], kind="stable")
            some, mass = part.some[order], mass[order]
            before = start[some, None] + np.cumsum(mass, 1) - mass
            cell, place, weight = _inside(mass, before + 0.5 * mass)
            upper = np.clip(1.0 - before[:, cell] - place * mass[:, cell], 0.0, 1.0).T
            edges = lattice.edges[part.cells.start : part.cells.stop + 1]
            nodes = edges[cell] + place * np.diff(edges)[cell]
            below = np.setdiff1d(np.flatnonzero(start > 0.5), some)
            weighted = np.ascontiguousarray((mass[:, cell] * weight).T)
            yield (
                ranks.Piece(some, below, nodes, np.ascontiguousarray(upper), weighted),
                np.searchsorted(median[some], nodes),
            )

    def fill(nodes: Array, some: Integers, upper: Array, density: Array) -> None:
        upper[:] = 1.0
        for part, mass in zip(lattice.parts, cells, strict=True):
            edges = lattice.edges[part.cells.start : part.cells.stop + 1]
            cell, place = _located(nodes, edges)
            below = np.concatenate([np.zeros((len(mass), 1)), np.cumsum(mass, 1)], 1)
            found = np.zeros((len(nodes), systems))
            found[:, part.some] = (below[:, cell] + place * np.diff(below, axis=1)[:, cell]).T
            upper -= found[:, some]

    def shift(nodes: Array, by: float) -> Array:
        return dist.phi(dist.metric(nodes) + by)

    return ranks.of_pieces(pieces(), systems, fill, shift)


def _located(nodes: Array, edges: Array) -> tuple[Integers, Array]:
    """Return the cells of nodes, and where in them, from 0 to 1; nodes beyond are at the ends."""
    cell = np.clip(np.searchsorted(edges, nodes, side="right") - 1, 0, len(edges) - 2)
    return cell, np.clip((nodes - edges[cell]) / np.diff(edges)[cell], 0.0, 1.0)


def _inside(mass: Array, middle: Array) -> tuple[Integers, Array, Array]:
    """Return nodes within cells, more where the number of systems above changes more: cells, places and weights."""
    change = mass.sum(0) / np.sqrt((middle * (1.0 - middle)).clip(0.0).sum(0) + 0.25)
    most = (len(mass) + 1) // 2  # enough for any polynomial that the systems may make
    count = np.minimum(1 + np.ceil(_NODES * change).astype(np.intp), max(most, 1))
    count[mass.max(0) < constants("rank_sums").NEVER] = 0
    cell = np.repeat(np.arange(len(count)), count)
    place, weight = np.empty(len(cell)), np.empty(len(cell))
    for size in np.unique(count[count > 0]):
        x, w = np.polynomial.legendre.leggauss(size)
        own = count[cell] == size
        place[own], weight[own] = (np.tile(v, (count == size).sum()) for v in (0.5 * (1.0 + x), 0.5 * w))
    return cell, place, weight
