"""sample_size_of_auc(): published numbers, quadrature, simulated power, the least number, wrong input."""

import numpy as np
import pytest
from scipy import integrate, stats

import bayescm
from bayescm.planning.areas import binormal, hanley_mcneil, obuchowski


def test_power_as_proc_has_it():
    # pROC's test-power.roc.test.R: ncases = 41, ncontrols = 72, auc = .73, sig.level = .05
    found = bayescm.planning.sample_size_of_auc(0.73, cases=41, prevalence=41 / 113, method="obuchowski")
    assert int(found.controls) == 72
    assert float(found.assurance) == pytest.approx(0.9897453, abs=1e-6)


@pytest.mark.parametrize(("power", "cases"), [(0.8, 652), (0.9, 897), (0.95, 1131)])
def test_sizes_near_those_of_hanley_and_mcneil(power, cases):
    # 1982, table III: areas .70 and .75, one-sided .05; they take both variances of the smaller area where there is no
    # difference, and the mean area's is smaller
    found = bayescm.planning.sample_size_of_auc(0.7, 0.75, method="hanley_mcneil", assurance=power, ci_prob=0.9)
    assert int(found.cases) == pytest.approx(cases, rel=0.04)
    variance = 0.7 / 1.3 + 2 * 0.49 / 1.7 - 2 * 0.49, 0.75 / 1.25 + 2 * 0.5625 / 1.75 - 2 * 0.5625
    z = stats.norm.ppf([0.95, power])
    theirs = ((z[0] * np.sqrt(2 * variance[0]) + z[1] * np.sqrt(sum(variance))) / 0.05) ** 2
    assert theirs == pytest.approx(cases, abs=2)


@pytest.mark.parametrize("auc", [0.5, 0.8, 0.97, 0.2])
def test_the_variance_of_normal_scores_is_exact(auc):
    shift = stats.norm.ppf(auc) * np.sqrt(2)
    both, _ = integrate.quad(lambda x: stats.norm.sf(x - shift) ** 2 * stats.norm.pdf(x), -12, 12, epsabs=1e-12)
    wanted = (auc * (1 - auc) + (19 + 29) * (both - auc**2)) / 600
    assert binormal(auc, 20, 30) == pytest.approx(wanted, rel=1e-8)


def test_variances_agree_where_scores_say_nothing():
    for cases, controls in ((20, 20), (300, 100)):
        exact = (cases + controls + 1) / (12 * cases * controls)
        assert binormal(0.5, cases, controls) == pytest.approx(exact)
        assert hanley_mcneil(0.5, cases, controls) == pytest.approx(exact)
        assert obuchowski(0.5, cases, controls) == pytest.approx(exact, rel=0.08)


def test_the_standard_error_is_that_of_the_same_name():
    score = np.linspace(0, 1, 60)
    y = (np.arange(60) * 7) % 11 > 4
    found = bayescm.auc(y.astype(int), score, method="hanley_mcneil")
    plan = hanley_mcneil(found["point"].item(), y.sum(), (~y).sum())
    assert found["se"].item() == pytest.approx(plan**0.5)


@pytest.mark.parametrize("settings", [{"width": 0.1}, {"other": 0.7, "correlation": 0.4}, {"other": 0.7}, {}])
@pytest.mark.parametrize("method", ["binormal", "hanley_mcneil", "obuchowski"])
def test_one_case_less_is_not_enough(settings, method):
    settings = settings | {"auc": 0.78, "method": method, "prevalence": 0.5}
    found = bayescm.planning.sample_size_of_auc(**settings)
    more = {key: value for key, value in settings.items() if key != "width"}
    less = bayescm.planning.sample_size_of_auc(**more, cases=int(found.cases) - 1)
    if "width" in settings:
        assert float(found.width) <= 0.1 < float(less.width)
    else:
        assert float(less.assurance) < 0.8 <= float(found.assurance)
    assert int(found.n_items) == int(found.cases) + int(found.controls)


@pytest.mark.slow
def test_the_planned_test_finds_the_difference_as_often_as_stated():
    rng = np.random.default_rng(1)
    shifts = np.sqrt(2) * stats.norm.ppf([0.85, 0.75])
    common = np.sqrt(0.5)

    def scores(y):
        base = rng.normal(size=len(y)) * common
        return {
            name: shift * y + base + rng.normal(size=len(y)) * common for name, shift in zip("ab", shifts, strict=True)
        }

    y = np.repeat([0, 1], 20_000)
    covariance = bayescm.auc(y, scores(y), method="delong")["covariance"].values
    correlation = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    plan = bayescm.planning.sample_size_of_auc(0.85, 0.75, correlation=correlation)
    y = np.repeat([0, 1], int(plan.cases))
    found = np.mean(
        [bayescm.curves.auc_difference(y, scores(y), method="delong")["p_value"] < 0.05 for _ in range(400)]
    )
    assert found == pytest.approx(float(plan.assurance), abs=0.08)
    alone = bayescm.planning.sample_size_of_auc(0.85, width=0.15)
    y = np.repeat([0, 1], int(alone.cases))
    widths = [np.ptp(bayescm.auc(y, scores(y)["a"], method="delong")["interval"].values) for _ in range(200)]
    assert np.mean(widths) == pytest.approx(0.15, rel=0.03)


def test_pairing_needs_fewer_items_and_says_so():
    apart, paired = (bayescm.planning.sample_size_of_auc(0.85, 0.8, correlation=r) for r in (None, 0.6))
    assert int(paired.cases) < int(apart.cases)
    assert "for each system" in apart.bayescm.sentence
    assert "that both score" in paired.bayescm.sentence
    assert paired.attrs["design"] == "paired"
    assert "told from 0.5" in bayescm.planning.sample_size_of_auc(0.7).bayescm.sentence
    assert "probability" not in bayescm.planning.sample_size_of_auc(0.5, width=0.1).bayescm.sentence
    rare = bayescm.planning.sample_size_of_auc(0.7, prevalence=0.1)
    assert int(rare.controls) == 9 * int(rare.cases)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"auc": 1}, "`auc` must be"),
        ({"auc": 0.5}, "to be told from"),
        ({"auc": 0.8, "other": 0.8}, "to be told from"),
        ({"auc": 0.8, "correlation": 0.5}, "give the `other` one"),
        ({"auc": 0.8, "other": 0.7, "correlation": 1}, "`correlation` must be"),
        ({"auc": 0.8, "width": 0.1, "cases": 20}, "can't both be given"),
        ({"auc": 0.8, "cases": 1}, "`cases` must be from 2"),
        ({"auc": 0.8, "width": 0}, "`width` must be"),
        ({"auc": 0.8, "width": 1e-9}, "more than 1,000,000,000 cases"),
        ({"auc": 0.8, "method": "delong"}, "`method` must be one of"),
        ({"auc": 0.8, "prevalence": 0}, "`prevalence` must be"),
        ({"auc": float("nan")}, "`auc` must be"),
    ],
)
def test_wrong_input_is_explained(settings, message):
    with pytest.raises(ValueError, match=message):
        bayescm.planning.sample_size_of_auc(**settings)
