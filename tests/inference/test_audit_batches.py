"""Several audits in one array, claims about audits, distributions and regions of them."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayescm

CELLS = [[[17, 1], [3, 19]], [[30, 4], [5, 41]]]
TOTALS = [[100, 1900], [320, 1680]]
COUNTS = bayescm.from_array(CELLS, dims="system").assign_coords(system=["A", "B"])
FEW = bayescm.audited([[3, 1], [1, 4]], [7, 9], of="items")


def outcomes():
    """Every number of right answers among the unchecked of FEW: prevalence, recall, accuracy, probability."""
    c, totals = np.array([[3, 1], [1, 4]]), np.array([7, 9])
    rest = totals - c.sum(0)
    chance = [stats.betabinom(rest[j], c[1, j] + 0.5, c[0, j] + 0.5).pmf(np.arange(rest[j] + 1)) for j in (0, 1)]
    rows = []
    for i, k in itertools.product(range(rest[0] + 1), range(rest[1] + 1)):
        fn, tp = c[1, 0] + i, c[1, 1] + k
        rows.append(((fn + tp) / 16, tp / (fn + tp), (tp + totals[0] - fn) / 16, chance[0][i] * chance[1][k]))
    return np.array(rows).T


@pytest.mark.parametrize("of", ["process", "population", "items"])
def test_a_batch_is_each_by_itself(of):
    metrics = ["prevalence", "mcc"] if of == "items" else ["prevalence", "recall", "mcc"]
    batch = bayescm.audited(COUNTS, TOTALS, of=of, dims="system")
    ours = bayescm.summary(batch, metrics)
    claimed = bayescm.probability(batch, ["prevalence > .8"])
    for i, name in enumerate("AB"):
        one = bayescm.audited(CELLS[i], TOTALS[i], of=of)
        alone, here = bayescm.summary(one, metrics), ours.sel(system=name)
        for variable in ("point", "mean", "sd", "interval"):
            exact = alone["method"].values == "exact"
            np.testing.assert_array_equal(here[variable].values[exact], alone[variable].values[exact])
        share = bayescm.probability(one, "prevalence > .8")["probability"]
        np.testing.assert_array_equal(claimed["probability"].sel(system=name), share)
    assert ours["interval"].dims == ("system", "metric", "ci_bound")
    assert '"B": 80' in ours.attrs["checked"]


def test_tables_and_two_dims():
    rows = [(s, day, y, v) for s in "AB" for day in (1, 2) for y, v in [(0, 0), (1, 1), (1, 0), (None, 1), (None, 0)]]
    table = pd.DataFrame(rows, columns=["system", "day", "human", "judge"])
    batch = bayescm.audited(table, actual="human", predicted="judge", dims=["system", "day"])
    assert batch.dims == ("system", "day", "actual", "predicted")
    found = bayescm.summary(batch, ["accuracy", "balanced_accuracy"], random_seed=1)
    assert found["mean"].dims == ("system", "day", "metric")
    exact = found["mean"].sel(metric="accuracy").values
    np.testing.assert_allclose(exact, exact[0, 0])
    drawn = found["mean"].sel(metric="balanced_accuracy").values
    assert len(np.unique(drawn)) == 4  # each has a stream of its own
    several = bayescm.audited(table, actual="human", predicted="judge", dims="system", stratum="day")
    assert bayescm.summary(several, "accuracy", random_seed=1)["mean"].dims == ("system", "metric")


def test_what_a_batch_refuses():
    batch = bayescm.audited(COUNTS, TOTALS, dims="system")
    with pytest.raises(ValueError, match="must be one matrix here"):
        bayescm.region(batch, method="credible")
    for call in (bayescm.posterior, lambda audit: bayescm.planning.allocate(audit, 3)):
        with pytest.raises(ValueError, match=r"over system.*counts.isel\(system=0\)"):
            call(batch)
    with pytest.raises(ValueError, match="`dims` must be dims of the counts"):
        bayescm.audited(COUNTS, TOTALS, dims="fold")
    with pytest.raises(ValueError, match="B: `totals` must count all items"):
        bayescm.audited(COUNTS, [[100, 1900], [10, 1680]], dims="system")
    with pytest.warns(UserWarning, match=r"A: predicted 0 has 100 items.*Check some"):
        bayescm.audited(bayescm.from_array([[[0, 1], [0, 19]], CELLS[1]], dims="system").assign_coords(
            system=["A", "B"]), TOTALS, dims="system")  # fmt: skip


def test_an_unchecked_verdict_leaves_the_others_an_estimate():
    with pytest.warns(UserWarning, match="none was checked"):
        audit = bayescm.audited([[0, 1], [0, 39]], [60, 1940])
    points = bayescm.summary(audit, ["precision", "accuracy"])["point"].values
    assert points[0] == pytest.approx(39 / 40)
    assert np.isnan(points[1])


@pytest.mark.parametrize(("metric", "place"), [("prevalence", 0), ("recall", 1), ("accuracy", 2)])
def test_distribution_of_these_items_by_enumeration(metric, place):
    found, rows = bayescm.metric_distribution(FEW, metric), outcomes()
    values, chance = np.round(rows[place], 12), rows[3]
    assert float(found.mean()) == pytest.approx(chance @ values)
    assert float(found.std()) == pytest.approx(np.sqrt(chance @ (values - chance @ values) ** 2))
    for x in (0.5, 0.6, 0.75, *np.unique(values)[:3]):
        assert float(found.cdf(x)) == pytest.approx(chance[values <= x + 1e-9].sum(), abs=1e-12)
        assert float(found.sf(x)) == pytest.approx(chance[values > x + 1e-9].sum(), abs=1e-12)
    for q in (0.1, 0.5, 0.9):
        least = min(v for v in np.unique(values) if chance[values <= v + 1e-9].sum() >= q)
        assert float(found.ppf(q)) == pytest.approx(least)
    np.testing.assert_allclose(found.eti(0.95), bayescm.summary(FEW, metric)["interval"].values[0])
    with pytest.raises(ValueError, match="no density"):
        found.pdf(0.5)


def test_claims_by_enumeration_and_by_draws():
    value, _, accuracy, chance = outcomes()
    found = bayescm.probability(FEW, ["prevalence > .5", "prevalence >= .5", "prevalence < .5", "prevalence <= .5"])
    value = np.round(value, 12)
    wanted = [chance[part].sum() for part in (value > 0.5, value >= 0.5, value < 0.5, value <= 0.5)]
    assert wanted[0] < wanted[1]
    np.testing.assert_allclose(found["probability"], wanted)
    assert (found["method"] == "exact").all()
    joint = bayescm.probability(FEW, "prevalence > .5 and accuracy > .7", draws=10**6, random_seed=1)
    both = chance[(value > 0.5) & (accuracy > 0.7)].sum()
    assert joint["method"].item() == "draws"
    assert float(joint["probability"][0]) == pytest.approx(both, abs=5 * float(joint["mcse_probability"][0]))


def test_claims_of_a_process_beside_draws_of_numpy():
    rng = np.random.default_rng(1)
    shares = rng.dirichlet([101, 1901], 10**6)
    right = [rng.beta(17.5, 3.5, 10**6), rng.beta(19.5, 1.5, 10**6)]
    positive = shares[:, 0] * (1 - right[0]) + shares[:, 1] * right[1]
    accuracy = shares[:, 0] * right[0] + shares[:, 1] * right[1]
    audit = bayescm.audited(CELLS[0], TOTALS[0])
    found = bayescm.probability(audit, ["prevalence > .9", "accuracy > .95 and prevalence > .9"], random_seed=1)
    wanted = [(positive > 0.9).mean(), ((accuracy > 0.95) & (positive > 0.9)).mean()]
    assert found["method"].values.tolist() == ["exact", "draws"]
    np.testing.assert_allclose(found["probability"], wanted, atol=5 * (0.5e-3 + 2.5e-3))
    assert float(found["probability"][0]) == pytest.approx(wanted[0], abs=5 * 0.5e-3)
    of_three = bayescm.audited(np.diag([5, 6, 7]) + 1, [20, 30, 40])
    assert bayescm.probability(of_three, ["recall > .5", "accuracy > .5"], random_seed=1)["probability"].dims == (
        "class_label", "claim",
    )  # fmt: skip


@pytest.mark.parametrize("of", ["process", "population"])
@pytest.mark.parametrize("space", ["pr", "roc"])
def test_a_region_holds_its_level_of_other_draws(of, space):
    """Betas of NumPy; at 40 labels and high precision."""
    rng, n = np.random.default_rng(1), 40_000
    audit = bayescm.audited(CELLS[0], TOTALS[0], of=of)
    shares = rng.dirichlet([101, 1901], n).T if of == "process" else np.array([0.05, 0.95])
    right = [rng.beta(17.5, 3.5, n), rng.beta(19.5, 1.5, n)]
    tp, fn, fp = shares[1] * right[1], shares[0] * (1 - right[0]), shares[1] * (1 - right[1])
    tn = shares[0] * right[0]
    y, x = (tp / (tp + fp), tp / (tp + fn)) if space == "pr" else (tp / (tp + fn), fp / (fp + tn))
    found = bayescm.region(audit, space=space, method="credible", random_seed=2)
    names = list(found["level"].dims)
    at = found["level"].interp({names[0]: ("i", y), names[1]: ("i", x)}).fillna(1.0)
    for level in (0.683, 0.954):
        assert float((at <= level).mean()) == pytest.approx(level, abs=0.012)
    assert "chosen by these alone" in found.attrs["assumptions"]
    np.testing.assert_allclose(found["point"], [0.95, 0.991758] if space == "pr" else found["point"], atol=1e-5)
    ax = bayescm.plots.plot_region(found)
    assert "by draws" in ax.get_legend().get_title().get_text()
    areas = bayescm.regions.contour(found, levels=[0.683, 0.954])["area"].values
    assert 0 < areas[0] < areas[1]


def test_what_regions_refuse():
    audit = bayescm.audited(CELLS[0], TOTALS[0])
    with pytest.raises(ValueError, match="the region is the posterior's"):
        bayescm.region(audit, method="wilks")
    assert bayescm.region(audit, random_seed=1).attrs["method"] == "credible"
    with pytest.raises(ValueError, match="without other options"):
        bayescm.region(audit, method="credible", ordering="density")
    with pytest.raises(ValueError, match="finitely many pairs"):
        bayescm.region(FEW, method="credible")
    with pytest.raises(ValueError, match="two labels"):
        bayescm.region(bayescm.audited(np.ones((3, 3), int), [9, 9, 9]), method="credible")


def test_distributions_of_a_batch_are_those_of_each():
    batch = bayescm.audited(COUNTS, TOTALS, dims="system")
    found = bayescm.metric_distribution(batch, "accuracy")
    each = [bayescm.metric_distribution(batch.isel(system=i, drop=True).drop_attrs(), "accuracy") for i in range(2)]
    for name, given in (("cdf", [0.8, 0.9]), ("ppf", [0.1, 0.5])):
        wanted = np.stack([getattr(one, name)(given).values for one in each])
        np.testing.assert_allclose(getattr(found, name)(given).values, wanted)
    np.testing.assert_allclose(found.eti().values, [one.eti().values for one in each])
    np.testing.assert_allclose(found.to_dataset().pdf.values, [one.to_dataset().pdf.values for one in each])


def test_distributions_of_classes_of_a_batch_are_those_of_each():
    matrices = bayescm.from_array(np.random.default_rng(1).integers(1, 20, (2, 3, 3)), dims="system")
    totals = [[200, 300, 100], [400, 100, 150]]
    batch = bayescm.audited(matrices, totals, of="population", dims="system")
    found = bayescm.metric_distribution(batch, "precision")
    assert found.mean().dims == ("system", "class_label")
    for i in range(2):
        one = bayescm.metric_distribution(bayescm.audited(matrices[i], totals[i], of="population"), "precision")
        for name, given in (("cdf", [0.2, 0.5]), ("ppf", [0.1, 0.5, 0.9])):
            np.testing.assert_allclose(getattr(found, name)(given)[i], getattr(one, name)(given))
