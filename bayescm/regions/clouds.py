"""bootstrap(): the cloud of resampled matrices on the PR or the ROC plane."""

import warnings
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.assumptions import assumed
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import DRAW, METRIC, as_read, attributes, by_matrix
from bayescm.regions.grid import LONG_NAMES, SPACES, Array
from bayescm.regions.options import two_labels
from bayescm.regions.surfaces import HERE

_LONG_NAMES = LONG_NAMES | {"undefined": "Share of the resamples that leave the metric undefined"}


def bootstrap(
    counts: Any, *, space: str = "pr", draws: int = 10_000, random_seed: int | np.random.Generator | None = None
) -> xr.Dataset:
    """Resample the items of a matrix: the cloud of recall and precision, or of both rates of a ROC plane.

    Parameters
    ----------
    counts : xarray.DataArray or array_like
        ``counts(..., actual, predicted)`` of two labels; a bare array is read as by :func:`bayescm.from_array`. May be
        lazy (dask).
    space : {"pr", "roc", "ppn"}
        Precision and recall, true and false positive rate, or the share predicted negative and recall.
    draws : int
        Resampled matrices, multinomial with the number of items and the shares of cells observed.
    random_seed : int, numpy.random.Generator or None
        Each position of a batch has a stream of its own.

    Returns
    -------
    xarray.Dataset
        ``precision(..., draw)`` and ``recall(..., draw)``, or ``tpr`` and ``fpr``, NaN where a resample leaves them
        0/0; ``undefined(..., metric)``, the share of those.

    Raises
    ------
    ValueError
        If counts have more than two labels.

    Warns
    -----
    UserWarning
        If resamples leave a metric undefined.

    Notes
    -----
    The cloud is for pictures. Where a cell is empty it stays empty in every resample, so a matrix without false
    positives has precision 1 in all of them, which isn't certainty: take :func:`bayescm.region`.

    References
    ----------
    Urlus et al. 2023, appendix A.

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=203, fn=41, fp=55, tn=201)
    >>> cloud = bayescm.regions.bootstrap(counts, random_seed=1)
    >>> cloud.recall.std().round(3).item(), bool(cloud.undefined.any())
    (0.024, False)
    """
    plane = SPACES[validate.choice("space", space, tuple(SPACES))]
    checked = two_labels(counts)
    size, seed = validate.positive_integer("draws", draws), validate.seed(random_seed)

    def kernel(cells: NDArray[Any], index: NDArray[np.int64]) -> Array:
        matrices = validate.count_values("counts", cells).reshape(-1, 4)
        found = np.empty((len(matrices), 2, size))
        for row, matrix, number in zip(found, matrices, index.flat, strict=True):
            n = int(matrix.sum())
            resampled = matrix_rng(seed, int(number), Stream.REGION_BOOTSTRAP).multinomial(
                n, matrix / max(n, 1), size=size
            )
            row[:] = plane.estimate(resampled.astype(np.float64)).T
        _warn(found, (plane.y, plane.x))
        return found.reshape(*index.shape, 2, size)

    both = by_matrix(kernel, checked, {METRIC: 2, DRAW: size})
    names = [plane.y, plane.x]
    cloud = xr.Dataset(
        {name: both.isel({METRIC: i}) for i, name in enumerate(names)},
        attrs=attributes(
            method="bootstrap",
            space=plane.name,
            draws=size,
            random_seed=seed,
            assumptions=assumed(),
            **as_read(checked),
        ),
    )
    cloud["undefined"] = both.isnull().mean(DRAW)
    cloud = cloud.assign_coords({METRIC: names, DRAW: np.arange(size)})
    for name in cloud.data_vars:
        cloud[name].attrs = {"long_name": _LONG_NAMES[str(name)], "units": "1"}
    return cloud


def _warn(found: Array, names: tuple[str, str]) -> None:
    """Say which metrics (T, 2, draws) resamples leave undefined."""
    share = np.isnan(found).mean(-1).max(0)
    text = [f"{name} in up to {most:.2%}" for name, most in zip(names, share, strict=True) if most > 0]
    if text:
        warnings.warn(
            f"Resamples of a matrix leave {' and '.join(text)} of the draws undefined (0/0), NaN here. "
            "bayescm.region needs no resamples.", UserWarning, skip_file_prefixes=HERE,
        )  # fmt: skip
