"""A leaderboard whose ranks are uncertain."""

from typing import Any

import numpy as np
import xarray as xr

from bayescm.comparison.boards import leaderboard
from bayescm.data import validate
from bayescm.data.schema import SYSTEM
from bayescm.plots.checks import answer_of
from bayescm.plots.frames import Axes
from bayescm.plots.heat import draw_heat, draw_totals, short_probability
from bayescm.plots.layers import batch_labels
from bayescm.plots.letters import as_written
from bayescm.plots.style import tone

_SAID = 0.005  # the smallest probability that is written into its square
_WRITTEN = 15  # most systems with numbers in the squares


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
        How many to show at most, those with the best expected ranks.
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
    >>> ax = bayescm.plots.plot_leaderboard(board)
    """
    from matplotlib.colors import PowerNorm

    data = answer_of(
        leaderboard, data, ("rank_probability", "expected_rank", "tie_group"), ("method", "title"),
        call="bayescm.plots.plot_leaderboard(bayescm.leaderboard(systems))",
    )  # fmt: skip
    shown = min(validate.positive_integer("systems", systems), data.sizes[SYSTEM])
    best = data.isel({SYSTEM: np.argsort(data["expected_rank"].values, kind="stable")[:shown]})
    share = best["rank_probability"].transpose("rank", SYSTEM).values[:shown]
    many = shown > _WRITTEN
    texts = np.array([short_probability(value) if value >= _SAID else "" for value in share.flat]).reshape(share.shape)
    ax, room = draw_heat(
        ax, share, ([str(rank) for rank in range(1, shown + 1)], batch_labels(best[SYSTEM].values)),
        [] if many else [texts], cell=0.4 if many else 0.62, bar="probability" if many else "", cmap=cmap,
        aspect="auto", norm=PowerNorm(0.4, 0.0, share.max()) if many else PowerNorm(1.0, 0.0, 1.0),
    )  # fmt: skip
    _divide(ax, best["tie_group"].values)
    ax.set_xlabel(f"system, by expected rank{'' if shown == data.sizes[SYSTEM] else f' (the first {shown})'}")
    ax.set_ylabel("rank")
    ax.set_title(_title(data), fontsize="medium", loc="left")
    if "expected_prize" in best:
        prizes = best["expected_prize"].values
        said = [f"{prize:,.0f}" if prize >= 0.5 else "0" for prize in prizes]
        draw_totals(ax, "top", said, "expected prize", room)
    return ax


def _divide(ax: Axes, groups: Any) -> None:
    """Draw a line where a tie group ends for good."""
    for after in range(1, len(groups)):
        if groups[:after].max() < groups[after:].min():
            ax.axvline(after - 0.5, color=tone(0.65), linewidth=1)


def _title(board: xr.Dataset) -> str:
    """Say what is ranked, and how."""
    drawn = f"{board.attrs['draws']:,} draws" if "draws" in board.attrs else "no draws"
    known = {"paired": "the same items", "joint": "draws of one model", "folds": "the same folds"}
    items = known.get(str(board.attrs["design"]), "independent test sets")
    return f"{board.attrs['title']}: P(rank); {items}, {drawn}"
