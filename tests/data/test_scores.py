"""Scores where small means positive: one argument, the same answers as of scores with the other sign."""

import warnings

import numpy as np
import pytest
import sklearn.metrics
import xarray as xr
from public import PUBLIC

import bayescm

RNG = np.random.default_rng(8)
Y = np.repeat([0, 1], [30, 20])
SMALL = np.round(RNG.normal(-1.2 * Y), 1)  # ties, and zeros of either sign
SMALLER = {"direction": "smaller"}


def test_areas_are_those_of_the_other_sign():
    found = bayescm.auc(Y, SMALL, random_seed=1, **SMALLER)
    assert found["point"].item() == pytest.approx(sklearn.metrics.roc_auc_score(Y, -SMALL), abs=1e-13)
    assert found.attrs["direction"] == "smaller"
    xr.testing.assert_equal(found, bayescm.auc(Y, -SMALL, random_seed=1))
    xr.testing.assert_equal(bayescm.aucpr(Y, SMALL, random_seed=1, **SMALLER), bayescm.aucpr(Y, -SMALL, random_seed=1))
    point = bayescm.aucpr(Y, SMALL, **SMALLER)["point"].item()
    assert point == pytest.approx(sklearn.metrics.average_precision_score(Y, -SMALL), abs=1e-13)
    other = RNG.normal(-Y)
    xr.testing.assert_equal(
        bayescm.curves.auc_difference(Y, {"a": SMALL, "b": other}, random_seed=1, **SMALLER),
        bayescm.curves.auc_difference(Y, {"a": -SMALL, "b": -other}, random_seed=1),
    )


def test_counts_are_at_thresholds_as_given():
    counts = bayescm.curves.counts_at_thresholds(Y, SMALL, **SMALLER)
    assert counts["threshold"].values.tolist() == np.unique(SMALL).tolist()
    for threshold, found in zip(counts["threshold"].values, counts.values, strict=True):
        np.testing.assert_array_equal(found, sklearn.metrics.confusion_matrix(Y, threshold >= SMALL))
    given = bayescm.curves.counts_at_thresholds(Y, SMALL, thresholds=[0.0, -1.0], **SMALLER)
    assert given["threshold"].values.tolist() == [0.0, -1.0]
    np.testing.assert_array_equal(given.values[1], sklearn.metrics.confusion_matrix(Y, SMALL <= -1))
    assert not np.signbit(given["threshold"].values[0])


@pytest.mark.parametrize("space", ["roc", "pr"])
def test_pointwise_intervals_and_hulls(space):
    one = bayescm.curves.intervals(Y, SMALL, space=space, **SMALLER)
    other = bayescm.curves.intervals(Y, -SMALL, space=space)
    np.testing.assert_array_equal(one["threshold"], -other["threshold"])
    np.testing.assert_array_equal(one["interval"], other["interval"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hulls = bayescm.curves.hull(one), bayescm.curves.hull(other)
    np.testing.assert_array_equal(hulls[0]["area"], hulls[1]["area"])
    np.testing.assert_array_equal(hulls[0]["hull"], hulls[1]["hull"])


def test_curves_and_best_thresholds():
    settings = {"over": "threshold", "metrics": ["f1", "error_rate"], "draws": 50, "random_seed": 1}
    one = bayescm.curve_posterior(Y, SMALL, **SMALLER, **settings)
    other = bayescm.curve_posterior(Y, -SMALL, **settings)
    for name in ("auc", "average_precision", "tpr", "fpr", "f1", "regret", "best_value"):
        np.testing.assert_array_equal(one["posterior"][name], other["posterior"][name])
    np.testing.assert_array_equal(one["posterior"]["threshold"], -other["posterior"]["threshold"])
    np.testing.assert_array_equal(one["posterior"]["best_threshold"], -other["posterior"]["best_threshold"])
    chosen = one["constant_data"]["chosen_threshold"]
    np.testing.assert_array_equal(chosen, -other["constant_data"]["chosen_threshold"])
    np.testing.assert_array_equal(one["observed_data"]["score"], SMALL)
    at = bayescm.curve_posterior(Y, SMALL, points=[-1.0, 0.5], **SMALLER, **settings)["posterior"]
    assert at["threshold"].values.tolist() == [-1.0, 0.5]
    assert (at["tpr"].diff("threshold") >= 0).all()  # more is called positive at the larger one


@pytest.mark.parametrize("kind", ["simultaneous", "whole"])
def test_bands_know_the_direction(kind):
    settings = {"draws": 100, "points": 21, "random_seed": 1}
    bands = [
        bayescm.curve_band(bayescm.curve_posterior(Y, score, **more, **settings), method=kind)
        for score, more in ((SMALL, SMALLER), (-SMALL, {}))
    ]
    xr.testing.assert_equal(*bands)
    assert bands[0]["point"].sel(fpr=0.5) > 0.7


def test_an_area_below_a_half_says_what_to_call():
    with pytest.warns(UserWarning, match=r"ends below 0\.5.*direction='smaller'"):
        found = bayescm.auc(Y, SMALL)
    assert "other way" in found.attrs["note"]
    with pytest.warns(UserWarning, match="area of b ends below"):
        found = bayescm.auc(Y, {"a": -SMALL, "b": SMALL}, method=["delong", "logit_delong"])
    with pytest.warns(UserWarning, match="direction='larger'"):
        bayescm.auc(Y, -SMALL, **SMALLER)
    assert "note" not in bayescm.auc(Y, RNG.normal(size=50)).attrs  # chance


@pytest.mark.parametrize(
    ("direction", "words"),
    [("auto", "every area too large"), ("<", "pROC's '<'.*is 'larger'"), (">", "pROC"), ("up", "must be one of"),
     (None, "must be one of")],
)  # fmt: skip
@pytest.mark.parametrize("function", ["auc", "aucpr", "counts_at_thresholds", "curve_posterior", "intervals"])
def test_other_directions_are_refused(function, direction, words):
    with pytest.raises(ValueError, match=f"`direction`.*{words}"):
        PUBLIC[function](Y, SMALL, direction=direction)


def test_choosing_the_direction_makes_areas_too_large():
    """Why there is no "auto": of scores that know nothing its mean is far above 1/2."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        areas = [bayescm.auc(Y, RNG.normal(size=50), method="hanley_mcneil")["point"].item() for _ in range(100)]
    assert np.mean(areas) == pytest.approx(0.5, abs=4 * np.std(areas) / 10)
    assert np.mean(np.maximum(areas, 1 - np.array(areas))) > 0.55
