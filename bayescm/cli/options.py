"""Options that commands share, and what is written in them."""

import argparse
from collections.abc import Callable, Iterable
from typing import Any

CELLS = ("tp", "fn", "fp", "tn")
PREVALENCE = "'fixed', a number, 1%%, or a,b of a Beta (default: estimated)"
_OPTIONS = {"side": "rows"}  # where the name of an option is another


def add_command(
    commands: Any, name: str, about: str, examples: str, run: Callable[[argparse.Namespace], int | None]
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
    add_unit(parser)
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


def add_stores(parser: argparse.ArgumentParser) -> None:
    """Add the options of counts and results that needn't fit into memory."""
    parser.add_argument("--input", metavar="PATH", help="many matrices: .zarr, .parquet or .csv; with --output")
    parser.add_argument(
        "--output",
        metavar="PATH",
        help="their results, .zarr or .parquet, written chunk by chunk; a second start goes on",
    )
    parser.add_argument("--chunk", type=int, default=10_000, metavar="N", help="matrices of a chunk (10000)")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a dask cluster that computes (default: threads)")


def add_systems(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which systems are meant."""
    parser.set_defaults(score=None, threshold=None, count="n", side=None)
    parser.add_argument("file", help="CSV file with the answers of several systems, or a row of counts for each")
    parser.add_argument("--item", metavar="COLUMN", help="column that names the item of each row")
    add_runs(parser)
    add_labels(parser)
    parser.add_argument(
        "--predicted",
        action="append",
        metavar="COLUMN",
        help="columns of predicted labels, with commas or repeated; one for each system",
    )
    parser.add_argument("--by", metavar="COLUMN", help="column that names the system of each row")
    parser.add_argument("--stratum", metavar="COLUMN", help="column of strata, at whose shares systems are compared")
    add_unit(parser)
    add_average(parser)


def add_runs(parser: argparse.ArgumentParser) -> None:
    """Add the option that says how often each item was run."""
    parser.add_argument(
        "--runs", type=int, metavar="M", help="the file says how many of so many runs of each item passed"
    )


def add_unit(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what was sampled, and what items weigh."""
    parser.add_argument(
        "--unit",
        metavar="COLUMN",
        help="column of what was sampled, with several rows each: patient, question, "
        "image; two that are crossed as reader,case",
    )
    parser.add_argument("--sample-weight", metavar="COLUMN", help="column of what each row stands for, on any scale")


def add_average(parser: argparse.ArgumentParser) -> None:
    """Add the option that says what is averaged where items come in units."""
    parser.add_argument("--average", help="of --unit: items (pooled, the default), units (the mean) or "
                        "fixed_units (the mean over these and no others)")  # fmt: skip


def add_model(
    parser: argparse.ArgumentParser, *, ci_kind: bool = True, about_prevalence: str | None = PREVALENCE
) -> None:
    """Add the options of the model and of its intervals, of one kind if there is no choice."""
    parser.add_argument("--model", default="dirichlet_multinomial", help="dirichlet_multinomial or three_binomial")
    parser.add_argument("--prior", help="a name such as jeffreys (default), laplace or perks, or a number")
    if about_prevalence is None:
        parser.set_defaults(prevalence=None)
    else:
        parser.add_argument("--prevalence", metavar="P", help=about_prevalence)
    parser.add_argument("--ci-prob", type=float, default=0.95, metavar="P", help="probability of the interval (0.95)")
    if ci_kind:
        parser.add_argument("--ci-kind", default="eti", help="eti (default) or hdi")


def model_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the model, as the library takes it."""
    return {
        "model": arguments.model,
        "prior": None if arguments.prior is None else number_or_word(arguments.prior),
        "prevalence": prevalence(arguments.prevalence),
    } | ({"average": arguments.average} if getattr(arguments, "average", None) else {})


def costs_of(text: str) -> dict[str, float]:
    """Return the costs of cells by name, such as fn=10,fp=1."""
    cells = (part.rpartition("=") for part in text.split(","))
    return {name.strip(): numbers("--costs", value)[0] for name, _, value in cells}


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
    if name == "--prevalence" and len(values) == 2 and "%" in text:
        raise ValueError(
            f"`{name}` as two numbers is a Beta's, such as 2,18 for what 2 positives among 20 items say; got {text!r}. "
            "A known prevalence is one number: that of the positives."
        )
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
