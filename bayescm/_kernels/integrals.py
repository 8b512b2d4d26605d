"""Distribution functions of metrics of two labels: means, over one or two Betas, of the distribution of a third.

A metric is given by two quadratic forms in its four cells, value = num / den, so that {metric <= x} is
{num - value(x) den <= 0}. The cells hang on a tree of three independent Betas, c = (m u, m (1-u), (1-m) v, (1-m)(1-v));
with two of them held fixed, the event is a quadratic inequality in the odds of the third, whose distribution is
tabulated. The other two are integrated in their normal quantile w, where the trapezoid rule converges geometrically,
piece by piece between the kinks where the event's edge leaves (0, 1): these are roots of quadratics too. The step is
halved until two answers agree.
"""

import math
from typing import NamedTuple

import numpy as np

from bayescm._kernels.beta import POINT, P, Q
from bayescm._kernels.codes import CORRELATION, LEFT_INSIDE
from bayescm._kernels.events import MOST_KINKS, Event, conditional, line_of, middle_kinks, outer_kinks, value_of
from bayescm._kernels.jit import kernel
from bayescm._kernels.lattice import BEYOND, beyond_kinks, of_lattice
from bayescm._kernels.nodes import FINE, NEAR, REACH, Workspace, load, mass, nodes, pieces, point

LEVELS = 7
LATTICE = 1e-5  # goal down to which the lattices serve
SURE = 1e-4  # largest difference of the lattices: it is no more than an error
FINEST = 1e-8  # goal below which fine lattices serve, and what is below `_PLAIN` needs no digits relative to itself
_PLAIN, _NESTED = 1e-3, 3e-7  # and the goal without them
STEEP = 1e-2  # change of the density
BEYOND_KINKS = 1e-4  # of a tail: more isn't left to lattices
TINY = 1e-30  # tails and densities below need no relative digits: at 1e-38 they took .9 s a point, at 1e-25 93 ms
SOFT_LEVELS = 4  # without an answer after these, look where the integrand may jump


class One(NamedTuple):
    """A metric of one matrix: its range and scale, the shape of its tree, and the workspace with all tables."""

    lower: float
    upper: float
    kind: int
    shape: int
    room: Workspace


class Mean(NamedTuple):
    """Probabilities below and above, density, and the errors of the first two."""

    low: float
    high: float
    density: float
    error_low: float
    error_high: float


@kernel
def _refined(now, level, n, scratch, goal, floor):
    """Halve the step: add the values of the nodes that a level adds, which are in `scratch`.

    Returns
    -------
    Mean
        Its errors are those of the values.
    low, high : float
        The change of the probabilities; 0 at the first level.
    bool
        Whether it is relatively below the goal, `floor` being added to the probabilities, and the density's is small.
    """
    low = high = density = error_low = error_high = 0.0
    for i in range(n):
        weight = scratch[2, i]
        low += weight * scratch[3, i]
        high += weight * scratch[4, i]
        density += weight * scratch[5, i]
        error_low += weight * scratch[6, i]
        error_high += weight * scratch[7, i]
    if level == 0:
        return Mean(low, high, density, error_low, error_high), 0.0, 0.0, goal >= 1.0
    low, high, density = 0.5 * now.low + low, 0.5 * now.high + high, 0.5 * now.density + density
    error_low, error_high = 0.5 * now.error_low + error_low, 0.5 * now.error_high + error_high
    change_low, change_high = abs(low - now.low), abs(high - now.high)
    done = change_low <= goal * (low + floor.low) and change_high <= goal * (high + floor.high)
    done &= abs(density - now.density) <= STEEP * (density + floor.density)  # two steps may agree where it is a step
    return Mean(low, high, density, error_low, error_high), change_low, change_high, done


@kernel
def _sum(total, now, change_low, change_high):
    """Add a piece to the mean, and the change at its last halving to the errors."""
    return Mean(
        total.low + now.low, total.high + now.high, total.density + now.density,
        total.error_low + (change_low + now.error_low), total.error_high + (change_high + now.error_high),
    )  # fmt: skip


@kernel
def _at_least(now, least):
    """Return what changes are compared with: the mean, but no less of the probabilities."""
    return Mean(max(now.low, least), max(now.high, least), max(now.density, TINY), 0.0, 0.0)


@kernel
def _middle(event, m, mq, room, goal, reach, floor):
    """Return the mean of the inner probability over the right split, at one outer node."""
    dist, inner, inner_table = room.dists[1], room.dists[0], room.tables[0]
    line = line_of(event, m, mq)
    if dist[POINT] > 0:
        low, high, f = conditional(line, dist[P], dist[Q], inner_table, inner)
        return Mean(low, high, f if 0.0 < f < math.inf else 0.0, 0.0, 0.0)
    path, cached, scratch, kinks = room.paths[1], room.cached[1], room.scratch[1], np.empty(MOST_KINKS)
    nothing = total = Mean(0.0, 0.0, 0.0, 0.0, 0.0)
    for attempt in range(2):
        count = pieces(kinks, middle_kinks(line, room, attempt > 0, kinks))
        total, done = nothing, True
        for piece in range(count):
            begin, end = kinks[piece], kinks[piece + 1]
            if end - begin < 1e-13:
                continue
            p, q = point(0.5 * (begin + end), path)
            low, high, f = conditional(line, p, q, inner_table, inner)
            if count > 1 and f < 0.0:
                inside = mass(begin, end)
                total = _sum(total, Mean(low * inside, high * inside, 0.0, 0.0, 0.0), 0.0, 0.0)
                continue
            now, change_low, change_high, done = nothing, 0.0, 0.0, False
            for level in range(LEVELS if attempt > 0 else SOFT_LEVELS):
                n = nodes(path, cached, begin, end, level, reach, scratch)
                for i in range(n):
                    low, high, f = conditional(line, scratch[0, i], scratch[1, i], inner_table, inner)
                    scratch[3, i], scratch[4, i], scratch[5, i] = low, high, f if 0.0 < f < math.inf else 0.0
                now, change_low, change_high, done = _refined(now, level, n, scratch, goal, floor)
                if done:
                    break
            total = _sum(total, now, change_low, change_high)
            if not done and attempt == 0:
                break
        if done:
            break
    return total


@kernel
def distribution(x, one, goal, reach):
    """Return cdf, sf and pdf of the metric at x, and the change of cdf or sf at the last halving, relatively.

    Parameters
    ----------
    x : float
        Inside the metric's range.
    one : One
    goal : float
        Halve the step until the change is relatively below it. The error is usually about its square. From 1 on the
        first step is taken without a check.
    reach : float
        In normal quantiles: `REACH`, or `NEAR` where no far tail is asked for.
    """
    room, least = one.room, _PLAIN if goal < FINEST else TINY
    nothing = total = rough = Mean(0.0, 0.0, 0.0, 0.0, 0.0)
    known = reach == NEAR and room.sizes[0] > 0 and (goal >= LATTICE or goal < FINEST)
    if known:
        kept = room.kept
        if x != kept[0]:
            kept[0] = x
            kept[1], kept[2], kept[3] = of_lattice(x, one.kind, one.shape, room, 0)
        low, high, density = kept[1], kept[2], kept[3]
        if goal >= 1.0:
            return low, high, density, 0.0
        single = one.kind == CORRELATION and one.shape == LEFT_INSIDE
        beyond = beyond_kinks(single, room, 0)
        kept[0] = math.nan  # the other lattice's edges are written over those of this one
        low2, high2, density2 = of_lattice(x, one.kind, one.shape, room, 1)
        beyond = max(beyond, beyond_kinks(single, room, 1))
        change, bend = abs(low - low2), abs(density - density2)
        low, high, density = 0.5 * (low + low2), 0.5 * (high + high2), 0.5 * (density + density2)
        plain = room.sizes[FINE] > 0 and min(low, high) < _PLAIN
        tail = _PLAIN if plain else max(min(low, high), 1e-12)
        alike = change <= min(goal, SURE) * tail and (plain or bend <= SURE * density)
        if alike and beyond <= BEYOND_KINKS * tail:
            return low, high, density, (change + BEYOND) / tail
        rough = _at_least(Mean(low, high, density, 0.0, 0.0), least)
    load(room)
    value, slope = value_of(x, one.kind)
    event = Event(room.forms[0] - value * room.forms[1], -slope * room.forms[1], x, one.kind, one.shape)
    dist, path, cached, scratch = room.dists[2], room.paths[2], room.cached[2], room.scratch[0]
    kinks = np.empty(MOST_KINKS)
    goal, reach = (_NESTED, REACH) if goal < FINEST else (goal, reach)
    for stage in range(1 if known else 0, 3):  # the first finds out how large it is, the last knows where it may jump
        if dist[POINT] > 0:
            total = _middle(event, dist[P], dist[Q], room, goal, reach, nothing)
            break
        count = pieces(kinks, outer_kinks(event, room, stage > 1, kinks))
        total, done = nothing, True
        for piece in range(count):
            begin, end = kinks[piece], kinks[piece + 1]
            if end - begin < 1e-13:
                continue
            now, change_low, change_high, done = nothing, 0.0, 0.0, False
            wanted = goal if stage > 0 else 1.0
            for level in range(SOFT_LEVELS if stage < 2 else LEVELS):
                n = nodes(path, cached, begin, end, level, reach, scratch)
                for i in range(n):
                    inside = _middle(event, scratch[0, i], scratch[1, i], room, wanted, reach, rough)
                    scratch[3, i], scratch[4, i], scratch[5, i], scratch[6, i], scratch[7, i] = inside
                now, change_low, change_high, done = _refined(now, level, n, scratch, wanted, rough)
                if done:
                    break
            total = _sum(total, now, change_low, change_high)
            if not done and stage == 1:
                break
        if stage == 0:
            rough = _at_least(total, least)
        if done and (stage > 0 or goal >= 1.0):
            break
    error = max(total.error_low / max(total.low, 1e-12), total.error_high / max(total.high, 1e-12))
    return total.low, total.high, total.density, error
