"""Curves and ridges of distributions: how a picture of densities is drawn."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bayescm.metrics import available
from bayescm.plots.frames import Axes, draw_interval, draw_reference, list_legend, open_frame
from bayescm.plots.layers import STYLES, Array
from bayescm.plots.letters import wrapped
from bayescm.plots.style import fade, ink, on_paper, palette, paper, tone

_EDGE = 0.03  # share of a curve's length next to an infinite density that doesn't decide the height of the axis
_INFINITE = 1.05  # mass of the last half cell over density times its length; 1/b for Beta(., b), 1 if finite
_SHADED = 4  # curves that may be shaded over one another
_BEYOND = 0.002  # probability beyond the axis that is worth a note


class Curve(NamedTuple):
    """One distribution to be drawn: its name, its Dataset without batch dims, and what is said of the reference."""

    name: str
    data: xr.Dataset
    claim: str


def unlimited(data: xr.Dataset) -> bool:
    """Say whether the metric has no upper limit."""
    known = [metric.name for metric in available() if not np.isfinite(metric.upper)]
    return bool(data.attrs.get("unlimited", data.attrs["metric"] in known))


def log_ticks(ax: Axes) -> None:
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


class Shape(NamedTuple):
    """A density as it is drawn: a line, and below zero a bar between the ends of an interval, with marks on it."""

    label: str
    x: Array
    y: Array
    ends: tuple[float, float] | None = None
    marks: Mapping[str, tuple[float, str]] = {}
    filled: bool = False


def draw_shapes(
    ax: Axes, shapes: list[Shape], top: float, what: str, reference: tuple[float, str] | None = None
) -> list[Any]:
    """Draw densities over one another, with a value to compare with; return what the legend shows."""
    step, handles = 0.06 * top, []
    for i, shape in enumerate(shapes):
        line = ax.plot(shape.x, shape.y, STYLES[i % len(STYLES)], color=palette()[i], linewidth=1.8, label=shape.label)
        handles += line
        if shape.ends is None:
            continue
        if shape.filled and len(shapes) <= _SHADED:
            inside = _inside(shape.x, *shape.ends)
            alpha = fade(0.25 if len(shapes) == 1 else 0.12)
            height = np.interp(inside, shape.x, shape.y)
            ax.fill_between(inside, height, color=palette()[i], alpha=alpha, linewidth=0, zorder=1)
        handles += _draw_bar(ax, shape.ends, shape.marks, -(i + 0.75) * step, palette()[i])
    if reference is not None:
        handles.append(draw_reference(ax, *reference, within=True))
    ax.axhline(0.0, color=tone(0.4), linewidth=0.8, zorder=0)
    ax.set_ylim(-(len(shapes) + 0.5) * step, top)
    ax.set_yticks([tick for tick in ax.get_yticks() if 0.0 <= tick <= top] if what else [])
    open_frame(ax, y=what)
    return handles


def draw_curves(
    ax: Axes, curves: list[Curve], kind: str, reference: float | None, *, log: bool, title: str | None
) -> None:
    """Draw densities or cumulative probabilities over one another, each with a bar for its interval below zero."""
    density, alone = kind == "pdf", len(curves) == 1
    drawn = [curve for curve in curves if not _known(curve)]
    edges = {id(c): _infinite_edges(c) if density and not log else [] for c in drawn}
    tops = [_top(c, *_heights(c, kind, log=log), edges[id(c)]) for c in drawn]
    top = max(tops, default=1.0) * (1.2 if any(edges.values()) else 1.06) if density else 1.03
    if not drawn and all(0.0 <= float(curve.data["mean"]) <= 1.0 for curve in curves):
        ax.set_xlim(-0.02, 1.02)
    what = "density of the logarithm (base 10)" if log else "density"
    what = "cumulative probability" if not density else what if drawn else ""
    shapes = [_shape(curve, kind, top, log=log, alone=alone) for curve in curves]
    claim = curves[0].claim if alone else ""
    line = None if reference is None else (reference, claim or f"reference {reference:g}")
    handles = draw_shapes(ax, shapes, top, what, line)
    _note_edges(ax, curves, edges, top)
    if not log:
        _note_beyond(ax, drawn)
    list_legend(ax, title, handles=handles, ncols=2 if alone else 1, borderaxespad=0.5)


def _shape(curve: Curve, kind: str, top: float, *, log: bool, alone: bool) -> Shape:
    """Return how a distribution is drawn: a known number as a line up to the top."""
    ends, known = _ends(curve), _known(curve)
    x, y = (np.full(2, ends[0]), np.array([0.0, top])) if known else _heights(curve, kind, log=log)
    return Shape(_label(curve), x, y, ends, _marks(curve, said=alone and not known), kind == "pdf" and not known)


def _ends(curve: Curve) -> tuple[float, float]:
    lower, upper = curve.data["interval"].values.tolist()
    return lower, upper


def _marks(curve: Curve, *, said: bool = False) -> dict[str, tuple[float, str]]:
    """Return mean, median and value of the counts, with what the legend says of them."""
    write = _writer(*_ends(curve))
    values = {name: float(curve.data[name]) for name in ("mean", "median", "point")}
    called = {"point": "value of the counts"}
    return {name: (x, f"{called.get(name, name)} {write(x)}" if said else "") for name, x in values.items()}


def _inside(x: Array, lower: float, upper: float) -> Array:
    """Return the points of a grid inside an interval, and its ends."""
    ends = np.clip([lower, upper], x[0], x[-1])
    return np.unique([*x[(x > ends[0]) & (x < ends[1])], *ends])


def _draw_bar(
    ax: Axes, ends: tuple[float, float], marks: Mapping[str, tuple[float, str]], y: float, color: str
) -> list[Any]:
    """Draw an interval with marks at a height; return those with labels."""
    draw_interval(ax, ends, y, color)
    styles: dict[str, dict[str, Any]] = {
        "mean": {"marker": "o", "markersize": 5.0, "color": color},
        "median": {"marker": "o", "markersize": 5.0, "color": color, "markerfacecolor": paper()},
        "point": {"marker": "|", "markersize": 9.0, "color": ink(), "markeredgewidth": 1.4},
    }
    handles = []
    for name, (value, label) in marks.items():
        seen = [value] if np.isfinite(value) else []
        mark = ax.plot(seen, [y] * len(seen), linestyle="none", label=label or None, zorder=3, **styles[name])
        handles += mark if label else []
    return handles


def _label(curve: Curve) -> str:
    """Say in the legend which distribution it is, and its interval."""
    data, (lower, upper) = curve.data, _ends(curve)
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


def _note_edges(ax: Axes, curves: list[Curve], edges: Mapping[int, list[int]], top: float) -> None:
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
            (edge, 0.985 * top), (-26 if right else 26, 0), color=tone(0.75),
            textcoords="offset points", ha="right" if right else "left", va="top", fontsize="small",
            bbox=on_paper(0.75, 1.5),
        )  # fmt: skip
        ax.annotate("", (edge, top), (edge, 0.86 * top), arrowprops={"arrowstyle": "->", "color": tone(0.75)})


def _note_beyond(ax: Axes, curves: list[Curve]) -> None:
    """Say how much lies beyond the right end of a linear axis that was cut."""
    if not any(_cut(curve) for curve in curves):
        return
    shares = [1.0 - float(curve.data["cdf"].values[-1]) for curve in curves]
    outside = (
        f"{100 * min(shares):.2g}%" if len(shares) == 1 else f"{100 * min(shares):.2g} to {100 * max(shares):.2g}%"
    )
    ax.annotate(
        f"{outside} lies beyond \u2192", (1.0, 0.5), (-4, 0), xycoords="axes fraction", textcoords="offset points",
        ha="right", va="center", fontsize="small", color=tone(0.75),
    )  # fmt: skip


def _cut(curve: Curve) -> bool:
    return unlimited(curve.data) and 1.0 - float(curve.data["cdf"].values[-1]) > _BEYOND


def draw_ridges(
    ax: Axes, curves: list[Curve], kind: str, reference: float | None, *, log: bool, title: str | None
) -> None:
    """Draw densities below one another, each scaled to the same height, and what is said of the reference beside."""
    for i, curve in enumerate(curves):
        lower, upper = _ends(curve)
        if _known(curve):
            ax.plot([lower, lower], [i, i - 0.85], color=palette()[0], linewidth=1.8)
        else:
            x, y = _heights(curve, kind, log=log)
            baseline = float(i)
            height = i - 0.85 * np.minimum(y / _top(curve, x, y, [] if log else _infinite_edges(curve)), 1.0)
            ax.fill_between(x, baseline, height, color=palette()[0], alpha=fade(0.25), linewidth=0)
            shown = _inside(x, lower, upper)
            ax.fill_between(
                shown, baseline, np.interp(shown, x, height), color=palette()[0], alpha=fade(0.4), linewidth=0
            )
            ax.plot(x, height, color=palette()[0], linewidth=1.2)
        _draw_bar(ax, (lower, upper), _marks(curve), float(i), palette()[0])
        if curve.claim:
            ax.text(1.01, i, curve.claim.partition("=")[2], transform=ax.get_yaxis_transform(), fontsize="small")
    if reference is not None:
        draw_reference(ax, reference)
    claim = next((curve.claim.partition("=")[0] for curve in curves if curve.claim), "")
    ax.text(1.01, -1.0, claim, transform=ax.get_yaxis_transform(), fontsize="small")
    names = [wrapped(curve.name) for curve in curves]
    ax.set_yticks(range(len(curves)), names, fontsize="small" if "\n" in "".join(names) else None)
    ax.set_ylim(len(curves) - 0.4, -1.1)
    ax.grid(axis="y", color=tone(0.08))
    ax.set_axisbelow(True)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.set_title(title or "", loc="left", fontsize="small")
