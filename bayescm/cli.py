"""The command line: ``bayescm summary``."""

import argparse
import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bayescm

if TYPE_CHECKING:
    import xarray as xr

EPILOG = """examples:
  bayescm summary --tp 26 --fn 0 --fp 2 --tn 6 --model three_binomial --prior laplace
  bayescm summary counts.csv                          columns actual,predicted,n, or tp,fn,fp,tn, or a square matrix
  bayescm summary predictions.csv                     columns actual,predicted: one row per item
  bayescm summary scores.csv --score p --threshold 0.5   columns actual and p
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, or 2 for an error said in one line."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    _say_what_takes_long()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            _summary(arguments)
        for warning in caught:
            print(f"bayescm: warning: {warning.message}", file=sys.stderr)
    except (ValueError, TypeError, OSError) as error:
        if isinstance(error, OSError) and error.filename and error.strerror:
            error = OSError(f"{error.filename}: {error.strerror}.")
        print(f"bayescm: error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


def _say_what_takes_long() -> None:
    """Send the library's notices (the first call on a machine compiles) to the standard error."""
    import logging

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("bayescm: %(message)s"))
    logger = logging.getLogger("bayescm")
    logger.setLevel(logging.INFO)
    logger.handlers = [handler]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bayescm", description="How uncertain is a confusion matrix?")
    parser.add_argument("--version", action="version", version=f"bayescm {bayescm.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    s = commands.add_parser(
        "summary", help="every metric with its uncertainty", epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    s.add_argument("file", nargs="?", help="CSV file of counts, predictions or scores")
    for cell in ("tp", "fn", "fp", "tn"):
        s.add_argument(f"--{cell}", type=int, metavar="N", help=f"the count {cell.upper()}")
    s.add_argument("--actual", default="actual", metavar="COLUMN", help="column of actual labels (default: actual)")
    s.add_argument("--predicted", default="predicted", metavar="COLUMN", help="column of predicted labels")
    s.add_argument("--count", default="n", metavar="COLUMN", help="column of counts (default: n)")
    s.add_argument("--score", metavar="COLUMN", help="column of scores, with --threshold")
    s.add_argument("--threshold", type=float, metavar="T", help="positive where the score is at least T")
    s.add_argument("--by", metavar="COLUMN", help="column that names the system of each row")
    s.add_argument("--pos-label", metavar="LABEL", help="the positive class (default: 1, or the last in order)")
    s.add_argument("--metrics", metavar="LIST", help="names with commas or spaces, such as mcc,f1 (default: all)")
    s.add_argument("--model", default="dirichlet_multinomial", help="dirichlet_multinomial or three_binomial")
    s.add_argument("--prior", default="jeffreys", help="a name such as jeffreys, laplace or perks, or a number")
    s.add_argument("--prevalence", metavar="P", help="'fixed', a number, or a,b of a Beta (default: estimated)")
    s.add_argument("--ci-prob", type=float, default=0.95, metavar="P", help="probability of the interval (0.95)")
    s.add_argument("--ci-kind", default="hdi", help="hdi or eti")
    s.add_argument("--prob", action="append", metavar="CLAIM", help="say P(CLAIM), such as 'mcc > 0.3'; repeatable")
    s.add_argument("--seed", type=int, metavar="N", help="seed of the draws, for the metrics that need them")
    s.add_argument("--json", action="store_true", help="print JSON instead of a table")
    s.add_argument("--save", metavar="FILE.nc", help="save posterior draws and summary as a netCDF DataTree")
    s.add_argument("--plot", metavar="FILE.png", help="save a picture of the intervals")
    return parser


def _summary(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm summary``."""
    counts = _counts(arguments)
    settings: dict[str, Any] = {
        "model": arguments.model,
        "prior": _number_or_word(arguments.prior),
        "prevalence": _prevalence(arguments.prevalence),
        "random_seed": arguments.seed,
    }
    metrics = _metric_list(arguments.metrics)
    interval = {"ci_prob": arguments.ci_prob, "ci_kind": arguments.ci_kind}
    table = bayescm.summary(counts, metrics, **settings, **interval)
    found = None
    if arguments.prob:
        known = {name: value for name, value in settings.items() if name != "random_seed"}
        found = bayescm.probability(counts, arguments.prob, **known)
    if arguments.save:
        tree = bayescm.posterior(counts, metrics=metrics, **settings)
        tree["summary"] = table
        tree.to_netcdf(arguments.save, engine="h5netcdf")
    if arguments.plot:
        _save_plot(table, Path(arguments.plot))
    if arguments.json:
        print(json.dumps(_as_json(table, found), indent=1))
    else:
        _print(table, counts)
        if found is not None:
            _print_claims(found)


def _number_or_word(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _prevalence(text: str | None) -> Any:
    """Read ``--prevalence``."""
    if text is None or text == "fixed":
        return text
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"`--prevalence` must be 'fixed', a number or numbers with commas; got {text!r}.") from None
    return values[0] if len(values) == 1 else values


def _metric_list(text: str | None) -> list[str] | None:
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


def _counts(arguments: argparse.Namespace) -> "xr.DataArray":
    """Build counts from the cells given, or from the file."""
    cells = {name: getattr(arguments, name) for name in ("tp", "fn", "fp", "tn")}
    given = [name for name, value in cells.items() if value is not None]
    if arguments.file is None:
        if len(given) < 4:
            missing = ", ".join(f"--{name}" for name in cells if name not in given)
            raise ValueError(f"give a CSV file, or all four of --tp --fn --fp --tn (missing: {missing}).")
        _refuse_others(arguments, "counts given by name")
        return bayescm.from_cells(**cells)
    if given:
        raise ValueError(f"--{given[0]} and a file: give one of them.")
    return _from_frame(_read(arguments.file), arguments)


def _refuse_others(arguments: argparse.Namespace, kind: str, *used: str) -> None:
    """Refuse options that would have no effect."""
    for name in ("by", "score", "threshold", "pos_label"):
        if getattr(arguments, name) is not None and name not in used:
            raise ValueError(f"--{name.replace('_', '-')} doesn't apply to {kind}; leave it out.")


def _read(path: str) -> Any:
    """Read a CSV file; empty cells stay text, so that "NA" can be a label."""
    import pandas as pd

    try:
        return pd.read_csv(path, keep_default_na=False, skipinitialspace=True)
    except pd.errors.EmptyDataError:
        raise ValueError(f"{path} is empty.") from None
    except (pd.errors.ParserError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a CSV file that can be read: {error}.") from None


def _from_frame(frame: Any, arguments: argparse.Namespace) -> "xr.DataArray":
    """Take a table for what its columns say."""
    columns = {str(name).strip().lower(): name for name in frame.columns}
    if {"tp", "fn", "fp", "tn"} <= set(columns):
        _refuse_others(arguments, "a file with one matrix per row", "by")
        return _from_rows_of_cells(frame, columns, arguments.by)
    if arguments.score is not None or arguments.threshold is not None:
        _refuse_others(arguments, "scores", "score", "threshold", "pos_label")
        return _from_scores(frame, arguments)
    if arguments.actual in frame and arguments.predicted in frame:
        count = arguments.count if arguments.count in frame else None
        by = [arguments.by] if arguments.by else []
        _no_empty_cell(frame, [arguments.actual, arguments.predicted, count, *by])
        names = {"actual": arguments.actual, "predicted": arguments.predicted, "n": count}
        return bayescm.from_table(frame, by=by, pos_label=_pos_label(frame, arguments), **names)
    square = frame.set_index(frame.columns[0])
    if square.shape[1] > 1 and [str(row) for row in square.index] == [str(column) for column in square.columns]:
        _refuse_others(arguments, "a square matrix")
        return bayescm.from_array(square.to_numpy(), labels=list(square.index))
    raise ValueError(
        f"{arguments.file} has the columns {', '.join(map(str, frame.columns))}; wanted are {arguments.actual} and "
        f"{arguments.predicted} (see --actual, --predicted), or tp, fn, fp, tn, or --score and --threshold, "
        "or a square matrix with labels."
    )


def _no_empty_cell(frame: Any, names: Sequence[str | None]) -> None:
    """Refuse rows where something is missing."""
    for name in names:
        if name in frame and (empty := (frame[name].astype(str).str.strip() == "").to_numpy()).any():
            raise ValueError(f"column {name!r} is empty in row {int(empty.argmax()) + 1} of the table.")


def _pos_label(frame: Any, arguments: argparse.Namespace) -> Any:
    """Return ``--pos-label`` in the type of the label column."""
    if arguments.pos_label is None:
        return None
    known = frame[arguments.actual].unique().tolist()
    if arguments.predicted in frame:
        known += frame[arguments.predicted].unique().tolist()
    by_text = {str(value): value for value in known}
    if arguments.pos_label not in by_text:
        raise ValueError(f"--pos-label must be one of {', '.join(sorted(by_text))}; got {arguments.pos_label}.")
    return by_text[arguments.pos_label]


def _from_rows_of_cells(frame: Any, columns: dict[str, Any], by: str | None) -> "xr.DataArray":
    """Take each row for a matrix, named by ``--by`` or by the first column that isn't a cell."""
    cells = {name: frame[columns[name]].to_numpy() for name in ("tp", "fn", "fp", "tn")}
    if by is not None and by not in frame:
        raise ValueError(f"--by must be a column; got {by!r}.")
    counts = bayescm.from_cells(**cells)
    others = [name for key, name in columns.items() if key not in cells]
    if by is None and not others:
        return counts.isel(system=0) if len(frame) == 1 else counts.assign_coords(system=range(1, len(frame) + 1))
    return counts.assign_coords(system=[str(value) for value in frame[by or others[0]]])


def _from_scores(frame: Any, arguments: argparse.Namespace) -> "xr.DataArray":
    """Cut scores at the threshold."""
    if arguments.score is None or arguments.threshold is None:
        raise ValueError("--score and --threshold go together.")
    names = [arguments.actual, arguments.score]
    absent = [name for name in names if name not in frame]
    if absent:
        raise ValueError(f"{arguments.file} has no column {absent[0]!r}; it has {', '.join(map(str, frame.columns))}.")
    _no_empty_cell(frame, names)
    true, score = (frame[name] for name in names)
    pos_label = _pos_label(frame, arguments)
    counts = bayescm.counts_at_thresholds(true, score, thresholds=[arguments.threshold], pos_label=pos_label)
    return counts.isel(threshold=0)


def _save_plot(table: "xr.Dataset", path: Path) -> None:
    """Draw the forest without a screen."""
    import matplotlib as mpl

    mpl.use("agg")
    figure = bayescm.plot_forest(table).get_figure(root=True)
    assert figure is not None  # plot_forest made it
    figure.savefig(path, dpi=150)


def _rows(table: "xr.Dataset") -> list[dict[str, Any]]:
    """Return one record per matrix and metric."""
    batch = [str(dim) for dim in table["mean"].dims if dim != "metric"]
    stacked = table.stack(row=[*batch, "metric"], create_index=False) if batch else table.rename(metric="row")
    records = []
    for i in range(stacked.sizes["row"]):
        one = stacked.isel(row=i)
        records.append(
            {
                **{dim: one[dim].item() for dim in batch},
                "metric": str(one["metric" if batch else "row"].item()),
                **{name: float(one[name]) for name in ("point", "mean", "median", "sd")},
                "lower": float(one["interval"][0]),
                "upper": float(one["interval"][1]),
                "ci_kind": str(one["ci_kind"].item()),
                "mcse_mean": float(one["mcse_mean"]),
                "mcse_lower": float(one["mcse_interval"][0]),
                "mcse_upper": float(one["mcse_interval"][1]),
                "method": str(one["method"].item()),
            }
        )
    return records


def _claims(found: "xr.Dataset") -> list[dict[str, Any]]:
    """Return one record per matrix and claim."""
    batch = [str(dim) for dim in found["probability"].dims if dim != "claim"]
    one = found.stack(row=[*batch, "claim"], create_index=False) if batch else found.rename(claim="row")
    names = {**{dim: dim for dim in batch}, "claim": "claim" if batch else "row"}
    return [
        {
            **{name: one[key].values[i].item() for name, key in names.items()},
            "probability": float(one["probability"][i]),
            "error": float(one["error"][i]),
        }
        for i in range(one.sizes["row"])
    ]


def _print_claims(found: "xr.Dataset") -> None:
    """Print the probabilities of claims."""
    from rich.markup import escape
    from rich.table import Table

    rows = _claims(found)
    sheet = Table(title="posterior probability", caption="error: relative, estimated")
    for name in rows[0]:
        sheet.add_column(name, justify="right" if name in ("probability", "error") else "left", no_wrap=True)
    for row in rows:
        *words, value, error = row.values()
        shown = f"1 - {1 - value:.2g}" if 0.999 < value < 1 else _show(value)
        sheet.add_row(*(escape(str(word)) for word in words), shown, f"{error:.0e}" if error else "0")
    _console().print(sheet)


def _as_json(table: "xr.Dataset", found: "xr.Dataset | None") -> dict[str, Any]:
    """Return records and settings; what isn't finite becomes text, because JSON has no word for it."""

    def plain(value: Any) -> Any:
        return str(value) if isinstance(value, float) and not abs(value) < float("inf") else value

    records = [{name: plain(value) for name, value in row.items()} for row in _rows(table)]
    made = {"settings": dict(table.attrs), "metrics": records}
    return made if found is None else {**made, "probabilities": _claims(found)}


def _print(table: "xr.Dataset", counts: "xr.DataArray") -> None:
    """Print tables to the terminal."""
    from rich.markup import escape
    from rich.table import Table

    attrs = table.attrs
    prior = attrs["prior"]
    sheet = Table(
        title=f"{attrs['model']}, prior {escape(str(prior))}, {100 * attrs['ci_prob']:g}% {attrs['ci_kind'].upper()}",
        caption="point: value of the counts" + _about_draws(table),
    )
    rows = _rows(table)
    batch = [name for name in rows[0] if name in counts.dims]
    for name in (*batch, "metric"):
        sheet.add_column(name, no_wrap=True)
    for name in ("point", "mean", "sd", "lower", "upper"):
        sheet.add_column(name, justify="right", no_wrap=True)
    sheet.add_column("method", no_wrap=True)
    for row in rows:
        method = row["method"] if row["method"] == "exact" else _with_error(row)
        if row["ci_kind"] != attrs["ci_kind"]:
            method += f", {row['ci_kind']}"
        numbers = [_show(row[name]) for name in ("point", "mean", "sd", "lower", "upper")]
        sheet.add_row(*(escape(str(row[name])) for name in (*batch, "metric")), *numbers, method)
    _console().print(sheet)


def _console() -> Any:
    """Return a console that is 100 columns wide where there is no terminal."""
    from rich.console import Console

    return Console(soft_wrap=False, width=None if sys.stdout.isatty() else 100)


def _about_draws(table: "xr.Dataset") -> str:
    drawn = bool((table["method"] == "draws").any())
    return "; draws ±: largest Monte Carlo error of the row" if drawn else "; exact: no Monte Carlo"


def _with_error(row: dict[str, Any]) -> str:
    """Say how far the draws may be off: the largest error in the row."""
    errors = [row[name] for name in ("mcse_mean", "mcse_lower", "mcse_upper") if row[name] == row[name]]
    return f"draws ±{max(errors):.1g}" if errors else "draws"


def _show(value: float) -> str:
    """Format a number for the table."""
    if value != value:
        return "-"
    return f"{value:.3f}" if 0.001 <= abs(value) < 1000 or value == 0 else f"{value:.2g}"


if __name__ == "__main__":
    sys.exit(main())
