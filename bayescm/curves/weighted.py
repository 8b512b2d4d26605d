"""Areas under the ROC curve of items that weigh, such as those of crossed units."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayescm.curves.area_intervals import Areas
from bayescm.data.random import Stream, matrix_rng

Array = NDArray[np.float64]


_BLOCK = 2**21  # weights that are held at a time: 16 MB


def parts(draws: int, size: int) -> list[int]:
    """Return how many draws of so many weights are made at a time."""
    step = max(_BLOCK // size, 1)
    return [min(step, draws - start) for start in range(0, draws, step)]


def areas(score: Array, positive: NDArray[np.bool_], weights: Array) -> Array:
    """Return the areas (n,) of items whose weights are (n, items), ties counted half; NaN where a class has none.

    Items without a score (NaN) count as absent.
    """
    order = np.argsort(score, kind="stable")[: int((~np.isnan(score)).sum())]
    of_cases, of_controls = (np.where(kind, weights[:, order], 0.0) for kind in (positive[order], ~positive[order]))
    ranked = score[order]
    new = np.append(0, np.flatnonzero(ranked[1:] != ranked[:-1]) + 1)
    cases, controls = (np.add.reduceat(one, new, axis=1) for one in (of_cases, of_controls))
    below = np.cumsum(controls, 1) - controls / 2.0
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((cases * below).sum(1) / (cases.sum(1) * controls.sum(1)))


@dataclass(frozen=True)
class CrossedAreas(Areas):
    """Areas of readers who all read the same cases, or the like: the mean over the first unit of the area of each."""

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """Return which of either unit each item is of (2, items); those of the first have items of both classes."""
        scores = self.items.scores
        assert scores.unit is not None
        if any(len(np.unique(scores.positive[scores.unit[0] == i])) < 2 for i in np.unique(scores.unit[0])):
            raise ValueError("`unit` has readers (the first of both) without items of both classes, who have no area.")
        return scores.unit

    @cached_property
    def point(self) -> Array:
        """Return the areas (systems, 1)."""
        first, second = (np.ones((1, one.max() + 1)) for one in self.codes)
        return self._weighted(first, second).T

    @cached_property
    def joint(self) -> Array:
        """Return the posterior draws (draws, systems): both units weigh at random."""
        rng, (first, second) = matrix_rng(self.seed, 2, Stream.READERS), (one.max() + 1 for one in self.codes)
        return np.concatenate(
            [
                self._weighted(rng.standard_exponential((n, first)), rng.standard_exponential((n, second)))
                for n in parts(self.draws, len(self.codes[0]))
            ]
        )

    def drawn(self, system: int, name: int, prior: str = "prior_item") -> Array:
        """Return the posterior draws of an area."""
        return np.asarray(self.joint[:, system])

    def _weighted(self, first: Array, second: Array) -> Array:
        """Return the areas (n, systems) of units that weigh."""
        scores, (of_first, of_second) = self.items.scores, self.codes
        sums = np.zeros((len(first), len(scores.score)))
        for i, weight in enumerate((first / first.sum(1, keepdims=True)).T):
            one = of_first == i
            weights = second[:, of_second[one]]
            each = [areas(score[one], scores.positive[one], weights) for score in scores.score]
            sums += weight[:, None] * np.stack(each, 1)
        return sums
