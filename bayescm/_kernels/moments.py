"""Mean, variance, skewness and excess of a metric by a product of trapezoid rules."""

import math

import numpy as np

from bayescm._kernels.beta import POINT, A, B, P, Q
from bayescm._kernels.codes import CORRELATION, LEFT_INSIDE, ODDS_SQUARE, SQUARE
from bayescm._kernels.jit import kernel, vector_kernel
from bayescm._kernels.lattice import quadratic
from bayescm._kernels.logits import DROP, axis
from bayescm._kernels.nodes import LOADED, load, point

_REACH = 6.4  # normal quantile
_MOST_STEPS = 128  # on either side of the median
_STEP = 0.75  # standard deviations of the inner log-odds, between nodes on a lattice


@kernel
def moments(one):
    """Return these of the metric, by more nodes where a concentration is small; or on a lattice just filled."""
    if one.room.sizes[0] > 0 and one.room.sizes[LOADED] == 0:
        return _on_lattice(one)
    load(one.room)
    dists, paths, (num, den) = one.room.dists, one.room.paths, (one.room.forms[0], one.room.forms[1])
    nodes = np.empty((3, 2, 2 * _MOST_STEPS + 1))
    weights = np.empty((3, 2 * _MOST_STEPS + 1))
    sizes = np.empty(3, np.int64)
    for i in range(3):
        if dists[i, POINT] > 0:
            sizes[i], nodes[i, 0, 0], nodes[i, 1, 0], weights[i, 0] = 1, dists[i, P], dists[i, Q], 1.0
            continue
        least = min(dists[i, A], dists[i, B])
        half = 8 if least >= 2.0 else (16 if least >= 0.4 else (64 if least >= 0.1 else _MOST_STEPS))
        for k in range(2 * half + 1):
            w = _REACH * (k / half - 1.0)
            nodes[i, 0, k], nodes[i, 1, k] = point(w, paths[i])
            weights[i, k] = math.exp(-0.5 * w * w)
        sizes[i] = 2 * half + 1
    return _summed(one.shape, one.kind, num, den, nodes, weights, sizes)


@kernel
def _on_lattice(one):
    room, inner, total, n = one.room, one.room.axes[0], np.zeros(5), one.room.sizes[0]
    nodes, points, value, ps, qs = room.flat[0], room.edges, room.edges[4], room.edges[5], room.edges[6]
    m, mq, u, uq = (points[0], points[1], ps, qs) if one.shape == LEFT_INSIDE else (ps, qs, points[0], points[1])
    for k in range(axis(room.shapes[0], _STEP, 0.0, 0, inner)):
        p, q = inner[0, k], inner[1, k]
        if inner[2, k] < DROP[0]:
            continue
        if one.kind != CORRELATION:
            _ratios(p * p, p * q, q * q, nodes, n, value)
            for i in range(n if one.kind == SQUARE or one.kind == ODDS_SQUARE else 0):
                value[i] = math.sqrt(value[i]) if one.kind == SQUARE else 1.0 / (1.0 + 1.0 / math.sqrt(value[i]))
        else:
            ps[:n], qs[:n] = p, q
            _correlations(m, mq, u, uq, points[2], points[3], n, value)
        if k == 0:
            pivot = value[0]  # all splits at their modes
        _add(inner[2, k], pivot, value, nodes[7], n, total)
    return standardised(pivot, total)


@vector_kernel
def _ratios(pp, pq, qq, nodes, n, out):
    """Fill the ratio of two forms at one value of the inner split and all nodes."""
    for i in range(n):
        over = nodes[0, i] * pp + nodes[1, i] * pq + nodes[2, i] * qq
        out[i] = over / (nodes[3, i] * pp + nodes[4, i] * pq + nodes[5, i] * qq)


@vector_kernel
def _correlations(m, mq, u, uq, v, vq, n, out):
    """Fill the Matthews correlation at all nodes; the first of the inner split is at its mode."""
    for i in range(n):
        rest = (m[i] * u[i] + mq[i] * v[i]) * (m[i] * uq[i] + mq[i] * vq[i])
        out[i] = (u[i] * vq[i] - uq[i] * v[i]) * math.sqrt(m[i] * mq[i] / rest)


@vector_kernel
def _add(weight, pivot, values, weights, n, total):
    """Add the sums of weights and of the powers to the fourth of values less a pivot."""
    s0 = s1 = s2 = s3 = s4 = 0.0
    for i in range(n):
        x = values[i] - pivot
        w = weights[i]
        s0 += w
        s1 += w * x
        s2 += w * x * x
        s3 += w * x * x * x
        s4 += w * x * x * x * x
    total[0] += weight * s0
    total[1] += weight * s1
    total[2] += weight * s2
    total[3] += weight * s3
    total[4] += weight * s4


@kernel
def standardised(pivot, total):
    """Return mean, variance, skewness and excess of sums of weights and of the powers of a value less a pivot."""
    s1, s2, s3, s4 = total[1] / total[0], total[2] / total[0], total[3] / total[0], total[4] / total[0]
    variance = max(s2 - s1 * s1, 0.0)
    third, fourth = s3 - 3.0 * s1 * s2 + 2.0 * s1**3, s4 - 4.0 * s1 * s3 + 6.0 * s1 * s1 * s2 - 3.0 * s1**4
    if not variance > 0.0:
        return pivot + s1, 0.0, 0.0, 0.0
    return pivot + s1, variance, third / variance**1.5, fourth / variance**2 - 3.0


@vector_kernel
def _summed(shape, kind, num, den, nodes, weights, sizes):
    """Return the moments over the nodes in a ball."""
    middle = sizes // 2
    p, q, roots = nodes[0, 0], nodes[0, 1], np.sqrt(nodes[0, 0, : sizes[0]] * nodes[0, 1, : sizes[0]])
    centre = _coefficients(shape == LEFT_INSIDE, kind, num, den, nodes[2, :, middle[2]], nodes[1, :, middle[1]])
    pivot = _row(kind, centre, p, q, roots, np.ones_like(p), middle[0], middle[0] + 1, 0.0)[1]
    total = np.zeros(5)
    for i in range(sizes[2]):
        for j in range(sizes[1]):
            left = 1.0 - ((i - middle[2]) / max(middle[2], 1)) ** 2 - ((j - middle[1]) / max(middle[1], 1)) ** 2
            if left < 0.0:
                continue
            span = int(middle[0] * math.sqrt(left))
            c = _coefficients(shape == LEFT_INSIDE, kind, num, den, nodes[2, :, i], nodes[1, :, j])
            sums = _row(kind, c, p, q, roots, weights[0], middle[0] - span, middle[0] + span + 1, pivot)
            weight = weights[2, i] * weights[1, j]
            for k in range(5):
                total[k] += weight * sums[k]
    return standardised(pivot, total)


@vector_kernel
def _coefficients(left, kind, num, den, outer, right):
    """Return what a metric needs of the outer and the right split: two quadratics in the inner one."""
    (m, mq), (v, vq) = (outer[0], outer[1]), (right[0], right[1])
    if kind != CORRELATION:
        return (*quadratic(left, num, m, mq, v, vq), *quadratic(left, den, m, mq, v, vq))
    if left:
        c2, c3, root = mq * v, mq * vq, math.sqrt(m * mq)
        return root * vq, -root * v, 0.0, (m + c2) * c3, (m + c2) * (m + c3) + c2 * c3, c2 * (m + c3)
    return 0.0, 0.0, m * vq - mq * v, m * mq, m * vq + mq * v, v * vq


@vector_kernel
def _row(kind, c, p, q, roots, weights, first, last, pivot):
    """Return the sums of weights, and of the powers to the fourth of the metric less a pivot, along the inner split."""
    sum0 = sum1 = sum2 = sum3 = sum4 = 0.0
    for k in range(first, last):
        pp, pq, qq = p[k] * p[k], p[k] * q[k], q[k] * q[k]
        under = c[3] * pp + c[4] * pq + c[5] * qq
        if kind == CORRELATION:
            value = (c[0] * p[k] + c[1] * q[k] + c[2] * roots[k]) / math.sqrt(under)
        else:
            value = (c[0] * pp + c[1] * pq + c[2] * qq) / under
            if kind == SQUARE:
                value = math.sqrt(value)
            elif kind == ODDS_SQUARE:
                value = 1.0 / (1.0 + 1.0 / math.sqrt(value))
        value -= pivot
        sum0 += weights[k]
        sum1 += weights[k] * value
        square = value * value
        sum2 += weights[k] * square
        sum3 += weights[k] * square * value
        sum4 += weights[k] * square * square
    return sum0, sum1, sum2, sum3, sum4
