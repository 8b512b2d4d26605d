"""Areas under ROC curves of more than two classes: Hand and Till's M, and the mean of each class against the rest.

Both are weighted means of the areas A_ij: the probability that, by the score of class i, an item of class i comes
before one of class j. Their variance is that of the items' shares in them, class by class, as DeLong's of two classes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

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
_NUMBERS = 2**18  # shares at a time, which stay in a cache


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
        columns = [[_Column(i, scores, self.members) for i, scores in enumerate(table.T)] for table in self.scores]
        few = max(_NUMBERS // self.scores.shape[1], 1)
        for start in range(0, draws, _DRAWS):
            stop = min(start + _DRAWS, draws)
            shares = weighted(matrix_rng(seed, start // _DRAWS, stream), stop - start)
            for first in range(start, stop, few):
                some = shares.part(slice(first - start, first - start + few))
                block = slice(first, min(first + few, stop))
                for points, each in zip(found, columns, strict=True):
                    points[:, block] += sum(self.weights[:, i] @ each[i].areas(some) for i in range(len(each)))
        return found

    def _resamples(self, rng: np.random.Generator, draws: int) -> "_Shares":
        """Return the shares of items in their classes, of which each is drawn anew."""
        own = []
        for n in map(len, self.members):
            drawn = rng.integers(n, size=(draws, n)) + n * np.arange(draws)[:, None]
            own.append(np.bincount(drawn.ravel(), minlength=draws * n).reshape(draws, -1) / n)
        nothing = np.zeros((len(own), draws))
        return _Shares(own, nothing.astype(np.intp), nothing)

    def _posterior(self, rng: np.random.Generator, draws: int) -> "_Shares":
        """Return the shares of items in their classes, each with a prior item of another class.

        All of these are as probable.
        """
        own = [rng.standard_gamma(shape_of(len(places)), (draws, len(places))) for places in self.members]
        passed = [np.cumsum(weights, axis=1) for weights in own]
        k, items, prior = len(own), np.empty((len(own), draws), np.intp), np.empty((len(own), draws))
        for i in range(k):
            others, u = (i + rng.integers(1, k, draws)) % k, rng.random((draws, 1))
            for j in np.unique(others):
                rows = others == j
                picked = (passed[j][rows] <= u[rows] * passed[j][rows, -1:]).sum(1)
                items[i, rows] = self.members[j][picked]
            prior[i] = rng.standard_gamma(WEIGHT, draws)
        totals = np.stack([weights.sum(1) for weights in own]) + prior
        return _Shares([w / total[:, None] for w, total in zip(own, totals, strict=True)], items, prior / totals)


class _Shares(NamedTuple):
    """The shares of items in their classes, of some draws."""

    own: list[Array]
    """Of the items of each class, (draws, items)."""
    item: Places
    """An item of another class that each class has besides, (classes, draws)."""
    share: Array
    """And its share."""

    def part(self, some: slice) -> "_Shares":
        return _Shares([one[some] for one in self.own], self.item[:, some], self.share[:, some])


class _Column:
    """The scores of one class, in their order among the items of every class."""

    def __init__(self, mine: int, scores: Array, members: tuple[Places, ...]) -> None:
        self.mine, self.scores = mine, scores
        self.orders = [np.argsort(scores[places], kind="stable") for places in members]
        self.sorted = [scores[places][order] for places, order in zip(members, self.orders, strict=True)]
        self.places = [self._places(j, scores[members[mine]]) for j in range(len(members))]

    def _places(self, j: int, at: Array) -> tuple[Places, Places]:
        """Return how many items of class j have lower scores, and how many no higher ones."""
        return np.searchsorted(self.sorted[j], at, "left"), np.searchsorted(self.sorted[j], at, "right")

    def areas(self, shares: _Shares) -> Array:
        """Return the areas A_ij (classes j, draws) by the score of class i, of weighted items; 0 for i itself."""
        i, rows = self.mine, np.arange(shares.share.shape[1])
        found = np.zeros(shares.share.shape)
        passed = [np.zeros((own.shape[0], own.shape[1] + 1)) for own in shares.own]
        for so_far, own, order in zip(passed, shares.own, self.orders, strict=True):
            np.cumsum(own[:, order], axis=1, out=so_far[:, 1:])

        def below(j: int, at: Array) -> Array:
            """Return the share of class j's own items below one score of each draw, of ties half."""
            left, right = self._places(j, at)
            return 0.5 * (passed[j][rows, left] + passed[j][rows, right])

        besides = self.scores[shares.item]  # scores of the items of other classes
        for j in range(len(found)):
            if j == i:
                continue
            left, right = self.places[j]
            under = passed[j][:, left]
            if (left != right).any():
                under = 0.5 * (under + passed[j][:, right])
            found[j] = np.einsum("dn,dn->d", shares.own[i], under)
            before = 0.5 * (besides[i] > besides[j]) + 0.5 * (besides[i] >= besides[j])
            found[j] += shares.share[i] * (below(j, besides[i]) + shares.share[j] * before)
            found[j] += shares.share[j] * (passed[i][:, -1] - below(i, besides[j]))
        return found


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
