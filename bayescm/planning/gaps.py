"""What a comparison or a leaderboard says of its two best systems, as a plan takes it: as a pilot, with its doubts."""

from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bayescm.data.schema import CELL, METRIC, SYSTEM
from bayescm.distributions.beta_binomial import Rate
from bayescm.metrics import compute, parts, resolve
from bayescm.priors.elicitation import beta_from_interval


class Pilot(NamedTuple):
    """What was seen of two systems: their rates, and the numbers behind them.

    Attributes
    ----------
    first, second : float
    metric : str
    counts : tuple of pairs
        Of items of their own: of each system, how many count for it and against it. Of the same items: how many one
        system alone gets right and how many not; and of the former, how many the first and the second.
    paired : bool
    whole : bool
        Whether the numbers are those of posterior Betas, which hold the prior already.
    """

    first: float
    second: float
    metric: str
    counts: tuple[tuple[float, float], tuple[float, float]]
    paired: bool = False
    whole: bool = False

    def rates(self, first: tuple[float, float], second: tuple[float, float]) -> tuple[Rate, Rate]:
        """Return what is thought after it, of the priors of both pairs of numbers."""
        one, other = self.counts
        if self.whole:
            return Rate(*one), Rate(*other)
        return Rate(one[0] + first[0], one[1] + first[1]), Rate(other[0] + second[0], other[1] + second[1])


def is_result(data: Any) -> bool:
    """Say whether data is what a comparison or a leaderboard returned."""
    return isinstance(data, xr.Dataset | xr.DataTree)


def of_result(found: Any) -> Pilot:
    """Read what was seen."""
    if isinstance(found, xr.DataTree) and {"summary", "observed_data"} <= set(found.children):
        return _of_comparison(found)
    if isinstance(found, xr.Dataset) and {"tie_group", "mean"} <= set(found.data_vars):
        return _of_board(found)
    raise ValueError(
        "`first` must be a rate, such as 0.85, or what bayescm.compare_systems or bayescm.leaderboard returned."
    )


def _of_comparison(found: xr.DataTree) -> Pilot:
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
    if not np.isfinite([first, second]).all():
        raise ValueError(
            f"`first` is no pilot: {metric.name} is 0/0 of these counts; give the gap that matters to you."
        )
    over, under = (part.astype(np.float64).tolist() for part in parts(metric, matrices))
    if "discordant" not in summary:
        return Pilot(first, second, metric.name, ((over[0], under[0]), (over[1], under[1])))
    if found.attrs.get("runs", 1) != 1:
        raise ValueError("`first` is of several runs of an item, for which there is no plan; give rates.")
    alone = summary["discordant"].values.astype(np.float64).ravel().tolist()
    apart = sum(alone)
    return Pilot(first, second, metric.name, ((apart, over[0] + under[0] - apart), (alone[0], alone[1])), paired=True)


def _of_board(board: xr.Dataset) -> Pilot:
    """Read the two best systems of a leaderboard as it estimates them: the Betas with their central intervals."""
    if board.attrs.get("design") != "independent":
        raise ValueError(
            "`first` is a board of the same items, which doesn't keep how many tell two systems apart: give "
            "bayescm.compare_systems of these two."
        )
    if board.sizes[SYSTEM] < 2:
        raise ValueError("`first` has one system; a gap needs two.")
    metric = resolve([str(board.attrs[METRIC])], 2)[0]
    best = board.isel({SYSTEM: np.argsort(board["mean"].values * (1.0 if metric.loss else -1.0))[:2]})
    level = float(board.attrs["ci_prob"])
    one, other = (beta_from_interval(lower, upper, ci_prob=level) for lower, upper in best["interval"].values.tolist())
    first, second = best["mean"].values.tolist()
    return Pilot(first, second, metric.name, (one, other), whole=True)
