"""What needs no draws under the prior that is learned across classes.

Given the hyperparameters a recall is a Beta, or one of two: over their grid it is a mixture of these, and so is a
class share. The moments of accuracy are known at each node, and it is taken for a mixture of Betas of three moments.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from bayescm.distributions.beta import Beta
from bayescm.distributions.learned import KAPPAS, OWN, SPREADS, Learned
from bayescm.distributions.mixed import Mixed, Skewed

Array = NDArray[np.float64]
Moments = tuple[Array, Array, Array]
"""Mean, variance and third central moment."""

_BINS, _REACH = 12, 4.0
"""Parts of the means of nodes of one concentration, and their standard deviations that these parts cover."""
_NODES = 16
"""Of Gauss' rule over what recalls are around, for each concentration."""
_NOTHING = 1e-6
"""Weight of a node, relative to the largest, or of a part, that is left out."""
_PEAKED = 2.0
"""Least concentration of a Beta that takes a third moment: below, its density ends steeply."""


def of_shares(matrices: Iterable[Learned]) -> Mixed:
    """Return the distribution (n, K) of class shares."""
    totals, weight = (np.stack(part) for part in zip(*((one.totals, one.shares) for one in matrices), strict=True))
    a = totals[..., None] + KAPPAS
    return Mixed(Beta(a, a.sum(1, keepdims=True) - a), np.broadcast_to(weight[:, None, :], a.shape))


def of_accuracy(matrices: Iterable[Learned], *, missed: bool = False) -> Mixed:
    """Return the distribution (n,) of accuracy, or of its complement.

    Where the moments don't tell all its ends are right to a hundredth of their distance; `error` says how far the third
    moment moves their probabilities.
    """
    weight, mean, variance, third = _stacked([_accuracy(one) for one in matrices])
    n = mean * (1.0 - mean) / variance - 1.0
    a, b, third = (n * (1.0 - mean), n * mean, -third) if missed else (n * mean, n * (1.0 - mean), third)
    return Mixed(Skewed(Beta(a, b), (third - _beta_moments(a, b)[2]) * (np.minimum(a, b) >= _PEAKED)), weight)


def _beta_moments(a: Array, b: Array) -> Moments:
    n = a + b
    variance = a * b / (n**2 * (n + 1.0))
    return a / n, variance, 2.0 * (b - a) / (n * (n + 2.0)) * variance


def of_recalls(matrices: Iterable[Learned], *, missed: bool = False) -> Mixed:
    """Return the distribution (n, K) of recalls, or of their complements, to .004; of classes without items to .01."""
    weight, a, b = _stacked([_recalls(one) for one in matrices])
    return Mixed(Beta(b, a) if missed else Beta(a, b), weight)


def _recalls(one: Learned) -> tuple[Array, Array, Array]:
    """Return weights and concentrations (K, M) of the Betas that recalls are mixtures of."""
    known, right, k = one.hyper, np.diagonal(one.counts), len(one.counts)
    weight = known.weight[..., None]
    lone = known.lone(slice(None), known.alike[..., None, :])
    alone = (weight * lone).sum((0, 1, 2, 3))
    weight = (weight * (1.0 - lone)).sum(3)
    weight = weight.reshape(-1, len(known.concentration), k).transpose(2, 1, 0)  # class, concentration, node
    mean, weight = _gauss(np.broadcast_to(known.mean.reshape(-1, k).T[:, None], weight.shape), weight)
    strength = known.concentration[:, None]
    a, b = (v.reshape(k, -1) for v in (strength * mean, strength * (1.0 - mean)))
    ends = [(weight.reshape(k, -1), alone), (a + right[:, None], right + OWN)]
    ends.append((b + (one.totals - right)[:, None], one.totals - right + OWN))
    weight, a, b = (np.append(v, own[:, None], 1) for v, own in ends)
    return weight, a, b


def _gauss(x: Array, weight: Array) -> tuple[Array, Array]:
    """Return the nodes and weights (..., n) of Gauss' rule for points of given weights (..., N): Lanczos' steps."""
    total = np.maximum(weight.sum(-1, keepdims=True), 1e-300)
    middle = (weight * x).sum(-1, keepdims=True) / total
    spread = np.sqrt((weight * (x - middle) ** 2).sum(-1, keepdims=True) / total)
    z = (x - middle) / np.maximum(spread, 1e-300)
    matrix = np.zeros((*x.shape[:-1], _NODES, _NODES))
    now, before, size = np.sqrt(weight / total), np.zeros_like(x), np.zeros((*x.shape[:-1], 1))
    for i in range(_NODES):
        matrix[..., i, i] = (now * now * z).sum(-1)
        rest = (z - matrix[..., i, i, None]) * now - size * before
        size = np.sqrt((rest * rest).sum(-1, keepdims=True))
        size[size < 1e-7] = 0.0  # all points that weigh something are nodes already
        if i + 1 < _NODES:
            matrix[..., i, i + 1] = matrix[..., i + 1, i] = size[..., 0]
            before, now = now, rest / np.where(size > 0.0, size, np.inf)
    nodes, vectors = np.linalg.eigh(matrix)
    return np.asarray(middle + spread * nodes), total * np.square(vectors[..., 0, :])


def _accuracy(one: Learned) -> tuple[Array, Array, Array, Array]:
    """Return weights and moments (M,) of what accuracy is taken for a mixture of."""
    known, right, n = one.hyper, np.diagonal(one.counts), one.totals
    node = np.nonzero(known.weight > _NOTHING * known.weight.max())
    level, slope, strength, apart = node
    a = right + (known.concentration[:, None] * known.mean[:, :, None])[level, slope, strength]
    like = _beta_moments(a, n + known.concentration[strength][:, None] - a)
    own = _beta_moments(right + OWN, n - right + OWN)
    both = (np.stack(np.broadcast_arrays(*pair)) for pair in zip(like, own, strict=True))
    lone = known.lone(apart, known.alike[level, slope, strength])
    moments = _over_shares(n, one.shares, *_mean_of(np.stack([1.0 - lone, lone]), *both))
    return _grouped(strength, known.weight[node], *moments)


def _over_shares(totals: Array, weights: Array, mean: Array, variance: Array, third: Array) -> Moments:
    """Return moments (nodes,) of the mean of recalls R over shares, a mixture of Dirichlet ones.

    Of Dirichlet(a) shares, n = sum(a) and p_j = sum(a R^j), first moments given R are p_1 / n,
    (p_1^2 + p_2) / (n (n + 1)) and (p_1^3 + 3 p_1 p_2 + 2 p_3) / (n (n + 1) (n + 2)); recalls are independent.
    """
    middle = mean @ (totals + OWN) / (totals + OWN).sum()
    off = mean - middle[:, None]  # so that little cancels
    square, cube = variance + off * off, third + off * (3.0 * variance + off * off)
    a = totals + KAPPAS[:, None]
    n, a2 = a.sum(1, keepdims=True), a * a
    first, spread = a @ off.T, a2 @ variance.T
    second, own = a @ square.T, a2 @ (cube - off * square).T
    one = first / n
    two = (first * first + spread + second) / (n * (n + 1.0))
    three = first * (first * first + 3.0 * (spread + second)) + (a * a2) @ third.T + 3.0 * own + 2.0 * (a @ cube.T)
    three /= n * (n + 1.0) * (n + 2.0)
    three -= one * (3.0 * two - 2.0 * one * one)
    mean, variance, third = _mean_of(weights[:, None], one, two - one * one, three)
    return middle + mean, variance, third


def _mean_of(weight: Array, mean: Array, variance: Array, third: Array) -> Moments:
    """Return the moments of a mixture of the parts along the first axis."""
    middle = (weight * mean).sum(0)
    off = mean - middle
    second, last = variance + off * off, third + off * (3.0 * variance + off * off)
    return middle, (weight * second).sum(0), (weight * last).sum(0)


def _grouped(
    group: NDArray[np.intp], weight: Array, mean: Array, variance: Array, third: Array
) -> tuple[Array, Array, Array, Array]:
    """Return weights and moments (M,) of nodes (N,) that are of one group and have nearly one mean."""

    def per(values: Array, n: int) -> tuple[Array, Array]:
        """Return the sums of values by place, and their means at the nodes."""
        sums = np.bincount(place, weight * values, n)
        return sums, (sums / np.maximum(np.bincount(place, weight, n), 1e-300))[place]

    place, n = group, SPREADS
    off = mean - per(mean, n)[1]
    bins = (off / np.maximum(np.sqrt(per(off * off, n)[1]), 1e-300) / _REACH + 1.0) * (0.5 * _BINS)
    place, n = group * _BINS + np.clip(bins, 0, _BINS - 1).astype(np.intp), n * _BINS
    weights, middle = np.bincount(place, weight, n), per(mean, n)
    off = mean - middle[1]
    sums = middle[0], per(variance + off * off, n)[0], per(third + off * (3.0 * variance + off * off), n)[0]
    first, second, last = (v / np.maximum(weights, 1e-300) for v in sums)
    return weights, first, second, last


def _stacked(each: Sequence[tuple[Array, ...]]) -> list[Array]:
    """Return weights (n, ..., M) and what goes with them, the heaviest first; parts of no weight are like the first."""
    most = max(int((weight > _NOTHING).sum(-1).max()) for weight, *_ in each)
    rows = []
    for parts in each:
        heaviest = np.argsort(-parts[0], axis=-1)[..., :most]
        rows.append([np.take_along_axis(v, heaviest, -1) for v in parts])
    weight, *others = (np.stack(part) for part in zip(*rows, strict=True))
    matter = weight > _NOTHING
    weight = np.where(matter, weight, 0.0)
    return [weight / weight.sum(-1, keepdims=True), *(np.where(matter, v, v[..., :1]) for v in others)]
