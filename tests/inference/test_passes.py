"""pass@k and pass^k: the grid beside quadrature, several systems beside resampled tasks, and what is refused."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, special, stats

import bayescm
from bayescm.distributions.pass_rates import PassRate, grid

PASSES = pd.DataFrame({"A": [4, 3, 0, 4, 1, 4, 2, 0, 4, 4], "B": [4, 1, 0, 3, 0, 4, 0, 0, 4, 2]})


def by_quadrature(passes, runs, k, every, x):
    """Return the posterior mean of the rate and its cdf at x, by scipy over the mean and the concentration."""

    def density(m, log_c):
        a, b = m * np.exp(log_c), (1 - m) * np.exp(log_c)
        likelihood = np.prod(special.beta(a + passes, b + runs - passes) / special.beta(a, b))
        return likelihood * stats.norm.pdf(log_c, np.log(2), 1.5)

    def rate(m, log_c):
        a, b = m * np.exp(log_c), (1 - m) * np.exp(log_c)
        n = a + b + np.arange(k)
        return np.prod((a + np.arange(k)) / n) if every else 1 - np.prod((b + np.arange(k)) / n)

    def reach(log_c):
        low, high = 1e-12, 1 - 1e-12
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if rate(middle, log_c) < x else (low, middle)
        return low

    ends = np.log(2) - 6, np.log(2) + 6
    whole = integrate.dblquad(density, *ends, 0, 1, epsabs=0, epsrel=1e-6)[0]
    mean = integrate.dblquad(lambda m, c: rate(m, c) * density(m, c), *ends, 0, 1, epsabs=0, epsrel=1e-6)[0]
    below = integrate.dblquad(density, *ends, 0, reach, epsabs=0, epsrel=1e-5)[0]
    return mean / whole, below / whole


@pytest.mark.slow
@pytest.mark.parametrize(("k", "every", "x"), [(3, True, 0.3), (2, False, 0.8), (8, True, 0.2)])
def test_the_grid_is_the_integral(k, every, x):
    passes = np.array([4, 3, 0, 4, 1, 2])
    dist = PassRate(grid(passes, 4), k, every)
    mean, below = by_quadrature(passes, 4, k, every, x)
    assert dist.mean() == pytest.approx(mean, abs=1e-4)
    assert dist.cdf(x) == pytest.approx(below, abs=2e-4)
    assert dist.ppf(dist.cdf(x)) == pytest.approx(x, abs=1e-6)


@pytest.mark.parametrize("passes", [np.zeros(30, int), np.full(30, 5), np.array([5, 0] * 15), np.array([3])])
def test_extremes_have_an_answer(passes):
    which = grid(passes, 5)
    for k, every in ((1, True), (1, False), (7, True), (7, False)):
        dist = PassRate(which, k, every)
        lower, upper = dist.eti(0.95)
        assert 0 <= lower < dist.mean() < upper <= 1
        assert dist.worst < 1e-3
    one, other = (PassRate(which, 1, every).mean() for every in (True, False))
    assert one == pytest.approx(other, abs=1e-9)


def test_points_are_unbiased_and_match_choices_of_runs():
    found = bayescm.summary(PASSES, ["pass@2", "pass^2", "pass^6"], runs=4)
    for name, passes in PASSES.items():
        one = found.sel(system=name)
        assert one.sel(metric="pass@2").point == pytest.approx(np.mean([1 - math.comb(4 - c, 2) / 6 for c in passes]))
        assert one.sel(metric="pass^2").point == pytest.approx(np.mean([math.comb(c, 2) / 6 for c in passes]))
        assert one.sel(metric="pass^6").point == one.sel(metric="pass^6")["mean"]  # of more runs than there were
    assert set(found.method.values.tolist()) == {"exact"}
    assert found.attrs["flaky"] == '["6", "9", "1", "3", "4"]'


@pytest.mark.slow
def test_systems_on_the_same_tasks_are_as_far_apart_as_their_means_are_when_all_is_done_again():
    rng = np.random.default_rng(3)

    def again():
        chance = rng.beta(0.8, 0.6, 100)
        return {"a": rng.binomial(6, chance), "b": rng.binomial(6, chance**1.2)}

    means = [[PassRate(grid(passes, 6), 3, True).mean() for passes in again().values()] for _ in range(80)]
    stated = []
    for i in range(5):
        found = bayescm.compare_systems(again(), "pass^3", runs=6, draws=1000, random_seed=i)["summary"]
        stated.append(found["sd"].item())
    assert np.mean(stated) == pytest.approx(np.std(np.subtract(*np.transpose(means))), rel=0.25)  # of 80: .08
    assert np.mean(stated) < 0.8 * np.hypot(*np.std(means, 0))  # what is hard for one is hard for the other


@pytest.mark.slow
def test_a_board_and_claims_are_of_the_same_posterior():
    board = bayescm.leaderboard(PASSES, metric="pass^3", runs=4, draws=20_000, random_seed=1)
    pair = bayescm.compare_systems(PASSES, "pass^3", runs=4, draws=20_000, random_seed=1)["summary"]
    alone = bayescm.summary(PASSES, "pass^3", runs=4)
    np.testing.assert_allclose(board["mean"], alone["mean"].squeeze("metric"), atol=1e-9)
    assert board.probability_best.sel(system="A") == pytest.approx(pair.probability_better.item(), abs=0.01)
    claims = bayescm.probability(PASSES.A, ["pass^3 > .5", "pass^3 > .5 and pass@3 > .8", "accuracy > .5"], runs=4)
    first, both, _ = claims.probability.squeeze().values
    assert 0 < both < first
    assert alone["median"].sel(system="A").item() == pytest.approx(0.5, abs=0.05)


def test_systems_with_other_numbers_of_runs():
    rng = np.random.default_rng(1)
    runs = {"A": (rng.random((30, 4)) < 0.7).astype(int), "B": (rng.random((30, 2)) < 0.6).astype(int)}
    both = bayescm.summary(bayescm.predictions([1] * 30, runs, labels=[0, 1]), "pass@2")
    for name, one in runs.items():
        alone = bayescm.summary({name: one.sum(1)}, "pass@2", runs=one.shape[1])
        np.testing.assert_allclose(both.sel(system=name).interval.values, alone.isel(system=0).interval.values)


def test_runs_that_all_agree_have_an_answer_too():
    told = {"A": np.array([4, 4, 0, 4, 0, 4]), "B": np.array([4, 0, 0, 4, 0, 0])}
    found = bayescm.summary(told, ["accuracy", "pass^3", "pass@3"], runs=4)
    np.testing.assert_allclose(found.point.sel(system="A"), 4 / 6)
    assert set(found.method.values.tolist()) == {"exact"}
    assert "all agreed with themselves" in found.attrs["sampled"]
    pair = bayescm.compare_systems(told, ["accuracy", "pass^3"], runs=4, random_seed=1)["summary"]
    assert pair.probability_better.values.ravel() == pytest.approx([0.875, 0.9], abs=0.08)
    board = bayescm.leaderboard(told, metric="pass^3", runs=4, random_seed=1)
    assert board.probability_best.sel(system="A") == pytest.approx(pair.probability_better.values.ravel()[1], abs=0.02)
    claim = bayescm.probability(told, "pass^3 > .5 and pass@3 > .5", runs=4)
    assert claim.probability.shape == (2, 1)


def test_epochs_of_a_log_are_runs(tmp_path):
    passed = [[1, 0, 1], [1, 1, 1], [0, 0, 1], [0, 0, 0]]
    samples = [
        {"id": i, "epoch": epoch + 1, "target": "4", "scores": {"match": {"value": "C" if right else "I"}}}
        for i, runs in enumerate(passed) for epoch, right in enumerate(runs)
    ]  # fmt: skip
    log = {"status": "success", "eval": {"model": "m", "task": "sums"}, "samples": samples}
    (tmp_path / "log.json").write_text(json.dumps(log))
    found = bayescm.summary(bayescm.from_inspect(tmp_path / "log.json"), ["pass@2", "pass^2"])
    wanted = bayescm.summary({"m": np.sum(passed, 1)}, ["pass@2", "pass^2"], runs=3)
    np.testing.assert_allclose(found["interval"], wanted["interval"])
    np.testing.assert_allclose(found["point"].values.ravel(), [(1 + 1 + 2 / 3 + 0) / 4, (1 / 3 + 1 + 0 + 0) / 4])


def test_names_of_tasks_are_told():
    long = pd.DataFrame(
        [("m", f"q{i}", r, int(r < c)) for i, c in enumerate(PASSES.A) for r in range(4)],
        columns=["system", "item", "run", "correct"],
    )
    assert "3 passed in some runs only (q6, q1, q4)" in bayescm.summary(long, "pass^2").bayescm.sentence


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: bayescm.summary([[3, 1], [1, 4]], "pass@3"), "several runs of each task"),
        (lambda: bayescm.summary(PASSES.A, "pass@0", runs=4), "whole number from 1"),
        (lambda: bayescm.summary(PASSES.A, "pass@99999999", runs=4), "whole number from 1"),
        (lambda: bayescm.leaderboard(PASSES > 2, metric="pass@2"), "several runs of each task"),
        (lambda: bayescm.probability(PASSES.A, "mcc > .5", runs=4), "'accuracy' or 'error_rate'"),
        (lambda: bayescm.summary(PASSES.A, "pass@2", k=2, runs=4), "pass@2"),
    ],
)
def test_what_has_no_answer_is_refused_in_words(ask, words):
    with pytest.raises((ValueError, TypeError), match=words):
        ask()
