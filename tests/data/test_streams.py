"""Items in chunks give the counts of all items at once."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

import bayescm

RNG = np.random.default_rng(12)
N = 5000
TRUE = RNG.choice(["ham", "spam"], N)
PRED = np.where(RNG.random(N) < 0.8, TRUE, RNG.choice(["ham", "spam"], N))
SCORE = np.round(RNG.normal(size=N) + (TRUE == "spam"), 2)
TILE = RNG.integers(0, 40, N)[::-1]
FRAME = pd.DataFrame({"actual": TRUE, "predicted": PRED, "score": SCORE, "tile": TILE, "day": RNG.integers(0, 3, N)})


def cut(*arrays, size=700):
    return (tuple(a[i : i + size] for a in arrays) for i in range(0, len(arrays[0]), size))


@pytest.mark.parametrize("size", [1, 700, N + 1])
def test_a_matrix_of_chunks_is_that_of_all_items(size):
    items = slice(0, 60 if size == 1 else N)
    wanted = bayescm.confusion_matrix(TRUE[items], PRED[items])
    assert bayescm.confusion_matrix(cut(TRUE[items], PRED[items], size=size)).identical(wanted)


def test_three_classes_that_come_one_after_another():
    true, pred = np.repeat([3, 1, 2], 50), np.tile([1, 2, 3], 50)
    wanted = bayescm.confusion_matrix(true, pred)
    assert bayescm.confusion_matrix(cut(true, pred, size=50)).identical(wanted)
    named = bayescm.confusion_matrix(cut(true, pred, size=50), labels=[2, 3, 1, 0])
    assert named.identical(bayescm.confusion_matrix(true, pred, labels=[2, 3, 1, 0]))


@pytest.mark.parametrize("direction", ["larger", "smaller"])
@pytest.mark.parametrize("thresholds", [None, [0.5, -0.25, 3.0, -np.inf, np.inf, 0.0]])
@pytest.mark.parametrize("size", [1, 450])
def test_counts_at_thresholds_of_chunks_are_those_of_all_items(direction, thresholds, size):
    how = {"direction": direction, "thresholds": thresholds}
    items = 60 if size == 1 else 1500
    true, score = TRUE[:items], SCORE[:items].copy()
    score[[3, 8, 11]] = np.inf, -np.inf, -0.0
    wanted = bayescm.curves.counts_at_thresholds(true, score, **how)
    assert bayescm.curves.counts_at_thresholds(cut(true, score, size=size), **how).identical(wanted)
    other = bayescm.curves.counts_at_thresholds(cut(true, score, size=size), pos_label="ham", **how)
    assert other.identical(bayescm.curves.counts_at_thresholds(true, score, pos_label="ham", **how))


def test_one_class_needs_both_names():
    with pytest.raises(ValueError, match="`labels` is needed"):
        bayescm.curves.counts_at_thresholds(iter([([1, 1], [0.2, 0.4])]), thresholds=[0.3])
    found = bayescm.curves.counts_at_thresholds(iter([([1, 1], [0.2, 0.4])]), thresholds=[0.3], labels=[0, 1])
    assert found.values.tolist() == [[[0, 0], [1, 1]]]


def batches(frame, size):
    """Return record batches of Arrow as a Parquet file gives them."""
    pa = pytest.importorskip("pyarrow")
    return iter(pa.Table.from_pandas(frame).to_batches(max_chunksize=size))


@pytest.mark.parametrize("by", [(), "tile", ["day", "tile"]])
@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_a_table_in_chunks_by_group(kind, by):
    wanted = bayescm.from_table(FRAME, n=None, dims=by)
    frames = (FRAME.iloc[i : i + 999] for i in range(0, N, 999))
    chunks = {"pandas": frames, "polars": map(pl.from_pandas, frames), "arrow": batches(FRAME, 999)}[kind]
    assert bayescm.from_table(chunks, n=None, dims=by).identical(wanted)


def test_a_parquet_file_is_read_in_batches(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    FRAME.to_parquet(tmp_path / "items.parquet")
    wanted = bayescm.from_table(FRAME, n=None, dims="tile")
    read = parquet.ParquetFile(tmp_path / "items.parquet")
    assert bayescm.from_table(read.iter_batches(600), n=None, dims="tile").identical(wanted)
    scores = ((batch["actual"], batch["score"]) for batch in read.iter_batches(600))
    at = bayescm.curves.counts_at_thresholds(scores, thresholds=[0.0, 0.5])
    assert at.identical(bayescm.curves.counts_at_thresholds(TRUE, SCORE, thresholds=[0.0, 0.5]))
    lazy = pl.scan_parquet(tmp_path / "items.parquet")
    assert bayescm.from_table(lazy, n=None, dims="tile").identical(wanted)


def test_counted_cells_in_chunks():
    long = FRAME.groupby(["tile", "actual", "predicted"], sort=False).size().reset_index(name="n")
    wanted = bayescm.from_table(long, dims="tile")
    assert bayescm.from_table(iter([long[:20], long[20:]]), dims="tile").identical(wanted)
    with pytest.raises(ValueError, match="2 times"):
        bayescm.from_table(iter([long, long[:1]]), dims="tile")


def test_memory_is_bounded_by_the_thresholds():
    import tracemalloc

    def chunks(n):
        rng = np.random.default_rng(1)
        for _ in range(n):
            yield rng.integers(0, 2, 20_000), rng.random(20_000)

    peaks = []
    for n in (5, 40):
        tracemalloc.start()
        assert bayescm.curves.counts_at_thresholds(chunks(n), thresholds=[0.2, 0.7])[0].sum() == 20_000 * n
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_distinct_rows_are_put_together_now_and_then(monkeypatch):
    from bayescm.data import streams

    monkeypatch.setattr(streams, "_WAITING", 10)
    wanted = bayescm.from_table(FRAME, n=None, dims="tile")
    frames = (FRAME.iloc[i : i + 99] for i in range(0, N, 99))
    assert bayescm.from_table(frames, n=None, dims="tile").identical(wanted)


@pytest.mark.parametrize(
    ("chunks", "words"),
    [
        ([], "no chunk"),
        ([([0, 1], [0, 1]), ([0, 1, 1], [0, 1])], "In chunk 1: `y_true` has 3"),
        ([([0, 1], [0, None])], "In chunk 0: `y_pred` has a missing"),
        ([([0, 1], [0.5, 1])], "In chunk 0: `y_pred` holds fractions"),
        ([([], [])], "In chunk 0: `y_true` is empty"),
        ([([0, 1], [0, 1]), (["a", "b"], [0, 1])], "mixes labels"),
        ([([0, 1], ["x", "y"])], "text"),
        ([[0, 1, 1]], "must be a pair"),
        ([{"y_true": [0], "y_pred": [1]}], "must be a pair"),
        ([7], "must be a pair"),
        ([FRAME], "must be a pair"),
    ],
)
def test_bad_chunks_are_named(chunks, words):
    with pytest.raises((ValueError, TypeError), match=words):
        bayescm.confusion_matrix(iter(chunks))


def test_other_bad_streams():
    with pytest.raises(ValueError, match="two classes"):
        bayescm.curves.counts_at_thresholds(iter([([0, 1, 2], [0.1, 0.2, 0.3])]), thresholds=[0.5])
    with pytest.raises(ValueError, match="twice"):
        bayescm.curves.counts_at_thresholds(iter([([0, 1], [0.1, 0.2])]), thresholds=[0.5, 0.5])
    with pytest.raises(ValueError, match="In chunk 0: `y_score` has a missing"):
        bayescm.curves.counts_at_thresholds(iter([([0, 1], [0.1, np.nan])]), thresholds=[0.5])
    with pytest.raises(TypeError, match="`y_score` is missing"):
        bayescm.curves.counts_at_thresholds([0, 1])
    with pytest.raises(TypeError, match="`y_pred` is missing"):
        bayescm.confusion_matrix([0, 1])
    with pytest.raises(ValueError, match="dims="):
        bayescm.confusion_matrix(iter([([0, 1], [0, 1])]), group=[1, 2])
    with pytest.raises(ValueError, match="In chunk 1: `table` has no column"):
        bayescm.from_table(iter([FRAME, FRAME.drop(columns="actual")]), n=None)
    with pytest.raises(TypeError, match="In chunk 0: `table` must be a data frame"):
        bayescm.from_table(iter(["a,b"]), n=None)
    with pytest.raises(ValueError, match=r"In chunk 0: `tile` has 5,000 missing"):
        bayescm.from_table(iter([FRAME.assign(tile=np.nan)]), n=None, dims="tile")


def test_partial_counts_add_up_after_alignment():
    parts = [bayescm.from_table(FRAME[i::3], n=None, dims="tile", labels=["ham", "spam"]) for i in range(3)]
    parts[0] = parts[0].isel(tile=slice(5, None))
    rest = FRAME[0::3][~FRAME[0::3].tile.isin(parts[0].tile.values)]
    parts.append(bayescm.from_table(rest, n=None, dims="tile"))
    aligned = xr.align(*parts, join="outer", fill_value=0, exclude={"actual", "predicted"})
    with xr.set_options(arithmetic_join="exact"):
        total = sum(aligned[1:], aligned[0])
    assert total.dtype == np.int64
    wanted = bayescm.from_table(FRAME, n=None, dims="tile").sortby("tile")
    xr.testing.assert_equal(total, wanted)
    other = parts[1].assign_coords(actual=["no", "yes"], predicted=["no", "yes"])
    with xr.set_options(arithmetic_join="exact"), pytest.raises(ValueError, match="align"):
        parts[1] + other


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"over": "threshold", "points": 7, "metrics": ["f1", "mcc"]},
        {"over": "threshold", "points": [0.3, 0.51, np.inf]},
        {"prior": "smoothed", "prevalence": 0.1},
        {"prior": "bootstrap", "fpr_range": (0, 0.2)},
        {"direction": "smaller", "over": "threshold", "at_specificity": 0.9},
    ],
)
def test_curves_of_a_stream_are_those_of_its_items(options):
    rng = np.random.default_rng(5)
    y = rng.choice(["no", "yes"], 800, p=[0.7, 0.3])
    score = (rng.random(800) + 0.4 * (y == "yes")).round(2)
    known = {"draws": 50, "random_seed": 4, **options}
    wanted = bayescm.curve_posterior(y, score, **known)
    found = bayescm.curve_posterior(((y[i : i + 90], score[i : i + 90]) for i in range(0, 800, 90)), **known)
    xr.testing.assert_identical(found["posterior"].to_dataset(), wanted["posterior"].to_dataset())
    items = found["observed_data"]
    assert int(items["n"].sum()) == 800
    assert items.sizes["item"] == len(set(zip(y, score, strict=True)))
    if options.get("over") != "threshold":
        for kind in ("simultaneous", "pointwise"):
            bands = [bayescm.curve_band(one, method=kind) for one in (found, wanted)]
            xr.testing.assert_identical(*bands)


def test_what_a_stream_of_scores_doesnt_know():
    with pytest.raises(ValueError, match="`by` isn't known"):
        bayescm.curve_posterior(iter([([0, 1], [0.1, 0.2])]), by=[0, 1])
    with pytest.raises(TypeError, match="`y_score` is missing"):
        bayescm.curve_posterior([0, 1])
    with pytest.raises(ValueError, match="In chunk 1: `y_score`"):
        bayescm.curve_posterior(iter([([0, 1], [0.1, 0.2]), ([0], [np.nan])]))
    with pytest.raises(ValueError, match="two classes"):
        bayescm.curve_posterior(iter([([0, 1, 2], [0.1, 0.2, 0.3])]))
