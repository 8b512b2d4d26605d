"""Distribution functions of metrics of two labels: means, over one or two Betas, of the distribution of a third.

A metric is given by two quadratic forms in its four cells, value = num / den, so that {metric <= x} is
{num - value(x) den <= 0}. The cells hang on a tree of three independent Betas, c = (m u, m (1-u), (1-m) v, (1-m)(1-v));
with two of them held fixed, the event is a quadratic inequality in the odds of the third, whose distribution is
tabulated. The other two are integrated in their normal quantile w, where the trapezoid rule converges geometrically,
piece by piece between the kinks where the event's edge leaves (0, 1): these are roots of quadratics too. The step is
halved until two answers agree.
"""

import math

import numpy as np

from bayescm._kernels.beta import POINT, P, Q
from bayescm._kernels.events import conditional, middle_kinks, outer_kinks, value_of
from bayescm._kernels.jit import kernel
from bayescm._kernels.nodes import COARSE, mass, nodes, pieces, point

LEVELS = 7
SOFT_LEVELS = 4  # without an answer after these, look where the integrand may jump


@kernel
def _middle(c, dc, x, kind, shape, m, mq, tables, dists, cached, paths, scratch, goal, reach, floor_low, floor_high):
    """Return the mean of the inner probability over the right split, at one outer node: cdf, sf, pdf and errors."""
    dist, inner, inner_table = dists[1], dists[0], tables[0]
    if dist[POINT] > 0:
        low, high, f = conditional(c, dc, x, kind, shape, m, mq, dist[P], dist[Q], inner_table, inner)
        return low, high, f if 0.0 < f < math.inf else 0.0, 0.0, 0.0
    kinks = np.empty(12)
    total_low = total_high = total_f = error_low = error_high = 0.0
    for attempt in range(2):
        found = middle_kinks(c, x, kind, shape, m, mq, dists, tables, cached[0, :, COARSE - 1], attempt > 0, kinks)
        count = pieces(kinks, found)
        total_low = total_high = total_f = error_low = error_high = 0.0
        done = True
        for piece in range(count):
            begin, end = kinks[piece], kinks[piece + 1]
            if end - begin < 1e-13:
                continue
            p, q = point(0.5 * (begin + end), paths[1])
            low, high, f = conditional(c, dc, x, kind, shape, m, mq, p, q, inner_table, inner)
            if count > 1 and f < 0.0:
                inside = mass(begin, end)
                total_low += low * inside
                total_high += high * inside
                continue
            low = high = f = change_low = change_high = 0.0
            done = False
            for level in range(LEVELS if attempt > 0 else SOFT_LEVELS):
                n = nodes(paths[1], cached[1], begin, end, level, reach, scratch)
                new_low = new_high = new_f = 0.0
                for i in range(n):
                    add_low, add_high, add_f = conditional(
                        c, dc, x, kind, shape, m, mq, scratch[0, i], scratch[1, i], inner_table, inner
                    )
                    new_low += scratch[2, i] * add_low
                    new_high += scratch[2, i] * add_high
                    new_f += scratch[2, i] * add_f if 0.0 < add_f < math.inf else 0.0
                if level == 0:
                    low, high, f = new_low, new_high, new_f
                    if goal >= 1.0:
                        done = True
                        break
                    continue
                new_low, new_high, new_f = 0.5 * low + new_low, 0.5 * high + new_high, 0.5 * f + new_f
                change_low, change_high = abs(new_low - low), abs(new_high - high)
                low, high, f = new_low, new_high, new_f
                if change_low <= goal * (low + floor_low) and change_high <= goal * (high + floor_high):
                    done = True
                    break
            total_low += low
            total_high += high
            total_f += f
            error_low += change_low
            error_high += change_high
            if not done and attempt == 0:
                break
        if done:
            break
    return total_low, total_high, total_f, error_low, error_high


@kernel
def distribution(x, num, den, kind, shape, tables, dists, cached, paths, scratch, goal, reach):
    """Return cdf, sf and pdf of the metric at x, and the change of cdf or sf at the last halving, relatively.

    Parameters
    ----------
    x : float
        Inside the metric's range.
    num, den : ndarray of shape (4, 4)
        Symmetric, in the order of the tree's cells.
    kind, shape : int
    tables, distributions, cached : ndarray
        Of the inner distribution, the middle and the outer one; the last two may be points.
    scratch : ndarray of shape (2, 3, n)
    goal : float
        Halve the step until the change is relatively below it. The error is usually about its square. From 1 on the
        first step is taken without a check.
    reach : float
        In normal quantiles: `REACH`, or `NEAR` where no far tail is asked for.
    """
    value, slope = value_of(x, kind)
    c, dc = num - value * den, -slope * den
    dist = dists[2]
    if dist[POINT] > 0:
        low, high, f, error_low, error_high = _middle(
            c, dc, x, kind, shape, dist[P], dist[Q], tables, dists, cached, paths, scratch[1], goal, reach, 0.0, 0.0
        )
        return low, high, f, max(error_low / max(low, 1e-12), error_high / max(high, 1e-12))
    kinks = np.empty(24)
    rough_low = rough_high = 0.0
    total_low = total_high = total_f = error_low = error_high = 0.0
    for stage in range(3):  # the first finds out how large the answer is, the last knows where it may jump
        found = outer_kinks(c, x, kind, shape, dists, tables, cached[:2, :, COARSE - 1], stage > 1, kinks)
        count = pieces(kinks, found)
        total_low = total_high = total_f = error_low = error_high = 0.0
        done = True
        for piece in range(count):
            begin, end = kinks[piece], kinks[piece + 1]
            if end - begin < 1e-13:
                continue
            low = high = f = change_low = change_high = within_low = within_high = 0.0
            done = False
            for level in range(1 if stage == 0 else (SOFT_LEVELS if stage == 1 else LEVELS)):
                n = nodes(paths[2], cached[2], begin, end, level, reach, scratch[0])
                new_low = new_high = new_f = new_within_low = new_within_high = 0.0
                for i in range(n):
                    weight = scratch[0, 2, i]
                    add_low, add_high, add_f, within1, within2 = _middle(
                        c, dc, x, kind, shape, scratch[0, 0, i], scratch[0, 1, i], tables, dists, cached, paths,
                        scratch[1], goal if stage > 0 else 1.0, reach, rough_low, rough_high,
                    )  # fmt: skip
                    new_low += weight * add_low
                    new_high += weight * add_high
                    new_f += weight * add_f
                    new_within_low += weight * within1
                    new_within_high += weight * within2
                if level == 0:
                    low, high, f = new_low, new_high, new_f
                    within_low, within_high = new_within_low, new_within_high
                    continue
                new_low, new_high, new_f = 0.5 * low + new_low, 0.5 * high + new_high, 0.5 * f + new_f
                change_low, change_high = abs(new_low - low), abs(new_high - high)
                within_low = 0.5 * within_low + new_within_low
                within_high = 0.5 * within_high + new_within_high
                low, high, f = new_low, new_high, new_f
                if change_low <= goal * (low + rough_low) and change_high <= goal * (high + rough_high):
                    done = True
                    break
            total_low += low
            total_high += high
            total_f += f
            error_low += change_low + within_low
            error_high += change_high + within_high
            if not done and stage == 1:
                break
        if stage == 0:
            rough_low, rough_high = total_low, total_high
            if goal >= 1.0:
                break
        elif done:
            break
    return total_low, total_high, total_f, max(error_low / max(total_low, 1e-12), error_high / max(total_high, 1e-12))
