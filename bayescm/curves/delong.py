"""Standard errors of the area under the ROC curve without resampling.

By DeLong, DeLong and Clarke-Pearson 1988 in O(n log n) (Sun and Xu 2014): the share of controls below a case, ties
counted half, comes from the ranking; of items that come in units by Obuchowski 1997. And by Hanley and McNeil 1982.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.curves.area_intervals import NOISE, Areas, Evidence, Found, nothing, on_logit_scale

Array = NDArray[np.float64]


def variance(shares: Sequence[Array], units: Sequence[NDArray[np.int64]] | None) -> float:
    """Return the variance of an area from what the items of each class (n,) add to it; of differences likewise."""
    return float(covariance([one[None] for one in shares], units)[0, 0])


def covariance(shares: Sequence[Array], units: Sequence[NDArray[np.int64]] | None) -> Array:
    """Return the covariance (systems, systems) of areas from what the items of each class (systems, n) add to them.

    What the items of a unit add is added up first, of each class with the correction for its own number of units, and
    of both together with that for all (Obuchowski 1997, Biometrics 53, 567-578).
    """
    gaps = [(one - one.mean(-1, keepdims=True)) / one.shape[-1] for one in shares]
    held = [one.shape[-1] for one in gaps] if units is None else [len(np.unique(unit)) for unit in units]
    if min(held) < 2:
        return np.full((len(gaps[0]),) * 2, np.nan)
    if units is None:
        return np.asarray(sum(n / (n - 1.0) * gap @ gap.T for n, gap in zip(held, gaps, strict=True)))
    count = 1 + max(int(unit.max()) for unit in units)
    sums = [np.stack([np.bincount(unit, row, count) for row in gap]) for unit, gap in zip(units, gaps, strict=True)]
    whole, common = np.sum(sums, 0), count / (count - 1.0)
    own = [(n / (n - 1.0) - common) * one @ one.T for n, one in zip(held, sums, strict=True)]
    return np.asarray(common * whole @ whole.T + np.sum(own, 0))


def mann_whitney(area: Any, first: Any, second: Any, cases: float, controls: float) -> Any:
    """Return the variance of an area, given that two cases are above a control, or two controls below a case (Q1, Q2).

    Hanley and McNeil 1982, eq. 1.
    """
    spread = (cases - 1.0) * (first - area**2) + (controls - 1.0) * (second - area**2)
    return (area * (1.0 - area) + spread) / (cases * controls)


def exponential(area: Any, cases: float, controls: float) -> Any:
    """Return the variance of an area of exponential scores."""
    return mann_whitney(area, area / (2.0 - area), 2.0 * area**2 / (1.0 + area), cases, controls)


def delong(areas: Evidence[Any], system: int, name: int) -> Found:
    """Return point +- z standard errors."""
    if areas.items.alone:
        return nothing(areas.items.alone)
    point = float(areas.point[system, name])
    error = float(np.sqrt(variance(areas.shares(system, name), areas.units)))
    if error < NOISE:
        return nothing(f"at an area of {point:g} its variance is 0, which is not certainty")
    return Found(error, point - areas.z * error, point + areas.z * error)


def logit_delong(areas: Evidence[Any], system: int, name: int) -> Found:
    """Return the interval on the logistic scale."""
    return on_logit_scale(areas, system, name, delong(areas, system, name))


def hanley_mcneil(areas: Areas, system: int, name: int) -> Found:
    """Return point +- z standard errors, with the Q1 and Q2 of exponential scores."""
    point = float(areas.point[system, name])
    if not 0.0 < point < 1.0:
        return nothing(f"at an area of {point:g} its variance is 0, which is not certainty")
    error = float(np.sqrt(exponential(point, areas.items.cases, areas.items.controls)))
    return Found(error, point - areas.z * error, point + areas.z * error)
