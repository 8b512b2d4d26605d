"""Lines of equal F1 on the PR plane."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bayescm.data import validate
from bayescm.plots.frames import Axes
from bayescm.plots.layers import Array, Layer
from bayescm.plots.style import tone
from bayescm.plots.visuals import surface
from bayescm.regions.grid import smooth

_LABEL = np.array([0.11, 0.03])  # length and height, of the axes
CLEAR = 0.5  # on the smooth scale: that far from a contour is as good as farther
_POINTS = 2000


Clearance = Callable[[Array, Array], Array]
"""How clear of everything else points are: at most CLEAR, and 0 where nothing may be written."""


class _Line(NamedTuple):
    """A line within the limits, in units of the axes, and how far along it each point is."""

    x: Array
    y: Array
    along: Array


def draw_iso_f1(ax: Axes, shown: list[Layer], levels: list[float], wanted: bool | Sequence[float]) -> None:
    """Draw lines of equal F1 within the limits, each with its number where it is clear of contours and estimates."""
    values = smooth([0.0, *levels])
    draw_lines(ax, str(shown[0].data.attrs["space"]), wanted, lambda x, y: _off_surfaces(shown, values, x, y))


def draw_lines(ax: Axes, space: str, wanted: bool | Sequence[float], clearance: Clearance) -> None:
    """Draw lines of equal F1 within the limits, each with its number where it is clearest of everything else."""
    if space != "pr":
        if not isinstance(wanted, bool):
            raise ValueError("`iso_f1` is for the PR plane; a line of equal F1 in the ROC plane needs the prevalence.")
        return
    if wanted is False:
        return
    limits = np.array([ax.get_xlim(), ax.get_ylim()])
    (left, right), (bottom, top) = np.clip(limits, 0.0, 1.0)
    for f1 in _round(_f1(left, bottom), _f1(right, top)) if wanted is True else wanted:
        f1 = validate.number("iso_f1", f1, 0, 1)
        recall = np.linspace(max(left, f1 / (2.0 - f1)), right, _POINTS)
        precision = f1 * recall / (2.0 * recall - f1)
        seen = (recall <= right) & (precision >= bottom) & (precision <= top)
        x, y = recall[seen], precision[seen]
        line = _in_axes(x, y, limits)
        if len(x) == 0 or line.along[-1] < 1.5 * _LABEL[0]:
            continue
        middle, side, clear = _clearest(line, clearance, limits)
        if clear > 0.0:  # else no label fits
            ax.plot(x, y, color=tone(0.25), linewidth=0.7, zorder=1.5, scalex=False, scaley=False)
            _write(ax, f"f1={f1:g}", line, middle, side, limits)


def _in_axes(x: Array, y: Array, limits: Array) -> _Line:
    """Return a line in units of the axes."""
    x, y = (x - limits[0, 0]) / np.ptp(limits[0]), (y - limits[1, 0]) / np.ptp(limits[1])
    return _Line(x, y, np.append(0.0, np.cumsum(np.hypot(np.diff(x), np.diff(y)))))


def _f1(x: float, y: float) -> float:
    return 2.0 * x * y / (x + y) if x + y > 0 else 0.0


def _round(low: float, high: float) -> list[float]:
    """Return round numbers strictly between two."""
    from matplotlib.ticker import MaxNLocator

    ticks = np.round(MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(low, high), 9)
    return [float(tick) for tick in ticks if low < tick < high]


def _clearest(line: _Line, clearance: Clearance, limits: Array) -> tuple[float, float, float]:
    """Return where a label is clearest of everything else: how far along, which side (1 above), and how clear."""
    middles = np.linspace(0.6 * _LABEL[0], line.along[-1] - 0.6 * _LABEL[0], 60)
    along = middles[:, None] + _LABEL[0] * np.linspace(-0.5, 0.5, 13)
    x, y = (np.interp(along, line.along, part) for part in (line.x, line.y))
    length = np.hypot(x[:, -1:] - x[:, :1], y[:, -1:] - y[:, :1])
    offsets = np.array([1.0, -1.0])[:, None, None, None] * np.array([0.1, 0.6, 1.1])[:, None, None] * _LABEL[1]
    x, y = x + offsets * (y[:, :1] - y[:, -1:]) / length, y + offsets * (x[:, -1:] - x[:, :1]) / length
    inside = (x >= 0.0) & (x <= 1.0) & (y >= 0.0) & (y <= 1.0)
    in_data = (limits[k, 0] + part * np.ptp(limits[k]) for k, part in enumerate((x, y)))
    clear = np.where(inside, clearance(*in_data), 0.0)
    found = clear.min((1, 3))[:, ::-1]
    side, place = np.unravel_index(np.argmax(found), found.shape)
    return float(middles[::-1][place]), 1.0 - 2.0 * float(side), float(found[side, place])


def _off_surfaces(shown: list[Layer], values: Array, x: Array, y: Array) -> Array:
    """Return how far points are from the contours of surfaces, on the smooth scale."""
    clear = np.full(x.shape, CLEAR)
    for layer in shown:
        xs, ys, z = surface(layer.data["level"])
        j, i = np.searchsorted(xs, x), np.searchsorted(ys, y)
        known = (i > 0) & (i < len(ys)) & (j > 0) & (j < len(xs))
        near = np.ma.filled(z, np.inf)[np.where(known, i, 0), np.where(known, j, 0)]
        far = np.abs(near[..., None] - values).min(-1)
        clear = np.where(known, np.minimum(clear, far), clear)
    return clear


def _write(ax: Axes, text: str, line: _Line, middle: float, side: float, limits: Array) -> None:
    """Write above or below a line."""
    along = middle + _LABEL[0] * np.array([-0.5, 0.0, 0.5])
    x = limits[0, 0] + np.interp(along, line.along, line.x) * np.ptp(limits[0])
    y = limits[1, 0] + np.interp(along, line.along, line.y) * np.ptp(limits[1])
    slope = math.degrees(math.atan2(y[2] - y[0], x[2] - x[0]))
    ax.text(
        x[1], y[1], text, rotation=slope, rotation_mode="anchor", transform_rotates_text=True, ha="center",
        va="bottom" if side > 0 else "top",
        fontsize="x-small", color=tone(0.6), zorder=1.6, clip_on=True,
    )  # fmt: skip
