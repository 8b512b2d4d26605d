"""Distributions by one or two integrals: independent quadrature, identities, symmetries, draws, the oracles."""

import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from scipy import integrate, special, stats
from small import tables
from studies import study

import bayescm
from bayescm._kernels import cache
from bayescm.distributions import Beta, Integral, dirichlet
from bayescm.distributions.integral import integral_distribution
from bayescm.metrics import resolve
from bayescm.metrics.table import BINARY
from bayescm.priors.concentrations import concentrations

NAMES = ["matthews_correlation", "cohen_kappa", "markedness", "p4", "f2", "fowlkes_mallows", "informedness",
         "balanced_accuracy", "geometric_mean", "positive_likelihood_ratio", "diagnostic_odds_ratio",
         "prevalence_threshold", "expected_cost(fn=5)", "net_benefit(threshold=.2)"]  # fmt: skip
COUNTS = bayescm.from_cells(
    tp=[26, 65, 3, 0, 0, 9], fn=[0, 15, 0, 0, 40, 2], fp=[2, 35, 2, 0, 0, 0], tn=[6, 30, 5000, 0, 90, 0]
)

cell = st.one_of(st.integers(0, 30), st.integers(0, 100_000))
matrix = st.tuples(cell, cell, cell, cell)
metric = st.sampled_from(NAMES)
model = st.sampled_from(["dirichlet_multinomial", "three_binomial"])
exchanged = st.sampled_from([None, 0.1, (2.0, 8.0)])


@pytest.fixture(scope="module")
def verification():
    return study("distributions")


def distribution_of(cells, name, **settings):
    tp, fn, fp, tn = cells
    return bayescm.metric_distribution(bayescm.from_cells(tp=tp, fn=fn, fp=fp, tn=tn), name, **settings)


def some_points(dist):
    return dist.ppf([0.01, 0.3, 0.7, 0.99]).values


# ---- against references ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "setting"),
    [
        ((26, 0, 2, 6), ("dirichlet_multinomial", "jeffreys", None)),
        ((65, 15, 35, 30), ("three_binomial", "jeffreys", (2, 8))),
        ((3, 0, 2, 10**6), ("three_binomial", "laplace", None)),
        ((0, 0, 0, 0), ("dirichlet_multinomial", "laplace", 0.1)),
        ((0, 10**4, 10**4, 0), ("dirichlet_multinomial", "jeffreys", "fixed")),
    ],
)
@pytest.mark.slow
def test_tails_against_quadrature_from_the_definitions(verification, cells, setting):
    for k, name in enumerate(verification.DEFINITIONS):
        if (name == "prevalence" and setting[2] in (0.1, "fixed")) or k % 3 == cells[0] % 3:
            continue
        if isinstance(
            distribution_of(cells, name, model=setting[0], prior=setting[1], prevalence=setting[2]).dist, Beta
        ):
            continue
        for row in verification.rows((name, cells, setting), [(k + cells[3]) % 6], None):
            assert not verification.broken(row), row
            assert float(row["complement"]) < 1e-11


@pytest.mark.slow
def test_one_integral_at_30_digits(verification):
    for k, name in enumerate(["informedness", "fowlkes_mallows"]):
        dist = (name, (65, 15, 35, 30), ("dirichlet_multinomial", "jeffreys", None))
        (row,) = verification.rows(dist, [2 + 3 * k], "mpmath")
        assert float(row["reference_error"]) < 1e-10
        assert not verification.broken(row), row


def test_largest_counts_are_nearly_normal(verification):
    cells = (9 * 10**8, 10**8, 5 * 10**7, 95 * 10**7)
    z = np.array([-4.0, -1.96, 0.0, 1.96, 4.0])
    for name in NAMES:
        dist = distribution_of(cells, name)
        x = float(dist.mean()) + z * float(dist.std())
        # the skewness is below 3 / sqrt(5e7); Edgeworth's term is (z^2 - 1) phi(z) / 6 of it
        np.testing.assert_allclose(dist.cdf(x), special.ndtr(z), atol=1e-4)
        point = float(verification.DEFINITIONS[name](*map(float, cells), math.sqrt))
        assert abs(float(dist.mean()) - point) < 0.01 * float(dist.std())
    with pytest.raises(ValueError, match="must not exceed"):
        distribution_of((10**9 + 1, 1, 1, 1), "mcc")


def test_moments_against_closed_forms_and_three_dimensional_rules(verification):
    names = ["matthews_correlation", "p4", "geometric_mean", "f2", "diagnostic_odds_ratio"]
    for row in verification.moment_rows(names, [(26, 0, 2, 6)]):
        assert float(row["mean_error"]) < 1e-5, row
        assert float(row["sd_error"]) < 1e-4, row


def test_moments_that_do_not_exist():
    # FP + 1/2 is at most 1 without false positives, at most 2 with one
    for fp, mean, sd in ((0, math.inf, math.nan), (1, None, math.inf), (2, None, None)):
        for name in ("positive_likelihood_ratio", "diagnostic_odds_ratio"):
            dist = distribution_of((20, 5, fp, 30), name)
            for got, want in ((float(dist.mean()), mean), (float(dist.std()), sd)):
                assert math.isfinite(got) if want is None else np.array_equal(got, want, equal_nan=True)
            assert math.isfinite(float(dist.median()))
            assert np.isfinite(dist.eti(0.95)).all()
    dist = distribution_of((20, 5, 7, 30), "positive_likelihood_ratio")
    e = special.beta
    first = e(21.5, 5.5) / e(20.5, 5.5) * e(6.5, 30.5) / e(7.5, 30.5)
    second = e(22.5, 5.5) / e(20.5, 5.5) * e(5.5, 30.5) / e(7.5, 30.5)
    np.testing.assert_allclose([dist.mean(), dist.std()], [first, math.sqrt(second - first**2)], rtol=1e-12)


# ---- quantiles and intervals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("which", ["dirichlet_multinomial", "three_binomial"])
def test_quantiles_and_intervals(name, which):
    dist = bayescm.metric_distribution(COUNTS, name, model=which)
    p = np.array([1e-6, 0.025, 0.5, 0.9, 0.999])
    x = dist.ppf(p)
    spacing = (dist.pdf(x) * 4 * np.spacing(abs(x))).clip(max=1)  # of numbers at x
    assert (abs(dist.cdf(x) - p) <= 1e-7 * x["quantile"] + spacing).all()
    eti, hdi = dist.eti(0.9), dist.hdi(0.9)
    found = bayescm.summary(COUNTS, name, model=which, ci_prob=0.9, ci_kind="hdi").isel(metric=0)
    np.testing.assert_allclose(found.interval, hdi, rtol=1e-6, atol=1e-9)
    lower, upper = dist.metric.lower, dist.metric.upper
    ends = xr.concat([eti, hdi], "kind")
    cdf = dist.cdf(ends)
    mass = cdf.sel(ci_bound="upper") - cdf.sel(ci_bound="lower")
    assert (abs(mass - 0.9) <= 1e-6 + 0.1 * found.error).all()
    is_hdi = found.ci_kind == "hdi"
    assert (is_hdi | (abs(hdi - eti) <= 1e-6 + 0.1 * found.error).all("ci_bound")).all()
    width = hdi.diff("ci_bound").squeeze() <= eti.diff("ci_bound").squeeze() * (1 + 1e-9 + 0.1 * found.error)
    assert (width | ~is_hdi).all()
    inside = is_hdi & (hdi.sel(ci_bound="lower") > lower) & (hdi.sel(ci_bound="upper") < upper)
    density = dist.pdf(hdi)
    ratio = density.sel(ci_bound="lower") / density.sel(ci_bound="upper")
    assert (~inside | (abs(ratio - 1) < 1e-4 + 30 * found.error)).all()


@pytest.mark.parametrize(
    ("name", "cells"), [("mcc", (816, 30, 2030, 1293)), ("kappa", (20, 5, 7, 30)), ("f1", (3, 0, 4, 50))]
)
def test_densities_are_the_slopes_of_the_cdf(name, cells):
    tp, fn, fp, tn = cells
    counts = bayescm.from_cells(tp=tp, fn=fn, fp=fp, tn=tn)
    dist = bayescm.metric_distribution(counts, name, model="three_binomial", prevalence=(2, 8))
    x = dist.ppf(np.linspace(0.02, 0.98, 33))  # the first has points where a node hits an infinite density
    step = 1e-5 * float(dist.std())
    slope = (dist.cdf(x + step) - dist.cdf(x - step)) / (2 * step)
    np.testing.assert_allclose(dist.pdf(x), slope, rtol=1e-3)


def test_ends_of_equal_density():
    counts = bayescm.from_cells(tp=447898, fn=17792125, fp=201, tn=10)
    dist = bayescm.metric_distribution(counts, "kappa", model="three_binomial", prior="laplace", prevalence=(2, 8))
    low, high = dist.pdf(dist.hdi(0.95)).values
    assert low == pytest.approx(high, rel=0.05)


def test_intervals_are_the_narrowest():
    below = np.concatenate([np.geomspace(1e-6, 0.099999, 25), 0.1 - np.geomspace(1e-6, 0.0999, 25)])
    for name in ("informedness", "fowlkes_mallows", "f2", "geometric_mean", "diagnostic_odds_ratio"):
        dist = bayescm.metric_distribution(COUNTS, name)
        widths = (dist.ppf(below + 0.9).values - dist.ppf(below).values).min(-1)
        mine = dist.hdi(0.9).diff("ci_bound").squeeze()
        is_hdi = bayescm.summary(COUNTS, name, ci_prob=0.9, ci_kind="hdi").ci_kind.isel(metric=0).values == "hdi"
        assert is_hdi.sum() >= 4
        assert (mine.values[is_hdi] <= widths[is_hdi] * (1 + 1e-6)).all()


def test_quantiles_where_the_density_is_infinite_or_zero():
    """At kappa = 0 without items; at a correlation of 0 with a prevalence of nearly 0."""
    p = np.array([1e-6, 0.001, 0.1, 0.7, 0.999])
    for name in ("cohen_kappa", "markedness", "mcc"):
        for dist in (
            distribution_of((0, 0, 0, 0), name, model="three_binomial"),
            distribution_of((65, 15, 35, 30), name, prevalence=(1, 1e6)),
            distribution_of((26, 0, 2, 6), name, prevalence=(1e6, 1)),
        ):
            x = dist.ppf(p).values
            np.testing.assert_allclose(dist.cdf(x), p, rtol=1e-4, err_msg=repr(dist))


def test_shapes_of_density():
    # the mode at 1; U-shaped; one class missing
    assert float(distribution_of((40, 0, 0, 50), "informedness").hdi(0.9)[1]) == 1.0
    low, high = distribution_of((0, 0, 0, 0), "geometric_mean", model="three_binomial").hdi(0.9).values
    assert 0 <= low < high <= 1
    found = bayescm.summary(
        bayescm.from_cells(tp=0, fn=0, fp=0, tn=0), "informedness", model="three_binomial", ci_kind="hdi"
    )
    assert np.isfinite(found.interval).all()
    found = bayescm.summary(bayescm.from_cells(tp=0, fn=0, fp=7, tn=30), "mcc", ci_kind="hdi")
    assert float(found.interval[0, 0]) < 0 < float(found.interval[0, 1])


# ---- properties -----------------------------------------------------------------------------------------------------


@given(matrix, metric, model, exchanged)
@examples(max_examples=20)
def test_cdf_rises_and_is_one_minus_sf(cells, name, which, prevalence):
    dist = distribution_of(cells, name, model=which, prevalence=prevalence)
    x = np.sort(np.concatenate([dist.ppf(np.linspace(0.02, 0.98, 9)).values, some_points(dist)]))
    cdf, sf = dist.cdf(x).values, dist.sf(x).values
    assert (np.diff(cdf) >= -1e-9).all()
    np.testing.assert_allclose(cdf + sf, 1, atol=1e-9)
    assert (dist.pdf(x) >= 0).all()


@given(matrix, metric, model, exchanged)
@examples(max_examples=20)
def test_pdf_is_the_slope_of_cdf(cells, name, which, prevalence):
    dist = distribution_of(cells, name, model=which, prevalence=prevalence)
    x = dist.ppf([0.2, 0.45, 0.8]).values
    width = 1e-3 * float(dist.ppf(0.75) - dist.ppf(0.25))
    steps = np.array([-2, -1, 1, 2])[:, None] * width
    f = dist.cdf((x + steps).ravel()).values.reshape(4, -1)
    slope = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * width)
    middle = dist.pdf(x).values
    bend = np.abs(dist.pdf(x + steps[3]).values - dist.pdf(x + steps[0]).values)  # near a kink the slope isn't one
    np.testing.assert_array_less(np.abs(slope - middle), 1e-4 * middle + bend + 1e-7 / width)


@given(matrix, model)
@examples(max_examples=8)
def test_swap_of_labels(cells, which):
    tp, fn, fp, tn = cells
    here, there = (tp, fn, fp, tn), (tn, fp, fn, tp)
    pairs = {"recall": "specificity", "precision": "negative_predictive_value"} | {
        name: name for name in ("informedness", "matthews_correlation", "cohen_kappa", "p4", "geometric_mean")
    }
    for name, other in pairs.items():
        dist = distribution_of(here, name, model=which)
        x = some_points(dist)
        mirrored = distribution_of(there, other, model=which)
        np.testing.assert_allclose(mirrored.cdf(x), dist.cdf(x), rtol=1e-6, atol=1e-12, err_msg=name)


@given(matrix)
@examples(max_examples=8)
def test_transposition(cells):
    tp, fn, fp, tn = cells
    pairs = {"recall": "precision", "specificity": "negative_predictive_value", "informedness": "markedness"} | {
        name: name for name in ("matthews_correlation", "cohen_kappa", "fowlkes_mallows", "p4")
    }
    for name, other in pairs.items():
        dist, turned = distribution_of((tp, fn, fp, tn), name), distribution_of((tp, fp, fn, tn), other)
        x = some_points(dist)
        np.testing.assert_allclose(turned.cdf(x), dist.cdf(x), rtol=1e-6, atol=1e-12, err_msg=name)


@given(matrix)
@examples(max_examples=20)
def test_the_sign_of_three_metrics_is_one(cells):
    """MCC, kappa, informedness and markedness have the sign of the determinant."""
    below = [float(distribution_of(cells, name).cdf(0.0)) for name in ("mcc", "kappa", "informedness", "markedness")]
    np.testing.assert_allclose(below, below[2], rtol=1e-6, atol=1e-13)


@given(matrix, st.sampled_from([metric.name for metric in BINARY if metric.ratio is not None]))
@examples(max_examples=20)
def test_integrals_agree_with_closed_forms(cells, name):
    dist = distribution_of(cells, name)
    assert isinstance(dist.dist, Beta)
    tp, fn, fp, tn = cells
    which = dirichlet.posterior(np.array([[tn, fp], [fn, tp]]), concentrations("jeffreys", "dirichlet_multinomial", 2))
    other = integral_distribution(resolve([name], 2)[0], which)
    assert isinstance(other, Integral)
    x = some_points(dist)
    np.testing.assert_allclose(other.cdf(x), dist.cdf(x).values, rtol=1e-8, atol=1e-13)
    np.testing.assert_allclose(other.pdf(x), dist.pdf(x).values, rtol=1e-6)


@given(matrix, metric, st.floats(0.02, 0.98))
@examples(max_examples=8)
def test_a_known_prevalence_is_the_limit_of_an_exchanged_one(cells, name, share):
    known = distribution_of(cells, name, prevalence=share)
    near = distribution_of(cells, name, prevalence=(share * 1e11, (1 - share) * 1e11))
    x = some_points(known)
    np.testing.assert_allclose(near.cdf(x), known.cdf(x), rtol=1e-4, atol=1e-7)


# ---- arrays ---------------------------------------------------------------------------------------------------------


def test_a_batch_is_its_matrices_one_by_one():
    for name in ("mcc", "informedness", "f1"):
        dist = bayescm.metric_distribution(COUNTS, name, model="three_binomial")
        x = np.array([0.2, np.nan, 0.5])
        for i in range(0, COUNTS.sizes["system"], 2):
            one = bayescm.metric_distribution(COUNTS.isel(system=i), name, model="three_binomial")
            for what in ("cdf", "sf", "pdf", "error"):
                np.testing.assert_array_equal(getattr(dist, what)(x)[i], getattr(one, what)(x))
            np.testing.assert_array_equal(dist.hdi(0.9)[i], one.hdi(0.9))
            np.testing.assert_array_equal(dist.mean()[i], one.mean())


def test_lazy_counts():
    lazy = COUNTS.chunk({"system": 2})
    names = ["mcc", "informedness", "p4"]
    a, b = (bayescm.summary(c, names, ci_kind="hdi").compute() for c in (lazy, COUNTS))
    np.testing.assert_array_equal(a.interval, b.interval)
    np.testing.assert_array_equal(bayescm.metric_distribution(lazy, "mcc").cdf(0.3),
                                  bayescm.metric_distribution(COUNTS, "mcc").cdf(0.3))  # fmt: skip


def test_two_threads_give_the_same_numbers():
    def work(name):
        dist = bayescm.metric_distribution(COUNTS[:3], name, model="three_binomial")
        return np.concatenate([dist.cdf(0.4).values, dist.hdi(0.9).values.ravel(), dist.ppf(0.3).values])

    names = ["mcc", "cohen_kappa", "p4"] * 2
    alone = [work(name) for name in names]
    with ThreadPoolExecutor(2) as pool:
        for one, two in zip(alone, pool.map(work, names), strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("name", [*NAMES, "f1", "accuracy"])
def test_outside_the_range_and_nan(name):
    dist = distribution_of((6, 2, 1, 9), name, model="three_binomial")
    lower, upper = dist.metric.lower, dist.metric.upper
    assert np.isnan(dist.cdf(np.nan))
    assert np.isnan(dist.sf(np.nan))
    assert np.isnan(dist.pdf(np.nan))
    for x, below in ((lower - 1.0, 0.0), (upper + 1.0, 1.0), (-np.inf, 0.0), (np.inf, 1.0), (lower, 0.0), (upper, 1.0)):
        assert float(dist.cdf(x)) == below
        assert float(dist.sf(x)) == 1.0 - below
        assert float(dist.pdf(x)) == 0.0 or x in (lower, upper)
    np.testing.assert_array_equal(dist.ppf([0.0, 1.0]), [lower, upper])


def test_cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESCM_CACHE_DIR", str(tmp_path / "new"))
    assert Path(cache.cache_folder()).parent == tmp_path / "new"
    file = tmp_path / "file"
    file.write_text("not a folder")
    monkeypatch.setenv("BAYESCM_CACHE_DIR", str(file / "below"))
    assert cache.cache_folder() is None
    monkeypatch.setenv("BAYESCM_CACHE_DIR", str(tmp_path / "new"))
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert cache.cache_folder() is None


@pytest.mark.long
def test_without_a_cache(tmp_path):
    file = tmp_path / "file"
    file.write_text("not a folder")
    code = (
        "import bayescm; c = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6); "
        "print(float(bayescm.metric_distribution(c, 'mcc').sf(0.5)))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env={**os.environ, "BAYESCM_CACHE_DIR": str(file)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    want = float(distribution_of((26, 0, 2, 6), "mcc").sf(0.5))
    np.testing.assert_allclose(float(done.stdout), want, rtol=1e-9)


# ---- draws ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_small_matrices_against_draws(verification):
    matrices = [tuple(map(int, (t[1, 1], t[1, 0], t[0, 1], t[0, 0]))) for t in tables(4)]
    assert sorted(matrices) == sorted(verification.small_matrices(4))
    settings = [("dirichlet_multinomial", "jeffreys"), ("three_binomial", "laplace")]
    z = verification.scores(matrices[::14], settings, 30_000, 3)
    assert np.abs(z).max() < 5
    assert abs(np.square(z).mean() - 1) < 0.2


@pytest.mark.long
def test_all_small_matrices_against_draws(verification):
    settings = [(which, prior) for which in ("dirichlet_multinomial", "three_binomial")
                for prior in ("jeffreys", "laplace", "legendre")]  # fmt: skip
    z = verification.scores(verification.small_matrices(4), settings, 200_000, 2)
    assert np.abs(z).max() < 5.5
    assert abs(np.square(z).mean() - 1) < 0.05


# ---- oracles --------------------------------------------------------------------------------------------------------


def test_deceptive_oracle(oracle):
    entry = oracle("cmu.tutorial.deceptive")
    cells = {name.lower(): value for name, value in entry["inputs"].items()}
    counts = bayescm.from_cells(**cells)
    found = bayescm.probability(counts, ["deceptive", "mcc < 0", "mk < 0", "kappa < 0"], prior="laplace")
    np.testing.assert_allclose(found.probability, entry["expected"], rtol=1e-8)


def test_deceptive_classifiers_of_toetsch():
    counts = bayescm.datasets.toetsch2021()
    found = bayescm.probability(counts, "deceptive", model="three_binomial", prior="laplace").probability.squeeze()
    for system in counts.system.values:
        (tn, fp), (fn, tp) = counts.sel(system=system).values + 1.0
        recall, fpr = stats.beta(tp, fn), stats.beta(fp, tn)
        middle, spread = fpr.mean(), fpr.std()
        points = np.clip([middle - 6 * spread, middle, middle + 6 * spread, recall.mean()], 1e-9, 1 - 1e-9)
        integrand = lambda x, a=recall, b=fpr: a.cdf(x) * b.pdf(x)  # noqa: E731
        want = integrate.quad(integrand, 0, 1, points=sorted(points), limit=400, epsabs=0, epsrel=1e-10)[0]
        np.testing.assert_allclose(found.sel(system=system), want, rtol=1e-7)
    assert round(float(found.sel(system="8")), 3) == 0.143


def better(first, second):
    """Return P(second > first): the mean of the sf of one distribution at quantiles of the other."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    x = first.ppf(0.5 + 0.5 * nodes).values
    return float((second.sf(x).values * weights).sum() / 2)


def test_two_systems_of_morais(oracle):
    """F1 and recall of two systems: .426307 (ERRATA) and .237182."""
    one, two = ({"tp": 10, "fp": 10, "fn": 5, "tn": 0}, {"tp": 3, "fp": 2, "fn": 3, "tn": 0})
    dists = {
        name: [distribution_of((c["tp"], c["fn"], c["fp"], 0), name) for c in (one, two)]
        for name in ("f1", "recall", "mcc")
    }
    np.testing.assert_allclose(better(*dists["f1"]), 0.426307, atol=1e-6)
    np.testing.assert_allclose(better(*dists["recall"]), oracle("credible.cmp.recall")["expected"], atol=1e-6)
    counts = bayescm.from_cells(**{name: [one[name], two[name]] for name in one})
    draws = bayescm.posterior(counts, metrics=["f1", "mcc"], random_seed=4, draws=50_000).posterior
    for name in ("f1", "matthews_correlation"):
        want = better(*dists["f1" if name == "f1" else "mcc"])
        got = float((draws[name].sel(system=1) > draws[name].sel(system=0)).mean())
        np.testing.assert_allclose(got, want, atol=5 * math.sqrt(want * (1 - want) / 200_000))


@pytest.mark.parametrize("cells", [(26, 0, 2, 6), (0, 0, 7, 30)])
def test_metrics_of_one_row_need_no_model(cells):
    """Recall is a Beta whatever the model; informedness has no share of the prevalence."""
    dists = [distribution_of(cells, "informedness", model=m, prevalence=v) for m in ("dirichlet_multinomial",
    "three_binomial")
            for v in (None, 0.3)]  # fmt: skip
    x = some_points(dists[0])
    for dist in dists[1:]:
        np.testing.assert_allclose(dist.cdf(x), dists[0].cdf(x), rtol=1e-8)


# ---- highest-density intervals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "name", "settings"),
    [
        ((5, 10**7, 0, 50), "markedness", {}),
        ((5, 10**9, 0, 50), "markedness", {}),
        (
            (3, 0, 10**9, 4), "kappa", {"model": "three_binomial", "prior": "laplace", "prevalence": "fixed"},
        ),
        pytest.param((0, 10, 0, 1000), "kappa", {"prior": 30, "prevalence": (0.5, 0.5)}, marks=pytest.mark.slow),
        ((18, 3, 10, 100), "f2", {"prevalence": (0.5, 0.5)}),
        ((18, 3, 10, 100), "p4", {"prevalence": (0.5, 0.5)}),
        ((0, 5, 26, 1), "predicted_prevalence", {"model": "three_binomial", "prior": 0.06}),
    ],
)  # fmt: skip
def test_intervals_that_were_none(cells, name, settings):
    """Spikes next to an edge, widths below the spacing of numbers, a Beta whose median lies off its table."""
    tp, fn, fp, tn = cells
    s = bayescm.summary(bayescm.from_cells(tp=tp, fn=fn, fp=fp, tn=tn), name, **settings, ci_kind="hdi")
    dist = distribution_of(cells, name, **settings)
    lower, upper = s.interval.values[0]
    assert s.ci_kind.item() == "hdi"
    assert lower <= float(s["median"].item()) <= upper
    held = 1.0 - float(dist.cdf(lower)) - float(dist.sf(upper))
    assert held == pytest.approx(0.95, abs=1e-4)
    for shift in (0.003, 0.03, 0.1, 0.3):  # no interval as long holds more
        for step in (shift * (upper - lower), -shift * (upper - lower)):
            assert 1.0 - float(dist.cdf(lower + step)) - float(dist.sf(upper + step)) < held + 1e-3


def test_where_the_intervals_lie():
    """Of the defects' cases, by their densities."""
    s = bayescm.summary(bayescm.from_cells(tp=5, fn=10**7, fp=0, tn=50), "markedness", ci_kind="hdi")
    assert 0.0 < float(s.interval.values[0, 1]) < 2e-5  # all of it is PPV + NPV - 1 with an NPV of 5e-6
    s = bayescm.summary(bayescm.from_cells(tp=18, fn=3, fp=10, tn=100), "f2", prevalence=(0.5, 0.5), ci_kind="hdi")
    np.testing.assert_allclose(s.interval.values[0], [0.205, 0.983], atol=0.003)


@pytest.mark.parametrize("name", ["cohen_kappa", "markedness", "matthews_correlation", "f1", "p4"])
@pytest.mark.parametrize("model", ["dirichlet_multinomial", "three_binomial"])
def test_where_lattices_agree_on_what_is_wrong(name, model):
    """The integrand has kinks: kappa of (0, 0, 20, 20) was off by .025 of the width, with a stated error of 3e-6."""
    few = [(0, 0, 20, 20), (0, 10, 10, 2), (3, 3, 3, 2), (1, 5, 2, 20), (12, 3, 0, 0), (7, 0, 0, 14)]
    for cells in [*few, (43, 218, 0, 2)]:
        dist = distribution_of(cells, name, model=model).dist
        if isinstance(dist, Integral):
            found = dist.statistics(0.95, "eti")
            below = dist.cdf(np.array([found["lower"], found["median"], found["upper"]]))
            error = np.abs(below - [0.025, 0.5, 0.975]) / [0.025, 0.5, 0.025]
            assert (error < np.maximum(3.0 * found["error"], 1e-5)).all(), (cells, error, found["error"])


def test_search_that_steps_astray():
    """The first step from a median at .51 went to -1, and from there into a far tail, 100 milliseconds long."""
    for cells, ends in [((167, 136, 0, 19), (0.185220, 0.316801)), ((16, 1, 614, 22), (-0.177849, 0.026655))]:
        found = distribution_of(cells, "matthews_correlation").dist.statistics(0.95, "eti")
        np.testing.assert_allclose([found["lower"], found["upper"]], ends, atol=1e-6)


@pytest.mark.parametrize("counts", [[[1, 26], [5, 0]], [[8, 2], [9, 0]], [[30, 2], [40, 0]], [[0, 9], [3, 40]]])
@pytest.mark.parametrize("prior", [0.06, 0.1, 0.11])
def test_ends_where_a_median_lies_beyond_its_table(counts, prior):
    """Equal tails of F1 and precision began at 1e-304: half of the inner Beta lay to the left of its table."""
    names = ["f1", "precision", "negative_predictive_value", "accuracy"]
    s = bayescm.summary(counts, names, model="three_binomial", prior=prior)
    for i, name in enumerate(names):
        known = bayescm.metric_distribution(counts, name, model="three_binomial", prior=prior)
        (low, high), median = s["interval"].values[i], float(s["median"][i])
        sides = float(known.cdf(low)), float(known.cdf(median)), float(known.sf(high))
        assert sides == pytest.approx((0.025, 0.5, 0.025), abs=1e-5 if high < 1 - 1e-9 else 1.0), name


def test_medians_off_the_tables():
    """Concentrations of .06: F1's mean was NaN, with what memory held; against draws."""
    counts, settings = [[1, 26], [5, 0]], {"model": "three_binomial", "prior": 0.06}
    names = ["f1", "precision", "balanced_accuracy", "informedness", "predicted_prevalence"]
    s = bayescm.summary(counts, names, **settings, ci_kind="hdi")
    assert np.isfinite(s["mean"]).all()
    draws = bayescm.posterior(counts, metrics=names, draws=20_000, random_seed=1, **settings).posterior
    for i, name in enumerate(names):
        values = draws[name].values.ravel()
        error = values.std() / np.sqrt(len(values))
        assert float(s["mean"][i]) == pytest.approx(values.mean(), abs=5 * error)
        low, high = s.interval.values[i]
        held = ((values >= low) & (values <= high)).mean()
        assert held == pytest.approx(0.95, abs=5 * np.sqrt(0.05 * 0.95 / len(values)))


@pytest.mark.slow
@pytest.mark.parametrize(("a", "b"), [(0.06, 5.06), (5.06, 0.06), (0.05, 1e6), (1e6, 0.05), (0.05, 0.05)])
def test_tabulated_quantiles_on_both_sides_of_the_median(a, b):
    from bayescm._kernels.beta import DESCRIPTION, MAX_CELLS, build, of_normal
    from bayescm.distributions import beta_quantiles

    table, dist = np.full((MAX_CELLS + 1, 8), np.nan), np.empty(DESCRIPTION)
    build(a, b, table, dist)
    z = np.linspace(-6.0, 6.0, 241)
    found = [of_normal(w, table, dist) for w in z]
    np.testing.assert_allclose(found, beta_quantiles.logit_at_normal(z, a, b), rtol=1e-8, atol=1e-8)


def test_far_tails_are_not_worked_for():
    """Of 360 items, 12 to 24 sds below the mean: numbers of when every digit was worked for, .9 s a point."""
    dist = bayescm.metric_distribution([[200, 40], [30, 90]], "mcc")
    far = [3.24987509013541e-152, 5.421082595380614e-51, 3.328635012677554e-38]
    np.testing.assert_allclose(dist.cdf(np.array([-0.5, -0.2, -0.1])), far, rtol=0.05)
    assert float(dist.cdf(0.0)) == pytest.approx(3.7273466515673663e-28, rel=1e-9)
    assert (np.diff(dist.cdf(np.linspace(-0.5, 0.5, 200))) > 0).all()


@pytest.mark.parametrize("cells", [(54689979, 21192668, 210002, 5090343), (1890881, 1923, 46, 2388122)])
def test_far_tails_of_millions_of_items_are_probabilities(cells):
    """Lattices rounded some to -1e-15, which have no normal quantile."""
    dist = distribution_of(cells, "mcc", model="three_binomial").dist.to_tabulate()
    found = dist._at(dist.mean() + dist.sd() * np.linspace(-20, 20, 201), "probabilities")[:, :3]
    assert (found >= 0).all()
    assert (found[:, :2] <= 1).all()


@pytest.mark.parametrize("cells", [(200, 110, 140, 150), (26, 0, 2, 6), (1, 40, 2, 300)])
@pytest.mark.parametrize("which", ["dirichlet_multinomial", "three_binomial"])
def test_densities_are_those_whose_tails_are_worked_for(cells, which):
    """Of points as far out as a picture of the whole range has: each of them took up to 93 ms."""
    dist = distribution_of(cells, "mcc", model=which, prior="laplace").dist
    x = np.append(np.linspace(-0.9, 0.9, 7), dist.ppf(np.array([1e-6, 0.01, 0.3, 0.5, 0.9, 0.999])))
    slow = dist._at(x, "densities")[:, 2]
    np.testing.assert_allclose(dist.pdf(x), slow, rtol=1e-6, atol=1e-8 * slow.max())


def test_the_worst_density_of_a_random_search():
    """Of 3,654 tables: two lattices of Betas of 2 and 3 agree closer than both are right."""
    dist = distribution_of((9, 3, 2, 47), "mcc", model="three_binomial", prior="haldane").dist
    x = dist.ppf(np.array([0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99]))
    np.testing.assert_allclose(dist.pdf(x), dist._at(x, "densities")[:, 2], rtol=3e-5)
