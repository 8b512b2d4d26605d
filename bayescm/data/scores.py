"""Scores of two classes: checked items, and their ranking."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm.data import validate
from bayescm.data.labels import Label, class_order, label_array
from bayescm.data.schema import SYSTEM

Array = NDArray[np.float64]

ITEM = "item"
DIRECTIONS = {"larger": 1.0, "smaller": -1.0}
"""Which scores are positive, and the sign that makes them the larger ones."""


class Scores(NamedTuple):
    """Checked items: whether each is positive, and the scores (systems, n) that it got."""

    positive: NDArray[np.bool_]
    score: Array
    """Larger for the positive class: with the other sign than given if the smaller scores are positive."""
    systems: NDArray[Any] | None
    """Names of the systems; None where one came without a name."""
    dim: str
    """Of the systems."""
    labels: NDArray[Any]
    """The negative and the positive class."""
    sign: float = 1.0
    """That turns `score` into the scores as given."""
    n: NDArray[np.int64] | None = None
    """How many items each row stands for; None: one."""
    unit: NDArray[np.int64] | None = None
    """Which unit each item is of, of crossed ones in two rows; None: one of its own."""

    def times(self) -> NDArray[np.int64]:
        """Return how many items each row stands for."""
        return np.ones(len(self.positive), np.int64) if self.n is None else self.n


class Ranking(NamedTuple):
    """Distinct scores from the largest down, and the cases and controls that have each."""

    score: Array
    cases: NDArray[np.int64]
    controls: NDArray[np.int64]
    step: NDArray[np.int64]
    """Which of the distinct scores each item has."""


def check_scores(
    y_true: ArrayLike,
    y_score: Any,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    direction: str = "larger",
) -> Scores:
    """Return valid items, the positive class last, or say what is wrong with them.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Actual labels, two classes.
    y_score : array_like of shape (n,), mapping, data frame or xarray.DataArray
        Real scores, also infinite ones. Several systems that scored the same items: a mapping of names to scores, a
        data frame with a column per system, or a DataArray over ``item`` and another dim.
    labels, pos_label
        As in :func:`bayescm.confusion_matrix`.
    direction : {"larger", "smaller"}
        Scores that speak for the positive class.

    Returns
    -------
    Scores
    """
    if y_score is None:
        raise TypeError("`y_score` is missing: give labels and scores, or a table with a column of each.")
    sign = sign_of(direction)
    true = label_array("y_true", y_true)
    named, dim = _by_system(y_score)
    checked = {name: validate.real_numbers("y_score" if name is None else f"y_score[{name!r}]", one)
               for name, one in named.items()}  # fmt: skip
    for one in checked.values():
        validate.same_length(y_true=true, y_score=one)
    (true,), order = class_order({"y_true": true}, labels, pos_label)
    if len(order) != 2:
        raise ValueError(
            f"`y_true` must have two classes; got {order.tolist()}. Make one class against the rest; of more classes "
            "bayescm.auc takes an array of scores with a column for each."
        )
    systems = None if None in checked else _names(list(checked))
    return Scores(true == order[1], signed(np.stack(list(checked.values())), sign), systems, dim, order, sign)


def signed(values: Array, sign: float) -> Array:
    """Return scores or thresholds with a sign, and no negative zeros."""
    return values if sign > 0 else 0.0 - values


def sign_of(direction: object) -> float:
    """Return the sign that makes the positive class the one with the larger scores."""
    if direction == "auto":
        raise ValueError(
            "`direction`='auto' isn't offered: the direction that looks better on these items makes every area too "
            "large. Say 'larger' or 'smaller', whichever scores mean positive."
        )
    if direction in ("<", ">"):
        raise ValueError(
            f"`direction` must be 'larger' or 'smaller', the scores that mean positive; got {direction!r}. pROC's '<', "
            "controls below cases, is 'larger' here, and its '>' is 'smaller'."
        )
    return DIRECTIONS[validate.choice("direction", direction, DIRECTIONS)]


def _names(names: list[Any]) -> NDArray[Any]:
    """Return the names of systems, all text or all numbers."""
    kinds = {type(name) if isinstance(name, str) else "number" for name in names}
    array = np.array(names) if len(kinds) == 1 else np.empty(0)
    if array.ndim != 1 or len(array) != len(names) or array.dtype.kind not in "UiufbM":
        raise ValueError(f"`y_score` must name its systems by text, or all by numbers; got {names!r}.")
    return array


def _by_system(y_score: Any) -> tuple[dict[Any, Any], str]:
    """Return scores by the names of the systems, None for a single one, and the name of the dim."""
    if isinstance(y_score, xr.DataArray) and y_score.ndim > 1:
        rest = [str(dim) for dim in y_score.dims if dim != ITEM]
        if len(rest) != 1 or y_score.ndim != 2:
            raise ValueError(f"`y_score` must have the dim 'item' and at most one more; got {y_score.dims}.")
        names = y_score[rest[0]].values.tolist()
        validate.unique("y_score", names)
        return {name: y_score.isel({rest[0]: i}).values for i, name in enumerate(names)}, rest[0]
    if isinstance(y_score, Mapping) or hasattr(y_score, "columns"):
        names = list(y_score) if isinstance(y_score, Mapping) else list(y_score.columns)
        validate.unique("y_score", names)
        if not names:
            raise ValueError("`y_score` is empty; give the scores of at least one system.")
        return {name: y_score[name] for name in names}, SYSTEM
    if np.ndim(y_score) == 2:
        raise ValueError(
            f"`y_score` must have one dimension; got shape {np.shape(y_score)}. Of two columns of probabilities take "
            "that of the positive class, `y_score[:, 1]`; several systems go into a mapping of names to scores."
        )
    return {None: y_score}, SYSTEM


def rank(positive: NDArray[np.bool_], score: Array, n: NDArray[np.int64] | None = None) -> Ranking:
    """Return the ranking of items (n,): equal scores are together, and nothing is compared with a tolerance.

    Rows may stand for `n` items each.
    """
    times = np.ones(len(score), np.int64) if n is None else n
    order = np.argsort(score)[::-1]
    ordered = score[order]
    new = np.append(True, ordered[1:] != ordered[:-1])
    starts = np.flatnonzero(new)
    items = np.add.reduceat(times[order], starts)
    cases = np.add.reduceat(np.where(positive, times, 0)[order], starts)
    step = np.empty(len(score), np.int64)
    step[order] = np.cumsum(new) - 1
    return Ranking(ordered[starts], cases, items - cases, step)
