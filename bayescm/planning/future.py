"""Predictive distributions: all matrices that a second test may give, with their probabilities, or draws of them."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayescm.data.random import Stream, matrix_rng
from bayescm.distributions import Beta, dirichlet, exact_distribution
from bayescm.distributions.beta_binomial import Rate
from bayescm.distributions.discrete import MOST_MATRICES, Discrete, Unsorted, collected, distinct
from bayescm.inference.blocks import Block
from bayescm.metrics import Metric, compute, of_one_class
from bayescm.priors.concentrations import Concentrations

Array = NDArray[np.float64]

_MOST_VALUES = 200_000  # of a proportion
_NO_WEIGHT = 1e-18  # of a matrix: two million of them have 2e-12


class Lattice:
    """All matrices of two labels with `size` items, or those with fixed class totals.

    Those that a posterior thinks impossible are left out.

    Parameters
    ----------
    size : int
    positives : int, optional
        Fixed number of positives.
    of : Concentrations, optional
        That posterior.
    edges : bool, optional
        Keep those with an empty cell, where a ratio may be infinite, however improbable.
    """

    def __init__(
        self, size: int, positives: int | None = None, of: Concentrations | None = None, *, edges: bool = True
    ) -> None:
        """Keep what says which matrices these are."""
        self.size, self.positives, self.of, self.edges = size, positives, of, edges
        self._weighed: dict[Concentrations, tuple[Array, Array]] = {}

    def matrices(self) -> int:
        """Return how many there are."""
        n, p = self.size, self.positives
        return (n + 1) * (n + 2) * (n + 3) // 6 if p is None else (p + 1) * (n - p + 1)

    @cached_property
    def _cells(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Array]:
        """Return the place among the numbers of positives, true positives and negatives of every matrix; its chance."""
        rows, right = np.ones(len(self._each)), np.ones((2, len(self._each), self.size + 1))
        if self.of is not None:
            rows, right = self._factors(self.of)
        inside = []
        for row, p in enumerate(self._each):
            chance = rows[row] * right[0, row, : p + 1, None] * right[1, row, : self.size - p + 1]
            likely = chance > _NO_WEIGHT
            if self.edges:
                likely[[0, -1]] = likely[:, [0, -1]] = True
            inside.append((*np.nonzero(likely), chance[likely]))
        tp, tn, chances = (np.concatenate(part) for part in zip(*inside, strict=True))
        return np.repeat(np.arange(len(inside)), [len(part[0]) for part in inside]), tp, tn, chances

    @property
    def _each(self) -> NDArray[np.int64]:
        """Return the numbers of positives."""
        return np.arange(self.size + 1) if self.positives is None else np.array([self.positives])

    @cached_property
    def matrix(self) -> NDArray[np.int64]:
        """Return the matrices, (n, 2, 2); the numbers of one cell lie side by side, which is fast to compute with."""
        row, tp, tn, _ = self._cells
        p = self._each[row]
        return np.stack([tn, self.size - p - tn, p - tp, tp]).reshape(2, 2, -1).transpose(2, 0, 1)

    def _factors(self, which: Concentrations) -> tuple[Array, Array]:
        """Return the probability of every number of positives, and of true ones of either class (2, rows, k)."""
        if which not in self._weighed:
            each, size, (other, right) = self._each, self.size, which.rows
            rate = Rate(0.0, 0.0, float(which.shares[1])) if which.known else Rate(*which.shares[::-1])
            rows = np.ones(1) if self.positives is not None else np.exp(rate.log_pmf(each, float(size)))
            of_classes = [_of_trials(each, size, *right[::-1]), _of_trials(size - each, size, *other)]
            self._weighed[which] = rows, np.stack(of_classes)
        return self._weighed[which]

    def weights(self, which: Concentrations) -> Array:
        """Return the probability of every matrix: three beta-binomials, one after the other."""
        row, tp, tn, chances = self._cells
        if which is self.of:
            return chances
        rows, (recall, specificity) = self._factors(which)
        return np.asarray(recall[row, tp] * specificity[row, tn] * rows[row])

    def dist(self, metric: Metric, weights: Array) -> Discrete:
        """Return the distribution of a metric."""
        values, group = distinct(compute([metric], self.matrix)[0])
        return collected(values, np.bincount(group, weights, minlength=len(values)))


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
