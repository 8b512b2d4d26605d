"""Cells on the scale arcsin(sqrt(rate)) that all systems of a leaderboard share, and their likelihoods there.

On that scale a proportion of n items has the standard deviation 1/(2 sqrt(n)) whatever it is. Where nobody can be,
cells are coarse; elsewhere as fine as is needed for the system there with most items.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]

END = 0.5 * np.pi
_FINENESS = 0.2  # of a cell, in standard deviations of the noise
_COARSEST = 256  # cells of the lattice, at least
_FAINT = 23.0  # a likelihood below exp(-23) of its largest is none


@dataclass(frozen=True, eq=False)
class Lattice:
    """Cells, and the likelihoods of all systems.

    Attributes
    ----------
    edges : ndarray of shape (cells + 1,)
    likelihood : ndarray of shape (systems, cells)
        At the middles of the cells, as a density.
    """

    edges: Array
    likelihood: Array

    @classmethod
    def of_counts(cls, right: Array, wrong: Array) -> "Lattice":
        """Return the lattice of systems that got so many items right and wrong."""
        items = right + wrong
        place = np.arcsin(np.sqrt(np.divide(right, items, out=np.full(len(items), 0.5), where=items > 0.0)))
        reach = np.sqrt(_FAINT / np.maximum(items, 1.0))  # the log likelihood falls by n d^2 at least
        edges = _edges(np.clip(place - reach, 0.0, END), np.clip(place + reach, 0.0, END), 0.5 / np.sqrt(items + 1.0))
        k, m, best, phi = right[:, None], wrong[:, None], place[:, None], 0.5 * (edges[1:] + edges[:-1])
        logs = special.xlogy(k, np.sin(phi)) - special.xlogy(k, np.sin(best))
        logs += special.xlogy(m, np.cos(phi)) - special.xlogy(m, np.cos(best))
        likelihood = np.exp(2.0 * np.minimum(logs, 0.0))
        return cls(edges, likelihood / (likelihood @ np.diff(edges))[:, None])

    @property
    def middle(self) -> Array:
        """Middles of the cells."""
        return 0.5 * (self.edges[1:] + self.edges[:-1])

    def moments(self) -> tuple[Array, Array]:
        """Return means and variances of the likelihoods as densities; a cell's own width belongs to the noise."""
        width, middle = np.diff(self.edges), self.middle
        mean, square = self.likelihood @ (width * middle), self.likelihood @ (width * middle**2)
        return mean, np.maximum(square - mean**2, np.interp(mean, middle, width) ** 2 / 12.0)

    def quantiles(self, cells: Array, p: Array) -> Array:
        """Return places below which systems lie with probabilities p (n, systems), given those of their cells."""
        out = np.empty_like(p)
        for s, mass in enumerate(cells):
            below = np.append(0.0, np.cumsum(mass))
            out[:, s] = np.interp(p[:, s], below / below[-1], self.edges)
        return out


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
