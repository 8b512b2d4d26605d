"""The plane of the share predicted negative and recall, whose likelihood is maximised over the prevalence."""

import warnings
from itertools import product

import numpy as np
import pytest
import xarray as xr
from scipy import optimize, special
from test_regions import DEGENERATE, counts_of

import bayescm
from bayescm.regions import grid, methods
from bayescm.results.objects import as_result

WILKS = methods.Wilks(grid.PPN)
SPACES = {"pr": ("precision", "recall"), "roc": ("tpr", "fpr"), "ppn": ("ppn", "recall")}


def minimised(cells, ppn, recall):
    """The statistic by a minimisation over the prevalence."""
    most = min((1 - ppn) / recall, ppn / (1 - recall))

    def statistic(prevalence):
        tp, fn = prevalence * recall, prevalence * (1 - recall)
        shares = np.maximum([ppn - fn, 1 - ppn - tp, fn, tp], 0)
        return 2 * (special.xlogy(cells, np.divide(cells, max(sum(cells), 1))) - special.xlogy(cells, shares)).sum()

    ends = statistic(0.0), statistic(most)
    found = optimize.minimize_scalar(statistic, bounds=(0, most), method="bounded", options={"xatol": 1e-12})
    return min(found.fun, *ends)


def test_every_small_table_against_a_minimisation():
    rng = np.random.default_rng(0)
    for cells in [*product(range(3), repeat=4), (201, 55, 41, 203), (10**6, 3, 2, 10**4)]:
        for point in rng.uniform(0.01, 0.99, (3, 2)):
            found = WILKS.deviance(np.array([cells], float), *point[:, None])[0]
            assert found == pytest.approx(minimised(cells, *point), rel=1e-9, abs=1e-6), (cells, point)


@pytest.mark.parametrize("method", ["wilks", "ellipse", "simulate"])
def test_a_surface_has_the_levels_of_its_points(method):
    settings = {"method": method} | ({"draws": 200, "random_seed": 1} if method == "simulate" else {})
    counts = bayescm.from_cells(tp=[26, 5], fn=[2, 8], fp=[3, 1], tn=[6, 80], dims="system")
    surface = bayescm.region(counts, space="ppn", grid=9, **settings)
    assert surface.level.dims == ("system", "ppn", "recall")
    found = bayescm.regions.region_level(counts, ppn=surface.ppn, recall=surface.recall, **settings)
    inside = surface.level < 1
    assert inside.any()
    assert (found.level <= surface.attrs["complete_level"]).where(~inside, False).sum() == 0
    np.testing.assert_allclose(surface.level.where(inside), found.level.where(inside), atol=1e-12)
    np.testing.assert_allclose(surface.point.sel(metric="ppn"), [8 / 37, 88 / 94])
    band = bayescm.band(counts, dim="system", space="ppn", grid=(surface.ppn.values, surface.recall.values), **settings)
    np.testing.assert_allclose(band.level, surface.level.min("system"), atol=1e-12)


def test_fitted_shares_have_the_rates_and_the_statistic():
    test = bayescm.regions.region_level(counts_of(201, 55, 41, 203), ppn=0.45, recall=0.8)
    (tn, fp), (fn, tp) = test.fitted.values
    assert [tn + fn, tp / (tp + fn), tn + fp + fn + tp] == pytest.approx([0.45, 0.8, 1.0])
    assert test.statistic.item() == pytest.approx(minimised((201, 55, 41, 203), 0.45, 0.8))
    assert bayescm.regions.contains(counts_of(201, 55, 41, 203), ppn=0.45, recall=0.8).contains.any()


def test_covariance_and_coverage_of_resamples():
    shares = np.array([0.4, 0.11, 0.08, 0.41])
    drawn = np.random.default_rng(1).multinomial(500, shares, 40_000).astype(float)
    found = methods.Ellipse(grid.PPN, np.zeros((2, 2))).covariance(500 * shares[None])[0]
    np.testing.assert_allclose(found, np.cov(grid.PPN.estimate(drawn).T), rtol=0.03, atol=1e-6)
    q = WILKS.deviance(drawn, np.full(len(drawn), 0.48), np.full(len(drawn), 0.41 / 0.49))
    assert (q < special.chdtri(2, 0.05)).mean() == pytest.approx(0.95, abs=0.006)


def test_boxes_hold_the_region():
    cells = np.array([[6.0, 3.0, 2.0, 9.0]])
    axes = np.linspace(0, 1, 301), np.linspace(0, 1, 301)
    q = WILKS.deviance(cells[0], axes[0][:, None], axes[1])
    (low, high, left, right), inside = WILKS.boxes(cells, 0.95)[0], q <= special.chdtri(2, 0.05)
    rows, columns = axes[0][inside.any(1)], axes[1][inside.any(0)]
    assert [low, high, left, right] == pytest.approx([rows[0], rows[-1], columns[0], columns[-1]], abs=1 / 300)


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_tables(name):
    counts = counts_of(*DEGENERATE[name])
    tn, fp, fn, tp = DEGENERATE[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = bayescm.region(counts, space="ppn", grid=(grid.axis(21), grid.axis(21)))
        ellipse = bayescm.region(counts, space="ppn", method="ellipse")
    assert np.isfinite(data.level).all()
    assert (data.level <= 0.954).any()
    none = min(tp, fn) == 0 or tn + fn == 0 or fp + tp == 0 or tn + fp == 0  # the last: ppn is 1 - recall
    assert bool(np.isnan(ellipse.level).all()) == none
    strip = (np.ptp(data.level.values, axis=1) < 1e-12).all()  # recall is unknown without positives
    assert strip == (tp + fn == 0)
    if not np.isnan(data.point).any():
        at = {"ppn": data.point.values[0], "recall": data.point.values[1]}
        assert bayescm.regions.region_level(counts, **at).level.item() == pytest.approx(0, abs=1e-9)


def test_methods_without_an_answer_say_what_to_take():
    counts = counts_of(5, 3, 2, 6)
    for method in ("exact", "credible"):
        with pytest.raises(ValueError, match="depends on the prevalence"):
            bayescm.region(counts, space="ppn", method=method)
    two = ("predicted_prevalence", "recall")
    other = bayescm.region(counts, space=two, method="credible", draws=20_000, random_seed=1, grid=33)
    assert other.level.dims == two


# ------------------------------------------------------------------------------------------- lazy counts, every method


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("method", ["wilks", "exact", "ellipse", "credible", "density", "simulate"])
def test_lazy_counts_have_the_grid_and_the_levels_of_the_same_counts(space, method):
    if space == "ppn" and method in ("exact", "credible", "density"):
        pytest.skip("refused")
    counts = bayescm.from_cells(tp=[26, 20], fn=[2, 8], fp=[3, 1], tn=[6, 8], dims="system")
    options = {"method": method, "space": space}
    if method == "density":
        options |= {"method": "credible", "ordering": "density", "prior": 2.0}
    if method == "simulate":
        options |= {"draws": 50, "random_seed": 1, "grid": 9}
    lazy = bayescm.region(counts.chunk(system=1), **options)
    assert lazy.level.chunks is not None
    assert lazy.level.dims == ("system", *SPACES[space])
    xr.testing.assert_identical(as_result(lazy.compute()), bayescm.region(counts, **options))


def test_regions_by_draws_of_audits_strata_trees_and_lazy_counts():
    audit = bayescm.audited([[17, 1], [3, 19]], totals=[100, 1900])
    options = {"method": "credible", "draws": 20_000, "random_seed": 1, "grid": 33}
    counts = bayescm.from_cells(tp=26, fn=4, fp=3, tn=60)
    two = ("f1", "accuracy")
    for space, dims in (("pr", ("precision", "recall")), (two, two)):
        found = bayescm.region(audit, space=space, **options)
        assert found.level.dims == dims
        assert float(found.level.min()) < 0.5
        tree = bayescm.region(bayescm.posterior(counts, draws=5000, random_seed=1), space=space, **options)
        assert tree.level.dims == dims
        assert float(tree.level.min()) < 0.5
    eager = bayescm.region(counts, space=two, **options)
    xr.testing.assert_identical(bayescm.region(counts.chunk(), space=two, **options).compute(), eager)
