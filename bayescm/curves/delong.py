"""Standard errors of the area under the ROC curve without resampling.

By DeLong, DeLong and Clarke-Pearson 1988 in O(n log n) (Sun and Xu 2014): the share of controls below a case, ties
counted half, comes from the ranking. And by Hanley and McNeil 1982.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.curves.area_intervals import NOISE, Areas, Evidence, Found, nothing, on_logit_scale

Array = NDArray[np.float64]


def variance(*shares: Array) -> Array:
    """Return the variance of an area from what the items of each class (..., n) add to it; of differences likewise."""
    return np.asarray(sum(one.var(-1, ddof=1) / one.shape[-1] for one in shares))


def covariance(of_cases: Array, of_controls: Array) -> Array:
    """Return the covariance (systems, systems) of areas from placements (systems, n) and (systems, m)."""
    if min(of_cases.shape[-1], of_controls.shape[-1]) < 2:
        return np.full((len(of_cases),) * 2, np.nan)
    return np.asarray(sum(np.atleast_2d(np.cov(one)) / one.shape[-1] for one in (of_cases, of_controls)))


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
    error = float(np.sqrt(variance(*areas.shares(system, name))))
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
