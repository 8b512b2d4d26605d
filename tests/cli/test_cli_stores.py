"""``--input`` and ``--output``: many matrices in chunks; what was killed goes on, and a store is never half right."""

import json
import os
import re
import resource
import subprocess
import sys
import threading
import time

import dask
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayescm
from bayescm.cli import main, resumable

RNG = np.random.default_rng(11)
TILES = bayescm.from_array(RNG.integers(0, 40, (50, 2, 2)), dims="tile").assign_coords(
    tile=[f"t{i}" for i in range(50)]
)
GRID = bayescm.from_array(RNG.integers(0, 9, (4, 6, 3, 3)), dims=("day", "place"))
FOUR = ["--metrics", "recall,f1,mcc", "--chunk", "5", "--seed", "3"]


def to_zarr(counts, path, **chunks):
    counts.rename("counts").chunk(chunks).to_zarr(path, zarr_format=3, consolidated=False)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    to_zarr(TILES, "tiles.zarr", tile=20)
    with dask.config.set(num_workers=2):
        yield tmp_path


def run(capsys, *arguments, store="tiles.zarr", output="out.zarr"):
    code = main(["summary", "--input", store, "--output", output, *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def content(path):
    """Return the bytes of all files of a store, and of its manifest."""
    files = [*path.rglob("*"), path.with_name(f"{path.name}.manifest.json")]
    return {str(file.relative_to(path.parent))[len(path.name) :]: file.read_bytes() for file in files if file.is_file()}


def opened(path):
    with xr.open_zarr(path, consolidated=False) as data:
        return data.load()


def assert_same(first, second):
    """Assert that two stores have the same files and numbers, which other processes computed.

    The last bits may differ: where several processes compile the kernels at once, one may run code with calls inlined,
    and others code without.
    """
    assert content(first).keys() == content(second).keys()
    xr.testing.assert_allclose(opened(first), opened(second), rtol=1e-12)


def assert_holds(path, wanted):
    """Assert that a store holds a result; words come back with another type."""
    found = opened(path)
    assert found.attrs == {name: value for name, value in wanted.attrs.items() if name != "stamp"}  # of what isn't lazy
    assert set(found.variables) == set(wanted.variables)
    for name, one in wanted.variables.items():
        assert found[name].dims == one.dims
        assert found[name].attrs == one.attrs
        same = np.testing.assert_array_equal if one.dtype.kind != "f" else np.testing.assert_allclose
        same(found[name].values, one.values, **({"rtol": 1e-12} if one.dtype.kind == "f" else {}))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", ["5", "7", "1000"])
def test_a_zarr_store_holds_what_summary_returns(capsys, folder, chunk):
    code, out, err = run(capsys, "--metrics", "recall,f1,mcc", "--chunk", chunk, "--seed", "3")
    assert (code, err) == (0, "")
    assert out == f"out.zarr: 50 matrices in {-(-50 // int(chunk))} chunks.\n"
    assert_holds(folder / "out.zarr", bayescm.summary(TILES, ["recall", "f1", "mcc"], random_seed=3))


@pytest.mark.slow
@pytest.mark.parametrize(("chunk", "cuts"), [(4, 8), (13, 2)])
def test_several_batch_dims_and_draws_are_the_same_in_any_chunks(capsys, folder, chunk, cuts):
    to_zarr(GRID, "grid.zarr", day=3)
    settings = "--metrics", "f1_macro,f1", "--prior", "perks", "--seed", "5", "--chunk", str(chunk)
    code, out, err = run(capsys, *settings, store="grid.zarr")
    assert (code, err) == (0, "")
    assert out == f"out.zarr: 24 matrices in {cuts} chunk{'s' * (cuts > 0)}.\n"
    assert_holds(folder / "out.zarr", bayescm.summary(GRID, ["f1_macro", "f1"], prior="perks", random_seed=5))


def test_four_cells_of_a_store_are_a_matrix(capsys, folder):
    names = {"tn": (0, 0), "fp": (0, 1), "fn": (1, 0), "tp": (1, 1)}
    cells = {name: TILES[:, i, j].drop_vars(["actual", "predicted"]) for name, (i, j) in names.items()}
    xr.Dataset(cells).to_zarr("cells.zarr", zarr_format=3, consolidated=False)
    assert run(capsys, *FOUR, store="cells.zarr")[0] == 0
    assert_holds(folder / "out.zarr", bayescm.summary(TILES, ["recall", "f1", "mcc"], random_seed=3))


KILLED = """
import os, signal, sys
import zarr.storage
from bayescm.cli import main
before, left = zarr.storage.LocalStore.set, [{writes}]
async def write(self, key, value):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    await before(self, key, value)
zarr.storage.LocalStore.set = write
main(sys.argv[1:])
"""


@pytest.mark.slow
@pytest.mark.parametrize("writes", [3, 150])
def test_a_killed_run_goes_on_and_gives_the_same_bytes(capsys, folder, writes):
    arguments = ["summary", "--input", "tiles.zarr", "--output", "out.zarr", *FOUR[:2], "--chunk", "2", "--seed", "3"]
    code = KILLED.format(writes=writes)
    environment = os.environ | {"DASK_NUM_WORKERS": "2"}
    assert subprocess.run([sys.executable, "-c", code, *arguments], env=environment, check=False).returncode == -9
    done = json.loads((folder / "out.zarr.manifest.json").read_text())["done"]
    assert (done == 0) if writes == 3 else (0 < done < 25)
    if done:  # as if it had been killed while it wrote this, which happens now and then
        (folder / "out.zarr" / "sd" / "c" / "0" / "0.0123456789abcdef.partial").write_bytes(b"half")
    assert main(arguments) == 0
    earlier = f", {done} of them by an earlier run" if done else ""
    assert capsys.readouterr().out == f"out.zarr: 50 matrices in 25 chunks{earlier}.\n"
    assert main([word.replace("out.zarr", "whole.zarr") for word in arguments]) == 0
    assert_same(folder / "out.zarr", folder / "whole.zarr")


SLOW = """
import sys, time
from pathlib import Path
from bayescm.cli import main, resumable
write = resumable._Zarr.__call__
def slowly(*arguments):
    write(*arguments)
    Path("begun").touch()
    while not Path("go").exists():
        time.sleep(0.01)
resumable._Zarr.__call__ = slowly
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def first(folder):
    """Begin a run in a process of its own, which waits after its first chunks for a file `go`."""
    arguments = ["summary", "--input", "tiles.zarr", "--output", "out.zarr", *FOUR[:2], "--chunk", "2", "--seed", "3"]
    environment = os.environ | {"DASK_NUM_WORKERS": "2"}
    with subprocess.Popen([sys.executable, "-c", SLOW, *arguments], env=environment, stderr=subprocess.PIPE) as process:
        while not (folder / "begun").exists():
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
        yield process, arguments
        process.kill()


@pytest.mark.slow
def test_a_second_writer_is_refused_and_the_first_goes_on(capsys, folder, first):
    process, arguments = first
    second = subprocess.run([sys.executable, "-m", "bayescm", *arguments], capture_output=True, text=True, check=False)
    assert (second.returncode, second.stdout) == (2, "")
    assert f"out.zarr is being written by another process ({process.pid} on " in second.stderr
    assert "out.zarr.lock" in second.stderr
    (folder / "go").touch()
    assert process.wait() == 0
    assert_holds(folder / "out.zarr", bayescm.summary(TILES, ["recall", "f1", "mcc"], random_seed=3))
    assert not (folder / "out.zarr.lock").exists()


@pytest.mark.slow
def test_the_lock_of_a_killed_writer_is_no_lock(capsys, folder, first):
    process, arguments = first
    process.kill()
    process.wait()
    assert (folder / "out.zarr.lock").exists()
    assert main(arguments) == 0
    assert_holds(folder / "out.zarr", bayescm.summary(TILES, ["recall", "f1", "mcc"], random_seed=3))
    assert not (folder / "out.zarr.lock").exists()


def test_the_lock_of_another_machine_is_named(capsys, folder):
    (folder / "out.zarr.lock").write_text("123\nelsewhere\n")
    code, _, err = run(capsys, *FOUR)
    assert code == 2
    assert "is being written by another process (123 on elsewhere)" in err
    assert "remove out.zarr.lock" in err
    assert not (folder / "out.zarr").exists()


@pytest.mark.slow
def test_done_is_not_said_of_what_is_gone(capsys, folder, first):
    process, arguments = first
    for chunk in (folder / "out.zarr" / "mean" / "c").rglob("*"):
        if chunk.is_file():
            chunk.unlink()
    (folder / "go").touch()
    assert process.wait() == 2
    assert b"out.zarr stopped in the matrices tile 0 to 1 (counted from 0): what was written there is gone" in (
        process.stderr.read()
    )
    assert json.loads((folder / "out.zarr.manifest.json").read_text())["done"] == 0
    assert main(arguments) == 0
    assert_holds(folder / "out.zarr", bayescm.summary(TILES, ["recall", "f1", "mcc"], random_seed=3))


@pytest.mark.slow
@pytest.mark.parametrize(("output", "chunk"), [("out.zarr", "mean/c/6/0"), ("out.parquet", "part-000006.parquet")])
def test_a_chunk_that_is_gone_is_computed_anew(capsys, folder, output, chunk):
    assert run(capsys, *FOUR, output=output)[0] == 0
    stood = content(folder / output)
    (folder / output / chunk).unlink()
    code, out, _ = run(capsys, *FOUR, output=output)
    assert code == 0
    assert not out.endswith("10 of them by an earlier run.\n")
    assert content(folder / output) == stood


def test_chunks_of_nothing_but_zeros_are_stored(capsys, folder):
    to_zarr(TILES.where(TILES.tile == "t0", 0), "zeros.zarr", tile=20)
    for _ in range(2):
        assert run(capsys, *FOUR, store="zeros.zarr")[0] == 0
    assert capsys.readouterr().err == ""


def test_a_second_start_computes_nothing(capsys, folder, monkeypatch):
    assert run(capsys, *FOUR)[0] == 0
    stood = content(folder / "out.zarr")
    monkeypatch.setattr(resumable._Zarr, "__call__", None)
    code, out, _ = run(capsys, *FOUR[:-2])  # the seed is that of the first
    assert (code, out) == (0, "out.zarr: 50 matrices in 10 chunks, 10 of them by an earlier run.\n")
    assert content(folder / "out.zarr") == stood


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (["--prior", "laplace"], "another settings"),
        (["--seed", "4"], "another seed: 3, now 4"),
        (["--chunk", "6"], 'another chunk: {"tile": 5}, now {"tile": 6}'),
        ([], "another input"),
    ],
)
def test_another_question_is_no_second_start(capsys, folder, change, words):
    assert run(capsys, *FOUR)[0] == 0
    stood = content(folder / "out.zarr")
    if not change:
        os.utime(folder / "tiles.zarr" / "counts" / "c" / "0" / "0" / "0", ns=(0, 2**62))
    code, _, err = run(capsys, *FOUR, *change)
    assert code == 2
    assert words in err
    assert content(folder / "out.zarr") == stood


@pytest.mark.slow
def test_a_corrupt_chunk_is_said_and_what_is_done_stays(capsys, folder):
    chunk = folder / "tiles.zarr" / "counts" / "c" / "2" / "0" / "0"  # matrices 40 to 49
    good, times = chunk.read_bytes(), chunk.stat()
    chunk.write_bytes(good[: len(good) // 2] + bytes(len(good) - len(good) // 2))
    os.utime(chunk, ns=(times.st_atime_ns, times.st_mtime_ns))
    code, _, err = run(capsys, *FOUR)
    assert code == 2
    assert err.startswith("bayescm: error: out.zarr stopped in the matrices tile 40 to 49 (counted from 0): ")
    assert err.endswith("8 of 10 chunks are done and stay; the same command goes on from there.\n")
    expected = bayescm.summary(TILES, ["recall", "f1", "mcc"]).interval[:40]
    np.testing.assert_allclose(opened("out.zarr").interval[:40], expected, rtol=1e-12)
    assert np.isnan(opened("out.zarr").interval[40:]).all()
    chunk.write_bytes(good)
    os.utime(chunk, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert run(capsys, *FOUR)[0] == 0
    assert run(capsys, *FOUR, output="whole.zarr")[0] == 0
    assert content(folder / "out.zarr") == content(folder / "whole.zarr")


def test_a_flipped_bit_of_a_result_is_noticed_when_it_is_read(capsys, folder):
    assert run(capsys, *FOUR)[0] == 0
    chunk = folder / "out.zarr" / "mean" / "c" / "3" / "0"
    spoiled = bytearray(chunk.read_bytes())
    spoiled[len(spoiled) // 2] ^= 1
    chunk.write_bytes(spoiled)
    with pytest.raises(RuntimeError):
        opened("out.zarr")


@pytest.mark.slow
@pytest.mark.parametrize("output", ["out.zarr", "out.parquet"])
def test_a_full_disk_is_said_and_what_is_done_stays(capsys, folder, output):
    counts = xr.concat([TILES] * 80, "tile").drop_vars("tile")
    counts[3200:] = RNG.integers(0, 10**6, (800, 2, 2))  # so that the last two of ten chunks are larger
    to_zarr(counts, "many.zarr", tile=2000)
    settings = ["--metrics", "recall", "--seed", "3", "--chunk", "400"]
    whole = f"whole{output[3:]}"
    assert run(capsys, *settings, store="many.zarr", output=whole)[0] == 0
    first = re.compile(r"/(mean/c/|part-00000)[0-7]")
    most = max(len(one) for name, one in content(folder / whole).items() if first.match(name))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (max(most, 1500), hard))
    try:
        code, _, err = run(capsys, *settings, store="many.zarr", output=output)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert code == 2
    assert "File too large" in err
    assert err.endswith("8 of 10 chunks are done and stay; the same command goes on from there.\n")
    assert run(capsys, *settings, store="many.zarr", output=output)[0] == 0
    assert content(folder / output) == content(folder / whole)


def test_chunks_that_were_never_written_are_said(capsys, folder):
    (folder / "tiles.zarr" / "counts" / "c" / "1" / "0" / "0").unlink()
    code, _, err = run(capsys, *FOUR)
    assert code == 0
    assert err.startswith("bayescm: warning: tiles.zarr: 1 of 3 chunks of 'counts' aren't stored and read as 0")


def test_a_negative_cell_names_its_matrices(capsys, folder):
    to_zarr(TILES.where(TILES.tile != "t33", -1), "bad.zarr", tile=20)
    code, _, err = run(capsys, "--metrics", "recall", "--chunk", "4", store="bad.zarr")
    assert code == 2
    assert "tile 32 to 49 (counted from 0): `counts`" in err


@pytest.mark.slow
def test_parquet_in_and_out(capsys, folder):
    values = TILES.values
    frame = pd.DataFrame(
        {"tp": values[:, 1, 1], "name": TILES.tile, "fn": values[:, 1, 0], "FP": values[:, 0, 1], "tn": values[:, 0, 0]}
    )
    (folder / "in.parquet").mkdir()
    frame[:30].to_parquet(folder / "in.parquet" / "a.parquet", row_group_size=7)
    frame[30:].to_parquet(folder / "in.parquet" / "b.parquet", row_group_size=9)
    code, out, err = run(capsys, *FOUR, store="in.parquet", output="out.parquet")
    assert (code, out, err) == (0, "out.parquet: 50 matrices in 10 chunks.\n", "")
    found = pd.read_parquet(folder / "out.parquet")
    wanted = bayescm.summary(TILES, ["recall", "f1", "mcc"], random_seed=3)
    assert found["system"].tolist() == np.repeat(TILES.tile.values, 3).tolist()
    assert found["metric"].tolist() == ["recall", "f1", "matthews_correlation"] * 50
    for name in ("point", "mean", "median", "sd", "width", "error"):
        np.testing.assert_allclose(found[name], wanted[name].values.ravel(), rtol=1e-12)
    for bound in ("lower", "upper"):
        np.testing.assert_allclose(found[bound], wanted.interval.sel(ci_bound=bound).values.ravel(), rtol=1e-12)
    assert found["ci_kind"].tolist() == wanted.ci_kind.values.ravel().tolist()
    assert run(capsys, *FOUR, store="in.parquet")[0] == 0
    assert_holds(folder / "out.zarr", wanted.rename(tile="system"))


def test_parquet_and_csv_of_items(capsys, folder):
    y, p = RNG.integers(0, 2, (2, 300))
    frame = pd.DataFrame({"actual": y, "predicted": p, "tile": np.arange(300) % 7})
    frame.to_parquet("items.parquet", row_group_size=40)
    frame.to_csv("items.csv", index=False)
    wanted = bayescm.summary(bayescm.from_table(frame, n=None, dims="tile"), "recall", random_seed=1)
    for name in ("items.parquet", "items.csv"):
        output = f"{name[6:]}.zarr"
        settings = "--by", "tile", "--metrics", "recall", "--seed", "1", "--chunk", "3"
        assert run(capsys, *settings, store=name, output=output)[0] == 0
        assert_holds(folder / output, wanted)


def test_rows_of_two_dims_are_numbered_in_parquet(capsys, folder):
    to_zarr(GRID, "grid.zarr")
    assert run(capsys, "--metrics", "accuracy", "--chunk", "4", store="grid.zarr", output="out.parquet")[0] == 0
    found = pd.read_parquet(folder / "out.parquet")
    np.testing.assert_array_equal(np.sort(found["day"] * 6 + found["place"]), np.arange(24))
    points = bayescm.metrics.evaluate(GRID, "accuracy")["accuracy"].values[found["day"], found["place"]]
    np.testing.assert_allclose(found["point"], points)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--input", "tiles.zarr"], "--input and --output go together"),
        (["--output", "out.zarr"], "--input and --output go together"),
        (["a.csv", "--input", "tiles.zarr", "--output", "out.zarr"], "without another file"),
        (["--input", "tiles.zarr", "--output", "out.nc"], "must end with .zarr or .parquet"),
        (["--input", "tiles.zarr", "--output", "no/out.zarr"], "there is no folder no"),
        (["--input", "tiles.zarr", "--output", "tiles.zarr"], "tiles.zarr.manifest.json, which says what is done"),
        (["--input", "none.zarr", "--output", "out.zarr"], "none.zarr: No such file or folder"),
        (["--input", "empty.zarr", "--output", "out.zarr"], "isn't a Zarr group"),
        (["--input", "other.zarr", "--output", "out.zarr"], "it has x"),
        (["--input", "one.zarr", "--output", "out.zarr"], "is one matrix"),
        (["--input", "x.parquet", "--output", "out.zarr"], "has the columns x; wanted are tp, fn, fp and tn"),
        (["--input", "tiles.zarr", "--output", "out.zarr", "--chunk", "0"], "--chunk must be at least 1"),
        (["--input", "tiles.zarr", "--output", "out.zarr", "--json"], "--json doesn't apply to --input and --output"),
        (["--input", "tiles.zarr", "--output", "out.zarr", "--metrics", "f7"], "f7"),
        (["--input", "tiles.zarr", "--output", "out.zarr", "--by", "tile"], "--by doesn't apply to .zarr"),
        (["--input", "x.parquet", "--output", "out.zarr", "--pos-label", "1"], "--pos-label doesn't apply to .parquet"),
        (
            ["--input", "tiles.zarr", "--output", "out.zarr", "--scheduler", "nowhere"],
            "--scheduler nowhere doesn't answer",
        ),
    ],
)
def test_what_cant_be_done_is_said_before_anything_is_written(capsys, folder, arguments, words):
    (folder / "empty.zarr").mkdir()
    xr.Dataset({"x": ("i", [1.0])}).to_zarr("other.zarr", zarr_format=3, consolidated=False)
    to_zarr(TILES[0].drop_vars("tile"), "one.zarr")
    pd.DataFrame({"x": [1]}).to_parquet("x.parquet")
    stood = sorted(folder.iterdir())
    code = main(["summary", *arguments])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert words in err
    assert sorted(folder.iterdir()) == stood


def test_a_folder_that_is_closed(capsys, folder, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    code, _, err = run(capsys, *FOUR)
    assert code == 2
    assert "nothing can be written into the folder" in err


def test_a_broken_manifest_is_said(capsys, folder):
    assert run(capsys, *FOUR)[0] == 0
    (folder / "out.zarr.manifest.json").write_text("{")
    code, _, err = run(capsys, *FOUR)
    assert code == 2
    assert "out.zarr.manifest.json isn't the manifest of a run" in err


@pytest.mark.long
def test_a_cluster_that_loses_a_worker_writes_the_same_bytes(capsys, folder):
    from distributed import LocalCluster

    to_zarr(xr.concat([TILES] * 40, "tile").drop_vars("tile"), "many.zarr", tile=500)
    settings = ["--metrics", "mcc,p4", "--seed", "3", "--chunk", "20"]
    assert run(capsys, *settings, store="many.zarr", output="whole.zarr")[0] == 0
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        victim = next(iter(cluster.workers.values())).pid

        def kill():
            manifest = folder / "out.zarr.manifest.json"
            while not manifest.exists() or json.loads(manifest.read_text())["done"] == 0:
                time.sleep(0.01)
            os.kill(victim, 9)

        killer = threading.Thread(target=kill)
        killer.start()
        code, out, err = run(capsys, *settings, "--scheduler", cluster.scheduler_address, store="many.zarr")
        killer.join()
    assert code == 0, err
    assert out == "out.zarr: 2,000 matrices in 100 chunks.\n"
    assert_same(folder / "out.zarr", folder / "whole.zarr")
