"""Gaps of groups: by independent draws of Betas, by fairlearn's habits, few groups named, refusals."""

import numpy as np
import pandas as pd
import pytest

import bayescm

GROUPS = bayescm.from_cells(
    tp=[80, 78, 55], fn=[20, 22, 45], fp=[9, 12, 10], tn=[91, 88, 90], dims="group"
).assign_coords(group=["a", "b", "c"])
EQUAL = bayescm.from_cells(tp=[16] * 6, fn=[4] * 6, fp=[4] * 6, tn=[16] * 6, dims="group")


def test_a_gap_is_that_of_a_million_draws_of_betas():
    found = bayescm.gaps(GROUPS, metrics=["recall", "false_positive_rate"], random_seed=1, draws=40_000)
    rng = np.random.default_rng(2)
    half = 0.5
    right, wrong = GROUPS.isel(actual=1, predicted=1).values, GROUPS.isel(actual=1, predicted=0).values
    values = rng.beta(right + half, wrong + half, (300_000, 3))
    gap = np.ptp(values, axis=1)
    one = found.sel(metric="recall")
    assert float(one["mean"]) == pytest.approx(gap.mean(), abs=2e-3)
    np.testing.assert_allclose(one["interval"], np.quantile(gap, [0.025, 0.975]), atol=4e-3)
    assert float(one["probability_within"]) == pytest.approx((gap <= 0.05).mean(), abs=5e-3)
    np.testing.assert_allclose(one["lowest"], (values == values.min(1, keepdims=True)).mean(0), atol=5e-3)
    assert float(one["ratio"]) == pytest.approx(np.median(values.min(1) / values.max(1)), abs=5e-3)
    # the larger of both gaps is no less than each
    odds = found.sel(metric="equalised_odds")
    assert float(odds["mean"]) >= float(found["mean"].sel(metric=["recall", "false_positive_rate"]).max())


@pytest.mark.slow
def test_pooling_takes_away_the_gap_of_equal_groups_and_keeps_a_real_one():
    apart, pooled = (bayescm.gaps(EQUAL, metrics="recall", pooled=one, random_seed=1) for one in (False, True))
    usual = bayescm.gaps(EQUAL, metrics="recall", random_seed=1)  # pooled from five groups on
    np.testing.assert_array_equal(usual["interval"], pooled["interval"])
    assert bayescm.gaps(EQUAL[:4], metrics="recall", random_seed=1).attrs["pooled"] == 0
    assert float(pooled["median"][0]) < 0.6 * float(apart["median"][0])
    assert float(pooled["probability_within"][0]) > 10 * max(float(apart["probability_within"][0]), 1e-4)
    assert float(bayescm.gaps(GROUPS, metrics="recall", pooled=True, random_seed=1)["probability_within"][0]) < 0.1


def test_sensitive_features_are_groups():
    rng = np.random.default_rng(1)
    true, sex, age = rng.integers(0, 2, 400), rng.choice(["f", "m"], 400), rng.choice(["old", "young"], 400)
    test = np.where(rng.random(400) < 0.8, true, 1 - true)
    found = bayescm.gaps(true, test, "recall", sensitive_features=sex, random_seed=1)
    same = bayescm.gaps(bayescm.confusion_matrix(true, test, group=sex), metrics="recall", random_seed=1)
    np.testing.assert_array_equal(found["interval"], same["interval"])
    both = bayescm.gaps(true, test, "recall", sensitive_features=pd.DataFrame({"sex": sex, "age": age}), random_seed=1)
    assert sorted(both.group.values.tolist()) == ["f, old", "f, young", "m, old", "m, young"]


def test_groups_with_few_items_are_named():
    few = bayescm.from_cells(tp=[80, 3], fn=[20, 0], fp=[9, 2], tn=[91, 0], dims="group").assign_coords(
        group=["a", "b"]
    )
    said = bayescm.gaps(few, metrics="recall", random_seed=1).bayescm.sentence
    assert "group 'b' has 2 items of a class" in said
    assert "each by itself" in said


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (GROUPS[:1], {}, "two groups at least"),
        ([[6, 2], [0, 26]], {}, "one dim beside"),
        (np.ones((4, 3, 3), int), {}, "two labels"),
        (GROUPS, {"sensitive_features": [1, 2]}, "go with labels"),
        (GROUPS, {"y_pred": [1, 2]}, "of which group"),
        (GROUPS, {"rope": 2}, "`rope` must be"),
    ],
)
def test_what_is_refused(data, options, message):
    with pytest.raises(ValueError, match=message):
        bayescm.gaps(data, **options)
