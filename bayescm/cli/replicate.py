"""``bayescm replicate``: what a second test would show."""

import argparse
from typing import TYPE_CHECKING, Any

import bayescm
from bayescm.cli.inputs import counts_of
from bayescm.cli.options import add_command, add_counts, add_model, metric_list, model_of
from bayescm.cli.output import add_outputs, ends, finite, positive, print_assumptions, print_records
from bayescm.cli.saving import written
from bayescm.cli.understood import print_counts
from bayescm.cli.understood import records as understood
from bayescm.data.schema import ALIAS
from bayescm.results.names import of_metric
from bayescm.results.writing import bounds, each

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
    found = bayescm.replicate(
        counts, metric_list(arguments.metrics), n_items=arguments.n_items, claims=arguments.claim,
        ci_prob=arguments.ci_prob, ci_kind=arguments.ci_kind, random_seed=arguments.seed, **model_of(arguments),
    )  # fmt: skip
    made = {"metrics": _metrics(found), "claims": _claims(found), "pairs": _pairs(found)}
    document = {"settings": dict(found.attrs), "counts": understood(counts)}
    document |= {name: finite(records) for name, records in made.items() if records}
    if not written(arguments, lambda: found, lambda: document, "metrics", lambda: bayescm.plot_forest(found)):
        print_counts(counts)
        _print(made, found)


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


def _print(made: dict[str, list[dict[str, Any]]], found: "xr.Dataset") -> None:
    """Print the tables."""
    attrs, records = found.attrs, made["metrics"]
    undefined = max(record["undefined"] for record in records) >= _SELDOM
    rows = []
    for record in records:
        row = {name: value for name, value in record.items() if name in (*found.dims, ALIAS)}
        row |= {name: record[name] for name in ("point", "mean", "sd")}
        row["interval"] = ends(record)
        rows.append(row | ({"undefined": record["undefined"]} if undefined else {}))
    level = f"{100 * attrs['ci_prob']:g}% {str(attrs['ci_kind']).upper()}"
    size = "as many items" if attrs["size"] == "null" else f"{attrs['size']:,} items"
    drawn = [record["mcse_mean"] for record in records if record["method"] == "draws"]
    caption = (
        f"of what its counts will show; {f'draws, means ±{max(drawn):.1g}' if drawn else 'computed without draws'}"
    )
    caption += ("; undefined: P(0/0)" if undefined else "") + positive(attrs)
    print_records(rows, f"a second test of {size}, prior {attrs['prior']}, {level}", caption, left=found.coords)
    if made["claims"]:
        exact = not any(record["mcse"] for record in made["claims"])
        rows = [{name: value for name, value in one.items() if name != "mcse" or not exact} for one in made["claims"]]
        print_records(rows, "claims", "probability that the second test shows it" + positive(attrs), left=found.coords)
    if made["pairs"]:
        caption = "probability of a larger, and of an equal value" + positive(attrs)
        print_records(made["pairs"], "one system and another", caption, left=found.coords)
    print_assumptions(attrs)
