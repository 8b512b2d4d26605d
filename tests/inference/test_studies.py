"""Studies together: the summary point, the mean and the next study, the curve, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, optimize, special, stats

import bayescm
from bayescm.distributions.two_rates import TwoRates
from bayescm.inference import reviews, sroc

TELOMERASE = pd.DataFrame(
    {
        "study": list("abcdefghij"), "tp": [25, 17, 88, 16, 40, 38, 23, 27, 14, 37],
        "fn": [8, 4, 16, 10, 17, 9, 19, 6, 3, 7], "fp": [1, 3, 16, 3, 1, 6, 0, 2, 3, 22],
        "tn": [25, 11, 31, 80, 137, 24, 12, 18, 29, 7],
    }
)  # fmt: skip
"""Glas et al. 2003."""
HC2 = {
    "tp": [6, 10, 27, 23, 4, 58, 22, 17, 34, 256],
    "fn": [4, 2, 2, 3, 1, 7, 2, 2, 2, 11],
    "fp": [17, 38, 154, 115, 19, 326, 110, 88, 65, 1050],
    "tn": [25, 61, 566, 129, 33, 582, 72, 253, 81, 984],
}
"""Triage of ASCUS by HC2: Arbyn et al. 2013."""
REPC = {
    "tp": [6, 8, 20, 20, 4, 48, 10, 14, 24, 227],
    "fn": [4, 4, 7, 6, 2, 15, 15, 5, 10, 40],
    "fp": [14, 28, 191, 74, 20, 324, 18, 126, 43, 1132],
    "tn": [28, 71, 483, 170, 26, 570, 168, 214, 105, 914],
}
"""The same by repeat cytology, in the same studies."""
BOTH = pd.concat(
    [
        pd.DataFrame({"study": list("abcdefghij"), "test": test, **cells})
        for test, cells in (("HC2", HC2), ("RepC", REPC))
    ],
    ignore_index=True,
)
PAIRS = sroc.Pairs(
    np.array([[1.2, 1.9], [0.3, -0.5], [2.5, 3.0]]), np.array([[0.5, 1.6], [1.0, 0.4], [0.1, 0.1]]),
    np.array([-0.5, 0.3, 0.0]),
)  # fmt: skip


@pytest.fixture(scope="module")
def found():
    return bayescm.synthesis(TELOMERASE, random_seed=1, leave_one_out=True)


def test_the_maximum_of_the_exact_likelihood():
    """Values of exact binomial maximum likelihood elsewhere: .909 [.857, .944], .607 (upper .680)."""
    likelihood = bayescm.synthesis(bayescm.from_cells(**HC2), random_seed=1, draws=1000).likelihood
    np.testing.assert_allclose(likelihood.point, [0.909, 0.607], atol=5e-4)
    np.testing.assert_allclose(likelihood.interval[0], [0.857, 0.944], atol=5e-4)
    assert float(likelihood.interval[1, 1]) == pytest.approx(0.680, abs=5e-4)


@pytest.mark.slow
def test_ten_studies_of_telomerase(found):
    """Those of NUTS: .7679 [.6955, .831], .872 [.7267, .9573], .457, 1.621, -.546."""
    one = found["summary"].to_dataset().sel(estimate="median study")
    np.testing.assert_allclose(one["mean"].sel(metric=["recall", "specificity"]), [0.7679, 0.872], atol=3e-3)
    np.testing.assert_allclose(one["interval"].sel(metric="recall"), [0.6955, 0.831], atol=0.01)
    spread = found["spread"]["mean"]
    np.testing.assert_allclose(spread[:3], [0.457, 1.621, -0.546], atol=0.02)
    assert found["spread"].parameter[:3].values.tolist() == ["sd_logit_recall", "sd_logit_specificity", "correlation"]
    means = found["summary"].to_dataset()["median"].sel(metric="specificity")
    assert float(means.sel(estimate="mean of studies")) < float(means.sel(estimate="median study"))
    widths = found["summary"].to_dataset()["width"].sel(metric="recall")
    assert float(widths.sel(estimate="next study")) > 2 * float(widths.sel(estimate="median study"))
    assert found["studies"].study.values.tolist() == list("abcdefghij")
    # shrunken: together they scatter less than apart
    of = found["studies"].to_dataset().sel(metric="recall")
    assert float(of["mean"].std()) < 0.8 * float(of["point"].std())
    assert found.attrs["method"] == "quadrature"
    assert found["likelihood"].attrs["at_an_end"] == "correlation"


@pytest.mark.slow
def test_left_out_are_those_of_the_rest(found):
    rest = bayescm.synthesis(TELOMERASE.drop(index=9), random_seed=3)
    want = rest["summary"].to_dataset().sel(estimate="median study")
    got = found["left_out"].to_dataset().sel(study="j")
    for rate in ("recall", "specificity"):
        assert float(got["median"].sel(metric=rate)) == pytest.approx(float(want["median"].sel(metric=rate)), abs=0.01)
    with pytest.raises(ValueError, match="needs three studies"):
        bayescm.synthesis(TELOMERASE[:2], leave_one_out=True, draws=1000)


@pytest.mark.slow
def test_questions_take_the_tree(found):
    claims = bayescm.probability(found, "recall > 0.7")
    drawn = found["posterior"]["theta"]
    recall = (drawn[..., 1, 1] / drawn[..., 1, :].sum("predicted")).mean(("chain", "draw"))
    np.testing.assert_allclose(recall, found["summary"]["mean"].sel(metric="recall"), rtol=1e-9)
    assert claims.probability.shape == (3, 1)
    at = bayescm.planning.at_prevalences(found, "precision", [0.1])
    same = bayescm.synthesis(TELOMERASE, "precision", prevalence=0.1, random_seed=1)["summary"]["mean"]
    np.testing.assert_allclose(at["mean"].values.ravel(), same.values.ravel(), rtol=1e-9)


def test_means_over_units_are_scipys():
    for row, (mean, sd) in enumerate(zip(PAIRS.mean, PAIRS.sd, strict=True)):
        for i in range(2):
            want, _ = integrate.quad(
                lambda x, i=i, m=mean, s=sd: special.expit(x) * stats.norm.pdf(x, m[i], s[i]), -30, 30
            )
            assert PAIRS.mean_rates()[row, i] == pytest.approx(want, abs=1e-5)


def test_areas_are_scipys_and_the_curve_goes_through_the_median_study():
    for row in range(3):
        one = sroc.Pairs(*(part[row : row + 1] for part in PAIRS))
        want, _ = integrate.quad(lambda x, one=one: float(one.curve(np.array([x]))[0, 0]), 0, 1, limit=400)
        assert one.area()[0] == pytest.approx(want, abs=2e-4)
        part, _ = integrate.quad(lambda x, one=one: float(one.curve(np.array([x]))[0, 0]), 0.1, 0.4)
        assert one.area(0.1, 0.4)[0] == pytest.approx(part / 0.3, abs=1e-6)
        fpr = special.expit(-one.mean[0, 1:])
        assert one.curve(fpr)[0, 0] == pytest.approx(special.expit(one.mean[0, 0]))


def test_rutter_and_gatsonis_give_the_same_curve():
    """Of their model: logit recall = exp(-asymmetry) logit fpr + accuracy exp(-asymmetry / 2)."""
    given, fpr = PAIRS.rutter_gatsonis(), np.array([0.05, 0.3, 0.8])
    slope = np.exp(-given["asymmetry"])[:, None]
    logits = slope * special.logit(fpr) + given["accuracy"][:, None] * np.sqrt(slope)
    np.testing.assert_allclose(special.expit(logits), PAIRS.curve(fpr), rtol=1e-10)


def test_an_outline_holds_its_share():
    logits = np.random.default_rng(1).multivariate_normal([1, 2], [[1, -0.7], [-0.7, 2]], 20_000)
    outline = special.logit(sroc.ellipse(logits, 0.9))
    centre = logits.mean(0)
    factor = np.linalg.cholesky(np.cov(logits.T))
    radius = np.linalg.norm(np.linalg.solve(factor, (outline - centre).T), axis=0)
    np.testing.assert_allclose(radius, radius[0], rtol=1e-6)
    assert radius[0] ** 2 == pytest.approx(stats.chi2.ppf(0.9, 2), rel=0.03)


def test_deeks_is_a_weighted_regression():
    table = bayescm.from_cells(**HC2).values.astype(float)
    slope, p = sroc.deeks(table)
    size = 4 * table.sum(-1).prod(-1) / table.sum((1, 2))
    cells = table + 0.5 * (table == 0).any()
    odds = np.log(cells[:, 1, 1] * cells[:, 0, 0] / cells[:, 0, 1] / cells[:, 1, 0])
    assert slope == pytest.approx(np.polyfit(size**-0.5, odds, 1, w=np.sqrt(size))[0])
    assert 0 < p < 1
    assert np.isnan(sroc.deeks(table[:3])).all()


PAPER = bayescm.from_reported(recall="0.85", specificity="0.90", n_items=100, positives=40)
OTHER = bayescm.from_reported(recall="0.80", specificity="0.95", n_items=60, positives=20)
AMBIGUOUS = bayescm.from_reported(recall="0.85", specificity="0.90", n_items=1000, positives=400)


@pytest.mark.slow
def test_papers_whose_numbers_one_matrix_has_are_that_matrix():
    cells = {"tp": [34, 16, 20], "fn": [6, 4, 4], "fp": [6, 2, 3], "tn": [54, 38, 30]}
    want = bayescm.synthesis(bayescm.from_cells(**cells), random_seed=1, draws=1000)
    whole = bayescm.from_reported(recall="0.8333", specificity="0.9091", n_items=57, positives=24)
    matrix = bayescm.from_cells(tp=20, fn=4, fp=3, tn=30)
    for last in (whole, matrix):
        got = bayescm.synthesis({"a": PAPER, "b": OTHER, "c": last}, random_seed=1, draws=1000)
        np.testing.assert_array_equal(got.summary.interval, want.summary.interval)
        assert got.studies.study.values.tolist() == ["a", "b", "c"]
    tree = bayescm.posterior({"a": PAPER, "b": OTHER}, model="hierarchical", draws=100, random_seed=1)
    assert tree.posterior.sizes["system"] == 2
    gaps = bayescm.gaps({"a": PAPER, "b": OTHER}, metrics="recall", random_seed=1)
    assert float(gaps.point[0]) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ({"a": PAPER, "b": AMBIGUOUS}, {}, "metrics of 'b' that 35 matrices have"),
        ({"a": [[9, 1], [2, 8]], "b": AMBIGUOUS}, {}, "metrics of 'b' that 35 matrices have"),
        (TELOMERASE[:1], {}, "several studies"),
        (TELOMERASE, {"metrics": "precision"}, "precision, which depends on the prevalence"),
        (TELOMERASE.assign(study="x"), {}, "several|times|twice"),
        (TELOMERASE, {"fpr_range": (0.5, 0.1)}, "`fpr_range` must be two rates"),
        (np.ones((4, 3, 3), int), {}, "must have two labels"),
        ([[6, 2], [0, 26]], {}, "one dim beside"),
        (TELOMERASE, {"tune": 100}, "needs no sampler"),
    ],
)
def test_what_is_refused(data, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        bayescm.synthesis(data, random_seed=1, **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    "cells",
    [
        {"tp": [5, 0, 7], "fn": [0, 0, 0], "fp": [0, 0, 2], "tn": [9, 8, 0]},  # perfect, a class missing
        {"tp": [0, 0], "fn": [5, 9], "fp": [0, 0], "tn": [7, 3]},
        {"tp": [9 * 10**8, 8 * 10**8], "fn": [10**8, 2 * 10**8], "fp": [10**8] * 2, "tn": [10**9] * 2},
    ],
)
def test_extremes_are_answered(cells):
    found = bayescm.synthesis(bayescm.from_cells(**cells), ["recall", "specificity"], random_seed=1, draws=1000)
    table = found["summary"].to_dataset()
    assert np.isfinite(table["interval"]).all()
    assert (table["width"].sel(estimate="next study") > 0).all()
    assert "as much the prior's word" in found.bayescm.sentence


def test_a_likelihood_whose_maximum_is_at_an_end():
    """Repeat cytology; by 15 x 15 nodes in other coordinates, from several starts, and along a correlation of -1."""
    right, wrong = (np.array([REPC[a], REPC[b]], float) for a, b in (("tp", "tn"), ("fn", "fp")))
    known = reviews.Likelihood.of(TwoRates(right, right + wrong, np.ones((10, 1)))).at(np.zeros(0), 0.95)
    assert known.attrs["at_an_end"] == "correlation"
    np.testing.assert_allclose([known["log_likelihood"], known["correlation"]], [-66.7773, -1.0], atol=2e-4)
    np.testing.assert_allclose(known["point"], [0.7152, 0.6840], atol=1e-4)
    np.testing.assert_allclose(known["interval"], [[0.6291, 0.7880], [0.5990, 0.7583]], atol=1e-4)
    np.testing.assert_allclose(known["sd_logit"], [0.4830, 0.5694], atol=2e-4)


@pytest.mark.slow
def test_studies_of_one_rate_say_nothing_of_the_other():
    alone = bayescm.synthesis(TELOMERASE.assign(fp=0, tn=0), random_seed=1)
    assert alone.attrs["method"] == "quadrature"
    assert alone["summary"].metric.values.tolist() == ["recall"]
    assert "no study tells of another rate than recall" in alone.bayescm.sentence
    with pytest.raises(ValueError, match="has no summary ROC curve"):
        alone.bayescm.plot()
    right = pd.DataFrame({"study": TELOMERASE.study, "correct": TELOMERASE.tp, "wrong": TELOMERASE.fn})
    answers = bayescm.synthesis(right, random_seed=1)
    assert answers.bayescm.sentence.startswith("10 studies. Median study: accuracy 0.76 (95%: 0.68 to 0.83)")
    np.testing.assert_array_equal(answers["summary"]["interval"], alone["summary"]["interval"])


@pytest.fixture(scope="module")
def compared():
    return bayescm.synthesis(BOTH, ["recall", "specificity"], covariates="test", random_seed=1)


@pytest.mark.slow
def test_two_tests_are_compared(compared):
    """In HC2 triage recall is higher (Arbyn et al. 2013); the maximum of the likelihood is found by another search."""
    one = compared["summary"].to_dataset().sel(estimate="median study")
    assert one.at.values.tolist() == ["test=HC2", "test=RepC"]
    assert one["versus"].values.tolist() == ["test=HC2"] * 2
    theta = compared["posterior"]["theta"].sel(estimate="median study")
    recall = theta[..., 1, 1] / theta[..., 1, :].sum("predicted")
    apart = recall.sel(at="test=RepC") - recall.sel(at="test=HC2")
    last = one.sel(at="test=RepC", metric="recall")
    np.testing.assert_allclose(last["difference_interval"], apart.quantile([0.025, 0.975]), rtol=1e-9)
    assert float(last["difference"]) == pytest.approx(float(apart.median()))
    assert float(last["probability_better"]) == float((apart > 0).mean()) < 0.01
    assert 0.7 < float(one["probability_better"].sel(at="test=RepC", metric="specificity")) < 0.95
    assert one["difference"].sel(at="test=HC2").isnull().all()
    assert "test=RepC minus test=HC2: recall -0.1" in compared.bayescm.sentence

    right, items = ([[*HC2[a], *REPC[a]] for a in cells] for cells in (("tp", "tn"), ("fn", "fp")))
    seen = TwoRates(np.array(right, float), np.add(right, items).astype(float), np.eye(2)[np.repeat([0, 1], 10)])
    best = optimize.minimize(
        lambda x: -seen.log_likelihood(np.r_[x, -15.0][None])[0], [2, 1, 0.5, 0.5, -0.7, -0.7], method="Nelder-Mead",
        options={"maxfev": 4000, "fatol": 1e-8, "xatol": 1e-5},
    ).x  # fmt: skip
    np.testing.assert_allclose(compared["likelihood"]["point"].T, special.expit(best[:4]).reshape(2, 2), atol=1e-3)


@pytest.mark.slow
def test_forms_of_the_same_studies_say_the_same(compared, tmp_path):
    cells = BOTH.set_index(["study", "test"]).to_xarray()
    both = bayescm.from_cells(**{name: cells[name] for name in ("tp", "fn", "fp", "tn")})
    BOTH.to_csv(tmp_path / "both.csv", index=False)
    for data in (both, str(tmp_path / "both.csv")):
        same = bayescm.synthesis(data, ["recall", "specificity"], covariates="test", random_seed=1, draws=1000)
        np.testing.assert_allclose(same["likelihood"]["point"], compared["likelihood"]["point"], atol=1e-4)
        assert {"a, HC2", "j, RepC"} < set(same["studies"].study.values.tolist())
    relabelled = bayescm.synthesis(BOTH.replace({"HC2": "Z"}), covariates="test", random_seed=1, draws=1000)
    assert relabelled["likelihood"].at.values.tolist() == ["test=RepC", "test=Z"]
    np.testing.assert_allclose(relabelled["likelihood"]["point"][::-1], compared["likelihood"]["point"], atol=1e-3)


@pytest.mark.slow
def test_a_group_without_an_effect_leaves_the_median_study_wider(found):
    group = ["x", "y"] * 5
    two = bayescm.synthesis(TELOMERASE.assign(of=group), ["recall", "specificity"], covariates="of", random_seed=1)
    one = found["summary"].to_dataset().sel(estimate="median study", metric="recall")
    of_two = two["summary"].to_dataset().sel(estimate="median study", metric="recall")
    assert (of_two["width"] > 1.15 * one["width"]).all()
    assert float(of_two["difference_interval"][1, 0]) < 0 < float(of_two["difference_interval"][1, 1])
    narrow = bayescm.synthesis(TELOMERASE.assign(of=group), ["recall", "specificity"], covariates="of", scale=1e-3,
                               random_seed=1)  # fmt: skip
    same = found["summary"]["interval"].sel(metric=["recall", "specificity"])
    np.testing.assert_allclose(narrow["summary"]["interval"][0], same, atol=0.02)


@pytest.mark.slow
def test_numbers_are_answered_at_their_ends_and_several_covariates_each():
    years = [1998, 1999, 2000, 2001, 2001, 2002, 1997, 2003, 2001, 1999]
    more = TELOMERASE.assign(year=years, of=list("xyzxyzxyzx"))
    found = bayescm.synthesis(more, "recall", covariates="year + of", random_seed=1, draws=1000)
    names = found["summary"].at.values.tolist()
    assert names == ["year=1997", "year=2003", "of=x", "of=y", "of=z"]
    assert found["summary"].versus.values.tolist() == ["year=1997"] * 2 + ["of=x"] * 3
    fit = bayescm.posterior(more, model="regression", covariates="year + of", groups="system", random_seed=1)
    column = fit["constant_data"]["design"].sel(covariate="year")
    assert float(column.mean()) != 0
    assert found["curve"].dims == {"at": 5, "fpr": 199, "ci_bound": 2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"covariates": "reader"}, "no column 'reader'"),
        ({"covariates": "study"}, "'study'"),
        ({"covariates": {"x": [1] * 10}}, "the same for all items"),
        ({"covariates": {"x": [1, np.nan] * 5}}, "missing at the places"),
        ({"covariates": {"x": [1, 2]}}, "one value for each of 10"),
        ({"covariates": {"x": [1, 2] * 5, "y": ["a", "b"] * 5}}, "can't tell apart"),
        ({"covariates": {"x": list("abcdefghij")}}, "or not from their own spread"),
        ({"covariates": {"x": [1, 2] * 5}, "leave_one_out": True}, "isn't for `covariates`"),
        ({"covariates": {"x": [1, 2] * 5}, "shares": "common"}, "`shares` doesn't apply"),
        ({"scale": 0.3}, "the scale is `group_scale`"),
    ],
)
def test_covariates_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        bayescm.synthesis(TELOMERASE, random_seed=1, draws=1000, **options)
