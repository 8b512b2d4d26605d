"""The sum of a wide and a narrow variable whose densities may be infinite: where no Fourier series converges.

P(W + N <= x) is the mean of P(W <= x - N) over N, by tanh-sinh quadrature in the normal quantile of N between the
places where W is at an end of its range.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.distributions import beta_quantiles
from bayescm.distributions.tabulated import Table, refined

Array = NDArray[np.float64]

_REACH = 8.25  # normal quantile: beyond it lies less than 1e-15
_LINE = np.linspace(-_REACH, _REACH, 331)
_STEPS = 0.15 / 2.0 ** np.arange(4)
_GOAL = 1e-6  # of the change at the last halving: the error is about its square
_ROUNDING = 1e-12
_BLOCK = 2**19


class Narrow(NamedTuple):
    """The narrow variable: its value at normal quantiles, and the normal quantile at its values."""

    values: Callable[[Array], Array]
    normal: Callable[[Array], Array]
    range: tuple[float, float]
    error: float


def one_table(weight: float, a: float, b: float) -> Table:
    """Tabulate weight X with X ~ Beta(a, b)."""

    def cdf(x: Array) -> tuple[Array, Array]:
        tail = special.betainc if weight > 0.0 else special.betaincc
        return tail(a, b, np.clip(x / weight, 0.0, 1.0)), np.full(x.shape, _ROUNDING)

    at = special.expit(beta_quantiles.logit_at_normal(_LINE[::4], a, b))
    return refined(cdf, weight * at, (min(weight, 0.0), max(weight, 0.0)))


def narrow_beta(weight: float, a: float, b: float) -> Narrow:
    """Return weight X with X ~ Beta(a, b)."""
    from scipy.interpolate import make_interp_spline

    sign = np.sign(weight)
    odds = make_interp_spline(_LINE, beta_quantiles.logit_at_normal(_LINE, a, b), 5)

    def normal(x: Array) -> Array:
        with np.errstate(divide="ignore"):
            y = np.log(np.clip(x / weight, 0.0, None)) - np.log(np.clip(1.0 - x / weight, 0.0, None))
        below, above = beta_quantiles.logit_cdf(y, a, b), beta_quantiles.logit_cdf(-y, b, a)
        return np.asarray(sign * np.where(below < above, special.ndtri(below), -special.ndtri(above)))

    range = min(weight, 0.0), max(weight, 0.0)
    return Narrow(lambda z: weight * special.expit(odds(sign * z)), normal, range, 0.0)


def narrow_table(table: Table) -> Narrow:
    """Return a variable that is tabulated."""
    from scipy.interpolate import PchipInterpolator

    x = np.maximum.accumulate(table.ppf(special.ndtr(_LINE)))
    values = PchipInterpolator(_LINE, x)
    return Narrow(values, lambda x: special.ndtri(table.cdf(x)), table.range, float(table.errors.max()))


def sum_table(wide: Table, narrow: Narrow) -> Table:
    """Tabulate the sum of the two."""

    def cdf(x: Array) -> tuple[Array, Array]:
        first, last = (np.clip(narrow.normal(x - end), -_REACH, _REACH)[:, None] for end in wide.range[::-1])
        found = np.full(len(x), np.nan)
        for step in _STEPS:
            before, found = found, special.ndtr(first[:, 0]) + _mean(wide.cdf, narrow, x, first, last, step)
            change = np.abs(found - before)
            if change.max() < _GOAL:
                break
        doubt = _mean(wide.doubt, narrow, x, first, last, _STEPS[0])
        return found, doubt + 0.01 * change + narrow.error + _ROUNDING

    corners = [end + other for end in wide.range for other in narrow.range]
    line, each = narrow.values(_LINE[::10]), max(len(wide.x) // 100, 1)
    start = [wide.x[::each] + line[len(line) // 2], *(end + line for end in wide.range)]
    return refined(cdf, np.concatenate(start), corners)


def _mean(values: Callable[[Array], Array], narrow: Narrow, x: Array, first: Array, last: Array, step: float) -> Array:
    t = np.arange(-round(3.5 / step), round(3.5 / step) + 1) * step
    share = special.expit(np.pi * np.sinh(t))
    weight = step * np.pi * np.cosh(t) * share * special.expit(-np.pi * np.sinh(t)) / np.sqrt(2.0 * np.pi)
    found = []
    rows = _BLOCK // len(t) + 1
    for i in range(0, len(x), rows):
        part = slice(i, i + rows)
        normal = first[part] + (last - first)[part] * share
        at = values(x[part, None] - narrow.values(normal))
        found.append((at * np.exp(-0.5 * normal**2) * weight).sum(-1) * (last - first)[part, 0])
    return np.concatenate(found)
