"""Scores of cross-validation folds: of two classifiers' difference on one data set, or on many.

What happens
    Two classifiers (or one) are cross-validated on the same folds. Each fold gives a score (accuracy, AUC, a loss); the
    data are the differences, fold by fold. They vary, and because the training sets overlap they also move together:
    any two of them are correlated, so n folds tell less than n independent scores. The correlation can't be estimated
    from the folds; it is taken to be the share of the items tested in each fold (Nadeau and Bengio 2003). With many
    data sets, each has its own mean difference and its own spread, and the mean differences vary around a common one.

In symbols, for one data set (Corani and Benavoli 2015)
    scores ~ Normal_n(mean_difference, sigma^2 M),  M = 1 on the diagonal, rho off it,
    rho = n_test / (n_test + n_train) = 1 / number of folds
    p(mean_difference, sigma) proportional to 1 / sigma    ("reference", improper), or
    sigma^2 ~ InverseGamma(alpha, beta),  mean_difference | sigma ~ Normal(mu, sigma^2 / kappa)

    The vector of ones is an eigenvector of M (eigenvalue 1 + (n - 1) rho; all others 1 - rho). So the mean m and the
    sum of squares S about it are sufficient, and independent:
        m ~ Normal(mean_difference, sigma^2 (1 + (n - 1) rho) / n),    S / ((1 - rho) sigma^2) ~ ChiSquare(n - 1)
    Closed form, under "reference":
        mean_difference | scores ~ StudentT(n - 1, m, (1/n + rho / (1 - rho)) S / (n - 1))

In symbols, for many (Corani, Benavoli, Demsar, Mangili and Zaffalon 2017; bounds and hyperpriors as in baycomp)
    scores_i     ~ Normal_n(difference_i, sigma_i^2 M)
    difference_i ~ StudentT(nu, mean_difference, sigma0)
    mean_difference ~ Uniform(-largest, largest)           largest absolute score
    sigma0 ~ Uniform(0.001, 1000) times the sd of the data sets' means
    sigma_i ~ Uniform(0.001, 1000) times the mean of the data sets' sds
    nu - 1 ~ Gamma(alpha, beta),  alpha ~ Uniform(1, 2),  beta ~ Uniform(0.01, 0.1)

    The bounds follow the data, so the unit of the scores does not matter, and baycomp's rescaling is not needed. One
    thing differs: baycomp lets sigma_i reach 0, where a data set whose scores are all equal has an infinite likelihood,
    and replaces such scores by noise inside the rope. Here the lower bound keeps the posterior proper. (Its sigma0
    starts at 0, too.)

What equals nothing in practice (the rope) belongs to the reader of the result:
:func:`bayescm.models.rope_probabilities`. Sign: positive means a higher score; give y - x to ask whether y is better
than x. Scores of one classifier work alike: `mean_difference` is then its mean score.

Run ``python models/fold_scores.py`` for naive Bayes against C4.5, on one data set and on 54.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from bayescm.data import validate
from bayescm.distributions import normal_inverse_gamma
from bayescm.models.closed_form import SAMPLE, ClosedForm

DATASET, FOLD = "dataset", "fold"
CORANI2017: dict[str, Any] = {
    "mean_max": None, "sigma_min": None, "sigma_max": None, "sigma0_min": None, "sigma0_max": None,
    "alpha": (1, 2), "beta": (0.01, 0.1)
}  # fmt: skip
"""Prior of the hierarchy; a bound of None follows the data."""
FIXED = CORANI2017 | {"mean_max": 2.0, "sigma_min": 0.5, "sigma_max": 2.0, "sigma0_min": 0.1, "sigma0_max": 2.0}
"""The same with bounds that know no data, for simulation."""


def model(scores: Any, *, prior: Any = None, runs: int = 1, correction: bool | float = True) -> pm.Model:
    """Return the model as a PyMC model.

    Parameters
    ----------
    scores : xarray.DataArray or array_like
        ``scores(fold)`` or ``scores(dataset, fold)``: differences y - x, or scores of one classifier.
    prior : None, "standard" or mapping
        One data set: ``standard`` or numbers for ``mu``, ``kappa``, ``alpha``, ``beta``, in the unit of the scores
        (:mod:`bayescm.distributions.normal_inverse_gamma`); None is the reference prior, which only :func:`exact` can
        answer. Many: None or some of ``mean_max``, ``sigma_min``, ``sigma_max``, ``sigma0_min``, ``sigma0_max``
        (bounds), ``alpha``, ``beta`` (pairs of bounds).
    runs : int
        Repetitions of the cross-validation behind the folds.
    correction : bool or float
        True: rho = runs / n. False: rho = 0, folds as if independent (intervals too short). A number: the share of
        items that each test set has, for repeated random splits.

    Returns
    -------
    pymc.Model
        One data set: ``mean_difference``, ``variance``, ``sigma``. Many: ``mean_difference``, ``sigma0``, ``nu``,
        ``alpha``, ``beta``, ``difference(dataset)``, ``sigma(dataset)``. The observed ``scores``; data ``scores_data``.
    """
    scores = check_scores(scores)
    rho = correlation(scores.sizes[FOLD], runs, correction)
    many = DATASET in scores.dims
    with pm.Model(coords={dim: scores[dim].values for dim in scores.dims}) as program:
        data = pm.Data("scores_data", scores.values, dims=scores.dims)
        mean, sigma = _hierarchy(data, prior, scores.shape, rho) if many else _one_data_set(prior)
        location = mean[..., None] + np.zeros(scores.sizes[FOLD])
        pm.CustomDist(
            "scores", location, sigma, rho, dist=_scores, logp=logp, signature="(n),(),()->(n)", observed=data,
            dims=scores.dims,
        )  # fmt: skip
    return program


def _one_data_set(prior: Any) -> tuple[Any, Any]:
    """Add the prior of one data set's mean and standard deviation."""
    if _is_reference(prior):
        raise ValueError(
            "`prior`='reference' is improper, and PyMC needs a proper one; use sampler='exact', or give numbers for "
            "mu, kappa, alpha and beta."
        )
    base = normal_inverse_gamma.proper(prior, names="'reference', ")
    variance = pm.InverseGamma("variance", base.alpha, base.beta)
    mean = pm.Normal("mean_difference", base.mu, pm.math.sqrt(variance / base.kappa))
    return mean, pm.Deterministic("sigma", pm.math.sqrt(variance))


def _hierarchy(data: Any, prior: Any, shape: tuple[int, ...], rho: float) -> tuple[Any, Any]:
    """Add the data sets' means and standard deviations, and what they have in common.

    The differences are sampled between centred and non-centred: `known` is the share of a difference that its own
    data set tells (1 centred, 0 non-centred). It moves the sampler's coordinates, not the posterior.
    """
    given, n = check_hyperprior(prior), shape[-1]
    means, sds = data.mean(1), data.std(1)
    spread = means.std() if shape[0] > 1 else sds.mean()
    bound = {
        "mean_max": pm.math.abs(data).max(), "sigma_min": sds.mean() / 1000, "sigma_max": sds.mean() * 1000,
        "sigma0_min": spread / 1000, "sigma0_max": spread * 1000,
    }  # fmt: skip
    bound |= {key: given[key] for key in bound if given[key] is not None}
    mean = pm.Uniform("mean_difference", -bound["mean_max"], bound["mean_max"])
    sigma0 = _uniform("sigma0", bound["sigma0_min"], bound["sigma0_max"])
    alpha, beta = (pm.Uniform(key, *given[key]) for key in ("alpha", "beta"))
    nu = pm.Deterministic("nu", 1 + pm.Gamma("nu_minus_one", alpha, beta))
    sigma = _uniform("sigma", bound["sigma_min"], bound["sigma_max"], dims=DATASET)
    error = pm.math.maximum(sds, bound["sigma_min"]) ** 2 / (1 - rho) * (1 + (n - 1) * rho) / n
    among = pm.math.maximum(spread**2 - error.mean(), error.mean() / 100)
    known = among / (among + error)
    standard = pm.StudentT("standard", nu=nu, mu=known * mean, sigma=sigma0**known, dims=DATASET)
    difference = mean + sigma0 ** (1 - known) * (standard - known * mean)
    return pm.Deterministic("difference", difference, dims=DATASET), sigma


def _uniform(name: str, lower: Any, upper: Any, dims: str | None = None) -> Any:
    """Add a Uniform(lower, upper), sampled by its logarithm: chains start at the geometric mean of the bounds."""
    below = pm.Truncated(
        f"{name}_below", pm.Exponential.dist(1.0), lower=0.0, upper=pm.math.log(upper / lower), dims=dims
    )
    return pm.Deterministic(name, upper * pm.math.exp(-below), dims=dims)


def logp(value: Any, location: Any, sigma: Any, rho: Any) -> Any:
    """Return the log density of equally correlated normal scores, from their mean and sum of squares."""
    n = value.shape[-1]
    mean = value.mean(-1)
    squares = ((value - mean[..., None]) ** 2).sum(-1)
    along, across = 1 + (n - 1) * rho, 1 - rho
    distance = n * (mean - location[..., 0]) ** 2 / along + squares / across
    determinant = pm.math.log(along) + (n - 1) * pm.math.log(across)
    return -0.5 * (n * np.log(2 * np.pi) + determinant + distance / sigma**2) - n * pm.math.log(sigma)


def _scores(location: Any, sigma: Any, rho: Any, size: Any) -> Any:
    """Return equally correlated normal scores as a part of a program; their density is :func:`logp`."""
    common, own = pm.Normal.dist(shape=(*location.shape[:-1], 1)), pm.Normal.dist(shape=location.shape)
    return correlated(location, sigma, rho, common, own)


def correlated(location: Any, sigma: Any, rho: Any, common: Any, own: Any) -> Any:
    """Return normal scores, any two correlated by rho, from independent standard normals."""
    return location + sigma[..., None] * (rho**0.5 * common + (1 - rho) ** 0.5 * own)


def _draw_scores(rng: np.random.Generator, mean: Any, sigma: Any, rho: float, n: int) -> Any:
    """Draw `n` scores for each mean."""
    mean, sigma = np.asarray(mean), np.asarray(sigma)
    common, own = rng.standard_normal((*mean.shape, 1)), rng.standard_normal((*mean.shape, n))
    return correlated(mean[..., None], sigma, rho, common, own)


def exact(scores: Any, *, prior: Any = None, runs: int = 1, correction: bool | float = True) -> ClosedForm | None:
    """Return the posterior of one data set's mean difference: Student t (None for many data sets).

    Parameters
    ----------
    scores, runs, correction
        As in :func:`model`.
    prior : None, "reference", "standard" or mapping
        None is "reference".
    """
    scores = check_scores(scores)
    rho = correlation(n := scores.sizes[FOLD], runs, correction)
    if DATASET in scores.dims:
        check_hyperprior(prior)
        return None
    improper = _is_reference(prior)
    base = normal_inverse_gamma.reference() if improper else normal_inverse_gamma.proper(prior, names="'reference', ")
    squares = float(((scores - scores.mean()) ** 2).sum())
    if improper and squares <= 1e-24 * float((scores**2).sum()):
        raise ValueError(
            f"`scores` are all {scores.values[0]:g}, so the reference prior has no posterior; give a proper `prior`: "
            "numbers for mu, kappa, alpha and beta."
        )
    dist = base.update(n, float(scores.mean()), squares / (1 - rho), weight=n / (1 + (n - 1) * rho))
    return ClosedForm(
        draw=lambda rng, draws: _draws(dist, rng, draws),
        prior=None if improper else lambda rng, draws: _draws(base, rng, draws),
        observed=scores.drop_attrs(),
        reason="the normal scores of one data set have a conjugate prior, so the mean difference is Student t",
        distributions={"mean_difference": dist.mean_distribution(), "variance": dist.variance_distribution()},
    )


def _draws(dist: normal_inverse_gamma.NormalInverseGamma, rng: np.random.Generator, draws: int) -> xr.Dataset:
    mean, variance = dist.draw(rng, (draws,))
    return xr.Dataset(
        {"mean_difference": (SAMPLE, mean), "variance": (SAMPLE, variance), "sigma": (SAMPLE, np.sqrt(variance))}
    )


def simulate(
    rng: np.random.Generator, n_datasets: int = 1, folds: int = 10, *, prior: Any = None, runs: int = 1,
    correction: bool | float = True,
) -> xr.Dataset:  # fmt: skip
    """Draw a truth from the prior and scores from the truth.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_datasets : int
        1 gives one data set without the hierarchy.
    folds : int
        Of each run.
    prior : None, "standard" or mapping
        None is "standard" for one data set and :data:`FIXED` for many. For simulation-based calibration give the
        same prior to the fit: its own defaults are improper, or follow the data.
    runs, correction
        As in :func:`model`.

    Returns
    -------
    xarray.Dataset
        ``scores(fold)`` or ``scores(dataset, fold)`` and the variables of :func:`model`.
    """
    n = validate.positive_integer("folds", folds) * validate.positive_integer("runs", runs)
    rho = correlation(n, runs, correction)
    if validate.positive_integer("n_datasets", n_datasets) == 1:
        base = normal_inverse_gamma.proper("standard" if prior is None else prior)
        truth = _draws(base, rng, 1).isel({SAMPLE: 0})
        scores = _draw_scores(rng, truth["mean_difference"], truth["sigma"], rho, n)
        return truth.assign(scores=(FOLD, scores)).assign_coords({FOLD: np.arange(n)})
    given = FIXED if prior is None else check_hyperprior(prior)
    if follows := [key for key, value in given.items() if value is None]:
        raise ValueError(f"`prior` must give numbers for {', '.join(follows)}: there are no data yet to follow.")
    alpha, beta = (rng.uniform(*given[key]) for key in ("alpha", "beta"))
    nu = 1 + rng.gamma(alpha) / beta
    mean, sigma0 = given["mean_max"] * rng.uniform(-1, 1), rng.uniform(given["sigma0_min"], given["sigma0_max"])
    difference = mean + sigma0 * rng.standard_t(nu, n_datasets)
    sigma = rng.uniform(given["sigma_min"], given["sigma_max"], n_datasets)
    scores = _draw_scores(rng, difference, sigma, rho, n)
    return xr.Dataset(
        {
            "scores": ((DATASET, FOLD), scores), "mean_difference": mean, "sigma0": sigma0, "nu": nu, "alpha": alpha,
            "beta": beta, "difference": (DATASET, difference), "sigma": (DATASET, sigma),
        },
        coords={DATASET: np.arange(n_datasets), FOLD: np.arange(n)},
    )  # fmt: skip


def check_scores(scores: Any) -> xr.DataArray:
    """Return valid scores as ``scores(fold)`` or ``scores(dataset, fold)``, with coordinates."""
    if not isinstance(scores, xr.DataArray):
        values = np.asarray(scores)
        if values.ndim not in (1, 2):
            raise ValueError(
                f"`scores` must have one axis (folds) or two (data sets, folds); got shape {values.shape}."
            )
        scores = xr.DataArray(values, dims=(DATASET, FOLD)[-values.ndim :])
    if set(scores.dims) not in ({FOLD}, {DATASET, FOLD}):
        raise ValueError(
            f"`scores` must have the dim 'fold', or 'dataset' and 'fold'; got {scores.dims}. Rename them, or subtract "
            "one classifier from the other first."
        )
    scores = scores.transpose(..., FOLD)
    values = normal_inverse_gamma.finite_scores("scores", scores.values)
    if scores.sizes[FOLD] < 2:
        raise ValueError("`scores` has one fold; give at least two.")
    made = xr.DataArray(values, dims=scores.dims, coords={d: scores[d].values for d in scores.dims}, name="scores")
    if DATASET in made.dims:
        validate.unique("dataset", made[DATASET].values.tolist())
        if not (made.std(FOLD) > 0).any():
            raise ValueError("`scores` do not vary inside any data set; a hierarchy needs one where they do.")
    return made


def correlation(n: int, runs: int = 1, correction: bool | float = True) -> float:
    """Return rho, the correlation between any two of `n` scores."""
    runs = validate.positive_integer("runs", runs)
    if n % runs:
        raise ValueError(f"`runs` must divide the number of folds, {n}; got {runs}.")
    if not isinstance(correction, bool | np.bool_):
        return validate.number("correction", correction, 0, 1)
    if correction and n == runs:
        raise ValueError(
            f"`runs`={runs} leaves one fold per run; give correction=share of the items that each test set has."
        )
    return runs / n if correction else 0.0


def check_hyperprior(prior: Any) -> dict[str, Any]:
    """Return the hierarchy's prior in full."""
    if prior is None:
        return CORANI2017
    if not isinstance(prior, Mapping):
        raise TypeError(f"`prior` of many data sets must be None or a mapping; got {prior!r}.")
    if unknown := sorted(map(str, set(prior) - set(CORANI2017))):
        raise ValueError(f"`prior` has no {', '.join(unknown)}; its keys are {', '.join(CORANI2017)}.")
    given = CORANI2017 | dict(prior)
    for key in ("mean_max", "sigma_min", "sigma_max", "sigma0_min", "sigma0_max"):
        if given[key] is not None:
            given[key] = validate.number(f"prior[{key!r}]", given[key], 0, np.inf)
    for low, high in (("sigma_min", "sigma_max"), ("sigma0_min", "sigma0_max")):
        if (given[low] is None) != (given[high] is None):
            raise ValueError(f"`prior` must have both or none of {low} and {high}; got one.")
        if given[low] is not None:
            validate.number(f"prior[{low!r}]", given[low], 0, given[high])
    for key in ("alpha", "beta"):
        if np.shape(given[key]) != (2,):
            raise ValueError(f"`prior[{key!r}]` must be a lower and an upper bound; got {given[key]!r}.")
        low, high = given[key]
        validate.number(f"prior[{key!r}][0]", low, 0, validate.number(f"prior[{key!r}][1]", high, 0, np.inf))
    return given


def _is_reference(prior: Any) -> bool:
    return prior is None or (isinstance(prior, str) and prior == "reference")


if __name__ == "__main__":
    import arviz as az

    import bayescm
    from bayescm.models.rope import rope_probabilities

    scores = bayescm.datasets.corani2017()
    difference = scores.sel(classifier="j48") - scores.sel(classifier="nbc")
    sonar = difference.sel(dataset="sonar")
    print("sonar", rope_probabilities(exact(sonar, runs=10), rope=1), sep="\n")
    fit = bayescm.posterior(difference, model="fold_scores", runs=10, random_seed=1)
    names = ["mean_difference", "sigma0", "nu"]
    print(az.summary(fit, var_names=names, ci_prob=0.95, ci_kind="eti"), rope_probabilities(fit, rope=1), sep="\n")
