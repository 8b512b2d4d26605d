"""scikit-learn's classification_report as counts."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import classification_report

import bayescm
from bayescm.data.reports import of_report

pytestmark = pytest.mark.filterwarnings("ignore:.*ill-defined")


def lists(tn, fp, fn, tp, names=(0, 1)):
    no, yes = names
    return [no] * (tn + fp) + [yes] * (fn + tp), [no] * tn + [yes] * fp + [no] * fn + [yes] * tp


@pytest.mark.parametrize("cells", [c for c in itertools.product(range(4), repeat=4) if sum(c) == 3])
def test_every_small_table_in_every_form(cells):
    report = classification_report(*lists(*cells), labels=[0, 1], output_dict=True)
    text = classification_report(*lists(*cells), labels=[0, 1])
    for form in (report, pd.DataFrame(report), pd.DataFrame(report).T, text):
        counts = of_report(form)
        assert counts.values.ravel().tolist() == list(cells)
        assert counts["actual"].values.tolist() == [0, 1]


def test_a_printed_report_is_read_or_refused_but_never_misread():
    rng, read = np.random.default_rng(1), 0
    for n in (30, 60, 100, 300, 3000):
        cells = rng.multinomial(n, rng.dirichlet(np.ones(4)))
        for digits in (2, 3, 6):
            text = classification_report(*lists(*cells), digits=digits)
            try:
                found = of_report(text)
            except ValueError as error:
                assert "tables, such as [[" in str(error)  # noqa: PT017
                assert digits < 6
            else:
                assert found.values.ravel().tolist() == cells.tolist()
                read += 1
    assert read >= 10


def test_a_summary_of_a_report():
    truth, said = lists(5, 2, 1, 9, ("no sign", "sign"))
    counts = bayescm.confusion_matrix(truth, said)
    for report in (classification_report(truth, said), classification_report(truth, said, output_dict=True)):
        assert bayescm.summary(report, "f1", random_seed=1).identical(bayescm.summary(counts, "f1", random_seed=1))


@pytest.mark.parametrize(
    ("report", "message"),
    [
        (classification_report([0, 1, 2, 2], [0, 1, 2, 1]), "of 3 labels"),
        (classification_report([0, 1, 2, 2], [0, 1, 2, 1], labels=[0, 1]), "without an accuracy"),
        (classification_report(np.eye(2, dtype=int), np.eye(2, dtype=int)), "without an accuracy"),
        (classification_report(*lists(5, 2, 1, 9)).replace("0.83", "0.63"), "fit no tables"),
        (classification_report(*lists(40200, 100, 300, 900)), "tables, such as"),
    ],
)
def test_what_a_report_does_not_say(report, message):
    with pytest.raises(ValueError, match=message):
        bayescm.summary(report)
