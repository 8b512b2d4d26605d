"""The posteriors that are concentrations of every matrix: exact where a distribution is known, else by draws."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm import distributions
from bayescm.data import validate
from bayescm.data.assumptions import assumed
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import as_read, labels_of
from bayescm.distributions import Beta, Distribution, dirichlet
from bayescm.distributions.integral import form_of
from bayescm.distributions.protocol import Side
from bayescm.distributions.sample import Each
from bayescm.distributions.several import LEAST_OF_ALL
from bayescm.inference import averages
from bayescm.inference.blocks import OfMatrices, Part, exchanged
from bayescm.inference.labelled import Alike
from bayescm.metrics import Metric, compute, of_one_class
from bayescm.models.cell_draws import shared
from bayescm.priors.concentrations import Concentrations, PrevalenceLike, PriorLike, concentrations
from bayescm.results.names import CARRIED_BY, few_items, is_mean_of_classes, moved, of_empty_classes
from bayescm.results.writing import listed

Array = NDArray[np.float64]

_NOTED, _NOTED_CELLS, _LEAST_NOTED = 4_000, 10**7, 1_000
"""Draws of a note, of at most so many cells but at least so many draws: its ends err by .01 to .03 of their width."""


@dataclass(frozen=True)
class Conjugate(OfMatrices):
    """Some matrices, their prior and the prevalence that is asked about.

    Attributes
    ----------
    prior : Concentrations
    prevalence, labels, seed, n
    """

    prior: Concentrations
    prevalence: PrevalenceLike
    labels: Sequence[Any]
    seed: int
    n: int

    @cached_property
    def which(self) -> Concentrations:  # type: ignore[override]
        """The posterior."""
        return dirichlet.posterior(self.counts, self.prior, self.prevalence)

    def check(self, metrics: Sequence[Metric]) -> None:  # noqa: D102
        dirichlet.check_proper(self.which, self.labels, metrics)

    def cells(self) -> Array:  # noqa: D102
        return dirichlet.plug_in(self.counts, self.which, self.prevalence)

    def points(self, metrics: Sequence[Metric]) -> list[Array]:  # noqa: D102
        found = compute(metrics, self.cells())
        for i, metric in enumerate(metrics if self.prevalence is not None else ()):
            if distributions.is_prevalence(metric):  # also where a class has no items
                dist = self.known(metric)
                found[i] = np.broadcast_to(np.nan if dist is None else dist.mean(), found[i].shape)
        return found

    @cached_property
    def _faint(self) -> Concentrations | None:
        """The prior, where it is so small that it leaves metrics to draws."""
        every = np.concatenate([self.prior.rows.ravel(), self.prior.shares.ravel()])
        return self.prior if ((every > 0.0) & (every < LEAST_OF_ALL)).any() else None

    def exact(self, metric: Metric) -> Distribution | None:  # noqa: D102
        return distributions.exact_distribution(metric, self.which, self._faint)

    def numerical(self, metric: Metric) -> Distribution | None:  # noqa: D102
        if self.k > 2:
            return None
        from bayescm.distributions.numeric import numeric_distribution  # scipy.optimize takes a while to import

        rows, shares = (np.where(part > 0.0, part, 1.0) for part in (self.prior.rows, self.prior.shares))
        least = replace(self.which, rows=rows, shares=self.which.shares if self.which.known else shares)
        if numeric_distribution(metric, least) is None:  # as for every matrix
            return None
        return numeric_distribution(metric, self.which)

    def joins(self, metrics: Sequence[Metric]) -> bool:  # noqa: D102
        return self.k == 2 and all(form_of(metric) is not None for metric in metrics)

    def together(self, parts: Sequence[Part]) -> Side:  # noqa: D102
        metrics, signs, numbers = zip(*parts, strict=True)
        dists = [self.known(metric) for metric in metrics]
        if _apart(metrics) and all(isinstance(dist, Beta) for dist in dists):
            sides = [dist.side(number, sign) for dist, sign, number in zip(dists, signs, numbers, strict=True) if dist]
            chances, errors, _ = zip(*sides, strict=True)
            return Side(np.prod(chances, 0), np.sum(errors, 0), np.zeros(self.shape))
        above = np.array([sign[0] == ">" for sign in signs])
        found, error = distributions.joint_probability(metrics, np.array(numbers), above, self.which)
        return Side(found, error, np.zeros(np.shape(found)))

    def theta_blocks(self) -> Iterator[Array]:  # noqa: D102
        theta = dirichlet.draw_batch(self.which, self.index, 1, self.n, self.seed, Stream.POSTERIOR)
        yield theta[..., 0, :, :, :]

    def knows_shares(self, axis: tuple[int, ...]) -> bool:  # noqa: D102
        return axis == (-1,) or self.which.one_dirichlet

    def shares(self, axis: tuple[int, ...]) -> Distribution:  # noqa: D102
        if not self.knows_shares(axis):
            return super().shares(axis)
        a, others = self.which.rows, 1.0 - np.eye(self.k)
        if len(axis) == 1:
            return Beta(a, np.asarray(a @ others if axis == (-1,) else others @ a))
        return Beta(a, (a.reshape(*self.shape, -1) @ (1.0 - np.eye(self.k**2))).reshape(a.shape))

    def independent(self, metric: Metric) -> bool:  # noqa: D102
        return not shared(self.prevalence, self.prior) or of_one_class(metric, self.k)

    def evidence(self, metric: Metric) -> Beta | None:  # noqa: D102
        if self.prevalence is not None and distributions.is_prevalence(metric):
            return None
        nothing = replace(self.prior, rows=np.zeros_like(self.prior.rows), shares=np.zeros_like(self.prior.shares))
        found = distributions.exact_distribution(metric, dirichlet.posterior(self.counts, nothing, self.prevalence))
        return found if isinstance(found, Beta) else None

    def order(self, metric: Metric) -> Any:  # noqa: D102
        return averages.infinite_moment(metric, self.which.rows)

    def draws(self, metrics: Sequence[Metric]) -> list[Array]:  # noqa: D102
        if self.shape and shared(self.prevalence, self.prior):  # one prevalence for all matrices of a draw
            which = replace(self, prevalence=None).which
            theta = dirichlet.draw_batch(which, self.index, 1, self.n, self.seed, Stream.POSTERIOR)
            rng = matrix_rng(self.seed, 0, Stream.SHARES)
            moved = exchanged(np.moveaxis(theta[..., 0, :, :, :], -3, 0), self.prevalence, rng)
            return [np.moveaxis(values, 0, -1) for values in compute(metrics, moved)]
        each = [
            averages.draws_of(metrics, one.which, matrix_rng(self.seed, int(one.index), Stream.POSTERIOR), self.n)
            for one in self.singles()
        ]
        stacked = (
            np.stack([np.moveaxis(values, 0, -1) for values in of_metric]) for of_metric in zip(*each, strict=True)
        )
        return [values.reshape(*self.shape, *values.shape[1:]) for values in stacked]

    def drawn(self, metrics: Sequence[Metric]) -> dict[str, Distribution]:  # noqa: D102
        each = [averages.drawn(metrics, one.which, self.seed, int(one.index), self.n) for one in self.singles()]
        if not self.shape:
            return each[0]
        return {metric.name: Each(tuple(found[metric.name] for found in each), self.shape) for metric in metrics}


def _apart(metrics: Sequence[Metric]) -> bool:
    """Say whether metrics are shares of cells which no two of them have in common: then they are independent."""
    cells = [cell for metric in metrics for group in metric.ratio or ((), ()) for cell in group]
    return None not in [metric.ratio for metric in metrics] and len(cells) == len(set(cells))


@dataclass(frozen=True)
class OfCounts(Alike):
    """The posterior of counts."""

    def counts(self, question: str) -> xr.DataArray:  # noqa: D102
        return self.data

    def notes(self, metrics: Sequence[Metric], ci_prob: float) -> dict[str, Any]:
        """Name classes without items, and averages of which a Beta is integrated out."""
        assert isinstance(self.some, Conjugate)
        drawn = [metric for metric, known in zip(metrics, self.typical.are_known(metrics), strict=True) if not known]
        integrated = averages.integrated(drawn, self.some.which) if drawn else []
        found: dict[str, Any] = of_empty_classes(metrics, self.data)
        means = [metric for metric in metrics if is_mean_of_classes(metric)]
        by = moved(metrics, self.some.prior.rows, self.data)
        if which := few_items(metrics, self.data, least=1):  # of classes without items the attr before tells
            found[CARRIED_BY] = f"{which}, so the prior tells much of {_names(means)}; {self._learned(means, ci_prob)}"
        elif by:
            far = f"{'up to ' * (len(by) > 1)}{max(by.values()):.1f} standard deviations"
            found[CARRIED_BY] = f"the prior moves {_names(list(by))} by {far}; {self._learned(list(by), ci_prob)}"
        elif few_items(metrics, self.data) and self.data.any():
            found[CARRIED_BY] = self._learned(means, ci_prob)
        return found | ({averages.INTEGRATED: ", ".join(integrated)} if integrated else {})

    def _learned(self, metrics: Sequence[Metric], ci_prob: float) -> str:
        """Say what the first of some metrics are under the prior that is learned across classes."""
        from bayescm.inference.learned import of_learned, said  # which build on this module

        assert isinstance(self.some, Conjugate)
        n = max(min(_NOTED, _NOTED_CELLS // self.some.which.rows.size), _LEAST_NOTED)
        posterior = of_learned(self.data, self.some.prevalence, n, self.some.seed)
        return f"with prior='learned', from the other classes, {said(posterior.typical, metrics[:2], ci_prob)}"


def _names(metrics: Sequence[Metric]) -> str:
    return listed([metric.alias or metric.name for metric in metrics])


def of_counts(
    counts: xr.DataArray, model: str, prior: PriorLike, prevalence: PrevalenceLike, n: int, seed: int
) -> OfCounts:
    """Return the posterior of checked counts, which may be lazy."""
    labels = tuple(labels_of(counts))
    base = concentrations(prior, model, labels)

    def block(values: NDArray[Any], index: NDArray[np.int64]) -> Conjugate:
        return Conjugate(validate.count_values("counts", values), index, base, prevalence, labels, seed, n)

    settings = {
        "model": model, "prior": prior, "prevalence": prevalence, "assumptions": assumed(prevalence), **as_read(counts)
    }  # fmt: skip
    some = block(np.ones((len(labels),) * 2, np.int64), np.asarray(0))
    return OfCounts(labels, settings, counts, block, some)
