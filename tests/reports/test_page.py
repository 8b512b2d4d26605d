"""report(): one text, one page."""

import base64
import re

import numpy as np
import pytest

import bayescm

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


def test_of_results(tmp_path):
    several = bayescm.from_cells(tp=[26, 20, 24], fn=[2, 8, 4], fp=[3, 1, 0], tn=[6, 8, 9], dims="system")
    made = [
        (bayescm.compare_systems(several, design="independent", draws=200, random_seed=1), 1),
        (bayescm.leaderboard(several, design="independent"), 1),
        (bayescm.decide(ONE, {"fn": 2, "fp": 1}, draws=1000, random_seed=1), 0),
    ]
    for found, pictures in made:
        assert repr(found).startswith(bayescm.report(found, file=tmp_path / "a.html"))
        assert len(images((tmp_path / "a.html").read_text())) == pictures


def test_what_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must end on \.html"):
        bayescm.report(ONE, file=tmp_path / "a.pdf")
    with pytest.raises(ValueError, match="one matrix"):
        bayescm.report(ONE.expand_dims(run=2))
