"""Scores of folds: the correlated t-test in closed form, the hierarchy of many data sets, and the rope."""

import numpy as np
import pytest
import xarray as xr
from agreement import draw, hardly_diverges, has_mean, proportional
from scipy import stats
from scipy.special import gammaln

from bayescm import models
from bayescm.data.datasets import files
from bayescm.distributions import normal_inverse_gamma
from bayescm.models.closed_form import ClosedForm
from bayescm.models.rope import rope_probabilities

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning"),
    pytest.mark.usefixtures("interpreted"),  # but where a fixture of the file samples
]

story = models.load("fold_scores")
PRIOR = {"mu": 0.5, "kappa": 0.4, "alpha": 1.5, "beta": 2.0}
SCORES = np.array([1.3, -0.4, 2.2, 0.9, 1.8, -1.1, 0.2, 2.5])


@pytest.fixture(scope="module")
def difference():
    """Accuracy of J48 minus that of naive Bayes, over (dataset, fold)."""
    lines = (files("bayescm") / "data" / "sets" / "corani2017_nbc_j48.csv").read_text().splitlines()[1:]
    rows = [line.split(",") for line in lines]
    scores = np.array([row[2:] for row in rows], float).reshape(2, 54, 100)
    return xr.DataArray(
        scores[1] - scores[0], dims=("dataset", "fold"), coords={"dataset": [row[1] for row in rows[:54]]}
    )


def covariance(n, rho):
    return np.where(np.eye(n, dtype=bool), 1, rho)


# one data set


def test_baycomp_oracle(oracle, difference):
    entry = oracle("field.18")
    sonar = difference.sel(dataset="sonar").isel(fold=slice(10))
    form = story.exact(sonar)
    left, rope, right = rope_probabilities(form, 0).mean_difference.values
    np.testing.assert_allclose([left, right], entry["expected"]["p_left,p_right (rope 0)"], rtol=0, atol=1e-12)
    assert rope == 0
    three = rope_probabilities(form, 0.5).mean_difference.values
    np.testing.assert_allclose(three, entry["expected"]["rope=0.5"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("runs", [1, 2, 4])
def test_nadeau_bengio_variance(runs):
    dist = story.exact(SCORES, runs=runs).distributions["mean_difference"]
    n, folds = len(SCORES), len(SCORES) / runs
    scale = np.sqrt(SCORES.var(ddof=1) * (1 / n + 1 / (folds - 1)))
    x = np.linspace(-3, 4, 9)
    np.testing.assert_allclose(dist.cdf(x), stats.t(n - 1, SCORES.mean(), scale).cdf(x), rtol=1e-12)


def test_without_correction_it_is_the_t_test():
    dist = story.exact(SCORES, correction=False).distributions["mean_difference"]
    assert dist.cdf(0) == pytest.approx(stats.ttest_1samp(SCORES, 0, alternative="greater").pvalue, rel=1e-12)
    assert story.correlation(8, 1, 0.3) == 0.3
    assert story.correlation(8, 2) == 0.25


@pytest.mark.parametrize("prior", [None, PRIOR])
def test_distribution_against_quadrature_of_the_multivariate_normal(prior):
    rho, n = 1 / 8, len(SCORES)
    mean, log_sd = np.linspace(-9, 11, 801), np.linspace(-2.5, 4.5, 501)
    base = stats.multivariate_normal(np.zeros(n), covariance(n, rho))
    inverse = np.linalg.inv(covariance(n, rho))
    apart = SCORES - mean[:, None]
    distance = np.einsum("ij,jk,ik->i", apart, inverse, apart)
    assert base.logpdf(SCORES - 1.0) == pytest.approx(
        base.logpdf(np.zeros(n)) - 0.5 * (SCORES - 1.0) @ inverse @ (SCORES - 1.0)
    )
    m, sd = mean[:, None], np.exp(log_sd)
    log_density = -n * np.log(sd) - 0.5 * distance[:, None] / sd**2
    if prior is not None:
        log_density = log_density + stats.norm.logpdf(m, prior["mu"], sd / np.sqrt(prior["kappa"]))
        log_density = log_density + stats.invgamma.logpdf(sd**2, prior["alpha"], scale=prior["beta"]) + 2 * log_sd
    weight = np.exp(log_density - log_density.max())
    form = story.exact(SCORES, prior=prior)
    cdf = weight.sum(1).cumsum() - weight.sum(1) / 2
    np.testing.assert_allclose(
        form.distributions["mean_difference"].cdf(mean[::50]), cdf[::50] / weight.sum(), atol=1e-4
    )
    cdf = weight.sum(0).cumsum() - weight.sum(0) / 2
    np.testing.assert_allclose(form.distributions["variance"].cdf(sd[::50] ** 2), cdf[::50] / weight.sum(), atol=1e-4)


@pytest.mark.parametrize(("shape", "rho"), [((7,), 0.2), ((3, 5), 0.1), ((2, 4), 0.0)])
def test_likelihood_against_scipy(shape, rho):
    rng = np.random.default_rng(0)
    x, mean, sigma = rng.normal(size=shape), rng.normal(size=shape[:-1]), rng.uniform(0.5, 2, shape[:-1])
    import pytensor.tensor as pt

    got = story.logp(pt.as_tensor(x), pt.as_tensor(mean[..., None] + np.zeros(shape)), sigma, rho).eval()
    for i in np.ndindex(shape[:-1]):
        cov = np.atleast_1d(sigma)[i or 0] ** 2 * covariance(shape[-1], rho)
        want = stats.multivariate_normal(np.full(shape[-1], np.atleast_1d(mean)[i or 0]), cov).logpdf(x[i])
        assert got[i] == pytest.approx(want, rel=1e-10)


def test_drawn_scores_are_equally_correlated():
    rng = np.random.default_rng(0)
    x = story._draw_scores(rng, np.full(40_000, 2.0), np.full(40_000, 1.5), 0.3, 4)
    np.testing.assert_allclose(np.cov(x.T), 2.25 * covariance(4, 0.3), atol=0.06)
    np.testing.assert_allclose(x.mean(0), 2, atol=0.04)


@pytest.mark.parametrize("prior", [None, PRIOR])
def test_draws_follow_the_distributions(prior):
    form = story.exact(SCORES, prior=prior)
    draws = form.draw(np.random.default_rng(0), 20_000)
    for name, dist in form.distributions.items():
        assert stats.kstest(draws[name], dist.cdf).pvalue > 1e-3
    np.testing.assert_allclose(draws.sigma**2, draws.variance)
    assert (form.prior is None) == (prior is None)


def test_the_program_has_the_density_of_the_closed_form():
    n, rho = len(SCORES), 2 / len(SCORES)
    squares = ((SCORES - SCORES.mean()) ** 2).sum() / (1 - rho)
    dist = normal_inverse_gamma.proper(PRIOR).update(n, SCORES.mean(), squares, weight=n / (1 + (n - 1) * rho))

    def closed(variance, mean_difference):
        spread = np.sqrt(variance / dist.kappa)
        of_variance = stats.invgamma.logpdf(variance, dist.alpha, scale=dist.beta)
        return of_variance + stats.norm.logpdf(mean_difference, dist.mu, spread)

    points = [{"variance": v, "mean_difference": m} for v, m in [(0.5, 0), (1.7, 1.2), (4, -2), (0.1, 0.9)]]
    proportional(story.model(SCORES, prior=PRIOR, runs=2), closed, points)
    marginal = story.exact(SCORES, prior=PRIOR, runs=2).distributions["mean_difference"]
    assert float(marginal.mean()) == pytest.approx(float(dist.mu))


@pytest.mark.slow
def test_calibration_of_one_data_set():
    rng = np.random.default_rng(1)
    pit = {"mean_difference": [], "variance": []}
    for _ in range(400):
        simulated = story.simulate(rng, 1, 5, prior=PRIOR, runs=2)
        dists = story.exact(simulated["scores"], prior=PRIOR, runs=2).distributions
        for name, values in pit.items():
            values.append(dists[name].cdf(simulated[name].item()))
    for values in pit.values():
        assert stats.kstest(values, "uniform").pvalue > 1e-3


def test_a_proper_prior_answers_constant_scores():
    with pytest.raises(ValueError, match=r"are all 0\.3"):
        story.exact(np.full(10, 0.3))
    assert story.exact(np.full(10, 0.3), prior=PRIOR).distributions["mean_difference"].mean() == pytest.approx(
        0.31, abs=0.1
    )
    one = normal_inverse_gamma.proper(PRIOR).update(1, 2.0, 0.0)
    assert one.kappa == pytest.approx(1.4)


# many data sets


def quadrature(difference, rho, rope):
    """Return the probabilities for the next data set, everything but (mean, sigma0, nu) integrated on grids."""
    d = difference.values
    n = d.shape[1]
    mean, squares = d.mean(1), ((d - d.mean(1)[:, None]) ** 2).sum(1)
    error = np.sqrt(squares / (1 - rho) / (n - 2) * (1 + (n - 1) * rho) / n)
    x = mean[:, None] + error[:, None] * np.linspace(-9, 9, 91)
    inside = squares[:, None] / (1 - rho) + n * (mean[:, None] - x) ** 2 / (1 + (n - 1) * rho)
    weight = (inside / inside.min(1, keepdims=True)) ** (-(n - 1) / 2)  # sigma_i integrated, flat and wide
    weight /= weight.sum(1, keepdims=True)
    rng = np.random.default_rng(0)
    alpha, beta = rng.uniform(1, 2, 4000), rng.uniform(0.01, 0.1, 4000)
    log_nu = np.linspace(-6, 6.5, 20)
    p_nu = [np.mean(stats.gamma.pdf(np.exp(z), alpha, scale=1 / beta)) * np.exp(z) for z in log_nu]
    mu, log_s = np.linspace(-12, 12, 61), np.linspace(np.log(0.3), np.log(200), 30)
    log_p = np.empty((len(mu), len(log_s), len(log_nu)))
    for j, s in enumerate(np.exp(log_s)):
        z2 = ((x - mu[:, None, None]) / s) ** 2
        for k, nu in enumerate(1 + np.exp(log_nu)):
            const = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi) - np.log(s)
            density = np.exp(const - (nu + 1) / 2 * np.log1p(z2 / nu))
            log_p[:, j, k] = np.log((density * weight).sum(-1) + 1e-300).sum(-1) + np.log(p_nu[k]) + log_s[j]
    p = np.exp(log_p - log_p.max())
    p[np.abs(mu) > np.abs(d).max()] = 0
    p /= p.sum()
    grid = np.meshgrid(mu, np.exp(log_s), 1 + np.exp(log_nu), indexing="ij")
    left, right = stats.t.cdf(-rope, grid[2], grid[0], grid[1]), stats.t.sf(rope, grid[2], grid[0], grid[1])
    return np.array([(p * v).sum() for v in (left, 1 - left - right, right)]), (p * grid[0]).sum()


@pytest.fixture(scope="module")
def few(difference):
    """Eight data sets."""
    return difference.isel(dataset=[0, 3, 9, 14, 17, 33, 36, 47])


def test_the_density_of_the_hierarchy_by_hand(few):
    """Of flat sigma0 and sigma, and differences of a Student t, whatever coordinates are sampled."""
    rho, program, rng = 0.1, story.model(few, runs=10), np.random.default_rng(3)
    upper, lower = 1000 * few.std("fold").mean().item(), few.std("fold").mean().item() / 1000
    spread = few.mean("fold").std().item()
    error = np.maximum(few.std("fold"), lower).values ** 2 / (1 - rho) * (1 + (few.sizes["fold"] - 1) * rho)
    error = error / few.sizes["fold"]
    among = max(spread**2 - error.mean(), error.mean() / 100)
    known = among / (among + error)

    def by_hand(mean_difference, sigma0_below, alpha, beta, nu_minus_one, sigma_below, standard):
        sigma0, sigma = 1000 * spread * np.exp(-sigma0_below), upper * np.exp(-sigma_below)
        difference = mean_difference + sigma0 ** (1 - known) * (standard - known * mean_difference)
        log = stats.t.logpdf(difference, 1 + nu_minus_one, mean_difference, sigma0) + (1 - known) * np.log(sigma0)
        log = log.sum() + np.log(sigma0) + np.log(sigma).sum() + stats.gamma.logpdf(nu_minus_one, alpha, scale=1 / beta)
        for scores, mean, sd in zip(few.values, difference, sigma, strict=True):
            same = np.full(len(scores), mean)
            log += stats.multivariate_normal(same, sd**2 * covariance(len(scores), rho)).logpdf(scores)
        return log

    def point():
        at = {"alpha": rng.uniform(1, 2), "beta": rng.uniform(0.01, 0.1), "nu_minus_one": rng.uniform(0.5, 40)}
        at |= {"mean_difference": rng.normal(), "standard": rng.normal(size=8)}
        return at | {"sigma0_below": rng.uniform(5, 8), "sigma_below": rng.uniform(5, 8, 8)}

    proportional(program, by_hand, [point() for _ in range(4)])


@pytest.fixture(scope="module")
def hierarchy(few, seed):
    return draw(story.model(few, runs=10), seed(1))


@pytest.mark.long
def test_hierarchy_against_quadrature(few, hierarchy):
    want, mean = quadrature(few, 0.1, 1)
    posterior, sampled = hierarchy
    hardly_diverges(sampled)
    got = rope_probabilities(xr.DataTree.from_dict({"posterior": posterior}), 1)
    drawn = posterior["mean_difference"]
    next_one = stats.t(posterior["nu"].values, drawn.values, posterior["sigma0"].values)
    each = [next_one.cdf(-1), next_one.cdf(1) - next_one.cdf(-1), next_one.sf(1)]
    np.testing.assert_allclose(got.next_dataset, [one.mean() for one in each], rtol=1e-9)
    for one, probability in zip(each, want, strict=True):
        has_mean(drawn.copy(data=one), probability, 0.003)  # error of the grids
    has_mean(drawn, mean, 0.003)
    assert float(got.largest.sum()) == pytest.approx(1)


@pytest.fixture(scope="module")
def all_data_sets(difference, seed):
    return draw(story.model(difference.isel(fold=slice(10))), seed(1), draws=1000, tune=700)


@pytest.mark.long
def test_baycomp_hierarchy(all_data_sets):
    """The documentation's (0.0795, 0.0365, 0.884): nbc and j48, rope 1, ten scores of each of the 54 data sets."""
    posterior, sampled = all_data_sets
    hardly_diverges(sampled)
    got = rope_probabilities(xr.DataTree.from_dict({"posterior": posterior}), 1)
    np.testing.assert_allclose(got.largest, [0.0795, 0.0365, 0.884], atol=0.04)
    sigma = posterior["sigma"]
    assert np.isfinite(sigma).all()
    assert sigma.sel(dataset="hayes-roth").mean() < 0.02  # all scores equal: kept by the lower bound


@pytest.mark.slow
def test_new_data_in_a_built_program(difference):
    few = difference.isel(dataset=slice(0, 5), fold=slice(10))
    other = difference.isel(dataset=slice(5, 10), fold=slice(10)).assign_coords(dataset=few.dataset)
    refilled, fresh = story.model(few), story.model(other)
    refilled.set_data("scores_data", other.values)
    assert [rv.name for rv in fresh.observed_RVs] == ["scores"]
    for program in (refilled, fresh):
        assert [rv.name for rv in program.observed_RVs] == ["scores"]
    start = fresh.initial_point()
    for name, value in refilled.initial_point().items():
        np.testing.assert_allclose(value, start[name])
    assert refilled.point_logps(start) == fresh.point_logps(start)


@pytest.mark.slow
def test_simulation_draws_from_the_prior_of_the_program():
    import pymc as pm

    rng = np.random.default_rng(2)
    simulated = [story.simulate(rng, 3, 6) for _ in range(500)]
    program = story.model(simulated[0]["scores"], prior=story.FIXED)
    with program:
        prior = pm.sample_prior_predictive(500, random_seed=1)
    for name in ("mean_difference", "sigma0", "nu", "alpha", "beta", "difference", "sigma"):
        drawn = np.array([np.ravel(s[name])[0] for s in simulated])
        theirs = prior["prior"][name].values.reshape(500, -1)[:, 0]
        assert stats.ks_2samp(drawn, theirs).pvalue > 1e-3, name
    for function in (np.mean, np.std):
        drawn = [function(s["scores"][0]) for s in simulated]
        theirs = function(prior["prior_predictive"]["scores"].values[0, :, 0], axis=-1)
        assert stats.ks_2samp(drawn, theirs).pvalue > 1e-3
    assert story.simulate(rng, folds=4, runs=3).sizes == {"fold": 12}


@pytest.mark.slow
def test_one_and_equal_data_sets():
    rng = np.random.default_rng(0)
    one = story.model(rng.normal(size=(1, 10)))
    assert np.isfinite(sum(one.point_logps().values()))
    with pytest.raises(ValueError, match="do not vary"):
        story.model(np.ones((3, 10)))
    assert story.exact(rng.normal(size=(3, 10))) is None


# the rope


def test_rope_of_draws_and_distributions():
    dist = stats.t(9, 1.0, 0.5)
    draws = xr.Dataset({"x": ("sample", dist.rvs(100_000, random_state=1))})
    exact, drawn = rope_probabilities(dist, 0.5, variable="x"), rope_probabilities(draws, 0.5, variable="x")
    np.testing.assert_allclose(exact.x, drawn.x, atol=0.01)
    assert list(exact.side.values) == ["worse", "equivalent", "better"]
    assert float(exact.x.sum()) == pytest.approx(1)
    tree = xr.DataTree.from_dict({"posterior": draws})
    assert rope_probabilities(tree, 0.5, variable="x").identical(drawn)
    # far tails keep their digits
    assert rope_probabilities(stats.t(50, -9.0, 0.1), 1).mean_difference[2] < 1e-50


def test_rope_of_the_next_data_set():
    draws = xr.Dataset({"mean_difference": ("sample", [0.0, 5.0, -5.0]), "sigma0": 0.1 + xr.zeros_like(
        xr.DataArray([0.0, 0, 0], dims="sample")), "nu": ("sample", [30.0, 30, 30])})  # fmt: skip
    got = rope_probabilities(draws, 1)
    np.testing.assert_allclose(got.largest, [1 / 3] * 3)
    np.testing.assert_allclose(got.next_dataset, [1 / 3] * 3, atol=1e-6)
    np.testing.assert_allclose(got.mean_difference, [1 / 3] * 3)


@pytest.mark.parametrize(
    ("posterior", "rope", "error", "words"),
    [
        (stats.norm(), -1, ValueError, "`rope` must be"),
        (stats.norm(), np.inf, ValueError, "`rope` must be finite"),
        (stats.norm(), "1", TypeError, "`rope` must be"),
        (xr.Dataset({"x": ("sample", [1.0])}), 1, ValueError, "one of x; got 'mean_difference'"),
        (xr.DataTree(), 1, ValueError, "no group 'posterior'"),
        ([1.0, 2.0], 1, TypeError, "got list"),
    ],
)
def test_rope_refusals(posterior, rope, error, words):
    with pytest.raises(error, match=words):
        rope_probabilities(posterior, rope)


# refusals


@pytest.mark.parametrize(
    ("scores", "error", "words"),
    [
        ([1.0, np.nan], ValueError, "missing value at position 1"),
        ([[1.0, 2.0], [np.inf, 0.0]], ValueError, r"infinite value at position \(1, 0\)"),
        (["a", "b"], TypeError, "real numbers"),
        ([], ValueError, "empty"),
        ([1.0], ValueError, "one fold"),
        (np.zeros((2, 2, 2)), ValueError, "one axis"),
        (xr.DataArray([1.0, 2.0], dims="x"), ValueError, "dim 'fold'"),
        (xr.DataArray(np.eye(2), dims=("dataset", "fold"), coords={"dataset": ["a", "a"]}), ValueError, "twice"),
    ],
)
def test_refused_scores(scores, error, words):
    for function in (story.exact, story.model):
        with pytest.raises(error, match=words):
            function(scores)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"runs": 3}, ValueError, "must divide"),
        ({"runs": 8}, ValueError, "one fold per run"),
        ({"runs": 1.0}, TypeError, "positive integer"),
        ({"correction": 1.0}, ValueError, "`correction` must be"),
        ({"prior": "jeffreys"}, ValueError, "'reference', 'standard'"),
        ({"prior": 3}, TypeError, "mapping"),
        ({"prior": {"mu": 0}}, ValueError, "keys"),
        ({"prior": PRIOR | {"beta": 0}}, ValueError, "above 0"),
        ({"prior": PRIOR | {"mu": np.nan}}, ValueError, "finite"),
        ({"prior": PRIOR | {"mu": [0, 1]}}, ValueError, "a number; got shape"),
        ({"prior": PRIOR | {"mu": "0"}}, TypeError, "a number"),
    ],
)
def test_refused_options(options, error, words):
    with pytest.raises(error, match=words):
        story.exact(SCORES, **options)


@pytest.mark.parametrize(
    ("prior", "error", "words"),
    [
        ("standard", TypeError, "None or a mapping"),
        ({"nu": 3}, ValueError, "has no nu"),
        ({"sigma_min": 1, "sigma_max": -1}, ValueError, "sigma_max"),
        ({"sigma_max": 1}, ValueError, "both or none"),
        ({"sigma_min": 3, "sigma_max": 2}, ValueError, "sigma_min"),
        ({"alpha": 1}, ValueError, "a lower and an upper"),
        ({"beta": (2, 1)}, ValueError, "beta"),
    ],
)
def test_refused_hyperpriors(prior, error, words):
    with pytest.raises(error, match=words):
        story.model(np.eye(3), prior=prior)


def test_what_has_no_program_or_no_truth():
    with pytest.raises(ValueError, match="improper"):
        story.model(SCORES)
    with pytest.raises(ValueError, match="no data yet"):
        story.simulate(np.random.default_rng(0), 3, prior={"mean_max": 1.0})
    assert isinstance(story.exact(SCORES), ClosedForm)
