"""Nodes of the integrals over a Beta, in its normal quantile w: the trapezoid rule, crowded at kinks."""

import math
from typing import Any, NamedTuple

import numpy as np

from bayescm._kernels.beta import (
    CELLS,
    LOG_SUM,
    POINT,
    SIZE,
    A,
    B,
    P,
    Q,
    build,
    hermite,
    log_shape,
    of_normal,
    probability,
)
from bayescm._kernels.codes import COARSE, PATH
from bayescm._kernels.jit import kernel

REACH = 9.6  # beyond it a Beta has 1e-21
NEAR = 6.4 + 1e-9  # beyond it a Beta has 2e-10: enough where no tail below `FAR_TAIL` is asked for
FAR_TAIL = 1e-4
SLOTS, KEPT = 3, 12
FINE, LOADED = 2, 3  # places in `Workspace.sizes`
MIDDLE = COARSE // 2  # the place of the median among them
CACHED = (2, 2, COARSE)  # p and 1 - p at the nodes of the first step, and at those between
CELLS_OF_PATH = PATH[0]  # one between cached nodes
_EDGE = 4.0  # of the double-exponential map: distance 1e-20 from a kink
STEP = 2.0 * REACH / (COARSE - 1)
TABULATED = 4  # levels whose double-exponential map is tabulated
_FINE = STEP / 2.0**TABULATED
_NORMAL = 1.0 / math.sqrt(2.0 * math.pi)


def _weights():
    """Return the weights of the cached nodes, and of those between."""
    w = STEP * (np.arange(COARSE) + np.array([[0.0], [0.5]])) - REACH
    return _NORMAL * STEP * np.exp(-0.5 * w * w)


WEIGHTS = _weights()


class Workspace(NamedTuple):
    """Room for one matrix at a time: distributions of the splits, nodes, and the forms of the metric.

    The first three tables, distributions, cached nodes and paths are those of the inner, the middle and the outer
    split, the others are kept for the next metric. `scratch` is (2, 3 + 5, nodes): nodes and values outside, and in the
    middle. `pairs` (3, 2) are the concentrations of these splits, or (0, share) of a known one; `sizes` of both
    lattices, whether they are fine, and whether the tables are filled; `kept` is what the first lattice gave last, at a
    value of the metric, while its edges are there; the rest is of :mod:`bayescm._kernels.lattice`.
    """

    tables: Any
    dists: Any
    cached: Any
    paths: Any
    scratch: Any
    forms: Any
    flat: Any
    edges: Any
    direct: Any
    sizes: Any
    pairs: Any
    shapes: Any
    inner: Any
    axes: Any
    kept: Any


def _map_of_kink():
    """Tabulate distance from a kink and its rate over t: log(1 + e^u), u(t) = t - exp(-t)."""
    t = -_EDGE + _FINE * np.arange(round((_EDGE + 2.0 * REACH + 1.0) / _FINE) + 1)
    u = t - np.exp(-t)
    return np.stack([np.logaddexp(0.0, u), (1.0 + np.exp(-t)) / (1.0 + np.exp(-u))])


_MAP = _map_of_kink()


@kernel
def most_nodes(level):
    """Return a number of nodes that a piece never has, of all levels to this one."""
    return int(2.0 * (_EDGE + REACH) / STEP * 2.0**level) + 2


@kernel
def along(w, path):
    """Return the log-odds of a Beta at the normal quantile w, from its path: polynomials of degree 7 in cells of w."""
    place = (w + REACH) * (CELLS_OF_PATH / (2.0 * REACH))
    k = min(max(int(place), 0), CELLS_OF_PATH - 1)
    t, c = place - k, path[k]
    return c[0] + t * (c[1] + t * (c[2] + t * (c[3] + t * (c[4] + t * (c[5] + t * (c[6] + t * c[7]))))))


@kernel
def point(w, path):
    """Return p and 1 - p of a Beta at the normal quantile w."""
    return probability(along(w, path))


@kernel
def _between(t, length):
    """Return the distance from the lower of two kinks, and its rate: u(t) = t - exp(-t) + exp(t - length)."""
    u, slope = t - math.exp(-t) + math.exp(t - length), 1.0 + math.exp(-t) + math.exp(t - length)
    after = u - length
    up = u + math.log1p(math.exp(-u)) if u > 0 else math.log1p(math.exp(u))
    down = after + math.log1p(math.exp(-after)) if after > 0 else math.log1p(math.exp(after))
    return up - down, (1.0 / (1.0 + math.exp(-u)) - 1.0 / (1.0 + math.exp(-after))) * slope


@kernel
def nodes(path, cached, low, high, level, reach, out):
    """Fill `out` (3, n) with p, 1 - p and weight of the nodes that a level adds on [low, high] in w, up to the reach.

    An end inside the reach is a kink: there the nodes crowd double-exponentially. With u(t) = t - exp(-t) the distance
    from the kink is log(1 + e^u): it dies double-exponentially on its side, and is t itself on the other.
    """
    step = STEP / 2.0**level
    first, stride = (0, 1) if level == 0 else (1, 2)
    at_low, at_high = low > -REACH, high < REACH
    n = 0
    if not (at_low or at_high):
        for i in range(first, (COARSE - 1) * 2**level + 1, stride):
            if n == out.shape[1]:
                return n
            w = -REACH + i * step
            if abs(w) > reach:
                continue
            if level <= 1:
                k = i // stride
                out[0, n], out[1, n], out[2, n] = cached[level, 0, k], cached[level, 1, k], WEIGHTS[level, k] / stride
            else:
                out[0, n], out[1, n] = point(w, path)
                out[2, n] = _NORMAL * math.exp(-0.5 * w * w) * step
            n += 1
        return n
    length = high - low
    end = length + _EDGE if at_low and at_high else length
    tabulated = level <= TABULATED and not (at_low and at_high)
    places = round(step / _FINE)  # of the table, from node to node
    for i in range(first, out.shape[1] * stride, stride):
        t = -_EDGE + i * step
        if t > end:
            break
        if tabulated:
            distance, rate = _MAP[0, i * places], _MAP[1, i * places]
        elif at_low and at_high:
            distance, rate = _between(t, length)
        else:
            distance, rate = _between(t, 100.0)
        if distance <= 0.0 or distance >= length:
            continue
        w = low + distance if at_low else high - distance
        weight = _NORMAL * math.exp(-0.5 * w * w) * rate * step
        if weight < 1e-23 or abs(w) > reach:
            continue
        out[0, n], out[1, n] = point(w, path)
        out[2, n] = weight
        n += 1
    return n


@kernel
def reach_for(tail):
    """Return how far to integrate, in normal quantiles, where no tail of less probability is asked for."""
    return NEAR if tail >= FAR_TAIL else REACH


@kernel
def mass(low, high):
    """Return the normal probability between two quantiles."""
    if low > 0.0:
        low, high = -high, -low
    return 0.5 * (math.erfc(-high / math.sqrt(2.0)) - math.erfc(-low / math.sqrt(2.0)))


@kernel
def pieces(kinks, n):
    """Sort the first n kinks, and put the ends of the reach around them."""
    kinks[n], kinks[n + 1] = -REACH, REACH
    kinks[: n + 2].sort()
    return n + 1


@kernel
def prepare(a, b, table, dist, cached, path):
    """Tabulate one Beta, its log-odds along the normal quantile, and its points at the nodes of the first two steps."""
    build(a, b, table, dist)
    width = 2.0 * REACH / CELLS_OF_PATH
    before = (0.0, 0.0, 0.0, 0.0)
    for k in range(CELLS_OF_PATH + 1):
        w = -REACH + width * k
        y = of_normal(w, table, dist)
        p, q = probability(y)
        cached[k % 2, 0, k // 2], cached[k % 2, 1, k // 2] = p, q
        rate = _NORMAL * math.exp(-0.5 * w * w - log_shape(y, dist) + dist[LOG_SUM])  # dy/dw
        slope = dist[A] * q - dist[B] * p
        lean = -w - slope * rate
        bend = rate * lean
        third = bend * (lean - slope * rate) - rate * (1.0 - dist[SIZE] * p * q * rate * rate)
        now = (y, rate * width, 0.5 * bend * width**2, third * width**3 / 6.0)
        if k > 0:
            hermite(before, now, path[k - 1])
        before = now


@kernel
def _load(pair, slot, room):
    """Put a split's Beta into a slot: a number, or a table, which is built unless it is kept from another metric."""
    tables, dists, cached, paths = room.tables, room.dists, room.cached, room.paths
    dist = dists[slot]
    if not pair[0] > 0.0:
        dist[POINT], dist[P], dist[Q] = 1.0, pair[1], 1.0 - pair[1]
        return
    if dist[POINT] == 0.0 and dist[A] == pair[0] and dist[B] == pair[1]:
        return
    here = 0
    for k in range(SLOTS, SLOTS + KEPT):
        if dists[k, A] == pair[0] and dists[k, B] == pair[1]:
            here = k
            break
        if dists[k, SIZE] == 0.0:
            break
    if here == 0:
        here = k if dists[k, SIZE] == 0.0 else SLOTS + int(8.0 * pair[0] + 3.0 * pair[1]) % KEPT
        prepare(pair[0], pair[1], tables[here], dists[here], cached[here], paths[here])
    cells = int(dists[here, CELLS])
    tables[slot, :cells] = tables[here, :cells]
    dist[:] = dists[here]
    cached[slot] = cached[here]
    paths[slot] = paths[here]


@kernel
def load(room):
    """Put the distributions of the inner, the middle and the outer split into their slots, unless they are there."""
    if room.sizes[LOADED] == 0:
        room.sizes[LOADED] = 1
        for slot in range(3):
            _load(room.pairs[slot], slot, room)
