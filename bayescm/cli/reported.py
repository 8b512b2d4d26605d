"""``bayescm reported``: whether what a paper prints can be true, and what it leaves of the matrix."""

import argparse
from typing import Any

import bayescm
from bayescm.cli.options import add_command, metric_list
from bayescm.cli.output import Table, add_outputs, tell
from bayescm.priors.reported import ROUNDINGS
from bayescm.results.summaries import of_summary

EPILOG = """examples:
  bayescm reported precision=.85 recall=81% f1=.83 --n-items 1000              can this be true?
  bayescm reported precision=.85 recall=.81 f1=.83 --n-items 1000 --positives 300 --metrics mcc,accuracy
  bayescm reported f1=0.80 --n-items 500 --metrics f1                          how uncertain the printed F1 is
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "reported", "whether printed metrics can be true, and what they leave", EPILOG, _run)
    p.add_argument("numbers", nargs="+", metavar="METRIC=NUMBER", help="as it is printed: f1=0.80, recall=81.3%%")
    p.add_argument("--n-items", type=int, required=True, metavar="N", help="items of the test set")
    p.add_argument("--positives", type=int, metavar="N", help="those of the positive class, where they are printed")
    p.add_argument("--folds", type=int, default=1, metavar="K", help="numbers are means over K folds (default: 1)")
    p.add_argument("--rounding", choices=tuple(ROUNDINGS), default="nearest", help="how it was rounded (nearest)")
    p.add_argument("--metrics", metavar="LIST", help="say these, too, with their uncertainty")
    p.add_argument("--seed", type=int, metavar="N", help="seed of the draws of --metrics")
    add_outputs(p, "the matrices as a netCDF Dataset", None)


def _run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm reported``."""
    numbers = {}
    for text in arguments.numbers:
        name, sign, value = text.partition("=")
        if not sign:
            raise ValueError(f"give what is printed as METRIC=NUMBER, such as f1=0.80; got {text!r}.")
        if name in numbers:
            raise ValueError(f"{name} is given twice.")
        numbers[name] = value
    found = bayescm.from_reported(
        numbers, n_items=arguments.n_items, positives=arguments.positives, rounding=arguments.rounding,
        folds=arguments.folds,
    )  # fmt: skip
    document: dict[str, Any] = {name: found.attrs[name] for name in ("verdict", "at_odds")}
    document["matches"] = float(found["matches"])
    tables = {}
    if arguments.metrics and found.attrs["verdict"] != "impossible":
        summary = bayescm.summary(found, metric_list(arguments.metrics), random_seed=arguments.seed)
        document["metrics"] = of_summary(summary)
        tables["metrics"] = Table(summary.bayescm.tables()[0], str(summary.bayescm.sentence))
    tell(arguments, found, "reported", document, tables)
