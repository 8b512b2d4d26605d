"""The steps of pipelines: action, hook and plugin, run on the example logs of the repository."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import bayescm
from bayescm.testing import assert_not_worse

ROOT = Path(bayescm.__file__).parents[1]
LOGS = ROOT / "tests" / "data" / "logs"
NEW, OLD = LOGS / "promptfoo" / "new.json", LOGS / "promptfoo" / "old.json"


@pytest.fixture
def shell(tmp_path):
    """Return what runs a line of bash, with the command ``bayescm`` of this tree."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "bayescm"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bayescm "$@"\n')
    command.chmod(0o755)

    def run(line, **more):
        known = os.environ | {"PYTHONPATH": str(ROOT), "PATH": f"{command.parent}:{os.environ['PATH']}"} | more
        return subprocess.run(
            ["bash", "-e", "-c", line], capture_output=True, text=True, check=False, env=known, cwd=tmp_path
        )

    return run


@pytest.mark.slow
@pytest.mark.parametrize(("new", "old", "options", "code"), [
    (NEW, OLD, "", 0), (NEW, OLD, "--margin .02", 0), (OLD, NEW, "--margin .02", 3), (NEW, "", "--min-accuracy .99", 3),
    (NEW, OLD, "--margin x", 2),
])  # fmt: skip
def test_the_action_gates(shell, tmp_path, new, old, options, code):
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    step = next(one for one in steps if one.get("id") == "gate")
    assert set(step["env"]) == {"NEW", "OLD", "OPTIONS"}
    where = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"), "GITHUB_OUTPUT": str(tmp_path / "output")}
    done = shell(step["run"], NEW=str(new), OLD=str(old), OPTIONS=options, **where)
    assert done.returncode == code, done.stderr
    assert (tmp_path / "output").read_text() == f"passed={str(code == 0).lower()}\n"
    assert (tmp_path / "summary.md").exists() == (code != 2)


@pytest.mark.slow
def test_the_hook_gates_by_its_file_of_settings(shell, tmp_path):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    for new, old, code in ((NEW, OLD, 0), (OLD, NEW, 3)):
        (tmp_path / "gate.toml").write_text(f'new = "{new}"\nold = "{old}"\nmargin = 0.05\n')
        assert shell(hook["entry"]).returncode == code


@pytest.mark.slow
def test_the_plugin_asserts(tmp_path):
    assert assert_not_worse(NEW, OLD).attrs["passed"] == 1
    with pytest.raises(AssertionError, match="Fails, undecided"):
        assert_not_worse(OLD, NEW, margin=0.02)
    (tmp_path / "test_it.py").write_text(
        f"def test_new(assert_not_worse):\n    assert_not_worse({str(NEW)!r}, {str(OLD)!r}, margin=0.02)\n\n\n"
        f"def test_old(assert_not_worse):\n    assert_not_worse({str(OLD)!r}, {str(NEW)!r}, margin=0.02)\n"
    )
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]  # the plugin is found by its entry point
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)], capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)}, cwd=tmp_path,
    )  # fmt: skip
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "Fails, undecided" in done.stdout
