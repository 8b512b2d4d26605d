"""The prior of a leaderboard, two clusters and a rest, and nodes by which it is integrated.

On phi = arcsin(sqrt(rate)) a system is of one of two normal clusters, cut to rates, or of a rest, whose rates are
uniform. Six numbers are unknown: the places of the clusters, their scatters, and the shares of the larger one and of
the rest. Measured by their prior probabilities they fill a cube. A box of it is halved, along what the systems tell
best, until its middle stands for all of it, and where there is little of the posterior early. The likelihood's power
rises from one so small that a few boxes do up to 1, so that nothing narrow is missed, and nothing is left to chance.

To find boxes likelihoods are taken as normal. What the nodes weigh is computed without that, from their evidence.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.comparison.lattice import END

Array = NDArray[np.float64]

SCATTER, WIDEST = 0.02, 0.45
"""Scale of the half-Cauchy scatter of a cluster on the scale of the arcsine, and the largest scatter."""
CLUSTERS = 3.0
"""Prior weight of the clusters beside that of the rest, 1."""
_ROUGH = 3e-3  # share of the posterior times squared width in standard deviations from which a box is halved
_FINER = 4.0  # times the squared width along places: ranks depend on them most
_RISE = 2.5  # of the likelihood's power
_FAINT, _FAINTEST = np.exp(-10.0), np.exp(-16.0)  # shares of what is left out, the likeliest box being 1
_ALIKE, _POWER = 32, 0.25  # groups of systems, beyond twice as many, and the least power up to which boxes are halved
_NARROWEST = 0.6  # scatter in cells, of which the sum over the cells is right to .002
_SPREAD = 0.2  # of all systems' means: noise far below doesn't make groups


class _Seen(NamedTuple):
    """Means and variances of the systems' likelihoods, the evidence of the rest, and how many systems are alike."""

    mean: Array
    noise: Array
    rest: Array
    times: Array


class Nodes(NamedTuple):
    """Places and scatters of both clusters (nodes, 2), shares of the rest and of both (nodes, 3), and log prior."""

    place: Array
    scatter: Array
    share: Array
    log_prior: Array

    def take(self, which: NDArray[Any] | slice) -> "Nodes":
        """Return some nodes."""
        return Nodes(*(values[which] for values in self))

    def cells(self, edges: Array) -> Array:
        """Return the prior probabilities of cells between edges, (nodes, cells)."""
        out = self.share[:, :1] * np.diff(np.sin(edges) ** 2)
        middle, width = 0.5 * (edges[1:] + edges[:-1]), np.diff(edges)
        scatter = np.maximum(self.scatter, _NARROWEST * np.interp(self.place, middle, width))
        for j in range(2):
            mass = middle - self.place[:, j, None]
            mass /= np.sqrt(2.0) * scatter[:, j, None]
            np.square(mass, out=mass)
            np.exp(np.negative(mass, out=mass), out=mass)
            mass *= width
            mass *= (self.share[:, j + 1] / mass.sum(1))[:, None]
            out += mass
        return np.asarray(out)


class _Boxes(NamedTuple):
    """Corners of boxes, (boxes, 6), and what is known in their middles.

    Attributes
    ----------
    low, high : ndarray of shape (boxes, 6)
    logs : ndarray of shape (boxes,)
        Log likelihoods.
    width : ndarray of shape (boxes, 6)
        Squares, in standard deviations of what all systems tell.
    held : ndarray of shape (boxes, 2)
        How many systems the clusters hold.
    """

    low: Array
    high: Array
    logs: Array
    width: Array
    held: Array

    def take(self, which: NDArray[np.bool_]) -> "_Boxes":
        return _Boxes(*(values[which] for values in self))

    def log_prior(self) -> Array:
        return np.asarray(np.log(self.high - self.low).sum(1))

    def weight(self, power: float) -> Array:
        """Return probabilities by a power of the likelihood, the likeliest box being 1."""
        logs = self.log_prior() + power * self.logs
        return np.asarray(np.exp(logs - logs.max()))


def nodes(mean: Array, noise: Array, rest: Array) -> Nodes:
    """Return the nodes of systems, by means and variances of their likelihoods, and the evidence of the rest."""
    seen = _alike(mean, noise, rest)
    highest = min(1.0, max(_POWER, 2.0 * _ALIKE / len(mean)))
    boxes = _boxes(np.zeros((1, 6)), np.ones((1, 6)), seen)
    power = min(highest, 1.0 / boxes.width.max())
    while True:
        weight = boxes.weight(power)
        boxes, weight = boxes.take(weight > _FAINT), weight[weight > _FAINT]
        rough = power * boxes.width.max(1) * weight > _ROUGH * weight.sum()
        if rough.any():
            halves = _boxes(*_halved(boxes.take(rough)), seen)
            boxes = _Boxes(*(np.concatenate(both) for both in zip(boxes.take(~rough), halves, strict=True)))
        elif power == highest:
            break
        power = power if rough.any() else min(highest, _RISE * power)
    boxes = boxes.take(boxes.weight(1.0) > _FAINTEST)
    place, variance, blur, share = _hyperparameters(boxes.low, boxes.high)
    return Nodes(place, np.sqrt(variance + np.where(boxes.held < 1.0, blur, 0.0)), share, boxes.log_prior())


def _alike(mean: Array, noise: Array, rest: Array) -> _Seen:
    """Return what was seen of systems, or of groups of them that are much alike."""
    if len(mean) <= 2 * _ALIKE:
        return _Seen(mean, noise, rest, np.ones(len(mean)))
    level = np.round(0.5 * np.log2(noise + (_SPREAD * mean.std()) ** 2))
    order = np.lexsort((mean * (-1.0) ** level, level))  # there and back, so that a group is of one place
    starts = np.linspace(0, len(mean), _ALIKE + 1).astype(np.intp)[:-1]
    times = np.diff(np.append(starts, len(mean)))

    def average(values: Array) -> Array:
        return np.asarray(np.add.reduceat(values[order], starts) / times)

    middle = average(mean)
    apart = np.sqrt(np.maximum(average(mean**2) - middle**2, 0.0))
    ends = np.concatenate([middle - apart, middle + apart])  # so that the systems scatter as much
    return _Seen(ends, *(np.tile(values, 2) for values in (average(noise), average(rest), 0.5 * times)))


def _halved(boxes: _Boxes) -> tuple[Array, Array]:
    """Return the corners of both halves of boxes, cut where they are widest."""
    cut = np.arange(len(boxes.low)), boxes.width.argmax(1)
    low, high = np.concatenate([boxes.low] * 2), np.concatenate([boxes.high] * 2)
    high[cut] = low[cut[0] + len(boxes.low), cut[1]] = 0.5 * (boxes.low + boxes.high)[cut]
    return low, high


def _hyperparameters(low: Array, high: Array) -> tuple[Array, Array, Array, Array]:
    """Return places, variances, and variances of places within boxes, (boxes, 2), and shares (boxes, 3)."""
    middle = 0.5 * (low + high)
    first, rest = _shares(middle)[:, 0], _shares(middle)[:, 1]
    share = np.stack([rest, (1.0 - rest) * first, (1.0 - rest) * (1.0 - first)], 1)
    return END * middle[:, :2], _variance(middle), (END * (high - low)[:, :2]) ** 2 / 12.0, share


def _variance(point: Array) -> Array:
    return np.asarray((SCATTER * np.tan(point[:, 2:4] * np.arctan(WIDEST / SCATTER))) ** 2)


def _shares(point: Array) -> Array:
    """Return the larger cluster's share of both, and the share of the rest."""
    return np.stack([0.5 + 0.5 * point[:, 4], 1.0 - (1.0 - point[:, 5]) ** (1.0 / CLUSTERS)], 1)


def _between(place: Array, scatter: Array) -> Array:
    """Return the probabilities that normal variables are arcsines."""
    return np.asarray(special.ndtr((END - place) / scatter) - special.ndtr(-place / scatter))


def _boxes(low: Array, high: Array, seen: _Seen) -> _Boxes:
    """Return boxes with what is known in their middles; clusters are spread as their places are within a box."""
    place, variance, blur, share = _hyperparameters(low, high)
    total = (variance + blur)[..., None] + seen.noise
    density = np.exp(-0.5 * (seen.mean - place[..., None]) ** 2 / total) / np.sqrt(2.0 * np.pi * total)
    density /= _between(place, np.sqrt(variance + blur))[..., None]
    parts = share[:, 1:, None] * density
    both = parts.sum(1)
    rest = share[:, :1] * seen.rest
    holds = parts / (both + rest)[:, None] * seen.times
    angles = np.arcsin(np.sqrt(_shares(high))) - np.arcsin(np.sqrt(_shares(low)))
    one, other = density[:, 0], density[:, 1]
    apart = ((one - other) / (one + other + 1e-300)) ** 2
    beside = ((both - (1.0 - share[:, :1]) * seen.rest) / (both + (1.0 - share[:, :1]) * seen.rest)) ** 2
    width = np.concatenate([
        _FINER * 12.0 * blur * (holds / total).sum(2),
        (_variance(high) - _variance(low)) ** 2 * 0.5 * (holds / total**2).sum(2),
        4.0 * angles**2 * np.stack([(holds.sum(1) * apart).sum(1), beside @ seen.times], 1),
    ], 1)  # fmt: skip
    return _Boxes(low, high, np.log(both + rest) @ seen.times, width, holds.sum(2))
