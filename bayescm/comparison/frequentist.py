"""What is counted on the same items, and the frequentist companions of a comparison of proportions.

McNemar 1947; Fagerland, Lydersen and Laake 2013 (mid-p); Newcombe 1998, Statistics in Medicine 17, pages 873 and 2635,
method 10 of either.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.comparison import score_intervals
from bayescm.comparison.inputs import Entry
from bayescm.comparison.unconditional import boschloo_and_barnard
from bayescm.inference import proportions
from bayescm.models.same_items import Patterns

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

PAIRED = ("mcnemar_exact", "mcnemar_mid_p", "anytime", "mcnemar_chi2", "mcnemar_corrected")
RUNS = ("paired_t",)
INDEPENDENT = ("fisher_exact", "score", "boschloo_exact", "barnard_exact")
PAIRED_INTERVALS = ("newcombe", "tango")
INDEPENDENT_INTERVALS = ("newcombe", "miettinen_nurminen", "agresti_caffo")
RATIO_INTERVALS = ("risk_ratio", "odds_ratio")
"""Of systems with items of their own, by Miettinen and Nurminen."""
_FEW = 10_500  # tables of all outcomes (100 items of either are few), which take 9 ms
_LISTED = 10_000  # tables of the same margins; SciPy looks for its way among more
_EQUAL = 1e-9  # of logarithms: two tables are as probable as each other
_MOST = 1e9  # items, beyond which SciPy's exact test overflows


class Proportion(NamedTuple):
    """A metric that is a share of the items of some actual, or some predicted, classes.

    Attributes
    ----------
    classes : ndarray of bool, shape (K,)
        Those whose items count.
    right : ndarray of bool, shape (K, K)
        The cells that make the share.
    """

    classes: Mask
    right: Mask


class Agreement(NamedTuple):
    """Of the items of a proportion, how many each of two systems got."""

    both: float
    first: float
    second: float
    none: float


def proportion_of(entry: Entry, n_labels: int, *, predicted: bool = False) -> Proportion | None:
    """Return a metric as a share of the items of actual, or of predicted, classes.

    None where it is none, or the share of such a class itself.
    """
    if (cells := cells_of(entry, n_labels)) is None:
        return None
    over, used = cells
    axis = 0 if predicted else 1
    whole = (used.all(axis) | ~used.any(axis)).all()
    constant = (over.all(axis) | ~over.any(axis)).all()
    return Proportion(used.any(axis), over) if whole and not constant else None


def cells_of(entry: Entry, n_labels: int) -> tuple[Mask, Mask] | None:
    """Return the cells above the line of a proportion and all that it uses, each (K, K); None for other metrics."""
    metric = entry.metric
    if metric.ratio is None or metric.link != "identity":
        return None
    same = np.eye(n_labels, dtype=bool)
    mine = np.arange(n_labels) == (n_labels - 1 if entry.place is None else entry.place)
    row, column = mine[:, None], mine[None, :]
    cells = {
        "diagonal": same, "off_diagonal": ~same, "tp": row & column, "fn": row & ~column, "fp": ~row & column,
        "tn": ~row & ~column,
    }  # fmt: skip
    over, under = (np.logical_or.reduce([cells[name] for name in names]) for names in metric.ratio)
    return over, over | under


def scores(answers: Patterns, systems: Sequence[int], share: Proportion) -> tuple[Array, NDArray[np.int64]]:
    """Return in which share of its runs each of some systems got an item of a proportion, (P, S), and how many do."""
    actual = answers.codes[:, 0]
    got = share.right[actual[:, None, None], answers.answers()[:, list(systems)]].mean(-1)
    return got, np.where(share.classes[actual], answers.counts, 0)


def agreement(answers: Patterns, pair: tuple[int, int], share: Proportion) -> Agreement:
    """Count the items of a proportion by which of two systems got them, in one run each."""
    got, count = scores(answers, pair, share)
    one, two = got.T > 0
    cells = (one & two, one & ~two, ~one & two, ~one & ~two)
    return Agreement(*(float(count[cell].sum()) for cell in cells))


def discordant(answers: Patterns, pair: tuple[int, int], entry: Entry) -> tuple[int, int, int]:
    """Count the items that speak for the first system, for the second, and those answered differently.

    An item speaks for the system that got it in more of its runs. Of a proportion only the items count that it is
    about; of a metric of one class, being right is to say rightly whether an item is of that class.
    """
    if (share := proportion_of(entry, len(answers.labels))) is not None:
        got, counts = scores(answers, pair, share)
        one, two = got.T[::-1] if entry.metric.loss else got.T
        differ = one != two
    else:
        counts, actual, given = answers.counts, answers.codes[:, :1, None], answers.answers()[:, list(pair)]
        if entry.place is not None:
            actual, given = actual == entry.place, np.sort(given == entry.place, axis=-1)
        one, two = (given == actual).mean(-1).T
        differ = (given[:, 0] != given[:, 1]).any(-1)
    return int(counts[one > two].sum()), int(counts[one < two].sum()), int(counts[differ].sum())


def fewest_that_decide(decision_prob: float) -> int:
    """Return how many items, all for one system, it takes for a verdict under a flat prior: 1 - 2^-(m+1) is enough."""
    return max(math.ceil(math.log2(1.0 / (1.0 - decision_prob)) - 1.0 - 1e-9), 1)


def mcnemar(first: float, second: float) -> Array:
    """Return p-values of as many discordant items either way: exact, mid-p, anytime, chi-squared, the same corrected.

    That of any time is one over the ratio of what Beta(1/2, 1/2) predicted of them to their probability (Ville 1939):
    it holds at every look.
    """
    n, k, gap = first + second, min(first, second), abs(first - second)
    tail = float(special.betainc(n - k, k + 1.0, 0.5)) if n else 1.0
    here = np.exp(special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1) - n * np.log(2.0))
    predicted = special.betaln(first + 0.5, second + 0.5) - special.betaln(0.5, 0.5)
    chi2 = [special.chdtrc(1, (gap - less) ** 2 / n) if n else 1.0 for less in (0.0, min(gap, 1.0))]
    return np.minimum([2.0 * tail, 2.0 * tail - here, np.exp(-n * np.log(2.0) - predicted), *chi2], 1.0)


def paired_t(got: Array, count: NDArray[np.int64], ci_prob: float) -> Array:
    """Return p-value and bounds of the t-test of the items' differences (P, 2), each seen so often."""
    from scipy import stats

    differences = np.repeat(got[:, 0] - got[:, 1], count)
    if len(differences) < 2 or np.ptp(differences) == 0.0:
        return np.full(3, np.nan)
    tested = stats.ttest_1samp(differences, 0.0)
    bounds = tested.confidence_interval(ci_prob)
    return np.array([tested.pvalue, bounds.low, bounds.high])


def paired_intervals(cells: Agreement, ci_prob: float) -> list[Array]:
    """Return the intervals of a difference of paired proportions, by the order of their names."""
    return [newcombe_paired(cells, ci_prob), score_intervals.tango(cells.first, cells.second, sum(cells), ci_prob)]


def independent_intervals(k: Any, n: Any, ci_prob: float) -> Array:
    """Return the intervals (..., interval, 2) of a difference of shares k / n (..., 2), by the order of their names."""
    made = (newcombe, score_intervals.miettinen_nurminen, score_intervals.agresti_caffo)
    return np.stack([interval(k, n, ci_prob) for interval in made], -2)


def newcombe_paired(cells: Agreement, ci_prob: float) -> Array:
    """Return the hybrid score interval of a difference of paired proportions."""
    both, first, second, none = cells
    n = sum(cells)
    if n == 0:
        return np.full(2, np.nan)
    margins = (both + first) * (second + none) * (both + second) * (first + none)
    excess = both * none - first * second
    excess = max(excess - n / 2.0, 0.0) if excess > 0 else excess  # the correction for continuity of method 10
    correlation = excess / np.sqrt(margins) if margins else 0.0
    return _hybrid(np.array([both + first, both + second]), np.array([n, n]), ci_prob, correlation)


def newcombe(k: Any, n: Any, ci_prob: float) -> Array:
    """Return the hybrid score interval (..., 2) of a difference of independent shares k / n (..., 2)."""
    k, n = np.broadcast_arrays(np.asarray(k, np.float64), np.asarray(n, np.float64))
    return np.where(n.min(-1, keepdims=True) > 0, _hybrid(k, np.maximum(n, 1.0), ci_prob, 0.0), np.nan)


def _hybrid(k: Array, n: Array, ci_prob: float, correlation: float) -> Array:
    """Add the distances of Wilson's bounds from the shares (..., 2) by squares."""
    lower, upper = proportions.wilson(k, n, ci_prob)
    (p1, p2), (l1, l2), (u1, u2) = (np.moveaxis(part, -1, 0) for part in (k / n, lower, upper))

    def length(a: Array, b: Array) -> Array:
        return np.asarray(np.sqrt(np.maximum(a**2 - 2.0 * correlation * a * b + b**2, 0.0)))

    return np.stack([p1 - p2 - length(p1 - l1, u2 - p2), p1 - p2 + length(u1 - p1, p2 - l2)], -1)


def fisher_exact(k: tuple[float, float], n: tuple[float, float]) -> float:
    """Return the probability, given the margins, of tables that are at most as probable as this one."""
    total, least, most = sum(k), max(0.0, sum(k) - n[1]), min(sum(k), n[0])
    if most - least > _LISTED:
        from scipy import stats

        return float(stats.fisher_exact([[int(one), int(size - one)] for one, size in zip(k, n, strict=True)]).pvalue)
    x = np.arange(least, most)
    log = np.cumsum(np.append(0.0, np.log((n[0] - x) * (total - x) / ((x + 1.0) * (n[1] - total + x + 1.0)))))
    chance = np.exp(log - log.max())
    return float(chance[log <= log[int(k[0] - least)] + _EQUAL].sum() / chance.sum())


def independent_tests(k: tuple[float, float], n: tuple[float, float], *, slow: bool = True) -> Array:
    """Return two-sided p-values: Fisher's exact one (NaN from 10^9 items on), the score test's, Boschloo's, Barnard's.

    The last two go through all outcomes; NaN where these are many, or without `slow` ones.
    """
    if min(n) == 0:
        return np.full(len(INDEPENDENT), np.nan)
    fisher = fisher_exact(k, n) if sum(n) < _MOST else np.nan
    pooled = sum(k) / sum(n)
    error = np.sqrt(pooled * (1.0 - pooled) * (1.0 / n[0] + 1.0 / n[1]))
    score = 2.0 * special.ndtr(-abs(k[0] / n[0] - k[1] / n[1]) / error) if error else 1.0
    return np.array([fisher, score, *(_unconditional(k, n) if slow else [np.nan] * 2)])


def _unconditional(k: tuple[float, float], n: tuple[float, float]) -> list[float]:
    if (n[0] + 1) * (n[1] + 1) > _FEW:
        return [np.nan, np.nan]
    return boschloo_and_barnard(k, n) if 0 < sum(k) < sum(n) else [1.0, 1.0]


def holm(p_values: Array) -> Array:
    """Return p-values along the first axis as Holm's method adjusts them; NaN stays, and doesn't count."""
    order = np.argsort(p_values, axis=0)
    left = np.isfinite(p_values).sum(0) - np.arange(len(p_values)).reshape(-1, *[1] * (p_values.ndim - 1))
    ordered = np.take_along_axis(p_values, order, 0) * np.maximum(left, 1)
    adjusted = np.empty_like(p_values)
    np.put_along_axis(adjusted, order, np.minimum(np.maximum.accumulate(ordered, 0), 1.0), 0)
    return adjusted


def cochran_q(got: Array, count: NDArray[np.int64]) -> float:
    """Return the p-value of Cochran's Q: systems (P, S) get the items, each seen so often, equally often."""
    systems = got.shape[1]
    each, right = count @ got, got.sum(1)
    spread = systems * (count @ right) - count @ right**2
    return (
        float(special.chdtrc(systems - 1, (systems - 1) * (systems * each @ each - each.sum() ** 2) / spread))
        if spread
        else 1.0
    )


def bowker(tables: Array) -> Array:
    """Return p-values of Bowker's test that a table (..., K, K) of two systems' answers is symmetric."""
    above = np.triu_indices(tables.shape[-1], 1)
    return every_rate(tables[..., *above], tables.swapaxes(-1, -2)[..., *above])


def stuart_maxwell(tables: Array) -> Array:
    """Return p-values of the Stuart-Maxwell test that two systems (..., K, K) give each answer equally often."""
    first, second = tables.sum(-1), tables.sum(-2)
    gap = first - second
    covariance = (first + second)[..., None] * np.eye(gap.shape[-1]) - tables - tables.swapaxes(-1, -2)
    free = (np.diagonal(covariance, axis1=-2, axis2=-1) > 0).sum(-1) - 1  # an answer that both give alike tells nothing
    squares = (gap * (np.linalg.pinv(covariance, hermitian=True) @ gap[..., None])[..., 0]).sum(-1)
    known = np.linalg.matrix_rank(covariance, hermitian=True) == free
    return np.where(free < 0, 1.0, np.where(known, special.chdtrc(np.maximum(free, 1), squares), np.nan))


def every_rate(first: Array, second: Array) -> Array:
    """Return p-values that of each of K pairs of counts (..., K) both are alike: McNemar's chi-squared, added up.

    Such as the items of each class that only the first system got, and only the second.
    """
    squares = ((first - second) ** 2 / np.maximum(first + second, 1.0)).sum(-1)
    return np.asarray(special.chdtrc(first.shape[-1], squares))
