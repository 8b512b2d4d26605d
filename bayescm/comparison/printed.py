"""Two systems on the same items of which only margins are known: printed metrics, or how many each got right.

How many items both get right lies within Frechet's bounds and isn't printed. Given the margins it is weighed as the
prior of a pair weighs it (decision 14: one item that only the first gets right, one of the second, one of the rest).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.data.random import Stream, matrix_rng
from bayescm.inference.blocks import Block, Stack
from bayescm.inference.reported import Reported
from bayescm.inference.right import Right
from bayescm.metrics import Metric, compute
from bayescm.results.names import CARRIED_BY

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

_OF_THE_TABLE = np.array([0.5, 1.0, 1.0, 0.5])
"""Concentrations of the items that both get right, only the first, only the second, none."""


@dataclass(frozen=True)
class SamePrinted(Stack):
    """Two systems on the same items.

    Attributes
    ----------
    matrices : tuple of two ndarrays (M, 2, 2)
        Of each system those that are possible.
    weights : tuple of two ndarrays (M,)
    seed : int
    overlap : {"weighed", "most", "least"}
        How many items both get right.
    """

    matrices: tuple[Integers, ...]
    weights: tuple[Array, ...]
    seed: int
    overlap: Literal["weighed", "most", "least"] = "weighed"

    def independent(self, metric: Metric) -> bool:  # noqa: D102
        return False

    @cached_property
    def _theta(self) -> Array:
        """Draw cells (n, 2, 2, 2) of both systems."""
        rng = matrix_rng(self.seed, 0, Stream.REPORTED)
        first, second = self._chosen(rng)
        one_class = not first[:, 0].any()
        theta = np.zeros((self.n, 2, 2, 2))
        for c in (1,) if one_class else (0, 1):
            got = np.stack([first[:, c, c], second[:, c, c]], -1)
            table = _tables(first[:, c].sum(-1), got, rng, self.overlap)
            prior = _OF_THE_TABLE if one_class else np.array([0.0, 0.5, 0.5, 0.0])
            both, only, other, none = rng.standard_gamma(table + prior).T
            theta[:, 0, c, c], theta[:, 0, c, 1 - c] = both + only, other + none
            theta[:, 1, c, c], theta[:, 1, c, 1 - c] = both + other, only + none
        return np.asarray(theta / theta.sum((-2, -1), keepdims=True))

    def _chosen(self, rng: np.random.Generator) -> tuple[Integers, ...]:
        """Draw a matrix of each system, both with the same class totals."""
        totals = [one[:, 1].sum(-1) for one in self.matrices]
        common = np.intersect1d(totals[0], totals[1])
        if not len(common):
            raise ValueError(
                "`design`='paired': no matrices of the two have the same class totals, so they can't be of the same "
                "items, or too many are possible: give `positives`."
            )
        chance = np.ones(len(common))
        for total, weight in zip(totals, self.weights, strict=True):
            chance *= [weight[total == one].sum() for one in common]
        which = rng.choice(len(common), self.n, p=chance / chance.sum())
        found = []
        for matrices, total, weight in zip(self.matrices, totals, self.weights, strict=True):
            chosen = np.empty((self.n, 2, 2), np.int64)
            for place in np.unique(which):
                here, some = np.flatnonzero(which == place), np.flatnonzero(total == common[place])
                p = weight[some] / weight[some].sum()
                chosen[here] = matrices[rng.choice(some, len(here), p=p)]
            found.append(chosen)
        return tuple(found)

    def draws(self, metrics: Sequence[Metric]) -> list[Array]:
        """Draw metrics (2, n), both of the same items."""
        return [np.moveaxis(one, 0, -1) for one in compute(metrics, self._theta)]


def _tables(total: Integers, got: Integers, rng: np.random.Generator, overlap: str) -> Integers:
    """Draw, given how many items (n,) there are and how many each system (n, 2) gets right, who gets which."""
    cases, which = np.unique(np.column_stack([total, got]), axis=0, return_inverse=True)
    both = np.empty(len(total), np.int64)
    for i, (size, first, second) in enumerate(cases.tolist()):
        least, most = max(0, first + second - size), min(first, second)
        here = np.flatnonzero(which.ravel() == i)
        if overlap != "weighed":
            both[here] = most if overlap == "most" else least
            continue
        x = np.arange(least, most + 1)
        table = np.stack([x, first - x, second - x, size - first - second + x], -1)
        log = (special.gammaln(table + _OF_THE_TABLE) - special.gammaln(table + 1.0)).sum(-1)
        both[here] = rng.choice(x, len(here), p=special.softmax(log))
    first, second = got.T
    return np.stack([both, first - both, second - both, total - first - second + both], -1)


def together(alone: Block, seed: int) -> SamePrinted:
    """Return what is known of two systems on the same items from what is printed of each."""
    each = tuple(alone.singles())
    if len(each) != 2:
        raise ValueError(
            "`design`='paired' of printed numbers is for two systems; of more give answers to the same items."
        )
    matrices = [one.each.counts if isinstance(one, Reported) else one.seen()[None].astype(np.int64) for one in each]
    weights = [one.weight if isinstance(one, Reported) else np.ones(1) for one in each]
    if matrices[0][0].sum() != matrices[1][0].sum():
        raise ValueError("`design`='paired' is for the same items, and the numbers of items differ.")
    assert all(isinstance(one, Reported | Right) for one in each)
    return SamePrinted(each, (2,), tuple(matrices), tuple(weights), seed)


def notes(block: Block, metric: Metric, systems: Sequence[str]) -> dict[str, Any]:
    """Say between which numbers P(better) lies, whatever the overlap is."""
    if not isinstance(block, SamePrinted):
        return {}
    ends = []
    for overlap in ("least", "most"):
        first, second = replace(block, overlap=overlap).draws([metric])[0]
        ends.append(float(np.mean(second < first) if not metric.loss else np.mean(first < second)))
    return {
        CARRIED_BY: f"how many items both get right isn't printed: P({systems[0]} better) in "
        f"{metric.alias or metric.name} is {ends[0]:.2f} with the fewest such items and {ends[1]:.2f} with the most"
    }
