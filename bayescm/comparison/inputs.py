"""What is compared: the systems' matrices, the answers they gave to the same items, and the pairs of systems."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.answers import of_accuracies
from bayescm.data.counts import check_counts
from bayescm.data.schema import MATRIX, ONE_CLASS, SYSTEM, labels_of
from bayescm.inference.blocks import Block
from bayescm.metrics import Metric, MetricsLike, check_of_answers, per_label, resolve
from bayescm.models import same_items

FOLD = "fold"
COMPARISON = "comparison"
DESIGNS = ("independent", "paired")
JOINT = "joint"
"""The design of systems whose draws are one model's."""
MAX_COMPARISONS = 500


@dataclass(frozen=True, slots=True)
class Entry:
    """One number that is compared: a metric, or a metric of one class.

    Attributes
    ----------
    metric : Metric
    name : str
        ``recall``, or ``recall[a]`` of the class a of more than two.
    place : int or None
        Of the class among the labels.
    """

    metric: Metric
    name: str
    place: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """The data, checked.

    Attributes
    ----------
    design : {"independent", "paired", "folds", "joint"}
    counts : xarray.DataArray
        ``counts(system, actual, predicted)``; with folds ``counts(system, fold, actual, predicted)``.
    answers : Patterns or None
        Where the same items were answered.
    pairs : list of pairs of int
        Places of the first and the second system of each comparison.
    metrics : list of Metric
    entries : list of Entry
    audits : dict of str to xarray.DataArray
        Of the systems, where only some of their items were checked; `counts` then are of the checked ones.
    """

    design: str
    counts: xr.DataArray
    answers: same_items.Patterns | None
    pairs: list[tuple[int, int]]
    metrics: list[Metric]
    entries: list[Entry]
    audits: dict[str, xr.DataArray] = field(default_factory=dict)

    @property
    def runs(self) -> int:
        """How often each system answered each of the same items."""
        return 1 if self.answers is None else self.answers.runs

    @property
    def labels(self) -> list[Any]:
        """The class labels."""
        return labels_of(self.counts)

    @property
    def systems(self) -> list[str]:
        """The names of the systems."""
        return [str(name) for name in self.counts[SYSTEM].values]

    @property
    def names(self) -> list[tuple[str, str]]:
        """The names of the first and the second system of each comparison."""
        return [(self.systems[i], self.systems[j]) for i, j in self.pairs]

    @property
    def comparisons(self) -> list[str]:
        """The names of the comparisons."""
        return [f"{first} - {second}" for first, second in self.names]

    @property
    def totals(self) -> NDArray[np.int64]:
        """The matrix of each system, folds added."""
        whole = self.counts.sum(FOLD) if self.design == "folds" else self.counts
        return np.asarray(whole.transpose(SYSTEM, *MATRIX).values)


def read(data: Any, design: str | None, reference: str | None, metrics: MetricsLike) -> Compared:
    """Check what is to be compared."""
    if design is not None:
        validate.choice("design", design, DESIGNS)
    answers = None
    if same_items.answered_together(data):
        answers = same_items.patterns(data)
        counts, design = answers.labelled(), design or "paired"
        if design == "independent":
            same_items.refuse_runs(answers, "`design`='independent'")
            answers = None
            validate.warn(
                "The systems answered the same items, and design='independent' ignores that: errors on the same items "
                "no longer cancel, so that differences look more uncertain than they are, or less."
            )
    else:
        counts, design = _separate(data, design)
    labels = labels_of(counts)
    resolved = resolve(metrics, len(labels))
    if isinstance(data, xr.Dataset) and ONE_CLASS in data.attrs:
        check_of_answers(resolved)
    systems = [str(name) for name in counts[SYSTEM].values]
    validate.unique("system", systems)
    pairs = pairs_of(systems, reference)
    compared = Compared(design, counts, answers, pairs, resolved, entries_of(resolved, labels))
    validate.unique("comparison", compared.comparisons)
    return compared


def of_draws(
    block: Block, systems: xr.DataArray, reference: str | None, metrics: MetricsLike, labels: Sequence[Any]
) -> Compared:
    """Return systems whose draws are one model's."""
    names = [str(name) for name in systems[SYSTEM].values]
    validate.unique("system", names)
    coords = {SYSTEM: names} | {dim: list(labels) for dim in MATRIX}
    counts = xr.DataArray(block.cells(), dims=(SYSTEM, *MATRIX), coords=coords, name="counts")
    resolved = resolve(metrics, len(labels))
    return Compared(JOINT, counts, None, pairs_of(names, reference), resolved, entries_of(resolved, labels))


def _separate(data: Any, design: str | None) -> tuple[xr.DataArray, str]:
    """Check matrices, one for each system, or one for each system and fold."""
    if isinstance(data, xr.Dataset):
        raise TypeError(
            "`data` as a Dataset must be that of bayescm.predictions, with actual(item) and predicted(system, item); "
            f"got the variables {', '.join(map(str, data.data_vars)) or 'none'}. Of right and wrong answers alone see "
            "bayescm.leaderboard."
        )
    of_accuracies(data, None)
    counts = check_counts(data).compute()
    batch = [str(dim) for dim in counts.dims if dim not in MATRIX]
    if SYSTEM not in batch or not set(batch) <= {SYSTEM, FOLD}:
        raise ValueError(
            f"`data` as counts must have the dim 'system', and may have 'fold'; got {batch}. Rename or select, or give "
            "bayescm.compare_systems({'A': counts_a, 'B': counts_b})."
        )
    if design == "paired":
        raise ValueError(
            "`design`='paired' needs to know which items both systems got right: give the joint table of "
            "bayescm.paired_counts, or bayescm.predictions."
        )
    if SYSTEM not in counts.coords:
        counts = counts.assign_coords({SYSTEM: np.arange(counts.sizes[SYSTEM])})
    counts = counts.transpose(SYSTEM, ..., *MATRIX)
    validate.count_values("counts", counts.values)
    if FOLD in batch:
        if counts.sizes[FOLD] < 2:
            raise ValueError("`data` has one fold; give at least two, or drop the dim.")
        return counts, "folds"
    totals = counts.values.sum(-1)
    if design is None and len(totals) > 1 and (totals == totals[0]).all():
        same_items.warn_of_same_totals("design='independent'")
    return counts, "independent"


def pairs_of(systems: Sequence[str], reference: str | None) -> list[tuple[int, int]]:
    """Return the pairs: all, or every other system with the reference."""
    n = len(systems)
    if n < 2:
        raise ValueError(f"`data` must have at least two systems; got {list(systems)}.")
    if reference is not None and str(reference) not in systems:
        raise ValueError(f"`reference` must be one of the systems {', '.join(systems)}; got {reference!r}.")
    number = n - 1 if reference is not None else n * (n - 1) // 2
    if number > MAX_COMPARISONS:
        raise ValueError(
            f"`data` of {n} systems makes {number:,} comparisons, and more than {MAX_COMPARISONS} are no table to read:"
            " give a `reference`, or take bayescm.leaderboard."
        )
    if reference is not None:
        at = systems.index(str(reference))
        return [(i, at) for i in range(n) if i != at]
    return [(i, j) for i in range(n) for j in range(i + 1, n)]


def entries_of(metrics: Sequence[Metric], labels: Sequence[Any]) -> list[Entry]:
    """Return what is compared: metrics per class once for every class."""
    found = []
    for metric in metrics:
        if per_label(metric, len(labels)):
            found += [Entry(metric, f"{metric.name}[{label}]", i) for i, label in enumerate(labels)]
        else:
            found.append(Entry(metric, metric.name))
    return found
