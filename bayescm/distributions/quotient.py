"""Metrics of one class at known class shares: ratios of two forms that are linear in its recall and its false calls.

With shares pi the cells of a class against the rest are tp = pi R, fn = pi (1 - R), fp = V, tn = 1 - pi - V: R is a
Beta, V = sum_i pi_i Q_i over the other rows a sum of Betas, and they are independent. Where the metric, a ratio of
n . (1, R, V) and d . (1, R, V), is at most x, a form linear in R and V is at most 0: its cdf is a mean of that of V
over R.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.distributions import beta_quantiles
from bayescm.distributions.linear import Linear
from bayescm.distributions.protocol import placed
from bayescm.distributions.tabulated import Table, Tabulated, refined

Array = NDArray[np.float64]

_NODES = 320
_TAIL = 1e-14
_ENOUGH = 1e-5  # error of a table
_PASSES, _COARSE = 6, 0.03  # the largest step of the cdf
_STEPS = 0.14 / 2.0 ** np.arange(5)
_GOAL = 1e-6  # of the change at the last halving: the error is about its square
_BLOCK = 2**19
_LINE = np.linspace(-8.25, 8.25, 133)  # normal quantiles: beyond them lies 1e-16


@dataclass(frozen=True, eq=False)
class Quotient(Tabulated):
    """The distribution of (n . (1, R, V)) / (d . (1, R, V)) with R ~ Beta(a, b) and V a sum of Betas, independent.

    It rises with R and falls with V, or the other way round.

    Attributes
    ----------
    above, below : ndarray of shape (..., 3)
        The coefficients n and d.
    a, b : ndarray of shape (...)
        Concentrations of R.
    rest : Linear
        V.
    """

    above: Array
    below: Array
    a: Array
    b: Array
    rest: Linear
    words: ClassVar[str] = "a ratio of sums of Betas"

    @property
    def batch(self) -> tuple[int, ...]:  # noqa: D102
        return np.broadcast_shapes(self.above.shape[:-1], self.a.shape, self.rest.batch)

    def at(self, *place: Any) -> "Quotient":  # noqa: D102
        above, below = (placed(v, self.batch, place, parts=True) for v in (self.above, self.below))
        a, b = (placed(v, self.batch, place) for v in (self.a, self.b))
        return Quotient(above, below, a, b, self.rest.at(*place))

    @cached_property
    def tables(self) -> list[Table]:  # noqa: D102
        return [_table(*each) for each in self._each()]

    def _each(self) -> Iterator[tuple[Any, ...]]:
        """Return the forms, the concentrations and the table of V of each matrix."""
        forms = [np.broadcast_to(v, (*self.batch, 3)).reshape(-1, 3) for v in (self.above, self.below)]
        betas = [np.broadcast_to(v, self.batch).ravel() for v in (self.a, self.b)]
        return zip(*forms, *betas, self.rest.tables, strict=True)

    @cached_property
    def _moments(self) -> Array:
        return np.array([_moments(*each) for each in self._each()]).reshape(*self.batch, 2)

    def mean(self) -> Array:
        """Return the mean."""
        return self._moments[..., 0]

    def sd(self) -> Array:
        """Return the standard deviation."""
        return self._moments[..., 1]


def _table(above: Array, below: Array, a: float, b: float, rest: Table) -> Table:
    """Tabulate one distribution, on nodes that lie closer at the ends, where the density may be infinite."""
    r = np.array([beta_quantiles.ppf(_TAIL, a, b), beta_quantiles.isf(_TAIL, a, b)])
    v = np.clip(rest.x[[0, -1]], *rest.range)
    corners = np.stack([np.ones(4), np.repeat(r, 2), np.tile(v, 2)])
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 / 0 at one corner: others have the same limits
        corner = (above @ corners) / (below @ corners)
    low, high = float(np.nanmin(corner)), float(np.nanmax(corner))
    share = special.betainc(4.0, 4.0, np.arange(_NODES + 1) / _NODES)
    x, place = low + (high - low) * share, np.arange(_NODES + 1.0)
    for _ in range(_PASSES):  # half of the nodes go where the probability lies
        found, doubt = _cdf(x[1:-1], above, below, a, b, r, rest)
        cdf = np.concatenate([[0.0], np.maximum.accumulate(found), [1.0]])
        new = np.union1d(np.interp(share[::2], cdf + 1e-13 * place, x), np.interp(place[::2], place, x))
        if len(new) < _NODES // 2 or np.diff(cdf).max() < _COARSE:
            break
        x = new
        place = np.arange(float(len(x)))
    half = Table(x[::2], cdf[::2], np.zeros(len(x[::2])), (x[0], x[-1]))
    apart = np.abs(half.cdf(x) - cdf)  # about 16 times the error
    nearby = np.max([np.roll(apart, k) for k in range(-3, 4)], axis=0)
    errors = nearby / 8.0 + np.interp(x, x[1:-1], doubt)
    if errors.max() <= _ENOUGH:
        return Table(x, cdf, errors, (float(x[0]), float(x[-1])))

    def anywhere(at: Array) -> tuple[Array, Array]:
        values, doubts, inside = (at >= high).astype(np.float64), np.zeros(len(at)), (at > low) & (at < high)
        values[inside], doubts[inside] = _cdf(at[inside], above, below, a, b, r, rest)
        return values, doubts

    return refined(anywhere, x[:: len(x) // 100], corner[np.isfinite(corner)])


def _moments(above: Array, below: Array, a: float, b: float, rest: Table) -> tuple[float, float]:
    """Return mean and standard deviation, by the trapezoid rule in the normal quantiles of R and V.

    Not by the table: an error of its cdf counts for what it is times the range, which may be a million times the sd.
    """
    bell = np.exp(-0.5 * _LINE**2)
    r, v = special.expit(beta_quantiles.logit_at_normal(_LINE, a, b)), rest.ppf(special.ndtr(_LINE))
    at = np.stack(np.broadcast_arrays(1.0, r[:, None], v), -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = (at @ above) / (at @ below)
    middle = values[len(_LINE) // 2, len(_LINE) // 2]
    away = np.where(np.isfinite(values), values - middle, 0.0)  # 0 / 0 where both underflow
    weights = np.outer(bell, bell) / bell.sum() ** 2
    first, second = (weights * away).sum(), (weights * away**2).sum()
    return float(middle + first), float(np.sqrt(max(second - first**2, 0.0)))


def _cdf(x: Array, above: Array, below: Array, a: float, b: float, r: Array, rest: Table) -> tuple[Array, Array]:
    """Return the cdf at x and its error: a hundredth of the change at the last halving, and the mean of that of V's.

    The form is c + s R + u V <= 0. It is 0 at V = v(R) = -(c + s R) / u, which rises with R: from where v is 0
    tanh-sinh quadrature goes to the largest R.
    """
    c, s, u = above[:, None] - below[:, None] * x
    start = np.clip(-c / np.where(s == 0.0, np.nan, s), *r)

    def mean(values: Callable[[Array], Array], step: float) -> Array:
        t = np.arange(-round(3.2 / step), round(3.2 / step) + 1) * step
        share, other = special.expit(np.pi * np.sinh(t)), special.expit(-np.pi * np.sinh(t))
        rule = share, other, step * np.pi * np.cosh(t) * share * other
        blocks = [slice(i, i + _BLOCK // len(t) + 1) for i in range(0, len(x), _BLOCK // len(t) + 1)]
        forms = [(c[part], s[part], u[part], start[part]) for part in blocks]
        return np.concatenate([_mean(form, rule, a, b, float(r[1]), values) for form in forms])

    found = np.full(len(x), np.nan)
    for step in _STEPS:
        before, found = found, mean(rest.cdf, step)
        change = np.abs(found - before)
        if change.max() < _GOAL:
            break
    doubt = 0.01 * change + mean(rest.doubt, _STEPS[0])
    return np.clip(np.where(u > 0.0, found, 1.0 - found), 0.0, 1.0), doubt


def _mean(
    forms: tuple[Array, ...],
    rule: tuple[Array, ...],
    a: float,
    b: float,
    largest: float,
    values: Callable[[Array], Array],
) -> Array:
    """Return the mean of values at v(R), probabilities of V or their errors, over R from the start on."""
    (c, s, u, start), (share, other, weight) = (v[:, None] for v in forms), rule
    width = largest - start
    at = start + width * share
    left = (1.0 - largest) + width * other  # 1 - R
    density = np.exp((a - 1.0) * np.log(at) + (b - 1.0) * np.log(left) - special.betaln(a, b))
    return np.asarray((values(-(c + s * at) / u) * density * weight * width).sum(-1))
