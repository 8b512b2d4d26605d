"""loo(): how well a conjugate model foretells each item from all others, exactly."""

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data.inputs import takes_counts
from bayescm.data.schema import CELL, attributes, cell_names
from bayescm.inference.blocks import Block
from bayescm.inference.conjugate import Conjugate
from bayescm.inference.read import read
from bayescm.priors.concentrations import Concentrations, PriorLike


@takes_counts
def loo(counts: Any, *, model: str = "dirichlet_multinomial", prior: PriorLike | None = None) -> xr.Dataset:
    """Return the exact leave-one-out predictive accuracy of a conjugate model: no draws, any number of items.

    Parameters
    ----------
    counts : xarray.DataArray or array_like
        ``counts(..., actual, predicted)``. May be lazy (dask). Of systems that answered the same items, each one's own.
    model : {"dirichlet_multinomial", "three_binomial"}
    prior : str, number, array_like or mapping
        See :func:`bayescm.priors.concentrations.concentrations`.

    Returns
    -------
    xarray.Dataset
        ``elpd_loo``: the sum over items of the log probability of an item's cell given all other items; ``se``: its
        standard error, as in :func:`arviz.loo`; ``p_loo``: the effective number of parameters, in-sample log predictive
        density minus ``elpd_loo``; ``elpd(cell)``: of one item in the cell. NaN for a cell without items.

    Notes
    -----
    For one Dirichlet over the cells, log((n_ij - 1 + a_ij) / (N - 1 + A)); for separate priors the class share and the
    row have one such factor each.

    Examples
    --------
    >>> import bayescm
    >>> one = bayescm.inference.loo([[35, 30], [30, 50]])
    >>> round(float(one.elpd_loo), 2), round(float(one.p_loo), 2)
    (-200.53, 3.01)
    """
    posterior = read(counts, model=model, prior=prior)
    posterior.counts("bayescm.inference.loo")
    names = cell_names(posterior.labels)
    sizes: dict[str, dict[str, int]] = {name: {} for name in ("elpd_loo", "se", "p_loo")} | {"elpd": {CELL: len(names)}}
    tables = posterior.tables(_left_out, sizes)
    return xr.Dataset(tables, coords={CELL: names}).assign_attrs(attributes(**posterior.settings))


def _left_out(block: Block) -> dict[str, NDArray[np.float64]]:
    """Return the tables of :func:`loo`."""
    assert isinstance(block, Conjugate)
    block.check(())
    counts, base = block.counts, block.prior
    with np.errstate(divide="ignore", invalid="ignore"):
        elpd, lpd = (_log_predictive(counts.astype(np.float64), base, one) for one in (1.0, 0.0))
        items = counts.sum((-2, -1))
        summed = np.nansum(counts * elpd, axis=(-2, -1))
        away = elpd - (summed / items)[..., None, None]
        variance = np.nansum(counts * away**2, axis=(-2, -1)) / (items - 1)
        se = np.sqrt(items * variance)
    p_loo = np.nansum(counts * lpd, axis=(-2, -1)) - summed
    return {"elpd_loo": summed, "se": se, "p_loo": p_loo, "elpd": elpd.reshape(*block.shape, -1)}


def _log_predictive(n: NDArray[np.float64], base: Concentrations, left_out: float) -> NDArray[np.float64]:
    """Return the log probability of an item's cell given all items but `left_out` of it; NaN without items."""
    row = n.sum(-1)
    total = row.sum(-1)
    if base.one_dirichlet:
        p = (n + base.rows - left_out) / (total[..., None, None] + base.rows.sum() - left_out)
    else:
        share = (row + base.shares - left_out) / (total[..., None] + base.shares.sum() - left_out)
        p = share[..., None] * (n + base.rows - left_out) / (row + base.rows.sum(-1) - left_out)[..., None]
    return np.where(n > 0, np.log(np.where(n > 0, p, 1.0)), np.nan)
