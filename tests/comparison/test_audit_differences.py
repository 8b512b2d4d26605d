"""Differences of systems of which people checked some answers."""

import itertools

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import integrate, stats

import bayescm
from bayescm.comparison import evidence, inputs
from bayescm.comparison.posteriors import Posteriors

A = bayescm.audited([[17, 1], [3, 19]], [100, 1900])
B = bayescm.audited([[30, 4], [5, 41]], [320, 1680])
DRAWS = 100_000
K3 = np.array([[8, 1, 2], [1, 12, 0], [2, 1, 9]])


def of(target):
    return {
        "A": bayescm.audited([[17, 1], [3, 19]], [100, 1900], of=target),
        "B": bayescm.audited([[30, 4], [5, 41]], [320, 1680], of=target),
    }


def row(found, metric):
    return found["summary"].to_dataset().isel(comparison=0).sel(metric=metric)


@pytest.mark.slow
def test_the_difference_by_an_integral_of_both_distributions():
    found = row(
        bayescm.compare_systems({"A": A, "B": B}, "prevalence", design="independent", random_seed=1), "prevalence"
    )
    first, second = (bayescm.metric_distribution(one, "prevalence").dist for one in (A, B))
    for x in (0.0, *found["interval"].values):
        cdf = integrate.quad(lambda y, x=x: float(second.pdf(y) * first.cdf(y + x)), 0, 1, limit=300)[0]
        if x == 0.0:
            assert float(found["probability_better"]) == pytest.approx(1.0 - cdf, abs=1e-6)
        else:
            assert 0.0 < cdf < 1.0
    low, high = (
        integrate.quad(lambda y, x=x: float(second.pdf(y) * first.cdf(y + x)), 0, 1, limit=300)[0]
        for x in found["interval"].values
    )
    assert high - low == pytest.approx(0.95, abs=1e-4)
    assert found["method"].item() == "exact"
    estimates = [(100 * 3 / 20 + 1900 * 19 / 20) / 2000, (320 * 5 / 35 + 1680 * 41 / 45) / 2000]
    assert float(found["point"]) == pytest.approx(estimates[0] - estimates[1])


@pytest.mark.parametrize("target", ["process", "population"])
def test_exact_differences_beside_draws_of_numpy(target):
    """Dirichlets of NumPy, put together here, two labels."""
    rng, values = np.random.default_rng(1), []
    for checked, totals in (([[17, 1], [3, 19]], [100, 1900]), ([[30, 4], [5, 41]], [320, 1680])):
        shares = rng.dirichlet(np.array(totals) + 1.0, 10**6) if target == "process" else np.array([totals]) / 2000
        right = [rng.beta(checked[j][j] + 0.5, checked[1 - j][j] + 0.5, 10**6) for j in (0, 1)]
        positive = shares[:, 0] * (1 - right[0]) + shares[:, 1] * right[1]
        recall = shares[:, 1] * right[1] / positive
        values.append({"prevalence": positive, "recall": recall, "accuracy": shares[:, 0] * right[0] + positive - (
            shares[:, 0] * (1 - right[0]))})  # fmt: skip
    found = bayescm.compare_systems(of(target), list(values[0]), design="independent", rope=0.02, random_seed=1)
    for metric in values[0]:
        one, difference = row(found, metric), values[0][metric] - values[1][metric]
        assert one["method"].item() == "exact"
        assert float(one["mean"]) == pytest.approx(difference.mean(), abs=5e-3 * difference.std())
        assert float(one["sd"]) == pytest.approx(difference.std(), rel=5e-3)
        sides = [(difference < -0.02).mean(), (np.abs(difference) <= 0.02).mean(), (difference > 0.02).mean()]
        np.testing.assert_allclose(one["probability"], sides, atol=5 * 0.5e-3)
        inside = (difference >= float(one["interval"][0])) & (difference <= float(one["interval"][1]))
        assert inside.mean() == pytest.approx(0.95, abs=5 * 0.5e-3)


def test_three_classes_at_known_shares():
    rng, names = np.random.default_rng(2), ["accuracy", "precision"]
    checked = {"A": K3, "B": K3[::-1, ::-1] + 1}
    shares = {"A": np.array([0.2, 0.5, 0.3]), "B": np.array([0.6, 0.1, 0.3])}
    three = {s: bayescm.audited(checked[s], shares[s], of="population") for s in checked}
    found = bayescm.compare_systems(three, names, design="independent", random_seed=1)
    draws = {}
    prior = np.full((3, 3), 0.25) + np.eye(3) * 0.25
    for s in checked:
        columns = [rng.dirichlet((checked[s] + prior)[:, j], 10**6)[:, j] for j in range(3)]
        draws[s] = {"accuracy": sum(w * c for w, c in zip(shares[s], columns, strict=True))}
        draws[s] |= {f"precision[{j}]": columns[j] for j in range(3)}
    for metric in draws["A"]:
        one, difference = row(found, metric), draws["A"][metric] - draws["B"][metric]
        assert one["method"].item() == "exact", metric
        inside = (difference >= float(one["interval"][0])) & (difference <= float(one["interval"][1]))
        assert inside.mean() == pytest.approx(0.95, abs=5 * 0.5e-3)
        assert float(one["mean"]) == pytest.approx(difference.mean(), abs=5e-3 * difference.std())
        assert float(one["probability_better"]) == pytest.approx((difference > 0).mean(), abs=5 * 0.5e-3)


def test_these_items_alone_by_enumeration():
    """Every number of right answers among the unchecked, twice."""
    few = {
        "A": bayescm.audited([[3, 1], [1, 4]], [7, 9], of="items"),
        "B": bayescm.audited([[2, 1], [2, 3]], [8, 7], of="items"),
    }
    found = bayescm.compare_systems(few, ["prevalence", "recall"], design="independent", rope=0.1, random_seed=1)
    sides = []
    for checked, totals in (([[3, 1], [1, 4]], [7, 9]), ([[2, 1], [2, 3]], [8, 7])):
        c = np.array(checked)
        rest = np.array(totals) - c.sum(0)
        chance = [stats.betabinom(rest[j], c[1, j] + 0.5, c[0, j] + 0.5).pmf(np.arange(rest[j] + 1)) for j in (0, 1)]
        sides.append([
            (((c[1].sum() + i + k) / sum(totals)), (c[1, 1] + k) / (c[1].sum() + i + k), chance[0][i] * chance[1][k])
            for i, k in itertools.product(range(rest[0] + 1), range(rest[1] + 1))
        ])  # fmt: skip
    for place, metric in enumerate(("prevalence", "recall")):
        pairs = np.array([(a[place] - b[place], a[2] * b[2]) for a, b in itertools.product(*sides)])
        value, p = pairs.T
        value = np.round(value, 10)
        one = row(found, metric)
        assert one["method"].item() == "exact"
        assert float(one["mean"]) == pytest.approx(value @ p)
        assert float(one["sd"]) == pytest.approx(np.sqrt(p @ (value - value @ p) ** 2))
        wanted = [p[value < -0.1].sum(), p[np.abs(value) <= 0.1].sum(), p[value > 0.1].sum()]
        np.testing.assert_allclose(one["probability"], wanted)
        inside = p[(value >= float(one["interval"][0]) - 1e-9) & (value <= float(one["interval"][1]) + 1e-9)].sum()
        assert 0.95 <= inside < 1.0


def table(n=600, labels=2, seed=0):
    """Answers with two verdicts, checked more often where these differ."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, labels, n)
    a, b = (np.where(rng.random(n) < right, truth, rng.integers(0, labels, n)) for right in (0.8, 0.6))
    seen = rng.random(n) < np.where(a != b, 0.6, 0.1)
    return pd.DataFrame({"human": np.where(seen, truth, np.nan), "a": a, "b": b})


def both(frame, target):
    settings = {"actual": "human", "of": target}
    return {
        "a": bayescm.audited(frame, predicted="a", stratum="b", **settings),
        "b": bayescm.audited(frame, predicted="b", stratum="a", **settings),
    }


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("target", ["process", "population"])
def test_the_same_items_beside_draws_of_numpy(labels, target):
    frame = table(labels=labels)
    found = bayescm.compare_systems(
        both(frame, target), ["accuracy", "precision", "recall"], draws=10_000, random_seed=1
    )
    assert found.attrs["design"] == "paired"
    rng, n, k = np.random.default_rng(3), DRAWS, labels
    prior = np.eye(2) * 0 + 0.5 if k == 2 else np.full((3, 3), 0.25) + np.eye(3) * 0.25
    groups = list(itertools.product(range(k), range(k)))
    seen = frame.dropna()
    counts = {
        (i, j): np.array([((seen.a == i) & (seen.b == j) & (seen.human == t)).sum() for t in range(k)])
        for i, j in groups
    }
    totals = np.array([((frame.a == i) & (frame.b == j)).sum() for i, j in groups])
    shares = (
        rng.dirichlet(totals + prior[:, [i for i, _ in groups]].sum(0), n)
        if target == "process"
        else totals / totals.sum()
    )
    theta = np.zeros((2, n, k, k))
    for g, (i, j) in enumerate(groups):
        part = shares[..., g, None] * rng.dirichlet(counts[i, j] + prior[:, i], n)
        theta[0, :, :, i] += part
        theta[1, :, :, j] += part
    drawn = [
        bayescm.metrics.evaluate(
            xr.DataArray(one, dims=("draw", "actual", "predicted")), ["accuracy", "precision", "recall"]
        )
        for one in theta
    ]
    exact = 0
    for metric in found["summary"]["metric"].values:
        one, (name, _, label) = row(found, metric), str(metric).partition("[")
        values = [side[name].values if not label else side[name].values[:, int(label[:-1])] for side in drawn]
        difference = values[0] - values[1]
        exact += one["method"].item() == "exact"
        assert float(one["mean"]) == pytest.approx(difference.mean(), abs=0.03 * difference.std()), metric
        assert float(one["sd"]) == pytest.approx(difference.std(), rel=0.025), metric
        inside = (difference >= float(one["interval"][0])) & (difference <= float(one["interval"][1]))
        assert inside.mean() == pytest.approx(0.95, abs=0.008), metric
    assert exact == {("process", 2): 0, ("process", 3): 0, ("population", 2): 2, ("population", 3): 3}[target, labels]


def test_the_same_items_tell_more_than_items_of_their_own():
    pair = both(table(), "process")
    paired = row(bayescm.compare_systems(pair, random_seed=1), "accuracy")
    with pytest.warns(UserWarning, match="of the same items"):
        apart = bayescm.compare_systems(pair, design="independent", random_seed=1)
    assert float(paired["sd"]) < 0.9 * float(row(apart, "accuracy")["sd"])
    assert "all systems answered the same items" in bayescm.compare_systems(pair, random_seed=1).attrs["assumptions"]


@pytest.mark.slow
def test_probabilities_are_uniform_where_truths_are_drawn_from_the_prior():
    """The cdf of the difference at its true value, 100 times: intervals then hold what they say."""
    rng, found = np.random.default_rng(5), []
    for _ in range(100):
        truth, pair = [], {}
        for name in "AB":
            right = rng.beta(0.5, 0.5, 2)
            checked = rng.binomial([8, 12], right)
            truth.append(0.3 * right[0] + 0.7 * right[1])
            pair[name] = bayescm.audited(np.array([[8, 12] - checked, checked]), [0.3, 0.7], of="population")
        systems = evidence.read(pair, "data", "independent", model="stratified", draws=1000, random_seed=1)
        compared = inputs.compared(systems, None, "prevalence")
        posteriors = Posteriors(compared, 1, 160, 1)
        found.append(float(posteriors.contrasts(compared.entries)[0][0].cdf(truth[0] - truth[1])))
    assert stats.kstest(found, "uniform").pvalue > 1e-3


def test_a_batch_over_systems_is_a_mapping():
    counts = bayescm.from_array([[[17, 1], [3, 19]], [[30, 4], [5, 41]]], dims="system").assign_coords(
        system=["A", "B"]
    )
    batch = bayescm.audited(counts, [[100, 1900], [320, 1680]], dims="system")
    for call in (bayescm.compare_systems, bayescm.leaderboard):
        one, other = (call(data, random_seed=1, design="independent") for data in (batch, {"A": A, "B": B}))
        assert one.identical(other)


def test_claims_of_each_system():
    found = bayescm.compare_systems({"A": A, "B": B}, design="independent", require="prevalence > .8", random_seed=1)
    each = [bayescm.probability(one, "prevalence > .8")["probability"].item() for one in (A, B)]
    np.testing.assert_allclose(found["summary"]["requirement"].sel(claim="prevalence > .8"), each)
    assert "chosen by these alone" in found.attrs["assumptions"]
    assert "tests" not in found.children


def test_what_is_refused():
    with pytest.raises(ValueError, match="each with the verdicts of the other as strata"):
        bayescm.compare_systems({"A": A, "B": B}, design="paired")
    with pytest.raises(ValueError, match=r"others \(b\)"):
        bayescm.compare_systems({"a": A, "b": [[1, 2], [3, 4]]})
    with pytest.raises(TypeError, match="no option"):
        bayescm.compare_systems({"A": A, "B": B}, design="independent", pooling="complete")
    with pytest.raises(ValueError, match="two systems"):
        bayescm.compare_systems({"A": A})
    with pytest.warns(UserWarning, match="same number of items"):
        bayescm.compare_systems({"A": A, "B": B}, random_seed=1)


def test_another_prevalence_is_that_of_each_audit():
    found = bayescm.compare_systems({"A": A, "B": B}, "precision", prevalence=0.1, design="independent", random_seed=1)
    each = [bayescm.summary(one, "precision", prevalence=0.1, random_seed=1)["mean"].item() for one in (A, B)]
    assert found["summary"]["mean"].item() == pytest.approx(each[0] - each[1], abs=0.01)
    assert "at that prevalence" in found.attrs["assumptions"]
