"""Shared fixtures: fixed hypothesis profile, compiled kernels, the oracle values."""

import json
from pathlib import Path

import pytest
from hypothesis import settings

import bayescm

settings.register_profile("ci", max_examples=60, deadline=None, derandomize=True)
settings.load_profile("ci")


@pytest.fixture(scope="session", autouse=True)
def _compiled():
    """Compile the kernels once, before a test looks at what is printed."""
    bayescm.metric_distribution([[6, 2], [0, 26]], "mcc").hdi()


@pytest.fixture(scope="session")
def oracle():
    """Return a function that gives one reference value of oracles.json by its id."""
    entries = {e["id"]: e for e in json.loads((Path(__file__).parent / "oracles.json").read_text())}
    return entries.__getitem__
