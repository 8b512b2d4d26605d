"""One mark per function, ``(da, target, **options)``: what ArviZ's ``PlotCollection.map`` asks for.

The pictures of :mod:`bayescm.plots` are made of the same marks. They draw on matplotlib's axes.
"""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data.schema import METRIC
from bayescm.plots.checks import refuse
from bayescm.plots.frames import Axes
from bayescm.plots.style import fade, ink, mixed, palette, paper
from bayescm.regions.drawn import Pair, plane
from bayescm.regions.grid import SPACES, smooth

Array = NDArray[np.float64]

_WIDTHS = (1.8, 0.7)  # of the innermost and the outermost contour
_DEPTHS = (0.55, 0.16)  # of the innermost and the outermost shade
_DEPTH_OVER = 0.16  # of every shade where several lie over one another


def level_contours(
    da: xr.DataArray,
    target: Axes,
    *,
    levels: Sequence[float],
    color: Any = None,
    linestyle: str = "-",
    **options: Any,
) -> Any:
    """Draw the contours of a surface of levels, the innermost the thickest.

    They are interpolated on the scale sqrt(-2 log(1 - level)), on which surfaces are smooth: of a normal distribution
    it is the distance from the estimate.

    Parameters
    ----------
    da : xarray.DataArray
        ``level`` of :func:`bayescm.region` or :func:`bayescm.band`, of one matrix or one curve.
    target : matplotlib.axes.Axes
    levels : sequence of float
        In (0, 1), none above the ``complete_level`` of the Dataset. A level that the surface doesn't reach isn't drawn.
    color : color
        Of all contours; default: the first of the style.
    linestyle : str
        Of all contours.
    **options
        Of :meth:`matplotlib.axes.Axes.contour`.

    Returns
    -------
    matplotlib.contour.ContourSet or None
        None where there is nothing to draw.

    Examples
    --------
    >>> import arviz as az
    >>> import bayescm
    >>> surfaces = bayescm.region(bayescm.datasets.caelen2017())
    >>> pc = az.PlotCollection.wrap(surfaces[["level", "point"]], cols=["system"], backend="matplotlib")
    >>> pc.map(bayescm.plots.visuals.level_contours, "contours", data=surfaces[["level"]], levels=[0.683, 0.954])
    >>> pc.map(bayescm.plots.visuals.estimate, "estimate", data=surfaces[["point"]])
    """
    x, y, z = surface(da)
    levels = sorted(levels)
    values, color = smooth(levels), palette()[0] if color is None else color
    if z.count() == 0:
        return None
    shown = np.flatnonzero((values > z.min()) & (values < z.max()))
    if len(shown) == 0:
        return None
    given: dict[str, Any] = {"linewidths": np.asarray(widths(len(levels)))[shown], "zorder": 2.5} | options
    return target.contour(x, y, z, levels=values[shown], colors=[color], linestyles=[linestyle], **given)


def level_shades(
    da: xr.DataArray,
    target: Axes,
    *,
    levels: Sequence[float],
    color: Any = None,
    alone: bool = True,
    **options: Any,
) -> list[Any]:
    """Fill the regions of a surface of levels, the innermost the darkest.

    Parameters
    ----------
    da : xarray.DataArray
        As of :func:`level_contours`.
    target : matplotlib.axes.Axes
    levels : sequence of float
        As of :func:`level_contours`.
    color : color
        That the shades are made of; default: the first of the style.
    alone : bool
        Whether the shades are opaque; else they let through what lies below.
    **options
        Of :meth:`matplotlib.axes.Axes.contourf`.

    Returns
    -------
    list of matplotlib.contour.ContourSet
        The outermost first.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayescm
    >>> made = bayescm.region(bayescm.from_cells(tp=203, fn=41, fp=55, tn=201))
    >>> len(bayescm.plots.visuals.level_shades(made.level, plt.figure().gca(), levels=[0.5, 0.9]))
    2
    """
    x, y, z = surface(da)
    levels, color = sorted(levels), palette()[0] if color is None else color
    found = []
    for value, shade in reversed(list(zip(smooth(levels), shades(color, len(levels)), strict=True))):
        if z.count() and z.min() <= value:
            given: dict[str, Any] = {"zorder": 1.0} | options
            given |= {"colors": [shade]} if alone else {"colors": [color], "alpha": fade(_DEPTH_OVER)}
            found.append(target.contourf(x, y, z, levels=[-1.0, value], **given))
    return found


def estimate(da: xr.DataArray, target: Axes, *, color: Any = None, **options: Any) -> Any:
    """Draw estimates as marks.

    Parameters
    ----------
    da : xarray.DataArray
        ``point`` of :func:`bayescm.region` or :func:`bayescm.band`; one that is 0/0 isn't drawn.
    target : matplotlib.axes.Axes
    color : color
        Of the marks; default: that of text in the style.
    **options
        Of :meth:`matplotlib.axes.Axes.plot`; with ``marker=""`` and ``linestyle="-"`` it is the curve.

    Returns
    -------
    matplotlib.lines.Line2D

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import bayescm
    >>> made = bayescm.region(bayescm.from_cells(tp=203, fn=41, fp=55, tn=201))
    >>> mark = bayescm.plots.visuals.estimate(made.point, plt.figure().gca())
    >>> mark.get_xdata().round(3)
    array([0.832])
    """
    x, y = coordinates(da)
    style: dict[str, Any] = {
        "marker": "o", "markersize": 5.0, "markeredgecolor": paper(), "markeredgewidth": 0.7, "linestyle": "none",
        "zorder": 4.0, "clip_on": False,
    }  # fmt: skip
    (line,) = target.plot(x, y, color=ink() if color is None else color, **(style | options))
    return line


def space_of(names: Sequence[Hashable]) -> Pair:
    """Return the plane whose two metrics are among the names; of others there must be two, y and x."""
    for name in SPACES:
        if {SPACES[name].y, SPACES[name].x} <= set(names):
            return plane(name)
    if len(names) == 2:
        return Pair("", *map(str, names))
    raise ValueError(f"`da` must have the dims (precision, recall) or (tpr, fpr); got {list(names)}. Give `level`.")


def surface(da: Any) -> tuple[Array, Array, Any]:
    """Return x, y and the smooth scale of a surface, masked where it is missing."""
    if not isinstance(da, xr.DataArray):
        refuse("da", da, "the variable `level` of what bayescm.region or bayescm.band returns")
    space = space_of([dim for dim in da.dims if dim in da.coords])
    if da.ndim != 2:
        others = [dim for dim in da.dims if dim not in (space.y, space.x)]
        raise ValueError(f"`da` must be of one matrix; it also has the dims {others}. Select one, or facet over them.")
    values = smooth(da.transpose(space.y, space.x).values)
    return da[space.x].values, da[space.y].values, np.ma.masked_invalid(values)


def coordinates(point: xr.DataArray) -> tuple[Array, Array]:
    """Return x and y of estimates, in one dimension."""
    if not isinstance(point, xr.DataArray) or METRIC not in point.coords:
        refuse("da", point, "the variable `point` of what bayescm.region or bayescm.band returns")
    space = space_of(point[METRIC].values.tolist())
    x, y = (np.atleast_1d(point.sel({METRIC: name}).values).ravel() for name in (space.x, space.y))
    return x, y


def widths(n: int) -> list[float]:
    """Return the line widths of n contours, the innermost first."""
    return [float(w) for w in np.linspace(*_WIDTHS, n)] if n > 1 else [1.6]


def shades(color: Any, n: int) -> list[str]:
    """Return n opaque shades of a colour, the innermost first."""
    depths = np.linspace(*_DEPTHS, n) if n > 1 else [0.3]
    return [mixed(color, float(depth)) for depth in depths]
