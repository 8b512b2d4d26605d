"""Ranks of systems by draws, ties shared."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm._kernels.codes import PATH
from bayescm._kernels.dispatch import kernel
from bayescm.data.random import Stream, matrix_rng
from bayescm.distributions import Beta

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
    metric : callable, optional
        From the values to the metric, or to one minus it; they are the metric, or minus it, without.
    """

    ranks: Array
    values: Array
    near: float = 0.0
    metric: Callable[[Array], Array] | None = None

    def beats(self, system: int, others: NDArray[np.intp]) -> Array:
        """Return the share of draws in which a system is better than others; of ties half."""
        counted = np.zeros(len(others))
        seconds = 2e-8 * len(self.values) * len(others)
        kernel("rank_sums", "count_better", seconds)(self.values, system, others, self.near, counted)
        return counted / len(self.values)

    def pairwise(self) -> Array:
        """Return P(row is better than column); 1/2 on the diagonal."""
        n = self.values.shape[1]
        return np.stack([self.beats(s, np.arange(n)) for s in range(n)])

    def equivalent(self, rope: float) -> Array:
        """Return the share of draws in which row and column differ by at most `rope`."""
        values = self.values if self.metric is None else self.metric(self.values)
        return np.stack([(np.abs(values - values[:, [s]]) <= rope).mean(0) for s in range(values.shape[1])])


def of_values(values: Array, near: float = 0.0) -> Drawn:
    """Count the ranks of draws (draws, systems), the smallest first."""
    values = np.ascontiguousarray(values)
    draws, n = values.shape
    count_ranks = kernel("rank_sums", "count_ranks", 1e-6 * values.size)
    counted = np.zeros((n, n))
    block = max(_BLOCK // n, 1)
    for start in range(0, draws, block):
        part = values[start : start + block]
        count_ranks(part, np.argsort(part, axis=1), near, counted)
    return Drawn(counted / draws, values, near)


def of_betas(dist: Beta, draws: int, seed: int) -> Drawn:
    """Return the ranks of draws of Betas, made in log-odds by their quantiles, not mapped to the metric."""
    a, b = (np.ascontiguousarray(v, np.float64) for v in (dist.a, dist.b))
    paths = np.empty((len(a), *PATH))
    kernel("rank_sums", "beta_paths", 0.02 * len(a))(a, b, paths)
    beta_draws = kernel("rank_sums", "beta_draws", 3e-6 * draws * len(a))
    values = np.empty((draws, len(a)))
    block = max(_BLOCK // len(a), 1)
    rng = matrix_rng(seed, 0, Stream.RANKS)
    for start in range(0, draws, block):
        part = values[start : start + block]
        beta_draws(paths, rng.standard_normal((len(a), len(part))), part)
    return replace(of_values(values), metric=partial(_metric, dist.link))


def _metric(link: str, values: Array) -> Array:
    """Return the metric at log-odds of a Beta variable with their sign reversed."""
    x = special.expit(-values)
    return np.asarray(2.0 * x / (1.0 + x) if link == "f1" else x)
