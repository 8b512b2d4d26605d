"""Studies of one test together: what synthesis returns."""

from typing import Any

import xarray as xr

from bayescm.data.schema import CI_BOUND, METRIC
from bayescm.results.names import called, of_metric
from bayescm.results.writing import bounds, each, listed, probability, with_interval

ESTIMATE, AT = "estimate", "at"
_TOLD = 2  # metrics


def of_synthesis(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return a record per estimate and metric; `point` is the maximum of the likelihood."""
    more = ("difference", "probability_better") if "difference" in data else ()
    return [
        {**names, **of_metric(one)}
        | {name: float(one[name]) for name in ("point", "mean", "median", "sd", *more)} | bounds(one["interval"])
        | (bounds(one["difference_interval"], "difference_") if more else {}) | {"mcse_mean": float(one["mcse_mean"])}
        for names, one in each(data, "interval", CI_BOUND)
    ]  # fmt: skip


def synthesis(data: xr.Dataset) -> str:
    """Say what a test does in the median study, on average and in the next one, by the first two metrics.

    With covariates it says what each level does in the median study, and how it differs from the first.
    """
    rows = int(data.attrs["studies"])
    if AT not in data.dims:
        estimates = "; ".join(f"{estimate}: {listed(said)}" for estimate, said in _by(data, ESTIMATE).items())
        return f"{rows} studies. {estimates[:1].upper()}{estimates[1:]}."
    median = data.sel({ESTIMATE: "median study"})
    levels = [f"{level}: {listed(said)}" for level, said in _by(median, AT).items()]
    sentences = [f"{rows} rows of studies. Median study at {'; '.join(levels)}."]
    compared = median.isel({AT: median["difference"].notnull().any(METRIC).values})
    for level, said in _by(compared, AT, "difference").items():
        sentences.append(f"{level} minus {compared['versus'].sel({AT: level}).item()}: {listed(said)}.")
    return " ".join(sentences)


def _by(data: xr.Dataset, dim: str, what: str = "") -> dict[str, list[str]]:
    """Write the first two metrics at each place of a dim, or their differences with P(better)."""
    told: dict[str, list[str]] = {}
    for _, one in each(data, "interval", CI_BOUND):
        said = told.setdefault(str(one[dim].item()), [])
        if len(said) < _TOLD:
            level = data.attrs["ci_prob"] if len(told) == 1 and not said and not what else None
            value, ends = (one[what], one[f"{what}_interval"]) if what else (one["median"], one["interval"])
            text = f"{called(**of_metric(one)).replace('_', ' ')} {with_interval(float(value), ends.values, level)}"
            better = probability(float(one["probability_better"]), "P(better)") if what else ""
            said.append(f"{text}, {better}" if better else text)
    return told
