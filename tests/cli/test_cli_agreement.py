"""bayescm agreement: the command says what the functions say."""

import json

import numpy as np
import pytest

import bayescm
from bayescm.cli import main

ROWS = """text,ann,bob,cec,gpt
1,yes,yes,no,yes
2,no,no,no,no
3,yes,yes,yes,no
4,no,,no,no
5,yes,no,yes,yes
6,no,no,yes,
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(ROWS)
    return str(path)


def test_agreement_is_the_summary_with_asymptotic_intervals_beside(file, capsys):
    names = "krippendorff_alpha,ac1"
    assert main(["agreement", file, "--subject", "text", "--metrics", names, "--seed", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    counts = bayescm.agreement(file, subject="text")
    found = bayescm.summary(counts, names.split(","), random_seed=1)
    delta = bayescm.interval(counts, names.split(","), "delta")
    for row, beside, metric in zip(told["metrics"], told["asymptotic"], found["metric"].values, strict=True):
        one = found.sel(metric=metric)
        assert [row["point"], row["lower"], row["upper"]] == [float(one["point"]), *one["interval"].values.tolist()]
        assert beside["se"] == float(delta["se"].sel(metric=metric))


def test_a_judge_has_a_row_per_annotator(file, capsys):
    assert main(["agreement", file, "--subject", "text", "--judge", "gpt", "--margin", "0.1", "--seed", "1"]) == 0
    told = capsys.readouterr().out
    answers = bayescm.agreement(file, subject="text", judge="gpt")
    assert "gpt - annotators" in told
    for name in ("ann", "bob", "cec"):
        right = answers["predicted"].values[:, answers["annotator"].values == name]
        row = next(line.split() for line in told.splitlines() if line.startswith(f"{name} "))
        assert [float(row[2]), float(row[3])] == np.round(right.mean(1), 3).tolist()
    assert "of 3 annotators" in told


def test_options_that_say_nothing_are_refused(file, capsys):
    assert main(["agreement", file, "--subject", "text", "--margin", "0.1"]) == 2
    assert "is for --judge" in capsys.readouterr().err
    assert main(["agreement", file, "--subject", "text", "--judge", "gpt", "--metrics", "ac1"]) == 2
    assert "isn't for a judge" in capsys.readouterr().err
