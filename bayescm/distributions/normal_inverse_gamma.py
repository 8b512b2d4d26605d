"""Normal scores with a conjugate prior: mean given the variance normal, variance inverse gamma."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.distributions.protocol import Distribution

Array = NDArray[np.float64]

STANDARD = {"mu": 0.0, "kappa": 1.0, "alpha": 1.0, "beta": 0.5}
"""One score at 0 and a variance of about 1 (median 0.72, 95% from 0.14 to 20), in the unit of the scores."""


@dataclass(frozen=True, slots=True, eq=False)
class NormalInverseGamma:
    """variance ~ InverseGamma(alpha, beta), mean | variance ~ Normal(mu, variance / kappa).

    Attributes
    ----------
    mu, kappa, alpha, beta : float or ndarray
        `kappa` is the number of scores that the prior mean is worth, 2 `alpha` that of the variance. Improper with
        ``kappa=0, alpha=-1/2, beta=0`` (:func:`reference`).
    """

    mu: Any
    kappa: Any
    alpha: Any
    beta: Any

    def update(self, n: Any, mean: Any, squares: Any, weight: Any = None) -> "NormalInverseGamma":
        """Return the posterior after `n` scores.

        Parameters
        ----------
        n, mean, squares : number or array
            Number of scores, their mean, and their sum of squares about it; NumPy's or a program's.
        weight : number or array, optional
            Number of independent scores that the mean is worth; `n` by default.
        """
        weight = n if weight is None else weight
        kappa = self.kappa + weight
        apart = self.kappa * weight / kappa * (mean - self.mu) ** 2
        return NormalInverseGamma(
            self.mu + weight / kappa * (mean - self.mu), kappa, self.alpha + n / 2, self.beta + (squares + apart) / 2
        )

    def draw(self, rng: np.random.Generator, size: tuple[int, ...]) -> tuple[Array, Array]:
        """Draw means and variances."""
        variance = self.beta / rng.gamma(self.alpha, size=size)
        return self.mu + np.sqrt(variance / self.kappa) * rng.standard_normal(size), variance

    def mean_distribution(self) -> "Marginal":
        """Return the distribution of the mean: Student t with 2 alpha degrees of freedom."""
        from scipy import stats

        return Marginal(stats.t(2 * self.alpha, self.mu, np.sqrt(self.beta / (self.alpha * self.kappa))))

    def variance_distribution(self) -> "Marginal":
        """Return the distribution of the variance: inverse gamma."""
        from scipy import stats

        return Marginal(stats.invgamma(self.alpha, scale=self.beta))


@dataclass(frozen=True, slots=True, eq=False)
class Marginal(Distribution):
    """The distribution of the mean, or of the variance: one of SciPy's."""

    dist: Any

    def pdf(self, x: Any) -> Any:  # noqa: D102
        return self.dist.pdf(x)

    def cdf(self, x: Any) -> Any:  # noqa: D102
        return self.dist.cdf(x)

    def sf(self, x: Any) -> Any:  # noqa: D102
        return self.dist.sf(x)

    def ppf(self, p: Any) -> Any:  # noqa: D102
        return self.dist.ppf(p)

    def isf(self, q: Any) -> Any:  # noqa: D102
        return self.dist.isf(q)

    def mean(self) -> Any:  # noqa: D102
        return self.dist.mean()

    def sd(self) -> Any:  # noqa: D102
        return self.dist.std()


def reference(shape: tuple[int, ...] = ()) -> NormalInverseGamma:
    """Return the prior p(mean, sd) proportional to 1 / sd, which is improper."""
    return NormalInverseGamma(np.zeros(shape), np.zeros(shape), np.full(shape, -0.5), np.zeros(shape))


def proper(prior: Any, shape: tuple[int, ...] = (), *, names: str = "") -> NormalInverseGamma:
    """Read a proper prior.

    Parameters
    ----------
    prior : "standard" or mapping
        ``standard`` is :data:`STANDARD`; a mapping has the keys ``mu``, ``kappa``, ``alpha`` and ``beta``, numbers or
        arrays of `shape`.
    shape : tuple of int
    names : str
        Other words that the caller takes, for the message: ``"'reference', "``.
    """
    if isinstance(prior, str) and prior == "standard":
        prior = STANDARD
    if not isinstance(prior, Mapping):
        kind = ValueError if isinstance(prior, str) else TypeError
        raise kind(
            f"`prior` must be {names}'standard' or a mapping with the keys {', '.join(STANDARD)}; got {prior!r}."
        )
    if set(prior) != set(STANDARD):
        raise ValueError(f"`prior` must have the keys {', '.join(STANDARD)}; got {', '.join(sorted(map(str, prior)))}.")
    return NormalInverseGamma(**{key: _numbers(key, prior[key], shape) for key in STANDARD})


def _numbers(key: str, value: Any, shape: tuple[int, ...]) -> Array:
    array = validate.array_of(f"prior[{key!r}]", value)
    wanted = "a number" if not shape else f"a number or numbers of shape {shape}"
    if array.dtype.kind not in "iuf":
        raise TypeError(f"`prior[{key!r}]` must be {wanted}; got {value!r}.")
    if array.shape not in ((), shape):
        raise ValueError(f"`prior[{key!r}]` must be {wanted}; got shape {array.shape}.")
    if not np.isfinite(array).all() or (key != "mu" and (array <= 0).any()):
        words = "finite" if key == "mu" else "finite and above 0"
        raise ValueError(f"`prior[{key!r}]` must be {words}; got {array.tolist()}.")
    return np.broadcast_to(array.astype(np.float64), shape).copy()


def finite_scores(name: str, values: Any) -> Array:
    """Return scores as finite float64, or say which is not one."""
    array = validate.array_of(name, values)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"`{name}` must hold real numbers; got values of type {array.dtype}.")
    if array.size == 0:
        raise ValueError(f"`{name}` is empty; give at least one score.")
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        words = "a missing value" if np.isnan(array[at]) else "an infinite value"
        todo = "leave its item or fold out" if np.isnan(array[at]) else "clip it, or transform the scores"
        raise ValueError(f"`{name}` has {words} at position {at if len(at) > 1 else at[0]}; {todo}.")
    return array
