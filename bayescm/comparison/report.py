"""The tables of a comparison: draws, summary, flips."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from bayescm.comparison import frequentist
from bayescm.comparison.inputs import COMPARISON, Compared, Entry
from bayescm.comparison.posteriors import Posteriors
from bayescm.data.schema import ACTUAL, CHAIN, CI_BOUND, DRAW, LABEL, METRIC, interval_coordinate
from bayescm.distributions.contrast import Contrast
from bayescm.distributions.discrete import DiscreteDistribution
from bayescm.distributions.sample import Draws, interval
from bayescm.metrics import coordinates, describe
from bayescm.models import rope

Array = NDArray[np.float64]
Columns = list[list[dict[str, Any]]]
"""What is found of each number and comparison."""

SIDES = ("worse", "equivalent", "better")
_NO_RATIO: dict[str, Any] = {"ratio": np.nan, "ratio_interval": (np.nan, np.nan)}
"""Of metrics that may be 0 or less by their range."""
_ROUNDING = 1e-13
"""Differences below it are rounding, where both systems share a number, such as the prevalence."""
_TOGETHER = 64  # comparisons whose draws are subtracted at once
_LONG_NAMES = {
    "point": "Difference of the counts' own values",
    "mean": "Posterior mean of the difference",
    "sd": "Posterior standard deviation of the difference",
    "interval": "Credible interval of the difference",
    "ratio": "Posterior median of the ratio, first to second",
    "ratio_interval": "Credible interval of the ratio",
    "probability": "Probability that the first is worse, equivalent, better",
    "mcse_probability": "Monte Carlo standard error of the probability",
}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of every difference.

    Attributes
    ----------
    rope, ci_prob : float
    ci_kind : str
    ci_prob_each : float
        Of one interval, where all comparisons of a metric hold together with `ci_prob`.
    """

    rope: float
    ci_prob: float
    ci_kind: str
    ci_prob_each: float

    @property
    def ends(self) -> tuple[float, float]:
        """Of the rope."""
        return -self.rope, self.rope

    @property
    def tails(self) -> list[float]:
        """The probabilities below the ends of an interval; none known of a shortest one."""
        return [] if self.ci_kind == "hdi" else (0.5 + 0.5 * self.ci_prob_each * np.array([-1.0, 1.0])).tolist()

    def stretched(self, bounds: Array, median: Any) -> Array:
        """Return an interval of `ci_prob` stretched to `ci_prob_each`, for which there are too few draws in the tails.

        As far as a normal distribution's is longer, either side by itself.
        """
        longer = ndtri(0.5 + 0.5 * self.ci_prob_each) / ndtri(0.5 + 0.5 * self.ci_prob) - 1.0
        return np.asarray(bounds + longer * (bounds - median)) if longer else bounds  # they may be infinite


def level_of_each(ci_prob: float, systems: int, comparisons: int) -> float:
    """Return the probability of each interval with which those of all comparisons hold together with `ci_prob`.

    For all pairs by Tukey's range, which is exact for equal variances and correlations, else cautious (Hayter 1984,
    Annals of Statistics 12); for one system with each other one by Sidak's inequality (1967, JASA 62), always cautious.
    """
    if comparisons == systems - 1:
        return float(ci_prob ** (1.0 / comparisons))
    from scipy.stats import studentized_range  # late: it takes longer to import than a comparison takes

    distance = studentized_range.ppf(ci_prob, systems, np.inf) / np.sqrt(2.0)
    return float(1.0 - 2.0 * ndtr(-distance))


def differences(posteriors: Posteriors) -> xr.Dataset:
    """Return the draws of all differences, first minus second."""
    compared, sizes, made = posteriors.compared, (posteriors.chains, posteriors.draws), {}
    for metric in compared.metrics:
        gaps = np.empty((len(compared.pairs), *posteriors.sides(metric.name, 0).shape[1:]))
        for start in range(0, len(gaps), _TOGETHER):
            some = slice(start, start + _TOGETHER)
            first, second = posteriors.sides(metric.name, some)
            with np.errstate(invalid="ignore"):
                gaps[some] = first - second
            gaps[some][np.abs(gaps[some]) <= _ROUNDING] = 0.0
        dims = (COMPARISON, *([LABEL] if gaps.ndim > 2 else []), CHAIN, DRAW)
        attrs = describe(metric)
        attrs["long_name"] += ", difference"
        made[metric.name] = xr.Variable(dims, gaps.reshape(*gaps.shape[:-1], *sizes), attrs)
    labels = {LABEL: compared.labels} if any(LABEL in one.dims for one in made.values()) else {}
    coords = {CHAIN: np.arange(sizes[0]), DRAW: np.arange(sizes[1]), **labels, **comparison_coordinates(compared)}
    return xr.Dataset(made, coords).transpose(CHAIN, DRAW, COMPARISON, ...)


def comparison_coordinates(compared: Compared) -> dict[str, Any]:
    """Return the names of the comparisons and of their two systems."""
    first, second = zip(*compared.names, strict=True)
    return {
        COMPARISON: compared.comparisons,
        "first": (COMPARISON, list(first)),
        "second": (COMPARISON, list(second)),
    }


def summary(posteriors: Posteriors, drawn: xr.Dataset, question: Question) -> xr.Dataset:
    """Return the table of all comparisons and metrics."""
    compared = posteriors.compared
    columns: Columns = []
    contrasts = posteriors.contrasts(compared.entries, question.ends, question.tails)
    of_positive = iter(
        posteriors.ratios([e for e in compared.entries if e.metric.lower >= 0.0], [0.5, *question.tails])
    )
    for entry, dists in zip(compared.entries, contrasts, strict=True):
        positive = entry.metric.lower >= 0.0
        ratios = next(of_positive) if positive else [None] * len(dists)
        of_entry = drawn[entry.metric.name].variable.isel({} if entry.place is None else {LABEL: entry.place})
        gaps = of_entry.transpose(COMPARISON, ...).values
        by_draws = _together(
            [i for i, dist in enumerate(dists) if dist is None],
            partial(_drawn, gaps.reshape(len(gaps), -1), entry, question, posteriors.block.wrap),
        )
        ratios_by_draws = _together(
            [i for i, dist in enumerate(ratios) if positive and dist is None],
            partial(_ratio_drawn, posteriors, entry, question),
        )
        columns.append([])
        for i, (pair, dist, ratio) in enumerate(zip(compared.pairs, dists, ratios, strict=True)):
            if dist is not None:
                found = _exact(dist, entry, question)
            else:
                found = by_draws[i] | {"method": "draws"}
                exist = dict(zip(("mean", "sd"), posteriors.moments_exist(entry, pair), strict=True))
                found |= {name: np.nan for name, does in exist.items() if not does}
            found |= _NO_RATIO if not positive else ratios_by_draws[i] if ratio is None else _ratio(ratio, question)
            columns[-1].append(found | {"point": posteriors.point(entry, pair)})
    return _table(columns, compared, question)


def _together(which: list[int], answer: Callable[[list[int]], dict[str, Array]]) -> dict[int, dict[str, Any]]:
    """Return the answers for comparisons, of which some are found at once; these are the last axis."""
    found: dict[int, dict[str, Any]] = {}
    for start in range(0, len(which), _TOGETHER):
        some = which[start : start + _TOGETHER]
        answers = answer(some)
        found |= {i: {name: value[..., j] for name, value in answers.items()} for j, i in enumerate(some)}
    return found


def _exact(dist: Any, entry: Entry, question: Question) -> dict[str, Any]:
    """Answer by the distribution of the difference."""
    if not dist.has_density:
        return _of_values(dist, entry, question)
    loss = entry.metric.loss
    sides = rope.sides(dist, question.rope)
    return {
        "mean": dist.mean(), "sd": dist.sd(), "interval": dist.interval(question.ci_prob_each, question.ci_kind),
        "probability": sides[::-1] if loss else sides, "mcse_probability": np.zeros(3),
        "method": "exact",
    }  # fmt: skip


def _of_values(dist: DiscreteDistribution, entry: Entry, question: Question) -> dict[str, Any]:
    """Answer by the distribution of a difference that has finitely many values, with ties."""
    (one,), found = dist.each, dist.statistics(question.ci_prob_each, question.ci_kind)
    gain = np.where(np.abs(one.values) < _ROUNDING, 0.0, -one.values if entry.metric.loss else one.values)
    chance = one.probability / one.probability.sum()
    sides = np.stack([gain < -question.rope, np.abs(gain) <= question.rope, gain > question.rope])
    return {
        "mean": found["mean"], "sd": found["sd"], "interval": (found["lower"], found["upper"]),
        "probability": sides @ chance,
        "mcse_probability": np.zeros(3), "method": "exact",
    }  # fmt: skip


def _drawn(
    gaps: Array, entry: Entry, question: Question, wrap: Callable[[Array], Draws], which: list[int]
) -> dict[str, Array]:
    """Answer for some of all comparisons by draws of their differences, (comparison, n); comparisons come last."""
    values = gaps[which]
    with np.errstate(over="ignore"):
        found = Draws(values).statistics(question.ci_prob, question.ci_kind)
    gain = -values if entry.metric.loss else values
    sides = np.stack([gain < -question.rope, np.abs(gain) <= question.rope, gain > question.rope])
    by_side = wrap(sides.astype(np.float64)).side(0.5, ">")
    most = entry.metric.upper - entry.metric.lower
    bounds = question.stretched(np.stack([found["lower"], found["upper"]]), found["median"])
    made = {
        "mean": found["mean"], "sd": found["sd"], "interval": np.clip(bounds, -most, most),
        "probability": by_side.probability,
        "mcse_probability": by_side.mcse,
    }  # fmt: skip
    undefined = np.isnan(values).any(-1)
    return {name: np.where(undefined, np.nan, value) for name, value in made.items()}


def _ratio(dist: Contrast, question: Question) -> dict[str, Any]:
    """Return median and interval of an exact ratio."""
    median, lower, upper = dist.median_and_interval(question.ci_prob_each, question.ci_kind)
    return {"ratio": median, "ratio_interval": (lower, upper)}


def _ratio_drawn(posteriors: Posteriors, entry: Entry, question: Question, which: list[int]) -> dict[str, Array]:
    """Return median and interval of the ratios of comparisons by draws; comparisons come last."""
    drawn = posteriors.sides(entry.metric.name, which)
    first, second = drawn if entry.place is None else drawn[:, :, entry.place]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        drawn = np.sort(first / second, axis=-1)
        bounds, median = np.stack(interval(drawn, question.ci_prob, question.ci_kind)), np.median(drawn, axis=-1)
        if question.ci_prob_each > question.ci_prob:
            longer = np.exp(question.stretched(np.log(bounds), np.log(median)))
            bounds = np.where(median > 0.0, longer, bounds)
    undefined = np.isnan(drawn[..., -1])  # NaN sorts last
    return {"ratio": np.where(undefined, np.nan, median), "ratio_interval": np.where(undefined, np.nan, bounds)}


def _table(columns: Columns, compared: Compared, question: Question) -> xr.Dataset:
    """Give the table its names, and each row its verdict."""
    more = {"interval": CI_BOUND, "ratio_interval": CI_BOUND, "probability": rope.SIDE, "mcse_probability": rope.SIDE}
    dims = (COMPARISON, METRIC)

    def cells(name: str, dtype: type) -> NDArray[Any]:
        return np.array([[cell[name] for cell in column] for column in columns], dtype).swapaxes(0, 1)

    made: dict[str, Any] = {
        name: ((*dims, *([more[name]] if name in more else [])), cells(name, float), {"long_name": text, "units": "1"})
        for name, text in _LONG_NAMES.items()
    }
    better = {"long_name": "Probability that the first is better, beyond the rope", "units": "1"}
    made["probability_better"] = dims, made["probability"][1][..., 2], better
    losses = [entry.metric.loss for entry in compared.entries]
    verdict = _verdicts(made["interval"][1], losses, question.rope)
    made["verdict"] = dims, verdict, {"long_name": "Where the interval lies"}
    made["method"] = dims, cells("method", str)
    only = {}
    if compared.answers is not None:
        least, items = frequentist.fewest_that_decide(0.5 + 0.5 * question.ci_prob_each), _discordant(compared)
        notes = {"long_name": "Items that speak for one system alone", "fewest_that_decide": least}
        made["discordant"] = (*dims, "only"), items[..., :2], notes
        made["reason"] = dims, _reasons(compared, verdict, items, least), {"long_name": "What decides"}
        only = {"only": ["first", "second"]}
    coords = {
        **comparison_coordinates(compared),
        **coordinates(compared.metrics, compared.labels),
        rope.SIDE: list(SIDES),
        CI_BOUND: interval_coordinate(question.ci_prob, question.ci_kind),
        **only,
    }
    return xr.Dataset(made, coords)


def _verdicts(intervals: Array, losses: Sequence[bool], rope_width: float) -> NDArray[np.str_]:
    """Say where the intervals (comparison, metric, 2) lie: beyond the rope, inside it or neither."""
    lower, upper = np.moveaxis(np.where(np.array(losses)[:, None], -intervals[..., ::-1], intervals), -1, 0)
    near = rope_width + _ROUNDING
    found = np.select(
        [upper < -near, lower > near, (lower >= -near) & (upper <= near)],
        ["worse", "better", "equivalent"],
        "undecided",
    )
    return np.asarray(found)


def _discordant(compared: Compared) -> NDArray[np.int64]:
    """Return the items for the first, for the second, and answered differently: (comparison, metric, 3)."""
    answers: Any = compared.answers
    found = [[frequentist.discordant(answers, pair, entry) for entry in compared.entries] for pair in compared.pairs]
    return np.array(found, np.int64)


def _reasons(compared: Compared, verdict: Any, items: NDArray[np.int64], least: int) -> list[list[str]]:
    """Say in words on how many items each verdict rests; one side alone decides on proportions only."""
    simple = [frequentist.proportion_of(entry, len(compared.labels)) is not None for entry in compared.entries]
    found: list[list[str]] = []
    for row, counts in zip(verdict.tolist(), items.tolist(), strict=True):
        found.append([])
        for one, plain, (first, second, differ) in zip(row, simple, counts, strict=True):
            text = f"{differ or 'no'} item{'s' * (differ > 1)} tell{'s' * (differ < 2)} them apart"
            few = one == "undecided" and differ < least
            sides = (second, first) if one == "worse" else (first, second)
            found[-1].append(
                f"{sides[0]} items against {sides[1]}" if plain and not few else "only " * (few and differ > 0) + text
            )
    return found


def flips(compared: Compared) -> xr.Dataset:
    """Return how often both, one or none of two systems were right, and gave different answers, by actual class."""
    answers, k = compared.answers, len(compared.labels)
    if answers is None:
        raise ValueError("`data` must say which items both systems answered.")
    found = np.zeros((len(compared.pairs), k, 5), np.int64)
    for i, pair in enumerate(compared.pairs):
        actual, *given = answers.codes[:, [0, *(1 + system for system in pair)]].T
        one, two = (answer == actual for answer in given)
        for place, items in enumerate((one & two, one & ~two, ~one & two, ~one & ~two, given[0] != given[1])):
            found[i, :, place] = np.bincount(actual, answers.counts * items, k)
    names = {
        "both_right": "Items that both got right", "only_first_right": "Items that only the first got right",
        "only_second_right": "Items that only the second got right", "both_wrong": "Items that both got wrong",
        "answers_differ": "Items that they answered differently",
    }  # fmt: skip
    return xr.Dataset(
        {n: ((COMPARISON, ACTUAL), found[..., i], {"long_name": text}) for i, (n, text) in enumerate(names.items())},
        coords={**comparison_coordinates(compared), ACTUAL: compared.labels},
    )
