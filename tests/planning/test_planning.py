"""Sample sizes, widths and sequential summaries, against brute force."""

import mpmath
import numpy as np
import pytest
from scipy import special, stats

import bayescm
from bayescm.distributions import beta_quantiles
from bayescm.distributions.beta_binomial import Rate, above, below, last
from bayescm.metrics import resolve
from bayescm.planning import contests, two_systems
from bayescm.planning.whole_tests import Test as WholeTest
from bayescm.planning.whole_tests import quantile
from bayescm.planning.widths import Proportion
from bayescm.priors.concentrations import concentrations

KNOWN = Rate(0.0, 0.0, 0.3)


@pytest.mark.parametrize("rate", [Rate(7.4, 2.6), Rate(0.05, 3.0), Rate(5e3, 3.0), Rate(1.0, 1.0)])
@pytest.mark.parametrize("n", [1, 3, 50, 1000])
def test_beta_binomial_probabilities(rate, n):
    k = np.arange(n + 1)
    truth = stats.betabinom(n, rate.a, rate.b)
    assert np.exp(rate.log_pmf(k, n)) == pytest.approx(truth.pmf(k), abs=1e-9)
    assert rate.cdf(k, n) == pytest.approx(np.cumsum(truth.pmf(k)), abs=1e-9)
    assert rate.cdf([-1, n, n + 1], n) == pytest.approx([0, 1, 1])


@pytest.mark.parametrize(
    ("a", "b", "n"), [(1e12, 3e11, 200), (0.5, 1e12, 200), (40.5, 3.5, 8192), (1e6 + 0.5, 2e6 + 0.5, 20_000)]
)
def test_probabilities_after_counts_of_any_size(a, b, n):
    def rising(c, k):
        return mpmath.loggamma(mpmath.mpf(c) + k) - mpmath.loggamma(c)

    k = np.unique(np.linspace(0, n, 21).astype(int))
    with mpmath.workdps(40):
        truth = [
            float(mpmath.log(mpmath.binomial(n, j)) + rising(a, j) + rising(b, n - j) - rising(a + b, n))
            for j in map(int, k)
        ]
    assert Rate(a, b).log_pmf(k, n) == pytest.approx(truth, abs=2e-9)


def test_a_known_rate_is_binomial():
    k = np.arange(21)
    assert np.exp(KNOWN.log_pmf(k, 20)) == pytest.approx(stats.binom.pmf(k, 20, 0.3))
    assert KNOWN.cdf(k, 20) == pytest.approx(stats.binom.cdf(k, 20, 0.3))
    assert np.exp(Rate(0.0, 0.0, 1.0).log_pmf([0, 4, 5], 5)) == pytest.approx([0, 0, 1])


def test_huge_numbers_of_items_follow_the_rate_itself():
    found = Rate(7.4, 2.6).cdf([2e8, 7e8], 1e9)
    assert found == pytest.approx(stats.beta.cdf([0.2, 0.7], 7.4, 2.6), rel=1e-6)


@pytest.mark.parametrize("n", [300, 20_000])
@pytest.mark.parametrize("rate", [Rate(7.4, 2.6), KNOWN, Rate(0.0, 0.0, 0.0)])
def test_grouped_outcomes_keep_probability_and_mean(n, rate):
    for shift in (0.0, 0.5, 0.9):
        k, chance = rate.outcomes_of([n], 128, shift)[0]
        assert len(k) <= 129
        assert chance.sum() == pytest.approx(1)
        assert chance @ k / n == pytest.approx(rate.mean(), abs=1e-4 + 0.5 / n)


def test_one_beta_below_another():
    x = (np.arange(200_000) + 0.5) / 200_000
    truth = stats.beta.sf(stats.beta.ppf(x, 3, 4), 20, 9).mean()
    assert float(below(3, 4, 20, 9)) == pytest.approx(truth, abs=1e-6)
    assert float(below(3, 4, 20, 9)) + float(below(20, 9, 3, 4)) == pytest.approx(1)


@pytest.mark.parametrize("numbers", [(3e5, 0.14, 6e3, 0.13), (0.13, 1e4, 0.16, 1e3), (4e3, 0.2, 1.2, 0.14)])
def test_one_beta_below_another_where_values_round_to_an_end(numbers):
    a, b, c, d = numbers
    y = np.linspace(-400, 400, 400_001)
    density = np.exp(c * special.log_expit(y) + d * special.log_expit(-y) - special.betaln(c, d))
    truth = np.trapezoid(density * beta_quantiles.logit_cdf(y, a, b), y)
    assert float(below(a, b, c, d)) == pytest.approx(truth, abs=1e-8)
    assert float(above(np.array(c), np.array(d), a + b)(np.array(a), np.array(b))) == pytest.approx(truth, abs=1e-5)


@pytest.mark.parametrize("times", [0.01, 1.0, 30.0, 1000.0])
def test_one_beta_above_many_of_more_items(times):
    rng = np.random.default_rng(1)
    a, b = np.exp(rng.uniform(np.log(0.5), np.log(500), (2, 100)))
    share = (a / (a + b) + 2 * rng.normal(size=100) * np.sqrt(a * b) / (a + b) ** 1.5).clip(0.01, 0.99)
    for i in range(100):
        n = max(times * (a[i] + b[i]), 0.5 / min(share[i], 1 - share[i]))
        found = above(a[i : i + 1], b[i : i + 1], n)(n * share[i : i + 1], n * (1 - share[i : i + 1]))
        assert found[0] == pytest.approx(below(n * share[i], n * (1 - share[i]), a[i], b[i]), abs=1e-8)


@pytest.mark.parametrize("wanted", [0.5, 0.8, 0.99999])
@pytest.mark.parametrize("most", [1.0, 0.999995])  # what the assurance comes up to
def test_items_are_found_in_few_steps_however_slowly_the_assurance_rises(wanted, most):
    asked = []

    def find(n):
        asked.append(n)
        return float(most * special.ndtr(n / 1000 - 1.96))

    n, reached = two_systems._least(find, wanted)
    assert find(n) == reached >= wanted > find(n - 1 - n // 900)
    assert len(asked) <= 30


def every(one, n):
    """Return the widths and probabilities of all outcomes."""
    k = np.arange(n + 1.0)
    return one.width(k, n), np.exp(one.rate.log_pmf(k, n))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hdi", "eti"])
def test_widths_of_a_proportion_are_those_of_all_outcomes(kind):
    rng = np.random.default_rng(3)
    for _ in range(50):
        n = int(rng.integers(1, 90))
        a, b = rng.choice([0.05, 0.5, 1.0, 2.0, 3.3], 2)
        rate = Rate.of_mode("mode", rng.choice([0, 0.1, 0.5, 0.8, 1]), rng.choice([2, 10, 200, None]))
        one = Proportion(rate, a, b, rng.choice([0.5, 0.9, 0.95, 0.99]), kind)
        widths, chances = every(one, n)
        level = rng.choice([0.05, 0.5, 0.8, 0.95, 0.999])
        size = np.array([float(n)])
        assert one.quantile(size, level)[0] == pytest.approx(quantile(widths, chances, level), abs=1e-9)
        wanted = rng.choice(widths) * (1 + 1e-5)
        assert one.assurance(size, wanted)[0] == pytest.approx(chances[widths <= wanted].sum(), abs=1e-9)
        assert one.mean(size)[0] == pytest.approx(chances @ widths, rel=1e-9)


@pytest.mark.parametrize("prior", [(1.0, 1.0), (0.5, 0.5), (0.05, 0.05), (0.5, 3.0), (7.0, 1.0)])
@pytest.mark.parametrize("kind", ["hdi", "eti"])
def test_intervals_are_the_narrower_the_farther_from_the_middle(prior, kind):
    for n in (1, 2, 5, 37, 400):
        for level in (0.05, 0.5, 0.95, 0.999):
            widths = every(Proportion(KNOWN, *prior, level, kind), n)[0]
            far = np.abs(np.arange(n + 1) + prior[0] - (n + sum(prior)) / 2)
            assert (np.diff(widths[np.argsort(far)]) < 1e-9).all()


def test_kruschkes_protocol_as_toetsch_and_hoffmann_have_it():
    found = bayescm.planning.interval_width(
        "accuracy", 100, ci_kind="hdi"
    )  # totsch: 19 points; prior of accuracy under jeffreys is flat
    assert float(found.width.item()) == pytest.approx(0.192106, abs=1e-6)
    assert int(bayescm.sample_size("accuracy", width=0.1921056, ci_kind="hdi").n_items.item()) == 100
    flat = bayescm.planning.interval_width("recall", 100, prior="laplace", ci_kind="hdi")
    assert float(flat.width.item()) == pytest.approx(0.192106, abs=1e-6)


def test_the_rule_of_thumb_bounds_the_worst_case():
    worst = {20: 0.404386, 50: 0.268086, 100: 0.192714, 1000: 0.0618737, 10_000: 0.0195963}  # totsch.rule
    for n, width in worst.items():
        one = Proportion(KNOWN, 1.0, 1.0, 0.95, "hdi")
        assert float(one.width(np.array(n / 2), n)) == pytest.approx(width, abs=1e-6)
        assert width < 2 / np.sqrt(n)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "concentration", "kind", "assurance"),
    [
        (0.8, 10, "hdi", 0.95),
        (0.95, 50, "eti", 0.8),
        (0.9, None, "hdi", 0.9),
        (0, 30, "hdi", 0.5),
        (0.5, 2, "eti", 0.3),
    ],
)
def test_this_and_all_larger_numbers_reach_the_assurance(mode, concentration, kind, assurance):
    for width in (0.15, 0.3):
        found = bayescm.sample_size(
            "recall", width=width, mode=mode, concentration=concentration, ci_kind=kind, assurance=assurance
        )
        n = int(found.n_items.item())
        one = Proportion(Rate.of_mode("mode", mode, concentration), 0.5, 0.5, 0.95, kind)
        reached = []
        for size in range(1, int(1.3 * 4 / width**2)):
            widths, chances = every(one, size)
            reached.append(chances[widths <= width].sum() >= assurance - 1e-12)
        assert n == len(reached) - np.argmin(reached[::-1]) + 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "concentration", "width", "assurance"),
    [(0.01, None, 0.05, 0.5), (0.05, 2000, 0.03, 0.01), (0.001, None, 0.02, 0.9)],
)
def test_a_first_number_that_reaches_it_may_not_be_enough(mode, concentration, width, assurance):
    arguments = {"mode": mode, "concentration": concentration, "width": width, "assurance": assurance, "ci_kind": "hdi"}
    n = int(bayescm.sample_size("recall", **arguments).n_items.item())
    one = Proportion(Rate.of_mode("mode", mode, concentration), 0.5, 0.5, 0.95, "hdi")
    every_size = np.arange(1, int(1.1 * 4 / width**2), dtype=float)
    short = np.flatnonzero(one.assurance(every_size, width) < assurance - 1e-12)
    assert n == every_size[short[-1]] + 1
    assert short[0] + len(short) - 1 < short[-1]  # it is reached before, and lost again


def test_huge_sizes_answer_quickly():
    found = bayescm.sample_size("accuracy", width=6.2e-5)
    assert int(found.n_items.item()) == pytest.approx((1.9542 / 6.2e-5) ** 2, rel=1e-3)
    with pytest.raises(ValueError, match="more than 1,000,000,000 items"):
        bayescm.sample_size("accuracy", width=1e-5)


def test_any_test_reaches_a_width_of_one():
    assert bayescm.sample_size("accuracy", width=1.0).n_items.values.tolist() == [1]
    with pytest.raises(ValueError, match=r"`width` must be at most 1, the range of the metric; got 3\. 10% is 0\.1"):
        bayescm.sample_size("accuracy", width=3.0)


def brute(test, n):
    """Return the widths and probabilities of all matrices, without groups or nodes."""
    widths, chances = [], []
    for p in [test._fixed(n)] if test.fixed_totals else np.arange(n + 1.0):
        tp, tn = np.arange(p + 1), np.arange(n - p + 1)
        log = test.recall.log_pmf(tp, p)[:, None] + test.specificity.log_pmf(tn, n - p)
        chances.append(np.exp(log + (0 if test.fixed_totals else test.prevalence.log_pmf(p, n))).ravel())
        widths.append([test._exact(m, np.array(p), tp[:, None], tn[None], n).ravel() for m in test.metrics])
    return np.concatenate(widths, axis=1), np.concatenate(chances)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prevalence", "fixed", "close"), [(KNOWN, True, 3e-3), (KNOWN, False, 0.02), (Rate(3.0, 7.0), False, 0.02)]
)
def test_whole_tests_against_all_matrices(prevalence, fixed, close):
    metrics = tuple(resolve(["recall", "informedness", "f1", "precision"], 2))
    prior = concentrations("jeffreys", "dirichlet_multinomial", 2)
    rates = Rate.of_mode("mode", 0.8, 10), Rate.of_mode("mode", 0.9, 20)
    test = WholeTest(metrics, prevalence, *rates, fixed, prior, 0.95, "hdi")
    for n in (6, 25):
        widths, chances = test.widths(n)
        true, probabilities = brute(test, n)
        assert chances.sum() == pytest.approx(1)
        for found, truth in zip(widths, true, strict=True):
            assert found @ chances == pytest.approx(truth @ probabilities, rel=close)
            for level in (0.5, 0.95):
                reached = quantile(found, chances, level)
                assert probabilities[truth <= reached * (1 + close)].sum() >= level - 1e-9
                assert probabilities[truth < reached * (1 - close)].sum() <= level + 1e-9


def test_a_wide_prevalence_is_not_cut_into_too_few_parts():
    metrics = tuple(resolve(["recall", "f1"], 2))
    prior = concentrations("jeffreys", "dirichlet_multinomial", 2)
    test = WholeTest(metrics, Rate(1.0, 1.0), Rate(7.4, 2.6), Rate(7.4, 2.6), False, prior, 0.95, "hdi")
    widths, chances = test.widths(60)
    true, probabilities = brute(test, 60)
    for found, truth in zip(widths, true, strict=True):
        for level in (0.5, 0.8, 0.95):
            assert quantile(found, chances, level) == pytest.approx(quantile(truth, probabilities, level), rel=0.015)


def test_recall_in_a_whole_test_agrees_with_its_own_items():
    found = bayescm.sample_size(["recall", "specificity"], width=0.15, prevalence=0.25, fixed_totals=True)
    alone = int(bayescm.sample_size("recall", width=0.15).n_items.item())
    assert found.n_items.values == pytest.approx([alone / 0.25, alone / 0.75], rel=0.01)
    assert int(found.n_items_together) == found.n_items.max()
    random = bayescm.sample_size("recall", width=0.15, prevalence=0.25)
    assert int(random.n_items.item()) > found.n_items.values[0]


def test_a_simulated_test_reaches_the_width():
    found = bayescm.sample_size("f1", width=0.12, prevalence=0.3, assurance=0.9)
    n = int(found.n_items.item())
    rng = np.random.default_rng(5)
    recall, specificity = rng.beta(7.4, 2.6, (2, 20_000))
    positives = rng.binomial(n, 0.3, 20_000)
    tp, tn = rng.binomial(positives, recall), rng.binomial(n - positives, specificity)
    counts = bayescm.from_cells(tp=tp, fn=positives - tp, tn=tn, fp=n - positives - tn, dims="test")
    widths = bayescm.summary(counts, "f1").width.values
    assert (widths <= 0.12).mean() == pytest.approx(0.9, abs=0.01)


def test_whole_tests_at_the_edges():
    known = bayescm.sample_size("prevalence", width=0.1, prevalence=0.3, fixed_totals=True)
    assert known.n_items.values.tolist() == [2]  # the least that has both classes
    assert np.isinf(bayescm.planning.interval_width("mcc", 1, prevalence=0.3, fixed_totals=True).width.item())
    perfect = bayescm.sample_size("f1", width=0.1, prevalence=0.3, mode=1, concentration=None)
    n = int(perfect.n_items.item())
    few = int(stats.binom.ppf(0.05, n, 0.3))  # positives, all found
    dist = bayescm.metric_distribution(bayescm.from_cells(tp=few, fn=0, fp=0, tn=n - few), "f1")
    assert float(np.diff(dist.eti(0.95)).item()) == pytest.approx(0.1, rel=0.05)
    assert bayescm.planning.interval_width("f1", [1, 10**6], prevalence=1e-6).width.shape == (1, 2)


def test_a_pilot_replaces_mode_and_concentration():
    pilot = bayescm.from_cells(tp=20, fn=4, fp=0, tn=50)  # an empty cell is fine under a proper prior
    found = bayescm.sample_size("recall", width=0.1, pilot=pilot)
    same = bayescm.sample_size("recall", width=0.1, mode=19.5 / 23, concentration=25)
    assert found.n_items.item() == same.n_items.item()
    whole = bayescm.sample_size("recall", width=0.2, pilot=pilot, prevalence="pilot")
    assert int(whole.n_items.item()) > int(bayescm.sample_size("recall", width=0.2, pilot=pilot).n_items.item())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"width": 0.0}, "`width`"),
        ({"width": 0.1, "assurance": 1.0}, "`assurance`"),
        ({"width": 0.1, "mode": 1.1}, "`mode`"),
        ({"width": 0.1, "concentration": 1.9}, "`concentration`"),
        ({"width": 0.1, "prior": "haldane"}, "must be proper"),
        ({"width": 0.1, "metric": "mcc"}, "`prevalence` is needed"),
        ({"width": 0.1, "metric": "accuracy", "model": "three_binomial"}, "`prevalence` is needed"),
        ({"width": 0.1, "prevalence": "pilot"}, "needs `pilot`"),
        ({"width": 0.1, "prevalence": (1, -1)}, "two positive numbers"),
        ({"width": 0.1, "prevalence": ("a", "b")}, "two positive numbers"),
        ({"width": 0.1, "fixed_totals": True}, "with `fixed_totals`"),
        ({"width": 0.1, "prevalence": (3, 7), "fixed_totals": True}, "with `fixed_totals`"),
        ({"width": 0.1, "pilot": np.ones((3, 3), int)}, "two labels"),
        ({"width": 0.1, "mode": {"recall": 0.5}}, "must have the keys"),
        ({"width": 0.1, "metric": "f1_macro"}, "cells of two labels"),
    ],
)
def test_bad_plans_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        bayescm.sample_size(arguments.pop("metric", "accuracy"), **arguments)
    with pytest.raises((ValueError, TypeError), match="`n_items`"):
        bayescm.planning.interval_width("accuracy", [0.5])
    with pytest.raises(ValueError, match="with `fixed_totals`"):
        bayescm.planning.interval_width("accuracy", 10, fixed_totals=True)


def seen(n, first, second, sure):
    """Return the probabilities that the first, and that the better one, is found better, by all outcomes."""
    k = np.arange(n + 1.0)
    better = below(k[None, :] + 1, n - k[None, :] + 1, k[:, None] + 1, n - k[:, None] + 1)
    chances = [np.exp(rate.log_pmf(k, n)) for rate in (first, second)]
    if first.known is not None:
        return chances[0] @ (better > sure) @ chances[1]
    after = [(k + rate.a, n - k + rate.b) for rate in (first, second)]
    truly = below(after[1][0][None, :], after[1][1][None, :], after[0][0][:, None], after[0][1][:, None])
    return chances[0] @ np.where(better > sure, truly, np.where(better < 1 - sure, 1 - truly, 0)) @ chances[1]


@pytest.mark.slow
@pytest.mark.parametrize("rates", [(Rate(0.0, 0.0, 0.85), Rate(0.0, 0.0, 0.6)), (Rate(9.0, 3.0), Rate(6.0, 5.0))])
def test_independent_comparisons_against_all_outcomes(rates):
    for n in (1, 40):
        found = contests.Apart(*rates, (1.0, 1.0), 0.95).right(n)
        assert found == pytest.approx(seen(n, *rates, 0.95), abs=1e-10)
    if rates[0].known is None:
        found = contests.Apart(*rates, (1.0, 1.0), 0.975).right(120)
        assert found == pytest.approx(seen(120, *rates, 0.975), abs=2e-4)  # in 48 groups


def test_paired_comparisons_against_all_outcomes():
    share, part, n, total = KNOWN, Rate(0.0, 0.0, 0.7), 40, 0.0
    for m in range(n + 1):
        b = np.arange(m + 1)
        better = stats.beta.sf(0.5, b + 0.5, m - b + 0.5) > 0.9
        total += stats.binom.pmf(m, n, 0.3) * stats.binom.pmf(b, m, 0.7)[better].sum()
    assert contests.Together(share, part, 0.5, 0.9).right(n) == pytest.approx(total, abs=1e-10)


@pytest.mark.parametrize("part", [Rate(9.0, 5.0), Rate(3.0, 1.0), Rate(900.0, 880.0)])
def test_verdicts_for_the_worse_of_a_pair_do_not_count(part):
    share, n, total = Rate(13.0, 88.0), 60, 0.0
    for m in range(n + 1):
        b = np.arange(m + 1)
        found, truly = stats.beta.sf(0.5, b + 1, m - b + 1), stats.beta.sf(0.5, b + part.a, m - b + part.b)
        right = np.where(found > 0.975, truly, np.where(found < 0.025, 1 - truly, 0.0))
        chance = stats.betabinom.pmf(m, n, share.a, share.b)
        total += chance * (stats.betabinom.pmf(b, m, part.a, part.b) * right).sum()
    assert contests.Together(share, part, 1.0, 0.975).right(n) == pytest.approx(total, abs=1e-5)


@pytest.mark.slow
def test_sizes_of_comparisons():
    own = bayescm.planning.sample_size_to_compare(0.9, 0.75)
    n = int(own.n_items)
    rates = Rate(0.0, 0.0, 0.9), Rate(0.0, 0.0, 0.75)
    assert seen(n, *rates, 0.975) >= 0.8 > seen(n - 1, *rates, 0.975)
    assert int(bayescm.planning.sample_size_to_compare(0.9, 0.75, discordance=0.15).n_items) < n
    unsure = bayescm.planning.sample_size_to_compare(0.85, 0.8, discordance=0.1, concentration=40)
    assert unsure.n_items > 1.2 * bayescm.planning.sample_size_to_compare(0.85, 0.8, discordance=0.1).n_items
    for arguments, message in [
        ({"discordance": 0.01}, "from 0.05"), ({"metric": "mcc"}, "proportion"), ({"prior": "haldane"}, "proper"),
        ({"metric": "f1", "discordance": 0.1}, "accuracy, recall"), ({"prior": 0, "discordance": 0.1}, "proper"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            bayescm.planning.sample_size_to_compare(0.85, 0.8, **arguments)


def verdicts(rng, n, cells, sure, repeats=20_000):
    """Return how often the first, and the second, of two systems on the same items is found better, by simulation."""
    counts = rng.multinomial(n, cells, repeats)
    better = stats.beta.sf(0.5, counts[:, 1] + 1, counts[:, 2] + 1)
    return (better > sure).mean(), (better < 1 - sure).mean()


@pytest.mark.parametrize(("discordance", "n"), [(0.05, 134), (0.1, 305), (0.2, 622)])
def test_plans_of_pairs_keep_their_error_rate_and_assurance(discordance, n):
    plan = bayescm.planning.sample_size_to_compare(0.85, 0.80, discordance=discordance)
    assert int(plan.n_items) == n
    assert plan.discordant == pytest.approx(n * discordance)
    assert plan.error_rate <= 0.0505
    assert plan.attrs["wanted_error_rate"] == pytest.approx(0.05)
    assert plan.attrs["gap"] == "stated"
    rng, same = np.random.default_rng(1), 0.5 * discordance
    wrong = sum(verdicts(rng, n, [0.5, same, same, 0.5 - discordance], 0.975))
    assert wrong == pytest.approx(float(plan.error_rate), abs=0.008)
    only_first, only_second = 0.5 * (discordance + 0.05), max(0.5 * (discordance - 0.05), 0.0)
    right, _ = verdicts(rng, n, [0.5, only_first, only_second, 0.5 - discordance], 0.975)
    assert right == pytest.approx(float(plan.assurance), abs=0.012)
    assert right > 0.79


def test_error_rates_of_plans_against_all_outcomes():
    plan = bayescm.planning.sample_size_to_compare(0.9, 0.5, discordance=0.6)
    n, total = int(plan.n_items), 0.0
    for m in range(n + 1):
        b = np.arange(m + 1)
        better = stats.beta.sf(0.5, b + 1, m - b + 1) > 0.975
        total += 2 * stats.binom.pmf(m, n, 0.6) * stats.binom.pmf(b, m, 0.5)[better].sum()
    assert plan.error_rate == pytest.approx(total, abs=1e-10)
    plan = bayescm.planning.sample_size_to_compare(0.95, 0.5)
    same = [2 * seen(int(plan.n_items), Rate(0.0, 0.0, r), Rate(0.0, 0.0, r), 0.975) for r in (0.95, 0.5)]
    assert plan.error_rate == pytest.approx(max(same), abs=1e-10)
    assert max(same) <= 0.0505


@pytest.mark.slow
def test_a_smaller_error_rate_takes_a_higher_level():
    few = bayescm.planning.sample_size_to_compare(0.6, 0.4, discordance=1.0, ci_prob=0.8)
    assert few.error_rate <= 0.202
    with pytest.raises(ValueError, match=r"`error_rate`=0\.02 .* `ci_prob` of 0\.98"):
        bayescm.planning.sample_size_to_compare(0.85, 0.80, discordance=0.1, error_rate=0.02)
    plan = bayescm.planning.sample_size_to_compare(0.85, 0.80, discordance=0.1, error_rate=0.02, ci_prob=0.98)
    assert plan.error_rate <= 0.0202
    assert plan.n_items > 305


def test_of_errors_the_fewer_are_the_better():
    prior = [[1, 3], [2, 0.4]]
    for error, right in [("error_rate", "accuracy"), ("fpr", "specificity")]:
        found = bayescm.planning.sample_size_to_compare(0.1, 0.25, metric=error, prior=prior)
        same = bayescm.planning.sample_size_to_compare(0.9, 0.75, metric=right, prior=prior)
        assert found.equals(same)
        assert found.identical(bayescm.planning.sample_size_to_compare(0.25, 0.1, metric=error, prior=prior))
        with pytest.raises(ValueError, match=f"smaller of {found.attrs['metric']}"):  # which has more items?
            bayescm.planning.sample_size_to_compare(0.25, 0.1, metric=error, ratio=2)
    with pytest.raises(ValueError, match=r"larger of accuracy; got 0\.8 and 0\.8"):
        bayescm.planning.sample_size_to_compare(0.8, 0.8)


def test_grouped_comparisons_are_close(monkeypatch):
    contest = contests.Apart(Rate(0.0, 0.0, 0.84), Rate(0.0, 0.0, 0.8), (1.0, 1.0), 0.95)
    one_by_one = contest.right(400)
    monkeypatch.setattr(contests, "_ONE_BY_ONE", 100)
    assert contest.right(400) == pytest.approx(one_by_one, abs=2e-3)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 100, 10**9])
def test_the_last_count_is_found_from_any_start(n):
    rng = np.random.default_rng(n)
    want = np.floor(rng.uniform(-2, n + 1, 300)).clip(-1, n)
    asked = []

    def holds(k):
        assert k.min() >= 0
        assert k.max() <= n
        asked.append(k)
        return k <= want

    for near in (None, want, (want + 2).clip(0, n), rng.uniform(0, n, 300), np.zeros(300), np.full(300, float(n))):
        asked.clear()
        np.testing.assert_array_equal(last(holds, want.shape, n, near), want)
        assert len(asked) <= (4 if near is want and n > 10**6 else 2 * n.bit_length() + 2)
