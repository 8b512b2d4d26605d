"""Areas under curves, rates at thresholds, reliability: what auc, aucpr, curves.intervals and their like return."""

import json
from collections.abc import Mapping
from typing import Any

import xarray as xr

from bayescm.data.schema import CI_BOUND, SYSTEM, THRESHOLD
from bayescm.results.writing import bounds, each, estimate, listed, percent, probability, show, with_interval


def of_areas(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return a record per system, estimator and method."""
    more = [name for name in ("se", "median", "corrected") if name in data]
    return [
        names | {"point": float(one["point"])} | {name: float(one[name]) for name in more} | bounds(one["interval"])
        for names, one in each(data, "interval", CI_BOUND)
    ]


def answer(data: xr.Dataset) -> str:
    """Say how large the area is, or the largest and the smallest of several systems."""
    attrs = data.attrs
    curve = "PR" if "estimator" in attrs or "estimator" in data.coords else "ROC"
    firsts = {dim: 0 for dim in ("estimator", "ci_method") if dim in data.dims}
    found = each(data.isel(firsts), "interval", CI_BOUND)
    items = f"from {attrs['cases']:,} cases and {attrs['controls']:,} controls"
    curve = f"{curve} curve{_part(attrs)}"
    if len(found) == 1:
        what = f"average precision{_part(attrs)}" if "recall_range" in attrs else f"area under the {curve}"
        return f"The {what} is {estimate(found[0][1], attrs['ci_prob'])}, {items}."
    ordered = sorted(found, key=lambda pair: -float(pair[1]["point"].fillna(-1.0)))
    (first, high), (last, low) = ((" ".join(map(str, names.values())), one) for names, one in (ordered[0], ordered[-1]))
    return (
        f"Of {len(found)} areas under the {curve} the largest is that of {first}, "
        f"{estimate(high, attrs['ci_prob'])}, and the smallest that of {last}, {estimate(low, None)}; {items}."
    )


def of_band(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return a record per rate, or recall, and curve: its height and the band there."""
    return [names | {"point": float(one["point"])} | bounds(one["band"]) for names, one in each(data, "band", CI_BOUND)]


def band(data: xr.Dataset) -> str:
    """Say how large the area under a curve is, and what its band is a band of."""
    attrs = data.attrs
    what = "average precision" if attrs["space"] == "pr" else "area under the ROC curve"
    found = [
        (" ".join(map(str, names.values())), with_interval(float(one["area"]), one["area_interval"].values, level))
        for level in [attrs["ci_prob"]] for names, one in each(data, "area_interval", CI_BOUND)
    ]  # fmt: skip
    said = f"is {found[0][1]}" if len(found) == 1 else listed([f"of {name} is {area}" for name, area in found])
    return f"The {what} {said}; the band: {attrs['statement']}."


def of_several_classes(data: xr.Dataset) -> str:
    """Say how large the area of several classes is, or the largest and the smallest of several systems."""
    attrs = data.attrs
    first = data.isel({dim: 0 for dim in ("estimator", "ci_method") if dim in data.dims})
    found = each(first, "interval", CI_BOUND)
    items = f"from {attrs['items']:,} items of {attrs['classes']} classes"
    name = (
        "Hand and Till's M"
        if str(first["estimator"].item()) == "hand_till"
        else "The mean area of one against the rest"
    )
    if len(found) == 1:
        return f"{name} is {estimate(found[0][1], attrs['ci_prob'])}, {items}."
    ordered = sorted(found, key=lambda pair: -float(pair[1]["point"]))
    (best, high), (last, low) = ((" ".join(map(str, names.values())), one) for names, one in (ordered[0], ordered[-1]))
    ends = f"{estimate(low, attrs['ci_prob'])} of {last} to {estimate(high, None)} of {best}"
    return f"{name} of {len(found)} systems: from {ends}, {items}."


def _part(attrs: Mapping[Any, Any]) -> str:
    """Say over which part of a curve an area goes; nothing for the whole curve."""
    rates = {"fpr_range": "false positive rates", "tpr_range": "true positive rates", "recall_range": "recalls"}
    for name, axis in rates.items():
        if name in attrs:
            low, high = json.loads(str(attrs[name]))
            return f" over {axis} from {low:g} to {high:g}"
    return ""


def of_difference(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return a record per estimator: the difference and both areas."""
    last = "p_value" if "p_value" in data else "probability_better"
    name = " - ".join(map(str, data[SYSTEM].values))
    found = []
    for names, one in each(data, "interval", CI_BOUND):
        first, second = one["auc"].values.tolist()
        found.append(names | {
            "comparison": name, "point": float(one["point"]), "se": float(one["se"]), **bounds(one["interval"]),
            "first": first, "second": second, last: float(one[last]),
        })  # fmt: skip
    return found


def difference(data: xr.Dataset) -> str:
    """Say whose area is the larger, and by how much; of more than two classes by Hand and Till's M."""
    data = data.isel(estimator=0, missing_dims="ignore")
    ahead = float(data["point"]) >= 0.0
    names = [str(name) for name in data[SYSTEM].values][:: 1 if ahead else -1]
    level = percent(float(data.attrs["ci_prob"]))
    lower, upper = sorted(data["interval"].values.tolist() if ahead else (-data["interval"].values).tolist())
    if "p_value" in data:
        p = float(data["p_value"])
        chance = f"p < {0.001}" if p < 0.001 else f"p = {show(p)}"
    else:
        better = float(data["probability_better"])
        chance = probability(better if ahead else 1.0 - better, "P(larger)")
    if data.attrs["method"] == "venkatraman":
        said = "differ" if p < 1.0 - data.attrs["ci_prob"] else "can't be told apart"
        return f"The ROC curves of {names[0]} and {names[1]} {said} at {level}; {chance}."
    what = "average precision" if "recall_range" in data.attrs else "area"
    part = _part(data.attrs)
    for rate, given in (("sensitivity", "specificity"), ("specificity", "sensitivity")):
        if f"at_{given}" in data.attrs:
            what, part = rate, f" at a {given} of {float(data.attrs[f'at_{given}']):g}"
    by = with_interval(abs(float(data["point"])), (lower, upper), data.attrs["ci_prob"])
    if lower > 0.0:
        return f"The {what} of {names[0]}{part} is larger than that of {names[1]} by {by}; {chance}."
    several = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    apart = f"can't be told apart at {level}: they differ by {by}; {chance}."
    return f"The {several} of {names[0]} and {names[1]}{part} {apart}"


def thresholds(data: xr.Dataset) -> str:
    """Say what the intervals of single thresholds are."""
    level = percent(float(data.attrs["ci_prob"]))
    rates = " and ".join(str(name).replace("_", " ") for name in data["metric"].values)
    return f"{rates[:1].upper()}{rates[1:]} at {data[THRESHOLD].size} thresholds, each with a {level} interval alone."


def of_reliability(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return a record per bin of scores."""
    return [
        names | {name: float(one[name]) for name in ("point", "mean_score", "bin_lower", "bin_upper")}
        | bounds(one["interval"]) | {"items": int(one["items"])}
        for names, one in each(data, "interval", CI_BOUND)
    ]  # fmt: skip


def reliability(data: xr.Dataset) -> str:
    """Say in how many bins the mean score is off, and the Brier score."""
    off, level = int(data.attrs["off"]), percent(float(data.attrs["ci_prob"]))
    brier = data.sel(loss="brier")
    lower, upper = brier["loss_interval"].values.tolist()
    score = with_interval(float(brier["mean_loss"]), (lower, upper), data.attrs["ci_prob"])
    where = "none of the" if off == 0 else f"{off} of the"
    return (
        f"The mean score lies outside the simultaneous {level} band in {where} {data.sizes['bin']} bins; "
        f"Brier score {score}."
    )
