"""Where the next labels go, and what they are worth: enumeration, draws, limits."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import stats

import bayescm
from bayescm.inference.audits import posterior_of
from bayescm.planning import labels

AUDIT = bayescm.audited([[4, 2], [1, 5]], totals=[600, 400])
COSTS = {"fn": 5, "fp": 2}


def value(audit=AUDIT, costs=COSTS, **options):
    return bayescm.planning.label_value(audit, costs, **({"per_check": 1, "n_items": 5000} | options))


def rising(x, n):
    found = Fraction(1)
    for i in range(n):
        found *= x + i
    return found


def beta_binomial(m, n, a, b):
    return comb(n, m) * rising(a, m) * rising(b, n - m) / rising(a + b, n)


@pytest.mark.parametrize("n", [1, 2, 5, 10, 20])
@pytest.mark.parametrize("costs", [COSTS, {"fn": 1, "fp": 1}, {"fn": 1, "fp": 9, "tn": -1}])
def test_the_value_is_that_of_an_enumeration_in_fractions(n, costs):
    found = value(n_checks=[n], costs=costs, n_items=1)
    half = Fraction(1, 2)
    a, b = [1 + half, 5 + half], [4 + half, 2 + half]
    shares = [Fraction(601, 1002), Fraction(401, 1002)]
    cost = {(i, j): Fraction(costs.get(name, 0)) for (i, j), name in
            zip(product((0, 1), (0, 1)), ("tn", "fp", "fn", "tp"), strict=True)}  # fmt: skip

    def expected_cost(rates, call):
        parts = enumerate(zip(shares, rates, strict=True))
        return sum(s * (r * cost[1, call(j)] + (1 - r) * cost[0, call(j)]) for j, (s, r) in parts)

    def least(rates):
        return min(expected_cost(rates, call) for call in (lambda j: j, lambda j: 0, lambda j: 1))

    spent = found["labels"].values[0].tolist()
    assert sum(spent) == n
    expected = sum(
        beta_binomial(m0, spent[0], a[0], b[0])
        * beta_binomial(m1, spent[1], a[1], b[1])
        * least([(a[g] + m) / (a[g] + b[g] + spent[g]) for g, m in enumerate((m0, m1))])
        for m0, m1 in product(range(spent[0] + 1), range(spent[1] + 1))
    )
    now = least([a[g] / (a[g] + b[g]) for g in range(2)])
    assert float(found["value"][0]) == pytest.approx(float(now - expected), abs=1e-13)
    assert found.attrs["method"] == "exact"


def test_value_grows_to_that_of_perfect_information():
    found = value(n_checks=[1, 5, 20, 100, 500, 1000 - 12], n_items=1000)
    values = found["value"].values
    assert (np.diff(values) > -1e-9).all()
    perfect = float(found["value_of_information"])
    assert 0.9 * perfect < values[-1] < perfect
    rng, n = np.random.default_rng(1), 400_000
    rates = np.stack([rng.beta(1.5, 4.5, n), rng.beta(5.5, 2.5, n)])
    shares = np.array([601, 401])[:, None] / 1002
    costs = np.stack([
        shares[0] * rates[0] * 5 + shares[1] * (1 - rates[1]) * 2, (shares * rates * 5).sum(0),
        (shares * (1 - rates) * 2).sum(0),
    ])  # fmt: skip
    drawn = costs.mean(1).min() - costs.min(0)
    assert perfect == pytest.approx(1000 * drawn.mean(), abs=5 * 1000 * drawn.std() / np.sqrt(n))


def test_the_best_number_pays_and_more_is_not_worth_its_price():
    found = value()
    best = found["net"].sel(n_checks=int(found["best_n"]))
    assert float(best) == float(found["net"].max()) > 0
    assert int(value(per_check=1000)["best_n"]) == 0
    assert float(found["cost"].min()) == float(found["cost"].sel(action=found["best"].item()))
    free = value(per_check=0)
    assert int(free["best_n"]) == int(free["n_checks"][-1])


@pytest.mark.parametrize("n", [4, 20, 60])
def test_no_way_to_spend_labels_that_was_tried_is_better(n):
    audit = bayescm.audited([[10, 0], [10, 20]], [88, 1912])
    found = value(audit, costs={"fp": 20, "fn": 1}, n_checks=[n], n_items=1)
    of, a, b = [88, 1912], np.array([10.5, 20.5]), np.array([10.5, 0.5])
    shares = (np.array(of) + 1) / 2002

    def least(rates):
        calls = [20 * shares[1] * (1 - rates[1]) + shares[0] * rates[0], shares @ rates, 20 * shares @ (1 - rates)]
        return np.min(np.broadcast_arrays(*calls), 0)

    values = []
    for m in {0, n // 4, n // 2, 3 * n // 4, n}:
        spent = np.array([m, n - m])
        rates = [(a[g] + np.arange(spent[g] + 1)) / (a[g] + b[g] + spent[g]) for g in (0, 1)]
        p = [stats.betabinom(spent[g], a[g], b[g]).pmf(np.arange(spent[g] + 1)) for g in (0, 1)]
        grid = np.stack(np.meshgrid(*rates, indexing="ij"))
        costs = [
            20 * shares[1] * (1 - grid[1]) + shares[0] * grid[0],
            (shares[:, None, None] * grid).sum(0),
            20 * (shares[:, None, None] * (1 - grid)).sum(0),
        ]
        values.append(least(a / (a + b)) - np.multiply.outer(*p).ravel() @ np.min(costs, 0).ravel())
    assert float(found["value"][0]) == pytest.approx(max(values), abs=1e-12)


FOUR = bayescm.audited(bayescm.from_array([[[4, 2], [1, 5]], [[3, 1], [2, 4]]], dims="site"), [[600, 400], [500, 500]])
A, B = posterior_of(FOUR, "jeffreys")[1].cells.sum(2)[:, ::-1].T  # strata share a prior: tests/inference/test_audits.py
SHARES = np.array([600.5, 400.5, 500.5, 500.5]) / 2002


def test_four_groups_agree_with_an_enumeration():
    found = value(FOUR, n_checks=[5, 20], n_items=1)
    a, b, shares = A, B, SHARES

    def least(rates):
        wrong = np.stack([1 - rates, rates])  # of a call: 1 and 0
        verdict = np.array([0, 1, 0, 1])
        called = [np.where(verdict == 1, 2 * wrong[0].T, 5 * wrong[1].T).T, 5 * wrong[1], 2 * wrong[0]]
        return np.min([np.tensordot(shares, one, 1) for one in called], 0)

    for spent, of_labels in zip(found["labels"].values.tolist(), found["value"].values, strict=True):
        grid = np.stack(np.meshgrid(*(np.arange(n + 1) for n in spent), indexing="ij"))
        at = (4, 1, 1, 1, 1)
        rates = (a.reshape(at) + grid) / (a + b + spent).reshape(at)
        chance = np.prod([stats.betabinom(spent[g], a[g], b[g]).pmf(grid[g]) for g in range(4)], 0)
        expected = least(a / (a + b)) - (chance * least(rates)).sum()
        assert of_labels == pytest.approx(expected, abs=1e-13)
    assert found.attrs["method"] == "exact"


@pytest.mark.parametrize("audit", [AUDIT, FOUR])
def test_many_outcomes_by_quadrature_agree(monkeypatch, audit):
    exact = value(audit, n_checks=[30, 300], n_items=1)
    monkeypatch.setattr(labels, "_OUTCOMES", 10)
    lattice = value(audit, n_checks=[30, 300], n_items=1)
    assert (exact.attrs["method"], lattice.attrs["method"]) == ("exact", "quadrature")
    np.testing.assert_allclose(lattice["value"], exact["value"], rtol=1e-5, atol=1e-9)
    assert (exact["value"] < exact["value_of_information"]).all()


def test_knowing_four_rates_agrees_with_draws():
    rng, n = np.random.default_rng(1), 1_000_000
    rates = rng.beta(A, B, (n, 4))
    shares, missed, alarm = SHARES, 5 * rates, 2 * (1 - rates)
    costs = np.stack([(np.where([0, 1, 0, 1], alarm, missed) @ shares), missed @ shares, alarm @ shares])
    drawn = costs.mean(1).min() - costs.min(0)
    perfect = float(value(FOUR, n_items=1, n_checks=[1])["value_of_information"])
    assert perfect == pytest.approx(drawn.mean(), abs=5 * drawn.std() / np.sqrt(n))


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (1.5, 4.5), (1e6, 3.0), (2e5, 2e5)])
def test_a_beta_on_a_lattice_keeps_its_moments_and_cdf(a, b):
    values, weights = labels._beta(a, b)
    of = stats.beta(a, b)
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    assert values @ weights == pytest.approx(of.mean(), rel=1e-10)
    kink = of.ppf(0.3)
    under = kink * of.cdf(kink) - of.mean() * stats.beta(a + 1, b).cdf(kink)  # the mean of max(kink - X, 0)
    assert np.maximum(kink - values, 0) @ weights == pytest.approx(under, rel=1e-5)


@pytest.mark.parametrize("n", [1, 7, 30])
def test_labels_go_where_no_other_split_is_better(n):
    audit = bayescm.audited([[6, 2], [3, 9]], totals=[120, 80])
    found = bayescm.planning.allocate(audit, n)
    sizes, rates, shares = np.array([10.0, 12]), np.array([3.5 / 10, 2.5 / 12]), np.array([121, 81]) / 202
    variance = shares**2 * rates * (1 - rates) / (sizes + 1)
    every = [(variance * sizes / (sizes + np.array([m, n - m]))).sum() for m in range(n + 1)]
    assert float(found["expected_sd"]) == pytest.approx(np.sqrt(min(every)), rel=1e-12)
    assert int(found["labels"].sum()) == n
    neyman = shares * np.sqrt(rates * (1 - rates))
    np.testing.assert_allclose(found["neyman"], n * neyman / neyman.sum())


def test_in_the_end_labels_follow_neyman():
    audit = bayescm.audited([[60, 20], [30, 90]], totals=[0.6, 0.4], of="population")
    found = bayescm.planning.allocate(audit, 200_000)
    np.testing.assert_allclose(found["labels"], found["neyman"], rtol=2e-3)


def test_the_expected_variance_is_that_of_simulated_labels():
    rng, n = np.random.default_rng(1), 40_000
    audit = bayescm.audited([[6, 2], [3, 9]], totals=[0.6, 0.4], of="population")
    found = bayescm.planning.allocate(audit, 12, "prevalence")
    a, b, shares, m = np.array([3.5, 9.5]), np.array([6.5, 2.5]), np.array([0.6, 0.4]), found["labels"].values
    seen = rng.binomial(m, rng.beta(a, b, (n, 2)))
    p, q = a + seen, b + m - seen
    after = (shares**2 * p * q / ((p + q) ** 2 * (p + q + 1))).sum(1)
    assert float(found["expected_sd"]) ** 2 == pytest.approx(after.mean(), abs=5 * after.std() / np.sqrt(n))
    assert float(found["sd"]) == pytest.approx(float(bayescm.summary(audit, "prevalence")["sd"][0]), rel=1e-6)


def test_no_more_labels_than_items():
    small = bayescm.audited([[6, 2], [3, 9]], totals=[12, 12])
    assert bayescm.planning.allocate(small, 4)["labels"].values.tolist() == [3, 1]
    with pytest.raises(ValueError, match="at most 4"):
        bayescm.planning.allocate(small, 5)
    done = bayescm.audited([[6, 2], [3, 9]], totals=[9, 11])
    with pytest.raises(ValueError, match="nothing to label"):
        value(done)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bayescm.planning.allocate([[1, 2], [3, 4]], 5), "bayescm.audited"),
        (lambda: bayescm.planning.allocate(AUDIT, 5, "recall"), "is of some"),
        (lambda: bayescm.planning.allocate(AUDIT, 5, "f1"), "one share of all items"),
        (lambda: bayescm.planning.allocate(AUDIT, 0), "positive integer"),
        (lambda: value(per_check=-1), "`per_check`"),
        (lambda: value(n_checks=[]), "empty"),
        (lambda: value(n_checks=[5, 5]), "twice"),
        (lambda: value(costs={"x": 1}), "`costs`"),
        (lambda: value(bayescm.audited(np.ones((3, 3), int), [9, 9, 9])), "two labels"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_they_say():
    assert bayescm.planning.allocate(AUDIT, 7).bayescm.sentence == (
        "Check 6 of predicted 0, 1 of predicted 1 next: the standard deviation of accuracy is 0.116 now, and 0.091 "
        "after that on average."
    )
    assert value().bayescm.sentence.startswith(
        "Check 50 more at 1 each, 50 of predicted 0: they save 1,021 on average, 971 less"
    )
    assert value(per_check=1e4).bayescm.sentence.startswith("No more labels are worth it at 10000 each")
