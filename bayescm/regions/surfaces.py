"""region() and band(): counts in, levels over a plane out."""

import warnings
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np
import xarray as xr

from bayescm.data import strata, validate
from bayescm.data.inputs import takes_counts, takes_scores
from bayescm.data.schema import MATRIX, METRIC, THRESHOLD, VERSUS, batch_dim
from bayescm.data.shapes import is_reported
from bayescm.data.units import by_unit, without_units
from bayescm.data.words import RegionMethod
from bayescm.regions.drawn import KDE, of_posterior
from bayescm.regions.grid import LONG_NAMES, Array, around, axis, checked_axis
from bayescm.regions.methods import Ellipse, Method
from bayescm.regions.options import LEVELS, MethodOptions, Options, RegionOptions, checked_levels, flat, two_labels
from bayescm.results.objects import stamped

HERE = (str(Path(__file__).parents[1]),)
"""Warnings point to the first line outside this folder."""
_OF_METHODS, _OF_COUNTS = set(MethodOptions.__annotations__), {"ordering", "mid_p", "extra_cov"}
_POINTS = 257
_POINTS_SIMULATED = 65
_POINTS_OF_BAND = 501
_LONG_NAMES = LONG_NAMES | {
    "point": "Value of the counts themselves", "level": "Smallest level whose region contains the point",
    "covariance": "Covariance of the estimates",
}  # fmt: skip


@stamped
@takes_counts
def region(
    counts: Any,
    *,
    space: Any = "pr",
    method: RegionMethod | None = None,
    levels: Sequence[float] = LEVELS,
    grid: Any = None,
    **options: Unpack[RegionOptions],
) -> xr.Dataset:
    """Say where the true recall and precision (or both rates of a ROC plane) of a matrix may lie.

    Parameters
    ----------
    counts : xarray.DataArray or array_like
        ``counts(..., actual, predicted)`` of two labels; a bare array is read as by :func:`bayescm.from_array`. May be
        lazy (dask). Of an audit (:func:`bayescm.audited`), a tree of draws (:func:`bayescm.posterior`) and two metrics
        of any matrix the region is "credible": an ellipse in the normal scores of both numbers that holds the level of
        the posterior's draws.
    space : {"pr", "roc", "ppn"} or pair of metrics
        Precision over recall, true positive rate over false positive rate, or the share predicted negative over recall
        (by "wilks", "ellipse" and "simulate"); or two metrics with one value each between two bounds, y and x, such as
        ``("f1_macro", "accuracy")``.
    method : {"wilks", "exact", "ellipse", "credible", "anytime", "simulate"}, optional
        By default "wilks" of counts, and "credible" of what has draws only. "wilks": likelihood ratio with its limiting
        distribution. "exact": the probability of a smaller likelihood ratio, added up over all outcomes; its coverage
        is never below the level. "ellipse": the bivariate normal. "credible": posterior mass. "anytime": holds
        at every look at a test that goes on (Ville 1939), and is larger. "simulate": the papers' test by simulation,
        slow, a check; it draws TP + FP + FN (or the class totals) too, which "exact" takes as given.
    levels : sequence of float
        Levels that will be asked for: beyond the largest the surface may be 1.
    grid : int, pair of ints or pair of array_like, optional
        Points per axis (y, x) over the smallest window that holds all regions of the batch, or the axes themselves,
        increasing in [0, 1]. Default: 257 points (65 for "simulate"). Lazy counts are computed for that window, the
        levels aren't; with axes given nothing is.
    **options
        Of "credible" and "anytime": `prior`, as in :func:`bayescm.summary` ("jeffreys"). Of "credible": `ordering`,
        which points come first: "relative_belief", the default, orders by the likelihood and doesn't depend on how the
        plane is parametrised; "density" is the papers' region of highest density; "kde" that of a kernel estimate from
        draws, in their normal scores, of anything that has draws. Of "exact": `mid_p`, whether to count
        ties half, which is accurate on average but not conservative (False). Of "ellipse": `extra_cov`, a covariance of
        (y, x), such as (precision, recall), from other sources to be added. Of "simulate": `draws` per point (10,000)
        and `random_seed`; of a region by draws their number (100,000) and seed, `model`, `prevalence` and what a model
        takes, as in :func:`bayescm.summary`.

    Returns
    -------
    xarray.Dataset
        ``level(..., precision, recall)``, ``level(..., tpr, fpr)`` or ``level(..., ppn, recall)``, or over two metrics
        by name: the smallest level whose region contains the point, so the region of level c is where ``level <= c``;
        ``point(..., metric)``: the estimate, NaN where it is
        0/0; of "ellipse" ``covariance(..., metric, versus)`` of the estimates. Attributes say how it was made;
        ``complete_level`` is the level up to which the surface is complete: where the level is larger it may be 1.

    Raises
    ------
    ValueError
        If an option doesn't apply to the method, or counts have more than two labels.

    Warns
    -----
    UserWarning
        If "ellipse" has no covariance for a matrix, whose level is NaN then; if "density" is unbounded. Of lazy counts,
        which aren't looked at yet, neither is said.

    Notes
    -----
    The exact method holds for a random sample of items: given TP + FP + FN the three counts are trinomial with
    probabilities that depend on recall and precision alone.

    References
    ----------
    Urlus et al. 2023, Pointwise sampling uncertainties on the precision-recall curve; docs/theory derives the rest.

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=203, fn=41, fp=55, tn=201)
    >>> surface = bayescm.region(counts, method="exact")
    >>> surface.level.sel(precision=0.75, recall=0.85, method="nearest").round(2).item()
    0.78
    """
    of_method: dict[str, Any] = {name: value for name, value in options.items() if name in _OF_METHODS}
    others = set(options) - _OF_METHODS
    if (unknown := sorted(others - RegionOptions.__annotations__.keys())) and "model" not in others:
        raise TypeError(f"region() has no argument `{unknown[0]}`; a level is `levels`, such as levels=[0.95].")
    drawn = strata.is_audit(counts) or isinstance(counts, xr.DataTree) or by_unit(counts) is not None
    by_kernels = of_method.get("ordering") == KDE
    drawn = drawn or is_reported(counts) or by_kernels
    if drawn or not isinstance(space, str) or others:
        refused = _OF_COUNTS - {"ordering"} if by_kernels else _OF_COUNTS
        if method not in (None, "credible") or any(of_method.get(name) is not None for name in refused):
            raise ValueError(
                f"`method`={method!r} needs the four cells of items that all were checked. Of an audit, of units, of "
                "a model's draws and of two metrics the region is the posterior's: leave `method` out; it is by draws "
                "(`draws`, `random_seed`), without other options but ordering='kde'."
            )
        axes = _two_axes(grid)
        sizes = _sizes(_POINTS if grid is None else grid) if axes is None else (0, 0)
        how: dict[str, Any] = {name: value for name, value in options.items() if name not in refused}
        return of_posterior(counts, space, checked_levels(levels), axes, sizes, **how)
    made = Options(space, method or "wilks", levels, **of_method)
    checked = two_labels(without_units(counts))
    method_ = made.method(checked)
    axes = _axes(checked, made, method_, grid)

    def kernel(cells: Array) -> Array:
        rows = flat(cells)
        found = [method_.surface(rows[i : i + 1], axes, made.complete) for i in range(len(rows))]
        return np.reshape(found, (*cells.shape[:-2], len(axes[0]), len(axes[1])))

    return _dataset(checked, made, method_, axes, kernel, list(MATRIX))


@takes_scores
@takes_counts
def band(
    counts: Any,
    *,
    dim: str = THRESHOLD,
    space: Literal["pr", "roc", "ppn"] = "pr",
    method: RegionMethod = "wilks",
    levels: Sequence[float] = LEVELS,
    grid: Any = None,
    **options: Unpack[MethodOptions],
) -> xr.Dataset:
    """Unite the regions of all thresholds of a curve: the level of a point is the least over the thresholds.

    The band is pointwise: each threshold's region has its level, the whole curve has not. It shows what each threshold
    alone leaves possible. It must not be used to choose a threshold, to compare curves, or to bound an area.

    Parameters
    ----------
    counts : xarray.DataArray
        ``counts(..., threshold, actual, predicted)``, such as :func:`bayescm.curves.counts_at_thresholds` returns.
    dim : str
        The dim that is united.
    space, method, levels, **options
        As in :func:`bayescm.region`.
    grid : int, pair of ints or pair of array_like, optional
        Points per axis (y, x) over [0, 1], or the axes themselves. Default: 501 points (101 for "simulate").

    Returns
    -------
    xarray.Dataset
        ``level(..., precision, recall)`` or ``level(..., tpr, fpr)``, and ``point(..., threshold, metric)``, the curve.
        The memory needed doesn't depend on the number of thresholds.

    Raises
    ------
    ValueError
        For counts without the dim of the thresholds.

    Warns
    -----
    UserWarning
        If "ellipse" has no covariance at some thresholds, which are left out then; if "density" is unbounded.

    References
    ----------
    Urlus et al. 2023, section 8.

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.curves.counts_at_thresholds([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.5, 0.6, 0.9])
    >>> bayescm.band(counts, grid=101).level.sizes
    Frozen({'precision': 101, 'recall': 101})
    """
    made = Options(space, method, levels, **options)
    checked = two_labels(counts)
    batch_dim(checked, dim)
    method_ = made.method(checked)
    axes = _two_axes(grid)
    if axes is None:
        sizes = _sizes((101 if method == "simulate" else _POINTS_OF_BAND) if grid is None else grid)
        axes = axis(sizes[0]), axis(sizes[1])

    def kernel(cells: Array) -> Array:
        batch = cells.shape[:-3]
        found = [
            method_.surface(np.unique(flat(curve), axis=0), axes, made.complete)
            for curve in cells.reshape(-1, *cells.shape[-3:])
        ]
        return np.reshape(found, (*batch, len(axes[0]), len(axes[1])))

    made.attrs["band"] = "pointwise: union of the regions of single thresholds; no statement about the whole curve"
    if checked.chunks is not None:
        checked = checked.chunk({dim: -1})
    return _dataset(checked, made, method_, axes, kernel, [dim, *MATRIX])


def _axes(counts: xr.DataArray, made: Options, method: Method, given: Any) -> tuple[Array, Array]:
    """Return the axes of a region."""
    axes = _two_axes(given)
    if axes is not None:
        return axes
    default = _POINTS_SIMULATED if made.name == "simulate" else _POINTS
    sizes = (default, default) if given is None else _sizes(given)
    boxes = method.shown(flat(counts.values), made.complete)
    found = []
    for side, size in enumerate(sizes):
        low, high = float(boxes[:, 2 * side].min()), float(boxes[:, 2 * side + 1].max())
        found.append(around(low, high, method.margin, size))
    return found[0], found[1]


def _two_axes(given: Any) -> tuple[Array, Array] | None:
    """Return the axes, if axes were given."""
    if isinstance(given, tuple | list) and len(given) == 2 and all(np.ndim(part) > 0 for part in given):
        return checked_axis("grid[0]", given[0]), checked_axis("grid[1]", given[1])
    return None


def _sizes(given: Any) -> tuple[int, int]:
    """Return numbers of points of both axes."""
    pair = given if isinstance(given, tuple | list) else (given, given)
    if len(pair) != 2 or any(np.ndim(size) > 0 or isinstance(size, str | dict) for size in pair):
        raise ValueError(
            f"`grid` must be a number of points, two of them, or two increasing axes in a tuple; got {given!r}."
        )
    ny, nx = (validate.positive_integer("grid", size) for size in pair)
    if min(ny, nx) < 2:
        raise ValueError(f"`grid` must have at least 2 points per axis; got {given!r}.")
    return ny, nx


def complain(method: Method, counts: xr.DataArray) -> None:
    """Say for which matrices a method fails."""
    if complaint := method.complaint(flat(counts.values)):
        warnings.warn(complaint, skip_file_prefixes=HERE)


def _dataset(
    counts: xr.DataArray,
    made: Options,
    method: Method,
    axes: tuple[Array, Array],
    kernel: Callable[[Array], Array],
    core: list[Hashable],
) -> xr.Dataset:
    """Apply a kernel to plain cells and label what comes out."""
    space = made.space
    names = (space.y, space.x)
    if counts.chunks is None:
        complain(method, counts)
    else:
        counts = counts.chunk(dict.fromkeys(MATRIX, -1))

    def estimates(cells: Array) -> Array:
        return space.estimate(cells.reshape(*cells.shape[:-2], 4))

    sizes = {name: len(points) for name, points in zip(names, axes, strict=True)}
    level = xr.apply_ufunc(
        kernel, counts, input_core_dims=[core], output_core_dims=[list(names)], dask="parallelized",
        output_dtypes=[np.float64], dask_gufunc_kwargs={"output_sizes": sizes}, keep_attrs=False,
    )  # fmt: skip
    point = xr.apply_ufunc(
        estimates, counts, input_core_dims=[list(MATRIX)], output_core_dims=[[METRIC]],
        dask="parallelized", output_dtypes=[np.float64], dask_gufunc_kwargs={"output_sizes": {METRIC: 2}},
        keep_attrs=False,
    )  # fmt: skip
    data = xr.Dataset({"level": level, "point": point}, attrs=made.attrs)
    if isinstance(method, Ellipse):
        data["covariance"] = _covariance(counts, method)
    data = data.assign_coords({METRIC: list(names), **dict(zip(names, axes, strict=True))})
    for name in (*names, *data.data_vars):
        data[name].attrs = {"long_name": _LONG_NAMES[name]}
    return data


def _covariance(counts: xr.DataArray, method: Ellipse) -> xr.DataArray:
    """Return the covariances of both metrics, NaN where they are 0/0."""

    def kernel(cells: Array) -> Array:
        return np.reshape(method.covariance(flat(cells)), (*cells.shape[:-2], 2, 2))

    found: xr.DataArray = xr.apply_ufunc(
        kernel, counts, input_core_dims=[list(MATRIX)], output_core_dims=[[METRIC, VERSUS]], dask="parallelized",
        output_dtypes=[np.float64], dask_gufunc_kwargs={"output_sizes": {METRIC: 2, VERSUS: 2}}, keep_attrs=False,
    )  # fmt: skip
    return found.assign_coords({VERSUS: [method.space.y, method.space.x]})
