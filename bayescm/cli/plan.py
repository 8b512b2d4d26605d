"""``bayescm plan``: how many items a test needs."""

import argparse
from typing import TYPE_CHECKING, Any

import bayescm
from bayescm.cli.options import CELLS, add_cells, add_command, add_model, metric_list, model_of, numbers, refuse
from bayescm.cli.output import Table, add_outputs, tell
from bayescm.results.names import of_metric
from bayescm.results.plans import of_contest, of_sizes
from bayescm.results.writing import each, percent

if TYPE_CHECKING:
    import xarray as xr

EPILOG = """examples:
  bayescm plan --width .1                                   accuracy around 0.8: how many items
  bayescm plan sensitivity --width .1 --mode .9             around 0.9, give or take .05
  bayescm plan --metrics recall,specificity --width .1 --prevalence .3 --mode recall=.8,specificity=.95
  bayescm plan --metrics mcc --width .2 --prevalence .3 --tp 20 --fn 4 --fp 3 --tn 60     after a pilot
  bayescm plan --n-items 100,200,500 --plot widths.png        how long the interval will be
  bayescm plan --difference .05 --mode .85                  to find a system of .85 better than one of .80
  bayescm plan --difference .05 --mode .85 --discordance .1    the same, both systems on the same items
"""
_NOT_OF_DIFFERENCES = (*CELLS, "fixed_totals", "prevalence", "ci_kind")
_PREVALENCE = "of the items to come: a number, or a,b of a Beta; plans whole tests (default: proportions alone)"


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "plan", "how many items a test needs", EPILOG, _run)
    p.add_argument("of", nargs="?", metavar="METRICS", help="of which metrics: names with commas (accuracy)")
    p.add_argument("--metrics", dest="metric", metavar="LIST", help="the same")
    p.add_argument("--width", type=float, metavar="W", help="find the items for an interval of at most this length")
    p.add_argument("--lower", type=float, metavar="L", help="find the items for one bound of at least this")
    p.add_argument("--method", metavar="NAME", help="wilson, clopper_pearson, ...; or a formula: buderer, connor, ...")
    p.add_argument("--n-items", metavar="LIST", help="find the length of the interval for these numbers of items")
    p.add_argument("--difference", type=float, metavar="D", help="find the items to see that one system is D better")
    p.add_argument("--discordance", type=float, metavar="P", help="of --difference: same items, P right for one only")
    p.add_argument("--assurance", type=float, metavar="P", help="how probable that must be (0.95; differences: 0.8)")
    p.add_argument("--error-rate", type=float, metavar="P", help="of --difference: how often equal ones may seem not")
    p.add_argument("--mode", default="0.8", metavar="W", help="most probable rate (0.8); or recall=.9,specificity=.8")
    p.add_argument("--concentration", metavar="K", help="how sure that is, in items (10; differences: known); or none")
    add_cells(p, " of a pilot, instead of mode and concentration")
    p.add_argument("--fixed-totals", action="store_true", help="the test will have exactly these shares of classes")
    p.add_argument("--unit-size", type=float, metavar="M", help="of --width, --difference: items of a unit")
    p.add_argument("--icc", type=float, metavar="R", help="of --unit-size: how alike two items of a unit are (0 to 1)")
    add_model(p, about_prevalence=_PREVALENCE)
    add_outputs(p, "the result as a netCDF Dataset", "a picture of the length against the items, with --n-items")


def _run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm plan``."""
    if arguments.of is not None and arguments.metric is not None:
        raise ValueError(f"give the metrics once; got {arguments.of} and --metrics {arguments.metric}.")
    arguments.metric = arguments.of or arguments.metric or "accuracy"
    if sum(getattr(arguments, name) is not None for name in ("width", "lower", "n_items", "difference")) != 1:
        raise ValueError(
            "give one of --width, --lower and --difference, to find the items, or --n-items, to find the width."
        )
    if arguments.width is None and arguments.difference is None:
        refuse(arguments, ["unit_size", "icc"], "is for --width and --difference; leave it out")
    if arguments.n_items is None:
        refuse(arguments, ["plot"], "draws the widths of --n-items; give these")
    if arguments.difference is None:
        refuse(arguments, ["discordance", "error_rate"], "is for --difference; leave it out")
        found, records = _alone(arguments)
    else:
        refuse(arguments, _NOT_OF_DIFFERENCES, "doesn't apply to --difference; leave it out")
        found, records = _contest(arguments)
    attrs = found.attrs
    tables: dict[str, Table] = {}
    if arguments.n_items is not None:
        level = f"{percent(attrs['ci_prob'])} {attrs['ci_kind'].upper()}, {percent(attrs['assurance'])} assurance"
        tables["plan"] = Table(records, f"width of the interval, {level}", "rule: 2 / sqrt(items)")
    tell(
        arguments, found, "plan", {"plan": records}, tables, draw=lambda: bayescm.plots.plot_interval_width(found)
    )  # fmt: skip


def _alone(arguments: argparse.Namespace) -> "tuple[xr.Dataset, list[dict[str, Any]]]":
    """Plan the test of one system."""
    metrics, settings = metric_list(arguments.metric), _settings(arguments)
    if arguments.n_items is not None:
        found = bayescm.planning.interval_width(metrics, numbers("--n-items", arguments.n_items, int), **settings)
        return found, _widths(found)
    units = {name: getattr(arguments, name) for name in ("unit_size", "icc")}
    found = bayescm.sample_size(metrics, width=arguments.width, lower=arguments.lower, **settings, **units)
    return found, of_sizes(found)


def _contest(arguments: argparse.Namespace) -> "tuple[xr.Dataset, list[dict[str, Any]]]":
    """Plan the comparison of two systems."""
    first = numbers("--mode", arguments.mode)[0]
    sign = 1 if bayescm.metrics.resolve(arguments.metric, 2)[0].loss else -1
    second = round(first + sign * arguments.difference, 12)
    names = ("discordance", "method", "ci_prob", "assurance", "error_rate", "unit_size", "icc")
    options = {name: getattr(arguments, name) for name in names}
    options["concentration"] = _rates("--concentration", arguments.concentration)
    model = {name: value for name, value in model_of(arguments).items() if name != "prevalence"}
    given = {name: value for name, value in options.items() if value is not None}
    found = bayescm.planning.sample_size_to_compare(first, second, metric=arguments.metric, **given, **model)
    return found, of_contest(found)


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what is thought of the classifier and of its test."""
    cells = {name: getattr(arguments, name) for name in CELLS}
    given = [name for name in CELLS if cells[name] is not None]
    if given and len(given) < len(CELLS):
        missing = ", ".join(f"--{name}" for name in CELLS if name not in given)
        raise ValueError(f"a pilot needs all four of --tp --fn --fp --tn (missing: {missing}).")
    if given:
        refuse(arguments, ["mode", "concentration"], "doesn't apply to a pilot; leave it out")
    settings = model_of(arguments)
    if isinstance(settings["prevalence"], list):
        settings["prevalence"] = tuple(settings["prevalence"])
    settings |= {name: getattr(arguments, name) for name in ("fixed_totals", "ci_prob", "ci_kind", "method")}
    settings["assurance"] = 0.95 if arguments.assurance is None else arguments.assurance
    settings["mode"] = _rates("--mode", arguments.mode)
    settings["concentration"] = _rates("--concentration", arguments.concentration or "10")
    settings["pilot"] = bayescm.from_cells(**cells) if given else None
    return settings


def _rates(name: str, text: str | None) -> Any:
    """Read a number, or numbers for recall, specificity and others."""
    if text in (None, "none"):
        return None
    parts = dict(part.split("=", 1) for part in text.split(",") if "=" in part)
    if not parts:
        return numbers(name, text)[0]
    return {key.strip(): numbers(name, value)[0] for key, value in parts.items()}


def _widths(found: "xr.Dataset") -> list[dict[str, Any]]:
    """Return a record per metric and number of items: how long its interval will be."""
    return [
        of_metric(one)
        | {"items": names["n_items"], "about": str(one["about"].item())}
        | {name: float(one[name]) for name in ("width", "mean_width", "rule")}
        for names, one in each(found, "width")
    ]
