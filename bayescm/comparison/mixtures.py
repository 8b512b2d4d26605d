"""Ranks under a learnt prior: at each of its nodes the systems are independent, so the exact ranks are averaged."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bayescm._kernels.codes import NEVER
from bayescm.comparison import ranks
from bayescm.comparison.population import Learned

Array = NDArray[np.float64]
Integers = NDArray[np.intp]

_NODES = 2.5  # in a cell, for each standard deviation by which the number of systems above changes
_PIECE = 1024  # cells that are integrated together


def of_learned(dist: Learned) -> ranks.Exact:
    """Return the ranks of systems whose prior was learnt."""
    return ranks.Exact.mixed(dist.weight, [_of_cells(dist, cells) for cells in dist.cells])


def _of_cells(dist: Learned, cells: Array) -> ranks.Exact:
    """Return the ranks of independent systems that are uniform within cells, whose probabilities are given."""
    edges, before = dist.lattice.edges, np.cumsum(cells, 1) - cells
    median = dist.lattice.quantiles(cells, np.full((1, len(cells)), 0.5))[0]
    order = np.argsort(median, kind="stable")

    def above(cell: Integers, place: Array, some: Integers) -> Array:
        mass = cells[np.ix_(some, cell)]
        return np.clip(1.0 - before[np.ix_(some, cell)] - place * mass, 0.0, 1.0).T

    def pieces() -> Iterator[ranks.Piece]:
        for start in range(0, cells.shape[1], _PIECE):
            here = slice(start, start + _PIECE)
            some = order[cells[order, here].max(1) > NEVER]
            mass = cells[some, here]
            cell, place, weight = _inside(mass, before[some, here] + 0.5 * mass)
            weighted = np.ascontiguousarray((mass[:, cell] * weight).T)
            below = np.setdiff1d(np.flatnonzero(before[:, start] > 0.5), some)
            cell += start
            nodes, upper = edges[cell] + place * np.diff(edges)[cell], above(cell, place, some)
            yield ranks.Piece(some, below, nodes, np.ascontiguousarray(upper), weighted, fill)

    def fill(nodes: Array, some: Integers, upper: Array, density: Array) -> None:
        cell = np.clip(np.searchsorted(edges, nodes, side="right") - 1, 0, len(edges) - 2)
        upper[:] = above(cell, np.clip((nodes - edges[cell]) / np.diff(edges)[cell], 0.0, 1.0), some)

    return ranks.of_pieces(pieces(), len(cells), lambda nodes, by: dist.phi(dist.metric(nodes) + by))


def _inside(mass: Array, middle: Array) -> tuple[Integers, Array, Array]:
    """Return nodes within cells, more where the number of systems above changes more: cells, places and weights."""
    change = mass.sum(0) / np.sqrt((middle * (1.0 - middle)).clip(0.0).sum(0) + 0.25)
    most = (len(mass) + 1) // 2  # enough for any polynomial that the systems may make
    count = np.minimum(1 + np.ceil(_NODES * change).astype(np.intp), max(most, 1))
    count[mass.max(0, initial=0.0) < NEVER] = 0
    cell = np.repeat(np.arange(len(count)), count)
    place, weight = np.empty(len(cell)), np.empty(len(cell))
    for size in np.unique(count[count > 0]):
        x, w = np.polynomial.legendre.leggauss(size)
        own = count[cell] == size
        place[own], weight[own] = (np.tile(v, (count == size).sum()) for v in (0.5 * (1.0 + x), 0.5 * w))
    return cell, place, weight
