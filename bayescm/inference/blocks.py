"""What every posterior can be asked for: points, distributions, draws and the chance of claims, on plain numbers.

A question is written once, over :class:`Block`; how much of an answer is exact is decided here, by one rule: where a
distribution is known and right enough it answers, else draws do.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.distributions import Beta, Distribution, Point, dirichlet, statistics_of
from bayescm.distributions.protocol import Side, holds
from bayescm.distributions.sample import Draws, Each
from bayescm.distributions.tabulated import DOUBTFUL
from bayescm.metrics import Metric, compute, per_label
from bayescm.priors.concentrations import Concentrations, PrevalenceLike, exchange

Array = NDArray[np.float64]
Part = tuple[Metric, str, float]
"""A metric, how it compares (">", ">=", "<" or "<="), and with what number; of Betas with one for each matrix, too."""


class Block(ABC):
    """The posteriors of some matrices, as plain numbers: their batch comes first, draws last.

    Attributes
    ----------
    k : int
        Number of classes.
    shape : tuple of int
        Of the batch.
    n : int
        Draws that are made where no distribution is known.
    index : ndarray of shape (*shape,)
        Running numbers, which seed the draws.
    seed : int
    """

    k: int
    shape: tuple[int, ...]
    n: int
    index: Any
    seed: int
    which: Concentrations | None = None
    """The concentrations of a posterior of that kind."""
    closed: ClassVar[str] = "exact"
    """What answers without draws are: "exact", or "numerical" where they are close to the posterior's own."""

    @abstractmethod
    def cells(self) -> Array:
        """Return the cells (*shape, K, K) whose metrics are the points."""

    @abstractmethod
    def seen(self) -> NDArray[Any]:
        """Return the counts (*shape, K, K) of the items whose truth is known; NaN where these aren't."""

    @abstractmethod
    def singles(self) -> Iterator["Block"]:
        """Give each matrix by itself."""

    @abstractmethod
    def theta_blocks(self) -> Iterator[Array]:
        """Give draws of the cells (*shape, some, K, K), `n` in all."""

    def knows_shares(self, axis: tuple[int, ...]) -> bool:
        """Say whether no draws are needed for the shares of cells in the cells along axes."""
        return False

    def shares(self, axis: tuple[int, ...]) -> Distribution:
        """Return the distribution (*shape, K, K) of each of these shares."""
        drawn = [theta / theta.sum(axis, keepdims=True) for theta in self.theta_blocks()]
        return self.wrap(np.moveaxis(np.concatenate(drawn, -3), -3, -1))

    @abstractmethod
    def draws(self, metrics: Sequence[Metric]) -> list[Array]:
        """Return draws (*shape[, class], n) of metrics, all of the same draws of the cells."""

    def check(self, metrics: Sequence[Metric]) -> None:  # noqa: B027
        """Raise a ValueError where the posterior is improper."""

    def points(self, metrics: Sequence[Metric]) -> list[Array]:
        """Return the metrics (*shape[, class]) of the data themselves."""
        return compute(metrics, self.cells())

    def exact(self, metric: Metric) -> Distribution | None:
        """Return the exact distribution of a metric, or None where it isn't known."""
        return None

    def numerical(self, metric: Metric) -> Distribution | None:
        """Return the distribution of a metric without an exact one, found from its function alone."""
        return None

    @cached_property
    def _exact(self) -> dict[str, Distribution | None]:
        return {}

    def known(self, metric: Metric, *, numerical: bool = False) -> Distribution | None:
        """Return the exact distribution of a metric, worked out once, else on request the numerical one."""
        if metric.name not in self._exact:
            self._exact[metric.name] = self.exact(metric)
        found = self._exact[metric.name]
        return self.numerical(metric) if found is None and numerical else found

    @cached_property
    def _answers(self) -> dict[str, Distribution]:
        return {}

    def method(self, metric: Metric) -> str:
        """Say how the distribution of a metric is found: "exact", "numerical" (from its function) or "draws"."""
        if self.known(metric) is not None:
            return self.closed
        return "draws" if self.known(metric, numerical=True) is None else "numerical"

    def answer(self, metric: Metric) -> Distribution:
        """Return the distribution of a metric, in the best way that there is, worked out once."""
        if metric.name not in self._answers:
            dist = self.known(metric, numerical=True)
            self._answers[metric.name] = _stated(metric.name, dist or self.drawn([metric])[metric.name])
        return self._answers[metric.name]

    def are_known(self, metrics: Sequence[Metric]) -> list[bool]:
        """Say of which metrics the exact distribution is known."""
        return [self.known(metric) is not None for metric in metrics]

    def joins(self, metrics: Sequence[Metric]) -> bool:
        """Say whether the probability that claims about these hold together is known exactly."""
        return False

    def together(self, parts: Sequence[Part]) -> Side:
        """Return that probability."""
        raise NotImplementedError

    def linear(self, metric: Metric) -> Distribution | None:
        """Return the exact distribution as a sum of Betas where it is one, of which differences are sums too."""
        return self.known(metric)

    def independent(self, metric: Metric) -> bool:
        """Say whether the metric of one matrix of the batch tells nothing of another's."""
        return False

    def n_items(self) -> Array:
        """Return of how many items (*shape) each matrix is; NaN where it isn't known."""
        return np.asarray(self.cells().sum((-2, -1)))

    def difference(self, metric: Metric) -> Distribution | None:
        """Return the exact distribution of the first's metric less the second's, of two that aren't independent."""
        return None

    def evidence(self, metric: Metric) -> Beta | None:
        """Return the Beta that the data make with a prior of no weight; None where a metric isn't one's."""
        return None

    def data(self) -> NDArray[Any]:
        """Return what was observed (*shape, ...): posteriors of the same data are exchangeable."""
        return np.arange(math.prod(self.shape)).reshape(self.shape)

    def order(self, metric: Metric) -> Any:
        """Return the order (*shape[, class]) from which on moments of a metric are infinite."""
        return np.inf

    def wrap(self, values: Array) -> Draws:
        """Return the distribution that draws (..., n) are, such as those of a difference."""
        return Draws(values)

    def drawn(self, metrics: Sequence[Metric]) -> dict[str, Distribution]:
        """Return distributions of metrics by draws."""
        values = zip(metrics, self.draws(metrics), strict=True)
        return {metric.name: replace(self.wrap(one), order=self.order(metric)) for metric, one in values}

    def pieces(self) -> Iterator["Block"]:
        """Give the block in parts of which each is drawn at once: itself, or each of its matrices."""
        yield self

    def statistics(self, metrics: Sequence[Metric], prob: float, kind: str) -> dict[str, dict[str, Any]]:
        """Return the statistics (*shape[, class]) of metrics: see :meth:`Distribution.statistics`."""
        known = {metric.name: dist for metric in metrics if (dist := self.known(metric)) is not None}
        for name, dist in known.items():
            if not dist.has_density:
                dist.warn_undefined(name)
        found = statistics_of(known, prob, kind)
        rough = {name for name, one in found.items() if np.any(one.get("error", 0.0) > DOUBTFUL)}
        doubtful = [metric for metric in metrics if metric.name in rough and known[metric.name].worst > 0.0]
        drawn = self._by_draws([metric for metric in metrics if metric.name not in known] + doubtful, prob, kind)
        for name in (metric.name for metric in doubtful):
            bad = np.asarray(found[name]["error"] > DOUBTFUL)
            validate.warn(
                f"the exact distribution of {name} is right to {np.nanmax(found[name]['error']):.0%} of a tail's "
                f"probability only, where a class of a few items weighs more than classes of many: {int(bad.sum())} of "
                f"{bad.size} answered by {self.n} draws (`mcse_interval`; `error` is NaN)."
            )
            drawn[name] = {key: np.where(bad, v, found[name].get(key, 0.0)) for key, v in drawn[name].items()}
        return found | drawn

    def _by_draws(self, metrics: Sequence[Metric], prob: float, kind: str) -> dict[str, dict[str, Any]]:
        """Return statistics by draws, of which only those of one piece are held at once."""
        rows = [
            {name: _stated(name, dist).statistics(prob, kind) for name, dist in piece.drawn(metrics).items()}
            for piece in (self.pieces() if metrics else ())
        ]
        return {
            name: {key: _joined([row[name][key] for row in rows], self.shape) for key in of_one}
            for name, of_one in (rows[0].items() if rows else ())
        }

    def is_exact(self, parts: Sequence[Part]) -> bool:
        """Say whether claims that must hold together are answered without draws, by the kind of posterior alone."""
        dists = [self.known(metric, numerical=True) for metric, _, _ in parts]
        unknown = [part[0] for part, dist in zip(parts, dists, strict=True) if not isinstance(dist, Point)]
        return None not in dists and (len(unknown) < 2 or self.joins(unknown))

    def chance(self, parts: Sequence[Part]) -> Side:
        """Return the probability (*shape[, class]) that all parts hold together.

        Of draws it lies between the bounds that the exact probabilities of the parts leave.
        """
        several = any(per_label(metric, self.k) for metric, _, _ in parts)
        shape = (*self.shape, self.k) if several else self.shape
        dists = [self.known(metric, numerical=True) for metric, _, _ in parts]
        points = [isinstance(dist, Point) for dist in dists]
        rest = [part for part, point in zip(parts, points, strict=True) if not point]
        found = Side(np.ones(shape), np.zeros(shape), np.zeros(shape))
        if len(rest) == 1:
            found = self._alone(*rest[0], dists[points.index(False)])
        elif rest and None not in dists and self.joins([metric for metric, _, _ in rest]):
            found = self.together(rest)
        elif rest:
            found = self._bounded(self._jointly(rest), rest, shape)
        found = Side(*(self._over(part, shape) for part in found))
        for dist, (_, sign, number) in zip(dists, parts, strict=True):
            if isinstance(dist, Point):
                held = self._over(dist.side(number, sign).probability, shape) > 0.0
                found = Side(*(np.where(held, part, 0.0) for part in found))
        return found

    def _over(self, values: Any, shape: tuple[int, ...]) -> Array:
        """Return values of matrices, or of their classes, over a shape that may have classes."""
        values = np.asarray(values)
        return np.broadcast_to(values[..., None] if values.ndim < len(shape) and values.ndim else values, shape)

    def _alone(self, metric: Metric, sign: str, number: float, dist: Distribution | None) -> Side:
        """Return the probability of one claim: by its distribution where that is right enough."""
        if dist is None:
            return self._by_side_of_draws(metric, sign, number)
        dist.warn_undefined(metric.name)
        found = dist.side(number, sign)
        least = np.minimum(found.probability, 1.0 - found.probability)
        bad = (dist.worst > 0.0) & (found.error * least > DOUBTFUL * np.maximum(least, 1.0 / self.n))
        if not np.any(bad):
            return found
        validate.warn(
            f"the exact distribution of {metric.name} isn't right enough for {int(np.sum(bad))} of {np.size(bad)} "
            f"probabilities: answered by {self.n} draws."
        )
        drawn = self._by_side_of_draws(metric, sign, number)
        return Side(*(np.where(bad, new, old) for new, old in zip(drawn, found, strict=True)))

    def _by_side_of_draws(self, metric: Metric, sign: str, number: float) -> Side:
        sides = [_stated(metric.name, piece.drawn([metric])[metric.name]).side(number, sign) for piece in self.pieces()]
        return Side(*(_joined(part, self.shape) for part in zip(*sides, strict=True)))

    def _jointly(self, parts: Sequence[Part]) -> Side:
        """Return the share of draws for which all parts hold."""
        several = any(per_label(metric, self.k) for metric, _, _ in parts)
        sides = []
        for piece in self.pieces():
            held: list[NDArray[np.bool_]] = []
            for values, (metric, sign, number) in zip(piece.draws([m for m, _, _ in parts]), parts, strict=True):
                Draws(values).warn_undefined(metric.name)
                one = holds(values, sign, number)
                held.append(one if per_label(metric, self.k) or not several else one[..., None, :])
            together = np.all(np.broadcast_arrays(*held), axis=0)
            sides.append(piece.wrap(together.astype(np.float64)).side(0.5, ">"))
        return Side(*(_joined(part, self.shape) for part in zip(*sides, strict=True)))

    def _bounded(self, found: Side, parts: Sequence[Part], shape: tuple[int, ...]) -> Side:
        """Return a probability by draws within what the exact probabilities of its parts leave it."""
        dists = [(self.known(metric, numerical=True), sign, number) for metric, sign, number in parts]
        alone = [self._over(dist.side(number, sign).probability, shape) for dist, sign, number in dists if dist]
        most = np.min([np.ones(shape), *alone], axis=0)
        least = np.maximum(1.0 - sum(1.0 - p for p in alone), 0.0) if len(alone) == len(parts) else 0.0
        return found._replace(probability=np.clip(self._over(found.probability, shape), least, most))


@dataclass(frozen=True)
class OfMatrices(Block):
    """Posteriors of matrices of counts, of each by itself.

    Attributes
    ----------
    counts : ndarray of shape (*shape, K, K)
    index : ndarray of shape (*shape,)
    """

    counts: NDArray[Any]
    index: NDArray[np.int64]

    @property
    def k(self) -> int:  # type: ignore[override]  # noqa: D102
        return int(self.counts.shape[-1])

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]  # noqa: D102
        return np.shape(self.index)

    def seen(self) -> NDArray[Any]:  # noqa: D102
        return self.counts

    data = seen

    def singles(self) -> Iterator[Self]:  # noqa: D102
        for place in np.ndindex(self.shape):
            yield replace(self, counts=self.counts[place], index=self.index[place])

    pieces = singles


@dataclass(frozen=True)
class Stack(Block):
    """Independent posteriors of single matrices, of any kinds, as a batch.

    Attributes
    ----------
    of : tuple of Block
    shape : tuple of int
    """

    of: tuple[Block, ...]
    shape: tuple[int, ...]

    @property
    def k(self) -> int:  # type: ignore[override]  # noqa: D102
        return self.of[0].k

    @property
    def n(self) -> int:  # type: ignore[override]  # noqa: D102
        return self.of[0].n

    def _joined(self, values: Sequence[Any]) -> Array:
        return np.stack(values).reshape((*self.shape, *np.shape(values[0])))

    def cells(self) -> Array:  # noqa: D102
        return self._joined([one.cells() for one in self.of])

    def seen(self) -> Array:  # noqa: D102
        return self._joined([one.seen() for one in self.of])

    def singles(self) -> Iterator[Block]:  # noqa: D102
        return iter(self.of)

    def theta_blocks(self) -> Iterator[Array]:  # noqa: D102
        yield self._joined([np.concatenate([*one.theta_blocks()]) for one in self.of])

    def check(self, metrics: Sequence[Metric]) -> None:  # noqa: D102
        for one in self.of:
            one.check(metrics)

    def exact(self, metric: Metric) -> Distribution | None:  # noqa: D102
        return self._each([one.exact(metric) for one in self.of])

    def numerical(self, metric: Metric) -> Distribution | None:  # noqa: D102
        return self._each([one.known(metric, numerical=True) for one in self.of])

    def linear(self, metric: Metric) -> Distribution | None:  # noqa: D102
        return self._each([one.linear(metric) for one in self.of])

    def _each(self, found: Sequence[Distribution | None]) -> Distribution | None:
        dists = tuple(dist for dist in found if dist is not None)
        return Each(dists, self.shape) if len(dists) == len(found) else None

    def independent(self, metric: Metric) -> bool:  # noqa: D102
        return True

    def n_items(self) -> Array:  # noqa: D102
        return self._joined([one.n_items() for one in self.of])

    def data(self) -> NDArray[Any]:  # noqa: D102
        each = [one.data().tobytes() for one in self.of]
        return np.array([each.index(one) for one in each]).reshape(self.shape)

    def order(self, metric: Metric) -> Any:  # noqa: D102
        return self._joined([np.asarray(one.order(metric)) for one in self.of])

    def wrap(self, values: Array) -> Draws:  # noqa: D102
        return self.of[0].wrap(values)

    def draws(self, metrics: Sequence[Metric]) -> list[Array]:  # noqa: D102
        return [self._joined(values) for values in zip(*(one.draws(metrics) for one in self.of), strict=True)]


def _stated(name: str, dist: Distribution) -> Distribution:
    """Return a distribution, and say so where it leaves a metric undefined."""
    dist.warn_undefined(name)
    return dist


def _joined(values: Sequence[Any], shape: tuple[int, ...]) -> Array:
    """Put what pieces said of their matrices into the shape of all."""
    if len(values) == 1 and np.shape(values[0])[: len(shape)] == shape:
        return np.asarray(values[0])
    found = np.stack([np.asarray(value) for value in values])
    return found.reshape((*shape, *found.shape[1:]))


def exchanged(theta: Array, prevalence: PrevalenceLike, rng: np.random.Generator | None) -> Array:
    """Give draws of cells (n, ..., K, K) other class shares: those of a draw are the same for all of its matrices.

    Parameters
    ----------
    theta : ndarray
    prevalence : number or sequence
    rng : Generator or None
        Without one the mean of an uncertain prevalence is taken.
    """
    k = theta.shape[-1]
    which = exchange(Concentrations(np.ones((k, k)), np.ones(k)), prevalence)
    shares = which.shares / which.shares.sum(-1)
    drawn = shares[None] if which.known or rng is None else dirichlet.draw_shares(which, rng, len(theta)).T
    drawn = drawn.reshape(-1, *[1] * (theta.ndim - 3), k, 1)
    return np.asarray(theta / theta.sum(-1, keepdims=True) * drawn)
