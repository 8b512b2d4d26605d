"""Intervals for a binomial proportion: k successes in n trials.

Kernels over plain arrays of any shape: successes `k`, trials `n` and the level `ci_prob` give (lower, upper). The
bounds are as the formula gives them: those of Wald and of Agresti and Coull can leave [0, 1]. What an empty sample
(n = 0) gives, which leaves every proportion possible:

====================  =============================================================
`wald`                NaN: it stands on the estimate k/n, and there is none
`jeffreys`            the quantiles of its prior, Beta(1/2, 1/2)
the others            [0, 1]; for `wilson` and `agresti_coull` the formula's own limit
====================  =============================================================
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bayescm.distributions import beta_quantiles

Array = NDArray[np.float64]
Bounds = tuple[Array, Array]


def wald(k: ArrayLike, n: ArrayLike, ci_prob: float = 0.95) -> Bounds:
    """Return p +- z sqrt(p (1 - p) / n), p = k/n: length 0 where k = 0 or k = n."""
    k, n, z = _arguments(k, n, ci_prob)
    with np.errstate(invalid="ignore"):
        half = z * np.sqrt(k * (n - k) / n) / n
        return k / n - half, k / n + half


def wilson(k: ArrayLike, n: ArrayLike, ci_prob: float = 0.95) -> Bounds:
    """Return the p with (k/n - p)^2 <= z^2 p (1 - p) / n (Wilson 1927), without correction for continuity."""
    k, n, z = _arguments(k, n, ci_prob)
    trials = np.where(n > 0, n, 1.0)
    sum_ = k + z**2 / 2.0 + z * np.sqrt(k * (n - k) / trials + z**2 / 4.0)
    lower = k * (k / trials) / sum_  # the product of the bounds is k^2 / (n (n + z^2)): no difference of close numbers
    return lower, np.where(k == n, 1.0, sum_ / (n + z**2))


def agresti_coull(k: ArrayLike, n: ArrayLike, ci_prob: float = 0.95) -> Bounds:
    """Return Wald's interval after z^2/2 more successes and as many failures (Agresti and Coull 1998)."""
    k, n, z = _arguments(k, n, ci_prob)
    return wald(k + z**2 / 2.0, n + z**2, ci_prob)


def clopper_pearson(k: ArrayLike, n: ArrayLike, ci_prob: float = 0.95) -> Bounds:
    """Return the p that neither tail test at (1 - ci_prob)/2 rejects (Clopper and Pearson 1934)."""
    k, n, _ = _arguments(k, n, ci_prob)
    tail = (1.0 - ci_prob) / 2.0
    lower = beta_quantiles.ppf(tail, np.maximum(k, 1.0), n - k + 1.0)
    upper = beta_quantiles.isf(tail, k + 1.0, np.maximum(n - k, 1.0))
    return np.where(k == 0, 0.0, lower), np.where(k == n, 1.0, upper)


def jeffreys(k: ArrayLike, n: ArrayLike, ci_prob: float = 0.95) -> Bounds:
    """Return the equal tails of Beta(k + 1/2, n - k + 1/2), up to 0 where k = 0 and to 1 where k = n.

    The ends are those of Brown, Cai and DasGupta (2001): without them the coverage goes to 0 as p goes to 0 or 1.
    """
    k, n, _ = _arguments(k, n, ci_prob)
    tail = (1.0 - ci_prob) / 2.0
    lower, upper = (inverse(tail, k + 0.5, n - k + 0.5) for inverse in (beta_quantiles.ppf, beta_quantiles.isf))
    return np.where((k == 0) & (n > 0), 0.0, lower), np.where((k == n) & (n > 0), 1.0, upper)


def likelihood_ratio(k: ArrayLike, n: ArrayLike, ci_prob: float = 0.95) -> Bounds:
    """Return the p whose deviance 2 log(L(k/n) / L(p)) is at most the chi-squared quantile, one degree of freedom."""
    k, n, z = _arguments(k, n, ci_prob)
    return special.expit(_lower_logit(k, n, z**2)), special.expit(-_lower_logit(n - k, n, z**2))


def anytime(k: ArrayLike, n: ArrayLike, ci_prob: float = 0.95) -> Bounds:
    """Return the p whose likelihood is at least 1 - ci_prob of what Beta(1/2, 1/2) predicted (Ville 1939).

    With `ci_prob` it holds p after every trial at once, however often it is looked at and whenever one stops.
    """
    k, n, _ = _arguments(k, n, ci_prob)
    limit = 2.0 * (log_learned(k, n, 0.5, 0.5) - np.log1p(-ci_prob))
    return special.expit(_lower_logit(k, n, limit)), special.expit(-_lower_logit(n - k, n, limit))


def log_learned(k: Array, n: Array, a: float, b: float) -> Array:
    """Return log(largest likelihood / prediction by Beta(a, b)) of k of n in their order: never below 0."""
    largest = special.xlogy(k, k) + special.xlogy(n - k, n - k) - special.xlogy(n, n)
    return np.asarray(largest - special.betaln(k + a, n - k + b) + special.betaln(a, b))


def wilson_cc(k: ArrayLike, n: ArrayLike, ci_prob: float = 0.95) -> Bounds:
    """Return Wilson's interval with a correction for continuity of half an item (Newcombe 1998, method 4)."""
    k, n, z = _arguments(k, n, ci_prob)
    trials = np.where(n > 0, n, 1.0)
    p, q = k / trials, (n - k) / trials

    def root(side: float) -> Array:
        return z * np.sqrt(np.maximum(z**2 + side * 2.0 - 1.0 / trials + 4.0 * p * (trials * q - side), 0.0))

    lower = (2.0 * k + z**2 - 1.0 - root(-1.0)) / (2.0 * (n + z**2))
    upper = (2.0 * k + z**2 + 1.0 + root(1.0)) / (2.0 * (n + z**2))
    return np.where(k == 0, 0.0, np.maximum(lower, 0.0)), np.where(k == n, 1.0, np.minimum(upper, 1.0))


def logit(k: ArrayLike, n: ArrayLike, ci_prob: float = 0.95) -> Bounds:
    """Return Wald's interval of log(p / (1 - p))."""
    return _on_scale(special.logit, special.expit, lambda p: 1.0 / (p * (1.0 - p)), k, n, ci_prob)


def probit(k: ArrayLike, n: ArrayLike, ci_prob: float = 0.95) -> Bounds:
    """Return Wald's interval of the normal quantile of p."""

    def slope(p: Array) -> Array:
        return np.asarray(np.sqrt(2.0 * np.pi) * np.exp(0.5 * special.ndtri(p) ** 2))

    return _on_scale(special.ndtri, special.ndtr, slope, k, n, ci_prob)


def cloglog(k: ArrayLike, n: ArrayLike, ci_prob: float = 0.95) -> Bounds:
    """Return Wald's interval of log(-log p)."""

    def slope(p: Array) -> Array:
        return 1.0 / (p * np.log(p))

    return _on_scale(lambda p: np.log(-np.log(p)), lambda x: np.exp(-np.exp(x)), slope, k, n, ci_prob)


def _on_scale(
    scale: Callable[[Array], Array], back: Callable[[Array], Array], slope: Callable[[Array], Array], k: ArrayLike,
    n: ArrayLike, ci_prob: float,
) -> Bounds:  # fmt: skip
    """Return Wald's interval on another scale; Clopper and Pearson's where k = 0 or k = n: infinite there."""
    k, n, z = _arguments(k, n, ci_prob)
    inside = (k > 0) & (k < n)
    p = np.where(inside, k, 0.5) / np.where(inside, n, 1.0)
    half = z * np.abs(slope(p)) * np.sqrt(p * (1.0 - p) / np.where(inside, n, 1.0))
    ends = back(scale(p) - half), back(scale(p) + half)
    exact = clopper_pearson(k, n, ci_prob)
    return np.where(inside, np.minimum(*ends), exact[0]), np.where(inside, np.maximum(*ends), exact[1])


def normal_quantile(ci_prob: float) -> float:
    """Return how many standard deviations an interval of this level reaches to either side."""
    return float(-special.ndtri((1.0 - ci_prob) / 2.0))


def _arguments(k: ArrayLike, n: ArrayLike, ci_prob: float) -> tuple[Array, Array, float]:
    """Return k and n as arrays of one shape, and the normal quantile of the level."""
    k, n = np.broadcast_arrays(np.asarray(k, np.float64), np.asarray(n, np.float64))
    return k, n, normal_quantile(ci_prob)


def _lower_logit(k: Array, n: Array, limit: float | Array) -> Array:
    """Return the log-odds of the p below k/n whose deviance is `limit`: -inf where k = 0."""
    from scipy.optimize import elementwise

    limit = np.broadcast_to(limit, k.shape)
    logit = np.full(k.shape, -np.inf)
    every = (k == n) & (n > 0)  # there the deviance is -2 n log p
    logit[every] = -np.log(np.expm1(limit[every] / (2.0 * n[every])))
    inside = (k > 0) & (k < n)
    if inside.any():
        k, n, limit = k[inside], n[inside], limit[inside]
        estimate = np.log(k / (n - k))
        least = np.log(k / n) - limit / (2.0 * k) - 1.0  # as n log n - (n - k) log(n - k) <= k log n + k
        logit[inside] = elementwise.find_root(_excess, (least, estimate), args=(k, n, limit)).x
    return logit


def _excess(logit: Array, k: Array, n: Array, limit: Any) -> Array:
    """Return the deviance at a logit minus `limit`, in the difference p - k/n, so that little cancels."""
    p, q = special.expit(logit), special.expit(-logit)
    difference = np.where(k < n - k, p - k / n, (n - k) / n - q)
    return np.asarray(
        -2.0 * (k * np.log1p(difference * (n / k)) + (n - k) * np.log1p(-difference * (n / (n - k)))) - limit
    )
