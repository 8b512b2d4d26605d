"""Streams of random numbers: one list for the library, none used for two ends."""

import ast
from pathlib import Path

import numpy as np
import pytest

import bayescm
from bayescm._kernels.dispatch import kernel
from bayescm.curves import area_samples
from bayescm.data.random import Stream, matrix_rng

SOURCES = sorted(Path(bayescm.__file__).parent.rglob("*.py"))


def calls_of_matrix_rng():
    """Yield the file and the stream of every generator that the library makes."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "matrix_rng":
                yield path.name, ast.unparse(node.args[2])


@pytest.mark.slow
def test_every_generator_takes_its_stream_from_the_list():
    found = list(calls_of_matrix_rng())
    assert len(found) > 10
    wrong = [one for one in found if one[1] != "stream" and one[1].removeprefix("Stream.") not in Stream.__members__]
    assert not wrong, wrong


@pytest.mark.slow
def test_areas_and_curves_share_no_stream():
    of_file = {}
    for name, stream in calls_of_matrix_rng():
        of_file.setdefault(name, set()).add(stream)
    assert of_file["area_samples.py"] == {"Stream.AREA_BOOTSTRAP", "Stream.AREA_FOLDS"}
    assert of_file["joint.py"] == {"Stream.CURVE", "Stream.CURVE_PREVALENCE"}
    firsts = [matrix_rng(1, 0, stream).random() for stream in Stream]
    assert len(set(firsts)) == len(Stream)


def test_the_bootstrap_takes_its_own_numbers():
    items = area_samples.check_items(np.repeat([0, 1], [9, 6]), np.random.default_rng(1).normal(size=15))
    drawn = area_samples.resamples(items, ("auc",), 1000, 7)[:100, 0, 0]
    rng, expected = matrix_rng(7, 0, Stream.AREA_BOOTSTRAP), np.empty((100, 1, 1))
    score, sizes, none = items.score, np.array([15]), np.empty((0, 1, 2, 2))
    kernel("areas", "resample")(
        rng, items.case_step, items.control_step, score, sizes, items.odds, np.array([0]), expected, none
    )
    np.testing.assert_array_equal(drawn, expected[:, 0, 0])
