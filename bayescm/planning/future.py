"""Predictive distributions: all matrices that a second test may give, with their probabilities, or draws of them."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayescm.data.random import Stream, matrix_rng
from bayescm.distributions import dirichlet
from bayescm.distributions.beta_binomial import Rate
from bayescm.distributions.discrete import Discrete, collected, distinct
from bayescm.inference.blocks import Block
from bayescm.metrics import Metric, compute
from bayescm.priors.concentrations import Concentrations

Array = NDArray[np.float64]


class Lattice:
    """All matrices of two labels with `size` items, or those with fixed class totals."""

    def __init__(self, size: int, positives: int | None = None) -> None:
        """Keep what says which matrices these are."""
        self.size, self.positives = size, positives
        self._known: dict[str, tuple[Array, NDArray[np.intp]]] = {}

    def matrices(self) -> int:
        """Return how many there are."""
        n, p = self.size, self.positives
        return (n + 1) * (n + 2) * (n + 3) // 6 if p is None else (p + 1) * (n - p + 1)

    @cached_property
    def _cells(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the place among the numbers of positives, true positives and true negatives of every matrix."""
        each = self._each
        sizes = (each + 1) * (self.size - each + 1)
        row = np.repeat(np.arange(len(each)), sizes)
        place = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return row, *np.divmod(place, self.size - each[row] + 1)

    @property
    def _each(self) -> NDArray[np.int64]:
        """Return the numbers of positives."""
        return np.arange(self.size + 1) if self.positives is None else np.array([self.positives])

    @cached_property
    def matrix(self) -> NDArray[np.int64]:
        """Return the matrices, (n, 2, 2)."""
        row, tp, tn = self._cells
        p = self._each[row]
        return np.stack([tn, self.size - p - tn, p - tp, tp], -1).reshape(-1, 2, 2)

    def weights(self, which: Concentrations) -> Array:
        """Return the probability of every matrix: three beta-binomials, one after the other."""
        row, tp, tn = self._cells
        each = self._each[:, None].astype(np.float64)
        k = np.arange(self.size + 1.0)
        recall, specificity = Rate(*which.rows[1, ::-1]), Rate(*which.rows[0])
        log = recall.log_pmf(np.minimum(k, each), each)[row, tp]
        log += specificity.log_pmf(np.minimum(k, self.size - each), self.size - each)[row, tn]
        if self.positives is None:
            rate = Rate(0.0, 0.0, float(which.shares[1])) if which.known else Rate(*which.shares[::-1])
            log += rate.log_pmf(k, float(self.size))[row]
        return np.asarray(np.exp(log))

    def dist(self, metric: Metric, weights: Array) -> Discrete:
        """Return the distribution of a metric."""
        if metric.name not in self._known:
            self._known[metric.name] = distinct(compute([metric], self.matrix)[0])
        values, group = self._known[metric.name]
        return collected(values, np.bincount(group, weights, minlength=len(values)))


def of_draws(values: Array) -> Discrete:
    """Return the distribution of equally weighted draws."""
    found, group = distinct(values)
    return collected(found, np.bincount(group, minlength=len(found)) / len(values))


def of_trials(trials: int, a: float, b: float) -> Discrete:
    """Return the distribution of S / trials with S beta-binomial."""
    successes = np.arange(trials + 1.0)
    return Discrete(successes / trials, np.exp(Rate(a, b).log_pmf(successes, float(trials))), 0.0)


def drawn(one: Block, totals: NDArray[np.int64], size: int, keep_totals: bool) -> NDArray[np.int64]:
    """Return a matrix to come for each draw of a posterior, (draws, K, K)."""
    rng = matrix_rng(one.seed, int(one.index), Stream.FUTURE)
    thetas = one.theta_blocks()
    if one.which is not None:
        thetas = iter([np.moveaxis(dirichlet.draw_theta(one.which, rng, one.n), -1, 0)])
    return np.concatenate([dirichlet.replicate_counts(theta, totals, rng, size, keep_totals) for theta in thetas])
