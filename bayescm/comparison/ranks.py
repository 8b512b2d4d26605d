"""Ranks of independent systems without Monte Carlo.

How many systems exceed a value x is a sum of independent events, and P(rank of s is r) is the integral over x of the
density of s times P(r - 1 of the others exceed x). All systems share one set of nodes, fine where the narrowest of them
is, or where many overlap. Two sums must be 1, which says how well it went: each system has some rank, each rank some
system.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm._kernels.codes import DESCRIPTION, LANES, TABLE
from bayescm._kernels.dispatch import in_blocks, kernel
from bayescm.distributions import Beta, Distribution

Array = NDArray[np.float64]
Integers = NDArray[np.intp]

_Z = np.linspace(-8.0, 8.0, 17)  # normal quantiles of the knots
_MASS = np.diff(special.ndtr(_Z))
_MIDDLE = special.ndtr(0.5 * (_Z[1:] + _Z[:-1]))
_MEDIAN = len(_Z) // 2
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_SHARE = 4.0  # length of a panel, in the narrowest standard deviation inside
_PIECE = 32  # panels that are integrated together
_GOAL = 1e-8
_HALVINGS = 4
_GAIN = 2.0  # of the error by a halving that is worth another
_TAILS = 0.05, 0.95
_SYSTEMS, _PLACES = 16, 32  # worth a thread
_SECONDS, _STEP = 0.004, 6e-6  # of Python for a table, and for a number in one

Tails = Callable[[Array, Integers, Array, Array], None]
"""Fills P(X > x) and the density, (nodes, systems), at ascending nodes, for the systems with given numbers."""
Shift = Callable[[Array, float], Array]


class Piece(NamedTuple):
    """A stretch of nodes.

    Attributes
    ----------
    some : ndarray of int
        Systems that may lie here, by their medians.
    below : ndarray of int
        Systems that lie below for sure.
    nodes : ndarray of shape (nodes,)
    upper, weighted : ndarray of shape (nodes, some)
        P(X > x), and weight times density.
    fill : callable
        The distributions.
    """

    some: Integers
    below: Integers
    nodes: Array
    upper: Array
    weighted: Array
    fill: Tails


@dataclass(frozen=True)
class Exact:
    """Probabilities of ranks, the best first, and what they are made of.

    Attributes
    ----------
    ranks : ndarray of shape (systems, ranks)
    error : float
        How far the sums that must be 1 are from it.
    pieces : list of Piece
    shift : callable
        Takes nodes and a number, returns where the metric is larger by as much.
    smallest : bool
        Whether the smallest is the best.
    parts : list of pairs
        Of a mixture: weights, and ranks of each part.
    """

    ranks: Array
    error: float
    pieces: list[Piece]
    shift: Shift
    smallest: bool = False
    parts: Sequence[tuple[float, Array]] = ()

    @classmethod
    def mixed(cls, weight: Array, parts: Sequence["Exact"]) -> "Exact":
        """Return the ranks of a mixture."""
        found = list(zip(weight, parts, strict=True))
        return cls(
            np.asarray(sum(w * part.ranks for w, part in found)),
            float(sum(w * part.error for w, part in found)),
            [piece._replace(weighted=w * piece.weighted) for w, part in found for piece in part.pieces],
            parts[0].shift,
            parts=[(w, part.ranks) for w, part in found],
        )

    def smallest_first(self) -> "Exact":
        """Return the ranks where small values are good."""
        return replace(
            self, ranks=self.ranks[:, ::-1], smallest=True, parts=[(w, ranks[:, ::-1]) for w, ranks in self.parts]
        )

    def between(self, system: int) -> tuple[float, float]:
        """Return between which P(best) of a system is in the parts of a mixture with a probability of .9."""
        best = np.array([ranks[system, 0] for _, ranks in self.parts])
        order = np.argsort(best)
        shares = np.cumsum(np.array([weight for weight, _ in self.parts])[order])
        low, high = best[order][np.searchsorted(shares, _TAILS).clip(max=len(best) - 1)]
        return float(low), float(high)

    def beats(self, system: int, others: Integers) -> Array:
        """Return the probabilities that a system is better than others."""
        larger = np.zeros(len(self.ranks))
        for piece in self.pieces:
            place = np.flatnonzero(piece.some == system)
            if len(place):
                weighted = piece.weighted[:, place[0]]
                larger[piece.some] += weighted @ (1.0 - piece.upper)
                larger[piece.below] += weighted.sum()
        return 1.0 - larger[others] if self.smallest else larger[others]

    def pairwise(self) -> Array:
        """Return P(row is better than column); 1/2 on the diagonal and between identical systems."""
        larger = np.zeros_like(self.ranks)
        for piece in self.pieces:
            larger[np.ix_(piece.some, piece.some)] += piece.weighted.T @ (1.0 - piece.upper)
            larger[np.ix_(piece.some, piece.below)] += piece.weighted.sum(0)[:, None]
        larger = 0.5 * (1.0 + larger - larger.T)
        return larger.T if self.smallest else larger

    def equivalent(self, rope: float) -> Array:
        """Return P(row and column differ by at most `rope`)."""
        above = np.zeros_like(self.ranks)  # P(row exceeds column by more)
        everyone = np.arange(len(above))
        for piece in self.pieces:
            upper, density = np.zeros((2, len(piece.nodes), len(above)))
            piece.fill(self.shift(piece.nodes, -rope), everyone, upper, density)
            above[piece.some] += piece.weighted.T @ (1.0 - upper)
        within = np.clip(1.0 - above - above.T, 0.0, 1.0)
        np.fill_diagonal(within, 1.0)
        return within


def shifted(link: str) -> Shift:
    """Return the shift of a metric whose nodes are the log-odds of a Beta variable."""

    def shift(nodes: Array, by: float) -> Array:
        x = special.expit(nodes)
        moved = (2.0 * x / (1.0 + x) if link == "f1" else x) + by
        moved = np.clip(moved / (2.0 - moved) if link == "f1" else moved, 0.0, 1.0)
        return np.asarray(special.logit(moved))

    return shift


def of_dists(dists: Sequence[Distribution]) -> Exact:
    """Return the ranks of systems with any distributions."""
    lower, upper = special.ndtr(_Z[: _MEDIAN + 1]), special.ndtr(-_Z[_MEDIAN + 1 :])
    knots = np.stack([np.concatenate([dist.ppf(lower), dist.isf(upper)]) for dist in dists])

    def fill(nodes: Array, some: Integers, upper: Array, density: Array) -> None:
        for column, s in enumerate(some):
            first, last = np.searchsorted(nodes, knots[s, [0, -1]])
            inside = slice(first, last)
            upper[:first, column] = 1.0
            below, density[inside, column] = dists[s].on_grid(nodes[inside])
            upper[inside, column] = 1.0 - below

    return refined(knots, fill, knots[:, [0, _MEDIAN, -1]], lambda nodes, by: nodes + by)


class Betas(NamedTuple):
    """Beta variables in log-odds, tabulated.

    Attributes
    ----------
    tables, distributions : ndarray
    knots : ndarray of shape (systems, knots)
        At given normal quantiles.
    """

    tables: Array
    dists: Array
    knots: Array

    @classmethod
    def of(cls, dist: Beta) -> "Betas":
        """Tabulate."""
        a, b = (np.ascontiguousarray(v, np.float64) for v in (dist.a, dist.b))
        made = cls(np.empty((len(a), *TABLE)), np.empty((len(a), DESCRIPTION)), np.empty((len(a), len(_Z))))
        beta_tables = kernel("rank_sums", "beta_tables", _SECONDS * len(a))

        def tabulate(i: int, j: int) -> None:
            beta_tables(a[i:j], b[i:j], _Z, made.tables[i:j], made.dists[i:j], made.knots[i:j])

        in_blocks(tabulate, len(a), _SYSTEMS)
        return made

    def fill(self, nodes: Array, some: Integers, upper: Array, density: Array) -> None:
        """Fill P(X > x) and the density."""
        ends = self.knots[:, 0].copy(), self.knots[:, -1].copy()
        known = self.tables, self.dists, *ends, some, nodes, upper, density
        beta_tails = kernel("rank_sums", "beta_tails", _STEP * upper.size)
        in_blocks(partial(beta_tails, *known), len(some), _SYSTEMS)


def of_betas(dist: Beta) -> Exact:
    """Return the ranks of systems with Beta distributions, or one monotone map of them."""
    betas = Betas.of(dist)
    return refined(betas.knots, betas.fill, betas.knots[:, [0, _MEDIAN, -1]], shifted(dist.link))


def refined(knots: Array, fill: Tails, ends: Array, shift: Shift) -> Exact:
    """Halve the panels until the sums are 1, or the distributions themselves aren't known better.

    Parameters
    ----------
    knots : ndarray of shape (distributions, knots)
        Where the distributions lie; of a system that is a mixture, of each of its parts.
    fill : callable
    ends : ndarray of shape (systems, 3)
        Lower end, median and upper end of each system.
    shift : callable

    Returns
    -------
    Exact
    """
    found = _integrate(knots, fill, ends, shift, _SHARE)
    for halving in range(1, _HALVINGS + 1):
        if found.error < _GOAL:
            break
        finer = _integrate(knots, fill, ends, shift, _SHARE / 2.0**halving)
        gained = found.error / finer.error
        found = finer if gained > 1.0 else found
        if gained < _GAIN:
            break
    return found


def _integrate(knots: Array, fill: Tails, ends: Array, shift: Shift, share: float) -> Exact:
    """Return the ranks by panels of one fineness, and how far their sums are from 1."""
    first, median, last = ends.T
    order = np.argsort(median, kind="stable")
    points = np.unique(knots)
    fine = np.empty(len(points) - 1)
    kernel("rank_sums", "fineness", 0.5 * _STEP * len(ends) * len(points))(knots, _MASS, _MIDDLE, points, fine)
    low, high = kernel("rank_sums", "panels", _STEP * len(points))(points, fine, share)

    def pieces() -> Iterator[Piece]:
        for start in range(0, len(low), _PIECE):
            part = slice(start, start + _PIECE)
            half = 0.5 * (high - low)[part, None]
            nodes, weights = (low[part, None] + half * (1.0 + _NODES)).ravel(), (half * _WEIGHTS).ravel()
            here = (first[order] < nodes[-1]) & (last[order] > nodes[0])
            some, below = order[here], np.flatnonzero(last <= nodes[0])
            upper, weighted = np.zeros((2, len(nodes), len(some)))
            fill(nodes, some, upper, weighted)
            weighted *= weights[:, None]
            yield Piece(some, below, nodes, upper, weighted, fill)

    return of_pieces(pieces(), len(ends), shift)


def of_pieces(pieces: Iterable[Piece], systems: int, shift: Shift) -> Exact:
    """Return the ranks by pieces."""
    ranks, kept = np.zeros((systems, systems)), []
    for piece in pieces:
        above = systems - len(piece.some) - len(piece.below)
        ranks[piece.some, above : above + len(piece.some)] += _ranks(piece.upper, piece.weighted)
        kept.append(piece)
    error = max(float(np.abs(ranks.sum(axis) - 1.0).max()) for axis in (0, 1))
    return Exact(np.maximum(ranks, 0.0), error, kept, shift)


def _ranks(upper: Array, weighted: Array) -> Array:
    """Return a piece's part of the ranks among the systems that may lie in it."""
    n = upper.shape[1]
    split = (upper < 0.5).sum(1)
    sums, places = _sums(upper)
    ranks = np.empty((n, n))
    add_ranks = kernel("rank_sums", "add_ranks", 0.5 * _STEP * (sums.size + upper.size))

    def add(first: int, last: int) -> None:
        block = np.zeros((n, last - first))
        add_ranks(upper, weighted, split, sums, places, first, last, block)
        ranks[first:last] = block.T

    in_blocks(add, n, LANES)
    return ranks


def _sums(upper: Array) -> tuple[Array, Integers]:
    """Return the distribution of how many systems are larger at each node, in a band as wide as is needed."""
    larger = kernel("rank_sums", "larger", _STEP * upper.size)
    band, places = 64, np.empty((len(upper), 3), np.int64)
    while True:
        sums = np.empty((len(upper), min(band, upper.shape[1] + 1)))
        wider = in_blocks(partial(larger, upper, sums, places), len(upper), _PLACES)
        if not max(wider):
            return sums, places
        band = max(2 * band, *wider)
