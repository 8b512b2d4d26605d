"""Sums of weighted independent Betas: averages over classes, and what is linear in the rates at known class shares.

Under a cell Dirichlet the rows are independent of one another, and so are the columns: recall of each class is a Beta
independent of the others', and precision too. The characteristic function of each Beta is a sum over some hundred
points, that of the sum is their product, and a Fourier series over the stretch where the sum lies gives its cdf.
Terms are added until those left out can't matter.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.distributions.protocol import Distribution, placed
from bayescm.distributions.tabulated import Table, Tabulated
from bayescm.distributions.two_sums import narrow_beta, narrow_table, one_table, sum_table

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

_LOG_TAIL = 30.0  # minus the log of the probability beyond the table
_GOAL = 2e-8  # of probabilities
_STEEP = 8.0  # sum of concentrations, up to which an end has a power series of its own
_EDGE, _TERMS, _EDGE_ERROR = 6.0, 48, 1e-7
_FEWEST, _FADING, _MOST = 32, 128, 2**13  # terms of the series: the first ones, where the last may fade, and most
_NODES = 16  # of the table for each term
_LEAST_NODES = 1024
_SHIFT, _TURN = 1.25, 0.7  # of the path of integration: standard deviations, radians
_LOG_ALIAS = 26.0  # minus the log of the error of a characteristic function
_POINT = 1e-9  # phase that is none
_NOTHING = 1e-18  # weight that is none
_ROUNDING = 1e-12
_AT_END = 1e-6  # of the length of a table
_ENOUGH = 1e-6  # error of a table
_ROUNDED = 1e-15  # of the largest weight: what is smaller is rounding


@dataclass(frozen=True, eq=False)
class Linear(Tabulated):
    """The distribution of c + sum_i w_i X_i with independent X_i ~ Beta(a_i, b_i).

    Probabilities are right to 1e-8, but where the density is infinite or nearly so; `error` says how right.

    Attributes
    ----------
    weights, a, b : ndarray of shape (..., m)
        Weights, which may be negative, and concentrations.
    constant : ndarray of shape (...)
    """

    weights: Array
    a: Array
    b: Array
    constant: Array | float = 0.0
    words: ClassVar[str] = "a sum of Betas"

    @property
    def batch(self) -> tuple[int, ...]:  # noqa: D102
        each = self.weights.shape[:-1], self.a.shape[:-1], self.b.shape[:-1], np.shape(self.constant)
        return np.broadcast_shapes(*each)

    def at(self, *place: Any) -> "Linear":  # noqa: D102
        weights, a, b = (placed(v, self.batch, place, parts=True) for v in (self.weights, self.a, self.b))
        return Linear(weights, a, b, placed(self.constant, self.batch, place))

    def minus(self, other: Distribution) -> "Linear | None":  # noqa: D102
        if not isinstance(other, Linear):
            return None
        batch = np.broadcast_shapes(self.batch, other.batch)

        def joined(first: Array, second: Array) -> Array:
            return np.concatenate([np.broadcast_to(v, (*batch, v.shape[-1])) for v in (first, second)], -1)

        weights, a, b = joined(self.weights, -other.weights), joined(self.a, other.a), joined(self.b, other.b)
        return Linear(weights, a, b, np.asarray(self.constant) - np.asarray(other.constant))

    @cached_property
    def tables(self) -> list[Table]:  # noqa: D102
        m = self.weights.shape[-1]
        each = [np.broadcast_to(v, (*self.batch, m)).reshape(-1, m) for v in (self.weights, self.a, self.b)]
        constants = np.broadcast_to(self.constant, self.batch).ravel()
        return [_best(w[w != 0], a[w != 0], b[w != 0], float(c)) for w, a, b, c in zip(*each, constants, strict=True)]

    def mean(self) -> Array:
        """Return the mean."""
        return np.asarray(self.constant + (self.weights * self.a / (self.a + self.b)).sum(-1))

    def sd(self) -> Array:
        """Return the standard deviation."""
        return np.sqrt(_variances(self.weights, self.a, self.b).sum(-1))


def _variances(weights: Array, a: Array, b: Array) -> Array:
    n = a + b
    return np.asarray(weights**2 * a * b / (n**2 * (n + 1.0)))


def _reach(weights: Array, a: Array, b: Array) -> float:
    """Return how far above its mean the sum is, but for the tail left out.

    Bernstein's inequality for Betas (Skorski 2023), whose constants add up over independent ones, or the largest sum.
    """
    n = a + b
    scale = max(float((2.0 * weights * (b - a) / (n * (n + 2.0))).max()), 0.0) / 3.0 * _LOG_TAIL
    reach = scale + np.sqrt(scale**2 + 2.0 * _LOG_TAIL * _variances(weights, a, b).sum())
    return float(min(reach, (weights * b / n).sum()))


def _best(weights: Array, a: Array, b: Array, constant: float) -> Table:
    """Tabulate one distribution by its series; where that doesn't converge, from 0 on, as a wide and a narrow sum."""
    table = _table(weights, a, b, constant)
    if table.errors.max() <= _ENOUGH:
        return table
    flip, matters = a > b, np.abs(weights) > _ROUNDED * np.abs(weights).max()
    base = constant + float(weights[flip].sum())  # where each Beta is at its steeper end
    away = np.where(flip, -weights, weights), np.minimum(a, b), np.maximum(a, b)
    other = _nested(*(v[matters] for v in away)).moved(base)
    return min(table, other, key=lambda one: float(one.errors.max()))


def _nested(weights: Array, a: Array, b: Array) -> Table:
    """Tabulate a sum as that of the widest ones, down to the largest step between their sds, and of the others."""
    if len(weights) == 1:
        return one_table(float(weights[0]), float(a[0]), float(b[0]))
    sd = np.sqrt(_variances(weights, a, b))
    order = np.argsort(-sd)
    cut = int(np.argmax(sd[order[:-1]] / sd[order[1:]])) + 1
    wide, rest = ((weights[part], a[part], b[part]) for part in (order[:cut], order[cut:]))
    narrow = narrow_beta(*(float(v[0]) for v in rest)) if len(rest[0]) == 1 else narrow_table(_table_of(*rest))
    return sum_table(_table_of(*wide), narrow)


def _table_of(weights: Array, a: Array, b: Array) -> Table:
    """Tabulate a part of a sum, by its series where that converges."""
    table = _table(weights, a, b, 0.0) if len(weights) > 1 else None
    return table if table is not None and table.errors.max() <= _ENOUGH else _nested(weights, a, b)


def _table(weights: Array, a: Array, b: Array, constant: float) -> Table:
    """Tabulate one distribution: by its Fourier series, and by a power series next to an end that it may lie at."""
    base = constant + float(weights[a > b].sum())  # where each Beta is at its steeper end
    sign, scale = np.where(a > b, -1.0, 1.0) * np.sign(weights), np.abs(weights)
    p, q = np.minimum(a, b), np.maximum(a, b)
    forth, back = np.where(sign > 0, (p, q), (q, p))
    ends = constant + float(np.minimum(weights, 0.0).sum()), constant + float(np.maximum(weights, 0.0).sum())
    mean = constant + float((weights * a / (a + b)).sum())
    low, high = mean - _reach(scale, back, forth), mean + _reach(scale, forth, back)
    near = _AT_END * (high - low)
    edges = [
        _edge(scale, forth, back) if low <= ends[0] + near else None,
        _edge(scale, back, forth) if high >= ends[1] - near else None,
    ]
    low, high = low - _width(edges[0]), high + _width(edges[1])  # what is wrong around an end stays beyond the other
    length = high - low

    found, sizes = np.empty(0, np.complex128), np.empty(0)
    while True:
        first, last = len(found) + 1, max(2 * len(found), _FEWEST)
        terms = _characteristic(scale / length, p, q, first, last)
        shift = np.exp(2j * np.pi * ((base - low) / length) * np.arange(first, last + 1))
        found = np.concatenate([found, np.where(sign[:, None] > 0, terms, terms.conj()).prod(0) * shift])
        sizes = np.concatenate([sizes, np.abs(found[first - 1 :]) / (np.pi * np.arange(first, last + 1))])
        before, now = sizes[last // 4 : last // 2].sum(), sizes[last // 2 :].sum()
        ratio = min(now / before, 0.95) if before else 0.0
        rest = now * ratio / (1.0 - ratio)
        if rest > _GOAL and last < _FADING:
            continue
        x, cdf, pdf, errors = _series(found, low, length, mean, rest)
        inside = (x > ends[0] + _width(edges[0])) & (x < ends[1] - _width(edges[1]))
        if last >= _MOST or errors[inside].max(initial=0.0) <= _GOAL:
            break
    parts = [v[inside] for v in (x, cdf, pdf, errors)]
    if edges[0] is not None:
        parts = [np.concatenate(both) for both in zip((ends[0] + edges[0][0], *edges[0][1:]), parts, strict=True)]
    if edges[1] is not None:
        distance, above, density, error = (v[::-1] for v in edges[1])
        parts = [
            np.concatenate(both) for both in zip(parts, (ends[1] - distance, 1 - above, density, error), strict=True)
        ]
    x, cdf, pdf, errors = (v[np.diff(parts[0], prepend=-np.inf) > 0.0] for v in parts)
    return Table(x, cdf, errors + _ROUNDING, ends, pdf)


def _width(edge: tuple[Array, ...] | None) -> float:
    return 0.0 if edge is None else float(edge[0][-1])


def _edge(scale: Array, near: Array, far: Array) -> tuple[Array, ...] | None:
    """Return distances from an end, the probability within, the density and an error; None where it hardly matters.

    The density of each Beta there is a power times a power series; sums of these are too.
    """
    power = float(near.sum())
    if power > _STEEP:
        return None
    most = min(_EDGE / float(((far + 1.0) / scale).max()), 0.5 * float(scale.min()))
    distance = most * np.concatenate([[0.0], np.geomspace(1e-12, 0.1, 400, endpoint=False), np.linspace(0.1, 1.0, 400)])
    terms = np.arange(_TERMS)
    series = np.ones(1)
    for w, c, d in zip(scale, near, far, strict=True):
        each = np.cumprod(np.append(1.0, (c + terms[:-1]) * (terms[:-1] + 1.0 - d) / (terms[:-1] + 1.0) * (most / w)))
        series = np.convolve(series, each)[:_TERMS]
    series = series / np.append(1.0, np.cumprod(power + terms[1:]))
    lead = (special.gammaln(near + far) - special.gammaln(far) - near * np.log(scale)).sum() - special.gammaln(
        power + 1.0
    )
    share = distance / most
    with np.errstate(divide="ignore"):
        start = np.exp(lead + special.xlogy(power, distance))
    found = start * np.polynomial.polynomial.polyval(share, series)
    density = start[1:] / distance[1:] * np.polynomial.polynomial.polyval(share[1:], series * (power + terms))
    error = found * (_EDGE_ERROR + (abs(series[-1]) + 1e-16 * np.abs(series).max()) / abs(series.sum()))
    return distance, found, np.append(density[0], density), error


def _series(found: Complex, low: float, length: float, mean: float, rest: float) -> tuple[Array, Array, Array, Array]:
    """Return nodes, and there the cdf, the density and the error of the cdf; the last terms fade if a rest matters."""
    m = len(found)
    n = max(_NODES * m, _LEAST_NODES)

    def at_nodes(terms: Complex, size: int) -> tuple[Array, Array]:
        waves = np.fft.irfft(np.append(0.0, (terms / (-2j * np.pi * np.arange(1, len(terms) + 1))).conj()), size) * size
        density = np.fft.irfft(np.append(1.0, terms.conj()), size) * (size / length)
        level = (low + length - mean) / length - 0.5  # so that the mean is right
        cdf = np.arange(size + 1) / size + level + np.append(waves, waves[0])
        return cdf, np.append(density, density[0])

    x = low + length * np.arange(n + 1) / n
    fading = np.ones(m) if rest <= _GOAL else _fading(m)
    cdf, pdf = at_nodes(found * fading, n)
    between = (
        (2.0 * np.pi / n) ** 4 / 384.0 / np.pi * float((np.abs(found) * fading * np.arange(1.0, m + 1) ** 3).sum())
    )
    if rest <= _GOAL:
        return x, cdf, pdf, np.full(n + 1, rest + between)
    from scipy.ndimage import maximum_filter1d  # late: it takes as long to import as much of the library

    coarse, _ = at_nodes(found[: m // 2] * fading[1::2], n)
    return x, cdf, pdf, 2.0 * maximum_filter1d(np.abs(cdf - coarse), 4 * n // m + 1) + between


def _fading(m: int) -> Array:
    """Return factors of m terms that fall smoothly from 1 to 0 in the second half.

    Away from where the density is infinite the terms left out then hardly matter.
    """
    u = np.clip(2.0 * np.arange(1, m + 1) / m - 1.0, 1e-3, 1.0 - 1e-3)
    return np.asarray(special.expit(1.0 / u - 1.0 / (1.0 - u)))


def _characteristic(scale: Array, p: Array, q: Array, first: int, last: int) -> Complex:
    """Return E exp(2 pi i k scale Y) of each Y ~ Beta(p, q), p <= q, for k from `first` to `last`, along a new axis."""
    y, weight = _points(p, q, 2.0 * np.pi * scale * last)
    phase = 2j * np.pi * scale[:, None] * y
    weight = weight * np.exp(first * phase)
    matters = np.abs(weight) > _NOTHING
    stop = int(np.flatnonzero(matters.any(0))[-1]) + 1
    phase, weight = (np.where(matters, v, 0.0)[:, :stop] for v in (phase, weight))
    n = last - first + 1
    side = 2 ** int(np.ceil(0.5 * np.log2(n)))
    little, big = _powers(phase, side, 1.0), _powers(side * phase, -(-n // side), weight)
    return np.asarray((big.swapaxes(1, 2) @ little).reshape(len(p), -1)[:, :n])


def _powers(phase: Complex, n: int, factor: Any) -> Complex:
    """Return factor exp(k phase) for k from 0 to n - 1, along a new axis behind that of the points."""
    each = np.repeat(np.exp(phase)[..., None], n, -1)
    each[..., 0] = factor
    return np.asarray(np.cumprod(each, -1))


def _points(p: Array, q: Array, top: Array) -> tuple[Complex, Complex]:
    """Return points and weights, (m, n) each, whose sums are means of exp(i t Y), Y ~ Beta(p, q), for 0 <= t <= top.

    The trapezoid rule in the log-odds of Y. Its path lies above the real line, where the exponential falls, so that the
    error is the same for all t; where Y is nearly 0, or 1, the rest of the sum is a geometric one.
    """
    sd = np.sqrt(1.0 / p + 1.0 / q)
    height = np.minimum(_SHIFT * sd, _TURN)
    mode = np.log(p / q)
    start = np.maximum(mode - 8.0 * sd - _LOG_TAIL / p, np.log(_POINT / np.maximum(top, q)))
    stop = np.minimum(mode + 8.0 * sd + _LOG_TAIL / q, np.log(np.maximum(top, p) / _POINT))
    n = int(np.ceil((_LOG_ALIAS * (stop - start) / (2.0 * np.pi * height)).max())) + 1
    step = (stop - start) / (n - 1)
    odds: Complex = start[:, None] + step[:, None] * np.arange(n) + 1j * height[:, None]
    log = -p[:, None] * np.log1p(np.exp(-odds)) - q[:, None] * np.log1p(np.exp(odds))
    weight = np.exp(log - log.real.max(1, keepdims=True))
    weight[:, 0] /= -np.expm1(-p * step)
    weight[:, -1] /= -np.expm1(-q * step)
    return np.asarray(1.0 / (1.0 + np.exp(-odds))), np.asarray(weight / weight.sum(1, keepdims=True))
