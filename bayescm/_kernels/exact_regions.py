"""The exact test: the probability, at a point of the plane, of a smaller likelihood ratio than the one observed.

PR: given m = TP + FP + FN the three are trinomial with probabilities that depend on the point alone. Three independent
Poisson counts given their sum are trinomial too, so both the probability and the statistic of an outcome are made of
three short vectors. ROC: two independent binomials given the class totals.
"""

import math

import numpy as np

from bayescm._kernels.jit import kernel, vector_kernel

TIE = 1e-9
"""Statistics that differ by less, relatively (absolutely below 1), are ties."""
_ROUNDING = 4e-15  # of a statistic, relative to the n log n that cancel in it
_LOG_4 = 2.0 * math.log(2.0)


@kernel
def tables(n, logs, factorials):
    """Fill k log k and log k! for k = 0 to n."""
    logs[0] = factorials[0] = 0.0
    for k in range(1, n + 1):
        logs[k] = k * math.log(k)
        factorials[k] = math.lgamma(k + 1.0)


@kernel
def least_level(q):
    """Return a lower bound of the level of a statistic q, whatever the point and the counts.

    Each of the two independent binomial deviances D has P(D/2 >= t) <= 2 exp(-t) (Chernoff's bound on both sides), so
    their sum is stochastically smaller than 2 log 2 plus a gamma variable of shape 2, doubled.
    """
    t = 0.5 * q - _LOG_4
    return 1.0 - math.exp(-t) * (1.0 + t) if t > 0.0 else 0.0


@kernel
def _deviance(k, n, log_p, log_rest, logs):
    return 2.0 * (logs[k] + logs[n - k] - logs[n] - k * log_p - (n - k) * log_rest)


@kernel
def _range(n, p, log_p, log_rest, limit, logs):
    """Return the first and the last k whose binomial deviance is below `limit`; the first is larger if none is."""
    k = min(int(n * p), n)
    if not _deviance(k, n, log_p, log_rest, logs) < limit:
        k += 1
        if k > n or not _deviance(k, n, log_p, log_rest, logs) < limit:
            return k, k - 1
    first, last = k, k
    while first > 0 and _deviance(first - 1, n, log_p, log_rest, logs) < limit:
        first -= 1
    while last < n and _deviance(last + 1, n, log_p, log_rest, logs) < limit:
        last += 1
    return first, last


@vector_kernel
def _deviances(logs, slope, constant, first, out):
    for i in range(out.size):
        out[i] = 2.0 * logs[i] - slope * (first + i) + constant


@kernel
def _poisson(first, last, mean, log_mean, logs, factorials, probability, deviance):
    """Fill the probabilities and deviances of Poisson counts from `first` to `last`."""
    _deviances(
        logs[first : last + 1], 2.0 * (log_mean + 1.0), 2.0 * mean, float(first), deviance[: last - first + 1]
    )  # fmt: skip
    middle = min(max(int(mean), first), last)
    probability[middle - first] = math.exp(middle * log_mean - mean - factorials[middle])
    for k in range(middle, last):
        probability[k + 1 - first] = probability[k - first] * mean / (k + 1.0)
    for k in range(middle, first, -1):
        probability[k - 1 - first] = probability[k - first] * k / mean


@vector_kernel
def _dot(x, y):
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total


@kernel
def trinomial(m, limit, log_1, log_2, log_3, enough, logs, factorials, work):
    """Return P(q(Y) < limit) of Y trinomial, or a part of it that is at least `enough`."""
    if limit <= 0.0 or m == 0:
        return 0.0 if limit <= 0.0 else 1.0
    p1, p2, p3 = math.exp(log_1), math.exp(log_2), math.exp(log_3)
    k0, k1 = _range(m, p1, log_1, math.log(p2 + p3), limit, logs)
    i0, i1 = _range(m, p2, log_2, math.log(p1 + p3), limit, logs)
    j0, j1 = _range(m, p3, log_3, math.log(p1 + p2), limit, logs)
    if k0 > k1 or i0 > i1 or j0 > j1:
        return 0.0
    log_m = math.log(m)
    b1, d1, b2, d2, b3, d3, back = work[0], work[1], work[2], work[3], work[4], work[5], work[6]
    _poisson(k0, k1, m * p1, log_m + log_1, logs, factorials, b1, d1)
    _poisson(i0, i1, m * p2, log_m + log_2, logs, factorials, b2, d2)
    _poisson(j0, j1, m * p3, log_m + log_3, logs, factorials, b3, d3)
    width = j1 - j0 + 1
    for j in range(width):
        back[j] = b3[width - 1 - j]
    given = 1.0 / math.exp(m * log_m - m - factorials[m])
    share = p2 / (p2 + p3)
    centre = min(max(int(m * p1), k0), k1)
    total = 0.0
    for direction in (1, -1):
        low, high = -1, -1  # the range of i at the last k
        k = centre if direction == 1 else centre - 1
        while k0 <= k <= k1:
            rest = m - k
            left = limit - d1[k - k0]
            first, last = max(i0, rest - j1), min(i1, rest - j0)
            if first <= last:
                best = min(max(int(rest * share), first), last)
                if best < last and not d2[best - i0] + d3[rest - best - j0] < left:
                    best += 1
                if d2[best - i0] + d3[rest - best - j0] < left:
                    low = best if low < 0 else min(max(low, first), best)
                    high = best if high < 0 else max(min(high, last), best)
                    while not d2[low - i0] + d3[rest - low - j0] < left:
                        low += 1
                    while low > first and d2[low - 1 - i0] + d3[rest - low + 1 - j0] < left:
                        low -= 1
                    while not d2[high - i0] + d3[rest - high - j0] < left:
                        high -= 1
                    while high < last and d2[high + 1 - i0] + d3[rest - high - 1 - j0] < left:
                        high += 1
                    start = width - 1 - (rest - low - j0)
                    total += (
                        given * b1[k - k0] * _dot(b2[low - i0 : high - i0 + 1], back[start : start + high - low + 1])
                    )
                    if total >= enough:
                        return total
            k += direction
    return min(total, 1.0)


@kernel
def two_binomials(n1, n2, limit, log_p, log_p_rest, log_r, log_r_rest, enough, logs, factorials, work):
    """Return P(D1 + D2 < limit) of two independent binomials, or a part of it that is at least `enough`."""
    if limit <= 0.0:
        return 0.0
    k0, k1 = _range(n1, math.exp(log_p), log_p, log_p_rest, limit, logs)
    j0, j1 = _range(n2, math.exp(log_r), log_r, log_r_rest, limit, logs)
    if k0 > k1 or j0 > j1:
        return 0.0
    b1, d1, below, d2 = work[0], work[1], work[2], work[3]
    _binomial(n1, k0, k1, log_p, log_p_rest, logs, factorials, b1, d1)
    _binomial(n2, j0, j1, log_r, log_r_rest, logs, factorials, below, d2)
    for j in range(1, j1 - j0 + 1):
        below[j] += below[j - 1]
    least, middle = np.argmin(d2[: j1 - j0 + 1]), np.argmin(d1[: k1 - k0 + 1])
    total = 0.0
    for direction in (1, -1):
        low, high = 0, j1 - j0
        k = middle if direction == 1 else middle - 1
        while 0 <= k <= k1 - k0 and d1[k] + d2[least] < limit:
            while not d1[k] + d2[low] < limit:
                low += 1
            while not d1[k] + d2[high] < limit:
                high -= 1
            total += b1[k] * (below[high] - (below[low - 1] if low > 0 else 0.0))
            if total >= enough:
                return total
            k += direction
    return min(total, 1.0)


@kernel
def _binomial(n, first, last, log_p, log_rest, logs, factorials, probability, deviance):
    """Fill the probabilities and deviances of a binomial count from `first` to `last`."""
    odds = math.exp(log_p - log_rest)
    middle = min(max(int((n + 1) * math.exp(log_p)), first), last)
    log_ways = factorials[n] - factorials[middle] - factorials[n - middle]
    probability[middle - first] = math.exp(log_ways + middle * log_p + (n - middle) * log_rest)
    for k in range(middle, last):
        probability[k + 1 - first] = probability[k - first] * odds * (n - k) / (k + 1.0)
    for k in range(middle, first, -1):
        probability[k - 1 - first] = probability[k - first] * k / (odds * (n - k + 1.0))
    for k in range(first, last + 1):
        deviance[k - first] = _deviance(k, n, log_p, log_rest, logs)


@kernel
def _smaller(trials, limit, point, is_trinomial, enough, logs, factorials, work):
    """Return the probability of a statistic below `limit`, or a part of it that is at least `enough`."""
    if is_trinomial:
        return trinomial(trials[0], limit, point[0], point[1], point[2], enough, logs, factorials, work)
    return two_binomials(
        trials[0], trials[1], limit, point[0], point[1], point[2], point[3], enough, logs, factorials, work
    )


@kernel
def level_at(trials, q, point, is_trinomial, mid_p, enough, logs, factorials, work):
    """Return the level of a statistic q at a point, or any number from `enough` to it if it is larger than that.

    `trials` is (m, 0) for the trinomial and `point` its three log probabilities; for two binomials the two numbers of
    trials and the log probabilities of success and failure of both. The level is P(Y < q), ties not counted, or with
    half of the ties.
    """
    tie = max(TIE * max(1.0, q), _ROUNDING * (logs[trials[0]] + logs[trials[1]]))
    less = _smaller(trials, q - tie, point, is_trinomial, enough, logs, factorials, work)
    if not mid_p or less >= enough:
        return less
    return 0.5 * (
        less + _smaller(trials, q + tie, point, is_trinomial, 2.0 * enough - less, logs, factorials, work)
    )  # fmt: skip


@kernel
def points(trials, q, places, is_trinomial, mid_p, logs, factorials, out):
    """Put the levels at single points into `out`: one matrix, statistic and point each."""
    work = np.empty((7, len(logs)))
    for i in range(len(q)):
        out[i] = level_at(trials[i], q[i], places[i], is_trinomial, mid_p, math.inf, logs, factorials, work)


@kernel
def _locate(planes, is_trinomial, i, j, place):
    """Put the log probabilities of a point of the grid into `place`."""
    rows, full, columns = planes
    if is_trinomial:
        place[0] = -full[i, j]
        place[1], place[2] = rows[0, i] - full[i, j], columns[0, j] - full[i, j]
    else:
        place[0], place[1], place[2], place[3] = rows[0, i], rows[1, i], full[0, j], columns[0, j]


@kernel
def reduce(planes, weights, windows, trials, is_trinomial, mid_p, logs, factorials, out):
    """Put the least exact level over all matrices into `out`; 1 where no window is.

    The matrix of the least statistic comes first. Another one is only looked at where its level may be smaller: its
    lower bound says so, and its sum ends where it exceeds the least level so far.
    """
    rows, full, columns = planes
    work = np.empty((7, len(logs)))
    place = np.empty(4)
    least = np.empty(out.shape[1])
    first = np.empty(out.shape[1], np.int64)
    for i in range(len(out)):
        least[:] = np.inf
        first[:] = -1
        plane = full[min(i, len(full) - 1)]
        for again in range(2):
            for t in range(len(weights)):
                top, bottom, left, right = windows[t]
                if not top <= i < bottom:
                    continue
                w = weights[t]
                constant = w[0] + w[1] * rows[0, i] + w[2] * rows[1, i]
                for j in range(left, right):
                    q = constant + w[3] * plane[j] + w[4] * columns[0, j]
                    if again == 0:
                        if q < least[j]:
                            least[j], first[j] = q, t
                    elif first[j] != t and least_level(q) < out[i, j]:
                        _locate(planes, is_trinomial, i, j, place)
                        out[i, j] = min(
                            out[i, j],
                            level_at(trials[t], q, place, is_trinomial, mid_p, out[i, j], logs, factorials, work),
                        )
            for j in range(out.shape[1] if again == 0 else 0):
                out[i, j] = 1.0
                if first[j] >= 0:
                    _locate(planes, is_trinomial, i, j, place)
                    out[i, j] = level_at(
                        trials[first[j]], least[j], place, is_trinomial, mid_p, math.inf, logs, factorials, work
                    )
