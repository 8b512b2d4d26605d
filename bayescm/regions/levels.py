"""region_level(): the level of hypothesised points."""

from typing import Any, Unpack

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from bayescm.data import validate
from bayescm.data.inputs import takes_counts
from bayescm.data.schema import MATRIX
from bayescm.data.words import RegionMethod
from bayescm.regions.grid import LONG_NAMES, SPACES, Array
from bayescm.regions.methods import BY_LIKELIHOOD
from bayescm.regions.options import MethodOptions, Options, flat, two_labels
from bayescm.regions.surfaces import complain

_LONG_NAMES = LONG_NAMES | {
    "p_value": "p-value of the point", "level": "Smallest level whose region contains the point",
    "fitted": "Likeliest shares of the cells if the point is true",
}  # fmt: skip
_STATISTICS = {"ellipse": "Squared Mahalanobis distance", "density": "Log posterior density"}


@takes_counts
def region_level(
    counts: Any,
    *,
    recall: ArrayLike | xr.DataArray | None = None,
    precision: ArrayLike | xr.DataArray | None = None,
    tpr: ArrayLike | xr.DataArray | None = None,
    fpr: ArrayLike | xr.DataArray | None = None,
    ppn: ArrayLike | xr.DataArray | None = None,
    method: RegionMethod = "wilks",
    **options: Unpack[MethodOptions],
) -> xr.Dataset:
    """Test hypothesised points: the smallest level whose region contains each.

    Parameters
    ----------
    counts : xarray.DataArray or array_like
        As in :func:`bayescm.region`.
    recall, precision, tpr, fpr, ppn : float, array_like or xarray.DataArray
        Recall and precision, tpr and fpr, or recall and ppn (the share predicted negative), in [0, 1]. Plain arrays of
        one dimension share the dim ``point``; DataArrays keep their dims and are broadcast.
    method, **options
        As in :func:`bayescm.region`.

    Returns
    -------
    xarray.Dataset
        Over the batch and the dims of the points: ``statistic`` (likelihood ratio; squared Mahalanobis distance;
        log density), ``level`` and ``p_value`` = 1 - level, with full precision where it is small and has a formula; of
        "credible" that is the posterior mass of the points that come after. Of the methods by likelihood also
        ``fitted(actual, predicted)``, the shares of the cells that are likeliest if the point is true.

    Warns
    -----
    UserWarning
        As :func:`bayescm.region`; without an ellipse statistic, level and p-value are NaN.

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=203, fn=41, fp=55, tn=201)
    >>> test = bayescm.regions.region_level(counts, recall=0.85, precision=0.75)
    >>> round(test.statistic.item(), 4), round(test.p_value.item(), 4)
    (3.0645, 0.2161)
    """
    given = {"precision": precision, "recall": recall, "tpr": tpr, "fpr": fpr, "ppn": ppn}
    named = {name for name, value in given.items() if value is not None}
    space = next((space for space in SPACES.values() if {space.y, space.x} == named), None)
    if space is None:
        raise ValueError(
            f"give either `recall` and `precision` or `tpr` and `fpr` or `recall` and `ppn`; got "
            f"{sorted(named) or 'none'}."
        )
    made = Options(space.name, method, None, **options)
    checked = two_labels(counts)
    method_ = made.method(checked)
    places = _places({name: given[name] for name in (space.y, space.x)})
    by_likelihood = isinstance(method_, BY_LIKELIHOOD)

    def kernel(cells: Array, y: Array, x: Array) -> Array:
        y, x, first = np.broadcast_arrays(y, x, cells[..., 0, 0])
        rows = flat(np.broadcast_to(cells, (*first.shape, 2, 2)))
        y, x = y.ravel().astype(float), x.ravel().astype(float)
        found = np.stack(method_.at(rows, y, x), -1)
        if by_likelihood:
            found = np.hstack([found, method_.fitted(rows, y, x)])
        return found.reshape(*first.shape, found.shape[-1])

    if checked.chunks is None:
        complain(method_, checked)
    sizes = {"_statistic": 7 if by_likelihood else 3}
    values = xr.apply_ufunc(
        kernel, checked, *places.values(), input_core_dims=[list(MATRIX), [], []], output_core_dims=[["_statistic"]],
        dask="parallelized", output_dtypes=[np.float64], dask_gufunc_kwargs={"output_sizes": sizes}, keep_attrs=False,
    )  # fmt: skip
    names = ("statistic", "level", "p_value")
    data = xr.Dataset({name: values.isel(_statistic=i) for i, name in enumerate(names)}, attrs=made.attrs)
    if by_likelihood:
        fitted = values.isel(_statistic=slice(3, None)).coarsen(_statistic=2).construct(_statistic=MATRIX)
        data["fitted"] = fitted.assign_coords({dim: checked[dim] for dim in MATRIX})
    for name, place in places.items():
        if name not in data.dims:
            data = data.assign_coords({name: place})
    texts = _LONG_NAMES | {"statistic": _STATISTICS.get(method_.name, "Likelihood ratio statistic")}
    for name in (*places, *data.data_vars):
        data[name].attrs = {"long_name": texts[str(name)]}
    return data


def _places(given: dict[str, Any]) -> dict[str, xr.DataArray]:
    """Return coordinates of points by the names of both rates."""
    places = {name: _coordinate(name, value) for name, value in given.items()}
    y, x = places
    lengths = [place.sizes["point"] for place in places.values() if "point" in place.dims]
    if len(set(lengths)) > 1:
        raise ValueError(f"`{y}` has {lengths[0]} points, `{x}` has {lengths[1]}; give one of each per point.")
    taken = {dim for place in places.values() for dim in place.dims} & set(MATRIX)
    if taken:
        raise ValueError(f"`{y}` and `{x}` can't have the dims of a matrix, {sorted(map(str, taken))}.")
    return places


def _coordinate(name: str, value: Any) -> xr.DataArray:
    """Return coordinates of points in [0, 1]."""
    if not isinstance(value, xr.DataArray):
        plain = validate.array_of(name, value)
        if plain.ndim > 1:
            raise ValueError(f"`{name}` must have at most one dimension, or be a DataArray; got shape {plain.shape}.")
        value = xr.DataArray(plain, dims=["point"] * plain.ndim)
    assert isinstance(value, xr.DataArray)
    if value.size == 0:
        raise ValueError(f"`{name}` is empty; give at least one point.")
    if value.dtype.kind not in "iuf":
        raise TypeError(f"`{name}` must be numbers in [0, 1]; got values of type {value.dtype}.")
    if not bool(((value >= 0) & (value <= 1)).all()):
        raise ValueError(f"`{name}` must be in [0, 1], without missing values.")
    return value
