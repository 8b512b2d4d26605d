"""Draws of the closed form: their distributions, their seeds, their extremes."""

import numpy as np
import pytest
from scipy import stats

import bayescm
from bayescm.distributions import dirichlet
from bayescm.priors.concentrations import Concentrations, concentrations


def test_moments_oracle(oracle):
    entry = oracle("cmu.test.dirichlet")
    cells = {n: entry["inputs"][n] for n in ("TP", "FN", "FP", "TN")}
    counts = bayescm.from_cells(**{n.lower(): v for n, v in cells.items()})
    dt = bayescm.posterior(counts, prior=0, metrics="accuracy", draws=50_000, random_seed=1, replicate=True)
    where = {"TP": (1, 1), "FN": (1, 0), "TN": (0, 0), "FP": (0, 1)}
    n = 200_000
    for cell, (i, j) in where.items():
        draws = dt.posterior.theta.isel(actual=i, predicted=j).values.ravel()
        want = entry["expected"]
        assert draws.mean() == pytest.approx(want["theta_mean"][cell], abs=5 * np.sqrt(want["theta_var"][cell] / n))
        assert draws.var() == pytest.approx(want["theta_var"][cell], rel=0.03)
        future = dt.posterior_predictive.counts.sel(cell=cell.lower()).values
        assert future.mean() == pytest.approx(want["pp_mean"][cell], abs=5 * np.sqrt(want["pp_var"][cell] / n))
        assert future.var() == pytest.approx(want["pp_var"][cell], rel=0.03)


@pytest.mark.parametrize("model", ["dirichlet_multinomial", "three_binomial"])
@pytest.mark.parametrize("k", [2, 4])
def test_draws_are_dirichlet(model, k):
    base = concentrations("jeffreys", model, k)
    counts = np.arange(k * k).reshape(k, k)
    which = dirichlet.posterior(counts, base)
    theta = dirichlet.draw_theta(which, np.random.default_rng(0), 20_000)
    np.testing.assert_allclose(theta.sum((0, 1)), 1)
    shares = theta.sum(1)
    a = which.shares
    for i in range(k):
        assert stats.kstest(shares[i], stats.beta(a[i], a.sum() - a[i]).cdf).pvalue > 1e-3
        row = which.rows[i]
        for j in range(k):
            assert stats.kstest(theta[i, j] / shares[i], stats.beta(row[j], row.sum() - row[j]).cdf).pvalue > 1e-4


def test_tiny_concentrations_are_drawn_in_logarithms():
    which = Concentrations(np.full((2, 2), 0.01), np.full(2, 0.02), one_dirichlet=True)
    theta = dirichlet.draw_theta(which, np.random.default_rng(0), 50_000)
    assert np.isfinite(theta).all()
    np.testing.assert_allclose(theta.sum((0, 1)), 1)
    np.testing.assert_allclose(theta.mean(2), 0.25, atol=0.01)
    for x in (1e-250, 1e-100, 1e-20, 0.01, 0.5, 0.99):
        assert (theta[0, 0] <= x).mean() == pytest.approx(stats.beta(0.01, 0.03).cdf(x), abs=5 * 0.5 / np.sqrt(50_000))


def test_huge_counts():
    counts = bayescm.from_cells(tp=10**9, fn=10**9, fp=0, tn=10**9)
    s = bayescm.summary(counts, ["recall", "precision", "f1"], ci_kind="hdi")
    assert s["sd"][0] == pytest.approx(np.sqrt(0.25 / 2e9), rel=1e-6)
    np.testing.assert_allclose(s.interval[0], 0.5 + np.array([-1, 1]) * 1.959964 * s["sd"][0].item(), rtol=1e-9)
    assert s.interval[1, 1] == 1
    z = (s.interval[2] - s["mean"][2]) / s["sd"][2]
    np.testing.assert_allclose(z, [-1.959964, 1.959964], rtol=1e-3)


def test_replicates_keep_class_totals_when_prevalence_is_fixed():
    counts = bayescm.from_cells(tp=20, fn=5, fp=10, tn=40)
    free = bayescm.posterior(counts, metrics="recall", replicate=True, random_seed=1).posterior_predictive.counts
    kept = bayescm.posterior(counts, metrics="recall", replicate=True, prevalence="fixed", random_seed=1)
    kept = kept.posterior_predictive.counts
    assert (free.sum("cell") == 75).all()
    assert (kept.sel(cell=["tp", "fn"]).sum("cell") == 25).all()
    assert (kept.sel(cell=["fp", "tn"]).sum("cell") == 50).all()
    assert free.sel(cell=["tp", "fn"]).sum("cell").std() > 1
    triple = bayescm.posterior(counts, metrics="recall", replicate=225, prevalence="fixed", random_seed=1)
    assert (triple.posterior_predictive.counts.sel(cell=["tp", "fn"]).sum("cell") == 75).all()
    huge = bayescm.from_array(np.full((3, 3), 10**9))
    dt = bayescm.posterior(huge, metrics="accuracy", replicate=True, prevalence="fixed", draws=2)
    assert (dt.posterior_predictive.counts.sum("cell") == 9 * 10**9).all()
    with pytest.raises(ValueError, match="can't keep the class shares"):
        bayescm.posterior(counts, metrics="recall", replicate=100, prevalence="fixed")


def test_replicates_against_the_exact_beta_binomial():
    counts = bayescm.from_cells(tp=8, fn=2, fp=3, tn=7)
    dt = bayescm.posterior(counts, metrics="recall", replicate=True, prevalence="fixed", draws=50_000, random_seed=1)
    tp = dt.posterior_predictive.counts.sel(cell="tp").values.ravel()
    dist = stats.betabinom(10, 8.5, 2.5)
    seen = np.bincount(tp, minlength=11)
    assert stats.chisquare(seen, dist.pmf(np.arange(11)) * seen.sum()).pvalue > 1e-3


def test_replicates_of_many_labels_and_matrices():
    counts = bayescm.from_array(np.arange(18).reshape(2, 3, 3) + 1)
    dt = bayescm.posterior(counts, metrics="accuracy", replicate=30, draws=500, random_seed=1)
    assert dt.posterior_predictive.counts.dims == ("chain", "draw", "system", "cell")
    assert (dt.posterior_predictive.counts.sum("cell") == 30).all()
    same = bayescm.posterior(counts, metrics="accuracy", replicate=True, draws=500, random_seed=1)
    assert (same.posterior_predictive.counts.sum("cell") == counts.sum(("actual", "predicted"))).all()
