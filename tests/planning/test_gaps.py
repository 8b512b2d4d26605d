"""The gap of a comparison or a board as a plan: the same as its numbers by hand."""

import numpy as np
import pytest

import bayescm

A, B = [1] * 90 + [0] * 10, [1] * 82 + [0] * 14 + [1] * 4
TRUE = [1] * 60 + [0] * 40


def same(plan, *rates, **options):
    ours = bayescm.sample_size_to_compare(*rates, **options)
    assert int(plan.n_items) == int(ours.n_items)
    assert plan.attrs["design"] == ours.attrs["design"]
    assert plan.attrs["metric"] == ours.attrs["metric"]


def test_of_the_same_items():
    a, b = [1] * 50 + [0] * 50, [1] * 44 + [0] * 56
    named = {"worse": b, "better": a}
    same(bayescm.sample_size_to_compare(bayescm.compare_systems(TRUE, named)), 0.9, 0.84, discordance=0.06)
    recall = bayescm.sample_size_to_compare(bayescm.compare_systems(TRUE, named, "recall"))
    same(recall, 50 / 60, 44 / 60, discordance=0.1, metric="recall")


def test_of_items_of_their_own_and_of_three_classes():
    named = {"b": [[40, 10], [10, 40]], "a": [[40, 10], [5, 45]]}
    found = bayescm.compare_systems(named, "error_rate", design="independent")
    same(bayescm.sample_size_to_compare(found), 0.15, 0.2, metric="error_rate")
    three = {"a": np.full((3, 3), 5) + 35 * np.eye(3, dtype=int), "b": np.full((3, 3), 9) + 20 * np.eye(3, dtype=int)}
    found = bayescm.compare_systems(three, design="independent")
    same(bayescm.sample_size_to_compare(found), 120 / 150, 87 / 141)


def test_of_a_board_its_two_best():
    board = bayescm.leaderboard({"b": 0.8, "a": 0.9, "c": 0.7}, n_items=[100, 120, 110])
    means = board["mean"].sel(system=["a", "b"]).values.tolist()
    same(bayescm.sample_size_to_compare(board), *means)
    with pytest.raises(ValueError, match="compare_systems of these two"):
        bayescm.sample_size_to_compare(bayescm.leaderboard(TRUE, {"a": A, "b": B}))


@pytest.mark.parametrize(
    ("first", "message"),
    [
        (lambda: bayescm.summary([[4, 1], [1, 4]]), "must be a rate"),
        (lambda: bayescm.posterior([[4, 1], [1, 4]], draws=10), "must be a rate"),
        (lambda: bayescm.compare_systems(TRUE, {"a": A, "b": B, "c": TRUE}), "two systems in one metric"),
        (lambda: bayescm.compare_systems(TRUE, {"a": A, "b": B}, ["accuracy", "recall"]), "two systems in one metric"),
        (lambda: bayescm.compare_systems(TRUE, {"a": A, "b": A}), "no gap"),
        (lambda: bayescm.compare_systems(TRUE, {"a": A, "b": B}, "precision"), "accuracy, recall or specificity"),
        (lambda: bayescm.compare_systems([0] * 100, {"a": A, "b": B}, "recall"), "recall is 0/0"),
    ],
)
def test_what_has_no_gap(first, message):
    with pytest.raises(ValueError, match=message):
        bayescm.sample_size_to_compare(first())
    with pytest.raises(ValueError, match="leave them out"):
        bayescm.sample_size_to_compare(first(), 0.8)


def test_both_plans_of_widths_explain_their_arguments():
    assert bayescm.interval_width("accuracy", [100], ci_prob="90%").width < 0.17
    for plan in (bayescm.interval_width, bayescm.sample_size):
        with pytest.raises(TypeError, match=r"ci_prob=0\.95 where another library says alpha"):
            plan("accuracy", alpha=0.05, **({"width": 0.1} if plan is bayescm.sample_size else {}))


def test_choose_says_how_a_posterior_was_found():
    found = bayescm.posterior([[6, 2], [0, 26]], draws=10)
    assert bayescm.choose(found) == bayescm.choose([[6, 2], [0, 26]])
    with pytest.raises(ValueError, match=r"what bayescm\.posterior returned"):
        bayescm.choose(bayescm.compare_systems(TRUE, {"a": A, "b": B}))
