"""Check intervals of items that come in units: ``python -m uv run python docs/verification/units.py`` (a quarter hour).

How often 95% intervals hold the truth where units, such as patients, have rates of their own (Betas, of which the
intraclass correlation is that of items of a unit): 3 to 150 units, equal, skewed and lopsided sizes, sizes that go with
accuracy, five and ten classes, rare cases, areas under curves. By the items, as if independent; by percentiles of
resampled units; by Student's t of the linearised metric (cluster-robust); and by the units' posterior. Then how often
equal systems on the same units are called different. Writes units_coverage.csv, units_pairs.csv and units_table.inc.
``--quick`` runs five kinds and a pair, writes nothing and fails where the units' posterior holds the truth too seldom.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rows import markdown, write_rows
from scipy import stats

import bayescm
from bayescm.inference.read import read
from bayescm.metrics import compute, resolve

Array = NDArray[np.float64]
Ends = dict[str, Array]

HERE = Path(__file__).parent
TAILS = [0.025, 0.975]
DRAWS = 1000
METRICS = ("recall", "f1", "accuracy")
METHODS = ("items", "bootstrap", "robust t", "units")
LEAST = 0.86
"""Coverage below which a quick run of 100 samples fails: of .94 one in a thousand falls as low."""


class Kind(NamedTuple):
    """How samples of units with matrices come about."""

    units: int
    icc: float = 0.3
    sizes: str = "about 5"
    prevalence: float = 0.4
    classes: int = 2
    average: str = "items"


KINDS = {
    **{f"{n} units": Kind(n) for n in (3, 5, 8, 15, 40, 150)},
    **{f"{n} units, ICC 0": Kind(n, 0.0) for n in (8, 40)},
    **{f"{n} units, ICC .6": Kind(n, 0.6) for n in (8, 40)},
    **{f"{n} units, log-normal sizes": Kind(n, sizes="log-normal") for n in (10, 40)},
    "10 units, one with half of all items": Kind(10, sizes="one giant"),
    "40 units, one with half of all items": Kind(40, sizes="one giant"),
    "40 units, large ones worse": Kind(40, sizes="informative"),
    "40 units, large ones worse, mean of units": Kind(40, sizes="informative", average="units"),
    "15 units, mean of units": Kind(15, average="units"),
    "40 units, 5% cases": Kind(40, prevalence=0.05),
    "150 units, 2% cases": Kind(150, prevalence=0.02),
    **{f"{n} units, 5 classes": Kind(n, classes=5) for n in (10, 40)},
    "40 units, 10 classes": Kind(40, classes=10),
}


def beta(rng: np.random.Generator, mean: float | Array, icc: float, n: int) -> Array:
    """Draw the rates of units."""
    if icc == 0.0:
        return np.broadcast_to(np.asarray(mean, np.float64), n)
    c = (1.0 - icc) / icc
    return rng.beta(mean * c, (1.0 - np.asarray(mean)) * c, n)


def sizes(rng: np.random.Generator, kind: Kind) -> NDArray[np.int64]:
    """Draw the numbers of items of units."""
    n = rng.poisson(4, kind.units) + 1
    if kind.sizes == "log-normal":
        return np.maximum(np.round(rng.lognormal(1.2, 1.0, kind.units)), 1).astype(np.int64)
    if kind.sizes == "informative":
        return np.where(rng.random(kind.units) < 0.3, 15, 3)
    if kind.sizes == "one giant":
        n[0] = n[1:].sum()
    return n


def sample(rng: np.random.Generator, kind: Kind) -> NDArray[np.int64]:
    """Draw the matrices of units."""
    n, k = sizes(rng, kind), kind.classes
    worse = np.where(n > 10, 0.2, 0.0) if kind.sizes == "informative" else 0.0
    if k > 2:
        right = beta(rng, 0.75, kind.icc, kind.units)
        made = np.zeros((kind.units, k, k), np.int64)
        for counts, size, p in zip(made, n, right, strict=True):
            y = rng.integers(0, k, size)
            np.add.at(counts, (y, np.where(rng.random(size) < p, y, (y + rng.integers(1, k, size)) % k)), 1)
        return made
    cases = rng.binomial(n, beta(rng, kind.prevalence, kind.icc, kind.units))
    tp = rng.binomial(cases, beta(rng, 0.8 - worse, kind.icc, kind.units))
    fp = rng.binomial(n - cases, beta(rng, 0.1 + worse, kind.icc, kind.units))
    return np.stack([n - cases - fp, fp, cases - tp, tp], -1).reshape(-1, 2, 2)


def truth(kind: Kind) -> dict[str, float]:
    """Return the metrics of the population."""
    if kind.classes > 2:
        return {"f1_macro": 0.75, "accuracy": 0.75}
    many = sample(
        np.random.default_rng(1), kind._replace(units=400_000, sizes=kind.sizes.replace("one giant", "about"))
    )
    if kind.average == "units":
        values = compute(resolve(["recall", "accuracy"], 2), many)
        return dict(zip(("recall", "accuracy"), [float(np.nanmean(one)) for one in values], strict=True))
    return dict(zip(METRICS, map(float, compute(resolve(list(METRICS), 2), many.sum(0))), strict=True))


def intervals(counts: NDArray[np.int64], kind: Kind, names: list[str], seed: int) -> dict[str, Ends]:
    """Return the ends of each metric by each method."""
    metrics, n = resolve(names, kind.classes), len(counts)
    data = bayescm.from_array(counts, dims="unit")

    def ends(values: list[Array]) -> Ends:
        return dict(zip(names, (np.nanquantile(one, TAILS, axis=-1) for one in values), strict=True))

    rng = np.random.default_rng(seed)
    marked = data.assign_attrs(unit="unit")
    by_unit = read(marked, average=kind.average, draws=DRAWS, random_seed=seed).whole()[0]
    by_item = read(counts.sum(0), draws=DRAWS, random_seed=seed).whole()[0]
    found = {"units": ends(by_unit.draws(metrics)), "items": ends(by_item.draws(metrics))}
    if kind.average == "items":
        picks = rng.multinomial(n, np.full(n, 1 / n), DRAWS)
        with np.errstate(invalid="ignore"):
            found["bootstrap"] = ends(compute(metrics, np.tensordot(picks, counts, 1)))
        found["robust t"] = {name: robust(counts, name) for name in names if name != "f1_macro"}
    return found


def robust(counts: NDArray[np.int64], name: str) -> Array:
    """Return Student's t interval of a ratio of sums over units."""
    right = np.diagonal(counts, 0, 1, 2).sum(1)
    tp, of = counts[:, -1, -1], {"recall": counts[:, -1].sum(1), "accuracy": counts.sum((1, 2))}
    above = {"recall": tp, "accuracy": right, "f1": 2 * tp}[name]
    below = of.get(name, 2 * tp + counts[:, -1, :-1].sum(1) + counts[:, :-1, -1].sum(1))
    n, total = len(counts), below.sum()
    p = above.sum() / max(total, 1)
    se = np.sqrt(n / (n - 1) * ((above - p * below) ** 2).sum()) / max(total, 1)
    return p + stats.t.ppf(0.975, n - 1) * se * np.array([-1.0, 1.0])


def coverage(name: str, kind: Kind, repeats: int, seed: int = 1) -> list[dict[str, Any]]:
    """Return how often each method holds each metric, and how long its intervals are."""
    true, rng = truth(kind), np.random.default_rng(seed)
    held: dict[tuple[str, str], list[tuple[bool, float]]] = {}
    for i in range(repeats):
        counts = sample(rng, kind)
        if kind.classes == 2 and not (counts[:, 1].any() and counts[:, 0].any()):
            continue
        for method, ends in intervals(counts, kind, list(true), i).items():
            for metric, (low, high) in ends.items():
                held.setdefault((metric, method), []).append((low <= true[metric] <= high, high - low))
    return [_row(name, metric, {m: held[metric, m] for m in METHODS if (metric, m) in held}) for metric in true]


def _row(name: str, metric: str, held: dict[str, list[tuple[bool, float]]]) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": name, "metric": metric, "samples": len(held["units"])}
    for method in METHODS:
        hits, widths = zip(*held[method], strict=True) if method in held else ((), ())
        row[method] = round(float(np.mean(hits)), 3) if hits else ""
        row[f"{method}, length"] = round(float(np.mean(widths)), 3) if hits else ""
    return row


class Scored(NamedTuple):
    """How scores of items of units come about: both normal."""

    units: int
    spread: float
    apart: float

    def sample(self, rng: np.random.Generator) -> tuple[NDArray[np.int64], Array, NDArray[np.int64]]:
        """Draw labels, scores and units."""
        unit = np.repeat(np.arange(self.units), rng.poisson(4, self.units) + 1)
        y = (rng.random(len(unit)) < 0.4).astype(np.int64)
        score = self.spread * rng.standard_normal(self.units)[unit] + self.apart * y
        return y, score + rng.standard_normal(len(unit)), unit

    def truth(self) -> tuple[float, float]:
        """Return the areas under the ROC and the PR curve of items of different units."""
        sd = np.sqrt(1.0 + self.spread**2)
        cut = np.linspace(-9.0, 9.0 + self.apart, 20_001)
        t, f = stats.norm.sf(cut, self.apart, sd), stats.norm.sf(cut, 0.0, sd)
        precision = 0.4 * t / (0.4 * t + 0.6 * f)
        return float(stats.norm.cdf(self.apart / sd / np.sqrt(2.0))), float(-np.trapezoid(precision, t))


AREAS = {
    "8 units": Scored(8, 1.0, 1.5), "15 units": Scored(15, 1.0, 1.5), "40 units": Scored(40, 1.0, 1.5),
    "15 units, ICC 0": Scored(15, 0.0, 1.5), "15 units, near 1": Scored(15, 0.5, 3.0),
    "40 units, near 1": Scored(40, 0.5, 3.0),
}  # fmt: skip


def areas(name: str, kind: Scored, repeats: int, seed: int = 1) -> list[dict[str, Any]]:
    """Return how often intervals of areas hold the truth."""
    rng, true = np.random.default_rng(seed), dict(zip(("auc", "average_precision"), kind.truth(), strict=True))
    held: dict[tuple[str, str], list[tuple[bool, float]]] = {}
    for i in range(repeats):
        y, score, unit = kind.sample(rng)
        if min(y.sum(), len(y) - y.sum()) < 2:
            continue
        for method, how in (("items", {}), ("units", {"unit": unit})):
            drawn = bayescm.curve_posterior(y, score, over=None, chains=1, draws=DRAWS, random_seed=i, **how)
            for metric, value in true.items():
                low, high = drawn["posterior"][metric].quantile(TAILS).values
                held.setdefault((metric, method), []).append((low <= value <= high, high - low))
    return [_row(name, metric, {m: held[metric, m] for m in ("items", "units")}) for metric in true]


def pairs(units: int, size: int, icc: float, repeats: int, seed: int = 1) -> dict[str, Any]:
    """Return how often two equal systems on the same units are called different in accuracy."""
    rng, called = np.random.default_rng(seed), {"items": 0, "robust t": 0, "units": 0}
    for i in range(repeats):
        unit = np.repeat(np.arange(units), size)
        y = rng.integers(0, 2, len(unit))
        answers = {name: np.where(rng.random(len(unit)) < beta(rng, 0.8, icc, units)[unit], y, 1 - y) for name in "ab"}
        for method, how in (("items", {}), ("units", {"unit": unit})):
            kept = bayescm.predictions(y, answers, **how)
            found = bayescm.compare_systems(kept, "accuracy", draws=250, random_seed=i)["summary"]
            called[method] += str(found["verdict"].item()) != "undecided"
        apart = np.bincount(unit, (answers["a"] == y) * 1.0 - (answers["b"] == y)) / size
        if apart.any():
            p = stats.ttest_1samp(apart, 0.0).pvalue if apart.std() > 0 else 0.0
            called["robust t"] += p < 0.05
    about = {"units": units, "items of each": size, "ICC": icc, "pairs": repeats}
    return about | {f"by {name}": round(float(n / repeats), 3) for name, n in called.items()}


def shown(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return coverages with lengths beside them."""

    def cell(row: dict[str, Any], method: str) -> str:
        return "" if row[method] == "" else f"{row[method]:.3f} ({row[f'{method}, length']:.2f})"

    return [
        {"kind": row["kind"], "metric": row["metric"]} | {method: cell(row, method) for method in METHODS}
        for row in rows
    ]


def every(repeats: int, parts: Callable[[str], bool]) -> list[dict[str, Any]]:
    """Return the rows of the kinds that are wanted."""
    rows = []
    for study, kinds in ((coverage, KINDS), (areas, AREAS)):
        for name, kind in kinds.items():
            if parts(name):
                rows += study(name, kind, repeats)  # type: ignore[operator]
                print(*shown(rows[-2:]), sep="\n", flush=True)
    return rows


def main() -> int:
    """Run the study and write its tables, or check a few rows."""
    warnings.simplefilter("ignore")  # of few draws
    if "--quick" in sys.argv:
        few = ("8 units", "40 units", "10 units, log-normal sizes", "10 units, 5 classes", "15 units, near 1")
        rows = every(100, lambda name: name in few)
        pair = pairs(10, 10, 0.2, 100)
        print(pair)
        return int(min(row["units"] for row in rows) < LEAST or pair["by units"] > 0.1)
    rows = every(500, lambda name: True)
    of_pairs = [pairs(*kind, 400) for kind in ((10, 10, 0.2), (10, 10, 0.0), (40, 5, 0.3), (8, 20, 0.5))]
    write_rows(HERE / "units_coverage.csv", rows)
    write_rows(HERE / "units_pairs.csv", of_pairs)
    (HERE / "units_table.inc").write_text(markdown(shown(rows)) + "\n" + markdown(of_pairs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
