"""Pictures can be read: in every style, with many systems or classes, and with long names."""

import functools
import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgba

import bayescm
from bayescm import plots
from bayescm.plots import style
from bayescm.plots.letters import wrapped

RNG = np.random.default_rng(1)
LONG = [
    f"group-{i:02d}/a-model-with-a-long-name-finetuned-on-notes-v{i:02d}_q8_0!"[:60].ljust(60, "x") for i in range(20)
]
RIGHT, REST = RNG.binomial(100, np.linspace(0.6, 0.95, 20)), RNG.binomial(100, 0.8, 20)
TWENTY = bayescm.from_cells(tp=RIGHT, fn=100 - RIGHT, fp=100 - REST, tn=REST, dims="system").assign_coords(system=LONG)
ONE = bayescm.from_cells(tp=26, fn=2, fp=3, tn=9)


@functools.cache
def of_classes(k):
    table = np.random.default_rng(k).poisson(0.6, (k, k)) + np.diag(np.full(k, 80))
    return bayescm.from_array(table, labels=[f"great white shark {i}" for i in range(k)])


@functools.cache
def board(n):
    some = TWENTY.isel(system=slice(n))
    return bayescm.leaderboard(some, design="independent", pairwise=True, prizes=[10_000, 500], random_seed=1)


@functools.cache
def two():
    some = TWENTY.isel(system=slice(2))
    return bayescm.compare_systems(some, "f1", design="independent", rope=0.01, random_seed=1)


CROWDED = {
    "forest": lambda ax: plots.plot_forest(bayescm.summary(TWENTY, "recall"), ax=ax),
    "forest of metrics": lambda ax: plots.plot_forest(bayescm.summary(TWENTY, ["recall", "f1"]), ax=ax),
    "forest side by side": lambda ax: plots.plot_forest(
        bayescm.summary(TWENTY.isel(system=slice(3)), ["recall", "f1"]), ax=ax
    ),
    "forest of classes": lambda ax: plots.plot_forest(bayescm.summary(of_classes(12), random_seed=1), ax=ax),
    "leaderboard": lambda ax: plots.plot_leaderboard(board(20), ax=ax),
    "leaderboard of 10": lambda ax: plots.plot_leaderboard(board(10), ax=ax),
    "pairwise": lambda ax: plots.plot_pairwise(board(20), ax=ax),
    "matrix of 2": lambda ax: plots.plot_confusion_matrix(ONE, ax=ax),
    "matrix of 12": lambda ax: plots.plot_confusion_matrix(of_classes(12), ax=ax),
    "matrix of 30": lambda ax: plots.plot_confusion_matrix(of_classes(30), ax=ax),
    "matrix of 50": lambda ax: plots.plot_confusion_matrix(of_classes(50), ax=ax),
    "difference": lambda ax: plots.plot_difference(two(), ax=ax),
}
TRUE = np.arange(200) % 2
SCORES = {name: TRUE + RNG.normal(0, 1, 200) for name in LONG[:4]}


def distributions(n):
    return {name: bayescm.metric_distribution(TWENTY[i], "f1") for i, name in enumerate(LONG[:n])}


NAMED = {
    "ridges": lambda: plots.plot_distribution(distributions(20), kind="ridge", reference=0.5),
    "densities": lambda: plots.plot_distribution(distributions(5), reference=0.5),
    "areas": lambda: plots.plot_areas(bayescm.curve_posterior(TRUE, SCORES, draws=50, random_seed=1), reference=0.7),
    "curves": lambda: bayescm.curve_band(TRUE, SCORES, draws=100, random_seed=1).plot(),
    "regions": lambda: plots.plot_region(bayescm.region(TWENTY[:4], grid=33)),
}
USUAL = {
    "forest": lambda: plots.plot_forest(bayescm.summary(ONE, ["recall", "f1"])),
    "distribution": lambda: plots.plot_distribution(bayescm.metric_distribution(ONE, "mcc"), reference=0.5),
    "region": lambda: plots.plot_region(bayescm.region(ONE)),
    "prevalence": lambda: plots.plot_prevalence(bayescm.planning.at_prevalences(ONE, random_seed=1)),
    "decision": lambda: plots.plot_decision_curve(bayescm.planning.decision_curve(ONE)),
}


def words_in(figure):
    """Return all text that a figure shows."""
    found = []
    for ax in (one for each in figure.axes for one in (each, *each.child_axes)):
        found += [*ax.texts, ax.xaxis.label, ax.yaxis.label, *(getattr(ax, name) for name in ("title", "_left_title"))]
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = zip(axis.get_major_ticks(), axis.get_majorticklocs(), strict=False)
            found += [label for tick, at in ticks if low <= at <= high for label in (tick.label1, tick.label2)]
        if ax.get_legend():
            found += [ax.get_legend().get_title(), *ax.get_legend().get_texts()]
    return [text for text in found if text.get_visible() and text.get_text().strip()]


@pytest.mark.slow
@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("name", CROWDED)
def test_no_text_overlaps_another(name, given):
    ax = CROWDED[name](plt.subplots(figsize=(9, 9), layout="constrained")[1] if given else None)
    ax.figure.canvas.draw()
    words = words_in(ax.figure)
    assert len(words) > 5
    x0, y0, x1, y1 = np.transpose([text.get_window_extent().extents for text in words])
    wide = np.minimum(x1, x1[:, None]) - np.maximum(x0, x0[:, None])
    high = np.minimum(y1, y1[:, None]) - np.maximum(y0, y0[:, None])
    for i, j in zip(*np.triu(np.minimum(wide, high) > 1.5, 1).nonzero(), strict=True):
        pytest.fail(f"{words[i].get_text()!r} lies on {words[j].get_text()!r}")


@pytest.mark.parametrize("name", NAMED)
def test_long_names_leave_the_axes_their_room(name):
    ax = NAMED[name]()
    ax.figure.canvas.draw()
    assert ax.get_position().width > 0.5
    words = [*ax.get_legend().get_texts(), *ax.get_yticklabels()] if ax.get_legend() else ax.get_yticklabels()
    boxes = [text.get_window_extent() for text in words]
    assert max(box.x1 for box in boxes) <= ax.figure.bbox.x1 + 1
    assert min(box.x0 for box in boxes) >= -1
    shown = sorted(boxes, key=lambda box: box.y0)
    assert all(upper.y0 >= lower.y1 - 1.5 for lower, upper in itertools.pairwise(shown) if upper.x0 < lower.x1
               and lower.x0 < upper.x1)  # fmt: skip


@pytest.mark.parametrize("name", ["forest", "forest of metrics", "leaderboard", "pairwise"])
def test_long_names_are_complete(name):
    ax = CROWDED[name](None)
    said = {label.get_text().replace("\n", "") for axis in (ax.xaxis, ax.yaxis) for label in axis.get_ticklabels()}
    assert set(LONG) <= said


def test_wrapped_text_loses_no_letter():
    for name in (*LONG, "a name with spaces, which is long enough for two lines", "x" * 100):
        lines = wrapped(name).split("\n")
        assert max(map(len, lines)) <= 36
        assert "".join(lines).replace(" ", "") == name.replace(" ", "")
    assert wrapped("short-name") == "short-name"


@pytest.mark.parametrize("used", ["default", "dark_background", "ggplot", "seaborn-v0_8-darkgrid", "Solarize_Light2"])
@pytest.mark.parametrize("name", USUAL)
def test_marks_and_words_stand_out_in_every_style(name, used):
    with plt.style.context(used):
        axes = np.ravel(USUAL[name]())
        for ax in axes:
            for text in ax.texts:
                assert style.contrast(text.get_color(), ax.get_facecolor()) >= 3
            for line in ax.lines:
                faint = line.get_linewidth() < 1 and line.get_marker() in ("None", "")  # lines of equal F1
                assert faint or style.contrast(line.get_color(), ax.get_facecolor()) >= 1.5
            ticks = [line for line in ax.lines if line.get_marker() in ("|", "o") and line.get_linestyle() == "None"]
            inks = {to_rgba(line.get_color()) for line in ticks}
            assert not inks or max(style.contrast(one, ax.get_facecolor()) for one in inks) >= 4.5


def test_hues_are_those_of_the_style():
    usual = style.palette()
    assert usual[:2] == ("#0072B2", "#D55E00")
    with plt.style.context({"axes.prop_cycle": plt.cycler(color=["#112233", "#fefefe", "#aa0000"])}):
        assert style.palette() == ("#112233", "#aa0000", *usual[:4], *usual[6:])  # white can't be seen on white
    with plt.style.context("dark_background"):
        assert style.paper() == "#000000"
        assert style.ink() == "#ffffff"
        assert style.palette()[6] == "#ffffff"


def shares(counts, **options):
    ax = plots.plot_confusion_matrix(bayescm.inference.cell_summary(counts, **options))
    totals = [label.get_text() for label in ax.child_axes[0].get_yticklabels()] if ax.child_axes else []
    return [text.get_text().split("\n")[:2] for text in ax.texts], totals


def test_a_share_is_that_of_its_counts():
    assert shares([[6, 2], [0, 26]]) == ([["6", "75.0%"], ["2", "25.0%"], ["0", "0.0%"], ["26", "100.0%"]], ["8", "26"])
    assert shares([[2999, 1], [0, 0]])[0] == [["2999", ">99.9%"], ["1", "<0.1%"], ["0", "-"], ["0", "-"]]
    assert shares([[6, 2], [0, 32]], normalize="all") == (
        [["6", "15.0%"], ["2", "5.0%"], ["0", "0.0%"], ["32", "80.0%"]], [],
    )  # fmt: skip


@pytest.mark.slow
def test_of_many_classes_the_title_says_what_the_cells_hold():
    said = {k: plots.plot_confusion_matrix(of_classes(k)) for k in (12, 30, 50)}
    assert [ax.get_title().split("\n")[-1] for ax in said.values()] == ["95% ETI", "empty: 0", "empty: 0"]
    for k, ax in said.items():
        labels = [label.get_text() for label in ax.get_xticklabels()]
        assert labels == [f"great white shark {i}" for i in range(k)]
        assert min(text.get_fontsize() for text in ax.texts) >= 5


def test_edges_of_exact_regions_are_not_torn():
    made = bayescm.region([[20, 3], [2, 9]], method="exact")
    figure, (drawn, raw) = plt.subplots(1, 2)
    plots.plot_region(made, levels=0.954, fill=False, ax=drawn)
    plots.visuals.level_contours(made["level"], raw, levels=[0.954])
    turns, areas = [], []
    for ax in (drawn, raw):
        (contours,) = (c for c in ax.collections if type(c).__name__ == "QuadContourSet")
        x, y = max((path.vertices for path in contours.get_paths()), key=len).T
        steps = np.diff(x + 1j * y)
        steps = steps[np.abs(steps) > 0]
        turns.append(np.abs(np.angle(steps[1:] / steps[:-1])).sum() / (2 * np.pi))
        areas.append(0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))))
    assert turns[0] < 2 < 5 < turns[1]  # a circle turns once
    assert areas[0] == pytest.approx(areas[1], rel=0.03)
    plt.close(figure)
