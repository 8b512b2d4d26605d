"""Distributions of users' own metrics: against the table's integrals, closed forms and draws."""

import numpy as np
import pytest

import bayescm
from bayescm.distributions import Beta, Point, dirichlet, exact_distribution
from bayescm.distributions.numeric import Numeric, _directions, numeric_distribution
from bayescm.metrics import compute, resolve
from bayescm.metrics.table import Metric
from bayescm.priors.concentrations import Concentrations, concentrations

COUNTS = [[6, 2], [1, 26]]
NOTHING = [[0, 0], [0, 0]]


def posterior(counts=COUNTS, model="dirichlet_multinomial", prior="jeffreys", prevalence=None):
    return dirichlet.posterior(np.array(counts), concentrations(prior, model, 2), prevalence)


def distribution_of(function, which):
    return numeric_distribution(resolve(function, 2)[0], which)


def gain(tp, fp):
    return 100.0 * tp - 5.0 * fp


def lift(recall, false_positive_rate):
    return np.log(recall / false_positive_rate)


def kinked(tp, fp):
    return np.maximum(tp - fp, 0.2)


def share_of_right(matrix):
    return (matrix[:, 0, 0] + 2.0 * matrix[:, 1, 1]) / (1.0 + matrix[:, 1, 1])


def crossed(metrics, tables):
    """Return each table with each metric, all but every n-th of n metrics before a release."""
    return [
        pytest.param(metric, *table, marks=pytest.mark.slow if (i - j) % len(metrics) == 0 else pytest.mark.long)
        for i, metric in enumerate(metrics)
        for j, table in enumerate(tables)
    ]


@pytest.mark.parametrize(
    ("name", "counts", "model", "prevalence"),
    crossed(
        ["f2", "matthews_correlation", "precision", "informedness"],
        [
            (COUNTS, "dirichlet_multinomial", None),
            ([[6, 2], [0, 26]], "three_binomial", None),
            ([[6, 2], [0, 26]], "three_binomial", 0.2),
            ([[90, 10], [5, 20]], "three_binomial", (3, 17)),
            ([[500_000, 30], [2, 7]], "dirichlet_multinomial", None),
        ],
    ),
)
def test_the_metrics_of_the_table_as_functions(name, counts, model, prevalence):
    which = posterior(counts, model, prevalence=prevalence)
    metric = resolve(name, 2)[0]
    want, found = exact_distribution(metric, which), numeric_distribution(metric, which)
    scale = want.sd()
    for kind in ("hdi", "eti"):
        a, b = want.statistics(0.9, kind), found.statistics(0.9, kind)
        assert a["is_hdi"] == b["is_hdi"]
        for key in ("mean", "sd", "median", "lower", "upper"):
            np.testing.assert_allclose(b[key], a[key], atol=1e-4 * scale, rtol=0, err_msg=f"{kind} {key}")
    p = np.array([1e-4, 0.01, 0.3, 0.5, 0.8, 0.99, 0.9999])
    x = want.ppf(p)
    np.testing.assert_allclose(found.cdf(x), p, atol=1e-5)
    np.testing.assert_allclose(found.sf(x), 1 - p, rtol=2e-3)
    np.testing.assert_allclose(found.pdf(x), want.pdf(x), rtol=1e-2)
    np.testing.assert_allclose(found.ppf(p), x, atol=3e-4 * scale)
    np.testing.assert_allclose(found.isf(1 - p), found.ppf(p))


@pytest.mark.parametrize(
    ("function", "counts", "model", "prevalence"),
    crossed(
        [gain, lift, kinked, share_of_right, "f1_macro", "precision_weighted"],
        [
            (COUNTS, "dirichlet_multinomial", None),
            (COUNTS, "three_binomial", (3, 17)),
            (NOTHING, "three_binomial", None),
            (NOTHING, "three_binomial", 0.2),
            (NOTHING, "dirichlet_multinomial", None),
            (COUNTS, "three_binomial", None),
        ],
    ),
)
def test_against_draws(function, counts, model, prevalence):
    which = posterior(counts, model, prior="laplace", prevalence=prevalence)
    metric = resolve(function, 2)[0]
    dist = numeric_distribution(metric, which)
    n = 60_000
    theta = dirichlet.draw_theta(which, np.random.default_rng(3), n)
    draws = np.sort(compute([metric], np.moveaxis(theta, -1, 0))[0])
    p = np.array([0.003, 0.05, 0.3, 0.5, 0.8, 0.97])
    x = np.quantile(draws, p)
    empirical = np.searchsorted(draws, x, side="right") / n
    np.testing.assert_array_less(np.abs(dist.cdf(x) - empirical), 5 * np.sqrt(0.25 / n))
    np.testing.assert_allclose(dist.cdf(x) + dist.sf(x), 1.0, atol=1e-12)
    mean, sd = dist.mean(), dist.sd()
    np.testing.assert_allclose(mean, draws.mean(), atol=5 * draws.std() / np.sqrt(n) + 1e-3 * draws.std())
    fourth = np.mean((draws - draws.mean()) ** 4)
    np.testing.assert_allclose(sd**2, draws.var(), atol=6 * np.sqrt(fourth / n), rtol=1e-3)
    lower, upper = dist.eti(0.9)
    low, high = np.searchsorted(draws, [lower - 1e-7, upper + 1e-7]) / n
    assert high - low > 0.9 - 5 * np.sqrt(0.09 / n)
    lower, upper, is_hdi = dist.hdi(0.9)
    assert upper - lower <= np.diff(dist.eti(0.9)).item() + 1e-4 * sd
    if is_hdi:
        assert (draws <= upper).mean() - (draws < lower).mean() == pytest.approx(0.9, abs=5 * np.sqrt(0.09 / n))
    assert dist.error(x).max() < 0.05


def test_the_density_is_the_slope_of_the_cdf():
    dist = distribution_of(gain, posterior())
    x = dist.ppf(np.array([0.05, 0.4, 0.9]))
    step = 1e-3 * dist.sd()
    np.testing.assert_allclose(dist.pdf(x), (dist.cdf(x + step) - dist.cdf(x - step)) / (2 * step), rtol=1e-4)


def test_a_single_point_with_a_probability():
    dist = distribution_of(kinked, posterior([[20, 10], [8, 20]]))
    below = distribution_of(lambda tp, fp: tp - fp, posterior([[20, 10], [8, 20]])).cdf(0.2)
    assert 0.1 < below < 0.9
    np.testing.assert_allclose([dist.cdf(0.2), dist.cdf(0.2 - 1e-9)], [below, 0.0], atol=1e-6)
    np.testing.assert_allclose(dist.ppf(0.5 * below), 0.2, rtol=1e-8)
    assert not dist.hdi(0.9)[2]


def test_of_rates_alone():
    for i, function in enumerate([lambda recall: 3 * recall, lambda prevalence: 3 * prevalence]):
        dist, cells = distribution_of(function, posterior()), [(26.5, 1.5), (28.0, 9.0)][i]
        want = Beta(*map(np.array, cells))
        p = np.array([0.01, 0.5, 0.99])
        np.testing.assert_allclose(dist.ppf(p), 3 * want.ppf(p), rtol=1e-6)
        np.testing.assert_allclose([dist.mean(), dist.sd()], [3 * want.mean(), 3 * want.sd()], rtol=1e-6)


def test_points():
    for which in (posterior(), posterior(prevalence=0.2)):
        dist = distribution_of(lambda tp: 0.0 * tp + 7.0, which)
        assert isinstance(dist, Point)
        assert dist.mean() == 7.0
    dist = distribution_of(
        lambda prevalence: prevalence * (1 - prevalence), posterior([COUNTS, COUNTS], prevalence=0.2)
    )
    assert isinstance(dist, Point)
    np.testing.assert_allclose(dist.mean(), [0.16, 0.16])


def raises(tp):
    raise RuntimeError


@pytest.mark.parametrize(
    "function",
    [
        lambda recall: np.abs(recall - 0.5),
        lambda recall, specificity: np.abs(recall - specificity),
        lambda prevalence: prevalence * (1 - prevalence),
        lambda tp: np.where(tp > 0.3, np.nan, tp),
        lambda tp: tp.sum(),
        lambda matrix: matrix,
        lambda tp: np.random.default_rng().random(tp.shape),
        raises,
    ],
)
def test_left_to_draws(function):
    assert distribution_of(function, posterior()) is None


def test_small_concentrations_and_more_labels_are_left_to_draws():
    rows = np.array([[3.0, 0.01], [2.0, 4.0]])
    assert distribution_of(gain, Concentrations(rows, rows.sum(-1), one_dirichlet=True)) is None
    three = concentrations("laplace", "dirichlet_multinomial", 3)
    assert numeric_distribution(resolve("f1_macro", 2)[0], three) is None


def test_moments_that_do_not_exist():
    ratio = Metric("ratio", "", "", lambda tp, fp: tp / fp, lower=-np.inf, upper=np.inf)
    dist = numeric_distribution(ratio, posterior([[6, 0], [1, 26]]))
    assert dist.mean() == np.inf
    assert np.isnan(dist.sd())
    dist = numeric_distribution(ratio, posterior([[60, 20], [1, 26]]))
    assert dist.mean() == pytest.approx(26.5 / 19.5, rel=1e-6)  # E of a ratio of gammas: a / (b - 1)


@pytest.mark.parametrize("prob", [0.001, 0.9999])
def test_short_and_long_intervals(prob):
    dist = distribution_of(gain, posterior())
    for lower, upper in (dist.eti(prob), dist.hdi(prob)[:2]):
        assert lower < upper
        assert dist.cdf(upper) - dist.cdf(lower) == pytest.approx(prob, abs=1e-6)


def test_constant_where_the_posterior_lies():
    found = distribution_of(lambda tp: np.maximum(tp - 0.99, 0.0), posterior([[50, 2], [1, 26]])).statistics(0.9, "hdi")
    assert [float(found[name]) for name in ("median", "lower", "upper")] == pytest.approx([0.0] * 3, abs=1e-8)
    assert not found["is_hdi"]


def test_tiny_concentrations_have_no_mean_of_a_ratio():
    ratio = Metric("ratio", "", "", lambda tp, fp: tp / fp, lower=-np.inf, upper=np.inf)
    assert numeric_distribution(ratio, posterior([[6, 0], [1, 26]], prior=0.06)).mean() == np.inf


@pytest.mark.slow
def test_batches_and_shapes():
    matrices = np.array([[COUNTS, [[90, 10], [5, 20]], [[6, 2], [0, 26]]]] * 2)
    dist = distribution_of(gain, posterior(matrices))
    one = distribution_of(gain, posterior(matrices[1, 2]))
    assert dist.mean().shape == dist.cdf(1.0).shape == (2, 3)
    assert dist.ppf(np.array([0.1, 0.2])[:, None, None]).shape == (2, 2, 3)
    assert dist.cdf(np.array([[1.0, 2.0, 3.0]])).shape == (2, 3)
    assert one.cdf(np.ones((4, 5))).shape == (4, 5)
    np.testing.assert_allclose(dist.statistics(0.9, "hdi")["upper"][1, 2], one.statistics(0.9, "hdi")["upper"])
    np.testing.assert_array_equal(one.cdf(np.array([-np.inf, np.inf])), [0.0, 1.0])
    assert np.isnan(one.cdf(np.nan))
    assert np.isnan(one.ppf(np.array([-0.1, 1.1]))).all()


def test_the_test_runs_once_for_each_function():
    calls = []

    def counted(tp):
        calls.append(1)
        return tp

    for name in ("a", "b"):
        (metric,) = resolve({name: counted}, 2)
        assert isinstance(numeric_distribution(metric, posterior()), Numeric)
    assert len(calls) == 4
    assert _directions(counted, "cells") == (1, 1, 0)


@pytest.mark.slow
def test_a_distribution_says_whether_it_is_exact():
    counts = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)

    def own(tp, fp, fn):
        return tp / (tp + 0.5 * fp + 0.5 * fn)

    ours, exact = bayescm.metric_distribution(counts, own), bayescm.metric_distribution(counts, "f1")
    assert ours.attrs["method"] == ours.to_dataset().attrs["method"] == "numerical"
    assert exact.attrs["method"] == bayescm.summary(counts, "f1").method.item() == "exact"
    assert "numerical, from its function" in repr(ours)
    assert float(ours.error(0.9)) > 0.0  # what it is good to is stated, and true:
    assert abs(float(ours.cdf(0.9) - exact.cdf(0.9))) < 1e-4
    assert bayescm.summary(counts, own, random_seed=1).method.item() == "draws"
