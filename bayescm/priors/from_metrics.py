"""Back from metrics to cells: stated metrics become concentrations of a prior, published ones the counts behind them.

A metric of two labels is a function of the four cell probabilities, which have three degrees of freedom: three metrics
fix them. scipy finds every matrix that has the stated ones, from many starts in the coordinates log(p / p_TN).
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import optimize, special

from bayescm.data import validate
from bayescm.data.counts import from_cells
from bayescm.data.schema import ACTUAL, CELLS_OF_TWO, METRIC, PREDICTED, attributes
from bayescm.metrics import Metric, MetricLike, compute, resolve
from bayescm.results.objects import stamped

Array = NDArray[np.float64]
Residual = Callable[[NDArray[Any]], Array]

_STEP = 1e-6
_RANDOM, _BEST, _SPREAD = 4096, 16, 8  # matrices tried, those of the smallest residual, and others to start from
_SAME = 1e-5  # cell probabilities closer than this are one matrix
_SOLVED = 1e-9
_MOST = 2_000_000  # matrices tried: all there are (up to 226 items), else those around the solutions
_NEAR = 5.0  # how far around a solution the nearest matrix is sought if all that fit are too many to try
_MARGIN = 1.25  # by which the linear estimate of where matrices fit is widened


def prior_from_metrics(
    metrics: Mapping[MetricLike, float] | None = None, *, n_items: float, **stated: float
) -> xr.DataArray:
    """Turn any three stated metrics of two labels into concentrations of the four cells.

    Parameters
    ----------
    metrics : mapping of metric to number, optional
        What can't be a keyword: ``{"fbeta(beta=2)": 0.8, "f0.5": 0.7}``.
    n_items : float
        Number of items that the belief is worth, the sum of the concentrations.
    **stated : float
        What one believes beforehand, by the metric's name or short name: ``recall=0.9``, ``ppv=0.8``, ``mcc=0.7``.
        With `metrics`, three in all, each inside its range: at an end (``recall=1``) a cell would have a concentration
        of 0, and the prior would be improper.

    Returns
    -------
    xarray.DataArray
        ``concentration(actual, predicted)``, to be given as ``prior=``; without labels, so that it fits any two.
        Its metrics are those stated; they are the plug-in metrics of the concentrations, not prior means.

    Raises
    ------
    ValueError
        If the three don't determine the cells (one follows from the others), if no matrix has them, or if several
        have: then with two of these.

    References
    ----------
    Caelen 2017, eq. 8, for precision, recall and accuracy (its recall is TP / (TP + FN); the text misprints it).

    Examples
    --------
    >>> import bayescm
    >>> prior = bayescm.priors.prior_from_metrics(precision=0.6, recall=0.65, accuracy=0.6, n_items=72.5)
    >>> prior.values.round(3)
    array([[19.436, 16.043],
           [12.957, 24.064]])
    >>> bayescm.priors.prior_from_metrics(prevalence=0.2, mcc=0.5, recall=0.7, n_items=10).values.round(3)
    array([[6.791, 1.209],
           [0.6  , 1.4  ]])
    """
    found, values = _stated(metrics, stated)
    if len(found) != 3:
        raise ValueError(f"`metrics` must state three, which determine the cells; got {_words(found, values)}.")
    n_items = validate.number("n_items", n_items, 0, np.inf)
    for metric, value in zip(found, values, strict=True):
        if value in (metric.lower, metric.upper):
            raise ValueError(
                f"`{metric.name}` of {value:g} leaves a cell without concentration, and the prior improper; "
                f"state a value inside ({metric.lower:g}, {metric.upper:g})."
            )
    target = _link(found, values)
    minima = _minima(lambda cells: _link(found, _values(found, cells)) - target)
    solved = [cells for total, cells in minima if total < _SOLVED**2]
    if not solved:
        nearest = _words(found, _values(found, minima[0][1]))
        raise ValueError(f"`metrics`: no matrix has {_words(found, values)}; the nearest has {nearest}.")
    if len(solved) > 1:
        raise ValueError(
            f"`metrics`: several matrices have {_words(found, values)}, such as {_either(solved[:2])}. "
            "State these three of the one that you mean."
        )
    return xr.DataArray(n_items * solved[0], dims=(ACTUAL, PREDICTED), name="concentration")


@stamped
def counts_from_metrics(
    metrics: Mapping[MetricLike, float] | None = None,
    *,
    n_items: int,
    decimals: int | None = None,
    labels: Sequence[Any] = (0, 1),
    **stated: float,
) -> xr.Dataset:
    """Find the confusion matrix behind three or more published metrics of two labels.

    Parameters
    ----------
    metrics : mapping of metric to number, optional
        What can't be a keyword: ``{"fbeta(beta=2)": 0.8}``.
    n_items : int
        Items of the test set.
    decimals : int, optional
        To which the metrics are rounded. Default: as many as the stated number with the most of them, at least 2
        (0.80 is the number 0.8); metrics that may exceed 1, such as likelihood ratios, have their own.
    labels : sequence of two labels
        The negative and the positive class.
    **stated : float
        By the metric's name or short name; with `metrics`, at least three. Ends of the range (``recall=1``) may be.

    Returns
    -------
    xarray.Dataset
        ``counts(actual, predicted)``: of the matrices of `n_items` items that round to what is stated (or of all, if
        none does) the nearest, by the sum of squared differences in units of the rounding; beyond 226 items the nearest
        of those tried, which lie around the exact solutions. Over ``metric``: ``stated``,
        ``obtained``, ``difference`` (obtained minus stated) and ``rounding`` (half a unit of the last decimal).
        ``matches``: how many matrices round to what is stated; beyond 226 items, how many of those tried (NaN if there
        are too many to try). 0 says that a metric, `n_items` or the positive class isn't what it is said to be; many,
        that any one of them is a guess.

    Raises
    ------
    ValueError
        If the metrics don't determine the cells, or if two matrices are equally near.

    Warns
    -----
    UserWarning
        If the metrics contradict each other: the nearest matrix doesn't round to all of them.

    References
    ----------
    Toetsch and Hoffmann 2021, whose tool takes any three metrics and N.

    Examples
    --------
    >>> import bayescm
    >>> found = bayescm.priors.counts_from_metrics(n_items=34, accuracy=0.94, specificity=0.75, precision=0.93)
    >>> found.counts.values
    array([[ 6,  2],
           [ 0, 26]])
    >>> int(found.matches)
    1
    """
    found, values = _stated(metrics, stated)
    if len(found) < 3:
        raise ValueError(f"`metrics` must state at least three; got {_words(found, values)}.")
    n_items = validate.positive_integer("n_items", n_items)
    rounding = _rounding(found, values, decimals)

    def residual(cells: NDArray[Any]) -> Array:
        return (_values(found, cells) - values) / rounding

    tables, complete = _candidates(residual, n_items)
    off = np.nan_to_num(np.abs(residual(tables)), nan=np.inf, posinf=np.inf)
    fits, total = (off <= 1 + _SOLVED).all(-1), (off**2).sum(-1)
    order = np.lexsort((total, ~fits))[:2]
    if np.isinf(total[order[0]]):
        raise ValueError(
            f"`n_items` of {n_items} is too small: every matrix leaves one of {_words(found, values)} undefined."
        )
    (one, other), tied = total[order], fits[order[0]] == fits[order[1]]
    if tied and other - one <= _SOLVED * (1 + one):
        raise ValueError(
            f"`metrics`: two matrices are equally near to {_words(found, values)}: {_either(tables[order])}. "
            "State one more that tells them apart."
        )
    best = tables[order[0]]
    if complete:
        _warn_of_contradiction(found, values, _values(found, best), rounding)
    (tn, fp), (fn, tp) = best.tolist()
    obtained = _values(found, best)
    matches = float(fits.sum()) if complete else np.nan
    columns = {"stated": values, "obtained": obtained, "difference": obtained - values, "rounding": rounding}
    return xr.Dataset(
        {
            "counts": from_cells(tp=tp, fn=fn, fp=fp, tn=tn, labels=labels),
            **{name: (METRIC, column) for name, column in columns.items()},
            "matches": ((), matches, {"long_name": "Matrices that round to the stated metrics"}),
        },
        coords={METRIC: [metric.name for metric in found]},
        attrs=attributes(n=n_items, assumptions="all metrics were computed from one matrix of so many items"),
    )


def _warn_of_contradiction(metrics: Sequence[Metric], stated: Array, obtained: Array, rounding: Array) -> None:
    """Warn where no matrix has what is stated, and name the metric of the nearest that is furthest off."""
    off = np.abs(obtained - stated) / rounding
    worst = int(off.argmax())
    if off[worst] > 1 + _SOLVED:
        validate.warn(
            f"no matrix of so many items has {_words(metrics, stated)}, as they are rounded. The nearest is most at "
            f"odds with {metrics[worst].name}: {obtained[worst]:.4g} for {stated[worst]:.4g}, {off[worst]:.3g} times "
            "what rounding allows. Is one of them misprinted, of another test set, or of the other class?"
        )


def _stated(metrics: Mapping[MetricLike, float] | None, stated: Mapping[str, float]) -> tuple[list[Metric], Array]:
    """Return the metrics that are stated and their values; refuse those that don't determine the cells."""
    if not isinstance(metrics, Mapping | None):
        raise TypeError(f"`metrics` must be a mapping of metrics to numbers; got {metrics!r}.")
    pairs = [*(metrics or {}).items(), *stated.items()]
    if not pairs:
        raise ValueError("`metrics`: state three, such as recall=0.9, specificity=0.8, prevalence=0.3.")
    found = resolve([name for name, _ in pairs], 2)
    values = np.array([
        validate.number(metric.name, value, metric.lower, metric.upper, closed=True)
        for metric, (_, value) in zip(found, pairs, strict=True)
    ])  # fmt: skip
    if np.isinf(values).any():
        raise ValueError(
            f"`metrics` must be finite; got {_words(found, values)}. State a rate instead, such as recall."
        )
    somewhere = np.random.default_rng(0).normal(size=(5, 3))
    slopes = _jacobian(lambda cells: _link(found, _values(found, cells)), somewhere)
    if len(found) > 2 and np.linalg.matrix_rank(slopes, rtol=1e-7).max() < 3:
        raise ValueError(
            f"`metrics` {', '.join(metric.name for metric in found)} don't determine the cells: one follows from the "
            "others. State another, such as prevalence or recall."
        )
    return found, values


def _values(metrics: Sequence[Metric], cells: NDArray[Any]) -> Array:
    """Return the metrics of matrices (..., 2, 2), on a new last axis."""
    return np.stack(compute(metrics, cells), -1)


def _link(metrics: Sequence[Metric], values: Array) -> Array:
    """Map values of metrics to the whole line: by the logit or, for one finite end, by the logarithm."""
    lower, upper = np.array([(metric.lower, metric.upper) for metric in metrics]).T
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.log(np.where(np.isfinite(lower), np.clip(values - lower, 1e-300, 1e300), 1))
        below = np.log(np.where(np.isfinite(upper), np.clip(upper - values, 1e-300, 1e300), 1))
    linked: Array = np.where(np.isfinite(lower) | np.isfinite(upper), above - below, values)
    return linked


def _cells(x: Array) -> Array:
    """Return the cell probabilities (..., 2, 2) of x = log(p / p_TN) (..., 3)."""
    x = np.concatenate([np.zeros((*x.shape[:-1], 1)), np.clip(x, -50, 50)], -1)
    cells: Array = special.softmax(x, -1).reshape(*x.shape[:-1], 2, 2)
    return cells


def _jacobian(residual: Residual, x: Array) -> Array:
    step, x = _STEP * np.eye(3), x[..., None, :]
    slopes: Array = (residual(_cells(x + step)) - residual(_cells(x - step))) / (2 * _STEP)
    return np.nan_to_num(slopes.swapaxes(-1, -2))


def _minima(residual: Residual) -> list[tuple[float, Array]]:
    """Return the different matrices at which least squares end, with their sums of squares, least first."""

    def at(x: Array) -> Array:
        return np.nan_to_num(residual(_cells(x)), nan=1e3)

    starts = np.random.default_rng(0).normal(scale=3.0, size=(_RANDOM, 3))
    best = starts[np.argsort(np.abs(at(starts)).max(-1))[:_BEST]]
    ends = []
    for start in [*best, *starts[:_SPREAD]]:
        fit = optimize.least_squares(
            at, start, lambda x: _jacobian(residual, x), method="lm", xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=200
        )
        ends.append((2 * float(fit.cost), _cells(fit.x)))
    different: list[tuple[float, Array]] = []
    for total, cells in sorted(ends, key=lambda end: end[0]):
        if all(np.abs(cells - other).max() > _SAME for _, other in different):
            different.append((total, cells))
    return different


def _rounding(metrics: Sequence[Metric], values: Array, decimals: int | None) -> Array:
    """Return half a unit of the last decimal of each metric."""
    if decimals is not None:
        return np.full(len(values), 0.5 * 10.0 ** -validate.positive_integer("decimals", decimals))
    shown = np.array([max(-int(Decimal(str(value)).as_tuple().exponent), 0) for value in values.tolist()])
    bounded = np.array([metric.upper <= 1 for metric in metrics])
    shown[bounded] = max(2, *shown[bounded])
    return np.maximum(0.5 * 10.0**-shown, _SOLVED)


def _candidates(residual: Residual, n: int) -> tuple[NDArray[np.int64], bool]:
    """Return the matrices of `n` items to be tried, and whether these are all, or all around the solutions."""
    if (n + 1) * (n + 2) * (n + 3) / 6 <= _MOST:
        return _box(np.zeros(3), np.full(3, n), n), True
    minima = _minima(residual)
    least, best = minima[0]
    most = residual(best).size  # the sum of squares of a matrix that rounds to the metrics is not above it
    near = [n * cells.ravel()[1:] for total, cells in minima if total <= max(most, 1.1 * least)]
    reaches = [_MARGIN * n * (1 + least**0.5) * _reach(residual, centre / n) + 2 for centre in near]
    few = _few(near, reaches, n)
    while few and least <= most:  # where the metrics bend, matrices fit beyond the linear estimate
        boxes = [_box(centre - reach, centre + reach, n) for centre, reach in zip(near, reaches, strict=True)]
        full = [_fills(residual, *each, n) for each in zip(boxes, near, reaches, strict=True)]
        if not np.any(full):
            return np.unique(np.concatenate(boxes), axis=0), True
        reaches = [np.where(sides, 1.5 * reach, reach) for reach, sides in zip(reaches, full, strict=True)]
        few = _few(near, reaches, n)
    boxes = [_box(centre - _NEAR, centre + _NEAR, n) for centre in near]
    return np.unique(np.concatenate(boxes), axis=0), least > most


def _few(near: Sequence[Array], reaches: Sequence[Array], n: int) -> bool:
    """Say whether the matrices around solutions can all be tried."""
    sides = [np.minimum(c + reach, n) - np.maximum(c - reach, 0) + 1 for c, reach in zip(near, reaches, strict=True)]
    return bool(sum(np.prod(side) for side in sides) <= _MOST)


def _fills(residual: Residual, box: NDArray[np.int64], centre: Array, reach: Array, n: int) -> NDArray[np.bool_]:
    """Say of which axes matrices fit further out than half of the way to a side of the box that could be moved."""
    fitting = box[np.nan_to_num(np.abs(residual(box)), nan=np.inf).max(-1) <= 1.0].reshape(-1, 4)[:, 1:]
    away = fitting - centre
    movable = np.where(away > 0, centre + reach < n, centre - reach > 0)
    return np.asarray(((np.abs(away) > 0.5 * reach + 1.0) & movable).any(0))


def _reach(residual: Residual, three: Array) -> Array:
    """Return how far, to first order, the shares of FP, FN and TP can go while no residual changes by more than 1."""
    inside = 0.999 * np.array([1 - three.sum(), *three]) + 0.00025  # slopes may be infinite where a cell is 0
    steps = _STEP * (np.eye(4)[1:] - np.eye(4)[0])
    there, back = ((inside + sign * steps).reshape(-1, 2, 2) for sign in (1, -1))
    slopes = (residual(there) - residual(back)) / (2 * _STEP)
    reach: Array = np.abs(np.linalg.pinv(slopes.T)).sum(1)
    return reach


def _box(lower: Array, upper: Array, n: int) -> NDArray[np.int64]:
    """Return every matrix of `n` items with FP, FN and TP from `lower` to `upper`."""
    ranges = [
        np.arange(max(int(np.floor(start)), 0), min(int(np.ceil(end)), n) + 1)
        for start, end in zip(lower, upper, strict=True)
    ]
    three = np.stack(np.meshgrid(*ranges, indexing="ij"), -1).reshape(-1, 3)
    rest = n - three.sum(1)
    return np.column_stack([rest, three])[rest >= 0].reshape(-1, 2, 2)


def _words(metrics: Sequence[Metric], values: Array) -> str:
    return ", ".join(f"{metric.name}={value:.4g}" for metric, value in zip(metrics, values, strict=True))


def _either(matrices: Any) -> str:
    """Tell matrices apart, by their cells if these are counts."""
    three = resolve(["prevalence", "recall", "specificity"], 2)
    if np.asarray(matrices).dtype.kind == "i":
        said = [", ".join(f"{c}={v}" for c, v in zip(CELLS_OF_TWO, m.ravel(), strict=True)) for m in matrices]
    else:
        said = [_words(three, _values(three, m)) for m in matrices]
    return " or ".join(f"({text})" for text in said)
