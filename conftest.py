"""For tests and doctests alike: no screen, no figure left open, kernels compiled once, and who runs what."""

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import matplotlib as mpl
import pytest

mpl.use("agg")
FEW = 3
"""So many files or fewer run in one process: starting more costs more than they save."""
ALONE = "::test_notebook_shows", "::test_stories_run", "::test_no_table_diverges"
"""Tests of minutes each, which share nothing with others of their file."""
COMPILER = pytest.StashKey[subprocess.Popen]()
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("BAYESCM_THREADS", "1")  # the workers have the processors


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Return 0 for a few files: this process; None for xdist's own answer: one worker per processor."""
    files = [Path(argument.partition("::")[0]).suffix == ".py" for argument in config.args]
    return 0 if all(files) and len(files) <= FEW else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config):
    """Compile the kernels into a library where there is none, beside the processes that collect the tests."""
    from bayescm._kernels.library import library

    can = sys.platform == "linux" and shutil.which(os.environ.get("CC", "cc"))
    if can and os.environ.get("BAYESCM_COMPILE") != "jit" and library() is None:
        config.get_terminal_writer().line("compiling the kernels for all tests: about two minutes")
        config.stash[COMPILER] = subprocess.Popen([sys.executable, "-m", "bayescm._kernels.ahead"])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node):
    """Wait for the library, without which Numba compiles in each process, before the first test."""
    if COMPILER in node.config.stash:
        node.config.stash[COMPILER].wait()


def pytest_collection_modifyitems(items):
    """Begin with what takes long: a worker that came to it at the end would work alone."""
    each = Counter(item.path for item in items)
    items.sort(key=lambda item: (not any(name in item.nodeid for name in ALONE), -each[item.path]))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep a file's tests, which share fits, in one process, but for those that are long and stand alone."""
    from xdist.scheduler import LoadFileScheduling

    config.option.loadscopereorder = False  # the order is that of the items

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return nodeid if any(name in nodeid for name in ALONE) else super()._split_scope(nodeid)

    return ByFile(config, log)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
