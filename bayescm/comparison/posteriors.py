"""Draws of every system's metrics, and the exact distributions of their differences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.comparison import frequentist
from bayescm.comparison.inputs import Compared, Entry
from bayescm.data.random import Stream, matrix_rng
from bayescm.distributions import Distribution
from bayescm.distributions.contrast import TRUSTED, Contrast
from bayescm.distributions.difference import Discordant, Independent, find_probabilities, find_quantiles
from bayescm.distributions.quadrature import Outer, find_lines
from bayescm.inference.blocks import Block
from bayescm.metrics import Metric, compute, per_label
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

    @property
    def of_all(self) -> list[Metric]:
        """Those that are drawn of all systems together."""
        return self.compared.metrics

    @cached_property
    def _drawn(self) -> dict[str, Array]:
        """Draws (system[, class], n) of these metrics."""
        if not (metrics := self.of_all):
            return {}
        n = self.chains * self.draws
        drawn = zip(metrics, self.block.draws(metrics), strict=True)
        return {metric.name: values[..., :n] for metric, values in drawn}

    def sides(self, name: str, which: int | slice | list[int]) -> Array:
        """Return draws (2[, comparison][, class], n) of a metric of the first and of the second systems."""
        return np.asarray(self._drawn[name][np.array(self.compared.pairs)[which].T])

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

    def contrasts(
        self, entries: Sequence[Entry], x: Sequence[float] = (), p: Sequence[float] = ()
    ) -> list[list[Distribution | None]]:
        """Return for each number the exact distributions of the pairs' differences, None where there is none.

        They will be asked for probabilities at x and quantiles at p: these are worked out for all at once.
        """
        found: list[list[Distribution | None]]
        found = [[self._known_difference(entry, pair) for pair in self.compared.pairs] for entry in entries]
        rest = [(j, i) for j, row in enumerate(found) for i, dist in enumerate(row) if dist is None]
        asked = [(entries[j], self.compared.pairs[i]) for j, i in rest]
        places = list(dict.fromkeys([0.0, *x]))
        for (j, i), dist in zip(rest, self._by_quadrature(asked, places, p, ratio=False), strict=True):
            found[j][i] = dist
        return [[None if dist is None or dist.worst >= TRUSTED else dist for dist in row] for row in found]

    def _known_difference(self, entry: Entry, pair: tuple[int, int]) -> Distribution | None:
        """Return the distribution of a difference that needs no quadrature."""
        if self.block.independent(entry.metric):
            first, second = (self._dist(self.block.linear, entry, system) for system in pair)
            return None if first is None or second is None else first.minus(second)
        found = self.block.difference(entry.metric)
        return found if found is None or entry.place is None else found.at(..., entry.place)

    def ratios(self, entries: Sequence[Entry], p: Sequence[float]) -> list[Sequence[Contrast | None]]:
        """Return for each number the exact distributions of the pairs' ratios, None where there is none.

        They will be asked for quantiles at p.
        """
        pairs = self.compared.pairs
        found = self._by_quadrature([(entry, pair) for entry in entries for pair in pairs], [1.0], p, ratio=True)
        return [found[start : start + len(pairs)] for start in range(0, len(found), len(pairs))]

    def _by_quadrature(
        self, asked: Sequence[tuple[Entry, tuple[int, int]]], x: Sequence[float], p: Sequence[float], *, ratio: bool
    ) -> list[Independent | None]:
        """Return those that independent distributions of both systems give, all worked out together."""
        sides: dict[int, tuple[Outer, Outer]] = {}
        for i, (entry, pair) in enumerate(asked):
            if self.block.independent(entry.metric):
                first, second = (self._side(entry, system) for system in pair)
                if first is not None and second is not None:
                    sides[i] = first, second
        find_lines([side for both in sides.values() for side in both])
        made = {i: Independent(*both, ratio) for i, both in sides.items()}
        find_probabilities(list(made.values()), x)
        made = {i: one for i, one in made.items() if one.error(x[0]) < TRUSTED}
        find_quantiles(list(made.values()), p)
        return [made.get(i) for i in range(len(asked))]


@dataclass(frozen=True, eq=False)
class SameItems(Posteriors):
    """The posterior of systems that answered the same items: each pair has a prior of its own."""

    @property
    def of_all(self) -> list[Metric]:  # noqa: D102
        return [metric for metric in self.compared.metrics if asked_of_runs(metric) is not None]

    @cached_property
    def _of_pairs(self) -> dict[str, Array]:
        """Draws (2, comparison[, class], n) of the other metrics, each pair with its own prior.

        Proportions are from their own exact posterior, in the order of the rest.
        """
        metrics = [metric for metric in self.compared.metrics if metric not in self.of_all]
        if not metrics:
            return {}
        n, pairs, k = self.chains * self.draws, self.compared.pairs, len(self.compared.labels)
        shapes = [(2, len(pairs), *([k] if per_label(metric, k) else []), n) for metric in metrics]
        found = {metric.name: np.empty(shape) for metric, shape in zip(metrics, shapes, strict=True)}
        settings = self.compared.prior, self.compared.prevalence, n, self.seed
        for i, part, theta in draws_of_pairs(self.answers, pairs, *settings):
            of_both = compute(metrics, np.moveaxis(theta, -1, 1))
            for one, values in zip(found.values(), of_both, strict=True):
                one[:, i, ..., part] = np.moveaxis(values, 1, -1)
        rng = matrix_rng(self.seed, 0, Stream.PAIRED_PROPORTIONS)
        for i, pair in enumerate(pairs):
            for entry in self.compared.entries:
                if (own := self._got(entry, pair)) is not None:
                    values = found[entry.metric.name][:, i]
                    _reorder(values if entry.place is None else values[:, entry.place], *own, rng)
        return found

    def sides(self, name: str, which: int | slice | list[int]) -> Array:  # noqa: D102
        return self._of_pairs[name][:, which] if name in self._of_pairs else super().sides(name, which)

    @property
    def answers(self) -> Patterns:
        """What they answered."""
        if self.compared.answers is None:
            raise ValueError("`data` must say which items both systems answered.")
        return self.compared.answers

    def ratios(self, entries: Sequence[Entry], p: Sequence[float]) -> list[Sequence[Contrast | None]]:
        """Return None of each pair: there is none that is known."""
        return [[None] * len(self.compared.pairs) for _ in entries]

    def contrasts(
        self, entries: Sequence[Entry], x: Sequence[float] = (), p: Sequence[float] = ()
    ) -> list[list[Distribution | None]]:
        """Return the exact distributions of the differences of two proportions; None of other metrics."""
        return [[self._contrast(entry, pair) for pair in self.compared.pairs] for entry in entries]

    def _contrast(self, entry: Entry, pair: tuple[int, int]) -> Distribution | None:
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
        pairs = np.vstack([of_prior, got]) @ [1.0, 1.0j]  # ordered as pairs are, and sooner than pairs
        points, place = np.unique(pairs, return_inverse=True)
        cells = np.bincount(place, np.concatenate([prior, count]))[::-1]
        points = np.stack([points.real, points.imag], -1)[::-1]
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
