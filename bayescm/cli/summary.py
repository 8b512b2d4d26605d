"""``bayescm summary``."""

import argparse
from typing import TYPE_CHECKING, Any

import bayescm
from bayescm.cli import resumable
from bayescm.cli.inputs import counts_of
from bayescm.cli.options import (
    CELLS,
    add_average,
    add_command,
    add_counts,
    add_model,
    add_runs,
    add_stores,
    metric_list,
    model_of,
    refuse,
)
from bayescm.cli.output import Table, add_outputs, of_draws, tell
from bayescm.cli.understood import matrices_of
from bayescm.data.schema import ACTUAL
from bayescm.results.writing import each

if TYPE_CHECKING:
    import xarray as xr

EPILOG = """examples:
  bayescm summary --tp 26 --fn 0 --fp 2 --tn 6 --model three_binomial --prior laplace
  bayescm summary 45 50                               45 of 50: one proportion
  bayescm summary 45 50 --method wilson               a confidence interval
  bayescm summary counts.csv                          columns actual,predicted,n, or tp,fn,fp,tn, or a square matrix
  bayescm summary predictions.csv                     columns actual,predicted: one row per item
  bayescm summary passes.csv --runs 4 --metrics pass^3   a row per task, how many of 4 runs passed
  bayescm summary scores.csv --score p --threshold 0.5   columns actual and p
  bayescm summary --input counts.zarr --output out.zarr  millions of matrices; started again it goes on
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "summary", "every metric with its uncertainty", EPILOG, run)
    add_counts(p)
    add_runs(p)
    add_average(p)
    p.add_argument("--metrics", metavar="LIST", help="names with commas or spaces, such as mcc,f1 (default: all)")
    p.add_argument(
        "--method", metavar="NAME", help="a confidence interval instead: wilson, clopper_pearson, bootstrap, ..."
    )
    add_model(p)
    p.set_defaults(proportion=False)
    p.add_argument("--prob", action="append", metavar="CLAIM", help="say P(CLAIM), such as 'mcc > 0.3'; repeatable")
    p.add_argument("--seed", type=int, metavar="N", help="seed of the draws, for the metrics that need them")
    add_stores(p)
    add_outputs(p, "posterior draws and summary as a netCDF DataTree", "a picture of the intervals")


def run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm summary``."""
    if arguments.input or arguments.output:
        _stored(arguments)
        return
    counts = counts_of(arguments)
    if arguments.method is not None:
        _confidence(arguments, counts)
        return
    settings = model_of(arguments) | {"random_seed": arguments.seed}
    metrics: Any = {"proportion": "recall"} if arguments.proportion else metric_list(arguments.metrics)
    found = bayescm.summary(counts, metrics, ci_prob=arguments.ci_prob, ci_kind=arguments.ci_kind, **settings)
    document: dict[str, Any] = {}
    tables: dict[str, Table] = {}
    if arguments.prob:
        claims = bayescm.probability(counts, arguments.prob, **settings)
        document["probabilities"] = rows = _claims(claims)
        tables["probabilities"] = Table(_without_errors(rows), "posterior probability of claims", of_draws(claims))
    tell(
        arguments, found, "metrics", document, tables, counts=matrices_of(counts),
        draw=lambda: bayescm.plots.plot_forest(found),
        data=lambda: with_draws(found, counts, metrics, settings),
    )  # fmt: skip


def with_draws(table: "xr.Dataset", counts: Any, metrics: Any, settings: dict[str, Any]) -> "xr.DataTree":
    """Return the posterior draws with the table."""
    tree = bayescm.posterior(counts, metrics=metrics, **settings)
    tree["summary"] = table
    return tree


def _confidence(arguments: argparse.Namespace, counts: "xr.DataArray") -> None:
    """Print frequentist intervals by the name of their method."""
    refuse(
        arguments, ("model", "prior", "prevalence", "ci_kind", "prob", "plot", "runs"),
        "doesn't apply to --method, a confidence interval; leave it out",
    )  # fmt: skip
    k = counts.sizes.get(ACTUAL, 2)
    usual = bayescm.metrics.resolve(None, k)
    fits = [metric.name for metric in usual if metric.ratio is not None or arguments.method in ("delta", "bootstrap")]
    metrics: Any = {"proportion": "recall"} if arguments.proportion else metric_list(arguments.metrics) or fits
    found = bayescm.interval(counts, metrics, arguments.method, ci_prob=arguments.ci_prob, random_seed=arguments.seed)
    tell(arguments, found, "metrics", counts=counts)


def _stored(arguments: argparse.Namespace) -> None:
    """Answer counts that needn't fit into memory, chunk by chunk, into a store."""
    refuse(
        arguments, (*CELLS, "score", "threshold", "side", "method", "prob", "json", "csv", "markdown", "save", "plot"),
        "doesn't apply to --input and --output; leave it out",
    )  # fmt: skip
    if arguments.file or not arguments.input or not arguments.output:
        raise ValueError("--input and --output go together, without another file.")
    known = model_of(arguments) | {"ci_prob": arguments.ci_prob, "ci_kind": arguments.ci_kind}
    metrics = metric_list(arguments.metrics)
    resumable.answer(
        arguments, {"metrics": metrics, **known},
        lambda counts, seed: bayescm.summary(counts, metrics, **known, random_seed=seed),
    )  # fmt: skip


def _claims(found: "xr.Dataset") -> list[dict[str, Any]]:
    """Return one record per matrix and claim."""
    numbers = ["probability", "error", "mcse_probability"]
    return [names | {name: float(one[name]) for name in numbers} for names, one in each(found[numbers], "probability")]


def _without_errors(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return claims as they are shown."""
    return [{name: row[name] for name in row if name not in ("error", "mcse_probability")} for row in rows]
