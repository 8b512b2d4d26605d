"""Areas under ROC curves of more than two classes: Hand and Till's M, and the mean of each class against the rest.

Both are weighted means of the areas A_ij: the probability that, by the score of class i, an item of class i comes
before one of class j. Their variance is that of the items' shares in them, class by class, as DeLong's of two classes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm.curves.area_intervals import Evidence
from bayescm.curves.options import WEIGHT, shape_of
from bayescm.data import validate
from bayescm.data.labels import class_order, label_array, some
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import SYSTEM
from bayescm.data.scores import sign_of, signed

Array = NDArray[np.float64]
Places = NDArray[np.intp]

ESTIMATORS = ("hand_till", "one_vs_rest")
METHODS = ("bayesian", "delong", "logit_delong", "bootstrap")
_DRAWS = 50  # draws that share a stream of random numbers


def is_multiclass(y_score: Any) -> bool:
    """Say whether scores have a column for each of three classes or more, or are several such tables by name."""
    if isinstance(y_score, xr.DataArray) or hasattr(y_score, "columns"):
        return False
    first = next(iter(y_score.values()), None) if isinstance(y_score, Mapping) else y_score
    shape = np.shape(first) if isinstance(first, np.ndarray | list | tuple) else ()
    return len(shape) == 2 and shape[1] > 2


@dataclass(frozen=True)
class Several:
    """Items of several classes, with a score for every class from each system."""

    members: tuple[Places, ...]
    """Of each class the positions of its items."""
    scores: Array
    """(systems, items, classes)"""
    systems: list[Any] | None
    labels: list[Any]
    dim: str = SYSTEM

    @property
    def about(self) -> dict[str, Any]:
        """Return the attrs that say how many items and classes there are."""
        return {"classes": len(self.labels), "items": int(self.sizes.sum())}

    @property
    def alone(self) -> str:
        """Return the reason why a class can't show how its scores vary; empty if all can."""
        return "" if self.sizes.min() > 1 else "one item of a class alone doesn't show how scores vary"

    @property
    def sizes(self) -> Array:
        """Return the number of items of each class."""
        return np.array([len(one) for one in self.members], np.float64)

    @cached_property
    def weights(self) -> Array:
        """Return the weights (estimators, K, K) of the areas A_ij: all alike, or by the sizes of the other classes."""
        k, sizes = len(self.sizes), self.sizes
        others = ~np.eye(k, dtype=bool)
        rest = (sizes.sum() - sizes)[:, None]
        return np.stack([others / (k * (k - 1.0)), others * sizes / rest / k])

    def shares(self, system: int) -> tuple[Array, list[Array]]:
        """Return the points (estimators,) and of each class its items' shares in them (estimators, items)."""
        lost = np.zeros(len(self.weights))  # of 1: perfect separation gives exactly that
        shares = [np.zeros((len(self.weights), len(one))) for one in self.members]
        for i, j in np.ndindex(self.weights.shape[1:]):
            if i != j:
                column, weight = self.scores[system, :, i], self.weights[:, i, j]
                before, after = _placements(column[self.members[i]], column[self.members[j]])
                lost += weight * (1.0 - before.mean())
                shares[i] += weight[:, None] * before
                shares[j] += weight[:, None] * after
        return np.maximum(1.0 - lost, 0.0), shares

    def scored(self, system: int) -> Array:
        """Return the scores (items, classes) of a system."""
        return np.asarray(self.scores[system])

    def drawn(self, method: str, draws: int, seed: int) -> Array:
        """Return the points (systems, estimators, draws) of weighted items, which weigh the same for every system.

        "bootstrap": stratified resamples; "bayesian": the posterior.
        """
        weighted = self._posterior if method == "bayesian" else self._resamples
        stream = Stream.MULTICLASS_POSTERIOR if method == "bayesian" else Stream.MULTICLASS_BOOTSTRAP
        found = np.zeros((len(self.scores), len(self.weights), draws))
        orders = [[_order(column) for column in table.T] for table in self.scores]
        for start in range(0, draws, _DRAWS):
            block = slice(start, min(start + _DRAWS, draws))
            shares = weighted(matrix_rng(seed, start // _DRAWS, stream), block.stop - start)
            for system, by_class in enumerate(orders):
                for i, (order, starts) in enumerate(by_class):
                    found[system][:, block] += self.weights[:, i] @ self._row(shares, i, order, starts)
        return found

    def _resamples(self, rng: np.random.Generator, draws: int) -> Array:
        """Return the shares (classes, draws, items) of items in each class, of which each is drawn anew."""
        shares = np.zeros((len(self.members), draws, self.scores.shape[1]))
        for mine, places in zip(shares, self.members, strict=True):
            drawn = rng.integers(len(places), size=(draws, len(places)))
            rows = np.arange(draws)[:, None] * len(places)
            flat = np.bincount((rows + drawn).ravel(), minlength=draws * len(places))
            mine[:, places] = flat.reshape(draws, -1) / len(places)
        return shares

    def _posterior(self, rng: np.random.Generator, draws: int) -> Array:
        """Return the shares (classes, draws, items) of items in each class: its own, and as its prior item another's.

        That is an item of one of the other classes, all of which are as probable.
        """
        shares = np.zeros((len(self.members), draws, self.scores.shape[1]))
        for mine, places in zip(shares, self.members, strict=True):
            mine[:, places] = rng.standard_gamma(shape_of(len(places)), (draws, len(places)))
        passed = np.cumsum(shares, axis=2)
        rows, k = np.arange(draws), len(shares)
        for i, mine in enumerate(shares):
            other = (i + rng.integers(1, k, draws)) % k
            below = passed[other, rows]
            picked = (below <= rng.random((draws, 1)) * below[:, -1:]).sum(1)
            mine[rows, picked] += rng.standard_gamma(WEIGHT, draws)
        return np.asarray(shares / shares.sum(2, keepdims=True))

    def _row(self, shares: Array, i: int, order: Places, starts: Places) -> Array:
        """Return the areas A_ij (classes j, draws) of weighted items, by the score of class i; 0 for i itself."""
        steps = np.add.reduceat(shares[:, :, order], starts, axis=2)
        below = np.cumsum(steps, axis=2) - 0.5 * steps
        found = (steps[i] * below).sum(2)
        found[i] = 0.0
        return np.asarray(found)


def check_several(y_true: ArrayLike, y_score: Any, labels: Any, pos_label: Any, direction: str) -> Several:
    """Return valid items of several classes, or say what is wrong with them."""
    sign = sign_of(direction)
    true = label_array("y_true", y_true)
    (true,), order = class_order({"y_true": true}, labels, pos_label)
    named = dict(y_score) if isinstance(y_score, Mapping) else {None: y_score}
    tables = [_table("y_score" if name is None else f"y_score[{name!r}]", one, true, order)
              for name, one in named.items()]  # fmt: skip
    members = tuple(np.flatnonzero(true == label) for label in order)
    empty = [label for label, places in zip(order.tolist(), members, strict=True) if not len(places)]
    if empty:
        raise ValueError(f"`y_true` must have items of every class; it has none of {some(empty)}.")
    return Several(members, signed(np.stack(tables), sign), None if None in named else list(named), order.tolist())


def _table(name: str, values: Any, true: NDArray[Any], order: NDArray[Any]) -> Array:
    """Return the scores (items, classes) of one system."""
    array = validate.array_of(name, values)
    if array.ndim != 2 or array.shape != (len(true), len(order)):
        raise ValueError(
            f"`{name}` must have a row for each of {len(true)} items and a column for each of {len(order)} classes "
            f"({some(order.tolist())}); got shape {array.shape}. `labels` names the classes as the columns have them."
        )
    return np.stack([validate.real_numbers(name, column) for column in array.T], axis=1)


def _placements(first: Array, second: Array) -> tuple[Array, Array]:
    """Return of each item the share of the second class below it, and of the first class above it; ties count half."""
    found = []
    for mine, others in ((first, np.sort(second)), (second, np.sort(first))):
        found.append((np.searchsorted(others, mine, "left") + np.searchsorted(others, mine, "right")) / 2 / len(others))
    return found[0], 1.0 - found[1]


def _order(column: Array) -> tuple[Places, Places]:
    """Return the order of scores from the smallest up, and where each distinct one begins."""
    order = np.argsort(column, kind="stable")
    ordered = column[order]
    return order, np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))


@dataclass(frozen=True)
class SeveralAreas(Evidence[Several]):
    """Areas of more than two classes: of both estimators."""

    @cached_property
    def _placed(self) -> list[tuple[Array, list[Array]]]:
        """Return of each system the points, and of each class its items' shares in them."""
        return [self.items.shares(system) for system in range(len(self.items.scores))]

    @cached_property
    def point(self) -> Array:
        """Return the areas (systems, names)."""
        return np.stack([points for points, _ in self._placed])

    @cached_property
    def resampled(self) -> Array:
        """Return the areas (draws, systems, names) of stratified resamples, the same items for every system."""
        return np.moveaxis(self.items.drawn("bootstrap", self.draws, self.seed), -1, 0)

    @cached_property
    def _posterior(self) -> Array:
        """Return the areas (systems, names, draws) of weighted items."""
        return self.items.drawn("bayesian", self.draws, self.seed)

    def shares(self, system: int, name: int) -> list[Array]:
        """Return of each class its items' shares in an area."""
        return [of_class[name] for of_class in self._placed[system][1]]

    def drawn(self, system: int, name: int, prior: str = "prior_item") -> Array:
        """Return the posterior draws of an area."""
        return np.asarray(self._posterior[system, name])


def several_of(
    items: Several, ci_prob: object, draws: object, random_seed: Any, part: Mapping[str, Any]
) -> SeveralAreas:
    """Return the areas of several classes, with options checked."""
    if part:
        raise ValueError(f"`{next(iter(part))}` is for two classes; leave it out, or make one class against the rest.")
    return SeveralAreas(
        items, ESTIMATORS, 0.0, validate.number("ci_prob", ci_prob, 0, 1), validate.draws(draws), 0,
        validate.seed(random_seed),
    )  # fmt: skip
