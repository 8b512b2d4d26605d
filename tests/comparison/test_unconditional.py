"""Boschloo's and Barnard's tests: fractions and fine grids, SciPy, symmetry."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bayescm.comparison import frequentist
from bayescm.comparison.unconditional import boschloo_and_barnard

SHARES = np.sin(np.linspace(0.0, np.pi / 2, 4001)) ** 2


def barnard(k, n):
    """Return the p-value by squared scores that are compared as fractions, over a fine grid of shares."""

    def square(x1, x2):  # numerator and denominator
        return (x1 * n[1] - x2 * n[0]) ** 2, (x1 + x2) * (sum(n) - x1 - x2) or 1

    seen = square(*k)
    outcomes = [(x1, x2) for x1 in range(n[0] + 1) for x2 in range(n[1] + 1)]
    extreme = [x for x in outcomes if square(*x)[0] * seen[1] >= seen[0] * square(*x)[1]]
    ways = np.zeros(sum(n) + 1)
    for x1, x2 in extreme:
        ways[x1 + x2] += comb(n[0], x1) * comb(n[1], x2)
    return max(sum(w * SHARES**x * (1.0 - SHARES) ** (sum(n) - x) for x, w in enumerate(ways)))


@pytest.mark.parametrize("n", [(1, 9), (3, 8), (5, 5), (15, 15), (20, 7)])
def test_barnards_by_fractions(n):
    """SciPy's is too small where outcomes are exactly as extreme: by 15% of (4, 13) of 15 (its issue 18798)."""
    every = [(x1, x2) for x1 in range(n[0] + 1) for x2 in range(n[1] + 1) if 0 < x1 + x2 < sum(n)]
    for k in every if len(every) < 60 else every[::7]:
        found, fine = boschloo_and_barnard(k, n)[1], barnard(k, n)
        assert fine - 1e-12 < found < fine * (1.0 + 1e-5) + 1e-12, k


@pytest.mark.parametrize(("k", "n"), [((7, 12), (15, 15)), ((4, 13), (15, 15)), ((0, 3), (8, 3)), ((90, 22), (99, 30))])
def test_boschloos_is_scipys(k, n):
    want = stats.boschloo_exact([k, np.subtract(n, k)], n=128).pvalue
    assert boschloo_and_barnard(k, n)[0] == pytest.approx(want, rel=1e-8)


sizes = st.integers(1, 60)


@given(sizes, sizes, st.data())
def test_what_both_hold(n1, n2, data):
    k1, k2 = data.draw(st.integers(0, n1)), data.draw(st.integers(0, n2))
    if not 0 < k1 + k2 < n1 + n2:
        return
    found = boschloo_and_barnard((k1, k2), (n1, n2))
    turned = [boschloo_and_barnard((k2, k1), (n2, n1)), boschloo_and_barnard((n1 - k1, n2 - k2), (n1, n2))]
    np.testing.assert_allclose(turned, [found, found], rtol=1e-9)
    smaller = min(stats.fisher_exact([[k1, k2], [n1 - k1, n2 - k2]], one).pvalue for one in ("less", "greater"))
    assert found[0] <= min(2.0 * smaller, 1.0) * (1.0 + 1e-9)  # more powerful than Fisher's


def test_large_tables_are_left_out():
    assert np.isnan(frequentist.independent_tests((70, 120), (150, 150))[2:]).all()
    assert np.isfinite(frequentist.independent_tests((70, 80), (100, 100))).all()
    assert frequentist.independent_tests((0, 0), (5, 5))[2:].tolist() == [1.0, 1.0]
    assert frequentist.independent_tests((5, 5), (5, 5))[2:].tolist() == [1.0, 1.0]
