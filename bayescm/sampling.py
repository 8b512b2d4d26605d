"""The lower rung: PyMC samples a story, and the fit is checked."""

import warnings
from typing import Any

import numpy as np
import xarray as xr

from bayescm import conjugate
from bayescm.priors import Concentrations, PrevalenceLike, exchange
from bayescm.results import ACTUAL, CHAIN, DRAW, MATRIX, PREDICTED


def sample(
    program: Any, *, chains: int, draws: int, seed: int, nuts_sampler: str, options: dict[str, Any]
) -> tuple[xr.DataArray, xr.Dataset]:
    """Sample a story with NUTS.

    Parameters
    ----------
    program : pymc.Model
        With a variable ``theta(actual, predicted)``.
    chains, draws, seed : int
    nuts_sampler : str
    options : dict
        More of :func:`pymc.sample`.

    Returns
    -------
    theta : xarray.DataArray
        Over ``(chain, draw, actual, predicted)``.
    sample_stats : xarray.Dataset
        What netCDF can hold of the sampler's statistics.

    Warns
    -----
    UserWarning
        See :func:`bayescm.posterior`.
    """
    import pymc as pm

    fitted = pm.sample(
        draws=draws,
        chains=chains,
        model=program,
        nuts_sampler=nuts_sampler,
        random_seed=seed % 2**32,
        compute_convergence_checks=False,
        **options,
    )
    theta = fitted["posterior"]["theta"].transpose(CHAIN, DRAW, *MATRIX).drop_attrs()
    stats: xr.Dataset = fitted["sample_stats"].to_dataset().drop_attrs()
    _check_fit(theta, stats, draws)
    return theta, stats.drop_vars([name for name, v in stats.items() if v.dtype.kind == "O"])


def exchange_draws(
    theta: xr.DataArray, counts: xr.DataArray, prevalence: PrevalenceLike, rng: np.random.Generator
) -> xr.DataArray:
    """Give every draw's rows the exchanged class shares."""
    k = theta.sizes[ACTUAL]
    placeholder = Concentrations(np.ones((k, k)), np.ones(k))
    which = exchange(placeholder, prevalence, counts.values.sum(-1).astype(np.float64))
    shape = theta.sizes[CHAIN], theta.sizes[DRAW]
    shares = conjugate.draw_shares(which, rng, shape[0] * shape[1]).T.reshape((*shape, k))
    return theta / theta.sum(PREDICTED) * xr.DataArray(shares, dims=(CHAIN, DRAW, ACTUAL))


def _check_fit(theta: xr.DataArray, stats: xr.Dataset, draws: int) -> None:
    """Warn in words about divergences, R-hat and effective sample size."""
    import arviz as az

    chains = theta.sizes[CHAIN]
    dataset = theta.to_dataset(name="theta")
    problems = []
    if diverged := int(stats["diverging"].sum()):
        problems.append(f"{diverged} of {chains * draws} draws diverged: try target_accept=0.95 or more")
    if chains > 1 and (rhat := float(az.rhat(dataset)["theta"].max())) > 1.01:
        problems.append(f"R-hat is {rhat:.3f} (above 1.01): the chains disagree; try tune=2000 and draws={2 * draws}")
    ess = min(float(az.ess(dataset, method=kind)["theta"].min()) for kind in ("bulk", "tail"))
    if ess < 100 * chains:
        problems.append(
            f"the smallest effective sample size is {ess:.0f} (below {100 * chains}): try draws={4 * draws}"
        )
    if problems:
        warnings.warn(
            "NUTS: " + "; ".join(problems) + ". This story has a closed form: method='exact' needs none of it.",
            UserWarning,
            stacklevel=4,
        )
