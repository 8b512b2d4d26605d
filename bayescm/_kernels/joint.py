"""Probabilities that several metrics lie on their sides of points."""

import math

import numpy as np

from bayescm._kernels.beta import POINT, P, Q, tails
from bayescm._kernels.codes import CORRELATION, LEFT_INSIDE
from bayescm._kernels.distributions import hang, reorder, workspace
from bayescm._kernels.events import MOST_KINKS, Event, form, line_of, middle_kinks, outer_kinks, roots, value_of, wilson
from bayescm._kernels.jit import kernel
from bayescm._kernels.nodes import REACH, load, most_nodes, nodes, pieces

_LEVELS = 6


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
    scratch = np.empty((2, 3, MOST_KINKS * len(points) * most_nodes(_LEVELS)))
    hang(tree, a, shares, room)
    load(room)
    forms = np.empty((len(points), 4, 4))
    for k in range(len(points)):
        reorder(tree, nums[k], dens[k], room.forms)
        forms[k] = room.forms[0] - value_of(points[k], kinds[k])[0] * room.forms[1]
    inside = before = change = 0.0
    for level in range(1, _LEVELS):
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
                f0, s0 = (0.0, 1.0) if low == 0.0 else tails(math.log(low), room.tables[0], room.dists[0])[:2]
                f1, s1 = (1.0, 0.0) if high == math.inf else tails(math.log(high), room.tables[0], room.dists[0])[:2]
                inside += scratch[0, 2, i] * scratch[1, 2, j] * (f1 - f0 if f1 < 0.5 else s0 - s1)
        change = abs(inside - before)
        before = inside
        if level > 1 and change <= goal * inside:
            break
    return inside, change / max(min(inside, 1.0 - inside), 1e-12)


@kernel
def _all_nodes(forms, points, kinds, m, mq, room, level, out):
    """Fill `out` with all nodes of a level of the outer distribution (m < 0), or of the middle one at an outer node.

    Between the kinks of all claims; return the number of nodes.
    """
    dists = room.dists
    which = 2 if m < 0.0 else 1
    if dists[which, POINT] > 0.0:
        out[0, 0], out[1, 0], out[2, 0] = dists[which, P], dists[which, Q], 1.0
        return 1
    kinks = np.empty(MOST_KINKS * len(points))
    found = 0
    for k in range(len(points)):
        event = Event(forms[k], forms[k], points[k], kinds[k], LEFT_INSIDE)  # no density, no slope
        if which == 2:
            found += outer_kinks(event, room, False, kinks[found:])
        else:
            found += middle_kinks(line_of(event, m, mq), room, False, kinks[found:])
    count = pieces(kinks, found)
    n = 0
    for piece in range(count):
        if kinks[piece + 1] - kinks[piece] < 1e-13:
            continue
        for part in range(level + 1):
            more = nodes(room.paths[which], room.cached[which], kinks[piece], kinks[piece + 1], part, REACH, out[:, n:])
            out[2, n : n + more] *= 2.0 ** (part - level)  # the step of the finest level
            n += more
    return n
