"""Draws of every system's metrics, and the exact distributions of their differences."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm import distributions
from bayescm.comparison import frequentist
from bayescm.comparison.inputs import COMPARISON, Compared, Entry
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import CHAIN, DRAW, LABEL, SYSTEM
from bayescm.distributions import dirichlet
from bayescm.distributions.difference import TRUSTED, Contrast, Discordant, Independent
from bayescm.distributions.quadrature import Outer, Table
from bayescm.distributions.tabulated import Tabulated
from bayescm.inference import posteriors
from bayescm.metrics import evaluate, of_one_class
from bayescm.models.cell_draws import draws_of_pairs, draws_of_systems, shared
from bayescm.models.same_items import Patterns
from bayescm.priors.concentrations import (
    DEFAULT_PRIOR,
    MODELS,
    Concentrations,
    PrevalenceLike,
    PriorLike,
    concentrations,
)

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Posteriors:
    """The posterior of all systems.

    Attributes
    ----------
    compared : Compared
    model : str
    prior, prevalence
        As of :func:`bayescm.posterior`.
    chains, draws, seed : int
    options : mapping
        Of the story.
    """

    compared: Compared
    model: str
    prior: PriorLike
    prevalence: PrevalenceLike
    chains: int
    draws: int
    seed: int
    options: Mapping[str, Any]

    @property
    def conjugate(self) -> bool:
        """Whether each system's posterior is concentrations."""
        return self.model in MODELS and self.compared.design != "folds"

    @cached_property
    def base(self) -> Concentrations:
        """The prior of one system."""
        return concentrations(self.prior, self.model, self.compared.labels)

    @cached_property
    def sides(self) -> list[xr.Dataset]:
        """Draws of every metric of the first and of the second systems, over ``(chain, draw, comparison)``."""
        if self.compared.answers is not None:
            return self._sides_of_pairs(self.compared.answers)
        found = self._metrics()
        return [
            found.isel({SYSTEM: list(side)}).drop_vars(SYSTEM).rename({SYSTEM: COMPARISON})
            for side in zip(*self.compared.pairs, strict=True)
        ]

    def _sides_of_pairs(self, answers: Patterns) -> list[xr.Dataset]:
        """Draw each pair with its own prior; proportions from their own exact posterior, in the order of the rest."""
        self._check_proper()
        settings = self.prior, self.prevalence, self.chains, self.draws, self.seed
        drawn = draws_of_pairs(answers, self.compared.pairs, *settings)
        found = xr.concat(
            [evaluate(theta.drop_vars(SYSTEM), self.compared.metrics) for theta in drawn], COMPARISON
        ).transpose(SYSTEM, CHAIN, DRAW, COMPARISON, ...)
        rng = matrix_rng(self.seed, 0, Stream.PAIRED_PROPORTIONS)
        for i, pair in enumerate(self.compared.pairs):
            for entry in self.compared.entries:
                if (own := self._got(entry, pair)) is not None:
                    values = found[entry.metric.name].values[:, :, :, i]
                    _reorder(values if entry.place is None else values[..., entry.place], *own, rng)
        return [found.isel({SYSTEM: side}) for side in (0, 1)]

    def _metrics(self) -> xr.Dataset:
        """Draw every metric over ``(chain, draw, system)``, a metric per class also over ``class_label``."""
        resolved = self.compared.metrics
        if self.conjugate:
            self._check_proper()
            settings = self.prevalence, self.chains, self.draws, self.seed
            return evaluate(draws_of_systems(self.compared.counts, self.base, *settings), resolved)
        found = []
        for i, system in enumerate(self.compared.systems):
            tree = posteriors.posterior(
                self.compared.counts.isel({SYSTEM: i}, drop=True), model=self.model, prior=self.prior,
                prevalence=self.prevalence, metrics=resolved, chains=self.chains, draws=self.draws,
                random_seed=self.seed + i, **self.options,
            )  # fmt: skip
            group = tree["posterior"].to_dataset()
            found.append(group[[metric.name for metric in resolved]].assign_coords({SYSTEM: system}))
        return xr.concat(found, SYSTEM, coords="minimal", compat="override").transpose(CHAIN, DRAW, SYSTEM, ...)

    def _check_proper(self) -> None:
        which = dirichlet.posterior(self.compared.totals, self.base, self.prevalence)
        dirichlet.check_proper(which, self.compared.labels)

    def of(self, entry: Entry, pair: tuple[int, int]) -> list[Array]:
        """Return the draws of one number of both systems, each (chain, draw)."""
        at = {COMPARISON: self.compared.pairs.index(pair)} | ({} if entry.place is None else {LABEL: entry.place})
        values = [side[entry.metric.name].isel(at) for side in self.sides]
        return [np.asarray(value.transpose(CHAIN, DRAW).values) for value in values]

    @cached_property
    def _dists(self) -> dict[tuple[str, int], distributions.Distribution | None]:
        return {}

    def _dist(self, entry: Entry, system: int) -> distributions.Distribution | None:
        """Return the exact distribution of one number of one system, if it has one."""
        key = entry.name, system
        if key not in self._dists:
            dist = self._whole(entry, system)
            self._dists[key] = dist if dist is None or entry.place is None else dist.at(..., entry.place)
        return self._dists[key]

    def _whole(self, entry: Entry, system: int) -> distributions.Distribution | None:
        """Return the exact distribution of a metric of one system, of all its classes."""
        which = dirichlet.posterior(self.compared.totals[system], self.base, self.prevalence)
        return distributions.exact_distribution(entry.metric, which)

    def plug_in(self, pair: tuple[int, int]) -> Array:
        """Return the cells of both systems: counts, or their rates at another prevalence."""
        counts = self.compared.totals[list(pair)]
        if self.prevalence is None:
            return counts.astype(np.float64)
        any_prior = concentrations(DEFAULT_PRIOR, "dirichlet_multinomial", self.compared.labels)  # shares are exchanged
        which = dirichlet.posterior(counts, any_prior, self.prevalence)
        return dirichlet.plug_in(counts, which, self.prevalence)

    @cached_property
    def _sides(self) -> dict[tuple[str, int], Outer | None]:
        return {}

    def _side(self, entry: Entry, system: int) -> Outer | None:
        """Return the exact distribution of one number of one system to average over, if it has one that varies."""
        key = entry.name, system
        if key not in self._sides:
            dist, ends = self._dist(entry, system), (entry.metric.lower, entry.metric.upper)
            varies = isinstance(dist, distributions.Beta | distributions.Integral | Tabulated)
            quick = dist if isinstance(dist, distributions.Beta) else Table(dist, *ends) if varies else None
            self._sides[key] = Outer(quick, *ends) if varies else None
        return self._sides[key]

    def moments_exist(self, entry: Entry, pair: tuple[int, int]) -> tuple[bool, bool]:
        """Say whether mean and standard deviation of both numbers are finite; draws always have some."""
        if not entry.metric.moments or not self.conjugate:
            return True, True
        which = dirichlet.posterior(self.compared.totals[list(pair)], self.base, self.prevalence)
        dist = distributions.exact_distribution(entry.metric, which)
        if dist is None:
            return True, True
        return bool(np.isfinite(dist.mean()).all()), bool(np.isfinite(dist.sd()).all())

    def contrast(self, entry: Entry, pair: tuple[int, int]) -> distributions.Distribution | None:
        """Return the exact distribution of a difference, or None where there is none."""
        if not self.conjugate:
            return None
        if self.compared.answers is None and (sums := self._of_sums(entry, pair)) is not None:
            return sums
        dist = self._independent(entry, pair) if self.compared.answers is None else self._discordant(entry, pair)
        return dist if dist is not None and dist.both(0.0)[1] < TRUSTED else None

    def ratio(self, entry: Entry, pair: tuple[int, int]) -> Contrast | None:
        """Return the exact distribution of a ratio, or None where there is none."""
        if not self.conjugate or self.compared.answers is not None:
            return None
        dist = self._independent(entry, pair, ratio=True)
        return dist if dist is not None and dist.both(1.0)[1] < TRUSTED else None

    def _apart(self, entry: Entry) -> bool:
        """Say whether a number of one system is independent of another's: they share no unknown prevalence."""
        return not shared(self.prevalence, self.base) or of_one_class(entry.metric, len(self.compared.labels))

    def _independent(self, entry: Entry, pair: tuple[int, int], *, ratio: bool = False) -> Contrast | None:
        if not self._apart(entry):
            return None
        first, second = (self._side(entry, system) for system in pair)
        return None if first is None or second is None else Independent(first, second, ratio)

    def _of_sums(self, entry: Entry, pair: tuple[int, int]) -> distributions.Linear | None:
        """Return the difference of two sums of Betas: a sum too."""
        first, second = (self._dist(entry, system) for system in pair) if self._apart(entry) else (None, None)
        if not isinstance(first, distributions.Linear) or not isinstance(second, distributions.Linear):
            return None
        found = first.minus(second)
        return found if found.worst < TRUSTED else None

    def _discordant(self, entry: Entry, pair: tuple[int, int]) -> Contrast | None:
        own = self._got(entry, pair)
        if own is None or self.compared.runs > 1:
            return None
        both, first, second, none = own[1]
        return Discordant(first, second, both + none)

    def _got(self, entry: Entry, pair: tuple[int, int]) -> tuple[Array, Array] | None:
        """Return in which share of its runs either system gets an item, (P, 2), and the concentrations (P,).

        None where a number is no proportion of the same items. Of one run each there are four pairs of shares: both
        got it, only the first, only the second, none. Of several runs the prior's items that speak for one system do so
        as much as those that were seen, in root mean square.
        """
        share = frequentist.proportion_of(entry, len(self.compared.labels))
        answers = self.compared.answers
        if share is None or answers is None or (self.prevalence is not None and share.classes.sum() > 1):
            return None
        got, count = frequentist.scores(answers, pair, share)
        prior = frequentist.prior_agreement(self.prior, self.base.rows, share)
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
