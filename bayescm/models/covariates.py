"""What is known of units beside their counts: covariates as columns, and groups."""

import re
from collections.abc import Collection, Iterator, Mapping
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm.data import validate
from bayescm.data.counts import computed, confusion_matrix
from bayescm.data.schema import MATRIX, RESERVED

Array = NDArray[np.float64]

UNIT = "unit"


class Design(NamedTuple):
    """Covariates as columns, and the group of every unit.

    Attributes
    ----------
    columns : ndarray of shape (units, covariates)
        Centred and scaled.
    names : list of str
        A number's name, or "name[level vs first]" of a text's levels but the first.
    mean, sd : ndarray of shape (covariates,)
    groups : mapping of str to pair of levels and place of each unit among them
    levels : mapping of str to mapping of a level to ndarray of shape (covariates,)
        Of each covariate the levels of a text, or the lowest and the highest number, as rows of columns; all other
        covariates are at their means.
    """

    columns: Array
    names: list[str]
    mean: Array
    sd: Array
    groups: dict[str, tuple[list[Any], NDArray[np.int64]]]
    levels: dict[str, dict[str, Array]]


def patterns(y_true: ArrayLike, y_pred: ArrayLike, known: Mapping[str, ArrayLike], **options: Any) -> xr.DataArray:
    """Count items by what is known of them: a matrix for each combination that occurs.

    Parameters
    ----------
    y_true, y_pred : array_like of shape (n,)
    known : mapping of str to array_like of shape (n,), or a data frame
        Covariates and groups of each item.
    **options
        `labels` and `pos_label` of :func:`bayescm.confusion_matrix`.

    Returns
    -------
    xarray.DataArray
        ``counts(unit, actual, predicted)`` with a coordinate for each name in `known`.

    Examples
    --------
    >>> import bayescm
    >>> regression = bayescm.models.load("regression")
    >>> counts = regression.patterns([1, 0, 1, 1], [1, 0, 0, 1], {"site": ["a", "a", "b", "a"]})
    >>> counts.site.values.tolist(), counts.sum("actual").values.tolist()
    (['a', 'b'], [[1, 2], [1, 0]])
    """
    bad = [str(name) for name in known if name in (*RESERVED, UNIT)]
    if bad or not list(known):
        raise ValueError(f"`known` must name covariates or groups of the items; got {bad[:1] or 'none'}.")
    columns = {str(name): _column("known", str(name), known[name], len(np.asarray(y_true))) for name in known}
    levels = [np.unique(column, return_inverse=True)[1] for column in columns.values()]
    _, first, which = np.unique(np.stack(levels, 1), axis=0, return_index=True, return_inverse=True)
    counts = confusion_matrix(y_true, y_pred, group=which.ravel(), **options).rename(group=UNIT).sortby(UNIT)
    return counts.assign_coords({name: (UNIT, column[first]) for name, column in columns.items()})


def units_of(counts: Any, taken: Collection[str]) -> tuple[xr.DataArray, str]:
    """Return valid counts over one dim of units and its name; several dims become one."""
    counts = computed(counts)
    batch = [dim for dim in counts.dims if dim not in MATRIX]
    if len(batch) > 1:
        counts = counts.assign_coords({dim: counts[dim] for dim in batch})
        counts = counts.stack({UNIT: batch}, create_index=False).transpose(UNIT, *MATRIX)
        names = [", ".join(map(str, one)) for one in zip(*(counts[dim].values for dim in batch), strict=True)]
        counts = counts.assign_coords({UNIT: names})
    return several_matrices(counts, taken)


def design_of(counts: xr.DataArray, unit: str, covariates: Any, groups: Any, taken: Collection[str]) -> Design:
    """Return the covariates and groups of checked counts."""
    within: Any = []
    if isinstance(covariates, str):
        covariates, within = formula(covariates)
    factors = _named("covariates", within, counts, unit) | _named("groups", groups, counts, unit)
    values = _named("covariates", covariates, counts, unit)
    if bad := [name for name in values if "[" in name]:
        raise ValueError(f"`covariates` can't have '[' in a name, which names levels; got {bad[0]!r}. Rename it.")
    if bad := [name for name in factors if name in values or name in RESERVED or name in taken]:
        raise ValueError(
            f"`groups` can't have {bad[0]!r}: a covariate or the model has that name. Leave it out or rename."
        )
    coded = {name: dict(_coded(name, known)) for name, known in values.items()}
    columns = {name: column for one in coded.values() for name, column in one.items()}
    table = np.stack([np.zeros(counts.sizes[unit]), *columns.values()], 1)[:, 1:]
    items = counts.sum(MATRIX).values.astype(np.float64)
    weights = items if items.any() else np.ones_like(items)
    for name, column in columns.items():
        if np.ptp(column[weights > 0]) == 0:
            raise ValueError(f"`covariates`: {name} is the same for all items, so no effect can be seen. Leave it out.")
    mean = np.average(table, axis=0, weights=weights)
    sd = np.sqrt(np.average((table - mean) ** 2, axis=0, weights=weights))
    members = {}
    for name, column in factors.items():
        levels, place = np.unique(column, return_inverse=True)
        if name == unit:  # in the order of the data, whose coordinate it is
            levels, place = counts[unit].values, np.arange(counts.sizes[unit])
            if len(set(levels.tolist())) < len(levels) or list(map(str, column)) != list(map(str, levels)):
                raise ValueError(f"`groups`: {name!r} are the units, each a group; call other groups otherwise.")
        members[name] = levels.tolist(), place.astype(np.int64)
    scaled = (table - mean) / sd
    answered = {
        name: _levels(known, scaled, [*columns].index(next(iter(coded[name])))) for name, known in values.items()
    }
    return Design(scaled, list(columns), mean, sd, members, answered)


def _levels(known: NDArray[Any], table: Array, first: int) -> dict[str, Array]:
    """Return the rows of one covariate's levels, whose columns begin at the first."""
    named, where = np.unique(known, return_index=True)
    if known.dtype.kind in "biuf":
        named, where, last = named[[0, -1]], where[[0, -1]], first + 1
    else:
        last = first + len(named) - 1
    inside = (np.arange(table.shape[1]) >= first) & (np.arange(table.shape[1]) < last)
    return {str(name): np.where(inside, table[i], 0.0) for name, i in zip(named.tolist(), where, strict=True)}


def formula(text: str) -> tuple[list[str], list[str]]:
    """Return the names of covariates and of groups in a formula such as "age + sex + (1 | site)"."""
    names, groups = [], []
    for term in re.split(r"\+(?![^(]*\))", text.rpartition("~")[2]):
        group = re.fullmatch(r"\(\s*1\s*\|\s*(\w+)\s*\)", term.strip())
        if group is None and not re.fullmatch(r"\w+", term.strip()):
            raise ValueError(
                f"`covariates` as a formula has sums of names and of (1 | group) only; got {term.strip()!r}. Give a "
                "transformed or multiplied covariate as a coordinate of its own, or a name with spaces in a list."
            )
        if group is not None:
            groups.append(group[1])
        elif term.strip() != "1":
            names.append(term.strip())
    return names, groups


def _named(argument: str, given: Any, counts: xr.DataArray, unit: str) -> dict[str, NDArray[Any]]:
    """Return one array over the units for each name."""
    names = [given] if isinstance(given, str) else given or []
    if not isinstance(names, Mapping):
        known = [str(name) for name, c in counts.coords.items() if c.dims == (unit,)]
        if unknown := [name for name in names if name not in known]:
            raise ValueError(
                f"`{argument}` names {unknown[0]!r}, and the coordinates of `counts` over {unit!r} are {known}. Add it "
                f"(counts.assign_coords), or give its values: {{{unknown[0]!r}: [...]}}."
            )
        names = {name: counts[name] for name in names}
    return {
        str(name): _column(argument, str(name), in_order(values, counts[unit]), counts.sizes[unit])
        for name, values in names.items()
    }


def in_order(values: Any, units: xr.DataArray) -> Any:
    """Put values that are labelled by units, a DataArray or a Series of pandas, into their order."""
    if hasattr(values, "index") and hasattr(values, "to_numpy") and not isinstance(values, xr.DataArray):
        if set(values.index) == set(units.values.tolist()):
            values = xr.DataArray(values.to_numpy(), dims=units.dims, coords={units.name: list(values.index)})
        elif list(values.index) != list(range(len(values))):
            raise ValueError(f"a Series must be indexed by {units.name!r}, or 0, 1, ...; got {list(values.index)[:5]}.")
    labelled = isinstance(values, xr.DataArray) and values.dims == units.dims and units.name in values.coords
    return values.reindex({units.name: units.values}) if labelled else values


def _column(argument: str, name: str, values: Any, n: int) -> NDArray[Any]:
    """Return the values of one covariate, none of them missing."""
    column = validate.array_of(argument, values)
    if column.shape != (n,):
        raise ValueError(f"`{argument}`: {name} must have one value for each of {n}; got the shape {column.shape}.")
    if absent := np.flatnonzero(validate.missing(column)).tolist():
        raise ValueError(f"`{argument}`: {name} is missing at the places {absent}. Fill it in, or leave these out.")
    if column.dtype == object and all(isinstance(one, Real) for one in column.tolist()):
        column = column.astype(np.float64)
    return column if column.dtype.kind in "biuf" else column.astype(str)


def _coded(name: str, column: NDArray[Any]) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield a number as it is, and of a text one column for each level but the first."""
    if column.dtype.kind in "biuf":
        if not np.isfinite(column).all():
            raise ValueError(f"`covariates`: {name} must be finite numbers; got {column.tolist()}.")
        yield name, column.astype(np.float64)
        return
    first, *others = np.unique(column).tolist()
    for level in others or [first]:
        yield level_name(name, level, first), (column == level).astype(np.float64)


def level_name(name: str, level: Any, first: Any) -> str:
    """Name the column of one level of a text, whose coefficient is its difference from the first level."""
    return f"{name}[{level} vs {first}]"


def several_matrices(counts: Any, taken: Collection[str]) -> tuple[xr.DataArray, str]:
    """Return valid counts (unit, actual, predicted) and the name of their one batch dim, none of the names `taken`.

    Units without names are numbered, as PyMC does, so that draws of a closed form say of which unit they are.
    """
    checked = computed(counts)
    units = [str(dim) for dim in checked.dims if dim not in MATRIX]
    if len(units) != 1:
        raise ValueError(
            f"`counts` must have one dim beside 'actual' and 'predicted', such as 'system' or 'cluster'; got {units}. "
            "Select or stack."
        )
    if units[0] in taken:
        raise ValueError(f"`counts` can't have the dim {units[0]!r}: the model uses that name. Rename it.")
    return checked.assign_coords({units[0]: checked[units[0]]}), units[0]
