"""The reliability diagram: what is drawn where."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection

import bayescm

RNG = np.random.default_rng(3)
CHANCE = RNG.beta(1, 3, 500)
CAME = (RNG.uniform(size=500) < CHANCE).astype(int)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def of(kind, ax):
    return [one for one in ax.collections if type(one) is kind]


def test_bins_intervals_points_and_histogram_are_where_they_belong():
    found = bayescm.curves.reliability(CAME, CHANCE**2, bins=5)
    upper, lower = bayescm.plots.plot_curve(found)
    (boxes,), (intervals,) = of(PolyCollection, upper), of(LineCollection, upper)
    ends = [path.get_extents() for path in boxes.get_paths()]
    np.testing.assert_allclose([[box.x0, box.x1] for box in ends], np.stack([found.bin_lower, found.bin_upper], -1))
    np.testing.assert_allclose([[box.y0, box.y1] for box in ends], found.interval)
    segments = np.array(intervals.get_segments())
    np.testing.assert_allclose(segments[..., 0], np.stack([found.mean_score] * 2, -1))
    np.testing.assert_allclose(segments[..., 1], found.interval)
    hollow = {line.get_markerfacecolor(): len(line.get_xdata()) for line in upper.lines if line.get_marker() == "o"}
    assert hollow["#ffffff"] == found.attrs["off"] > 0
    assert sum(hollow.values()) == 5
    (steps,) = lower.patches
    np.testing.assert_array_equal(steps.get_data().values, np.histogram(CHANCE**2, 20, (0, 1))[0])
    np.testing.assert_allclose(steps.get_data().edges, np.linspace(0, 1, 21))
    legend = upper.get_legend()
    assert legend.get_title().get_text().startswith(f"Brier score {((CHANCE**2 - CAME) ** 2).mean():.2f} (95%: ")
    assert {"95%, all bins at once", "mean score outside"} <= {text.get_text() for text in legend.get_texts()}


def test_an_empty_bin_has_a_box_and_nothing_in_it():
    found = bayescm.curves.reliability([0, 1, 1, 0], [0.1, 0.9, 0.9, 0.1], bins=[0, 0.2, 0.8, 1])
    ax = bayescm.plots.plot_curve(found, ax=plt.figure().gca())
    assert len(of(PolyCollection, ax)[0].get_paths()) == 3
    assert len(of(LineCollection, ax)[0].get_segments()) == 2


def test_several_systems_have_names_and_their_own_histograms():
    both = {"a": bayescm.curves.reliability(CAME, CHANCE), "b": bayescm.curves.reliability(CAME, CHANCE**2)}
    upper, lower = bayescm.plots.plot_curve(both, names=["first", "second"])
    said = [text.get_text() for text in upper.get_legend().get_texts()]
    assert said[0].startswith("first: Brier score")
    assert said[1].startswith("second: Brier score")
    assert len(lower.patches) == 2
    assert [text.get_text() for text in upper.texts] == ["calibrated"]


def test_axes_legend_and_point_are_as_wanted():
    found = bayescm.curves.reliability(CAME, CHANCE)
    _, (one, two) = plt.subplots(2)
    axes = bayescm.plots.plot_curve(found, ax=[one, two], legend=False, point=False)
    assert (axes[0], axes[1]) == (one, two)
    assert one.get_legend() is None
    assert all(line.get_marker() == "None" for line in one.lines)
    with pytest.raises(ValueError, match="one Axes, or two"):
        bayescm.plots.plot_curve(found, ax=[one, two, one])
    for more in ({"median": True}, {"iso_f1": True}, {"difference": found}):
        with pytest.raises(ValueError, match="leave them out"):
            bayescm.plots.plot_curve(found, **more)
    with pytest.raises(ValueError, match="can't be told apart"):
        bayescm.plots.plot_curve({str(i): found for i in range(9)})
    with pytest.raises(TypeError, match="curve_band"):
        bayescm.plots.plot_curve(found.drop_vars("histogram"))
