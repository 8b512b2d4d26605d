"""Prevalence from a test or a labeller whose errors are known."""

from typing import Any

import numpy as np
import xarray as xr

from bayescm.data import validate


def rogan_gladen(apparent: Any, sensitivity: Any, specificity: Any) -> Any:
    """Return the true prevalence behind an apparent one (Rogan and Gladen 1978): a plug-in estimate.

    The share called positive is p se + (1 - p)(1 - sp); solved for p it is (apparent + sp - 1) / (se + sp - 1).

    The result is clipped to [0, 1]. Sampling error takes the solution outside when fewer are called positive than the
    false positives alone should be (or more than se); the end of the interval is then the maximum of the likelihood.
    Many clipped values say that the data contradict the error rates, or are too few: the model ``latent_class`` with
    these error rates as `known` gives a posterior that needs no clipping and carries the uncertainty. Rates that were
    counted, of any number of classes: ``bayescm.audited(checked, totals, of="others")``.

    Parameters
    ----------
    apparent : number, array_like or xarray.DataArray
        Share that the test calls positive.
    sensitivity, specificity : number, array_like or xarray.DataArray
        Of the test, against the truth. Draws give draws.

    Returns
    -------
    float, ndarray or xarray.DataArray
        NaN where ``sensitivity + specificity <= 1``: such a test is no better than chance, and either says nothing
        of the prevalence (equal to 1) or has its labels swapped (below 1), which must not be corrected in silence.

    Examples
    --------
    >>> import bayescm
    >>> round(float(bayescm.inference.rogan_gladen(0.10, sensitivity=0.90, specificity=0.95)), 4)
    0.0588
    """
    result: Any = xr.apply_ufunc(
        _corrected, apparent, sensitivity, specificity, dask="parallelized", output_dtypes=[np.float64]
    )
    return result


def _corrected(apparent: Any, sensitivity: Any, specificity: Any) -> Any:
    """Solve for the prevalence on plain numbers."""
    named = {"apparent": apparent, "sensitivity": sensitivity, "specificity": specificity}
    for name, value in named.items():
        values = validate.array_of(name, value)
        if values.dtype.kind not in "iuf":
            raise TypeError(f"`{name}` must be numbers in [0, 1]; got {value!r}.")
        if ((values < 0) | (values > 1)).any():
            raise ValueError(f"`{name}` must be in [0, 1]; got {values[(values < 0) | (values > 1)].flat[0]!r}.")
    apparent, sensitivity, specificity = (np.asarray(v, np.float64) for v in named.values())
    youden = sensitivity + specificity - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        solved = np.clip((apparent + specificity - 1) / youden, 0, 1)
    return np.where(youden > 0, solved, np.nan)[()]
