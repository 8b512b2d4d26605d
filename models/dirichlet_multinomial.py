"""One multinomial over all cells (Caelen 2017).

What happens
    A classifier meets N items drawn from a population. Each item falls into one cell of the confusion matrix:
    actual class i, predicted class j. The chance of each cell is the same for every item.

In symbols
    theta  ~ Dirichlet(alpha)               over the K x K cells; eq. 5
    counts ~ Multinomial(N, theta)          eq. 2
    theta | counts ~ Dirichlet(alpha + counts)      eq. 6, the closed form

    Every metric is a function of theta. For two labels this is prevalence ~ Beta(a_TP + a_FN, a_TN + a_FP),
    recall ~ Beta(a_TP, a_FN) and specificity ~ Beta(a_TN, a_FP), independent.

Run ``python models/dirichlet_multinomial.py`` to see Caelen's classifier B by both methods.
"""

from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from bayescm.data.counts import check_counts, from_array, one_matrix
from bayescm.data.schema import ACTUAL, MATRIX, PREDICTED, flatten_cells, labels_of
from bayescm.distributions import dirichlet
from bayescm.models.blocks import dirichlet_variable
from bayescm.priors.concentrations import DEFAULT_PRIOR, Concentrations, PriorLike, concentrations


def model(counts: Any, *, prior: PriorLike = DEFAULT_PRIOR) -> pm.Model:
    """Return the model as a PyMC model of one matrix.

    Parameters
    ----------
    counts : xarray.DataArray or array_like of shape (K, K)
    prior : str, number or array_like of shape (K, K)

    Returns
    -------
    pymc.Model
        ``theta(actual, predicted)``; the observed ``counts(cell)``; data ``counts_data`` and ``concentration``.
    """
    counts = one_matrix(counts)
    k = counts.sizes[ACTUAL]
    alpha = concentrations(prior, "dirichlet_multinomial", labels_of(counts)).rows
    observed = flatten_cells(counts)
    coords = {dim: counts[dim].values for dim in MATRIX} | {"cell": observed["cell"].values}
    with pm.Model(coords=coords) as program:
        counts_data = pm.Data("counts_data", observed.values, dims="cell")
        concentration = pm.Data("concentration", alpha, dims=MATRIX)
        theta_cell = dirichlet_variable("theta_cell", a=concentration.ravel(), dims="cell")
        pm.Deterministic("theta", theta_cell.reshape((k, k)), dims=(ACTUAL, PREDICTED))
        pm.Multinomial("counts", n=counts_data.sum(), p=theta_cell, observed=counts_data, dims="cell")
    return program


def exact(counts: Any, *, prior: PriorLike = DEFAULT_PRIOR) -> Concentrations:
    """Return the posterior: concentrations plus counts (eq. 6)."""
    counts = check_counts(counts)
    base = concentrations(prior, "dirichlet_multinomial", labels_of(counts))
    return dirichlet.posterior(counts.values, base)


def simulate(rng: np.random.Generator, n: int = 50, *, prior: PriorLike = "laplace", n_labels: int = 2) -> xr.Dataset:
    """Draw a truth from the prior and a matrix of `n` items from the truth.

    Returns
    -------
    xarray.Dataset
        ``theta(actual, predicted)`` and ``counts(actual, predicted)``.
    """
    alpha = concentrations(prior, "dirichlet_multinomial", n_labels).rows
    theta = rng.dirichlet(alpha.ravel())
    counts = from_array(rng.multinomial(n, theta).reshape(alpha.shape))
    return xr.Dataset({"counts": counts, "theta": (MATRIX, theta.reshape(alpha.shape))})


if __name__ == "__main__":
    import arviz as az

    import bayescm

    table = bayescm.from_cells(tp=50, fn=30, fp=30, tn=35)
    for sampler in ("exact", "nuts"):
        fit = bayescm.posterior(table, metrics=["recall", "precision", "mcc"], sampler=sampler, random_seed=1)
        print(sampler, az.summary(fit, var_names=["~theta", "~theta_cell"], ci_prob=0.95, ci_kind="eti"), sep="\n")
