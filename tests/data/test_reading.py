"""read(): what was understood is shown, and every question takes it."""

import numpy as np
import pandas as pd
import pytest

import bayescm

TRUE, PRED, SCORE = [0, 0, 1, 1, 1], [0, 1, 1, 1, 0], [0.1, 0.6, 0.7, 0.9, 0.2]
CELLS = "system,tp,fn,fp,tn\nA,40,10,5,45\nB,35,15,9,41"
KINDS = {
    "labels": ((TRUE, PRED), "counts", "actual and predicted labels"),
    "scores": ((TRUE, SCORE), "scores", "labels and scores"),
    "k of n": ((45, 50), "right and wrong answers", "k of n"),
    "shares": (({"a": (90, 100), "b": (80, 100)},), "right and wrong answers", "k of n"),
    "matrix": (([[6, 2], [0, 26]],), "counts", "a matrix"),
    "cells": (({"tp": 26, "fn": 0, "fp": 2, "tn": 6},), "counts", "cells by name"),
    "text": ((CELLS,), "counts", "cells by name"),
    "items": (("actual,predicted\n1,1\n0,1\n0,0",), "counts", "columns of labels"),
    "wide": (("actual,A,B\n1,1,1\n0,1,0\n0,0,0\n1,0,1",), "answers to the same items", "predictions per system"),
    "marks": (("item,A,B\nq1,pass,fail\nq2,pass,pass",), "right and wrong answers to the same items", "items by"),
    "systems": ((TRUE, {"a": PRED, "b": TRUE}), "answers to the same items", "the truth and answers of systems"),
}


@pytest.mark.parametrize("what", KINDS)
def test_what_was_understood_is_said(what):
    given, kind, how = KINDS[what]
    evidence = bayescm.read(*given)
    assert evidence.kind == kind
    assert how in evidence.how
    assert repr(evidence).startswith(f"{kind}, read from ")
    assert bayescm.read(evidence) is evidence


def test_questions_take_what_was_read():
    counts = bayescm.read(TRUE, PRED)
    assert bayescm.summary(counts, "recall").point.item() == bayescm.summary(TRUE, PRED, "recall").point.item()
    scores = bayescm.read(TRUE, SCORE)
    assert bayescm.auc(scores).point.item() == bayescm.auc(TRUE, SCORE).point.item()
    assert bayescm.curves.counts_at_thresholds(scores).equals(bayescm.curves.counts_at_thresholds(TRUE, SCORE))
    assert bayescm.summary(bayescm.read(45, 50)).metric.values.tolist() == ["proportion"]
    published = bayescm.datasets.kaggle2019()
    assert bayescm.read(published).data is published


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_a_file_is_read_as_its_text(tmp_path, ending):
    path = tmp_path / f"counts.{ending}"
    frame = pd.DataFrame({"actual": [0, 0, 1, 1], "predicted": [0, 1, 0, 1], "n": [5, 4, 3, 2]})
    {"csv": lambda: frame.to_csv(path, index=False), "parquet": lambda: frame.to_parquet(path),
     "json": lambda: frame.to_json(path, orient="records")}[ending]()  # fmt: skip
    want = bayescm.from_table(frame)
    for found in (bayescm.read(path).data, bayescm.from_table(path), bayescm.read(str(path)).data):
        np.testing.assert_array_equal(found, want)


def test_a_column_of_a_file_is_a_dim(tmp_path):
    frame = pd.DataFrame({"site": [*"aabb"], "actual": [0, 1, 0, 1], "predicted": [0, 1, 1, 1], "n": [5, 4, 3, 2]})
    frame.to_csv(tmp_path / "sites.csv", index=False)
    for dims in ("site", ["site"]):
        found = bayescm.from_table(tmp_path / "sites.csv", dims=dims)
        np.testing.assert_array_equal(found, bayescm.from_table(frame, dims=dims))
    with pytest.raises(ValueError, match="one column"):
        bayescm.from_table(tmp_path / "sites.csv", dims=["site", "predicted"])


def test_options_that_name_nothing_are_refused():
    with pytest.raises(ValueError, match="`rows` doesn't apply to cells by name"):
        bayescm.read(CELLS, rows="truth")
    with pytest.raises(ValueError, match="`columns` may say which are"):
        bayescm.read(CELLS, columns={"truth": "tp"})
    with pytest.raises(ValueError, match="has no column 'site'"):
        bayescm.read(CELLS, columns={"by": "site"})
