"""How far groups are apart: what gaps returns."""

from typing import Any

import xarray as xr

from bayescm.data.schema import CI_BOUND
from bayescm.results.names import of_metric, words
from bayescm.results.writing import bounds, each, probability, with_interval

_NUMBERS = ("point", "mean", "median", "sd", "ratio", "probability_within", "mcse_mean")


def of_gaps(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return a record per metric."""
    return [
        {**of_metric(one), **{name: float(one[name]) for name in _NUMBERS}, **bounds(one["interval"])}
        for _, one in each(data[[*_NUMBERS, "interval"]], "interval", CI_BOUND)
    ]


def gaps(data: xr.Dataset) -> str:
    """Say of each of the first metrics how far groups are apart, and how probably that doesn't matter."""
    rope, level = float(data.attrs["rope"]), float(data.attrs["ci_prob"])
    told = [
        f"{words(one)} {with_interval(float(one['median']), one['interval'].values, None if i else level)}, "
        + probability(float(one["probability_within"]), f"P(within {rope:g})")
        for i, (_, one) in enumerate(each(data, "interval", CI_BOUND))
    ]
    how = "partially pooled" if int(data.attrs["pooled"]) else "each by itself"
    return f"Largest gap of {int(data.attrs['groups'])} groups, {how}: {'; '.join(told)}."
