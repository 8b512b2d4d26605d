"""What pictures stand on and share: axes, their frame and legend, reference lines and bars of intervals."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescm.data.needs import need
from bayescm.plots.layers import STYLES, Array, Layer
from bayescm.plots.letters import wrapped
from bayescm.plots.style import MOST_COLORS, fade, palette, tone

if TYPE_CHECKING:
    import matplotlib.axes

type Axes = matplotlib.axes.Axes
"""Matplotlib's, which is imported late."""

_ROW = 75  # letters of a row of a legend, of which the mark of an entry takes as many as
_KEY = 8
_LETTER = 0.6  # of the font's size, how wide a letter is on average, with some room
_DASHES = (0, (4, 2))
_UNIT = 0.016  # beyond both ends of an axis from 0 to 1


def new_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the axes that were given, or those of a new figure."""
    plt = need("matplotlib.pyplot", "A picture")

    return ax if ax is not None else plt.subplots(figsize=size, layout="constrained")[1]


def two_axes(ax: Any, height: float, ratio: float, wanted: str, width: float = 5.4) -> tuple[Axes, Axes]:
    """Return the two axes that were given, or two new ones, the upper one so many times as high as the lower."""
    plt = need("matplotlib.pyplot", "A picture")

    if ax is None:
        _, ax = plt.subplots(
            2, 1, sharex=True, figsize=(width, height), layout="constrained", height_ratios=(ratio, 1.0)
        )
    several = np.ravel(np.asarray(ax, dtype=object))
    if len(several) != 2:
        raise ValueError(f"`ax` must be {wanted}; got {len(several)}.")
    return several[0], several[1]


def share_x(upper: Axes) -> None:
    """Leave the horizontal axis to the picture below."""
    upper.set_xlabel("")
    upper.tick_params(axis="x", labelbottom=False)


def unit_limits() -> Array:
    """Return limits (2, 2) of x and y around the unit square."""
    return np.array([[-_UNIT, 1.0 + _UNIT]] * 2)


def frame(ax: Axes, x: str, y: str, limits: Array) -> None:
    """Set labels and limits; axes that show something already keep that in sight."""
    if ax.has_data():
        old = np.array([ax.get_xlim(), ax.get_ylim()])
        limits = np.stack([np.minimum(old[:, 0], limits[:, 0]), np.maximum(old[:, 1], limits[:, 1])], -1)
    ax.set_xlim(*limits[0])
    ax.set_ylim(*limits[1])
    open_frame(ax, x, y)


def open_frame(ax: Axes, x: str | None = None, y: str | None = None, *, grid: str | None = None) -> None:
    """Draw no frame above and to the right; a light grid along "x", "y" or "both" lies behind what is drawn."""
    if x is not None:
        ax.set_xlabel(x)
    if y is not None:
        ax.set_ylabel(y)
    if grid is not None:
        ax.grid(axis=grid, color=tone(0.1))  # type: ignore[arg-type]
        ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def draw_reference(ax: Axes, value: float, label: str | None = None, *, within: bool = False) -> Any:
    """Draw a value to compare with as a vertical line; the limits may be made to hold it."""
    if within:
        ax.plot([value], [0.0], linestyle="none")  # so that the margin goes beyond it
    return ax.axvline(value, color=tone(0.65), linestyle=_DASHES, linewidth=1, zorder=1.5, label=label)


def draw_interval(ax: Axes, ends: Sequence[float] | Array, y: float, color: Any) -> None:
    """Draw an interval as a bar at a height."""
    ax.plot(ends, [y, y], color=color, linewidth=2.2, solid_capstyle="butt", alpha=0.6, zorder=2)


def draw_band(ax: Axes, x: Array, band: Iterable[Array], i: int, label: str | None = None) -> Any:
    """Draw a line between two bounds (lower, line, upper) in the i-th colour; return the line."""
    lower, middle, upper = band
    ax.fill_between(x, lower, upper, color=palette()[i], alpha=fade(0.16), linewidth=0, zorder=1.3)
    style = STYLES[i % len(STYLES)] if i < MOST_COLORS - 1 else "-"
    return ax.plot(x, middle, style, color=palette()[i], linewidth=1.6, label=label, zorder=3)[0]


def name_handles(shown: Sequence[Layer], labels: Sequence[str]) -> list[Any]:
    """Return what the legend shows of names: nothing of a single thing that has none."""
    from matplotlib.lines import Line2D

    if len(shown) == 1 and not shown[0].name:
        return []
    return [
        Line2D([], [], color=one.color, linestyle=one.style, linewidth=1.6, label=label)
        for one, label in zip(shown, labels, strict=True)
    ]


def draw_legend(ax: Axes, title: str, *groups: list[Any]) -> None:
    """Put a legend above the axes, each group in columns of its own."""
    from matplotlib.lines import Line2D

    full = [group for group in groups if group]
    letters = sum(len(handle.get_label()) + _KEY for group in full for handle in group)
    short = len(full) == 1 and len(full[0]) <= 4
    rows = 1 + (letters > _ROW) if short else min(4, max(len(group) for group in full))
    handles: list[Any] = []
    for group in full:
        blanks = -len(group) % rows
        handles += [*group, *(Line2D([], [], linestyle="none", label=" ") for _ in range(blanks))]
    columns = [handles[i : i + rows] for i in range(0, len(handles), rows)]
    if sum(max(len(one.get_label()) for one in column) + _KEY for column in columns) > _room(ax):
        handles, columns = [one for group in full for one in group], [[]]
    list_legend(ax, title or None, handles=handles, ncols=len(columns), columnspacing=1.4)


def _room(ax: Axes) -> int:
    """Return how many letters a row of the legend has: beyond it axes would shrink to make room."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties

    whole = rcParams["figure.subplot.right"] - rcParams["figure.subplot.left"]
    share = min(ax.get_position().width / whole, 1.0)
    inches = share * ax.get_figure(root=True).get_figwidth()  # type: ignore[union-attr]
    return int(72 * inches / (_LETTER * FontProperties(size="small").get_size_in_points()))


def list_legend(ax: Axes, title: str | None = None, **options: Any) -> None:
    """Put a legend of long lines above the axes."""
    usual: dict[str, Any] = {
        "title": title, "frameon": False, "fontsize": "small", "title_fontsize": "small", "handlelength": 2.6,
        "alignment": "left", "loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.3,
    }  # fmt: skip
    legend = ax.legend(**(usual | options))
    if options.get("ncols", 1) == 1:
        for text in legend.get_texts():
            lines = text.get_text().split("\n")
            text.set_text("\n".join(wrapped(line, max(_room(ax) - _KEY, _KEY)) for line in lines))
