"""Quantiles of Beta distributions: mpmath, symmetries, edges, and that there is one door to them."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special
from studies import study

import bayescm
from bayescm.distributions import beta_quantiles
from bayescm.inference import proportions

ROOT = Path(bayescm.__file__).parents[1]
AWKWARD = [  # what SciPy 1.18.1 answers wrongly, and neighbours; p, a, b
    (0.025, 1000.0, 9090.0), (0.025, 9090.0, 1000.0), (0.975, 1000.0, 20210.0), (0.5, 1000.0, 1e9 + 1),
    (0.005, 16498403.5, 1000.0), (1e-12, 1000.0, 1e9), (0.025, 1000.0, 257391465.0), (0.5, 144194718.5, 1e9 + 0.5),
    (0.025, 999.0, 9091.0), (0.025, 0.5, 1e9), (0.975, 0.5, 0.5), (1e-9, 0.5, 3.0), (0.3, 1e9, 1e9), (0.95, 1.0, 1.0),
]  # fmt: skip


@pytest.fixture(scope="module")
def verification():
    return study("beta")


@pytest.mark.parametrize(("p", "a", "b"), AWKWARD)
def test_quantiles_against_mpmath(verification, p, a, b):
    y = beta_quantiles.logit_ppf(p, a, b)
    assert verification.by_mpmath(p, a, b, y) < 2e-14 * (1 + abs(y))
    assert beta_quantiles.ppf(p, a, b) == special.expit(y)


concentration = st.one_of(st.floats(0.05, 1e9), st.sampled_from([0.5, 1.0, 1000.0, 1e4, 1e6, 2.0**27]))


@given(st.floats(1e-12, 0.5), concentration, concentration)
def test_round_trip_and_mirror(tail, a, b):
    y = beta_quantiles.logit_ppf(tail, a, b)
    assert beta_quantiles.logit_cdf(y, a, b) == pytest.approx(tail, rel=1e-9)
    assert beta_quantiles.logit_isf(tail, b, a) == -y
    assert beta_quantiles.logit_at_normal(special.ndtri(tail), a, b) == pytest.approx(float(y), rel=1e-9, abs=1e-9)


def test_edges_shapes_and_what_is_no_beta():
    np.testing.assert_array_equal(beta_quantiles.ppf([0.0, 1.0], 3.0, 2.0), [0.0, 1.0])
    np.testing.assert_array_equal(beta_quantiles.isf([0.0, 1.0], 3.0, 2.0), [1.0, 0.0])
    assert np.isnan(beta_quantiles.ppf([-0.1, 1.1, np.nan, 0.5, 0.5], [1, 1, 1, 0, np.inf], 1.0)).all()
    assert beta_quantiles.ppf(np.full((3, 1), 0.5), np.ones(4), 2.0).shape == (3, 4)
    assert beta_quantiles.ppf(0.5, 1e-100, 1.0) == 0.0  # the quantile is 1e-3e99
    assert beta_quantiles.ppf(0.5, 1.0, 1e-100) == 1.0
    np.testing.assert_allclose(beta_quantiles.ppf([1e-300, 0.3], 1.0, 1.0), [1e-300, 0.3], rtol=1e-13)


def test_the_defect_is_mended():
    found = bayescm.summary(bayescm.from_cells(tp=5000, fn=499, fp=500, tn=4089), "accuracy")
    lower, upper = found.interval.values[0]
    assert round(lower, 4) == 0.8950
    dist = bayescm.metric_distribution(bayescm.from_cells(tp=5000, fn=499, fp=500, tn=4089), "accuracy")
    assert float(dist.cdf(upper) - dist.cdf(lower)) == pytest.approx(0.95, abs=1e-9)


@pytest.mark.parametrize(("k", "n"), [(999, 10089), (1000, 10089), (9090, 10089), (1000, 2 * 10**8), (999, 21208)])
def test_clopper_pearson_against_mpmath(verification, k, n):
    lower, upper = proportions.clopper_pearson(k, n)
    for p, a, b, x in ((0.025, k, n - k + 1, lower), (0.975, k + 1, n - k, upper)):
        assert verification.by_mpmath(p, a, b, special.logit(x)) < 1e-13


@pytest.mark.slow
def test_random_and_round_cases_against_the_tables(verification):
    rows = verification.study(1000, (5, 2, 1))
    assert sum(row["cases"] for row in rows) == 1000
    for row in rows:
        assert float(row["worst_by_tables"]) < verification.PROMISE, row
        assert float(row["worst_by_mpmath"]) < verification.PROMISE_MPMATH, row


def test_no_other_inverse_is_used():
    """SciPy's is wrong at a concentration of 1000: everything goes through bayescm.distributions.beta_quantiles."""
    forbidden = re.compile(r"betainc+inv|btdtri|stats\.beta\b.*\.(ppf|isf|interval|median)\b")
    sources = [*(ROOT / "bayescm").rglob("*.py"), *(ROOT / "models").rglob("*.py")]
    assert len(sources) > 100
    for path in sources:
        text = path.read_text()
        if path.name == "beta_quantiles.py":
            text = text.replace("(`betaincinv`, `betainccinv`)", "")  # of which it warns
        assert not forbidden.search(text), path
