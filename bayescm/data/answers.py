"""Right and wrong answers, passes and accuracies of systems, read where they can be nothing else."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, cast

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.crosstabs import side
from bayescm.data.items import predictions, right_answers
from bayescm.data.labels import some
from bayescm.data.readings import SYSTEM_COLUMNS, is_list, is_number, is_square, of_folds, read_counts, row_names
from bayescm.data.runs import by_item, of_passes
from bayescm.data.schema import ACTUAL, ITEM, ONE_CLASS, PREDICTED, RUN, SYSTEM
from bayescm.data.strata import batch_dims, is_audit, singles

_RIGHT, _WRONG = "correct", "wrong"
_COLUMNS = {
    SYSTEM: SYSTEM_COLUMNS,
    ITEM: ("item", "question", "prompt", "task"),
    _RIGHT: ("correct", "right", "passed", "passes", "score"),
    RUN: ("run", "trial", "attempt", "sample", "repeat", "epoch", "seed"),
}
"""Columns of a long table of answers, and what else they are called."""
_RIGHT_WORDS = ("1", "1.0", "true", "pass", "passed", "correct", "right", "yes")
_WRONG_WORDS = ("0", "0.0", "false", "fail", "failed", "incorrect", "wrong", "no")
_AS_RIGHT = dict.fromkeys(_RIGHT_WORDS, 1) | dict.fromkeys(_WRONG_WORDS, 0)
"""How right and wrong answers are written."""


def read_systems(data: Any, *, leaderboard: bool) -> Any:
    """Return several systems: answers to the same items, right and wrong answers, or counts.

    Parameters
    ----------
    data : any
        What :func:`read_counts` reads; a long frame with columns `system`, `item` and `correct` (or `actual` and
        `predicted`); ``correct`` and ``wrong``, by name or as columns; and, for a leaderboard, 0 and 1 (items by
        systems) for wrong and right answers.
    leaderboard : bool

    Returns
    -------
    xarray.DataArray, xarray.Dataset or what came
    """
    if is_audit(data) and batch_dims(data) == [SYSTEM]:
        return {str(where[SYSTEM]): one for where, one in singles(data)}
    if is_audit(data) and SYSTEM in data.dims:
        raise ValueError(
            "`data` are one audit whose strata are systems; for an audit of each say so: bayescm.audited(..., "
            "batch='system')."
        )
    if isinstance(data, Mapping) and any(map(is_audit, data.values())):
        return {str(name): one for name, one in data.items()}
    if isinstance(data, list) and data and all(isinstance(one, Mapping) and SYSTEM in one for one in data):
        data = _frame({name: [one.get(name) for one in data] for name in data[0]})  # records
    if isinstance(data, Mapping) and data and all(map(_is_share, data.values())):
        passed, of = np.array(list(data.values())).T
        return _published({_RIGHT: passed, _WRONG: of - passed}, [str(name) for name in data])
    if isinstance(data, xr.DataArray) and set(data.dims) == {ITEM, SYSTEM}:
        data = data.transpose(ITEM, SYSTEM).to_pandas()
    if isinstance(data, xr.DataArray) and set(data.dims) == {ITEM, SYSTEM, RUN}:
        return _of_right(
            {str(name): data.sel({SYSTEM: name}).transpose(ITEM, RUN).values for name in data[SYSTEM].values}
        )
    if isinstance(data, xr.DataArray | xr.Dataset | xr.DataTree):
        return data
    if (folds := of_folds(data)) is not None:
        return folds
    if (published := right_and_wrong(data)) is not None:
        return published
    if hasattr(data, "columns"):
        columns = {str(name).strip().casefold(): name for name in data.columns}
        if "accuracy" in columns:
            names = row_names(data, columns) or [str(i + 1) for i in range(len(data))]
            scores = dict(zip(names, np.asarray(data[columns["accuracy"]]).tolist(), strict=True))
            n = next((columns[name] for name in ("n_items", "n") if name in columns), None)
            return scores if n is None else of_accuracies(scores, np.asarray(data[n]))
        found = _known(columns)
        if found[SYSTEM] is not None and found[ITEM] is not None:
            return _of_long(data, found, columns)
        truth = [name for name in data.columns if isinstance(name, str) and side(name) == ACTUAL]
        if len(truth) == 1 and len(data.columns) > 2 and not is_square(data):
            return predictions(data[truth[0]], {str(n): data[n] for n in data.columns if n != truth[0]})
    elif isinstance(data, Mapping) and data and all(map(is_list, data.values())):
        data = _frame(data)
    elif isinstance(data, Mapping) and _are_runs(data):
        return _of_right(data)
    counts = read_counts(data)
    return counts if isinstance(counts, xr.DataArray) else _right_or_wrong(counts, leaderboard)


def right_and_wrong(data: Any) -> xr.Dataset | None:
    """Return ``correct(system)`` and ``wrong(system)`` of what has both, by name or as columns; or None.

    Answers that were kept one by one are counted; not several runs of an item, which count as one item.
    """
    both = {_RIGHT, _WRONG}
    if isinstance(data, xr.Dataset) and ONE_CLASS in data.attrs and RUN not in data.dims:
        right = data[PREDICTED].sum(ITEM)
        return xr.Dataset({_RIGHT: right, _WRONG: data.sizes[ITEM] - right})
    if isinstance(data, xr.Dataset):
        return data if both <= set(data.data_vars) else None
    if hasattr(data, "columns"):
        columns = {str(name).strip().casefold(): name for name in data.columns}
        if both <= set(columns):
            return _published({key: data[columns[key]] for key in both}, row_names(data, columns))
    elif isinstance(data, Mapping) and both <= {str(name).casefold() for name in data}:
        return _published({str(name).casefold(): value for name, value in data.items()}, None)
    return None


def _is_share(value: Any) -> bool:
    """Say whether a value is k of n, (90, 100), and not the answers to two items."""
    whole = isinstance(value, tuple) and len(value) == 2 and all(isinstance(one, int) for one in value)
    return whole and 0 <= value[0] <= value[1] and value[1] > 1


def _known(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return what columns of a long table are called, by what they mean; None for those that aren't there."""
    return {what: next((columns[n] for n in names if n in columns), None) for what, names in _COLUMNS.items()}


def read_passes(data: Any, runs: Any) -> xr.Dataset:
    """Return answers of how many of an item's runs passed.

    Parameters
    ----------
    data : mapping, data frame or array_like
        Items by systems; or a long frame with columns `system`, `item` and `passes`; of one system (items,).
    runs : int
    """
    if isinstance(data, xr.DataArray) and set(data.dims) == {ITEM, SYSTEM}:
        data = data.transpose(ITEM, SYSTEM).to_pandas()
    if hasattr(data, "columns"):
        found = _known(columns := {str(name).strip().casefold(): name for name in data.columns})
        if found[SYSTEM] is not None and found[ITEM] is not None:
            return cast("xr.Dataset", _of_long(data, found | {RUN: None}, columns, runs))
        data = {str(name): data[name] for name in data.columns}
    if not isinstance(data, Mapping):
        values = np.asarray(data)
        if values.ndim not in (1, 2):
            raise ValueError(f"`runs` is for numbers of passes, items by systems; got the shape {values.shape}.")
        data = {f"system_{i + 1}": column for i, column in enumerate(np.reshape(values, (len(values), -1)).T)}
    return of_passes(data, runs)


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
    return _published({_RIGHT: right, _WRONG: n - right}, [str(name) for name in numbers])


def _check_accuracies(numbers: Mapping[Any, Any], n_items: NDArray[np.int64], right: NDArray[np.int64]) -> None:
    """Warn of an accuracy that no whole number of right answers has, as far as its decimals say."""
    for (name, value), n, k in zip(numbers.items(), n_items.tolist(), right.tolist(), strict=True):
        rounding = 0.5 * 10.0 ** int(Decimal(str(value)).as_tuple().exponent)
        if abs(float(value) * n - k) > (rounding + 1e-12) * n:
            validate.warn(
                f"an accuracy of {value} ({name}) isn't that of any number of right answers among {n:,} items, such as "
                f"a mean over folds or seeds; it is taken for {k:,} of them, {k / n:.6g}."
            )


def _are_runs(data: Mapping[Any, Any]) -> bool:
    """Say whether arrays by system are right and wrong answers, items by runs, and no matrices."""
    plain = [np.asarray(one) for one in data.values() if isinstance(one, list | tuple | np.ndarray)]
    if not plain or len(plain) < len(data) or any(one.ndim != 2 for one in plain):
        return False
    square = all(one.shape[0] == one.shape[1] for one in plain)
    if square and len(plain[0]) > 2 and all(np.isin(one, [0, 1]).all() for one in plain):
        raise ValueError(
            "`counts` of 0 and 1 may be matrices, or the runs of as many items. Runs: bayescm.predictions([1] * n, "
            "{'A': runs_a, 'B': runs_b}, labels=[0, 1]); matrices: {'A': bayescm.from_array(matrix), ...}."
        )
    return not square


def _published(columns: Mapping[str, Any], names: Sequence[str] | None) -> xr.Dataset:
    """Return right and wrong answers of each system."""
    values = {name: np.atleast_1d(validate.count_values(name, columns[name])) for name in (_RIGHT, _WRONG)}
    validate.same_length(**values)
    if names is None and isinstance(columns[_RIGHT], Mapping):
        names = [str(name) for name in columns[_RIGHT]]
    made = xr.Dataset({name: (SYSTEM, value) for name, value in values.items()})
    return made if names is None else made.assign_coords({SYSTEM: list(names)})


def _of_long(frame: Any, found: Mapping[str, Any], columns: Mapping[str, Any], runs: Any = None) -> Any:
    """Return the answers of a frame with a row per system and item, or per run of it."""
    system, item = np.asarray(frame[found[SYSTEM]]).astype(str), np.asarray(frame[found[ITEM]]).astype(str)
    sides = {side(key): name for key, name in columns.items()}
    if found[_RIGHT] is None and not {ACTUAL, PREDICTED} <= set(sides):
        raise ValueError(
            f"`counts` as a frame with a row per system and item needs a column 'correct', or 'actual' and "
            f"'predicted'; it has {some(list(frame.columns))}."
        )
    rows = by_item(system, item, None if found[RUN] is None else np.asarray(frame[found[RUN]]).astype(str))
    if found[_RIGHT] is not None:
        right = np.asarray(frame[found[_RIGHT]])
        if runs is not None:
            return of_passes({name: right[of_system[:, 0]] for name, of_system in rows.items()}, runs)
        return _of_right({name: right[of_system] for name, of_system in rows.items()})
    actual, predicted = np.asarray(frame[sides[ACTUAL]]), np.asarray(frame[sides[PREDICTED]])
    truth = actual[next(iter(rows.values()))[:, 0]]
    several = np.any([(actual[of_system] != truth[:, None]).any(1) for of_system in rows.values()], axis=0)
    if several.any():
        name = item[next(iter(rows.values()))[several.argmax(), 0]]
        raise ValueError(f"`counts` as a frame has several true labels for item {name!r}; mend them.")
    return predictions(truth, {name: predicted[of_system] for name, of_system in rows.items()})


def _right_or_wrong(data: Any, leaderboard: bool) -> Any:
    """Take 0 and 1, items by systems, for wrong and right answers on a leaderboard."""
    framed = hasattr(data, "columns")
    plain = framed or isinstance(data, list | tuple | np.ndarray)
    try:
        values: NDArray[Any] = np.asarray(data) if plain else np.empty(0)
    except ValueError:  # rows of different lengths
        return data
    if values.ndim != 2 or not values.size or (framed and is_square(data)):
        return data
    right = as_right(values.ravel().tolist())
    absent = validate.missing(values)
    if absent.any() and as_right(values[~absent].tolist()) is not None:
        row, column = np.argwhere(absent)[0]
        raise ValueError(
            f"`counts` has no answer of system {column + 1} to item {row + 1}: leave out items that not all answered, "
            "such as frame.dropna(), or give {'correct': [...], 'wrong': [...]}."
        )
    if right is None and leaderboard and values.shape[0] != values.shape[1]:
        raise ValueError(
            f"`counts` of shape {values.shape} must be 0 and 1 here, items by systems; got "
            f"{some(values.ravel().tolist())}. Passes of 4 runs of an item are bayescm.leaderboard(passes, runs=4); of "
            "scores say what counts as right, such as scores > 2; right and wrong answers in numbers are {'correct': "
            "[...], 'wrong': [...]}."
        )
    if right is None:
        return data
    if not leaderboard:
        raise ValueError(
            "`data` of 0 and 1 may be predictions, or right answers. Predictions: bayescm.compare_systems(y_true, "
            "predictions); right answers: bayescm.compare_systems([1] * len(right), right); other counts: "
            "bayescm.compare_systems({'A': counts_a, 'B': counts_b})."
        )
    names = list(data.columns) if framed else [f"system_{i + 1}" for i in range(values.shape[1])]
    return _of_right({str(name): column for name, column in zip(names, np.reshape(right, values.shape).T, strict=True)})


def _of_right(right: Mapping[str, Any]) -> xr.Dataset:
    """Return right and wrong answers to the same items, as predictions of 1 where 1 is right."""
    known = {name: as_right(np.ravel(answers).tolist()) for name, answers in right.items()}
    for name, answers in known.items():
        if answers is None:
            raise ValueError(
                f"`correct` of {name!r} must be 0 and 1, False and True, or words such as 'pass' and 'fail'; got "
                f"{some(sorted(set(map(str, np.ravel(right[name]).tolist()))))}. Passes of 4 runs of an item are "
                "bayescm.leaderboard(passes, runs=4); of scores say what counts as right, such as scores > 2."
            )
    return right_answers(
        {name: np.reshape(np.array(known[name]), np.shape(answers)) for name, answers in right.items()}
    )


def as_right(values: Sequence[Any]) -> list[int] | None:
    """Return 1 for right and 0 for wrong answers, written as 0 and 1, True and False, or words; None for others."""
    known = [_AS_RIGHT.get(str(value).strip().casefold()) for value in values]
    return None if None in known else [one for one in known if one is not None]


def _frame(data: Mapping[Any, Any]) -> Any:
    import pandas as pd

    validate.same_length(**{str(name): np.asarray(values) for name, values in data.items()})
    return pd.DataFrame({name: np.asarray(values) for name, values in data.items()})
