"""The tree as common currency: which functions of PyMC and ArviZ take which trees, and which can't and why."""

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pymc as pm
import pytensor
import pytest
from scipy import special

import bayescm
from bayescm import models
from bayescm.models.predictive import log_likelihood

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore:Variables counts:UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore:NUTS",
        "ignore:Numba will use object mode", "ignore:Estimated shape parameter", "ignore:The number of",
    ),
    pytest.mark.usefixtures("interpreted"),
]  # fmt: skip
TABLE = bayescm.from_cells(tp=50, fn=30, fp=30, tn=35)
FOLDS = bayescm.from_cells(tp=[9, 7, 10], fn=[2, 3, 1], fp=[1, 4, 2], tn=[28, 26, 27], dims="fold")
COMMON = {"workflow": True, "draws": 100, "random_seed": 1, "metrics": ["recall", "mcc"]}
NUTS = {"sampler": "nuts", "chains": 2, "tune": 100, "cores": 1, "progressbar": False}


def program():
    """A program that no model is: recall and specificity are one number."""
    with pm.Model(coords={"actual": [0, 1], "predicted": [0, 1], "cell": ["tn", "fp", "fn", "tp"]}) as mine:
        right, share = pm.Beta("right", 4, 1), pm.Beta("share", 2, 2)
        p = pm.math.stack([right * (1 - share), (1 - right) * (1 - share), (1 - right) * share, right * share])
        pm.Deterministic("theta", p.reshape((2, 2)), dims=("actual", "predicted"))
        data = pm.Data("counts_data", TABLE.values.ravel(), dims="cell")
        pm.Multinomial("counts", data.sum(), p, observed=data, dims="cell")
    return mine


@pytest.fixture(scope="module")
def trees():
    """A tree of each kind with its program: one matrix and several by closed form, and one by NUTS."""
    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        return made(program())


def made(mine):
    """Return the trees and their programs."""
    return {
        "one matrix": (
            bayescm.posterior(TABLE, prior="legendre", **COMMON),
            models.load("dirichlet_multinomial").model(TABLE, prior="legendre"),
        ),
        "folds": (
            bayescm.posterior(FOLDS, model="kfold", pooling="complete", prior="legendre", **COMMON),
            models.load("kfold").model(FOLDS, pooling="complete", prior="legendre"),
        ),
        "program": (bayescm.posterior(None, model=mine, **COMMON | NUTS), mine),
    }


KINDS = ("one matrix", "folds", "program")
NAMED = {"var_names": ["recall", "matthews_correlation"]}
FUNCTIONS = {
    "summary": lambda dt: az.summary(dt, **NAMED),
    "plot_forest": lambda dt: az.plot_forest(dt, **NAMED),
    "plot_dist": lambda dt: az.plot_dist(dt, **NAMED),
    "plot_trace": lambda dt: az.plot_trace(dt, **NAMED),
    "plot_rank": lambda dt: az.plot_rank(dt, **NAMED),
    "loo": az.loo,
    "compare": lambda dt: az.compare({"a": dt, "b": dt}),
    "plot_ppc_dist": az.plot_ppc_dist,
    "plot_ppc_pit": az.plot_ppc_pit,
    "plot_ppc_rootogram": az.plot_ppc_rootogram,
    "plot_loo_pit": az.plot_loo_pit,
    "psense_summary": lambda dt: az.psense_summary(dt, **NAMED),
}
NO_ORDER = "the log likelihood is of items, whose cells have no order that a PIT could use"
ONE_DIM = "ArviZ draws observations over one dim here: select one matrix"
CANT = {
    **{(kind, "plot_loo_pit"): ("unexpectedly changed", NO_ORDER) for kind in KINDS},
    ("folds", "plot_ppc_pit"): ("0-dimensional", ONE_DIM),
    ("folds", "plot_ppc_rootogram"): ("could not broadcast", ONE_DIM),
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_arviz_takes_the_tree(trees, kind, function):
    dt, _ = trees[kind]
    if (kind, function) in CANT:
        with pytest.raises((ValueError, TypeError), match=CANT[kind, function][0]):
            FUNCTIONS[function](dt)
    else:
        assert FUNCTIONS[function](dt) is not None
    plt.close("all")


def test_one_fold_is_drawn_where_several_are_not(trees):
    one = trees["folds"][0].filter(lambda group: group.name in ("posterior_predictive", "observed_data")).sel(fold=1)
    assert az.plot_ppc_rootogram(one) is not None
    assert az.plot_ppc_pit(one) is not None
    plt.close("all")


@pytest.mark.parametrize("kind", KINDS)
def test_pymc_takes_the_tree(trees, kind):
    """PyMC's log likelihood is that of the items, added up by matrix, and the multinomial coefficient."""
    dt, mine = trees[kind]
    quiet = {"model": mine, "progressbar": False}
    future = pm.sample_posterior_predictive(dt, random_seed=1, **quiet)
    assert future.posterior_predictive.counts.dims == dt.posterior_predictive.counts.dims
    before = pm.stats.compute_log_prior(dt, extend_inferencedata=False, **quiet)
    assert set(before.data_vars) == {rv.name for rv in mine.free_RVs}
    theirs = pm.compute_log_likelihood(dt, extend_inferencedata=False, **quiet)["counts"]
    ours = dt["log_likelihood"].to_dataset()["counts"]
    seen = dt.observed_data.counts
    ways = special.gammaln(seen.sum("cell") + 1) - special.gammaln(seen + 1).sum("cell")
    np.testing.assert_allclose(ours.sum("item"), (theirs - ways).sum([d for d in theirs.dims if d == "fold"]))
    again = log_likelihood(dt, mine).counts  # the same for the draws of pm.sample
    np.testing.assert_allclose(again, ours, rtol=1e-9)
    if kind == "folds":
        by_fold = ours.groupby("fold").sum()
        np.testing.assert_allclose(by_fold, theirs - ways)


def test_models_are_compared_by_the_same_items(trees):
    """Of one matrix or of its folds: as many observations, and the pooled models predict them alike."""
    pooled = bayescm.posterior(FOLDS.sum("fold"), prior="legendre", **COMMON)
    folds = trees["folds"][0]
    assert pooled.log_likelihood.sizes["item"] == folds.log_likelihood.sizes["item"] == int(FOLDS.sum())
    assert float(az.loo(pooled).elpd) == pytest.approx(float(az.loo(folds).elpd), abs=0.5)
    exact = float(bayescm.inference.loo(FOLDS.sum("fold"), prior="legendre").elpd_loo)
    assert float(az.loo(folds).elpd) == pytest.approx(exact, abs=0.5)


def test_where_pymc_puts_what_arviz_reads(trees):
    dt, _ = trees["program"]
    for name in ("posterior", "sample_stats"):
        assert dt[name].attrs["sampling_time"] > 0
        assert dt[name].attrs["tuning_steps"] == NUTS["tune"]
        assert dt[name].attrs["inference_library"] == "pymc"
        assert dt[name].attrs["inference_library_version"] == pm.__version__
