"""Precision at another prevalence than that of the items: defaults, warnings and coverage."""

import warnings

import numpy as np
import pytest
from scipy import special, stats

import bayescm
from bayescm.curves import area_samples
from bayescm.curves.exchanged import effective_controls

Y = np.repeat([0, 1], [100, 100])
SCORE = np.random.default_rng(1).normal(1.5 * Y)
TRUE = 0.115481  # average precision at a prevalence of .01 of N(0, 1) and N(1.5, 1)


def quiet(function, *args, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return function(*args, **settings)


def test_the_truth():
    t = special.expit(np.linspace(-40, 40, 100_001))
    precision = t / (t + 99 * stats.norm.sf(stats.norm.isf(t) + 1.5))
    assert np.trapezoid(precision, t) == pytest.approx(TRUE, abs=1e-5)


@pytest.mark.slow
def test_the_default_method_covers():
    """Of 60 test sets: "logit" with as many trials as cases covered .24 (standard error .05), "bayesian" .53."""
    rng, held, points, medians = np.random.default_rng(2), [], [], []
    for i in range(60):
        found = quiet(bayescm.aucpr, Y, rng.normal(1.5 * Y), prevalence=0.01, draws=1000, random_seed=i)
        lower, upper = found["interval"].values
        held.append(lower <= TRUE <= upper)
        points.append(found["point"].item())
        medians.append(found["median"].item())
    assert np.mean(held) > 0.95 - 4 * (0.95 * 0.05 / 60) ** 0.5
    assert np.mean(points) > 1.5 * TRUE  # what a sample's own area is worth there
    assert np.mean(medians) == pytest.approx(TRUE, rel=0.35)


@pytest.mark.parametrize("prevalence", [0.01, (1, 99)])
def test_the_default_posterior_covers(prevalence):
    rng, held = np.random.default_rng(3), []
    for i in range(40):
        drawn = bayescm.curve_posterior(
            Y, rng.normal(1.5 * Y), over=None, prevalence=prevalence, chains=1, draws=500, random_seed=i
        )
        assert drawn.attrs["prior"] == "smoothed"
        lower, upper = np.quantile(drawn["posterior"]["average_precision"], [0.025, 0.975])
        held.append(lower <= TRUE <= upper)
    assert np.mean(held) > 0.95 - 4 * (0.95 * 0.05 / 40) ** 0.5


def test_defaults_are_said():
    found = quiet(bayescm.aucpr, Y, SCORE, prevalence=0.01, random_seed=1)
    assert (found.attrs["method"], found.attrs["prevalence"]) == ("smoothed", 0.01)
    assert found.attrs["effective_controls"] == pytest.approx(100 / 99)
    assert found["interval"].coords["ci_bound"].attrs["ci_kind"] == "eti"
    own = bayescm.aucpr(Y, SCORE, random_seed=1)
    assert own.attrs["method"] == "bayesian"
    assert not {"effective_controls"} & set(own.attrs)
    drawn = {"over": None, "draws": 20, "chains": 1, "random_seed": 1}
    for prevalence in (None, "fixed"):
        assert bayescm.curve_posterior(Y, SCORE, prevalence=prevalence, **drawn).attrs["prior"] == "prior_item"
    given = quiet(bayescm.curve_posterior, Y, SCORE, prevalence=0.01, prior="prior_item", **drawn)
    assert given.attrs["prior"] == "prior_item"


def test_what_doesnt_cover_is_said():
    with pytest.warns(UserWarning, match="`point` is too large on average") as said:
        bayescm.aucpr(Y, SCORE, prevalence=0.01, random_seed=1)
    assert "relied" not in str(said[0].message)
    with pytest.warns(
        UserWarning, match=r"100 controls say as much of precision as 1\.01 would.*'logit', 'bca' can't be relied on"
    ):
        bayescm.aucpr(Y, SCORE, prevalence=0.01, method=["logit", "bca"], random_seed=1)
    with pytest.warns(UserWarning, match="by the draws of prior 'prior_item'.*'smoothed' does"):
        bayescm.curve_posterior(Y, SCORE, prevalence=0.01, prior=1.0, over=None, draws=20, random_seed=1)
    with pytest.warns(UserWarning, match="for each system alone"):
        found = bayescm.curve_posterior(
            Y, {"a": SCORE, "b": -SCORE}, prevalence=(1, 99), over=None, draws=20, random_seed=1
        )
    assert found.attrs["prior"] == "prior_item"
    many = np.repeat([0, 1], [2000, 50])
    bayescm.aucpr(many, np.random.default_rng(1).normal(many), prevalence=0.1, method="bca")  # 222: nothing to say


def test_groups_count_their_own_controls():
    y = np.tile([0, 1], 100)
    group = np.repeat([0, 1], [40, 160])
    score = np.random.default_rng(4).normal(y)
    settings = {"over": None, "draws": 20, "prior": 1.0, "prevalence": 0.3, "random_seed": 1}
    bayescm.curve_posterior(y, score, **settings)  # 100 controls are worth 43
    with pytest.warns(UserWarning, match=r"the 20 controls say as much of precision as 8\.57"):
        bayescm.curve_posterior(y, score, by=group, **settings)


def test_effective_controls_are_the_recall_that_one_control_spoils():
    assert effective_controls(2000, 0.01) == pytest.approx(20.2, abs=0.01)
    assert effective_controls(2000, (1, 99)) == pytest.approx(2000 / 99)
    assert effective_controls(180, 0.1) == pytest.approx(20)  # as many as the cases at the items' own prevalence
    y, score = np.r_[0, np.ones(40), np.zeros(79)], -np.arange(120.0)  # one control in front of all cases
    for prevalence in (0.05, 0.2, 0.4):
        items = area_samples.at_prevalence(area_samples.check_items(y, score), prevalence)
        recall = 1 / effective_controls(80, prevalence)
        precision = recall / (recall + items.odds / 80)
        assert precision == pytest.approx(0.5)


def test_trials_of_a_proportion_are_what_the_controls_are_worth():
    found = quiet(bayescm.aucpr, Y, SCORE, prevalence=0.05, method=["logit", "binomial"])
    point = found["point"].item()
    assert found["se"].values == pytest.approx((point * (1 - point) / (100 / 19)) ** 0.5)
    higher = bayescm.aucpr(Y, SCORE, prevalence=0.8, method="logit")
    point = higher["point"].item()
    assert higher["se"].item() == pytest.approx((point * (1 - point) / 100) ** 0.5)


@pytest.mark.parametrize("method", ["bayesian", "smoothed"])
def test_an_estimate_that_doesnt_exist_is_said(method):
    y, score = np.repeat([0, 1], [12, 9]), np.r_[-np.inf, np.zeros(20)]
    with pytest.warns(UserWarning, match="no point by binormal: the estimate doesn't exist"):
        found = bayescm.aucpr(y, score, estimator="binormal", method=method, random_seed=1)
    assert np.isnan(found["point"])
    assert "binormal: the estimate doesn't exist" in found.attrs["reason"]
    assert found["interval"].notnull().all()


def test_the_median_is_that_of_the_draws():
    found = bayescm.aucpr(Y, SCORE, method=["logit", "smoothed"], random_seed=1)
    drawn = bayescm.curve_posterior(
        Y, SCORE, over=None, prior="smoothed", prevalence="fixed", chains=1, draws=2000, random_seed=1
    )["posterior"]["average_precision"]
    assert np.isnan(found["median"].sel(ci_method="logit"))
    assert found["median"].sel(ci_method="smoothed").item() == pytest.approx(float(np.median(drawn)), abs=1e-12)
    area = bayescm.auc(Y, SCORE, method="bayesian", random_seed=1)
    assert area["interval"][0] < area["median"] < area["interval"][1]
