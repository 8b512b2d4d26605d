"""Do hold-outs scatter as independent items do? Against scipy, the hypergeometric distribution, and other samplings."""

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import bayescm
from bayescm.calibration import dispersion

THETA = np.array([[0.45, 0.1], [0.15, 0.3]])


def hold_outs(seed, number=50, n=200, *, theta=THETA):
    drawn = np.random.default_rng(seed).multinomial(n, theta.ravel(), size=number)
    return bayescm.from_array(drawn.reshape(number, *theta.shape), dims="hold_out")


def test_the_statistic_is_pearsons(seed):
    counts = xr.concat([hold_outs(seed(1), 20), hold_outs(seed(2), 20, 37)], "hold_out")  # sizes differ
    found = dispersion(counts, draws=2000, random_seed=seed(3))
    wanted = stats.chi2_contingency(counts.values.reshape(40, 4), correction=False)
    assert found.dispersion.item() == pytest.approx(wanted.statistic / wanted.dof)
    assert found.p_value.item() == pytest.approx(2 * min(wanted.pvalue, 1 - wanted.pvalue), abs=0.1)


def test_standard_deviations_are_those_of_the_shares(seed):
    counts = hold_outs(seed(1), 30, 100)
    found = dispersion(counts, ["precision", "recall"], draws=4000, random_seed=seed(3))
    shares = counts.values / 100
    np.testing.assert_allclose(found.cell_sd, shares.std(0, ddof=1))
    p = shares.mean(0)
    np.testing.assert_allclose(found.cell_sd_expected, np.sqrt(p * (1 - p) / 100))
    np.testing.assert_allclose(found.cell_dispersion, (found.cell_sd / found.cell_sd_expected) ** 2)
    recall = bayescm.metrics.evaluate(counts, "recall").recall
    assert found.metric_sd.sel(metric="recall").item() == pytest.approx(recall.std(ddof=1).item())
    at_once = bayescm.from_array(counts.values.sum(0))  # eqs 13 and 14 of the paper, for a hold-out's size
    delta = np.sqrt(np.diag(bayescm.region(at_once, method="ellipse").covariance) * 30)
    np.testing.assert_allclose(found.metric_sd_expected, delta, rtol=0.04)


def test_two_hold_outs_of_two_cells_are_hypergeometric():
    counts = bayescm.from_array(np.array([[[0, 0], [1, 9]], [[0, 0], [6, 4]]]), dims="hold_out")
    found = dispersion(counts, "recall", draws=20_000, random_seed=1)
    k = np.arange(8)
    mass = stats.hypergeom(20, 7, 10).pmf(k)
    above = mass[abs(k - 3.5) >= 2.5 - 1e-9].sum()  # the same for the cells, their sum and recall
    for p_value in (found.p_value, found.cell_p_value[1, 1], found.metric_p_value[0]):
        assert p_value.item() == pytest.approx(2 * above, abs=6 * 2 * np.sqrt(above / 20_000))
    assert np.isnan(found.cell_dispersion[0]).all()
    assert found.cell_sd_expected[0].values.tolist() == [0, 0]


@pytest.mark.slow
def test_p_values_are_uniform_if_items_are_independent():
    counts = xr.concat([hold_outs(s, 12, 40, theta=np.array([[0.7, 0.02], [0.08, 0.2]])) for s in range(300)], "study")
    found = dispersion(counts, draws=1000, random_seed=1)
    for p_value in (found.p_value, found.cell_p_value[:, 1, 1], found.metric_p_value.sel(metric="recall")):
        assert stats.kstest(p_value.values, "uniform").pvalue > 1e-4  # sparse cells: chi-squared would be far off
    np.testing.assert_allclose(found.dispersion.mean(), 1, atol=5 * (2 / 33 / 300) ** 0.5)


def test_alike_items_scatter_more(seed):
    rng = np.random.default_rng(seed(1))
    rho = 0.05
    shares = rng.dirichlet(THETA.ravel() * (1 - rho) / rho, size=200)
    drawn = np.stack([rng.multinomial(50, p) for p in shares]).reshape(-1, 2, 2)
    found = dispersion(bayescm.from_array(drawn, dims="hold_out"), random_seed=seed(3))
    assert found.dispersion.item() == pytest.approx(1 + 49 * rho, rel=0.35)
    assert found.p_value.item() < 0.01


def test_fixed_class_totals_and_overlapping_hold_outs_scatter_less(seed):
    rng = np.random.default_rng(seed(1))
    tp, fp = rng.binomial(100, 0.7, 300), rng.binomial(100, 0.2, 300)
    stratified = bayescm.from_cells(tp=tp, fn=100 - tp, fp=fp, tn=100 - fp, dims="hold_out")
    found = dispersion(stratified, ["recall", "prevalence"], draws=1000, random_seed=seed(3))
    assert found.dispersion.item() == pytest.approx(2 / 3, abs=0.12)  # 2 of 3 degrees of freedom are left
    assert found.metric_p_value.sel(metric="prevalence").item() < 0.01
    assert found.metric_dispersion.sel(metric="recall").item() == pytest.approx(1, abs=0.45)
    pool = rng.choice(4, 1000, p=THETA.ravel())
    again = [np.bincount(rng.choice(pool, 500, replace=False), minlength=4) for _ in range(300)]
    found = dispersion(bayescm.from_array(np.reshape(again, (-1, 2, 2)), dims="hold_out"), draws=1000, random_seed=1)
    assert found.dispersion.item() == pytest.approx(0.5, abs=0.1)  # 1 - n / N
    assert found.p_value.item() < 0.01


def test_many_labels_and_undefined_metrics():
    theta = np.array([[0.3, 0.02, 0.0], [0.05, 0.3, 0.02], [0.01, 0.0, 0.3]])
    found = dispersion(hold_outs(3, 40, 3, theta=theta), ["recall", "accuracy"], draws=1000, random_seed=1)
    assert found.metric.values.tolist() == ["recall[0]", "recall[1]", "recall[2]", "accuracy"]
    assert (found.undefined[:3] > 0).all()
    assert found.undefined[3] == 0
    assert np.isnan(found.cell_dispersion[0, 2])
    assert found.metric_p_value.notnull().values.tolist() == [False, True, True, True]  # no error in class 0


@pytest.mark.parametrize("tables", [[[[5, 0], [0, 0]]] * 4, [[[0, 0], [0, 5]]] * 3])
def test_where_nothing_varies_there_is_no_answer(tables):
    found = dispersion(bayescm.from_array(tables, dims="hold_out"), draws=1000, random_seed=1)
    assert np.isnan(found.dispersion)
    assert np.isnan(found.p_value)
    assert np.isnan(found.cell_p_value).all()
    assert np.isnan(found.metric_p_value).all()


def test_an_empty_hold_out_says_nothing():
    counts = hold_outs(1, 5)
    more = xr.concat([counts, 0 * counts[:1]], "hold_out")
    xr.testing.assert_identical(dispersion(more, random_seed=1), dispersion(counts, random_seed=1))


def test_huge_counts_and_equal_tables():
    found = dispersion(bayescm.from_array([[[10**8, 10**8], [3, 10**8]]] * 3, dims="hold_out"), random_seed=1)
    assert found.dispersion.item() < 1e-20
    assert found.p_value.item() < 0.01


@pytest.mark.parametrize(
    ("counts", "options", "message"),
    [
        (lambda: hold_outs(1), {"dim": "fold"}, "`dim` must be a batch dim"),
        (lambda: hold_outs(1)[0], {}, "`dim` must be a batch dim"),
        (lambda: hold_outs(1)[:1], {}, "needs at least two"),
        (lambda: 0 * hold_outs(1), {}, "needs at least two"),
        (lambda: hold_outs(1), {"draws": 0}, "`draws`"),
        (lambda: hold_outs(1), {"metrics": "recal"}, "did you mean"),
    ],
)
def test_what_it_refuses(counts, options, message):
    with pytest.raises(ValueError, match=message):
        dispersion(counts(), **options)
