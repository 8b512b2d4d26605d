"""``bayescm synthesis``: studies of one test together."""

import argparse
from typing import Any

import bayescm
from bayescm.cli.inputs import counts_of
from bayescm.cli.options import add_command, add_counts, add_model, metric_list, model_of, refuse
from bayescm.cli.output import add_outputs, tell

EPILOG = """examples:
  bayescm synthesis studies.csv                       a row per study: its name and tp,fn,fp,tn, or correct,wrong
  bayescm synthesis studies.csv --prevalence 0.1      predictive values where the test will be used
  bayescm synthesis studies.csv --plot sroc.png       studies, summary ROC curve, regions
  bayescm synthesis studies.csv --covariates design   how studies of one design differ from those of another
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "synthesis", "studies of one test together", EPILOG, _run)
    add_counts(p)
    p.add_argument("--metrics", metavar="LIST", help="names with commas or spaces (recall, specificity, ratios)")
    p.add_argument("--covariates", metavar="LIST", help="columns of what studies differ in: design, year, which test")
    add_model(p)
    p.set_defaults(prior=None)
    p.add_argument("--seed", type=int, metavar="N", help="seed of the draws")
    add_outputs(p, "draws, summary, curve and regions as a netCDF DataTree", "the studies on the ROC plane")


def _run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm synthesis``."""
    refuse(arguments, ["model"], "doesn't apply: studies have the model 'regression'; leave it out")
    arguments.covariates = metric_list(arguments.covariates)
    counts, known = counts_of(arguments, right=True), model_of(arguments)
    known.pop("model")
    known |= {"covariates": arguments.covariates} if arguments.covariates else {}
    found = bayescm.synthesis(
        counts, metric_list(arguments.metrics), ci_prob=arguments.ci_prob, ci_kind=arguments.ci_kind,
        random_seed=arguments.seed, **known,
    )  # fmt: skip
    tell(arguments, found, "estimates", draw=lambda: bayescm.plots.plot_region(found))
