"""Differences of systems of which some answers were checked: each with an audit of its own, or both on the same items.

Two audits are of the same items where the strata of each are the verdicts of the other: then every group of items has
one pair of verdicts, its truth counts for both, and the difference is of one posterior.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.comparison.inputs import COMPARISON, Compared, Entry, entries_of, pairs_of
from bayescm.comparison.posteriors import Posteriors
from bayescm.data import strata, validate
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import MATRIX, PREDICTED, SYSTEM, TOTALS, labels_of
from bayescm.distributions import strata as groups
from bayescm.distributions.difference import TRUSTED, Contrast
from bayescm.distributions.protocol import Distribution
from bayescm.metrics import MetricsLike, compute, resolve

Array = NDArray[np.float64]
PAIRED, INDEPENDENT = "paired", "independent"


def read(data: Mapping[str, Any], design: str | None, reference: str | None, metrics: MetricsLike) -> Compared:
    """Check the audits of several systems that are to be compared."""
    check_alike(data)
    labels = labels_of(next(iter(data.values())))
    same = len(data) == 2 and verdicts_of_each_other(*data.values())
    if design == PAIRED and not same:
        raise ValueError(
            "`design`='paired' needs two audits of the same items, each with the verdicts of the other as strata: "
            "bayescm.audited(table, predicted='a', stratum='b') and bayescm.audited(table, predicted='b', stratum='a')."
        )
    if design == INDEPENDENT and same:
        validate.warn(
            "The audits are of the same items, and design='independent' ignores that: their differences look more "
            "uncertain than they are, or less."
        )
    if design is None and not same:
        warn_of_same_totals(data)
    design = design or (PAIRED if same else INDEPENDENT)
    checked = xr.concat([_checked(one) for one in data.values()], SYSTEM).assign_coords({SYSTEM: list(data)})
    resolved = resolve(metrics, len(labels))
    pairs = pairs_of(list(data), reference)
    return Compared(
        design, checked.transpose(SYSTEM, *MATRIX), None, pairs, resolved, entries_of(resolved, labels), dict(data)
    )


def warn_of_same_totals(data: Mapping[str, xr.DataArray]) -> None:
    """Warn where audits that are taken as independent have the same number of items."""
    if len(data) > 1 and len({float(one.coords[TOTALS].sum()) for one in data.values()}) == 1:
        validate.warn(
            "The audits have the same number of items: probably the items are the same, but the systems' errors are "
            "taken as independent. Say design='independent' if they are; of two systems on the same items with one "
            "truth give bayescm.compare_systems audits by each other's verdicts, bayescm.audited(table, "
            "predicted='a', stratum='b') and the other way round."
        )


def check_alike(data: Mapping[str, Any]) -> None:
    """Refuse audits beside other counts, of other labels, or about something else."""
    others = [name for name, one in data.items() if not strata.is_audit(one)]
    if others:
        raise ValueError(f"`counts` are audits and others ({', '.join(others)}); give bayescm.audited(...) of each.")
    audits = [strata.read(one) for one in data.values()]
    labels = [labels_of(one) for one in data.values()]
    if any(one != labels[0] for one in labels):
        raise ValueError("`counts` must be audits with the same labels in the same order.")
    if len({of.of for of in audits}) > 1:
        raise ValueError("`counts` must be audits about the same: give all the same `of` in bayescm.audited.")


def _checked(audit: xr.DataArray) -> xr.DataArray:
    """Return the checked items of all strata."""
    plain = strata.without_totals(audit)
    return plain.sum([dim for dim in plain.dims if dim not in MATRIX])


def verdicts_of_each_other(first: xr.DataArray, second: xr.DataArray) -> bool:
    """Say whether two audits are of the same items, each with the verdicts of the other as strata."""
    both = [_by_both_verdicts(one) for one in (first, second)]
    if both[0] is None or both[1] is None or labels_of(first) != labels_of(second):
        return False
    exchanged = [part.swapaxes(0, -1) for part in both[1]]
    return all(np.array_equal(one, other) for one, other in zip(both[0], exchanged, strict=True))


def _by_both_verdicts(audit: xr.DataArray) -> tuple[Array, Array] | None:
    """Return counts (other verdict, truth, verdict) and totals (other verdict, verdict), where they are such."""
    labels = labels_of(audit)
    others = [str(dim) for dim in audit.dims if dim not in MATRIX]
    if len(others) != 1 or PREDICTED not in audit.coords[TOTALS].dims or others[0] not in audit.coords:
        return None
    names = audit[others[0]].values.tolist()
    if not set(names) <= set(labels):
        return None
    place, k = [labels.index(name) for name in names], len(labels)
    counts, totals = np.zeros((k, k, k)), np.zeros((k, k))
    counts[place] = audit.transpose(others[0], *MATRIX).values
    totals[place] = audit.coords[TOTALS].transpose(others[0], PREDICTED).values
    return counts, totals


def _add(theta: Array, other: NDArray[np.intp], g: int, part: Array) -> None:
    """Add a group's part to the cells of both systems (draws, 2, K, K): its truth, by either verdict."""
    theta[:, 0] += part
    theta[:, 1, :, other[g]] += part.sum(-1)


@dataclass(frozen=True, eq=False)
class SameAudited(Posteriors):
    """The posterior of two systems whose verdicts are of the same items, one truth for both.

    Attributes
    ----------
    posterior : Groups
        Of the first system's audit.
    """

    posterior: groups.Groups

    @cached_property
    def other_verdict(self) -> NDArray[np.intp]:
        """The second system's verdict in each group of the first's audit."""
        first, labels = next(iter(self.compared.audits.values())), self.compared.labels
        dim = next(str(dim) for dim in first.dims if dim not in MATRIX)
        return np.repeat([labels.index(name) for name in first[dim].values.tolist()], len(labels)).astype(np.intp)

    @cached_property
    def sides(self) -> list[xr.Dataset]:
        """Draw the truth of every group once."""
        theta = np.zeros((self.block.n, 2, self.block.k, self.block.k))
        rng = matrix_rng(self.seed, 0, Stream.AUDIT)
        groups.draw_parts(self.posterior, rng, self.block.n, partial(_add, theta, self.other_verdict))
        values = compute(self.compared.metrics, theta)
        found = self._labelled([np.moveaxis(one, 0, -1) for one in values])
        return [found.isel({SYSTEM: [side]}).rename({SYSTEM: COMPARISON}) for side in (0, 1)]

    def contrast(self, entry: Entry, pair: tuple[int, int]) -> Distribution | None:
        """Return the exact distribution of a difference, or None where there is none."""
        found = groups.difference_of_the_same(entry.metric, self.posterior, self.other_verdict)
        if found is not None and entry.place is not None:
            found = found.at(..., entry.place)
        return found if found is not None and found.worst < TRUSTED else None

    def ratio(self, entry: Entry, pair: tuple[int, int]) -> Contrast | None:
        """Return None: there is none that is known."""
        return None
