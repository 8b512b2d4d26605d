"""Room in the kernels' arrays: how much is used at the limits. CI runs this file with numba's bounds check too."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescm
from bayescm._kernels import nodes
from bayescm._kernels.beta import CELLS, build
from bayescm._kernels.codes import CORRELATION, DESCRIPTION, IDENTITY, LEFT_INSIDE, MAX_CELLS, ROOT_INSIDE, TABLE
from bayescm._kernels.distributions import hang, workspace
from bayescm._kernels.events import MOST_KINKS, Event, line_of, middle_kinks, outer_kinks
from bayescm._kernels.integrals import LEVELS
from bayescm.distributions import dirichlet, exact_distribution, joint_probability, statistics
from bayescm.metrics import resolve
from bayescm.priors.concentrations import concentrations

NAMES = ["matthews_correlation", "cohen_kappa", "f2", "fowlkes_mallows", "diagnostic_odds_ratio"]
concentration = st.floats(0.05, 1e9)
share = st.floats(0.01, 0.99)


def prepared(a, b):
    cached, path = np.full(nodes.CACHED, np.nan), np.full(nodes.PATH, np.nan)
    nodes.prepare(a, b, np.empty(TABLE), np.empty(DESCRIPTION), cached, path)
    return cached, path


@given(concentration, concentration)
def test_a_table_has_room_for_every_beta(a, b):
    dist = np.empty(DESCRIPTION)
    build(a, b, np.empty(TABLE), dist)
    assert 1 < dist[CELLS] <= MAX_CELLS


def test_every_cached_node_is_filled():
    cached, path = prepared(3.5, 1.5)
    assert np.isfinite(cached[0]).all()
    assert np.isfinite(cached[1, :, :-1]).all()  # one less between
    assert np.isfinite(path).all()
    np.testing.assert_array_equal(cached[0, :, nodes.MIDDLE], nodes.point(0.0, path))


@pytest.mark.parametrize("ends", [(-np.inf, np.inf), (-np.inf, 1.3), (-2.0, np.inf), (-0.5, 0.7), (-9.5, 9.5)])
def test_nodes_of_a_piece_have_room_and_weigh_what_it_does(ends):
    cached, path = prepared(2.5, 8.5)
    low, high = np.clip(ends, -nodes.REACH, nodes.REACH)
    total, count = 0.0, 0
    for level in range(LEVELS):
        out = np.empty((3, nodes.most_nodes(level)))
        n = nodes.nodes(path, cached, low, high, level, nodes.REACH, out)
        count += n
        assert n < out.shape[1]
        total = out[2, :n].sum() + (0.5 * total if level else 0.0)
    assert count < nodes.most_nodes(LEVELS - 1)
    assert total == pytest.approx(nodes.mass(low, high), rel=1e-9)


@pytest.mark.long  # compiles what the library keeps inside: .ci/bounds runs it for every change of a kernel
@given(st.lists(st.floats(-1.0, 1.0), min_size=10, max_size=10), st.floats(-0.99, 0.99), share, st.booleans())
def test_kinks_of_any_form_have_room(entries, x, m, correlation):
    c = np.zeros((4, 4))
    c[np.triu_indices(4)] = entries
    c += c.T
    room = workspace()
    tree = np.array([LEFT_INSIDE, 0, 1, 2, 3, 0, 0, 0])
    hang(tree, np.array([1.5, 0.5, 3.5, 2.5]), np.array([2.0, 1.0]), room)
    nodes.load(room)
    for shape in (LEFT_INSIDE, ROOT_INSIDE):
        event = Event(c, c, x, CORRELATION if correlation else IDENTITY, shape)
        for soft in (False, True):
            kinks = np.empty(MOST_KINKS)
            assert nodes.pieces(kinks, middle_kinks(line_of(event, m, 1.0 - m), room, soft, kinks)) <= MOST_KINKS - 1
            assert nodes.pieces(kinks, outer_kinks(event, room, soft, kinks)) <= MOST_KINKS - 1


@pytest.mark.parametrize(("model", "prevalence"), [("dirichlet_multinomial", None), ("three_binomial", (2.0, 8.0))])
def test_many_matrices_share_a_workspace(model, prevalence):
    """More Betas than are kept, and each matrix on its own gives the same."""
    counts = np.random.default_rng(1).integers(0, 60, (4, 2, 2))
    settings = concentrations("jeffreys", model, (0, 1))

    def found(matrices):
        posterior = dirichlet.posterior(matrices, settings, prevalence)
        return statistics([exact_distribution(metric, posterior) for metric in resolve(NAMES, 2)], 0.95, "eti")

    together, first = found(counts), found(counts[-1:])
    for every, one in zip(together, first, strict=True):
        np.testing.assert_array_equal(every["lower"][-1:], one["lower"])


@pytest.mark.slow
def test_points_of_several_metrics_have_room():
    prior = concentrations("jeffreys", "dirichlet_multinomial", (0, 1))
    posterior = dirichlet.posterior(np.array([[[30, 4], [6, 20]]]), prior, None)
    metrics = resolve(["recall", "f1", "accuracy", "matthews_correlation"], 2)
    probability, _ = joint_probability(metrics, np.full(4, 0.6), np.array([True, True, True, True]), posterior)
    assert 0.0 < probability[0] < 1.0


@pytest.mark.parametrize("score", [[0.1, 0.2, 0.2, 0.3, 0.4, 0.7], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]])
@pytest.mark.parametrize("options", [{}, {"prior": 20.0}, {"prior": "smoothed"}, {"over": "threshold"}])
@pytest.mark.slow
def test_curves_of_few_items_have_room(score, options):
    y = [0, 0, 1, 0, 1, 1]
    tree = bayescm.curve_posterior(y, score, draws=40, chains=1, random_seed=1, **options)
    assert (tree["posterior"]["auc"] <= 1.0).all()
    if options.get("prior") != "smoothed":
        both = bayescm.curve_posterior(y, {"a": score, "b": score[::-1]}, draws=40, chains=1, random_seed=1, **options)
        assert (both["posterior"]["auc"] <= 1.0).all()
