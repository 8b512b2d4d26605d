"""Units that stand for themselves, such as all tasks of a benchmark: the mean over them, and shares of wins.

A metric that is one Beta in each unit has a prior there that is learned from all units of a system, as recalls of
classes are (:mod:`bayescm.distributions.learned`): a prior of its own in each of many small units would pull their mean
towards 1/2. Of other metrics each unit has Jeffreys' prior. Who wins in a unit learns from systems, too: noise alone
would make wins even, in each unit a little, and over many units surely.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayescm.data.random import Stream, matrix_rng
from bayescm.distributions import learned
from bayescm.inference.blocks import Block
from bayescm.inference.conjugate import Conjugate
from bayescm.inference.units import ByUnit
from bayescm.metrics import Metric, per_label
from bayescm.priors.concentrations import concentrations

Array = NDArray[np.float64]

_CELLS = 5_000_000
"""Draws of systems in units of which win rates are made at most, down to 200 of each."""
_SCATTERS = np.linspace(0.01, 0.6, 30)
"""Standard deviations of systems' values in a unit, beside what systems and units add up to."""


@dataclass(frozen=True)
class FixedUnits(ByUnit):
    """Some matrices of the same units, over whose metrics the mean is taken as they are."""

    def check(self, metrics: Sequence[Metric]) -> None:  # noqa: D102
        super().check(metrics)
        if self.counts.shape[-3] < 2 or not _whole(self.counts):
            raise ValueError("`average`='fixed_units' needs two units or more, and answers that are right or wrong.")

    def theta_blocks(self) -> Iterator[Array]:  # noqa: D102
        raise ValueError("`average`='fixed_units' is a mean of metrics, which no matrix has; leave it out here.")

    def draws(self, metrics: Sequence[Metric]) -> list[Array]:  # noqa: D102
        return [_in_each(self, metric).mean(len(self.shape)) for metric in metrics]


def _whole(counts: Array) -> bool:
    """Say whether these are numbers of items: no weights, shares of runs or scores."""
    return np.array_equal(counts, np.round(counts))


def _alone(block: ByUnit, n: int) -> Conjugate:
    """Return the posteriors of each unit by itself, (*shape, units), by n draws."""
    counts = np.rint(block.counts).astype(np.int64)
    index = np.arange(counts[..., 0, 0].size).reshape(counts.shape[:-2])
    prior = concentrations("jeffreys", "dirichlet_multinomial", block.k)
    return Conjugate(counts, index, prior, None, range(block.k), block.seed, n)


def _in_each(block: ByUnit, metric: Metric) -> Array:
    """Draw a metric of each unit, (*shape, units[, class], n), which learns from the others where it can."""
    alone = _alone(block, block.n)
    seen = None if per_label(metric, block.k) else alone.evidence(metric)
    if seen is None:
        return np.asarray(alone.draws([metric])[0])
    values = np.empty((*np.shape(seen.a), block.n))
    for place, i in np.ndenumerate(block.index):
        rng = matrix_rng(block.seed, int(i), Stream.EACH_UNIT)
        values[place] = learned.rates(np.asarray(seen.a[place]), np.asarray(seen.b[place]), rng, block.n).T
    return 2.0 * values / (1.0 + values) if seen.link == "f1" else values


def win_rates(block: Block, metric: Metric) -> Array | None:
    """Draw in what share of comparisons with the others, unit by unit, a system wins, (systems, n).

    Units that are a sample weigh at random, and one unit more, in which any order is as likely, with them. None where
    no mean over units is asked for, of a single system, of weights and scores, and of metrics without two bounds.
    """
    if not isinstance(block, ByUnit) or block.average == "items" or len(block.counts) < 2:
        return None
    if not np.isfinite([metric.lower, metric.upper]).all() or not _whole(block.counts):
        return None
    systems, g = block.counts.shape[0], block.counts.shape[-3]
    n = int(np.clip(_CELLS // (systems * g), 200, block.n))
    values, rng = _alone(block, n).draws([metric])[0], matrix_rng(block.seed, systems, Stream.EACH_UNIT)
    share = np.clip((values - metric.lower) / (metric.upper - metric.lower), 0.0, 1.0)
    values = np.arcsin(np.sqrt(share))  # on which scale errors hardly depend on the rate
    values = _pooled(values.mean(-1), values.var(-1), n, rng)  # (n, systems, units)
    order = np.argsort(np.argsort(-values if metric.loss else values, 1), 1) / (systems - 1)
    if isinstance(block, FixedUnits):
        return np.asarray(order.mean(-1).T)
    anything = np.argsort(rng.random((n, systems, 1)), 1) / (systems - 1)
    weight = rng.standard_exponential((n, 1, g + 1))
    return np.asarray((np.concatenate([order, anything], -1) * weight).sum(-1) / weight.sum(-1)).T


def _pooled(seen: Array, noise: Array, n: int, rng: np.random.Generator) -> Array:
    """Draw true values (n, systems, units) of what was seen (systems, units) with normal errors of known variances.

    They scatter normally, as far as the data say on a grid, around sums of an effect of the system and one of the unit.
    """
    s, g = seen.shape
    design = np.hstack([np.repeat(np.eye(s), g, 0), np.tile(np.eye(g), (s, 1))])
    y, c = seen.ravel(), np.maximum(noise.ravel(), 1e-12)
    known = []
    for scatter in _SCATTERS:
        weight = 1.0 / (c + scatter**2)
        precision = (design.T * weight) @ design + 1e-4 * np.eye(s + g)
        effects = np.linalg.solve(precision, design.T @ (weight * y))
        _, log_det = np.linalg.slogdet(precision)
        fit = (weight * y * (y - design @ effects)).sum()
        known.append((effects, precision, 0.5 * (np.log(weight).sum() - log_det - fit)))
    chance = np.exp([log - max(one[2] for one in known) for _, _, log in known])
    values = []
    for scatter, (effects, precision, _), k in zip(
        _SCATTERS, known, rng.multinomial(n, chance / chance.sum()), strict=True
    ):
        drawn = effects + rng.standard_normal((k, s + g)) @ np.linalg.inv(np.linalg.cholesky(precision))
        mean, kept = drawn @ design.T, scatter**2 / (scatter**2 + c)
        values.append(mean + kept * (y - mean) + np.sqrt(kept * c) * rng.standard_normal((k, s * g)))
    return np.concatenate(values).reshape(n, s, g)
