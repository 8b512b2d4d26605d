"""Gates by areas under curves: verdicts, items by name, floors, tasks and units, and what is refused."""

import numpy as np
import pandas as pd
import pytest

import bayescm
from bayescm.cli import main


def table(rng, n, shift, noise, names=None, task=None):
    actual = rng.integers(0, 2, n)
    frame = pd.DataFrame({"item": names or [f"q{i}" for i in range(n)], "actual": actual})
    easy = rng.normal(size=n)
    made = []
    for of_system, sd in zip(shift, noise, strict=True):
        made.append(frame.assign(score=actual * of_system + easy + sd * rng.normal(size=n)))
        if task is not None:
            made[-1]["task"] = task
    return made


@pytest.mark.parametrize(("metric", "recalls"), [("auc", None), ("aucpr", (0, 1))])
def test_the_difference_is_that_of_auc_difference(metric, recalls):
    new, old = table(np.random.default_rng(1), 120, (1.5, 1.0), (0.3, 0.6))
    found = bayescm.gate(new, old.sample(frac=1, random_state=2), metric)
    scores = {"new": new["score"], "old": old["score"]}
    other = bayescm.curves.auc_difference(new["actual"], scores, draws=20_000, random_seed=3, recall_range=recalls)
    assert found["point"].item() == pytest.approx(float(other["point"]))
    assert found["interval"].values[0] == pytest.approx(other["interval"].values, abs=0.006)
    assert found["probability"].item() == pytest.approx(float(other["probability_better"]), abs=0.01)
    assert found["n_items"].item() == 120


def test_verdicts():
    rng = np.random.default_rng(5)
    new, old = table(rng, 400, (3.0, 0.3), (0.1, 0.5))
    assert bayescm.gate(new, old, "auc").attrs["verdict"] == "better"
    assert bayescm.gate(old, new, "auc").attrs["verdict"] == "worse"
    same = bayescm.gate(new, new, "auc", margin=0.01)
    assert (same.attrs["verdict"], same["point"].item(), same["sd"].item()) == ("not worse", 0.0, 0.0)
    one, other = table(rng, 30, (1.0, 1.0), (0.5, 0.5))
    undecided = bayescm.gate(one, other, "auc")
    assert undecided.attrs["verdict"] == "undecided"
    assert undecided["more"].item() > 0


@pytest.mark.slow
def test_equal_systems_are_rarely_told_apart():
    rng = np.random.default_rng(8)
    verdicts = [bayescm.gate(*table(rng, 80, (1.0, 1.0), (0.7, 0.7)), "auc").attrs["verdict"] for _ in range(40)]
    assert sum(verdict != "undecided" for verdict in verdicts) <= 7  # P(more than 7 of 40 at 5%) = .0007


def test_floors_tasks_and_units():
    rng = np.random.default_rng(6)
    task = np.repeat(["easy", "hard"], 100)
    new, old = table(rng, 200, (3.0, 2.5), (0.1, 0.1), task=task)
    found = bayescm.gate(new, old, "auc", by="task", require="auc >= .8")
    assert found["task"].values.tolist() == ["all", "all", "easy", "hard"]
    assert found["verdict"].values[1] == "met"
    assert bayescm.gate(new, require="auc > .5").attrs["verdict"] == "met"
    for one in (new, old):
        one["doc"] = np.arange(200) // 10
    by_doc = bayescm.gate(new, old, "auc", unit="doc")
    assert "docs" in by_doc.attrs["assumptions"]
    assert by_doc["sd"].item() != found["sd"].values[0]


def test_what_is_refused():
    new, old = table(np.random.default_rng(7), 20, (1.0, 1.0), (0.1, 0.1))
    with pytest.raises(ValueError, match="auc is of scores and f1 of answers"):
        bayescm.gate(new, old, ["auc", "f1"])
    with pytest.raises(ValueError, match="one of scores"):
        bayescm.gate(new.drop(columns="score"), old, "auc")
    with pytest.raises(ValueError, match="have no item in common"):
        bayescm.gate(new, old.assign(item=[f"p{i}" for i in range(20)]), "auc")
    with pytest.raises(ValueError, match="another true label"):
        bayescm.gate(new, old.assign(actual=1 - old["actual"]), "auc")
    with pytest.raises(ValueError, match="several rows of an item"):
        bayescm.gate(pd.concat([new, new]), old, "auc")
    with pytest.raises(ValueError, match="only the class 1"):
        bayescm.gate(new[new["actual"] == 1], old, "auc")
    with pytest.raises(ValueError, match="`missing` doesn't apply to scores"):
        bayescm.gate(new, old, "auc", missing="wrong")
    with pytest.raises(ValueError, match="`unit` must be one column"):
        bayescm.gate(new, old, "auc", unit=("item", "actual"))
    with pytest.raises(ValueError, match="written like"):
        bayescm.gate(new, require="auc >= 80")
    task = ["a", "b"] * 10
    with pytest.raises(ValueError, match="gate them one after the other"):
        bayescm.gate(new.assign(task=task), old.assign(task=task), "auc", by="task", rules={"*": {"metrics": "f1"}})


def test_one_file_or_two_on_the_command_line(tmp_path, capsys):
    new, old = table(np.random.default_rng(5), 400, (3.0, 0.3), (0.1, 0.5))
    new.to_csv(tmp_path / "new.csv", index=False)
    old.rename(columns={"score": "p"}).to_csv(tmp_path / "old.csv", index=False)
    both = pd.concat([new.assign(system="v2"), old.assign(system="v1")])
    both.to_csv(tmp_path / "both.csv", index=False)
    assert main(["gate", str(tmp_path / "new.csv"), str(tmp_path / "old.csv"), "--metrics", "auc"]) == 0
    assert "Passes, better: new - old in auc is +0." in capsys.readouterr().out
    assert main(["gate", str(tmp_path / "both.csv"), "--metrics", "auc", "--reference", "v2"]) == 3
    assert "Fails, worse: v1 - v2 in auc" in capsys.readouterr().out
    assert main(["gate", str(tmp_path / "new.csv"), "--require", "auc >= .99"]) == 3
