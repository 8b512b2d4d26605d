"""Errors of entry points that used to come from below, in words of xarray or NumPy."""

import numpy as np
import pytest
import xarray as xr

import bayescm

COUNTS = bayescm.from_cells(tp=26, fn=2, fp=3, tn=6)
TRUE = [0, 0, 0, 1, 1, 1]


def test_labels_of_a_bare_table_must_be_as_many_as_its_classes():
    table = xr.DataArray([[6, 2], [0, 26]], dims=("actual", "predicted"))
    with pytest.raises(ValueError, match=r"`labels` must name the 2 classes of `array`"):
        bayescm.from_array(table, labels=["a", "b", "c"])
    assert bayescm.from_array(table, labels=["a", "b"]).actual.values.tolist() == ["a", "b"]


@pytest.mark.parametrize("function", [bayescm.paired_counts, bayescm.predictions])
@pytest.mark.parametrize("predictions", [xr.DataArray(3), np.array(3), 3, None])
def test_predictions_that_are_none(function, predictions):
    with pytest.raises(TypeError, match="`y_pred` must be the predictions of several systems"):
        function([0, 1], predictions)


@pytest.mark.parametrize("largest", [1.7e308, -1e308, 2e150])
def test_scores_whose_squares_overflow_are_refused(largest):
    scores = [0.1, 0.2, 0.3, 0.2, 0.9, largest]
    for function in (bayescm.auc, bayescm.aucpr, bayescm.curve_posterior, bayescm.counts_at_thresholds):
        with pytest.raises(ValueError, match=r"`y_score` must not exceed 1e\+150 unless infinite .* at position 5"):
            function(TRUE, scores)


def test_the_largest_scores_are_right():
    scores = np.array([-1.0, -0.5, 0.2, 0.1, 0.9, 1.0])
    for function in (bayescm.auc, bayescm.aucpr):
        want, got = (function(TRUE, scores * scale) for scale in (1.0, 1e150))
        np.testing.assert_allclose(got["point"], want["point"], rtol=1e-12)
        np.testing.assert_allclose(got["interval"], want["interval"], rtol=1e-12)
    drawn = [bayescm.curve_posterior(TRUE, s, over="threshold", metrics="f1", draws=20, random_seed=1)["posterior"]
             for s in (scores, scores * 1e150)]  # fmt: skip
    np.testing.assert_array_equal(drawn[0]["f1"], drawn[1]["f1"])
    bayescm.plot_thresholds(
        bayescm.curve_posterior(TRUE, scores * 1e150, over="threshold", metrics="f1", draws=200, random_seed=1)
    )


@pytest.mark.parametrize("cost", [1e300, -1e101, float("inf"), float("nan")])
def test_costs_whose_squares_overflow_are_refused(cost):
    with pytest.raises(ValueError, match="costs of expected_cost must be numbers up to 1e"):
        bayescm.metrics.expected_cost(fn=cost)
    with pytest.raises(ValueError, match="`costs` must be finite, at most 1e"):
        bayescm.decide(COUNTS, {"fn": cost, "fp": 1})


def test_the_largest_costs_are_right():
    def metric(scale):
        return bayescm.metrics.expected_cost(fn=5 * scale, fp=scale)

    want, got = (bayescm.summary(COUNTS, metric(scale)) for scale in (1.0, 1e99))
    for name in ("point", "mean", "sd", "interval"):
        np.testing.assert_allclose(got[name] / 1e99, want[name], rtol=1e-6)
    want, got = (bayescm.replicate(COUNTS, metric(scale)) for scale in (1.0, 1e99))
    np.testing.assert_allclose(got["interval"] / 1e99, want["interval"], rtol=1e-12)
    want, got = (bayescm.decide(COUNTS, {"fn": 5 * scale, "fp": scale}) for scale in (1.0, 1e99))
    np.testing.assert_allclose(got["point"] / 1e99, want["point"], rtol=1e-9)
