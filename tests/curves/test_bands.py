"""Bands around curves: what they hold, by definition and by counting draws."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import bayescm
from bayescm.curves import bands


def sample(n=60, mu=1.0, share=0.4, digits=None, seed=0):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    score = rng.normal(mu * y, 1)
    return y, score if digits is None else score.round(digits)


@pytest.fixture(scope="module")
def drawn():
    return bayescm.curve_posterior(*sample(), random_seed=1)


def bounds(made):
    return (made["band"].sel(ci_bound=name) for name in ("lower", "upper"))


@pytest.mark.parametrize(("space", "y", "x"), [("roc", "tpr", "fpr"), ("pr", "precision", "recall")])
def test_a_pointwise_band_is_that_of_quantiles(drawn, space, y, x):
    made = bayescm.curve_band(drawn, method="pointwise", space=space, ci_prob=0.8)
    curves = drawn["posterior"][y].values.reshape(4000, -1)
    assert np.allclose(made["band"].values.T, np.quantile(curves, [0.1, 0.9], axis=0))
    assert np.allclose(made["median"], np.median(curves, axis=0))
    assert made.attrs["statement"] == "pointwise: each point alone"
    assert made["band"].dims == (x, "ci_bound")
    assert made["ci_bound"].attrs["ci_kind"] == "eti"
    assert bayescm.curve_band(drawn, method="whole", space=space)["ci_bound"].attrs["ci_kind"] == "confidence"


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize(("space", "y", "x"), [("roc", "tpr", "fpr"), ("pr", "precision", "recall")])
def test_a_simultaneous_band_holds_that_share_of_the_draws(drawn, space, y, x, level):
    made = bayescm.curve_band(drawn, space=space, ci_prob=level, within=(0.2, 0.8))
    lower, upper = bounds(made)
    inside = (made[x] >= 0.2) & (made[x] <= 0.8)
    assert (lower.notnull() == inside).all()
    curves = drawn["posterior"][y].where(inside, drop=True)
    held = ((curves >= lower) & (curves <= upper)).all(x)
    assert float(held.mean()) >= level
    narrower = bayescm.curve_band(drawn, method="pointwise", space=space, ci_prob=level)
    assert (
        (made["band"].sel(ci_bound="upper") >= narrower["band"].sel(ci_bound="upper") - 0.01).where(inside, True).all()
    )
    assert float(held.mean()) < level + 0.02 or level == 0.5


def test_the_ends_of_the_stretch_belong_to_it(drawn):
    shown = bayescm.curve_band(drawn)["band"].dropna("fpr")["fpr"].values
    assert (shown[0], shown[-1], len(shown)) == (0.05, 0.95, 91)
    given = bayescm.curve_posterior(*sample(), random_seed=1, draws=50, points=np.linspace(0, 1, 101))
    assert bayescm.curve_band(given, within=(0.07, 0.95))["band"].dropna("fpr").sizes["fpr"] == 89


def test_a_shorter_stretch_has_a_narrower_band(drawn):
    wide, short = (bayescm.curve_band(drawn, within=ends).sel(fpr=0.5)["band"] for ends in ((0, 1), (0.4, 0.6)))
    assert float(short.diff("ci_bound").item()) < float(wide.diff("ci_bound").item())


def polygon(y, s):
    """Return the vertices of the empirical curve, by definition."""
    cuts = [np.inf, *np.unique(s)[::-1]]
    return tuple(np.array([(s[y == c] >= cut).mean() for cut in cuts]) for c in (0, 1))


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=3, max_size=16).filter(
        lambda rows: len({y for y, _ in rows}) == 2
    )
)
def test_points_lie_on_the_empirical_curve(rows):
    y, s = (np.array(part, int) for part in zip(*rows, strict=True))
    fpr, tpr = polygon(y, s)
    made = bayescm.curve_posterior(y, s, chains=1, draws=2, points=21, random_seed=1, prevalence=0.5)
    roc = bayescm.curve_band(made, method="whole")
    for x, point in zip(roc["fpr"].values, roc["point"].values, strict=True):
        on = [
            np.interp(x, fpr[i : i + 2], tpr[i : i + 2]) if fpr[i] < fpr[i + 1] else max(tpr[i : i + 2])
            for i in range(len(fpr) - 1)
            if fpr[i] <= x <= fpr[i + 1]
        ]
        assert point == pytest.approx(max(on))
    pr = bayescm.curve_band(made, method="whole", space="pr")
    for recall, point in zip(pr["recall"].values, pr["point"].values, strict=True):
        i = int(np.flatnonzero(tpr >= recall - 1e-12)[0]) - 1
        rate = np.interp(recall, tpr[i : i + 2], fpr[i : i + 2])
        assert point == pytest.approx(recall / (recall + rate))


@pytest.mark.slow
@given(st.integers(0, 10_000))
def test_a_whole_band_holds_every_curve_within_the_distances(seed):
    """Any curve whose distribution functions are nowhere farther than Kolmogorov's distances lies in the band."""
    rng = np.random.default_rng(seed)
    y, s = sample(30, digits=rng.integers(0, 3), seed=seed)
    y[:2] = 0, 1
    fpr, tpr = polygon(y, s)
    made = bayescm.curve_posterior(y, s, chains=1, draws=2, points=41, random_seed=1, prevalence=0.3)
    each = 0.95**0.5
    d0, d1 = (stats.kstwo.ppf(each, n) for n in ((y == 0).sum(), y.sum()))
    f, t = (
        np.maximum.accumulate(np.clip(rates + rng.uniform(-d, d, len(rates)), 0, 1))
        for rates, d in ((fpr, d0), (tpr, d1))
    )
    f[0] = t[0] = 0.0
    f[-1] = t[-1] = 1.0
    close = (np.abs(f - fpr) <= d0 + 1e-12).all() and (np.abs(t - tpr) <= d1 + 1e-12).all()
    assert close  # accumulated maxima keep the distance
    axis = bayescm.curve_band(made, method="whole")
    low, high = (part.values for part in bounds(axis))
    for x, a, b in zip(axis["fpr"].values, low, high, strict=True):
        on = [
            np.interp(x, f[i : i + 2], t[i : i + 2])
            for i in range(len(f) - 1)
            if f[i] <= x <= f[i + 1] and f[i] < f[i + 1]
        ]
        assert all(a - 1e-9 <= value <= b + 1e-9 for value in on)
    plane = bayescm.curve_band(made, method="whole", space="pr")
    low, high = (part.values for part in bounds(plane))
    for r, a, b in zip(plane["recall"].values, low, high, strict=True):
        on = [
            np.interp(r, t[i : i + 2], f[i : i + 2])
            for i in range(len(f) - 1)
            if t[i] <= r <= t[i + 1] and t[i] < t[i + 1]
        ]
        assert all(a - 1e-9 <= 0.3 * r / (0.3 * r + 0.7 * rate) <= b + 1e-9 for rate in on)


def test_an_estimated_prevalence_widens_the_whole_band_of_precision():
    y, s = sample(100)
    share = float(y.mean())
    known, beta, estimated = (
        bayescm.curve_band(
            bayescm.curve_posterior(y, s, prevalence=p, chains=1, draws=10, random_seed=1), method="whole", space="pr"
        )["band"].diff("ci_bound").values.ravel()
        for p in (share, (400 * share, 400 * (1 - share)), None)
    )  # fmt: skip
    assert (estimated >= beta - 1e-12).all()
    assert (beta >= known - 1e-12).all()
    assert (estimated > known + 1e-6).any()


def test_systems_groups_and_differences():
    y, s = sample(60)
    fold = np.arange(60) % 2
    both = bayescm.curve_posterior(y, {"a": s, "b": -s}, by={"fold": fold}, random_seed=1, draws=100)
    made = bayescm.curve_band(both)
    assert made["band"].dims == (*made["point"].dims, "ci_bound") == ("fold", "system", "fpr", "ci_bound")
    one = bayescm.curve_posterior(y[fold == 1], -s[fold == 1], random_seed=1, draws=100)
    alone = bayescm.curve_band(one)
    assert np.allclose(made["point"].sel(fold=1, system="b"), alone["point"])
    with pytest.raises(ValueError, match="two labels of systems"):
        bayescm.curve_band(both, difference="ab")
    two = bayescm.curve_posterior(y, {"a": s, "b": -s}, random_seed=1, draws=100)
    for kind in ("pointwise", "simultaneous"):
        apart = bayescm.curve_band(two, method=kind, difference=("a", "b"))
        assert json.loads(apart.attrs["difference"]) == ["a", "b"]
        assert (apart["median"].sel(fpr=0.5) > 0).all()
    curve = two["posterior"]["tpr"]
    minus = (curve.sel(system="a") - curve.sel(system="b")).median(("chain", "draw"))
    assert np.allclose(apart["median"], minus)


def test_a_part_of_the_tree_keeps_its_items():
    y, s = sample(60)
    fold = np.arange(60) % 2
    both = bayescm.curve_posterior(y, {"a": s, "b": -s}, by={"fold": fold}, random_seed=1, draws=100)
    for kind in ("whole", "simultaneous"):
        made = bayescm.curve_band(both, method=kind)
        for part, where in ((both.isel(fold=1), {"fold": 1}), (both.sel(system="b"), {"system": "b"})):
            alone = bayescm.curve_band(part, method=kind)
            assert np.allclose(alone["point"], made["point"].sel(where))
            assert np.allclose(alone["band"], made["band"].sel(where), equal_nan=True)
    assert "band" in bayescm.curve_band(both.isel(chain=0), method="pointwise")
    apart = bayescm.curve_band(both, difference=("a", "b"))
    assert apart["band"].dims == ("fold", "fpr", "ci_bound")
    with pytest.raises(ValueError, match="has lost which of its groups"):
        bayescm.curve_band(both.isel(fold=1, drop=True))


def test_too_few_draws_are_said():
    made = bayescm.curve_posterior(*sample(), random_seed=1, draws=20, chains=1)
    with pytest.warns(UserWarning, match="20 draws are too few for a band of 0.95"):
        bayescm.curve_band(made)


def test_identical_systems_have_no_difference():
    y, s = sample(40)
    twice = bayescm.curve_posterior(y, {"a": s, "x": -s, "b": np.exp(s)}, random_seed=1)["posterior"]
    at = {"over": "threshold", "points": [1.0, 0.5, -0.2]}
    cuts = bayescm.curve_posterior(y, {"a": s, "x": -s, "b": 2 * s}, random_seed=1, **at)["posterior"]
    assert (cuts["auc"].sel(system="a") == cuts["auc"].sel(system="b")).all()
    assert (cuts["tpr"].sel(system="a", threshold=0.5) == cuts["tpr"].sel(system="b", threshold=1.0)).all()
    assert (twice["auc"].sel(system="a") == twice["auc"].sel(system="b")).all()
    assert (twice["auc"].sel(system="a") != twice["auc"].sel(system="x")).any()
    assert list(twice["system"].values) == ["a", "x", "b"]
    assert (
        twice["auc"].mean(("chain", "draw")).sel(system="x")
        < 0.5
        < twice["auc"].mean(("chain", "draw")).sel(system="b")
    )


def test_a_class_without_items_leaves_everything_possible():
    made = bayescm.curve_posterior([0, 0, 0], [1, 2, 3], labels=[0, 1], random_seed=1)
    for space in ("roc", "pr"):
        whole = bayescm.curve_band(made, method="whole", space=space)
        assert np.isnan(whole["point"]).all()
        assert (whole["band"].values == [0, 1]).all()


def test_labels_of_any_kind():
    y, s = sample(30)
    for labels in (np.where(y == 1, "sick", "well"), y.astype(bool)):
        made = bayescm.curve_posterior(labels, s, random_seed=1, pos_label="sick" if labels.dtype.kind == "U" else None)
        usual = bayescm.curve_posterior(y, s, random_seed=1)
        assert np.allclose(bayescm.curve_band(made)["point"], bayescm.curve_band(usual)["point"])


def test_the_band_of_a_file_is_that_of_the_tree(drawn, tmp_path):
    import xarray as xr

    drawn.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    again = xr.open_datatree(tmp_path / "a.nc", engine="h5netcdf").load()
    for kind in bands.KINDS:
        xr.testing.assert_equal(bayescm.curve_band(again, method=kind), bayescm.curve_band(drawn, method=kind))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "hull"}, "`method` must be one of"), ({"space": "det"}, "`space` must be one of"),
        ({"ci_prob": 95}, "`ci_prob` must be a number"), ({"within": (0.5, 0.2)}, "the smaller first"),
        ({"within": (0.501, 0.502)}, "none of the points"), ({"difference": ("a", "b")}, "two labels of one dim"),
        ({"method": "whole", "difference": ("a", "b")}, "no band of a difference"),
        ({"method": "whole", "within": (0.501, 0.502)}, "none of the points"),
    ],
)  # fmt: skip
def test_options_that_make_no_sense(drawn, options, message):
    with pytest.raises(ValueError, match=message):
        bayescm.curve_band(drawn, **options)


def test_data_that_hold_no_curves():
    other = bayescm.curve_posterior(*sample(), over=None, draws=5, random_seed=1)
    for data in (other, other["posterior"].to_dataset(), None):
        with pytest.raises(ValueError, match="over='rate'"):
            bayescm.curve_band(data)
