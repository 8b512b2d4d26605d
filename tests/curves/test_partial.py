"""Partial areas: against scikit-learn, derivatives in the weights, the posterior of the curve, simulation."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

import bayescm
from bayescm.curves.area_samples import check_items
from bayescm.curves.partial import PartialAreas
from bayescm.curves.recalls import davis_goadrich, mean_precision

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


def test_the_whole_range_is_the_whole_area():
    y, score = sample(2, decimals=1)
    part, whole = (bayescm.auc(y, score, method="delong", fpr_range=ends) for ends in ((0, 1), None))
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
    assert bayescm.auc(y, score, method="delong", fpr_range=ends)["se"].item() == pytest.approx(variance**0.5, rel=1e-3)


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_coverage_and_standard_error_over_repeated_samples():
    rng = np.random.default_rng(8)
    y = np.repeat([0, 1], 80)
    u = np.linspace(0, 0.2, 20_001)
    truth = np.trapezoid(stats.norm.sf(stats.norm.isf(u) - 1.5), u)
    points, errors = [], []
    for _ in range(400):
        found = bayescm.auc(y, rng.normal(1.5 * y), method="delong", fpr_range=(0, 0.2))
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
    found = {m: bayescm.curves.auc_difference(y, {"a": one, "b": other}, method=m, fpr_range=ends, random_seed=1)
             for m in ("delong", "bootstrap", "bayesian")}  # fmt: skip
    assert found["delong"]["point"].item() == pytest.approx(roc(y, one, ends) - roc(y, other, ends), abs=1e-9)
    assert found["bootstrap"]["se"].item() == pytest.approx(found["delong"]["se"].item(), rel=0.1)
    np.testing.assert_allclose(found["bayesian"]["interval"], found["delong"]["interval"], atol=0.012)
    both = bayescm.auc(y, {"a": one, "b": other}, method="delong", fpr_range=ends)["covariance"].values
    assert found["delong"]["se"].item() == pytest.approx((both[0, 0] + both[1, 1] - 2 * both[0, 1]) ** 0.5, rel=1e-9)
    apart = bayescm.curves.auc_difference(
        {"a": y, "b": y}, {"a": one, "b": other}, method="delong", design="independent", fpr_range=ends
    )
    assert apart["se"].item() == pytest.approx((both[0, 0] + both[1, 1]) ** 0.5, rel=1e-9)
    assert "over false positive rates from 0 to 0.3" in found["delong"].bayescm.sentence


@pytest.mark.slow
def test_no_difference_is_rejected_as_often_as_stated():
    rng = np.random.default_rng(10)
    y = np.repeat([0, 1], 60)
    rejected = 0
    for _ in range(400):
        common = rng.normal(size=120) + 1.2 * y
        scores = {name: common + rng.normal(size=120) for name in "ab"}
        rejected += (
            bayescm.curves.auc_difference(y, scores, method="delong", fpr_range=(0, 0.3))["p_value"].item() < 0.05
        )
    assert stats.binomtest(rejected, 400, 0.05).pvalue > 1e-4


def test_edges_and_wrong_input():
    y = np.repeat([0, 1], [20, 10])
    with pytest.warns(UserWarning, match="not certainty"):
        perfect = bayescm.auc(y, np.arange(30), method="delong", fpr_range=(0, 0.1))
    assert perfect["point"].item() == pytest.approx(0.1)
    assert np.isnan(perfect["interval"]).all()
    answered = bayescm.auc(y, np.arange(30), fpr_range=(0, 0.1), random_seed=1)["interval"].values
    assert 0 < answered[0] < 0.09 < answered[1] < 0.1
    with pytest.warns(UserWarning, match="all draws have the area"):
        assert bayescm.auc(y, np.zeros(30), fpr_range=(0, 0.5), random_seed=1)["point"] == 0.125
    clipped = bayescm.auc(*sample(11, 4, 5), fpr_range=(0, 0.5), method="delong")
    assert (clipped["interval"] >= 0).all()
    assert (clipped["interval"] <= 0.5).all()
    for wrong in ((0.5, 0.1), (0, 2), (0.1,), "ab", (0.1, 0.1), (np.nan, 1)):
        with pytest.raises((ValueError, TypeError), match="`fpr_range`"):
            bayescm.auc(*sample(11), fpr_range=wrong)
        with pytest.raises((ValueError, TypeError), match="`recall_range`"):
            bayescm.aucpr(*sample(11), recall_range=wrong)
    with pytest.raises(ValueError, match="doesn't serve a partial area"):
        bayescm.auc(*sample(11), fpr_range=(0, 0.1), method="bca")
    with pytest.raises(ValueError, match="go with `recall_range`"):
        bayescm.aucpr(*sample(11), recall_range=(0.2, 1), method="logit")
    with pytest.raises(ValueError, match="go with `recall_range`"):
        bayescm.aucpr(*sample(11), recall_range=(0.2, 1), estimator="binormal")


def test_mean_precision_of_a_polygon_is_that_of_its_points():
    t, f = np.array([[0, 0.1, 0.4, 0.4, 0.9, 1]]), np.array([[0, 0.0, 0.2, 0.3, 0.3, 1]])
    for ends, odds in [((0, 1), 2.0), ((0.2, 1), 0.1), ((0.05, 0.63), 1e6)]:
        fine = np.linspace(*ends, 400_001)[:-1] + (ends[1] - ends[0]) / 800_000
        place = np.searchsorted(t[0], fine, side="left") - 1
        share = (fine - t[0, place]) / (t[0, place + 1] - t[0, place])
        at = f[0, place] + share * (f[0, place + 1] - f[0, place])
        found = davis_goadrich(t, f, odds, ends)
        assert found == pytest.approx((fine / (fine + odds * at)).mean(), rel=1e-5)


def test_one_control_in_each_cell_is_integrated_exactly():
    recall, rng = np.linspace(0.1, 0.9, 9), np.random.default_rng(1)
    at = recall[:-1] + rng.uniform(size=8) * 0.1  # the false positive rate steps up by 0.1 there
    fpr = 0.05 + 0.1 * np.arange(9)
    left = np.concatenate([[0.3], 0.3 + np.cumsum(fpr[:-1] * (at - recall[:-1]) + fpr[1:] * (recall[1:] - at))])
    fine = np.linspace(0.1, 0.9, 800_001)[:-1] + 5e-7
    stairs = 0.05 + 0.1 * np.searchsorted(at, fine)
    for odds in (0.2, 5.0):
        found = mean_precision(recall, fpr, left, np.array([odds]))
        assert found == pytest.approx((fine / (fine + odds * stairs)).mean(), abs=1e-6)


@pytest.mark.parametrize("prior", ["prior_item", "smoothed", "bootstrap"])
def test_the_posterior_of_the_mean_precision_over_all_recalls_is_that_of_the_area(prior):
    y, score = sample(7, 12, 200, decimals=1)
    drawn = bayescm.curve_posterior(y, score, prior=prior, recall_range=(0, 1), over=None, random_seed=1)["posterior"]
    np.testing.assert_allclose(drawn["partial_pr_area"], drawn["pr_area"], atol=2e-3)
    assert abs((drawn["partial_pr_area"] - drawn["pr_area"]).mean()) < 1.5e-4


def test_the_posterior_over_recalls_is_the_mean_of_the_drawn_precision():
    y, score = sample(8, 12, 60)
    of = {"prior": "bootstrap", "random_seed": 1, "prevalence": 0.3, "draws": 100}
    post = bayescm.curve_posterior(y, score, recall_range=(0.25, 0.75), points=4001, **of)["posterior"]
    other = bayescm.curve_posterior(y, score, **of)["posterior"]
    inside = post["precision"].sel(recall=slice(0.25, 0.75))
    np.testing.assert_allclose(post["partial_pr_area"], inside.mean("recall"), atol=3e-3)
    np.testing.assert_array_equal(post["auc"], other["auc"])  # a range changes no draw


@pytest.mark.parametrize("method", ["bayesian", "smoothed"])
def test_credible_intervals_over_recalls_are_those_of_the_curve(method):
    y, score = sample(9, 20, 60)
    found = bayescm.aucpr(y, score, recall_range=(0.2, 1), method=method, random_seed=3)
    prior = "prior_item" if method == "bayesian" else method
    post = bayescm.curve_posterior(
        y, score, over=None, prior=prior, recall_range=(0.2, 1), prevalence="fixed", random_seed=3, chains=1, draws=2000
    )["posterior"]
    np.testing.assert_allclose(found["interval"], post["partial_pr_area"].quantile([0.025, 0.975]), atol=1e-12)
    assert found["median"].item() == pytest.approx(post["partial_pr_area"].median().item())


def test_davis_and_goadrich():
    y, score = sample(10, 20, 60, decimals=0)
    names, methods = ["average_precision", "davis_goadrich"], ["logit", "bootstrap", "bayesian"]
    found = bayescm.aucpr(y, score, estimator=names, method=methods, random_seed=1)
    f, t, _ = roc_curve(y, score, drop_intermediate=False)
    fine = np.linspace(0, 1, 400_001)[:-1] + 1 / 800_000
    below = np.interp(fine, t + 1e-13 * np.arange(len(t)), f)
    assert found["point"].sel(estimator="davis_goadrich").item() == pytest.approx(
        (fine / (fine + 3 * below)).mean(), abs=1e-4
    )
    whole = bayescm.aucpr(y, score, method=methods, random_seed=1)
    same = found.sel(estimator="average_precision")
    np.testing.assert_allclose(same["point"], whole["point"], atol=1e-12)
    np.testing.assert_allclose(same["interval"][0], whole["interval"][0], atol=1e-12)
    np.testing.assert_allclose(same["interval"][2], whole["interval"][2], atol=1e-12)
    np.testing.assert_allclose(same["interval"][1], whole["interval"][1], atol=0.03)  # other resamples
    assert (found["interval"].isel(ci_bound=0) < found["point"]).all()
    with pytest.raises(ValueError, match="doesn't go with estimator='davis_goadrich'"):
        bayescm.aucpr(y, score, estimator="davis_goadrich", method="bca")
    untied = bayescm.aucpr(*sample(10, 20, 60), estimator=names)["point"].values
    assert untied[1] < untied[0]  # a case's own precision is the largest on its step


def test_davis_and_goadrich_where_the_range_ends_at_a_point():
    y, score = [1, 1, 1, 0, 1, 0, 0, 0], [5, 4, 4, 4, 1, 1, 1, 1]
    found = bayescm.aucpr(y, score, estimator="davis_goadrich", recall_range=(0, 0.5), random_seed=1)["point"].item()
    at = np.linspace(0.25, 0.5, 200_001)[:-1] + 0.25 / 400_000
    middle = (at / (at + (at - 0.25) / 2)).mean()
    assert found == pytest.approx((1.0 + middle) / 2)


def test_average_precisions_of_two_systems_are_compared_on_the_same_items():
    y, one = sample(11, 40, 80)
    scores = {"a": one, "b": one + np.random.default_rng(12).normal(size=len(y))}
    for ends in [(0, 1), (0.2, 1)]:
        alone = [bayescm.aucpr(y, score, recall_range=ends, random_seed=1)["point"].item() for score in scores.values()]
        found = bayescm.curves.auc_difference(y, scores, method="bootstrap", recall_range=ends, random_seed=1)
        np.testing.assert_allclose(found["auc"], alone, atol=1e-12)
        assert found["point"].item() == pytest.approx(alone[0] - alone[1])
        assert found.attrs["method"] == "bootstrap"
        assert found.attrs["recall_range"] == str(list(map(float, ends)))
        posterior = bayescm.curves.auc_difference(y, scores, recall_range=ends, random_seed=1)
        np.testing.assert_allclose(posterior["interval"], found["interval"], atol=0.06)
    assert "average precision" in found.bayescm.sentence
    back = bayescm.curves.auc_difference(
        y, dict(reversed(scores.items())), method="bootstrap", recall_range=ends, random_seed=1
    )
    np.testing.assert_allclose(back["interval"], -found["interval"].values[::-1], atol=5e-3)
    apart = bayescm.curves.auc_difference(
        dict.fromkeys(scores, y), scores, method="bootstrap", recall_range=ends, design="independent", random_seed=1
    )
    assert apart["se"] > found["se"]
    with pytest.raises(ValueError, match="has no method='delong'"):
        bayescm.curves.auc_difference(y, scores, recall_range=ends, method="delong")
    with pytest.raises(ValueError, match="give one"):
        bayescm.curves.auc_difference(y, scores, recall_range=ends, fpr_range=(0, 1), method="bootstrap")


@pytest.mark.parametrize("decimals", [None, 0])
@pytest.mark.parametrize("end", [0.1, 0.37, 1.0])
def test_corrections_are_scikit_learn_s_of_either_class(end, decimals):
    y, score = sample(1, decimals=decimals)
    of_controls = bayescm.auc(y, score, fpr_range=(0, end), method="delong")
    assert of_controls["corrected"].item() == pytest.approx(roc_auc_score(y, score, max_fpr=end), abs=1e-12)
    of_cases = bayescm.auc(y, score, tpr_range=(1 - end, 1), method="delong")  # controls are found, from below
    assert of_cases["corrected"].item() == pytest.approx(roc_auc_score(1 - y, -score, max_fpr=end), abs=1e-12)
    for found in (of_controls, of_cases):
        stretched = np.diff(found["interval"]) / (end * (1 - end / 2)) / 2
        np.testing.assert_allclose(np.diff(found["corrected_interval"]), stretched, atol=1e-12)


@pytest.mark.parametrize("method", ["delong", "bootstrap", "bayesian"])
@pytest.mark.parametrize("ends", [(0.75, 1), (0.25, 0.625), (0, 1)])
def test_ranges_of_cases_are_those_of_controls_with_the_classes_exchanged(ends, method):
    y, one = sample(13, 40, 40, decimals=1)
    other = one + np.random.default_rng(14).normal(size=len(y)).round(1)
    turned = {"fpr_range": (1 - ends[1], 1 - ends[0]), "method": method, "random_seed": 1}
    alone = bayescm.auc(y, one, tpr_range=ends, method=method, random_seed=1)
    same = bayescm.auc(1 - y, -one, **turned)
    near = 0.01 if method != "delong" else 1e-12  # other random numbers
    assert alone["point"].item() == pytest.approx(same["point"].item(), abs=1e-12)
    np.testing.assert_allclose(alone["interval"], same["interval"], atol=near)
    np.testing.assert_allclose(alone["corrected_interval"], same["corrected_interval"], atol=near * 5)
    both = bayescm.curves.auc_difference(y, {"a": one, "b": other}, tpr_range=ends, method=method, random_seed=1)
    back = bayescm.curves.auc_difference(1 - y, {"a": -one, "b": -other}, **turned)
    for name in ("point", "interval", "corrected", "corrected_interval"):
        np.testing.assert_allclose(both[name], back[name], atol=near * 5, err_msg=name)
    areas = [bayescm.auc(y, score, tpr_range=ends, method="delong")["corrected"].item() for score in (one, other)]
    assert both["corrected"].item() == pytest.approx(areas[0] - areas[1], abs=1e-12)
    assert f"over true positive rates from {ends[0]:g} to {ends[1]:g}" in both.bayescm.sentence


def test_true_positive_rates_by_hand():
    """Cases 4, 3, 1 and controls 2, 0: beyond a recall of 2/3 the curve has passed one of two controls."""
    found = bayescm.auc([1, 1, 1, 0, 0], [4, 3, 1, 2, 0], tpr_range=(0.5, 1), method="delong")
    assert found["point"].item() == pytest.approx(1 / 6 * 1 + 1 / 3 * 0.5, abs=1e-15)
    assert found["corrected"].item() == pytest.approx((1 + (1 / 3 - 1 / 8) / (1 / 2 - 1 / 8)) / 2, abs=1e-15)
    assert bayescm.auc([0, 1], [0, 1], tpr_range=(0.5, 1), random_seed=1)["corrected"].item() == 1.0
    with pytest.raises(ValueError, match="give one"):
        bayescm.auc([0, 1], [0, 1], tpr_range=(0.5, 1), fpr_range=(0, 0.1))
    with pytest.raises(ValueError, match="`tpr_range` must be two rates"):
        bayescm.auc([0, 1], [0, 1], tpr_range=(1, 0.5))
    assert "corrected" not in bayescm.aucpr([0, 1, 0], [0, 1, 2], recall_range=(0.5, 1), random_seed=1)
