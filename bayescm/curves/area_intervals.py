"""Intervals for one area by one method: numbers in, bounds as the formula gives them out."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.curves import area_samples
from bayescm.curves.area_samples import Items
from bayescm.data.schema import SYSTEM
from bayescm.inference.proportions import normal_quantile

Array = NDArray[np.float64]

NOISE = 1e-12
"""Areas that differ by less are the same, but for rounding."""


class Found(NamedTuple):
    """A standard error and two bounds; where there are none, the reason. Of draws of a posterior their median."""

    se: float
    lower: float
    upper: float
    reason: str = ""
    median: float = np.nan


@dataclass(frozen=True)
class Evidence[S]:
    """What intervals and differences of areas are made of: each area is a mean over items of weighted placements."""

    items: S
    names: tuple[str, ...]
    """Of the areas: "auc", or estimators of the area under the PR curve or of that of several classes."""
    size: float
    """Number of trials, where an area is taken for a binomial proportion."""
    ci_prob: float
    draws: int
    folds: int
    seed: int

    @property
    def most(self) -> float:
        """Return the largest value that an area can have."""
        return 1.0

    @property
    def z(self) -> float:
        """Return the normal quantile of the level."""
        return normal_quantile(self.ci_prob)

    @property
    def tails(self) -> Array:
        """Return the probabilities of the two quantiles."""
        return np.array([1.0 - self.ci_prob, 1.0 + self.ci_prob]) / 2.0

    @property
    def point(self) -> Array:
        """Return the areas (systems, names)."""
        raise NotImplementedError

    @property
    def resampled(self) -> Array:
        """Return the areas (draws, systems, names) of stratified resamples."""
        raise NotImplementedError

    def shares(self, system: int, name: int) -> list[Array]:
        """Return of each class what its items add to an area, but for a constant."""
        raise NotImplementedError

    @property
    def units(self) -> list[NDArray[np.int64]] | None:
        """Return of each class which unit its items are of, where several items have one."""
        return None

    def drawn(self, system: int, name: int, prior: str = "prior_item") -> Array:
        """Return the posterior draws of an area."""
        raise NotImplementedError


@dataclass(frozen=True)
class Areas(Evidence[Items]):
    """Areas of two classes, each thing computed once and only if it is needed."""

    posteriors: dict[tuple[int, str], Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Those that were asked for so far, by system (-1: joint) and prior."""

    @cached_property
    def point(self) -> Array:
        """Return the areas (systems, names)."""
        return area_samples.values(self.items, self.names)

    @cached_property
    def placements(self) -> tuple[Array, Array]:
        """Return where each case and each control stands among the others (systems, n) and (systems, m)."""
        return area_samples.placements(self.items)

    @cached_property
    def resampled(self) -> Array:
        """Return the areas (draws, systems, names) of stratified resamples."""
        return area_samples.resamples(self.items, self.names, self.draws, self.seed)

    @cached_property
    def folded(self) -> Array:
        """Return the areas (folds, systems, names) of stratified folds."""
        return area_samples.folds(self.items, self.names, self.folds, self.seed)

    def shares(self, system: int, name: int) -> list[Array]:
        """Return the placements of the cases and of the controls."""
        return [placed[system] for placed in self.placements]

    @property
    def units(self) -> list[NDArray[np.int64]] | None:
        """Return which unit the cases and the controls are of."""
        return self.items.units

    def drawn(self, system: int, name: int, prior: str = "prior_item") -> Array:
        """Return the posterior draws of an area: of the PR curve itself, unless precision is averaged."""
        from bayescm.curves import curve_posterior

        rows = self.items.scores.score
        alone = prior == "smoothed" or len(rows) == 1  # it has no joint distribution
        variable, options = self._read(self.names[name])
        key = (system if alone else -1, prior)
        if key not in self.posteriors:
            score = rows[system] if alone else {str(i): row for i, row in enumerate(rows)}
            own = "fixed" if self.items.scores.unit is None else None  # units tell the share of cases, too
            self.posteriors[key] = curve_posterior(
                self.items.scores.positive.astype(np.int64), score, over=None, prior=prior,
                prevalence=self.items.prevalence if self.items.exchanged else own, unit=self.items.scores.unit,
                draws=self.draws, chains=1, random_seed=self.seed, **options,
            )["posterior"]  # fmt: skip
        found = self.posteriors[key][variable]
        if not alone:
            found = found.isel({SYSTEM: system})
        return np.asarray(found.values, np.float64).ravel()

    def _read(self, name: str) -> tuple[str, dict[str, Any]]:
        """Return which variable of the posterior has an area, and the options that it needs."""
        return name if name in ("auc", "average_precision") else "pr_area", {}


def nothing(reason: str) -> Found:
    """Return no interval, and why."""
    return Found(np.nan, np.nan, np.nan, reason)


def binomial(areas: Evidence[Any], system: int, name: int) -> Found:
    """Return Boyd's binomial interval: point +- z sqrt(point (1 - point) / size)."""
    point = float(areas.point[system, name])
    error = np.sqrt(point * (1.0 - point) / areas.size)
    if not error > 0.0:
        return nothing(f"at an area of {point:g} the method sees no variation")
    return Found(error, point - areas.z * error, point + areas.z * error)


def logit(areas: Evidence[Any], system: int, name: int) -> Found:
    """Return Boyd's interval on the logistic scale, where the standard error is 1 / sqrt(size point (1 - point))."""
    return on_logit_scale(areas, system, name, binomial(areas, system, name))


def on_logit_scale(areas: Evidence[Any], system: int, name: int, found: Found) -> Found:
    """Return the interval that a standard error gives on the logistic scale."""
    if found.reason:
        return found
    point = float(areas.point[system, name])
    half = areas.z * found.se / (point * (1.0 - point))
    lower, upper = special.expit(special.logit(point) + half * np.array([-1.0, 1.0]))
    return Found(found.se, lower, upper)


def percentile(areas: Evidence[Any], system: int, name: int) -> Found:
    """Return percentiles of stratified resamples: bounds are values of resamples."""
    drawn, reason = _resampled(areas, system, name)
    if reason:
        return nothing(reason)
    return Found(float(drawn.std(ddof=1)), *percentiles(drawn, areas.tails))


def bca(areas: Areas, system: int, name: int) -> Found:
    """Return bias-corrected and accelerated percentiles (Efron 1987), for two samples as Davison and Hinkley 5.3.2."""
    drawn, reason = _resampled(areas, system, name)
    if reason:
        return nothing(reason)
    point = areas.point[system, name]
    share = ((drawn < point).sum() + 0.5 * (drawn == point).sum()) / len(drawn)
    if not 0.0 < share < 1.0:
        return nothing("all resamples have larger areas than the sample, or all smaller ones")
    shift = special.ndtri(share)
    z = shift + special.ndtri(areas.tails)
    with np.errstate(divide="ignore"):
        probabilities = special.ndtr(shift + z / (1.0 - acceleration(areas, system, name) * z))
    return Found(float(drawn.std(ddof=1)), *percentiles(drawn, probabilities))


def acceleration(areas: Areas, system: int, name: int) -> float:
    """Return a sixth of the skewness of the influence of single items, by leaving each out."""
    cubes, squares = 0.0, 0.0
    for without in area_samples.without_one(areas.items, system, (areas.names[name],)):
        n = len(without)
        influence = (n - 1.0) / n * (without.mean() - without[:, 0])
        cubes += float((influence**3).sum())
        squares += float((influence**2).sum())
    return cubes / (6.0 * squares**1.5) if squares > 0.0 else 0.0


def _resampled(areas: Evidence[Any], system: int, name: int) -> tuple[Array, str]:
    """Return the areas of resamples, or the reason why they don't answer."""
    drawn = areas.resampled[:, system, name]
    if areas.items.alone:
        return drawn, areas.items.alone
    if np.isnan(drawn).any():
        return drawn, f"{np.isnan(drawn).mean():.2%} of the resamples have no such area"
    if np.ptp(drawn) < NOISE:
        return drawn, f"all resamples have the area {drawn[0]:g}, which is not certainty"
    return drawn, ""


def percentiles(drawn: Array, probabilities: Array) -> Array:
    """Return quantiles that are values of draws."""
    return np.asarray(np.quantile(drawn, probabilities, method="inverted_cdf"))


def of_draws(one: Array, other: Array, tails: Array) -> tuple[Found, float]:
    """Return equal tails of a difference, and the probability that the first is the larger, from joint draws."""
    return Found(np.nan, *np.quantile(one - other, tails)), float(((one > other) + 0.5 * (one == other)).mean())


def of_same(method: str) -> tuple[Found, float]:
    """Return the interval of a system and itself, and its p-value or the probability that the first is better."""
    return (Found(np.nan, 0.0, 0.0), 0.5) if method == "bayesian" else (Found(0.0, 0.0, 0.0), 1.0)


def of_resamples(drawn: Array, tails: Array, difference: float) -> tuple[Found, float]:
    """Return the percentile interval and the p-value of a difference from those of resamples."""
    if np.ptp(drawn) < NOISE:
        return nothing(f"all resamples have the difference {difference:g}, which is not certainty"), np.nan
    share = (1.0 + min((drawn <= 0.0).sum(), (drawn >= 0.0).sum())) / (1.0 + len(drawn))
    return Found(float(drawn.std(ddof=1)), *percentiles(drawn, tails)), float(min(2.0 * share, 1.0))


def of_variance(variance: float, tails: Array, difference: float, df: float = np.inf) -> tuple[Found, float]:
    """Return the interval and the p-value of a difference from its variance, by t or, unless said, the normal."""
    if variance < NOISE**2:
        return nothing(f"at a difference of {difference:g} its variance is 0, which is not certainty"), np.nan
    error = float(np.sqrt(variance))
    half = float(special.stdtrit(df, tails[1])) * error
    p_value = 2.0 * special.stdtr(df, -abs(difference) / error)
    return Found(error, difference - half, difference + half), float(p_value)


def cross_validation(areas: Areas, system: int, name: int) -> Found:
    """Return the mean over folds +- t sd / sqrt(folds), t with folds - 1 degrees of freedom (as published)."""
    least = min(areas.items.cases, areas.items.controls)
    if least < areas.folds:
        return nothing(f"{areas.folds} folds need as many cases and controls; the smaller class has {least}")
    values = areas.folded[:, system, name]
    error = values.std(ddof=1) / np.sqrt(len(values))
    if np.isnan(error):
        return nothing("there are folds without such an area")
    if error < NOISE:
        return nothing(f"all folds have the area {values[0]:g}, which is not certainty")
    half = special.stdtrit(len(values) - 1, areas.tails[1]) * error
    return Found(error, values.mean() - half, values.mean() + half)


def bayesian(areas: Evidence[Any], system: int, name: int) -> Found:
    """Return the equal-tailed interval of the joint posterior of the curve, which has no standard error."""
    return posterior(areas.drawn(system, name), areas.tails)


def smoothed(areas: Evidence[Any], system: int, name: int) -> Found:
    """Return the same with the mass of each class spread between its items (Banks 1988)."""
    return posterior(areas.drawn(system, name, "smoothed"), areas.tails)


def posterior(drawn: Array, tails: Array) -> Found:
    """Return equal tails and the median of draws, or the reason why they don't vary."""
    if np.ptp(drawn) < NOISE:
        return nothing(f"all draws have the area {drawn[0]:g}, which is not certainty")
    lower, median, upper = np.quantile(drawn, [tails[0], 0.5, tails[1]])
    return Found(np.nan, float(lower), float(upper), median=float(median))
