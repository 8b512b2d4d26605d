"""Mean and variance of a metric by a product of trapezoid rules."""

import math

import numpy as np

from bayescm._kernels.beta import POINT, A, B, P, Q
from bayescm._kernels.codes import ROOT_INSIDE
from bayescm._kernels.events import metric_at
from bayescm._kernels.jit import kernel, vector_kernel
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
    pivot = _value(shape, kind, num, den, nodes, middle[2], middle[1], middle[0])
    first = second = total = 0.0
    for i in range(sizes[2]):
        for j in range(sizes[1]):
            left = 1.0 - ((i - middle[2]) / max(middle[2], 1)) ** 2 - ((j - middle[1]) / max(middle[1], 1)) ** 2
            if left < 0.0:
                continue
            span = int(middle[0] * math.sqrt(left))
            sum0 = sum1 = sum2 = 0.0
            for k in range(middle[0] - span, middle[0] + span + 1):
                value = _value(shape, kind, num, den, nodes, i, j, k) - pivot
                sum0 += weights[0, k]
                sum1 += weights[0, k] * value
                sum2 += weights[0, k] * value * value
            weight = weights[2, i] * weights[1, j]
            total += weight * sum0
            first += weight * sum1
            second += weight * sum2
    first /= total
    return pivot + first, max(second / total - first * first, 0.0)


@vector_kernel
def _value(shape, kind, num, den, nodes, i, j, k):
    """Return the metric at nodes of the outer, the middle and the inner split."""
    p, q, m, mq = nodes[0, 0, k], nodes[0, 1, k], nodes[2, 0, i], nodes[2, 1, i]
    if shape == ROOT_INSIDE:
        p, q, m, mq = m, mq, p, q
    return metric_at(m * p, m * q, mq * nodes[1, 0, j], mq * nodes[1, 1, j], num, den, kind)
