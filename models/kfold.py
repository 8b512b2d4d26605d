"""Folds of a cross-validation: pooled, averaged, or sharing strength.

What happens
    A classifier is trained and tested k times, on k folds, which leaves k confusion matrices. What is asked decides
    which of three answers is right, and they are not the same number:

    complete    Every fold has the same cell probabilities: the matrices are added. The prior counts once.
    partial     Every fold has its own recall and specificity, scattered about common ones on the logit scale, as much
                as the data say, and correlated: a training set that makes the classifier eager raises its recall and
                lowers its specificity. The prevalence is common (folds are a partition). The prior counts once, and
                k folds of n items tell less than one test set of k n items.
    average     Every fold has a posterior of its own, and the metric is averaged over the folds, draw by draw: the
                distribution of the mean of k unrelated rates (Morais 2023, section 6, "average_measures"). The prior
                counts k times, once in every fold, and what the folds have in common is not used.

In symbols
    complete    theta ~ Dirichlet(alpha),    counts_f ~ Multinomial(N_f, theta)
                theta | counts ~ Dirichlet(alpha + sum_f counts_f), the closed form
    average     theta_f ~ Dirichlet(alpha),  counts_f ~ Multinomial(N_f, theta_f), metric = mean_f metric(theta_f)
    partial     prevalence ~ Beta, recall ~ Beta, specificity ~ Beta     with the numbers that alpha implies
                fold_sd_r ~ HalfNormal(scale)     for r = recall, specificity
                (correlation + 1)/2 ~ Beta(2, 2)  which is LKJ(2)
                logit recall_f      = logit recall      + fold_sd_1 e_f1
                logit specificity_f = logit specificity + fold_sd_2 e_f2,    e_f ~ N(0, [1, correlation])
                counts_f ~ Multinomial(N_f, cells(prevalence, recall_f, specificity_f))
                recall and specificity are those of a typical fold; theta is built from them; new_recall and
                new_specificity are those of one more fold. With fold_sd = 0 this is complete pooling, prior included.

    The default scale of 0.5 lets a recall of .80 vary from .71 to .87 between folds one sd apart. Folds are
    the units of ``hierarchical``, with one prevalence.

    What the interval is for (the attr ``target``): under complete and average the mean performance of the k models
    that were fitted, on this population; under partial a typical fold of this cross-validation. The folds' training
    sets overlap, so their matrices are not independent given the classifier's recipe, and none of the three is an
    interval for the recipe on another sample of the population: the verification page shows what they cover of it.
    For that, the correction of Nadeau and Bengio (2003) works on one score per fold: the model ``fold_scores``.

Run ``python models/kfold.py`` to see the three beside one another.
"""

from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from bayescm.data import validate
from bayescm.data.counts import from_array
from bayescm.data.schema import ACTUAL, CELL, MATRIX, PREDICTED, flatten_cells, labels_of
from bayescm.distributions import dirichlet
from bayescm.distributions.two_rates import PairsPosterior, TwoRates, recall_first
from bayescm.models.blocks import (
    correlated_pairs,
    dirichlet_variable,
    draw_correlated_rates,
    items_of,
    proper,
    two_label_cells,
)
from bayescm.models.closed_form import SAMPLE, ClosedForm, Scatter, by_quadrature
from bayescm.models.covariates import several_matrices
from bayescm.priors.concentrations import DEFAULT_PRIOR, Concentrations, PriorLike, concentrations

POOLING = ("partial", "complete", "average")
RATES = ["recall", "specificity"]
_TAKEN = ("rate", "prevalence", "recall", "specificity", "recall_fold", "specificity_fold", "new_recall", "alpha",
          "new_specificity", "fold_sd", "fold_effect", "new_effect", "correlation", "correlation_share", "theta_cell",
          "counts_data", "a_shares", "a_rows")  # fmt: skip


def model(
    counts: Any, *, pooling: str = "partial", prior: PriorLike = DEFAULT_PRIOR, fold_sd_scale: float = 0.5
) -> pm.Model:
    """Return the model as a PyMC model.

    Parameters
    ----------
    counts : xarray.DataArray or array_like of shape (folds, K, K)
        Two labels for partial pooling.
    pooling : {"partial", "complete", "average"}
    prior : str, number or array_like of shape (K, K)
        Of the cells, as in ``dirichlet_multinomial``.
    fold_sd_scale : float
        Scale of the half-normal prior of the folds' standard deviations, in logits.

    Returns
    -------
    pymc.Model
        ``theta(actual, predicted)``, or ``theta(fold, actual, predicted)`` for the average; for partial pooling also
        ``recall``, ``specificity``, ``recall_fold``, ``specificity_fold``, ``new_recall``, ``new_specificity``,
        ``fold_sd(rate)``, ``correlation``; the observed ``counts(fold, cell)``; data ``counts_data``.
    """
    counts, fold = _folds(counts, pooling)
    base = proper(concentrations(prior, "dirichlet_multinomial", labels_of(counts)))
    observed = flatten_cells(counts)
    labels = counts[ACTUAL].values
    coords = {ACTUAL: labels, PREDICTED: labels, CELL: observed[CELL].values, fold: counts[fold].values, "rate": RATES}
    with pm.Model(coords=coords) as program:
        counts_data = pm.Data("counts_data", observed.values, dims=(fold, CELL))
        if pooling == "partial":
            p = _partial(base, fold, validate.number("fold_sd_scale", fold_sd_scale, 0, np.inf))
        else:
            of = (CELL,) if pooling == "complete" else (fold, CELL)
            concentration = pm.Data("alpha", base.rows.ravel(), dims=CELL)
            p = dirichlet_variable("theta_cell", a=concentration, dims=of)
            shape = (*(() if pooling == "complete" else (counts.sizes[fold],)), len(labels), len(labels))
            pm.Deterministic("theta", p.reshape(shape), dims=(*of[:-1], *MATRIX))
        pm.Multinomial("counts", n=items_of(counts_data), p=p, observed=counts_data, dims=(fold, CELL))
    return program


def _partial(base: Concentrations, fold: str, scale: float) -> Any:
    """Return every fold's cell probabilities (fold, cell)."""
    shares, rows = pm.Data("a_shares", base.shares, dims=ACTUAL), pm.Data("a_rows", base.rows, dims=MATRIX)
    prevalence = pm.Beta("prevalence", shares[1], shares[0])
    recall = pm.Beta("recall", rows[1, 1], rows[1, 0])
    specificity = pm.Beta("specificity", rows[0, 0], rows[0, 1])
    cells = two_label_cells(prevalence, recall, specificity)
    pm.Deterministic("theta", cells.reshape((2, 2)), dims=MATRIX)
    fold_sd = pm.HalfNormal("fold_sd", scale, dims="rate")
    correlation = pm.Deterministic("correlation", 2 * pm.Beta("correlation_share", 2, 2) - 1)
    effects = correlated_pairs(fold_sd, correlation, pm.Normal("fold_effect", dims=(fold, "rate")))
    new_effects = correlated_pairs(fold_sd, correlation, pm.Normal("new_effect", dims="rate"))
    rates = []
    for name, rate, effect, new_effect in zip(RATES, (recall, specificity), effects, new_effects, strict=True):
        logit = pm.math.logit(rate)
        rates.append(pm.Deterministic(f"{name}_fold", pm.math.sigmoid(logit + effect), dims=fold))
        pm.Deterministic(f"new_{name}", pm.math.sigmoid(logit + new_effect))
    return two_label_cells(prevalence + 0 * rates[0], *rates)


def exact(
    counts: Any, *, pooling: str = "partial", prior: PriorLike = DEFAULT_PRIOR, fold_sd_scale: float = 0.5
) -> ClosedForm:
    """Return the closed form of complete pooling and of the average, and partial pooling by quadrature."""
    counts, fold = _folds(counts, pooling)
    base = concentrations(prior, "dirichlet_multinomial", labels_of(counts))
    if pooling == "partial":
        return _quadrature(counts, fold, proper(base), validate.number("fold_sd_scale", fold_sd_scale, 0, np.inf))
    matrices = counts.values
    complete = pooling == "complete"
    which = dirichlet.posterior(matrices.sum(0) if complete else matrices, base)
    dirichlet.check_proper(which, labels_of(counts))
    k = len(matrices)
    each = (counts.sum(fold) if complete else counts).coords
    dims = (SAMPLE, *(() if complete else (fold,)), *MATRIX)

    def draw(of: Concentrations) -> Any:
        def drawn(rng: np.random.Generator, n: int) -> xr.Dataset:
            theta = [dirichlet.draw_theta(dirichlet.single(of, (f,)), rng, n) for f in range(1 if complete else k)]
            values = np.moveaxis(theta[0] if complete else np.stack(theta), -1, 0)
            labelled = xr.DataArray(values, dims=dims, coords=each)
            return xr.Dataset({"theta": labelled, "theta_cell": flatten_cells(labelled)})

        return drawn

    times = "once" if complete else f"{k} times, once in every fold"
    what = "the sum of the folds" if complete else f"the average of {k} unrelated posteriors, metric by metric"
    return ClosedForm(
        draw=draw(which),
        prior=None if dirichlet.improper(base) is not None else draw(base),
        observed=flatten_cells(counts),
        reason=f"{pooling} pooling is {what}, the prior is a Dirichlet over the cells and counts {times}",
        cells=which,
        averaged=None if complete else fold,
    )


def _quadrature(counts: xr.DataArray, fold: str, base: Concentrations, scale: float) -> ClosedForm:
    """Return the posterior of folds as of the units of ``hierarchical``, whose prevalence is one."""
    table = counts.values.astype(np.float64)
    coords = {fold: counts[fold].values, "rate": RATES, **{dim: counts[dim].values for dim in MATRIX}}

    def variables(rng: np.random.Generator, parameters: Any, logits: Any, shares: Any) -> xr.Dataset:
        """Return the program's variables of parameters (n, 5), logits (n, 2, folds) and prevalences (n, 1)."""
        drawn, each = Scatter.of(rng, parameters, logits), {"prevalence": shares[:, 0]}
        for i, name in enumerate(RATES):
            each |= {name: drawn.mean[:, i], f"new_{name}": drawn.new[:, i]}
        theta = two_label_cells(shares[:, 0], *drawn.mean.T).reshape(-1, 2, 2)
        return xr.Dataset(
            {name: (SAMPLE, value) for name, value in each.items()}
            | {f"{name}_fold": ((SAMPLE, fold), drawn.rates[:, i]) for i, name in enumerate(RATES)}
            | {
                "correlation": (SAMPLE, drawn.correlation), "fold_sd": ((SAMPLE, "rate"), drawn.sd),
                "correlation_share": (SAMPLE, 0.5 * (1.0 + drawn.correlation)),
                "new_effect": ((SAMPLE, "rate"), drawn.standard_new),
                "fold_effect": ((SAMPLE, fold, "rate"), drawn.standard.swapaxes(1, 2)),
                "theta": ((SAMPLE, *MATRIX), theta),
            },
            coords=coords,
        )  # fmt: skip

    known = PairsPosterior(TwoRates.of(table), recall_first(base.rows), scale)
    return by_quadrature(known, variables, base.shares, table.sum((0, 2))[None], flatten_cells(counts))


def simulate(
    rng: np.random.Generator,
    folds: int = 10,
    n: int = 40,
    *,
    pooling: str = "partial",
    prior: PriorLike = "laplace",
    fold_sd_scale: float = 0.5,
) -> xr.Dataset:
    """Draw a truth from the prior and matrices of `n` items from the truth, one per fold.

    Returns
    -------
    xarray.Dataset
        ``counts(fold, actual, predicted)``, ``theta`` and, for partial pooling, the program's other variables.
    """
    base = concentrations(prior, "dirichlet_multinomial", 2)
    if pooling != "partial":
        theta = rng.dirichlet(base.rows.ravel(), None if pooling == "complete" else folds)
        drawn = rng.multinomial(n, theta, None if theta.ndim > 1 else folds)
        truth = {"theta": ((*(["fold"] if theta.ndim > 1 else []), *MATRIX), theta.reshape(*theta.shape[:-1], 2, 2))}
        return xr.Dataset({"counts": from_array(drawn.reshape(folds, 2, 2), dims="fold"), **truth})
    prevalence = rng.beta(base.shares[1], base.shares[0])
    recall = rng.beta(base.rows[1, 1], base.rows[1, 0])
    specificity = rng.beta(base.rows[0, 0], base.rows[0, 1])
    fold_sd = abs(rng.normal(0, fold_sd_scale, 2))
    correlation = 2 * rng.beta(2, 2) - 1
    rates = draw_correlated_rates(rng, folds + 1, np.array([recall, specificity]), fold_sd, correlation)
    tpr, tnr = rates[:-1].T
    drawn = rng.multinomial(n, two_label_cells(prevalence, tpr, tnr))
    return xr.Dataset(
        {
            "counts": from_array(drawn.reshape(folds, 2, 2), dims="fold"),
            "theta": (MATRIX, two_label_cells(prevalence, recall, specificity).reshape(2, 2)),
            "recall": recall,
            "specificity": specificity,
            "prevalence": prevalence,
            "fold_sd": ("rate", fold_sd),
            "correlation": correlation,
            "recall_fold": ("fold", tpr),
            "specificity_fold": ("fold", tnr),
            "new_recall": rates[-1, 0],
            "new_specificity": rates[-1, 1],
        },
        coords={"rate": RATES},
    )


def _folds(counts: Any, pooling: str) -> tuple[xr.DataArray, str]:
    """Return valid counts over one dim of folds, and its name."""
    validate.choice("pooling", pooling, POOLING)
    counts, fold = several_matrices(counts, _TAKEN)
    if pooling == "partial" and counts.sizes[ACTUAL] != 2:
        raise ValueError("`pooling`='partial' takes two labels; take 'complete', or one class against the rest.")
    return counts, fold


if __name__ == "__main__":
    import arviz as az

    import bayescm

    folds = bayescm.from_cells(
        tp=[9, 7, 10, 5, 8], fn=[2, 3, 1, 6, 2], fp=[1, 4, 2, 3, 1], tn=[28, 26, 27, 26, 29], dims="fold"
    )
    for pooling in POOLING:
        fit = bayescm.posterior(folds, model="kfold", pooling=pooling, metrics=["recall", "f1"], random_seed=1)
        print(fit.attrs["reason"], az.summary(fit, var_names=["recall", "f1"], ci_prob=0.95, ci_kind="eti"), sep="\n")
