"""Every picture, of everything that one might hand it: it is drawn, or an error says what is wanted."""

import functools

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

import bayescm
from bayescm.plots import visuals

COUNTS = bayescm.from_cells(tp=26, fn=2, fp=3, tn=9)
SYSTEMS = bayescm.from_cells(tp=[26, 20], fn=[2, 9], fp=[3, 4], tn=[9, 9], dims="system")
TRUE = [0, 0, 0, 1, 0, 1, 1, 1]
SCORES = [0.1, 0.2, 0.3, 0.3, 0.5, 0.4, 0.7, 0.9]
FEW = {"chains": 1, "draws": 200, "random_seed": 1}

INPUTS = {
    "None": lambda: None,
    "number": lambda: 0.5,
    "text": lambda: "counts.csv",
    "list": lambda: [[6, 2], [0, 26]],
    "no list": list,
    "mapping": dict,
    "ndarray": lambda: COUNTS.values,
    "counts": lambda: COUNTS,
    "counts of systems": lambda: SYSTEMS,
    "summary": lambda: bayescm.summary(COUNTS, ["recall", "precision"]),
    "summary of systems": lambda: bayescm.summary(SYSTEMS, ["recall", "precision"]),
    "interval": lambda: bayescm.summary(COUNTS, "recall")["interval"],
    "cell_summary": lambda: bayescm.inference.cell_summary(COUNTS),
    "posterior": lambda: bayescm.posterior(COUNTS, metrics="recall", **FEW),
    "draws": lambda: bayescm.posterior(COUNTS, metrics="recall", **FEW)["posterior"].to_dataset(),
    "leaderboard": lambda: bayescm.leaderboard(SYSTEMS, metric="recall", random_seed=1),
    "comparison": lambda: bayescm.compare_systems(SYSTEMS, "recall", random_seed=1),
    "curve_posterior": lambda: bayescm.curve_posterior(TRUE, SCORES, **FEW),
    "thresholds": lambda: bayescm.curve_posterior(TRUE, SCORES, over="threshold", metrics="recall", **FEW),
    "curve_band": lambda: bayescm.curve_band(bayescm.curve_posterior(TRUE, SCORES, **FEW)),
    "reliability": lambda: bayescm.curves.reliability(TRUE, SCORES, bins=2),
    "region": lambda: bayescm.region(SYSTEMS, method="ellipse", grid=41),
    "replicate": lambda: bayescm.planning.replicate(COUNTS, "recall"),
    "interval_width": lambda: bayescm.planning.interval_width("recall", [50, 100]),
    "at_prevalences": lambda: bayescm.planning.at_prevalences(
        COUNTS, "precision", [0.1, 0.2], draws=1000, random_seed=1
    ),
    "metric_distribution": lambda: bayescm.metric_distribution(COUNTS, "recall"),
    "empty Dataset": xr.Dataset,
    "empty DataTree": xr.DataTree,
}
DRAWN = {name: getattr(bayescm.plots, name) for name in bayescm.plots.__all__ if name.startswith("plot_")}
DRAWN |= {
    "CurveDisplay": lambda data: bayescm.CurveDisplay(data).plot(),
    "arviz_options": bayescm.plots.arviz_options,
    "level_contours": lambda data: visuals.level_contours(data, plt.figure().gca(), levels=[0.5]),
    "level_shades": lambda data: visuals.level_shades(data, plt.figure().gca(), levels=[0.5]),
    "estimate": lambda data: visuals.estimate(data, plt.figure().gca()),
}
WHAT_CAME = (
    "; got ",
    "No such file",
    "is empty",
    "has the dim",
    "its posterior holds",
    "; it has []",
    "are draws of a model",
)
RIGHT = {
    "plot_forest": {"summary", "summary of systems", "replicate"},
    "plot_metric_uncertainty": {"summary of systems"},
    "plot_confusion_matrix": {"cell_summary", "counts", "list", "ndarray"},
    "plot_leaderboard": {"leaderboard"},
    "plot_pairwise": {"leaderboard"},
    "plot_difference": {"comparison"},
    "plot_areas": {"curve_posterior", "thresholds"},
    "plot_thresholds": {"thresholds"},
    "plot_curve": {"curve_band", "reliability"},
    "plot_region": {"region"},
    "plot_interval_width": {"interval_width"},
    "plot_prevalence": {"at_prevalences"},
    "plot_distribution": {"metric_distribution"},
    "arviz_options": {"metric_distribution"},
    "CurveDisplay": {"curve_posterior"},
}


@functools.cache
def given(name):
    return INPUTS[name]()


@pytest.mark.parametrize("drawn", DRAWN)
def test_wrong_inputs_are_answered_in_words(drawn):
    done = set()
    for name in INPUTS:
        try:
            DRAWN[drawn](given(name))
        except (TypeError, ValueError, FileNotFoundError) as error:
            said = str(error)
            assert said.startswith(("`", "No such file: 'counts.csv'")), f"{name}: {said}"
            assert any(word in said for word in WHAT_CAME), f"{name}: {said}"
        else:
            done.add(name)
        plt.close("all")
    assert RIGHT.get(drawn, set()) <= done
    assert "empty Dataset" not in done


@pytest.mark.parametrize(
    ("drawn", "call"),
    [
        ("plot_forest", "bayescm.plots.plot_forest(bayescm.summary(counts))"),
        ("plot_metric_uncertainty", "bayescm.plots.plot_metric_uncertainty(bayescm.summary(counts))"),
        ("plot_leaderboard", "bayescm.plots.plot_leaderboard(bayescm.leaderboard(systems))"),
        ("plot_region", "bayescm.region"),
        ("plot_distribution", "bayescm.metric_distribution"),
    ],
)
def test_counts_are_answered_with_the_call_to_make(drawn, call):
    with pytest.raises(TypeError) as told:
        DRAWN[drawn](SYSTEMS)
    assert call in str(told.value)
    assert "DataArray" in str(told.value)


def test_the_picture_of_counts_is_that_of_their_cells():
    texts = [[text.get_text() for text in bayescm.plots.plot_confusion_matrix(one).texts]
             for one in (COUNTS, bayescm.inference.cell_summary(COUNTS))]  # fmt: skip
    assert texts[0] == texts[1]
    assert texts[0][3].startswith("26\n")
    np.testing.assert_array_equal(len(texts[0]), 4)


def test_a_probability_is_never_a_false_0_or_1():
    better = bayescm.compare_systems(bayescm.from_cells(tp=[900, 10], fn=[3, 900], fp=[5, 900], tn=[990, 9],
                                                        dims="system"), random_seed=1)  # fmt: skip
    assert float(better["summary"]["probability"].sel(side="better").max()) == 1.0
    ax = bayescm.plots.plot_difference(better)
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert said[:2] == ["P(0 worse) < 0.001", "P(0 better) > 0.999"]
    pairwise = xr.DataArray([[0.5, 1.0], [0.0, 0.5]], coords={"system": ["A", "B"], "versus": ["A", "B"]})
    ax = bayescm.plots.plot_pairwise(pairwise.to_dataset(name="probability_better"))
    assert [text.get_text() for text in ax.texts] == ["> 0.999", "< 0.001"]
