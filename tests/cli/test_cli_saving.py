"""What ``--save`` and ``--plot`` write: a whole file, or none and what stood there."""

import csv
import errno
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from bayescm.cli import main

CELLS = ["--tp", "26", "--fn", "0", "--fp", "2", "--tn", "6"]
SUMMARY = ["summary", *CELLS, "--metrics", "recall,specificity", "--seed", "1"]
TABLES = {
    "systems.csv": "name,tp,fn,fp,tn\na,9,1,2,8\nb,5,5,1,9\n",
    "scores.csv": "actual,score,old\n" + "".join(f"{i % 2},{i % 7},{i % 5}\n" for i in range(30)),
}
COMMANDS = {
    "metrics": SUMMARY,
    "regions": ["region", *CELLS, "--method", "ellipse", "--grid", "41"],
    "band": ["curve", "scores.csv", "--band", "regions", "--method", "ellipse", "--grid", "41"],
    "quantities": ["curve", "scores.csv", "--seed", "1", "--draws", "50"],
    "differences": ["compare", "systems.csv", "--seed", "1"],
    "areas": ["compare", "scores.csv", "--score", "score", "--score", "old", "--seed", "1"],
    "systems": ["leaderboard", "systems.csv", "--seed", "1"],
    "plan": ["plan", "--n-items", "50,100"],
}


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in TABLES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("table", COMMANDS)
def test_saved_by_the_ending_of_the_name(capsys, folder, table):
    for name in ("a.nc", "a.csv", "a.json"):
        code, out, err = run(capsys, *COMMANDS[table], "--save", name, "--json")
        assert code == 0, err
    assert (folder / "a.json").read_text() == out
    rows = json.loads(out)[table]
    with (folder / "a.csv").open(newline="") as lines:
        found = list(csv.DictReader(lines))
    for row, record in zip(found, rows, strict=True):
        flat = {name: str(value) for name, value in record.items() if not isinstance(value, list)}
        assert {name: value for name, value in row.items() if value} == flat
    with xr.open_datatree(folder / "a.nc", engine="h5netcdf") as file:
        assert any(node.data_vars for node in file.load().subtree)
    assert sorted(path.name for path in folder.iterdir()) == sorted([*TABLES, "a.nc", "a.csv", "a.json"])


@pytest.mark.parametrize("name", ["a.svg", "a.pdf", "a.JPG"])
def test_pictures_by_the_ending_of_the_name(capsys, folder, name):
    assert run(capsys, *SUMMARY, "--plot", name)[0] == 0
    start = {"svg": b"<?xml", "pdf": b"%PDF", "jpg": b"\xff\xd8\xff"}[name[2:].lower()]
    assert (folder / name).read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("option", "name", "words"),
    [
        (
            "--save",
            "a.ods",
            "--save writes by the ending of the name: .nc (netCDF), .csv (the table), .xlsx (the table)",
        ),
        ("--save", "a", "--save writes by the ending of the name"),
        ("--plot", "a.nc", ".png"),
        ("--plot", "a", "--plot writes by the ending of the name"),
        ("--save", ".", "is a folder"),
        ("--plot", "nowhere/a.png", "there is no folder nowhere"),
        ("--save", "nowhere/a.nc", "there is no folder nowhere"),
        ("--save", "systems.csv/a.nc", "there is no folder systems.csv"),
        ("--save", "pipe.csv", "a device or a pipe"),
    ],
)
def test_what_cant_be_written_is_said_before_anything_is_computed(capsys, folder, monkeypatch, option, name, words):
    os.mkfifo(folder / "pipe.csv")
    monkeypatch.setattr("bayescm.summary", None)
    code, out, err = run(capsys, *SUMMARY, option, name)
    assert (code, out) == (2, "")
    assert err.startswith(f"bayescm: error: {option} ")
    assert words in err
    assert sorted(path.name for path in folder.iterdir()) == sorted([*TABLES, "pipe.csv"])


def test_a_folder_that_is_closed(capsys, folder, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    code, _, err = run(capsys, *SUMMARY, "--save", "a.nc")
    assert code == 2
    assert "nothing can be written into the folder" in err


@pytest.mark.parametrize("stood", [None, b"good"])
@pytest.mark.parametrize("name", ["a.nc", "a.csv", "a.json", "a.png"])
def test_a_full_disk_leaves_what_stood_there(capsys, folder, monkeypatch, name, stood):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if stood is not None:
        (folder / name).write_bytes(stood)
    monkeypatch.setattr(os, "fsync", full)
    code, _, err = run(capsys, *SUMMARY, "--plot" if name == "a.png" else "--save", name)
    assert code == 2
    assert err == f"bayescm: error: {name} was not written: No space left on device. What stood there is as it was.\n"
    assert sorted(path.name for path in folder.iterdir()) == sorted([*TABLES, *([] if stood is None else [name])])
    assert stood is None or (folder / name).read_bytes() == stood


def process(code, folder, **options):
    """Run code in a process of its own, which a signal may end."""
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, check=False, timeout=300, stderr=subprocess.PIPE, text=True, **options
    )


@pytest.mark.slow
def test_a_file_that_may_not_grow(folder):
    """The limit acts within HDF5 as a full disk does: closing its file ended the process."""
    pytest.importorskip("resource")
    (folder / "a.nc").write_bytes(b"good")
    code = (
        "import resource, signal, sys; from bayescm.cli import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))\n"
        f"sys.exit(main({[*SUMMARY, '--save', 'a.nc']}))"
    )
    done = process(code, folder, stdout=subprocess.DEVNULL)
    assert done.returncode == 2, done.stderr
    assert done.stderr == "bayescm: error: a.nc was not written: File too large. What stood there is as it was.\n"
    assert (folder / "a.nc").read_bytes() == b"good"
    assert sorted(path.name for path in folder.iterdir()) == sorted([*TABLES, "a.nc"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.nc", "a.png"])
def test_a_killed_process_leaves_what_stood_there(capsys, folder, name):
    (folder / name).write_bytes(b"good")
    arguments = [*SUMMARY, "--plot" if name == "a.png" else "--save", name]
    code = (
        "import os, signal; from bayescm.cli import main\n"
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"main({arguments})"
    )
    assert process(code, folder, stdout=subprocess.DEVNULL).returncode == -9
    assert (folder / name).read_bytes() == b"good"
    assert run(capsys, *arguments)[0] == 0
    assert (folder / name).stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--json"], []])
def test_a_closed_pipe_is_no_error(folder, options):
    code = f"import sys; from bayescm.cli import main; sys.exit(main({[*SUMMARY, *options]}))"
    reader, writer = os.pipe()
    os.close(reader)
    done = process(code, folder, stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_output_onto_a_full_disk(folder):
    code = f"import sys; from bayescm.cli import main; sys.exit(main({[*SUMMARY, '--json']}))"
    with open("/dev/full", "w") as full:
        done = process(code, folder, stdout=full)
    assert done.returncode == 2
    assert done.stderr == "bayescm: error: the standard output: No space left on device.\n"


def test_numbers_in_a_table_are_those_of_the_netcdf(capsys, folder):
    for name in ("a.nc", "a.csv"):
        run(capsys, *SUMMARY, "--save", name)
    with xr.open_datatree(folder / "a.nc", engine="h5netcdf") as file:
        want = file["summary"]["interval"].values
    with (folder / "a.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    np.testing.assert_array_equal([[float(row["lower"]), float(row["upper"])] for row in rows], want)


def test_rows_of_a_leaderboard_are_how_many_it_shows(capsys, folder):
    """Of other commands --rows says which side of a matrix is the truth."""
    (folder / "published.csv").write_text("name,correct,wrong\na,90,10\nb,80,21\n")
    for table in ("systems.csv", "published.csv"):
        code, out, err = run(capsys, "leaderboard", table, "--rows", "1", "--seed", "1")
        assert code == 0, err
        assert "1 more systems" in out


def test_sheets_are_written_with_openpyxl(capsys, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert "if not to .csv, needs openpyxl" in run(capsys, *SUMMARY, "--save", "a.xlsx")[2]
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    pytest.importorskip("openpyxl")
    for name in ("a.xlsx", "a.csv"):
        assert run(capsys, *SUMMARY, "--save", name) == (0, run(capsys, *SUMMARY)[1], "")
    pd.testing.assert_frame_equal(pd.read_excel("a.xlsx"), pd.read_csv("a.csv"), check_dtype=False)
