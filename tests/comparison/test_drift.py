"""Drift of a series: by all segmentations, by a filter on a grid, with labels that come late, and what is refused."""

import itertools

import numpy as np
import pytest
from scipy import special, stats

import bayescm

RIGHT, WRONG = np.array([28, 27, 18, 0, 19, 12]), np.array([2, 3, 12, 0, 10, 14])
SERIES = {"correct": RIGHT.tolist(), "wrong": WRONG.tolist()}
HAZARD = 1.0 - 0.5 ** (1 / 5)
WEEKS = bayescm.from_cells(tp=[80, 78, 52, 51], fn=[20, 22, 48, 49], fp=[9] * 4, tn=[91] * 4, dims="week")


def segmentations():
    """Yield the weight of every segmentation of six periods, and for each period its segment."""
    for cuts in itertools.product([0, 1], repeat=5):
        ends = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), 6]
        segments = list(itertools.pairwise(ends))
        log = sum(np.log(HAZARD if cut else 1 - HAZARD) for cut in cuts)
        for s, e in segments:
            a, b = 1 + RIGHT[s:e].sum(), 1 + WRONG[s:e].sum()
            log += special.betaln(a, b) - special.betaln(1, 1)
        yield np.exp(log + 100), segments


def test_all_segmentations_say_the_same():
    found = bayescm.drift(SERIES, prior="laplace", draws=100_000, random_seed=1)
    rng, total, whole, mean, worse = np.random.default_rng(3), 0.0, 0.0, np.zeros(6), np.zeros(6)
    prior = 1.0
    for weight, segments in segmentations():
        total += weight
        whole += weight * (len(segments) == 1)
        first = None
        for s, e in segments:
            a, b = prior + RIGHT[s:e].sum(), prior + WRONG[s:e].sum()
            drawn = rng.beta(a, b, 20_000)
            mean[s:e] += weight * a / (a + b)
            worse[s:e] += 0.0 if first is None else weight * (drawn < first).mean()
            first = drawn if first is None else first
    assert float(found["probability_changed"]) == pytest.approx(1 - whole / total, rel=1e-9)
    np.testing.assert_allclose(found["mean"], mean / total, atol=2e-3)
    np.testing.assert_allclose(found["probability_worse"], worse / total, atol=6e-3)


def test_a_filter_on_a_grid_says_the_same_of_the_end():
    grid = (np.arange(4000) + 0.5) / 4000
    density = np.ones(4000) / 4000
    for right, wrong in zip(RIGHT, WRONG, strict=True):
        if right + wrong != RIGHT[0] + WRONG[0] or density.std() > 0:  # all but the first may have changed
            density = (1 - HAZARD) * density + HAZARD / 4000
        density *= stats.binom.pmf(right, right + wrong, grid)
        density /= density.sum()
    found = bayescm.drift(SERIES, prior="laplace", draws=100_000, random_seed=2)
    cumulated = np.cumsum(density)
    ends = [grid[np.searchsorted(cumulated, p)] for p in (0.025, 0.975)]
    np.testing.assert_allclose(found["interval"][-1], ends, atol=4e-3)
    assert float(found["mean"][-1]) == pytest.approx(density @ grid, abs=2e-3)


def test_a_loss_has_the_same_verdict_and_metrics_of_no_one_beta_answer():
    recall, missed = (bayescm.drift(WEEKS, m, random_seed=1) for m in ("recall", "false_negative_rate"))
    np.testing.assert_allclose(recall.probability_worse, missed.probability_worse, atol=0.02)
    assert recall.attrs["verdict"] == missed.attrs["verdict"] == "worse"
    assert WEEKS["week"].size == recall.sizes["period"]
    mcc = bayescm.drift(WEEKS, "mcc", random_seed=1)
    assert float(mcc.probability_worse[-1]) > 0.95 > float(mcc.probability_worse[1])
    same = bayescm.drift(WEEKS, "specificity", random_seed=1)
    assert same.attrs["verdict"] == "undecided"
    assert float(same.probability_changed) < 0.5
    assert float(bayescm.drift(WEEKS, "recall", rope=0.4, random_seed=1).probability_worse[-1]) < 0.1


def test_labels_that_come_late_are_named_and_the_last_with_any_is_judged():
    known = WEEKS.assign_coords(week=["w1", "w2", "w3", "w4"])
    late = bayescm.drift(known.where(known.week != "w4", 0).astype(int), "recall", random_seed=1)
    assert np.isnan(late.point[-1])
    assert np.ptp(late.interval.values[-1]) > np.ptp(late.interval.values[-2])
    said = late.bayescm.sentence
    assert said.startswith("Recall in week w3 is 0.5")
    assert "worse since week w3" in said
    assert "week w4 (0 items): labels may come late" in said


def test_a_picture_keeps_the_order_of_periods():
    named = WEEKS.assign_coords(week=["w9", "w10", "w11", "w12"])
    ax = bayescm.drift(named, "recall", random_seed=1).bayescm.plot()
    assert [one.get_text() for one in ax.get_yticklabels()] == ["w9", "w10", "w11", "w12"]
    assert ax.get_xlabel().startswith("recall by week")


def test_huge_counts_and_extremes_answer():
    huge = bayescm.drift({"correct": [9 * 10**8] * 4, "wrong": [10**8] * 4}, random_seed=1)
    np.testing.assert_allclose(huge["mean"], 0.9, atol=1e-5)
    perfect = bayescm.drift({"correct": [50] * 5, "wrong": [0] * 5}, random_seed=1)
    assert perfect.attrs["verdict"] == "undecided"
    assert float(perfect.probability_changed) < 0.1


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (WEEKS[:1], {}, "2 to 1000 periods"),
        ([[6, 2], [0, 26]], {}, "one dim beside"),
        ({"correct": [0, 5], "wrong": [0, 5]}, {}, "first period"),
        (np.ones((4, 3, 3), int), {"metric": "recall"}, "for each of 3 classes"),
        (np.ones((4, 3, 3), int), {"prior": "learned"}, "each period by itself"),
        ({"correct": [5, 0], "wrong": [5, 0]}, {}, "a later one"),
        (WEEKS, {"prior": 0.0}, "above 0"),
        (WEEKS.assign_coords(week=list("abca")), {}, "'a' twice"),
        (WEEKS, {"change_prob": 0}, "`change_prob` must be"),
        (WEEKS, {"rope": -1}, "`rope` must be"),
    ],
)
def test_what_is_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        bayescm.drift(data, **options)
