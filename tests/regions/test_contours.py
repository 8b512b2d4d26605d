"""Outlines and areas of regions, membership, and bootstrap clouds."""

import warnings

import numpy as np
import pytest
import xarray as xr
from matplotlib.path import Path
from scipy import integrate, special

import bayescm
from bayescm.regions import area, bootstrap, contains, contour

LEVELS = (0.683, 0.954, 0.997)
MATRICES = {  # tp, fp, fn, tn
    "urlus": (203, 55, 41, 201), "one_fp": (55, 1, 189, 255), "perfect": (50, 0, 0, 50), "no_fp": (203, 0, 41, 201),
    "tiny": (3, 0, 0, 2), "huge": (10**6,) * 4, "no_tp": (0, 3, 5, 9), "ones": (1, 1, 1, 1), "rare": (5, 200, 3, 10**4),
    "one_item": (1, 0, 0, 0),
}  # fmt: skip


def matrix(name):
    return bayescm.from_cells(**dict(zip(("tp", "fp", "fn", "tn"), MATRICES[name], strict=True)))


def rings(found, **where):
    one = found.sel(**where) if where else found
    names = [name for name in ("recall", "fpr", "precision", "tpr") if name in one]
    return [np.stack([one[name].values[one.ring == k] for name in names], -1) for k in range(int(one.ring.max()) + 1)]


def signed(points):
    x, y = (points - points[0]).T
    return 0.5 * (x[:-1] @ y[1:] - x[1:] @ y[:-1])


def synthetic(height, n=201, **attrs):
    """Return a surface with level = cdf of the square of a height over the plane."""
    t = np.linspace(0, 1, n)
    p, r = np.meshgrid(t, t, indexing="ij")
    level = -np.expm1(-0.5 * height(p, r) ** 2)
    data = xr.Dataset({"level": (("precision", "recall"), level)}, {"precision": t, "recall": t})
    return data.assign_attrs({"complete_level": 0.997, "levels": "[0.683]"} | attrs)


HOLED = synthetic(  # height 1.5155 at the level 0.683: a ring between the radii 0.1 and 0.3, and a disc of radius 0.05
    lambda p, r: np.minimum(
        1.5155 + 10 * (np.abs(np.hypot(p - 0.4, r - 0.4) - 0.2) - 0.1),
        1.5155 + 10 * (np.hypot(p - 0.9, r - 0.9) - 0.05),
    ).clip(0)
)


@pytest.mark.parametrize("space", ["pr", "roc"])
def test_ellipses_have_their_area(space):
    counts = bayescm.from_cells(tp=[203, 55, 2030], fn=[41, 70, 410], fp=[55, 60, 550], tn=[201, 90, 2010])
    found = area(counts, space=space, method="ellipse", levels=[0.3, 0.683])
    tp, fp, fn, tn = (counts.values[:, i, j].astype(float) for i, j in ((1, 1), (0, 1), (1, 0), (0, 0)))
    if space == "pr":
        yy, xx = tp * fp / (tp + fp) ** 3, tp * fn / (tp + fn) ** 3
        xy = tp * fp * fn / (tp + fp) ** 2 / (tp + fn) ** 2
    else:
        yy, xx, xy = tp * fn / (tp + fn) ** 3, fp * tn / (fp + tn) ** 3, 0.0
    c = -2.0 * np.log1p(-found.level.values)
    np.testing.assert_allclose(found.area, np.pi * c * np.sqrt(yy * xx - xy**2)[:, None], rtol=1e-3)
    np.testing.assert_array_equal(found.area_change < 5e-3, True)


@pytest.mark.parametrize("name", ["one_fp", "perfect", "no_fp", "tiny", "ones", "urlus"])
def test_wilks_areas_against_an_integral(name):
    # ROC: the deviance of fpr leaves a limit for that of tpr, whose interval is found by bisection
    tp, fp, fn, tn = MATRICES[name]

    def deviance(k, n, p):
        return 2 * (special.xlogy(k, k / n / p) + special.xlogy(n - k, (n - k) / n / (1 - p)))

    def ends(k, n, limit):
        found = []
        for edge in (1e-15, 1 - 1e-15):
            inside, outside = k / n, edge
            for _ in range(60):
                middle = (inside + outside) / 2
                inside, outside = (middle, outside) if deviance(k, n, middle) <= limit else (inside, middle)
            found.append(inside)
        return found

    found = area(matrix(name), space="roc").area
    for level in LEVELS:
        limit = -2 * np.log1p(-level)

        def width(x, limit=limit):
            low, high = ends(tp, tp + fn, limit - deviance(fp, fp + tn, x))
            return high - low

        low, high = ends(fp, fp + tn, limit)
        estimate = fp / (fp + tn)
        parts = [integrate.quad(width, *sorted(pair), epsrel=1e-6)[0] for pair in ((low, estimate), (estimate, high))]
        assert found.sel(level=level).item() == pytest.approx(sum(parts), rel=2e-3)


def test_a_pr_area_against_a_fine_count_of_points():
    p, r = ((np.arange(2000) + 0.5) / 2000 for _ in "ab")
    surface = bayescm.region(matrix("one_fp"), grid=(p, r))
    found = area(matrix("one_fp"))
    for level in LEVELS:
        counted = (surface.level <= level).mean().item()
        assert found.area.sel(level=level).item() == pytest.approx(counted, rel=3e-3)


@pytest.mark.slow
@pytest.mark.parametrize("space", ["pr", "roc"])
@pytest.mark.parametrize("method", ["wilks", "credible", "ellipse", "exact"])
def test_a_finer_grid_changes_little(method, space):
    for name in MATRICES:
        if method == "exact" and name == "huge":
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = area(matrix(name), method=method, space=space)
        if np.isnan(found.area).all():
            assert method == "ellipse"
            continue
        assert (found.area_change <= 0.005).all()
        assert (np.diff(found.area) >= 0).all()
        if method != "exact":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                finer = area(matrix(name), method=method, space=space, tolerance=0.001)
            np.testing.assert_allclose(found.area, finer.area, rtol=0.005, err_msg=name)


def test_a_hole_and_an_island():
    found = contour(HOLED)
    outer, hole, island = sorted(rings(found, level=0.683), key=lambda ring: (ring[0] > 0.7).all())
    if signed(outer) < 0:
        outer, hole = hole, outer
    np.testing.assert_allclose(
        [signed(outer), signed(hole), signed(island)], np.pi * np.array([0.09, -0.01, 0.0025]), rtol=0.01
    )
    assert found.area.item() == pytest.approx(np.pi * 0.0825, rel=0.01)
    for ring in (outer, hole, island):
        np.testing.assert_array_equal(ring[0], ring[-1])


def test_the_exact_method_has_holes():
    # found by going through all small matrices
    found = contour(bayescm.from_cells(tp=0, fp=2, fn=2, tn=1), method="exact", mid_p=True, levels=[0.683])
    areas = [signed(ring) for ring in rings(found, level=0.683)]
    assert sum(a < -1e-3 for a in areas) == 2
    assert found.area.item() == pytest.approx(sum(areas))


@pytest.mark.parametrize("method", ["wilks", "exact", "credible"])
def test_regions_close_along_the_edge(method):
    found = contour(matrix("perfect"), method=method, levels=[0.954])
    (ring,) = (ring for ring in rings(found, level=0.954) if signed(ring) > 1e-6)
    assert ring.max() == 1.0
    assert [1.0, 1.0] in ring.tolist()
    for side, names in enumerate((("precision", "recall"), ("recall", "precision"))):
        end = ring[ring[:, side] == 1.0, 1 - side].min()  # of the leg along the edge
        for step, inside in ((0.001, True), (-0.001, False)):
            point = {names[0]: end + step, names[1]: 1.0}
            assert contains(matrix("perfect"), method=method, levels=[0.954], **point).contains.item() == inside


def test_the_whole_plane():
    found = contour(bayescm.from_cells(tp=0, fn=0, fp=0, tn=0))
    np.testing.assert_allclose(found.area, 1.0)
    (ring,) = rings(found, level=0.683)
    assert signed(ring) == pytest.approx(1.0)


@pytest.mark.parametrize("method", ["wilks", "credible", "ellipse", "exact"])
@pytest.mark.parametrize("space", ["pr", "roc"])
def test_membership_agrees_with_the_outline(method, space):
    rng = np.random.default_rng(8)
    counts = matrix("urlus") if space == "pr" else matrix("one_fp")
    outline = contour(counts, method=method, space=space, levels=[0.683, 0.954], tolerance=0.001)
    y, x = ("precision", "recall") if space == "pr" else ("tpr", "fpr")
    low, high = outline[[x, y]].min(), outline[[x, y]].max()
    points = {name: rng.uniform(low[name], high[name], 2000) for name in (x, y)}
    inside = contains(counts, levels=[0.683, 0.954], method=method, **points)
    assert inside.contains.dims == ("point", "level")
    for level in (0.683, 0.954):
        odd = np.zeros(2000, int)
        for ring in rings(outline, level=level):
            odd += Path(ring).contains_points(np.stack([points[x], points[y]], -1))
        differ = (odd % 2 == 1) != inside.contains.sel(level=level).values
        assert differ.mean() < (0.01 if method == "exact" else 0.004)  # a jump may be a cell of the grid off
        assert 0.1 < inside.contains.sel(level=level).mean() < 0.9


def test_contains_is_exact_at_the_level_and_false_without_a_region():
    counts = matrix("urlus")
    level = bayescm.regions.region_level(counts, recall=0.85, precision=0.75).level.item()
    found = contains(counts, levels=[level, np.nextafter(level, 0)], recall=0.85, precision=0.75)
    assert found.contains.values.tolist() == [True, False]
    with pytest.warns(UserWarning, match="no ellipse"):
        none = contains(matrix("perfect"), recall=0.9, precision=0.9, method="ellipse")
    assert not none.contains.any()
    assert np.isnan(none.p_value)


def test_batches_keep_dims_and_coordinates():
    counts = bayescm.from_array(
        np.random.default_rng(1).integers(1, 30, (2, 3, 2, 2)), dims=["system", "fold"]
    ).assign_coords(system=["a", "b"], kind=("fold", [5, 6, 7]))
    found = contour(counts, levels=[0.954, 0.5])
    assert found.recall.dims == found.ring.dims == ("system", "fold", "level", "vertex")
    assert found.area.dims == ("system", "fold", "level")
    assert found.level.values.tolist() == [0.954, 0.5]
    assert found.kind.values.tolist() == [5, 6, 7]
    assert found.system.values.tolist() == ["a", "b"]
    one = contour(counts.sel(system="b").isel(fold=2), levels=[0.5])
    same = found.sel(system="b", level=0.5).isel(fold=2)
    assert one.area.item() == same.area.item()
    np.testing.assert_array_equal(one.recall[0], same.recall[: one.sizes["vertex"]])
    lazy = area(counts.chunk({"system": 1}), levels=[0.954, 0.5])
    xr.testing.assert_identical(lazy, area(counts, levels=[0.954, 0.5]))
    xr.testing.assert_identical(lazy.area, found.area)
    inside = contains(counts, recall=[0.5, 0.6], precision=0.5)
    assert inside.contains.dims == ("system", "fold", "point", "level")


def test_a_surface_is_traced_on_its_own_grid():
    counts = bayescm.from_cells(tp=[203, 100], fn=[41, 20], fp=[55, 30], tn=[201, 100])
    surface = bayescm.region(counts, method="credible")
    found, direct = contour(surface), contour(counts, method="credible")
    np.testing.assert_allclose(found.area, direct.area, rtol=0.005)
    assert found.attrs == surface.attrs
    xr.testing.assert_identical(area(surface), found[["area", "area_change", "extent"]])
    assert contour(surface, levels=[0.5]).attrs["levels"] == "[0.5]"
    grids = [area(bayescm.region(counts, grid=n)) for n in (65, 129)]
    change = abs(grids[1].area - grids[0].area) / grids[1].area
    assert (change < 1.2 * grids[1].area_change + 1e-4).all()  # a coarser grid of its own has wider windows


def test_the_outline_of_a_band_unites_regions():
    counts = bayescm.from_cells(tp=[203, 20], fn=[41, 224], fp=[55, 1], tn=[201, 255], dims="threshold")
    band = bayescm.band(counts, grid=1001)
    found = contour(band, levels=[0.683])
    assert found.recall.dims == ("level", "vertex")
    apart = area(counts, levels=[0.683]).area.sum("threshold")
    np.testing.assert_allclose(found.area, apart, rtol=0.01)
    assert len(rings(found, level=0.683)) == 2
    assert found.attrs["band"].startswith("pointwise")


def test_an_ellipse_without_covariance_has_no_outline():
    counts = bayescm.from_cells(tp=[50, 203], fn=[0, 41], fp=[0, 55], tn=[50, 201])
    with pytest.warns(UserWarning, match="1 of 2 matrices have no ellipse") as said:
        found = contour(counts, method="ellipse")
    assert len(said) == 1
    assert np.isnan(found.area[0]).all()
    assert np.isnan(found.area_change[0]).all()
    assert np.isnan(found.recall[0]).all()
    assert (found.ring[0] == -1).all()
    assert (found.area[1] > 0).all()


@pytest.mark.parametrize("prior", ["laplace", 2])
def test_regions_of_highest_density_are_not_cut(prior):
    found = contour(matrix("perfect"), method="credible", ordering="density", prior=prior, levels=[0.997])
    axis = bayescm.regions.grid.axis(501, spacing="edges")
    surface = bayescm.region(
        matrix("perfect"), method="credible", ordering="density", prior=prior, grid=(axis, axis)
    )  # fmt: skip
    assert found.area.item() == pytest.approx(area(surface, levels=[0.997]).area.item(), rel=0.005)


@pytest.mark.slow
def test_simulated_regions_are_reproducible_and_near_the_exact_ones():
    settings = {"levels": [0.954], "tolerance": 0.05}
    first = area(matrix("urlus"), method="simulate", draws=200, random_seed=3, **settings)
    again = area(matrix("urlus"), method="simulate", draws=200, random_seed=3, **settings)
    xr.testing.assert_identical(first, again)
    np.testing.assert_allclose(first.area, area(matrix("urlus"), method="exact", **settings).area, rtol=0.05)


def test_what_is_said_when_a_grid_is_not_enough(monkeypatch):
    counts = matrix("urlus")
    with pytest.warns(UserWarning, match="1 of 1 regions run into the border"):
        found = contour(bayescm.region(counts, levels=[0.954], grid=(np.linspace(0.7, 0.8, 99), np.linspace(0, 1, 99))))
    assert found.precision.max() == 0.8
    with pytest.warns(UserWarning, match="1 of 1 regions hold no point"):
        assert area(bayescm.region(counts, grid=[np.linspace(0, 1, 9)] * 2), levels=[0.01]).area.item() == 0
    monkeypatch.setattr("bayescm.regions.contours._MOST", 129)
    with pytest.warns(UserWarning, match="of 3 regions still changes by up to"):
        area(matrix("one_fp"), method="exact", tolerance=1e-6)


def test_errors():
    counts, surface = matrix("urlus"), bayescm.region(matrix("urlus"))
    for call, error, match in (
        (lambda: contour(surface, levels=[0.999]), ValueError, "`levels` must not exceed 0.997"),
        (lambda: contour(surface, method="exact"), ValueError, "`method` is for counts"),
        (lambda: contour(surface.level), TypeError, "whole Dataset"),
        (lambda: contour(surface.assign_attrs(complete_level=0.5)), ValueError, "must not exceed 0.5"),
        (lambda: contour(xr.Dataset({"x": 1})), ValueError, "`data` must be counts, or a Dataset"),
        (lambda: area(counts, grid=65), ValueError, "`grid` can't be chosen here"),
        (lambda: area(counts, tolerance=0), ValueError, "`tolerance`"),
        (lambda: area(counts, levels=[]), ValueError, "`levels` is empty"),
        (lambda: area(counts, levels=[0.5, 0.5]), ValueError, "`levels` has 0.5 twice"),
        (lambda: area(counts, levels=[1.0]), ValueError, "`levels` must be a number in"),
        (lambda: area(counts, method="wils"), ValueError, "`method` must be one of"),
        (lambda: area(counts, mid_p=True), ValueError, "`mid_p` is for method='exact'"),
        (lambda: contains(counts, recall=0.5), ValueError, "give either `recall` and `precision`"),
        (lambda: contains(counts, recall=xr.DataArray([0.5], dims="level"), precision=0.5), ValueError, "dim 'level'"),
        (lambda: bootstrap(counts, space="p"), ValueError, "`space` must be one of"),
        (lambda: bootstrap(counts, draws=0), ValueError, "`draws` must be a positive"),
        (lambda: bootstrap(np.eye(3, dtype=int)), ValueError, "two labels"),
    ):
        with pytest.raises(error, match=match):
            call()


def test_netcdf_keeps_everything(tmp_path):
    results = {
        "contour": contour(matrix("no_fp")), "area": area(matrix("no_fp")),
        "contains": contains(matrix("no_fp"), recall=[0.8, 0.9], precision=0.99),
        "cloud": bootstrap(matrix("urlus"), draws=10, random_seed=1),
    }  # fmt: skip
    with pytest.warns(UserWarning, match="no ellipse"):
        results["none"] = contour(matrix("perfect"), method="ellipse")
    for name, data in results.items():
        data.to_netcdf(tmp_path / f"{name}.nc")
        with xr.open_dataset(tmp_path / f"{name}.nc") as back:
            xr.testing.assert_identical(back.load(), data)


@pytest.mark.parametrize("space", ["pr", "roc"])
def test_the_cloud_has_the_delta_covariance(space):
    counts = bayescm.from_cells(tp=[2030, 500], fn=[410, 300], fp=[550, 200], tn=[2010, 900])
    cloud = bootstrap(counts, space=space, draws=20_000, random_seed=5)
    y, x = ("precision", "recall") if space == "pr" else ("tpr", "fpr")
    assert cloud[y].dims == ("system", "draw")
    assert not cloud.undefined.any()
    for i, name in enumerate((y, x)):
        value = bayescm.region(counts, space=space, grid=2).point[:, i]
        cells = counts.values.astype(float)
        n = {"precision": cells[:, :, 1].sum(1), "fpr": cells[:, 0].sum(1)}.get(name, cells[:, 1].sum(1))
        variance = value * (1 - value) / n
        error = np.sqrt(variance / 20_000)
        assert (abs(cloud[name].mean("draw") - value) < 5 * error + 1 / n**1.5).all()
        np.testing.assert_allclose(cloud[name].var("draw"), variance, rtol=5 * np.sqrt(2 / 20_000) + 0.005)


def test_clouds_have_a_stream_per_matrix_and_run_lazily():
    counts = bayescm.from_cells(tp=[9, 9, 4], fn=[8, 8, 5], fp=[9, 9, 6], tn=[7, 7, 9])
    cloud = bootstrap(counts, draws=50, random_seed=5)
    assert not (cloud.recall[0] == cloud.recall[1]).all()
    xr.testing.assert_identical(cloud, bootstrap(counts, draws=50, random_seed=5))
    xr.testing.assert_identical(cloud, bootstrap(counts.chunk({"system": 1}), draws=50, random_seed=5).compute())
    assert cloud.attrs["random_seed"] == 5


def test_undefined_resamples_are_told():
    with pytest.warns(UserWarning, match="leave precision in up to .* and recall in up to .* undefined"):
        cloud = bootstrap(bayescm.from_cells(tp=1, fn=1, fp=1, tn=1), draws=4000, random_seed=1)
    for name in ("precision", "recall"):
        share = cloud.undefined.sel(metric=name).item()
        assert share == np.isnan(cloud[name]).mean().item()
        assert share == pytest.approx(1 / 16, abs=5 * np.sqrt(15 / 256 / 4000))
    with pytest.warns(UserWarning, match="100.00%"):
        empty = bootstrap([[0, 0], [0, 0]], draws=10)
    assert (empty.undefined == 1).all()


def test_the_order_of_an_axis_does_not_matter():
    surface = bayescm.region(bayescm.from_cells(tp=20, fn=4, fp=5, tn=20), grid=65)
    back = surface.isel(recall=slice(None, None, -1))
    xr.testing.assert_identical(bayescm.regions.area(surface), bayescm.regions.area(back))
    with pytest.raises(ValueError, match="two points at least"):
        bayescm.regions.area(surface.isel(recall=[3]))


def test_a_region_by_kernels_is_about_that_of_highest_density():
    counts = bayescm.from_cells(tp=203, fn=41, fp=55, tn=201)
    levels = [0.683, 0.954]
    by_kernels = bayescm.region(counts, ordering="kde", levels=levels, grid=65, random_seed=1)
    axes = (by_kernels["precision"].values, by_kernels["recall"].values)
    of_density = bayescm.region(counts, method="credible", ordering="density", levels=levels, grid=axes)
    areas = [bayescm.regions.area(surface)["area"] for surface in (by_kernels, of_density)]
    np.testing.assert_allclose(*areas, rtol=0.04)
    with pytest.raises(ValueError, match="ordering='kde'"):
        bayescm.region(counts, method="wilks", ordering="kde")
