"""The posterior of right and wrong answers alone: Betas of the accuracy and of the error rate."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.assumptions import assumed
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import ONE_CLASS, SYSTEM
from bayescm.distributions import Beta, Distribution
from bayescm.inference.blocks import Block
from bayescm.inference.labelled import Alike
from bayescm.metrics import Metric, check_of_answers, compute
from bayescm.priors.concentrations import PrevalenceLike, PriorLike, pair

Array = NDArray[np.float64]

ANSWERS = ("correct", "wrong")
_ANSWER, _MODEL = "answer", "dirichlet_multinomial"


@dataclass(frozen=True)
class Right(Block):
    """How many items each of some systems got right and wrong, as a matrix with one class.

    Attributes
    ----------
    counts : ndarray of shape (*shape, 2)
        Right, then wrong.
    index : ndarray of shape (*shape,)
        Running numbers, which seed the draws of a single one.
    prior : ndarray of shape (2,)
    seed, n : int
    """

    counts: NDArray[np.int64]
    index: NDArray[np.int64]
    prior: Array
    seed: int
    n: int
    k: int = 2

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]  # noqa: D102
        return self.counts.shape[:-1]

    def check(self, metrics: Sequence[Metric]) -> None:  # noqa: D102
        check_of_answers(metrics)
        if (self.counts + self.prior <= 0.0).any():
            raise ValueError(
                "`prior` leaves the posterior improper: a system has no right or no wrong answers and a concentration "
                "of 0. Take prior='jeffreys'."
            )

    def cells(self) -> Array:  # noqa: D102
        right, wrong = np.moveaxis(self.counts, -1, 0)
        return _of_one_class(right, wrong)

    def _beta(self, metric: Metric, prior: Array) -> Beta:
        right, wrong = np.moveaxis(self.counts + prior, -1, 0)
        return Beta(wrong, right) if metric.loss else Beta(right, wrong)

    def exact(self, metric: Metric) -> Distribution | None:  # noqa: D102
        return self._beta(metric, self.prior)

    def evidence(self, metric: Metric) -> Beta | None:  # noqa: D102
        return self._beta(metric, np.zeros(2))

    def independent(self, metric: Metric) -> bool:  # noqa: D102
        return True

    def data(self) -> NDArray[np.int64]:  # noqa: D102
        return self.counts

    def seen(self) -> Array:  # noqa: D102
        return self.cells()

    def singles(self) -> Iterator["Right"]:  # noqa: D102
        for place in np.ndindex(self.shape):
            yield replace(self, counts=self.counts[place], index=self.index[place])

    def theta_blocks(self) -> Iterator[Array]:  # noqa: D102
        right, wrong = np.moveaxis(self.counts + self.prior, -1, 0)
        which = 1 if self.shape else 1 + int(self.index)
        drawn = matrix_rng(self.seed, which, Stream.RANKS).beta(right, wrong, (self.n, *self.shape))
        yield np.moveaxis(_of_one_class(drawn, 1.0 - drawn), 0, -3)

    def draws(self, metrics: Sequence[Metric]) -> list[Array]:  # noqa: D102
        (theta,) = self.theta_blocks()
        return compute(metrics, theta)


def _of_one_class(right: NDArray[np.generic], wrong: NDArray[np.generic]) -> Array:
    """Return matrices (..., 2, 2) of which all items are positive."""
    none = np.zeros(np.shape(right))
    return np.stack([np.stack([none, none], -1), np.stack([wrong, right], -1)], -2).astype(np.float64)


def of_right(data: xr.Dataset, model: Any, prior: PriorLike, prevalence: PrevalenceLike, n: int, seed: int) -> Alike:
    """Return the posterior of ``correct(system)`` and ``wrong(system)``."""
    if prevalence is not None or model != _MODEL:
        raise ValueError(
            "`prevalence` and `model` don't apply to right and wrong answers, which don't say of which class the items "
            "were; leave them out."
        )
    if any(name not in data or data[name].dims != (SYSTEM,) for name in ANSWERS):
        raise ValueError(
            f"`counts` as a Dataset must have the variables correct(system) and wrong(system), or those of "
            f"bayescm.predictions; got { {str(key): v.dims for key, v in data.data_vars.items()} }."
        )
    checked = data[list(ANSWERS)].map(lambda one: one.copy(data=validate.count_values(str(one.name), one.values)))
    counts = checked.to_dataarray(_ANSWER).transpose(..., _ANSWER).drop_vars(_ANSWER)
    weights = pair("prior", prior)

    def block(values: NDArray[np.int64], index: NDArray[np.int64]) -> Right:
        return Right(values, index, weights, seed, n)

    settings = {"model": _MODEL, "prior": prior, "assumptions": assumed(), ONE_CLASS: 1}
    return Alike((0, 1), settings, counts, block, block(np.ones(2, np.int64), np.asarray(0)), (_ANSWER,))
