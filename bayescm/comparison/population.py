"""A prior learnt from the systems themselves: their rates scatter, and all of them together say how much.

Given a mean m and a concentration K, a system's rate is Beta(mK, (1 - m)K): it scatters around m with the variance
m(1 - m)/(K + 1). One system is expected to be further off, ten times as far in standard deviations, so that who is far
ahead isn't pulled back among the rest. The mean is uniform, and so is the standard deviation, from 0 to 0.9 of the
largest possible one, sqrt(m(1 - m)); no concentration is below 0.05. Both are integrated: a Gauss rule, made for their
posterior, has a few nodes, and at each of them the systems are independent mixtures of two Betas.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.distributions import Beta

Array = NDArray[np.float64]

FAR = 10.0
"""How much further a far system is, in standard deviations."""
_MOST = 0.9  # of the largest standard deviation
_LEAST = 1e-2  # of the noise's standard deviation, below which the systems are the same
_FLAT = 1.0  # concentration of far systems, at least
_CONCENTRATIONS, _FINER, _MEANS = 32, 24, 48  # points of the grids
_BETWEEN = 8  # points of a spline for each of a grid
_FAINTEST = 0.05  # concentration of either side, at least: the integrals of ranks miss corners of what is fainter
_NEVER = 1e-10
_STIRLING = 30.0
_WIDTHS = ((0.5, 8), (0.2, 5), (0.0, 3))  # standard deviation of log K, from which so many nodes are needed
_LATERAL = ((0.3, 9), (0.15, 5), (0.0, 3))  # that of the mean's log-odds
_STEPS = 100


def near_and_far(systems: int) -> Array:
    """Return the prior probabilities that a system is near the others, and that it is far."""
    far = min(0.1, 1.0 / systems)
    return np.array([1.0 - far, far])


@dataclass(frozen=True, eq=False)
class Learned:
    """The posterior of all systems: at each node independent mixtures of two Betas, near and far.

    Attributes
    ----------
    weight : ndarray of shape (nodes,)
    share : ndarray of shape (nodes, 2, systems)
        Probability that the system is near, and that it is far.
    a, b : ndarray of shape (nodes, 2, systems)
        Concentrations.
    link : {"identity", "f1"}
        From the rate to the metric.
    centre, sd : float
        Posterior means of the mean rate of the systems, and of the standard deviation of the near ones.
    """

    weight: Array
    share: Array
    a: Array
    b: Array
    link: Literal["identity", "f1"]
    centre: float
    sd: float

    @property
    def _parts(self) -> Array:
        return self.weight[:, None, None] * self.share

    def mean(self) -> Array:
        """Return the mean of each system's metric."""
        return np.asarray((self._parts * Beta(self.a, self.b, self.link).mean()).sum((0, 1)))

    def eti(self, prob: float) -> tuple[Array, Array]:
        """Return the equal-tailed interval of each system's metric."""
        low, high = (self._rate(tail) for tail in ((1.0 - prob) / 2.0, (1.0 + prob) / 2.0))
        return (2.0 * low / (1.0 + low), 2.0 * high / (1.0 + high)) if self.link == "f1" else (low, high)

    def _rate(self, p: float) -> Array:
        parts = self._parts
        rate = Beta(self.a, self.b)
        mean = (parts * rate.mean()).sum((0, 1))
        sd = np.sqrt((parts * (rate.sd() ** 2 + (rate.mean() - mean) ** 2)).sum((0, 1)))

        def both(x: Array) -> tuple[Array, Array]:
            return (parts * rate.cdf(x)).sum((0, 1)), (parts * rate.pdf(x)).sum((0, 1))

        return quantile(both, p, mean + sd * special.ndtri(p), np.zeros_like(mean), np.ones_like(mean))

    def draw(self, draws: int, rng: np.random.Generator) -> Array:
        """Draw metrics, (draws, systems), in the order of the systems; given a node they are independent."""
        node = rng.choice(len(self.weight), draws, p=self.weight)
        far = (rng.random((draws, self.a.shape[2])) >= self.share[node, 0]).astype(np.intp)
        at = node[:, None], far, np.arange(self.a.shape[2])
        rate = rng.beta(self.a[at], self.b[at])
        return np.asarray(2.0 * rate / (1.0 + rate) if self.link == "f1" else rate)


def quantile(both: Callable[[Array], tuple[Array, Array]], p: float, start: Array, low: Array, high: Array) -> Array:
    """Return quantiles by Newton's steps, halving the bracket where one leaves it; `both` gives cdf and density."""
    x = np.where((start > low) & (start < high), start, 0.5 * (low + high))
    for _ in range(_STEPS):
        below, density = both(x)
        low, high = np.where(below < p, x, low), np.where(below < p, high, x)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            moved = x - (below - p) / density
        moved = np.where((moved > low) & (moved < high), moved, 0.5 * (low + high))
        done = np.abs(moved - x).max() < 1e-14
        x = moved
        if done:
            break
    return x


def learn(right: Array, wrong: Array, link: Literal["identity", "f1"] = "identity") -> Learned:
    """Learn from how many items each system got right and wrong."""
    evidence = _Evidence.of(right, wrong)
    widest, narrowest = 1.0 / _MOST**2 - 1.0, evidence.size / _LEAST**2
    v = np.linspace(np.log(widest), np.log(narrowest), _CONCENTRATIONS)
    for _ in range(2):
        fine, density = _interpolated(v, np.array([_over_means(evidence, np.exp(at))[0] for at in v]))
        used = fine[density > _NEVER * density.max()]
        v = np.linspace(max(used[0] - (v[1] - v[0]) / _BETWEEN, v[0]), min(used[-1] + 1e-9, v[-1]), _FINER)
    place = np.sqrt(evidence.size / (evidence.size + np.exp(fine)))
    mass = density / density.sum()
    weights, points, concentrations = [], [], []
    for at, share in zip(*gauss(place, mass, _enough(fine, mass, _WIDTHS)), strict=True):
        concentration = evidence.size * (1.0 - at) * (1.0 + at) / at**2
        _, x, density = _over_means(evidence, concentration)
        density = density / density.sum()
        means, lateral = gauss(x, density, _enough(x, density, _LATERAL))
        weights.append(share * lateral)
        points.append(means)
        concentrations.append(np.full(len(means), concentration))
    return _posterior(
        np.concatenate(weights), np.concatenate(concentrations), np.concatenate(points), right, wrong, link
    )


def _enough(x: Array, mass: Array, widths: tuple[tuple[float, int], ...]) -> int:
    """Return how many nodes a distribution needs, by its standard deviation."""
    sd = np.sqrt(mass @ (x - mass @ x) ** 2)
    return next(nodes for least, nodes in widths if sd >= least)


def _posterior(
    weight: Array, concentration: Array, x: Array, right: Array, wrong: Array, link: Literal["identity", "f1"]
) -> Learned:
    """Return the systems' posteriors at nodes."""
    a, b = _concentrations(concentration, x)
    logs = _log_marginal(a, b, right, wrong) + np.log(near_and_far(len(right)))[:, None]
    share = np.exp(logs - special.logsumexp(logs, axis=1, keepdims=True))
    mean = special.expit(x)
    sd = np.sqrt(mean * special.expit(-x) / (1.0 + concentration))
    return Learned(
        weight, share, a[..., None] + right, b[..., None] + wrong, link, float(weight @ mean), float(weight @ sd)
    )


class _Evidence(NamedTuple):
    """What all systems have seen.

    Attributes
    ----------
    right, wrong, times : ndarray
        Distinct pairs of counts, and how many systems have them.
    size : float
        Items of a system, on average over the systems that have some.
    systems : int
    """

    right: Array
    wrong: Array
    times: Array
    size: float
    systems: int

    @classmethod
    def of(cls, right: Array, wrong: Array) -> "_Evidence":
        pairs, times = np.unique(np.stack([right, wrong], 1).astype(np.float64), axis=0, return_counts=True)
        total = right + wrong
        size = float(total[total > 0].mean()) if total.any() else 1.0
        return cls(pairs[:, 0], pairs[:, 1], times.astype(np.float64), size, len(right))

    def means(self, concentration: float) -> Array:
        """Return log-odds between which the mean rate lies, given how much the systems scatter."""
        rate = (self.right + 0.5) / (self.right + self.wrong + 1.0)
        noise = (1.0 / ((self.right + self.wrong + 1.0) * rate * (1.0 - rate))).max()
        pooled = float((self.times @ self.right + 0.5) / (self.times @ (self.right + self.wrong) + 1.0))
        scatter = min(1.0 / (concentration * pooled * (1.0 - pooled)), 4.0)
        room = 6.0 * np.sqrt((noise + scatter) / self.systems)
        ends = special.logit(rate)
        return np.linspace(ends.min() - room, ends.max() + room, _MEANS)


def _over_means(evidence: _Evidence, concentration: float) -> tuple[float, Array, Array]:
    """Return the log density of log K, integrated over the mean; log-odds of the mean, and their densities given K."""
    x = evidence.means(concentration)
    a, b = _concentrations(np.full(len(x), concentration), x)
    logs = _log_marginal(a, b, evidence.right, evidence.wrong)
    logs = special.logsumexp(logs + np.log(near_and_far(evidence.systems))[:, None], axis=1) @ evidence.times
    prior = np.log(concentration) - 1.5 * np.log1p(concentration)  # uniform in 1/sqrt(1 + K)
    logs += special.log_expit(x) + special.log_expit(-x) + prior
    fine, density, top = *_interpolated(x, logs), logs.max()
    return float(top + np.log(density.sum() * (fine[1] - fine[0]))), fine, density


def _interpolated(x: Array, logs: Array) -> tuple[Array, Array]:
    """Return finer points, and densities there in units of the largest on the grid."""
    from scipy.interpolate import CubicSpline

    fine = np.linspace(x[0], x[-1], _BETWEEN * (len(x) - 1) + 1)
    return fine, np.exp(np.minimum(CubicSpline(x, logs - logs.max())(fine), 50.0))


def _concentrations(concentration: Array, x: Array) -> tuple[Array, Array]:
    """Return the concentrations of near and far systems before anything was seen, (points, 2)."""
    far = np.where(concentration > _FLAT, np.maximum(concentration / FAR**2, _FLAT), concentration)
    both = np.stack([concentration, far], axis=-1)
    right, wrong = special.expit(x)[:, None] * both, special.expit(-x)[:, None] * both
    return np.maximum(right, _FAINTEST), np.maximum(wrong, _FAINTEST)


def _log_marginal(a: Array, b: Array, right: Array, wrong: Array) -> Array:
    """Return the log probability of counts, but for binomial coefficients, (points, 2, counts)."""
    rising = _rising(a[..., None], right) + _rising(b[..., None], wrong)
    rising -= _rising((a + b)[..., None], right + wrong)
    return np.asarray(rising - np.log1p(b / a)[..., None] * right - np.log1p(a / b)[..., None] * wrong)


def _rising(a: Array, k: Array) -> Array:
    """Return log[Gamma(a + k) / (Gamma(a) a^k)], without cancellation where a is large."""
    end = a + k
    if a.min() >= _STIRLING:
        return _stirling(a, k, end)
    small = np.minimum(a, _STIRLING)
    exact = special.gammaln(small + k) - special.gammaln(small) - k * np.log(small)
    return np.where(a < _STIRLING, exact, _stirling(np.maximum(a, _STIRLING), k, np.maximum(end, _STIRLING)))


def _stirling(a: Array, k: Array, end: Array) -> Array:
    correction = (1.0 / end - 1.0 / a) / 12.0 - (end**-3.0 - a**-3.0) / 360.0
    return np.asarray((end - 0.5) * np.log1p(k / a) - k + correction)


def gauss(points: Array, mass: Array, n: int) -> tuple[Array, Array]:
    """Return nodes and weights of the Gauss rule of a discrete distribution (Golub and Welsch 1969), by Lanczos.

    It is exact for polynomials up to the degree 2n - 1.
    """
    centre = float(mass @ points)
    scale = np.sqrt(mass @ (points - centre) ** 2)
    if not scale > 1e-12 * max(abs(centre), 1e-300):
        return np.array([centre]), np.ones(1)
    t = (points - centre) / scale
    before, now = np.zeros_like(t), np.sqrt(mass)
    diagonal, beside = np.zeros(n), np.zeros(n)
    for i in range(n):
        diagonal[i] = now @ (t * now)
        after = t * now - diagonal[i] * now - (beside[i - 1] * before if i else 0.0)
        beside[i] = np.sqrt(after @ after)
        before, now = now, after / beside[i]
    nodes, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1))
    return centre + scale * nodes, vectors[0] ** 2
