"""Several readers of the same cases: what readers returns."""

from typing import Any

import numpy as np
import xarray as xr

from bayescm.data.schema import CI_BOUND, SYSTEM
from bayescm.results.writing import bounds, each, listed, probability, show, with_interval

_NUMBERS = ("point", "se", "df", "p_value", "probability_positive")
_MEANT = {"readers and cases": "other readers and cases", "cases": "other cases, by this reader"}


def of_readers(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return a record per estimate and what was sampled."""
    return [
        names | {name: float(one[name]) for name in _NUMBERS} | bounds(one["interval"])
        | bounds(one["credible"], "credible_")
        for names, one in each(data[[*_NUMBERS, "interval", "credible"]], "interval", CI_BOUND)
    ]  # fmt: skip


def readers(data: xr.Dataset) -> str:
    """Say how good readers are on average, and whether systems differ, for readers and cases to come."""
    attrs, t = data.attrs, data.sizes[SYSTEM]
    r = int(attrs["readers"])
    sampled = "cases" if r == 1 else "readers and cases"
    found = data.sel(sampled=sampled)
    what = "AUC" if attrs["metric"] == "auc" else str(attrs["metric"])
    of = f"{what[0].upper()}{what[1:]}, mean of {r} readers" if r > 1 else f"{what[0].upper()}{what[1:]} of one reader"
    rows = [found.isel(estimate=i) for i in range(found.sizes["estimate"])]
    means = [
        f"{with_interval(float(one['point']), one['interval'].values, None if i else attrs['ci_prob'])}"
        + ("" if t == 1 else f" with {one['estimate'].item()}")
        for i, one in enumerate(rows[:t])
    ]
    texts = [f"{of}: {listed(means)}"]
    if t == 2:
        one = rows[2]
        texts.append(
            f"{one['estimate'].item()} is {with_interval(float(one['point']), one['interval'].values)}, "
            f"{_p(float(one['p_value']))}, {probability(float(one['probability_positive']), 'P(> 0)')}"
        )
    elif t > 2:
        texts.append(f"all alike: {_p(float(found['f_p_value']))}")
    return f"{'; '.join(texts)}. For {_MEANT[sampled]}."


def _p(value: float) -> str:
    """Write a p-value."""
    if np.isnan(value):
        return "p undefined"
    return f"p < {0.001}" if value < 0.001 else f"p = {show(value)}"
