"""``bayescm drift``: whether a series is worse than at its start, and since when."""

import argparse
from typing import Any

import bayescm
from bayescm.cli.inputs import counts_of
from bayescm.cli.options import add_command, add_counts
from bayescm.cli.output import add_outputs, tell

EPILOG = """examples:
  bayescm drift weeks.csv                             a row per week, in order: tp,fn,fp,tn or correct,wrong
  bayescm drift predictions.csv --by week             columns actual,predicted,week: a row per item
  bayescm drift weeks.csv --metrics recall --rope 0.02
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "drift", "whether a series (weeks, releases) is worse than at its start", EPILOG, _run)
    add_counts(p)
    p.add_argument("--metrics", dest="metric", default="accuracy", metavar="NAME", help="the metric (accuracy)")
    p.add_argument("--rope", type=float, default=0.0, metavar="D", help="a loss that doesn't matter (0)")
    p.add_argument("--ci-prob", type=float, default=0.95, metavar="P", help="from which P(worse) on it is said (0.95)")
    p.add_argument("--seed", type=int, metavar="N", help="seed of the draws")
    add_outputs(p, "the series as a netCDF Dataset", "the series with its intervals")


def _run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm drift``."""
    found = bayescm.drift(
        counts_of(arguments, right=True), arguments.metric, rope=arguments.rope, ci_prob=arguments.ci_prob,
        random_seed=arguments.seed,
    )  # fmt: skip
    tell(arguments, found, "periods", draw=found.bayescm.plot)
