"""Metrics as results name them: in words, and what is known about them."""

import xarray as xr

from bayescm.data.schema import METRIC
from bayescm.metrics import Metric, resolve


def words(data: xr.Dataset) -> str:
    """Return the name of the only metric of a Dataset, in words."""
    return str(data[METRIC].item()).replace("_", " ")


def known(name: str) -> Metric | None:
    """Return the metric of a name, which may be that of one class; None for a user's own."""
    try:
        return resolve(name.partition("[")[0], 3 if "[" in name else 2)[0]
    except ValueError:
        return None


def is_share(metric: Metric | None) -> bool:
    """Say whether a metric goes from 0 to 1, so that differences are points of a hundred."""
    return metric is not None and (metric.lower, metric.upper) == (0.0, 1.0)
