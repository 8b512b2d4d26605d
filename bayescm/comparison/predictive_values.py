"""Predictive values of two systems on the same items: both are shares of items that the systems themselves chose.

The weighted generalised score statistic (Kosinski 2013) and, for the ratio, the variance of the delta method in all
cells of the joint table (Moskowitz and Pepe 2006).
"""

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import special

from bayescm.comparison.frequentist import Proportion, proportion_of
from bayescm.comparison.inputs import COMPARISON, Compared
from bayescm.data.schema import CI_BOUND, METRIC, interval_coordinate
from bayescm.inference.proportions import normal_quantile

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_NOISE = 1e-12
_LONG_NAMES = {
    "point": "First value minus second",
    "interval": "Confidence interval of the difference",
    "ratio": "First value divided by the second",
    "ratio_interval": "Confidence interval of the ratio",
    "p_value": "Two-sided p-value of no difference, by the weighted generalised score test",
}


def predictive_values(compared: Compared, ci_prob: float) -> xr.Dataset | None:
    """Return the comparison of the metrics that are shares of predicted classes; None if there are none."""
    if compared.answers is None or compared.runs > 1:
        return None
    k, kept = len(compared.labels), {}
    for entry in compared.entries:
        share = proportion_of(entry, k, predicted=True)
        if share is not None and proportion_of(entry, k) is None:
            kept[entry.name] = share
    if not kept:
        return None
    values = np.array(
        [[_compared(compared, pair, share, ci_prob) for share in kept.values()] for pair in compared.pairs]
    )
    first, second = zip(*compared.names, strict=True)
    dims = (COMPARISON, METRIC)
    made = xr.Dataset(
        {
            "point": (dims, values[..., 0]), "interval": ((*dims, CI_BOUND), values[..., 1:3]),
            "ratio": (dims, values[..., 3]), "ratio_interval": ((*dims, CI_BOUND), values[..., 4:6]),
            "p_value": (dims, values[..., 6]),
        },
        coords={
            COMPARISON: compared.comparisons, "first": (COMPARISON, list(first)), "second": (COMPARISON, list(second)),
            METRIC: list(kept), CI_BOUND: interval_coordinate(ci_prob, "confidence"),
        },
    )  # fmt: skip
    for name, text in _LONG_NAMES.items():
        made[name].attrs = {"long_name": text, "units": "1"}
    return made


def _compared(compared: Compared, pair: tuple[int, int], share: Proportion, ci_prob: float) -> Array:
    """Return difference, bounds, ratio, bounds and p-value of one comparison."""
    answers = compared.answers
    if answers is None:
        raise ValueError("`data` must say which items both systems answered.")
    count = answers.counts.astype(np.float64)
    actual, given = answers.codes[:, 0], answers.codes[:, [1 + system for system in pair]]
    return of_items(share.classes[given], share.right[actual[:, None], given], count, ci_prob)


def of_items(chosen: Mask, right: Mask, count: Array, ci_prob: float) -> Array:
    """Return the same from what either system chose (P, 2), what is right of it, and how often that was seen."""
    totals, hits = count @ chosen, count @ (chosen & right)
    if totals.min() == 0:
        return np.full(7, np.nan)
    values = hits / totals
    influence = chosen * (right - values) / totals
    z = normal_quantile(ci_prob)
    difference = values[0] - values[1]
    error = np.sqrt(count @ (influence[:, 0] - influence[:, 1]) ** 2)
    bounds = difference + z * error * np.array([-1.0, 1.0]) if error > _NOISE else np.full(2, np.nan)
    ratio, ratios = np.nan, np.full(2, np.nan)
    if values.min() > 0:
        ratio = values[0] / values[1]
        shares = influence / values
        error = np.sqrt(count @ (shares[:, 0] - shares[:, 1]) ** 2)
        ratios = ratio * np.exp(z * error * np.array([-1.0, 1.0])) if error > _NOISE else ratios
    p_value = 2.0 * special.ndtr(-abs(_score(chosen, right, count)))
    return np.array([difference, *np.clip(bounds, -1.0, 1.0), ratio, *ratios, p_value])


def _score(chosen: Mask, right: Mask, count: Array) -> float:
    """Return the root of the weighted generalised score statistic: 0 where the systems chose the same items."""
    totals, hits = count @ chosen, count @ (chosen & right)
    pooled = hits.sum() / totals.sum()
    common = count @ np.prod(chosen * (right - pooled), axis=1)
    variance = pooled * (1.0 - pooled) * (1.0 / totals).sum() - 2.0 * common / totals.prod()
    difference = hits[0] / totals[0] - hits[1] / totals[1]
    return float(difference / np.sqrt(variance)) if variance > _NOISE * pooled * (1.0 / totals).sum() else 0.0
