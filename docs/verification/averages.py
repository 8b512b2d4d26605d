"""Check averages over classes by conditional draws: ``python -m uv run python docs/verification/averages.py``.

Macro F1 under one Dirichlet and under `three_binomial`, and macro precision under the latter: 20 (20 classes) to 200
replications of what `summary` does with its 40,000 `draws` beside 40,000 plain draws (the cdf's variance is known; of
highest-density intervals a tenth as many), and 200,000 (20 classes) to 4 million plain draws as the truth. Writes
averages.csv and averages_table.inc, after each scenario, and goes on where it stopped (``--new`` begins anew).
``--quick`` checks one scenario with less, writes nothing and fails where a bias is beyond 4.5 standard errors, plain
draws are the better ones or stated errors are wrong by half.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import ast
import csv
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rows import markdown, write_rows

from bayescm.distributions import dirichlet
from bayescm.distributions.sample import Draws
from bayescm.inference.averages import drawn, draws_of
from bayescm.metrics import resolve
from bayescm.priors.concentrations import Concentrations, concentrations

Array = NDArray[np.float64]

HERE = Path(__file__).parent
FILE = HERE / "averages.csv"
LEVELS = np.array([0.025, 0.5, 0.975])
SAMPLES, ENDS = 40_000, ("lower", "upper")
CASES = (("dirichlet_multinomial", "f1_macro"), ("three_binomial", "f1_macro"), ("three_binomial", "precision_macro"))


def counts_of(kind: str, k: int) -> NDArray[np.int64]:
    """Return a matrix: of ten items, of classes of 3 to 10^6 items, or of 30 items per class and no error in half."""
    rng = np.random.default_rng(k)
    rates = np.where(np.eye(k) > 0, 0.8, 0.2 / (k - 1))
    if kind == "10 items":
        return rng.multinomial(10, (rates / k).ravel()).reshape(k, k)
    sizes = np.geomspace(3, 10**6, k).astype(int) if kind == "3 to 10^6 items" else np.full(k, 30)
    if kind == "zero cells":
        rates[: (k + 1) // 2] = np.eye(k)[: (k + 1) // 2]
    return np.array([rng.multinomial(n, p) for n, p in zip(sizes, rates, strict=True)])


def truth(one: Concentrations, name: str, draws: int, x: Array | None = None) -> Array:
    """Return quantiles of plain draws, or their shares up to x."""
    metrics, rng = resolve([name], len(one.rows)), np.random.default_rng(99)
    if x is None:
        return np.asarray(np.quantile(draws_of(metrics, one, rng, 10**5)[0], LEVELS))
    below, block = np.zeros(len(x)), min(draws, 10**6)
    for _ in range(draws // block):
        values = np.sort(draws_of(metrics, one, rng, block)[0])
        below += np.searchsorted(values, x, side="right")
    return below / draws


def scenario(kind: str, k: int, model: str, name: str, repeats: int, draws: int) -> dict[str, Any]:
    """Return variance ratios (plain by conditional), scatter by the stated error, bias and time."""
    prior = concentrations("jeffreys", model, list(range(k)))
    one = dirichlet.posterior(counts_of(kind, k), prior)
    metric = resolve([name], k)[0]
    x = truth(one, name, draws)
    shares = truth(one, name, draws, x)
    found, stated, clock, took = [], [], time.process_time, [0.0, 0.0]
    for seed in range(repeats):
        start = clock()
        each = drawn([metric], one, seed, 0, SAMPLES)[name]
        one_of = each.statistics(0.95, "hdi")
        took[0] += (clock() - start) / repeats
        pairs = [*(each.probability(float(at)) for at in x), *((one_of[e], one_of[f"mcse_{e}"]) for e in ENDS)]
        found.append([value for value, _ in pairs])
        stated.append([error for _, error in pairs])
    plain, times = [], max(repeats // 10, 2)
    for seed in range(times):
        start = clock()
        plain.append(
            Draws(draws_of([metric], one, np.random.default_rng([seed, 5]), SAMPLES)[0]).statistics(0.95, "hdi")
        )
        took[1] += (clock() - start) / times
    variance = [*(shares * (1.0 - shares) / SAMPLES), *(np.var([p[e] for p in plain], ddof=1) for e in ENDS)]
    own = np.var(found, axis=0, ddof=1)
    scatter = np.sqrt(own / np.mean(np.square(stated), axis=0))
    bias = np.mean(found, axis=0)[:3] - shares
    se = np.sqrt(own[:3] / repeats + shares * (1 - shares) / draws)
    names = [*(f"cdf at {p:g}" for p in LEVELS), "HDI, lower", "HDI, upper"]
    return {
        "metric": name, "model": model, "counts": kind, "classes": k,
        **{n: float(f"{value:.3g}") for n, value in zip(names, variance / np.maximum(own, 1e-300), strict=True)},
        "least scatter / stated": round(float(scatter.min()), 2),
        "largest": round(float(scatter.max()), 2),
        "largest bias, z": round(float(np.abs(bias / se).max()), 1), "ms": round(1000 * took[0], 1),
        "ms, plain": round(1000 * took[1], 1), "replications": repeats, "draws": draws,
    }  # fmt: skip


def read() -> list[dict[str, Any]]:
    """Return the rows that are written, numbers as numbers."""
    words = ("metric", "model", "counts")
    with FILE.open(encoding="utf-8") as lines:
        return [{n: v if n in words else ast.literal_eval(v) for n, v in row.items()} for row in csv.DictReader(lines)]


def main() -> int:
    """Run the study and write its table, or check one scenario."""
    if "--quick" in sys.argv:
        row = scenario("10 items", 3, *CASES[0], 40, 10**6)
        wrong = row["largest"] > 1.5 or row["largest bias, z"] > 4.5
        return int(wrong or min(row[f"cdf at {p:g}"] for p in LEVELS) < 1)
    rows = [] if "--new" in sys.argv or not FILE.exists() else read()
    known = [(row["model"], row["metric"], row["classes"], row["counts"]) for row in rows]
    for model, name in CASES:
        for k in (3, 5, 10, 20):
            for kind in ("10 items", "3 to 10^6 items", "zero cells"):
                if (model, name, k, kind) in known:
                    continue
                repeats = 60 if model == "three_binomial" else 200
                repeats, draws = {3: (repeats, 4 * 10**6), 5: (repeats, 10**6), 10: (60, 500_000), 20: (20, 200_000)}[k]
                rows.append(scenario(kind, k, model, name, repeats, draws))
                write_rows(FILE, rows)
                (HERE / "averages_table.inc").write_text(markdown(rows))
                print(rows[-1], flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
