"""Check sums of Betas of K classes: ``python -m uv run python docs/verification/classes.py`` (some minutes).

Macro recall under one Dirichlet and the Jeffreys prior: probabilities against 10^7 draws, how often intervals hold
beside those of 10^4 draws, and how long they take beside these, one thread; and at known shares classes of very
different sizes against 2 10^5 draws. Writes classes_error.csv, classes_mixed.csv, classes_coverage.csv,
classes_time.csv and classes_table.inc. ``--quick`` checks a few rows, writes nothing and fails if one is off by more
than five standard errors.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rows import write_rows

from bayescm.distributions import Linear, dirichlet, exact_distribution
from bayescm.inference.averages import draws_of
from bayescm.metrics import resolve
from bayescm.priors.concentrations import concentrations

Array = NDArray[np.float64]

HERE = Path(__file__).parent
POINTS = (0.001, 0.025, 0.5, 0.975, 0.999)
FEW = 10_000


def recalls(k: int, items: int, rng: np.random.Generator) -> tuple[Array, Array, float]:
    """Return the concentrations of every class's recall after a test, and the true macro recall."""
    true = rng.beta(8, 2, k)
    right = rng.binomial(items, true)
    return right + 0.5, items - right + 0.5, float(true.mean())


def exact(a: Array, b: Array) -> Linear:
    """Return the distribution of macro recall."""
    return Linear(np.full(len(a), 1.0 / len(a)), a, b)


def narrowest(values: Array) -> tuple[float, float]:
    """Return the narrowest interval of 95% of draws."""
    ordered, out = np.sort(values), len(values) // 20
    start = int(np.argmin(ordered[-out:] - ordered[:out]))
    return float(ordered[start]), float(ordered[start + len(values) - out])


def errors(classes: tuple[int, ...], draws: int) -> list[dict[str, Any]]:
    """Compare quantiles with draws: how many standard errors the share below them is off."""
    found = []
    for k in classes:
        rng = np.random.default_rng(k)
        a, b, _ = recalls(k, 12, rng)
        x = exact(a, b).ppf(np.array(POINTS))
        below, block = np.zeros(len(x)), 10**5
        for _ in range(draws // block):
            values = np.sort(rng.beta(a, b, (block, k)).mean(1))
            below += np.searchsorted(values, x)
        off = (below / draws - POINTS) / np.sqrt(np.array(POINTS) * (1 - np.array(POINTS)) / draws)
        found.append(
            {"classes": k, "draws": draws, **{f"{p:g}": round(float(z), 2) for p, z in zip(POINTS, off, strict=True)}}
        )
    return found


def mixed(tables: int, draws: int) -> list[dict[str, Any]]:
    """Compare 95% intervals at known shares with draws, for classes of 1 to 10^6.5 items with shares from 10^-6 on."""
    rng = np.random.default_rng(2)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ("accuracy", "specificity", "precision", "f1")}
    for _ in range(tables):
        k = int(rng.integers(3, 8))
        sizes = (10 ** rng.uniform(0, 6.5, k)).astype(int) + 1
        rates = [rng.dirichlet(np.where(np.arange(k) == i, 8, rng.choice([0.03, 0.1, 1]))) for i in range(k)]
        counts = np.array([rng.multinomial(n, p) for n, p in zip(sizes, rates, strict=True)])
        shares = 10 ** rng.uniform(rng.choice([-6, -3, -0.5]), 0, k)
        shares /= shares.sum()
        prior = concentrations(("jeffreys", "laplace", 0.2)[rng.integers(3)], "three_binomial", list(range(k)))
        posterior = dirichlet.posterior(counts, prior, shares)
        metrics = resolve(list(found), k)
        drawn = draws_of(metrics, posterior, rng, draws)
        for metric, values in zip(metrics, drawn, strict=True):
            dist = exact_distribution(metric, posterior, prior)
            if dist is None:
                continue
            one = dist.statistics(0.95, "eti")
            above = [np.abs((values > one[end]).mean(0) - p) for end, p in (("lower", 0.975), ("upper", 0.025))]
            off = np.max(above, 0) / np.sqrt(0.025 * 0.975 / draws)
            found[metric.name] += zip(np.ravel(one["error"]), np.ravel(off), strict=True)
    rows = []
    for name, pairs in found.items():
        error, off = np.array(pairs).T
        more = {f"stated above {p:g}": int((error > p).sum()) for p in (1e-5, 1e-3, 1e-2)}
        rows.append({"metric": name, "distributions": len(error), **more, "largest z": round(float(off.max()), 1)})
    return rows


def coverage(classes: tuple[int, ...], repeats: int) -> list[dict[str, Any]]:
    """Say how often 95% highest-density intervals hold the true macro recall, and how long they are."""
    found = []
    for k in classes:
        for items in (5, 20, 100):
            rng, held, lengths = np.random.default_rng([k, items]), np.zeros(2), np.zeros(2)
            for _ in range(repeats):
                a, b, true = recalls(k, items, rng)
                both = np.array([exact(a, b).hdi(0.95)[:2], narrowest(rng.beta(a, b, (FEW, k)).mean(1))], float)
                held += (both[:, 0] <= true) & (true <= both[:, 1])
                lengths += both[:, 1] - both[:, 0]
            names = ("exact", "drawn", "length, exact", "length, drawn")
            row = dict(zip(names, np.round([*held / repeats, *lengths / repeats], 4).tolist(), strict=True))
            found.append({"classes": k, "items per class": items, "repeats": repeats, **row})
    return found


def milliseconds(run: Callable[[], Any], rounds: int) -> float:
    """Return the median time of a call."""
    taken = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return round(1e3 * float(np.median(taken[1:])), 3)


def times(classes: tuple[int, ...], rounds: int) -> list[dict[str, Any]]:
    """Time the 95% highest-density interval, with and without a class that has no error, beside 10^4 draws."""
    found = []
    for k in classes:
        a, b, _ = recalls(k, 100, np.random.default_rng(k))
        rng, clean = np.random.default_rng(1), np.full(k, 0.5)
        cells = np.where(np.eye(k, dtype=bool), a, np.broadcast_to(b[:, None] / (k - 1), (k, k)))

        def drawn_cells(cells: Array = cells, k: int = k, rng: np.random.Generator = rng) -> Any:
            theta = rng.dirichlet(cells.ravel(), FEW).reshape(FEW, k, k)
            return narrowest((np.diagonal(theta, axis1=1, axis2=2) / theta.sum(2)).mean(1))

        found.append(
            {
                "classes": k,
                "exact, ms": milliseconds(lambda a=a, b=b: exact(a, b).hdi(0.95), rounds),
                "exact, no errors, ms": milliseconds(lambda a=a, b=clean: exact(a, b).hdi(0.95), rounds),
                "10^4 draws of the cells, ms": milliseconds(drawn_cells, rounds if k < 50 else 1),
                "10^4 draws of the recalls, ms": milliseconds(
                    lambda a=a, b=b, k=k, rng=rng: narrowest(rng.beta(a, b, (FEW, k)).mean(1)), rounds
                ),
            }
        )  # fmt: skip
    return found


def markdown(rows: list[dict[str, Any]]) -> str:
    """Return rows as a table."""
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + " ---: |" * len(rows[0])]
    return "\n".join(
        lines + ["| " + " | ".join(v if isinstance(v, str) else f"{v:,}" for v in row.values()) + " |" for row in rows]
    )


def main() -> int:
    """Run the study and write its tables, or check a few rows."""
    quick = "--quick" in sys.argv
    apart = errors((3, 10), 10**5) if quick else errors((3, 5, 10, 20), 10**7)
    few = mixed(1, 10**5) if quick else mixed(40, 2 * 10**5)
    if quick:
        return int(max(abs(row[f"{p:g}"]) for row in apart for p in POINTS) > 5 or max(r["largest z"] for r in few) > 5)
    tables = {"error": apart, "mixed": few, "coverage": coverage((3, 10), 1000), "time": times((3, 10, 30, 100), 15)}
    for name, rows in tables.items():
        write_rows(HERE / f"classes_{name}.csv", rows)
    (HERE / "classes_table.inc").write_text("\n\n".join(map(markdown, tables.values())) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
