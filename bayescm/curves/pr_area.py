"""aucpr(): the area under the precision-recall curve."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from bayescm.curves import area_intervals
from bayescm.curves.area_intervals import Areas
from bayescm.curves.area_report import ESTIMATOR, METHOD, chosen, dataset
from bayescm.curves.area_samples import CODES, Items, at_prevalence, check_items
from bayescm.curves.exchanged import FEW, described, effective_controls
from bayescm.curves.options import stretch
from bayescm.curves.partial import PartialAreas
from bayescm.data import validate
from bayescm.data.inputs import takes_items
from bayescm.data.labels import Label
from bayescm.data.units import one_by_one
from bayescm.data.words import Direction
from bayescm.results.objects import stamped

INTERPOLATED = "davis_goadrich"
_OF_RATES = ("average_precision", INTERPOLATED)
ESTIMATORS = (*(name for name in CODES if name != "auc"), INTERPOLATED)
METHODS = {
    "bayesian": area_intervals.bayesian,
    "logit": area_intervals.logit,
    "binomial": area_intervals.binomial,
    "bootstrap": area_intervals.percentile,
    "bca": area_intervals.bca,
    "cross_validation": area_intervals.cross_validation,
    "smoothed": area_intervals.smoothed,
}


@stamped
@takes_items
def aucpr(
    y_true: ArrayLike,
    y_score: Any = None,
    *,
    estimator: str | Sequence[str] = "average_precision",
    method: str | Sequence[str] | None = None,
    prevalence: float | None = None,
    ci_prob: float = 0.95,
    draws: int = 2000,
    folds: int = 10,
    random_seed: int | np.random.Generator | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    direction: Direction = "larger",
    recall_range: Sequence[float] | None = None,
    unit: ArrayLike | None = None,
) -> xr.Dataset:
    """Estimate the area under the precision-recall curve, or under a part of it, with an interval.

    Parameters
    ----------
    y_true, y_score
        As of :func:`bayescm.auc`.
    estimator : str or sequence of str
        "average_precision", "lower_trapezoid", "upper_trapezoid", "interpolated_max", "interpolated_mean",
        "interpolated_median", "interpolated_convex", "binormal" or "davis_goadrich" (both rates grow linearly from
        score to score). Several give the dim ``estimator``.
    method : str or sequence of str, optional
        "bayesian", "logit", "binomial", "bootstrap", "bca", "cross_validation" or "smoothed". Several give the dim
        ``ci_method``. Default: "bayesian"; "smoothed" if there is a `prevalence`.
    prevalence : float, optional
        Share of the positive class at which precision is taken, fixed; by default that of the items. At a lower one
        only "smoothed" covers.
    ci_prob : float
        Level of the interval.
    draws : int
        Resamples or posterior draws, at least 1000.
    folds : int
        Of "cross_validation".
    random_seed : int, numpy.random.Generator or None
    unit : array_like of shape (n,), optional
        What was sampled, where it has several items, as in :func:`bayescm.curve_posterior`: by "bayesian" alone.
    labels, pos_label
        As in :func:`bayescm.confusion_matrix`.
    direction : {"larger", "smaller"}
        Scores that mean positive.
    recall_range : pair of numbers, optional
        Only the mean precision over these recalls, such as (0.2, 1): where recall is low a precision stands on few
        items. It lies between 0 and 1 whatever the range. By the estimators "average_precision" and "davis_goadrich",
        and the methods "bayesian", "bootstrap" and "smoothed".

    Returns
    -------
    xarray.Dataset
        ``point(system, estimator)``, ``se`` (NaN for posteriors), ``interval(ci_bound)`` and
        ``clipped(ci_bound)`` (whether the bound was beyond [0, 1] and was moved to its end), over ``(system, estimator,
        ci_method)`` where there are several; of posteriors also ``median``. The attr ``reason`` says why a point or an
        interval is NaN; at a given prevalence ``effective_controls`` says how many the controls are worth.

    Raises
    ------
    ValueError
        If a class has no items; if an estimator or a method doesn't serve `recall_range`, or "davis_goadrich" stands
        beside another than "average_precision".

    Warns
    -----
    UserWarning
        Where a method has no answer: its interval is NaN. At a given prevalence, where a method doesn't cover or
        `point` is far too large.

    Notes
    -----
    A curve starts at recall 0 and precision 1, as in the authors' published code. Where several thresholds have the
    same recall the estimators take different ones of their precisions. "upper_trapezoid" and "interpolated_convex" are
    too large, and "binormal" needs normal scores; they are here for comparison.

    At a low `prevalence` the controls are worth controls x prevalence / (1 - prevalence) cases. With fewer than 20
    `point` is too large; ``median`` of "smoothed" is nearer (docs/areas.md).

    "logit" and "binomial" take the area for a proportion of as many trials as there are cases. The bootstrap draws each
    class anew and keeps the prevalence. "cross_validation" is an interval around the mean of small folds. "bayesian"
    gives equal tails of the joint posterior of the curve; "smoothed" the same with the mass of each class spread
    between its items.

    References
    ----------
    Boyd, Eng and Page 2013, Area under the precision-recall curve: point estimates and confidence intervals, ECML PKDD.
    Corrected: Theorem 1's integral, the sign in eq. 10, the sums of eqs 3 and 4. Urlus 2023, section 10 (without low
    recalls).

    Examples
    --------
    >>> import bayescm
    >>> actual = [0, 0, 0, 0, 1, 0, 1, 1, 0, 1]
    >>> score = [0.1, 0.2, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    >>> found = bayescm.aucpr(actual, score, estimator=["average_precision", "interpolated_median"], random_seed=1)
    >>> found["point"].values.round(3)
    array([0.771, 0.674])
    >>> found["interval"].values.round(3)
    array([[0.431, 0.96 ],
           [0.361, 0.957]])
    >>> round(bayescm.aucpr(actual, score, recall_range=(0.5, 1), random_seed=1)["point"].item(), 3)
    0.708
    """
    ends = stretch("recall_range", recall_range)
    method = ("bayesian" if prevalence is None or unit is not None else "smoothed") if method is None else method
    methods = chosen("method", method, METHODS)
    estimators = chosen("estimator", estimator, ESTIMATORS)
    items = check_items(y_true, y_score, labels, pos_label, direction, unit)
    one_by_one(items.scores)
    if prevalence is not None:
        items = at_prevalence(items, validate.number("prevalence", prevalence, 0, 1))
    options: dict[str, Any] = {
        "size": items.cases if prevalence is None else trials(items),
        "ci_prob": validate.number("ci_prob", ci_prob, 0, 1), "draws": validate.draws(draws),
        "folds": validate.positive_integer("folds", folds), "seed": validate.seed(random_seed),
    }  # fmt: skip
    if ends is not None or INTERPOLATED in estimators:
        areas: Areas = _by_rates(items, estimators, methods, options, ends)
    else:
        areas = Areas(items, estimators, **options)
    if areas.folds < 2:
        raise ValueError(f"`folds` must be at least 2; got {folds}.")
    attrs: dict[str, object] = {
        "estimator": estimator, "method": method, "prevalence": items.prevalence, "direction": direction,
        **({} if ends is None else {"recall_range": list(ends)}),
    }  # fmt: skip
    if prevalence is not None:
        attrs |= _said_of_prevalence(areas, methods)
    if "cross_validation" in methods:
        attrs["folds"] = areas.folds
    drop = [dim for dim, given in ((ESTIMATOR, estimator), (METHOD, method)) if isinstance(given, str)]
    return dataset(areas, {word: METHODS[word] for word in methods}, drop, attrs)


def _by_rates(
    items: Items, estimators: tuple[str, ...], methods: tuple[str, ...], options: dict[str, Any],
    ends: tuple[float, float] | None,
) -> PartialAreas:  # fmt: skip
    """Return areas that are read off the rates at all scores, or say what doesn't serve them."""
    word = "estimator='davis_goadrich'" if ends is None else "`recall_range`"
    served = (*(() if ends is not None else ("logit", "binomial")), "bootstrap", "bayesian", "smoothed")
    for name, given, known in (("estimator", estimators, _OF_RATES), ("method", methods, served)):
        others = [one for one in given if one not in known]
        if others:
            raise ValueError(f"`{name}`={others[0]!r} doesn't go with {word}; take {', '.join(map(repr, known))}.")
    return PartialAreas(items, estimators, **options, ends=ends or (0.0, 1.0), axis="recall_range")


def trials(items: Items) -> float:
    """Return the trials of "logit" and "binomial": the cases, or at a lower prevalence than the items' fewer."""
    return min(float(items.cases), effective_controls(items.controls, items.prevalence))


def _said_of_prevalence(areas: Areas, methods: Sequence[str]) -> dict[str, object]:
    """Warn of what doesn't hold where the controls are worth few, and return what they are worth."""
    items, share = areas.items, areas.items.prevalence
    effective = effective_controls(items.controls, share)
    if effective >= FEW:
        return {"effective_controls": effective}
    said = [described(items.controls, share), "`point` is too large on average"]
    failing = [word for word in methods if word not in ("smoothed", "bayesian")]  # the draws of the latter warn
    if failing:
        said.append(f"intervals by {', '.join(map(repr, failing))} can't be relied on; take method='smoothed'")
    if "smoothed" not in methods:
        said.append("the `median` of method='smoothed' is nearer for all but strong classifiers")
    validate.warn(f"{'; '.join(said)}.")
    return {"effective_controls": effective}
