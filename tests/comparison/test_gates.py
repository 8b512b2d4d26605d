"""Gates: verdicts, exit codes, what is written."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayescm
from bayescm.cli import main
from bayescm.results.gates import changes

LOGS = Path(__file__).parents[1] / "data" / "logs"
NEW, OLD = ([1] * 90 + [0] * 10, [1] * 84 + [0] * 16)


def marks(both, first, second, none):
    """Return right answers of the new and of the old system: 40, 8, 2, 10 of both, one alone, none."""
    new = [1] * (both + first) + [0] * (second + none)
    return new, [1] * both + [0] * first + [1] * second + [0] * none


def one(found, row=0):
    return found.isel(check=row)


def test_the_posterior_is_that_of_the_discordant_items():
    found = one(bayescm.gate(*marks(80, 12, 3, 5), margin=0.02))
    same = bayescm.compare_systems([1] * 100, dict(zip(("n", "o"), marks(80, 12, 3, 5), strict=True)), rope=0.02)
    table = same["summary"].isel(comparison=0, metric=0)
    assert found.interval.values == pytest.approx(table.interval.values, abs=1e-12)
    assert float(found.probability) == pytest.approx(1 - float(table.probability.sel(side="worse")), abs=1e-12)
    better = one(bayescm.gate(*marks(80, 12, 3, 5)))
    assert float(better.probability) == pytest.approx(stats.beta.sf(0.5, 13, 4), abs=1e-9)


@pytest.mark.parametrize(("counts", "margin", "verdict", "passed"), [
    ((80, 12, 2, 6), None, "better", 1), ((80, 2, 12, 6), None, "worse", 0), ((80, 4, 5, 11), None, "undecided", 1),
    ((80, 4, 5, 11), 0.02, "undecided", 0), ((900, 20, 22, 58), 0.03, "not worse", 1),
    ((900, 5, 25, 70), 0.05, "not worse", 1), ((900, 5, 25, 70), 0.01, "worse", 0),
])  # fmt: skip
def test_verdicts_and_what_passes(counts, margin, verdict, passed):
    found = bayescm.gate(*marks(*counts), margin=margin)
    assert (found.attrs["verdict"], found.attrs["passed"]) == (verdict, passed)
    for undecided in ("pass", "fail"):
        other = bayescm.gate(*marks(*counts), margin=margin, undecided=undecided)
        wanted = int(undecided == "pass") if verdict == "undecided" else passed
        assert other.attrs["passed"] == wanted


def test_tasks_share_the_level_and_rules_are_their_own():
    n, rng = 400, np.random.default_rng(3)
    task = np.repeat(["a", "b"], n // 2)
    old = rng.random(n) < 0.9
    new = np.where(task == "b", rng.random(n) < 0.7, old)
    kept = bayescm.predictions([1] * n, {"new": new.astype(int), "old": old.astype(int)}, labels=[0, 1])
    kept = kept.assign_coords(task=("item", task), item=[str(i) for i in range(n)]).assign_attrs(of_one_class=1)
    found = bayescm.gate(kept, reference="old", by="task", rules={"a": {"margin": 0.05, "require": "accuracy > .8"}})
    assert found.task.values.tolist() == ["all", "a", "a", "b"]
    assert found.verdict.values.tolist() == ["worse", "not worse", "met", "worse"]
    assert found.attrs["ci_prob_each"] == pytest.approx(0.95 ** (1 / 3))
    assert found.attrs["ci_prob_margin"] == 0.95
    with pytest.raises(ValueError, match=r"has a task 'c'.*'a', 'b'"):
        bayescm.gate(kept, reference="old", by="task", rules={"c": {}})
    with pytest.raises(ValueError, match="may say metrics, margin"):
        bayescm.gate(kept, reference="old", by="task", rules={"a": {"floor": 1}})


def test_items_by_name_and_flaky_ones():
    found = bayescm.gate(LOGS / "inspect_0.3.100", reference="mockllm/beta", columns={"correct": "match"})
    assert changes(found) == {"broken": [], "mended": ["q2", "q3", "q5"], "flaky": ["q2", "q3", "q4"]}
    assert "share" not in bayescm.gate((9, 10), (8, 10))


@pytest.mark.slow
def test_more_items_decide_four_times_in_five():
    start = one(bayescm.gate(*marks(80, 8, 4, 8)))
    n = 100 + int(start.more)
    rng, decided = np.random.default_rng(1), 0
    for _ in range(60):
        counts = rng.multinomial(n, [0.8, 0.08, 0.04, 0.08])
        found = one(bayescm.gate(*marks(*counts)))
        decided += str(found.verdict.item()) == "better"
    assert stats.binom.cdf(decided, 60, 0.7) > 1e-3
    assert stats.binom.sf(decided - 1, 60, 0.95) > 1e-3


@pytest.mark.parametrize(("given", "words"), [
    (((9, 10),), "Nothing is asked"),
    (((11, 10), (3, 10)), "k right of n"),
    (([1, 0, 1], [1, 0]), "3 and `old` has 2 items"),
    ((), "new"),
])  # fmt: skip
def test_nonsense_is_said(given, words):
    with pytest.raises((ValueError, TypeError), match=words):
        bayescm.gate(*given)


@pytest.mark.parametrize("value", [float("nan"), -0.1, "x", True])
def test_margins_are_numbers(value):
    with pytest.raises((ValueError, TypeError), match="margin"):
        bayescm.gate(NEW, OLD, margin=value)


@pytest.fixture
def files(tmp_path):
    for name, right in zip(("new", "old"), marks(80, 2, 12, 6), strict=True):
        pd.DataFrame({"id": [f"q{i}" for i in range(100)], "correct": right}).to_csv(
            tmp_path / f"{name}.csv", index=False
        )
    return [str(tmp_path / f"{name}.csv") for name in ("new", "old")]


def test_exit_codes_and_files(files, tmp_path, capsys):
    new, old = files
    junit, summary = tmp_path / "gate.xml", tmp_path / "summary.md"
    assert main(["gate", new, old, "--junit", str(junit), "--summary", str(summary)]) == 3
    printed = capsys.readouterr().out
    assert printed.startswith("Fails, worse: new - old in accuracy is -10.0 points")
    assert max(map(len, printed.splitlines())) <= 80
    assert ET.parse(junit).getroot().attrib["failures"] == "1"
    assert summary.read_text().startswith("### Gate failed: worse")
    assert main(["gate", old, new]) == 0
    assert main(["gate", new, old, "--markdown"]) == 3
    assert "broken | 12" in capsys.readouterr().out
    assert main(["gate", new, old, "--json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert document["verdict"] == "worse"
    assert document["items"]["broken"][0] == "q82"
    assert main(["gate", new, "--min-accuracy", ".7"]) == 0
    assert main(["gate", new, "--min-accuracy", ".82"]) == 3
    assert main(["gate", new]) == 2
    assert main(["gate", "--correct", "96", "--n", "120", "--old-correct", "90", "--old-n", "120"]) == 0
    assert main(["gate", "--correct", "96", "--n", "120", "--old-correct", "90"]) == 2
    assert main(["gate", new, str(tmp_path / "none.csv")]) == 2


def test_settings_in_a_file_and_twice_the_same(files, tmp_path, capsys):
    new, old = files
    (tmp_path / "gate.toml").write_text(f'new = "{old}"\nold = "{new}"\nmargin = 0.02\nmin_accuracy = 0.8\n')
    printed = []
    for _ in range(2):
        assert main(["gate", "--config", str(tmp_path / "gate.toml")]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert "accuracy >= 0.8" in printed[0]
    (tmp_path / "gate.toml").write_text("floor = 1\n")
    assert main(["gate", new, "--config", str(tmp_path / "gate.toml")]) == 2
    assert "has 'floor'" in capsys.readouterr().err


def test_the_report_is_one_page(tmp_path):
    found = bayescm.gate(NEW, OLD, margin=0.02)
    assert bayescm.report(found, file=tmp_path / "gate.html").startswith("Passes, ")
    page = (tmp_path / "gate.html").read_text()
    assert "not worse where the probability reaches the level" in page
    assert "JAMA 308" in page


def test_frames_are_read_as_files_are(tmp_path):
    rng = np.random.default_rng(1)
    frames = {}
    for name, chance in (("new", 0.8), ("old", 0.6)):
        items = np.repeat([f"t{i}" for i in range(30)], 3)
        frame = pd.DataFrame({"item": items, "run": np.tile(range(3), 30), "correct": (rng.random(90) < chance) * 1})
        frames[name] = frame.sample(frac=1, random_state=2)
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    for metrics in ("accuracy", "pass^3"):
        found = bayescm.gate(frames["new"], frames["old"], metrics)
        files = bayescm.gate(tmp_path / "new.csv", tmp_path / "old.csv", metrics)
        assert found.attrs["verdict"] == files.attrs["verdict"]
        np.testing.assert_allclose(found["point"], files["point"], rtol=1e-12)
    labels = pd.DataFrame({"y_true": [0, 1, 1, 0], "y_pred": [0, 1, 0, 0]})
    assert bayescm.gate(labels, labels)["n_items"].item() == 4


def test_both_by_name_and_beside_the_truth():
    truth = np.random.default_rng(2).integers(0, 2, 50)
    new, old = np.where(np.arange(50) < 40, truth, 1 - truth), np.where(np.arange(50) > 18, truth, 1 - truth)
    found = bayescm.gate(new == truth, old == truth)
    for beside in (
        bayescm.gate(truth, {"new": new, "old": old}),
        bayescm.gate(truth, {"a": new, "b": old}, reference="b"),
    ):
        np.testing.assert_array_equal(beside["interval"], found["interval"])
    counts = {"old": [[50, 10], [5, 35]], "new": [[52, 8], [4, 36]]}
    apart = bayescm.gate(counts["new"], counts["old"])
    np.testing.assert_array_equal(bayescm.gate(counts)["interval"], apart["interval"])
