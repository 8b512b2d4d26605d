"""Cells on the scale arcsin(sqrt(rate)) that all systems of a leaderboard share, and their likelihoods there.

On that scale a proportion of n items has the standard deviation 1/(2 sqrt(n)) whatever it is. Where nobody can be,
cells are coarse; elsewhere as fine as is needed for the system there with most items.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]
Integers = NDArray[np.intp]

END = 0.5 * np.pi
_FINENESS = 0.2  # of a cell, in standard deviations of the noise
_COARSEST = 256  # cells of the lattice, at least
_FAINT = 23.0  # a likelihood below exp(-23) of its largest is none
_BLOCK = 1024  # cells at a time


class Part(NamedTuple):
    """Some neighbouring cells, and the systems that may lie in them.

    Attributes
    ----------
    cells : slice
    some : ndarray of int
        Systems.
    likelihood : ndarray of shape (some, cells)
        At the middles of the cells, as a density.
    """

    cells: slice
    some: Integers
    likelihood: Array


@dataclass(frozen=True, eq=False)
class Lattice:
    """Cells, and the likelihoods of all systems.

    Attributes
    ----------
    edges : ndarray of shape (cells + 1,)
    parts : list of Part
    systems : int
    """

    edges: Array
    parts: list[Part]
    systems: int

    @classmethod
    def of_counts(cls, right: Array, wrong: Array) -> "Lattice":
        """Return the lattice of systems that got so many items right and wrong."""
        items = right + wrong
        place = np.arcsin(np.sqrt(np.divide(right, items, out=np.full(len(items), 0.5), where=items > 0.0)))
        reach = np.sqrt(_FAINT / np.maximum(items, 1.0))  # the log likelihood falls by n d^2 at least
        low, high = np.clip(place - reach, 0.0, END), np.clip(place + reach, 0.0, END)
        edges = _edges(low, high, 0.5 / np.sqrt(items + 1.0))
        parts = []
        for start in range(0, len(edges) - 1, _BLOCK):
            own = edges[start : start + _BLOCK + 1]
            some = np.flatnonzero((low < own[-1]) & (high > own[0]))
            k, m, best = (v[some, None] for v in (right, wrong, place))
            phi = 0.5 * (own[1:] + own[:-1])
            logs = special.xlogy(k, np.sin(phi)) - special.xlogy(k, np.sin(best))
            logs += special.xlogy(m, np.cos(phi)) - special.xlogy(m, np.cos(best))
            parts.append(Part(slice(start, start + len(phi)), some, np.exp(2.0 * np.minimum(logs, 0.0))))
        whole = cls(edges, parts, len(right)).summed(np.diff(edges)[:, None])
        for part in parts:
            part.likelihood[:] /= whole[part.some]
        return cls(edges, parts, len(right))

    def summed(self, values: Array) -> Array:
        """Return sums over the cells of likelihoods times values (cells, n), (systems, n)."""
        out = np.zeros((self.systems, values.shape[1]))
        for part in self.parts:
            out[part.some] += part.likelihood @ values[part.cells]
        return out

    @property
    def middle(self) -> Array:
        """Middles of the cells."""
        return 0.5 * (self.edges[1:] + self.edges[:-1])

    @cached_property
    def flat(self) -> Array:
        """Probabilities of the cells if rates are uniform."""
        return np.diff(np.sin(self.edges) ** 2)

    @cached_property
    def moments(self) -> tuple[Array, Array]:
        """Means and variances of the likelihoods as densities; a cell's own width belongs to the noise."""
        width, middle = np.diff(self.edges), self.middle
        mean, square = self.summed(np.stack([width * middle, width * middle**2], 1)).T
        return mean, np.maximum(square - mean**2, np.interp(mean, middle, width) ** 2 / 12.0)


def _edges(low: Array, high: Array, noise: Array) -> Array:
    """Return edges of cells as fine as the least noise of the systems that may lie there."""
    points = np.unique(np.concatenate([[0.0, END], low, high]))
    density = np.full(len(points) - 1, _COARSEST / END)
    for s in np.argsort(-noise, kind="stable"):
        first, last = np.searchsorted(points, [low[s], high[s]])
        density[first:last] = max(1.0 / (_FINENESS * noise[s]), _COARSEST / END)
    cells = np.concatenate([[0.0], np.cumsum(density * np.diff(points))])
    edges = np.interp(np.linspace(0.0, cells[-1], int(np.ceil(cells[-1])) + 1), cells, points)
    edges[[0, -1]] = 0.0, END
    return np.asarray(edges)
