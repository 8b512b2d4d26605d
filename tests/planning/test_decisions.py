"""Expected costs and net benefit: against closed forms by hand, joint claims and draws."""

import json

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import bayescm
from bayescm.metrics import expected_cost

COUNTS = bayescm.from_cells(tp=26, fn=4, fp=20, tn=150)
TWO = bayescm.from_cells(tp=[26, 12], fn=[4, 4], fp=[20, 3], tn=[150, 90], dims="system").assign_coords(
    system=["A", "B"]
)
THREE = np.array([[20, 3, 1], [2, 15, 4], [0, 1, 10]])
COSTS = {"fn": 10, "fp": 1}
Y = np.repeat([0, 1], [120, 40])
_RNG = np.random.default_rng(5)
A = np.where(_RNG.random(160) < 0.15, 1 - Y, Y)
B = np.where(_RNG.random(160) < 0.06, 1 - A, A)
SAME = bayescm.data.paired_counts(Y, {"A": A, "B": B})


def by_hand(counts, costs, n=200_000, seed=3):
    """Return draws (n, 3) of the costs of the classifier, all negative, all positive, by SciPy's Dirichlet."""
    theta = stats.dirichlet(counts.values.ravel() + 0.5).rvs(n, np.random.default_rng(seed)).reshape(n, 2, 2)
    shares = theta.sum(2)
    return np.column_stack([(theta * costs).sum((1, 2)), shares @ costs[:, 0], shares @ costs[:, 1]])


def test_costs_are_those_of_the_exact_distribution_and_of_draws():
    found = bayescm.decide(COUNTS, COSTS, ci_kind="eti", random_seed=1)
    exact = bayescm.summary(COUNTS, expected_cost(fn=10, fp=1), ci_kind="eti").isel(metric=0)
    for name in ("point", "mean", "sd", "interval"):
        np.testing.assert_allclose(found[name].isel(action=0), exact[name], rtol=2e-9)
    assert found["method"].item() == "exact"
    share = stats.beta(31, 171)
    np.testing.assert_allclose(found["interval"].sel(action="all negative"), share.ppf([0.025, 0.975]) * 10, rtol=1e-9)
    np.testing.assert_allclose(found["interval"].sel(action="all positive"), 1 - share.ppf([0.975, 0.025]), rtol=1e-9)
    drawn = by_hand(COUNTS, np.array([[0, 1], [10, 0]]))
    np.testing.assert_allclose(found["mean"], drawn.mean(0), atol=5 * (drawn.std(0) / len(drawn) ** 0.5).max())
    regret = drawn - drawn.min(1, keepdims=True)
    error = np.hypot(found["mcse_regret"], regret.std(0) / len(drawn) ** 0.5)
    assert (np.abs(found["expected_regret"] - regret.mean(0)) < 5 * error + 1e-12).all()


@pytest.mark.parametrize("odds", [0.05, 0.8, 1.4])
def test_the_probability_of_the_least_cost_is_that_of_a_joint_claim(odds):
    found = bayescm.decide(COUNTS, {"fn": 1, "fp": odds}, random_seed=2)
    t = odds / (1 + odds)
    wanted = bayescm.probability(COUNTS, f"precision > {t} and npv > {1 - t}").probability.item()
    classifier = found.sel(action="classifier")
    assert 0.01 < wanted < 1
    assert classifier["probability_best"].item() == pytest.approx(
        wanted, abs=5 * float(classifier["mcse_probability"]) + 1e-4
    )
    assert found["probability_best"].sum().item() == pytest.approx(1)
    assert found["decisive"].item() == (wanted > 0.95)


def test_the_value_of_information_is_the_least_regret():
    found = bayescm.decide(COUNTS, {"fn": 1, "fp": 1.3}, random_seed=2)
    assert found["value_of_information"].item() == found["expected_regret"].min().item() > 0
    assert found["best"].item() == found.action.values[found["mean"].values.argmin()]
    gap = found["mean"] - found["mean"].min()
    regret = found["expected_regret"] - found["expected_regret"].min()
    assert (np.abs(gap - regret) < 6 * found["mcse_regret"].max()).all()


@pytest.mark.parametrize("costs", [[[1, 1], [1, 1]], np.zeros((2, 2)), [[-2, -2], [-2, -2]]])
def test_equal_costs_leave_nothing_to_decide(costs):
    found = bayescm.decide(COUNTS, costs, random_seed=1)
    np.testing.assert_allclose(found["probability_best"], 1 / 3)
    assert not found["decisive"]
    assert (found["expected_regret"] == 0).all()
    np.testing.assert_allclose(found["mean"], costs[0][0], atol=1e-12)
    np.testing.assert_allclose(found["interval"], costs[0][0], atol=1e-9)


def test_negative_costs_are_gains_and_a_constant_shift_changes_nothing_else():
    costs = np.array([[0.5, 1.0], [2.0, -3.0]])
    one, shifted = (bayescm.decide(COUNTS, c, random_seed=1) for c in (costs, costs - 7))
    for name in ("mean", "point", "interval"):
        np.testing.assert_allclose(shifted[name], one[name] - 7, rtol=1e-8)
    for name in ("sd", "probability_best", "expected_regret"):
        np.testing.assert_allclose(shifted[name], one[name], rtol=1e-6, atol=1e-12)
    assert one["mean"].sel(action="all positive").item() < one["mean"].sel(action="all negative").item()


@pytest.mark.parametrize("prevalence", ["fixed", 0.4, (4, 6)])
def test_another_prevalence(prevalence):
    found = bayescm.decide(COUNTS, COSTS, prevalence=prevalence, random_seed=1)
    exact = bayescm.summary(COUNTS, expected_cost(fn=10, fp=1), prevalence=prevalence).isel(metric=0)
    for name in ("point", "mean", "sd", "interval"):
        np.testing.assert_allclose(found[name].isel(action=0), exact[name], rtol=1e-8)
    p = 0.15 if prevalence == "fixed" else 0.4
    np.testing.assert_allclose(found["mean"].isel(action=[1, 2]), [10 * p, 1 - p])


def test_a_class_without_items():
    none = bayescm.from_cells(tp=0, fn=0, fp=1, tn=9)
    found = bayescm.decide(none, COSTS, random_seed=1)
    np.testing.assert_allclose(found["point"], [0.1, 0.0, 1.0])
    assert found["interval"].notnull().all()
    exchanged = bayescm.decide(none, COSTS, prevalence=0.5, random_seed=1)
    assert np.isnan(exchanged["point"].values[0])
    assert np.isfinite(exchanged["mean"]).all()
    empty = bayescm.decide(bayescm.from_cells(tp=0, fn=0, fp=0, tn=0), COSTS, random_seed=1)
    assert np.isnan(empty["point"]).all()


def test_three_labels_against_draws_by_hand():
    costs = np.array([[0, 1, 4], [2, 0, 1], [9, 3, 0.0]])
    found = bayescm.decide(THREE, costs, random_seed=1, prior="jeffreys_cell", ci_kind="eti")
    assert found.action.values.tolist() == ["classifier", "always 0", "always 1", "always 2"]
    assert found["method"].item() == "draws"
    n = 100_000
    theta = stats.dirichlet(THREE.ravel() + 0.5).rvs(n, np.random.default_rng(2)).reshape(n, 3, 3)
    drawn = np.column_stack([(theta * costs).sum((1, 2)), theta.sum(2) @ costs])
    np.testing.assert_allclose(found["mean"], drawn.mean(0), atol=5 * drawn.std() / n**0.5)
    np.testing.assert_allclose(found["sd"], drawn.std(0), rtol=0.02)
    np.testing.assert_allclose(found["interval"], np.quantile(drawn, [0.025, 0.975], axis=0).T, rtol=0.02)
    named = {f"{i}->{j}": costs[i, j] for i in range(3) for j in range(3) if i != j}
    assert bayescm.decide(THREE, named, random_seed=1, prior="jeffreys_cell", ci_kind="eti").identical(found)
    shares = bayescm.decide(THREE, costs, prevalence=[0.2, 0.3, 0.5], random_seed=1)
    np.testing.assert_allclose(shares["mean"].values[1:], [0.2, 0.3, 0.5] @ costs)
    np.testing.assert_allclose(shares["sd"].values[1:], 0, atol=1e-9)


def test_labelled_costs_are_put_in_order():
    costs = xr.DataArray(
        [[0, 10], [1, 0]], dims=("actual", "predicted"), coords={"actual": [1, 0], "predicted": [1, 0]}
    )
    found = bayescm.decide(COUNTS, costs, random_seed=1)
    assert found.identical(bayescm.decide(COUNTS, COSTS, random_seed=1))


def test_systems_share_the_prevalence_of_all_test_sets():
    found = bayescm.decide(TWO, COSTS, random_seed=1)
    assert found.action.values.tolist() == ["A", "B", "all negative", "all positive"]
    positive = 30 + 16 + 1
    share = stats.beta(positive, 309 - 46 + 1)
    np.testing.assert_allclose(found["mean"].sel(action="all positive"), 1 - share.mean())
    pooled = (float(positive), 264.0)
    for system in "AB":
        one = bayescm.summary(TWO.sel(system=system), expected_cost(fn=10, fp=1), prevalence=pooled)
        np.testing.assert_allclose(found["interval"].sel(action=system), one["interval"][0], rtol=1e-6)
    assert found.attrs["design"] == "independent"


def test_the_same_items_are_less_uncertain_about_which_is_better():
    paired = bayescm.decide(SAME, COSTS, random_seed=1)
    with pytest.warns(UserWarning, match="probably they answered the same items"):
        apart = bayescm.decide(bayescm.data.margins(SAME), COSTS, random_seed=1)
    np.testing.assert_allclose(paired["mean"], apart["mean"], rtol=1e-12)
    np.testing.assert_allclose(paired["interval"], apart["interval"], rtol=1e-9)
    assert (paired["expected_regret"] < apart["expected_regret"]).values[:2].all()
    draws = bayescm.posterior(SAME, model="paired", draws=10_000, random_seed=1)["posterior"]
    theta = draws["theta"].stack(sample=("chain", "draw"))
    cost = (theta * xr.DataArray([[0, 1], [10, 0]], dims=("actual", "predicted"))).sum(("actual", "predicted"))
    positive = theta.isel(system=0).sel(actual=1).sum("predicted")
    a_best = cost.sel(system="A") < np.minimum(cost.sel(system="B"), np.minimum(10 * positive, 1 - positive))
    assert 0.5 < a_best.mean() < 0.95
    assert paired["probability_best"].sel(action="A").item() == pytest.approx(a_best.mean().item(), abs=0.012)


def test_the_answers_themselves_and_another_prevalence_on_the_same_items():
    answers = bayescm.predictions(Y, {"A": A, "B": B})
    found = bayescm.decide(answers, COSTS, prevalence=(5, 5), random_seed=1)
    again = bayescm.decide(SAME, COSTS, prevalence=(5, 5), random_seed=1)
    assert found.identical(again)
    alone = bayescm.decide(bayescm.data.margins(SAME).sel(system="B"), COSTS, prevalence=(5, 5), random_seed=2)
    np.testing.assert_allclose(found["interval"].sel(action="B"), alone["interval"].isel(action=0), rtol=1e-9)
    assert found.attrs["design"] == "paired"


def test_a_class_that_nobody_saw_has_no_rates_at_another_prevalence():
    table = bayescm.data.paired_counts([0] * 10, {"A": [0] * 9 + [1], "B": [0] * 10}, labels=[0, 1])
    found = bayescm.decide(table, {"fn": 1, "fp": 1}, prevalence=0.5, random_seed=1)
    assert np.isfinite(found["mean"]).all()
    with pytest.raises(ValueError, match="a class has no items"):
        bayescm.decide(table, {"fn": 1, "fp": 1}, prevalence=0.5, prior=0.01, random_seed=1)


def test_design_is_checked():
    with pytest.raises(ValueError, match="which items each system got right"):
        bayescm.decide(TWO, COSTS, design="paired")
    with pytest.raises(ValueError, match=r"bayescm\.data\.margins"):
        bayescm.decide(SAME, COSTS, design="independent")
    with pytest.raises(ValueError, match="same items"):
        bayescm.decide(SAME, COSTS, model="three_binomial")
    said = bayescm.decide(bayescm.data.margins(SAME), COSTS, design="independent", random_seed=1)
    once = bayescm.decide(SAME, COSTS, random_seed=1)
    assert said["sd"].sel(action="all negative").item() < once["sd"].sel(action="all negative").item()


def test_batches_lazy_counts_and_a_round_trip(tmp_path):
    batch = xr.concat([TWO, TWO[::-1].assign_coords(system=["A", "B"])], "dataset")
    found = bayescm.decide(batch.chunk({"dataset": 1}), COSTS, random_seed=1)
    one = bayescm.decide(TWO, COSTS, random_seed=1)
    assert found.isel(dataset=0).drop_vars("costs").equals(one.drop_vars("costs"))
    np.testing.assert_allclose(found["mean"].values[1, [1, 0, 2, 3]], found["mean"].values[0])
    assert found["best"].dims == found["value_of_information"].dims == ("dataset",)
    found.to_netcdf(tmp_path / "found.nc")
    with xr.open_dataset(tmp_path / "found.nc") as stored:
        assert stored.identical(found)
    assert json.loads(found.attrs["prevalence"]) is None


def test_small_concentrations_are_answered_by_draws():
    found = bayescm.decide(COUNTS.where(COUNTS != 4, 0).astype(int), COSTS, prior=0.01, random_seed=1)
    assert found["method"].item() == "draws"
    assert found["mean"].values[0] == pytest.approx((10 * 0.01 + 20.01) / 196.04)


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ({}, "empty"), ({"x": 1}, "got 'x'"), ({"fn": np.nan}, "finite"), ({"fn": "1"}, "numbers"),
        (np.eye(3), "shape"), (3, "shape"), (None, "numbers"), ([[0, np.inf], [1, 0]], "finite"),
        (COUNTS.assign_coords(actual=[5, 6], predicted=[5, 6]), "labels"),
    ],
)  # fmt: skip
def test_bad_costs(costs, words):
    with pytest.raises((ValueError, TypeError), match=words):
        bayescm.decide(COUNTS, costs)


def test_bad_arguments():
    with pytest.raises(ValueError, match="`draws` must be at least 1000"):
        bayescm.decide(COUNTS, COSTS, draws=10)
    with pytest.raises(ValueError, match="`decision_prob`"):
        bayescm.decide(COUNTS, COSTS, decision_prob=1)
    with pytest.raises(ValueError, match="'all positive' twice"):
        bayescm.decide(TWO.assign_coords(system=["all positive", "B"]), COSTS)
    with pytest.raises(ValueError, match="dim 'action'"):
        bayescm.decide(TWO.rename(system="action"), COSTS)
    with pytest.raises(ValueError, match="improper"):
        bayescm.decide(bayescm.from_cells(tp=3, fn=0, fp=1, tn=2), COSTS, prior="haldane")


def test_audits_are_decided_about_by_their_draws():
    first, second = bayescm.audited([[17, 1], [3, 19]], [100, 1900]), bayescm.audited([[16, 4], [2, 18]], [300, 1650])
    found = bayescm.decide(first, COSTS, random_seed=1)
    asked = bayescm.summary(first, "prevalence", random_seed=2).isel(metric=0)
    always = found.sel(action="all negative")
    assert float(always["mean"]) == pytest.approx(10 * float(asked["mean"]), rel=0.01)
    assert float(always["point"]) == pytest.approx(10 * float(asked["point"]))
    np.testing.assert_allclose(always["interval"], 10 * asked["interval"], rtol=0.03)
    used = found.sel(action="classifier")
    assert float(used["point"]) == pytest.approx((10 * 100 * 3 / 20 + 1900 * 1 / 20) / 2000)
    assert found.attrs["model"] == "stratified"
    both = bayescm.decide({"a": first, "b": second}, COSTS, random_seed=1)
    assert both.action.values.tolist() == ["a", "b", "all negative", "all positive"]
    share = [float(bayescm.summary(one, "prevalence")["mean"][0]) for one in (first, second)]
    pooled = (2000 * share[0] + 1950 * share[1]) / 3950
    assert float(both["mean"].sel(action="all positive")) == pytest.approx(1 - pooled, abs=0.002)
    with pytest.raises(ValueError, match="`design`"):
        bayescm.decide(first, COSTS, design="paired")
    with pytest.warns(UserWarning, match="same number of items"):
        bayescm.decide({"a": first, "b": first}, COSTS, random_seed=1)


# Net benefit


def test_net_benefit_by_hand():
    found = bayescm.planning.decision_curve(COUNTS, [0.05, 0.2, 0.6])
    t = np.array([0.05, 0.2, 0.6])
    odds = t / (1 - t)
    np.testing.assert_allclose(found["point"].sel(action="classifier"), (26 - 20 * odds) / 200)
    np.testing.assert_allclose(found["mean"].sel(action="classifier"), (26.5 - 20.5 * odds) / 202)
    np.testing.assert_allclose(found["point"].sel(action="all positive"), (30 - 170 * odds) / 200)
    share = stats.beta(31, 171)
    everyone = found.sel(action="all positive")
    ends = share.ppf([0.025, 0.975])
    np.testing.assert_allclose(everyone["interval"], ends - (1 - ends) * odds[:, None], rtol=1e-8)
    np.testing.assert_allclose(everyone["sd"], share.std() * (1 + odds), rtol=1e-9)
    assert (found["interval"].sel(action="all negative") == 0).all()


@pytest.mark.parametrize("prevalence", [None, 0.1, (3, 17)])
def test_the_probability_to_be_useful_against_draws(prevalence):
    t = np.array([0.02, 0.08, 0.3, 0.55, 0.7])
    found = bayescm.planning.decision_curve(COUNTS, t, prevalence=prevalence)
    rng = np.random.default_rng(4)
    n = 200_000
    share = {None: stats.beta(31, 171), 0.1: None, (3, 17): stats.beta(3, 17)}[prevalence]
    p = np.full(n, 0.1) if share is None else share.rvs(n, rng)
    tp, fp = p * stats.beta(26.5, 4.5).rvs(n, rng), (1 - p) * stats.beta(20.5, 150.5).rvs(n, rng)
    odds = (t / (1 - t))[:, None]
    benefit, everyone = tp - odds * fp, p - odds * (1 - p)
    np.testing.assert_allclose(found["probability_useful"], (benefit > np.maximum(everyone, 0)).mean(1), atol=0.006)
    drawn = np.quantile(benefit, [0.025, 0.975], axis=1).T
    np.testing.assert_allclose(found["interval"].sel(action="classifier"), drawn, atol=0.005)
    assert (found["error"] < 1e-2).all()


def test_thresholds_of_their_own():
    rng = np.random.default_rng(1)
    y = rng.random(80) < 0.3
    score = np.clip(0.3 + 0.3 * y + rng.normal(0, 0.2, 80), 0.01, 0.99)
    counts = bayescm.curves.counts_at_thresholds(y, score, thresholds=[0.6, 0.2, 0.4])
    found = bayescm.planning.decision_curve(counts)
    assert found.threshold.values.tolist() == [0.6, 0.2, 0.4]
    for t in (0.2, 0.4, 0.6):
        one = bayescm.planning.decision_curve(counts.sel(threshold=t, drop=True), t)
        for name in ("mean", "interval", "probability_useful"):
            np.testing.assert_allclose(found[name].sel(threshold=t), one[name].isel(threshold=0), rtol=1e-12)
    with pytest.raises(ValueError, match="must be left out"):
        bayescm.planning.decision_curve(counts, [0.2])
    with pytest.raises(ValueError, match="calibrated probabilities"):
        bayescm.planning.decision_curve(counts.assign_coords(threshold=[0.2, 0.4, 1.0]))
    chosen = counts.sel(threshold=0.4)  # keeps the coordinate
    assert bayescm.planning.decision_curve(chosen, 0.2).equals(
        bayescm.planning.decision_curve(chosen.drop_vars("threshold"), 0.2)
    )
    with pytest.raises(ValueError, match="same items at every threshold"):
        bayescm.planning.decision_curve(TWO.rename(system="threshold").assign_coords(threshold=[0.1, 0.2]))


def test_many_systems_lazy_counts_and_a_round_trip(tmp_path):
    found = bayescm.planning.decision_curve(TWO.chunk({"system": 1}), [0.1, 0.2])
    assert found["interval"].dims == ("system", "threshold", "action", "ci_bound")
    assert found["probability_useful"].dims == ("system", "threshold")
    alone = bayescm.planning.decision_curve(TWO.sel(system="B"), [0.1, 0.2])
    np.testing.assert_allclose(found["interval"].sel(system="B"), alone["interval"], rtol=1e-9)
    found.to_netcdf(tmp_path / "found.nc")
    with xr.open_dataset(tmp_path / "found.nc") as stored:
        assert stored.identical(found)


def test_default_thresholds_zeros_and_a_perfect_classifier():
    for cells in ((0, 0, 0, 10), (20, 0, 0, 30), (0, 0, 0, 0)):
        counts = bayescm.from_cells(**dict(zip(("tp", "fn", "fp", "tn"), cells, strict=True)))
        found = bayescm.planning.decision_curve(counts)
        assert found.sizes["threshold"] == 99
        assert found["interval"].notnull().all()
        assert ((found["probability_useful"] >= 0) & (found["probability_useful"] <= 1)).all()
    assert np.isnan(found["point"].sel(action="classifier")).all()


@pytest.mark.parametrize("thresholds", [0, 1, 1e-17, [0.2, 1.5], -0.1, [], np.nan, [0.1, 0.1], "a"])
def test_bad_thresholds(thresholds):
    with pytest.raises((ValueError, TypeError), match="`thresholds`"):
        bayescm.planning.decision_curve(COUNTS, thresholds)
    with pytest.raises(ValueError, match="two labels"):
        bayescm.planning.decision_curve(THREE, 0.2)
    with pytest.raises(ValueError, match="dim 'action'"):
        bayescm.planning.decision_curve(TWO.rename(system="action"), 0.2)
