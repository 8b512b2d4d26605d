"""Two rates of a unit whose logits are normal together: the mode of their density, and its integral.

Adaptive Gauss-Hermite quadrature about the mode (Pinheiro and Bates 1995); the density is log concave.
"""

import math

import numpy as np

from bayescm._kernels.jit import kernel, vector_kernel

_STEPS, _CLOSE = 100, 1e-9  # of Newton's rule: at most, and twice what is left to gain
_LEAST = 40.0  # minus the log of what is nothing beside 1
_LOG = tuple(1.0 / (2 * k + 1) for k in range(14))  # of the series of artanh, which leaves 9^-14 / 29 = 2e-15


@vector_kernel
def _exp(x):
    """Return exp(-x) of a positive number, of larger ones that of _LEAST: right to 5e-11, and in vectors."""
    r = -min(x, _LEAST) / 256.0
    p = 1.0 + r * (
        1.0 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040 + r / 40320))))))
    )
    for _ in range(8):
        p *= p
    return p


@vector_kernel
def _log(x):
    """Return log(1 + x) for x from 0 to 1."""
    z = x / (2.0 + x)
    total = 0.0
    for k in range(len(_LOG)):
        total = _LOG[-1 - k] + z * z * total
    return 2.0 * z * total


@kernel
def _start(right, wrong, mean, precision):
    """Return a logit between the mean and what was seen."""
    weight = 0.25 * (right + wrong) + 0.1
    return mean + weight / (weight + precision) * (math.log((right + 0.5) / (wrong + 0.5)) - mean)


@vector_kernel
def _minus_log(right, wrong, x, small):
    """Return minus the log of a binomial density at a logit, `small` being exp(-abs(x)): nothing cancels."""
    return (right + wrong) * _log(small) + max(wrong * x, -right * x)


@kernel
def _slope(right, wrong, x, small):
    """Return the derivative of the log of a binomial density."""
    return (right * small - wrong if x > 0.0 else right - wrong * small) / (1.0 + small)


@vector_kernel
def _sum(right, wrong, x, others, weights):
    """Return the weighted sum of binomial densities at logits times exp(-others)."""
    total = 0.0
    for j in range(len(x)):
        below = _minus_log(right, wrong, x[j], _exp(abs(x[j]))) + others[j]
        total += weights[j] * _exp(max(below, 0.0))
    return total


@kernel
def _mode(y1, y2, w1, w2, m1, m2, a11, a22, a12):
    """Return the mode, minus the log density there, and its curvature (11, 22), by Newton's rule.

    Steps are shortened where they overshoot.
    """
    x1, x2, d1, d2, part, least = _start(y1, w1, m1, a11), _start(y2, w2, m2, a22), 0.0, 0.0, 1.0, math.inf
    from1, from2, h11, h22 = x1, x2, a11, a22
    for _ in range(_STEPS):
        e1, e2, s1, s2 = x1 - m1, x2 - m2, math.exp(-abs(x1)), math.exp(-abs(x2))
        now = _minus_log(y1, w1, x1, s1) + _minus_log(y2, w2, x2, s2) + 0.5 * (a11 * e1 * e1 + a22 * e2 * e2)
        now += a12 * e1 * e2
        if now > least:
            part *= 0.25
        else:
            from1, from2, least = x1, x2, now
            g1 = _slope(y1, w1, x1, s1) - (a11 * e1 + a12 * e2)
            g2 = _slope(y2, w2, x2, s2) - (a12 * e1 + a22 * e2)
            h11, h22 = (y1 + w1) * s1 / (1.0 + s1) ** 2 + a11, (y2 + w2) * s2 / (1.0 + s2) ** 2 + a22
            determinant = h11 * h22 - a12 * a12
            d1, d2 = (h22 * g1 - a12 * g2) / determinant, (h11 * g2 - a12 * g1) / determinant
            if g1 * d1 + g2 * d2 < _CLOSE:
                break
            part = min(1.0, 2.0 * part)
        x1, x2 = from1 + part * d1, from2 + part * d2
    return from1, from2, least, h11, h22


@kernel
def integrate(right, wrong, means, precision, nodes, weights, out):
    """Fill mode (2), factor of the inverse curvature there (11, 21, 22), and the log of the integral.

    Parameters
    ----------
    right, wrong : ndarray of shape (2, units)
    means : ndarray of shape (n, 2, units)
        Of the logits.
    precision : ndarray of shape (n, 3)
        Of the normal: 11, 22, 12.
    nodes : ndarray of shape (m,)
        Of the standard normal; without any there is no integral.
    weights : ndarray of shape (m * m,)
        Of pairs of nodes, times exp(node^2 / 2) of both.
    out : ndarray of shape (n, 6, units)
        The log is without the binomial coefficients and the normal's constant.
    """
    z2 = np.empty(len(weights))
    others = np.empty_like(z2)  # apart: rows of an array would have any strides, and no vectors
    for k in range(len(means)):
        a11, a22, a12 = precision[k]
        for u in range(means.shape[2]):
            y1, y2, w1, w2, m1, m2 = right[0, u], right[1, u], wrong[0, u], wrong[1, u], means[k, 0, u], means[k, 1, u]
            x1, x2, least, h11, h22 = _mode(y1, y2, w1, w2, m1, m2, a11, a22, a12)
            determinant = h11 * h22 - a12 * a12
            c11 = math.sqrt(h22 / determinant)
            c21, c22 = -a12 / determinant / c11, math.sqrt(1.0 / h22)
            out[k, 0, u], out[k, 1, u], out[k, 2, u], out[k, 3, u], out[k, 4, u] = x1, x2, c11, c21, c22
            n = 0
            for first in nodes:
                z1, middle = x1 + c11 * first, x2 + c21 * first
                e1 = z1 - m1
                of_first = _minus_log(y1, w1, z1, math.exp(-abs(z1))) + 0.5 * a11 * e1 * e1 - least
                for second in nodes:
                    z2[n] = middle + c22 * second
                    e2 = z2[n] - m2
                    others[n] = of_first + (0.5 * a22 * e2 + a12 * e1) * e2
                    n += 1
            out[k, 5, u] = math.log(_sum(y2, w2, z2, others, weights) * c11 * c22) - least
