"""Heat maps: words in the cells where they fit, names and totals at the sides, none over another."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayescm.plots.frames import Axes, new_axes
from bayescm.plots.letters import formulas, wrapped
from bayescm.plots.style import ink, ink_on
from bayescm.results.escape import for_terminal

_WIDE, _LINE = 0.66, 1.3  # a letter and a line, in units of the size of the font
_SMALLER = 0.85  # than the usual letter is an average one
_LEAST = 5.0  # size of a font that can be read
_MOST = 11.0  # inches of all cells together
_FILLED = 0.94  # of a cell


def draw_heat(
    ax: Axes | None, values: Any, names: tuple[Sequence[str], Sequence[str]], texts: Sequence[Any], *,
    cell: float, bar: str = "", **options: Any,
) -> tuple[Axes, float]:  # fmt: skip
    """Draw a heat map; return its axes and the points that a cell has.

    Parameters
    ----------
    ax : matplotlib.axes.Axes, optional
        Default: a new figure that holds the names.
    values : ndarray of shape (rows, columns)
    names : two sequences of str
        Of the rows and the columns; long ones are broken, and of very many not all are written.
    texts : sequence of ndarray of str
        What to write into the cells: the first of these that can be read.
    cell : float
        Inches of a cell on a new figure, if that doesn't become too large.
    bar : str
        What the scale of colours shows; without it there is none.
    **options
        Of :meth:`matplotlib.axes.Axes.imshow`.
    """
    base, shape, new = _base(), values.shape, ax is None
    broken = [[wrapped(for_terminal(name)) for name in one] for one in names]
    room = 72 * min(cell, _MOST / max(shape))
    width = height = room
    if ax is None:
        rooms = [_SMALLER * base * _extent_of(one)[0] / 72 for one in broken]
        below = rooms[1] if _extent_of(broken[1])[0] * base > room else 0.3
        wide, high = (n * room / 72 for n in shape[::-1])
        ax = new_axes(None, (max(4.2, wide + rooms[0] + 0.8 + bool(bar)), high + below + 1.1))
    image = ax.imshow(values, **options)
    if bar:
        ax.figure.colorbar(image, ax=ax, label=bar, shrink=0.8)
    if not new:  # what the names leave of axes is known after a layout with them
        theirs = formulas(ax)
        _name(ax.set_yticks, broken[0], np.inf, upright=False)
        _name(ax.set_xticks, broken[1], np.inf, upright=True)
        figure: Any = ax.get_figure(root=True)
        for text in formulas(ax):
            text.set_parse_math(text in theirs)
        figure.draw_without_rendering()
        box, points = ax.get_window_extent(), _FILLED * 72 / ax.figure.dpi
        width, height = points * box.width / shape[1], points * box.height / shape[0]
    _name(ax.set_yticks, broken[0], height, upright=False)
    _name(ax.set_xticks, broken[1], width, upright=_extent_of(broken[1])[0] * base > width)
    _write(ax, image, values, texts, width, height)
    return ax, min(width, height)


def draw_totals(ax: Axes, side: str, totals: Sequence[str], what: str, room: float) -> None:
    """Write a number beside each row ("right") or above each column ("top")."""
    beside = ax.secondary_yaxis("right") if side == "right" else ax.secondary_xaxis("top")
    upright = side == "top" and _extent_of(totals)[0] * _base() > room
    _name(beside.set_yticks if side == "right" else beside.set_xticks, totals, room, upright=upright)
    beside.tick_params(length=0)
    (beside.set_ylabel if side == "right" else beside.set_xlabel)(what, fontsize="small")


def short_probability(value: float) -> str:
    """Write a probability with two digits, never as a false 0 or 1."""
    return "<.01" if value < 0.005 else ">.99" if value >= 0.995 else f"{value:.2f}".removeprefix("0")


def _base() -> float:
    from matplotlib import rcParams

    return float(rcParams["font.size"])


def _extent(text: str) -> tuple[float, float]:
    """Return width and height of a text in units of the size of its font."""
    lines = text.split("\n")
    return _WIDE * max(map(len, lines)), _LINE * len(lines)


def _extent_of(texts: Any) -> tuple[float, float]:
    """Return width and height of the largest of texts."""
    extents = [_extent(text) for text in np.ravel(texts)] or [(0.0, 0.0)]
    return max(width for width, _ in extents), max(height for _, height in extents)


def _name(ticks: Any, names: Sequence[str], room: float, *, upright: bool) -> None:
    """Write names at the ticks in the room that each has: smaller ones, or only some."""
    size = min(_base(), room / max(_extent_of(names)[1], _LINE))
    every = 1 if size >= _LEAST else int(np.ceil(_LEAST / size))
    ticks(range(0, len(names), every), names[::every], rotation=90 if upright else 0, fontsize=max(size, _LEAST))


def _write(ax: Axes, image: Any, values: Any, texts: Sequence[Any], width: float, height: float) -> None:
    """Write into the cells what can be read there."""
    for one in texts:
        wide, high = _extent_of(one)
        size = min(_base(), _FILLED * width / wide, _FILLED * height / high) if wide else 0.0
        if size >= _LEAST:
            break
    else:
        return
    for i, j in np.argwhere(np.asarray(one) != ""):
        value = values[i, j]
        color = ink_on(image.cmap(image.norm(value))) if np.isfinite(value) else ink()
        ax.text(j, i, one[i, j], ha="center", va="center", color=color, fontsize=size)
