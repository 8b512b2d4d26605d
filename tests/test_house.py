"""Habits of the house: light imports, public names, docs that stay true."""

import inspect
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from public import PUBLIC, ROOMS

import bayescm
from bayescm.data import elsewhere

ROOT = Path(bayescm.__file__).parents[1]


def fresh(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ | environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_is_light():
    loaded = json.loads(fresh("import bayescm, sys, json; print(json.dumps(list(sys.modules)))"))
    assert not {"numpy", "xarray", "pymc", "arviz", "matplotlib", "scipy"} & set(loaded)


@pytest.mark.slow
def test_a_summary_loads_numpy_xarray_and_scipy_special_alone():
    code = (
        "import sys, json, xarray, scipy.special, lazy_loader; xarray.DataArray([1]); known = set(sys.modules);"
        "import bayescm; bayescm.summary([[6, 2], [0, 26]]); print(json.dumps(sorted(set(sys.modules) - known)))"
    )
    assert not {
        name for name in json.loads(fresh(code))
        if name.partition(".")[0] not in {*sys.stdlib_module_names, "bayescm", "pandas", "pyarrow"}
    }  # fmt: skip


def test_the_minimal_environment_asks_for_what_the_package_declares():
    lines = {line for line in (ROOT / "requirements/minimal.txt").read_text().splitlines() if line[0] != "#"}
    assert lines <= set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"])


def test_the_recipe_runs_with_what_the_package_declares():
    run = re.findall(r"^    - (\S+) (>=\S+)$", (ROOT / "conda/meta.yaml").read_text(), re.MULTILINE)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    named = {re.sub(r"\[.*\]", "", one) for one in declared} | {"python>=3.12"}
    assert {name.removesuffix("-base") + bounds for name, bounds in run} == named


def test_a_renamed_name_is_taken_with_a_warning(monkeypatch):
    monkeypatch.setitem(elsewhere.RENAMED, "plot_forest", "plots.plot_forest")
    with pytest.warns(DeprecationWarning, match=r"bayescm\.plot_forest is now bayescm\.plots\.plot_forest"):
        assert bayescm.plot_forest is bayescm.plots.plot_forest


@pytest.mark.slow
def test_the_closed_form_needs_neither_pymc_nor_arviz():
    code = (
        "import bayescm, sys, json; c = bayescm.from_cells(tp=3, fn=1, fp=2, tn=4);"
        "bayescm.summary(c, 'f1'); bayescm.posterior(c, draws=10); print(json.dumps(list(sys.modules)))"
    )
    loaded = json.loads(fresh(code))
    assert not {"pymc", "pytensor", "arviz", "matplotlib", "numba", "sklearn"} & set(loaded)


@pytest.mark.slow
def test_eager_import_works():
    assert fresh("import bayescm; print(bayescm.__version__)", EAGER_IMPORT="1").strip() == bayescm.__version__


@pytest.mark.slow
def test_a_read_only_home_is_no_obstacle(tmp_path):
    code = "import bayescm; print(float(bayescm.summary([[6, 2], [0, 26]], 'recall')['mean'][0]))"
    assert float(fresh(code, HOME="/nonexistent", XDG_CACHE_HOME="/nonexistent")) == pytest.approx(26.5 / 27)


@pytest.mark.parametrize("name", sorted({*dir(bayescm), *PUBLIC}))
def test_public_names_are_documented(name):
    thing = PUBLIC[name] if name in PUBLIC else getattr(bayescm, name)
    assert thing.__doc__
    if callable(thing):
        for section in ("Parameters", "Examples") if inspect.isclass(thing) else ("Parameters", "Returns", "Examples"):
            assert section in thing.__doc__, f"{name}: {section}"


def test_no_public_function_shares_its_name_with_a_module():
    for room in ("", *ROOMS):
        modules = {p.stem for p in (ROOT / "bayescm" / room).iterdir() if p.suffix == ".py" or p.is_dir()}
        functions = set(ROOMS[room]) if room else set(dir(bayescm))
        assert not modules & functions & PUBLIC.keys()


def test_a_name_that_isnt_there_answers_with_the_right_one():
    for name, said in (
        ("plot_forest", "bayescm.plots.plot_forest"), ("classification_report", "per_class()"), ("sumary", "summary"),
    ):  # fmt: skip
        with pytest.raises(AttributeError, match=re.escape(said)):
            getattr(bayescm, name)


def test_the_version_is_the_same_everywhere():
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited
    assert cited[1] == bayescm.__version__
    assert f'{{% set version = "{cited[1]}" %}}' in (ROOT / "conda/meta.yaml").read_text()
    assert fresh("import runpy; runpy.run_module('bayescm', run_name='m')") == ""
