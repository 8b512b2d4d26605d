"""Several runs of an item: how many of them passed, and the rows of a long table that belong to an item."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.items import right_answers

Rows = NDArray[np.intp]


def of_passes(passes: Mapping[str, Any], runs: Any) -> xr.Dataset:
    """Return answers of 1 in so many of the runs of each item, where 1 is right.

    Parameters
    ----------
    passes : mapping of str to array_like of shape (items,)
        In how many of its runs each system passed each item.
    runs : int

    Returns
    -------
    xarray.Dataset
        As of :func:`right_answers`.
    """
    m = validate.positive_integer("runs", runs)
    found = {name: validate.count_values(f"passes of {name}", values) for name, values in passes.items()}
    for name, values in found.items():
        if values.max() > m:
            raise ValueError(f"`passes of {name}` has {values.max()} passes, and `runs` is {m}; give all the runs.")
    return right_answers({name: (np.arange(m) < values[:, None]).astype(np.int64) for name, values in found.items()})


def by_item(system: NDArray[Any], item: NDArray[Any], run: NDArray[Any] | None) -> dict[str, Rows]:
    """Return the rows of a long table by system: the runs of each item, (items, runs).

    Parameters
    ----------
    system, item, run : ndarray of shape (rows,)
        Names. Without `run` there is one row per system and item.
    """
    names, items = (list(dict.fromkeys(values.tolist())) for values in (system, item))
    places = [dict(zip(known, range(len(known)), strict=True)) for known in (names, items)]
    at = np.array([places[0][s] * len(items) + places[1][i] for s, i in zip(system, item, strict=True)], np.intp)
    _, same = np.unique(at if run is None else np.stack([at, np.unique(run, return_inverse=True)[1]]), axis=-1,
                        return_inverse=True)  # fmt: skip
    twice = np.flatnonzero(np.bincount(same.ravel())[same.ravel()] > 1)
    if len(twice):
        what = f"item {str(item[twice[0]])!r} of system {str(system[twice[0]])!r}"
        if run is not None:
            raise ValueError(f"`counts` as a frame has run {str(run[twice[0]])!r} of {what} twice; number the runs.")
        raise ValueError(
            f"`counts` as a frame has {what} twice. Several runs of an item need a column 'run' that numbers them; "
            "else give one answer per item and system, such as the majority: "
            "frame.groupby(['system', 'item'], as_index=False).correct.median()."
        )
    number = np.bincount(at, minlength=len(names) * len(items)).reshape(len(names), len(items))
    if (number == 0).any():
        i, j = np.argwhere(number == 0)[0]
        raise ValueError(
            f"`counts` as a frame has no row for item {items[j]!r} of system {names[i]!r}: all systems must have "
            "answered the same items. Leave out the others, or give {'correct': [...], 'wrong': [...]}."
        )
    if (uneven := number != number[:, :1]).any():
        i, j = np.argwhere(uneven)[0]
        raise ValueError(
            f"`counts` as a frame has {number[i, j]} runs of item {items[j]!r} of system {names[i]!r} and "
            f"{number[i, 0]} of {items[0]!r}: runs that were added or lost because of how they went would tell a wrong "
            "share. Keep as many of each: frame.groupby(['system', 'item']).head(3)."
        )
    parts = np.split(np.argsort(at, kind="stable"), np.cumsum(number.sum(1))[:-1])
    return {name: rows.reshape(len(items), -1) for name, rows in zip(names, parts, strict=True)}
