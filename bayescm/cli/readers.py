"""``bayescm readers``: several readers of the same cases."""

import argparse
from typing import Any

import bayescm
from bayescm.cli.options import add_command
from bayescm.cli.output import add_outputs, tell

EPILOG = """examples:
  bayescm readers readings.csv                        columns truth,rating,reader,case,modality: a row per reading
  bayescm readers readings.csv --predicted call --metric recall
  bayescm readers readings.csv --difference 0.05      power with more readers and cases
"""
_COLUMNS = {
    "actual": "actual labels", "score": "scores or ratings", "predicted": "calls", "reader": "readers",
    "case": "cases", "system": "systems, such as modalities",
}  # fmt: skip


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "readers", "several readers of the same cases", EPILOG, _run)
    p.add_argument("file", help="CSV file (also ; or tabs, .xlsx, .parquet, .json) with a row for each reading")
    for name, of in _COLUMNS.items():
        p.add_argument(f"--{name}", metavar="COLUMN", help=f"column of {of} (default: one that is called so)")
    p.add_argument("--metric", choices=("auc", "accuracy", "recall", "specificity"), help="of each reader")
    p.add_argument("--covariances", choices=("delong", "jackknife", "bootstrap"), help="how found (default: delong)")
    p.add_argument("--direction", choices=("larger", "smaller"), help="scores that mean positive (default: larger)")
    p.add_argument("--pos-label", metavar="LABEL", help="the positive class")
    p.add_argument("--difference", type=float, metavar="D", help="say the power to find such a difference")
    p.add_argument("--ci-prob", type=float, metavar="P", help="probability of the interval (0.95)")
    p.add_argument("--seed", dest="random_seed", type=int, metavar="N", help="seed of the draws")
    add_outputs(p, "the result as a netCDF Dataset", "intervals of means and differences")


def _run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm readers``."""
    names = (*_COLUMNS, "metric", "covariances", "direction", "pos_label", "difference", "ci_prob", "random_seed")
    given = {name: value for name in names if (value := getattr(arguments, name)) is not None}
    found = bayescm.readers(arguments.file, **given)
    tell(arguments, found, "estimates", draw=lambda: bayescm.plots.plot_forest(found))
