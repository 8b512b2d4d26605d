"""Notebooks run from the top, in a copy, and print what is stored in them.

``python tests/test_notebooks.py`` runs them and stores those that print something else by now (names as arguments:
only these; ``--all``: whether or not they do). It runs the papers' notebooks in full; the tests run them in a small
form, whose cells that name FULL may show other simulations of what is stored.
"""

import html
import os
import re
import sys
import tempfile
from pathlib import Path

import forked_kernels
import nbformat
import pytest
from nbclient import NotebookClient
from traitlets.config import Config

import bayescm

FOLDER = Path(bayescm.__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
PAPERS = sorted((FOLDER / "papers").glob("*.ipynb"))
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?(?![\w])|\b(?:nan|inf)\b", re.IGNORECASE)
CHANGES = (  # what may differ from run to run and from machine to machine
    (re.compile(r"0x[0-9a-f]{6,}"), "ADDRESS"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT[\d:.+]+"), "TIME"),
    (re.compile(r"\b\d+\.\d+\.\d+[\w.+]*"), "VERSION"),
    (re.compile(r"\b\d+(\.\d+)? ?(ms|s|sec|seconds|minutes|B|kB|MB)\b"), "SIZE"),
    (re.compile(r"<Figure size [^>]*>"), ""),
    (re.compile(r"NUTS: R-hat is [^\n]*"), ""),  # what one stream of it says, and another one not
)
MARKS = dict.fromkeys(("06_no_gold_standard", "12_prior_to_leaderboard"), pytest.mark.long)  # they compile for minutes
OF_NUTS = re.compile(r"nuts|sampler\b|latent_class", re.IGNORECASE)
OF_SIZE = re.compile(r"\bFULL\b(?! =)")


def of_nuts(cells):
    """Say of each cell whether it may show draws of NUTS, which depend on the compiled code: from the first on."""
    sampled = [bool(OF_NUTS.search(cell.source)) for cell in cells]
    return [any(sampled[: i + 1]) for i in range(len(cells))]


def shown(cell):
    """Return what a cell shows, as text: what it prints, and its tables; no pictures, nothing of the standard error."""
    texts = ["".join(one.text for one in cell.outputs if one.output_type == "stream" and one.name == "stdout")]
    for one in cell.outputs:
        data = one.get("data", {})
        texts.append(data.get("text/plain", ""))
        page = re.sub(r"<(style|svg)\b.*?</\1>", "", data.get("text/html", ""), flags=re.DOTALL)
        texts.append(html.unescape(re.sub(r"<[^>]+>", " ", page)))
    for pattern, word in CHANGES:
        texts = [pattern.sub(word, text) for text in texts]
    return "\n".join(texts)


def words_and_numbers(text):
    """Return the words of a text, # for each number, and its numbers as they are written."""
    return re.sub(r"[-\s]+", " ", NUMBER.sub(" # ", text)).split(), NUMBER.findall(text)


def near(stored, now, *, drawn):
    """Say whether two written numbers are one: but for two units of the last digit, or for other draws."""
    if stored == now:
        return True
    a, b = (float(text.replace(",", "")) for text in (stored, now))
    if drawn:
        return abs(a - b) <= 0.1 + 0.3 * max(abs(a), abs(b))
    mantissa, _, exponent = stored.lower().partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(a - b) <= 2.0001 * (unit if "." in mantissa or exponent else 0.0)


OF_ARVIZ = "There has been a warning during the calculation. Please check the results."


def differ(stored, now, *, drawn):
    """Say how two texts differ; None where they don't. Of other draws, 3 of 10 numbers and 2 of 10 words may."""
    if drawn:  # whether ArviZ warns of one k in a thousand is the processor's rounding
        stored, now = (text.replace(OF_ARVIZ, "") for text in (stored, now))
    (words, numbers), (new_words, new_numbers) = words_and_numbers(stored), words_and_numbers(now)
    if drawn:
        wrong = set(words) ^ set(new_words)
        if len(wrong) > 0.2 * len(set(words) | set(new_words)):
            return f"other words: {sorted(wrong)}"
    elif words != new_words:
        first = next((i for i, pair in enumerate(zip(words, new_words, strict=False)) if pair[0] != pair[1]), -1)
        return f"other words, from {words[first : first + 5]} to {new_words[first : first + 5]}"
    pairs = list(zip(numbers, new_numbers, strict=False))
    far = [pair for pair in pairs if not near(*pair, drawn=drawn)]
    if len(far) > 0.3 * len(pairs) if drawn else far:
        return "other numbers: " + "; ".join(f"{a} is now {b}" for a, b in far[:5])
    return None


def differences(stored, now, *, full):
    """Return what each cell of a notebook shows otherwise than is stored, in full or in the small form."""
    pairs = zip(stored.cells, now.cells, of_nuts(stored.cells), strict=True)
    found = [
        (i, differ(shown(a), shown(b), drawn=drawn or (not full and bool(OF_SIZE.search(a.source)))))
        for i, (a, b, drawn) in enumerate(pairs)
        if a.cell_type == "code"
    ]
    return [f"cell {i} shows {said}" for i, said in found if said]


def executed(path, folder, *, full):
    """Return the notebook as it is stored, and as it is after a run in a folder, in full or in the small form."""
    stored, now = (nbformat.read(path, as_version=4) for _ in range(2))
    options = {"timeout": 7200 if full else 900, "record_timing": False, "resources": {"metadata": {"path": folder}}}
    env = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}  # pictures into the notebook
    env["BAYESCM_PAPERS_FULL"] = str(int(full))
    with tempfile.TemporaryDirectory() as sockets:  # of ports, two kernels that start at once may take the same
        channels = Config({"KernelManager": {"transport": "ipc", "ip": f"{sockets}/kernel"}})
        client = NotebookClient(now, config=channels, kernel_manager_class=forked_kernels.Kernels, **options)
        client.execute(env=env)
    return stored, now


def refresh(names, *, every=False):
    """Run notebooks and store those that show something else."""
    for path in NOTEBOOKS + PAPERS:
        if names and path.stem not in names and path.name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            stored, now = executed(path, folder, full=True)
        found = differences(stored, now, full=True)
        print(path.name, *(found or ["as stored"]), sep="\n  ", flush=True)
        if found or every:
            now.metadata = stored.metadata
            for cell in (one for one in now.cells if one.cell_type == "code"):  # no notice of kernels, no path
                cell.outputs = [o for o in cell.outputs if o.get("name") != "stderr" or "bayescm" not in o.text]
            nbformat.write(now, path)


def test_there_are_notebooks():
    assert [path.name for path in NOTEBOOKS] == [
        "01_first_steps.ipynb",
        "02_exact_distributions.ipynb",
        "03_curves_and_regions.ipynb",
        "04_bayesian_workflow.ipynb",
        "05_folds.ipynb",
        "06_no_gold_standard.ipynb",
        "07_scores_to_decision.ipynb",
        "08_leaderboard.ipynb",
        "09_planning.ipynb",
        "10_million_matrices.ipynb",
        "11_audits.ipynb",
        "12_prior_to_leaderboard.ipynb",
        "13_an_abstract.ipynb",
        "14_what_was_sampled.ipynb",
        "15_readers.ipynb",
        "16_hierarchies.ipynb",
    ]
    assert {"boyd_2013", "urlus_2023"} <= {path.stem for path in PAPERS}


@pytest.mark.parametrize(
    "path",
    [pytest.param(p, id=p.stem, marks=MARKS.get(p.stem, pytest.mark.slow)) for p in NOTEBOOKS + PAPERS],
)
@pytest.mark.filterwarnings("ignore")  # the kernel is another process; nbclient's own warnings are not ours
def test_notebook_shows_what_is_stored(path, tmp_path):
    stored, now = executed(path, tmp_path, full=False)
    code = [cell for cell in stored.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    assert pictures(stored) == pictures(now) > 0
    assert differences(stored, now, full=False) == [], "python tests/test_notebooks.py stores what they show now"


def pictures(notebook):
    """Return how many pictures a notebook shows."""
    return sum("image/png" in one.get("data", {}) for cell in notebook.cells for one in cell.get("outputs", ()))


TABLE = "          mean  lower  method\nmcc      0.767  0.539  exact\nn       34,000   -1.5  draws\n"


@pytest.mark.parametrize(
    ("now", "alone", "of_another_stream"),
    [
        (TABLE, True, True),
        (TABLE.replace("mcc      ", "mcc "), True, True),
        (TABLE.replace("0.767", "0.769"), True, True),
        (TABLE.replace("0.767", "0.770"), False, True),
        (TABLE.replace("34,000", "34,001"), False, True),
        (TABLE.replace("exact", "draws"), False, True),
        (TABLE.replace("-1.5", "nan"), False, True),
        (TABLE.replace("0.767  0.539", "5.1  7.3"), False, False),
        (TABLE.replace("mean  lower  method", "median  upper  how"), False, False),
        (TABLE + "and a row more", False, False),
    ],
)
def test_what_counts_as_a_difference(now, alone, of_another_stream):
    assert (differ(TABLE, now, drawn=False) is None) == alone
    assert (differ(TABLE, now, drawn=True) is None) == of_another_stream


def test_what_a_cell_shows():
    outputs = [
        nbformat.v4.new_output("stream", name="stdout", text="took 1.53 s at 0x7f3a2b1c\n"),
        nbformat.v4.new_output("stream", name="stderr", text="sampling 100%"),
        nbformat.v4.new_output("display_data", {"image/png": "iVBO", "text/plain": "<Figure size 5x2 with 1 Axes>"}),
        nbformat.v4.new_output("execute_result", {"text/html": "<style>b{}</style><td>&lt;1</td><td>exact</td>"}),
    ]
    cell = nbformat.v4.new_code_cell("x", outputs=outputs)
    assert shown(cell).split() == ["took", "SIZE", "at", "ADDRESS", "<1", "exact"]


def test_what_follows_a_sampler_may_be_drawn():
    cells = [nbformat.v4.new_code_cell(text) for text in ("counts", 'fit(method="nuts")', "az.summary(fit)")]
    assert of_nuts(cells) == [False, True, True]


@pytest.mark.parametrize(
    ("source", "alike"),
    [("n = 1000 if FULL else 100", True), ('FULL = os.environ.get("BAYESCM_PAPERS_FULL") == "1"', False)],
)
def test_only_cells_that_name_full_may_show_another_simulation(source, alike):
    stored, now = (
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source, outputs=[
            nbformat.v4.new_output("stream", name="stdout", text=text)
        ])])
        for text in (TABLE, TABLE.replace("0.767", "0.801"))
    )  # fmt: skip
    assert (differences(stored, now, full=False) == []) == alike
    assert len(differences(stored, now, full=True)) == 1


if __name__ == "__main__":
    refresh({name for name in sys.argv[1:] if name != "--all"}, every="--all" in sys.argv)
