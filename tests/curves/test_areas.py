"""Estimators of the area under the PR curve, and their intervals, against the paper's definitions."""

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

import bayescm
from bayescm.curves import area_intervals, area_samples, curve_posterior
from bayescm.data.random import Stream

ESTIMATORS = tuple(name for name in area_samples.CODES if name != "auc")
FREE = tuple(name for name in ESTIMATORS if name != "binormal")
SCORES = st.lists(st.tuples(st.booleans(), st.integers(-3, 6)), min_size=2, max_size=14).filter(
    lambda items: 0 < sum(case for case, _ in items) < len(items)
)
PREVALENCE = st.sampled_from([None, 0.5, 0.1, 0.02, 0.9])


def curve(items, prevalence):
    """Return the thresholds' points (recall, precision) from the definition, (0, 1) first."""
    y = [score for case, score in items if case]
    x = [score for case, score in items if not case]
    pi = Fraction(len(y), len(items)) if prevalence is None else Fraction(prevalence)
    points = [(Fraction(0), Fraction(1))]
    for c in sorted({score for _, score in items}, reverse=True):
        recall = Fraction(sum(score >= c for score in y), len(y))
        false = Fraction(sum(score >= c for score in x), len(x))
        points.append((recall, pi * recall / (pi * recall + (1 - pi) * false)))
    return points, pi


def by_recall(points, summary):
    recalls = sorted({recall for recall, _ in points})
    return [(r, summary([p for recall, p in points if recall == r])) for r in recalls]


def median(values):
    ordered = sorted(values)
    return (ordered[(len(values) - 1) // 2] + ordered[len(values) // 2]) / 2


def theorem_1(points):
    """Integrate numerically between neighbours: r / (a r + b), or the second precision from recall 0."""
    area = 0.0
    for (r1, p1), (r2, p2) in itertools.pairwise(points):
        if r1 == 0:
            area += float(r2 * p2)
            continue
        a = 1 + (1 - p2) * r2 / (p2 * (r2 - r1)) - (1 - p1) * r1 / (p1 * (r2 - r1))
        b = (1 - p1) * r1 / p1 - (1 - p2) * r1 * r2 / (p2 * (r2 - r1)) + (1 - p1) * r1**2 / (p1 * (r2 - r1))
        a, b = float(a), float(b)
        area += integrate.quad(lambda r, a=a, b=b: r / (a * r + b), float(r1), float(r2), epsabs=1e-13)[0]
    return area


def hull(items, pi):
    """Return the PR points of the upper convex hull in ROC space: points under no line between two others."""
    y = [score for case, score in items if case]
    x = [score for case, score in items if not case]
    roc = {(Fraction(0), Fraction(0))}
    for c in {score for _, score in items}:
        roc.add((Fraction(sum(s >= c for s in x), len(x)), Fraction(sum(s >= c for s in y), len(y))))

    def below(point):
        chords = ((p, q) for p in roc for q in roc if p[0] <= point[0] <= q[0] and p[0] < q[0] and point not in (p, q))
        under = any(p[1] + (q[1] - p[1]) * (point[0] - p[0]) / (q[0] - p[0]) >= point[1] for p, q in chords)
        return under or any(f == point[0] and t > point[1] for f, t in roc)

    corners = sorted(point for point in roc if point == (0, 0) or not below(point))
    points = [(t, pi * t / (pi * t + (1 - pi) * f) if t + f else Fraction(1)) for f, t in corners]
    return by_recall(points, max)


def literal(name, items, prevalence):
    points, pi = curve(items, prevalence)
    y = [score for case, score in items if case]
    if name == "average_precision":
        thresholds = sorted({score for _, score in items}, reverse=True)
        at = {c: precision for c, (_, precision) in zip(thresholds, points[1:], strict=True)}
        return float(sum(at[score] for score in y) / len(y))
    if name.endswith("trapezoid"):
        most, least = by_recall(points, max), by_recall(points, min if name.startswith("lower") else max)
        pairs = zip(least[:-1], most[1:], strict=True)
        return float(sum((p1 + p2) / 2 * (r2 - r1) for (r1, p1), (r2, p2) in pairs))
    if name == "interpolated_convex":
        return theorem_1(hull(items, pi))
    summary = {
        "interpolated_max": max,
        "interpolated_mean": lambda values: sum(values) / len(values),
        "interpolated_median": median,
    }
    return theorem_1(by_recall(points, summary[name]))


@given(SCORES, PREVALENCE)
@pytest.mark.parametrize("name", FREE)
def test_an_estimator_is_its_definition(name, items, prevalence):
    case, score = zip(*items, strict=True)
    checked = area_samples.check_items(np.array(case), np.array(score))
    if prevalence is not None:
        checked = area_samples.at_prevalence(checked, prevalence)
    assert area_samples.values(checked, (name,))[0, 0] == pytest.approx(literal(name, items, prevalence), abs=1e-11)


@pytest.mark.parametrize(
    ("mean", "sd", "prevalence"),
    [((0, 1), (1, 1), 0.1), ((0, 2), (1, 0.3), 0.5), ((1, 0), (0.2, 3), 0.02), ((0, 8), (1, 1), 0.01),
     ((0, 0), (1, 20), 0.3), ((0, -3), (5, 1), 0.9)],
)  # fmt: skip
def test_the_binormal_area_is_an_integral(mean, sd, prevalence):
    odds = (1 - prevalence) / prevalence

    def f(z):
        t, x = stats.norm.cdf(z), stats.norm.cdf((mean[0] - mean[1] + sd[1] * z) / sd[0])
        return t / (t + odds * x) * stats.norm.pdf(z)

    cuts = np.unique(np.clip(np.r_[np.arange(-9, 10), (mean[1] - mean[0] + np.arange(-9, 10) * sd[0]) / sd[1]], -9, 9))
    expected = sum(integrate.quad(f, a, b, epsabs=1e-14)[0] for a, b in itertools.pairwise(cuts))
    numbers = (np.array([float(v)]) for pair in zip(mean, sd, strict=True) for v in pair)
    assert area_samples.binormal_area(*numbers, odds)[0] == pytest.approx(expected, abs=1e-10)


def test_the_binormal_estimate_takes_the_sample_moments():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=40), rng.normal(1, 1.5, 15)
    with pytest.warns(UserWarning, match="40 controls say as much"):
        found = bayescm.aucpr([0] * 40 + [1] * 15, np.r_[x, y], estimator="binormal", prevalence=0.2)["point"].item()
    numbers = (np.array([v]) for v in (x.mean(), x.std(ddof=1), y.mean(), y.std(ddof=1)))
    assert found == pytest.approx(area_samples.binormal_area(*numbers, 4.0)[0], abs=1e-13)


def test_interpolation_has_the_corrected_integral(oracle):
    from bayescm._kernels.roc import under

    for entry in oracle("boyd.interp")["expected"]:
        r1, p1, r2, p2 = entry["points"]
        false = [r * (1 - p) / p for r, p in ((r1, p1), (r2, p2))]
        assert under(r1, false[0], r2 - r1, false[1] - false[0]) == pytest.approx(entry["area"], abs=1e-9)


SAMPLERS = {
    "binormal": (lambda rng, n: rng.normal(size=n), lambda rng, n: rng.normal(1, 1, n)),
    "bibeta": (lambda rng, n: rng.beta(2, 5, n), lambda rng, n: rng.beta(5, 2, n)),
    "offset_uniform": (lambda rng, n: rng.random(n), lambda rng, n: 0.5 + rng.random(n)),
}


@pytest.mark.parametrize("scenario", SAMPLERS)
@pytest.mark.parametrize("prevalence", [0.01, 0.1, 0.5])
def test_large_samples_have_the_true_area(oracle, scenario, prevalence):
    entry = oracle("boyd.true_aucpr")
    expected = entry["expected"][scenario][entry["inputs"]["pi"].index(prevalence)]
    rng = np.random.default_rng(5)
    x, y = (draw(rng, 100_000) for draw in SAMPLERS[scenario])
    found = bayescm.aucpr(
        np.repeat([0, 1], 100_000), np.r_[x, y], estimator=ESTIMATORS, method="logit", prevalence=prevalence
    )["point"].to_series()
    sound = [name for name in ESTIMATORS if name != "binormal" or scenario == "binormal"]
    assert found[sound].to_numpy() == pytest.approx(np.full(len(sound), expected), abs=0.012)
    assert found["average_precision"] == pytest.approx(expected, abs=0.006)


def test_average_precision_is_scikit_learns(oracle):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(3)
    for n in (3, 10, 200):
        y = np.r_[0, 1, rng.integers(0, 2, n)]
        score = rng.integers(0, n, n + 2) / 7
        found = bayescm.aucpr(y, score, method="logit")["point"].item()
        assert found == pytest.approx(metrics.average_precision_score(y, score), abs=1e-13)
    entry = oracle("credible.fixture")
    rng = np.random.default_rng(entry["inputs"]["seed"])
    score = np.r_[rng.beta(6, 10, 200), rng.beta(10, 6, 200)]
    expected = entry["expected"]["average_precision"]
    assert bayescm.aucpr(np.repeat([0, 1], 200), score)["point"].item() == pytest.approx(expected, abs=1e-9)


def example(n=15, m=40, seed=2, digits=1):
    rng = np.random.default_rng(seed)
    score = np.r_[rng.normal(size=m), rng.normal(1, 1, n)].round(digits)
    return np.repeat([0, 1], [m, n]), score


def test_the_order_of_items_and_the_scale_of_scores_do_not_matter():
    y, score = example()
    mixed = np.random.default_rng(0).permutation(len(y))
    settings = {"estimator": FREE, "method": ["logit", "bca"], "random_seed": 1, "draws": 1000}
    one = bayescm.aucpr(y, score, **settings)
    assert one["interval"].equals(bayescm.aucpr(y, np.exp(score), **settings)["interval"])
    assert one["point"].equals(bayescm.aucpr(y[mixed], score[mixed], **settings)["point"])


def test_logit_and_binomial_are_the_papers():
    y, score = example()
    found = bayescm.aucpr(y, score, method=["logit", "binomial"], ci_prob=0.9)
    p, z = found["point"].item(), stats.norm.ppf(0.95)
    eta, tau = np.log(p / (1 - p)), (15 * p * (1 - p)) ** -0.5
    limits = found["interval"].values
    assert limits[0] == pytest.approx([1 / (1 + np.exp(-eta - s * z * tau)) for s in (-1, 1)], abs=1e-12)
    half = z * np.sqrt(p * (1 - p) / 15)
    assert limits[1] == pytest.approx([p - half, p + half], abs=1e-12)
    assert found["se"].values == pytest.approx([half / z] * 2)


def test_a_bound_beyond_one_is_clipped_and_says_so():
    y, score = [0] * 8 + [1] * 4, [*range(7), 8, 7, 9, 10, 11]
    found = bayescm.aucpr(y, score, method=["binomial", "logit"])
    assert found["interval"].sel(ci_bound="upper").values[0] == 1.0
    assert found["clipped"].values.tolist() == [[False, True], [False, False]]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["average_precision", "lower_trapezoid", "interpolated_median", "binormal"])
def test_the_bootstrap_resamples_each_class(name):
    y, score = example(digits=0)
    rng = np.random.default_rng(8)
    slow = []
    for _ in range(4000):
        pick = np.r_[rng.integers(0, 40, 40), rng.integers(40, 55, 15)]
        checked = area_samples.at_prevalence(area_samples.check_items(y[pick], score[pick]), 0.1)
        slow.append(area_samples.values(checked, (name,))[0, 0])
    with pytest.warns(UserWarning, match="'bootstrap' can't be relied on"):
        found = bayescm.aucpr(y, score, estimator=name, method="bootstrap", prevalence=0.1, draws=20_000, random_seed=1)
    items = area_samples.at_prevalence(area_samples.check_items(y, score), 0.1)
    fast = area_samples.resamples(items, (name,), 4000, 3)[:, 0, 0]
    assert stats.ks_2samp(slow, fast, method="asymp").pvalue > 1e-3
    for bound, share in zip(found["interval"].values, (0.025, 0.975), strict=True):
        assert np.mean(np.array(slow) < bound) <= share + 0.012
        assert np.mean(np.array(slow) <= bound) >= share - 0.012
    assert found["se"].item() == pytest.approx(np.std(slow), rel=0.06)


@pytest.mark.parametrize("digits", [0, 3])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_bca_leaves_every_item_out(name, digits):
    y, score = example(8, 20, digits=digits)
    items = area_samples.at_prevalence(area_samples.check_items(y, score), 0.2)
    influence = []
    for label in (1, 0):
        without = []
        for i in np.flatnonzero(y == label):
            rest = area_samples.at_prevalence(area_samples.check_items(np.delete(y, i), np.delete(score, i)), 0.2)
            without.append(area_samples.values(rest, (name,))[0, 0])
        n = len(without)
        fast = area_samples.without_one(items, 0, (name,))[1 - label][:, 0]
        assert np.sort(fast) == pytest.approx(np.sort(without), abs=1e-12)
        influence += list((n - 1) * (np.mean(without) - np.array(without)) / n)
    cubes, squares = np.sum(np.array(influence) ** 3), np.sum(np.array(influence) ** 2)
    areas = area_intervals.Areas(items, (name,), 8, 0.95, 2000, 10, 1)
    assert area_intervals.acceleration(areas, 0, 0) == pytest.approx(cubes / squares**1.5 / 6, abs=1e-10)


def test_bca_is_the_percentile_interval_of_moved_percentiles():
    y, score = example(20, 60, digits=2)
    settings = {"method": ["bootstrap", "bca"], "draws": 5000, "random_seed": 4}
    found = bayescm.aucpr(y, score, **settings)
    items = area_samples.check_items(y, score)
    drawn = area_samples.resamples(items, ("average_precision",), 5000, 4)[:, 0, 0]
    areas = area_intervals.Areas(items, ("average_precision",), 20, 0.95, 5000, 10, 4)
    a, z0 = area_intervals.acceleration(areas, 0, 0), stats.norm.ppf(np.mean(drawn < areas.point[0, 0]))
    z = z0 + stats.norm.ppf([0.025, 0.975])
    expected = np.quantile(drawn, stats.norm.cdf(z0 + z / (1 - a * z)))
    assert found["interval"].sel(ci_method="bca").values == pytest.approx(expected, abs=2e-3)
    assert z0 < -0.05  # resamples have larger areas than the sample: the correction works


def test_folds_are_stratified_and_use_every_item_once():
    y, score = example(23, 47, digits=9)
    items = area_samples.check_items(y, score)
    found = area_samples.folds(items, ("average_precision", "auc"), 5, 7)
    rng = area_samples.matrix_rng(7, 0, Stream.AREA_FOLDS)
    parts = [rng.permutation(np.arange(n) % 5) for n in (23, 47)]
    for k in range(5):
        mine = np.zeros(70, bool)
        mine[y == 1], mine[y == 0] = parts[0] == k, parts[1] == k
        fold = area_samples.at_prevalence(area_samples.check_items(y[mine], score[mine]), 23 / 70)
        assert found[k, 0, 0] == pytest.approx(area_samples.values(fold, ("average_precision",))[0, 0], abs=1e-12)
    values = found[:, 0, 0]
    made = bayescm.aucpr(y, score, method="cross_validation", folds=5, random_seed=7)
    expected = stats.t.interval(0.95, 4, values.mean(), values.std(ddof=1) / np.sqrt(5))
    assert made["interval"].values == pytest.approx(np.clip(expected, 0, 1), abs=1e-12)


def test_perfect_separation_has_area_one_and_no_interval_by_formula():
    y, score = [0] * 30 + [1] * 12, np.arange(42.0)
    methods = ["logit", "binomial", "bootstrap", "bca", "cross_validation"]
    with pytest.warns(UserWarning, match="not certainty"):
        found = bayescm.aucpr(y, score, estimator=FREE, method=methods)
    all_thresholds = {"interpolated_mean", "interpolated_median"}  # average over those of recall 1, down to the last
    assert all((one == 1.0) != (name in all_thresholds) for name, one in zip(FREE, found["point"], strict=True))
    found = found.sel(estimator=[name for name in FREE if name not in all_thresholds])
    assert found["interval"].isnull().all()
    assert found["se"].isnull().all()
    assert "sees no variation" in found.attrs["reason"]


def test_one_case_and_ties_alone():
    y, score = [0] * 9 + [1], [*range(9), 6.5]
    with pytest.warns(UserWarning, match="one case alone"):
        found = bayescm.aucpr(y, score, method=["logit", "bootstrap"])
    assert found["interval"].isnull().values.tolist() == [[False, False], [True, True]]
    with pytest.warns(UserWarning, match="10 folds"):
        assert bayescm.aucpr(y, score, method="cross_validation")["interval"].isnull().all()
    with pytest.warns(UserWarning, match="finite scores that vary"):
        assert bayescm.aucpr(y, score, estimator="binormal").isnull()["point"].item()
    with pytest.warns(UserWarning, match="all folds have the area"):
        found = bayescm.aucpr([0] * 23 + [1] * 13, np.zeros(36), method="cross_validation", random_seed=1)
    assert found["interval"].isnull().all()
    y, score = [0] * 6 + [1] * 3, np.zeros(9)
    with pytest.warns(UserWarning, match=r"0\.333333"):
        found = bayescm.aucpr(y, score, estimator=FREE, method="bootstrap")
    expected = [1 / 3 if name != "lower_trapezoid" and name != "upper_trapezoid" else 2 / 3 for name in FREE]
    assert found["point"].values == pytest.approx(expected)


@pytest.mark.parametrize(
    ("settings", "text"),
    [({"estimator": "best"}, "`estimator` must be one of"), ({"method": "delong"}, "`method` must be one of"),
     ({"prevalence": 0}, "`prevalence` must be a number"), ({"draws": 100}, "`draws` must be at least 1000"),
     ({"folds": 1}, "`folds` must be at least 2"), ({"method": []}, "`method` is empty"),
     ({"method": ["logit", "logit"]}, "twice"), ({"ci_prob": 95}, "`ci_prob`")],
)  # fmt: skip
def test_bad_arguments_are_named(settings, text):
    with pytest.raises(ValueError, match=text):
        bayescm.aucpr([0, 1, 1], [1, 2, 3], **settings)


def test_shapes_names_and_attrs():
    y, score = example(12, 30)
    both = {"a": score, "b": -score}
    found = bayescm.aucpr(y, both, estimator=["lower_trapezoid"], method=["logit", "bootstrap"], random_seed=3)
    assert found["interval"].dims == ("system", "estimator", "ci_method", "ci_bound")
    assert found["point"].dims == ("system", "estimator")
    one = bayescm.aucpr(y, score, estimator="lower_trapezoid", method="bootstrap", random_seed=3)
    assert one["interval"].dims == ("ci_bound",)
    assert one["interval"].values.tolist() == found["interval"].values[0, 0, 1].tolist()
    attrs = {"method": "bootstrap", "estimator": "lower_trapezoid", "cases": 12, "controls": 30, "draws": 2000,
             "random_seed": 3, "prevalence": pytest.approx(12 / 42)}  # fmt: skip
    assert {name: one.attrs[name] for name in attrs} == attrs
    assert all(v.attrs["long_name"] for v in found.data_vars.values())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "reason" not in bayescm.aucpr(y, score).attrs


@pytest.mark.filterwarnings("ignore:At the given prevalence")
def test_bayesian_intervals_are_those_of_the_curve():
    y, score = example(12, 30)
    both = {"a": score, "b": -score}
    estimators = ["average_precision", "interpolated_median", "binormal"]
    found = bayescm.aucpr(y, both, estimator=estimators, method="bayesian", prevalence=0.1, random_seed=5)
    drawn = curve_posterior(
        y, both, over=None, prevalence=0.1, draws=2000, chains=1, random_seed=5
    )["posterior"]  # fmt: skip
    for name, variable in zip(estimators, ("average_precision", "pr_area", "pr_area"), strict=True):
        expected = np.quantile(drawn[variable].values[0], [0.025, 0.975], axis=0).T
        assert found["interval"].sel(estimator=name).values == pytest.approx(expected, abs=0.03)
    assert found["se"].isnull().all()
    assert found["ci_bound"].attrs["ci_kind"] == "eti"
    found = bayescm.aucpr(y, both, method="smoothed", prevalence=0.1, random_seed=5)
    for s, one in enumerate(both.values()):
        drawn = curve_posterior(
            y, one, over=None, prior="smoothed", prevalence=0.1, draws=2000, chains=1, random_seed=5
        )["posterior"]  # fmt: skip
        expected = np.quantile(drawn["average_precision"].values, [0.025, 0.975])
        assert found["interval"].values[s] == pytest.approx(expected, abs=1e-12)
    natural = bayescm.aucpr(y, score, method="bayesian", prevalence=12 / 42, random_seed=5)
    assert natural["interval"].equals(bayescm.aucpr(y, score, method="bayesian", random_seed=5)["interval"])


@pytest.mark.parametrize(("cases", "controls"), [(12, 30), (1, 30), (12, 1)])
def test_bayesian_intervals_know_that_perfect_separation_is_not_certain(cases, controls):
    y, score = np.repeat([0, 1], [controls, cases]), np.arange(cases + controls)
    found = bayescm.aucpr(y, score, method=["bayesian", "smoothed"], random_seed=1)
    assert found["point"].item() == 1.0
    assert (found["interval"][:, 0] < 0.97).all()
    assert (found["interval"][:, 1] <= 1.0).all()


def test_binormal_needs_spread_in_both_classes():
    with pytest.warns(UserWarning, match="finite scores that vary"):
        found = bayescm.aucpr([0, 0, 1, 1], [-np.inf, 1, 2, 3], estimator=["binormal", "lower_trapezoid"])
    assert found["point"].isnull().values.tolist() == [True, False]
    with pytest.warns(UserWarning, match="of the resamples have no such area"):
        found = bayescm.aucpr([0, 0, 1, 1], [1, 2, 2, 3], estimator="binormal", method="bootstrap", random_seed=1)
    assert found["interval"].isnull().all()


def test_bca_says_when_all_resamples_lie_on_one_side():
    y, score = [0] * 20 + [1] * 2, [*range(20), 20, -1]
    items = area_samples.check_items(np.array(y), np.array(score))
    areas = area_intervals.Areas(items, ("lower_trapezoid",), 2, 0.95, 2000, 10, 1)
    areas.__dict__["resampled"] = areas.point[None] + np.linspace(0.1, 0.2, 2000)[:, None, None]
    assert "all resamples have larger areas" in area_intervals.bca(areas, 0, 0).reason
