"""contour(), area() and contains(): the outline of a region, its area, and whether it holds a point."""

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from bayescm.data import validate
from bayescm.data.counts import check_counts
from bayescm.data.inputs import takes_counts
from bayescm.data.needs import need
from bayescm.data.schema import CI_BOUND, MATRIX, METRIC, attributes
from bayescm.regions.grid import LONG_NAMES, SPACES, Array, Space, axis, checked_axis, smooth
from bayescm.regions.levels import region_level
from bayescm.regions.options import LEVELS, checked_levels
from bayescm.regions.surfaces import HERE, region

LEVEL, VERTEX = "level", "vertex"
_START, _MOST, _MOST_SIMULATED = 129, 2049, 513  # points per axis
_LONG_NAMES = LONG_NAMES | {
    "ring": "Number of the closed ring", "area": "Area of the region",
    "extent": "Ends of the region", "level": "Level of the region",
    "area_change": "Relative change of the area against the grid with every other point",
    "contains": "Whether the region contains the point", "p_value": "p-value of the point",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Outline:
    """Closed rings (n, 2) of x and y, the area they enclose, and its relative change from a grid half as fine."""

    rings: list[Array]
    area: float
    change: float
    cut: bool


@dataclass(frozen=True, slots=True)
class _Traced:
    """The outlines of a batch, level by level for each matrix, and what labels them."""

    space: Space
    levels: tuple[float, ...]
    frame: xr.DataArray
    outlines: list[_Outline]
    attrs: dict[str, Any]


@takes_counts
def contour(
    data: Any, *, levels: Sequence[float] | None = None, tolerance: float = 0.005, **options: Any
) -> xr.Dataset:
    """Trace the outlines of regions.

    Parameters
    ----------
    data : xarray.Dataset, xarray.DataArray or array_like
        Counts, as in :func:`bayescm.region`: each region gets its own grid, as fine as `tolerance` needs. Or what
        :func:`bayescm.region` or :func:`bayescm.band` returned, traced on the grid that it has. Lazy data are computed.
    levels : sequence of float, optional
        Of the regions. Default: those that the surface was made for; of counts 0.683, 0.954 and 0.997.
    tolerance : float
        Of counts: a grid is refined until no area differs by more than this share from that on every other point of the
        grid, from 129 to at most 2049 points per axis (513 for "simulate").
    **options
        Of counts: those of :func:`bayescm.region` except `grid` and `levels`.

    Returns
    -------
    xarray.Dataset
        Over ``(..., level, vertex)``: the vertices, named like the metrics of the plane (``precision`` and ``recall``,
        or ``tpr`` and ``fpr``), NaN behind the last one, and ``ring``, which numbers the closed rings, -1 behind the
        last vertex. Each ring ends where it began. With the plane's x to the right and its y upwards outer rings run
        counterclockwise and holes clockwise; a region that touches the edge of the plane is closed along it.
        ``area``, ``area_change`` and ``extent`` are those of :func:`bayescm.regions.area`. Without a region (an ellipse
        without covariance) there is no vertex, and they are NaN.

    Raises
    ------
    ValueError
        If a level exceeds the one up to which a surface is complete; if options come with a surface.

    Warns
    -----
    UserWarning
        If `tolerance` isn't reached; if a surface's grid ends inside a region, or no point of it is in the region; and
        what :func:`bayescm.region` warns of.

    Notes
    -----
    Between grid points sqrt(-2 log(1 - level)) is interpolated linearly: for most methods it is about the distance from
    the estimate in standard deviations. Exact surfaces jump; where they do the outline is right to a cell of the grid,
    and the error of the area can be about twice its change. Their regions can have holes and islands; those smaller
    than a cell of the grid aren't seen. Each region of counts is traced on its own, so it doesn't depend on the other
    levels asked for.

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=203, fn=41, fp=55, tn=201)
    >>> outline = bayescm.regions.contour(counts, levels=[0.954])
    >>> outline.area.values.round(4)
    array([0.0116])
    >>> outline.recall.min().round(3).item(), outline.recall.max().round(3).item()
    (0.767, 0.886)
    """
    traced = _trace(data, levels, tolerance, options)
    found = _areas(traced)
    size = max(1, *(sum(map(len, outline.rings)) for outline in traced.outlines))
    vertices = np.full((2, len(traced.outlines), size), np.nan)
    ring = np.full((len(traced.outlines), size), -1)
    for i, outline in enumerate(traced.outlines):
        stop = 0
        for number, points in enumerate(outline.rings):
            start, stop = stop, stop + len(points)
            vertices[:, i, start:stop] = points.T
            ring[i, start:stop] = number
    dims = [*traced.frame.dims, LEVEL, VERTEX]
    shape = (*traced.frame.shape, len(traced.levels), size)
    for name, values in ((traced.space.y, vertices[1]), (traced.space.x, vertices[0]), ("ring", ring)):
        found[name] = (dims, values.reshape(shape), {"long_name": _LONG_NAMES[name]})
    return found[[traced.space.y, traced.space.x, "ring", "area", "area_change", "extent"]]


@takes_counts
def area(data: Any, *, levels: Sequence[float] | None = None, tolerance: float = 0.005, **options: Any) -> xr.Dataset:
    """Measure regions: the share of the plane that they take.

    Parameters
    ----------
    data, levels, tolerance, **options
        As in :func:`bayescm.regions.contour`.

    Returns
    -------
    xarray.Dataset
        Over ``(..., level)``: ``area``, from 0 to 1; ``area_change``, its relative change against the grid with every
        other point, which bounds the error where the surface is smooth; ``extent(..., level, metric, ci_bound)``, the
        ends of the region along both axes. NaN where there is no region.

    Raises
    ------
    ValueError
        As :func:`bayescm.regions.contour`.

    Warns
    -----
    UserWarning
        As :func:`bayescm.regions.contour`.

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=[203, 20], fn=[41, 4], fp=[55, 5], tn=[201, 20])
    >>> bayescm.regions.area(counts, levels=[0.954]).area.values.round(3)
    array([[0.012],
           [0.112]])
    """
    return _areas(_trace(data, levels, tolerance, options))


@takes_counts
def contains(
    counts: Any,
    *,
    levels: Sequence[float] = LEVELS,
    recall: ArrayLike | xr.DataArray | None = None,
    precision: ArrayLike | xr.DataArray | None = None,
    tpr: ArrayLike | xr.DataArray | None = None,
    fpr: ArrayLike | xr.DataArray | None = None,
    ppn: ArrayLike | xr.DataArray | None = None,
    **options: Any,
) -> xr.Dataset:
    """Say whether regions contain points, without a grid.

    Parameters
    ----------
    counts : xarray.DataArray or array_like
        As in :func:`bayescm.region`.
    levels : sequence of float
        Of the regions.
    recall, precision, tpr, fpr, ppn : float, array_like or xarray.DataArray
        The points, as in :func:`bayescm.regions.region_level`.
    **options
        Those of :func:`bayescm.regions.region_level`, such as `method`.

    Returns
    -------
    xarray.Dataset
        ``contains(..., level)``, bool, over the batch and the dims of the points; ``p_value(...)`` of the points. Where
        there is no region (an ellipse without covariance) the p-value is NaN and nothing is contained.

    Raises
    ------
    ValueError
        As :func:`bayescm.regions.region_level`; if the points have the dim ``level``.

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=203, fn=41, fp=55, tn=201)
    >>> bayescm.regions.contains(counts, recall=0.85, precision=0.75).contains.values
    array([False,  True,  True])
    """
    checked = checked_levels(levels)
    point: dict[str, Any] = {"recall": recall, "precision": precision, "tpr": tpr, "fpr": fpr, "ppn": ppn}
    for name, values in point.items():
        if isinstance(values, xr.DataArray) and LEVEL in values.dims:
            raise ValueError(f"`{name}` can't have the dim 'level' here: the result keeps that name. Rename it.")
    test = region_level(counts, **point, **options)
    wanted = xr.DataArray(list(checked), dims=LEVEL, name="wanted")
    found = xr.Dataset(
        {"contains": test["level"].drop_attrs() <= wanted, "p_value": test["p_value"]},
        attrs=test.attrs | attributes(levels=list(checked)),
    ).assign_coords({LEVEL: wanted.values})
    return _named(found)


def _areas(traced: _Traced) -> xr.Dataset:
    """Return the areas and their changes."""
    dims, shape = [*traced.frame.dims, LEVEL], (*traced.frame.shape, len(traced.levels))
    columns = {
        "area": [outline.area for outline in traced.outlines],
        "area_change": [outline.change for outline in traced.outlines],
    }
    ends = np.reshape([_extent(outline.rings) for outline in traced.outlines], (*shape, 2, 2))
    found = xr.Dataset(
        {name: (dims, np.reshape(values, shape)) for name, values in columns.items()}
        | {"extent": ([*dims, METRIC, CI_BOUND], ends)},
        coords={
            **traced.frame.coords, LEVEL: list(traced.levels), METRIC: [traced.space.y, traced.space.x],
            CI_BOUND: ["lower", "upper"],
        },
        attrs=traced.attrs,
    )  # fmt: skip
    return _named(found)


def _extent(rings: list[Array]) -> Array:
    """Return the least and the largest y and x of rings, (2, 2)."""
    points = np.concatenate(rings) if rings else np.full((1, 2), np.nan)
    return np.stack([points.min(0), points.max(0)], -1)[::-1]


def _named(found: xr.Dataset) -> xr.Dataset:
    for name in found.variables:
        if name in _LONG_NAMES:
            found[name].attrs = {"long_name": _LONG_NAMES[str(name)]}
    return found


def _trace(data: Any, levels: Sequence[float] | None, tolerance: float, options: dict[str, Any]) -> _Traced:
    """Return the outlines of a surface or of the regions of counts."""
    tolerance = validate.number("tolerance", tolerance, 0, 1)
    if isinstance(data, xr.Dataset):
        if options:
            raise ValueError(f"`{min(options)}` is for counts: a surface has been made with its options. Leave it out.")
        return _trace_surface(data, levels)
    if isinstance(data, xr.DataArray) and any({space.y, space.x} <= set(data.dims) for space in SPACES.values()):
        raise TypeError("`data` must be counts or the whole Dataset of a surface; got one of its variables.")
    if "grid" in options:
        raise ValueError("`grid` can't be chosen here: set `tolerance`, or give bayescm.region(counts, grid=...).")
    return _trace_counts(data, checked_levels(LEVELS if levels is None else levels), tolerance, options)


def _trace_surface(data: xr.Dataset, levels: Sequence[float] | None) -> _Traced:
    """Return outlines on the grid of a surface."""
    dims = set(data["level"].dims) & set(data.coords) if "level" in data else set()
    spaces = [space for space in SPACES.values() if {space.y, space.x} <= dims]
    if not spaces or "complete_level" not in data.attrs:
        raise ValueError(
            "`data` must be counts, or a Dataset as bayescm.region and bayescm.band return it: the variable 'level' "
            "over the coordinates of a plane, and the attribute 'complete_level'; "
            f"got the variables {[str(name) for name in data.data_vars]} and the attributes {sorted(data.attrs)}."
        )
    space = spaces[0]
    complete = float(data.attrs["complete_level"])
    wanted = checked_levels(json.loads(data.attrs.get("levels", f"[{complete}]")) if levels is None else levels)
    if max(wanted) > complete:
        raise ValueError(
            f"`levels` must not exceed {complete:g}, up to which the surface is complete; got {max(wanted):g}. "
            "Make it with bayescm.region(..., levels=...) for the levels wanted."
        )
    surface = data["level"].transpose(..., space.y, space.x).sortby([space.y, space.x]).compute()
    axes = checked_axis(space.y, surface[space.y].values), checked_axis(space.x, surface[space.x].values)
    planes = surface.values.reshape(-1, len(axes[0]), len(axes[1]))
    outlines = [_outline(plane, axes, level) for plane in planes for level in wanted]
    _warn_of_grid(outlines)
    frame = surface.isel({space.y: 0, space.x: 0}, drop=True)
    return _Traced(space, wanted, frame, outlines, data.attrs | attributes(levels=list(wanted)))


def _warn_of_grid(outlines: list[_Outline]) -> None:
    """Say where the grid of a surface doesn't show the whole region."""
    cases = {
        "run into the border of the grid, where their outline and area are cut; give the surface axes that reach "
        "further": [outline.cut for outline in outlines],
        "hold no point of the grid: they are empty or smaller than its cells; give the surface a finer grid, or "
        "give counts": [outline.area == 0 for outline in outlines],
    }
    for text, where in cases.items():
        if any(where):
            warnings.warn(f"{sum(where)} of {len(outlines)} regions {text}.", UserWarning, skip_file_prefixes=HERE)


def _trace_counts(data: Any, levels: tuple[float, ...], tolerance: float, options: dict[str, Any]) -> _Traced:
    """Return outlines of regions that each have a grid of their own."""
    counts = check_counts(data).compute()
    whole = region(counts, levels=levels, grid=2, **options)  # checks the options and warns, once for all matrices
    if "random_seed" in whole.attrs:
        options = options | {"random_seed": whole.attrs["random_seed"]}
    space = SPACES[whole.attrs["space"]]
    most = _MOST_SIMULATED if whole.attrs["method"] == "simulate" else _MOST
    batch = [dim for dim in counts.dims if dim not in MATRIX]
    flat = counts.values.reshape(-1, 2, 2)
    outlines = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for cells in flat:
            one = xr.DataArray(cells, dims=MATRIX, coords={dim: counts[dim].values for dim in MATRIX})
            outlines += [_refine(one, space, level, tolerance, most, options) for level in levels]
    changes = np.array([outline.change for outline in outlines])
    if (changes > tolerance).any():
        warnings.warn(
            f"The area of {(changes > tolerance).sum()} of {len(outlines)} regions still changes by up to "
            f"{np.nanmax(changes):.2%} with a grid of {most} points per axis, more than `tolerance`={tolerance:g}; "
            "`area_change` says which.", UserWarning, skip_file_prefixes=HERE,
        )  # fmt: skip
    frame = counts.isel(dict.fromkeys(MATRIX, 0), drop=True).transpose(*batch)
    return _Traced(space, levels, frame, outlines, whole.attrs | attributes(tolerance=tolerance))


def _refine(
    one: xr.DataArray, space: Space, level: float, tolerance: float, most: int, options: dict[str, Any]
) -> _Outline:
    """Return the outline of one region on a grid that is fine enough."""
    window = region(one, levels=[level], grid=2, **options)
    beyond = min(1.0 - (1.0 - level) ** 1.5, 1.0 - 1e-9)  # so that no point next to the outline is left at level 1
    ends = [(float(window[name][0]), float(window[name][-1])) for name in (space.y, space.x)]
    n = _START
    while True:
        axes = (axis(n, *ends[0], spacing="edges"), axis(n, *ends[1], spacing="edges"))
        surface = region(one, levels=[max(level, beyond)], grid=axes, **options)
        found = _outline(surface["level"].values, axes, level)
        if found.cut:  # a region of highest density, whose window is a guess
            ends = [(max(0.0, 2.0 * low - high), min(1.0, 2.0 * high - low)) for low, high in ends]
        elif not found.change > tolerance or n >= most:
            return found
        else:
            n = 2 * n - 1


def _outline(plane: Array, axes: tuple[Array, Array], level: float) -> _Outline:
    """Return the outline of the points of a plane (ny, nx) of at most a level."""
    if np.isnan(plane).any():
        return _Outline([], np.nan, np.nan, False)
    rings = _rings(plane, axes, level)
    half = np.ix_(*(_every_other(len(points)) for points in axes))
    coarse = _enclosed(_rings(plane[half], (axes[0][half[0][:, 0]], axes[1][half[1][0]]), level))
    fine = _enclosed(rings)
    borders = (
        (axes[0][0] > 0.0, plane[0]), (axes[0][-1] < 1.0, plane[-1]),
        (axes[1][0] > 0.0, plane[:, 0]), (axes[1][-1] < 1.0, plane[:, -1]),
    )  # fmt: skip
    cut = any(inside and (border <= level).any() for inside, border in borders)
    return _Outline(rings, fine, abs(fine - coarse) / fine if fine > 0.0 else 0.0, cut)


def _every_other(n: int) -> Array:
    """Return every other index, the first and the last included."""
    return np.unique(np.append(np.arange(0, n, 2), n - 1))


def _rings(plane: Array, axes: tuple[Array, Array], level: float) -> list[Array]:
    """Return closed rings (n, 2) of x and y: outer ones counterclockwise, holes clockwise."""
    height = smooth(plane)
    contourpy = need("contourpy", "The outline of a region")
    generator = contourpy.contour_generator(
        axes[1], axes[0], height, name="serial", fill_type=contourpy.FillType.OuterOffset
    )
    polygons, offsets = cast(tuple[list[Array], list[Array]], generator.filled(-1.0, float(smooth(level))))
    return [
        points[start:stop] for points, offset in zip(polygons, offsets, strict=True) for start, stop in pairwise(offset)
    ]


def _enclosed(rings: list[Array]) -> float:
    """Return the area inside rings."""
    total = 0.0
    for points in rings:
        x, y = (points - points[0]).T  # keeps the digits of small regions
        total += 0.5 * float(x[:-1] @ y[1:] - x[1:] @ y[:-1])
    return total
