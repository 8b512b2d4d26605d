"""Metrics come out as they went in, with the canonical name beside, and any name selects."""

import copy
import pickle

import numpy as np
import pytest
import xarray as xr

import bayescm
from bayescm.metrics import available
from bayescm.results.names import metric_names
from bayescm.results.objects import as_result

COUNTS = bayescm.from_cells(tp=26, fn=2, fp=3, tn=6)
ASKED = ["sensitivity", "PPV", " MCC ", "f1"]
FOUND = {
    "summary": lambda: bayescm.summary(COUNTS, ASKED),
    "interval": lambda: bayescm.interval(COUNTS, ASKED, "delta"),
    "at_prevalences": lambda: bayescm.planning.at_prevalences(COUNTS, ASKED, [0.1, 0.2]),
    "replicate": lambda: bayescm.planning.replicate(COUNTS, ASKED, n_items=10),
    "compare_systems": lambda: bayescm.compare_systems(
        {"a": COUNTS, "b": bayescm.from_cells(tp=20, fn=5, fp=1, tn=9)}, ASKED, draws=200, random_seed=1
    )["summary"].to_dataset(),
    "sample_size": lambda: bayescm.sample_size(ASKED[:2], width=0.3),
    "interval_width": lambda: bayescm.planning.interval_width(ASKED[:2], [20, 40]),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_every_result_knows_both_names(name):
    data = FOUND[name]()
    k = data.sizes["metric"]
    assert data.metric.values.tolist() == ["recall", "precision", "matthews_correlation", "f1"][:k]
    assert data.alias.values.tolist() == ["sensitivity", "PPV", "MCC", "f1"][:k]
    xr.testing.assert_identical(data.sel(metric="sensitivity"), data.sel(metric="recall"))
    assert metric_names(data)[:2] == ["sensitivity (recall)", "PPV (precision)"]


def test_what_is_shown_has_both_and_tables_have_columns():
    data = bayescm.summary(COUNTS, ["sensitivity", "f1"])
    assert data.bayescm.sentence.startswith("Sensitivity (recall) is 0.93 (")
    assert "sensitivity (recall)" in repr(data)
    table = data.bayescm.table()
    assert table.index.tolist() == ["recall", "f1"]
    assert table["alias"].tolist() == ["sensitivity", "f1"]
    board = bayescm.leaderboard(bayescm.datasets.kaggle2019().isel(system=slice(4)), metric="acc", design="independent")
    assert "in acc (accuracy) with" in board.bayescm.sentence


def test_canonical_names_stay_alone():
    assert "alias" not in bayescm.summary(COUNTS, ["recall", "Precision", "fbeta(beta=3)"]).coords
    own = bayescm.summary(COUNTS, {"sensitivity": "tpr"})
    assert own.metric.values.tolist() == ["sensitivity"]
    assert "alias" not in own.coords


def test_a_class_and_averages_by_any_name():
    data = bayescm.summary([[9, 1, 0], [2, 7, 1], [0, 3, 12]], ["sensitivity", "macro_f1"], draws=1000, random_seed=1)
    assert data.alias.values.tolist() == ["sensitivity[0]", "sensitivity[1]", "sensitivity[2]", "macro_f1"]
    assert data.sel(metric="tpr[1]").metric == "recall[1]"
    assert data.sel(metric="f1_score_macro").metric == "f1_macro"
    assert metric_names(data)[-1] == "macro_f1 (f1_macro)"


def test_every_alias_selects():
    data = bayescm.summary(COUNTS)
    for metric in available():
        for alias in metric.aliases if metric.name in data.metric else ():
            assert data.sel(metric=alias).metric == metric.name


@pytest.mark.parametrize(("name", "told"), [("sensi", "did you mean 'sensitivity'"), ("kappa", "it has recall")])
def test_what_is_not_there_is_said(name, told):
    with pytest.raises(KeyError) as caught:
        bayescm.summary(COUNTS, ["recall"]).sel(metric=name)
    assert told in str(caught.value.__cause__)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("balanced accuracy, recall", r"\['balanced accuracy', 'recall'\]"),
        ("accur", "did you mean 'accuracy' or 'accuracy_score' or 'acc'"),
    ],
)
def test_a_name_that_is_none_is_answered_by_those_that_are(name, told):
    with pytest.raises(ValueError, match=told):
        bayescm.summary(COUNTS, name)


def test_the_index_is_one_of_pandas_for_all_others():
    data = bayescm.summary(COUNTS, ["sensitivity", "mcc"]).drop_vars("alias")
    plain = data.assign_coords(metric=np.array(["recall", "matthews_correlation"]))
    xr.testing.assert_identical(data, plain)
    xr.testing.assert_identical(plain, data)
    assert (data[["mean"]] - plain[["mean"]]).sizes == {"metric": 2}
    other = plain[["mean"]].isel(metric=[0]).assign_coords(metric=["sensitivity"])  # a user's own, which is no recall
    assert xr.align(data, other, join="outer")[0]["mean"].isnull().sum() == 1
    for made in (
        pickle.loads(pickle.dumps(data)),
        copy.deepcopy(data),
        data.isel(metric=[1, 0]),
        xr.concat([data] * 2, "x"),
    ):
        assert made.sel(metric="mcc").metric == "matthews_correlation"
        assert made.metric.dtype == data.metric.dtype


def test_a_stored_result_loads_as_it_was(tmp_path):
    data = bayescm.summary(COUNTS, ASKED)
    data.to_netcdf(tmp_path / "s.nc", engine="h5netcdf")
    loaded = xr.load_dataset(tmp_path / "s.nc", engine="h5netcdf")
    xr.testing.assert_identical(as_result(loaded), data)
    assert repr(as_result(loaded)) == repr(data)
