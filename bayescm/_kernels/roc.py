"""Draws of two distributions along one ranking, and what a ROC or PR curve says of each pair.

A ranking is a sequence of steps from the largest score down: a run of scores that controls alone have, and then, as a
rule, a score that cases have, with the controls that tie with them. Between two distinct scores lies a gap; gap g is
(g, g + 1) on the stretched axis, and the g-th distinct score (from 0) stands at g + 1. A smoothed distribution has mass
inside the gaps.
"""

import math

import numpy as np

from bayescm._kernels.codes import Read, Steps
from bayescm._kernels.jit import kernel
from bayescm._kernels.masses import FEW, masses, spread

_HUGE = 1e15
_SMALL = 0.01


@kernel
def _part(read, i):
    """Return what is read of one draw, or of one system's draws."""
    areas, tpr, under, fpr, left, mark_tpr, mark_fpr = read
    return Read(areas[i], tpr[i], under[i], fpr[i], left[i], mark_tpr[i], mark_fpr[i])


@kernel
def _room(size):
    """Return room for the masses of a number of steps."""
    return Steps(np.zeros(size), np.zeros(size), np.zeros(size))


@kernel
def draw_masses(rng, items, shapes, noise, filled):
    """Fill the masses of all steps: gamma variables of a shape for every item, of controls and of cases."""
    masses(rng, items.run, shapes[0], noise, filled.run)
    masses(rng, items.cases, shapes[1], noise, filled.cases)
    masses(rng, items.tied, shapes[0], noise, filled.tied)


@kernel
def prior_weight(rng, weight, members):
    """Return the mass of the prior item of a class; without other items any will do, and a small shape underflows."""
    return 0.0 if weight <= 0.0 else rng.standard_gamma(weight) if members > 0 else 1.0


@kernel
def with_prior_items(rng, ranking, items, given, weights, shape, steps, at):
    """Copy a ranking's steps with a prior item of each class, which has the score of an item of the other class.

    That item is drawn by its mass. One of a run is drawn among the run's controls: its mass has one unit of shape more
    than it had.

    Parameters
    ----------
    rng : numpy.random.Generator
    ranking : Ranking
    items : Steps of int64 arrays (S,)
    given : Steps of float64 arrays (S,)
        Masses of the ranking's steps.
    weights : pair of float64
        Masses of the prior control and the prior case.
    shape : float64
        Of a control's mass.
    steps : Steps of float64 arrays, filled
        Masses of the steps of the sequence.
    at : float64 array (M,), filled
        Steps before each mark.

    Returns
    -------
    int
        Number of steps.
    """
    first, above, cuts = ranking
    runs, cases, tied = given
    df, dt, dtied = steps
    goal_f, goal_t = rng.random() * (runs.sum() + tied.sum()), rng.random() * cases.sum()
    new_control, new_case = weights
    t, f, e, m = 0.0, 0.0, 0, 0
    for s in range(len(runs)):
        while m < len(cuts) and cuts[m] == s:
            at[m] = e
            m += 1
        run, up, right = runs[s], cases[s], tied[s]
        f += run
        if new_case > 0.0 and f > goal_f:
            start, number = above[first[s]], items.run[s]
            k = np.searchsorted(above, start + int(rng.random() * number), side="right") - 1
            before, alike = above[k] - start, above[k + 1] - above[k]
            behind = number - before - alike
            front = rng.standard_gamma(shape * before) if before > 0 else 0.0
            own = rng.standard_gamma(shape * alike + 1.0)
            rest = rng.standard_gamma(shape * behind) if behind > 0 else 0.0
            part = run / (front + own + rest)
            df[e], dt[e], dtied[e] = front * part, new_case, own * part
            e += 1
            run, new_case = rest * part, 0.0
        f += right
        t += up
        df[e], dt[e], dtied[e] = run, up, right
        if f > goal_f:
            dt[e] += new_case
            new_case = 0.0
        if t > goal_t:
            dtied[e] += new_control
            new_control = 0.0
        e += 1
    while m < len(cuts):
        at[m] = e
        m += 1
    return e


@kernel
def trace(steps, number, at, solid, odds, fprs, tprs, read):
    """Read one curve: a polygon of the steps, in which a tie is a slope.

    Parameters
    ----------
    steps : Steps of float64 arrays
        As :func:`with_prior_items` fills them; not normalised.
    number : int
        How many of them there are.
    at : float64 array (M,)
        Steps before each mark, with the share of the step that it lies in.
    solid : bool
        Whether every step is an atom. Else those with even numbers are spread over a gap.
    odds : float64
        Of a control: (1 - prevalence) / prevalence.
    fprs, tprs : float64 arrays
        Increasing in [0, 1].
    read : Read, filled
        Of one draw.
    """
    df, dt, dtied = steps
    summaries, tpr, area_tpr, fpr, area_fpr, mark_tpr, mark_fpr = read
    all_t, all_f = 0.0, 0.0
    for e in range(number):
        all_t += dt[e]
        all_f += df[e] + dtied[e]
    worth = odds * all_t / all_f  # of a control's mass, in units of cases
    t, f, auc, ap, pr, left, last = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    i, j, m = 0, 0, 0
    while j < len(tprs) and tprs[j] <= 0.0:
        fpr[j], area_fpr[j] = 0.0, 0.0
        j += 1
    next_f, next_t = _mass_at(fprs, 0, all_f), _mass_at(tprs, j, all_t)
    for e in range(number):
        run, up, right = df[e], dt[e], dtied[e]
        while m < len(at) and at[m] < e + 1:
            share = at[m] - e
            mark_tpr[m] = min((t + share * up) / all_t, 1.0)  # the sums may differ in the last digit
            mark_fpr[m] = min((f + run + share * right if share > 0.0 else f) / all_f, 1.0)
            m += 1
        while next_f < f + run + right:
            over = max(next_f - f, 0.0)
            flat = min(over, run)
            slope = up / right if over > run else 0.0
            tpr[i] = min((t + slope * (over - flat)) / all_t, 1.0)
            area_tpr[i] = (auc + over * t + 0.5 * slope * (over - flat) ** 2) / (all_t * all_f)
            i += 1
            next_f = _mass_at(fprs, i, all_f)
        auc += run * t + right * (t + 0.5 * up)
        f += run
        while next_t <= t + up and up > 0.0:
            over = max(next_t - t, 0.0)
            fpr[j] = min((f + right * (over / up)) / all_f, 1.0)
            area_fpr[j] = (left + over * (f + 0.5 * right * (over / up))) / (all_t * all_f)
            j += 1
            next_t = _mass_at(tprs, j, all_t)
        if right > 0.0:
            area = under(t, worth * f, up, worth * right)
        else:
            area = up - worth * f * _log(up / (t + worth * f)) if f > 0.0 else up
        pr += area
        if up > 0.0:
            ap += up * ((t + up) / (t + up + worth * (f + right))) if solid or e % 2 else area
        left += up * (f + 0.5 * right)
        t += up
        f += right
        last = f if up > 0.0 else last
    while m < len(at):
        mark_tpr[m], mark_fpr[m] = 1.0, 1.0
        m += 1
    while i < len(fprs):  # a rate of 1
        tpr[i], area_tpr[i] = 1.0, auc / (all_t * all_f)
        i += 1
    while j < len(tprs):
        fpr[j], area_fpr[j] = min(last / all_f, 1.0), left / (all_t * all_f)
        j += 1
    summaries[0], summaries[1], summaries[2] = auc / (all_t * all_f), ap / all_t, pr / all_t


@kernel
def _mass_at(rates, i, total):
    """Return the mass at which the i-th rate is to be read; a rate of 1 is read at the end, whatever was rounded."""
    return rates[i] * total if i < len(rates) and rates[i] < 1.0 else np.inf


@kernel
def under(t, f, up, right):
    """Return the integral of (t + x) / (t + x + f + right x / up) over x in (0, up)."""
    if f + right <= 0.0 or up <= 0.0:
        return up
    slope = 1.0 + right / up if right > 0.0 else 1.0
    start = t + f
    x = slope * up / start
    if not x < _HUGE:  # also at the origin
        return up / slope
    return (up + (t - start / slope) * _log(x)) / slope


@kernel
def _log(x):
    """Return log(1 + x): of small numbers by a series that is right to 2e-13 and takes no logarithm."""
    series = x * (1.0 - x * (1 / 2 - x * (1 / 3 - x * (1 / 4 - x * (1 / 5 - x / 6)))))
    return series if x < _SMALL else math.log1p(x)


@kernel
def single(rng, ranking, items, prior, odds, fprs, tprs, read):
    """Draw the curves of one ranking: a row of every output per draw.

    Parameters
    ----------
    rng : numpy.random.Generator
        Used up by these draws alone.
    ranking : Ranking
    items : Steps of int64 arrays (S,)
    prior : float64 array (2, 2)
        Of controls, then cases: the shape of an item's mass, and that of the prior item's.
    fprs, tprs
        As of :func:`trace`.
    odds : float64 array (draws,)
    read : Read, filled
    """
    number = len(items.cases)
    given, noise = _room(number), np.empty(FEW * number)
    members = items.run.sum() + items.tied.sum(), items.cases.sum()
    steps, at = _room(number + 1), np.empty(len(ranking.cuts))
    for d in range(len(odds)):
        draw_masses(rng, items, prior[:, 0], noise, given)
        weights = prior_weight(rng, prior[0, 1], members[0]), prior_weight(rng, prior[1, 1], members[1])
        e = with_prior_items(rng, ranking, items, given, weights, prior[0, 0], steps, at)
        trace(steps, e, at, True, odds[d], fprs, tprs, _part(read, d))


@kernel
def joint(rng, positive, step_of, firsts, prior, leads, sizes, cuts, odds, fprs, tprs, read):
    """Draw the curves of several systems that scored the same items: the items' masses and prior items are shared.

    Each system alone has the distribution of :func:`single`, but where items come in units, which share a mass.

    Parameters
    ----------
    rng : numpy.random.Generator
    positive : bool array (n,)
    step_of : int64 array (systems, n)
        The distinct score, counted from the largest, that each system gave each item.
    firsts : int64 array (systems,)
        Number of distinct scores of each system.
    prior, fprs, tprs
        As of :func:`single`.
    leads : int64 array (n,)
        The first item of each item's unit.
    sizes : float64 array (2,)
        Items of a unit that the prior item of each class stands for.
    odds : float64 array (draws,)
        As of :func:`single`; NaN for those of the masses, which are filled in.
    cuts : float64 array (systems, M)
        Distinct scores before each mark.
    read : Read of arrays (systems, draws, ...), filled
    """
    systems, items = step_of.shape
    weights, steps = np.empty(items), _room(firsts.max())  # a step for each distinct score, without a run
    of_class = positive.astype(np.int64)
    members = items - positive.sum(), positive.sum()
    totals, goals, own = np.empty(2), np.empty(2), np.empty(2)
    picked = np.empty(2, np.int64)
    for d in range(len(odds)):
        totals[:] = 0.0
        for i in range(items):
            shape = prior[of_class[i], 0]
            if leads[i] < i:
                weights[i] = weights[leads[i]]
            else:
                weights[i] = rng.standard_exponential() if shape == 1.0 else rng.standard_gamma(shape)
            totals[of_class[i]] += weights[i]
        for c in range(2):
            own[c] = sizes[c] * prior_weight(rng, prior[c, 1], members[c])
            goals[c] = rng.random() * totals[c]
        picked[:] = -1  # of each class the item that the other's prior item looks like
        totals[:] = 0.0
        for i in range(items):
            c = of_class[i]
            totals[c] += weights[i]
            if picked[c] < 0 and totals[c] > goals[c]:
                picked[c] = i
        if np.isnan(odds[d]):
            odds[d] = (totals[0] + own[0]) / (totals[1] + own[1])
        for k in range(systems):
            steps.cases[:] = 0.0
            steps.tied[:] = 0.0
            for i in range(items):
                if positive[i]:
                    steps.cases[step_of[k, i]] += weights[i]
                else:
                    steps.tied[step_of[k, i]] += weights[i]
            if picked[0] >= 0:
                steps.cases[step_of[k, picked[0]]] += own[1]
            if picked[1] >= 0:
                steps.tied[step_of[k, picked[1]]] += own[0]
            trace(steps, firsts[k], cuts[k], True, odds[d], fprs, tprs, _part(_part(read, k), d))


@kernel
def smoothed(rng, cases, controls, marks, odds, fprs, tprs, read):
    """Draw the curves of one ranking, the mass of each class spread between its items: rows as of :func:`single`.

    Parameters
    ----------
    rng : numpy.random.Generator
    cases, controls : int64 arrays (K,)
        Items at each distinct score.
    marks : float64 array (M,)
        Increasing places on the stretched axis where the rates are to be read.
    odds, fprs, tprs, read
        As of :func:`single`.
    """
    k = len(cases)
    gap_t, gap_f, atom_t, atom_f = np.empty(k + 1), np.empty(k + 1), np.empty(k), np.empty(k)
    steps = _room(2 * k + 1)  # no runs
    at = np.floor(marks) * 2.0 + marks % 1.0
    for d in range(len(odds)):
        spread(rng, cases, gap_t, atom_t)
        spread(rng, controls, gap_f, atom_f)
        steps.cases[::2], steps.cases[1::2] = gap_t, atom_t
        steps.tied[::2], steps.tied[1::2] = gap_f, atom_f
        trace(steps, 2 * k + 1, at, False, odds[d], fprs, tprs, _part(read, d))
