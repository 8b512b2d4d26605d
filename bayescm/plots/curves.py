"""ROC and PR curves with the bands of curve_band(), and the difference of two of them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from scipy.spatial import cKDTree

from bayescm.curves import curve_band
from bayescm.curves.names import LONG_NAMES
from bayescm.data.schema import CI_BOUND
from bayescm.plots.checks import require
from bayescm.plots.frames import (
    Axes,
    draw_legend,
    frame,
    list_legend,
    name_handles,
    new_axes,
    open_frame,
    share_x,
    two_axes,
    unit_limits,
)
from bayescm.plots.iso_f1 import CLEAR, draw_lines
from bayescm.plots.layers import Array, Layer, layers, named, parts
from bayescm.plots.letters import as_written
from bayescm.plots.planes import draw_chance, one_plane
from bayescm.plots.reliability import draw_reliability, is_reliability
from bayescm.plots.style import fade, tone
from bayescm.regions.grid import SPACES, Space
from bayescm.results.writing import percent

_BAND = "bayescm-band"  # gid of the bands on axes, which later ones continue the colours of
_BEYOND = "bayescm-beyond"  # gid of what follows beyond their stretch
_PALER = 0.4  # of the depth of a band
_DEPTHS = (0.2, 0.08)  # of few bands, and of many over one another
_FEW = 3
_NEAR = 0.1  # of the axes: that far from a curve is as good as farther
_LONG = 20  # letters of two names that fit on one line beside the lower axes
_WITHIN = 0.3  # a label within a band is that much worse
_MEDIAN: dict[str, Any] = {"linewidth": 4.5, "alpha": 0.4, "solid_capstyle": "butt"}


@as_written
def plot_curve(
    data: xr.Dataset | xr.DataTree | Mapping[str, xr.Dataset | xr.DataTree],
    *,
    names: Sequence[str] | None = None,
    point: bool = True,
    median: bool = False,
    iso_f1: bool | Sequence[float] = False,
    difference: xr.Dataset | None = None,
    legend: bool = True,
    ax: Axes | Sequence[Axes] | None = None,
) -> Any:
    """Draw ROC or PR curves with their bands, or a reliability diagram.

    Parameters
    ----------
    data : xarray.Dataset or xarray.DataTree, or mapping of names to these
        From :func:`bayescm.curve_band`, with at most one batch dim: its curves are drawn over one another. From
        :func:`bayescm.curve_posterior` over rates: with its simultaneous band on the ROC plane. From
        :func:`bayescm.curves.reliability`: the bins with their intervals, and the histogram of the scores below.
    names : sequence of str, optional
        Instead of the names in the legend, one for each curve.
    point : bool
        Whether the curve of the items themselves is drawn.
    median : bool
        Whether the posterior median is drawn, as a wide pale line below the curve of the items.
    iso_f1 : bool or sequence of float
        Lines of equal F1 on the PR plane: at round numbers, or at those given.
    difference : xarray.Dataset, optional
        ``curve_band(..., difference=(a, b))``, drawn on axes of its own below, with a line at zero.
    legend : bool
        Whether there is a legend, which says what the band is a band of.
    ax : matplotlib.axes.Axes, or two of these with `difference` or the histogram of a reliability diagram
        Default: a new figure. Axes that show something already keep it in sight, and the colours go on from there.

    Returns
    -------
    matplotlib.axes.Axes, or array of two of these
        Two with `difference`, and of a reliability diagram, unless `ax` is one.

    Raises
    ------
    ValueError
        With more than one batch dim or more than eight curves; if the planes differ; if a median is asked for that
        isn't there (``kind="whole"``); if a reliability diagram is to have what only a curve has.

    Notes
    -----
    A band that is about a stretch of the axis goes on beyond it in a paler shade, by what it says at the end of the
    stretch and the monotonicity of a ROC curve. That costs no coverage. The band of a difference ends there.

    In a reliability diagram a bin is a box from edge to edge; its interval stands at its mean score, and its point is
    hollow where the interval doesn't hold that score.

    Examples
    --------
    >>> import bayescm
    >>> y = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]
    >>> s = [0.1, 0.2, 0.2, 0.3, 0.5, 0.6, 0.4, 0.7, 0.8, 0.9]
    >>> post = bayescm.curve_posterior(y, s, random_seed=1)
    >>> ax = bayescm.plots.plot_curve(bayescm.curve_band(post), median=True)
    >>> ax.get_legend().get_title().get_text()
    '95%, simultaneous at 91 false positive rates from 0.05 to 0.95'
    """
    if is_reliability(data):
        if median or iso_f1 is not False or difference is not None:
            raise ValueError(
                "`data` is of reliability(), which has no `median`, `iso_f1` or `difference`; leave them out."
            )
        return draw_reliability(data, names, point=point, legend=legend, ax=ax)
    wanted = "two Axes, one for the curves and one for the difference"
    one: Any = ax
    upper, lower = (new_axes(one, (5.4, 5.2)), None) if difference is None else two_axes(ax, 7.0, 2.3, wanted)
    shown = curve_layers(data, names, bands_on(upper))
    space = space_of(shown)
    if difference is not None:
        _check_difference(difference, space)
    draw_curves(upper, shown, point=point, median=median, iso_f1=iso_f1)
    if legend:
        _draw_legend(upper, shown, point=point, median=median)
    if lower is None or difference is None:
        return upper
    _draw_difference(lower, difference, space, point=point, median=median)
    share_x(upper)
    return np.array([upper, lower])


def curve_layers(data: Any, names: Sequence[str] | None, taken: int = 0) -> list[Layer]:
    """Return the curves that are shown, each with its name, colour and line style, behind those already taken."""
    pairs = [pair for name, one in named(data, "curve") for pair in _singles(name, one)]
    shown = layers(pairs, names, "curve", taken)
    one_plane(layer.data for layer in shown)
    return shown


def _singles(name: str, data: Any) -> list[tuple[str, xr.Dataset]]:
    """Return the curves of a batch with their names."""
    data = curve_band(data) if isinstance(data, xr.DataTree) else data
    _check_band("data", data)
    if "difference" in data.attrs:
        raise ValueError("`data` holds the difference of two curves; give it as `difference`, below the curves.")
    return parts(name, data, "band", (SPACES[str(data.attrs["space"])].x, CI_BOUND))


def _check_band(argument: str, data: Any) -> None:
    """Refuse anything but a Dataset of curve_band()."""
    call = "bayescm.plots.plot_curve(bayescm.curve_band(bayescm.curve_posterior(y_true, y_score)))"
    require(argument, data, "bayescm.curve_band", ("band", "point"), ("space", "statement"), call=call)


def _check_difference(data: Any, space: Space) -> None:
    """Refuse anything but the difference of two curves on the same plane."""
    _check_band("difference", data)
    if "difference" not in data.attrs:
        raise ValueError("`difference` must be made by bayescm.curve_band(..., difference=(a, b)).")
    if data.attrs["space"] != space.name:
        raise ValueError(f"`difference` must be of the plane of `data`, space={space.name!r}.")


def space_of(shown: list[Layer]) -> Space:
    """Return the plane of curves."""
    return SPACES[str(shown[0].data.attrs["space"])]


def bands_on(ax: Axes) -> int:
    """Return how many bands axes show already."""
    return sum(artist.get_gid() == _BAND for artist in ax.collections)


def draw_curves(
    ax: Axes,
    shown: list[Layer],
    *,
    point: bool = True,
    median: bool = False,
    iso_f1: bool | Sequence[float] = False,
    chance: bool = True,
) -> list[Any]:
    """Draw bands and curves with the frame around them; return what the legend may show of each."""
    if median and not all("median" in layer.data for layer in shown):
        raise ValueError("`median` isn't in a band of the whole curve, which is made without draws; leave it out.")
    space = space_of(shown)
    frame(ax, LONG_NAMES[space.x], LONG_NAMES[space.y], unit_limits())
    draw_lines(ax, space.name, iso_f1, lambda x, y: _off_curves(ax, shown, space, x, y))
    found = []
    for layer in shown:
        band = _draw_band(ax, layer, space, fade(_DEPTHS[len(shown) > _FEW]))
        lines = _draw_lines(ax, layer, space, point=point, median=median)
        found.append(lines[0] if lines else band)
    if space.name == "roc" and chance:
        draw_chance(ax)
    return found


def _bounds(data: xr.Dataset, x: str) -> tuple[Array, Array, Array]:
    """Return the axis and both bounds of a band."""
    band = data["band"].transpose(x, CI_BOUND)
    return data[x].values, band.sel({CI_BOUND: "lower"}).values, band.sel({CI_BOUND: "upper"}).values


def _draw_band(ax: Axes, layer: Layer, space: Space, depth: float) -> Any:
    """Fill a band, which ends where it isn't known, and paler what a curve's says beyond, because it is monotone."""
    bounds = _bounds(layer.data, space.x)
    band = _fill(ax, layer.color, depth, _BAND, *bounds)
    for side in _beyond(space, *bounds) if "difference" not in layer.data.attrs else []:
        _fill(ax, layer.color, _PALER * depth, _BEYOND, *side)
    return band


def _fill(ax: Axes, color: str, depth: float, gid: str, at: Array, lower: Array, upper: Array) -> Any:
    """Fill between two bounds, which are drawn; the ends of the stretch are not."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba

    edges = [np.stack([at, bound], -1) for bound in (lower, upper)]
    ax.add_collection(LineCollection(edges, colors=[to_rgba(color, min(3.5 * depth, 0.9))], linewidths=0.7, zorder=1.3))
    return ax.fill_between(at, lower, upper, facecolor=to_rgba(color, depth), linewidth=0.0, zorder=1.3, gid=gid)


def _beyond(space: Space, x: Array, lower: Array, upper: Array) -> list[tuple[Array, Array, Array]]:
    """Return the axis and both bounds on either side of the stretch of a band."""
    known = np.flatnonzero(np.isfinite(lower) & np.isfinite(upper))
    if len(known) == 0:
        return []
    first, last = known[[0, -1]]
    before, after = np.linspace(1e-9, 1.0, 40) * x[first], np.linspace(x[last], 1.0, 40)
    zero, one = np.zeros(40), np.ones(40)
    if space.name == "roc":
        found = [(before, zero, one * upper[first]), (after, one * lower[last], one)]
    else:  # precision where as many controls are called positive as at the end of the stretch

        def same_controls(at: Array, end: float, precision: float) -> Array:
            return at * precision / (at * precision + end * (1.0 - precision))

        found = [
            (before, same_controls(before, x[first], lower[first]), one),
            (after, zero, same_controls(after, x[last], upper[last])),
        ]
    return [side for side, missing in zip(found, (first > 0, last < len(x) - 1), strict=True) if missing]


def _draw_lines(ax: Axes, layer: Layer, space: Space, *, point: bool, median: bool) -> list[Any]:
    """Draw the curve of the items and the posterior median."""
    x, found = layer.data[space.x].values, []
    if point:
        y = layer.data["point"].values
        if space.name == "roc" and x[0] == 0.0 and "difference" not in layer.data.attrs:
            x, y = np.append(0.0, x), np.append(0.0, y)  # every ROC curve starts in the corner
        found += ax.plot(
            x, y, color=layer.color, linestyle=layer.style, linewidth=1.6,
            zorder=3.0, solid_joinstyle="miter",
        )  # fmt: skip
    if median:
        found += ax.plot(
            layer.data[space.x].values, layer.data["median"].values, color=layer.color, **_MEDIAN, zorder=2.8
        )
    return found


def _off_curves(ax: Axes, shown: list[Layer], space: Space, x: Array, y: Array) -> Array:
    """Return how clear of curves points are; within a band less so."""
    scale = np.array([np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())])
    clear = np.full(x.shape, CLEAR)
    for layer in shown:
        at, low, high = _bounds(layer.data, space.x)
        lines = [np.stack([at, line], -1) for line in (low, high, layer.data["point"].values)]
        known = np.concatenate(lines)
        known = known[np.isfinite(known).all(-1)]
        if len(known):
            far, _ = cKDTree(known / scale).query(np.stack([x, y], -1) / scale)
            clear = np.minimum(clear, CLEAR * far / _NEAR)
        within = (y > np.interp(x, at, low)) & (y < np.interp(x, at, high))
        clear = np.where(within, np.minimum(clear, _WITHIN * CLEAR), clear)
    return clear


def statement_of(data: xr.Dataset) -> str:
    """Say what a band is a band of."""
    return f"{percent(float(data.attrs['ci_prob']))}, {data.attrs['statement']}"


def _draw_legend(ax: Axes, shown: list[Layer], *, point: bool, median: bool) -> None:
    """Say which curve is whose, and what the bands are bands of."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    color = shown[0].color if len(shown) == 1 else tone(0.65)
    statements = [statement_of(layer.data) for layer in shown]
    same = len(set(statements)) == 1
    marks: list[Any] = [Patch(facecolor=color, edgecolor=color, alpha=fade(0.35), label="band")]
    if any(artist.get_gid() == _BEYOND for artist in ax.collections):
        marks.append(Patch(facecolor=color, alpha=fade(0.12), label="beyond, by monotonicity"))
    if point:
        style: Any = shown[0].style if len(shown) == 1 else "-"
        marks.append(Line2D([], [], color=color, linestyle=style, linewidth=1.6, label="empirical curve"))
    if median:
        marks.append(Line2D([], [], color=color, **_MEDIAN, label="posterior median"))
    of_bands = [f"{one.name}:\n{said}" for one, said in zip(shown, statements, strict=True)]
    names = name_handles(shown, [one.name for one in shown] if same else of_bands)
    if same:
        draw_legend(ax, statements[0], names, marks)
    else:
        list_legend(ax, None, handles=names + marks)


def _draw_difference(ax: Axes, data: xr.Dataset, space: Space, *, point: bool, median: bool) -> None:
    """Draw the difference of two curves with its band."""
    from matplotlib.ticker import MaxNLocator

    if median and "median" not in data:
        raise ValueError("`median` isn't in `difference`; leave it out.")
    layer = Layer("", data.compute(), tone(0.8), "-")
    first, second = json.loads(str(data.attrs["difference"]))
    ax.axhline(0.0, color=tone(0.4), linewidth=0.9, linestyle=":", zorder=1.4)
    _draw_band(ax, layer, space, fade(_DEPTHS[0]))
    _draw_lines(ax, layer, space, point=point, median=median)
    ax.set_xlim(*unit_limits()[0])
    long = len(f"{first}{second}") > _LONG
    open_frame(ax, LONG_NAMES[space.x], f"{first}\nminus {second}" if long else f"{first} minus {second}")
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.set_title(f"Difference: {statement_of(data)}", loc="left", fontsize="small")
