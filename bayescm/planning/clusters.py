"""Items to come in units: how many units tell as much as independent items."""

import math

import numpy as np
from scipy import stats

from bayescm.data import validate


def design_effect(unit_size: float | None, icc: float | None) -> float:
    """Return how many items of units stand for one that is independent."""
    if unit_size is None and icc is None:
        return 1.0
    if unit_size is None or icc is None:
        raise ValueError("`unit_size` and `icc` go together: items of a unit, and how alike two of them are (0 to 1).")
    size, alike = validate.number("unit_size", unit_size, 0, np.inf), validate.number("icc", icc, -1, 2)
    if size < 1.0 or not 0.0 <= alike <= 1.0:
        raise ValueError(f"`unit_size` must be at least 1 and `icc` from 0 to 1; got {size:g} and {alike:g}.")
    return 1.0 + (size - 1.0) * alike


def units_for(n: int, design: float, unit_size: float, assurance: float) -> int:
    """Return how many units tell as much as n independent items, though few of them may scatter more than expected."""
    least = max(math.ceil(n * design / unit_size), 2)
    units = least
    while units * unit_size < n * design * max(stats.chi2.ppf(assurance, units - 1) / (units - 1), 1.0):
        units = math.ceil(1.001 * units + 0.5)
    return units
