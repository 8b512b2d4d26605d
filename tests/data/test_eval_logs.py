"""Logs that inspect_ai and lm-evaluation-harness wrote themselves: see tests/data/logs/README.md."""

import copy
import json
import shutil
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import bayescm

LOGS = Path(__file__).parent / "logs"
JSON = sorted((LOGS / "inspect_0.3.285").glob("*.json"))
ZSTANDARD = sorted((LOGS / "inspect_0.3.285").glob("*.eval"))
DEFLATED = sorted((LOGS / "inspect_0.3.100").glob("*.eval"))
HARNESS = LOGS / "lm_eval_0.4.13"
SUMS = {name: next((HARNESS / name).glob("samples_sums_*")) for name in ("model_1", "model_2")}
RIGHT = {
    "mockllm/alpha": [[1, 1], [1, 1], [1, 1], [1, 0], [1, 1], [1, 1]],
    "mockllm/beta": [[1, 1], [0, 1], [1, 0], [1, 0], [0, 0], [1, 1]],
}
"""What the models answered, item by item and epoch by epoch: counted by hand from what they were made to say."""


def stored(folder, name="log.json", model="m", status="success", values="CICI", epochs=1, target="4"):
    samples = [
        {"id": i, "epoch": epoch + 1, "target": target, "scores": {"match": {"value": value}}}
        for epoch in range(epochs)
        for i, value in enumerate(values)
    ]
    path = folder / name
    path.write_text(json.dumps({"status": status, "eval": {"model": model, "task": "sums"}, "samples": samples}))
    return path


def rewritten(folder, change):
    log = json.loads(JSON[0].read_text())
    change(log)
    path = folder / "changed.json"
    path.write_text(json.dumps(log))
    return path


@pytest.mark.parametrize("logs", [JSON, DEFLATED, DEFLATED[0].parent, str(DEFLATED[0].parent)])
@pytest.mark.parametrize("scorer", ["match", "includes"])
def test_inspect_is_read_as_the_models_were_made_to_answer(logs, scorer):
    found = bayescm.from_inspect(logs, scorer=scorer)
    assert found.predicted.dims == ("system", "item", "run")
    assert found.item.values.tolist() == [f"q{i}" for i in range(1, 7)]
    assert set(found.task.values) == {"sums"}
    for system, right in RIGHT.items():
        assert found.predicted.sel(system=system).values.tolist() == right


def test_the_share_of_right_answers_is_what_inspect_says():
    for path in JSON:
        said = json.loads(path.read_text())["results"]["scores"][0]["metrics"]["accuracy"]["value"]
        assert bayescm.from_inspect(path, scorer="match").predicted.mean() == pytest.approx(said)


def test_logs_in_zstandard_are_read_or_what_is_needed_is_said():
    if sys.version_info >= (3, 14) or find_spec("zipfile_zstd"):
        found = bayescm.from_inspect(ZSTANDARD, scorer="match")
        xr.testing.assert_identical(found.sortby("system"), bayescm.from_inspect(JSON, scorer="match").sortby("system"))
    else:
        with pytest.raises(ImportError, match=r"zipfile-zstd.*inspect log convert"):
            bayescm.from_inspect(ZSTANDARD, scorer="match")


def test_a_log_that_was_read_already_is_the_file():
    class Log:
        def model_dump(self, mode):
            assert mode == "json"
            return json.loads(JSON[0].read_text())

    xr.testing.assert_identical(
        bayescm.from_inspect([Log()], scorer="match"), bayescm.from_inspect(JSON[0], scorer="match")
    )


def test_boards_and_comparisons_take_it():
    found = bayescm.from_inspect(JSON, scorer="match")
    plain = bayescm.predictions([1] * 6, {name: np.array(RIGHT[name]) for name in found.system.values}, labels=[0, 1])
    for one in (found, plain):
        assert bayescm.leaderboard(one, draws=1000, random_seed=1).attrs["runs"] == 2
    xr.testing.assert_identical(
        bayescm.leaderboard(found, draws=1000, random_seed=1), bayescm.leaderboard(plain, draws=1000, random_seed=1)
    )
    found = bayescm.compare_systems(found, reference="mockllm/beta", random_seed=1)["summary"]
    assert found.point.item() == pytest.approx(4 / 12)


@pytest.mark.parametrize("runs", [1, 2])
def test_right_and_wrong_answers_have_an_accuracy_and_no_other_metric(runs):
    found = bayescm.from_inspect(JSON, scorer="match")
    found = found if runs == 2 else found.isel(run=0)
    table = bayescm.summary(found, random_seed=1)
    assert table.metric.values.tolist() == ["accuracy"]
    both = bayescm.summary(found, ["accuracy", "error_rate"], random_seed=1)
    np.testing.assert_allclose(both.point.sum("metric"), 1.0)
    np.testing.assert_allclose(both["mean"].sum("metric"), 1.0)
    for other in ("specificity", "f1", ["accuracy", "precision"], "matthews_correlation", {"a": "recall"}):
        for function in (bayescm.summary, bayescm.compare_systems):
            with pytest.raises(ValueError, match="right and wrong answers"):
                function(found, other)
    with pytest.raises(ValueError, match="only right and wrong answers are known; got 'f1'"):
        bayescm.leaderboard(found, metric="f1")
    board = bayescm.leaderboard(found, metric="error_rate", draws=1000, random_seed=1)
    np.testing.assert_allclose(board.point, both.point.sel(metric="error_rate"))


def test_answers_kept_one_by_one_are_their_numbers():
    found = bayescm.from_lm_eval(list(SUMS.values()), metric="acc")
    right = found.predicted.sum("item").values
    counted = bayescm.summary({"correct": right, "wrong": 8 - right})
    kept = bayescm.summary(found)
    np.testing.assert_array_equal(kept["interval"], counted["interval"])
    first = stats.beta(right[0] + 0.5, 8 - right[0] + 0.5)
    assert kept["mean"].values[0, 0] == pytest.approx(first.mean())
    assert bayescm.metric_distribution(found, "accuracy").sf(0.5)[0] == pytest.approx(first.sf(0.5))
    with pytest.raises(ValueError, match="several runs of an item"):
        bayescm.interval(bayescm.from_inspect(JSON, scorer="match"), "accuracy", "wilson")
    assert bayescm.summary([2, 1, 0], runs=2).metric.values.tolist() == ["accuracy"]
    with pytest.raises(ValueError, match="no other metric"):
        bayescm.summary([2, 1, 0], "f1", runs=2)


def test_the_harness_is_read_as_it_says():
    found = bayescm.from_lm_eval(list(SUMS.values()), metric="acc")
    assert found.predicted.mean("item").to_series().to_dict() == {"model_1": 0.25, "model_2": 0.375}  # its own table
    by_hand = {
        name: [int(json.loads(line)["acc"]) for line in path.read_text().splitlines()] for name, path in SUMS.items()
    }
    assert {name: found.predicted.sel(system=name).values.tolist() for name in SUMS} == by_hand
    board = bayescm.leaderboard(found, random_seed=1)
    assert board.point.to_series().to_dict() == {"model_2": 0.375, "model_1": 0.25}
    named = bayescm.from_lm_eval({"a": SUMS["model_1"], "b": SUMS["model_2"]}, metric="acc")
    assert named.system.values.tolist() == ["a", "b"]


def test_filters_and_tasks_of_the_harness(tmp_path):
    words = sorted(HARNESS.rglob("samples_words_*"))
    found = bayescm.from_lm_eval(words, filter="strict")
    assert found.sizes == {"item": 8, "system": 2, "class_label": 2}
    assert not found.predicted.any()
    for name, path in SUMS.items():
        (tmp_path / name).mkdir()
        shutil.copy(path, tmp_path / name)
        rows = [json.loads(line) | {"acc": 1.0} for line in path.read_text().splitlines()]
        other = tmp_path / name / "samples_more_sums_2026-11-22T21-55-47.065003.jsonl"
        other.write_text("\n".join(map(json.dumps, rows)) + "\n")
    both = bayescm.from_lm_eval(tmp_path, metric="acc")
    assert both.sizes["item"] == 16
    assert set(both.task.values) == {"sums", "more_sums"}
    assert both.item.values[0] == "more_sums/0"
    assert both.predicted.isel(item=both.task == "more_sums").all()


def test_right_says_what_counts(tmp_path):
    path = stored(tmp_path, values=[0.2, 0.9, None, "P"])
    found = bayescm.from_inspect(path, right=lambda value: value == "P" or (value or 0) > 0.5)
    assert found.predicted.values.tolist() == [[0, 1, 0, 1]]
    values = ["C", "I", "N", 1, 0, 1.0, True, False, "yes", "no", "1", "0"]
    found = bayescm.from_inspect(stored(tmp_path, values=values))
    assert found.predicted.values.tolist() == [[1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0]]


@pytest.mark.parametrize("value", [-0.1, 1.5, 2, "maybe", ["C"], {"a": 1}, float("inf")])
def test_what_is_neither_right_nor_wrong_is_refused(value, tmp_path):
    with pytest.raises(ValueError, match="neither right nor wrong, nor a score from 0 to 1: say what counts"):
        bayescm.from_inspect(stored(tmp_path, values=["C", value]))


@pytest.mark.parametrize("value", [None, float("nan")])
def test_no_score_is_no_wrong_answer(value, tmp_path):
    with pytest.raises(ValueError, match="has no score for item '1'"):
        bayescm.from_inspect(stored(tmp_path, values=["C", value]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda log: log.update(status="error"), "whose status is 'error'.*eval-retry"),
        (lambda log: log.pop("eval"), "is no log of inspect_ai"),
        (lambda log: log.update(samples=None), "has no samples"),
        (lambda log: log["samples"].append(copy.deepcopy(log["samples"][0])), "'q1'.*'mockllm/alpha' twice"),
        (lambda log: log["samples"].pop(), "has 1 runs of item 'q6'"),
        (lambda log: log["samples"][0].update(scores=None), "has no score for item 'q1'"),
    ],
)
def test_logs_that_are_not_whole(change, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        bayescm.from_inspect(rewritten(tmp_path, change), scorer="match")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: bayescm.from_inspect(JSON), "`scorer` is needed.*match.*includes"),
        (lambda d: bayescm.from_inspect(JSON, scorer="f1"), "`scorer` must be one of"),
        (lambda d: bayescm.from_inspect([JSON[0], JSON[0]], scorer="match"), "twice: give one"),
        (lambda d: bayescm.from_inspect({"a": stored(d, "a.json"), "b": stored(d, "b.json", values="CI")}),
         "no answer of 'b' to item '2'"),
        (lambda d: bayescm.from_inspect({"a": stored(d, "a.json", values="C"), "b": stored(d, "b.json")}),
         "no answer of 'a' to item '1'"),
        (lambda d: bayescm.from_inspect({"a": stored(d, "a.json"), "b": stored(d, "b.json", target="5")}),
         "another truth"),
        (lambda d: bayescm.from_inspect(d), "has no files that are called like logs"),
        (lambda d: bayescm.from_inspect(d / "absent.eval"), "no file or folder"),
        (lambda d: bayescm.from_inspect([]), "must be a path"),
        (lambda d: bayescm.from_inspect(3), "must be a path"),
        (lambda d: bayescm.from_inspect(SUMS["model_1"]), "can't be read as JSON"),
        (lambda d: bayescm.from_lm_eval(SUMS["model_1"]), "`metric` is needed.*acc"),
        (lambda d: bayescm.from_lm_eval(SUMS["model_1"], metric="f1"), "`metric` must be one of"),
        (lambda d: bayescm.from_lm_eval(HARNESS / "model_1", metric="exact_match"), "`metric` must be one of"),
        (lambda d: bayescm.from_lm_eval(next(HARNESS.rglob("*words*"))), "`filter` is needed.*strict.*flexible"),
        (lambda d: bayescm.from_lm_eval(SUMS["model_1"], metric="acc", filter="strict"), "`filter` must be one of"),
        (lambda d: bayescm.from_lm_eval(JSON[0]), "no file of samples"),
        (lambda d: bayescm.from_lm_eval({"a": SUMS["model_1"], "b": next(HARNESS.rglob("*words*"))}, metric="doc_id"),
         "`filter` is needed|neither right nor wrong"),
    ],
)  # fmt: skip
def test_what_is_refused(call, message, tmp_path):
    with pytest.raises((ValueError, TypeError, FileNotFoundError), match=message):
        call(tmp_path)


def test_other_epochs_of_other_systems_are_shares(tmp_path):
    two, one = stored(tmp_path, "two.json", "two", epochs=2), stored(tmp_path, "one.json", "one", values="CCCI")
    found = bayescm.from_inspect([two, one])
    assert found.predicted.mean(("item", "run")).to_series().to_dict() == {"two": 0.5, "one": 0.75}


def test_a_zip_that_is_no_log(tmp_path):
    path = tmp_path / "other.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", "{}")
    with pytest.raises(ValueError, match="without a header and summaries"):
        bayescm.from_inspect(path)
