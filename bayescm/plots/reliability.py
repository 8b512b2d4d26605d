"""Reliability diagrams: what scores that are probabilities say, and how often it comes true."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
import xarray as xr

from bayescm.data.schema import CI_BOUND
from bayescm.plots.frames import (
    Axes,
    draw_legend,
    frame,
    list_legend,
    name_handles,
    open_frame,
    share_x,
    two_axes,
    unit_limits,
)
from bayescm.plots.layers import MARKERS, Layer, layers, named
from bayescm.plots.planes import draw_chance
from bayescm.plots.style import fade, paper, tone
from bayescm.results.writing import percent, with_interval

CALIBRATED = "calibrated"
_HAS = {"point", "interval", "mean_score", "items", "mean_loss", "histogram"}
_DEPTHS = (0.2, 0.08)  # of the bins of one system, and of several over one another


def is_reliability(data: Any) -> TypeGuard[xr.Dataset | Mapping[str, xr.Dataset]]:
    """Say whether this is what reliability() returns, or a mapping of names to such."""
    if isinstance(data, Mapping) and not isinstance(data, xr.Dataset | xr.DataTree):
        return bool(data) and all(isinstance(one, xr.Dataset) and is_reliability(one) for one in data.values())
    return isinstance(data, xr.Dataset) and set(data.variables) >= _HAS


def draw_reliability(
    data: xr.Dataset | Mapping[str, xr.Dataset], names: Sequence[str] | None, *, point: bool, legend: bool, ax: Any
) -> Any:
    """Draw the bins with their simultaneous intervals, and the histogram of the scores below."""
    one = ax is not None and np.size(ax) == 1
    wanted = "one Axes, or two with the histogram below"
    upper, lower = (np.ravel(ax)[0], None) if one else two_axes(ax, 6.2, 4.0, wanted)
    shown = layers([(name, each.compute()) for name, each in named(data, "system")], names, "system")
    frame(upper, "Mean score", "Share of the positive class", unit_limits())
    draw_chance(upper, CALIBRATED)
    for layer, marker in zip(shown, MARKERS, strict=False):
        _draw_bins(upper, layer, fade(_DEPTHS[len(shown) > 1]), marker if point else None)
    if legend:
        _draw_legend(upper, shown, point=point)
    if lower is None:
        return upper
    for layer in shown:
        _draw_histogram(lower, layer, filled=len(shown) == 1)
    share_x(upper)
    return np.array([upper, lower])


def _draw_bins(ax: Axes, layer: Layer, depth: float, marker: str | None) -> None:
    """Draw each bin as a box from edge to edge, its interval at its mean score, and the share of its items."""
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.colors import to_rgba

    data, color = layer.data, layer.color
    left, right, mean = (data[name].values for name in ("bin_lower", "bin_upper", "mean_score"))
    low, high = (data["interval"].sel({CI_BOUND: bound}).values for bound in ("lower", "upper"))
    corners = np.stack([np.stack([left, right, right, left], -1), np.stack([low, low, high, high], -1)], -1)
    ax.add_collection(PolyCollection(list(corners), facecolors=[to_rgba(color, depth)], linewidths=0.0, zorder=1.3))
    some = data["items"].values > 0
    ends = np.stack([np.stack([mean, mean], -1), np.stack([low, high], -1)], -1)[some]
    ax.add_collection(LineCollection(list(ends), colors=[color], linewidths=1.4, zorder=2.8))
    if marker is None:
        return
    off = _off(data)
    for chosen, face in ((some & ~off, color), (some & off, paper())):
        ax.plot(
            mean[chosen], data["point"].values[chosen], linestyle="none", marker=marker, markersize=5.5, color=color,
            markerfacecolor=face, zorder=3.0,
        )  # fmt: skip


def _off(data: xr.Dataset) -> Any:
    """Say of each bin whether its mean score lies outside its interval; not of an empty one."""
    low, high = (data["interval"].sel({CI_BOUND: bound}) for bound in ("lower", "upper"))
    return ((data["mean_score"] < low) | (data["mean_score"] > high)).values


def _draw_histogram(ax: Axes, layer: Layer, *, filled: bool) -> None:
    """Draw how many items have which scores."""
    from matplotlib.ticker import MaxNLocator

    middles = layer.data["score"].values
    half = 0.5 / len(middles)
    ax.stairs(
        layer.data["histogram"].values, np.append(middles - half, middles[-1] + half), color=layer.color,
        fill=filled, alpha=fade(0.5) if filled else None, linestyle="-" if filled else layer.style, linewidth=1.4,
    )  # fmt: skip
    ax.set_xlim(*unit_limits()[0])
    open_frame(ax, "Score", "Items")
    ax.yaxis.set_major_locator(MaxNLocator(3, integer=True))


def _draw_legend(ax: Axes, shown: list[Layer], *, point: bool) -> None:
    """Say what the intervals are, and the Brier score of each system."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    levels = {float(layer.data.attrs["ci_prob"]) for layer in shown}
    said = " and ".join(percent(level) for level in sorted(levels))
    color = shown[0].color if len(shown) == 1 else tone(0.65)
    marks: list[Any] = [Patch(facecolor=color, alpha=fade(0.35), label=f"{said}, all bins at once")]
    dot: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 5.5, "color": color}
    if point:
        marks.append(Line2D([], [], **dot, label="share"))
    if point and any(_off(layer.data).any() for layer in shown):
        marks.append(Line2D([], [], **dot, markerfacecolor=paper(), label="mean score outside"))
    if len(shown) == 1 and not shown[0].name:
        draw_legend(ax, _brier(shown[0].data), marks)
        return
    names = name_handles(shown, [f"{one.name}: {_brier(one.data)}" for one in shown])
    for handle, marker in zip(names, MARKERS if point else (), strict=False):
        handle.set(marker=marker, markersize=5.5)
    list_legend(ax, None, handles=names + marks)


def _brier(data: xr.Dataset) -> str:
    """Write the Brier score with its interval."""
    one = data.sel(loss="brier")
    lower, upper = one["loss_interval"].values.tolist()
    return f"Brier score {with_interval(float(one['mean_loss']), (lower, upper), data.attrs['ci_prob'])}"
