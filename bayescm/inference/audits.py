"""The posterior of items of which only some were checked: exact where a distribution is known, else by draws."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import strata, units
from bayescm.data.assumptions import of_model
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import MATRIX, OF, SYSTEM, TOTALS, UNIT_OF_AUDIT, attributes, labels_of, positive_class
from bayescm.distributions import misclassified
from bayescm.distributions import strata as groups
from bayescm.distributions.discrete import DiscreteDistribution
from bayescm.distributions.protocol import Distribution
from bayescm.inference.blocks import Block, exchanged
from bayescm.inference.labelled import Separate
from bayescm.metrics import Metric, compute, per_label
from bayescm.priors.concentrations import PrevalenceLike, PriorLike

Array = NDArray[np.float64]

_OF_EACH = (TOTALS, "checked")  # attrs that say what was known of each of several audits


@dataclass(frozen=True)
class _OneAudit(Block):
    """What audits have in common.

    Attributes
    ----------
    of : Strata
        What was checked, and how many items there are.
    prevalence : None, number or sequence
    index, seed, n : int
    """

    of: strata.Strata
    prevalence: PrevalenceLike
    index: int
    seed: int
    n: int
    shape: tuple[int, ...] = ()

    @property
    def k(self) -> int:  # type: ignore[override]
        return int(self.of.counts.shape[-1])

    def singles(self) -> Iterator[Self]:
        yield self

    def seen(self) -> Array:
        return np.asarray(self.of.counts.sum(0))

    def draws(self, metrics: Sequence[Metric]) -> list[Array]:
        values = [[np.moveaxis(one, 0, -1) for one in compute(metrics, theta)] for theta in self.theta_blocks()]
        return [np.concatenate(parts, -1) for parts in zip(*values, strict=True)]

    def n_items(self) -> Array:
        return np.asarray(self.of.totals.sum())

    def data(self) -> NDArray[Any]:
        return np.concatenate([self.of.totals, self.of.counts.ravel()])

    def elsewhere(self, theta: Array, start: int | None = None) -> Array:
        """Give cells (n, K, K) the prevalence that is asked about; draws have a start, and a share of their own."""
        rng = None if start is None else matrix_rng(self.seed, start, Stream.SHARES)
        return theta if self.prevalence is None else np.asarray(exchanged(theta, self.prevalence, rng))


@dataclass(frozen=True)
class OfOthers(_OneAudit):
    """Items of which none was checked, judged with the error rates of those that were."""

    def cells(self) -> Array:  # noqa: D102
        known = self.seen()
        with np.errstate(invalid="ignore"):
            rates = known / known.sum(-1, keepdims=True)
            shares = misclassified.adjusted(rates, self.of.totals / self.of.totals.sum())
        return np.asarray(self.elsewhere((shares[:, None] * rates)[None])[0])

    def theta_blocks(self) -> Iterator[Array]:  # noqa: D102
        rng = matrix_rng(self.seed, self.index, Stream.AUDIT)
        yield self.elsewhere(misclassified.draw(self.seen(), self.of.totals, rng, self.n), 0)


@dataclass(frozen=True)
class _OfGroups(_OneAudit):
    """Items of which some were checked.

    Attributes
    ----------
    posterior : Groups
    """

    posterior: groups.Groups = field(kw_only=True)

    def cells(self) -> Array:
        return np.asarray(self.elsewhere(groups.plug_in(self.of)[None])[0])


class Audited(_OfGroups):
    """Items that were checked one by one."""

    def exact(self, metric: Metric) -> Distribution | None:  # noqa: D102
        return distribution_of(metric, self.posterior) if self.prevalence is None else None

    def theta_blocks(self) -> Iterator[Array]:  # noqa: D102
        rng = matrix_rng(self.seed, self.index, Stream.AUDIT)
        block = max(2**21 // self.posterior.cells.size, 1)  # so that not all cells are held at once
        for start in range(0, self.n, block):
            yield self.elsewhere(groups.draw(self.posterior, rng, min(block, self.n - start))[2], start)

    def linear(self, metric: Metric) -> Distribution | None:  # noqa: D102
        sums = self.prevalence is None and self.posterior.known and self.posterior.unchecked is None
        found = groups.linear_of(metric, self.posterior) if sums else None
        return self.known(metric) if found is None else found

    def order(self, metric: Metric) -> Any:  # noqa: D102
        return groups.infinite_moment(metric, self.posterior)


@dataclass(frozen=True)
class ByUnit(_OfGroups):
    """Items of units that were checked whole: units weigh at random, and one of the prior, in each verdict.

    Attributes
    ----------
    posterior : Groups
        What the shares of the verdicts are.
    units : ndarray of shape (U, K, K)
    """

    units: NDArray[np.int64] = field(kw_only=True)

    def theta_blocks(self) -> Iterator[Array]:  # noqa: D102
        k, g = self.k, len(self.units)
        rng = matrix_rng(self.seed, self.index, Stream.AUDIT)
        weigh = matrix_rng(self.seed, self.index, Stream.UNITS)
        held = (self.units.sum(1) > 0).sum(0)  # units with items of each verdict
        prior = (self.posterior.cells - self.of.counts).sum(0)
        sizes = self.units.sum((0, 1)) / np.maximum(held, 1) + (held == 0)
        block = max(2**21 // max(g, k * k), 1)
        for start in range(0, self.n, block):
            n = min(block, self.n - start)
            shares = groups.draw_parts(self.posterior, rng, n, lambda *_: None)[0]
            weight, more = weigh.standard_exponential((n, g)), weigh.standard_gamma(prior, (n, k, k)) * sizes
            cells = np.tensordot(weight, self.units, 1) + more
            yield self.elsewhere(shares[:, None, :] * cells / cells.sum(1, keepdims=True), start)


def of_audits(
    counts: xr.DataArray, prior: PriorLike, prevalence: PrevalenceLike, n: int, seed: int, start: int = 0
) -> Separate:
    """Return the posterior of an audit, or of several over their batch dims, numbered from `start` on."""
    if isinstance(prevalence, str):
        raise ValueError(
            f"`prevalence`={prevalence!r} isn't for an audit, whose totals don't say how many items each class has; "
            "leave it out, or give a number."
        )
    singles, batch = strata.singles(counts), strata.batch_dims(counts)
    blocks = np.empty(len(singles), object)
    for i, (_, one) in enumerate(singles):
        blocks[i] = _block(one, prior, prevalence, start + i, seed, n)
    over = strata.without_totals(counts)
    over = over.isel({dim: 0 for dim in over.dims if dim not in batch}, drop=True).drop_attrs()
    over = over.transpose(*batch).reset_coords(drop=True)
    settings = settings_of(singles[0][1], prior, prevalence)
    for name in _OF_EACH if batch else ():
        nested: dict[str, Any] = {}
        settings[name] = nested
        for where, one in singles:
            *outer, last = map(str, where.values())
            inside = nested
            for level in outer:
                inside = inside.setdefault(level, {})
            inside[last] = strata.settings(one)[name]
    return Separate(tuple(labels_of(counts)), settings, blocks.reshape(over.shape), over)


def beside(audits: Mapping[str, Separate]) -> Separate:
    """Return the posteriors of the audits of several systems, over ``system``."""
    first, *others = audits.values()
    if any(one.labels != first.labels or one.over.dims for one in (first, *others)):
        raise ValueError("`counts` must be audits of one system each, with the same labels in the same order.")
    blocks = np.empty(len(audits), object)
    blocks[:] = [one.blocks.item() for one in audits.values()]
    each = {name: {system: one.settings[name] for system, one in audits.items()} for name in _OF_EACH}
    over = xr.DataArray(np.zeros(len(audits)), dims=SYSTEM, coords={SYSTEM: list(audits)})
    return Separate(first.labels, dict(first.settings) | each, blocks, over)


def _block(counts: xr.DataArray, prior: PriorLike, prevalence: PrevalenceLike, index: int, seed: int, n: int) -> Block:
    """Return the posterior of one audit."""
    if counts.attrs.get(OF) != strata.OTHERS:
        unit = counts.attrs.get(UNIT_OF_AUDIT)
        of, posterior = posterior_of(strata.by_items(counts), prior)
        if unit is not None:
            each = strata.without_totals(counts).transpose(unit, *MATRIX).values
            return ByUnit(of, prevalence, index, seed, n, posterior=posterior, units=each)
        return Audited(of, prevalence, index, seed, n, posterior=posterior)
    if prior != "jeffreys":
        raise ValueError("`prior` of an audit of other items is one item in each class's row; leave it out.")
    return OfOthers(strata.read(counts), prevalence, index, seed, n)


def posterior_of(counts: Any, prior: PriorLike) -> tuple[strata.Strata, groups.Groups]:
    """Return an audit and its posterior."""
    of = strata.read(counts)
    posterior = groups.posterior_of(of, groups.prior_of(of, prior, labels_of(counts)))
    groups.check_proper(posterior, of)
    return of, posterior


def settings_of(counts: xr.DataArray, prior: PriorLike, prevalence: PrevalenceLike = None) -> dict[str, Any]:
    """Say how an answer was made."""
    said = strata.settings(counts)
    exchange = {} if prevalence is None else {"prevalence": prevalence}
    others = said["of"] == strata.OTHERS
    model, prior = ("misclassified", "one item a row") if others else (strata.MODEL, prior)
    assumptions = of_model(model, prevalence, said) | _of_units(counts)
    return {"model": model, "prior": prior, **exchange, **said, **assumptions, **positive_class(counts)}


def _of_units(counts: xr.DataArray) -> dict[str, Any]:
    """Say of units that were checked whole how many there are; nothing of items."""
    if (unit := counts.attrs.get(UNIT_OF_AUDIT)) is None:
        return {}
    sizes, names = strata.without_totals(counts).sum(MATRIX).values, units.plural(unit)
    return units.of_units(np.repeat(np.arange(len(sizes)), sizes)) | {
        units.SAMPLED: f"over all items, by those of {len(sizes)} {names} that were checked",
        "assumptions": f"independent {names} of one population, whose items may be alike, checked or not "
        "whatever their truth; uncertainty of the test set only, not of training",
    }


def attrs_of(counts: xr.DataArray, prior: PriorLike) -> dict[str, str | int | float]:
    """Say the same in attrs."""
    return attributes(**settings_of(counts, prior))


def distribution_of(metric: Metric, posterior: groups.Groups) -> Distribution | None:
    """Return the exact distribution of a metric, continuous or of these items alone, or None."""
    if (dist := groups.exact_of(metric, posterior)) is not None:
        return dist
    dists = groups.items_of(metric, posterior)
    return None if dists is None else DiscreteDistribution(tuple(dists), per_label(metric, posterior.cells.shape[-1]))
