"""Predictive values of two systems on the same items: published formulas item by item, derivatives, simulated nulls."""

import numpy as np
import pytest
from scipy import stats

import bayescm
from bayescm.comparison.predictive_values import of_items


def items(seed, n=300, shift=0.0, alike=0.5):
    """Return the truth and two tests with correlated errors; their predictive values are equal without a shift."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    common = rng.normal(size=n)
    given = [y + alike * common + np.sqrt(1 - alike**2) * rng.normal(size=n) > 0.5 + change for change in (0.0, shift)]
    return y, *given


def kosinski(y, a, b):
    """Return the statistic for positive predictive values as printed: by the items that both call positive."""
    n1, n2 = a.sum(), b.sum()
    pooled = ((y & a).sum() + (y & b).sum()) / (n1 + n2)
    both = ((y & a & b).sum() * (1 - pooled) ** 2 + (~y & a & b).sum() * pooled**2) / (n1 + n2)
    difference = (y & a).sum() / n1 - (y & b).sum() / n2
    return difference**2 / ((pooled * (1 - pooled) - 2 * both) * (1 / n1 + 1 / n2))


@pytest.mark.parametrize("seed", range(4))
def test_the_p_value_is_that_of_the_printed_statistic(seed):
    y, a, b = items(seed, shift=0.3)
    found = bayescm.compare_systems(
        y.astype(int), {"a": a.astype(int), "b": b.astype(int)}, ["precision", "npv", "fdr"], random_seed=1
    )["predictive_values"].isel(comparison=0)
    assert found["p_value"].sel(metric="precision").item() == pytest.approx(stats.chi2.sf(kosinski(y, a, b), 1))
    npv = stats.chi2.sf(kosinski(~y, ~a, ~b), 1)
    assert found["p_value"].sel(metric="negative_predictive_value").item() == pytest.approx(npv)
    assert found["p_value"].sel(metric="false_discovery_rate") == pytest.approx(
        found["p_value"].sel(metric="precision")
    )
    ppv = [(y & t).sum() / t.sum() for t in (a, b)]
    assert found["point"].sel(metric="precision").item() == pytest.approx(ppv[0] - ppv[1])
    assert found["ratio"].sel(metric="precision").item() == pytest.approx(ppv[0] / ppv[1])


def test_bounds_are_those_of_the_delta_method_in_all_cells():
    y, a, b = items(5, shift=0.3)
    cells = np.array(
        [[[np.sum((y == i) & (a == j) & (b == k)) for k in (0, 1)] for j in (0, 1)] for i in (0, 1)], float
    )

    def both(n):
        values = n[1, 1].sum() / n[:, 1].sum(), n[1, :, 1].sum() / n[:, :, 1].sum()
        return np.array([values[0] - values[1], np.log(values[0] / values[1])])

    slopes = np.zeros((2, 2, 2, 2))
    for place in np.ndindex(2, 2, 2):
        step = np.zeros_like(cells)
        step[place] = 1e-5
        slopes[(slice(None), *place)] = (both(cells + step) - both(cells - step)) / 2e-5
    mean = (slopes * cells).sum((1, 2, 3)) / cells.sum()
    error = np.sqrt((slopes**2 * cells).sum((1, 2, 3)) - cells.sum() * mean**2)
    found = bayescm.compare_systems(y.astype(int), {"a": a.astype(int), "b": b.astype(int)}, "precision", ci_prob=0.9,
                                    random_seed=1)["predictive_values"].to_dataset().squeeze()  # fmt: skip
    z = stats.norm.isf(0.05)
    np.testing.assert_allclose(found["interval"], both(cells)[0] + z * error[0] * np.array([-1, 1]), rtol=1e-6)
    np.testing.assert_allclose(
        np.log(found["ratio_interval"]), both(cells)[1] + z * error[1] * np.array([-1, 1]), rtol=1e-6
    )


def test_equal_values_are_rejected_and_covered_as_often_as_stated():
    rejected, inside, ratios = 0, 0, 0
    for seed in range(1000):
        y, a, b = items(100 + seed, 200, alike=0.7)
        chosen, right = np.column_stack([a, b]), np.column_stack([y, y])
        _, low, high, _, less, more, p = of_items(chosen, right, np.ones(200), 0.95)
        rejected += p < 0.05
        inside += low <= 0 <= high
        ratios += less <= 1 <= more
    assert stats.binomtest(rejected, 1000, 0.05).pvalue > 1e-5
    assert min(inside, ratios) > 925
    assert max(inside, ratios) < 975


def test_classes_of_more_than_two():
    rng = np.random.default_rng(1)
    y, a, b = rng.choice(["x", "y", "z"], size=(3, 200))
    found = bayescm.compare_systems(y, {"a": a, "b": b}, ["precision", "accuracy"], random_seed=1)["predictive_values"]
    assert found.metric.values.tolist() == ["precision[x]", "precision[y]", "precision[z]"]
    wanted = stats.chi2.sf(kosinski(y == "z", a == "z", b == "z"), 1)
    assert found["p_value"].sel(metric="precision[z]").item() == pytest.approx(wanted)


def test_edges():
    ones, y = np.ones((4, 1), bool), np.array([0, 0, 1, 1], bool)
    right = np.column_stack([y, y])
    same = np.array([[1, 1], [0, 0], [1, 1], [1, 1]], bool)
    found = of_items(same, right, np.ones(4), 0.95)
    assert (found[0], found[3], found[-1]) == (0, 1, 1)
    assert np.isnan(found[[1, 2, 4, 5]]).all()
    assert np.isnan(of_items(ones & [True, False], right, np.ones(4), 0.95)).all()  # no item with that prediction
    never = of_items(np.array([[1, 0], [0, 0], [0, 1], [0, 1]], bool), right, np.ones(4), 0.95)
    assert never[0] == -1
    assert np.isnan(never[3:6]).all()
    large = of_items(same ^ np.array([[0, 1], [0, 0], [0, 0], [0, 0]], bool), right, np.full(4, 1e9), 0.95)
    assert np.isfinite(large).all()


def test_only_for_shares_of_predicted_classes_of_the_same_items():
    y = [0, 0, 1, 1, 1, 0]
    given = {"A": [0, 0, 1, 1, 0, 0], "B": [1, 0, 1, 0, 0, 0]}
    assert "predictive_values" not in bayescm.compare_systems(y, given, ["accuracy", "recall"], random_seed=1)
    apart = bayescm.compare_systems({"A": [[50, 5], [6, 30]], "B": [[40, 7], [6, 30]]}, "precision")
    assert "predictive_values" not in apart
