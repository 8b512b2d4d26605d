"""Long tables become counts: a row per cell, or a row per item."""

from collections.abc import Hashable, Sequence
from os import PathLike
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.counts import labelled
from bayescm.data.crosstabs import is_margin
from bayescm.data.labels import Label, coded, declared, grouped, label_array, plain
from bayescm.data.schema import batch_names
from bayescm.data.streams import Columns, distinct_rows, in_chunks, is_stream


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
    table : data frame, path or str
        The path of a table (CSV and the like), or its text, read as :func:`bayescm.read` and the command line read it:
        a row per item where it has no column `n`, also matrices and cells. Any frame that narwhals knows (pandas,
        polars, pyarrow, duckdb, lazy ones), or a record batch of Arrow. Or an iterator over such chunks, such as
        ``pandas.read_csv(file, chunksize=10**6)`` or
        ``pyarrow.parquet.ParquetFile(file, pre_buffer=False).iter_batches()``: of items (``n=None``) only the counts
        are kept.
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
    if isinstance(table, str | PathLike):
        return _of_file(table, {"actual": actual, "predicted": predicted, "n": n, "by": by or None}, labels, pos_label)
    groups = [by] if isinstance(by, str) else validate.listed("by", by)
    for argument, value in (("actual", actual), ("predicted", predicted), ("n", n), *(("by", one) for one in groups)):
        if not isinstance(value, Hashable):
            raise TypeError(f"`{argument}` must be the name of a column; got {type(value).__name__}.")
    batch_names("by", groups)
    names = [actual, predicted, *([] if n is None else [n]), *groups]
    columns, weight = _read(table, names, n)
    labels = declared(labels, table[actual] if hasattr(table, "to_numpy") else None)
    sides = {name: label_array(name, columns[name]) for name in (actual, predicted)}
    true, pred, order = coded(sides, labels, pos_label, weight)
    if n is not None:
        _no_margins(order)
    levels, level_codes = grouped(groups, columns)
    shape = (*(len(level) for level in levels), len(order), len(order))
    flat = np.ravel_multi_index((*level_codes, true, pred), shape)
    if n is not None:
        _no_cell_twice(flat, shape, levels, order)
    counts = np.zeros(int(np.prod(shape)), np.int64)
    np.add.at(counts, flat, weight)
    _every_group_has_rows(flat, shape, groups, levels)
    result = labelled(counts.reshape(shape), order, groups)
    return result.assign_coords(dict(zip(groups, levels, strict=True)))


def _of_file(path: Any, columns: dict[str, Any], labels: Any, pos_label: Any) -> xr.DataArray:
    """Read a table of text, whose columns are called as always but for those that are said."""
    from bayescm.data.reading import read  # which stands on this

    usual = {"actual": "actual", "predicted": "predicted", "n": "n"}
    said = {what: name for what, name in columns.items() if name != usual.get(what)}
    evidence = read(path, labels=labels, pos_label=pos_label, columns=said, about="counts")
    if evidence.kind != "counts":
        raise ValueError(f"`table` has {evidence.kind}, not counts: see bayescm.read.")
    counts: xr.DataArray = evidence.data
    return counts


def _read(table: Any, names: Sequence[str], n: str | None) -> tuple[Columns, NDArray[np.int64]]:
    """Return columns and the number of items of each row; of chunks of items only the distinct rows."""
    if not is_stream(table):
        columns = columns_of(table, names)
        return columns, np.ones(len(columns[names[0]]), np.int64) if n is None else validate.count_values(n, columns[n])
    if n is None:
        return distinct_rows(in_chunks(table, lambda chunk: _plain_columns(chunk, names)))
    parts = list(in_chunks(table, lambda chunk: columns_of(chunk, names)))
    columns = {name: np.concatenate([part[name] for part in parts]) for name in names}
    return columns, validate.count_values(n, columns[n])


def _plain_columns(chunk: Any, names: Sequence[str]) -> Columns:
    """Return the columns of a chunk, each of one type and none of its values missing."""
    return {name: plain(name, column) for name, column in columns_of(chunk, names).items()}


def columns_of(table: Any, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Take columns out of any data frame, of lazy ones without reading the others."""
    frame = _frame(table)
    known = frame.collect_schema().names()
    absent = [name for name in names if name not in known]
    if absent:
        raise ValueError(f"`table` has no column {absent[0]!r}; it has {list(known)}.")
    frame = frame.select(list(dict.fromkeys(names)))
    frame = frame.collect() if hasattr(frame, "collect") else frame
    if frame.shape[0] == 0:
        raise ValueError("`table` has no rows; give at least one.")
    return {name: frame[name].to_numpy() for name in names}


def _frame(table: Any) -> Any:
    """Return any data frame, or record batch of Arrow, as one of narwhals."""
    import narwhals as nw

    validate.columns_once("table", table)
    try:
        return nw.from_native(table)
    except TypeError as error:
        if hasattr(table, "__arrow_c_stream__"):
            return nw.from_arrow(table, backend="pyarrow")
        raise TypeError(f"`table` must be a data frame; got {type(table).__name__}.") from error


def _no_cell_twice(
    flat: NDArray[np.intp], shape: tuple[int, ...], levels: Sequence[NDArray[Any]], order: NDArray[Any]
) -> None:
    """Refuse a table that gives one cell in two rows."""
    cells, rows = np.unique(flat, return_counts=True)
    if rows.max() > 1:
        where = np.unravel_index(cells[np.argmax(rows)], shape)
        axes: list[Any] = [*levels, order, order]
        cell = ", ".join(str(axis[i]) for axis, i in zip(axes, where, strict=True))
        raise ValueError(f"`table` gives the cell ({cell}) {rows.max()} times; add up its rows first.")


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
        absent: dict[str, Hashable] = {g: lv[i].item() for g, lv, i in zip(groups, levels, where, strict=True)}
        raise ValueError(f"`table` has no rows for {absent}; select what belongs together first.")
