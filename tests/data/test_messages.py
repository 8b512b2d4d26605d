"""Errors of entry points that used to come from below, in words of xarray or NumPy."""

import dask.array as da
import numpy as np
import pandas as pd
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


@pytest.mark.parametrize("function", [bayescm.data.paired_counts, bayescm.predictions])
@pytest.mark.parametrize("predictions", [xr.DataArray(3), np.array(3), 3, None])
def test_predictions_that_are_none(function, predictions):
    with pytest.raises(TypeError, match="`y_pred` must be the predictions of several systems"):
        function([0, 1], predictions)


@pytest.mark.parametrize("largest", [1.7e308, -1e308, 2e150])
def test_scores_whose_squares_overflow_are_refused(largest):
    scores = [0.1, 0.2, 0.3, 0.2, 0.9, largest]
    for function in (bayescm.auc, bayescm.aucpr, bayescm.curve_posterior, bayescm.curves.counts_at_thresholds):
        with pytest.raises(ValueError, match=r"`y_score` must not exceed 1e\+150 unless infinite .* at position 5"):
            function(TRUE, scores)


def test_the_largest_scores_are_right():
    scores = np.array([-1.0, -0.5, 0.2, 0.1, 0.9, 1.0])
    for function in (bayescm.auc, bayescm.aucpr):
        want, got = (function(TRUE, scores * scale, random_seed=1) for scale in (1.0, 1e150))
        np.testing.assert_allclose(got["point"], want["point"], rtol=1e-12)
        np.testing.assert_allclose(got["interval"], want["interval"], rtol=1e-12)
    drawn = [bayescm.curve_posterior(TRUE, s, over="threshold", metrics="f1", draws=20, random_seed=1)["posterior"]
             for s in (scores, scores * 1e150)]  # fmt: skip
    np.testing.assert_array_equal(drawn[0]["f1"], drawn[1]["f1"])
    bayescm.plots.plot_thresholds(
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
    want, got = (bayescm.planning.replicate(COUNTS, metric(scale)) for scale in (1.0, 1e99))
    np.testing.assert_allclose(got["interval"] / 1e99, want["interval"], rtol=1e-12)
    want, got = (bayescm.decide(COUNTS, {"fn": 5 * scale, "fp": scale}) for scale in (1.0, 1e99))
    np.testing.assert_allclose(got["point"] / 1e99, want["point"], rtol=1e-9)


@pytest.mark.parametrize("call", [
    lambda n: bayescm.from_cells(tp=n, fn=1, fp=1, tn=1),
    lambda n: bayescm.from_array([[n, 1], [1, 1]]),
    lambda n: bayescm.summary(n, 10 * n),
    lambda n: bayescm.auc([0, 1, 1], [n, 1, 2]),
    lambda n: bayescm.leaderboard({"A": 0.9, "B": 0.8}, n_items=n),
])  # fmt: skip
@pytest.mark.parametrize("digits", [400, 5000])  # Python itself doesn't print the latter
def test_whole_numbers_beyond_all_floats(call, digits):
    with pytest.raises(ValueError, match=r"^`\w+` has a whole number of more than 300 digits"):
        call(10**digits)


def unknown():
    cells = da.from_array(np.arange(40).reshape(10, 2, 2), chunks=3)
    return xr.DataArray(cells[cells[:, 0, 0] > 4], dims=("system", "actual", "predicted"))


@pytest.mark.parametrize("call", [
    lambda: bayescm.summary(unknown(), "recall"),
    lambda: bayescm.posterior(unknown()),
    lambda: bayescm.region(unknown()),
    lambda: bayescm.from_cells(tp=unknown()[:, 0, 0], fn=1, fp=1, tn=1),
])  # fmt: skip
def test_chunks_of_unknown_sizes(call):
    with pytest.raises(ValueError, match=r"has chunks of unknown sizes.*compute_chunk_sizes"):
        call()


def test_chunks_whose_sizes_were_computed():
    counts = unknown()
    counts.data.compute_chunk_sizes()
    assert bayescm.summary(xr.DataArray(counts.data, dims=counts.dims), "recall").sizes["system"] == 8


def frame(*columns):
    return pd.DataFrame(np.arange(3 * len(columns)).reshape(3, -1) % 2, columns=columns)


@pytest.mark.parametrize("call", [
    lambda: bayescm.summary(frame("actual", "predicted", "predicted")),
    lambda: bayescm.from_table(frame("actual", "predicted", "predicted"), n=None),
    lambda: bayescm.leaderboard(frame("system", "correct", "correct")),
    lambda: bayescm.summary(frame("tp", "fn", "fp", "tn", "tn")),
    lambda: bayescm.compare_systems(frame("actual", "A", "A")),
    lambda: bayescm.leaderboard(frame("B", "A", "A")),
    lambda: bayescm.compare_systems([0, 1, 1], frame("A", "A")),
    lambda: bayescm.leaderboard(frame("A", "A"), runs=2),
])  # fmt: skip
def test_columns_of_one_name(call):
    with pytest.raises(ValueError, match="as a frame has two columns called"):
        call()


def test_cells_that_differ_in_capitals_alone():
    with pytest.raises(ValueError, match="has 'tp' twice"):
        bayescm.summary(frame("tp", "fn", "fp", "tn", "TP"))
