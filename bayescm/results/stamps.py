"""Stamps: a digest of the numbers of a result in its attrs, so that no sentence is told of other numbers.

A result that was averaged, rounded or computed with keeps its attrs, and its variables their names and kinds; its
numbers tell. There is a digest for each row, so a selection of rows still has its own. It is no seal: it tells what was
changed by accident, not what was forged.
"""

import hashlib
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from bayescm.data.schema import CI_BOUND
from bayescm.results.views import View, main_variable, view_of

STAMP = "stamp"
"""The attr: digests of the rows, or one of all where there are many."""
DRAWS_STAMP = "draws_stamp"
"""The attr of a closed form's draws: the digest of them and of the counts."""
_NUMBERS = {"f": "<f8", "i": "<i8", "b": "u1"}
"""Kinds of numbers, as they are digested; all else are words."""
_BYTES = 4  # of a digest: of 1,000 rows one is met by chance in 1 of 4 million changes
_OF = "/"
"""Between the digest of many rows and their number."""
_MOST_ROWS = 1000  # digests of 9 characters each; an attribute of a netCDF file can hold 64,000


def stamp[T](result: T) -> T:
    """Write the digests of a result into its attrs; anything else, and what is lazy, is left as it is."""
    found = view_of(result)
    if found is not None:
        part: Any = result["summary"] if isinstance(result, xr.DataTree) else result
        part.attrs = part.attrs | {STAMP: " ".join(_digests(*found))}  # a selection may share its attrs
    return result


def is_stamped(data: xr.Dataset) -> bool:
    """Say whether a result has a stamp: what was lazy has none."""
    return STAMP in data.attrs


def unchanged(view: View, data: xr.Dataset) -> bool:
    """Say whether a stamped result, or a selection of its rows, has the numbers that it was stamped with."""
    stamp, found = str(data.attrs[STAMP]), _digests(view, data)
    rows = stamp.partition(_OF)[2]
    fewer = bool(rows) and not (len(found) == 1 and found[0].endswith(_OF + rows))  # a part, which has no digest
    return fewer or set(found) <= set(stamp.split())


def digest(groups: Mapping[str, xr.Dataset]) -> str:
    """Return the digest of the numbers of groups, and of the labels that they go with."""
    made = hashlib.blake2b(digest_size=2 * _BYTES)
    for group in groups.values():
        for name, variable in sorted(group.variables.items(), key=lambda item: str(item[0])):
            values = variable.values
            made.update(f"{name}{variable.dims}{values.shape}".encode())
            made.update(
                np.ascontiguousarray(values).data if values.dtype.kind in "fi" else _plain(values.reshape(1, -1))[0]
            )
    return made.hexdigest()


def _digests(view: View, data: xr.Dataset) -> list[str]:
    """Return a digest of each row of a result, or one of the numbers of all rows where there are many."""
    dims = [dim for dim in data.variables[main_variable(data)].dims if dim != CI_BOUND]
    rows = int(np.prod([data.sizes[dim] for dim in dims]))
    many = rows > _MOST_ROWS
    names = [name for name in sorted(view.variables) if not many or data.variables[name].dtype.kind in _NUMBERS]
    columns = [_by_row(data, name, dims, rows) for name in names]
    if many:
        return [f"{_digest(column.tobytes() for column in columns)}{_OF}{rows}"]
    groups = itertools.groupby(columns, lambda column: bool(column.dtype.kind == "O"))
    return [_digest(row) for row in zip(*(_plain(*group) for _, group in groups), strict=True)]


def _by_row(data: xr.Dataset, name: str, dims: list[Any], rows: int) -> Any:
    """Return the values of a variable for each row (rows, values): little-endian numbers, or words as objects."""
    variable = data.variables[name]
    order = [*dims, *sorted(set(variable.dims) - set(dims), key=str)]
    if list(variable.dims) != order:
        variable = variable.set_dims({dim: data.sizes[dim] for dim in order}).transpose(*order)  # type: ignore[no-untyped-call]
    values = variable.values
    return np.ascontiguousarray(values.reshape(rows, -1).astype(_NUMBERS.get(values.dtype.kind, "O")))


def _plain(*columns: Any) -> list[bytes]:
    """Return each row of columns, all words or none, as bytes, which don't depend on how long the longest word is."""
    if columns[0].dtype.kind == "O":
        rows = list(zip(*(map(str, words) for column in columns for words in column.T.tolist()), strict=True))
        known = {row: "\0".join(row).encode() + b"\0" for row in set(rows)}  # of many rows few words
        return [known[row] for row in rows]
    side_by_side = np.concatenate([column.view("u1") for column in columns], axis=1)
    held, (length, width) = side_by_side.tobytes(), side_by_side.shape
    return [held[start : start + width] for start in range(0, length * width, width)]


def _digest(parts: Iterable[bytes]) -> str:
    return hashlib.blake2b(b"".join(parts), digest_size=_BYTES).hexdigest()
