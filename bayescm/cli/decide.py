"""``bayescm decide``: what acting on a classifier costs, and whether it is worth it."""

import argparse
from typing import TYPE_CHECKING, Any

import bayescm
from bayescm.cli.inputs import at_thresholds, counts_of
from bayescm.cli.options import add_command, add_counts, add_model, costs_of, model_of, numbers, refuse
from bayescm.cli.output import Table, add_outputs, tell
from bayescm.results.plans import of_actions
from bayescm.results.writing import each, percent

if TYPE_CHECKING:
    import xarray as xr

EPILOG = """examples:
  bayescm decide --tp 26 --fn 4 --fp 20 --tn 150 --costs fn=10,fp=1      a miss costs ten false alarms
  bayescm decide systems.csv --costs fn=10,fp=1 --prevalence 1%        columns tp,fn,fp,tn: which system, or none
  bayescm decide --tp 26 --fn 4 --fp 20 --tn 150 --thresholds .05,.2,.5      net benefit instead of costs
  bayescm decide scores.csv --score p --thresholds .05,.2,.5           the same of calibrated probabilities
"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "decide", "what acting on a classifier costs, and whether it is worth it", EPILOG, _run)
    add_counts(p)
    p.add_argument("--costs", metavar="LIST", help="of an item of each cell, such as fn=10,fp=1; gains are negative")
    p.add_argument("--thresholds", metavar="LIST", help="net benefit instead: how probable a case must be to act")
    p.add_argument("--decision-prob", type=float, metavar="P", help="of --costs: what a decision needs (0.95)")
    add_model(p)
    p.set_defaults(ci_kind=None)
    p.add_argument("--seed", type=int, metavar="N", help="seed of the draws")
    add_outputs(p, "the result as a netCDF Dataset", "the decision curve of --thresholds")


def _run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm decide``."""
    if (arguments.costs is None) == (arguments.thresholds is None):
        raise ValueError("give --costs, such as fn=10,fp=1, or --thresholds, such as .05,.2,.5, for the net benefit.")
    options = model_of(arguments) | {"ci_prob": arguments.ci_prob, "random_seed": arguments.seed}
    options |= {} if arguments.ci_kind is None else {"ci_kind": arguments.ci_kind}
    counts, found = _costs(arguments, options) if arguments.thresholds is None else _benefit(arguments, options)
    document: dict[str, Any] = {}
    tables: dict[str, Table] = {}
    if "best" not in found:
        document = {"actions": of_actions(found), "thresholds": _useful(found)}
        title = f"expected net benefit, prior {found.attrs['prior']}, {percent(found.attrs['ci_prob'])} "
        note = "net benefit: true positives per item, less false ones by the odds of the threshold"
        tables = {
            "actions": Table(_benefits(document["actions"], found), title + found.attrs["ci_kind"].upper(), note),
            "thresholds": Table(document["thresholds"], "better than calling all positive, and than calling none"),
        }
    tell(
        arguments, found, "actions", document, tables, counts=counts,
        draw=lambda: bayescm.plots.plot_decision_curve(found)[0],
    )  # fmt: skip


def _benefits(rows: list[dict[str, Any]], found: "xr.Dataset") -> list[dict[str, Any]]:
    """Return what is shown of the net benefit of every action."""
    names = (*found.dims, "mean", "lower", "upper")
    return [{str(name): row[str(name)] for name in names if name in row} for row in rows]


def _costs(arguments: argparse.Namespace, options: dict[str, Any]) -> "tuple[xr.DataArray, xr.Dataset]":
    """Compare the expected costs of actions."""
    refuse(arguments, ["plot"], "draws the net benefit of --thresholds; give these")
    counts = counts_of(arguments)
    sure = {} if arguments.decision_prob is None else {"decision_prob": arguments.decision_prob}
    return counts, bayescm.decide(counts, costs_of(arguments.costs), **sure, **options)


def _benefit(arguments: argparse.Namespace, options: dict[str, Any]) -> "tuple[xr.DataArray, xr.Dataset]":
    """Compare the net benefit of actions at threshold probabilities."""
    refuse(arguments, ["decision_prob"], "is for --costs; leave it out")
    at = numbers("--thresholds", arguments.thresholds)
    if arguments.score is None:
        counts = counts_of(arguments)
        return counts, bayescm.planning.decision_curve(counts, at, **options)
    refuse(arguments, ["threshold"], "is one of --thresholds here; leave it out")
    if len(arguments.file) != 1:
        raise ValueError("--score is a column of a CSV file; give one file.")
    counts = at_thresholds(arguments.file[0], arguments, at)
    return counts, bayescm.planning.decision_curve(counts, **options)


def _useful(found: "xr.Dataset") -> list[dict[str, Any]]:
    """Return the probability that the classifier beats both other actions."""
    cells = each(found[["probability_useful"]], "probability_useful")
    return [names | {"probability_useful": float(cell["probability_useful"])} for names, cell in cells]
