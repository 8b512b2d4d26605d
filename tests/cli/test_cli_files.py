"""CSV files that people have: what they mean is shown, and what can't be meant is refused."""

import argparse
import csv
import io
import json
import re
import shlex
import sys
from contextlib import redirect_stdout

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescm
from bayescm.cli import build_parser, main
from bayescm.data import texts as files

ONE = ["--metrics", "recall"]


@pytest.fixture
def ask(capsys, tmp_path):
    """Return a function that runs a command on a file of this text."""

    def run(text, *arguments, command="summary"):
        path = tmp_path / "data.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        code = main([command, str(path), *arguments])
        out, err = capsys.readouterr()
        assert (code == 0) == (not err.startswith("bayescm: error"))
        return out if code == 0 and out else err

    return run


def recall(text):
    return json.loads(text)["metrics"][0]["point"]


LONG = "actual,predicted\n"
REFUSED = {
    "a field more": (LONG + "1,1,0\n0,0,1\n", "line 2 has 3 fields, the header 2"),
    "a field more in one row": (LONG + "1,1\n0,0,1\n", "line 3 has 3 fields, the header 2"),
    "a field less": (LONG + "1,1\n\n0\n", "line 4 has 1 field, the header 2"),
    "after a quoted line break": ('actual,predicted,why\n1,1,"a\nb"\n0,0\n', "line 4 has 2 fields, the header 3"),
    "two columns of one name": ("actual,predicted,predicted\n1,0,1\n0,0,0\n", "two columns called 'predicted'"),
    "two names but for spaces": ("actual,predicted, predicted \n1,0,1\n0,0,0\n", "two columns called 'predicted'"),
    "two columns of counts": ("tp,TP,fn,fp,tn\n1,2,3,4,5\n", "`columns` has 'tp' twice"),
    "a column without a name": ("actual,predicted,\n1,1,x\n", "column 3 has no name"),
    "nothing": ("", "is empty"),
    "blank lines": ("\n  \n,\n", "is empty"),
    "a header": (LONG, "has a header and no rows"),
    "a header and blank lines": (LONG + "\n,\n", "has a header and no rows"),
    "a quote too many": (LONG + '1,"1\n', "not a CSV file"),
    "no text": (b"\xff\xfea\x00,\x00b\x00", "not a CSV file"),
    "labels that differ in a zero": (LONG + "01,01\n1,1\n1,01\n", "which of '01' and '1' is the positive class"),
    "R's missing label": (
        LONG + "yes,yes\nno,no\nNA,yes\n",
        "`actual` has 1 item whose label is missing, written",
    ),
    "a missing prediction": (LONG + "1,1\n0,0\n0,null\n", "`predicted` has 1 item whose label is missing"),
    "a row of missing labels": ("truth,a,?\na,9,1\n?,2,3\n", "`array` has 6 items whose label is missing, written '?'"),
    "other words": (LONG + "yes,pos\nno,neg\n", "none in common"),
    "no pair": (LONG + "a,a\nb,a\nb,b\n", "--pos-label on the command line"),
    "no side": (",positive,negative\npositive,45,10\nnegative,5,90\n", "--rows on the command line"),
    "a wrong sum": ("truth,yes,no,Total\nyes,9,1,10\nno,2,8,9\n", "column 'Total' that isn't the sum"),
    "a label that is a sum": ("actual,predicted,n\nyes,yes,1\nno,no,2\nTotal,yes,3\n", "'Total', a word for sums"),
    "a word for a number": ("tp,fn,fp,tn\n1,2,3,NA\n", "column 'tn' has 'NA' in row 1"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cant_be_meant(ask, what):
    text, words = REFUSED[what]
    assert words in ask(text, *ONE)


def test_rows_are_for_square_matrices(ask):
    assert "--rows doesn't apply to columns of labels" in ask(LONG + "1,1\n0,0\n", *ONE, "--rows", "truth")
    board = "id,tp,fn,fp,tn\na,9,2,3,4\nb,5,6,7,8\nc,1,6,7,8\n"  # where --rows is the length of the table
    assert "1 more systems" in ask(board, "--rows", "2", command="leaderboard")


def test_systems_in_other_words_are_refused(ask):
    answers = ["--predicted", "A", "--predicted", "B"]
    text = "actual,A,B\n" + "yes,pos,neg\nno,neg,pos\n" * 75
    assert "none in common" in ask(text, *answers, command="compare")
    passes = "actual,A,B\n5,5,4\n5,0,5\n5,1,2\n5,2,3\n"
    assert "no label" in ask(passes, *answers, command="compare")
    assert "no label" in ask(passes, *answers, command="leaderboard")
    twice = "actual,A,A\n1,1,0\n0,0,0\n"
    assert "two columns called 'A'" in ask(twice, *answers, command="leaderboard")


READ = {
    "a byte order mark": ("\ufeff" + LONG + "1,1\n1,0\n0,0\n", [], 0.5),
    "blank lines and spaces": (LONG + "\n 1 ,1\n   \n1, 0\n,\n0,0\n", [], 0.5),
    "commas at the ends": ("actual,predicted,\n1,1,\n1,0,\n0,0,\n", [], 0.5),
    "other line ends": (LONG.replace("\n", "\r\n") + "1,1\r\n1,0\r\n0,0\r\n", [], 0.5),
    "numbers with a point": (LONG + "1,1.0\n1,0.0\n0,0.0\n", [], 0.5),
    "truth values": (LONG + "TRUE,1\nTRUE,0\nFALSE,0\n", [], 0.5),
    "labels that differ in a zero": (LONG + "01,01\n01,1\n1,1\n", ["--pos-label", "01"], 0.5),
    "a positive class that isn't the last": (LONG + "sick,sick\nsick,well\nwell,well\n", [], 0.5),
    "tests in rows": (",positive,negative\npositive,45,10\nnegative,5,90\n", ["--rows", "test"], 0.9),
    "truth in rows": (",positive,negative\npositive,45,10\nnegative,5,90\n", ["--rows", "truth"], 45 / 55),
    "a name in the corner": ("predicted,positive,negative\npositive,45,10\nnegative,5,90\n", [], 0.9),
    "both names in the corner": ("test \\ truth,1,0\n1,45,10\n0,5,90\n", [], 0.9),
    "words in the labels": (",Disease+,Disease-\nTest+,45,10\nTest-,5,90\n", [], 0.9),
    "another pair": ("truth,a,b\na,90,10\nb,5,45\n", ["--pos-label", "b"], 0.9),
    "sums": ("truth,no,yes,Total\nno,90,10,100\nyes,5,45,50\nTotal,95,55,150\n", [], 0.9),
    "a sum of the columns": ("truth,no,yes\nno,90,10\nyes,5,45\nTotal,95,55\n", [], 0.9),
}


@pytest.mark.filterwarnings("ignore:The .* holds the sums")
@pytest.mark.parametrize("what", READ)
def test_what_is_meant(ask, what):
    text, options, want = READ[what]
    assert recall(ask(text, *ONE, *options, "--json")) == pytest.approx(want)


def lines(text):
    return [" ".join(line.replace("│", " ").split()) for line in text.splitlines()]


def test_the_table_is_shown_as_it_was_understood(ask):
    out = ask(",positive,negative\npositive,45,10\nnegative,5,90\n", *ONE, "--rows", "test")
    assert [line for line in lines(out) if line.startswith(("negative ", "positive ", "total "))] == [
        "negative 90 10 100",
        "positive 5 45 50",
        "total 95 55 150",
    ]
    assert "positive: positive" in out
    made = json.loads(ask("truth,no,yes\nno,90,10\nyes,5,45\n", *ONE, "--json"))
    assert made["settings"]["positive_class"] == "yes"
    assert made["counts"] == [
        {"actual": a, "predicted": p, "n": n}
        for (a, p), n in zip([("no", "no"), ("no", "yes"), ("yes", "no"), ("yes", "yes")], [90, 10, 5, 45], strict=True)
    ]
    out = ask("id,tp,fn,fp,tn\nx,1,2,3,4\ny,5,6,7,8\n", *ONE)
    assert {"x 1 2 3 4", "y 5 6 7 8"} <= set(lines(out))
    many = "actual,predicted\n" + "".join(f"c{i},c{i}\nc{i},c{(i + 1) % 12}\n" for i in range(12))
    assert "c3 2 2 1" in lines(ask(many, "--metrics", "accuracy"))


SAME = "actual,A,B\nsick,sick,well\nwell,well,well\nsick,sick,sick\nwell,sick,well\n"
SCORED = "actual,score\nsick,.9\nwell,.2\nsick,.4\nwell,.5\nsick,.8\nwell,.1\n"
COUNTED = "actual,predicted,n\nwell,well,50\nwell,sick,3\nsick,well,4\nsick,sick,40\n"
EVERY = {
    "summary": (COUNTED, [*ONE, "--prob", "recall > .5"]),
    "replicate": (COUNTED, [*ONE, "--claim", "recall > .5"]),
    "region": (COUNTED, ["--grid", "21", "--recall", ".9", "--precision", ".9"]),
    "compare": (SAME, ["--predicted", "A", "--predicted", "B", "--seed", "1"]),
    "leaderboard": (SAME, ["--predicted", "A", "--predicted", "B", "--seed", "1"]),
    "curve": (SCORED, ["--draws", "50", "--seed", "1"]),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("command", EVERY)
def test_every_command_says_which_class_is_positive(ask, command):
    text, options = EVERY[command]
    assert ask(text, *options, command=command).lower().count("positive class: sick") == 1
    made = json.loads(ask(text, *options, "--json", command=command))
    assert made["settings"]["positive_class"] == "sick"
    assert ask(text, *options, "--pos-label", "well", command=command).lower().count("positive class: well") == 1


def test_areas_and_bands_say_it_too(ask):
    two = "actual,A,B\nsick,.9,.1\nwell,.2,.3\nsick,.4,.5\nwell,.5,.2\n"
    assert "Positive class: sick" in ask(two, "--score", "A", "--score", "B", command="compare")
    assert "Positive class: sick" in ask(SCORED, "--band", "regions", "--grid", "21", "--mark", ".5", command="curve")


labels = st.one_of(
    st.lists(st.sampled_from(["0", "1", "01", "1.0", "-1", "10", "+1", "1e0"]), min_size=1, max_size=4),
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).map(str.strip).filter(bool),
             min_size=1, max_size=4),
)  # fmt: skip


@pytest.mark.slow
@given(labels)
def test_columns_of_labels_keep_different_texts_apart(texts):
    (found,) = files.labels(texts)
    assert len(set(found.tolist())) == len(set(texts))
    if found.dtype.kind == "U":
        assert found.tolist() == texts


@given(st.lists(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=3, max_size=3),
                min_size=1, max_size=5))  # fmt: skip
def test_csv_files_come_back_as_they_were_written(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    rows = [["x", *row] for row in rows]  # a line without any entry would be left out
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["n", "a", "b", "c"], *rows])
    assert files.read_text(str(path)).to_numpy().tolist() == [[field.strip() for field in row] for row in rows]


@pytest.mark.slow
@given(st.lists(st.integers(0, 99), min_size=9, max_size=9), st.sampled_from([2, 3]), st.booleans())
def test_matrices_come_back_from_a_file(tmp_path_factory, cells, k, turned):
    names = ["no", "yes", "maybe"][:k]
    counts = bayescm.from_array(np.reshape(cells[: k * k], (k, k)), labels=names)
    frame = counts.T.to_pandas() if turned else counts.to_pandas()
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    frame.to_csv(path)
    out = io.StringIO()
    with redirect_stdout(out):
        assert main(["replicate", str(path), "--metrics", "prevalence", "--n-items", "1", "--json"]) == 0
    assert [cell["n"] for cell in json.loads(out.getvalue())["counts"]] == counts.values.ravel().tolist()


def test_semicolons_and_tabs(ask):
    scores = "actual;p\n0;0,1\n0;0,7\n1;0,8\n1;0,5\n"
    assert recall(ask(scores, *ONE, "--score", "p", "--threshold", ".6", "--json")) == 0.5
    square = "\tdiseased\thealthy\npositive\t45\t10\nnegative\t5\t90\n"
    assert recall(ask(square, *ONE, "--json")) == 0.9
    assert "predicted diseased" in ask(square, *ONE)


def test_truth_and_test_in_different_words(ask):
    square = ",syphilis,other\nreactive,45,10\ndull,5,90\n"
    assert "--pos-label syphilis,reactive" in ask(square, *ONE, "--rows", "test")
    assert recall(ask(square, *ONE, "--rows", "test", "--pos-label", "syphilis,reactive", "--json")) == 0.9
    long = LONG + "syphilis,reactive\nsyphilis,dull\nother,dull\n"
    assert recall(ask(long, *ONE, "--pos-label", "syphilis,reactive", "--json")) == 0.5


def test_sheets_need_openpyxl(capsys, monkeypatch, tmp_path):
    import pandas as pd

    path = tmp_path / "cells.xlsx"
    pytest.importorskip("openpyxl")
    sheet = pd.DataFrame([["id", "tp", "fn", "fp", "tn"], ["a", 45, 5.0, 10, 90], [None] * 5])
    sheet.to_excel(path, header=False, index=False)
    assert main(["summary", str(path), *ONE, "--json"]) == 0
    assert recall(capsys.readouterr().out) == 0.9

    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert main(["summary", str(path)]) == 2
    assert "if not saved as CSV, needs openpyxl" in capsys.readouterr().err


def test_numbers_without_names(capsys):
    assert main(["summary", "45", "50", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"][0]["mean"] == pytest.approx(45.5 / 51)
    assert main(["summary", "45", "50", "--method", "wilson", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"][0]["lower"] == pytest.approx(0.786398, abs=1e-6)
    for numbers, words in ((["45", "5", "10", "90"], "--tp 45 --fn 5 --fp 10 --tn 90"), (["50", "45"], "(k of n)")):
        assert main(["summary", *numbers]) == 2
        assert words in capsys.readouterr().err


def test_names_come_out_as_they_went_in(capsys):
    cells = ["summary", "--tp", "45", "--fn", "5", "--fp", "10", "--tn", "90"]
    assert main([*cells, "--metrics", "sensitivity,PPV,f1", "--prevalence", "1%"]) == 0
    out = capsys.readouterr().out
    assert "sensitivity (recall)" in out
    assert "PPV (precision)" in out
    assert "prevalence 0.01" in out
    assert main([*cells, "--metrics", "sensitivity", "--method", "wald", "--json"]) == 0
    assert recall(capsys.readouterr().out) == 0.9
    assert main([*cells, "--metrics", "sensi"]) == 2
    assert "did you mean 'sensitivity'" in capsys.readouterr().err


ITEMS = "item,gpt,llama\nq1,pass,fail\nq2,pass,pass\nq3,fail,pass\nq4,pass,fail\n"
ANSWERS = "model,question,correct\n" + "".join(
    f"{m},{q},{c}\n" for m, q, c in [("gpt", 1, 1), ("gpt", 2, 1), ("gpt", 3, 0), ("gpt", 4, 1),
                                     ("llama", 1, 0), ("llama", 2, 1), ("llama", 3, 1), ("llama", 4, 0)]
)  # fmt: skip


@pytest.mark.parametrize("file", [(ITEMS,), (ANSWERS, "--by", "model", "--item", "question")], ids=["wide", "long"])
def test_right_and_wrong_answers_item_by_item(ask, file):
    board = json.loads(ask(*file, "--json", "--seed", "1", command="leaderboard"))
    assert [(one["system"], one["point"]) for one in board["systems"]] == [("gpt", 0.75), ("llama", 0.5)]
    compared = json.loads(ask(*file, "--json", "--seed", "1", command="compare"))["differences"][0]
    assert (compared["only_first"], compared["only_second"]) == (2, 1)


def test_an_item_answered_twice_is_refused(ask):
    twice = ANSWERS + "gpt,1,0\n"
    assert "item '1' of system 'gpt' twice" in ask(twice, "--by", "model", "--item", "question", command="leaderboard")


def test_several_runs_of_an_item(ask):
    """A row per run, or numbers of passes: wide, with names of the items, and long."""
    passes = {"A": [4, 1, 0, 3], "B": [2, 2, 0, 4]}
    runs = [f"{s},q{i},{r},{int(r < k)}" for s, ks in passes.items() for i, k in enumerate(ks) for r in range(4)]
    wide = [f"{a},{b}" for a, b in zip(*passes.values(), strict=True)]
    long = [f"{s},q{i},{k}" for s, ks in passes.items() for i, k in enumerate(ks)]
    files = {
        "\n".join(["system,item,run,correct", *runs]): [],
        "\n".join(["A,B", *wide]): ["--runs", "4"],
        "\n".join(["task,A,B", *(f"q{i},{row}" for i, row in enumerate(wide))]): ["--runs", "4"],
        "\n".join(["system,item,passes", *long]): ["--runs", "4"],
    }
    boards = [
        json.loads(ask(text, *how, "--json", "--seed", "1", command="leaderboard")) for text, how in files.items()
    ]
    assert [system["point"] for system in boards[0]["systems"]] == [0.5, 0.5]
    assert all(board == boards[0] for board in boards)
    assert boards[0]["settings"]["runs"] == 4
    text, how = next(iter(files.items()))
    assert "paired_t" in ask(text, *how, "--seed", "1", command="compare")
    assert "--runs 4" in ask("\n".join(["A,B", *wide]), command="leaderboard")
    assert "needs a column 'correct' (or 'passes')" in ask("system,item,x\na,q,1", "--runs", "4", command="leaderboard")


def test_options_that_name_nothing_are_refused(tmp_path, capsys):
    long, cells, scores = (tmp_path / name for name in ("long.csv", "cells.csv", "scores.csv"))
    long.write_text("actual,predicted,freq\n0,0,50\n0,1,5\n1,0,4\n1,1,41\n")
    cells.write_text("system,tp,fn,fp,tn\nA,40,10,5,45\nB,35,14,9,41\n")
    scores.write_text("actual,A,B\n0,.1,.2\n1,.8,.7\n0,.4,.2\n1,.9,.1\n")
    counted = ["--tp", "9", "--fn", "1", "--fp", "1", "--tn", "9"]
    for arguments, message in (
        (["summary", str(long), "--count", "frq"], "has no column 'frq'"),
        (["summary", str(cells), "--actual", "tp"], "--actual doesn't apply"),
        (["summary", *counted, "--predicted", "test"], "--predicted doesn't apply"),
        (["summary", *counted, "--prevalence", "90%,10%"], "as two numbers is a Beta's"),
        (["compare", str(scores), "--score", "A", "--score", "B", "--runs", "4"], "--runs doesn't apply to --score"),
        (["compare", str(cells), "--direction", "smaller"], "--direction is for --score"),
        (["leaderboard", str(cells), "--actual", "truth"], "has no column 'truth'"),
    ):
        assert main(arguments) == 2
        assert message in capsys.readouterr().err
    assert main(["summary", str(long), "--count", "freq", "--metrics", "accuracy"]) == 0


def test_examples_of_the_help_are_commands():
    parser = build_parser()
    commands = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction)).choices
    lines = [line.strip() for one in commands.values() for line in (one.epilog or "").splitlines()]
    examples = [re.split(r"\s{2,}", line)[0] for line in lines if line.startswith("bayescm ")]
    assert len(examples) > 30
    for example in examples:
        parser.parse_args(shlex.split(example)[1:])
