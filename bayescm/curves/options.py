"""What is asked of curve_posterior(), checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.curves.exchanged import is_exchanged
from bayescm.curves.names import LONG_NAMES
from bayescm.data import validate
from bayescm.data.labels import label_array
from bayescm.data.schema import RESERVED, THRESHOLD
from bayescm.data.scores import ITEM, Scores, signed
from bayescm.priors.concentrations import PrevalenceLike

Array = NDArray[np.float64]

PRIORS = ("prior_item", "smoothed", "bootstrap")
WEIGHT = 1 / 3
"""Of the prior item of a class, in items: of those tried the one whose intervals of areas cover best (verification)."""
_POINTS, _THRESHOLDS = 101, 301
_CELLS = 400
_MOST = 1e6  # of such a weight: no test set says anything beside it
_MANY = 500  # items of a class, from which on the two that a variance is short of are 1/500 of the width of an interval
_SHORT = 1e-3  # of a range of rates: an area over less is lost in rounding
TAKEN = {*LONG_NAMES, *RESERVED, ITEM, THRESHOLD, "score", "actual", "positive", "specificity", "sensitivity"}
"""Names that systems' and groups' dims can't have."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is drawn, and what is read from each curve."""

    over: str | None
    prior: str
    weight: float
    """Of the prior item of a class, in items."""
    prevalence: PrevalenceLike
    chains: int
    draws: int
    seed: int
    axis: Array
    """False positive rates; or thresholds, of scores that are larger for the positive class."""
    fpr_range: tuple[float, float] | None
    tpr_range: tuple[float, float] | None
    recalls: Array
    """Ends of the cells of a range of recalls, none without one."""
    specificities: Array
    sensitivities: Array

    def shapes(self, totals: Array) -> Array:
        """Return of each class the shape of an item's mass and that of its prior item's."""
        mine = [1.0 if self.prior == "bootstrap" else shape_of(n) for n in totals]
        return np.stack([mine, np.full(2, self.weight)], axis=1)

    def rates(self) -> tuple[Array, Array]:
        """Return the false and the true positive rates at which curves are read."""
        grid = self.axis if self.over == "rate" else np.empty(0)
        fprs = [grid, self.fpr_range or (), 1 - self.specificities]
        tprs = [grid[grid > 0], self.tpr_range or (), self.recalls, self.sensitivities]
        return np.unique(np.concatenate(fprs)), np.unique(np.concatenate(tprs))


def plan(
    over: str | None, points: Any, metrics: Any, prior: Any, prevalence: Any, chains: int, draws: int, seed: Any,
    scores: Scores, fpr_range: Any, tpr_range: Any, recall_range: Any, at_specificity: Any, at_sensitivity: Any,
) -> Plan:  # fmt: skip
    """Check the options."""
    if over is not None:
        validate.choice("over", over, ("rate", "threshold"))
    if metrics is not None and over != "threshold":
        raise ValueError("`metrics` are given over thresholds: ask for over='threshold' too.")
    if points is not None and over is None:
        raise ValueError("`points` is for curves: give `over`, or leave it out.")
    if prior is None:
        alone = len(scores.score) == 1 and scores.unit is None
        prior = "smoothed" if is_exchanged(prevalence) and alone else "prior_item"
    if isinstance(prior, str):
        name = validate.choice("prior", prior, PRIORS)
        weight = WEIGHT if name == "prior_item" else 0.0
    else:
        weight = validate.number("prior", prior, 0, _MOST, closed=True)
        name = "prior_item" if weight else "bootstrap"
    if scores.systems is not None and scores.dim in TAKEN:
        raise ValueError(f"`y_score` can't have the dim {scores.dim!r}: results keep that name for something else.")
    if name == "smoothed" and scores.unit is not None:
        raise ValueError("`prior`='smoothed' takes items for independent, and these come in units; take 'prior_item'.")
    if name == "smoothed" and len(scores.score) > 1:
        raise ValueError("`prior`='smoothed' has no joint distribution of several systems; take 'prior_item'.")
    axis = np.empty(0) if over is None else _rates(points) if over == "rate" else _thresholds(points, scores)
    return Plan(
        over, name, weight, prevalence, validate.positive_integer("chains", chains),
        validate.positive_integer("draws", draws), validate.seed(seed), axis, stretch("fpr_range", fpr_range),
        stretch("tpr_range", tpr_range), _cells(recall_range), probabilities("at_specificity", at_specificity),
        probabilities("at_sensitivity", at_sensitivity),
    )  # fmt: skip


def shape_of(n: float) -> float:
    """Return the shape of the gamma variable that an item of n weighs.

    With n / (n + 2) a weighted mean has the variance of the sample over n, which has n - 1 in its denominator; with 1,
    as in the Bayesian bootstrap, it has n + 1 there.
    """
    return n / (n + 2.0) if n < _MANY else 1.0


def probabilities(name: str, values: Any) -> Array:
    """Return numbers in [0, 1], each once."""
    if values is None:
        return np.empty(0)
    found = [
        validate.number(name, value, 0, 1, closed=True)
        for value in np.atleast_1d(validate.array_of(name, values)).tolist()
    ]
    validate.unique(name, found)
    return np.array(found)


def stretch(name: str, values: Any) -> tuple[float, float] | None:
    """Return the two ends of a range of rates."""
    if values is None:
        return None
    ends = probabilities(name, values)
    if len(ends) != 2 or not ends[0] < ends[1]:
        raise ValueError(f"`{name}` must be two rates, the smaller first; got {values!r}.")
    if ends[1] - ends[0] < _SHORT:
        raise ValueError(
            f"`{name}` must be at least {_SHORT:g} long; got {values!r}. Read the rate at a point instead."
        )
    return float(ends[0]), float(ends[1])


def _cells(recall_range: Any) -> Array:
    """Return the ends of the cells in which precision is integrated over a range of recalls."""
    ends = stretch("recall_range", recall_range)
    if ends is None:
        return np.empty(0)
    inner = np.linspace(ends[0] ** 0.5, ends[1] ** 0.5, _CELLS + 1)[1:-1] ** 2  # precision varies where recall is low
    return np.concatenate([ends[:1], inner, ends[1:]])


def _rates(points: Any) -> Array:
    """Return the axis of rates."""
    if points is None or isinstance(points, int | np.integer):
        number = _POINTS if points is None else validate.positive_integer("points", points)
        if number < 2:
            raise ValueError(f"`points` must be at least 2 rates; got {number}.")
        return np.asarray(np.arange(number) / (number - 1))  # 0.95 is 0.95, which linspace misses
    rates = probabilities("points", points)
    if len(rates) == 0 or (np.diff(rates) <= 0).any():
        raise ValueError("`points` must be increasing rates.")
    return rates


def _thresholds(points: Any, scores: Scores) -> Array:
    """Return thresholds, of scores that are larger for the positive class, from the largest down."""
    if points is None or isinstance(points, int | np.integer):
        most = _THRESHOLDS if points is None else validate.positive_integer("points", points)
        distinct, which = np.unique(-scores.score, return_inverse=True)
        if len(distinct) <= most:
            return np.asarray(-distinct)
        times = np.broadcast_to(scores.times(), scores.score.shape)
        reached = np.cumsum(np.bincount(which.ravel(), times.ravel()))  # items with such a score or a larger one
        at = np.linspace(0, reached[-1] - 1, most).round()
        return np.asarray(-distinct[np.unique(np.searchsorted(reached, at, side="right"))])
    given = validate.real_numbers("points", np.atleast_1d(validate.array_of("points", points)))
    given = signed(given, scores.sign)
    validate.unique("points", given.tolist())
    return np.asarray(np.sort(given)[::-1])


def groups_of(by: Any, n: int) -> tuple[str, NDArray[Any]]:
    """Return the name of the groups, and the group of each item."""
    if by is None:
        return "group", np.zeros(n, np.int64)
    name, values = next(iter(by.items())) if isinstance(by, Mapping) and len(by) == 1 else ("group", by)
    if isinstance(values, Mapping):
        raise ValueError(f"`by` must be groups, or a mapping of one name to them; got {len(by)} names.")
    if name in TAKEN:
        raise ValueError(f"`by` can't be called {name!r}: results keep that name for something else.")
    groups = label_array("by", values)
    if len(groups) != n:
        raise ValueError(f"`by` has {len(groups)} items and `y_true` has {n}; give one of each per item.")
    return str(name), groups
