"""Items that come in units: every question takes the units for independent."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayescm
from bayescm.inference.units import ByUnit
from bayescm.metrics import resolve

RNG = np.random.default_rng(5)
UNITS = np.repeat(np.arange(15), RNG.integers(1, 9, 15))
TRUTH = RNG.integers(0, 2, len(UNITS))
RIGHT = RNG.beta(3, 1, 15)[UNITS]
A, B = (np.where(RNG.random(len(UNITS)) < RIGHT, TRUTH, 1 - TRUTH) for _ in "ab")
METRICS = ["recall", "f1", "accuracy"]


def test_draws_are_those_of_a_weighted_sum_of_units():
    counts = bayescm.confusion_matrix(TRUTH, A, unit=UNITS)
    found = bayescm.summary(counts, METRICS, draws=40_000, random_seed=1)
    rng, n, cells = np.random.default_rng(2), 40_000, counts.values.reshape(-1, 4)
    prior = rng.dirichlet(np.full(4, 0.5), n) * (
        rng.exponential(size=(n, 1)) * len(TRUTH) / 15 + rng.exponential(size=(n, 1))
    )
    tn, fp, fn, tp = (rng.exponential(size=(n, 15)) @ cells + prior).T
    other = np.quantile(
        [tp / (tp + fn), 2 * tp / (2 * tp + fp + fn), (tp + tn) / (tp + tn + fp + fn)], [0.025, 0.975], 1
    )
    np.testing.assert_allclose(found["interval"], other.T, atol=0.01)
    np.testing.assert_allclose(found["point"], bayescm.metrics.evaluate(counts.sum("unit"), METRICS).to_array().values)


def test_one_item_in_each_unit_is_jeffreys():
    cells = np.repeat(np.eye(4), [12, 3, 2, 20], axis=0).reshape(-1, 2, 2)
    drawn = ByUnit(cells, np.asarray(0), None, "items", 1, 200_000).draws(resolve(METRICS, 2))
    exact = bayescm.summary([[12, 3], [2, 20]], METRICS)
    for values, one in zip(drawn, exact["interval"].values, strict=True):
        np.testing.assert_allclose(np.quantile(values, [0.025, 0.975]), one, atol=0.003)
    by_item = bayescm.summary(TRUTH, A, METRICS, unit=np.arange(len(TRUTH)))
    np.testing.assert_array_equal(by_item["interval"], bayescm.summary(TRUTH, A, METRICS)["interval"])
    assert set(by_item["method"].values) == {"exact"}


@pytest.mark.parametrize("average", ["items", "units"])
def test_all_doors_read_the_same(average, tmp_path):
    frame = pd.DataFrame({"actual": TRUTH, "predicted": A, "patient": UNITS, "b": B})
    frame.to_csv(tmp_path / "items.csv", index=False)
    how = {"average": average, "random_seed": 1}
    wanted = bayescm.summary(TRUTH, A, METRICS, unit=UNITS, **how)
    three = ["actual", "predicted", "patient"]
    for found in (
        bayescm.summary(frame[three], METRICS, unit="patient", **how),
        bayescm.summary(bayescm.from_table(frame, n=None, unit="patient"), METRICS, **how),
        bayescm.summary(bayescm.from_table(tmp_path / "items.csv", n=None, unit="patient"), METRICS, **how),
        bayescm.summary(bayescm.read(TRUTH, A, unit=UNITS), METRICS, **how),
        bayescm.summary(bayescm.from_table(frame, n=None, dims="patient"), METRICS, unit="patient", **how),
        bayescm.summary(bayescm.predictions(TRUTH, {"a": A}, unit=UNITS), METRICS, **how).isel(system=0),
        bayescm.summary(bayescm.confusion_matrix(TRUTH, A, unit=UNITS).chunk(), METRICS, **how).compute(),
    ):
        np.testing.assert_allclose(found["interval"], wanted["interval"])
        assert found.attrs["assumptions"].startswith("independent ")
    same = frame.rename(columns={"predicted": "a"})
    pairs = [
        bayescm.compare_systems(data, METRICS, **how, **more)["summary"]
        for data, more in (
            (bayescm.predictions(TRUTH, {"a": A, "b": B}, unit=UNITS), {}), (same, {"unit": "patient"})
        )
    ]  # fmt: skip
    np.testing.assert_allclose(pairs[0]["interval"], pairs[1]["interval"])
    assert "over 15 patients" in pairs[1].bayescm.sentence or "of 15 patients" in pairs[1].bayescm.sentence


def test_the_mean_over_units_is_that_of_each():
    counts = bayescm.confusion_matrix(TRUTH, A, unit=UNITS)
    found = bayescm.summary(counts, ["recall", "accuracy"], average="units", random_seed=1)
    each = bayescm.metrics.evaluate(counts.drop_attrs(), ["recall", "accuracy"])
    np.testing.assert_allclose(found["point"], [each["recall"].mean(), each["accuracy"].mean()])
    w, known = RNG.exponential(size=(40_000, 15)), each["recall"].notnull().values
    w0, prior = RNG.exponential(size=40_000), RNG.beta(0.5, 0.5, 40_000)
    other = (w[:, known] @ each["recall"].values[known] + w0 * prior) / (w[:, known].sum(1) + w0)
    np.testing.assert_allclose(found["interval"][0], np.quantile(other, [0.025, 0.975]), atol=0.012)
    with pytest.raises(ValueError, match="prevalence"):
        bayescm.summary(counts, "recall", average="units", prevalence=0.1)
    with pytest.raises(ValueError, match="f1_macro"):
        bayescm.summary(counts, "recall", average="macro")


def test_metrics_classes_and_systems_of_a_draw_belong_together():
    labels = np.array(["a", "b", "c"])
    truth, guess = labels[RNG.integers(0, 3, len(UNITS))], labels[RNG.integers(0, 3, len(UNITS))]
    counts = bayescm.confusion_matrix(truth, guess, unit=UNITS)
    tree = bayescm.posterior(counts, metrics=["recall", "recall_macro"], random_seed=1)["posterior"]
    np.testing.assert_allclose(tree["recall"].mean("class_label"), tree["recall_macro"])
    kept = bayescm.predictions(TRUTH, {"a": A, "same": A, "b": B}, unit=UNITS)
    drawn = bayescm.compare_systems(kept, "accuracy", random_seed=1)["posterior"]["accuracy"]
    apart = drawn.sel(comparison="a - b").std() / drawn.sel(comparison="a - same").std()
    assert apart > 1.3  # units weigh alike for all, so that only the prior tells the same answers apart
    board = bayescm.leaderboard(kept, random_seed=1)
    assert board.probability_best.sum() == pytest.approx(1.0)
    assert "15 units" in board.bayescm.sentence


def test_units_of_their_own_are_independent():
    halves = bayescm.confusion_matrix(TRUTH, A, group=np.where(UNITS < 8, "x", "y"), unit=UNITS)
    drawn = bayescm.posterior(halves, metrics="accuracy", draws=10_000, random_seed=1)["posterior"]["accuracy"]
    x, y = (drawn.sel(group=one).values.ravel() for one in "xy")
    assert abs(np.corrcoef(x, y)[0, 1]) < 0.1
    found = bayescm.compare_systems(halves.rename(group="system"), "accuracy", random_seed=1)
    assert found.attrs["design"] == "independent"


def test_it_says_where_it_misleads():
    few = bayescm.summary(TRUTH[UNITS < 5], A[UNITS < 5], "accuracy", unit=UNITS[UNITS < 5])
    assert "fewer than 8 units" in few.bayescm.sentence
    giant = np.where(np.arange(len(UNITS)) < len(UNITS) * 0.7, 0, UNITS + 1)
    assert "holds 7" in bayescm.summary(TRUTH, A, "accuracy", unit=giant).bayescm.sentence
    sizes = np.repeat(np.arange(40), np.where(np.arange(40) % 2, 2, 12))
    right = np.where(np.arange(40)[sizes] % 2, RNG.random(len(sizes)) < 0.4, RNG.random(len(sizes)) < 0.95)
    said = bayescm.summary(np.ones(len(sizes), int), right.astype(int), "accuracy", unit=sizes).bayescm.sentence
    assert "more accurate" in said
    assert "average='units'" in said


def test_what_cant_be_is_refused_in_words():
    counts = bayescm.confusion_matrix(TRUTH, A, unit=UNITS)
    with pytest.raises(ValueError, match="`unit` must name a dim"):
        bayescm.summary(counts, unit="patient")
    with pytest.raises(ValueError, match="prior"):
        bayescm.summary(counts, prior="laplace")
    with pytest.raises(ValueError, match="`unit` must name a column"):
        bayescm.summary(pd.DataFrame({"actual": TRUTH, "predicted": A}), unit="patient")
    with pytest.raises(ValueError, match="average"):
        bayescm.summary(TRUTH, A, average="units")
    with pytest.raises(ValueError, match="or have weights: take"):
        bayescm.interval(counts, "recall")
    unmarked = bayescm.summary(counts.sel(unit=3), "recall")
    assert unmarked.attrs["model"] == "dirichlet_multinomial"
    xr.testing.assert_equal(bayescm.metrics.evaluate(counts, "recall").recall.isel(unit=0).drop_vars("unit"),
                            bayescm.metrics.evaluate(counts.isel(unit=0, drop=True), "recall").recall)  # fmt: skip


@pytest.mark.parametrize("prevalence", [0.1, (2, 18), "fixed"])
def test_another_prevalence(prevalence):
    counts = bayescm.confusion_matrix(TRUTH, A, unit=UNITS)
    rates = bayescm.summary(counts, ["recall", "false_positive_rate"], random_seed=1)
    found = bayescm.summary(counts, ["recall", "precision"], prevalence=prevalence, random_seed=1)
    np.testing.assert_allclose(found["interval"][0], rates["interval"][0])
    share = {0.1: 0.1, "fixed": TRUTH.mean()}.get(prevalence, 0.1)
    recall, fpr = rates["point"].values
    wanted = share * recall / (share * recall + (1 - share) * fpr)
    assert found["point"][1].item() == pytest.approx(wanted)


def test_data_with_a_column_of_units_ask(tmp_path):
    frame = pd.DataFrame({"actual": TRUTH, "predicted": A, "b": B, "image_id": UNITS})
    frame.to_csv(tmp_path / "items.csv", index=False)
    frame.rename(columns={"predicted": "a"}).to_csv(tmp_path / "wide.csv", index=False)
    one = frame.drop(columns="b")
    for counts in (
        bayescm.from_table(one, n=None), bayescm.summary(bayescm.from_table(one, n=None)).bayescm.sentence,
        bayescm.read(tmp_path / "items.csv", columns={"actual": "actual", "predicted": "predicted"}).data,
        bayescm.compare_systems(tmp_path / "wide.csv"), bayescm.leaderboard(tmp_path / "wide.csv").bayescm.sentence,
    ):  # fmt: skip
        asked = counts if isinstance(counts, str) else counts.attrs["asks"]
        assert "unit='image_id'" in asked
    assert "asks" not in bayescm.summary(tmp_path / "items.csv", unit="image_id").attrs
    assert "asks" not in bayescm.from_table(one.assign(image_id=np.arange(len(one))), n=None).attrs
