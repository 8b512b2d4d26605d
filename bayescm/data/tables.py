"""Long tables become counts: a row per cell, or a row per item."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.counts import labelled
from bayescm.data.crosstabs import is_margin
from bayescm.data.labels import Label, class_order, codes, grouped, in_words_of, label_array
from bayescm.data.schema import batch_names


def from_table(
    table: Any,
    *,
    actual: str = "actual",
    predicted: str = "predicted",
    n: str | None = "n",
    by: Sequence[str] | str = (),
    labels: Sequence[Label] | None = None,
    pos_label: Label | tuple[Label, Label] | None = None,
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
        If a column is missing, a cell is given twice, a combination of `by` has no row, or rows of counts hold sums
        ("Total"); and as :func:`confusion_matrix`.

    Examples
    --------
    >>> import bayescm, pandas as pd
    >>> long = pd.DataFrame({"actual": [0, 0, 1], "predicted": [0, 1, 1], "n": [6, 2, 26]})
    >>> bayescm.from_table(long).values
    array([[ 6,  2],
           [ 0, 26]])
    """
    groups = [by] if isinstance(by, str) else validate.listed("by", by)
    batch_names("by", groups)
    columns = columns_of(table, [actual, predicted, *([] if n is None else [n]), *groups])
    true, pred = label_array(actual, columns[actual]), label_array(predicted, columns[predicted])
    if isinstance(pos_label, tuple):
        pred, pos_label = in_words_of(true, pred, pos_label), pos_label[0]
    (true, pred), order = class_order({actual: true, predicted: pred}, labels, pos_label)
    if n is not None:
        _no_margins(order)
    weight = np.ones(len(true), np.int64) if n is None else validate.count_values(n, columns[n])
    levels, level_codes = grouped(groups, columns)
    sorter = np.argsort(order)
    code = [*level_codes, codes(true, order, sorter), codes(pred, order, sorter)]
    shape = (*(len(level) for level in levels), len(order), len(order))
    flat = np.ravel_multi_index(tuple(code), shape)
    if n is not None:
        _no_cell_twice(flat, shape, levels, order)
    counts = np.zeros(int(np.prod(shape)), np.int64)
    np.add.at(counts, flat, weight)
    _every_group_has_rows(flat, shape, groups, levels)
    result = labelled(counts.reshape(shape), order, groups)
    return result.assign_coords(dict(zip(groups, levels, strict=True)))


def columns_of(table: Any, names: Sequence[str]) -> dict[str, NDArray[Any]]:
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


def _no_margins(order: NDArray[Any]) -> None:
    """Refuse a table of counts that gives sums too."""
    sums = [label for label in order.tolist() if is_margin(label)]
    if sums:
        raise ValueError(
            f"`table` has the label {sums[0]!r}, a word for sums: leave out these rows; a class of that name needs "
            "another one."
        )


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
