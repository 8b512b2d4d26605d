"""Intervals that hold at every look of a share whose items are chosen by stratum, and as one likes.

In each stratum the likelihood of the truth, divided by what Beta(1/2, 1/2) predicted, is a martingale's inverse; so is
the product of all strata's, whichever stratum the next item is taken from, if that is decided before the item is seen.
With probability `ci_prob` the product never falls below 1 - ci_prob (Ville 1939): the shares for which it hasn't are a
convex set, and the bounds of their weighted mean are its ends.
"""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special

from bayescm.data import strata
from bayescm.metrics import Metric, parts

Array = NDArray[np.float64]
_SPAN = (-60.0, 60.0)
"""Logarithms of the multiplier: at the ends all shares are at 1, or at those observed."""


def anytime(k: ArrayLike, n: ArrayLike, weight: ArrayLike, ci_prob: float = 0.95) -> tuple[float, float]:
    """Return the bounds of the weighted mean of the strata's shares (S,), of k of n in each; weights add up to 1."""
    k, n, weight = (np.asarray(one, np.float64)[np.asarray(weight) > 0] for one in (k, n, weight))
    return 1.0 - _upper(n - k, n, weight, ci_prob), _upper(k, n, weight, ci_prob)


def evidence(k: Array, n: Array, p: Array) -> Array:
    """Return the logarithm of what Beta(1/2, 1/2) predicted over the likelihood of p, by stratum."""
    predicted = special.betaln(k + 0.5, n - k + 0.5) - special.betaln(0.5, 0.5)
    return np.asarray(predicted - special.xlogy(k, p) - special.xlog1py(n - k, -p))


def _upper(k: Array, n: Array, weight: Array, ci_prob: float) -> float:
    """Return the largest weighted mean of shares against which the evidence isn't too strong."""
    limit = -np.log1p(-ci_prob)

    def shares(log_multiplier: float) -> Array:
        """Return the p at which weight = multiplier times the slope of the evidence, a square equation."""
        m = np.exp(log_multiplier)
        b = m * n - weight
        root = np.sqrt(b**2 + 4.0 * weight * m * k)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.where(b > 0.0, 2.0 * m * k / (b + root), (root - b) / (2.0 * weight))
        return np.asarray(np.clip(found, 0.0, 1.0))

    def beyond(log_multiplier: float) -> float:
        return float(np.minimum(evidence(k, n, shares(log_multiplier)), 1e6).sum() - limit)

    if beyond(_SPAN[0]) <= 0.0:
        return 1.0
    return float(weight @ shares(optimize.brentq(beyond, *_SPAN, xtol=1e-12)))


def of_audit(counts: xr.DataArray, metrics: Sequence[Metric], ci_prob: float) -> list[tuple[float, float, float]]:
    """Return point, lower and upper bound of shares of all items of an audit whose totals are the strata's weights."""
    of = strata.read(counts)
    if of.of != "population":
        raise ValueError(
            "`method`='anytime' of an audit is for strata of known shares, bayescm.audited(..., of='population'); "
            f"this one is of={of.of!r}."
        )
    weight, n, found = of.totals / of.totals.sum(), of.checked, []
    for metric in metrics:
        k, others = (np.zeros(len(n)), None) if metric.ratio is None else parts(metric, of.counts)
        if others is None or np.ndim(k) != 1 or (k + others != n).any():
            raise ValueError(
                "`metrics`: method='anytime' of an audit is for shares of all items, such as 'accuracy' and "
                f"'prevalence'; {metric.name} is none."
            )
        with np.errstate(invalid="ignore"):
            point = float(weight[weight > 0] @ (k / n)[weight > 0])
        found.append((point, *anytime(k, n, weight, ci_prob)))
    return found
