"""auc_difference(): the areas under the ROC curves of two systems, on the same items or on two samples."""

from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bayescm.curves import area_intervals, delong
from bayescm.curves.area_intervals import Areas, Found, alone, nothing
from bayescm.curves.area_report import kind, of_draws
from bayescm.curves.area_samples import check_items
from bayescm.curves.roc_area import areas_of
from bayescm.data import validate
from bayescm.data.assumptions import EACH_CLASS, OWN_ITEMS, SAME_ITEMS, assumed
from bayescm.data.labels import Label
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import CI_BOUND, SYSTEM, attributes, interval_coordinate, positive_class

Array = NDArray[np.float64]

METHODS = ("delong", "bootstrap", "bayesian")
_ITEMS = {"paired": SAME_ITEMS, "independent": OWN_ITEMS}
DESIGNS = tuple(_ITEMS)
_SIDES = ("first", "second")
_NAMES = {
    "point": "Area of the items themselves",
    "difference": "First area minus second",
    "standard_error": "Standard error of the difference",
    "interval": "Interval of the difference",
    "clipped": "Bound was beyond the range and was moved to its end",
    "p_value": "Two-sided p-value of no difference",
    "probability": "Probability that the first area is the larger",
}
_ALIKE = (
    "Both systems rank all items alike, so these items show no difference. That is certain only if the scores of one "
    "are a rising function of the other's."
)


class _Two(NamedTuple):
    """Two systems: the areas that hold each, and its place in them."""

    sides: tuple[tuple[Areas, int], tuple[Areas, int]]

    @property
    def paired(self) -> bool:
        """Return whether they scored the same items."""
        return self.sides[0][0] is self.sides[1][0]

    @property
    def areas(self) -> tuple[Areas, ...]:
        """Return the areas of each sample."""
        return tuple(areas for areas, _ in self.sides)[: 1 if self.paired else 2]

    @property
    def point(self) -> Array:
        """Return both areas."""
        return np.array([areas.point[system, 0] for areas, system in self.sides])

    @property
    def alike(self) -> bool:
        """Return whether the same items are ranked alike."""
        one, other = (areas.items.rankings[system].step for areas, system in self.sides)
        return self.paired and np.array_equal(one, other)

    @property
    def same(self) -> bool:
        """Return whether the same items have the same scores."""
        one, other = (areas.items.scores.score[system] for areas, system in self.sides)
        return self.paired and np.array_equal(one, other)


def auc_difference(
    y_true: Any,
    first: ArrayLike,
    second: ArrayLike,
    *,
    method: str = "delong",
    design: str = "paired",
    ci_prob: float = 0.95,
    draws: int = 2000,
    random_seed: int | np.random.Generator | None = None,
    labels: Any = None,
    pos_label: Label | None = None,
    direction: str = "larger",
) -> xr.Dataset:
    """Compare the areas under the ROC curves of two systems, which scored the same items or two samples.

    Parameters
    ----------
    y_true : array_like of shape (n,), or a pair of them
        Actual labels, two classes; of two independent samples a pair, the labels of each.
    first, second : array_like of shape (n,)
        Scores of the two systems, on any scales.
    method : {"delong", "bootstrap", "bayesian"}
        "bootstrap": percentiles of stratified resamples of items; "bayesian": the posterior of both curves.
    design : {"paired", "independent"}
        Whether both scored the same items, or each a sample of its own.
    ci_prob : float
        Level of the interval.
    draws : int
        Resamples or posterior draws, at least 1000.
    random_seed : int, numpy.random.Generator or None
    labels, pos_label, direction
        As in :func:`bayescm.auc`.

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
        Where a method has no answer. Where two systems with different scores rank all items alike: as for the same
        scores the difference is 0, from 0 to 0, and p = 1.

    Notes
    -----
    On the same items easy and hard ones cancel: two separate intervals that overlap don't say that there is no
    difference. With placements V of cases and W of controls (the shares of the other class that each beats) the paired
    variance is var(V1 - V2) / n + var(W1 - W2) / m; that of independent samples is the sum of both areas' own. The
    p-value of the bootstrap is twice the smaller share of resamples on either side of 0, one resample added to it, and
    so agrees with the interval.

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

    Two samples have a label for each item of each:

    >>> found = bayescm.auc_difference((actual, actual[1:]), one, other[1:], design="independent")
    >>> round(found["difference"].item(), 3), round(found["p_value"].item(), 3)
    (0.22, 0.345)
    """
    validate.choice("method", method, METHODS)
    validate.choice("design", design, DESIGNS)
    options, items = (ci_prob, draws, random_seed), (labels, pos_label, direction)
    two = (_same_items if design == "paired" else _two_samples)(y_true, first, second, items, options)
    difference = float(two.point[0] - two.point[1])
    name = "probability" if method == "bayesian" else "p_value"
    found, value = _compared(two, method, difference)
    attrs = {"method": method, "design": design, "ci_prob": two.areas[0].ci_prob, "direction": direction,
             **_sizes(two), **of_draws(two.areas[0], [method]), **_said(two, method, found),
             **positive_class(two.areas[0].items.scores.labels.tolist())}  # fmt: skip
    limits = np.array([found.lower, found.upper])
    made = xr.Dataset(
        {
            "point": (SYSTEM, two.point),
            "difference": difference,
            "standard_error": found.standard_error,
            "interval": (CI_BOUND, np.clip(limits, -1.0, 1.0)),
            "clipped": (CI_BOUND, np.abs(limits) > 1.0),
            name: value,
        },
        coords={SYSTEM: list(_SIDES), CI_BOUND: interval_coordinate(two.areas[0].ci_prob, kind([method]))},
        attrs=attributes(**attrs, assumptions=assumed(None, _ITEMS[design], items=EACH_CLASS)),
    )
    for variable in made.data_vars:
        made[variable].attrs = {"long_name": _NAMES[str(variable)], "units": "1"}
    return made


def _same_items(y_true: Any, first: Any, second: Any, items: tuple[Any, ...], options: tuple[Any, ...]) -> _Two:
    """Return two systems that scored the same items."""
    areas = areas_of(check_items(y_true, {"first": first, "second": second}, *items), *options)
    return _Two(((areas, 0), (areas, 1)))


def _two_samples(y_true: Any, first: Any, second: Any, items: tuple[Any, ...], options: tuple[Any, ...]) -> _Two:
    """Return two systems that scored a sample each, with random numbers of its own."""
    if not isinstance(y_true, tuple | list) or len(y_true) != 2 or {np.ndim(one) for one in y_true} != {1}:
        raise ValueError(
            "`y_true` must be a pair for design='independent', the labels of the first sample and those of the second: "
            "auc_difference((y_first, y_second), first, second, design='independent')."
        )
    one, other = (check_items(y, score, *items) for y, score in zip(y_true, (first, second), strict=True))
    orders = [each.scores.labels.tolist() for each in (one, other)]
    if orders[0] != orders[1]:
        raise ValueError(f"`y_true` must have the same classes in both samples; got {orders[0]} and {orders[1]}.")
    ci_prob, draws, random_seed = options
    seed = validate.seed(random_seed)
    further = int(matrix_rng(seed, 0, Stream.SECOND_SAMPLE).integers(2**62))
    return _Two(((areas_of(one, ci_prob, draws, seed), 0), (areas_of(other, ci_prob, draws, further), 0)))


def _sizes(two: _Two) -> dict[str, Any]:
    """Return the numbers of cases and controls, of two samples both."""
    sizes = {name: [getattr(areas.items, name) for areas in two.areas] for name in ("cases", "controls")}
    return {name: values[0] if two.paired else values for name, values in sizes.items()}


def _said(two: _Two, method: str, found: Found) -> dict[str, str]:
    """Warn of what has no interval, or of systems that only seem to be one, and return it as attrs."""
    if found.reason:
        advice = "" if method == "bayesian" else " Take method='bayesian'."
        validate.warn(f"There is no interval by {method}: {found.reason}.{advice}")
        return {"reason": found.reason}
    if two.alike and not two.same:
        validate.warn(_ALIKE)
        return {"note": _ALIKE}
    return {}


def _compared(two: _Two, method: str, difference: float) -> tuple[Found, float]:
    """Return the interval of a difference, and the p-value or probability that goes with it."""
    if two.alike:
        return Found(0.0 if method != "bayesian" else np.nan, 0.0, 0.0), 0.5 if method == "bayesian" else 1.0
    if method == "bayesian":
        one, other = (areas.drawn(system, "auc") for areas, system in two.sides)
        found = Found(np.nan, *np.quantile(one - other, two.areas[0].tails))
        return found, float(((one > other) + 0.5 * (one == other)).mean())
    for areas in two.areas:
        if alone(areas.items):
            return nothing(alone(areas.items)), np.nan
    return (_by_resamples if method == "bootstrap" else _by_delong)(two, difference)


def _by_resamples(two: _Two, difference: float) -> tuple[Found, float]:
    """Return the interval and the p-value of stratified resamples."""
    one, other = (areas.resampled[:, system, 0] for areas, system in two.sides)
    drawn = one - other
    if np.ptp(drawn) < area_intervals.NOISE:
        return nothing(f"all resamples have the difference {difference:g}, which is not certainty"), np.nan
    limits = area_intervals.percentiles(drawn, two.areas[0].tails)
    share = (1.0 + min((drawn <= 0.0).sum(), (drawn >= 0.0).sum())) / (1.0 + len(drawn))
    return Found(float(drawn.std(ddof=1)), *limits), float(min(2.0 * share, 1.0))


def _by_delong(two: _Two, difference: float) -> tuple[Found, float]:
    """Return DeLong's interval and p-value."""
    if two.paired:
        of_cases, of_controls = (placed[0] - placed[1] for placed in two.areas[0].placements)
        variance = float(delong.variance(of_cases, of_controls))
    else:
        variance = sum(float(delong.variance(*areas.placements)[0]) for areas in two.areas)
    if variance == 0.0:
        return nothing(f"at a difference of {difference:g} its variance is 0, which is not certainty"), np.nan
    error = float(np.sqrt(variance))
    half = two.areas[0].z * error
    return Found(error, difference - half, difference + half), float(2.0 * special.ndtr(-abs(difference) / error))
