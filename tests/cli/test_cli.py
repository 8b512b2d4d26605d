"""The command line, as a person types it."""

import json
import subprocess
import sys

import numpy as np
import pytest
import xarray as xr

import bayescm
from bayescm.cli import main
from bayescm.metrics.table import OF_TWO

CELLS = ["--tp", "26", "--fn", "0", "--fp", "2", "--tn", "6"]


def run(capsys, *arguments):
    code = main(["summary", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def records(text):
    return {row["metric"]: row for row in json.loads(text)["metrics"]}


def test_classifier_7a(capsys):
    code, out, err = run(capsys, *CELLS, "--model", "three_binomial", "--prior", "laplace", "--ci-kind", "hdi")
    assert code == 0
    assert err == ""
    recall, specificity = (
        next(line.split() for line in out.splitlines() if line.startswith(n)) for n in ("recall", "specificity")
    )
    assert recall[4:] == ["0.895", "1.000", "exact"]
    assert specificity[4:] == ["0.432", "0.946", "exact"]
    assert out.count("exact\n") == len(OF_TWO)


def test_json(capsys):
    code, out, _ = run(capsys, *CELLS, "--metrics", "recall,dor expected_cost(fn=5, fp=1)", "--json", "--seed", "1")
    assert code == 0
    rows = records(out)
    assert list(rows) == ["recall", "diagnostic_odds_ratio", "expected_cost(tp=0, fn=5, fp=1, tn=0)"]
    assert rows["diagnostic_odds_ratio"]["mean"] == "inf"
    assert rows["recall"]["method"] == "exact"
    assert json.loads(out)["settings"]["random_seed"] == 1


def write(path, text):
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("text", "extra"),
    [
        ("actual,predicted,n\n0,0,6\n0,1,2\n1,1,26\n", []),
        ("label,low,high\nlow,6,2\nhigh,0,26\n", ["--rows", "truth", "--pos-label", "high"]),
        ("test,sick,well\nsick,26,2\nwell,0,6\n", []),
        ("name,tp,fn,fp,tn\n7a,26,0,2,6\n", []),
        ("TN, FP, FN, TP\n6, 2, 0, 26\n", []),
        ("actual,predicted\n" + "0,0\n" * 6 + "0,1\n" * 2 + "1,1\n" * 26, []),
        ("actual,predicted\n" + "no,no\n" * 6 + "no,yes\n" * 2 + "yes,yes\n" * 26, ["--pos-label", "yes"]),
        ("y,guess\n" + "0,0\n" * 6 + "0,1\n" * 2 + "1,1\n" * 26, ["--actual", "y", "--predicted", "guess"]),
        ("actual,p\n" + "0,-3\n" * 6 + "0,0\n" * 2 + "1,2.5\n" * 26, ["--score", "p", "--threshold", "0"]),
    ],
)
def test_files(capsys, tmp_path, text, extra):
    file = write(tmp_path / "data.csv", text)
    code, out, err = run(capsys, file, *extra, "--metrics", "recall,specificity", "--json")
    assert code == 0, err
    rows = records(out)
    assert rows["recall"]["point"] == 1
    assert rows["specificity"]["point"] == 0.75


def test_labels_are_text_not_markup(capsys, tmp_path):
    file = write(tmp_path / "m.csv", "truth,a,/b,c\na,50,3,1\n/b,4,40,1\nc,2,2,9\n")
    code, out, err = run(capsys, file, "--metrics", "recall")
    assert code == 0, err
    assert "class  recall" in out
    assert "\n/b " in out


def test_files_of_systems(capsys, tmp_path):
    file = write(tmp_path / "s.csv", "id,TP,FN,FP,TN\na,9,1,2,8\nb,5,5,1,9\n")
    code, out, _ = run(capsys, file, "--metrics", "recall", "--json")
    assert code == 0
    assert [(r["system"], r["point"]) for r in json.loads(out)["metrics"]] == [("a", 0.9), ("b", 0.5)]
    code, out, _ = run(capsys, file, "--metrics", "recall")
    assert "\na  " in out
    long = write(tmp_path / "l.csv", "sys,actual,predicted\na,0,0\na,1,1\nb,1,0\nb,0,1\n")
    assert run(capsys, long, "--by", "sys", "--metrics", "recall", "--json")[0] == 0


def test_save_and_plot(capsys, tmp_path):
    nc, png = tmp_path / "out.nc", tmp_path / "out.png"
    code, _, err = run(capsys, *CELLS, "--metrics", "recall,mcc", "--save", str(nc), "--plot", str(png), "--seed", "3")
    assert code == 0, err
    assert png.read_bytes().startswith(b"\x89PNG")
    with xr.open_datatree(nc, engine="h5netcdf") as back:
        dt = back.load()
    assert {"posterior", "prior", "observed_data", "constant_data", "summary"} <= set(dt.children)
    want = bayescm.summary([[6, 2], [0, 26]], ["recall", "mcc"], random_seed=3)
    np.testing.assert_array_equal(dt["summary"]["interval"], want.interval)


def test_prevalence(capsys):
    options = ["--metrics", "ppv", "--json", "--seed", "1"]
    for text, point in (("0.01", None), ("2,198", None), ("fixed", 26 / 28)):
        code, out, err = run(capsys, *CELLS, "--prevalence", text, *options)
        assert code == 0, err
        got = records(out)["precision"]["point"]
        assert got == pytest.approx(point) if point else got < 0.1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--tp", "1"], "missing: --fn, --fp, --tn"),
        ([], "give a CSV file"),
        (["nowhere.csv"], "nowhere.csv"),
        ([*CELLS, "x.csv"], "give one of them"),
        ([*CELLS, "--by", "x"], "--by doesn't apply"),
        ([*CELLS, "--prior", "flattish"], "`prior`"),
        ([*CELLS, "--prior", "haldane"], "improper"),
        ([*CELLS, "--metrics", "recal"], "'recal'"),
        ([*CELLS, "--ci-prob", "95"], "`ci_prob`"),
        ([*CELLS, "--prevalence", "x"], "`--prevalence`"),
        ([*CELLS, "--save", "/nowhere/x.nc"], "/nowhere"),
        ([*CELLS, "--plot", "/nowhere/x.png"], "/nowhere"),
        (["--tp", "-1", "--fn", "0", "--fp", "2", "--tn", "6"], "negative"),
    ],
)
def test_errors_are_one_line_and_exit_2(capsys, arguments, words):
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert err.startswith("bayescm: error: ")
    assert len(err.splitlines()) == 1
    assert words in err
    assert "Traceback" not in out + err


@pytest.mark.parametrize(
    ("text", "extra", "words"),
    [
        ("", [], "empty"),
        ("actual,predicted,n\n", [], "no rows"),
        ("a,b\n1,2\n", [], "wanted are actual and predicted"),
        ("actual,predicted,n\n0,0,x\n1,1,2\n", [], "column 'n' has 'x' in row 1 of the table; wanted is a number"),
        ("actual,predicted,n\n0,0,1.5\n1,1,2\n", [], "Kish"),
        ("actual,predicted\nspam,\nham,ham\n", [], "column 'predicted' is empty in row 1"),
        ("actual,predicted,n\n0,0,1\n1,1,\n", [], "column 'n' is empty in row 2"),
        ("actual,predicted\n0,0\n1,1\n", ["--pos-label", "2"], "must be one of 0, 1"),
        ("actual,p,system\n0,1,a\n1,0,b\n", ["--score", "p", "--threshold", "1", "--by", "system"], "--by doesn't"),
        ("x,a,b\na,1,2\nb,3,4\n", ["--by", "x"], "--rows on the command line"),
        ("tp,fn,fp,tn\n1,2,3,4\n", ["--pos-label", "0"], "--pos-label doesn't apply to cells by name"),
        ("a\n1\n", [], "wanted are actual and predicted"),
        ("actual,p\n0,1\n", ["--score", "p"], "go together"),
        ("actual,p\n0,1\n1,0\n", ["--score", "q", "--threshold", "1"], "no column 'q'"),
        ("actual,p\n0,1\n1,x\n", ["--score", "p", "--threshold", "1"], "column 'p' has 'x' in row 2"),
    ],
)
def test_bad_files(capsys, tmp_path, text, extra, words):
    code, _, err = run(capsys, write(tmp_path / "bad.csv", text), *extra)
    assert code == 2
    assert words in err


def test_warnings_are_said(capsys):
    code, _, err = run(capsys, "--tp", "0", "--fn", "0", "--fp", "3", "--tn", "9", "--prior", "0.0001", "--seed", "1")
    assert code == 0
    assert "bayescm: warning: " in err


def test_usage_errors_exit_2():
    assert main(["summary", "--tp", "1.5"]) == 2


@pytest.mark.slow
def test_as_a_process(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "bayescm", "summary", *CELLS, "--metrics", "recall"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "recall" in done.stdout


def test_claims(capsys):
    claims = ["--prob", "mcc > 0.3", "--prob", "recall > .8 and precision > .7", "--prob", "deceptive"]
    code, out, err = run(capsys, *CELLS, "--metrics", "mcc", *claims)
    assert (code, err) == (0, "")
    assert "mcc > 0.3 " in out
    code, out, _ = run(capsys, *CELLS, "--metrics", "mcc", *claims, "--json")
    found = json.loads(out)["probabilities"]
    want = bayescm.probability([[6, 2], [0, 26]], claims[1::2])
    assert [row["claim"] for row in found] == claims[1::2]
    np.testing.assert_allclose([row["probability"] for row in found], want.probability)
    code, _, err = run(capsys, *CELLS, "--prob", "mcc ~ 3")
    assert code == 2
    assert "can't read 'mcc ~ 3'" in err


SCORES = "actual,score\n" + "\n".join(f"{y},{s}" for y, s in zip("0001010111", range(10), strict=True))


def command(capsys, *arguments):
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def test_region(capsys, tmp_path):
    point = ("--recall", ".8", "--precision", ".7")
    code, out, err = command(capsys, "region", *CELLS, "--method", "exact", *point, "--plot", str(tmp_path / "a.png"))
    assert (code, err) == (0, "")
    assert "hypothesised point" in out
    assert (tmp_path / "a.png").stat().st_size > 10_000
    code, out, _ = command(capsys, "region", *CELLS, "--method", "exact", *point, "--json")
    made = json.loads(out)
    want = bayescm.regions.region_level([[6, 2], [0, 26]], recall=0.8, precision=0.7, method="exact")
    assert made["test"][0]["p_value"] == pytest.approx(want.p_value.item())
    assert [row["level"] for row in made["regions"]] == [0.683, 0.954, 0.997]
    area = bayescm.regions.area([[6, 2], [0, 26]], method="exact")["area"].values
    np.testing.assert_allclose([row["area"] for row in made["regions"]], area, rtol=0.02)
    ends = made["regions"][1]
    assert ends["recall lower"] < ends["recall"] <= ends["recall upper"] == 1.0


def test_regions_of_systems_and_netcdf(capsys, tmp_path):
    rows = write(tmp_path / "systems.csv", "name,tp,fn,fp,tn\na,5,1,2,6\nb,0,0,0,0\n")
    saved = str(tmp_path / "a.nc")
    code, out, _ = command(capsys, "region", rows, "--space", "roc", "--json", "--save", saved)
    made = json.loads(out)
    assert code == 0
    assert [row["system"] for row in made["point"]] == ["a", "b"]
    assert made["point"][1]["tpr"] == "nan"
    assert made["regions"][-1]["area"] == pytest.approx(1.0)
    with xr.open_dataset(saved, engine="h5netcdf") as data:
        assert data.level.dims == ("system", "tpr", "fpr")


def test_regions_of_a_curve(capsys, tmp_path):
    scores = write(tmp_path / "scores.csv", SCORES)
    out_files = ("--plot", str(tmp_path / "a.png"), "--save", str(tmp_path / "a.nc"))
    for options in (("--method", "exact", "--grid", "101"), ("--method", "credible", "--prior", "laplace")):
        code, out, err = command(capsys, "curve", scores, "--band", "regions", "--mark", "4.5", *options, *out_files)
        assert (code, err) == (0, "")
        assert "pointwise" in out
        assert "4.5" in out
    with xr.open_dataset(tmp_path / "a.nc", engine="h5netcdf") as data:
        assert data.point.sizes["threshold"] == 10
    code, out, _ = command(capsys, "curve", scores, "--band", "regions", "--space", "roc", "--levels", ".5", "--json")
    made = json.loads(out)
    assert code == 0
    assert made["curve"][-1] == {"threshold": 0.0, "tn": 0, "fp": 5, "fn": 0, "tp": 5, "tpr": 1.0, "fpr": 1.0}
    assert 0 < made["band"][0]["area"] < 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("region", *CELLS, "--levels", "high"), "`--levels`"),
        (("region", *CELLS, "--recall", ".5"), "either `recall` and `precision`"),
        (("region", *CELLS, "--prior", "1"), "`prior` is for method='credible'"),
        (("region", *CELLS, "--grid", "1"), "`grid`"),
        (("curve", "absent.csv"), "absent.csv"),
    ],
)
def test_bad_planes(capsys, arguments, words):
    code, _, err = command(capsys, *arguments)
    assert code == 2
    assert words in err
