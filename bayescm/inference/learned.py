"""The posterior of counts of many classes whose prior is learned from these classes: by draws, matrix by matrix."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.assumptions import assumed
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import as_read, labels_of
from bayescm.distributions import Distribution, Point, is_prevalence, learned_rates
from bayescm.distributions.learned import learn
from bayescm.inference.blocks import OfMatrices, exchanged
from bayescm.inference.conjugate import Conjugate, OfCounts
from bayescm.inference.options import DRAWS
from bayescm.metrics import Metric, binary, compute, of_one_class
from bayescm.priors.concentrations import (
    DEFAULT_PRIOR,
    LEARNED,
    Concentrations,
    PrevalenceLike,
    concentrations,
    exchange,
)
from bayescm.results.names import CARRIED_BY, few_items, is_mean_of_classes, of_empty_classes
from bayescm.results.writing import listed

Array = NDArray[np.float64]

MODEL = "learned_classes"
"""What attrs call it."""
_CELLS, _LEAST = 4_000_000, 4_000
"""Cells that are drawn at most where nobody says how many draws to make, and the least number of draws: a second."""
_BLOCK = 2**21
"""Cells of a block of draws: 16 MB."""


@dataclass(frozen=True)
class OfClasses(OfMatrices):
    """Some matrices, and the prevalence that is asked about.

    Attributes
    ----------
    prevalence, seed, n
    alone : bool
        Whether classes of very few items learn nothing from the others.
    """

    prevalence: PrevalenceLike
    seed: int
    n: int
    alone: bool = False
    closed: ClassVar[str] = "numerical"

    def _elsewhere(self, theta: Array) -> Array:
        """Give cells (..., K, K) of one matrix the prevalence that is asked about."""
        return theta if self._shares is None else exchanged(theta, self._shares.tolist(), None)

    @cached_property
    def _counted(self) -> Conjugate:
        """What was counted, which is the same under any prior."""
        any_prior = concentrations(DEFAULT_PRIOR, "dirichlet_multinomial", self.k)
        return Conjugate(self.counts, self.index, any_prior, self.prevalence, range(self.k), self.seed, self.n)

    def cells(self) -> Array:  # noqa: D102
        return self._counted.cells()

    def points(self, metrics: Sequence[Metric]) -> list[Array]:  # noqa: D102
        return self._counted.points(metrics)

    def n_items(self) -> Array:  # noqa: D102
        return np.asarray(self.counts.sum((-2, -1)), np.float64)

    def independent(self, metric: Metric) -> bool:  # noqa: D102
        return True

    @cached_property
    def _shares(self) -> Array | None:
        """The class shares (*shape, K), if they are known."""
        if self.prevalence is None:
            return None
        every, totals = Concentrations(np.ones((self.k, self.k)), np.ones(self.k)), self.counts.sum(-1).astype(float)
        shares = exchange(every, self.prevalence, totals).shares
        return np.asarray(np.broadcast_to(shares, (*self.shape, self.k)))

    def exact(self, metric: Metric) -> Distribution | None:  # noqa: D102
        if self.alone:
            return None
        if is_prevalence(metric) and self._shares is not None:
            return Point(self._shares)
        known = map(learn, self.counts.reshape(-1, self.k, self.k))  # of which few are held at once
        if is_prevalence(metric):
            return learned_rates.of_shares(known).over(self.shape)
        over = metric.ratio[0] if metric.ratio is not None else ("",)
        missed = over in (("fn",), ("off_diagonal",))
        if of_one_class(metric, self.k):
            return learned_rates.of_recalls(known, missed=missed).over(self.shape)
        weighted = metric.kind == "weighted" and metric.function is binary.recall  # which is accuracy
        if self._shares is None and (weighted or over[0].endswith("diagonal")):
            return learned_rates.of_accuracy(known, missed=missed).over(self.shape)
        return None

    def _of_one(self) -> Iterator[Array]:
        """Give draws of the cells of one matrix."""
        known, rng = learn(self.counts), matrix_rng(self.seed, int(self.index), Stream.LEARNED)
        most = max(_BLOCK // self.counts.size, 1)
        for start in range(0, self.n, most):
            yield self._elsewhere(known.draw(rng, min(most, self.n - start), alone=self.alone))

    def theta_blocks(self) -> Iterator[Array]:  # noqa: D102
        for parts in zip(*(one._of_one() for one in self.singles()), strict=True):
            yield np.stack(parts).reshape((*self.shape, *parts[0].shape))

    def draws(self, metrics: Sequence[Metric]) -> list[Array]:  # noqa: D102
        depth = len(self.shape)
        values = [[np.moveaxis(v, depth, -1) for v in compute(metrics, theta)] for theta in self.theta_blocks()]
        return [np.concatenate(parts, -1) for parts in zip(*values, strict=True)]


@dataclass(frozen=True)
class OfManyClasses(OfCounts):
    """The posterior of counts of many classes."""

    def notes(self, metrics: Sequence[Metric], ci_prob: float) -> dict[str, Any]:
        """Name classes without items, and say what averages are if classes of few learn nothing from the others."""
        found: dict[str, Any] = of_empty_classes(metrics, self.data, "is learned from the others")
        if not (which := few_items(metrics, self.data)):
            return found
        assert isinstance(self._all, OfClasses)
        means = [metric for metric in metrics if is_mean_of_classes(metric)]
        alone = said(replace(self._all, alone=True), means, ci_prob)
        return found | {CARRIED_BY: f"{which}, taken to resemble the others; if not, {alone}"}


def said(block: Any, metrics: Sequence[Metric], ci_prob: float) -> str:
    """Say where the central intervals of metrics of one matrix are."""
    known, texts = block.statistics(metrics, ci_prob, "eti"), []
    for metric in metrics:
        lower, upper = (float(known[metric.name][end]) for end in ("lower", "upper"))
        digits = int(np.clip(np.ceil(-np.log10(upper - lower)) + 1.0, 2, 6)) if upper > lower else 2
        texts.append(f"{metric.alias or metric.name} is {lower:.{digits}f} to {upper:.{digits}f}")
    return listed(texts)


def asked(model: Any, prior: Any) -> bool:
    """Say whether this prior is asked for."""
    return isinstance(prior, str) and prior == LEARNED and isinstance(model, str) and model == "dirichlet_multinomial"


def of_learned(counts: xr.DataArray, prevalence: PrevalenceLike, n: int | None, seed: int) -> OfManyClasses:
    """Return the posterior of checked counts, which may be lazy."""
    labels = tuple(labels_of(counts))
    n = max(min(_CELLS // len(labels) ** 2, DRAWS), _LEAST) if n is None else n
    if len(labels) < 3:
        raise ValueError(
            "`prior`='learned' learns the recall of one class from those of the others, and needs more than two "
            f"classes; got {len(labels)}. Leave `prior` out."
        )

    def block(values: NDArray[Any], index: NDArray[np.int64]) -> OfClasses:
        return OfClasses(validate.count_values("counts", values), index, prevalence, seed, n)

    settings = {
        "model": MODEL, "prior": LEARNED, "prevalence": prevalence, "draws": n,
        "assumptions": assumed(prevalence), **as_read(counts),
    }  # fmt: skip
    some = block(np.ones((len(labels),) * 2, np.int64), np.asarray(0))
    return OfManyClasses(labels, settings, counts, block, some)
