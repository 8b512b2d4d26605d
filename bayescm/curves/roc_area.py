"""auc(): the area under the ROC curve."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from bayescm.curves import area_intervals, delong, multiclass
from bayescm.curves.area_intervals import Areas, Evidence
from bayescm.curves.area_report import ESTIMATOR, METHOD, OF_DELONG, chosen, dataset
from bayescm.curves.area_samples import Items, check_items
from bayescm.curves.options import stretch
from bayescm.curves.partial import PartialAreas, with_corrected
from bayescm.curves.weighted import CrossedAreas
from bayescm.data import validate
from bayescm.data.inputs import takes_items
from bayescm.data.labels import Label
from bayescm.data.schema import CI_BOUND, batch_names
from bayescm.data.words import Direction
from bayescm.results.objects import stamped

METHODS = {
    "bayesian": area_intervals.bayesian,
    "delong": delong.delong,
    "logit_delong": delong.logit_delong,
    "hanley_mcneil": delong.hanley_mcneil,
    "binomial": area_intervals.binomial,
    "logit": area_intervals.logit,
    "bootstrap": area_intervals.percentile,
    "bca": area_intervals.bca,
    "smoothed": area_intervals.smoothed,
}

VERSUS = "versus"
PARTIAL = ("bayesian", "delong", "bootstrap", "smoothed")


@stamped
@takes_items
def auc(
    y_true: ArrayLike,
    y_score: Any = None,
    *,
    method: str | Sequence[str] = "bayesian",
    ci_prob: float = 0.95,
    draws: int = 2000,
    random_seed: int | np.random.Generator | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    direction: Direction = "larger",
    fpr_range: Sequence[float] | None = None,
    tpr_range: Sequence[float] | None = None,
    unit: ArrayLike | None = None,
) -> xr.Dataset:
    """Give the area under the ROC curve, or under a part of it, an interval; of two classes or of more.

    Parameters
    ----------
    y_true : array_like of shape (n,), data frame or path
        Actual labels, two classes or more. Or a table with a column of labels, one of scores or of each system's, and,
        named by `unit`, of units: here and in all questions of scores.
    y_score : array_like of shape (n,) or (n, K), mapping, data frame or xarray.DataArray
        Scores; of several systems on the same items as a mapping of names to scores. Equal scores are ties, and no
        others; infinite ones are allowed. Of K > 2 classes an array with a column for each, in the order of `labels`
        (default: sorted).
    method : str or sequence of str
        "bayesian" (equal tails of the joint posterior of the curve), "delong", "logit_delong" (its standard error on
        the logistic scale), "hanley_mcneil", "binomial", "logit", "bootstrap" (percentiles of stratified resamples),
        "bca" (bias-corrected and accelerated) or "smoothed" (the posterior with the mass of each class spread between
        its items). Several give the dim ``ci_method``. Of a part of the curve "bayesian", "delong", "bootstrap" or
        "smoothed"; of more than two classes "bayesian", "delong", "logit_delong" or "bootstrap".
    unit : array_like of shape (n,), optional
        What was sampled, where it has several items, as in :func:`bayescm.curve_posterior`: of two classes, by
        "bayesian", "delong" or "logit_delong" (Obuchowski's variance). Two that are crossed, ``(readers, cases)``: the
        mean of the readers' areas, each of its own scores, by "bayesian" alone.
    fpr_range, tpr_range : pair of numbers, optional
        Only the area over these false positive rates, or to the right of the curve over these true positive rates: at
        most the length of the range.
    ci_prob : float
        Level of the interval.
    draws : int
        Resamples or posterior draws, at least 1000.
    random_seed : int, numpy.random.Generator or None
    labels, pos_label
        As in :func:`bayescm.confusion_matrix`.
    direction : {"larger", "smaller"}
        Scores that mean positive; of more than two classes, that speak for the class of the column.

    Returns
    -------
    xarray.Dataset
        ``point``, ``se`` (NaN for posteriors), ``interval(ci_bound)`` and ``clipped(ci_bound)`` (whether
        the bound was beyond [0, 1] and was moved to its end), over ``(system, ci_method)`` where there are several. Of
        several systems also ``covariance(system, versus)``, DeLong's, of their areas, if one of his methods is asked
        for; NaN where a class has one item. Of more than two classes over ``estimator`` too: "hand_till", the mean of
        the areas of all pairs of classes, and "one_vs_rest", that of each class against the rest. Of a part of the
        curve also ``corrected`` and ``corrected_interval(ci_bound)``, the same with 1/2 for chance and 1 for a perfect
        ranking (McClish). The attr ``reason`` says why an interval is NaN.

    Raises
    ------
    ValueError
        If a class has no items, or a method doesn't serve partial areas or more than two classes.

    Warns
    -----
    UserWarning
        Where a method has no answer: its interval is NaN. Where an interval ends below 0.5: the scores may point the
        other way.

    Notes
    -----
    The area is the probability that a case scores higher than a control, plus half that of a tie. "binomial" and
    "logit" take it for a proportion of as many trials as the smaller class has items: the variance of the area is at
    most that of such a proportion (Birnbaum and Klose 1957).

    Hand and Till's M and the mean of classes against the rest (scikit-learn's "ovo" and "ovr", macro) are weighted
    means of the probabilities that an item of class i has a larger score for i than one of class j. "bayesian": the
    prior item of a class looks like one of another class, which is drawn evenly (docs/curves.md). "delong" is what it
    is for two classes: the sum over the classes of the variance of their items' shares, class totals as they are. Of a
    partial area likewise, with the rate of cases at the ends of the range estimated too.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson 1988, Biometrics 44; Obuchowski 1997, Biometrics 53 (units); Sun and Xu 2014, IEEE
    Signal Processing Letters 21 (fast); Hanley and McNeil 1982, Radiology 143; Efron 1987, JASA 82 (bca); Hand and Till
    2001, Machine Learning 45; Dodd and Pepe 2003, Biometrics 59 (partial areas); McClish 1989, Medical Decision Making
    9.

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
    >>> part = bayescm.auc(actual, score, fpr_range=(0, 0.5))
    >>> round(part["point"].item(), 3), round(part["corrected"].item(), 3)
    (0.333, 0.778)
    """
    words = chosen("method", method, METHODS)
    attrs: dict[str, object] = {"method": method, "direction": direction}
    drop, methods = [METHOD] if isinstance(method, str) else [], {word: METHODS[word] for word in words}
    options, given = (ci_prob, draws, random_seed), (y_true, y_score, labels, pos_label, direction)
    part = given_part(fpr_range=fpr_range, tpr_range=tpr_range)
    if multiclass.is_multiclass(y_score):
        if unit is not None:
            raise ValueError("`unit` is for areas of two classes; leave it out, or take one class against the rest.")
        _check_serves(words, multiclass.METHODS, "more than two classes")
        return dataset(multiclass.several_of(multiclass.check_several(*given), *options, part), methods, drop, attrs)
    if part:
        _check_serves(words, PARTIAL, "a partial area")
    areas = areas_of(check_items(*given, unit), *options, part)
    found = dataset(areas, methods, [ESTIMATOR, *drop], attrs | of_range(areas))
    if areas.items.systems is not None and {*OF_DELONG} & {*words}:
        found = _with_covariance(found, areas)
    return with_corrected(found, areas) if part else _said_of_direction(found, areas.items.dim, direction)


def _check_serves(words: tuple[str, ...], served: tuple[str, ...], what: str) -> None:
    """Refuse methods that don't serve an area."""
    others = [word for word in words if word not in served]
    if others:
        raise ValueError(f"`method`={others[0]!r} doesn't serve {what}; take one of {', '.join(map(repr, served))}.")


def given_part(**parts: Any) -> dict[str, tuple[float, float]]:
    """Return the one range that was given, by its name, or the one rate, twice; or none."""
    found: dict[str, tuple[float, float]] = {}
    for name, one in parts.items():
        if name.startswith("at_") and one is not None:
            found[name] = (validate.number(name, one, 0, 1, closed=True),) * 2
        elif (ends := stretch(name, one)) is not None:
            found[name] = ends
    if len(found) > 1:
        raise ValueError(f"{' and '.join(f'`{name}`' for name in found)} are different parts of a curve; give one.")
    return found


def areas_of(
    items: Items, ci_prob: object, draws: object, random_seed: Any, part: Mapping[str, tuple[float, float]]
) -> Areas:
    """Return the areas under the ROC curves of items, or under a part of each curve, with options checked."""
    options: dict[str, Any] = {
        "size": min(items.cases, items.controls), "ci_prob": validate.number("ci_prob", ci_prob, 0, 1),
        "draws": validate.draws(draws), "folds": 0, "seed": validate.seed(random_seed),
    }  # fmt: skip
    if items.crossed:
        if part:
            raise ValueError(f"parts of curves aren't known of crossed `unit`s; leave `{next(iter(part))}` out.")
        return CrossedAreas(items, ("auc",), **options)
    for axis, ends in part.items():
        name = "average_precision" if axis == "recall_range" else "auc"
        return PartialAreas(items, (name,), **options, ends=ends, axis=axis)
    return Areas(items, ("auc",), **options)


def of_range(areas: Evidence[Any]) -> dict[str, Any]:
    """Return the attrs of partial areas, and of rates."""
    if not isinstance(areas, PartialAreas):
        return {}
    return {areas.axis: areas.ends[0] if areas.at_point else list(areas.ends)}


def _with_covariance(found: xr.Dataset, areas: Areas) -> xr.Dataset:
    """Add DeLong's covariance of the areas of systems."""
    dim = areas.items.dim
    batch_names("y_score", [dim, VERSUS])
    values = delong.covariance(areas.placements, areas.units)
    made = found.assign(covariance=((dim, VERSUS), values)).assign_coords({VERSUS: found[dim].values})
    made["covariance"].attrs = {"long_name": "Covariance of the areas by DeLong's method", "units": "1"}
    return made


def _said_of_direction(found: xr.Dataset, dim: str, direction: str) -> xr.Dataset:
    """Warn of areas that are below 1/2 with their interval, and note it."""
    low = found["interval"].sel({CI_BOUND: "upper"}) < 0.5
    if not low.any():
        return found
    below = low.any([one for one in low.dims if one != dim])
    of = f" of {', '.join(map(str, found[dim].values[below.values]))}" if dim in below.dims else ""
    other = {"larger": "smaller", "smaller": "larger"}[direction]
    note = f"The interval of the area{of} ends below 0.5: scores may point the other way"
    validate.warn(f"{note}. If {other} scores mean positive, say so: direction={other!r}.")
    return found.assign_attrs(note=note)
