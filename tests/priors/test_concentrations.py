"""Priors: what each name means, and what is refused."""

import numpy as np
import pytest

import bayescm
from bayescm.distributions import dirichlet
from bayescm.priors.concentrations import MODELS, NAMES, concentrations, exchange


@pytest.mark.parametrize(
    ("name", "cell", "beta"),
    [("jeffreys", 0.5, 0.5), ("laplace", 1, 1), ("haldane", 0, 0), ("legendre", 2, 2), ("jeffreys_cell", 0.5, 0.5)],
)
def test_named_priors_of_two_labels(name, cell, beta):
    one = concentrations(name, "dirichlet_multinomial", 2)
    np.testing.assert_array_equal(one.rows, np.full((2, 2), cell))
    np.testing.assert_array_equal(one.shares, np.full(2, 2 * cell))
    three = concentrations(name, "three_binomial", 2)
    np.testing.assert_array_equal(three.rows, np.full((2, 2), beta))
    np.testing.assert_array_equal(three.shares, np.full(2, beta))


@pytest.mark.parametrize("k", [2, 3, 5, 10])
def test_jeffreys_gives_every_class_a_half_for_recall_and_precision(k):
    rows = concentrations("jeffreys", "dirichlet_multinomial", k).rows
    np.testing.assert_allclose(np.diag(rows), 0.5)
    np.testing.assert_allclose(rows.sum(0) - np.diag(rows), 0.5)
    np.testing.assert_allclose(rows.sum(1) - np.diag(rows), 0.5)
    np.testing.assert_allclose(concentrations("perks", "dirichlet_multinomial", k).rows, 1 / k**2)


def test_the_design_warning_about_a_half_per_cell():
    counts = np.diag(np.full(10, 10))
    s = bayescm.summary(counts, "accuracy", prior="jeffreys_cell", ci_kind="eti")
    np.testing.assert_allclose(s.interval.values[0], [0.625, 0.770], atol=1.5e-3)
    assert float(bayescm.summary(counts, "accuracy", prior="perks", ci_kind="eti").interval[0, 1]) > 0.99


def test_numbers_arrays_and_mappings():
    assert concentrations(0.3, "dirichlet_multinomial", 3).rows.sum() == pytest.approx(2.7)
    array = [[4, 1], [2, 8]]
    np.testing.assert_array_equal(concentrations(array, "dirichlet_multinomial", 2).shares, [5, 10])
    both = concentrations({"prevalence": (3, 7), "recall": (8, 2), "specificity": (9, 1)}, "three_binomial", 2)
    np.testing.assert_array_equal(both.rows, [[9, 1], [2, 8]])
    np.testing.assert_array_equal(both.shares, [7, 3])
    rows = concentrations({"prevalence": "laplace", "rows": "jeffreys"}, "three_binomial", 3)
    np.testing.assert_array_equal(rows.shares, [1, 1, 1])
    same = concentrations({"prevalence": (10, 5), "rows": array}, "three_binomial", 2)
    assert same.one_dirichlet
    assert not both.one_dirichlet


@pytest.mark.parametrize(
    ("prior", "model", "error", "words"),
    [
        ("flat", "dirichlet_multinomial", ValueError, "'laplace'"),
        ("nonsense", "dirichlet_multinomial", ValueError, "'jeffreys'"),
        (-1, "dirichlet_multinomial", ValueError, "at least 0"),
        (np.nan, "dirichlet_multinomial", ValueError, "finite"),
        ([1, 2, 3], "dirichlet_multinomial", ValueError, "shape"),
        ([["a", 1], [1, 1]], "dirichlet_multinomial", TypeError, "numbers of shape"),
        ([[1, 1], [1, 1]], "three_binomial", ValueError, "says nothing of the prevalence"),
        ({"recal": 1}, "three_binomial", ValueError, "must have some of the keys"),
        ({"recall": 1, "rows": 1}, "three_binomial", ValueError, "must have some of the keys"),
        ({}, "three_binomial", ValueError, "must have some of the keys"),
        ({"prevalence": 1, "rows": 1}, "dirichlet_multinomial", ValueError, "three_binomial"),
        (1, "one_binomial", ValueError, "`model`"),
        (True, "dirichlet_multinomial", TypeError, "a name, a number"),
        ([["1", "2"], ["3", "4"]], "dirichlet_multinomial", TypeError, "a name, a number"),
        (1e300, "dirichlet_multinomial", ValueError, "concentrations from"),
        (1e-200, "dirichlet_multinomial", ValueError, "concentrations from"),
    ],
)
def test_bad_priors(prior, model, error, words):
    with pytest.raises(error, match=words):
        concentrations(prior, model, 2)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("model", MODELS)
def test_improper_posteriors_say_which_cell(name, model):
    counts = bayescm.from_cells(tp=[5, 5], fn=[2, 0], fp=[3, 3], tn=[4, 4])
    if name == "haldane":
        with pytest.raises(ValueError, match=r"cell FN of matrix 1 has no items.*jeffreys"):
            bayescm.summary(counts, "recall", prior=name, model=model)
        bayescm.summary(counts.isel(system=0), "recall", prior=name, model=model)
    else:
        assert dirichlet.improper(concentrations(name, model, 2)) is None
        bayescm.summary(counts, "recall", prior=name, model=model)


def test_improper_prevalence_alone_is_refused_too():
    prior = {"prevalence": 0, "rows": 1}
    with pytest.raises(ValueError, match="class 1 has no items and its share"):
        bayescm.summary([[3, 2], [0, 0]], "recall", model="three_binomial", prior=prior)
    bayescm.summary([[3, 2], [0, 0]], "recall", model="three_binomial", prior=prior, prevalence=0.3)


@pytest.mark.parametrize(
    ("prevalence", "k", "words"),
    [
        (0, 2, "`prevalence`"), (1.0, 2, "`prevalence`"), ((0, 1), 2, "two positive"),
        ((1, 2, 3), 2, "numbers of a Beta"),
        ("known", 2, "'fixed'"), (0.3, 3, "3 positive shares"), ((0.5, 0.5, 0.5), 3, "add up to 1"),
    ],
)  # fmt: skip
def test_bad_prevalence(prevalence, k, words):
    with pytest.raises(ValueError, match=words):
        exchange(concentrations("laplace", "three_binomial", k), prevalence)


def test_fixed_prevalence_needs_items_of_every_class():
    with pytest.raises(ValueError, match="needs items of every class"):
        bayescm.summary([[3, 2], [0, 0]], "recall", prevalence="fixed")
