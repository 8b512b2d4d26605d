"""Audits: the program and its closed form, and simulation-based calibration."""

import numpy as np
import pytest
from agreement import agree, has_moments
from scipy import stats

import bayescm
from bayescm import models
from bayescm.data.strata import read
from bayescm.distributions import strata as groups

pytestmark = [pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore:NUTS")]

JUDGE = bayescm.audited([[17, 1], [3, 19]], [100, 1900])
SITES = bayescm.from_array([[[5, 1], [2, 3]], [[1, 0], [4, 6]]], dims="site")
AUDITS = {
    "judge": JUDGE,
    "population": bayescm.audited([[17, 1], [3, 19]], [100, 1900], of="population"),
    "sites and verdicts": bayescm.audited(SITES, [[50, 60], [70, 80]]),
    "sites": bayescm.audited(SITES, [110, 150]),
}


@pytest.mark.parametrize("name", AUDITS)
def test_draws_of_every_group_are_dirichlets(name):
    fit = bayescm.posterior(AUDITS[name], metrics="accuracy", draws=10_000, random_seed=1)
    np.testing.assert_allclose(fit.posterior["theta"].sum(("actual", "predicted")), 1.0)
    np.testing.assert_allclose(fit.posterior["truth"].sum(fit.posterior["truth"].dims[-1]), 1.0)
    first = fit.posterior["truth"].isel(group=0)[..., 0]
    strata = read(AUDITS[name])
    cells = groups.posterior_of(strata, groups.prior_of(strata, "jeffreys", [0, 1])).cells[0]
    beta = stats.beta(cells[0, 0], cells.sum() - cells[0, 0]) if strata.alike else stats.beta(17.5, 3.5)
    has_moments(first, beta.mean(), beta.std())
    assert fit.attrs["method"] == "exact"
    assert fit["constant_data"]["totals"].sum() == AUDITS[name]["totals"].sum()
    assert bayescm.inference.choose(AUDITS[name]).method == "exact"


@pytest.mark.slow
@pytest.mark.parametrize("of", ["process", "population", "items"])
def test_truths_of_the_prior_are_where_their_posteriors_say(of):
    found = bayescm.calibration.sbc(
        "stratified", ["accuracy", "recall"], simulations=80, of=of, n=60, checked=8, random_seed=3
    )
    for name in ("accuracy", "recall"):
        values = found["prior_sbc"][name].values.ravel()
        assert stats.kstest(values, "uniform").pvalue > 1e-4, name


@pytest.mark.slow
def test_a_wrong_share_is_seen_by_calibration():
    """Checked items taken for a sample of all: what the model is there to mend."""
    rng, story = np.random.default_rng(1), models.load("stratified")
    outside = {"plain": 0, "ours": 0}
    for _ in range(60):
        world = story.simulate(rng, 2000, checked=40, prior=np.array([[40, 1], [4, 1]]))
        truth = float(world["theta"].sel(actual=1).sum())
        plain = world["counts"].drop_vars("totals").drop_attrs()
        for name, counts in (("plain", plain), ("ours", world["counts"])):
            low, high = bayescm.summary(counts, "prevalence", ci_kind="eti")["interval"].values[0]
            outside[name] += not low <= truth <= high
    assert outside["plain"] > 25
    assert outside["ours"] < 12


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n == "judge" else pytest.mark.long) for n in AUDITS]
)
def test_the_program_gives_the_closed_form(name):
    options = {"metrics": ["accuracy", "recall"], "random_seed": 1}
    exact = bayescm.posterior(AUDITS[name], draws=5000, **options)
    nuts = bayescm.posterior(AUDITS[name], sampler="nuts", progressbar=False, cores=1, chains=2, **options)
    for metric in ("accuracy", "recall"):
        agree(nuts.posterior[metric], exact.posterior[metric])


def test_items_alone_have_no_program():
    audit = bayescm.audited([[17, 1], [3, 19]], [100, 1900], of="items")
    with pytest.raises(ValueError, match="closed form only"):
        bayescm.posterior(audit, sampler="nuts")


def test_another_prevalence_and_replicates():
    fit = bayescm.posterior(JUDGE, metrics=["prevalence", "recall"], prevalence=0.5, draws=100, random_seed=1)
    np.testing.assert_allclose(fit.posterior["prevalence"], 0.5)
