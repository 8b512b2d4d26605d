"""``bayescm replicate``: what a second test would show."""

import argparse
from typing import TYPE_CHECKING, Any

import bayescm
from bayescm.cli.inputs import counts_of
from bayescm.cli.options import add_command, add_counts, add_model, metric_list, model_of
from bayescm.cli.output import Table, add_outputs, of_draws, tell
from bayescm.results.names import of_metric
from bayescm.results.writing import bounds, each, percent

if TYPE_CHECKING:
    import xarray as xr

EPILOG = """examples:
  bayescm replicate --tp 26 --fn 0 --fp 2 --tn 6 --metrics mcc --claim "mcc > .5"
  bayescm replicate systems.csv --metrics f1 --n-items 200     columns tp,fn,fp,tn: also P(one shows more than another)
"""
_SELDOM = 0.0005  # an undefined metric that isn't worth a column


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    p = add_command(commands, "replicate", "what a second test would show", EPILOG, _run)
    add_counts(p)
    p.add_argument("--metrics", metavar="LIST", help="names with commas or spaces, such as mcc,f1 (default: all)")
    p.add_argument("--n-items", type=int, metavar="N", help="items of the second test (default: as many as the first)")
    p.add_argument(
        "--claim", action="append", metavar="CLAIM", help="say P(it shows CLAIM), such as 'mcc > 0.3'; repeatable"
    )
    add_model(p)
    p.add_argument("--seed", type=int, metavar="N", help="seed of the draws, where tests can't be enumerated")
    add_outputs(p, "the result as a netCDF Dataset", "a picture of the predictive intervals")


def _run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm replicate``."""
    counts = counts_of(arguments)
    found = bayescm.planning.replicate(
        counts, metric_list(arguments.metrics), n_items=arguments.n_items, claims=arguments.claim,
        ci_prob=arguments.ci_prob, ci_kind=arguments.ci_kind, random_seed=arguments.seed, **model_of(arguments),
    )  # fmt: skip
    made = {"metrics": _metrics(found), "claims": _claims(found), "pairs": _pairs(found)}
    made = {name: rows for name, rows in made.items() if rows}
    size = "as many items" if found.attrs["size"] == "null" else f"{found.attrs['size']:,} items"
    level = f"{percent(arguments.ci_prob)} {arguments.ci_kind.upper()}"
    titles = {
        "metrics": f"what a second test of {size} will show, prior {found.attrs['prior']}, {level}",
        "claims": "claims: probability that the second test shows it",
        "pairs": "one system and another: probability of a larger, and of an equal value",
    }
    tables = {name: Table(_short(rows), titles[name]) for name, rows in made.items()}
    tables["metrics"] = tables["metrics"]._replace(note=of_draws(found))
    tell(
        arguments, found, "metrics", made, tables, counts=counts,
        draw=lambda: bayescm.plots.plot_forest(found),
    )  # fmt: skip


def _metrics(found: "xr.Dataset") -> list[dict[str, Any]]:
    """Return a record per matrix and metric."""
    records = []
    for names, one in each(found, "mean"):
        numbers = {name: float(one[name]) for name in ("point", "mean", "median", "sd")}
        method = {"method": str(one["method"].item()), "mcse_mean": float(one["mcse_mean"])}
        found_one = numbers | bounds(one["interval"]) | {"undefined": float(one["undefined"])}
        records.append(names | of_metric(one) | found_one | method)
    return records


def _claims(found: "xr.Dataset") -> list[dict[str, Any]]:
    """Return a record per matrix and claim."""
    if "probability" not in found:
        return []
    return [
        {**names, "probability": float(one["probability"]), "mcse": float(one["mcse_probability"])}
        for names, one in each(found[["probability", "mcse_probability"]], "probability")
    ]


def _pairs(found: "xr.Dataset") -> list[dict[str, Any]]:
    """Return a record per metric and two systems."""
    if "probability_larger" not in found:
        return []
    return [
        {**names, **of_metric(one), "larger": float(one["probability_larger"]), "equal": float(one["ties"])}
        for names, one in each(found[["probability_larger", "ties"]], "probability_larger")
        if names["system"] != names["versus"]
    ]


def _short(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what is shown of records: P(0/0) where it may happen, and no errors or methods."""
    less = {"median", "method", "mcse_mean", "mcse"}
    less |= {"undefined"} if all(row.get("undefined", 0.0) < _SELDOM for row in rows) else set()
    return [{name: value for name, value in row.items() if name not in less} for row in rows]
