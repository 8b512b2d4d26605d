"""Intervals of differences of proportions: published numbers, score tests by general optimisation, edges, coverage."""

import itertools

import numpy as np
import pytest
from scipy import optimize, stats

import bayescm
from bayescm.comparison import frequentist
from bayescm.comparison.score_intervals import agresti_caffo, miettinen_nurminen, tango

Z = stats.norm.isf(0.025)


@pytest.mark.parametrize(
    ("k", "n", "wanted"),
    [((56, 48), (70, 80), [0.0528, 0.3382]), ((9, 3), (10, 10), [0.1700, 0.8406]), ((6, 2), (7, 7), [0.0342, 0.8534])],
)
def test_miettinen_nurminen_as_published(k, n, wanted):
    # Newcombe 1998, Statistics in Medicine 17:873, table II, method 6
    np.testing.assert_allclose(miettinen_nurminen(k, n, 0.95), wanted, atol=5e-5)


def cubic(k, n, d):
    """Return the restricted estimate by the roots of the score's cubic."""
    (k1, k2), (n1, n2) = k, n
    p = np.polynomial.Polynomial([0, 1])
    parts = [p + d, 1 - p - d, p, 1 - p]
    weights = [k1, -(n1 - k1), k2, -(n2 - k2)]
    total = sum(w * np.prod([q for j, q in enumerate(parts) if j != i]) for i, w in enumerate(weights))
    low, high = max(0, -d), min(1, 1 - d)
    roots = np.clip([r.real for r in total.roots() if abs(r.imag) < 1e-6] + [low, high], low, high)

    def likelihood(one):
        cells = zip([k1, n1 - k1, k2, n2 - k2], [one + d, 1 - one - d, one, 1 - one], strict=True)
        return sum(w * np.log(max(x, 1e-300)) for w, x in cells if w)

    return max(roots, key=likelihood)


@pytest.mark.parametrize(("k", "n"), [((7, 2), (12, 9)), ((0, 3), (11, 8)), ((5, 5), (5, 9)), ((40, 31), (90, 55))])
def test_the_bounds_are_where_the_score_test_says(k, n):
    for d in miettinen_nurminen(k, n, 0.95):
        p2 = cubic(k, n, d)
        p1 = p2 + d
        variance = (p1 * (1 - p1) / n[0] + p2 * (1 - p2) / n[1]) * sum(n) / (sum(n) - 1)
        assert abs(k[0] / n[0] - k[1] / n[1] - d) / np.sqrt(variance) == pytest.approx(Z, rel=1e-5)


@pytest.mark.parametrize("cells", [(20, 12, 2, 6), (5, 3, 1, 4), (30, 1, 9, 2)])
def test_tango_inverts_the_score_test_of_the_likelihood(cells):
    both, first, second, none = cells
    n = sum(cells)
    for d in tango(first, second, n, 0.95):

        def minus_log(share, d=d):
            return -(first * np.log(share + d) + second * np.log(share) + (both + none) * np.log(1 - 2 * share - d))

        limits = (max(0, -d) + 1e-12, (1 - d) / 2 - 1e-12)
        share = optimize.minimize_scalar(minus_log, bounds=limits, method="bounded", options={"xatol": 1e-12}).x
        variance = (2 * share + d - d**2) / n  # of the difference of two multinomial shares
        assert abs((first - second) / n - d) / np.sqrt(variance) == pytest.approx(Z, rel=1e-5)


def test_tango_where_all_agree():
    z2 = Z**2
    np.testing.assert_allclose(tango(0, 0, 30, 0.95), [-z2 / (30 + z2), z2 / (30 + z2)], rtol=1e-9)


def test_agresti_and_caffo_is_wald_s_of_four_more_items():
    p, q = 57 / 72, 49 / 82
    half = Z * np.sqrt(p * (1 - p) / 72 + q * (1 - q) / 82)
    np.testing.assert_allclose(agresti_caffo((56, 48), (70, 80), 0.95), [p - q - half, p - q + half], rtol=1e-12)


ALL = [
    lambda k, n, level: miettinen_nurminen(k, n, level),
    lambda k, n, level: agresti_caffo(k, n, level),
    lambda k, n, level: tango(k[0], min(k[1], n[0] - k[0]), n[0], level),
]


@pytest.mark.parametrize("made", ALL)
def test_edges(made):
    cases = itertools.product([(0, 0), (5, 0), (0, 7), (5, 7)], [(5, 7)], [0.5, 0.95, 0.9999])
    for k, n, level in [*cases, ((10**9, 10**9 - 5), (10**9, 10**9), 0.95), ((0, 1), (1, 1), 0.95)]:
        low, high = made(k, n, level)
        assert -1 <= low <= high <= 1
        np.testing.assert_allclose(made((n[0] - k[0], n[1] - k[1]), n, level), [-high, -low], atol=1e-9) if (
            made is not ALL[2]
        ) else None
    assert np.isnan(made((0, 0), (0, 0), 0.95)).all()


def test_intervals_shrink_with_the_level():
    for made in ALL:
        widths = [np.ptp(made((7, 3), (12, 12), level)) for level in (0.01, 0.5, 0.8, 0.95, 0.999)]
        assert (np.diff(widths) > 0).all()


def test_coverage_by_enumeration():
    n = (15, 15)
    outcomes = list(itertools.product(range(16), range(16)))
    found = np.array([frequentist.independent_intervals(k, n, 0.95) for k in outcomes])
    for p1, p2 in ((0.5, 0.5), (0.9, 0.6), (0.2, 0.05)):
        mass = np.array([stats.binom.pmf(a, 15, p1) * stats.binom.pmf(b, 15, p2) for a, b in outcomes])
        inside = (found[..., 0] <= p1 - p2) & (p1 - p2 <= found[..., 1])
        covered = mass @ inside
        assert ((covered > 0.92) & (covered < 0.995)).all()


def test_a_comparison_has_them_all():
    made = bayescm.compare_systems(
        {"A": [[50, 5], [6, 30]], "B": [[40, 7], [6, 30]]}, ["accuracy", "recall", "mcc"], design="independent",
        ci_prob=0.9,
    )["tests"]  # fmt: skip
    counts = {"accuracy": ((80, 70), (91, 83)), "recall": ((30, 30), (36, 36))}
    for metric, (k, n) in counts.items():
        row = made.sel(metric=metric).isel(comparison=0)
        for name, values in zip(
            frequentist.INDEPENDENT_INTERVALS, frequentist.independent_intervals(k, n, 0.9), strict=True
        ):
            np.testing.assert_array_equal(row[name], values)
    assert np.isnan(made["agresti_caffo"].sel(metric="matthews_correlation")).all()
    y, a, b = [0, 0, 1, 1, 1, 0], [0, 0, 1, 1, 0, 0], [1, 0, 1, 0, 0, 0]
    paired = bayescm.compare_systems(y, {"A": a, "B": b}, random_seed=1)["tests"]
    np.testing.assert_array_equal(paired["tango"].squeeze(), tango(2, 0, 6, 0.95))
