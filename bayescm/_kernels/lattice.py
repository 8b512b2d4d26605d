"""Two integrals by one lattice of nodes without kinks, for all values of a metric of one matrix: a second of the time.

The nodes lie in a circle of both normal quantiles, or inside a contour of the density in both log-odds where no
concentration is small; what the metric needs of the outer splits there is computed once.
A second lattice is shifted by half a step along the metric's gradient and by a quarter across, so that no direction and
no diagonal escapes: their mean is that of a finer one, and their difference tells how fine the first was. Where the
event's edge leaves (0, 1) within the circle both may agree on what is wrong: how much lies beyond is told too.
"""

import math

import numpy as np

from bayescm._kernels.beta import CELLS, LEFT, MEDIAN, RATE, describe, hermite, tails
from bayescm._kernels.codes import CORRELATION, LEFT_INSIDE
from bayescm._kernels.events import value_of
from bayescm._kernels.jit import kernel, vector_kernel
from bayescm._kernels.logits import DROP, LARGEST, LEAST, axis, steps, tabulate
from bayescm._kernels.nodes import FINE, NEAR, STEP, load, point

LEAST_SHARE = 0.3  # of the inner split in the variance: the integrand is narrow where it is less
_MOST = 4000  # nodes: some 200 for quantiles, 1,000 to 3,000 for tables
NODES = (2, 8, _MOST)
EDGES = (8, _MOST)
SMOOTH = (4.0, 3.0)  # concentration a: the edge leaves (0, 1) where the cdf is as flat as x^a; of fine lattices
_TINY, _HUGE = 1e-140, 1e140  # odds
BEYOND = math.exp(-0.5 * NEAR * NEAR)  # the circle
_NOTHING = 1e-13  # probability beyond the table
_HALF_ROOT = 0x3FE6A09E667F3BCD  # the bits of the root of 1/2: mantissas lie between it and the root of 2
_LOG_TWO = math.log(2.0)


@kernel
def spread_out(kind, shape, slopes, fine, room):
    """Fill both lattices with what the metric needs at each node, and tabulate the inner cdf itself.

    There are none where the inner split's share of the variance is small: the integrand is narrow there.

    Parameters
    ----------
    slopes : ndarray of shape (3,)
        Of the metric in the normal quantiles of the inner, the middle and the outer split.
    fine : int
        1 for a table of the cdf, 0 for quantiles.
    """
    along = math.sqrt(slopes[1] ** 2 + slopes[2] ** 2)
    share = slopes[0] ** 2 / (slopes[0] ** 2 + along**2) if along > 0.0 else 1.0
    if not share >= LEAST_SHARE:
        return
    in_logits = room.pairs.min() >= LEAST and room.pairs.max() <= LARGEST
    if in_logits:
        for i in range(3):
            describe(room.pairs[i, 0], room.pairs[i, 1], room.shapes[i])
        left, rate, cells, half = tabulate(room.shapes[0], fine, room.direct)
        room.inner[0], room.inner[1], room.inner[2], room.inner[3] = left, rate, cells, half
        in_logits = room.inner[2] > 0.0
    if not in_logits:
        if fine:
            return
        load(room)
        _tabulate(room)
    steps_of_logits = steps(slopes, fine)
    near, far = STEP * math.sqrt(min(2.0 * share, 1.0)), STEP
    for between in (1, 0):
        out, points = room.flat[between], room.edges
        if in_logits:
            n = _in_logits(steps_of_logits, between, fine, room)
        else:
            cos, sin = (slopes[2] / along, slopes[1] / along) if along > 0.0 else (1.0, 0.0)
            n = _in_normals(near, far, cos, sin, between, room)
        room.sizes[between] = n
        if n == 0:
            room.sizes[0] = 0
            return
        out[7, :n] /= out[7, :n].sum()
        if kind == CORRELATION:
            _prepare_correlation(shape == LEFT_INSIDE, n, points, out)
        else:
            _prepare_form(shape == LEFT_INSIDE, room.forms[0], n, points, out[:3])
            _prepare_form(shape == LEFT_INSIDE, room.forms[1], n, points, out[3:])


@kernel
def _in_logits(by, between, fine, room):
    """Fill points and weights of a lattice in log-odds; return their number, 0 without room."""
    points, weights, middle, outer = room.edges, room.flat[between, 7], room.axes[0], room.axes[1]
    rows = axis(room.shapes[1], by[0], 0.25 * between, fine, middle)
    columns = axis(room.shapes[2], by[1], 0.5 * between, fine, outer)
    n = 0
    for i in range(columns if rows > 0 else 0):
        for j in range(rows):
            weight = outer[2, i] * middle[2, j]
            if weight < DROP[fine]:
                continue
            if n == _MOST:
                return 0
            points[0, n], points[1, n], points[2, n], points[3, n] = (
                outer[0, i],
                outer[1, i],
                middle[0, j],
                middle[1, j],
            )
            weights[n] = weight
            n += 1
    return n


@kernel
def _in_normals(near, far, cos, sin, between, room):
    """Fill the same of a lattice in normal quantiles: near along the gradient of the metric, far across."""
    points, weights, n = room.edges, room.flat[between, 7], 0
    rows, columns = int(NEAR / near) + 1, int(NEAR / far)
    for i in range(-rows, rows + 1):
        s = (i + 0.5 * between) * near
        for j in range(-columns, columns + 1):
            t = (j + 0.25 * between) * far
            if s * s + t * t > NEAR * NEAR:
                continue
            points[0, n], points[1, n] = point(s * cos - t * sin, room.paths[2])
            points[2, n], points[3, n] = point(s * sin + t * cos, room.paths[1])
            weights[n] = math.exp(-0.5 * (s * s + t * t))
            n += 1
    return n


@vector_kernel
def quadratic(left, c, m, mq, v, vq):
    """Return the coefficients of the quadratic in the inner odds that a form is at a node."""
    if left:
        c2, c3 = mq * v, mq * vq
        rest = c[2, 2] * c2 * c2 + 2.0 * c[2, 3] * c2 * c3 + c[3, 3] * c3 * c3
        one, two = 2.0 * m * (c[0, 2] * c2 + c[0, 3] * c3), 2.0 * m * (c[1, 2] * c2 + c[1, 3] * c3)
        mm = m * m
        return c[0, 0] * mm + one + rest, 2.0 * c[0, 1] * mm + one + two + 2.0 * rest, c[1, 1] * mm + two + rest
    return (
        c[0, 0] * m * m + 2.0 * c[0, 1] * m * mq + c[1, 1] * mq * mq,
        2.0 * (m * (c[0, 2] * v + c[0, 3] * vq) + mq * (c[1, 2] * v + c[1, 3] * vq)),
        c[2, 2] * v * v + 2.0 * c[2, 3] * v * vq + c[3, 3] * vq * vq,
    )


@vector_kernel
def _prepare_form(left, c, n, points, out):
    """Fill these coefficients at each node."""
    for i in range(n):
        out[0, i], out[1, i], out[2, i] = quadratic(left, c, points[0, i], points[1, i], points[2, i], points[3, i])


@vector_kernel
def _prepare_correlation(left, n, points, out):
    """Fill what the Matthews correlation needs at each node."""
    for i in range(n):
        m, mq, v, vq = points[0, i], points[1, i], points[2, i], points[3, i]
        if left:
            out[0, i], out[1, i], out[2, i] = math.sqrt(m / mq), 1.0 / m, vq
            out[3, i], out[4, i], out[5, i] = v, 0.5 * (vq - v), v * vq
        else:
            det = m * vq - mq * v
            out[0, i], out[1, i], out[2, i] = 0.0, det * det, 0.0
            out[3, i], out[4, i], out[5, i], out[6, i] = m * mq, m * vq + mq * v, v * vq, det


@kernel
def _tabulate(room):
    """Tabulate the cdf itself, less 1 above the median, in the cells of the table of logarithms."""
    table, dist, direct = room.tables[0], room.dists[0], room.direct
    cells = int(dist[CELLS])
    median = int(dist[MEDIAN])
    room.inner[0], room.inner[1], room.inner[2], room.inner[3] = dist[LEFT], dist[RATE], cells, median
    before = (0.0, 0.0, 0.0, 0.0)
    for k in range(cells + 1):
        c = table[min(k, cells - 1)]
        if k < cells:
            c0, c1, c2, c3 = c[0], c[1], c[2], c[3]
        else:
            c0 = c1 = c2 = c3 = 0.0
            for i in range(8):
                c0 += c[i]
                c1 += i * c[i]
                c2 += 0.5 * i * (i - 1) * c[i]
                c3 += i * (i - 1) * (i - 2) / 6.0 * c[i]
        tail = math.exp(c0)
        v1, v2, v3 = tail * c1, tail * (0.5 * c1 * c1 + c2), tail * (c1 * c1 * c1 / 6.0 + c1 * c2 + c3)
        now = (tail, v1, v2, v3) if min(k, cells - 1) < median else (-tail, -v1, -v2, -v3)
        if k > 0:
            step = 1.0 if before[0] > 0.0 > now[0] else 0.0
            hermite(before, (now[0] + step, now[1], now[2], now[3]), direct[k - 1])
        before = now


@vector_kernel
def _edges(x, value, slope, of_root, n, nodes, out):
    """Fill odds of the upper and lower edge, their factors of the density, whether the event is outside, weights.

    Returns
    -------
    float
        How many of the lower edges aren't 0.
    """
    sign = -1.0 if of_root and x < 0.0 else 1.0
    lower_ones = 0.0
    for i in range(n):
        a = sign * (nodes[0, i] - value * nodes[3, i])
        b = sign * (nodes[1, i] - value * nodes[4, i])
        c = sign * (nodes[2, i] - value * nodes[5, i])
        other_side = (nodes[6, i] <= 0.0) == (x >= 0.0)  # read always: vectors are slow to leave out what is new memory
        if of_root and other_side:  # certain, or impossible
            a, b, c = -sign, 0.0, -sign
        square = b * b - 4.0 * a * c
        root = math.sqrt(max(square, 0.0))
        q = -0.5 * (b + math.copysign(root, b))
        r1 = q / (a if a != 0.0 else 1e-300)
        r2 = c / (q if q != 0.0 else 1e-300)
        there = square > 0.0
        high = min(max(max(r1, r2), _TINY), _HUGE) if there else _TINY
        low = min(max(min(r1, r2), _TINY), _HUGE) if there else _TINY
        scale = abs(slope) / max(root, 1e-150) if there else 0.0
        out[0, i], out[1, i] = high, low
        steep_high = scale * abs(nodes[3, i] * high + nodes[4, i] + nodes[5, i] / high)
        steep_low = scale * abs(nodes[3, i] * low + nodes[4, i] + nodes[5, i] / low)
        out[2, i] = steep_high if _TINY < high < _HUGE else 0.0
        out[3, i] = steep_low if _TINY < low < _HUGE else 0.0
        out[4, i] = 1.0 if a < 0.0 else 0.0
        lower_ones += 1.0 if low > _TINY else 0.0
    return lower_ones


@vector_kernel
def _edges_of_correlation(x, n, nodes, out):
    """Fill the same for the correlation with recall inside (see `events.wilson`)."""
    for i in range(n):
        k, s, sq = x * nodes[0, i], nodes[2, i], nodes[3, i]
        spread = math.sqrt(nodes[5, i] + 0.25 * k * k)
        size = abs(k)
        lean = nodes[4, i] if k > 0.0 else -nodes[4, i]
        stable = lean >= 0.0
        over = size * lean + spread if stable else nodes[5, i]
        shift = math.copysign(size * over / (1.0 + k * k if stable else spread - size * lean), k)
        recall, miss = sq + shift * nodes[1, i], s - shift * nodes[1, i]
        inside = recall > 0.0 and miss > 0.0
        out[0, i] = min(max(recall / miss, _TINY), _HUGE) if inside else (_TINY if recall <= 0.0 else _HUGE)
        bias, rest = sq + shift, s - shift
        square = max(bias * rest, 1e-300)
        under = (2.0 * math.sqrt(square) - k * (rest - bias)) * (recall * miss)
        steep = 2.0 * nodes[0, i] * square * nodes[1, i] / under
        out[2, i] = abs(steep) if inside else 0.0
        out[4, i] = 0.0


@vector_kernel
def _logarithms(odds, n, left, rate, parts, powers, out):
    """Fill the places of odds in the table: log m + k log 2 of m 2^k by the series of 2 atanh((m - 1) / (m + 1)).

    Coefficients and splitting are those of fdlibm's log; in loops that the processor's vectors can do.
    """
    whole, mantissas = odds.view(np.int64), parts.view(np.int64)
    for i in range(n):
        power = (whole[i] - _HALF_ROOT) >> 52
        mantissas[i] = whole[i] - (power << 52)
        powers[i] = power
    for i in range(n):
        f = parts[i] - 1.0
        s = f / (2.0 + f)
        z = s * s
        w = z * z
        odd = w * (0.3999999999940941908 + w * (0.2222219843214978396 + w * 0.1531383769920937332))
        even = 0.2857142874366239149 + w * (0.1818357216161805012 + w * 0.1479819860511658591)
        half = 0.5 * f * f
        log = f - (half - s * (half + odd + z * (0.6666666666666735130 + w * even)))
        out[i] = (powers[i] * _LOG_TWO + log - left) * rate


@vector_kernel
def _sums(places, factors, outside, weights, n, last, half, direct):
    """Return the sums of cdf, sf and density at places of the table, which holds minus the sf from `half` on."""
    low = high = density = 0.0
    for i in range(n):
        place = min(max(places[i], 0.0), last)
        k = int(place)
        t = place - k
        c = direct[k]
        value = c[0] + t * (c[1] + t * (c[2] + t * (c[3] + t * (c[4] + t * (c[5] + t * (c[6] + t * c[7]))))))
        slope = c[1] + t * (
            2.0 * c[2] + t * (3.0 * c[3] + t * (4.0 * c[4] + t * (5.0 * c[5] + t * (6.0 * c[6] + t * 7.0 * c[7]))))
        )
        above = 1.0 if place >= half else 0.0
        below, rest = value + above, (1.0 - above) - value
        low += weights[i] * (rest if outside[i] > 0.0 else below)
        high += weights[i] * (below if outside[i] > 0.0 else rest)
        density += weights[i] * (slope * factors[i] if place == places[i] else 0.0)
    return low, high, density


@vector_kernel
def _inside(odds, weights, n):
    """Return the weight of the nodes whose edge lies in (0, 1)."""
    total = 0.0
    for i in range(n):
        total += weights[i] if _TINY < odds[i] < _HUGE else 0.0
    return total


@kernel
def _part(lower, n, room, between):
    """Return the sums over the upper or the lower edges, with what lies beyond the table."""
    edges, weights = room.edges, room.flat[between, 7]
    odds, factors, places = edges[1 if lower else 0], edges[3 if lower else 2], edges[5]
    left, rate, cells = room.inner[0], room.inner[1], room.inner[2]
    _logarithms(odds, n, left, rate, edges[6], edges[7], places)
    end, half = np.nextafter(cells, 0.0), room.inner[3]  # at an end where the median lies beyond the table
    low, high, density = _sums(places, factors, edges[4], weights, n, end, half, room.direct)
    density *= rate
    first = room.direct[0, 0] + (1.0 if half <= 0.0 else 0.0)
    last = (0.0 if half < cells else 1.0) - room.direct[int(cells) - 1].sum()
    for i in range(n if max(first, last) > _NOTHING else 0):
        if (places[i] < 0.0 and first > _NOTHING) or (places[i] >= cells and last > _NOTHING):
            beyond, _, f = tails(left + places[i] / rate, room.tables[0], room.dists[0])
            clamped = first if places[i] < 0.0 else 1.0 - last
            more = weights[i] * (1.0 - 2.0 * edges[4, i]) * (beyond - clamped)
            low, high = low + more, high - more
            density += weights[i] * f * factors[i]
    return low, high, density


@kernel
def of_lattice(x, kind, shape, room, between):
    """Return cdf, sf and pdf of the metric at x by one of both lattices."""
    n, nodes, edges = room.sizes[between], room.flat[between], room.edges
    if kind == CORRELATION and shape == LEFT_INSIDE:
        _edges_of_correlation(x, n, nodes, edges)
        return _part(False, n, room, between)
    value, slope = (x * x, 2.0 * x) if kind == CORRELATION else value_of(x, kind)
    lower_ones = _edges(x, value, slope, kind == CORRELATION, n, nodes, edges)
    low, high, density = _part(False, n, room, between)
    if lower_ones > 0.0:
        low2, _, density2 = _part(True, n, room, between)
        for i in range(n):
            low2 -= nodes[7, i] * edges[4, i]  # of events outside of both edges, 1 less
        low, high, density = low - low2, high + low2, density + density2
    return low, high, density


@kernel
def beyond_kinks(single, room, between):
    """Return how much of a lattice lies beyond kinks of the integrand, for the edges that `of_lattice` has left.

    The lesser weight of two parts: where the edge of the event lies in (0, 1), and where not; or the sum of such
    weights of two edges. A single edge leaves smoothly where both concentrations are large.
    """
    n, weights, edges = room.sizes[between], room.flat[between, 7], room.edges
    upper, lower = _inside(edges[0], weights, n), 0.0 if single else _inside(edges[1], weights, n)
    if lower == 0.0 and room.pairs[0].min() >= SMOOTH[room.sizes[FINE]]:
        return 0.0
    return min(upper, 1.0 - upper) + min(lower, 1.0 - lower)
