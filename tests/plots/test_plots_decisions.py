"""Pictures of prevalences and decision curves: what the artists hold is what the Datasets hold."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import special

import bayescm

COUNTS = bayescm.from_cells(tp=26, fn=4, fp=20, tn=150)
TWO = bayescm.from_cells(tp=[26, 24], fn=[4, 6], fp=[20, 8], tn=[150, 162], dims="system").assign_coords(
    system=["A", "B"]
)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def band(ax, i=0):
    """Return the corners of a band."""
    return ax.collections[i].get_paths()[0].vertices


def test_prevalence_shows_medians_and_bands():
    found = bayescm.planning.at_prevalences(COUNTS, prevalence=[0.5, 0.01, 0.1])
    ax = bayescm.plots.plot_prevalence(found)
    assert legend(ax) == ["precision", "negative predictive value", "prevalence of the counts: 0.15"]
    assert "all prevalences together" in ax.get_legend().get_title().get_text()
    for i, metric in enumerate(found.metric.values):
        line, one = ax.lines[i], found.sel(metric=metric).sortby("prevalence")
        assert line.get_xdata().tolist() == [0.01, 0.1, 0.5]
        assert np.array_equal(line.get_ydata(), one["median"])
        assert {tuple(v) for v in band(ax, i)} >= {
            (0.01, float(one["interval"][0, 0])),
            (0.5, float(one["interval"][2, 1])),
        }
    assert ax.lines[-1].get_xdata()[0] == found["observed_prevalence"]


def test_an_uncertain_prevalence_is_a_bar():
    found = bayescm.planning.at_prevalences(COUNTS, "precision", [0.05, 0.1, 0.2, (2, 18)])
    ax = bayescm.plots.plot_prevalence(found, log=True, mark=False)
    assert ax.get_xscale() == "log"
    assert ax.get_ylabel() == "precision"
    assert "pointwise" in ax.get_legend().get_title().get_text()
    (bar,) = ax.collections[1].get_segments()
    np.testing.assert_allclose(bar[:, 1], found["interval"].values[3, 0])
    assert ax.lines[-1].get_xdata().tolist() == [pytest.approx(0.1)]
    assert ax.lines[0].get_xdata().tolist() == [0.05, 0.1, 0.2]


def test_systems_and_chosen_metrics():
    _, own = plt.subplots()
    found = bayescm.planning.at_prevalences(TWO, prevalence=[0.1, 0.2])
    ax = bayescm.plots.plot_prevalence(found, metrics="ppv", ax=own)
    assert ax is own
    assert legend(ax) == ["A", "B", "prevalence of the counts: 0.15"]
    assert legend(bayescm.plots.plot_prevalence(found))[:3] == [
        "A precision",
        "A negative predictive value",
        "B precision",
    ]
    one = bayescm.plots.plot_prevalence(bayescm.planning.at_prevalences(TWO, "ppv", 0.1))
    assert len(one.collections[0].get_segments()) == 1


def test_what_prevalence_refuses():
    found = bayescm.planning.at_prevalences(TWO, prevalence=[0.1, 0.2])
    with pytest.raises(ValueError, match="must be some of"):
        bayescm.plots.plot_prevalence(found, metrics="f1")
    with pytest.raises(TypeError, match="at_prevalences"):
        bayescm.plots.plot_prevalence(bayescm.summary(COUNTS))
    with pytest.raises(ValueError, match="at most one batch dim"):
        bayescm.plots.plot_prevalence(found.expand_dims("dataset"))
    with pytest.raises(ValueError, match="told apart"):
        bayescm.plots.plot_prevalence(
            bayescm.planning.at_prevalences(TWO, ["f1", "mcc", "ppv", "npv", "accuracy"], 0.1)
        )


def test_a_nomogram_crosses_its_scales_at_likelihood_ratios_and_predictive_values():
    ratios = bayescm.summary(COUNTS, ["positive_likelihood_ratio", "negative_likelihood_ratio"], ci_kind="eti")
    for prevalence in (1e-5, 0.02, 0.3):
        found = bayescm.planning.at_prevalences(COUNTS, prevalence=prevalence)
        ax = bayescm.plots.plot_prevalence(found, kind="nomogram")
        for i, (metric, wedge) in enumerate(zip(found.metric.values, ax.patches, strict=True)):
            start, low, high = wedge.get_xy()[:3, 1]
            assert start == pytest.approx(-special.logit(prevalence))
            after = found["interval"].sel(metric=metric).values.ravel()
            after = after if i == 0 else 1 - after[::-1]
            assert special.expit([low, high]) == pytest.approx(after)
            middle = np.exp([start + low, start + high])  # the scale in the middle is half the logarithm
            assert middle == pytest.approx(ratios["interval"][i].values, rel=1e-6)
        assert all(abs(place) <= ax.get_ylim()[1] for text in ax.texts for place in text.get_position()[1:])
        plt.close(ax.figure)


@pytest.mark.slow
def test_a_nomogram_of_a_perfect_and_of_an_empty_table_stays_on_its_scales():
    for cells in ((30, 0, 0, 200), (0, 0, 0, 0), (0, 9, 9, 0), (10**9, 0, 0, 10**9)):
        counts = bayescm.from_cells(**dict(zip(("tp", "fn", "fp", "tn"), cells, strict=True)))
        for prevalence in (1e-9, 0.5, 1 - 1e-9):
            ax = bayescm.plots.plot_prevalence(
                bayescm.planning.at_prevalences(counts, prevalence=prevalence), kind="nomogram"
            )
            places = np.concatenate([patch.get_xy()[:, 1] for patch in ax.patches])
            assert np.isfinite(places).all()
            assert ax.get_ylim()[1] < 10 < np.abs(places).max() <= 50 or prevalence == 0.5
            plt.close(ax.figure)


def test_what_a_nomogram_refuses():
    with pytest.raises(ValueError, match="`kind` must be one of"):
        bayescm.plots.plot_prevalence(bayescm.planning.at_prevalences(COUNTS, prevalence=0.1), kind="fagan")
    for found, reason in (
        (bayescm.planning.at_prevalences(COUNTS, prevalence=[0.1, 0.2]), "one known prevalence"),
        (bayescm.planning.at_prevalences(COUNTS, prevalence=(2, 98)), "one known prevalence"),
        (bayescm.planning.at_prevalences(COUNTS, "precision", 0.1), "no negative_predictive_value"),
        (bayescm.planning.at_prevalences(TWO, prevalence=0.1), "the dim 'system'"),
    ):
        with pytest.raises(ValueError, match=reason):
            bayescm.plots.plot_prevalence(found, kind="nomogram")


def test_decision_curve_shows_benefit_and_usefulness():
    found = bayescm.planning.decision_curve(COUNTS, np.arange(1, 20) / 20)
    upper, lower = bayescm.plots.plot_decision_curve(found)
    assert legend(upper) == ["classifier", "all positive", "all negative"]
    everyone, classifier = upper.lines[:2]
    assert np.array_equal(classifier.get_ydata(), found["median"].sel(action="classifier"))
    assert np.array_equal(everyone.get_ydata(), found["median"].sel(action="all positive"))
    assert np.array_equal(lower.lines[0].get_ydata(), found["probability_useful"])
    low, high = upper.get_ylim()
    assert -0.4 * high < low < 0 < found["interval"].sel(action="classifier").max() < high


def test_systems_of_the_same_prevalence_share_the_grey_line():
    found = bayescm.planning.decision_curve(TWO, [0.3, 0.1])
    upper, lower = bayescm.plots.plot_decision_curve(found)
    assert legend(upper) == ["A", "B", "all positive", "all negative"]
    assert len(upper.lines) == 4
    assert lower.lines[0].get_xdata().tolist() == [0.1, 0.3]
    other = TWO.copy(data=TWO.values + np.array([0, 30])[:, None, None])
    assert len(bayescm.plots.plot_decision_curve(bayescm.planning.decision_curve(other, [0.1, 0.3]))[0].lines) == 5


def test_one_threshold_useless_classifiers_and_given_axes():
    _, axes = plt.subplots(2)
    found = bayescm.planning.decision_curve(bayescm.from_cells(tp=0, fn=30, fp=30, tn=40), 0.5)
    upper, lower = bayescm.plots.plot_decision_curve(found, ax=axes)
    assert upper is axes[0]
    assert lower.lines[0].get_marker() == "o"
    assert upper.get_ylim()[0] < 0 < upper.get_ylim()[1]


def test_what_decision_curves_refuse():
    with pytest.raises(TypeError, match="decision_curve"):
        bayescm.plots.plot_decision_curve(bayescm.summary(COUNTS))
    for ax in (3, [3]):
        with pytest.raises(ValueError, match="two Axes"):
            bayescm.plots.plot_decision_curve(bayescm.planning.decision_curve(COUNTS, 0.2), ax=ax)
    with pytest.raises(ValueError, match="told apart"):
        bayescm.plots.plot_decision_curve(bayescm.planning.decision_curve(np.tile(COUNTS.values, (8, 1, 1)), 0.2))
