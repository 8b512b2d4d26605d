"""Pointwise intervals of curves and their hull, against the thesis of Morais and its programs."""

import json
import warnings

import numpy as np
import pytest
import sklearn.metrics
import xarray as xr
from scipy import optimize, stats

import bayescm
from bayescm.curves.pointwise import METHODS

FALSE, RECALL, PRECISION = "false_positive_rate", "recall", "precision"
Y = np.array([0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 1])
S = np.array([-2.0, -1.0, -1.0, 0.0, 0.5, 1.0, 1.0, 2.0, 3.0, 3.0, 9.0])

# tests/test_curves.py of credible: rows of x, y, threshold, lower x, lower y, upper x, upper y; then both hulls
HULLS = {
    "off_origin": (
        "roc",
        [[0, 0.3, 1], [0, 0.7, 1], [1, 0.5, 0], [0, 0.2, 0.9], [0, 0.5, 0.8], [0.1, 0.5, 1], [0.2, 0.8, 1]],
        [[0.1, 0.44142135623731, 1.0], [0, 0.55857864376269, 0.8]],
        [[0, 0.229289321881345, 1.0], [0, 0.770710678118655, 1.0]],
    ),
    "off_origin_3": (
        "roc",
        [[0, 0.3, 0.9], [0.2, 0.7, 1], [1, 0.5, 0], [0, 0.2, 0.8], [0, 0.5, 0.8], [0.1, 0.5, 1], [0.4, 0.8, 1]],
        [[0.099503719020999, 0.44142135623731, 0.919611613513818],
         [0.1800992561958, 0.55857864376269, 0.803883864861816]],
        [[0, 0.229289321881345, 0.9], [0.2, 0.770710678118655, 1.0]],
    ),
    "on_origin": (
        "pr",
        [[0, 0.7, 1], [1, 0.7, 0], [0, 0.5, 1], [0, 0.6, 0.9], [0.8, 0.5, 0], [0.1, 0.9, 1], [1, 0.8, 0.2]],
        [[0, 0.610557280900008, 0.9], [0.8, 0.610557280900008, 0]],
        [[0, 0.789442719099992, 1], [1, 0.789442719099992, 0]],
    ),
}  # fmt: skip


def hull_of(intervals):
    with pytest.warns(UserWarning, match=r"no coverage.*curve_posterior"):
        return bayescm.curves.hull(intervals)


def fixture():
    """Return the example of credible's own tests: negatives are drawn first."""
    rng = np.random.default_rng(42)
    score = np.concatenate([rng.beta(6, 10, 200), rng.beta(10, 6, 200)])
    return np.repeat([0, 1], 200), score


def boxes(space, rows):
    """Return intervals with the numbers of credible's rows."""
    x, y, _, low_x, low_y, high_x, high_y = np.array(rows, float)
    made = bayescm.curves.intervals([0, 1], [0.0, 1.0], space=space, thresholds=np.arange(len(x), 0.0, -1.0))
    bounds = np.stack([np.stack([low_x, low_y], -1), np.stack([high_x, high_y], -1)], -1)
    return made.assign(
        point=made["point"].copy(data=np.stack([x, y], -1)), interval=made["interval"].copy(data=bounds)
    )  # fmt: skip


@pytest.mark.parametrize("name", HULLS)
def test_hull_of_credible(name):
    space, rows, lower, upper = HULLS[name]
    found = hull_of(boxes(space, rows))
    np.testing.assert_allclose(found["hull"].sel(ci_bound="lower").values.T, lower, atol=1e-8)
    np.testing.assert_allclose(found["hull"].sel(ci_bound="upper").values.T, upper, atol=1e-8)


def test_areas_of_credible(oracle):
    expected = oracle("credible.fixture")["expected"]
    y, score = fixture()
    kept = sklearn.metrics.roc_curve(y, score)[2]  # credible takes the thresholds that scikit-learn keeps
    roc = bayescm.curves.intervals(y, score, space="roc", method="flat", thresholds=kept)
    np.testing.assert_allclose(hull_of(roc)["area"], expected["hull_auc_flat"], atol=1e-9)
    pr = bayescm.curves.intervals(y, score, space="pr", method="flat")
    np.testing.assert_allclose(hull_of(pr)["area"], expected["hull_ap_flat"], atol=1e-9)
    posterior = bayescm.curve_posterior(y, score, over=None, random_seed=1)["posterior"]
    low, high = posterior["auc"].quantile([0.025, 0.975]).values
    assert expected["hull_auc_flat"][0] < low < expected["roc_auc"] < high  # the joint posterior is narrower


@pytest.mark.parametrize("method", ["flat", "jeffreys"])
def test_the_point_is_that_of_the_items(method, oracle):
    expected = oracle("credible.fixture")["expected"]
    y, score = fixture()
    roc = bayescm.curves.intervals(y, score, method=method)["point"]
    assert np.trapezoid(roc.sel(metric=RECALL), roc.sel(metric=FALSE)) == pytest.approx(expected["roc_auc"], abs=1e-12)
    pr = bayescm.curves.intervals(y, score, space="pr", method=method)["point"]
    steps = np.diff(pr.sel(metric=RECALL), prepend=0.0) * pr.sel(metric=PRECISION)
    assert steps.sum() == pytest.approx(expected["average_precision"], abs=1e-12)


def reached(point, box, corner):
    """Walk towards a corner until the ellipse of that quarter ends."""
    way = np.array(corner) - point
    half = [box[i][1] - point[i] if way[i] > 0 else point[i] - box[i][0] for i in (0, 1)]
    if not way.any():
        return None
    ellipse = lambda t: sum((t * w / h) ** 2 if w else 0.0 for w, h in zip(way, half, strict=True)) - 1  # noqa: E731
    if any(w and h == 0 for w, h in zip(way, half, strict=True)):
        return point
    end = 1.0
    while ellipse(end) < 0:
        end *= 2
    return point + optimize.brentq(ellipse, 0.0, end, xtol=1e-15) * way


@pytest.mark.parametrize(("space", "corner"), [("roc", (1, 0)), ("pr", (0, 0))])
@pytest.mark.parametrize("method", METHODS)
def test_hull_by_walking_along_the_ray(space, corner, method):
    given = bayescm.curves.intervals(Y, S, space=space, method=method)
    found = hull_of(given)
    compared = 0
    for i in range(given.sizes["threshold"]):
        point, box = given["point"].values[i], given["interval"].values[i]
        for name, target in (("lower", np.array(corner)), ("upper", 2 * point - corner)):
            want = reached(point, box, target)
            if want is not None:
                compared += 1
                np.testing.assert_allclose(found["hull"].sel(ci_bound=name).values[i], want, atol=1e-9)
    assert compared >= 14


def test_at_the_worst_corner_the_hull_is_the_box():
    given = bayescm.curves.intervals([0, 1], [1.0, 0.0], thresholds=[0.5])  # FPR 1, recall 0
    found = hull_of(given)
    low, high = given["interval"].values[0].T
    assert found["hull"].sel(ci_bound="lower").values[0].tolist() == [high[0], low[1]] == [1.0, 0.0]
    assert found["hull"].sel(ci_bound="upper").values[0].tolist() == [low[0], high[1]]
    given = bayescm.curves.intervals([0, 1], [1.0, 0.0], thresholds=[0.5], space="pr")
    found = hull_of(given)
    assert found["hull"].sel(ci_bound="lower").values[0].tolist() == [0.0, 0.0]
    assert found["hull"].sel(ci_bound="upper").values[0].tolist() == given["interval"].values[0, :, 1].tolist()


def one_by_one(k, n, method, level=0.95):
    """Return an interval by scipy."""
    if method in ("flat", "jeffreys"):
        a = {"flat": 1.0, "jeffreys": 0.5}[method]
        low, high = stats.beta(k + a, n - k + a).interval(level)
        return (0.0 if k == 0 and n else low), (1.0 if k == n and n else high)
    if method == "agresti_coull":
        z = stats.norm.isf((1 - level) / 2)
        p, m = (k + z**2 / 2) / (n + z**2), n + z**2
        return tuple(np.clip([p - z * np.sqrt(p * (1 - p) / m), p + z * np.sqrt(p * (1 - p) / m)], 0, 1))
    found = stats.binomtest(k, n).proportion_ci(level, {"wilson": "wilson", "clopper_pearson": "exact"}[method])
    return found.low, found.high


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("space", ["roc", "pr"])
def test_intervals_one_by_one(space, method):
    found = bayescm.curves.intervals(Y, S, space=space, method=method)
    for threshold in found["threshold"].values:
        above = threshold <= S
        parts = {FALSE: Y == 0, RECALL: Y == 1, PRECISION: above}
        for metric in found["metric"].values:
            mine = parts[metric]
            hits = above if metric != PRECISION else Y == 1
            k, n = int((hits & mine).sum()), int(mine.sum())
            one = found.sel(threshold=threshold, metric=metric)
            assert one["point"] == k / n
            np.testing.assert_allclose(one["interval"], one_by_one(k, n, method), atol=1e-12)


def test_names_and_attrs():
    found = bayescm.curves.intervals(Y, S, method="flat", ci_prob=0.9)
    assert found["interval"].dims == ("threshold", "metric", "ci_bound")
    assert found["point"].dims == ("threshold", "metric")
    assert found["metric"].values.tolist() == [FALSE, RECALL]
    assert found["threshold"].values[0] == np.inf
    assert found["point"].values[0].tolist() == [0, 0]
    assert found["ci_bound"].attrs == {"ci_prob": 0.9, "ci_kind": "eti"}
    assert {name: found.attrs[name] for name in ("space", "method", "ci_prob")} == {
        "space": "roc", "method": "flat", "ci_prob": 0.9,
    }  # fmt: skip
    pr = bayescm.curves.intervals(Y, S, space="pr", method="wilson")
    assert pr["metric"].values.tolist() == [RECALL, PRECISION]
    assert np.isfinite(pr["threshold"]).all()
    assert pr["ci_bound"].attrs["ci_kind"] == "confidence"
    hull = hull_of(found)
    assert "no coverage" in hull.attrs["note"]
    assert hull["hull"].sel(ci_bound="lower").dims == hull["hull"].sel(ci_bound="upper").dims == ("threshold", "metric")
    assert hull["area"].dims == ("ci_bound",)
    assert "ci_prob" not in hull["ci_bound"].attrs  # it has no level
    for data in (found, hull):
        assert all(v.attrs["long_name"] for v in data.data_vars.values())
        json.dumps(data.attrs)


def test_agresti_coull_is_clipped():
    found = bayescm.curves.intervals([0] * 5 + [1] * 5, np.arange(10.0), method="agresti_coull")
    first = found.sel(threshold=5.0)  # FPR 0 of 5, recall 5 of 5
    assert first["point"].values.tolist() == [0, 1]
    assert first["clipped"].values.tolist() == [[True, False], [False, True]]
    assert first["interval"].values[0, 0] == 0
    assert first["interval"].values[1, 1] == 1


def test_thresholds_are_put_in_order_and_undefined_ones_left_out():
    forward = bayescm.curves.intervals(Y, S, space="pr", thresholds=[10.0, 3.0, 1.0, -2.0])
    assert np.isnan(forward["point"].sel(threshold=10.0, metric=PRECISION))
    backward = bayescm.curves.intervals(Y, S, space="pr", thresholds=[-2.0, 1.0, 10.0, 3.0])
    xr.testing.assert_equal(hull_of(forward), hull_of(backward))
    hull = hull_of(forward)
    assert np.isnan(hull["hull"].sel(ci_bound="upper").sel(threshold=10.0)).all()
    assert np.isfinite(hull["area"]).all()
    alone = bayescm.curves.intervals([0, 0], [1.0, 2.0], space="pr", labels=[0, 1])
    assert np.isnan(hull_of(alone)["area"]).all()  # no cases: recall is 0/0


def test_labels_and_infinite_scores():
    text = bayescm.curves.intervals(np.where(Y == 1, "bad", "good"), S, pos_label="bad")
    np.testing.assert_array_equal(text["interval"], bayescm.curves.intervals(Y, S)["interval"])
    endless = bayescm.curves.intervals([0, 1, 1], [-np.inf, 0.0, np.inf])
    assert endless["threshold"].values.tolist() == [np.inf, 0.0, -np.inf]


@pytest.mark.slow
def test_the_area_between_hulls_has_no_level():
    """Of 95% hulls around curves of 50 normal cases and controls, 1.5 deviations apart: misses on one side only."""
    true, repeats = stats.norm.cdf(1.5 / np.sqrt(2)), 250
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 50)
    hulls, posteriors = np.empty((2, repeats, 2))
    for i in range(repeats):
        score = rng.normal(1.5 * y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            hulls[i] = bayescm.curves.hull(bayescm.curves.intervals(y, score, method="flat"))["area"]
        drawn = bayescm.curve_posterior(y, score, over=None, chains=1, draws=400, random_seed=i)["posterior"]["auc"]
        posteriors[i] = drawn.quantile([0.025, 0.975])
    covered, held = (((one[:, 0] <= true) & (true <= one[:, 1])).mean() for one in (hulls, posteriors))
    assert (hulls[:, 0] <= true).all()  #  equal tails lie above it 6 times in 250
    assert covered > held
    assert held == pytest.approx(0.95, abs=0.035)
    assert np.diff(hulls).mean() > 1.3 * np.diff(posteriors).mean()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bayescm.curves.intervals(Y, S, space="det"), "`space`"),
        (lambda: bayescm.curves.intervals(Y, S, method="wald"), "`method`"),
        (lambda: bayescm.curves.intervals(Y, S, ci_prob=95), "`ci_prob`"),
        (lambda: bayescm.curves.intervals(Y, S[:-1]), "`y_score` has 10 items"),
        (lambda: bayescm.curves.intervals(Y, S, thresholds=[1.0, 1.0]), "`thresholds`"),
        (lambda: bayescm.curves.hull(xr.Dataset()), "`intervals`"),
        (lambda: bayescm.curves.hull(bayescm.curves.intervals(Y, S).isel(threshold=0)), "`intervals`"),
    ],
)
def test_bad_arguments(call, words):
    with pytest.raises(ValueError, match=words):
        call()
