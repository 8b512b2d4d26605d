"""The exact variance of macro averages: against sums of Betas, an independent integral, and draws."""

import mpmath
import numpy as np
import pytest
from scipy import special

from bayescm.distributions import known_of_average
from bayescm.metrics import compute, resolve
from bayescm.priors.concentrations import Concentrations

FEW = np.diag([4.0, 2.0, 1.0]) + np.array([[0.5, 0.25, 1.25], [0.25, 0.5, 0.25], [2.25, 0.25, 0.5]])
UNEVEN = np.array([[999_000.5, 700.25, 300.25], [1.25, 2.5, 0.25], [500.25, 3.25, 40.5]])


def variance(name, rows):
    which = Concentrations(rows, rows.sum(-1), one_dirichlet=True)
    return known_of_average(resolve([name], len(rows))[0], which).variance


@pytest.mark.parametrize("rows", [FEW, UNEVEN, np.full((5, 5), 0.3) + 7 * np.eye(5)])
@pytest.mark.parametrize(("name", "axis"), [("recall_macro", 1), ("precision_macro", 0)])
def test_independent_classes_have_no_covariance(rows, name, axis):
    right, all_ = np.diagonal(rows), rows.sum(axis)
    alone = right * (all_ - right) / (all_**2 * (all_ + 1.0))
    assert variance(name, rows) == pytest.approx(alone.sum() / len(rows) ** 2, rel=1e-8)


def test_a_class_and_its_only_other_are_one():
    """Of two classes the errors are the same ones: F1 of the two as an integral over three gammas, by Gauss rules."""
    t, s, e = 3.5, 6.25, 2.75
    rows = np.array([[t, 1.5], [e - 1.5, s]])
    metric = resolve(["f1"], 3)[0]
    from bayescm.distributions.beta import Beta
    from bayescm.distributions.class_pairs import macro_variance

    found = macro_variance(metric, rows, Beta(np.array([t, s]), np.array([e, e]), "f1"))

    def rule(a, b):  # of Beta(a, b)
        x, w = special.roots_jacobi(60, b - 1.0, a - 1.0)
        return (x + 1.0) / 2.0, w / w.sum()

    u, wu = rule(t + s, e)  # correct of all, and the first of the correct ones: independent
    v, wv = rule(t, s)
    u, v = u[:, None], v[None, :]
    first, second = (2 * u * part / (2 * u * part + 1 - u) for part in (v, 1 - v))
    values, weight = 0.5 * (first + second), np.outer(wu, wv)
    mean = (weight * values).sum()
    assert found == pytest.approx((weight * (values - mean) ** 2).sum(), rel=1e-8)


def test_three_classes_by_mpmath():
    """cov(F1_0, F1_1) given the gamma P that both errors share: the classes are then independent."""
    rows = FEW
    t, p = np.diagonal(rows), rows + rows.T
    total = 0.0
    for i in range(3):
        a, b = t[i], p[i].sum() - 2 * t[i]
        j = np.array([mpmath.quad(lambda x: (2 * x / (1 + x)) ** k * x ** (a - 1) * (1 - x) ** (b - 1), [0, 0.5, 1]) for k in (1, 2)], float)  # fmt: skip  # noqa: B023, E501
        m1, m2 = j / special.beta(a, b)
        total += m2 - m1**2

    def mean_given(shared, right, other):  # E 2T / (2T + O + P), T and O gammas: by the share T/(T + O) and their sum
        q, wq = special.roots_jacobi(60, other - 1.0, right - 1.0)
        q, wq = (q + 1) / 2, wq / wq.sum()
        s, ws = special.roots_genlaguerre(90, right + other - 1.0)
        ws = ws / ws.sum()
        s, q = s[:, None], q[None, :]
        return float((ws[:, None] * wq * 2 * s * q / (s * q + s + shared)).sum())

    for i, j in ((0, 1), (0, 2), (1, 2)):
        c = p[i, j]
        s, ws = special.roots_genlaguerre(90, c - 1.0)
        ws = ws / ws.sum()
        others = [p[k].sum() - 2 * t[k] - c for k in (i, j)]
        each = np.array([[mean_given(x, t[k], o) for x in s] for k, o in zip((i, j), others, strict=True)])
        total += 2 * float((ws * (each[0] - ws @ each[0]) * (each[1] - ws @ each[1])).sum())
    assert variance("f1_macro", rows) == pytest.approx(total / 9, rel=1e-5)


@pytest.mark.parametrize("rows", [FEW, UNEVEN, np.random.default_rng(1).integers(0, 9, (8, 8)) + 0.1])
@pytest.mark.parametrize("name", ["f1_macro", "jaccard_macro", "npv_macro", "specificity_macro"])
def test_against_draws(rows, name):
    k = len(rows)
    theta = np.random.default_rng(2).dirichlet(rows.ravel(), 100_000).reshape(-1, k, k)
    values = compute(resolve([name], k), theta)[0]
    away = (values - values.mean()) ** 2
    assert variance(name, rows) == pytest.approx(away.mean(), abs=5 * away.std() / np.sqrt(len(values)))


def test_too_few_to_integrate_is_none():
    assert variance("f1_macro", np.full((3, 3), 0.05)) is None
