"""Simulation-based calibration: uniform where it should be, and not where it should not."""

import types

import arviz as az
import pytest
from scipy import stats

import bayescm
from bayescm import models

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore:NUTS")


QUICK = {"draws": 250, "tune": 250}


def pvalues(dt):
    group = dt["prior_sbc"]
    return {
        name: min(stats.kstest(column, "uniform").pvalue for column in values.values.reshape(group.sizes["draw"], -1).T)
        for name, values in group.data_vars.items()
    }


@pytest.mark.parametrize("story", ["dirichlet_multinomial", "three_binomial"])
@pytest.mark.parametrize("k", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_conjugate_stories_are_calibrated(story, k):
    names = ["recall", "precision", "accuracy", "f1", "mcc", "prevalence", "kappa"]
    dt = bayescm.calibration.sbc(story, names, n=40, n_labels=k, prior="jeffreys", simulations=200, random_seed=2)
    assert dt.attrs["method"] == "exact"
    assert len(dt["prior_sbc"].data_vars) == len(names)
    assert min(pvalues(dt).values()) > 1e-3
    assert az.plot_ecdf_pit(dt, var_names=["accuracy"]) is not None


@pytest.mark.slow
def test_a_wrong_prior_is_caught():
    dt = bayescm.calibration.sbc(
        "dirichlet_multinomial", "recall", n=20, prior="jeffreys", fit_prior=4, simulations=600, random_seed=2
    )
    assert pvalues(dt)["recall"] < 1e-6


CLOSED = [
    pytest.param("kfold", {"pooling": "complete"}, marks=pytest.mark.slow),
    ("kfold", {"pooling": "average"}),
    ("informative", {"prior": dict.fromkeys(["prevalence", "recall", "specificity"], "laplace")}),
    ("paired", {}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("story", "options"), CLOSED)
def test_closed_forms_are_calibrated(story, options):
    dt = bayescm.calibration.sbc(story, simulations=100, random_seed=5, **options)
    assert dt.attrs["method"] == "exact"
    assert min(pvalues(dt).values()) > 1e-3


@pytest.mark.parametrize(
    "story",
    [pytest.param("informative", marks=pytest.mark.long), pytest.param("three_binomial", marks=pytest.mark.slow)],
)
def test_nuts_is_calibrated(story, seed):
    dt = bayescm.calibration.sbc(
        story, ["recall", "accuracy"], method="nuts", simulations=25, random_seed=seed(6), **QUICK
    )
    assert dt.attrs["method"] == "nuts"
    assert min(pvalues(dt).values()) > 1e-6


@pytest.mark.slow
def test_nuts_with_a_wrong_prior_is_caught(seed):
    wrong = {"prevalence": 1, "recall": (1, 30), "specificity": 1}
    dt = bayescm.calibration.sbc(
        "three_binomial", "recall", method="nuts", n=20, prior="laplace", fit_prior=wrong, simulations=20,
        random_seed=seed(6), **QUICK,
    )  # fmt: skip
    assert pvalues(dt)["recall"] < 1e-6


@pytest.mark.slow
def test_a_story_of_the_users_own(seed):
    """An object with `simulate` and `model`: one whose fit forgets nine of ten items, which the check sees."""
    story = models.load("three_binomial")
    forgetful = types.SimpleNamespace(
        model=lambda counts, *, prior="laplace": story.model(counts // 10, prior=prior), simulate=story.simulate
    )
    dt = bayescm.calibration.sbc(forgetful, "recall", n=1000, simulations=20, random_seed=seed(1), **QUICK)
    assert dt.attrs["method"] == "nuts"
    # uniform: 0.29, and below 0.18 with 1e-4; a posterior three times too wide: values in the middle
    assert dt.prior_sbc.recall.std() < 0.18


def test_options_go_where_they_belong():
    with pytest.raises(TypeError, match="`nn` is an option of neither"):
        bayescm.calibration.sbc("kfold", nn=3)
    with pytest.raises(ValueError, match="`metrics` has no"):
        bayescm.calibration.sbc("kfold", "no_such_metric", simulations=2)
    with pytest.raises(ValueError, match="no closed form"):
        bayescm.calibration.sbc("overdispersed", method="exact", simulations=2)
    assert bayescm.calibration.sbc("dirichlet_multinomial", "recall", n=7, simulations=3, random_seed=1).attrs["n"] == 7
