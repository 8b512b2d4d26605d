"""Equal-tailed intervals of the Matthews correlation of a Dirichlet without small concentrations, quickly.

The cells hang on three independent Betas as in :mod:`bayescm._kernels.integrals`, two rates inside and outside one
share. Nodes of the outer two are uniform in log-odds and weighted by the exact density (the trapezoid rule), spaced by
the aliasing of a normal approximation; the inner cdf is tabulated by quintic cells of its density, without a log-gamma.
Quantiles start at Cornish and Fisher's and take Halley's steps. Nothing here is checked: it is for where all
concentrations are ten or more (`docs/decisions/0048`), and the edge of no event leaves (0, 1) but far out.
"""

import math

import numpy as np

from bayescm._kernels.jit import kernel, vector_kernel

_CELLS = 144
_LOG_ALIAS, _FINER = 18.0, 1.6  # minus the log of the aliasing, and how much finer the lattice is than that asks
_LOG_END = 24.0  # minus the log of the density, relative to the largest, beyond which there are no nodes
_DROP = 1e-10  # weight of a node, by the steps, that is none
_AXIS, _NODES = 400, 4000
_INNER_STEP = 0.75  # of the nodes that moments take, in standard deviations of the log-odds
_CLOSE = 1e-4  # standard deviations: the error after the step taken from there is of its third power
_STEPS = 6
_SMALL = 1e-3  # of a standard deviation, for derivatives
_DENSITY = 1.0 / math.sqrt(2.0 * math.pi)


@kernel
def _axis(a, b, step, odds, weights):
    """Fill nodes and weights of Beta(a, b), spaced by `step` standard deviations of the log-odds; return their number.

    Or 0, where there is no room for them.
    """
    mode, size, total, n = a / b, a + b, 0.0, 0
    high = math.log1p(mode)
    step *= math.sqrt(1.0 / a + 1.0 / b)
    for side in (1.0, -1.0):
        t, ratio = (0.0 if side > 0.0 else -step), math.exp(side * step)
        o = mode * math.exp(t)
        while True:
            log_weight = a * t - size * (math.log1p(o) - high)
            if log_weight < -_LOG_END:
                break
            if n == len(odds):
                return 0
            odds[n], weights[n] = o, math.exp(log_weight)
            total += weights[n]
            n += 1
            o *= ratio
            t += side * step
    for i in range(n):
        weights[i] /= total
    return n


@kernel
def _table(a, b, cells, density, slope):
    """Fill quintic cells of the cdf of Beta(a, b) in its log-odds; return where they begin, and their number a unit."""
    spread, mode, size = math.sqrt(1.0 / a + 1.0 / b), a / b, a + b
    high = math.log1p(mode)
    low, up = -5.0 * spread, 5.0 * spread
    while a * low - size * (math.log1p(mode * math.exp(low)) - high) > 1.0 - _LOG_END:
        low -= 0.5 * spread
    while a * up - size * (math.log1p(mode * math.exp(up)) - high) > 1.0 - _LOG_END:
        up += 0.5 * spread
    h = (up - low) / _CELLS
    ratio, t = math.exp(h), low - 2.0 * h
    o = mode * math.exp(t)
    for i in range(_CELLS + 5):
        density[i] = math.exp(a * t - size * (math.log1p(o) - high)) * h
        slope[i] = density[i] * h * (a - size * o / (1.0 + o))
        t += h
        o *= ratio
    total = 0.0
    for k in range(_CELLS):
        total += _between(density, k)
    below = 0.0
    for k in range(_CELLS):
        inside, v0, v1 = _between(density, k) / total, density[k + 2] / total, density[k + 3] / total
        d0, d1 = slope[k + 2] / total, slope[k + 3] / total
        r0, r1, r2 = inside - v0 - 0.5 * d0, v1 - v0 - d0, d1 - d0
        cells[k, 0], cells[k, 1], cells[k, 2] = below, v0, 0.5 * d0
        cells[k, 3] = 10.0 * r0 - 4.0 * r1 + 0.5 * r2
        cells[k, 4], cells[k, 5] = -15.0 * r0 + 7.0 * r1 - r2, 6.0 * r0 - 3.0 * r1 + 0.5 * r2
        below += inside
    return math.log(mode) + low, 1.0 / h


@kernel
def _between(f, k):
    """Return the integral over a cell, by the polynomial through six values."""
    return (11.0 * (f[k] + f[k + 5]) - 93.0 * (f[k + 1] + f[k + 4]) + 802.0 * (f[k + 2] + f[k + 3])) / 1440.0


@vector_kernel
def _edges(x, n, nodes, odds, slopes):
    """Fill the odds of the inner rate at which the correlation is x, and the rate of their logarithm."""
    for i in range(n):
        k = x * nodes[1, i]
        square = k * k
        spread, below = math.sqrt(nodes[5, i] + 0.25 * square), 1.0 / (1.0 + square)
        shift = (square * nodes[4, i] + k * spread) * below
        rate = (2.0 * k * nodes[4, i] + spread + 0.25 * square / spread - 2.0 * k * shift) * below * nodes[1, i]
        u, rest = nodes[2, i] + shift * nodes[0, i], nodes[3, i] - shift * nodes[0, i]
        inside = u > 0.0 and rest > 0.0
        u, rest = max(u, 1e-100), max(rest, 1e-100)
        odds[i] = u / rest
        slopes[i] = rate * nodes[0, i] / (u * rest) if inside else 0.0


@kernel
def _places(odds, n, start, rate, out):
    for i in range(n):
        out[i] = (math.log(odds[i]) - start) * rate


@vector_kernel
def _sums(n, places, slopes, weights, rate, cells):
    """Return cdf and density."""
    low = density = 0.0
    for i in range(n):
        place = min(max(places[i], 0.0), _CELLS - 1e-9)
        j = int(place)
        t, c = place - j, cells[j]
        low += weights[i] * (c[0] + t * (c[1] + t * (c[2] + t * (c[3] + t * (c[4] + t * c[5])))))
        each = c[1] + t * (2.0 * c[2] + t * (3.0 * c[3] + t * (4.0 * c[4] + t * 5.0 * c[5])))
        density += weights[i] * each * slopes[i]
    return low, density * rate


@vector_kernel
def _moments(n, nodes, weights, inner, u, inner_weights):
    """Return mean, sd, skewness and excess of the correlation."""
    s1 = s2 = s3 = s4 = total = 0.0
    for i in range(n):
        m = 1.0 / nodes[0, i]
        c = math.sqrt(m * (1.0 - m))
        for j in range(inner):
            called = m * u[j] + (1.0 - m) * nodes[2, i]
            x = (u[j] - nodes[2, i]) * c / math.sqrt(called * (1.0 - called))
            w = weights[i] * inner_weights[j]
            total += w
            s1 += w * x
            s2 += w * x * x
            s3 += w * x * x * x
            s4 += w * x * x * x * x
    s1, s2, s3, s4 = s1 / total, s2 / total, s3 / total, s4 / total
    variance = s2 - s1 * s1
    sd = math.sqrt(variance)
    skewness = (s3 - 3.0 * s1 * s2 + 2.0 * s1**3) / sd**3
    return s1, sd, skewness, (s4 - 4.0 * s1 * s3 + 6.0 * s1 * s1 * s2 - 3.0 * s1**4) / variance**2 - 3.0


@kernel
def _correlation(a, b, c, d):
    return (a * d - b * c) / math.sqrt((a + b) * (a + c) * (d + b) * (d + c))


@kernel
def _split(tp, fn, fp, tn, way):
    """Return the concentrations of the inner and of the outer rate, of classes or of predictions."""
    if way == 0:
        return tp, fn, fp, tn
    if way == 1:
        return tn, fp, fn, tp
    return (tp, fp, fn, tn) if way == 2 else (tn, fn, fp, tp)


@kernel
def _steps(cells):
    """Return the way in which the inner rate explains most, and the steps of the outer share and rate."""
    best, way, of_share, of_rate = -1.0, 0, 0.0, 0.0
    for k in range(4):
        a, b, c, d = _split(cells[0], cells[1], cells[2], cells[3], k)
        m, u, v, here = (a + b) / (a + b + c + d), a / (a + b), c / (c + d), _correlation(a, b, c, d)
        du = _SMALL * u * (1.0 - u) * math.sqrt(1.0 / a + 1.0 / b)
        dv = _SMALL * v * (1.0 - v) * math.sqrt(1.0 / c + 1.0 / d)
        dm = _SMALL * m * (1.0 - m) * math.sqrt(1.0 / (a + b) + 1.0 / (c + d))
        inner = _correlation(m * (u + du), m * (1.0 - u - du), (1.0 - m) * v, (1.0 - m) * (1.0 - v)) - here
        rate = _correlation(m * u, m * (1.0 - u), (1.0 - m) * (v + dv), (1.0 - m) * (1.0 - v - dv)) - here
        size = m + dm
        share = _correlation(size * u, size * (1.0 - u), (1.0 - size) * v, (1.0 - size) * (1.0 - v)) - here
        explained = inner**2 / (inner**2 + rate**2 + share**2)
        if explained > best:
            best, way, of_share, of_rate = explained, k, share, rate
    norm = math.sqrt(of_share**2 + of_rate**2) + 1e-300
    of_share, of_rate, rest = of_share / norm, of_rate / norm, 1.0 - best
    turn = 2.0 * math.pi
    first = turn * math.sqrt((1.0 - of_share**2 * rest) / (2.0 * _LOG_ALIAS))
    second = turn * math.sqrt((1.0 - of_rate**2 * rest) / (2.0 * _LOG_ALIAS))
    for _ in range(20):
        p, q = turn / first, turn / second
        damped = p * p * (1.0 - of_share**2 * rest) + q * q * (1.0 - of_rate**2 * rest)
        if 0.5 * (damped - 2.0 * p * q * abs(of_share * of_rate) * rest) >= _LOG_ALIAS:
            break
        first, second = 0.95 * first, 0.95 * second
    return way, first / _FINER, second / _FINER


@kernel
def equal_tails(a, levels):
    """Return mean, sd and quantiles of n matrices, (n, 2 + q); NaN where there is no room.

    Parameters
    ----------
    a : ndarray of shape (n, 4)
        Concentrations of tp, fn, fp, tn, one Dirichlet.
    levels : ndarray of shape (2, q)
        Probabilities, and their normal quantiles.
    """
    out = np.full((len(a), 2 + levels.shape[1]), np.nan)
    share, rate, inner = np.empty((2, _AXIS)), np.empty((2, _AXIS)), np.empty((2, _AXIS))
    nodes, weights = np.empty((6, _NODES)), np.empty(_NODES)
    cells, density, slope = np.empty((_CELLS, 6)), np.empty(_CELLS + 5), np.empty(_CELLS + 5)
    odds, slopes, places = np.empty(_NODES), np.empty(_NODES), np.empty(_NODES)
    for row in range(len(a)):
        way, of_share, of_rate = _steps(a[row])
        tp, fn, fp, tn = _split(a[row, 0], a[row, 1], a[row, 2], a[row, 3], way)
        shares, rates = _axis(tp + fn, fp + tn, of_share, share[0], share[1]), _axis(fp, tn, of_rate, rate[0], rate[1])
        n, room = 0, shares > 0 and rates > 0
        for i in range(shares if room else 0):
            p, root = share[0, i] / (1.0 + share[0, i]), math.sqrt(share[0, i])
            for j in range(rates):
                weight = share[1, i] * rate[1, j]
                if weight < _DROP * of_share * of_rate:
                    continue
                if n == _NODES:
                    room = False
                    break
                v, rest = rate[0, j] / (1.0 + rate[0, j]), 1.0 / (1.0 + rate[0, j])
                nodes[0, n], nodes[1, n], nodes[2, n], nodes[3, n] = 1.0 / p, root, v, rest
                nodes[4, n], nodes[5, n], weights[n] = 0.5 * (rest - v), v * rest, weight
                n += 1
        few = _axis(tp, fn, _INNER_STEP, inner[0], inner[1])
        if not room or few == 0:
            continue
        for i in range(few):
            inner[0, i] /= 1.0 + inner[0, i]
        mean, sd, skewness, excess = _moments(n, nodes, weights, few, inner[0], inner[1])
        start, unit = _table(tp, fn, cells, density, slope)
        out[row, 0], out[row, 1] = mean, sd
        for k in range(levels.shape[1]):
            target, z = levels[0, k], levels[1, k]
            bent = z + (z * z - 1.0) * skewness / 6.0 + (z**3 - 3.0 * z) * excess / 24.0
            x = min(max(mean + sd * (bent - (2.0 * z**3 - 5.0 * z) * skewness**2 / 36.0), -1.0 + 1e-9), 1.0 - 1e-9)
            near = _DENSITY * math.exp(-0.5 * z * z)
            for _ in range(_STEPS):
                _edges(x, n, nodes, odds, slopes)
                _places(odds, n, start, unit, places)
                low, height = _sums(n, places, slopes, weights, unit, cells)
                move = (low - target) / height
                if not abs(move) < sd:
                    move = math.copysign(sd, low - target)
                x -= move * (1.0 - 0.5 * move * z * height / near) if abs(move) * height < 0.3 * near else move
                x = min(max(x, -1.0 + 1e-9), 1.0 - 1e-9)
                if abs(move) < _CLOSE * sd:
                    out[row, 2 + k] = x
                    break
    return out
