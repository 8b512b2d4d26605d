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
    """Ends to interpolate of the narrowest interval: log-odds, less log(a / b). The density has one peak there.

    Of X itself only the lower one: the upper one is that of 1 - X.
    """

    prob: float
    link: str
    least = 1.5

    @property
    def limits(self) -> tuple[float, ...]:
        """Return the ends for a normal distribution."""
        z = float(special.ndtri(0.5 + 0.5 * self.prob))
        return (-z,) if self.link == "identity" else (-z, z)

    def __call__(self, a: Array, b: Array) -> Array:
        """Return them, (1, n) or (2, n)."""
        return narrowest(a, b, self.prob, self.link)[: len(self.limits)] - np.log(a / b)


@dataclass(frozen=True, slots=True)
class MomentsOfF1:
    """Moments to interpolate of F = 2X/(1+X), whose log-odds are those of X and log 2.

    That is the log-odds of the mean m, less log(2 a / b), and log(sd / (m (1 - m) r)): both vanish with r.
    """

    least = 0.5
    limits = 0.0, 0.0

    def __call__(self, a: Array, b: Array) -> Array:
        """Return both, (2, n), by the trapezoidal rule in the log-odds, normalised by its own sum."""
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


def equal_tails(a: Array, b: Array, tail: float) -> tuple[Array, NDArray[np.bool_]]:
    """Return the log-odds of the ends of equal-tailed intervals, (2, n), and where they are known."""
    (lower,), (mirrored,), known = interpolation.read(Quantiles((tail,)), a, b)
    return np.log(a / b) + np.stack([lower, -mirrored]), known


def statistics(dist: Any, prob: float, kind: str) -> dict[str, Any]:
    """Return the statistics of a :class:`bayescm.distributions.beta.Beta`, as its method of that name does."""
    shape = np.broadcast_shapes(np.shape(dist.a), np.shape(dist.b))
    a, b = (np.ascontiguousarray(np.broadcast_to(v, shape), dtype=np.float64).ravel() for v in (dist.a, dist.b))
    wanted: dict[str, interpolation.Tabulable] = {"quantiles": Quantiles((0.5, 0.5 * (1.0 - prob)))}
    if kind == "hdi":
        wanted = {"quantiles": Quantiles((0.5,)), "narrowest": Narrowest(prob, dist.link)}
    if dist.link == "f1":
        wanted["moments"] = MomentsOfF1()
    functions = {name: interpolation.Interpolated(function, a, b) for name, function in wanted.items()}
    found = {name: np.empty(len(a)) for name in ("mean", "median", "sd", "lower", "upper")}
    known = np.empty(len(a), bool)
    for group in interpolation.groups(len(a)):
        some, known[group] = _of_group(a[group], b[group], dist, functions)
        for name, values in some.items():
            found[name][group] = values
    without = np.flatnonzero(known & np.isnan(found["sd"]))
    if len(without):
        some = type(dist)(a[without], b[without], dist.link)
        found["mean"][without], found["sd"][without] = some.mean(), some.sd()
    found["is_hdi"] = np.full(len(a), kind == "hdi")
    if not known.all():
        one_by_one = type(dist)(a[~known], b[~known], dist.link).one_by_one(prob, kind)
        for name, values in found.items():
            values[~known] = one_by_one[name]
    return {name: values.reshape(shape) for name, values in found.items()}


def _of_group(
    a: Array, b: Array, dist: Any, functions: dict[str, interpolation.Interpolated]
) -> tuple[dict[str, Array], NDArray[np.bool_]]:
    """Return the statistics of some Betas, and where they are known."""
    n, middle = a + b, np.log(a / b)
    values, mirrored, known = functions["quantiles"](a, b)
    median, ends = values[0], [values[-1], -mirrored[-1]]
    if "narrowest" in functions:
        values, mirrored, peaked = functions["narrowest"](a, b)
        ends, known = [values[0], values[1] if len(values) > 1 else -mirrored[0]], known & peaked
    quantiles = zip(("lower", "median", "upper"), (ends[0], median, ends[1]), strict=True)
    found = {name: dist.at_log_odds(middle + value) for name, value in quantiles}
    if "moments" not in functions:
        return found | {"mean": a / n, "sd": np.sqrt(a * b / (n + 1.0)) / n}, known
    odds, spread = functions["moments"](a, b)[0]
    odds += middle + _LOG_2
    mean, rest = special.expit(odds), special.expit(-odds)
    return found | {"mean": mean, "sd": mean * rest * np.sqrt(1.0 / a + 1.0 / b) * np.exp(spread)}, known
