"""Measure where answers hold less often than they say: ``python docs/verification/weak.py``.

Macro F1 where classes are rare or absent, the class that looks worst or best of many, all classes at once, and the
favourite of a leaderboard with one system that failed. Each is asked as one would ask it, with the defaults (but 4,000
draws) and equal tails, of test sets drawn from a known truth. Writes weak.csv and weak_table.inc.

``--quick`` runs a small part, writes nothing, and fails where a number that the pages warn of isn't found.
"""

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rows import markdown, write_rows
from scipy import stats

import bayescm

Array = NDArray[np.float64]
Row = dict[str, object]

HERE = Path(__file__).parent
RUNS, QUICK, SAMPLES = 400, 60, 4000
KINDS = ("eti", "hdi")
RARE = np.array([0.60, 0.37, 0.01, 0.01, 0.01])
ZIPF = 1.0 / np.arange(1, 21)


def rates_of(shares: Array, recall: float) -> Array:
    """Return rates of classes of one recall, whose mistakes fall on the others as frequent as they are."""
    others = shares * (1.0 - np.eye(len(shares)))
    return recall * np.eye(len(shares)) + (1.0 - recall) * others / others.sum(1, keepdims=True)


def macro_f1(shares: Array, recall: float, items: int, runs: int, *, absent: bool | None = None) -> Row:
    """Return how often the interval of macro F1 holds the truth; of test sets with or without an absent class."""
    rng, shares = np.random.default_rng(len(shares) * items), shares / shares.sum()
    truth = shares[:, None] * rates_of(shares, recall)
    counts = rng.multinomial(items, truth.ravel(), 20 * runs).reshape(-1, *truth.shape)
    lacking = (counts.sum(-1) == 0).any(-1)
    counts = (counts if absent is None else counts[lacking == absent])[:runs]
    value = float(
        bayescm.metrics.evaluate(bayescm.from_array((1e6 * truth).round().astype(int)), "f1_macro")["f1_macro"]
    )
    asked = {"draws": SAMPLES, "random_seed": 1}
    both = [bayescm.summary(counts, "f1_macro", ci_kind=kind, **asked)["interval"].values[:, 0] for kind in KINDS]
    return measured(0.95, *[(found[:, 0] <= value) & (value <= found[:, 1]) for found in both])


def of_classes(which: str, runs: int) -> Row:
    """Return how often the interval of a recall holds the truth: of the worst- or best-looking of ten, or of all."""
    rng, k, items, recall = np.random.default_rng(10), 10, 30, 0.9
    right = rng.binomial(items, recall, (runs, k))
    rates = [[rng.multinomial(items - n, np.delete(np.full(k, 1 / (k - 1)), 0)) for n in row] for row in right]
    counts = np.stack([[np.insert(wrong, i, n) for i, (wrong, n) in enumerate(zip(*one, strict=True))]
                       for one in zip(rates, right, strict=True)])  # fmt: skip
    at = {"worst": right.argmin(1), "best": right.argmax(1)}
    both = []
    for kind in KINDS:
        found = bayescm.summary(counts, "recall", ci_kind=kind)["interval"].values
        held = (found[..., 0] <= recall) & (recall <= found[..., 1])
        both.append(held.all(1) if which == "all" else held[np.arange(runs), at[which]])
    return measured(0.95, *both)


def favourite(close: int, runs: int) -> Row:
    """Return how often the favourite is the best of so many close systems and one that failed."""
    rng, stated, true = np.random.default_rng(close), [], []
    for _ in range(runs):
        accuracy = np.append(rng.normal(0.85, 0.003, close), rng.uniform(0.1, 0.3))
        right = rng.binomial(300, accuracy)
        board = bayescm.leaderboard({"correct": right, "wrong": 300 - right}, design="independent")
        best = int(board["probability_best"].argmax("system"))
        stated.append(float(board["probability_best"][best]))
        true.append(best == accuracy.argmax())
    return measured(float(np.mean(stated)), np.array(true))


def measured(stated: float, held: NDArray[np.bool_], narrowest: NDArray[np.bool_] | None = None) -> Row:
    """Return what was stated and what is true, with the interval of the simulation (Wilson); of HDIs too."""
    n, k = len(held), int(held.sum())
    lower, upper = stats.binomtest(k, n).proportion_ci(method="wilson")
    hdi = "" if narrowest is None else f"{narrowest.mean():.3f}"
    return {
        "stated": f"{stated:.3f}", "true": f"{k / n:.3f}", "between": f"{lower:.3f} to {upper:.3f}",
        "true of HDIs": hdi, "test sets": n,
    }  # fmt: skip


CASES: dict[str, Callable[[int], Row]] = {
    "macro F1, 5 classes with shares .60 .37 .01 .01 .01, 200 items": lambda n: macro_f1(RARE, 0.95, 200, n),
    "the same, where every class has items": lambda n: macro_f1(RARE, 0.95, 200, n, absent=False),
    "the same, where a class has no items": lambda n: macro_f1(RARE, 0.95, 200, n, absent=True),
    "macro F1, 10 classes alike, 300 items": lambda n: macro_f1(np.ones(10), 0.95, 300, n),
    "macro F1, 20 classes with shares 1, 1/2, 1/3, ..., 1000 items": lambda n: macro_f1(ZIPF, 0.95, 1000, n),
    "recall of the worst-looking of 10 classes, 30 items each": lambda n: of_classes("worst", n),
    "recall of the best-looking of 10 classes, 30 items each": lambda n: of_classes("best", n),
    "the recalls of all 10 classes at once, 30 items each": lambda n: of_classes("all", n),
    "P(best) of the favourite of 4 close systems and one that failed": lambda n: favourite(4, n // 2),
    "P(best) of the favourite of 9 close systems and one that failed": lambda n: favourite(9, n // 2),
}
"""Recalls are .95 where macro F1 is asked for and .9 elsewhere; close systems have accuracies of .85 with a standard
deviation of .003, the one that failed .1 to .3, and all of them 300 items of their own."""


def main(arguments: list[str]) -> None:
    """Measure all cases, or check one of them."""
    warnings.simplefilter("ignore", UserWarning)
    if "--quick" in arguments:
        absent = CASES["the same, where a class has no items"](QUICK)
        assert float(str(absent["true"])) < 0.8, absent
        return
    rows: list[Row] = []
    for name, measure in CASES.items():
        rows.append({"what": name} | measure(RUNS))
        print(*rows[-1].values(), sep="; ", flush=True)
    write_rows(HERE / "weak.csv", rows)
    (HERE / "weak_table.inc").write_text(markdown(rows).replace("| ---: |", "| :--- |", 1))


if __name__ == "__main__":
    main(sys.argv[1:])
