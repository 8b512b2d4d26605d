"""Prevalence, true positive rate and true negative rate: three binomials (Toetsch and Hoffmann 2021).

What happens
    Nature decides which items are positive; the classifier then calls each positive item positive with one
    probability, the recall (TPR), and each negative item negative with another, the specificity (TNR). What is a
    property of the population (prevalence) and what is a property of the classifier are kept apart, each with a
    prior of its own, so the prevalence can be exchanged.

In symbols, for two labels
    prevalence  ~ Beta,    TP + FN ~ Binomial(N, prevalence)
    recall      ~ Beta,    TP ~ Binomial(TP + FN, recall)
    specificity ~ Beta,    TN ~ Binomial(TN + FP, specificity)
    theta = cells built from the three (eqs 8 to 11)

    The product of the three binomials is the multinomial of the cells, so the counts are observed as one
    Multinomial(N, theta), whose replicates are whole matrices.

For K labels
    prevalence ~ Dirichlet (class shares), rates_i ~ Dirichlet (row i), theta_ij = prevalence_i rates_ij:
    the K + 1 multinomials of the paper's outlook.

Run ``python models/three_binomial.py`` to see the paper's classifier 7a by both methods.
"""

from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from bayescm.data.counts import check_counts, from_array, one_matrix
from bayescm.data.schema import ACTUAL, LABEL, MATRIX, PREDICTED, flatten_cells, labels_of
from bayescm.distributions import dirichlet
from bayescm.models.blocks import dirichlet_variable, two_label_cells
from bayescm.priors.concentrations import DEFAULT_PRIOR, Concentrations, PriorLike, concentrations


def model(counts: Any, *, prior: PriorLike = DEFAULT_PRIOR) -> pm.Model:
    """Return the model as a PyMC model of one matrix.

    Parameters
    ----------
    counts : xarray.DataArray or array_like of shape (K, K)
    prior : str, number or mapping
        See :func:`bayescm.priors.concentrations.concentrations`.

    Returns
    -------
    pymc.Model
        ``prevalence``, ``recall``, ``specificity`` (two labels) or ``prevalence(class_label)`` and ``rates(actual,
        predicted)``; ``theta(actual, predicted)``; the observed ``counts(cell)``; data ``counts_data``,
        ``share_concentration``, ``concentration``.
    """
    counts = one_matrix(counts)
    k = counts.sizes[ACTUAL]
    base = concentrations(prior, "three_binomial", labels_of(counts))
    observed = flatten_cells(counts)
    labels = counts[ACTUAL].values
    coords = {ACTUAL: labels, PREDICTED: labels, LABEL: labels, "cell": observed["cell"].values}
    with pm.Model(coords=coords) as program:
        counts_data = pm.Data("counts_data", observed.values, dims="cell")
        shares = pm.Data("share_concentration", base.shares, dims=ACTUAL)
        rows = pm.Data("concentration", base.rows, dims=MATRIX)
        if k == 2:
            prevalence = pm.Beta("prevalence", shares[1], shares[0])
            recall = pm.Beta("recall", rows[1, 1], rows[1, 0])
            specificity = pm.Beta("specificity", rows[0, 0], rows[0, 1])
            cells = two_label_cells(prevalence, recall, specificity)
        else:
            prevalence = dirichlet_variable("prevalence", a=shares, dims=LABEL)
            rates = dirichlet_variable("rates", a=rows, dims=MATRIX)
            cells = (prevalence[:, None] * rates).ravel()
        pm.Deterministic("theta", cells.reshape((k, k)), dims=MATRIX)
        pm.Multinomial("counts", n=counts_data.sum(), p=cells, observed=counts_data, dims="cell")
    return program


def exact(counts: Any, *, prior: PriorLike = DEFAULT_PRIOR) -> Concentrations:
    """Return the posterior: shares and rows, each its concentrations plus its counts."""
    counts = check_counts(counts)
    base = concentrations(prior, "three_binomial", labels_of(counts))
    return dirichlet.posterior(counts.values, base)


def simulate(rng: np.random.Generator, n: int = 50, *, prior: PriorLike = "laplace", n_labels: int = 2) -> xr.Dataset:
    """Draw a truth from the prior and a matrix of `n` items from the truth, one decision after the other.

    Returns
    -------
    xarray.Dataset
        ``theta(actual, predicted)`` and ``counts(actual, predicted)``.
    """
    base = concentrations(prior, "three_binomial", n_labels)
    prevalence = rng.dirichlet(base.shares)
    rates = np.stack([rng.dirichlet(row) for row in base.rows])
    totals = rng.multinomial(n, prevalence)
    counts = np.stack([rng.multinomial(total, row) for total, row in zip(totals, rates, strict=True)])
    return xr.Dataset({"counts": from_array(counts), "theta": (MATRIX, prevalence[:, None] * rates)})


if __name__ == "__main__":
    import arviz as az

    import bayescm

    table = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
    for sampler in ("exact", "nuts"):
        fit = bayescm.posterior(
            table, model="three_binomial", prior="laplace", metrics=["recall", "specificity", "mcc"], sampler=sampler,
            random_seed=1,
        )  # fmt: skip
        print(sampler, az.summary(fit, var_names=["~theta"], ci_prob=0.95, ci_kind="eti"), sep="\n")
