"""Notebooks run from the top, in a copy."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import bayescm

FOLDER = Path(bayescm.__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks():
    assert [path.name for path in NOTEBOOKS] == [
        "01_first_steps.ipynb",
        "02_exact_laws.ipynb",
        "03_curves_and_regions.ipynb",
        "04_bayesian_workflow.ipynb",
        "05_folds.ipynb",
        "06_no_gold_standard.ipynb",
        "07_scores_to_decision.ipynb",
        "08_leaderboard.ipynb",
        "09_planning.ipynb",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
@pytest.mark.filterwarnings("ignore")  # the kernel is another process; nbclient's own warnings are not ours
def test_notebook_runs_and_is_stored_executed(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    assert any("image/png" in out.get("data", {}) for cell in code for out in cell.outputs)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
