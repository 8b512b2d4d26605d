"""Statistics of many Betas at once: what has no formula is interpolated.

They are those of :class:`bayescm.distributions.beta.Beta`, which are worked out one by one where they aren't
interpolated: concentrations below a half, and parts of the plane with few Betas.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.distributions import interpolation
from bayescm.distributions.beta_quantiles import Quantiles
from bayescm.distributions.narrowest import narrowest

Array = NDArray[np.float64]
_POINTS = 384
"""Of the trapezoidal rule: its error is below 1e-14 from concentrations of a half on."""
_LOG_2 = float(np.log(2.0))


@dataclass(frozen=True, slots=True)
class Narrowest:
    """Ends to interpolate of the narrowest interval: log-odds, less log(a / b). The density has one peak there."""

    prob: float
    link: str
    least = 1.5

    @property
    def limits(self) -> tuple[float, ...]:
        """Return the ends for a normal distribution."""
        z = float(special.ndtri(0.5 + 0.5 * self.prob))
        return -z, z

    def __call__(self, a: Array, b: Array) -> Array:
        """Return both ends, (2, n)."""
        return narrowest(a, b, self.prob, self.link) - np.log(a / b)


@dataclass(frozen=True, slots=True)
class MomentsOfF1:
    """Moments to interpolate of F = 2X/(1+X), whose log-odds are those of X and log 2.

    That is the log-odds of the mean m, less log(2 a / b), and log(sd / (m (1 - m) r)): both vanish with r.
    """

    least = 0.5
    limits = 0.0, 0.0

    def __call__(self, a: Array, b: Array) -> Array:
        """Return both, (2, n), by the trapezoidal rule in the log-odds: normalised by its own sum, no gamma function."""
        r, middle = np.sqrt(1.0 / a + 1.0 / b), np.log(a / b)
        low, high = 10.0 * r + 40.0 / a, 10.0 * r + 40.0 / b
        d = -low + (low + high) * np.linspace(0.0, 1.0, _POINTS)[:, None]
        share, towards = np.minimum(a, b) / (a + b), np.where(a > b, -d, d)
        weight = np.exp((a + b) * (share * towards - np.log1p(share * np.expm1(towards))))
        weight /= weight.sum(0)
        f, rest = special.expit(middle + d + _LOG_2), special.expit(-middle - d - _LOG_2)
        mean, above = (weight * f).sum(0), (weight * rest).sum(0)
        off = np.where(middle > 0.0, above - rest, f - mean)
        sd = np.sqrt((weight * off**2).sum(0))
        return np.stack([np.log(mean / above) - middle - _LOG_2, np.log(sd / (mean * above * r))])


def statistics(dist: Any, prob: float, kind: str) -> dict[str, Any]:
    """Return the statistics of a :class:`bayescm.distributions.beta.Beta`, as its method of that name does."""
    shape = np.broadcast_shapes(np.shape(dist.a), np.shape(dist.b))
    a, b = (np.ascontiguousarray(np.broadcast_to(v, shape), dtype=np.float64).ravel() for v in (dist.a, dist.b))
    found, known = (_with_hdi if kind == "hdi" else _with_eti)(a, b, dist.link, prob)
    if dist.link == "f1":
        moments, _, has = interpolation.read(MomentsOfF1(), a, b)
        known &= has
        mean = special.expit(moments[0] + np.log(a / b) + _LOG_2)
        rest = special.expit(-moments[0] - np.log(a / b) - _LOG_2)
        found |= {"mean": mean, "sd": mean * rest * np.sqrt(1.0 / a + 1.0 / b) * np.exp(moments[1])}
    else:
        n = a + b
        found |= {"mean": a / n, "sd": np.sqrt(a * b / (n + 1.0)) / n}
    for name in ("lower", "median", "upper"):
        found[name] = dist.at_log_odds(found[name])
    if not known.all():
        one_by_one = type(dist)(a[~known], b[~known], dist.link).one_by_one(prob, kind)
        for name, values in found.items():
            values[~known] = one_by_one[name]
    return {name: values.reshape(shape) for name, values in found.items()}


def _with_eti(a: Array, b: Array, link: str, prob: float) -> tuple[dict[str, Any], NDArray[np.bool_]]:
    """Return the log-odds of the median and of equal tails, and where they are known."""
    values, mirrored, known = interpolation.read(Quantiles((0.5 * (1.0 - prob), 0.5)), a, b)
    middle = np.log(a / b)
    found = {"lower": middle + values[0], "median": middle + values[1], "upper": middle - mirrored[0]}
    return found | {"is_hdi": np.zeros(len(a), bool)}, known


def _with_hdi(a: Array, b: Array, link: str, prob: float) -> tuple[dict[str, Any], NDArray[np.bool_]]:
    """Return the log-odds of the median and of the narrowest interval, and where they are known."""
    median, _, known = interpolation.read(Quantiles((0.5,)), a, b)
    ends, _, peaked = interpolation.read(Narrowest(prob, link), a, b)
    middle = np.log(a / b)
    found = {"lower": middle + ends[0], "median": middle + median[0], "upper": middle + ends[1]}
    return found | {"is_hdi": np.ones(len(a), bool)}, known & peaked
