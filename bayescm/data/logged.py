"""Answers of systems that a log holds one by one, put side by side."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bayescm.data.answers import as_right
from bayescm.data.items import right_answers
from bayescm.data.schema import ITEM

TASK, TARGET = "task", "target"
"""Coordinates of items: which task they are of, and what tells whether two systems answered the same."""

Right = Callable[[Any], float]

_OF_INSPECT = {"C": 1, "P": 0.5, "I": 0, "N": 0}
"""Correct, partly so, incorrect, no answer, as inspect_ai itself counts them."""


def or_wrong(value: Any) -> float:
    """Return the score of an answer; one that is missing is wrong."""
    return 0 if value is None else credit(value, f"`data` has {value!r}")


def credit(score: Any, said: str) -> float:
    """Return 1 for a right answer, 0 for a wrong one and a score between as it is, or say what is none of these."""
    known = as_right([score]) or [_OF_INSPECT.get(str(score), -1)]
    if known[0] < 0:
        raise ValueError(
            f"{said}, which is neither right nor wrong, nor a score from 0 to 1: say what counts as right, such as "
            "right=lambda value: value >= 5, or which other score."
        )
    return known[0]


class Answer(NamedTuple):
    """One answer of one system: the item is known by its task and its name, `truth` tells whether it is the same."""

    system: str
    task: str
    item: str
    run: int
    score: Any
    truth: str


def together(answers: Iterable[Answer], name: str, right: Right | None, *, alone: bool = False) -> xr.Dataset:
    """Put the answers of all systems side by side, item by item; `alone`, so that others can still be put beside."""
    table: dict[str, dict[tuple[str, str], dict[int, float]]] = {}
    truths: dict[tuple[str, str], str] = {}
    for one in answers:
        runs = table.setdefault(one.system, {}).setdefault((one.task, one.item), {})
        if one.run in runs:
            raise ValueError(
                f"`{name}` has item {one.item!r} of the task {one.task!r} of {one.system!r} twice: give one of the "
                "files, or call them apart: {'first': path, 'second': path}."
            )
        if truths.setdefault((one.task, one.item), one.truth) != one.truth:
            raise ValueError(
                f"`{name}` has another truth for item {one.item!r} of the task {one.task!r} with {one.system!r} than "
                "with others: they didn't answer the same items."
            )
        runs[one.run] = _credit(one, name, right)
    if not table:
        raise ValueError(f"`{name}` has no samples: were they logged? (`--log-samples`, `--log_samples`)")
    items = _same_items(table, name)
    marks = {system: np.array([[of[i][r] for r in sorted(of[i])] for i in items]) for system, of in table.items()}
    kept = right_answers(marks).assign_coords(
        {ITEM: [item for _, item in items], TASK: (ITEM, [task for task, _ in items])}
    )
    return kept.assign_coords({TARGET: (ITEM, [truths[item] for item in items])}) if alone else by_task(kept)


def by_task(kept: xr.Dataset) -> xr.Dataset:
    """Put the names of several tasks before those of their items."""
    tasks, items = kept[TASK].values.tolist(), kept[ITEM].values.tolist()
    names = [f"{task}/{item}" for task, item in zip(tasks, items, strict=True)] if len(set(tasks)) > 1 else items
    return kept.assign_coords({ITEM: names})


def _credit(one: Answer, name: str, right: Right | None) -> float:
    """Return the score of an answer: 1 for a right one and 0 for a wrong one."""
    missing = one.score is None or (isinstance(one.score, float) and math.isnan(one.score))
    if right is not None:
        found = right(None if missing else one.score) or 0
        return credit(found, f"`right` returned {found!r} for {one.score!r}")
    where = f"item {one.item!r} of the task {one.task!r} of {one.system!r}"
    if missing:
        raise ValueError(
            f"`{name}` has no score for {where}: it was left out or ended in an error. Run it again, or count it as "
            "wrong: right=lambda value: value in ('C', 1)."
        )
    return credit(one.score, f"`{name}` has {one.score!r} for {where}")


def _same_items(table: Mapping[str, Mapping[tuple[str, str], Mapping[int, float]]], name: str) -> list[tuple[str, str]]:
    """Return the items in the order of the first system, if all answered them, each as often as the others."""
    first, *_ = table
    items = list(table[first])
    for system, of in table.items():
        for one, lacking in ((system, set(items) - set(of)), (first, set(of) - set(items))):
            if lacking:
                task, item = min(lacking)
                raise ValueError(
                    f"`{name}` has no answer of {one!r} to item {item!r} of the task {task!r}, one of {len(lacking)} "
                    f"that {(system if one == first else first)!r} answered: give logs of the same items."
                )
        uneven = next((item for item in items if len(of[item]) != len(of[items[0]])), None)
        if uneven is not None:
            raise ValueError(
                f"`{name}` has {len(of[uneven])} runs of item {uneven[1]!r} of {system!r} and {len(of[items[0]])} of "
                f"{items[0][1]!r}: runs that were added or lost because of how they went would tell a wrong share."
            )
    return items
