"""What the pages show is what the program prints.

``BAYESCM_UPDATE_DOCS=1 python -m pytest tests/test_docs.py`` writes the pages anew instead of failing.
"""

import ast
import contextlib
import doctest
import inspect
import io
import os
import re
import runpy
import shlex
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from public import PUBLIC

import bayescm
from bayescm.cli import main

pytestmark = pytest.mark.usefixtures("compiled")  # which says so, once on a machine

ROOT = Path(bayescm.__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CONSOLE = re.compile(r"```console\n(\$ bayescm .*?)```", re.DOTALL)
FILES = re.compile(r"```text\n# (\S+\.csv)\n(.*?)```", re.DOTALL)
MARKS = {
    **dict.fromkeys(("cli.md", "hierarchies.md", "models.md", "planning.md"), pytest.mark.slow),
    "start_pymc_user.md": pytest.mark.long,  # CI follows it with the wheel, in tests/first_hours.py
}  # fmt: skip


def pages(has):
    """Return the pages that have something, those that take a minute or more for the long run."""
    return [pytest.param(page, id=page.name, marks=MARKS.get(page.name, ())) for page in PAGES if has(page.read_text())]


def refreshed(block: str) -> str:
    """Return a console block with the output that its commands print now."""
    out = []
    for command in re.findall(r"^\$ ((?:.*\\\n)*.*)$", block, re.MULTILINE):
        printed, said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said), contextlib.suppress(SystemExit):
            main(shlex.split(command.replace("\\\n", " "))[1:])
        lines = [line.rstrip() for line in (printed.getvalue() + said.getvalue()).splitlines()]
        out.append("\n".join([f"$ {command}", *lines]).rstrip("\n") + "\n")
    return "".join(out)


@pytest.mark.parametrize("page", pages(CONSOLE.search))
def test_commands_print_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    text = page.read_text()
    for name, content in FILES.findall(text):
        if "..." not in content:
            Path(name).write_text(content)
    new = CONSOLE.sub(lambda m: f"```console\n{refreshed(m[1])}```", text)
    if os.environ.get("BAYESCM_UPDATE_DOCS"):
        page.write_text(new)
    assert to_twelve_digits(page.read_text()) == to_twelve_digits(new)


def to_twelve_digits(text):
    """Round long numbers of a JSON, whose last digits depend on who compiled the kernels, and leave out their stamp."""
    text = re.sub(r"\d\.\d{13,}", lambda number: f"{float(number[0]):.12g}", text)
    return re.sub(r'"stamp": "\w+"', "", text)


@pytest.mark.parametrize("page", pages(lambda text: ">>> " in text))
def test_examples_print_what_the_page_shows(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    text = re.sub(r"^```.*$", "", page.read_text(), flags=re.MULTILINE)
    names = {"bayescm": bayescm, "counts": bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)}
    parsed = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    report: list[str] = []
    runner.run(parsed, out=report.append)
    assert not runner.summarize(verbose=False).failed, "".join(report)


@pytest.mark.parametrize("page", ["README.md", pytest.param("docs/gallery.md", marks=pytest.mark.slow)])
def test_the_code_runs(page):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
        plt.close("all")


def test_the_gallery_has_every_picture_and_says_how_each_is_drawn():
    page = (ROOT / "docs" / "gallery.md").read_text()
    drawn = re.findall(r"!\[.+\]\((images/\S+\.png)\)\n\n```python\n", page)
    thumbnails = re.findall(r"^:img-top: (\S+)$", page, re.MULTILINE)
    assert thumbnails == drawn
    assert all((ROOT / "docs" / name).exists() for name in drawn)
    pictures = {name for name in PUBLIC if name.startswith("plot_")}
    assert pictures == set(re.findall(r"bayescm\.plots\.(plot_\w+)", page))


ASKED = {
    "install": "install", "citation": "install", "multiclass": "metrics", "pass@k": "leaderboard", "cluster": "units",
    "error bars": "intervals", "sample size diagnostic": "planning",
}  # fmt: skip
"""What strangers type into the search, and the page that answers."""


@pytest.mark.parametrize("words", ASKED)
def test_the_headings_of_the_page_that_answers_have_the_words_of_the_search(words):
    """Because the search puts headings before text."""
    page = (ROOT / "docs" / f"{ASKED[words]}.md").read_text().lower()
    headings = "\n".join(re.findall(r"^#+ .*$", page, re.MULTILINE))
    assert all(word in headings for word in words.split())


def test_every_function_of_the_reference_says_what_belongs_to_it():
    names = re.findall(r"^   ([\w.]+)$", (ROOT / "docs" / "reference" / "index.md").read_text(), re.MULTILINE)
    groups = runpy.run_path(str(ROOT / "docs" / "related.py"))["GROUPS"]
    assert sorted(name for group in groups.values() for name in group.split()) == sorted(names)
    assert all((ROOT / "docs" / f"{page}.md").exists() for page in groups)
    assert all(len(group.split()) > 1 for group in groups.values())  # or the section would be empty


def test_words_of_pages_are_counted_without_what_stands_around_them(tmp_path):
    count = runpy.run_path(str(ROOT / "docs" / "words.py"))["words"]
    (tmp_path / "a.html").write_text(
        '<nav>no</nav><article class="bd-article"><p>one <b>two</b><br>3.4</p></article>no'
    )
    assert count(tmp_path) == {"a.html": ["one", "two", "3.4"]}


def test_the_changelog_has_each_kind_of_change_once_a_release():
    releases = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
    assert releases[0].startswith("Unreleased\n")
    for release in releases:
        kinds = re.findall(r"^### (.+)$", release, re.MULTILINE)
        assert kinds == [
            kind for kind in ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security") if kind in kinds
        ]
    assert all(re.match(r"\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)\n", release) for release in releases[1:])


def quoted():
    """Return the first call that each row of "Which interval to quote" names in its column "quote"."""
    page = (ROOT / "docs" / "verification" / "index.md").read_text()
    rows = page.split("| what you report | quote |")[1].split("\n\n")[0].splitlines()[2:]
    calls = [re.search(r"`((?:bayescm\.)?\w+\(.*?\))(?:\[.+?\])?`", row.split("|")[2]) for row in rows]
    return [ast.parse(call[1], mode="eval").body for call in calls if call]


SETTINGS = {"method", "ci_kind", "ci_prob", "bound"}
"""What a default settles; other arguments say what the data are or ask another question, as these two values do."""
OTHER_QUESTIONS = {
    "clopper_pearson",  # "at least 95%, whatever the truth"
    "smoothed",  # "at another prevalence"
}


@pytest.mark.parametrize("call", quoted(), ids=ast.unparse)
def test_the_interval_to_quote_is_the_default(call):
    parameters = inspect.signature(PUBLIC[call.func.id]).parameters
    places = ["counts", "method"] if call.func.id == "interval" else list(parameters)  # interval(..., "wilson")
    given = dict(zip(places, call.args, strict=False)) | {word.arg: word.value for word in call.keywords}
    named = {name: ast.literal_eval(value) for name, value in given.items() if name in SETTINGS}
    if not OTHER_QUESTIONS & set(named.values()):
        assert {name: parameters[name].default for name in named} == named
    if "ci_kind" in parameters:  # what is quoted is what the studies call "eti"
        assert named.get("ci_kind", parameters["ci_kind"].default) == "eti"


CALLS = re.compile(r"```(?:python|pycon)\n(.*?)```|`(bayescm\.[^`]*\([^`]*\))`", re.DOTALL)
READ = {"labels", "pos_label", "y_true", "y_pred", "y_score", "tp", "fn", "fp", "tn", "runs", "counts", "data"}
"""What functions read before their own arguments (bayescm/data/inputs.py)."""


def calls_of(text):
    """Return the calls of functions of bayescm in the code of a page."""
    for block, inline in CALLS.findall(text):
        lines = [line[4:] for line in block.splitlines() if line.startswith((">>> ", "... "))]
        with contextlib.suppress(SyntaxError):
            tree = ast.parse(textwrap.dedent("\n".join(lines) or block or inline))
            yield from (call for call in ast.walk(tree) if isinstance(call, ast.Call))


def test_arguments_that_pages_name_exist():
    known, wrong = 0, []
    for page in [*PAGES, *(ROOT / "docs" / "verification").glob("*.md")]:
        for call in calls_of(page.read_text()):
            path = ast.unparse(call.func)
            function = bayescm
            for part in path.removeprefix("bayescm.").split("."):
                function = getattr(function, part, None)
            if not path.startswith("bayescm.") or not callable(function):
                continue
            parameters = inspect.signature(function).parameters
            known += 1
            if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
                named = {keyword.arg for keyword in call.keywords} - {None}
                wrong += [f"{page.name}: {path} has no {name}" for name in named - READ - set(parameters)]
    assert known > 300
    assert not wrong


def test_the_weight_of_a_prior_from_metrics_is_called_as_in_the_code():
    text = (ROOT / "docs" / "priors.md").read_text()
    about = text[text.index("### From any three metrics") :].partition("```")[0]
    named = set(re.findall(r"`(\w+)`", about)) - {"prior_from_metrics"}
    assert named <= set(inspect.signature(bayescm.priors.prior_from_metrics).parameters)
