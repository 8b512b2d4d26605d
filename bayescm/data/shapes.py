"""What something may be by its shape and the types in it, before anything of it is read."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
import xarray as xr

from bayescm.data import validate
from bayescm.data.schema import ITEM, ONE_CLASS, POSSIBLE, SCORED, STANDS_FOR, SYSTEM, WEIGHT


def is_number(value: Any) -> bool:
    """Say whether something is one number."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def is_reported(value: Any) -> bool:
    """Say whether something is what :func:`bayescm.from_reported` returned: matrices that printed metrics leave."""
    return isinstance(value, xr.Dataset) and STANDS_FOR in value


def refuse_impossible(report: xr.Dataset, of: str = "") -> None:
    """Refuse a report that no matrix has."""
    if not report.sizes[POSSIBLE]:
        raise ValueError(
            f"`counts` are printed metrics{of} that no matrix of {report.attrs.get('n')} items has (at odds: "
            f"{report.attrs.get('at_odds') or 'all'}): nothing follows from them."
        )


def only_matrix(report: xr.Dataset, of: str = "") -> xr.DataArray:
    """Return the matrix of a report, where its printed metrics leave no other."""
    refuse_impossible(report, of)
    if (matches := float(report["matches"])) > 1:
        raise ValueError(
            f"`counts` are printed metrics{of} that {matches:,.0f} matrices have, where one is needed: give "
            "bayescm.from_reported `positives`, another metric or more digits, or choose a matrix: "
            "report.counts.isel(possible=0)."
        )
    return report["counts"].isel({POSSIBLE: 0}, drop=True)


def is_scored(value: Any) -> bool:
    """Say whether something has scores from 0 to 1 in place of right and wrong answers."""
    return isinstance(value, xr.DataArray | xr.Dataset) and value.attrs.get(ONE_CLASS) == SCORED


def is_weighted(value: Any) -> bool:
    """Say whether items have weights."""
    return isinstance(value, xr.Dataset) and WEIGHT in value.coords


def is_list(value: Any) -> bool:
    """Say whether a value is one-dimensional: a list, an array, a column."""
    if isinstance(value, str | Mapping | set) or callable(value) or not hasattr(value, "__len__"):
        return False
    try:
        return np.ndim(value) == 1
    except ValueError:  # rows of different lengths
        return False


def is_matrix(value: Any) -> bool:
    """Say whether something has the shape of counts."""
    if isinstance(value, Mapping) or hasattr(value, "dims") or hasattr(value, "columns"):
        return True
    try:
        return np.ndim(value) >= 2
    except ValueError:
        return False


def are_labels(first: Any, second: Any) -> bool:
    """Say whether two arguments are labels of the same items: text by text, or numbers by numbers."""
    shape: Any = getattr(second, "shape", ())
    columns = len(shape) == 2 and shape[0] > shape[1] and getattr(first, "shape", None) == shape  # one per class
    alike = is_list(first) or columns
    if not alike or second is None or isinstance(second, str | Mapping) or hasattr(second, "columns"):
        return False
    if callable(second) or np.ndim(second) not in (1, 2):
        return False
    words = [isinstance(np.ravel(np.asarray(one))[:1].tolist()[0], str) for one in (first, second) if np.size(one)]
    return len(words) == 2 and (words[0] or not words[1])


def are_answers(second: Any) -> bool:
    """Say whether an argument is predictions of one or several systems, not names of metrics."""
    if isinstance(second, Mapping):
        return bool(second) and all(is_list(one) or is_matrix(one) for one in second.values())
    if hasattr(second, "columns") or hasattr(second, "to_numpy"):
        return True
    words = isinstance(second, str) or not isinstance(second, Sequence | np.ndarray | xr.DataArray)
    return not words and not all(isinstance(one, str) or callable(one) for one in second)


def are_passes(data: Any) -> bool:
    """Say whether data may be numbers of passes, by system or of one; of counts `runs` says something else."""
    if isinstance(data, xr.Dataset | xr.DataTree | str | PathLike):
        return isinstance(data, str | PathLike)
    if isinstance(data, Mapping):
        return all(map(is_list, data.values()))
    return not isinstance(data, xr.DataArray) or set(data.dims) == {ITEM, SYSTEM}


def is_table(data: Any) -> bool:
    """Say whether data are a table: a frame, a file, text or columns by name."""
    columns = isinstance(data, Mapping) and bool(data) and all(map(is_list, data.values()))
    return columns or hasattr(type(data), "columns") or isinstance(data, str | PathLike) or is_tally(data)


def is_tally(data: Any) -> bool:
    """Say whether data are whole numbers by several columns, as ``frame.groupby([...]).size()`` returns them."""
    several = getattr(getattr(data, "index", None), "nlevels", 1) > 1 and not hasattr(data, "columns")
    return several and data.dtype.kind in "iu"


def has_fractions(values: Any) -> bool:
    """Say whether values are numbers that aren't whole, as scores are."""
    if isinstance(values, Mapping) or hasattr(values, "columns"):
        return any(has_fractions(values[name]) for name in values)
    array = np.asarray(values)
    return bool(array.dtype.kind == "f" and (array != np.floor(array)).any())


def frame_of(columns: Mapping[Any, Any]) -> Any:
    """Return lists by name as a data frame."""
    import pandas as pd

    arrays = {name: np.asarray(values) for name, values in columns.items()}
    validate.same_length(**{str(name): values for name, values in arrays.items()})
    return pd.DataFrame(arrays)
