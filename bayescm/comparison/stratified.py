"""Two systems' shares in strata: Mantel and Haenszel's test, the common odds ratio, and whether it is one.

Mantel and Haenszel 1959; Robins, Breslow and Greenland 1986, Biometrics 42, 311-323 (interval); Breslow and Day 1980,
section 4.4; Tarone 1985, Biometrika 72, 91-95. Strata where one system has no items, or both get all or none, say
nothing.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.inference.proportions import normal_quantile

Array = NDArray[np.float64]

TESTS = ("mantel_haenszel", "mantel_haenszel_corrected")
OF_ODDS = {
    "common_odds_ratio": "Odds ratio of all strata by Mantel and Haenszel",
    "breslow_day": "P-value of Breslow and Day's test that it is the same in all strata",
    "breslow_day_tarone": "The same as Tarone corrects it",
}


def of_strata(k: Any, n: Any, ci_prob: float) -> Array:
    """Return p-values, bounds of the common odds ratio, and what OF_ODDS names, of shares k / n (2, strata)."""
    k, n = np.asarray(k, np.float64), np.asarray(n, np.float64)
    got, size = k.sum(0), n.sum(0)
    used = (n > 0).all(0) & (got > 0) & (got < size)
    if not used.any():
        return np.full(len(TESTS) + 2 + len(OF_ODDS), np.nan)
    (a, c), (n1, n2), got, size = k[:, used], n[:, used], got[used], size[used]
    spread = (n1 * n2 * (got / size) * ((size - got) / size) / (size - 1.0)).sum()
    gap = abs((a - n1 * got / size).sum())
    p_values = [float(special.chdtrc(1, max(gap - less, 0.0) ** 2 / spread)) for less in (0.0, 0.5)]
    for_first, for_second = a * (n2 - c) / size, (n1 - a) * c / size
    sums = np.array([for_first.sum(), for_second.sum()])
    if not sums.all():
        return np.array([*p_values, np.nan, np.nan, 0.0 if sums[1] else np.inf, np.nan, np.nan])
    odds = float(sums[0] / sums[1])
    alike = (a + n2 - c) / size
    variance = (alike * for_first).sum() / sums[0] ** 2 + ((1.0 - alike) * for_second).sum() / sums[1] ** 2
    variance += (alike * for_second + (1.0 - alike) * for_first).sum() / sums.prod()
    half = normal_quantile(ci_prob) * np.sqrt(variance / 2.0)
    return np.array([*p_values, *odds * np.exp([-half, half]), odds, *_same_odds(a, n1, n2, got, odds)])


def _same_odds(a: Array, n1: Array, n2: Array, got: Array, odds: float) -> list[float]:
    """Return the p-values of Breslow and Day, and of Tarone, that all strata have this odds ratio."""
    if len(a) < 2:
        return [np.nan, np.nan]
    # expected: x (n2 - got + x) = odds (got - x) (n1 - x), of which one root is a table
    b = n2 - got + odds * (got + n1)
    product = odds * got * n1
    expected = 2.0 * product / (b + np.sqrt(np.maximum(b**2 - 4.0 * (odds - 1.0) * product, 0.0)))
    variance = 1.0 / (1.0 / expected + 1.0 / (got - expected) + 1.0 / (n1 - expected) + 1.0 / (n2 - got + expected))
    chi2 = ((a - expected) ** 2 / variance).sum()
    less = (a - expected).sum() ** 2 / variance.sum()
    return [float(special.chdtrc(len(a) - 1, one)) for one in (chi2, max(chi2 - less, 0.0))]
