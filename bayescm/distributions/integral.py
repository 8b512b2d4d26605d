"""Distributions of metrics of two labels as integrals of a Beta's cdf over one or two other Betas."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayescm._kernels.codes import (
    BETA,
    FIRST,
    HALF,
    KNOWN,
    LEFT_INSIDE,
    PREVALENCE,
    ROOT_INSIDE,
    SCALES,
    STATISTICS,
    Formula,
)
from bayescm._kernels.dispatch import in_blocks, kernel, threads
from bayescm.data import validate
from bayescm.distributions.beta import Point
from bayescm.distributions.protocol import Evaluated, placed
from bayescm.metrics import Metric, multiclass
from bayescm.metrics.forms import Form, proportion
from bayescm.priors.concentrations import Concentrations

Array = NDArray[np.float64]

_Change = tuple[tuple[int, ...], tuple[int, ...]]
_CLASS, _CLASS_REVERSED = (0, 1, 2, 3), (3, 2, 1, 0)  # tp fn | fp tn, and from the other end
_PREDICTION, _PREDICTION_REVERSED = (0, 2, 1, 3), (3, 1, 2, 0)
_ACCURACY = (0, 3, 2, 1)  # tp tn | fp fn
LEAST = 0.05
"""Concentration below which a distribution is nearly a mixture of points, and is left to draws."""
_GOAL = 3e-7  # of the last halving of the step; the error is usually about its square
_GOAL_OF_ONE = 1e-7
_LEAST_STATED = 1e-5  # two lattices may agree closer than both are right: to 9e-6 of a tail in 1,440 intervals
_GOAL_OF_TABLES = 1e-9
_SECONDS = (0.0, 0.01, 0.1)  # of Python for a summary, by the number of integrals
_SECONDS_OF_A_VALUE = (0.0, 0.003, 0.1)  # and for a value of a cdf, or a quantile
_SLOWER = 7.0  # where a concentration is below 1
_BLOCK = 64  # matrices that are worth a thread
_JOINT_GOAL = 1e-8


@dataclass(frozen=True, slots=True, eq=False)
class Integral(Evaluated):
    """The distribution of a metric that one or two integrals of a Beta's cdf give; both tails are relatively precise.

    Attributes
    ----------
    metric : Metric
    form : Form
    cells : ndarray of shape (..., 4)
        Concentrations of tp, fn, fp, tn.
    shares : ndarray of shape (..., 2)
        Concentrations of the classes, negative first; or, known, their shares.
    trees : ndarray of int64, shape (t, 8)
        Ways to hang the cells on independent Betas, all with the same number of integrals (see
        :mod:`bayescm._kernels.distributions`). The kernel takes for each matrix the one that suits it best.
    integrals : int
        1 or 2.
    goal : float
        Of the probabilities of two integrals.
    """

    metric: Metric
    form: Form
    cells: Array
    shares: Array
    trees: NDArray[np.int64]
    integrals: int
    goal: float = _GOAL

    @property
    def words(self) -> str:  # type: ignore[override]  # noqa: D102
        return f"{self.integrals} integral{'s' if self.integrals > 1 else ''}"

    def at(self, *place: Any) -> Self:  # noqa: D102
        batch = np.broadcast_shapes(self.cells.shape[:-1], self.shares.shape[:-1])
        cells, shares = (placed(v, batch, place, parts=True) for v in (self.cells, self.shares))
        return replace(self, cells=cells, shares=shares)

    def to_tabulate(self) -> Self:  # noqa: D102
        return replace(self, goal=_GOAL_OF_TABLES)

    def _formula(self) -> Formula:
        form, ends = self.form, (float(self.metric.lower), float(self.metric.upper))
        return Formula(self.trees, form.num, form.den, SCALES.index(form.scale), *ends)

    def _flat(self) -> tuple[tuple[int, ...], Array, Array]:
        batch = np.broadcast_shapes(self.cells.shape[:-1], self.shares.shape[:-1])
        cells = np.broadcast_to(self.cells, (*batch, 4)).reshape(-1, 4)
        shares = np.broadcast_to(self.shares, (*batch, 2)).reshape(-1, 2)
        return batch, np.array(cells, order="C"), np.array(shares, order="C")  # a read-only view would be compiled anew

    def _at(self, x: float | Array, what: str) -> Array:
        """Call a kernel at values that broadcast against the batch."""
        batch, cells, shares = self._flat()
        x = np.asarray(x, np.float64)
        shape = np.broadcast_shapes(batch, x.shape)
        extra = shape[: len(shape) - len(batch)]  # leading axes of x are more points for each matrix
        points = np.broadcast_to(x, shape).reshape(math.prod(extra), math.prod(shape[len(extra) :]))
        if len(cells) != points.shape[1]:
            cells, shares = (np.broadcast_to(v, (points.shape[1], v.shape[1])).copy() for v in (cells, shares))
        goal = _GOAL_OF_ONE if self.integrals == 1 else self.goal
        function = "quantiles" if what == "quantiles" else "probabilities"
        call = kernel("distributions", function, _slowness(cells) * _SECONDS_OF_A_VALUE[self.integrals] * points.size)
        found = _in_threads(call, (cells, shares, np.array(points.T, order="C")), (self._formula(), goal))
        if function == "probabilities":  # lattices round to -1e-15 and the like
            found[..., :3] = np.clip(found[..., :3], 0.0, [1.0, 1.0, np.inf])
        return np.asarray(np.moveaxis(found, 1, 0).reshape(*shape, found.shape[-1]))

    def statistics(self, prob: float, kind: str) -> dict[str, Any]:
        """Return mean, median, sd, lower, upper, is_hdi, and the estimated relative error of the probabilities."""
        return statistics([self], prob, kind)[0]


def statistics(dists: Sequence[Integral], prob: float, kind: str) -> list[dict[str, Any]]:
    """Return the statistics of several metrics of the same matrices, which share the tables of their Betas."""
    if not dists:
        return []
    batch, cells, shares = dists[0]._flat()
    seconds = _slowness(cells) * len(cells) * sum(_SECONDS[dist.integrals] for dist in dists)
    summarise = kernel("distributions", "summarise", seconds)
    trees, *others = zip(*(dist._formula() for dist in dists), strict=True)
    ends = np.cumsum([0, *map(len, trees)])
    together = (np.concatenate(trees), ends, *map(np.array, others))
    table = np.asarray(_in_threads(summarise, (cells, shares), (*together, prob, kind == "hdi")))
    results = []
    for k, dist in enumerate(dists):
        found: dict[str, Any] = {name: table[:, k, i].reshape(batch) for i, name in enumerate(STATISTICS)}
        if dist.integrals == 2:
            found["error"] = np.maximum(found["error"], _LEAST_STATED)
        results.append(_without_lost(dist, found, prob) | _moments(dist))
    return results


def _slowness(cells: Array) -> float:
    """Return how many times as long Python takes for the slowest of these matrices as for most."""
    return _SLOWER if cells.min(initial=np.inf) < 1.0 else 1.0


def _without_lost(dist: Integral, found: dict[str, Any], prob: float) -> dict[str, Any]:
    """Put NaN, and say so, where neither interval has the content it should by the distribution's own cdf."""
    lost = found["is_hdi"] < 0.0
    if lost.any():
        cells = np.broadcast_to(dist.cells, (*lost.shape, 4))[lost][0]
        validate.warn(
            f"no interval of probability {prob:g} was found for {dist.metric.name} of {int(lost.sum())} "
            f"{'matrix' if lost.sum() == 1 else 'matrices'}, the first with the concentrations tp, fn, fp, tn = "
            f"{cells.tolist()}: it is NaN. Take draws of bayescm.posterior."
        )
        found |= {name: np.where(lost, np.nan, found[name]) for name in ("lower", "upper")}
    return found | {"is_hdi": found["is_hdi"] > 0}


def _in_threads(kernel: Any, batched: tuple[Array, ...], rest: tuple[Any, ...]) -> Any:
    """Call a kernel on blocks of matrices, one block per processor where there are many; each matrix is on its own.

    The environment variable BAYESCM_THREADS sets another number of threads. The numbers don't depend on it.
    """
    size = len(batched[0])
    found: dict[int, Any] = {}

    def part(start: int, stop: int) -> None:
        found[start] = kernel(*(array[start:stop] for array in batched), *rest)

    if size < 2 * _BLOCK:
        return kernel(*batched, *rest)
    in_blocks(part, size, max(_BLOCK, -(-size // threads())))
    return np.concatenate([found[start] for start in sorted(found)])


def _moments(dist: Integral) -> dict[str, Array]:
    """Return mean and sd of likelihood ratios and odds ratios, products of Betas' odds and inverses, in closed form."""
    if not dist.metric.moments:
        return {}
    of: Any = {
        # E X^r for X ~ Beta(a, b), or of the odds X / (1 - X), both to a power r that may be negative
        "positive_likelihood_ratio": lambda tp, fn, fp, tn, r: _power(tp, fn, r) * _power(fp, tn, -r),
        "negative_likelihood_ratio": lambda tp, fn, fp, tn, r: _power(fn, tp, r) * _power(tn, fp, -r),
        "diagnostic_odds_ratio": lambda tp, fn, fp, tn, r: _odds(tp, fn, r) * _odds(tn, fp, r),
    }.get(dist.metric.name)
    if of is None:
        return {}
    cells = np.moveaxis(dist.cells, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = of(*cells, 1), of(*cells, 2)
        least = np.min([cells[("tp", "fn", "fp", "tn").index(name)] for name in dist.metric.moments], axis=0)
        sd = np.sqrt(np.maximum(second - first**2, 0.0))
    mean = np.where(least <= 1.0, np.inf, first)
    return {"mean": mean, "sd": np.where(least <= 1.0, np.nan, np.where(least <= 2.0, np.inf, sd))}


def _power(a: Array, b: Array, r: int) -> Array:
    """Return E X^r."""
    total = a + b
    if r > 0:
        return np.asarray(a / total * ((a + 1.0) / (total + 1.0) if r == 2 else 1.0))
    return np.asarray((total - 1.0) / (a - 1.0) * ((total - 2.0) / (a - 2.0) if r == -2 else 1.0))


def _odds(a: Array, b: Array, r: int) -> Array:
    """Return E (X / (1 - X))^r, r = 1 or 2."""
    return np.asarray(a / (b - 1.0) * ((a + 1.0) / (b - 2.0) if r == 2 else 1.0))


def form_of(metric: Metric) -> Form | None:
    """Return a metric of two labels as a ratio of quadratic forms."""
    if metric.kind != "cells":
        return None
    return metric.form if metric.ratio is None else proportion(*metric.ratio, metric.link)


def integral_distribution(metric: Metric, which: Concentrations) -> Integral | Point | None:
    """Return the distribution of a metric of two labels, or None where there is none.

    It must be a ratio of quadratic forms in the cells, and no concentration may be below :data:`LEAST`.
    """
    form = form_of(metric)
    if form is None:
        return None
    cells = np.stack(multiclass.of_two(which.rows), axis=-1)
    if cells.min() < LEAST or (not which.known and which.shares.min() < LEAST):
        return None  # nearly a mixture of points
    trees, integrals = _trees(form, "cells" if which.one_dirichlet else "known" if which.known else "separate")
    if not len(trees):  # nothing of it is uncertain
        return Point(form.value(_mean_cells(which)))
    return Integral(metric, form, cells, which.shares, trees, integrals)


def _mean_cells(which: Concentrations) -> Array:
    """Return the cells tp, fn, fp, tn at the means of all rates and shares."""
    rates = which.rows / which.rows.sum(-1, keepdims=True)
    shares = which.shares / which.shares.sum(-1, keepdims=True)
    return np.stack(multiclass.of_two(rates * shares[..., None]), axis=-1)


@lru_cache(maxsize=256)
def _trees(form: Form, mode: str) -> tuple[NDArray[np.int64], int]:
    """Return the trees with the fewest integrals, and that number.

    A split without influence on the metric needs no integral; a metric without true negatives needs only the Jaccard
    index and the share of false positives among the errors, if the cells are one Dirichlet.
    """
    ways: list[tuple[int, tuple[int, ...]]] = [(LEFT_INSIDE, _CLASS), (LEFT_INSIDE, _CLASS_REVERSED)]
    if mode != "known":
        ways.append((ROOT_INSIDE, _CLASS))
    if mode == "cells":
        ways += [(LEFT_INSIDE, _PREDICTION), (LEFT_INSIDE, _PREDICTION_REVERSED)]
        ways += [(ROOT_INSIDE, _PREDICTION), (ROOT_INSIDE, _ACCURACY)]
    matters, trees = _matters(form), []
    for shape, order in ways:
        if shape == ROOT_INSIDE and (order == _ACCURACY if form.scale == "correlation" else not _monotone(form, order)):
            continue
        trees.append(_tree(matters, shape, order, mode))
    if mode == "cells" and not matters[_WITHOUT_TN]:
        trees.append((ROOT_INSIDE, *_ACCURACY, BETA, FIRST, BETA))
        trees.append((LEFT_INSIDE, 1, 2, 0, 3, BETA, BETA, FIRST))
    varies = (BETA, PREVALENCE, PREVALENCE + 2)
    able = [tree for tree in trees if tree[6 if tree[0] == LEFT_INSIDE else 5] in varies]
    if not able:
        return np.empty((0, 8), np.int64), 0
    integrals = [sum(split in varies for split in tree[5:]) - 1 for tree in able]
    fewest = [tree for tree, number in zip(able, integrals, strict=True) if number == min(integrals)]
    return np.array(fewest, np.int64), min(integrals)


def _tree(matters: Mapping[_Change, bool], shape: int, order: Sequence[int], mode: str) -> tuple[int, ...]:
    """Describe a tree: its shape, the order of its cells, and how root, left and right split are known."""
    root, left, right = _changes(order)
    whole = {"cells": BETA, "known": KNOWN, "separate": PREVALENCE}[mode]
    if mode != "cells" and order == _CLASS_REVERSED:
        whole += 2  # of the other class
    splits = whole if matters[root] else HALF, BETA if matters[left] else HALF, BETA if matters[right] else HALF
    return (shape, *order, *splits)


def _changes(order: Sequence[int]) -> tuple[_Change, _Change, _Change]:
    """Return what changes with root, left and right split: cells that are scaled, and those that pay for it."""
    first, second, third, fourth = order
    return ((first, second), ()), ((first,), (second,)), ((third,), (fourth,))


_WITHOUT_TN: _Change = ((3,), ())
_ORDERS = (_CLASS, _CLASS_REVERSED, _PREDICTION, _PREDICTION_REVERSED, _ACCURACY)
_CHANGES = list(dict.fromkeys([*(change for order in _ORDERS for change in _changes(order)), _WITHOUT_TN]))
_BEFORE = np.array([[0.31, 0.17, 0.23, 0.29], [0.11, 0.37, 0.05, 0.47]])
_AFTER = np.repeat(_BEFORE[None], len(_CHANGES), 0)
for _after, (_scaled, _taken) in zip(_AFTER, _CHANGES, strict=True):
    _after[:, _scaled] *= 1.3
    _after[:, _taken] -= 0.3 * _BEFORE[:, _scaled[: len(_taken)]]
_ANY = dict.fromkeys(_CHANGES, True)
"""Of some metric."""


def _matters(form: Form) -> dict[_Change, bool]:
    """Say which changes of cells a metric changes with."""
    before, after = form.value(_BEFORE), form.value(_AFTER)
    same = (np.abs(before - after) <= 1e-14 + 1e-12 * np.abs(after)).all(-1)
    return dict(zip(_CHANGES, (~same).tolist(), strict=True))


def _monotone(form: Form, order: Sequence[int]) -> bool:
    """Say whether the metric rises or falls throughout as the first two cells grow together."""
    cells = np.empty((*_GROWING.shape[:2], 4))
    cells[..., order] = _GROWING
    steps = np.diff(form.value(cells), axis=-1)
    return bool(((steps >= 0.0).all(-1) | (steps <= 0.0).all(-1)).all())


_share = np.linspace(0.02, 0.98, 25)
_GROWING = np.stack(
    [
        np.stack([_share * left, _share * (1 - left), (1 - _share) * right, (1 - _share) * (1 - right)], -1)
        for left, right in ((0.9, 0.2), (0.3, 0.1), (0.6, 0.95), (0.05, 0.4))
    ]
)


def joint_probability(
    metrics: Sequence[Metric], points: Array, above: NDArray[np.bool_], which: Concentrations
) -> tuple[Array, Array]:
    """Return the probability that several metrics of two labels lie on their sides of points.

    Parameters
    ----------
    metrics : sequence of Metric
        Each a ratio of quadratic forms, monotone in recall and in specificity as all of the table are.
    points : ndarray of shape (k,)
    above : ndarray of bool, shape (k,)
    which : Concentrations

    Returns
    -------
    probability, error : ndarray
        Over the batch; the error is the relative change at the last halving of the step.
    """
    joint = kernel("joint", "joint")
    forms = [form_of(metric) for metric in metrics]
    outside = [not metric.lower < x < metric.upper for metric, x in zip(metrics, points, strict=True)]
    known = [form for form in forms if form is not None]
    if len(known) < len(forms):
        name = next(m.name for m, form in zip(metrics, forms, strict=True) if form is None)
        raise ValueError(f"`claims`: {name} can't be part of a joint claim; take draws of bayescm.posterior.")
    cells = np.stack(multiclass.of_two(which.rows), axis=-1)
    batch = np.broadcast_shapes(cells.shape[:-1], which.shares.shape[:-1])
    if any(outside):
        name = metrics[outside.index(True)].name
        raise ValueError(f"`claims`: {points[outside.index(True)]:g} isn't inside the range of {name}.")
    mode = "cells" if which.one_dirichlet else "known" if which.known else "separate"
    trees = [_tree(_ANY, LEFT_INSIDE, order, mode) for order in (_CLASS_REVERSED, _CLASS)]
    arguments = (
        np.array([form.num for form in known]), np.array([form.den for form in known]),
        np.array([SCALES.index(form.scale) for form in known]), points, above,
    )  # fmt: skip
    out = np.empty((int(np.prod(batch)), 2))
    flat = np.broadcast_to(cells, (*batch, 4)).reshape(-1, 4), np.broadcast_to(which.shares, (*batch, 2)).reshape(-1, 2)
    for i, (a, shares) in enumerate(zip(*flat, strict=True)):
        best = np.nan, np.inf
        for tree in trees:
            value, error = joint(a, shares, np.array(tree), *arguments, _JOINT_GOAL)
            best = min(best, (value, error), key=lambda answer: answer[1])
            if error * min(value, 1.0 - value) <= _JOINT_GOAL * value:  # where the kernel stopped by itself
                break
        out[i] = best
    return out[:, 0].reshape(batch), out[:, 1].reshape(batch)
