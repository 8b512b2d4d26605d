"""Binomial deviances: their roots, their distribution under a Beta posterior, and the distribution of the sum of two.

The deviance of k successes in n trials at probability p is D(p) = 2 log(L(k/n) / L(p)). With x the log-odds of p minus
that of k/n, D = 2 (n log(1 + k/n (e^x - 1)) - k x), which is convex with its least value 0 at x = 0.

If p ~ Beta(a, b), D has the density d^(v - 1) exp(-d/2) E(d) with a smooth E: v = 1/2 where 0 < k < n (two roots),
v = a where k = 0, v = b where k = n. So E is a short Chebyshev series, the density of the sum of two independent
deviances is y^(v1 + v2 - 1) exp(-y/2) G(y) with G an integral of Gauss and Jacobi, and its cdf is one more such
integral.
"""

import math

import numpy as np

from bayescm._kernels.beta import (
    MIRRORED,
    MODE,
    SIZE,
    SMALL_SHARE,
    build,
    log_shape,
    of_normal,
    tails,
    to_normal,
)
from bayescm._kernels.codes import COEFFICIENTS, DESCRIPTION, FIT_CELLS, FITTED, SERIES, TABLE
from bayescm._kernels.jit import kernel
from bayescm._kernels.planes import powers, tabulated

_LOG_2 = math.log(2.0)
_ROUNDING = 1e-15
_REACH = 9.0  # of normal quantiles
_STIRLING = (1.0 / 12.0, 1.0 / 360.0, 1.0 / 1260.0, 1.0 / 1680.0, 1.0 / 1188.0)


@kernel
def _slope(k, n, x):
    """Return the derivative of the deviance, 2 (n p - k)."""
    inner = k / n * math.expm1(x)
    return 2.0 * (n - k) * inner / (1.0 + inner)


@kernel
def roots(k, n, limit, start_left, start_right):
    """Return the two x with deviance `limit` > 0, for 0 < k < n, by Newton's method from two x on their sides.

    For 2 k <= n little cancels in the deviance; otherwise take n - k, whose x are these with the other sign.
    """
    p = k / n
    left, right = start_left, start_right
    for side in range(2):
        x = left if side == 0 else right
        for _ in range(100):
            excess = 2.0 * (n * math.log1p(p * math.expm1(x)) - k * x) - limit
            step = excess / _slope(k, n, x)
            x -= step
            if abs(step) <= 1e-9 * abs(x):  # the next would be about its square
                break
        if side == 0:
            left = x
        else:
            right = x
    return left, right


@kernel
def bounds(k, n, limit, out):
    """Put the least and the largest p with a deviance of at most `limit` into `out` (matrices, 2)."""
    for i in range(len(k)):
        if n[i] == 0 or not limit[i] < math.inf:
            out[i, 0], out[i, 1] = 0.0, 1.0
        elif limit[i] <= 0.0:
            out[i, 0] = out[i, 1] = k[i] / n[i]
        elif k[i] == 0:
            out[i, 0], out[i, 1] = 0.0, -math.expm1(-limit[i] / (2.0 * n[i]))
        elif k[i] == n[i]:
            out[i, 0], out[i, 1] = math.exp(-limit[i] / (2.0 * n[i])), 1.0
        else:
            less = min(k[i], n[i] - k[i])
            width = math.sqrt(limit[i] / (less * (1.0 - less / n[i])))
            left, right = roots(less, n[i], limit[i], -width, width)
            odds = less / (n[i] - less)
            low, high = odds * math.exp(left), odds * math.exp(right)
            if less == k[i]:
                out[i, 0], out[i, 1] = low / (1.0 + low), high / (1.0 + high)
            else:
                out[i, 0], out[i, 1] = 1.0 / (1.0 + high), 1.0 / (1.0 + low)


@kernel
def _log_gamma_error(z):
    """Return log Gamma(z) minus Stirling's (z - 1/2) log z - z + log(2 pi)/2."""
    if z < 12.0:
        return math.lgamma(z) - ((z - 0.5) * math.log(z) - z + 0.5 * math.log(2.0 * math.pi))
    r = 1.0 / (z * z)
    s = _STIRLING
    return (s[0] - r * (s[1] - r * (s[2] - r * (s[3] - r * s[4])))) / z


@kernel
def _log_peak(a, b):
    """Return the largest log density of Beta(a, b) in log-odds, where the share of a is a / (a + b)."""
    n = a + b
    half = 0.5 * (math.log(a) + math.log(b) - math.log(n) - math.log(2.0 * math.pi))
    return half + _log_gamma_error(n) - _log_gamma_error(a) - _log_gamma_error(b)


@kernel
def smooth_part(k, n, a, b, most, nodes, out):
    """Put E(d) at d = most * nodes (increasing, in (0, 1)) into `out`; return v."""
    if k == 0 or k == n:
        mine, other = (a, b) if k == 0 else (b, a)
        log_beta = _log_gamma_error(mine) + _log_gamma_error(other) - _log_gamma_error(a + b)
        size = a + b
        log_beta += (mine - 0.5) * math.log(mine / size) + (other - 0.5) * math.log(other / size)
        log_beta += 0.5 * math.log(2.0 * math.pi) - 0.5 * math.log(size)
        for i in range(len(nodes)):
            d = most * nodes[i]
            p = -math.expm1(-d / (2.0 * n))
            out[i] = math.exp((mine - 1.0) * math.log(p / d) - other * d / (2.0 * n) + 0.5 * d - log_beta) / (2.0 * n)
        return mine
    if 2 * k > n:
        k, a, b = n - k, b, a
    dist = np.empty(DESCRIPTION)
    dist[SIZE], dist[SMALL_SHARE], dist[MODE] = a + b, min(a, b) / (a + b), math.log(a) - math.log(b)
    dist[MIRRORED] = 1.0 if a > b else 0.0
    peak = _log_peak(a, b)
    estimate = math.log(k) - math.log(n - k)
    right = math.sqrt(most * nodes[0] * n / (k * (n - k)))
    left = -right
    for i in range(len(nodes)):
        d = most * nodes[i]
        left, right = roots(k, n, d, left, right)
        total = 0.0
        for x in (left, right):
            total += math.exp(log_shape(estimate + x, dist) + peak + 0.5 * d) / abs(_slope(k, n, x))
        out[i] = total * math.sqrt(d)
    return 0.5


@kernel
def _series(values, cosines, out):
    """Put the Chebyshev coefficients of values at the nodes into `out`; return the size of the last and the largest."""
    n = len(values)
    largest = 0.0
    for m in range(n):
        total = 0.0
        for i in range(n):
            total += values[i] * cosines[m, i]
        out[m] = total * (1.0 if m == 0 else 2.0) / n
        largest = max(largest, abs(out[m]))
    return max(abs(out[n - 1]), abs(out[n - 2])), largest


@kernel
def clenshaw(c, t):
    """Return the Chebyshev series c at t in [-1, 1]."""
    b1, b2 = 0.0, 0.0
    for m in range(len(c) - 1, 0, -1):
        b1, b2 = 2.0 * t * b1 - b2 + c[m], b1
    return t * b1 - b2 + c[0]


@kernel
def _product(c, d, t, u):
    """Return c(t) d(u) of two Chebyshev series of one length, side by side because each step waits for the last."""
    b1, b2, e1, e2 = 0.0, 0.0, 0.0, 0.0
    for m in range(len(c) - 1, 0, -1):
        b1, b2 = 2.0 * t * b1 - b2 + c[m], b1
        e1, e2 = 2.0 * u * e1 - e2 + d[m], e1
    return (t * b1 - b2 + c[0]) * (u * e1 - e2 + d[0])


@kernel
def convolve(first, second, most, nodes, cosines, rule, series, work):
    """Put the Chebyshev coefficients of G on [0, most] into `series`.

    `first` and `second` are (k, n, a, b); `rule` is (nodes, weights) of Gauss and Jacobi on (0, 1) for their two v; a
    factor without trials has the deviance 0. Returns v1 + v2 and an estimate of the error of masses: the last
    coefficients and the rounding of the largest, weighed by the integrals that they go into.
    """
    if first[1] == 0 or second[1] == 0:
        one = second if first[1] == 0 else first
        power = smooth_part(one[0], one[1], one[2], one[3], most, nodes, work[0])
        end, largest = _series(work[0], cosines, series)
        return power, (end + _ROUNDING * largest) * math.exp(math.lgamma(power) + power * _LOG_2)
    one = smooth_part(first[0], first[1], first[2], first[3], most, nodes, work[0])
    other = smooth_part(second[0], second[1], second[2], second[3], most, nodes, work[1])
    power = one + other
    end_1, largest_1 = _series(work[0], cosines, work[2])
    end_2, largest_2 = _series(work[1], cosines, work[3])
    error = end_1 * largest_2 + end_2 * largest_1 + _ROUNDING * largest_1 * largest_2
    error *= math.exp(math.lgamma(one) + math.lgamma(other) - math.lgamma(power))
    for i in range(len(nodes)):
        total = 0.0
        for g in range(rule.shape[1]):
            t = 2.0 * nodes[i] * rule[0, g] - 1.0
            total += rule[1, g] * _product(work[2], work[3], t, 2.0 * nodes[i] - 2.0 - t)
        work[0, i] = total
    end, _ = _series(work[0], cosines, series)
    return power, (error + end) * math.exp(math.lgamma(power) + power * _LOG_2)


@kernel
def mass(q, most, power, series, rule):
    """Return the cdf of the sum at q <= most; `rule` is that of Gauss and Jacobi for s^(power - 1) on (0, 1)."""
    total = 0.0
    for g in range(rule.shape[1]):
        s = rule[0, g]
        total += rule[1, g] * math.exp(-0.5 * q * s) * clenshaw(series, 2.0 * q * s / most - 1.0)
    return total * q**power


@kernel
def masses(q, most, power, series, rule, out):
    """Put the cdf at many points into `out`; beyond `most` it is that of `most`."""
    for i in range(len(q)):
        out[i] = mass(min(q[i], most), most, power, series, rule)


@kernel
def _at(y, factor):
    """Return the deviance at the log-odds y."""
    k, n = factor[0], factor[1]
    if k == 0 or k == n:
        y = y if k == 0 else -y
        return 2.0 * n * (max(y, 0.0) + math.log1p(math.exp(-abs(y))))
    x = y - math.log(k) + math.log(n - k)
    if 2 * k > n:
        k, x = n - k, -x
    return max(2.0 * (n * math.log1p(k / n * math.expm1(x)) - k * x), 0.0) if x < 600.0 else 2.0 * (n - k) * x


@kernel
def _interval(limit, factor):
    """Return the log-odds between which the deviance is below `limit`."""
    k, n = factor[0], factor[1]
    if k == 0 or k == n:
        rest = math.expm1(limit / (2.0 * n)) if limit < 1400.0 * n else math.inf  # odds of the far end
        return (-math.inf, math.log(rest)) if k == 0 else (-math.log(rest), math.inf)
    less = min(k, n - k)
    width = math.sqrt(limit / (less * (1.0 - less / n)))
    left, right = roots(less, n, limit, -width, width)
    centre = math.log(k) - math.log(n - k)
    return (centre + left, centre + right) if less == k else (centre - right, centre - left)


@kernel
def _below(limit, factor, table, dist):
    """Return the probability of a deviance below `limit`."""
    if factor[1] == 0:
        return 1.0
    left, right = _interval(limit, factor)
    low, rest_low, _ = tails(left, table, dist)
    high, rest_high, _ = tails(right, table, dist)
    return high - low if low + high < 1.0 else rest_low - rest_high


@kernel
def direct_masses(first, second, q, nodes, weights, out):
    """Put the cdf of the sum at q into `out`: one integral over a normal quantile, where no series follows it.

    The deviance that varies less is integrated over, after a sine substitution with Gauss's rule on (-1, 1); the cdf of
    the other one is that of a Beta between two points.
    """
    tables, dists = np.empty((2, *TABLE)), np.empty((2, DESCRIPTION))
    spread = np.zeros(2)
    for i, factor in enumerate((first, second)):
        build(factor[2], factor[3], tables[i], dists[i])
        if factor[1] > 0:
            middle = _at(of_normal(0.0, tables[i], dists[i]), factor)
            for u in (-1.5, 1.5):
                spread[i] = max(spread[i], abs(_at(of_normal(u, tables[i], dists[i]), factor) - middle))
    if spread[0] >= spread[1]:
        inner, outer, i, o = first, second, 0, 1
    else:
        inner, outer, i, o = second, first, 1, 0
    for e in range(len(q)):
        if q[e] <= 0.0 or outer[1] == 0:
            out[e] = _below(q[e], inner, tables[i], dists[i]) if q[e] > 0.0 else 0.0
            continue
        left, right = _interval(q[e], outer)
        low, rest_low, _ = tails(left, tables[o], dists[o])
        high, rest_high, _ = tails(right, tables[o], dists[o])
        start, stop = max(to_normal(low, rest_low), -_REACH), min(to_normal(high, rest_high), _REACH)
        out[e] = 0.0
        if not start < stop:
            continue
        total = 0.0
        for g in range(len(nodes)):
            t = 0.5 * math.pi * nodes[g]
            u = 0.5 * (start + stop) + 0.5 * (stop - start) * math.sin(t)
            rest = q[e] - _at(of_normal(u, tables[o], dists[o]), outer)
            if rest > 0.0:
                density = math.exp(-0.5 * u * u) * math.cos(t) * weights[g]
                total += density * _below(rest, inner, tables[i], dists[i])
        out[e] = total * 0.25 * math.pi * (stop - start) / math.sqrt(2.0 * math.pi)


@kernel
def scales(factors, wanted, most, nodes, cosines, rules, of_pair, of_power, fit_nodes, fit_cosines, out, tables, table):
    """Map the statistics of matrices to the scale of chi-squared, -2 log(1 - mass).

    Parameters
    ----------
    factors : ndarray of shape (T, 2, 4)
        k, n, a, b of both factors.
    wanted : float
        Mass that has to be reached.
    most : ndarray of shape (T,)
        In: a first guess of the statistic that reaches it; out: one that does, if the series are good up to it.
    rules : ndarray of shape (R, 2, G)
    of_pair, of_power : ndarray of shape (T,)
        Which rule serves the convolution and the cdf of each matrix.
    out : ndarray of shape (T, FITTED)
        Coefficients of the polynomial; its error on the scale of mass; the error of masses; the mass reached; the
        statistic whose mass is `wanted`.
    tables : bool
        Whether to fill `table` (T, FIT_CELLS + 1) as well, which that statistic is then found in.
    """
    n = len(nodes)
    series = np.empty(n)
    work = np.empty((SERIES, n))
    f = len(fit_nodes)
    values, fit = np.empty(f), np.empty(f)
    target = -2.0 * math.log1p(-wanted)
    for t in range(len(factors)):
        rule = rules[of_power[t]]
        reached, power, error = 0.0, 1.0, 0.0
        for _ in range(12):
            power, error = convolve(
                factors[t, 0], factors[t, 1], most[t], nodes, cosines, rules[of_pair[t]], series, work
            )
            reached = mass(most[t], most[t], power, series, rule)
            if reached >= wanted or not error < 1e-7:
                break
            most[t] *= 1.5
        for i in range(f):
            values[i] = -2.0 * math.log(max(1.0 - mass(most[t] * fit_nodes[i], most[t], power, series, rule), 1e-15))
        _series(values, fit_cosines, fit)
        worst = 0.0
        for m in range(COEFFICIENTS, f):
            worst += abs(fit[m])
        _monomials(fit[:COEFFICIENTS], out[t])
        out[t, COEFFICIENTS : FITTED - 1] = np.array((0.5 * worst, error, reached))
        if tables:
            for i in range(FIT_CELLS + 1):
                q = most[t] * (i / FIT_CELLS) ** 2
                table[t, i] = -2.0 * math.log(max(1.0 - mass(q, most[t], power, series, rule), 1e-15))
        low, high = 0.0, most[t]
        for _ in range(40):
            q = 0.5 * (low + high)
            z = tabulated(q, most[t], table[t]) if tables else powers(out[t], 2.0 * q / most[t] - 1.0)
            low, high = (q, high) if z < target else (low, q)
        out[t, FITTED - 1] = high


@kernel
def _monomials(chebyshev, out):
    """Turn Chebyshev coefficients into those of powers."""
    n = len(chebyshev)
    before, now = np.zeros(n), np.zeros(n)
    before[0] = 1.0
    now[1] = 1.0
    out[:n] = 0.0
    out[0] = chebyshev[0]
    out[1] = chebyshev[1]
    for m in range(2, n):
        after = -before
        after[1:] += 2.0 * now[:-1]
        before, now = now, after
        out[:n] += chebyshev[m] * now
