"""``bayescm prevalence``: what a test means where the disease is more or less frequent."""

import argparse
from typing import Any

import bayescm
from bayescm.cli.inputs import counts_of
from bayescm.cli.options import add_command, add_counts, add_model, metric_list, model_of, prevalence
from bayescm.cli.output import add_outputs, tell

EPILOG = """examples:
  bayescm prevalence --tp 90 --fn 10 --fp 5 --tn 95                       PPV and NPV where 1%, 5%, ... have it
  bayescm prevalence --tp 90 --fn 10 --fp 5 --tn 95 --at 0.1%,30% --metrics PPV
  bayescm prevalence counts.csv --plot prevalence.png                    the whole curve
"""
_AT = "1%,5%,10%,20%,50%"


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "prevalence", "metrics at other prevalences", EPILOG, _run)
    add_counts(p)
    p.add_argument("--at", default=_AT, metavar="LIST", help=f"known prevalences ({_AT.replace('%', '%%')})")
    p.add_argument("--metrics", default="PPV,NPV", metavar="LIST", help="names with commas or spaces (PPV,NPV)")
    add_model(p, about_prevalence=None)
    p.add_argument("--seed", type=int, metavar="N", help="seed of the draws, for the metrics that need them")
    add_outputs(p, "the result as a netCDF Dataset", "a picture over all prevalences")


def _run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm prevalence``."""
    counts, metrics, at = counts_of(arguments), metric_list(arguments.metrics), prevalence(arguments.at, "--at")
    options = {name: value for name, value in model_of(arguments).items() if name != "prevalence"}
    options |= {name: getattr(arguments, name) for name in ("ci_prob", "ci_kind")} | {"random_seed": arguments.seed}
    found = bayescm.planning.at_prevalences(counts, metrics, at, **options)
    tell(
        arguments, found, "metrics", counts=counts, note="the rates of each class stay those of these items",
        draw=lambda: bayescm.plots.plot_prevalence(bayescm.planning.at_prevalences(counts, metrics, **options)),
    )  # fmt: skip
