"""``bayescm prevalence``: what a test means where the disease is more or less frequent."""

import argparse
from typing import Any

import bayescm
from bayescm.cli.inputs import counts_of
from bayescm.cli.options import add_command, add_counts, add_model, metric_list, model_of, prevalence
from bayescm.cli.output import add_outputs, ends, finite, positive, print_assumptions, print_records
from bayescm.cli.saving import written
from bayescm.cli.understood import print_counts
from bayescm.cli.understood import records as understood
from bayescm.data.schema import ALIAS, METRIC
from bayescm.results.summaries import of_summary

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
    found = bayescm.at_prevalences(counts, metrics, at, **options)
    rows = of_summary(found)
    made = {"settings": dict(found.attrs), "counts": understood(counts), "metrics": finite(rows)}

    def draw() -> Any:
        return bayescm.plot_prevalence(bayescm.at_prevalences(counts, metrics, **options))

    if written(arguments, lambda: found, lambda: made, "metrics", draw):
        return
    print_counts(counts)
    words = (*counts.dims, "prevalence", METRIC, ALIAS)
    shown = [{name: value for name, value in row.items() if name in words}
             | {"mean": row["mean"], "interval": ends(row)} for row in rows]  # fmt: skip
    level = f"{100 * found.attrs['ci_prob']:g}% {str(found.attrs['ci_kind']).upper()}"
    caption = "the rates of each class stay those of these items" + positive(found.attrs)
    title = f"at other prevalences, prior {found.attrs['prior']}, {level}"
    print_records(shown, title, caption, left=[*map(str, counts.dims), METRIC])
    print_assumptions(found.attrs)
