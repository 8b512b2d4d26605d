"""What is reduced in blocks: the same numbers, in a room that doesn't grow with what is left behind."""

import tracemalloc

import numpy as np
import pytest

import bayescm
from bayescm.curves import joint
from bayescm.distributions import dirichlet
from bayescm.metrics import multiclass
from bayescm.priors.concentrations import concentrations


def peak(function):
    """Return what a function returns, and the most megabytes that it held."""
    tracemalloc.start()
    try:
        return function(), tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


def many(k, prior="jeffreys", model="dirichlet_multinomial"):
    counts = np.random.default_rng(1).poisson(0.3, (k, k)) + 9 * np.eye(k, dtype=int)
    return counts, dirichlet.posterior(counts, concentrations(prior, model, tuple(range(k))))


def test_all_cells_of_many_labels_are_never_held_at_once():
    counts, _ = many(64)
    found, held = peak(lambda: bayescm.summary(counts, ["mcc", "f1_macro"], draws=10_000, random_seed=1))
    assert held < 64**2 * 10_000 * 8 / 2**20 / 2  # 312 MB of cells, of which there were two copies
    exact = bayescm.metrics.evaluate(bayescm.posterior(counts, draws=500, random_seed=2)["posterior"]["theta"], "mcc")
    error = float(exact["matthews_correlation"].std()) / np.sqrt(2000)
    assert float(found["mean"][0]) == pytest.approx(float(exact["matthews_correlation"].mean()), abs=5 * error)


def test_blocks_of_one_dirichlet_are_its_draws():
    _, which = many(22)
    whole = dirichlet.draw_theta(which, np.random.default_rng(3), 20_000)
    blocks = list(dirichlet.theta_in_blocks(which, np.random.default_rng(3), 20_000))
    assert len(blocks) > 1
    np.testing.assert_array_equal(np.concatenate(blocks, axis=-1), whole)


@pytest.mark.parametrize("model", ["dirichlet_multinomial", "three_binomial"])
@pytest.mark.parametrize("prior", ["jeffreys", "laplace"])
def test_draws_of_many_labels_have_the_moments_of_their_dirichlet(model, prior):
    """For Jeffreys' prior cells without items are squared normals there."""
    _, which = many(24, prior, model)
    theta = np.concatenate(list(dirichlet.theta_in_blocks(which, np.random.default_rng(4), 8000)), axis=-1)
    np.testing.assert_allclose(theta.sum((0, 1)), 1.0, rtol=1e-12)
    rows = theta / theta.sum(1, keepdims=True)
    a, total = which.rows, which.rows.sum(1, keepdims=True)
    mean, var = a / total, a * (total - a) / total**2 / (total + 1)
    assert np.abs((rows.mean(-1) - mean) / np.sqrt(var / 8000)).max() < 5.0
    fourth = ((rows - mean[..., None]) ** 4).mean(-1)
    assert np.abs((rows.var(-1) - var) / np.sqrt((fourth - var**2) / 8000)).max() < 6.0


def test_cells_of_many_classes_keep_their_digits():
    rng = np.random.default_rng(5)
    matrix = rng.gamma(0.3, size=(60, 20, 20))
    matrix[:10, 3] *= 1e12
    matrix[10:20, 2, 5] *= 1e14
    matrix[20:30] *= np.eye(20)
    sums = (matrix.reshape(60, -1) @ multiclass._masks(20)).reshape(60, 4, 20)
    found = multiclass.one_vs_rest(matrix)
    for i, part in enumerate(found):
        np.testing.assert_allclose(part, sums[:, i], rtol=1e-11)
    matrix[0, 4, :] = np.nan
    assert np.isnan(multiclass.one_vs_rest(matrix).tn[0]).sum() == 19  # all but the class without items


@pytest.mark.parametrize("options", [{}, {"over": "threshold", "metrics": ["f1", "lr+"], "points": 20}])
def test_curves_of_many_systems_are_read_in_blocks(monkeypatch, options):
    rng = np.random.default_rng(6)
    true = rng.integers(0, 2, 60)
    scores = {f"s{i}": np.round(true + rng.normal(size=60), 1) for i in range(6)}

    def drawn():
        return bayescm.curve_posterior(true, scores, draws=400, chains=2, random_seed=1, **options)

    whole = drawn()
    monkeypatch.setattr(joint, "_MOST", 2**16)
    assert drawn().identical(whole)
