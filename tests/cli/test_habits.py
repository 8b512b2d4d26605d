"""Calls as they are typed from habit, with a table piped in and no file named; all but the last three failed once."""

import contextlib
import json
import os
import sys
from pathlib import Path

import pytest

from bayescm.cli import main

ITEMS = "actual,predicted\n1,1\n1,1\n1,0\n0,0\n0,0\n1,1\n0,1\n"
SYSTEMS = "actual,a,b\n1,1,1\n1,1,0\n1,0,0\n0,0,0\n0,0,1\n1,1,1\n0,1,1\n"
SCORES = "actual,score\n1,.9\n1,.8\n0,.3\n0,.4\n1,.35\n0,.1\n"
BOTH = "system,item,correct\nnew,q1,1\nnew,q2,1\nold,q1,1\nold,q2,0\n"
CALLS = [
    (ITEMS, "summary", "Accuracy is 0.71"),
    ("26 2\n0 6\n", "summary", "Accuracy is 0.94"),
    ("tp 26\nfn 0\nfp 2\ntn 6\n", "summary -m f1", "F1 is"),
    ('{"tp": 26, "fn": 0, "fp": 2, "tn": 6}', "summary -m precision", "Precision is 0.93"),
    ("45 50\n", "summary", "Proportion is 0.90"),
    ("26 0 2 6\n", "summary", "which of 26, 0, 2 and 6 is which?"),
    (ITEMS, "summary -m f1,mcc", "mcc (matthews_correlation)"),
    (ITEMS, "summary --ci .9 -m f1", "F1 is 0.75 (90%"),
    (ITEMS, "summary --prior flat -m f1", "0.31 to 0.90"),
    (ITEMS, "summary --prior=uniform -m f1", "0.31 to 0.90"),
    (ITEMS, "summary --format markdown -m f1", "| metric | point |"),
    (ITEMS, "summary --md -m f1", "| metric | point |"),
    (ITEMS, "summary -f csv -m f1", "metric,"),
    (ITEMS, "region", "over precision 0.75"),
    (SYSTEMS, "compare", "No verdict on a and b"),
    (SYSTEMS, "leaderboard -m f1", "a leads 2 systems"),
    (SCORES, "curve", "3 cases, 3 controls"),
    (BOTH, "gate --reference old", "Passes, undecided"),
    (BOTH, "doctor", "standard input: a table of 4 rows"),
    ("a,b\n1,x\n", "summary", "error: standard input has"),
    (ITEMS, "summary - --metrics f1", "F1 is"),
    (ITEMS, "summary --metric f1", "F1 is"),
    (ITEMS, "summary --pos 1 --metrics f1", "F1 is"),
]


@pytest.fixture
def piped(monkeypatch, tmp_path):
    """Return what lets the standard input be a file with such text, or another file."""
    with contextlib.ExitStack() as stack:

        def pipe(text, path=tmp_path / "piped"):
            if text is not None:
                path.write_text(text)
            monkeypatch.setattr(sys, "stdin", stack.enter_context(path.open()))

        yield pipe


@pytest.mark.parametrize(("text", "words", "said"), CALLS, ids=[words for _, words, _ in CALLS])
def test_a_call_typed_from_habit_is_understood(piped, capsys, text, words, said):
    piped(text)
    code = main(words.split())
    out, err = capsys.readouterr()
    assert said in f"{out}{err}", err
    assert (code == 0) == (out != "")
    assert "bayescm-piped" not in f"{out}{err}"


@pytest.mark.parametrize("form", ["--format json", "--output json", "-o json", "--format=json"])
def test_json_is_asked_for_in_many_ways(piped, capsys, form):
    piped(ITEMS)
    assert main(["summary", "-m", "f1", *form.split()]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"][0]["metric"] == "f1"


def test_a_name_of_a_file_behind_o_is_where_the_table_goes(piped, tmp_path):
    piped(ITEMS)
    assert main(["summary", "-m", "f1", "-o", str(tmp_path / "f1.csv")]) == 0
    assert (tmp_path / "f1.csv").read_text().startswith("metric,")


@pytest.mark.parametrize("kind", ["nothing in it", "closed", "a device"])
def test_a_command_without_a_file_says_so_where_nothing_is_piped_in(piped, capsys, kind):
    piped("")
    if kind == "closed":
        sys.stdin.close()
    elif kind == "a device":
        piped(None, Path(os.devnull))
    for words in (["summary"], ["compare"], ["gate"]):
        assert main(words) == 2
        assert "- for what is piped" in capsys.readouterr().err


def test_nothing_is_read_where_the_call_has_all_it_needs(piped):
    piped(ITEMS)
    assert main(["summary", "--tp", "26", "--fn", "0", "--fp", "2", "--tn", "6", "-m", "f1"]) == 0
    assert sys.stdin.read() == ITEMS
