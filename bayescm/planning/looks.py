"""sequential(): the posterior after each chunk of a test."""

from typing import Any

import numpy as np
import xarray as xr

from bayescm.data import validate
from bayescm.data.counts import check_counts, checked_when_computed
from bayescm.data.inputs import takes_counts
from bayescm.data.schema import MATRIX, batch_dim
from bayescm.inference.summaries import summary
from bayescm.metrics import MetricsLike


@takes_counts
def sequential(counts: Any, metrics: MetricsLike = None, *, dim: str = "chunk", **options: Any) -> xr.Dataset:
    """Return the summary after each chunk of items: yesterday's posterior is today's prior (Caelen 2017, section 7.2).

    Parameters
    ----------
    counts : xarray.DataArray or array_like
        ``counts(..., chunk, actual, predicted)``, in the order in which the chunks came. A bare array has the chunks
        first. May be lazy (dask).
    metrics
        As in :func:`bayescm.summary`.
    dim : str
        Name of the dim of chunks.
    **options
        Of :func:`bayescm.summary`.

    Returns
    -------
    xarray.Dataset
        As of :func:`bayescm.summary`, over ``(..., chunk, metric)``; and ``n(..., chunk)``, the items so far.

    Raises
    ------
    ValueError
        For counts without the dim of the chunks.

    Notes
    -----
    After each chunk the posterior is what the items so far say, in whatever order they came and whatever made you stop.
    It isn't a test with an error rate: an interval that is looked at many times excludes a true value, some time or
    other, more often than 5 times in 100. The page on planning says how often.

    Examples
    --------
    >>> import bayescm
    >>> chunks = bayescm.from_cells(tp=[9, 8, 10], fn=[1, 2, 0], fp=[2, 3, 1], tn=[8, 7, 9], dims="chunk")
    >>> found = bayescm.planning.sequential(chunks, "accuracy")
    >>> found.n_items.values
    array([20, 40, 60])
    >>> found.interval.sel(metric="accuracy").values.round(2)
    array([[0.64, 0.95],
           [0.65, 0.89],
           [0.74, 0.92]])
    """
    if not isinstance(counts, xr.DataArray) and np.ndim(counts) == 3:
        counts = xr.DataArray(validate.array_of("counts", counts), dims=(dim, *MATRIX))
    checked = checked_when_computed(check_counts(counts))
    if "n_items" in checked.dims:
        raise ValueError("`counts` can't have a dim 'n_items' here: the result keeps that name. Rename it.")
    batch_dim(checked, dim)
    so_far = checked.copy(data=checked.data.cumsum(axis=checked.get_axis_num(dim)))
    found = summary(so_far, metrics, **options)
    return found.assign(n_items=so_far.sum(MATRIX).assign_attrs(long_name="Items so far")).assign_attrs(sequential=dim)
