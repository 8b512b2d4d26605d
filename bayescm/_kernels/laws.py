"""Laws of metrics, matrix by matrix: which Beta to integrate last, then cdf, quantiles, intervals and moments."""

import math

import numpy as np

from bayescm._kernels import kernel
from bayescm._kernels.beta import DESCRIPTION, MAX_CELLS, POINT, A, B, P, Q, tails, to_normal
from bayescm._kernels.integrals import (
    CELLS_OF_PATH,
    COARSE,
    CORRELATION,
    LEFT_INSIDE,
    ROOT_INSIDE,
    distribution,
    form,
    metric_of,
    middle_kinks,
    nodes,
    outer_kinks,
    pieces,
    point,
    prepare,
    roots,
    value_of,
    wilson,
)

# of the columns of a tree: its shape, the order of the cells (tp, fn, fp, tn = 0, 1, 2, 3), and how each split is known
SHAPE, ORDER, ROOT, LEFT_SPLIT, RIGHT_SPLIT = 0, 1, 5, 6, 7
BETA, HALF, FIRST, PREVALENCE, KNOWN, PREVALENCE_REVERSED, KNOWN_REVERSED = range(7)
"""A split: Beta of its cells; without influence; only its first cell counts; the prevalence's Beta; a known number;
the last two for the share of the negative class."""
STATISTICS = ("mean", "sd", "median", "lower", "upper", "is_hdi", "error")

_WORK = 6000
_STEPS = 100
_TRIES = 12
_MOMENT_REACH = 6.4
_EDGE = 13.0  # of the logit of a share of the outer mass: 2e-6
_COARSE_GOAL, _GOAL_OF_ONE, _GOAL_OF_TWO = 1e-2, 1e-4, 1e-3
INSIDE, RISING, FALLING, NONE = range(4)  # where the narrowest interval lies
_MOST = 36.0  # of the coordinate: beyond it 1 - x is below the spacing of numbers


@kernel
def workspace():
    """Return room for one matrix at a time: tables, laws, cached nodes, scratch, forms."""
    return (
        np.empty((3, MAX_CELLS + 1, 8)), np.zeros((3, DESCRIPTION)), np.empty((3, 2, 2 * COARSE - 1)),
        np.empty((3, CELLS_OF_PATH, 6)), np.empty((2, 3, _WORK)), np.empty((2, 4, 4)),
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
    c = np.empty(4)
    for i in range(4):
        c[i] = a[tree[ORDER + i]]
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
    if pair[0] == 0.0:
        return pair[1], 1.0 - pair[1]
    return pair[0] / (pair[0] + pair[1]), pair[1] / (pair[0] + pair[1])


@kernel
def metric_at(c0, c1, c2, c3, num, den, kind):
    """Return the metric of four cells in the order of the forms."""
    if kind == CORRELATION:
        return (c0 * c3 - c1 * c2) / math.sqrt((c0 + c1) * (c2 + c3) * ((c0 + c2) * (c1 + c3)))
    return metric_of(form(num, c0, c1, c2, c3) / form(den, c0, c1, c2, c3), kind)


@kernel
def _shares_of_variance(tree, a, shares, num, den, kind, out):
    """Fill `out` with each split's share (root, left, right) of the metric's variance by the delta method; return it.

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
            step = 0.3 * min(spread, 1.0)
            ends = np.empty(2)
            for side in range(2):
                factor = math.exp(step if side == 0 else -step)
                p, q = (m, mq) if i == 0 else ((u, uq) if i == 1 else (v, vq))
                p, q = p * factor / (p * factor + q), q / (p * factor + q)
                m2, mq2 = (p, q) if i == 0 else (m, mq)
                u2, uq2 = (p, q) if i == 1 else (u, uq)
                v2, vq2 = (p, q) if i == 2 else (v, vq)
                ends[side] = metric_at(m2 * u2, m2 * uq2, mq2 * v2, mq2 * vq2, num, den, kind)
            out[i] = ((ends[0] - ends[1]) / (2.0 * step) * spread) ** 2
        total += out[i]
    return base, total


@kernel
def choose(trees, a, shares, num, den, kind, ordered):
    """Pick the tree whose inner split carries the largest share of the variance; put the forms in its order.

    Returns
    -------
    index : int
    centre, sd : float
        Of the metric, by the delta method.
    """
    best, most = 0, -1.0
    centre = spread = 0.0
    parts = np.empty(3)
    for k in range(len(trees)):
        tree = trees[k]
        _reorder(tree, num, den, ordered)
        base, total = _shares_of_variance(tree, a, shares, ordered[0], ordered[1], kind, parts)
        inner = parts[1] if tree[SHAPE] == LEFT_INSIDE else parts[0]
        share = inner / total if total > 0.0 else 0.0
        if kind == CORRELATION and tree[SHAPE] == ROOT_INSIDE:
            share *= 0.5  # the event may be two intervals
        if share > most:
            best, most, centre, spread = k, share, base, math.sqrt(total)
    _reorder(trees[best], num, den, ordered)
    return best, centre, spread


@kernel
def _reorder(tree, num, den, ordered):
    for i in range(4):
        for j in range(4):
            ordered[0, i, j] = num[tree[ORDER + i], tree[ORDER + j]]
            ordered[1, i, j] = den[tree[ORDER + i], tree[ORDER + j]]


@kernel
def _load(pair, table, law, cached, path):
    """Tabulate a split's law, or note its number."""
    if pair[0] > 0.0:
        if law[POINT] == 0.0 and law[A] == pair[0] and law[B] == pair[1]:
            return  # it is there already
        prepare(pair[0], pair[1], table, law, cached, path)
    else:
        law[POINT], law[P], law[Q] = 1.0, pair[1], 1.0 - pair[1]


@kernel
def load(tree, a, shares, tables, laws, cached, paths):
    """Tabulate the laws of a tree's splits: inner, middle, outer."""
    pairs = _splits(tree, a, shares)
    inner, outer = (1, 0) if tree[SHAPE] == LEFT_INSIDE else (0, 1)
    _load(pairs[inner], tables[0], laws[0], cached[0], paths[0])
    _load(pairs[2], tables[1], laws[1], cached[1], paths[1])
    _load(pairs[outer], tables[2], laws[2], cached[2], paths[2])


@kernel
def moments(kind, shape, num, den, laws, paths):
    """Return mean and variance of the metric by a product of trapezoid rules, finer where a concentration is small."""
    nodes = np.empty((3, 2, 300))
    weights = np.empty((3, 300))
    sizes = np.empty(3, np.int64)
    for i in range(3):
        if laws[i, POINT] > 0:
            sizes[i], nodes[i, 0, 0], nodes[i, 1, 0], weights[i, 0] = 1, laws[i, P], laws[i, Q], 1.0
            continue
        least = min(laws[i, A], laws[i, B])
        half = 8 if least >= 2.0 else (16 if least >= 0.4 else (64 if least >= 0.1 else 128))
        n, total = 0, 0.0
        for k in range(-half, half + 1):
            w = _MOMENT_REACH * k / half
            nodes[i, 0, n], nodes[i, 1, n] = point(w, paths[i])
            weights[i, n] = math.exp(-0.5 * w * w)
            total += weights[i, n]
            n += 1
        weights[i, :n] /= total
        sizes[i] = n
    pivot = math.nan
    first = second = 0.0
    for i in range(sizes[2]):
        for j in range(sizes[1]):
            sum1 = sum2 = 0.0
            for k in range(sizes[0]):
                p, q = nodes[0, 0, k], nodes[0, 1, k]
                m, mq = nodes[2, 0, i], nodes[2, 1, i]
                if shape == ROOT_INSIDE:
                    p, q, m, mq = m, mq, p, q
                c2, c3 = mq * nodes[1, 0, j], mq * nodes[1, 1, j]
                value = metric_at(m * p, m * q, c2, c3, num, den, kind)
                if math.isnan(pivot):
                    pivot = value
                value -= pivot
                sum1 += weights[0, k] * value
                sum2 += weights[0, k] * value * value
            weight = weights[2, i] * weights[1, j]
            first += weight * sum1
            second += weight * sum2
    return pivot + first, max(second - first * first, 0.0)


@kernel
def place(z, lower, upper):
    """Return the metric at a coordinate z of the whole line, and its slope."""
    if math.isinf(upper):
        x = math.exp(z)
        return lower + x, x
    e = math.exp(-abs(z))
    small = e / (1.0 + e)
    slope = (upper - lower) * small / (1.0 + e)
    return (upper - (upper - lower) * small if z > 0 else lower + (upper - lower) * small), slope


@kernel
def coordinate(x, lower, upper):
    """Return z at a metric's value."""
    if math.isinf(upper):
        return math.log(x - lower)
    return math.log((x - lower) / (upper - x))


@kernel
def _at(z, one, goal):
    """Return cdf, sf, density in x, density in z and error at a coordinate.

    `one` is a metric of one matrix: its range, kind, the shape of the tree, and the workspace with all tables.
    """
    lower, upper, kind, shape, room = one
    tables, laws, cached, paths, scratch, ordered = room
    x, rate = place(z, lower, upper)
    low, high, f, error = distribution(
        x, ordered[0], ordered[1], kind, shape, tables, laws, cached, paths, scratch, goal
    )  # fmt: skip
    return low, high, f, f * rate, error


@kernel
def solve(low_target, high_target, start, scale, one, goal):
    """Return the coordinate where cdf and sf are as wanted, the log density in x there, and the error of the cdf.

    Newton's method for log(cdf / sf), which is nearly straight, inside a bracket. `scale` is the width of the law in z;
    the last step is below its 1e-5, and the error about that squared.
    """
    low_z, high_z = -700.0, 700.0 if math.isinf(one[1]) else _MOST
    target = math.log(low_target) - math.log(high_target)
    z, worst, density = min(max(start, low_z), high_z), 0.0, 0.0
    for _ in range(_STEPS):
        low, high, density, slope, error = _at(z, one, goal)
        worst = max(worst, error)
        excess = math.log(low) - math.log(high) - target if low > 0.0 and high > 0.0 else (1.0 if low > 0.5 else -1.0)
        if excess > 0.0:
            high_z = z
        else:
            low_z = z
        after = z - excess / (slope * (1.0 / low + 1.0 / high))
        close = abs(after - z) <= 1e-5 * scale
        if not (close or low_z < after < high_z) or math.isnan(after):
            after = 0.5 * (low_z + high_z)
        z = after
        if close or high_z - low_z <= 1e-12 * max(1.0, abs(z)):
            break
    return z, math.log(density) if density > 0.0 else -math.inf, worst


@kernel
def _equal_densities(prob, median, log_middle, ends, scale, one, goal):
    """Move `ends` to the interval of probability `prob` with equal densities at its ends; say whether it was found.

    Newton's method for both ends at once, the slopes of the log density by secants. It gives up where the density
    doesn't rise at the lower end and fall at the upper one.
    """
    before, logs, slopes = np.array([median, median]), np.array([log_middle, log_middle]), np.zeros(2)
    mass, density = np.empty(2), np.empty(2)
    worst = 0.0
    for _ in range(_TRIES):
        for i in range(2):
            low, high, f, density[i], error = _at(ends[i], one, goal)
            mass[i] = low if i == 0 else high
            worst = max(worst, error)
            if not f > 0.0:
                return False, worst
            log = math.log(f)
            if ends[i] != before[i]:
                slopes[i] = (log - logs[i]) / (ends[i] - before[i])
                if before[i] == median:
                    slopes[i] *= 2.0  # of a parabola with its top at the median
            before[i], logs[i] = ends[i], log
        if not (slopes[0] > 0.0 > slopes[1]):
            return False, worst
        outside, tilt = mass[0] + mass[1] - (1.0 - prob), logs[1] - logs[0]
        det = density[0] * slopes[1] - density[1] * slopes[0]
        step0 = (-outside * slopes[1] - density[1] * tilt) / det
        step1 = (-density[0] * tilt - slopes[0] * outside) / det
        largest = max(abs(step0), abs(step1))
        if not largest < 1e3 * scale:
            return False, worst
        damping = min(1.0, 2.0 * scale / largest)
        ends[0] += damping * step0
        ends[1] += damping * step1
        if not (ends[0] < median < ends[1]):
            return False, worst
        if largest <= 1e-6 * scale:
            return True, worst
    return False, worst


@kernel
def _tilt(t, prob, ends, scale, one, goal):
    """Move `ends` to the interval whose left tail has the share 1 / (1 + exp(-t)) of the outer mass.

    Returns
    -------
    tilt, log_low : float
        Log density at the upper end minus that at the lower one, and the latter.
    """
    share = 1.0 / (1.0 + math.exp(-t))
    left, right = (1.0 - prob) * share, (1.0 - prob) * (1.0 - share)
    ends[0], log_low, _ = solve(left, prob + right, ends[0], scale, one, goal)
    ends[1], log_high, _ = solve(prob + left, right, ends[1], scale, one, goal)
    return (log_high - log_low if log_high > log_low or log_high < log_low else 0.0), log_low


@kernel
def _shape_of_interval(prob, log_middle, ends, scale, one, goal):
    """Find out where the narrowest interval lies, and move `ends` there if it is inside.

    Equal densities at both ends, by Illinois' method in the logit of the share of the outer mass that lies left. Where
    the density doesn't fall towards both edges, the interval begins or ends at one, or isn't unique.
    """
    wide = ends.copy()
    far, near = _EDGE, -_EDGE
    far_h, _ = _tilt(far, prob, wide, scale, one, goal)
    wide[:] = ends
    near_h, log_low = _tilt(near, prob, wide, scale, one, goal)
    if far_h >= 0.0 and near_h >= 0.0:
        return RISING
    if far_h <= 0.0 and near_h <= 0.0:
        return FALLING
    if near_h < 0.0:
        return NONE
    for _ in range(_STEPS):
        t = (near * far_h - far * near_h) / (far_h - near_h)
        h, log_low = _tilt(t, prob, ends, scale, one, goal)
        if h > 0.0:
            near, near_h, far_h = t, h, 0.5 * far_h
        else:
            far, far_h, near_h = t, h, 0.5 * near_h
        if abs(h) < 1e-8 or abs(far - near) < 1e-8 or near_h == far_h:
            break
    return INSIDE if log_middle >= log_low - 1e-6 else NONE


@kernel
def _of_one(a, shares, trees, num, den, kind, lower, upper, prob, densest_wanted, room, out):
    """Fill `out` with the statistics of one metric of one matrix: first coarsely, then from there as asked."""
    tables, laws, cached, paths, _, ordered = room
    index, centre, spread = choose(trees, a, shares, num, den, kind, ordered)
    shape = trees[index, SHAPE]
    load(trees[index], a, shares, tables, laws, cached, paths)
    one = (lower, upper, kind, shape, room)
    mean, variance = moments(kind, shape, ordered[0], ordered[1], laws, paths)
    inside = lower < centre < upper and spread > 0.0
    median = coordinate(centre, lower, upper) if inside else 0.0
    scale = min(max(spread / place(median, lower, upper)[1], 1e-9), 10.0) if inside else 0.1
    tail = 0.5 * (1.0 - prob)
    ends = np.empty(2)
    where, worst = NONE, 0.0
    twice = laws[1, POINT] == 0.0 and laws[2, POINT] == 0.0
    for last in range(0 if twice else 1, 2):
        goal = _COARSE_GOAL if last == 0 else (_GOAL_OF_TWO if twice else _GOAL_OF_ONE)
        median, log_middle, worst = solve(0.5, 0.5, median, scale, one, goal)
        if last == 0 or not twice:
            slope = place(median, lower, upper)[1]
            scale = min(max(0.4 * math.exp(-log_middle) / slope, 1e-12), 50.0)
            reach = -to_normal(tail, 1.0 - tail) * scale
            ends[0], ends[1] = median - reach, median + reach
            if densest_wanted:
                found, error = _equal_densities(prob, median, log_middle, ends, scale, one, goal)
                worst = max(worst, error)
                where = INSIDE
                if not found:
                    ends[0], ends[1] = median - reach, median + reach
                    where = _shape_of_interval(prob, log_middle, ends, scale, one, goal)
        elif where == INSIDE:
            kept = ends.copy()
            found, error = _equal_densities(prob, median, log_middle, ends, scale, one, goal)
            worst = max(worst, error)
            if not found:
                ends[:] = kept
        if where != INSIDE:
            low = 0.0 if where == FALLING else (1.0 - prob if where == RISING else tail)
            high = 0.0 if where == RISING else (1.0 - prob if where == FALLING else tail)
            if low > 0.0:
                ends[0], _, error = solve(low, 1.0 - low, ends[0], scale, one, goal)
                worst = max(worst, error)
            if high > 0.0:
                ends[1], _, error = solve(1.0 - high, high, ends[1], scale, one, goal)
                worst = max(worst, error)
    out[0], out[1], out[2] = mean, math.sqrt(variance), place(median, lower, upper)[0]
    out[3] = lower if where == FALLING else place(ends[0], lower, upper)[0]
    out[4] = upper if where == RISING else place(ends[1], lower, upper)[0]
    out[5] = 0.0 if where == NONE else 1.0
    out[6] = worst


@kernel
def summarise(a, shares, trees, num, den, kind, lower, upper, prob, densest_wanted):
    """Return the statistics of one metric of many matrices, (n, 7) as in STATISTICS.

    Parameters
    ----------
    a : ndarray of shape (n, 4)
        Concentrations of tp, fn, fp, tn.
    shares : ndarray of shape (n, 2)
        Concentrations of the classes, negative first; or, known, their shares.
    trees : ndarray of int64, shape (t, 8)
    num, den : ndarray of shape (4, 4)
    kind : int
    lower, upper : float
        Range of the metric.
    prob : float
    densest_wanted : bool
    """
    room = workspace()
    out = np.empty((len(a), 7))
    for i in range(len(a)):
        _of_one(a[i], shares[i], trees, num, den, kind, lower, upper, prob, densest_wanted, room, out[i])
    return out


@kernel
def probabilities(a, shares, x, trees, num, den, kind, lower, upper, goal):
    """Return cdf, sf, pdf and error at points x (n, k): (n, k, 4)."""
    room = workspace()
    tables, laws, cached, paths, scratch, ordered = room
    out = np.empty((x.shape[0], x.shape[1], 4))
    for i in range(len(a)):
        index, _, _ = choose(trees, a[i], shares[i], num, den, kind, ordered)
        load(trees[index], a[i], shares[i], tables, laws, cached, paths)
        for j in range(x.shape[1]):
            if math.isnan(x[i, j]):
                out[i, j] = math.nan
            elif x[i, j] <= lower:
                out[i, j] = 0.0, 1.0, 0.0, 0.0
            elif x[i, j] >= upper:
                out[i, j] = 1.0, 0.0, 0.0, 0.0
            else:
                out[i, j] = distribution(
                    x[i, j],
                    ordered[0],
                    ordered[1],
                    kind,
                    trees[index, SHAPE],
                    tables,
                    laws,
                    cached,
                    paths,
                    scratch,
                    goal,
                )
    return out


@kernel
def quantiles(a, shares, p, trees, num, den, kind, lower, upper, goal):
    """Return the metric and the error at probabilities p (n, k): (n, k, 2)."""
    room = workspace()
    tables, laws, cached, paths, _, ordered = room
    out = np.empty((p.shape[0], p.shape[1], 2))
    for i in range(len(a)):
        index, centre, _ = choose(trees, a[i], shares[i], num, den, kind, ordered)
        load(trees[index], a[i], shares[i], tables, laws, cached, paths)
        start = coordinate(centre, lower, upper) if lower < centre < upper else 0.0
        one = (lower, upper, kind, trees[index, SHAPE], room)
        for j in range(p.shape[1]):
            if not 0.0 < p[i, j] < 1.0:
                out[i, j] = (lower if p[i, j] == 0.0 else upper if p[i, j] == 1.0 else math.nan), 0.0
                continue
            z, _, error = solve(p[i, j], 1.0 - p[i, j], start, 1e-6, one, goal)
            out[i, j] = place(z, lower, upper)[0], error
    return out


@kernel
def _narrow(c, x, kind, above, m, mq, v, vq, low, high):
    """Narrow an interval of the inner odds to where a metric is above (or below) x."""
    if kind == CORRELATION:
        recall, miss, _ = wilson(x, m, mq, vq, v)
        edge = 0.0 if recall <= 0.0 else (math.inf if miss <= 0.0 else recall / miss)
        return (max(low, edge), high) if above else (low, min(high, edge))
    c2, c3 = mq * v, mq * vq
    at_one, at_zero = form(c, m, 0.0, c2, c3), form(c, 0.0, m, c2, c3)
    middle = 4.0 * form(c, 0.5 * m, 0.5 * m, c2, c3) - at_one - at_zero
    count, edge, _ = roots(at_one, middle, at_zero)
    if count == 0:
        return (low, high) if (at_one + middle + at_zero > 0.0) == above else (0.0, 0.0)
    below_is_low = (at_zero if at_zero != 0.0 else middle) <= 0.0  # the metric is below x at small odds
    return (max(low, edge), high) if below_is_low == above else (low, min(high, edge))


@kernel
def joint(a, shares, tree, nums, dens, kinds, points, above, goal):
    """Return the probability that several metrics lie on their sides of points, and its change at the last halving.

    Parameters
    ----------
    a : ndarray of shape (4,)
    shares : ndarray of shape (2,)
    tree : ndarray of shape (8,)
        With recall or specificity inside, in which every metric must be monotone.
    nums, dens : ndarray of shape (k, 4, 4)
    kinds : ndarray of shape (k,)
    points : ndarray of shape (k,)
    above : ndarray of bool, shape (k,)
    goal : float
    """
    room = workspace()
    tables, laws, cached, paths, scratch, ordered = room
    load(tree, a, shares, tables, laws, cached, paths)
    forms = np.empty((len(points), 4, 4))
    for k in range(len(points)):
        _reorder(tree, nums[k], dens[k], ordered)
        forms[k] = ordered[0] - value_of(points[k], kinds[k])[0] * ordered[1]
    inside = before = change = 0.0
    for level in range(1, _JOINT_LEVELS):
        outer = _all_nodes(forms, points, kinds, -1.0, 0.0, room, level, scratch[0])
        inside = 0.0
        for i in range(outer):
            m, mq = scratch[0, 0, i], scratch[0, 1, i]
            middle = _all_nodes(forms, points, kinds, m, mq, room, level, scratch[1])
            for j in range(middle):
                low, high = 0.0, math.inf
                for k in range(len(points)):
                    low, high = _narrow(
                        forms[k], points[k], kinds[k], above[k], m, mq, scratch[1, 0, j], scratch[1, 1, j], low, high
                    )
                if high <= low:
                    continue
                f0, s0 = (0.0, 1.0) if low == 0.0 else tails(math.log(low), tables[0], laws[0])[:2]
                f1, s1 = (1.0, 0.0) if high == math.inf else tails(math.log(high), tables[0], laws[0])[:2]
                inside += scratch[0, 2, i] * scratch[1, 2, j] * (f1 - f0 if f1 < 0.5 else s0 - s1)
        change = abs(inside - before)
        before = inside
        if level > 1 and change <= goal * inside:
            break
    return inside, change / max(min(inside, 1.0 - inside), 1e-12)


_JOINT_LEVELS = 6


@kernel
def _all_nodes(forms, points, kinds, m, mq, room, level, out):
    """Fill `out` with all nodes of a level of the outer law (m < 0), or of the middle one at an outer node.

    Between the kinks of all claims; return the number of nodes.
    """
    tables, laws, cached, paths, _, _ = room
    which = 2 if m < 0.0 else 1
    if laws[which, POINT] > 0.0:
        out[0, 0], out[1, 0], out[2, 0] = laws[which, P], laws[which, Q], 1.0
        return 1
    kinks = np.empty(24 * len(points))
    found = 0
    for k in range(len(points)):
        if which == 2:
            found += outer_kinks(
                forms[k],
                points[k],
                kinds[k],
                LEFT_INSIDE,
                laws,
                tables,
                cached[:2, :, COARSE - 1],
                False,
                kinks[found:],
            )
        else:
            found += middle_kinks(
                forms[k], points[k], kinds[k], LEFT_INSIDE, m, mq, laws, tables, cached[0, :, COARSE - 1], False,
                kinks[found:],
            )  # fmt: skip
    count = pieces(kinks, found)
    n = 0
    for piece in range(count):
        if kinks[piece + 1] - kinks[piece] < 1e-13:
            continue
        for part in range(level + 1):
            more = nodes(paths[which], cached[which], kinks[piece], kinks[piece + 1], part, out[:, n:])
            out[2, n : n + more] *= 2.0 ** (part - level)  # the step of the finest level
            n += more
    return n
