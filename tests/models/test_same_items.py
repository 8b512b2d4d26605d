import itertools

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import bayescm
from bayescm.models import same_items
from bayescm.models.same_items import draw, draw_pairs, patterns

Y = np.array([0] * 30 + [1] * 20)
A = np.where(np.arange(50) % 9 == 0, 1 - Y, Y)
B = np.where(np.arange(50) % 4 == 0, 1 - Y, Y)


def told(**systems):
    return bayescm.predictions(Y, systems or {"A": A, "B": B})


def test_patterns_of_answers_and_of_the_joint_table_are_the_same():
    one, other = patterns(told()), patterns(bayescm.data.paired_counts(Y, {"A": A, "B": B}))
    assert np.array_equal(one.codes, other.codes)
    assert np.array_equal(one.counts, other.counts)
    assert (one.labels, one.systems) == (other.labels, other.systems)
    assert np.array_equal(one.matrices(), bayescm.data.margins(bayescm.data.paired_counts(Y, {"A": A, "B": B})).values)


@pytest.mark.parametrize("prior", ["jeffreys", "laplace", "perks", 0.1])
def test_each_system_has_its_own_posterior(prior):
    theta = draw(patterns(told()), prior, 4, 5000, 1)
    a = (
        bayescm.priors.concentrations.concentrations(prior, "dirichlet_multinomial", 2).rows
        + patterns(told()).matrices()
    )
    for s in range(2):
        for i, j in np.ndindex(2, 2):
            dist = stats.beta(a[s, i, j], a[s].sum() - a[s, i, j])
            drawn = theta.values[:, :, s, i, j].ravel()
            assert stats.kstest(drawn, dist.cdf).pvalue > 1e-4, (s, i, j)


def test_the_draws_are_those_of_the_saturated_table():
    few = slice(0, 50, 3)
    data = {"A": A[few], "B": B[few]}
    theta = draw(patterns(bayescm.predictions(Y[few], data)), "laplace", 1, 40_000, 3)
    right = theta.values[0, :, :, [0, 1], [0, 1]].sum(0)
    difference = right[:, 0] - right[:, 1]
    story = bayescm.posterior(
        bayescm.data.paired_counts(Y[few], data), model="paired", prior="laplace", metrics="accuracy", draws=40_000,
        chains=1, random_seed=4,
    ).posterior.accuracy.values[0]  # fmt: skip
    assert stats.ks_2samp(difference, story[:, 0] - story[:, 1]).pvalue > 1e-4


def of_pairs(which, pairs, prior, n, seed):
    """Return all draws of pairs, (pairs, 2, K, K, n), which are drawn in parts."""
    k = len(which.labels)
    theta = np.full((len(pairs), 2, k, k, n), np.nan)
    for i, part, some in draw_pairs(which, pairs, prior, n, seed):
        theta[i, ..., part] = some
    return theta


@pytest.mark.parametrize("prior", ["jeffreys", "laplace", 0.3])
def test_pairs_keep_each_system_s_own_posterior(prior):
    third = np.where(np.arange(50) % 7 == 0, 1 - Y, Y)
    seen = patterns(told(A=A, B=B, C=third))
    a = bayescm.priors.concentrations.concentrations(prior, "dirichlet_multinomial", 2).rows + seen.matrices()
    pairs = [(0, 1), (2, 1)]
    for pair, theta in zip(pairs, of_pairs(seen, pairs, prior, 20_000, 1), strict=True):
        for (place, s), i, j in itertools.product(enumerate(pair), range(2), range(2)):
            dist = stats.beta(a[s, i, j], a[s].sum() - a[s, i, j])
            assert stats.kstest(theta[place, i, j], dist.cdf).pvalue > 1e-4, (s, i, j)


@pytest.mark.parametrize("k", [3, 12])
def test_pairs_are_drawn_in_any_parts_alike(monkeypatch, k):
    rng = np.random.default_rng(1)
    actual = np.arange(60) % k
    given = {name: np.where(rng.random(60) < 0.8, actual, rng.integers(0, k, 60)) for name in "ABC"}
    seen, pairs = patterns(bayescm.predictions(actual, given)), [(0, 1), (2, 0)]
    whole = of_pairs(seen, pairs, "jeffreys", 5000, 1)
    monkeypatch.setattr(same_items, "_TOGETHER", 1)
    monkeypatch.setattr(same_items, "_BLOCK", 1000)
    parts = [part for _, part, _ in draw_pairs(seen, pairs, "jeffreys", 5000, 1)]
    assert len(parts) > 2 * len(pairs)
    np.testing.assert_allclose(of_pairs(seen, pairs, "jeffreys", 5000, 1), whole, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("k", "one_right"), [(2, 1 / 2), (3, 1 / 3), (5, 1 / 5)])
def test_the_prior_of_a_pair_is_one_item_a_side(k, one_right):
    actual = np.arange(30) % k
    given = {"A": np.where(np.arange(30) < 24, actual, (actual + 1) % k), "B": actual}
    theta = of_pairs(patterns(bayescm.predictions(actual, given)), [(0, 1)], "jeffreys", 20_000, 3)[0]
    accuracy = theta[:, range(k), range(k)].sum(1).T
    cells = np.array([24, 0, 6, 0]) + k * np.array([0.5 - one_right, one_right, one_right, 0.5 - one_right])
    other = np.random.default_rng(1).standard_gamma(np.maximum(cells, 0), (20_000, 4))
    other /= other.sum(1, keepdims=True)
    assert k * one_right == 1
    assert stats.ks_2samp(accuracy[:, 0] - accuracy[:, 1], other[:, 1] - other[:, 2]).pvalue > 1e-4
    assert stats.ks_2samp(accuracy[:, 0], other[:, 0] + other[:, 1]).pvalue > 1e-4


UNEVEN = np.array([[3.0, 0.5, 1.5], [0.2, 2.0, 0.4], [1.0, 1.0, 1.0]])


@pytest.mark.parametrize("rows", [UNEVEN, np.array([[0.0, 0.0], [1.0, 2.0]]), np.eye(5) + 0.1])  # of 5, by sticks
@pytest.mark.parametrize("pair", [True, False])
def test_the_prior_s_part_has_its_moments(rows, pair):
    """Masses of disjoint cells are independent gamma variables; masses with a cell in common have its covariance."""
    n = 40_000
    of_class = np.where(rows.any(1), rows.sum(1), 1.0)
    joint = same_items._of_two(rows) if pair else rows[:, :, None] * rows[:, None] / of_class[:, None, None]
    parts = same_items._of_prior(rows, 2, n, np.random.default_rng(1), joint if pair else None)
    _, masses, totals = zip(*parts, strict=True)
    mass, total = np.moveaxis(np.concatenate(masses, -1), -1, 0), np.concatenate(totals)
    np.testing.assert_allclose(mass.sum((2, 3)), np.stack([total, total], 1))
    for system in range(2):
        np.testing.assert_allclose(joint.sum(2 - system), rows)
        np.testing.assert_allclose(mass[:, system].mean(0), rows, atol=5 * np.sqrt(rows.max() / n))
    centred = mass - mass.mean(0)
    together = np.einsum("nia,nib->iab", centred[:, 0], centred[:, 1]) / n
    np.testing.assert_allclose(together, joint, atol=0.08)
    assert abs(np.mean(centred[:, 0, 0, 0] * centred[:, 1, 1, 1])) < 0.08


def test_a_prior_too_heavy_to_draw_is_refused():
    with pytest.raises(ValueError, match="`prior` weighs 4e\\+06 items"):
        draw(patterns(told()), 1e6, 1, 10, 1)


def test_without_a_prior_it_is_the_bayesian_bootstrap():
    theta = draw(patterns(told()), "haldane", 1, 20_000, 5).values[0]
    assert np.allclose(theta.sum((-2, -1)), 1)
    both = patterns(told())
    only_a = both.counts[(both.codes[:, 1] == both.codes[:, 0]) & (both.codes[:, 2] != both.codes[:, 0])].sum()
    only_b = both.counts[(both.codes[:, 1] != both.codes[:, 0]) & (both.codes[:, 2] == both.codes[:, 0])].sum()
    better = (theta[:, 0, [0, 1], [0, 1]].sum(-1) > theta[:, 1, [0, 1], [0, 1]].sum(-1)).mean()
    assert better == pytest.approx(stats.beta(only_a, only_b).sf(0.5), abs=0.01)


def test_three_labels_and_systems_that_answer_alike():
    rng = np.random.default_rng(1)
    actual = np.repeat(["a", "b", "c"], 20)
    one = np.where(rng.random(60) < 0.7, actual, "b")
    theta = draw(patterns(bayescm.predictions(actual, {"x": one, "y": one, "z": actual})), 0.0, 2, 500, 1)
    assert theta.dims == ("chain", "draw", "system", "actual", "predicted")
    assert np.array_equal(theta.sel(system="x"), theta.sel(system="y"))
    assert theta["actual"].values.tolist() == ["a", "b", "c"]


def test_small_blocks_draw_from_the_same_distribution(monkeypatch):
    whole = draw(patterns(told()), "jeffreys", 1, 400, 9).mean("draw")
    monkeypatch.setattr(same_items, "_BLOCK", 100)
    assert np.allclose(draw(patterns(told()), "jeffreys", 1, 400, 9).mean("draw"), whole, atol=0.02)


def test_what_is_no_set_of_answers_is_refused():
    good = told()
    with pytest.raises(ValueError, match="predicted\\(system, item\\)"):
        patterns(good.rename(item="thing"))
    with pytest.raises(ValueError, match="class_label"):
        patterns(good.assign(actual=("item", Y + 1)))
    with pytest.raises(ValueError, match="'A' twice"):
        patterns(good.assign_coords(system=["A", "A"]))
    with pytest.raises(ValueError, match="`y_pred` is empty"):
        bayescm.predictions(Y, {})
    assert not same_items.answered_together(bayescm.from_cells(tp=1, fn=1, fp=1, tn=1))
    assert same_items.answered_together(good)


def test_answers_in_another_order_of_dims_are_the_same():
    given = told()
    assert np.array_equal(same_items.patterns(given).codes, same_items.patterns(given.transpose()).codes)


def test_answers_survive_netcdf(tmp_path):
    told().to_netcdf(tmp_path / "told.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "told.nc", engine="h5netcdf") as back:
        assert np.array_equal(patterns(back).counts, patterns(told()).counts)
