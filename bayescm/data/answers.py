"""Right and wrong answers of systems: counted, published as accuracies, or item by item and run by run."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NoReturn

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.items import right_answers
from bayescm.data.labels import some
from bayescm.data.schema import SYSTEM
from bayescm.data.shapes import is_number

_RIGHT, _WRONG = "correct", "wrong"
TOTALS = ("total", "n_items", "n")
"""What the number of right and wrong answers together is called."""
_RIGHT_WORDS = ("1", "1.0", "true", "pass", "passed", "correct", "right", "yes")
_WRONG_WORDS = ("0", "0.0", "false", "fail", "failed", "incorrect", "wrong", "no")
_AS_RIGHT = dict.fromkeys(_RIGHT_WORDS, 1) | dict.fromkeys(_WRONG_WORDS, 0)
"""How right and wrong answers are written."""
_OF_RUNS = re.compile(r"pass(@|\^|_at_|_hat_)(\d+)")


def as_right(values: Sequence[Any]) -> list[int] | list[float] | None:
    """Return 1 for right and 0 for wrong answers, written as 0 and 1, True and False, or words; None for others.

    Numbers between are answers that are right in part.
    """
    known = [_AS_RIGHT.get(str(value).strip().casefold()) for value in values]
    if None not in known:
        return [one for one in known if one is not None]
    try:
        scores = [float(value) for value in values]
    except (TypeError, ValueError):
        return None
    return scores if all(0.0 <= one <= 1.0 for one in scores) else None


def of_k_runs(name: Any) -> tuple[int, bool] | None:
    """Return k of "pass@k", of which one is enough, or of "pass^k", and whether all must pass; None of other names."""
    match = _OF_RUNS.fullmatch(name.strip().lower()) if isinstance(name, str) else None
    return None if match is None else (int(match[2]), match[1] in ("^", "_hat_"))


def of_right(right: Mapping[str, Any]) -> xr.Dataset:
    """Return right and wrong answers to the same items, or scores, as predictions of 1 where 1 is right."""
    known = {name: as_right(np.ravel(answers).tolist()) for name, answers in right.items()}
    for name, answers in known.items():
        if answers is None:
            odd = some(sorted({str(one) for one in np.ravel(right[name]).tolist() if as_right([one]) is None}))
            raise ValueError(
                f"`correct` of {name!r} must be 0 and 1, False and True, words such as 'pass' and 'fail', or scores "
                f"from 0 to 1; got {odd}. Passes of 4 runs of an item are bayescm.leaderboard(passes, runs=4); of "
                "other scores say what counts as right, such as scores > 2, or divide them by the most there is to get."
            )
    return right_answers(
        {name: np.reshape(np.array(known[name]), np.shape(answers)) for name, answers in right.items()}
    )


def published(columns: Mapping[str, Any], names: Sequence[str] | None) -> xr.Dataset:
    """Return right and wrong answers of each system; wrong ones may be told by the total."""
    if _WRONG not in columns:
        right, total = (np.asarray(columns[name]) for name in (_RIGHT, next(n for n in TOTALS if n in columns)))
        columns = {_RIGHT: columns[_RIGHT], _WRONG: total - right}
        if (total < right).any():
            raise ValueError("The total must be at least `correct` in every row.")
    values = {name: np.atleast_1d(validate.count_values(name, columns[name])) for name in (_RIGHT, _WRONG)}
    validate.same_length(**values)
    if names is None and isinstance(columns[_RIGHT], Mapping):
        names = [str(name) for name in columns[_RIGHT]]
    made = xr.Dataset({name: (SYSTEM, value) for name, value in values.items()})
    return made if names is None else made.assign_coords({SYSTEM: list(names)})


def of_accuracies(data: Any, n_items: Any) -> Any:
    """Return right and wrong answers of accuracies by system, and of how many items each was measured on."""
    numbers = dict(data) if isinstance(data, Mapping) or hasattr(data, "items") else {}
    scores = bool(numbers) and not isinstance(data, xr.Dataset) and all(map(is_number, numbers.values()))
    if not scores:
        if n_items is None:
            return data
        raise ValueError("`n_items` is for accuracies by system, such as {'A': 0.91, 'B': 0.89}; leave it out.")
    if n_items is None:
        raise ValueError(
            "`counts` as accuracies needs the number of items behind them: "
            "bayescm.leaderboard({'A': 0.91, 'B': 0.89}, n_items=1000)."
        )
    if not all(0 <= value <= 1 for value in numbers.values()):
        raise ValueError(
            f"`counts` must be accuracies from 0 to 1; got {some([float(v) for v in numbers.values()])}. Numbers of "
            "right answers go into {'correct': [...], 'wrong': [...]}."
        )
    items = dict(n_items) if isinstance(n_items, Mapping) or hasattr(n_items, "items") else n_items
    values: Any = [items[name] for name in numbers] if isinstance(items, dict) and set(items) >= set(numbers) else items
    n = validate.count_values("n_items", values)
    if n.shape not in ((), (len(numbers),)):
        raise ValueError(f"`n_items` must be one number, or one for each of {len(numbers)} systems; got {n.shape}.")
    right = np.rint(np.array(list(numbers.values()), np.float64) * n).astype(np.int64)
    _check_accuracies(numbers, np.broadcast_to(n, right.shape), right)
    return published({_RIGHT: right, _WRONG: n - right}, [str(name) for name in numbers])


def _check_accuracies(numbers: Mapping[Any, Any], n_items: NDArray[np.int64], right: NDArray[np.int64]) -> None:
    """Warn of an accuracy that no whole number of right answers has, as far as its decimals say."""
    for (name, value), n, k in zip(numbers.items(), n_items.tolist(), right.tolist(), strict=True):
        rounding = 0.5 * 10.0 ** int(Decimal(str(value)).as_tuple().exponent)
        if abs(float(value) * n - k) > (rounding + 1e-12) * n:
            validate.warn(
                f"an accuracy of {value} ({name}) isn't that of any number of right answers among {n:,} items, such as "
                f"a mean over folds or seeds; it is taken for {k:,} of them, {k / n:.6g}."
            )


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


def by_item(system: NDArray[Any], item: NDArray[Any], run: NDArray[Any] | None) -> dict[str, NDArray[np.intp]]:
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


def refuse_numbers(*numbers: Any) -> NoReturn:
    """Refuse numbers that aren't k of n, or not where that can be answered."""
    raise ValueError(
        f"`counts` can't be the numbers {', '.join(map(str, numbers))}. k of n items is summary(k, n) or "
        "interval(k, n), two whole numbers, P(> 0.8) metric_distribution(k, n).sf(0.8); four cells are "
        "bayescm.from_cells(tp=45, fn=5, fp=10, tn=90)."
    )


def refuse_marks(values: NDArray[Any], board: bool) -> None:
    """Refuse right and wrong answers of which some are missing, and on a leaderboard other numbers of items."""
    absent = validate.missing(values)
    if absent.any() and as_right(values[~absent].tolist()) is not None:
        row, column = np.argwhere(absent)[0]
        raise ValueError(
            f"`counts` has no answer of system {column + 1} to item {row + 1}: leave out items that not all answered, "
            "such as frame.dropna(), or give {'correct': [...], 'wrong': [...]}."
        )
    if board and values.shape[0] != values.shape[1]:
        raise ValueError(
            f"`counts` of shape {values.shape} must be 0 and 1 here, items by systems; got "
            f"{some(values.ravel().tolist())}. Passes of 4 runs of an item are bayescm.leaderboard(passes, runs=4); of "
            "scores say what counts as right, such as scores > 2; right and wrong answers in numbers are {'correct': "
            "[...], 'wrong': [...]}."
        )
