"""Quantiles and narrowest intervals of a metric's distribution, in a coordinate z of the whole line."""

import math

import numpy as np

from bayescm._kernels.beta import to_normal
from bayescm._kernels.integrals import distribution
from bayescm._kernels.jit import kernel
from bayescm._kernels.nodes import REACH, reach_for

INSIDE, RISING, FALLING, NONE = range(4)  # where the narrowest interval lies
_STEPS = 100
_TRIES = 12
_LEAST_MASS = 1e-12  # on one side of an interval that ends next to the edge of the range
_BETWEEN = 3.0  # logit of a share of the outer mass, between the middle and the edges
_LONGER = 1e-3
_STEEP = 50.0  # of a difference of log densities
LACKING = 1e-2  # in normal quantiles, of an interval's ends
_BRACKET = 1e-5  # of the logit in which the narrowest interval is looked for: an end moves by about as many widths
_EQUAL = 1e-2  # difference of the log densities at the ends of a highest-density interval
FEW, _FEW_STEPS = 1.0, 10  # goal of the first steps of a search; how many of a quantile's may be such
_STRIDE, _STUCK = 4.0, 10.0  # widths of a search that lost its way; last steps that it isn't near after
_ROUGH, _FINE, _SURE = 3e-2, 3e-4, 3e-6  # last step: of a search on few nodes, of a quantile, of equal densities
_NORMAL = 1.0 / math.sqrt(2.0 * math.pi)
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
    if abs(z) < 1.0:  # around the middle, which may be 0
        return 0.5 * (lower + upper) + 0.5 * (upper - lower) * math.tanh(0.5 * z), slope
    return (upper - (upper - lower) * small if z > 0 else lower + (upper - lower) * small), slope


@kernel
def coordinate(x, lower, upper):
    """Return z at a metric's value."""
    if math.isinf(upper):
        return math.log(x - lower)
    return math.log((x - lower) / (upper - x))


@kernel
def _at(z, one, goal, reach):
    """Return cdf, sf, density in x, density in z and error at a coordinate."""
    x, rate = place(z, one.lower, one.upper)
    low, high, f, error = distribution(x, one, goal, reach)
    return low, high, f, f * rate, error


@kernel
def solve(low_target, high_target, start, scale, one, goal):
    """Return the coordinate where cdf and sf are as wanted, the log density in x there, the cdf's error, what lacks.

    Newton's method in the cdf's normal quantile, which is nearly straight, inside a bracket that is looked for in
    strides where a step leads astray, and halved where that is slow: first on few nodes, then to the goal. `scale` is
    the width of the distribution in z. What lacks is how far the normal quantile is from its target before the last
    step, the error after the step is about that squared; 0 where the bracket is as narrow as numbers or the
    distribution allow.
    """
    lowest, highest = -700.0, 700.0 if math.isinf(one.upper) else _MOST
    low_z, high_z = lowest, highest
    target = to_normal(low_target, high_target)
    reach = reach_for(min(low_target, high_target))
    now, near = (FEW, _ROUGH) if reach < REACH and goal < FEW else (goal, _FINE)
    z, error, density, before, narrow = min(max(start, low_z), high_z), 0.0, 0.0, math.inf, False
    for step in range(_STEPS):
        if now > goal and step == _FEW_STEPS:
            now, near, low_z, high_z = goal, _FINE, lowest, highest
        low, high, density, slope, error = _at(z, one, now, reach)
        at = to_normal(low, high)
        excess = at - target
        if excess > 0.0:
            high_z = z
        else:
            low_z = z
        after = z - excess * _NORMAL * math.exp(-0.5 * at * at) / max(slope, 1e-300)
        met = abs(excess) < 1e-8
        if met and not abs(after - z) <= scale:  # hardly any density here
            after = z
        small = abs(after - z) <= near * scale
        close = met or (small and abs(excess) < near)
        stuck = small and not close and abs(excess) > min(_STUCK * near, 0.5 * before)  # where the density is infinite
        slow = abs(excess) > 0.5 * before and low_z > lowest and high_z < highest
        before = abs(excess)
        if stuck or (slow and not close) or not (close or low_z < after < high_z) or math.isnan(after):
            after = z + math.copysign(_STRIDE * scale * 2.0**step, -excess)
            if not low_z < after < high_z or (low_z > lowest and high_z < highest):
                after = 0.5 * (low_z + high_z)
        if now <= goal or not max(abs(after - z) / scale, abs(excess)) <= 0.5 * _FINE:  # else all nodes are asked here
            z = after
        narrow = high_z - low_z <= 1e-9 * min(scale, 1.0) + 4e-16 * abs(z)
        if not (close or narrow):
            continue
        if now <= goal:
            break
        now, near, low_z, high_z = goal, _FINE, lowest, highest  # what was found on few nodes isn't certain
    return z, math.log(density) if density > 0.0 else -math.inf, error, 0.0 if narrow else before


@kernel
def equal_densities(prob, median, log_middle, ends, scale, one, first, goal):
    """Move `ends` to the interval of probability `prob` with equal densities at its ends; say whether it was found.

    Newton's method for both ends at once, the slopes of the log density by secants: first to the goal
    `first`, then to the other. It gives up where the density doesn't rise at the lower end and fall at the upper one.
    """
    before, logs, slopes = np.array([median, median]), np.array([log_middle, log_middle]), np.zeros(2)
    mass, density = np.empty(2), np.empty(2)
    worst, reach = 0.0, reach_for(0.1 * (1.0 - prob))
    now, near = (first, _ROUGH) if reach < REACH and goal < first else (goal, _SURE)
    refined = False
    for _ in range(_TRIES):
        for i in range(2):
            low, high, f, density[i], error = _at(ends[i], one, now, reach)
            mass[i] = low if i == 0 else high
            worst = max(worst, error)
            if not f > 0.0:
                return False, worst
            log = math.log(f)
            if not refined and abs(ends[i] - before[i]) > 1e-5 * scale:  # closer, the values' errors matter
                slopes[i] = (log - logs[i]) / (ends[i] - before[i])
                if before[i] == median:
                    slopes[i] *= 2.0  # of a parabola with its top at the median
            before[i], logs[i] = ends[i], log
        refined = False
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
        if largest <= near * scale:
            if now <= goal:
                return abs(tilt) < _EQUAL, worst
            now, near, refined = goal, _SURE, True  # what both give isn't compared
    return False, worst


@kernel
def lacking(off, z, one):
    """Return how far the cdf's normal quantile is from its target, 0 where no number lies nearer to an edge."""
    x = place(z, one.lower, one.upper)[0]
    return 0.0 if z <= -699.0 or z >= _MOST - 1e-3 or not one.lower < x < one.upper else off


@kernel
def move(low, high, ends, scale, one, goal):
    """Move `ends` to where the tails outside are as given, but for a tail of 0; return the cdf's error, what lacks."""
    worst = lacks = 0.0
    if low > 0.0:
        ends[0], _, worst, off = solve(low, 1.0 - low, ends[0], scale, one, goal)
        lacks = lacking(off, ends[0], one)
    if high > 0.0:
        ends[1], _, error, off = solve(1.0 - high, high, ends[1], scale, one, goal)
        worst, lacks = max(worst, error), max(lacks, lacking(off, ends[1], one))
    return worst, lacks


@kernel
def ends_around(median, where, ends):
    """Say whether an interval lies around the median."""
    return (where == FALLING or ends[0] <= median) and (where == RISING or median <= ends[1])


@kernel
def masses_outside(prob, ends, one, goal):
    """Return the probabilities that an interval of probability `prob` leaves out, shared as these ends share theirs."""
    low, high = _at(ends[0], one, goal, REACH)[0], _at(ends[1], one, goal, REACH)[1]
    if not low + high > 0.0:
        return 0.5 * (1.0 - prob), 0.5 * (1.0 - prob)
    least = _LEAST_MASS / (1.0 - prob)
    share = min(max(low / (low + high), least), 1.0 - least)
    return (1.0 - prob) * share, (1.0 - prob) * (1.0 - share)


@kernel
def _tilt(t, prob, ends, scale, one, goal):
    """Move `ends` to the interval whose left tail has the share 1 / (1 + exp(-t)) of the outer mass.

    Returns
    -------
    tilt, width : float
        Log density at the upper end minus that at the lower one: the interval gets shorter as it moves right where
        that is positive. And its length.
    """
    left, right = (1.0 - prob) / (1.0 + math.exp(-t)), (1.0 - prob) / (1.0 + math.exp(t))
    ends[0], log_low, _, _ = solve(left, prob + right, ends[0], scale, one, goal)
    ends[1], log_high, _, _ = solve(prob + left, right, ends[1], scale, one, goal)
    tilt = min(max(log_high - log_low, -_STEEP), _STEEP) if log_high > log_low or log_high < log_low else 0.0
    return tilt, place(ends[1], one.lower, one.upper)[0] - place(ends[0], one.lower, one.upper)[0]


@kernel
def shape_of_interval(prob, ends, scale, one, goal):
    """Find out where the narrowest interval lies, and move `ends` there if it is inside.

    The interval moves from the lower edge to the upper one. It is the narrowest where the densities at its ends are
    equal and it gets longer on both sides, or at an edge towards which the density rises. Of several such places the
    one with the shortest interval is taken. Where the density rises towards both edges, it isn't unique.
    """
    most = math.log((1.0 - prob) / _LEAST_MASS)
    t = np.array([-most, -_BETWEEN, 0.0, _BETWEEN, most])
    tilts, widths, kept = np.empty(5), np.empty(5), np.empty((5, 2))
    for k in (2, 0, 4, 1, 3):
        kept[k] = ends if k == 2 else kept[2]
        tilts[k], widths[k] = _tilt(t[k], prob, kept[k], scale, one, goal)
        if k == 2 and widths[2] >= (1.0 - 1e-9) * (one.upper - one.lower):
            return NONE  # two spikes, at the edges
        if k == 4:
            falls = tilts[0] <= 0.0 and tilts[2] <= 0.0 and tilts[4] <= 0.0 and widths[0] <= widths[2] <= widths[4]
            rises = tilts[0] >= 0.0 and tilts[2] >= 0.0 and tilts[4] >= 0.0 and widths[0] >= widths[2] >= widths[4]
            if falls or rises:
                return _at_edge(0 if falls else 4, kept, widths, ends, one)
    best, narrowest = 5, math.inf
    for k in range(4):
        if tilts[k] > 0.0 >= tilts[k + 1] and min(widths[k], widths[k + 1]) < narrowest:
            best, narrowest = k, min(widths[k], widths[k + 1])
    if best == 5:
        if tilts[0] <= 0.0 and tilts[4] >= 0.0:
            return NONE
        return _at_edge(0 if tilts[0] <= 0.0 else 4, kept, widths, ends, one)
    if (tilts[0] < 0.0 and widths[0] < narrowest) or (tilts[4] > 0.0 and widths[4] < narrowest):
        return NONE  # another one, at an edge
    ends[:] = kept[best]
    return _between(t[best], t[best + 1], tilts[best], tilts[best + 1], prob, ends, scale, one, goal)


@kernel
def _at_edge(k, kept, widths, ends, one):
    """Say that the interval ends at an edge of the range; or, where it is much longer so, move `ends` next to it."""
    here = place(kept[k, 0], one.lower, one.upper)[0], place(kept[k, 1], one.lower, one.upper)[0]
    if (one.upper - here[0] if k == 4 else here[1] - one.lower) <= widths[k] * (1.0 + _LONGER):
        return RISING if k == 4 else FALLING
    ends[:] = kept[k]
    return INSIDE


@kernel
def _between(near, far, near_h, far_h, prob, ends, scale, one, goal):
    """Move `ends` to equal densities, by Illinois' method in the logit of the share of the outer mass that is left.

    Where cells have hardly any concentration the densities are rough, and no step is the right one for long: a bracket
    that two steps haven't halved is halved, and needn't be narrower than the goal tells densities apart.
    """
    narrow, before = _BRACKET if goal < _BRACKET else 0.1 * goal, 2.0 * (far - near)
    for step in range(_STEPS):
        t = (near * far_h - far * near_h) / (far_h - near_h)
        if step % 3 == 2:
            if 2.0 * (far - near) > before:
                t = 0.5 * (near + far)
            before = far - near
        h, _ = _tilt(t, prob, ends, scale, one, goal)
        if h > 0.0:
            near, near_h, far_h = t, h, 0.5 * far_h
        else:
            far, far_h, near_h = t, h, 0.5 * near_h
        if abs(h) < 1e-8 or far - near < narrow or near_h == far_h:
            break
    return INSIDE
