"""The joint posterior of any number of systems that answered the same items, by draws.

Every item has a pattern: its actual class and the answer of each system. A Dirichlet over all patterns is the saturated
joint table of ``models/paired.py``; of S systems and K labels it has K^(S+1) cells, nearly all of them empty. Its
posterior is a Dirichlet process with an atom for each pattern seen, and is drawn as one: nothing is enumerated.

Where systems answered an item several times, the item counts once, and a system's answers to it by their shares: the
items are the sample, and the runs of an item say where that item stands. What is estimated is the mean over the items
of the population. An item of the prior gets the same answer in all runs.
"""

from collections.abc import Iterator, Sequence
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
_HEAVIEST = 100_000  # items of a prior: 4,000 draws of two systems take a quarter of an hour
_DIMS = (CHAIN, DRAW, SYSTEM, ACTUAL, PREDICTED)


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
    rng, theta = matrix_rng(seed, 0, Stream.SAME_ITEMS), _empty(which, chains * draws)
    for part in _blocks(theta, which):
        total = _add_items(part, which, rng) + _add_prior(part, base.rows, rng)
        part /= total[:, None, None, None]
    return _labelled(theta, which.labels, which.systems, chains, draws)


def draw_pairs(
    which: Patterns, pairs: Sequence[tuple[int, int]], prior: PriorLike, chains: int, draws: int, seed: int
) -> Iterator[xr.DataArray]:
    """Draw the cell probabilities of systems two by two, each pair with the prior of a pair.

    Parameters
    ----------
    which : Patterns
    pairs : sequence of pairs of int
    prior, chains, draws, seed
        As of :func:`draw`.

    Yields
    ------
    xarray.DataArray
        ``theta(chain, draw, system, actual, predicted)`` of two systems, without coordinates.

    Notes
    -----
    The items, and those of the prior, have the same weights for all pairs, and each system's margin is its own
    Dirichlet posterior, as in :func:`draw`. A pair isn't independent a priori: items that only the first gets right
    weigh one item in all classes together, and those of the second one, as far as the margins leave room
    (:func:`_of_two`).
    """
    base = concentrations(prior, "dirichlet_multinomial", which.labels)
    rng, n = matrix_rng(seed, 0, Stream.SAME_ITEMS), chains * draws
    by_cell = np.empty((len(which.systems), *base.rows.shape, n))  # draws side by side: a fast order for all below
    items = np.moveaxis(by_cell, -1, 0)
    total = np.concatenate([_add_items(part, which, rng) for part in _blocks(items, which)])
    of_prior = np.zeros((2, *by_cell.shape[1:]))
    total += _add_prior(np.moveaxis(of_prior, -1, 0), base.rows, rng, _of_two(base.rows))
    for pair in pairs:
        theta = np.moveaxis((by_cell[list(pair)] + of_prior) / total, -1, 0)
        yield xr.DataArray(theta.reshape(chains, draws, *theta.shape[1:]), dims=_DIMS)  # labels take a millisecond


def _empty(which: Patterns, n: int) -> Array:
    return np.empty((n, len(which.systems), len(which.labels), len(which.labels)))


def _blocks(theta: Array, which: Patterns) -> Iterator[Array]:
    """Yield parts of the draws that leave the weights of all patterns room in memory."""
    for part in _slices(len(theta), max(len(which.counts), theta[0].size), _BLOCK):
        yield theta[part]


def _add_items(theta: Array, which: Patterns, rng: np.random.Generator) -> Array:
    """Fill in weights (n, S, K, K) of the items, and return how much they are."""
    weights = rng.standard_gamma(which.counts, (len(theta), len(which.counts)))
    starts = np.searchsorted(which.codes[:, 0], np.arange(theta.shape[-1] + 1))
    for actual, of_class in enumerate(map(slice, starts[:-1], starts[1:])):
        answers, of_answers = which.answers()[of_class], weights[:, of_class]
        for answer in range(theta.shape[-1]):
            theta[:, :, actual, answer] = of_answers @ (answers == answer).mean(-1)
    return np.asarray(weights.sum(1))


def _labelled(theta: Array, labels: list[Any], systems: list[str], chains: int, draws: int) -> xr.DataArray:
    coords = {CHAIN: np.arange(chains), DRAW: np.arange(draws), SYSTEM: systems}
    return xr.DataArray(
        theta.reshape(chains, draws, *theta.shape[1:]),
        dims=_DIMS,
        coords=coords | {ACTUAL: labels, PREDICTED: labels},
        name="theta",
    )


def _add_prior(theta: Array, rows: Array, rng: np.random.Generator, joint: Array | None = None) -> Array:
    """Add the prior's part to weights (n, S, K, K) of the items, and return how much it is.

    Systems answer its items independently; or, two of them, with the concentrations `joint` (K, K, K) of class and
    answers, of which there may be fewer than sticks.
    """
    n, systems, k, _ = theta.shape
    weight = rows.sum()
    if weight == 0.0:
        return np.zeros(n)
    sticks = int(np.ceil(np.log(_LEFT) / -np.log1p(1.0 / weight)))
    if joint is not None and joint.size <= sticks:
        return _add_cells(theta, joint, rng)
    if weight > _HEAVIEST:
        raise ValueError(
            f"`prior` weighs {weight:g} items, too many to draw for systems on the same items; it may weigh "
            f"{_HEAVIEST:,} at most."
        )
    amount = np.asarray(rng.standard_gamma(weight, n))
    for part in _slices(n, sticks):
        some = theta[part]
        shape = len(some), sticks
        left = np.exp(-np.cumsum(rng.standard_exponential(shape), 1) / weight)
        left[:, -1] = 0.0
        mass = amount[part, None] * -np.diff(left, axis=1, prepend=1.0)
        first = k * k * np.arange(len(some))[:, None]
        places = _answers(rows, systems, shape, rng) if joint is None else _answers_of_two(joint, shape, rng)
        for system, at in enumerate(places):
            some[:, system] += np.bincount((first + at).ravel(), mass.ravel(), first.size * k * k).reshape(-1, k, k)
    return amount


def _add_cells(theta: Array, joint: Array, rng: np.random.Generator) -> Array:
    """Add the prior's part to weights (n, 2, K, K), of each of its cells, and return how much it is."""
    amount = np.empty(len(theta))
    for part in _slices(len(theta), joint.size):
        mass = rng.standard_gamma(joint, (len(amount[part]), *joint.shape))
        theta[part] += np.stack([mass.sum(3), mass.sum(2)], 1)
        amount[part] = mass.sum((1, 2, 3))
    return amount


def _slices(n: int, size: int, most: int = _PART) -> Iterator[slice]:
    """Yield parts of n draws, each of so many numbers, of which arrays stay in a cache, or have at most so many."""
    block = max(most // size, 1)
    return (slice(start, start + block) for start in range(0, n, block))


def _answers(rows: Array, systems: int, shape: tuple[int, ...], rng: np.random.Generator) -> Iterator[Places]:
    """Draw the cells of items to which each system answers by itself."""
    k, ends = len(rows), np.append(0.0, np.cumsum(rows))
    actual = _chosen(rows.sum(1), shape, rng)
    low, high = ends[k * actual], ends[k * actual + k]
    for _ in range(systems):
        found = np.searchsorted(ends[1:], low + rng.random(shape) * (high - low), side="right")
        yield np.minimum(found, k * actual + k - 1)


def _answers_of_two(joint: Array, shape: tuple[int, ...], rng: np.random.Generator) -> Iterator[Places]:
    """Draw the cells of items that two systems answer."""
    actual, *answers = np.unravel_index(_chosen(joint, shape, rng), joint.shape)
    return (len(joint) * actual + answer for answer in answers)


def _chosen(weights: Array, shape: tuple[int, ...], rng: np.random.Generator) -> Places:
    """Draw places in the flattened weights."""
    ends = np.cumsum(weights)
    return np.asarray(np.searchsorted(ends, ends[-1] * rng.random(shape), side="right").clip(max=weights.size - 1))


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
