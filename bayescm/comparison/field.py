"""What a leaderboard asks of its systems."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.comparison.audits import INDEPENDENT
from bayescm.comparison.evidence import Evidence
from bayescm.data.schema import SYSTEM
from bayescm.distributions import Beta, Distribution
from bayescm.distributions.tabulated import DOUBTFUL
from bayescm.inference.blocks import Block
from bayescm.metrics import Metric, MetricLike, per_label, resolve

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Field:
    """Systems and the metric they are ranked by.

    Attributes
    ----------
    evidence : Evidence
    metric : Metric
    block : Block
        Of all systems together.
    """

    evidence: Evidence
    metric: Metric
    block: Block

    @property
    def coords(self) -> dict[str, Any]:
        """Of the dim ``system``."""
        return {str(name): c.variable for name, c in self.evidence.over.coords.items() if c.dims == (SYSTEM,)}

    @property
    def apart(self) -> bool:
        """Whether each system has items of its own."""
        return self.evidence.design == INDEPENDENT

    @cached_property
    def point(self) -> Array:
        """The metric of the counts, (systems,)."""
        return self.block.points([self.metric])[0]

    @cached_property
    def dist(self) -> Distribution | None:
        """What is known of each system alone, over the systems, where it varies and is known well enough."""
        known = self.block.known(self.metric)
        return known if known is not None and known.has_density and known.worst <= DOUBTFUL else None

    @cached_property
    def common(self) -> bool:
        """Whether the systems' metrics depend on each other, so that no distribution of each alone ranks them."""
        return not self.block.independent(self.metric)

    @property
    def beta(self) -> Beta | None:
        """One Beta for each system, which nothing else tells of; else None."""
        return self.dist if isinstance(self.dist, Beta) and not self.common else None

    @cached_property
    def each(self) -> list[Distribution]:
        """What is known of each system, one by one."""
        return [] if self.dist is None else [self.dist.at(system) for system in range(len(self.point))]

    @cached_property
    def counted(self) -> Beta | None:
        """What was counted, as the Beta that it makes with a prior of no weight; None where none is known."""
        return None if self.beta is None else self.block.evidence(self.metric)

    @cached_property
    def alike(self) -> list[NDArray[np.intp]]:
        """Groups of two or more systems with the same data."""
        observed = self.block.data()
        _, which = np.unique(observed.reshape(len(observed), -1), axis=0, return_inverse=True)
        return [np.flatnonzero(which == group) for group in np.flatnonzero(np.bincount(which) > 1)]


@dataclass(frozen=True)
class Worths:
    """Systems with worths that add up to 1, as a board takes them."""

    point: Array
    metric: Metric
    coords: dict[str, Any]
    alike: tuple[NDArray[np.intp], ...] = ()
    block: Any = None


def one_number(metric: MetricLike, n_labels: int) -> Metric:
    """Return a metric that has one value for each system."""
    resolved = resolve([metric], n_labels)[0]
    if per_label(resolved, n_labels):
        raise ValueError(
            f"`metric`: {resolved.name} has a value for each of {n_labels} classes; take '{resolved.name}_macro' or "
            "the like."
        )
    return resolved
