"""Priors that break conjugacy: NUTS against quadrature, the closed form where the priors are Betas."""

import numpy as np
import preliz
import pymc as pm
import pytest
from agreement import has_moments, log_density
from scipy import integrate, special, stats

import bayescm
from bayescm import models
from bayescm.priors import LogitNormal

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore:NUTS"),
    pytest.mark.usefixtures("interpreted"),  # but where a fixture of the file samples
]
TABLE = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
EXPERT = {
    "prevalence": (2, 2),
    "recall": LogitNormal.from_interval(0.80, 0.98),
    "specificity": LogitNormal.from_interval(0.60, 0.95),
}


def moments(prior, right, wrong):
    """Mean and standard deviation of a rate under a logit-normal prior, by quadrature."""

    def integral(power):
        def f(z):
            p = special.expit(prior.mu + prior.sigma * z)
            return stats.norm.pdf(z) * p ** (right + power) * (1 - p) ** wrong

        return integrate.quad(f, -12, 12, epsabs=0, epsrel=1e-10, limit=300)[0]

    total, first, second = (integral(power) for power in (0, 1, 2))
    return first / total, np.sqrt(second / total - (first / total) ** 2)


@pytest.fixture(scope="module")
def fit(seed):
    sampler = {"progressbar": False, "cores": 1, "chains": 2, "draws": 700, "tune": 500}
    return bayescm.posterior(
        TABLE, model="informative", prior=EXPERT, metrics=["recall", "specificity", "prevalence"],
        random_seed=seed(1), **sampler,
    )  # fmt: skip


@pytest.mark.slow
def test_nuts_against_quadrature(fit):
    for name, right, wrong in (("recall", 26, 0), ("specificity", 6, 2)):
        has_moments(fit.posterior[name], *moments(EXPERT[name], right, wrong))
    dist = stats.beta(28, 10)
    has_moments(fit.posterior.prevalence, dist.mean(), dist.std())


def test_betas_take_the_closed_form():
    betas = {"prevalence": (2, 8), "recall": "jeffreys", "specificity": 3}
    exact = bayescm.posterior(
        TABLE, model="informative", prior=betas, metrics=["recall", "mcc"], draws=20_000, random_seed=1
    )
    twin = bayescm.summary(TABLE, ["recall", "mcc"], model="three_binomial", prior=betas)
    assert exact.attrs["method"] == "exact"
    for name in ("recall", "matthews_correlation"):
        assert float(exact.posterior[name].mean()) == pytest.approx(float(twin["mean"].sel(metric=name)), abs=0.002)
    at = log_density(models.load("informative").model(TABLE, prior=betas))
    dists = {"prevalence": stats.beta(2 + 26, 8 + 8), "recall": stats.beta(26.5, 0.5), "specificity": stats.beta(9, 5)}
    points = [dict(zip(dists, p, strict=True)) for p in np.random.default_rng(1).uniform(0.1, 0.9, (5, 3))]
    constant = [at(**point) - sum(dists[name].logpdf(p) for name, p in point.items()) for point in points]
    np.testing.assert_allclose(constant, constant[0], rtol=1e-9)


@pytest.mark.slow
def test_correlated_logits():
    """Prior draws have the correlation, and so has the program: what one rate's data say moves the other."""
    story = models.load("informative")
    rng = np.random.default_rng(1)
    prior = {"prevalence": 1, "recall": LogitNormal(1, 1), "specificity": LogitNormal(0, 2)}
    worlds = [story.simulate(rng, prior=prior, correlation=-0.7) for _ in range(3000)]
    logits = [special.logit([float(w[name]) for w in worlds]) for name in ("recall", "specificity")]
    assert np.corrcoef(logits)[0, 1] == pytest.approx(-0.7, abs=0.05)
    assert np.std(logits[1]) == pytest.approx(2, rel=0.05)
    program = story.model(bayescm.from_cells(tp=200, fn=2, fp=3, tn=4), prior=prior, correlation=-0.7)
    likelihood = log_density(program, vars=program.observed_RVs)
    for first, second in rng.normal(size=(4, 2)):
        recall = special.expit(1 + first)
        specificity = special.expit(2 * (-0.7 * first + np.sqrt(1 - 0.49) * second))
        cells = [0.6 * specificity, 0.6 * (1 - specificity), 0.4 * (1 - recall), 0.4 * recall]
        got = likelihood(prevalence=0.4, recall_z=first, specificity_z=second)
        assert got == pytest.approx(stats.multinomial.logpmf([4, 3, 2, 200], 209, cells), rel=1e-9)


@pytest.mark.slow
def test_prior_predictive_of_any_metric():
    dt = bayescm.inference.prior_predictive(
        ["mcc", "recall"], n_items=34, model="informative", prior=EXPERT, draws=1000, random_seed=1
    )
    assert dt.prior.recall.dims == ("chain", "draw")
    assert dt.prior.sizes["chain"] == 4
    low, high = dt.prior.recall.quantile([0.05, 0.95]).values
    assert (low, high) == (pytest.approx(0.80, abs=0.02), pytest.approx(0.98, abs=0.01))
    assert (dt.prior_predictive.counts.sum("cell") == 34).all()
    assert dt.prior_replicate.matthews_correlation.sizes == {"chain": 4, "draw": 1000}
    with pytest.raises(TypeError, match="isn't an option of dirichlet_multinomial"):
        bayescm.inference.prior_predictive("f1", n_items=3, draws=2, pooling="partial")
    with pytest.raises(TypeError, match="isn't an option of informative"):
        bayescm.inference.prior_predictive(n_items=3, model="informative", draws=2, tune=3)


def test_logit_normal_from_an_interval():
    prior = LogitNormal.from_interval(0.7, 0.95, ci_prob=0.9)
    z = stats.norm.ppf([0.05, 0.95])
    np.testing.assert_allclose(special.expit(prior.mu + prior.sigma * z), [0.7, 0.95])
    for bad in ((0.9, 0.8), (0, 0.5), (0.5, 1), (np.nan, 0.5)):
        with pytest.raises(ValueError, match=r"`lower`|`upper`"):
            LogitNormal.from_interval(*bad)
    with pytest.raises(ValueError, match="`sigma`"):
        LogitNormal(0, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("own", "density"),
    [
        (pm.TruncatedNormal.dist(0.8, 0.1, lower=0, upper=1), stats.truncnorm(-8, 2, 0.8, 0.1).logpdf),
        (preliz.TruncatedNormal(0.8, 0.1, 0, 1), stats.truncnorm(-8, 2, 0.8, 0.1).logpdf),
        (pm.Kumaraswamy.dist(2, 3), lambda p: np.log(6 * p * (1 - p**2) ** 2)),
        (pm.Truncated.dist(pm.Normal.dist(0.8, 0.1), lower=0, upper=1), stats.truncnorm(-8, 2, 0.8, 0.1).logpdf),
    ],
)
def test_three_binomials_take_any_prior_of_a_rate(own, density):
    """The program's density of recall is the prior's times that of the binomials; what isn't named is jeffreys."""
    prior = {"recall": own}
    choice = bayescm.inference.choose(TABLE, model="three_binomial", prior=prior)
    assert choice.method == "nuts"
    assert "informative" in choice.reason
    at = log_density(models.load("informative").model(TABLE, prior=prior))
    points = np.random.default_rng(1).uniform(0.3, 0.95, 5)
    fixed = {"prevalence": 0.6, "specificity": 0.7}
    got = [at(recall=p, **fixed) for p in points] - (density(points) + 26 * np.log(points))
    np.testing.assert_allclose(got, got[0], rtol=1e-6)
    again = models.load("informative").model(TABLE, prior=prior)  # the same distribution serves twice
    assert [rv.name for rv in again.free_RVs] == ["prevalence", "recall", "specificity"]
    world = models.load("informative").simulate(np.random.default_rng(2), prior=prior)
    assert 0 < float(world["recall"]) < 1


def test_bad_priors_are_named():
    for prior, words in (
        ({"recal": 1}, "must be a mapping with some of the keys"),
        ("jeffreys", "must be a mapping with some of the keys"),
        ({"recall": pm.Normal.dist()}, "distribution of one number from 0 to 1"),
        ({"recall": pm.Uniform.dist(shape=2)}, "distribution of one number from 0 to 1"),
        ({**EXPERT, "prevalence": 0}, "proper"),
    ):
        with pytest.raises(ValueError, match=words):
            bayescm.inference.choose(TABLE, model="informative", prior=prior)
    with pytest.raises(ValueError, match="give recall and specificity as LogitNormal"):
        bayescm.inference.choose(TABLE, model="informative", prior={**EXPERT, "recall": 1}, correlation=0.3)
    with pytest.raises(ValueError, match="two labels"):
        bayescm.inference.choose(np.ones((3, 3), int), model="informative")
    with pytest.raises(ValueError, match="`correlation`"):
        bayescm.inference.choose(TABLE, model="informative", correlation=1)


def test_one_distribution_of_two_rates_has_two_streams():
    story = models.load("informative")
    own = pm.TruncatedNormal.dist(0.8, 0.1, lower=0, upper=1)
    program = story.model([[6, 2], [0, 26]], prior={"recall": own, "specificity": own})
    drawn = pm.draw([program["recall"], program["specificity"]], draws=200, random_seed=1)
    assert abs(np.corrcoef(*drawn)[0, 1]) < 0.4  # 1 of one stream
    with pytest.raises(ValueError, match="truncate it"):
        story.model([[6, 2], [0, 26]], prior={"recall": pm.Normal.dist(0.5, 0.1)})
