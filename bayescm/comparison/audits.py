"""Systems of which some answers were checked: each with an audit of its own, or both on the same items.

Two audits are of the same items where the strata of each are the verdicts of the other: then every group of items has
one pair of verdicts, its truth counts for both, and the difference is of one posterior.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import strata, validate
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import MATRIX, PREDICTED, SYSTEM, TOTALS, labels_of
from bayescm.distributions import strata as groups
from bayescm.distributions.protocol import Distribution
from bayescm.inference.audits import Audited
from bayescm.inference.blocks import Stack
from bayescm.metrics import Metric, compute
from bayescm.priors.concentrations import PrevalenceLike

Array = NDArray[np.float64]
PAIRED, INDEPENDENT = "paired", "independent"


def read(data: Mapping[str, Any], design: str | None, model: Any) -> dict[str, Any]:
    """Check the audits of several systems, and say how they were tested."""
    _check_alike(data)
    for one in data.values():
        model = strata.of_data(one, model)
    same = len(data) == 2 and verdicts_of_each_other(*map(strata.by_items, data.values()))
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
    totals = {float(one.coords[TOTALS].sum()) for one in data.values()}
    if design is None and not same and len(totals) < 2 <= len(data):
        validate.warn(
            "The audits have the same number of items: probably the items are the same, but the systems' errors are "
            "taken as independent. Say design='independent' if they are; of two systems on the same items with one "
            "truth give audits by each other's verdicts, bayescm.audited(table, predicted='a', stratum='b') and the "
            "other way round."
        )
    design = design or (PAIRED if same else INDEPENDENT)
    checked = xr.concat([_checked(one) for one in data.values()], SYSTEM).assign_coords({SYSTEM: list(data)})
    counts = checked.transpose(SYSTEM, *MATRIX)
    return {"design": design, "counts": counts, "model": model, "audits": data, "whole": data}


def _check_alike(data: Mapping[str, Any]) -> None:
    """Refuse audits beside other counts, of other labels, or about something else."""
    others = [name for name, one in data.items() if not strata.is_audit(one)]
    if others:
        raise ValueError(f"`counts` are audits and others ({', '.join(others)}); give bayescm.audited(...) of each.")
    audits = [strata.read(strata.by_items(one)) for one in data.values()]
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


@dataclass(frozen=True)
class SameAudited(Stack):
    """Two systems whose verdicts are of the same items, one truth for both.

    Attributes
    ----------
    posterior : Groups
        Of the first system's audit.
    other_verdict : ndarray of int
        The second system's verdict in each group of it.
    seed : int
    """

    posterior: groups.Groups
    other_verdict: NDArray[np.intp]
    seed: int

    def independent(self, metric: Metric) -> bool:  # noqa: D102
        return False

    def difference(self, metric: Metric) -> Distribution | None:  # noqa: D102
        return groups.difference_of_the_same(metric, self.posterior, self.other_verdict)

    def draws(self, metrics: Sequence[Metric]) -> list[Array]:
        """Draw metrics (2[, class], n), the truth of every group once."""
        theta = np.zeros((self.n, 2, self.k, self.k))
        rng = matrix_rng(self.seed, 0, Stream.AUDIT)
        groups.draw_parts(self.posterior, rng, self.n, partial(_add, theta, self.other_verdict))
        return [np.moveaxis(one, 0, -1) for one in compute(metrics, theta)]


def together(alone: Stack, audits: Mapping[str, xr.DataArray], prevalence: PrevalenceLike, seed: int) -> SameAudited:
    """Return what is known of two systems on the same items from what is known of each."""
    if prevalence is not None:
        raise ValueError("`prevalence` isn't for two audits of the same items; leave it out.")
    audit, first = next(iter(audits.values())), alone.of[0]
    assert isinstance(first, Audited)
    labels, dim = labels_of(audit), next(str(dim) for dim in audit.dims if dim not in MATRIX)
    other = np.repeat([labels.index(name) for name in audit[dim].values.tolist()], len(labels)).astype(np.intp)
    return SameAudited(alone.of, alone.shape, first.posterior, other, seed)
