"""Agreement of raters: each coefficient by its published definition, and the examples of those who defined it."""

import numpy as np
import pytest

import bayescm
from bayescm.metrics import compute, resolve

FOUR_CLASSES = np.array([[9, 2, 0, 1], [1, 8, 3, 0], [0, 2, 15, 4], [0, 0, 1, 6]])


def apart(k, power):
    return np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(float) ** power if power else 1 - np.eye(k)


def value(name, matrix):
    return compute(resolve(name, len(matrix)), np.asarray(matrix))[0]


@pytest.mark.parametrize(("suffix", "power"), [("", 0), ("_linear", 1), ("_quadratic", 2)])
def test_scotts_pi_is_fleiss_kappa_of_two_raters(suffix, power):
    items = [(i, j) for (i, j), n in np.ndenumerate(FOUR_CLASSES) for _ in range(n)]
    distances = apart(4, power)
    ratings = np.concatenate(items)
    chance = np.mean([[distances[a, b] for b in ratings] for a in ratings])
    assert value("scotts_pi" + suffix, FOUR_CLASSES) == pytest.approx(
        1 - np.mean([distances[i, j] for i, j in items]) / chance
    )


@pytest.mark.parametrize("suffix", ["", "_ordinal", "_interval"])
def test_krippendorffs_alpha_is_that_of_pairs_of_different_ratings(suffix):
    """Expected disagreement is the mean over pairs of ratings, none with itself: Krippendorff 2011, step D."""
    ratings = np.concatenate([(i, j) for (i, j), n in np.ndenumerate(FOUR_CLASSES) for _ in range(n)])
    n = np.bincount(ratings)
    distances = apart(4, 2 if suffix == "_interval" else 0)
    if suffix == "_ordinal":
        for i, j in np.ndindex(4, 4):
            low, high = min(i, j), max(i, j)
            distances[i, j] = (n[low : high + 1].sum() - (n[i] + n[j]) / 2) ** 2
    among = [distances[a, b] for x, a in enumerate(ratings) for y, b in enumerate(ratings) if x != y]
    seen = (FOUR_CLASSES * distances).sum() / FOUR_CLASSES.sum()
    assert value("krippendorff_alpha" + suffix, FOUR_CLASSES) == pytest.approx(1 - seen / np.mean(among))
    shares = FOUR_CLASSES / FOUR_CLASSES.sum()  # a population's: nothing to correct, so ordinal is of all shares
    assert value("krippendorff_alpha" + suffix, shares) < value("krippendorff_alpha" + suffix, FOUR_CLASSES)


def test_gwets_example_of_two_readers():
    """The paradox of kappa (Gwet 2008) by hand: 118 of 125 alike, all of them in one class."""
    matrix = [[118, 5], [2, 0]]
    same, share = 118 / 125, (123 + 120) / 250
    chance = 2 * share * (1 - share)
    assert value("gwets_ac1", matrix) == pytest.approx((same - chance) / (1 - chance))
    assert value("gwets_ac1", matrix) == pytest.approx(0.9408, abs=1e-4)
    assert value("kappa", matrix) == pytest.approx(-0.0234, abs=1e-4)


@pytest.mark.parametrize(("name", "power"), [("gwets_ac1", 0), ("gwets_ac2_linear", 1), ("gwets_ac2_quadratic", 2)])
def test_gwets_coefficients_by_his_formula(name, power):
    """Gwet 2014, (4.3.1): weights of agreement, and chance = sum of weights / (K (K - 1)) sum pi (1 - pi)."""
    weights = 1 - apart(4, power) / apart(4, power).max()
    shares = FOUR_CLASSES / FOUR_CLASSES.sum()
    pi = (shares.sum(0) + shares.sum(1)) / 2
    chance = weights.sum() / 12 * (pi * (1 - pi)).sum()
    assert value(name, FOUR_CLASSES) == pytest.approx(((weights * shares).sum() - chance) / (1 - chance))


@pytest.mark.parametrize("matrix", [[[20, 3], [5, 72]], [[0, 0], [3, 9]], [[10**9, 3], [5, 10**6]]], ids=str)
def test_coefficients_of_two_classes_are_exact(matrix):
    names = ["scotts_pi", "krippendorff_alpha", "gwets_ac1", "negative_agreement"]
    found = bayescm.summary(matrix, names)
    assert (found["method"] == "exact").all()
    cells = np.random.default_rng(1).dirichlet(np.ravel(matrix) + 0.5, 40_000).reshape(-1, 2, 2)
    for name, draws in zip(names, compute(resolve(names, 2), cells), strict=True):
        one = found.sel(metric=name)
        error = 6 * draws.std() / 200
        assert float(one["mean"]) == pytest.approx(draws.mean(), abs=error)
        assert ((draws > float(one["interval"][0])) & (draws < float(one["interval"][1]))).mean() == pytest.approx(
            0.95, abs=0.007
        )


def test_coefficients_of_many_classes_are_those_of_two_where_there_are_two():
    from bayescm.metrics import multiclass

    matrix = np.array([[20.0, 3.0], [5.0, 72.0]])
    for name, function in [
        ("scotts_pi", multiclass.scotts_pi),
        ("krippendorff_alpha", multiclass.krippendorff_alpha),
        ("gwets_ac1", multiclass.gwets_ac),
    ]:
        assert value(name, matrix) == pytest.approx(function(matrix))


def test_every_answer_in_one_cell():
    """Kappas of perfect agreement in one class are 0/0; Gwet's is 1."""
    assert np.isnan(value("scotts_pi", [[9, 0], [0, 0]]))
    assert value("gwets_ac1", [[9, 0], [0, 0]]) == 1
    assert np.isnan(value("krippendorff_alpha_ordinal", np.diag([9, 0, 0])))
    assert value("gwets_ac2_linear", np.diag([9, 0, 0])) == 1
