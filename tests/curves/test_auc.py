"""The area under the ROC curve and its intervals, against pairwise definitions."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import bayescm
from bayescm.curves import area_samples, delong

SCORES = st.lists(st.tuples(st.booleans(), st.integers(-3, 6)), min_size=4, max_size=30).filter(
    lambda items: 1 < sum(case for case, _ in items) < len(items) - 1
)


def pairwise(y, score):
    """Return the area and DeLong's variance from every pair of a case and a control."""
    y, score = np.asarray(y), np.asarray(score, float)
    wins = np.equal.outer(score[y == 1], score[y == 0]) / 2 + np.greater.outer(score[y == 1], score[y == 0])
    parts = [wins.mean(axis).var(ddof=1) / wins.shape[1 - axis] for axis in (1, 0)]
    return wins.mean(), sum(parts), wins


@given(SCORES)
def test_delong_is_its_definition(items):
    y, score = (np.array(one) for one in zip(*items, strict=True))
    area, variance, _ = pairwise(y, score)
    checked = area_samples.check_items(y, score)
    assert area_samples.roc_areas(checked)[0] == pytest.approx(area, abs=1e-12)
    assert delong.covariance(area_samples.placements(checked), None)[0, 0] == pytest.approx(variance, abs=1e-12)
    assert (
        area_samples.values(checked, ("auc", "average_precision"))[0, 0] == area_samples.roc_areas(checked)[0]
    )  # the kernel


@given(SCORES, st.data())
def test_a_difference_is_that_of_paired_placements(items, data):
    y, score = (np.array(one) for one in zip(*items, strict=True))
    other = np.array(data.draw(st.lists(st.integers(0, 5), min_size=len(y), max_size=len(y))))
    wins = pairwise(y, score)[2] - pairwise(y, other)[2]
    variance = sum(wins.mean(axis).var(ddof=1) / wins.shape[1 - axis] for axis in (1, 0))
    if variance < 1e-20:
        return
    found = bayescm.curves.auc_difference(y, {"a": score, "b": other}, method="delong")
    assert found["point"].item() == pytest.approx(wins.mean(), abs=1e-12)
    assert found["se"].item() == pytest.approx(variance**0.5, abs=1e-10)
    z = wins.mean() / variance**0.5
    assert found["p_value"].item() == pytest.approx(2 * stats.norm.sf(abs(z)), abs=1e-9)


@pytest.mark.parametrize("n", range(2, 9))
def test_every_ranking_gives_the_mann_whitney_statistic(n):
    for y in itertools.product([0, 1], repeat=n):
        if 0 < sum(y) < n:
            checked = area_samples.check_items(np.array(y), np.arange(n))
            wins = sum(a < b for a in range(n) for b in range(n) if y[b] and not y[a])
            assert area_samples.roc_areas(checked)[0] == wins / (sum(y) * (n - sum(y)))


def test_published_values(oracle):
    entry = oracle("field.11")
    inputs, expected = entry["inputs"], entry["expected"]
    normal, abnormal = inputs["normal_counts_ratings_1..5"], inputs["abnormal_counts"]
    score = np.r_[np.repeat(range(5), normal), np.repeat(range(5), abnormal)]
    found = bayescm.auc(np.repeat([0, 1], [sum(normal), sum(abnormal)]), score, method=["delong", "hanley_mcneil"])
    assert found["point"].item() == pytest.approx(expected["auc"], abs=1e-12)
    errors = [expected["delong_se"], expected["hanley_mcneil_exponential_se"]]
    assert found["se"].values == pytest.approx(errors, abs=1e-12)
    entry = oracle("credible.fixture")
    rng = np.random.default_rng(entry["inputs"]["seed"])
    score = np.r_[rng.beta(6, 10, 200), rng.beta(10, 6, 200)]
    assert bayescm.auc(np.repeat([0, 1], 200), score)["point"].item() == pytest.approx(
        entry["expected"]["roc_auc"], abs=1e-9
    )


def test_near_ties_are_no_ties(oracle):
    entry = oracle("field.09")
    found = bayescm.auc(entry["inputs"]["response"], entry["inputs"]["predictor"], pos_label=2)
    assert found["point"].item() == pytest.approx(entry["expected"]["auc"], abs=1e-12)
    close = 0.1 + np.array([0, 1, 2, 3]) * np.spacing(0.1)
    assert area_samples.roc_areas(area_samples.check_items(np.array([0, 1, 0, 1]), close))[0] == 0.75
    assert area_samples.roc_areas(area_samples.check_items(np.array([0, 1]), np.array([0.0, -0.0])))[0] == 0.5


def test_it_is_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(3)
    for n in (3, 10, 200):
        y = np.r_[0, 0, 1, 1, rng.integers(0, 2, n)]
        score = (rng.integers(-n, n, n + 4) + 5 * (y == 0)) / 7
        score[:4] = 0, 3, 1, 2
        found = bayescm.auc(y, score, method="hanley_mcneil", direction="smaller")["point"].item()
        assert 1 - found == pytest.approx(metrics.roc_auc_score(y, score), abs=1e-13)


def test_logits_zeros_and_infinities():
    y = [0, 0, 0, 1, 0, 1, 1, 1]
    found = bayescm.auc(y, [-np.inf, -3, 0.0, 0.0, 2, 3, np.inf, np.inf])
    assert found["point"].item() == (15 - 0.5) / 16
    assert found["interval"].notnull().all()


def test_a_hundred_thousand_items_take_a_moment():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100_000)
    score = rng.normal(y)
    bayescm.auc(y[:100], score[:100], method="delong")
    start = time.process_time()
    found = bayescm.auc(y, score, method="delong")
    assert time.process_time() - start < 2.0
    assert found["point"].item() == pytest.approx(stats.norm.cdf(2**-0.5), abs=5 * found["se"].item())


def example(n=15, m=40, seed=2):
    rng = np.random.default_rng(seed)
    return np.repeat([0, 1], [m, n]), np.r_[rng.normal(size=m), rng.normal(1, 1, n)].round(1)


def test_intervals_are_their_formulas():
    y, score = example()
    names = ["delong", "logit_delong", "hanley_mcneil", "binomial", "logit"]
    found = bayescm.auc(y, score, method=names, ci_prob=0.9)
    p, z, (_, variance, _) = found["point"].item(), stats.norm.ppf(0.95), pairwise(y, score)
    boyd = (p * (1 - p) / 15) ** 0.5
    assert found["se"].values[[0, 1, 3, 4]] == pytest.approx([variance**0.5] * 2 + [boyd] * 2)
    for name, error in (("delong", variance**0.5), ("binomial", boyd)):
        assert found["interval"].sel(ci_method=name).values == pytest.approx([p - z * error, p + z * error], abs=1e-12)
    for name, error in (("logit_delong", variance**0.5), ("logit", boyd)):
        eta = np.log(p / (1 - p)) + np.array([-1, 1]) * z * error / (p * (1 - p))
        assert found["interval"].sel(ci_method=name).values == pytest.approx(1 / (1 + np.exp(-eta)), abs=1e-12)


def test_the_binomial_variance_bounds_the_others():
    rng = np.random.default_rng(1)
    areas = []
    for _ in range(4000):
        score = np.r_[rng.normal(size=30), rng.normal(1, 3, 8)]
        areas.append(area_samples.roc_areas(area_samples.check_items(np.repeat([0, 1], [30, 8]), score))[0])
    assert np.var(areas) < np.mean(areas) * (1 - np.mean(areas)) / 8


def test_the_bootstrap_agrees_with_delong():
    y, score = example(60, 100)
    found = bayescm.auc(y, score, method=["delong", "bootstrap", "bca", "bayesian"], draws=4000, random_seed=1)
    error = found["se"].sel(ci_method="delong").item()
    assert found["se"].sel(ci_method="bootstrap").item() == pytest.approx(error, rel=0.06)
    assert np.abs(found["interval"] - found["interval"].sel(ci_method="delong")).max() < 0.5 * error
    assert np.isnan(found["se"].sel(ci_method="bayesian"))


def test_perfect_separation():
    y, score = [0] * 30 + [1] * 5, np.arange(35.0)
    with pytest.warns(UserWarning, match="not certainty") as said:
        found = bayescm.auc(y, score, method=["delong", "logit_delong", "hanley_mcneil", "binomial", "logit",
                                              "bootstrap", "bca", "bayesian"], random_seed=1)  # fmt: skip
    assert len(said) == 1
    assert found["point"].item() == 1.0
    assert found["interval"].isel(ci_method=slice(0, 7)).isnull().all()
    assert "delong: at an area of 1" in found.attrs["reason"]
    lower, upper = found["interval"].sel(ci_method="bayesian").values
    assert 0.5 < lower < 0.9
    assert 0.98 < upper < 1.0


@pytest.mark.parametrize(("cases", "controls", "who"), [(1, 20, "case"), (20, 1, "control")])
def test_one_item_of_a_class(cases, controls, who):
    rng = np.random.default_rng(4)
    y, score = np.repeat([0, 1], [controls, cases]), rng.normal(size=21)
    with pytest.warns(UserWarning, match=f"one {who} alone"):
        found = bayescm.auc(y, score, method=["delong", "bootstrap", "bca", "hanley_mcneil", "bayesian"], random_seed=1)
    assert found["interval"].isnull().any("ci_bound").values.tolist() == [True, True, True, False, False]
    width = found["interval"].sel(ci_method="bayesian").diff("ci_bound").item()
    assert width > 0.5


def test_ties_alone():
    y, score = [0] * 6 + [1] * 3, np.ones(9)
    with pytest.warns(UserWarning, match=r"an area of 0\.5"):
        found = bayescm.auc(y, score, method=["delong", "bootstrap", "bca", "bayesian", "hanley_mcneil"])
    assert found["point"].item() == 0.5
    assert found["interval"].isnull().any("ci_bound").values.tolist() == [True, True, True, True, False]


@pytest.mark.parametrize("labels", [None, [0, 1]])
def test_a_missing_class_is_an_error(labels):
    with pytest.raises(ValueError, match=r"only the class 1|none of 0"):
        bayescm.auc([1, 1], [0.2, 0.3], labels=labels)
    with pytest.raises(ValueError, match="none of 1"):
        bayescm.aucpr([0, 0], [0.2, 0.3], labels=[0, 1])


def test_several_systems():
    y, score = example()
    with pytest.warns(UserWarning, match=r"area of b ends below 0\.5"):
        found = bayescm.auc(y, {"a": score, "b": -score}, method=["delong", "bootstrap", "bayesian"], random_seed=2)
    assert found["interval"].dims == ("system", "ci_method", "ci_bound")
    assert found["point"].sel(system="b").item() == pytest.approx(1 - found["point"].sel(system="a").item())
    alone = bayescm.auc(y, score, method="bootstrap", random_seed=2)["interval"].values
    assert alone.tolist() == found["interval"].sel(system="a", ci_method="bootstrap").values.tolist()
    mirrored = 1 - found["interval"].sel(system="b", ci_method="bootstrap").values[::-1]
    assert mirrored == pytest.approx(alone, abs=0.01)  # the same resamples
    bayes = found["interval"].sel(ci_method="bayesian").values
    assert bayes[0] == pytest.approx(1 - bayes[1][::-1], abs=0.03)


@pytest.mark.parametrize("method", ["bootstrap", "bayesian"])
def test_differences_by_draws_agree_with_delong(method):
    rng = np.random.default_rng(6)
    y = np.repeat([0, 1], [150, 80])
    one = rng.normal(y)
    other = one + rng.normal(size=230)
    closed = bayescm.curves.auc_difference(y, {"a": one, "b": other}, method="delong")
    found = bayescm.curves.auc_difference(y, {"a": one, "b": other}, method=method, draws=4000, random_seed=1)
    assert found["point"].equals(closed["point"])
    error = closed["se"].item()
    assert np.abs(found["interval"] - closed["interval"]).max() < 0.3 * error
    separate = bayescm.auc(y, {"one": one, "other": other}, method="delong")["se"].values
    assert error < np.hypot(*separate)
    if method == "bootstrap":
        assert found["p_value"].item() == pytest.approx(closed["p_value"].item(), abs=0.02)
    else:
        assert found["probability_better"].item() == pytest.approx(1 - closed["p_value"].item() / 2, abs=0.02)


def test_the_same_seed_gives_the_same_numbers_in_any_number_of_threads(monkeypatch):
    y, score = example()
    one = bayescm.auc(y, score, method="bootstrap", random_seed=9)
    monkeypatch.setenv("BAYESCM_THREADS", "1")
    assert one.identical(bayescm.auc(y, score, method="bootstrap", random_seed=9))
    first, second = (bayescm.auc(y, score, method=["bootstrap", "bayesian"], random_seed=9) for _ in "ab")
    assert first.identical(second)


def test_arguments_are_checked():
    y, score = example()
    for settings, text in (
        ({"method": "wald"}, "`method` must be one of"), ({"draws": 10}, "`draws` must be at least 1000"),
        ({"ci_prob": 1.0}, "`ci_prob`"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            bayescm.auc(y, score, **settings)
    with pytest.raises(ValueError, match="`method` must be one of 'bayesian', 'delong', 'delong_t'"):
        bayescm.curves.auc_difference(y, {"a": score, "b": score}, method="bca")
    table = bayescm.auc(y, score).attrs
    assert (table["cases"], table["controls"], table["method"]) == (15, 40, "bayesian")
