"""Curves and ridges of distributions: how a picture of densities is drawn."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.inference.metric_distributions import MetricDistribution
from bayescm.metrics import available

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
Drawn = MetricDistribution | xr.Dataset

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#7F7F7F")
"""Okabe and Ito's, which colour-blind people tell apart, without the yellow."""
STYLES = ("-", "--", "-.", ":")
_EDGE = 0.03  # share of a curve's length next to an infinite density that doesn't decide the height of the axis
_INFINITE = 1.05  # mass of the last half cell over density times its length; 1/b for Beta(., b), 1 if finite
_SHADED = 4  # curves that may be shaded over one another
_BEYOND = 0.002  # probability beyond the axis that is worth a note


class Curve(NamedTuple):
    """One distribution to be drawn: its name, its Dataset without batch dims, and what is said of the reference."""

    name: str
    data: xr.Dataset
    claim: str


def unlimited(dist: Drawn) -> bool:
    """Say whether the metric has no upper limit."""
    if isinstance(dist, MetricDistribution):
        return not np.isfinite(dist.metric.upper)
    return dist.attrs["metric"] in [metric.name for metric in available() if not np.isfinite(metric.upper)]


def log_ticks(ax: "Axes") -> None:
    """Make the axis logarithmic, with plain numbers where they are short."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log")
    low, high = np.log10(ax.get_xlim())
    if high - low < 3:
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high - low < 2 else (1,)))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _heights(curve: Curve, kind: str, *, log: bool) -> tuple[Array, Array]:
    """Return the curve: x, and density (on a logarithmic axis that of log10 x) or cumulative probability."""
    x, y = curve.data["x"].values, curve.data["cdf" if kind == "cdf" else "pdf"].values
    return x, x * y * np.log(10.0) if log and kind != "cdf" else y


def _known(curve: Curve) -> bool:
    """Say whether the distribution is a known number."""
    x = curve.data["x"].values
    return bool(x[0] == x[-1])


def _infinite_edges(curve: Curve) -> list[int]:
    """Return the ends (0: left, -1: right) at which the density grows without limit.

    There the mass of the last half cell exceeds the density at its end times its length.
    """
    x, y, cdf = (curve.data[name].values for name in ("x", "pdf", "cdf"))
    half = 0.5 * (x[1] - x[0])
    found = []
    for end, inner, mass in ((0, 1, cdf[0]), (-1, -2, 1.0 - cdf[-1])):
        if y[end] > y[inner] and mass > _INFINITE * y[end] * half:
            found.append(end)
    return found


def _top(curve: Curve, x: Array, y: Array, edges: list[int]) -> float:
    """Return the height of a density, without what lies next to an infinite end."""
    margin = _EDGE * (x[-1] - x[0])
    inside = np.ones(len(x), bool)
    for end in edges:
        inside &= np.abs(x - x[end]) >= margin
    return float(y[inside].max())


def draw_curves(ax: "Axes", curves: list[Curve], kind: str, reference: float | None, *, log: bool) -> None:
    """Draw densities or cumulative probabilities over one another, each with a bar for its interval below zero."""
    density = kind == "pdf"
    drawn = [curve for curve in curves if not _known(curve)]
    edges = {id(c): _infinite_edges(c) if density and not log else [] for c in drawn}
    tops = [_top(c, *_heights(c, kind, log=log), edges[id(c)]) for c in drawn]
    top = max(tops, default=1.0) * (1.2 if any(edges.values()) else 1.06) if density else 1.03
    step = 0.06 * top
    alone = len(curves) == 1
    handles: list[Any] = []
    for i, curve in enumerate(curves):
        color, style = COLORS[i], STYLES[i % len(STYLES)]
        lower, upper = (float(bound) for bound in curve.data["interval"].values)
        if _known(curve):
            handles += ax.plot([lower, lower], [0.0, top], style, color=color, linewidth=1.8, label=_label(curve))
        else:
            x, y = _heights(curve, kind, log=log)
            handles += ax.plot(x, y, style, color=color, linewidth=1.8, label=_label(curve))
            if density and len(curves) <= _SHADED:
                shown = _inside(x, lower, upper)
                alpha = 0.25 if alone else 0.12
                ax.fill_between(shown, np.interp(shown, x, y), color=color, alpha=alpha, linewidth=0, zorder=1)
        marks = _draw_bar(ax, curve, -(i + 0.75) * step, color)
        handles += marks if alone and drawn else []
    if not drawn and all(0.0 <= float(curve.data["mean"]) <= 1.0 for curve in curves):
        ax.set_xlim(-0.02, 1.02)
    if reference is not None:
        ax.plot([reference], [0.0], linestyle="none")  # so that the margin goes beyond it
        line = ax.axvline(reference, color="0.35", linestyle=(0, (4, 2)), linewidth=1, zorder=1.5)
        line.set_label(curves[0].claim if alone and curves[0].claim else f"reference {reference:g}")
        handles.append(line)
    ax.axhline(0.0, color="0.6", linewidth=0.8, zorder=0)
    ax.set_ylim(-(len(curves) + 0.5) * step, top)
    ax.set_yticks([tick for tick in ax.get_yticks() if 0.0 <= tick <= top])
    what = "density of the logarithm (base 10)" if log else "density"
    ax.set_ylabel(what if density else "cumulative probability")
    if density and not drawn:
        ax.set_yticks([])
        ax.set_ylabel("")
    _note_edges(ax, curves, edges, top)
    if not log:
        _note_beyond(ax, drawn)
    ax.spines[["top", "right"]].set_visible(False)
    columns = 2 if alone else 1
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": columns}
    ax.legend(handles=handles, frameon=False, fontsize="small", handlelength=2.6, **place)


def _inside(x: Array, lower: float, upper: float) -> Array:
    """Return the points of a grid inside an interval, and its ends."""
    ends = np.clip([lower, upper], x[0], x[-1])
    return np.unique([*x[(x > ends[0]) & (x < ends[1])], *ends])


def _draw_bar(ax: "Axes", curve: Curve, y: float, color: str) -> list[Any]:
    """Draw interval, mean, median and value of the counts at a height; return the marks with their labels."""
    data = curve.data
    lower, upper = (float(bound) for bound in data["interval"].values)
    write = _writer(lower, upper)
    ax.plot([lower, upper], [y, y], color=color, linewidth=2.2, solid_capstyle="butt", alpha=0.6, zorder=2)
    styles: dict[str, dict[str, Any]] = {
        "mean": {"marker": "o", "markersize": 5.0, "color": color},
        "median": {"marker": "o", "markersize": 5.0, "color": color, "markerfacecolor": "white"},
        "point": {"marker": "|", "markersize": 9.0, "color": "black", "markeredgewidth": 1.4},
    }
    found = []
    for name, style in styles.items():
        value = float(data[name])
        label = f"{'value of the counts' if name == 'point' else name} {write(value)}"
        seen = [value] if np.isfinite(value) else []
        found += ax.plot(seen, [y] * len(seen), linestyle="none", label=label, zorder=3, **style)
    return found


def _label(curve: Curve) -> str:
    """Say in the legend which distribution it is, and its interval."""
    data = curve.data
    lower, upper = (float(bound) for bound in data["interval"].values)
    write = _writer(lower, upper)
    prefix = f"{curve.name}: " if curve.name else ""
    if _known(curve):
        return f"{prefix}known, {lower:g}"
    claim = f"; {curve.claim}" if curve.name and curve.claim else ""
    kind = str(data["ci_kind"].item()).upper()
    return f"{prefix}{100 * float(data.attrs['ci_prob']):g}% {kind} {write(lower)} to {write(upper)}{claim}"


def _writer(lower: float, upper: float) -> Any:
    """Return a function that writes numbers with the decimals that an interval deserves."""
    width = upper - lower
    decimals = int(np.clip(2 - np.floor(np.log10(width)), 0, 9)) if 0 < width < np.inf else None

    def write(value: float) -> str:
        if np.isnan(value):
            return "undefined (0/0)"
        if np.isinf(value):
            return "infinite"
        if decimals is None or abs(value) >= 1e6:
            return f"{value:.3g}"
        return f"{round(value, decimals) + 0.0:,.{decimals}f}"  # no -0.00

    return write


def _note_edges(ax: "Axes", curves: list[Curve], edges: Mapping[int, list[int]], top: float) -> None:
    """Say where densities are infinite and were cut off."""
    places: dict[int, float] = {}
    for curve in curves:
        for end in edges.get(id(curve), []):
            x = curve.data["x"].values
            places[end] = float(x[end] + (1 if end else -1) * 0.5 * (x[1] - x[0]))
    for end, edge in places.items():
        right = end == -1
        ax.annotate(
            f"density infinite\nat {round(edge, 9) + 0.0:.3g}: cut off",
            (edge, 0.985 * top), (-26 if right else 26, 0), color="0.25",
            textcoords="offset points", ha="right" if right else "left", va="top", fontsize="small",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1.5},
        )  # fmt: skip
        ax.annotate("", (edge, top), (edge, 0.86 * top), arrowprops={"arrowstyle": "->", "color": "0.25"})


def _note_beyond(ax: "Axes", curves: list[Curve]) -> None:
    """Say how much lies beyond the right end of a linear axis that was cut."""
    if not any(_cut(curve) for curve in curves):
        return
    shares = [1.0 - float(curve.data["cdf"].values[-1]) for curve in curves]
    outside = (
        f"{100 * min(shares):.2g}%" if len(shares) == 1 else f"{100 * min(shares):.2g} to {100 * max(shares):.2g}%"
    )
    ax.annotate(
        f"{outside} lies beyond \u2192", (1.0, 0.5), (-4, 0), xycoords="axes fraction", textcoords="offset points",
        ha="right", va="center", fontsize="small", color="0.25",
    )  # fmt: skip


def _cut(curve: Curve) -> bool:
    return unlimited(curve.data) and 1.0 - float(curve.data["cdf"].values[-1]) > _BEYOND


def draw_ridges(ax: "Axes", curves: list[Curve], kind: str, reference: float | None, *, log: bool) -> None:
    """Draw densities below one another, each scaled to the same height, and what is said of the reference beside."""
    for i, curve in enumerate(curves):
        lower, upper = (float(bound) for bound in curve.data["interval"].values)
        if _known(curve):
            ax.plot([lower, lower], [i, i - 0.85], color=COLORS[0], linewidth=1.8)
        else:
            x, y = _heights(curve, kind, log=log)
            baseline = float(i)
            height = i - 0.85 * np.minimum(y / _top(curve, x, y, [] if log else _infinite_edges(curve)), 1.0)
            ax.fill_between(x, baseline, height, color=COLORS[0], alpha=0.25, linewidth=0)
            shown = _inside(x, lower, upper)
            ax.fill_between(shown, baseline, np.interp(shown, x, height), color=COLORS[0], alpha=0.4, linewidth=0)
            ax.plot(x, height, color=COLORS[0], linewidth=1.2)
        _draw_bar(ax, curve, float(i), COLORS[0])
        if curve.claim:
            ax.text(1.01, i, curve.claim.partition("=")[2], transform=ax.get_yaxis_transform(), fontsize="small")
    if reference is not None:
        ax.axvline(reference, color="0.35", linestyle=(0, (4, 2)), linewidth=1, zorder=1.5)
    claim = next((curve.claim.partition("=")[0] for curve in curves if curve.claim), "")
    ax.text(1.01, -1.0, claim, transform=ax.get_yaxis_transform(), fontsize="small")
    ax.set_yticks(range(len(curves)), [curve.name for curve in curves])
    ax.set_ylim(len(curves) - 0.4, -1.1)
    ax.grid(axis="y", color="0.92")
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
