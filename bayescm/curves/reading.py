"""What is read from drawn curves, with its names."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm._kernels.codes import Read
from bayescm.curves.names import AREAS, LONG_NAMES
from bayescm.curves.options import Plan
from bayescm.curves.partial import mcclish
from bayescm.curves.recalls import mean_precision
from bayescm.data.schema import CHAIN, DRAW, METRIC, THRESHOLD
from bayescm.data.scores import Scores, signed
from bayescm.metrics import Metric, MetricsLike, available, compute, coordinates, resolve

Array = NDArray[np.float64]
Found = dict[str, tuple[tuple[str, ...], Array]]
"""Dims behind (systems, draws), and values, by name."""


def part(read: Read, which: Any) -> Read:
    """Return what was read of some systems or draws."""
    return Read(*(array[which] for array in read))


def marked(read: Read, columns: NDArray[np.intp]) -> Read:
    """Return each system's own marks (systems, M)."""
    tpr, fpr = (np.take_along_axis(one, columns[:, None], -1) for one in (read.mark_tpr, read.mark_fpr))
    return read._replace(mark_tpr=tpr, mark_fpr=fpr)


def room(systems: int, draws: int, fprs: int, tprs: int, marks: int) -> Read:
    """Return arrays to be filled."""
    return Read(*(np.empty((systems, draws, size)) for size in (len(AREAS), fprs, fprs, tprs, tprs, marks, marks)))


def dataset(
    scores: Scores, plan: Plan, metrics: MetricsLike, parts: Sequence[tuple[int, int]],
    drawn: Callable[[int, int], Read], prevalence: Array, fprs: Array, tprs: Array,
) -> xr.Dataset:  # fmt: skip
    """Read what is wanted off draws, some of them at a time, and name it."""
    resolved = [] if metrics is None else _named_apart(resolve(metrics, 2))
    kept: Found = {}
    for start, stop in parts:
        found = _found(plan, resolved, drawn(start, stop), prevalence[start:stop], fprs, tprs)
        for name, (dims, values) in found.items():
            if name not in kept:
                kept[name] = dims, np.empty((len(prevalence), len(values), *values.shape[2:]))
            kept[name][1][start:stop] = np.moveaxis(values, 0, 1)
    coords, chosen = _coords(plan, scores.sign), None
    if resolved:
        best, chosen = _bests(kept, resolved, coords[THRESHOLD])
        kept |= best
        coords[METRIC] = coordinates(resolved, (0, 1))[METRIC]  # alone: ArviZ concatenates what has dims of its own
    made = _labelled(kept, coords, prevalence, scores, plan)
    if chosen is not None:
        dims, values = ((METRIC,), chosen[0]) if scores.systems is None else ((scores.dim, METRIC), chosen)
        made["chosen_threshold"] = dims, values, {"long_name": LONG_NAMES["chosen_threshold"]}
    return made


def _coords(plan: Plan, sign: float) -> dict[str, Any]:
    """Return where curves are read."""
    coords: dict[str, Any] = {}
    if plan.over == "rate":
        coords |= {"fpr": plan.axis, "recall": plan.axis[plan.axis > 0]}
    if plan.over == "threshold":
        coords[THRESHOLD] = signed(plan.axis, sign)
    if len(plan.specificities):
        coords["specificity"] = plan.specificities
    if len(plan.sensitivities):
        coords["sensitivity"] = plan.sensitivities
    return coords


def _found(
    plan: Plan, metrics: Sequence[Metric], read: Read, prevalence: Array, fprs: Array, tprs: Array
) -> Found:  # fmt: skip
    """Return what is wanted of some draws."""
    found: Found = {name: ((), read.areas[..., i]) for i, name in enumerate(AREAS)}
    if plan.over == "rate":
        found["tpr"] = ("fpr",), read.tpr[..., np.searchsorted(fprs, plan.axis)]
        recall = plan.axis[plan.axis > 0]
        fpr = read.fpr[..., np.searchsorted(tprs, recall)]
        found["precision"] = ("recall",), precision_at(recall, fpr, prevalence[:, None])
    if plan.over == "threshold":
        found |= _over_thresholds(read, prevalence, metrics)
    found |= _partial("fpr", plan.fpr_range, fprs, read.under)
    found |= _partial("tpr", plan.tpr_range, tprs, read.left)
    if len(plan.recalls):
        at = np.searchsorted(tprs, plan.recalls)
        odds = ((1 - prevalence) / prevalence)[:, None]
        found["partial_pr_area"] = (), mean_precision(plan.recalls, read.fpr[..., at], read.left[..., at], odds)
    if len(plan.specificities):
        at = np.searchsorted(fprs, 1 - plan.specificities)
        found["sensitivity_at_specificity"] = ("specificity",), read.tpr[..., at]
    if len(plan.sensitivities):
        at = np.searchsorted(tprs, plan.sensitivities)
        found["specificity_at_sensitivity"] = ("sensitivity",), 1 - read.fpr[..., at]
    return found


def _labelled(found: Found, coords: Mapping[str, Any], prevalence: Array, scores: Scores, plan: Plan) -> xr.Dataset:
    """Cut the draws of arrays (draws, systems, ...) into chains, and name all dims."""
    several = scores.systems is not None
    variables = {}
    for name, (dims, values) in found.items():
        shaped = values.reshape(plan.chains, plan.draws, *values.shape[1:])
        shaped = shaped if several else shaped[:, :, 0]
        front = (CHAIN, DRAW, scores.dim) if several else (CHAIN, DRAW)
        variables[name] = (*front, *dims), shaped, {"long_name": LONG_NAMES.get(name, name)}
    variables["prevalence"] = (
        (CHAIN, DRAW), prevalence.reshape(plan.chains, plan.draws), {"long_name": LONG_NAMES["prevalence"]}
    )  # fmt: skip
    named = {name: (name, values, {"long_name": LONG_NAMES[name]}) if name in LONG_NAMES else values
             for name, values in coords.items()}  # fmt: skip
    base = {CHAIN: np.arange(plan.chains), DRAW: np.arange(plan.draws)}
    return xr.Dataset(variables, coords=base | ({scores.dim: scores.systems} if several else {}) | named)


def precision_at(tpr: Array, fpr: Array, prevalence: Array | float) -> Array:
    """Return precision; NaN where nothing is predicted positive."""
    with np.errstate(invalid="ignore"):
        return np.asarray(prevalence * tpr / (prevalence * tpr + (1 - prevalence) * fpr))


def _partial(name: str, ends: tuple[float, float] | None, rates: Array, area: Array) -> Found:
    """Return a partial area, and McClish's correction of it."""
    if ends is None:
        return {}
    i, j = np.searchsorted(rates, ends)
    part = area[..., j] - area[..., i]
    if name == "tpr":
        part = (ends[1] - ends[0]) - part  # to the right of the curve
    return {f"partial_auc_{name}": ((), part), f"partial_auc_{name}_corrected": ((), mcclish(part, ends, name))}


def _over_thresholds(read: Read, prevalence: Array, metrics: Sequence[Metric]) -> Found:
    """Return rates and metrics at thresholds."""
    tpr, fpr, share = read.mark_tpr, read.mark_fpr, prevalence[:, None]
    found = {"tpr": tpr, "fpr": fpr, "precision": precision_at(tpr, fpr, share)}
    made: Found = {name: ((THRESHOLD,), values) for name, values in found.items()}
    if metrics:
        theta = np.stack([(1 - share) * (1 - fpr), (1 - share) * fpr, share * (1 - tpr), share * tpr], -1)
        values = compute(metrics, theta.reshape(*tpr.shape, 2, 2))
        made |= {metric.name: ((THRESHOLD,), one) for metric, one in zip(metrics, values, strict=True)}
    return made


def _bests(found: Found, metrics: Sequence[Metric], thresholds: Array) -> tuple[Found, Array]:
    """Return the best thresholds with their values, and the chosen thresholds (systems, metrics)."""
    best = []
    for metric in metrics:
        values = found[metric.name][1]
        systems = [_best(metric.loss, values[:, i], thresholds) for i in range(values.shape[1])]
        best.append([np.stack(one, -1) for one in zip(*systems, strict=True)])
    names = ("best_threshold", "best_value", "regret")
    made: Found = {name: ((METRIC,), np.stack([one[i] for one in best], -1)) for i, name in enumerate(names)}
    return made, np.stack([one[3] for one in best], -1)


def _named_apart(metrics: Sequence[Metric]) -> Sequence[Metric]:
    """Refuse metrics with the name of something else that is returned; precision is the same by either way."""
    taken = {*LONG_NAMES, THRESHOLD, "specificity", "sensitivity"} - {"recall"}
    for metric in metrics:
        own = [one for one in available() if one.name == metric.name]
        same = own and own[0].function is metric.function and metric.name in ("precision", "specificity")
        if metric.name in taken and not same:
            raise ValueError(f"`metrics` can't call one {metric.name!r}: results keep that name for something else.")
    return metrics


def _best(loss: bool, values: Array, thresholds: Array) -> tuple[Array, Array, Array, float]:
    """Return the best threshold of every draw, its value, what the chosen threshold falls short of it, and that one.

    Values are (draws, thresholds); the chosen threshold is the best on average of those at which the metric is defined
    in all draws. There is none if the metric is infinite in a draw: then so is its mean.
    """
    gains = -values if loss else values
    filled = np.where(np.isnan(gains), -np.inf, gains)
    at = filled.argmax(-1)
    best = np.take_along_axis(gains, at[..., None], -1)[..., 0]
    defined = ~np.isnan(gains).any(0)
    with np.errstate(invalid="ignore"):
        mean = np.where(defined, filled.mean(0), -np.inf)
        chosen = int(mean.argmax())
        regret = best - gains[:, chosen]
    exists = bool(defined.any()) and not np.isinf(gains).any()
    where = np.where(np.isnan(best), np.nan, thresholds[at])
    regret = regret if exists else np.full(len(regret), np.nan)
    return where, -best if loss else best, regret, float(thresholds[chosen]) if exists else np.nan
