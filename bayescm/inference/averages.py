"""Draws of metrics: averages over classes with one Beta of each draw integrated out, all else as it is drawn."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm import distributions
from bayescm.data.random import Stream, matrix_rng
from bayescm.distributions import Distribution, dirichlet
from bayescm.distributions.conditional import Average, conditional_draws
from bayescm.distributions.sample import Draws
from bayescm.distributions.splits import split_of
from bayescm.metrics import Metric, compute, multiclass, per_label
from bayescm.priors.concentrations import Concentrations

Array = NDArray[np.float64]

INTEGRATED = "integrated"
"""The attr of a result that names the averages whose draws are conditional ones."""


def draws_of(metrics: Sequence[Metric], one: Concentrations, rng: np.random.Generator, draws: int) -> list[Array]:
    """Return draws (draws, ...) of metrics, for which not all cells are held at once."""
    k = one.rows.shape[-1]
    values = [np.empty((draws, k) if per_label(metric, k) else draws) for metric in metrics]
    start = 0
    for theta in dirichlet.theta_in_blocks(one, rng, draws if metrics else 0):
        stop = start + theta.shape[-1]
        for whole, part in zip(values, compute(metrics, np.moveaxis(theta, -1, 0)), strict=True):
            whole[start:stop] = part
        start = stop
    return values


def integrated(metrics: Sequence[Metric], which: Concentrations) -> list[str]:
    """Return the names of the drawn averages of which a Beta can be integrated out, of one matrix."""
    return [metric.name for metric in metrics if split_of(metric, which) is not None]


def drawn(
    metrics: Sequence[Metric], one: Concentrations, seed: int, position: int, draws: int
) -> dict[str, Distribution]:
    """Draw metrics of one matrix, the same ones at a position of a batch however it is cut.

    Parameters
    ----------
    metrics : sequence of Metric
        Those without an exact distribution.
    one : Concentrations
        Of the matrix.
    seed, position, draws : int
    """
    splits = {metric: split for metric in metrics if (split := split_of(metric, one)) is not None}
    averages = [Average(metric, split, distributions.known_of_average(metric, one)) for metric, split in splits.items()]
    each = conditional_draws(averages, draws, matrix_rng(seed, position, Stream.SPLIT))
    found: dict[str, Distribution] = {
        metric.name: dist for metric, dist in zip(splits, each, strict=True) if dist is not None
    }
    others = [metric for metric in metrics if metric.name not in found]
    values = draws_of(others, one, matrix_rng(seed, position, Stream.POSTERIOR), draws)
    for metric, value in zip(others, values, strict=True):
        mean = distributions.known_of_average(metric, one).mean
        order = infinite_moment(metric, one.rows)
        found[metric.name] = Draws(np.moveaxis(value, 0, -1), None if mean is None else np.asarray(mean), order)
    return found


def infinite_moment(metric: Metric, rows: Array) -> Any:
    """Return the order from which on moments of a metric are infinite: a concentration in its denominator."""
    if not metric.moments:
        return np.inf
    of_two = metric.kind == "cells" and rows.shape[-1] == 2
    cells = multiclass.of_two(rows) if of_two else multiclass.one_vs_rest(rows)
    if metric.kind == "micro":
        cells = multiclass.Cells(*(cell.sum(-1) for cell in cells))
    least = np.min([getattr(cells, name) for name in metric.moments], axis=0)
    return np.asarray(least.min(-1) if metric.kind in ("macro", "weighted") else least)
