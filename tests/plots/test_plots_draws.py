"""Pictures of a model's draws: those of what the question says of them."""

import functools

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

import bayescm


@functools.cache
def draws(systems=""):
    shape, dims = (2, 600, *[len(systems)] * bool(systems)), ["system"] * bool(systems)
    theta = np.random.default_rng(3).dirichlet([20, 3, 2, 15], shape).reshape(*shape, 2, 2)
    coords = {"actual": [0, 1], "predicted": [0, 1]} | ({"system": list(systems)} if systems else {})
    data = xr.Dataset({"theta": (("chain", "draw", *dims, "actual", "predicted"), theta)}, coords=coords)
    return xr.DataTree.from_dict({"posterior": data})


QUESTIONS = {
    "plot_forest": bayescm.summary,
    "plot_region": lambda tree: bayescm.region(tree, method="credible"),
    "plot_prevalence": bayescm.planning.at_prevalences,
    "plot_distribution": lambda tree: bayescm.metric_distribution(tree, "f1"),
}
OF_SYSTEMS = {
    "plot_forest": bayescm.summary,
    "plot_metric_uncertainty": lambda tree: bayescm.summary(tree, "f1"),
    "plot_leaderboard": bayescm.leaderboard,
    "plot_pairwise": lambda tree: bayescm.leaderboard(tree, pairwise=True),
    "plot_difference": bayescm.compare_systems,
    "plot_prevalence": bayescm.planning.at_prevalences,
    "plot_distribution": lambda tree: bayescm.metric_distribution(tree, "f1"),
}


def numbers(ax):
    """Return every number and word that axes show."""
    lines = [line.get_xydata() for line in ax.lines]
    filled = [path.vertices for collection in ax.collections for path in collection.get_paths()]
    images = [np.asarray(image.get_array()) for image in ax.images]
    legend = ax.get_legend()
    texts = [*ax.texts, *(legend.get_texts() if legend else []), ax.xaxis.label, ax.yaxis.label]
    return lines + filled + images, [text.get_text() for text in texts]


@pytest.mark.parametrize(
    ("name", "question", "systems"),
    [(*one, "") for one in QUESTIONS.items()] + [(*one, "ab") for one in OF_SYSTEMS.items()],
)
def test_draws_are_drawn_as_the_answer_about_them(name, question, systems):
    tree, plot = draws(systems), getattr(bayescm.plots, name)
    own = {"metric": "f1"} if name in ("plot_distribution", "plot_metric_uncertainty") else {}
    of_draws, of_answer = numbers(plot(tree, **own)), numbers(plot(question(tree)))
    assert of_draws[1] == of_answer[1]
    assert len(of_draws[0]) == len(of_answer[0]) > 0
    for one, other in zip(of_draws[0], of_answer[0], strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_numbers_are_those_of_the_draws():
    tree = draws("ab")
    theta = tree["posterior"]["theta"]
    accuracy = (theta[..., 0, 0] + theta[..., 1, 1]).stack(sample=("chain", "draw"))
    ax = bayescm.plots.plot_metric_uncertainty(tree, metric="accuracy")
    width = np.diff(accuracy.quantile([0.025, 0.975], "sample"), axis=0)[0]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), width, rtol=1e-6)
    board = bayescm.plots.plot_pairwise(tree).images[0].get_array()
    better = float((accuracy[0] > accuracy[1]).mean())
    np.testing.assert_allclose(np.sort([board[0, 1], board[1, 0]]), np.sort([better, 1.0 - better]), atol=1e-9)


def test_draws_need_a_metric_and_several_have_names():
    tree = draws()
    with pytest.raises(TypeError, match="`metric` must be given for draws"):
        bayescm.plots.plot_distribution(tree)
    ax = bayescm.plots.plot_distribution({"prior": tree, "posterior": tree}, metric="recall")
    assert [text.get_text().partition(":")[0] for text in ax.get_legend().get_texts()] == ["prior", "posterior"]
    ax = bayescm.plots.plot_region({"one": tree, "other": tree}, iso_f1=False)
    assert [text.get_text() for text in ax.get_legend().get_texts()][:2] == ["one", "other"]
    plt.close("all")


def test_a_refusal_is_about_the_data_of_the_picture():
    with pytest.raises((TypeError, ValueError), match="`data`"):
        bayescm.plots.plot_leaderboard(draws())


def test_levels_of_draws_are_asked_for():
    for levels in (0.99, [0.5, 0.99]):
        ax = bayescm.plots.plot_region(draws(), levels=levels, point=False)
        assert [text.get_text() for text in ax.get_legend().get_texts()][-1] == "99%"
