"""From arguments and tables to counts."""

import argparse
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import bayescm
from bayescm.cli import files
from bayescm.cli.files import numbers as numbers_of
from bayescm.cli.files import read
from bayescm.data.inputs import as_right, read_passes, read_systems

if TYPE_CHECKING:
    import xarray as xr

CELLS = ("tp", "fn", "fp", "tn")
_OPTIONS = {"side": "rows"}  # where the name of an option is another


def add_command(
    commands: Any, name: str, about: str, examples: str, run: Callable[[argparse.Namespace], None]
) -> argparse.ArgumentParser:
    """Add a command that `run` carries out."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=about, epilog=examples, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.set_defaults(run=run, parser=parser)
    return parser


def refuse(arguments: argparse.Namespace, names: Iterable[str], why: str) -> None:
    """Refuse options that were given and would have no effect."""
    for name in names:
        if getattr(arguments, name) != arguments.parser.get_default(name):
            raise ValueError(f"--{_OPTIONS.get(name, name).replace('_', '-')} {why}.")


def add_counts(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which counts are meant."""
    parser.add_argument(
        "file",
        nargs="*",
        help="CSV file of counts, predictions or scores (also ; or tabs, .xlsx); or two numbers: k of n",
    )
    add_cells(parser)
    add_labels(parser)
    parser.add_argument("--predicted", default="predicted", metavar="COLUMN", help="column of predicted labels")
    parser.add_argument("--count", default="n", metavar="COLUMN", help="column of counts (default: n)")
    parser.add_argument("--score", metavar="COLUMN", help="column of scores, with --threshold")
    parser.add_argument("--threshold", type=float, metavar="T", help="positive where the score is at least T")
    parser.add_argument("--by", metavar="COLUMN", help="column that names the system of each row")
    parser.add_argument(
        "--rows", dest="side", metavar="SIDE", help="truth or test: what the rows of a square matrix are"
    )


def add_cells(parser: argparse.ArgumentParser, of: str = "") -> None:
    """Add the four counts."""
    for cell in CELLS:
        parser.add_argument(f"--{cell}", type=int, metavar="N", help=f"the count {cell.upper()}{of}")


def add_labels(parser: argparse.ArgumentParser) -> None:
    """Add the options of actual labels."""
    parser.add_argument(
        "--actual", default="actual", metavar="COLUMN", help="column of actual labels (default: actual)"
    )  # fmt: skip
    parser.add_argument(
        "--pos-label",
        metavar="LABEL",
        help="the positive class (default: 1, or that of a pair like yes, no); A,B: that "
        "of the truth and that of the test",
    )


def add_systems(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which systems are meant."""
    parser.set_defaults(score=None, threshold=None, count="n", side=None)
    parser.add_argument("file", help="CSV file with the answers of several systems, or a row of counts for each")
    parser.add_argument("--item", metavar="COLUMN", help="column that names the item of each row")
    parser.add_argument(
        "--runs", type=int, metavar="M", help="the file says how many of so many runs of each item passed"
    )
    add_labels(parser)
    parser.add_argument(
        "--predicted",
        action="append",
        metavar="COLUMN",
        help="columns of predicted labels, with commas or repeated; one for each system",
    )
    parser.add_argument("--by", metavar="COLUMN", help="column that names the system of each row")


PREVALENCE = "'fixed', a number, 1%%, or a,b of a Beta (default: estimated)"


def add_model(
    parser: argparse.ArgumentParser, ci_kind: str | None = "hdi", about_prevalence: str | None = PREVALENCE
) -> None:
    """Add the options of the model and of its intervals, of one kind if there is no choice."""
    parser.add_argument("--model", default="dirichlet_multinomial", help="dirichlet_multinomial or three_binomial")
    parser.add_argument("--prior", help="a name such as jeffreys (default), laplace or perks, or a number")
    if about_prevalence is None:
        parser.set_defaults(prevalence=None)
    else:
        parser.add_argument("--prevalence", metavar="P", help=about_prevalence)
    parser.add_argument("--ci-prob", type=float, default=0.95, metavar="P", help="probability of the interval (0.95)")
    if ci_kind is not None:
        other = "eti" if ci_kind == "hdi" else "hdi"
        parser.add_argument("--ci-kind", default=ci_kind, help=f"{ci_kind} (default) or {other}")


def model_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the model, as the library takes it."""
    return {
        "model": arguments.model,
        "prior": None if arguments.prior is None else number_or_word(arguments.prior),
        "prevalence": prevalence(arguments.prevalence),
    }


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
        _refuse_others(arguments, "several columns of predicted labels", "pos_label")
        require(frame, arguments.file, [arguments.actual, *arguments.predicted])
        true, *predicted = files.labels(frame[arguments.actual], *(frame[name] for name in arguments.predicted))
        answers = dict(zip(arguments.predicted, predicted, strict=True))
        if len(answers) < max(2, len(arguments.predicted)):
            raise ValueError("--predicted must name two different columns at least, one per system.")
        return bayescm.predictions(true, answers, pos_label=pos_label(frame, arguments))
    columns = _columns(frame)
    right = _right_of(frame, columns, arguments)
    if right is not None:
        _refuse_others(arguments, "right and wrong answers", "by")
        return right
    if published and {"correct", "wrong"} <= set(columns):
        _refuse_others(arguments, "right and wrong answers", "by")
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
    others = [name for name in ("by", "score", "threshold", "pos_label", "side") if name not in used]
    refuse(arguments, others, f"doesn't apply to {kind}; leave it out")


def _from_frame(frame: Any, arguments: argparse.Namespace) -> "xr.DataArray":
    """Take a table for what its columns say."""
    columns = _columns(frame)
    if set(CELLS) <= set(columns):
        _refuse_others(arguments, "a file with one matrix per row", "by")
        return _from_rows_of_cells(frame, columns, arguments.by)
    if arguments.score is not None or arguments.threshold is not None:
        _refuse_others(arguments, "scores", "score", "threshold", "pos_label")
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

    _refuse_others(arguments, "columns of labels", "by", "pos_label")
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


def number_or_word(text: str) -> str | float | list[float]:
    """Return text as a number, or as numbers with commas, where it is that."""
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        return text
    return values[0] if len(values) == 1 else values


def numbers(name: str, text: str, kind: Callable[[str], Any] = float) -> list[Any]:
    """Read an option that is numbers with commas."""
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        wanted = "numbers" if kind is float else "whole numbers"
        raise ValueError(f"`{name}` must be {wanted} with commas; got {text!r}.") from None


def prevalence(text: str | None, name: str = "--prevalence") -> Any:
    """Read ``--prevalence``, or the option of this name."""
    if text is None or text == "fixed":
        return text
    try:
        values = [
            float(part.rstrip("% ")) / 100 if part.rstrip().endswith("%") else float(part) for part in text.split(",")
        ]
    except ValueError:
        wanted = "'fixed', a number, percent or numbers with commas"
        raise ValueError(f"`{name}` must be {wanted}; got {text!r}.") from None
    return values[0] if len(values) == 1 else values


def metric_list(text: str | None) -> list[str] | None:
    """Split names at commas and spaces outside parentheses."""
    if text is None:
        return None
    depth, words, word = 0, [], ""
    for character in text:
        depth += (character == "(") - (character == ")")
        if character in ", " and depth == 0:
            words.append(word)
            word = ""
        else:
            word += character
    return [w for w in (*words, word) if w]
