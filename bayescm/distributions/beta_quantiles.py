"""Quantiles of Beta distributions: the one door to them, checked against the distribution function.

SciPy's own inverses (`betaincinv`, `betainccinv`) are wrong where a concentration is exactly 1000, and in windows above
10^8 (SciPy 1.18.1); its distribution functions are right to 13 digits, to 10 at concentrations of 10^9. So a quantile
is found here from these: in the log-odds y = log(x / (1 - x)), where log F(y) is concave for every a, b > 0, by
Halley's method inside a bracket. x and 1 - x both follow from y with all their digits. For many Betas and one
probability quantiles found so are interpolated (:mod:`bayescm.distributions.interpolation`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bayescm.distributions import interpolation

Array = NDArray[np.float64]

_CLOSE = 3e-5  # of log F: the error after the step taken from there is of its third power
_STEPS = 80
_SURE = 1e-3  # of log F, where rounding (concentrations beyond 10^9) allows no better
_FAR = 690.0  # log-odds beyond which x or 1 - x is hardly a number
_NEAR = 25.0  # log-odds beyond which numbers x are too far apart to look for a root among them
_DIGITS = 7.0  # beyond which 1 - x has lost three


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Quantiles to interpolate: log-odds, less log(a / b), with the probabilities `tails`, at most 1/2, below them."""

    tails: tuple[float, ...]
    least = 0.5

    @property
    def limits(self) -> tuple[float, ...]:
        """Return the normal quantiles."""
        return tuple(float(z) for z in special.ndtri(np.array(self.tails)))

    def __call__(self, a: Array, b: Array) -> Array:
        """Return them, (tails, n)."""
        return np.stack([_solve(np.full(a.shape, tail), a, b) for tail in self.tails]) - np.log(a / b)


def ppf(p: ArrayLike, a: ArrayLike, b: ArrayLike) -> Array:
    """Return x with P(X <= x) = p for X ~ Beta(a, b); NaN where p isn't in [0, 1] or a, b aren't positive."""
    return np.asarray(special.expit(logit_ppf(p, a, b)))


def isf(q: ArrayLike, a: ArrayLike, b: ArrayLike) -> Array:
    """Return x with P(X > x) = q: exact for small q, where 1 - q would lose digits."""
    return np.asarray(special.expit(logit_isf(q, a, b)))


def logit_isf(q: ArrayLike, a: ArrayLike, b: ArrayLike) -> Array:
    """Return log(x / (1 - x)) at the quantile with the probability q above it."""
    return -logit_ppf(q, b, a)


def logit_cdf(y: ArrayLike, a: ArrayLike, b: ArrayLike) -> Array:
    """Return P(X <= x) at y = log(x / (1 - x)), where x itself may be too near to 0 or 1 for a number."""
    y, a, b = np.broadcast_arrays(*(np.asarray(v, np.float64) for v in (y, a, b)))
    found = np.asarray(special.betainc(a, b, special.expit(y)))
    near, below, above = (y > _DIGITS) & (y <= _FAR), y < -_FAR, y > _FAR
    if near.any():
        found[near] = special.betaincc(b[near], a[near], special.expit(-y[near]))
    if below.any():
        found[below] = _first_term(y[below], a[below], b[below])
    if above.any():
        found[above] = 1.0 - _first_term(-y[above], b[above], a[above])
    return found


def logit_ppf(p: ArrayLike, a: ArrayLike, b: ArrayLike) -> Array:
    """Return log(x / (1 - x)) at the quantile x.

    Parameters
    ----------
    p, a, b : array_like
        Probability and concentrations; they broadcast.

    Returns
    -------
    ndarray
        -inf at p = 0, inf at p = 1.

    Raises
    ------
    ArithmeticError
        If no point is found where the distribution function is p: it never was in 10^5 cases up to 10^9
        (docs/verification/beta.py).
    """
    p = np.asarray(p, np.float64)
    upper = p > 0.5
    return _either(np.where(upper, 1.0 - p, p), upper, a, b)


def logit_tails(tail: float, a: Array, b: Array) -> Array:
    """Return the log-odds with `tail` below them, with it above, and of the median, (3, ...): in one search."""
    tails, upper = (np.reshape(each, (3, *[1] * a.ndim)) for each in ((tail, tail, 0.5), (False, True, False)))
    return _either(tails, upper, a, b)


def logit_at_normal(z: ArrayLike, a: ArrayLike, b: ArrayLike) -> Array:
    """Return log(x / (1 - x)) at the quantile with the same probability below it as the normal quantile `z`."""
    z = np.asarray(z, np.float64)
    return _either(special.ndtr(-np.abs(z)), z > 0.0, a, b)


def _either(tail: Array, upper: NDArray[np.bool_], a: ArrayLike, b: ArrayLike) -> Array:
    """Return the log-odds with the probability `tail`, at most 1/2, above them (`upper`) or below."""
    single = tail.ndim == 0
    tail, upper, a, b = np.broadcast_arrays(tail, upper, np.asarray(a, np.float64), np.asarray(b, np.float64))
    found = np.full(tail.shape, np.nan)
    if single and tail.size >= interpolation.FEW and 0.0 < tail.flat[0] <= 0.5:
        return _of_many(float(tail.flat[0]), bool(upper.flat[0]), a, b)
    valid = (a > 0.0) & (b > 0.0) & np.isfinite(a) & np.isfinite(b)
    found[valid & (tail == 0.0)] = -np.inf
    inside = valid & (tail > 0.0) & (tail <= 0.5)
    first, second = np.where(upper, b, a), np.where(upper, a, b)
    found[inside] = _solve(tail[inside], first[inside], second[inside])
    return np.where(upper, -found, found)


def _of_many(tail: float, upper: bool, a: Array, b: Array) -> Array:
    """Return the same at one probability: interpolated, and solved for where that isn't done."""
    first, second = (b.ravel(), a.ravel()) if upper else (a.ravel(), b.ravel())
    (values,), _, known = interpolation.read(Quantiles((tail,)), first, second)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Array = values + np.log(first / second)
    rest = ~known & (first > 0.0) & (second > 0.0) & np.isfinite(first) & np.isfinite(second)
    found[rest] = _solve(np.full(int(rest.sum()), tail), first[rest], second[rest])
    return (-found if upper else found).reshape(a.shape)


def _solve(tail: Array, a: Array, b: Array) -> Array:
    """Return the log-odds where the lower tail is `tail`, at most 1/2."""
    target, log_beta = np.log(tail), special.betaln(a, b)
    # each tail lies below the first term of its power series: a bracket, and far out the answer
    n = a + b
    low = (target + np.log(a) + log_beta) / a
    high = -(np.log1p(-tail) + np.log(b) + log_beta) / b
    y = np.clip(rough_logit(tail, a, b), low, high)
    left, right = low < -_FAR, high > _FAR
    y = np.where(left, low, np.where(right, high, y))
    rounding = 1e-15 * n * np.log(n + 2.0)  # of log_beta
    low, high = low - rounding / a, high + rounding / b
    active = np.flatnonzero(~(left | right))
    for step in range(_STEPS):
        if not len(active):
            break
        here, off, rate, bend = _excess(y[active], target[active], a[active], b[active], log_beta[active])
        low[active] = np.where(off < 0.0, here, low[active])
        high[active] = np.where(off < 0.0, high[active], here)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            after = here - off / rate / np.clip(1.0 - 0.5 * off * bend / rate, 0.5, 2.0)
        close = np.abs(off) < (_CLOSE if step < _STEPS // 2 else _SURE)
        inside = (close & np.isfinite(after)) | ((after > low[active]) & (after < high[active]))
        y[active] = np.where(inside, after, 0.5 * (low[active] + high[active]))
        active = active[~close]
    if len(active):
        i = active[0]
        raise ArithmeticError(
            f"no quantile of Beta({a[i]:.17g}, {b[i]:.17g}) was found at the tail probability {tail[i]:.17g}; "
            "please report these three numbers."
        )
    return y


def _first_term(y: Array, a: Array, b: Array) -> Array:
    """Return the lower tail far out, x^a / (a B(a, b))."""
    return np.asarray(np.exp(np.minimum(a * y - np.log(a) - special.betaln(a, b), 0.0)))


def _excess(y: Array, target: Array, a: Array, b: Array, log_beta: Array) -> tuple[Array, ...]:
    """Return y at the nearest number x, log F - target there, its slope, and the slope's logarithmic derivative."""
    x = special.expit(y)
    tail = special.betainc(a, b, x)
    with np.errstate(divide="ignore"):
        log_x, log_rest, rest = np.log(x), np.log1p(-x), 1.0 - x
    near = np.flatnonzero(y > _NEAR)  # of 1, where numbers are too far apart
    if len(near):
        rest[near] = special.expit(-y[near])
        log_x[near], log_rest[near] = -rest[near], special.log_expit(-y[near])
        tail[near] = special.betaincc(b[near], a[near], rest[near])
    with np.errstate(divide="ignore", over="ignore"):
        log_tail = np.log(tail)
        rate = np.exp(a * log_x + b * log_rest - log_beta - log_tail)
    return log_x - log_rest, log_tail - target, rate, a * rest - b * x - rate


def rough_logit(tail: float | Array, a: Array, b: Array) -> Array:
    """Return about the log-odds: Carter's formula, or where a concentration is small a normal distribution's."""
    z = special.ndtri(tail)
    least = np.minimum(a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        u, v = 1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0)
        h, shift = 2.0 / (u + v), (z * z - 3.0) / 6.0
        w = z * np.sqrt(h + shift) / h + (u - v) * (shift + 5.0 / 6.0 - 2.0 / (3.0 * h))
        carter = np.log(a / b) + 2.0 * w
    rough = special.psi(a) - special.psi(b) + z * np.sqrt(1.0 / a + 1.0 / b)
    return np.asarray(np.where((least > 1.0) & np.isfinite(carter), carter, rough))
