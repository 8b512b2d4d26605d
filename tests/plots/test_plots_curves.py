"""Pictures of whole curves: what the artists hold is what the Datasets hold."""

import json
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_rgb

import bayescm
from bayescm.results.writing import decimals_of

RNG = np.random.default_rng(3)
Y = np.repeat([0, 1], [40, 30])
COMMON = RNG.normal(size=70)
A = 0.6 * COMMON + 0.6 * RNG.normal(size=70) + 1.4 * Y
B = 0.6 * COMMON + 0.6 * RNG.normal(size=70) + 0.6 * Y
METRICS = ["f1", "mcc", "balanced_accuracy"]
BEYOND = "beyond, by monotonicity"
DRAWS = {"chains": 2, "draws": 300, "random_seed": 1}


@pytest.fixture(scope="module")
def one():
    return bayescm.curve_posterior(Y, A, **DRAWS)


@pytest.fixture(scope="module")
def two():
    return bayescm.curve_posterior(
        Y, {"forest": A, "logistic": B}, fpr_range=(0, 0.2), at_specificity=[0.8, 0.9], **DRAWS
    )


@pytest.fixture(scope="module")
def over():
    return bayescm.curve_posterior(Y, A, over="threshold", metrics=METRICS, **DRAWS)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts() if text.get_text().strip()]


def title(ax):
    return ax.get_legend().get_title().get_text()


def bands(ax):
    return [c for c in ax.collections if c.get_gid() == "bayescm-band"]


def thick(ax):
    return [line for line in ax.lines if line.get_linewidth() == 1.6]


def medians(ax):
    return [line for line in ax.lines if line.get_linewidth() == 4.5]


def beyond(ax):
    """Return, of each side of the stretch of a band, the axis and both bounds."""
    sides = [c.get_paths()[0].vertices for c in ax.collections if c.get_gid() == "bayescm-beyond"]
    found = []
    for vertices in sides:
        at = np.unique(vertices[:, 0])
        both = np.array([[y[0], y[-1]] for y in (np.sort(vertices[vertices[:, 0] == x, 1]) for x in at)])
        found.append((at, *both.T))
    return found


def check_band(collection, data, x):
    """Compare the vertices of a filled band with a Dataset."""
    lower, upper = (data["band"].sel(ci_bound=name).values for name in ("lower", "upper"))
    known = np.isfinite(lower)
    (path,) = collection.get_paths()
    found = {tuple(vertex) for vertex in path.vertices.round(12)}
    at = data[x].values
    for bound in (lower, upper):
        assert {tuple(v) for v in np.stack([at, bound], -1)[known].round(12)} <= found
    assert path.vertices[:, 0].min() == at[known].min()
    assert path.vertices[:, 0].max() == at[known].max()


@pytest.mark.parametrize(("space", "x"), [("roc", "fpr"), ("pr", "recall")])
@pytest.mark.parametrize("kind", ["simultaneous", "pointwise", "whole"])
def test_curve_shows_the_numbers_of_the_band(one, space, x, kind):
    data = bayescm.curve_band(one, method=kind, space=space)
    ax = bayescm.plots.plot_curve(data, median=kind != "whole")
    (band,) = bands(ax)
    check_band(band, data, x)
    (line,) = thick(ax)
    corner = int(space == "roc")  # where every ROC curve starts
    np.testing.assert_array_equal(line.get_xdata()[corner:], data[x])
    np.testing.assert_array_equal(line.get_ydata()[corner:], data["point"])
    if corner:
        assert (line.get_xdata()[0], line.get_ydata()[0]) == (0, 0)
    middle = medians(ax)
    assert len(middle) == (kind != "whole")
    for drawn in middle:
        np.testing.assert_array_equal(drawn.get_ydata(), data["median"])
    assert title(ax) == f"95%, {data.attrs['statement']}"
    assert [text for text in legend(ax) if text != BEYOND] == ["band", "empirical curve", "posterior median"][
        : 2 + len(middle)
    ]
    assert (BEYOND in legend(ax)) == (kind == "simultaneous") == bool(beyond(ax))
    assert any(text.get_text() == "chance" for text in ax.texts) == (space == "roc")
    names = {"roc": ("False positive rate", "True positive rate"), "pr": ("Recall", "Precision")}[space]
    assert (ax.get_xlabel(), ax.get_ylabel()) == names
    assert ax.get_xlim() == ax.get_ylim() == (-0.016, 1.016)


def test_a_simultaneous_band_ends_where_its_stretch_ends(one):
    data = bayescm.curve_band(one, within=(0.205, 0.595))
    (band,) = bands(bayescm.plots.plot_curve(data))
    x = band.get_paths()[0].vertices[:, 0]
    np.testing.assert_allclose([x.min(), x.max()], [0.21, 0.59])


@pytest.mark.parametrize(("space", "x", "y"), [("roc", "fpr", "tpr"), ("pr", "recall", "precision")])
def test_a_curve_within_the_band_is_also_within_what_is_drawn_beyond(one, space, x, y):
    data = bayescm.curve_band(one, within=(0.2, 0.6), space=space, ci_prob=0.5)
    draws = one["posterior"][y].stack(sample=("chain", "draw")).transpose("sample", x)
    lower, upper = (data["band"].sel(ci_bound=name) for name in ("lower", "upper"))
    known = np.isfinite(lower.values)
    within = ((draws >= lower - 1e-12) & (draws <= upper + 1e-12)).values[:, known].all(1)
    assert within.sum() > 100
    sides = beyond(bayescm.plots.plot_curve(data))
    assert len(sides) == 2
    outside = 0
    for at, low, high in sides:
        places = (draws[x].values >= at[0]) & (draws[x].values <= at[-1])
        values = draws.values[:, places]
        low, high = (np.interp(draws[x].values[places], at, bound) for bound in (low, high))
        assert ((values[within] >= low - 1e-3) & (values[within] <= high + 1e-3)).all()  # bounds are joined by lines
        outside += ((values < low - 1e-3) | (values > high + 1e-3)).sum()
    assert outside > 0  # of the other draws some


def test_curves_of_a_batch_have_colours_and_styles_of_their_own(two):
    data = bayescm.curve_band(two, ci_prob=0.8)
    ax = bayescm.plots.plot_curve(data)
    assert legend(ax) == ["forest", "logistic", "band", BEYOND, "empirical curve"]
    assert title(ax).startswith("80%, simultaneous")
    for band, line, system in zip(bands(ax), thick(ax), ["forest", "logistic"], strict=True):
        check_band(band, data.sel(system=system), "fpr")
        assert tuple(band.get_facecolor()[0][:3]) == to_rgb(line.get_color())
    first, second = thick(ax)
    assert first.get_color() != second.get_color()
    assert first.get_linestyle() != second.get_linestyle()
    assert legend(bayescm.plots.plot_curve(data, names=["x", "y"]))[:2] == ["x", "y"]


def test_curves_of_a_mapping_say_which_band_is_whose(one):
    made = {kind: bayescm.curve_band(one, method=kind) for kind in ("pointwise", "whole")}
    ax = bayescm.plots.plot_curve(made, point=False)
    assert legend(ax) == [
        "pointwise:\n95%, pointwise: each point alone", "whole:\n95%, whole curve (Kolmogorov-Smirnov)", "band"
    ]  # fmt: skip
    assert title(ax) == ""
    assert not thick(ax)
    same = bayescm.plots.plot_curve({"a": made["whole"], "b": made["whole"]}, legend=False)
    assert same.get_legend() is None
    assert len(bands(same)) == 2


def test_groups_with_numbers_are_named_by_their_dim():
    folds = bayescm.curve_posterior(Y, A, by={"fold": np.arange(70) % 5}, **DRAWS)
    names = [f"fold {i}" for i in range(5)]
    ax = bayescm.plots.plot_curve(bayescm.curve_band(folds))
    assert legend(ax)[:5] == names
    assert {float(band.get_facecolor()[0][3]) for band in bands(ax)} == {0.08}  # many are fainter
    assert [text.partition(":")[0] for text in legend(bayescm.plots.plot_areas(folds))] == names


def test_axes_are_kept_and_their_colours_go_on(one):
    data = bayescm.curve_band(one)
    _, mine = plt.subplots()
    mine.plot([-1, 0], [0, 3])
    assert bayescm.plots.plot_curve(data, ax=mine) is mine
    bayescm.plots.plot_curve(data, ax=mine)
    first, second = bands(mine)
    assert tuple(first.get_facecolor()[0]) != tuple(second.get_facecolor()[0])
    assert [text.get_text() for text in mine.texts] == ["chance"]
    assert mine.get_xlim()[0] <= -1
    assert mine.get_ylim()[1] >= 3


def test_a_class_without_items_has_no_curve_but_a_band():
    post = bayescm.curve_posterior([0, 0, 0], [0.1, 0.2, 0.3], labels=[0, 1], **DRAWS)
    data = bayescm.curve_band(post, method="pointwise")
    ax = bayescm.plots.plot_curve(data)
    check_band(bands(ax)[0], data, "fpr")
    assert np.isnan(thick(ax)[0].get_ydata()[1:]).all()


@pytest.mark.parametrize("n", [1, 20])
def test_perfect_separation_and_few_items(n):
    post = bayescm.curve_posterior([0] * n + [1] * n, np.arange(2.0 * n), **DRAWS)
    for space in ("roc", "pr"):
        ax = bayescm.plots.plot_curve(bayescm.curve_band(post, space=space), iso_f1=True)
        np.testing.assert_allclose(thick(ax)[0].get_ydata()[space == "roc" :], 1)
        ax.figure.canvas.draw()


def test_lines_of_equal_f1(one):
    data = bayescm.curve_band(one, space="pr", method="pointwise")
    ax = bayescm.plots.plot_curve(data, iso_f1=[0.2, 0.6, 0.7])
    assert [text.get_text() for text in ax.texts] == ["f1=0.2", "f1=0.6", "f1=0.7"]
    for text, f1 in zip(ax.texts, (0.2, 0.6, 0.7), strict=True):
        x, y = text.get_position()
        assert abs(2 * x * y / (x + y) - f1) < 0.05
        for line in (data["point"], data["band"].sel(ci_bound="lower"), data["band"].sel(ci_bound="upper")):
            assert np.hypot(data["recall"] - x, line - y).min() > 0.05
    assert len(bayescm.plots.plot_curve(data, iso_f1=True).texts) >= 3
    assert not bayescm.plots.plot_curve(data).texts
    roc = bayescm.curve_band(one)
    with pytest.raises(ValueError, match="`iso_f1` is for the PR plane"):
        bayescm.plots.plot_curve(roc, iso_f1=[0.5])


def test_the_difference_is_below(two):
    data = bayescm.curve_band(two)
    lower_data = bayescm.curve_band(two, difference=("forest", "logistic"), method="pointwise")
    axes = bayescm.plots.plot_curve(data, difference=lower_data, median=True)
    upper, lower = axes
    assert len(bands(upper)) == 2
    check_band(bands(lower)[0], lower_data, "fpr")
    (line,) = thick(lower)
    np.testing.assert_array_equal(line.get_ydata(), lower_data["point"])
    np.testing.assert_array_equal(medians(lower)[0].get_ydata(), lower_data["median"])
    assert lower.get_ylabel() == "forest minus logistic"
    assert lower.get_title(loc="left") == "Difference: 95%, pointwise: each point alone"
    assert upper.get_shared_x_axes().joined(upper, lower)
    assert (upper.get_xlabel(), lower.get_xlabel()) == ("", "False positive rate")
    assert any(set(one.get_ydata()) == {0.0} for one in lower.lines)
    _, mine = plt.subplots(2, 1)
    assert bayescm.plots.plot_curve(data, difference=lower_data, ax=mine)[1] is mine[1]
    long = lower_data.assign_attrs(difference=json.dumps(["RandomForestClassifier", "LogisticRegression"]))
    lower = bayescm.plots.plot_curve(data, difference=long)[1]
    assert lower.get_ylabel() == "RandomForestClassifier\nminus LogisticRegression"


def test_a_posterior_is_drawn_with_its_simultaneous_band(one):
    ax, wanted = bayescm.plots.plot_curve(one), bayescm.plots.plot_curve(bayescm.curve_band(one))
    assert ax.get_legend().get_title().get_text() == wanted.get_legend().get_title().get_text()
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), wanted.lines[0].get_xydata())


def test_curve_errors(one, two):
    data, pr = bayescm.curve_band(one), bayescm.curve_band(one, space="pr")
    both = bayescm.curve_band(two)
    minus = bayescm.curve_band(two, difference=("forest", "logistic"))
    for given, error, match in (
        (bayescm.posterior([[5, 1], [2, 4]]), ValueError, "must be what bayescm.curve_posterior"),
        (None, TypeError, "`data` must be"),
        ({}, ValueError, "`data` is empty"),
        ({"a": data, "b": pr}, ValueError, "mixes the PR and the ROC plane"),
        (xr.concat([both] * 2, "fold"), ValueError, "at most one batch dim"),
        (both.isel(system=[]), ValueError, "size 0"),
        ({str(i): data for i in range(9)}, ValueError, "more than 8"),
        (minus, ValueError, "difference of two curves"),
    ):
        with pytest.raises(error, match=match):
            bayescm.plots.plot_curve(given)
    for names in (["one"], "ab"):
        with pytest.raises(ValueError, match="`names` must be 2 names"):
            bayescm.plots.plot_curve(both, names=names)
    whole = bayescm.curve_band(one, method="whole")
    with pytest.raises(ValueError, match="`median` isn't in a band of the whole curve"):
        bayescm.plots.plot_curve(whole, median=True)
    _, ax = plt.subplots()
    for given, difference, more, match in (
        (both, both, {}, "must be made by"),
        (pr, minus, {}, "`difference` must be of the plane"),
        (both, minus, {"ax": ax}, "`ax` must be two Axes"),
        (both, minus.drop_vars("median"), {"median": True}, "`median` isn't in `difference`"),
    ):
        with pytest.raises(ValueError, match=match):
            bayescm.plots.plot_curve(given, difference=difference, **more)


def bars(ax):
    return [line for line in ax.lines if line.get_linewidth() == 2.2]


def densities(ax):
    return [line for line in ax.lines if line.get_linewidth() == 1.8]


def test_areas_show_density_interval_and_who_has_more(two):
    ax = bayescm.plots.plot_areas(two, ci_prob=0.9)
    draws = two["posterior"]["auc"].transpose("system", ...).values.reshape(2, -1)
    for one, line, bar, mark in zip(
        draws, densities(ax), bars(ax), [x for x in ax.lines if x.get_marker() == "o"], strict=True
    ):
        np.testing.assert_allclose(bar.get_xdata(), np.quantile(one, [0.05, 0.95]))
        np.testing.assert_allclose(mark.get_xdata(), np.median(one))
        assert bar.get_ydata()[0] < 0
        x, y = line.get_data()
        assert 0 <= x.min() < x.max() <= 1
        np.testing.assert_allclose(np.trapezoid(y, x), 1, atol=0.01)
        np.testing.assert_allclose(np.trapezoid(x * y, x), one.mean(), atol=0.005)
    share = (draws[0] > draws[1]).mean()
    assert title(ax) in (f"P(forest > logistic) = {share:.3f}", "P(forest > logistic) > 0.999")
    lower, median, upper = np.quantile(draws[1], [0.05, 0.5, 0.95])
    assert legend(ax)[1] == f"logistic: median {median:.2f}, 90% ETI {lower:.2f} to {upper:.2f}"
    assert ax.get_xlabel() == "Area under the ROC curve"
    reverse = two["posterior"].to_dataset().isel(system=[1, 0])
    assert title(bayescm.plots.plot_areas(reverse)) in (
        f"P(logistic > forest) = {1 - share:.3f}",
        "P(logistic > forest) < 0.001",
    )


def test_areas_compare_with_a_reference(one, two):
    ax = bayescm.plots.plot_areas(one["posterior"], metric="average_precision", reference=0.85)
    above = (one["posterior"]["average_precision"].values > 0.85).mean()
    assert legend(ax)[-1] == f"P(> 0.85) = {above:.3f}"
    assert title(ax) == ""
    assert ax.get_xlabel() == "Average precision"
    both = bayescm.plots.plot_areas(two, reference=2)
    assert [text.endswith("; P(> 2) < 0.001") for text in legend(both)] == [True, True, False]
    assert legend(both)[-1] == "reference 2"
    assert both.get_xlim()[1] > 2


def test_areas_of_other_variables(one, two):
    ax = bayescm.plots.plot_areas(two, metric="partial_auc_fpr_corrected", names=["x", "y"])
    assert ax.get_xlabel() == "Area under the ROC curve over a range of false positive rates, corrected"
    assert [text[:2] for text in legend(ax)] == ["x:", "y:"]
    points = bayescm.curve_posterior(Y, A, at_specificity=[0.8, 0.9], **DRAWS)
    ax = bayescm.plots.plot_areas(points, metric="sensitivity_at_specificity")
    assert [text.partition(":")[0] for text in legend(ax)] == ["specificity 0.8", "specificity 0.9"]
    assert title(ax) == ""  # two points of one curve
    ax = bayescm.plots.plot_areas({"one": one, "two": two})
    assert [text.partition(":")[0] for text in legend(ax)] == ["one", "two forest", "two logistic"]
    assert title(bayescm.plots.plot_areas({"a": one, "b": one})) == ""  # of two trees, whose draws aren't joint


def test_areas_that_are_known_equal_or_undefined(two):
    same = bayescm.curve_posterior(Y, {"a": A, "b": A}, **DRAWS)
    assert title(bayescm.plots.plot_areas(same)) == "P(a > b) < 0.001, equal in 100% of the draws"
    sure = bayescm.curve_posterior([0] * 5 + [1] * 5, np.arange(10.0), prior="bootstrap", **DRAWS)
    ax = bayescm.plots.plot_areas(sure)
    assert legend(ax) == ["1 in every draw"]
    (line,) = densities(ax)
    assert list(line.get_xdata()) == [1, 1]
    posterior = two["posterior"].to_dataset()
    broken = posterior.assign(auc=posterior["auc"].where(posterior["system"] != "forest"))
    ax = bayescm.plots.plot_areas(broken)
    assert legend(ax)[0] == "forest: undefined in some draws"
    assert len(bars(ax)) == 1
    assert title(ax) == ""


def test_area_errors(one, two):
    for given, error, match in (
        (3, TypeError, "`data` must be what bayescm.curve_posterior returns"),
        ({}, ValueError, "`data` is empty"),
        ({str(i): one for i in range(9)}, ValueError, "9 densities"),
    ):
        with pytest.raises(error, match=match):
            bayescm.plots.plot_areas(given)
    for var in ("area", "sensitivity_at_specificity", "tpr"):
        with pytest.raises(ValueError, match="`metric` must be one of auc, average_precision"):
            bayescm.plots.plot_areas(two, metric=var)
    with pytest.raises(ValueError, match="`names` must be 2 names"):
        bayescm.plots.plot_areas(two, names=["a"])
    with pytest.raises(ValueError, match="`ci_prob`"):
        bayescm.plots.plot_areas(two, ci_prob=95)


@pytest.mark.parametrize(
    ("lower", "upper", "digits"),
    [
        (0.82, 0.91, 2),
        (0.88, 0.91, 2),
        (0.0052, 0.017, 3),
        (0.861, 0.869, 3),
        (0.7, 0.9986, 3),
        (0.0004, 0.3, 4),
        (0, 1, 2),
        (0.7, 1, 2),
        (0.4, 0.4, 3),
    ],
)
def test_no_false_zero_or_one(lower, upper, digits):
    assert decimals_of(lower, upper) == digits


def test_thresholds_show_bands_and_the_best(over):
    ax = bayescm.plots.plot_thresholds(over, ci_prob=0.8)
    posterior = over["posterior"].to_dataset()
    x = posterior["threshold"].values
    names = list(posterior["metric"].values)
    for name, line, fill in zip(names, thick(ax), ax.collections, strict=True):
        expected = posterior[name].quantile([0.1, 0.5, 0.9], ["chain", "draw"], skipna=False).values
        np.testing.assert_array_equal(line.get_xdata(), x)
        np.testing.assert_allclose(line.get_ydata(), expected[1])
        found = {tuple(v) for v in fill.get_paths()[-1].vertices.round(9)}
        known = np.isfinite(expected).all(0)
        middle = np.flatnonzero(known)[len(x) // 2]
        assert (x[middle].round(9), expected[0, middle].round(9)) in found
        assert (x[middle].round(9), expected[2, middle].round(9)) in found
    marks = [line for line in ax.lines if line.get_marker() == "D"]
    heights = []
    for name, bar, mark in zip(names, bars(ax), marks, strict=True):
        best = posterior["best_threshold"].sel(metric=name).values.ravel()
        low, high = bar.get_xdata()
        assert {low, high} <= set(x)  # best thresholds are thresholds
        assert (best < low).mean() <= 0.1 <= (best <= low).mean()
        assert (best < high).mean() <= 0.9 <= (best <= high).mean()
        assert mark.get_xdata()[0] == float(over["constant_data"]["chosen_threshold"].sel(metric=name))
        heights.append(bar.get_ydata()[0])
    assert (np.diff(heights) < 0).all()
    lowest = min(np.nanmin(fill.get_paths()[0].vertices[:, 1]) for fill in ax.collections)
    assert heights[0] < min(lowest, 0)
    assert ax.get_ylim()[0] < heights[-1]
    assert title(ax).startswith("median with 80% band, pointwise")
    assert [text.partition(": best at ")[0] for text in legend(ax)] == [
        "f1",
        "matthews correlation",
        "balanced accuracy",
    ]


def test_thresholds_of_a_choice(over):
    ax = bayescm.plots.plot_thresholds(over, metrics=["matthews_correlation", "tpr"])
    assert len(bars(ax)) == 1
    assert legend(ax)[1] == "tpr"
    assert title(ax).count("\n") == 1
    ax = bayescm.plots.plot_thresholds(over["posterior"].to_dataset(), metrics="f1", best=False)
    assert not bars(ax)
    assert legend(ax) == ["f1"]
    assert ax.get_ylabel() == "f1"
    assert title(ax) == "median with 95% band, pointwise: each threshold alone"
    rates = bayescm.curve_posterior(Y, A, over="threshold", **DRAWS)
    assert legend(bayescm.plots.plot_thresholds(rates)) == ["tpr", "fpr", "precision"]
    assert bayescm.plots.plot_thresholds(rates, legend=False).get_legend() is None


def test_infinite_thresholds_are_left_out():
    score = A.copy()
    score[Y == 1] = np.where(A[Y == 1] > 1.5, np.inf, A[Y == 1])
    post = bayescm.curve_posterior(Y, score, over="threshold", metrics=["precision", "f1"], **DRAWS)
    ax = bayescm.plots.plot_thresholds(post)
    assert np.isfinite(ax.get_xlim()).all()
    for line in thick(ax):
        assert np.isfinite(line.get_xdata()).all()
    assert legend(ax)[0] == "precision: best at inf (inf to inf)"
    assert [line.get_marker() for line in ax.lines if line.get_marker() in "<>"] == [">", ">"]
    ax.figure.canvas.draw()
    nothing = post["posterior"].to_dataset().isel(threshold=[0])
    with pytest.raises(ValueError, match="no finite threshold"):
        bayescm.plots.plot_thresholds(nothing)


def test_thresholds_where_a_metric_is_undefined(over):
    posterior = over["posterior"].to_dataset()
    f1 = posterior["f1"].where((posterior["draw"] > 0) | (posterior["threshold"] < 0))
    ax = bayescm.plots.plot_thresholds(posterior.assign(f1=f1), metrics="f1")
    y = thick(ax)[0].get_ydata()
    np.testing.assert_array_equal(np.isnan(y), posterior["threshold"] >= 0)


def test_threshold_errors(one, over):
    with pytest.raises(TypeError, match="`data` must be a posterior over thresholds"):
        bayescm.plots.plot_thresholds(one)
    several = bayescm.curve_posterior(Y, {"a": A, "b": B}, over="threshold", metrics=["f1"], **DRAWS)
    with pytest.raises(ValueError, match="it has the dim 'system'"):
        bayescm.plots.plot_thresholds(several)
    assert len(bars(bayescm.plots.plot_thresholds(several["posterior"].to_dataset().sel(system="b")))) == 1
    for metrics, match in ((["f2"], "got 'f2'"), ([], "got none"), (["f1", "f1"], "twice")):
        with pytest.raises(ValueError, match=match):
            bayescm.plots.plot_thresholds(over, metrics=metrics)
    many = ["f1", "f2", "mcc", "recall", "specificity", "accuracy", "kappa"]
    seven = bayescm.curve_posterior(Y, A, over="threshold", metrics=many, **DRAWS)
    with pytest.raises(ValueError, match="7 metrics, and more than 6 can't be told apart"):
        bayescm.plots.plot_thresholds(seven)


def test_display_of_predictions():
    made = bayescm.CurveDisplay.from_predictions(Y, A, name="mine", random_seed=1)
    assert isinstance(made.posterior, xr.DataTree)
    assert made.figure_ is made.ax_.figure
    check_band(bands(made.ax_)[0], made.band, "fpr")
    lower, median, upper = np.quantile(made.posterior["posterior"]["auc"], [0.025, 0.5, 0.975])
    assert legend(made.ax_) == [f"mine (AUC = {median:.2f} [{lower:.2f}, {upper:.2f}])"]
    assert title(made.ax_) == "95%, simultaneous at 91 false positive rates from 0.05 to 0.95"
    other = bayescm.CurveDisplay(made.posterior, method="pointwise", ci_prob=0.5)
    assert other.plot(made.ax_, name="other", color="red", point=False) is other
    assert other.ax_ is made.ax_
    assert legend(made.ax_)[1].startswith("other (AUC = ")
    assert legend(made.ax_)[1].endswith("\n50%, pointwise: each point alone")
    assert tuple(bands(made.ax_)[1].get_facecolor()[0][:3]) == to_rgb("red")
    pr = bayescm.CurveDisplay.from_predictions(
        Y, A, space="pr", prevalence=0.1, iso_f1=True, median=True, random_seed=1
    )
    assert legend(pr.ax_)[0].startswith("AP = 0.")
    assert pr.posterior.attrs["prevalence"] == 0.1


def test_display_of_several_systems():
    made = bayescm.CurveDisplay.from_predictions(Y, {"a": A, "b": B}, random_seed=1)
    assert [text.partition(" (AUC")[0] for text in legend(made.ax_)] == ["a", "b"]
    with pytest.raises(ValueError, match="`color` is for a single curve"):
        made.plot(color="red")


def test_display_refuses_options_before_it_draws():
    for options in ({"linewidth": 3}, {"difference": 1}, {"legend": False}):
        with pytest.raises(TypeError, match="isn't an option of CurveDisplay"):
            bayescm.CurveDisplay.from_predictions(Y, A, **options)


class Fake:
    """A classifier as scikit-learn has them."""

    classes_ = np.array(["no", "yes"])

    def predict_proba(self, X):
        return np.stack([1 - X, X], -1)


class Margin:
    classes_ = np.array(["no", "yes"])

    def decision_function(self, X):
        return X - 0.5


X = 1 / (1 + np.exp(-A))
WORDS = np.array(["no", "yes"])[Y]


@pytest.mark.parametrize("kind", [Fake, Margin])
def test_display_of_an_estimator(kind):
    expected = bayescm.curve_posterior(WORDS, X, pos_label="yes", random_seed=1)["posterior"]["auc"]
    made = bayescm.CurveDisplay.from_estimator(kind(), X, WORDS, random_seed=1)
    np.testing.assert_allclose(made.posterior["posterior"]["auc"], expected)
    assert legend(made.ax_)[0].startswith(f"{kind.__name__} (AUC = ")
    turned = bayescm.CurveDisplay.from_estimator(kind(), X, WORDS, pos_label="no", name="n", random_seed=1)
    reverse = bayescm.curve_posterior(WORDS, -X, pos_label="no", random_seed=1)["posterior"]["auc"]
    np.testing.assert_allclose(turned.posterior["posterior"]["auc"], reverse)
    np.testing.assert_array_equal(turned.posterior["observed_data"]["positive"], WORDS == "no")
    assert legend(turned.ax_)[0].startswith("n (AUC = 0.")
    point = made.band["point"]
    assert float(point.mean()) > 0.6  # neither is upside down
    assert float(turned.band["point"].mean()) > 0.6


def test_display_of_an_estimator_chooses_the_method():
    class Both(Fake):
        def decision_function(self, X):
            return 1 - X

    proba, margin = (
        bayescm.CurveDisplay.from_estimator(Both(), X, WORDS, response_method=method, random_seed=1)
        for method in ("auto", "decision_function")
    )
    assert float(proba.posterior["posterior"]["auc"].mean()) > 0.6
    assert float(margin.posterior["posterior"]["auc"].mean()) < 0.4


def test_display_of_an_estimator_with_one_class_in_the_test_set():
    made = bayescm.CurveDisplay.from_estimator(Fake(), X[:5], ["no"] * 5, random_seed=1)
    assert np.isnan(made.band["point"]).all()


class Unfitted:
    def predict_proba(self, X):
        raise RuntimeError("call fit first")


class Three(Fake):
    classes_ = np.arange(3)

    def predict_proba(self, X):
        return np.stack([X, X, X], -1)


class Unsaid(Fake):
    classes_ = np.array(["low", "high"])


class Outputs(Fake):
    classes_ = (np.arange(2), np.arange(2))


class Detector(Margin):
    classes_ = property()


class Shapeless(Fake):
    def predict_proba(self, X):
        return X


@pytest.mark.parametrize(
    ("estimator", "options", "error", "match"),
    [
        (object(), {}, TypeError, "must be a classifier with predict_proba or decision_function; got object"),
        (Fake, {}, TypeError, "got the class Fake"),
        (Unfitted(), {}, RuntimeError, "call fit first"),
        (Three(), {}, ValueError, "must know two classes; Three has 3 classes"),
        (Outputs(), {}, ValueError, "Outputs has several outputs"),
        (Detector(), {}, TypeError, "with `classes_`, which Detector lacks"),
        (Shapeless(), {}, ValueError, "must give scores of two classes"),
        (Fake(), {"pos_label": "maybe"}, ValueError, "`pos_label` must be one of"),
        (Unsaid(), {}, ValueError, "`pos_label` is needed: which of 'low' and 'high'"),
        (Fake(), {"response_method": "decision_function"}, ValueError, "isn't in Fake, which has 'predict_proba'"),
        (Fake(), {"response_method": "predict"}, ValueError, "`response_method` must be one of"),
    ],
)
def test_estimator_errors(estimator, options, error, match):
    with pytest.raises(error, match=match):
        bayescm.CurveDisplay.from_estimator(estimator, X, WORDS, **options)


def test_display_with_scikit_learn():
    linear = pytest.importorskip("sklearn.linear_model")
    from sklearn.datasets import make_classification
    from sklearn.exceptions import NotFittedError
    from sklearn.metrics import RocCurveDisplay, roc_auc_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    inputs, labels = make_classification(200, random_state=0)
    for estimator in (make_pipeline(StandardScaler(), linear.LogisticRegression()), SVC()):
        estimator.fit(inputs[:100], labels[:100])
        made = bayescm.CurveDisplay.from_estimator(estimator, inputs[100:], labels[100:], random_seed=1)
        theirs = RocCurveDisplay.from_estimator(estimator, inputs[100:], labels[100:])
        score = estimator.decision_function(inputs[100:])
        assert abs(float(made.posterior["posterior"]["auc"].median()) - roc_auc_score(labels[100:], score)) < 0.02
        line = thick(made.ax_)[0]
        np.testing.assert_allclose(np.trapezoid(line.get_ydata(), line.get_xdata()), theirs.roc_auc, atol=0.02)
    with pytest.raises(NotFittedError):
        bayescm.CurveDisplay.from_estimator(linear.LogisticRegression(), inputs, labels)
    with pytest.raises(TypeError, match="must be a classifier"):
        bayescm.CurveDisplay.from_estimator(linear.LinearRegression().fit(inputs, labels), inputs, labels)


@pytest.mark.slow
def test_display_imports_no_scikit_learn():
    code = (
        "import bayescm, sys; bayescm.CurveDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9]);"
        "print('sklearn' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import matplotlib as m; m.use('agg'); {code}"], capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(("space", "asked", "level"), [
    ("roc", None, [0.0, 1.0]), ("roc", True, [0.0, 1.0]), ("roc", False, None), ("pr", None, None), ("pr", True, 0.3),
])  # fmt: skip
def test_the_line_of_guessing(space, asked, level):
    y = np.repeat([0, 1], [700, 300])
    options = {} if asked is None else {"plot_chance_level": asked}
    shown = bayescm.CurveDisplay.from_predictions(y, np.arange(1000) % 97, space=space, random_seed=1, **options)
    drawn = [line.get_ydata() for line in shown.ax_.lines if line.get_linestyle() == ":"]
    assert [text.get_text() for text in shown.ax_.texts] == ["chance"] * (level is not None)
    assert len(drawn) == (level is not None)
    if drawn:
        np.testing.assert_allclose(drawn[0], np.broadcast_to(level, 2), atol=0.02)
