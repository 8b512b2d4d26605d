"""The library of kernels compiled ahead of time: the same numbers as Numba's, its errors, and when it is taken."""

import copy
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bayescm
from bayescm._kernels import dispatch, library
from bayescm._kernels.signatures import ENTRIES
from bayescm.curves import area_samples
from bayescm.regions import credible, grid, methods

RNG = np.random.default_rng(17)
RANDOM = np.round(10 ** RNG.uniform(0, 4, (6, 2, 2))) - 1
EDGES = np.array([[[0, 0], [0, 0]], [[0, 0], [0, 9]], [[10**9, 3], [0, 10**8]], [[1, 0], [2, 0]]])
COUNTS = bayescm.from_array(np.concatenate([RANDOM, EDGES]))
SYSTEMS = bayescm.from_array(RNG.multinomial(200, [0.4, 0.1, 0.1, 0.4], 6).reshape(6, 2, 2), dims="system")
ONE = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
Y, SCORE = np.repeat([0, 1], 40), RNG.normal(size=(2, 80)).round(1) + np.repeat([0, 1], 40)
SEED = {"random_seed": 3}
SMALL = {"grid": 25}


def points_of_distributions():
    for metric in ("mcc", "f1", "kappa", "dor"):
        dist = bayescm.metric_distribution(COUNTS, metric, prior="laplace")
        dist.cdf([-np.inf, -1.0, 0.0, 0.5, 0.9, 1.0, np.nan, 1e300])
        dist.ppf([0.0, 1e-9, 0.3, 1.0])


def areas():
    for names in (["auc", "average_precision"], ["lower_trapezoid", "interpolated_convex"]):
        items = area_samples.check_items(Y, SCORE[0], None, None)
        codes = tuple(names)
        area_samples.resamples(items, codes, 50, 3)
        area_samples.without_one(items, 0, codes)
        area_samples.folds(items, codes, 4, 3)


def masses_by_two_ways():
    for cells, prior in (([20.0, 0.0, 3.0, 17.0], 0.5), ([0.0, 3.0, 0.0, 40.0], [900.0, 1.0, 0.5, 3.0])):
        for space in (grid.PR, grid.ROC):
            cells, prior = np.array(cells), np.broadcast_to(prior, 4).astype(float)
            credible.masses(cells, space, prior, np.array([0.0, 0.5, 7.0, 300.0]))
            credible._direct(credible._factors(cells[None], space, prior)[0], np.array([0.0, 0.5, 12.0]))


QUESTIONS = {
    "summaries": lambda: [bayescm.summary(COUNTS, ci_kind=kind, model=model, prior="laplace")
                          for kind in ("eti", "hdi") for model in ("dirichlet_multinomial", "three_binomial")],
    "distributions": points_of_distributions,
    "large cells": lambda: bayescm.summary([[90, 14], [11, 25]], "mcc"),
    "claims": lambda: bayescm.probability(COUNTS, ["recall > .8 and precision > .7", "mcc > 0 and f1 < .9"],
                                          prior="laplace"),
    "areas": areas,
    "curves": lambda: [bayescm.curve_posterior(Y, score, draws=40, chains=1, prior=prior, over="threshold",
                                               points=[0.2, 1.0], **SEED)
                       for score in (SCORE[0], {"a": SCORE[0], "b": SCORE[1]})
                       for prior in ("prior_item", *(["smoothed"] if len(score) > 2 else []))],
    "regions": lambda: [bayescm.region(COUNTS[:6], method=method, space=space, **SMALL)
                        for method in ("wilks", "exact", "ellipse", "credible") for space in ("pr", "roc")],
    "densities": lambda: [bayescm.region(COUNTS[:6], method="credible", ordering="density", prior="laplace", **SMALL)],
    "levels": lambda: [bayescm.regions.region_level(COUNTS[0], recall=recall, precision=0.6, **options)
                       for recall in (0.0, 0.5, 1.0)
                       for options in ({"method": "exact"}, {"method": "credible"},
                                       {"method": "credible", "ordering": "density", "prior": "laplace"})],
    "masses": masses_by_two_ways,
    "boards": lambda: [bayescm.leaderboard(SYSTEMS, metric=metric, prior=prior, **SEED)
                       for metric in ("recall", "mcc") for prior in (None, "jeffreys")],
    "score tests": lambda: [bayescm.compare_systems(SYSTEMS, "accuracy", design="independent", **SEED),
                            bayescm.compare_systems(Y, {"A": Y, "B": np.roll(Y, 3)}, "accuracy", **SEED)],
    "second tests": lambda: [bayescm.planning.replicate(ONE, metrics, prevalence=prevalence)
                             for metrics in ("mcc", ["dor", "kappa"]) for prevalence in (None, "fixed")],
    "studies": lambda: bayescm.synthesis(COUNTS, **SEED),
    "boards of draws": lambda: [bayescm.leaderboard(SYSTEMS, metric=metric, method="draws", prior="jeffreys", **SEED)
                                for metric in ("recall", "mcc")],
}  # fmt: skip
"""What needs every kernel, of random matrices and of such at the edges: empty, nearly empty, huge."""


@pytest.fixture(scope="module")
def ready():
    """Return the library, where there is one."""
    found = library.library()
    if found is None:
        assert "BAYESCM_NEED_LIBRARY" not in os.environ
        pytest.skip("no library of these sources: python -m bayescm._kernels.ahead")
    return found


def copied(value):
    if isinstance(value, tuple):
        parts = [copied(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value.copy() if isinstance(value, np.ndarray) else copy.deepcopy(value)


def numbers(value):
    """Yield the arrays of numbers in arguments or results."""
    if isinstance(value, tuple):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, np.random.Generator):
        yield np.array([value.bit_generator.random_raw()])
    elif value is not None:
        yield np.asarray(value)


SUMMARISE, PROBABILITIES = "distributions.summarise", "distributions.probabilities"
"""The last column of both is an estimated error: rounding, where it is small."""
SCORE_TESTS = "score_tests.bounds"
TIGHT = {library.V3: {"rtol": 1e-14, "atol": 5e-15}, library.ANY: {"rtol": 1e-7, "atol": 1e-9}}
"""Fused products round once, others twice: what is 1e-9 wide and close to 1 keeps fewer digits of its width."""


def close(mine, theirs, name, variant):
    """Assert equal integers, and numbers equal to rounding."""
    assert mine.shape == theirs.shape
    if mine.dtype.kind != "f":
        np.testing.assert_array_equal(mine, theirs, err_msg=name)
        return
    tight = TIGHT[variant]
    if name == SCORE_TESTS:  # bounds are where small differences of large numbers change their sign
        tight = tight | {"atol": max(tight["atol"], 1e-10)}
    if name == SUMMARISE:  # quantiles next to 0, whose log-odds have 15 digits
        tight = tight | {"atol": max(tight["atol"], 1e-10)}
    if name == PROBABILITIES and mine.ndim == 3:  # no argument
        np.testing.assert_allclose(mine[..., 3], theirs[..., 3], err_msg=name, rtol=tight["rtol"], atol=1e-10)
        mine, theirs = mine[..., :3], theirs[..., :3]
    np.testing.assert_allclose(mine, theirs, err_msg=name, **tight)


@pytest.mark.long  # minutes of compiling, which CI does by itself, with checked bounds
@pytest.mark.filterwarnings("ignore::UserWarning")  # of what has no ellipse, or is undefined
@pytest.mark.parametrize("variant", [library.V3, library.ANY])
def test_every_kernel_is_as_numba_compiles_it(ready, variant, monkeypatch):
    if variant == library.V3 and not ready.bayescm_supports_v3():
        pytest.skip("this processor has no AVX2")
    asked = set()

    def both(name):
        module, function = name.split(".")
        mine, theirs = library._caller(ready, name, variant), getattr(dispatch.load(module), function)

        def call(*given):
            asked.add(name)
            also = copied(given)
            answers = mine(*given), theirs(*also)
            compared = [answer[..., :-1] if name == SUMMARISE else answer for answer in answers]
            for one, other in zip(numbers((*given, compared[0])), numbers((*also, compared[1])), strict=True):
                close(one, other, name, variant)
            return answers[0]

        return call

    monkeypatch.setattr(library, "get", both)
    monkeypatch.setenv("BAYESCM_THREADS", "1")  # what one thread fills, another would copy
    for kept in (methods._log_tables, credible._scale):
        kept.cache_clear()
    for question in QUESTIONS.values():
        question()
    assert asked == ENTRIES.keys()


def test_every_kernel_that_is_asked_for_has_a_signature():
    home = Path(bayescm.__file__).parent
    texts = [file.read_text() for file in home.rglob("*.py") if file.parent.name != "_kernels"]
    asked = {".".join(names) for text in texts for names in re.findall(r'kernel\(\s*"(\w+)", "(\w+)"', text)}
    assert asked <= ENTRIES.keys()
    assert ENTRIES.keys() - asked <= {PROBABILITIES, "distributions.quantiles"}  # by a variable


def run(code, **environment):
    """Return what a process prints."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], env=os.environ | environment, capture_output=True, text=True
    )
    assert not done.returncode, done.stderr
    return done.stdout


@pytest.mark.slow
def test_nothing_of_the_readme_imports_numba(ready):
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    calls = re.search(r"```python\n(.*?)```", readme, re.DOTALL)[1]
    assert run(f"{calls}\nimport sys; print('numba' in sys.modules)").endswith("False\n")


@pytest.mark.slow
def test_no_question_does(ready):
    code = "import sys, test_library as t; [ask() for ask in t.QUESTIONS.values()]; print('numba' in sys.modules)"
    assert run(code, PYTHONPATH=os.pathsep.join([str(Path(__file__).parent), *sys.path])) == "False\n"


def test_numbers_do_not_depend_on_threads(ready, monkeypatch):
    counts = bayescm.from_array(np.random.default_rng(2).integers(0, 40, (300, 2, 2)))
    found = []
    for threads in "12":
        monkeypatch.setenv("BAYESCM_THREADS", threads)
        found.append(bayescm.summary(counts, ["mcc", "f1"]).interval.values)
        found.append(bayescm.curve_posterior(Y, SCORE[0], draws=400, chains=1, **SEED)["posterior"]["auc"].values)
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_array_equal(found[1], found[3])


def test_a_kernel_without_memory_says_so(ready):
    """Half a gibibyte more is allowed, and a list of 10^12 panels wanted."""
    code = """
import resource, numpy as np
from bayescm._kernels import library
panels = library.get("rank_sums.panels")
pages = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (pages + 2**29,) * 2)
try:
    panels(np.array([0.0, 1e5]), np.array([1.0]), 1e-7)
except MemoryError as error:
    print("MemoryError")
"""
    assert run(code) == "MemoryError\n"


@pytest.mark.slow
def test_arrays_that_kernels_return_are_given_back(ready):
    """20,000 answers of 80 kB would be 1.6 GB."""
    code = """
import resource, numpy as np
from bayescm._kernels import library
panels = library.get("rank_sums.panels")
for i in range(20_000):
    panels(np.array([0.0, 1.0]), np.array([1.0]), 2e-4)
print(int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() < 300 * 2**20)
"""
    assert run(code) == "True\n"


def test_arguments_of_other_types_go_to_numba(ready):
    out = np.zeros((3, 2), order="F")
    library.get("planes.outer_sum")(np.arange(3.0), np.arange(2.0), out)
    np.testing.assert_array_equal(out, np.add.outer(np.arange(3.0), np.arange(2.0)))


@pytest.fixture
def anew():
    """Look for the library anew, in this test and after it."""
    for look in (library.library, library.get):
        look.cache_clear()
    yield
    for look in (library.library, library.get):
        look.cache_clear()


def test_who_wants_numba_gets_it(ready, anew, monkeypatch):
    monkeypatch.setenv("BAYESCM_COMPILE", "jit")
    assert dispatch.kernel("planes", "reduce") is dispatch.load("planes").reduce


def test_a_library_of_other_sources_is_not_taken_and_that_is_said(ready, anew, monkeypatch, caplog):
    monkeypatch.setattr(library, "sources", lambda: "others")
    with caplog.at_level("INFO", "bayescm"):
        assert library.library() is None
        assert library.get("planes.reduce") is None
    (said,) = caplog.messages
    assert "it was made of other sources" in said


def test_what_is_no_library_is_not_taken_and_that_is_said(anew, monkeypatch, caplog, tmp_path):
    (tmp_path / library.NAME).write_text("of another machine")
    monkeypatch.setattr(library, "folder", lambda: str(tmp_path))
    monkeypatch.setattr(library, "__file__", str(tmp_path / "none" / "library.py"))
    with caplog.at_level("INFO", "bayescm"):
        assert library.library() is None
    assert len(caplog.messages) == 1


def test_without_a_library_nothing_is_said(anew, monkeypatch, caplog, tmp_path):
    monkeypatch.setattr(library, "folder", lambda: None)
    monkeypatch.setattr(library, "__file__", str(tmp_path / "library.py"))
    with caplog.at_level("INFO", "bayescm"):
        assert library.library() is None
    assert not caplog.messages
