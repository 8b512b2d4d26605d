"""Long tables become counts: a row per cell, or a row per item."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.counts import labelled
from bayescm.data.crosstabs import is_margin
from bayescm.data.labels import coded, declared, grouped, label_array, plain
from bayescm.data.schema import UNIT, batch_names
from bayescm.data.shapes import is_tally
from bayescm.data.streams import Columns, distinct_rows, in_chunks, is_stream
from bayescm.data.units import asking, columns_of_units, named_units

N = "n"
"""The column of counts, where there is one; else every row is an item."""


def tabulated(
    table: Any, *, actual: str, predicted: str, n: str | None, dims: Sequence[str] | str = (), labels: Any = None,
    pos_label: Any = None, unit: Any = None,
) -> xr.DataArray:  # fmt: skip
    """Count a long table of columns: see :func:`bayescm.from_table`."""
    apart = [dims] if isinstance(dims, str) else validate.listed("dims", dims)
    of_units = columns_of_units(unit)
    columned = [*apart, *of_units]
    for argument, value in (
        ("actual", actual),
        ("predicted", predicted),
        ("n", n),
        *(("dims", one) for one in columned),
    ):
        if not isinstance(value, Hashable):
            raise TypeError(f"`{argument}` must be the name of a column; got {type(value).__name__}.")
    batch_names("dims" if unit is None else "unit", columned)
    if n == N and not is_stream(table) and N not in _frame(table).collect_schema().names():
        n = None
    names = [actual, predicted, *([] if n is None else [n]), *columned]
    columns, weight = _read(table, names, n)
    groups, named = columned, unit
    if len(of_units) == 2:
        named, crossed = named_units({one: columns[one] for one in of_units})
        groups, columns = [*apart, named], {**columns, named: crossed}
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
    _every_group_has_rows(flat, shape, apart, levels)
    result = labelled(counts.reshape(shape), order, groups).assign_coords(dict(zip(groups, levels, strict=True)))
    if unit is not None:
        result = result.assign_attrs({UNIT: named})
    others = [] if is_stream(table) else [name for name in _frame(table).collect_schema().names() if name not in names]
    one = (named, columns[named]) if len(of_units) == 1 else None
    return result if len(of_units) == 2 else asking(result, others, lambda name: columns_of(table, [name])[name], one)


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


def by_column(data: Any) -> Any:
    """Return a table of Arrow, a lazy frame or numbers by several columns as a frame of pandas; all else as it is."""
    if is_tally(data):
        return data.reset_index(name="n")
    if not hasattr(type(data), "columns") or hasattr(type(data), "to_numpy"):
        return data
    import pandas as pd

    return pd.DataFrame(columns_of(data, _frame(data).collect_schema().names()))


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
    known = shape[: len(groups)]
    present = np.zeros(int(np.prod(known)), bool)
    present[flat // int(np.prod(shape[len(groups) :]))] = True
    if not present.all():
        where = np.unravel_index(int(np.argmin(present)), known)
        absent: dict[str, Hashable] = {g: lv[i].item() for g, lv, i in zip(groups, levels, where, strict=False)}
        raise ValueError(f"`table` has no rows for {absent}; select what belongs together first.")
