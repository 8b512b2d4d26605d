"""The recipe of docs/results.md logs what MLflow accepts: into MLflow where it is there, else by its rules."""

import re
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import pytest

import bayescm

PAGE = Path(bayescm.__file__).parents[1] / "docs" / "results.md"
RECIPE = re.search(r"## Into MLflow\n.*?```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
NAME = re.compile(r"[/\w.\- ]*")  # letters, digits, underscores, dashes, periods, spaces, slashes


@pytest.fixture
def found():
    return bayescm.summary([[5, 1, 2], [3, 9, 1], [1, 2, 8]], ["recall", "f1", "accuracy"])


def run(found):
    assert RECIPE is not None
    exec(compile(RECIPE[1], str(PAGE), "exec"), {"bayescm": bayescm, "found": found})
    plt.close("all")


def check(metrics, found):
    table = found.bayescm.table()
    assert len(metrics) == 3 * len(table)
    for metric, row in table.iterrows():
        for part in ("point", "lower", "upper"):
            name = metric.replace("[", ".").replace("]", "")
            assert metrics[f"{name}/{part}"] == row[part]


def test_what_is_logged_keeps_the_documented_rules(found, monkeypatch):
    logged = {}
    stub = SimpleNamespace(
        start_run=nullcontext, log_metrics=lambda metrics: logged.update(metrics=metrics),
        set_tags=lambda tags: logged.update(tags=tags), log_text=lambda text, file: logged.update({file: text}),
        log_figure=lambda figure, file: logged.update({file: figure}),
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "mlflow", stub)
    run(found)
    check(logged["metrics"], found)
    assert all(NAME.fullmatch(name) for name in logged["metrics"])
    assert all(type(value) is float for value in logged["metrics"].values())
    assert logged["tags"]["sentence"] == found.bayescm.sentence
    assert {"summary.md", "forest.png"} <= set(logged)


@pytest.mark.filterwarnings("ignore")  # those of MLflow's own imports
def test_mlflow_itself_gives_the_numbers_back(found, tmp_path, monkeypatch):
    mlflow = pytest.importorskip(
        "mlflow", reason="too heavy for the development environment: pip install mlflow-skinny"
    )
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    run(found)
    stored = mlflow.last_active_run()
    check(stored.data.metrics, found)
    assert stored.data.tags["sentence"] == found.bayescm.sentence
    kept = {path.name for path in (tmp_path / "runs").rglob("*") if path.is_file()}
    assert {"summary.md", "forest.png"} <= kept
