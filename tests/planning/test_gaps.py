"""A comparison or a board as a pilot: its posterior is averaged over, as draws of it say."""

import numpy as np
import pytest
from scipy import stats

import bayescm
from bayescm.distributions.beta_binomial import Rate
from bayescm.planning.contests import Together

A, B = [1] * 90 + [0] * 10, [1] * 82 + [0] * 14 + [1] * 4
TRUE = [1] * 60 + [0] * 40
DRAWS = 20_000
APART = 4.5 * 0.5 / DRAWS**0.5  # standard errors of a share of the draws


def of_own_items(rng, rates, prior, n):
    """Return how often the better of two systems, drawn from Betas, is found so by n items of each."""
    drawn = np.stack([rng.beta(a, b, DRAWS) for a, b in rates])
    k = rng.binomial(n, drawn)
    after = [(k[i] + prior[0], n - k[i] + prior[1]) for i in (0, 1)]
    means, sds = np.array([[stats.beta(*one).mean(), stats.beta(*one).std()] for one in after]).swapaxes(0, 1)
    z = (means[0] - means[1]) / np.hypot(*sds)  # of hundreds of items: nearly normal
    return (
        (z > stats.norm.isf(0.025)) & (drawn[0] > drawn[1]) | (z < stats.norm.ppf(0.025)) & (drawn[0] < drawn[1])
    ).mean()


def of_the_same_items(rng, only_first, only_second, others, n):
    """Return the same of n items that both answer; the shares are Dirichlet after these counts."""
    shares = rng.dirichlet([only_first + 1, only_second + 1, others + 1], DRAWS)
    b, c, _ = rng.multinomial(n, shares).T
    better, first = stats.beta.sf(0.5, b + 1, c + 1), shares[:, 0] > shares[:, 1]
    return ((better > 0.975) & first | (better < 0.025) & ~first).mean()


@pytest.mark.slow
def test_of_the_same_items():
    plan = bayescm.planning.sample_size_to_compare(bayescm.compare_systems(TRUE, {"a": A, "b": B}))
    assert {name: plan.attrs[name] for name in ("gap", "design", "first", "second")} == {
        "gap": "seen", "design": "paired", "first": pytest.approx(0.7), "second": pytest.approx(0.74),
    }  # fmt: skip
    rng = np.random.default_rng(1)
    assert of_the_same_items(rng, 4, 8, 88, int(plan.n_items)) == pytest.approx(float(plan.assurance), abs=APART)
    stated = bayescm.planning.sample_size_to_compare(0.74, 0.7, discordance=0.12)
    assert plan.n_items > 3 * stated.n_items
    recall = bayescm.planning.sample_size_to_compare(
        bayescm.compare_systems(TRUE, {"a": A, "b": B}, "recall"), assurance=0.6
    )
    assert recall.attrs["metric"] == "recall"
    again = bayescm.planning.sample_size_to_compare(
        bayescm.compare_systems(TRUE, {"b": B, "a": A}, "recall"), assurance=0.6
    )
    assert recall.equals(again)  # whichever is named first


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["laplace", 1.0, [[8, 2], [1, 9]]])
def test_a_prior_gives_one_item_to_either_side_and_one_to_the_others(prior):
    found = bayescm.compare_systems(TRUE, {"a": A, "b": B})
    plan = bayescm.planning.sample_size_to_compare(found, prior=prior)
    share = Rate(12.0 + 2.0, 88.0 + 1.0)
    contest = Together(share, Rate(4.0 + 1.0, 8.0 + 1.0), 1.0, 0.975)
    assert float(plan.assurance) == contest.right(int(plan.n_items))
    with pytest.raises(ValueError, match="proper"):
        bayescm.planning.sample_size_to_compare(found, prior="haldane")


@pytest.mark.slow
def test_of_items_of_their_own_and_of_three_classes():
    named = {"b": [[40, 10], [10, 40]], "a": [[40, 10], [5, 45]]}
    found = bayescm.compare_systems(named, "error_rate", design="independent")
    plan, rng = bayescm.planning.sample_size_to_compare(found, prior="laplace"), np.random.default_rng(1)
    right = of_own_items(rng, [(82, 22), (87, 17)], (2, 2), int(plan.n_items))
    assert right == pytest.approx(float(plan.assurance), abs=APART)
    assert (plan.attrs["first"], plan.attrs["second"]) == pytest.approx((0.2, 0.15))
    accuracy = bayescm.compare_systems(named, design="independent")
    assert bayescm.planning.sample_size_to_compare(accuracy, prior="laplace").equals(plan)
    three = {"a": np.full((3, 3), 5) + 35 * np.eye(3, dtype=int), "b": np.full((3, 3), 9) + 20 * np.eye(3, dtype=int)}
    plan = bayescm.planning.sample_size_to_compare(
        bayescm.compare_systems(three, design="independent"), prior="laplace"
    )
    right = of_own_items(rng, [(122, 32), (89, 56)], (2, 2), int(plan.n_items))
    assert right == pytest.approx(float(plan.assurance), abs=APART)


def test_equal_systems_of_a_pilot_take_many_items_not_an_error():
    plan = bayescm.planning.sample_size_to_compare(bayescm.compare_systems(TRUE, {"a": A, "b": A[::-1]}), assurance=0.5)
    assert plan.attrs["first"] != plan.attrs["second"]
    tie = bayescm.planning.sample_size_to_compare(bayescm.compare_systems(TRUE, {"a": TRUE, "b": TRUE}), assurance=0.5)
    assert tie.attrs["gap"] == "seen"
    assert tie.n_items > plan.n_items


@pytest.mark.slow
def test_of_a_board_its_two_best():
    board = bayescm.leaderboard({"b": 0.8, "a": 0.9, "c": 0.7}, n_items=[100, 120, 110], prior="laplace")
    plan = bayescm.planning.sample_size_to_compare(board, prior="laplace")
    assert [plan.attrs[name] for name in ("first", "second")] == board["mean"].sel(system=["a", "b"]).values.tolist()
    right = of_own_items(np.random.default_rng(1), [(109, 13), (81, 21)], (2, 2), int(plan.n_items))
    assert right == pytest.approx(float(plan.assurance), abs=APART)
    with pytest.raises(ValueError, match="compare_systems of these two"):
        bayescm.planning.sample_size_to_compare(bayescm.leaderboard(TRUE, {"a": A, "b": B}))


def test_every_plan_says_whether_rates_are_stated_or_seen():
    stated = bayescm.planning.sample_size_to_compare(0.9, 0.7)
    seen = bayescm.planning.sample_size_to_compare(bayescm.compare_systems(TRUE, {"a": A, "b": B}))
    assert "as stated" in stated.bayescm.sentence
    assert "as seen in a pilot, whose posterior is averaged over" in seen.bayescm.sentence
    assert "interval of the difference excludes 0" in seen.bayescm.sentence
    for plan, word in ((stated, "stated"), (seen, "seen")):
        assert plan.bayescm.table()["gap"].tolist() == [word]
    for pilot, words in ((None, "with concentration 10"), ([[40, 10], [5, 45]], "averaged over the posterior of")):
        plan = bayescm.sample_size("recall", width=0.2, pilot=pilot)
        assert words in plan.bayescm.sentence
        assert ("as stated" in plan.attrs["assumptions"]) == (pilot is None)


@pytest.mark.parametrize(
    ("first", "message"),
    [
        (lambda: bayescm.summary([[4, 1], [1, 4]]), "must be a rate"),
        (lambda: bayescm.posterior([[4, 1], [1, 4]], draws=10), "must be a rate"),
        (lambda: bayescm.compare_systems(TRUE, {"a": A, "b": B, "c": TRUE}), "two systems in one metric"),
        (lambda: bayescm.compare_systems(TRUE, {"a": A, "b": B}, ["accuracy", "recall"]), "two systems in one metric"),
        (lambda: bayescm.compare_systems(TRUE, {"a": A, "b": B}, "precision"), "accuracy, recall or specificity"),
        (lambda: bayescm.compare_systems([0] * 100, {"a": A, "b": B}, "recall"), "recall is 0/0"),
    ],
)
def test_what_has_no_gap(first, message):
    with pytest.raises(ValueError, match=message):
        bayescm.planning.sample_size_to_compare(first())
    with pytest.raises(ValueError, match="leave them out"):
        bayescm.planning.sample_size_to_compare(first(), 0.8)


def test_both_plans_of_widths_explain_their_arguments():
    assert bayescm.planning.interval_width("accuracy", [100], ci_prob="90%").width < 0.17
    for plan in (bayescm.planning.interval_width, bayescm.sample_size):
        with pytest.raises(TypeError, match=r"ci_prob=0\.95 where another library says alpha"):
            plan("accuracy", alpha=0.05, **({"width": 0.1} if plan is bayescm.sample_size else {}))


def test_choose_says_how_a_posterior_was_found():
    found = bayescm.posterior([[6, 2], [0, 26]], draws=10)
    assert bayescm.inference.choose(found) == bayescm.inference.choose([[6, 2], [0, 26]])
    with pytest.raises(ValueError, match=r"what bayescm\.posterior returned"):
        bayescm.inference.choose(bayescm.compare_systems(TRUE, {"a": A, "b": B}))
