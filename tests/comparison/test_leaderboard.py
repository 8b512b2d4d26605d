import itertools

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import integrate, special, stats

import bayescm
from bayescm import comparison
from bayescm.comparison import rank_draws, ranks
from bayescm.distributions import Beta
from bayescm.models import same_items
from bayescm.results.objects import as_result

TABLE = np.array(  # totsch.kaggle of the oracles, rows submissions
    [
        [0.93108, 0.06599, 0.00286, 6e-05, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.06537, 0.77757, 0.14196, 0.0134, 0.00167, 3e-05, 0.0, 0.0, 0.0, 0.0],
        [0.00349, 0.14358, 0.66429, 0.14679, 0.03965, 0.00209, 0.00011, 1e-05, 0.0, 0.0],
        [4e-05, 0.00809, 0.11169, 0.45265, 0.36638, 0.05212, 0.00725, 0.00144, 0.00029, 4e-05],
        [2e-05, 0.00476, 0.07802, 0.36487, 0.46259, 0.0747, 0.01179, 0.00259, 0.00058, 9e-05],
        [0.0, 1e-05, 0.00112, 0.01952, 0.09905, 0.51534, 0.20356, 0.09773, 0.04651, 0.01715],
        [0.0, 0.0, 2e-05, 0.00108, 0.01158, 0.12435, 0.25031, 0.25025, 0.21498, 0.14742],
        [0.0, 0.0, 2e-05, 0.00108, 0.01158, 0.12435, 0.25031, 0.25025, 0.21498, 0.14742],
        [0.0, 0.0, 1e-05, 0.00047, 0.00605, 0.07891, 0.18703, 0.23878, 0.2646, 0.22416],
        [0.0, 0.0, 0.0, 8e-05, 0.00144, 0.02812, 0.08965, 0.15895, 0.25805, 0.46371],
    ]
)
REWARD = [9445.7, 2350.78, 986.35, 128.26, 87.7, 1.15, 0.02, 0.02, 0.01, 0.0]


def beta(a, b):
    return Beta(np.array(a, float), np.array(b, float))


def slow(a, b):
    """Enumerate who is larger, and integrate each case with scipy."""
    n = len(a)
    out = np.zeros((n, n))
    for s in range(n):
        others = [t for t in range(n) if t != s]
        for larger in itertools.product([False, True], repeat=n - 1):

            def integrand(x, s=s, others=others, larger=larger):
                value = stats.beta.pdf(x, a[s], b[s])
                for t, up in zip(others, larger, strict=True):
                    value *= special.betaincc(a[t], b[t], x) if up else special.betainc(a[t], b[t], x)
                return value

            ends = stats.beta.ppf([1e-13, 0.1, 0.5, 0.9, 1 - 1e-13], a[s], b[s])
            out[s, sum(larger)] += sum(
                integrate.quad(integrand, lo, hi, epsabs=1e-11, epsrel=1e-11)[0] for lo, hi in itertools.pairwise(ends)
            )
    return out


def test_the_leaderboard_of_the_paper():
    data = bayescm.datasets.kaggle2019()
    board = bayescm.leaderboard(data, design="independent", prior="laplace", prizes=[10_000, 2000, 1000])
    assert board.rank_probability.values == pytest.approx(TABLE, abs=6e-6)
    assert board.expected_prize.values == pytest.approx(REWARD, abs=0.006)
    assert np.array_equal(board.rank_probability[6], board.rank_probability[7])
    assert board.probability_better.values[6, 7] == 0.5
    assert board.attrs["method"] == "exact"
    assert board.attrs["error"] < 1e-10
    by_draws = bayescm.leaderboard(
        data, prior="laplace", design="independent", method="draws", draws=100_000, random_seed=1
    )
    assert by_draws.rank_probability.values == pytest.approx(TABLE, abs=0.006)
    assert np.array_equal(by_draws.rank_probability[6], by_draws.rank_probability[7])


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([3.5, 2.5, 7.5, 1.5], [1.5, 2.5, 3.5, 4.5]),
        ([0.5, 0.6, 4.0], [0.5, 2.0, 0.7]),
        ([30.5, 1e5, 2e6], [3.5, 1.1e4, 2.2e5]),
        ([900.0, 10.0, 0.5, 901.0], [100.0, 800.0, 1.5, 100.0]),
    ],
)
def test_ranks_are_right(a, b):
    found = ranks.of_betas(beta(a, b))
    assert found.ranks == pytest.approx(slow(a, b), abs=3e-9)
    assert found.error < 1e-8


CROWDS = {
    "identical": lambda rng: (np.full(300, 901.0), np.full(300, 101.0)),
    "far apart": lambda rng: (np.logspace(0, 7, 300), np.logspace(7, 0, 300)),
    "all sizes": lambda rng: (10 ** rng.uniform(-0.3, 8, 300), 10 ** rng.uniform(-0.3, 8, 300)),
    "one precise": lambda rng: (np.append(np.full(99, 8.0), 8e8), np.append(np.full(99, 2.0), 2e8)),
    "tiny concentrations": lambda rng: (np.array([1e-3, 1e-3, 5.0, 0.2]), np.array([1e-3, 3.0, 1e-3, 0.1])),
    "small": lambda rng: (rng.integers(0, 4, 300) + 0.5, rng.integers(0, 4, 300) + 0.5),
}


@pytest.mark.parametrize("crowd", CROWDS)
def test_every_rank_is_taken_and_finer_panels_say_the_same(crowd, monkeypatch):
    dist = beta(*CROWDS[crowd](np.random.default_rng(5)))
    found = ranks.of_betas(dist)
    assert found.error < 1e-8
    assert found.ranks.min() >= 0
    monkeypatch.setattr(ranks, "_SHARE", ranks._SHARE / 3)
    assert np.abs(ranks.of_betas(dist).ranks - found.ranks).max() < 1e-9
    expected_rank = found.ranks @ np.arange(1, len(dist.a) + 1)
    assert expected_rank == pytest.approx(0.5 + found.pairwise().sum(0), abs=1e-7)


def test_identical_systems_are_equally_likely_everywhere():
    found = ranks.of_betas(beta(np.full(50, 3.5), np.full(50, 1.5))).ranks
    assert found == pytest.approx(np.full((50, 50), 0.02), abs=1e-11)


@pytest.mark.parametrize(
    "metric",
    [
        "informedness",
        "error_rate",
        "f1",
        "fpr",
        "kappa",
        *(pytest.param(m, marks=pytest.mark.slow) for m in ("mcc", "lr+")),
    ],
)
def test_other_metrics_agree_with_draws(metric):
    counts = bayescm.from_cells(tp=[12, 9, 30, 1], fn=[3, 6, 2, 0], fp=[2, 1, 9, 1], tn=[11, 14, 9, 2])
    board = bayescm.leaderboard(counts, metric=metric, method="exact")
    by_draws = bayescm.leaderboard(counts, metric=metric, method="draws", draws=40_000, random_seed=2)
    assert board.attrs["error"] < (1e-4 if metric == "kappa" else 1e-5)  # a density with kinks
    assert board.rank_probability.values == pytest.approx(by_draws.rank_probability.values, abs=0.012)
    assert board.probability_better.values == pytest.approx(by_draws.probability_better.values, abs=0.012)


def test_a_metric_of_more_than_two_labels():
    counts = bayescm.from_array(np.random.default_rng(1).integers(1, 9, (5, 3, 3)), dims="system")
    assert bayescm.leaderboard(counts).attrs["method"] == "exact"
    board = bayescm.leaderboard(counts, metric="f1_macro", random_seed=1)
    assert board.attrs["method"] == "draws"
    assert board.rank_probability.sum("rank").values == pytest.approx(np.ones(5))
    assert (board.interval[:, 0] < board.interval[:, 1]).all()
    with pytest.raises(ValueError, match="f1_macro"):
        bayescm.leaderboard(counts, metric="f1")


def paired(n=400, seed=3):
    rng = np.random.default_rng(seed)
    actual, hard = rng.integers(0, 2, n), rng.random(n)
    return actual, {name: np.where(hard < p, 1 - actual, actual) for name, p in {"A": 0.1, "B": 0.12, "C": 0.3}.items()}


def test_the_same_items_separate_what_independent_test_sets_would_not():
    actual, answers = paired()
    together = bayescm.leaderboard(bayescm.predictions(actual, answers), random_seed=1)
    table = bayescm.data.paired_counts(actual, answers)
    assert (together.attrs["design"], together.attrs["method"]) == ("paired", "draws")
    with pytest.warns(UserWarning, match="same class totals"):
        apart = bayescm.leaderboard(bayescm.data.margins(table))
    assert together.probability_best[0] > apart.probability_best[0] + 0.1
    told = bayescm.leaderboard(bayescm.data.margins(table), design="independent")
    assert told.rank_probability.values == pytest.approx(apart.rank_probability.values)
    with pytest.warns(UserWarning, match="answered the same items"):
        forced = bayescm.leaderboard(table, design="independent")
    assert forced.rank_probability.values == pytest.approx(apart.rank_probability.values)
    assert np.array_equal(together.interval, apart.interval)
    two = bayescm.data.paired_counts(actual, {name: answers[name] for name in "AB"})
    pair = bayescm.leaderboard(two, draws=50_000, random_seed=2)
    only_a, only_b = (int(two.values[0, i, 1 - i] + two.values[1, 1 - i, i]) for i in (0, 1))
    prior = 2 * 0.5 * 0.5 / 1.0  # a_ij a_ik / a_i, summed over the two classes
    assert pair.probability_better.values[0, 1] == pytest.approx(
        special.betaincc(only_a + prior, only_b + prior, 0.5), abs=0.005
    )  # fmt: skip


def test_right_and_wrong_answers_to_as_many_items_are_suspected_too():
    with pytest.warns(UserWarning, match="same number of items"):
        apart = bayescm.leaderboard(bayescm.datasets.kaggle2019())
    told = bayescm.leaderboard(bayescm.datasets.kaggle2019(), design="independent")
    xr.testing.assert_identical(told, apart)
    other = bayescm.datasets.kaggle2019().assign(wrong=("system", np.arange(10) + 30))
    assert bayescm.leaderboard(other).sizes["system"] == 10  # without a warning


def test_the_same_answers_get_the_same_row():
    actual, answers = paired()
    board = bayescm.leaderboard(bayescm.predictions(actual, answers | {"D": answers["A"]}), random_seed=1, draws=2000)
    assert np.array_equal(board.rank_probability[0], board.rank_probability[3])
    assert board.probability_better.values[0, 3] == 0.5
    assert board.tie_group.values[0] == board.tie_group.values[3] == 1


def test_ties_share_their_ranks():
    values = np.array([[1.0, 1.0, 2.0], [3.0, 1.0, 1.0 + 1e-14]])
    found = rank_draws.of_values(values, near=1e-12)
    assert found.ranks * 2 == pytest.approx(np.array([[0.5, 0.5, 1], [1, 1, 0], [0.5, 0.5, 1]]))
    assert found.beats(0, np.array([1]))[0] == pytest.approx(0.25)


def test_tie_groups_start_with_a_leader_that_beats_all_that_follow():
    board = bayescm.leaderboard(bayescm.datasets.kaggle2019(), design="independent", prior="laplace", ci_prob=0.8)
    group, better = board.tie_group.values, board.probability_better.values
    assert group[0] == 1
    assert (np.diff(group) >= 0).all()
    for g in range(1, group.max() + 1):
        leader = int(np.flatnonzero(group == g)[0])
        assert (better[leader, group > g] > 0.9).all()
        assert (better[leader, group == g] <= 0.9).all()


def test_draws_do_not_depend_on_threads_and_neither_do_integrals(monkeypatch):
    dist = beta(*CROWDS["all sizes"](np.random.default_rng(1)))
    monkeypatch.setenv("BAYESCM_THREADS", "1")
    one = ranks.of_betas(dist).ranks
    monkeypatch.setenv("BAYESCM_THREADS", "3")
    assert np.array_equal(ranks.of_betas(dist).ranks, one)


def test_draws_of_betas_have_their_distribution():
    dist = beta([0.3, 5.0, 800.0], [2.0, 0.4, 3.0])
    values = rank_draws.of_betas(dist, 20_000, 1).values
    for s in range(3):
        assert stats.kstest(special.expit(-values[:, s]), stats.beta(dist.a[s], dist.b[s]).cdf).pvalue > 1e-4


def test_a_common_uncertain_prevalence_is_drawn():
    counts = bayescm.from_cells(tp=[18, 10], fn=[2, 10], fp=[10, 2], tn=[10, 18])
    board = bayescm.leaderboard(counts, prevalence=(20.0, 1.0), design="independent", method="draws", random_seed=1)
    assert board.probability_best[0] > 0.97  # a common prevalence near 1 favours recall
    with pytest.raises(ValueError, match="uncertain prevalence"):
        bayescm.leaderboard(counts, prevalence=(20.0, 1.0), design="independent", method="exact")
    assert bayescm.leaderboard(counts, prevalence=0.05, design="independent", method="exact").probability_best[1] > 0.97
    asked = {"metric": "recall", "design": "independent", "method": "exact"}
    of_one_class = bayescm.leaderboard(counts, prevalence=(20.0, 1.0), **asked)
    alone = bayescm.leaderboard(counts, **asked)
    np.testing.assert_allclose(of_one_class.rank_probability, alone.rank_probability, atol=1e-9)


@pytest.mark.parametrize("prevalence", [0.3, (3.0, 7.0)])
def test_what_is_the_same_for_all_systems_is_a_tie_whatever_the_rounding(prevalence):
    counts = bayescm.from_cells(tp=[40, 30, 35], fn=[5, 12, 9], fp=[4, 8, 8], tn=[70, 66, 67], dims="system")
    board = bayescm.leaderboard(counts, metric="prevalence", prevalence=prevalence, random_seed=1)
    np.testing.assert_allclose(board.rank_probability, 1 / 3)
    np.testing.assert_allclose(board.probability_better, 0.5)


def test_the_class_shares_of_the_same_items_can_be_fixed():
    told = bayescm.predictions(*paired())
    names = told.system.values.tolist()
    counts = same_items.patterns(told).matrices()
    board = bayescm.leaderboard(told, metric="mcc", prevalence="fixed", random_seed=1, draws=20_000)
    pair = bayescm.compare_systems(told, "mcc", prevalence="fixed", random_seed=2, draws=5000)["summary"].to_dataset()
    better = pair.probability_better.sel(comparison=f"{names[0]} - {names[1]}", metric="matthews_correlation")
    assert board.probability_better[0, 1] == pytest.approx(better.item(), abs=0.02)
    shares = bayescm.leaderboard(told, metric="prevalence", prevalence="fixed", random_seed=1)
    assert shares.interval.values == pytest.approx(counts[0, 1].sum() / counts[0].sum())


def test_an_empty_cell_is_drawn_where_integrals_would_take_minutes_or_miss():
    counts = bayescm.from_cells(tp=[40, 39], fn=[0, 0], fp=[0, 0], tn=[70, 50], dims="system")
    assert bayescm.leaderboard(counts, metric="mcc", random_seed=1).attrs["method"] == "draws"
    assert bayescm.leaderboard(counts, metric="mcc", prior="laplace").attrs["method"] == "exact"
    nothing = bayescm.from_cells(tp=[40, 0], fn=[5, 0], fp=[4, 0], tn=[70, 0], dims="system")
    board = bayescm.leaderboard(nothing, metric="informedness", random_seed=1)
    assert board.attrs["method"] == "draws"
    with pytest.warns(UserWarning, match="right to about"):
        asked = bayescm.leaderboard(nothing, metric="informedness", method="exact")
    np.testing.assert_allclose(asked.rank_probability, board.rank_probability, atol=0.02)


def test_a_rank_that_no_draw_shows_has_an_error():
    data = xr.Dataset({"correct": ("system", [900, 100]), "wrong": ("system", [100, 900])})
    board = bayescm.leaderboard(data, design="independent", method="draws", random_seed=1)
    assert board.rank_probability.values.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    np.testing.assert_allclose(board.mcse_rank_probability, 1e-4, rtol=1e-3)


def test_coordinates_of_systems_make_way_for_the_results():
    data = bayescm.datasets.kaggle2019().assign_coords(
        team=("system", list("abcdefghij")), rank=("system", np.arange(10)), point=("system", np.arange(10)),
        versus=("system", np.arange(10)),
    )  # fmt: skip
    board = bayescm.leaderboard(data, design="independent", pairwise=False)
    assert set(board.coords) == {"system", "team", "rank", "top", "ci_bound", "best_set"}
    assert board["rank"].values.tolist() == list(range(1, 11))
    assert "point" in board.data_vars


def test_one_system_and_a_perfect_one():
    one = bayescm.leaderboard(xr.Dataset({"correct": ("system", [0]), "wrong": ("system", [0])}))
    assert one.probability_best.values == pytest.approx([1.0])
    assert np.isnan(one.point.values[0])
    two = bayescm.leaderboard(
        xr.Dataset({"correct": ("system", [10, 9]), "wrong": ("system", [0, 1])}), metric="error_rate",
        design="independent",
    )  # fmt: skip
    assert two.probability_best.values[0] > 0.5
    assert two.point.values.tolist() == [0.0, 0.1]


BAD = {
    "no Dataset of answers": (xr.Dataset({"correct": ("team", [1])}), {}, "correct\\(system\\)"),
    "a fold": (bayescm.from_array(np.ones((2, 2, 2), int), dims="fold"), {}, "the dim 'system'"),
    "haldane": (bayescm.datasets.kaggle2019().assign(wrong=("system", [0] * 10)), {"prior": "haldane"}, "improper"),
    "negative": (bayescm.datasets.kaggle2019().assign(wrong=("system", [-1] * 10)), {}, "negative"),
    "metric": (bayescm.datasets.kaggle2019(), {"metric": "recall"}, "only right and wrong"),
    "prizes": (bayescm.datasets.kaggle2019(), {"prizes": np.ones(11)}, "no more ranks"),
    "missing prize": (bayescm.datasets.kaggle2019(), {"prizes": [np.nan]}, "missing value"),
    "draws": (bayescm.datasets.kaggle2019(), {"draws": 10}, "at least 1000"),
    "top": (bayescm.datasets.kaggle2019(), {"top": 0}, "`top`"),
    "prevalence": (bayescm.datasets.kaggle2019(), {"prevalence": 0.3}, "don't apply"),
    "model": (bayescm.datasets.kaggle2019(), {"model": "three_binomial"}, "don't apply"),
    "method": (bayescm.datasets.kaggle2019(), {"method": "nuts"}, "`method`"),
    "not a method": (bayescm.datasets.kaggle2019(), {"method": "paired"}, "`method` must be one of"),
    "not the same items": (bayescm.datasets.kaggle2019(), {"design": "paired"}, "same items"),
    "a design": (bayescm.datasets.kaggle2019(), {"design": "matched"}, "`design`"),
    "exact of pairs": (
        bayescm.predictions([0, 0, 1, 1], {"A": [0, 1, 1, 1], "B": [0, 0, 0, 1]}),
        {"method": "exact", "design": "paired"}, "leave it out",
    ),
    "one learns nothing": (bayescm.datasets.kaggle2019().isel(system=[0]), {"prior": "learned"}, "several systems"),
    "learned integrals": (
        bayescm.from_cells(tp=[40, 30], fn=[5, 9], fp=[4, 8], tn=[70, 66]), {"prior": "learned", "metric": "mcc"},
        "one Beta for each",
    ),
    "no bounds": (
        bayescm.predictions([0, 0, 1, 1], {"A": [0, 1, 1, 1], "B": [0, 0, 0, 1]}),
        {"prior": "learned", "metric": "lr+", "design": "paired"}, "between two bounds",
    ),
    "rope": (bayescm.datasets.kaggle2019(), {"rope": -0.1}, "`rope`"),
    "names": (bayescm.datasets.kaggle2019().assign_coords(system=["a"] * 10), {}, "'a' twice"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_has_no_answer_is_refused(case):
    data, options, message = BAD[case]
    design = {} if "method" in options else {"design": "independent"}
    with pytest.raises(ValueError, match=message):
        bayescm.leaderboard(data, **(design | options))


def test_top_takes_whole_numbers():
    with pytest.raises(TypeError, match="`top`"):
        bayescm.leaderboard(bayescm.datasets.kaggle2019(), design="independent", top=1.5)
    board = bayescm.leaderboard(bayescm.datasets.kaggle2019(), design="independent", top=np.array([2, 1]))
    assert board.top.values.tolist() == [1, 2]


def test_the_board_survives_netcdf(tmp_path):
    board = bayescm.leaderboard(bayescm.datasets.kaggle2019(), design="independent", prizes=[3, 1], top=[1, 3])
    board.to_netcdf(tmp_path / "b.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "b.nc", engine="h5netcdf") as back:
        xr.testing.assert_identical(as_result(back.load()), board)
    assert comparison.leaderboard is bayescm.leaderboard


def test_a_file_of_thirty_systems_and_five_hundred_questions_in_two_lines(tmp_path):
    rng = np.random.default_rng(5)
    hard = rng.normal(size=500)
    right = {f"m{i}": (rng.normal(size=500) + 0.08 * i > hard).astype(int) for i in range(30)}
    pd.DataFrame(right).rename_axis("item").reset_index().melt("item", None, "system", "correct").to_csv(
        tmp_path / "answers.csv", index=False
    )
    board = bayescm.leaderboard(pd.read_csv(tmp_path / "answers.csv"), draws=2000, random_seed=1)
    table = board.bayescm.table()[["point", "lower", "upper", "tie_group"]]
    assert len(table) == 30
    assert table.tie_group.is_monotonic_increasing
    assert table.tie_group.min() == 1 < table.tie_group.max()
    assert table.point.to_dict() == pytest.approx({name: answers.mean() for name, answers in right.items()})
    assert table.index[0] in {f"m{i}" for i in range(25, 30)}
