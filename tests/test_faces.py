"""One answer, its faces: Python, terminal, notebook, page, report and file say the same to the printed digit."""

import csv
import html
import io
import json
import re

import numpy as np
import pytest

import bayescm
from bayescm.app.questions import QUESTIONS
from bayescm.cli import main
from bayescm.results import Answer

NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*\.?\d*(?:e[+-]\d+)?")
METRICS = ["recall", "specificity", "ppv", "accuracy", "mcc", "positive_likelihood_ratio"]
INPUTS = [pytest.param(range(6), id="6 inputs"), pytest.param(range(6, 50), id="44 more", marks=pytest.mark.long)]


def words(text):
    """Return a text without its line breaks."""
    return " ".join(text.split())


def plain(page):
    """Return what a browser shows of HTML."""
    return words(html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL))))


def numbers(text):
    """Return the numbers of a text as they are written."""
    return NUMBER.findall(text)


def terminal(capsys, *argv):
    """Return what the command line prints."""
    assert main([*map(str, argv), "--seed", "0"]) == 0
    return capsys.readouterr().out


def write(file, head, rows):
    """Write a file of comma-separated values."""
    file.write_text("".join(",".join(map(str, row)) + "\n" for row in [head, *rows]))


def matrix_of(rng):
    """Return the four numbers of some test: also few, none, very many."""
    return [int(n) for n in 10 ** rng.uniform(0, rng.choice([1, 2, 3, 6]), 4) * (rng.random(4) > 0.1)]


def asked(question, i, folder):
    """Return the answer of Python to a question with a random input, and the command and the form that ask the same."""
    rng = np.random.default_rng([i, len(question)])
    if question == "summary":
        tp, fn, fp, tn = matrix_of(rng) if i else (26, 0, 2, 6)
        level, kind = rng.choice([0.8, 0.95, 0.99]), str(rng.choice(["eti", "hdi"]))
        options = {"ci_prob": float(level), "ci_kind": kind, "random_seed": 0}
        cells = {"tp": tp, "fn": fn, "fp": fp, "tn": tn}
        answer = bayescm.summary(bayescm.from_cells(**cells), METRICS, **options)
        command = [word for name, n in cells.items() for word in (f"--{name}", n)]
        form = {name: str(n) for name, n in cells.items()} | {"ci_prob": str(level), "ci_kind": kind}
        asks = ["--metrics", ",".join(METRICS), "--ci-prob", level, "--ci-kind", kind]
        return answer, ["summary", *command, *asks], form | {"metrics": ", ".join(METRICS)}
    if question == "classes":
        k = int(rng.integers(3, 6))
        counts = rng.poisson(rng.uniform(0.5, 40) * (np.eye(k) * 4 + 0.3))
        names = [f"class {j}" for j in range(k)]
        lines = [
            ",".join(["truth", *names]),
            *(f"{n},{','.join(map(str, row))}" for n, row in zip(names, counts, strict=True)),
        ]
        (folder / "classes.csv").write_text("\n".join(lines) + "\n")
        answer = bayescm.summary(folder / "classes.csv", ["accuracy", "recall"], random_seed=0)
        form = {"table": (folder / "classes.csv").read_text(), "metrics": "accuracy, recall"}
        return answer, ["summary", folder / "classes.csv", "--metrics", "accuracy,recall"], form
    systems = int(rng.integers(2, 6 if question == "leaderboard" else 4))
    rows = [(f"system {j}", *matrix_of(rng)) for j in range(systems)]
    rows = [(name, *(n + 1 for n in cells)) for name, *cells in rows]
    (folder / "systems.csv").write_text(
        "\n".join(["name,tp,fn,fp,tn", *(",".join(map(str, row)) for row in rows)]) + "\n"
    )
    form = {"table": (folder / "systems.csv").read_text()}
    if question == "leaderboard":
        return bayescm.leaderboard(folder / "systems.csv", random_seed=0), ["leaderboard", folder / "systems.csv"], form
    answer = bayescm.compare_systems(folder / "systems.csv", "recall", random_seed=0)
    return answer, ["compare", folder / "systems.csv", "--metrics", "recall"], form | {"metrics": "recall"}


@pytest.mark.parametrize("inputs", INPUTS)
@pytest.mark.parametrize("question", ["summary", "classes", "compare", "leaderboard"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_face_has_the_same_sentence_and_numbers(question, inputs, tmp_path, capsys):
    for i in inputs:
        found, command, form = asked(question, i, tmp_path)
        answer = Answer(found)
        text, page = repr(answer), plain(answer.html())
        sentence, table = words(answer.sentence), numbers(words(answer.paragraphs()[1]))
        printed = words(terminal(capsys, *command))
        assert words(text).startswith(sentence), (question, i)
        assert page.startswith(sentence), (question, i)
        assert sentence in printed, (question, i, printed)
        assert table, (question, i)
        rest = numbers(page.removeprefix(sentence))
        assert rest[: len(table)] == table, (question, i)
        assert numbers(words(answer.to_markdown())) == table, (question, i)
        after = numbers(printed.partition(sentence)[2])
        assert after[: len(table)] == table, (question, i, printed)
        reported = words(bayescm.report(found))
        assert reported.startswith(sentence), (question, i)
        shown = QUESTIONS["summary" if question == "classes" else question](form)
        assert sentence in words(shown.sentence), (question, i, shown.sentence)
        assert numbers(plain(shown.table))[: len(table)] == table, (question, i)


@pytest.mark.parametrize("inputs", INPUTS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_is_saved_has_the_numbers_that_are_printed(inputs, tmp_path, capsys):
    for i in inputs:
        found, command, _ = asked("summary", i, tmp_path)
        shown = Answer(found).tables()[0]
        saved = list(csv.DictReader(io.StringIO(terminal(capsys, *command, "--csv"))))
        kept = json.loads(terminal(capsys, *command, "--json"))
        assert len(saved) == found.sizes["metric"], i
        rows = kept["metrics"] if isinstance(kept, dict) else kept
        for name in ("point", "lower", "upper"):
            of_python = shown[name].to_numpy(float)
            np.testing.assert_array_equal(of_python, [float(row[name] or "nan") for row in saved])
            np.testing.assert_array_equal(
                of_python, [float(np.nan if row[name] is None else row[name]) for row in rows]
            )
