"""Regions and bands on the PR and the ROC plane."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayescm.plots.frames import Axes, draw_legend, frame, new_axes
from bayescm.plots.iso_f1 import draw_iso_f1
from bayescm.plots.layers import Array, Layer
from bayescm.plots.letters import as_written
from bayescm.plots.planes import (
    Surfaces,
    axis_labels,
    draw_chance,
    extent,
    level_handles,
    surface_handles,
    surfaces,
    title_of,
    wanted_levels,
    whole,
)
from bayescm.plots.sroc import draw_sroc
from bayescm.plots.style import palette, tone
from bayescm.plots.visuals import coordinates, estimate, level_contours, level_shades
from bayescm.regions.drawn import Pair, plane

_BESIDE_SHADES = 0.8
_CURVE: dict[str, Any] = {"marker": "", "linestyle": "-", "linewidth": 1.3, "zorder": 3.0, "clip_on": True}
_ON_TOP = (1, 2, 3, 5, 4, 7)  # of the palette: not the first, the band, or ink, its curve


@as_written
def plot_region(
    data: Surfaces,
    *,
    levels: Sequence[float] | float | None = None,
    names: Sequence[str] | None = None,
    point: bool = True,
    fill: bool | None = None,
    iso_f1: bool | Sequence[float] = True,
    cloud: xr.Dataset | None = None,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw where the true recall and precision (or both rates of a ROC plane) may lie.

    Parameters
    ----------
    data : xarray.Dataset or xarray.DataTree, or several of these
        From :func:`bayescm.region`, with at most one batch dim: its matrices are drawn over one another. A sequence
        compares methods, a mapping of names to Datasets anything else, such as priors. A tree is a model's draws, whose
        credible region is drawn; of :func:`bayescm.synthesis` the studies on the ROC plane, with the summary ROC curve
        and the regions of the median and of the next study.
    levels : float or sequence of float, optional
        Of the contours; default: those that ``data`` was made with.
    names : sequence of str, optional
        Instead of the names in the legend, one for each surface.
    point : bool
        Whether the estimate is marked.
    fill : bool, optional
        Whether regions are filled. Default: a single one without a cloud is.
    iso_f1 : bool or sequence of float
        Lines of equal F1 on the PR plane: at round numbers, or at those given.
    cloud : xarray.Dataset, optional
        Draws of both metrics, such as :func:`bayescm.regions.bootstrap` returns, drawn as points below the contours.
    legend : bool
        Whether there is a legend.
    ax : matplotlib.axes.Axes, optional
        Default: a new figure. Axes that show something already keep it in sight.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If a level exceeds the ``complete_level`` of ``data``; with more than one batch dim or more than eight surfaces.

    Notes
    -----
    The thicker a contour or the darker a shade, the smaller is its level. A matrix without an estimate (0/0) has no
    mark, one without an ellipse no contour. Edges of exact regions are smoothed over 1.5% of the grid; ``data`` holds
    the levels themselves.

    References
    ----------
    Urlus et al. 2023, Figs 3 and 4.

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=203, fn=41, fp=55, tn=201)
    >>> ax = bayescm.plots.plot_region([bayescm.region(counts), bayescm.region(counts, method="ellipse")])
    >>> [text.get_text() for text in ax.get_legend().get_texts()][:2]
    ['Wilks', 'ellipse']
    """
    if isinstance(data, xr.DataTree) and "prediction" in data:
        return draw_sroc(data, legend=legend, ax=ax)
    shown = surfaces(data, names, levels=levels)
    space = plane(str(shown[0].data.attrs["space"]))
    wanted = wanted_levels(levels, shown)
    fill = len(shown) == 1 and cloud is None if fill is None else fill
    places = None if cloud is None else _cloud(cloud, space)
    ax = new_axes(ax, (5.4, 4.9))
    frame(ax, *axis_labels(space, shown[0].data), extent(shown, wanted, places))
    draw_iso_f1(ax, shown, wanted, iso_f1)
    extra = [] if cloud is None or places is None else [_draw_cloud(ax, cloud, *places)]
    _draw_surfaces(ax, shown, wanted, fill=fill)
    extra += _draw_points(ax, shown, "estimate") if point else []
    if legend:
        _draw_legend(ax, shown, wanted, extra, fill=fill)
    return ax


@as_written
def plot_band(
    data: Surfaces,
    *,
    levels: Sequence[float] | float | None = None,
    names: Sequence[str] | None = None,
    curve: bool = True,
    regions: Surfaces | None = None,
    fill: bool | None = None,
    iso_f1: bool | Sequence[float] = False,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw a PR or ROC curve with its pointwise band.

    Parameters
    ----------
    data : xarray.Dataset, or several of these
        From :func:`bayescm.band`, with at most one batch dim besides the threshold; several as of :func:`plot_region`.
    curve : bool
        Whether the curve of the estimates is drawn: one that all bands share in black, others in their colour.
    regions : xarray.Dataset, or several of these
        From :func:`bayescm.region` at some of the thresholds, drawn on top, with the levels of the band.
    levels, names, fill, iso_f1, legend, ax
        As of :func:`plot_region`.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        As of :func:`plot_region`; if `regions` are of the other plane.

    Notes
    -----
    The band has its level at each threshold, not as a whole, and the legend says so: "pointwise".

    References
    ----------
    Urlus et al. 2023, Figs 1, 7 and 9.

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.curves.counts_at_thresholds([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.5, 0.6, 0.9])
    >>> middle = bayescm.region(counts.sel(threshold=[0.5]))
    >>> ax = bayescm.plots.plot_band(bayescm.band(counts, grid=101), regions=middle)
    >>> ax.get_legend().get_title().get_text()
    'Wilks, pointwise'
    """
    shown = surfaces(data, names)
    space = plane(str(shown[0].data.attrs["space"]))
    wanted = wanted_levels(levels, shown)
    on_top = _on_top(regions, space)
    fill = len(shown) == 1 if fill is None else fill
    ax = new_axes(ax, (5.4, 5.2))
    frame(ax, *axis_labels(space, shown[0].data), whole(shown))
    draw_iso_f1(ax, shown, wanted, iso_f1)
    _draw_surfaces(ax, shown, wanted, fill=fill)
    lines = _draw_points(ax, shown, f"{space.name.upper()} curve", 2.2, **_CURVE) if curve else []
    if space.name == "roc":
        draw_chance(ax)
    if on_top:
        _draw_surfaces(ax, on_top, wanted_levels(wanted, on_top), fill=False, zorder=3.5)
        for layer in on_top:
            estimate(layer.data["point"], ax, color=layer.color)
    if legend:
        _draw_legend(ax, shown, wanted, lines, fill=fill, on_top=on_top, of="pointwise")
    return ax


def _draw_surfaces(ax: Axes, shown: list[Layer], levels: list[float], *, fill: bool, **options: Any) -> None:
    """Draw the contours of all surfaces; shades need thin ones only."""
    alone = len(shown) == 1
    if fill and alone:
        options["linewidths"] = _BESIDE_SHADES
    for layer in shown:
        if fill:
            level_shades(layer.data["level"], ax, levels=levels, color=layer.color, alone=alone)
        level_contours(layer.data["level"], ax, levels=levels, color=layer.color, linestyle=layer.style, **options)


def _draw_points(ax: Axes, shown: list[Layer], label: str, several: float = 1.0, **style: Any) -> list[Any]:
    """Draw estimates or curves: one that all surfaces share in black, others in their colours, so much wider."""
    points = [layer.data["point"] for layer in shown]
    same = all(p.shape == points[0].shape and np.allclose(p, points[0], 0.0, 1e-12, equal_nan=True) for p in points)
    if not same:
        for layer, one in zip(shown, points, strict=True):
            estimate(one, ax, color=layer.color, **style | {"linewidth": several})
        return []
    mark = estimate(points[0], ax, label=label, **style)
    return [mark] if np.isfinite(coordinates(points[0])).all(0).any() else []


def _cloud(cloud: Any, space: Pair) -> tuple[Array, Array]:
    """Return x and y of draws that are defined."""
    if not isinstance(cloud, xr.Dataset) or not {space.x, space.y} <= set(cloud):
        raise TypeError(f"`cloud` must be a Dataset of draws of {space.y} and {space.x}; got {type(cloud).__name__}.")
    x, y = (np.ravel(part.values) for part in xr.broadcast(cloud[space.x], cloud[space.y]))
    defined = np.isfinite(x) & np.isfinite(y)
    return x[defined], y[defined]


def _draw_cloud(ax: Axes, cloud: xr.Dataset, x: Array, y: Array) -> Any:
    """Draw draws as faint points, as an image within a vector graphic; return what the legend shows."""
    from matplotlib.lines import Line2D

    ax.plot(
        x, y, ".", color=tone(0.54), markersize=3.5, alpha=float(np.clip(1000 / max(len(x), 1), 0.15, 0.6)), zorder=1.2,
        markeredgewidth=0, rasterized=True,
    )  # fmt: skip
    what = "bootstrap draws" if cloud.attrs.get("method") == "bootstrap" else "draws"
    return Line2D([], [], color=tone(0.54), marker=".", linestyle="none", alpha=0.8, label=f"{len(x):,} {what}")


def _on_top(regions: Surfaces | None, space: Pair) -> list[Layer]:
    """Return the regions on top of a band, named by their thresholds where they have these."""
    if regions is None:
        return []
    shown = surfaces(regions, None, "regions", colors=[palette()[i] for i in _ON_TOP])
    if shown[0].data.attrs["space"] != space.name:
        raise ValueError(f"`regions` must be of the plane of `data`, space={space.name!r}.")
    if len(shown) == 1 and not shown[0].name:
        scalars = [f"{key} {value.item():.3g}" for key, value in shown[0].data.coords.items() if key == "threshold"]
        return [shown[0]._replace(name=scalars[0] if scalars else "region")]
    return shown


def _draw_legend(
    ax: Axes, shown: list[Layer], wanted: list[float], extra: list[Any], *, fill: bool,
    on_top: Sequence[Layer] = (), of: str = "",
) -> None:  # fmt: skip
    """Draw a legend of names, of levels, and of the rest below the shorter of both."""
    names = surface_handles(shown) + surface_handles(on_top)
    levels = level_handles(shown, wanted, shaded=fill and len(shown) == 1)
    if not names:
        groups = [levels + extra] if len(levels + extra) <= 4 else [levels, extra]
    else:
        groups = [names + extra, levels] if len(names) < len(levels) else [names, levels + extra]
    draw_legend(ax, ", ".join(text for text in (title_of(shown), of) if text), *groups)
