"""Differences of areas under the ROC curve: the same system twice, two samples, and the covariance of areas."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import bayescm

SAMPLE = st.lists(st.tuples(st.booleans(), st.integers(-3, 6)), min_size=4, max_size=20).filter(
    lambda items: 1 < sum(case for case, _ in items) < len(items) - 1
)


def wins(y, score):
    """Return 1, 1/2 or 0 for every pair of a case and a control."""
    y, score = np.asarray(y), np.asarray(score, float)
    return np.equal.outer(score[y == 1], score[y == 0]) / 2 + np.greater.outer(score[y == 1], score[y == 0])


def variance(table):
    """Return DeLong's variance of the mean of a table of pairs."""
    return sum(table.mean(axis).var(ddof=1) / table.shape[1 - axis] for axis in (1, 0))


def example(n=15, m=40, seed=2):
    rng = np.random.default_rng(seed)
    return np.repeat([0, 1], [m, n]), np.r_[rng.normal(size=m), rng.normal(1, 1, n)].round(1)


@pytest.mark.parametrize("method", ["delong", "bootstrap", "bayesian"])
@pytest.mark.parametrize("n", [1, 15])
def test_a_system_doesnt_differ_from_itself(method, n):
    y, score = example(n)
    found = bayescm.curves.auc_difference(y, {"a": score, "b": score}, method=method, random_seed=1)
    assert found["point"].item() == 0.0
    assert found["interval"].values.tolist() == [0.0, 0.0]
    assert {"p_value": 1.0, "probability_better": 0.5}[name := list(found.data_vars)[-1]] == found[name].item()
    assert not {"reason", "note"} & set(found.attrs)


@pytest.mark.parametrize("method", ["delong", "bayesian"])
def test_systems_that_rank_alike_are_said_to(method):
    y, score = example()
    with pytest.warns(UserWarning, match="rank all items alike"):
        found = bayescm.curves.auc_difference(y, {"a": score, "b": np.exp(score)}, method=method, random_seed=1)
    assert found["interval"].values.tolist() == [0.0, 0.0]
    assert "rank all items alike" in found.attrs["note"]


def test_no_variance_is_still_no_certainty():
    y, score = [0, 0, 0, 1, 1, 1], np.arange(6.0)
    with pytest.warns(UserWarning, match="variance is 0, which is not certainty"):
        found = bayescm.curves.auc_difference(y, {"a": score, "b": [2.0, 1, 0, 5, 4, 3]}, method="delong")
    assert np.isnan(found["p_value"])
    with pytest.warns(UserWarning, match="one case alone"):
        bayescm.curves.auc_difference(
            {"a": [0, 0, 1], "b": [0, 1, 0, 1]},
            {"a": [1, 2, 3], "b": [1, 2, 3, 0]},
            method="delong",
            design="independent",
        )


@settings(max_examples=60)
@given(SAMPLE, SAMPLE)
def test_two_samples_have_the_sum_of_their_variances(first, second):
    (y, score), (other_y, other) = ([np.array(v) for v in zip(*items, strict=True)] for items in (first, second))
    tables = wins(y, score), wins(other_y, other)
    expected = sum(variance(table) for table in tables)
    if expected < 1e-20:
        return
    found = bayescm.curves.auc_difference(
        {"a": y, "b": other_y}, {"a": score, "b": other}, method="delong", design="independent"
    )
    difference = tables[0].mean() - tables[1].mean()
    assert found["point"].item() == pytest.approx(difference, abs=1e-12)
    assert found["se"].item() == pytest.approx(expected**0.5, abs=1e-12)
    assert found["p_value"].item() == pytest.approx(2 * stats.norm.sf(abs(difference) / expected**0.5), abs=1e-9)


def test_two_samples_by_hand():
    """Cases 3, 1 and controls 2, 0: wins 1, 1 and 0, 1; placements of cases 1, 1/2, of controls 1/2, 1."""
    y = [1, 1, 0, 0]
    scores = {"a": [3, 1, 2, 0], "b": [3, 0, 2, 1]}
    found = bayescm.curves.auc_difference({"a": y, "b": y}, scores, method="delong", design="independent")
    # the other: cases 3, 0 win 2 and 0 pairs: placements 1, 0 of cases, 1/2, 1/2 of controls
    assert found["auc"].values.tolist() == [0.75, 0.5]
    assert found["se"].item() == pytest.approx((0.125 / 2 + 0.125 / 2 + 0.5 / 2 + 0.0) ** 0.5, abs=1e-15)
    assert found.attrs["design"] == "independent"


@pytest.mark.slow
def test_two_samples_hold_their_level():
    """Equal areas, .76: how often the p-value is below .05, in 700 pairs of samples."""
    rng, small = np.random.default_rng(5), []
    y, other_y = np.repeat([0, 1], [60, 40]), np.repeat([0, 1], [30, 80])
    for _ in range(700):
        found = bayescm.curves.auc_difference(
            {"a": y, "b": other_y},
            {"a": rng.normal(y), "b": rng.normal(other_y)},
            method="delong",
            design="independent",
        )
        small.append(found["p_value"].item() < 0.05)
    assert np.mean(small) == pytest.approx(0.05, abs=0.01 + 4 * (0.05 * 0.95 / 700) ** 0.5)


@pytest.mark.parametrize("method", ["bootstrap", "bayesian"])
def test_draws_of_two_samples_agree_with_delong(method):
    rng = np.random.default_rng(6)
    y, other_y = np.repeat([0, 1], [150, 80]), np.repeat([0, 1], [100, 90])
    given = {"a": y, "b": other_y}, {"a": rng.normal(y), "b": rng.normal(0.7 * other_y)}
    closed = bayescm.curves.auc_difference(*given, method="delong", design="independent")
    found = bayescm.curves.auc_difference(*given, method=method, design="independent", draws=4000, random_seed=1)
    error = closed["se"].item()
    assert np.abs(found["interval"] - closed["interval"]).max() < 0.3 * error
    one = bayescm.curves.auc_difference(
        {"a": y, "b": y}, {"a": given[1]["a"], "b": given[1]["a"]}, method=method, design="independent", random_seed=1
    )
    assert np.diff(one["interval"]).item() > 2.5 * error  # the draws of both samples aren't the same


@settings(max_examples=40)
@given(SAMPLE, st.data())
def test_covariance_is_that_of_placements(items, data):
    y, score = (np.array(one) for one in zip(*items, strict=True))
    other = np.array(data.draw(st.lists(st.integers(0, 5), min_size=len(y), max_size=len(y))))
    tables = wins(y, score), wins(y, other)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = bayescm.auc(y, {"a": score, "b": other}, method=["delong", "hanley_mcneil"])
    matrix = found["covariance"].transpose("system", "versus").values
    for i, j in ((0, 0), (0, 1), (1, 1)):
        expected = sum(
            np.cov(tables[i].mean(axis), tables[j].mean(axis))[0, 1] / tables[i].shape[1 - axis] for axis in (1, 0)
        )
        assert matrix[i, j] == pytest.approx(expected, abs=1e-14)
        assert matrix[j, i] == pytest.approx(expected, abs=1e-14)
    difference = matrix[0, 0] + matrix[1, 1] - 2 * matrix[0, 1]
    assert difference == pytest.approx(variance(tables[0] - tables[1]), abs=1e-14)


@pytest.mark.slow
def test_covariance_by_simulation():
    rng, repeats = np.random.default_rng(7), 700
    y = np.repeat([0, 1], [50, 40])
    areas, said = np.empty((repeats, 2)), 0.0
    for i in range(repeats):
        shared = rng.normal(y)
        found = bayescm.auc(y, {"a": shared, "b": shared + rng.normal(size=90)}, method="delong")
        areas[i] = found["point"]
        said += found["covariance"].sel(system="a", versus="b").item() / repeats
    products = np.prod(areas - areas.mean(0), axis=1)
    assert said == pytest.approx(products.mean(), abs=5 * products.std() / repeats**0.5)


def test_covariance_is_where_it_belongs():
    y, score = example()
    assert "covariance" not in bayescm.auc(y, score)
    assert "covariance" not in bayescm.auc(y, {"a": score, "b": score}, method="hanley_mcneil")
    found = bayescm.auc(y, {"a": score, "b": score + 1}, method="delong")
    assert found["covariance"].dims == ("system", "versus")
    error = found["se"].sel(system="a").item()
    assert found["covariance"].values == pytest.approx(np.full((2, 2), error**2), abs=1e-15)
    with pytest.warns(UserWarning, match="one case alone"):
        assert bayescm.auc([0, 0, 1], {"a": [1, 2, 3], "b": [3, 1, 2]}, method="delong")["covariance"].isnull().all()


@pytest.mark.parametrize(
    ("y_true", "settings", "words"),
    [
        ([0, 1, 0, 1], {"design": "independent"}, "`y_true` must have the labels of each sample"),
        ({"a": [0, 1, 0, 1]}, {"design": "independent"}, "`y_true` must have the labels of each sample"),
        ([0, 1, 0, 1], {"design": "same"}, "`design` must be one of 'paired', 'independent'"),
        ({"a": [0, 1, 0, 1], "b": [1, 2, 1, 2]}, {"design": "independent"}, "the same classes in both samples"),
    ],
)
def test_arguments_are_checked(y_true, settings, words):
    with pytest.raises(ValueError, match=words):
        bayescm.curves.auc_difference(y_true, {"a": [1, 2, 3, 4], "b": [4, 2, 3, 1]}, **settings)
