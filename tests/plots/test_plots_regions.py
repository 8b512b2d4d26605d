"""Pictures of regions and bands: contours where the surface has its level, nothing where there is none."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_rgba

import bayescm
from bayescm.plots import visuals

MID = bayescm.from_cells(tn=201, fp=55, fn=41, tp=203)
LOW = bayescm.from_cells(tn=255, fp=1, fn=189, tp=55)
PAIR = bayescm.datasets.caelen2017()
LEVELS = (0.683, 0.954, 0.997)


@pytest.fixture(scope="module")
def curve():
    rng = np.random.default_rng(7)
    positive = np.repeat([0, 1], 60)
    return bayescm.curves.counts_at_thresholds(positive, 1 / (1 + np.exp(0.75 - rng.normal(1.5 * positive))))


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts() if text.get_text().strip()]


def contours(ax):
    return [c for c in ax.collections if type(c).__name__ == "QuadContourSet" and not c.filled]


def shades(ax):
    return [c for c in ax.collections if type(c).__name__ == "QuadContourSet" and c.filled]


def marks(ax):
    return [line for line in ax.lines if line.get_marker() == "o"]


def f1_lines(ax):
    return [text.get_text() for text in ax.texts if text.get_text().startswith("f1=")]


@pytest.mark.parametrize("space", ["pr", "roc"])
def test_contours_are_where_the_region_has_its_level(space):
    ax = bayescm.plots.plot_region(bayescm.region(MID, space=space))
    (found,) = contours(ax)
    names = ("recall", "precision") if space == "pr" else ("fpr", "tpr")
    for path, level in zip(found.get_paths(), LEVELS, strict=True):
        x, y = path.vertices[::7].T
        test = bayescm.regions.region_level(MID, **dict(zip(names, (x, y), strict=True)))
        np.testing.assert_allclose(visuals.smooth(test.level), visuals.smooth(level), atol=3e-3)
    assert len(shades(ax)) == 3
    assert (np.diff(found.get_linewidths()) <= 0).all()


def test_region_says_what_it_shows():
    made = bayescm.region(MID, method="exact", mid_p=True)
    _, mine = plt.subplots()
    ax = bayescm.plots.plot_region(made, ax=mine)
    assert ax is mine
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Recall", "Precision")
    assert ax.get_legend().get_title().get_text() == "exact, mid-p"
    assert legend(ax) == ["68.3%", "95.4%", "99.7%", "estimate"]
    (mark,) = marks(ax)
    np.testing.assert_allclose([mark.get_xdata()[0], mark.get_ydata()[0]], [203 / 244, 203 / 258])
    bare = bayescm.plots.plot_region(made, point=False, legend=False)
    assert bare.get_legend() is None
    assert not marks(bare)


def test_limits_are_those_of_the_largest_contour_shown():
    made = bayescm.region(MID, grid=401)
    wide = bayescm.region(MID, grid=(np.linspace(0, 1, 801), np.linspace(0, 1, 801)))
    for data in (made, wide):
        ax = bayescm.plots.plot_region(data)
        assert 0.72 < ax.get_xlim()[0] < 0.745
        assert 0.90 < ax.get_xlim()[1] < 0.92
    small, large = (np.ptp(bayescm.plots.plot_region(made, levels=level).get_xlim()) for level in (0.5, 0.997))
    assert small < 0.5 * large
    again = bayescm.plots.plot_region(bayescm.region(LOW), ax=ax)
    assert again.get_xlim()[0] < 0.2
    assert again.get_xlim()[1] > 0.9  # what was there before stays in sight


def test_methods_have_the_colours_of_the_paper_and_their_names():
    every = [bayescm.region(MID, method=m) for m in ("wilks", "exact", "credible", "ellipse")]
    ax = bayescm.plots.plot_region(every)
    assert legend(ax)[:4] == ["Wilks", "exact", "credible, Jeffreys prior", "ellipse"]
    drawn = [tuple(c.get_edgecolor()[0]) for c in contours(ax)]
    np.testing.assert_allclose(drawn, [to_rgba(c) for c in ("#0072B2", "0.3", "#009E73", "#D55E00")], atol=0.003)
    assert not shades(ax)
    assert len(marks(ax)) == 1  # all have the same estimate
    handles = [h for h in ax.get_legend().legend_handles if h.get_label().strip()]
    assert len({(h.get_color(), str(h.get_dashes() if hasattr(h, "get_dashes") else "")) for h in handles[:4]}) == 4


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"method": "wilks"}, "Wilks"),
        ({"method": "exact"}, "exact"),
        ({"method": "ellipse", "extra_cov": [[1e-4, 0], [0, 1e-4]]}, "ellipse, covariance added"),
        ({"method": "credible"}, "credible, Jeffreys prior"),
        ({"method": "credible", "prior": 0.3}, "credible, prior 0.3"),
        ({"method": "credible", "prior": [[1, 2], [3, 4]]}, "credible, own prior"),
        ({"method": "credible", "prior": "laplace", "ordering": "density"}, "highest density, Laplace prior"),
        ({"method": "simulate", "draws": 50, "random_seed": 1, "grid": 9}, "simulated"),
    ],
)
def test_the_title_is_the_method_in_words(options, told):
    assert bayescm.plots.plot_region(bayescm.region(MID, **options)).get_legend().get_title().get_text() == told


def test_mappings_batches_and_names():
    priors = {p: bayescm.region(LOW, method="credible", prior=p) for p in ("jeffreys", "laplace")}
    ax = bayescm.plots.plot_region(priors)
    assert legend(ax)[:2] == ["jeffreys", "laplace"]
    assert ax.get_legend().get_title().get_text() == "credible"
    assert legend(bayescm.plots.plot_region({"exact": bayescm.region(LOW, method="exact")}))[0] == "exact"
    batch = bayescm.plots.plot_region(bayescm.region(PAIR), fill=True)
    assert legend(batch)[:2] == ["system A", "system B"]
    assert len(shades(batch)) == 6
    assert len(marks(batch)) == 2
    assert {tuple(to_rgba(m.get_color())) for m in marks(batch)} == {
        tuple(c.get_edgecolor()[0]) for c in contours(batch)
    }
    both = bayescm.plots.plot_region({"a": bayescm.region(PAIR)}, names=["one", "two"])
    assert legend(both)[:2] == ["one", "two"]
    assert legend(bayescm.plots.plot_region({"a": bayescm.region(PAIR)}))[:2] == ["a system A", "a system B"]
    single = bayescm.plots.plot_region(bayescm.region(PAIR.isel(system=[0])))
    assert legend(single)[0] == "system A"
    assert len(shades(single)) == 3


def test_numbers_of_a_batch_are_told_apart():
    close = xr.concat([MID, LOW], "threshold").assign_coords(threshold=[0.9501, 0.9502])
    assert legend(bayescm.plots.plot_region(bayescm.region(close)))[:2] == ["threshold 0.9501", "threshold 0.9502"]


def test_iso_f1_lines():
    ax = bayescm.plots.plot_region(bayescm.region(MID), iso_f1=[0.8, 0.85, 0.1])
    assert f1_lines(ax) == ["f1=0.8", "f1=0.85"]  # 0.1 is out of sight
    lines = [line for line in ax.lines if len(line.get_xdata()) > 20]
    for line, f1 in zip(lines, (0.8, 0.85), strict=True):
        recall, precision = line.get_data()
        np.testing.assert_allclose(2 * recall * precision / (recall + precision), f1)
    assert f1_lines(bayescm.plots.plot_region(bayescm.region(MID)))
    assert not f1_lines(bayescm.plots.plot_region(bayescm.region(MID), iso_f1=False))
    assert not f1_lines(bayescm.plots.plot_region(bayescm.region(MID, space="roc")))
    with pytest.raises(ValueError, match="`iso_f1` is for the PR plane"):
        bayescm.plots.plot_region(bayescm.region(MID, space="roc"), iso_f1=[0.5])
    with pytest.raises(ValueError, match="`iso_f1` must be a number in"):
        bayescm.plots.plot_region(bayescm.region(MID), iso_f1=[1.5])


def test_labels_of_iso_f1_lines_stay_within_the_axes():
    for counts in (MID, LOW, bayescm.from_cells(tn=88, fp=168, fn=2, tp=242)):
        ax = bayescm.plots.plot_region(bayescm.region(counts))
        ax.figure.canvas.draw()
        frame = ax.get_window_extent()
        for text in ax.texts:
            box = text.get_window_extent()
            assert frame.x0 - 2 <= box.x0 <= box.x1 <= frame.x1 + 4
            assert frame.y0 - 2 <= box.y0 <= box.y1 <= frame.y1 + 4


def test_levels_beyond_the_complete_one_are_refused():
    made = bayescm.region(MID, levels=[0.5, 0.9])
    assert legend(bayescm.plots.plot_region(made))[:2] == ["50%", "90%"]
    assert legend(bayescm.plots.plot_region(made, levels=0.8))[0] == "80%"
    with pytest.raises(ValueError, match=r"`levels` must not exceed 0\.9, .*; got 0\.95\..*levels=\[\.\.\., 0"):
        bayescm.plots.plot_region(made, levels=[0.5, 0.95])
    with pytest.raises(ValueError, match="`levels` is empty"):
        bayescm.plots.plot_region(made, levels=[])
    with pytest.raises(ValueError, match="`levels` must be given"):
        bayescm.plots.plot_region({"a": made, "b": bayescm.region(MID)})
    assert legend(bayescm.plots.plot_region({"a": made, "b": bayescm.region(MID)}, levels=[0.9]))[2] == "90%"


@pytest.mark.filterwarnings("ignore:1 of 1 matrices have no ellipse")
def test_nothing_is_drawn_where_nothing_is_known():
    perfect = bayescm.from_cells(tn=9, fp=0, fn=3, tp=7)
    ax = bayescm.plots.plot_region([bayescm.region(perfect), bayescm.region(perfect, method="ellipse")])
    assert legend(ax)[:2] == ["Wilks", "ellipse (no region)"]
    assert len(contours(ax)) == 1
    alone = bayescm.plots.plot_region(bayescm.region(perfect, method="ellipse"), fill=True)
    assert not contours(alone) + shades(alone)
    undefined = bayescm.plots.plot_region(bayescm.region(bayescm.from_cells(tn=9, fp=0, fn=3, tp=0)))
    assert np.isnan(marks(undefined)[0].get_ydata()).all()
    assert "estimate" not in legend(undefined)
    empty = bayescm.region(bayescm.from_cells(tn=9, fp=0, fn=0, tp=0))
    bayescm.plots.plot_region(empty).figure.canvas.draw()


def test_cloud_lies_below_and_in_sight():
    made, draws = bayescm.region(LOW), bayescm.regions.bootstrap(LOW, draws=500, random_seed=1)
    ax = bayescm.plots.plot_region(made, cloud=draws)
    (points,) = [line for line in ax.lines if line.get_rasterized()]
    np.testing.assert_array_equal(points.get_xdata(), draws.recall)
    np.testing.assert_array_equal(points.get_ydata(), draws.precision)
    assert points.get_zorder() < contours(ax)[0].get_zorder()
    assert ax.get_xlim()[0] < draws.recall.min()
    assert "500 bootstrap draws" in legend(ax)
    assert not shades(ax)
    one = draws.copy()
    one["precision"] = one.precision.where(one.draw > 0)
    assert "499 bootstrap draws" in legend(bayescm.plots.plot_region(made, cloud=one))
    with pytest.raises(TypeError, match="`cloud` must be a Dataset of draws of tpr and fpr"):
        bayescm.plots.plot_region(bayescm.region(LOW, space="roc"), cloud=draws)


@pytest.mark.parametrize("space", ["pr", "roc"])
def test_band_shows_the_curve_and_says_pointwise(space, curve):
    made = bayescm.band(curve, space=space, grid=201)
    chosen = bayescm.region(curve.sel(threshold=[0.5, 0.9], method="nearest"), space=space)
    ax = bayescm.plots.plot_band(made, regions=chosen)
    assert ax.get_legend().get_title().get_text() == "Wilks, pointwise"
    names = [f"threshold {t:.3g}" for t in chosen.threshold.values]
    assert legend(ax) == [*names, f"{space.upper()} curve", "68.3%", "95.4%", "99.7%"]
    (line,) = [line for line in ax.lines if line.get_label().endswith("curve")]
    np.testing.assert_array_equal(line.get_xdata(), made.point[:, 1])
    np.testing.assert_array_equal(line.get_ydata(), made.point[:, 0])
    assert to_rgba(line.get_color()) == (0, 0, 0, 1)
    assert len(marks(ax)) == 2
    assert len(contours(ax)) == 3
    assert len(shades(ax)) == 3
    assert [text.get_text() for text in ax.texts] == (["chance"] if space == "roc" else [])
    assert ax.get_xlim()[0] < 0
    assert ax.get_xlim()[1] > 1


def test_band_without_the_rest(curve):
    made = bayescm.band(curve, grid=101)
    ax = bayescm.plots.plot_band(made, curve=False, legend=False, levels=[0.9], fill=False, iso_f1=[0.2, 0.6])
    assert f1_lines(ax) == ["f1=0.2", "f1=0.6"]
    assert ax.get_legend() is None
    assert not shades(ax)
    assert len(contours(ax)[0].levels) == 1
    single = bayescm.region(curve.sel(threshold=0.5, method="nearest"))
    assert legend(bayescm.plots.plot_band(made, regions=single))[0].startswith("threshold 0.")
    assert legend(bayescm.plots.plot_band(made, regions={"mine": single}))[0] == "mine"
    assert legend(bayescm.plots.plot_band(made, regions=bayescm.region(MID)))[0] == "region"
    with pytest.raises(ValueError, match=r"`regions` must be of the plane of `data`, space='pr'"):
        bayescm.plots.plot_band(made, regions=bayescm.region(MID, space="roc"))
    with pytest.raises(ValueError, match=r"`levels` must not exceed 0\.5"):
        bayescm.plots.plot_band(made, regions=bayescm.region(MID, levels=[0.5]))


@pytest.mark.filterwarnings("ignore:.* have no ellipse")
def test_several_bands(curve):
    ax = bayescm.plots.plot_band([bayescm.band(curve, method=m, grid=101) for m in ("wilks", "ellipse")])
    assert legend(ax)[:3] == ["Wilks", "ellipse", "PR curve"]
    assert ax.get_legend().get_title().get_text() == "pointwise"
    assert not shades(ax)
    pair = xr.concat([curve, curve.roll(predicted=1, roll_coords=False)], "system").assign_coords(system=["A", "B"])
    two = bayescm.plots.plot_band(bayescm.band(pair, grid=101))
    assert legend(two)[:2] == ["system A", "system B"]
    assert "PR curve" not in legend(two)
    curves = [line for line in two.lines if len(line.get_xdata()) == curve.sizes["threshold"]]
    assert len({line.get_color() for line in curves}) == 2


def test_a_curve_with_undefined_ends(curve):
    beyond = bayescm.from_array(np.concatenate([[[[60, 0], [60, 0]]], curve.values]), dims=["threshold"])
    ax = bayescm.plots.plot_band(bayescm.band(beyond, grid=101))
    (line,) = [line for line in ax.lines if line.get_label() == "PR curve"]
    assert np.isnan(line.get_ydata()).sum() == 1
    ax.figure.canvas.draw()


def test_what_cannot_be_drawn_is_refused():
    made = bayescm.region(MID, grid=17)
    with pytest.raises(TypeError, match=r"`data` must be what bayescm\.region .*; got a DataArray"):
        bayescm.plots.plot_region(made.level)
    with pytest.raises(TypeError, match="got int"):
        bayescm.plots.plot_region({"a": 3})
    with pytest.raises(ValueError, match="`data` is empty"):
        bayescm.plots.plot_region([])
    with pytest.raises(ValueError, match="at most one batch dim"):
        bayescm.plots.plot_region(bayescm.region(PAIR.expand_dims(fold=2), grid=17))
    with pytest.raises(ValueError, match="batch dim of size 0"):
        bayescm.plots.plot_region(bayescm.region(PAIR, grid=17).isel(system=slice(0)))
    with pytest.raises(ValueError, match="24 surfaces, and more than 8"):
        bayescm.plots.plot_region(bayescm.region(bayescm.datasets.toetsch2021(), grid=17))
    with pytest.raises(ValueError, match="mixes the PR and the ROC plane"):
        bayescm.plots.plot_region({"a": made, "b": bayescm.region(MID, space="roc", grid=17)})
    with pytest.raises(ValueError, match=r"several surfaces of one method \(Wilks; Wilks\); give a mapping"):
        bayescm.plots.plot_region([made, made])
    with pytest.raises(ValueError, match="`names` must be 1 names"):
        bayescm.plots.plot_region(made, names=["a", "b"])


def test_pictures_are_the_same_each_time(tmp_path):
    made = bayescm.region(MID, grid=65)
    pages = []
    for name in ("a", "b"):
        bayescm.plots.plot_region(made).figure.savefig(tmp_path / f"{name}.svg", metadata={"Date": None})
        pages.append(len((tmp_path / f"{name}.svg").read_text()))
        plt.close("all")
    assert pages[0] == pages[1] < 400_000


def test_dask_and_netcdf(tmp_path):
    made = bayescm.region(PAIR, grid=33)
    made.to_netcdf(tmp_path / "region.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "region.nc", engine="h5netcdf", chunks={}) as stored:
        again = contours(bayescm.plots.plot_region(stored))
    for one, other in zip(contours(bayescm.plots.plot_region(made)), again, strict=True):
        for path, copy in zip(one.get_paths(), other.get_paths(), strict=True):
            np.testing.assert_array_equal(path.vertices, copy.vertices)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("facets", [{"cols": ["system"]}, {"aes": {"color": ["system"]}}])
def test_arviz_facets_and_colours(facets):
    import arviz as az

    made = bayescm.region(PAIR)
    data = made[["level", "point"]]
    make = az.PlotCollection.wrap if "cols" in facets else az.PlotCollection.grid
    pc = make(data, backend="matplotlib", **facets)
    pc.map(visuals.level_shades, "shades", data=data[["level"]], levels=LEVELS, store_artist=False)
    pc.map(visuals.level_contours, "contours", data=data[["level"]], levels=LEVELS)
    pc.map(visuals.estimate, "estimate", data=data[["point"]])
    assert pc.viz["contours"]["level"].dims == ("system",)
    for system in ("A", "B"):
        drawn = pc.viz["contours"]["level"].sel(system=system).item()
        alone = contours(bayescm.plots.plot_region(made.sel(system=system)))[0]
        for path, other in zip(drawn.get_paths(), alone.get_paths(), strict=True):
            np.testing.assert_array_equal(path.vertices, other.vertices)
        mark = pc.viz["estimate"]["point"].sel(system=system).item()
        np.testing.assert_array_equal(mark.get_ydata(), made.point.sel(system=system, metric="precision"))
    colours = {tuple(pc.viz["contours"]["level"].sel(system=s).item().get_edgecolor()[0]) for s in ("A", "B")}
    assert len(colours) == (1 if "cols" in facets else 2)


def test_visuals_refuse_other_things():
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match=r"`da` must have the dims \(precision, recall\)"):
        visuals.level_contours(xr.DataArray(np.ones((2, 2)), dims=["a", "b"]), ax, levels=[0.5])
    with pytest.raises(ValueError, match=r"`da` must be of one matrix; it also has the dims \['system'\]"):
        visuals.level_contours(bayescm.region(PAIR, grid=9).level, ax, levels=[0.5])
    flat = xr.DataArray(np.ones((3, 3)), dims=["tpr", "fpr"], coords={"tpr": [0, 0.5, 1], "fpr": [0, 0.5, 1]})
    assert visuals.level_contours(flat, ax, levels=[0.5]) is None
    assert visuals.level_shades(flat, ax, levels=[0.5]) == []


def test_a_synthesis_is_drawn_on_the_roc_plane_as_its_groups_say():
    studies = bayescm.from_cells(tp=[25, 17, 88, 16], fn=[8, 4, 16, 10], fp=[1, 3, 16, 0], tn=[25, 11, 31, 80])
    found = bayescm.synthesis(studies, draws=1000, random_seed=1)
    ax = found.bayescm.plot()
    (circles,) = (one for one in ax.collections if hasattr(one, "get_sizes") and len(one.get_offsets()) == 4)
    np.testing.assert_allclose(circles.get_offsets()[:, 1], [25 / 33, 17 / 21, 88 / 104, 16 / 26])
    np.testing.assert_allclose(circles.get_sizes() / circles.get_sizes().max(), np.array([59, 35, 151, 106]) / 151)
    lines = {line.get_label(): line for line in ax.lines}
    outline = found["prediction"]["outline"].sel(metric="recall").values
    np.testing.assert_allclose(lines["next study, 95%"].get_ydata()[:-1], outline)
    assert lines["summary ROC curve, 95% at each rate"].get_xdata().max() <= 16 / 47
