"""Metrics at other prevalences: against Bayes' formula, integrals over the prevalence, and joint draws."""

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import bayescm
from bayescm.results.objects import as_result

COUNTS = bayescm.from_cells(tp=90, fn=10, fp=5, tn=95)
FEW = bayescm.from_cells(tp=7, fn=1, fp=2, tn=15)
RATES = bayescm.from_cells(tp=[9, 5], fn=[1, 4], fp=[2, 0], tn=[15, 12], dims="system")


def sampled(counts, n, seed=1):
    """Return recall and FPR of independent draws under Jeffreys, by SciPy."""
    (tn, fp), (fn, tp) = counts.values + 0.5
    rng = np.random.default_rng(seed)
    return stats.beta(tp, fn).rvs(n, rng), stats.beta(fp, tn).rvs(n, rng)


@pytest.mark.parametrize("counts", [COUNTS, FEW])
@pytest.mark.parametrize(
    ("metric", "ratio", "from_ratio"),
    [
        ("precision", "lr+", lambda lr, p: p * lr / (p * lr + 1 - p)),
        ("npv", "lr-", lambda lr, p: (1 - p) / (p * lr + 1 - p)),
    ],
)
def test_quantiles_are_those_of_the_likelihood_ratio(counts, metric, ratio, from_ratio):
    p = np.array([0.001, 0.2, 0.7, 0.99])
    found = bayescm.planning.at_prevalences(counts, metric, p).isel(metric=0)
    dist = bayescm.metric_distribution(counts, ratio)
    ends = dist.ppf([0.025, 0.5, 0.975]).values
    wanted = np.sort(from_ratio(ends, p[:, None]), axis=1)
    np.testing.assert_allclose(found["interval"], wanted[:, [0, 2]], rtol=1e-5)
    np.testing.assert_allclose(found["median"], wanted[:, 1], rtol=1e-5)


def test_a_known_prevalence_is_that_of_summary():
    found = bayescm.planning.at_prevalences(RATES, ["f1", "mcc"], [0.1, 0.3], ci_prob=0.9)
    for p in (0.1, 0.3):
        one = bayescm.summary(RATES, ["f1", "mcc"], prevalence=p, ci_prob=0.9)
        for name in ("point", "mean", "sd", "interval", "ci_kind", "method"):
            assert np.array_equal(found[name].sel(prevalence=p), one[name]), name
    assert found["interval"].dims == ("system", "prevalence", "metric", "ci_bound")


@pytest.mark.slow
def test_an_uncertain_prevalence_is_averaged_over():
    found = bayescm.planning.at_prevalences(FEW, ["precision", "npv"], (3, 17))
    p = stats.beta(3, 17).ppf((np.arange(400) + 0.5) / 400)
    for metric in ("precision", "negative_predictive_value"):
        one = found.sel(metric=metric).isel(prevalence=0)
        dists = [bayescm.metric_distribution(FEW, metric, prevalence=float(value)) for value in p]
        below = np.mean([dist.cdf(one["interval"].values).values for dist in dists], axis=0)
        np.testing.assert_allclose(below, [0.025, 0.975], atol=2e-4)
        assert float(one["mean"]) == pytest.approx(np.mean([float(dist.mean()) for dist in dists]), abs=2e-4)
    assert found.prevalence.item() == pytest.approx(0.15)
    assert found.prevalence_distribution.item() == "Beta(3, 17)"


def test_an_uncertain_prevalence_has_the_wider_interval():
    found = bayescm.planning.at_prevalences(COUNTS, "precision", [0.02, (2, 98)])
    known, uncertain = found["width"].values[:, 0]
    assert uncertain > 1.5 * known


def test_bands_of_precision_and_npv_hold_at_all_prevalences_together():
    found = bayescm.planning.at_prevalences(FEW)
    assert found["simultaneous"].values.all()
    recall, fpr = sampled(FEW, 200_000)
    p = found.prevalence.values[:, None]
    curves = {
        "precision": p * recall / (p * recall + (1 - p) * fpr),
        "negative_predictive_value": (1 - p) * (1 - fpr) / (p * (1 - recall) + (1 - p) * (1 - fpr)),
    }
    for metric, curve in curves.items():
        lower, upper = found["interval"].sel(metric=metric).values.T[..., None]
        inside = (curve >= lower) & (curve <= upper)
        assert inside.all(0).mean() == pytest.approx(0.95, abs=0.002)
        assert inside.all(0).mean() == pytest.approx(inside[30].mean(), abs=1e-4)  # all of the curve, or none


def test_other_bands_do_not():
    found = bayescm.planning.at_prevalences(FEW, "accuracy")
    assert not found["simultaneous"].item()
    recall, fpr = sampled(FEW, 50_000)
    p = found.prevalence.values[:, None]
    curve = p * recall + (1 - p) * (1 - fpr)
    lower, upper = found["interval"].isel(metric=0).values.T[..., None]
    assert ((curve >= lower) & (curve <= upper)).all(0).mean() < 0.93
    assert not bayescm.planning.at_prevalences(FEW, ci_kind="hdi", prevalence=[0.1, 0.2])["simultaneous"].any()
    assert not bayescm.planning.at_prevalences(FEW, prevalence=[0.1, (1, 9)])["simultaneous"].any()


def test_the_prevalence_of_the_counts_and_undefined_points():
    counts = bayescm.from_cells(tp=[3, 0, 0], fn=[1, 0, 0], fp=[2, 1, 0], tn=[2, 9, 0], dims="dataset")
    found = bayescm.planning.at_prevalences(counts, prevalence=0.2)
    assert found["observed_prevalence"].values == pytest.approx([0.5, 0.0, np.nan], nan_ok=True)
    assert np.isnan(found["point"].values[1:]).all()
    assert found["interval"].notnull().all()
    lower, upper = found["interval"].isel(dataset=2, metric=0).values.ravel()
    assert lower < 0.01
    assert upper > 0.9


def test_forms_of_prevalences_agree():
    as_array = bayescm.planning.at_prevalences(COUNTS, "npv", np.array([0.1, 0.4]))
    for given in ([0.1, 0.4], xr.DataArray([0.1, 0.4]), np.array([0.1, 0.4]).astype(object)):
        again = bayescm.planning.at_prevalences(COUNTS, "npv", given)
        assert np.array_equal(again["interval"], as_array["interval"])
    one = bayescm.planning.at_prevalences(COUNTS, "npv", np.array(0.4))
    assert np.array_equal(one["interval"].isel(prevalence=0), as_array["interval"].isel(prevalence=1))


def test_lazy_counts_functions_and_a_round_trip(tmp_path):
    def youden(recall, specificity):
        return recall + specificity - 1

    lazy = RATES.chunk({"system": 1})
    found = bayescm.planning.at_prevalences(lazy, {"j": youden, "precision": "precision"}, [0.1, 0.5], random_seed=1)
    again = bayescm.planning.at_prevalences(RATES, {"j": youden, "precision": "precision"}, [0.1, 0.5], random_seed=1)
    assert as_result(found.compute()).identical(again)
    assert found["method"].values.tolist() == [["draws", "exact"]] * 2
    named = {"precision": lambda tp, tn: tp * tn, "ppv": "precision"}  # what counts is what they compute
    assert bayescm.planning.at_prevalences(COUNTS, named, 0.1, random_seed=1)["simultaneous"].values.tolist() == [
        False,
        True,
    ]
    found.to_netcdf(tmp_path / "found.nc")
    with xr.open_dataset(tmp_path / "found.nc") as stored:
        assert as_result(stored.load()).identical(again)


@pytest.mark.parametrize(
    ("prevalence", "words"),
    [
        (0, r"in \(0, 1\); got 0"), (1.0, r"got 1\.0"), (np.nan, "got nan"), ("fixed", "got 'fixed'"), ([], "empty"),
        ((1, 0), r"in \(0, inf\)"), ((1, np.inf), "got inf"), ((1, 2, 3), "two numbers of a Beta"), (True, "True"),
        ([0.1, 2], "got 2"),
    ],
)  # fmt: skip
def test_bad_prevalences(prevalence, words):
    with pytest.raises((ValueError, TypeError), match=words):
        bayescm.planning.at_prevalences(COUNTS, prevalence=prevalence)


def test_bad_counts():
    with pytest.raises(ValueError, match="two labels here; got 3"):
        bayescm.planning.at_prevalences(np.ones((3, 3), int))
    with pytest.raises(ValueError, match="dim 'prevalence'"):
        bayescm.planning.at_prevalences(RATES.rename(system="prevalence"))
    with pytest.raises(ValueError, match="improper"):
        bayescm.planning.at_prevalences(bayescm.from_cells(tp=3, fn=0, fp=1, tn=2), prevalence=0.1, prior="haldane")
