"""Crossed units: readers who all read the same cases, judges of the same answers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import bayescm

STUDY = bayescm.datasets.van_dyke1993().isel(reader=slice(4), item=slice(None, None, 2))
R, C = STUDY.sizes["reader"], STUDY.sizes["item"]
READER, CASE = np.repeat(np.arange(R), C), np.tile(np.arange(C), R)
TRUTH = np.tile(STUDY.truth.values, R)
SCORES = {name: STUDY.rating.values[i].ravel() for i, name in enumerate("ab")}
A, B = ((SCORES[name] >= 3).astype(int) for name in "ab")
METRICS = ["recall", "f1", "accuracy"]
FRAME = pd.DataFrame({"reader": READER, "case": CASE, "actual": TRUTH, "predicted": A})
PAIR = ("reader", "case")


def test_draws_are_those_of_products_of_weights():
    found = bayescm.summary(FRAME, METRICS, unit=PAIR, draws=40_000, random_seed=1)
    rng, n = np.random.default_rng(2), 40_000
    cells = np.zeros((R, C, 4))
    cells[READER, CASE, 2 * TRUTH + A] = 1
    prior = rng.dirichlet(np.full(4, 0.5), n) * (rng.exponential(size=(n, 1)) * R + rng.exponential(size=(n, 1)))
    weighed = np.einsum(
        "nr,nc,rck->nk", rng.exponential(size=(n, R)), rng.exponential(size=(n, C)), cells, optimize=True
    )
    tn, fp, fn, tp = (weighed + prior).T
    other = np.quantile(
        [tp / (tp + fn), 2 * tp / (2 * tp + fp + fn), (tp + tn) / (tp + tn + fp + fn)], [0.025, 0.975], 1
    )
    np.testing.assert_allclose(found["interval"], other.T, atol=0.01)
    nested = bayescm.summary(FRAME.drop(columns="reader"), METRICS, unit="case", random_seed=1)
    assert (np.diff(found["interval"]) > np.diff(nested["interval"])).all()
    assert "4 readers and 57 cases, crossed; design effect" in found.bayescm.sentence
    assert "4 readers show little" in found.bayescm.sentence
    columns = bayescm.summary(FRAME["actual"], FRAME["predicted"], "f1", unit=(FRAME["reader"], FRAME["case"]))
    assert "4 readers and 57 cases" in columns.bayescm.sentence


@pytest.mark.slow
def test_all_doors_read_the_same(tmp_path):
    FRAME.to_csv(tmp_path / "readings.csv", index=False)
    how, arrays = {"random_seed": 1}, {"reader": READER, "case": CASE}
    by_dims = bayescm.from_table(FRAME, n=None, dims=PAIR)
    wanted = bayescm.summary(TRUTH, A, METRICS, unit=(READER, CASE), **how)["interval"]
    for found in (
        bayescm.summary(TRUTH, A, METRICS, unit=arrays, **how),
        bayescm.summary(FRAME, METRICS, unit=PAIR, **how),
        bayescm.summary(bayescm.from_table(FRAME, n=None, unit=PAIR), METRICS, **how),
        bayescm.summary(bayescm.from_table(tmp_path / "readings.csv", n=None, unit=PAIR), METRICS, **how),
        bayescm.summary(bayescm.read(tmp_path / "readings.csv", unit=PAIR), METRICS, **how),
        bayescm.summary(by_dims, METRICS, unit=PAIR, **how),
        bayescm.summary(bayescm.predictions(TRUTH, {"a": A}, unit=arrays), METRICS, **how).isel(system=0),
        bayescm.summary(bayescm.from_table(FRAME, n=None, unit=PAIR).chunk(), METRICS, **how).compute(),
    ):
        np.testing.assert_allclose(found["interval"], wanted, rtol=1e-12)


def test_systems_share_readers_and_cases():
    kept = bayescm.predictions(TRUTH, {"a": A, "b": B}, unit={"reader": READER, "case": CASE})
    found = bayescm.compare_systems(kept, "accuracy", draws=20_000, random_seed=1)["summary"]
    rng, n = np.random.default_rng(3), 20_000
    right = np.stack([(one == TRUTH).reshape(R, C) for one in (A, B)]).astype(float)
    weights = rng.exponential(size=(n, R)), rng.exponential(size=(n, C))
    sums = np.einsum("nr,nc,src->ns", *weights, right, optimize=True)
    total, prior = weights[0].sum(1) * weights[1].sum(1), rng.exponential(size=(n, 1)) * R * np.ones((1, 2))
    accuracy = (sums + prior * rng.beta(0.5, 0.5, (n, 2))) / (total[:, None] + prior)
    low, high = np.quantile(accuracy[:, 0] - accuracy[:, 1], [0.025, 0.975])
    np.testing.assert_allclose(found.interval.values.ravel(), [low, high], atol=0.012)
    told = bayescm.compare_systems(kept, "accuracy", random_seed=1).bayescm.assumptions
    assert "tested on the same readers and cases" in told
    equal = bayescm.predictions(TRUTH, {"a": A, "b": A}, unit=(READER, CASE))
    assert bayescm.compare_systems(equal, "accuracy", random_seed=1)["summary"]["verdict"].item() == "undecided"


def test_areas_are_means_over_readers():
    areas = np.array([[roc_auc_score(TRUTH[r == READER], s[r == READER]) for r in range(R)] for s in SCORES.values()])
    found = bayescm.auc(TRUTH, SCORES, unit=(READER, CASE), draws=4000, random_seed=1)
    np.testing.assert_allclose(found.point, areas.mean(1), rtol=1e-12)
    rng, n, sick = np.random.default_rng(4), 4000, TRUTH[:C] == 1
    w, v = rng.exponential(size=(n, R)), rng.exponential(size=(n, C))
    values = np.stack([one.reshape(R, C) for one in SCORES.values()])
    gaps = values[..., sick][..., None] - values[..., ~sick][..., None, :]
    above = (gaps > 0) + 0.5 * (gaps == 0)  # (systems, readers, cases, controls)
    each = np.einsum("srij,ni,nj->nsr", above, v[:, sick], v[:, ~sick], optimize=True)
    each /= (v[:, sick].sum(1) * v[:, ~sick].sum(1))[:, None, None]
    drawn = np.einsum("nsr,nr->ns", each, w / w.sum(1, keepdims=True))
    np.testing.assert_allclose(found.interval, np.quantile(drawn, [0.025, 0.975], axis=0).T, atol=0.02)
    both = bayescm.curves.auc_difference(TRUTH, SCORES, unit=(READER, CASE), draws=4000, random_seed=1)
    np.testing.assert_allclose(both.interval, np.quantile(drawn[:, 0] - drawn[:, 1], [0.025, 0.975]), atol=0.02)
    one = bayescm.readers(STUDY.truth, STUDY.rating, random_seed=1).sel(sampled="readers and cases")
    np.testing.assert_allclose(found.interval, one.credible[:2], atol=0.01)


@pytest.mark.parametrize("unit", PAIR)
def test_crossed_units_that_are_named_as_nested_ask(unit, tmp_path):
    FRAME.to_csv(tmp_path / "readings.csv", index=False)
    other = PAIR[unit == "reader"]
    for counts in (
        bayescm.from_table(FRAME, n=None, unit=unit),
        bayescm.read(tmp_path / "readings.csv", unit=unit).data,
    ):
        assert f"if both were sampled, say unit=({other!r}, {unit!r})" in bayescm.summary(counts).bayescm.sentence
    apart = FRAME.assign(case=FRAME.reader * 1000 + FRAME.case)  # each reader has cases of its own
    assert "asks" not in bayescm.from_table(apart, n=None, unit="reader").attrs
    assert "asks" not in bayescm.from_table(FRAME, n=None, unit=PAIR).attrs


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bayescm.summary(FRAME, unit=PAIR, average="units"), "two meanings of crossed units"),
        (lambda: bayescm.summary(FRAME, unit=("reader", "nobody")), "`unit` must name a column"),
        (lambda: bayescm.summary(TRUTH, A, unit=(READER, CASE[:3])), "have|has"),
        (lambda: bayescm.summary(TRUTH, A, unit=(READER, CASE, CASE)), "one dimension"),
        (lambda: bayescm.summary(TRUTH, A, unit={"reader": READER}), "two that are crossed"),
        (lambda: bayescm.aucpr(TRUTH, SCORES["a"], unit=(READER, CASE)), "bayescm.readers compares"),
        (lambda: bayescm.curve_posterior(TRUTH, SCORES["a"], unit=(READER, CASE)), "bayescm.readers compares"),
        (lambda: bayescm.auc(TRUTH, SCORES["a"], unit=(READER, CASE), method="delong"), "takes items for independent"),
        (lambda: bayescm.auc(TRUTH, SCORES["a"], unit=(READER, CASE), fpr_range=(0, 0.1)), "parts of curves"),
        (lambda: bayescm.auc(TRUTH, SCORES["a"], unit=(np.arange(R * C), CASE)), "without items of both classes"),
        (lambda: bayescm.planning.replicate(bayescm.from_table(FRAME, n=None, unit=PAIR), "f1"), "readers and cases"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()
