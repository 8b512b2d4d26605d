"""Nodes and a table of Betas in their log-odds, where no concentration is small: without logarithms of tails.

The trapezoid rule in log-odds, weighted by the exact density, converges as fast as that density is smooth; how close
the nodes must be along each of two Betas follows from the aliasing of a normal approximation.
"""

import math

from bayescm._kernels.beta import MODE, SIZE, A, B, hermite, log_shape, probability
from bayescm._kernels.codes import MAX_CELLS
from bayescm._kernels.jit import kernel

LEAST, LARGEST = 2.0, 1e12  # concentrations: the tails in log-odds are longer below, steps no numbers far above
MOST_ON_AXIS = 400
_LOG_ALIAS = 18.0  # minus the log of the aliasing of the normal approximation
FINER = (1.25, 2.4)  # how much finer the lattices are than that asks: for quantiles, for tables of the cdf
_LONGEST = (0.4, 0.25)  # step in logits
_WIDTHS = (0.2, 0.1)  # of cells, in standard deviations, or logits where that is less
_LOG_ENDS = (24.0, 34.0)  # minus the log of the density, relative to the largest, beyond which there is nothing
DROP = (1e-9, 1e-15)  # product of two such densities below which there is no node


@kernel
def _spread(dist):
    return math.sqrt(1.0 / dist[A] + 1.0 / dist[B])


@kernel
def axis(dist, step, shift, fine, out):
    """Fill `out` (3, n) with p, 1 - p and density of nodes `step` standard deviations apart; return n, 0 without room.

    Small concentrations want them closer: the transform of a log-gamma density dies no faster than exp(-pi w / 2).

    The first node above the mode lies a share `shift` of a step from it.
    """
    step, n = min(step * _spread(dist), _LONGEST[fine]), 0
    for side in (1, -1):
        k = 0 if side > 0 else -1
        while True:
            y = dist[MODE] + (k + shift) * step
            log_density = log_shape(y, dist)
            if log_density < -_LOG_ENDS[fine]:
                break
            if n == out.shape[1]:
                return 0
            out[0, n], out[1, n] = probability(y)
            out[2, n] = math.exp(log_density)
            n += 1
            k += side
    return n


@kernel
def tabulate(dist, fine, direct):
    """Fill `direct` with the cdf of a Beta, less 1 above its mode, in cells of its log-odds.

    Return the first place, cells a logit, cells and those below the mode; no cells where there is no room for them.
    """
    spread, mode, end = _spread(dist), dist[MODE], 1.0 - _LOG_ENDS[fine]
    low, high = mode - 5.0 * spread, mode + 5.0 * spread
    while log_shape(low, dist) > end:
        low -= 0.5 * spread
    while log_shape(high, dist) > end:
        high += 0.5 * spread
    cells = int((high - low) / (_WIDTHS[fine] * min(spread, 1.0))) + 1
    if cells >= MAX_CELLS:
        return 0.0, 0.0, 0, 0
    h = (high - low) / cells
    for k in range(cells + 1):  # density and two derivatives as of a series, by cells, and the integral before it
        y = low + k * h
        p, q = probability(y)
        lean, f = h * (dist[A] * q - dist[B] * p), h * math.exp(log_shape(y, dist))
        c = direct[k]
        c[0], c[1], c[2] = f, 0.5 * f * lean, f * (lean * lean - h * h * dist[SIZE] * p * q) / 6.0
        if k > 0:
            b = direct[k - 1]
            b[3] = 0.5 * (b[0] + c[0]) + 0.2 * (b[1] - c[1]) + 0.05 * (b[2] + c[2])
    half, below, above = int((mode - low) / h), 0.0, 0.0
    for k in range(half):
        b, c = direct[k], direct[k + 1]
        inside = b[3]
        hermite((below, b[0], b[1], b[2]), (below + inside, c[0], c[1], c[2]), b)
        below += inside
    after = direct[cells].copy()
    for k in range(cells - 1, half - 1, -1):
        b = direct[k]
        now, inside = b.copy(), b[3]
        hermite((-above - inside, b[0], b[1], b[2]), (-above, after[0], after[1], after[2]), b)
        above += inside
        after = now
    direct[:cells] /= below + above
    return low, 1.0 / h, cells, half


@kernel
def steps(slopes, fine):
    """Return the steps along the middle and the outer Beta, in standard deviations, by the slopes of the metric."""
    along = slopes[1] ** 2 + slopes[2] ** 2
    rest = along / (slopes[0] ** 2 + along)
    first, second = slopes[1] ** 2 / (along + 1e-300), slopes[2] ** 2 / (along + 1e-300)
    both = math.sqrt(first * second) * rest
    first, second = 1.0 - first * rest, 1.0 - second * rest
    p, q = math.sqrt(2.0 * _LOG_ALIAS / first), math.sqrt(2.0 * _LOG_ALIAS / second)
    for _ in range(20):
        if 0.5 * (p * p * first + q * q * second - 2.0 * p * q * both) >= _LOG_ALIAS:
            break
        p, q = p / 0.95, q / 0.95
    turn = 2.0 * math.pi / FINER[fine]
    return turn / p, turn / q
