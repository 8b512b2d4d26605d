"""Ranks of independent variables: how many of the others are larger, integrated over where each one is.

Distributions come with their knots: the places, from left to right, at given normal quantiles. At a node x the number
of larger variables is a sum of independent events with the probabilities S of the others; only those with S between 0
and 1 are uncertain there, and only a band of their sum has any probability.
"""

import math

import numpy as np

from bayescm._kernels.beta import build, of_normal, tails
from bayescm._kernels.codes import DESCRIPTION, NEVER, TABLE
from bayescm._kernels.jit import kernel, vector_kernel
from bayescm._kernels.nodes import CACHED, along, prepare

_FAINT = 1e-19  # of the number of larger variables, dropped


@kernel
def beta_tables(a, b, z, tables, dists, knots):
    """Tabulate Beta variables, and fill `knots` (distributions, knots) with their log-odds at normal quantiles z."""
    for s in range(len(a)):
        build(a[s], b[s], tables[s], dists[s])
        for k in range(len(z)):
            knots[s, k] = of_normal(z[k], tables[s], dists[s])


@kernel
def beta_tails(tables, dists, low, high, which, nodes, upper, density, first, last):
    """Fill P(X > x) and the density in log-odds of systems `which`, (nodes, systems), from low to high of each."""
    for place in range(first, last):
        s = which[place]
        for q in range(len(nodes)):
            if nodes[q] <= low[s]:
                upper[q, place], density[q, place] = 1.0, 0.0
            elif nodes[q] >= high[s]:
                upper[q, place], density[q, place] = 0.0, 0.0
            else:
                _, upper[q, place], density[q, place] = tails(nodes[q], tables[s], dists[s])


@kernel
def fineness(knots, mass, middle, points, out):
    """Fill how fine nodes must lie between consecutive points: per unit, the inverse of the narrowest thing there.

    The narrowest is the narrowest distribution, in standard deviations; or a rank, whose place has the standard
    deviation sqrt(sum S (1 - S)) / (sum of densities) where many distributions overlap.
    """
    cells = len(points) - 1
    density, variance = np.zeros(cells), np.zeros(cells)
    out[:] = 0.0
    for s in range(knots.shape[0]):
        first = np.searchsorted(points, knots[s, 0])
        for k in range(knots.shape[1] - 1):
            last = np.searchsorted(points, knots[s, k + 1])
            width = knots[s, k + 1] - knots[s, k]
            spread = middle[k] * (1.0 - middle[k])
            for i in range(first, last):
                out[i] = max(out[i], 1.0 / width)
                density[i] += mass[k] / width
                variance[i] += spread
            first = last
    for i in range(cells):
        out[i] = max(out[i], density[i] / math.sqrt(variance[i] + 0.25))


@kernel
def panels(points, fine, share):
    """Return starts and ends of panels that are at most `share` long in units of the narrowest thing inside."""
    low, high = [points[0]], [points[0]]
    i = 0
    start = points[0]
    cells = len(fine)
    while i < cells:
        if fine[i] == 0.0:  # nobody is here
            i += 1
            if i < cells:
                start = points[i]
            continue
        finest = fine[i]
        end = min(points[i + 1], start + share / finest)
        j = i
        while end == points[j + 1] and j + 1 < cells and fine[j + 1] > 0.0:
            finest = max(finest, fine[j + 1])
            reach = min(points[j + 2], start + share / finest)
            if reach <= end:
                break
            j += 1
            end = reach
        low.append(start)
        high.append(end)
        start = end
        while i < cells and points[i + 1] <= start:
            i += 1
    return np.array(low[1:]), np.array(high[1:])


@kernel
def larger(upper, sums, places, first, last):
    """Fill the distribution of the number of larger variables at nodes: `sums` (nodes, band), `places` (nodes, 3) on.

    `places` gets the first number, how many there are, and how many variables are larger for sure. Returns 0, or how
    wide a band is needed.
    """
    n = upper.shape[1]
    now = np.empty(n + 2)
    for q in range(first, last):
        now[0] = 1.0
        low, size, sure = 0, 1, 0
        for s in range(n):
            p = upper[q, s]
            if p <= NEVER:
                continue
            if p >= 1.0 - NEVER:
                sure += 1
                continue
            now[size] = p * now[size - 1]
            for r in range(size - 1, 0, -1):
                now[r] = (1.0 - p) * now[r] + p * now[r - 1]
            now[0] *= 1.0 - p
            size += 1
            while size > 1 and now[size - 1] < _FAINT:
                size -= 1
            drop = 0
            while drop < size - 1 and now[drop] < _FAINT:
                drop += 1
            if drop > 0:
                for r in range(size - drop):
                    now[r] = now[r + drop]
                low += drop
                size -= drop
        places[q, 0], places[q, 1], places[q, 2] = low, size, sure
        if size > sums.shape[1]:
            return size
        for r in range(size):
            sums[q, r] = now[r]
    return 0


@vector_kernel
def _without(total, p, rest, weight, state, out):
    """Take one variable out of a sum, for each lane: total = rest of it * (1 - p) + p * the value before."""
    for s in range(len(p)):
        value = (total - p[s] * state[s]) * rest[s]
        state[s] = value
        out[s] += weight[s] * value


@kernel
def add_ranks(upper, weighted, split, sums, places, first, last, out):
    """Add to `out` (ranks, lanes) the probability of every rank of variables `first` to `last`.

    Variables are sorted by their medians: at node q those before `split[q]` have S < 1/2, and their part is taken out
    of the sum from below, the others' from above, which doesn't amplify rounding.
    """
    lanes = last - first
    p, rest, weight, state = np.empty(lanes), np.empty(lanes), np.empty(lanes), np.empty(lanes)
    for q in range(upper.shape[0]):
        low, size, sure = places[q, 0], places[q, 1], places[q, 2]
        begin, end = lanes, 0
        for s in range(lanes):
            value = upper[q, first + s]
            weight[s] = weighted[q, first + s]
            inside = NEVER < value < 1.0 - NEVER and weight[s] > 0.0
            if not inside:
                value, weight[s] = (0.0 if first + s < split[q] else 1.0), 0.0
            else:
                begin, end = min(begin, s), s + 1
            state[s] = 0.0
            if first + s < split[q]:
                p[s], rest[s] = value, 1.0 / (1.0 - value)
            else:
                p[s], rest[s] = 1.0 - value, 1.0 / value
        middle = min(max(split[q] - first, begin), end)
        if begin < middle:
            for r in range(min(size, len(out) - sure - low)):
                _without(sums[q, r], p[begin:middle], rest[begin:middle], weight[begin:middle],
                         state[begin:middle], out[sure + low + r, begin:middle])  # fmt: skip
        if middle < end:
            for r in range(size - 1, -1, -1):
                if 0 < sure + low + r <= len(out):
                    _without(sums[q, r], p[middle:end], rest[middle:end], weight[middle:end],
                             state[middle:end], out[sure + low + r - 1, middle:end])  # fmt: skip


@kernel
def beta_paths(a, b, out):
    """Fill the log-odds of Beta variables along the normal quantile: polynomials, (distributions, cells, 8)."""
    table, dist, cached = np.empty(TABLE), np.empty(DESCRIPTION), np.empty(CACHED)
    for s in range(len(a)):
        prepare(a[s], b[s], table, dist, cached, out[s])


@kernel
def beta_draws(paths, normal, out):
    """Fill `out` (draws, distributions) with log-odds, sign reversed, at normal quantiles (distributions, draws)."""
    for s in range(normal.shape[0]):
        for d in range(normal.shape[1]):
            out[d, s] = -along(normal[s, d], paths[s])


@kernel
def count_ranks(values, order, near, out):
    """Add draws (draws, variables) to `out` (variables, ranks); the smallest has the first rank, ties share theirs."""
    n = values.shape[1]
    for d in range(values.shape[0]):
        i = 0
        while i < n:
            j = i + 1
            while j < n and values[d, order[d, j]] - values[d, order[d, j - 1]] <= near:
                j += 1
            if j == i + 1:
                out[order[d, i], i] += 1.0
            else:
                share = 1.0 / (j - i)
                for k in range(i, j):
                    for r in range(i, j):
                        out[order[d, k], r] += share
            i = j


@kernel
def count_better(values, system, others, near, out):
    """Add to `out` in how many draws the system's value is smaller than those of others; of ties half."""
    for d in range(values.shape[0]):
        own = values[d, system]
        for k in range(len(others)):
            gap = values[d, others[k]] - own
            out[k] += 0.5 * (gap > near) + 0.5 * (gap >= -near)  # no branch: neither is likelier
