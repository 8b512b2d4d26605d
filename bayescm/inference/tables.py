"""The Dataset that a summary is: statistics of every metric, with their names."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data.schema import CI_BOUND, interval_coordinate
from bayescm.metrics import Metric, per_label

Array = NDArray[np.float64]

STATISTICS = (
    "point", "mean", "median", "sd", "lower", "upper", "mcse_mean", "mcse_lower", "mcse_upper", "is_hdi", "error",
)  # fmt: skip
_LONG_NAMES = {
    "point": "Value of the counts themselves",
    "mean": "Posterior mean",
    "median": "Posterior median",
    "sd": "Posterior standard deviation",
    "interval": "Credible interval",
    "width": "Length of the credible interval",
    "mcse_mean": "Monte Carlo standard error of the mean (0: exact)",
    "mcse_interval": "Monte Carlo standard error of the bounds (0: exact)",
    "error": "Estimated relative error of the tails' probabilities (0: closed form; NaN: draws)",
}


def rows(
    found: Mapping[str, Mapping[str, Any]], metrics: Sequence[Metric], points: Sequence[Array], batch: tuple[int, ...]
) -> Array:
    """Put the statistics of all metrics, and their points, into one table (..., metric, statistic)."""
    several = [np.ndim(point) > len(batch) for point in points]
    sizes = [np.shape(point)[-1] if each else 1 for point, each in zip(points, several, strict=True)]
    table = np.zeros((sum(sizes), len(STATISTICS), *batch))  # each statistic's numbers side by side: written fast
    starts = np.cumsum([0, *sizes[:-1]])
    for metric, point, each, start, size in zip(metrics, points, several, starts, sizes, strict=True):
        values = {**found[metric.name], "point": point}
        for place, name in enumerate(STATISTICS):
            if name in values:
                one = values[name]
                one = one if np.shape(one) == np.shape(point) else np.broadcast_to(one, np.shape(point))
                table[start : start + size, place] = np.moveaxis(one, -1, 0) if each else one
    return np.moveaxis(table, (0, 1), (-2, -1))


def by_row[T](values: Sequence[T], metrics: Sequence[Metric], k: int) -> Sequence[T]:
    """Return what is true of metrics for each of their rows, of which K classes have one each."""
    if k == 2:
        return values
    return [one for one, metric in zip(values, metrics, strict=True) for _ in range(k if per_label(metric, k) else 1)]


def dataset(
    table: xr.DataArray,
    coords: Mapping[str, Any],
    method: xr.Variable,
    ci_prob: float,
    ci_kind: str,
    attrs: dict[str, str | int | float],
) -> xr.Dataset:
    """Give the table of statistics its names, in one construction: labels cost more than the numbers.

    Parameters
    ----------
    table : xarray.DataArray
        ``(..., metric, statistic)``, in the order of :data:`STATISTICS`; may be lazy.
    coords : mapping
        Of the dim ``metric``: see :func:`bayescm.metrics.coordinates`.
    method : xarray.Variable
        Over ``metric`` (and the batch): "exact", "numerical" or "draws".
    ci_prob, ci_kind, attrs
        Of the interval, and how all was made.
    """
    place = {name: i for i, name in enumerate(STATISTICS)}
    values: Any = table.data
    dims = table.dims[:-1]
    columns = {name: values[..., place[name]] for name in ("point", "mean", "median", "sd", "mcse_mean", "error")}
    columns["width"] = values[..., place["upper"]] - values[..., place["lower"]]
    pairs = {"interval": ("lower", "upper"), "mcse_interval": ("mcse_lower", "mcse_upper")}
    variables = {name: (dims, column) for name, column in columns.items()}
    variables |= {
        name: ((*dims, CI_BOUND), values[..., place[low] : place[high] + 1]) for name, (low, high) in pairs.items()
    }
    is_hdi = xr.Variable(dims, values[..., place["is_hdi"]])
    kind = xr.apply_ufunc(_kinds, is_hdi, dask="parallelized", output_dtypes=["<U3"])
    return xr.Dataset(
        {
            **{name: (*variables[name], {"long_name": text, "units": "1"}) for name, text in _LONG_NAMES.items()},
            "ci_kind": kind,
            "method": method,
        },
        coords={
            **table.coords, **coords, CI_BOUND: interval_coordinate(ci_prob, ci_kind)
        },
        attrs=attrs,
    )  # fmt: skip


def _kinds(is_hdi: Array) -> NDArray[np.str_]:
    """Return the names of the kinds of intervals."""
    where = is_hdi > 0
    kinds = np.full(where.shape, "hdi" if where.all() else "eti", "<U3")
    if where.any() and not where.all():
        kinds[where] = "hdi"
    return kinds
