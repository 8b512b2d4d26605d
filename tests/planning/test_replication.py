"""Predictive distributions of a second test: Caelen's numbers, brute force, draws."""

import numpy as np
import pytest
from scipy import stats

import bayescm
from bayescm.distributions import dirichlet
from bayescm.distributions.discrete import Discrete, Unsorted, collected, distinct
from bayescm.metrics import compute, resolve
from bayescm.planning import future, replication
from bayescm.planning.future import Lattice, of_proportion
from bayescm.priors.concentrations import concentrations

CAELEN = bayescm.datasets.caelen2017()


def test_caelens_predictive_numbers():  # caelen.predictive: alpha = 0
    found = bayescm.planning.replicate(CAELEN, "mcc", claims="mcc > 0", prior="haldane", ci_kind="hdi")
    assert float(found.probability.sel(system="B").item()) == pytest.approx(0.91901, abs=1e-5)
    assert float(found.probability_larger.sel(system="A", versus="B").item()) == pytest.approx(0.79155, abs=1e-5)
    assert found.interval.sel(system="B").values[0] == pytest.approx([-0.06722, 0.38499], abs=1e-5)
    assert found["mean"].values[:, 0] == pytest.approx([0.29424, 0.16343], abs=1e-5)
    assert found.sd.values[:, 0] == pytest.approx([0.11199, 0.11574], abs=1e-5)
    assert (found.method == "exact").all()


def test_caelens_predictive_numbers_with_a_flat_prior():  # caelen.predictive1: alpha = 1
    found = bayescm.planning.replicate(CAELEN, "mcc", claims="mcc > 0", prior="laplace", ci_kind="hdi")
    assert float(found.probability.sel(system="B").item()) == pytest.approx(0.91488, abs=1e-5)
    assert float(found.probability_larger.sel(system="A", versus="B").item()) == pytest.approx(0.78561, abs=1e-5)
    assert found.interval.sel(system="B").values[0] == pytest.approx([-0.06421, 0.38494], abs=1e-5)
    assert found.sd.values[:, 0] == pytest.approx([0.1116, 0.11504], abs=1e-5)


def test_probabilities_of_matrices_are_dirichlet_multinomial():
    prior = concentrations(np.array([[2.5, 0.5], [1.5, 4.0]]), "dirichlet_multinomial", 2)
    lattice = Lattice(6, prior)
    truth = stats.dirichlet_multinomial(prior.rows.ravel(), 6).pmf(lattice.matrix.reshape(-1, 4).astype(int))
    assert len(lattice.weights) == future.matrices(6, None) == 84
    assert lattice.weights == pytest.approx(truth)
    assert (lattice.matrix.sum((-2, -1)) == 6).all()


def every_matrix(size):
    """Return all matrices of two labels, (n, 2, 2), from NumPy alone."""
    tn, fp, fn = np.indices((size + 1,) * 3).reshape(3, -1)
    cells = np.stack([tn, fp, fn, size - tn - fp - fn], -1)
    return cells[cells[:, 3] >= 0].reshape(-1, 2, 2)


def chances(matrices, which):
    """Return their probabilities under a posterior, by SciPy."""
    (tn, fp), (fn, tp) = matrices.transpose(1, 2, 0)
    (c, d), (b, a) = which.rows
    negative, positive = which.shares
    size = tp + fn + fp + tn
    of_classes = stats.betabinom.pmf(tp, tp + fn, a, b) * stats.betabinom.pmf(tn, tn + fp, c, d)
    return stats.betabinom.pmf(tp + fn, size, positive, negative) * of_classes


@pytest.mark.slow
@pytest.mark.parametrize("model", ["dirichlet_multinomial", "three_binomial"])
@pytest.mark.parametrize("counts", [[[90, 4], [1, 25]], [[0, 0], [3, 9]]])
def test_matrices_that_are_never_seen_and_proportions_change_nothing(model, counts):
    which = dirichlet.posterior(np.array(counts), concentrations("jeffreys", model, 2))
    size = int(np.sum(counts))
    whole, most = every_matrix(size), Lattice(size, which)
    assert len(most.matrix) <= future.matrices(size, None) == len(whole)
    weights = chances(whole, which)
    for metric in resolve(None, 2):
        values, group = distinct(compute([metric], whole)[0])
        truth = collected(values, np.bincount(group, weights)).statistics(0.95, "hdi")
        proportion = of_proportion(metric, which, np.sum(counts, -1), size, fixed=False)
        of_class = {"tp", "fn"} == {*sum(metric.ratio or (), ())} or {"tn", "fp"} == {*sum(metric.ratio or (), ())}
        assert (proportion is None) == (
            metric.ratio is None or not (of_class or model == "dirichlet_multinomial" or metric.name == "prevalence")
        )
        for dist in filter(None, (most.dist(metric), proportion)):
            found = dist.statistics(0.95, "hdi")
            assert found == pytest.approx(truth, rel=1e-9, abs=1e-12, nan_ok=True), metric.name


@pytest.mark.parametrize("counts", [[[50, 50], [50, 50]], [[142, 8], [5, 45]], [[194, 2], [1, 3]], [[197, 0], [3, 0]]])
def test_matrices_that_are_left_out_have_next_to_no_probability(counts):
    which = dirichlet.posterior(np.array(counts), concentrations("jeffreys", "dirichlet_multinomial", 2))
    lattice = Lattice(200, which, edges=False)
    assert len(lattice.weights) < 0.5 * future.matrices(200, None)
    assert lattice.weights.sum() == pytest.approx(1.0, abs=5e-12)


def test_fixed_totals_are_kept():
    lattice = Lattice(7, concentrations("laplace", "dirichlet_multinomial", 2), 3)
    assert (lattice.matrix.sum(-1) == [4, 3]).all()
    assert len(lattice.matrix) == future.matrices(7, 3) == 20
    assert lattice.weights == pytest.approx(np.full(20, 1 / 20))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"model": "three_binomial"},
        {"prevalence": 0.2},
        {"prevalence": (3, 7)},
        {"prevalence": "fixed"},
        {"n_items": 60},
    ],
)
def test_enumeration_agrees_with_draws(arguments, monkeypatch):
    counts = bayescm.from_cells(tp=12, fn=5, fp=3, tn=16)
    names, claims = ["mcc", "f1", "precision"], ["mcc > 0.5", "recall >= .8 and precision > .7"]
    exact = bayescm.planning.replicate(counts, names, claims=claims, **arguments)
    for module in (replication, future):
        monkeypatch.setattr(module, "MOST_MATRICES", 0)
    drawn = bayescm.planning.replicate(counts, names, claims=claims, random_seed=4, draws=40_000, **arguments)
    assert set(exact.method.values) == {"exact"}
    assert set(drawn.method.values) == {"draws"}
    assert (abs(drawn["mean"] - exact["mean"]) < 5 * drawn.mcse_mean).all()
    assert (abs(drawn.probability - exact.probability) < 5 * drawn.mcse_probability).all()
    assert (drawn.mcse_mean > 0).all()
    assert (exact.mcse_mean == 0).all()
    assert drawn.sd.values == pytest.approx(exact.sd.values, rel=0.03)


def test_proportions_of_large_tests_are_beta_binomial():
    counts = bayescm.from_cells(tp=12, fn=5, fp=3, tn=16)
    found = bayescm.planning.replicate(
        counts, ["accuracy", "prevalence"], n_items=5000, claims="accuracy >= 0.7", ci_kind="eti"
    )
    truth = stats.betabinom(5000, 29, 9)  # 28 right and 8 wrong, two cells of 1/2 each
    assert (found.method == "exact").all()
    assert float(found["mean"][0]) == pytest.approx(29 / 38)
    assert float(found.sd[0]) == pytest.approx(truth.std() / 5000)
    assert float(found.probability.item()) == pytest.approx(truth.sf(3499))
    assert found.interval[0].values * 5000 == pytest.approx(truth.ppf([0.025, 0.975]))
    fixed = bayescm.planning.replicate(counts, "recall", prevalence="fixed", n_items=3600)
    assert float(fixed.sd.item()) == pytest.approx(stats.betabinom(1700, 12.5, 5.5).std() / 1700)
    assert fixed.method.item() == "exact"


def test_strict_and_weak_claims_differ():
    counts = bayescm.from_cells(tp=1, fn=1, fp=1, tn=1)
    claims = ["accuracy > .5", "accuracy >= .5", "accuracy < 50%", "informative", "deceptive"]
    p = bayescm.planning.replicate(counts, "accuracy", claims=claims).probability.values
    assert p[0] == pytest.approx(p[2])
    assert p[1] - p[0] == pytest.approx(stats.betabinom(4, 3, 3).pmf(2))
    assert p[3] == pytest.approx(p[4])  # a test without one of the classes meets neither
    assert p[3] + p[4] < 1


def test_undefined_values_are_left_out_and_counted():
    counts = bayescm.from_cells(tp=2, fn=1, fp=0, tn=1)
    found = bayescm.planning.replicate(counts, ["recall", "mcc"], n_items=1, claims="mcc > 0")
    assert float(found.undefined[1]) == pytest.approx(1)
    assert np.isnan(found["mean"].values[1])
    assert float(found.probability.item()) == 0
    assert float(found.undefined[0]) == pytest.approx((1 + 1) / 6)  # the only item is negative


def test_discrete_intervals():
    dist = Discrete(np.array([0.0, 1.0, 2.0, 5.0]), np.array([0.1, 0.5, 0.3, 0.1]), 0.0)
    assert dist._narrowest(np.cumsum(dist.probability), 0.8) == (1.0, 2.0)
    found = dist.statistics(0.8, "eti")
    assert (found["lower"], found["median"], found["upper"]) == (0.0, 1.0, 2.0)
    assert dist.compare(dist) == pytest.approx(((1 - 0.36) / 2, 0.36))


def test_pairs_of_systems_by_brute_force():
    counts = bayescm.from_cells(tp=[3, 2], fn=[1, 2], fp=[1, 1], tn=[2, 3], dims="system")
    found = bayescm.planning.replicate(counts, ["accuracy", "mcc"])
    prior = concentrations("jeffreys", "dirichlet_multinomial", 2)
    for m, name in enumerate(["accuracy", "mcc"]):
        values, shares = [], []
        for one, size in zip(counts.values, (7, 8), strict=True):
            matrices, rows = every_matrix(size), prior.rows + one
            shares.append(stats.dirichlet_multinomial(rows.ravel(), size).pmf(matrices.reshape(-1, 4)))
            values.append(compute(resolve([name], 2), matrices)[0].round(9))
        larger = shares[0] @ (values[0][:, None] > values[1]) @ shares[1]
        equal = shares[0] @ (values[0][:, None] == values[1]) @ shares[1]
        assert float(found.probability_larger[m, 0, 1]) == pytest.approx(larger)
        assert float(found.ties[m, 1, 0]) == pytest.approx(equal)


def test_more_than_two_labels_and_batches():
    counts = bayescm.from_array(np.arange(36).reshape(2, 2, 3, 3) + 1, dims=("fold", "system"))
    names = ["accuracy", "recall", "f1_macro"]
    found = bayescm.planning.replicate(counts, names, claims="f1_macro > .4", random_seed=1, draws=4000)
    assert found.interval.dims == ("fold", "system", "metric", "ci_bound")
    assert found.probability_larger.dims == ("fold", "metric", "system", "versus")
    assert found.metric.values.tolist() == ["accuracy", "recall[0]", "recall[1]", "recall[2]", "f1_macro"]
    assert found.method[0, 0].values.tolist() == ["exact"] + 4 * ["draws"]
    again = bayescm.planning.replicate(counts, names, random_seed=1, draws=4000)
    assert again["mean"].equals(found["mean"])
    with pytest.raises(ValueError, match="one value per class"):
        bayescm.planning.replicate(counts, claims="recall > .5")


def test_many_matrices_are_predicted_as_each_alone(monkeypatch):
    kept = []
    of = replication._One.of.__func__
    monkeypatch.setattr(replication._One, "of", classmethod(lambda *all: kept.append(of(*all)) or kept[-1]))
    rng = np.random.default_rng(1)
    counts = bayescm.from_array(rng.integers(0, 9, (2, 5, 2, 2)), dims=("dataset", "fold"))
    found = bayescm.planning.replicate(counts, ["mcc", "lr+"], claims="mcc > .2")
    assert not any(one.dists for one in kept)  # they are large, and only systems are compared
    for at in np.ndindex(2, 5):
        place = dict(zip(("dataset", "fold"), at, strict=True))
        alone = bayescm.planning.replicate(counts.isel(place), ["mcc", "lr+"], claims="mcc > .2")
        assert found.isel(place).drop_attrs().identical(alone.drop_attrs())


def test_an_infinite_metric_stays_infinite():
    found = bayescm.planning.replicate(bayescm.from_cells(tp=5, fn=1, fp=0, tn=5), "lr+")
    assert np.isinf(found["mean"].item())
    assert np.isfinite(found["median"].item()) or np.isinf(found["median"].item())


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"claims": []}, TypeError, "`claims`"),
        ({"claims": 3}, TypeError, "`claims`"),
        ({"claims": "mcc is good"}, ValueError, "can't read"),
        ({"n_items": 0}, ValueError, "`n_items`"),
        ({"n_items": 2 * 10**9}, ValueError, "must not exceed"),
        ({"draws": 10}, ValueError, "`draws`"),
        ({"prior": "haldane"}, ValueError, "improper"),
        ({"prevalence": "fixed", "n_items": 5}, ValueError, "can't keep the class shares"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, message):
    counts = bayescm.from_cells(tp=12, fn=5, fp=0, tn=16)
    with pytest.raises(error, match=message):
        bayescm.planning.replicate(counts, "mcc", **arguments)
    two = bayescm.from_cells(tp=[3, 2], fn=1, fp=1, tn=2, dims="system")
    for name in ("claim", "versus"):
        with pytest.raises(ValueError, match=f"can't have a dim '{name}'"):
            bayescm.planning.replicate(two.rename(system=name), "mcc")
    with pytest.raises(ValueError, match="`system` has 'A' twice"):
        bayescm.planning.replicate(two.assign_coords(system=["A", "A"]), "mcc")
    with pytest.raises(ValueError, match="without items"):
        bayescm.planning.replicate(np.zeros((2, 2), int), "mcc")


def test_a_claim_that_every_draw_meets_is_no_certainty():
    found = bayescm.planning.replicate(
        bayescm.from_cells(tp=300, fn=1, fp=1, tn=300),
        "mcc",
        n_items=1000,
        claims="mcc > 0",
        draws=1000,
        random_seed=1,
    )
    assert found.probability.item() == 1
    assert 5e-4 < found.mcse_probability.item() < 2e-3


@pytest.mark.parametrize(("k", "n", "future"), [(2, 3, None), (45, 50, 20), (180, 300, None)])
def test_k_of_n_is_repeated_with_as_many_items_of_the_one_class(k, n, future):
    ours = bayescm.planning.replicate(k, n, ci_kind="eti", n_items=future, claims="recall >= .7")
    m = future or n
    exact = stats.betabinom(m, k + 0.5, n - k + 0.5)
    assert ours.undefined.item() == 0.0
    assert ours.method.item() == "exact"
    np.testing.assert_allclose([ours["mean"].item(), ours.sd.item()], [exact.mean() / m, exact.std() / m], rtol=1e-9)
    np.testing.assert_allclose(ours.interval[0], exact.ppf([0.025, 0.975]) / m)
    np.testing.assert_allclose(ours.probability, exact.sf(np.ceil(0.7 * m - 1e-9) - 1), rtol=1e-9)
    same = bayescm.planning.replicate({"correct": [k], "wrong": [n - k]}, ci_kind="eti", n_items=future)
    np.testing.assert_array_equal(same.interval.values[0], ours.interval)


def test_k_of_n_reaches_functions_that_take_metrics_by_name_alone():
    drawn = bayescm.posterior(45, 50, draws=100, random_seed=1)["posterior"].proportion
    assert 0.8 < drawn.mean() < 0.95


@pytest.mark.parametrize("kind", ["ties", "infinite", "far", "one"])
def test_values_in_any_order_are_summarised_as_sorted_ones(kind):
    rng = np.random.default_rng(1)
    values = {
        "ties": rng.integers(0, 40, 9000) / 39,
        "infinite": np.where(rng.random(9000) < 0.1, np.inf, rng.gamma(0.2, size=9000)),
        "far": rng.standard_cauchy(9000) ** 3,
        "one": np.full(30, 0.25),
    }[kind]
    values[:: len(values) // 4] = np.nan
    weights = rng.gamma(0.3, size=len(values))
    found, group = distinct(values)
    ordered = collected(found, np.bincount(group, weights))
    below = np.cumsum(ordered.probability) / ordered.probability.sum()
    one = Unsorted.of(values, weights).statistics(0.9)
    for name, share in (("lower", 0.05), ("median", 0.5), ("upper", 0.95)):
        assert (
            one[name] == ordered.values[np.searchsorted(below, share - 1e-12)] == ordered.statistics(0.9, "eti")[name]
        )
    assert one["undefined"] == pytest.approx(weights[np.isnan(values)].sum())


@pytest.mark.parametrize("positives", [None, 0, 4, 9])
def test_no_matrix_of_a_lattice_is_missing_or_there_twice(positives):
    lattice = Lattice(9, concentrations("laplace", "dirichlet_multinomial", [0, 1]), positives)
    assert len(np.unique(lattice.matrix.reshape(-1, 4), axis=0)) == len(lattice.matrix) == future.matrices(9, positives)
