"""Kernels that Python runs: the same numbers as machine code, and when which of both is taken."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

import bayescm
from bayescm._kernels import arrays, cache, dispatch, interpreted, patience
from bayescm.distributions import integral

CELLS = {"tp": [26, 50, 0, 8337], "fn": [0, 10, 3, 20030], "fp": [2, 20, 1, 278], "tn": [6, 120, 40, 29]}


@pytest.fixture
def by_python(monkeypatch):
    """Return a function that makes integrals run in Python from then on."""
    with np.errstate(all="ignore"):
        yield lambda: monkeypatch.setattr(
            integral, "kernel", lambda name, function, seconds: getattr(interpreted.load(name), function)
        )


@pytest.mark.parametrize("kind", [pytest.param("hdi", marks=pytest.mark.long), "eti"])
def test_a_summary_is_the_same(by_python, kind):
    cells = CELLS if kind == "eti" else {name: counts[:1] for name, counts in CELLS.items()}  # by Python they take long
    compiled = bayescm.summary(bayescm.from_cells(**cells), ci_kind=kind)
    by_python()
    python = bayescm.summary(bayescm.from_cells(**cells), ci_kind=kind)
    for name in ("mean", "median", "sd", "interval"):  # an HDI is flat in its ends, and found to about 1e-8 of itself
        difference = (compiled[name] - python[name]) / compiled.width
        assert (np.isfinite(compiled[name]) == np.isfinite(python[name])).all()
        assert float(abs(difference).max()) < (1e-7 if (name, kind) == ("interval", "hdi") else 1e-11), name


@pytest.mark.slow
def test_separate_classes_are_the_same(by_python):
    counts = bayescm.from_cells(tp=50, fn=10, fp=20, tn=120)

    def answers():
        intervals = bayescm.summary(counts, ["f1", "mcc", "precision"], model="three_binomial").interval.values
        dist = bayescm.metric_distribution(counts, "kappa")
        return np.append(intervals, [dist.cdf(0.5), dist.sf(0.9), dist.ppf(1e-6)])

    compiled = answers()
    by_python()
    np.testing.assert_allclose(compiled, answers(), rtol=1e-9, atol=1e-12)


def lattice(rng):
    """Return nodes, as `spread_out` fills them for forms, for correlations either way round, and points."""
    points = np.empty((6, 40))
    points[0], points[2] = rng.uniform(0.01, 0.99, (2, 40))
    points[1], points[3] = 1 - points[0], 1 - points[2]
    kernels, nodes = interpreted.load("lattice"), np.zeros((3, 8, 40))
    for half in (slice(0, 3), slice(3, 6)):
        form = rng.uniform(-0.2, 1, (4, 4))
        arrays.prepare_form(True, form + form.T, 40, points, nodes[0, half])
    nodes[0, 6] = rng.normal(size=40)
    for k in (1, 2):
        kernels._prepare_correlation(k == 1, 40, points, nodes[k])
    nodes[:, 7] = rng.dirichlet(np.ones(40))
    return nodes, points


def calls(rng):
    """Return arguments of each kernel that NumPy does instead."""
    nodes, points = lattice(rng)
    x, y, out = rng.uniform(0.1, 5, (3, 40))
    form = rng.uniform(0, 1, (4, 4))
    trapezoids = rng.uniform(0.05, 0.95, (3, 2, 17))
    trapezoids[:, 1] = 1 - trapezoids[:, 0]
    sizes, weights = np.array([17, 9, 13]), rng.uniform(0, 1, (3, 17))
    return {
        "lattice._edges": [(0.4, 0.4, 1.0, False, 40, nodes[0], np.zeros((6, 40))),
                           (-0.4, 0.16, -0.8, True, 40, nodes[2], np.zeros((6, 40))),
                           (0.4, 0.16, 0.8, True, 40, nodes[2], np.zeros((6, 40)))],
        "lattice._edges_of_correlation": [(z, 40, nodes[1], np.zeros((6, 40))) for z in (-0.5, 0.3, 0.9)],
        "lattice._logarithms": [(x, 40, -2.0, 3.0, *np.zeros((2, 40)), out)],
        "lattice._inside": [(np.array([1e-140, 0.3, 1e140, 2.0, 1e139]), rng.dirichlet(np.ones(5)), 5)],
        "lattice._sums": [(x - 1, y, (y > 1) * 1.0, out, 40, 3.9, 2.0, rng.normal(size=(5, 8)))],
        "lattice._prepare_form": [(left, form + form.T, 40, points, np.zeros((3, 40))) for left in (True, False)],
        "moments._summed": [(shape, kind, form + form.T, form.T @ form, trapezoids, weights, sizes)
                            for shape in range(2) for kind in range(4)],
        "planes.outer_sum": [(x, y, np.zeros((40, 40)))],
        "planes._lower": [(out, x, y, 0.5, 0.3, -0.2)],
        "planes._lower_quadratic": [(out, x, 0.7, 0.2, -0.4, 0.6)],
        "planes.to_log_rest": [(x - 1,)],
        "rank_sums._without": [(0.7, x / 10, y, out, x.copy(), y.copy())],
        "rank_sums.count_better": [(rng.integers(0, 4, (30, 5)) * 0.1, 1, np.array([0, 1, 4]), near, np.ones(3))
                                   for near in (0.0, 0.1)],
    }  # fmt: skip


@pytest.mark.parametrize("name", arrays.OF)
def test_whole_arrays_are_as_loops(name):
    module, _, function = name.rpartition(".")
    loop = getattr(dispatch.load(module), function).py_func
    for arguments in calls(np.random.default_rng(2))[name]:
        mine, theirs = ([np.array(v) if isinstance(v, np.ndarray) else v for v in arguments] for _ in range(2))
        with np.errstate(all="ignore"):
            answers = arrays.OF[name](*mine), loop(*theirs)
        if answers[1] is not None:
            np.testing.assert_allclose(*answers, rtol=1e-12, atol=1e-13)
        for one, other in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


def test_all_of_them_are_tried():
    assert calls(np.random.default_rng(1)).keys() == arrays.OF.keys()


def test_nothing_is_raised_outside_the_domain():
    points = [0.0, -1.0, -2.0, 710.0, 1e300, math.inf, -math.inf, math.nan, 0.3]
    with np.errstate(all="ignore"):
        for name in ("exp", "expm1", "log", "log1p", "sqrt"):
            found = [getattr(interpreted.MATH, name)(x) for x in points]
            np.testing.assert_allclose(found, getattr(np, name)(np.array(points)), rtol=1e-15, err_msg=name)


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """Return an empty cache folder, as at the beginning of a process that compiles nothing at once."""
    monkeypatch.setattr(cache, "folder", lambda: str(tmp_path))
    monkeypatch.setattr(dispatch.library, "get", lambda name: None)
    monkeypatch.setattr(patience, "_spent", {})
    monkeypatch.setattr(patience, "_at_hand", set())
    monkeypatch.delenv("BAYESCM_COMPILE")
    return tmp_path


def test_patience_ends_when_compiling_would_have_been_sooner_done(empty, monkeypatch):
    assert patience.lasts("planes", 0.6)
    assert not patience.lasts("planes", 0.6)
    assert patience.lasts("planes", 0.3)
    monkeypatch.setattr(patience, "_spent", {})  # another process
    assert not patience.lasts("planes", 0.2)
    assert not patience.lasts("distributions", 41.0)
    assert (empty / "planes.run").stat().st_size == 90


def test_without_a_folder_a_process_remembers(empty, monkeypatch):
    monkeypatch.setattr(cache, "folder", lambda: None)
    assert [patience.lasts("planes", 0.6) for _ in range(2)] == [True, False]


def test_who_asks_for_machine_code_gets_it(empty, monkeypatch):
    monkeypatch.setenv("BAYESCM_COMPILE", "1")
    assert not patience.lasts("planes", 0.01)
    assert dispatch.kernel("planes", "reduce", 0.01) is dispatch.load("planes").reduce


def test_what_is_in_the_folder_is_taken(empty):
    assert dispatch.kernel("planes", "reduce", 0.01) is not dispatch.load("planes").reduce
    (empty / "_kernels_1").mkdir()
    version = "py" + "".join(map(str, sys.version_info[:2]))
    Path(empty, "_kernels_1", f"planes.reduce-67.{version}.nbi").touch()
    assert dispatch.kernel("planes", "reduce", 1e9) is dispatch.load("planes").reduce


def test_where_python_cannot_go_on_the_kernel_is_compiled(monkeypatch):
    def broken(name):
        return type("Module", (), {"summarise": staticmethod(lambda *args: 1.0 / 0.0)})

    monkeypatch.setattr(dispatch.interpreted, "load", broken)
    monkeypatch.setattr(dispatch, "load", lambda name: type("M", (), {"summarise": staticmethod(lambda *args: args)}))
    assert dispatch._by_python("distributions", "summarise", 1, 2) == (1, 2)
    with pytest.raises(ZeroDivisionError):  # may have added to its arguments before
        dispatch._by_python("rank_sums", "summarise")
