"""What people have counts in, read where it can be nothing else."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bayescm.data import validate
from bayescm.data.counts import check_counts, from_cells
from bayescm.data.cross_validation import of_cv_results
from bayescm.data.crosstabs import side
from bayescm.data.labels import some
from bayescm.data.reports import of_report
from bayescm.data.schema import ACTUAL, CELLS_OF_TWO, FOLD, GROUP, MATRIX, PREDICTED, RUN, SYSTEM, THRESHOLD, labels_of
from bayescm.data.strata import is_audit
from bayescm.data.tables import from_table

SYSTEM_COLUMNS = ("system", "model", "classifier")
"""What a column of systems is called."""
OTHER_DIMS = (FOLD, GROUP, RUN, THRESHOLD, "chunk")
"""Columns of a frame of cells that name another dim than systems."""


def read_counts(data: Any) -> Any:
    """Return counts where `data` can be nothing else; anything else as it is, whom else it may be meant for.

    Parameters
    ----------
    data : mapping, sequence or data frame
        Cells by name (``{"tp": 26, ...}``, or a frame with a row per system); matrices by the name of their system, or
        in a list; results of cross-validation with :func:`bayescm.scorer`; a frame with a column of actual and one of
        predicted labels, and maybe counts ``n``; scikit-learn's classification report of two labels.

    Returns
    -------
    xarray.DataArray or what came
    """
    if isinstance(data, xr.DataArray | xr.Dataset | xr.DataTree):
        return data
    counts = of_folds(data)
    if counts is not None or (counts := of_report(data)) is not None:
        return counts
    if hasattr(data, "columns"):
        return _of_columns(data)
    if isinstance(data, Mapping) and data and all(map(is_audit, data.values())):
        return {str(name): one for name, one in data.items()}
    if isinstance(data, Mapping):
        cells = _cells(data)
        if cells:
            return from_cells(**cells)
        return _stacked(data) if data and all(map(is_matrix, data.values())) else data
    several = isinstance(data, list | tuple) and any(
        isinstance(one, xr.DataArray) or hasattr(one, "columns") or isinstance(one, Mapping) for one in data
    )
    return _stacked(dict(enumerate(data))) if several else data


def is_list(value: Any) -> bool:
    """Say whether a value is one-dimensional: a list, an array, a column."""
    if isinstance(value, str | Mapping | set) or callable(value) or not hasattr(value, "__len__"):
        return False
    try:
        return np.ndim(value) == 1
    except ValueError:  # rows of different lengths
        return False


def of_folds(data: Any) -> xr.DataArray | None:
    """Return the counts of results of cross-validation; None for anything else."""
    return of_cv_results(data) if isinstance(data, Mapping) or hasattr(data, "columns") else None


def is_matrix(value: Any) -> bool:
    """Say whether something has the shape of counts."""
    if isinstance(value, xr.DataArray | Mapping) or hasattr(value, "columns"):
        return True
    try:
        return np.ndim(value) >= 2
    except ValueError:
        return False


def _cells(data: Any) -> dict[str, Any]:
    """Return the four cells by their names in small letters; nothing where there are none."""
    named = {str(name).strip().casefold(): name for name in data}
    found = {name: data[named[name]] for name in CELLS_OF_TWO if name in named}
    if not found:
        return {}
    if len(found) < len(CELLS_OF_TWO):
        raise ValueError(f"`counts` has the cells {', '.join(found)}; all of tp, fn, fp and tn are needed.")
    return found


def _stacked(matrices: Mapping[Any, Any]) -> xr.DataArray:
    """Put matrices of several systems into one array, all in the order of the first one's labels."""
    found = {name: check_counts(read_counts(one)) for name, one in matrices.items()}
    first, *others = found.items()
    labels = labels_of(first[1])
    made = []
    for name, counts in (first, *others):
        of_one = labels_of(counts)
        if sorted(map(str, of_one)) != sorted(map(str, labels)) or (len(labels) == 2 and of_one != labels):
            raise ValueError(
                f"`counts` has the labels {some(labels)} in {first[0]!r} and {some(of_one)} in {name!r}; give all the "
                "same, of two the positive one last: bayescm.from_array(matrix, labels=...)."
            )
        if counts.ndim > 2 and SYSTEM in counts.dims:
            raise ValueError(f"`counts` of {name!r} has a dim 'system' already; give one matrix for each system.")
        made.append(counts.sel(dict.fromkeys(MATRIX, labels)))
    joined: xr.DataArray = xr.concat(made, SYSTEM, join="exact").transpose(SYSTEM, ..., *MATRIX)
    unnamed = list(found) == list(range(len(found)))
    return joined if unnamed else joined.assign_coords({SYSTEM: [str(name) for name in found]})


def _of_columns(frame: Any) -> Any:
    """Return the counts of a frame of cells, or of labels; another frame as it is."""
    columns = {str(name).strip().casefold(): name for name in frame.columns}
    if set(CELLS_OF_TWO) <= set(columns):
        return _of_cells(frame, columns)
    sides: dict[str | None, list[Any]] = {}
    for name in frame.columns:
        sides.setdefault(side(name) if isinstance(name, str) else None, []).append(name)
    if len(sides.get(ACTUAL, [])) != 1 or len(sides.get(PREDICTED, [])) != 1 or is_square(frame):
        return frame
    n = columns.get("n", columns.get("count"))
    others = [name for name in sides.get(None, []) if name != n]
    (actual,), (predicted,) = sides[ACTUAL], sides[PREDICTED]
    if others:
        raise ValueError(
            f"`counts` as a frame has the columns {some([actual, predicted, *others])}: say what the others are, such "
            f"as bayescm.from_table(frame, actual={actual!r}, predicted={predicted!r}, n={n!r}, by={others[0]!r})."
        )
    return from_table(frame, actual=actual, predicted=predicted, n=n)


def _of_cells(frame: Any, columns: Mapping[str, Any]) -> xr.DataArray:
    """Return the counts of a frame with a matrix per row: a system each, or what one column of another dim says."""
    validate.unique("columns", [str(name).strip().casefold() for name in frame.columns])
    cells: dict[str, Any] = {name: np.asarray(frame[columns[name]]) for name in CELLS_OF_TWO}
    names, others = row_names(frame, columns), [columns[name] for name in OTHER_DIMS if name in columns]
    if names is None and len(others) == 1:
        counts = from_cells(**cells, dims=str(others[0]).casefold())
        return counts.assign_coords({counts.dims[0]: np.asarray(frame[others[0]]).tolist()})
    twice = None if names is None else next((name for name in names if names.count(name) > 1), None)
    if twice is None and (names is not None or not others):
        counts = from_cells(**cells)
        return counts if names is None else counts.assign_coords({SYSTEM: names})
    by = [*(columns[name] for name in SYSTEM_COLUMNS if name in columns), *(others or ["fold"])]
    given = ", ".join(f"{name}=cells[{columns[name]!r}]" for name in CELLS_OF_TWO)
    raise ValueError(
        f"`counts` as a frame has {'several dims' if twice is None else f'the system {twice!r} in several rows'}. Make "
        f"one of each column that tells rows apart: cells = frame.set_index({by!r}).to_xarray(); "
        f"bayescm.from_cells({given})."
    )


def is_square(frame: Any) -> bool:
    """Say whether a frame has the same labels on both sides."""
    return hasattr(frame, "index") and set(frame.index) == set(frame.columns)


def is_number(value: Any) -> bool:
    """Say whether something is one number."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def row_names(frame: Any, columns: Mapping[str, Any]) -> list[str] | None:
    """Return the names of the systems in the rows: a column of names, or an index that isn't just numbers."""
    named = next((columns[name] for name in (*SYSTEM_COLUMNS, "name") if name in columns), None)
    if named is None:
        index = list(getattr(frame, "index", ()))
        return [str(name) for name in index] if any(isinstance(name, str) for name in index) else None
    return [str(name) for name in frame[named]]
