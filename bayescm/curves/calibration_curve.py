"""reliability(): whether scores are the probabilities that they claim to be, and what they lose."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from bayescm.curves.calibration_units import of_units
from bayescm.data import validate
from bayescm.data.assumptions import SEEN, assumed
from bayescm.data.inputs import takes_items
from bayescm.data.labels import Label
from bayescm.data.schema import CI_BOUND, attributes, interval_coordinate, positive_class
from bayescm.data.scores import check_scores
from bayescm.data.units import in_units, one_by_one
from bayescm.data.units import of_units as said_of_units
from bayescm.inference import proportions
from bayescm.inference.units import MODEL
from bayescm.results.objects import stamped

Array = NDArray[np.float64]

BIN, LOSS, SCORE = "bin", "loss", "score"
PARTS = 20
"""Of the histogram of the scores, equally wide."""
LOSSES = ("brier", "log_loss")
_PRIOR = 0.5  # right and wrong items that the prior adds: Jeffreys' Beta(1/2, 1/2) where all scores are alike
_NEAR = 0.01  # standard errors from the middle, where r* is still told from rounding
METHODS = {
    "clopper_pearson": proportions.clopper_pearson,
    "wilson": proportions.wilson,
    "jeffreys": proportions.jeffreys,
}
_NAMES = {
    "point": "Share of the positive class",
    "interval": "Interval of the share, of all bins at once",
    "mean_score": "Mean score",
    "items": "Items",
    "mean_loss": "Mean loss",
    "loss_se": "Standard error of the mean loss",
    "loss_interval": "Interval of the mean loss",
    "histogram": "Items around the score",
}


@stamped
@takes_items
def reliability(
    y_true: ArrayLike,
    y_score: Any = None,
    *,
    bins: int | ArrayLike = 10,
    method: Literal["clopper_pearson", "wilson", "jeffreys"] = "clopper_pearson",
    ci_prob: float = 0.95,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    unit: ArrayLike | None = None,
    random_seed: int | np.random.Generator | None = None,
) -> xr.Dataset:
    """Compare scores that are probabilities with how often they come true, with a simultaneous band.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Actual labels, two classes.
    y_score : array_like of shape (n,)
        Probabilities of the positive class.
    bins : int or array_like
        That many bins with equally many items, fewer where scores are tied; or the edges of bins, rising from 0 to 1.
        A score on an edge belongs to the bin above it.
    method : {"clopper_pearson", "wilson", "jeffreys"}
        Of the interval of each bin.
    ci_prob : float
        Level of all bins at once, and of the interval of each loss.
    labels, pos_label
        As in :func:`bayescm.confusion_matrix`.
    unit : array_like of shape (n,), optional
        What was sampled, where it has several items, such as the patient of each image: units weigh at random, and one
        more with them, whose share of positives is Beta(1/2, 1/2). All intervals are by draws then, whatever `method`.
    random_seed : int, numpy.random.Generator or None
        Of those draws.

    Returns
    -------
    xarray.Dataset
        Over ``bin``: ``point``, the share of the positive class, ``interval(ci_bound)``, ``mean_score`` and ``items``,
        with the coordinates ``bin_lower`` and ``bin_upper``. Over ``loss``, "brier" and "log_loss": ``mean_loss``,
        ``loss_se`` and ``loss_interval(ci_bound)``. Over ``score``, the middles of 20 equal parts of 0 to 1:
        ``histogram``, the items there. The attr ``off`` counts the bins whose mean score lies outside.
        :func:`bayescm.plots.plot_curve` draws it.

    Raises
    ------
    ValueError
        If scores are no probabilities, or edges don't rise from 0 to 1.

    Notes
    -----
    Given the scores, the bins are independent: each interval has the level ci_prob to the power of 1 / bins (Sidak).
    Within a bin the chances differ, and the number of positives varies less than a binomial one (Hoeffding 1956), so
    that "clopper_pearson" holds the mean chances of all bins at least as often as it says, "jeffreys" about as often,
    "wilson" less often where chances are rare.

    The interval of a loss is that of the Bayesian bootstrap, with half a right and half a wrong item added, which lose
    what the scores seen would on average. It supposes that scores to come are like those seen; the log loss is infinite
    where a score of 0 or 1 is wrong, and has no upper limit where one was seen and right.

    References
    ----------
    Brier 1950, Monthly Weather Review 78; Sidak 1967, JASA 62; Hoeffding 1956, Annals of Mathematical Statistics 27;
    Rubin 1981, Annals of Statistics 9 (Bayesian bootstrap); Barndorff-Nielsen 1986, Biometrika 73 (r*).

    Examples
    --------
    >>> import numpy as np, bayescm
    >>> rng = np.random.default_rng(1)
    >>> chance = rng.uniform(size=400)
    >>> found = bayescm.curves.reliability(rng.uniform(size=400) < chance, chance**2, bins=4)
    >>> found["interval"].values.round(2)
    array([[0.03, 0.17],
           [0.24, 0.49],
           [0.52, 0.76],
           [0.69, 0.9 ]])
    >>> found["mean_score"].values.round(2), found.attrs["off"]
    (array([0.02, 0.13, 0.37, 0.75]), 3)
    """
    validate.choice("method", method, METHODS)
    level = validate.number("ci_prob", ci_prob, 0, 1)
    scores = one_by_one(in_units(check_scores(y_true, y_score, labels, pos_label), unit))
    if scores.systems is not None:
        raise ValueError("`y_score` must be the scores of one system; call once for each.")
    score, positive = scores.score[0], scores.positive.astype(np.float64)
    if not ((score >= 0.0) & (score <= 1.0)).all():
        raise ValueError("`y_score` must be probabilities, between 0 and 1; other scores have no reliability.")
    edges = _edges(bins, score)
    place = np.clip(np.searchsorted(edges, score, side="right") - 1, 0, len(edges) - 2)
    items, hits, total = (np.bincount(place, weight, len(edges) - 1) for weight in (None, positive, score))
    number = int((items > 0).sum())
    each, right_wrong = _each_loss(score, positive)
    mean, kind = each.mean(1), "confidence"
    how: dict[str, Any] = {"method": method}
    if scores.unit is None:
        lower, upper = METHODS[method](hits, items, level ** (1.0 / number))
        band = np.stack([lower, upper], -1)
        error, limits = _losses(each, right_wrong, level)
    else:
        levels, seed = (level ** (1.0 / number), level), validate.seed(random_seed)
        sure = np.where(np.isfinite(each), each, 0.0), np.where(np.isfinite(right_wrong), right_wrong, 0.0)
        band, error, limits = of_units(scores.unit, place, positive, *sure, len(items), levels, seed)
        limits[:, 1] = np.where(np.isfinite(right_wrong).all(1), limits[:, 1], np.inf)
        error[np.isinf(mean)] = np.nan
        kind, how = "eti", {"method": MODEL, "random_seed": seed}
    limits = np.where(np.isinf(mean)[:, None], np.nan, limits)
    band = np.where(items[:, None] > 0, band, [0.0, 1.0])
    with np.errstate(invalid="ignore"):
        point, mean_score = hits / items, total / items
    found = xr.Dataset(
        {
            "point": (BIN, point), "interval": ((BIN, CI_BOUND), band), "mean_score": (BIN, mean_score),
            "items": (BIN, items), "mean_loss": (LOSS, mean), "loss_se": (LOSS, error),
            "loss_interval": ((LOSS, CI_BOUND), limits),
            "histogram": (SCORE, np.histogram(score, PARTS, (0.0, 1.0))[0]),
        },
        coords={
            SCORE: (np.arange(PARTS) + 0.5) / PARTS,
            "bin_lower": (BIN, edges[:-1]), "bin_upper": (BIN, edges[1:]), LOSS: list(LOSSES),
            CI_BOUND: interval_coordinate(level, kind),
        },
        attrs=attributes(
            **how, ci_prob=level, kind="simultaneous",
            off=int(((mean_score < band[:, 0]) | (mean_score > band[:, 1])).sum()),
            **{"assumptions": assumed(None, SEEN)} | said_of_units(scores.unit),
            **positive_class(scores.labels.tolist()),
        ),
    )  # fmt: skip
    for name, text in _NAMES.items():
        found[name].attrs = {"long_name": text, "units": "1"}
    return found


def _edges(bins: Any, score: Array) -> Array:
    """Return the edges of bins with equally many items, or those given."""
    if isinstance(bins, int | np.integer):
        number = validate.positive_integer("bins", bins)
        inner = np.unique(np.sort(score)[np.arange(1, number) * len(score) // number])
        inner = inner[inner > score.min()]
        if len(inner) and inner[-1] == 1.0:  # which ends the last bin: scores of 1 are told from those below
            inner[-1] = (1.0 + score[score < 1.0].max()) / 2.0
        return np.unique(np.concatenate([[0.0], inner, [1.0]]))
    edges = validate.real_numbers("bins", bins)
    if len(edges) < 2 or edges[0] != 0.0 or edges[-1] != 1.0 or (np.diff(edges) <= 0.0).any():
        raise ValueError("`bins` must be a number of bins, or edges that rise from 0 to 1.")
    return edges


def _each_loss(score: Array, positive: Array) -> tuple[Array, Array]:
    """Return the losses (2, n) of the items, and the mean ones (2, 2) if all were right, and if all were wrong."""
    with np.errstate(divide="ignore"):
        either = np.stack([[(1.0 - score) ** 2, score**2], [-np.log(score), -np.log1p(-score)]])  # if positive, if not
    return np.where(positive > 0.0, either[:, 0], either[:, 1]), np.sort(either, axis=1).mean(-1)


def _losses(each: Array, prior: Array, ci_prob: float) -> tuple[Array, Array]:
    """Return the standard errors of mean losses, and their intervals (2, 2)."""
    n, error, finite = each.shape[1], np.full(2, np.nan), np.isfinite(each).all(1)
    if n > 1:
        error[finite] = each[finite].std(1, ddof=1) / np.sqrt(n)
    weight = np.append(np.ones(n), [_PRIOR, _PRIOR])
    limits = [_limits(np.append(seen, two), weight, ci_prob) for seen, two in zip(each, prior, strict=True)]
    return error, np.array(limits)


def _limits(loss: Array, weight: Array, ci_prob: float) -> tuple[float, float]:
    """Return the interval of a mean of losses whose shares are Dirichlet with these weights, by a saddlepoint.

    The mean is below c where the sum of Gammas g_i (loss_i - c) is negative. Its cumulants are tilted by one number,
    of which c is a function, and r* (Barndorff-Nielsen) is normal there but for a thousandth or so. A loss that may be
    infinite has no upper limit.
    """
    finite = np.isfinite(loss)
    loss, weight = loss[finite], weight[finite]
    middle = weight @ loss / weight.sum()
    off = loss - middle
    ends = off.min(), off.max()
    if not ends[0] < 0.0 < ends[1]:
        return float(middle), float(middle) if finite.all() else np.inf

    def tilted(tilt: float) -> tuple[float, float]:
        """Return c less the middle, and r*."""
        part = weight / (1.0 - tilt * off)
        c = float(part @ off / part.sum())
        s = tilt / (1.0 - tilt * c)
        deviance = 2.0 * float(weight @ np.log1p(-s * (off - c)))
        root = float(np.sign(tilt) * np.sqrt(max(deviance, 0.0)))
        wald = s * float(np.sqrt(weight @ ((off - c) / (1.0 - s * (off - c))) ** 2))
        return c, root + float(np.log(wald / root)) / root

    def limit(side: float, z: float) -> float:
        far = (1.0 - 1e-12) / (ends[1] if side > 0.0 else ends[0])
        near = side * _NEAR / np.sqrt(weight @ off**2)
        at = brentq(lambda tilt: tilted(tilt)[1] - side * z, near, far, rtol=1e-10)
        return float(middle + tilted(at)[0])

    z = proportions.normal_quantile(ci_prob)
    return limit(-1.0, z), limit(1.0, z) if finite.all() else np.inf
