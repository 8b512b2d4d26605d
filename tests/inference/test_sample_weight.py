"""Weights of items multiply the random ones of the units' posterior."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, recall_score

import bayescm

RNG = np.random.default_rng(11)
Y = RNG.integers(0, 2, 80)
P, Q = (np.where(RNG.random(80) < share, Y, 1 - Y) for share in (0.85, 0.7))
W = RNG.gamma(2, 1, 80)
UNIT = np.arange(80) // 5
HOW = {"draws": 4000, "random_seed": 1}


def test_draws_are_those_of_weighted_items():
    found = bayescm.summary(Y, P, ["recall", "accuracy"], sample_weight=W, draws=40_000, random_seed=1)
    truth = [recall_score(Y, P, sample_weight=W), accuracy_score(Y, P, sample_weight=W)]
    np.testing.assert_allclose(found["point"], truth)
    rng, n = np.random.default_rng(2), 40_000
    mass = rng.exponential(size=(n, 80)) * W / W.mean()
    prior = rng.dirichlet(np.full(4, 0.5), n) * rng.gamma(2, 1, (n, 1))
    cells = [mass[:, (t == Y) & (g == P)].sum(1) for t in (0, 1) for g in (0, 1)]
    tn, fp, fn, tp = np.stack(cells) + prior.T
    drawn = [tp / (tp + fn), (tp + tn) / (tn + fp + fn + tp)]
    np.testing.assert_allclose(found["interval"], np.quantile(drawn, [0.025, 0.975], 1).T, atol=0.008)
    assert f"weights count as {W.sum() ** 2 / (W @ W):.3g} equal items" in found.bayescm.sentence
    assert "weights that are known" in found.attrs["assumptions"]


def test_equal_weights_of_any_size_are_the_items():
    exact = bayescm.summary(Y, P, ["recall", "accuracy"])["interval"]
    found = bayescm.summary(Y, P, ["recall", "accuracy"], sample_weight=np.full(80, 1e9), draws=40_000, random_seed=1)
    np.testing.assert_allclose(found["interval"], exact, atol=0.006)


def test_all_doors_read_the_same(tmp_path):
    frame = pd.DataFrame({"actual": Y, "predicted": P, "w": W, "patient": UNIT})
    frame.to_csv(tmp_path / "items.csv", index=False)
    for unit, column in ((None, None), (UNIT, "patient")):
        wanted = bayescm.summary(Y, P, "f1", sample_weight=W, unit=unit, **HOW)["interval"]
        for found in (
            bayescm.summary(bayescm.read(Y, P, sample_weight=W, unit=unit), "f1", **HOW),
            bayescm.summary(bayescm.predictions(Y, {"a": P}, sample_weight=W, unit=unit), "f1", **HOW).isel(system=0),
            bayescm.summary(frame, "f1", sample_weight="w", unit=column, **HOW),
            bayescm.summary(tmp_path / "items.csv", "f1", sample_weight="w", unit=column, **HOW),
        ):
            np.testing.assert_allclose(found["interval"], wanted)
    pair = bayescm.compare_systems(Y, {"p": P, "q": Q}, sample_weight=W, **HOW)["summary"]
    gap = accuracy_score(Y, P, sample_weight=W) - accuracy_score(Y, Q, sample_weight=W)
    assert pair["point"].item() == pytest.approx(gap)
    scored = bayescm.summary(np.linspace(0.5, 1, 80), sample_weight=W)
    assert scored["point"].item() == pytest.approx(np.average(np.linspace(0.5, 1, 80), weights=W))


def test_right_answers_by_unit_aren_t_taken_for_items():
    marks = (Y == P).astype(int)
    long = pd.DataFrame({"system": "a", "item": np.arange(80), "question": UNIT, "correct": marks})
    found = bayescm.summary(bayescm.read(long, unit="question"), random_seed=1)
    assert "16 questions" in found.bayescm.sentence


def test_what_cant_be_is_refused_in_words():
    for wrong, message in ((-W, "none negative"), (W[:-1], "one of each per item"), (np.zeros(80), "one above 0")):
        with pytest.raises(ValueError, match=message):
            bayescm.summary(Y, P, sample_weight=wrong)
    with pytest.raises(ValueError, match="doesn't apply"):
        bayescm.summary(bayescm.confusion_matrix(Y, P), sample_weight=W)
    for call in (bayescm.confusion_matrix, bayescm.auc):
        with pytest.raises(TypeError, match=r"bayescm\.predictions"):
            call(Y, P, sample_weight=W)
    with pytest.raises(ValueError, match="or have weights: take"):
        bayescm.interval(Y, P, "recall", sample_weight=W)
    frame = pd.DataFrame({"actual": Y, "predicted": P, "w": W, "n": 2})
    with pytest.raises(ValueError, match="row per item of one system"):
        bayescm.summary(frame, sample_weight="w")
    heavy = np.r_[500.0, np.ones(79)]
    assert (
        "one of the items holds 86% of the weight"
        in bayescm.summary(Y, P, "recall", sample_weight=heavy).bayescm.sentence
    )
