"""``bayescm gaps``: how far groups are apart."""

import argparse
from typing import Any

import bayescm
from bayescm.cli.inputs import counts_of
from bayescm.cli.options import add_command, add_counts, metric_list
from bayescm.cli.output import add_outputs, tell

EPILOG = """examples:
  bayescm gaps groups.csv                             a row per group: tp,fn,fp,tn and its name
  bayescm gaps predictions.csv --by group             columns actual,predicted,group: a row per item
  bayescm gaps groups.csv --metrics recall --rope 0.1 --pooled
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "gaps", "how far groups are apart", EPILOG, _run)
    add_counts(p)
    p.add_argument("--metrics", metavar="LIST", help="names with commas or spaces (selection rate, recall, ...)")
    p.add_argument("--rope", type=float, default=0.05, metavar="D", help="a gap that doesn't matter (0.05)")
    p.add_argument(
        "--pooled", action=argparse.BooleanOptionalAction, help="whether groups learn from one another (from five on)"
    )
    p.add_argument("--seed", type=int, metavar="N", help="seed of the draws")
    add_outputs(p, "the gaps as a netCDF Dataset", None)


def _run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm gaps``."""
    found = bayescm.gaps(
        counts_of(arguments), metrics=metric_list(arguments.metrics), rope=arguments.rope, pooled=arguments.pooled,
        random_seed=arguments.seed,
    )  # fmt: skip
    tell(arguments, found, "gaps")
