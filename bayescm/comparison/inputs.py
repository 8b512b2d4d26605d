"""What is compared: systems, the pairs of them, and the numbers of each."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.comparison.evidence import FOLD, FOLDS, Evidence
from bayescm.data import validate
from bayescm.data.schema import MATRIX, SYSTEM
from bayescm.metrics import Metric, MetricsLike, per_label, resolve

COMPARISON = "comparison"
MAX_COMPARISONS = 5_000  # 100 systems
MAX_DRAWN = 500
"""Of systems on the same items, each pair of which is drawn with a prior of its own: that takes 2.5 to 20 ms each."""


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


@dataclass(frozen=True, kw_only=True, eq=False)
class Compared(Evidence):
    """Systems, and what is compared of them.

    Attributes
    ----------
    pairs : list of pairs of int
        Places of the first and the second system of each comparison.
    metrics : list of Metric
    entries : list of Entry
    """

    pairs: list[tuple[int, int]]
    metrics: list[Metric]
    entries: list[Entry]

    @cached_property
    def names(self) -> list[tuple[str, str]]:
        """The names of the first and the second system of each comparison."""
        return [(self.systems[i], self.systems[j]) for i, j in self.pairs]

    @property
    def comparisons(self) -> list[str]:
        """The names of the comparisons."""
        return [f"{first} - {second}" for first, second in self.names]

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        """The matrix of each system, folds added."""
        whole = self.counts.sum(FOLD) if self.design == FOLDS else self.counts
        return np.asarray(whole.transpose(SYSTEM, *MATRIX).values)


def compared(evidence: Evidence, reference: str | None, metrics: MetricsLike) -> Compared:
    """Choose the pairs, and check the metrics."""
    resolved = resolve(metrics, len(evidence.labels))
    most = MAX_COMPARISONS if evidence.answers is None else MAX_DRAWN
    pairs, entries = pairs_of(evidence.systems, reference, most), entries_of(resolved, evidence.labels)
    known = {each.name: getattr(evidence, each.name) for each in fields(evidence)}
    made = Compared(**known, pairs=pairs, metrics=resolved, entries=entries)
    validate.unique("comparison", made.comparisons)
    made.check(resolved)
    return made


def pairs_of(systems: Sequence[str], reference: str | None, most: int) -> list[tuple[int, int]]:
    """Return the pairs: all, or every other system with the reference."""
    n = len(systems)
    if n < 2:
        raise ValueError(f"`data` must have at least two systems; got {list(systems)}.")
    if reference is not None and str(reference) not in systems:
        raise ValueError(f"`reference` must be one of the systems {', '.join(systems)}; got {reference!r}.")
    number = n - 1 if reference is not None else n * (n - 1) // 2
    if number > most:
        why = "of the same items take too long" if most == MAX_DRAWN else "are no table to read"
        raise ValueError(
            f"`data` of {n} systems makes {number:,} comparisons, and more than {most:,} {why}: give a `reference`, or "
            "take bayescm.leaderboard."
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
