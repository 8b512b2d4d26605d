"""The gap that a comparison or a leaderboard shows between its two best systems, as a plan takes it."""

from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bayescm.data.schema import CELL, METRIC, SYSTEM
from bayescm.metrics import compute, parts, resolve


class Gap(NamedTuple):
    """Rates of the better and of the other system, and of how many items exactly one of them gets right."""

    first: float
    second: float
    discordance: float | None
    metric: str


def is_result(data: Any) -> bool:
    """Say whether data is what a comparison or a leaderboard returned."""
    return isinstance(data, xr.Dataset | xr.DataTree)


def of_result(found: Any) -> Gap:
    """Read the rates as they were seen."""
    if isinstance(found, xr.DataTree) and {"summary", "observed_data"} <= set(found.children):
        return _in_order(_of_comparison(found))
    if isinstance(found, xr.Dataset) and {"tie_group", "mean"} <= set(found.data_vars):
        return _in_order(_of_board(found))
    raise ValueError(
        "`first` must be a rate, such as 0.85, or what bayescm.compare_systems or bayescm.leaderboard returned."
    )


def _in_order(gap: Gap) -> Gap:
    """Put the better one first."""
    if not np.isfinite([gap.first, gap.second]).all():
        raise ValueError(
            f"`first` shows no gap: {gap.metric} is 0/0 of these counts; give the gap that matters to you."
        )
    if gap.first == gap.second:
        raise ValueError(f"`first` shows no gap: both systems have {gap.first:g}; give the gap that matters to you.")
    worse = (gap.first < gap.second) != resolve([gap.metric], 2)[0].loss
    return Gap(gap.second, gap.first, gap.discordance, gap.metric) if worse else gap


def _of_comparison(found: xr.DataTree) -> Gap:
    """Read the comparison of two systems: their counts, and the items that tell them apart."""
    summary, counts = found["summary"].to_dataset(), found["observed_data"]["counts"]
    if summary.sizes["comparison"] != 1 or summary.sizes[METRIC] != 1 or "fold" in counts.dims:
        raise ValueError(
            "`first` must be the comparison of two systems in one metric: bayescm.compare_systems({'A': ..., 'B': ...},"
            " 'accuracy')."
        )
    values = counts.transpose(SYSTEM, CELL).values
    k = int(np.sqrt(values.shape[1]))
    metric = resolve([str(summary[METRIC].values[0])], k)[0]
    matrices = values.reshape(-1, k, k)
    first, second = compute([metric], matrices)[0].tolist()
    if "discordant" not in summary:
        return Gap(first, second, None, metric.name)
    if found.attrs.get("runs", 1) != 1:
        raise ValueError("`first` is of several runs of an item, for which there is no plan; give rates.")
    items = sum(part.sum() for part in parts(metric, matrices[0]))
    return Gap(first, second, float(summary["discordant"].sum()) / max(float(items), 1.0), metric.name)


def _of_board(board: xr.Dataset) -> Gap:
    """Read the two best systems of a leaderboard, as it estimates them."""
    if board.attrs.get("design") != "independent":
        raise ValueError(
            "`first` is a board of the same items, which doesn't keep how many tell two systems apart: give "
            "bayescm.compare_systems of these two."
        )
    if board.sizes[SYSTEM] < 2:
        raise ValueError("`first` has one system; a gap needs two.")
    metric = str(board.attrs[METRIC])
    means = np.sort(board["mean"].values)
    first, second = means[:2] if resolve([metric], 2)[0].loss else means[:-3:-1]
    return Gap(float(first), float(second), None, metric)
