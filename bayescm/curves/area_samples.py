"""The items behind a curve, and areas of samples made of them: resamples, samples without one item, folds."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bayescm._kernels.codes import AREAS
from bayescm._kernels.dispatch import in_blocks, kernel
from bayescm.data.labels import Label
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import positive_class
from bayescm.data.scores import Ranking, Scores, check_scores, rank
from bayescm.data.units import in_units, of_units

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

BINORMAL = "binormal"
CODES = {name: number for number, name in enumerate(AREAS)} | {BINORMAL: -1}
"""Areas, and their numbers in the kernel."""
_REACH = 9.0  # standard deviations, beyond which a normal distribution has 2e-19
_NODES, _WEIGHTS = special.roots_legendre(16)
_BLOCK = 256  # areas that are integrated at a time
_DRAWS = 100  # resamples that share a stream of random numbers


@dataclass(frozen=True)
class Items:
    """Checked items of both classes, as each system ranks them."""

    scores: Scores
    rankings: tuple[Ranking, ...]
    case_step: Integers
    """Position (systems, cases) of each case's score among the distinct ones, from the largest."""
    control_step: Integers
    odds: float
    """Of a control: (1 - prevalence) / prevalence."""

    @property
    def cases(self) -> int:
        """Return the number of cases."""
        return int(self.case_step.shape[1])

    @property
    def controls(self) -> int:
        """Return the number of controls."""
        return int(self.control_step.shape[1])

    @property
    def prevalence(self) -> float:
        """Return the prevalence at which precision is taken."""
        return 1.0 / (1.0 + self.odds)

    @property
    def dim(self) -> str:
        """Return the dim of the systems."""
        return self.scores.dim

    @property
    def systems(self) -> NDArray[Any] | None:
        """Return the names of the systems; None of one without a name."""
        return self.scores.systems

    @property
    def labels(self) -> list[Any]:
        """Return the labels of controls and cases."""
        return list(self.scores.labels.tolist())

    @property
    def crossed(self) -> bool:
        """Return whether they are of two units that are crossed."""
        return self.scores.unit is not None and self.scores.unit.ndim == 2

    @property
    def about(self) -> dict[str, Any]:
        """Return the attrs that say how many items there are, and which of them are positive."""
        units = of_units(self.scores.unit, self.prevalence if self.exchanged else None)
        return {"cases": self.cases, "controls": self.controls, **positive_class(self.labels), **units}

    @property
    def alone(self) -> str:
        """Return the reason why a class can't show how its scores vary; empty if both can."""
        if min(self.cases, self.controls) < 2:
            return f"one {'case' if self.cases == 1 else 'control'} alone doesn't show how scores vary"
        if self.units is not None and min(len(np.unique(unit)) for unit in self.units) < 2:
            return "one unit with cases, or with controls, doesn't show how scores vary"
        return ""

    @property
    def units(self) -> list[Integers] | None:
        """Return which unit the cases and the controls are of; None where each is one of its own, or has two."""
        unit, positive = self.scores.unit, self.scores.positive
        return None if unit is None or unit.ndim == 2 else [unit[positive], unit[~positive]]

    def scored(self, system: int) -> Array:
        """Return the scores of a system."""
        return np.asarray(self.scores.score[system])

    @property
    def exchanged(self) -> bool:
        """Return whether that isn't the share of the cases."""
        return self.odds != self.controls / self.cases

    @cached_property
    def score(self) -> Array:
        """Return the distinct scores (systems, K), the shorter rows filled up with NaN."""
        filled = np.full((len(self.rankings), max(len(one.score) for one in self.rankings)), np.nan)
        for row, one in zip(filled, self.rankings, strict=True):
            row[: len(one.score)] = one.score
        return filled


def check_items(
    y_true: ArrayLike, y_score: Any, labels: Any = None, pos_label: Label | None = None, direction: str = "larger",
    unit: ArrayLike | None = None,
) -> Items:  # fmt: skip
    """Return items that have both classes, at the prevalence of the sample."""
    scores = in_units(check_scores(y_true, y_score, labels, pos_label, direction), unit)
    positive = scores.positive
    if positive.all() or not positive.any():
        missing = scores.labels.tolist()[int(not positive.any())]
        raise ValueError(f"`y_true` must have items of both classes; it has none of {missing!r}, so there is no curve.")
    rankings = tuple(rank(positive, one) for one in scores.score)
    steps = np.stack([one.step for one in rankings])
    case_step, control_step = (np.ascontiguousarray(steps[:, which], np.int64) for which in (positive, ~positive))
    return Items(scores, rankings, case_step, control_step, control_step.shape[1] / case_step.shape[1])


def at_prevalence(items: Items, prevalence: float) -> Items:
    """Return the items at another prevalence."""
    return replace(items, odds=(1.0 - prevalence) / prevalence)


def values(items: Items, names: tuple[str, ...]) -> Array:
    """Return the areas (systems, names) of the items themselves."""
    if names == ("auc",):
        return roc_areas(items)[:, None]
    rows = []
    for ranking in items.rankings:
        found = _areas(ranking.cases[None], ranking.controls[None], items.odds, names)
        _put_binormal(found, names, _normal(ranking.score, ranking.controls[None], ranking.cases[None]), items.odds)
        rows.append(found[0])
    return np.stack(rows)


def roc_areas(items: Items) -> Array:
    """Return the areas (systems,) as one quotient of whole numbers: perfect separation gives exactly 1."""
    found = []
    for one in items.rankings:
        below = items.controls - np.cumsum(one.controls)
        found.append(int((one.cases * (2 * below + one.controls)).sum()) / (2 * items.cases * items.controls))
    return np.array(found)


def placements(items: Items) -> tuple[Array, Array]:
    """Return for each case the share of controls below it (systems, n), for each control that of cases above it."""
    of_cases, of_controls = np.empty(items.case_step.shape), np.empty(items.control_step.shape)
    for s, one in enumerate(items.rankings):
        below = 2 * (items.controls - np.cumsum(one.controls)) + one.controls
        above = 2 * np.cumsum(one.cases) - one.cases
        of_cases[s] = below[items.case_step[s]] / (2 * items.controls)
        of_controls[s] = above[items.control_step[s]] / (2 * items.cases)
    return of_cases, of_controls


def resamples(items: Items, names: tuple[str, ...], draws: int, seed: int) -> Array:
    """Return the areas (draws, systems, names) of stratified resamples, the same items for every system."""
    found = np.full((draws, len(items.rankings), len(names)), np.nan)
    normal = np.empty((draws if BINORMAL in names else 0, len(items.rankings), 2, 2))
    sizes = np.array([len(one.score) for one in items.rankings])
    score, codes = items.score, _codes(names)
    fill = kernel("areas", "resample")

    def part(start: int, stop: int) -> None:
        rng, block = matrix_rng(seed, start // _DRAWS, Stream.AREA_BOOTSTRAP), slice(start, stop)
        fill(rng, items.case_step, items.control_step, score, sizes, items.odds, codes, found[block], normal[block])

    in_blocks(part, draws, _DRAWS)
    _put_binormal(found, names, normal, items.odds)
    return found


def without_one(items: Items, system: int, names: tuple[str, ...]) -> tuple[Array, Array]:
    """Return the areas (items, names) of the sample without each case, and without each control."""
    ranking = items.rankings[system]
    cases, controls = ranking.cases.copy(), ranking.controls.copy()
    both = [np.full((len(cases), len(names)), np.nan) for _ in "ab"]
    kernel("areas", "leave_one_out")(cases, controls, items.odds, _codes(names), *both)
    if BINORMAL in names:
        whole = _normal(ranking.score, controls[None], cases[None])
        for k, (counts, filled) in enumerate(zip((cases, controls), both, strict=True)):
            less = np.repeat(whole, len(counts), axis=0)
            less[:, 1 - k] = _normal_without_one(ranking.score, counts, *whole[0, 1 - k])
            _put_binormal(filled, names, less, items.odds)
    return np.repeat(both[0], cases, axis=0), np.repeat(both[1], controls, axis=0)


def folds(items: Items, names: tuple[str, ...], k: int, seed: int) -> Array:
    """Return the areas (folds, systems, names) of stratified folds, all systems' folds the same."""
    rng = matrix_rng(seed, 0, Stream.AREA_FOLDS)
    parts = [rng.permutation(np.arange(n) % k) for n in (items.cases, items.controls)]
    columns = []
    for s, ranking in enumerate(items.rankings):
        counts = [np.zeros((k, len(ranking.score)), np.int64) for _ in parts]
        for filled, part, step in zip(counts, parts, (items.case_step[s], items.control_step[s]), strict=True):
            np.add.at(filled, (part, step), 1)
        found = _areas(counts[0], counts[1], items.odds, names)
        _put_binormal(found, names, _normal(ranking.score, counts[1], counts[0]), items.odds)
        columns.append(found)
    return np.stack(columns, axis=1)


def _codes(names: tuple[str, ...]) -> Integers:
    """Return the kernel's numbers of areas."""
    return np.array([CODES[name] for name in names])


def _areas(cases: Integers, controls: Integers, odds: float, names: tuple[str, ...]) -> Array:
    """Return the areas (D, names) of samples (D, K); NaN for the binormal one."""
    found = np.full((len(cases), len(names)), np.nan)
    kernel("areas", "samples")(cases, controls, odds, _codes(names), found)
    return found


def _put_binormal(found: Array, names: tuple[str, ...], normal: Array, odds: float) -> None:
    """Put the areas of normal distributions (..., 2, 2) where their column is."""
    if BINORMAL in names:
        mean, sd = np.moveaxis(normal, -1, 0)
        area = binormal_area(mean[..., 0].ravel(), sd[..., 0].ravel(), mean[..., 1].ravel(), sd[..., 1].ravel(), odds)
        found[..., names.index(BINORMAL)] = area.reshape(found.shape[:-1])


def _normal(score: Array, controls: Integers, cases: Integers) -> Array:
    """Return mean and standard deviation (D, 2, 2) of the scores of controls, then cases; NaN where there is none."""
    pairs = []
    with np.errstate(invalid="ignore", divide="ignore"):
        for counts in (controls, cases):
            n = counts.sum(-1)
            mean = np.where(counts > 0, counts * score, 0.0).sum(-1) / n
            squares = np.where(counts > 0, counts * (score - mean[:, None]) ** 2, 0.0).sum(-1)
            pairs.append(np.stack([mean, np.sqrt(squares / (n - 1.0))], axis=-1))
    return np.stack(pairs, axis=1)


def _normal_without_one(score: Array, counts: Integers, mean: float, sd: float) -> Array:
    """Return mean and standard deviation (K, 2) of the scores without one item of each score."""
    n = counts.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = (n - 1.0) * sd**2 - (score - mean) ** 2 * n / (n - 1.0)
        less = mean - (score - mean) / (n - 1.0)
        return np.stack([less, np.sqrt(np.maximum(squares, 0.0) / (n - 2.0))], axis=-1)


def binormal_area(mean_x: Array, sd_x: Array, mean_y: Array, sd_y: Array, odds: float) -> Array:
    """Return the areas (D,) under the PR curves of normal scores: controls x, cases y.

    With t = Phi(z) the area is the mean over a standard normal z of t / (t + odds Phi((mean_x - mean_y + sd_y z) /
    sd_x)): Gauss and Legendre in panels of one standard deviation of either normal distribution.
    """
    areas = np.empty(len(mean_x))
    for start in range(0, len(mean_x), _BLOCK):
        block = slice(start, start + _BLOCK)
        with np.errstate(invalid="ignore", divide="ignore"):
            a, b = (mean_x[block] - mean_y[block]) / sd_x[block], sd_y[block] / sd_x[block]
            steps = np.linspace(-_REACH, _REACH, 19)
            edges = (1.5 * steps - a[:, None]) / b[:, None]
            fixed = np.broadcast_to(steps, edges.shape)
            edges = np.sort(np.concatenate([np.clip(np.nan_to_num(edges), -_REACH, _REACH), fixed], axis=1), axis=1)
            half = np.diff(edges)[..., None] / 2.0
            z = edges[:, :-1, None] + half * (1.0 + _NODES)
            t = special.ndtr(z)
            ratio = t / (t + odds * special.ndtr(a[:, None, None] + b[:, None, None] * z))
            mass = half * _WEIGHTS * np.exp(-(z**2) / 2.0) / np.sqrt(2.0 * np.pi)
            areas[block] = (ratio * mass).sum((-1, -2))
    return areas
