"""Draws of two distributions along one ranking, and what a ROC or PR curve says of each pair.

A ranking is a sequence of steps from the largest score down: a run of scores that controls alone have, and then, as a
rule, a score that cases have, with the controls that tie with them. Between two distinct scores lies a gap; gap g is
(g, g + 1) on the stretched axis, and the g-th distinct score (from 0) stands at g + 1. The mass that no item holds (the
sticks of a Dirichlet process) lies inside the gaps.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from bayescm._kernels.codes import Read
from bayescm._kernels.jit import kernel
from bayescm._kernels.masses import FEW, break_sticks, masses, most_sticks, spread

_HUGE = 1e15
_SMALL = 0.01


class Ranking(NamedTuple):
    """Where S steps lie among K distinct scores: int64 arrays."""

    first: Any
    """(S + 1,) the distinct score that each step begins with; the last is their number."""
    middle: Any
    """(S,) the distinct score that ends the step's run of controls; the step has it if the next begins behind it."""
    above: Any
    """(K + 1,) controls above each distinct score: where a run is split by a stick."""


class Steps(NamedTuple):
    """Items, or masses, of every step: the run of controls, the cases at the score behind it, the controls there."""

    run: Any
    cases: Any
    tied: Any


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
def merge(rng, ranking, given, places, sticks, order, marks, steps, at):
    """Put the masses of a ranking, the sticks and the marks in one sequence of steps.

    Parameters
    ----------
    rng : numpy.random.Generator
    ranking : Ranking
    given : Steps of float64 arrays (S,)
        Masses of the ranking's steps.
    places, sticks : float64 arrays (n,)
        Where the sticks lie, and their masses: of controls as negative numbers.
    order : int64 array (n,)
        Of the places, increasing.
    marks : float64 array (M,)
        Increasing places where the rates are to be read; no run passes one.
    steps : Steps of float64 arrays, filled
        Masses of the steps of the sequence.
    at : float64 array (M,), filled
        Steps before each mark.

    Returns
    -------
    int
        Number of steps.
    """
    first, middle, above = ranking
    runs, cases, tied = given
    df, dt, dtied = steps
    number, last = len(first) - 1, len(order) + len(marks)
    e, s, j, m, done = 0, 0, 0, 0, 0
    left = runs[0] if number else 0.0
    for event in range(last + 1):
        place = places[order[j]] if j < len(order) else np.inf
        marked = m < len(marks) and marks[m] <= place
        if event == last:
            goal = number
        elif marked:
            goal = min(np.searchsorted(first, int(marks[m])), number)
        else:
            goal = np.searchsorted(first, int(place), side="right") - 1
        if s < goal:
            while s < goal:
                df[e], dt[e], dtied[e] = left, cases[s], tied[s]
                e += 1
                s += 1
                left = runs[s] if s < number else 0.0
            done = above[first[s]]
        if event == last:
            break
        if marked:
            at[m] = e
            m += 1
            continue
        cut, end = above[int(place)], above[middle[s] if s < number else first[s]]
        part = left if cut == end else 0.0
        if done < cut < end:
            part = left * rng.beta(float(cut - done), float(end - cut))
        left -= part
        done = cut
        weight = sticks[order[j]]
        df[e], dt[e], dtied[e] = part, max(weight, 0.0), max(-weight, 0.0)
        e += 1
        j += 1
    return e


@kernel
def trace(steps, number, at, solid, odds, fprs, tprs, read):
    """Read one curve: a polygon of the steps, in which a tie is a slope.

    Parameters
    ----------
    steps : Steps of float64 arrays
        As :func:`merge` fills them; not normalised.
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
def single(rng, ranking, items, concentration, marks, odds, fprs, tprs, read):
    """Draw the curves of one ranking: a row of every output per draw.

    Parameters
    ----------
    rng : numpy.random.Generator
        Used up by these draws alone.
    ranking : Ranking
    items : Steps of int64 arrays (S,)
    concentration : float64 array (2,)
        Of controls, then cases.
    marks, fprs, tprs
        As of :func:`merge` and :func:`trace`.
    odds : float64 array (draws,)
    read : Read, filled
    """
    number = len(items.cases)
    given, noise = _room(number), np.empty(FEW * number)
    ties = items.tied.max() > 0
    members = items.run.sum() + items.tied.sum(), items.cases.sum()
    limits = most_sticks(concentration[0]), most_sticks(concentration[1])
    sticks, places = np.empty(limits[0] + limits[1]), np.empty(limits[0] + limits[1])
    steps, at = _room(number + len(sticks)), np.empty(len(marks))
    for d in range(len(odds)):
        masses(rng, items.run, noise, given.run)
        masses(rng, items.cases, noise, given.cases)
        if ties:
            masses(rng, items.tied, noise, given.tied)
        n0 = break_sticks(rng, concentration[0], members[0], sticks[: limits[0]])
        n1 = break_sticks(rng, concentration[1], members[1], sticks[n0 : n0 + limits[1]])
        for k in range(n0 + n1):
            places[k] = rng.random() * (ranking.first[-1] + 1)
        sticks[:n0] *= -1.0
        order = np.argsort(places[: n0 + n1])
        e = merge(rng, ranking, given, places, sticks, order, marks, steps, at)
        trace(steps, e, at, True, odds[d], fprs, tprs, _part(read, d))


@kernel
def joint(rng, positive, step_of, firsts, concentration, marks, odds, fprs, tprs, read):
    """Draw the curves of several systems that scored the same items: the items' masses are shared.

    Each system alone has the distribution of :func:`single`.

    Parameters
    ----------
    rng : numpy.random.Generator
    positive : bool array (n,)
    step_of : int64 array (systems, n)
        The distinct score, counted from the largest, that each system gave each item.
    firsts : int64 array (systems,)
        Number of distinct scores of each system.
    concentration, odds, fprs, tprs
        As of :func:`single`.
    marks : float64 array (systems, M)
    read : Read of arrays (systems, draws, ...), filled
    """
    systems, items = step_of.shape
    most = firsts.max()
    weights = np.empty(items)
    given = _room(most)  # no runs
    limits = most_sticks(concentration[0]), most_sticks(concentration[1])
    sticks, places = np.empty(limits[0] + limits[1]), np.empty(limits[0] + limits[1])
    steps, at = _room(most + len(sticks)), np.empty(marks.shape[1])
    numbers = np.arange(most + 1)  # a step for each distinct score, without a run
    nobody = np.zeros(most + 1, np.int64)
    for d in range(len(odds)):
        for i in range(items):
            weights[i] = rng.standard_exponential()
        n0 = break_sticks(rng, concentration[0], items - positive.sum(), sticks[: limits[0]])
        n1 = break_sticks(rng, concentration[1], positive.sum(), sticks[n0 : n0 + limits[1]])
        sticks[:n0] *= -1.0
        for k in range(systems):
            given.cases[:] = 0.0
            given.tied[:] = 0.0
            for i in range(items):
                if positive[i]:
                    given.cases[step_of[k, i]] += weights[i]
                else:
                    given.tied[step_of[k, i]] += weights[i]
            for j in range(n0 + n1):
                places[j] = rng.random() * (firsts[k] + 1)
            order = np.argsort(places[: n0 + n1])
            first = numbers[: firsts[k] + 1]
            e = merge(rng, Ranking(first, first[:-1], nobody), given, places, sticks, order, marks[k], steps, at)
            trace(steps, e, at, True, odds[d], fprs, tprs, _part(_part(read, k), d))


@kernel
def smoothed(rng, cases, controls, marks, odds, fprs, tprs, read):
    """Draw the curves of one ranking, the mass of each class spread between its items: rows as of :func:`single`.

    Parameters
    ----------
    rng : numpy.random.Generator
    cases, controls : int64 arrays (K,)
        Items at each distinct score.
    marks, odds, fprs, tprs, read
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
