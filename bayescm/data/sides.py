"""Answers of one system, item by item, read for themselves and put beside another's."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bayescm.data import frames
from bayescm.data.items import predictions, right_answers
from bayescm.data.labels import some
from bayescm.data.logged import TARGET, TASK, by_task
from bayescm.data.schema import ACTUAL, ASKS, ITEM, LABEL, ONE_CLASS, PREDICTED, RUN, SYSTEM, UNIT
from bayescm.data.scores import check_scores
from bayescm.data.shapes import frame_of, has_fractions
from bayescm.data.tabular import CALLED, Table
from bayescm.data.units import columns_of_units

_ITEM = (*(name for name in CALLED[ITEM] if name != TASK), "test", "name")
_CORRECT = (*CALLED["correct"], "is_correct", "pass", "success", "is_right", "ok", "acc", "exact_match", "grade",
            "verdict", "outcome", "result")  # fmt: skip
"""What columns of one system's answers are called."""
TRUTHS = ("label", "labels", "target", "targets", "class", "y", "outcome")
"""What may be the labels that scores, or columns of 0 and 1, are for."""
SCORES = ("score", "y_score", "prob", "probability", "proba", "y_prob", "y_proba", "p", "logit", "confidence")
"""What columns of a classifier's scores are called."""
_BY_ROW = "items have no name: the rows of both files are taken for the same items, in their order"
Names = list[tuple[str, str]]


def truth_among(columns: Mapping[str, Any]) -> Any:
    """Return which of columns, by their names in small letters, is called what a truth is; None if none is."""
    return next((columns[name] for name in TRUTHS if name in columns), None)


def columns_of_one(table: Table, unit: Any = None) -> dict[str, Any]:
    """Return the columns of one system's answers by what they mean, those that are there.

    Parameters
    ----------
    table : Table
    unit : str, optional
        A column that means something else.
    """
    said, taken = table.said, {None, *columns_of_units(unit)}

    def first(what: str, names: tuple[str, ...]) -> Any:
        at = said.get(what) or next((table.columns[name] for name in names if name in table.columns), None)
        return at if said.get(what) or at not in taken else None

    task = first("by", (TASK,))
    taken.add(task)
    actual, predicted = (table.get(what) for what in (ACTUAL, PREDICTED))
    right = first("correct", () if actual and predicted else _CORRECT)
    taken |= {right, actual, predicted}
    item = said.get(ITEM) or next(
        (at for name in _ITEM if (at := table.columns.get(name)) is not None and at not in taken), None
    )
    run = first(RUN, tuple(name for name in CALLED[RUN] if table.columns.get(name) != item))
    found = {ITEM: item, RUN: run, "correct": right, ACTUAL: actual, PREDICTED: predicted, TASK: task}
    return {what: name for what, name in found.items() if name is not None}


def has_scores(table: Table, unit: Any) -> bool:
    """Say whether a table without labels has a column of scores that aren't just right or wrong."""
    found = columns_of_one(table, unit)
    if table.square or "correct" not in found or ACTUAL in found or table.get(SYSTEM) is not None:
        return False
    return _are_fractions(table.frame[found["correct"]])


def _are_fractions(column: Any) -> bool:
    """Say whether a column, also one of text, has numbers that aren't whole, and no words."""
    filled = [one for one in np.asarray(column).tolist() if one not in (None, "")]
    try:
        return has_fractions(np.asarray(filled, np.float64))
    except (TypeError, ValueError):  # words
        return False


def of_one_system(table: Table, unit: Any, pos_label: Any, missing: str | None) -> xr.Dataset | None:
    """Return the answers of a table with a row per item of one system, or per run of it; None of other tables."""
    found = columns_of_one(table, unit)
    right, labels = found.get("correct"), {ACTUAL, PREDICTED} <= set(found)
    counted = {"correct", "wrong"} <= set(table.columns) or table.get("n") is not None
    if table.square or counted or not (right or labels):
        return None
    tasks = [""] * len(table.frame) if TASK not in found else table.names(found[TASK])
    items = table.names(found[ITEM]) if ITEM in found else [str(i + 1) for i in range(len(tasks))]
    keys = list(zip(tasks, items, strict=True))
    run = table.names(found[RUN]) if RUN in found else _numbered(keys, table, found, unit)
    columns: dict[str, Any] = {
        ITEM: [f"{len(task)}/{task}/{item}" for task, item in keys],
        SYSTEM: ["it"] * len(keys),
    }
    columns |= {} if run is None else {RUN: run}
    if right and not (labels and table.said.get("correct") is None):
        marks = np.asarray(table.frame[right], dtype=object)
        truth = truth_among(table.columns)
        if truth is not None and has_scores(table, unit) and table.said.get("correct") is None:
            raise ValueError(
                f"are {right!r} scores of a classifier, for the labels {truth!r}: bayescm.auc (bayescm curve --actual "
                f"{truth} --score {right}); or how far each answer was right: columns={{'correct': {right!r}}} "
                f"(--correct {right})?"
            )
        blank = np.array([one is None or one != one or str(one).strip() == "" for one in marks])
        if blank.any() and missing != "wrong":
            at = int(blank.argmax())
            raise ValueError(
                f"column {right!r} has no answer in {int(blank.sum())} rows, first for item {items[at]!r}: mend them, "
                "or count them as wrong by missing='wrong' (--missing wrong)."
            )
        columns["correct"] = np.where(blank, 0, marks)
    else:
        columns |= dict(zip((ACTUAL, PREDICTED), table.labels(found[ACTUAL], found[PREDICTED]), strict=True))
        pos_label = table.positive(pos_label, found[ACTUAL], found[PREDICTED])
    if unit is not None:
        frames.column_of(table, unit)
        columns[str(unit)] = table.names(unit)
    long = Table(frame_of(columns), {})
    kept = frames.of_long(long, None, pos_label, None if unit is None else str(unit))
    names = list(dict.fromkeys(keys))
    kept = kept.assign_coords({ITEM: [item for _, item in names], TASK: (ITEM, [task for task, _ in names])})
    kept.attrs.pop(ASKS, None)
    return kept if ITEM in found else kept.assign_attrs({ASKS: _BY_ROW})


def _numbered(keys: Names, table: Table, found: Mapping[str, Any], unit: Any) -> list[str] | None:
    """Return numbers of the runs of items that come several times, if somebody said that the column names items."""
    count: dict[tuple[str, str], int] = {}
    runs = []
    for key in keys:
        count[key] = count.get(key, 0) + 1
        runs.append(str(count[key]))
    if max(count.values()) == 1:
        return None
    if table.said.get(ITEM) is None:
        name = found[ITEM]
        raise ValueError(
            f"{table.source or 'the table'} has up to {max(count.values())} rows of each {name!r}. If these are "
            f"several runs of an item, say item={name!r} (--item {name}); if it is what was sampled, with several "
            f"items each, unit={name!r} (--unit {name})."
        )
    return runs


def beside(each: Mapping[str, Any]) -> xr.Dataset:
    """Put the answers of systems side by side: to the items that all of them answered.

    Parameters
    ----------
    each : mapping of str to xarray.Dataset
        Of one system each, as :func:`of_one_system` and logs return them.

    Returns
    -------
    xarray.Dataset
        As of :func:`bayescm.predictions`, with the coordinate ``task(item)``; ``left_out`` says how many items of which
        system nobody else answered.
    """
    if bare := [name for name, one in each.items() if not isinstance(one, xr.Dataset) or PREDICTED not in one]:
        raise ValueError(f"`data` of {bare[0]!r} has no answers item by item, and others have; give all alike.")
    for name, one in each.items():
        if one.sizes[SYSTEM] != 1:
            raise ValueError(
                f"`data` of {name!r} has the systems {some([str(s) for s in one[SYSTEM].values])}; give a file of one."
            )
    (first, known), *_ = each.items()
    if len({ONE_CLASS in one.attrs for one in each.values()}) > 1:
        raise ValueError("`data` are right and wrong answers of one system, and labels of another; give all alike.")
    chosen, common, left_out = _matched(each)
    start = chosen[first]
    answers = {name: one[PREDICTED].isel({SYSTEM: 0}).values for name, one in chosen.items()}
    if ONE_CLASS in known.attrs:
        kept = right_answers(answers)
    else:
        labels = known[LABEL].values.tolist()
        more = [label for one in each.values() for label in one[LABEL].values.tolist() if label not in labels]
        labels += dict.fromkeys(more)
        positive = labels[1] if len(labels) == 2 else None
        kept = predictions(start[ACTUAL].values, answers, labels=labels, pos_label=positive)
    kept = kept.assign_coords({ITEM: [item for _, item in common], TASK: (ITEM, [task for task, _ in common])})
    if unit := known.attrs.get(UNIT):
        kept = kept.assign_coords({unit: (ITEM, start[unit].values)}).assign_attrs({UNIT: unit})
    return by_task(kept).assign_attrs(left_out)


def _matched(each: Mapping[str, xr.Dataset]) -> tuple[dict[str, xr.Dataset], Names, dict[str, str]]:
    """Return the items that all systems answered, these items' tasks and names, and the attr that says what is left."""
    (first, known), *_ = each.items()
    places = {name: _places(one) for name, one in each.items()}
    common = [key for key in places[first] if all(key in of for of in places.values())]
    if not common:
        odd = next(name for name in places if name != first)
        names = (some([_called(key) for key in places[name]]) for name in (first, odd))
        raise ValueError(f"`data` of {first!r} and of {odd!r} have no item in common: {' and '.join(names)}.")
    chosen = {name: one.isel({ITEM: [places[name][key] for key in common]}) for name, one in each.items()}
    start = chosen[first]
    for name, one in chosen.items():
        for what in (ACTUAL, TARGET, known.attrs.get(UNIT, ACTUAL)):
            if what in start.variables and what in one.variables:
                _refuse_others(start[what].values, one[what].values, what, (first, name), common)
    alone = {name: len(of) - len(common) for name, of in places.items() if len(of) > len(common)}
    said = [f"left out, as not all answered: {n} item{'s' * (n > 1)} of {name}" for name, n in alone.items()]
    said += [str(known.attrs[ASKS])] if ASKS in known.attrs else []
    return chosen, common, {ASKS: "; ".join(said)} if said else {}


def scores_beside(tables: Mapping[str, Table], unit: Any = None, pos_label: Any = None) -> xr.Dataset:
    """Put the scores of systems side by side, of tables with a row per item of one system each, or of one for all.

    Returns
    -------
    xarray.Dataset
        ``actual(item)`` and ``score(system, item)``, with the coordinates ``item``, ``task(item)``, ``label`` (the
        negative and the positive class) and, where there are some, units.
    """
    each: dict[str, xr.Dataset] = {}
    for name, table in tables.items():
        system = table.names(at) if (at := table.get(SYSTEM)) is not None else [name] * len(table.frame)
        whole = _scores_of(table, unit)
        of_systems = dict.fromkeys(system)
        each |= {one: whole.isel({ITEM: np.array(system) == one}) for one in of_systems}
        for one in of_systems:
            if len(_places(each[one])) < each[one].sizes[ITEM]:
                raise ValueError(f"`data` of {one!r} have several rows of an item; give one score of each.")
    chosen, common, left_out = _matched(each)
    start = next(iter(chosen.values()))
    scored = {name: one["score"].values for name, one in chosen.items()}
    first = next(iter(tables.values()))
    positive = first.positive(pos_label, first.get(ACTUAL) or start.attrs[ACTUAL])
    checked = check_scores(start[ACTUAL].values, scored, None, positive)
    more = {unit: start[unit]} if unit is not None else {}
    return xr.Dataset(
        {ACTUAL: start[ACTUAL].drop_vars([ITEM, TASK]), "score": ((SYSTEM, ITEM), checked.score)},
        coords={SYSTEM: list(scored), LABEL: checked.labels, ITEM: [item for _, item in common],
                TASK: (ITEM, [task for task, _ in common]), **{name: (ITEM, one.values) for name, one in more.items()}},
        attrs=left_out | ({UNIT: unit} if unit is not None else {}),
    )  # fmt: skip


def scores_of(table: Table, unit: Any, pos_label: Any) -> xr.Dataset:
    """Return the labels and scores of a table with a row per item, and a column of scores of each system."""
    known = table.said.get("score") or {*SCORES} & {*table.columns}
    fractions = [] if known else [name for name in table.frame.columns if _are_fractions(table.frame[name])]
    if not len(table.frame) or (table.get(SYSTEM) is not None and len(fractions) > 1):
        raise ValueError("`y_true` as a table needs rows, and one column of scores where a column names systems.")
    each = {str(name): replace(table, said={**table.said, "score": name}) for name in fractions}
    kept = scores_beside(each or {"score": table}, unit, pos_label)
    return kept if kept.sizes[SYSTEM] > 1 else kept.isel({SYSTEM: 0}, drop=True)


def _scores_of(table: Table, unit: Any) -> xr.Dataset:
    """Return the labels and scores of a table with a row per item."""

    def column(what: str, names: tuple[str, ...]) -> Any:
        return table.said.get(what) or next((table.columns[name] for name in names if name in table.columns), None)

    actual = table.get(ACTUAL) or truth_among(table.columns)
    score, item, task = column("score", SCORES), column(ITEM, _ITEM), column("by", (TASK,))
    if actual is None or score is None:
        raise ValueError(
            "an area needs a column of true labels and one of scores (columns={'actual': ..., 'score': ...}; --actual, "
            f"--score); {table.source or 'the table'} has {some(list(map(str, table.frame.columns)))}."
        )
    n = len(table.frame)
    coords = {ITEM: [str(i + 1) for i in range(n)] if item is None else table.names(item),
              TASK: (ITEM, [""] * n if task is None else table.names(task))}  # fmt: skip
    if unit is not None:
        frames.column_of(table, unit)
        coords[unit] = ITEM, table.names(unit)
    made = {ACTUAL: (ITEM, np.asarray(table.labels(actual)[0])), "score": (ITEM, table.numbers(score))}
    attrs = {ACTUAL: actual} | ({ASKS: _BY_ROW} if item is None else {}) | ({UNIT: unit} if unit is not None else {})
    return xr.Dataset(made, coords=coords, attrs=attrs)


def _places(one: xr.Dataset) -> dict[tuple[str, str], int]:
    """Return where each item stands, by its task and its name."""
    tasks = one[TASK].values.tolist() if TASK in one.coords else [""] * one.sizes[ITEM]
    items = one[ITEM].values.tolist() if ITEM in one.coords else range(1, one.sizes[ITEM] + 1)
    return {(str(task), str(item)): i for i, (task, item) in enumerate(zip(tasks, items, strict=True))}


def _called(key: tuple[str, str]) -> str:
    return "/".join(filter(None, key))


def _refuse_others(one: Any, other: Any, what: str, systems: tuple[str, str], common: Names) -> None:
    """Refuse items that are other ones with the same names."""
    different = np.array([a != b for a, b in zip(one.tolist(), other.tolist(), strict=True)])
    if different.any():
        at = int(different.argmax())
        called = {ACTUAL: "true label", TARGET: "truth"}.get(what, what)
        raise ValueError(
            f"`data` have another {called} for item {_called(common[at])!r} of {systems[1]!r} than of "
            f"{systems[0]!r}, one of {int(different.sum())}: {other[at]!s:.40} and {one[at]!s:.40}. They didn't answer "
            "the same items."
        )
