"""The joint posterior of any number of systems that answered the same items, by draws.

Every item has a pattern: its actual class and the answer of each system. A Dirichlet over all patterns is the saturated
joint table of ``models/paired.py``; of S systems and K labels it has K^(S+1) cells, nearly all of them empty. Its
posterior is a Dirichlet process with an atom for each pattern seen, and is drawn as one: nothing is enumerated.

Where systems answered an item several times, the item counts once, and a system's answers to it by their shares: the
items are the sample, and the runs of an item say where that item stands. What is estimated is the mean over the items
of the population. An item of the prior gets the same answer in all runs.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.items import check_joint, no_passes, systems_of
from bayescm.data.labels import class_order, label_array
from bayescm.data.labels import codes as codes_of
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import ACTUAL, CHAIN, DRAW, ITEM, LABEL, MATRIX, PREDICTED, RUN, SYSTEM
from bayescm.priors.concentrations import PriorLike, concentrations, of_pairs

Array = NDArray[np.float64]
Places = NDArray[np.intp]

_LEFT = 1e-6  # of the prior's part: what the sticks leave over
_BLOCK = 2**22  # numbers at a time
_PART = 2**16  # of sticks or cells
_TOGETHER = 2**18  # of weights that stay in a cache
_HEAVIEST = 100_000  # items of a prior: 4,000 draws of two systems take a quarter of an hour


class Patterns(NamedTuple):
    """Patterns of answers, and how often each was seen.

    Attributes
    ----------
    codes : ndarray of shape (patterns, 1 + systems * runs)
        The actual class and the answers of each system, as places in `labels`, those of one system's runs in order; by
        rising class.
    counts : ndarray of shape (patterns,)
        Positive.
    labels, systems : list
    runs : int
        How often each system answered each item.
    """

    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    labels: list[Any]
    systems: list[str]
    runs: int = 1

    def answers(self) -> NDArray[np.int64]:
        """Return the answers of each system, (patterns, S, runs)."""
        return self.codes[:, 1:].reshape(len(self.codes), -1, self.runs)

    def cells(self) -> Any:
        """Return which share of a pattern lies in each cell, a sparse array (S * K * K, patterns)."""
        from scipy import sparse

        k, answers = len(self.labels), self.answers()
        pattern, system, _ = np.indices(answers.shape)
        cell = (system * k + self.codes[:, 0, None, None]) * k + answers
        share = np.full(cell.size, 1.0 / self.runs)
        size = len(self.systems) * k * k, len(self.codes)
        return sparse.csr_array((share, (cell.ravel(), pattern.ravel())), size)

    def matrices(self) -> NDArray[np.int64]:
        """Return the confusion matrix of each system, (S, K, K), over all its runs."""
        k = len(self.labels)
        cells = self.codes[:, :1] * k + self.codes[:, 1:]
        flat = [np.bincount(column, self.counts, k * k) for column in cells.T]
        return np.stack(flat).astype(np.int64).reshape(-1, self.runs, k, k).sum(1)

    def labelled(self) -> xr.DataArray:
        """Return the same as ``counts(system, actual, predicted)``."""
        coords = {SYSTEM: self.systems} | dict.fromkeys(MATRIX, self.labels)
        return xr.DataArray(self.matrices(), dims=(SYSTEM, *MATRIX), coords=coords, name="counts")


def answered_together(data: Any) -> bool:
    """Say whether data are a joint table, or the answers of several systems to the same items."""
    if isinstance(data, xr.Dataset):
        return {ACTUAL, PREDICTED} <= set(data.data_vars)
    return isinstance(data, xr.DataArray) and ACTUAL in data.dims and PREDICTED not in data.dims


def warn_of_same_totals(instead: str, what: str = "class totals") -> None:
    """Warn that separate counts look like answers to the same items; `instead` says that they aren't."""
    validate.warn(
        f"Systems have the same {what}: probably they answered the same items, but their errors are taken as "
        f"independent. Give bayescm.data.paired_counts(...) or bayescm.predictions(...); or say {instead}."
    )


def patterns(data: Any) -> Patterns:
    """Return the patterns of a joint table or of answers.

    Parameters
    ----------
    data : xarray.DataArray or xarray.Dataset
        Of :func:`bayescm.data.paired_counts` or :func:`bayescm.predictions`.

    Returns
    -------
    Patterns
    """
    if isinstance(data, xr.Dataset):
        return _of_answers(data)
    joint = check_joint(data)
    seen = np.argwhere(joint.values)
    return Patterns(seen, joint.values[tuple(seen.T)], joint[ACTUAL].values.tolist(), systems_of(joint))


def _of_answers(data: xr.Dataset) -> Patterns:
    """Count the patterns of answers that were kept one by one."""
    if not {ACTUAL, PREDICTED} <= set(data.data_vars) or set(data[PREDICTED].dims) - {RUN} != {SYSTEM, ITEM}:
        raise ValueError(
            "`data` must have the variables actual(item) and predicted(system, item), or predicted(system, item, run); "
            f"got { {str(name): v.dims for name, v in data.data_vars.items()} }. Build it with bayescm.predictions."
        )
    answers = data[PREDICTED].transpose(SYSTEM, ..., ITEM).values
    both = np.vstack([data[ACTUAL].values, answers.reshape(-1, answers.shape[-1])])
    labels = data[LABEL].values if LABEL in data.coords else _labels(data)
    validate.unique("class_label", labels.tolist())
    sorter = np.argsort(labels)
    if not np.isin(both, labels).all():
        raise ValueError(f"`data` has the labels {np.unique(both).tolist()}; `class_label` has {labels.tolist()}.")
    rows = np.stack([codes_of(row, labels, sorter) for row in both], axis=1)
    rows, runs = _of_runs(rows, data.sizes.get(RUN, 1) if RUN in data[PREDICTED].dims else 1)
    rows, counts = np.unique(rows, axis=0, return_counts=True)
    systems = data[SYSTEM].values.tolist() if SYSTEM in data.coords else list(range(data.sizes[SYSTEM]))
    validate.unique("system", systems)
    return Patterns(rows, counts, labels.tolist(), [str(name) for name in systems], runs)


def _of_runs(rows: NDArray[np.int64], runs: int) -> tuple[NDArray[np.int64], int]:
    """Put the runs of each system in order, since it says nothing; runs that all are the same are one."""
    answers = np.sort(rows[:, 1:].reshape(len(rows), -1, runs), -1)
    if (answers == answers[..., :1]).all():
        answers, runs = answers[..., :1], 1
    return np.hstack([rows[:, :1], answers.reshape(len(rows), -1)]), runs


def refuse_runs(which: Patterns, what: str) -> None:
    """Refuse several runs of an item where runs would be taken for independent items."""
    if which.runs > 1:
        raise ValueError(
            f"{what} takes every answer for an item of its own, and the {which.runs} runs of an item aren't: give one "
            "run, such as data.isel(run=0)."
        )


def _labels(data: xr.Dataset) -> NDArray[Any]:
    """Return the classes of answers that don't name them, of two the positive one last."""
    named = {ACTUAL: label_array(ACTUAL, data[ACTUAL].values)}
    for i, answers in enumerate(data[PREDICTED].transpose(SYSTEM, ITEM, ...).values):
        named[f"{PREDICTED}[{i}]"] = label_array(f"{PREDICTED}[{i}]", answers.ravel())
    no_passes(named)
    return class_order(named, None, None)[1]


def draw(which: Patterns, prior: PriorLike, chains: int, draws: int, seed: int) -> xr.DataArray:
    """Draw the cell probabilities of all systems together.

    Parameters
    ----------
    which : Patterns
    prior : str, number or array_like of shape (K, K)
        That of each system, as in the model ``dirichlet_multinomial``.
    chains, draws, seed : int

    Returns
    -------
    xarray.DataArray
        ``theta(chain, draw, system, actual, predicted)``; each system's margin is its own Dirichlet posterior.

    Notes
    -----
    A priori an item's class i has probability a_i / A, and then each system answers j with probability a_ij / a_i,
    independently; A, the sum of all concentrations, is the weight of this prior in items. Its part of a draw is made of
    sticks (Sethuraman 1994) until a millionth of it is left.
    """
    base = concentrations(prior, "dirichlet_multinomial", which.labels)
    rng, cells, n = matrix_rng(seed, 0, Stream.SAME_ITEMS), which.cells(), chains * draws
    theta = np.empty((len(which.systems), *base.rows.shape, n))  # draws side by side: a fast order for all that follows
    for part in _slices(n, max(len(which.counts), cells.shape[0]), _BLOCK):
        items, total = _of_items(which, cells, theta[..., part].shape[-1], rng)
        some = items.reshape(*theta.shape[:-1], -1)
        for few, of_prior, amount in _of_prior(base.rows, len(theta), len(total), rng):
            some[..., few] += of_prior
            total[few] += amount
        np.divide(some, total, out=theta[..., part])
    coords = {CHAIN: np.arange(chains), DRAW: np.arange(draws), SYSTEM: which.systems}
    coords |= {ACTUAL: which.labels, PREDICTED: which.labels}
    by_chain = np.moveaxis(theta.reshape(*theta.shape[:-1], chains, draws), (-2, -1), (0, 1))
    return xr.DataArray(by_chain, coords, (CHAIN, DRAW, SYSTEM, *MATRIX), "theta")


def draw_pairs(
    which: Patterns, pairs: Sequence[tuple[int, int]], prior: PriorLike, n: int, seed: int
) -> Iterator[tuple[int, slice, Array]]:
    """Draw the cell probabilities of systems two by two, each pair with the prior of a pair.

    Parameters
    ----------
    which : Patterns
    pairs : sequence of pairs of int
    prior, seed
        As of :func:`draw`.
    n : int
        Draws.

    Yields
    ------
    int, slice, ndarray
        The place of a pair, some of its draws, and these, (2, K, K, draws).

    Notes
    -----
    The items, and those of the prior, have the same weights for all pairs, and each system's margin is its own
    Dirichlet posterior, as in :func:`draw`. A pair isn't independent a priori: items that only the first gets right
    weigh one item in all classes together, and those of the second one, as far as the margins leave room
    (:func:`_of_two`).
    """
    base = concentrations(prior, "dirichlet_multinomial", which.labels)
    rng, cells, k = matrix_rng(seed, 0, Stream.SAME_ITEMS), which.cells(), len(which.labels)
    seen = np.flatnonzero(np.diff(cells.indptr))  # of many classes most cells have no item
    cells, items, total = cells[seen], np.empty((len(seen), n)), np.empty(n)
    for part in _slices(n, max(len(which.counts), len(seen)), _BLOCK):
        items[:, part], total[part] = _of_items(which, cells, len(total[part]), rng)
    starts = np.searchsorted(seen, k * k * np.arange(len(which.systems) + 1))
    for part, of_prior, amount in _of_prior(base.rows, 2, n, rng, _of_two(base.rows)):
        for i, pair in enumerate(pairs):
            theta = of_prior.reshape(2, k * k, -1).copy()
            for place, system in enumerate(pair):
                own = slice(starts[system], starts[system + 1])
                theta[place, seen[own] - k * k * system] += items[own, part]
            theta /= total[part] + amount
            yield i, part, theta.reshape(of_prior.shape)


def _of_items(which: Patterns, cells: Any, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return n draws of the items' weights in cells, (cells, n), and of all together."""
    weights = rng.standard_gamma(which.counts, (n, len(which.counts)))
    return cells @ weights.T, weights.sum(1)


def _of_prior(
    rows: Array, systems: int, n: int, rng: np.random.Generator, joint: Array | None = None
) -> Iterator[tuple[slice, Array, Array]]:
    """Draw the prior's part of the weights, some of n draws at a time: (S, K, K, draws), and how much it is.

    Systems answer its items independently; or, two of them, with the concentrations `joint` (K, K, K) of class and
    answers, of which there may be fewer than sticks.
    """
    k, weight = len(rows), rows.sum()
    sticks = int(np.ceil(np.log(_LEFT) / -np.log1p(1.0 / weight))) if weight > 0.0 else 0
    cells = joint if joint is not None and joint.size <= sticks else None
    if weight > _HEAVIEST and cells is None:
        raise ValueError(
            f"`prior` weighs {weight:g} items, too many to draw for systems on the same items; it may weigh "
            f"{_HEAVIEST:,} at most."
        )
    amount = np.asarray(rng.standard_gamma(weight, n)) if sticks and cells is None else np.zeros(n)
    step = max(_PART // (max(sticks, 1) if cells is None else cells.size), 1)
    together = max(_TOGETHER // (systems * k * k * step), 1)
    answers = partial(_answers, rows, systems) if joint is None else partial(_answers_of_two, k, np.cumsum(joint))
    for part in _slices(n, 1, step * together):
        some = amount[part]
        theta = np.zeros((systems, k, k, len(some)))
        for few in _slices(len(some) if sticks else 0, 1, step):
            if cells is None:
                _add_sticks(theta[..., few], some[few], weight, sticks, answers, rng)
            else:
                mass = rng.standard_gamma(cells, (len(some[few]), *cells.shape))
                theta[..., few] = np.moveaxis(np.stack([mass.sum(3), mass.sum(2)]), 1, -1)
                some[few] = mass.sum((1, 2, 3))
        yield part, theta, some


def _add_sticks(
    theta: Array, amount: Array, weight: float, sticks: int, answers: Callable[..., Iterator[Places]],
    rng: np.random.Generator,
) -> None:  # fmt: skip
    """Add so much of the prior to weights (S, K, K, n): each item takes a share of what those before have left."""
    _, k, _, n = theta.shape
    left = np.exp(-np.cumsum(rng.standard_exponential((n, sticks)), 1) / weight)
    left[:, -1] = 0.0
    mass = amount[:, None] * -np.diff(left, axis=1, prepend=1.0)
    own = np.arange(n)[:, None]
    for system, at in enumerate(answers((n, sticks), rng)):
        theta[system] += np.bincount((n * at + own).ravel(), mass.ravel(), k * k * n).reshape(k, k, n)


def _slices(n: int, size: int, most: int = _PART) -> Iterator[slice]:
    """Yield parts of n draws, each of so many numbers, of which arrays stay in a cache, or have at most so many."""
    block = max(most // size, 1)
    return (slice(start, start + block) for start in range(0, n, block))


def _answers(rows: Array, systems: int, shape: tuple[int, ...], rng: np.random.Generator) -> Iterator[Places]:
    """Draw the cells of items to which each system answers by itself."""
    k, ends = len(rows), np.append(0.0, np.cumsum(rows))
    actual = _chosen(np.cumsum(rows.sum(1)), shape, rng)
    low, high = ends[k * actual], ends[k * actual + k]
    for _ in range(systems):
        found = np.searchsorted(ends[1:], low + rng.random(shape) * (high - low), side="right")
        yield np.minimum(found, k * actual + k - 1)


def _answers_of_two(k: int, ends: Array, shape: tuple[int, ...], rng: np.random.Generator) -> Iterator[Places]:
    """Draw the cells of items that two systems answer, by the sums of their joint concentrations."""
    actual, *answers = np.unravel_index(_chosen(ends, shape, rng), (k, k, k))
    return (k * actual + answer for answer in answers)


def _chosen(ends: Array, shape: tuple[int, ...], rng: np.random.Generator) -> Places:
    """Draw places by the sums of their weights."""
    return np.asarray(np.searchsorted(ends, ends[-1] * rng.random(shape), side="right").clip(max=len(ends) - 1))


def _of_two(rows: Array) -> Array:
    """Return the concentrations (K, K, K) of class and answers of two systems: those of one are `rows`.

    One of two systems alone is right as often as in the prior of a pair, as far as the margins leave room; what both
    get wrong they get wrong independently.
    """
    right, k = np.diag(rows), np.arange(len(rows))
    wrong = rows.sum(1) - right
    one = np.minimum(of_pairs(rows) / len(rows), np.minimum(right, wrong))
    shares = rows * (1.0 - np.eye(len(rows))) / np.where(wrong > 0.0, wrong, 1.0)[:, None]
    joint = (wrong - one)[:, None, None] * shares[:, :, None] * shares[:, None, :]
    joint[k, k] = joint[k, :, k] = one[:, None] * shares
    joint[k, k, k] = right - one
    return np.asarray(joint)
