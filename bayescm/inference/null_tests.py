"""P-values of a null value of a metric, each by the method of its interval."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.data import validate
from bayescm.metrics import Metric, parts

Array = NDArray[np.float64]

NO_INFORMATION = "no_information_rate"
METHODS = ("clopper_pearson", "wilson", "wald", "likelihood_ratio", "delta")
_ALTERNATIVE = {"both": "two-sided", "lower": "greater", "upper": "less"}
_KAPPA = "cohen_kappa"


def checked(null: Any, method: str, metrics: tuple[Metric, ...]) -> float | str | None:
    """Return a null value that a method has a test of."""
    if null is None:
        return None
    if method not in METHODS:
        raise ValueError(f"`null` has a test by {', '.join(map(repr, METHODS))}; got method={method!r}.")
    if isinstance(null, str):
        validate.choice("null", null, (NO_INFORMATION,))
        if others := [metric.name for metric in metrics if metric.name != "accuracy"]:
            raise ValueError(f"`null`={null!r} is for the accuracy; got {others[0]}.")
        return null
    lower, upper = max(metric.lower for metric in metrics), min(metric.upper for metric in metrics)
    return validate.number("null", null, lower, upper, closed=True)


def p_values(
    metric: Metric,
    counts: NDArray[np.int64],
    method: str,
    null: float | str | None,
    bound: str,
    point: Array,
    se: Array,
    *,
    of_units: bool = False,
) -> Array:
    """Return the p-value of each value of a metric of matrices (..., K, K); NaN without a null value."""
    if null is None:
        return np.full(point.shape, np.nan)
    at: Any = counts.sum(-1).max(-1) / np.maximum(counts.sum((-2, -1)), 1) if null == NO_INFORMATION else null
    with np.errstate(invalid="ignore", divide="ignore"):
        if method == "delta":
            error = _kappa_error(counts) if metric.name == _KAPPA and null == 0.0 and not of_units else se
            return _of_normal((point - at) / error, bound)
        successes, failures = (np.asarray(part, np.float64) for part in parts(metric, counts))
        n = successes + failures
        if metric.link == "f1":
            at = at / (2.0 - at)
        if method == "clopper_pearson":
            return np.asarray(np.vectorize(_binomial, otypes=[float])(successes, n, at, _ALTERNATIVE[bound]))
        share = successes / n
        if method == "likelihood_ratio":
            deviance = special.xlogy(successes, share / at) + special.xlogy(failures, (1.0 - share) / (1.0 - at))
            return _of_normal(np.sign(share - at) * np.sqrt(np.maximum(2.0 * deviance, 0.0)), bound)
        spread = at * (1.0 - at) if method == "wilson" else share * (1.0 - share)
        return _of_normal((share - at) / np.sqrt(spread / n), bound)


def _of_normal(z: Array, bound: str) -> Array:
    if bound == "both":
        return np.asarray(2.0 * special.ndtr(-np.abs(z)))
    return np.asarray(special.ndtr(-z if bound == "lower" else z))


def _binomial(k: float, n: float, p: float, alternative: str) -> float:
    from scipy import stats

    return float(stats.binomtest(int(k), int(n), p, alternative).pvalue) if n else np.nan


def _kappa_error(counts: NDArray[np.int64]) -> Array:
    """Return the standard error of kappa where there is no agreement but by chance (Fleiss, Cohen and Everitt 1969)."""
    n = counts.sum((-2, -1))
    actual, predicted = counts.sum(-1) / n[..., None], counts.sum(-2) / n[..., None]
    chance = (actual * predicted).sum(-1)
    third = (actual * predicted * (actual + predicted)).sum(-1)
    return np.asarray(np.sqrt((chance + chance**2 - third) / n) / (1.0 - chance))
