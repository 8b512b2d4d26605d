"""A prior learnt by draws, for systems on the same items.

On the scale arcsin(sqrt(share of the metric's range)), where a proportion of n items has the variance 1/(4n) whatever
it is, the systems' values are y_s with noise c around values that scatter as in :mod:`bayescm.comparison.population`:
near systems with the standard deviation t, a far one with ten times that. Given t and the mean m of the systems, a
system's posterior has the mean m + B (y_s - m) and the variance B c, B = t^2 / (t^2 + c): so each draw's distance from
y_s is multiplied by sqrt(B). That keeps what draws of the same items have in common: the luck of the shared items moves
all systems alike, and only what distinguishes them is pulled together.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.interpolate import CubicSpline

from bayescm.data.random import Stream, matrix_rng

Array = NDArray[np.float64]

FAR = 10.0
"""How much further a far system is, in standard deviations."""
_MOST = 0.45  # standard deviation on this scale: half of that of the population's share
_LEAST = 1e-2  # of the noise's
_SCATTERS, _MEANS, _BETWEEN = 40, 48, 8
_NEVER = 1e-8
_BLOCK = 2**21  # numbers at a time


def near_and_far(systems: int) -> Array:
    """Return the prior probabilities that a system is near the others, and that it is far."""
    far = min(0.1, 1.0 / systems)
    return np.array([1.0 - far, far])


class _Seen(NamedTuple):
    """What is known of each system on the scale of the arcsine.

    Attributes
    ----------
    y : ndarray of shape (systems,)
        Distances from the draws' common mean.
    noise : float
        Variance of their errors.
    """

    y: Array
    noise: float


def shrink(values: Array, ends: tuple[float, float], seed: int) -> Array:
    """Pull draws of systems on the same items towards each other.

    Parameters
    ----------
    values : ndarray of shape (draws, systems)
        Under a prior of each system alone.
    ends : pair of float
        Range of the metric.
    seed : int

    Returns
    -------
    ndarray of shape (draws, systems)

    Notes
    -----
    The noise is averaged over the systems, which were all measured on the same items. What is estimated for each
    depends on its true value, and would pull the best too much.
    """
    lower, upper = ends
    scaled = np.arcsin(np.sqrt(np.clip((values - lower) / (upper - lower), 0.0, 1.0)))
    common = scaled.mean(1, keepdims=True)
    apart = scaled - common
    y, n = apart.mean(0), values.shape[1]
    noise = float(apart.var(0).mean() * n / (n - 1.0))
    if not noise > 1e-20:
        return values
    seen = _Seen(y, noise)
    rng = matrix_rng(seed, 2, Stream.RANKS)
    scatter, mean = _draw(seen, len(values), rng)
    block = max(_BLOCK // n, 1)
    for start in range(0, len(values), block):
        part = slice(start, start + block)
        apart[part] = _pulled(seen, apart[part], scatter[part, None], mean[part, None], rng)
    return np.asarray(lower + (upper - lower) * np.sin(np.clip(common + apart, 0.0, 0.5 * np.pi)) ** 2)


def _pulled(seen: _Seen, apart: Array, scatter: Array, mean: Array, rng: np.random.Generator) -> Array:
    """Return draws given the scatter and the mean of the systems, each near or far."""
    logs = [np.log(p) + _log_density(seen, t, mean) for p, t in _near_and_far(seen, scatter)]
    far = rng.random(apart.shape) < special.expit(logs[1] - logs[0])
    variance = np.where(far, FAR * scatter, scatter) ** 2
    kept = variance / (variance + seen.noise)
    return np.asarray(mean + kept * (seen.y - mean) + np.sqrt(kept) * (apart - seen.y))


def _near_and_far(seen: _Seen, scatter: Array) -> list[tuple[float, Array]]:
    return list(zip(near_and_far(len(seen.y)), (scatter, FAR * scatter), strict=True))


def _log_density(seen: _Seen, scatter: Array, mean: Array) -> Array:
    """Return the log density of what was seen, but for a constant."""
    variance = scatter**2 + seen.noise
    return np.asarray(-0.5 * (np.log(variance) + (seen.y - mean) ** 2 / variance))


def _draw(seen: _Seen, draws: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw the scatter and the mean of the systems from a grid of their posterior."""
    low, high = np.log(_LEAST * np.sqrt(seen.noise)), np.log(_MOST)
    for _ in range(3):
        scatter = np.exp(np.linspace(min(low, high - 1e-9), high, _SCATTERS))
        mean, density = _density(seen, scatter)
        used = np.log(scatter[density.sum(1) > _NEVER * density.sum(1).max()])
        step = np.log(scatter[1] / scatter[0])
        low, high = max(used[0] - step, low), min(used[-1] + step, high)
    place = rng.choice(density.size, draws, p=(density / density.sum()).ravel())
    return scatter[place // density.shape[1]], mean.ravel()[place]


def _density(seen: _Seen, scatter: Array) -> tuple[Array, Array]:
    """Return means, and the posterior mass of a grid over the scatter (uniform) and the mean (flat)."""
    room = 6.0 * np.sqrt((seen.noise + np.minimum(scatter, 0.5) ** 2) / len(seen.y))[:, None]
    low, high = seen.y.min() - room, seen.y.max() + room
    coarse, fine = np.linspace(0.0, 1.0, _MEANS), np.linspace(0.0, 1.0, _BETWEEN * (_MEANS - 1) + 1)
    logs = np.empty((len(scatter), _MEANS))
    for row, t in enumerate(scatter):
        mean = (low + (high - low) * coarse)[row, :, None]
        logs[row] = np.logaddexp(*(np.log(p) + _log_density(seen, u, mean) for p, u in _near_and_far(seen, t))).sum(1)
    logs += np.log(scatter[:, None] * (high - low))
    density = np.exp(np.minimum(CubicSpline(coarse, logs - logs.max(), axis=1)(fine), 50.0))
    return low + (high - low) * fine, density
