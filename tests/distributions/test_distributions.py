"""Exact distributions against oracles, mpmath, scipy and draws."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

import bayescm
from bayescm.distributions import Beta, Point, exact_distribution
from bayescm.distributions.dirichlet import draw_theta
from bayescm.metrics import available, compute, resolve
from bayescm.priors.concentrations import concentrations, exchange

# below 1/2 a double close to 1 can't tell how much mass lies beyond it
concentration = st.one_of(st.floats(0.5, 5), st.floats(5, 1e4), st.sampled_from([0.5, 1.0, 1.5, 1e6, 1e9]))


def test_beta_oracles(oracle):
    for key, entry in oracle("credible.beta")["expected"].items():
        successes, failures = map(int, key.split(","))
        for prior, values in entry.items():
            add = {"flat": 1.0, "jeffreys": 0.5}[prior]
            dist = Beta(np.array(successes + add), np.array(failures + add))
            np.testing.assert_allclose(dist.mean(), values["mean"], rtol=1e-12)
            np.testing.assert_allclose(dist.eti(0.95), values["eti95"], atol=1e-8)
            lower, upper, exists = dist.hdi(0.95)
            if "hpd95" in values and values["hpd95"] is None:
                assert not exists
            elif "hpd95" in values:
                np.testing.assert_allclose([lower, upper], values["hpd95"], atol=1e-8)


def test_f1_oracles(oracle):
    entry = oracle("goutte.f1")
    for key, values in entry["expected"].items():
        name, add = key.split(",")
        tp, fp, fn = entry["inputs"]["mmu" if name == "mmu" else {"sys1": "sys1_TP_FP_FN"}.get(name, name)]
        counts = bayescm.from_cells(tp=tp, fn=fn, fp=fp, tn=0)
        s = bayescm.summary(counts, "f1", prior=float(add), ci_kind="eti").isel(metric=0)
        np.testing.assert_allclose(s.interval, values["eti95"], atol=1e-8)
        np.testing.assert_allclose([s["median"], s["mean"], s.point],
                                   [values["median"], values["mean"], values["plugin"]], atol=1e-8)  # fmt: skip


def test_identities_oracle(oracle):
    entry = oracle("field.29")
    cells = {name.lower(): entry["inputs"][name] for name in ("TP", "FN", "FP", "TN")}
    s = bayescm.summary(bayescm.from_cells(**cells), ["precision", "recall", "accuracy", "f1"], prior=1, ci_kind="eti")
    for (key, want), i in zip(entry["expected"].items(), range(4), strict=True):
        row = s.isel(metric=i)
        np.testing.assert_allclose(row.interval, [want["q025"], want["q975"]], rtol=1e-10, err_msg=key)
        name = "mean" if "mean" in want else "median"
        np.testing.assert_allclose(row[name], want[name], rtol=1e-10)


def test_rule_of_two_over_root_n(oracle):
    entry = oracle("totsch.rule")
    n = np.array(entry["inputs"]["N"])
    dist = Beta(n / 2 + 1, n / 2 + 1)
    lower, upper, _ = dist.hdi(0.95)
    np.testing.assert_allclose(upper - lower, entry["expected"], atol=1e-6)
    assert (upper - lower < 2 / np.sqrt(n)).all()


def test_classifier_7a(oracle):
    want = oracle("totsch.7a")["expected"]
    counts = bayescm.datasets.toetsch2021().sel(system="7a")
    s = bayescm.summary(counts, ["tpr", "tnr"], model="three_binomial", prior="laplace", ci_kind="hdi")
    np.testing.assert_allclose(s.interval, [want["TPR"], want["TNR"]], atol=1e-6)


@given(concentration, concentration, st.sampled_from([0.5, 0.683, 0.95, 0.997]), st.sampled_from(["identity", "f1"]))
def test_the_hdi_holds_its_mass_and_is_the_shortest(a, b, prob, link):
    dist = Beta(np.array(a), np.array(b), link)
    lower, upper, exists = dist.hdi(prob)
    np.testing.assert_allclose(dist.cdf(upper) - dist.cdf(lower), prob, atol=1e-7)
    low, high = dist.eti(prob)
    if not exists:
        np.testing.assert_allclose([lower, upper], [low, high])
        return
    assert upper - lower <= (high - low) * (1 + 1e-9)
    for below in np.linspace(0, 1 - prob, 41):  # no interval of the same mass is shorter
        other = dist._map(np.array([stats.beta.ppf(below, a, b), stats.beta.isf(max(1 - prob - below, 0), a, b)]))
        assert upper - lower <= np.diff(other)[0] * (1 + 1e-7) + 1e-12


@pytest.mark.slow
@given(concentration, concentration)
def test_f1_moments_against_quadrature(a, b):
    if max(a, b) > 1e6:
        return
    dist = Beta(np.array(a), np.array(b), "f1")
    p = (np.arange(20_000) + 0.5) / 20_000
    x = dist.ppf(p)
    np.testing.assert_allclose(dist.mean(), x.mean(), rtol=2e-4, atol=2e-4)
    np.testing.assert_allclose(dist.sd(), x.std(), rtol=2e-2, atol=2e-4)


@pytest.mark.parametrize(("a", "b"), [(0.5, 1.0), (3.5, 2.2), (1e4, 3e3), (0.5, 1e6), (1e6, 0.5)])
def test_f1_moments_against_mpmath(a, b):
    dist = Beta(np.array(a), np.array(b), "f1")
    with mpmath.workdps(40):
        mean = mpmath.mpf(a) / (a + b) * mpmath.hyp2f1(1, b, a + b + 1, 0.5)
        second = mpmath.mpf(a) * (a + 1) / ((mpmath.mpf(a) + b) * (a + b + 1)) * mpmath.hyp2f1(2, b, a + b + 2, 0.5)
        sd = mpmath.sqrt(second - mean**2)
    np.testing.assert_allclose(float(dist.mean()), float(mean), rtol=1e-13)
    np.testing.assert_allclose(float(dist.sd()), float(sd), rtol=1e-7)


def test_hdi_shapes():
    def kind(a, b, link):
        lower, upper, exists = Beta(np.array(a), np.array(b), link).hdi(0.9)
        return "none" if not exists else "left" if lower == 0 else "right" if upper == 1 else "inside"

    table = {
        (1.0, 1.0, "identity"): "none", (0.5, 0.5, "identity"): "none", (1.0, 3.0, "identity"): "left",
        (3.0, 1.0, "identity"): "right", (0.5, 1.0, "identity"): "left", (2.0, 2.0, "identity"): "inside",
        (1.0, 1.0, "f1"): "right", (0.5, 1.0, "f1"): "none", (1.0, 2.0, "f1"): "left", (1.0, 3.0, "f1"): "left",
        (1.0, 0.5, "f1"): "right", (0.5, 3.0, "f1"): "left", (2.0, 2.0, "f1"): "inside", (0.99, 1.01, "f1"): "none",
    }  # fmt: skip
    for (a, b, link), want in table.items():
        assert kind(a, b, link) == want, (a, b, link)
    # F1 of Beta(1, 2) has its peak inside, and a density above 0 at 0: short intervals leave the edge
    assert Beta(np.array(1.0), np.array(2.0), "f1").hdi(0.2)[0] > 0.1


def test_hdi_against_scipy_minimisation():
    for a, b, link in [(3.2, 1.7, "identity"), (27, 1.5, "identity"), (10.5, 16.0, "f1"), (1.01, 4.0, "f1")]:
        dist = Beta(np.array(a), np.array(b), link)

        def width(below, dist=dist):
            return float(dist.ppf(below + 0.95) - dist.ppf(below))

        best = optimize.minimize_scalar(width, bounds=(0, 0.05), method="bounded", options={"xatol": 1e-12})
        lower, upper, _ = dist.hdi(0.95)
        assert upper - lower <= best.fun + 1e-10


@pytest.mark.parametrize("model", ["dirichlet_multinomial", "three_binomial"])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("prevalence", [None, "exchanged"])
def test_every_distribution_against_draws(model, k, prevalence):
    rng = np.random.default_rng(5)
    base = concentrations("laplace", model, k)
    rows = base.rows + rng.integers(0, 20, (k, k))
    shares = rows.sum(-1) if model == "dirichlet_multinomial" else base.shares + (rows - base.rows).sum(-1)
    which = exchange(
        type(base)(rows, shares, one_dirichlet=base.one_dirichlet),
        None if prevalence is None else ([0.3, 0.7] if k == 2 else [0.2, 0.3, 0.5]),
    )
    theta = np.moveaxis(draw_theta(which, rng, 40_000), -1, 0)
    names = [m.name for m in available(k)] + ["f1_micro", "recall_micro"]
    found = 0
    for metric in resolve(names, k):
        dist = exact_distribution(metric, which)
        if dist is None:
            continue
        found += 1
        (draws,) = compute([metric], theta)
        if isinstance(dist, Point):
            np.testing.assert_allclose(draws, np.broadcast_to(dist.mean(), draws.shape), rtol=1e-12)
            assert (dist.cdf(dist.mean()) == 1).all()
            assert (dist.cdf(dist.mean() - 1e-9) == 0).all()
            continue
        p = np.array([0.05, 0.3, 0.5, 0.8, 0.99])
        uniform = dist.cdf(np.quantile(draws, p, axis=0))
        error = 5 * np.sqrt(p * (1 - p) / len(draws))
        assert (np.abs(uniform.T - p) < error).all(), metric.name
        if not metric.moments:
            np.testing.assert_allclose(draws.std(0), dist.sd(), rtol=0.03, err_msg=metric.name)
    least = {(True, 2): 28, (True, 3): 12, (False, 2): 28, (False, 3): 3}[model == "dirichlet_multinomial", k]
    assert found >= (least if prevalence is None else 2)


def test_haldane_makes_both_models_one():
    counts = bayescm.from_cells(tp=9, fn=1, fp=2, tn=3)
    one = bayescm.summary(
        counts, ["precision", "f1", "accuracy"], prior="haldane", model="dirichlet_multinomial", ci_kind="hdi"
    )
    three = bayescm.summary(
        counts, ["precision", "f1", "accuracy"], prior="haldane", model="three_binomial", ci_kind="hdi"
    )
    assert (three.method == "exact").all()
    np.testing.assert_allclose(one.interval, three.interval)


def test_factorisation_oracle(oracle):
    entry = oracle("dirichlet.factorisation")
    tp, fn, tn, fp = entry["inputs"]["cm_TP_FN_TN_FP"]
    counts = bayescm.from_cells(tp=tp, fn=fn, fp=fp, tn=tn)
    want = entry["expected"]
    one = bayescm.models.load("dirichlet_multinomial").exact(counts, prior="laplace")
    three = bayescm.models.load("three_binomial").exact(counts, prior="laplace")
    assert one.shares[::-1].tolist() == want["dirichlet_phi"]
    assert three.shares[::-1].tolist() == want["three_beta_phi"]
    s = bayescm.summary(counts, ["accuracy", "precision"], prior="laplace", ci_kind="eti")
    np.testing.assert_allclose(s["mean"][0], want["dirichlet_ACC_mean"], rtol=1e-9)
    np.testing.assert_allclose(s.interval[1], want["PPV_dirichlet_eti"], rtol=1e-9)


def test_comparison_of_two_recalls(oracle):
    want = oracle("credible.cmp.recall")["expected"]
    counts = bayescm.from_cells(tp=[10, 3], fn=[5, 3], fp=[10, 2], tn=[100, 100])
    dt = bayescm.posterior(counts, metrics="recall", random_seed=3, draws=50_000)
    better = float((dt.posterior.recall.sel(system=1) > dt.posterior.recall.sel(system=0)).mean())
    np.testing.assert_allclose(better, want, atol=5 * np.sqrt(want * (1 - want) / 200_000))


@pytest.mark.parametrize("link", ["identity", "f1"])
@pytest.mark.parametrize("numbers", [(0.5, 0.5), (80.5, 2.5), (3.0, 1e6), (1e6, 1e3)])
def test_both_tails_at_once_are_the_two_by_themselves(numbers, link):
    dist = Beta(*map(np.float64, numbers), link)
    x = np.concatenate(
        [[-0.1, 0.0, 1.0, 1.1], dist.ppf(np.geomspace(1e-12, 0.5, 9)), dist.isf(np.geomspace(1e-12, 0.5, 9))]
    )
    below, above = dist.tails(x)
    np.testing.assert_array_equal(below, dist.cdf(x))
    np.testing.assert_allclose(above, dist.sf(x), rtol=1e-9)


def test_tails_add_up_where_nearly_all_is_next_to_zero():
    x = np.array([1e-20, 1e-4, 0.5])
    below, above = Beta(0.01, 1.0).tails(x)
    np.testing.assert_allclose(below, Beta(0.01, 1.0).cdf(x), rtol=1e-12)
    np.testing.assert_allclose(above, Beta(0.01, 1.0).sf(x), rtol=1e-12)
