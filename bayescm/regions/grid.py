"""The shared grid engine: planes computed once, one pass for any number of matrices and every method.

A method's statistic is a sum of products of a matrix's numbers and planes that depend on the grid alone (docs/theory).
The PR and the ROC plane are two :class:`Space` objects: how their planes look, which two binomials stand behind them,
and which weights a matrix gives the planes. The plane of recall and the share predicted negative has no such binomials:
its likelihood is maximised over the prevalence, point by point.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, override

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bayescm._kernels.dispatch import in_blocks, kernel
from bayescm.data import validate

Array = NDArray[np.float64]
Planes = tuple[Array, Array, Array]
"""rows (2, ny), full (ny or 1, nx), columns (2, nx)."""
Parts = Callable[[slice, slice], Planes]
"""Gives the planes of some rows and columns of a grid, whose logarithms along the axes are there already."""
Split = Callable[[Array], tuple[Array, Array]]
CAP = 80.0
"""Where no window is; the level of a larger statistic is 1 in floating point."""
_EDGE = 1e-300  # stands for 0, so that all logarithms are finite
_TILE = 64  # rows, which stay in the second-level cache
_TN, _FP, _FN, _TP = range(4)


@dataclass(frozen=True)
class Space:
    """A plane of two metrics, and the likelihood of its points: here that of two independent binomials.

    Attributes
    ----------
    name : str
    y, x : str
        Names of the metrics.
    rates : tuple of two functions
        Each takes numbers per cell (..., 4), in the order TN, FP, FN, TP, and returns those of success and failure of
        one of the metrics y and x: counts of counts, concentrations of concentrations.
    groups : tuple of tuple of int
        Cells whose shares of their sum depend on the point.
    factors : tuple of two functions
        The same as `rates` for the independent binomials.
    trinomial : bool
        Whether the second binomial is a split of what the first one leaves.
    """

    name: str
    y: str
    x: str
    rates: tuple[Split, Split]
    groups: tuple[tuple[int, ...], ...]
    factors: tuple[Split, ...] = ()
    trinomial: bool = False

    def planes(self, y: Array, x: Array) -> Parts:
        """Return the planes of a grid, which every matrix and every method share, part by part."""
        (log_y, log_not_y), (log_x, log_not_x) = _logs(y), _logs(x)
        if not self.trinomial:
            rows, columns, one_row = np.stack([log_y, log_not_y]), np.stack([log_not_x, np.zeros_like(x)]), log_x[None]
            return lambda tall, wide: (
                np.ascontiguousarray(rows[:, tall]),
                np.ascontiguousarray(one_row[:, wide]),
                np.ascontiguousarray(columns[:, wide]),
            )
        rows, columns = np.stack([log_not_y - log_y, log_y]), np.stack([log_not_x - log_x, log_x])
        of_fp, of_fn = np.exp(rows[0]) + 1.0, np.exp(columns[0])
        outer_sum = kernel("planes", "outer_sum", seconds(1, (y, x)))

        def part(tall: slice, wide: slice) -> Planes:
            full = np.empty((tall.stop - tall.start, wide.stop - wide.start))
            outer_sum(of_fp[tall], of_fn[wide], full)
            return rows[:, tall].copy(), np.log(full, out=full), columns[:, wide].copy()

        return part

    def logs(self, y: Array, x: Array, cells: Array) -> Array:
        """Return the logarithms of the shares of `groups` that are likeliest at points, (..., 3) or (..., 4).

        A point is moved into the plane by 1e-300 where it lies on its edge.
        """
        (log_y, log_not_y), (log_x, log_not_x) = _logs(y), _logs(x)
        if not self.trinomial:
            return np.stack(np.broadcast_arrays(log_y, log_not_y, log_x, log_not_x), -1)
        of_fp, of_fn = log_not_y - log_y, log_not_x - log_x
        log_all = np.logaddexp(np.logaddexp(0.0, of_fp), of_fn)
        return np.stack(np.broadcast_arrays(-log_all, of_fp - log_all, of_fn - log_all), -1)

    def covariance(self, cells: Array) -> Array:
        """Return the covariance (...,) of y and x (Urlus 2023, eqs 15 and 46)."""
        (a, b), (c, d) = (rate(cells) for rate in self.rates)
        return a * b * d / (a + b) ** 2 / (c + d) ** 2 if self.trinomial else np.zeros_like(a)

    def estimate(self, cells: Array) -> Array:
        """Return y and x (..., 2) of the counts themselves, NaN where they are 0/0."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.stack([k / (k + other) for k, other in (rate(cells) for rate in self.rates)], -1)

    def weights(self, cells: Array) -> Array:
        """Return the weights (T, 5) that make the deviance 2 log(L(estimate) / L(point))."""
        (a, b), (c, d) = (factor(cells) for factor in self.factors)
        constant = sum(special.xlogy(k, k) for k in (a, b, c, d)) - special.xlogy(a + b, a + b)
        constant = constant - special.xlogy(c + d, c + d)
        if self.trinomial:
            tp, fp, fn, zero = cells[:, _TP], cells[:, _FP], cells[:, _FN], np.zeros_like(a)
            return 2.0 * np.stack([constant, -fp, zero, tp + fp + fn, -fn], -1)
        return 2.0 * np.stack([constant, -a, -b, -c, -d], -1)

    def density_weights(self, concentrations: Array) -> Array:
        """Return the weights (T, 6) of the log posterior density of (y, x) (Urlus 2023, eqs 10, 42 corrected)."""
        (a, b), (c, d) = (factor(concentrations) for factor in self.factors)
        constant = -special.betaln(a, b) - special.betaln(c, d)
        two, zero = np.full_like(a, 2.0), np.zeros_like(a)
        if self.trinomial:
            fp, fn = concentrations[:, _FP], concentrations[:, _FN]
            return np.stack([constant, fp - 1.0, -two, -(a + b), fn - 1.0, -two], -1)
        return np.stack([constant, a - 1.0, b - 1.0, c - 1.0, d - 1.0, zero], -1)


class Profiled(Space):
    """The plane of the share predicted negative and recall, whose likelihood depends on the prevalence as well.

    With c and r the two rates and p the prevalence the cells have the probabilities p r, p (1 - r), 1 - c - p r and
    c - p (1 - r). The likeliest p is the smaller root of a quadratic, in which nothing cancels (docs/theory).
    """

    @override
    def logs(self, y: Array, x: Array, cells: Array) -> Array:
        tn, fp, positive = cells[..., _TN], cells[..., _FP], cells[..., _FN] + cells[..., _TP]
        (negative, rest), (recall, missed) = ((np.maximum(p, _EDGE), np.maximum(1.0 - p, _EDGE)) for p in (y, x))
        one, other = rest * missed, negative * recall
        most = np.maximum(one, other)
        one, other = one / most, other / most  # one of them is 1, also in the corners
        a, b = (positive + tn) * one, (positive + fp) * other
        with np.errstate(invalid="ignore"):
            share = 2.0 * positive * (rest * negative / most)
            share = share / (a + b + np.sqrt((a - b) ** 2 + 4.0 * tn * fp * one * other))
        share = np.where(positive > 0.0, share, 0.0)
        found = negative - missed * share, rest - recall * share, missed * share, recall * share
        return np.asarray(np.log(np.maximum(np.stack(np.broadcast_arrays(*found), -1), _EDGE)))

    @override
    def covariance(self, cells: Array) -> Array:
        tp, fn = self.rates[1](cells)
        return np.asarray(-tp * fn / (tp + fn) ** 2 / cells.sum(-1))


def _take(success: Sequence[int], failure: Sequence[int]) -> Split:
    """Return the split of cells into the sums of two parts."""
    return lambda cells: (cells[..., list(success)].sum(-1), cells[..., list(failure)].sum(-1))


_PRECISION, _RECALL, _FPR = (_take([one], [other]) for one, other in ((_TP, _FP), (_TP, _FN), (_FP, _TN)))
PR = Space(
    "pr", "precision", "recall", (_PRECISION, _RECALL), groups=((_TP, _FP, _FN),),
    factors=(_take([_TP], [_FP, _FN]), _take([_FP], [_FN])), trinomial=True,
)  # fmt: skip
ROC = Space("roc", "tpr", "fpr", (_RECALL, _FPR), groups=((_TP, _FN), (_FP, _TN)), factors=(_RECALL, _FPR))
PPN = Profiled("ppn", "ppn", "recall", (_take([_TN, _FN], [_FP, _TP]), _RECALL), groups=((_TN, _FP, _FN, _TP),))
SPACES = {space.name: space for space in (PR, ROC, PPN)}
LONG_NAMES = {
    "precision": "Precision", "recall": "Recall", "tpr": "True positive rate", "fpr": "False positive rate",
    "ppn": "Share predicted negative",
}  # fmt: skip
_HIGHEST = 1.0 - 2.0**-53  # of the levels below 1


def axis(n: int = 501, lower: float = 0.0, upper: float = 1.0, *, spacing: str = "uniform") -> Array:
    """Return the points of an axis.

    Parameters
    ----------
    n : int
        Number of points, both ends included.
    lower, upper : float
        Ends, in [0, 1].
    spacing : {"uniform", "edges"}
        "edges" is denser towards those ends that are 0 or 1, where surfaces can rise without limit in a thin layer.

    Returns
    -------
    ndarray of shape (n,)
        Fewer points where `upper` is too close to `lower` for n floats.

    Examples
    --------
    >>> import bayescm
    >>> bayescm.regions.axis(5).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    >>> bayescm.regions.axis(5, spacing="edges").round(3).tolist()
    [0.0, 0.146, 0.5, 0.854, 1.0]
    """
    if validate.positive_integer("n", n) < 2:
        raise ValueError(f"`n` must be at least 2; got {n}.")
    validate.choice("spacing", spacing, ("uniform", "edges"))
    lower = validate.number("lower", lower, 0, 1, closed=True)
    upper = validate.number("upper", upper, 0, 1, closed=True)
    if not lower < upper:
        raise ValueError(f"`lower` must be smaller than `upper`; got {lower} and {upper}.")
    t = np.linspace(0.0, 1.0, n)
    if spacing == "edges" and lower == 0.0:
        t = (1.0 - np.cos(np.pi * t)) / 2.0 if upper == 1.0 else 1.0 - np.cos(np.pi / 2.0 * t)
    elif spacing == "edges" and upper == 1.0:
        t = np.sin(np.pi / 2.0 * t)
    points = np.clip(lower + (upper - lower) * t, lower, upper)
    points[-1] = upper
    return np.unique(points)


def checked_axis(name: str, values: ArrayLike) -> Array:
    """Return an axis that is increasing and in [0, 1]."""
    if validate.array_of(name, values).dtype.kind not in "iuf":
        raise TypeError(f"`{name}` must be numbers in [0, 1]; got {values!r}.")
    points = np.ascontiguousarray(values, dtype=np.float64)
    if points.ndim != 1 or len(points) < 2:
        raise ValueError(f"`{name}` must have one dimension and two points at least; got shape {points.shape}.")
    if not ((points >= 0) & (points <= 1)).all() or not (np.diff(points) > 0).all():
        raise ValueError(f"`{name}` must be increasing and in [0, 1]; got {np.array2string(points, threshold=6)}.")
    return points


def around(low: float, high: float, margin: float, size: int) -> Array:
    """Return an axis of so many points over a stretch of [0, 1] and a margin, a share of it, on both sides."""
    width = margin * max(high - low, 1e-9)
    return axis(size, max(low - width, 0.0), min(high + width, 1.0), spacing="edges")


def seconds(matrices: int, axes: tuple[Array, Array]) -> float:
    """Return about how long Python takes for a grid of statistics of matrices: whole rows at a time."""
    y, x = axes
    return matrices * len(y) * (1e-5 + 5e-9 * len(x))


def smooth(level: ArrayLike) -> Array:
    """Return sqrt(-2 log(1 - level)), on which surfaces are smooth: for most methods about a distance in deviations.

    A level of 1 is taken for the largest number below it.
    """
    return np.asarray(np.sqrt(-2.0 * np.log1p(-np.minimum(np.asarray(level, np.float64), _HIGHEST))))


def windows(axes: tuple[Array, Array], boxes: Array) -> NDArray[np.int64]:
    """Return rows and columns (T, 4) of the grid points in boxes (T, 4) of y and x, and one more on each side."""
    found = np.empty(boxes.shape, np.int64)
    for k, points in enumerate(axes):
        found[:, 2 * k] = np.searchsorted(points, boxes[:, 2 * k]) - 1
        found[:, 2 * k + 1] = np.searchsorted(points, boxes[:, 2 * k + 1], side="right") + 1
        np.clip(found[:, 2 * k : 2 * k + 2], 0, len(points), out=found[:, 2 * k : 2 * k + 2])
    return found


def evaluate(
    axes: tuple[Array, Array],
    planes: Callable[[slice, slice], Any],
    where: NDArray[np.int64],
    kernel: Callable[[Any, NDArray[np.intp], NDArray[np.int64], Array], object],
    *,
    log_rest: bool = True,
) -> Array:
    """Return levels (ny, nx) on a grid, tile by tile in threads; 1 where no window is.

    Parameters
    ----------
    axes : tuple of two ndarray
    planes : callable
        Gives the planes of a part of the grid, once for all matrices.
    where : ndarray of shape (T, 4)
        Windows of matrices: first and last row, first and last column.
    kernel : callable
        Takes planes, the indices of the matrices that have windows there, their windows, and an array (rows, columns)
        to be filled.
    log_rest : bool
        Whether the kernel gives log(1 - level), not the level.
    """
    y, x = axes
    out = np.empty((len(y), len(x)))

    def tile(start: int, stop: int) -> None:
        part = out[start:stop]
        there = np.flatnonzero((where[:, 0] < stop) & (where[:, 1] > start) & (where[:, 2] < where[:, 3]))
        if len(there) == 0:
            part.fill(1.0)
            return
        left, right = int(where[there, 2].min()), int(where[there, 3].max())
        part[:, :left] = part[:, right:] = 1.0
        work = np.empty((stop - start, right - left))
        part_of_planes = planes(slice(start, stop), slice(left, right))
        kernel(part_of_planes, there, where[there] - (start, start, left, left), work)
        if log_rest:
            np.subtract(1.0, np.exp(work, out=work), out=part[:, left:right])
        else:
            part[:, left:right] = work

    in_blocks(tile, len(y), _TILE)
    return out


def cut(axes: tuple[Array, Array], tall: slice, wide: slice) -> tuple[Array, Array]:
    """Return some rows and columns of axes."""
    return axes[0][tall], axes[1][wide]


def _logs(p: Array) -> tuple[Array, Array]:
    """Return log p and log(1 - p), finite on the edges."""
    return np.log(np.maximum(p, _EDGE)), np.where(p < 1.0, np.log1p(-np.minimum(p, 1.0 - 2.0**-53)), np.log(_EDGE))
