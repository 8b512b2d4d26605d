"""From arguments and tables to counts."""

import argparse
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import bayescm
from bayescm.cli import files
from bayescm.cli.files import numbers as numbers_of
from bayescm.cli.files import read
from bayescm.cli.options import CELLS, refuse
from bayescm.data.answers import as_right, read_passes, read_systems

if TYPE_CHECKING:
    import xarray as xr

_LABELS = ("actual", "predicted")


def counts_of(arguments: argparse.Namespace) -> "xr.DataArray":
    """Build counts from the cells given, from k of n, or from the file."""
    cells = {name: getattr(arguments, name) for name in CELLS}
    given = [name for name, value in cells.items() if value is not None]
    words: list[str] = arguments.file
    arguments.file = words[0] if words else None
    if not words:
        if len(given) < 4:
            missing = ", ".join(f"--{name}" for name in cells if name not in given)
            raise ValueError(f"give a CSV file, or all four of --tp --fn --fp --tn (missing: {missing}).")
        _refuse_others(arguments, "counts given by name")
        return bayescm.from_cells(**cells)
    if given:
        raise ValueError(f"--{given[0]} and a file: give one of them.")
    if all(word.isdecimal() for word in words) and not Path(words[0]).exists():
        return _of_numbers([int(word) for word in words], arguments)
    if len(words) > 1:
        raise ValueError(f"give one file; got {', '.join(words)}.")
    return _from_frame(read(words[0]), arguments)


def _of_numbers(numbers: list[int], arguments: argparse.Namespace) -> "xr.DataArray":
    """Take two numbers for k of n, and say how to give four."""
    if len(numbers) == 2 and 0 <= numbers[0] <= numbers[1] and "metrics" in arguments:
        _refuse_others(arguments, "k of n")
        refuse(arguments, ["metrics"], "doesn't apply to k of n, which is one proportion; leave it out")
        arguments.metrics = "recall"
        arguments.proportion = True
        return bayescm.from_cells(tp=numbers[0], fn=numbers[1] - numbers[0], fp=0, tn=0)
    if len(numbers) == 4:
        a, b, c, d = numbers
        raise ValueError(
            f"which of {a}, {b}, {c} and {d} is which? TP FN FP TN: --tp {a} --fn {b} --fp {c} --tn {d}; test+ and "
            f"test- as rows, TP FP FN TN: --tp {a} --fp {b} --fn {c} --tn {d}; scikit-learn's TN FP FN TP: "
            f"--tn {a} --fp {b} --fn {c} --tp {d}."
        )
    raise ValueError("give a CSV file, two whole numbers (k of n), or all four of --tp --fn --fp --tn.")


def systems_of(arguments: argparse.Namespace, *, published: bool = False) -> Any:
    """Return answers to the same items, a matrix for each system, or what was published: right and wrong answers."""
    frame = read(arguments.file)
    given = [name for text in arguments.predicted or [] for name in ([text] if text in frame else text.split(","))]
    arguments.predicted = given or None
    one_column = arguments.by and len(given) == 1  # of all systems, in rows that --by names
    if given and not one_column:
        _refuse_others(arguments, "several columns of predicted labels", "pos_label", *_LABELS)
        require(frame, arguments.file, [arguments.actual, *arguments.predicted])
        true, *predicted = files.labels(frame[arguments.actual], *(frame[name] for name in arguments.predicted))
        answers = dict(zip(arguments.predicted, predicted, strict=True))
        if len(answers) < max(2, len(arguments.predicted)):
            raise ValueError("--predicted must name two different columns at least, one per system.")
        return bayescm.predictions(true, answers, pos_label=pos_label(frame, arguments))
    columns = _columns(frame)
    right = _right_of(frame, columns, arguments)
    if right is not None:
        _refuse_others(arguments, "right and wrong answers", "by", *_LABELS)
        return right
    if published and {"correct", "wrong"} <= set(columns):
        _refuse_others(arguments, "right and wrong answers", "by", *_LABELS)
        return _from_right_and_wrong(frame, columns, arguments.by)
    if not arguments.by and not set(CELLS) <= set(columns):
        raise ValueError(
            f"{arguments.file} has the columns {', '.join(map(str, frame.columns))}; wanted are tp, fn, fp and tn with "
            "a row per system; or say which columns are --predicted labels, or which one names the system of each row "
            "(--by) and which one its item (--item). How many of an item's runs passed is --runs 4."
        )
    counts = _from_frame(frame, argparse.Namespace(**vars(arguments) | {"predicted": [*given, "predicted"][0]}))
    return counts.rename({arguments.by: "system"}) if arguments.by in counts.dims else counts


def _right_of(frame: Any, columns: dict[str, Any], arguments: argparse.Namespace) -> Any:
    """Return right and wrong answers to the same items; None where a file has something else.

    A row per system and item (``--by``, ``--item``), or a row per item and a column per system, all of them 0 and 1, or
    pass and fail.
    """
    import pandas as pd

    item, by = arguments.item or columns.get("item"), arguments.by or columns.get("system")
    require(frame, arguments.file, [name for name in (arguments.item, arguments.by) if name])
    if arguments.runs is not None:
        return _of_passes(frame, columns, arguments, item, by)
    if item is not None and by is not None:
        named = {"system": frame[by], "item": frame[item]} | (
            {"run": frame[columns["run"]]} if "run" in columns else {}
        )
        if "correct" in columns and arguments.actual not in frame:
            right = as_right(frame[columns["correct"]].tolist())
            return None if right is None else read_systems(pd.DataFrame(named | {"correct": right}), leaderboard=True)
        predicted = [*(arguments.predicted or ()), "predicted"][0]
        require(frame, arguments.file, [arguments.actual, predicted])
        if arguments.pos_label is not None:
            raise ValueError(
                "--pos-label doesn't apply to a row per system and item yet; write the classes as 0 and 1."
            )
        true, answers = files.labels(frame[arguments.actual], frame[predicted])
        long = pd.DataFrame(named | {"actual": true, "predicted": answers})
        arguments.by = None
        return read_systems(long, leaderboard=True)
    if arguments.actual in frame:
        return None
    found = {str(name): as_right(frame[name].tolist()) for name in frame.columns if name != item}
    kept = {name: right for name, right in found.items() if right is not None}
    left = len(found) - len(kept)  # a first column may name the items
    if len(kept) < 2 or left > (item is None) or (left and found[str(frame.columns[0])] is not None):
        return None
    return read_systems(pd.DataFrame(kept), leaderboard=True)


def _of_passes(frame: Any, columns: dict[str, Any], arguments: argparse.Namespace, item: Any, by: Any) -> Any:
    """Return answers of how many runs of each item passed: a column per system, or a row per system and item."""
    import pandas as pd

    if item is not None and by is not None:
        passes = next((columns[name] for name in ("passes", "passed", "correct") if name in columns), None)
        if passes is None:
            raise ValueError(f"{arguments.file} has no column 'passes' for --runs; it has {', '.join(columns)}.")
        named = {"system": frame[by], "item": frame[item], "passes": numbers_of(frame, passes)}
        return read_passes(pd.DataFrame(named), arguments.runs)
    kept = [name for name in frame.columns if name != item]
    if item is None and not all(map(files.is_number, frame[kept[0]])):
        kept = kept[1:]  # the names of the items
    return read_passes({name: numbers_of(frame, name) for name in kept}, arguments.runs)


def _refuse_others(arguments: argparse.Namespace, kind: str, *used: str) -> None:
    """Refuse options of other kinds of input."""
    names = ["by", "score", "threshold", "pos_label", "side", "actual", "count"]
    names += [] if arguments.predicted in (None, "predicted") else ["predicted"]
    others = [name for name in names if name not in used]
    refuse(arguments, others, f"doesn't apply to {kind}; leave it out")


def _from_frame(frame: Any, arguments: argparse.Namespace) -> "xr.DataArray":
    """Take a table for what its columns say."""
    columns = _columns(frame)
    if set(CELLS) <= set(columns):
        _refuse_others(arguments, "a file with one matrix per row", "by")
        return _from_rows_of_cells(frame, columns, arguments.by)
    if arguments.score is not None or arguments.threshold is not None:
        _refuse_others(arguments, "scores", "score", "threshold", "pos_label", "actual")
        return _from_scores(frame, arguments)
    if arguments.actual in frame and arguments.predicted in frame:
        return _from_long(frame, arguments)
    if _is_square(frame):
        _refuse_others(arguments, "a square matrix", "pos_label", "side")
        return _from_square(frame, arguments)
    raise ValueError(
        f"{arguments.file} has the columns {', '.join(map(str, frame.columns))}; wanted are {arguments.actual} and "
        f"{arguments.predicted} (see --actual, --predicted), or tp, fn, fp, tn, or --score and --threshold, "
        "or a square matrix with labels."
    )


def _from_long(frame: Any, arguments: argparse.Namespace) -> "xr.DataArray":
    """Take a row for a cell, or for an item."""
    import pandas as pd

    _refuse_others(arguments, "columns of labels", "by", "pos_label", "count", *_LABELS)
    if arguments.count != arguments.parser.get_default("count"):
        require(frame, arguments.file, [arguments.count])
    count = arguments.count if arguments.count in frame else None
    by = [arguments.by] if arguments.by else []
    require(frame, arguments.file, [*by])
    no_empty_cell(frame, [arguments.actual, arguments.predicted, count])
    true, predicted = files.labels(frame[arguments.actual], frame[arguments.predicted])
    columns = {arguments.actual: true, arguments.predicted: predicted}
    columns |= {name: files.labels(frame[name])[0] for name in by}
    columns |= {} if count is None else {count: numbers_of(frame, count)}
    names = {"actual": arguments.actual, "predicted": arguments.predicted, "n": count}
    return bayescm.from_table(pd.DataFrame(columns), by=by, pos_label=pos_label(frame, arguments), **names)


def _is_square(frame: Any) -> bool:
    """Say whether a table looks like a matrix with labels, maybe with margins: in all but the first column numbers."""
    rows, body = set(frame.iloc[:, 0]), frame.iloc[:, 1:]
    if body.shape[1] < 2 or abs(len(body) - body.shape[1]) > 1 or not all(files.is_number(v) for v in body.values.flat):
        return False
    return bool(rows & set(body.columns)) or not any(files.is_number(label) for label in rows)


def _from_square(frame: Any, arguments: argparse.Namespace) -> "xr.DataArray":
    """Take a matrix whose labels are in the first row and the first column."""
    import pandas as pd

    rows, columns = frame.iloc[:, 0].tolist(), frame.columns[1:].tolist()
    no_empty_cell(frame, [frame.columns[0]])
    of_rows, of_columns = files.labels(rows, columns)
    values = np.stack([numbers_of(frame, name) for name in columns], 1)
    index = pd.Index(of_rows.tolist(), name=frame.columns[0] or None)
    known = dict(zip([*rows, *columns], [*of_rows.tolist(), *of_columns.tolist()], strict=True))
    given = known.get(arguments.pos_label, arguments.pos_label)
    pair = [] if given is None or given in known.values() else str(given).split(",")
    given = tuple(known.get(word.strip(), word.strip()) for word in pair) if len(pair) == 2 else given
    square = pd.DataFrame(values, index, of_columns.tolist())
    return bayescm.from_array(square, rows=arguments.side, pos_label=given)


def _columns(frame: Any) -> dict[str, Any]:
    """Return the columns by their names in small letters."""
    columns: dict[str, Any] = {}
    for name in frame.columns:
        key = name.lower()
        if key in columns and key in (*CELLS, "correct", "wrong"):
            raise ValueError(f"two columns are called {columns[key]!r} and {name!r}; give each a name of its own.")
        columns.setdefault(key, name)
    return columns


def require(frame: Any, path: str, names: Sequence[str]) -> None:
    """Refuse a table without these columns, or with rows where one is empty."""
    for name in names:
        if name not in frame:
            raise ValueError(f"{path} has no column {name!r}; it has {', '.join(map(str, frame.columns))}.")
    no_empty_cell(frame, names)


def no_empty_cell(frame: Any, names: Sequence[str | None]) -> None:
    """Refuse rows where something is missing."""
    for name in names:
        if name in frame and (empty := (frame[name] == "").to_numpy()).any():
            raise ValueError(f"column {name!r} is empty in row {int(empty.argmax()) + 1} of the table.")


def pos_label(frame: Any, arguments: argparse.Namespace) -> Any:
    """Return ``--pos-label`` in the type of the label column."""
    if arguments.pos_label is None:
        return None
    given = arguments.predicted or []
    names = [arguments.actual, *([given] if isinstance(given, str) else given)]
    columns = [frame[name] for name in names if name in frame]
    texts = [text for column in columns for text in column]
    values = [value for array in files.labels(*columns) for value in array.tolist()]
    known = dict(zip(texts, values, strict=True)) | {str(value): value for value in values}
    pair = [word.strip() for word in arguments.pos_label.split(",")]
    if len(pair) == 2 and set(pair) <= set(known):
        return known[pair[0]], known[pair[1]]
    if arguments.pos_label not in known:
        raise ValueError(
            f"--pos-label must be one of {', '.join(sorted({*map(str, values)}))}; got {arguments.pos_label}."
        )
    return known[arguments.pos_label]


def _from_rows_of_cells(frame: Any, columns: dict[str, Any], by: str | None) -> "xr.DataArray":
    """Take each row for a matrix, named by ``--by`` or by the first column that isn't a cell."""
    no_empty_cell(frame, [columns[name] for name in CELLS])
    cells: dict[str, Any] = {name: numbers_of(frame, columns[name]) for name in CELLS}
    counts = bayescm.from_cells(**cells)
    names = _names_of_rows(frame, columns, CELLS, by)
    if names is None:
        return counts.isel(system=0) if len(frame) == 1 else counts.assign_coords(system=range(1, len(frame) + 1))
    return counts.assign_coords(system=names)


def _from_right_and_wrong(frame: Any, columns: dict[str, Any], by: str | None) -> "xr.Dataset":
    """Take each row for a system of which only right and wrong answers are known."""
    import xarray as xr

    no_empty_cell(frame, [columns[name] for name in ("correct", "wrong")])
    variables = {name: ("system", numbers_of(frame, columns[name])) for name in ("correct", "wrong")}
    names = _names_of_rows(frame, columns, variables, by)
    return xr.Dataset(variables, coords={"system": names or [str(row) for row in range(1, len(frame) + 1)]})


def _names_of_rows(frame: Any, columns: dict[str, Any], counted: Collection[str], by: str | None) -> list[str] | None:
    """Name rows by ``--by``, or by the first column that isn't counted."""
    if by is not None and by not in frame:
        raise ValueError(f"--by must be a column; got {by!r}.")
    others = [name for key, name in columns.items() if key not in counted]
    if by is None and not others:
        return None
    named = by or others[0]
    no_empty_cell(frame, [named])
    return [str(value) for value in frame[named]]


def _from_scores(frame: Any, arguments: argparse.Namespace) -> "xr.DataArray":
    """Cut scores at the threshold."""
    if arguments.score is None or arguments.threshold is None:
        raise ValueError("--score and --threshold go together.")
    return at_thresholds(frame, arguments, [arguments.threshold]).isel(threshold=0)


def at_thresholds(frame: Any, arguments: argparse.Namespace, thresholds: list[float] | None) -> "xr.DataArray":
    """Count at thresholds of a column of scores, or at every distinct score."""
    names = [arguments.actual, arguments.score]
    require(frame, arguments.file, names)
    (true,), score = files.labels(frame[arguments.actual]), numbers_of(frame, arguments.score)
    return bayescm.counts_at_thresholds(
        true, score, thresholds=thresholds, pos_label=pos_label(frame, arguments),
        direction=getattr(arguments, "direction", "larger"),
    )  # fmt: skip
