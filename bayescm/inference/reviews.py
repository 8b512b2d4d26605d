"""What is said of studies at one set of covariates: their spread, the summary ROC curve, regions, the likelihood."""

from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy import special

from bayescm.data import validate
from bayescm.data.schema import CHAIN, CI_BOUND, DRAW, METRIC, interval_coordinate
from bayescm.distributions import importance
from bayescm.distributions.sample import bounds
from bayescm.distributions.two_rates import TwoRates, coefficients_of, spread_of
from bayescm.inference import sroc
from bayescm.metrics import Metric, compute
from bayescm.priors.concentrations import PrevalenceLike

Array = NDArray[np.float64]

PARAMETER, FPR = "parameter", "fpr"
RATES = ("recall", "specificity")
_FLAT = 1e-3  # curvature of the log likelihood
_SPREAD = ("sd_logit_recall", "sd_logit_specificity", "correlation")
_POINTS = np.linspace(0.005, 0.995, 199)


def flat(values: xr.DataArray) -> Array:
    """Return draws (n, ...) of all chains together."""
    return np.asarray(values.transpose(CHAIN, DRAW, ...).values.reshape(-1, *values.shape[2:]))


def pairs_of(drawn: xr.Dataset, unit: str, row: Array) -> sroc.Pairs:
    """Return the draws of the model ``regression`` at a row of covariates, each unit a group of its own."""
    typical, both = flat(drawn["typical"]), {"rate": list(RATES)}
    mean = special.logit(np.stack([typical[:, 1, 1], typical[:, 0, 0]], 1))
    if len(row):
        mean = mean + np.einsum("ncr,c", flat(drawn["coefficient"].sel(both)), row)
    return sroc.Pairs(mean, flat(drawn[f"{unit}_sd"].sel(both)), flat(drawn[f"{unit}_correlation"]))


def cells(rates: Array, share: float = 0.5) -> Array:
    """Return cells (..., 2, 2) of rates (..., 2)."""
    recall, specificity = np.moveaxis(rates, -1, 0)
    rows = np.stack([np.stack([specificity, 1 - specificity], -1), np.stack([1 - recall, recall], -1)], -2)
    return np.asarray(rows * np.array([[1.0 - share], [share]]))


class Likelihood(NamedTuple):
    """The exact binomial likelihood at its maximum.

    Attributes
    ----------
    best : ndarray of shape (2 columns + 3,)
    variance : ndarray of shape (2 columns + 3, 2 columns + 3)
        0 for parameters at an end of their range, where the likelihood is flat: they are held.
    value : float
        Its logarithm.
    free : ndarray of bool
        Which parameters aren't held.
    """

    best: Array
    variance: Array
    value: float
    free: NDArray[np.bool_]

    @classmethod
    def of(cls, seen: TwoRates) -> "Likelihood":
        """Maximise the likelihood."""
        best = importance.maximise(seen.log_likelihood, seen.start)
        curvature = -importance.hessian(seen.log_likelihood, best)
        free = np.diag(curvature) > _FLAT
        variance = np.zeros(curvature.shape)
        variance[np.ix_(free, free)] = np.linalg.pinv(curvature[np.ix_(free, free)], hermitian=True)
        return cls(best, variance, float(seen.log_likelihood(best[None])[0]), free)

    def pairs(self, row: Array) -> sroc.Pairs:
        """Return what is likeliest at a row of covariates."""
        sd, rho = spread_of(self.best[None])
        return sroc.Pairs(coefficients_of(self.best[None]) @ np.append(1.0, row), sd, rho)

    def at(self, row: Array, prob: float) -> xr.Dataset:
        """Return maximum and Wald interval of the median study's rates at a row of covariates."""
        design, columns = np.append(1.0, row), len(row) + 1
        logit = self.pairs(row).mean[0]
        blocks = [self.variance[part, part] for part in (slice(columns), slice(columns, 2 * columns))]
        variance = np.array([design @ one @ design for one in blocks])
        with np.errstate(invalid="ignore"):
            se = np.sqrt(np.where(variance > 0.0, variance, np.nan))
        ends = logit[:, None] + special.ndtri(0.5 * (1.0 + prob)) * se[:, None] * np.array([-1.0, 1.0])
        sd, rho = spread_of(self.best[None])
        variables = {
            "point": (METRIC, special.expit(logit)), "interval": ((METRIC, CI_BOUND), special.expit(ends)),
            "sd_logit": (METRIC, sd[0]), "correlation": rho[0], "log_likelihood": self.value,
        }  # fmt: skip
        names = [*np.repeat(RATES, columns).tolist(), *_SPREAD]
        held = dict.fromkeys(name for name, free in zip(names, self.free, strict=True) if not free)
        coords = {METRIC: list(RATES), CI_BOUND: interval_coordinate(prob, "eti")}
        return xr.Dataset(variables, coords, {"ci_method": "wald, on logits", "at_an_end": ", ".join(held)})

    def points(self, row: Array, wanted: list[Metric], prevalence: PrevalenceLike) -> Array:
        """Return metrics (estimate, metric) at the maximum; the next study has none."""
        pair = self.pairs(row)
        rates = np.concatenate([special.expit(pair.mean), pair.mean_rates()])
        share = 0.5 if prevalence is None else _mean_share(prevalence)
        found = np.stack(compute(wanted, cells(rates, share)), -1)
        return np.concatenate([found, np.full((1, len(wanted)), np.nan)])


def _mean_share(prevalence: Any) -> float:
    numbers = np.asarray(validate.beta_numbers("prevalence", prevalence), np.float64)
    return float(numbers) if numbers.ndim == 0 else float(numbers[0] / numbers.sum())


def fpr_range(given: Any, seen: Array) -> tuple[float, float]:
    """Return between which false positive rates a partial area lies."""
    if given is None:
        inside = seen[np.isfinite(seen)]
        return (float(inside.min()), float(inside.max())) if inside.size and np.ptp(inside) > 0 else (0.0, 1.0)
    low, high = (validate.number("fpr_range", one, 0, 1, closed=True) for one in given)
    if not low < high:
        raise ValueError(f"`fpr_range` must be two rates, the lower first; got {given!r}.")
    return low, high


def spread(pairs: sroc.Pairs, seen: TwoRates, ends: tuple[float, float], prob: float) -> xr.Dataset:
    """Return how studies differ, Rutter and Gatsonis' parameters, and areas."""
    shares = pairs.share_between(seen.items.T)
    found = {
        **{f"sd_logit_{rate}": pairs.sd[:, i] for i, rate in enumerate(RATES)}, "correlation": pairs.correlation,
        **{f"between_{rate}": shares[:, i] for i, rate in enumerate(RATES)}, **pairs.rutter_gatsonis(),
        "area": pairs.area(), "partial_area": pairs.area(*ends),
    }  # fmt: skip
    values = np.stack(list(found.values()))
    low, median, high = bounds(values, prob)
    variables = {
        "mean": (PARAMETER, values.mean(1)), "median": (PARAMETER, median), "sd": (PARAMETER, values.std(1)),
        "interval": ((PARAMETER, CI_BOUND), np.stack([low, high], 1)),
    }  # fmt: skip
    coords = {PARAMETER: list(found), CI_BOUND: interval_coordinate(prob, "eti")}
    return xr.Dataset(variables, coords=coords, attrs={"fpr_low": ends[0], "fpr_high": ends[1]})


def curve(pairs: sroc.Pairs, prob: float) -> xr.Dataset:
    """Return the summary ROC curve with its interval at each rate."""
    low, median, high = bounds(pairs.curve(_POINTS).T, prob)
    variables = {"recall": (FPR, median), "interval": ((FPR, CI_BOUND), np.stack([low, high], 1))}
    return xr.Dataset(variables, coords={FPR: _POINTS, CI_BOUND: interval_coordinate(prob, "eti")})


def outline(logits: Array, prob: float) -> xr.Dataset:
    """Return the ellipse that holds so much of the logits, and their median."""
    found = {
        "outline": (("angle", METRIC), sroc.ellipse(logits, prob)),
        "median": (METRIC, special.expit(np.median(logits, 0))),
    }
    return xr.Dataset(found, coords={METRIC: list(RATES)}, attrs={"ci_prob": prob})
