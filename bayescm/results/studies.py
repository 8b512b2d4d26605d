"""Studies of one test together: what synthesis returns."""

from typing import Any

import xarray as xr

from bayescm.data.schema import CI_BOUND
from bayescm.results.names import called, of_metric
from bayescm.results.writing import bounds, each, listed, with_interval

ESTIMATE = "estimate"
_TOLD = 2  # metrics


def of_synthesis(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return a record per estimate and metric; `point` is the maximum of the likelihood."""
    return [
        {**names, **of_metric(one)}
        | {name: float(one[name]) for name in ("point", "mean", "median", "sd")} | bounds(one["interval"])
        | {"mcse_mean": float(one["mcse_mean"])}
        for names, one in each(data, "interval", CI_BOUND)
    ]  # fmt: skip


def synthesis(data: xr.Dataset) -> str:
    """Say what a test does in the median study, on average and in the next one, by the first two metrics."""
    told: dict[str, list[str]] = {}
    for _, one in each(data, "interval", CI_BOUND):
        said = told.setdefault(str(one[ESTIMATE].item()), [])
        if len(said) < _TOLD:
            level = data.attrs["ci_prob"] if len(told) == 1 and not said else None
            name = called(**of_metric(one)).replace("_", " ")
            said.append(f"{name} {with_interval(float(one['median']), one['interval'].values, level)}")
    estimates = "; ".join(f"{estimate}: {listed(said)}" for estimate, said in told.items())
    return f"{int(data.attrs['studies'])} studies. {estimates[:1].upper()}{estimates[1:]}."
