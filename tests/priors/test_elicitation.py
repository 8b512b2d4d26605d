"""Betas of intervals, distributions of PreliZ, and draws before any data."""

import arviz as az
import numpy as np
import pytest
import xarray as xr
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

import bayescm
from bayescm.priors.concentrations import concentrations, exchange

ends = st.floats(1e-4, 1 - 1e-4)


@given(one=ends, other=ends, prob=st.floats(0.05, 0.999))
def test_equal_tails_outside_the_interval(one, other, prob):
    lower, upper = sorted([one, other])
    assume(upper - lower > 1e-4 * (upper * (1 - lower)) ** 0.5)
    a, b = bayescm.priors.beta_from_interval(lower, upper, ci_prob=prob)
    np.testing.assert_allclose(stats.beta(a, b).cdf(lower), (1 - prob) / 2, rtol=1e-7)
    np.testing.assert_allclose(stats.beta(a, b).sf(upper), (1 - prob) / 2, rtol=1e-7)


@given(a=st.floats(0.1, 1e4), b=st.floats(0.1, 1e4), prob=st.floats(0.1, 0.99))
def test_a_beta_comes_back_from_its_interval(a, b, prob):
    lower, upper = stats.beta(a, b).interval(prob)
    assume(1e-6 < lower < upper < 1 - 1e-6)
    np.testing.assert_allclose(bayescm.priors.beta_from_interval(lower, upper, ci_prob=prob), (a, b), rtol=1e-5)


def test_mirrored_intervals():
    a, b = bayescm.priors.beta_from_interval(0.7, 0.95)
    np.testing.assert_allclose(bayescm.priors.beta_from_interval(0.05, 0.3), (b, a), rtol=1e-9)


@pytest.mark.parametrize(
    ("lower", "upper", "prob", "error", "words"),
    [
        (0.5, 0.5, 0.9, ValueError, "below `upper`"),
        (0.5, 0.4, 0.9, ValueError, "below `upper`"),
        (0, 0.4, 0.9, ValueError, "`lower`"),
        (0.4, 1, 0.9, ValueError, "`upper`"),
        (0.4, float("nan"), 0.9, ValueError, "`upper`"),
        ("0.4", 0.5, 0.9, TypeError, "`lower`"),
        (0.4, 0.5, 1, ValueError, "`ci_prob`"),
        (0.4, 0.5, 95, ValueError, "`ci_prob`"),
        (0.5, 0.500001, 0.9, ValueError, "less narrow"),
        (1e-300, 1e-299, 0.1, ValueError, "less narrow and not so near to 0"),
    ],
)
def test_what_is_no_interval(lower, upper, prob, error, words):
    with pytest.raises(error, match=words):
        bayescm.priors.beta_from_interval(lower, upper, ci_prob=prob)


class Beta:
    """What this package asks of ``preliz.Beta``."""

    def __init__(self, alpha=None, beta=None):
        self.alpha, self.beta = alpha, beta


class Gamma(Beta):
    """Has an alpha and a beta, too."""


@pytest.fixture(params=["stand-in", "preliz"])
def beta(request):
    if request.param == "stand-in":
        return Beta
    import preliz

    return preliz.Beta


def test_a_distribution_is_its_two_numbers(beta):
    prior = {"prevalence": beta(2, 8), "recall": beta(9, 1), "specificity": "laplace"}
    got = concentrations(prior, "three_binomial", 2)
    want = concentrations({"prevalence": (2, 8), "recall": (9, 1), "specificity": 1}, "three_binomial", 2)
    np.testing.assert_array_equal(got.rows, want.rows)
    np.testing.assert_array_equal(got.shares, want.shares)
    np.testing.assert_array_equal(exchange(got, beta(2, 5)).shares, [5, 2])
    counts = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
    one = bayescm.summary(counts, "recall", model="three_binomial", prior=prior, prevalence=beta(2 / 3, 5.5))
    two = bayescm.summary(
        counts, "recall", model="three_binomial", prior=prior | {"recall": (9, 1)}, prevalence=(2 / 3, 5.5)
    )
    xr.testing.assert_equal(one, two)
    assert one.attrs["prevalence"] == two.attrs["prevalence"]
    forms = bayescm.planning.at_prevalences(counts, "npv", [(2, 18), beta(2, 18), [2, 18]])
    assert np.ptp(forms["interval"].values, axis=0).max() == 0.0


@pytest.mark.parametrize("other", [Gamma(2, 3), Beta()])
def test_other_distributions_are_refused(other):
    with pytest.raises(TypeError, match="`prevalence` as a distribution must be a Beta"):
        exchange(concentrations("laplace", "three_binomial", 2), other)
    with pytest.raises(TypeError, match=r"`prior\['recall'\]` as a distribution must be a Beta"):
        concentrations({"prevalence": 1, "recall": other, "specificity": 1}, "three_binomial", 2)


PRIOR = {"prevalence": (2, 8), "recall": (18, 3), "specificity": (1, 1)}


def test_groups_and_dims():
    dt = bayescm.inference.prior_predictive(["recall", "f1"], n_items=40, labels=["no", "yes"], draws=50, random_seed=1)
    assert list(dt.children) == ["prior", "prior_predictive", "prior_replicate", "constant_data"]
    assert dt.prior.theta.dims == ("chain", "draw", "actual", "predicted")
    assert dt.prior.actual.values.tolist() == ["no", "yes"]
    assert dt.prior_predictive.counts.dims == ("chain", "draw", "cell")
    assert (dt.prior_predictive.counts.sum("cell") == 40).all()
    assert list(dt.prior_replicate) == ["recall", "f1"]
    fn, tp = (dt.prior_predictive.counts.sel(cell=c) for c in ("fn", "tp"))
    np.testing.assert_allclose(dt.prior_replicate.recall, tp / (tp + fn))
    assert dt.attrs["size"] == 40
    again = bayescm.inference.prior_predictive(
        ["recall", "f1"], n_items=40, labels=["no", "yes"], draws=50, random_seed=1
    )
    same = (tree.map_over_datasets(lambda group: group.assign_attrs(created_at="")) for tree in (dt, again))
    xr.testing.assert_identical(*same)


def test_the_distribution_of_what_is_drawn():
    dt = bayescm.inference.prior_predictive(
        "recall", n_items=40, model="three_binomial", prior=PRIOR, chains=2, draws=20_000, random_seed=1
    )
    recall = dt.prior.recall.values.ravel()
    assert stats.kstest(recall, stats.beta(18, 3).cdf).pvalue > 1e-3
    positives = dt.prior_predictive.counts.sel(cell=["fn", "tp"]).sum("cell").values.ravel()
    dist = stats.betabinom(40, 2, 8)
    assert abs(positives.mean() - dist.mean()) < 4 * dist.std() / np.sqrt(len(positives))
    error = np.sqrt(dist.pmf(0) / len(positives))
    assert abs((positives == 0).mean() - dist.pmf(0)) < 4 * error
    assert int(np.isnan(dt.prior_replicate.recall).sum()) == int((positives == 0).sum())


def test_known_and_exchanged_prevalence_and_many_labels():
    fixed = bayescm.inference.prior_predictive("prevalence", n_items=9, prevalence=0.3, draws=20, random_seed=1)
    np.testing.assert_allclose(fixed.prior.prevalence, 0.3)
    many = bayescm.inference.prior_predictive(["recall", "mcc"], n_items=9, labels="abc", draws=20, random_seed=1)
    assert many.prior.recall.dims == ("chain", "draw", "class_label")
    assert many.prior_predictive.sizes["cell"] == 9


def test_the_prior_of_a_posterior_has_the_same_distribution():
    counts = bayescm.from_cells(tp=3, fn=1, fp=2, tn=4)
    ours = bayescm.inference.prior_predictive("f1", n_items=5, draws=2000, random_seed=1).prior.f1
    theirs = bayescm.posterior(counts, metrics="f1", draws=10, random_seed=2).prior.f1
    assert stats.ks_2samp(ours.values.ravel(), theirs.values.ravel()).pvalue > 1e-3


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"n_items": 0}, ValueError, "`n_items`"),
        ({"n_items": 4.5}, TypeError, "`n_items`"),
        ({"n_items": 4, "prior": "haldane"}, ValueError, "improper"),
        ({"n_items": 4, "prior": [[1, 1], [0, 1]]}, ValueError, "improper"),
        ({"n_items": 4, "prevalence": "fixed"}, ValueError, "no counts"),
        ({"n_items": 4, "labels": [1]}, ValueError, "at least 2"),
        ({"n_items": 4, "metrics": "excellence"}, ValueError, "'excellence'"),
    ],
)
def test_what_can_not_be_drawn(settings, error, words):
    with pytest.raises(error, match=words):
        bayescm.inference.prior_predictive(**settings)


@pytest.mark.filterwarnings(
    "ignore:Variables counts:UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning"
)
def test_arviz_reads_it(tmp_path):
    dt = bayescm.inference.prior_predictive(
        ["recall", "precision"], n_items=40, model="three_binomial", prior=PRIOR, draws=200, random_seed=1
    )
    table = az.summary(dt, group="prior", var_names=["recall"], round_to="none")
    assert table.loc["recall", "mean"] == pytest.approx(18 / 21, abs=0.02)
    assert "precision" in az.summary(dt, group="prior_replicate").index
    assert az.plot_ppc_dist(dt, group="prior_predictive") is not None
    assert az.plot_dist(dt, group="prior_replicate", var_names=["precision"]) is not None
    dt.to_netcdf(tmp_path / "prior.nc", engine="h5netcdf")
    with xr.open_datatree(tmp_path / "prior.nc", engine="h5netcdf") as back:
        xr.testing.assert_identical(back.load(), dt)
