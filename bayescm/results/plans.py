"""Items and actions: what sample_size, sample_size_to_compare and decide return."""

from collections import Counter
from typing import Any

import numpy as np
import xarray as xr

from bayescm.data.schema import ALIAS, CI_BOUND, GROUP, METRIC
from bayescm.results.names import called, of_attrs, of_metric
from bayescm.results.writing import bounds, each, listed, percent, probability, show, with_interval

ACTION = "action"
FORMULAS = {"buderer": "Buderer's", "simel": "Simel's", "connor": "Connor's", "lachenbruch": "Lachenbruch's"}


def of_sizes(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return a record per metric: how many items it needs."""
    records = [
        of_metric(one) | names
        | {"items": int(one["n_items"]), "about": str(one["about"].item()), "assurance": float(one["assurance"]),
           "rule": _number(one["rule"])}
        | ({"units": int(one["n_units"])} if "n_units" in one else {})
        for names, one in each(data, "n_items")
    ]  # fmt: skip
    formula = data["formula"].values
    known = formula.astype(int).tolist() if np.isfinite(formula).all() else []
    records = [record | {"formula": n} for record, n in zip(records, known, strict=True)] if known else records
    if "n_items_together" in data and len(records) > 1:
        together = {"assurance": float(data["assurance_together"]), "rule": records[0]["rule"]}
        together |= {"formula": max(known)} if known else {}
        records.append({METRIC: "all together", "items": int(data["n_items_together"]), "about": "items"} | together)
    return records


def size(data: xr.Dataset) -> str:
    """Say how many items are needed, and for what."""
    attrs, records = data.attrs, of_sizes(data)
    told = [
        f"{record['items']:,} {record['about']}{f' of {record["units"]:,} units' if 'units' in record else ''} for "
        f"{called(record[METRIC], record.get(ALIAS, '')).replace('_', ' ')}"
        for record in records
    ]
    level = percent(float(attrs["ci_prob"]))
    if "lower" in attrs:
        what = f"{'each' if len(records) > 1 else 'its'} lower bound ({level}) is at least {float(attrs['lower']):g}"
    else:
        each_one = "each interval" if len(records) > 1 else "its interval"
        what = f"{each_one} ({level}) is at most {float(attrs['width']):g} wide"
    effect = f" (design effect {float(attrs['design_effect']):.2g})" if "design_effect" in attrs else ""
    if (method := attrs.get("method")) in FORMULAS:
        whose, rates = FORMULAS[method], _rates(attrs)
        reached = listed([show(record["assurance"]) for record in records])
        known = "" if "nan" in reached else f", and with probability {reached} for {rates}"
        return f"By {whose} formula a test needs {listed(told)}{effect}: then {what} in an average test{known}."
    wanted = f"with probability {percent(float(attrs['wanted_assurance']))}, for {_rates(attrs)}"
    return f"The test needs {listed(told)}{effect}: then {what} {wanted}.{'' if effect else _by_formula(data)}"


def _rates(attrs: dict[str, Any]) -> str:
    """Say what is thought of the rates."""
    if attrs["pilot"] != "null":
        return "rates averaged over the posterior of the pilot"
    concentration = attrs["concentration"]
    return "rates as stated" + (
        f" with concentration {concentration:g}" if isinstance(concentration, int | float) else ""
    )


def _by_formula(data: xr.Dataset) -> str:
    """Say what formulas of protocols would ask for, and why that is another number."""
    pairs = zip(data["formula"].values.ravel(), data["formula_assurance"].values.ravel(), strict=True)
    asked = [(int(n), float(p)) for n, p in pairs if p == p]
    if not asked:
        return ""
    n, chance = listed([f"{n:,}" for n, _ in asked]), listed([show(p) for _, p in asked])
    ratios = np.char.endswith(data[METRIC].values.astype(str), "likelihood_ratio")
    whose = " and ".join(FORMULAS[name] for name, some in (("buderer", ~ratios), ("simel", ratios)) if some.any())
    return (
        f" {whose} formula, which takes stated rates for the truth and an average test for every one, says {n}: after "
        f"so many the probability is {chance}."
    )


def _number(value: xr.DataArray) -> int | float:
    """Return a whole number, or NaN."""
    return int(value) if np.isfinite(value) else float("nan")


def of_contest(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return one record: how many items two systems need."""
    names = (METRIC, ALIAS, "first", "second", "gap")
    rates = {name: data.attrs[name] for name in names if name in data.attrs}
    sizes = {"items": int(data["n_items"])}
    sizes |= {name: int(data[name]) for name in ("n_items_second", "n_units") if name in data}
    chances = {name: float(data[name]) for name in ("discordant", "assurance", "error_rate") if name in data}
    return [rates | sizes | chances]


def size_to_compare(data: xr.Dataset) -> str:
    """Say how many items show which of two systems is better, and whether the gap is stated or seen."""
    attrs = data.attrs
    whose = "items that both answer" if attrs["design"] == "paired" else "items for each system"
    by = f" ({FORMULAS[attrs['method']]} formula)" if attrs.get("method") in FORMULAS else ""
    if "n_items_second" in data:
        whose = f"items for the first and {int(data['n_items_second']):,} for the second system"
    if "n_units" in data:
        by += f" of {int(data['n_units']):,} units (design effect {float(attrs['design_effect']):.2g})"
    whence = "as stated" if attrs["gap"] == "stated" else "as seen in a pilot, whose posterior is averaged over"
    return (
        f"With {int(data['n_items']):,} {whose}{by} the better of two, {float(attrs['first']):.3g} and "
        f"{float(attrs['second']):.3g} in {of_attrs(attrs)} {whence}, is found so (the "
        f"{percent(float(attrs['ci_prob']))} interval of the difference excludes 0) with probability "
        f"{show(float(data['assurance']))}; of two equal ones one is found better with probability "
        f"{show(float(data['error_rate']))}."
    )


def of_area(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return one record: how many items an area needs, and what they give."""
    numbers = {name: int(data[name]) for name in ("cases", "controls", "n_items")}
    return [numbers | {name: float(data[name]) for name in ("width", "assurance")}]


def size_of_area(data: xr.Dataset) -> str:
    """Say what so many cases and controls show of an area, or of two."""
    attrs = data.attrs
    sizes = f"With {int(data['cases']):,} cases and {int(data['controls']):,} controls"
    if "other" in attrs:
        sizes += " that both score" if attrs["design"] == "paired" else " for each system"
        what = f"the interval of the difference of areas of {float(attrs['auc']):g} and {float(attrs['other']):g}"
        found = "it is found"
    else:
        what = f"the interval of an area of {float(attrs['auc']):g}"
        found = f"it is told from {float(attrs['null']):g}"
    power = float(data["assurance"])
    end = f", and {found} with probability {probability(power)}" if power == power else ""
    return f"{sizes} {what} ({percent(float(attrs['ci_prob']))}) is {show(float(data['width']))} wide{end}."


def of_allocation(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return a record per group: how many of the next labels it gets."""
    names = ("labels", "neyman", "checked", "totals")
    rows = [found | {name: one[name].item() for name in names} for found, one in each(data[[*names]], "labels")]
    whole = all(row["totals"] == int(row["totals"]) for row in rows)  # else areas, or shares
    return [row | {"totals": int(row["totals"])} for row in rows] if whole else rows


def allocation(data: xr.Dataset) -> str:
    """Say where the next labels go, and what they bring."""
    given = [f"{record['labels']:,} of {record[GROUP]}" for record in of_allocation(data) if record["labels"]]
    before, after = (show(float(data[name])) for name in ("sd", "expected_sd"))
    return (
        f"Check {listed(given)} next: the standard deviation of {of_attrs(data.attrs)} is {before} now, and {after} "
        "after that on average."
    )


def of_label_values(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return a record per number of further labels: what they save, and what is left of it."""
    names = ("value", "net")
    return [found | {name: float(one[name]) for name in names} for found, one in each(data[[*names]], "value")]


def value_of_labels(data: xr.Dataset) -> str:
    """Say how many further labels are worth their price."""
    most, n = _money(data["value_of_information"]), int(data["best_n"])
    price = f"at {float(data.attrs['per_check']):g} each"
    now = f"The best action now: {data['best'].item()}"
    if n == 0:
        return f"No more labels are worth it {price}: knowing all rates would save {most}. {now}."
    value, net = (_money(data[name].sel(n_checks=n)) for name in ("value", "net"))
    spent = data["labels"].sel(n_checks=n)
    where = listed([f"{int(m):,} of {g}" for g, m in zip(spent[GROUP].values, spent.values, strict=True) if m])
    saved = f"they save {value} on average, {net} less their price; knowing all rates {most}"
    return f"Check {n:,} more {price}, {where}: {saved}. {now}."


def _money(value: xr.DataArray) -> str:
    """Write a sum of money, from a hundred on without its pence."""
    return f"{float(value):,.0f}" if abs(float(value)) >= 100 else show(float(value))


def of_actions(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return a record per action: its cost, or its net benefit."""
    numbers, chances = ("point", "mean", "sd"), ("probability_best", "expected_regret")
    return [
        {ACTION: str(one[ACTION].item())} | names | {name: float(one[name]) for name in numbers}
        | bounds(one["interval"]) | {name: float(one[name]) for name in chances if name in one}
        for names, one in each(data, "interval", CI_BOUND)
    ]  # fmt: skip


def action(data: xr.Dataset) -> str:
    """Say what to do, what it costs, and what not knowing the truth may cost."""
    sure = percent(float(data.attrs["decision_prob"]))
    if data["best"].ndim:
        best = Counter(data["best"].values.ravel().tolist())
        told = [f"{name!r} in {times}" for name, times in best.most_common()]
        return f"The least expected cost of {data['best'].size} cases: {listed(told)}."
    if data["best"].item() not in data[ACTION].values:
        raise ValueError(f"`data` must have the best action, {data['best'].item()!r}; select after asking.")
    one = data.isel({ACTION: data[ACTION].values.tolist().index(data["best"].item())})
    cost = with_interval(float(one["mean"]), one["interval"].values, data.attrs["ci_prob"])
    chance = probability(float(one["probability_best"]), "P(least)")
    end = f"decisive at {sure}" if bool(data["decisive"]) else (
        f"not decisive at {sure}: knowing the truth would save {float(data['value_of_information']):.2g} an item"
    )  # fmt: skip
    return (
        f"Best of {data.sizes[ACTION]} actions: {data['best'].item()!r}, at a cost of {cost} an item; {chance}; {end}."
    )
