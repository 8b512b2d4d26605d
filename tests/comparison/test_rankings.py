"""Worths of rankings and votes: Gibbs beside quadrature, a Beta, a grid and Hunter's iteration."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import special, stats

import bayescm
from bayescm.cli import main

MODEL = {"model": "plackett_luce", "random_seed": 1}
NAN = np.nan
MIXED = [("A", "B", "C")] * 5 + [("B", "A", "C")] * 3 + [("C", "A")] * 2 + [("A", "C", "B")] + [("B", "C")] * 2


def likelihood(worths, rankings):
    """The chance of rankings by names, at worths by name."""
    value = 1.0
    for ranking in rankings:
        for place in range(len(ranking) - 1):
            value = value * worths[ranking[place]] / sum(worths[name] for name in ranking[place:])
    return value


def hunter(rankings, steps=4000):
    """Hunter's (2004) minorization-maximization of the likelihood."""
    names = sorted({name for ranking in rankings for name in ranking})
    worths = dict.fromkeys(names, 1 / len(names))
    for _ in range(steps):
        wins, weights = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
        for ranking in rankings:
            for place in range(len(ranking) - 1):
                wins[ranking[place]] += 1
                for name in ranking[place:]:
                    weights[name] += 1 / sum(worths[other] for other in ranking[place:])
        worths = {name: wins[name] / weights[name] for name in names}
        worths = {name: worth / sum(worths.values()) for name, worth in worths.items()}
    return np.array(list(worths.values()))


def test_gibbs_agrees_with_quadrature_over_three_worths():
    board = bayescm.leaderboard(MIXED, draws=40_000, **MODEL)
    grid = np.linspace(-9, 9, 721)
    x, y = np.meshgrid(grid, grid + 0.0125, indexing="ij")  # log worths beside C's, none of them alike
    parts = np.stack([np.exp(x), np.exp(y), np.ones_like(x)])
    shares = parts / parts.sum(0)
    density = likelihood(dict(zip("ABC", shares, strict=True)), MIXED) * np.sqrt(shares.prod(0))
    density /= density.sum()
    np.testing.assert_allclose(board["mean"], (density * shares).sum((1, 2)), atol=0.003)
    best = [(density * (shares.argmax(0) == i)).sum() for i in range(3)]
    np.testing.assert_allclose(board["probability_best"], best, atol=0.008)
    above = (density * shares[0] / (shares[0] + shares[2])).sum()
    assert board["probability_above"].sel(system="A", versus="C").item() == pytest.approx(above, abs=0.003)
    np.testing.assert_allclose(board["point"], hunter(MIXED), atol=1e-6)


def test_votes_on_two_are_a_beta_and_one_that_always_wins_has_a_finite_worth():
    votes = pd.DataFrame({"question": range(10), "winner": ["A"] * 7 + ["B"] * 3, "loser": ["B"] * 7 + ["A"] * 3})
    for data, beta, point in ((votes, (7.5, 3.5), 0.7), ([("A", "B")] * 5, (5.5, 0.5), NAN)):
        board = bayescm.leaderboard(data, draws=40_000, **MODEL)
        np.testing.assert_allclose(board["interval"][0], stats.beta(*beta).ppf([0.025, 0.975]), atol=0.006)
        assert board["probability_best"][0].item() == pytest.approx(stats.beta(*beta).sf(0.5), abs=0.006)
        np.testing.assert_allclose(board["point"][0], point, atol=1e-6)
        assert ("the prior alone" in board.bayescm.sentence) == np.isnan(point)


@pytest.mark.slow
def test_every_form_is_the_same_rankings():
    wide = pd.DataFrame({"A": [1, 2, 1], "B": [2, 1, NAN], "C": [3, 3, 2]})
    names = [("A", "B", "C"), ("B", "A", "C"), ("A", "C")]
    long = wide.rename_axis("judge").reset_index().melt("judge", var_name="system", value_name="rank").dropna()
    numbered = wide.assign(judge=[1, 2, 3])[["judge", *"ABC"]]
    forms = [names, long, numbered, numbered.to_csv(index=False), wide.to_dict("list")]
    forms.append(wide.to_xarray().to_array("system").T)
    wanted = bayescm.leaderboard(wide, **MODEL)
    assert wanted.attrs["rankings"] == 3
    for form in forms:
        np.testing.assert_allclose(bayescm.leaderboard(form, **MODEL)["mean"], wanted["mean"], atol=0.01)
    np.testing.assert_allclose(bayescm.leaderboard(wide.values, **MODEL)["mean"], wanted["mean"], atol=0.01)


def test_the_log_of_an_arena_is_votes():
    log = pd.DataFrame(
        {"model_a": list("ABAC"), "model_b": list("BACB"), "winner": ["model_a", "model_a", "model_b", "tie"]}
    )
    with pytest.raises(ValueError, match="1 votes for neither"):
        bayescm.leaderboard(log, **MODEL)
    board = bayescm.leaderboard(log[:3], **MODEL)
    xr.testing.assert_equal(board, bayescm.leaderboard([("A", "B"), ("B", "A"), ("C", "A")], **MODEL))


@pytest.mark.slow
def test_the_unranked_may_be_worst_or_missing():
    best = pd.DataFrame({"A": [1] * 8, "B": [2] * 8, "C": [NAN] * 8})
    assert "never compared" in bayescm.leaderboard(best, **MODEL).attrs["carried_by"]
    worst, complete = (
        bayescm.leaderboard(data, unranked="worst", **MODEL) for data in (best, best.fillna(3.0))
    )  # fmt: skip
    np.testing.assert_allclose(worst["mean"], complete["mean"], atol=0.01)
    assert worst["expected_rank"].values.argmax() == 2


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([[1, 1, 2]], "no ties"),
        ([[0.9, 0.8]], "scores aren't ranks"),
        ([[1, 3]], "none may be left out"),
        ([("A", "A")], "twice"),
        ([("A",)], "two systems"),
        ([[1, NAN], [NAN, 1]], "no ranking of two"),
        (pd.DataFrame({"winner": ["A", None], "loser": ["B", "A"]}), "without a winner"),
        (pd.DataFrame({"judge": [1, 1], "system": ["A", "A"], "rank": [1, 2]}), "twice by the same judge"),
        ({"A": ["good"], "B": ["bad"]}, "must be ranks"),
    ],
)
def test_what_are_no_rankings_is_refused(data, said):
    with pytest.raises(ValueError, match=said):
        bayescm.leaderboard(data, **MODEL)


def test_other_questions_options_are_refused():
    for name, value in {"metric": "f1", "design": "paired", "prevalence": 0.1, "method": "exact", "n_items": 5}.items():
        with pytest.raises(ValueError, match=f"`{name}` doesn't apply to rankings"):
            bayescm.leaderboard([("A", "B")], **{name: value}, **MODEL)
    with pytest.raises(ValueError, match="`unranked` is of rankings"):
        bayescm.leaderboard({"correct": [3, 4], "wrong": [1, 2]}, unranked="worst")
    with pytest.raises(ValueError, match="`prior` of rankings"):
        bayescm.leaderboard([("A", "B")], prior="learned", **MODEL)


def test_the_command_line_ranks_votes(tmp_path, capsys):
    file = tmp_path / "votes.csv"
    file.write_text("winner,loser\n" + "A,B\n" * 8 + "B,A\n" * 2 + "B,C\n" * 6 + "C,B\n" * 3)
    main(["leaderboard", str(file), "--model", "plackett_luce", "--seed", "1"])
    assert "A leads 3 systems in share of first places" in capsys.readouterr().out


@pytest.mark.slow
def test_draws_hardly_depend_on_one_another_where_chains_are_slow():
    rng = np.random.default_rng(3)
    chain = [(a, b) if rng.random() < 0.5 else (b, a) for a, b in zip("ABCDE", "BCDEF", strict=True) for _ in range(30)]
    boards = [bayescm.leaderboard(chain, model="plackett_luce", draws=2000, random_seed=seed) for seed in range(6)]
    best = np.stack([board["probability_best"] for board in boards])
    stated = np.stack([board["mcse_rank_probability"][:, 0] for board in boards])
    assert np.sqrt((best.var(0, ddof=1) / (stated**2).mean(0)).mean()) < 1.6


@pytest.mark.slow
def test_gibbs_agrees_with_a_grid():
    rng = np.random.default_rng(5)
    noise = rng.gumbel(size=(30, 4)) + np.log([4, 2, 2, 1])
    order = np.argsort(-noise, 1)
    sides = np.meshgrid(*[np.linspace(-2.5, 5, 61)] * 3, indexing="ij")
    share = special.softmax(np.stack([*sides, 0 * sides[0]], -1).reshape(-1, 4), -1)
    log_p = 0.5 * np.log(share).sum(-1)  # a Dirichlet of halves in these logits
    for one in order:
        left = share[:, one[::-1]].cumsum(-1)[:, ::-1]
        log_p += np.log(share[:, one] / left).sum(-1)
    p = special.softmax(log_p)
    mean = p @ share
    by_value = np.argsort(share, 0)
    below = p[by_value].cumsum(0)
    ends = [[np.interp(at, below[:, i], share[by_value[:, i], i]) for at in (0.025, 0.975)] for i in range(4)]
    board = bayescm.leaderboard(np.argsort(order, 1) + 1, draws=40_000, **MODEL)
    np.testing.assert_allclose(board["mean"], mean, atol=0.004)
    np.testing.assert_allclose(board["interval"], ends, atol=0.008)
