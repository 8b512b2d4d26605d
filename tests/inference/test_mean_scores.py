"""Scores from 0 to 1: answers that are right in part, by the same process as units."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayescm
from bayescm.inference.units import ByUnit
from bayescm.metrics import resolve

RNG = np.random.default_rng(3)
A = RNG.beta(4, 1, 30).round(3)
B = np.clip(A - 0.1 * RNG.random(30), 0, 1).round(3)
PATIENT = np.arange(30) // 4
FRAME = pd.DataFrame({"item": np.arange(30), "patient": PATIENT, "a": A, "b": B})
LONG = FRAME.melt(["item", "patient"], ["a", "b"], var_name="system", value_name="score")
HOW = {"draws": 4000, "random_seed": 1}


def means(scores, n=60_000):
    """Draw the mean: the items' weights, and one more of any score."""
    rng = np.random.default_rng(8)
    w, w0, other = rng.exponential(size=(n, scores.shape[-1])), rng.exponential(size=n), rng.beta(0.5, 0.5, n)
    return (w @ scores.T + (w0 * other)[:, None]) / (w.sum(1) + w0)[:, None]


def test_the_mean_is_that_of_weighted_items():
    found = bayescm.summary(A, draws=40_000, random_seed=1)
    assert found["metric"].values.tolist() == ["mean_score"]
    assert found["point"].item() == pytest.approx(A.mean())
    np.testing.assert_allclose(found["interval"][0], np.quantile(means(A[None]), [0.025, 0.975]), atol=0.004)
    claim = bayescm.probability(A, "mean_score > .8", draws=40_000, random_seed=1)
    assert claim["probability"].item() == pytest.approx((means(A[None]) > 0.8).mean(), abs=0.01)
    gap = bayescm.compare_systems({"a": A, "b": B}, random_seed=1)["summary"]
    w = np.random.default_rng(2)
    weights, w0 = w.exponential(size=(60_000, 30)), w.exponential(size=60_000)
    drawn = (weights @ (A - B) + w0 * (w.beta(0.5, 0.5, 60_000) - w.beta(0.5, 0.5, 60_000))) / (weights.sum(1) + w0)
    np.testing.assert_allclose(gap["interval"].values.ravel(), np.quantile(drawn, [0.025, 0.975]), atol=0.006)


def test_right_and_wrong_scores_are_jeffreys():
    cells = np.zeros((20, 2, 2))
    cells[:, 1, 1] = np.arange(20) < 17
    cells[:, 1, 0] = 1.0 - cells[:, 1, 1]
    (drawn,) = ByUnit(cells, np.asarray(0), None, "items", 1, 200_000, True, True).draws(resolve("mean_score", 2))
    np.testing.assert_allclose(np.quantile(drawn, [0.025, 0.975]), stats.beta.ppf([0.025, 0.975], 17.5, 3.5), atol=4e-3)
    exact = bayescm.summary({"correct": [17], "wrong": [3]}, "mean_score")["interval"].values.ravel()
    np.testing.assert_allclose(exact, stats.beta.ppf([0.025, 0.975], 17.5, 3.5))


def test_all_doors_read_the_same(tmp_path):
    FRAME.drop(columns="patient").to_csv(tmp_path / "wide.csv", index=False)
    LONG.to_csv(tmp_path / "long.csv", index=False)
    LONG[LONG.system == "a"].drop(columns="system").to_csv(tmp_path / "a.csv", index=False)
    wanted = bayescm.summary({"a": A, "b": B}, **HOW)["interval"]
    for data in (
        FRAME[["a", "b"]], tmp_path / "wide.csv", LONG, tmp_path / "long.csv", {"a": list(A), "b": list(B)},
        bayescm.read(FRAME[["a", "b"]]), bayescm.read(LONG).data,
        {"a": np.stack([A - 0.0, A], 1), "b": np.stack([B, B], 1)},
    ):  # fmt: skip
        np.testing.assert_allclose(bayescm.summary(data, **HOW)["interval"], wanted)
    np.testing.assert_allclose(bayescm.summary(np.stack([A, B], 1), **HOW)["interval"], wanted)
    np.testing.assert_allclose(bayescm.summary(list(A), **HOW)["interval"], wanted.sel(system="a"))
    by = bayescm.summary(A, unit=PATIENT, **HOW)
    for data in (FRAME[["a", "patient"]].rename(columns={"a": "score"}), bayescm.read(tmp_path / "a.csv").data):
        if not isinstance(data, pd.DataFrame):
            data = data.assign_coords(patient=("item", PATIENT))
        np.testing.assert_allclose(bayescm.summary(data, unit="patient", **HOW)["interval"], by["interval"])
    assert "8 units, of 2 to 4 items each" in by.bayescm.sentence
    assert "design effect" not in by.bayescm.sentence
    crossed = bayescm.summary(A, unit={"reader": PATIENT % 5, "case": np.arange(30) // 5}, **HOW)
    assert crossed.bayescm.sentence.endswith("too short.")
    assert "crossed. Note" in crossed.bayescm.sentence
    unnamed = bayescm.summary(tmp_path / "a.csv", **HOW)
    assert "30 rows are of 8 patients; if patients were sampled, say unit='patient'" in unnamed.bayescm.sentence


def test_logs_with_partial_credit(tmp_path):
    samples = [
        {"id": i, "epoch": e, "target": "4", "scores": {"match": {"value": v}}}
        for e in (1, 2) for i, v in enumerate(["C", "P", 0.25])
    ]  # fmt: skip
    log = {"status": "success", "eval": {"model": "m", "task": "sums"}, "samples": samples}
    (tmp_path / "log.json").write_text(json.dumps(log))
    kept = bayescm.from_inspect(tmp_path / "log.json")
    assert kept.predicted.values.tolist() == [[1.0, 0.5, 0.25]]
    assert "scores from 0 to 1" in repr(bayescm.read(tmp_path / "log.json"))
    assert bayescm.summary(kept)["point"].item() == pytest.approx(1.75 / 3)


def test_boards_and_gates():
    board = bayescm.leaderboard({"a": A, "b": B, "c": B[::-1]}, random_seed=1)
    assert board["probability_best"].sum().item() == pytest.approx(1.0)
    assert board.attrs["metric"] == "mean_score"
    found = bayescm.gate(A, B, margin=0.02, require="mean_score > .5")
    assert (found.attrs["verdict"], found.attrs["passed"]) == ("not worse", 1)
    np.testing.assert_allclose(found["share"].sel(system="new"), A)
    assert "over 30 items" in bayescm.summary(A).bayescm.sentence.lower()


def test_what_cant_be_is_refused_in_words():
    for scores in (A * 5, np.r_[A, np.nan], A - 0.5):
        with pytest.raises(ValueError, match="scores from 0 to 1; got"):
            bayescm.summary(scores)
    with pytest.raises(ValueError, match="'mean_score' of scores from 0 to 1; got 'f1'"):
        bayescm.summary(A, ["mean_score", "f1"])
    with pytest.raises(ValueError, match="'mean_score' of scores from 0 to 1; got 'accuracy'"):
        bayescm.compare_systems({"a": A, "b": B}, "accuracy")
    with pytest.raises(ValueError, match="decide takes matrices"):
        bayescm.decide(A, {"fn": 1, "fp": 1})
    with pytest.raises(ValueError, match="whole numbers"):
        bayescm.summary([[0.9, 0.1], [0.2, 0.8]])
    with pytest.raises(ValueError, match="one of each per item"):
        bayescm.summary({"a": A, "b": B[:-1]})
    with pytest.raises(TypeError, match="numbers of items"):
        bayescm.leaderboard(pd.DataFrame({"model": ["a", "b", "c"], "precision": [0.5, 0.6, 0.7]}))
    assert bayescm.summary([0.7] * 12, **HOW)["interval"].values.ravel()[0] < 0.69


def test_the_mean_score_of_a_matrix_is_its_accuracy():
    both = bayescm.summary([[9, 1], [2, 8]], ["mean_score", "accuracy"])
    np.testing.assert_array_equal(both["interval"][0], both["interval"][1])
