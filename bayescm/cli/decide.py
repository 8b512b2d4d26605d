"""``bayescm decide``: what acting on a classifier costs, and whether it is worth it."""

import argparse
from typing import TYPE_CHECKING, Any

import bayescm
from bayescm.cli.inputs import at_thresholds, counts_of
from bayescm.cli.options import add_command, add_counts, add_model, costs_of, model_of, numbers, refuse
from bayescm.cli.output import add_outputs, console, ends, finite, positive, print_assumptions, print_records
from bayescm.cli.saving import written
from bayescm.cli.understood import print_counts
from bayescm.cli.understood import records as understood
from bayescm.results.escape import for_console
from bayescm.results.plans import action, of_actions
from bayescm.results.writing import each

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
    rows = of_actions(found)
    made = {"settings": dict(found.attrs), "counts": understood(counts), "actions": finite(rows)}
    if arguments.thresholds is not None:
        made["thresholds"] = finite(_useful(found))
    if not written(arguments, lambda: found, lambda: made, "actions", lambda: bayescm.plot_decision_curve(found)[0]):
        print_counts(counts)
        _print(rows, found)


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
        return counts, bayescm.decision_curve(counts, at, **options)
    refuse(arguments, ["threshold"], "is one of --thresholds here; leave it out")
    if len(arguments.file) != 1:
        raise ValueError("--score is a column of a CSV file; give one file.")
    counts = at_thresholds(arguments.file[0], arguments, at)
    return counts, bayescm.decision_curve(counts, **options)


def _useful(found: "xr.Dataset") -> list[dict[str, Any]]:
    """Return the probability that the classifier beats both other actions."""
    cells = each(found[["probability_useful"]], "probability_useful")
    return [names | {"probability_useful": float(cell["probability_useful"])} for names, cell in cells]


def _print(rows: list[dict[str, Any]], found: "xr.Dataset") -> None:
    """Print the table, and what it comes to."""
    attrs, costs = found.attrs, "best" in found
    level = f"{100 * attrs['ci_prob']:g}% {str(attrs['ci_kind']).upper()}"
    last = {"probability_best": "P(least)", "expected_regret": "regret"}
    shown = []
    for row in rows:
        words = {name: value for name, value in row.items() if name in found.dims}
        shown.append(words | {"mean": row["mean"], "interval": ends(row)}
                     | {said: row[name] for name, said in last.items() if name in row})  # fmt: skip
    caption = "net benefit: true positives per item, less false ones by the odds of the threshold"
    if costs:
        caption = "cost per item; regret: beyond the best action, by who knew the truth"
    title = f"expected {'cost' if costs else 'net benefit'}, prior {attrs['prior']}, {level}"
    print_records(shown, title, caption + positive(attrs), left=found.dims)
    if costs:
        console().print(for_console(action(found)), highlight=False)
    else:
        useful = [{name: one[name] for name in one if name in found.dims} | {"P(useful)": one["probability_useful"]}
                  for one in _useful(found)]  # fmt: skip
        print_records(useful, "better than calling all positive, and than calling none", "", left=found.dims)
    print_assumptions(attrs)
