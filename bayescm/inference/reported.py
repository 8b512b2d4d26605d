"""The posterior of a matrix of which only metrics were printed: a mixture of those of every matrix that has them.

Before they are seen matrices are Dirichlet-multinomial, so each weighs its probability: the prior that weighs is the
prior of the cells.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import special

from bayescm.data.assumptions import PRINTED, assumed
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import ACTUAL, MATRIX, POSSIBLE, STANDS_FOR, SYSTEM, positive_class
from bayescm.data.shapes import refuse_impossible
from bayescm.distributions import Beta, Distribution, Point
from bayescm.distributions.dirichlet import improper
from bayescm.distributions.mixed import Mixed
from bayescm.inference.blocks import Block
from bayescm.inference.conjugate import Conjugate
from bayescm.inference.labelled import Separate
from bayescm.metrics import Metric, compute
from bayescm.priors.concentrations import PrevalenceLike, PriorLike, concentrations
from bayescm.priors.possible import log_weight
from bayescm.results.names import CARRIED_BY

Array = NDArray[np.float64]

_EACH = 16  # matrices of which metrics that are integrals are worked out one by one
_BLOCK = 2**18


@dataclass(frozen=True)
class Reported(Block):
    """One report.

    Attributes
    ----------
    each : Conjugate
        The posterior of every matrix, over (M,).
    weight : ndarray of shape (M,)
    index : int
    shape : tuple
    """

    each: Conjugate
    weight: Array
    index: int
    shape: tuple[int, ...] = ()

    @property
    def k(self) -> int:  # type: ignore[override]  # noqa: D102
        return self.each.k

    @property
    def n(self) -> int:  # type: ignore[override]  # noqa: D102
        return self.each.n

    @property
    def seed(self) -> int:  # type: ignore[override]  # noqa: D102
        return self.each.seed

    def check(self, metrics: Sequence[Metric]) -> None:  # noqa: D102
        self.each.check(metrics)

    def cells(self) -> Array:  # noqa: D102
        return np.asarray(np.tensordot(self.weight, np.nan_to_num(self.each.cells()), 1))

    def points(self, metrics: Sequence[Metric]) -> list[Array]:
        """Return the means of the metrics of the matrices themselves, of those that have a value."""
        found = []
        for values in self.each.points(metrics):
            known = np.isfinite(values)
            mean = np.where(known, values, 0.0) @ self.weight / self.weight[known].sum() if known.any() else np.nan
            found.append(np.asarray(mean))
        return found

    def seen(self) -> Array:  # noqa: D102
        return np.asarray(np.tensordot(self.weight, self.each.counts, 1))

    def data(self) -> NDArray[Any]:  # noqa: D102
        return np.concatenate([self.weight, self.each.counts.ravel()])

    def n_items(self) -> Array:  # noqa: D102
        return np.asarray(self.each.counts[0].sum(), np.float64)

    def singles(self) -> Iterator["Reported"]:  # noqa: D102
        yield self

    def exact(self, metric: Metric) -> Distribution | None:  # noqa: D102
        dist = self.each.known(metric)
        if dist is None or isinstance(dist, Point):
            return dist
        if not isinstance(dist, Beta) and len(self.weight) > _EACH:
            return None
        return Mixed.of(dist, self.weight)

    def independent(self, metric: Metric) -> bool:  # noqa: D102
        return self.each.independent(metric)

    def order(self, metric: Metric) -> Any:  # noqa: D102
        return np.min(self.each.order(metric))

    @cached_property
    def _whose(self) -> NDArray[np.intp]:
        """Of which matrix each draw is."""
        rng = matrix_rng(self.seed, self.index, Stream.REPORTED)
        ends = np.cumsum(self.weight)
        at = (rng.permutation(self.n) + rng.random(self.n)) / self.n
        return np.asarray(np.minimum(np.searchsorted(ends, at * ends[-1]), len(ends) - 1))

    def theta_blocks(self) -> Iterator[Array]:  # noqa: D102
        rng, which = matrix_rng(self.seed, self.index, Stream.POSTERIOR), self.each.which
        for start in range(0, self.n, _BLOCK):
            some = self._whose[start : start + _BLOCK]
            rows = rng.standard_gamma(which.rows[some])
            shares = np.broadcast_to(which.shares, which.rows.shape[:-1])[some]
            drawn = shares if which.known else rng.standard_gamma(shares)
            drawn = drawn / drawn.sum(-1, keepdims=True)
            yield rows / rows.sum(-1, keepdims=True) * drawn[..., None]

    def draws(self, metrics: Sequence[Metric]) -> list[Array]:  # noqa: D102
        values = [compute(metrics, theta) for theta in self.theta_blocks()]
        return [np.concatenate(parts) for parts in zip(*values, strict=True)]


@dataclass(frozen=True)
class OfReports(Separate):
    """The posteriors of reports."""

    words: ClassVar[str] = "printed metrics, which leave several matrices"


def of_reported(
    reports: Mapping[str, xr.Dataset] | xr.Dataset, model: str, prior: PriorLike, prevalence: PrevalenceLike, n: int,
    seed: int,
) -> OfReports:  # fmt: skip
    """Return the posterior of a report, or of those of several systems."""
    each = [reports] if isinstance(reports, xr.Dataset) else list(reports.values())
    labels = [tuple(one[ACTUAL].values.tolist()) for one in each]
    if len(set(labels)) > 1:
        raise ValueError("`counts` must be reports with the same labels in the same order.")
    blocks = np.empty(len(each), object)
    blocks[:] = [_block(one, model, prior, prevalence, n, seed, i) for i, one in enumerate(each)]
    several = not isinstance(reports, xr.Dataset)
    over = (
        xr.DataArray(np.zeros(len(each)), dims=SYSTEM, coords={SYSTEM: list(reports)}) if several else xr.DataArray(0.0)
    )
    matches = " and ".join(f"{float(one['matches']):,.0f}" for one in each)
    settings = {
        "model": model, "prior": prior, "prevalence": prevalence, **positive_class(each[0]["counts"]),
        "assumptions": assumed(prevalence, PRINTED),
        CARRIED_BY: f"printed numbers, which {matches} matrices have, weighed by the prior",
    }  # fmt: skip
    return OfReports(labels[0], settings, blocks if several else blocks.reshape(()), over)


def _block(
    report: xr.Dataset, model: str, prior: PriorLike, prevalence: PrevalenceLike, n: int, seed: int, index: int
) -> Reported:
    """Return the posterior of one report."""
    refuse_impossible(report)
    counts, stands_for = report["counts"].transpose(POSSIBLE, *MATRIX).values, report[STANDS_FOR].values
    base = concentrations(prior, model, report[ACTUAL].values.tolist())
    if improper(base) is not None:
        raise ValueError("`prior` must be proper to weigh the matrices behind printed metrics; take prior='jeffreys'.")
    fixed = isinstance(prevalence, str)
    log = np.log(stands_for) + log_weight(counts.reshape(-1, 4), base, fixed=fixed)
    every = np.arange(len(counts))
    each = Conjugate(counts, every, base, prevalence, report[ACTUAL].values.tolist(), seed, n)
    return Reported(each, special.softmax(log), index)
