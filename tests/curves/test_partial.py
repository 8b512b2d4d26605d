"""Partial areas: against scikit-learn, derivatives in the weights, the posterior of the curve, simulation."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

import bayescm
from bayescm.curves.area_samples import check_items
from bayescm.curves.partial import PartialAreas

RANGES = [(0, 0.1), (0, 0.37), (0.2, 0.7), (0, 1)]


def sample(seed, cases=40, controls=60, decimals=None):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [controls, cases])
    score = rng.normal(1.0 * y)
    return y, score if decimals is None else np.round(score, decimals)


def roc(y, score, ends, weight=None):
    f, t, _ = roc_curve(y, score, sample_weight=weight, drop_intermediate=False)
    points = np.unique(np.concatenate([f[(f > ends[0]) & (f < ends[1])], ends]))
    inner = np.sort(np.concatenate([points[:-1] + 1e-12, points[1:] - 1e-12]))  # either side of every vertical step
    return np.trapezoid(np.interp(inner, f, t), inner)


@pytest.mark.parametrize("decimals", [None, 0])
@pytest.mark.parametrize("ends", RANGES)
def test_points_are_the_area_below_scikit_learn_s_curve(decimals, ends):
    y, score = sample(1, decimals=decimals)
    found = bayescm.auc(y, score, fpr_range=ends)
    assert found["point"].item() == pytest.approx(roc(y, score, ends), abs=1e-9)
    assert found.attrs["fpr_range"] == f"[{float(ends[0])}, {float(ends[1])}]"
    if ends[0] == 0 and ends[1] < 1:
        least = ends[1] ** 2 / 2
        mcclish = 0.5 * (1 + (found["point"].item() - least) / (ends[1] - least))
        assert mcclish == pytest.approx(roc_auc_score(y, score, max_fpr=ends[1]), abs=1e-9)


def test_the_whole_range_is_the_whole_area():
    y, score = sample(2, decimals=1)
    part, whole = bayescm.auc(y, score, fpr_range=(0, 1)), bayescm.auc(y, score)
    for name in ("point", "se", "interval"):
        np.testing.assert_allclose(part[name], whole[name], atol=1e-12)
    part = bayescm.aucpr(y, score, recall_range=(0, 1), random_seed=1)
    assert part["point"].item() == pytest.approx(average_precision_score(y, score), abs=1e-12)


@pytest.mark.parametrize("ends", [(0, 0.123), (0.21, 0.654)])
@pytest.mark.parametrize("decimals", [None, 0])
def test_the_variance_is_that_of_the_derivatives_in_the_weights(ends, decimals):
    y, score = sample(3, 20, 30, decimals)
    variance, step = 0.0, 1e-5
    for c in (0, 1):
        places, slopes = np.flatnonzero(y == c), []
        for place in places:
            sides = []
            for sign in (1, -1):
                weight = np.ones(len(y))
                weight[place] += sign * step
                sides.append(roc(y, score, ends, weight))
            slopes.append((sides[0] - sides[1]) / (2 * step) * len(places))
        variance += np.var(slopes, ddof=1) / len(places)
    assert bayescm.auc(y, score, fpr_range=ends)["se"].item() == pytest.approx(variance**0.5, rel=1e-3)


@pytest.mark.parametrize("ends", [(0.2, 1), (0.31, 0.77)])
def test_average_precision_over_recalls(ends):
    y, score = sample(4, decimals=1)
    precision, recall, _ = precision_recall_curve(y, score)
    precision, recall = precision[::-1], recall[::-1]
    fine = np.linspace(*ends, 400_001)[:-1] + (ends[1] - ends[0]) / 800_000
    step = precision[np.searchsorted(recall, fine)]  # that of the case which is found next
    found = bayescm.aucpr(y, score, recall_range=ends, random_seed=1)
    assert found["point"].item() == pytest.approx(step.mean(), abs=1e-5)
    assert found["interval"].values[0] < found["point"] < found["interval"].values[1]
    assert "average precision over recalls from" in found.bayescm.sentence


def test_average_precision_at_another_prevalence_counts_controls_otherwise():
    y, score = sample(5, 30, 30)
    more_y, more_score = np.concatenate([y, np.zeros(60, int)]), np.concatenate([score, score[y == 0], score[y == 0]])
    wanted = bayescm.aucpr(more_y, more_score, recall_range=(0.2, 1), random_seed=1)["point"]
    with pytest.warns(UserWarning, match="`point` is too large"):
        found = bayescm.aucpr(y, score, recall_range=(0.2, 1), prevalence=0.25, random_seed=1)
    assert found["point"].item() == pytest.approx(wanted.item(), abs=1e-12)


def test_resamples_are_areas_of_resampled_items():
    y, score = sample(6, 15, 25, 1)
    areas = PartialAreas(check_items(y, score), ("auc",), 1, 0.95, 2000, 0, 1, ends=(0.1, 0.6))
    rng = np.random.default_rng(1)
    mine = []
    for _ in range(2000):
        pick = np.concatenate([rng.choice(np.flatnonzero(y == c), (y == c).sum()) for c in (0, 1)])
        mine.append(roc(y[pick], score[pick], (0.1, 0.6)))
    assert stats.ks_2samp(mine, areas.resampled.ravel()).pvalue > 1e-4


def test_methods_agree_on_many_items():
    y, score = sample(7, 300, 400)
    found = bayescm.auc(
        y, score, fpr_range=(0, 0.2), method=["delong", "bootstrap", "bayesian", "smoothed"], random_seed=1
    )
    np.testing.assert_allclose(found["interval"], np.tile(found["interval"][0], (4, 1)), atol=0.006)
    curve = bayescm.curve_posterior(y, score, fpr_range=(0, 0.2), over=None, random_seed=1, prevalence="fixed")
    drawn = curve["posterior"]["partial_auc_fpr"].values
    assert found["median"].sel(ci_method="bayesian").item() == pytest.approx(np.median(drawn), abs=0.001)


def test_coverage_and_standard_error_over_repeated_samples():
    rng = np.random.default_rng(8)
    y = np.repeat([0, 1], 80)
    u = np.linspace(0, 0.2, 20_001)
    truth = np.trapezoid(stats.norm.sf(stats.norm.isf(u) - 1.5), u)
    points, errors = [], []
    for _ in range(400):
        found = bayescm.auc(y, rng.normal(1.5 * y), fpr_range=(0, 0.2))
        points.append(found["point"].item())
        errors.append(found["se"].item())
    assert np.mean(errors) == pytest.approx(np.std(points), rel=0.12)
    assert np.mean(np.abs(np.array(points) - truth) < 1.96 * np.array(errors)) > 0.9


def test_a_paired_difference_of_partial_areas():
    rng = np.random.default_rng(9)
    y = np.repeat([0, 1], 100)
    one = rng.normal(1.2 * y)
    other = one + 0.5 * rng.normal(size=200)
    ends = (0, 0.3)
    found = {m: bayescm.auc_difference(y, {"a": one, "b": other}, method=m, fpr_range=ends, random_seed=1)
             for m in ("delong", "bootstrap", "bayesian")}  # fmt: skip
    assert found["delong"]["point"].item() == pytest.approx(roc(y, one, ends) - roc(y, other, ends), abs=1e-9)
    assert found["bootstrap"]["se"].item() == pytest.approx(found["delong"]["se"].item(), rel=0.1)
    np.testing.assert_allclose(found["bayesian"]["interval"], found["delong"]["interval"], atol=0.012)
    both = bayescm.auc(y, {"a": one, "b": other}, fpr_range=ends)["covariance"].values
    assert found["delong"]["se"].item() == pytest.approx((both[0, 0] + both[1, 1] - 2 * both[0, 1]) ** 0.5, rel=1e-9)
    apart = bayescm.auc_difference({"a": y, "b": y}, {"a": one, "b": other}, design="independent", fpr_range=ends)
    assert apart["se"].item() == pytest.approx((both[0, 0] + both[1, 1]) ** 0.5, rel=1e-9)
    assert "over false positive rates from 0 to 0.3" in found["delong"].bayescm.sentence


def test_no_difference_is_rejected_as_often_as_stated():
    rng = np.random.default_rng(10)
    y = np.repeat([0, 1], 60)
    rejected = 0
    for _ in range(400):
        common = rng.normal(size=120) + 1.2 * y
        scores = {name: common + rng.normal(size=120) for name in "ab"}
        rejected += bayescm.auc_difference(y, scores, fpr_range=(0, 0.3))["p_value"].item() < 0.05
    assert stats.binomtest(rejected, 400, 0.05).pvalue > 1e-4


def test_edges_and_wrong_input():
    y = np.repeat([0, 1], [20, 10])
    with pytest.warns(UserWarning, match="not certainty"):
        perfect = bayescm.auc(y, np.arange(30), fpr_range=(0, 0.1))
    assert perfect["point"].item() == pytest.approx(0.1)
    assert np.isnan(perfect["interval"]).all()
    assert bayescm.auc(y, np.zeros(30), fpr_range=(0, 0.5), method="bayesian", random_seed=1)["point"] == 0.125
    clipped = bayescm.auc(*sample(11, 4, 5), fpr_range=(0, 0.5))
    assert (clipped["interval"] >= 0).all()
    assert (clipped["interval"] <= 0.5).all()
    for wrong in ((0.5, 0.1), (0, 2), (0.1,), "ab", (0.1, 0.1), (np.nan, 1)):
        with pytest.raises((ValueError, TypeError), match="`fpr_range`"):
            bayescm.auc(*sample(11), fpr_range=wrong)
        with pytest.raises((ValueError, TypeError), match="`recall_range`"):
            bayescm.aucpr(*sample(11), recall_range=wrong)
    with pytest.raises(ValueError, match="doesn't serve a partial area"):
        bayescm.auc(*sample(11), fpr_range=(0, 0.1), method="bca")
    with pytest.raises(ValueError, match="`recall_range` needs"):
        bayescm.aucpr(*sample(11), recall_range=(0.2, 1), method="logit")
    with pytest.raises(ValueError, match="`recall_range` needs"):
        bayescm.aucpr(*sample(11), recall_range=(0.2, 1), estimator="binormal")
