"""The papers' region: the points whose posterior density is highest.

The mass above a density is summed over cells of the two independent Betas' normal quantiles: along one of them the
logarithm of the density is taken as straight inside a cell, along the other as that of its middle.
"""

import math

import numpy as np

from bayescm._kernels.beta import build, of_normal
from bayescm._kernels.codes import DESCRIPTION, STEPS, TABLE
from bayescm._kernels.jit import kernel
from bayescm._kernels.planes import to_log_rest

REACH = 5.5
"""Of the cells, in standard deviations."""
CELLS = 256
_FAR = 80.0


@kernel
def _nodes(a, b, offset, out):
    """Put log p and log(1 - p) at the quantiles of Beta(a, b) into `out` (2, nodes)."""
    table, dist = np.empty(TABLE), np.empty(DESCRIPTION)
    build(a, b, table, dist)
    step = 2.0 * REACH / CELLS
    for i in range(out.shape[1]):
        y = of_normal(-REACH + (i + offset) * step, table, dist)
        e = math.log1p(math.exp(-abs(y)))
        out[0, i], out[1, i] = min(y, 0.0) - e, min(-y, 0.0) - e


@kernel
def _softplus(y):
    return max(y, 0.0) + math.log1p(math.exp(-abs(y)))


@kernel
def _log_density(u, v, is_trinomial, w):
    """Return the log density at log p, log(1 - p) of both factors, by the six weights."""
    if is_trinomial:
        a = u[1] + v[0] - u[0]
        b = u[1] + v[1] - u[0]
        return w[0] + w[1] * a - w[2] * _softplus(a) - w[3] * u[0] + w[4] * b - w[5] * _softplus(b)
    return w[0] + w[1] * u[0] + w[2] * u[1] + w[3] * v[0] + w[4] * v[1]


@kernel
def tabulate(concentrations, is_trinomial, w, table):
    """Put -2 log(1 - mass of higher densities) into `table`, from the least density up.

    `concentrations` is (2, 2): those of both factors. Returns the log density where the table begins, and its step.
    """
    u, v = np.empty((2, CELLS + 1)), np.empty((2, CELLS))
    _nodes(concentrations[0, 0], concentrations[0, 1], 0.0, u)
    _nodes(concentrations[1, 0], concentrations[1, 1], 0.5, v)
    values = np.empty((CELLS, CELLS + 1))
    for j in range(CELLS):
        for i in range(CELLS + 1):
            values[j, i] = _log_density(u[:, i], v[:, j], is_trinomial, w)
    highest = values.max()
    lowest = max(values.min(), highest - 2.0 * _FAR)
    step = (highest - lowest) / STEPS
    share = np.empty(CELLS)
    edge = 2.0 * REACH / CELLS
    for i in range(CELLS):
        left, right = -REACH + i * edge, -REACH + (i + 1) * edge
        share[i] = 0.5 * abs(math.erfc(abs(left) / math.sqrt(2.0)) - math.erfc(abs(right) / math.sqrt(2.0)))
    above = np.zeros(STEPS + 1)  # mass of cells entirely above a step, to be summed from the top
    part = np.zeros(STEPS + 1)
    for j in range(CELLS):
        for i in range(CELLS):
            mass = share[i] * share[j]
            low = (min(values[j, i], values[j, i + 1]) - lowest) / step
            high = (max(values[j, i], values[j, i + 1]) - lowest) / step
            if low >= 0.0:
                above[min(int(low), STEPS)] += mass
            for k in range(max(math.floor(low) + 1, 0), min(math.ceil(high), STEPS + 1)):
                part[k] += mass * (high - k) / (high - low)
    total = 0.0
    for k in range(STEPS, -1, -1):
        total += above[k]
        table[k] = -2.0 * math.log(max(1.0 - total - part[k], 1e-15))
    return lowest, step


@kernel
def look_up(f, lowest, step, table):
    """Return the value of the table at a log density."""
    place = (f - lowest) / step
    if place >= STEPS:
        return table[STEPS]
    if place < 0.0:
        return math.inf
    k = int(place)
    return table[k] + (place - k) * (table[k + 1] - table[k])


@kernel
def reduce(planes, weights, lowest, step, tables, cap, out):
    """Put log(1 - level) of the least value of the tables over all matrices into `out`, without windows."""
    rows, full, columns = planes
    for i in range(len(out)):
        row = out[i]
        row[:] = cap
        plane = full[min(i, len(full) - 1)]
        for t in range(len(weights)):
            w = weights[t]
            constant = w[0] + w[1] * rows[0, i] + w[2] * rows[1, i]
            table = tables[t]
            for j in range(len(row)):
                f = constant + w[3] * plane[j] + w[4] * columns[0, j] + w[5] * columns[1, j]
                if f > lowest[t]:
                    row[j] = min(row[j], look_up(f, lowest[t], step[t], table))
        to_log_rest(row)


@kernel
def look_up_many(f, lowest, step, which, tables):
    """Return the values of tables at log densities (E,)."""
    out = np.empty(len(f))
    for e in range(len(f)):
        out[e] = look_up(f[e], lowest[e], step[e], tables[which[e]])
    return out
