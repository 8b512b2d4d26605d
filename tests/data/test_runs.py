"""Several runs of an item: every way of giving them says the same, and an item counts once."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import integrate, stats

import bayescm
from bayescm.models.same_items import draw, patterns

N, M = 30, 4
RNG = np.random.default_rng(4)
EASE = RNG.beta(0.3, 0.3, N)
RUNS = {name: (RNG.random((N, M)) < EASE[:, None] ** power).astype(int) for name, power in {"a": 1, "b": 1.4}.items()}
PASSES = pd.DataFrame({name: runs.sum(1) for name, runs in RUNS.items()})
TOLD = bayescm.predictions([1] * N, RUNS, labels=[0, 1])
LONG = pd.DataFrame(
    [(name, f"q{i}", r, runs[i, r]) for name, runs in RUNS.items() for i, r in np.ndindex(N, M)],
    columns=["system", "item", "run", "correct"],
)
FEW = {"draws": 1000, "random_seed": 1}


@pytest.mark.parametrize(
    "given",
    [
        lambda: ((TOLD,), {}),
        lambda: ((PASSES,), {"runs": M}),
        lambda: ((PASSES.to_dict("list"),), {"runs": M}),
        lambda: ((xr.DataArray(PASSES, dims=("item", "system")),), {"runs": M}),
        lambda: ((PASSES.rename_axis("item").reset_index().melt("item", None, "system", "passes"),), {"runs": M}),
        lambda: ((LONG.sample(frac=1, random_state=1).sort_values("system", kind="stable"),), {}),
        lambda: ((LONG.replace({"correct": {1: "pass", 0: "fail"}}),), {}),
        lambda: ((LONG.assign(actual=1, predicted=LONG.correct).drop(columns="correct"),), {}),
        lambda: (([1] * N, RUNS), {"labels": [0, 1]}),
        lambda: ((RUNS,), {}),
        lambda: ((xr.DataArray(TOLD.predicted.drop_vars("class_label", errors="ignore")),), {}),
    ],
)
def test_every_way_of_giving_runs_says_the_same(given):
    arguments, options = given()
    want, board = bayescm.leaderboard(TOLD, **FEW), bayescm.leaderboard(*arguments, **options, **FEW)
    xr.testing.assert_equal(board, want)
    tree = bayescm.compare_systems(*arguments, **options, random_seed=1)
    xr.testing.assert_equal(
        tree["summary"].to_dataset(), bayescm.compare_systems(TOLD, random_seed=1)["summary"].to_dataset()
    )
    assert board.attrs["runs"] == tree.attrs["runs"] == M
    assert "runs are averaged" in board.attrs["assumptions"]


def test_one_run_is_what_it_was_and_so_are_runs_that_all_are_the_same():
    once = {name: runs[:, 0] for name, runs in RUNS.items()}
    want = bayescm.predictions([1] * N, once, labels=[0, 1])
    for other in (
        {name: runs[:, :1] for name, runs in RUNS.items()},
        {name: np.repeat(runs[:, :1], 3, 1) for name, runs in RUNS.items()},
    ):
        told = bayescm.predictions([1] * N, other, labels=[0, 1])
        xr.testing.assert_identical(bayescm.leaderboard(told, **FEW), bayescm.leaderboard(want, **FEW))
        found, known = (bayescm.compare_systems(one, ["accuracy", "mcc"], random_seed=1) for one in (told, want))
        assert found.identical(known)
        one, other = (bayescm.summary(given, "accuracy", random_seed=1) for given in (told, want))
        xr.testing.assert_identical(one, other)


def test_runs_are_only_shares():
    """One run beside four, and eight beside them, in any order, are the same shares."""
    mixed = bayescm.predictions(
        [1] * N, {"a": RUNS["a"][:, ::-1], "b": np.repeat(RUNS["b"], 2, 1), "c": RUNS["a"][:, 0]}, labels=[0, 1]
    )
    plain = bayescm.predictions([1] * N, RUNS | {"c": np.repeat(RUNS["a"][:, :1], M, 1)}, labels=[0, 1])
    assert mixed.sizes["run"] == 2 * M
    for one, other in zip(patterns(mixed)[:2], patterns(plain)[:2], strict=True):
        assert len(one) == len(other)
    assert np.allclose(draw(patterns(mixed), 1.0, 1, 50, 3), draw(patterns(plain), 1.0, 1, 50, 3), atol=1e-12)


def test_the_mean_is_a_linear_form_of_a_dirichlet():
    """Moments of sum_k k/m p_k, with p over the numbers of passes; the prior has one item at either end."""
    found = bayescm.summary(TOLD, ["accuracy", "error_rate"], random_seed=1)
    assert (found.method == "draws").all()
    for name in RUNS:
        values = np.append(RUNS[name].mean(1), [0.0, 1.0])
        mean, n = values.mean(), len(values)
        sd = np.sqrt((np.mean(values**2) - mean**2) / (n + 1))
        one = found.sel(system=name, metric="accuracy")
        assert one["mean"] == pytest.approx(mean, abs=5 * sd / 200)
        assert one["sd"] == pytest.approx(sd, rel=0.02)
        assert one["point"] == pytest.approx(RUNS[name].mean())
        assert found.sel(system=name, metric="error_rate")["point"] == pytest.approx(1 - RUNS[name].mean())


def gil_pelaez(values, weights):
    """Return P(sum of Gamma(weights) x values > 0), the sign of a linear form of a Dirichlet, by its transform."""

    def integrand(t):
        angle = (weights * np.arctan(values * t)).sum()
        return np.sin(angle) / (t * np.exp(0.5 * (weights * np.log1p((values * t) ** 2)).sum()))

    return 0.5 + sum(integrate.quad(integrand, a, b, limit=500)[0] for a, b in ((0, 5), (5, 50), (50, np.inf))) / np.pi


def test_the_better_of_two_is_found_without_draws():
    found = bayescm.compare_systems(TOLD, draws=20_000, random_seed=1)["summary"]
    apart = RUNS["a"].mean(1) - RUNS["b"].mean(1)
    size = np.sqrt((apart[apart != 0] ** 2).mean())
    better = gil_pelaez(np.append(apart, [size, -size, 0.0]), np.ones(N + 3))
    error = np.sqrt(better * (1 - better) / 80_000)
    assert found.probability_better.item() == pytest.approx(better, abs=5 * error)
    assert found.point.item() == pytest.approx(apart.mean())
    assert found.discordant.values.ravel().tolist() == [(apart > 0).sum(), (apart < 0).sum()]
    assert found.reason.item() == f"{(apart > 0).sum()} items against {(apart < 0).sum()}"


def test_the_companion_is_the_t_test_of_the_items():
    tree = bayescm.compare_systems(TOLD, ["accuracy", "error_rate", "f1"], draws=100, random_seed=1)
    apart = RUNS["a"].mean(1) - RUNS["b"].mean(1)
    want = stats.ttest_rel(RUNS["a"].mean(1), RUNS["b"].mean(1))
    tests = tree["tests"].to_dataset()
    assert tests.p_value.sel(test="paired_t").values[0, :2] == pytest.approx([want.pvalue] * 2)
    assert tests.paired_t.values[0, 1] == pytest.approx(-np.array(want.confidence_interval())[::-1])
    assert np.isnan(tests.p_value.values[0, 2])
    assert "flips" not in tree.children
    losses = tree["summary"].sel(metric="error_rate")
    assert losses.discordant.values.ravel().tolist() == [(apart > 0).sum(), (apart < 0).sum()]


@pytest.mark.slow
def test_intervals_hold_where_the_runs_of_an_item_are_alike():
    """Items of 20, each with a chance of its own from Beta(.3, .3); pooled runs taken for items hold far less."""
    rng = np.random.default_rng(8)
    held, pooled, repeats = 0, 0, 150
    for repeat in range(repeats):
        passes = rng.binomial(10, rng.beta(0.3, 0.3, 20))
        found = bayescm.summary(passes, runs=10, draws=1000, random_seed=repeat, ci_kind="eti")
        low, high = found.interval.values.ravel()
        held += low <= 0.5 <= high
        low, high = stats.beta.ppf([0.025, 0.975], passes.sum() + 1, 200 - passes.sum() + 1)
        pooled += low <= 0.5 <= high
    assert held >= stats.binom.ppf(1e-4, repeats, 0.94)
    assert pooled <= stats.binom.ppf(1 - 1e-4, repeats, 0.65)


def test_a_system_of_several_classes_is_averaged_over_its_runs():
    rng = np.random.default_rng(1)
    actual = np.repeat(["x", "y", "z"], 20)
    runs = np.where(rng.random((60, 3)) < 0.7, actual[:, None], "x")
    told = bayescm.predictions(actual, {"a": runs, "b": actual})
    found = bayescm.summary(told, ["f1_macro", "recall"], draws=2000, random_seed=1).sel(system="a")
    pooled = bayescm.confusion_matrix(np.repeat(actual, 3), runs.ravel())
    assert found.point.values == pytest.approx(bayescm.summary(pooled, ["f1_macro", "recall"], draws=1000).point)
    tree = bayescm.compare_systems(told, ["mcc", "recall"], draws=500, random_seed=1)
    assert (tree["summary"].point < 0).sum() == 3
    assert tree["summary"].discordant.sel(metric="recall[x]").values.ravel().tolist() == [0, 0]


def test_names_and_dims_of_one_system():
    found = bayescm.summary([4, 3, 0, 4, 1], runs=4, draws=1000, random_seed=1)
    assert found.metric.values.tolist() == ["accuracy"]
    assert found.point.values.ravel() == pytest.approx([12 / 20])


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: bayescm.leaderboard(PASSES, runs=3), "has 4 passes, and `runs` is 3"),
        (lambda: bayescm.leaderboard(PASSES), r"leaderboard\(passes, runs=4\)"),
        (lambda: bayescm.leaderboard(PASSES / 8, runs=4), "whole"),
        (lambda: bayescm.leaderboard(PASSES, runs=0), "`runs`"),
        (lambda: bayescm.leaderboard(LONG.drop(columns="run")), "column 'run'"),
        (lambda: bayescm.leaderboard(pd.concat([LONG, LONG])), "run '0' of item 'q0' of system 'a' twice"),
        (lambda: bayescm.leaderboard(LONG.drop(index=5)), "3 runs of item 'q1'.*head"),
        (lambda: bayescm.leaderboard(LONG[LONG.item != "q1"].head(150)), "no row for item"),
        (lambda: bayescm.leaderboard(TOLD, design="independent"), "isel"),
        (lambda: bayescm.compare_systems(TOLD, design="independent"), "isel"),
        (lambda: bayescm.compare_systems(TOLD.isel(item=slice(2)), prior="haldane"), "improper"),
        (lambda: bayescm.summary(TOLD, model="three_binomial"), "dirichlet_multinomial"),
        (lambda: bayescm.decide(TOLD, {"fn": 1, "fp": 1}), "isel"),
        (lambda: bayescm.data.paired_counts([1] * N, RUNS), "predictions"),
        (lambda: bayescm.predictions([1] * 7, RUNS), r"\(7, runs\)"),
        (lambda: bayescm.leaderboard({name: runs[:4] for name, runs in RUNS.items()}), "predictions.*from_array"),
        (lambda: bayescm.predictions([1] * 2, {"a": [[1] * 1009] * 2, "b": [[0] * 997] * 2}), "same number"),
    ],
)
def test_what_is_refused(call, told):
    with pytest.raises((ValueError, TypeError), match=told):
        call()


def test_claims_about_runs_are_those_of_their_draws():
    found = bayescm.compare_systems(TOLD, "accuracy", require="accuracy > .5", random_seed=1)
    each = bayescm.probability(TOLD, "accuracy > .5", random_seed=2)
    np.testing.assert_allclose(found["summary"].requirement[0], each.probability[:, 0], atol=0.03)
    assert each.method.values.tolist() == ["draws"]
    assert (each.mcse_probability > 0).all()
