"""The tables of a comparison: summary, tests, flips."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from bayescm import models
from bayescm.comparison import frequentist, score_intervals, stratified
from bayescm.comparison.evidence import FOLD, FOLDS
from bayescm.comparison.inputs import COMPARISON, Compared, Entry
from bayescm.comparison.posteriors import Posteriors
from bayescm.data.schema import ACTUAL, CHAIN, CI_BOUND, DRAW, LABEL, METRIC, SYSTEM, interval_coordinate
from bayescm.distributions.difference import Contrast
from bayescm.distributions.discrete import DiscreteDistribution
from bayescm.distributions.sample import Draws, interval
from bayescm.metrics import coordinates, evaluate
from bayescm.models import rope

Array = NDArray[np.float64]
Rows = list[list[dict[str, Any]]]

SIDES = ("worse", "equivalent", "better")
CORRELATED = "correlated_t"
_ROUNDING = 1e-13
"""Differences below it are rounding, where both systems share a number, such as the prevalence."""
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
    coords = comparison_coordinates(posteriors.compared)
    found, other = posteriors.sides
    with np.errstate(invalid="ignore"):
        made = found - other
    made = made.where(np.abs(made) > _ROUNDING, 0.0).where(made.notnull()).assign_coords(coords)
    for name in made.data_vars:
        made[name].attrs = found[name].attrs | {"long_name": f"{found[name].attrs['long_name']}, difference"}
    return made.transpose(CHAIN, DRAW, COMPARISON, ...)


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
    rows: Rows = []
    for i, pair in enumerate(compared.pairs):
        rows.append([])
        for entry in compared.entries:
            dist = posteriors.contrast(entry, pair)
            if dist is not None:
                found = _exact(dist, entry, question)
            else:
                one = drawn[entry.metric.name].isel({COMPARISON: i})
                one = one if entry.place is None else one.isel({LABEL: entry.place})
                found = _drawn(one, entry, question, posteriors.block.wrap)
                exist = dict(zip(("mean", "sd"), posteriors.moments_exist(entry, pair), strict=True))
                found |= {name: np.nan for name, does in exist.items() if not does}
            rows[-1].append(
                found | _ratio(posteriors, entry, pair, question) | {"point": posteriors.point(entry, pair)}
            )
    return _table(rows, compared, question)


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


def _drawn(one: xr.DataArray, entry: Entry, question: Question, wrap: Callable[[Array], Draws]) -> dict[str, Any]:
    """Answer by draws of the difference."""
    values = one.transpose(CHAIN, DRAW).values.ravel()
    with np.errstate(over="ignore"):
        found = Draws(values).statistics(question.ci_prob, question.ci_kind)
    gain = -values if entry.metric.loss else values
    sides = np.stack([gain < -question.rope, np.abs(gain) <= question.rope, gain > question.rope])
    by_side = wrap(sides.astype(np.float64)).side(0.5, ">")
    most = entry.metric.upper - entry.metric.lower
    bounds = question.stretched(np.stack([found["lower"], found["upper"]]), found["median"])
    made: dict[str, Any] = {
        "mean": found["mean"], "sd": found["sd"], "interval": np.clip(bounds, -most, most),
        "probability": by_side.probability,
        "mcse_probability": by_side.mcse,
    }  # fmt: skip
    if np.isnan(values).any():
        made = {name: np.full(np.shape(value), np.nan) for name, value in made.items()}
    return made | {"method": "draws"}


def _ratio(posteriors: Posteriors, entry: Entry, pair: tuple[int, int], question: Question) -> dict[str, Any]:
    """Return median and interval of the ratio; NaN where the metric may be 0 or less by its range."""
    if entry.metric.lower < 0.0:
        return {"ratio": np.nan, "ratio_interval": (np.nan, np.nan)}
    dist: Contrast | None = posteriors.ratio(entry, pair)
    if dist is not None:
        median, lower, upper = dist.median_and_interval(question.ci_prob_each, question.ci_kind)
        return {"ratio": median, "ratio_interval": (lower, upper)}
    first, second = posteriors.of(entry, pair)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        drawn = np.sort((first / second).ravel())
        bounds, median = np.stack(interval(drawn, question.ci_prob, question.ci_kind)), np.median(drawn)
        if question.ci_prob_each > question.ci_prob and median > 0.0:
            bounds = np.exp(question.stretched(np.log(bounds), float(np.log(median))))
    if np.isnan(drawn[-1]):  # NaN sorts last
        return {"ratio": np.nan, "ratio_interval": (np.nan, np.nan)}
    return {"ratio": median, "ratio_interval": bounds}


def _table(rows: Rows, compared: Compared, question: Question) -> xr.Dataset:
    """Give the table its names, and each row its verdict."""
    more = {"interval": CI_BOUND, "ratio_interval": CI_BOUND, "probability": rope.SIDE, "mcse_probability": rope.SIDE}
    made = xr.Dataset(
        {
            name: (
                (COMPARISON, METRIC, *([more[name]] if name in more else [])),
                np.array([[cell[name] for cell in row] for row in rows], np.float64),
                {"long_name": text, "units": "1"},
            )
            for name, text in _LONG_NAMES.items()
        },
        coords={
            **comparison_coordinates(compared),
            **coordinates(compared.metrics, compared.labels),
            rope.SIDE: list(SIDES),
            CI_BOUND: interval_coordinate(question.ci_prob, question.ci_kind),
        },
    )
    better = made["probability"].sel({rope.SIDE: SIDES[2]}, drop=True)
    made["probability_better"] = better.assign_attrs(long_name="Probability that the first is better, beyond the rope")
    verdict = _verdicts(made["interval"].values, [entry.metric.loss for entry in compared.entries], question.rope)
    said = "Where the interval lies"
    made["verdict"] = (COMPARISON, METRIC), verdict, {"long_name": said}
    made["method"] = (COMPARISON, METRIC), [[cell["method"] for cell in row] for row in rows]
    if compared.answers is not None:
        least, items = frequentist.fewest_that_decide(0.5 + 0.5 * question.ci_prob_each), _discordant(compared)
        notes = {"long_name": "Items that speak for one system alone", "fewest_that_decide": least}
        made["discordant"] = (COMPARISON, METRIC, "only"), items[..., :2], notes
        made = made.assign_coords(only=["first", "second"])
        made["reason"] = (COMPARISON, METRIC), _reasons(compared, verdict, items, least), {"long_name": "What decides"}
    return made


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


def tests(compared: Compared, question: Question, runs: int) -> xr.Dataset:
    """Return the frequentist companions: p-values and intervals for each proportion, or for folds."""
    folds = compared.design == FOLDS
    words, names, more = _companions(compared)
    values = np.full((len(compared.pairs), len(compared.entries), len(words) + 2 * len(names) + len(more)), np.nan)
    scores = _fold_scores(compared) if folds else []
    for i, pair in enumerate(compared.pairs):
        for j, entry in enumerate(compared.entries):
            if folds:
                values[i, j] = correlated_t(scores[j][pair[0]] - scores[j][pair[1]], runs, question.ci_prob)
            elif (share := frequentist.proportion_of(entry, len(compared.labels))) is not None:
                values[i, j] = _of_proportion(compared, pair, share, question.ci_prob)
    n, of_more = len(words), values.shape[-1] - len(more)
    dims = (COMPARISON, METRIC)
    text = {"long_name": "Confidence interval of the difference"}
    made = {"p_value": ((*dims, "test"), values[..., :n], {"long_name": "Two-sided p-value of no difference"})}
    if len(compared.pairs) > 1:
        holm = {"long_name": "P-value adjusted for all comparisons by Holm's method"}
        made["p_value_holm"] = ((*dims, "test"), frequentist.holm(values[..., :n]), holm)
    return xr.Dataset(
        {
            **made,
            **{name: ((*dims, CI_BOUND), values[..., n + 2 * i : n + 2 * i + 2], text) for i, name in enumerate(names)},
            **{name: (dims, values[..., of_more + i], {"long_name": more[name]}) for i, name in enumerate(more)},
            **_of_answers(compared),
        },
        coords={
            **comparison_coordinates(compared),
            **coordinates(compared.metrics, compared.labels),
            "test": list(words),
            CI_BOUND: interval_coordinate(question.ci_prob, "confidence"),
        },
    )


def _of_answers(compared: Compared) -> dict[str, Any]:
    """Return p-values of all answers to the same items: of a pair's table, and of all systems at once."""
    if compared.answers is None or compared.runs > 1:
        return {}
    known = compared.answers
    answers, count = known.answers()[:, :, 0], known.counts
    k = len(compared.labels)
    shares = [frequentist.proportion_of(entry, k) for entry in compared.entries]
    recalls = [frequentist.Proportion(one, np.diag(one)) for one in np.eye(k, dtype=bool)]

    def both(pair: tuple[int, int]) -> float:
        return frequentist.both_rates([frequentist.agreement(known, pair, recall) for recall in recalls])

    tables = [np.bincount(answers[:, i] * k + answers[:, j], count, k * k).reshape(k, k) for i, j in compared.pairs]
    made = {
        "bowker": (COMPARISON, [frequentist.bowker(table) for table in tables], "Bowker's test: answers are symmetric"),
        "stuart_maxwell": (COMPARISON, [*map(frequentist.stuart_maxwell, tables)], "Each answer is equally frequent"),
        "both_classes": (COMPARISON, [both(pair) for pair in compared.pairs], "The recall of every class is the same"),
    }
    if (systems := len(compared.systems)) > 2:
        got = [None if share is None else frequentist.scores(known, range(systems), share) for share in shares]
        found = [np.nan if one is None else frequentist.cochran_q(*one) for one in got]
        made["cochran_q"] = (METRIC, found, "Cochran's Q: all systems are equally good")
    return {name: (dim, values, {"long_name": text}) for name, (dim, values, text) in made.items()}


def _companions(compared: Compared) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, str]]:
    """Return the names of the tests and of the intervals, and what else there is."""
    if compared.design == FOLDS:
        return (CORRELATED,), (CORRELATED,), {}
    if compared.runs > 1:
        return frequentist.RUNS, frequentist.RUNS, {}
    if compared.answers is not None:
        return frequentist.PAIRED, frequentist.PAIRED_INTERVALS, {}
    if compared.audits:
        return stratified.TESTS, ("odds_ratio",), stratified.OF_ODDS
    return frequentist.INDEPENDENT, (*frequentist.INDEPENDENT_INTERVALS, *frequentist.RATIO_INTERVALS), {}


def _of_proportion(compared: Compared, pair: tuple[int, int], share: frequentist.Proportion, ci_prob: float) -> Array:
    """Return p-values and bounds of a proportion over actual classes."""
    if compared.answers is not None:
        if compared.runs > 1:
            return frequentist.paired_t(*frequentist.scores(compared.answers, pair, share), ci_prob)
        cells = frequentist.agreement(compared.answers, pair, share)
        p_values = frequentist.mcnemar(cells.first, cells.second) * (1.0 if sum(cells) else np.nan)
        return np.concatenate([p_values, *frequentist.paired_intervals(cells, ci_prob)])
    if compared.audits:
        counts = np.stack([compared.checked[system].counts for system in pair])
        return stratified.of_strata(
            counts[..., share.right].sum(-1), counts[..., share.classes, :].sum((-2, -1)), ci_prob
        )
    k1, k2 = (float(compared.totals[system][share.right].sum()) for system in pair)
    n1, n2 = (float(compared.totals[system][share.classes].sum()) for system in pair)
    tested = frequentist.independent_tests((k1, k2), (n1, n2))
    ratios = [score_intervals.ratio((k1, k2), (n1, n2), ci_prob, of_odds=odds) for odds in (False, True)]
    return np.concatenate([tested, *frequentist.independent_intervals((k1, k2), (n1, n2), ci_prob), *ratios])


def _fold_scores(compared: Compared) -> list[Array]:
    """Return each number of the counts by system and fold."""
    values = evaluate(compared.counts, compared.metrics)
    found = []
    for entry in compared.entries:
        one = values[entry.metric.name]
        one = one if entry.place is None else one.isel({LABEL: entry.place})
        found.append(one.transpose(SYSTEM, FOLD).values)
    return found


def correlated_t(scores: Array, runs: int, ci_prob: float) -> Array:
    """Return p-value and interval of the mean difference of fold scores (Nadeau and Bengio 2003)."""
    if not np.isfinite(scores).all() or np.ptp(scores) == 0.0:
        return np.full(3, np.nan)
    program: Any = models.load("fold_scores")
    dist = program.exact(scores, runs=runs).distributions["mean_difference"]
    tail = 0.5 * (1.0 - ci_prob)
    return np.array([2.0 * min(dist.cdf(0.0), dist.sf(0.0)), dist.ppf(tail), dist.isf(tail)], np.float64)
