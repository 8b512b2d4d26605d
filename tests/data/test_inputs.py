"""What is given comes in the way it would have come by its constructor."""

import inspect
import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import bayescm
from bayescm.data.answers import as_right


def read_counts(data):
    return bayescm.read(data, about="counts").data


def read_systems(data, *, leaderboard):
    return bayescm.read(data, about="board" if leaderboard else "systems").data


FRAME = pd.DataFrame([[45, 10], [5, 90]])
SIDES = {
    ("Test+", "Test-"): ("Disease+", "Disease-"), ("T+", "T-"): ("D+", "D-"),
    ("positive", "negative"): ("diseased", "healthy"), ("+", "-"): ("Sick", "Well"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:No items in")
@given(st.lists(st.tuples(*(st.integers(0, 2) for _ in range(5))), min_size=1, max_size=30))
def test_folds_groups_and_runs_are_counted_by_hand(items):
    true, first, second, fold, group = np.array(items).T
    counts = bayescm.confusion_matrix(true, np.stack([first, second], 1), labels=[0, 1, 2], fold=fold, group=group)
    assert counts.dims == ("fold", "group", "run", "actual", "predicted")
    for f, g, run, a, p in np.ndindex(3, 3, 2, 3, 3):
        here = (fold == f) & (group == g) & (true == a) & ((first, second)[run] == p)
        if f in fold and g in group:
            assert counts.sel(fold=f, group=g, run=run, actual=a, predicted=p).item() == here.sum()
        else:
            assert not here.any()


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("tests", SIDES)
def test_the_side_of_a_spreadsheet_is_in_its_words(tests, turned):
    table = FRAME.set_axis(tests, axis=0).set_axis(SIDES[tests], axis=1)
    counts = bayescm.from_array(table.T if turned else table)
    assert counts.values.tolist() == [[90, 5], [10, 45]] or counts.values.tolist() == [[90, 10], [5, 45]]
    assert bayescm.metrics.evaluate(counts, "recall").recall == 0.9  # 45 of 50


def test_k_of_n_is_one_beta():
    found = bayescm.summary(45, 50, ci_kind="eti")
    np.testing.assert_allclose(found["interval"][0], stats.beta(45.5, 5.5).ppf([0.025, 0.975]), rtol=1e-9)
    assert found.metric.values.tolist() == ["proportion"]


def test_right_and_wrong_answers_have_an_accuracy():
    answers = {"correct": [32, 1], "wrong": [2, 0]}  # eq. 5 of Toetsch and Hoffmann: Beta(correct + 1, wrong + 1)
    found = bayescm.summary(pd.DataFrame({"system": ["a", "b"], **answers}), "acc", prior="laplace", ci_kind="eti")
    want = [stats.beta(33, 3).ppf([0.025, 0.975]), stats.beta(2, 1).ppf([0.025, 0.975])]
    np.testing.assert_allclose(found["interval"][:, 0], want, rtol=1e-9)
    assert found.metric.values.tolist() == ["accuracy"]
    assert found.system.values.tolist() == ["a", "b"]
    board = bayescm.leaderboard(bayescm.datasets.kaggle2019(), design="independent", prior="laplace")
    kaggle = bayescm.summary(bayescm.datasets.kaggle2019(), prior="laplace", ci_kind="eti")
    np.testing.assert_allclose(kaggle["interval"][:, 0], board["interval"], rtol=1e-9)
    np.testing.assert_allclose(bayescm.interval(answers, method="wilson").interval[0, 0],
                               stats.binomtest(32, 34).proportion_ci(method="wilson"))  # fmt: skip
    for refused in (lambda: bayescm.summary(answers, "f1"), lambda: bayescm.region(answers)):
        with pytest.raises(ValueError, match="an accuracy and no other metric"):
            refused()


def test_matrices_of_systems_come_in_the_order_of_the_first():
    a = bayescm.from_array([[5, 1, 0], [0, 4, 2], [1, 0, 3]], labels=["x", "y", "z"])
    both = read_counts({"a": a, "b": a.sel(actual=["z", "x", "y"], predicted=["z", "x", "y"])})
    assert both.dims == ("system", "actual", "predicted")
    np.testing.assert_array_equal(both.sel(system="b"), a)
    with pytest.raises(ValueError, match="give all the same, of two the positive one last"):
        read_counts({"a": [[1, 2], [3, 4]], "b": bayescm.from_array([[1, 2], [3, 4]], pos_label=0, labels=[0, 1])})


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_of_any_library(frame):
    cells = read_counts(frame({"system": ["a", "b"], "tp": [1, 2], "fn": [3, 4], "fp": [5, 6], "tn": [7, 8]}))
    assert cells.sel(system="b").values.tolist() == [[8, 6], [4, 2]]
    items = read_counts(frame({"y_true": [0, 1, 1], "y_pred": [0, 1, 0]}))
    assert items.values.tolist() == [[1, 0], [1, 1]]
    long = frame({"model": list("aabb"), "question": [1, 2, 2, 1], "passed": ["pass", "fail", "pass", "pass"]})
    told = read_systems(long, leaderboard=False)
    assert told.predicted.sel(system="a").values.tolist() == [1, 0]
    assert told.predicted.sel(system="b").values.tolist() == [1, 1]
    told = read_systems(
        frame({"system": list("aabb"), "item": [1, 2, 1, 2], "actual": [0, 1, 0, 1], "predicted": [0, 1, 1, 1]}),
        leaderboard=True,
    )
    assert told.actual.values.tolist() == [0, 1]
    wide = frame({"truth": [0, 1, 1], "a": [0, 1, 0], "b": [1, 1, 1]})
    assert bayescm.compare_systems(wide, random_seed=1)["summary"].comparison.values.tolist() == ["a - b"]


def test_frames_and_text_name_their_rows_alike():
    text = "sex,tp,fn,fp,tn,site,f1\nm,50,5,3,90,x,.93\nf,45,8,4,92,x,.88"
    frame = pd.read_csv(io.StringIO(text))
    for table in (text, frame):
        assert bayescm.read(table).data["system"].values.tolist() == ["m", "f"]
    moved = frame[["tp", "fn", "fp", "tn", "f1", "site", "sex"]]
    assert bayescm.read(moved).data["system"].values.tolist() == ["m", "f"]
    assert "system" not in bayescm.read(moved.drop(columns="sex")).data.coords


def test_frames_of_cells_over_other_dims_than_systems():
    cells = {"tp": [40, 41, 42, 43], "fn": [10, 9, 8, 7], "fp": [5, 4, 3, 6], "tn": [45, 46, 47, 44]}
    folds = read_counts(pd.DataFrame({"Fold": [1, 2, 3, 4], **cells}))
    assert folds.dims == ("fold", "actual", "predicted")
    assert folds.sel(fold=3).values.tolist() == [[47, 3], [8, 42]]
    both = pd.DataFrame({"system": list("aabb"), "fold": [1, 2, 1, 2], **cells})
    for call in (bayescm.summary, bayescm.compare_systems, bayescm.leaderboard):
        with pytest.raises(ValueError, match=r"'a' in several rows.*set_index\(\['system', 'fold'\]\).to_xarray"):
            call(both)
    made = both.set_index(["system", "fold"]).to_xarray()  # the call of the message
    counts = bayescm.from_cells(tp=made["tp"], fn=made["fn"], fp=made["fp"], tn=made["tn"])
    assert counts.sel(system="b", fold=1).values.tolist() == [[47, 3], [8, 42]]
    with pytest.raises(ValueError, match="several dims"):
        read_counts(both.drop(columns="system").assign(group=list("xxyy")))
    apart = read_counts(both.assign(system=list("abcd"), fold=1))
    assert apart.dims == ("system", "actual", "predicted")


def test_right_and_wrong_answers_name_what_takes_them():
    answers = {"correct": [45], "wrong": [5]}
    with pytest.raises(ValueError, match=r"probability takes matrices.*metric_distribution"):
        bayescm.probability(answers, "accuracy > .8")
    assert bayescm.metric_distribution(answers).sf(0.8).item() > 0.9


def test_a_column_more_must_be_explained():
    with pytest.raises(ValueError, match="dims='site'"):
        bayescm.summary(pd.DataFrame({"actual": [0, 1], "predicted": [0, 1], "site": ["a", "b"]}))


def test_words_for_right_and_wrong():
    assert as_right([1, 0, True, "Pass", " failed ", 1.0]) == [1, 0, 1, 1, 0, 1]
    assert as_right([1, 2]) is None


def test_accuracies_need_their_items():
    board = bayescm.leaderboard({"a": 0.912, "b": 0.5}, n_items={"b": 10, "a": 1000}, design="independent")
    assert board.point.values.tolist() == [0.912, 0.5]
    for wrong in (10.5, [1, 2, 3]):
        with pytest.raises(ValueError, match="`n_items`"):
            bayescm.leaderboard({"a": 0.9, "b": 0.5}, n_items=wrong)
    with pytest.raises(ValueError, match="`n_items` doesn't apply"):
        bayescm.leaderboard(bayescm.datasets.kaggle2019(), n_items=100)


def test_functions_look_as_they_are_written():
    assert list(inspect.signature(bayescm.summary).parameters)[:2] == ["counts", "metrics"]
    assert bayescm.summary.__globals__ is vars(inspect.getmodule(bayescm.summary))  # or doctest would skip it
    assert bayescm.summary.__name__ == "summary"


def test_accuracies_that_no_number_of_right_answers_has_are_warned_of():
    with pytest.warns(UserWarning, match=r"0\.905 \(A\) isn't .* taken for 90"):
        board = bayescm.leaderboard({"A": 0.905, "B": 0.8}, n_items=[100, 101])
    assert board.point.values[0] == 0.9
    exact = bayescm.leaderboard({"A": 612 / 723, "B": 0.8465, "C": np.float32(0.85)}, n_items=[723, 723, 1001])
    np.testing.assert_allclose(exact.point, [612 / 723, 612 / 723, 851 / 1001])
