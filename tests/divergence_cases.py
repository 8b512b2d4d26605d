"""Every program of ``models/`` on its documented example and where a cell is zero: what NUTS must get through."""

import numpy as np
import xarray as xr

import bayescm
from bayescm import models
from bayescm.data.items import paired_counts

ZERO = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
"""The README's classifier 7a."""
PERFECT = bayescm.from_cells(tp=20, fn=0, fp=0, tn=30)
THREE = bayescm.from_array([[50, 3, 0], [0, 40, 0], [0, 0, 30]])
FOLDS = bayescm.from_cells(
    tp=[9, 7, 10, 5, 8], fn=[2, 3, 1, 6, 2], fp=[1, 4, 2, 3, 1], tn=[28, 26, 27, 26, 29], dims="fold"
)
PERFECT_FOLDS = bayescm.from_cells(tp=[11, 10, 11, 11, 10], fn=0, fp=0, tn=[29, 30, 29, 29, 30], dims="fold")
ZERO_UNITS = bayescm.from_cells(tp=[26, 3, 0], fn=[0, 9, 4], fp=[2, 1, 5], tn=[6, 12, 0], dims="unit")
PERFECT_UNITS = bayescm.from_cells(tp=[20, 5, 9, 30], fn=0, fp=0, tn=[30, 7, 8, 40], dims="unit")
EXPERTS = {
    "prevalence": "jeffreys",
    "recall": bayescm.priors.LogitNormal.from_interval(0.80, 0.98),
    "specificity": bayescm.priors.LogitNormal.from_interval(0.60, 0.95),
}


def answers(systems: int, n: int = 300) -> xr.DataArray:
    """Return the joint table of ``models/paired.py``'s example."""
    rng = np.random.default_rng(1)
    actual, ease = rng.integers(0, 2, n), rng.normal(size=n)
    chance = [1 / (1 + np.exp(-b - 1.5 * ease)) for b in (2.0, 1.5, 1.0)]
    drawn = {name: np.where(rng.random(n) < p, actual, 1 - actual) for name, p in zip("ABC", chance, strict=True)}
    return paired_counts(actual, dict(list(drawn.items())[:systems]))


def perfect_answers(systems: int) -> xr.DataArray:
    """Return the joint table of systems that are always right."""
    actual = np.arange(40) % 2
    return paired_counts(actual, dict.fromkeys("ABC"[:systems], actual))


def scores(apart: float = 1.5) -> xr.DataArray:
    """Return the scores of ``models/binormal.py``'s example, with its classes further apart on demand."""
    rng = np.random.default_rng(1)
    y_true = np.repeat([0, 1], [60, 30])
    return models.load("binormal").scores_by_class(y_true, rng.normal(apart * y_true, 1 + 0.3 * y_true))


def differences(datasets: int | None = None) -> xr.DataArray:
    """Return differences of accuracy (Corani et al. 2017), of some data sets, one of them without any difference."""
    both = bayescm.datasets.corani2017()
    difference = both.sel(classifier="j48") - both.sel(classifier="nbc")
    return difference if datasets is None else difference.isel(dataset=slice(10, 10 + datasets))


def tests(counts: list[list[list[int]]]) -> xr.DataArray:
    """Return the answers of two tests in several populations."""
    return xr.DataArray(counts, dims=("population", "t1", "t2"))


CLUSTERS = models.load("overdispersed").simulate_markov(np.random.default_rng(1), persistence=0.9, stickiness=0.9)
DIFFICULTY = {"dependence": "difficulty"}

CASES = {
    # a name: the program, its data, and options
    "dirichlet_multinomial, example": ("dirichlet_multinomial", bayescm.from_cells(tp=50, fn=30, fp=30, tn=35), {}),
    "dirichlet_multinomial, zero": ("dirichlet_multinomial", ZERO, {}),
    "dirichlet_multinomial, perfect": ("dirichlet_multinomial", PERFECT, {}),
    "dirichlet_multinomial, three labels": ("dirichlet_multinomial", THREE, {}),
    "dirichlet_multinomial, no items": ("dirichlet_multinomial", 0 * ZERO, {}),
    "three_binomial, example": ("three_binomial", ZERO, {"prior": "laplace"}),
    "three_binomial, zero": ("three_binomial", ZERO, {}),
    "three_binomial, perfect": ("three_binomial", PERFECT, {}),
    "three_binomial, large": ("three_binomial", 100 * PERFECT, {}),
    "three_binomial, three labels": ("three_binomial", THREE, {}),
    "three_binomial, no items": ("three_binomial", 0 * ZERO, {}),
    "informative, example": ("informative", ZERO, {"prior": EXPERTS}),
    "informative, perfect": ("informative", PERFECT, {}),
    "informative, Betas": ("informative", ZERO, {"prior": dict.fromkeys(EXPERTS, "jeffreys")}),
    "kfold, example": ("kfold", FOLDS, {}),
    "kfold, perfect": ("kfold", PERFECT_FOLDS, {}),
    "kfold, complete": ("kfold", PERFECT_FOLDS, {"pooling": "complete"}),
    "kfold, average": ("kfold", PERFECT_FOLDS, {"pooling": "average"}),
    "hierarchical, example": ("hierarchical", bayescm.datasets.toetsch2021(), {}),
    "hierarchical, zero": ("hierarchical", ZERO_UNITS, {}),
    "hierarchical, perfect": ("hierarchical", PERFECT_UNITS, {}),
    "regression, zero": ("regression", ZERO_UNITS.assign_coords(x=("unit", [0, 1, 2])), {"covariates": "x"}),
    "regression, perfect": ("regression", PERFECT_UNITS, {"groups": "unit"}),
    "overdispersed, example": ("overdispersed", CLUSTERS["counts"], {}),
    "overdispersed, zero": ("overdispersed", ZERO_UNITS, {}),
    "overdispersed, perfect": ("overdispersed", PERFECT_UNITS, {}),
    "overdispersed rates, example": ("overdispersed", CLUSTERS["counts"], {"overdispersion": "rates"}),
    "overdispersed rates, zero": ("overdispersed", ZERO_UNITS, {"overdispersion": "rates"}),
    "overdispersed rates, perfect": ("overdispersed", PERFECT_UNITS, {"overdispersion": "rates"}),
    "paired, example": ("paired", answers(2), {}),
    "paired, perfect": ("paired", perfect_answers(2), {}),
    "paired difficulty, example": ("paired", answers(3), {}),
    "paired difficulty, perfect": ("paired", perfect_answers(3), {}),
    "latent_class, example": ("latent_class", bayescm.datasets.hui_walter1980(), {}),
    "latent_class, zero": ("latent_class", tests([[[90, 2], [3, 0]], [[5, 0], [0, 60]]]), {}),
    "latent_class, perfect": ("latent_class", tests([[[40, 0], [0, 10]], [[10, 0], [0, 40]]]), {}),
    "fold_scores, example": ("fold_scores", differences(), {"runs": 10}),
    "fold_scores, few": ("fold_scores", differences(6), {"runs": 10}),
    "binormal, example": ("binormal", scores(), {}),
    "binormal, apart": ("binormal", scores(8.0), {}),
}
