"""The exact test of a point against enumeration in rational numbers, simulation, and what must hold for any counts."""

import itertools
from fractions import Fraction
from functools import lru_cache
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from scipy import stats

import bayescm

SPACES = {"pr": ("precision", "recall"), "roc": ("tpr", "fpr")}
COORDINATES = [Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(2, 3), Fraction(1)]
POINTS = list(itertools.product(COORDINATES, COORDINATES))
both = pytest.mark.parametrize("space", SPACES)


def level(space, cells, points, mid_p=False):
    """Return levels (matrices, points) of cells (TN, FP, FN, TP) and points (y, x)."""
    counts = bayescm.from_array(np.reshape(cells, (-1, 2, 2)), dims="matrix")
    places = dict(zip(SPACES[space], np.array(points, float).reshape(-1, 2).T, strict=True))
    return bayescm.regions.region_level(counts, **places, method="exact", mid_p=mid_p).level.values


@lru_cache
def split(n, parts):
    """Return every way to share n items out."""
    return [k for k in itertools.product(range(n + 1), repeat=parts) if sum(k) == n]


def trinomial(y, x):
    """Return the probabilities of TP, FP, FN given that an item is one of them, at a precision and a recall."""
    weights = (y * x, x * (1 - y), y * (1 - x))
    if not any(weights):
        return Fraction(0), Fraction(1, 2), Fraction(1, 2)
    return tuple(w / sum(weights) for w in weights)


def probability(k, p):
    return Fraction(factorial(sum(k)), prod(map(factorial, k))) * prod(q**i for q, i in zip(p, k, strict=True))


def ratio(k, p):
    """Return the likelihood of p over that of the shares k/n; 0 to the power of 0 is 1."""
    return prod((q * sum(k) / i) ** i for q, i in zip(p, k, strict=True) if i)


@lru_cache(maxsize=1000)
def outcomes(space, sums, point):
    """Return likelihood ratio and probability of every outcome."""
    y, x = point
    dists = [trinomial(y, x)] if space == "pr" else [(y, 1 - y), (x, 1 - x)]
    found = {}
    for outcome in itertools.product(*(split(n, len(p)) for n, p in zip(sums, dists, strict=True))):
        pairs = list(zip(outcome, dists, strict=True))
        at_corner = space == "pr" and x == y == 0 and outcome[0][0] == 0  # which all outcomes without TP estimate
        found[outcome] = (
            Fraction(1) if at_corner else prod(ratio(*p) for p in pairs),
            prod(probability(*p) for p in pairs),
        )
    return found


def enumerated(space, cells, point, mid_p):
    """Return the level from its definition, in rational numbers, so that ties are ties."""
    tn, fp, fn, tp = (int(k) for k in cells)
    seen = ((tp, fp, fn),) if space == "pr" else ((tp, fn), (fp, tn))
    found = outcomes(space, tuple(map(sum, seen)), point)
    mine = found[seen][0]
    less = sum(mass for other, mass in found.values() if other > mine)
    return float(less + (sum(mass for other, mass in found.values() if other == mine) / 2 if mid_p else 0))


def undetermined(space, cells, point):
    """Return whether mid-p has no agreed value: the corner where the statistic has no single limit."""
    return space == "pr" and point == (0, 0) and cells[3] == 0 and cells[1] + cells[2] > 0


@both
@pytest.mark.parametrize("mid_p", [False, True])
def test_every_small_matrix_against_enumeration(space, mid_p):
    cells = [(3, *k[1:]) for k in split(8, 4)] if space == "pr" else [k for n in range(6) for k in split(n, 4)]
    found = level(space, cells, POINTS, mid_p)
    known = {}
    for (i, one), (j, point) in itertools.product(enumerate(cells), enumerate(POINTS)):
        if mid_p and undetermined(space, one, point):
            continue
        known[i, j] = enumerated(space, one, point, mid_p)
    np.testing.assert_allclose([found[at] for at in known], list(known.values()), rtol=0, atol=1e-12)


coordinate = st.fractions(0, 1, max_denominator=12)


@pytest.mark.slow
@both
@pytest.mark.parametrize("mid_p", [False, True])
@given(cells=st.tuples(*[st.integers(0, 5)] * 4), point=st.tuples(coordinate, coordinate))
def test_any_point_against_enumeration(space, mid_p, cells, point):
    if not (mid_p and undetermined(space, cells, point)):
        expected = enumerated(space, cells, point, mid_p)
        assert level(space, [cells], [point], mid_p).item() == pytest.approx(expected, abs=1e-12)


def test_ties_by_hand():
    # at precision = recall = 1/2 all three probabilities are 1/3: 6, 18 and 3 of 27 outcomes of 3 items
    cells = [(7, *k) for k in [(1, 1, 1), (2, 1, 0), (0, 1, 2), (1, 0, 2), (3, 0, 0), (0, 0, 3)]]
    point = [(0.5, 0.5)]
    np.testing.assert_allclose(level("pr", cells, point)[:, 0], np.array([0, 6, 6, 6, 24, 24]) / 27, atol=1e-15)
    expected = np.array([3, 15, 15, 15, 25.5, 25.5]) / 27
    np.testing.assert_allclose(level("pr", cells, point, mid_p=True)[:, 0], expected, atol=1e-15)


def likely(space, cells, y, x):
    """Return the likelihood ratio statistic, in plain NumPy."""
    tn, fp, fn, tp = np.moveaxis(np.asarray(cells, float), -1, 0)
    parts = [(tp, fp, fn)] if space == "pr" else [(tp, fn), (fp, tn)]
    dists = [trinomial(Fraction(y), Fraction(x))] if space == "pr" else [(y, 1 - y), (x, 1 - x)]
    q = np.zeros(len(tp))
    for part, dist in zip(parts, dists, strict=True):
        for k, p in zip(part, dist, strict=True):
            q += 2 * k * np.log(np.where(k > 0, k / (sum(part) * float(p)), 1.0))
    return q


LARGER = {
    "pr": [(20, 11, 13, 36), (0, 2, 18, 40), (5, 20, 30, 10), (9, 4, 6, 50), (9, 5, 15, 40), (9, 15, 5, 40)],
    "roc": [(30, 10, 14, 46), (38, 2, 18, 42), (33, 7, 49, 11), (36, 4, 6, 54), (39, 1, 44, 16), (10, 30, 15, 45)],
}  # 60 items but TN, of 60 and 40


@both
@pytest.mark.parametrize(("y", "x"), [(0.75, 0.75), (0.9, 0.6), (0.3, 0.05)])
def test_a_million_simulations(space, y, x):
    rng = np.random.default_rng(5)
    draws = np.zeros((1_000_000, 4))
    if space == "pr":
        draws[:, [3, 1, 2]] = rng.multinomial(60, [float(p) for p in trinomial(Fraction(y), Fraction(x))], len(draws))
    else:
        draws[:, 3], draws[:, 1] = rng.binomial(60, y, len(draws)), rng.binomial(40, x, len(draws))
        draws[:, 2], draws[:, 0] = 60 - draws[:, 3], 40 - draws[:, 1]
    simulated, observed = likely(space, draws, y, x), likely(space, LARGER[space], y, x)
    for mid_p in (False, True):
        for q, found in zip(observed, level(space, LARGER[space], [(y, x)], mid_p)[:, 0], strict=True):
            value = (simulated < q - 1e-9) + (0.5 * (abs(simulated - q) <= 1e-9) if mid_p else 0.0)
            assert abs(found - value.mean()) <= 4 * max(found * (1 - found), 1e-6) ** 0.5 / 1000


inner = st.floats(0.02, 0.98)


@both
@examples(max_examples=25)
@given(items=st.tuples(st.integers(0, 16), st.integers(0, 16)), point=st.tuples(inner, inner))
def test_levels_as_random_variables(space, items, point):
    # of all outcomes at the point itself: mid-p has the mean 1/2, and no level c is exceeded by more than 1 - c of them
    if space == "pr":
        m = sum(items) + 1
        p = [float(v) for v in trinomial(*map(Fraction, point))]
        ways = np.array(split(m, 3))
        mass = stats.multinomial.pmf(ways, m, p)
        cells = np.c_[np.full(len(ways), items[0]), ways[:, [1, 2, 0]]]
    else:
        tp, fp = (k.ravel() for k in np.indices([n + 1 for n in items]))
        mass = stats.binom.pmf(tp, items[0], point[0]) * stats.binom.pmf(fp, items[1], point[1])
        cells = np.c_[items[1] - fp, fp, items[0] - tp, tp]
    assert mass @ level(space, cells, [point], mid_p=True)[:, 0] == pytest.approx(0.5, abs=1e-9)
    levels = level(space, cells, [point])[:, 0]
    order = np.argsort(levels)
    covered = np.cumsum(mass[order])
    assert (covered[:-1] >= levels[order][1:] - 1e-9).all()  # just below the next level c, the region holds the point


cell = st.integers(0, 400)


@pytest.mark.slow
@both
@given(cells=st.tuples(cell, cell, cell, cell), point=st.tuples(inner, inner))
def test_exchanged_names(space, cells, point):
    tn, fp, fn, tp = cells
    exact, mid = (level(space, [cells], [point], mid_p).item() for mid_p in (False, True))
    assert 0 <= exact <= mid <= 1
    if space == "pr":  # errors of both kinds, and precision and recall, change places; TN doesn't matter
        twin, mirror = (tn // 2, fn, fp, tp), point[::-1]
    else:  # the classes change places
        twin, mirror = (fn, tp, tn, fp), point[::-1]
    assert level(space, [twin], [mirror]).item() == pytest.approx(exact, abs=1e-9)


@both
@pytest.mark.parametrize("mid_p", [False, True])
def test_a_surface_is_the_least_level_of_its_points(space, mid_p):
    # the surface stops adding up outcomes early, a point doesn't
    axes = np.linspace(0, 1, 21), np.linspace(0, 1, 18)
    cells = np.random.default_rng(2).multinomial([*[6] * 20, 20, 40], [0.3, 0.15, 0.15, 0.4])
    dim = bayescm.from_array(cells.reshape(-1, 2, 2), dims="threshold")
    settings = {"method": "exact", "mid_p": mid_p, "levels": 0.95}
    found = bayescm.band(dim, space=space, grid=axes, **settings).level.values
    expected = level(space, cells, list(itertools.product(*axes)), mid_p).min(0).reshape(found.shape)
    inside = expected <= 0.95
    assert inside.sum() > 50
    np.testing.assert_allclose(found[inside], expected[inside], atol=1e-12)
    assert (found[~inside] > 0.95).all()
    for one in cells[:3]:
        found = bayescm.region(one.reshape(2, 2), space=space, grid=axes, **settings).level.values
        expected = level(space, [one], list(itertools.product(*axes)), mid_p).reshape(found.shape)
        inside = expected <= 0.95
        np.testing.assert_allclose(found[inside], expected[inside], atol=1e-12)
        assert (found[~inside] > 0.95).all()
