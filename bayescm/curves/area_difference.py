"""auc_difference(): the areas under the ROC curves of two systems, on the same items or on two samples."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm.curves import area_intervals, delong, permuted
from bayescm.curves.area_intervals import Evidence, Found, nothing
from bayescm.curves.area_report import (
    ALIKE,
    BY_DESIGN,
    check_samples,
    check_units,
    of_draws,
    of_second,
    of_two,
    same_classes,
)
from bayescm.curves.area_samples import check_items
from bayescm.curves.multiclass import check_several, is_multiclass, several_of
from bayescm.curves.partial import with_corrected
from bayescm.curves.roc_area import areas_of, given_part, of_range
from bayescm.data import validate
from bayescm.data.inputs import takes_items
from bayescm.data.labels import Label
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.words import Design, Direction
from bayescm.results.objects import stamped

Array = NDArray[np.float64]

_Maker = Callable[[Any, Any, Any], Evidence[Any]]
"""Makes areas of labels, scores and a seed."""
METHODS = ("bayesian", "delong", "delong_t", "bootstrap", "venkatraman")
DESIGNS = tuple(BY_DESIGN)


class _Two(NamedTuple):
    """Two systems: the areas that hold each, and its place in them."""

    sides: tuple[tuple[Evidence[Any], int], tuple[Evidence[Any], int]]

    @property
    def paired(self) -> bool:
        """Return whether they scored the same items."""
        return self.sides[0][0] is self.sides[1][0]

    @property
    def areas(self) -> tuple[Evidence[Any], ...]:
        """Return the areas of each sample."""
        return tuple(areas for areas, _ in self.sides)[: 1 if self.paired else 2]

    @property
    def point(self) -> Array:
        """Return the areas (2, names) of both."""
        return np.stack([areas.point[system] for areas, system in self.sides])

    @property
    def alike(self) -> bool:
        """Return whether the same items are ranked alike."""
        one, other = (_ranks(areas.items.scored(system)) for areas, system in self.sides)
        return self.paired and np.array_equal(one, other)

    @property
    def same(self) -> bool:
        """Return whether the same items have the same scores."""
        one, other = (areas.items.scored(system) for areas, system in self.sides)
        return self.paired and np.array_equal(one, other)


@stamped
@takes_items
def auc_difference(
    y_true: Any,
    y_score: Any = None,
    *,
    method: Literal["bayesian", "delong", "delong_t", "bootstrap", "venkatraman"] = "bayesian",
    design: Design = "paired",
    ci_prob: float = 0.95,
    draws: int = 2000,
    random_seed: int | np.random.Generator | None = None,
    labels: Any = None,
    pos_label: Label | None = None,
    direction: Direction = "larger",
    fpr_range: Sequence[float] | None = None,
    tpr_range: Sequence[float] | None = None,
    recall_range: Sequence[float] | None = None,
    at_specificity: float | None = None,
    at_sensitivity: float | None = None,
    unit: ArrayLike | None = None,
) -> xr.Dataset:
    """Compare the areas under the curves of two systems, which scored the same items or two samples.

    Parameters
    ----------
    y_true : array_like of shape (n,), or mapping of str to them
        Actual labels, two classes; of two independent samples the labels of each, by the systems' names.
    y_score : mapping of str to array_like of shape (n,) or (n, K)
        Scores of two systems, on any scales: the difference is the first area minus the second. Of K > 2 classes arrays
        with a column for each, as in :func:`bayescm.auc`, over ``estimator``.
    method : {"bayesian", "delong", "delong_t", "bootstrap", "venkatraman"}
        "bayesian": the posterior of both curves; "delong": the placements' variance; "delong_t": of two samples by t,
        with Welch's degrees of freedom, as pROC does; "bootstrap": percentiles of stratified resamples of items;
        "venkatraman": whether the curves are the same at every point, by `draws` permutations, which has no interval.
    design : {"paired", "independent"}
        Whether both scored the same items, or each a sample of its own.
    ci_prob : float
        Level of the interval.
    draws : int
        Resamples or posterior draws, at least 1000.
    random_seed : int, numpy.random.Generator or None
    labels, pos_label, direction, fpr_range, tpr_range, unit
        As in :func:`bayescm.auc`: of two classes the areas may be those of a part of the curve.
    recall_range : pair of numbers, optional
        Average precisions over these recalls, as of :func:`bayescm.aucpr`, instead of areas under ROC curves; (0, 1) is
        the whole of both. By "bayesian" or "bootstrap", each sample at its own prevalence.
    at_specificity, at_sensitivity : number, optional
        The sensitivities at this specificity, or the specificities at this sensitivity, instead of areas: where each
        curve has its largest one there. By "bayesian" or "bootstrap".

    Returns
    -------
    xarray.Dataset
        ``point``, the first area minus the second, ``auc(system)``, ``se`` (NaN for "bayesian"),
        ``interval(ci_bound)``, ``clipped(ci_bound)``, and by "bayesian" ``probability_better`` (that the first has the
        larger area), else ``p_value`` (two-sided, of no difference). Of a part of ROC curves also ``corrected`` and
        ``corrected_interval(ci_bound)``, of areas as McClish corrects them. The attr ``reason`` says why an interval is
        NaN.

    Raises
    ------
    ValueError
        If a class has no items.

    Warns
    -----
    UserWarning
        Where a method has no answer. Where two systems with different scores rank all items alike: as for the same
        scores the difference is 0, from 0 to 0, and P(better) = 1/2.

    Notes
    -----
    On the same items easy and hard ones cancel: two separate intervals that overlap don't say that there is no
    difference. With placements V of cases and W of controls (the shares of the other class that each beats) the paired
    variance is var(V1 - V2) / n + var(W1 - W2) / m; that of independent samples is the sum of both areas' own. The
    p-value of the bootstrap is twice the smaller share of resamples on either side of 0, one resample added to it, and
    so agrees with the interval. Permutations are an approximation: with 15 cases and 25 controls equal curves had a
    p-value up to .05 in .07 (the same items) and .08 (two samples) of 600 simulations.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson 1988, Biometrics 44; Dodd and Pepe 2003, Biometrics 59 (partial areas);
    Venkatraman and Begg 1996, Biometrika 83; Venkatraman 2000, Biometrics 56.

    Examples
    --------
    >>> import bayescm
    >>> actual = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> one = [0.1, 0.2, 0.3, 0.4, 0.7, 0.5, 0.6, 0.8, 0.9, 1.0]
    >>> other = [0.3, 0.1, 0.6, 0.2, 0.9, 0.4, 0.5, 0.8, 0.7, 1.0]
    >>> found = bayescm.curves.auc_difference(actual, {"one": one, "other": other}, method="delong")
    >>> round(found["point"].item(), 3), round(found["p_value"].item(), 3)
    (0.16, 0.131)

    Two samples have a label for each item of each:

    >>> labels, scores = {"one": actual, "other": actual[1:]}, {"one": one, "other": other[1:]}
    >>> found = bayescm.curves.auc_difference(labels, scores, method="delong", design="independent")
    >>> round(found["point"].item(), 3), round(found["p_value"].item(), 3)
    (0.22, 0.345)
    """
    validate.choice("method", method, METHODS)
    validate.choice("design", design, DESIGNS)
    if unit is not None and (design == "independent" or is_multiclass(y_score)):
        raise ValueError("`unit` is for two classes and systems that scored the same items; leave it out.")
    names, several = _names(y_score), is_multiclass(y_score)
    part = given_part(
        fpr_range=fpr_range, tpr_range=tpr_range, recall_range=recall_range, at_specificity=at_specificity,
        at_sensitivity=at_sensitivity,
    )  # fmt: skip
    _check_serves(method, design, part, several)

    def evidence(true: Any, score: Any, seed: Any) -> Evidence[Any]:
        """Return the areas of a sample."""
        options = (ci_prob, draws, seed, part)
        if several:
            return several_of(check_several(true, score, labels, pos_label, direction), *options)
        return areas_of(check_items(true, score, labels, pos_label, direction, unit), *options)

    two = (_same_items if design == "paired" else _two_samples)(y_true, y_score, evidence, random_seed)
    first = two.areas[0]
    check_units(first.items, [method])
    answers = [_compared(two, method, name) for name in range(len(first.names))]
    attrs = {"method": method, "design": design, "ci_prob": first.ci_prob, "direction": direction, **_about(two),
             **of_range(first), **of_draws(first, [method]), **_said(two, method, answers)}  # fmt: skip
    found = of_two(names, two.point, answers, attrs, first.names if several else None, most=first.most)
    return with_corrected(found, first, difference=True)


def _check_serves(method: str, design: str, part: Mapping[str, Any], several: bool) -> None:
    """Refuse methods that don't serve a design, a part of the curves or more than two classes."""
    if method == "delong_t" and design == "paired":
        raise ValueError("`method`='delong_t' is for design='independent'; of the same items take 'delong'.")
    if method == "venkatraman" and several:
        raise ValueError("`method`='venkatraman' is for curves of two classes; take one class against the rest.")
    for name in () if several else part:
        if method == "venkatraman" or (method.startswith("delong") and name not in ("fpr_range", "tpr_range")):
            raise ValueError(f"`{name}` has no method={method!r}; take 'bayesian' or 'bootstrap'.")


def _names(y_score: Any) -> list[str]:
    """Return the names of the two systems."""
    if not isinstance(y_score, Mapping) or len(y_score) != 2:
        raise ValueError("`y_score` must be the scores of two systems by name: {'a': scores_a, 'b': scores_b}.")
    return [str(name) for name in y_score]


def _same_items(y_true: Any, y_score: Mapping[str, Any], evidence: _Maker, random_seed: Any) -> _Two:
    """Return two systems that scored the same items."""
    areas = evidence(y_true, dict(y_score), random_seed)
    return _Two(((areas, 0), (areas, 1)))


def _two_samples(y_true: Any, y_score: Mapping[str, Any], evidence: _Maker, random_seed: Any) -> _Two:
    """Return two systems that scored a sample each, with random numbers of its own."""
    check_samples(y_true, y_score)
    seed = validate.seed(random_seed)
    (name, score), (other, further) = y_score.items()
    first, second = evidence(y_true[name], score, seed), evidence(y_true[other], further, of_second(seed))
    same_classes(first.items.labels, second.items.labels)
    return _Two(((first, 0), (second, 0)))


def _ranks(score: Array) -> Array:
    """Return the places of scores (n,) or (n, classes) among the distinct ones of their column."""
    return np.stack([np.unique(column, return_inverse=True)[1] for column in np.atleast_2d(score.T)])


def _about(two: _Two) -> dict[str, Any]:
    """Return the attrs of the items; of two samples the sizes of both."""
    one, *others = (areas.items.about for areas in two.areas)
    sizes = ("cases", "controls", "items")
    return {**one, **{name: [one[name], about[name]] for about in others for name in sizes if name in one}}


def _said(two: _Two, method: str, answers: Sequence[tuple[Found, float]]) -> dict[str, str]:
    """Warn of what has no interval, or of systems that only seem to be one, and return it as attrs."""
    if reason := "; ".join(dict.fromkeys(found.reason for found, _ in answers if found.reason)):
        advice = "" if method == "bayesian" else " Take method='bayesian'."
        validate.warn(f"There is no interval by {method}: {reason}.{advice}")
        return {"reason": reason}
    if two.alike and not two.same:
        validate.warn(ALIKE)
        return {"note": ALIKE}
    return {}


def _compared(two: _Two, method: str, name: int) -> tuple[Found, float]:
    """Return the interval of the difference of an area, and the p-value or probability that goes with it."""
    if two.alike:
        return area_intervals.of_same(method)
    first = two.areas[0]
    if method == "bayesian":
        one, other = (areas.drawn(system, name) for areas, system in two.sides)
        return area_intervals.of_draws(one, other, first.tails)
    for areas in two.areas:
        if areas.items.alone:
            return nothing(areas.items.alone), np.nan
    difference = float(two.point[0, name] - two.point[1, name])
    if method == "venkatraman":
        samples = [(areas.items.scored(system), areas.items.scores.positive) for areas, system in two.sides]
        rng = matrix_rng(first.seed, 0, Stream.PERMUTATIONS)
        return nothing(""), permuted.p_value(samples, rng, first.draws, paired=two.paired)
    if method == "bootstrap":
        one, other = (areas.resampled[:, system, name] for areas, system in two.sides)
        return area_intervals.of_resamples(one - other, first.tails, difference)
    shares = [areas.shares(system, name) for areas, system in two.sides]
    if two.paired:
        shares = [[a - b for a, b in zip(*shares, strict=True)]]
    each = np.array([delong.variance(one, of.units) for one, of in zip(shares, two.areas, strict=True)])
    sizes = np.array([sum(map(len, one)) for one in shares])
    with np.errstate(invalid="ignore"):
        df = each.sum() ** 2 / (each**2 / (sizes - 1.0)).sum() if method == "delong_t" else np.inf
    return area_intervals.of_variance(float(each.sum()), first.tails, difference, float(df))
