"""For tests and doctests alike: no screen, and no figure left open."""

import sys

import matplotlib as mpl
import pytest

mpl.use("agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
