"""A posterior of a few parameters by importance sampling: mode, curvature, Sobol points of a t distribution, weights.

The proposal is a multivariate t distribution about the mode, once moved to the mean and the covariance of its own
weighted points. How well it fits is said by the effective share of the points, 1 / (n sum w^2),
and by the Pareto k of the weights (Vehtari, Simpson, Gelman, Yao and Gabry 2024, JMLR 25:72). A weight is at most
sqrt(n) of the mean one (Ionides 2008, JCGS 17:295), and k is that of the weights before.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]
LogDensity = Callable[[Array], Array]
"""Of points (n, parameters), but for a constant."""

_DF = 5.0  # of the proposal, if nothing else is said
_PILOT = 1024  # points that move the proposal
_WIDER = 1.1  # covariance of the proposal, in those of its points
_STEP = 1e-4  # of numerical derivatives
_TRUSTED_K, _TRUSTED_SHARE = 0.7, 0.02


class Weighted(NamedTuple):
    """Points and their weights, which add up to 1.

    Attributes
    ----------
    points : ndarray of shape (n, parameters)
    weight : ndarray of shape (n,)
    share : float
        Effective share of the points.
    k : float
        Pareto k of the weights.
    """

    points: Array
    weight: Array
    share: float
    k: float

    @property
    def doubt(self) -> str:
        """Say why the points can't stand in for the posterior; nothing if they can."""
        if self.k < _TRUSTED_K and self.share > _TRUSTED_SHARE:
            return ""
        return f"weights that fit badly (Pareto k {self.k:.2f}, an effective share of {self.share:.1%} of the points)"

    def resample(self, rng: np.random.Generator, n: int) -> Array:
        """Return n points of equal weight, in random order, by systematic resampling.

        The points are mixed first: in their own order every fourth of a Sobol sequence lies elsewhere than the others.
        """
        mixed = rng.permutation(len(self.weight))
        places = (rng.random() + np.arange(n)) / n
        chosen = np.searchsorted(np.cumsum(self.weight[mixed]), places).clip(max=len(mixed) - 1)
        return self.points[rng.permutation(mixed[chosen])]


@dataclass(frozen=True)
class Proposal:
    """A multivariate t distribution.

    Attributes
    ----------
    centre : ndarray of shape (parameters,)
    factor : ndarray of shape (parameters, parameters)
        Lower, of the scale matrix.
    df : float
        Degrees of freedom.
    """

    centre: Array
    factor: Array
    df: float = _DF

    def weigh(self, log_density: LogDensity, n: int, rng: np.random.Generator) -> Weighted:
        """Return n points, and the weights that make them the posterior's."""
        k = len(self.centre)
        u = scipy.stats.qmc.Sobol(k + 1, rng=rng).random(1 << max(n - 1, 1).bit_length()).clip(1e-12, 1.0 - 1e-12)
        normal = special.ndtri(u[:, :k])
        t = normal / np.sqrt(special.chdtri(self.df, 1.0 - u[:, k:]) / self.df)
        points = self.centre + t @ self.factor.T
        logs = log_density(points) + 0.5 * (self.df + k) * np.log1p((t**2).sum(1) / self.df)
        logs = np.where(np.isfinite(logs), logs, -np.inf)
        weight = np.exp(logs - logs.max())
        k_of_tail = pareto_k(weight)
        weight = np.minimum(weight, np.sqrt(len(weight)) * weight.mean())  # one far point isn't the posterior
        weight /= weight.sum()
        return Weighted(points, weight, 1.0 / (len(weight) * np.sum(weight**2)), k_of_tail)


def proposal(log_density: LogDensity, start: Array, n: int = 4096, df: float = _DF) -> tuple[Proposal, Weighted]:
    """Return a proposal that fits a posterior with one mode, and `n` points by which that is seen."""
    rng = np.random.default_rng(0)
    mode = maximise(log_density, start)
    first = Proposal(mode, _factor(np.linalg.pinv(-hessian(log_density, mode))), df)
    for _ in range(2):
        found = first.weigh(log_density, _PILOT, rng)
        centre = found.weight @ found.points
        apart = found.points - centre
        first = Proposal(centre, _factor(_WIDER * (apart * found.weight[:, None]).T @ apart), df)
    return first, first.weigh(log_density, n, rng)


def maximise(log_density: LogDensity, start: Array) -> Array:
    """Return the mode."""
    found = scipy.optimize.minimize(
        lambda x: -log_density(x[None])[0], start, jac=lambda x: -gradient(log_density, x), method="BFGS",
        options={"gtol": 1e-4},
    )  # fmt: skip
    return np.asarray(found.x)


def gradient(log_density: LogDensity, x: Array) -> Array:
    """Return the gradient, by central differences in one call."""
    steps = _STEP * np.eye(len(x))
    values = log_density(np.concatenate([x + steps, x - steps]))
    return np.asarray((values[: len(x)] - values[len(x) :]) / (2.0 * _STEP))


def hessian(log_density: LogDensity, x: Array, step: float = 1e-2) -> Array:
    """Return the matrix of second derivatives, by central differences in one call."""
    k = len(x)
    along = step * np.eye(k)
    corners = [a * along[:, None] + b * along[None, :] for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
    values = log_density(x + np.reshape(corners, (-1, k))).reshape(4, k, k)
    found = (values[0] - values[1] - values[2] + values[3]) / (4.0 * step**2)
    return np.asarray(0.5 * (found + found.T))


def _factor(covariance: Array) -> Array:
    """Return a lower factor of a covariance, whose directions have variances from 1e-6 to 25."""
    values, vectors = np.linalg.eigh(covariance)
    values = np.where(values > 0.0, values.clip(1e-6, 25.0), 1.0)
    return np.linalg.cholesky((vectors * values) @ vectors.T)


def pareto_k(weight: Any) -> float:
    """Return the shape of the generalised Pareto distribution of the largest weights (Zhang and Stephens 2009).

    With a prior of ten values of .5, as in Vehtari et al. 2024.
    """
    ordered = np.sort(np.asarray(weight, np.float64))
    tail = min(len(ordered) // 5, int(3.0 * np.sqrt(len(ordered))))
    over = ordered[-tail:] - ordered[-tail - 1] if tail > 4 else np.zeros(1)
    if over[-1] <= 1e-12 * ordered[-1]:
        return -np.inf if tail > 4 else np.inf
    over = over[over > 0.0]
    n = len(over)
    if n < 5:
        return np.inf
    places = np.arange(1, 30 + int(np.sqrt(n)) + 1)
    b = 1.0 / over[-1] + (1.0 - np.sqrt(len(places) / (places - 0.5))) / (3.0 * over[int(n / 4 + 0.5) - 1])
    shape = np.log1p(-b[:, None] * over).mean(1)
    likelihood = n * (np.log(-b / shape) - shape - 1.0)
    trust = special.softmax(likelihood)
    k = np.log1p(-(b @ trust) * over).mean()
    return float((n * k + 5.0) / (n + 10.0))
