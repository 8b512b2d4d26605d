"""A search for the truth that an answer holds least often: ranges of truths, and a seeded optimiser."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

Array = NDArray[np.float64]
Estimate = Callable[[Any, int, int], tuple[float, float]]
"""Of a truth, how many data sets to simulate and a seed: coverage, and its standard error (0 by enumeration)."""

STEPS = (0.3, 0.1, 0.03)
"""Standard deviations of moves, as parts of a range: one is taken at random."""


class Range(NamedTuple):
    """From where to where one number of a truth goes, and on which scale it is drawn; or the values that it may be."""

    least: float = 0.0
    most: float = 1.0
    scale: str = "linear"
    values: tuple[Any, ...] = ()

    def at(self, place: float) -> Any:
        """Return the value at a place in [0, 1]."""
        if self.values:
            return self.values[min(int(place * len(self.values)), len(self.values) - 1)]
        there, back = {
            "linear": (float, float), "log": (np.log, np.exp), "whole": (np.log, np.exp), "logit": (logit, expit)
        }[self.scale]  # fmt: skip
        found = float(back((1.0 - place) * there(self.least) + place * there(self.most)))
        return round(found) if self.scale == "whole" else min(max(found, self.least), self.most)

    def text(self) -> str:
        """Say the range."""
        if self.values:
            return ", ".join(map(str, self.values))
        return f"{self.least:,g} to {self.most:,g}"


@dataclass(frozen=True)
class Box:
    """Truths that are numbers in ranges of their own; searched in the cube of their places."""

    ranges: dict[str, Range]
    to_ends: float = 0.0
    """Share of the moves that send one number to an end of its range: where the worst truths lie in corners."""

    def text(self) -> str:
        """Say the ranges."""
        return "; ".join(f"{name} {one.text()}" for name, one in self.ranges.items())

    def draw(self, rng: np.random.Generator) -> Array:
        """Return the places of some truth."""
        return rng.random(len(self.ranges))

    def move(self, places: Array, rng: np.random.Generator) -> Array:
        """Return places nearby: some or all moved, and kept at the edge that they would leave by."""
        if self.to_ends and rng.random() < self.to_ends:
            there = places.copy()
            there[rng.integers(len(there))] = rng.integers(2)
            return there
        some = rng.random(places.shape) < 0.5
        some[rng.integers(len(some))] = True
        return np.clip(places + some * rng.normal(0.0, rng.choice(STEPS), places.shape), 0.0, 1.0)

    def truth(self, places: Array) -> dict[str, Any]:
        """Return the numbers at these places."""
        return {name: one.at(float(place)) for (name, one), place in zip(self.ranges.items(), places, strict=True)}


class Effort(NamedTuple):
    """How long to search."""

    starts: int
    kept: int
    """Starts that are moved."""
    moves: int
    """Moves of each."""
    runs: int
    """Data sets of one estimate of the search."""
    fresh: int
    """Data sets of each estimate that judges what was found."""


class Worst(NamedTuple):
    """The truth that is held least of those found, and how often."""

    truth: Any
    coverage: float
    error: float
    mean: float
    """Over the starts, which are drawn from the whole range."""
    chosen: float
    """Its coverage by the numbers that chose it: what else is chosen by, so that `coverage` stays without selection."""


def worst(
    estimate: Estimate,
    draw: Callable[[np.random.Generator], Any],
    move: Callable[[Any, np.random.Generator], Any],
    effort: Effort,
    seed: int,
) -> Worst:
    """Search for the truth that is held least often, and say how often it is held.

    Starts are random, and all moves are judged by the same random numbers, which some truth suits worst by luck. So
    other numbers choose among what was found, and others again give its coverage: no selection is in it.
    """
    searching, choosing, reporting = (3 * seed + stage for stage in range(3))
    rng = np.random.default_rng(seed)
    starts = [draw(rng) for _ in range(effort.starts)]
    found = [estimate(one, effort.runs, searching)[0] for one in starts]
    ends = []
    for i in np.argsort(found, kind="stable")[: effort.kept]:
        here, least = starts[i], found[i]
        for _ in range(effort.moves):
            there = move(here, rng)
            if (now := estimate(there, effort.runs, searching)[0]) <= least:
                here, least = there, now
        ends.append(here)
    judged = [estimate(one, effort.fresh, choosing)[0] for one in ends]
    i = int(np.argmin(judged))
    return Worst(ends[i], *estimate(ends[i], effort.fresh, reporting), float(np.mean(found)), judged[i])
