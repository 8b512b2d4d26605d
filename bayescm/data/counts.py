"""Labels, cells and matrices become counts.

Counts are an :class:`xarray.DataArray` of integers whose last two dims are ``("actual", "predicted")`` with the
class labels as coordinates; every other dim is a batch. Of two labels the LAST is the positive class.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm.data import validate
from bayescm.data.crosstabs import is_margin, square, without_margins
from bayescm.data.labels import (
    Label,
    class_names,
    coded,
    declared,
    grouped,
    label_array,
    no_missing,
    no_scores,
    plain,
    positions,
    positive_last,
    several_labels,
    some,
)
from bayescm.data.options import plain_words
from bayescm.data.schema import (
    ACTUAL,
    FOLD,
    GROUP,
    MATRIX,
    PREDICTED,
    RUN,
    SYSTEM,
    UNIT,
    batch_names,
    check_matrix,
    labels_of,
)
from bayescm.data.shapes import is_reported, only_matrix
from bayescm.data.streams import distinct_rows, in_chunks, is_stream, pair_of
from bayescm.data.units import named_units


@plain_words
def confusion_matrix(
    y_true: Any,
    y_pred: ArrayLike | None = None,
    *,
    labels: Sequence[Label] | None = None,
    pos_label: Label | tuple[Label, Label] | None = None,
    fold: ArrayLike | None = None,
    group: ArrayLike | None = None,
    unit: ArrayLike | None = None,
) -> xr.DataArray:
    """Count how often each actual class was predicted as each class.

    Parameters
    ----------
    y_true, y_pred : array_like of shape (n,)
        Actual and predicted labels of the same items: integers, text or booleans. Floats are taken for integers
        when they all are whole. Several runs on the same items are a second dim of `y_pred`, (n, runs), and get a
        matrix each. Of items that may have several labels both are (n, labels) of 0 and 1, as scikit-learn has them: a
        matrix each, over the dim ``class``. Or `y_true` alone is an iterator over chunks, pairs of both: only counts
        are kept (by group: :func:`bayescm.from_table`).
    labels : sequence, optional
        All class labels, also those absent from the data. For more than two labels it also sets their order. Default:
        those of the data, sorted, or all of an ordered categorical in its order.
    pos_label : label, or pair of labels, optional
        The positive class of two; where the test has other words than the truth, that of either, the truth's first.
        Default: 1 or True if there is one, of two other numbers the larger, and the
        positive one of a well-known pair of words such as "yes" and "no" (``bayescm.data.labels.WELL_KNOWN``),
        whatever the order of `labels`. Any other pair of words is refused.
    fold, group : array_like of shape (n,), optional
        The fold or the group of each item: a matrix for each.
    unit : array_like of shape (n,), or two of them, optional
        What was sampled, where it has several items: the patient of each lesion, the question of each answer. A matrix
        for each, over the dim ``unit``; every question then takes the units, not the items, for independent. Two that
        are crossed, such as readers who all read the same cases: ``(readers, cases)`` or ``{"reader": ..., "case":
        ...}``, a matrix for each pair.

    Returns
    -------
    xarray.DataArray
        ``counts(actual, predicted)``, int64; before these the dims ``fold``, ``group``, ``unit`` and ``run``, where
        given.
        Labels in sorted order (or that of `labels`), the positive one last: ``np.asarray`` of it equals scikit-learn's
        matrix.

    Raises
    ------
    ValueError
        For unequal lengths, empty input, missing, masked or mixed labels, labels that `labels` doesn't name, fewer
        than two labels, two words of which the positive one isn't known, or actual and predicted labels without one
        in common (unless `labels` names them all).

    Examples
    --------
    >>> import bayescm
    >>> bayescm.confusion_matrix(["spam", "ham", "spam"], ["spam", "spam", "spam"]).values
    array([[0, 1],
           [0, 2]])
    """
    if is_stream(y_true) and y_pred is None:
        if fold is not None or group is not None or unit is not None:
            raise ValueError(
                "`y_true` in chunks has no `fold`, `group` or `unit`; bayescm.from_table(chunks, n=None, dims=...)."
            )
        return _of_stream(y_true, labels, pos_label)
    if y_pred is None:
        raise TypeError("`y_pred` is missing: give y_true and y_pred, or an iterator over such pairs.")
    if several := several_labels(y_true, y_pred):
        how: Any = {"pos_label": pos_label, "fold": fold, "group": group, "unit": unit}
        how["labels"] = (0, 1) if labels is None else labels
        columns = (np.asarray(one).T.astype(int) for one in (y_true, y_pred))
        made = [confusion_matrix(*one, **how) for one in zip(*columns, strict=True)]
        return xr.concat(made, "class").assign_coords({"class": several})
    runs = np.shape(y_pred)[1] if np.ndim(y_pred) == 2 else 0
    each = max(runs, 1)  # items follow one another, the runs of one together
    labels = declared(labels, y_true)
    true = label_array("y_true", y_true)
    if runs and np.shape(y_pred)[0] != len(true):
        raise ValueError(f"`y_pred` must have the shape ({len(true)},) or ({len(true)}, runs); got {np.shape(y_pred)}.")
    true = np.repeat(true, each)
    pred = label_array("y_pred", np.ravel(y_pred) if runs else y_pred)
    validate.same_length(y_true=true, y_pred=pred)
    if labels is None:
        no_scores(true, pred)
    true, pred, order = coded({"y_true": true, "y_pred": pred}, labels, pos_label)
    of_units = None if unit is None else named_units(unit)
    given = {name: one for name, one in ((FOLD, fold), (GROUP, group), of_units or (UNIT, None)) if one is not None}
    batch = {name: np.repeat(plain(name, one), each) for name, one in given.items()}
    validate.same_length(y_true=true, **batch)
    if runs:
        batch[RUN] = np.tile(np.arange(runs), len(true) // runs)
    levels, level_codes = grouped(list(batch), batch)
    shape = (*(len(level) for level in levels), len(order), len(order))
    flat = np.ravel_multi_index((*level_codes, true, pred), shape)
    values = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape).astype(np.int64)
    counts = labelled(values, order, list(batch)).assign_coords(dict(zip(batch, levels, strict=True)))
    apart = counts if of_units is None else counts.sum(of_units[0])
    empty = np.argwhere((apart.sum(MATRIX) == 0).values)
    if len(empty):
        first = ", ".join(f"{dim} {apart[dim].values[i]}" for dim, i in zip(apart.dims[:-2], empty[0], strict=True))
        validate.warn(f"No items in {len(empty)} matrices, the first {first}: zeros, whose posterior is the prior.")
    return counts if of_units is None else counts.assign_attrs({UNIT: of_units[0]})


def _of_stream(
    chunks: Any, labels: Sequence[Label] | None, pos_label: Label | tuple[Label, Label] | None
) -> xr.DataArray:
    """Count the items of chunks."""
    rows, n = distinct_rows(in_chunks(chunks, lambda chunk: pair_of(chunk, "y_pred", label_array)))
    true, pred, order = coded({name: label_array(name, one) for name, one in rows.items()}, labels, pos_label, n)
    counts = np.zeros((len(order), len(order)), np.int64)
    np.add.at(counts, (true, pred), n)
    return labelled(counts, order)


@plain_words
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

    Raises
    ------
    ValueError
        For a negative cell, or cells whose dims, sizes or coordinates differ.

    Examples
    --------
    >>> import bayescm
    >>> bayescm.from_cells(tp=26, fn=0, fp=2, tn=6).values
    array([[ 6,  2],
           [ 0, 26]])
    """
    named = {"tp": tp, "fn": fn, "fp": fp, "tn": tn}
    order = class_names(labels)
    if len(order) != 2:
        raise ValueError(f"`labels` must be the negative and the positive class; got {list(labels)!r}.")
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
    tp_, fn_, fp_, tn_ = (one.data for one in four)  # of NumPy or dask
    values = np.stack([np.stack([tn_, fp_], -1), np.stack([fn_, tp_], -1)], -2)
    coords = {ACTUAL: order, PREDICTED: order, **four[3].coords}
    return xr.DataArray(values, coords, (*four[3].dims, *MATRIX), "counts", four[3].attrs)


@plain_words
def from_array(
    array: Any,
    *,
    labels: Sequence[Label] | None = None,
    pos_label: Label | tuple[Label, Label] | None = None,
    dims: Sequence[str] | str | None = None,
    rows: str | None = None,
) -> xr.DataArray:
    """Take matrices that already are counted.

    Parameters
    ----------
    array : array_like of shape (..., K, K), DataFrame or xarray.DataArray
        Rows are actual, columns predicted classes: scikit-learn's layout, ``[[TN, FP], [FN, TP]]`` for two.
        A DataFrame brings its labels; the names of its index and columns ("truth", "y_pred", ...), or words before
        all labels of a side ("Test+", "Test-"), say which side is the truth. A DataArray with dims ``actual`` and
        ``predicted`` keeps everything. Margins ("Total", "All", ...) whose sums fit are left out with a warning.
    labels : sequence of K labels, optional
        Names the classes of a plain array, by default 0 to K - 1; reorders those of others.
    pos_label : label, or pair of labels, optional
        The positive class of two, which is put last. Default: as in :func:`confusion_matrix`, and of another pair of
        words the last of `labels`. A DataArray's is its last, unless `labels` or `pos_label` is given. A DataFrame
        whose test has other words than the truth: the positive one of the truth and that of the test.
    dims : str or sequence of str, optional
        Names of the batch axes; ``"system"`` for one axis.
    rows : {"truth", "test"}, optional
        What the rows of a DataFrame are. Needed where its names don't say.

    Returns
    -------
    xarray.DataArray
        ``counts(..., actual, predicted)``.

    Raises
    ------
    ValueError
        If the shape, the labels or the values don't fit, the sides or the positive class aren't known, or a margin
        isn't the sum of the others.

    Examples
    --------
    >>> import bayescm
    >>> bayescm.from_array([[50, 3, 2], [4, 40, 1], [0, 6, 30]], labels=["a", "b", "c"]).sel(actual="b").values
    array([ 4, 40,  1])
    """
    frame = hasattr(array, "index") and hasattr(array, "columns")
    if rows is not None and not frame:
        raise ValueError("`rows` is for data frames; the rows of any other array are the truth: transpose it if not.")
    words = list(pos_label) if isinstance(pos_label, tuple | list) else [] if pos_label is None else [pos_label]
    if isinstance(array, xr.DataArray):
        counts = check_counts(array)
        if labels is None and pos_label is None:
            return counts
        named = bool(set(MATRIX) & set(array.coords))
    else:
        counts = _of_frame(array, rows, words) if frame else _of_plain(array, labels, dims)
        if labels is None:
            no_missing("array", counts[ACTUAL].values, items=_items_of_classes(counts.values))
        named = frame
    if labels is not None and named:
        counts = counts.isel(dict.fromkeys(MATRIX, positions(labels, labels_of(counts))))
    elif labels is not None and isinstance(array, xr.DataArray):
        names = _class_names(validate.listed("labels", labels), counts.sizes[ACTUAL])
        counts = counts.assign_coords(dict.fromkeys(MATRIX, names))
    known = labels_of(counts)
    positive = next((word for word in words if word in known), words[0] if words else None)
    places = positive_last(known, positive, last=labels is not None)
    return counts if places == sorted(places) else counts.isel(dict.fromkeys(MATRIX, places))


def check_counts(counts: Any) -> xr.DataArray:
    """Return valid counts, whatever they came as: a DataArray by its dims, anything else as :func:`from_array`."""
    if isinstance(counts, xr.DataTree):
        raise ValueError(
            "`counts` are draws of a model, and this needs the counts themselves. Draws go into bayescm.summary, "
            "probability, metric_distribution, compare_systems, leaderboard, decide, at_prevalences and "
            "region(draws)."
        )
    if isinstance(counts, Mapping) and any(map(is_reported, counts.values())):
        each = [only_matrix(one, f" of {name!r}") for name, one in counts.items()]
        counts = xr.concat(each, SYSTEM).assign_coords({SYSTEM: list(counts)})
    counts = only_matrix(counts) if is_reported(counts) else counts
    if not isinstance(counts, xr.DataArray):
        return from_array(counts)
    counts = check_matrix(counts, "counts")
    batch_names("counts", [dim for dim in counts.dims if dim not in MATRIX])
    return _finish(counts)


def computed(counts: Any) -> xr.DataArray:
    """Return valid counts, lazy ones computed and looked at."""
    checked = check_counts(counts)
    return checked if checked.chunks is None else _finish(checked.compute())


def checked_when_computed(counts: xr.DataArray) -> xr.DataArray:
    """Return counts whose values, if they are lazy, are looked at when they are computed."""
    checked: xr.DataArray = xr.apply_ufunc(
        lambda values: validate.count_values("counts", values), counts, dask="parallelized", output_dtypes=[np.int64],
        keep_attrs=True,
    )  # fmt: skip
    return checked


def one_matrix(counts: Any) -> xr.DataArray:
    """Return valid counts of one matrix, without a batch."""
    checked = computed(counts)
    batch = [str(dim) for dim in checked.dims if dim not in MATRIX]
    if batch:
        raise ValueError(f"`counts` must be one matrix here; it also has the dims {batch}. Select one.")
    return checked


def _of_plain(array: Any, labels: Sequence[Label] | None, dims: Sequence[str] | str | None) -> xr.DataArray:
    """Label matrices that bring no labels."""
    if hasattr(array, "columns"):
        raise TypeError("`array` as a data frame needs row labels (pandas); use bayescm.from_table for others.")
    values = np.empty(()) if isinstance(array, str | Mapping) else validate.array_of("array", array)
    if values.ndim < 2 or values.shape[-1] != values.shape[-2] or values.shape[-1] < 2:
        raise ValueError(
            f"`array` must have shape (..., K, K) with K of at least 2; got {_came(array, values)}. Counts of labels: "
            "bayescm.confusion_matrix(y_true, y_pred); of four cells: bayescm.from_cells(tp=45, fn=5, fp=10, tn=90); "
            "of a file: bayescm.from_table(pandas.read_csv(file))."
        )
    names = validate.listed("labels", range(values.shape[-1]) if labels is None else labels)
    if len(names) == values.shape[-1] and any(is_margin(name) for name in names):
        values, names, _ = without_margins(validate.count_values("array", values), names, names)
    order = _class_names(names, values.shape[-1])
    batch = _batch_dims(values.ndim - 2, dims)
    return labelled(validate.count_values("counts", values), order, batch)


def _items_of_classes(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return how many items have each class as their actual or predicted one."""
    whole = values.sum(tuple(range(values.ndim - 2)))
    return np.asarray(whole.sum(0) + whole.sum(1) - whole.diagonal())


def _came(array: Any, values: NDArray[Any]) -> str:
    """Say in short what came instead of matrices."""
    if values.ndim:
        return str(values.shape)
    return f"the names {some(list(array))}" if isinstance(array, Mapping) else f"{array!r:.60}"


def _of_frame(frame: Any, rows: str | None, words: list[Any]) -> xr.DataArray:
    """Take a square data frame for what its labels and their names say."""
    if abs(len(frame.index) - len(frame.columns)) > 1 or len(frame.columns) < 2:  # one more: sums
        raise ValueError(
            f"`array` as a frame must be a square table; got {len(frame.index)} rows and the columns "
            f"{some(list(frame.columns))}. Of a long table: bayescm.from_table(frame, actual=..., predicted=..., "
            "n=None); of scores: bayescm.curves.counts_at_thresholds(y_true, y_score); of 0 and 1, items by systems: "
            "bayescm.leaderboard(frame); of metrics that papers print: bayescm.from_reported for each row."
        )
    values = validate.count_values("array", frame)
    names = (frame.index.name, frame.columns.name)
    values, labels = square(values, list(frame.index), list(frame.columns), names, rows, words)
    return labelled(values, _class_names(labels, len(values)))


def _class_names(labels: Sequence[Any], k: int) -> NDArray[Any]:
    """Return the labels of `k` classes."""
    order = class_names(labels)
    if len(order) != k or k < 2:
        raise ValueError(f"`labels` must name the {k} classes of `array`, two at least; got {order.tolist()}.")
    return order


def _finish(counts: xr.DataArray) -> xr.DataArray:
    """Check the values (lazy ones are checked when they are computed), and name the array."""
    if counts.chunks is None:
        counts = counts.copy(data=validate.count_values("counts", counts.values))
    counts.name = "counts"
    return counts


def labelled(values: NDArray[np.int64], order: NDArray[Any], batch: Sequence[str] = ()) -> xr.DataArray:
    """Wrap counted values (*batch, actual, predicted)."""
    return xr.DataArray(values, dims=(*batch, *MATRIX), coords={ACTUAL: order, PREDICTED: order}, name="counts")


def _batch_dims(n: int, dims: Sequence[str] | str | None) -> list[str]:
    """Return names for `n` batch axes."""
    if dims is None:
        if n > 1:
            raise ValueError(f"`dims` must name the {n} batch axes, such as dims=('system', 'fold').")
        return [SYSTEM] * n
    names = [dims] if isinstance(dims, str) else validate.listed("dims", dims)
    if len(names) != n:
        raise ValueError(f"`dims` must name the {n} batch axes; got {names}.")
    batch_names("dims", names)
    return names


def _cell(name: str, cell: ArrayLike | xr.DataArray, dims: Sequence[str] | str | None) -> xr.DataArray:
    """Return the counts of one cell as a DataArray."""
    if isinstance(cell, xr.DataArray):
        validate.known_sizes(name, cell)
        return cell if cell.chunks is not None else cell.copy(data=validate.count_values(name, cell.values))
    values = validate.count_values(name, cell)
    names = _batch_dims(values.ndim, dims) if values.ndim else []
    index = getattr(cell, "index", None) if hasattr(cell, "to_numpy") else None  # of a pandas Series
    return xr.DataArray(values, dims=names, coords={} if index is None else {names[0]: np.asarray(index)})
