"""Tables and labels as people have them: what is missing, which class is positive, which side is the truth."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

import bayescm
from bayescm.data.crosstabs import side
from bayescm.data.labels import WELL_KNOWN, positive_of

NAN, NOTHING = float("nan"), np.ma.masked
Y = [0, 1, 1, 0, 1, 0]
HIDDEN = np.ma.array(Y, mask=[0, 0, 1, 0, 0, 1])
SCORES = np.ma.array([0.1, 0.9, 0.8, 0.3, 0.4, 0.2], mask=[0, 1, 0, 0, 0, 0])
MATRIX = np.ma.array([[6, 2], [1, 26]], mask=[[0, 1], [0, 0]])
CELLS = np.ma.array([3, 4], mask=[0, 1])
DOORS = {
    "truth": (lambda: bayescm.confusion_matrix(HIDDEN, Y), r"`y_true` has 2 masked entries, the first at position 2"),
    "predictions": (lambda: bayescm.confusion_matrix(Y, HIDDEN), "`y_pred` has 2 masked"),
    "a cell": (lambda: bayescm.from_cells(tp=CELLS, fn=1, fp=1, tn=1), "`tp` has 1 masked entry, .* position 1:"),
    "one cell": (lambda: bayescm.from_cells(tp=1, fn=NOTHING, fp=1, tn=1), "`fn` has 1 masked"),
    "a matrix": (lambda: bayescm.from_array(MATRIX), r"`array` has 1 masked entry, the first at position \(0, 1\)"),
    "rows": (lambda: bayescm.from_array([MATRIX[0], [1, 2]]), r"`array` has 1 masked .* \(0, 1\)"),
    "summary": (lambda: bayescm.summary(MATRIX, "recall"), "`array` has 1 masked"),
    "interval": (lambda: bayescm.interval(MATRIX, "recall"), "`array` has 1 masked"),
    "region": (lambda: bayescm.region(MATRIX), "`array` has 1 masked"),
    "posterior": (lambda: bayescm.posterior(MATRIX), "`array` has 1 masked"),
    "leaderboard": (lambda: bayescm.leaderboard(np.ma.stack([MATRIX, MATRIX])), r"`array` has 2 masked"),
    "comparison": (lambda: bayescm.compare_systems(np.ma.stack([MATRIX, MATRIX])), r"`array` has 2 masked"),
    "sequential": (lambda: bayescm.planning.sequential(np.ma.stack([MATRIX, MATRIX])), r"`counts` has 2 masked"),
    "scores": (lambda: bayescm.curves.counts_at_thresholds(Y, SCORES), "`y_score` has 1 masked entry, .* position 1:"),
    "thresholds": (
        lambda: bayescm.curves.counts_at_thresholds(Y, [0.0] * 6, thresholds=CELLS),
        "`thresholds` has 1 masked",
    ),
    "curve": (lambda: bayescm.curve_posterior(Y, SCORES), "`y_score` has 1 masked"),
    "curves": (lambda: bayescm.curve_posterior(Y, {"A": SCORES}), r"`y_score\['A'\]` has 1 masked"),
    "groups": (lambda: bayescm.curve_posterior(Y, [0.0] * 6, by={"fold": HIDDEN}), "masked"),
    "area": (lambda: bayescm.auc(HIDDEN, [0.0] * 6), "`y_true` has 2 masked"),
    "area under PR": (lambda: bayescm.aucpr(Y, SCORES), "`y_score` has 1 masked"),
    "paired": (lambda: bayescm.data.paired_counts(Y, {"A": HIDDEN}), r"`y_pred\['A'\]` has 2 masked"),
    "answers": (lambda: bayescm.predictions(Y, np.ma.stack([HIDDEN])), r"`y_pred\['predicted_1'\]` has 2 masked"),
    "prior": (lambda: bayescm.summary([[6, 2], [1, 26]], "recall", prior=MATRIX), "`prior` has 1 masked"),
    "prevalence": (lambda: bayescm.summary([[6, 2], [1, 26]], "recall", prevalence=CELLS), "`prevalence` has 1 masked"),
    "net benefit": (
        lambda: bayescm.planning.decision_curve([[6, 2], [1, 26]], thresholds=CELLS),
        "`thresholds` has 1 masked",
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_what_is_masked_is_missing(door):
    call, words = DOORS[door]
    with pytest.raises(ValueError, match=words):
        call()


def test_masked_arrays_without_a_masked_entry_are_arrays():
    bare = np.ma.array(Y)
    np.testing.assert_array_equal(bayescm.confusion_matrix(bare, bare), bayescm.confusion_matrix(Y, Y))
    np.testing.assert_array_equal(bayescm.from_array(np.ma.array([[6, 2], [1, 26]])), [[6, 2], [1, 26]])
    lazy = xr.DataArray(MATRIX, dims=("actual", "predicted"))  # xarray makes NaN of what is masked
    with pytest.raises(ValueError, match=r"missing value.*position \(0, 1\)"):
        bayescm.summary(lazy, "recall")


@pytest.mark.parametrize("nothing", [None, pd.NA, pd.NaT, NAN])
def test_missing_entries_of_any_kind(nothing):
    for labels in ([0, nothing], ["a", nothing]):
        with pytest.raises(ValueError, match=r"missing label at position 1|mixes text"):
            bayescm.confusion_matrix(labels, labels)
        with pytest.raises(ValueError, match="missing label at position 1"):
            bayescm.data.paired_counts(pd.Series(labels, dtype=object), [[0, 1]])
    with pytest.raises(ValueError, match="missing value at position 1"):
        bayescm.curves.counts_at_thresholds([0, 1], [0.5, nothing])
    with pytest.raises(ValueError, match="missing value"):
        bayescm.from_cells(tp=[1, nothing], fn=1, fp=1, tn=1)


@pytest.mark.parametrize("kind", ["Int64", "Float64", "boolean", "string"])
def test_missing_entries_of_pandas(kind):
    values = pd.array(["1", None] if kind == "string" else [1, None], dtype=kind)
    with pytest.raises(ValueError, match="missing label at position 1"):
        bayescm.confusion_matrix(values, [0, 1])


NAMED = [
    ("diseased", "healthy"), ("disease", "no disease"), ("case", "control"), ("sick", "well"), ("abnormal", "normal"),
    ("positive", "negative"), ("Pos", "Neg"), ("YES", "no"), ("spam", "ham"), ("+", "-"), ("Test+", "Test-"),
    ("Disease +", "Disease \N{MINUS SIGN}"), ("HIV positive", "HIV negative"), ("fraud", "not fraud"),
    ("True", "False"), ("event", "non-event"), ("1", "0"), ("1", "-1"), ("lesion_present", "lesion_absent"),
]  # fmt: skip


@pytest.mark.parametrize(("positive", "negative"), NAMED)
def test_well_known_pairs(positive, negative):
    for y in ([positive, negative, positive], [negative, positive, positive]):
        counts = bayescm.confusion_matrix(y, [positive, positive, positive])
        assert counts.actual.values.tolist() == [negative, positive]
        assert counts.values.tolist() == [[0, 1], [0, 2]]
        told = bayescm.curves.counts_at_thresholds(y, [0.1, 0.2, 0.3])
        assert told.actual.values[-1] == positive
    for text in ([positive, negative], [negative, positive]):
        frame = pd.DataFrame([[1, 2], [3, 4]], index=pd.Index(text, name="truth"), columns=text)
        assert bayescm.from_array(frame).actual.values.tolist() == [negative, positive]
        assert bayescm.from_array([[1, 2], [3, 4]], labels=text).actual.values.tolist() == [negative, positive]


def test_no_pair_is_known_both_ways():
    assert not {(b, a) for a, b in WELL_KNOWN} & WELL_KNOWN
    assert all(positive_of([b, a]) == positive_of([a, b]) == a for a, b in WELL_KNOWN)


UNKNOWN = [("low", "high"), ("a", "b"), ("cat", "dog"), ("A+", "B-"), ("01", "1"), ("male", "female"), ("no", "nope")]


@pytest.mark.parametrize("pair", UNKNOWN)
def test_other_pairs_are_refused(pair):
    y = [*pair, *pair]
    answers, scores = {"A": y, "B": y[::-1]}, [0.1, 0.2, 0.3, 0.4]
    long = pd.DataFrame({"actual": y, "predicted": y})
    frame = pd.DataFrame([[1, 2], [3, 4]], index=pd.Index(pair, name="truth"), columns=list(pair))
    calls = [
        lambda **o: bayescm.confusion_matrix(y, y, **o),
        lambda **o: bayescm.from_table(long, n=None, **o),
        lambda **o: bayescm.curves.counts_at_thresholds(y, scores, **o),
        lambda **o: bayescm.data.paired_counts(y, answers, **o),
        lambda **o: bayescm.predictions(y, answers, **o),
        lambda **o: bayescm.auc(y, scores, method="delong", **o),
        lambda **o: bayescm.from_array(frame, **o),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"`pos_label` is needed: which of .*pos_label="):
            call()
        call(pos_label=pair[0])
    for call in calls[:-1]:  # `labels` only orders and completes
        with pytest.raises(ValueError, match="`pos_label` is needed"):
            call(labels=list(pair))


def test_the_order_of_a_plain_array_says_it_for_other_pairs():
    assert bayescm.from_array([[1, 2], [3, 4]], labels=["low", "high"]).actual.values.tolist() == ["low", "high"]
    turned = bayescm.from_array([[1, 2], [3, 4]], labels=["low", "high"], pos_label="low")
    assert turned.actual.values.tolist() == ["high", "low"]
    assert turned.values.tolist() == [[4, 3], [2, 1]]
    assert bayescm.from_array([[1, 2], [3, 4]], labels=[1, 0]).values.tolist() == [[4, 3], [2, 1]]
    with pytest.raises(ValueError, match="`pos_label` must be one of"):
        bayescm.from_array([[1, 2], [3, 4]], pos_label=7)
    with pytest.raises(ValueError, match="`pos_label` is for two classes"):
        bayescm.from_array(np.ones((3, 3), int), pos_label=1)


pairs_of_labels = st.sampled_from([[0, 1], [1, 0], [-1, 1], [False, True], *([b, a] for a, b in NAMED)])


@given(pairs_of_labels, st.data())
def test_equals_scikit_learn_with_the_positive_class_last(order, data):
    items = st.lists(st.tuples(st.sampled_from(order), st.sampled_from(order)), min_size=1, max_size=30)
    y, p = (list(part) for part in zip(*data.draw(items), strict=True))
    counts = bayescm.confusion_matrix(y, p, labels=order)
    known = counts.actual.values.tolist()
    assert known[-1] == positive_of(order)
    np.testing.assert_array_equal(counts, sk.confusion_matrix(y, p, labels=known))
    if set(y) | set(p) == set(order):
        np.testing.assert_array_equal(counts, bayescm.confusion_matrix(y, p))
        if known == sorted(known):
            np.testing.assert_array_equal(counts, sk.confusion_matrix(y, p))


def test_every_result_says_which_class_is_positive():
    y = ["sick", "well"] * 6 + ["sick", "sick", "well"]
    p = ["sick", "well", "well", "sick", "well"] * 3
    scores = np.linspace(0, 1, 15)
    counts = bayescm.confusion_matrix(y, p)
    both = xr.concat([counts, counts], "system").assign_coords(system=["A", "B"])
    same = bayescm.predictions(y, {"A": p, "B": y})
    results = {
        "summary": bayescm.summary(counts, "f1"),
        "cells": bayescm.inference.cell_summary(counts),
        "interval": bayescm.interval(counts, "recall"),
        "probability": bayescm.probability(counts, "recall > .5"),
        "posterior": bayescm.posterior(counts, draws=10),
        "replicate": bayescm.planning.replicate(counts, "recall"),
        "region": bayescm.region(counts, grid=11),
        "point": bayescm.regions.region_level(counts, recall=0.5, precision=0.5),
        "cloud": bayescm.regions.bootstrap(counts, draws=20, random_seed=1),
        "band": bayescm.band(bayescm.curves.counts_at_thresholds(y, scores), grid=11),
        "comparison": bayescm.compare_systems(same, "accuracy", draws=100, random_seed=1),
        "leaderboard": bayescm.leaderboard(same),
        "prevalences": bayescm.planning.at_prevalences(counts, "ppv", prevalence=[0.1]),
        "benefit": bayescm.planning.decision_curve(counts, thresholds=[0.5]),
        "decision": bayescm.decide(both, {"fn": 5, "fp": 1}, design="independent", random_seed=1),
        "sequential": bayescm.planning.sequential(both, "recall", dim="system"),
        "curve": bayescm.curve_posterior(y, scores, draws=20, random_seed=1),
        "area": bayescm.auc(y, scores, method="delong"),
        "areas": bayescm.curves.auc_difference(y, {"a": scores, "b": scores[::-1]}),
    }
    assert {name: found.attrs.get("positive_class") for name, found in results.items()} == dict.fromkeys(
        results, "sick"
    )
    assert bayescm.summary([[6, 2], [0, 26]], "f1").attrs["positive_class"] == 1
    truths = bayescm.from_array([[6, 2], [0, 26]], labels=[False, True])
    assert bayescm.summary(truths, "f1").attrs["positive_class"] == "True"
    assert "positive_class" not in bayescm.summary(np.ones((3, 3), int), "accuracy").attrs


ASKED = [[45, 10], [5, 90]]  # tests in rows: recall 45 of 50
SIDES = {
    "rows said": (None, None, ["positive", "negative"], ["positive", "negative"], {"rows": "test"}),
    "name of the rows": ("Predicted class", None, ["positive", "negative"], ["positive", "negative"], {}),
    "name of the columns": (None, "y_true", ["positive", "negative"], ["positive", "negative"], {}),
    "both": ("test", "disease", ["yes", "no"], ["yes", "no"], {}),
    "both in one": ("predicted\\actual", None, ["yes", "no"], ["yes", "no"], {}),
    "both in one corner": ("Test / gold standard", None, ["yes", "no"], ["yes", "no"], {}),
    "a noun": ("predicted condition", "actual condition", [1, 0], [1, 0], {}),
    "labels": (None, None, ["Test+", "Test-"], ["Disease+", "Disease-"], {}),
    "labels of one side": (None, None, ["pred: yes", "pred: no"], ["yes", "no"], {}),
    "other order": ("test", None, ["yes", "no"], ["no", "yes"], {}),
}


@pytest.mark.parametrize("how", SIDES)
def test_which_side_is_the_truth(how):
    row_name, column_name, rows, columns, options = SIDES[how]
    values = np.array(ASKED)[:, ::-1] if how == "other order" else ASKED
    frame = pd.DataFrame(values, index=pd.Index(rows, name=row_name), columns=pd.Index(columns, name=column_name))
    counts = bayescm.from_array(frame, **options)
    assert counts.values.tolist() == [[90, 10], [5, 45]]
    assert float(bayescm.metrics.evaluate(counts, "recall").recall) == 0.9


def test_sides_that_are_not_said_or_contradict():
    same = ["yes", "no"]
    bare = pd.DataFrame(ASKED, index=same, columns=same)
    with pytest.raises(ValueError, match="rows='truth' or rows='test'"):
        bayescm.from_array(bare)
    with pytest.raises(ValueError, match="rows='truth' or rows='test'"):
        bayescm.summary(bare, "recall")
    assert bayescm.from_array(bare, rows="truth").values.tolist() == [[90, 5], [10, 45]]
    with pytest.raises(ValueError, match="`rows` must be 'truth' or 'test'"):
        bayescm.from_array(bare, rows="upper")
    with pytest.raises(ValueError, match="contradict"):
        bayescm.from_array(bare.rename_axis("truth"), rows="test")
    with pytest.raises(ValueError, match="contradict"):
        bayescm.from_array(bare.rename_axis("truth").rename_axis(columns="reference"))
    with pytest.raises(ValueError, match="give both the same labels"):
        bayescm.from_array(pd.DataFrame([[1, 2, 9], [3, 4, 9]], index=same, columns=["yes", "no", "no"]), rows="test")
    with pytest.raises(ValueError, match="`rows` is for data frames"):
        bayescm.from_array(ASKED, rows="test")


@pytest.mark.parametrize(("name", "wanted"), [
    ("actual", "actual"), ("y_true", "actual"), ("True label", "actual"), ("Gold", "actual"), ("Disease", "actual"),
    ("test", "predicted"), ("y_pred", "predicted"), ("classifier_2", "predicted"), ("Predicted condition", "predicted"),
    ("y_test", None), ("row_0", None), (None, None), ("true prediction", None), ("testing", None),
    ("labels_test", None), ("test result", "predicted"),
])  # fmt: skip
def test_words_for_sides(name, wanted):
    assert side(name) == wanted


@given(st.lists(st.integers(0, 50), min_size=4, max_size=4), st.sampled_from(["Total", "All", "Gesamt", "row totals"]))
def test_margins_are_known_by_their_sums(cells, word):
    inner = pd.DataFrame(np.reshape(cells, (2, 2)), index=["yes", "no"], columns=["yes", "no"]).rename_axis("actual")
    want = bayescm.from_array(inner)
    whole = inner.assign(**{word: inner.sum(axis=1)})
    whole.loc[word] = whole.sum()
    for table in (whole, whole.iloc[:2], whole.iloc[:, :2]):
        with pytest.warns(UserWarning, match=f"{word!r} holds the sums"):
            xr.testing.assert_identical(bayescm.from_array(table.rename_axis("actual")), want)
    wrong = whole.copy()
    wrong.iloc[-1, 0] += 1
    with pytest.raises(ValueError, match="isn't the sum of the others"):
        bayescm.from_array(wrong.rename_axis("actual"))
    names = ["yes", "no", "third"]
    kept = bayescm.from_array(whole.set_axis(names).set_axis(names, axis=1).rename_axis("actual"))
    assert kept.sizes == {"actual": 3, "predicted": 3}


def test_margins_of_crosstabs_arrays_and_long_tables():
    y, p = pd.Series([0, 1, 1, 0], name="actual"), pd.Series([0, 1, 0, 0], name="predicted")
    with pytest.warns(UserWarning, match="'All' holds the sums"):
        counts = bayescm.from_array(pd.crosstab(y, p, margins=True))
    xr.testing.assert_identical(counts, bayescm.confusion_matrix(y, p))
    with pytest.warns(UserWarning, match="holds the sums"):
        counts = bayescm.from_array([[2, 0, 2], [1, 1, 2], [3, 1, 4]], labels=["no", "yes", "sum"])
    assert counts.values.tolist() == [[2, 0], [1, 1]]
    long = pd.DataFrame({"actual": ["no", "yes", "Total"], "predicted": ["no", "yes", "yes"], "n": [1, 2, 2]})
    with pytest.raises(ValueError, match="'Total', a word for sums"):
        bayescm.from_table(long)


def test_truth_and_test_in_different_words():
    y, p = ["yes", "no", "yes"], ["pos", "neg", "pos"]
    calls = [
        lambda **o: bayescm.confusion_matrix(y, p, **o),
        lambda **o: bayescm.data.paired_counts(y, {"A": y, "B": p}, **o),
        lambda **o: bayescm.predictions(y, {"A": y, "B": p}, **o),
        lambda **o: bayescm.from_table(pd.DataFrame({"actual": y, "predicted": p}), n=None, **o),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"'no', 'yes' and .* has 'neg', 'pos': none in common"):
            call()
        call(labels=["no", "yes", "neg", "pos"])  # said to be one list
    assert bayescm.confusion_matrix(y, p, pos_label=("yes", "pos")).values.tolist() == [[1, 0], [0, 2]]
    assert bayescm.confusion_matrix(y, p, pos_label=("no", "pos")).values.tolist() == [[0, 2], [1, 0]]
    with pytest.raises(ValueError, match="needs two labels on either side"):
        bayescm.confusion_matrix(y, ["a", "b", "c"], pos_label=("yes", "a"))
    frame = pd.DataFrame([[45, 10], [5, 90]], index=pd.Index(["yes", "no"], name="truth"), columns=["pos", "neg"])
    assert bayescm.from_array(frame).values.tolist() == [[90, 5], [10, 45]]
    turned = bayescm.from_array(frame[["neg", "pos"]].T, rows="test", pos_label=("no", "pos"))
    assert turned.actual.values.tolist() == ["yes", "no"]
    assert turned.values.tolist() == [[10, 45], [90, 5]]
    with pytest.raises(ValueError, match="in the same words"):
        bayescm.from_array(frame.rename(columns={"pos": "yes"}))
    partly = bayescm.confusion_matrix(["a", "b", "a"], ["a", "c", "c"])
    assert partly.sizes["actual"] == 3
    assert bayescm.confusion_matrix([0, 0], [1, 1]).values.tolist() == [[0, 2], [0, 0]]  # all wrong


@pytest.mark.parametrize(("truth", "passes"), [
    ([1, 1, 1, 1], [5, 0, 1, 3]), ([5, 5, 5, 5], [5, 0, 1, 3]), ([1, 0, 1, 0], [5, 0, 2, 3]),
])  # fmt: skip
def test_passes_are_no_labels(truth, passes):
    for call in (bayescm.predictions, bayescm.data.paired_counts):
        with pytest.raises(ValueError, match=r"how often an item was passed is no label"):
            call(truth, {"A": passes})
        assert call(truth, {"A": passes}, labels=range(6)).coords
        assert call([0, 1, 2, 3], {"A": [0, 1, 2, 4]}).coords  # another class is no pass
    own = xr.Dataset({"actual": ("item", truth), "predicted": (("system", "item"), [passes, truth])})
    with pytest.raises(ValueError, match=r"`predicted\[0\]` .* no label"):
        bayescm.leaderboard(own)


def test_answers_without_named_classes_are_checked_alike():
    words = xr.Dataset({"actual": ("item", ["yes", "no"]), "predicted": (("system", "item"), [["pos", "neg"]] * 2)})
    with pytest.raises(ValueError, match="none in common"):
        bayescm.compare_systems(words)
    other = xr.Dataset({"actual": ("item", ["a", "b"]), "predicted": (("system", "item"), [["a", "b"], ["b", "b"]])})
    with pytest.raises(ValueError, match="`pos_label` is needed"):
        bayescm.leaderboard(other)


@pytest.mark.parametrize("options", [{"n": np.zeros((2, 3))}, {"dims": np.zeros((2, 3))}, {"actual": [0, 1]}])
def test_columns_are_called_by_their_names(options):
    (name,) = options
    with pytest.raises(TypeError, match=f"`{name}` must be the name of a column; got"):
        bayescm.from_table({"actual": [0, 1], "predicted": [0, 1], "n": [3, 4]}, **options)


SPELLINGS = ("NA", "N/A", "n/a", "None", "null", "NULL", "NaN", "nan", "?", "<NA>", " NA ", "")


@pytest.mark.parametrize("word", SPELLINGS)
def test_missing_labels_as_text_are_no_class(word):
    y = ["yes", "no", word, "yes", word]
    good = ["yes", "no", "no", "yes", "no"]
    frame = pd.DataFrame({"actual": y, "predicted": good})
    square = pd.DataFrame([[4, 1], [2, 5]], index=pd.Index(["a", word], name="actual"), columns=["a", word])
    calls = [
        lambda: bayescm.confusion_matrix(y, good),
        lambda: bayescm.confusion_matrix(good, y),
        lambda: bayescm.confusion_matrix(np.array(y, object), good),
        lambda: bayescm.confusion_matrix(iter([(y, good)])),
        lambda: bayescm.summary(frame),
        lambda: bayescm.summary(pd.DataFrame({"actual": ["yes", "no", word], "predicted": "yes", "n": [5, 4, 2]})),
        lambda: bayescm.summary(pl.DataFrame({"actual": y, "predicted": good})),
        lambda: bayescm.from_table(pd.Series(y, dtype="string").to_frame("actual").assign(predicted=good), n=None),
        lambda: bayescm.predictions(y, {"A": good}),
        lambda: bayescm.data.paired_counts(good, {"A": y}),
        lambda: bayescm.curves.counts_at_thresholds(y, range(5)),
        lambda: bayescm.curves.counts_at_thresholds(iter([(y, range(5))]), thresholds=[2]),
        lambda: bayescm.auc(y, range(5)),
        lambda: bayescm.from_array(square),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"has \d items whose label is missing, written|empty name"):
            call()


def test_a_missing_label_as_text_says_how_many_and_where():
    with pytest.raises(ValueError, match="`y_pred` has 2 items whose label is missing, written 'NA', the first"):
        bayescm.confusion_matrix(["a", "b", "a"], ["a", "NA", "NA"])
    with pytest.raises(ValueError, match="`actual` has 7 items whose label is missing, written 'NA': drop"):
        bayescm.from_table(pd.DataFrame({"actual": ["a", "b", "NA"], "predicted": ["a", "b", "a"], "n": [3, 4, 7]}))
    with pytest.raises(ValueError, match="2 missing labels, the first at position 1: drop these items"):
        bayescm.confusion_matrix(pd.Series(["a", None, None]), ["a", "b", "b"])


def test_a_word_for_missing_is_a_class_where_it_is_named():
    labels = ["none", "mild", "severe"]
    counts = bayescm.confusion_matrix(["none", "mild", "severe"], ["none", "none", "severe"], labels=labels)
    assert counts.actual.values.tolist() == labels
    assert bayescm.from_array(np.eye(2, dtype=int), labels=["none", "any"]).actual.values.tolist() == ["none", "any"]
    frame = pd.DataFrame([[4, 1], [2, 5]], index=pd.Index(["any", "none"], name="actual"), columns=["any", "none"])
    assert bayescm.from_array(frame, labels=["none", "any"]).values.tolist() == [[5, 2], [1, 4]]
    with pytest.raises(ValueError, match="`labels` has an empty name"):
        bayescm.from_array(np.eye(2, dtype=int), labels=["", "any"])
    with pytest.raises(ValueError, match="written 'none'"):  # no other spelling of it
        bayescm.confusion_matrix(["None", "none"], ["None", "any"], labels=["None", "any"], pos_label="any")


@pytest.mark.parametrize("call", [
    lambda label: bayescm.confusion_matrix([label, "b"], ["b", "b"]),
    lambda label: bayescm.from_cells(tp=1, fn=2, fp=3, tn=4, labels=("a", label)),
    lambda label: bayescm.from_array([[1, 2], [3, 4]], labels=["a", label]),
    lambda label: bayescm.auc([label, "b"], [1, 2], pos_label="b"),
])  # fmt: skip
def test_half_a_character_is_no_label(call):
    with pytest.raises(ValueError, match=r"half a character \(a lone surrogate\)"):
        call("\ud800")


def test_frames_of_any_library_are_items_or_counts_and_go_into_every_question():
    arrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    items = {"actual": [0, 0, 1, 1, 1], "predicted": [0, 1, 1, 1, 0]}
    for frame in (pd.DataFrame, polars.DataFrame, polars.LazyFrame, arrow.table, arrow.RecordBatch.from_pydict):
        assert bayescm.from_table(frame(items)).values.tolist() == [[1, 1], [1, 2]]
        assert bayescm.read(frame(items)).data.values.tolist() == [[1, 1], [1, 2]]
        assert bayescm.summary(frame(items), "recall").point.item() == pytest.approx(2 / 3)
        counted = {"actual": [0, 1, 1], "predicted": [0, 0, 1], "n": [6, 2, 26]}
        assert bayescm.from_table(frame(counted)).values.tolist() == [[6, 0], [2, 26]]
        with pytest.raises(ValueError, match="no column 'times'"):
            bayescm.from_table(frame(items), n="times")
        assert bayescm.leaderboard(frame({"a": [1, 1, 0, 1], "b": [0, 1, 0, 1]})).point.values.tolist() == [0.75, 0.5]


@pytest.mark.parametrize(
    "text",
    [
        "system,item,actual,predicted\nA,1,1,1\nA,2,0,1\nB,1,1,0\nB,2,0,0", "model,correct,wrong\nA,40,10\nB,30,20",
        "system,tp,fn,fp,tn\nA,40,10,5,45\nB,35,15,9,42", "system,actual,predicted\nA,1,1\nA,0,1\nB,1,0\nB,0,0",
    ],
)  # fmt: skip
def test_systems_are_no_units(text):
    with pytest.raises(ValueError, match="`unit` is what was sampled"):
        bayescm.read(text, about="systems", unit=text.partition(",")[0])
