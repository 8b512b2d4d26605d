"""Binomial intervals: published numbers, scipy, coverage by enumeration, symmetry, ends, large counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bayescm.inference import proportions
from bayescm.inference.intervals import FIXED_SAMPLE, PROPORTION

INSIDE = [name for name in PROPORTION if name not in ("wald", "agresti_coull")]


def bounds(method, k, n, ci_prob=0.95):
    return np.array(getattr(proportions, method)(k, n, ci_prob))


@pytest.mark.parametrize("method", ["clopper_pearson", "agresti_coull", "wilson"])
def test_credible_oracle(oracle, method):
    for cells, expected in oracle(f"credible.{method}")["expected"].items():
        k, rest = (int(number) for number in cells.split(","))
        np.testing.assert_allclose(bounds(method, k, k + rest), expected, atol=1e-12)


def test_jeffreys_oracle(oracle):
    for cells, expected in oracle("credible.beta")["expected"].items():
        k, rest = (int(number) for number in cells.split(","))
        lower, upper = expected["jeffreys"]["eti95"]
        ends = [0.0 if k == 0 < rest else lower, 1.0 if rest == 0 < k else upper]
        np.testing.assert_allclose(bounds("jeffreys", k, k + rest), ends, atol=1e-12)


def test_newcombe_oracle(oracle):
    entry = oracle("field.13")
    for case, expected in entry["expected"].items():
        k, n = (int(number) for number in case.split("/"))
        for method, interval in expected.items():
            np.testing.assert_allclose(bounds(method, k, n), interval, atol=entry["tolerance"])


@pytest.mark.parametrize(("method", "name"), [("wilson", "wilson"), ("clopper_pearson", "exact")])
@pytest.mark.parametrize("ci_prob", [0.5, 0.95, 0.999])
def test_against_scipy(method, name, ci_prob):
    for n in (1, 2, 9, 40):
        mine = bounds(method, np.arange(n + 1), n, ci_prob)
        for k in range(n + 1):
            theirs = stats.binomtest(k, n).proportion_ci(ci_prob, method=name)
            np.testing.assert_allclose(mine[:, k], theirs, atol=1e-12)


@pytest.mark.parametrize("n", [1, 7, 100, 10**9])
def test_the_bounds_of_the_likelihood_ratio_have_the_deviance_of_the_level(n):
    k = np.unique(np.linspace(0, n, 41).astype(int))
    limit = stats.chi2.ppf(0.9, 1)
    for bound, end in zip(bounds("likelihood_ratio", k, n, 0.9), (k == 0, k == n), strict=True):
        here = ~end
        difference = 2 * (stats.binom.logpmf(k, n, k / n) - stats.binom.logpmf(k, n, bound))[here]
        np.testing.assert_allclose(difference, limit, rtol=1e-9 if n < 1e6 else 1e-6)
        np.testing.assert_array_equal(bound[end], np.where(k == 0, 0.0, 1.0)[end])


def test_likelihood_ratio_in_closed_form_at_the_ends():
    limit = stats.chi2.ppf(0.95, 1)
    for n in (1, 10, 10**9):
        np.testing.assert_allclose(bounds("likelihood_ratio", 0, n), [0, -np.expm1(-limit / 2 / n)], rtol=1e-12)
        np.testing.assert_allclose(bounds("likelihood_ratio", n, n), [np.exp(-limit / 2 / n), 1], rtol=1e-12)


@pytest.mark.parametrize("k", [1, 3, 1000])
def test_likelihood_ratio_of_rare_successes_keeps_its_digits(k):
    n = 10**9
    p = bounds("likelihood_ratio", k, n)
    deviance = 2 * (k * np.log(k / (n * p)) + (n - k) * (np.log1p(-k / n) - np.log1p(-p)))
    np.testing.assert_allclose(deviance, stats.chi2.ppf(0.95, 1), rtol=1e-11)


@pytest.mark.parametrize("k", [3, 10**9 // 3, 10**9 // 2])
def test_counts_of_a_billion(k):
    n = 10**9
    low, high = bounds("clopper_pearson", k, n)
    assert stats.binom.sf(k - 1, n, low) == pytest.approx(0.025, rel=1e-6)
    assert stats.binom.cdf(k, n, high) == pytest.approx(0.025, rel=1e-6)
    if k > 10:
        for method in FIXED_SAMPLE:
            np.testing.assert_allclose(bounds(method, k, n) - k / n, bounds("wald", k, n) - k / n, rtol=1e-3)


def coverage(method, n, p, ci_prob):
    k = np.arange(n + 1)
    low, high = bounds(method, k, n, ci_prob)
    inside = (low[:, None] <= p) & (p <= high[:, None])
    return (stats.binom.pmf(k[:, None], n, p) * inside).sum(0)


@pytest.mark.parametrize("ci_prob", [0.5, 0.8, 0.95])
def test_clopper_pearson_is_never_below_its_level(ci_prob):
    for n in range(1, 25):
        low, high = bounds("clopper_pearson", np.arange(n + 1), n, ci_prob)
        ends = np.concatenate([low, high])  # where coverage jumps: just inside and outside
        p = np.unique(np.clip([ends - 1e-9, ends + 1e-9], 0, 1))
        assert coverage("clopper_pearson", n, p, ci_prob).min() >= ci_prob - 1e-6


def test_mean_coverage_is_near_its_level():
    p = (np.arange(2000) + 0.5) / 2000
    mean = {method: coverage(method, 30, p, 0.95).mean() for method in PROPORTION}
    for method in ("wilson", "jeffreys", "likelihood_ratio"):
        assert mean[method] == pytest.approx(0.95, abs=0.01)
    assert mean["clopper_pearson"] > 0.965
    assert mean["agresti_coull"] > 0.95
    assert mean["wald"] < 0.9


cases = st.integers(0, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
levels = st.floats(0.01, 0.9999)


@pytest.mark.slow
def test_what_holds_at_every_look_ever_misses_within_its_level():
    shares = [0.0, 0.02, 0.3, 0.5, 0.97]
    going = [np.ones(1)] * len(shares)  # by recursion over the successes of the tests that have held the share so far
    for n in range(1, 401):
        low, high = proportions.anytime(np.arange(n + 1), n, 0.9)
        for i, share in enumerate(shares):
            going[i] = (1 - share) * np.append(going[i], 0.0) + share * np.append(0.0, going[i])
            going[i][(low > share) | (share > high)] = 0.0
    assert [one.sum() >= 0.9 for one in going] == [True] * len(shares)


def test_the_bounds_at_every_look_are_where_prediction_and_likelihood_have_the_ratio_of_the_level():
    k, n = 7, 19
    predicted = stats.betabinom.pmf(k, n, 0.5, 0.5)
    for p in proportions.anytime(k, n, 0.95):
        np.testing.assert_allclose(stats.binom.pmf(k, n, p) / predicted, 0.05, rtol=1e-9)


@given(case=cases, ci_prob=levels)
@pytest.mark.parametrize("method", PROPORTION)
def test_order_symmetry_and_range(method, case, ci_prob):
    k, n = case
    low, high = bounds(method, k, n, ci_prob)
    if n == 0:
        return
    assert low <= high
    mirrored = bounds(method, n - k, n, ci_prob)
    np.testing.assert_allclose([low, high], 1 - mirrored[::-1], atol=1e-12)
    if method != "jeffreys" or ci_prob > 0.9:  # a short credible interval can miss k/n
        assert low <= k / n + 1e-15
        assert high >= k / n - 1e-15
    if method in INSIDE:
        assert 0 <= low <= high <= 1


@given(case=cases, one=levels, two=levels)
@pytest.mark.parametrize("method", PROPORTION)
def test_a_higher_level_is_wider(method, case, one, two):
    k, n = case
    narrow, wide = (bounds(method, k, n, level) for level in sorted([one, two]))
    if n:
        assert wide[0] <= narrow[0] + 1e-12
        assert wide[1] >= narrow[1] - 1e-12


@pytest.mark.parametrize("method", INSIDE)
def test_more_successes_move_both_bounds_up(method):
    assert (np.diff(bounds(method, np.arange(41), 40)) > 0).all()


@pytest.mark.parametrize("method", PROPORTION)
def test_no_trials(method):
    low, high = bounds(method, 0, 0)
    if method == "wald":
        assert np.isnan([low, high]).all()
    elif method == "jeffreys":
        np.testing.assert_allclose([low, high], stats.beta.ppf([0.025, 0.975], 0.5, 0.5), rtol=1e-12)
    else:
        np.testing.assert_allclose([low, high], [0, 1], atol=1e-15)


@pytest.mark.parametrize("method", PROPORTION)
def test_shapes(method):
    k = np.array([[0, 1, 5], [2, 3, 10]])
    low, high = getattr(proportions, method)(k, 10)
    assert low.shape == high.shape == (2, 3)
    assert low.dtype == np.float64
    np.testing.assert_array_equal(low[1, 0], bounds(method, 2, 10)[0])
    assert getattr(proportions, method)(np.zeros((0, 3)), np.zeros((0, 3)))[0].shape == (0, 3)
    assert np.array_equal(bounds(method, k, 10.0), bounds(method, k.astype(float), 10))
