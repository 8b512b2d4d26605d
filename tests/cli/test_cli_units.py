"""``--unit`` on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

import bayescm
from bayescm.cli import main


@pytest.fixture
def lesions(tmp_path):
    rng = np.random.default_rng(1)
    patient = np.repeat(np.arange(12), rng.integers(1, 8, 12))
    y = rng.integers(0, 2, len(patient))
    a, b = (np.where(rng.random(len(y)) < p, y, 1 - y) for p in (0.9, 0.7))
    score = y + rng.standard_normal(len(y))
    frame = pd.DataFrame({"patient": patient, "actual": y, "a": a, "b": b, "score": score, "other": score**3 + y})
    frame.to_csv(tmp_path / "lesions.csv", index=False)
    return str(tmp_path / "lesions.csv"), frame


def told(capsys, *words):
    assert main([*words, "--unit", "patient", "--seed", "1", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_commands_answer_by_unit(lesions, capsys):
    file, frame = lesions
    y, unit = frame["actual"], frame["patient"]
    for average in ("items", "units"):
        rows = told(capsys, "summary", file, "--predicted", "a", "--metrics", "recall", "--average", average)["metrics"]
        wanted = bayescm.summary(y, frame["a"], "recall", unit=unit, average=average, random_seed=1)
        assert [rows[0]["lower"], rows[0]["upper"]] == pytest.approx(wanted["interval"].values[0])
    row = told(capsys, "compare", file, "--predicted", "a,b")["differences"][0]
    kept = bayescm.predictions(y, {"a": frame["a"], "b": frame["b"]}, unit=unit)
    pair = bayescm.compare_systems(kept, random_seed=1)["summary"]
    assert row["lower"] == pytest.approx(pair["interval"].values[0, 0, 0])
    areas = told(capsys, "compare", file, "--score", "score", "--score", "other")["areas"]
    scores = {"score": frame["score"], "other": frame["other"]}
    apart = bayescm.curves.auc_difference(y, scores, unit=unit, random_seed=1)
    assert areas[0]["upper"] == pytest.approx(apart["interval"].values[1])
    curve = told(capsys, "curve", file)
    assert {one["method"] for one in curve["quantities"]} == {"posterior"}
    assert curve["settings"]["units"] == 12


def test_units_need_items(capsys):
    assert main(["summary", "--tp", "3", "--fn", "1", "--fp", "2", "--tn", "4", "--unit", "patient"]) > 0
    assert "--unit doesn't apply" in capsys.readouterr().err
