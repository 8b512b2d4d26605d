"""Clustered items: the likelihood, its limits, draws, recovery, and the thesis' chains."""

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
import xarray as xr
from agreement import log_density
from scipy import special, stats

import bayescm
from bayescm import models
from bayescm.models import predictive

pytestmark = [
    pytest.mark.filterwarnings(
        "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore:Numba will use object mode:UserWarning"
    ),
    pytest.mark.usefixtures("interpreted"),
]
story = models.load("overdispersed")
TABLE = bayescm.from_cells(tp=[26, 3, 0], fn=[0, 9, 0], fp=[2, 1, 5], tn=[6, 12, 0], dims="image")
THREE = bayescm.from_array([[[5, 1, 0], [2, 7, 0], [0, 0, 0]], [[50, 3, 2], [4, 40, 1], [1, 6, 30]]], dims="document")
THETA = np.array([0.5, 0.1, 0.15, 0.25])
EPS = 2.3e-16


def likelihood(program, **values):
    """Return the log likelihood of the observed counts at values of the free variables, over clusters."""
    return log_density(program, vars=program.observed_RVs, sum=False)(**values)[0]


def simplex(values):
    return np.asarray(values) / np.sum(values, axis=-1, keepdims=True)


@pytest.mark.parametrize("counts", [TABLE, THREE])
@pytest.mark.parametrize("rho", [1e-4, 0.03, 0.4, 0.95])
def test_cells_are_scipys_dirichlet_multinomial(counts, rho):
    theta = simplex(np.arange(1.0, counts[0].size + 1))
    got = likelihood(story.model(counts), theta_cell=theta, rho=rho)
    flat = counts.values.reshape(len(counts), -1)
    want = stats.dirichlet_multinomial.logpmf(flat, (1 / rho - 1) * theta, flat.sum(-1))
    np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("counts", [TABLE, THREE])
def test_rates_are_a_tree_of_dirichlet_multinomials(counts):
    k = counts.sizes["actual"]
    shares, rates = simplex(np.arange(2.0, k + 2)), simplex(np.arange(1.0, k * k + 1).reshape(k, k) ** 2)
    rho = np.linspace(0.02, 0.6, k + 1)
    got = likelihood(story.model(counts, overdispersion="rates"), class_shares=shares, rates=rates, rho=rho)
    s, totals = 1 / rho - 1, counts.values.sum(-1)
    want = stats.dirichlet_multinomial.logpmf(totals, s[0] * shares, totals.sum(-1))
    for i in range(k):
        want = want + stats.dirichlet_multinomial.logpmf(counts.values[:, i], s[i + 1] * rates[i], totals[:, i])
    np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("rho", [1e-8, 1e-12, 1e-14, 1e-30])
def test_no_correlation_is_the_multinomial(rho):
    flat = TABLE.values.reshape(3, 4)
    want = stats.multinomial.logpmf(flat, flat.sum(-1), THETA)
    got = likelihood(story.model(TABLE), theta_cell=THETA, rho=rho)
    np.testing.assert_allclose(got, want, rtol=0, atol=3e4 * max(rho, 1e-15) + 1e-12)
    tree = story.model(TABLE, overdispersion="rates")
    rates = THETA.reshape(2, 2) / THETA.reshape(2, 2).sum(1, keepdims=True)
    got = likelihood(tree, class_shares=THETA.reshape(2, 2).sum(1), rates=rates, rho=np.full(3, rho))
    np.testing.assert_allclose(got, want, rtol=0, atol=3e4 * max(rho, 1e-15) + 1e-12)


def test_full_correlation_puts_a_cluster_into_one_cell():
    counts = bayescm.from_cells(tp=[9, 0], fn=[0, 0], fp=[0, 0], tn=[0, 4], dims="image")
    got = likelihood(story.model(counts), theta_cell=THETA, rho=1 - 1e-13)
    np.testing.assert_allclose(got, np.log([0.25, 0.5]), rtol=1e-10)


def test_log_rising_keeps_its_digits():
    mpmath = pytest.importorskip("mpmath")
    x, n = pt.dvector(), pt.dvector()
    value = pytensor.function([x, n], [story.log_rising(x, n), pytensor.grad(story.log_rising(x, n).sum(), x)])
    xs, ns = np.meshgrid([1e-12, 0.3, 19.99, 20.0, 20.01, 300.0, 1e5, 1e9, 1e15], [0.0, 1.0, 7.0, 300.0, 1e6])
    xs, ns = xs.ravel(), ns.ravel()
    with mpmath.workdps(60):
        pairs = [(mpmath.mpf(a), mpmath.mpf(b)) for a, b in zip(xs, ns, strict=True)]
        want = np.array([float(mpmath.loggamma(a + b) - mpmath.loggamma(a)) for a, b in pairs])
        slope = np.array([float(mpmath.psi(0, a + b) - mpmath.psi(0, a)) for a, b in pairs])
    got, derivative = value(xs, ns)
    assert (abs(got - want) < 1e-12 + 8 * EPS * (abs(want) + ns)).all()
    np.testing.assert_allclose(derivative, slope, rtol=1e-8, atol=1e-12)
    naive = special.gammaln(xs + ns) - special.gammaln(xs)
    assert abs(naive - want).max() > 1  # what it is for


def test_the_likelihood_adds_up_to_one():
    every = np.array([[a, b, c, 4 - a - b - c] for a in range(5) for b in range(5 - a) for c in range(5 - a - b)])
    counts = bayescm.from_array(every.reshape(-1, 2, 2), dims="cluster")
    rates = simplex([[5.0, 1.0], [1.0, 2.0]])
    one = likelihood(story.model(counts), theta_cell=THETA, rho=0.3)
    tree = story.model(counts, overdispersion="rates")
    two = likelihood(tree, class_shares=np.array([0.4, 0.6]), rates=rates, rho=np.array([0.1, 0.3, 0.7]))
    np.testing.assert_allclose([np.exp(one).sum(), np.exp(two).sum()], 1, rtol=1e-12)


@pytest.mark.parametrize("overdispersion", ["cells", "rates"])
def test_programs_follow_the_contract(overdispersion):
    for counts, k in ((TABLE, 2), (THREE, 3)):
        program = story.model(counts, overdispersion=overdispersion)
        dim = counts.dims[0]
        assert [v.name for v in program.observed_RVs] == ["counts"]
        assert program.named_vars_to_dims["counts"] == (dim, "cell")
        assert program.named_vars_to_dims["theta"] == ("actual", "predicted")
        assert "counts_data" in program.named_vars
        if overdispersion == "rates":
            assert len(program.coords["part"]) == k + 1
        named = set(program.named_vars) | set(program.coords)
        assert named <= {*story._TAKEN, *bayescm.data.schema.RESERVED, dim}


@pytest.mark.slow
@pytest.mark.parametrize("overdispersion", ["cells", "rates"])
def test_draws_have_the_moments_of_the_likelihood(overdispersion):
    rng = np.random.default_rng(3)
    items = np.full(40_000, 12)
    rates = THETA.reshape(2, 2) / THETA.reshape(2, 2).sum(1, keepdims=True)
    if overdispersion == "cells":
        counts = story._draw(items, THETA, 0.3, rng)
    else:
        counts = story._draw_tree(items, np.array([0.6, 0.4]), rates.ravel(), np.array([0.3, 0.1, 0.6]), rng)
    error = 5 * counts.std(0) / np.sqrt(len(counts))
    assert (abs(counts.mean(0) - 12 * THETA) < error).all()
    share = counts[:, 2:].sum(-1)
    assert share.var() == pytest.approx(12 * 0.6 * 0.4 * (1 + 11 * 0.3), rel=0.05)
    if overdispersion == "cells":
        assert counts[:, 3].var() == pytest.approx(12 * 0.25 * 0.75 * (1 + 11 * 0.3), rel=0.05)
    else:
        mine = counts[share == 5]
        r = rates[1, 1]
        assert mine[:, 3].mean() == pytest.approx(5 * r, rel=0.05)
        assert mine[:, 3].var() == pytest.approx(5 * r * (1 - r) * (1 + 4 * 0.6), rel=0.1)


@pytest.mark.parametrize("rho", [0.0, 1e-20, 1.0])
def test_draws_at_the_limits(rho):
    counts = story._draw(np.full(2000, 10), np.array([0.5, 0.0, 0.25, 0.25]), rho, np.random.default_rng(1))
    assert (counts.sum(-1) == 10).all()
    assert counts[:, 1].sum() == 0
    assert counts.mean(0)[0] == pytest.approx(5, abs=0.6)
    assert ((counts == 10).any(-1).mean() > 0.999) == (rho == 1)


@pytest.mark.slow
def test_the_program_draws_from_its_prior_and_takes_other_data():
    program = story.model(TABLE, overdispersion="rates", prior="laplace")
    with program:
        prior = pm.sample_prior_predictive(800, random_seed=1, return_inferencedata=True)
        # a tenfold table: the same shapes, no new program
        pm.set_data({"counts_data": 10 * TABLE.values.reshape(3, 4)})
        more = pm.sample_prior_predictive(10, random_seed=1, return_inferencedata=True)
    sizes = TABLE.sum(("actual", "predicted")).values
    drawn = prior.prior_predictive["counts"]
    assert (drawn.sum("cell").values == sizes).all()
    assert (more.prior_predictive["counts"].sum("cell").values == 10 * sizes).all()
    rng = np.random.default_rng(2)
    own = np.stack([
        story.simulate(rng, 3, sizes, prior="laplace", overdispersion="rates")["counts"].values.reshape(3, 4)
        for _ in range(800)
    ])  # fmt: skip
    for statistic in (np.mean, np.std):
        one, two = statistic(drawn.values[0], axis=0), statistic(own, axis=0)
        np.testing.assert_allclose(one, two, atol=0.2 * own.std(0).max())


def test_design_effect_is_the_variance_of_the_pooled_share():
    sizes = np.array([5, 10, 40, 1])
    rng, rho = np.random.default_rng(5), 0.25
    shares = np.array([
        story._draw(sizes, np.array([0.7, 0.3]), rho, rng)[:, 1].sum() / sizes.sum() for _ in range(8000)
    ])  # fmt: skip
    counts = bayescm.from_cells(tp=sizes, fn=0 * sizes, fp=0 * sizes, tn=0 * sizes, dims="image")
    program = story.model(counts)
    with program:
        effect, effective = pm.draw(
            [pm.do(program, {"rho": rho})[name] for name in ("design_effect", "effective_items")]
        )
    assert effect == pytest.approx(1 + ((sizes**2).sum() / sizes.sum() - 1) * rho, rel=1e-12)
    assert effective == pytest.approx(sizes.sum() / effect, rel=1e-12)
    assert shares.var() == pytest.approx(0.21 / sizes.sum() * effect, rel=0.08)


def test_log_likelihood_and_replicates():
    with story.model(TABLE, overdispersion="rates") as program:
        fit = pm.sample_prior_predictive(25, random_seed=1)
        groups = {"posterior": fit["prior"].to_dataset(), "constant_data": predictive.constants(program)}
        fit = xr.DataTree.from_dict(groups)  # any draws will do
        pm.compute_log_likelihood(fit, progressbar=False)
        pm.sample_posterior_predictive(fit, extend_inferencedata=True, progressbar=False, random_seed=1)
    assert fit.log_likelihood["counts"].dims == ("chain", "draw", "image")
    one = {v.name: fit.posterior[v.name].values[0, 3] for v in program.free_RVs}
    np.testing.assert_allclose(fit.log_likelihood["counts"].values[0, 3], likelihood(program, **one), rtol=1e-6)
    replicates = fit.posterior_predictive["counts"]
    assert replicates.dims == ("chain", "draw", "image", "cell")
    assert (replicates.sum("cell").values == TABLE.sum(("actual", "predicted")).values).all()
    assert replicates.std() > 0


CHAIN = {"prevalence": 0.3, "persistence": 0.7, "recall": 0.8, "specificity": 0.9, "stickiness": 0.6}


def test_the_chain_has_the_stationary_rates_it_is_given():
    transition = story.markov_transition(**CHAIN)
    np.testing.assert_allclose(transition.sum(-1), 1, rtol=1e-14)
    dist = story.stationary_dist(transition)
    np.testing.assert_allclose(dist, [0.7 * 0.9, 0.7 * 0.1, 0.3 * 0.2, 0.3 * 0.8], rtol=1e-12)
    np.testing.assert_allclose(dist, np.linalg.matrix_power(transition, 500)[0], rtol=1e-10)


def test_the_thesis_chain_is_one_of_them():
    p = 0.8  # the truth repeats with this probability, else is the opposite
    transition = story.markov_transition(**CHAIN | {"prevalence": 0.5, "persistence": 2 * p - 1})
    truth = transition.reshape(2, 2, 2, 2).sum(-1)[:, 0]
    np.testing.assert_allclose(truth, [[p, 1 - p], [1 - p, p]], rtol=1e-12)


def test_chains_against_an_item_by_item_simulation():
    rng, clusters, size = np.random.default_rng(4), 4000, 15
    drawn = story.simulate_markov(rng, clusters, size, **CHAIN)["counts"].values.reshape(-1, 4)
    slow = np.zeros((clusters, 4))
    for c in range(clusters):
        truth = answer = None
        for _ in range(size):
            before = truth
            if truth is None or rng.random() > CHAIN["persistence"]:
                truth = int(rng.random() < CHAIN["prevalence"])
            if before is None or truth != before or rng.random() > CHAIN["stickiness"]:
                answer = int(rng.random() < (CHAIN["recall"] if truth else 1 - CHAIN["specificity"]))
            slow[c, 2 * truth + answer] += 1
    for mine, other in zip(drawn.T, slow.T, strict=True):
        assert abs(mine.mean() - other.mean()) < 5 * np.sqrt((mine.var() + other.var()) / clusters)
        assert mine.var() == pytest.approx(other.var(), rel=0.12)
    # neighbours' truths have correlation `persistence`: the variance of a cluster's positives is known
    lags = np.arange(1, size)
    effect = 1 + 2 * ((1 - lags / size) * CHAIN["persistence"] ** lags).sum()
    assert drawn[:, 2:].sum(-1).var() == pytest.approx(size * 0.21 * effect, rel=0.08)


def test_independent_items_are_a_multinomial():
    data = story.simulate_markov(np.random.default_rng(1), 5000, 10, **CHAIN | {"persistence": 0, "stickiness": 0})
    theta = data["theta"].values.ravel()
    counts = data["counts"].values.reshape(-1, 4)
    np.testing.assert_allclose(counts.var(0), 10 * theta * (1 - theta), rtol=0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: story.model([[6, 2], [0, 26]]), "one dim beside"),
        (lambda: story.model(TABLE, overdispersion="all"), "`overdispersion` must be one of"),
        (lambda: story.model(TABLE, rho_prior=(1, 0)), "`rho_prior` must be the two positive numbers"),
        (lambda: story.model(TABLE, prior="haldane"), "`prior` is improper"),
        (lambda: story.model(TABLE.rename(image="rho")), "model uses that name"),
        (lambda: story.simulate(np.random.default_rng(1), 0), "`clusters` must be a positive integer"),
        (lambda: story.markov_transition(**CHAIN | {"persistence": -0.7}), "`persistence` must be at least"),
        (lambda: story.markov_transition(**CHAIN | {"recall": 1.2}), "`recall` must be a number"),
    ],
)
def test_errors_say_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()
