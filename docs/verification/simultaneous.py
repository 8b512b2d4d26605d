"""What holds all at once: intervals of multinomial shares, and verdicts on systems that are equal (minutes).

``python -m uv run python docs/verification/simultaneous.py``. Writes simultaneous.csv, simultaneous_verdicts.csv and
their tables. The intervals are of every sample; verdicts are simulated, their probabilities by SciPy's quadrature.
``--quick`` runs a small part, writes nothing, and fails if Goodman's intervals hold too seldom, if equal systems get a
verdict too often, or if `compare_systems` gives others than SciPy.
"""

import itertools
import sys
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rows import write_rows
from scipy import special, stats

import bayescm
from bayescm.calibration import coverage_of
from bayescm.inference.multinomial import goodman, sison_glaz

HERE = Path(__file__).parent
LEVEL = 0.95
METHODS = {"goodman": goodman, "sison_glaz": sison_glaz}
SAMPLES = ((3, 10), (3, 30), (3, 100), (4, 20), (4, 40))
"""Cells and items."""
EQUAL = (("other items", 0.0), ("same items", 0.3), ("same items", 0.8))
"""Designs, and how alike the systems find the items: the intraclass correlation of right answers."""
MOST = 0.1
"""Tests of equal systems in which any gets a verdict, at most: issue 35."""
ANSWERS = 20_000_000
"""Simulated at a time, that they take 160 MB."""
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.8, 0.9)


def coverage(k: int, n: int) -> list[dict[str, object]]:
    """Return a row per method: mean and least probability to hold all shares, over shares of which none is tiny."""
    truths = [(*p, 1.0 - sum(p)) for p in itertools.product(SHARES, repeat=k - 1) if sum(p) < 0.97]
    rows: list[dict[str, object]] = []
    for name, method in METHODS.items():
        found = coverage_of(partial(method, ci_prob=LEVEL), truths, n, simultaneous=True)
        held, width = found["coverage"], found["width"]
        numbers = {"mean": np.mean(held), "least": np.min(held), "width": np.mean(width)}
        rows.append({"cells": k, "items": n, "method": name} | {key: round(float(v), 4) for key, v in numbers.items()})
    return rows


def table(rows: list[dict[str, object]]) -> str:
    """Return the table of the page."""
    lines = ["| cells | items | method | mean coverage | least | mean width |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {r['cells']} | {r['items']} | `{r['method']}` | {r['mean']:.3f} | {r['least']:.3f} | {r['width']:.3f} |"
        for r in rows
    ]
    return "\n".join(lines) + "\n"


def right_answers(
    rng: np.random.Generator, runs: int, systems: int, items: int, accuracy: float, alike: float
) -> NDArray[np.bool_]:
    """Return which system got which item (runs, systems, items)."""
    of_item: NDArray[np.float64] | float = accuracy
    if alike:
        size = 1.0 / alike - 1.0
        of_item = rng.beta(accuracy * size, (1.0 - accuracy) * size, (runs, 1, items))
    return rng.random((runs, systems, items)) < of_item


@lru_cache(maxsize=8)
def better_of_others(items: int) -> NDArray[np.float64]:
    """Return P(first better) for every pair of numbers of right answers, from Jeffreys posteriors, by quadrature."""
    right = np.arange(items + 1.0)
    density = np.linspace(0.0, 1.0, 8 * items + 4001)[1:-1]
    place = 0.5 - 0.5 * np.cos(np.pi * density)  # close where a share may be: at 0 and 1
    cdf = special.betainc(right[:, None] + 0.5, items - right[:, None] + 0.5, place)
    edges = np.hstack([np.zeros((len(right), 1)), cdf, np.ones((len(right), 1))])
    middle = 0.5 * (edges[:, 1:] + edges[:, :-1])
    return np.diff(edges, axis=1) @ middle.T


def chances(got: NDArray[np.bool_], pairs: NDArray[np.intp], design: str) -> NDArray[np.float64]:
    """Return P(first better) of every pair (runs, pairs)."""
    if design == "other items":
        right = got.sum(-1)
        return better_of_others(got.shape[-1])[right[:, pairs[:, 0]], right[:, pairs[:, 1]]]
    both = np.einsum("rsi,rti->rst", got.astype(np.float32), got.astype(np.float32))
    right = np.diagonal(both, axis1=1, axis2=2)
    shared = both[:, pairs[:, 0], pairs[:, 1]]
    first, second = right[:, pairs[:, 0]] - shared, right[:, pairs[:, 1]] - shared
    return special.betaincc(first + 1.0, second + 1.0, 0.5)


def verdicts(
    rng: np.random.Generator, runs: int, systems: int, items: int, accuracy: float, design: str, alike: float
) -> dict[str, object]:
    """Return how often any of equal systems gets a verdict: one by one, all pairs at once, with one reference."""
    pairs = np.array(list(itertools.combinations(range(systems), 2)))
    chance = chances(right_answers(rng, runs, systems, items, accuracy, alike), pairs, design)
    sure = np.maximum(chance, 1.0 - chance)
    tukey = stats.norm.sf(stats.studentized_range.ppf(LEVEL, systems, np.inf) / np.sqrt(2.0))
    sidak = 0.5 * (1.0 - LEVEL ** (1.0 / (systems - 1)))
    some = {
        "by_itself": (sure > 0.5 + 0.5 * LEVEL).any(1),
        "all_pairs": (sure > 1.0 - tukey).any(1),
        "reference": (sure[:, pairs[:, 0] == 0] > 1.0 - sidak).any(1),
    }
    truth = {"design": design, "alike": alike, "systems": systems, "items": items, "accuracy": accuracy}
    return truth | {name: round(float(one.mean()), 4) for name, one in some.items()} | {"runs": runs}


def many_verdicts(runs: int, systems: tuple[int, ...], items: tuple[int, ...]) -> list[dict[str, object]]:
    """Return a row per kind of equal systems."""
    rng, accuracies = np.random.default_rng(35), (0.6, 0.9, 0.98)
    return [
        verdicts(rng, min(runs, ANSWERS // (k * n)), k, n, accuracy, *design)
        for design, k, n, accuracy in itertools.product(EQUAL, systems, items, accuracies)
    ]


def as_compare_systems(runs: int = 6, systems: int = 4, items: int = 60) -> None:
    """Fail where `compare_systems` gives other verdicts."""
    pairs = np.array(list(itertools.combinations(range(systems), 2)))
    least = stats.norm.cdf(stats.studentized_range.ppf(LEVEL, systems, np.inf) / np.sqrt(2.0))
    for design, alike in EQUAL[:2]:
        got = right_answers(np.random.default_rng(7), runs, systems, items, 0.8, alike)
        got[:, 0] |= np.random.default_rng(8).random(got[:, 0].shape) < 0.6  # one that is better
        for run, chance in zip(got, chances(got, pairs, design), strict=True):
            if design == "other items":
                right = run.sum(1)
                table = {"correct": right, "wrong": items - right}
                found = bayescm.compare_systems(table, design="independent", random_seed=1)
            else:
                truth = np.arange(items) % 2
                answers = {f"s{i}": np.where(one, truth, 1 - truth) for i, one in enumerate(run)}
                found = bayescm.compare_systems(truth, answers, random_seed=1)
            told = found["summary"]["verdict"].values[:, 0].tolist()
            if told != np.select([chance > least, chance < 1.0 - least], ["better", "worse"], "undecided").tolist():
                raise SystemExit(f"compare_systems gives other verdicts ({told}) than SciPy ({chance}).")


def table_of_verdicts(rows: list[dict[str, object]]) -> str:
    """Return the table of the page: over items and accuracies the mean and the most."""
    lines = [
        "| design | alike | systems | each by itself | all pairs at once: mean | most | one reference: mean | most |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|")
    for (design, alike, k), some in itertools.groupby(rows, lambda r: (r["design"], r["alike"], r["systems"])):
        same = list(some)
        by_itself, pairs, one = (
            np.array([float(str(r[n])) for r in same]) for n in ("by_itself", "all_pairs", "reference")
        )
        numbers = " | ".join(f"{v:.3f}" for v in (by_itself.mean(), pairs.mean(), pairs.max(), one.mean(), one.max()))
        lines.append(f"| {design} | {alike} | {k} | {numbers} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    rows = [row for sizes in (SAMPLES[:1] if quick else SAMPLES) for row in coverage(*sizes)]
    print(table(rows))
    if any(row["method"] == "goodman" and float(str(row["least"])) < 0.93 for row in rows):
        raise SystemExit("Goodman's intervals hold too seldom.")
    as_compare_systems()
    equal = many_verdicts(*((500, (3, 10), (50,)) if quick else (20_000, (3, 5, 10, 20), (20, 50, 200, 1000))))
    print(table_of_verdicts(equal))
    if any(float(str(row["all_pairs"])) > MOST for row in equal):
        raise SystemExit("Equal systems get a verdict too often.")
    if not quick:
        write_rows(HERE / "simultaneous.csv", rows)
        (HERE / "simultaneous_table.inc").write_text(table(rows))
        write_rows(HERE / "simultaneous_verdicts.csv", equal)
        (HERE / "simultaneous_verdicts_table.inc").write_text(table_of_verdicts(equal))
