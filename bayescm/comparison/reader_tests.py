"""What readers' areas and rates vary by, and the tests of Obuchowski and Rockette that follow from it."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bayescm.curves.weighted import areas, parts
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.readings import Readings

Array = NDArray[np.float64]

METRICS = {"auc": False, "accuracy": True, "recall": True, "specificity": True}
"""What readers are judged by, and whether it is of calls."""
COVARIANCES = ("delong", "jackknife", "bootstrap")
SAMPLED = ("readers and cases", "cases", "readers")
"""What was sampled: to what an answer generalises."""


class Merit(NamedTuple):
    """What each case adds to every system's and reader's metric, which is a mean of these.

    Attributes
    ----------
    shares : tuple of ndarray of shape (systems, readers, n)
        For each kind of case by which the metric is a mean; NaN where a case wasn't read.
    places : tuple of ndarray of shape (n,)
        Which cases these are.
    """

    shares: tuple[Array, ...]
    places: tuple[NDArray[np.intp], ...]


def merit(readings: Readings, metric: str) -> Merit:
    """Return what each case adds: of areas its placement, the share of the other class that is on the right side."""
    positive, negative = np.flatnonzero(readings.positive), np.flatnonzero(~readings.positive)
    values = readings.value
    if metric == "auc":
        shape = values.shape[:2]
        of_cases, of_controls = (np.full((*shape, len(at)), np.nan) for at in (positive, negative))
        for place in np.ndindex(*shape):
            cases, controls = values[place][positive], values[place][negative]
            of_cases[place] = _below(cases, controls)
            of_controls[place] = 1.0 - _below(controls, cases)
        return Merit((of_cases, of_controls), (positive, negative))
    right = np.where(readings.positive, values, 1.0 - values)
    at = {"accuracy": np.arange(len(readings.positive)), "recall": positive, "specificity": negative}[metric]
    return Merit((right[..., at],), (at,))


def _below(some: Array, others: Array) -> Array:
    """Return which share of others is below each, ties counted half; NaN where there are none."""
    known = np.sort(others[~np.isnan(others)])
    ends = [np.searchsorted(known, some, side) for side in ("left", "right")]
    return np.where(np.isnan(some) | (len(known) == 0), np.nan, (ends[0] + ends[1]) / (2.0 * max(len(known), 1)))


def weighted(readings: Readings, metric: str, weights: Array) -> Array:
    """Return the metric (n, systems, readers) of cases that weigh (n, cases)."""
    flat = readings.value.reshape(-1, readings.value.shape[-1])
    if metric == "auc":
        found = np.stack([areas(one, readings.positive, weights) for one in flat], -1)
    else:
        (right,), (at,) = merit(readings, metric)
        right = right.reshape(len(flat), -1)
        known = ~np.isnan(right)
        with np.errstate(invalid="ignore"):
            found = (weights[:, at] @ np.where(known, right, 0.0).T) / (weights[:, at] @ known.T.astype(np.float64))
    return found.reshape(len(weights), *readings.value.shape[:2])


def covariance(readings: Readings, metric: str, method: str, draws: int, seed: int) -> Array:
    """Return the covariance (systems x readers, systems x readers) of the metric, by cases that were sampled.

    Readings of cases that two have in common make their covariance; without one it is 0.
    """
    found = merit(readings, metric)
    if method == "delong":
        return np.asarray(sum(_of_shares(one) for one in found.shares))
    if method == "jackknife":
        return _of_shares(_pseudo(readings, found))
    rng, drawn = matrix_rng(seed, 0, Stream.READERS), []
    for n in parts(draws, readings.value.shape[-1]):
        weights = np.ones((n, readings.value.shape[-1]))
        for at in found.places:
            weights[:, at] = rng.multinomial(len(at), np.full(len(at), 1.0 / len(at)), len(weights))
        drawn.append(weighted(readings, metric, weights).reshape(len(weights), -1))
    flat = np.concatenate(drawn)
    return np.atleast_2d(np.cov(flat[np.isfinite(flat).all(1)], rowvar=False))


def _pseudo(readings: Readings, found: Merit) -> Array:
    """Return by how much each case moves the metric, as its pseudovalue does: of all cases that were read."""
    moved = np.where(readings.read, 0.0, np.nan)
    n = readings.read.sum(-1, keepdims=True)
    for shares, at in zip(found.shares, found.places, strict=True):
        known = (~np.isnan(shares)).sum(-1, keepdims=True)
        moved[..., at] = (n - 1) * (shares - np.nanmean(shares, -1, keepdims=True)) / (known - 1)
    return moved


def _of_shares(shares: Array) -> Array:
    """Return the covariance of means over cases, of which any two may have some in common."""
    flat = shares.reshape(-1, shares.shape[-1])
    known = ~np.isnan(flat)
    apart = np.where(known, flat - np.nanmean(flat, -1, keepdims=True), 0.0)
    both, n = known.astype(np.float64) @ known.T, known.sum(-1)
    correction = np.divide(both, both - 1.0, out=np.zeros_like(both), where=both > 1)
    return np.asarray(correction * (apart @ apart.T) / np.outer(n, n))


@dataclass(frozen=True)
class Study:
    """Metrics of systems and readers, and how they covary as cases are sampled.

    Attributes
    ----------
    value : ndarray of shape (systems, readers)
    covariance : ndarray of shape (systems, readers, systems, readers)
    """

    value: Array
    covariance: Array

    @property
    def size(self) -> tuple[int, int]:
        """Return the numbers of systems and readers."""
        return self.value.shape[0], self.value.shape[1]

    @cached_property
    def squares(self) -> tuple[float, float, float]:
        """Return the mean squares of systems, of readers, and of both together; NaN without degrees of freedom."""
        (t, r), v = self.size, self.value
        of_system, of_reader, all_ = v.mean(1), v.mean(0), v.mean()
        both = v - of_system[:, None] - of_reader + all_
        with np.errstate(invalid="ignore", divide="ignore"):
            return tuple(  # type: ignore[return-value]
                float(np.divide(total, df))
                for total, df in (
                    (r * ((of_system - all_) ** 2).sum(), t - 1), (t * ((of_reader - all_) ** 2).sum(), r - 1),
                    ((both**2).sum(), (t - 1) * (r - 1)),
                )
            )  # fmt: skip

    @cached_property
    def components(self) -> tuple[float, float, float, float]:
        """Return the error variance, and the covariances of one reader, of one system, and of neither (Cov1 to 3)."""
        t, r = self.size
        same_system, same_reader = np.eye(t, dtype=bool)[:, None, :, None], np.eye(r, dtype=bool)[None, :, None, :]
        kinds = (same_system & same_reader, ~same_system & same_reader, same_system & ~same_reader,
                 ~same_system & ~same_reader)  # fmt: skip
        picked = [self.covariance[np.broadcast_to(one, self.covariance.shape)] for one in kinds]
        return tuple(float(one.mean()) if one.size else 0.0 for one in picked)  # type: ignore[return-value]

    def of_system(self, i: int) -> "Study":
        """Return one system alone."""
        return Study(self.value[[i]], self.covariance[i : i + 1, :, i : i + 1])

    def error(self, sampled: str) -> tuple[float, float]:
        """Return the mean square by which that of systems is judged, and its degrees of freedom (Hillis 2007).

        Of one system, by which the mean square of readers is: r times the variance of its mean.
        """
        (t, r), (error, cov1, cov2, cov3) = self.size, self.components
        if t == 1:
            square, df, apart, fixed = self.squares[1], r - 1.0, cov2, error + (r - 1) * cov2
        else:
            square, df, apart = self.squares[2], (t - 1.0) * (r - 1.0), cov2 - cov3
            fixed = error - cov1 + (r - 1) * apart
        if sampled == "cases":
            return fixed, np.inf
        if sampled == "readers":
            return square, df
        whole = square + r * max(apart, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return whole, float(np.divide(whole**2 * df, square**2))


def two_sided(t: float, df: float) -> float:
    """Return the two-sided p-value of a t statistic."""
    return float(2.0 * stats.t.sf(abs(t), df))


def power(study: Study, difference: float, readers: Array, cases: float | Array, level: float) -> Array:
    """Return the power to find a difference of two systems with other numbers of readers and of cases.

    Hillis, Obuchowski and Berbaum 2011: a noncentral F with the degrees of freedom of Hillis; readers and cases are
    sampled.

    Parameters
    ----------
    study : Study
        The pilot.
    difference : float
    readers : array_like
        Numbers of readers.
    cases : array_like
        Numbers of cases, as multiples of the pilot's, with the same share of positive ones.
    level : float
        Of the test, such as 0.05.
    """
    (t, _r), (error, cov1, cov2, cov3) = study.size, study.components
    of_both = max(study.squares[2] - error + cov1 + max(cov2 - cov3, 0.0), 0.0)
    apart, alone = max(cov2 - cov3, 0.0) / cases, (error - cov1) / cases
    square = of_both + alone - apart
    whole = square + readers * apart
    df = whole**2 * (t - 1) * (readers - 1) / square**2
    noncentrality = readers * difference**2 / 2.0 / whole
    critical = stats.f.isf(level, t - 1, df)
    return np.asarray(stats.ncf.sf(critical, t - 1, df, noncentrality))
