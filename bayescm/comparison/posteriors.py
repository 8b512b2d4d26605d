"""Draws of every system's metrics, and the exact distributions of their differences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.comparison import frequentist
from bayescm.comparison.inputs import COMPARISON, Compared, Entry
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import CHAIN, DRAW, LABEL, SYSTEM
from bayescm.distributions import Distribution
from bayescm.distributions.difference import TRUSTED, Contrast, Discordant, Independent
from bayescm.distributions.quadrature import Outer
from bayescm.inference.blocks import Block
from bayescm.metrics import Metric, describe, evaluate
from bayescm.metrics.passes import asked_of_runs
from bayescm.models.cell_draws import draws_of_pairs
from bayescm.models.same_items import Patterns
from bayescm.priors.concentrations import concentrations, of_pairs

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Posteriors:
    """The posterior of all systems.

    Attributes
    ----------
    compared : Compared
    chains, draws : int
        Into which the draws are cut.
    seed : int
    """

    compared: Compared
    chains: int
    draws: int
    seed: int

    @property
    def block(self) -> Block:
        """Of all systems."""
        return self.compared.block

    @cached_property
    def points(self) -> dict[str, Array]:
        """The metrics of the data themselves, (system[, class])."""
        metrics = self.compared.metrics
        return dict(zip([m.name for m in metrics], self.block.points(metrics), strict=True))

    def point(self, entry: Entry, pair: tuple[int, int]) -> float:
        """Return the difference of the metrics of the data themselves."""
        values = self.points[entry.metric.name][list(pair)]
        one, other = values if entry.place is None else values[:, entry.place]
        with np.errstate(invalid="ignore"):
            return float(one - other)

    @cached_property
    def sides(self) -> list[xr.Dataset]:
        """Draws of every metric of the first and of the second systems, over ``(chain, draw, comparison)``."""
        return self._joint(self.compared.metrics)

    def _joint(self, metrics: Sequence[Metric]) -> list[xr.Dataset]:
        """Return draws of some metrics of both sides as all systems' posterior has them."""
        found = self._labelled(metrics, self.block.draws(metrics))
        return [
            found.isel({SYSTEM: list(side)}).rename({SYSTEM: COMPARISON})
            for side in zip(*self.compared.pairs, strict=True)
        ]

    def _labelled(self, metrics: Sequence[Metric], values: list[Array]) -> xr.Dataset:
        """Label draws (system[, class], n) of the metrics."""
        made = {}
        for metric, one in zip(metrics, values, strict=True):
            dims = (SYSTEM, *([LABEL] if one.ndim > 2 else []), CHAIN, DRAW)
            drawn = one[..., : self.chains * self.draws].reshape(*one.shape[:-1], self.chains, self.draws)
            made[metric.name] = xr.Variable(dims, drawn, describe(metric))
        several = {LABEL: self.compared.labels} if any(LABEL in one.dims for one in made.values()) else {}
        found = xr.Dataset(made, coords={CHAIN: np.arange(self.chains), DRAW: np.arange(self.draws), **several})
        return found.transpose(CHAIN, DRAW, SYSTEM, ...)

    def of(self, entry: Entry, pair: tuple[int, int]) -> list[Array]:
        """Return the draws of one number of both systems, each (chain, draw)."""
        at = {COMPARISON: self.compared.pairs.index(pair)} | ({} if entry.place is None else {LABEL: entry.place})
        values = [side[entry.metric.name].isel(at) for side in self.sides]
        return [np.asarray(value.transpose(CHAIN, DRAW).values) for value in values]

    @cached_property
    def _kept(self) -> dict[Any, Any]:
        return {}

    def _dist(self, known: Callable[[Metric], Distribution | None], entry: Entry, system: int) -> Distribution | None:
        """Return the exact distribution of one number of one system, if it has one."""
        key = known.__name__, entry.metric.name
        if key not in self._kept:
            self._kept[key] = known(entry.metric)
        dist: Distribution | None = self._kept[key]
        return None if dist is None else dist.at(system, *([] if entry.place is None else [entry.place]))

    def _side(self, entry: Entry, system: int) -> Outer | None:
        """Return the exact distribution of one number of one system to average over, if it has one that varies."""
        key = entry.name, system
        if key not in self._kept:
            dist = self._dist(self.block.known, entry, system)
            known = dist is not None and dist.has_density
            self._kept[key] = Outer.of(dist, entry.metric.lower, entry.metric.upper) if known else None
        side: Outer | None = self._kept[key]
        return side

    def moments_exist(self, entry: Entry, pair: tuple[int, int]) -> tuple[bool, bool]:
        """Say whether mean and standard deviation of both numbers are finite; draws always have some."""
        order = np.min(np.broadcast_to(self.block.order(entry.metric), self.block.shape)[list(pair)])
        return bool(order > 1.0), bool(order > 2.0)

    def contrast(self, entry: Entry, pair: tuple[int, int]) -> Distribution | None:
        """Return the exact distribution of a difference, or None where there is none."""
        if self.block.independent(entry.metric):
            first, second = (self._dist(self.block.linear, entry, system) for system in pair)
            found = None if first is None or second is None else first.minus(second)
        else:
            found = self.block.difference(entry.metric)
            found = found if found is None or entry.place is None else found.at(..., entry.place)
        if found is not None:
            return found if found.worst < TRUSTED else None
        return self._by_quadrature(entry, pair, ratio=False)

    def ratio(self, entry: Entry, pair: tuple[int, int]) -> Contrast | None:
        """Return the exact distribution of a ratio, or None where there is none."""
        return self._by_quadrature(entry, pair, ratio=True)

    def _by_quadrature(self, entry: Entry, pair: tuple[int, int], *, ratio: bool) -> Contrast | None:
        if not self.block.independent(entry.metric):
            return None
        first, second = (self._side(entry, system) for system in pair)
        found = None if first is None or second is None else Independent(first, second, ratio)
        return found if found is not None and found.error(float(ratio)) < TRUSTED else None


@dataclass(frozen=True, eq=False)
class SameItems(Posteriors):
    """The posterior of systems that answered the same items: each pair has a prior of its own."""

    @cached_property
    def sides(self) -> list[xr.Dataset]:
        """Draw each pair with its own prior; proportions from their own exact posterior, in the order of the rest."""
        settings = self.compared.prior, self.compared.prevalence, self.chains, self.draws, self.seed
        drawn = draws_of_pairs(self.answers, self.compared.pairs, *settings)
        metrics = [metric for metric in self.compared.metrics if asked_of_runs(metric) is None]
        tasks = [metric for metric in self.compared.metrics if metric not in metrics]
        joint = self._joint(tasks) if tasks else [xr.Dataset(), xr.Dataset()]
        if not metrics:
            return joint
        found = xr.concat([evaluate(theta.drop_vars(SYSTEM), metrics) for theta in drawn], COMPARISON).transpose(
            SYSTEM, CHAIN, DRAW, COMPARISON, ...
        )
        rng = matrix_rng(self.seed, 0, Stream.PAIRED_PROPORTIONS)
        for i, pair in enumerate(self.compared.pairs):
            for entry in self.compared.entries:
                if (own := self._got(entry, pair)) is not None:
                    values = found[entry.metric.name].values[:, :, :, i]
                    _reorder(values if entry.place is None else values[..., entry.place], *own, rng)
        return [found.isel({SYSTEM: side}).merge(both) for side, both in enumerate(joint)]

    @property
    def answers(self) -> Patterns:
        """What they answered."""
        if self.compared.answers is None:
            raise ValueError("`data` must say which items both systems answered.")
        return self.compared.answers

    def ratio(self, entry: Entry, pair: tuple[int, int]) -> Contrast | None:
        """Return None: there is none that is known."""
        return None

    def contrast(self, entry: Entry, pair: tuple[int, int]) -> Distribution | None:
        """Return the exact distribution of the difference of two proportions, or None where there is none."""
        own = self._got(entry, pair)
        if own is None or self.compared.runs > 1:
            return None
        both, first, second, none = own[1]
        found = Discordant(first, second, both + none)
        return found if found.error(0.0) < TRUSTED else None

    def _got(self, entry: Entry, pair: tuple[int, int]) -> tuple[Array, Array] | None:
        """Return in which share of its runs either system gets an item, (P, 2), and the concentrations (P,).

        None where a number is no proportion of the same items. Of one run each there are four pairs of shares: both
        got it, only the first, only the second, none. Of several runs the prior's items that speak for one system do so
        as much as those that were seen, in root mean square.
        """
        share = frequentist.proportion_of(entry, len(self.compared.labels))
        if share is None or (self.compared.prevalence is not None and share.classes.sum() > 1):
            return None
        got, count = frequentist.scores(self.answers, pair, share)
        rows = concentrations(self.compared.prior, "dirichlet_multinomial", self.compared.labels).rows
        prior = of_pairs(rows) * np.array([0.5, 1.0, 1.0, 0.5])
        apart = got[:, 0] - got[:, 1]
        telling = count[apart != 0].sum()
        size = np.sqrt(count @ apart**2 / telling) if telling else 1.0
        of_prior = 0.5 + 0.5 * np.array([[1.0, 1.0], [size, -size], [-size, size], [-1.0, -1.0]])
        points, place = np.unique(np.vstack([of_prior, got]), axis=0, return_inverse=True)
        cells = np.bincount(place.ravel(), np.concatenate([prior, count]))[::-1]
        points = points[::-1]
        lead = points[:, 0] - points[:, 1]
        if min(cells[lead > 0].sum(), cells[lead < 0].sum(), cells[lead == 0].sum()) <= 0:
            names = " and ".join(self.compared.systems[i] for i in pair)
            raise ValueError(
                f"`prior` leaves the posterior improper: of the items, {names} have none that only one of them got, or "
                "none that both got or missed, and a concentration of 0. Take prior='jeffreys'."
            )
        return points, cells


def _reorder(values: Array, got: Array, cells: Array, rng: np.random.Generator) -> None:
    """Put draws of a proportion's own posterior in the place of others (2, chain, draw), ranked as these."""
    weights = rng.standard_gamma(cells, (values[0].size, len(cells)))
    own = (weights @ got).T / weights.sum(1)
    rank = np.argsort(np.argsort((values[0] - values[1]).ravel(), kind="stable"))
    values[...] = own[:, np.argsort(own[0] - own[1], kind="stable")][:, rank].reshape(values.shape)
