"""interval(): numbers, layout, laziness, seeds, what each method refuses and says."""

import itertools
import warnings

import numpy as np
import pytest
import xarray as xr
from scipy import stats
from small import tables

import bayescm
from bayescm.inference import proportions
from bayescm.inference.intervals import METHODS, ON_A_SCALE, PROPORTION, _percentiles, interval
from bayescm.results.objects import as_result

COUNTS = bayescm.from_cells(tp=26, fn=3, fp=2, tn=6)
THREE = bayescm.from_array([[50, 3, 2], [4, 40, 1], [0, 6, 30]], labels=["cat", "dog", "fish"])


def half_length(counts, metric, **settings):
    bounds = interval(counts, metric, "delta", **settings)["interval"]
    return (bounds.sel(ci_bound="upper") - bounds.sel(ci_bound="lower")).values / 2


def quiet(*args, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return interval(*args, **settings)


@pytest.mark.parametrize("method", METHODS)
def test_layout(method):
    counts = bayescm.datasets.toetsch2021()
    d = quiet(counts, ["recall", "f1"], method, ci_prob=0.9, random_seed=1)
    assert d["interval"].dims == d.clipped.dims == ("system", "metric", "ci_bound")
    assert d.point.dims == ("system", "metric")
    assert d.metric.values.tolist() == ["recall", "f1"]
    assert d.ci_bound.values.tolist() == ["lower", "upper"]
    assert d.ci_bound.attrs == {"ci_prob": 0.9, "ci_kind": "confidence"}
    assert d.clipped.dtype == bool
    assert d.doi.dims == ("system",)
    assert ("undefined" in d) == ("random_seed" in d.attrs) == (method == "bootstrap")
    assert (d.attrs["method"], d.attrs["ci_prob"]) == (method, 0.9)
    assert all(v.attrs["long_name"] for v in d.data_vars.values())
    for name, metric in (("recall", 0), ("f1", 1)):
        np.testing.assert_array_equal(d.point[:, metric], bayescm.metrics.evaluate(counts)[name])


TRIALS = {
    "recall": ("tp", "fn"), "specificity": ("tn", "fp"), "precision": ("tp", "fp"), "npv": ("tn", "fn"),
    "fdr": ("fp", "tp"),
}  # fmt: skip


@pytest.mark.parametrize("method", PROPORTION)
@pytest.mark.parametrize("name", TRIALS)
def test_proportions_take_their_own_trials(method, name):
    cells = {"tp": 26, "fn": 3, "fp": 2, "tn": 6}
    k, rest = (cells[cell] for cell in TRIALS[name])
    d = interval(bayescm.from_cells(**cells), name, method)
    raw = np.array(getattr(proportions, method)(k, k + rest))
    np.testing.assert_array_equal(d["interval"][0], raw.clip(0, 1))
    np.testing.assert_array_equal(d.clipped[0], [raw[0] < 0, raw[1] > 1])


def test_credible_oracles_are_clipped_and_it_is_said(oracle):
    expected = oracle("credible.agresti_coull")["expected"]
    d = interval(bayescm.from_cells(tp=[10, 0], fn=[0, 10], fp=1, tn=1), "recall", "agresti_coull")
    np.testing.assert_allclose(d["interval"][:, 0], np.clip([expected["10,0"], expected["0,10"]], 0, 1))
    assert d.clipped[:, 0].values.tolist() == [[False, True], [True, False]]


@pytest.mark.parametrize("method", PROPORTION)
def test_f1_is_the_jaccard_interval_mapped(method):
    counts = bayescm.from_array(tables(5)[1:], dims="table")
    d = quiet(counts, ["jaccard", "f1"], method)
    jaccard = d["interval"].sel(metric="jaccard")
    np.testing.assert_allclose(d["interval"].sel(metric="f1"), 2 * jaccard / (1 + jaccard), atol=1e-15)
    xr.testing.assert_equal(*(d.clipped.sel(metric=name, drop=True) for name in ("f1", "jaccard")))
    defined = d.sel(metric="f1").where(d.point.sel(metric="f1").notnull(), drop=True)
    assert (defined["interval"].sel(ci_bound="lower") <= defined.point + 1e-15).all()
    assert (defined["interval"].sel(ci_bound="upper") >= defined.point - 1e-15).all()


def test_a_bound_at_the_end_of_the_range_is_not_clipped():
    d = interval(bayescm.from_cells(tp=[0, 9], fn=[9, 0], fp=1, tn=1), "recall", "wilson")
    assert d["interval"][0, 0, 0] == 0
    assert d["interval"][1, 0, 1] == 1
    assert not d.clipped.any()


def test_wald_far_below_zero_is_clipped_before_it_is_mapped():
    d = interval(bayescm.from_cells(tp=1, fn=1, fp=0, tn=0), "f1", "wald", ci_prob=0.9999)  # Jaccard's bound is -0.88
    assert d["interval"].values.tolist() == [[0.0, 1.0]]
    d = interval(bayescm.from_cells(tp=1, fn=1, fp=0, tn=0), "f1", "wald", ci_prob=1 - 1e-9)  # -1.7, beyond the pole
    assert d["interval"].values.tolist() == [[0.0, 1.0]]
    assert d.clipped.all()


def test_more_than_two_labels():
    d = interval(THREE, ["accuracy", "error_rate", "recall", "f1_micro"])
    assert d.metric.values.tolist() == [
        "accuracy",
        "error_rate",
        "recall[cat]",
        "recall[dog]",
        "recall[fish]",
        "f1_micro",
    ]
    assert d.class_label.values.tolist() == ["", "", "cat", "dog", "fish", ""]
    np.testing.assert_array_equal(d["interval"][0], np.array(proportions.wilson(120, 136)))
    np.testing.assert_allclose(d["interval"][1], 1 - d["interval"][0][::-1], rtol=1e-12)
    np.testing.assert_array_equal(d["interval"][3], np.array(proportions.wilson(40, 45)))
    np.testing.assert_array_equal(d["interval"][5], d["interval"][0])
    for method in ("delta", "bootstrap"):
        every = quiet(THREE, None, method, random_seed=1)
        assert every.metric.values.tolist() == bayescm.summary(THREE, draws=1000).metric.values.tolist()


@pytest.mark.parametrize("method", PROPORTION)
def test_only_proportions(method):
    with pytest.raises(ValueError, match=r"`method`='.*matthews_correlation is none.*bootstrap.*summary"):
        interval(COUNTS, ["recall", "mcc"], method)
    with pytest.raises(ValueError, match="precision_macro is none"):
        interval(THREE, "precision_macro", method)
    assert interval(COUNTS, {"sensitivity": "recall"}, method).metric.item() == "sensitivity"


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"`method` must be one of 'wald', 'wilson'.*got 'score'"):
        interval(COUNTS, "recall", "score")
    with pytest.raises(ValueError, match="`ci_prob` must be a number in"):
        interval(COUNTS, "recall", ci_prob=95)
    with pytest.raises(ValueError, match="`draws` must be at least 1000"):
        interval(COUNTS, "mcc", "bootstrap", draws=100)
    with pytest.raises(TypeError, match="`random_seed`"):
        interval(COUNTS, "mcc", "bootstrap", random_seed="x")
    with pytest.raises(ValueError, match="has no 'accurcy'"):
        interval(COUNTS, "accurcy")
    for bad, kind in ((-1, ValueError), (0.5, ValueError), (np.nan, ValueError), ("a", TypeError)):
        with pytest.raises(kind, match="`counts`"):
            interval([[bad, 1], [2, 3]], "recall")
    with pytest.raises(ValueError, match="empty"):
        interval(np.zeros((0, 2, 2)), "recall")
    assert interval([[6.0, 2.0], [3.0, 26.0]], "recall").equals(interval(COUNTS, "recall"))


def test_delta_of_a_rate_is_wald():
    cells = {"tp": 26, "fn": 3, "fp": 2, "tn": 6}
    k, n = np.array([26, 26, 6, 32]), np.array([29, 28, 8, 37])
    z = stats.norm.ppf(0.975)
    found = half_length(bayescm.from_cells(**{c: 100 * v for c, v in cells.items()}), ["tpr", "ppv", "tnr", "acc"])
    np.testing.assert_allclose(found, z * np.sqrt(k / n * (1 - k / n) / (100 * n)), rtol=1e-9)


def test_delta_of_correlations_in_closed_form():
    counts = bayescm.from_cells(tp=203, fn=41, fp=55, tn=201)
    p = np.array([[201, 55], [41, 203]]) / 500
    row, column, agree = p.sum(1), p.sum(0), np.trace(p)
    expected = row @ column
    kappa = (agree - expected) / (1 - expected)
    # Fleiss, Cohen and Everitt 1969
    terms = p * (np.eye(2) - (row[None, :] + column[:, None]) * (1 - kappa)) ** 2
    variance = (terms.sum() - (kappa - expected * (1 - kappa)) ** 2) / (1 - expected) ** 2 / 500
    # Bishop, Fienberg and Holland 1975, eq. 11.2-17: variance of phi
    phi = np.linalg.det(p) / np.sqrt(row.prod() * column.prod())
    tilt = (row[0] - row[1]) * (column[0] - column[1]) / np.sqrt(row.prod() * column.prod())
    skew = (row[0] - row[1]) ** 2 / row.prod() + (column[0] - column[1]) ** 2 / column.prod()
    of_phi = (1 - phi**2 + phi * (1 + phi**2 / 2) * tilt - 0.75 * phi**2 * skew) / 500
    found = half_length(counts, ["kappa", "mcc"]) / stats.norm.ppf(0.975)
    np.testing.assert_allclose(found, np.sqrt([variance, of_phi]), rtol=1e-9)


def test_urlus_variances_oracle(oracle):
    entry = oracle("mmu.bvn_cov.pr")
    tn, fp, fn, tp = entry["inputs"]["cm"]
    found = half_length(bayescm.from_cells(tp=tp, fn=fn, fp=fp, tn=tn), ["precision", "recall"])
    np.testing.assert_allclose((found / stats.norm.ppf(0.975)) ** 2, np.diag(entry["expected"]), rtol=1e-9)


def test_takahashi_oracle(oracle):
    entry = oracle("field.28")
    want = entry["expected"]
    d = quiet(entry["inputs"]["matrix"], ["f1_macro", "precision_macro", "recall_macro", "f1_micro", "f1"], "delta",
              ci_prob=0.3)  # short enough that nothing is clipped  # fmt: skip
    errors = (d["interval"][:, 1] - d["interval"][:, 0]) / 2 / stats.norm.ppf(0.65)
    names = ("se_macro_f1", "se_macro_precision", "se_macro_recall", "se_micro_f1")
    np.testing.assert_allclose(errors, [*(want[name] for name in names), *want["se_f1"]], atol=entry["tolerance"])
    assert d.point[0] == pytest.approx(want["macro_f1"])


def test_delta_of_functions():
    def log_odds_ratio(tp, fn, fp, tn):
        return np.log(tp * tn / (fn * fp))

    def share(matrix):
        return matrix[..., 0, 0] / matrix.sum((-2, -1))

    def hits(tp):
        return tp

    woolf = np.sqrt(1 / 26 + 1 / 3 + 1 / 2 + 1 / 6)
    found = half_length(COUNTS, [log_odds_ratio, share, hits]) / stats.norm.ppf(0.975)
    np.testing.assert_allclose(found, [woolf, np.sqrt(6 / 37 * 31 / 37 / 37), np.sqrt(26 * 11 / 37) / 37], rtol=1e-9)


def test_delta_at_empty_cells():
    counts = bayescm.from_cells(tp=20, fn=4, fp=0, tn=20)
    smooth = interval(counts, ["recall", "mcc", "f1", "kappa", "lr-"], "delta")
    assert np.isfinite(smooth["interval"]).all()
    with pytest.warns(UserWarning, match="prevalence_threshold, positive_likelihood_ratio doesn't exist"):
        rough = interval(counts, ["prevalence_threshold", "lr+"], "delta")
    assert np.isnan(rough["interval"]).all()
    assert not rough.clipped.any()
    with pytest.warns(UserWarning, match="precision_macro doesn't exist"):  # b is never predicted: a jump
        interval([[5, 0, 1], [2, 0, 3], [1, 0, 9]], "precision_macro", "delta")


def test_an_empty_cell_weighs_what_a_nearly_empty_one_does():
    """The standard error at FP = 0 is the limit for FP -> 0 at the same shares."""
    names = ["mcc", "kappa", "f1", "markedness"]
    empty = half_length(bayescm.from_cells(tp=600, fn=200, fp=0, tn=900), names)
    nearly = half_length(bayescm.from_cells(tp=600_000_000, fn=200_000_000, fp=1, tn=900_000_000), names)
    np.testing.assert_allclose(empty, nearly * 1000, rtol=1e-3)


@pytest.mark.parametrize("method", ["wald", "delta", "bootstrap"])
def test_a_perfect_classifier_has_no_length_and_it_is_said(method):
    with pytest.warns(UserWarning, match=f"The {method} interval of recall, accuracy has no length.*wilson"):
        d = interval(bayescm.from_cells(tp=20, fn=0, fp=0, tn=20), ["recall", "accuracy"], method, random_seed=1)
    assert (d["interval"] == 1).all()


def test_rounding_is_no_variation():
    with pytest.warns(UserWarning, match="has no length"):
        d = interval(COUNTS, lambda tp: (0.1 * tp + 0.2 * tp) / tp * 1e3, "delta")
    assert d["interval"][0, 0] == d["interval"][0, 1]


@pytest.mark.parametrize("method", ["wilson", "clopper_pearson", "jeffreys", "likelihood_ratio", "agresti_coull"])
def test_a_perfect_classifier_is_uncertain(method):
    d = interval(bayescm.from_cells(tp=20, fn=0, fp=0, tn=20), ["recall", "f1"], method)
    assert (d["interval"][:, 0] < 0.96).all()
    assert (d["interval"][:, 1] == 1).all()


def test_a_missing_class():
    counts = bayescm.from_cells(tp=0, fn=0, fp=2, tn=6)
    assert np.isnan(interval(counts, "recall", "wald")["interval"]).all()
    for method in ("wilson", "clopper_pearson", "likelihood_ratio", "agresti_coull"):
        d = interval(counts, "recall", method)
        assert np.isnan(d.point).all()
        np.testing.assert_allclose(d["interval"][0], [0, 1], atol=1e-15)
    assert np.isnan(interval(counts, ["recall", "mcc"], "delta")["interval"]).all()
    with pytest.warns(UserWarning, match=r"leaves out up to 100.00% of the resamples"):
        d = interval(counts, "recall", "bootstrap", random_seed=1)
    assert d.undefined == 1
    assert np.isnan(d["interval"]).all()


def test_no_items_at_all():
    nothing = bayescm.from_cells(tp=0, fn=0, fp=0, tn=0)
    for method in METHODS:
        d = quiet(nothing, ["recall", "accuracy", "f1"], method, random_seed=1)
        assert np.isnan(d.point).all()
        assert np.isnan(d["interval"]).all() == (method in ("wald", "delta", "bootstrap"))


def test_every_small_table_has_an_answer():
    counts = bayescm.from_array(tables(5), dims="table")
    for method in METHODS:
        d = quiet(counts, None if method in ("delta", "bootstrap") else ["tpr", "ppv", "f1"], method, random_seed=1)
        lower, upper = d["interval"].transpose("ci_bound", ...).values
        there = ~np.isnan(lower)
        assert (lower <= upper)[there].all()
        assert (there == ~np.isnan(upper)).all()
        if method in PROPORTION[1:]:
            assert there.all()


def exact_bootstrap(counts, function, ci_prob):
    """Enumerate every resample: its metric's percentiles, and the probability that it is undefined."""
    n = int(counts.sum())
    resamples = np.array([r for r in itertools.product(range(n + 1), repeat=4) if sum(r) == n]).reshape(-1, 2, 2)
    mass = stats.multinomial.pmf(resamples.reshape(-1, 4), n, np.asarray(counts).ravel() / n)
    with np.errstate(all="ignore"):
        values = function(resamples)
    bad = np.isnan(values)
    order = np.argsort(values[~bad])
    cdf = np.cumsum(mass[~bad][order]) / mass[~bad].sum()
    return values[~bad][order], cdf, mass[bad].sum()


def test_bootstrap_against_every_resample():
    counts = bayescm.from_cells(tp=4, fn=1, fp=2, tn=3)
    draws, prob = 200_000, 0.8
    d = quiet(counts, ["mcc", "recall"], "bootstrap", ci_prob=prob, draws=draws, random_seed=3)
    for i, name in enumerate(["matthews_correlation", "recall"]):
        values, cdf, undefined = exact_bootstrap(
            counts, lambda m, name=name: bayescm.metrics.evaluate(bayescm.from_array(m), name)[name].values, prob
        )
        error = 5 * np.sqrt(0.25 / draws)
        for bound, share in zip(d["interval"][i].values, ((1 - prob) / 2, (1 + prob) / 2), strict=True):
            below, upto = cdf[values < bound - 1e-12].max(initial=0), cdf[values <= bound + 1e-12].max()
            assert below - error <= share <= upto + error
        assert d.undefined[i].item() == pytest.approx(undefined, abs=5 * np.sqrt(undefined / draws))


def test_percentiles_are_the_smallest_values_that_reach_the_share():
    values = np.array([*range(40, 0, -1), *[np.nan] * 10])
    lower, upper, se, undefined = _percentiles(values[:, None], 0.9)
    assert (lower, upper) == (2, 38)  # 0.05 and 0.95 of 40
    assert se == pytest.approx(np.arange(1, 41).std(ddof=1))
    assert undefined == pytest.approx(0.2)
    assert _percentiles(np.arange(1.0, 101.0), 0.5)[:2] == (25, 75)


def test_bootstrap_bounds_are_values_of_resamples():
    d = interval(bayescm.from_cells(tp=20, fn=4, fp=1, tn=20), "lr+", "bootstrap", random_seed=1)
    assert d["interval"].values[0, 1] == np.inf  # no interpolation: inf - inf would be NaN
    assert np.isfinite(d["interval"].values[0, 0])


def test_bootstrap_of_many_items_is_delta():
    counts = bayescm.from_cells(tp=4000, fn=900, fp=700, tn=3000)
    names = ["mcc", "f1", "kappa"]
    d = interval(counts, names, "bootstrap", draws=40_000, random_seed=1)["interval"]
    np.testing.assert_allclose((d[:, 1] - d[:, 0]) / 2, half_length(counts, names), rtol=0.03)


@pytest.mark.parametrize("method", METHODS)
def test_batches_lazy_or_not_equal_one_by_one(method):
    counts = bayescm.from_array(np.arange(1, 25).reshape(2, 3, 2, 2), dims=("system", "fold"))
    names = ["recall", "f1"] if method in (*PROPORTION, *ON_A_SCALE) else ["recall", "mcc"]
    whole = quiet(counts, names, method, random_seed=7)
    assert whole["interval"].dims == ("system", "fold", "metric", "ci_bound")
    one = quiet(counts.isel(system=0, fold=0), names, method, random_seed=7)
    np.testing.assert_array_equal(whole["interval"][0, 0], one["interval"])
    for chunks in ({"system": 1}, {"fold": 2}, {"actual": 1, "fold": 1}):
        lazy = interval(counts.chunk(chunks), names, method, random_seed=7)
        assert lazy["interval"].chunks is not None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            xr.testing.assert_equal(lazy.compute(), whole)


def test_seeds():
    free = interval(COUNTS, "f1", "bootstrap")
    again = interval(COUNTS, "f1", "bootstrap", random_seed=free.attrs["random_seed"])
    xr.testing.assert_identical(free, again)
    two = bayescm.from_array([COUNTS, COUNTS])
    d = interval(two, "f1", "bootstrap", random_seed=1)
    assert not d["interval"][0].equals(d["interval"][1])


def test_a_billion():
    counts = bayescm.from_cells(tp=10**9, fn=3, fp=10**9 // 3, tn=10**9)
    for method in METHODS:
        d = interval(counts, ["recall", "precision", "f1"], method, random_seed=1)
        assert np.isfinite(d["interval"]).all()
        assert (d["interval"][:, 0] < d.point).all()
        assert (d["interval"][:, 1] > d.point).all()
    wald = stats.norm.ppf(0.65) * np.sqrt(3.0) / 1e9
    np.testing.assert_allclose(half_length(counts, "recall", ci_prob=0.3), wald, rtol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_saved_and_read_again(method, tmp_path):
    d = interval(COUNTS, "recall", method, random_seed=1)
    d.to_netcdf(tmp_path / "d.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "d.nc", engine="h5netcdf") as file:
        xr.testing.assert_identical(as_result(file.load()), d)


def test_standard_errors_where_the_method_has_one():
    counts = bayescm.from_cells(tp=400, fn=90, fp=70, tn=300)
    names = ["recall", "f1", "mcc"]
    delta = interval(counts, names, "delta")
    half = stats.norm.isf(0.025) * delta["se"]
    np.testing.assert_allclose(delta["interval"].diff("ci_bound").squeeze(), 2 * half)
    assert float(delta["se"].sel(metric="recall")) == pytest.approx(np.sqrt(400 * 90 / 490**3))
    wald = interval(counts, names[:2], "wald")["se"]
    assert float(wald[0]) == pytest.approx(float(delta["se"][0]))
    j = 400 / 560  # F1 = 2J/(1 + J)
    assert float(wald[1]) == pytest.approx(np.sqrt(j * (1 - j) / 560) * 2 / (1 + j) ** 2)
    drawn = interval(counts, names, "bootstrap", draws=20_000, random_seed=1)["se"]
    np.testing.assert_allclose(drawn, delta["se"], rtol=0.05)  # 7 of its standard errors
    assert "se" not in interval(counts, "recall", "wilson")
    assert interval(counts, "recall", "wald").bayescm.table().columns.tolist() == ["point", "lower", "upper", "se"]


def test_standard_errors_of_degenerate_tables():
    empty = bayescm.from_cells(tp=0, fn=0, fp=3, tn=5)
    for method in ("wald", "delta"):
        assert np.isnan(quiet(empty, "recall", method)["se"]).all()
        assert quiet(bayescm.from_cells(tp=5, fn=0, fp=3, tn=5), "recall", method)["se"].item() == 0
    infinite = quiet(bayescm.from_cells(tp=20, fn=4, fp=1, tn=20), "lr+", "bootstrap", random_seed=1)
    assert np.isnan(infinite["se"]).all()


@pytest.mark.parametrize(
    ("name", "own"), [("exact", "clopper_pearson"), ("beta", "clopper_pearson"), ("normal", "wald")]
)
def test_methods_by_the_names_of_others(name, own):
    theirs = interval(COUNTS, "precision", name)
    xr.testing.assert_identical(theirs, interval(COUNTS, "precision", own))
    assert theirs.attrs["method"] == own


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("side", ["lower", "upper"])
def test_one_bound_is_that_of_the_interval_with_both_ends_cut(method, side):
    counts = bayescm.from_array(np.stack([THREE.values, THREE.values.T]), dims="system", labels=[0, 1, 2])
    metrics = ["recall", "accuracy"] + ["matthews_correlation"] * (method not in (*PROPORTION, *ON_A_SCALE))
    one = quiet(counts, metrics, method, bound=side, ci_prob=0.975, random_seed=1)
    level = 0.975 if method == "anytime" else 0.95  # both of its bounds hold at once
    both = quiet(counts, metrics, method, ci_prob=level, random_seed=1)
    other = {"lower": "upper", "upper": "lower"}[side]
    assert one["interval"].dims == both["interval"].dims
    np.testing.assert_allclose(one["interval"].sel(ci_bound=side), both["interval"].sel(ci_bound=side), rtol=1e-12)
    end = [
        {"lower": -1, "upper": 1}[other] if m == "matthews_correlation" else other == "upper" for m in one.metric.values
    ]
    np.testing.assert_array_equal(one["interval"].sel(ci_bound=other), np.broadcast_to(end, (2, len(end))))
    assert not one.clipped.sel(ci_bound=other).any()
    assert one.attrs["bound"] == side
    assert one.attrs["ci_prob"] == one.ci_bound.attrs["ci_prob"] == 0.975
    assert "bound" not in both.attrs


def test_one_bound_of_clopper_and_pearson_is_the_rule_of_three_and_keeps_its_level():
    counts = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
    low = interval(counts, "recall", "clopper_pearson", bound="lower")["interval"].values[0]
    np.testing.assert_allclose(low, [0.05 ** (1 / 26), 1])
    n, k, p = 30, np.arange(31.0), np.linspace(0.001, 0.999, 400)
    bound, _ = proportions.clopper_pearson(k, np.full(31, 30.0), 0.9)
    assert ((stats.binom.pmf(k[:, None], n, p) * (bound[:, None] <= p)).sum(0) >= 0.95 - 1e-9).all()


def test_one_bound_says_so_and_has_a_level_above_a_half():
    counts = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
    assert interval(counts, "precision", bound="lower").bayescm.sentence == "Precision is 0.93 (95%: at least 0.81)."
    assert "at most" in interval(counts, ["precision", "npv"], bound="upper").bayescm.sentence
    with pytest.raises(ValueError, match=r"above 0\.5 for one bound"):
        interval(counts, "recall", bound="lower", ci_prob=0.5)
    with pytest.raises(ValueError, match="`bound` must be one of"):
        interval(counts, "recall", bound="left")
    none = quiet(bayescm.from_cells(tp=0, fn=0, fp=2, tn=6), "recall", "wald", bound="lower")
    assert np.isnan(none["interval"]).all()
    lazy = interval(counts.expand_dims(chunk=2).chunk(chunk=1), "recall", bound="upper")
    np.testing.assert_allclose(lazy["interval"].compute(), [[[0, 1]]] * 2)
