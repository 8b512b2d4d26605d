"""Boards over tasks: fixed or a sample, by means of Betas, by resampled tasks, win rates, refusals."""

import io

import numpy as np
import pandas as pd
import pytest

import bayescm
from bayescm.cli import main
from bayescm.inference import fixed_units

RNG = np.random.default_rng(5)
N = RNG.integers(20, 200, 8)
RIGHT = RNG.binomial(N, np.clip(RNG.uniform(0.2, 0.95, 8) + np.array([[0.0], [0.05], [-0.15]]), 0.02, 0.98))
FRAME = pd.DataFrame({
    "system": np.repeat(["a", "b", "c"], 8), "task": [f"t{i}" for i in range(8)] * 3, "correct": RIGHT.ravel(),
    "wrong": (N - RIGHT).ravel(),
})  # fmt: skip


@pytest.fixture(scope="module")
def boards():
    """Boards of fixed tasks, and of a sample of tasks."""
    options = {"unit": "task", "random_seed": 1, "draws": 20_000}
    return [bayescm.leaderboard(FRAME, average=average, **options) for average in ("fixed_units", "units")]


def test_fixed_tasks_are_means_of_independent_betas(boards):
    fixed, _ = boards
    drawn = np.random.default_rng(1).beta(RIGHT + 0.5, N - RIGHT + 0.5, (40_000, 3, 8))
    mean = drawn.mean(-1)
    np.testing.assert_allclose(fixed["mean"], mean.mean(0), atol=0.01)  # what is learned moves large tasks little
    width = np.diff(fixed["interval"].values)[:, 0]
    np.testing.assert_allclose(width, np.diff(np.quantile(mean, [0.025, 0.975], axis=0).T)[:, 0], rtol=0.12)
    np.testing.assert_allclose(fixed["point"], (RIGHT / N).mean(1))
    np.testing.assert_allclose(fixed["probability_best"], np.bincount(mean.argmax(1), minlength=3) / 40_000, atol=0.05)


def test_sampled_tasks_weigh_at_random(boards):
    fixed, sample = boards
    each = np.vstack([(RIGHT / N).T, np.full(3, 0.5)])
    weight = np.random.default_rng(2).dirichlet(np.ones(9), 40_000)
    np.testing.assert_allclose(sample["mean"], (weight @ each).mean(0), atol=0.01)
    assert (np.diff(sample["interval"].values) > 1.5 * np.diff(fixed["interval"].values)).all()
    assert (np.diff(sample["win_rate_interval"].values) > np.diff(fixed["win_rate_interval"].values)).all()
    for board in boards:
        assert float(board["win_rate"].sum()) == pytest.approx(1.5)


def test_values_in_units_are_pooled_as_normal_theory_says(monkeypatch):
    rng = np.random.default_rng(4)
    seen, noise, scatter = rng.normal(1, 0.3, (3, 5)), rng.uniform(0.005, 0.05, (3, 5)), 0.15
    monkeypatch.setattr(fixed_units, "_SCATTERS", np.array([scatter]))
    drawn = fixed_units._pooled(seen, noise, 60_000, rng).reshape(-1, 15)
    same = [np.kron(np.eye(3), np.ones((5, 5))), np.kron(np.ones((3, 3)), np.eye(5))]
    before = 1e4 * (same[0] + same[1]) + scatter**2 * np.eye(15)
    gain = before @ np.linalg.inv(before + np.diag(noise.ravel()))
    np.testing.assert_allclose(drawn.mean(0), gain @ seen.ravel(), atol=4e-3)
    np.testing.assert_allclose(np.cov(drawn.T), before - gain @ before, atol=1e-3)


def test_with_many_items_wins_are_those_that_were_seen():
    n = 10**7
    right = np.random.default_rng(6).integers(10**6, 9 * 10**6, (4, 12))
    board = pd.DataFrame({
        "system": np.repeat(list("abcd"), 12), "task": np.tile(np.arange(12), 4), "correct": right.ravel(), "total": n,
    })  # fmt: skip
    found = bayescm.leaderboard(board, unit="task", average="fixed_units", random_seed=1)
    np.testing.assert_allclose(found["win_rate"], (right.argsort(0).argsort(0) / 3).mean(1), atol=2e-3)


def test_scores_and_metrics_without_bounds_have_no_win_rate():
    scores = pd.DataFrame({
        "system": list("ab") * 20, "item": np.repeat(range(20), 2), "task": np.repeat(list("uvwxy"), 8),
        "score": np.linspace(0, 1, 40),
    })  # fmt: skip
    assert "win_rate" not in bayescm.leaderboard(scores, unit="task", average="units", random_seed=1)
    counts = bayescm.from_cells(tp=RIGHT, fn=N - RIGHT, fp=RIGHT // 5, tn=N + 0 * RIGHT, dims=("system", "task"))
    for metric, known in {"informedness": True, "diagnostic_odds_ratio": False}.items():
        board = bayescm.leaderboard(counts, metric=metric, unit="task", average="units", random_seed=1)
        assert ("win_rate" in board) == known


def test_a_system_that_wins_every_task_has_a_win_rate_of_nearly_one():
    sure = FRAME.assign(correct=np.where(FRAME.system == "a", 400, 100), wrong=np.where(FRAME.system == "a", 4, 300))
    found = bayescm.leaderboard(sure, unit="task", average="fixed_units", random_seed=1)
    assert float(found["win_rate"][0]) == pytest.approx(1.0)
    np.testing.assert_allclose(found["win_rate"][1:], 0.25, atol=0.1)


def test_small_tasks_learn_from_each_other():
    n = np.full((1, 30), 10)
    right = np.random.default_rng(3).binomial(n, 0.95)
    board = pd.DataFrame({"system": "a", "task": range(30), "correct": right[0], "wrong": (n - right)[0]})
    found = bayescm.summary(board, unit="task", average="fixed_units", random_seed=1)
    assert float(found["mean"].squeeze()) == pytest.approx(right.mean() / 10, abs=0.012)  # by Jeffreys .039 less
    low, high = found["interval"].values.ravel()
    assert low < 0.95 < high


def test_what_is_sampled_is_said_and_the_prior_takes_all_metrics(boards):
    fixed, sample = boards
    assert "Mean over these 8 tasks, of " in fixed.bayescm.sentence
    assert "and no others" in fixed.bayescm.sentence
    assert "win rate over tasks" in fixed.bayescm.sentence
    assert fixed.bayescm.assumptions.count("tasks that are no sample") == 1
    assert "Mean over 8 tasks" in sample.bayescm.sentence
    counts = bayescm.from_cells(tp=RIGHT, fn=N - RIGHT, fp=RIGHT // 5, tn=N + 0 * RIGHT, dims=("system", "task"))
    for metric in ("mcc", "f1", "recall"):
        found = bayescm.summary(counts, metric, unit="task", average="fixed_units", random_seed=1)
        np.testing.assert_allclose(found["mean"], found["point"], atol=0.03)
    three = bayescm.from_array(np.random.default_rng(1).integers(5, 90, (2, 6, 3, 3)), dims=("system", "task"))
    found = bayescm.summary(three, ["recall", "f1_macro"], unit="task", average="fixed_units", random_seed=1)
    np.testing.assert_allclose(found["mean"], found["point"], atol=0.02)
    pair = bayescm.compare_systems(counts[:2], "recall", unit="task", average="fixed_units", random_seed=1)
    each = bayescm.summary(counts[:2], "recall", unit="task", average="fixed_units", random_seed=1)[
        "mean"
    ].values.ravel()
    assert abs(float(pair["summary"]["mean"].squeeze())) == pytest.approx(abs(each[0] - each[1]), abs=2e-3)


def test_the_command_line_takes_a_row_per_system_and_task(tmp_path, capsys):
    FRAME.to_csv(tmp_path / "board.csv", index=False)
    call = ["leaderboard", str(tmp_path / "board.csv"), "--unit", "task", "--average", "fixed_units", "--seed", "1"]
    assert main([*call, "--csv"]) == 0
    told = pd.read_csv(io.StringIO(capsys.readouterr().out)).set_index("system")
    want = bayescm.leaderboard(FRAME, unit="task", average="fixed_units", random_seed=1)
    np.testing.assert_allclose(told.loc[["a", "b", "c"], "win_rate"], want["win_rate"])


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (pd.concat([FRAME, FRAME[:1]]), {}, "a system in one task twice"),
        (FRAME[FRAME.task == "t0"], {}, "two units or more"),
        (FRAME, {"average": "tasks"}, "'fixed_units' .over all"),
        (FRAME, {"unit": "job"}, "`unit` must name a column"),
        (FRAME, {"prevalence": 0.1}, "leave one out"),
        ({"correct": [3, 4], "wrong": [2, 1]}, {}, "`unit` must name a column"),
    ],
)
def test_what_is_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        bayescm.leaderboard(data, **{"unit": "task", "average": "fixed_units"} | options)
