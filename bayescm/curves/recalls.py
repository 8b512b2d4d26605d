"""Mean precision over a range of recalls: of drawn curves, and of samples as Davis and Goadrich interpolate them."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_SMALL = 1e-3


def mean_precision(recall: Array, fpr: Array, left: Array, odds: Array) -> Array:
    """Return the mean precision over a range of recalls, cut into cells.

    The false positive rate is known at both ends of each cell, and so is its mean, from the area to the left of the
    curve. It is taken to step up once within the cell, where the mean says: exact if at most one control lies there.

    Parameters
    ----------
    recall : ndarray of shape (cells + 1,)
        Ends of the cells.
    fpr, left : ndarray of shape (..., cells + 1)
        Least false positive rate at each recall, and the area to the left of the curve below it.
    odds : ndarray
        Of a control: (1 - prevalence) / prevalence.

    Returns
    -------
    ndarray of shape (...)
    """
    width = np.diff(recall)
    low, high = fpr[..., :-1], fpr[..., 1:]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(high > low, (high - np.diff(left) / width) / (high - low), 1.0)
    step = recall[:-1] + width * np.clip(share, 0.0, 1.0)
    area = _below(recall[:-1], step, odds * low) + _below(step, recall[1:], odds * high)
    return np.asarray(area.sum(-1) / (recall[-1] - recall[0]))


def _below(start: Array, stop: Array, controls: Array) -> Array:
    """Return the integral of t / (t + controls) over t, by its middle where a difference of logarithms is rounded."""
    length, middle = stop - start, (start + stop) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        x = length / (start + controls)
        exact = length - controls * np.log1p(x)
        curved = np.where(x < _SMALL, length * middle / (middle + controls), exact)
    return np.where((controls == 0.0) | (length == 0.0), length, curved)


def davis_goadrich(t: Array, f: Array, odds: float, ends: tuple[float, float]) -> Array:
    """Return the mean precision (D,) over a range of recalls of curves whose rates grow linearly between scores.

    Parameters
    ----------
    t, f : ndarray of shape (D, K + 1)
        True and false positive rates at and above each distinct score, 0 first.
    odds : float
        Of a control: (1 - prevalence) / prevalence.
    ends : pair of float

    Returns
    -------
    ndarray of shape (D,)
    """
    inside = np.clip(t, *ends)
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = np.where(np.diff(t) > 0.0, odds * np.diff(f) / np.diff(t), 0.0)
    controls = odds * f[:, :-1] - slope * t[:, :-1]
    area = _below(inside[:, :-1], inside[:, 1:], controls / (1.0 + slope)) / (1.0 + slope)
    return np.asarray(area.sum(1) / (ends[1] - ends[0]))
