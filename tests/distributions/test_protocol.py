"""What every kind of distribution can be asked for, by one spelling and with answers that agree."""

import inspect

import numpy as np
import pytest

from bayescm.distributions import Beta, Distribution, Linear, Point, dirichlet, exact_distribution, normal_inverse_gamma
from bayescm.distributions.contrast import Contrast
from bayescm.distributions.difference import Discordant, Independent
from bayescm.distributions.discrete import DiscreteDistribution, collected
from bayescm.distributions.numeric import numeric_distribution
from bayescm.distributions.quadrature import Outer
from bayescm.distributions.sample import Draws
from bayescm.metrics import resolve
from bayescm.priors.concentrations import concentrations

BETA = Beta(np.float64(7.5), np.float64(3.5))
POSTERIOR = dirichlet.posterior(
    np.array([[20, 5], [4, 30]]), concentrations("jeffreys", "dirichlet_multinomial", (0, 1)), None
)
NORMAL = normal_inverse_gamma.NormalInverseGamma(0.4, 10.0, 5.0, 1.0)


def gain(tp, fn, fp, tn):
    return tp - 0.5 * fp


KINDS = {
    "beta": lambda: BETA,
    "f1": lambda: Beta(np.float64(7.5), np.float64(3.5), "f1"),
    "integral": lambda: exact_distribution(*resolve("mcc", 2), POSTERIOR),
    "numeric": lambda: numeric_distribution(*resolve(gain, 2), POSTERIOR),
    "sum": lambda: Linear(np.full(3, 1 / 3), np.array([7.5, 3.5, 4.5]), np.array([2.5, 1.5, 0.5])),
    "difference": lambda: Independent(Outer(BETA, 0.0, 1.0), Outer(Beta(np.float64(4.5), np.float64(5.5)), 0.0, 1.0)),
    "ratio": lambda: Independent(Outer(BETA, 0.0, 1.0), Outer(Beta(np.float64(14.5), np.float64(5.5)), 0.0, 1.0), True),
    "discordant": lambda: Discordant(6.5, 3.5, 20.5),
    "mean": NORMAL.mean_distribution,
    "variance": NORMAL.variance_distribution,
    "draws": lambda: Draws(np.random.default_rng(1).beta(7.5, 3.5, 20_000)),
}
ASKED = {
    "pdf", "cdf", "sf", "ppf", "isf", "mean", "median", "sd", "eti", "hdi", "interval", "statistics", "error", "side",
    "at", "minus", "tails", "warn_undefined", "to_tabulate", "on_grid", "median_and_interval",
}  # fmt: skip
COUNTS = np.random.default_rng(2).integers(1, 30, (2, 3, 2, 2))
OF_THREE = np.random.default_rng(3).integers(1, 30, (2, 3, 3))
DIRICHLET = concentrations("jeffreys", "dirichlet_multinomial", (0, 1))
OF_ROWS = concentrations("jeffreys", "three_binomial", (0, 1, 2))
BATCHES = {
    "beta": lambda: exact_distribution(*resolve("recall", 2), dirichlet.posterior(COUNTS, DIRICHLET)),
    "integral": lambda: exact_distribution(*resolve("mcc", 2), dirichlet.posterior(COUNTS, DIRICHLET)),
    "numeric": lambda: numeric_distribution(*resolve(gain, 2), dirichlet.posterior(COUNTS[0], DIRICHLET)),
    "point": lambda: exact_distribution(*resolve("prevalence", 2), dirichlet.posterior(COUNTS, DIRICHLET, "fixed")),
    "sum": lambda: exact_distribution(*resolve("accuracy", 3), dirichlet.posterior(OF_THREE, OF_ROWS, "fixed")),
    "quotient": lambda: exact_distribution(*resolve("f1", 3), dirichlet.posterior(OF_THREE, OF_ROWS, "fixed")),
    "draws": lambda: Draws(np.random.default_rng(1).beta(7.5, 3.5, (2, 3, 2000))),
}


@pytest.fixture(params=KINDS)
def dist(request):
    return KINDS[request.param]()


def test_the_protocol_is_what_is_asked_of_every_kind():
    assert {name for name, _ in inspect.getmembers(Distribution, inspect.isfunction)} == ASKED
    assert all(isinstance(make(), Distribution) for make in KINDS.values())


def test_quantiles_and_tails_agree(dist):
    slack = 1e-3 if isinstance(dist, Draws) else 1e-5
    for p in (0.03, 0.4, 0.9):
        x = float(dist.ppf(p))
        assert float(dist.cdf(x)) == pytest.approx(p, abs=slack)
        assert float(dist.sf(x)) == pytest.approx(1.0 - p, abs=slack)
        assert float(dist.isf(1.0 - p)) == pytest.approx(x, rel=1e-5)
        assert 0.0 <= float(dist.error(x)) < 0.1
    assert float(dist.median()) == pytest.approx(float(dist.ppf(0.5)), rel=1e-9)


def test_tails_are_cdf_and_sf_and_of_no_values_there_are_none(dist):
    x = float(dist.ppf(0.3))
    np.testing.assert_allclose(np.ravel(dist.tails(x)), np.ravel([dist.cdf(x), dist.sf(x)]), rtol=1e-12)
    if not isinstance(dist, Contrast):
        for name in ("cdf", "sf", "pdf", "ppf", "error"):
            assert np.shape(getattr(dist, name)(np.empty(0))) == (0,)


def test_the_density_is_the_slope_of_the_cdf(dist):
    low, x, high = (float(dist.ppf(p)) for p in (0.45, 0.5, 0.55))
    assert float(dist.pdf(x)) == pytest.approx(0.1 / (high - low), rel=0.15 if isinstance(dist, Draws) else 0.02)
    np.testing.assert_allclose(np.ravel(dist.on_grid(x)), np.ravel([dist.cdf(x), dist.pdf(x)]), rtol=1e-6)


def test_intervals_hold_what_they_should_and_the_narrowest_is_no_longer(dist):
    lower, upper, is_hdi = dist.hdi(0.8)
    left, right = dist.eti(0.8)
    assert is_hdi
    assert float(dist.cdf(upper) - dist.cdf(lower)) == pytest.approx(0.8, abs=1e-3)
    assert float(dist.cdf(right) - dist.cdf(left)) == pytest.approx(0.8, abs=1e-3)
    assert upper - lower <= (right - left) * (1.0 + 1e-6)
    assert dist.interval(0.8, "eti") == (left, right)
    for kind, ends in (("eti", (left, right)), ("hdi", (lower, upper))):
        np.testing.assert_allclose(dist.median_and_interval(0.8, kind), [dist.median(), *ends], rtol=1e-9)
    found = dist.statistics(0.8, "hdi")
    np.testing.assert_allclose([found["lower"], found["upper"]], [lower, upper], rtol=1e-9)
    np.testing.assert_allclose([found["mean"], found["sd"]], [dist.mean(), dist.sd()], rtol=1e-6)


def test_mean_and_sd_are_those_of_the_quantiles(dist):
    if isinstance(dist, Independent) and dist.ratio:
        return
    p = (np.arange(40) + 0.5) / 40
    x = np.array([dist.ppf(one) for one in p]) if isinstance(dist, Contrast) else np.ravel(dist.ppf(p))
    assert float(dist.mean()) == pytest.approx(x.mean(), abs=0.05 * float(dist.sd()))
    assert float(dist.sd()) == pytest.approx(x.std(), rel=0.2)


def test_a_known_number():
    dist = Point(np.array([0.2, 0.7]))
    assert isinstance(dist, Distribution)
    np.testing.assert_array_equal(dist.cdf(0.5), [1.0, 0.0])
    np.testing.assert_array_equal(dist.sf(0.5), [0.0, 1.0])
    np.testing.assert_array_equal(dist.error(0.5), [0.0, 0.0])
    for value in (dist.ppf(0.1), dist.isf(0.1), dist.median(), dist.mean(), *dist.eti(0.9), *dist.hdi(0.9)[:2]):
        np.testing.assert_array_equal(value, [0.2, 0.7])
    np.testing.assert_array_equal(dist.sd(), [0.0, 0.0])
    assert dist.hdi(0.9)[2].all()


@pytest.mark.parametrize("kind", BATCHES)
def test_one_of_a_batch_is_what_the_batch_says_of_it(kind):
    dist = BATCHES[kind]()
    whole = np.asarray(dist.cdf(0.6))
    assert whole.ndim >= 1
    for place in np.ndindex(whole.shape):
        assert float(dist.at(*place).cdf(0.6)) == pytest.approx(whole[place], rel=1e-12, abs=1e-15)
    np.testing.assert_allclose(dist.at(..., 1).cdf(0.6), whole[..., 1], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(dist.at(0).cdf(0.6), whole[0], rtol=1e-12, atol=1e-15)


def test_one_distribution_is_its_own_only_place(dist):
    assert float(dist.at(...).cdf(0.6)) == float(dist.cdf(0.6))
    with pytest.raises(IndexError):
        dist.at(0)


def test_a_side_is_cdf_or_sf_with_its_errors(dist):
    x = float(dist.ppf(0.3))
    for sign in (">", ">=", "<", "<="):
        found = dist.side(x, sign)
        assert float(found.probability) == pytest.approx(0.7 if sign[0] == ">" else 0.3, abs=1e-3)
        assert (float(found.mcse) > 0.0) == (isinstance(dist, Draws) and np.isnan(found.error))


def test_sides_of_what_has_atoms():
    known, few = Point(np.array([0.2, 0.7])), collected(np.array([0.0, 0.5, 1.0]), np.array([0.2, 0.5, 0.3]))
    for sign, of_known, of_few in ((">", 0, 0.3), (">=", 1, 0.8), ("<", 0, 0.2), ("<=", 1, 0.7)):
        assert known.side(0.2, sign).probability[0] == of_known
        for dist in (DiscreteDistribution((few,)), DiscreteDistribution((few, few), True).at(..., 1)):
            assert float(dist.side(0.5, sign).probability) == pytest.approx(of_few)
        draws = Draws(np.repeat([0.1 + 0.4, 0.0, 1.0], [500, 200, 300]))  # .5 but for rounding
        assert float(draws.side(0.5, sign).probability) == pytest.approx(of_few)
