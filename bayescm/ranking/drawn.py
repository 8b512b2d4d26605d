"""Ranks of systems by draws, ties shared."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.compiled import load
from bayescm.conjugate import matrix_rng
from bayescm.laws import BetaLaw
from bayescm.streams import Stream

Array = NDArray[np.float64]

_BLOCK = 2**18  # numbers that stay in cache


@dataclass(frozen=True)
class Drawn:
    """Shares of draws in which a system has a rank, the best first.

    Attributes
    ----------
    ranks : ndarray of shape (systems, ranks)
    values : ndarray of shape (draws, systems)
        The smaller, the better.
    near : float
        Values no further apart are ties.
    """

    ranks: Array
    values: Array
    near: float = 0.0

    def beats(self, system: int, others: NDArray[np.intp]) -> Array:
        """Return the share of draws in which a system is better than others; of ties half."""
        counted = np.zeros(len(others))
        load("ranks").count_better(self.values, system, others, self.near, counted)
        return counted / len(self.values)

    def pairwise(self) -> Array:
        """Return P(row is better than column); 1/2 on the diagonal."""
        n = self.values.shape[1]
        return np.stack([self.beats(s, np.arange(n)) for s in range(n)])


def of_values(values: Array, near: float = 0.0) -> Drawn:
    """Count the ranks of draws (draws, systems), the smallest first."""
    kernels: Any = load("ranks")
    draws, n = values.shape
    counted = np.zeros((n, n))
    block = max(_BLOCK // n, 1)
    for start in range(0, draws, block):
        part = values[start : start + block]
        kernels.count_ranks(part, np.argsort(part, axis=1), near, counted)
    return Drawn(counted / draws, values, near)


def of_betas(law: BetaLaw, draws: int, seed: int) -> Drawn:
    """Return the ranks of draws of Beta laws, or of one monotone map of them, made in log-odds by their quantiles."""
    kernels: Any = load("ranks")
    a, b = (np.ascontiguousarray(v, np.float64) for v in (law.a, law.b))
    paths = np.empty((len(a), *kernels.PATH))
    kernels.beta_paths(a, b, paths)
    values = np.empty((draws, len(a)))
    block = max(_BLOCK // len(a), 1)
    rng = matrix_rng(seed, 0, Stream.RANKS)
    for start in range(0, draws, block):
        part = values[start : start + block]
        kernels.beta_draws(paths, rng.standard_normal((len(a), len(part))), part)
    return of_values(values)
