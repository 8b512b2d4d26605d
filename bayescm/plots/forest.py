"""Forest of metrics: point, posterior mean and interval."""

import textwrap
from typing import Any

import numpy as np
import xarray as xr

from bayescm.data import validate
from bayescm.data.schema import CI_BOUND, METRIC
from bayescm.inference.summaries import summary
from bayescm.plots.checks import answer_of
from bayescm.plots.frames import Axes, new_axes
from bayescm.plots.layers import batch_of
from bayescm.plots.letters import as_written
from bayescm.results.names import metric_names

_ROOM = 0.7  # of a line, between the classes of two metrics


@as_written
def plot_forest(data: xr.Dataset | xr.DataTree, *, reference: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw the intervals of metrics, one line each.

    Several systems stand side by side in colours; of one metric, below one another.

    Parameters
    ----------
    data : xarray.Dataset or xarray.DataTree
        From :func:`bayescm.summary` or :func:`bayescm.replicate`, with at most one batch dim; or a model's draws, of
        which the summary is drawn.
    reference : float, optional
        A value to compare with, drawn as a vertical line.
    ax : matplotlib.axes.Axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Metrics without an upper limit (likelihood ratios, odds ratio) whose interval leaves [-1, 1] are left out and named
    below the axis: they need a scale of their own.

    Examples
    --------
    >>> import bayescm
    >>> ax = bayescm.plot_forest(bayescm.summary([[6, 2], [0, 26]], ["recall", "precision"]))
    """
    import matplotlib.pyplot as plt

    data = answer_of(
        summary, data, (METRIC, "mean", "point", "interval"), ("ci_prob", "ci_kind"),
        call="bayescm.plot_forest(bayescm.summary(counts))",
    )  # fmt: skip
    batch = batch_of(data, "mean", (METRIC,))
    shown = on_the_common_scale(data)
    left_out = [str(name) for name in data[METRIC].values if name not in shown[METRIC].values]
    systems = [str(value) for value in data[batch].values] if batch else []
    title = "value"
    if systems and shown.sizes[METRIC] == 1:  # one metric of several systems: a line for each system
        title, names = metric_names(shown)[0], systems
        groups = [("", shown.isel({METRIC: 0}))]
    else:
        names = metric_names(shown)
        groups = [(system, shown.isel({batch: i})) for i, system in enumerate(systems)] or [("", shown)]
    rows = _rows(names)
    height = max(2.2, 0.27 * (rows[-1] + 1) * max(1, 0.6 * len(groups)) + 1.1)
    ax = new_axes(ax, (7.0 if len(groups) <= 8 else 8.5, height))
    offsets = np.linspace(-0.35, 0.35, len(groups)) if len(groups) > 1 else [0.0]
    palette = plt.get_cmap("turbo")
    if len(groups) > 1:
        for row in rows[1::2]:
            ax.axhspan(row - 0.5, row + 0.5, color="0.96", linewidth=0, zorder=0)
    for i, ((system, one), offset) in enumerate(zip(groups, offsets, strict=True)):
        color = f"C{i}" if len(groups) <= 10 else palette(i / (len(groups) - 1))
        _draw_group(ax, one, rows + offset, color, system)
    if reference is not None:
        reference = validate.number("reference", reference, -np.inf, np.inf)
        ax.axvline(reference, color="0.4", linestyle="--", linewidth=1)
    ax.set_yticks(rows, [name.replace("_", " ") for name in names])
    ax.set_ylim(rows[-1] + 0.5, -0.5)
    ax.grid(axis="x", color="0.9")
    ax.set_axisbelow(True)
    ax.set_xlabel(_x_label(data, title, left_out))
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 8}
    if len(groups) > 8:
        place = {"loc": "upper left", "bbox_to_anchor": (1, 1)}
    ax.legend(frameon=False, fontsize="small", **place)
    return ax


def _rows(names: list[str]) -> Any:
    """Return the places of lines, with room around the classes of one metric."""
    bases, of_class = [name.partition("[")[0] for name in names], ["[" in name for name in names]
    apart = [_ROOM * (bases[i] != bases[i - 1] and (of_class[i] or of_class[i - 1])) for i in range(1, len(names))]
    return np.arange(len(names)) + np.cumsum([0.0, *apart])


def on_the_common_scale(data: xr.Dataset) -> xr.Dataset:
    """Return the metrics whose intervals lie within [-1, 1]; all of them if none does."""
    bounds = data["interval"].transpose(METRIC, ...).values.reshape(data.sizes[METRIC], -1)
    inside = (np.abs(bounds) <= 1).all(axis=1)
    return data.isel({METRIC: np.flatnonzero(inside)}) if inside.any() else data


def _x_label(data: xr.Dataset, title: str, left_out: list[str]) -> str:
    kind = {"hdi": "highest-density", "eti": "equal-tailed"}[str(data.attrs["ci_kind"])]
    text = f"{title.replace('_', ' ')}, with {100 * float(data.attrs['ci_prob']):g}% {kind} interval"
    if left_out:
        names = ", ".join(name.replace("_", " ") for name in left_out)
        text += "\n" + textwrap.fill(f"not shown (other scale): {names}", 75)
    return text


def _draw_group(ax: Axes, one: xr.Dataset, y: Any, color: Any, system: str) -> None:
    """Draw the lines and marks of one matrix."""
    lower, upper = (one["interval"].sel({CI_BOUND: bound}).values for bound in ("lower", "upper"))
    alone = not system
    ax.hlines(y, lower, upper, color=color, linewidth=2.2, label="interval" if alone else system)
    mean: dict[str, Any] = {"markersize": 5, "markerfacecolor": "white", "zorder": 3}
    ax.plot(one["mean"].values, y, "o", color=color, label="posterior mean" if alone else None, **mean)
    tick: dict[str, Any] = {"markersize": 12 if alone else 8, "label": "value of the counts" if alone else None}
    ax.plot(one["point"].values, y, "|", color="black", **tick)
