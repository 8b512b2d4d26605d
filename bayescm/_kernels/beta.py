"""The distribution of a Beta variable, tabulated in its log-odds.

In y = log(x / (1 - x)) the density f = x^a (1-x)^b / B is smooth for every a, b > 0 and log-concave, so the logarithm
of the lower tail F (left of the median) and of the upper tail S (right of it) are smooth too: polynomials of degree 7
through value and three derivatives at the ends of cells of a quarter of a standard deviation (an eighth in y at most)
give both tails to 1e-11, relatively. Beyond the cells the tails are a power series. The table is normalised by its own
sum: no gamma functions.
"""

import math

import numpy as np

from bayescm._kernels.codes import DESCRIPTION, MAX_CELLS
from bayescm._kernels.jit import kernel

WIDTH = 0.25  # of a cell, in local standard deviations
_FAR = -60.0  # log of the density relative to its mode where the table may end: 1e-26
_SMALL = 2.0**-10  # ratio of the terms of the tail's series where the table may end
_ROOT_HALF = math.sqrt(0.5)
_GAUSS_X, _GAUSS_W = (np.array(v) for v in np.polynomial.legendre.leggauss(6))

# places in the array that describes a distribution
LEFT, RATE, CELLS, MEDIAN, A, B, LOG_SUM, SIZE, SMALL_SHARE, MODE, MIRRORED, POINT, P, Q = range(DESCRIPTION)


@kernel
def log_shape(y, dist):
    """Return the log density in y relative to its mode, without cancellation for a, b up to 1e12."""
    d = y - dist[MODE]
    if dist[MIRRORED] > 0:
        d = -d
    share = dist[SMALL_SHARE]
    if d < 500.0:  # beyond, where e^d is no number, d and the logarithm lose what they share
        return dist[SIZE] * (share * d - math.log1p(share * math.expm1(d)))
    return dist[SIZE] * (share * d - d - math.log(share + (1.0 - share) * math.exp(-d)))


@kernel
def _series(a, b, x):
    """Return F a / f: the sum of (a+b)_k / (a+1)_k x^k, or Mills' ratio where it converges slowly."""
    if (a + b) * x >= 0.5 * (a + 1.0):
        return a / max(a - (a + b) * x, 1e-300)
    total, term, k = 1.0, 1.0, 1.0
    while term > 1e-17 * total:
        term *= (a + b + k - 1.0) / (a + k) * x
        total += term
        k += 1.0
    return total


@kernel
def probability(y):
    """Return x and 1 - x."""
    e = math.exp(-abs(y))
    small, large = e / (1.0 + e), 1.0 / (1.0 + e)
    return (large, small) if y >= 0 else (small, large)


@kernel
def describe(a, b, dist):
    """Put what :func:`log_shape` needs of Beta(a, b) into `dist` (DESCRIPTION,)."""
    dist[A], dist[B], dist[SIZE], dist[POINT] = a, b, a + b, 0.0
    dist[SMALL_SHARE] = min(a, b) / (a + b)
    dist[MIRRORED] = 1.0 if a > b else 0.0
    dist[MODE] = math.log(a) - math.log(b)


@kernel
def build(a, b, table, dist):
    """Tabulate Beta(a, b) into `table` (of shape TABLE) and `dist` (DESCRIPTION,)."""
    describe(a, b, dist)
    n, mode = dist[SIZE], dist[MODE]
    width = WIDTH * min(0.5, math.sqrt(1.0 / a + 1.0 / b))
    most = MAX_CELLS // 2 - 1
    below, above = 1, 1
    while below < most:
        y = mode - below * width
        if log_shape(y, dist) < _FAR or n * probability(y)[0] < _SMALL * (a + 1.0):
            break
        below += 1
    while above < most:
        y = mode + above * width
        if log_shape(y, dist) < _FAR or n * probability(y)[1] < _SMALL * (b + 1.0):
            break
        above += 1
    cells = below + above
    left = mode - below * width
    dist[LEFT], dist[RATE], dist[CELLS] = left, 1.0 / width, cells
    lower, upper, density = np.empty(cells + 1), np.empty(cells + 1), np.empty(cells + 1)
    density[0] = math.exp(log_shape(left, dist))
    lower[0] = density[0] / a * _series(a, b, probability(left)[0])
    for k in range(cells):
        table[k, 0], density[k + 1] = _over_cell(left + width * (k + 0.5), 0.5 * width, dist)
        lower[k + 1] = lower[k] + table[k, 0]
    right = left + cells * width
    upper[cells] = density[cells] / b * _series(b, a, probability(right)[1])
    for k in range(cells - 1, -1, -1):
        upper[k] = upper[k + 1] + table[k, 0]
    total = lower[below] + upper[below]
    dist[LOG_SUM] = math.log(total)
    median = 0
    while median < cells and lower[median] <= upper[median]:
        median += 1
    dist[MEDIAN] = median  # cells before it hold log F, the others log S
    start = end = (0.0, 0.0, 0.0, 0.0)
    for k in range(cells):
        tails, sign = (lower, 1.0) if k < median else (upper, -1.0)
        if k in (0, median):
            end = _taylor(left + k * width, width, tails[k], density[k], sign, dist)
        start = end
        end = _taylor(left + (k + 1) * width, width, tails[k + 1], density[k + 1], sign, dist)
        hermite(start, end, table[k])


@kernel
def _over_cell(y, half, dist):
    """Return the integral of the density, relative to its mode, from y - half to y + half; and the density there.

    The logarithm is a polynomial of degree 7 around y, its integral Gauss's with six nodes.
    """
    p, q = probability(y)
    u, lean = p * q, q - p
    c1, c2 = half * (dist[A] * q - dist[B] * p), -0.5 * half**2 * dist[SIZE] * u
    c3, c4 = half / 3.0 * c2 * lean, half**2 / 12.0 * c2 * (1.0 - 6.0 * u)
    c5, c6 = half**2 / 20.0 * c3 * (1.0 - 12.0 * u), half**4 / 360.0 * c2 * (1.0 - 30.0 * u + 120.0 * u * u)
    c7 = half**4 / 840.0 * c3 * (1.0 - 60.0 * u + 360.0 * u * u)
    total = 0.0
    for i in range(len(_GAUSS_X)):
        s = _GAUSS_X[i]
        total += _GAUSS_W[i] * math.exp(s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * (c5 + s * (c6 + s * c7)))))))
    top = math.exp(log_shape(y, dist))
    return half * total * top, top * math.exp(c1 + c2 + c3 + c4 + c5 + c6 + c7)


@kernel
def _taylor(y, width, tail, f, sign, dist):
    """Return the Taylor coefficients of log tail in units of a cell's width; `sign` is +1 for F, -1 for S."""
    x, rest = probability(y)
    slope = dist[A] * rest - dist[B] * x  # of log f
    curve = -dist[SIZE] * x * rest
    h1 = sign * f / tail
    h2 = h1 * (slope - h1)
    h3 = h2 * (slope - h1) + h1 * (curve - h2)
    return math.log(tail) - dist[LOG_SUM], width * h1, width**2 * h2 / 2.0, width**3 * h3 / 6.0


@kernel
def hermite(start, end, out):
    """Fill the coefficients of the polynomial of degree 7 through the Taylor coefficients at both ends of a cell."""
    v0, c1, c2, c3 = start
    r0 = end[0] - v0 - c1 - c2 - c3
    r1 = end[1] - c1 - 2.0 * c2 - 3.0 * c3
    r2 = end[2] - c2 - 3.0 * c3
    r3 = end[3] - c3
    out[0], out[1], out[2], out[3] = v0, c1, c2, c3
    out[4] = 35.0 * r0 - 15.0 * r1 + 5.0 * r2 - r3
    out[5] = -84.0 * r0 + 39.0 * r1 - 14.0 * r2 + 3.0 * r3
    out[6] = 70.0 * r0 - 34.0 * r1 + 13.0 * r2 - 3.0 * r3
    out[7] = -20.0 * r0 + 10.0 * r1 - 4.0 * r2 + r3


@kernel
def _value(c, t):
    return c[0] + t * (c[1] + t * (c[2] + t * (c[3] + t * (c[4] + t * (c[5] + t * (c[6] + t * c[7]))))))


@kernel
def _slope(c, t):
    return c[1] + t * (
        2.0 * c[2] + t * (3.0 * c[3] + t * (4.0 * c[4] + t * (5.0 * c[5] + t * (6.0 * c[6] + t * 7.0 * c[7]))))
    )


@kernel
def tails(y, table, dist):
    """Return F(y), S(y) = 1 - F(y) and the density f(y); the smaller tail has its full relative precision."""
    if math.isnan(y):
        return math.nan, math.nan, math.nan
    place = (y - dist[LEFT]) * dist[RATE]
    if place < 0.0:
        f = math.exp(log_shape(y, dist) - dist[LOG_SUM]) if y > -1e300 else 0.0
        low = f / dist[A] * _series(dist[A], dist[B], probability(y)[0])
        return low, 1.0 - low, f
    if place >= dist[CELLS]:
        f = math.exp(log_shape(y, dist) - dist[LOG_SUM]) if y < 1e300 else 0.0
        high = f / dist[B] * _series(dist[B], dist[A], probability(y)[1])
        return 1.0 - high, high, f
    k = int(place)
    c = table[k]
    tail = math.exp(_value(c, place - k))
    f = abs(_slope(c, place - k)) * dist[RATE] * tail
    if k < dist[MEDIAN]:
        return tail, 1.0 - tail, f
    return 1.0 - tail, tail, f


@kernel
def quantile(log_tail, is_lower, table, dist):
    """Return y where F (or S) has a given logarithm of at most log(1/2)."""
    cells, median = int(dist[CELLS]), int(dist[MEDIAN])
    width = 1.0 / dist[RATE]
    from_left = is_lower
    if is_lower:
        first, last = 0, median - 1
        inside = median > 0 and log_tail >= table[0, 0]
        if inside and median == cells and log_tail > _value(table[cells - 1], 1.0):
            inside = from_left = False  # the median lies right of the table
    elif median == 0 and log_tail > table[0, 0]:
        first = last = 0
        inside, from_left = False, True  # the median lies left of it
    else:
        first, last = median, cells - 1
        end = _value(table[cells - 1], 1.0)
        inside = log_tail >= (end if median < cells else math.log1p(-math.exp(end)))
        if inside and (median == cells or log_tail > table[median, 0]):
            log_tail, is_lower = math.log1p(-math.exp(log_tail)), True  # in the cell of the median, which holds F
            first = last = median - 1
            if median == cells:
                first = 0
    if inside:
        while first < last:  # the last cell that begins before the target
            middle = (first + last + 1) // 2
            if (table[middle, 0] <= log_tail) == is_lower:
                first = middle
            else:
                last = middle - 1
        c = table[first]
        t = (log_tail - c[0]) / (_value(c, 1.0) - c[0])
        for _ in range(20):
            step = (_value(c, t) - log_tail) / _slope(c, t)
            t -= step
            if abs(step) < 1e-9:  # the next would be its square
                break
        return dist[LEFT] + width * (first + t)
    y = dist[LEFT] if from_left else dist[LEFT] + width * cells
    for _ in range(60):  # beyond the table: nearly a straight line
        low, high, f = tails(y, table, dist)
        tail = low if is_lower else high
        if tail <= 0.0:
            return y
        step = (math.log(tail) - log_tail) * tail / f
        y += -step if is_lower else step
        if abs(step) <= 1e-15 * abs(y):
            break
    return y


@kernel
def of_normal(w, table, dist):
    """Return y at the same probability as the normal quantile w."""
    return quantile(math.log(0.5 * math.erfc(abs(w) * _ROOT_HALF)), w <= 0.0, table, dist)


@kernel
def to_normal(low, high):
    """Return the normal quantile of a probability given by both its tails (Wichura 1988, AS 241)."""
    q = min(low, high)
    if q <= 0.0:
        return -math.inf if low < high else math.inf
    if q > 0.075:
        d = 0.5 - q
        r = 0.180625 - d * d
        top = (
            (((((2509.0809287301226727 * r + 33430.575583588128105) * r + 67265.770927008700853) * r
               + 45921.953931549871457) * r + 13731.693765509461125) * r + 1971.5909503065514427) * r
            + 133.14166789178437745
        ) * r + 3.387132872796366608  # fmt: skip
        under = (
            (((((5226.495278852545925 * r + 28729.085735721942674) * r + 39307.89580009271061) * r
               + 21213.794301586595867) * r + 5394.1960214247511077) * r + 687.1870074920579083) * r
            + 42.313330701600911252
        ) * r + 1.0  # fmt: skip
        z = d * top / under
    else:
        r = math.sqrt(-math.log(q))
        if r <= 5.0:
            r -= 1.6
            top = (
                (((((7.7454501427834140764e-4 * r + 0.0227238449892691845833) * r + 0.24178072517745061177) * r
                   + 1.27045825245236838258) * r + 3.64784832476320460504) * r + 5.7694972214606914055) * r
                + 4.6303378461565452959
            ) * r + 1.42343711074968357734  # fmt: skip
            under = (
                (((((1.05075007164441684324e-9 * r + 5.475938084995344946e-4) * r + 0.0151986665636164571966) * r
                   + 0.14810397642748007459) * r + 0.68976733498510000455) * r + 1.6763848301838038494) * r
                + 2.05319162663775882187
            ) * r + 1.0  # fmt: skip
        else:
            r -= 5.0
            top = (
                (((((2.01033439929228813265e-7 * r + 2.71155556874348757815e-5) * r + 0.0012426609473880784386) * r
                   + 0.026532189526576123093) * r + 0.29656057182850489123) * r + 1.7848265399172913358) * r
                + 5.4637849111641143699
            ) * r + 6.6579046435011037772  # fmt: skip
            under = (
                (((((2.04426310338993978564e-15 * r + 1.4215117583164458887e-7) * r + 1.8463183175100546818e-5) * r
                   + 7.868691311456132591e-4) * r + 0.0148753612908506148525) * r + 0.13692988092273580531) * r
                + 0.59983220655588793769
            ) * r + 1.0  # fmt: skip
        z = top / under
    return -z if low < high else z
