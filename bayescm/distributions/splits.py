"""A share of correct among correct and wrong that is independent of all else, and the cells as functions of it.

Of gammas, some of them of correct cells (their sum p) and some of wrong ones (q), U = p/(p + q) is a Beta independent
of the rest: of p + q, of the shares within p and within q, and of all other cells. So each draw of the rest gives
averages over classes as functions of U alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.metrics import Metric, multiclass
from bayescm.metrics.quantities import Quantities
from bayescm.priors.concentrations import Concentrations

Array = NDArray[np.float64]

_RIGHT = (("diagonal",), ("off_diagonal",))
_FEW = 8  # classes, up to which one sum is faster than many products of matrices
_PARTIAL = 3.0  # how much more variance a part of the cells must explain than all of them
_SIZES = 64  # numbers of wrong cells that are tried
_DIFFERENCE = 1e-5  # of a derivative, of the cell
_BLOCK = 2**16


@dataclass(frozen=True, eq=False)
class Split:
    """Which cells' gammas U is the share of, U ~ Beta(a, b).

    Attributes
    ----------
    right : ndarray of bool, shape (K,)
        Of the diagonal.
    wrong : ndarray of bool, shape (K, K)
        Off the diagonal.
    a, b : float
    which : Concentrations
        Of one matrix. Rows apart (not one Dirichlet) are whole or not at all in the split.
    slopes : Cells
        Derivatives of the average in the cells of each class against the rest, (K, 1) each.
    centre, variance : float
        Exact mean and variance of the sum of all cells times these: the average to first order.
    """

    right: NDArray[np.bool_]
    wrong: NDArray[np.bool_]
    a: float
    b: float
    which: Concentrations
    slopes: multiclass.Cells
    centre: float
    variance: float

    @property
    def partial(self) -> bool:
        """Whether some of the wrong cells aren't in the split."""
        return int(self.wrong.sum()) < len(self.right) * (len(self.right) - 1)

    def first_order(self, cells: multiclass.Cells) -> Array:
        """Return how far the average, to first order, is from what is expected, (n,), of cells (K, n)."""
        return np.asarray(sum(slope[:, 0] @ cell for slope, cell in zip(self.slopes, cells, strict=True)) - self.centre)

    def along(self, theta: Array, odds: Array, gammas: Array) -> Iterator[tuple[slice, list[multiclass.Cells]]]:
        """Give the cells of each class against the rest, (K, some), at each of some log-odds of U.

        Parameters
        ----------
        theta : ndarray of shape (K, K, n)
            Draws of the cells.
        odds : ndarray of shape (m,)
            The log-odds.
        gammas : ndarray of shape (K, n)
            Of the sums of the rows, where these aren't one Dirichlet.
        """
        k, _, n = theta.shape
        alone = self.which.one_dirichlet
        size = max(_BLOCK // (k if alone else k**2), 16)
        for start in range(0, n, size):
            stop = min(start + size, n)
            some = theta[..., start:stop]
            yield (
                slice(start, stop),
                self._of_cells(some, odds) if alone else self._of_rows(some, odds, gammas[:, start:stop]),
            )

    def _of_cells(self, theta: Array, odds: Array) -> list[multiclass.Cells]:
        """Return the cells where all are one Dirichlet: those of the split are multiplied by two numbers."""
        tp = np.einsum("iin->in", theta).copy()
        fn, fp = (np.maximum(theta.sum(axis) - tp, 0.0) for axis in (1, 0))
        right, moving_fn, moving_fp = tp[self.right].sum(0), fn, fp
        if self.partial:
            moving_fn, moving_fp = (
                np.einsum(f"ijn,ij->{axis}n", theta, self.wrong.astype(np.float64)) for axis in "ij"
            )
        fn, fp = np.maximum(fn - moving_fn, 0.0), np.maximum(fp - moving_fp, 0.0)
        both = right + moving_fn.sum(0)
        found = []
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # what has underflown: then all are drawn
            for u in odds:
                more, less = special.expit(u) * both / right, special.expit(-u) * both / (both - right)
                now = np.where(self.right[:, None], tp * more, tp), fn + moving_fn * less, fp + moving_fp * less
                found.append(multiclass.Cells(*now, np.maximum(1.0 - (now[0] + now[1] + now[2]), 0.0)))
        return found

    def _of_rows(self, theta: Array, odds: Array, gammas: Array) -> list[multiclass.Cells]:
        """Return the cells where rows are independent: U multiplies the odds of their recalls."""
        off = theta * ~np.eye(len(theta), dtype=bool)[..., None]
        diagonal, missed = np.einsum("iin->in", theta), off.sum(1)
        shares = diagonal + missed
        gammas = gammas[self.right]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # what has underflown: then all are drawn
            right, wrong = ((gammas * (part / shares)[self.right]).sum(0) for part in (diagonal, missed))
            own, pooled = diagonal / missed, right / wrong
            found = []
            for u in odds:
                moved = own * np.where(self.right[:, None], np.exp(u) / pooled, 1.0)
                fn = shares / (1.0 + moved)
                found.append((moved * fn, fn, fn / missed))
            calls = _false_calls(np.stack([each for *_, each in found]), off)
        return [
            multiclass.Cells(tp, fn, fp, np.maximum(1.0 - shares - fp, 0.0))
            for (tp, fn, _), fp in zip(found, calls, strict=True)
        ]


def _false_calls(factors: Array, off: Array) -> Array:
    """Return sums over the actual classes (m, K, n) of factors (m, K, n) times cells (K, K, n)."""
    if len(off) < _FEW:
        return np.asarray(np.einsum("min,ijn->mjn", factors, off))
    return np.asarray(np.moveaxis(np.moveaxis(factors, -1, 0) @ np.ascontiguousarray(np.moveaxis(off, -1, 0)), 0, -1))


def average(metric: Metric, cells: multiclass.Cells) -> tuple[Array, Array | None]:
    """Return an average over the classes, (n,), of cells (K, n) that add up to 1, and the values of the classes.

    The classes have none where the average is that of their pooled cells, or of the whole matrix.
    """
    if metric.kind == "matrix" and metric.ratio is None:
        return multiclass.OF_SHARES[metric.function](cells), None
    if metric.ratio in (_RIGHT, _RIGHT[::-1]):
        right = cells.tp.sum(0)
        return (right if metric.ratio == _RIGHT else cells.fn.sum(0)), None
    rest = Quantities(cells)
    values = rest.call(metric.function)
    if metric.kind == "macro":
        return values.mean(0), values
    return (rest["positives"] * values).sum(0), values


def split_of(metric: Metric, which: Concentrations) -> Split | None:
    """Return the split that explains most of the variance of an average, to first order; None where there is none."""
    k = which.rows.shape[-1]
    pooled = metric.ratio in (_RIGHT, _RIGHT[::-1])
    of_shares = metric.kind == "matrix" and metric.function in multiclass.OF_SHARES
    if k == 2 or not (metric.kind in ("macro", "weighted") or pooled or of_shares) or metric.moments:
        return None
    slopes, mean = _slopes(metric, which)
    tp, fn, fp, tn = slopes
    own = np.eye(k, dtype=bool)
    each = np.where(own, tn.sum() - tn + tp, tn.sum() - tn[:, None] - tn + fn[:, None] + fp)  # of the cells themselves
    if not np.isfinite(each).all():
        return None
    right, wrong = _of_cells(each, which) if which.one_dirichlet else _of_rows(each * mean, which)
    a, b = float(np.diagonal(which.rows)[right].sum()), float(which.rows[wrong].sum())
    columns = multiclass.Cells(*(slope[:, None] for slope in slopes))
    return Split(right, wrong, a, b, which, columns, float((each * mean).sum()), _variance(each, which))


def _variance(slopes: Array, which: Concentrations) -> float:
    """Return the variance of the sum of slopes times cells."""
    totals = which.rows.sum(1)
    rates = which.rows / totals[:, None]
    each = (slopes * rates).sum(1)
    apart = (rates * (slopes - each[:, None]) ** 2).sum(1) / (totals + 1.0)
    everything = float(which.shares.sum())
    shares = which.shares / everything
    if which.known:
        return float((shares**2 * apart).sum())
    squares = shares * (which.shares + 1.0) / (everything + 1.0)
    between = (shares * (each - shares @ each) ** 2).sum() / (everything + 1.0)
    return float((squares * apart).sum() + between)


def _slopes(metric: Metric, which: Concentrations) -> tuple[list[Array], Array]:
    """Return derivatives of the average in tp, fn, fp and tn of each class where all are as expected, and the cells."""
    k = which.rows.shape[-1]
    mean = which.rows / which.rows.sum(1, keepdims=True) * (which.shares / which.shares.sum())[:, None]
    cells = multiclass.Cells(*(np.repeat(cell[:, None], k, 1) for cell in multiclass.one_vs_rest(mean)))
    one, each = _DIFFERENCE * np.eye(k), []
    with np.errstate(divide="ignore", invalid="ignore"):
        for name, cell in zip(cells._fields, cells, strict=True):
            above, below = (average(metric, cells._replace(**{name: cell * (1.0 + part)}))[0] for part in (one, -one))
            each.append((above - below) / (2.0 * _DIFFERENCE * cell[:, 0]))
    return each, mean


def _of_cells(slopes: Array, which: Concentrations) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the cells of the split of one Dirichlet.

    Correct cells with the largest slopes and wrong ones with the least; all, unless some explain far more.
    """
    k = len(slopes)
    off = ~np.eye(k, dtype=bool)
    sign = 1.0 if np.diagonal(slopes).mean() > slopes[off].mean() else -1.0
    levels = sign * slopes
    right = np.argsort(-np.diagonal(levels))
    wrong = np.flatnonzero(off)[np.argsort(levels[off])]

    def sums(order: NDArray[np.intp], concentration: Array, level: Array) -> tuple[Array, Array]:
        a = np.cumsum(concentration.ravel()[order])
        return a, np.cumsum((concentration * level).ravel()[order]) / a

    a, high = sums(right, np.diagonal(which.rows), np.diagonal(levels))
    b, low = sums(wrong, which.rows, levels)
    tried = np.unique(np.linspace(1, len(wrong), _SIZES).astype(int)) - 1
    b, low = b[tried], low[tried]
    gain = np.outer(a, b) / (a[:, None] + b) * np.maximum(high[:, None] - low, 0.0) ** 2
    i, j = np.unravel_index(int(gain.argmax()), gain.shape) if gain.max() > _PARTIAL * gain[-1, -1] else (-1, -1)
    chosen_right, chosen_wrong = np.zeros(k, bool), np.zeros(k * k, bool)
    chosen_right[right[: i % k + 1]] = True
    chosen_wrong[wrong[: tried[j] + 1]] = True
    return chosen_right, chosen_wrong.reshape(k, k)


def _of_rows(weighted: Array, which: Concentrations) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the cells of the split of independent rows: those whose recalls matter most."""
    k = len(weighted)
    right = np.diagonal(which.rows)
    wrong = (which.rows * ~np.eye(k, dtype=bool)).sum(1)
    missed = weighted.sum(1) - np.diagonal(weighted)
    slope = (np.diagonal(weighted) * wrong - missed * right) / (right + wrong)  # in the log-odds of the recall
    slope = slope * np.sign(slope.sum())
    order = np.argsort(-slope * (1.0 / right + 1.0 / wrong))
    a, b = np.cumsum(right[order]), np.cumsum(wrong[order])
    gain = np.maximum(np.cumsum(slope[order]), 0.0) ** 2 * (1.0 / a + 1.0 / b)
    best = int(gain.argmax()) if gain.max() > _PARTIAL * gain[-1] else k - 1
    chosen = np.zeros(k, bool)
    chosen[order[: best + 1]] = True
    return chosen, chosen[:, None] & ~np.eye(k, dtype=bool)
