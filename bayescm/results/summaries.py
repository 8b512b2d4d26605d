"""Metrics of matrices with their intervals: what summary and interval return."""

from typing import Any

import numpy as np
import xarray as xr

from bayescm.data.schema import ACTUAL, CI_BOUND, METRIC, labels_of
from bayescm.results.names import is_share, known, of_metric, words
from bayescm.results.writing import bounds, each, estimate, moments


def of_matrix(counts: xr.DataArray) -> list[dict[str, Any]]:
    """Return a record per actual class of one matrix, and the totals."""
    labels, values = labels_of(counts), counts.values
    sums = np.vstack([values, values.sum(0)])
    return [
        {
            ACTUAL: label,
            **{f"predicted {one}": int(n) for one, n in zip(labels, row, strict=True)},
            "total": int(row.sum()),
        }
        for label, row in zip([*labels, "total"], sums, strict=True)
    ]


def of_summary(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return a record per matrix and metric."""
    return [
        {
            **names, **of_metric(one),
            **moments(one), "ci_kind": str(one["ci_kind"].item()), "mcse_mean": float(one["mcse_mean"]),
            **bounds(one["mcse_interval"], "mcse_"), "method": str(one["method"].item()),
        }
        for names, one in each(data, "interval", CI_BOUND)
    ]  # fmt: skip


def of_interval(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return a record per matrix and metric."""
    return [
        {**names, **of_metric(one), "point": float(one["point"])}
        | ({"se": float(one["se"])} if "se" in one else {})
        | bounds(one["interval"])
        for names, one in each(data, "interval", CI_BOUND)
    ]


def _place(names: dict[str, Any]) -> str:
    """Say which matrix is meant: by its name, or as number so many of a dim."""
    return " ".join(value if isinstance(value, str) else f"{dim} {value}" for dim, value in names.items())


def answer(data: xr.Dataset) -> str:
    """Say what was measured, and where the value may lie.

    Of several metrics the one that says most is told (accuracy, or else the first), and the least certain.
    """
    level = data.attrs["ci_prob"]
    metrics = [str(name) for name in data[METRIC].values.ravel()]
    main = data
    if METRIC in data.dims:
        main = data.isel({METRIC: metrics.index("accuracy") if "accuracy" in metrics else 0})
    name = words(main)
    name = name[:1].upper() + name[1:]
    if "counts" not in main.attrs and "mean" in main and np.isnan(main["point"]).all():  # draws of a model alone
        main = main.assign(point=main["mean"])
    found = [(_place(names), estimate(one, level)) for names, one in each(main, "point")]
    if len(found) > 1:
        points = [float(one["point"]) for _, one in each(main, "point")]
        ordered = sorted((i for i, point in enumerate(points) if point == point), key=lambda i: -points[i])
        if not ordered:
            return f"{name} isn't defined for any of {len(found)} matrices."
        (first, high), (last, low) = (found[i] for i in (ordered[0], ordered[-1]))
        return f"{name} of {len(found)} matrices: from {low} of {last} to {high} of {first}."
    text = f"{name} is {found[0][1]}"
    widths = data["interval"].diff(CI_BOUND).squeeze(CI_BOUND)
    shares = np.array([is_share(known(metric)) for metric in metrics])
    if len(metrics) > 1 and shares.any() and "bound" not in data.attrs:
        least = data.isel({METRIC: int(np.where(shares, widths, -1.0).argmax())})
        if str(least[METRIC].item()) != str(main[METRIC].item()):
            text += f"; least certain of {len(metrics)} metrics: {words(least)}, {estimate(each(least, 'point')[0][1])}"
    return f"{text}."
