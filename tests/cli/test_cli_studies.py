"""``bayescm synthesis``, ``gaps`` and ``drift``, as a person types them."""

import json

import numpy as np
import pandas as pd
import pytest

import bayescm
from bayescm.cli import main

ROWS = pd.DataFrame({"name": list("abcd"), "tp": [25, 17, 88, 16], "fn": [8, 4, 16, 10], "fp": [1, 3, 16, 3],
                     "tn": [25, 11, 31, 80]})  # fmt: skip


@pytest.fixture
def file(tmp_path):
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    return str(tmp_path / "rows.csv")


@pytest.mark.slow
def test_synthesis_says_what_python_says(capsys, file, tmp_path):
    picture = tmp_path / "sroc.svg"
    assert main(["synthesis", file, "--seed", "1", "--prevalence", "0.1", "--json", "--plot", str(picture)]) == 0
    assert "summary ROC curve" in picture.read_text()
    made = json.loads(capsys.readouterr().out)["estimates"]
    want = bayescm.synthesis(ROWS, prevalence=0.1, random_seed=1)["summary"]
    np.testing.assert_allclose([row["lower"] for row in made], want["interval"][..., 0].values.ravel())
    assert [row["estimate"] for row in made][::7] == ["median study", "mean of studies", "next study"]
    assert main(["synthesis", file, "--model", "three_binomial"]) == 2
    assert "--model" in capsys.readouterr().err


@pytest.mark.slow
def test_synthesis_takes_covariates(capsys, tmp_path):
    path, picture = str(tmp_path / "rows.csv"), tmp_path / "sroc.svg"
    table = ROWS.assign(design=["a", "b", "a", "b"], year=[1, 2, 3, 4])
    table.to_csv(path, index=False)
    asked = ["synthesis", path, "--seed", "1", "--metrics", "recall"]
    assert main([*asked, "--covariates", "design", "--json", "--plot", str(picture)]) == 0
    made = json.loads(capsys.readouterr().out)["estimates"]
    want = bayescm.synthesis(table, "recall", covariates="design", random_seed=1)["summary"]
    assert made[3]["at"] == "design=b"
    assert made[3]["difference"] == float(want["difference"][1, 0, 0])
    assert "design=b, 95% at each rate" in picture.read_text()
    assert main([*asked, "--covariates", "nothing"]) == 2
    assert "no column 'nothing'" in capsys.readouterr().err


@pytest.mark.slow
def test_synthesis_takes_right_answers(capsys, tmp_path):
    path = str(tmp_path / "right.csv")
    table = pd.DataFrame({"study": list("abcde"), "correct": [25, 17, 88, 16, 4], "wrong": [8, 4, 16, 10, 0]})
    table.to_csv(path, index=False)
    assert main(["synthesis", path, "--seed", "1", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)["estimates"]
    want = bayescm.synthesis(table, random_seed=1)["summary"]
    assert [one["metric"] for one in made] == ["accuracy"] * 3
    assert made[0]["median"] == float(want["median"][0, 0])


@pytest.mark.slow
def test_gaps_say_what_python_says(capsys, file, tmp_path):
    assert main(["gaps", file, "--seed", "1", "--metrics", "recall", "--rope", "0.1", "--pooled", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)["gaps"]
    want = bayescm.gaps(ROWS, metrics="recall", rope=0.1, pooled=True, random_seed=1)
    assert made[0]["probability_within"] == float(want["probability_within"][0])
    assert main(["gaps", file, "--seed", "1", "--save", str(tmp_path / "gaps.nc")]) == 0
    assert "Largest gap of 4 groups" in capsys.readouterr().out
    assert (tmp_path / "gaps.nc").exists()


def test_drift_says_what_python_says_of_matrices_items_and_right_answers(capsys, file, tmp_path):
    picture, path = tmp_path / "drift.svg", tmp_path / "weeks.csv"
    assert main(["drift", file, "--seed", "1", "--metrics", "recall", "--json", "--plot", str(picture)]) == 0
    made = json.loads(capsys.readouterr().out)["periods"]
    want = bayescm.drift(ROWS, "recall", random_seed=1)
    assert [row["probability_worse"] for row in made] == want["probability_worse"].values.tolist()
    assert picture.exists()
    pd.DataFrame({"week": [9, 10, 11], "correct": [95, 94, 70], "wrong": [5, 6, 30]}).to_csv(path, index=False)
    assert main(["drift", str(path), "--seed", "1"]) == 0
    assert "Accuracy in period 11 is 0.70" in capsys.readouterr().out
    items = pd.DataFrame(
        {"week": np.repeat([9, 10, 11], 40), "actual": [0, 1] * 60, "predicted": [0, 1] * 40 + [0] * 40}
    )
    items.to_csv(path, index=False)
    assert main(["drift", str(path), "--by", "week", "--seed", "1"]) == 0
    assert "worse since week 11" in capsys.readouterr().out


def test_readers_say_what_python_says(capsys, tmp_path):
    study = bayescm.datasets.van_dyke1993()
    path = str(tmp_path / "readings.csv")
    study.to_dataframe().reset_index().rename(columns={"rating": "confidence"}).to_csv(path, index=False)
    assert main(["readers", path, "--seed", "1", "--difference", "0.05", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)["estimates"]
    want = bayescm.readers(study.truth, study.rating, random_seed=1)
    np.testing.assert_allclose([float(row["p_value"]) for row in made], want.p_value.values.ravel(), rtol=1e-9)
    assert main(["readers", path, "--score", "nothing"]) == 2
    assert "no column 'nothing'" in capsys.readouterr().err
    assert main(["readers", path, "--seed", "1", "--plot", str(tmp_path / "picture.svg")]) == 0
    assert "For other readers and cases." in " ".join(capsys.readouterr().out.split())
