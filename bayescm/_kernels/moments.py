"""Mean and variance of a metric by a product of trapezoid rules."""

import math

import numpy as np

from bayescm._kernels.beta import POINT, A, B, P, Q
from bayescm._kernels.codes import CORRELATION, LEFT_INSIDE, ODDS_SQUARE, SQUARE
from bayescm._kernels.jit import kernel, vector_kernel
from bayescm._kernels.lattice import quadratic
from bayescm._kernels.nodes import point

_REACH = 6.4  # normal quantile
_MOST_STEPS = 128  # on either side of the median


@kernel
def moments(one):
    """Return mean and variance of the metric by a product of trapezoid rules, finer where a concentration is small."""
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


@vector_kernel
def _summed(shape, kind, num, den, nodes, weights, sizes):
    """Return mean and variance over the nodes in a ball."""
    middle = sizes // 2
    p, q, roots = nodes[0, 0], nodes[0, 1], np.sqrt(nodes[0, 0, : sizes[0]] * nodes[0, 1, : sizes[0]])
    centre = _coefficients(shape == LEFT_INSIDE, kind, num, den, nodes[2, :, middle[2]], nodes[1, :, middle[1]])
    pivot = _row(kind, centre, p, q, roots, np.ones_like(p), middle[0], middle[0] + 1, 0.0)[1]
    first = second = total = 0.0
    for i in range(sizes[2]):
        for j in range(sizes[1]):
            left = 1.0 - ((i - middle[2]) / max(middle[2], 1)) ** 2 - ((j - middle[1]) / max(middle[1], 1)) ** 2
            if left < 0.0:
                continue
            span = int(middle[0] * math.sqrt(left))
            c = _coefficients(shape == LEFT_INSIDE, kind, num, den, nodes[2, :, i], nodes[1, :, j])
            sums = _row(kind, c, p, q, roots, weights[0], middle[0] - span, middle[0] + span + 1, pivot)
            weight = weights[2, i] * weights[1, j]
            total += weight * sums[0]
            first += weight * sums[1]
            second += weight * sums[2]
    first /= total
    return pivot + first, max(second / total - first * first, 0.0)


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
    """Return the sums of weights, and of the metric less a pivot and its square, along the inner split."""
    sum0 = sum1 = sum2 = 0.0
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
        sum2 += weights[k] * value * value
    return sum0, sum1, sum2
