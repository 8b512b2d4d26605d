"""Metrics per class at known class shares, as ratios of sums of Betas: against draws and against two labels."""

import numpy as np
import pytest

import bayescm
from bayescm.distributions import Linear, Quotient

THREE = np.array([[17, 2, 1], [0, 6, 0], [3, 1, 12]])
SHARES = (0.2, 0.5, 0.3)
NAMES = ["precision", "f1", "jaccard", "f2", "npv", "fdr", "specificity", "informedness", "net_benefit(threshold=0.2)"]


@pytest.fixture(scope="module")
def drawn():
    settings = {"model": "three_binomial", "prevalence": SHARES, "chains": 1, "draws": 100_000, "random_seed": 4}
    return bayescm.posterior(THREE, metrics=NAMES, **settings)["posterior"]


@pytest.mark.parametrize("name", NAMES)
def test_metrics_per_class_against_draws(drawn, name):
    dist = bayescm.metric_distribution(THREE, name, model="three_binomial", prevalence=SHARES)
    assert isinstance(dist.dist, Quotient | Linear)
    values = drawn[dist.metric.name].values[0]
    for p in (0.025, 0.3, 0.975):
        assert ((values <= dist.ppf(p).values).mean(0) - p) == pytest.approx(0, abs=6 * np.sqrt(p * (1 - p) / 1e5))
    assert dist.mean().values == pytest.approx(values.mean(0), abs=6 * values.std(0).max() / np.sqrt(1e5))
    assert dist.std().values == pytest.approx(values.std(0), rel=0.02)
    assert (dist.error(dist.ppf(0.5)) < 1e-5).all()


def test_one_row_of_false_calls_agrees_with_two_labels():
    """V of one Beta: the exact distribution of two labels, another way."""
    (tn, fp), (fn, tp) = np.array([[40, 3], [2, 15]]) + 0.5
    counts = bayescm.from_cells(tp=15, fn=2, fp=3, tn=40)
    rest = Linear(np.array([0.7]), np.array([fp]), np.array([tn]))
    dist = Quotient(np.array([0.0, 0.3, 0.0]), np.array([0.0, 0.3, 1.0]), np.array(tp), np.array(fn), rest)
    known = bayescm.metric_distribution(counts, "precision", model="three_binomial", prevalence=0.3)
    for p in (0.01, 0.5, 0.99):
        assert known.cdf(float(dist.ppf(p))).item() == pytest.approx(p, abs=1e-6)


def test_a_summary_says_exact_only_at_known_shares():
    names = ["f1", "precision", "f1_macro"]
    found = bayescm.summary(THREE, names, model="three_binomial", prevalence="fixed", random_seed=1)
    assert found.method.values.tolist() == ["exact"] * 6 + ["draws"]
    estimated = bayescm.summary(THREE, names, model="three_binomial", random_seed=1)
    assert set(estimated.method.values) == {"draws"}


def test_what_the_class_shares_fix_is_a_point():
    found = bayescm.summary(THREE, "expected_cost(tp=1, fn=1, fp=0, tn=0)", model="three_binomial", prevalence=SHARES)
    np.testing.assert_allclose(found["mean"], SHARES)
    np.testing.assert_allclose(found["sd"], 0)


@pytest.mark.parametrize(
    ("counts", "shares"),
    [
        ([[999995, 3, 2], [3, 999995, 2], [0, 0, 3]], (0.36, 0.42, 0.22)),
        ([[3, 0, 0], [0, 3, 0], [0, 0, 1000]], (0.97, 0.001, 0.029)),
        ([[999061, 470, 469], [0, 3, 0], [5, 4, 999991]], (0.01, 0.77, 0.22)),
    ],
)
def test_moments_where_the_range_is_a_million_times_the_sd(counts, shares):
    found = bayescm.summary(counts, "precision", model="three_binomial", prevalence=shares)
    rng, concentrations = np.random.default_rng(1), np.array(counts) + np.where(np.eye(3), 0.5, 0.25)
    cells = np.array(shares)[:, None] * np.stack([rng.dirichlet(row, 400_000) for row in concentrations], 1)
    drawn = np.diagonal(cells, axis1=1, axis2=2) / cells.sum(1)
    np.testing.assert_allclose(found["sd"], drawn.std(0), rtol=0.03)
    np.testing.assert_allclose((found["mean"] - drawn.mean(0)) / drawn.std(0), 0, atol=0.02)


RARE = np.array([[999000, 700, 300], [1, 2, 0], [500, 2000, 300]])
RARE_SHARES = (1e-4, 0.3, 0.6999)


@pytest.mark.parametrize("name", ["precision", "f1", "specificity", "accuracy"])
def test_a_class_of_three_items_weighs_more_than_one_of_a_million(name):
    settings = {"model": "three_binomial", "prevalence": RARE_SHARES, "random_seed": 3}
    one = bayescm.summary(RARE, name, ci_kind="eti", **settings)
    assert set(one.method.values) == {"exact"}
    assert float(one.error.max()) < 1e-3
    drawn = bayescm.posterior(RARE, metrics=[name], chains=1, draws=100_000, **settings)["posterior"]
    values = drawn[next(iter(drawn.data_vars)) if name not in drawn else name].values.reshape(100_000, -1)
    below = (values[:, :, None] <= one.interval.values).mean(0)
    np.testing.assert_allclose(below, np.broadcast_to([0.025, 0.975], below.shape), atol=6 * 0.156 / np.sqrt(1e5))


def test_draws_where_a_table_fails(monkeypatch):
    """As before there was another way: the series alone is off by up to .03 there, and says so."""
    from bayescm.distributions import linear, quotient

    monkeypatch.setattr(linear, "_ENOUGH", np.inf)
    monkeypatch.setattr(quotient, "_ENOUGH", np.inf)
    settings = {"model": "three_binomial", "prevalence": RARE_SHARES}
    with pytest.warns(UserWarning, match="exact distribution of precision"):
        found = bayescm.summary(RARE, "precision", ci_kind="eti", random_seed=3, **settings)
    bad = np.isnan(found.error.values)
    assert bad.any()
    assert ((found.mcse_interval.values > 0).any(-1) == bad).all()
    dist = bayescm.metric_distribution(RARE, "precision", **settings)
    table = max(dist.dist.tables, key=lambda one: one.errors.max())
    worst = table.x[np.argmax(table.errors)]
    with pytest.warns(UserWarning, match="isn't right enough"):
        claim = bayescm.probability(RARE, f"precision > {worst}", random_seed=3, **settings)
    assert np.isnan(claim.error.values).any()
    assert (np.isnan(claim.error.values) == (claim.mcse_probability.values > 0)).all()
    with pytest.warns(UserWarning, match="tails of precision"):
        dist.eti()


def test_differences_per_class_at_known_shares_are_exact():
    counts = bayescm.from_array(np.stack([THREE, THREE + np.diag([2, 3, 4])]), dims="system")
    settings = {"model": "three_binomial", "prevalence": SHARES, "random_seed": 1}
    found = bayescm.compare_systems(counts, metrics=["specificity", "f1"], **settings)
    assert (found["summary"].method == "exact").all()
    draws = found["posterior"]
    assert draws is not None
    rng, gains = np.random.default_rng(2), []
    for table in counts.values:
        rows = np.stack([rng.dirichlet(row, 100_000) for row in table + np.where(np.eye(3), 0.5, 0.25)], 1)
        cells = np.array(SHARES)[:, None] * rows
        gains.append(2 * np.diagonal(cells, axis1=1, axis2=2) / (cells.sum(1) + np.array(SHARES)))
    drawn = gains[0] - gains[1]
    f1 = found["summary"].sel(metric=[f"f1[{label}]" for label in range(3)])
    np.testing.assert_allclose(f1["mean"].values[0], drawn.mean(0), atol=3e-3)
    np.testing.assert_allclose(f1.probability_better.values[0], (drawn > 0).mean(0), atol=0.01)
