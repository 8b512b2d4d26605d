"""Two normals, one per class: distributions, area and curve, by both roads."""

import numpy as np
import pytest
import xarray as xr
from agreement import log_density, proportional
from scipy import stats
from scipy.special import ndtr, ndtri

from bayescm import models
from bayescm.distributions import normal_inverse_gamma

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning"),
    pytest.mark.usefixtures("interpreted"),
]

story = models.load("binormal")
PRIOR = {"mu": [0.0, 0.5], "kappa": [0.5, 2.0], "alpha": [2.0, 1.5], "beta": 1.5}
RNG = np.random.default_rng(3)
Y = np.repeat([0, 1], [14, 9])
X = RNG.normal(5 + 1.2 * Y, 1 + 0.5 * Y)
DATA = story.scores_by_class(Y, X)
PRIORS = ["weak", "reference", "standard", PRIOR]


def base_of(prior):
    """Return the prior's numbers per class, or None for "reference"."""
    if prior == "reference":
        return None
    if prior == "weak":
        return [(X.mean(), 1, 1, X.var() / 2)] * 2
    given = normal_inverse_gamma.STANDARD if prior == "standard" else prior
    return list(zip(*(np.broadcast_to(given[key], 2) for key in ("mu", "kappa", "alpha", "beta")), strict=True))


@pytest.mark.parametrize("prior", PRIORS)
def test_distributions_against_quadrature(prior):
    dists = story.exact(DATA, prior=prior).distributions
    mean, log_sd = np.linspace(-12, 20, 801), np.linspace(-3, 3.5, 301)
    m, sd = mean[:, None], np.exp(log_sd)
    for c in (0, 1):
        x = X[c == Y]
        log_density = stats.norm.logpdf(x[:, None, None], m, sd).sum(0)
        if prior != "reference":
            mu, kappa, alpha, beta = base_of(prior)[c]
            log_density += stats.norm.logpdf(m, mu, sd / np.sqrt(kappa))
            log_density += stats.invgamma.logpdf(sd**2, alpha, scale=beta) + 2 * log_sd
        weight = np.exp(log_density - log_density.max())
        weight /= weight.sum()
        cdf = weight.sum(1).cumsum() - weight.sum(1) / 2
        pick = np.arange(300, 600, 5)
        np.testing.assert_allclose(dists["mu"].cdf(mean[pick, None])[:, c], cdf[pick], atol=1e-3)
        cdf = weight.sum(0).cumsum() - weight.sum(0) / 2
        np.testing.assert_allclose(dists["variance"].cdf(sd[::10, None] ** 2)[:, c], cdf[::10], atol=1e-3)


def area_cdf(value, dists, nodes=200):
    """P(auc <= value): given the spreads the difference of the means is normal; the spreads by their quantiles."""
    u = (np.arange(nodes) + 0.5) / nodes
    variance = dists["variance"].ppf(u[:, None])  # (nodes, 2)
    v0, v1 = variance[:, None, 0], variance[None, :, 1]
    df, loc, scale = dists["mu"].dist.args
    alpha, beta = df / 2, dists["variance"].dist.kwds["scale"]
    kappa = beta / alpha / scale**2
    z = (ndtri(value) * np.sqrt(v0 + v1) - (loc[1] - loc[0])) / np.sqrt(v0 / kappa[0] + v1 / kappa[1])
    return ndtr(z).mean()


@pytest.mark.parametrize("prior", PRIORS)
def test_draws_follow_the_distributions(prior):
    form = story.exact(DATA, prior=prior)
    draws = form.draw(np.random.default_rng(0), 20_000)
    for name, dist in form.distributions.items():
        pit = dist.cdf(draws[name].values)
        for c in (0, 1):
            assert stats.kstest(pit[:, c], "uniform").pvalue > 1e-3
    for value in (0.5, 0.65, 0.8, 0.9):
        assert (draws.auc <= value).mean() == pytest.approx(area_cdf(value, form.distributions), abs=0.014)
    assert (form.prior is None) == (prior == "reference")


def test_reference_is_the_t_distribution():
    dist = story.exact(DATA, prior="reference").distributions["mu"]
    for c in (0, 1):
        x = X[c == Y]
        want = stats.t(len(x) - 1, x.mean(), stats.sem(x))
        np.testing.assert_allclose(dist.cdf(np.array([[4.0], [5.0], [6.0]]))[:, c], want.cdf([4, 5, 6]), rtol=1e-10)


@pytest.mark.parametrize(("kappa", "spread"), [(1.0, 1.0), (0.25, 1.0), (4.0, 10.0)])
def test_area_before_the_data(kappa, spread):
    """Phi(z / sqrt(kappa)) whatever the spreads: uniform with kappa = 1."""
    prior = normal_inverse_gamma.STANDARD | {"kappa": kappa, "alpha": [1.0, 3.0], "beta": [0.5, spread]}
    auc = story.exact(DATA, prior=prior).prior(np.random.default_rng(0), 20_000).auc
    assert stats.kstest(auc, lambda x: ndtr(ndtri(x) * np.sqrt(kappa))).pvalue > 1e-3
    if kappa == 1:
        weak = story.exact(DATA).prior(np.random.default_rng(0), 20_000).auc
        assert stats.kstest(weak, "uniform").pvalue > 1e-3


def test_weak_prior_knows_no_unit():
    rng = np.random.default_rng
    here = story.exact(DATA).draw(rng(0), 500)
    there = story.exact(DATA.copy(data=40 - 2 + 1e3 * X)).draw(rng(0), 500)
    for name in ("auc", "tpr", "a", "b", "d_a"):
        np.testing.assert_allclose(here[name], there[name], rtol=1e-9, atol=1e-12)


def test_curve_and_area_agree():
    grid = np.linspace(0, 1, 20_001)
    draws = story.exact(DATA, fpr=grid).draw(np.random.default_rng(0), 20)
    np.testing.assert_allclose(np.trapezoid(draws.tpr, grid, axis=1), draws.auc, atol=2e-5)
    np.testing.assert_allclose(draws.tpr.sel(fpr=[0, 1]), [[0, 1]] * 20)
    mu, sigma = draws.mu.values, draws.sigma.values
    np.testing.assert_allclose(draws.auc, ndtr((mu[:, 1] - mu[:, 0]) / np.hypot(*sigma.T)))
    threshold = stats.norm.isf(0.3, mu[:, 0], sigma[:, 0])
    np.testing.assert_allclose(draws.tpr.sel(fpr=0.3), stats.norm.sf(threshold, mu[:, 1], sigma[:, 1]))
    np.testing.assert_allclose(ndtr(draws.d_a / np.sqrt(2)), draws.auc)


@pytest.mark.parametrize("prior", ["weak", "standard", PRIOR])
def test_the_program_has_the_density_of_the_closed_form(prior):
    """Of means and variances; test_programs.py compares what follows from them."""
    dists = story.exact(DATA, prior=prior).distributions
    df, loc, scale = dists["mu"].dist.args
    alpha, beta = df / 2, dists["variance"].dist.kwds["scale"]
    kappa = beta / alpha / scale**2

    def closed(variance, mu):
        means = stats.norm.logpdf(mu, loc, np.sqrt(variance / kappa))
        return (stats.invgamma.logpdf(variance, alpha, scale=beta) + means).sum()

    rng = np.random.default_rng(1)
    points = [{"variance": rng.gamma(2, 1, 2), "mu": rng.normal(5, 2, 2)} for _ in range(5)]
    program = story.model(DATA, prior=prior)
    proportional(program, closed, points)
    pointwise = log_density(program, vars=program.observed_RVs, sum=False)(**points[0])[0]
    want = stats.norm.logpdf(X, points[0]["mu"][Y], np.sqrt(points[0]["variance"])[Y])
    np.testing.assert_allclose(pointwise, want)


def test_new_data_in_a_built_program():
    other = story.scores_by_class(Y[::-1], X * 3 - 1)
    refilled, fresh = story.model(DATA), story.model(other)
    refilled.set_data("scores_data", other.values)
    refilled.set_data("actual_data", Y[::-1])
    start = fresh.initial_point()
    got, want = refilled.point_logps(start), fresh.point_logps(start)
    assert got == want
    assert [rv.name for rv in fresh.observed_RVs] == ["scores"]


@pytest.mark.slow
def test_calibration():
    rng = np.random.default_rng(5)
    pit = {"mu": [], "variance": [], "auc": []}
    for _ in range(300):
        simulated = story.simulate(rng, 6, 4)
        form = story.exact(simulated, prior="standard", fpr=[0.5])
        for name, dist in form.distributions.items():
            pit[name].append(dist.cdf(simulated[name].values))
        pit["auc"].append((form.draw(rng, 199).auc < simulated.auc).mean().item() + rng.uniform() / 200)
    for values in (*np.transpose(pit["mu"]), *np.transpose(pit["variance"]), pit["auc"]):
        assert stats.kstest(values, "uniform").pvalue > 1e-3


def test_recovery():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20_000)
    auc = story.exact((y, rng.normal(y, 1 + y))).draw(rng, 2000).auc
    assert auc.mean().item() == pytest.approx(ndtr(1 / np.sqrt(5)), abs=0.01)
    assert auc.std() < 0.005


def test_shapes_of_the_data():
    want = story.exact(DATA).distributions["mu"].mean()
    text = np.where(Y == 1, "ill", "well")
    by_name = story.scores_by_class(text, X, pos_label="ill")
    assert by_name.attrs["labels"] == ["well", "ill"]
    dataset = xr.Dataset({"scores": ("item", X), "actual": ("item", Y)})
    for data in ((Y, X), by_name, dataset, dataset.set_coords("actual"), DATA[::-1], DATA.drop_vars("item")):
        np.testing.assert_allclose(story.exact(data).distributions["mu"].mean(), want)
    assert story.exact(by_name).draw(RNG, 2).class_label.values.tolist() == ["well", "ill"]
    assert story.exact((text, X)).draw(RNG, 2).class_label.values.tolist() == ["well", "ill"]
    with pytest.raises(ValueError, match="`pos_label` is needed"):
        story.scores_by_class(np.where(Y == 1, "a", "b"), X)
    assert story.exact(DATA).observed.dims == ("item",)


@pytest.mark.parametrize("x", [[1.0, 2.0], [1.0, 1.0, 2.0], [1.0, 2.0, 2.0], [3.0, 1.0, 1.0, 3.0]])
def test_few_and_tied_scores(x):
    y = np.arange(len(x)) % 2
    draws = story.exact((y, x)).draw(np.random.default_rng(0), 2000)
    assert all(np.isfinite(v).all() for v in draws.values())
    assert 0.05 < draws.auc.std() < 0.35
    if len(x) < 4:
        with pytest.raises(ValueError, match="two different scores per class; class"):
            story.exact((y, x), prior="reference")


@pytest.mark.parametrize(
    ("scores", "error", "words"),
    [
        (([0, 1], [1.0, np.nan]), ValueError, "`y_score` has a missing value at position 1"),
        (([0, 1], [-np.inf, 1.0]), ValueError, "infinite value at position 0; clip"),
        (([0, 1, 1], [2.0, 2.0, 2.0]), ValueError, "are all 2"),
        (([0, 0], [1.0, 2.0]), ValueError, "two classes"),
        (([0, 1, 2], [1.0, 2.0, 3.0]), ValueError, "two classes"),
        (([0, 1], [1.0, 2.0, 3.0]), ValueError, "`y_true` has 2"),
        (([0, 1], ["a", "b"]), TypeError, "real numbers"),
        ([1.0, 2.0], TypeError, "pair"),
        (xr.DataArray([1.0, 2.0], dims="item"), ValueError, "coordinate actual"),
        (xr.DataArray([1.0, 2.0], dims="x", coords={"actual": ("x", [0, 1])}), ValueError, "dim 'item'"),
        (xr.Dataset({"scores": ("item", [1.0, 2.0])}), ValueError, "as a Dataset"),
    ],
)
def test_refused_scores(scores, error, words):
    for function in (story.exact, story.model):
        with pytest.raises(error, match=words):
            function(scores)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"prior": "jeffreys"}, ValueError, "'weak', 'reference', 'standard'"),
        ({"prior": {"mu": 0}}, ValueError, "keys"),
        ({"prior": PRIOR | {"mu": [0, 1, 2]}}, ValueError, "shape"),
        ({"fpr": [0.5, 0.2]}, ValueError, "`fpr` must rise"),
        ({"fpr": [0.5, 1.2]}, ValueError, "`fpr` must rise"),
        ({"fpr": []}, ValueError, "empty"),
    ],
)
def test_refused_options(options, error, words):
    for function in (story.exact, story.model):
        with pytest.raises(error, match=words):
            function(DATA, **options)


def test_reference_has_no_program():
    with pytest.raises(ValueError, match="improper"):
        story.model(DATA, prior="reference")
    with pytest.raises(ValueError, match="must be 'standard'"):
        story.simulate(RNG, prior="weak")
