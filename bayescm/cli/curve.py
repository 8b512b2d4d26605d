"""``bayescm curve``: the joint posterior of a ROC and PR curve, and its band."""

import argparse
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import bayescm
from bayescm.cli import region, reliability
from bayescm.cli.inputs import pos_label
from bayescm.cli.options import add_command, add_labels, metric_list, number_or_word, prevalence, refuse
from bayescm.cli.output import Table, add_outputs, finite, tell
from bayescm.data import texts, validate
from bayescm.data.schema import UNIT
from bayescm.results.writing import percent

if TYPE_CHECKING:
    import xarray as xr

EPILOG = """examples:
  bayescm curve scores.csv --plot roc.png                   columns actual and score
  bayescm curve scores.csv --metrics f1 --at-specificity .9 --prevalence .01 --space pr
  bayescm curve scores.csv --score old --score new          two systems on the same items, and their difference
  bayescm curve scores.csv --band regions --method exact --mark .5
  bayescm curve scores.csv --reliability --plot bins.png    scores that are probabilities
"""

BANDS = ("simultaneous", "pointwise", "whole", "regions")
_OF_REGIONS = ("method", "levels", "mark", "ordering", "mid_p", "grid")
_OF_POSTERIOR = (
    "group", "unit", "prevalence", "metric", "fpr_range", "tpr_range", "recall_range", "at_specificity",
    "at_sensitivity", "within", "ci_prob",
)  # fmt: skip
_QUANTITIES = (
    "auc", "average_precision", "partial_auc_fpr", "partial_auc_fpr_corrected", "partial_auc_tpr",
    "partial_auc_tpr_corrected", "partial_pr_area", "sensitivity_at_specificity", "specificity_at_sensitivity",
)  # fmt: skip
_BEST = ("best_threshold", "best_value", "regret")
_DIFFERENCES = ("auc", "average_precision")


def add_parser(commands: Any) -> None:
    """Add ``bayescm curve`` to the parser."""
    p = add_command(commands, "curve", "a ROC or PR curve of scores: areas, thresholds and a band", EPILOG, _run)
    p.set_defaults(predicted=None)
    p.add_argument("file", help="CSV file with a row per item")
    add_labels(p)
    p.add_argument("--score", action="append", metavar="COLUMN",
                   help="column of scores (default: score); repeatable: several systems on the same items")  # fmt: skip
    p.add_argument("--direction", default="larger", help="scores that mean positive: larger (default) or smaller")
    p.add_argument("--group", metavar="COLUMN", help="column of groups, such as folds: a posterior for each")
    p.add_argument("--unit", metavar="COLUMN", help="column of what was sampled, with several rows each")
    p.add_argument("--prior", help="prior_item (default; with --prevalence smoothed), smoothed, bootstrap, or a "
                   "number: what the prior item of a class weighs")  # fmt: skip
    p.add_argument("--prevalence", metavar="P", help="'fixed', a number, or a,b of a Beta (default: estimated)")
    p.add_argument(
        "--metrics",
        dest="metric",
        action="append",
        metavar="LIST",
        help="find their best thresholds; names with commas",
    )
    p.add_argument("--fpr-range", metavar="LO,HI", help="partial area over these false positive rates")
    p.add_argument("--tpr-range", metavar="LO,HI", help="partial area over these true positive rates")
    p.add_argument("--recall-range", metavar="LO,HI", help="mean precision over these recalls")
    p.add_argument("--at-specificity", metavar="LIST", help="sensitivity there; numbers with commas")
    p.add_argument("--at-sensitivity", metavar="LIST", help="specificity there; numbers with commas")
    p.add_argument("--band", default="simultaneous", help="simultaneous (default), pointwise, whole or regions")
    p.add_argument("--within", metavar="LO,HI", help="stretch of false positive rates (pr: recall) of the band")
    p.add_argument("--space", help="roc or pr (default: roc; of --band regions: pr)")
    p.add_argument("--ci-prob", type=float, metavar="P", help="probability of intervals and band (0.95)")
    p.add_argument("--draws", type=int, metavar="N", help="draws of each of 4 chains (1000)")
    p.add_argument("--seed", type=int, metavar="N", help="seed of the draws")
    add_outputs(p, "the posterior and the band as a netCDF DataTree", "a picture of the curve and its band")
    q = p.add_argument_group("--band regions", "the joint region of each threshold, without a posterior of the curve")
    q.add_argument("--method", help="wilks (default), exact, credible, ellipse, anytime or simulate")
    q.add_argument("--levels", metavar="LIST", help="levels with commas (.683,.954,.997)")
    q.add_argument("--mark", action="append", type=float, metavar="T", help="show a threshold's region; repeatable")
    q.add_argument("--ordering", help="of credible, which takes --prior too: relative_belief (default) or density")
    q.add_argument("--mid-p", action="store_true", default=None, help="of exact: count ties half")
    q.add_argument("--grid", type=int, metavar="N", help="points per axis")
    reliability.add_options(p)


def _run(arguments: argparse.Namespace) -> None:
    """Carry out ``bayescm curve``."""
    validate.choice("--band", arguments.band, BANDS)
    if arguments.reliability:
        reliability.of_items(arguments, _items(arguments)[0])
        return
    refuse(arguments, ("bins",), "is for --reliability; leave it out, or add that")
    if arguments.plot and arguments.group and len(arguments.score or []) > 1:
        raise ValueError("--plot draws several --score or the groups of --group, not both; leave one of them out.")
    if arguments.band != "regions":
        refuse(arguments, _OF_REGIONS, "is for --band regions; leave it out, or ask for that band")
        _posterior(arguments)
        return
    refuse(arguments, _OF_POSTERIOR, "doesn't apply to --band regions; leave it out, or take another band")
    if arguments.score and len(arguments.score) > 1:
        raise ValueError("--band regions takes one --score; got several. Run it for each, or take another band.")
    arguments.score = (arguments.score or ["score"])[0]
    for name, value in (("space", "pr"), ("method", "wilks"), ("levels", ".683,.954,.997")):
        if getattr(arguments, name) is None:
            setattr(arguments, name, value)
    region.of_curve(arguments)


def _numbers(arguments: argparse.Namespace, name: str, size: int | None = None) -> list[float] | None:
    """Read an option that is numbers with commas."""
    text = getattr(arguments, name)
    if text is None:
        return None
    wanted = "numbers with commas" if size is None else f"{size} numbers with a comma"
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if not values or size not in (None, len(values)):
        raise ValueError(f"`--{name.replace('_', '-')}` must be {wanted}; got {text!r}.")
    return values


def _items(arguments: argparse.Namespace) -> tuple[dict[str, Any], Any]:
    """Return the actual labels and scores that the library takes, and the column of groups."""
    frame = texts.read_text(arguments.file)
    columns = arguments.score or ["score"]
    validate.unique("--score", columns)
    if arguments.group == "system" and len(columns) > 1:
        raise ValueError("--group can't be called 'system' where there are several of --score; rename the column.")
    wanted = [arguments.actual, *columns, *filter(None, (arguments.group, arguments.unit))]
    texts.require(frame, arguments.file, wanted)
    scores = {name: texts.numbers(frame, name) for name in columns}
    score = scores[columns[0]] if len(columns) == 1 else scores
    items = {
        "y_true": texts.labels(frame[arguments.actual])[0], "y_score": score, "pos_label": pos_label(frame, arguments),
        "direction": arguments.direction,
    }  # fmt: skip
    items |= {} if arguments.unit is None else {"unit": texts.labels(frame[arguments.unit])[0]}
    return items, texts.labels(frame[arguments.group])[0] if arguments.group else None


def _posterior(arguments: argparse.Namespace) -> None:
    """Print, save and draw what the joint posterior says."""
    items, groups = _items(arguments)
    level = 0.95 if arguments.ci_prob is None else validate.number("--ci-prob", arguments.ci_prob, 0, 1)
    settings: dict[str, Any] = {
        "by": None if groups is None else {arguments.group: groups},
        "prevalence": prevalence(arguments.prevalence),
        "random_seed": validate.seed(arguments.seed),
        **({} if arguments.prior is None else {"prior": number_or_word(arguments.prior)}),
        **({} if arguments.draws is None else {"draws": arguments.draws}),
    }
    read_off: dict[str, Any] = {
        "fpr_range": _numbers(arguments, "fpr_range", 2), "tpr_range": _numbers(arguments, "tpr_range", 2),
        "recall_range": _numbers(arguments, "recall_range", 2), "at_specificity": _numbers(arguments, "at_specificity"),
        "at_sensitivity": _numbers(arguments, "at_sensitivity"),
    }  # fmt: skip
    tree = bayescm.curve_posterior(**items, **settings, **read_off)
    of_thresholds = None
    if arguments.metric:
        metrics = [name for text in arguments.metric for name in metric_list(text) or []]
        of_thresholds = bayescm.curve_posterior(**items, **settings, over="threshold", metrics=metrics)
    within = _numbers(arguments, "within", 2)
    band = bayescm.curve_band(
        tree, method=arguments.band, space=arguments.space or "roc", ci_prob=level,
        within=None if within is None else (within[0], within[1]),
    )  # fmt: skip
    counted = _counted(tree)
    records = _quantities(tree, level, _QUANTITIES) + _delong(tree, level)
    if of_thresholds is not None:
        records += _quantities(of_thresholds, level, _BEST)
    records = _together(records, _batch(tree))
    differences = _differences(tree, level)
    points = list(_points(band))
    document = {
        "settings": dict(tree.attrs) | {"ci_prob": level}, "items": counted, "quantities": records,
        "differences": differences, "band": {"settings": dict(band.attrs), "points": finite(points)},
    }  # fmt: skip
    tables = {
        "quantities": _quantities_shown(tree, level, counted, records),
        "differences": _differences_shown(differences),
        "band": _band_shown(band, points),
    }
    tell(
        arguments, tree, "quantities", {name: value for name, value in document.items() if value != []}, tables,
        draw=lambda: bayescm.plots.plot_curve(band), data=partial(_with_band, tree, of_thresholds, band),
    )  # fmt: skip


def _with_band(tree: "xr.DataTree", of_thresholds: "xr.DataTree | None", band: "xr.Dataset") -> "xr.DataTree":
    """Return the posterior with the band, and with the posterior over thresholds if there is one."""
    tree["band"] = band
    if of_thresholds is not None:
        tree["posterior_over_thresholds"] = _part(of_thresholds, "posterior")
        tree["constant_data"] = _part(of_thresholds, "constant_data")
    return tree


def _part(tree: "xr.DataTree", name: str) -> "xr.Dataset":
    """Return a group of the tree."""
    return tree.children[name].to_dataset()


def _batch(tree: "xr.DataTree") -> list[str]:
    """Return the dims of groups and systems."""
    return [str(dim) for dim in _part(tree, "posterior")["auc"].dims if dim not in ("chain", "draw")]


def _each(data: "xr.Dataset", batch: list[str]) -> "Iterator[tuple[dict[str, Any], xr.Dataset]]":
    """Give the part of every group and system, with what names it."""
    for where in np.ndindex(*(data.sizes[dim] for dim in batch)):
        part = data.isel(dict(zip(batch, where, strict=True)))
        yield {dim: part[dim].values.item() for dim in batch}, part


def _groups(tree: "xr.DataTree") -> "Iterator[tuple[dict[str, Any], xr.Dataset]]":
    """Give the items of every group, with its name."""
    observed = _part(tree, "observed_data")
    by = [dim for dim in _batch(tree) if dim in observed and dim not in observed.dims]
    if not by:
        yield {}, observed
        return
    for group in _part(tree, "posterior")[by[0]].values:
        yield {by[0]: group.item()}, observed.isel(item=observed[by[0]].values == group)


def _counted(tree: "xr.DataTree") -> list[dict[str, Any]]:
    """Return a record per group: its cases and controls."""
    found = []
    for names, items in _groups(tree):
        positive = items["positive"].values.astype(bool)
        found.append({**names, "cases": int(positive.sum()), "controls": int((~positive).sum())})
    return found


def _interval(values: Any, level: float, *, among: bool = False) -> dict[str, float]:
    """Return the median and equal tails of draws, on request draws themselves; NaN where one is undefined."""
    drawn, at = np.asarray(values).ravel(), [0.5, (1 - level) / 2, (1 + level) / 2]
    if np.isnan(drawn).any():
        return dict.fromkeys(("estimate", "lower", "upper"), np.nan)
    estimate, lower, upper = np.quantile(drawn, at, method="inverted_cdf" if among else "linear")
    return {"estimate": float(estimate), "lower": float(lower), "upper": float(upper)}


def _quantities(tree: "xr.DataTree", level: float, wanted: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return a record per group, system and quantity: what its posterior says."""
    records = []
    posterior = _part(tree, "posterior")
    if "constant_data" in tree.children:
        posterior = posterior.assign_coords(_part(tree, "constant_data").data_vars)
    for names, part in _each(posterior[[name for name in wanted if name in posterior]], _batch(tree)):
        for name, drawn in part.data_vars.items():
            values = drawn.transpose(..., "chain", "draw")
            for i in np.ndindex(*values.shape[:-2]):
                at = [values[dim].values[j].item() for dim, j in zip(values.dims[:-2], i, strict=True)]
                where = "".join(f"[{value:g}]" if isinstance(value, float) else f"[{value}]" for value in at)
                record = {**names, "quantity": f"{name}{where}", "method": "posterior"}
                records.append(record | _interval(values.values[i], level, among=name == "best_threshold"))
                if name == "regret":
                    records[-1]["threshold"] = float(part["chosen_threshold"].values[i])
    return records


def _delong(tree: "xr.DataTree", level: float) -> list[dict[str, Any]]:
    """Return a record per group and system: the area under the ROC curve by DeLong."""
    records = []
    for names, items in _groups(tree):
        systems = [dim for dim in items["score"].dims if dim != "item"]
        positive = items["positive"].values.astype(int)
        if 0 < positive.sum() < len(positive) and UNIT not in tree.attrs:
            settings = {"ci_prob": level, "direction": tree.attrs["direction"]}
            found = bayescm.auc(positive, items["score"], method="delong", **settings)
            for more, one in _each(found, [str(dim) for dim in systems]):
                lower, upper = one["interval"].values.tolist()
                records.append({**names, **more, "quantity": "auc", "method": "DeLong", "estimate": float(one["point"]),
                                "lower": lower, "upper": upper})  # fmt: skip
    return records


def _together(records: list[dict[str, Any]], batch: list[str]) -> list[dict[str, Any]]:
    """Return records with those of one curve together, and in them those of one quantity, as they came first."""
    for names in (["quantity"], batch):
        order = list(dict.fromkeys(tuple(record[name] for name in names) for record in records))
        records = sorted(records, key=lambda record: order.index(tuple(record[name] for name in names)))
    return records


def _differences(tree: "xr.DataTree", level: float) -> list[dict[str, Any]]:
    """Return a record per group, area and method: the first system minus the second."""
    posterior, records = _part(tree, "posterior"), []
    for names, items in _groups(tree):
        systems = [dim for dim in items["score"].dims if dim != "item"]
        if not systems:
            return []
        drawn = posterior.sel(names)
        first, second = (str(name) for name in drawn[systems[0]].values[:2])
        about = {**names, "first": first, "second": second}
        for name in _DIFFERENCES:
            one, other = (drawn[name].isel({systems[0]: i}).values for i in (0, 1))
            share = float(((one > other) + 0.5 * (one == other)).mean())
            found = _interval(one - other, level) | {"probability": share}
            records.append({**about, "difference": name, "method": "posterior", **found})
        positive = items["positive"].values.astype(int)
        if 0 < positive.sum() < len(positive) and UNIT not in tree.attrs:
            difference = bayescm.curves.auc_difference(
                positive,
                dict(zip((first, second), items["score"].values.T[:2], strict=True)),
                method="delong",
                ci_prob=level,
                direction=tree.attrs["direction"],
            )
            lower, upper = difference["interval"].values.tolist()
            found = {"estimate": float(difference["point"]), "lower": lower, "upper": upper}
            found["p_value"] = float(difference["p_value"])
            records.append({**about, "difference": "auc", "method": "DeLong", **found})
    return records


def _points(band: "xr.Dataset") -> Iterator[dict[str, Any]]:
    """Give a record per curve and point of its axis."""
    x = "recall" if band.attrs["space"] == "pr" else "fpr"
    y = "precision" if band.attrs["space"] == "pr" else "tpr"
    batch = [str(dim) for dim in band["point"].dims if dim != x]
    for names, part in _each(band, batch):
        for i, value in enumerate(part[x].values.tolist()):
            lower, upper = part["band"].transpose(x, "ci_bound").values[i].tolist()
            median = {} if "median" not in part else {"median": float(part["median"].values[i])}
            yield {**names, x: value, y: float(part["point"].values[i]), **median, "lower": lower, "upper": upper}


def _quantities_shown(
    tree: "xr.DataTree", level: float, counted: list[dict[str, Any]], records: list[dict[str, Any]]
) -> Table:
    """Return what is known of the areas and thresholds."""
    attrs = tree.attrs
    item = attrs["prior"] == "prior_item"
    prior = f"prior item of weight {attrs['prior_weight']:.2g}" if item else f"prior {attrs['prior']}"
    title = f"{percent(level)} equal tails, {prior}"
    if len(counted) == 1:
        title = f"{counted[0]['cases']:,} cases, {counted[0]['controls']:,} controls, {title}"
    note = f"estimate: median of {attrs['chains'] * attrs['draws']:,} draws; of DeLong the value of the items"
    if not _batch(tree):
        note += "".join(
            f"\n{record['quantity']}: what threshold {record['threshold']:g} falls short of the best"
            for record in records if "threshold" in record
        )  # fmt: skip
    rows = [{"by" if name == "method" else name: one[name] for name in one if name != "threshold"} for one in records]
    return Table(rows, title, note)


def _differences_shown(records: list[dict[str, Any]]) -> Table:
    """Return by how much the first system is ahead of the second."""
    less = {"first": None, "second": None, "probability": "P(larger)", "method": "by"}
    rows = [{less.get(key, key): value for key, value in one.items() if less.get(key, key)} for one in records]
    title = "{first} minus {second} on the same items".format(**records[0]) if records else ""
    return Table(rows, title, "p_value: of no difference")


def _band_shown(band: "xr.Dataset", points: list[dict[str, Any]]) -> Table:
    """Return the band at tenths of its axis."""
    x, y = ("recall", "precision") if band.attrs["space"] == "pr" else ("fpr", "tpr")
    title = f"{percent(band['ci_bound'].attrs['ci_prob'])} band, {band.attrs['statement']}; "
    title += f"{y}: {'posterior median' if 'median' in band else 'of the items'}"
    rows: dict[Any, dict[str, Any]] = {}
    for point in points:
        at = round(10 * point[x])
        if abs(point[x] - at / 10) < 1e-9:
            names = {name: value for name, value in point.items() if name not in (x, y, "median", "lower", "upper")}
            shown = {x: at / 10, y: point.get("median", point[y]), "lower": point["lower"], "upper": point["upper"]}
            rows.setdefault((*names.values(), at), names | shown)
    return Table(list(rows.values()), title)
