"""Pictures show the numbers they were given, in the user's axes."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import bayescm


def test_forest_draws_the_stored_numbers():
    s = bayescm.summary([[6, 2], [0, 26]], ["recall", "precision"])
    ax = bayescm.plot_forest(s, reference=0.5)
    (lines,) = ax.collections
    drawn = np.array([segment[:, 0] for segment in lines.get_segments()])
    np.testing.assert_allclose(drawn, s.interval)
    mean, point, reference = ax.lines
    np.testing.assert_allclose(mean.get_xdata(), s["mean"])
    np.testing.assert_allclose(point.get_xdata(), s.point)
    assert set(reference.get_xdata()) == {0.5}
    assert [t.get_text() for t in ax.get_yticklabels()] == ["recall", "precision"]
    assert "95% highest-density" in ax.get_xlabel()


def test_forest_leaves_out_other_scales_and_says_so():
    s = bayescm.summary([[20, 9], [5, 26]], ["recall", "dor"], random_seed=1)
    ax = bayescm.plot_forest(s)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["recall"]
    assert "diagnostic odds ratio" in ax.get_xlabel()
    alone = bayescm.plot_forest(bayescm.summary([[20, 9], [5, 26]], "dor", random_seed=1))
    assert len(alone.get_yticklabels()) == 1


def test_forest_of_several_systems_and_given_axes():
    s = bayescm.summary(bayescm.datasets.caelen2017(), ["recall", "f1"])
    _, mine = plt.subplots()
    ax = bayescm.plot_forest(s, ax=mine)
    assert ax is mine
    assert len(ax.collections) == 2
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["A", "B"]
    with pytest.raises(ValueError, match="at most one batch dim"):
        bayescm.plot_forest(s.expand_dims(fold=2))


def test_forest_of_one_metric_has_a_line_for_each_system():
    s = bayescm.summary(bayescm.datasets.toetsch2021(), "recall")
    ax = bayescm.plot_forest(s)
    assert [t.get_text() for t in ax.get_yticklabels()][:3] == ["1", "2", "3"]
    assert ax.get_xlabel().startswith("recall, with 95%")


def test_forest_of_many_systems_gives_each_a_colour():
    ax = bayescm.plot_forest(bayescm.summary(bayescm.datasets.toetsch2021(), ["recall", "f1"]))
    colours = {tuple(lines.get_color()[0]) for lines in ax.collections}
    assert len(colours) == 24


def test_forest_loses_no_system_where_labels_are_equal():
    s = bayescm.summary(bayescm.datasets.caelen2017().assign_coords(system=["A", "A"]), ["recall", "f1"])
    assert len(bayescm.plot_forest(s).collections) == 2


def test_matrix_shows_counts_shares_and_intervals():
    cells = bayescm.cell_summary(bayescm.from_array([[6, 2], [0, 26]], labels=["low", "high"]))
    _, mine = plt.subplots()
    ax = bayescm.plot_confusion_matrix(cells, ax=mine)
    assert ax is mine
    texts = [t.get_text() for t in ax.texts]
    assert texts[3].startswith("26\n98.1%")
    assert [t.get_text() for t in ax.get_xticklabels()] == ["low", "high"]
    assert ax.get_ylabel() == "actual"
    with pytest.raises(ValueError, match="one matrix"):
        bayescm.plot_confusion_matrix(bayescm.cell_summary(bayescm.datasets.caelen2017()))
