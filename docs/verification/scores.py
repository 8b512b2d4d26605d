"""Check intervals of mean scores from 0 to 1: ``python -m uv run python docs/verification/scores.py`` (five minutes).

How often 95% intervals hold the mean of the population, of Betas, of scores that nearly all are 0 or 1, of Dice with
failures and of nearly constant ones; how often two equal systems on the same items are called different; and how often
intervals of weighted items hold the accuracy of the population. By the posterior, by Student's t, by percentiles of
resampled items and at Kish's effective size. Writes scores_coverage.csv, scores_pairs.csv, scores_weights.csv and
scores_table.inc. ``--quick`` runs a part, writes nothing and fails where the posterior holds too seldom.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rows import markdown, write_rows
from scipy import stats

import bayescm
from bayescm.inference.read import read
from bayescm.metrics import resolve

Array = NDArray[np.float64]
Rng = np.random.Generator

HERE = Path(__file__).parent
TAILS = [0.025, 0.975]
DRAWS = 1000
LEAST = 0.83
"""Coverage below which a quick run of 50 samples fails: of .95 one in a thousand falls as low."""


def _with(rng: Rng, scores: Array, share: float, other: float) -> Array:
    return np.where(rng.random(len(scores)) < share, other, scores)


KINDS: dict[str, tuple[Callable[[Rng, int], Array], float]] = {
    "Beta(2, 2)": (lambda rng, n: rng.beta(2, 2, n), 0.5),
    "Beta(.3, .3)": (lambda rng, n: rng.beta(0.3, 0.3, n), 0.5),
    "Beta(5, .5), near 1": (lambda rng, n: rng.beta(5, 0.5, n), 5 / 5.5),
    "0, .5 or 1 (.1, .1, .8)": (lambda rng, n: rng.choice([0.0, 0.5, 1.0], n, p=[0.1, 0.1, 0.8]), 0.85),
    "1 but for 5% even ones": (lambda rng, n: _with(rng, rng.random(n), 0.95, 1.0), 0.975),
    "Dice: Beta(30, 3), 5% fail": (lambda rng, n: _with(rng, rng.beta(30, 3, n), 0.05, 0.0), 0.95 * 30 / 33),
    ".7 for all, sd .02": (lambda rng, n: np.clip(0.7 + 0.02 * rng.standard_normal(n), 0, 1), 0.7),
}
"""Scores, and their mean in the population."""


def ends(scores: Array, seed: int) -> dict[str, Array]:
    """Return the interval of the mean by each method."""
    rng, n = np.random.default_rng(seed), len(scores)
    (drawn,) = read(_kept(scores=scores), draws=DRAWS, random_seed=seed).whole()[0].draws(resolve("mean_score", 2))
    means = scores[rng.integers(0, n, (DRAWS, n))].mean(1)
    half = stats.t.ppf(0.975, n - 1) * scores.std(ddof=1) / np.sqrt(n)
    return {
        "posterior": np.quantile(drawn, TAILS), "Student's t": scores.mean() + half * np.array([-1.0, 1.0]),
        "bootstrap": np.quantile(means, TAILS),
    }  # fmt: skip


def _kept(**scores: Array) -> Any:
    """Return scores as they are read, also where all are 0 and 1."""
    return bayescm.read({name: np.r_[values, 0.5] for name, values in scores.items()}).data.isel(item=slice(None, -1))


def coverage(kind: str, n: int, repeats: int) -> dict[str, Any]:
    """Return how often each method holds the mean, and how long its intervals are."""
    (draw, mean), rng = KINDS[kind], np.random.default_rng(1)
    found: dict[str, list[tuple[bool, float]]] = {}
    for i in range(repeats):
        for method, (low, high) in ends(draw(rng, n), i).items():
            found.setdefault(method, []).append((low <= mean <= high, high - low))
    row: dict[str, Any] = {"scores": kind, "items": n, "samples": repeats}
    for method, pairs in found.items():
        held, length = np.mean(pairs, 0)
        row |= {method: round(float(held), 3), f"{method}, length": round(float(length), 3)}
    return row


def equal_pairs(kind: str, n: int, repeats: int) -> dict[str, Any]:
    """Return how often two systems with the same distribution of scores, whose items are hard for both, differ."""
    draw, rng, called = KINDS[kind][0], np.random.default_rng(1), np.zeros(2)
    for i in range(repeats):
        one, other = draw(rng, n), draw(rng, n)
        shared = rng.random(n) < 0.5
        a, b = one, np.where(shared, one, other)
        found = bayescm.compare_systems(_kept(a=a, b=b), "mean_score", draws=DRAWS // 4, random_seed=i)["summary"]
        gap = a - b
        called += found["verdict"].item() != "undecided", gap.any() and stats.ttest_1samp(gap, 0.0).pvalue < 0.05
    by = dict(zip(("by posterior", "by Student's t"), (called / repeats).round(3).tolist(), strict=True))
    return {"scores": kind, "items": n, "pairs": repeats} | by


WEIGHTS: dict[str, Callable[[Rng, int], tuple[Array, Array]]] = {
    "two strata, weights 1.6 and .4": lambda rng, n: _strata(rng.random(n) < 0.5),
    "log-normal weights, sd .5": lambda rng, n: _heavier(rng.lognormal(0, 0.5, n)),
    "log-normal weights, sd 1": lambda rng, n: _heavier(rng.lognormal(0, 1, n)),
}
"""Weights of items, and with which chance each is right."""


def _strata(common: NDArray[np.bool_]) -> tuple[Array, Array]:
    return np.where(common, 1.6, 0.4), np.where(common, 0.9, 0.6)


def _heavier(weight: Array) -> tuple[Array, Array]:
    return weight, np.where(weight > 1.0, 0.9, 0.7)


def weighted(kind: str, n: int, repeats: int) -> dict[str, Any]:
    """Return how often intervals of accuracy hold that of the population, with weights and without."""
    many, p = WEIGHTS[kind](np.random.default_rng(2), 10**6)
    truth, rng, held = (many @ p) / many.sum(), np.random.default_rng(1), np.zeros(3)
    for i in range(repeats):
        weight, chance = WEIGHTS[kind](rng, n)
        right = (rng.random(n) < chance).astype(np.int64)
        y = rng.integers(0, 2, n)
        found = bayescm.summary(
            y, np.where(right, y, 1 - y), "accuracy", sample_weight=weight, draws=DRAWS, random_seed=i
        )
        count, share = weight.sum() ** 2 / (weight @ weight), weight @ right / weight.sum()
        ends = [found["interval"].values[0]]
        ends += [stats.beta.ppf(TAILS, m * q + 0.5, m * (1 - q) + 0.5) for m, q in ((count, share), (n, right.mean()))]
        held += [low <= truth <= high for low, high in ends]
    by = dict(zip(("posterior", "Jeffreys at Kish's size", "without weights"), held / repeats, strict=True))
    return {"weights": kind, "items": n, "samples": repeats} | {name: round(float(one), 3) for name, one in by.items()}


def shown(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with lengths beside coverages."""
    methods = ("posterior", "Student's t", "bootstrap")
    return {name: row[name] for name in ("scores", "items")} | {
        name: f"{row[name]:.3f} ({row[f'{name}, length']:.2f})" for name in methods
    }


def main() -> int:
    """Run the study and write its tables, or check a few rows."""
    warnings.simplefilter("ignore")  # of few draws
    if "--quick" in sys.argv:
        rows = [coverage(kind, 10, 50) for kind in list(KINDS)[1:6:2]]
        pair = equal_pairs("Beta(.3, .3)", 30, 25)
        of_weights = weighted("log-normal weights, sd .5", 50, 50)
        print(*map(shown, rows), pair, of_weights, sep="\n")
        return int(min(row["posterior"] for row in [*rows, of_weights]) < LEAST or pair["by posterior"] > 0.26)
    rows = [coverage(kind, n, 500) for kind in KINDS for n in (10, 30, 100)]
    pairs = [equal_pairs(kind, n, 200) for kind in list(KINDS)[:6] for n in (10, 30)]
    of_weights = [weighted(kind, n, 500) for kind in WEIGHTS for n in (20, 50, 200)]
    write_rows(HERE / "scores_weights.csv", of_weights)
    write_rows(HERE / "scores_coverage.csv", rows)
    write_rows(HERE / "scores_pairs.csv", pairs)
    tables = ([shown(row) for row in rows], pairs, of_weights)
    (HERE / "scores_table.inc").write_text("\n".join(map(markdown, tables)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
