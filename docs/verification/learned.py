"""Check the prior that is learned across classes: ``python -m uv run python docs/verification/learned.py`` (an hour).

How often 95% equal tails of many classes hold the truth, under the priors jeffreys, perks and learned, on 31 kinds of
matrices: rare classes that are harder, easier or like the others, one that is broken or absent, few items, many
classes. "apart" is the interval that also holds if classes of fewer than three items don't resemble the others (the
note of a summary), and "random" is the recall of a class taken at random. The study `search` looks for the truths that
these priors hold least. ``--accuracy`` compares accuracy without draws with draws, and times both priors, in some
minutes. ``--moved`` (minutes) sorts matrices by how far Jeffreys' prior moves accuracy and macro recall, which a
summary remarks. Writes learned_coverage.csv and learned_table.inc, learned_accuracy.csv and learned_time.csv, or
learned_moved.csv. ``--quick`` runs three kinds, writes nothing and fails where coverage is below what the committed
rows allow.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rows import markdown, write_rows
from scipy.special import expit

import bayescm
from bayescm.distributions.learned import learn
from bayescm.inference.read import read
from bayescm.metrics import compute, resolve
from bayescm.priors.concentrations import concentrations
from bayescm.results import names

Array = NDArray[np.float64]

HERE = Path(__file__).parent
PRIORS = ("jeffreys", "perks", "learned")
METRICS = ("accuracy", "recall_macro", "f1_macro", "f1_weighted", "cohen_kappa", "matthews_correlation")
MACRO = ("recall_macro", "f1_macro")
APART = tuple(f"{name}, apart" for name in MACRO)
DRAWS = 1000
LEAST = 0.80
"""Coverage below which three quick runs of 40 matrices fail: seven in eight are expected at the least."""


class Truth(NamedTuple):
    """What matrices are drawn from: shares, recalls, how errors go, and how many items."""

    shares: Array
    recalls: Array
    errors: str
    n: int

    def cells(self) -> Array:
        """Return the probabilities of the cells."""
        k = len(self.shares)
        found = np.zeros((k, k))
        for i in range(k):
            weight = {
                "even": np.ones(k), "shares": self.shares.copy(), "pairs": np.zeros(k), "sink": np.full(k, 0.02),
                "ragged": np.random.default_rng(i).dirichlet(np.full(k, 0.3)),
            }[self.errors]  # fmt: skip
            if self.errors == "pairs":
                weight[i + 1 if i % 2 == 0 and i + 1 < k else i - 1] = 1.0
            if self.errors == "sink":
                weight[k // 2] = 1.0
            weight[i] = 0.0
            found[i] = (1.0 - self.recalls[i]) * weight / max(weight.sum(), 1e-12)
            found[i, i] = self.recalls[i]
        return found * (self.shares / self.shares.sum())[:, None]


def _truth(shares: Any, recalls: Any, errors: str, n: int) -> Truth:
    return Truth(np.asarray(shares, float), np.asarray(recalls, float), errors, n)


def _kinds() -> dict[str, Truth | None]:
    """Return the kinds of matrices; None is another truth for every matrix."""
    rare, even, rng = [0.49, 0.48, 0.01, 0.01, 0.01], [0.1] * 10, np.random.default_rng(7)
    zipf = {k: 1.0 / np.arange(1, k + 1) for k in (10, 20, 50)}
    rank = -np.log(np.arange(1, 21))
    rank = (rank - rank.min()) / np.ptp(rank)
    absent = [0.111] * 9 + [0.002]
    given: dict[str, tuple[Any, Any, str, int]] = {
        "5, rare ones alike, even errors": (rare, [0.95] * 5, "even", 200),
        "5, rare ones alike": (rare, [0.95] * 5, "shares", 200),
        "5, rare ones bad": (rare, [0.95, 0.95, 0.4, 0.4, 0.4], "shares", 200),
        "5, rare ones good": (rare, [0.7, 0.7, 0.98, 0.98, 0.98], "shares", 200),
        "5, one rare one bad": (rare, [0.95, 0.95, 0.95, 0.3, 0.95], "even", 200),
        "5, one broken": ([0.2] * 5, [0.97] * 4 + [0.2], "even", 100),
        "3, 20 items each": ([1 / 3] * 3, [0.8] * 3, "even", 60),
        "3, 3 items each": ([1 / 3] * 3, [0.7] * 3, "even", 9),
        "10 alike": (even, [0.95] * 10, "even", 300),
        "10 spread": (even, np.linspace(0.5, 0.98, 10), "even", 300),
        "10 in pairs": (even, np.tile([0.95, 0.8], 5), "pairs", 1000),
        "10, one absent": (absent, [0.9] * 10, "even", 200),
        "10, nearly all correct": (even, [0.998] * 10, "even", 100),
        "10, errors into one": (zipf[10], [0.98, 0.3] * 5, "sink", 500),
        "20 Zipf, alike": (zipf[20], [0.9] * 20, "shares", 1000),
        "20 Zipf, rare ones bad": (zipf[20], expit(-0.4 + 3.3 * rank), "shares", 400),
        "20 Zipf, rare ones good": (zipf[20], expit(2.9 - 2.6 * rank), "shares", 400),
        "20 Zipf, ragged": (zipf[20], rng.beta(4, 2, 20), "ragged", 400),
        "5, rare ones bad, 50 items": (rare, [0.95, 0.95, 0.4, 0.4, 0.4], "shares", 50),
        "3, 98% one, others bad": ([0.98, 0.01, 0.01], [0.99, 0.5, 0.5], "even", 200),
        "3, 98% one, alike": ([0.98, 0.01, 0.01], [0.97] * 3, "even", 200),
        "10, 91% one": ([0.91] + [0.01] * 9, [0.99, *np.linspace(0.2, 0.8, 9)], "shares", 300),
        "10 Zipf, middle ones bad": (zipf[10], [0.95] * 3 + [0.4] * 4 + [0.95] * 3, "ragged", 300),
        "10, one absent and bad": (absent, [0.95] * 9 + [0.2], "even", 200),
        "3, one absent and bad": ([0.6, 0.398, 0.002], [0.95, 0.95, 0.2], "even", 100),
        "5, rare ones all wrong": (rare, [0.99, 0.99, 0.05, 0.05, 0.05], "even", 100),
        "20 Zipf, one rare one broken": (zipf[20], [0.97] * 15 + [0.05] + [0.97] * 4, "even", 400),
        "50, 100 items each": ([0.02] * 50, rng.beta(8, 2, 50), "ragged", 5000),
        "50, 3 items each": ([0.02] * 50, rng.beta(8, 2, 50), "ragged", 150),
        "50 Zipf, pairs": (zipf[50], rng.beta(6, 2, 50), "pairs", 1000),
    }
    return {name: _truth(*one) for name, one in given.items()} | {"any, 3 to 20": None}


def anyone(rng: np.random.Generator, most: int = 20) -> Truth:
    """Return some truth of 3 to 20 classes."""
    k = int(rng.choice([k for k in (3, 4, 5, 7, 10, 15, 20) if k <= most]))
    n = int(k * np.exp(rng.uniform(np.log(3), np.log(100))))
    shares = np.maximum(rng.dirichlet(np.full(k, rng.choice([0.3, 1.0, 5.0]))), 1e-3)
    x, middle = np.log(shares) - np.log(shares).mean(), rng.normal(1.5, 1.0)
    recalls = (
        np.full(k, expit(middle)), expit(middle + rng.normal(0, 1, k)), expit(middle + x * rng.normal(0, 0.5)),
        np.where(rng.random(k) < 0.2, 0.3, expit(middle + 1)), rng.beta(1, 1, k),
    )[rng.integers(5)]  # fmt: skip
    errors = ("even", "shares", "pairs", "sink", "ragged")[rng.integers(5)]
    return Truth(shares / shares.sum(), np.clip(recalls, 0.01, 0.995), errors, n)


def matrices(truth: Truth, sims: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw matrices."""
    k = len(truth.shares)
    return rng.multinomial(truth.n, truth.cells().ravel(), sims).reshape(sims, k, k)


def held(truth: Truth, counts: NDArray[np.int64], prior: str, rng: np.random.Generator) -> dict[str, Array]:
    """Say of each matrix whether intervals hold the truth, and how long those of macro averages are."""
    k = len(truth.shares)
    true = dict(zip(METRICS, compute(resolve(list(METRICS), k), truth.cells()), strict=True))
    data = bayescm.from_array(counts, dims="repeat")
    metrics = resolve([*METRICS, "recall"], k)
    block = read(data, prior=prior, draws=DRAWS, random_seed=1).whole()[0]
    ends = {metric.name: quantiles(values) for metric, values in zip(metrics, block.draws(metrics), strict=True)}
    rows = {name: (ends[name][:, 0] <= true[name]) & (true[name] <= ends[name][:, 1]) for name in METRICS}
    which = rng.integers(k, size=len(counts))
    own = ends["recall"][np.arange(len(counts)), which]
    rows["random"] = (own[:, 0] <= truth.recalls[which]) & (truth.recalls[which] <= own[:, 1])
    rows |= {f"length, {name}": np.diff(ends[name], axis=1)[:, 0] for name in MACRO}
    if prior == "learned":
        alone = resolve(list(MACRO), k)
        drawn = replace(block, alone=True, seed=2).draws(alone)
        for name, values in zip(MACRO, drawn, strict=True):
            both = np.stack([ends[name], quantiles(values)])
            lower, upper = both[..., 0].min(0), both[..., 1].max(0)
            rows[f"{name}, apart"] = (lower <= true[name]) & (true[name] <= upper)
            rows[f"length, {name}, apart"] = upper - lower
    return rows


def quantiles(values: Array) -> Array:
    """Return the equal tails of draws, undefined ones left out."""
    return np.moveaxis(np.nanquantile(values, [0.025, 0.975], axis=-1), 0, -1)


def coverage(kinds: dict[str, Truth | None], sims: int, priors: tuple[str, ...] = PRIORS) -> list[dict[str, Any]]:
    """Return a row per kind and prior."""
    found = []
    for name, truth in kinds.items():
        for prior in priors:
            rng = np.random.default_rng(3)
            if truth is None:
                each = [held(one, matrices(one, 1, rng), prior, rng) for one in (anyone(rng) for _ in range(sims))]
                rows = {key: np.concatenate([one[key] for one in each]) for key in each[0]}
            else:
                rows = held(truth, matrices(truth, sims, rng), prior, rng)
            means = {key: round(float(value.mean()), 3) for key, value in rows.items()}
            found.append(
                {"kind": name, "prior": prior, "matrices": sims} | {key: means.get(key, "") for key in COLUMNS}
            )
            print(found[-1], flush=True)
    return found


def accuracy_ends(n: int, draws: int) -> list[dict[str, Any]]:
    """Compare the ends of accuracy without draws with those of draws, in percent of the length of the interval."""
    rng, rows = np.random.default_rng(8), []
    for _ in range(n):
        truth = anyone(rng, 7)
        counts = matrices(truth, 1, rng)[0]
        found = bayescm.summary(counts, "accuracy", prior="learned").isel(metric=0)
        known = learn(counts)
        drawn = [np.trace(known.draw(rng, 20_000), axis1=1, axis2=2) for _ in range(draws // 20_000)]
        off = 100.0 * (found["interval"].values - quantiles(np.concatenate(drawn))) / float(found["width"])
        ends = {name: round(float(value), 2) for name, value in zip(("lower", "upper"), off, strict=True)}
        rows.append({"classes": len(counts), "items": truth.n, **ends, "error": round(float(found["error"]), 3)})
    return rows


def moved_rows(sims: int) -> list[dict[str, Any]]:
    """Return coverage of both priors by how many standard deviations Jeffreys' moves an average."""
    two, edges, rng = ("accuracy", "recall_macro"), (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 99.0), np.random.default_rng(3)
    names.MOVED = -1.0  # say all
    seen: dict[str, list[tuple[float, Array]]] = {name: [] for name in two}
    for truth in _kinds().values():
        each = [anyone(rng) for _ in range(sims)] if truth is None else [truth]
        for one in each:
            counts = matrices(one, sims // len(each), rng)
            held_by = [held(one, counts, prior, rng) for prior in ("jeffreys", "learned")]
            k = len(one.shares)
            metrics, prior = resolve(list(two), k), concentrations("jeffreys", "dirichlet_multinomial", k).rows
            for i, matrix in enumerate(counts):
                for metric, far in names.moved(metrics, prior, bayescm.from_array(matrix)).items():
                    seen[metric.name].append((far, np.array([by[metric.name][i] for by in held_by])))
    rows = []
    for name, pairs in seen.items():
        far, by = (np.array(values) for values in zip(*pairs, strict=True))
        for low, high in pairwise(edges):
            some = (low <= far) & (far < high)
            both = dict(zip(("jeffreys", "learned"), by[some].mean(0).round(3).tolist(), strict=True))
            rows.append({"metric": name, "from": low, "to": high, "matrices": int(some.sum())} | both)
    return rows


def milliseconds(k: int, matrices: int) -> list[dict[str, Any]]:
    """Time a summary of each prior: processor time per matrix of `k` classes."""
    cells = (0.15 / k + 0.85 * np.eye(k)) / k
    rows = []
    for metric, n in (("accuracy", matrices), ("recall", matrices), ("f1_macro", 1)):
        row: dict[str, Any] = {"classes": k, "metric": metric}
        for prior in ("jeffreys", "learned"):
            rng = np.random.default_rng(1)
            for _ in range(2):  # the first call reads code and tables
                counts = rng.multinomial(40 * k, cells.ravel(), n).reshape(n, k, k)
                start = time.process_time()
                bayescm.summary(counts, metric, prior=prior, random_seed=1)
                row[prior] = round(1e3 * (time.process_time() - start) / n, 2)
        rows.append(row)
    return rows


COLUMNS = (
    *METRICS, "random", *(f"length, {name}" for name in MACRO), *APART, *(f"length, {name}" for name in APART),
)  # fmt: skip


def summary_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return least and mean coverage of each prior over the kinds."""
    found = []
    for prior in PRIORS:
        own = [row for row in rows if row["prior"] == prior]
        values = {
            name: [row[name] for row in own if row[name] != ""] for name in (*METRICS, "random", *APART)
        }  # fmt: skip
        found.append({"prior": prior} | {
            name: f"{min(of):.2f} / {np.mean(of):.3f}" if of else "" for name, of in values.items()
        })  # fmt: skip
    return found


def main() -> int:
    """Run the study and write its tables, or check a few rows."""
    kinds = _kinds()
    if "--quick" in sys.argv:
        few = {name: kinds[name] for name in ("5, rare ones bad", "10 alike", "3, one absent and bad")}
        rows = coverage(few, 40, ("learned",))
        return int(min(row[name] for row in rows for name in (*METRICS, "random")) < LEAST)
    if "--accuracy" in sys.argv:
        write_rows(HERE / "learned_accuracy.csv", accuracy_ends(60, 100_000))
        write_rows(HERE / "learned_time.csv", [row for k in (3, 5, 20) for row in milliseconds(k, 100)])
        return 0
    if "--moved" in sys.argv:
        write_rows(HERE / "learned_moved.csv", moved_rows(100))
        return 0
    rows = coverage(kinds, 120)
    write_rows(HERE / "learned_coverage.csv", rows)
    (HERE / "learned_table.inc").write_text(markdown(summary_rows(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
