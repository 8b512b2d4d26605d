"""The frequentist companions of a comparison: p-values and confidence intervals, beside what is known exactly."""

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm import models
from bayescm.comparison import frequentist, score_intervals, stratified
from bayescm.comparison.evidence import FOLD, FOLDS
from bayescm.comparison.inputs import COMPARISON, Compared
from bayescm.comparison.report import Question, comparison_coordinates
from bayescm.data.schema import CI_BOUND, LABEL, METRIC, SYSTEM, interval_coordinate
from bayescm.metrics import coordinates, evaluate
from bayescm.results.names import LEFT_OUT

Array = NDArray[np.float64]

CORRELATED = "correlated_t"
_MOST_SLOW = 20
"""Comparisons of proportions, each of which takes the unconditional tests up to 9 ms."""
_UNTESTED = f"more than {_MOST_SLOW} comparisons of proportions, of which Boschloo's and Barnard's tests are left out"


def table(compared: Compared, question: Question, runs: int, flips: xr.Dataset | None) -> xr.Dataset:
    """Return the frequentist companions: p-values and intervals for each proportion, or for folds.

    Of one run of the same items there are `flips`, and tests of all answers.
    """
    folds = compared.design == FOLDS
    words, names, more = _companions(compared)
    values = np.full((len(compared.pairs), len(compared.entries), len(words) + 2 * len(names) + len(more)), np.nan)
    scores = _fold_scores(compared) if folds else []
    shares = [frequentist.proportion_of(entry, len(compared.labels)) for entry in compared.entries]
    slow = len(compared.pairs) * sum(share is not None for share in shares) <= _MOST_SLOW
    for j, share in enumerate(shares):
        if share is not None and words == frequentist.INDEPENDENT:
            values[:, j] = _of_independent(compared, share, question.ci_prob, slow)
            continue
        for i, pair in enumerate(compared.pairs):
            if folds:
                values[i, j] = correlated_t(scores[j][pair[0]] - scores[j][pair[1]], runs, question.ci_prob)
            elif share is not None:
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
            **({} if flips is None else _of_answers(compared, flips)),
        },
        coords={
            **comparison_coordinates(compared),
            **coordinates(compared.metrics, compared.labels),
            "test": list(words),
            CI_BOUND: interval_coordinate(question.ci_prob, "confidence"),
        },
        attrs={} if slow or words != frequentist.INDEPENDENT else {LEFT_OUT: _UNTESTED},
    )


def _of_answers(compared: Compared, flips: xr.Dataset) -> dict[str, Any]:
    """Return p-values of all answers to the same items: of a pair's table, and of all systems at once."""
    known = compared.answers
    assert known is not None
    answers, count = known.answers()[:, :, 0], known.counts
    k = len(compared.labels)
    shares = [frequentist.proportion_of(entry, k) for entry in compared.entries]
    only = (flips[f"only_{one}_right"].values.astype(np.float64) for one in ("first", "second"))
    tables = np.array(
        [np.bincount(answers[:, i] * k + answers[:, j], count, k * k).reshape(k, k) for i, j in compared.pairs]
    )
    made: dict[str, Any] = {
        "bowker": (COMPARISON, frequentist.bowker(tables), "Bowker's test: answers are symmetric"),
        "stuart_maxwell": (COMPARISON, frequentist.stuart_maxwell(tables), "Each answer is equally frequent"),
        "both_classes": (COMPARISON, frequentist.every_rate(*only), "The recall of every class is the same"),
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
    """Return p-values and bounds of a proportion over actual classes, of the same items or of strata."""
    if compared.answers is None:
        counts = np.stack([compared.checked[system].counts for system in pair])
        return stratified.of_strata(
            counts[..., share.right].sum(-1), counts[..., share.classes, :].sum((-2, -1)), ci_prob
        )
    if compared.runs > 1:
        return frequentist.paired_t(*frequentist.scores(compared.answers, pair, share), ci_prob)
    cells = frequentist.agreement(compared.answers, pair, share)
    p_values = frequentist.mcnemar(cells.first, cells.second) * (1.0 if sum(cells) else np.nan)
    return np.concatenate([p_values, *frequentist.paired_intervals(cells, ci_prob)])


def _of_independent(compared: Compared, share: frequentist.Proportion, ci_prob: float, slow: bool) -> Array:
    """Return p-values and bounds (comparison, ...) of a proportion of items of each system's own."""
    totals, pairs = np.asarray(compared.totals, np.float64), np.array(compared.pairs)
    k, n = totals[:, share.right].sum(-1)[pairs], totals[:, share.classes].sum((-2, -1))[pairs]
    tested = [frequentist.independent_tests(*given, slow=slow) for given in zip(k.tolist(), n.tolist(), strict=True)]
    bounds = frequentist.independent_intervals(k, n, ci_prob).reshape(len(pairs), -1)
    ratios = [score_intervals.ratio(k, n, ci_prob, of_odds=odds) for odds in (False, True)]
    return np.concatenate([tested, bounds, *ratios], -1)


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
