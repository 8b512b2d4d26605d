"""intervals() and hull(): an interval for every threshold alone, and the hull that peers draw of them."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm.data import validate
from bayescm.data.assumptions import assumed
from bayescm.data.inputs import takes_items
from bayescm.data.labels import Label
from bayescm.data.schema import CI_BOUND, METRIC, THRESHOLD, attributes, interval_coordinate, positive_class
from bayescm.data.scores import sign_of, signed
from bayescm.data.thresholds import counts_at_thresholds
from bayescm.data.words import Direction, Plane
from bayescm.inference import proportions
from bayescm.inference.intervals import interval
from bayescm.metrics import parts, resolve
from bayescm.results.objects import stamped

Array = NDArray[np.float64]

METHODS = ("flat", "jeffreys", "wilson", "clopper_pearson", "agresti_coull")
_METRICS = {"roc": ("false_positive_rate", "recall"), "pr": ("recall", "precision")}
_CORNERS = {"roc": (1, 0), "pr": (0, 0)}
"""The worst corner of each plane."""
_BAYESIAN = ("flat", "jeffreys")


@stamped
@takes_items
def intervals(
    y_true: ArrayLike,
    y_score: Any = None,
    *,
    space: Plane = "roc",
    method: Literal["flat", "jeffreys", "wilson", "clopper_pearson", "agresti_coull"] = "jeffreys",
    ci_prob: float = 0.95,
    thresholds: ArrayLike | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    direction: Direction = "larger",
) -> xr.Dataset:
    """Give both rates of a ROC or PR curve an interval at every threshold, each alone.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Actual labels, two classes.
    y_score : array_like of shape (n,)
        Real scores.
    space : {"roc", "pr"}
        The false positive rate and recall, or recall and precision.
    method : {"jeffreys", "flat", "wilson", "clopper_pearson", "agresti_coull"}
        "flat" and "jeffreys" are equal tails of the posterior under Beta(1, 1) and Beta(1/2, 1/2), up to 0 where a
        rate is 0 and up to 1 where it is 1. The others as in :func:`bayescm.interval`.
    ci_prob : float
        Level of each interval.
    thresholds : array_like, optional
        Default: every distinct score, and on the ROC plane infinity too, where nothing is predicted positive.
    labels, pos_label, direction
        As in :func:`bayescm.curves.counts_at_thresholds`.

    Returns
    -------
    xarray.Dataset
        Over ``(threshold, metric)``: ``point``, the rate of the items themselves (NaN where it is 0/0),
        ``interval(ci_bound)`` and ``clipped(ci_bound)`` (whether the bound was beyond [0, 1] and was moved to its end).

    Raises
    ------
    ValueError
        If `y_true` has other than two classes.

    Notes
    -----
    The two intervals of a threshold make a box, and the boxes of neighbouring thresholds share nearly all their items.
    Neither the box nor the strip that the boxes cover has the level of its sides: a joint region of one threshold comes
    from :func:`bayescm.region`, a band of the whole curve from :func:`bayescm.curve_band`.

    References
    ----------
    Morais 2023 (Figs 7 and 8); Brown, Cai and DasGupta 2001, Statistical Science 16.

    Examples
    --------
    >>> import bayescm
    >>> found = bayescm.curves.intervals([0, 0, 1, 0, 1, 1], [1, 2, 3, 4, 5, 6], method="flat")
    >>> found["interval"].sel(threshold=3.0, metric="recall").values.round(3)
    array([0.398, 1.   ])
    """
    validate.choice("space", space, _METRICS)
    validate.choice("method", method, METHODS)
    if thresholds is None:
        thresholds = _thresholds(y_score, space, direction)
    counts = counts_at_thresholds(
        y_true, y_score, thresholds=thresholds, labels=labels, pos_label=pos_label, direction=direction
    )
    names = list(_METRICS[space])
    found = interval(counts, names, "jeffreys" if method == "flat" else method, ci_prob=ci_prob)
    level = float(found.attrs["ci_prob"])
    if method == "flat":
        bounds = [_flat(*parts(metric, counts.values), level) for metric in resolve(names, 2)]
        found["interval"] = found["interval"].copy(data=np.stack([np.stack(one, -1) for one in bounds], -2))
    if method in _BAYESIAN:
        found = found.assign_coords({CI_BOUND: interval_coordinate(level, "eti")})
        found["interval"].attrs["long_name"] = "Credible interval"
    found.attrs = attributes(
        space=space,
        method=method,
        ci_prob=level,
        kind="each threshold and each rate alone",
        direction=direction,
        assumptions=assumed(),
        **positive_class(counts),
    )
    return found


def _thresholds(y_score: ArrayLike, space: str, direction: str) -> Array:
    """Return every distinct score from the most positive on, on the ROC plane behind an infinite one."""
    sign = sign_of(direction)
    distinct = np.unique(signed(validate.real_numbers("y_score", y_score), sign))[::-1]
    shown = distinct if space == "pr" or distinct[0] == np.inf else np.append(np.inf, distinct)
    return signed(shown, sign)


def _flat(k: Array, other: Array, ci_prob: float) -> tuple[Array, Array]:
    """Return the equal tails of Beta(k + 1, other + 1), up to 0 where k = 0 and to 1 where k = n."""
    lower, upper = proportions.jeffreys(k + 0.5, k + other + 1.0, ci_prob)
    some = k + other > 0
    return np.where((k == 0) & some, 0.0, lower), np.where((other == 0) & some, 1.0, upper)


def hull(intervals: xr.Dataset) -> xr.Dataset:
    """Draw the hull that the thesis of Morais and its programs draw around a curve.

    Parameters
    ----------
    intervals : xarray.Dataset
        From :func:`bayescm.curves.intervals`.

    Returns
    -------
    xarray.Dataset
        ``hull(threshold, metric, ci_bound)``: the two curves, from the threshold that calls the
        fewest items positive, NaN where a rate is 0/0. ``area(ci_bound)``: the areas under them, which are NO interval
        of the area under the curve.

    Raises
    ------
    ValueError
        If `intervals` isn't what :func:`intervals` returns.

    Warns
    -----
    UserWarning
        Always: that `area` has no coverage, and what to take.

    Notes
    -----
    A quarter of an ellipse lies in each quarter of a threshold's box, around its point. A ray from the corner of the
    plane that is worst (ROC: (1, 0), PR: (0, 0)) through the point meets two of them: `lower` on the near side, `upper`
    on the far one. At that corner itself both are corners of the box.

    Every threshold is taken to its bound, and all of them to the same side at once, so there is no level that the areas
    hold: they are longer than the interval of ``auc`` of :func:`bayescm.curve_posterior`.

    The area is that of trapezoids (ROC), or of steps as in average precision (PR), over the thresholds given: infinity
    should be the first of a ROC curve.

    References
    ----------
    Morais 2023, section 6.

    Examples
    --------
    >>> import warnings
    >>> import bayescm
    >>> found = bayescm.curves.intervals([0, 0, 1, 0, 1, 1], [1, 2, 3, 4, 5, 6])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     hull = bayescm.curves.hull(found)
    >>> hull["hull"].sel(threshold=4.0, ci_bound="lower").values.round(3)
    array([0.68, 0.32])
    """
    given = isinstance(intervals, xr.Dataset) and intervals.attrs.get("space") in _METRICS
    if not given or set(intervals["interval"].dims) != {THRESHOLD, METRIC, CI_BOUND}:
        raise ValueError("`intervals` must be what bayescm.curves.intervals(...) returns.")
    space = str(intervals.attrs["space"])
    smaller = intervals.attrs.get("direction") == "smaller"
    ordered = intervals.sortby(THRESHOLD, ascending=smaller).transpose(THRESHOLD, METRIC, CI_BOUND)
    ordered = ordered.sel({METRIC: list(_METRICS[space])})
    point, box = ordered["point"].values, ordered["interval"].values
    worst = np.array(_CORNERS[space])
    lower, upper = _reach(point, box, worst, worst - point), _reach(point, box, 1 - worst, point - worst)
    validate.warn(
        "`area` of a hull has no coverage: it takes every threshold to its bound at once, and to the same side. For "
        "intervals of areas take bayescm.curve_posterior(y_true, y_score), whose coverage has been studied."
    )
    coords = {name: ordered[name] for name in (THRESHOLD, METRIC, CI_BOUND)}
    made = xr.Dataset(
        {
            "hull": ((THRESHOLD, METRIC, CI_BOUND), np.stack([lower, upper], -1),
                         {"long_name": "Hull", "units": "1"}),
            "area": (CI_BOUND, [_area(one, space) for one in (lower, upper)],
                     {"long_name": "Area under each hull: no interval of the area under the curve", "units": "1"}),
        },
        coords=coords,
    )  # fmt: skip
    made[CI_BOUND].attrs = {}
    note = "area has no coverage; for intervals of areas take auc and average_precision of curve_posterior"
    return made.assign_attrs({**intervals.attrs, "note": note})


def _reach(point: Array, box: Array, corner: NDArray[np.int64], way: Array) -> Array:
    """Return where rays (..., 2) from points leave the quarter-ellipses of their boxes (..., 2, 2).

    Without a way to go that is the corner of the box (1: upper bound) in the direction of the given corner.
    """
    half = np.where(way > 0, box[..., 1] - point, point - box[..., 0])
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = way / np.hypot(way[..., :1], way[..., 1:])
        length = 1.0 / np.sqrt((np.where(unit == 0, 0.0, unit / half) ** 2).sum(-1, keepdims=True))
    still = (way == 0).all(-1, keepdims=True)
    return np.where(still, box[..., [0, 1], corner], point + length * unit)


def _area(curve: Array, space: str) -> float:
    """Return the area under a curve (thresholds, 2); steps start at a recall of 0."""
    x, y = curve[~np.isnan(curve).any(-1)].T
    if len(x) == 0:
        return float("nan")
    if space == "pr":
        return float((np.diff(x, prepend=0.0) * y).sum())
    return float(np.trapezoid(y, x))
