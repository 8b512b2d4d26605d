"""Many Betas at once are interpolated: against one by one, the kernels' tables, mpmath, and quadrature."""

import mpmath
import numpy as np
import pytest
from scipy import special
from studies import study

import bayescm
from bayescm.distributions import Beta, beta_many, beta_quantiles, interpolation
from bayescm.distributions.interpolation import FEW

N = 24_000
LOG_ODDS = 3e-12  # of a difference between two ways, each right to 1e-12
LOG_ODDS_HDI = 4e-11  # found one by one, where densities at both ends of 10^9 items round
PATCHES = range(len(interpolation._TERMS))


@pytest.fixture(scope="module")
def verification():
    return study("beta")


def concentrations(seed, least=0.5, n=N):
    """Return half counts, huge counts and random numbers, which lie in all patches."""
    rng = np.random.default_rng(seed)
    kinds = [
        rng.integers(0, 4, (2, n)) + 0.5, rng.integers(0, 60, (2, n)) + 0.5, np.floor(10 ** rng.uniform(0, 9, (2, n))),
        10 ** rng.uniform(-0.3, 4, (2, n)), 0.5 + 1.3 * rng.uniform(0, 1, (2, n)) ** 3,
    ]  # fmt: skip
    kinds[-1][:, : n // 3] = kinds[-1][0, : n // 3], 10 ** rng.uniform(0, 3, n // 3)
    a, b = np.choose(rng.integers(0, 5, n), np.array(kinds))
    return np.maximum(a, least), np.maximum(b, least)


def one_by_one(method, a, b, *more):
    """Return what a method of Betas is when they are too few to be interpolated."""
    parts = np.array_split(np.arange(len(a)), len(a) // (FEW - 1) + 1)
    found = [method(Beta(a[i], b[i], *more)) for i in parts]
    if isinstance(found[0], dict):
        return {name: np.concatenate([part[name] for part in found]) for name in found[0]}
    return np.concatenate(found, axis=-1)


def near(found, wanted, log_odds):
    """Hold numbers x to a difference of the log-odds: that times x (1 - x), and two spacings of numbers."""
    assert np.max(np.abs(found - wanted) / (log_odds * wanted * (1 - wanted) + 5e-16)) < 1.0


@pytest.mark.parametrize("tail", [0.025, 0.5, 1e-4])
def test_all_patches_are_used_and_agree_with_the_tables(verification, tail):
    a, b = concentrations(1, n=60_000)
    function = interpolation.Interpolated(beta_quantiles.Quantiles((tail,)), a, b)
    _, _, known = function(a, b)
    places = function._places(a, b)[2]
    assert set(places[known]) == set(PATCHES)
    low, high = beta_quantiles.logit_ppf(tail, a, b), beta_quantiles.logit_isf(tail, a, b)
    few = np.concatenate([np.flatnonzero(known & (places == i))[:40] for i in PATCHES])
    assert verification.by_tables(np.full(len(few), tail), a[few], b[few], low[few]).max() < verification.PROMISE
    assert verification.by_tables(np.full(len(few), tail), b[few], a[few], -high[few]).max() < verification.PROMISE
    for i in [j for j in few if max(a[j], b[j]) < 1e4][::20]:
        assert verification.by_mpmath(tail, a[i], b[i], low[i]) < 1e-13 * (1 + abs(low[i]))


def test_what_is_not_interpolated_is_solved_for():
    a, b = concentrations(2)
    a[::7], b[::11] = 0.2, 1e-3
    a[0], b[1], a[2] = -1.0, np.inf, np.nan
    found = beta_quantiles.logit_ppf(0.025, a, b)
    parts = zip(np.array_split(a, 20), np.array_split(b, 20), strict=True)
    wanted = np.concatenate([beta_quantiles.logit_ppf(0.025, *part) for part in parts])
    assert np.isnan(found[:3]).all()
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=LOG_ODDS)
    np.testing.assert_array_equal(found[::7][1:], wanted[::7][1:])
    assert (beta_quantiles.logit_ppf(0.0, a[3:], b[3:]) == -np.inf).all()
    shaped = beta_quantiles.logit_ppf(0.025, a.reshape(60, -1), b.reshape(60, -1))
    np.testing.assert_array_equal(shaped.ravel(), found)


@pytest.mark.parametrize("link", ["identity", "f1"])
@pytest.mark.parametrize("kind", ["eti", "hdi"])
@pytest.mark.parametrize("prob", [0.95, 0.5])
def test_statistics_against_one_by_one(link, kind, prob):
    a, b = concentrations(3)
    a[:50] = 0.1
    found = Beta(a, b, link).statistics(prob, kind)
    wanted = one_by_one(lambda dist: dist.statistics(prob, kind), a, b, link)
    assert found.keys() == wanted.keys()
    np.testing.assert_array_equal(found["is_hdi"], wanted["is_hdi"])
    for name in ("median", "lower", "upper"):
        near(found[name], wanted[name], LOG_ODDS if kind == "eti" or name == "median" else LOG_ODDS_HDI)
    np.testing.assert_allclose(found["mean"], wanted["mean"], rtol=1e-11)
    if link == "identity":
        np.testing.assert_allclose(found["sd"], wanted["sd"], rtol=1e-13)
    else:  # one by one the variance is a difference of moments
        r = np.sqrt(1 / a + 1 / b)
        assert np.max(np.abs(found["sd"] / wanted["sd"] - 1) * r**2) < 1e-11
    if kind == "eti":
        ends = np.array(Beta(a, b, link).eti(prob))
        np.testing.assert_allclose(ends, [found["lower"], found["upper"]], rtol=1e-12)


def test_moments_of_f1_against_mpmath():
    a, b = concentrations(4)
    found = Beta(a, b, "f1").statistics(0.95, "eti")
    function = interpolation.Interpolated(beta_many.MomentsOfF1(), a, b)
    known = np.flatnonzero(function(a, b)[2] & (a + b < 1e4))
    assert len(known) > N // 10
    with mpmath.workdps(40):
        for i in known[:: len(known) // 12]:
            x, y = mpmath.mpf(float(a[i])), mpmath.mpf(float(b[i]))
            first, second = (
                mpmath.rf(x, m) / mpmath.rf(x + y, m) * mpmath.hyp2f1(m, y, x + y + m, 0.5) for m in (1, 2)
            )
            assert float(abs(found["mean"][i] / first - 1)) < 1e-12
            assert float(abs(found["sd"][i] / mpmath.sqrt(second - first**2) - 1)) < 1e-11


def test_narrowest_intervals_hold_what_they_should_between_equal_densities():
    a, b = concentrations(5, 1.5)
    found = Beta(a, b).statistics(0.95, "hdi")
    lower, upper = found["lower"], found["upper"]
    assert found["is_hdi"].all()
    some = np.flatnonzero((a < 1e5) & (b < 1e5))
    a, b, lower, upper = a[some], b[some], lower[some], upper[some]
    held = special.betainc(a, b, upper) - special.betainc(a, b, lower)
    np.testing.assert_allclose(held, 0.95, atol=1e-10)
    log = [(a - 1) * np.log(x) + (b - 1) * np.log1p(-x) for x in (lower, upper)]
    assert np.max(np.abs(log[0] - log[1])) < 1e-8


def test_a_function_that_polynomials_do_not_follow_is_not_interpolated():
    class Kinked(beta_quantiles.Quantiles):
        def __call__(self, a, b):
            return np.abs(np.sin(20 * (a - b) / (a + b)))[None] * np.sqrt(1 / a + 1 / b)

    a, b = concentrations(6)
    values, mirrored, known = interpolation.Interpolated(Kinked((0.5,)), a, b)(a, b)
    assert not known.any()
    assert np.isnan(values).all()
    assert np.isnan(mirrored).all()


def test_a_summary_of_many_is_that_of_each():
    rng = np.random.default_rng(7)
    p = rng.dirichlet([8.0, 1.0, 1.0, 4.0], 3 * FEW)
    counts = bayescm.from_array(rng.multinomial(rng.integers(20, 2000, len(p)), p).reshape(-1, 2, 2), dims="tile")
    for kind in ("eti", "hdi"):
        many = bayescm.summary(counts, ["recall", "precision", "f1"], ci_kind=kind)
        for start in (0, FEW):
            few = bayescm.summary(counts[start : start + 100], ["recall", "precision", "f1"], ci_kind=kind)
            some = many.isel(tile=slice(start, start + 100))
            for name in ("point", "mean", "median", "interval", "width"):
                np.testing.assert_allclose(some[name], few[name], rtol=1e-11, atol=1e-14, err_msg=name)
            np.testing.assert_allclose(some.sd, few.sd, rtol=1e-8)
            np.testing.assert_array_equal(some.ci_kind, few.ci_kind)
