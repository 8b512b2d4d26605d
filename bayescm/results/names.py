"""Metrics as results name them: in words, and what is known about them."""

from collections.abc import Mapping
from typing import Any

import xarray as xr

from bayescm.data.schema import ALIAS, METRIC
from bayescm.metrics import Metric, resolve


def called(metric: str, alias: str = "") -> str:
    """Return a metric's name as the user called it, with the canonical one beside: "sensitivity (recall)"."""
    return f"{alias} ({metric.partition('[')[0]})" if alias not in ("", metric) else metric


def of_metric(one: xr.Dataset) -> dict[str, str]:
    """Return the canonical name of the only metric, and the one that the user gave it, as records have them."""
    return {name: str(one[name].item()) for name in (METRIC, ALIAS) if name in one.coords}


def metric_names(data: xr.Dataset) -> list[str]:
    """Return the names of the metrics of a Dataset, as they are shown."""
    aliases = data[ALIAS].values.ravel() if ALIAS in data.coords else [""] * data[METRIC].size
    return [called(str(name), str(other)) for name, other in zip(data[METRIC].values.ravel(), aliases, strict=True)]


def words(data: xr.Dataset) -> str:
    """Return the name of the only metric of a Dataset, in words."""
    return metric_names(data)[0].replace("_", " ")


def of_attrs(attrs: Mapping[Any, Any]) -> str:
    """Return the name of the metric that attrs speak of, in words."""
    return called(str(attrs[METRIC]), str(attrs.get(ALIAS, ""))).replace("_", " ")


def known(name: str) -> Metric | None:
    """Return the metric of a name, which may be that of one class; None for a user's own."""
    try:
        return resolve(name.partition("[")[0], 3 if "[" in name else 2)[0]
    except ValueError:
        return None


def is_share(metric: Metric | None) -> bool:
    """Say whether a metric goes from 0 to 1, so that differences are points of a hundred."""
    return metric is not None and (metric.lower, metric.upper) == (0.0, 1.0)
