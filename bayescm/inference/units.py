"""The posterior of items that come in units, such as patients: units weigh at random, and one prior unit with them.

The distribution of the units is a Dirichlet process: every unit has a weight from a standard exponential, and one drawn
from the prior has so, too. A metric of all items is that of the weighted sum of all units' cells, so that all metrics,
classes and systems of a draw belong together. A priori there are one unit of the mean size and one item more, whose
cells have the shares Dirichlet(1/2) of two classes: with one item in each unit that is Jeffreys' prior of the cells. Of
more classes the prior unit's accuracy is Beta(1/2, 1/2), and its classes and errors are even. Where only right and
wrong answers are known there is no item more, for the same reason: one of Beta(1/2, 1/2) is Jeffreys' prior. Scores
from 0 to 1 are answers that are right in part.

Of crossed units (readers who all read the same cases) both kinds weigh at random, and the weights of a reading
multiply: what is by chance alone counts three times, which makes up for what few readers hide. The prior unit is one
more of the kind with more of them; one more reader among five would hide most differences.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.assumptions import assumed
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import ASKS, ITEM, MATRIX, MEAN_SCORE, ONE_CLASS, RATERS, UNIT, labels_of, positive_class
from bayescm.data.shapes import is_scored
from bayescm.data.units import (
    COUNT_AS,
    KNOWN_WEIGHTS,
    SAMPLED,
    check_average,
    described,
    icc,
    independent,
    margins,
    plural,
)
from bayescm.distributions.sample import Draws
from bayescm.inference.blocks import OfMatrices, exchanged
from bayescm.inference.labelled import Alike
from bayescm.inference.options import DRAWS
from bayescm.metrics import Metric, check_of_answers, compute, per_label
from bayescm.priors.concentrations import Concentrations, PrevalenceLike, exchange
from bayescm.results.names import CARRIED_BY

Array = NDArray[np.float64]

MODEL, PRIOR = "dirichlet_process", "one unit"
"""What attrs call them."""
_WORK, _LEAST = 20_000_000, 4_000
"""Weights, or cells, that are drawn at most where nobody says how many draws to make, and the least number of draws."""
_BLOCK = 2**21
"""Numbers that are held at a time: 16 MB."""


class Weights(NamedTuple):
    """Some draws of what units weigh.

    Attributes
    ----------
    units : ndarray of shape (n, G)
    prior_unit, prior_item : ndarray of shape (n,)
    prior : ndarray of shape (n, *shape, K, K)
        Shares of the prior unit's cells.
    """

    units: Array
    prior_unit: Array
    prior_item: Array
    prior: Array


@dataclass(frozen=True)
class ByUnit(OfMatrices):
    """Some matrices of the same units.

    Attributes
    ----------
    counts : ndarray of shape (*shape, G, K, K)
    index, prevalence, seed, n
    average : {"items", "units", "fixed_units"}
        Whether a metric is that of all items, or the mean of the units'.
    one_class : bool
        Whether all items are of the last class.
    scored : bool
        Whether these are right in part.
    raters : int
        Of pairs of ratings; 0 of other counts.
    crossed : pair of ndarray of shape (G,), optional
        Which of either kind each is of, where units are pairs of two kinds.
    """

    prevalence: PrevalenceLike
    average: str
    seed: int
    n: int
    one_class: bool = False
    scored: bool = False
    raters: int = 0
    crossed: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None

    def check(self, metrics: Sequence[Metric]) -> None:  # noqa: D102
        if self.scored and (others := [metric.name for metric in metrics if metric.name != MEAN_SCORE]):
            raise ValueError(f"`metric` must be '{MEAN_SCORE}' of scores from 0 to 1; got {others[0]!r}.")
        if self.one_class:
            check_of_answers(metrics)
        if self.raters > 2 and (named := [m.name for m in metrics if m.name.startswith("cohen_kappa")]):
            raise ValueError(
                f"`metrics`: {named[0]} tells two raters apart, and there are {self.raters}: take 'fleiss_kappa', or "
                "the ratings of two."
            )

    def cells(self) -> Array:  # noqa: D102
        with np.errstate(invalid="ignore"):
            return np.asarray(self._elsewhere(self.seen()[None], None)[0])

    def seen(self) -> Array:  # noqa: D102
        return np.asarray(self.counts.sum(-3))

    data = seen

    def pieces(self) -> Iterator[Self]:
        """Give all matrices at once: they share what units weigh."""
        yield self

    def n_items(self) -> Array:  # noqa: D102
        return np.asarray(self.counts.sum((-3, -2, -1)))

    def wrap(self, values: Array) -> Draws:  # noqa: D102
        return Draws(values)

    def _elsewhere(self, theta: Array, rng: np.random.Generator | None) -> Array:
        """Give cells (n, *shape, K, K) the prevalence that is asked about."""
        if self.prevalence is None:
            return theta
        if not isinstance(self.prevalence, str):
            return exchanged(theta, self.prevalence, rng)
        every = Concentrations(np.ones((self.k, self.k)), np.ones(self.k))
        shares = exchange(every, self.prevalence, self.seen().sum(-1)).shares
        return np.asarray(theta / theta.sum(-1, keepdims=True) * (shares / shares.sum(-1, keepdims=True))[..., None])

    def _weights(self, size: int) -> Iterator[Weights]:
        """Give the draws in parts of some; weights are the same for all matrices, whatever the parts."""
        step = max(_BLOCK // max(self.counts.shape[-3], size), 1)
        of_units, of_priors, of_class = (matrix_rng(self.seed, i, Stream.UNITS) for i in range(3))
        own = [matrix_rng(self.seed, 3 + int(i), Stream.UNITS) for i in self.index.flat]
        for start in range(0, self.n, step):
            n = min(step, self.n - start)
            share = np.ones(n) if self.one_class else of_class.random(n)
            prior = np.stack([_prior_cells(rng, share, self.k) for rng in own], 1)
            prior = prior.reshape(n, *self.shape, self.k, self.k)
            prior_unit, prior_item = of_priors.standard_exponential((n, 2)).T
            prior_item = prior_item * (not self.one_class)
            if self.crossed is None:
                units = of_units.standard_exponential((n, self.counts.shape[-3]))
            else:
                first, second = (of_units.standard_exponential((n, one.max() + 1))[:, one] for one in self.crossed)
                units = first * second
            yield Weights(units, prior_unit, prior_item, prior)

    def _for_all(self, weights: Array) -> Array:
        """Return what is the same for all matrices as (n, 1, ...), for cells of the shape of the batch."""
        return weights.reshape(len(weights), *[1] * (self.counts.ndim - 1))

    def _blocks(self) -> Iterator[Array]:
        """Give draws (some, *shape, K, K) of the cells."""
        units = np.moveaxis(self.counts, -3, 0).astype(np.float64)
        flat = units.reshape(len(units), -1)
        tested = (self.counts.sum((-2, -1)) > 0).sum(-1)
        if self.crossed is not None:
            tested = np.minimum(tested, max(one.max() for one in self.crossed) + 1)
        size = (self.n_items() / np.maximum(tested, 1))[..., None, None]
        rng = matrix_rng(self.seed, 0, Stream.SHARES)
        for drawn in self._weights(flat.shape[1]):
            theta = (drawn.units @ flat).reshape(-1, *units.shape[1:])
            theta += (self._for_all(drawn.prior_unit) * size + self._for_all(drawn.prior_item)) * drawn.prior
            theta /= theta.sum((-2, -1), keepdims=True)
            yield self._elsewhere(theta, rng)

    def theta_blocks(self) -> Iterator[Array]:  # noqa: D102
        for theta in self._blocks():
            yield np.moveaxis(theta, 0, -3)

    def draws(self, metrics: Sequence[Metric]) -> list[Array]:  # noqa: D102
        parts = (
            self._of_units(metrics) if self.average == "units" else (compute(metrics, one) for one in self._blocks())
        )
        return [np.moveaxis(np.concatenate(values), 0, -1) for values in zip(*parts, strict=True)]

    def points(self, metrics: Sequence[Metric]) -> list[Array]:  # noqa: D102
        if self.average == "items":
            return compute(metrics, self.cells())
        with np.errstate(invalid="ignore"):
            return [(held.sum(-2) / known.sum(-2))[..., 0] for held, known in self._each_unit(metrics)]

    def _each_unit(self, metrics: Sequence[Metric]) -> list[tuple[Array, Array]]:
        """Return the metrics of every unit, 0 where they are undefined, and whether they are defined.

        Both are (*shape[, K], G, 1): the units come last but one, so that weights multiply them.
        """
        found = []
        for metric, values in zip(metrics, compute(metrics, self.counts), strict=True):
            last = np.moveaxis(values, -2, -1) if per_label(metric, self.k) else values
            known = np.isfinite(last)
            found.append((np.where(known, last, 0.0)[..., None], known.astype(np.float64)[..., None]))
        return found

    def _of_units(self, metrics: Sequence[Metric]) -> Iterator[list[Array]]:
        """Give draws (some, *shape[, class]) of the means of the units' metrics."""
        each = self._each_unit(metrics)
        for drawn in self._weights(max(values.size for values, _ in each) // max(self.counts.shape[-3], 1)):
            means = []
            for (values, known), prior in zip(each, compute(metrics, drawn.prior), strict=True):
                weight = drawn.prior_unit.reshape(-1, *[1] * (prior.ndim - 1))
                sums = [np.moveaxis((drawn.units @ one)[..., 0], -1, 0) for one in (values, known)]
                means.append((sums[0] + weight * prior) / (sums[1] + weight))
            yield means


def _prior_cells(rng: np.random.Generator, share: Array, k: int) -> Array:
    """Draw shares (n, K, K) of a unit's cells, of two classes with so many of the second."""
    n = len(share)
    if k == 2:
        classes, right = np.stack([1.0 - share, share], -1), rng.beta(0.5, 0.5, (n, 2))
    else:
        classes, right = np.full((n, k), 1.0 / k), np.repeat(rng.beta(0.5, 0.5, (n, 1)), k, 1)
    cells = np.repeat((classes * (1.0 - right) / (k - 1))[..., None], k, -1)
    cells[:, np.arange(k), np.arange(k)] = classes * right
    return cells


@dataclass(frozen=True)
class OfUnits(Alike):
    """The posterior of counts by unit."""

    words: ClassVar[str] = "of units that were sampled whole"


def of_units(
    counts: xr.DataArray,
    prevalence: PrevalenceLike,
    average: str,
    n: int | None,
    seed: int,
    kind: type[ByUnit] = ByUnit,
) -> OfUnits:
    """Return the posterior, of a kind, of counts ``(..., unit, actual, predicted)``, which may be lazy."""
    labels, unit = tuple(labels_of(counts)), str(counts.dims[-3])
    if check_average(average) != "items" and prevalence is not None:
        raise ValueError(f"`prevalence` is for all items, and average={average!r} the mean over units; leave one out.")
    one_class, units = ONE_CLASS in counts.attrs, counts.sizes[unit]
    raters = int(counts.attrs.get(RATERS, 0))
    if raters and prevalence is not None:
        raise ValueError("`prevalence` is of the true classes, which raters don't tell; leave it out.")
    if (crossed := margins(unit, counts[unit].values)) is not None and average != "items":
        raise ValueError(f"`average`={average!r} has two meanings of crossed units; leave it out.")
    if n is None:
        n = int(np.clip(_WORK // max(units, counts.size // max(units, 1)), _LEAST, DRAWS))

    def block(values: NDArray[Any], index: NDArray[np.int64]) -> ByUnit:
        of = prevalence, average, seed, n, one_class, is_scored(counts), raters, crossed
        return kind(_checked(values), np.asarray(index), *of)

    settings = {
        "model": MODEL, "prior": PRIOR, "prevalence": prevalence, "draws": n, UNIT: unit, "units": units,
        "average": average, **({ONE_CLASS: counts.attrs[ONE_CLASS]} if one_class else positive_class(counts)),
        **({RATERS: raters} if raters else {}),
        **{name: counts.attrs[name] for name in (ASKS,) if name in counts.attrs},
        "assumptions": assumed(prevalence, *([KNOWN_WEIGHTS] if COUNT_AS in counts.attrs else []),
                               items=independent(plural(unit))),
    }  # fmt: skip
    settings |= {ASKS: counts.attrs[ASKS]} if ASKS in counts.attrs else {}
    if average == "fixed_units":
        settings |= {
            "model": "beta_binomial", "prior": "learned",
            "assumptions": assumed(items=f"independent items of each {unit}; {plural(unit)} that are no sample"),
        }  # fmt: skip
    if counts.chunks is None:
        settings[SAMPLED], notes = described(counts, average)
        settings |= {CARRIED_BY: "; ".join(notes)} if notes else {}
        if unit != ITEM and not raters and not is_scored(counts):
            alike = icc(counts.values.reshape(-1, *counts.shape[-3:]))
            settings["icc"] = alike.item() if alike.size == 1 else alike.tolist()
    some = block(np.ones((1, len(labels), len(labels))), np.asarray(0))
    return OfUnits(labels, settings, counts.drop_vars(unit, errors="ignore"), block, some, (unit, *MATRIX))


def refuse_models(model: Any, prior: Any, **options: Any) -> None:
    """Refuse what doesn't apply to units."""
    if prior not in (None, "jeffreys") or model != "dirichlet_multinomial" or options:
        raise ValueError("`prior`, `model` and options of models don't apply to units, whose prior is one unit.")


def of_units_alone(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attrs that tell of units, and what is assumed of them."""
    kept = (UNIT, "units", "average", SAMPLED, CARRIED_BY, ASKS, "assumptions")
    return {name: settings[name] for name in kept if name in settings}


def _checked(values: NDArray[Any]) -> Array:
    """Return counts; those of several runs of an item are shares."""
    whole = values.dtype.kind in "iu" or np.array_equal(values, np.round(values))
    return np.asarray(validate.count_values("counts", values) if whole else values, np.float64)
