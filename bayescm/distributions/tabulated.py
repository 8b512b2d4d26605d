"""Distributions that are tabulated once per matrix: a spline of the cdf answers everything."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.distributions.protocol import Distribution

Array = NDArray[np.float64]

_CLOSE = 1e-12  # of the length of a table, or a probability
_FLAT = 1e-6  # of the largest density: changes that are none
_COARSE = 256  # steps in which a density is seen to rise and fall
_LEFT = 1e-7  # probability that is nearly none
_AT_EDGE = 1e-3  # of an interval: where nodes begin that begin at the edge
_PASSES, _CLOSE_ENOUGH, _MOST = 12, 1e-7, 2**13
_AWAY = np.geomspace(1e-24, 0.5, 80)  # from an end, in lengths


DOUBTFUL = 1e-2
"""Stated error of a tail's probability from which on draws are the better answer: 40,000 have .03."""


class Table:
    """One distribution as a cubic spline of its cdf.

    Parameters
    ----------
    x, cdf : ndarray of shape (n,)
        Nodes, rising, and the cdf there. Beyond them there is no probability.
    errors : ndarray of shape (n,)
        Of the cdf around each node.
    range : tuple of float
        The least and the largest value that there can be.
    pdf : ndarray of shape (n,), optional
        The density at the nodes.
    """

    def __init__(self, x: Array, cdf: Array, errors: Array, range: tuple[float, float], pdf: Array | None = None):
        from scipy.interpolate import CubicHermiteSpline, CubicSpline

        self.x, self.errors, self.range = x, errors, range
        self.values = np.clip(np.maximum.accumulate(cdf), 0.0, 1.0)
        self.spline = CubicSpline(x, cdf) if pdf is None else CubicHermiteSpline(x, cdf, pdf)
        self.slope = self.spline.derivative()

    def moved(self, by: float) -> "Table":
        """Return the distribution of X + by."""
        x = self.x + by
        apart = np.append(True, np.diff(x) > 0.0)
        return Table(x[apart], self.values[apart], self.errors[apart], (self.range[0] + by, self.range[1] + by))

    def _inside(self, x: Array) -> Array:
        return np.asarray(np.clip(x, self.x[0], self.x[-1]))

    def cdf(self, x: Array) -> Array:
        """Return P(X <= x)."""
        found = np.clip(self.spline(self._inside(x)), 0.0, 1.0)
        below = (x <= self.range[0]) | (x < self.x[0])
        return np.where(below, 0.0, np.where((x >= self.range[1]) | (x > self.x[-1]), 1.0, found))

    def pdf(self, x: Array) -> Array:
        """Return the density, 0 outside of the nodes."""
        inside = (x > max(self.range[0], self.x[0])) & (x < min(self.range[1], self.x[-1]))
        return np.where(inside, np.maximum(self.slope(self._inside(x)), 0.0), 0.0)

    def doubt(self, x: Array) -> Array:
        """Return the estimated error of the cdf at x."""
        return np.asarray(np.interp(x, self.x, self.errors))

    def error(self, x: Array) -> Array:
        """Return the estimated error of the cdf at x relative to the smaller of cdf and sf; 0 where that is 0."""
        below = self.cdf(x)
        least = np.minimum(below, 1.0 - below)
        return np.where(least > 0.0, self.doubt(x) / np.where(least > 0.0, least, 1.0), 0.0)

    def ppf(self, p: Array) -> Array:
        """Return the quantile at `p`: Newton's steps inside of the cell where it lies."""
        place = np.clip(np.searchsorted(self.values, p), 1, len(self.x) - 1)
        low, high = self.x[place - 1].copy(), self.x[place].copy()
        found = 0.5 * (low + high)
        for _ in range(50):
            excess = self.spline(found) - p
            low, high = np.where(excess < 0.0, found, low), np.where(excess < 0.0, high, found)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = found - excess / self.slope(found)
            moved = np.where((step >= low) & (step <= high), step, 0.5 * (low + high))
            close, found = np.abs(moved - found).max(initial=0.0) <= _CLOSE * (self.x[-1] - self.x[0]), moved
            if close:
                break
        found = np.where(p <= self.values[0], self.x[0], np.where(p > self.values[-1], self.x[-1], found))
        found = np.where(p <= 0.0, self.range[0], np.where(p >= 1.0, self.range[1], found))
        return np.asarray(np.clip(found, *self.range))

    @cached_property
    def single_peak(self) -> bool:
        """Whether the density rises, then falls, in coarse steps."""
        each = max(len(self.x) // _COARSE, 1)
        steps = np.diff(self.x[::each])
        density = np.diff(self.values[::each]) / steps
        turns = np.diff(density)
        doubt = (self.errors[::each][:-1] / steps)[: len(turns)]
        up = turns[np.abs(turns) > 4.0 * doubt + _FLAT * density.max()] > 0.0
        return not (up[1:] & ~up[:-1]).any()

    def hdi(self, prob: float) -> tuple[float, float, bool]:
        """Return the ends of the narrowest interval; equal tails and False where there are several peaks."""
        left = 0.5 * (1.0 - prob)
        if self.single_peak:
            left = self._left(prob)
        ends = self.ppf(np.array([left, left + prob]))
        inside = self._inside(ends)
        lower, upper = np.where(np.abs(inside - ends) > _AT_EDGE * (inside[1] - inside[0]), inside, ends)
        return float(lower), float(upper), self.single_peak

    def _left(self, prob: float) -> float:
        """Return the probability below the narrowest interval; 0, or all, if one end is an edge's.

        Its ends have one density. Of draws they may have one elsewhere, too: the widths say where to look.
        """
        lefts = np.linspace(_LEFT, 1.0 - prob - _LEFT, 33)
        ends = self.ppf(np.stack([lefts, lefts + prob]))
        lower, upper = self.pdf(ends)
        i, last = int((ends[1] - ends[0]).argmin()), len(lefts) - 1
        if (i == 0 and upper[0] <= lower[0]) or (i == last and upper[last] > lower[last]):
            return 0.0 if i == 0 else 1.0 - prob
        least, most = lefts[max(i - 1, 0)], lefts[min(i + 1, last)]
        for _ in range(3):
            lefts = np.linspace(least, most, 17)
            lower, upper = self.pdf(self.ppf(np.stack([lefts, lefts + prob])))
            falls = np.flatnonzero(upper <= lower)
            place = max(falls[0], 1) if len(falls) else len(lefts) - 1
            least, most = lefts[place - 1], lefts[place]
        tilt = (upper - lower)[place - 1 : place + 1]
        share = tilt[0] / (tilt[0] - tilt[1]) if tilt[0] > 0.0 >= tilt[1] else 0.5
        found = float(least + share * (most - least))
        return found if found > self.values[0] else 0.0  # which is all of the first node's, if any


def refined(cdf: Callable[[Array], tuple[Array, Array]], x: Array, corners: Sequence[float]) -> Table:
    """Tabulate a distribution on nodes that are put between others until a spline needs no more.

    Parameters
    ----------
    cdf : callable
        Takes x (n,), rising; returns the cdf and its error there.
    x : ndarray of shape (m,)
        Some of the first nodes.
    corners : sequence of float
        The least and the largest value, and others where the density may be infinite: nodes lie closer there.
    """
    ends = min(corners), max(corners)
    away = (ends[1] - ends[0]) * _AWAY
    x = np.unique(np.concatenate([x, *(c + sign * away for c in corners for sign in (-1.0, 1.0))]))
    least = np.min([np.abs(x - c) for c in corners], axis=0)
    x = np.unique(np.append(corners, x[(least >= away[0]) & (x > ends[0]) & (x < ends[1])]))
    found, doubt = cdf(x)
    places, missed = np.arange(len(x) - 1), np.zeros(len(x) - 1)
    for _ in range(_PASSES):
        new = _middle(x, corners)[places]
        between = (new > x[places]) & (new < x[places + 1])  # else no number lies between
        places, new = places[between], new[between]
        if not len(new) or len(x) > _MOST:
            break
        value, error = cdf(new)
        off = np.abs(Table(x, found, doubt, ends).spline(new) - value)
        missed[places] = off
        missed = np.insert(missed, places + 1, off)
        at = places + 1
        x, found, doubt = (np.insert(*each) for each in ((x, at, new), (found, at, value), (doubt, at, error)))
        left = (places + np.arange(len(places)))[off > _CLOSE_ENOUGH]
        places = np.unique(np.concatenate([left, left + 1]))
    return Table(x, found, doubt + np.maximum(np.append(missed, 0.0), np.append(0.0, missed)) / 4.0, ends)


def _middle(x: Array, corners: Sequence[float]) -> Array:
    """Return numbers between neighbours: of distances from the nearest corner the geometric mean if these differ."""
    middle = 0.5 * (x[1:] + x[:-1])
    corner = np.asarray(corners)[np.argmin([np.abs(middle - c) for c in corners], axis=0)]
    first, last = x[:-1] - corner, x[1:] - corner
    near, far = np.minimum(np.abs(first), np.abs(last)), np.maximum(np.abs(first), np.abs(last))
    apart = (near > 0.0) & (far > 4.0 * near)
    return np.where(apart, corner + np.sign(first + last) * np.sqrt(near * far), middle)


class Tabulated(Distribution):
    """A distribution that has a table for each matrix of a batch."""

    @property
    @abstractmethod
    def batch(self) -> tuple[int, ...]:
        """Return the shape of the batch."""

    @property
    @abstractmethod
    def tables(self) -> list[Table]:
        """Return the table of each matrix."""

    @property
    def worst(self) -> float:  # noqa: D102
        return max(float(table.errors.max()) for table in self.tables)

    def _at(self, x: float | Array, name: str) -> Array:
        """Call a method of each table; leading axes of `x` beyond the batch's are more points."""
        x = np.asarray(x, np.float64)
        shape = np.broadcast_shapes(self.batch, x.shape)
        points = np.broadcast_to(x, shape).reshape(-1, len(self.tables))
        found = [getattr(table, name)(column) for table, column in zip(self.tables, points.T, strict=True)]
        return np.stack(found, -1).reshape(shape)

    def cdf(self, x: float | Array) -> Array:
        """Return P(X <= x)."""
        return self._at(x, "cdf")

    def sf(self, x: float | Array) -> Array:
        """Return P(X > x), with an absolute error as that of the cdf."""
        return 1.0 - self.cdf(x)

    def pdf(self, x: float | Array) -> Array:
        """Return the density."""
        return self._at(x, "pdf")

    def error(self, x: float | Array) -> Array:
        """Return the estimated relative error of the smaller of cdf and sf at x."""
        return self._at(x, "error")

    def ppf(self, p: float | Array) -> Array:
        """Return the quantile at `p`."""
        return self._at(p, "ppf")

    def hdi(self, prob: float) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Return the highest-density interval, and where it is one (else it is equal-tailed)."""
        found = np.array([table.hdi(prob) for table in self.tables]).reshape(*self.batch, 3)
        return found[..., 0], found[..., 1], found[..., 2] > 0

    def statistics(self, prob: float, kind: str) -> dict[str, Any]:
        """Return mean, median, sd, lower, upper, is_hdi, and the error of the cdf relative to a tail."""
        found = super().statistics(prob, kind)
        doubt = [self._at(found[end], "doubt") for end in ("lower", "upper")]
        return found | {"error": np.maximum(*doubt) / (0.5 * (1.0 - prob))}
