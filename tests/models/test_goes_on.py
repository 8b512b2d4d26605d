"""PyMC goes on from what posterior() returned: predictive draws, log likelihood and log prior of a program."""

import inspect

import numpy as np
import pymc as pm
import pytest
import xarray as xr

import bayescm
from bayescm import models

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore:NUTS", "ignore:Numba will use object mode",
        "ignore:Only .* samples in chain",
    ),
    pytest.mark.usefixtures("interpreted"),
]  # fmt: skip
FEW = {"sampler": "nuts", "progressbar": False, "cores": 1, "chains": 1, "tune": 15, "draws": 10, "target_accept": 0.3}
"""Few draws, in coarse steps: what matters is what they are of."""
OVER = ("chain", "draw")
THREE = bayescm.from_array([[50, 3, 2], [4, 40, 1], [0, 6, 30]], labels=["a", "b", "c"])
BETAS = dict.fromkeys(["prevalence", "recall", "specificity"], 1)


def simulated(name, **options):
    """Data of a model, from a truth drawn from its prior, and that prior."""
    story = models.load(name)
    prior = inspect.signature(story.simulate).parameters["prior"].default
    data = models.data_of(story.simulate(np.random.default_rng(3), **options))
    return data, "standard" if name == "fold_scores" else prior


def goes_on(fit, program):
    """Assert that PyMC takes every free variable of a program from a tree, and predicts what was observed."""
    drawn = fit["posterior"].to_dataset()
    for variable in program.free_RVs:
        dims = program.named_vars_to_dims.get(variable.name, ())
        assert drawn[variable.name].dims[2:] == tuple(dims) or not dims, variable.name
        known = program.coords
        assert all(list(drawn[variable.name][dim].values) == list(known[dim]) for dim in dims), variable.name
    seen = program.observed_RVs[0].name
    quiet = {"model": program, "progressbar": False}
    future = pm.sample_posterior_predictive(fit, random_seed=1, **quiet)["posterior_predictive"][seen]
    observed = fit["observed_data"][seen]
    if "actual_data" in program.named_vars:  # scores: their mean by class is what the model knows of them
        observed = observed.groupby(fit["constant_data"]["actual_data"]).map(lambda of: 0 * of + of.mean())
    before = pm.sample_prior_predictive(draws=200, model=program, random_seed=1)["prior_predictive"][seen]
    off, off_before = (float(abs(each.mean(OVER) - observed.values).sum()) for each in (future, before))
    assert off < 0.6 * off_before, (off, off_before)
    likelihood = pm.compute_log_likelihood(fit, extend_inferencedata=False, **quiet)[seen]
    prior = pm.stats.compute_log_prior(fit, extend_inferencedata=False, **quiet)
    assert np.isfinite(likelihood).all()
    assert set(prior.data_vars) == {variable.name for variable in program.free_RVs}


CLOSED = [
    ("binormal", {}), ("binormal", {"prior": "weak"}), ("dirichlet_multinomial", {}), ("fold_scores", {}),
    ("hierarchical", {}), ("informative", {"prior": BETAS}), ("kfold", {"pooling": "complete"}), ("kfold", {}),
    ("kfold", {"pooling": "average"}), ("paired", {}), ("regression", {"groups": "unit"}), ("stratified", {}),
    ("three_binomial", {}), ("three_binomial", {"prior": BETAS}),
]  # fmt: skip


def test_every_closed_form_is_here():
    assert {name for name, _ in CLOSED} == {name for name in models.names() if hasattr(models.load(name), "exact")}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), CLOSED)
def test_closed_forms_hold_what_their_program_needs(name, options):
    data, prior = simulated(name)
    options = {"prior": prior} | options
    method = bayescm.inference.choose(data, model=name, **options).method
    assert method in ("exact", "quadrature")
    fit = bayescm.posterior(data, model=name, random_seed=1, sampler=method, draws=100, **options)
    goes_on(fit, models.load(name).model(data, **options))


@pytest.mark.slow
@pytest.mark.parametrize("name", models.names())
def test_draws_of_nuts_hold_what_their_program_needs(name):
    data, prior = simulated(name)
    fit = bayescm.posterior(data, model=name, random_seed=1, prior=prior, **FEW)
    goes_on(fit, models.load(name).model(data, prior=prior))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dirichlet_multinomial", "three_binomial"])
@pytest.mark.parametrize("counts", [THREE, bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)])
def test_whatever_the_metrics_and_the_classes(name, counts):
    fit = bayescm.posterior(counts, model=name, metrics="accuracy", draws=200, random_seed=1)
    goes_on(fit, models.load(name).model(counts))
    every = bayescm.posterior(counts, model=name, draws=200, random_seed=1)["posterior"]
    for variable, draws in fit["posterior"].data_vars.items():  # metrics of the same name are the same numbers
        xr.testing.assert_allclose(draws.drop_attrs(), every[variable].drop_attrs())
    assert list(fit["posterior"].data_vars)[:2] == ["theta", "accuracy"]  # as before; what PyMC needs comes last


@pytest.mark.slow
def test_one_of_many_and_another_prevalence():
    counts = bayescm.datasets.caelen2017()
    lazy = bayescm.posterior(counts.chunk(system=1), metrics="f1", draws=100, random_seed=1)
    assert lazy["posterior"]["theta_cell"].chunks is not None
    goes_on(lazy.sel(system="B").compute(), models.load("dirichlet_multinomial").model(counts.sel(system="B")))
    rare = bayescm.posterior(counts[0], model="three_binomial", prevalence=0.01, metrics="f1", random_seed=1)
    program = models.load("three_binomial").model(counts[0])
    future = pm.sample_posterior_predictive(rare, model=program, random_seed=1, progressbar=False)
    positive = future["posterior_predictive"]["counts"].sel(cell=["fn", "tp"]).sum("cell")
    assert float(positive.mean()) == pytest.approx(0.01 * float(counts[0].sum()), rel=0.1)
