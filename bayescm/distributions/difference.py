"""Exact distributions of the difference and of the ratio of two systems' metrics."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.distributions import Beta
from bayescm.distributions.contrast import Contrast
from bayescm.distributions.quadrature import GOAL, LINE, Outer, mean_on_line, stacked

Array = NDArray[np.float64]

_TOGETHER = 256  # contrasts, whose values at the fixed nodes fill a cache of the processor
_STEPS = 9  # at most from near a quantile to it
_ASIDE = 0.1  # normal quantiles on either side, for a first slope
_CLOSE = 1e-8  # normal quantiles from the one that is wanted, before the last step


@dataclass(frozen=True, eq=False)
class Independent(Contrast):
    """The distribution of X - Y, or of X / Y for positive ones, of independent X and Y.

    P(X - Y <= d) is the mean of P(X <= Y + d) over Y, or of P(Y >= X - d) over X: the narrower distribution is outside.

    Attributes
    ----------
    first, second : Outer
    ratio : bool
    """

    first: Outer
    second: Outer
    ratio: bool = False

    def both(self, x: float) -> tuple[Array, float]:  # noqa: D102
        inside, outside, sign = self.order
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            cuts = self._moved(inside.lower, x, -sign), self._moved(inside.upper, x, -sign)
            found, error = outside.mean_of(lambda y: self._given(y, x), cuts)
        return found, error + inside.error + outside.error

    @cached_property
    def order(self) -> tuple[Outer, Outer, float]:
        """Which is inside, which outside, and 1.0 if the first is inside, else -1.0."""
        middle = len(LINE) // 2
        first, second = (float(line[middle + 8] - line[middle - 8]) for line in self.lines)  # of 95%
        wide = first >= second
        return (self.first, self.second, 1.0) if wide else (self.second, self.first, -1.0)

    def _moved(self, y: Any, x: Any, direction: Any) -> Any:
        return y * x**direction if self.ratio else y + direction * x

    def _given(self, y: Array, x: float) -> Array:
        """Return the probabilities below and above x, (2, n), given values (n,) of the variable outside."""
        inside, _, sign = self.order
        return np.stack(inside.dist.tails(self._moved(y, x, sign))[:: int(sign)])

    def _normals(self, places: Array) -> Array:
        return np.asarray(_normals([self], places[None])[0][0])

    @property
    def lines(self) -> tuple[Array, Array]:
        """Both variables at the fixed nodes; for a ratio their logarithms."""
        return (self.first.log_line, self.second.log_line) if self.ratio else (self.first.line, self.second.line)

    def _stepwise(self, wanted: Array) -> Array:
        return np.asarray(_stepwise([self], wanted)[0])

    def bracket(self, p: float) -> tuple[float, float]:
        """Return bounds by Bonferroni's inequality, from the fixed nodes next to the quantiles."""
        ends = special.ndtri(0.5 * p), -special.ndtri(0.5 * (1.0 - p))
        places = np.clip(np.searchsorted(LINE, ends) - [1, 0], 0, len(LINE) - 1)
        pairs = zip(self.first.line[places], self.second.line[-1 - places], strict=True)
        with np.errstate(divide="ignore", over="ignore"):
            found = [float(a / b) if self.ratio else float(a - b) for a, b in pairs]
        return found[0], found[1]

    def mean(self) -> float:
        """Return the mean of the difference."""
        with np.errstate(invalid="ignore"):
            return float(self.first.dist.mean() - self.second.dist.mean())

    def sd(self) -> float:
        """Return the standard deviation of the difference."""
        return float(np.hypot(self.first.dist.sd(), self.second.dist.sd()))


@dataclass(frozen=True, eq=False)
class Discordant(Contrast):
    """The distribution of the difference of two proportions of the same items.

    Of the items, the share that only the first system gets and the share that only the second gets are two cells of a
    Dirichlet; the difference is T(2U - 1) with T ~ Beta(b + c, r) and U ~ Beta(b, c), independent.

    Attributes
    ----------
    b, c, r : float
        Concentrations: only the first, only the second, the rest.
    """

    b: float
    c: float
    r: float

    @cached_property
    def size(self) -> Outer:
        """T: the share of the items on which the systems differ."""
        return Outer(Beta(np.float64(self.b + self.c), np.float64(self.r)), 0.0, 1.0)  # type: ignore[arg-type]

    @cached_property
    def part(self) -> Outer:
        """U: of these, the share that the first gets."""
        return Outer(Beta(np.float64(self.b), np.float64(self.c)), 0.0, 1.0)  # type: ignore[arg-type]

    def both(self, x: float) -> tuple[Array, float]:  # noqa: D102
        side, size = self.part.dist, self.size.dist
        if x == 0.0:
            return np.array([side.cdf(0.5), side.sf(0.5)]), 0.0
        if abs(x) >= 1.0:
            return np.array([1.0, 0.0] if x > 0 else [0.0, 1.0]), 0.0
        lean = (self.b - self.c) / (self.b + self.c)
        if lean and float(size.sd() / size.mean()) > 2.0 * float(side.sd()) / abs(lean):
            return self.part.mean_of(lambda u: self._given_side(u, x), (0.5, 0.5 * (1.0 + x)))
        return self.size.mean_of(lambda t: self._given_size(t, x), (abs(x),))

    def _given_size(self, t: Array, x: float) -> Array:
        with np.errstate(divide="ignore", over="ignore"):
            at = 0.5 + 0.5 * (x / t)
        return np.stack(self.part.dist.tails(at))

    def _given_side(self, u: Array, x: float) -> Array:
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            at = x / (2.0 * u - 1.0)
        far = (at < 0.0) | np.isnan(at)  # on the other side of 0 than x
        below, above = self.size.dist.tails(at)
        below, above = np.where(far, x > 0, below), np.where(far, x < 0, above)
        return np.stack([below, above] if x > 0 else [np.where(far, below, above), np.where(far, above, below)])

    def bracket(self, p: float) -> tuple[float, float]:
        """Return the range."""
        return -1.0, 1.0

    def mean(self) -> float:
        """Return the mean."""
        return (self.b - self.c) / (self.b + self.c + self.r)

    def sd(self) -> float:
        """Return the standard deviation."""
        n = self.b + self.c + self.r
        return float(np.sqrt(((self.b + self.c) / n - self.mean() ** 2) / (n + 1.0)))


def find_probabilities(contrasts: Sequence[Independent], x: Sequence[float]) -> None:
    """Find the probabilities of many differences, or of many ratios, below and above x all at once: each keeps its own.

    Those for which the fixed nodes aren't enough work them out by themselves when they are asked.
    """
    for some in _in_parts(contrasts):
        found, error = _on_line(some, np.tile(x, (len(some), 1)))
        for i, j in np.argwhere(error <= GOAL).tolist():
            one = some[i]
            one._asked[x[j]] = found[i, j] / found[i, j].sum(), float(error[i, j]) + one.first.error + one.second.error


def find_quantiles(contrasts: Sequence[Independent], p: Sequence[float]) -> None:
    """Find the quantiles of many differences, or of many ratios, at p all at once: each keeps its own."""
    wanted = special.ndtri(p)
    for some in _in_parts(contrasts) if len(wanted) else ():
        for one, places in zip(some, _stepwise(some, wanted).tolist(), strict=True):
            one._placed.update(zip(wanted.tolist(), places, strict=True))


def _in_parts(contrasts: Sequence[Independent]) -> Iterator[Sequence[Independent]]:
    for start in range(0, len(contrasts), _TOGETHER):
        yield contrasts[start : start + _TOGETHER]


def _on_line(contrasts: Sequence[Independent], x: Array) -> tuple[Array, Array]:
    """Return the probabilities below and above places (n, m) of n contrasts, (n, m, 2), by the fixed nodes; the errors.

    Those with the same distribution inside are evaluated together, and all with a Beta inside.
    """
    alike: dict[Any, list[int]] = {}
    for i, one in enumerate(contrasts):
        dist = one.order[0].dist
        alike.setdefault(dist.link if isinstance(dist, Beta) else id(dist), []).append(i)
    found, error = np.empty((*x.shape, 2)), np.empty(x.shape)
    for members in alike.values():
        inside = stacked([contrasts[i].order[0].dist for i in members])
        line = np.array([contrasts[i].order[1].line for i in members])[:, None]
        sign = np.array([contrasts[i].order[2] for i in members])[:, None, None]
        at = x[members][..., None]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            tails = np.stack(inside.tails(contrasts[0]._moved(line, at, sign)), -2)
            exchanged = sign[:, 0, 0] < 0
            tails[exchanged] = tails[exchanged][:, :, ::-1]
            found[members], error[members] = mean_on_line(tails)
    return found, error


def _normals(contrasts: Sequence[Independent], places: Array, *, exact: bool = True) -> tuple[Array, NDArray[np.bool_]]:
    """Return the normal quantiles of places (n, m), of ratios logarithms, of n contrasts; of which all are right.

    Of those for which the fixed nodes aren't enough they are right if `exact`.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        found, error = _on_line(contrasts, np.exp(places) if contrasts[0].ratio else places)
        below, above = np.moveaxis(found, -1, 0)
        normal = np.where(below < above, special.ndtri(below), -special.ndtri(above))
    rough = ~(error < GOAL)
    for i, j in np.argwhere(rough).tolist() if exact else ():
        normal[i, j] = contrasts[i]._normal(float(places[i, j]))
    return np.asarray(normal), ~rough.any(1) | exact


def _nearby(lines: Array, normal: Array) -> Array:
    """Return places (n, m) close to those of normal quantiles (m,): distances from the medians, squared and added."""
    middle = len(LINE) // 2
    between = np.maximum(1.0 - np.abs(np.clip(normal, LINE[0], LINE[-1]) - LINE[:, None]) / (LINE[1] - LINE[0]), 0.0)
    (one, other), (first, second) = lines, lines[..., middle, None]
    away = one @ between - first, other @ between[::-1] - second
    return np.asarray(first - second + np.sign(normal) * np.hypot(*away))


def _stepwise(contrasts: Sequence[Independent], wanted: Array) -> Array:
    """Return the places (n, m) of normal quantiles (m,) by secants from close ones; NaN where few steps don't do.

    On the fixed nodes; then, from there, again for those for which these aren't enough.
    """
    lines = np.array([one.lines for one in contrasts]).swapaxes(0, 1)
    x = _nearby(lines, wanted)
    slope = (_nearby(lines, wanted + _ASIDE) - _nearby(lines, wanted - _ASIDE)) / (2.0 * _ASIDE)
    rest = np.arange(len(contrasts))
    for exact in (False, True):
        if len(rest):
            some = [contrasts[i] for i in rest.tolist()]
            x[rest], slope[rest], right = _secants(some, wanted, x[rest], slope[rest], exact=exact)
            rest = rest[~right]
    return x


def _secants(
    contrasts: Sequence[Independent], wanted: Array, x: Array, slope: Array, *, exact: bool
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return the places (n, m) of normal quantiles (m,) from x, the slopes there, and of which contrasts all are right.

    The last step is taken without a look at where it leads: next to none is left by then.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        normal, right = _normals(contrasts, x, exact=exact)
        excess = normal - wanted
        for _ in range(_STEPS):
            left = np.flatnonzero(~(np.abs(excess) < _CLOSE).all(1)).tolist()
            if not left:
                break
            steep, before = slope[left], excess[left]
            step = -before * steep
            x[left] += step
            normal, right[left] = _normals([contrasts[i] for i in left], x[left], exact=exact)
            excess[left] = normal - wanted
            secant = step / (excess[left] - before)
            slope[left] = np.where((secant > 0.25 * steep) & (secant < 4.0 * steep), secant, steep)
        return np.where(np.abs(excess) < _CLOSE, x - excess * slope, np.nan), slope, right
