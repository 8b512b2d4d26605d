"""Everything that becomes counts, and everything that must not."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

import bayescm


@pytest.mark.parametrize(
    ("labels", "positive"),
    [([0, 1], 1), ([False, True], True), (["neg", "pos"], "pos"), ([1, 2], 1), ([-1, 1], 1), ([3, 2], 3)],
)
def test_the_last_label_is_positive(labels, positive):
    y = [labels[0], labels[1], labels[1], labels[0]]
    p = [labels[0], labels[0], labels[1], labels[1]]
    counts = bayescm.confusion_matrix(y, p)
    assert counts.actual.values[-1] == positive
    assert counts.dtype == np.int64
    assert counts.dims == ("actual", "predicted")


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=40))
def test_equals_scikit_learn(pairs):
    y, p = zip(*pairs, strict=True)
    got = bayescm.confusion_matrix(y, p, labels=[0, 1, 2, 3])
    np.testing.assert_array_equal(got, sk.confusion_matrix(y, p, labels=[0, 1, 2, 3]))


def test_equals_scikit_learn_for_text_and_any_order():
    y, p = ["cat", "ant", "cat", "bird"], ["ant", "ant", "cat", "cat"]
    np.testing.assert_array_equal(bayescm.confusion_matrix(y, p), sk.confusion_matrix(y, p))
    order = ["cat", "bird", "ant"]
    got = bayescm.confusion_matrix(y, p, labels=order)
    np.testing.assert_array_equal(got, sk.confusion_matrix(y, p, labels=order))
    assert got.actual.values.tolist() == order


def test_several_labels_of_an_item_are_scikit_learns():
    truth, said = np.random.default_rng(1).integers(0, 2, (2, 40, 3))
    truth[:, 2] = 0
    want = sk.multilabel_confusion_matrix(truth, said)
    got = bayescm.confusion_matrix(truth, said)
    assert got.dims == ("class", "actual", "predicted")
    np.testing.assert_array_equal(got, want)
    frames = (pd.DataFrame(one.astype(bool), columns=["news", "sport", "arts"]) for one in (truth, said))
    f1 = bayescm.summary(bayescm.confusion_matrix(*frames), "f1").point
    assert f1["class"].values.tolist() == ["news", "sport", "arts"]
    np.testing.assert_allclose(f1.squeeze()[:2], sk.f1_score(truth, said, average=None)[:2])
    by_unit = bayescm.confusion_matrix(truth, said, unit=np.arange(40) % 8)
    np.testing.assert_array_equal(by_unit.sum("unit"), want)


def test_pos_label_and_labels():
    y, p = ["sick", "well", "sick"], ["sick", "sick", "well"]
    assert bayescm.confusion_matrix(y, p).actual.values.tolist() == ["well", "sick"]
    assert bayescm.confusion_matrix(y, p, pos_label="well").actual.values.tolist() == ["sick", "well"]
    assert bayescm.confusion_matrix(y, p, pos_label="sick").actual.values.tolist() == ["well", "sick"]
    # labels only orders and completes: it never decides which class is positive
    assert bayescm.confusion_matrix(y, p, labels=["sick", "well"]).actual.values.tolist() == ["well", "sick"]
    assert bayescm.confusion_matrix([1, 0], [1, 1], labels=[1, 0]).actual.values.tolist() == [0, 1]
    assert bayescm.confusion_matrix([0, 0], [0, 0], pos_label=1).values.tolist() == [[2, 0], [0, 0]]
    assert bayescm.confusion_matrix([1, 1], [1, 1], labels=[0, 1]).values.tolist() == [[0, 0], [0, 2]]


@pytest.mark.parametrize("make", [list, tuple, np.array, pd.Series, pl.Series, pd.Categorical, xr.DataArray])
def test_any_container(make):
    counts = bayescm.confusion_matrix(make(["a", "b", "b"]), make(["a", "a", "b"]), pos_label="b")
    assert counts.values.tolist() == [[1, 0], [1, 1]]


def test_kinds_that_mean_the_same():
    assert bayescm.confusion_matrix([True, False], [1, 0]).actual.values.tolist() == [0, 1]
    assert bayescm.confusion_matrix([1.0, 0.0], [1, 0]).actual.dtype == np.int64
    assert bayescm.confusion_matrix(np.array(["no", "yes"], object), ["no", "yes"]).actual.dtype.kind == "U"


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (([0, 1], [0]), ValueError, "`y_true` has 2 and `y_pred` has 1"),
        (([], []), ValueError, "empty"),
        (([[0, 1]], [[0, 1]]), ValueError, "one dimension"),
        (([[0, 2], [1, 1]], [[0, 1], [1, 0]]), ValueError, "one dimension"),
        (([0, 1], ["a", "b"]), ValueError, "one type"),
        ((["a", 1], ["a", "a"]), ValueError, "mixes text with int"),
        ((np.array(["a", 1], object), ["a", "a"]), ValueError, "mixes"),
        (([0, None], [0, 1]), ValueError, "missing label at position 1"),
        (([0, np.nan], [0, 1]), ValueError, "missing label at position 1"),
        ((pd.Series([0, pd.NA]), [0, 1]), ValueError, "missing label"),
        (([0.2, 0.7], [0, 1]), ValueError, "counts_at_thresholds"),
        (([0, np.inf], [0, 1]), ValueError, "fractions, not labels"),
        (([1, 1], [1, 1]), ValueError, "only the class 1"),
        (([b"a", b"b"], [b"a", b"b"]), TypeError, "integers, text or booleans"),
        ((np.array(["2020-01-01"], "M8[D]"), np.array(["2020-01-01"], "M8[D]")), TypeError, "integers, text"),
    ],
)
def test_bad_labels(arguments, error, words):
    with pytest.raises(error, match=words):
        bayescm.confusion_matrix(*arguments)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"labels": [0, 1, 1]}, "1 twice"),
        ({"labels": [0, 2]}, "doesn't name 1"),
        ({"pos_label": "x"}, "one type"),
        ({"pos_label": 7}, "`pos_label` must be one of"),
        ({"labels": [0, 1], "pos_label": 7}, "one of"),
        ({"labels": [0, 1, 2], "pos_label": 1}, "for two classes"),
    ],
)
def test_bad_options(options, words):
    with pytest.raises(ValueError, match=words):
        bayescm.confusion_matrix([0, 1, 1], [0, 1, 0], **options)


def test_from_cells():
    one = bayescm.from_cells(tp=4, fn=3, fp=2, tn=1)
    assert one.values.tolist() == [[1, 2], [3, 4]]
    many = bayescm.from_cells(tp=[4, 40], fn=3, fp=[2, 20], tn=np.array([1.0, 10.0]))
    assert many.dims == ("system", "actual", "predicted")
    assert many.sel(system=1).values.tolist() == [[10, 20], [3, 40]]
    grid = bayescm.from_cells(tp=np.ones((2, 3)), fn=1, fp=1, tn=1, dims=("system", "fold"))
    assert grid.dims == ("system", "fold", "actual", "predicted")
    labelled = xr.DataArray([1, 2], dims="fold", coords={"fold": ["a", "b"]})
    assert bayescm.from_cells(tp=labelled, fn=1, fp=0, tn=2).fold.values.tolist() == ["a", "b"]
    assert bayescm.from_cells(tp=1, fn=1, fp=1, tn=1, labels=["no", "yes"]).actual.values.tolist() == ["no", "yes"]


@pytest.mark.parametrize(
    ("cell", "error", "words"),
    [
        (-1, ValueError, "negative"),
        (1.5, ValueError, "Kish"),
        (np.nan, ValueError, "missing"),
        (np.inf, ValueError, "infinite"),
        (1e12, ValueError, "1,000,000,000"),
        (2**63, ValueError, "exceed"),
        ("4", TypeError, "numbers of items"),
        (True, TypeError, "numbers of items"),
        (None, ValueError, "missing"),
        ([], ValueError, "empty"),
        ([1, 2, 3], ValueError, "same dims, sizes"),
        (np.ones((2, 2)), ValueError, "dims"),
        (1 + 2j, TypeError, "numbers of items"),
    ],
)
def test_bad_cells(cell, error, words):
    with pytest.raises(error, match=words):
        bayescm.from_cells(tp=cell, fn=[1, 2], fp=0, tn=1)


def test_a_billion_is_fine():
    assert int(bayescm.from_cells(tp=10**9, fn=0, fp=0, tn=1).sel(actual=1, predicted=1)) == 10**9


def test_from_array():
    assert bayescm.from_array([[6, 2], [0, 26]]).sel(actual=1, predicted=1) == 26
    frame = pd.DataFrame([[1, 2], [3, 4]], index=pd.Index(["a", "b"], name="truth"), columns=["b", "a"])
    assert bayescm.from_array(frame, pos_label="b").values.tolist() == [[2, 1], [4, 3]]
    crossed = pd.crosstab(pd.Series(["n", "y", "y"], name="actual"), pd.Series(["n", "n", "y"]))
    assert bayescm.from_array(crossed).values.tolist() == [[1, 0], [1, 1]]
    order = ["b", "a"]
    assert bayescm.from_array(frame, labels=order).values.tolist() == [[3, 4], [1, 2]]
    named = bayescm.from_array([[1, 2], [3, 4]], labels=["a", "b"])
    assert bayescm.from_array(named, labels=order).values.tolist() == [[4, 3], [2, 1]]
    bare = xr.DataArray([[1, 2], [3, 4]], dims=("actual", "predicted"))
    assert bayescm.from_array(bare, labels=order).sel(actual="b", predicted="b") == 1
    for known in (frame, named):
        with pytest.raises(ValueError, match="only reorder"):
            bayescm.from_array(known, labels=["a", "c"])
    transposed = bayescm.from_array([[1, 2], [3, 4]]).T.rename("other")
    assert bayescm.from_array(transposed).values.tolist() == [[1, 2], [3, 4]]
    assert bayescm.from_array(np.ones((4, 3, 3)), dims="fold").dims == ("fold", "actual", "predicted")


@pytest.mark.parametrize(
    ("array", "options", "words"),
    [
        ([[1, 2, 3], [4, 5, 6]], {}, "shape"),
        ([[1]], {}, "at least 2"),
        ([1, 2], {}, "shape"),
        (np.ones((0, 2, 2)), {}, "empty"),
        (np.ones((2, 3, 2, 2)), {}, "`dims` must name"),
        ([[1, 2], [3, 4]], {"labels": ["a"]}, "name the 2 classes"),
        ([[1, 2], [3, 4]], {"labels": ["a", "a"]}, "twice"),
        ([[0.5, 0.1], [0.2, 0.2]], {}, "Kish"),
        (pd.DataFrame([[1, 2], [3, 4]], index=["a", "b"], columns=["a", "c"]), {}, "same labels"),
        (xr.DataArray([[1, 2], [3, 4]], dims=("actual", "predicted")), {"labels": ["a"]}, "name the 2 classes"),
        (xr.DataArray(np.ones((2, 2)), dims=("true", "pred")), {}, "dims 'actual' and 'predicted'"),
        (xr.DataArray(np.ones((2, 3)), dims=("actual", "predicted")), {}, "square"),
        (
            xr.DataArray(np.ones((2, 2)), dims=("actual", "predicted"), coords={"actual": [0, 1], "predicted": [1, 0]}),
            {},
            "same order",
        ),
    ],
)
def test_bad_arrays(array, options, words):
    with pytest.raises(ValueError, match=words):
        bayescm.from_array(array, **options)


LONG = {
    "system": ["a", "a", "a", "b", "b"],
    "actual": [0, 1, 1, 0, 1],
    "predicted": [0, 0, 1, 0, 1],
    "n": [5, 1, 4, 6, 3],
}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda d: pl.DataFrame(d).lazy()])
def test_from_table(make):
    counts = bayescm.from_table(make(LONG), dims="system")
    assert counts.dims == ("system", "actual", "predicted")
    assert counts.sel(system="a").values.tolist() == [[5, 0], [1, 4]]
    items = bayescm.from_table(make({"actual": [0, 1, 1], "predicted": [0, 1, 0]}), n=None)
    assert items.values.tolist() == [[1, 0], [1, 1]]


@pytest.mark.parametrize(
    ("change", "options", "error", "words"),
    [
        ({}, {}, ValueError, "2 times"),
        ({"n": [5, 1, 4, 6, 0.5]}, {"dims": "system"}, ValueError, "Kish"),
        ({}, {"dims": "fold"}, ValueError, "no column 'fold'"),
        ({"actual": [0, 1, 1, 0, None]}, {"dims": "system"}, ValueError, "missing label"),
    ],
)
def test_bad_tables(change, options, error, words):
    with pytest.raises(error, match=words):
        bayescm.from_table(pd.DataFrame(LONG | change), **options)


def test_batches_keep_their_order_and_their_values():
    frame = pd.DataFrame(
        {"t": [0.5, 0.1, 0.5, 0.1], "actual": [0, 0, 1, 1], "predicted": [0, 0, 1, 1], "n": [1, 2, 3, 4]}
    )
    counts = bayescm.from_table(frame, dims="t")
    assert counts.t.values.tolist() == [0.5, 0.1]
    assert counts.sel(t=0.1).values.tolist() == [[2, 0], [0, 4]]
    for by in ("actual", ["t", "t"]):
        with pytest.raises(ValueError, match=r"can't have|twice"):
            bayescm.from_table(frame, dims=by)
    with pytest.raises(TypeError, match="numbers of items"):
        bayescm.from_table(frame.astype({"n": str}), dims="t")


def test_labels_of_any_kind_can_be_reordered():
    truth = bayescm.confusion_matrix([True, False, True], [True, True, True])
    turned = bayescm.from_array(truth, pos_label=False)
    assert turned.values.tolist() == [[2, 0], [1, 0]]
    assert bayescm.from_array(turned, labels=[True, False]).values.tolist() == [[0, 1], [0, 2]]
    crossed = pd.crosstab(pd.Series([True, False, True], name="truth"), pd.Series([True, True, False]))
    assert bayescm.from_array(crossed).values.tolist() == [[0, 1], [1, 1]]


def test_labelled_cells_are_put_together_by_their_labels():
    tp, fn = pd.Series([1, 2], index=["x", "y"]), pd.Series([3, 4], index=["y", "x"])
    with pytest.raises(ValueError, match="same dims, sizes and coordinates"):
        bayescm.from_cells(tp=tp, fn=fn, fp=0, tn=0)
    counts = bayescm.from_cells(tp=tp, fn=fn[["x", "y"]], fp=0, tn=0)
    assert counts.sel(system="x").values.tolist() == [[0, 0], [4, 1]]
    with pytest.raises(ValueError, match="same dims, sizes and coordinates"):
        bayescm.from_cells(tp=xr.DataArray([1, 2], dims="fold"), fn=[1, 2], fp=0, tn=0)


def test_unsigned_labels():
    counts = bayescm.confusion_matrix(np.array([0, 1], np.uint64), np.array([0, 1]))
    assert counts.actual.dtype == np.int64


def test_tables_lose_nothing():
    frame = pd.DataFrame({"s": [0, 1], "f": [0, 1], "actual": [0, 1], "predicted": [0, 1], "n": [1, 1]})
    with pytest.raises(ValueError, match="no rows for"):
        bayescm.from_table(frame, dims=["s", "f"])
    with pytest.raises(ValueError, match="no rows"):
        bayescm.from_table(frame[:0])
    with pytest.raises(TypeError, match="data frame"):
        bayescm.from_table([1, 2])


FINITE = st.floats(-1e150, 1e150)
scores = st.one_of(FINITE, st.sampled_from([0.0, -0.0, 1.0, -np.inf, np.inf, 0.1 + 0.2, 0.3]))


@given(
    st.lists(st.tuples(st.integers(0, 1), scores), min_size=1, max_size=30), st.lists(scores, max_size=5, unique=True)
)
def test_thresholds_by_direct_counting(pairs, extra):
    y, s = (np.array(x) for x in zip(*pairs, strict=True))
    for cut in (None, extra or None):
        counts = bayescm.curves.counts_at_thresholds(y, s, thresholds=cut, labels=[0, 1])
        for t in counts.threshold.values:
            p = (s >= t).astype(int)
            np.testing.assert_array_equal(counts.sel(threshold=t), sk.confusion_matrix(y, p, labels=[0, 1]))


def test_near_ties_stay_apart_and_ties_together():
    near = np.nextafter(0.5, 1)
    counts = bayescm.curves.counts_at_thresholds([0, 1, 1], [0.5, near, near])
    assert counts.threshold.values.tolist() == [near, 0.5]
    assert counts.sel(threshold=near).values.tolist() == [[1, 0], [0, 2]]


def test_thresholds_like_scikit_learn():
    rng = np.random.default_rng(1)
    y, s = rng.integers(0, 2, 200), np.round(rng.normal(size=200), 1)
    tn, fp, fn, tp, cut = sk.confusion_matrix_at_thresholds(y, s)
    counts = bayescm.curves.counts_at_thresholds(y, s)
    np.testing.assert_array_equal(counts.threshold, cut)
    np.testing.assert_array_equal(counts, np.stack([np.stack([tn, fp], -1), np.stack([fn, tp], -1)], -2))


@pytest.mark.parametrize(
    ("y", "s", "options", "words"),
    [
        ([0, 1], [0.1, np.nan], {}, "missing value at position 1"),
        ([0, 1], [0.1], {}, "`y_score` has 1"),
        ([0, 1, 2], [0.1, 0.2, 0.3], {}, "two classes"),
        ([1, 1], [0.1, 0.2], {}, "only the class 1"),
        ([0, 1], [0.1, 0.2], {"thresholds": [0.1, 0.1]}, "twice"),
        ([0, 1], [0.1, 0.2], {"thresholds": []}, "empty"),
        ([0, 1], [2**53 + 1, 2**53], {}, "64-bit"),
    ],
)
def test_bad_scores(y, s, options, words):
    with pytest.raises(ValueError, match=words):
        bayescm.curves.counts_at_thresholds(y, s, **options)


def test_scores_must_be_real():
    with pytest.raises(TypeError, match="real numbers"):
        bayescm.curves.counts_at_thresholds([0, 1], ["low", "high"])


def test_one_class_missing_is_counted():
    counts = bayescm.curves.counts_at_thresholds([1, 1], [0.2, 0.9], labels=[0, 1])
    assert counts.isel(threshold=0).values.tolist() == [[0, 0], [1, 1]]


def test_published_curve(oracle):
    entry = oracle("mmu.dataset")["expected"]
    counts = bayescm.datasets.urlus2023()
    for threshold, (tn, fp, fn, tp) in entry.items():
        assert counts.sel(threshold=float(threshold)).values.tolist() == [[tn, fp], [fn, tp]]
    point = oracle("mmu.point")["expected"]
    got = bayescm.metrics.evaluate(counts.sel(threshold=0.5), ["precision", "recall", "fpr"])
    np.testing.assert_allclose([got.precision, got.recall, got.false_positive_rate],
                               [point["precision"], point["recall"], point["fpr"]], rtol=1e-12)  # fmt: skip
