"""From arguments to what the library reads."""

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bayescm
from bayescm.cli.hints import NoFileError
from bayescm.cli.options import CELLS, refuse
from bayescm.cli.understood import matrices_of
from bayescm.data import texts
from bayescm.data.inputs import over_strata
from bayescm.data.recognisers import BOARD, COUNTS, SYSTEMS
from bayescm.data.shapes import is_scored, is_weighted

if TYPE_CHECKING:
    import xarray as xr

    from bayescm.data.evidence import Evidence

_COLUMNS = {
    "actual": "actual", "predicted": "predicted", "n": "count", "score": "score", "item": "item",
    "covariates": "covariates",
}  # fmt: skip
"""Columns by what they mean, and the options that name them."""
_NOT_THERE = re.compile(r"`(\w+)` doesn't apply")


def counts_of(arguments: argparse.Namespace, *, right: bool = False) -> "xr.DataArray":
    """Build counts from the cells given, from k of n, or from the file, which may have right and wrong answers."""
    cells = {name: getattr(arguments, name) for name in CELLS}
    given = [name for name, value in cells.items() if value is not None]
    words: list[str] = arguments.file
    arguments.file = words[0] if words else None
    if not words:
        if len(given) < 4:
            missing = ", ".join(f"--{name}" for name in cells if name not in given)
            raise NoFileError(
                f"give a CSV file (- for what is piped), or all four of --tp --fn --fp --tn (missing: {missing})."
            )
        _refuse_others(arguments, "counts given by name")
        return bayescm.from_cells(**cells)
    if given:
        raise ValueError(f"--{given[0]} and a file: give one of them.")
    if all(word.isdecimal() for word in words) and not Path(words[0]).exists():
        return _of_numbers([int(word) for word in words], arguments)
    if len(words) > 1:
        raise ValueError(f"give one file; got {', '.join(words)}.")
    if (arguments.score is None) != (arguments.threshold is None):
        raise ValueError("--score and --threshold go together.")
    evidence = _read(arguments, COUNTS, by=arguments.by)
    if evidence.kind == "scores":
        return bayescm.curves.counts_at_thresholds(evidence, thresholds=[arguments.threshold]).isel(threshold=0)
    as_they_are = (
        is_scored(evidence.data) or is_weighted(evidence.data) or (right and evidence.kind.startswith("right"))
    )
    if as_they_are or ("runs" in arguments and "run" in evidence.data.dims):
        return evidence.data  # type: ignore[no-any-return]
    counts = None if evidence.kind.startswith("right") else matrices_of(evidence.data)
    if counts is None:
        raise ValueError(f"{arguments.file} has {evidence.kind}, and this takes matrices; see bayescm leaderboard.")
    return counts


def systems_of(arguments: argparse.Namespace, *, published: bool = False) -> Any:
    """Return answers to the same items, a matrix for each system, or what was published: right and wrong answers."""
    if arguments.predicted:
        known = texts.read_text(arguments.file).columns
        named = [name for text in arguments.predicted for name in ([text] if text in known else text.split(","))]
        arguments.predicted = named if len(named) > 1 else named[0]  # of all systems, in rows that --by names
    about, stratum = BOARD if published else SYSTEMS, arguments.stratum
    if stratum is None:
        return _read(arguments, about, system=arguments.by).data
    refuse(arguments, ["unit"], "and --stratum: give one of them")
    arguments.unit = stratum
    try:
        return over_strata(_read(arguments, about, system=arguments.by).data, stratum)
    except ValueError as error:
        raise ValueError(str(error).replace("`unit`", "--stratum").replace("`stratum`", "--stratum")) from None


def _read(arguments: argparse.Namespace, about: str, **columns: Any) -> "Evidence":
    """Read the file, with the columns that are named."""
    default = arguments.parser.get_default
    known = vars(arguments)
    columns |= {what: known[name] for what, name in _COLUMNS.items() if name in known and known[name] != default(name)}
    try:
        return bayescm.read(
            arguments.file, about=about, pos_label=arguments.pos_label, rows=arguments.side, runs=known.get("runs"),
            unit=_units(known.get("unit")), sample_weight=known.get("sample_weight"), columns=columns,
        )  # fmt: skip
    except ValueError as error:
        raise ValueError(_NOT_THERE.sub(lambda match: _option(match[1]), str(error))) from None


def _units(text: str | None) -> str | tuple[str, ...] | None:
    """Return a column of units, or two that are crossed, which a comma parts."""
    parts = tuple((text or "").split(","))
    return parts if len(parts) == 2 else text


def _option(name: str) -> str:
    """Return the option by which something that doesn't apply was given."""
    options = _COLUMNS | {"system": "by"}
    return f"--{options.get(name, name).replace('_', '-')} doesn't apply"


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


def _refuse_others(arguments: argparse.Namespace, kind: str) -> None:
    """Refuse options of other kinds of input."""
    names = ["unit", "sample_weight"] if "unit" in arguments else []
    names += ["by", "score", "threshold", "pos_label", "side", "actual", "count"]
    names += [] if arguments.predicted in (None, "predicted") else ["predicted"]
    refuse(arguments, names, f"doesn't apply to {kind}; leave it out")


def at_thresholds(path: str, arguments: argparse.Namespace, thresholds: list[float] | None) -> "xr.DataArray":
    """Count at thresholds of a column of scores, or at every distinct score."""
    columns = {"actual": arguments.actual, "score": arguments.score}
    scores = bayescm.read(path, pos_label=arguments.pos_label, columns=columns)
    return bayescm.curves.counts_at_thresholds(
        scores, thresholds=thresholds, direction=getattr(arguments, "direction", "larger")
    )


def pos_label(frame: Any, arguments: argparse.Namespace) -> Any:
    """Return ``--pos-label`` in the type of the label column."""
    given = arguments.predicted or []
    names = [arguments.actual, *([given] if isinstance(given, str) else given)]
    return texts.positive_label(frame, names, arguments.pos_label)
