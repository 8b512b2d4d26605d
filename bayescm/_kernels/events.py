"""Events {metric <= x} along one Beta: quadratic inequalities in its odds, and where their edges leave (0, 1)."""

import math
from typing import Any, NamedTuple

from bayescm._kernels.beta import POINT, P, Q, tails, to_normal
from bayescm._kernels.codes import CORRELATION, LEFT_INSIDE, ODDS_SQUARE, ROOT_INSIDE, SQUARE
from bayescm._kernels.jit import kernel
from bayescm._kernels.nodes import MIDDLE, REACH

MOST_KINKS = 12  # of one event along one Beta: two on each of five segments; and the ends of the reach


class Event(NamedTuple):
    """{metric <= x} on a tree: the form at most 0 there, its slope in x, the metric's scale, the tree's shape."""

    c: Any
    slope: Any
    x: float
    kind: int
    shape: int


class Line(NamedTuple):
    """An event at one outer node: quadratics alpha o^2 + beta o + gamma in the inner odds o, and their slopes in x.

    Each of the three is a quadratic form in (v, 1 - v) of the right split: its coefficients follow one another.
    """

    value: Any
    slope: Any
    x: float
    kind: int
    shape: int
    m: float
    mq: float


@kernel
def value_of(x, scale):
    """Return the value of num / den at a metric's value, and its slope."""
    if scale == SQUARE:
        return x * x, 2.0 * x
    if scale == ODDS_SQUARE:
        odds = x / (1.0 - x)
        return odds * odds, 2.0 * odds / (1.0 - x) ** 2
    return x, 1.0


@kernel
def metric_of(value, scale):
    """Return the metric at a value of num / den."""
    if scale == SQUARE:
        return math.sqrt(value)
    if scale == ODDS_SQUARE:
        root = math.sqrt(value)
        return 1.0 if math.isinf(root) else root / (1.0 + root)
    return value


@kernel
def form(a, c0, c1, c2, c3):
    """Return the quadratic form c'Ac."""
    return (
        a[0, 0] * c0 * c0 + a[1, 1] * c1 * c1 + a[2, 2] * c2 * c2 + a[3, 3] * c3 * c3
        + 2.0 * (a[0, 1] * c0 * c1 + a[0, 2] * c0 * c2 + a[0, 3] * c0 * c3)
        + 2.0 * (a[1, 2] * c1 * c2 + a[1, 3] * c1 * c3 + a[2, 3] * c2 * c3)
    )  # fmt: skip


@kernel
def metric_at(c0, c1, c2, c3, num, den, kind):
    """Return the metric of four cells in the order of the forms."""
    if kind == CORRELATION:
        return (c0 * c3 - c1 * c2) / math.sqrt((c0 + c1) * (c2 + c3) * ((c0 + c2) * (c1 + c3)))
    return metric_of(form(num, c0, c1, c2, c3) / form(den, c0, c1, c2, c3), kind)


@kernel
def roots(a, b, c):
    """Return the number of positive roots of a z^2 + b z + c where its sign changes, and these in order."""
    disc = b * b - 4.0 * a * c
    if not disc >= 0.0 or (a == 0.0 and b == 0.0):
        return 0, 0.0, 0.0
    q = -0.5 * (b + math.copysign(math.sqrt(max(disc, 0.0)), b))
    r1 = q / a if a != 0.0 else -1.0
    r2 = c / q if q != 0.0 else -1.0
    low, high = min(r1, r2), max(r1, r2)
    if low > 0.0 and high > low:
        return 2, low, high
    if high > 0.0 and low <= 0.0:
        return 1, high, 0.0
    return 0, 0.0, 0.0


@kernel
def _add_kink(odds, dist, table, kinks, n):
    """Add the normal quantile of some odds to the kinks, if it is within reach."""
    if odds > 0.0 and odds < math.inf:
        low, high, _ = tails(math.log(odds), table, dist)
        w = to_normal(low, high)
        if abs(w) < REACH:
            kinks[n] = w
            return n + 1
    return n


@kernel
def _cells(shape, p, q, v, vq, m, mq):
    """Return the cells at inner split (p, q), right split (v, vq) and outer split (m, mq)."""
    if shape == LEFT_INSIDE:
        return m * p, m * q, mq * v, mq * vq
    return m * p, mq * p, q * v, q * vq


@kernel
def _add_roots(a, b, c, dist, table, kinks, n):
    """Add where a z^2 + b z + c changes its sign in the odds z."""
    count, first, second = roots(a, b, c)
    if count > 0:
        n = _add_kink(first, dist, table, kinks, n)
    if count > 1:
        n = _add_kink(second, dist, table, kinks, n)
    return n


@kernel
def _on_segment(c, x, y):
    """Return the quadratic in z that the form is at z x + y, two points of the simplex."""
    cross = 0.0
    for i in range(4):
        for j in range(4):
            cross += 2.0 * x[i] * c[i, j] * y[j]
    return form(c, x[0], x[1], x[2], x[3]), cross, form(c, y[0], y[1], y[2], y[3])


@kernel
def _event(alpha, beta, gamma, d_alpha, d_beta, d_gamma, table, dist):
    """Return probability, complement and density of {alpha o^2 + beta o + gamma <= 0} in the odds o of the inner Beta.

    The density is -1 where the event is certain or impossible.
    """
    count, first, second = roots(alpha, beta, gamma)
    if count == 0:
        return (1.0, 0.0, -1.0) if alpha + beta + gamma <= 0.0 else (0.0, 1.0, -1.0)
    low, high, f = tails(math.log(first), table, dist)
    density = f * abs((d_alpha * first + d_beta + d_gamma / first) / (2.0 * alpha * first + beta))
    if count == 1:
        return (low, high, density) if (gamma if gamma != 0.0 else beta) <= 0.0 else (high, low, density)
    low2, high2, f2 = tails(math.log(second), table, dist)
    density += f2 * abs((d_alpha * second + d_beta + d_gamma / second) / (2.0 * alpha * second + beta))
    between = low2 - low if low2 < 0.5 else high - high2
    return (low + high2, between, density) if gamma <= 0.0 else (between, low + high2, density)


@kernel
def wilson(x, m, mq, s, sq):
    """Return recall and 1 - recall where the Matthews correlation is x, at prevalence m and specificity s.

    With B the share of predicted positives it solves B - (1-s) = k sqrt(B (1-B)), k = x sqrt(m / (1-m)): the edge is
    Wilson's. recall = (1-s) + (B - (1-s)) / m. Also B - (1-s).
    """
    k = x * math.sqrt(m / mq)
    spread = math.sqrt(s * sq + 0.25 * k * k)
    size = abs(k)
    lean = 0.5 * (s - sq) if k > 0 else 0.5 * (sq - s)
    stable = lean >= 0.0  # nothing cancels
    shift = size * (size * lean + spread) / (1.0 + k * k) if stable else size * s * sq / (spread - size * lean)
    if k < 0:
        shift = -shift
    return sq + shift / m, s - shift / m, shift


@kernel
def _correlation(x, m, mq, s, sq, table, dist):
    """Return the same for {Matthews correlation <= x}, with recall inside."""
    recall, miss, shift = wilson(x, m, mq, s, sq)
    if recall <= 0.0:
        return 0.0, 1.0, -1.0
    if miss <= 0.0:
        return 1.0, 0.0, -1.0
    low, high, f = tails(math.log(recall / miss), table, dist)
    bias, rest = sq + shift, s - shift
    root = math.sqrt(bias * rest)
    k = x * math.sqrt(m / mq)
    density = f * math.sqrt(m / mq) * root / (m * (1.0 - k * (rest - bias) / (2.0 * root))) / (recall * miss)
    return low, high, abs(density)


@kernel
def _correlation_root(x, r, rq, s, sq, table, dist):
    """Return the same with the prevalence inside, at recall r and specificity s."""
    det = r * s - rq * sq
    if (det <= 0.0) == (x >= 0.0):
        return (1.0, 0.0, -1.0) if det <= 0.0 else (0.0, 1.0, -1.0)
    x2 = x * x
    sign = 1.0 if x >= 0.0 else -1.0
    alpha, beta, gamma = -x2 * r * rq, det * det - x2 * (r * s + rq * sq), -x2 * s * sq
    d_alpha, d_beta, d_gamma = -2.0 * x * r * rq, -2.0 * x * (r * s + rq * sq), -2.0 * x * s * sq
    return _event(sign * alpha, sign * beta, sign * gamma, d_alpha, d_beta, d_gamma, table, dist)


@kernel
def _quadratics(c, shape, m, mq):
    """Return the coefficients of v^2, v (1 - v) and (1 - v)^2 in alpha, in beta and in gamma."""
    if shape == LEFT_INSIDE:
        mm, cross, rest = m * m, 2.0 * m * mq, mq * mq
        r22, r23, r33 = rest * c[2, 2], 2.0 * rest * c[2, 3], rest * c[3, 3]
        a2, a3, g2, g3 = cross * c[0, 2], cross * c[0, 3], cross * c[1, 2], cross * c[1, 3]
        a, b, g = mm * c[0, 0], 2.0 * mm * c[0, 1], mm * c[1, 1]
        return (
            a + a2 + r22, 2.0 * a + a2 + a3 + r23, a + a3 + r33,
            b + a2 + g2 + 2.0 * r22, 2.0 * b + a2 + a3 + g2 + g3 + 2.0 * r23, b + a3 + g3 + 2.0 * r33,
            g + g2 + r22, 2.0 * g + g2 + g3 + r23, g + g3 + r33,
        )  # fmt: skip
    a = c[0, 0] * m * m + 2.0 * c[0, 1] * m * mq + c[1, 1] * mq * mq
    b2, b3 = 2.0 * (m * c[0, 2] + mq * c[1, 2]), 2.0 * (m * c[0, 3] + mq * c[1, 3])
    return a, 2.0 * a, a, b2, b2 + b3, b3, c[2, 2], 2.0 * c[2, 3], c[3, 3]


@kernel
def line_of(event, m, mq):
    """Return the event at one outer node."""
    values, slopes = _quadratics(event.c, event.shape, m, mq), _quadratics(event.slope, event.shape, m, mq)
    return Line(values, slopes, event.x, event.kind, event.shape, m, mq)


@kernel
def conditional(line, v, vq, table, dist):
    """Return the inner probability at one node of the right split."""
    c, d, x, kind, shape, m, mq = line
    if kind == CORRELATION:
        if shape == LEFT_INSIDE:
            return _correlation(x, m, mq, vq, v, table, dist)
        return _correlation_root(x, m, mq, vq, v, table, dist)
    vv, cross, rest = v * v, v * vq, vq * vq
    return _event(
        c[0] * vv + c[1] * cross + c[2] * rest, c[3] * vv + c[4] * cross + c[5] * rest,
        c[6] * vv + c[7] * cross + c[8] * rest, d[0] * vv + d[1] * cross + d[2] * rest,
        d[3] * vv + d[4] * cross + d[5] * rest, d[6] * vv + d[7] * cross + d[8] * rest, table, dist,
    )  # fmt: skip


@kernel
def _centre(split, room):
    """Return what a split is known to be, or its median."""
    dist, median = room.dists[split], room.cached[split, 0, :, MIDDLE]
    return (dist[P], dist[Q]) if dist[POINT] > 0.0 else (median[0], median[1])


@kernel
def middle_kinks(line, room, soft, kinks):
    """Find where the inner event's edge leaves (0, 1) as the right split varies; return their number.

    With `soft` also where the edge passes the inner distribution's median: a step, if that distribution is narrow.
    """
    c, _, x, kind, shape, m, mq = line
    dist, table = room.dists[1], room.tables[1]
    p, q = _centre(0, room)
    n = 0
    if kind == CORRELATION:  # split = (FPR, specificity)
        if soft:
            at, recall, miss = (m, p, q) if shape == LEFT_INSIDE else (p, m, mq)
            specificity, rest, _ = wilson(x, 1.0 - at, at, recall, miss)
            n = _add_kink(rest / specificity, dist, table, kinks, n)
        if shape == LEFT_INSIDE:
            share = x * x / (m + x * x * mq)
            rest = m * (1.0 - x * x) / (m + x * x * mq)
            return _add_kink(rest / share if x >= 0 else share / rest, dist, table, kinks, n)
        # sqrt(r s) - sqrt((1-r)(1-s)) = x: the largest correlation at any prevalence; for x < 0 the mirror image
        first, second = (m, mq) if x >= 0.0 else (mq, m)
        angle = math.acos(abs(x)) - math.atan2(math.sqrt(second), math.sqrt(first))
        if angle <= 0.0 or angle >= 0.5 * math.pi:
            return n
        odds = math.tan(angle) ** 2
        return _add_kink(odds if x >= 0.0 else 1.0 / odds, dist, table, kinks, n)
    for i in range(3 if soft else 2):
        a, b = (p, q) if i == 2 else (1.0 - i, 1.0 * i)
        aa, ab, bb = a * a, a * b, b * b
        n = _add_roots(
            aa * c[0] + ab * c[3] + bb * c[6], aa * c[1] + ab * c[4] + bb * c[7], aa * c[2] + ab * c[5] + bb * c[8],
            dist, table, kinks, n,
        )  # fmt: skip
    return n


@kernel
def outer_kinks(event, room, soft, kinks):
    """Find where the middle kinks leave (0, 1): roots of the form on the edges of the simplex of cells.

    With `soft` also where the event's edge passes the medians of the other two distributions.
    """
    c, _, x, kind, shape = event
    dist, table = room.dists[2], room.tables[2]
    (p, q), (v, vq) = _centre(0, room), _centre(1, room)
    n = 0
    if kind == CORRELATION:
        if not soft:
            return 0
        if shape == ROOT_INSIDE:
            recall, miss, _ = wilson(x, p, q, vq, v)
            return _add_kink(recall / miss, dist, table, kinks, n)
        x2, det = x * x, p * vq - q * v
        if (det > 0.0) != (x > 0.0):
            return 0
        return _add_roots(-x2 * p * q, det * det - x2 * (p * vq + q * v), -x2 * v * vq, dist, table, kinks, n)
    for i in range(3 if soft else 2):
        for j in range(3 if soft else 2):
            if (i == 2) == (j == 2):
                a, b = (p, q) if i == 2 else (1.0 - i, 1.0 * i)
                d, e = (v, vq) if j == 2 else (1.0 - j, 1.0 * j)
                quadratic = _on_segment(c, _cells(shape, a, b, d, e, 1.0, 0.0), _cells(shape, a, b, d, e, 0.0, 1.0))
                n = _add_roots(*quadratic, dist, table, kinks, n)
    return n
