"""Predictive distributions: all matrices that a second test may give, with their probabilities, or draws of them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayescm._kernels.dispatch import kernel
from bayescm.data.random import Stream, matrix_rng
from bayescm.distributions import Beta, dirichlet, exact_distribution
from bayescm.distributions.beta_binomial import Rate
from bayescm.distributions.discrete import MOST_MATRICES, Discrete, Unsorted, collected, distinct
from bayescm.inference.blocks import Block
from bayescm.metrics import Metric, compute, of_one_class
from bayescm.priors.concentrations import Concentrations

Array = NDArray[np.float64]

_MOST_VALUES = 200_000  # of a proportion
_NO_WEIGHT = 1e-16  # of a matrix: two million have 2e-10 at most, and those of 200 items that are left out had 3e-12


def matrices(n: int, positives: int | None) -> int:
    """Return how many matrices of two labels have n items, and so many of them positive."""
    return (n + 1) * (n + 2) * (n + 3) // 6 if positives is None else (positives + 1) * (n - positives + 1)


@dataclass(frozen=True, eq=False)
class Lattice:
    """All matrices of two labels with `size` items, or those with fixed class totals, that a posterior thinks possible.

    Attributes
    ----------
    size : int
    of : Concentrations
        That posterior.
    positives : int, optional
        Fixed number of positives.
    edges : bool, optional
        Keep those with an empty cell, where a ratio may be infinite, however improbable.
    """

    size: int
    of: Concentrations
    positives: int | None = None
    edges: bool = True

    @cached_property
    def _filled(self) -> Array:
        """Return the cells and the probability of every matrix (5, n): three beta-binomials, one after the other."""
        size, (other, right) = self.size, self.of.rows
        each = np.arange(size + 1) if self.positives is None else np.array([self.positives])
        rate = Rate(0.0, 0.0, float(self.of.shares[1])) if self.of.known else Rate(*self.of.shares[::-1])
        rows = np.ones(1) if self.positives is not None else np.exp(rate.log_pmf(each, float(size)))
        of_classes = _of_trials(each, size, *right[::-1]), _of_trials(size - each, size, *other)
        possible = kernel("tables", "possible")
        given = each, rows, *of_classes, size, _NO_WEIGHT, self.edges
        filled: Array = np.empty((5, possible(*given, np.empty((5, 0)))))  # room for as many as there are
        possible(*given, filled)
        return filled

    @property
    def matrix(self) -> Array:
        """Return the matrices, (n, 2, 2); the numbers of one cell lie side by side, which is fast to compute with."""
        return self._filled[:4].reshape(2, 2, -1).transpose(2, 0, 1)

    @property
    def weights(self) -> Array:
        """Return the probability of every matrix."""
        return np.asarray(self._filled[4])

    def dist(self, metric: Metric) -> Discrete:
        """Return the distribution of a metric."""
        values, group = distinct(compute([metric], self.matrix)[0])
        return collected(values, np.bincount(group, self.weights, minlength=len(values)))


def _of_trials(trials: NDArray[np.int64], most: int, a: float, b: float) -> Array:
    """Return the beta-binomial probability of every number of successes to `most` in each number of trials."""
    k, n = np.arange(most + 1), trials[:, None]
    return np.where(k <= n, np.exp(Rate(a, b).log_pmf(np.minimum(k, n), n)), 0.0)


def of_draws(values: Array, *, ordered: bool = True) -> Discrete | Unsorted:
    """Return the distribution of equally weighted draws."""
    if not ordered:
        return Unsorted.of(values, np.full(len(values), 1.0 / len(values)))
    found, group = distinct(values)
    return collected(found, np.bincount(group, minlength=len(found)) / len(values))


def of_proportion(
    metric: Metric, which: Concentrations, kept: NDArray[np.int64], size: int, *, fixed: bool
) -> Discrete | None:
    """Return the distribution of a proportion S / (S + T) of items to come; None where it is none, or of too many.

    S is beta-binomial given the trials S + T, which are a known number, or beta-binomial too.
    """
    dist = exact_distribution(metric, which)
    if not isinstance(dist, Beta) or np.ndim(dist.a) or metric.ratio is None:
        return None
    names, of_class = {*metric.ratio[0], *metric.ratio[1]}, of_one_class(metric, len(kept))
    positive, (a, b) = int("tp" in names), map(float, (dist.a, dist.b))
    if len(names) == 4 or "diagonal" in names or (fixed and of_class):
        trials = int(kept[positive]) if of_class else size
        if trials > _MOST_VALUES:
            return None
        s = np.arange(trials + 1.0)
        return Discrete(s / trials, np.exp(Rate(a, b).log_pmf(s, float(trials))), 0.0)
    if fixed or not (of_class or which.one_dirichlet) or (size + 1) * (size + 2) // 2 > MOST_MATRICES:
        return None
    rest = float(which.rows.sum()) - a - b
    share = Rate(0.0, 0.0, float(which.shares[positive])) if which.known else Rate(a + b, rest)
    if of_class and not which.known:
        share = Rate(float(which.shares[positive]), float(which.shares.sum() - which.shares[positive]))
    each = np.arange(size + 1)
    of = np.repeat(each, each + 1)
    k = np.arange(len(of)) - of * (of + 1) // 2
    chance = np.exp(share.log_pmf(each, size)[of] + Rate(a, b).log_pmf(k, of))
    with np.errstate(invalid="ignore"):
        values, group = distinct(2.0 * k / (k + of) if metric.link == "f1" else k / of)
    return collected(values, np.bincount(group, chance, minlength=len(values)))


def drawn(one: Block, totals: NDArray[np.int64], size: int, keep_totals: bool) -> NDArray[np.int64]:
    """Return a matrix to come for each draw of a posterior, (draws, K, K)."""
    rng = matrix_rng(one.seed, int(one.index), Stream.FUTURE)
    thetas = one.theta_blocks()
    if one.which is not None:
        thetas = iter([np.moveaxis(dirichlet.draw_theta(one.which, rng, one.n), -1, 0)])
    return np.concatenate([dirichlet.replicate_counts(theta, totals, rng, size, keep_totals) for theta in thetas])
