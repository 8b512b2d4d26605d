"""A result that was changed says nothing that its numbers no longer are."""

import numpy as np
import pytest
import xarray as xr
from xarray.core import formatting

import bayescm
from bayescm.results import stamps
from bayescm.results.objects import as_result

SEVERAL = bayescm.from_cells(tp=[26, 20, 24], fn=[2, 8, 4], fp=[3, 1, 0], tn=[6, 8, 9], dims="system")
SEVERAL = SEVERAL.assign_coords(system=["x", "y", "z"])
MADE = bayescm.summary(SEVERAL, ["recall", "f1"])


def numbers(data, change):
    """Change the numbers of a result, and leave its words."""
    return data.map(lambda v: change(v) if v.dtype.kind == "f" else v, keep_attrs=True)


CHANGES = {
    "max": lambda data: data.max("system", keep_attrs=True),
    "mean": lambda data: numbers(data, lambda v: 0 * v + v.mean("system")),
    "a constant": lambda data: data.assign(interval=data["interval"] * 0 + 7),
    "rounded": lambda data: numbers(data, lambda v: v.round(2)),
    "other words": lambda data: data.assign(method=data["method"].copy(data=np.full(data["method"].shape, "exactly"))),
    "other metrics": lambda data: data.assign_coords(metric=["precision", "f1"]),
    "moved": lambda data: data.assign(point=data["point"] + 1e-12),
    "rows of others": lambda data: data.assign(point=data["point"].roll(system=1)),
    "single": lambda data: data.assign(mean=data["mean"].astype(np.float32)),
}


def is_plain(data):
    return repr(data) == formatting.dataset_repr(data)


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_is_shown_as_xarray_shows_it(change):
    other = CHANGES[change](MADE)
    assert other.attrs == MADE.attrs
    assert is_plain(other)
    assert "Assumes" not in other._repr_html_()
    with pytest.raises(ValueError, match=r"these were changed|whole and in memory"):
        _ = other.bayescm.sentence


@pytest.mark.parametrize(
    "select",
    [
        lambda data: data.sel(metric="f1"), lambda data: data.isel(system=0), lambda data: data.isel(system=[2, 0]),
        lambda data: data.sel(system="y", metric="f1"), lambda data: data.sortby("system", ascending=False),
        lambda data: data.transpose(), lambda data: data.load(), lambda data: data.bayescm["f1"],
    ],
)  # fmt: skip
def test_selections_still_speak(select):
    before = dict(MADE.attrs)
    part = select(MADE)
    assert MADE.attrs == before
    assert repr(part).startswith(part.bayescm.sentence[:20])
    assert not is_plain(part)


def test_a_board_and_a_comparison_too():
    board = bayescm.leaderboard(SEVERAL, design="independent")
    assert not is_plain(board)
    assert not is_plain(board.sortby("expected_rank"))
    assert is_plain(board.assign(point=board["point"] + 0.1))
    tree = bayescm.compare_systems(SEVERAL, "f1", design="independent", draws=200, random_seed=1)
    assert "Assumes" in repr(tree)
    tree["summary"]["probability_better"] = tree["summary"]["probability_better"] * 0 + 0.5
    assert "Assumes" not in repr(tree)


def test_stores_keep_the_stamp(tmp_path):
    MADE.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    MADE.to_zarr(tmp_path / "a.zarr", zarr_format=2)
    with xr.open_dataset(tmp_path / "a.nc", engine="h5netcdf") as file:
        back = [file.load()]
    back.append(xr.open_zarr(tmp_path / "a.zarr").load())
    for one in back:
        assert repr(one.bayescm) == repr(MADE.bayescm)
        assert is_plain(one)
        assert not is_plain(as_result(one.copy()))
        with pytest.raises(ValueError, match="these were changed"):
            _ = numbers(one, lambda v: v.round(1)).bayescm.sentence


def test_many_rows_have_one_stamp(monkeypatch):
    board = bayescm.leaderboard(SEVERAL, design="independent")
    monkeypatch.setattr(stamps, "_MOST_ROWS", 2)
    again = stamps.stamp(board.copy())
    assert again.attrs["stamp"][8:] == "/3"
    assert not is_plain(again)
    assert again.isel(system=[0, 1]).bayescm.table().shape[0] == 2  # a part has no digest of its own
    assert is_plain(again.assign(point=board["point"] + 0.1))


def test_lazy_results_are_not_computed():
    import dask

    def refuse(*args, **options):
        raise AssertionError("computed")

    with dask.config.set(scheduler=refuse):
        lazy = bayescm.summary(SEVERAL.chunk(system=1), "f1")
        assert "stamp" not in lazy.attrs
        assert is_plain(lazy)
    found = lazy.compute()
    assert is_plain(found)  # nothing shows whether these are its numbers: it must be asked
    assert found.bayescm.sentence == bayescm.summary(SEVERAL, "f1").bayescm.sentence
