"""Narrowest intervals of distributions of a Beta variable with one peak: equal densities at both ends."""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.distributions import beta_quantiles

Array = NDArray[np.float64]
_FAR = 34.5
"""Logit of the least share: beyond it the interval starts at the edge."""
_CLOSE = 1e-7  # Newton squares it in its last step
_STEPS, _TRIES = 100, 12
_REACH = 2.0  # of one step, in standard deviations of the log-odds


def narrowest(a: Array, b: Array, prob: float, link: str) -> Array:
    """Return the log-odds of the ends of the narrowest interval of g(X), X ~ Beta(a, b), whose density has one peak.

    Newton's method for both ends at once from equal tails; where that fails, by the share of the outer mass that lies
    left.

    Parameters
    ----------
    a, b : ndarray of shape (n,)
    prob : float
    link : {"identity", "f1"}

    Returns
    -------
    ndarray of shape (2, n)
    """
    outside = 1.0 - prob
    ends = np.stack([beta_quantiles.rough_logit(0.5 * outside, a, b), -beta_quantiles.rough_logit(0.5 * outside, b, a)])
    spread, log_beta = _REACH * np.sqrt(1.0 / a + 1.0 / b), special.betaln(a, b)
    active, found = np.arange(len(a)), np.zeros(len(a), bool)
    with np.errstate(all="ignore"):
        for _ in range(_TRIES):
            a_, b_, here = a[active], b[active], ends[:, active]
            step, good = _newton(here, a_, b_, log_beta[active], outside, link)
            largest = np.abs(step).max(0)
            good &= np.isfinite(largest)
            ends[:, active] = here + step * np.minimum(1.0, spread[active] / largest)
            close = good & (largest < _CLOSE * spread[active])
            found[active] = close
            active = active[good & ~close]
            if not len(active):
                break
    found &= ends[0] < ends[1]
    left = np.flatnonzero(~found)
    if len(left):
        below = _mass_below(a[left], b[left], prob, link)
        ends[0, left] = beta_quantiles.logit_ppf(below, a[left], b[left])
        ends[1, left] = beta_quantiles.logit_isf(outside - below, a[left], b[left])
    return ends


def _newton(
    ends: Array, a: Array, b: Array, log_beta: Array, outside: float, link: str
) -> tuple[Array, NDArray[np.bool_]]:
    """Return Newton's step towards equal densities and the probability outside; False where densities don't fall."""
    tails = beta_quantiles.logit_cdf(ends[0], a, b), beta_quantiles.logit_cdf(-ends[1], b, a)
    logs, slopes, rates = [], [], []
    for y in ends:
        log, slope, log_odds_density = _log_density(y, a, b, link)
        logs.append(log)
        slopes.append(slope)
        rates.append(np.exp(log_odds_density - log_beta))
    off, tilt = tails[0] + tails[1] - outside, logs[1] - logs[0]
    det = rates[0] * slopes[1] - rates[1] * slopes[0]
    step = np.stack([-off * slopes[1] - rates[1] * tilt, -rates[0] * tilt - slopes[0] * off]) / det
    return step, (slopes[0] > 0.0) & (slopes[1] < 0.0)


def _log_density(y: Array, a: Array, b: Array, link: str) -> tuple[Array, Array, Array]:
    """Return the log density of g(X) up to a constant at log-odds y, its slope in y, and the log density of y."""
    x, rest = special.expit(y), special.expit(-y)
    log_x, log_rest = special.log_expit(y), special.log_expit(-y)
    log, slope = (a - 1.0) * log_x + (b - 1.0) * log_rest, (a - 1.0) * rest - (b - 1.0) * x
    of_odds = log + log_x + log_rest
    if link == "f1":
        log, slope = log + 2.0 * np.log1p(x), slope + 2.0 * x * rest / (1.0 + x)
    return log, slope, of_odds


def _mass_below(a: Array, b: Array, prob: float, link: str) -> Array:
    """Return the mass left of the narrowest interval.

    Newton's method in the logit of the share of the outer mass that lies left, where the imbalance of the two log
    densities is nearly a straight line; bisection where a step would leave the bracket.
    """
    outside = 1.0 - prob
    logit, low, high = np.zeros_like(a), np.full_like(a, -_FAR), np.full_like(a, _FAR)
    active = np.arange(len(a))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for _ in range(_STEPS):
            here = logit[active]
            value, slope = _imbalance(here, a[active], b[active], outside, link)
            low[active] = np.where(value > 0, here, low[active])
            high[active] = np.where(value > 0, high[active], here)
            newton = here - value / slope
            close = np.abs(newton - here) < _CLOSE
            inside = close | ((newton > low[active]) & (newton < high[active]))
            logit[active] = np.where(inside, newton, 0.5 * (low[active] + high[active]))
            active = active[~close & (high[active] - low[active] > _CLOSE)]
            if not len(active):
                break
    share = np.where(logit <= _CLOSE - _FAR, 0.0, np.where(logit >= _FAR - _CLOSE, 1.0, special.expit(logit)))
    return np.asarray(outside * share)


def _imbalance(logit: Array, a: Array, b: Array, outside: float, link: str) -> tuple[Array, Array]:
    """Return log density at the upper end minus that at the lower end, and its slope in the logit."""
    left, right = special.expit(logit), special.expit(-logit)
    lower = _log_density(beta_quantiles.logit_ppf(outside * left, a, b), a, b, link)
    upper = _log_density(beta_quantiles.logit_isf(outside * right, a, b), a, b, link)
    log_beta = special.betaln(a, b)
    slopes = [slope * np.exp(log_beta - of_odds) for _, slope, of_odds in (lower, upper)]  # in the mass
    return upper[0] - lower[0], (slopes[1] - slopes[0]) * outside * left * right
