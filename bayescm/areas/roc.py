"""auc() and auc_difference(): the area under the ROC curve, and that of two systems on the same items."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike
from scipy import special

from bayescm import validate
from bayescm.areas import bounds, delong
from bayescm.areas.bounds import Areas, Found, alone, nothing
from bayescm.areas.report import METHOD, check_draws, chosen, dataset, kind, of_draws
from bayescm.areas.samples import check_items
from bayescm.labels import Label
from bayescm.results import CI_BOUND, SYSTEM, attributes, interval_coordinate, positive_class

METHODS = {
    "delong": delong.delong,
    "logit_delong": delong.logit_delong,
    "hanley_mcneil": delong.hanley_mcneil,
    "binomial": bounds.binomial,
    "logit": bounds.logit,
    "bootstrap": bounds.percentile,
    "bca": bounds.bca,
    "bayesian": bounds.bayesian,
    "smoothed": bounds.smoothed,
}
_DIFFERENCES = ("delong", "bootstrap", "bayesian")
_DIFFERENCE_NAMES = {
    "point": "Area of the items themselves",
    "difference": "First area minus second",
    "standard_error": "Standard error of the difference",
    "interval": "Interval of the difference",
    "clipped": "Bound was beyond the range and was moved to its end",
    "p_value": "Two-sided p-value of no difference",
    "probability": "Probability that the first area is the larger",
}


def auc(
    y_true: ArrayLike,
    y_score: Any,
    *,
    method: str | Sequence[str] = "delong",
    ci_prob: float = 0.95,
    draws: int = 2000,
    random_seed: int | np.random.Generator | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
) -> xr.Dataset:
    """Give the area under the ROC curve an interval.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Actual labels, two classes.
    y_score : array_like of shape (n,), mapping, data frame or xarray.DataArray
        Scores, larger for the positive class; of several systems on the same items as a mapping of names to scores.
        Equal scores are ties, and no others; infinite ones are allowed.
    method : str or sequence of str
        "delong", "logit_delong" (its standard error on the logistic scale), "hanley_mcneil", "binomial", "logit",
        "bootstrap" (percentiles of stratified resamples), "bca" (bias-corrected and accelerated), "bayesian" (equal
        tails of the joint posterior of the curve) or "smoothed" (the same with the mass of each class spread between
        its items: for the fewest cases). Several give the dim ``ci_method``.
    ci_prob : float
        Level of the interval.
    draws : int
        Resamples or posterior draws, at least 1000.
    random_seed : int, numpy.random.Generator or None
    labels, pos_label
        As in :func:`bayescm.confusion_matrix`.

    Returns
    -------
    xarray.Dataset
        ``point``, ``standard_error`` (NaN for posteriors), ``interval(ci_bound)`` and ``clipped(ci_bound)`` (whether
        the bound was beyond [0, 1] and was moved to its end), over ``(system, ci_method)`` where there are several. The
        attr ``reason`` says why an interval is NaN.

    Raises
    ------
    ValueError
        If a class has no items.

    Warns
    -----
    UserWarning
        Where a method has no answer: its interval is NaN.

    Notes
    -----
    The area is the probability that a case scores higher than a control, plus half that of a tie. "binomial" and
    "logit" take it for a proportion of as many trials as the smaller class has items: the variance of the area is at
    most that of such a proportion (Birnbaum and Klose 1957).

    References
    ----------
    DeLong, DeLong and Clarke-Pearson 1988, Biometrics 44; Sun and Xu 2014, IEEE Signal Processing Letters 21 (fast);
    Hanley and McNeil 1982, Radiology 143; Efron 1987, JASA 82 (bca).

    Examples
    --------
    >>> import bayescm
    >>> actual = [0, 0, 0, 0, 1, 0, 1, 1, 0, 1]
    >>> score = [0.1, 0.2, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    >>> found = bayescm.auc(actual, score, method=["delong", "logit_delong"])
    >>> found["interval"].values.round(3)
    array([[0.557, 1.   ],
           [0.406, 0.973]])
    >>> found["clipped"].sel(ci_method="delong").values
    array([False,  True])
    """
    words = chosen("method", method, METHODS)
    items = check_items(y_true, y_score, labels, pos_label)
    areas = Areas(
        items,
        ("auc",),
        size=min(items.cases, items.controls),
        ci_prob=validate.number("ci_prob", ci_prob, 0, 1),
        draws=check_draws(draws),
        folds=0,
        seed=validate.seed(random_seed),
    )
    attrs = {
        "method": method, "ci_prob": areas.ci_prob, "cases": items.cases, "controls": items.controls,
        **of_draws(areas, words),
    }  # fmt: skip
    drop = ["estimator", *([METHOD] if isinstance(method, str) else [])]
    return dataset(areas, {word: METHODS[word] for word in words}, drop, attrs)


def auc_difference(
    y_true: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    method: str = "delong",
    ci_prob: float = 0.95,
    draws: int = 2000,
    random_seed: int | np.random.Generator | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
) -> xr.Dataset:
    """Compare the areas under the ROC curves of two systems that scored the same items.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Actual labels, two classes.
    first, second : array_like of shape (n,)
        Scores of the two systems, on any scales.
    method : str
        "delong" (paired), "bootstrap" (percentiles of stratified resamples of items) or "bayesian" (joint posterior of
        the two curves, which share the items).
    ci_prob : float
        Level of the interval.
    draws : int
        Resamples or posterior draws, at least 1000.
    random_seed : int, numpy.random.Generator or None
    labels, pos_label
        As in :func:`bayescm.confusion_matrix`.

    Returns
    -------
    xarray.Dataset
        ``point(system)``, ``difference`` (first minus second), ``standard_error`` (NaN for "bayesian"),
        ``interval(ci_bound)``, ``clipped(ci_bound)``, and ``p_value`` (two-sided, of no difference) or, by "bayesian",
        ``probability`` (that the first has the larger area). The attr ``reason`` says why an interval is NaN.

    Raises
    ------
    ValueError
        If a class has no items.

    Warns
    -----
    UserWarning
        Where a method has no answer, as for two systems that rank all items alike.

    Notes
    -----
    The systems are compared on the same items, so that easy and hard items cancel: two separate intervals that overlap
    don't say that there is no difference. The p-value of the bootstrap is twice the smaller share of resamples on
    either side of 0, one resample added to it, and so agrees with the interval.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson 1988, Biometrics 44.

    Examples
    --------
    >>> import bayescm
    >>> actual = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> one = [0.1, 0.2, 0.3, 0.4, 0.7, 0.5, 0.6, 0.8, 0.9, 1.0]
    >>> other = [0.3, 0.1, 0.6, 0.2, 0.9, 0.4, 0.5, 0.8, 0.7, 1.0]
    >>> found = bayescm.auc_difference(actual, one, other)
    >>> round(found["difference"].item(), 3), round(found["p_value"].item(), 3)
    (0.16, 0.131)
    """
    validate.choice("method", method, _DIFFERENCES)
    items = check_items(y_true, {"first": first, "second": second}, labels, pos_label)
    areas = Areas(
        items,
        ("auc",),
        size=min(items.cases, items.controls),
        ci_prob=validate.number("ci_prob", ci_prob, 0, 1),
        draws=check_draws(draws),
        folds=0,
        seed=validate.seed(random_seed),
    )
    difference = float(areas.point[0, 0] - areas.point[1, 0])
    found, name, value = _compared(areas, method, difference)
    attrs = {"method": method, "ci_prob": areas.ci_prob, "cases": items.cases, "controls": items.controls,
             **of_draws(areas, [method]), **positive_class(items.scores.labels.tolist())}  # fmt: skip
    if found.reason:
        advice = "" if method == "bayesian" else " Take method='bayesian', unless both rank all items alike."
        validate.warn(f"There is no interval by {method}: {found.reason}.{advice}")
        attrs["reason"] = found.reason
    limits = np.array([found.lower, found.upper])
    made = xr.Dataset(
        {
            "point": (SYSTEM, areas.point[:, 0]),
            "difference": difference,
            "standard_error": found.standard_error,
            "interval": (CI_BOUND, np.clip(limits, -1.0, 1.0)),
            "clipped": (CI_BOUND, np.abs(limits) > 1.0),
            name: value,
        },
        coords={SYSTEM: ["first", "second"], CI_BOUND: interval_coordinate(areas.ci_prob, kind([method]))},
        attrs=attributes(**attrs),
    )
    for variable in made.data_vars:
        made[variable].attrs = {"long_name": _DIFFERENCE_NAMES[str(variable)], "units": "1"}
    return made


def _compared(areas: Areas, method: str, difference: float) -> tuple[Found, str, float]:
    """Return the interval of a difference, and the name and value of what is said about 0."""
    if method == "bayesian":
        one, other = (areas.drawn(s, "auc") for s in (0, 1))
        if (one == other).all():
            return nothing("both systems rank all items alike, so no draw tells them apart"), "probability", 0.5
        found = Found(np.nan, *np.quantile(one - other, areas.tails))
        return found, "probability", float(((one > other) + 0.5 * (one == other)).mean())
    if alone(areas.items):
        return nothing(alone(areas.items)), "p_value", np.nan
    if method == "bootstrap":
        drawn = areas.resampled[:, 0, 0] - areas.resampled[:, 1, 0]
        if np.ptp(drawn) < bounds.NOISE:
            return nothing(f"all resamples have the difference {drawn[0]:g}, which is not certainty"), "p_value", np.nan
        limits = bounds.percentiles(drawn, areas.tails)
        share = (1.0 + min((drawn <= 0.0).sum(), (drawn >= 0.0).sum())) / (1.0 + len(drawn))
        return Found(float(drawn.std(ddof=1)), *limits), "p_value", float(min(2.0 * share, 1.0))
    of_cases, of_controls = (placed[0] - placed[1] for placed in areas.placements)
    error = float(np.sqrt(delong.variance(of_cases, of_controls)))
    if error == 0.0:
        return (
            nothing(f"at a difference of {difference:g} its variance is 0, which is not certainty"),
            "p_value",
            np.nan,
        )
    found = Found(error, difference - areas.z * error, difference + areas.z * error)
    return found, "p_value", float(2.0 * special.ndtr(-abs(difference) / error))
