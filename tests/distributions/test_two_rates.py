"""Pairs of rates by quadrature and weighted points, beside scipy's integrals, grids and ArviZ."""

import arviz as az  # noqa: F401  registers the accessor
import numpy as np
import pytest
import xarray as xr
from scipy import integrate, optimize, special, stats

from bayescm.distributions import importance
from bayescm.distributions.two_rates import PairsPosterior, TwoRates

RIGHT, ITEMS = np.array([[5.0, 0, 7, 40, 0], [9.0, 10, 0, 0, 3]]), np.array([[8.0, 6, 7, 50, 0], [10.0, 10, 9, 0, 400]])
SEEN = TwoRates(RIGHT, ITEMS, np.ones((5, 1)))
POINTS = np.array([[0.8, -0.3, np.log(0.7), np.log(1.6), 0.5], [2.0, 1.0, np.log(0.1), np.log(3.0), -1.8]])
TELOMERASE = TwoRates(
    np.array([[25, 17, 88, 16, 40, 38, 23, 27, 14, 37], [25, 11, 31, 80, 137, 24, 12, 18, 29, 7]], float),
    np.array([[33, 21, 104, 26, 57, 47, 42, 33, 17, 44], [26, 14, 47, 83, 138, 30, 12, 20, 32, 29]], float),
    np.ones((10, 1)),
)


def normal(parameters):
    sd, rho = np.exp(parameters[2:4]), np.tanh(parameters[4])
    return stats.multivariate_normal(parameters[:2], np.outer(sd, sd) * np.array([[1, rho], [rho, 1]]))


def joint(unit, parameters):
    """Return the joint density of a unit's counts and its logits, by scipy."""
    pairs = normal(parameters)

    def density(x2, x1):
        seen = stats.binom.pmf(RIGHT[:, unit], ITEMS[:, unit], special.expit([x1, x2])).prod()
        return seen * pairs.pdf([x1, x2])

    return density


@pytest.mark.parametrize("point", POINTS)
def test_the_likelihood_is_scipys_integral(point):
    by_unit = []
    for unit in (1, 2, 4):
        wide = [(m - 9 * s, m + 9 * s) for m, s in zip(point[:2], np.exp(point[2:4]), strict=True)]
        grid = [np.linspace(*ends, 601) for ends in wide]
        values = normal(point).pdf(np.stack(np.meshgrid(*grid, indexing="ij"), -1))
        for rate, x in enumerate(grid):
            pmf = stats.binom.pmf(RIGHT[rate, unit], ITEMS[rate, unit], special.expit(x))
            values = values * (pmf[:, None] if rate == 0 else pmf)
        by_unit.append(np.log(integrate.simpson(integrate.simpson(values, x=grid[1]), x=grid[0])))
    some = TwoRates(RIGHT[:, [1, 2, 4]], ITEMS[:, [1, 2, 4]], np.ones((3, 1)))
    assert some.log_likelihood(point[None])[0] == pytest.approx(sum(by_unit), abs=2e-3)
    assert some.log_likelihood(point[None], 25)[0] == pytest.approx(sum(by_unit), abs=2e-5)


def by_search(right, items, point, nodes):
    """Return the same quadrature of one unit, about the mode that scipy finds."""
    sd, rho = np.exp(point[2:4]), np.tanh(point[4])
    precision = np.linalg.inv(np.outer(sd, sd) * np.array([[1, rho], [rho, 1]]))

    def minus_log(x):
        e = x - point[:2]
        return (items * np.logaddexp(0.0, x) - right * x).sum(-1) + 0.5 * np.einsum("...i,ij,...j", e, precision, e)

    def slope(x):
        return items * special.expit(x) - right + precision @ (x - point[:2])

    def curvature(x):
        return np.diag(items * special.expit(x) * special.expit(-x)) + precision

    mode = optimize.minimize(minus_log, point[:2], jac=slope, hess=curvature, method="trust-exact", tol=1e-10).x
    c = np.linalg.inv(curvature(mode))
    factor = np.linalg.cholesky(c)
    h, weight = np.polynomial.hermite_e.hermegauss(nodes)
    z, weight = (
        np.stack(np.meshgrid(h, h), -1),
        np.multiply.outer(weight, weight) * np.exp(0.5 * np.add.outer(h**2, h**2)),
    )
    logs = special.logsumexp(-minus_log(mode + z @ factor.T), b=weight) + 0.5 * np.linalg.slogdet(c @ precision)[1]
    return logs - np.log(2 * np.pi) + stats.binom.logpmf(right, items, 0.5).sum() + items.sum() * np.log(2)


@pytest.mark.parametrize("nodes", [1, 9])
def test_the_kernel_is_the_quadrature_about_the_mode(nodes):
    many = np.random.default_rng(2).normal(0, 1.2, (60, 5))
    got = SEEN.log_likelihood(many, nodes)
    want = [sum(by_search(*both, one, nodes) for both in zip(RIGHT.T, ITEMS.T, strict=True)) for one in many]
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.slow
def test_one_unit_is_dblquad():
    point = POINTS[0]
    density = joint(0, point)
    want, _ = integrate.dblquad(density, -5, 6, -9, 9, epsabs=1e-9)
    alone = TwoRates(RIGHT[:, :1], ITEMS[:, :1], np.ones((1, 1)))
    assert alone.log_likelihood(point[None])[0] == pytest.approx(np.log(want), abs=1e-4)


def test_parameters_together_are_those_one_by_one():
    many = np.random.default_rng(1).normal(0, 0.7, (3000, 5))
    assert len(many) * 5 > 2**13  # several blocks
    together = SEEN.log_likelihood(many)
    np.testing.assert_allclose(together[::500], [SEEN.log_likelihood(one[None])[0] for one in many[::500]], rtol=1e-10)


def test_pairs_follow_their_density():
    n, point = 40_000, POINTS[0]
    drawn = SEEN.draw(np.broadcast_to(point, (n, 5)), np.random.default_rng(1))
    x1, x2 = (np.linspace(m - 7 * s, m + 7 * s, 201) for m, s in zip(point[:2], np.exp(point[2:4]), strict=True))
    for unit in (0, 1, 4):
        of = joint(unit, point)
        one, two = np.meshgrid(x1, x2, indexing="ij")
        mass = normal(point).pdf(np.stack([one, two], -1))
        for rate, x in enumerate((one, two)):
            mass = mass * stats.binom.pmf(RIGHT[rate, unit], ITEMS[rate, unit], special.expit(x))
        assert mass[100, 100] == pytest.approx(of(x2[100], x1[100]))
        mass /= mass.sum()
        for rate, x in enumerate((one, two)):
            mean, sd = (mass * x).sum(), np.sqrt((mass * (x - (mass * x).sum()) ** 2).sum())
            assert drawn[:, rate, unit].mean() == pytest.approx(mean, abs=5 * sd / np.sqrt(n))
            assert drawn[:, rate, unit].std() == pytest.approx(sd, rel=0.03)
        product = (mass * (one - (mass * one).sum()) * (two - (mass * two).sum())).sum()
        assert np.cov(drawn[:, 0, unit], drawn[:, 1, unit])[0, 1] == pytest.approx(product, abs=0.04)


def test_the_prior_is_that_of_the_program():
    known = PairsPosterior(SEEN, np.array([[8.0, 3.0], [4.0, 1.0]]), 0.6)
    many = np.random.default_rng(1).normal(0, 0.8, (50, 5))
    rates, sd, rho = special.expit(many[:, :2]), np.exp(many[:, 2:4]), np.tanh(many[:, 4])
    want = (
        stats.beta.logpdf(rates, [8, 4], [3, 1]).sum(1) + np.log(rates * (1 - rates)).sum(1)
        + (stats.halfnorm.logpdf(sd, scale=0.6) + many[:, 2:4]).sum(1)
        + stats.beta.logpdf((1 + rho) / 2, 2, 2) + np.log(1 - rho**2)
    )  # fmt: skip
    apart = known.log_prior(many) - want
    np.testing.assert_allclose(apart, apart[0], atol=1e-10)


def test_a_covariate_moves_the_means():
    x = np.array([-1.0, 0.5, 2.0, 0.0, 1.0])
    data = TwoRates(RIGHT, ITEMS, np.stack([np.ones(5), x], 1))
    parameters = np.array([[0.8, -0.4, 1.5, 0.7, -0.3, 0.2, 0.4]])
    want = 0.0
    for i in range(5):
        one = TwoRates(RIGHT[:, i : i + 1], ITEMS[:, i : i + 1], np.ones((1, 1)))
        want += one.log_likelihood(np.array([[0.8 - 0.4 * x[i], 1.5 + 0.7 * x[i], -0.3, 0.2, 0.4]]))
    np.testing.assert_allclose(data.log_likelihood(parameters), want, rtol=1e-12)
    means = np.array([[8.0, 3.0], [4.0, 1.0]])
    more, fewer = PairsPosterior(data, means, 0.6, 0.7), PairsPosterior(SEEN, means, 0.6)
    apart = more.log_prior(parameters) - fewer.log_prior(parameters[:, [0, 2, 4, 5, 6]])
    first = np.array([[0.8, 0.0, 1.5, 0.0, -0.3, 0.2, 0.4]])
    slopes = stats.norm.logpdf([-0.4, 0.7], scale=0.7).sum() - 2 * stats.norm.logpdf(0, scale=0.7)
    np.testing.assert_allclose(apart - more.log_prior(first) + fewer.log_prior(first[:, [0, 2, 4, 5, 6]]), slopes)


def test_ten_studies_of_telomerase():
    """Values of a prototype that NUTS agrees with: .7674, .8714, .459, 1.622, -.548."""
    known = PairsPosterior(TELOMERASE, np.ones((2, 2)), 1.0)
    parameters, logits, found = known.draw(np.random.default_rng(1), 4000)
    assert found.doubt == known.doubt == ""
    assert found.share > 0.5
    rates = special.expit(found.points[:, :2])
    of = [rates[:, 0], rates[:, 1], *np.exp(found.points[:, 2:4]).T, np.tanh(found.points[:, 4])]
    got = [found.weight @ one for one in of]
    np.testing.assert_allclose(got, [0.7674, 0.8714, 0.459, 1.622, -0.548], atol=4e-3)
    np.testing.assert_allclose(parameters.mean(0), found.weight @ found.points, atol=0.02)
    assert logits.shape == (4000, 2, 10)


def test_weights_are_the_densities_ratio():
    """A normal posterior, whose moments are known."""
    covariance = np.array([[1.0, 0.6], [0.6, 2.0]])

    def density(x):
        return np.atleast_1d(stats.multivariate_normal.logpdf(x, [1.0, -2.0], covariance))

    proposal, pilot = importance.proposal(density, np.zeros(2))
    found = proposal.weigh(density, 2**14, np.random.default_rng(1))
    np.testing.assert_allclose(found.weight @ found.points, [1.0, -2.0], atol=0.01)
    apart = found.points - found.weight @ found.points
    np.testing.assert_allclose((apart * found.weight[:, None]).T @ apart, covariance, atol=0.03)
    assert pilot.share > 0.7
    resampled = found.resample(np.random.default_rng(1), 4000)
    np.testing.assert_allclose(resampled.mean(0), [1.0, -2.0], atol=0.06)


def test_pareto_k_is_arviz():
    rng = np.random.default_rng(1)
    for shape in (0.1, 0.4, 0.9):
        logs = np.log(stats.genpareto.rvs(shape, size=4096, random_state=rng) + 1.0)
        want = float(xr.DataArray(-logs, dims="draw").azstats.psislw(dim="draw")[1])  # of logs of likelihoods
        assert importance.pareto_k(np.exp(logs - logs.max())) == pytest.approx(want, abs=0.02)


def test_weights_that_fit_badly_say_so():
    """Two peaks far apart, of which the proposal finds one."""

    def two(x):
        return np.logaddexp(stats.norm.logpdf(x[:, 0]), stats.norm.logpdf(x[:, 0], 40.0, 6.0))

    _, pilot = importance.proposal(two, np.zeros(1))
    bad = importance.Weighted(np.zeros((100, 1)), np.r_[0.9, np.full(99, 0.1 / 99)], 0.012, 0.9)
    assert "Pareto k 0.90" in bad.doubt
    assert pilot.doubt or pilot.share > 0.02


@pytest.mark.parametrize(
    ("right", "items"),
    [
        ([[5], [9]], [[8], [10]]),
        ([[0, 0], [0, 0]], [[0, 0], [0, 0]]),
        ([[5, 6, 7], [9, 9, 9]], [[5, 6, 7], [9, 9, 9]]),
        ([[9e11, 8e11, 9e11], [5e11, 5e11, 6e11]], [[1e12] * 3] * 2),
        ([[0, 1e9, 3], [5, 0, 2e6]], [[0, 1e9, 4], [5, 0, 4e6]]),
        ([[80_000] * 5, [90_000] * 5], [[100_000] * 5] * 2),
    ],
)
def test_extremes_are_finite(right, items):
    right, items = np.array(right, float), np.array(items, float)
    known = PairsPosterior(TwoRates(right, items, np.ones((right.shape[1], 1))), np.ones((2, 2)), 1.0)
    parameters, logits, found = known.draw(np.random.default_rng(1), 500)
    assert np.isfinite(parameters).all()
    assert np.isfinite(logits).all()
    assert found.share > 0.05
    assert 0 < found.weight @ special.expit(found.points[:, 0]) < 1


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0, 1])
def test_where_one_rate_was_seen_the_other_is_the_priors(rate):
    """The seen rate by a grid of its two parameters, and Gauss-Hermite nodes about the mean."""
    seen = np.array([TELOMERASE.right[rate], TELOMERASE.items[rate]])
    right, items = (np.zeros((2, 10)) for _ in range(2))
    right[rate], items[rate] = seen
    known = PairsPosterior(TwoRates(right, items, np.ones((10, 1))), np.ones((2, 2)), 1.0)
    assert known.doubt == ""
    parameters, logits, found = known.draw(np.random.default_rng(1), 8000)
    assert found.k < 0.0
    assert found.share > 0.6
    node, weight = np.polynomial.hermite_e.hermegauss(30)
    mean, sd = np.linspace(-3, 7, 201), np.linspace(0.0125, 5, 200)
    x = mean[:, None, None] + sd[None, :, None] * node
    logs = sum(np.log(special.expit(x) ** y * special.expit(-x) ** (n - y) @ weight) for y, n in seen.T)
    logs += (np.log(special.expit(mean) * special.expit(-mean))[:, None]) - 0.5 * sd**2
    grid = np.exp(logs - logs.max())
    for drawn, at, along in ((parameters[:, rate], mean, 1), (np.exp(parameters[:, 2 + rate]), sd, 0)):
        share = grid.sum(along) / grid.sum()
        want = share @ at
        spread = np.sqrt(share @ (at - want) ** 2)
        assert abs(drawn.mean() - want) < 5 * spread / np.sqrt(8000)
        assert drawn.std() == pytest.approx(spread, rel=0.05)
    other = 1 - rate
    assert stats.kstest(special.expit(parameters[:, other]), "uniform").pvalue > 0.001
    assert stats.kstest(np.exp(parameters[:, 2 + other]), stats.halfnorm.cdf).pvalue > 0.001
    assert stats.kstest(0.5 * (1 + np.tanh(parameters[:, 4])), stats.beta(2, 2).cdf).pvalue > 0.001
    assert np.corrcoef(logits[:, other, 0], parameters[:, other])[0, 1] > 0.5
