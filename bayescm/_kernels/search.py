"""Quantiles and narrowest intervals of a metric's law, in a coordinate z of the whole line."""

import math

import numpy as np

from bayescm._kernels import kernel
from bayescm._kernels.integrals import distribution

INSIDE, RISING, FALLING, NONE = range(4)  # where the narrowest interval lies
_STEPS = 100
_TRIES = 12
_EDGE = 13.0  # of the logit of a share of the outer mass: 2e-6
_MOST = 36.0  # of the coordinate: beyond it 1 - x is below the spacing of numbers


@kernel
def place(z, lower, upper):
    """Return the metric at a coordinate z of the whole line, and its slope."""
    if math.isinf(upper):
        x = math.exp(z)
        return lower + x, x
    e = math.exp(-abs(z))
    small = e / (1.0 + e)
    slope = (upper - lower) * small / (1.0 + e)
    return (upper - (upper - lower) * small if z > 0 else lower + (upper - lower) * small), slope


@kernel
def coordinate(x, lower, upper):
    """Return z at a metric's value."""
    if math.isinf(upper):
        return math.log(x - lower)
    return math.log((x - lower) / (upper - x))


@kernel
def _at(z, one, goal):
    """Return cdf, sf, density in x, density in z and error at a coordinate.

    `one` is a metric of one matrix: its range, kind, the shape of the tree, and the workspace with all tables.
    """
    lower, upper, kind, shape, room = one
    tables, laws, cached, paths, scratch, ordered = room
    x, rate = place(z, lower, upper)
    low, high, f, error = distribution(
        x, ordered[0], ordered[1], kind, shape, tables, laws, cached, paths, scratch, goal
    )  # fmt: skip
    return low, high, f, f * rate, error


@kernel
def solve(low_target, high_target, start, scale, one, goal):
    """Return the coordinate where cdf and sf are as wanted, the log density in x there, and the error of the cdf.

    Newton's method for log(cdf / sf), which is nearly straight, inside a bracket that is halved where that is slow.
    `scale` is the width of the law in z; the last step is below its 1e-5, and the error about that squared.
    """
    low_z, high_z = -700.0, 700.0 if math.isinf(one[1]) else _MOST
    target = math.log(low_target) - math.log(high_target)
    z, worst, density, before = min(max(start, low_z), high_z), 0.0, 0.0, math.inf
    for _ in range(_STEPS):
        low, high, density, slope, error = _at(z, one, goal)
        worst = max(worst, error)
        excess = math.log(low) - math.log(high) - target if low > 0.0 and high > 0.0 else (1.0 if low > 0.5 else -1.0)
        if excess > 0.0:
            high_z = z
        else:
            low_z = z
        after = z - excess / (slope * (1.0 / low + 1.0 / high))
        close = abs(after - z) <= 1e-5 * scale and abs(excess) < 1e-2
        stuck = abs(after - z) <= 1e-5 * scale and not close  # where the density is infinite
        slow = abs(excess) > 0.5 * before and low_z > -700.0 and high_z < 700.0
        before = abs(excess)
        if stuck or (slow and not close) or not (close or low_z < after < high_z) or math.isnan(after):
            after = 0.5 * (low_z + high_z)
        z = after
        if close or high_z - low_z <= 1e-12 * max(1.0, abs(z)):
            break
    return z, math.log(density) if density > 0.0 else -math.inf, worst


@kernel
def equal_densities(prob, median, log_middle, ends, scale, one, goal):
    """Move `ends` to the interval of probability `prob` with equal densities at its ends; say whether it was found.

    Newton's method for both ends at once, the slopes of the log density by secants. It gives up where the density
    doesn't rise at the lower end and fall at the upper one.
    """
    before, logs, slopes = np.array([median, median]), np.array([log_middle, log_middle]), np.zeros(2)
    mass, density = np.empty(2), np.empty(2)
    worst = 0.0
    for _ in range(_TRIES):
        for i in range(2):
            low, high, f, density[i], error = _at(ends[i], one, goal)
            mass[i] = low if i == 0 else high
            worst = max(worst, error)
            if not f > 0.0:
                return False, worst
            log = math.log(f)
            if ends[i] != before[i]:
                slopes[i] = (log - logs[i]) / (ends[i] - before[i])
                if before[i] == median:
                    slopes[i] *= 2.0  # of a parabola with its top at the median
            before[i], logs[i] = ends[i], log
        if not (slopes[0] > 0.0 > slopes[1]):
            return False, worst
        outside, tilt = mass[0] + mass[1] - (1.0 - prob), logs[1] - logs[0]
        det = density[0] * slopes[1] - density[1] * slopes[0]
        step0 = (-outside * slopes[1] - density[1] * tilt) / det
        step1 = (-density[0] * tilt - slopes[0] * outside) / det
        largest = max(abs(step0), abs(step1))
        if not largest < 1e3 * scale:
            return False, worst
        damping = min(1.0, 2.0 * scale / largest)
        ends[0] += damping * step0
        ends[1] += damping * step1
        if not (ends[0] < median < ends[1]):
            return False, worst
        if largest <= 1e-6 * scale:
            return True, worst
    return False, worst


@kernel
def _tilt(t, prob, ends, scale, one, goal):
    """Move `ends` to the interval whose left tail has the share 1 / (1 + exp(-t)) of the outer mass.

    Returns
    -------
    tilt, log_low : float
        Log density at the upper end minus that at the lower one, and the latter.
    """
    share = 1.0 / (1.0 + math.exp(-t))
    left, right = (1.0 - prob) * share, (1.0 - prob) * (1.0 - share)
    ends[0], log_low, _ = solve(left, prob + right, ends[0], scale, one, goal)
    ends[1], log_high, _ = solve(prob + left, right, ends[1], scale, one, goal)
    return (log_high - log_low if log_high > log_low or log_high < log_low else 0.0), log_low


@kernel
def shape_of_interval(prob, log_middle, ends, scale, one, goal):
    """Find out where the narrowest interval lies, and move `ends` there if it is inside.

    Equal densities at both ends, by Illinois' method in the logit of the share of the outer mass that lies left. Where
    the density doesn't fall towards both edges, the interval begins or ends at one, or isn't unique.
    """
    wide = ends.copy()
    far, near = _EDGE, -_EDGE
    far_h, _ = _tilt(far, prob, wide, scale, one, goal)
    wide[:] = ends
    near_h, log_low = _tilt(near, prob, wide, scale, one, goal)
    if far_h >= 0.0 and near_h >= 0.0:
        return RISING
    if far_h <= 0.0 and near_h <= 0.0:
        return FALLING
    if near_h < 0.0:
        return NONE
    for _ in range(_STEPS):
        t = (near * far_h - far * near_h) / (far_h - near_h)
        h, log_low = _tilt(t, prob, ends, scale, one, goal)
        if h > 0.0:
            near, near_h, far_h = t, h, 0.5 * far_h
        else:
            far, far_h, near_h = t, h, 0.5 * near_h
        if abs(h) < 1e-8 or abs(far - near) < 1e-8 or near_h == far_h:
            break
    return INSIDE if log_middle >= log_low - 1e-6 else NONE
