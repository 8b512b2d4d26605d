"""Distributions of users' own metrics of two labels: functions that are monotone in recall and in specificity.

P(M <= x) is the mean, over two of prevalence, recall and specificity, of the probability that the third lies on the
right side of the edge where M = x. The one inside is, of those that carry a share of the variance, the one with which
the answers settle first; the other two are integrated by the trapezoid rule over their normal quantiles, whose step is
halved until two answers agree. That converges faster than any power of the step where the edge is smooth; a kink (of
the function, or where the edge leaves the range of the rate inside) limits it to about 1e-4 to 1e-6, and to 1e-3 where
concentrations are below 1. ``error`` says how far it came.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayescm.distributions.beta import Point
from bayescm.distributions.integral import LEAST
from bayescm.distributions.numeric_matrix import Matrix, matrix, value
from bayescm.distributions.protocol import Evaluated, placed
from bayescm.metrics import Metric, multiclass
from bayescm.priors.concentrations import Concentrations

Array = NDArray[np.float64]

_PAIRS, _WIDEST = 4000, 12.0
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Numeric(Evaluated):
    """The distribution of a metric that is known by its function alone; its density leaves out single points.

    Attributes
    ----------
    metric : Metric
    cells : ndarray of shape (..., 4)
        Concentrations of tp, fn, fp, tn.
    shares : ndarray of shape (..., 2)
        Concentrations of the classes, negative first; or, `known`, their shares.
    known : bool
    directions : tuple of int or None
        Whether the metric rises (1), falls (-1) or stays (0) with prevalence, recall and specificity, or is not
        monotone (None; only in the prevalence).
    """

    metric: Metric
    cells: Array
    shares: Array
    known: bool
    directions: tuple[int | None, ...]

    def at(self, *place: Any) -> Self:  # noqa: D102
        batch = np.broadcast_shapes(self.cells.shape[:-1], self.shares.shape[:-1])
        cells, shares = (placed(v, batch, place, parts=True) for v in (self.cells, self.shares))
        return replace(self, cells=cells, shares=shares)

    def _matrices(self) -> tuple[tuple[int, ...], list[Matrix]]:
        batch = np.broadcast_shapes(self.cells.shape[:-1], self.shares.shape[:-1])
        cells = np.broadcast_to(self.cells, (*batch, 4)).reshape(-1, 4)
        shares = np.broadcast_to(self.shares, (*batch, 2)).reshape(-1, 2)
        return batch, [
            matrix(self.metric, self.directions, c, s, known=self.known) for c, s in zip(cells, shares, strict=True)
        ]

    def _at(self, x: float | Array, what: str) -> Array:
        """Call a method of every matrix at values that broadcast against the batch: (..., answers)."""
        batch, matrices = self._matrices()
        shape = np.broadcast_shapes(batch, np.shape(x))
        matrices = list(
            np.broadcast_to(np.array(matrices, object).reshape(batch), shape[len(shape) - len(batch) :]).flat
        )
        points = np.broadcast_to(x, shape).reshape(-1, len(matrices)).astype(np.float64)
        found = [getattr(one, what)(points[:, i]) for i, one in enumerate(matrices)]
        values = np.stack(found, axis=1)
        return values.reshape(*shape, values.shape[-1])

    def mean(self) -> Array:
        """Return the mean: infinite where it seems not to exist, NaN where that can't be told."""
        batch, matrices = self._matrices()
        return np.array([one.moments()[0] for one in matrices]).reshape(batch)

    def sd(self) -> Array:
        """Return the standard deviation; infinite or NaN as the mean is."""
        batch, matrices = self._matrices()
        return np.array([one.moments()[1] for one in matrices]).reshape(batch)

    def statistics(self, prob: float, kind: str) -> dict[str, Array]:
        """Return mean, median, sd, lower, upper, is_hdi, and the estimated relative error of the probabilities."""
        batch, matrices = self._matrices()
        rows = [one.statistics(prob, kind) for one in matrices]
        return {name: np.array([row[name] for row in rows]).reshape(batch) for name in rows[0]}


@lru_cache(maxsize=256)
def _directions(function: Any, kind: Any) -> tuple[int | None, ...] | None:
    """Say how a function moves with prevalence, recall and specificity at random pairs; None where it can't be told."""
    metric = Metric("", "", "", function, kind=kind)
    rng = np.random.default_rng(0)
    scale = rng.choice([0.3, 1.0, 3.0, 10.0], (4, _PAIRS))
    start = np.clip(rng.standard_normal((3, _PAIRS)) * scale[:3], -_WIDEST, _WIDEST)
    step = rng.exponential(size=_PAIRS) * scale[3]
    found: list[int | None] = []
    try:
        before = value(metric, *start)
        for i in range(3):
            end = start.copy()
            end[i] = np.minimum(end[i] + step, _WIDEST)
            after = value(metric, *end)
            if np.isnan(before).any() or np.isnan(after).any():
                return None
            rounding = _ROUNDING * (np.abs(before) + np.abs(after) + np.median(np.abs(before)))
            rises, falls = (after - before > rounding).any(), (before - after > rounding).any()
            found.append(None if rises and falls else int(rises) - int(falls))
    except Exception:  # whatever a user's function may raise: the draws will show it
        return None
    return tuple(found)


def numeric_distribution(metric: Metric, which: Concentrations) -> Numeric | Point | None:
    """Return the distribution of a metric of two labels by its function alone, or None where there is none.

    It must be monotone in recall and in specificity (tested at random pairs, once for each function), and no
    concentration may be below :data:`bayescm.distributions.LEAST`. A point where nothing that is uncertain moves it.
    """
    if which.rows.shape[-1] != 2:
        return None
    cells = np.stack(multiclass.of_two(which.rows), axis=-1)
    if cells.min() < LEAST or (not which.known and which.shares.min() < LEAST):
        return None
    directions = _directions(metric.function, metric.kind)
    if directions is None or None in directions[1:]:
        return None
    if not any(directions[1:]) and (which.known or not directions[0]):  # nothing that is uncertain moves it
        if not which.known and directions[0] is None:
            return None
        odds = np.log(which.shares[..., 1] / which.shares[..., 0]) + 0.0 * cells[..., 0]
        return Point(value(metric, odds, np.zeros(()), np.zeros(())))
    return Numeric(metric, cells, which.shares, which.known, directions)
