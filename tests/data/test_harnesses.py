"""Logs of six harnesses, and tables of one system: see tests/data/logs/README.md."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayescm

LOGS = Path(__file__).parent / "logs"
TWELVE = {
    "deepeval_4.3.1": "json", "mlflow_3.17.2": "json", "promptfoo": "json", "openai_evals_3.0.1": "jsonl",
}  # fmt: skip
WRONG = {"new": {5}, "old": {2, 5, 7, 9}}


def pair(folder):
    return {name: LOGS / folder / f"{name}.{TWELVE[folder]}" for name in WRONG}


def rows(n=6, **columns):
    return pd.DataFrame({"id": [f"q{i}" for i in range(n)], "correct": [1, 1, 0, 1, 0, 1][:n]} | columns)


def read(**each):
    return bayescm.read(each, about="systems").data


@pytest.mark.parametrize("folder", TWELVE)
def test_each_harness_is_read_as_its_systems_were_made_to_answer(folder):
    found = bayescm.read(pair(folder), about="systems")
    assert found.kind == "right and wrong answers to the same items"
    for name, wrong in WRONG.items():
        right = [int(i not in wrong) for i in range(1, 13)]
        assert found.data.predicted.sel(system=name).values.tolist() == right


@pytest.mark.parametrize("folder", TWELVE)
def test_a_log_alone_and_a_changed_truth(folder, tmp_path):
    path = pair(folder)["new"]
    assert bayescm.read(path).data.predicted.mean().item() == pytest.approx(11 / 12)
    changed = tmp_path / path.name
    changed.write_text(path.read_text().replace("3 + 3?", "3 + 30?").replace('"expected": "6"', '"expected": "7"'))
    if folder == "mlflow_3.17.2":  # whose items are what was asked
        assert read(new=path, old=changed).sizes["item"] == 11
    else:
        with pytest.raises(ValueError, match=r"another truth.*didn't answer the same items"):
            read(new=path, old=changed)


def test_the_older_two_go_through_the_same_door():
    found = bayescm.read(LOGS / "inspect_0.3.100", columns={"correct": "match"}).data
    same = bayescm.from_inspect(LOGS / "inspect_0.3.100", scorer="match")
    assert found.predicted.equals(same.predicted)
    path = next((LOGS / "lm_eval_0.4.13/model_1").glob("samples_words*"))
    with pytest.raises(ValueError, match="`filter` is needed"):
        bayescm.read(path)
    found = bayescm.read(path, columns={"correct": "exact_match,strict"}).data
    assert found.predicted.equals(bayescm.from_lm_eval(path, filter="strict").predicted)


def test_scores_by_name_errors_and_repeats(tmp_path):
    log = json.loads((LOGS / "promptfoo/new.json").read_text())
    with pytest.raises(ValueError, match="has no score 'similar'; it has 'exact'"):
        bayescm.read(LOGS / "promptfoo/new.json", columns={"correct": "similar"})
    results = log["results"]["results"]
    results[0] |= {"failureReason": 2, "success": False, "error": "timeout"}
    path = tmp_path / "p.json"
    path.write_text(json.dumps(log))
    with pytest.raises(ValueError, match="has no score for item 'sum 1'"):
        bayescm.read(path)
    assert bayescm.read(path, missing="wrong").data.predicted.sum() == 10
    results += [dict(one, success=False) for one in results[1:]] + [dict(results[0])]
    path.write_text(json.dumps(log))
    twice = bayescm.read(path, missing="wrong").data
    assert twice.sizes["run"] == 2
    assert twice.predicted.sel(item="sum 2").values.tolist() == [[1, 0]]


@pytest.mark.parametrize("write", [
    lambda frame, path: frame.to_csv(path.with_suffix(".csv"), index=False),
    lambda frame, path: frame.to_json(path.with_suffix(".jsonl"), orient="records", lines=True),
    lambda frame, path: frame.to_json(path.with_suffix(".json"), orient="records"),
    lambda frame, path: frame.to_parquet(path.with_suffix(".parquet")),
])  # fmt: skip
def test_tables_of_one_system_are_put_side_by_side_by_item(write, tmp_path):
    write(rows(), tmp_path / "new")
    write(rows().iloc[[3, 1, 0, 2, 5]].assign(correct=[True, False, True, True, True]), tmp_path / "old")
    new, old = (next(tmp_path.glob(f"{name}.*")) for name in ("new", "old"))
    found = read(new=new, old=old)
    assert found.item.values.tolist() == ["q0", "q1", "q2", "q3", "q5"]
    assert found.predicted.sel(system="new").values.tolist() == [1, 1, 0, 1, 1]
    assert found.predicted.sel(system="old").values.tolist() == [1, 0, 1, 1, 1]
    assert found.attrs["asks"] == "left out, as not all answered: 1 item of new"


def test_labels_tasks_units_and_runs(tmp_path):
    truth, said = list("abba"), list("abab")
    frame = pd.DataFrame(
        {"question": list("wxyz"), "truth": truth, "pred": said, "task": ["s", "s", "t", "t"], "doc": [1, 1, 2, 2]}
    )
    frame.to_csv(tmp_path / "n.csv", index=False)
    frame.assign(pred=truth).to_csv(tmp_path / "o.csv", index=False)
    kept = bayescm.read({"new": tmp_path / "n.csv", "old": tmp_path / "o.csv"}, unit="doc", pos_label="a").data
    assert kept.class_label.values.tolist() == ["b", "a"]
    assert kept.task.values.tolist() == ["s", "s", "t", "t"]
    assert kept.item.values.tolist() == ["s/w", "s/x", "t/y", "t/z"]
    assert kept.doc.values.tolist() == ["1", "1", "2", "2"]
    frame.assign(truth=list("aaba")).to_csv(tmp_path / "o.csv", index=False)
    with pytest.raises(ValueError, match=r"another true label for item 's/x'"):
        bayescm.read({"new": tmp_path / "n.csv", "old": tmp_path / "o.csv"}, pos_label="a")
    twice = pd.concat([rows(), rows(correct=[0] * 6)])
    twice.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(ValueError, match=r"up to 2 rows of each 'id'.*--item id.*--unit id"):
        bayescm.read(tmp_path / "t.csv", about="answers")
    runs = bayescm.read(tmp_path / "t.csv", about="answers", columns={"item": "id"}).data
    assert runs.predicted.isel(system=0).values.tolist() == [[1, 0], [1, 0], [0, 0], [1, 0], [0, 0], [1, 0]]
    units = bayescm.read(tmp_path / "t.csv", about="answers", unit="id").data
    assert units.sizes["item"] == 12
    assert len(np.unique(units.id)) == 6


def test_what_is_missing_is_said(tmp_path):
    frame = rows().astype({"correct": object})
    frame.loc[2, "correct"] = ""
    frame.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(ValueError, match=r"no answer in 1 rows, first for item 'q2'.*--missing wrong"):
        bayescm.read(tmp_path / "a.csv", about="answers")
    assert bayescm.read(tmp_path / "a.csv", about="answers", missing="wrong").data.predicted.sum() == 4
    rows().drop(columns="id").to_csv(tmp_path / "b.csv", index=False)
    assert "in their order" in read(new=tmp_path / "b.csv", old=tmp_path / "b.csv").attrs["asks"]
    with pytest.raises(ValueError, match="no item in common"):
        read(new=tmp_path / "b.csv", old=LOGS / "promptfoo/new.json")
    (tmp_path / "c.json").write_text("{not")
    with pytest.raises(ValueError, match=r"'c.json' can't be read as JSON"):
        bayescm.read(tmp_path / "c.json")
    with pytest.raises(ValueError, match="missing"):
        bayescm.read(tmp_path / "a.csv", missing="maybe")
