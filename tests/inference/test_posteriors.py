"""posterior() and choose(): the tree, its groups, the methods and what they refuse."""

from datetime import datetime

import numpy as np
import preliz
import pymc as pm
import pytest
import xarray as xr

import bayescm


def test_the_tree():
    dt = bayescm.posterior(bayescm.datasets.toetsch2021(), metrics=["recall", "mcc"], draws=50, random_seed=1)
    assert list(dt.children) == ["posterior", "prior", "observed_data", "constant_data"]
    assert dt.posterior.theta.dims == ("chain", "draw", "system", "actual", "predicted")
    assert dt.posterior.recall.dims == ("chain", "draw", "system")
    assert dt.prior.theta.dims == ("chain", "draw", "actual", "predicted")
    assert dt.observed_data.counts.dims == ("system", "cell")
    assert dt.observed_data.cell.values.tolist() == ["tn", "fp", "fn", "tp"]
    assert dt.observed_data.counts.sel(system="7a").values.tolist() == [6, 2, 0, 26]
    assert dt.constant_data.concentration.values.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert dt.attrs["model"] == "dirichlet_multinomial"
    assert dt.attrs["random_seed"] == 1
    assert dt.posterior.recall.attrs["long_name"] == "Recall"
    np.testing.assert_allclose(dt.posterior.theta.sum(("actual", "predicted")), 1)


def test_more_than_two_labels():
    counts = bayescm.from_array([[50, 3, 2], [4, 40, 1], [0, 6, 30]], labels=["a", "b", "c"])
    dt = bayescm.posterior(counts, metrics=["recall", "accuracy"], draws=50, model="three_binomial")
    assert dt.posterior.recall.dims == ("chain", "draw", "class_label")
    assert dt.observed_data.cell.values.tolist()[:4] == ["a->a", "a->b", "a->c", "b->a"]
    assert dt.constant_data.share_concentration.dims == ("actual",)


def without_time(group):
    """Drop attrs: the time, which no two runs share, and the stamp of draws, which lazy ones lack."""
    return group.assign_attrs({"created_at": "", "draws_stamp": ""})


def test_same_seed_same_draws_whatever_stands_beside():
    counts = bayescm.datasets.caelen2017()
    both = bayescm.posterior(counts, metrics="mcc", draws=50, random_seed=2)
    again = bayescm.posterior(counts, metrics="mcc", draws=50, random_seed=2)
    xr.testing.assert_identical(*(dt.map_over_datasets(without_time) for dt in (both, again)))
    lazy = bayescm.posterior(counts.chunk(system=1), metrics="mcc", draws=50, random_seed=2)
    assert lazy.posterior.theta.chunks is not None
    xr.testing.assert_identical(*(dt.map_over_datasets(without_time) for dt in (lazy.compute(), both)))
    first = bayescm.posterior(counts.isel(system=0), metrics="mcc", draws=50, random_seed=2)
    np.testing.assert_array_equal(first.posterior.theta, both.posterior.theta.isel(system=0))
    assert not np.array_equal(both.posterior.theta[:, :, 0], both.posterior.theta[:, :, 1])
    with_more = bayescm.posterior(counts, metrics=["recall", "mcc"], draws=50, random_seed=2, replicate=True)
    np.testing.assert_array_equal(with_more.posterior.matthews_correlation, both.posterior.matthews_correlation)


def test_an_improper_prior_has_no_prior_group():
    dt = bayescm.posterior([[35, 30], [30, 50]], prior="haldane", draws=50)
    assert "prior" not in dt.children
    with pytest.raises(ValueError, match="cell FN"):
        bayescm.posterior([[6, 2], [0, 26]], prior="haldane")


@pytest.mark.slow
def test_caelen(oracle):
    counts = bayescm.datasets.caelen2017()
    dt = bayescm.posterior(counts, prior="haldane", metrics="mcc", draws=250_000, random_seed=11, replicate=True)
    theta = dt.posterior.matthews_correlation
    error = 5 * 0.5 / 1000
    assert float((theta.sel(system="B") > 0).mean()) == pytest.approx(0.976, abs=1e-3)
    assert float((theta.sel(system="A") > theta.sel(system="B")).mean()) == pytest.approx(0.875, abs=1.5e-3)
    s = bayescm.summary(counts.sel(system="B"), "mcc", prior="haldane", random_seed=1, draws=400_000)
    low, high = s.interval[0]
    assert low == pytest.approx(0.003, abs=3e-3)
    assert high == pytest.approx(0.322, abs=3e-3)
    want = oracle("caelen.predictive")["expected"]
    future = dt.replicate.matthews_correlation
    assert float((future.sel(system="B") > 0).mean()) == pytest.approx(want["P(MCC_B>0)"], abs=error)
    better = future.sel(system="A") > future.sel(system="B")
    assert float(better.mean()) == pytest.approx(want["P(MCC_A>MCC_B)"], abs=error)
    for system in "AB":
        draws = future.sel(system=system)
        assert float(draws.mean()) == pytest.approx(want[f"mean_{system}"], abs=5 * want[f"sd_{system}"] / 1000)
        assert float(draws.std()) == pytest.approx(want[f"sd_{system}"], rel=0.01)


@pytest.mark.slow
def test_caelen_with_a_flat_prior(oracle):
    want = oracle("caelen.predictive1")["expected"]
    dt = bayescm.posterior(bayescm.datasets.caelen2017(), prior="laplace", metrics="mcc", draws=250_000,
                           random_seed=12, replicate=True)  # fmt: skip
    future = dt.replicate.matthews_correlation
    assert float((future.sel(system="B") > 0).mean()) == pytest.approx(want["P(MCC_B>0)"], abs=0.0025)
    better = future.sel(system="A") > future.sel(system="B")
    assert float(better.mean()) == pytest.approx(want["P(MCC_A>MCC_B)"], abs=0.0025)


def test_exact_posterior_summarises_like_summary():
    counts = [[35, 30], [30, 50]]
    s = bayescm.summary(counts, ["recall", "f1"])
    dt = bayescm.posterior(counts, metrics=["recall", "f1"], draws=25_000, random_seed=1)
    for i, name in enumerate(["recall", "f1"]):
        draws = dt.posterior[name].values.ravel()
        assert draws.mean() == pytest.approx(float(s["mean"][i]), abs=5 * float(s["sd"][i]) / np.sqrt(1e5))
        assert draws.std() == pytest.approx(float(s["sd"][i]), rel=0.02)


def test_prevalence_is_exchanged_in_both_groups():
    dt = bayescm.posterior([[80, 20], [10, 90]], prevalence=0.01, metrics=["prevalence", "recall"], draws=50)
    np.testing.assert_allclose(dt.posterior.prevalence, 0.01)
    np.testing.assert_allclose(dt.prior.prevalence, 0.01)
    beta = bayescm.posterior(
        [[80, 20], [10, 90]], prevalence=(2, 198), metrics="prevalence", draws=25_000, random_seed=1
    )
    assert float(beta.posterior.prevalence.mean()) == pytest.approx(0.01, abs=5 * 0.007 / np.sqrt(1e5))
    fixed = bayescm.posterior(bayescm.datasets.caelen2017(), prevalence="fixed", metrics="prevalence", draws=50)
    np.testing.assert_allclose(fixed.posterior.prevalence.isel(draw=0), 80 / 145)
    assert fixed.prior.prevalence.dims == ("chain", "draw", "system")


def test_prior_posterior_and_future_have_random_numbers_of_their_own():
    dt = bayescm.posterior(np.zeros((2, 2), int), prior=1, metrics="accuracy", chains=1, draws=1000, random_seed=1)
    assert not np.array_equal(dt.posterior.theta, dt.prior.theta)
    assert abs(np.corrcoef(dt.posterior.accuracy[0], dt.prior.accuracy[0])[0, 1]) < 0.15


def test_metrics_may_be_an_iterator():
    dt = bayescm.posterior([[6, 2], [1, 26]], metrics=(m for m in ["mcc", "f1"]), draws=10, replicate=True)
    assert {"matthews_correlation", "f1"} <= set(dt.posterior.data_vars)


def test_choose_refuses_what_posterior_refuses():
    with pytest.raises(ValueError, match="improper"):
        bayescm.inference.choose([[6, 2], [0, 26]], prior="haldane")
    with pytest.raises(ValueError, match="needs items of every class"):
        bayescm.inference.choose([[0, 0], [2, 26]], prevalence="fixed")


def test_choose_says_why():
    choice = bayescm.inference.choose([[6, 2], [0, 26]], model="three_binomial")
    assert choice.method == "exact"
    assert "conjugate" in str(choice)
    assert bayescm.inference.choose([[6, 2], [0, 26]], sampler="nuts").method == "nuts"


def test_choose_names_the_sampler():
    for sampler, method, words in (
        ("nutpie", "nuts", "asked for; nutpie samples"),
        ("smc", "smc", "PyMC's sequential Monte Carlo samples"),
        ("advi", "advi", "approximates"),
        ("pathfinder", "pathfinder", "Pathfinder approximates"),
    ):
        choice = bayescm.inference.choose([[6, 2], [0, 26]], sampler=sampler)
        assert choice.method == method
        assert words in choice.reason
        assert "also has a closed form" in choice.reason


def test_one_rate_is_enough_of_a_prior():
    common = {"model": "three_binomial", "draws": 50, "random_seed": 1}
    wanted = bayescm.posterior(
        [[6, 2], [0, 26]], prior={"prevalence": "jeffreys", "recall": (9, 1), "specificity": "jeffreys"}, **common
    )
    for recall in ((9, 1), preliz.Beta(9, 1), pm.Beta.dist(9, 1), pm.Beta.dist(mu=0.9, nu=10)):
        dt = bayescm.posterior([[6, 2], [0, 26]], prior={"recall": recall}, **common)
        assert dt.attrs["method"] == "exact"
        for name, numbers in wanted.constant_data.data_vars.items():
            np.testing.assert_allclose(dt.constant_data[name], numbers, rtol=1e-12)


def test_arviz_finds_how_a_tree_was_made():
    dt = bayescm.posterior([[6, 2], [0, 26]], draws=5, workflow=True, random_seed=1)
    for name, group in dt.children.items():
        assert datetime.fromisoformat(group.attrs["created_at"]).tzinfo is not None
        assert group.attrs["inference_library"] == "bayescm"
        assert group.attrs["inference_library_version"] == bayescm.__version__
        assert group.attrs.get("sample_dims", []) == ([] if "data" in name else ["chain", "draw"])


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"sampler": "vi"}, ValueError, "`sampler`"),
        ({"model": "k_folds"}, ValueError, "`model`"),
        ({"sampler": "nuts", "prior": "haldane"}, ValueError, "improper"),
        ({"prevalence": 2}, ValueError, "`prevalence`"),
        ({"chains": 0}, ValueError, "`chains`"),
        ({"draws": 1.5}, TypeError, "`draws`"),
        ({"replicate": 0}, ValueError, "`replicate`"),
        ({"replicate": 2.5}, TypeError, "`replicate`"),
        ({"sampler": "advi", "tune": 500}, TypeError, "`tune` is an option of neither .* nor sampler='advi'"),
        ({"sampler": "smc", "prior": "haldane"}, ValueError, "improper"),
        ({"tune": 500}, TypeError, "`tune` goes to pymc.sample"),
        ({"nuts_sampler": "pymc"}, TypeError, "`nuts_sampler` is an option of neither"),
    ],
)
def test_bad_options(options, error, words):
    with pytest.raises(error, match=words):
        bayescm.posterior([[35, 30], [30, 50]], **options)


def test_a_nearly_improper_prior_overflows_to_infinity_without_a_word_from_numpy():
    with pytest.warns(UserWarning, match="underflow"):  # draws of the prior: all in one cell
        dt = bayescm.posterior(bayescm.from_cells(tp=26, fn=0, fp=2, tn=6), prior=1e-6, metrics="dor", draws=100)
    assert (dt.posterior.diagnostic_odds_ratio > 1e10).all()


def test_one_metric_by_name():
    assert "matthews_correlation" in bayescm.posterior([[6, 2], [1, 26]], metrics="mcc", draws=10).posterior


def test_undefined_draws_warn():
    with pytest.warns(UserWarning, match="undefined"):
        bayescm.posterior([[9, 3], [0, 0]], prior=1e-4, random_seed=1)
