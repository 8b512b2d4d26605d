"""Claims, second tests, regions, cells and matrices behind metrics: what each says, and its records."""

import json
from typing import Any

import numpy as np
import xarray as xr

from bayescm.data.schema import ACTUAL, CI_BOUND, MATRIX, METRIC, PREDICTED
from bayescm.results.names import of_metric, words
from bayescm.results.writing import each, estimate, listed, moments, percent, probability, with_interval

Records = list[dict[str, Any]]


def of_claims(data: xr.Dataset) -> Records:
    """Return a record per matrix and claim."""
    return [
        names | {"claim": str(one["claim"].item()), "probability": float(one["probability"])}
        | {"error": float(one["error"]), "mcse": float(one["mcse_probability"]), "method": str(one["method"].item())}
        for names, one in each(data, "probability")
    ]  # fmt: skip


def claims(data: xr.Dataset) -> str:
    """Say how probable a claim is; of several the least and the most probable."""
    records = [one for one in of_claims(data) if one["probability"] == one["probability"]]
    if not records:
        return "No claim has a probability: a metric isn't defined."
    told = [probability(one["probability"], f"P({_whose(one)})") for one in records]
    order = np.argsort([one["probability"] for one in records], kind="stable")
    if len(records) == 1:
        return f"{told[0]}."
    return f"Of {len(records)} claims most probable: {told[order[-1]]}; least: {told[order[0]]}."


def _whose(record: dict[str, Any]) -> str:
    others = ("claim", "probability", "error", "mcse", "method")
    whose = ", ".join(str(value) for name, value in record.items() if name not in others)
    return f"{record['claim']}; {whose}" if whose else record["claim"]


def of_replicates(data: xr.Dataset) -> Records:
    """Return a record per matrix and metric of a second test."""
    return [
        names | of_metric(one) | moments(one)
        | {"undefined": float(one["undefined"]), "method": str(one["method"].item())}
        for names, one in each(data, "interval", CI_BOUND)
    ]  # fmt: skip


def second_test(data: xr.Dataset) -> str:
    """Say what a second test would show of the first metric."""
    first = data.isel({METRIC: 0}) if METRIC in data.dims else data
    name, level = words(first), percent(float(data.attrs["ci_prob"]))
    size = str(data.attrs.get("size", "null"))
    test = "A second test of as many items" if size == "null" else f"A second test of {int(size):,} items"
    found = [(names, one["interval"].values) for names, one in each(first, "point")]
    _, ends = found[0]
    if len(found) > 1:
        bottom, top = np.nanmin([one[0] for _, one in found]), np.nanmax([one[1] for _, one in found])
        return f"{test} would show {name} from {bottom:.2f} to {top:.2f} ({level} for each of {len(found)} matrices)."
    shown = with_interval(float(first["point"]), ends).partition("(")
    return f"{test} would show {name} from {shown[2].rstrip(')')} ({level}); this one shows {shown[0].strip()}."


def of_regions(data: xr.Dataset) -> Records:
    """Return a record per matrix and axis: how far the region of a level reaches."""
    level, records = _quoted(data), []
    for names, one in each(data, "point", METRIC):
        for name in map(str, one[METRIC].values):
            inside = one[name].values[_within(one, level, name)]
            ends = (float(inside.min()), float(inside.max())) if inside.size else (np.nan, np.nan)
            point = float(one["point"].sel({METRIC: name}))
            records.append(names | {METRIC: name, "point": point, "lower": ends[0], "upper": ends[1], "level": level})
    return records


def extent(data: xr.Dataset) -> str:
    """Say how far the region of a level reaches along both axes."""
    records = of_regions(data)
    if len(records) > 2:
        return f"Regions of {len(records) // 2} matrices; {percent(records[0]['level'])} of each in the table."
    told = " and ".join(
        f"{one[METRIC].replace('_', ' ')} {with_interval(one['point'], (one['lower'], one['upper']))}"
        for one in records
    )
    kind = "credible" if data.attrs["method"] == "credible" else "confidence"
    return f"The joint {percent(records[0]['level'])} {kind} region reaches, at its widest, over {told}."


def _quoted(data: xr.Dataset) -> float:
    """Return the level, of those asked for, that is nearest to .95."""
    levels: list[float] = json.loads(str(data.attrs["levels"]))
    return min(levels, key=lambda level: abs(level - 0.95))


def _within(one: xr.Dataset, level: float, axis: str) -> Any:
    """Say which points of an axis the region of a level has."""
    other = [dim for dim in one["level"].dims if dim != axis]
    return ((one["level"] <= level).any(other)).values


def of_cells(data: xr.Dataset) -> Records:
    """Return a record per matrix and cell."""
    return [names | moments(one) for names, one in each(data, "interval", CI_BOUND)]


def confusion(data: xr.Dataset) -> str:
    """Say which classes are confused most, for the first matrix of several."""
    batch = [dim for dim in data["point"].dims if dim not in MATRIX]
    one = data.isel(dict.fromkeys(batch, 0))
    k = one.sizes[ACTUAL]
    wrong = np.where(np.eye(k, dtype=bool), -1.0, one["mean"].transpose(*MATRIX).values)
    i, j = np.unravel_index(int(wrong.argmax()), wrong.shape)
    worst = one.isel({ACTUAL: int(i), PREDICTED: int(j)})
    actual, predicted = one[ACTUAL].values[i], one[PREDICTED].values[j]
    of = {"actual": f"of class {actual}", "predicted": f"of those called {predicted}", "all": "of all"}
    whole = of.get(str(data.attrs["normalize"]), "of all")
    text = f"Confused most: {actual} for {predicted}, {estimate(worst, data.attrs['ci_prob'])} {whole}"
    return f"{text}, in the first of {data['point'].size // k**2} matrices." if batch else f"{text}."


def of_stated(data: xr.Dataset) -> Records:
    """Return a record per metric that was stated."""
    columns = ("stated", "obtained", "difference", "rounding")
    return [names | {name: float(one[name]) for name in columns} for names, one in each(data, "obtained")]


def matrix(data: xr.Dataset) -> str:
    """Say which matrix has the stated metrics, and how sure that is."""
    (tn, fp), (fn, tp) = data["counts"].values.astype(int).tolist()
    matches = float(data["matches"])
    known = {0.0: "no matrix has all the metrics; this is the nearest", 1.0: "the only one with these metrics"}
    many = "one of many with these metrics" if matches != matches else f"one of {matches:.0f} with these metrics"
    return f"TP {tp}, FP {fp}, FN {fn}, TN {tn}: {known.get(matches, many)}."


def at_prevalences(data: xr.Dataset) -> str:
    """Say what a metric is at the lowest and at the highest prevalence."""
    first = data.isel({METRIC: 0}) if METRIC in data.dims else data
    name = words(first)
    name = name[:1].upper() + name[1:]
    if set(first["point"].dims) > {"prevalence"}:
        several = first["point"].size // first.sizes["prevalence"]
        return f"{name} of {several} matrices at {first.sizes['prevalence']} prevalences: each in the table."
    found = sorted(
        ((float(names["prevalence"]), estimate(one, None)) for names, one in each(first, "point")),
        key=lambda pair: pair[0],
    )
    ends = [found[0], found[-1]] if len(found) > 1 else found
    told = listed([f"{text} at a prevalence of {share:g}" for share, text in ends])
    return f"{name} is {told} ({percent(float(data.attrs['ci_prob']))} intervals)."
