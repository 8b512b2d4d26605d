"""Distribution functions of metrics of two labels: means, over one or two Betas, of the law of a third.

A metric is given by two quadratic forms in its four cells, value = num / den, so that {metric <= x} is
{num - value(x) den <= 0}. The cells hang on a tree of three independent Betas, c = (m u, m (1-u), (1-m) v, (1-m)(1-v));
with two of them held fixed, the event is a quadratic inequality in the odds of the third, whose law is tabulated. The
other two are integrated in their normal quantile w, where the trapezoid rule converges geometrically, piece by piece
between the kinks where the event's edge leaves (0, 1): these are roots of quadratics too. The step is halved until two
answers agree.
"""

import math

import numpy as np

from bayescm._kernels import kernel
from bayescm._kernels.beta import (
    LOG_SUM,
    POINT,
    A,
    B,
    P,
    Q,
    build,
    log_shape,
    of_normal,
    probability,
    tails,
    to_normal,
)

REACH = 9.6  # beyond it a Beta has 1e-21
COARSE = 25  # nodes of the first step; every second one of the next
LEVELS = 7
SOFT_LEVELS = 4  # without an answer after these, look where the integrand may jump
_EDGE = 4.0  # of the double-exponential map: distance 1e-20 from a kink
_STEP = 2.0 * REACH / (COARSE - 1)
_FINE = _STEP / 2.0**4
TABULATED = 4  # levels whose double-exponential map is tabulated
CELLS_OF_PATH = 96
_NORMAL = 1.0 / math.sqrt(2.0 * math.pi)
IDENTITY, SQUARE, ODDS_SQUARE, CORRELATION = range(4)
LEFT_INSIDE, ROOT_INSIDE = range(2)


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


def _map_of_kink():
    """Tabulate distance from a kink and its rate over t: log(1 + e^u), u(t) = t - exp(-t)."""
    t = -_EDGE + _FINE * np.arange(round((_EDGE + 2.0 * REACH + 1.0) / _FINE) + 1)
    u = t - np.exp(-t)
    return np.stack([np.logaddexp(0.0, u), (1.0 + np.exp(-t)) / (1.0 + np.exp(-u))])


_MAP = _map_of_kink()


@kernel
def point(w, path):
    """Return p and 1 - p of a law at the normal quantile w, from its path: polynomials of degree 5 in cells of w."""
    place = (w + REACH) * (CELLS_OF_PATH / (2.0 * REACH))
    k = min(max(int(place), 0), CELLS_OF_PATH - 1)
    t, c = place - k, path[k]
    return probability(c[0] + t * (c[1] + t * (c[2] + t * (c[3] + t * (c[4] + t * c[5])))))


@kernel
def _between(t, length):
    """Return the distance from the lower of two kinks, and its rate: u(t) = t - exp(-t) + exp(t - length)."""
    u, slope = t - math.exp(-t) + math.exp(t - length), 1.0 + math.exp(-t) + math.exp(t - length)
    after = u - length
    up = u + math.log1p(math.exp(-u)) if u > 0 else math.log1p(math.exp(u))
    down = after + math.log1p(math.exp(-after)) if after > 0 else math.log1p(math.exp(after))
    return up - down, (1.0 / (1.0 + math.exp(-u)) - 1.0 / (1.0 + math.exp(-after))) * slope


@kernel
def nodes(path, cached, low, high, level, out):
    """Fill `out` (3, n) with p, 1 - p and weight of the nodes that a level adds on [low, high] in w.

    An end inside the reach is a kink: there the nodes crowd double-exponentially. With u(t) = t - exp(-t) the distance
    from the kink is log(1 + e^u): it dies double-exponentially on its side, and is t itself on the other.
    """
    step = _STEP / 2.0**level
    first, stride = (0, 1) if level == 0 else (1, 2)
    at_low, at_high = low > -REACH, high < REACH
    n = 0
    if not (at_low or at_high):
        for i in range(first, (COARSE - 1) * 2**level + 1, stride):
            if n == out.shape[1]:
                return n
            w = -REACH + i * step
            if level <= 1:
                out[0, n], out[1, n] = cached[0, 2 * i // 2**level], cached[1, 2 * i // 2**level]
            else:
                out[0, n], out[1, n] = point(w, path)
            out[2, n] = _NORMAL * math.exp(-0.5 * w * w) * step
            n += 1
        return n
    length = high - low
    end = length + _EDGE if at_low and at_high else length
    tabulated = level <= TABULATED and not (at_low and at_high)
    places = round(step / _FINE)  # of the table, from node to node
    for i in range(first, out.shape[1] * stride, stride):
        t = -_EDGE + i * step
        if t > end:
            break
        if tabulated:
            distance, rate = _MAP[0, i * places], _MAP[1, i * places]
        elif at_low and at_high:
            distance, rate = _between(t, length)
        else:
            distance, rate = _between(t, 100.0)
        if distance <= 0.0 or distance >= length:
            continue
        w = low + distance if at_low else high - distance
        weight = _NORMAL * math.exp(-0.5 * w * w) * rate * step
        if weight < 1e-23:
            continue
        out[0, n], out[1, n] = point(w, path)
        out[2, n] = weight
        n += 1
    return n


@kernel
def _mass(low, high):
    """Return the normal probability between two quantiles."""
    if low > 0.0:
        low, high = -high, -low
    return 0.5 * (math.erfc(-high / math.sqrt(2.0)) - math.erfc(-low / math.sqrt(2.0)))


@kernel
def _add_kink(odds, law, table, kinks, n):
    """Add the normal quantile of some odds to the kinks, if it is within reach."""
    if odds > 0.0 and odds < math.inf:
        low, high, _ = tails(math.log(odds), table, law)
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
def _add_roots(c, x, y, law, table, kinks, n):
    """Add where the form vanishes on the segment between two points of the simplex."""
    cross = 0.0
    for i in range(4):
        for j in range(4):
            cross += 2.0 * x[i] * c[i, j] * y[j]
    count, first, second = roots(form(c, x[0], x[1], x[2], x[3]), cross, form(c, y[0], y[1], y[2], y[3]))
    if count > 0:
        n = _add_kink(first, law, table, kinks, n)
    if count > 1:
        n = _add_kink(second, law, table, kinks, n)
    return n


@kernel
def _event(alpha, beta, gamma, d_alpha, d_beta, d_gamma, table, law):
    """Return probability, complement and density of {alpha o^2 + beta o + gamma <= 0} in the odds o of the inner law.

    The density is -1 where the event is certain or impossible.
    """
    count, first, second = roots(alpha, beta, gamma)
    if count == 0:
        return (1.0, 0.0, -1.0) if alpha + beta + gamma <= 0.0 else (0.0, 1.0, -1.0)
    low, high, f = tails(math.log(first), table, law)
    density = f * abs((d_alpha * first + d_beta + d_gamma / first) / (2.0 * alpha * first + beta))
    if count == 1:
        return (low, high, density) if (gamma if gamma != 0.0 else beta) <= 0.0 else (high, low, density)
    low2, high2, f2 = tails(math.log(second), table, law)
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
def _correlation(x, m, mq, s, sq, table, law):
    """Return the same for {Matthews correlation <= x}, with recall inside."""
    recall, miss, shift = wilson(x, m, mq, s, sq)
    if recall <= 0.0:
        return 0.0, 1.0, -1.0
    if miss <= 0.0:
        return 1.0, 0.0, -1.0
    low, high, f = tails(math.log(recall / miss), table, law)
    bias, rest = sq + shift, s - shift
    root = math.sqrt(bias * rest)
    k = x * math.sqrt(m / mq)
    density = f * math.sqrt(m / mq) * root / (m * (1.0 - k * (rest - bias) / (2.0 * root))) / (recall * miss)
    return low, high, abs(density)


@kernel
def _correlation_root(x, r, rq, s, sq, table, law):
    """Return the same with the prevalence inside, at recall r and specificity s."""
    det = r * s - rq * sq
    if (det <= 0.0) == (x >= 0.0):
        return (1.0, 0.0, -1.0) if det <= 0.0 else (0.0, 1.0, -1.0)
    x2 = x * x
    sign = 1.0 if x >= 0.0 else -1.0
    alpha, beta, gamma = -x2 * r * rq, det * det - x2 * (r * s + rq * sq), -x2 * s * sq
    d_alpha, d_beta, d_gamma = -2.0 * x * r * rq, -2.0 * x * (r * s + rq * sq), -2.0 * x * s * sq
    return _event(sign * alpha, sign * beta, sign * gamma, d_alpha, d_beta, d_gamma, table, law)


@kernel
def conditional(c, dc, x, kind, shape, m, mq, v, vq, table, law):
    """Return the inner probability at one pair of outer nodes: root and right split, or left and right split."""
    if kind == CORRELATION:
        if shape == LEFT_INSIDE:
            return _correlation(x, m, mq, vq, v, table, law)
        return _correlation_root(x, m, mq, vq, v, table, law)
    if shape == LEFT_INSIDE:
        c2, c3 = mq * v, mq * vq
        rest = c[2, 2] * c2 * c2 + 2.0 * c[2, 3] * c2 * c3 + c[3, 3] * c3 * c3
        one, two = 2.0 * m * (c[0, 2] * c2 + c[0, 3] * c3), 2.0 * m * (c[1, 2] * c2 + c[1, 3] * c3)
        alpha, gamma = c[0, 0] * m * m + one + rest, c[1, 1] * m * m + two + rest
        beta = 2.0 * c[0, 1] * m * m + one + two + 2.0 * rest
        d_rest = dc[2, 2] * c2 * c2 + 2.0 * dc[2, 3] * c2 * c3 + dc[3, 3] * c3 * c3
        d_one, d_two = 2.0 * m * (dc[0, 2] * c2 + dc[0, 3] * c3), 2.0 * m * (dc[1, 2] * c2 + dc[1, 3] * c3)
        d_alpha, d_gamma = dc[0, 0] * m * m + d_one + d_rest, dc[1, 1] * m * m + d_two + d_rest
        d_beta = 2.0 * dc[0, 1] * m * m + d_one + d_two + 2.0 * d_rest
        return _event(alpha, beta, gamma, d_alpha, d_beta, d_gamma, table, law)
    alpha = c[0, 0] * m * m + 2.0 * c[0, 1] * m * mq + c[1, 1] * mq * mq
    gamma = c[2, 2] * v * v + 2.0 * c[2, 3] * v * vq + c[3, 3] * vq * vq
    beta = 2.0 * (m * (c[0, 2] * v + c[0, 3] * vq) + mq * (c[1, 2] * v + c[1, 3] * vq))
    d_alpha = dc[0, 0] * m * m + 2.0 * dc[0, 1] * m * mq + dc[1, 1] * mq * mq
    d_gamma = dc[2, 2] * v * v + 2.0 * dc[2, 3] * v * vq + dc[3, 3] * vq * vq
    d_beta = 2.0 * (m * (dc[0, 2] * v + dc[0, 3] * vq) + mq * (dc[1, 2] * v + dc[1, 3] * vq))
    return _event(alpha, beta, gamma, d_alpha, d_beta, d_gamma, table, law)


@kernel
def middle_kinks(c, x, kind, shape, m, mq, laws, tables, median, soft, kinks):
    """Find where the inner event's edge leaves (0, 1) as the right split varies; return their number.

    With `soft` also where the edge passes the inner law's median: a step, if that law is narrow.
    """
    law, table = laws[1], tables[1]
    p, q = (laws[0, P], laws[0, Q]) if laws[0, POINT] > 0.0 else (median[0], median[1])
    n = 0
    if kind == CORRELATION:  # split = (FPR, specificity)
        if soft:
            at, recall, miss = (m, p, q) if shape == LEFT_INSIDE else (p, m, mq)
            specificity, rest, _ = wilson(x, 1.0 - at, at, recall, miss)
            n = _add_kink(rest / specificity, law, table, kinks, n)
        if shape == LEFT_INSIDE:
            share = x * x / (m + x * x * mq)
            rest = m * (1.0 - x * x) / (m + x * x * mq)
            return _add_kink(rest / share if x >= 0 else share / rest, law, table, kinks, n)
        # sqrt(r s) - sqrt((1-r)(1-s)) = x: the largest correlation at any prevalence; for x < 0 the mirror image
        first, second = (m, mq) if x >= 0.0 else (mq, m)
        angle = math.acos(abs(x)) - math.atan2(math.sqrt(second), math.sqrt(first))
        if angle <= 0.0 or angle >= 0.5 * math.pi:
            return n
        odds = math.tan(angle) ** 2
        return _add_kink(odds if x >= 0.0 else 1.0 / odds, law, table, kinks, n)
    for i in range(3 if soft else 2):
        a, b = (p, q) if i == 2 else (1.0 - i, 1.0 * i)
        n = _add_roots(
            c, _cells(shape, a, b, 1.0, 0.0, m, mq), _cells(shape, a, b, 0.0, 1.0, m, mq), law, table, kinks, n
        )
    return n


@kernel
def outer_kinks(c, x, kind, shape, laws, tables, medians, soft, kinks):
    """Find where the middle kinks leave (0, 1): roots of the form on the edges of the simplex of cells.

    With `soft` also where the event's edge passes the medians of the other two laws.
    """
    law, table = laws[2], tables[2]
    p, q = (laws[0, P], laws[0, Q]) if laws[0, POINT] > 0.0 else (medians[0, 0], medians[0, 1])
    v, vq = (laws[1, P], laws[1, Q]) if laws[1, POINT] > 0.0 else (medians[1, 0], medians[1, 1])
    n = 0
    if kind == CORRELATION:
        if not soft:
            return 0
        if shape == ROOT_INSIDE:
            recall, miss, _ = wilson(x, p, q, vq, v)
            return _add_kink(recall / miss, law, table, kinks, n)
        x2, det = x * x, p * vq - q * v
        if (det > 0.0) != (x > 0.0):
            return 0
        count, first, second = roots(-x2 * p * q, det * det - x2 * (p * vq + q * v), -x2 * v * vq)
        if count == 2:
            n = _add_kink(first, law, table, kinks, n)
            n = _add_kink(second, law, table, kinks, n)
        return n
    for i in range(3 if soft else 2):
        for j in range(3 if soft else 2):
            if (i == 2) == (j == 2):
                a, b = (p, q) if i == 2 else (1.0 - i, 1.0 * i)
                d, e = (v, vq) if j == 2 else (1.0 - j, 1.0 * j)
                n = _add_roots(
                    c, _cells(shape, a, b, d, e, 1.0, 0.0), _cells(shape, a, b, d, e, 0.0, 1.0), law, table, kinks, n
                )
    return n


@kernel
def pieces(kinks, n):
    """Sort the first n kinks, and put the ends of the reach around them."""
    kinks[n], kinks[n + 1] = -REACH, REACH
    kinks[: n + 2].sort()
    return n + 1


@kernel
def _middle(c, dc, x, kind, shape, m, mq, tables, laws, cached, paths, scratch, goal, floor_low, floor_high):
    """Return the mean of the inner probability over the right split, at one outer node: cdf, sf, pdf and errors."""
    law, inner, inner_table = laws[1], laws[0], tables[0]
    if law[POINT] > 0:
        low, high, f = conditional(c, dc, x, kind, shape, m, mq, law[P], law[Q], inner_table, inner)
        return low, high, max(f, 0.0), 0.0, 0.0
    kinks = np.empty(12)
    total_low = total_high = total_f = error_low = error_high = 0.0
    for attempt in range(2):
        found = middle_kinks(c, x, kind, shape, m, mq, laws, tables, cached[0, :, COARSE - 1], attempt > 0, kinks)
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
                mass = _mass(begin, end)
                total_low += low * mass
                total_high += high * mass
                continue
            low = high = f = change_low = change_high = 0.0
            done = False
            for level in range(LEVELS if attempt > 0 else SOFT_LEVELS):
                n = nodes(paths[1], cached[1], begin, end, level, scratch)
                new_low = new_high = new_f = 0.0
                for i in range(n):
                    add_low, add_high, add_f = conditional(
                        c, dc, x, kind, shape, m, mq, scratch[0, i], scratch[1, i], inner_table, inner
                    )
                    new_low += scratch[2, i] * add_low
                    new_high += scratch[2, i] * add_high
                    new_f += scratch[2, i] * max(add_f, 0.0)
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
def distribution(x, num, den, kind, shape, tables, laws, cached, paths, scratch, goal):
    """Return cdf, sf and pdf of the metric at x, and the change of cdf or sf at the last halving, relatively.

    Parameters
    ----------
    x : float
        Inside the metric's range.
    num, den : ndarray of shape (4, 4)
        Symmetric, in the order of the tree's cells.
    kind, shape : int
    tables, laws, cached : ndarray
        Of the inner law, the middle and the outer one; the last two may be points.
    scratch : ndarray of shape (2, 3, n)
    goal : float
        Halve the step until the change is relatively below it. The error is usually about its square.
    """
    value, slope = value_of(x, kind)
    c, dc = num - value * den, -slope * den
    law = laws[2]
    if law[POINT] > 0:
        low, high, f, error_low, error_high = _middle(
            c, dc, x, kind, shape, law[P], law[Q], tables, laws, cached, paths, scratch[1], goal, 0.0, 0.0
        )
        return low, high, f, max(error_low / max(low, 1e-12), error_high / max(high, 1e-12))
    kinks = np.empty(24)
    rough_low = rough_high = 0.0
    total_low = total_high = total_f = error_low = error_high = 0.0
    for stage in range(3):  # the first finds out how large the answer is, the last knows where it may jump
        found = outer_kinks(c, x, kind, shape, laws, tables, cached[:2, :, COARSE - 1], stage > 1, kinks)
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
                n = nodes(paths[2], cached[2], begin, end, level, scratch[0])
                new_low = new_high = new_f = new_within_low = new_within_high = 0.0
                for i in range(n):
                    weight = scratch[0, 2, i]
                    add_low, add_high, add_f, within1, within2 = _middle(
                        c, dc, x, kind, shape, scratch[0, 0, i], scratch[0, 1, i], tables, laws, cached, paths,
                        scratch[1], goal if stage > 0 else 1.0, rough_low, rough_high,
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
        elif done:
            break
    return total_low, total_high, total_f, max(error_low / max(total_low, 1e-12), error_high / max(total_high, 1e-12))


@kernel
def prepare(a, b, table, law, cached, path):
    """Tabulate one Beta, its log-odds along the normal quantile, and its points at the nodes of the first two steps."""
    build(a, b, table, law)
    width = 2.0 * REACH / CELLS_OF_PATH
    before0 = before1 = before2 = 0.0
    for k in range(CELLS_OF_PATH + 1):
        w = -REACH + width * k
        y = of_normal(w, table, law)
        p, q = probability(y)
        if k % 2 == 0:
            cached[0, k // 2], cached[1, k // 2] = p, q
        log_density = log_shape(y, law) - law[LOG_SUM]
        rate = _NORMAL * math.exp(-0.5 * w * w - log_density)  # dy/dw
        bend = rate * (-w - (law[A] * q - law[B] * p) * rate)
        v0, v1, v2 = y, rate * width, 0.5 * bend * width * width
        if k > 0:
            r0 = v0 - before0 - before1 - before2
            r1 = v1 - before1 - 2.0 * before2
            r2 = v2 - before2
            c = path[k - 1]
            c[0], c[1], c[2] = before0, before1, before2
            c[3], c[4], c[5] = 10.0 * r0 - 4.0 * r1 + r2, -15.0 * r0 + 7.0 * r1 - 2.0 * r2, 6.0 * r0 - 3.0 * r1 + r2
        before0, before1, before2 = v0, v1, v2
