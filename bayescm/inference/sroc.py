"""What follows from pairs of rates that scatter in logits: means over units, the summary ROC curve, areas, ellipses."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]

NODES = 21  # of a mean over units
_AREA = 64


class Pairs(NamedTuple):
    """Draws of the parameters: of recall, then of specificity.

    Attributes
    ----------
    mean, sd : ndarray of shape (n, 2)
        Of the logits.
    correlation : ndarray of shape (n,)
    """

    mean: Array
    sd: Array
    correlation: Array

    def mean_rates(self) -> Array:
        """Return the means (n, 2) of the rates over units, which are nearer to 1/2 than their medians."""
        node, weight = np.polynomial.hermite_e.hermegauss(NODES)
        return np.asarray(special.expit(self.mean[..., None] + self.sd[..., None] * node) @ (weight / weight.sum()))

    def slope(self) -> Array:
        """Return sd of recall over sd of specificity: exp(-beta) of Rutter and Gatsonis."""
        return np.asarray(self.sd[:, 0] / self.sd[:, 1])

    def curve(self, fpr: Array) -> Array:
        """Return the recalls (n, points) of the summary ROC curve of Rutter and Gatsonis (2001).

        By Harbord et al. (2007) its logit is mean_1 + slope (mean_2 + logit fpr): it goes through the median unit.
        """
        logits = self.mean[:, :1] + self.slope()[:, None] * (self.mean[:, 1:] + special.logit(fpr))
        return np.asarray(special.expit(logits))

    def area(self, low: float = 0.0, high: float = 1.0) -> Array:
        """Return the mean recall (n,) of the curve at false positive rates from `low` to `high`; of 0 to 1 the area.

        By Gauss-Legendre nodes t of fpr = low + (high - low) t^2 (3 - 2 t), crowded at both ends, where it is steep.
        """
        node, weight = np.polynomial.legendre.leggauss(_AREA)
        t = 0.5 * (node + 1.0)
        return np.asarray(self.curve(low + (high - low) * t**2 * (3.0 - 2.0 * t)) @ (3.0 * weight * t * (1.0 - t)))

    def rutter_gatsonis(self) -> dict[str, Array]:
        """Return the parameters of the hierarchical summary ROC model (Harbord et al. 2007, Table 1)."""
        root, product = np.sqrt(self.slope()), self.sd.prod(1)
        return {
            "accuracy": self.mean[:, 0] / root + self.mean[:, 1] * root,
            "threshold": 0.5 * (self.mean[:, 0] / root - self.mean[:, 1] * root),
            "asymmetry": -2.0 * np.log(root),
            "sd_accuracy": np.sqrt(2.0 * product * (1.0 + self.correlation)),
            "sd_threshold": np.sqrt(0.5 * product * (1.0 - self.correlation)),
        }

    def share_between(self, items: Array) -> Array:
        """Return the share (n, 2) of the variance of an observed logit that is between units, of items (units, 2).

        Within a unit it is 1 / (n p (1 - p)), averaged over units (Zhou and Dendukuri 2014, eq. 7).
        """
        positive = np.where(items > 0, items, np.nan)
        variance, with_items = self.sd**2, np.isfinite(positive).any(0)
        each = [
            np.nanmean(1.0 / column) if some else np.inf for column, some in zip(positive.T, with_items, strict=True)
        ]
        spread = np.exp(0.5 * variance + self.mean) + np.exp(0.5 * variance - self.mean) + 2.0
        return np.asarray(variance / (variance + spread * np.array(each)))


def ellipse(logits: Array, prob: float, points: int = 181) -> Array:
    """Return rates (points, 2) on the ellipse in logits (n, 2) that holds so many of the draws."""
    centre = logits.mean(0)
    factor = np.linalg.cholesky(np.cov(logits.T) + 1e-12 * np.eye(2))
    distance = np.linalg.norm(np.linalg.solve(factor, (logits - centre).T), axis=0)
    angle = np.linspace(0.0, 2.0 * np.pi, points)
    circle = np.quantile(distance, prob) * np.stack([np.cos(angle), np.sin(angle)])
    return np.asarray(special.expit(centre + (factor @ circle).T))


def deeks(table: Array) -> tuple[float, float]:
    """Return slope and p-value of Deeks' regression of tables (units, 2, 2), the negative class first.

    The log odds ratio on 1 / sqrt(effective sample size), weighted by that size (Deeks, Macaskill and Irwig 2005); a
    half is added to all cells if one is 0. NaN for fewer than four units.
    """
    items = table.sum(-1)
    table = table[(items > 0).all(1)]
    if len(table) < 4:
        return np.nan, np.nan
    size = 4.0 * table.sum(-1).prod(-1) / table.sum((-1, -2))
    cells = table + 0.5 * (table == 0).any()
    odds = np.log(cells[:, 0, 0] * cells[:, 1, 1] / (cells[:, 0, 1] * cells[:, 1, 0]))
    x = np.stack([np.ones(len(size)), 1.0 / np.sqrt(size)], 1)
    if np.ptp(x[:, 1]) < 1e-12:
        return np.nan, np.nan
    normal = np.linalg.inv((x * size[:, None]).T @ x)
    coefficients = normal @ (x * size[:, None]).T @ odds
    variance = (size * (odds - x @ coefficients) ** 2).sum() / (len(size) - 2)
    t = coefficients[1] / np.sqrt(variance * normal[1, 1])
    return float(coefficients[1]), float(2.0 * special.stdtr(len(size) - 2, -abs(t)))
