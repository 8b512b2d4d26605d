"""A load on the local page, for seconds; benchmarks/app.py takes a minute."""

import subprocess
import sys
from pathlib import Path

import pytest

import bayescm


@pytest.mark.long
def test_a_load_gets_answers_and_clear_refusals():
    script = Path(bayescm.__file__).parents[1] / "benchmarks" / "app.py"
    command = [sys.executable, script, "--seconds", "3", "--rate", "60", "--port", "8798"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " of 200" in done.stdout
