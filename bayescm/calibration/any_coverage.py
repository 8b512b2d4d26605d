"""coverage_of(): how often any interval, band or region holds the truth, by enumeration or by simulation."""

import itertools
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import comb, prod
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import special

from bayescm.data import validate
from bayescm.data.files import replace
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import attributes

Array = NDArray[np.float64]

TRUTH, QUANTITY = "truth", "quantity"
_NAMES = {
    "coverage": "Share of the data sets whose answer holds the truth",
    "below": "Share of the data sets whose interval lies below the truth",
    "above": "Share of the data sets whose interval lies above the truth",
    "width": "Mean width of the intervals",
    "unanswered": "Share of the data sets without an answer",
}
Method = Callable[..., Any]
Source = Callable[[int], tuple[Any, Array]]
"""Of the number of a truth: data sets and their weights."""


def coverage_of(
    method: Callable[..., Any],
    truths: Any,
    n: int | Sequence[int] | None = None,
    *,
    target: Callable[[Any], Any] | None = None,
    simulate: Callable[[np.random.Generator, Any], Any] | None = None,
    simultaneous: bool = False,
    contains: bool = False,
    simulations: int = 10_000,
    most_outcomes: int = 200_000,
    random_seed: int | np.random.Generator | None = None,
    workers: int = 1,
    file: str | Path | None = None,
) -> xr.Dataset:
    """Say how often an interval, a band or a region holds the truth, for any method and any truths.

    Parameters
    ----------
    method : callable
        Takes counts of many samples, or what `simulate` returns, and gives (lower, upper), arrays of shape (samples,)
        or (samples, quantities); of what `simulate` returns without the first dim. NaN: no answer.
    truths : array_like of shape (P,), (P, K) or (P, R, K), or sequence
        Where it is checked: rates of binomials, cell probabilities of multinomials, or those of R independent ones.
        A grid for a picture; draws from a prior for an average over them. With `simulate` anything.
    n : int or sequence of int, optional
        Items of each multinomial. `method` gets counts (samples,), (samples, K) or (samples, R, K).
    target : callable, optional
        Of a truth: the number, or the numbers, that the interval is for. Default: the truth itself.
    simulate : callable, optional
        Returns one data set from a generator and a truth, instead of counts.
    simultaneous : bool
        Whether all quantities must be held at once, as by a band.
    contains : bool
        Whether `method` takes data and target and says whether it holds it, as a region does.
    simulations : int
        Data sets of each truth that isn't enumerated.
    most_outcomes : int
        More possible counts than that are simulated, others enumerated.
    random_seed : int, numpy.random.Generator or None
    workers : int
        Threads. The numbers are the same for any number.
    file : path, optional
        Where the numbers of each truth are kept as they come: the same call, with a `random_seed`, goes on where it
        was stopped.

    Returns
    -------
    xarray.Dataset
        Over ``truth``, and ``quantity`` if there are several: ``coverage``, ``mcse`` (its standard error: 0 by
        enumeration), ``below`` and ``above`` (the interval misses the truth on that side), ``width`` and
        ``unanswered``, which counts as a miss. Of a band the mean width, and whether any
        part of it misses on a side; of regions neither. The attr
        ``answered_by`` is "enumeration" or "simulation".

    Raises
    ------
    ValueError
        If truths are no probabilities, `n` is missing or doesn't fit, or `file` is from another call.

    Notes
    -----
    By enumeration every possible outcome is answered once and weighed with its probability under each truth: the
    coverage is exact. Coverage jumps where a truth passes a bound, so a grid doesn't find the least one; the bounds of
    all outcomes and their neighbours are the truths that do. The mean over truths drawn from a prior has the standard
    error of their mean.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescm.calibration import coverage_of
    >>> from bayescm.inference import proportions
    >>> found = coverage_of(lambda k: proportions.wilson(k, np.full(k.shape, 10.0)), [0.1, 0.5], 10)
    >>> found["coverage"].values.round(3)
    array([0.93 , 0.979])
    """
    seed, size = validate.seed(random_seed), validate.positive_integer("simulations", simulations)
    most = validate.positive_integer("most_outcomes", most_outcomes)
    workers = validate.positive_integer("workers", workers)
    if simulate is not None:
        if n is not None:
            raise ValueError("`n` is for counts: leave it out, `simulate` makes the data.")
        truths, exact = list(truths), False
        source, method = _simulated(simulate, truths, size, seed), _one_by_one(method)
    else:
        cells, totals, truths = _multinomials(truths, n)
        exact = prod(comb(total + cells.shape[-1] - 1, total) for total in totals) <= most
        source = _enumerated(cells, totals) if exact else _drawn(cells, totals, size, seed)
        method = _of_counts(method, np.ndim(truths))
    if not exact and file is not None and random_seed is None:
        raise ValueError("`random_seed` must be a number where a `file` is kept: another call goes on with the same.")
    if not len(truths):
        raise ValueError("`truths` is empty; give at least one.")
    aims = [np.asarray(one if target is None else target(one), np.float64).ravel() for one in truths]
    once = _bounds(method(source(0)[0])) if exact and not contains else None

    def tally(i: int) -> Array:
        given, weights = source(i)
        if contains:
            return _of_region(method(given, aims[i]), weights)
        return _of_bounds(_bounds(method(given)) if once is None else once, aims[i], weights, simultaneous)

    settings = [
        np.asarray(n).tolist(), None if exact else [size, seed], simultaneous, contains,
        [str(one) if simulate else np.asarray(one).tolist() for one in truths], [aim.tolist() for aim in aims],
    ]  # fmt: skip
    tallies = _all(tally, len(aims), workers, file, settings)
    attrs: dict[str, Any] = {"answered_by": "enumeration"} if exact else {
        "answered_by": "simulation", "simulations": size, "random_seed": seed
    }  # fmt: skip
    if n is not None:
        attrs["n"] = np.asarray(n).tolist()
    return _dataset(np.stack(tallies), 0 if exact else size, contains, attrs)


def _multinomials(truths: Any, n: Any) -> tuple[Array, list[int], Array]:
    """Return cell probabilities (P, R, K), the items of each of the R multinomials, and the truths as an array."""
    values = np.asarray(validate.array_of("truths", truths), np.float64)
    if values.ndim not in (1, 2, 3) or not values.size:
        raise ValueError(f"`truths` must be rates, or rows of cell probabilities; got shape {values.shape}.")
    cells = np.stack([1.0 - values, values], -1) if values.ndim == 1 else values
    cells = cells[:, None] if cells.ndim == 2 else cells
    if not ((cells >= 0.0).all() and np.allclose(cells.sum(-1), 1.0)):
        raise ValueError("`truths` must be probabilities; those of a multinomial add up to 1.")
    if n is None:
        raise ValueError("`n` must say how many items are drawn, or `simulate` must make the data.")
    totals = [validate.positive_integer("n", one) for one in np.atleast_1d(validate.array_of("n", n)).tolist()]
    if len(totals) not in (1, cells.shape[1]):
        raise ValueError(f"`n` must be one number, or one of each of {cells.shape[1]} multinomials; got {len(totals)}.")
    return cells / cells.sum(-1, keepdims=True), totals * (cells.shape[1] // len(totals)), values


def _of_counts(method: Method, ndim: int) -> Method:
    """Return the method for counts (samples, R, K), which it wants in the shape of the truths."""
    shape: Any = {1: np.s_[:, 0, 1], 2: np.s_[:, 0], 3: np.s_[:]}[ndim]
    return lambda counts, *aim: method(counts[shape], *aim)


def _one_by_one(method: Method) -> Method:
    """Return the method for a list of data sets."""

    def answers(sets: list[Any], *aim: Any) -> Any:
        found = np.stack([np.asarray(method(one, *aim)) for one in sets])
        return found if aim else np.moveaxis(found, 1, 0)

    return answers


def _enumerated(cells: Array, totals: Sequence[int]) -> Source:
    """Return all outcomes, with their probabilities under a truth."""
    kinds = [_compositions(cells.shape[-1], total) for total in totals]
    outcomes = np.stack([np.stack(rows) for rows in itertools.product(*kinds)])
    logs = special.gammaln(np.array(totals) + 1.0).sum() - special.gammaln(outcomes + 1.0).sum((-1, -2))
    return lambda i: (outcomes, np.exp(logs + special.xlogy(outcomes, cells[i]).sum((-1, -2))))


def _compositions(k: int, n: int) -> NDArray[np.int64]:
    """Return all ways (T, k) to put n items into k cells: stars and bars."""
    bars = np.array(list(itertools.combinations(range(n + k - 1), k - 1)), np.int64).reshape(-1, k - 1)
    ends = np.full((len(bars), 1), -1), np.full((len(bars), 1), n + k - 1)
    return np.asarray(np.diff(np.concatenate([ends[0], bars, ends[1]], axis=1)) - 1)


def _drawn(cells: Array, totals: Sequence[int], size: int, seed: int) -> Source:
    """Return drawn outcomes, each once, with their frequencies."""

    def draw(i: int) -> tuple[Any, Array]:
        rng = matrix_rng(seed, i, Stream.COVERAGE)
        drawn = np.stack([rng.multinomial(total, p, size) for total, p in zip(totals, cells[i], strict=True)], 1)
        kinds, times = np.unique(drawn, axis=0, return_counts=True)
        return kinds, times / size

    return draw


def _simulated(simulate: Callable[..., Any], truths: list[Any], size: int, seed: int) -> Source:
    """Return a list of simulated data sets, which count alike."""

    def draw(i: int) -> tuple[Any, Array]:
        rng = matrix_rng(seed, i, Stream.COVERAGE)
        return [simulate(rng, truths[i]) for _ in range(size)], np.full(size, 1.0 / size)

    return draw


def _bounds(found: Any) -> Array:
    """Return bounds (2, samples, quantities)."""
    both = np.stack([np.asarray(one, np.float64) for one in found])
    if len(both) != 2 or both.ndim not in (2, 3):
        raise ValueError(f"`method` must return (lower, upper), each over samples; got shape {both.shape}.")
    return both if both.ndim == 3 else both[..., None]


def _of_bounds(bounds: Array, aim: Array, weights: Array, simultaneous: bool) -> Array:
    """Return coverage, misses below and above, width and the share without an answer (5, quantities)."""
    (lower, upper), missing = bounds, np.isnan(bounds).any(0)
    below, above = upper < aim, lower > aim
    with np.errstate(invalid="ignore"):
        width = weights @ np.where(missing, 0.0, upper - lower) / (weights @ ~missing)
    if simultaneous:
        below, above, missing = (one.any(1, keepdims=True) for one in (below, above, missing))
        width = width.mean(keepdims=True)
    held = ~(below | above | missing)
    return np.stack([weights @ held, weights @ below, weights @ above, width, weights @ missing])


def _of_region(held: Any, weights: Array) -> Array:
    """Return the same of regions, which have no sides."""
    inside = np.asarray(held)
    inside = inside if inside.ndim == 2 else inside[:, None]
    share = weights @ inside.astype(np.float64)
    return np.stack([share, *np.full((3, len(share)), np.nan), np.zeros(len(share))])


def _all(
    tally: Callable[[int], Array], count: int, workers: int, file: str | Path | None, settings: list[Any]
) -> list[Array]:  # fmt: skip
    """Return the tallies of all truths, those that a file has as they are there."""
    kept: dict[int, Array] = {}
    head, lines = json.dumps(settings), list[str]()
    if file is not None and Path(file).exists():
        text = Path(file).read_text(encoding="utf-8")
        first, *lines = text[: text.rfind("\n") + 1].splitlines() or [head]  # the last line may have been cut off
        if first != head:
            raise ValueError(f"`file` {str(file)!r} is from another call; give the same arguments or another file.")
        kept = {int(i): np.array(values) for i, values in map(json.loads, lines)}
    if file is not None:
        replace(Path(file), "\n".join([head, *lines, ""]).encode())
    missing = [i for i in range(count) if i not in kept]
    with ThreadPoolExecutor(workers) as pool:
        for i, found in zip(missing, pool.map(tally, missing), strict=True):
            kept[i] = found
            if file is not None:
                with Path(file).open("a", encoding="utf-8") as further:
                    further.write(json.dumps([i, found.tolist()]) + "\n")
    return [kept[i] for i in range(count)]


def _dataset(tallies: Array, size: int, contains: bool, attrs: dict[str, Any]) -> xr.Dataset:
    """Return the Dataset of tallies (P, 5, quantities)."""
    coverage = tallies[:, 0]
    error = np.sqrt(np.maximum(coverage * (1.0 - coverage), 0.0) / size) if size else np.zeros_like(coverage)
    found = {name: tallies[:, i] for i, name in enumerate(_NAMES)} | {"mcse": error}
    wanted = ("coverage", "mcse", "unanswered") if contains else (*_NAMES, "mcse")
    dims = (TRUTH, QUANTITY)
    made = xr.Dataset({name: (dims, found[name]) for name in wanted}, attrs=attributes(**attrs))
    for name in wanted:
        made[name].attrs = {"long_name": _NAMES.get(name, "Standard error of the coverage"), "units": "1"}
    return made.isel({QUANTITY: 0}) if tallies.shape[-1] == 1 else made
