"""Shared fixtures: fixed hypothesis profile, compiled kernels, seeds of samplers, the oracle values."""

import gc
import json
import os
from pathlib import Path

import pytest
from hypothesis import settings

import bayescm
from bayescm._kernels.dispatch import load
from bayescm._kernels.library import library

collect_ignore = ["typed.py", "minimal.py", "first_hours.py"]  # scripts that CI runs
os.environ.setdefault("BAYESCM_COMPILE", "1")  # whatever the cache has, tests are about machine code
os.environ.setdefault("PYTENSOR_FLAGS", "traceback__limit=0")  # else each variable keeps where it was made
settings.register_profile("ci", max_examples=60, deadline=None, derandomize=True)
settings.load_profile("ci")


def pytest_collection_finish():
    """Look for no garbage among what is imported and collected by now: it stays, and there is much of it."""
    assert not library.cache_info().currsize, "a test computes on import, before there is a library of kernels"
    gc.freeze()


@pytest.fixture(scope="session")
def compiled():
    """Compile the kernels once, for tests that look at all that is printed, and leave out the notice of others."""
    bayescm.metric_distribution([[6, 2], [0, 26]], "mcc").hdi()
    load("jit").NOTICE.said = True


@pytest.fixture(autouse=True)
def _nothing_but_what_is_asked_for(request):
    if {"capsys", "capfd", "caplog"} & set(request.fixturenames):
        request.getfixturevalue("compiled")


@pytest.fixture(scope="session")
def seed():
    """Return a function that moves the seeds of NUTS by BAYESCM_TEST_SEED: no test may hang on one stream of draws."""
    moved = int(os.environ.get("BAYESCM_TEST_SEED", "0"))
    return lambda number: number + 1000 * moved


@pytest.fixture
def interpreted():
    """Let PyTensor interpret its graphs in this test: machine code of a graph that is evaluated once costs a minute."""
    import pytensor

    with pytensor.config.change_flags(mode="FAST_COMPILE"):
        yield


@pytest.fixture(scope="session")
def oracle():
    """Return a function that gives one reference value of oracles.json by its id."""
    entries = {e["id"]: e for e in json.loads((Path(__file__).parent / "oracles.json").read_text())}
    return entries.__getitem__
