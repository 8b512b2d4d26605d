"""Two ROC curves by permutations, at one point and by t; areas of items in units by Obuchowski's variance."""

import itertools

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_curve

import bayescm
from bayescm.curves import permuted
from bayescm.curves.area_samples import check_items
from bayescm.curves.delong import covariance
from bayescm.curves.partial import height

difference = bayescm.curves.auc_difference


def pair(seed, n=40, m=60, decimals=None):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [m, n])
    common = rng.normal(size=n + m)
    scores = {name: common + rng.normal(y) for name in "ab"}
    return y, scores if decimals is None else {name: one.round(decimals) for name, one in scores.items()}


def test_p_values_by_t_are_welch_s():  # pROC's: of as many items as both classes of a sample have
    (y, one), (other_y, other) = pair(1, 9, 14), pair(2, 12, 7)
    labels, scores = {"a": y, "b": other_y}, {"a": one["a"], "b": other["b"]}
    found = difference(labels, scores, method="delong_t", design="independent", ci_prob=0.9)
    alone = [bayescm.auc(labels[name], scores[name], method="delong") for name in "ab"]
    sizes = [len(y), len(other_y)]
    means = [one["point"].item() for one in alone]
    spread = [one["se"].item() * n**0.5 for one, n in zip(alone, sizes, strict=True)]
    welch = stats.ttest_ind_from_stats(means[0], spread[0], sizes[0], means[1], spread[1], sizes[1], equal_var=False)
    assert found["p_value"].item() == pytest.approx(welch.pvalue, rel=1e-10)
    variances = np.square([one["se"].item() for one in alone])
    df = variances.sum() ** 2 / (variances**2 / (np.array(sizes) - 1)).sum()
    half = stats.t.ppf(0.95, df) * variances.sum() ** 0.5
    np.testing.assert_allclose(found["interval"], [found["point"] - half, found["point"] + half], rtol=1e-10)
    normal = difference(labels, scores, method="delong", design="independent")
    assert normal["p_value"] < found["p_value"]
    with pytest.raises(ValueError, match="is for design='independent'"):
        difference(y, one, method="delong_t")


def by_definition(wins, of_cases, of_controls):
    """Return Obuchowski's covariance (S, S) of tables of wins (S, cases, controls), unit by unit."""
    area, (n, m) = wins.mean((1, 2)), wins.shape[1:]
    units = np.union1d(of_cases, of_controls)
    sums = [
        np.array([(placed[:, of == unit] - area[:, None]).sum(1) for unit in units])
        for placed, of in ((wins.mean(2), of_cases), (wins.mean(1), of_controls))
    ]
    held = [len(np.unique(of)) for of in (of_cases, of_controls)]
    s10, s01 = (k / ((k - 1) * size) * one.T @ one for k, size, one in zip(held, (n, m), sums, strict=True))
    s11 = len(units) / (len(units) - 1) * sums[0].T @ sums[1]
    return s10 / n + s01 / m + (s11 + s11.T) / (n * m)


def in_units(seed, units=25, tied=1):
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), rng.integers(1, 7, units))
    y = (rng.random(len(unit)) < 0.4).astype(int)
    common = rng.normal(size=units)[unit] + 1.2 * y
    return y, {name: (common + rng.normal(size=len(unit))).round(tied) for name in "ab"}, unit


def test_areas_of_units_have_obuchowski_s_covariance():
    y, scores, unit = in_units(3)
    wins = np.stack([
        np.greater.outer(one[y == 1], one[y == 0]) + np.equal.outer(one[y == 1], one[y == 0]) / 2
        for one in scores.values()
    ])  # fmt: skip
    expected = by_definition(wins, unit[y == 1], unit[y == 0])
    found = bayescm.auc(y, scores, unit=unit, method=["delong", "logit_delong"])
    np.testing.assert_allclose(found["covariance"], expected, rtol=1e-10)
    np.testing.assert_allclose(found["se"].sel(ci_method="delong"), np.diag(expected) ** 0.5, rtol=1e-10)
    both = difference(y, scores, unit=unit, method="delong")
    assert both["se"].item() == pytest.approx((expected[0, 0] + expected[1, 1] - 2 * expected[0, 1]) ** 0.5, rel=1e-9)
    assert "independent units" in both.attrs["assumptions"]
    placed = [np.random.default_rng(4).random((2, n)) for n in (7, 9)]
    alone = covariance(placed, [np.arange(7), np.arange(7, 16)])
    np.testing.assert_allclose(alone, covariance(placed, None), rtol=1e-12)  # units of one item


@pytest.mark.slow
def test_units_hold_what_items_do_not():
    held = np.zeros(2)
    for seed in range(300):
        y, scores, unit = in_units(1000 + seed, 40)
        lower, upper = bayescm.auc(y, scores["a"], unit=unit, method="delong")["interval"].values
        low, high = bayescm.auc(y, scores["a"], method="delong")["interval"].values
        truth = stats.norm.cdf(1.2 / 2)  # of items of two units
        held += [lower < truth < upper, low < truth < high]
    assert stats.binomtest(int(held[0]), 300, 0.95).pvalue > 1e-4
    assert held[1] < held[0]


def test_what_units_refuse():
    y, scores, unit = in_units(5)
    for method in ("bootstrap", "hanley_mcneil"):
        with pytest.raises(ValueError, match="come in units: 'bayesian', 'delong', 'logit_delong'"):
            bayescm.auc(y, scores["a"], unit=unit, method=method)
    for method in ("bootstrap", "venkatraman"):
        with pytest.raises(ValueError, match="come in units"):
            difference(y, scores, unit=unit, method=method)
    with pytest.raises(ValueError, match=r"come in units: 'bayesian'\."):
        bayescm.auc([0, 1] * 4, range(8), unit=([0, 0, 0, 0, 1, 1, 1, 1], [0, 1, 2, 3] * 2), method="delong")
    with pytest.warns(UserWarning, match="one unit with cases, or with controls"):
        bayescm.auc([1, 1, 0, 0], [1, 3, 2, 0], unit=[0, 0, 1, 2], method="delong")


@pytest.mark.parametrize("decimals", [None, 0])
@pytest.mark.parametrize("at", [0.0, 0.1, 0.35])
def test_rates_are_the_highest_of_scikit_learn_s_curve(at, decimals):
    y, scores = pair(6, 20, 40, decimals)
    for name, turned in (("at_specificity", False), ("at_sensitivity", True)):
        expected = []
        for score in scores.values():
            f, t, _ = roc_curve(1 - y if turned else y, -score if turned else score, drop_intermediate=False)
            expected.append(np.interp(at + 1e-10, f, t))  # beyond a vertical step
        found = difference(y, scores, method="bootstrap", random_seed=1, **{name: 1 - at})
        np.testing.assert_allclose(found["auc"], expected, atol=1e-8)
        assert found["point"].item() == pytest.approx(expected[0] - expected[1], abs=1e-8)
        assert found.attrs[name] == 1 - at
        assert "corrected" not in found


@pytest.mark.slow
def test_rates_by_hand_and_their_resamples():
    """One of ten controls beats all but three of five cases; a specificity of .9 lets it pass, rounding or not."""
    t, f = np.array([[0, 0.6, 0.6, 1, 1]]), np.array([[0, 0, 0.1, 0.1, 1]])
    assert height(t, f, 1 - 0.9) == pytest.approx([1.0])
    assert height(t, f, 0.05) == pytest.approx([0.6])
    assert height(np.array([[0, 0.5, 1]]), np.array([[0, 0.2, 1]]), 0.1) == pytest.approx([0.25])  # a tie
    y, scores = pair(7, 80, 100)
    found = difference(y, scores, method="bootstrap", at_specificity=0.8, random_seed=1)
    rng, mine = np.random.default_rng(1), []
    for _ in range(1000):
        pick = np.concatenate([rng.choice(np.flatnonzero(y == c), (y == c).sum()) for c in (0, 1)])
        both = []
        for score in scores.values():
            f, t, _ = roc_curve(y[pick], score[pick], drop_intermediate=False)
            both.append(np.interp(0.2 + 1e-10, f, t))
        mine.append(both[0] - both[1])
    assert found["se"].item() == pytest.approx(np.std(mine), rel=0.1)
    drawn = difference(y, scores, at_specificity=0.8, random_seed=1)
    curves = bayescm.curve_posterior(
        y, scores, over=None, at_specificity=0.8, prevalence="fixed", chains=1, draws=2000, random_seed=1
    )["posterior"]["sensitivity_at_specificity"].values[0, :, :, 0]
    ends = np.quantile(curves[:, 0] - curves[:, 1], [0.025, 0.975])
    np.testing.assert_allclose(drawn["interval"], ends, atol=1e-12)
    assert "sensitivities of" in drawn.bayescm.sentence
    assert "at a specificity of 0.8" in drawn.bayescm.sentence


def test_what_rates_refuse():
    y, scores = pair(8)
    for method in ("delong", "venkatraman"):
        with pytest.raises(ValueError, match="`at_specificity` has no method"):
            difference(y, scores, method=method, at_specificity=0.9)
    with pytest.raises(ValueError, match="give one"):
        difference(y, scores, at_specificity=0.9, at_sensitivity=0.9)
    for wrong in (1.1, np.nan, "x", [0.9, 0.8]):
        with pytest.raises((ValueError, TypeError), match="`at_sensitivity`"):
            difference(y, scores, at_sensitivity=wrong)
    with pytest.raises(ValueError, match="`fpr_range` has no method='venkatraman'"):
        difference(y, scores, method="venkatraman", fpr_range=(0, 0.1))


def errors(places, y):
    """Return how many items are called wrongly where the k lowest are called negative, for every k."""
    return np.array([((places <= k) & (y == 1)).sum() + ((places > k) & (y == 0)).sum() for k in range(1, len(y) + 1)])


def test_the_area_between_curves_is_venkatraman_and_begg_s_sum():
    y, scores = pair(9, 12, 17)
    places = [stats.rankdata(one) for one in scores.values()]
    expected = np.abs(errors(places[0], y) - errors(places[1], y)).sum() / len(y) ** 2
    assert permuted.apart(list(scores.values()), [y == 1] * 2, 12 / 29) == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
def test_p_values_of_few_items_are_those_of_all_exchanges():
    y = np.array([0, 0, 0, 1, 1, 0, 1, 1])
    scores = {"a": [1, 2, 3, 4, 5, 6, 7, 8], "b": [5, 1, 8, 3, 2, 6, 7, 4]}
    one, other = (np.array(score, float) for score in scores.values())
    rng, reached, total = np.random.default_rng(1), 0, 0
    seen = np.abs(errors(one, y) - errors(other, y)).sum()
    for swap in itertools.product([False, True], repeat=8):
        for _ in range(10):  # ties between places that were exchanged, at random
            places = [
                stats.rankdata(np.where(swap, b, a) + rng.uniform(-0.5, 0.5, 8))
                for a, b in ((one, other), (other, one))
            ]
            reached += np.abs(errors(places[0], y) - errors(places[1], y)).sum() >= seen
            total += 1
    found = difference(y, scores, method="venkatraman", draws=20_000, random_seed=2)
    assert found["p_value"].item() == pytest.approx(reached / total, abs=0.02)
    assert np.isnan(found["interval"]).all()
    assert np.isnan(found["se"])
    assert "reason" not in found.attrs


def test_two_samples_by_hand():
    """Half of either sample are cases: of the first all are above the controls, of the second below."""
    case = np.array([False, False, True, True])
    assert permuted.apart([np.arange(4.0), -np.arange(4.0)], [case, case], 0.5) == pytest.approx(0.5)  # a triangle
    uneven = np.array([False, True, False, True, True, False])
    line = permuted._errors(np.arange(6.0), uneven, 0.25)
    np.testing.assert_allclose(line[0], np.array([0, 3, 4, 7, 8, 9, 12]) / 12)
    np.testing.assert_allclose(line[1], np.array([9, 6, 7, 4, 5, 6, 3]) / 12)


@pytest.mark.slow
@pytest.mark.parametrize("paired", [True, False])
def test_equal_curves_are_told_apart_as_often_as_stated(paired):
    rng, small = np.random.default_rng(11), []
    for seed in range(120):
        (y, one), (other_y, other) = pair(100 + seed, 15, 25, 1), pair(500 + seed, 30, 14, 1)
        second = (one["b"], y == 1) if paired else (np.exp(other["b"]), other_y == 1)  # on another scale
        small.append(permuted.p_value([(one["a"], y == 1), second], rng, 99, paired=paired) <= 0.1)
    assert stats.binomtest(sum(small), 120, 0.1).pvalue > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("design", ["paired", "independent"])
def test_curves_that_cross_are_told_apart_where_areas_are_not(design):
    rng, y = np.random.default_rng(12), np.repeat([0, 1], [300, 300])
    labels = y if design == "paired" else {"a": y, "b": y}
    scores = {"a": rng.normal(1.0 * y), "b": rng.normal(2.3 * y, 1 + 2 * y)}
    found = {m: difference(labels, scores, method=m, design=design, random_seed=1) for m in ("venkatraman", "delong")}
    assert found["delong"]["p_value"] > 0.2
    assert found["venkatraman"]["p_value"] < 0.01
    assert found["venkatraman"].bayescm.sentence.startswith("The ROC curves of")
    assert "differ at 95%" in found["venkatraman"].bayescm.sentence
    again = difference(labels, scores, method="venkatraman", design=design, random_seed=1)
    assert again["p_value"] == found["venkatraman"]["p_value"]


def test_one_ranking_has_one_curve():
    y, scores = pair(13)
    same = difference(y, {"a": scores["a"], "b": scores["a"]}, method="venkatraman", random_seed=1)
    assert same["p_value"].item() == 1.0
    assert check_items(y, scores["a"]).units is None
    with pytest.raises(ValueError, match="two classes"):
        difference([0, 1, 2] * 3, {"a": np.eye(3)[[0, 1, 2] * 3], "b": np.eye(3)[[1, 1, 2] * 3]}, method="venkatraman")
