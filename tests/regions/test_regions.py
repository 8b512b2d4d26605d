"""Regions, bands and single points: oracles, a slow twin for every surface, degenerate tables, threads, laziness."""

import threading
import warnings
from itertools import product

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special, stats

import bayescm
from bayescm.regions import credible, grid, methods
from bayescm.results.objects import as_result

HALF = np.full(4, 0.5)
NOTHING = np.zeros((2, 2))
MMU = np.array([[201.0, 55.0, 41.0, 203.0]])
FIG_4 = np.array([[255.0, 1.0, 189.0, 55.0]])


def counts_of(tn, fp, fn, tp):
    return bayescm.from_cells(tp=int(tp), fn=int(fn), fp=int(fp), tn=int(tn))


def every_method(space):
    return [
        methods.Wilks(space), methods.Exact(space, False), methods.Exact(space, True), credible.Credible(space, HALF),
        credible.Credible(space, np.ones(4)), credible.Density(space, np.full(4, 2.0)), methods.Ellipse(space, NOTHING),
        methods.Anytime(space, HALF),
    ]  # fmt: skip


# ---------------------------------------------------------------------------------------------------------- oracles


def test_chi_squared_levels(oracle):
    for sigma, q in oracle("const.chi2_2df")["expected"]["sigma"].items():
        level = 2.0 * special.ndtr(float(sigma)) - 1.0
        assert methods.Wilks(grid.PR).limits(MMU, level)[0] == pytest.approx(q, abs=1e-9)


def test_scores_at_points(oracle):
    o = oracle("mmu.score.pr")
    precision, recall = np.array(o["inputs"]["points_precision_recall"]).T
    test = bayescm.regions.region_level(counts_of(201, 55, 41, 203), precision=precision, recall=recall)
    np.testing.assert_allclose(test.statistic, o["expected"]["score"], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(test.p_value, o["expected"]["pvalue"], rtol=1e-9)
    best = bayescm.regions.region_level(counts_of(201, 55, 41, 203), precision=203 / 258, recall=203 / 244)
    assert best.p_value.item() == pytest.approx(1.0, abs=1e-12)


def test_statistic_on_a_grid(oracle):
    o = oracle("mmu.npy.pr")["expected"]
    (p0, p1), (r0, r1) = oracle("mmu.bounds.pr")["expected"]
    axes = np.linspace(p0, p1, 100), np.linspace(r0, r1, 100)
    out = np.empty((100, 100))
    everywhere = np.array([[0, 100, 0, 100]])
    planes, weights = grid.PR.planes(*axes)(slice(0, 100), slice(0, 100)), grid.PR.weights(MMU)
    from bayescm._kernels.planes import reduce

    reduce(planes, weights, everywhere, 1e9, out)
    out *= -2.0
    assert out.sum() == pytest.approx(o["sum"], rel=1e-10)
    assert out.min() == pytest.approx(o["min"], abs=1e-10)
    for place, value in o["samples"].items():
        assert out[tuple(map(int, place.split(",")))] == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("space", [grid.PR, grid.ROC])
def test_covariances_and_bounds(oracle, space):
    ellipse = methods.Ellipse(space, NOTHING)
    np.testing.assert_allclose(ellipse.covariance(MMU)[0], oracle(f"mmu.bvn_cov.{space.name}")["expected"], atol=1e-12)
    six_sigma = -np.expm1(-18.0)
    found = ellipse.boxes(MMU, six_sigma)[0].reshape(2, 2)
    np.testing.assert_allclose(found, oracle(f"mmu.bounds.{space.name}")["expected"], atol=1e-10)


def test_constrained_fits(oracle):
    for name, space, at in (("urlus.eq6", grid.PR, (0.75, 0.85)), ("urlus.eq37", grid.ROC, (0.85, 0.2))):
        found = methods.Wilks(space).fitted(MMU, *(np.array([v]) for v in at))[0]
        np.testing.assert_allclose(found, oracle(name)["expected"]["p"], atol=1e-10)


def test_low_recall_matrix(oracle):
    o = oracle("urlus.fig4")
    precision, recall = np.array(o["inputs"]["points_P_R"]).T
    test = bayescm.regions.region_level(counts_of(*FIG_4[0]), precision=precision, recall=recall)
    np.testing.assert_allclose(test.statistic, o["expected"]["q"], atol=1e-9)


def test_log_density(oracle):
    o = oracle("urlus.eq10")
    at = {"recall": o["inputs"]["R"], "precision": o["inputs"]["P"], "method": "credible", "ordering": "density"}
    for prior, value in o["expected"].items():
        found = bayescm.regions.region_level(counts_of(*FIG_4[0]), prior=float(prior), **at).statistic
        assert found.item() == pytest.approx(value, abs=1e-8)
    o = oracle("urlus.eq10b")
    alpha = np.array([o["inputs"]["alpha"]], dtype=float)
    density = credible.Density(grid.PR, np.zeros(4))
    weights = grid.PR.density_weights(alpha)
    found = density.log_density(weights, np.array([o["inputs"]["P"]]), np.array([o["inputs"]["R"]]))
    assert found[0] == pytest.approx(o["expected"], abs=1e-9)


def test_highest_density_levels(oracle):
    tables = credible.Density(grid.PR, HALF)._tables(FIG_4)
    _, lowest, step, table = tables
    levels = -np.expm1(-0.5 * table[0])
    for level, log_density in oracle("urlus.hpd_level")["expected"].items():
        found = lowest[0] + step[0] * np.interp(-float(level), -levels, np.arange(len(levels)))
        assert found == pytest.approx(log_density, abs=0.06 if float(level) > 0.99 else 0.02)


# ------------------------------------------------------------------------------------- a surface against its points


@pytest.mark.parametrize("space", [grid.PR, grid.ROC])
@pytest.mark.parametrize("level", [0.5, 0.954, 0.997])
def test_surfaces_equal_points_and_windows_hold_the_region(space, level):
    rng = np.random.default_rng(5)
    tables = [[201, 55, 41, 203], [255, 1, 189, 55], [4, 0, 0, 5], [3, 2, 0, 0], [0, 0, 3, 4], [30, 0, 7, 1]]
    tables += rng.integers(0, 12, (6, 4)).tolist()
    axes = grid.axis(23), grid.axis(31, spacing="edges")
    y, x = (v.reshape(-1) for v in np.meshgrid(*axes, indexing="ij"))
    for method in every_method(space):
        for table in np.array(tables, float):
            one = table[None]
            if isinstance(method, methods.Ellipse) and not method.exists(one)[0]:
                continue
            found = method.surface(one, axes, level).reshape(-1)
            point = method.at(np.repeat(one, len(y), 0), y, x)[1]
            inside = point <= level - 1e-6
            np.testing.assert_allclose(found[inside], point[inside], atol=1e-7, err_msg=f"{method.name} {table}")
            assert (found[~inside] >= np.minimum(point[~inside], level) - 1e-6).all()


@pytest.mark.parametrize("space", [grid.PR, grid.ROC])
def test_a_band_is_the_union_of_its_regions(space):
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 60)
    counts = bayescm.curves.counts_at_thresholds(y, rng.normal(y, 1.0))
    axes = (grid.axis(41), grid.axis(41))
    for settings in ({"method": "wilks"}, {"method": "exact"}, {"method": "exact", "mid_p": True},
                     {"method": "credible"}, {"method": "credible", "ordering": "density", "prior": 2}):  # fmt: skip
        every = bayescm.region(counts, space=space.name, grid=axes, **settings).level.min("threshold")
        band = bayescm.band(counts, space=space.name, grid=axes, **settings)
        inside = every.values <= 0.997
        np.testing.assert_allclose(band.level.values[inside], every.values[inside], atol=1e-9)
        assert (band.level.values[~inside] > 0.997).all()
        assert "pointwise" in band.attrs["band"]


# ---------------------------------------------------------------------------------------------------- the methods


@given(st.integers(0, 400), st.integers(1, 400), st.floats(0.01, 40.0))
def test_bounds_are_where_the_deviance_is_the_limit(k, n, limit):
    from bayescm._kernels.deviance import bounds

    k = min(k, n)
    out = np.empty((1, 2))
    bounds(np.array([float(k)]), np.array([float(n)]), np.array([limit]), out)
    low, high = out[0]
    assert 0.0 <= low <= k / n <= high <= 1.0
    for p, closed in ((low, k == 0), (high, k == n)):
        if not closed:
            logs = special.xlogy(k, k / (n * p)) + special.xlogy(n - k, (n - k) / (n * (1 - p)))
            assert 2.0 * logs == pytest.approx(limit, rel=1e-7)


def belief(first, second, q):
    """The mass of {D_first + D_second < q} by one integral in the quantile coordinate of the second (DESIGN 5.4)."""

    def deviance(k, n, p):
        return (
            2.0 * (special.xlogy(k, k / (n * p)) + special.xlogy(n - k, (n - k) / (n * (1 - p)))) if 0 < p < 1 else 9e9
        )

    def root(k, n, limit, side):  # by bisection
        if k == (0 if side < 0 else n):
            return k / n
        inner, outer = k / n, 0.0 if side < 0 else 1.0
        while (p := 0.5 * (inner + outer)) not in {inner, outer}:
            inner, outer = (p, outer) if deviance(k, n, p) < limit else (inner, p)
        return inner

    def below(factor, limit):
        k, n, a, b = factor
        if n == 0:
            return 1.0
        return special.betainc(a, b, root(k, n, limit, 1)) - special.betainc(a, b, root(k, n, limit, -1))

    k, n, a, b = second
    if n == 0:
        return below(first, q)
    u0, u1 = (special.betainc(a, b, root(k, n, q, side)) for side in (-1, 1))
    total = 0.0
    angles, w = np.polynomial.legendre.leggauss(120)
    for t, weight in zip(angles * np.pi / 2, w * np.pi / 2, strict=True):
        u = u0 + (u1 - u0) * (1 + np.sin(t)) / 2
        p = special.betaincinv(a, b, u)
        total += weight * (u1 - u0) / 2 * np.cos(t) * below(first, max(q - deviance(k, n, p), 0.0))
    return total


@pytest.mark.parametrize("prior", [0.5, pytest.param(1.0, marks=pytest.mark.long), 3.0])
@pytest.mark.parametrize(
    "table",
    [(7, 1, 2, 3), (0, 0, 0, 3), (5, 3, 2, 0), (9, 0, 4, 2), (9, 4, 0, 2), (1, 0, 3, 0), (201, 55, 41, 203),
     (255, 1, 189, 55), (3, 10, 20, 1000), (9, 1, 1, 500_000)],
)  # fmt: skip
@pytest.mark.parametrize("space", [grid.PR, grid.ROC])
def test_relative_belief_has_the_posterior_mass(space, table, prior):
    cells = np.array(table, float)
    factors = credible._factors(cells[None], space, np.full(4, prior))[0]
    q = np.array([0.3, 2.3, 6.18, 11.8])
    found = credible.masses(cells, space, np.full(4, prior), q)
    np.testing.assert_allclose(found, [belief(*factors, limit) for limit in q], atol=1e-6)


@pytest.mark.slow
def test_relative_belief_agrees_with_draws():
    rng = np.random.default_rng(2)
    for cells in ([9, 0, 4, 2], [201, 55, 41, 203]):
        cells = np.array(cells, float)
        theta = rng.dirichlet(cells + 0.5, 200_000)
        precision, recall = theta[:, 3] / (theta[:, 1] + theta[:, 3]), theta[:, 3] / (theta[:, 2] + theta[:, 3])
        level = credible.Credible(grid.PR, HALF).at(np.repeat(cells[None], len(theta), 0), precision, recall)[1]
        for c in (0.3, 0.683, 0.954, 0.997):
            assert (level <= c).mean() == pytest.approx(c, abs=4 * np.sqrt(c * (1 - c) / len(theta)))


@pytest.mark.parametrize(
    ("space", "cells"),
    [
        (grid.PR, [9, 3, 4, 2]),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in product((grid.PR, grid.ROC), ([255, 1, 189, 55], [40, 12, 0, 30]))
        ),
        pytest.param(grid.ROC, [9, 3, 4, 2], marks=pytest.mark.slow),
    ],
)
def test_highest_density_has_the_posterior_mass(space, cells):
    """Against an equidistributed set of 0.4 million points: mass to 1e-3, and the tail beyond .954 to 10%."""
    prior = np.full(4, 2.0)
    method = credible.Density(space, prior)
    (a, b), (c, d) = (f(np.array(cells, float) + prior) for f in space.factors)
    n = 400_000
    u, v = (np.arange(n) + 0.5) / n, (np.arange(n) * 0.6180339887498949 + 0.5) % 1.0
    first, second = special.betaincinv(a, b, u), special.betaincinv(c, d, v)
    if space.trinomial:
        fp = (1 - first) * second
        y, x = first / (first + fp), first / (1 - fp)
    else:
        y, x = first, second
    level = method.at(np.repeat(np.array([cells], float), n, 0), y, x)[1]
    for c in (0.3, 0.683, 0.954):
        assert (level <= c).mean() == pytest.approx(c, abs=1e-3)
    for c in (0.99, 0.997, 0.9995):
        assert (level > c).mean() == pytest.approx(1 - c, rel=0.1)


@pytest.mark.parametrize(
    ("cells", "prior", "space"),
    [
        ((1000, 30, 400, 20), (1, 1, 1, 50), grid.PR), ((200, 40, 30, 170), (50,) * 4, grid.ROC),
        ((20, 1, 1, 0), (30,) * 4, grid.PR), ((0, 9, 9, 0), (45, 5, 5, 45), grid.ROC),
        ((8, 196, 12, 0), (76.5,) * 4, grid.PR), ((786, 1, 9, 772), (19.65,) * 4, grid.ROC),
        ((16, 2, 2868, 2), (6.91,) * 4, grid.PR), ((0, 0, 2, 9), (40,) * 4, grid.ROC),
        ((10**8, 10**8, 10**8, 1), (0.5,) * 4, grid.PR), ((10**9, 10**9, 10**9, 3), (0.5,) * 4, grid.PR),
        ((0, 0, 0, 3), (0.05,) * 4, grid.ROC), ((9, 1, 1, 500_000), (5, 0.1, 3, 8), grid.PR),
    ],
)  # fmt: skip
def test_relative_belief_under_any_prior(cells, prior, space):
    """Priors that contradict the counts, tiny ones and huge counts, against half a million draws."""
    cells, prior = np.array(cells, float), np.array(prior, float)
    rng = np.random.default_rng(11)
    total = np.zeros(500_000)
    for k, n, a, b in credible._factors(cells[None], space, prior)[0]:
        p, rest = (
            g / sum(gs) for gs in [(rng.standard_gamma(a, len(total)), rng.standard_gamma(b, len(total)))] for g in gs
        )
        if n > 0:
            with np.errstate(divide="ignore"):
                total += 2.0 * (special.xlogy(k, k / n) + special.xlogy(n - k, (n - k) / n))
                total -= 2.0 * (special.xlogy(k, p) + special.xlogy(n - k, rest))
    method = credible.Credible(space, prior)
    for level in (0.5, 0.954):
        limit = method.limits(cells[None], level)
        assert level - 3e-3 < (total < limit).mean() < level + 0.05  # a window may be a little wider
        q = np.quantile(total, [0.25, 0.5, 0.9])
        np.testing.assert_allclose(credible.masses(cells, space, prior, q), [0.25, 0.5, 0.9], atol=3e-3)
        scale = method.scale(cells[None], level)
        if scale.which[0] >= 0 and prior.min() > 0.05:  # a table is coarse near 0 where the mass is q^0.05
            from bayescm._kernels.planes import tabulated

            at = np.quantile(total, level / 2)
            mass = -np.expm1(-0.5 * tabulated(at, scale.most[0], scale.tables[0]))
            assert mass == pytest.approx(level / 2, abs=4e-3)


def test_two_ways_to_the_same_mass():
    rng = np.random.default_rng(12)
    for _ in range(60):
        cells = (10 ** rng.uniform(0, 3.5, 4)).round() - 1.0
        prior, space = np.full(4, 10 ** rng.uniform(-0.3, 1)), (grid.PR, grid.ROC)[rng.integers(2)]
        factors = credible._factors(cells[None], space, prior)[0]
        if factors[:, 1].sum() > 0:
            q = np.array([0.5, 2.0, 6.0, 12.0])
            direct = credible._direct(factors, q)
            np.testing.assert_allclose(credible.masses(cells, space, prior, q), direct, atol=1e-6)


def test_what_no_integral_serves_is_refused():
    counts = counts_of(20, 0, 3, 17)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with pytest.raises(ValueError, match=r"at least 0\.15"):
            bayescm.region(counts, method="credible", ordering="density", prior=0.1)
    with pytest.raises(ValueError, match="contradicts"):
        bayescm.regions.region_level(counts, method="credible", prior=[[1, 0.001], [900, 1]], recall=0.5, precision=0.5)


@pytest.mark.parametrize("cells", [(10**6, 3, 10**5, 9 * 10**5), (10**9, 100, 10**8, 10**9), (6, 19335, 4, 255871443)])
def test_the_ellipse_keeps_its_digits(cells):
    counts = counts_of(*cells)
    surface = bayescm.region(counts, method="ellipse", grid=11)
    point = {name: surface[name] for name in ("precision", "recall")}
    np.testing.assert_allclose(
        surface.level, np.minimum(bayescm.regions.region_level(counts, method="ellipse", **point).level, 1), atol=1e-6
    )  # fmt: skip


def test_ties_of_many_items_are_ties():
    likeliest = bayescm.regions.region_level(counts_of(0, 0, 999_998, 1), method="exact", tpr=0.7 / 999_999, fpr=0.5)
    assert likeliest.level == 0.0


def test_extra_covariance_adds_up():
    extra = np.array([[1e-3, 2e-4], [2e-4, 5e-4]])
    counts = counts_of(*MMU[0])
    test = bayescm.regions.region_level(counts, recall=0.85, precision=0.75, method="ellipse", extra_cov=extra)
    whole = methods.Ellipse(grid.PR, NOTHING).covariance(MMU)[0] + extra
    offset = np.array([0.75 - 203 / 258, 0.85 - 203 / 244])
    assert test.statistic.item() == pytest.approx(offset @ np.linalg.solve(whole, offset), rel=1e-10)
    perfect = bayescm.region(counts_of(5, 0, 0, 5), method="ellipse", extra_cov=extra)
    assert np.isfinite(perfect.level).all()


@pytest.mark.parametrize("prior", [[0.5] * 4, [2.0, 0.3, 1.0, 4.0]])
@pytest.mark.parametrize("y", [0.2, 0.9])
def test_what_the_prior_predicted_over_the_likelihood_has_the_mean_one(prior, y):
    cells = np.array([[1, i, j, 9 - i - j] for i in range(10) for j in range(10 - i)], float)
    method = methods.Anytime(grid.PR, np.array(prior))
    odds = np.array([1 / y - 1, 1 / 0.6 - 1, 1.0])  # of FP, FN and TP at a precision of y and a recall of 0.6
    ratio = np.exp((method.deviance(cells, np.full(55, y), np.full(55, 0.6)) - method.learned(cells)) / 2)
    assert stats.multinomial.pmf(cells[:, 1:], 9, odds / odds.sum()) @ ratio == pytest.approx(1, rel=1e-12)
    rest = method.at(cells, np.full(55, y), np.full(55, 0.6))[2]
    np.testing.assert_allclose(rest, np.minimum(1 / ratio, 1), rtol=1e-10)


def test_a_prior_that_predicts_nothing_has_no_region_at_every_look():
    with pytest.raises(ValueError, match="must have positive concentrations for method='anytime'"):
        bayescm.region(bayescm.from_cells(tp=5, fn=1, fp=1, tn=5), method="anytime", prior=0)


def test_simulation_agrees_with_the_exact_level():
    counts = counts_of(40, 3, 5, 12)
    at = {"tpr": np.array([0.5, 0.7, 0.9]), "fpr": np.array([0.02, 0.1, 0.2])}
    exact = bayescm.regions.region_level(counts, method="exact", **at).level.values
    drawn = bayescm.regions.region_level(counts, method="simulate", draws=20_000, random_seed=4, **at)
    # the paper draws the class totals as well, so the two differ a little beyond the simulation's own error
    np.testing.assert_allclose(drawn.level, exact, atol=0.05)
    again = bayescm.regions.region_level(counts, method="simulate", draws=20_000, random_seed=4, **at)
    xr.testing.assert_identical(drawn, again)


# ----------------------------------------------------------------------------------------------- degenerate tables

DEGENERATE = {  # TN, FP, FN, TP
    "TP = 0": (5, 3, 2, 0), "FP = 0": (5, 0, 2, 6), "FN = 0": (5, 3, 0, 6), "perfect": (5, 0, 0, 6),
    "no positives": (5, 3, 0, 0), "no negatives": (0, 0, 2, 6), "TP = FP = 0": (5, 0, 3, 0), "all zero": (0, 0, 0, 0),
    "only TN": (8, 0, 0, 0), "TN = 0": (0, 3, 2, 6),
}  # fmt: skip


@pytest.mark.parametrize("space", ["pr", "roc"])
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_tables(space, name):
    counts = counts_of(*DEGENERATE[name])
    names = ("precision", "recall") if space == "pr" else ("tpr", "fpr")
    tn, fp, fn, tp = DEGENERATE[name]
    empty = tp + fp + fn == 0 if space == "pr" else tn + tp + fp + fn == 0
    for method in ("wilks", "exact", "credible", "simulate"):
        settings = {"draws": 50, "random_seed": 1} if method == "simulate" else {}
        data = bayescm.region(counts, space=space, method=method, grid=(grid.axis(21), grid.axis(21)), **settings)
        assert np.isfinite(data.level).all()
        share = float((data.level <= 0.954).mean())
        assert share > 0.0, method
        if empty:
            assert (data.level == 0.0).all(), method
        if space == "roc" and not empty and method != "simulate":  # a class without items leaves a strip
            assert (np.ptp(data.level.values, axis=0) < 1e-12).all() == (tp + fn == 0), method
            assert (np.ptp(data.level.values, axis=1) < 1e-12).all() == (tn + fp == 0), method
        estimate = dict(zip(names, data.point.values, strict=True))
        if not np.isnan(data.point).any() and not (tp == 0 and space == "pr"):
            assert data.level.sel(estimate, method="nearest") <= 0.5
    none = min(tp, fp, fn) == 0 or (space == "roc" and tn == 0)
    with pytest.warns(UserWarning, match="no ellipse") if none else warnings.catch_warnings():
        data = bayescm.region(counts, space=space, method="ellipse")
    if np.isnan(data.level).any():
        assert np.isnan(data.level).all()


def test_the_corner_of_no_true_positives():
    """Recall and precision are 0: at the corner every direction is possible, so its level is the least limit, 0."""
    for method in ("wilks", "exact", "credible"):
        none = bayescm.regions.region_level(counts_of(5, 3, 2, 0), recall=0.0, precision=0.0, method=method)
        assert none.level.item() == 0.0
        one = bayescm.regions.region_level(counts_of(5, 3, 2, 1), recall=0.0, precision=0.0, method=method)
        assert one.level.item() == pytest.approx(1.0)
        data = bayescm.region(counts_of(5, 3, 2, 0), method=method, grid=(grid.axis(11), grid.axis(11)))
        assert data.level[0, 0] == 0.0
        assert data.level[0, 5] == pytest.approx(1.0)  # precision 0 at recall .5 means no end of false positives


def test_edges_that_counts_exclude_have_level_one():
    for method in ("wilks", "exact", "credible"):
        test = bayescm.regions.region_level(
            counts_of(5, 3, 2, 6), recall=np.array([1.0, 0.5, 0.0]), precision=np.array([0.5, 1.0, 0.5]), method=method
        )  # fmt: skip
        np.testing.assert_allclose(test.level, 1.0, atol=1e-12)


# ------------------------------------------------------------------------------------------- shapes, threads, words


@pytest.mark.slow
def test_numbers_do_not_depend_on_threads(monkeypatch):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 200)
    counts = bayescm.curves.counts_at_thresholds(y, rng.normal(y, 1.0))
    for settings in ({"method": "wilks"}, {"method": "exact", "grid": 65}, {"method": "credible"},
                     {"method": "ellipse"}, {"method": "credible", "ordering": "density", "grid": 65},
                     {"method": "simulate", "grid": 5, "draws": 20, "random_seed": 1}):  # fmt: skip
        made = []
        for number in ("1", "2", "5"):
            monkeypatch.setenv("BAYESCM_THREADS", number)
            credible._scale.cache_clear()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                made.append(bayescm.band(counts, **settings))
        xr.testing.assert_identical(made[0], made[1])
        xr.testing.assert_identical(made[0], made[2])


def test_the_number_of_threads_is_a_number(monkeypatch):
    monkeypatch.setenv("BAYESCM_THREADS", "x")
    with pytest.raises(ValueError, match="BAYESCM_THREADS must be a whole number"):
        bayescm.region(counts_of(5, 1, 2, 6))


def test_two_callers_at_once():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 100)
    curves = [bayescm.curves.counts_at_thresholds(y, rng.normal(y, 1.0)) for _ in range(4)]
    alone = [bayescm.band(c, method="credible", grid=101).level.values for c in curves]
    together = [None] * 4

    def call(i):
        together[i] = bayescm.band(curves[i], method="credible", grid=101).level.values

    callers = [threading.Thread(target=call, args=(i,)) for i in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


def test_batches_keep_dims_and_lazy_counts_agree():
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, (3, 80))
    curve = xr.concat(
        [bayescm.curves.counts_at_thresholds(t, rng.normal(t, 1.0), thresholds=[1.0, 0.5, 0.0]) for t in y], "fold"
    )  # fmt: skip
    axes = (grid.axis(15), grid.axis(17))
    eager = bayescm.region(curve, grid=axes)
    assert eager.level.dims == ("fold", "threshold", "precision", "recall")
    assert eager.level.sizes["precision"] == 15
    xr.testing.assert_identical(eager, as_result(bayescm.region(curve.chunk(fold=1), grid=axes).compute()))
    band = bayescm.band(curve, grid=axes)
    assert band.level.dims == ("fold", "precision", "recall")
    assert band.point.dims == ("fold", "threshold", "metric")
    xr.testing.assert_identical(band, bayescm.band(curve.chunk(fold=1, threshold=1), grid=axes).compute())
    points = xr.DataArray([0.4, 0.6], dims="guess")
    test = bayescm.regions.region_level(curve, recall=points, precision=0.5)
    assert test.level.dims == ("fold", "threshold", "guess")
    xr.testing.assert_identical(
        test, bayescm.regions.region_level(curve.chunk(fold=1), recall=points, precision=0.5).compute()
    )  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"grid": 33}, {"method": "ellipse"}, {"space": "roc"}])
def test_lazy_counts_have_the_grid_of_the_same_counts(options):
    counts = bayescm.from_cells(tp=[26, 20], fn=[2, 8], fp=[3, 1], tn=[6, 8], dims="system")
    lazy = bayescm.region(counts.chunk(system=1), **options)
    assert lazy.level.chunks is not None
    xr.testing.assert_identical(as_result(lazy.compute()), bayescm.region(counts, **options))


def test_netcdf_round_trip(tmp_path):
    for name, settings in {"a": {"method": "exact"}, "b": {"method": "credible", "prior": [[1, 2], [3, 4]]}}.items():
        data = bayescm.region(counts_of(*MMU[0]), grid=17, **settings)
        data.to_netcdf(tmp_path / f"{name}.nc", engine="h5netcdf")
        with xr.open_dataset(tmp_path / f"{name}.nc", engine="h5netcdf") as again:
            xr.testing.assert_identical(as_result(data), as_result(again.load()))


def test_an_undefined_precision_stays_undefined():
    band = bayescm.band(
        bayescm.curves.counts_at_thresholds([0, 1, 1], [-1.5, 0.0, 2.0], thresholds=[3.0, 0.0]), grid=11
    )
    assert np.isnan(band.point.sel(threshold=3.0, metric="precision"))
    assert band.point.sel(threshold=3.0, metric="recall") == 0.0


def test_simulations_of_points_and_grids_are_the_same():
    counts = xr.concat([counts_of(9, 3, 2, 6), counts_of(5, 1, 2, 6)], "system")
    settings = {"method": "simulate", "draws": 500, "random_seed": 3}
    surface = bayescm.region(counts, grid=5, **settings)
    point = surface.level[1, 2, 2]
    at = {"precision": point.precision.item(), "recall": point.recall.item()}
    assert bayescm.regions.region_level(counts[1], **at, **settings).level == point


def test_the_grid_of_huge_and_tiny_counts():
    for table in ([10**9, 10**9, 10**9, 10**9], [10**6, 3, 2, 10**6], [1, 0, 0, 1]):
        data = bayescm.region(counts_of(*table))
        share = float((data.level <= 0.954).mean())
        assert 0.05 < share < 0.9
    with pytest.raises(ValueError, match="exact"):
        bayescm.region(counts_of(10**6, 10**6, 10**6, 10**6), method="exact")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"space": "det"}, "`space` must be one of"),
        ({"method": "bayes"}, "`method` must be one of"),
        ({"levels": []}, "`levels` is empty"),
        ({"levels": (0.5, 1.0)}, "`levels` must be a number"),
        ({"levels": (0.5, 0.5)}, "twice"),
        ({"prior": 1}, "`prior` is for method='credible'"),
        ({"mid_p": True}, "`mid_p` is for method='exact'"),
        ({"method": "exact", "mid_p": "no"}, "`mid_p` must be True or False"),
        ({"method": "exact", "extra_cov": np.eye(2)}, "`extra_cov` is for"),
        ({"method": "ellipse", "extra_cov": [[1, 2], [2, 1]]}, "negative eigenvalue"),
        ({"method": "ellipse", "extra_cov": np.eye(3)}, "shape"),
        ({"method": "credible", "prior": "haldane"}, "improper"),
        ({"method": "credible", "ordering": "hpd"}, "`ordering`"),
        ({"grid": 1}, "`grid`"),
        ({"grid": (10, 10, 10)}, "`grid`"),
        ({"grid": (5, [0.1, 0.2])}, "`grid` must be"),
        ({"grid": (["a", "b"], [0.1, 0.2])}, "must be numbers"),
        ({"grid": ([0.2, 0.1], [0, 1])}, "increasing"),
        ({"grid": ([0.2, 1.1], [0, 1])}, "increasing"),
        ({"grid": ([0.2, np.nan], [0, 1])}, "increasing"),
    ],
)
def test_words_of_errors(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        bayescm.region(counts_of(5, 0, 2, 6), **settings)


def test_words_of_errors_of_points():
    counts = counts_of(5, 0, 2, 6)
    for settings in ({}, {"recall": 0.5}, {"recall": 0.5, "tpr": 0.5}, {"recall": 0.5, "precision": 0.5, "tpr": 0.1}):
        with pytest.raises(ValueError, match="either `recall` and `precision` or"):
            bayescm.regions.region_level(counts, **settings)
    for bad in (1.2, -0.1, np.nan, [0.5, np.nan]):
        with pytest.raises(ValueError, match=r"in \[0, 1\]"):
            bayescm.regions.region_level(counts, recall=bad, precision=0.5)
    with pytest.raises(TypeError, match="numbers"):
        bayescm.regions.region_level(counts, recall="high", precision=0.5)
    with pytest.raises(ValueError, match="two labels"):
        bayescm.region(np.ones((3, 3), int))
    with pytest.raises(ValueError, match="empty"):
        bayescm.regions.region_level(counts, recall=[], precision=[])
    with pytest.raises(ValueError, match="has 3 points, `recall` has 2"):
        bayescm.regions.region_level(counts, recall=[0.5, 0.6], precision=[0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match="coordinate 'level'"):
        bayescm.region(counts.assign_coords(level=3))
    with pytest.raises(ValueError, match="`dim`"):
        bayescm.band(counts)


def test_ellipse_band_leaves_out_thresholds_without_one():
    y = [0, 0, 1, 0, 1, 1, 0, 1]
    counts = bayescm.curves.counts_at_thresholds(y, np.arange(8.0))
    with pytest.warns(UserWarning, match="no ellipse"):
        band = bayescm.band(counts, method="ellipse", grid=51)
    assert np.isfinite(band.level).all()


def test_an_infinite_density_warns():
    with pytest.warns(UserWarning, match="infinite on an edge"):
        bayescm.region(counts_of(255, 0, 189, 55), method="credible", ordering="density")


def test_densities_integrate_to_one():
    cells, prior = np.array([[9.0, 3.0, 4.0, 2.0]]), np.full(4, 2.0)
    for space in (grid.PR, grid.ROC):
        method = credible.Density(space, prior)
        weights = space.density_weights(cells + prior)

        def f(x, y, method=method, weights=weights):
            return float(np.exp(method.log_density(weights, np.array([y]), np.array([x])))[0])

        assert integrate.dblquad(f, 1e-9, 1, 1e-9, 1, epsabs=1e-4)[0] == pytest.approx(1.0, abs=1e-3)


# ---------------------------------------------------------------------------------- numbers behind a region or a test


@pytest.mark.parametrize("at", [{"precision": 0.75, "recall": 0.85}, {"tpr": 0.85, "fpr": 0.2}])
def test_fitted_shares_are_the_likeliest_at_the_point(at):
    counts = counts_of(201, 55, 41, 203)
    test = bayescm.regions.region_level(counts, **at)
    fitted = test.fitted.values
    (tn, fp), (fn, tp) = fitted
    rates = {"precision": tp / (tp + fp), "recall": tp / (tp + fn), "tpr": tp / (tp + fn), "fpr": fp / (fp + tn)}
    assert {name: rates[name] for name in at} == pytest.approx(at)
    assert fitted.sum() == pytest.approx(1)
    shares = counts.values / counts.values.sum()
    assert 2 * (counts.values * np.log(shares / fitted)).sum() == pytest.approx(test.statistic.item())
    for share in np.linspace(0.1, 0.9, 17):  # of the items that the point says nothing about
        with np.errstate(divide="ignore"):
            other = _at_the_point(share, **at)
        assert (counts.values * np.log(other / fitted)).sum() < 1e-9
    batch = xr.concat([counts, counts_of(9, 1, 2, 8)], "system")
    lazy = bayescm.regions.region_level(batch.chunk(system=1), **at)
    xr.testing.assert_allclose(lazy.fitted.isel(system=0).compute(), test.fitted)
    assert "fitted" not in bayescm.regions.region_level(counts, method="ellipse", **at)


def _at_the_point(share, precision=None, recall=None, tpr=None, fpr=None):
    """Cells with the two rates; `share` of the items are negative, or true negatives."""
    if precision is None:
        return np.array([[share * (1 - fpr), share * fpr], [(1 - share) * (1 - tpr), (1 - share) * tpr]])
    cells = np.array([1.0, 1 / precision - 1, 1 / recall - 1])
    tp, fp, fn = (1 - share) * cells / cells.sum()
    return np.array([[share, fp], [fn, tp]])


def test_covariance_of_the_ellipse_is_the_delta_methods():
    counts = counts_of(201, 55, 41, 203)
    found = bayescm.region(counts, method="ellipse", grid=5).covariance
    sd = bayescm.interval(counts, ["precision", "recall"], "delta")["se"]
    np.testing.assert_allclose(np.sqrt(np.diagonal(found)), sd)
    rng = np.random.default_rng(1)
    drawn = rng.multinomial(500, counts.values.ravel() / 500, 200_000)
    precision, recall = drawn[:, 3] / (drawn[:, 3] + drawn[:, 1]), drawn[:, 3] / (drawn[:, 3] + drawn[:, 2])
    np.testing.assert_allclose(found, np.cov(precision, recall), rtol=0.03)
    assert found.dims == ("metric", "versus")
    curve = bayescm.band(xr.concat([counts], "threshold"), method="ellipse", grid=5)
    np.testing.assert_allclose(curve.covariance.isel(threshold=0), found)
