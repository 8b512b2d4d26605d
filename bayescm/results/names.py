"""Metrics as results name them: in words, and what is known about them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data.schema import ALIAS, ASKS, METRIC, ONE_CLASS, PREDICTED, labels_of
from bayescm.data.units import SAMPLED
from bayescm.metrics import Metric, of_one_class, resolve
from bayescm.results.writing import listed

NO_ITEMS = "no_items"
"""The attr that names classes without items."""
CARRIED_BY = "carried_by"
"""The attr that says what little data an answer rests on."""
LEFT_OUT = "left_out"
"""The attr that says which tests weren't made."""
FEW = 3
"""Items below which a class says too little of itself to enter an average unremarked: see the study `learned`."""
MOVED = 0.75
"""Standard deviations by which a prior moves an average unremarked: 95% intervals then held in .91 (accuracy) and .89
(macro recall) of the study `learned`'s matrices, and in .23 and .43 where it moves them by more than 1.5."""
MOST_ROWS = 40
"""Rows of a table that are shown; of more matrices no sentence is told."""


def notes_of(attrs: Mapping[Any, Any]) -> str:
    """Return what an answer's attrs say of the little that it rests on, as sentences; nothing where that isn't said."""
    sampled = str(attrs.get(SAMPLED, ""))
    told = [f"{sampled[0].upper()}{sampled[1:]}."] if sampled else []
    return " ".join(
        [*told, *(f"Note: {attrs[name]}." for name in (NO_ITEMS, CARRIED_BY, ASKS, LEFT_OUT) if name in attrs)]
    )


def called(metric: str, alias: str = "") -> str:
    """Return a metric's name as the user called it, with the canonical one beside: "sensitivity (recall)"."""
    return f"{alias} ({metric.partition('[')[0]})" if alias not in ("", metric) else metric


def of_metric(one: xr.Dataset) -> dict[str, str]:
    """Return the canonical name of the only metric, and the one that the user gave it, as records have them."""
    return {name: str(one[name].item()) for name in (METRIC, ALIAS) if name in one.coords}


def metric_names(data: xr.Dataset) -> list[str]:
    """Return the names of the metrics of a Dataset, as they are shown."""
    aliases = data[ALIAS].values.ravel() if ALIAS in data.coords else [""] * data[METRIC].size
    return [called(str(name), str(other)) for name, other in zip(data[METRIC].values.ravel(), aliases, strict=True)]


def words(data: xr.Dataset) -> str:
    """Return the name of the only metric of a Dataset, in words."""
    return metric_names(data)[0].replace("_", " ")


def of_attrs(attrs: Mapping[Any, Any]) -> str:
    """Return the name of the metric that attrs speak of, in words."""
    return called(str(attrs[METRIC]), str(attrs.get(ALIAS, ""))).replace("_", " ")


def known(name: str, k: int = 2) -> Metric | None:
    """Return the metric of a name, of two classes or k or, where the name says so, one; None for a user's own."""
    try:
        return resolve(name.partition("[")[0], max(k, 3 if "[" in name else 2))[0]
    except ValueError:
        return None


def of_empty_classes(metrics: Sequence[Metric], counts: xr.DataArray, source: str = "is the prior's") -> dict[str, str]:
    """Return the attr ``no_items``: which classes no item has, and which of the metrics rest on the prior there.

    `source` says whence their recall comes. Nothing where all classes have items, no metric does, or counts are lazy or
    too many to be shown.
    """
    k = counts.sizes[PREDICTED]
    if counts.chunks is not None or ONE_CLASS in counts.attrs or counts.size > MOST_ROWS * k**2:
        return {}
    labels, empty = labels_of(counts), (counts.values.sum(-1) == 0).reshape(-1, k)
    places = np.flatnonzero(empty.any(0)).tolist()
    resting = [one for one in metrics if _rests(one, places, k)]
    if not resting:
        return {}
    averages = [metric.alias or metric.name for metric in resting if not _is_rate(metric, k)]
    several = len(places) > 1
    text = f"class{'es' * several} {listed([repr(labels[i]) for i in places])} ha{'ve' if several else 's'} no items"
    text += f" in {int(empty.any(1).sum())} of {len(empty)} matrices" if len(empty) > 1 else ""
    text += f": their recalls {source.replace('is', 'are', 1)}" if several else f": its recall {source}"
    return {NO_ITEMS: text + (f", which enter{'s' * (not several)} {listed(averages)}" if averages else "")}


def few_items(metrics: Sequence[Metric], counts: xr.DataArray, least: int = 0) -> str:
    """Say which classes of one matrix have fewer items than :data:`FEW`, if averages over classes are asked for.

    Nothing where there are none, classes are two, or counts are lazy or several matrices. `least` items count as few.
    """
    k = counts.sizes[PREDICTED]
    if k < 3 or counts.ndim > 2 or counts.chunks is not None or not any(map(is_mean_of_classes, metrics)):
        return ""
    totals = counts.values.sum(-1)
    few = [repr(name) for name, n in zip(labels_of(counts), totals, strict=True) if least <= n < FEW]
    having = f"{len(few)} of {k} classes ({listed(few)}) ha{'s' if len(few) == 1 else 've'} fewer than {FEW} items"
    return having if few else ""


def moved(metrics: Sequence[Metric], prior: NDArray[np.float64], counts: xr.DataArray) -> dict[Metric, float]:
    """Return which averages of one matrix of several classes a prior moves, and by how many standard deviations.

    Those that all classes enter alike as macro recall, all others as accuracy, by more than :data:`MOVED`.
    """
    k = counts.sizes[PREDICTED]
    if k < 3 or counts.ndim > 2 or counts.chunks is not None:
        return {}
    items, right = counts.values.sum(-1), np.diagonal(counts.values)
    some = items > 0
    n, a = (items + prior.sum(-1)), right + np.diagonal(prior)
    if not some.any() or (n <= 0.0).any():
        return {}

    def shift(mean: Any, n: Any, point: Any) -> float:
        """Return how far means are from points, both added up, in standard deviations."""
        return float(np.abs(np.sum(mean - point)) / np.sqrt(np.sum(mean * (1.0 - mean) / (n + 1.0))))

    with np.errstate(divide="ignore", invalid="ignore"):
        alike = shift(a / n, n, np.where(some, right / np.maximum(items, 1), a / n))
        of_items = shift(a.sum() / n.sum(), n.sum(), right.sum() / items.sum())
    by = {one: alike if is_mean_of_classes(one) else of_items for one in metrics if not _is_rate(one, k)}
    return {one: far for one, far in by.items() if far > MOVED}


def is_mean_of_classes(metric: Metric) -> bool:
    """Say whether all classes enter a metric alike, the rarest too."""
    return metric.kind == "macro" or metric.name == "balanced_accuracy"


def _rests(metric: Metric, places: Sequence[int], k: int) -> bool:
    """Say whether a metric takes in the rates of classes without items."""
    if k > 2:
        return bool(places) and (metric.kind in ("cells", "macro", "weighted") or metric.name == "balanced_accuracy")
    cells = {cell for side in metric.ratio or () for cell in side} or {"tp", "fn", "fp", "tn"}
    whole = metric.ratio is not None and len(cells) == 4  # a share of all items
    return not whole and any({"tp", "fn"} & cells if place else {"fp", "tn"} & cells for place in places)


def _is_rate(metric: Metric, k: int) -> bool:
    """Say whether a metric is of one class, and no average."""
    return metric.kind == "cells" and (k > 2 or of_one_class(metric, k))


def is_share(metric: Metric | None) -> bool:
    """Say whether a metric goes from 0 to 1, so that differences are points of a hundred."""
    return metric is not None and (metric.lower, metric.upper) == (0.0, 1.0)
