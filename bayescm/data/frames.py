"""What data frames and tables of text hold, read by the columns that they have."""

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import texts, validate
from bayescm.data.answers import TOTALS, as_right, by_item, of_accuracies, of_passes, of_right, published
from bayescm.data.counts import from_array, from_cells
from bayescm.data.items import predictions, with_units
from bayescm.data.labels import grouped, some
from bayescm.data.logged import TASK
from bayescm.data.schema import ACTUAL, CELLS_OF_TWO, ITEM, MATRIX, ONE_CLASS, PREDICTED, RUN, SYSTEM, UNIT, column_key
from bayescm.data.tables import tabulated
from bayescm.data.tabular import CALLED, COVARIATES, OTHER_DIMS, Table
from bayescm.data.units import asking, columns_of_units, named_units, names_units

_MOST_ITEMS = 10**7
"""Of a table with a row for several items, each of which takes some bytes per system."""


def of_cells(table: Table, *, systems: bool, unit: Any = None) -> xr.DataArray:
    """Return the counts of a matrix per row: a system each, or what one column of another dim says, or a unit's.

    Covariates become coordinates, and tell rows of the same name apart.
    """
    columns = table.columns
    covariates = {name: np.asarray(table.labels(name)[0]) for name in table.said.get(COVARIATES) or ()}
    keys = list(map(column_key, table.frame.columns))
    if twice := [key for key in CELLS_OF_TWO if keys.count(key) > 1]:
        raise ValueError(f"`columns` has {twice[0]!r} twice; every entry must be different.")
    cells: dict[str, Any] = {name: table.numbers(columns[name]) for name in CELLS_OF_TWO}
    if unit is not None:
        by_unit = _by_unit(table, unit, [columns[name] for name in cells], from_cells(**cells, dims=UNIT).values)
        return by_unit if systems or by_unit.sizes[SYSTEM] > 1 else by_unit.isel({SYSTEM: 0}, drop=True)
    dims = () if systems and table.source else OTHER_DIMS
    dim, names = table.rows(*(columns[name] for name in CELLS_OF_TWO), *covariates, dims=dims)
    if covariates and names is not None and len(set(names)) < len(names):
        names = [", ".join(map(str, one)) for one in zip(names, *covariates.values(), strict=True)]
    if table.source is None and dim == SYSTEM:
        _one_row_each(table, names)
    counts = from_cells(**cells, dims=dim).assign_coords({name: (dim, values) for name, values in covariates.items()})
    if names is None and table.source:
        return (
            counts.isel({dim: 0})
            if len(table.frame) == 1
            else counts.assign_coords({dim: range(1, len(table.frame) + 1)})
        )
    return counts if names is None else counts.assign_coords({dim: names})


def _one_row_each(table: Table, names: list[Any] | None) -> None:
    """Refuse several rows of a system, and several dims."""
    others = [table.columns[name] for name in OTHER_DIMS if name in table.columns]
    twice = next((name for name in names or [] if (names or []).count(name) > 1), None)
    if twice is None and (names is not None or not others):
        return
    by = [*(table.columns[name] for name in CALLED[SYSTEM] if name in table.columns), *(others or ["fold"])]
    given = ", ".join(f"{name}=cells[{table.columns[name]!r}]" for name in CELLS_OF_TWO)
    raise ValueError(
        f"`counts` as a frame has {'several dims' if twice is None else f'the system {twice!r} in several rows'}. Make "
        f"one of each column that tells rows apart: cells = frame.set_index({by!r}).to_xarray(); "
        f"bayescm.from_cells({given})."
    )


def of_published(table: Table, unit: Any = None) -> xr.Dataset | xr.DataArray:
    """Return right and wrong answers of a system per row, or of a system in a unit as matrices of one class."""
    known = {name: table.columns[name] for name in ("correct", "wrong", *TOTALS) if name in table.columns}
    if unit is not None:
        rows = published({what: table.numbers(column) for what, column in known.items()}, None)
        right, wrong = (rows[what].values for what in ("correct", "wrong"))
        cells = from_cells(tp=right, fn=wrong, fp=0 * right, tn=0 * right, dims=UNIT).values
        return _by_unit(table, unit, list(known.values()), cells).assign_attrs({ONE_CLASS: 1})
    names = table.rows(*known.values())[1]
    if names is None and table.source:
        names = [str(row) for row in range(1, len(table.frame) + 1)]
    return published({name: table.numbers(column) for name, column in known.items()}, names)


def _by_unit(table: Table, unit: Any, counted: list[Any], cells: NDArray[np.int64]) -> xr.DataArray:
    """Return matrices (system, unit, actual, predicted) of a table with a row for each."""
    name, of_rows = column_of(table, unit)
    systems = table.rows(*counted, name)[1] or ["1"] * len(of_rows)
    (system, level), (i, j) = grouped([SYSTEM, name], {SYSTEM: np.array(systems), name: np.asarray(of_rows)})
    if len(np.unique(np.stack([i, j]), axis=1).T) < len(i):
        raise ValueError(f"`counts` as a frame has a system in one {name} twice; add up the rows, or name them apart.")
    made = np.zeros((len(system), len(level), 2, 2), np.int64)
    made[i, j] = cells
    coords = {SYSTEM: system, name: level, ACTUAL: [0, 1], PREDICTED: [0, 1]}
    return xr.DataArray(made, coords, (SYSTEM, name, *MATRIX), attrs={UNIT: name})


def of_accuracy(table: Table, n_items: Any) -> Any:
    """Return right and wrong answers of an accuracy per row."""
    column = table.columns["accuracy"]
    names = table.rows(column)[1] or [str(i + 1) for i in range(len(table.frame))]
    n = next((table.columns[name] for name in ("n_items", "n") if name in table.columns), None)
    scores = dict(zip(names, table.numbers(column).tolist(), strict=True))
    return of_accuracies(scores, n_items if n is None else table.numbers(n))


def of_long(table: Table, runs: Any, pos_label: Any, unit: Any = None) -> xr.Dataset:
    """Return the answers of a table with a row per system and item, or per run of it."""
    system, item, run, right = (table.get(what) for what in (SYSTEM, ITEM, RUN, "correct"))
    actual, predicted = table.get(ACTUAL), table.get(PREDICTED)
    if right is None and (actual is None or predicted is None):
        raise ValueError(
            f"`counts` as a frame with a row per system and item needs a column 'correct' (or 'passes'), or 'actual' "
            f"and 'predicted'; it has {some(list(table.frame.columns))}."
        )
    items, numbered = np.array(table.names(item)), run is not None and runs is None
    rows = by_item(np.array(table.names(system)), items, np.array(table.names(run)) if numbered else None)
    first = next(iter(rows.values()))[:, 0]
    if runs is not None:
        passes = table.numbers(right)
        kept = of_passes({name: passes[of_system[:, 0]] for name, of_system in rows.items()}, runs)
        return kept.assign_coords({ITEM: items[first]})
    if right is not None and (table.source is None or actual is None):
        marks = np.asarray(table.frame[right])
        kept = of_right({name: marks[of_system] for name, of_system in rows.items()})
        return _of_units(table, _named(table, kept, items, first), unit, first)
    true, answers = map(np.asarray, table.labels(actual, predicted))
    truth = true[first]
    several = np.any([(true[of_system] != truth[:, None]).any(1) for of_system in rows.values()], axis=0)
    if several.any():
        name = items[first[several.argmax()]]
        raise ValueError(f"`counts` as a frame has several true labels for item {name!r}; mend them.")
    positive = table.positive(pos_label, actual, predicted)
    kept = predictions(truth, {name: answers[of_system] for name, of_system in rows.items()}, pos_label=positive)
    return _of_units(table, _named(table, kept, items, first), unit, first)


def _named(table: Table, kept: xr.Dataset, items: NDArray[Any], rows: Any) -> xr.Dataset:
    """Keep the names of items, and their tasks where a column has them."""
    task = table.said.get("by") or table.columns.get(TASK)
    known = {} if task in (None, table.get(ITEM)) else {TASK: (ITEM, np.asarray(table.names(task))[rows])}
    return kept.assign_coords({ITEM: items[rows], **known})


def _of_units(table: Table, kept: xr.Dataset, unit: Any, rows: Any) -> xr.Dataset:
    """Say of answers which units the items in some rows are of, or let them ask."""
    return _asking(table, kept, [], unit, None if unit is None else column_of(table, unit, rows), rows)


def _asking(table: Table, kept: xr.Dataset, names: list[Any], unit: Any, of: Any, rows: Any = ...) -> xr.Dataset:
    """Say of answers which units their items are of, or let them ask."""
    kept = kept if of is None else with_units(kept, *of)
    if len(columns_of_units(unit)) == 2 or (of is not None and len(of[1]) != len(table.frame) and rows is ...):
        return kept
    columns = [name for name in _unused(table, names) if name != unit]
    return asking(kept, columns, lambda name: np.asarray(table.names(name))[rows], of)


def _unused(table: Table, names: list[Any]) -> list[Any]:
    """Return the columns that mean nothing else."""
    known = [table.get(what) for what in (ACTUAL, PREDICTED, SYSTEM, ITEM, RUN, "correct", "n")]
    return [name for name in table.frame.columns if name not in (*names, *known)]


def column_of(table: Table, unit: Any, rows: Any = ...) -> tuple[str, Any]:
    """Return the name of a column of units, and its values in some rows."""
    columns = columns_of_units(unit)
    if not all(isinstance(one, str) and one in table.frame.columns for one in columns):
        raise ValueError(
            f"`unit` must name a column, one of {some(list(table.frame.columns))}, or two that are crossed; got "
            f"{unit!r:.60}."
        )
    if table.get(SYSTEM) in columns:
        raise ValueError("`unit` is what was sampled, such as patients; got the column of systems.")
    values = {one: np.asarray(table.names(one))[rows] for one in columns}
    return (unit, values[unit]) if len(columns) == 1 else named_units(values)


def columns_of_systems(table: Table, unit: Any = None) -> list[Any]:
    """Return the columns of predictions beside a truth, one per system; none where there aren't several."""
    said, actual, predicted = table.said.get(PREDICTED), table.get(ACTUAL), table.get(PREDICTED)
    if actual is None or said is not None:
        return said if isinstance(said, list) and actual is not None else []
    known = (actual, table.get(ITEM), *columns_of_units(unit))
    others = [name for name in table.frame.columns if name not in known and not names_units(name)]
    uncounted = [name for name in others if name != table.get("n")]
    if table.source and len(uncounted) > 1:  # a row for as many items as it says
        others = uncounted
    counted = set(others) == {predicted, table.get("n")} or table.get(SYSTEM) is not None
    square = table.square or (table.source and (predicted is not None or looks_square(table.frame)))
    return [] if counted or len(others) < 2 or square else others


def of_columns(table: Table, names: list[Any], labels: Any, pos_label: Any, unit: Any = None) -> xr.Dataset:
    """Return the answers of a table with a column per system beside the truth."""
    actual, n = table.get(ACTUAL), table.get("n") if table.source else None
    true, *answers = table.labels(actual, *names)
    of = None if unit is None else column_of(table, unit)
    if n is not None and n not in names:
        items = validate.count_values(n, table.numbers(n))
        if (total := int(items.sum())) > _MOST_ITEMS:
            raise ValueError(f"`{n}` adds up to {total:,} items, of which {_MOST_ITEMS:,} are kept one by one at most.")
        true, *answers = (np.repeat(one, items) for one in (true, *answers))
        of = None if of is None else (of[0], np.repeat(of[1], items))
    named = {str(name): values for name, values in zip(names, answers, strict=True)}
    if len(named) < max(2, len(names)):
        raise ValueError("`predicted` must name two different columns at least, one per system.")
    kept = predictions(true, named, labels=labels, pos_label=table.positive(pos_label, actual, *names))
    kept = with_names(table, kept)
    return _asking(table, kept, names, unit, of)


def of_labels(table: Table, labels: Any, pos_label: Any, *, systems: bool, unit: Any = None) -> xr.DataArray:
    """Return the counts of a row per item, or per cell."""
    actual, predicted, n = (table.get(what) for what in (ACTUAL, PREDICTED, "n"))
    system = table.get(SYSTEM) if systems else table.said.get(SYSTEM)
    by = [name for name in (table.said.get("by"), system) if name is not None]
    others = [name for name in table.frame.columns if name not in (actual, predicted, n, *by)]
    named = columns_of_units(unit) if unit is None or column_of(table, unit) else []
    if others and table.source is None and not table.said and not named:
        raise ValueError(
            f"`counts` as a frame has the columns {some([actual, predicted, *others])}: say what the others are, such "
            f"as bayescm.from_table(frame, actual={actual!r}, predicted={predicted!r}, n={n!r}, dims={others[0]!r}); "
            f"of what was sampled with several items each, unit={others[0]!r}."
        )
    frame = table.frame
    if table.source:
        import pandas as pd

        sides = dict(zip((actual, predicted), table.labels(actual, predicted), strict=True))
        counted = {} if n is None else {n: table.numbers(n)}
        frame = pd.DataFrame(sides | counted | {name: table.labels(name)[0] for name in (*by, *named)})
    positive = table.positive(pos_label, actual, predicted)
    counts = tabulated(
        frame, actual=actual, predicted=predicted, n=n, dims=by, labels=labels, pos_label=positive, unit=unit
    )
    counts = counts if system is None else counts.rename({system: SYSTEM})
    if len(named) == 2:
        return counts
    of = column_of(table, unit) if named else None
    return asking(counts, [name for name in others if name not in named], table.names, of)


def marks_of(table: Table, unit: Any = None) -> dict[str, list[int] | list[float]]:
    """Return right and wrong answers of a column per system, if all are but for one of items' names; else none."""
    item = table.said.get(ITEM) or table.columns.get(ITEM)
    others = [name for name in table.frame.columns if name != item and not (isinstance(unit, str) and name == unit)]
    known = {name: as_right(np.asarray(table.frame[name]).tolist()) for name in others}
    kept = {str(name): right for name, right in known.items() if right is not None}
    first, left = next(iter(known), None), len(known) - len(kept)
    named = left == 1 and item is None and known[first] is None and (table.source or _are_texts(table.frame[first]))
    named = named and len(set(table.frame[first])) == len(table.frame)
    none = table.square or table.get(ACTUAL) is not None
    return kept if (left == 0 or named) and len(kept) >= (2 if table.source else 1) and not none else {}


def with_names(table: Table, kept: xr.Dataset) -> xr.Dataset:
    """Keep the names of items in rows, where a column has them and each its own."""
    item = table.said.get(ITEM) or table.columns.get(ITEM)
    names = [] if item is None else table.names(item)
    return kept.assign_coords({ITEM: np.array(names)}) if names and len(set(names)) == kept.sizes[ITEM] else kept


def _are_texts(values: Any) -> bool:
    """Say whether all values are text."""
    return all(isinstance(value, str) for value in values)


def of_columns_of_passes(table: Table, runs: Any) -> xr.Dataset:
    """Return the answers of a table that says how many runs of each item passed, with a column per system."""
    item = table.said.get(ITEM) or table.columns.get(ITEM)
    kept = [name for name in table.frame.columns if name != item]
    if table.source and item is None and not all(map(texts.is_number, table.frame[kept[0]])):
        item, *kept = kept  # the names of the items
    made = of_passes({str(name): table.numbers(name) for name in kept}, runs)
    return made if item is None else made.assign_coords({ITEM: np.array(table.names(item))})


def looks_square(frame: Any) -> bool:
    """Say whether a table of text may be a matrix with labels, maybe with margins: all but one column are numbers."""
    rows, body = set(frame.iloc[:, 0]), frame.iloc[:, 1:]
    if body.shape[1] < 2 or abs(len(body) - body.shape[1]) > 1 or not all(map(texts.is_number, body.values.flat)):
        return False
    return bool(rows & set(body.columns)) or not any(map(texts.is_number, rows))


def of_square(table: Table, rows: str | None, labels: Any, pos_label: Any) -> xr.DataArray:
    """Return the counts of a matrix, whose labels are in the first row and, of text, in the first column."""
    frame = table.frame
    if table.source:
        import pandas as pd

        corner, *columns = frame.columns
        of_rows, of_columns = texts.labels(*table.filled([corner]), columns)
        known = dict(zip([*frame[corner], *columns], [*of_rows.tolist(), *of_columns.tolist()], strict=True))
        given = known.get(pos_label, pos_label)
        pair = [] if given is None or given in known.values() else str(given).split(",")
        pos_label = tuple(known.get(word.strip(), word.strip()) for word in pair) if len(pair) == 2 else given
        values = np.stack([table.numbers(name) for name in columns], 1)
        frame = pd.DataFrame(values, pd.Index(of_rows.tolist(), name=corner or None), of_columns.tolist())
    return from_array(frame, rows=rows, labels=labels, pos_label=pos_label)
