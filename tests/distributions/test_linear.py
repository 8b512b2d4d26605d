"""Sums of weighted Betas: against integrals, quadrature and draws; which metrics of several labels are such sums."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from scipy import special, stats

import bayescm
from bayescm.distributions import Beta, Linear, linear
from bayescm.distributions.quadrature import Outer

THREE = np.array([[17, 2, 1], [0, 6, 0], [3, 1, 12]])


def by_quadrature(weights, a, b, x):
    """P(sum <= x) of three Betas: Gauss-Jacobi nodes in two of them, the cdf of the one with the largest weight."""
    *outer, inner = np.argsort(weights)
    weights, a, b = (np.asarray(v) for v in (weights, a, b))
    nodes, masses = [], []
    for i in outer:
        at, mass = special.roots_jacobi(400, b[i] - 1, a[i] - 1)
        nodes.append(weights[i] * 0.5 * (at + 1))
        masses.append(mass / mass.sum())
    rest = (x - nodes[0][:, None] - nodes[1]) / weights[inner]
    return masses[0] @ special.betainc(a[inner], b[inner], np.clip(rest, 0, 1)) @ masses[1]


@pytest.mark.slow
@examples(max_examples=20)
@given(
    cells=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=3, max_size=3),
    prior=st.sampled_from([1.5, 2.0]),
    weights=st.sampled_from([(1 / 3, 1 / 3, 1 / 3), (0.7, 0.2, 0.1), (0.05, 0.9, 0.05)]),
)
def test_three_betas_against_quadrature(cells, prior, weights):
    a, b = np.array(cells, float).T + prior
    dist = Linear(np.array(weights), a, b)
    for p in (0.001, 0.1, 0.5, 0.9, 0.999):
        x = dist.ppf(p)
        assert dist.cdf(x) == pytest.approx(p, abs=1e-10)
        assert by_quadrature(weights, a, b, x) == pytest.approx(p, abs=1e-7)


@examples(max_examples=20)
@given(
    counts=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 200)), min_size=2, max_size=12),
    prior=st.sampled_from([0.5, 1.0]),
    prob=st.sampled_from([0.5, 0.9, 0.99]),
)
def test_content_of_intervals_and_moments(counts, prior, prob):
    a, b = np.array(counts, float).T + prior
    dist = Linear(np.full(len(a), 1 / len(a)), a, b)
    lower, upper, is_hdi = dist.hdi(prob)
    assert dist.cdf(upper) - dist.cdf(lower) == pytest.approx(prob, abs=1e-9)
    low, high = dist.eti(prob)
    assert upper - lower <= (high - low) * (1 + 1e-6)
    if is_hdi and dist.cdf(lower) > 0.0 and dist.cdf(upper) < 1.0:
        top = dist.pdf(np.linspace(low, high, 201)).max()
        assert dist.pdf(lower) == pytest.approx(dist.pdf(upper), abs=1e-3 * top)
    table = dist.tables[0]
    low, high = table.x[[0, -1]]
    below = table.spline.integrate(low, high)  # the mean of high - X; its square has twice the mean of the next
    square = 2 * table.spline.antiderivative().integrate(low, high)
    assert high - below == pytest.approx(dist.mean(), abs=1e-6 * dist.sd() + 2 * table.errors.max())
    assert np.sqrt(square - below**2) == pytest.approx(dist.sd(), rel=1e-4)
    assert dist.error(dist.ppf(0.5)) < 1e-4


def two_by_quadrature(weights, a, b, constant, x):
    """P(constant + sum <= x) of two Betas, the first inside, and how right that is."""

    def values(y):
        at = np.clip((x - constant - weights[1] * y) / weights[0], 0, 1)
        both = np.stack([special.betainc(a[0], b[0], at), special.betaincc(a[0], b[0], at)])
        return both if weights[0] > 0 else both[::-1]

    cuts = tuple((x - constant - weights[0] * end) / weights[1] for end in (0, 1))
    found, error = Outer(Beta(np.float64(a[1]), np.float64(b[1])), 0.0, 1.0).mean_of(values, cuts)
    return found[0], error


@pytest.mark.slow
@examples(max_examples=30)
@given(
    counts=st.lists(st.tuples(st.sampled_from([0, 3, 30, 1000, 10**5]), st.floats(0.01, 1)), min_size=2, max_size=2),
    prior=st.sampled_from([0.25, 0.5, 1.0, 2.0]),
    weights=st.sampled_from([(0.5, 0.5), (0.9, 0.1), (-0.4, 0.5), (-1.0, -0.1)]),
    constant=st.sampled_from([0.0, 0.7]),
)
def test_two_betas_of_any_sign_and_the_stated_error(counts, prior, weights, constant):
    a, b = (np.array([round(f(share) * n) for n, share in counts]) + prior for f in (np.sqrt, lambda s: 1 - np.sqrt(s)))
    dist = Linear(np.array(weights), a, b, constant)
    table = dist.tables[0]
    for x in dist.ppf(np.array([1e-4, 0.025, 0.3, 0.5, 0.9, 0.975, 0.9999])):
        wanted, error = two_by_quadrature(weights, a, b, constant, x)
        if error < 1e-9:
            assert abs(dist.cdf(x) - wanted) <= np.interp(x, table.x, table.errors) + 1e-9


def test_characteristic_functions():
    for p, q in ((0.5, 20.5), (0.5, 0.5), (0.06, 0.3), (1.5, 90.5), (30.5, 300.0)):
        k = np.array([1, 3, 10, 40])
        scale = np.array([0.06 / stats.beta(p, q).std()])
        found = linear._characteristic(scale, np.array([p]), np.array([q]), 1, 40)[0, k - 1]
        wanted = [complex(mpmath.hyp1f1(p, p + q, 2j * np.pi * i * scale[0])) for i in k]
        np.testing.assert_allclose(found, wanted, atol=2e-10)


def test_two_labels_agree_with_the_integral():
    counts = bayescm.from_cells(tp=[26, 9, 500], fn=[1, 6, 3], fp=[2, 1, 40], tn=[6, 11, 900])
    whole = bayescm.metric_distribution(counts, "balanced_accuracy")
    (tn, fp), (fn, tp) = np.moveaxis(counts.values, 0, -1) + 0.5
    dist = Linear(np.array([0.5, 0.5]), np.stack([tp, tn], -1), np.stack([fn, fp], -1))
    for p in (0.01, 0.5, 0.975):
        np.testing.assert_allclose(whole.cdf(whole.point * 0 + dist.ppf(p)), p, atol=1e-7)
    np.testing.assert_allclose(dist.mean(), whole.mean(), rtol=1e-9)
    np.testing.assert_allclose(dist.sd(), whole.std(), rtol=1e-6)


@pytest.mark.parametrize("model", ["dirichlet_multinomial", "three_binomial"])
@pytest.mark.parametrize("name", ["balanced_accuracy", "recall_macro", "fnr_macro", "precision_macro", "fdr_macro"])
def test_averages_over_classes_against_draws(model, name):
    names = [name, "accuracy"]
    found = bayescm.summary(THREE, names, model=model, ci_kind="eti")
    exact = model == "dirichlet_multinomial" or name not in ("precision_macro", "fdr_macro")
    assert found.method.values.tolist()[0] == ("exact" if exact else "draws")
    drawn = bayescm.posterior(THREE, model=model, metrics=names, chains=1, draws=40_000, random_seed=1)["posterior"]
    value, name = drawn[found.metric.values[0]].values.ravel(), found.metric.values[0]
    one = found.sel(metric=name)
    assert float(one["mean"]) == pytest.approx(value.mean(), abs=5 * value.std() / 200)
    assert one.interval.values == pytest.approx(np.quantile(value, [0.025, 0.975]), abs=0.006)
    assert float(one["sd"]) == pytest.approx(value.std(), rel=0.03)


def test_accuracy_at_known_shares():
    shares = (0.2, 0.5, 0.3)
    names = ["accuracy", "error_rate"]
    found = bayescm.summary(THREE, names, prevalence=shares, ci_kind="eti")
    assert found.method.values.tolist() == ["exact", "exact"]
    recall = np.diag(THREE) + 0.5, THREE.sum(1) - np.diag(THREE) + 0.5
    drawn = np.random.default_rng(1).beta(*recall, (200_000, 3)) @ shares
    assert found.interval[0].values == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.003)
    np.testing.assert_allclose(found.interval[1], 1 - found.interval[0, ::-1], atol=1e-6)
    np.testing.assert_allclose(found["mean"].sum(), 1)


def test_steep_densities_are_drawn():
    assert bayescm.summary(THREE, "recall_macro", prior=0.01, random_seed=1).method.item() == "draws"
    few = np.array([[0, 0, 0], [0, 3, 0], [0, 0, 1]])
    assert bayescm.metric_distribution(few, "recall_macro", prior=0.01, random_seed=1).attrs["method"] == "draws"


def test_claims_comparisons_and_boards_are_exact():
    better = THREE + np.diag([2, 3, 4])
    claim = bayescm.probability(THREE, "recall_macro > 0.8").probability.item()
    assert claim == pytest.approx(bayescm.metric_distribution(THREE, "recall_macro").sf(0.8).item())
    counts = bayescm.from_array(np.stack([THREE, better]), dims="system")
    board = bayescm.leaderboard(counts, metric="balanced_accuracy", prior="jeffreys")
    assert board.attrs["method"] == "exact"
    compared = bayescm.compare_systems(counts, metrics="balanced_accuracy", random_seed=1)["summary"]
    assert compared.method.item() == "exact"
    recalls = [np.diag(c) + 0.5 for c in (THREE, better)], [c.sum(1) - np.diag(c) + 0.5 for c in (THREE, better)]
    first, second = (
        np.random.default_rng(i).beta(a, b, (200_000, 3)).mean(1) for i, (a, b) in enumerate(zip(*recalls, strict=True))
    )
    wanted = (second > first).mean()
    assert board.probability_better.values[1, 0] == pytest.approx(wanted, abs=0.006)
    assert compared.probability.max().item() == pytest.approx(wanted, abs=0.006)


def test_points_over_a_batch():
    dist = Linear(np.full(2, 0.5), np.array([[3.0, 4.0], [9.0, 2.0]]), np.array([[1.0, 1.0], [2.0, 2.0]]))
    x = np.linspace(-0.2, 1.2, 15)[:, None]
    assert dist.cdf(x).shape == (15, 2)
    assert (dist.cdf(x)[x[:, 0] <= 0] == 0).all()
    assert (dist.sf(x)[x[:, 0] >= 1] == 0).all()
    assert (dist.pdf(x)[(x[:, 0] < 0) | (x[:, 0] > 1)] == 0).all()
    assert (np.diff(dist.cdf(x), axis=0) >= 0).all()
    np.testing.assert_allclose(dist.ppf(np.array([0.0, 1.0])[:, None]), [[0, 0], [1, 1]])
    np.testing.assert_allclose(dist.isf(0.3), dist.ppf(0.7))


@pytest.mark.parametrize("narrow", [1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_steep_beta_beside_much_narrower_ones(narrow, sign):
    """No Fourier series converges: the mean of the wide one's cdf over the other, by Gauss-Jacobi nodes."""
    a, b, weights = np.array([0.25, 0.25]), np.array([2.75, 6690.0]), np.array([0.5, sign * 1e3 * narrow])
    dist = Linear(weights, a, b, 0.1)
    assert dist.worst < 1e-5
    for p in (0.01, 0.3, 0.975):
        x = dist.ppf(p)
        wanted, error = two_by_quadrature(weights, a, b, 0.1, x)
        assert dist.cdf(x) == pytest.approx(wanted, abs=1e-7 + error)


def test_three_scales_against_draws():
    dist = Linear(np.array([-0.65, -0.65e-7, -0.65e-14]), np.full(3, 0.2), np.array([3.6, 76.0, 127.0]), 1.0)
    rng = np.random.default_rng(1)
    drawn = 1.0 + sum(w * rng.beta(a, b, 200_000) for w, a, b in zip(dist.weights, dist.a, dist.b, strict=True))
    assert dist.worst < 1e-5
    for p in (0.025, 0.5, 0.975):
        assert (drawn <= dist.ppf(p)).mean() == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 2e5))


def test_the_difference_of_two_sums_is_a_sum():
    first = Linear(np.full(3, 1 / 3), np.array([9.5, 3.5, 20.5]), np.array([1.5, 0.5, 4.5]))
    second = Linear(np.array([0.2, 0.8]), np.array([8.5, 6.5]), np.array([2.5, 3.5]), 0.01)
    gain = first.minus(second)
    outer = Outer(second, -1.0, 2.0)
    for p in (0.01, 0.5, 0.99):
        x = float(gain.ppf(p))
        found, _ = outer.mean_of(lambda y, x=x: np.stack([first.cdf(y + x), first.sf(y + x)]), (-x, 1.0 - x))
        assert found[0] == pytest.approx(p, abs=1e-7)
    assert gain.mean() == pytest.approx(first.mean() - second.mean())
    assert gain.sd() == pytest.approx(np.hypot(first.sd(), second.sd()))
