"""Files are there whole, or what stood there is untouched: one writer for all that the library writes."""

import errno
import os
import re
import threading
from pathlib import Path

import pytest

import bayescm
from bayescm.calibration import coverage_of
from bayescm.data.files import replace


def test_several_that_write_at_once_leave_one_whole_file(tmp_path):
    path, contents = tmp_path / "a.bin", [bytes([i]) * 2_000_000 for i in range(4)]
    writers = [
        threading.Thread(target=lambda c=c: [replace(path, c) for _ in range(5)]) for c in contents
    ]  # fmt: skip
    replace(path, contents[0])
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert path.read_bytes() in contents
    assert path.read_bytes() in contents
    assert list(tmp_path.iterdir()) == [path]


def test_links_and_permissions_stay(tmp_path):
    (tmp_path / "real.bin").write_bytes(b"old")
    (tmp_path / "real.bin").chmod(0o640)
    link = tmp_path / "link.bin"
    link.symlink_to("real.bin")
    replace(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "real.bin").read_bytes() == b"new"
    assert (tmp_path / "real.bin").stat().st_mode & 0o777 == 0o640
    replace(tmp_path / "first.bin", b"")
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "first.bin").stat().st_mode & 0o777 == 0o666 & ~umask


@pytest.fixture
def full(monkeypatch):
    """Let a disk be full: half of what is written arrives."""

    def write(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", write)


@pytest.mark.parametrize("stood", [None, "good"])
def test_a_report_on_a_full_disk_leaves_what_stood_there(tmp_path, full, stood):
    path = tmp_path / "a.html"
    if stood is not None:
        path.write_text(stood)
    with pytest.raises(
        OSError, match=r"a\.html was not written: No space left on device\. What stood there is as it was"
    ):
        bayescm.report([[6, 2], [0, 26]], file=path)
    assert list(tmp_path.iterdir()) == ([] if stood is None else [path])
    assert stood is None or path.read_text() == stood


@pytest.mark.slow
def test_a_report_that_may_not_grow(tmp_path):
    """A limit that acts as a full disk does, midway in a file."""
    resource = pytest.importorskip("resource")
    path = tmp_path / "a.html"
    bayescm.report([[6, 2], [0, 26]], file=path)
    stood = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(stood) // 2, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            bayescm.report([[60, 20], [7, 260]], file=path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == stood
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_that_no_file_can_hold_leaves_what_stood_there(tmp_path):
    path = tmp_path / "a.html"
    path.write_text("good")
    labels = ["a", "b\ud800"]
    counts = bayescm.from_array([[6, 2], [0, 26]]).assign_coords(actual=labels, predicted=labels)
    with pytest.raises(ValueError, match="surrogate"):
        bayescm.report(counts, file=path)
    assert path.read_text() == "good"


def test_tallies_on_a_full_disk_stay(tmp_path, full):
    path = tmp_path / "tallies.jsonl"
    path.write_text("[[2")  # cut off in its first line, so that it is written anew
    with pytest.raises(OSError, match="What stood there is as it was"):
        coverage_of(lambda k: (k / 20, k / 20), [0.5], n=20, random_seed=1, file=path)
    assert path.read_text() == "[[2"


WRITERS = {"data/files.py", "_kernels/ahead.py", "_kernels/cache.py", "_kernels/patience.py",
           "calibration/any_coverage.py", "cli/__init__.py", "cli/gate.py", "reports/files.py"}  # fmt: skip
"""The one writer; the library of kernels; what kernels note of themselves; lines that are added to a file of tallies;
what is piped in; a forge's summary of a step, which is added to; a page that a browser or pandoc
reads, in a folder of its own."""


def test_nothing_else_writes_files():
    home = Path(bayescm.__file__).parent
    writing = re.compile(r"^[^>\n]*(\.write_(text|bytes)\(|open\([^)\n]*[\"'][wax]b?[\"'])", re.MULTILINE)
    those = {str(path.relative_to(home)) for path in home.rglob("*.py") if writing.search(path.read_text())}
    assert those <= WRITERS


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has it")
def test_no_file_takes_the_place_of_a_device(tmp_path):
    (tmp_path / "a.html").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        bayescm.report([[6, 2], [0, 26]], file=tmp_path / "a.html")
    assert Path("/dev/full").is_char_device()
