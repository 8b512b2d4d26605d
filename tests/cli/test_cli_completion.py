"""What shtab makes of the parser completes commands and options in bash."""

import shutil
import subprocess

import pytest

from bayescm.cli import build_parser

COMPLETE = """
source {script}
answer() {{
  COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
  _shtab_bayescm bayescm "${{@: -1}}" "${{@: -2:1}}"
  echo "${{COMPREPLY[@]}}"
}}
answer bayescm su
answer bayescm summary --ro
answer bayescm plan --n-
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_commands_and_options(tmp_path):
    shtab = pytest.importorskip("shtab")
    script = tmp_path / "bayescm"
    script.write_text(shtab.complete(build_parser(), "bash"))
    done = subprocess.run(["bash", "-c", COMPLETE.format(script=script)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["summary", "--rows", "--n-items"]
