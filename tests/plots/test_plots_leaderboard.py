import numpy as np
import pytest
import xarray as xr

import bayescm


@pytest.fixture(scope="module")
def board():
    return bayescm.leaderboard(
        bayescm.datasets.kaggle2019(), design="independent", prior="laplace", prizes=[10_000, 2000, 1000]
    )


def texts(ax):
    return [text.get_text() for text in ax.texts]


def prizes(ax):
    (above,) = ax.child_axes
    assert above.get_xlabel() == "expected prize"
    return [label.get_text() for label in above.get_xticklabels()]


def test_columns_are_systems_and_rows_are_ranks(board):
    shuffled = board.isel(system=[3, 0, 2, 1, 4, 9, 8, 6, 7, 5])
    ax = bayescm.plots.plot_leaderboard(shuffled)
    shown = np.asarray(ax.images[0].get_array())
    assert shown == pytest.approx(board.rank_probability.values.T, abs=1e-12)
    assert [label.get_text() for label in ax.get_xticklabels()] == board.system.values.tolist()
    assert texts(ax)[0] == ".93"
    assert ax.get_title(loc="left") == "Accuracy: P(rank); independent test sets, no draws"
    assert prizes(ax)[:2] == ["9,446", "2,351"]
    assert prizes(ax)[-1] == "0"
    assert len(ax.lines) == 2  # three tie groups


def test_only_some_systems_and_no_prizes():
    data = bayescm.datasets.kaggle2019()
    ax = bayescm.plots.plot_leaderboard(bayescm.leaderboard(data, design="independent"), systems=3)
    assert np.asarray(ax.images[0].get_array()).shape == (3, 3)
    assert "the first 3" in ax.get_xlabel()
    assert not ax.child_axes


def test_many_systems_have_colours_only():
    right = np.random.default_rng(1).binomial(1000, 0.9, 40)
    data = xr.Dataset({"correct": ("system", right), "wrong": ("system", 1000 - right)})
    board = bayescm.leaderboard(data, design="independent", prizes=[100])
    ax = bayescm.plots.plot_leaderboard(board)
    assert not texts(ax)
    assert np.asarray(ax.images[0].get_array()).shape == (40, 40)  # all are shown
    assert len(ax.get_xticklabels()) == len(prizes(ax)) == 40
    assert len(ax.figure.axes) == 2  # with a scale of colours


def test_what_is_no_leaderboard_is_refused(board):
    with pytest.raises(TypeError, match="`data`"):
        bayescm.plots.plot_leaderboard(xr.Dataset())
    with pytest.raises(ValueError, match="`systems`"):
        bayescm.plots.plot_leaderboard(board, systems=0)
