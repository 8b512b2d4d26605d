"""Whether a series is worse than at its start: what drift returns."""

from typing import Any

import numpy as np
import xarray as xr

from bayescm.data.schema import CI_BOUND
from bayescm.results.names import of_attrs
from bayescm.results.writing import bounds, each, percent, probability, with_interval

_NUMBERS = ("point", "mean", "probability_worse", "probability_better", "since", "n_items")


def of_drift(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return a record per period."""
    return [
        names | {name: float(one[name]) for name in _NUMBERS} | bounds(one["interval"])
        for names, one in each(data[[*_NUMBERS, "interval"]], "interval", CI_BOUND)
    ]


def drift(data: xr.Dataset) -> str:
    """Say whether the last period is worse than the first, by how much, and since when."""
    attrs, names = data.attrs, list(map(str, data["period"].values.tolist()))
    of = attrs["series"]
    end = int(np.flatnonzero(data["n_items"].values)[-1])
    verdict, last = str(attrs["verdict"]), data.isel(period=end)
    value = with_interval(float(last["mean"]), last["interval"].values, attrs["ci_prob"])
    side = "better" if float(last["probability_better"]) > float(last["probability_worse"]) else "worse"
    beyond = f" by more than {float(attrs['rope']):g}" if float(attrs["rope"]) else ""
    chance = probability(float(last[f"probability_{side}"]), f"P({side} than in {of} {names[0]}{beyond})")
    metric = of_attrs(attrs)
    text = f"{metric[:1].upper()}{metric[1:]} in {of} {names[end]} is {value}; {chance}, "
    change = with_interval(float(data["change"]), data["change_interval"].values)
    text += f"changed by {change}" if verdict != "undecided" else "no verdict"
    if verdict == "worse":
        reached = np.cumsum(data["since"].values)
        level = float(attrs["ci_prob"])
        low, high = (names[int(np.argmax(reached >= (1.0 + sign * level) / 2.0 - 1e-9))] for sign in (-1, 1))
        text += f"; worse since {of} {names[int(data['since'].values.argmax())]}"
        text += f" ({percent(level)}: {low} to {high})" * (low != high)
    return f"{text}; {probability(float(data['probability_changed']), 'P(anything changed)')}."
