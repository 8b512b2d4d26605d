"""A leaderboard whose ranks are uncertain."""

from typing import Any

import numpy as np
import xarray as xr

from bayescm.comparison.boards import leaderboard
from bayescm.data import validate
from bayescm.data.schema import SYSTEM
from bayescm.plots.checks import answer_of
from bayescm.plots.frames import Axes, new_axes
from bayescm.plots.layers import batch_labels
from bayescm.plots.letters import as_written

_SAID = 0.005  # the smallest probability that is written into its square
_WRITTEN = 15  # most systems with numbers in the squares
_NAMED = 50  # most with names


@as_written
def plot_leaderboard(
    data: xr.Dataset | xr.DataTree, *, systems: int = 50, cmap: str = "Blues", ax: Axes | None = None
) -> Axes:
    """Draw the probabilities of the ranks as a heat map, with the expected prizes on top.

    Parameters
    ----------
    data : xarray.Dataset or xarray.DataTree
        From :func:`bayescm.leaderboard`; or a model's draws of several systems.
    systems : int
        How many to show at most, those with the best expected ranks; names are written of up to 50.
    cmap : str
        Colours of the probabilities: from 0 to 1, or, of more than 15 systems, to the largest, small ones enhanced.
    ax : matplotlib.axes.Axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    A line is drawn where every system to the left is in an earlier tie group than every one to the right. Each column
    sums to 1 if all ranks are shown. Of prizes the top line gives the expected ones.

    References
    ----------
    Toetsch and Hoffmann 2021, Fig. 5.

    Examples
    --------
    >>> import bayescm
    >>> board = bayescm.leaderboard(
    ...     bayescm.datasets.kaggle2019(), design="independent", prizes=[10_000, 2000, 1000]
    ... )
    >>> ax = bayescm.plot_leaderboard(board)
    """
    from matplotlib.colors import PowerNorm

    data = answer_of(
        leaderboard, data, ("rank_probability", "expected_rank", "tie_group"), ("method", "title"),
        call="bayescm.plot_leaderboard(bayescm.leaderboard(systems))",
    )  # fmt: skip
    shown = min(validate.positive_integer("systems", systems), data.sizes[SYSTEM])
    best = data.isel({SYSTEM: np.argsort(data["expected_rank"].values, kind="stable")[:shown]})
    share = best["rank_probability"].transpose("rank", SYSTEM).values[:shown]
    width = max(5.6, 0.62 * shown + 1.6) if shown <= _WRITTEN else 9.0
    ax = new_axes(ax, (width, 0.8 * width + 0.4))
    norm = PowerNorm(1.0, 0.0, 1.0) if shown <= _WRITTEN else PowerNorm(0.4, 0.0, share.max())
    image = ax.imshow(share, norm=norm, cmap=cmap, aspect="auto")
    if shown <= _WRITTEN:
        _write(ax, share)
        names = batch_labels(best[SYSTEM].values)
        crowded = max(map(len, names)) > 4
        ax.set_xticks(range(shown), names, rotation=45 if crowded else 0, ha="right" if crowded else "center")
        ax.set_yticks(range(shown), [str(rank) for rank in range(1, shown + 1)])
    else:
        names = batch_labels(best[SYSTEM].values) if shown <= _NAMED else []
        ax.set_xticks(range(len(names)), names, rotation=90, fontsize="x-small")
        ticks = np.arange(1, shown + 1, max(1, round(shown / 10)))
        ax.set_yticks(ticks - 1, [str(rank) for rank in ticks])
        ax.figure.colorbar(image, ax=ax, label="probability")
    _divide(ax, best["tie_group"].values)
    ax.set_xlabel(f"system, by expected rank{'' if shown == data.sizes[SYSTEM] else f' (the first {shown})'}")
    ax.set_ylabel("rank")
    ax.set_title(_title(data), fontsize="medium", loc="left")
    if "expected_prize" in best:
        _prizes(ax, best["expected_prize"].values)
    return ax


def _write(ax: Axes, share: Any) -> None:
    """Write probabilities into their squares."""
    for rank, system in np.argwhere(share >= _SAID):
        value = share[rank, system]
        text = f"{value:.2f}".lstrip("0") if value < 0.995 else ">.99"
        ax.text(
            system, rank, text, ha="center", va="center", fontsize="small", color="white" if value > 0.55 else "black"
        )


def _divide(ax: Axes, groups: Any) -> None:
    """Draw a line where a tie group ends for good."""
    for after in range(1, len(groups)):
        if groups[:after].max() < groups[after:].min():
            ax.axvline(after - 0.5, color="0.35", linewidth=1)


def _prizes(ax: Axes, prizes: Any) -> None:
    """Write the expected prizes above the columns."""
    if len(prizes) > _NAMED:
        return
    above = ax.secondary_xaxis("top")
    crowded = len(prizes) > _WRITTEN
    above.set_xticks(
        range(len(prizes)), [f"{prize:,.0f}" if prize >= 0.5 else "0" for prize in prizes],
        rotation=90 if crowded else 0, fontsize="x-small" if crowded else "small",
    )  # fmt: skip
    above.tick_params(length=0)
    above.set_xlabel("expected prize", fontsize="small", color="0.35")


def _title(board: xr.Dataset) -> str:
    """Say what is ranked, and how."""
    drawn = f"{board.attrs['samples']:,} draws" if "samples" in board.attrs else "no draws"
    items = {"paired": "the same items"}.get(str(board.attrs["design"]), "independent test sets")
    return f"{board.attrs['title']}: P(rank); {items}, {drawn}"
