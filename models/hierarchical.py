"""Many systems, or many data sets, at once: rates that differ and are alike (Reitsma et al. 2005, Chu and Cole 2006).

What happens
    Each unit (a system, a data set, a hospital) has a recall and a specificity of its own. The units are of one kind:
    their logits scatter around a common mean, and the two scatter together, for a unit with a low threshold has a
    high recall and a low specificity. So each unit learns from the others: the fewer its items, the more it is
    pulled towards the mean (shrinkage), and the next unit can be foreseen.

In symbols, for unit u
    mean_recall      ~ Beta,   mean_specificity ~ Beta
    sd_logit         ~ HalfNormal(group_scale), one of recall and one of specificity
    correlation      = 2 b - 1,   b ~ Beta(2, 2)
    (logit TPR_u, logit TNR_u) ~ Normal2(logit of the means, sd_logit, correlation)
    prevalence_u     ~ Beta
    counts_u         ~ Multinomial(N_u, cells built from the three)

    This is the bivariate model of diagnostic meta-analysis with its exact binomial likelihood: the multinomial is the
    product of three binomials, of positives among items, TP among positives and TN among negatives. The factor of the
    prevalence stands apart: given the counts, prevalence_u ~ Beta(a + positives, b + negatives), independent of all
    the rest. It is in the program for the cells' sake, and NUTS draws it along.

Priors
    `mean_recall` and `mean_specificity` are the rates at the mean logits, which are the medians over units; "laplace"
    makes them uniform. (The Jeffreys prior of a binomial isn't one of a mean logit.) A HalfNormal(1) holds scales
    below 1.96 with 95%: at that scale the middle 95% of units around a mean of 0.9 go from 0.16 to 0.998, which is all
    but no likeness; near 0 it is flat, so the units may also be the same. A Beta(2, 2) of the rescaled correlation is
    LKJ(2): its density 1 - correlation^2 only shuns the ends, which few units can't exclude.

Quadrature
    Given the five parameters the units are independent, each an integral in two dimensions (adaptive Gauss-Hermite).
    Weighted points of a t distribution about the mode are their posterior: half a second for ten studies, where NUTS
    takes half a minute. NUTS answers where the weights fit badly, or with sampler="nuts".

Reitsma et al. 2005, Journal of Clinical Epidemiology 58:982; Chu and Cole 2006, ibid. 59:1331; Lewandowski, Kurowicka
and Joe 2009, Journal of Multivariate Analysis 100:1989 (LKJ). Toetsch and Hoffmann 2021 collected the data below.

Run ``python models/hierarchical.py`` to see their 24 classifiers.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from bayescm.data import validate
from bayescm.data.counts import from_cells
from bayescm.data.schema import ACTUAL, MATRIX, PREDICTED, SYSTEM, flatten_cells, labels_of
from bayescm.distributions.two_rates import PairsPosterior, TwoRates, recall_first
from bayescm.models.blocks import correlated_pairs, draw_correlated_rates, items_of, proper, two_label_cells
from bayescm.models.closed_form import SAMPLE, ClosedForm, Scatter, by_quadrature
from bayescm.models.covariates import several_matrices
from bayescm.priors.concentrations import Concentrations, PriorLike, concentrations

RATE = "rate"
RATES = ("recall", "specificity")
_TAKEN = (RATE, "prevalence", "correlation", "correlation_rescaled", "sd_logit", "standard", "standard_new", "a_shares",
          "a_rows", "mean_recall", "mean_specificity", "new_recall", "new_specificity", "counts_data")  # fmt: skip


def model(counts: Any, *, prior: PriorLike = "laplace", group_scale: float = 1.0) -> pm.Model:
    """Return the model as a PyMC model of several matrices of two labels.

    Parameters
    ----------
    counts : xarray.DataArray or array_like of shape (units, 2, 2)
        ``counts(<unit>, actual, predicted)``: one dim of any name beside the two of a matrix.
    prior : str, number or mapping
        Of the mean rates and of each unit's prevalence: see :func:`bayescm.priors.concentrations.concentrations`,
        with the names as under ``three_binomial``.
    group_scale : float
        Of the HalfNormal priors of ``sd_logit``.

    Returns
    -------
    pymc.Model
        ``mean_recall``, ``mean_specificity``, ``sd_logit(rate)``, ``correlation``, ``prevalence(<unit>)``,
        ``new_recall``, ``new_specificity`` (of the next unit), ``theta(<unit>, actual, predicted)``; the observed
        ``counts(<unit>, cell)``; data ``counts_data``, ``a_shares``, ``a_rows``.
    """
    counts, unit = several_matrices(counts, _TAKEN)
    base = _prior(prior, labels_of(counts))
    group_scale = validate.number("group_scale", group_scale, 0, np.inf)
    observed = flatten_cells(counts)
    labels = counts[ACTUAL].values
    coords = {unit: counts[unit].values, ACTUAL: labels, PREDICTED: labels, "cell": observed["cell"].values}
    with pm.Model(coords={**coords, RATE: list(RATES)}) as program:
        counts_data = pm.Data("counts_data", observed.values, dims=(unit, "cell"))
        shares = pm.Data("a_shares", base.shares, dims=ACTUAL)
        rows = pm.Data("a_rows", base.rows, dims=MATRIX)
        mean_recall = pm.Beta("mean_recall", rows[1, 1], rows[1, 0])
        mean_specificity = pm.Beta("mean_specificity", rows[0, 0], rows[0, 1])
        sd = pm.HalfNormal("sd_logit", group_scale, dims=RATE)
        correlation = pm.Deterministic("correlation", 2 * pm.Beta("correlation_rescaled", 2, 2) - 1)
        standard = pm.Normal("standard", dims=(unit, RATE))
        standard_new = pm.Normal("standard_new", dims=RATE)
        effects, new_effects = (correlated_pairs(sd, correlation, each) for each in (standard, standard_new))
        rates = []
        for name, mean, effect, new_effect in zip(
            RATES, (mean_recall, mean_specificity), effects, new_effects, strict=True
        ):
            rates.append(pm.math.sigmoid(pm.math.logit(mean) + effect))
            pm.Deterministic(f"new_{name}", pm.math.sigmoid(pm.math.logit(mean) + new_effect))
        prevalence = pm.Beta("prevalence", shares[1], shares[0], dims=unit)
        cells = two_label_cells(prevalence, *rates)
        pm.Deterministic("theta", cells.reshape((-1, 2, 2)), dims=(unit, *MATRIX))
        pm.Multinomial("counts", n=items_of(counts_data), p=cells, observed=counts_data, dims=(unit, "cell"))
    return program


def exact(counts: Any, *, prior: PriorLike = "laplace", group_scale: float = 1.0) -> ClosedForm:
    """Return the posterior by quadrature: units integrated out, the five parameters by weighted points.

    See :mod:`bayescm.distributions.two_rates`. Options as in :func:`model`.
    """
    counts, unit = several_matrices(counts, _TAKEN)
    labels = labels_of(counts)
    base = _prior(prior, labels)
    group_scale = validate.number("group_scale", group_scale, 0, np.inf)
    table = counts.values.astype(np.float64)  # (units, 2, 2)
    totals = table.sum(-1)
    known = PairsPosterior(TwoRates.of(table), recall_first(base.rows), group_scale)
    coords = {unit: counts[unit].values, RATE: list(RATES), **dict.fromkeys(MATRIX, labels)}

    def variables(rng: np.random.Generator, parameters: Any, logits: Any, shares: Any) -> xr.Dataset:
        """Return the program's variables of parameters (n, 5), logits (n, 2, units) and prevalences (n, units)."""
        drawn = Scatter.of(rng, parameters, logits)
        each = {
            "mean_recall": drawn.mean[:, 0], "mean_specificity": drawn.mean[:, 1],
            "correlation_rescaled": 0.5 * (1.0 + drawn.correlation), "correlation": drawn.correlation,
            "new_recall": drawn.new[:, 0], "new_specificity": drawn.new[:, 1],
        }  # fmt: skip
        theta = two_label_cells(shares, *drawn.rates.swapaxes(0, 1)).reshape(*shares.shape, 2, 2)
        return xr.Dataset(
            {name: (SAMPLE, value) for name, value in each.items()}
            | {
                "sd_logit": ((SAMPLE, RATE), drawn.sd), "standard_new": ((SAMPLE, RATE), drawn.standard_new),
                "standard": ((SAMPLE, unit, RATE), drawn.standard.swapaxes(1, 2)),
                "prevalence": ((SAMPLE, unit), shares), "theta": ((SAMPLE, unit, *MATRIX), theta),
            },
            coords=coords,
        )  # fmt: skip

    return by_quadrature(known, variables, base.shares, totals, flatten_cells(counts))


def simulate(
    rng: np.random.Generator,
    units: int = 10,
    size: int | Sequence[int] = 100,
    *,
    prior: PriorLike = "laplace",
    group_scale: float = 1.0,
) -> xr.Dataset:
    """Draw a truth from the prior and the units' matrices from the truth.

    Parameters
    ----------
    rng : numpy.random.Generator
    units : int
    size : int or sequence of length `units`
        Items of each unit.
    prior, group_scale
        As in :func:`model`.

    Returns
    -------
    xarray.Dataset
        ``counts(system, actual, predicted)``, and the truth under the names of the program.
    """
    units = validate.positive_integer("units", units)
    base = _prior(prior, 2)
    items = np.broadcast_to(np.asarray(size, np.int64), units)
    mean = np.array([rng.beta(base.rows[1, 1], base.rows[1, 0]), rng.beta(base.rows[0, 0], base.rows[0, 1])])
    sd = np.abs(rng.normal(0, group_scale, 2))
    correlation = 2 * rng.beta(2, 2) - 1
    tpr, tnr = draw_correlated_rates(rng, units + 1, mean, sd, correlation).T
    prevalence = rng.beta(base.shares[1], base.shares[0], units)
    positives = rng.binomial(items, prevalence)
    negatives = items - positives
    tp, tn = rng.binomial(positives, tpr[:-1]), rng.binomial(negatives, tnr[:-1])
    theta = two_label_cells(prevalence, tpr[:-1], tnr[:-1]).reshape(-1, 2, 2)
    return xr.Dataset(
        {
            "counts": from_cells(tp=tp, fn=positives - tp, fp=negatives - tn, tn=tn, dims=SYSTEM),
            "theta": ((SYSTEM, *MATRIX), theta),
            "prevalence": (SYSTEM, prevalence),
            "mean_recall": mean[0],
            "mean_specificity": mean[1],
            "sd_logit": (RATE, sd),
            "correlation": correlation,
            "new_recall": tpr[-1],
            "new_specificity": tnr[-1],
        },
        coords={RATE: list(RATES), SYSTEM: np.arange(units)},
    )


def _prior(prior: PriorLike, labels: Any) -> Concentrations:
    """Return proper concentrations for two labels."""
    if not isinstance(labels, int) and len(labels) != 2:
        raise ValueError(
            f"`counts` must have two labels here; got {labels}. Make one class against the rest, or take each alone."
        )
    return proper(concentrations(prior, "three_binomial", labels))


if __name__ == "__main__":
    import arviz as az

    import bayescm

    table = bayescm.datasets.toetsch2021()
    fit = bayescm.posterior(table, model="hierarchical", metrics=["recall", "specificity"], random_seed=1)
    common = ["mean_recall", "mean_specificity", "sd_logit", "correlation", "new_recall", "new_specificity"]
    print(az.summary(fit, var_names=common, ci_prob=0.95, ci_kind="eti"))
    print(az.summary(fit, var_names=["recall", "specificity"], ci_prob=0.95, ci_kind="eti"))
