"""The prior that is learnt from the systems of a leaderboard, and the sets that hold at once."""

import itertools
import time
import tracemalloc

import numpy as np
import pytest
import xarray as xr
from scipy import integrate, special, stats

import bayescm
from bayescm.comparison import clusters, lattice, mixtures, population, shrinkage

SMALL = np.array([3.0, 7.0, 9.0]), np.array([7.0, 5.0, 1.0])

CELLS = 120


def counted(right, wrong):
    return xr.Dataset({"correct": ("system", right), "wrong": ("system", wrong)})


def close(systems=20, items=500, sd=0.017, seed=1):
    """Counts of systems whose accuracies are close, and these."""
    rng = np.random.default_rng(seed)
    size = 0.85 * 0.15 / sd**2 - 1
    accuracy = rng.beta(0.85 * size, 0.15 * size, systems)
    right = rng.binomial(items, accuracy)
    return right, items - right, accuracy


def drawn(right, wrong, draws, seed, prior=60_000):
    """Draw the systems' rates under the prior of clusters.py by plain importance weights of draws from it.

    The slow answer shares nothing with the library but the prior: hyperparameters are drawn, and systems by the
    weights of cells that are as fine as the noise of each of them.
    """
    rng = np.random.default_rng(seed)
    half, items = np.pi / 2, right + wrong
    centre, reach = np.arcsin(np.sqrt(right / items)), np.sqrt(16 / items)
    edges = np.unique(np.clip(np.linspace(centre - reach, centre + reach, CELLS + 1), 0, half))
    rate = np.sin((edges[1:] + edges[:-1]) / 2) ** 2
    like = stats.binom.pmf(right[:, None], items[:, None], rate)
    flat = np.diff(np.sin(edges) ** 2)

    def masses(first, second, scatters, share, rest):
        found = rest[:, None] * flat
        for place, scatter, own in ((first, scatters[:, 0], share), (second, scatters[:, 1], 1 - share)):
            inside = special.ndtr((half - place) / scatter) - special.ndtr(-place / scatter)
            below = special.ndtr((edges - place[:, None]) / scatter[:, None])
            found += ((1 - rest) * own / inside)[:, None] * np.diff(below)
        return found

    logs, kept = [], []
    for _ in range(prior // 5000):
        n = 5000
        scatters = 0.02 * np.tan(rng.random((n, 2)) * np.arctan(0.45 / 0.02))
        hyper = rng.random(n) * half, rng.random(n) * half, scatters, rng.random(n), rng.beta(1, 3, n)
        logs.append(np.log(masses(*hyper) @ like.T).sum(1))
        kept.append(hyper)
    weight = np.exp(np.concatenate(logs) - np.max(logs))
    chosen = rng.choice(len(weight), draws, p=weight / weight.sum())
    mass = masses(*(np.concatenate(one)[chosen] for one in zip(*kept, strict=True)))
    out = np.empty((draws, len(right)))
    for s in range(len(right)):
        below = np.cumsum(mass * like[s], axis=1)
        cell = (below < rng.random((draws, 1)) * below[:, -1:]).sum(1)
        out[:, s] = np.sin(edges[cell] + rng.random(draws) * np.diff(edges)[cell]) ** 2
    return out, float(weight.sum() ** 2 / (weight @ weight))


@pytest.mark.slow
@pytest.mark.parametrize("case", ["three small", "close", "one failed", "sizes differ", "ten to ten millions"])
def test_the_mixture_is_the_hierarchical_model(case):
    right, wrong = {
        "three small": SMALL, "close": close(4, 100)[:2],
        "one failed": (np.array([85.0, 84, 86, 83, 20]), np.array([15.0, 16, 14, 17, 80])),
        "sizes differ": (np.array([9.0, 90, 260, 40]), np.array([1.0, 20, 40, 20])),
        "ten to ten millions": (np.array([9.0, 420, 8.5e4, 8.62e6]), np.array([1.0, 80, 1.5e4, 1.38e6])),
    }[case]  # fmt: skip
    dist = population.learn(right, wrong)
    found = mixtures.of_learned(dist)
    draws, size = drawn(right, wrong, 20_000, 3)
    assert size > 300
    room = 4.0 * 0.5 / np.sqrt(min(size, 20_000))
    rank = (-draws).argsort(1).argsort(1)
    shares = np.stack([np.bincount(column, minlength=len(right)) for column in rank.T]) / len(draws)
    assert found.error < 1e-7
    assert found.ranks == pytest.approx(shares, abs=room)
    expected = 1.0 + np.arange(len(right))
    assert found.ranks @ expected == pytest.approx(shares @ expected, abs=room)
    assert dist.mean() == pytest.approx(draws.mean(0), abs=room * 3 * draws.std(0).max())
    assert np.stack(dist.eti(0.9)) == pytest.approx(np.quantile(draws, [0.05, 0.95], axis=0), abs=0.02)
    mine = dist.draw(50_000, np.random.default_rng(1))
    assert mine.mean(0) == pytest.approx(dist.mean(), abs=0.004)
    assert (mine.argmax(1)[:, None] == np.arange(len(right))).mean(0) == pytest.approx(found.ranks[:, 0], abs=0.01)
    near = (np.abs(mine[:, :, None] - mine[:, None]) <= 0.02).mean(0)
    assert found.equivalent(0.02) == pytest.approx(near, abs=0.01)
    variance = mine.var(1, ddof=1).mean()
    assert dist.between() == pytest.approx((mine.mean(), variance**0.5), rel=0.02)


def unequal(systems, most, seed):
    """Counts of systems that answered from ten to `most` items."""
    rng = np.random.default_rng(seed)
    items = np.floor(10 ** rng.uniform(1, np.log10(most), systems))
    return rng.binomial(items.astype(int), rng.beta(90, 10, systems)), items


BOARDS = {
    "one failed": ([258, 255, 252, 256, 60], 300),
    "two groups": ([396, 402, 391, 400, 407, 399, 446, 440, 431, 437, 443, 441], 500),
    "close": (close(12)[0], 500),
    "sizes from ten to ten million": unequal(20, 10**7, 1),
    "so many that they are taken together": unequal(80, 10**4, 2),
}
FINER = {
    "halved boxes": [(clusters, "_ROUGH", 1e-3)],
    "nothing is left out": [(clusters, "_FAINT", 1e-6)],
    "no systems taken together": [(clusters, "_ALIKE", 10**6)],
    "finer cells": [(lattice, "_FINENESS", 0.1)],
    "more groups": [(population, "_GROUPS", 64), (population, "_EACH", 10**5)],
}


@pytest.mark.parametrize(
    "board", [*list(BOARDS)[:3], *(pytest.param(board, marks=pytest.mark.slow) for board in list(BOARDS)[3:])]
)
def test_other_nodes_and_finer_cells_say_the_same(board, monkeypatch):
    right, items = BOARDS[board]
    right = np.array(right, float)
    found = mixtures.of_learned(population.learn(right, items - right)).ranks[:, 0]
    for finer in FINER.values():
        for module, name, value in finer:
            monkeypatch.setattr(module, name, value)
        again = mixtures.of_learned(population.learn(right, items - right)).ranks[:, 0]
        assert again == pytest.approx(found, abs=0.006)
        monkeypatch.undo()


def test_quantiles_and_mean_of_f1():
    rate, f1 = population.learn(*SMALL), population.learn(*SMALL, "f1")
    for low, high in zip(rate.eti(0.8), f1.eti(0.8), strict=True):
        assert high == pytest.approx(2 * low / (1 + low), abs=1e-12)
    drawn_rates = rate.draw(100_000, np.random.default_rng(1))
    assert f1.mean() == pytest.approx((2 * drawn_rates / (1 + drawn_rates)).mean(0), abs=0.003)
    assert (drawn_rates < rate.eti(0.8)[0]).mean(0) == pytest.approx(np.full(3, 0.1), abs=0.005)


def test_one_that_failed_does_not_spread_the_others():
    right = np.array([258, 255, 252, 256])
    alone, board = (
        bayescm.leaderboard(counted(k, 300 - k), prior="learned", design="independent")
        for k in (right, np.append(right, 60))
    )
    assert board.probability_best.values[:4] == pytest.approx(alone.probability_best.values, abs=0.03)
    own = bayescm.leaderboard(counted(right, 300 - right), prior="jeffreys", design="independent")
    assert board.probability_best[0] < own.probability_best[0] - 0.05


def test_gains_and_losses_are_one_board():
    right = np.array([258, 255, 252, 256, 60])
    as_gain, as_loss = (
        bayescm.leaderboard(data, design="independent", metric=metric)
        for data, metric in ((counted(right, 300 - right), "accuracy"), (counted(right, 300 - right), "error_rate"))
    )
    assert as_loss.rank_probability.values == pytest.approx(as_gain.rank_probability.values, abs=0.002)
    assert as_loss["mean"].values == pytest.approx(1 - as_gain["mean"].values, abs=1e-4)


def test_a_thousand_systems_take_a_second():
    rng = np.random.default_rng(1)
    right = rng.binomial(1000, rng.beta(90, 10, 1000)).astype(float)
    tracemalloc.start()
    start = time.process_time()
    dist = population.learn(right, 1000 - right)
    seconds, peak = time.process_time() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seconds < 6.0  # half a second but for tracing and a busy machine
    assert peak < 200 * 2**20
    assert dist.mean().mean() == pytest.approx(right.mean() / 1000, abs=0.002)


EDGES = {
    "two": ([3, 5], [2, 0]),
    "nothing right": ([0, 0, 0], [5, 5, 5]),
    "all right, all wrong": ([10, 0, 10], [0, 10, 0]),
    "no items": ([0, 0, 3], [0, 0, 4]),
    "the same": ([900] * 12, [100] * 12),
    "millions": ([900_000, 800_000, 700_000, 500_000], [100_000, 200_000, 300_000, 500_000]),
    "one in a billion": ([10**9 - 3, 10**9 - 4, 10**9 - 9], [3, 4, 9]),
    "a far baseline": ([9500, 9510, 9490, 9505, 5000], [500, 490, 510, 495, 5000]),
}


@pytest.mark.parametrize("edge", EDGES)
def test_edges(edge):
    right, wrong = EDGES[edge]
    board = bayescm.leaderboard(counted(right, wrong), prior="learned", design="independent")
    assert board.attrs["method"] == "exact"
    assert board.attrs["error"] < 1e-6
    assert board.rank_probability.sum("rank").values == pytest.approx(np.ones(len(right)), abs=1e-6)
    again = bayescm.leaderboard(counted(right, wrong), prior="learned", design="independent")
    xr.testing.assert_identical(again, board)
    low, high = board.interval.values.T
    assert (low < board["mean"].values).all()
    assert (board["mean"].values < high).all()
    if edge == "the same":
        assert board.probability_best.values == pytest.approx(np.full(12, 1 / 12))
        assert board.attrs["population_sd"] < 0.004
    if edge in ("millions", "a far baseline"):  # far apart: each system by itself
        own = bayescm.leaderboard(counted(right, wrong), prior="jeffreys", design="independent")
        assert board["mean"].values[-1] == pytest.approx(own["mean"].values[-1], abs=0.005)


def test_the_winner_of_close_systems_is_corrected_and_less_sure():
    right, wrong, accuracy = close()
    own, learned = (
        bayescm.leaderboard(counted(right, wrong), prior=prior, design="independent", rope=0.02)
        for prior in ("jeffreys", "learned")
    )
    first = int(right.argmax())
    assert learned.probability_best[first] < own.probability_best[first] - 0.01
    assert accuracy.mean() < learned["mean"][first] < own["mean"][first] - 0.004
    assert learned.attrs["population_mean"] == pytest.approx(0.85, abs=0.01)
    pairs = np.triu_indices(20, 1)
    assert learned.probability_equivalent.values[pairs].mean() > own.probability_equivalent.values[pairs].mean() + 0.1
    assert np.array_equal(learned.best_set, own.best_set)  # of each system's data alone
    assert np.array_equal(learned.simultaneous_rank_interval, own.simultaneous_rank_interval)


def test_one_far_ahead_is_not_pulled_back():
    right = np.array([425, 426, 424, 423, 427, 425, 422, 428, 424, 475])
    board = bayescm.leaderboard(counted(right, 500 - right), prior="learned", design="independent")
    assert board.probability_best[9] > 0.98
    assert board["mean"][9] == pytest.approx(0.95, abs=0.01)  # a Beta alone says .92
    assert board["mean"][:9].values == pytest.approx(np.full(9, 0.85), abs=0.005)


def test_who_learns_by_default():
    def prior(n, **options):
        right, wrong, _ = close(n, 100)
        return bayescm.leaderboard(counted(right, wrong), design="independent", **options).attrs["prior"]

    assert [prior(4), prior(5), prior(5, prior="laplace")] == ["jeffreys", "learned", "laplace"]
    counts = bayescm.from_array(np.random.default_rng(1).integers(4, 20, (5, 2, 2)), dims="system")
    found = {name: bayescm.leaderboard(counts, metric=name, random_seed=1) for name in ("recall", "f1", "mcc")}
    assert [(b.attrs["prior"], b.attrs["method"]) for b in found.values()] == [
        ("learned", "exact"), ("learned", "exact"), ("jeffreys", "exact"),
    ]  # fmt: skip


@pytest.mark.parametrize("metric", ["f1", "recall", "error_rate", "jaccard"])
def test_a_matrix_learns_from_the_two_numbers_behind_its_metric(metric):
    cells = np.random.default_rng(4).integers(5, 60, (6, 4))
    counts = bayescm.from_cells(tp=cells[:, 0], fn=cells[:, 1], fp=cells[:, 2], tn=cells[:, 3], dims="system")
    board = bayescm.leaderboard(counts, metric=metric)
    tp, fn, fp, tn = cells.T
    k, m, link = {
        "f1": (tp, fp + fn, "f1"), "recall": (tp, fn, "identity"), "error_rate": (fp + fn, tp + tn, "identity"),
        "jaccard": (tp, fp + fn, "identity"),
    }[metric]  # fmt: skip
    dist = population.learn(k.astype(float), m.astype(float), link, smallest=metric == "error_rate")
    assert board["mean"].values == pytest.approx(dist.mean())
    ranks = mixtures.of_learned(dist).ranks
    assert board.rank_probability.values == pytest.approx(ranks[:, ::-1] if metric == "error_rate" else ranks)


def test_draws_agree_with_what_is_exact():
    right, wrong, _ = close(7, 120, 0.04)
    exact, draws = (
        bayescm.leaderboard(
            counted(right, wrong),
            prior="learned",
            design="independent",
            method=method,
            draws=40_000,
            random_seed=2,
            rope=0.03,
        )
        for method in ("exact", "draws")
    )
    for name in ("rank_probability", "probability_better", "probability_equivalent"):
        assert draws[name].values == pytest.approx(exact[name].values, abs=0.012)
    assert np.array_equal(draws["interval"], exact["interval"])


def same_items(accuracy, items, seed):
    rng = np.random.default_rng(seed)
    hard = np.where(rng.random(items) < 0.5, rng.random(items), rng.random((len(accuracy), items)))
    actual = rng.integers(0, 2, items)
    answers = {f"s{s}": np.where(hard[s] < p, actual, 1 - actual) for s, p in enumerate(accuracy)}
    return bayescm.predictions(actual, answers)


def test_systems_on_the_same_items_learn_by_draws():
    told = same_items(close(12)[2], 500, 5)
    own, learned = (bayescm.leaderboard(told, prior=p, random_seed=1, draws=4000) for p in ("jeffreys", None))
    assert learned.attrs["prior"] == "learned"
    first = int(own.point.values.argmax())
    assert learned["mean"][first] < own["mean"][first] - 0.002
    assert learned.probability_best[first] < own.probability_best[first]
    assert learned["mean"].values.mean() == pytest.approx(own["mean"].values.mean(), abs=0.002)
    assert learned["mean"].values.std() < 0.9 * own["mean"].values.std()


def test_shrinking_draws_is_the_normal_hierarchical_model():
    rng = np.random.default_rng(8)
    items, n = 5000, 6
    rates = np.array([0.80, 0.805, 0.81, 0.815, 0.82, 0.825])
    values = rng.beta(rates * items, (1 - rates) * items, (40_000, n))
    found = shrinkage.shrink(values, (0.0, 1.0), 1)
    exact = population.learn(rates * items, (1 - rates) * items)
    assert found.mean(0) == pytest.approx(exact.mean(), abs=0.0007)
    assert found.std(0) == pytest.approx(np.diff(np.stack(exact.eti(0.95)), axis=0)[0] / 3.92, rel=0.12)
    assert shrinkage.shrink(np.full((9, 3), 0.4), (0.0, 1.0), 1) == pytest.approx(np.full((9, 3), 0.4))


def test_sets_hold_at_once_however_the_systems_scatter():
    held = np.zeros((40, 2))
    for seed in range(40):
        rng = np.random.default_rng(seed)
        accuracy = np.array([0.8, 0.84, 0.88, 0.9])[np.arange(12) % 4] + rng.normal(0, 0.003, 12)
        right = rng.binomial(400, accuracy)
        board = bayescm.leaderboard(counted(right, 400 - right), prior="jeffreys", design="independent", pairwise=False)
        rank = 1 + (-accuracy).argsort().argsort()
        low, high = board.simultaneous_rank_interval.values.T
        held[seed] = board.best_set.values[accuracy.argmax()], ((low <= rank) & (rank <= high)).all()
    assert stats.binom.cdf(held.sum(0), 40, 0.95).min() > 1e-3


def test_sets_count_who_surely_beats_whom():
    board = bayescm.leaderboard(counted([95, 90, 40, 41], [5, 10, 60, 59]), prior="laplace", design="independent")
    better = board.probability_better.values
    sure = better > 1 - 0.05 / 12
    assert board.simultaneous_rank_interval.values.tolist() == [
        [1 + sure[:, s].sum(), 4 - sure[s].sum()] for s in range(4)
    ]  # fmt: skip
    assert board.simultaneous_rank_interval.values.tolist() == [[1, 2], [1, 2], [3, 4], [3, 4]]
    assert board.best_set.values.tolist() == [True, True, False, False]


def test_equivalence_is_that_of_independent_betas():
    k, m = np.array([30, 33, 50]), np.array([20, 22, 15])
    board = bayescm.leaderboard(counted(k, m), prior="laplace", rope=0.07)
    for s, t in itertools.combinations(range(3), 2):
        first, second = (stats.beta(k[i] + 1, m[i] + 1) for i in (s, t))
        inside = integrate.quad(lambda x, f=first, g=second: f.pdf(x) * (g.cdf(x + 0.07) - g.cdf(x - 0.07)), 0, 1)[0]
        assert board.probability_equivalent.values[s, t] == pytest.approx(inside, abs=1e-8)
    assert board.probability_equivalent.values.diagonal().tolist() == [1.0, 1.0, 1.0]
    by_f1 = bayescm.from_cells(tp=[12, 9], fn=[3, 6], fp=[2, 1], tn=[11, 14])
    exact = bayescm.leaderboard(by_f1, metric="f1", rope=0.1, method="exact")
    draws = bayescm.leaderboard(by_f1, metric="f1", rope=0.1, method="draws", draws=40_000, random_seed=1)
    assert draws.probability_equivalent.values[0, 1] == pytest.approx(
        exact.probability_equivalent.values[0, 1], abs=0.012
    )
    mcc = bayescm.leaderboard(by_f1, metric="mcc", rope=0.1, method="exact").probability_equivalent.values[0, 1]
    by_draws = bayescm.leaderboard(by_f1, metric="mcc", rope=0.1, method="draws", draws=40_000, random_seed=1)
    assert by_draws.probability_equivalent.values[0, 1] == pytest.approx(mcc, abs=0.012)
