"""Comparing systems: exact distributions against draws and second ways, verdicts, pairs, folds, messages."""

import itertools
import json
import warnings

import arviz as az
import numpy as np
import pytest
import xarray as xr
from scipy import integrate, special, stats

import bayescm
from bayescm import distributions
from bayescm.comparison import companions, frequentist
from bayescm.distributions import Beta, dirichlet
from bayescm.distributions.difference import Discordant, Independent, find_probabilities, find_quantiles
from bayescm.distributions.protocol import Distribution
from bayescm.distributions.quadrature import Outer, Table
from bayescm.distributions.sample import Chains, Draws
from bayescm.metrics import available, resolve
from bayescm.priors.concentrations import concentrations, of_pairs

MORAIS = bayescm.from_cells(tp=[10, 3], fn=[5, 3], fp=[10, 2], tn=[100, 20], dims="system").assign_coords(
    system=["one", "two"]
)
HARD = [
    (10.5, 5.5, 3.5, 3.5), (1e6, 3, 5, 2), (0.5, 0.5, 0.5, 0.5), (0.5, 1e6, 3, 2), (0.5, 30.5, 0.5, 10.5),
    (26.5, 0.5, 40.5, 0.5), (0.25, 8, 60, 0.25), (1e6, 3, 1e6, 5), (1000.5, 2000.5, 900.5, 2000.5),
]  # fmt: skip


def outer(a, b, link="identity"):
    return Outer(Beta(np.asarray(float(a)), np.asarray(float(b)), link), 0.0, 1.0)


def table(n10=22, n01=7, both=191, none=30):
    """Return a joint table with so many items right by either; a third are positive."""
    y, a, b = [], [], []
    for count, right_a, right_b in ((both, 1, 1), (n10, 1, 0), (n01, 0, 1), (none, 0, 0)):
        actual = (np.arange(count) % 3 == 0).astype(int)
        y += list(actual)
        a += list(np.where(right_a, actual, 1 - actual))
        b += list(np.where(right_b, actual, 1 - actual))
    return bayescm.data.paired_counts(y, {"A": a, "B": b}, labels=[0, 1])


def one(tree, variable, **where):
    return tree["summary"][variable].sel(**where).squeeze("comparison").values


def test_the_comparisons_of_the_thesis():
    made = bayescm.compare_systems(MORAIS, ["recall", "f1"], ci_kind="eti", random_seed=1)
    better = made["summary"].probability_better.sel(comparison="one - two").values
    assert 1 - better[0] == pytest.approx(0.23718156360763404, abs=1e-9)  # credible.cmp.recall
    assert 1 - better[1] == pytest.approx(0.426307, abs=1e-6)  # Morais, see ERRATA
    assert (made["summary"].method == "exact").all()
    assert (made["summary"].mcse_probability == 0).all()


def test_the_comparison_of_caelen_for_theta():
    counts = bayescm.datasets.caelen2017()
    made = bayescm.compare_systems(counts, "mcc", design="independent", prior="haldane", require="mcc > 0")
    assert one(made, "probability_better", metric="matthews_correlation") == pytest.approx(0.875, abs=5e-4)
    assert made["summary"].requirement.sel(system="B").item() == pytest.approx(0.976, abs=5e-4)


@pytest.mark.parametrize("d", [0.0, 0.05, -0.1, 1e-4, 0.3])
@pytest.mark.parametrize("numbers", HARD)
def test_differences_of_betas_by_the_other_integral(numbers, d):
    a1, b1, a2, b2 = numbers
    dist = Independent(outer(a1, b1), outer(a2, b2))
    found, error = dist.both(d)
    first, second = stats.beta(a1, b1), stats.beta(a2, b2)
    outside, inside, move = (second, first.cdf, d) if second.std() <= first.std() else (first, second.sf, -d)

    def value(z):
        y = outside.ppf(special.ndtr(z)) if z < 0 else outside.isf(special.ndtr(-z))
        return inside(y + move) * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)

    near = special.ndtri(outside.cdf([-move, 1 - move]))  # where the inner distribution begins and ends
    panels = itertools.pairwise([-9, *sorted(float(z) for z in near if abs(z) < 9), 9])
    expected = sum(integrate.quad(value, low, high, epsabs=1e-11, limit=400)[0] for low, high in panels)
    assert found[0] == pytest.approx(expected, abs=1e-8)
    assert found.sum() == pytest.approx(1, abs=1e-12)
    assert error < 1e-7


def test_a_narrow_and_a_wide_distribution_against_mpmath():
    dist = Independent(outer(1e6, 3), outer(5, 2))  # mpmath, 30 digits
    for d, expected in ((0.0, 1.7999634005100089e-10), (0.05, 0.03277749350787216), (0.3, 0.5798314826496819)):
        assert dist.cdf(d) == pytest.approx(expected, rel=1e-9)
        assert Independent(outer(5, 2), outer(1e6, 3)).sf(-d) == pytest.approx(expected, rel=1e-9)


def test_quantiles_and_moments_of_a_difference_against_draws():
    rng = np.random.default_rng(1)
    first, second = rng.beta(10.5, 5.5, 10**6), rng.beta(3.5, 3.5, 10**6)
    dist = Independent(outer(10.5, 5.5), outer(3.5, 3.5))
    difference, ratio = first - second, Independent(outer(10.5, 5.5), outer(3.5, 3.5), ratio=True)
    for p in (1e-3, 0.025, 0.5, 0.9):
        assert dist.cdf(dist.ppf(p)) == pytest.approx(p, rel=1e-8)
        assert dist.ppf(p) == pytest.approx(np.quantile(difference, p), abs=6e-3)
        assert ratio.ppf(p) == pytest.approx(np.quantile(first / second, p), rel=1e-2)
    assert dist.mean() == pytest.approx(difference.mean(), abs=1e-3)
    assert dist.sd() == pytest.approx(difference.std(), rel=3e-3)
    low, high = dist.interval(0.8, "hdi")
    assert dist.cdf(high) - dist.cdf(low) == pytest.approx(0.8, abs=1e-8)
    eti = dist.interval(0.8, "eti")
    assert high - low <= eti[1] - eti[0]
    step = 1e-5
    densities = [(dist.cdf(x + step) - dist.cdf(x - step)) / (2 * step) for x in (low, high)]
    assert densities[0] == pytest.approx(densities[1], rel=1e-3)


@pytest.mark.parametrize("name", ["mcc", "f2", "lr+", "informedness", "p4", "net_benefit(threshold=0.3)"])
@pytest.mark.parametrize(
    "cells", [(3, 3, 2, 20), pytest.param((5, 0, 0, 20), marks=pytest.mark.slow), (10**6, 3, 10**3, 10**7)]
)
def test_tables_keep_the_distribution(name, cells):
    counts = bayescm.from_cells(**dict(zip(("tp", "fn", "fp", "tn"), cells, strict=True)))
    metric = resolve(name, 2)[0]
    base = concentrations("jeffreys", "dirichlet_multinomial", 2)
    dist = distributions.exact_distribution(metric, dirichlet.posterior(counts.values, base))
    made = Table(dist, metric.lower, metric.upper)
    x = made.ppf(special.ndtr(np.linspace(-5.03, 5.03, 31)))
    np.testing.assert_allclose(made.cdf(x), dist.cdf(x), atol=1e-8)
    np.testing.assert_allclose(made.sf(x), dist.sf(x), atol=1e-8)
    assert made.worst < 1e-8
    assert made.cdf(np.array([metric.lower - 1, np.inf])).tolist() == [0, 1]


def test_tables_reach_over_a_tail_that_ends_as_a_cliff():
    counts = {"A": [[10**6, 30], [8, 12]], "B": [[10**6, 10], [15, 5]]}
    found = bayescm.compare_systems(counts, ["informedness", "recall"], random_seed=1)["summary"].isel(comparison=0)
    of_both, of_recall = found.interval.values  # the false positive rates take a known 2e-5 away
    np.testing.assert_allclose(of_both, of_recall - 2e-5, atol=1e-6)
    assert found.method.values.tolist() == ["exact", "exact"]


def test_a_system_of_millions_of_items_is_a_constant_beside_one_of_eleven():
    few, many = [[3, 2], [2, 4]], [[5090343, 210002], [21192668, 54689979]]
    options = {"model": "three_binomial", "prior": "jeffreys"}
    found = bayescm.compare_systems({"A": few, "B": many}, "mcc", **options)["summary"]
    alone, constant = (bayescm.metric_distribution(counts, "mcc", **options) for counts in (few, many))
    wanted = alone.ppf([0.025, 0.975]) - float(constant.mean())
    np.testing.assert_allclose(found.interval.values.ravel(), wanted, atol=1e-5)


def test_ratios_of_a_rate_with_and_of_one_without_a_failure_are_exact():
    first, second = stats.beta(126.5, 37.5), stats.beta(18.5, 0.5)
    counts = {"A": [[126, 37], [0, 100]], "B": [[18, 0], [0, 100]]}
    found = bayescm.compare_systems(counts, "specificity", prior="jeffreys", model="three_binomial")["summary"]
    for end, below in zip(found.ratio_interval.values.ravel(), (0.025, 0.975), strict=True):
        value, _ = integrate.quad(lambda p, x=end: first.cdf(x * second.ppf(p)), 0, 1, epsabs=1e-11, limit=400)
        assert value == pytest.approx(below, abs=1e-8)


def test_tables_state_the_probability_that_they_lack():
    base = concentrations("jeffreys", "dirichlet_multinomial", 2)
    metric = resolve("kappa", 2)[0]
    dist = distributions.exact_distribution(metric, dirichlet.posterior(np.array([[19, 1], [851202, 1]]), base))
    made = Table(dist, metric.lower, metric.upper)
    x = np.asarray(dist.ppf(np.linspace(0.01, 0.99, 25)))
    assert np.abs(made.cdf(x) - dist.cdf(x)).max() <= made.worst
    assert made.worst >= special.ndtr(-made.range[1])


@pytest.mark.parametrize(
    "numbers",
    [
        (5.5, 10.5, 84),
        (0.5, 0.5, 1),
        (500, 0.5, 500),
        (5e5, 50, 5e5),
        (50.5, 50.5, 1e6),
        (30.5, 0.5, 0.5),
        (2, 300, 0.5),
    ],
)
def test_paired_differences_by_two_integrals_and_draws(numbers):
    dist = Discordant(*numbers)
    cells = np.random.default_rng(1).dirichlet(numbers, 200_000)
    difference = cells[:, 0] - cells[:, 1]
    assert dist.mean() == pytest.approx(difference.mean(), abs=5 * dist.sd() / 447)
    assert dist.sd() == pytest.approx(difference.std(), rel=0.02)
    for d in (0.02, dist.mean() - 0.7 * dist.sd(), dist.mean() + 0.5 * dist.sd(), -0.3):
        found = dist.both(d)[0]
        over_side = dist.part.mean_of(lambda u, d=d: dist._given_side(u, d), (0.5, 0.5 + d / 2))[0]
        over_size = dist.size.mean_of(lambda t, d=d: dist._given_size(t, d), (abs(d),))[0]
        np.testing.assert_allclose(over_side, over_size, atol=1e-9)
        np.testing.assert_allclose(found, over_size, atol=1e-9)
        assert found[0] == pytest.approx((difference <= d).mean(), abs=5e-3)
    assert dist.sf(0.0) == pytest.approx(special.betaincc(*numbers[:2], 0.5), rel=1e-12)
    assert dist.cdf(dist.ppf(0.1)) == pytest.approx(0.1, rel=1e-7)
    assert (dist.cdf(-1.0), dist.cdf(1.0)) == (0, 1)


def test_paired_proportions_agree_with_draws_of_a_dirichlet_of_three_shares():
    made = bayescm.compare_systems(table(), ["accuracy", "recall", "fpr"], rope=0.01, random_seed=1)
    flips = made["flips"].to_dataset().squeeze("comparison")
    names = ("only_first_right", "only_second_right", "both_right", "both_wrong")
    first, second, *rest = (flips[name].values for name in names)
    rng = np.random.default_rng(1)
    for name, where in (("accuracy", [0, 1]), ("recall", [1]), ("false_positive_rate", [0])):
        cells = [first[where].sum() + 1.0, second[where].sum() + 1.0, sum(rest)[where].sum() + 1.0]
        ahead, behind, _ = rng.dirichlet(cells, 200_000).T
        gain = ahead - behind
        sides = [(gain < -0.01).mean(), (np.abs(gain) <= 0.01).mean(), (gain > 0.01).mean()]
        np.testing.assert_allclose(one(made, "probability", metric=name), sides, atol=6e-3)
        assert abs(one(made, "mean", metric=name)) == pytest.approx(gain.mean(), abs=1e-3)
    assert (made["summary"].method == "exact").all()


def classes(n10, n01, k, both=60, none=20):
    """Return answers to items of k classes in turn, of which each system alone gets so many right."""
    right = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [both, n10, n01, none], axis=0).astype(bool)
    actual = np.arange(len(right)) % k
    given = np.where(right.T, actual, (actual + 1) % k)
    return bayescm.predictions(actual, {"A": given[0], "B": given[1]}, labels=list(range(k)))


@pytest.mark.parametrize("k", [2, 3, 20])
@pytest.mark.parametrize(
    ("n10", "n01", "verdict", "reason"),
    [
        (12, 4, "better", "12 items against 4"),
        (4, 12, "worse", "12 items against 4"),
        (9, 7, "undecided", "9 items against 7"),
        (12, 5, "undecided", "12 items against 5"),  # P(better) .952: the printed interval holds 0, McNemar's p is .14
        (5, 0, "better", "5 items against 0"),
        (4, 0, "undecided", "only 4 items tell them apart"),
        (3, 0, "undecided", "only 3 items tell them apart"),
        (2, 0, "undecided", "only 2 items tell them apart"),
        (0, 1, "undecided", "only 1 item tells them apart"),
        (0, 0, "undecided", "no item tells them apart"),
    ],
)
def test_verdicts_rest_on_enough_items_whatever_the_number_of_classes(n10, n01, k, verdict, reason):
    found = bayescm.compare_systems(classes(n10, n01, k), chains=1, draws=200, random_seed=1)["summary"]
    expected = stats.binom.cdf(n10, n10 + n01 + 1, 0.5)  # Beta(n10 + 1, n01 + 1) above 1/2, by the binomial
    assert found.probability_better.item() == pytest.approx(expected, rel=1e-12)
    if n10 != n01:  # half the mid-p value is the probability of the system that loses
        mid_p = frequentist.mcnemar(n10, n01)[1]
        assert min(expected, 1 - expected) == pytest.approx(mid_p / 2, rel=1e-9)
    assert (found.verdict.item(), found.reason.item()) == (verdict, reason)
    assert found.discordant.sel(only=["first", "second"]).values.ravel().tolist() == [n10, n01]
    assert found.discordant.attrs["fewest_that_decide"] == 5
    lower, upper = found.interval.values.ravel()
    assert (verdict == "undecided") == (lower <= 0 <= upper)


@pytest.mark.parametrize("decision_prob", [0.8, 0.9, 0.95, 0.99])
def test_equal_systems_get_a_verdict_no_more_often_than_is_said(decision_prob):
    more = of_pairs(concentrations("jeffreys", "dirichlet_multinomial", 2).rows)
    m = np.arange(241)
    better = special.betaincc(m[:, None] + more, m[None, :] + more, 0.5) >= decision_prob
    assert better[:, 0].argmax() == frequentist.fewest_that_decide(decision_prob)
    for expected in (*np.arange(0.5, 20, 0.5), *range(20, 101, 4)):
        chance = stats.poisson.pmf(m, expected / 2)
        assert 2 * chance @ better @ chance <= 2 * (1 - decision_prob) + 1e-9, expected


def test_discordant_items_of_other_metrics():
    joint = table(12, 4, 60, 20)
    metrics = ["accuracy", "error_rate", "recall", "specificity", "mcc"]
    found = bayescm.compare_systems(joint, metrics, random_seed=1)["summary"].sel(comparison="A - B")
    flips = bayescm.compare_systems(joint, random_seed=1)["flips"].sel(comparison="A - B")
    positives, negatives = ([int(flips[f"only_{s}_right"][i]) for s in ("first", "second")] for i in (1, 0))
    assert found.discordant.values.tolist() == [[12, 4], [12, 4], positives, negatives, [12, 4]]
    assert found.reason.sel(metric="error_rate") == "12 items against 4"
    assert found.reason.sel(metric="matthews_correlation") == "16 items tell them apart"
    both_wrong = bayescm.predictions([0, 1, 2] * 8, {"A": [1, 2, 0] * 8, "B": [1, 2, 1] * 8}, labels=[0, 1, 2])
    found = bayescm.compare_systems(both_wrong, ["f1_macro", "precision"], random_seed=1)["summary"]
    assert found.reason.values.tolist() == [["8 items tell them apart"] * 3 + ["no item tells them apart"]]


def test_three_items_decide_a_metric_by_draws_only_where_the_prior_is_given_in_numbers():
    answers = classes(3, 0, 2, both=40, none=10)
    found = bayescm.compare_systems(answers, ["mcc", "f1"], random_seed=1)["summary"]
    assert (found.verdict == "undecided").all()
    assert (found.reason == "only 3 items tell them apart").all()
    found = bayescm.compare_systems(answers, ["mcc", "f1"], prior=0.01, random_seed=1)["summary"]
    assert (found.verdict == "better").all()
    assert (found.reason == "3 items tell them apart").all()


def test_draws_of_proportions_are_those_of_their_own_posterior():
    found = bayescm.compare_systems(table(5, 1, 30, 6), ["accuracy", "recall", "mcc"], draws=5000, random_seed=1)
    summary, drawn = (found[name].to_dataset().isel(comparison=0) for name in ("summary", "posterior"))
    for name in ("accuracy", "recall"):
        row, values = summary.sel(metric=name), drawn[name].values.ravel()
        first, second = row.discordant.values
        items = found["flips"].to_dataset().isel(comparison=0, actual=slice(None) if name == "accuracy" else [1])
        rest = (items.both_right + items.both_wrong).sum() + 1
        dist = Discordant(first + 1.0, second + 1.0, float(rest))
        for share in (0.05, 0.2, 0.5, 0.8, 0.95):
            error = np.sqrt(share * (1 - share) / values.size)
            assert dist.cdf(np.quantile(values, share)) == pytest.approx(share, abs=5 * error)
        assert (values > 0).mean() == pytest.approx(row.probability_better.item(), abs=0.015)
    assert np.corrcoef(drawn["accuracy"].values.ravel(), drawn["matthews_correlation"].values.ravel())[0, 1] > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["accuracy", "recall"])
def test_a_prior_means_the_same_by_its_name_and_in_numbers(metric):
    def asked(prior):
        return bayescm.compare_systems(table(5, 1, 30, 6), metric, prior=prior, draws=200, random_seed=1)

    named = asked("jeffreys")
    for numbers in (0.5, [[0.5, 0.5], [0.5, 0.5]]):
        assert asked(numbers).drop_nodes("observed_data").equals(named.drop_nodes("observed_data"))
    far = asked([[80, 20], [10, 90]])["summary"]  # how good either is says nothing of the items they differ in
    assert far.probability_better.equals(named["summary"].probability_better)
    first, second = named["summary"].discordant.values.ravel()
    haldane = asked(0)["summary"].probability_better.item()
    assert haldane == pytest.approx(special.betaincc(first, second, 0.5), rel=1e-12)


def test_of_which_metrics_it_is_counted_who_got_an_item():
    for name in ("precision", "prevalence", "f1", "mcc"):
        assert frequentist.proportion_of(bayescm.comparison.inputs.entries_of(resolve(name, 2), "ab")[0], 2) is None


def test_pairing_matters_on_the_same_data():
    joint = table()
    paired = bayescm.compare_systems(joint, random_seed=1)
    with pytest.warns(UserWarning, match="answered the same items"):
        unpaired = bayescm.compare_systems(joint, design="independent", random_seed=1)
    with pytest.warns(UserWarning, match="same class totals"):
        guessed = bayescm.compare_systems(bayescm.data.margins(joint), random_seed=1)
    assert paired["tests"].p_value.sel(test="mcnemar_exact").item() == pytest.approx(0.00813, abs=1e-5)
    assert unpaired["tests"].p_value.sel(test="score").item() == pytest.approx(0.0795, abs=1e-4)
    assert guessed["summary"].equals(unpaired["summary"])
    assert paired["summary"].sd.item() < unpaired["summary"].sd.item()
    assert one(paired, "verdict", metric="accuracy") == "better"
    assert paired.attrs["design"] == "paired"
    assert "flips" not in unpaired.children


def test_flips_count_items():
    joint = table(5, 2, 20, 3)
    found = bayescm.compare_systems(joint)["flips"].sum()
    names = ("both_right", "only_first_right", "only_second_right", "both_wrong", "answers_differ")
    assert [int(found[name]) for name in names] == [20, 5, 2, 3, 7]


def test_mcnemar_against_the_binomial():
    for n10, n01 in ((22, 7), (7, 22), (5, 5), (0, 3), (0, 0), (1, 0)):
        exact, mid, anytime, *_ = frequentist.mcnemar(n10, n01)
        n, k = n10 + n01, min(n10, n01)
        assert exact == pytest.approx(stats.binomtest(n10, n).pvalue if n else 1.0)
        equal = stats.binom.pmf(k, n, 0.5)
        assert mid == pytest.approx(min(2 * stats.binom.cdf(k, n, 0.5) - equal, 1))
        assert anytime == pytest.approx(min(equal / stats.betabinom.pmf(k, n, 0.5, 0.5), 1))


def test_newcombe_s_intervals():
    # Newcombe 1998, Statistics in Medicine 17:873, table II, method 10
    np.testing.assert_allclose(frequentist.newcombe((56, 48), (70, 80), 0.95), [0.0524, 0.3339], atol=5e-5)
    np.testing.assert_allclose(frequentist.newcombe((9, 3), (10, 10), 0.95), [0.1705, 0.8090], atol=5e-5)
    # 17:2635, method 10: 36, 12, 2, 0
    found = frequentist.newcombe_paired(frequentist.Agreement(36, 12, 2, 0), 0.95)
    np.testing.assert_allclose(found, [0.0569, 0.3404], atol=5e-5)
    assert np.isnan(frequentist.newcombe_paired(frequentist.Agreement(0, 0, 0, 0), 0.95)).all()
    # no correlation where a margin is empty: the independent interval
    alike = frequentist.newcombe_paired(frequentist.Agreement(40, 10, 0, 0), 0.95)
    np.testing.assert_allclose(alike, frequentist.newcombe((50, 40), (50, 50), 0.95))


@pytest.mark.parametrize("n", [(1, 1), (3, 8), (40, 40), (70, 2000), (30_000, 30_000)])
def test_fishers_test_against_scipy(n):
    rng = np.random.default_rng(sum(n))
    for k in [(0, 0), n, (n[0], 0), *(tuple(rng.integers(0, n, endpoint=True).tolist()) for _ in range(8))]:
        wanted = stats.fisher_exact([[one, size - one] for one, size in zip(k, n, strict=True)]).pvalue
        assert frequentist.fisher_exact(k, n) == pytest.approx(wanted, rel=1e-10, abs=1e-300)


def test_independent_tests_against_scipy():
    fisher, score, *_ = frequentist.independent_tests((56, 48), (70, 80))
    assert fisher == pytest.approx(stats.fisher_exact([[56, 14], [48, 32]]).pvalue, rel=1e-12)
    assert score == pytest.approx(stats.chi2_contingency([[56, 14], [48, 32]], correction=False).pvalue)
    assert np.isnan(frequentist.independent_tests((0, 1), (0, 3))).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["eti", "hdi"])
def test_every_metric_agrees_with_its_draws(kind):
    names = None if kind == "eti" else ["recall", "f1", "lr-"]
    made = bayescm.compare_systems(MORAIS, names, rope=0.02, ci_kind=kind, draws=10_000, random_seed=3)
    for name in made["summary"].metric.values:
        table_ = made["summary"].sel(metric=name).isel(comparison=0)
        draws = made["posterior"][name].values.ravel()
        gain = -draws if resolve(name, 2)[0].loss else draws
        low, high = table_.interval.values
        assert table_.method == "exact"
        assert ((draws > low) & (draws < high)).mean() == pytest.approx(0.95, abs=0.006)
        sides = [(gain < -0.02).mean(), (np.abs(gain) <= 0.02).mean(), (gain > 0.02).mean()]
        np.testing.assert_allclose(table_.probability, sides, atol=0.012)
        assert np.isnan(table_.ratio) == (resolve(name, 2)[0].lower < 0)


def test_a_loss_is_better_where_it_is_smaller():
    made = bayescm.compare_systems(MORAIS, ["accuracy", "error_rate"], rope=0.01, random_seed=1)
    first, second = (made["summary"].sel(metric=name) for name in ("accuracy", "error_rate"))
    np.testing.assert_allclose(first["probability_better"], second["probability_better"], atol=1e-10)
    np.testing.assert_allclose(first.probability, second.probability, atol=1e-10)
    np.testing.assert_allclose(first["mean"], -second["mean"], atol=1e-10)


def test_verdicts():
    many = bayescm.from_cells(
        tp=[900, 905, 700], fn=[100, 95, 300], fp=[50, 50, 50], tn=[950, 950, 950], dims="system"
    ).assign_coords(system=list("abc"))
    made = bayescm.compare_systems(many, "accuracy", design="independent", rope=0.03)
    assert made["summary"].verdict.values.ravel().tolist() == ["equivalent", "better", "better"]
    made = bayescm.compare_systems(many, "accuracy", design="independent", reference="a")
    assert made["summary"].comparison.values.tolist() == ["b - a", "c - a"]
    assert made["posterior"].second.values.tolist() == ["a", "a"]
    assert made["summary"].verdict.values.ravel().tolist() == ["undecided", "worse"]


def test_identical_systems_are_undecided():
    y = [0, 1, 1, 0, 1, 0, 0, 1]
    p = [0, 1, 0, 0, 1, 1, 0, 1]
    made = bayescm.compare_systems(bayescm.data.paired_counts(y, {"A": p, "B": p}), ["accuracy", "mcc", "prevalence"])
    assert one(made, "probability_better", metric="accuracy") == pytest.approx(0.5)
    assert one(made, "probability", metric="prevalence").tolist() == [0, 1, 0]
    assert one(made, "verdict", metric="prevalence") == "equivalent"
    assert abs(one(made, "mean", metric="matthews_correlation")) < 0.05
    twice = MORAIS.isel(system=[0, 0]).assign_coords(system=["a", "b"])
    made = bayescm.compare_systems(twice, ["f1", "lr+"], design="independent")
    np.testing.assert_allclose(made["summary"].probability_better, 0.5, atol=1e-9)
    assert one(made, "ratio", metric="f1") == pytest.approx(1)


def test_predictions_and_joint_tables_give_the_same():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 120)
    answers = {
        name: np.where(rng.random(120) < p, y, rng.integers(0, 3, 120))
        for name, p in (("A", 0.8), ("B", 0.6), ("C", 0.7))
    }
    one_way = bayescm.compare_systems(
        bayescm.predictions(y, answers), ["accuracy", "recall", "f1_macro"], random_seed=4
    )
    other = bayescm.compare_systems(
        bayescm.data.paired_counts(y, answers), ["accuracy", "recall", "f1_macro"], random_seed=4
    )
    xr.testing.assert_allclose(one_way["summary"].to_dataset(), other["summary"].to_dataset())
    summary = one_way["summary"]
    assert summary.metric.values.tolist() == ["accuracy", "recall[0]", "recall[1]", "recall[2]", "f1_macro"]
    assert summary.method.sel(comparison="A - B").values.tolist() == ["exact"] * 4 + ["draws"]
    assert (summary.mcse_probability.sel(metric="f1_macro") < 0.01).all()
    draws = one_way["posterior"]
    assert draws["recall"].dims == ("chain", "draw", "comparison", "class_label")
    for i, name in enumerate(["recall[0]", "recall[1]", "recall[2]"]):
        np.testing.assert_allclose(
            summary["mean"].sel(metric=name), draws["recall"].isel(class_label=i).mean(("chain", "draw")), atol=6e-3
        )
    only = bayescm.compare_systems(bayescm.data.paired_counts(y, {n: answers[n] for n in "AC"}), "accuracy")
    assert only["summary"]["mean"].item() == pytest.approx(
        summary["mean"].sel(comparison="A - C", metric="accuracy").item()
    )


def test_three_labels_of_other_items():
    rng = np.random.default_rng(3)
    counts = bayescm.from_array(rng.integers(1, 30, (2, 3, 3)), dims="system")
    made = bayescm.compare_systems(counts, ["accuracy", "precision", "f1", "mcc"], random_seed=1, draws=10_000)
    assert set(made["summary"].method.values.ravel()) == {"exact", "draws"}
    for name in ("precision", "f1"):
        better = (made["posterior"][name] > 0).mean(("chain", "draw")).values.ravel()
        exact = made["summary"].probability_better.sel(metric=[f"{name}[{i}]" for i in range(3)]).values.ravel()
        np.testing.assert_allclose(exact, better, atol=0.012)


def test_an_uncertain_prevalence_leaves_proportions_of_one_class_exact():
    given, alone = (
        bayescm.compare_systems(MORAIS, ["recall", "fpr", "accuracy"], prevalence=p)["summary"].to_dataset()
        for p in ((3, 7), None)
    )
    assert given.method.values.tolist() == [["exact", "exact", "draws"]]
    np.testing.assert_allclose(given.interval[:, :2], alone.interval[:, :2], atol=1e-9)


def test_prevalence_is_exchanged():
    joint = table()
    made = bayescm.compare_systems(joint, ["recall", "accuracy", "precision"], prevalence=0.1, random_seed=1)
    assert made["summary"].method.values.tolist() == [["exact", "draws", "draws"]]
    rates = bayescm.metrics.evaluate(bayescm.data.margins(joint), ["recall", "specificity"])
    accuracy = 0.1 * rates.recall + 0.9 * rates.specificity
    assert one(made, "point", metric="accuracy") == pytest.approx(float(accuracy[0] - accuracy[1]))
    apart = bayescm.compare_systems(MORAIS, ["precision", "prevalence"], prevalence=0.1, random_seed=1, draws=10_000)
    assert apart["summary"].method.values.tolist() == [["exact", "draws"]]
    assert one(apart, "probability", metric="prevalence").tolist() == [0, 1, 0]
    draws = apart["posterior"].precision.values
    assert one(apart, "probability_better", metric="precision") == pytest.approx((draws > 0).mean(), abs=0.012)


@pytest.mark.parametrize("prob", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("ratio", [False, True])
@pytest.mark.parametrize("pairs", [(40.5, 10.5, 35.5, 15.5), (26.5, 0.5, 6.5, 2.5), (2, 5, 200, 500), (1, 1, 1, 1)])
def test_the_shortest_interval_of_a_difference_is_that_of_its_own_quantiles(pairs, ratio, prob):
    a, b, c, d = map(np.float64, pairs)
    dist = Independent(Outer(Beta(a, b), 0.0, 1.0), Outer(Beta(c, d), 0.0, 1.0), ratio)
    lower, upper, _ = dist.hdi(prob)
    assert dist.cdf(upper) - dist.cdf(lower) == pytest.approx(prob, abs=1e-9)
    again = Independent(dist.first, dist.second, ratio)  # knows no quantiles yet
    slow = Distribution.hdi(again, prob)
    assert upper - lower <= (slow[1] - slow[0]) * (1 + 1e-8)
    for left in np.linspace(0.1, 0.9, 5) * (1 - prob):
        assert again.ppf(left + prob) - again.ppf(left) >= (upper - lower) * (1 - 1e-8)


def test_a_difference_of_long_tails_keeps_its_quantiles():
    counts = bayescm.from_cells(tp=[0, 3], fn=[3, 1], fp=[2, 0], tn=[20, 20], dims="system")
    made = bayescm.compare_systems(counts, "lr+", design="independent", ci_kind="hdi", random_seed=1)
    drawn = made["posterior"]["positive_likelihood_ratio"].values.ravel()
    lower, upper = made["summary"]["interval"].values.ravel()
    assert ((drawn > lower) & (drawn < upper)).mean() == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize(
    "cells",
    [
        {"tp": [5, 5], "fn": [0, 0], "fp": [0, 0], "tn": [20, 19]},
        {"tp": [0, 0], "fn": [0, 0], "fp": [0, 2], "tn": [20, 18]},
        {"tp": [10**9] * 2, "fn": [5, 9], "fp": [10**9, 10**8], "tn": [10**9] * 2},
        {"tp": [0, 3], "fn": [3, 1], "fp": [2, 0], "tn": [20, 20]},
    ],
)
def test_extreme_matrices(cells):
    counts = bayescm.from_cells(**cells, dims="system")
    metrics = ["accuracy", "recall", "f1", "lr+", "dor", "informedness", "mcc"]
    made = bayescm.compare_systems(counts, metrics, design="independent", rope=0.01, random_seed=1)["summary"]
    assert not np.isnan(made.probability).any()
    np.testing.assert_allclose(made.probability.sum("side"), 1, atol=1e-9)
    assert (made.interval.sel(ci_bound="lower") < made.interval.sel(ci_bound="upper")).all()
    if cells["fp"][0] == 0 and cells["tp"][0] == 5:
        assert np.isnan(one({"summary": made}, "mean", metric="positive_likelihood_ratio"))  # infinite less infinite


def folds():
    rng = np.random.default_rng(5)
    tp, tn = rng.binomial(20, 0.8, (2, 10)), rng.binomial(30, [[0.9], [0.8]], (2, 10))
    dims = ("system", "fold")
    counts = bayescm.from_cells(tp=tp, fn=20 - tp, fp=30 - tn, tn=tn, dims=dims)
    return counts.assign_coords(system=["A", "B"])


def test_folds_are_pooled_and_tested():
    made = bayescm.compare_systems(folds(), ["accuracy", "mcc"], pooling="complete", random_seed=1)
    assert made.attrs["design"] == "folds"
    assert made.attrs["pooling"] == "complete"
    assert made.attrs["runs"] == 1
    assert "training sets overlap" in made.attrs["meaning"]
    assert (made["summary"].method == "draws").all()
    pooled = bayescm.compare_systems(folds().sum("fold"), "accuracy", design="independent")
    assert one(made, "mean", metric="accuracy") == pytest.approx(pooled["summary"]["mean"].item(), abs=3e-3)
    scores = bayescm.metrics.evaluate(folds(), "accuracy").accuracy
    d = (scores.sel(system="A") - scores.sel(system="B")).values
    t = d.mean() / np.sqrt((1 / 10 + 1 / 9) * d.var(ddof=1))  # Nadeau and Bengio, rho / (1 - rho) = 1/9
    p_value = made["tests"].p_value.sel(metric="accuracy").item()
    assert p_value == pytest.approx(2 * stats.t.sf(abs(t), 9), rel=1e-9)
    assert made["tests"].correlated_t.sel(metric="accuracy").mean().item() == pytest.approx(d.mean())


def test_correlated_t_of_sonar():
    scores = bayescm.datasets.corani2017()
    difference = (scores.sel(classifier="j48") - scores.sel(classifier="nbc")).sel(dataset="sonar")[:10].values
    p_value = companions.correlated_t(difference, 1, 0.95)[0]
    assert p_value == pytest.approx(2 * 0.4145119975061462, rel=1e-10)  # field.18, baycomp
    assert np.isnan(companions.correlated_t(np.ones(5), 1, 0.95)).all()


def test_results_are_arviz_s_and_survive_a_file(tmp_path):
    made = bayescm.compare_systems(MORAIS, ["recall", "mcc"], random_seed=1)
    assert list(az.summary(made).index) == ["recall[one - two]", "matthews_correlation[one - two]"]
    made.to_netcdf(tmp_path / "made.nc")
    with xr.open_datatree(tmp_path / "made.nc") as back:
        xr.testing.assert_equal(back["summary"].to_dataset(), made["summary"].to_dataset())
        assert back.attrs == made.attrs
        xr.testing.assert_equal(back["posterior"].to_dataset(), made["posterior"].to_dataset())
    assert json.loads(made.attrs["reference"]) is None
    again = bayescm.compare_systems(MORAIS, ["recall", "mcc"], random_seed=1)
    assert again["posterior"].equals(made["posterior"])


def test_functions_and_missing_draws():
    def gain(tp, fp):
        return tp - 2 * fp

    made = bayescm.compare_systems(MORAIS, {"gain": gain}, random_seed=1)
    assert one(made, "method", metric="gain") == "draws"
    with pytest.warns(UserWarning, match="undefined"):
        made = bayescm.compare_systems(MORAIS, {"bad": lambda tp: np.full_like(tp, np.nan)}, random_seed=1)
    assert np.isnan(one(made, "probability_better", metric="bad"))
    assert one(made, "verdict", metric="bad") == "undecided"


@pytest.mark.parametrize("metric", ["accuracy", "error_rate"])
def test_right_and_wrong_answers_alone_are_compared_as_they_are_ranked(metric):
    answers = bayescm.datasets.kaggle2019().isel(system=slice(3))
    asked = {"design": "independent", "prior": "laplace"}
    board = bayescm.leaderboard(answers, metric=metric, **asked).probability_better
    made = bayescm.compare_systems(answers, metric, require="accuracy > .99", random_seed=1, **asked)
    better = made["summary"].probability_better.isel(metric=0)
    np.testing.assert_allclose(better, [board[0, 1], board[0, 2], board[1, 2]], atol=1e-7)
    right, wrong = (answers[name].values for name in ("correct", "wrong"))
    met = stats.beta(right + 1, wrong + 1).sf(0.99)
    np.testing.assert_allclose(made["summary"]["requirement"].isel(claim=0), met, rtol=1e-9)
    assert (made["summary"].method == "exact").all()
    assert made["tests"].p_value.sel(test=["fisher_exact", "score"]).notnull().all()
    with pytest.raises(ValueError, match="'accuracy' or 'error_rate'"):
        bayescm.compare_systems(answers, "recall", **asked)


def test_messages():
    joint = table()
    with pytest.raises(ValueError, match="paired_counts"):
        bayescm.compare_systems(MORAIS, design="paired")
    with pytest.raises(ValueError, match="`reference`"):
        bayescm.compare_systems(MORAIS, reference="three")
    with pytest.raises(ValueError, match="two systems"):
        bayescm.compare_systems(MORAIS.isel(system=[0]))
    with pytest.raises(ValueError, match="'system'"):
        bayescm.compare_systems(MORAIS.rename(system="dataset"))
    with pytest.raises(ValueError, match="twice"):
        bayescm.compare_systems(MORAIS.assign_coords(system=["a", "a"]))
    four = MORAIS.isel(system=[0, 1, 0, 1]).assign_coords(system=["a", "b - c", "a - b", "c"])
    with pytest.raises(ValueError, match="'a - b - c' twice"):
        bayescm.compare_systems(four)
    with pytest.raises(TypeError, match="`decision_prob`"):  # a verdict is where the interval lies
        bayescm.compare_systems(MORAIS, decision_prob=0.4)
    with pytest.raises(ValueError, match="`rope`"):
        bayescm.compare_systems(MORAIS, rope=-1)
    with pytest.raises(ValueError, match="dirichlet_multinomial"):
        bayescm.compare_systems(joint, model="three_binomial")
    with pytest.raises(TypeError, match="`pooling`"):
        bayescm.compare_systems(MORAIS, pooling="complete")
    with pytest.raises(ValueError, match="`prior`"):
        bayescm.compare_systems(table(5, 0, 20, 3), prior="haldane")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="160"):
            bayescm.compare_systems(MORAIS, chains=1, draws=10)
        for name in ("chains", "draws"):
            with pytest.raises(ValueError, match=f"`{name}` must be a positive integer"):
                bayescm.compare_systems(MORAIS, **{name: 0})


def test_non_inferiority_is_not_worse_than_the_rope():
    joint = table(8, 10, 200, 20)
    made = bayescm.compare_systems(joint, rope=0.05)
    dist = Discordant(9, 11, 221)
    assert 1 - made["summary"].probability.sel(side="worse").item() == pytest.approx(dist.sf(-0.05))
    by_hand = integrate.quad(lambda t: stats.beta.pdf(t, 20, 221) * stats.beta.sf((1 - 0.05 / t) / 2, 9, 11), 0.05, 0.4)
    below = stats.beta.cdf(0.05, 20, 221)
    assert dist.sf(-0.05) == pytest.approx(by_hand[0] + below, abs=1e-8)


def test_errors_of_draws():
    rng = np.random.default_rng(1)
    independent = (rng.random(4000) < 0.3).astype(float)
    expected = np.sqrt(0.3 * 0.7 / 4000)
    assert Draws(independent).side(0.5, ">").mcse == pytest.approx(expected, rel=0.03)
    sticky = np.repeat(independent.reshape(4, 1000)[:, :100], 10, axis=1)  # as a sampler's draws: each worth a tenth
    assert Chains(sticky.ravel(), chains=4).side(0.5, ">").mcse > 2 * expected
    for share in (0.0, 1.0):  # what no draw shows may have a probability of about one draw
        alike = Chains(np.full(4000, share), chains=4)
        assert alike.side(0.5, ">").mcse == pytest.approx(1 / 4000, rel=0.01)


def test_claims_about_folds_are_those_of_their_draws():
    found = bayescm.compare_systems(folds(), require="recall > .7 and mcc > .4", pooling="complete", random_seed=1)
    for i, met in enumerate(found["summary"].requirement.values[0]):
        one = bayescm.probability(
            folds().isel(system=i), "recall > .7 and mcc > .4", model="kfold", pooling="complete", random_seed=1 + i
        )
        assert met == pytest.approx(one.probability.item(), abs=1e-12)


def test_folds_at_another_prevalence():
    made = bayescm.compare_systems(folds(), "accuracy", pooling="complete", prevalence=0.1, random_seed=1)
    rates = bayescm.metrics.evaluate(folds().sum("fold"), ["recall", "specificity"])
    accuracy = 0.1 * rates.recall + 0.9 * rates.specificity
    assert made["summary"].point.item() == pytest.approx(float(accuracy[0] - accuracy[1]))


def test_an_improper_posterior_is_refused():
    perfect = bayescm.data.paired_counts([0, 0, 1, 1], {"A": [0, 0, 1, 1], "B": [0, 1, 1, 0]})
    with pytest.raises(ValueError, match="improper"):
        bayescm.compare_systems(perfect, "mcc", prior="haldane")


def test_moments_that_do_not_exist_are_not_drawn():
    y = [0] * 20 + [1] * 10
    table_ = bayescm.data.paired_counts(y, {"A": [0] * 20 + [1] * 9 + [0], "B": [0] * 15 + [1] * 14 + [0]})
    made = bayescm.compare_systems(table_, ["lr+", "lr-"], random_seed=1)
    assert np.isnan(one(made, "mean", metric="positive_likelihood_ratio"))  # 1/2 false positives: no mean
    assert np.isfinite(one(made, "mean", metric="negative_likelihood_ratio"))
    assert np.isfinite(made["summary"].interval).all()


@pytest.mark.parametrize("prior", [0.05, 0.001])
def test_priors_of_nearly_nothing(prior):
    counts = bayescm.from_cells(tp=[0, 3], fn=[30, 1], fp=[2, 0], tn=[20, 20], dims="system")
    metrics = ["recall", "fpr", "accuracy", "f1", "lr+"]
    both = [
        bayescm.compare_systems(counts.isel(system=order), metrics, prior=prior, design="independent", random_seed=1)
        for order in ([0, 1], [1, 0])
    ]
    better = [made["summary"].probability_better.values for made in both]
    np.testing.assert_allclose(better[0] + better[1], 1, atol=1e-9 if prior == 0.05 else 0.03)
    assert both[0]["summary"].method.values.ravel()[2] == "exact"


def known(metric, matrix):
    prior = concentrations("jeffreys", "dirichlet_multinomial", tuple(range(len(matrix))))
    return distributions.exact_distribution(*resolve(metric, len(matrix)), dirichlet.posterior(np.array(matrix), prior))


@pytest.mark.parametrize("ratio", [False, True])
def test_many_pairs_at_once_are_each_what_it_is_alone(ratio):
    sides = [outer(a, b) for a, b in ((40.5, 10.5), (0.5, 6.5), (1e5, 3.5), (2, 2))]
    sides += [] if ratio else [Outer.of(known("kappa", [[9, 3], [2, 7]]), -1.0, 1.0)]
    pairs = list(itertools.permutations(range(len(sides)), 2))
    together, alone = ([Independent(sides[i], sides[j], ratio) for i, j in pairs] for _ in range(2))
    x, p = [1.0, 1.1] if ratio else [0.0, -0.02, 0.02], [0.5, 1e-5, 0.025, 1 - 1e-5]
    find_probabilities(together, x)
    find_quantiles(together, p)
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one.ppf(p), other.ppf(p), rtol=1e-9, atol=1e-12)
        for place in x:
            np.testing.assert_allclose(one.both(place)[0], one._at(place)[0], rtol=1e-11)
            assert one.cdf(place) == pytest.approx(other.cdf(place), rel=1e-11)
            assert one.error(place) == pytest.approx(other.error(place), rel=1e-3, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "n"), [(2, 46), (10, 46)])
def test_many_systems_are_compared_pair_by_pair(k, n):
    rng = np.random.default_rng(k)
    data = {f"s{i}": rng.integers(30, 90, (k, k)) for i in range(n)}
    made = bayescm.compare_systems(data, random_seed=1, chains=1, draws=160)
    whole = made["summary"].to_dataset()
    pairs = n * (n - 1) // 2
    two = bayescm.compare_systems({name: data[name] for name in ("s3", "s41")}, random_seed=1)["summary"]
    pair = whole.sel(comparison="s3 - s41")
    for name in ("point", "mean", "sd", "probability", "ratio"):
        np.testing.assert_allclose(pair[name], two[name][0], rtol=1e-9)
    first, second = (Outer.of(known("accuracy", data[name]), 0.0, 1.0) for name in ("s3", "s41"))
    each = made.attrs["ci_prob_each"]
    np.testing.assert_allclose(pair["interval"][0], Independent(first, second).eti(each), rtol=1e-9)
    told = repr(made)
    assert f"of {pairs} comparisons are decided" in told
    assert f"... and {pairs - 20:,} more: .bayescm.table() has all" in told
    assert len(made.bayescm.table()) == whole.sizes["comparison"] == pairs


def test_more_comparisons_than_can_be_read_or_held_are_refused():
    data = {f"s{i}": [[5, 2], [1, 6]] for i in range(101)}
    with pytest.raises(ValueError, match="5,050 comparisons, and more than 5,000 are no table to read: give a `ref"):
        bayescm.compare_systems(data, design="independent")
    found = bayescm.compare_systems(data, reference="s7", design="independent", draws=40)
    assert found["summary"].sizes["comparison"] == 100
    fewer, metrics = dict(list(data.items())[:100]), [metric.name for metric in available(2)[:13]]
    with pytest.raises(ValueError, match=r"those of 4,950 comparisons in 13 metrics take 2\.1 GB; take fewer draws"):
        bayescm.compare_systems(fewer, metrics, design="independent")
    answers = {f"s{i}": np.arange(40) % (i + 2) == 0 for i in range(33)}
    with pytest.raises(ValueError, match="528 comparisons, and more than 500 of the same items take too long"):
        bayescm.compare_systems(np.arange(40) % 2 == 0, answers)
