"""The posterior of a matrix of many classes whose prior is learned from these classes themselves.

Given class totals n, the recall of class i is Beta(c m_i, c (1 - m_i)) or, for a share e of classes that differ from
all others, Beta(1/2, 1/2). logit m_i = a + b x_i, x_i = log(n_i + 2) less its mean over the items: rare classes may be
harder. expit(a) ~ Beta(1/2, 1/2), b ~ Normal(0, 1), 1 / sqrt(1 + c) is uniform, e one of four numbers. Class shares are
Dirichlet(kappa), what is confused in row i is Dirichlet(t w_i) with w_ij ~ share_j^g; kappa, t, g are of small grids.
The three groups of hyperparameters have posteriors of their own, found on grids; given them all is Beta and Dirichlet.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.results.names import FEW

Array = NDArray[np.float64]

OWN = 0.5
"""Both concentrations of a recall that has nothing in common with the others: Jeffreys."""
SPREADS, _WIDEST = 10, 0.82
"""Values of 1 / sqrt(1 + c), and where they end: c = 0.49, as wide as Jeffreys' prior of a rate."""
_SHARES_APART = np.array([0.0, 0.05, 0.15, 0.35])
KAPPAS = np.array([0.25, 0.5, 1, 2, 4, 8, 16, 64])
_TOTALS = np.array([0.25, 0.5, 1, 2, 5, 15, 50])
_POWERS = np.array([0.0, 0.5, 1.0])
_FIRST = np.linspace(-5.0, 8.0, 18), np.linspace(-3.0, 3.0, 7)
"""Levels and slopes that are tried at first, in steps that no posterior of both is wider than by far."""
_LEVELS, _SLOPES, _ROUNDS = 13, 9, 5
_FURTHEST = 690.0
"""Logarithm of a ratio of probabilities, beyond which its exponential leaves the range of numbers."""
_ENOUGH = 1e9
"""Items of a class beyond which its number tells nothing more of the other classes, and likelihoods lose digits."""


class Hyper(NamedTuple):
    """Grid of the hyperparameters of recalls, over levels and slopes (L, S), concentrations (C) and shares apart (E).

    Attributes
    ----------
    weight : ndarray of shape (L, S, C, E)
        Posterior weights.
    mean : ndarray of shape (L, S, K)
        What recalls of classes like the others are around.
    concentration, apart : ndarray of shape (C,), (E,)
    alike : ndarray of shape (L, S, C, K)
        Probability of what was seen of each class where it is like the others, relative to where it isn't.
    """

    weight: Array
    mean: Array
    concentration: Array
    apart: Array
    alike: Array

    def lone(self, which: Any, alike: Array) -> Array:
        """Return the probability (..., K) that a class differs from all others, where a share `which` of them does."""
        apart = self.apart[which][..., None]
        return np.asarray(apart / (apart + (1.0 - apart) * alike))


@dataclass(frozen=True)
class Learned:
    """What is known of one matrix.

    Attributes
    ----------
    counts : ndarray of shape (K, K)
    """

    counts: Array

    @cached_property
    def totals(self) -> Array:
        """Return the items of each class."""
        return np.asarray(self.counts.sum(1))

    @cached_property
    def hyper(self) -> Hyper:
        """Return the hyperparameters of recalls."""
        return _hyper(np.diagonal(self.counts), self.totals)

    @cached_property
    def shares(self) -> Array:
        """Return the posterior weights of :data:`KAPPAS`."""
        return _shares(self.totals)

    @cached_property
    def errors(self) -> tuple[Array, Array]:
        """Return concentrations (nodes, K, K) of what is confused, 0 on the diagonal, and the nodes' weights."""
        return _errors(self.counts)

    def draw(self, rng: np.random.Generator, n: int, *, alone: bool = False) -> Array:
        """Draw cells.

        Parameters
        ----------
        rng : numpy.random.Generator
        n : int
        alone : bool
            Whether classes of fewer than ``FEW`` items have a recall that learns nothing from the others.

        Returns
        -------
        ndarray of shape (n, K, K)
        """
        k = len(self.counts)
        recall = self._recalls(rng, n, alone)
        kappas = rng.choice(KAPPAS, n, p=self.shares)
        shares = _gammas(rng, self.totals + kappas[:, None])
        shares /= shares.sum(-1, keepdims=True)
        errors, weight = self.errors
        theta = _gammas(rng, errors[rng.choice(len(weight), n, p=weight)])
        theta *= ((1.0 - recall) * shares / theta.sum(-1))[:, :, None]
        theta[:, np.arange(k), np.arange(k)] = recall * shares
        return theta

    def _recalls(self, rng: np.random.Generator, n: int, alone: bool) -> Array:
        """Draw recalls (n, K)."""
        known, right = self.hyper, np.diagonal(self.counts)
        node = rng.choice(known.weight.size, n, p=known.weight.ravel())
        level, slope, strength, apart = np.unravel_index(node, known.weight.shape)
        lone = rng.random((n, len(right))) < known.lone(apart, known.alike[level, slope, strength])
        if alone:
            lone |= self.totals < FEW
        mean, concentration = known.mean[level, slope], known.concentration[strength][:, None]
        a, b = (np.where(lone, OWN, concentration * part) for part in (mean, 1.0 - mean))
        return rng.beta(right + a, self.totals - right + b)


@lru_cache(32)
def _learned(counts: bytes, k: int) -> Learned:
    return Learned(np.frombuffer(counts).reshape(k, k))


def learn(matrix: NDArray[np.int64]) -> Learned:
    """Return the posterior of a matrix (K, K) of more than two classes; the last ones are kept."""
    return _learned(np.asarray(matrix, np.float64).tobytes(), len(matrix))


def rates(right: Array, wrong: Array, rng: np.random.Generator, n: int) -> Array:
    """Draw rates (n, K) of K kinds of items, right and wrong, of which each learns from the others as recalls do."""
    return Learned(np.diag(right) + np.roll(np.diag(wrong), 1, 1))._recalls(rng, n, False)


def _hyper(right: Array, totals: Array) -> Hyper:
    """Return a grid around the posterior of the hyperparameters of recalls."""
    size = np.log(totals + 2.0)
    size -= np.average(size, weights=totals + 0.5)
    right, totals = _scaled(right, totals)
    concentration = ((np.arange(SPREADS) + 0.5) / SPREADS * _WIDEST) ** -2.0 - 1.0
    wrong = totals - right
    own = np.array([OWN])
    differs = _rising(own, right) + _rising(own, wrong) - _rising(2.0 * own, totals)
    of_all = _rising(concentration[:, None], totals)
    level, slope = _FIRST
    for i in range(_ROUNDS):
        mean = _mean(level[:, None, None] + slope[:, None] * size)
        strength = concentration[:, None] * mean[:, :, None]
        ratio = _rising(strength, right)
        ratio += _rising(concentration[:, None] - strength, wrong)
        ratio -= of_all + differs
        alike = np.exp(np.clip(ratio, -_FURTHEST, _FURTHEST, out=ratio))
        both = [ratio.sum(-1), *(np.log((1.0 - apart) * alike + apart).sum(-1) for apart in _SHARES_APART[1:])]
        middle = special.expit(level)
        before = 0.5 * np.log(middle * (1.0 - middle))[:, None] - 0.5 * slope**2
        log_weight = np.stack(both, -1) + before[..., None, None]
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        fine, levels = _zoomed(level, weight.sum((1, 2, 3)), _LEVELS, 3.5, -7.0, 10.0)
        fine_too, slopes = _zoomed(slope, weight.sum((0, 2, 3)), _SLOPES, 3.2, -np.inf, np.inf)
        if i == _ROUNDS - 1 or (i > 0 and fine and fine_too):
            break
        level, slope = levels, slopes
    return Hyper(weight, mean, concentration, _SHARES_APART, alike)


def _zoomed(grid: Array, weight: Array, n: int, reach: float, least: float, most: float) -> tuple[bool, Array]:
    """Say whether a grid is fine enough for the weights on it, and return one around their mean."""
    mean = weight @ grid
    sd, step = np.sqrt(weight @ (grid - mean) ** 2), grid[1] - grid[0]
    reached = reach * max(sd, 0.4 * step)
    return bool(sd > 0.7 * step), np.linspace(max(least, mean - reached), min(most, mean + reached), n)


def _mean(logit: Array) -> Array:
    return np.asarray(np.clip(special.expit(logit), 1e-9, 1.0 - 1e-9))


def _scaled(right: Array, totals: Array) -> tuple[Array, Array]:
    """Return what classes tell of each other, of which more than enough items tell no more."""
    shrink = np.minimum(1.0, _ENOUGH / np.maximum(totals, 1.0))
    return right * shrink, totals * shrink


def _rising(a: Array, n: Array) -> Array:
    """Return log(gamma(a + n) / gamma(a)) for concentrations (..., K) or (..., 1): 0 of classes that have none of n."""
    some = n > 0.0
    a = np.broadcast_to(a, (*a.shape[:-1], len(n)))
    if some.all():
        return np.asarray(special.gammaln(a + n) - special.gammaln(a))
    found = np.zeros(a.shape)
    found[..., some] = special.gammaln(a[..., some] + n[some]) - special.gammaln(a[..., some])
    return found


def _shares(totals: Array) -> Array:
    """Return the posterior weights of the concentrations of class shares."""
    k = len(totals)
    each = special.gammaln(totals[:, None] + KAPPAS).sum(0) - k * special.gammaln(KAPPAS)
    log_weight = each + special.gammaln(k * KAPPAS) - special.gammaln(k * KAPPAS + totals.sum())
    return _weights(log_weight)


def _errors(counts: Array) -> tuple[Array, Array]:
    """Return the posterior concentrations of what is confused at each node, and the posterior weights of the nodes."""
    k = len(counts)
    missed = counts * (1.0 - np.eye(k))
    row, column = np.nonzero(missed)
    found, rows = missed[row, column], missed.sum(1)
    share = (counts.sum(1) + 0.5) / (counts.sum() + k / 2)
    concentrations, log_weights = [], []
    for power in _POWERS:
        weight = share**power * (1.0 - np.eye(k))
        weight /= weight.sum(1, keepdims=True)
        for total in _TOTALS:
            a = total * weight[row, column]
            of_cells = special.gammaln(found + a) - special.gammaln(a)
            log_weights.append(of_cells.sum() + (special.gammaln(total) - special.gammaln(total + rows)).sum())
            concentrations.append(missed + total * weight)
    return np.array(concentrations), _weights(np.array(log_weights))


def _weights(logs: Array) -> Array:
    found = np.exp(logs - logs.max())
    return np.asarray(found / found.sum())


def _gammas(rng: np.random.Generator, concentration: Array) -> Array:
    drawn = rng.standard_gamma(concentration)
    return np.maximum(drawn, 1e-300, out=drawn)
