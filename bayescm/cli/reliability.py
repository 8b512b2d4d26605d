"""``bayescm curve --reliability``: whether scores are the probabilities that they claim to be."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import bayescm
from bayescm.cli.options import refuse
from bayescm.cli.output import Table, tell
from bayescm.results.writing import bounds, percent

if TYPE_CHECKING:
    import xarray as xr

_DIAGRAM_HAS_NONE = (
    "group", "prior", "prevalence", "metric", "fpr_range", "tpr_range", "recall_range", "at_specificity",
    "at_sensitivity", "within", "space", "draws", "levels", "mark", "ordering", "mid_p", "grid",
)  # fmt: skip


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a reliability diagram."""
    q = parser.add_argument_group(
        "--reliability",
        "scores that are probabilities, against how often they come true; --method is that of the\n"
        "interval of each bin: clopper_pearson (default), wilson or jeffreys",
    )
    q.add_argument("--reliability", action="store_true", help="instead of curves")
    q.add_argument("--bins", metavar="N", help="bins with equally many items (10), or edges with commas from 0 to 1")


def of_items(arguments: argparse.Namespace, items: dict[str, Any]) -> None:
    """Print, save and draw how often the scores of each system come true."""
    _check(arguments)
    scores = items["y_score"] if isinstance(items["y_score"], dict) else {"": items["y_score"]}
    bins: dict[str, Any] = {} if arguments.bins is None else {"bins": _bins(arguments.bins)}
    options = {name: getattr(arguments, name) for name in ("method", "ci_prob") if getattr(arguments, name) is not None}
    options |= {"unit": items.get("unit"), "random_seed": arguments.seed, "pos_label": items["pos_label"]}
    found = {
        name: bayescm.curves.reliability(items["y_true"], score, **bins, **options) for name, score in scores.items()
    }
    first = next(iter(found.values()))
    shares = [row for name, one in found.items() for row in _shares(name, one)]
    losses = [row for name, one in found.items() for row in _losses(name, one)]
    kept = {name: value for name, value in first.attrs.items() if name != "off"}
    alone, level = "" in found, percent(first.attrs["ci_prob"])
    tables = {
        "bins": Table(shares, f"share of positives in bins of the score, {level}, all bins at once", _said(found)),
        "losses": Table(losses, f"losses, {level} intervals"),
    }
    tell(
        arguments, first if alone else _tree(found), "bins",
        {"settings": kept, "bins": shares, "losses": losses}, tables,
        draw=lambda: bayescm.plots.plot_curve(first if alone else found)[0],
    )  # fmt: skip


def _check(arguments: argparse.Namespace) -> None:
    """Refuse what a reliability diagram doesn't have."""
    refuse(arguments, _DIAGRAM_HAS_NONE, "doesn't apply to --reliability; leave it out")
    if arguments.band != "simultaneous":
        raise ValueError("--band is of curves; --reliability has the simultaneous one. Leave it out.")
    if arguments.direction != "larger":
        raise ValueError("--direction doesn't apply to --reliability, whose scores are probabilities of the positive "
                         "class; name that class with --pos-label.")  # fmt: skip


def _bins(text: str) -> int | list[float]:
    """Return the number of bins, or their edges."""
    try:
        return [float(part) for part in text.split(",")] if "," in text else int(text)
    except ValueError:
        raise ValueError(f"--bins must be a number, or edges with commas; got {text!r}.") from None


def _named(name: str, row: dict[str, Any]) -> dict[str, Any]:
    """Put the name of the system before a record, if there is one."""
    return {"system": name, **row} if name else row


def _shares(name: str, data: "xr.Dataset") -> list[dict[str, Any]]:
    """Return a record per bin."""
    keys = {"from": "bin_lower", "to": "bin_upper", "mean_score": "mean_score", "share": "point"}
    return [
        _named(name, {key: float(one[variable]) for key, variable in keys.items()}
               | bounds(one["interval"]) | {"items": int(one["items"])})
        for one in (data.isel(bin=i) for i in range(data.sizes["bin"]))
    ]  # fmt: skip


def _losses(name: str, data: "xr.Dataset") -> list[dict[str, Any]]:
    """Return a record per loss."""
    return [
        _named(name, {"loss": str(loss), "estimate": float(one["mean_loss"]), "se": float(one["loss_se"])}
               | bounds(one["loss_interval"]))
        for loss, one in ((loss, data.sel(loss=loss)) for loss in data["loss"].values)
    ]  # fmt: skip


def _said(found: "Mapping[str, xr.Dataset]") -> str:
    """Say of each system in how many bins the mean score is off."""
    return "\n".join(
        f"{name}: mean score outside in {one.attrs['off']} of {one.sizes['bin']} bins"
        for name, one in found.items() if name
    )  # fmt: skip


def _tree(found: "Mapping[str, xr.Dataset]") -> "xr.DataTree":
    """Return the results of several systems, whose bins may differ."""
    import xarray as xr

    tree = xr.DataTree.from_dict({f"/{name}": one for name, one in found.items()})
    tree.attrs = {name: value for name, value in next(iter(found.values())).attrs.items() if name != "off"}
    return tree
