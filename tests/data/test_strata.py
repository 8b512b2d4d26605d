"""Audits: counts of checked items, and the totals of all."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayescm
from bayescm.data import strata

MATRIX = [[17, 1], [3, 19]]


def rows(n=(17, 1, 3, 19), unchecked=(80, 1880)):
    actual = np.repeat([0.0, 0.0, 1.0, 1.0, np.nan, np.nan], [*n, *unchecked])
    predicted = np.repeat([0, 1, 0, 1, 0, 1], [*n, *unchecked])
    return pd.DataFrame({"actual": actual, "predicted": predicted})


def test_a_table_with_empty_truths_is_counts_and_totals():
    by_hand = bayescm.audited(MATRIX, [100, 1900])
    xr.testing.assert_identical(bayescm.audited(rows()), by_hand)
    shuffled = rows().sample(frac=1.0, random_state=1)
    xr.testing.assert_identical(bayescm.audited(shuffled), by_hand)
    words = {0: "no", 1: "yes"}
    named = pd.DataFrame(
        {"human": rows()["actual"].map(words).fillna(""), "judge": rows()["predicted"].map(words), "site": "a"}
    )
    audit = bayescm.audited(named, actual="human", predicted="judge", stratum="site")
    assert audit.dims == ("site", "actual", "predicted")
    assert audit["actual"].values.tolist() == ["no", "yes"]
    assert audit.values[0].tolist() == MATRIX
    assert audit["totals"].values.tolist() == [[100, 1900]]


@pytest.mark.parametrize(
    "totals",
    [[100, 1900], {1: 1900, 0: 100}, pd.Series({0: 100, 1: 1900}), xr.DataArray([1900, 100], {"predicted": [1, 0]})],
)
def test_totals_come_in_any_form(totals):
    assert bayescm.audited(MATRIX, totals)["totals"].values.tolist() == [100, 1900]


def test_groups_are_predicted_classes_of_strata():
    counts = bayescm.from_array([[[5, 1], [2, 3]], [[1, 0], [4, 6]]], dims="site").assign_coords(site=["a", "b"])
    both = strata.read(bayescm.audited(counts, [[50, 60], [70, 80]]))
    assert both.names == ["a, 0", "a, 1", "b, 0", "b, 1"]
    assert both.totals.tolist() == [50, 60, 70, 80]
    assert both.checked.tolist() == [7, 4, 5, 6]
    assert both.counts[1].tolist() == [[0, 1], [0, 3]]
    assert both.counts.sum(0).tolist() == counts.sum("site").values.tolist()
    alone = strata.read(bayescm.audited(counts, {"b": 150, "a": 110}))
    assert (alone.names, alone.totals.tolist(), alone.by_verdict) == (["a", "b"], [110, 150], False)
    turned = bayescm.audited(counts, xr.DataArray([[50, 70], [60, 80]], dims=("predicted", "site")))
    assert strata.read(turned).totals.tolist() == both.totals.tolist()


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (MATRIX, {}, "`totals` is needed"),
        (MATRIX, {"totals": [10, 1900]}, "predicted 0 has 10 and 20 were checked"),
        (MATRIX, {"totals": [100, np.nan]}, "finite"),
        (MATRIX, {"totals": [100, -1]}, "at least 0"),
        (MATRIX, {"totals": [0, 0]}, "not all 0"),
        (MATRIX, {"totals": [0.05, 0.95]}, "say of='population'"),
        (MATRIX, {"totals": [0, 0.95], "of": "population"}, "20 were checked"),
        (MATRIX, {"totals": [100, 10**12]}, "say of='population'"),
        (MATRIX, {"totals": [1, 2, 3]}, "a number for each of"),
        (MATRIX, {"totals": 2000}, "a number for each of"),
        (MATRIX, {"totals": {"no": 100, "yes": 1900}}, "must name"),
        (MATRIX, {"totals": xr.DataArray([1, 2], dims="site")}, "'site'"),
        (MATRIX, {"totals": [100, 1900], "of": "system"}, "`of` must be one of"),
        (MATRIX, {"totals": [100, 1900], "stratum": "site"}, "are for a table"),
        ([[0, 0], [0, 0]], {"totals": [5, 5]}, "no checked item"),
        ([[1, -1], [0, 0]], {"totals": [5, 5]}, "negative"),
        (rows().assign(actual=np.nan), {}, "is empty in every row"),
        (rows().assign(predicted=np.nan), {}, "missing"),
        (rows().rename(columns={"actual": "truth"}), {}, "no column 'actual'"),
        (rows()[:0], {}, "no rows"),
    ],
)
def test_what_an_audit_must_have(data, options, message):
    with pytest.raises(ValueError, match=message):
        bayescm.audited(data, **options)


def test_words_for_totals_are_refused():
    with pytest.raises(TypeError, match="must be numbers"):
        bayescm.audited(MATRIX, ["100", "1900"])


def test_a_group_without_checked_items_is_said_to_be_the_prior():
    with pytest.warns(UserWarning, match="predicted 0 has 100 items and none was checked"):
        bayescm.audited([[0, 1], [0, 19]], [100, 1900])


def test_two_dims_of_strata_are_refused():
    counts = bayescm.from_array(np.ones((2, 3, 2, 2), int), dims=("system", "site"))
    with pytest.raises(ValueError, match="one dim of strata"):
        bayescm.audited(counts, np.full((2, 3), 100))


@pytest.mark.parametrize(
    "call",
    [
        lambda a: bayescm.interval(a, "recall"), lambda a: bayescm.region(a, method="wilks"),
        lambda a: bayescm.metrics.evaluate(a, "recall"),
        lambda a: bayescm.interval(a.sum("predicted").expand_dims(predicted=[0, 1]), "recall"),
    ],
)  # fmt: skip
def test_functions_for_items_that_were_all_checked_refuse_an_audit(call):
    with pytest.raises(ValueError, match="were checked"):
        call(bayescm.audited(MATRIX, [100, 1900]))


def test_the_checked_items_alone_are_there_for_the_asking():
    plain = bayescm.audited(MATRIX, [100, 1900]).drop_vars("totals").drop_attrs()
    assert float(bayescm.metrics.evaluate(plain, "recall")["recall"]) == pytest.approx(19 / 22)
    with pytest.raises(ValueError, match="must carry the totals"):
        bayescm.posterior(plain, model="stratified")


def test_an_audit_survives_a_file(tmp_path):
    audit = bayescm.audited(MATRIX, [100, 1900], of="items")
    audit.to_netcdf(tmp_path / "audit.nc", engine="h5netcdf")
    with xr.open_dataarray(tmp_path / "audit.nc", engine="h5netcdf") as loaded:
        assert strata.read(loaded.load())[3:] == strata.read(audit)[3:]
