"""The example tables are the published ones."""

import bayescm


def test_toetsch():
    counts = bayescm.datasets.toetsch2021()
    assert counts.sizes == {"system": 24, "actual": 2, "predicted": 2}
    totals = counts.sum(("actual", "predicted"))
    assert totals.sel(system="14b") == 350
    assert totals.sel(system="1") == 8
    assert int(totals.sum()) == 1860
    assert "PeerJ" in counts.attrs["source"]


def test_caelen():
    counts = bayescm.datasets.caelen2017()
    assert (counts.sum(("actual", "predicted")) == 145).all()


def test_urlus():
    assert (bayescm.datasets.urlus2023().sum(("actual", "predicted")) == 500).all()
