"""Areas under empirical ROC and PR curves of many weighted samples: resamples, samples without one item.

A sample is given by the cases and controls at each distinct score, from the largest down. A control weighs `worth`
cases, which gives the precision at a prevalence other than the sample's.
"""

import numpy as np

from bayescm._kernels.codes import AUC, AVERAGE, CONVEX, LOWER, MAX, MEDIAN, UPPER
from bayescm._kernels.jit import kernel
from bayescm._kernels.roc import under


@kernel
def points(cases, controls, t, f):
    """Fill the cases and controls at and above each score that occurs, (0, 0) first; return the last index."""
    t[0] = f[0] = 0.0
    e = 0
    for k in range(len(cases)):
        if cases[k] + controls[k] > 0:
            e += 1
            t[e] = t[e - 1] + cases[k]
            f[e] = f[e - 1] + controls[k]
    return e


@kernel
def precision(t, f, worth):
    """Return the precision of t cases and f controls; 1 where nothing is predicted positive."""
    return t / (t + worth * f) if t + f > 0.0 else 1.0


@kernel
def roc(t, f, e):
    """Return the area under the ROC curve, ties counted half: exact sums, one division."""
    twice = 0.0
    for k in range(1, e + 1):
        twice += (f[k] - f[k - 1]) * (t[k] + t[k - 1])
    return twice / (2.0 * t[e] * f[e])


@kernel
def average_precision(t, f, e, worth):
    """Return the mean over the cases of the precision at their score and above."""
    total = 0.0
    for k in range(1, e + 1):
        if t[k] > t[k - 1]:
            total += (t[k] - t[k - 1]) * precision(t[k], f[k], worth)
    return total / t[e]


@kernel
def trapezoids(t, f, e, worth, lower):
    """Join the largest precision of a recall to the smallest, or largest, of the recall before."""
    total, left = 0.0, 1.0
    a = 0
    while a <= e:
        b = a
        while b < e and t[b + 1] == t[a]:
            b += 1
        top = precision(t[a], f[a], worth)
        if a > 0:
            total += 0.5 * (left + top) * (t[a] - t[a - 1])
        left = precision(t[b], f[b], worth) if lower else top
        a = b + 1
    return total / t[e]


@kernel
def middle(t, f, a, b, worth, code):
    """Return the largest, mean or median precision of the points a to b, which share their recall."""
    if code == MAX:
        return precision(t[a], f[a], worth)
    if code == MEDIAN:  # the precision falls from a to b
        low, high = (a + b) // 2, (a + b + 1) // 2
        return 0.5 * (precision(t[low], f[low], worth) + precision(t[high], f[high], worth))
    total = 0.0
    for k in range(a, b + 1):
        total += precision(t[k], f[k], worth)
    return total / (b - a + 1)


@kernel
def interpolated(t, f, e, worth, code):
    """Integrate the interpolation (Theorem 1 of Boyd et al.) through one precision for each recall."""
    total, last_t, last_f = 0.0, 0.0, 0.0
    a = 0
    while a <= e:
        b = a
        while b < e and t[b + 1] == t[a]:
            b += 1
        if t[a] > 0.0:
            p = middle(t, f, a, b, worth, code)
            here = t[a] * (1.0 - p) / p
            total += under(last_t, last_f, t[a] - last_t, max(here - last_f, 0.0))
            last_t, last_f = t[a], here
        a = b + 1
    return total / t[e]


@kernel
def convex(t, f, e, worth, hull):
    """Integrate the PR curve of the ROC curve's convex hull."""
    size = 0
    for k in range(e + 1):
        while size >= 2:
            i, j = hull[size - 2], hull[size - 1]
            if (f[j] - f[i]) * (t[k] - t[i]) - (t[j] - t[i]) * (f[k] - f[i]) < 0.0:
                break
            size -= 1
        hull[size] = k
        size += 1
    total = 0.0
    for s in range(1, size):
        i, j = hull[s - 1], hull[s]
        total += under(t[i], worth * f[i], t[j] - t[i], worth * (f[j] - f[i]))
    return total / t[e]


@kernel
def fill(cases, controls, odds, codes, t, f, hull, found):
    """Fill one area per code.

    Parameters
    ----------
    cases, controls : int64 arrays (K,)
        Items at each distinct score; at least one of each.
    odds : float64
        Of a control: (1 - prevalence) / prevalence.
    codes : int64 array (E,)
        Which areas; a negative one is skipped.
    t, f : float64 arrays (K + 1,), scratch
    hull : int64 array (K + 1,), scratch
    found : float64 array (E,), filled
    """
    e = points(cases, controls, t, f)
    worth = odds * t[e] / f[e]
    for c in range(len(codes)):
        code = codes[c]
        if code == AUC:
            found[c] = roc(t, f, e)
        elif LOWER <= code <= UPPER:
            found[c] = trapezoids(t, f, e, worth, code == LOWER)
        elif code == AVERAGE:
            found[c] = average_precision(t, f, e, worth)
        elif code == CONVEX:
            found[c] = convex(t, f, e, worth, hull)
        elif code >= MAX:
            found[c] = interpolated(t, f, e, worth, code)


@kernel
def samples(cases, controls, odds, codes, found):
    """Fill the areas (D, E) of several samples (D, K)."""
    k = cases.shape[1]
    t, f, hull = np.empty(k + 1), np.empty(k + 1), np.empty(k + 1, np.int64)
    for d in range(len(cases)):
        fill(cases[d], controls[d], odds, codes, t, f, hull, found[d])


@kernel
def leave_one_out(cases, controls, odds, codes, without_case, without_control):
    """Fill the areas (K, E) of a sample that lacks one of the cases, or controls, at a score; others stay as they are.

    Neighbouring scores that one class alone has, equally often, give the same curve: they are evaluated once.
    """
    size = len(cases)
    t, f, hull = np.empty(size + 1), np.empty(size + 1), np.empty(size + 1, np.int64)
    for mine, others, without in ((cases, controls, without_case), (controls, cases, without_control)):
        for k in range(size):
            if mine[k] == 0:
                continue
            if k > 0 and others[k] == 0 and others[k - 1] == 0 and mine[k] == mine[k - 1]:
                without[k] = without[k - 1]
                continue
            mine[k] -= 1
            fill(cases, controls, odds, codes, t, f, hull, without[k])
            mine[k] += 1


@kernel
def moments(score, counts, found):
    """Fill the mean and the standard deviation of scores that occur a number of times."""
    n, total, squares = 0, 0.0, 0.0
    for k in range(len(score)):
        if counts[k] > 0:
            n += counts[k]
            total += counts[k] * score[k]
    mean = total / n
    for k in range(len(score)):
        if counts[k] > 0:
            squares += counts[k] * (score[k] - mean) ** 2
    found[0], found[1] = mean, np.sqrt(squares / (n - 1))


@kernel
def resample(rng, case_step, control_step, score, sizes, odds, codes, found, normal):
    """Fill the areas of stratified bootstrap resamples: the same items for every system.

    Parameters
    ----------
    rng : numpy.random.Generator
    case_step, control_step : int64 arrays (systems, n) and (systems, m)
        Position of each item's score among the distinct ones, from the largest.
    score : float64 array (systems, K)
        Distinct scores.
    sizes : int64 array (systems,)
        Numbers of distinct scores.
    odds, codes
        As of :func:`fill`.
    found : float64 array (draws, systems, E), filled
    normal : float64 array (draws, systems, 2, 2) or (0, ...), filled
        Mean and standard deviation of the controls' scores, then of the cases'.
    """
    systems, n = case_step.shape
    m = control_step.shape[1]
    most = sizes.max()
    case_pick, control_pick = np.empty(n, np.int64), np.empty(m, np.int64)
    cases, controls = np.empty(most, np.int64), np.empty(most, np.int64)
    t, f, hull = np.empty(most + 1), np.empty(most + 1), np.empty(most + 1, np.int64)
    for d in range(len(found)):
        for i in range(n):
            case_pick[i] = int(rng.random() * n)
        for j in range(m):
            control_pick[j] = int(rng.random() * m)
        for s in range(systems):
            size = sizes[s]
            cases[:size] = 0
            controls[:size] = 0
            for i in range(n):
                cases[case_step[s, case_pick[i]]] += 1
            for j in range(m):
                controls[control_step[s, control_pick[j]]] += 1
            fill(cases[:size], controls[:size], odds, codes, t, f, hull, found[d, s])
            if len(normal) > 0:
                moments(score[s, :size], controls[:size], normal[d, s, 0])
                moments(score[s, :size], cases[:size], normal[d, s, 1])
