"""P-values of null values, and intervals on other scales: SciPy, statsmodels 0.15, Newcombe's table, slopes."""

import numpy as np
import pytest
from scipy import optimize, special, stats

import bayescm
from bayescm.inference import proportions

COUNTS = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)


@pytest.mark.parametrize(("k", "n", "printed"), [
    (81, 263, (0.2535, 0.3682)), (15, 148, (0.0598, 0.1644)), (0, 20, (0.0, 0.2005)), (1, 29, (0.0018, 0.1963)),
])  # fmt: skip
def test_wilson_with_continuity_as_newcombe_and_scipy_have_it(k, n, printed):
    found = np.array(proportions.wilson_cc(k, n))
    assert found.round(4).tolist() == list(printed)
    assert tuple(found) == pytest.approx(tuple(stats.binomtest(k, n).proportion_ci(method="wilsoncc")), abs=1e-12)


@pytest.mark.parametrize(("name", "scale"), [
    ("logit", special.logit), ("probit", special.ndtri), ("cloglog", lambda p: np.log(-np.log(p))),
])  # fmt: skip
def test_walds_interval_on_another_scale(name, scale):
    for k, n in ((3, 20), (19, 20), (400, 1000)):
        p, step = k / n, 1e-6
        slope = (scale(p + step) - scale(p - step)) / (2 * step)
        half = 1.959963984540054 * abs(slope) * np.sqrt(p * (1 - p) / n)
        wanted = scale(p) - half, scale(p) + half
        ends = sorted(optimize.brentq(lambda x, to=to: scale(x) - to, 1e-9, 1 - 1e-9) for to in wanted)
        assert np.array(getattr(proportions, name)(k, n)) == pytest.approx(ends, abs=1e-7)
    for k in (0, 20):
        assert np.array(getattr(proportions, name)(k, 20)) == pytest.approx(
            np.array(proportions.clopper_pearson(k, 20))
        )
    assert np.array(getattr(proportions, name)(0, 0)).tolist() == [0.0, 1.0]
    assert bayescm.interval(COUNTS, "precision", name)["interval"].values.ravel() == pytest.approx(
        np.array(getattr(proportions, name)(26, 28))
    )


def test_profile_is_the_likelihood_ratio():
    assert bayescm.interval(COUNTS, "recall", "profile").equals(bayescm.interval(COUNTS, "recall", "likelihood_ratio"))


@pytest.mark.parametrize(("bound", "alternative"), [("both", "two-sided"), ("lower", "greater"), ("upper", "less")])
def test_exact_test_is_scipys(bound, alternative):
    found = bayescm.interval(COUNTS, ["recall", "precision"], "exact", null=0.8, bound=bound).p_value.values
    expected = [stats.binomtest(k, n, 0.8, alternative).pvalue for k, n in ((26, 26), (26, 28))]
    assert found == pytest.approx(expected, rel=1e-12)


def test_accuracy_against_the_no_information_rate_as_caret_has_it():
    found = bayescm.interval(COUNTS, "accuracy", "exact", bound="lower", null="no_information_rate")
    assert found.p_value.item() == pytest.approx(stats.binomtest(32, 34, 26 / 34, "greater").pvalue)
    both = bayescm.from_cells(tp=[26, 5], fn=[0, 1], fp=[2, 2], tn=[6, 30], dims="site")
    each = bayescm.interval(both, "accuracy", "exact", bound="lower", null="no_information_rate").p_value.values.ravel()
    assert each == pytest.approx([found.p_value.item(), stats.binomtest(35, 38, 32 / 38, "greater").pvalue])


@pytest.mark.parametrize("method", ["wilson", "wald", "likelihood_ratio", "delta", "exact"])
def test_a_bound_is_the_null_value_that_is_just_rejected(method):
    counts = bayescm.from_cells(tp=40, fn=11, fp=7, tn=60)
    for bound, level in (("lower", 0.95), ("upper", 0.9), ("both", 0.95)):
        for metric in ("recall", "f1") if method != "exact" or bound != "both" else ():
            ends = bayescm.interval(counts, metric, method, bound=bound, ci_prob=level)["interval"].values.ravel()
            for end in ends[{"lower": [0], "upper": [1], "both": [0, 1]}[bound]]:
                found = bayescm.interval(counts, metric, method, bound=bound, null=float(end)).p_value.item()
                assert found == pytest.approx(1 - level, rel=1e-5)


def test_kappa_without_agreement_as_statsmodels_has_it():  # cohens_kappa(table).pvalue_two_sided
    table = np.array([[20, 5, 2], [9, 30, 4], [1, 7, 22]])
    found = bayescm.interval(table, "kappa", "delta", null=0)
    assert found.point.item() == pytest.approx(0.5721271393643031)
    assert 2 * stats.norm.sf(8.043909171213087) == pytest.approx(8.70170271595001e-16)
    assert found.p_value.item() / 8.70170271595001e-16 == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize(("more", "match"), [
    ({"method": "jeffreys", "null": 0.5}, "has a test by"), ({"null": 1.5}, "null"),
    ({"null": "chance"}, "must be one of"),
    ({"null": "no_information_rate"}, "for the accuracy"), ({"null": float("nan")}, "null"),
])  # fmt: skip
def test_what_has_no_test_is_refused(more, match):
    with pytest.raises(ValueError, match=match):
        bayescm.interval(COUNTS, "recall", **more)


def test_without_items_there_is_no_test():
    empty = bayescm.from_cells(tp=0, fn=0, fp=2, tn=6)
    for method in ("exact", "wilson", "wald", "likelihood_ratio"):
        assert np.isnan(bayescm.interval(empty, "recall", method, null=0.5).p_value.item())


def test_the_interval_of_a_rogan_gladen_prevalence_with_known_errors():
    ends = bayescm.interval(30, 200)["interval"]
    found = bayescm.inference.rogan_gladen(ends, sensitivity=0.9, specificity=0.95).values.ravel()
    by_hand = (np.array(proportions.wilson(30, 200)) - 0.05) / 0.85
    assert found == pytest.approx(by_hand)
