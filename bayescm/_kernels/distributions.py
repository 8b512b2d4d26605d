"""Distributions of metrics by matrix: which Beta to integrate last, then cdf, quantiles, intervals and moments."""

import math

import numpy as np

from bayescm._kernels.beta import to_normal
from bayescm._kernels.codes import (
    BETA,
    CORRELATION,
    DESCRIPTION,
    FIRST,
    HALF,
    KNOWN,
    LEFT_INSIDE,
    MAX_CELLS,
    PATH,
    PREVALENCE,
    PREVALENCE_REVERSED,
    ROOT_INSIDE,
    STATISTICS,
    TABLE,
    Formula,
)
from bayescm._kernels.events import metric_at
from bayescm._kernels.integrals import FINEST, LEVELS, One, distribution
from bayescm._kernels.jit import kernel
from bayescm._kernels.lattice import EDGES, LEAST_SHARE, NODES, spread_out
from bayescm._kernels.logits import MOST_ON_AXIS
from bayescm._kernels.moments import moments
from bayescm._kernels.nodes import CACHED, FINE, KEPT, NEAR, REACH, SLOTS, Workspace, most_nodes
from bayescm._kernels.search import (
    FALLING,
    FEW,
    INSIDE,
    LACKING,
    NONE,
    RISING,
    coordinate,
    ends_around,
    equal_densities,
    lacking,
    masses_outside,
    move,
    place,
    shape_of_interval,
    solve,
)

# of the columns of a tree: its shape, the order of the cells (tp, fn, fp, tn = 0, 1, 2, 3), and how each split is known
SHAPE, ORDER, ROOT, LEFT_SPLIT, RIGHT_SPLIT = 0, 1, 5, 6, 7

NO_LATTICES, LATTICES, FINE_LATTICES = -1, 0, 1
_LOOSER, _GOAL_OF_ONE, _GOAL_OF_TWO = 1e-2, 1e-6, 1e-5


@kernel
def workspace():
    """Return room for one matrix at a time."""
    n = SLOTS + KEPT
    return Workspace(
        np.empty((n, *TABLE)), np.zeros((n, DESCRIPTION)), np.empty((n, *CACHED)), np.empty((n, *PATH)),
        np.zeros((2, 8, most_nodes(LEVELS))), np.empty((2, 4, 4)),
        np.empty(NODES), np.empty(EDGES), np.empty((MAX_CELLS, 8)), np.zeros(4, np.int64),
        np.empty((3, 2)), np.empty((3, DESCRIPTION)), np.empty(4), np.empty((2, 3, MOST_ON_AXIS)),
        np.empty(4),
    )  # fmt: skip


@kernel
def _numbers(split, a, b, shares):
    """Return the two concentrations of a split, or (0, share) of a known one."""
    if split == BETA:
        return a, b
    if split == HALF:
        return 0.0, 0.5
    if split == FIRST:
        return 0.0, 1.0
    if split == PREVALENCE:
        return shares[1], shares[0]
    if split == KNOWN:
        return 0.0, shares[1]
    if split == PREVALENCE_REVERSED:
        return shares[0], shares[1]
    return 0.0, shares[0]


@kernel
def _splits(tree, a, shares):
    """Return the concentrations of root, left and right split of a tree: (3, 2)."""
    c = a[tree[ORDER]], a[tree[ORDER + 1]], a[tree[ORDER + 2]], a[tree[ORDER + 3]]
    left = c[0] + (0.0 if tree[LEFT_SPLIT] == FIRST else c[1])
    right = c[2] + (0.0 if tree[RIGHT_SPLIT] == FIRST else c[3])
    out = np.empty((3, 2))
    out[0] = _numbers(tree[ROOT], left, right, shares)
    out[1] = _numbers(tree[LEFT_SPLIT], c[0], c[1], shares)
    out[2] = _numbers(tree[RIGHT_SPLIT], c[2], c[3], shares)
    return out


@kernel
def _variance(pair):
    """Return about the variance of a split's log-odds."""
    return 0.0 if pair[0] == 0.0 else 1.0 / pair[0] + 1.0 / pair[1]


@kernel
def _centre(pair):
    """Return the mean of a split and its complement."""
    if pair[0] == 0.0:
        return pair[1], 1.0 - pair[1]
    return pair[0] / (pair[0] + pair[1]), pair[1] / (pair[0] + pair[1])


@kernel
def _slopes(tree, a, shares, num, den, kind, out):
    """Fill `out` with what a standard deviation of each split (root, left, right) changes, by the delta method.

    Returns
    -------
    centre, variance : float
        The metric at the means of the splits, and its variance.
    """
    pairs = _splits(tree, a, shares)
    (m, mq), (u, uq), (v, vq) = _centre(pairs[0]), _centre(pairs[1]), _centre(pairs[2])
    base = metric_at(m * u, m * uq, mq * v, mq * vq, num, den, kind)
    total = 0.0
    for i in range(3):
        spread = math.sqrt(_variance(pairs[i]))
        out[i] = 0.0
        if spread > 0.0:
            step, change = 0.3 * min(spread, 1.0), 0.0
            for side in (1.0, -1.0):
                factor = math.exp(side * step)
                p, q = (m, mq) if i == 0 else ((u, uq) if i == 1 else (v, vq))
                p, q = p * factor / (p * factor + q), q / (p * factor + q)
                m2, mq2 = (p, q) if i == 0 else (m, mq)
                u2, uq2 = (p, q) if i == 1 else (u, uq)
                v2, vq2 = (p, q) if i == 2 else (v, vq)
                change += side * metric_at(m2 * u2, m2 * uq2, mq2 * v2, mq2 * vq2, num, den, kind)
            out[i] = change / (2.0 * step) * spread
        total += out[i] ** 2
    return base, total


@kernel
def choose(trees, a, shares, num, den, kind, ordered):
    """Pick the tree whose integrand has the fewest kinks, of those whose inner split has a good share of the variance.

    The other splits move the edge of an event by sqrt((1 - share) / share) standard deviations of the inner one, and
    from its tail it is about (sqrt(concentration) - 1)^2 / sqrt(concentration) of them to an end of (0, 1).

    Returns
    -------
    index : int
    centre, sd : float
        Of the metric, by the delta method.
    slopes : ndarray of shape (3,)
        What a standard deviation of the inner, the middle and the outer split changes.
    """
    best, most = 0, -1.0
    centre = spread = 0.0
    parts, slopes = np.empty(3), np.zeros(3)
    for k in range(len(trees)):
        tree = trees[k]
        reorder(tree, num, den, ordered)
        base, total = _slopes(tree, a, shares, ordered[0], ordered[1], kind, parts)
        inner, outer = (1, 0) if tree[SHAPE] == LEFT_INSIDE else (0, 1)
        share = parts[inner] ** 2 / total if total > 0.0 else 0.0
        if kind == CORRELATION and tree[SHAPE] == ROOT_INSIDE:
            share *= 0.5  # the event may be two intervals
        if share > LEAST_SHARE:
            pair = _splits(tree, a, shares)[1 if tree[SHAPE] == LEFT_INSIDE else 0]
            root = math.sqrt(max(min(pair[0], pair[1]), 1.0))
            share = 1.0 + (root - 1.0) ** 2 / root * math.sqrt(share / max(1.0 - share, 1e-9))
        if share > most:
            best, most, centre, spread = k, share, base, math.sqrt(total)
            slopes[0], slopes[1], slopes[2] = parts[inner], parts[2], parts[outer]
    reorder(trees[best], num, den, ordered)
    return best, centre, spread, slopes


@kernel
def reorder(tree, num, den, ordered):
    """Put the forms of a metric into the order that the cells have on a tree."""
    for i in range(4):
        for j in range(4):
            ordered[0, i, j] = num[tree[ORDER + i], tree[ORDER + j]]
            ordered[1, i, j] = den[tree[ORDER + i], tree[ORDER + j]]


@kernel
def hang(tree, a, shares, room):
    """Say which splits of a tree are inner, middle and outer."""
    pairs = _splits(tree, a, shares)
    inner, outer = (1, 0) if tree[SHAPE] == LEFT_INSIDE else (0, 1)
    room.pairs[0], room.pairs[1], room.pairs[2] = pairs[inner], pairs[2], pairs[outer]
    room.sizes[:] = 0
    room.kept[0] = math.nan


@kernel
def _prepared(formula, a, shares, lattices, room):
    """Hang a matrix on the tree that suits it best; also the metric's mean and sd, roughly.

    Two integrals have lattices, fine ones of the last kind, or all splits are tabulated.
    """
    index, centre, spread, slopes = choose(formula.trees, a, shares, formula.num, formula.den, formula.kind, room.forms)
    hang(formula.trees[index], a, shares, room)
    if lattices != NO_LATTICES and two_integrals(room):
        room.sizes[FINE] = lattices
        spread_out(formula.kind, formula.trees[index, SHAPE], slopes, lattices, room)
    return One(formula.lower, formula.upper, formula.kind, formula.trees[index, SHAPE], room), centre, spread


@kernel
def two_integrals(room):
    """Say whether both outer splits vary."""
    return room.pairs[1, 0] > 0.0 and room.pairs[2, 0] > 0.0


@kernel
def expanded(mean, sd, skewness, excess, z):
    """Return the value at a normal quantile by Cornish and Fisher's expansion."""
    bent = z + (z * z - 1.0) * skewness / 6.0 + (z**3 - 3.0 * z) * excess / 24.0
    return mean + sd * (bent - (2.0 * z**3 - 5.0 * z) * skewness**2 / 36.0)


@kernel
def _densest(prob, median, log_middle, reach, ends, scale, one, goal):
    """Move `ends` to the narrowest interval, or near it; say where it lies, whether it was found, and the error."""
    found, worst = False, 0.0
    for first in (FEW, goal):  # few nodes may mislead
        if not found:
            ends[0], ends[1] = median - reach, median + reach
            found, error = equal_densities(prob, median, log_middle, ends, scale, one, first, goal)
            worst = max(worst, error)
    where = INSIDE
    for looser in (_LOOSER, goal):  # so may that
        if found or where != INSIDE:
            break
        ends[0], ends[1] = median - reach, median + reach
        where = shape_of_interval(prob, ends, scale, one, looser)
        if where == INSIDE:
            kept = ends.copy()
            found, error = equal_densities(prob, median, log_middle, ends, scale, one, goal, goal)
            worst = max(worst, error)
            if not found:
                ends[:] = kept
    return where, found, worst


@kernel
def _of_one(formula, a, shares, prob, densest_wanted, room, out):
    """Fill `out` with the statistics of one metric of one matrix."""
    one, centre, spread = _prepared(formula, a, shares, LATTICES, room)
    lower, upper = one.lower, one.upper
    mean, variance, skewness, excess = moments(one)
    inside = lower < centre < upper and spread > 0.0
    median = coordinate(centre, lower, upper) if inside else 0.0
    scale = min(max(spread / place(median, lower, upper)[1], 1e-18), 10.0) if inside else 0.1
    tail = 0.5 * (1.0 - prob)
    ends = np.empty(2)
    goal = _GOAL_OF_TWO if two_integrals(room) else _GOAL_OF_ONE
    start = expanded(mean, math.sqrt(variance), skewness, excess, 0.0)
    if lower < start < upper and abs(start - mean) < 0.5 * math.sqrt(variance):
        median = coordinate(start, lower, upper)
    median, log_middle, worst, off = solve(0.5, 0.5, median, scale, one, goal)
    lacks = lacking(off, median, one)
    slope = place(median, lower, upper)[1]
    scale = min(max(0.4 * math.exp(-log_middle) / slope, 1e-25), 50.0)
    reach = -to_normal(tail, 1.0 - tail) * scale
    ends[0], ends[1] = median - reach, median + reach
    far = -to_normal(tail, 1.0 - tail)
    for side in range(2):
        start = expanded(mean, math.sqrt(variance), skewness, excess, far if side else -far)
        away = (coordinate(start, lower, upper) - median) * (2 * side - 1) if lower < start < upper else 0.0
        if 0.0 < away < 3.0 * reach:
            ends[side] = coordinate(start, lower, upper)
    where, found = NONE, False
    if densest_wanted:
        where, found, error = _densest(prob, median, log_middle, reach, ends, scale, one, goal)
        worst = max(worst, error)
    if not found:
        if where == INSIDE:
            low, high = masses_outside(prob, ends, one, goal)
        else:
            low = 0.0 if where == FALLING else (1.0 - prob if where == RISING else tail)
            high = 0.0 if where == RISING else (1.0 - prob if where == FALLING else tail)
        error, off = move(low, high, ends, scale, one, goal)
        worst = max(worst, error)
        if where != NONE and not (off < LACKING and ends_around(median, where, ends)):
            where, ends[0], ends[1] = NONE, median - reach, median + reach
            error, off = move(tail, tail, ends, scale, one, goal)
            worst = max(worst, error)
        lacks = max(lacks, off)
    out[0], out[1], out[2] = mean, math.sqrt(variance), place(median, lower, upper)[0]
    out[3] = lower if where == FALLING else place(ends[0], lower, upper)[0]
    out[4] = upper if where == RISING else place(ends[1], lower, upper)[0]
    ordered_well = out[3] <= out[2] <= out[4]
    out[5] = (0.0 if where == NONE else 1.0) if lacks < LACKING and ordered_well else -1.0
    out[6] = worst


@kernel
def summarise(a, shares, trees, ends, nums, dens, kinds, lowers, uppers, prob, densest_wanted):
    """Return the statistics of k metrics of n matrices, (n, k, 7) as in STATISTICS.

    Parameters
    ----------
    a : ndarray of shape (n, 4)
        Concentrations of tp, fn, fp, tn.
    shares : ndarray of shape (n, 2)
        Concentrations of the classes, negative first; or, known, their shares.
    trees : ndarray of int64, shape (t, 8)
        Of all metrics, one after the other.
    ends : ndarray of int64, shape (k + 1,)
        Where the trees of each metric begin, and the last end.
    nums, dens : ndarray of shape (k, 4, 4)
    kinds : ndarray of int64, shape (k,)
    lowers, uppers : ndarray of shape (k,)
        Ranges of the metrics.
    prob : float
    densest_wanted : bool
    """
    room = workspace()
    out = np.empty((len(a), len(kinds), len(STATISTICS)))
    for i in range(len(a)):
        for k in range(len(kinds)):
            formula = Formula(trees[ends[k] : ends[k + 1]], nums[k], dens[k], kinds[k], lowers[k], uppers[k])
            _of_one(formula, a[i], shares[i], prob, densest_wanted, room, out[i, k])
    return out


@kernel
def probabilities(a, shares, x, formula, goal):
    """Return cdf, sf, pdf and error at points x (n, k): (n, k, 4).

    With a goal below `FINEST` all are right to about 1e-9, else the smaller tail relatively to the goal.
    """
    room, fine = workspace(), goal < FINEST
    reach = NEAR if fine else REACH
    out = np.empty((x.shape[0], x.shape[1], 4))
    for i in range(len(a)):
        one, _, _ = _prepared(formula, a[i], shares[i], FINE_LATTICES if fine else NO_LATTICES, room)
        for j in range(x.shape[1]):
            if math.isnan(x[i, j]):
                out[i, j] = math.nan
            elif x[i, j] <= one.lower:
                out[i, j] = 0.0, 1.0, 0.0, 0.0
            elif x[i, j] >= one.upper:
                out[i, j] = 1.0, 0.0, 0.0, 0.0
            else:
                out[i, j] = distribution(x[i, j], one, goal, reach)
    return out


@kernel
def quantiles(a, shares, p, formula, goal):
    """Return the metric and the error at probabilities p (n, k): (n, k, 2)."""
    room, lattices = workspace(), FINE_LATTICES if goal < FINEST else NO_LATTICES
    out = np.empty((p.shape[0], p.shape[1], 2))
    for i in range(len(a)):
        one, centre, _ = _prepared(formula, a[i], shares[i], lattices, room)
        start = coordinate(centre, one.lower, one.upper) if one.lower < centre < one.upper else 0.0
        for j in range(p.shape[1]):
            if not 0.0 < p[i, j] < 1.0:
                out[i, j] = (one.lower if p[i, j] == 0.0 else one.upper if p[i, j] == 1.0 else math.nan), 0.0
                continue
            z, _, error, _ = solve(p[i, j], 1.0 - p[i, j], start, 1e-6, one, goal)
            out[i, j] = place(z, one.lower, one.upper)[0], error
    return out
