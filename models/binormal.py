"""Scores of a classifier from two normals, one per class: the binormal ROC curve.

What happens
    The classifier gives every item a score. Scores of negative items are normal, scores of positive items are normal
    with another mean and another spread. Moving a threshold over the scores trades true against false positives: the
    ROC curve, smooth, and its area, both known functions of the two means and the two spreads.

In symbols, for class c in (negative, positive)
    sigma_c^2 ~ InverseGamma(alpha, beta),  mu_c | sigma_c ~ Normal(mu, sigma_c^2 / kappa)
    scores_i  ~ Normal(mu_c, sigma_c^2),    c = actual class of item i
    a = (mu_1 - mu_0) / sigma_1,  b = sigma_0 / sigma_1
    tpr(fpr) = Phi(a + b Phi^-1(fpr)),  auc = Phi(a / sqrt(1 + b^2)) = P(score of a positive > of a negative)
    d_a = sqrt(2) Phi^-1(auc), which is d' where the spreads are equal

    The prior is conjugate: mu_c | scores is Student t, sigma_c^2 | scores inverse gamma; auc and curve follow by draws.

Priors
    "weak" (default): mu is the mean of all scores, kappa = 1, alpha = 1, beta = half of the variance of all scores.
    Each class so gets one item in the middle, and a variance of about that of all (median 0.72 times it, 95% from 0.14
    to 20 times). It follows location and unit of the scores, so auc and curve don't depend on them. Given the spreads,
    mu_1 - mu_0 is normal with variance (sigma_0^2 + sigma_1^2) / kappa; so with kappa = 1 auc is Uniform(0, 1) before
    the data, whatever alpha and beta, and in general Phi(z / sqrt(kappa)) of a standard normal z.
    "reference": p(mu_c, sigma_c) proportional to 1 / sigma_c; improper, closed form only, two different scores per
    class. "standard", or numbers in the unit of the scores: :mod:`bayescm.distributions.normal_inverse_gamma`.

When it is wrong
    The true curve depends on the ranks of the scores alone, the normals on their values. Probabilities crowd at 0 and
    1: give their logits, scores = log(p / (1 - p)). Heavy tails, several groups within a class or many ties need
    another model. If sigma_0 and sigma_1 differ, the curve crosses the diagonal near one corner (a "hook"). Hanley
    (1988) tells how much of this the fitted area bears; ``az.plot_ppc_dist`` shows whether the scores look as the
    model says.

References
----------
Hanley 1988, The robustness of the "binormal" assumptions used in fitting ROC curves, Medical Decision Making 8.
Gu and Ghosal 2009, Bayesian ROC curve estimation under binormality using a rank likelihood, J. Stat. Plan. Inference
139, for a binormal model of the ranks, which needs no transformation.

Run ``python models/binormal.py`` to see a simulated classifier by both methods.
"""

from typing import Any

import numpy as np
import pymc as pm
import xarray as xr
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from bayescm.data import validate
from bayescm.data.labels import Label, class_order, label_array
from bayescm.data.schema import ACTUAL, LABEL
from bayescm.distributions import normal_inverse_gamma
from bayescm.models.closed_form import SAMPLE, ClosedForm

ITEM, FPR = "item", "fpr"
GRID = np.arange(1, 100) / 100


def scores_by_class(y_true: ArrayLike, y_score: ArrayLike, pos_label: Label | None = None) -> xr.DataArray:
    """Return scores with the actual class of each item.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Labels of two classes.
    y_score : array_like of shape (n,)
        Higher for the positive class.
    pos_label : label, optional
        The positive class. Default: as in :func:`bayescm.confusion_matrix`.

    Returns
    -------
    xarray.DataArray
        ``scores(item)`` with the coordinate ``actual(item)``; attr ``labels``: negative and positive class.
    """
    true = label_array("y_true", y_true)
    scores = normal_inverse_gamma.finite_scores("y_score", validate.one_dimensional("y_score", y_score))
    validate.same_length(y_true=true, y_score=scores)
    if len(seen := np.unique(true)) != 2:
        raise ValueError(f"`y_true` must have two classes; got {seen.tolist()}. Make one class against the rest.")
    (true,), order = class_order({"y_true": true}, None, pos_label)
    return xr.DataArray(
        scores, dims=ITEM, coords={ITEM: np.arange(len(scores)), ACTUAL: (ITEM, true)}, name="scores",
        attrs={"labels": order.tolist()},
    )  # fmt: skip


def model(scores: Any, *, prior: Any = "weak", fpr: ArrayLike = GRID) -> pm.Model:
    """Return the model as a PyMC model.

    Parameters
    ----------
    scores : xarray.DataArray, xarray.Dataset or pair
        ``scores(item)`` with the coordinate (or variable) ``actual(item)``, two labels, the positive one as
        :func:`scores_by_class` had it or finds it; or the pair (y_true, y_score).
    prior : "weak", "standard" or mapping
        A mapping has ``mu``, ``kappa``, ``alpha`` and ``beta``: numbers, or pairs (negative, positive). "reference" is
        for :func:`exact`.
    fpr : array_like
        False positive rates at which the curve is told; by default 0.01 to 0.99 (at 0 and 1 every draw is 0 and 1).

    Returns
    -------
    pymc.Model
        ``mu(class_label)``, ``variance(class_label)``, ``sigma(class_label)``, ``a``, ``b``, ``auc``, ``d_a``,
        ``tpr(fpr)``; the observed ``scores(item)``; data ``scores_data`` and ``actual_data`` (1 for the positive
        class), both over ``item``.
    """
    scores, positive = check_scores(scores)
    fpr = check_grid(fpr)
    if isinstance(prior, str) and prior == "reference":
        raise ValueError("`prior`='reference' is improper, and PyMC needs a proper one; use sampler='exact' or 'weak'.")
    if _is_weak(prior):
        _weak(scores.values)  # refuses equal scores
    coords = {ITEM: scores[ITEM].values, LABEL: scores.attrs["labels"], FPR: fpr}
    with pm.Model(coords=coords) as program:
        data = pm.Data("scores_data", scores.values, dims=ITEM)
        actual = pm.Data("actual_data", positive.astype(np.int64), dims=ITEM)
        weak = normal_inverse_gamma.NormalInverseGamma(data.mean(), 1.0, 1.0, data.var() / 2)
        base = weak if _is_weak(prior) else normal_inverse_gamma.proper(prior, (2,), names="'weak', 'reference', ")
        variance = pm.InverseGamma("variance", alpha=base.alpha, beta=base.beta, dims=LABEL)
        mu = pm.Normal("mu", base.mu, pm.math.sqrt(variance / base.kappa), dims=LABEL)
        sigma = pm.Deterministic("sigma", pm.math.sqrt(variance), dims=LABEL)
        a = pm.Deterministic("a", (mu[1] - mu[0]) / sigma[1])
        b = pm.Deterministic("b", sigma[0] / sigma[1])
        d_a = pm.Deterministic("d_a", a * pm.math.sqrt(2 / (1 + b**2)))
        pm.Deterministic("auc", pm.math.invprobit(d_a / np.sqrt(2)))
        pm.Deterministic("tpr", pm.math.invprobit(a + b * ndtri(fpr)), dims=FPR)
        pm.Normal("scores", mu[actual], sigma[actual], observed=data, dims=ITEM)
    return program


def exact(scores: Any, *, prior: Any = "weak", fpr: ArrayLike = GRID) -> ClosedForm:
    """Return the posterior in closed form.

    Parameters
    ----------
    scores, fpr
        As in :func:`model`.
    prior : "weak", "reference", "standard" or mapping
    """
    scores, positive = check_scores(scores)
    fpr, labels = check_grid(fpr), scores.attrs["labels"]
    improper = isinstance(prior, str) and prior == "reference"
    groups = [scores.values[positive == c] for c in (False, True)]
    if improper:
        base = normal_inverse_gamma.reference((2,))
        for label, group in zip(labels, groups, strict=True):
            if len(np.unique(group)) < 2:
                raise ValueError(
                    f"`prior`='reference' needs two different scores per class; class {label!r} has "
                    f"{np.unique(group).tolist()}. Use prior='weak'."
                )
    else:
        base = (
            _weak(scores.values)
            if _is_weak(prior)
            else normal_inverse_gamma.proper(prior, (2,), names="'weak', 'reference', ")
        )
    n, mean, squares = (np.array([f(g) for g in groups]) for f in (len, np.mean, lambda g: ((g - g.mean()) ** 2).sum()))
    dist = base.update(n, mean, squares)
    return ClosedForm(
        draw=lambda rng, draws: _draws(dist, rng, draws, fpr, labels),
        prior=None if improper else lambda rng, draws: _draws(base, rng, draws, fpr, labels),
        observed=xr.DataArray(scores.values, dims=ITEM, coords={ITEM: scores[ITEM].values}, name="scores"),
        reason="the normal scores of each class have a conjugate prior: means are Student t, variances inverse gamma",
        distributions={"mu": dist.mean_distribution(), "variance": dist.variance_distribution()},
    )


def simulate(
    rng: np.random.Generator,
    n_negative: int = 30,
    n_positive: int = 20,
    *,
    prior: Any = "standard",
    fpr: ArrayLike = GRID,
) -> xr.Dataset:
    """Draw a truth from the prior and scores from the truth.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_negative, n_positive : int
        Items of each class.
    prior : "standard" or mapping
        For simulation-based calibration give the same prior to the fit: "weak" follows the data.
    fpr : array_like

    Returns
    -------
    xarray.Dataset
        ``scores(item)`` with the coordinate ``actual(item)``, and the variables of :func:`model`.
    """
    sizes = [validate.positive_integer(*pair) for pair in (("n_negative", n_negative), ("n_positive", n_positive))]
    truth = _draws(normal_inverse_gamma.proper(prior, (2,)), rng, 1, check_grid(fpr), [0, 1]).isel({SAMPLE: 0})
    which = np.repeat([0, 1], sizes)
    scores = rng.normal(truth["mu"].values[which], truth["sigma"].values[which])
    coords = {ITEM: np.arange(len(which)), ACTUAL: (ITEM, which)}
    return truth.assign(scores=(ITEM, scores)).assign_coords(coords)


def _draws(
    dist: normal_inverse_gamma.NormalInverseGamma, rng: np.random.Generator, draws: int, fpr: Any, labels: list[Any]
) -> xr.Dataset:
    """Draw means and variances, and compute what follows from them."""
    mu, variance = dist.draw(rng, (draws, 2))
    sigma = np.sqrt(variance)
    a, b = (mu[:, 1] - mu[:, 0]) / sigma[:, 1], sigma[:, 0] / sigma[:, 1]
    d_a = a * np.sqrt(2 / (1 + b**2))
    per_class = {"mu": mu, "variance": variance, "sigma": sigma}
    scalars = {"a": a, "b": b, "d_a": d_a, "auc": ndtr(d_a / np.sqrt(2))}
    return xr.Dataset(
        {name: ((SAMPLE, LABEL), value) for name, value in per_class.items()}
        | {name: (SAMPLE, value) for name, value in scalars.items()}
        | {"tpr": ((SAMPLE, FPR), ndtr(a[:, None] + b[:, None] * ndtri(fpr)))},
        coords={LABEL: labels, FPR: fpr},
    )


def check_scores(scores: Any) -> tuple[xr.DataArray, Any]:
    """Return valid scores over ``item`` (attr ``labels``) and whether each item is positive."""
    if isinstance(scores, tuple) and len(scores) == 2:
        scores = scores_by_class(*scores)
    if isinstance(scores, xr.Dataset):
        if not {"scores", ACTUAL} <= set(scores.variables):
            raise ValueError(
                f"`scores` as a Dataset must have scores(item) and actual(item); got {list(scores.variables)}."
            )
        scores = scores.set_coords(ACTUAL)["scores"]
    if not isinstance(scores, xr.DataArray):
        raise TypeError(
            "`scores` must be a DataArray or Dataset of scores(item) with actual(item), or the pair (y_true, y_score); "
            f"got {type(scores).__name__}."
        )
    if scores.dims != (ITEM,) or ACTUAL not in scores.coords or scores[ACTUAL].dims != (ITEM,):
        raise ValueError(
            f"`scores` must have the dim 'item' and a coordinate actual(item); got dims {scores.dims} and coordinates "
            f"{list(map(str, scores.coords))}. Build it with scores_by_class(y_true, y_score)."
        )
    labels = scores.attrs.get("labels")
    made = scores_by_class(scores[ACTUAL].values, scores.values, None if labels is None else labels[-1])
    return made.assign_coords({ITEM: scores[ITEM].values}), made[ACTUAL].values == made.attrs["labels"][1]


def check_grid(fpr: ArrayLike) -> Any:
    """Return false positive rates from 0 to 1, rising."""
    grid = normal_inverse_gamma.finite_scores("fpr", validate.one_dimensional("fpr", fpr))
    if (np.diff(grid) <= 0).any() or grid[0] < 0 or grid[-1] > 1:
        raise ValueError(f"`fpr` must rise from at least 0 to at most 1; got {grid.tolist()}.")
    return grid


def _is_weak(prior: Any) -> bool:
    return isinstance(prior, str) and prior == "weak"


def _weak(scores: Any) -> normal_inverse_gamma.NormalInverseGamma:
    """Return the default prior: "standard" in units of the pooled scores."""
    if np.ptp(scores) <= 1e-12 * np.abs(scores).max():
        raise ValueError(f"`scores` are all {scores[0]:g}: they tell no class from the other, and have no unit.")
    one = np.ones(2)
    return normal_inverse_gamma.NormalInverseGamma(scores.mean() * one, one, one, scores.var() / 2 * one)


if __name__ == "__main__":
    import arviz as az

    import bayescm

    rng = np.random.default_rng(1)
    y_true = np.repeat([0, 1], [60, 30])
    data = scores_by_class(y_true, rng.normal(1.5 * y_true, 1 + 0.3 * y_true))
    for sampler in ("exact", "nuts"):
        fit = bayescm.posterior(data, model="binormal", sampler=sampler, random_seed=1)
        names = ["mu", "sigma", "a", "b", "auc"]
        print(sampler, az.summary(fit, var_names=names, ci_prob=0.95, ci_kind="eti"), sep="\n")
