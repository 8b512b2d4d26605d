"""``bayescm audit``: tables whose truth is empty where nobody looked, and maps."""

import json

import pytest
import xarray as xr

import bayescm
from bayescm.cli import main

COUNTS = "human,judge,n\nright,right,19\nwrong,right,1\n,right,1880\nright,wrong,3\nwrong,wrong,17\n,wrong,80\n"
JUDGE = ("--actual", "human", "--predicted", "judge", "--pos-label", "right")
MAP = """,deforestation,forest gain,stable forest,stable non-forest
deforestation,66,0,5,4
forest gain,0,55,8,12
stable forest,1,0,153,11
stable non-forest,2,1,9,313
"""
AREAS = "200000,150000,3200000,6450000"


@pytest.fixture
def called(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "counts.csv").write_text(COUNTS)
    (tmp_path / "map.csv").write_text(MAP)
    rows = [line.rsplit(",", 1) for line in COUNTS.splitlines()[1:]]
    (tmp_path / "items.csv").write_text("human,judge\n" + "".join(f"{row}\n" * int(n) for row, n in rows))

    def call(*words):
        code = main(["audit", *words])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def test_counts_and_items_are_the_same_audit(called):
    files = (["counts.csv", "--count", "n"], ["items.csv"])
    found = [called(*words, *JUDGE, "--seed", "1", "--json") for words in files]
    assert found[0] == found[1]
    made = json.loads(found[0][1])
    ours = bayescm.summary(bayescm.audited([[17, 1], [3, 19]], [100, 1900]), "prevalence")
    row = next(row for row in made["metrics"] if row["metric"] == "prevalence")
    assert [row["lower"], row["upper"]] == pytest.approx(ours["interval"].values[0].tolist(), rel=1e-9)
    assert made["settings"]["of"] == "process"
    assert made["settings"]["positive_class"] == "right"
    assert made["groups"][1]["total"] == 1900


def test_a_published_map(called):
    code, out, _ = called("map.csv", "--rows", "test", "--totals", AREAS, "--of", "population", "--unit", "0.09")
    assert code == 0
    assert "21,158" in out
    assert out.startswith("Accuracy is 0.95 (95%: ")
    named = "stable forest=3200000,deforestation=200000,forest gain=150000,stable non-forest=6450000"
    again = called("map.csv", "--rows", "test", "--totals", named, "--of", "population", "--unit", "0.09")
    assert again[1] == out


def test_draws_and_summary_are_saved(called, tmp_path):
    assert called("counts.csv", "--count", "n", *JUDGE, "--seed", "1", "--save", "audit.nc")[0] == 0
    with xr.open_datatree(tmp_path / "audit.nc", engine="h5netcdf") as tree:
        assert {"posterior", "summary", "constant_data"} <= set(tree.children)
        assert tree["posterior"].attrs["model"] == "stratified"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["items.csv"], "no column 'actual'"),
        (["items.csv", "--actual", "human", "--predicted", "judge"], "`pos_label` is needed"),
        (["items.csv", *JUDGE, "--count", "n"], "no column 'n'"),
        (["items.csv", *JUDGE, "--stratum", "site"], "no column 'site'"),
        (["items.csv", *JUDGE, "--of", "system"], "`of` must be one of"),
        (["items.csv", *JUDGE, "--rows", "test"], "--rows is for a square matrix"),
        (["map.csv", "--rows", "test", "--totals", "1,2"], "must have 4 numbers"),
        (["map.csv", "--rows", "test", "--totals", "a,2,3,4"], "numbers with commas"),
        (["map.csv", "--rows", "test", "--totals", "x=1,y=2"], "must name"),
        (["map.csv", "--rows", "test", "--totals", ".02,.015,.32,.645"], "say of='population'"),
        (["map.csv", "--rows", "test", "--totals", AREAS, "--stratum", "a"], "--stratum is for a table"),
        (["items.csv", "--actual", "judge", "--predicted", "human"], "'human' is empty in row"),
        (["nowhere.csv"], "nowhere.csv"),
    ],
)
def test_what_audit_refuses(called, words, message):
    code, out, err = called(*words)
    assert (code, out) == (2, "")
    assert message in err


def test_the_next_labels_and_what_they_are_worth(called):
    words = ("counts.csv", "--count", "n", *JUDGE)
    code, out, _ = called(*words, "--allocate", "40")
    assert code == 0
    assert "Check 40 of predicted right next" in " ".join(out.split())
    made = json.loads(called(*words, "--allocate", "40", "--metrics", "prevalence", "--json")[1])
    assert [row["labels"] for row in made["labels"]] == [0, 40]
    price = ("--costs", "fn=5,fp=2", "--per-check", ".1", "--n-items", "5000")
    made = json.loads(called(*words, *price, "--json")[1])
    audit = bayescm.audited([[17, 1], [3, 19]], [100, 1900])
    ours = bayescm.planning.label_value(audit, {"fn": 5, "fp": 2}, per_check=0.1, n_items=5000)
    assert [row["net"] for row in made["labels"]] == pytest.approx(ours["net"].values.tolist())
    assert "Check" in called(*words, *price)[1] or int(ours["best_n"]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--allocate", "40", "--costs", "fn=1"), "not both"),
        (("--costs", "fn=1"), "--costs needs --per-check"),
        (("--per-check", "1"), "is for --costs"),
        (("--allocate", "40", "--metrics", "recall,accuracy"), "one share of all items"),
        (("--allocate", "40", "--ci-prob", ".9"), "is for a summary"),
        (("--allocate", "40000"), "at most 1,960"),
        (("--allocate", "40", "--plot", "x.png"), "is for a summary of metrics or --costs"),
    ],
)
def test_labels_that_are_refused(called, words, message):
    code, _, err = called("counts.csv", "--count", "n", *JUDGE, *words)
    assert (code, message in err) == (2, True), err


def test_a_picture_of_what_labels_are_worth(called, tmp_path):
    price = ("--costs", "fn=5,fp=2", "--per-check", "0.1", "--n-items", "5000", "--plot", "value.svg")
    assert called("counts.csv", "--count", "n", *JUDGE, *price)[0] == 0
    drawn = (tmp_path / "value.svg").read_text()
    assert "further labels" in drawn
    assert "knowing all rates" in drawn
