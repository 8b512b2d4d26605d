"""Pictures of comparisons: what is drawn and what is written."""

import numpy as np
import pytest
import xarray as xr

import bayescm
from bayescm.results.systems import verdict_on

COUNTS = bayescm.from_cells(tp=[40, 30], fn=[5, 12], fp=[4, 8], tn=[70, 66], dims="system").assign_coords(
    system=["A", "B"]
)


def words(ax):
    return [ax.get_legend().get_title().get_text(), *(text.get_text() for text in ax.get_legend().get_texts())]


def test_the_difference_says_what_the_summary_says():
    found = bayescm.compare_systems(COUNTS, ["accuracy", "mcc"], rope=0.02, random_seed=1)
    row = found["summary"].to_dataset().sel(metric="accuracy").squeeze("comparison")
    ax = bayescm.plots.plot_difference(found, "accuracy")
    worse, same, better = row.probability.values
    assert words(ax)[0] == f"{verdict_on('A', 'B', row.verdict.item())} (at 95%)"
    assert words(ax)[1:4] == [f"P(A worse) = {worse:.3f}", f"P(equivalent) = {same:.3f}", f"P(A better) = {better:.3f}"]
    low, high = row.interval.values
    assert words(ax)[4:] == ["rope \u00b10.02", f"95% ETI {low:.2f} to {high:.2f}"]
    bar = next(line for line in ax.lines if len(line.get_xdata()) == 2 and line.get_ydata()[0] < 0)
    np.testing.assert_allclose(bar.get_xdata(), [low, high])
    band = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    np.testing.assert_allclose([band.x0, band.x1], [-0.02, 0.02])
    x, y = ax.lines[0].get_data()
    assert np.trapezoid(y, x) == pytest.approx(1, abs=0.02)


def test_long_names_are_broken_and_leave_the_picture_its_room():
    long = COUNTS.assign_coords(system=["my long system name v2.1 (retrained)", "baseline-resnet50-imagenet-finetuned"])
    ax = bayescm.plots.plot_difference(bayescm.compare_systems(long, "npv", rope=0.02, random_seed=1))
    ax.figure.canvas.draw()
    assert ax.get_position().width > 0.9
    legend = ax.get_legend().get_window_extent()
    assert ax.xaxis.label.get_window_extent().y0 > legend.y1 - 2
    assert 0 <= legend.x0 < legend.x1 <= ax.figure.bbox.x1
    assert words(ax)[1].startswith("P(worse) = ")


def test_undecided_and_equivalent_differences():
    same = COUNTS.isel(system=[0, 0]).assign_coords(system=["A", "B"])
    found = bayescm.compare_systems(same, design="independent", random_seed=1)
    assert words(bayescm.plots.plot_difference(found))[0] == "no verdict on A and B (at 95%)"
    assert not any("equivalent" in word for word in words(bayescm.plots.plot_difference(found))[1:])
    found = bayescm.compare_systems(same, design="independent", rope=0.3, random_seed=1)
    assert words(bayescm.plots.plot_difference(found))[0] == "A and B are equivalent (at 95%)"
    table = bayescm.data.paired_counts([0, 1, 1, 0], {"A": [0, 1, 1, 1], "B": [0, 0, 1, 0]})
    known = bayescm.compare_systems(table, "prevalence", rope=0.01, random_seed=1)  # no draw differs
    assert words(bayescm.plots.plot_difference(known))[2] == "P(equivalent) = 1"


def test_a_class_of_three():
    counts = bayescm.from_array(np.arange(1, 19).reshape(2, 3, 3), dims="system")
    found = bayescm.compare_systems(counts, "recall", random_seed=1)
    ax = bayescm.plots.plot_difference(found, "recall[1]")
    assert ax.get_xlabel() == "Recall, difference, class 1, 0 - 1"
    first = bayescm.plots.plot_difference(found)
    assert first.get_title(loc="left") == f"the first of {found['summary'].sizes['metric']} metrics"
    assert first.get_xlabel() == "Recall, difference, class 0, 0 - 1"
    with pytest.raises(ValueError, match="`metric`"):
        bayescm.plots.plot_difference(found, "recall[3]")
    with pytest.raises(ValueError, match="`comparison`"):
        bayescm.plots.plot_difference(found, "recall[1]", "1 - 0")
    with pytest.raises(TypeError, match="`data`"):
        bayescm.plots.plot_difference(found["summary"].to_dataset())


def test_a_long_tail_is_cut_from_the_axis():
    found = bayescm.compare_systems(COUNTS, "lr+", random_seed=1)
    ax = bayescm.plots.plot_difference(found)
    low, high = found["summary"].interval.values.ravel()
    assert ax.get_xlim()[0] >= 1.6 * low - 0.6 * high - 1e-9
    assert ax.get_xlim()[1] <= 1.6 * high - 0.6 * low + 1e-9


def test_pairwise_probabilities_stand_in_their_cells():
    names = ["A", "B", "C"]
    values = np.array([[0.5, 0.9, 0.99995], [0.1, 0.5, 0.4], [0.00005, 0.6, 0.5]])
    pairwise = xr.DataArray(values, coords={"system": names, "versus": names}, name="probability_better")
    ax = bayescm.plots.plot_pairwise(pairwise.transpose().to_dataset())
    best_first = [0, 2, 1]  # C beats others with .6 at most and .367 on average, B with .4 and .333
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [names[i] for i in best_first]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == [names[i] for i in best_first]
    np.testing.assert_array_equal(ax.images[0].get_array(), values[np.ix_(best_first, best_first)])
    shown = {tuple(int(v) for v in text.get_position()): text.get_text() for text in ax.texts}
    assert shown == {
        (2, 0): "0.900",
        (1, 0): "> 0.999",
        (0, 2): "0.100",
        (1, 2): "0.400",
        (0, 1): "< 0.001",
        (2, 1): "0.600",
    }
    with pytest.raises(TypeError, match="probability_better"):
        bayescm.plots.plot_pairwise(xr.Dataset({"probability_better": 1.0}))
