"""What docs/verification/search.py searches: public defaults, the truths of each, and how often they are held there."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

import audits
import curves
import learned
import methods_data as of
import numpy as np
import reliability
import simultaneous
import xarray as xr
from numpy.typing import NDArray
from scipy import optimize, special, stats
from searching import Array, Box, Effort, Estimate, Range

import bayescm
from bayescm.inference.multinomial import goodman

LEVEL = 0.95
ENUMERATED = 40
"""Items of the largest matrices of which all are gone through: 12,341 of them."""
UNLIKELY = 1e-8
"""Probability of an outcome of two systems that isn't asked for: of all 1,326 with 50 items they sum up to 1e-5."""
EPS = 1e-9
"""An end at the truth holds it; rounding may say otherwise."""

Truth = dict[str, Any]
Held = tuple[NDArray[np.bool_], Array | None]
"""Of data sets: whether their answers hold the truth, and their probabilities if all were gone through."""


class Single(NamedTuple):
    """What the public call says of one data set, and whether it holds the truth."""

    result: Any
    held: bool


class Default(NamedTuple):
    """A public default: what it is for, the call as one types it, the truths, and how to ask it."""

    name: str
    call: str
    truths: Any
    held: Callable[[Truth, int, int], Held]
    single: Callable[[Truth, np.random.Generator], Single]
    effort: Effort
    note: str = ""


def estimated(default: Default) -> Estimate:
    """Return the function that estimates the coverage of a place among the truths."""

    def estimate(place: Any, runs: int, seed: int) -> tuple[float, float]:
        held, weights = default.held(default.truths.truth(place), runs, seed)
        if weights is not None:
            return float(weights @ held / weights.sum()), 0.0
        share = float(held.mean())
        added = (share * len(held) + 1.0) / (len(held) + 2.0)
        return share, float(np.sqrt(added * (1.0 - added) / len(held)))

    return estimate


def one_by_one(single: Callable[[Truth, np.random.Generator], Single]) -> Callable[[Truth, int, int], Held]:
    """Return the function that asks for one data set after the other."""

    def held(truth: Truth, runs: int, seed: int) -> Held:
        rng = np.random.default_rng(seed)
        return np.array([single(truth, rng).held for _ in range(runs)]), None

    return held


def between(ends: Any, truth: Any) -> NDArray[np.bool_]:
    """Say whether intervals (..., 2) hold the truth; those without ends don't."""
    ends = np.asarray(ends)
    return np.asarray((ends[..., 0] <= truth + EPS) & (truth - EPS <= ends[..., 1]))


# Matrices of two classes


@cache
def share_ends(n: int, method: str) -> Array:
    """Return the intervals (n + 1, 2) of the recall of n positives."""
    k = np.arange(n + 1)
    counts = bayescm.from_cells(tp=k, fn=n - k, fp=0 * k, tn=0 * k, dims="matrix")
    return ends_of(counts, "recall", method)


def ask(counts: xr.DataArray, metric: str, method: str) -> xr.Dataset:
    """Ask a default for an interval."""
    if method == "wilson":
        return bayescm.interval(counts, metric, method)
    prevalence = {"prevalence": 0.001} if method == "elsewhere" else {}
    return bayescm.summary(counts, metric, **prevalence)


def ends_of(counts: xr.DataArray, metric: str, method: str) -> Array:
    """Return the intervals of many matrices."""
    return np.asarray(ask(counts, metric, method)["interval"].transpose("matrix", "metric", "ci_bound").values[:, 0])


def of_share(method: str, truth: Truth, runs: int, seed: int) -> Held:
    """Go through all outcomes of the recall of n positives."""
    n = truth["positives"]
    return between(share_ends(n, method), truth["recall"]), stats.binom.pmf(np.arange(n + 1), n, truth["recall"])


def one_share(method: str, truth: Truth, rng: np.random.Generator) -> Single:
    """Ask for the recall of n positives."""
    n, k = truth["positives"], int(rng.binomial(truth["positives"], truth["recall"]))
    found = ask(bayescm.from_cells(tp=k, fn=n - k, fp=0, tn=0), "recall", method)
    return Single(found, bool(between(found["interval"].values[0], truth["recall"])))


@dataclass(frozen=True)
class Matrices(Box):
    """Classifiers and numbers of items, of which one positive is expected at the least, or one in every cell."""

    in_every_cell: bool = False

    def text(self) -> str:
        """Say the ranges."""
        return f"{super().text()}; {'an item expected in every cell' if self.in_every_cell else 'a positive expected'}"

    def truth(self, places: Array) -> Truth:
        """Return the numbers at these places, those that expect too little moved."""
        one = super().truth(places)
        one["prevalence"] = max(one["prevalence"], (1.0 + self.in_every_cell) / one["items"])
        if self.in_every_cell:
            positives = one["items"] * one["prevalence"]
            one["recall"] = min(one["recall"], 1.0 - 1.0 / positives)
            one["specificity"] = min(one["specificity"], 1.0 - 1.0 / (one["items"] - positives))
        return one


def cells_of(truth: Truth) -> Array:
    """Return the probabilities of TN, FP, FN and TP."""
    return of.cells_of(truth["prevalence"], truth["recall"], truth["specificity"])


@cache
def all_of(n: int) -> Array:
    """Return all matrices (outcomes, 4) of n items."""
    bars = np.array(list(itertools.combinations(range(n + 3), 3)))
    edges = np.hstack([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), n + 3)])
    return np.diff(edges, axis=1) - 1


@cache
def all_ends(n: int, metric: str, method: str) -> Array:
    """Return the intervals of all matrices of n items."""
    return ends_of(bayescm.from_array(all_of(n).reshape(-1, 2, 2), dims="matrix"), metric, method)


def outcomes(truth: Truth, runs: int, seed: int) -> tuple[Array, Array, bool]:
    """Return matrices (outcomes, 4), their weights, and whether these are all."""
    n, cells = truth["items"], cells_of(truth)
    if n <= ENUMERATED:
        every = all_of(n)
        return every, stats.multinomial.pmf(every, n, cells), True
    drawn = np.random.default_rng(seed).multinomial(n, cells, runs)
    return *np.unique(drawn, axis=0, return_counts=True), False


def told(held: NDArray[np.bool_], weights: Array, every: bool) -> Held:
    """Return what was held of distinct data sets, each as often as it was drawn if these aren't all."""
    return (held, weights) if every else (np.repeat(held, weights.astype(int)), None)


def of_matrix(metric: str, method: str, truth: Truth, runs: int, seed: int) -> Held:
    """Ask for a metric of many matrices; those without an answer don't count."""
    cells, weights, every = outcomes(truth, runs, seed)
    ends = (
        all_ends(truth["items"], metric, method)
        if every
        else ends_of(bayescm.from_array(cells.reshape(-1, 2, 2), dims="matrix"), metric, method)
    )
    answered = ~np.isnan(ends[:, 0])
    aim = of.of_metrics([metric])(cells_of(truth))[0]
    return told(between(ends[answered], aim), weights[answered], every)


def one_matrix(metric: str, method: str, truth: Truth, rng: np.random.Generator) -> Single:
    """Ask for a metric of one matrix."""
    counts = bayescm.from_array(rng.multinomial(truth["items"], cells_of(truth)).reshape(2, 2))
    found = ask(counts, metric, method)
    low, high = found["interval"].values.reshape(2)
    aim = of.of_metrics([metric])(cells_of(truth))[0]
    return Single(found, bool(np.isnan(low) or low - EPS <= aim <= high + EPS))


def of_precision(truth: Truth, runs: int, seed: int) -> Held:
    """Ask for precision at a prevalence of .001 from cases and controls."""
    rng = np.random.default_rng(seed)
    tp = rng.binomial(truth["cases"], truth["recall"], runs)
    fp = rng.binomial(truth["controls"], truth["false positive rate"], runs)
    cells = np.stack([truth["controls"] - fp, fp, truth["cases"] - tp, tp], 1)
    distinct, times = np.unique(cells, axis=0, return_counts=True)
    ends = ends_of(bayescm.from_array(distinct.reshape(-1, 2, 2), dims="matrix"), "precision", "elsewhere")
    return told(between(ends, precision_of(truth)), times, False)


def precision_of(truth: Truth) -> float:
    """Return the precision at a prevalence of .001."""
    right, wrong = 0.001 * truth["recall"], 0.999 * truth["false positive rate"]
    return float(right / (right + wrong))


def one_precision(truth: Truth, rng: np.random.Generator) -> Single:
    """Ask for it of one matrix."""
    tp = int(rng.binomial(truth["cases"], truth["recall"]))
    fp = int(rng.binomial(truth["controls"], truth["false positive rate"]))
    counts = bayescm.from_cells(tp=tp, fn=truth["cases"] - tp, fp=fp, tn=truth["controls"] - fp)
    found = ask(counts, "precision", "elsewhere")
    return Single(found, bool(between(found["interval"].values[0], precision_of(truth))))


def point_of(space: str, truth: Truth) -> dict[str, float]:
    """Return the true point of a plane."""
    tn, fp, fn, tp = cells_of(truth)
    return {"tpr": tp / (tp + fn), "fpr": fp / (fp + tn)} if space == "roc" else {
        "recall": tp / (tp + fn), "precision": tp / (tp + fp)
    }  # fmt: skip


def of_region(space: str, truth: Truth, runs: int, seed: int) -> Held:
    """Ask whether regions hold the true point."""
    cells, weights, every = outcomes(truth, runs, seed)
    counts = bayescm.from_array(cells.reshape(-1, 2, 2), dims="matrix")
    level = bayescm.regions.region_level(counts, **point_of(space, truth))["level"].values
    return told(level <= LEVEL + EPS, weights, every)


def one_region(space: str, truth: Truth, rng: np.random.Generator) -> Single:
    """Ask for one region."""
    counts = bayescm.from_array(rng.multinomial(truth["items"], cells_of(truth)).reshape(2, 2))
    found = bayescm.region(counts, space=space, levels=[LEVEL])
    level = bayescm.regions.region_level(counts, **point_of(space, truth))["level"].item()
    return Single(found, level <= LEVEL + EPS)


def of_cells(truth: Truth, runs: int, seed: int) -> Held:
    """Ask for the shares of all cells at once."""
    cells, weights, every = outcomes(truth, runs, seed)
    ends = np.stack(goodman(cells.astype(float), LEVEL), -1)
    return told(between(ends, cells_of(truth)).all(1), weights, every)


def one_of_cells(truth: Truth, rng: np.random.Generator) -> Single:
    """Ask for the cells of one matrix."""
    counts = bayescm.from_array(rng.multinomial(truth["items"], cells_of(truth)).reshape(2, 2))
    found = bayescm.inference.cell_summary(counts, normalize="all", simultaneous="goodman")
    return Single(found, bool(between(found["simultaneous_interval"].values, cells_of(truth).reshape(2, 2)).all()))


# More than two classes


class Classes(NamedTuple):
    """Matrices of 3 to 10 classes, every class with an expected item at the least."""

    def text(self) -> str:
        """Say the range."""
        return "3 to 10 classes; 3 to 100 items a class; an item expected of each; recalls .01 to .995; any errors"

    def draw(self, rng: np.random.Generator) -> learned.Truth:
        """Return some truth."""
        return bounded(learned.anyone(rng, 10))

    def move(self, truth: learned.Truth, rng: np.random.Generator) -> learned.Truth:
        """Return a truth nearby."""
        k = len(truth.shares)
        shares = np.maximum(truth.shares * np.exp(rng.normal(0, 0.4, k) * (rng.random(k) < 0.4)), 1e-3)
        logits = special.logit(truth.recalls) + rng.normal(0, 0.7, k) * (rng.random(k) < 0.4)
        n = int(np.clip(truth.n * np.exp(rng.normal(0, 0.3)), 3 * k, 100 * k))
        recalls = np.clip(special.expit(logits), 0.01, 0.995)
        return bounded(learned.Truth(shares / shares.sum(), recalls, truth.errors, n))

    def truth(self, place: learned.Truth) -> Truth:
        """Return what is told of a truth, and the truth."""
        expected = place.n * place.shares
        return {
            "classes": len(expected), "items": place.n, "expected of the rarest": float(expected.min()),
            "recalls": f"{place.recalls.min():.2f} to {place.recalls.max():.2f}", "": place,
        }  # fmt: skip


def bounded(truth: learned.Truth) -> learned.Truth:
    """Return a truth whose classes all expect an item."""
    few = truth.n * truth.shares < 1.0
    rest = 1.0 - few.sum() / truth.n
    shares = np.where(few, 1.0 / truth.n, truth.shares * rest / truth.shares[~few].sum())
    return truth._replace(shares=shares)


_known: dict[Any, dict[str, Array]] = {}


def of_classes(metric: str, prior: str, truth: Truth, runs: int, seed: int) -> Held:
    """Ask for a metric of many matrices: all metrics of the study `learned` at once, which other searches ask for."""
    one: learned.Truth = truth[""]
    key = (one.shares.tobytes(), one.recalls.tobytes(), one.errors, one.n, prior, runs, seed)
    if key not in _known:
        rng = np.random.default_rng(seed)
        _known[key] = learned.held(one, learned.matrices(one, runs, rng), prior, rng)
    return _known[key][metric].astype(bool), None


def one_of_classes(metric: str, prior: str, truth: Truth, rng: np.random.Generator) -> Single:
    """Ask for a metric of one matrix."""
    one: learned.Truth = truth[""]
    counts = learned.matrices(one, 1, rng)[0]
    name = "recall" if metric == "random" else metric
    found = bayescm.summary(
        counts, name, random_seed=1, draws=4000, **({} if prior == "jeffreys" else {"prior": prior})
    )
    metrics = bayescm.metrics.resolve([name], len(counts))
    aim = np.ravel(bayescm.metrics.compute(metrics, one.cells())[0])
    place = int(rng.integers(len(aim)))
    return Single(found, bool(between(found["interval"].values.reshape(-1, 2)[place], aim[place])))


# Scores


@cache
def distance(scores: str, area: float) -> float:
    """Return how far the scores of cases lie above those of controls."""
    if scores != "t2":
        return curves.shift(scores, area)
    tail = (np.arange(20_000) + 0.5) / 20_000
    of_control = (2.0 * tail - 1.0) / np.sqrt(2.0 * tail * (1.0 - tail))  # quantiles of t with two degrees of freedom

    def missed(m: float) -> float:
        above = of_control + m
        return float(np.mean(0.5 + 0.5 * above / np.sqrt(2.0 + above**2))) - area

    return float(optimize.brentq(missed, 1e-9, 200.0))


def scored(truth: Truth, rng: np.random.Generator, runs: int) -> tuple[Array, Array]:
    """Return labels, and scores (runs, items)."""
    m, kind = distance(truth["scores"], truth["AUC"]), truth["scores"]
    y = np.repeat([0, 1], [truth["controls"], truth["cases"]])
    noise = rng.standard_t(2, (runs, len(y))) if kind == "t2" else rng.normal(size=(runs, len(y)))
    return y, np.digitize(noise + m * y, curves.CUTS).astype(float) if kind == "five levels" else noise + m * y


def true_area(what: str, truth: Truth) -> float:
    """Return the AUC, or the average precision at the prevalence of the items."""
    kind, m = truth["scores"], distance(truth["scores"], truth["AUC"])
    if what == "auc":
        return curves.true_auc(kind, truth["AUC"])
    prevalence = truth["cases"] / (truth["cases"] + truth["controls"])
    if kind == "five levels":
        recall, fpr = (np.append(stats.norm.sf(curves.CUTS[::-1] - d), 1.0) for d in (m, 0.0))
        steps = np.diff(recall, prepend=0.0)
    else:
        law = stats.norm if kind == "normal" else stats.t(2)
        recall = (np.arange(20_000) + 0.5) / 20_000
        fpr, steps = law.sf(law.isf(recall) + m), np.full(recall.shape, 1.0 / recall.size)
    return float(steps @ (prevalence * recall / (prevalence * recall + (1.0 - prevalence) * fpr)))


def areas(what: str, y: Array, scores: Any) -> xr.Dataset:
    """Ask a default for an area."""
    return (bayescm.auc if what == "auc" else bayescm.aucpr)(y, scores, random_seed=1)


def of_areas(what: str, truth: Truth, runs: int, seed: int) -> Held:
    """Ask for the areas of many data sets, as if they were systems on the same items."""
    y, scores = scored(truth, np.random.default_rng(seed), runs)
    found = areas(what, y, {f"s{i}": one for i, one in enumerate(scores)})
    return between(found["interval"].transpose("system", "ci_bound"), true_area(what, truth)), None


def one_area(what: str, truth: Truth, rng: np.random.Generator) -> Single:
    """Ask for one area."""
    y, scores = scored(truth, rng, 1)
    found = areas(what, y, scores[0])
    return Single(found, bool(between(found["interval"].values, true_area(what, truth))))


def one_band(truth: Truth, rng: np.random.Generator) -> Single:
    """Ask for the band of one ROC curve."""
    y, scores = scored(truth, rng, 1)
    found = bayescm.curve_band(y, scores[0], chains=1, draws=1000, random_seed=1)
    law = stats.norm if truth["scores"] == "normal" else stats.t(2)
    axis = found["fpr"].values
    true = law.sf(law.isf(axis) - distance(truth["scores"], truth["AUC"]))
    shown = (axis >= 0.05 - EPS) & (axis <= 0.95 + EPS)
    return Single(found, bool(between(found["band"].transpose("fpr", "ci_bound"), true)[shown].all()))


# Scores that are probabilities


def law_of(truth: Truth) -> tuple[Any, Callable[[Array], Array]]:
    """Return how chances scatter, and what the score of a chance is."""
    size = truth["concentration"]
    return stats.beta(
        truth["mean chance"] * size, (1.0 - truth["mean chance"]) * size
    ), lambda chance: reliability.bent(truth["power"], truth["shift"], np.clip(chance, 1e-6, 1.0 - 1e-6))


@lru_cache(maxsize=4096)
def expected(*numbers: float) -> Array:
    """Return the expected Brier score and log loss, of 20,000 chances."""
    law, score = law_of(dict(zip(("mean chance", "concentration", "power", "shift"), numbers, strict=True)))
    chance = law.ppf((np.arange(20_000) + 0.5) / 20_000)
    said = score(chance)
    brier = chance * (1.0 - said) ** 2 + (1.0 - chance) * said**2
    return np.array([brier.mean(), -(special.xlogy(chance, said) + special.xlog1py(1.0 - chance, -said)).mean()])


def one_reliability(what: str, truth: Truth, rng: np.random.Generator) -> Single:
    """Ask for one reliability diagram."""
    law, score = law_of(truth)
    chance = law.rvs(truth["items"], random_state=rng)
    y, said = rng.random(truth["items"]) < chance, score(chance)
    found = bayescm.curves.reliability(y, said, labels=[0, 1])
    if what == "band":
        place = np.searchsorted(found["bin_lower"].values, said, side="right") - 1
        mean = np.bincount(place, chance) / np.bincount(place)
        return Single(found, bool(between(found["interval"].values, mean).all()))
    i = reliability.LOSSES.index(what)
    aim = expected(*(truth[name] for name in ("mean chance", "concentration", "power", "shift")))[i]
    return Single(found, bool(between(found["loss_interval"].values[i], aim)))


# Systems


@cache
def difference_ends(first: int, second: int, n: int) -> Array:
    """Return the interval of the difference of two accuracies on the same n items."""
    if second > first:
        return -difference_ends(second, first, n)[::-1]
    return np.array(of.posterior("same items", first, second, n).interval(LEVEL, "eti"), float)


def shares_of(truth: Truth) -> Array:
    """Return the probabilities of items that only the first system gets, only the second, and of others."""
    both, first, second, none = of.same_items(truth["discordant"], truth["discordant"] * truth.get("leaning", 0.0))
    return np.array([first, second, both + none])


def of_two_systems(truth: Truth, runs: int, seed: int) -> Held:
    """Go through what the same items say of two systems."""
    n, shares = truth["items"], shares_of(truth)
    found = np.array([(b, c, n - b - c) for b in range(n + 1) for c in range(n + 1 - b)])
    weights = stats.multinomial.pmf(found, n, shares)
    likely = weights > UNLIKELY
    ends = np.array([difference_ends(int(b), int(c), n) for b, c, _ in found[likely]])
    return between(ends, shares[0] - shares[1]), weights[likely]


def one_pair(truth: Truth, rng: np.random.Generator) -> Single:
    """Ask for one comparison of systems on the same items."""
    n, shares = truth["items"], shares_of(truth)
    b, c, _ = rng.multinomial(n, shares)
    y = np.arange(n) % 2
    item = np.arange(n)
    right = {"A": (item < b) | (item >= b + c), "B": item >= b}  # A alone gets the first b items, B alone the next c
    found = bayescm.compare_systems(y, {name: np.where(one, y, 1 - y) for name, one in right.items()}, random_seed=1)
    return Single(found, bool(between(found["summary"]["interval"].values[0, 0], shares[0] - shares[1])))


@cache
def ends_of_others(first: int, second: int, n: int) -> Array:
    """Return the interval of the difference of two recalls, of n items each."""
    if second > first:
        return -ends_of_others(second, first, n)[::-1]
    return np.array(of.posterior("other items", first, second, n).interval(LEVEL, "eti"), float)


def of_other_items(truth: Truth, runs: int, seed: int) -> Held:
    """Go through what items of their own say of two systems."""
    n, aims = truth["items"], (truth["first"], truth["second"])
    found = np.array(list(itertools.product(range(n + 1), repeat=2)))
    weights = stats.binom.pmf(found, n, aims).prod(1)
    likely = weights > UNLIKELY
    ends = np.array([ends_of_others(int(a), int(b), n) for a, b in found[likely]])
    return between(ends, aims[0] - aims[1]), weights[likely]


def one_of_others(truth: Truth, rng: np.random.Generator) -> Single:
    """Ask for one comparison of systems with items of their own."""
    n, aims = truth["items"], (truth["first"], truth["second"])
    right = rng.binomial(n, aims)
    found = bayescm.compare_systems({"correct": right, "wrong": n - right}, design="independent", random_seed=1)
    return Single(found, bool(between(found["summary"]["interval"].values[0, 0], aims[0] - aims[1])))


def of_many_systems(design: str, truth: Truth, runs: int, seed: int) -> Held:
    """Ask how often none of many equal systems gets a verdict."""
    rng = np.random.default_rng(seed)
    one = simultaneous.verdicts(
        rng, runs, truth["systems"], truth["items"], truth["accuracy"], design, truth.get("alike", 0.0)
    )
    return np.arange(runs) >= round(float(str(one["all_pairs"])) * runs), None


def one_of_many(design: str, truth: Truth, rng: np.random.Generator) -> Single:
    """Ask for one comparison of many equal systems."""
    n = truth["items"]
    got = simultaneous.right_answers(rng, 1, truth["systems"], n, truth["accuracy"], truth.get("alike", 0.0))[0]
    if design == "other items":
        right = got.sum(1)
        found = bayescm.compare_systems({"correct": right, "wrong": n - right}, design="independent", random_seed=1)
    else:
        y = np.arange(n) % 2
        found = bayescm.compare_systems(
            y, {f"s{i}": np.where(one, y, 1 - y) for i, one in enumerate(got)}, random_seed=1
        )
    return Single(found, bool((found["summary"]["verdict"] == "undecided").all()))


def one_board(truth: Truth, rng: np.random.Generator) -> Single:
    """Ask for the leader's interval of one board."""
    logits = special.logit(truth["accuracy"]) + rng.normal(0.0, truth["sd of log-odds"], truth["systems"])
    accuracy = np.append(special.expit(logits), [0.1] if truth["one failed"] == "yes" else [])
    right = rng.binomial(truth["items"], accuracy)
    board = bayescm.leaderboard(
        {"correct": right, "wrong": truth["items"] - right}, design="independent", pairwise=False
    )
    front = int(board["point"].values.argmax())
    return Single(board, bool(between(board["interval"].values[front], accuracy[front])))


def of_audit(truth: Truth, runs: int, seed: int) -> Held:
    """Ask for the share of right answers of many audits."""
    rng, rates = np.random.default_rng(seed), (truth["right called right"], truth["wrong called wrong"])
    checked = audits.answers(rng, truth["accuracy"], rates, truth["checked"], runs)
    others = audits.answers(rng, truth["accuracy"], rates, truth["answers"] - truth["checked"], runs).sum(1)
    ends = audits.audit(checked, checked.sum(1) + others, {"audit, equal tails": "eti"})["audit, equal tails"]
    return between(np.stack(ends, -1), truth["accuracy"]), None


def one_audit(truth: Truth, rng: np.random.Generator) -> Single:
    """Ask for one audit."""
    rates = (truth["right called right"], truth["wrong called wrong"])
    checked = audits.answers(rng, truth["accuracy"], rates, truth["checked"], 1)[0]
    others = audits.answers(rng, truth["accuracy"], rates, truth["answers"] - truth["checked"], 1)[0].sum(0)
    found = bayescm.summary(bayescm.audited(checked.astype(int), (checked.sum(0) + others).astype(int)), "prevalence")
    return Single(found, bool(between(found["interval"].values[0], truth["accuracy"])))


# What is searched

RATE = Range(0.5, 0.999, "logit")
SHARE = Box({"positives": Range(10, 1000, "whole"), "recall": RATE})
MATRIX = Matrices({
    "items": Range(values=(10, 20, 40, 100, 300, 1000)), "prevalence": Range(0.001, 0.5, "logit"), "recall": RATE,
    "specificity": RATE,
})  # fmt: skip
WITH_ERRORS = replace(MATRIX, in_every_cell=True)
ELSEWHERE = Box({
    "cases": Range(5, 300, "whole"), "controls": Range(5, 2000, "whole"), "recall": RATE,
    "false positive rate": Range(0.001, 0.5, "logit"),
})  # fmt: skip
SCORED = Box({
    "cases": Range(8, 100, "whole"), "controls": Range(8, 300, "whole"), "AUC": Range(0.6, 0.999, "logit"),
    "scores": Range(values=("normal", "t2", "five levels")),
})  # fmt: skip
UNTIED = Box(SCORED.ranges | {"scores": Range(values=("normal", "t2"))})
CHANCES = Box({
    "items": Range(20, 1000, "whole"), "mean chance": Range(0.01, 0.5, "logit"),
    "concentration": Range(0.5, 30, "log"), "power": Range(0.5, 2, "log"), "shift": Range(-1, 1),
})  # fmt: skip
PAIR = Box({
    "items": Range(values=(10, 20, 50)), "discordant": Range(0.005, 0.6, "log"), "leaning": Range(0.0, 1.0)
})  # fmt: skip
OTHERS = Box({"items": Range(values=(10, 20, 30)), "first": RATE, "second": RATE})
EQUAL_PAIR = Box({name: PAIR.ranges[name] for name in ("items", "discordant")})
MANY = Box({
    "systems": Range(3, 20, "whole"), "items": Range(values=(10, 20, 50, 100, 200, 500)),
    "accuracy": Range(0.5, 0.99, "logit"),
})  # fmt: skip
MANY_ALIKE = Box(MANY.ranges | {"alike": Range(0.05, 0.9)})
BOARD = Box({
    "systems": Range(5, 20, "whole"), "items": Range(50, 1000, "whole"), "accuracy": Range(0.5, 0.97, "logit"),
    "sd of log-odds": Range(0.01, 1.0, "log"), "one failed": Range(values=("no", "yes")),
})  # fmt: skip
AUDIT = Box({
    "answers": Range(500, 5000, "whole"), "checked": Range(20, 400, "whole"), "accuracy": RATE,
    "right called right": RATE, "wrong called wrong": RATE,
}, to_ends=0.3)  # fmt: skip

EXACT = Effort(200, 4, 60, 0, 0)
DRAWN = Effort(60, 3, 25, 300, 4000)
OF_MANY = Effort(60, 3, 25, 300, 2000)
AUDITS = Effort(40, 4, 25, 40, 1000)
AREAS = Effort(24, 3, 10, 80, 1000)
SLOW = Effort(10, 2, 6, 30, 150)
SLOWEST = Effort(6, 1, 4, 10, 40)
OF_CLASSES = Effort(40, 3, 12, 40, 300)
OF_LEARNED = Effort(10, 2, 5, 40, 150)

METRICS = {
    "recall": "recall", "precision": "precision", "f1": "F1", "matthews_correlation": "MCC", "cohen_kappa": "kappa",
    "balanced_accuracy": "balanced accuracy",
}  # fmt: skip
AVERAGES = {
    "accuracy": "accuracy",
    "recall_macro": "macro recall",
    "f1_macro": "macro F1",
    "random": "a class's recall",
}


def given(prior: str) -> str:
    """Return the argument of a prior that isn't the default."""
    return "" if prior == "jeffreys" else f', prior="{prior}"'


DEFAULTS = (
    *(Default(f"a share of n items, {method}", f'{call}(matrix, "recall")', SHARE, partial(of_share, method),
              partial(one_share, method), EXACT) for method, call in (("wilson", "interval"), ("summary", "summary"))),
    *(Default(f"{name}{where}", call, truths, partial(of_matrix, metric, method), partial(one_matrix, metric, method),
              DRAWN)
      for name, call, metric, method in (
          ("F1, wilson", 'interval(matrix, "f1")', "f1", "wilson"),
          *((f"{name}, summary", f'summary(matrix, "{metric}")', metric, "summary")
            for metric, name in METRICS.items()),
      ) for where, truths in (("", MATRIX), (", an item expected in every cell", WITH_ERRORS))),
    Default("precision elsewhere", 'summary(matrix, "precision", prevalence=0.001)', ELSEWHERE, of_precision,
            one_precision, DRAWN),
    *(Default(f"{name} of 3 to 10 classes, {prior}", f'summary(matrix, "{"recall" if metric == "random" else metric}"'
              f"{given(prior)})", Classes(), partial(of_classes, metric, prior), partial(one_of_classes, metric, prior),
              effort)
      for prior, effort in (("jeffreys", OF_CLASSES), ("learned", OF_LEARNED)) for metric, name in AVERAGES.items()
      if (metric, prior) != ("random", "learned")),
    *(Default(f"a point of the {space.upper()} plane", f'region(matrix, space="{space}", levels=[0.95])', MATRIX,
              partial(of_region, space), partial(one_region, space), DRAWN) for space in ("roc", "pr")),
    *(Default(name, f"{what}(y, scores)", SCORED, partial(of_areas, what), partial(one_area, what), AREAS)
      for what, name in (("auc", "AUC"), ("aucpr", "average precision"))),
    Default("a whole ROC curve", "curve_band(y, scores)", UNTIED, one_by_one(one_band), one_band, SLOW),
    Default("all cells at once", 'cell_summary(matrix, normalize="all", simultaneous="goodman")', MATRIX, of_cells,
            one_of_cells, DRAWN),
    Default("difference of two systems, same items", 'compare_systems(y, {"A": a, "B": b})', PAIR, of_two_systems,
            one_pair, EXACT),
    Default("difference of two systems, other items", 'compare_systems(counts, design="independent")', OTHERS,
            of_other_items, one_of_others, EXACT),
    Default("no verdict on two equal systems, same items", 'compare_systems(y, {"A": a, "B": b})', EQUAL_PAIR,
            of_two_systems, one_pair, EXACT),
    Default("no verdict on 3 to 20 equal systems, other items", 'compare_systems(counts, design="independent")', MANY,
            partial(of_many_systems, "other items"), partial(one_of_many, "other items"), OF_MANY),
    Default("no verdict on 3 to 20 equal systems, same items", "compare_systems(y, answers)", MANY_ALIKE,
            partial(of_many_systems, "same items"), partial(one_of_many, "same items"), OF_MANY),
    Default("the leader of a board", 'leaderboard(counts, design="independent")', BOARD, one_by_one(one_board),
            one_board, SLOWEST),
    *(Default(name, "reliability(y, scores)", CHANCES, one_by_one(partial(one_reliability, what)),
              partial(one_reliability, what), SLOW)
      for what, name in (("band", "all bins of a reliability diagram"), ("brier", "Brier score"),
                         ("log_loss", "log loss"))),
    Default("share of right answers, audited", "summary(audited(...))", AUDIT, of_audit, one_audit, AUDITS),
)  # fmt: skip
