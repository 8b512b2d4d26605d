"""report(): one text, one page."""

import base64
import html
import re
import sys

import numpy as np
import pytest

import bayescm
from bayescm.reports import files

ONE = bayescm.from_cells(tp=26, fn=2, fp=3, tn=6)


def images(page):
    return [base64.b64decode(data) for data in re.findall(r'src="data:image/png;base64,([^"]+)"', page)]


def test_the_text_has_the_sentence_the_matrix_and_the_table_of_the_summary():
    text = bayescm.report(ONE, metrics=["recall", "f1"], prior="laplace")
    found = bayescm.summary(ONE, ["recall", "f1"], prior="laplace")
    sentence, matrix, *rest = text.split("\n\n")
    assert sentence.replace("\n", " ") == found.bayescm.sentence
    assert [line.split() for line in matrix.splitlines()[1:]] == [["0", "6", "3", "9"], ["1", "2", "26", "28"],
                                                                 ["total", "8", "29", "37"]]  # fmt: skip
    assert repr(found).startswith("\n\n".join([sentence, *rest]))


def test_labels_are_counts():
    true, predicted = np.array(["a", "b", "a", "b", "b"]), np.array(["a", "b", "b", "b", "a"])
    counts = bayescm.confusion_matrix(true, predicted, pos_label="a")
    assert bayescm.report(true, predicted, "f1", pos_label="a") == bayescm.report(counts, metrics="f1")


def test_the_page_stands_alone(tmp_path):
    file = tmp_path / "report.html"
    text = bayescm.report(ONE, metrics=["recall", "f1"], file=file)
    page = file.read_text(encoding="utf-8")
    assert text.startswith("Recall is 0.93")
    assert "Recall is 0.93" in page
    assert len(images(page)) == 3
    assert all(image.startswith(b"\x89PNG") for image in images(page))
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert "<script" not in page


@pytest.mark.parametrize(("counts", "pictures"), [([[9, 1, 0], [2, 7, 1], [0, 3, 12]], 2), ([[0, 0], [3, 9]], 2)])
def test_pictures_where_they_mean_something(counts, pictures, tmp_path):
    bayescm.report(counts, metrics=["accuracy", "f1"], file=tmp_path / "a.html")
    assert len(images((tmp_path / "a.html").read_text())) == pictures


RNG = np.random.default_rng(0)
TRUE = np.arange(120) % 2
SCORE = np.round(0.4 * TRUE + RNG.normal(0.3, 0.3, 120), 2)
SEVERAL = bayescm.from_cells(tp=[26, 20, 24], fn=[2, 8, 4], fp=[3, 1, 0], tn=[6, 8, 9], dims="system")
RESULTS = {
    "classifier": (lambda: ONE, 3),
    "classes": (lambda: RNG.integers(0, 5, (12, 12)) + 30 * np.eye(12, dtype=int), 2),
    "two": (lambda: bayescm.compare_systems(SEVERAL[:2], design="independent", draws=200, random_seed=1), 1),
    "board": (lambda: bayescm.leaderboard(SEVERAL, design="independent"), 1),
    "curve": (lambda: bayescm.curve_posterior(TRUE, SCORE, draws=200, random_seed=1), 2),
    "band": (lambda: bayescm.curve_band(TRUE, SCORE, draws=200, random_seed=1, space="pr"), 1),
    "action": (lambda: bayescm.decide(ONE, {"fn": 2, "fp": 1}, draws=1000, random_seed=1), 0),
}
each_result = pytest.mark.parametrize("name", RESULTS)


@each_result
def test_a_page_begins_with_the_answer_and_ends_with_its_references(name, tmp_path):
    make, pictures = RESULTS[name]
    text = bayescm.report(made := make(), file=tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    if hasattr(made, "bayescm") and name != "curve":
        assert repr(made).startswith(text)
    assert len(images(page)) == pictures
    heads = [html.unescape(head) for head in re.findall(r"<h[12]>(.*?)</h", page)]
    assert text.replace("\n", " ").startswith(heads[0])
    assert heads[-1] == "Method and references"
    assert re.search(r"Sources: .*\b(19|20)\d\d\b", page[page.index(heads[-1]) :])


@pytest.mark.slow
@each_result
@pytest.mark.skipif(files._program(".pdf") is None, reason="no browser")
def test_it_prints_on_two_sheets(name, tmp_path):
    bayescm.report(RESULTS[name][0](), file=tmp_path / "a.pdf")
    sheets = re.findall(rb"/Type\s*/Page\b", (tmp_path / "a.pdf").read_bytes())
    assert 1 <= len(sheets) <= 2


def program(folder, name, does):
    path = folder / name
    path.write_text(f"#!{sys.executable}\nimport sys\n{does}\n")
    path.chmod(0o755)


@pytest.mark.slow
def test_word_by_pandoc_where_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match=r"\.docx needs pandoc .* Take \.html"):
        bayescm.report(ONE, file=tmp_path / "a.docx")
    with pytest.raises(ValueError, match="needs a browser"):
        bayescm.report(ONE, file=tmp_path / "a.pdf")
    copies = "out = sys.argv[1].removeprefix('--output='); open(out, 'w').write(open(sys.argv[2]).read()[:15])"
    program(tmp_path, "pandoc", copies)
    bayescm.report(ONE, "recall", file=tmp_path / "a.docx")
    assert (tmp_path / "a.docx").read_text() == "<!DOCTYPE html>"
    program(tmp_path, "pandoc", "sys.exit('no such font')")
    with pytest.raises(RuntimeError, match="no such font"):
        bayescm.report(ONE, "recall", file=tmp_path / "a.docx")


def test_what_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must end on \.html"):
        bayescm.report(ONE, file=tmp_path / "a.txt")
    with pytest.raises(ValueError, match="one matrix"):
        bayescm.report(ONE.expand_dims(run=2))
