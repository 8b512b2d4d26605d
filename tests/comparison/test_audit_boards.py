"""Leaderboards of systems of which people checked some answers."""

import numpy as np
import pandas as pd
import pytest
from scipy import integrate

import bayescm

A = bayescm.audited([[17, 1], [3, 19]], [100, 1900])
B = bayescm.audited([[16, 4], [2, 18]], [300, 1650])
C = bayescm.audited([[10, 4], [1, 30]], [150, 1500])


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["prevalence", "error_rate"])
def test_two_audits_by_an_integral_of_their_distributions(metric):
    board = bayescm.leaderboard({"a": A, "b": B}, metric=metric)
    first, second = (bayescm.metric_distribution(one, metric).dist for one in (A, B))
    better = integrate.quad(lambda x: float(first.pdf(x) * second.cdf(x)), 0, 1, limit=300)[0]
    better = 1 - better if metric == "error_rate" else better
    assert board.attrs["method"] == "exact"
    assert float(board.probability_best.sel(system="a")) == pytest.approx(better, abs=1e-5)
    summary = bayescm.summary(A, metric).isel(metric=0)
    for name in ("point", "mean"):
        assert float(board[name].sel(system="a")) == pytest.approx(float(summary[name]), abs=1e-6)
    assert board.attrs["model"] == "stratified"
    assert "chosen by these alone" in board.attrs["assumptions"]
    assert "a sample, too" in board.attrs["assumptions"]


def test_draws_agree():
    named = {"a": A, "b": B, "c": C}
    exact, drawn = (bayescm.leaderboard(named, method=how, random_seed=1, draws=40_000) for how in ("exact", "draws"))
    np.testing.assert_allclose(drawn.rank_probability, exact.rank_probability, atol=5 * 0.5 / np.sqrt(40_000))
    other = bayescm.leaderboard(named, metric="balanced_accuracy", random_seed=1)
    assert other.attrs["method"] == "draws"
    row = bayescm.summary(A, "balanced_accuracy", random_seed=3).isel(metric=0)
    assert float(other["mean"].sel(system="a")) == pytest.approx(float(row["mean"]), abs=0.01)
    some = {name: bayescm.audited([[17, 1], [3, 19]], [100, 100 * n], of="items") for name, n in (("x", 5), ("y", 9))}
    assert np.isfinite(bayescm.leaderboard(some, random_seed=1)["mean"]).all()


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"others \(b\); give bayescm.audited"):
        bayescm.leaderboard({"a": A, "b": [[1, 2], [3, 4]]})
    with pytest.raises(ValueError, match="the same `of`"):
        bayescm.leaderboard({"a": A, "b": bayescm.audited([[17, 1], [3, 19]], [100, 1901], of="items")})
    with pytest.raises(ValueError, match="same labels"):
        bayescm.leaderboard({"a": A, "b": bayescm.audited(np.ones((3, 3), int), [9, 9, 9])})
    with pytest.raises(ValueError, match="needs two audits of the same items"):
        bayescm.leaderboard({"a": A, "b": B}, design="paired")
    with pytest.warns(UserWarning, match="design='independent'"):
        bayescm.leaderboard({"a": A, "b": bayescm.audited([[16, 4], [2, 18]], [350, 1650])})


def test_another_prevalence_is_that_of_a_summary():
    board = bayescm.leaderboard({"a": A, "b": B}, metric="precision", prevalence=0.3, random_seed=1, draws=40_000)
    row = bayescm.summary(A, "precision", prevalence=0.3, random_seed=2).isel(metric=0)
    assert board.attrs["method"] == "draws"
    assert float(board["mean"].sel(system="a")) == pytest.approx(float(row["mean"]), abs=6 * float(row.mcse_mean))
    assert float(board["point"].sel(system="a")) == pytest.approx(float(row["point"]))


def test_two_audits_of_the_same_items_are_ranked_by_one_truth():
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 2, (2, 300))
    seen = pd.DataFrame({"a": first, "b": second, "actual": (first + second + rng.integers(0, 2, 300)) // 2})
    seen["actual"] = seen["actual"].astype(object).where(rng.random(300) < 0.4, None)
    both = {x: bayescm.audited(seen, predicted=x, stratum=y, of="population") for x, y in ("ab", "ba")}
    board = bayescm.leaderboard(both, random_seed=1, draws=40_000)
    assert board.attrs["design"] == "paired"
    compared = bayescm.compare_systems(both, random_seed=2)["summary"].probability_better.item()
    assert float(board.probability_best.sel(system="a")) == pytest.approx(compared, abs=0.015)


@pytest.mark.parametrize("call", [
    lambda: bayescm.summary([A, B]), lambda: bayescm.report(A),
    lambda: bayescm.regions.region_level(A, recall=0.9, precision=0.9),
])  # fmt: skip
def test_what_takes_no_audit_names_what_does(call):
    with pytest.raises(ValueError, match=r"compare_systems\(\{'A': audit_a.*posterior\(audit, metrics="):
        call()


def test_strata_that_are_systems_are_no_batch():
    counts = bayescm.from_array([[[17, 1], [3, 19]]] * 2, dims="system")
    with pytest.raises(ValueError, match="dims='system'"):
        bayescm.leaderboard(bayescm.audited(counts, [[100, 1900]] * 2))
