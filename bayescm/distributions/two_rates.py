"""Pairs of rates that scatter about a mean in logits, seen through exact binomials: the likelihood, and the pairs.

The bivariate model of diagnostic meta-analysis (Chu and Cole 2006): y_r ~ Binomial(n_r, expit(x_r)) of two rates r in
every unit, (x_1, x_2) ~ Normal2(design coefficients, sd, correlation). Given the parameters the units are independent,
and each is an integral in two dimensions: adaptive Gauss-Hermite quadrature about its mode (Pinheiro and Bates 1995),
whose integrand is log concave. The parameters have a posterior by importance sampling (:class:`PairsPosterior`).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm._kernels.dispatch import in_blocks, kernel
from bayescm.distributions import importance

Array = NDArray[np.float64]

NODES = 9
"""A side: at the maximum of ten and fourteen studies the log likelihood is that of 15 nodes to 3e-5."""
_BLOCK = 2**13  # pairs at a time: what is held of them stays in a cache
_ENDS = np.array([[-12.0, -12.0, -8.0], [6.0, 6.0, 8.0]])
"""Of log sd (2) and the artanh of the correlation: beyond these, where a search may stray, determinants cancel."""
_DF = 6.0
_CHANGES = 12  # of a pair, by Metropolis's rule
_OF_ONE = 2.0  # degrees of freedom where one rate was seen: spreads near 0 are far from the mode, and as likely
_LOOKED, _LEAST, _EACH = 4096, 8192, 2  # points: to judge the proposal, at least, and of each draw


def softplus(x: Array) -> Array:
    """Return log(1 + exp(x))."""
    return np.asarray(np.maximum(x, 0.0) + np.log(1.0 + np.exp(-np.abs(x))))


def coefficients_of(parameters: Array) -> Array:
    """Return the coefficients (n, 2, columns) in parameters (n, 2 columns + 3)."""
    return parameters[:, :-3].reshape(len(parameters), 2, -1)


def spread_of(parameters: Array) -> tuple[Array, Array]:
    """Return the standard deviations (n, 2) and the correlation (n,) in parameters (n, 2 columns + 3)."""
    return np.exp(parameters[:, -3:-1]), np.tanh(parameters[:, -1])


def recall_first(rows: Array) -> Array:
    """Return the two numbers of the Betas of recall and of specificity, of concentrations of rows (2, 2)."""
    return np.stack([rows[1, ::-1], rows[0]])


def factor_of(sd: Array, rho: Array) -> Array:
    """Return the lower factor (n, 2, 2) of the covariance."""
    factor = np.zeros((len(sd), 2, 2))
    factor[:, 0, 0], factor[:, 1, 0] = sd[:, 0], rho * sd[:, 1]
    factor[:, 1, 1] = sd[:, 1] * np.sqrt(1.0 - rho**2)
    return factor


@dataclass(frozen=True)
class TwoRates:
    """Units of which two rates were seen.

    Attributes
    ----------
    right, items : ndarray of shape (2, units)
    design : ndarray of shape (units, columns)
        The means are its products with the coefficients; a column of ones alone is one mean.
    """

    right: Array
    items: Array
    design: Array

    @classmethod
    def of(cls, tables: Array, covariates: Array | None = None) -> "TwoRates":
        """Return recall and specificity of tables (units, 2, 2), the negative class first, and of their covariates."""
        ones = np.ones((len(tables), 1))
        design = ones if covariates is None else np.hstack([ones, covariates])
        return cls(np.stack([tables[:, 1, 1], tables[:, 0, 0]]), tables.sum(-1).T[::-1], design)

    @property
    def columns(self) -> int:
        """How many coefficients each rate has."""
        return int(self.design.shape[1])

    def means(self, parameters: Array) -> Array:
        """Return the mean logits (n, 2, units)."""
        return np.asarray(coefficients_of(parameters) @ self.design.T)

    @cached_property
    def start(self) -> Array:
        """Parameters at which a search can begin: coefficients of both rates, log sd (2), artanh of the correlation."""
        begun = np.zeros((2, self.columns))
        begun[:, 0] = special.logit((self.right.sum(1) + 0.5) / (self.items.sum(1) + 1.0))
        return np.concatenate([begun.ravel(), [-0.5, -0.5, 0.0]])

    def log_likelihood(self, parameters: Array, nodes: int = NODES) -> Array:
        """Return the log likelihood of parameters (n, 2 columns + 3), with the binomial coefficients."""
        coefficients = special.gammaln(self.items + 1) - special.gammaln(self.right + 1)
        constant = (coefficients - special.gammaln(self.items - self.right + 1)).sum()

        def part(start: int, stop: int) -> Array:
            return np.asarray(_Given(self, parameters[start:stop], nodes).log_integral.sum(1))

        block = max(_BLOCK // self.right.shape[1], 1)
        return np.asarray(np.concatenate(in_blocks(part, len(parameters), block)) + constant)

    def draw(self, parameters: Array, rng: np.random.Generator) -> Array:
        """Draw the pairs' logits (n, 2, units) given parameters, a set of them for each draw.

        The best of a few points of a t distribution about the mode is changed by Metropolis's rule with more of them:
        densities are log concave, and the rule takes most.
        """
        blocks = np.array_split(parameters, max(len(parameters) * self.right.shape[1] // _BLOCK, 1))
        return np.concatenate([_pairs(_Given(self, block), rng) for block in blocks])


class _Given:
    """The densities of the pairs given parameters (n, ...).

    Attributes
    ----------
    mode : ndarray of shape (2, n, units)
    factor : ndarray of shape (3, n, units)
        Lower (11, 21, 22), of the inverse of the curvature at the mode.
    log_integral : ndarray of shape (n, units)
        By quadrature; without nodes -inf.
    """

    def __init__(self, data: TwoRates, parameters: Array, nodes: int = 0) -> None:
        self.data = data
        parameters = np.concatenate([parameters[:, :-3], parameters[:, -3:].clip(*_ENDS)], 1)
        means, (sd, rho) = data.means(parameters), spread_of(parameters)
        one_less = np.cosh(parameters[:, -1]) ** -2.0  # 1 - rho^2
        s1, s2 = sd.T
        precision = np.stack([1 / (s1**2 * one_less), 1 / (s2**2 * one_less), -rho / (s1 * s2 * one_less)], 1)
        self.mean, self.precision = means.swapaxes(0, 1), precision.T[..., None]
        h, weight = np.polynomial.hermite_e.hermegauss(nodes) if nodes else np.empty((2, 0))
        weight = weight * np.exp(0.5 * h**2)
        weights = np.outer(weight, weight).ravel()
        found = np.empty((len(means), 6, means.shape[-1]))
        integrate = kernel("rate_pairs", "integrate")
        integrate(data.right, data.items - data.right, means, precision, h, weights, found)
        self.mode, self.factor = found.swapaxes(0, 1)[:2], found.swapaxes(0, 1)[2:5]
        self.log_integral = found[:, 5] - np.log(2.0 * np.pi * s1 * s2 * np.sqrt(one_less))[:, None]

    def log_density(self, x1: Array, x2: Array) -> Array:
        """Return the log of binomials times normal, but for what doesn't depend on the pair."""
        (y1, y2), (n1, n2), (a11, a22, a12) = self.data.right, self.data.items, self.precision
        e1, e2 = x1 - self.mean[0], x2 - self.mean[1]
        seen = y1 * x1 - n1 * softplus(x1) + y2 * x2 - n2 * softplus(x2)
        return np.asarray(seen - 0.5 * (a11 * e1**2 + a22 * e2**2) - a12 * e1 * e2)

    def propose(self, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """Return points of a t distribution about the mode, and the logs of their densities' ratios."""
        shape = self.mode[0].shape
        z1, z2 = rng.standard_normal((2, *shape)) / np.sqrt(rng.chisquare(_DF, shape) / _DF)
        c11, c21, c22 = self.factor
        x1, x2 = self.mode[0] + c11 * z1, self.mode[1] + c21 * z1 + c22 * z2
        return x1, x2, self.log_density(x1, x2) + 0.5 * (_DF + 2.0) * np.log1p((z1**2 + z2**2) / _DF)


def _pairs(given: _Given, rng: np.random.Generator) -> Array:
    """Draw pairs (n, 2, units) by independent proposals, each taken by Metropolis's rule."""
    x1, x2, logs = given.propose(rng)
    for _ in range(_CHANGES):
        new = given.propose(rng)
        taken = rng.standard_exponential(logs.shape) > logs - new[2]
        x1, x2, logs = (np.where(taken, now, before) for now, before in zip(new, (x1, x2, logs), strict=True))
    return np.stack([x1, x2], 1)


@dataclass(frozen=True)
class PairsPosterior:
    """The posterior of the parameters, and of the pairs given these.

    Attributes
    ----------
    data : TwoRates
    means : ndarray of shape (2, 2)
        The two numbers of the Beta of each rate at the mean logit.
    scale : float
        Of the half-normal priors of the standard deviations.
    slope : float
        Standard deviation of the normal priors of all coefficients but the first.
    """

    data: TwoRates
    means: Array
    scale: float
    slope: float = 0.5

    def log_prior(self, parameters: Array) -> Array:
        """Return the log prior density of parameters (n, 2 columns + 3), but for a constant.

        The correlation is LKJ(2): (1 + correlation) / 2 is Beta(2, 2).
        """
        coefficients, sd = coefficients_of(parameters), spread_of(parameters)[0]
        first, rest = coefficients[..., 0], coefficients[..., 1:]
        of_means = -(self.means[:, 0] * softplus(-first) + self.means[:, 1] * softplus(first)).sum(1)
        of_sd = (parameters[:, -3:-1] - 0.5 * (sd / self.scale) ** 2).sum(1)
        return of_means + of_sd - 4.0 * np.log(np.cosh(parameters[:, -1])) - 0.5 * (rest**2).sum((1, 2)) / self.slope**2

    def log_density(self, parameters: Array) -> Array:
        """Return the log posterior density, but for a constant."""
        return self.data.log_likelihood(parameters) + self.log_prior(parameters)

    @cached_property
    def told(self) -> NDArray[np.intp]:
        """Places of the parameters that data tell of: where one rate has no items, the other's alone."""
        seen, k = self.data.items.sum(1) > 0, self.data.columns
        if seen.all() or not seen.any():
            return np.arange(2 * k + 3)
        return np.append(np.arange(k) + k * seen[1], 2 * k + seen[1])

    def _log_told(self, points: Array) -> Array:
        """Return the log posterior density, but for a constant, of those parameters, whatever the others are."""
        return self.log_density(self._whole(points, self.data.start))

    def _whole(self, points: Array, others: Array) -> Array:
        parameters = np.broadcast_to(others, (len(points), len(self.data.start))).copy()
        parameters[:, self.told] = points
        return parameters

    @cached_property
    def _fitted(self) -> tuple[importance.Proposal, importance.Weighted]:
        more = {"df": _OF_ONE} if len(self.told) < len(self.data.start) else {}
        return importance.proposal(self._log_told, self.data.start[self.told], _LOOKED, **more)

    @property
    def doubt(self) -> str:
        """Say why the weights can't stand in for the posterior; nothing if they can."""
        return self._fitted[1].doubt

    def draw(self, rng: np.random.Generator, n: int) -> tuple[Array, Array, importance.Weighted]:
        """Draw parameters (n, 2 columns + 3) and pairs' logits (n, 2, units); return the weighted points, too.

        Parameters that data don't tell of are drawn from the prior.
        """
        found = self._fitted[0].weigh(self._log_told, max(_LEAST, _EACH * n), rng)
        parameters = found.resample(rng, n)
        if len(self.told) < len(self.data.start):
            parameters = self._whole(parameters, self.before(rng, n)[0])
        return parameters, self.data.draw(parameters, rng), found

    def before(self, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        """Draw parameters (n, 2 columns + 3) and pairs' logits (n, 2, units) from the prior."""
        mean = special.logit(rng.beta(self.means[:, 0], self.means[:, 1], (n, 2)))
        sd, rho = np.abs(rng.normal(0.0, self.scale, (n, 2))), 2.0 * rng.beta(2.0, 2.0, n) - 1.0
        rest = rng.normal(0.0, self.slope, (n, 2, self.data.columns - 1))
        coefficients = np.concatenate([mean[..., None], rest], -1).reshape(n, -1)
        parameters = np.column_stack([coefficients, np.log(sd), np.arctanh(rho)])
        apart = factor_of(sd, rho) @ rng.standard_normal((n, 2, len(self.data.design)))
        return parameters, self.data.means(parameters) + apart
