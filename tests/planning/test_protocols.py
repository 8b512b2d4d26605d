"""Formulas that protocols quote, against the tables and examples of their papers and of R; named intervals in plans."""

import numpy as np
import pytest
from scipy import stats

import bayescm
from bayescm.inference import proportions

COMPARE = bayescm.planning.sample_size_to_compare
OF_AUC = bayescm.planning.sample_size_of_auc


def test_buderer_as_in_jones_carley_and_harrison():
    # Emergency Medicine Journal 20 (2003): sensitivity .95, specificity .80, W .05, prevalence .30
    mode = {"recall": 0.95, "specificity": 0.8}
    plan = bayescm.sample_size(["recall", "specificity"], width=0.1, prevalence=0.3, mode=mode, method="buderer")
    z2 = stats.norm.ppf(0.975) ** 2
    by_hand = [z2 * 0.95 * 0.05 / 0.05**2 / 0.3, z2 * 0.8 * 0.2 / 0.05**2 / 0.7]
    assert plan.n_items.values.tolist() == np.ceil(by_hand).tolist() == [244, 352]
    assert int(plan.n_items_together) == 352
    assert plan.formula.equals(plan.n_items.astype(float))


@pytest.mark.slow
@pytest.mark.parametrize(("concentration", "ours"), [(10.0, 3672), (None, 1867)])
def test_why_ours_differs_from_buderer(concentration, ours):
    found = bayescm.sample_size("recall", width=0.1, prevalence=0.1, mode=0.9, concentration=concentration)
    assert (int(found.n_items.item()), int(found.formula.item())) == (ours, 1383)
    rng, n = np.random.default_rng(1), 40_000
    recall = 0.9 if concentration is None else rng.beta(0.9 * 8 + 1, 0.1 * 8 + 1, n)
    positives = rng.binomial(1383, 0.1, n)
    tp = rng.binomial(positives, recall)
    ends = stats.beta.ppf([[0.025], [0.975]], tp + 0.5, positives - tp + 0.5)
    narrow = (ends[1] - ends[0] <= 0.1).mean()
    assert narrow == pytest.approx(found.formula_assurance.item(), abs=4 * np.sqrt(0.25 / n) + 0.005)
    assert f"{found.formula_assurance.item():.3f}" in found.bayescm.sentence


def test_simel_samsa_and_matchar():
    # Journal of Clinical Epidemiology 44 (1991): .80, .73, a ratio of 2.96 and a lower limit of 2.0: 74 of either kind
    rates = {"mode": {"recall": 0.8, "specificity": 0.73}, "concentration": None, "prevalence": 0.5}
    plan = bayescm.sample_size("lr+", lower=2.0, ci_prob=0.975, method="simel", **rates)
    assert np.ceil(plan.n_items.item() / 2) == 74
    n = int(bayescm.sample_size("lr-", width=0.2, method="simel", **rates).n_items.item())
    log = stats.norm.ppf(0.975) * np.sqrt((0.8 / 0.2 + 0.27 / 0.73) * 2 / n)
    assert 2 * (0.2 / 0.73) * np.sinh(log) == pytest.approx(0.2, rel=2 / n)


def test_mcnemar_by_connor_and_lachenbruch():
    # PASS and powerandsamplesize.com: .45 against .05; R's MESS: 22 before it is rounded up
    assert int(COMPARE(0.7, 0.3, discordance=0.5, method="connor").n_items) == 23
    assert int(COMPARE(0.575, 0.425, discordance=0.45, method="connor").n_items) == 155
    # Lachenbruch 1992, Table II, first row, as biostatUZH has it: least, middle and most
    for discordance, items in ((0.1, 106), (None, 211), (0.3, 316)):
        plan = COMPARE(0.9, 0.8, discordance=discordance, method="lachenbruch", assurance=0.9)
        assert int(plan.n_items) == items
    assert "Lachenbruch's formula" in plan.bayescm.sentence


@pytest.mark.parametrize("method", ["connor", "lachenbruch"])
def test_mcnemar_finds_the_difference_as_often_as_the_formula_says(method):
    plan = COMPARE(0.85, 0.8, discordance=0.2, method=method)
    cells = np.random.default_rng(1).multinomial(int(plan.n_items), [0.125, 0.075, 0.8], 20_000)
    z = (cells[:, 0] - cells[:, 1]) / np.sqrt(cells[:, 0] + cells[:, 1])
    assert (z > stats.norm.ppf(0.975)).mean() == pytest.approx(0.8, abs=0.012)


def test_areas_as_obuchowski_lieber_and_wians_have_them():
    # Clinical Chemistry 50 (2004), Table 4: one-sided .05, power .9; with pROC's corrections
    for ratio, area, cases, controls in (
        (0.25, 0.6, 334, 84), (0.5, 0.6, 202, 101), (1, 0.6, 135, 135), (2, 0.6, 102, 203), (4, 0.6, 85, 340),
        (0.25, 0.7, 80, 20), (1, 0.7, 33, 33), (4, 0.7, 21, 84), (1, 0.8, 14, 14),
    ):  # fmt: skip
        plan = OF_AUC(area, prevalence=1 / (1 + ratio), ci_prob=0.9, assurance=0.9, method="obuchowski")
        assert abs(int(plan.cases) - cases) <= 1  # controls are rounded
        assert abs(int(plan.controls) - controls) <= max(1, ratio)


def test_the_least_area_that_cases_tell_apart():
    # pROC's test-power.roc.test.R, whose search is good to 1e-5
    least = OF_AUC(cases=41, prevalence=41 / 113, assurance=0.95, method="obuchowski")
    assert least.attrs["auc"] == pytest.approx(0.6961054, abs=1e-5)
    assert float(least.assurance) == pytest.approx(0.95, rel=1e-9)
    pair = OF_AUC(other=0.8, cases=100, correlation=0.5)
    assert float(OF_AUC(pair.attrs["auc"], 0.8, cases=100, correlation=0.5).assurance) == pytest.approx(0.8, rel=1e-9)
    for wrong in ({}, {"cases": 20, "width": 0.1}, {"cases": 2}):
        with pytest.raises(ValueError, match=r"`auc` is needed|tell no area"):
            OF_AUC(**wrong)


@pytest.mark.parametrize("concentration", [None, 10.0])
@pytest.mark.parametrize("method", ["wilson", "exact", "jeffreys", "likelihood_ratio", "agresti_coull", "wald"])
def test_widths_of_named_intervals_by_all_outcomes(method, concentration):
    name = {"exact": "clopper_pearson"}.get(method, method)
    rates = {"mode": 0.9, "concentration": concentration, "assurance": 0.9}
    plan = bayescm.sample_size("recall", width=0.2, method=method, **rates)
    found, n = int(plan.n_items.item()), np.arange(max(int(plan.n_items.item()) - 30, 1), int(plan.n_items.item()) + 40)

    def often(size):
        k = np.arange(size + 1)
        lower, upper = getattr(proportions, name)(k, size, 0.95)
        narrow = np.minimum(upper, 1) - np.maximum(lower, 0) <= 0.2
        p = stats.binom.pmf(k, size, 0.9) if concentration is None else stats.betabinom.pmf(k, size, 8.2, 1.8)
        return p @ narrow

    reached = np.array([often(size) for size in n])
    assert reached[n == found].item() == pytest.approx(plan.assurance.item(), abs=1e-9)
    assert (reached[n >= found] >= 0.9).all()
    assert reached[n == found - 1].item() < 0.9
    width = bayescm.planning.interval_width("recall", [found], method=method, **rates).width.item()
    assert width <= 0.2


@pytest.mark.parametrize("method", ["clopper_pearson", None])
def test_lower_bounds_by_all_outcomes(method):
    # Flahault, Cadilhac and Thomas 2005: the exact bound of one side
    plan = bayescm.sample_size("recall", lower=0.8, mode=0.9, concentration=None, method=method)
    found = int(plan.n_items.item())

    def often(n):
        k = np.arange(n + 1)
        a, b = (k, n - k + 1) if method else (k + 0.5, n - k + 0.5)
        lower = np.where(k > 0, stats.beta.ppf(0.05, np.maximum(a, 0.5), b), 0.0)
        return stats.binom.pmf(k, n, 0.9) @ (lower >= 0.8)

    assert often(found) == pytest.approx(plan.assurance.item(), abs=1e-9)
    assert min(often(n) for n in range(found, found + 60)) >= 0.95 > often(found - 1)


def test_whole_tests_of_a_named_interval_by_simulation():
    plan = bayescm.sample_size("recall", width=0.15, prevalence=0.2, mode=0.9, method="clopper_pearson")
    rng, n = np.random.default_rng(1), 20_000
    positives = rng.binomial(int(plan.n_items.item()), 0.2, n)
    tp = rng.binomial(positives, rng.beta(8.2, 1.8, n))
    lower, upper = proportions.clopper_pearson(tp, positives, 0.95)
    assert (upper - lower <= 0.15).mean() == pytest.approx(0.95, abs=0.012)


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [0.5, 3.0])
def test_groups_of_two_sizes_by_simulation(ratio):
    plan = COMPARE(0.9, 0.8, ratio=ratio)
    n, m = int(plan.n_items), int(plan.n_items_second)
    assert m == round(n * ratio)
    k, j = np.arange(n + 1)[:, None], np.arange(m + 1)
    p = stats.binom.pmf(k, n, 0.9) * stats.binom.pmf(j, m, 0.8)
    gap = (k + 1) / (n + 2) - (j + 1) / (m + 2)
    sd = np.sqrt((k + 1) * (n - k + 1) / (n + 2) ** 2 / (n + 3) + (j + 1) * (m - j + 1) / (m + 2) ** 2 / (m + 3))
    assert p[gap > 1.96 * sd].sum() == pytest.approx(float(plan.assurance), abs=0.03)  # normal, so about
    assert float(COMPARE(0.9, 0.8, ratio=ratio, n_items=n).assurance) == float(plan.assurance)
    equal = COMPARE(0.9, 0.8, ratio=1.0)
    assert n < int(equal.n_items) if ratio > 1 else n > int(equal.n_items)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: bayescm.sample_size("recall"), "one of `width`"),
        (lambda: bayescm.sample_size("recall", width=0.1, lower=0.7), "one of `width`"),
        (lambda: bayescm.sample_size("recall", lower=0.85), "must be below"),
        (lambda: bayescm.sample_size("recall", lower=0.7, mode=0.75), "isn't reached"),
        (lambda: bayescm.sample_size("recall", lower=0.7, ci_prob=0.4), "above 0.5"),
        (lambda: bayescm.sample_size("recall", lower=0.7, prevalence=0.1), "takes a formula"),
        (lambda: bayescm.sample_size("recall", width=0.1, method="simel"), "likelihood ratios"),
        (lambda: bayescm.sample_size("mcc", width=0.1, prevalence=0.1, method="buderer"), "proportions"),
        (lambda: bayescm.sample_size("recall", width=0.1, method="flahault"), "must be one of"),
        (lambda: bayescm.sample_size("recall", width=0.1, prevalence=0.1, method="wald"), "jumps"),
        (lambda: bayescm.planning.interval_width("recall", [10], method="buderer"), "sample_size"),
        (lambda: COMPARE(0.9, 0.8, method="connor"), "`discordance` is needed"),
        (lambda: COMPARE(0.9, 0.8, discordance=0.2, ratio=2.0), "items of their own"),
        (lambda: COMPARE(0.9, 0.8, discordance=0.2, method="connor", n_items=10), "stated rates"),
        (lambda: COMPARE(0.9, 0.8, ratio=0.0), "ratio"),
    ],
)  # fmt: skip
def test_what_has_no_answer_is_refused(call, match):
    with pytest.raises(ValueError, match=match):
        call()
