"""Rebuild the studies of Urlus et al. 2023: ``python -m uv run python docs/verification/urlus.py`` (8 minutes).

Fig. 2b: mean coverage of Wilks' region and of the ellipse against the size of the test set, with algorithm 2a's
classifiers, 2000 of them by 5000 test sets each (the paper: 5000 by 10,000), so that each mean has a standard error.
The regions of at most 100 items are enumerated in regions.py. Fig. 8: the likelihood ratio at the truth beside
chi-squared, 10 million matrices (as in the paper) and all of them by enumeration. Figs 5 and 6: the scatter of cells,
precision and recall over 1000 hold-outs of a logistic regression on blobs. Writes urlus_coverage.csv,
urlus_coverage_table.inc, urlus_chi2.csv and urlus_hold_outs.csv. ``--quick`` runs a small part of it and writes
nothing. Either fails if a promise of the page is broken.
"""

import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from regions import DRAWN, GROUPS, place, truths
from rows import write_rows
from scipy import special, stats
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression

import bayescm
from bayescm.regions.grid import PR
from bayescm.regions.methods import Ellipse, Method, Wilks

Array = NDArray[np.float64]
Row = dict[str, object]

HERE = Path(__file__).parent
QUICK = "--quick" in sys.argv
LEVELS = (0.683, 0.95, 0.954)
SIZES = (10, 30, 50, 100, 300, 500, 1000, 3000, 10_000, 30_000, 100_000)
TRUTHS, TABLES = (256, 5000) if not QUICK else (8, 200)
"""Classifiers per group, and test sets of each."""
EXPECTED = {40: (205, 40, 45, 210), 5: (245, 5, 150, 100)}
"""Expected cells TN, FP, FN, TP of 500 items, by expected false positives; the paper states these alone."""
MATRICES = 10_000_000 if not QUICK else 100_000
EDGES = np.linspace(0.0, 30.0, 121)
HOLD_OUTS, HELD_OUT = (1000, (100, 300, 1000, 3000, 10_000, 30_000, 100_000)) if not QUICK else (50, (100, 1000))


def coverage(n: int) -> list[Row]:
    """Return a row per method and level: mean error of the coverage over classifiers, in points."""
    drawn, rng = truths(DRAWN, TRUTHS, n), np.random.default_rng([1, n])
    methods: dict[str, Method] = {"wilks": Wilks(PR), "ellipse": Ellipse(PR, np.zeros((2, 2)))}
    inside = np.empty((len(drawn), len(methods), len(LEVELS)))
    without = np.empty(len(drawn))
    for i, p in enumerate(drawn):
        cells = rng.multinomial(n, p, size=TABLES).astype(float)
        y, x = place(PR, p, TABLES)
        for k, method in enumerate(methods.values()):
            inside[i, k] = (method.at(cells, y, x)[1][:, None] <= LEVELS).mean(0)  # NaN isn't
        without[i] = 1 - methods["ellipse"].exists(cells).mean()  # type: ignore[attr-defined]
    made: list[Row] = []
    for k, name in enumerate(methods):
        for c, level in enumerate(LEVELS):
            of_groups = inside[:, k, c].reshape(GROUPS, -1).mean(-1)
            made.append({
                "items": n, "method": name, "level": level, "classifiers": len(drawn), "test_sets": TABLES,
                "error_in_points": round(100 * float(of_groups.mean() - level), 4),
                "se": round(100 * float(of_groups.std(ddof=1)) / GROUPS**0.5, 4),
                "without_region": round(float(without.mean()), 5) if name == "ellipse" else 0.0,
            })  # fmt: skip
    return made


def chi_squared(expected_fp: int) -> list[Row]:
    """Return a row per bin of the likelihood ratio: shares simulated, enumerated, and of chi-squared."""
    p = np.array(EXPECTED[expected_fp]) / 500
    rng = np.random.default_rng([2, expected_fp])
    simulated = np.zeros(len(EDGES) - 1)
    for _ in range(MATRICES // 100_000):
        q = ratio(rng.multinomial(500, p, size=100_000).astype(float), p)
        simulated += np.histogram(q, EDGES)[0]
    enumerated = np.zeros(len(EDGES) - 1)
    _, fp, fn, tp = (likely(share) for share in p)
    plane = np.stack(np.meshgrid(fn, tp, indexing="ij"), -1).reshape(-1, 2)
    for k in fp:
        cells = np.column_stack([500 - k - plane.sum(-1), np.full(len(plane), k), plane])
        cells = cells[cells[:, 0] >= 0].astype(float)
        ways = special.gammaln(501) - special.gammaln(cells + 1).sum(-1)
        enumerated += np.histogram(ratio(cells, p), EDGES, weights=np.exp(ways + cells @ np.log(p)))[0]
    expected = np.diff(stats.chi2.cdf(EDGES, 2))
    return [
        {
            "expected_fp": expected_fp, "from": low, "to": high, "simulated": count / MATRICES,
            "enumerated": float(f"{exact:.9g}"), "chi_squared": float(f"{share:.9g}"),
        }
        for low, high, count, exact, share in zip(
            EDGES[:-1], EDGES[1:], simulated, enumerated, expected, strict=True
        )
    ]  # fmt: skip


def likely(share: float) -> NDArray[np.int64]:
    """Return the counts of a cell of 500 items that have a probability: all but 1e-11 of it."""
    return np.arange(stats.binom.ppf(5e-12, 500, share), stats.binom.isf(5e-12, 500, share) + 1).astype(np.int64)


def ratio(cells: Array, p: Array) -> Array:
    """Return the likelihood ratio statistic of matrices at the truth."""
    return Wilks(PR).deviance(cells, *place(PR, p, len(cells)))


def hold_outs(n: int) -> list[Row]:
    """Return a row per cell and metric: its scatter over hold-outs, and that of independent items."""
    centers = [[0.0, 0.0], [1.6, 0.8]]
    x, y = make_blobs(1000, centers=centers, random_state=0)
    model = LogisticRegression().fit(x, y)
    tables, rng = np.empty((HOLD_OUTS, 2, 2), np.int64), np.random.default_rng([3, n])
    for i in range(HOLD_OUTS):
        ones = int(rng.binomial(n, 0.5))  # make_blobs alone would fix the class totals
        x, y = make_blobs([n - ones, ones], centers=centers, random_state=int(rng.integers(2**31)), shuffle=False)
        tables[i] = np.bincount(2 * y + model.predict(x), minlength=4).reshape(2, 2)
    found = bayescm.calibration.dispersion(bayescm.from_array(tables, dims="hold_out"), random_seed=n)
    cells = [("tn", 0, 0), ("fp", 0, 1), ("fn", 1, 0), ("tp", 1, 1)]
    parts = [(name, "cell", {"actual": a, "predicted": b}) for name, a, b in cells]
    parts += [(name, "metric", {"metric": name}) for name in ("precision", "recall")]
    return [
        {"items": n, "hold_outs": HOLD_OUTS, "of": name}
        | {
            c: float(f"{found[f'{kind}_{c}'].sel(at).item():.6g}")
            for c in ("sd", "sd_expected", "dispersion", "p_value")
        }
        for name, kind, at in parts
    ]


def table(made: list[Row]) -> str:
    """Return the table of the page: mean error in points, per method and level, a column per size."""
    lines = ["| method | level | " + " | ".join(f"{n:,}" for n in SIZES) + " |", "|---|---|" + "---|" * len(SIZES)]
    for name in ("wilks", "ellipse"):
        for level in LEVELS:
            mine = [r for r in made if (r["method"], r["level"]) == (name, level)]
            errors = [round(float(str(r["error_in_points"])), 1) + 0.0 for r in mine]  # not -0.0
            lines.append(f"| `{name}` | {level} | " + " | ".join(f"{error:+.1f}" for error in errors) + " |")
    return "\n".join(lines) + "\n"


def broken(covered: list[Row], ratios: list[Row], scattered: list[Row]) -> list[str]:
    """Return the promises of the page that rows don't keep; a mean may miss by four of its standard errors."""
    said = []
    for row in covered:
        n, error = int(str(row["items"])), abs(float(str(row["error_in_points"])))
        margin = 4 * float(str(row["se"]))
        if row["method"] == "wilks" and error > (3.5 if n < 100 else 1.4 if n < 1000 else 0.6) + margin:
            said.append(f"coverage: {row}")
    for fp in EXPECTED:
        mine = [r for r in ratios if r["expected_fp"] == fp]
        exact, shares = (np.array([float(str(r[c])) for r in mine]) for c in ("enumerated", "simulated"))
        if abs(exact.sum() - 1) > 1e-5 or (abs(shares - exact) > 5 * np.sqrt(exact / MATRICES) + 5 / MATRICES).any():
            said.append(f"likelihood ratio, {fp} false positives: simulated and enumerated differ")
    said += [f"scatter: {row}" for row in scattered if float(str(row["p_value"])) < 1e-3]
    return said


if __name__ == "__main__":
    start = time.perf_counter()
    covered: list[Row] = []
    for size in SIZES if not QUICK else (10, 1000):
        covered += coverage(size)
        print(f"coverage, {size} items: {time.perf_counter() - start:.0f} s", flush=True)
    ratios = [row for fp in EXPECTED for row in chi_squared(fp)]
    print(f"likelihood ratio: {time.perf_counter() - start:.0f} s", flush=True)
    scattered = [row for size in HELD_OUT for row in hold_outs(size)]
    print(f"hold-outs: {time.perf_counter() - start:.0f} s", flush=True)
    if not QUICK:
        for name, made in (("coverage", covered), ("chi2", ratios), ("hold_outs", scattered)):
            write_rows(HERE / f"urlus_{name}.csv", made)
        (HERE / "urlus_coverage_table.inc").write_text(table(covered))
        print(table(covered))
    sys.exit("\n".join(broken(covered, ratios, scattered)) or None)
