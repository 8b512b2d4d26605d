"""Labels, scores, cells and tables become counts.

Counts are an :class:`xarray.DataArray` of integers whose last two dims are ``("actual", "predicted")`` with the
class labels as coordinates; every other dim is a batch. Of two labels the LAST is the positive class.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm import validate
from bayescm.labels import Label, class_order, codes, label_array, plain, positions
from bayescm.results import ACTUAL, MATRIX, PREDICTED, SYSTEM, THRESHOLD, batch_names, check_matrix
from bayescm.scores import check_scores


def confusion_matrix(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
) -> xr.DataArray:
    """Count how often each actual class was predicted as each class.

    Parameters
    ----------
    y_true, y_pred : array_like of shape (n,)
        Actual and predicted labels of the same items: integers, text or booleans. Floats are taken for integers
        when they all are whole.
    labels : sequence, optional
        All class labels, also those absent from the data. For more than two labels it also sets their order.
    pos_label : label, optional
        The positive class of two. Default: 1 or True if there is one, else the last label in sorted order,
        whatever the order of `labels`.

    Returns
    -------
    xarray.DataArray
        ``counts(actual, predicted)``, int64. Labels in sorted order (or that of `labels`), the positive one last:
        ``np.asarray`` of it equals scikit-learn's matrix.

    Raises
    ------
    ValueError
        For unequal lengths, empty input, missing or mixed labels, labels that `labels` doesn't name, or fewer than
        two labels.

    Examples
    --------
    >>> import bayescm
    >>> bayescm.confusion_matrix(["spam", "ham", "spam"], ["spam", "spam", "spam"]).values
    array([[0, 1],
           [0, 2]])
    """
    true, pred = label_array("y_true", y_true), label_array("y_pred", y_pred)
    validate.same_length(y_true=true, y_pred=pred)
    (true, pred), order = class_order({"y_true": true, "y_pred": pred}, labels, pos_label)
    return _labelled(_cross_count(true, pred, order), order)


def from_cells(
    *,
    tp: ArrayLike | xr.DataArray,
    fn: ArrayLike | xr.DataArray,
    fp: ArrayLike | xr.DataArray,
    tn: ArrayLike | xr.DataArray,
    labels: Sequence[Label] = (0, 1),
    dims: Sequence[str] | str | None = None,
) -> xr.DataArray:
    """Build counts from the four cells of a two-class table, given by name.

    Parameters
    ----------
    tp, fn, fp, tn : int, array_like or xarray.DataArray
        True positives, false negatives, false positives and true negatives. Arrays make a batch of matrices.
    labels : sequence of two labels
        The negative and the positive class.
    dims : str or sequence of str, optional
        Names of the axes of plain arrays; ``"system"`` for one axis. DataArrays keep their own.

    Returns
    -------
    xarray.DataArray
        ``counts(..., actual, predicted)``.

    Examples
    --------
    >>> import bayescm
    >>> bayescm.from_cells(tp=26, fn=0, fp=2, tn=6).values
    array([[ 6,  2],
           [ 0, 26]])
    """
    named = {"tp": tp, "fn": fn, "fp": fp, "tn": tn}
    order = label_array("labels", list(labels))
    if len(order) != 2:
        raise ValueError(f"`labels` must be the negative and the positive class; got {list(labels)!r}.")
    validate.unique("labels", order.tolist())
    arrays = [_cell(name, cell, dims) for name, cell in named.items()]
    batches = {frozenset(a.dims) for a in arrays if a.ndim}
    shapes = ", ".join(f"{name} {dict(a.sizes)}" for name, a in zip(named, arrays, strict=True) if a.ndim)
    wanted = "`tp`, `fn`, `fp` and `tn` must be numbers or have the same dims, sizes and coordinates"
    if len(batches) > 1:
        raise ValueError(f"{wanted}; got {shapes}.")
    try:
        four = xr.broadcast(*xr.align(*arrays, join="exact"))
    except ValueError as error:
        raise ValueError(f"{wanted}; got {shapes}.") from error
    tp_, fn_, fp_, tn_ = four
    stacked = xr.concat(
        [xr.concat([tn_, fp_], PREDICTED), xr.concat([fn_, tp_], PREDICTED)],
        ACTUAL,
        coords="minimal",
        compat="override",
    )
    return _finish(stacked.transpose(..., *MATRIX).assign_coords({ACTUAL: order, PREDICTED: order}))


def from_array(
    array: Any, *, labels: Sequence[Label] | None = None, dims: Sequence[str] | str | None = None
) -> xr.DataArray:
    """Take matrices that already are counted.

    Parameters
    ----------
    array : array_like of shape (..., K, K), DataFrame or xarray.DataArray
        Rows are actual, columns predicted classes: scikit-learn's layout, ``[[TN, FP], [FN, TP]]`` for two.
        A DataFrame brings its labels; a DataArray with dims ``actual`` and ``predicted`` keeps everything. Where the
        array has labels, `labels` only reorders them.
    labels : sequence of K labels, optional
        Default: the array's own, else 0 to K - 1. Of two the last is the positive class.
    dims : str or sequence of str, optional
        Names of the batch axes; ``"system"`` for one axis.

    Returns
    -------
    xarray.DataArray
        ``counts(..., actual, predicted)``.

    Examples
    --------
    >>> import bayescm
    >>> bayescm.from_array([[50, 3, 2], [4, 40, 1], [0, 6, 30]], labels=["a", "b", "c"]).sel(actual="b").values
    array([ 4, 40,  1])
    """
    if isinstance(array, xr.DataArray):
        counts = check_counts(array)
        if labels is None:
            return counts
        if not set(MATRIX) & set(array.coords):
            return check_counts(counts.assign_coords({dim: list(labels) for dim in MATRIX}))
        return counts.isel(dict.fromkeys(MATRIX, positions(labels, counts[ACTUAL].values.tolist())))
    if hasattr(array, "index") and hasattr(array, "columns"):
        rows, columns = list(array.index), list(array.columns)
        if set(rows) != set(columns):
            raise ValueError(f"`array` has rows {rows} and columns {columns}; give both the same labels.")
        kept = positions(rows if labels is None else labels, rows)
        labels = [rows[i] for i in kept]
        array = array.iloc[kept, positions(labels, columns)]
    elif hasattr(array, "columns"):
        raise TypeError("`array` as a data frame needs row labels (pandas); use bayescm.from_table for others.")
    values = np.asarray(array)
    if values.ndim < 2 or values.shape[-1] != values.shape[-2] or values.shape[-1] < 2:
        raise ValueError(f"`array` must have shape (..., K, K) with K of at least 2; got {values.shape}.")
    k = values.shape[-1]
    order = label_array("labels", list(range(k)) if labels is None else list(labels))
    if len(order) != k:
        raise ValueError(f"`labels` must name the {k} classes of `array`; got {len(order)}: {order.tolist()}.")
    validate.unique("labels", order.tolist())
    batch = _batch_dims(values.ndim - 2, dims)
    return _finish(xr.DataArray(values, dims=(*batch, *MATRIX), coords={ACTUAL: order, PREDICTED: order}))


def from_table(
    table: Any,
    *,
    actual: str = "actual",
    predicted: str = "predicted",
    n: str | None = "n",
    by: Sequence[str] | str = (),
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
) -> xr.DataArray:
    """Count a long table with one row per cell, or one row per item.

    Parameters
    ----------
    table : data frame
        Any frame that narwhals knows (pandas, polars, pyarrow, duckdb, lazy ones).
    actual, predicted : str
        Columns of labels.
    n : str or None
        Column of counts. None: every row is one item.
    by : str or sequence of str
        Columns that become batch dims, such as ``"system"`` or ``"fold"``.
    labels, pos_label
        As in :func:`confusion_matrix`.

    Returns
    -------
    xarray.DataArray
        ``counts(*by, actual, predicted)``; cells that the table leaves out are 0.

    Raises
    ------
    ValueError
        If a column is missing, a cell is given twice, or a combination of `by` has no row.

    Examples
    --------
    >>> import bayescm, pandas as pd
    >>> long = pd.DataFrame({"actual": [0, 0, 1], "predicted": [0, 1, 1], "n": [6, 2, 26]})
    >>> bayescm.from_table(long).values
    array([[ 6,  2],
           [ 0, 26]])
    """
    groups = [by] if isinstance(by, str) else list(by)
    batch_names("by", groups)
    columns = _columns(table, [actual, predicted, *([] if n is None else [n]), *groups])
    true, pred = label_array(actual, columns[actual]), label_array(predicted, columns[predicted])
    (true, pred), order = class_order({actual: true, predicted: pred}, labels, pos_label)
    weight = np.ones(len(true), np.int64) if n is None else validate.count_values(n, columns[n])
    levels, level_codes = _group_codes(groups, columns)
    sorter = np.argsort(order)
    code = [*level_codes, codes(true, order, sorter), codes(pred, order, sorter)]
    shape = (*(len(level) for level in levels), len(order), len(order))
    flat = np.ravel_multi_index(tuple(code), shape)
    if n is not None:
        _no_cell_twice(flat, shape, levels, order)
    counts = np.zeros(int(np.prod(shape)), np.int64)
    np.add.at(counts, flat, weight)
    _every_group_has_rows(flat, shape, groups, levels)
    result = _labelled(counts.reshape(shape), order, groups)
    return result.assign_coords(dict(zip(groups, levels, strict=True)))


def counts_at_thresholds(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    thresholds: ArrayLike | None = None,
    pos_label: Label | None = None,
    labels: Sequence[Label] | None = None,
) -> xr.DataArray:
    """Count the two-class matrix at every threshold: predicted positive where ``score >= threshold``.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Actual labels, two classes.
    y_score : array_like of shape (n,)
        Any real scores, larger for the positive class: probabilities, logits, also infinite ones. Equal scores
        stay together; nothing is compared with a tolerance.
    thresholds : array_like, optional
        Default: every distinct score, from the largest down.
    pos_label, labels
        As in :func:`confusion_matrix`.

    Returns
    -------
    xarray.DataArray
        ``counts(threshold, actual, predicted)``.

    Examples
    --------
    >>> import bayescm
    >>> c = bayescm.counts_at_thresholds([0, 1, 1], [-1.5, 0.0, 2.0])
    >>> c.sel(threshold=0.0).values
    array([[1, 0],
           [0, 2]])
    """
    positive, (score, *others), _, _, order = check_scores(y_true, y_score, labels, pos_label)
    if others:
        raise ValueError("`y_score` must be the scores of one system; got several.")
    if thresholds is None:
        cut = np.unique(score)[::-1]
    else:
        cut = validate.real_numbers("thresholds", np.atleast_1d(np.asarray(thresholds)))
    validate.unique("thresholds", cut.tolist())
    tp, fp = (_at_least(score[mask], cut) for mask in (positive, ~positive))
    tn, fn = (~positive).sum() - fp, positive.sum() - tp
    counts = np.stack([np.stack([tn, fp], -1), np.stack([fn, tp], -1)], -2)
    return _labelled(counts, order, [THRESHOLD]).assign_coords({THRESHOLD: cut})


def check_counts(counts: Any) -> xr.DataArray:
    """Return valid counts, whatever they came as: a DataArray by its dims, anything else as :func:`from_array`."""
    if not isinstance(counts, xr.DataArray):
        return from_array(counts)
    counts = check_matrix(counts, "counts")
    batch_names("counts", [dim for dim in counts.dims if dim not in MATRIX])
    return _finish(counts)


def computed(counts: Any) -> xr.DataArray:
    """Return valid counts, lazy ones computed and looked at."""
    checked = check_counts(counts)
    return checked if checked.chunks is None else _finish(checked.compute())


def one_matrix(counts: Any) -> xr.DataArray:
    """Return valid counts of one matrix, without a batch."""
    checked = computed(counts)
    batch = [str(dim) for dim in checked.dims if dim not in MATRIX]
    if batch:
        raise ValueError(f"`counts` must be one matrix here; it also has the dims {batch}. Select one.")
    return checked


def _finish(counts: xr.DataArray) -> xr.DataArray:
    """Check the values (lazy ones are checked when they are computed), and name the array."""
    if counts.chunks is None:
        counts = counts.copy(data=validate.count_values("counts", counts.values))
    counts.name = "counts"
    return counts


def _labelled(values: NDArray[np.int64], order: NDArray[Any], batch: Sequence[str] = ()) -> xr.DataArray:
    """Wrap counted values."""
    return xr.DataArray(values, dims=(*batch, *MATRIX), coords={ACTUAL: order, PREDICTED: order}, name="counts")


def _batch_dims(n: int, dims: Sequence[str] | str | None) -> list[str]:
    """Return names for `n` batch axes."""
    if dims is None:
        if n > 1:
            raise ValueError(f"`dims` must name the {n} batch axes, such as dims=('system', 'fold').")
        return [SYSTEM] * n
    names = [dims] if isinstance(dims, str) else list(dims)
    if len(names) != n:
        raise ValueError(f"`dims` must name the {n} batch axes; got {names}.")
    batch_names("dims", names)
    return names


def _cell(name: str, cell: ArrayLike | xr.DataArray, dims: Sequence[str] | str | None) -> xr.DataArray:
    """Return the counts of one cell as a DataArray."""
    if isinstance(cell, xr.DataArray):
        return cell if cell.chunks is not None else cell.copy(data=validate.count_values(name, cell.values))
    values = validate.count_values(name, cell)
    names = _batch_dims(values.ndim, dims) if values.ndim else []
    index = getattr(cell, "index", None) if hasattr(cell, "to_numpy") else None  # of a pandas Series
    return xr.DataArray(values, dims=names, coords={} if index is None else {names[0]: np.asarray(index)})


def _at_least(scores: NDArray[np.float64], cut: NDArray[np.float64]) -> NDArray[np.int64]:
    """Count the scores that reach each threshold."""
    return (len(scores) - np.searchsorted(np.sort(scores), cut, side="left")).astype(np.int64)


def _cross_count(true: NDArray[Any], pred: NDArray[Any], order: NDArray[Any]) -> NDArray[np.int64]:
    """Count pairs of labels."""
    k, sorter = len(order), np.argsort(order)
    flat = codes(true, order, sorter) * k + codes(pred, order, sorter)
    return np.bincount(flat, minlength=k * k).reshape(k, k).astype(np.int64)


def _columns(table: Any, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Take columns out of any data frame."""
    import narwhals as nw

    try:
        frame: Any = nw.from_native(table)
    except TypeError as error:
        raise TypeError(f"`table` must be a data frame; got {type(table).__name__}.") from error
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise ValueError(f"`table` has no column {absent[0]!r}; it has {list(frame.columns)}.")
    if frame.shape[0] == 0:
        raise ValueError("`table` has no rows; give at least one.")
    return {name: frame[name].to_numpy() for name in names}


def _group_codes(groups: Sequence[str], columns: Mapping[str, NDArray[Any]]) -> tuple[list[Any], list[Any]]:
    """Return the levels of each batch column in order of appearance, and every row's position among them."""
    levels, level_codes = [], []
    for name in groups:
        values = plain(name, columns[name])
        found, first, inverse = np.unique(values, return_index=True, return_inverse=True)
        by_appearance = np.argsort(first)
        levels.append(found[by_appearance])
        level_codes.append(np.argsort(by_appearance)[inverse])
    return levels, level_codes


def _no_cell_twice(
    flat: NDArray[np.intp], shape: tuple[int, ...], levels: Sequence[NDArray[Any]], order: NDArray[Any]
) -> None:
    """Refuse a table that gives one cell in two rows."""
    cells, rows = np.unique(flat, return_counts=True)
    if rows.max() > 1:
        where = np.unravel_index(cells[np.argmax(rows)], shape)
        axes: list[Any] = [*levels, order, order]
        told = ", ".join(str(axis[i]) for axis, i in zip(axes, where, strict=True))
        raise ValueError(f"`table` gives the cell ({told}) {rows.max()} times; add up its rows first.")


def _every_group_has_rows(
    flat: NDArray[np.intp], shape: tuple[int, ...], groups: Sequence[str], levels: Sequence[NDArray[Any]]
) -> None:
    """Refuse a combination of batch labels without a single row."""
    present = np.zeros(int(np.prod(shape[:-2])), bool)
    present[flat // (shape[-1] * shape[-2])] = True
    if not present.all():
        where = np.unravel_index(int(np.argmin(present)), shape[:-2])
        told: dict[str, Hashable] = {g: lv[i].item() for g, lv, i in zip(groups, levels, where, strict=True)}
        raise ValueError(f"`table` has no rows for {told}; select what belongs together first.")
