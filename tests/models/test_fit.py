"""Compiled programs are reused where they are the same, and nowhere else; what can't be answered is refused early."""

import types

import dask.array as da
import numpy as np
import pymc as pm
import pytest

import bayescm
from bayescm import models
from bayescm.models import fit, nuts
from bayescm.priors.concentrations import LogitNormal

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore:NUTS")
TABLE = bayescm.from_cells(tp=50, fn=30, fp=30, tn=35)
FOLDS = bayescm.from_cells(tp=[9, 7], fn=[2, 3], fp=[1, 4], tn=[28, 26], dims="fold")
NUTS = {"sampler": "nuts", "draws": 150, "tune": 200, "chains": 2, "cores": 1, "progressbar": False}


def of_prevalence(share):
    """A program of the prevalence's prior, as a model of the user's own makes it."""

    def model(counts, *, share=share):
        with pm.Model(coords={"cell": ["tn", "fp", "fn", "tp"]}) as program:
            data = pm.Data("counts_data", np.ravel(counts), dims="cell")
            p = pm.Deterministic(
                "p", pm.math.stack([share / 2, share / 2, 0.5 - share / 2, 0.5 - share / 2]), dims="cell"
            )
            pm.Normal("z")
            pm.Multinomial("counts", data.sum(), p, observed=data, dims="cell")
        return program

    return model


@pytest.mark.slow
def test_stories_of_the_users_own_are_never_taken_for_one_another():
    for share in (0.1, 0.9):
        story = types.SimpleNamespace(model=of_prevalence(share))
        fit = bayescm.posterior(TABLE, model=story, random_seed=1, **NUTS)
        assert float(fit.posterior.p[0, 0, 0]) == pytest.approx(share / 2)
    changing = types.SimpleNamespace(share=0.1)
    changing.model = lambda counts: of_prevalence(changing.share)(counts)
    for share in (0.1, 0.9):
        changing.share = share
        fit = bayescm.posterior(TABLE, model=changing, random_seed=1, **NUTS)
        assert float(fit.posterior.p[0, 0, 0]) == pytest.approx(share / 2)


def test_keys_tell_options_apart():
    long = np.ones(5000)
    other = long.copy()
    other[2500] = 2
    pairs = [
        (long, other),
        (LogitNormal(0, 1), LogitNormal(0, 1 + 1e-12)),
        ({1: 2}, {"1": 2}),
        (np.float64(1), 1 + 1e-15),
    ]
    for a, b in pairs:
        assert repr(fit._exactly(a)) == repr(fit._exactly(a))
        assert repr(fit._exactly(a)) != repr(fit._exactly(b))
    with pytest.raises(TypeError):
        fit._exactly(object())


@pytest.mark.slow
def test_the_same_seed_gives_the_same_draws_whatever_was_fitted_before():
    common = {"model": "three_binomial", "metrics": "recall"} | NUTS
    first = bayescm.posterior(TABLE, random_seed=5, **common).posterior.recall
    bayescm.posterior(TABLE * 3, random_seed=8, **common)
    again = bayescm.posterior(TABLE, random_seed=5, **common).posterior.recall
    nuts._programs.clear()
    fresh = bayescm.posterior(TABLE, random_seed=5, **common).posterior.recall
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, fresh)
    assert not np.array_equal(first[0], first[1])


@pytest.mark.slow
def test_a_program_of_the_users_own_keeps_its_data_and_is_read_by_labels():
    with pm.Model(coords={"actual": [0, 1], "predicted": [0, 1], "cell": ["tn", "fp", "fn", "tp"]}) as mine:
        data = pm.Data("counts_data", TABLE.values.ravel(), dims="cell")
        p = pm.Dirichlet("p", np.ones(4), dims="cell")
        pm.Deterministic("theta", p.reshape((2, 2)), dims=("actual", "predicted"))
        pm.Multinomial("counts", data.sum(), p, observed=data, dims="cell")
    swapped = TABLE.isel(actual=[1, 0], predicted=[1, 0])
    fit = bayescm.posterior(swapped, model=mine, metrics="recall", random_seed=1, **NUTS)
    assert fit.observed_data.counts.values.tolist() == TABLE.values.ravel().tolist()
    bayescm.posterior(TABLE * 2, model=mine, metrics="recall", random_seed=1, **NUTS)
    bayescm.inference.prior_predictive("recall", n_items=40, model=mine, draws=10, random_seed=1)
    assert mine["counts_data"].get_value().tolist() == TABLE.values.ravel().tolist()
    with pytest.raises(ValueError, match="`counts`"):
        bayescm.posterior(TABLE + 0.5, model=mine, random_seed=1, **NUTS)


@pytest.mark.slow
def test_the_item_likelihood_is_of_the_probabilities_that_the_counts_have():
    with pm.Model(coords={"cell": ["tn", "fp", "fn", "tp"]}) as mine:
        g = pm.Gamma("g", 1, 1, dims="cell")  # over the cells, too, but no probabilities
        p = pm.Deterministic("p", g / g.sum(), dims="cell")
        data = pm.Data("counts_data", TABLE.values.ravel(), dims="cell")
        pm.Multinomial("counts", data.sum(), p, observed=data, dims="cell")
    fit = bayescm.posterior(None, model=mine, workflow=True, random_seed=1, **NUTS)
    items = fit["log_likelihood"].counts
    assert items.sizes["item"] == 145
    np.testing.assert_allclose(np.exp(items.isel(item=-1)), fit.posterior.p.sel(cell="tp"))


def test_misspelt_options_are_refused():
    with pytest.raises(TypeError, match="did you mean `fold_sd_scale`"):
        bayescm.posterior(FOLDS, model="kfold", foldsd_scale=0.1)
    with pytest.raises(TypeError, match="did you mean `pooling`"):
        bayescm.inference.choose(FOLDS, model="kfold", poolng="partial")
    with pytest.raises(TypeError, match="`foo` is an option of neither"):
        bayescm.posterior(TABLE, foo=1, **NUTS)
    with pytest.raises(TypeError, match="`needed` is an option that"):
        bayescm.posterior(TABLE, model=types.SimpleNamespace(model=lambda counts, *, needed: None))


def test_what_fails_late_fails_early():
    with pytest.raises(ValueError, match="`metrics`"):
        bayescm.posterior(FOLDS, model="kfold", metrics="no_such", draws=10**7)
    with pytest.raises(ValueError, match="`prevalence`"):
        bayescm.posterior(FOLDS, model="kfold", prevalence=2, draws=10**7)
    for prior in ("foo", "haldane"):
        with pytest.raises(ValueError, match="`prior`"):
            bayescm.posterior(FOLDS, model="kfold", prior=prior, draws=10**7)
    with pytest.raises(ValueError, match="`workflow`=True takes one matrix"):
        bayescm.posterior(TABLE, workflow=True, prevalence=0.1)
    with pytest.raises(ValueError, match="observed population"):
        bayescm.posterior(FOLDS, model="kfold", pooling="complete", workflow=True, prevalence=0.1)


def test_at_another_prevalence_nothing_contradicts_theta():
    fit = bayescm.posterior(
        FOLDS, model="kfold", pooling="complete", prevalence=0.01, metrics="precision", random_seed=1
    )
    assert set(fit.posterior.data_vars) == {"theta", "precision"}
    np.testing.assert_allclose(fit.posterior.theta.sum("predicted").sel(actual=1), 0.01)


@pytest.mark.slow
def test_fixed_prevalence_of_a_batch_by_nuts():
    batch = bayescm.from_cells(tp=[50, 10], fn=[30, 30], fp=[30, 30], tn=[35, 90], dims="system")
    fit = bayescm.posterior(batch, prevalence="fixed", metrics="prevalence", random_seed=1, **NUTS)
    np.testing.assert_allclose(fit.posterior.theta.sum(("actual", "predicted")), 1)
    np.testing.assert_allclose(fit.posterior.prevalence.isel(chain=0, draw=0), [80 / 145, 40 / 160])


@pytest.mark.parametrize("bad", [np.nan, 3.5, -1.0, 1e12])
def test_lazy_counts_are_looked_at(bad):
    lazy = FOLDS.astype(float).copy(data=da.from_array(FOLDS.values.astype(float), chunks=-1))
    lazy = lazy.copy(data=da.where(lazy.data == 28, bad, lazy.data))
    for ask in (
        lambda: bayescm.inference.choose(lazy, model="kfold", pooling="complete"),
        lambda: bayescm.inference.choose(lazy[0], model="informative"),
        lambda: bayescm.inference.loo(lazy[0]).compute(),
    ):
        with pytest.raises(ValueError, match="`counts`"):
            ask()


def test_a_story_can_be_given_as_its_module():
    module = models.load("three_binomial")
    assert bayescm.inference.choose(TABLE, model=module).method == "exact"
    assert bayescm.posterior(TABLE, model=module, metrics="f1", draws=10).attrs["model"] == "three_binomial"
    assert bayescm.calibration.sbc(module, "recall", simulations=5, random_seed=1).attrs["model"] == "three_binomial"


@pytest.mark.slow
def test_sbc_refuses_what_says_nothing():
    for options, words in (
        ({"method": "exakt"}, "`method`"),
        ({"simulations": 0}, "`simulations`"),
        ({"draws": 4}, "`draws` must be at least"),
        ({"prior": "haldane"}, "proper"),
    ):
        with pytest.raises(ValueError, match=words):
            bayescm.calibration.sbc("dirichlet_multinomial", "recall", **options)
    with pytest.raises(ValueError, match="`prior` must be given"):
        bayescm.calibration.sbc("fold_scores", n_datasets=4, simulations=2)
