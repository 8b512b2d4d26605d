"""Every matrix of two labels whose metrics lie within bounds: boxes of cells are halved, and cut where none can fit.

A matrix is a point (items, positives, TP, FP). Metrics rise or fall with each cell, so that corners of a box bound
them. Boxes that all fit aren't halved any further: their matrices are counted without being looked at.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.metrics import Metric, compute
from bayescm.priors.concentrations import Concentrations, concentrations

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

KEPT = 4096
"""Matrices that are kept; of more, `_SOME` at even steps of their probability stand for all."""
_SOME = 2000
_LEAF = 64  # matrices in a box that isn't halved
_BOXES = 300_000  # at most
_LOOKED_AT = 20_000_000  # matrices that are looked at one by one; of more a sample is
_DRAWN = 400_000
_CHUNK = 2**19
_TOLERANCE = 1e-10  # of numbers, beside their rounding
_NONE = np.zeros(4, np.int64), np.full(4, -1)
_CELLS = ("tn", "fp", "fn", "tp")
_LARGE = 1e6  # items of a cell from which on an asymptotic series is right to rounding


class Bounds(NamedTuple):
    """Metrics, and between which numbers each lies, or the mean of its values in so many folds."""

    metrics: Sequence[Metric]
    lower: Array
    upper: Array
    folds: int = 1

    def without(self, i: int) -> "Bounds":
        """Return all but one."""
        rest = [metric for j, metric in enumerate(self.metrics) if j != i]
        return Bounds(rest, np.delete(self.lower, i), np.delete(self.upper, i), self.folds)

    def hold(self, cells: Integers) -> NDArray[np.bool_]:
        """Say of matrices (..., 4) of TN, FP, FN and TP which fit; one without a value doesn't."""
        fits = np.ones(cells.shape[:-1], bool)
        for metric, low, high in zip(self.metrics, self.lower, self.upper, strict=True):
            if not fits.any():
                break
            if self.folds > 1:
                fits &= _means_fit(*_hits_of(metric, cells), low - _TOLERANCE, high + _TOLERANCE, self.folds)
                continue
            values = _values([metric], cells)[0]
            with np.errstate(invalid="ignore"):
                fits &= (values >= low - _TOLERANCE) & (values <= high + _TOLERANCE)
        return fits


@dataclass(frozen=True, eq=False)
class Possible:
    """Matrices that fit.

    Attributes
    ----------
    cells : ndarray of shape (M, 4)
        TN, FP, FN and TP: all of them, or some.
    stands_for : ndarray of shape (M,)
        How many matrices each stands for: 1 where these are all.
    number : float
        How many there are.
    least, most : ndarray of shape (4,)
        The least and the largest number of each cell.
    exact : bool
        Whether all were counted, not a sample.
    """

    cells: Integers
    stands_for: Array
    number: float
    least: Integers
    most: Integers
    exact: bool


def _values(metrics: Sequence[Metric], cells: NDArray[np.number]) -> list[Array]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return compute(metrics, cells.reshape(*cells.shape[:-1], 2, 2).astype(np.float64))


def _hits_of(metric: Metric, cells: Integers) -> tuple[Integers, Integers]:
    """Return of matrices (..., 4) the number that a share counts, and that of which it is a share."""
    over, under = (sum(cells[..., _CELLS.index(name)] for name in names) for names in metric.ratio or ())
    return np.asarray(over), np.asarray(over + under)


def _means_fit(hits: Integers, total: Integers, low: float, high: float, folds: int) -> NDArray[np.bool_]:
    """Say for which hits of a total the mean of the folds' shares can lie between two numbers, folds as even as can be.

    With a of the hits in the folds of size + 1 items, the mean is (hits (size + 1) - a) / (folds size (size + 1)).
    """
    size, larger = np.divmod(total, folds)
    scale = folds * size * (size + 1)
    least = np.maximum(hits - (folds - larger) * size, np.ceil(hits * (size + 1) - high * scale))
    most = np.minimum(larger * (size + 1), np.floor(hits * (size + 1) - low * scale))
    return np.asarray((size > 0) & (np.maximum(least, 0) <= np.minimum(most, hits)))


@lru_cache(maxsize=256)
def _signs(metric: Metric) -> tuple[int, ...] | None:
    """Return how a metric changes with one item more in TN, FP, FN and TP: 1, -1 or 0; None if it does both."""
    rng = np.random.default_rng(0)
    cells = np.concatenate([rng.integers(0, top, (400, 4)) for top in (3, 12, 500)]).astype(np.float64)
    before, found = _values([metric], cells)[0], []
    for place in range(4):
        after = _values([metric], cells + np.eye(4)[place])[0]
        known = np.isfinite(before) & np.isfinite(after)
        change = after[known] - before[known]
        rises, falls = (change > 1e-12).any(), (change < -1e-12).any()
        if rises and falls:
            return None
        found.append(int(rises) - int(falls))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class _Boxes:
    """Boxes of (items, positives, TP, FP) from `start` to before `stop`, (B, 4), and which of them fit as a whole."""

    start: Integers
    stop: Integers
    whole: NDArray[np.bool_]

    def part(self, some: NDArray[Any]) -> "_Boxes":
        return _Boxes(self.start[some], self.stop[some], self.whole[some])

    @property
    def volume(self) -> Array:
        return np.asarray((self.stop - self.start).astype(np.float64).prod(-1))


def _sorted_out(start: Integers, stop: Integers, bounds: Bounds) -> _Boxes:
    """Leave out boxes in which nothing fits, and find those in which everything does."""
    least, most = _ends(start, stop)
    whole = (least >= 0).all(-1)
    alive = (most >= 0).all(-1)
    least = np.maximum(least, 0)
    for metric, low, high in zip(bounds.metrics, bounds.lower, bounds.upper, strict=True):
        signs = _signs(metric)
        if signs is None:
            whole[:] = False
            continue
        top, bottom = (np.where(np.array(signs) * side > 0, most, least) for side in (1, -1))
        best, worst, defined = _values([metric], np.stack([top, bottom, least]))[0]
        if bounds.folds > 1:  # a mean of folds is that far from the share of all items at most
            slack = bounds.folds / 4.0 / np.maximum(_hits_of(metric, least)[1], bounds.folds)
            best, worst = best + slack, worst - slack
            whole[:] = False
        with np.errstate(invalid="ignore"):
            alive &= ~((best < low - _TOLERANCE) | (worst > high + _TOLERANCE))
            whole &= (worst >= low - _TOLERANCE) & (best <= high + _TOLERANCE) & np.isfinite(defined)
    return _Boxes(start[alive], stop[alive], whole[alive])


def _boxes(bounds: Bounds, first: int, last: int, positives: int | None, *, any_will_do: bool = False) -> _Boxes:
    """Return boxes that hold all that fits, of `first` to `last` items; or as soon as one fits as a whole."""
    least, most = (0, last) if positives is None else (positives, positives)
    active = _sorted_out(
        np.array([[first, least, 0, 0]]), np.array([[last + 1, most + 1, most + 1, last + 1]]), bounds
    )  # fmt: skip
    done = [active.part(np.arange(0))]  # where nothing fits at all
    while len(active.start):
        halved = ~active.whole & (active.volume > _LEAF)
        done.append(active.part(~halved))
        active = active.part(halved)
        enough = any_will_do and done[-1].whole.any()
        if enough or sum(len(one.start) for one in done) + 2 * len(active.start) > _BOXES:
            done.append(active)
            break
        axis = (active.stop - active.start).argmax(-1)[:, None]
        middle = (np.take_along_axis(active.start, axis, -1) + np.take_along_axis(active.stop, axis, -1)) // 2
        start, stop = active.start.copy(), active.stop.copy()
        np.put_along_axis(start, axis, middle, -1)
        np.put_along_axis(stop, axis, middle, -1)
        active = _sorted_out(np.concatenate([active.start, start]), np.concatenate([stop, active.stop]), bounds)
    every = _Boxes(*(np.concatenate([getattr(one, name) for one in done]) for name in ("start", "stop", "whole")))
    return every.part(np.lexsort(every.start.T[::-1]))


def _points(boxes: _Boxes, bounds: Bounds) -> Iterator[Integers]:
    """Give all that fits, some at a time."""
    volume = boxes.volume.astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(volume)])
    for first in range(0, int(ends[-1]), _CHUNK):
        number = np.arange(first, min(first + _CHUNK, int(ends[-1])))
        box = np.searchsorted(ends, number, side="right") - 1
        sides = (boxes.stop - boxes.start)[box]
        rest, f = np.divmod(number - ends[box], sides[:, 3])
        rest, t = np.divmod(rest, sides[:, 2])
        cells = _cells(np.stack([*np.divmod(rest, sides[:, 1]), t, f], -1) + boxes.start[box])
        yield cells[_fits(cells, boxes.whole[box], bounds)]


def _cells(points: Integers) -> Integers:
    """Return TN, FP, FN and TP of (items, positives, TP, FP)."""
    n, p, t, f = points.T
    return np.stack([n - p - f, f, p - t, t], -1)


def _fits(cells: Integers, known: NDArray[np.bool_], bounds: Bounds) -> NDArray[np.bool_]:
    """Say which matrices fit; some are known to."""
    fits = known.copy()
    doubtful = np.flatnonzero(~known & (cells >= 0).all(-1))
    fits[doubtful] = bounds.hold(cells[doubtful])
    return fits


def log_weight(cells: Integers, prior: Concentrations, *, fixed: bool = False) -> Array:
    """Return the log probability of matrices (..., 4) before they are seen, up to a constant.

    Cells are multinomial with probabilities from the prior (Dirichlet-multinomial); with class totals that are `fixed`
    each class's are.
    """
    by_class = cells.reshape(*cells.shape[:-1], 2, 2)
    totals = by_class.sum(-1)
    weight = _rising(by_class, prior.rows).sum((-2, -1))
    if not prior.one_dirichlet or fixed:
        weight = weight - _rising(totals, prior.rows.sum(-1)).sum(-1)
    if not prior.one_dirichlet and not fixed:
        weight = weight + _rising(totals, prior.shares).sum(-1)
    return np.asarray(weight)


def _rising(count: Integers, concentration: Array) -> Array:
    """Return log Gamma(a + n) - log n!."""
    n, a = np.broadcast_arrays(count.astype(np.float64), concentration)
    few = special.gammaln(a + np.minimum(n, _LARGE)) - special.gammaln(np.minimum(n, _LARGE) + 1.0)
    return np.where(n > _LARGE, (a - 1.0) * np.log(np.maximum(n + 0.5 * a, 1.0)), few)


def possible(bounds: Bounds, n: int, prior: Concentrations, positives: int | None = None) -> Possible:
    """Find every matrix of `n` items that fits; of very many keep some, in proportion to their probability."""
    boxes = _boxes(bounds, n, n, positives)
    whole, rest = boxes.part(boxes.whole), boxes.part(~boxes.whole)
    if rest.volume.sum() > _LOOKED_AT:
        return _some(boxes, bounds, prior)
    number = float(whole.volume.sum())
    seen = [_range(*_ends(whole.start, whole.stop))] if len(whole.start) else []
    kept: list[Integers] = [*_points(whole, bounds)] if number <= KEPT else []
    for cells in _points(rest, bounds):
        number += len(cells)
        seen += [_range(cells, cells)] if len(cells) else []
        kept += [cells] if number <= KEPT else []
    least, most = _range(*np.stack(seen, 1)) if seen else _NONE
    if number <= KEPT:
        every = np.concatenate([np.empty((0, 4), np.int64), *kept])
        return Possible(every, np.ones(len(every)), number, least, most, True)
    return replace(_some(boxes, bounds, prior), number=number, least=least, most=most, exact=True)


def _ends(start: Integers, stop: Integers) -> tuple[Integers, Integers]:
    """Return the least and the largest TN, FP, FN and TP of boxes, (B, 4)."""
    (n0, p0, t0, f0), (n1, p1, t1, f1) = start.T, stop.T - 1
    return np.stack([n0 - p1 - f1, f0, p0 - t1, t0], -1), np.stack([n1 - p0 - f0, f1, p1 - t0, t1], -1)


def exists(bounds: Bounds, first: int, last: int, positives: int | None = None) -> bool:
    """Say whether any matrix of `first` to `last` items fits.

    Of too many to look at some are drawn; of several sizes the answer is yes then, as each is asked by itself later.
    """
    boxes = _boxes(bounds, first, last, positives, any_will_do=True)
    if boxes.whole.any():
        return True
    if boxes.volume.sum() > _LOOKED_AT:
        return first < last or bool(_some(boxes, bounds, concentrations("jeffreys", "dirichlet_multinomial", 2)).number)
    return any(len(cells) for cells in _points(boxes, bounds))


def _range(least: Integers, most: Integers) -> tuple[Integers, Integers]:
    """Return the least and the largest numbers of each cell among matrices."""
    return least.min(0), most.max(0)


def _some(boxes: _Boxes, bounds: Bounds, prior: Concentrations) -> Possible:
    """Draw from boxes, by their volumes and how probable their middles are."""
    rng = np.random.default_rng(0)
    middle = np.maximum(_cells((boxes.start + boxes.stop - 1) // 2), 0)
    log = log_weight(middle, prior) + np.log(boxes.volume)
    chance = np.exp(log - special.logsumexp(log))
    box = np.searchsorted(np.cumsum(chance), (np.arange(_DRAWN) + rng.random(_DRAWN)) / _DRAWN).clip(
        max=len(chance) - 1
    )
    cells = _cells(rng.integers(boxes.start[box], boxes.stop[box]))
    fits = _fits(cells, boxes.whole[box], bounds)
    cells, stands = cells[fits], (boxes.volume / chance)[box][fits] / _DRAWN
    if not len(cells):
        return Possible(cells, stands, 0.0, *_NONE, False)
    log = log_weight(cells, prior) + np.log(stands)
    weight = np.exp(log - special.logsumexp(log))
    at = np.searchsorted(np.cumsum(weight), (np.arange(_SOME) + 0.5) / _SOME).clip(max=len(weight) - 1)
    some = stands[at] / (_SOME * weight[at])
    return Possible(cells[at], some, float(stands.sum()), *_range(cells, cells), False)
