"""pass^k and pass@k of tasks to come: a beta-binomial whose mean and concentration are integrated on a grid.

Task i passes a run with a probability p_i of its own, from Beta(m c, (1 - m) c). A priori the mean m is uniform and the
logarithm of the concentration c normal (log 2, 1.5). Given m and c, pass^k is B(mc + k, (1 - m)c) / B(mc, (1 - m)c),
and pass@k is 1 - B(mc, (1 - m)c + k) / B(mc, (1 - m)c), for any k: both rise with m, so that the cdf of either is a
mixture over c of the posterior of m up to where it reaches x.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.distributions.tabulated import Table, Tabulated

Array = NDArray[np.float64]

_CENTRE, _SCALE = np.log(2.0), 1.5
"""Of the logarithm of the concentration a priori: tasks nearly alike, or each nearly sure, and all between."""
_COARSE, _FINE = (81, 41), (401, 61)
"""Points in the logit of the mean, and in the logarithm of the concentration: to find the posterior, and of it."""
_LOGITS, _REACH = 18.0, 4.5
_NOTHING = 22.0
"""Logarithm of the density below its largest from which on there is nothing: 1e-10."""
_NORMAL = np.linspace(-6.5, 6.5, 201)
"""Normal quantiles of the nodes of a table."""
_ROUNDING = 1e-5
"""Of a cdf that is linear between points a thirtieth of a standard deviation apart."""


class Grid(NamedTuple):
    """The posterior of mean and concentration.

    Attributes
    ----------
    a, b : ndarray of shape (concentrations, means)
        Of the Beta of the tasks' probabilities.
    weights : ndarray of shape (concentrations, means)
        They add up to 1.
    """

    a: Array
    b: Array
    weights: Array

    def rate(self, k: int, *, every: bool) -> Array:
        """Return pass^k, or pass@k, at each point."""
        return pass_rate(self.a, self.b, k, every=every)


def pass_rate(a: Any, b: Any, k: int, *, every: bool) -> Array:
    """Return the mean of p^k, or of 1 - (1 - p)^k, over p ~ Beta(a, b)."""
    whole = special.betaln(a, b)
    if every:
        return np.asarray(np.exp(special.betaln(a + k, b) - whole))
    return np.asarray(-np.expm1(special.betaln(a, b + k) - whole))


def grid(passes: NDArray[np.int64], runs: int) -> Grid:
    """Return the posterior of the tasks' mean and concentration.

    Parameters
    ----------
    passes : ndarray of shape (tasks,)
        How many runs of each task passed.
    runs : int
    """
    counted = [np.unique(one, return_counts=True) for one in (passes, runs - passes)]
    low, high = np.array([-_LOGITS, _CENTRE - _REACH * _SCALE]), np.array([_LOGITS, _CENTRE + _REACH * _SCALE])
    for shape in (_COARSE, _FINE):
        logit, log_c = (np.linspace(low[i], high[i], shape[i]) for i in range(2))
        c = np.exp(log_c)[:, None]
        a, b = c * special.expit(logit), c * special.expit(-logit)
        density = _log_prior(logit, log_c[:, None]) + sum(
            number @ (special.gammaln(one + values[:, None, None]) - special.gammaln(one)).reshape(len(values), -1)
            for one, (values, number) in zip((a, b), counted, strict=True)
        ).reshape(a.shape)
        density = density - len(passes) * (special.gammaln(c + runs) - special.gammaln(c))
        used = density > density.max() - _NOTHING
        for axis, points in enumerate((logit, log_c)):
            inside = points[used.any(axis)]
            step = points[1] - points[0]
            low[axis], high[axis] = max(inside[0] - step, low[axis]), min(inside[-1] + step, high[axis])
    weights = np.exp(density - density.max())
    return Grid(a, b, weights / weights.sum())


def _log_prior(logit: Array, log_c: Array) -> Array:
    """Return the logarithm of the prior's density in both logarithms, but for a constant."""
    uniform = special.log_expit(logit) + special.log_expit(-logit)
    return np.asarray(uniform - 0.5 * ((log_c - _CENTRE) / _SCALE) ** 2)


@dataclass(frozen=True, eq=False)
class PassRate(Tabulated):
    """pass^k, or pass@k, of one system.

    Attributes
    ----------
    of : Grid
    k : int
    every : bool
    """

    of: Grid
    k: int
    every: bool

    @property
    def batch(self) -> tuple[int, ...]:
        """Return the shape of the batch: there is none."""
        return ()

    @cached_property
    def _rate(self) -> Array:
        return self.of.rate(self.k, every=self.every)

    @cached_property
    def tables(self) -> list[Table]:
        """Return the only table."""
        rate, weights = self._rate, self.of.weights
        order = np.argsort(rate, axis=None)
        below = np.cumsum(weights.ravel()[order])
        at = np.searchsorted(below, special.ndtr(_NORMAL)).clip(max=rate.size - 1)
        x = np.unique(np.concatenate([[rate.min(), rate.max()], rate.ravel()[order][at]]))
        cdf, rough = (_cdf(x, rate[::step], weights[::step]) for step in (1, 2))
        return [Table(x, cdf, 0.25 * np.abs(cdf - rough) + _ROUNDING, (0.0, 1.0))]

    def mean(self) -> Any:  # noqa: D102
        return np.asarray((self._rate * self.of.weights).sum())

    def sd(self) -> Any:  # noqa: D102
        return np.asarray(np.sqrt(((self._rate - self.mean()) ** 2 * self.of.weights).sum()))

    def at(self, *place: Any) -> Self:  # noqa: D102
        return self


def _cdf(x: Array, rate: Array, weights: Array) -> Array:
    """Return the cdf of the mixture over rows, in each of which the rate rises."""
    found = np.zeros(len(x))
    for values, density in zip(rate, weights, strict=True):
        mass = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
        found += np.interp(x, values, mass)
    return np.asarray(found / found[-1])
