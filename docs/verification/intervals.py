"""Rebuild the coverage of intervals by name: ``python -m uv run python docs/verification/intervals.py`` (a minute).

By enumeration of every outcome: nothing is simulated but the bootstrap itself. Writes intervals_proportion.png and
intervals_f1.png (after Figures 5 and 6 of the Morais thesis), intervals.csv and intervals_table.inc,
intervals_matrix.csv and intervals_matrix_table.inc. ``--quick`` runs a small part of it and writes nothing.
"""

import itertools
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from rows import write_rows
from scipy import stats

import bayescm
from bayescm.calibration import coverage_of
from bayescm.distributions import Beta
from bayescm.inference import proportions
from bayescm.inference.intervals import interval

Array = NDArray[np.float64]

HERE = Path(__file__).parent
TRIALS = (10, 20, 50, 100, 1000)
POINTS = 4000
LEVEL = 0.95
ITEMS = (20, 50)
TRUTHS = list(itertools.product((0.5, 0.1), ((0.9, 0.9), (0.7, 0.7), (0.95, 0.6))))
"""Prevalence; recall and specificity."""
OF_MATRICES = ("matthews_correlation", "cohen_kappa", "balanced_accuracy", "f1", "recall")
PROPORTIONS = OF_MATRICES[3:]


def of_prior(a: float, b: float) -> Callable[[Array, Array], tuple[Array, Array]]:
    """Return the equal tails of the posterior under Beta(a, b)."""
    return lambda k, n: Beta(k + a, n - k + b).eti(LEVEL)


METHODS: dict[str, tuple[str, Callable[..., tuple[Array, Array]]]] = {
    "flat": ("Flat prior, equal tails", of_prior(1, 1)),
    "jeffreys_prior": ("Jeffreys prior, equal tails", of_prior(0.5, 0.5)),
    "wilson": ("Wilson", proportions.wilson),
    "clopper_pearson": ("Clopper-Pearson", proportions.clopper_pearson),
    "agresti_coull": ("Agresti-Coull", proportions.agresti_coull),
    "jeffreys": ("Jeffreys, ends moved to 0 and 1", proportions.jeffreys),
    "likelihood_ratio": ("Likelihood ratio", proportions.likelihood_ratio),
    "wald": ("Wald", proportions.wald),
}
F1 = {  # as intervals of the Jaccard index: the map to F1 changes nothing about coverage
    "f1, flat cells": ("F1, 1 per cell", of_prior(1, 2)),
    "f1, jeffreys cells": ("F1, 1/2 per cell", of_prior(0.5, 1)),
    "f1, wilson": ("F1, Wilson", proportions.wilson),
}


def coverage(method: Callable[..., tuple[Array, Array]], n: int, p: Array) -> Array:
    """Return the exact probability, for every p, that the interval of a binomial of n holds it."""
    return np.asarray(coverage_of(lambda k: method(k, np.full(len(k), float(n))), p, n)["coverage"])


def row(name: str, method: Callable[..., tuple[Array, Array]], n: int, points: int = POINTS) -> dict[str, object]:
    """Return mean coverage over p, and the lowest in the middle and anywhere, on both sides of every jump."""
    grid = (np.arange(points) + 0.5) / points
    ends = np.concatenate(method(np.arange(n + 1.0), np.full(n + 1, float(n))))
    everywhere = np.unique(np.concatenate([grid, ends - 1e-12, ends + 1e-12]))
    everywhere = everywhere[(everywhere > 0) & (everywhere < 1)]
    found = coverage(method, n, everywhere)
    middle = (everywhere >= 0.05) & (everywhere <= 0.95)
    values = coverage(method, n, grid).mean(), found[middle].min(), found.min()
    return {"interval": name, "trials": n} | dict(zip(COLUMNS, (round(float(v), 4) for v in values), strict=True))


COLUMNS = ("mean", "lowest_0.05_to_0.95", "lowest")


def of_f1(positives: int, negatives: int, weight: float, precision: Array, recall: Array) -> Array:
    """Return the coverage of the credible interval of F1 over (precision, recall), class totals fixed.

    TP and FP are independent binomials; the rate of false positives follows from precision and recall, and where it
    exceeds 1 there is no such classifier (NaN).
    """
    tp, fp = np.meshgrid(np.arange(positives + 1.0), np.arange(negatives + 1.0), indexing="ij")
    lower, upper = Beta(tp + weight, positives - tp + fp + 2 * weight, link="f1").eti(LEVEL)
    found = np.full((len(precision), len(recall)), np.nan)
    for j, r in enumerate(recall):
        rates = r * (1 - precision) / precision * positives / negatives
        for i in np.flatnonzero(rates <= 1):
            truth = 2 * precision[i] * r / (precision[i] + r)
            inside = (lower <= truth) & (truth <= upper)
            found[i, j] = stats.binom.pmf(tp[:, 0], positives, r) @ inside @ stats.binom.pmf(fp[0], negatives, rates[i])
    return found


def of_f1_as_drawn(positives: int, negatives: int, precision: Array, recall: Array) -> Array:
    """Return what the thesis' program computes, exactly: how often F1 of a new sample lies in ONE matrix's interval.

    The matrix is the rounded expected one. A new precision and a new recall are independent binomial shares.
    """
    found = np.full((len(precision), len(recall)), np.nan)
    for j, r in enumerate(recall):
        tp = round(r * positives)
        new_recall = np.arange(positives + 1)[:, None] / positives
        mass = stats.binom.pmf(np.arange(positives + 1), positives, r)
        for i, p in enumerate(precision):
            fp = round(tp * (1 - p) / p)
            if fp > negatives:
                continue
            lower, upper = Beta(np.array(tp + 1.0), np.array(fp + positives - tp + 2.0), link="f1").eti(LEVEL)
            new_precision = np.arange(tp + fp + 1) / (tp + fp)
            total = new_precision + new_recall
            new_f1 = 2 * new_precision * new_recall / np.where(total > 0, total, 1)
            inside = (lower <= new_f1) & (new_f1 <= upper)
            found[i, j] = mass @ inside @ stats.binom.pmf(np.arange(tp + fp + 1), tp + fp, p)
    return found


def of_matrices(method: str, n: int, draws: int) -> list[dict[str, object]]:
    """Return the coverage of intervals of metrics of matrices of n items, per truth: of all possible matrices."""
    first = np.array(list(itertools.combinations(range(n + 3), 3)))  # stars and bars
    cells = np.diff(np.c_[np.full(len(first), -1), first, np.full(len(first), n + 3)]) - 1
    counts = bayescm.from_array(cells.reshape(-1, 2, 2), dims="matrix")
    metrics = PROPORTIONS if method == "wilson" else OF_MATRICES
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        result = (
            bayescm.summary(counts, metrics, ci_prob=LEVEL, draws=draws, random_seed=1)
            if method == "summary"
            else interval(counts, metrics, method, ci_prob=LEVEL, draws=draws, random_seed=1)
        )
    found = result["interval"].values
    rows: list[dict[str, object]] = []
    for prevalence, (recall, specificity) in TRUTHS:
        rates = np.array([[specificity, 1 - specificity], [1 - recall, recall]])
        theta = rates * [[1 - prevalence], [prevalence]]
        mass = stats.multinomial.pmf(cells, n, theta.ravel())
        for i, metric in enumerate(metrics):
            truth = float(bayescm.metrics.compute(bayescm.metrics.resolve(metric, 2), theta)[0])
            lower, upper = found[:, i].T
            exists = ~np.isnan(lower)
            inside = (lower <= truth + 1e-12) & (truth - 1e-12 <= upper)
            share = mass[exists].sum()
            rows.append({
                "method": method, "items": n, "prevalence": prevalence, "recall": recall, "specificity": specificity,
                "metric": metric, "coverage": round(float(mass[inside].sum() / share), 4),
                "without_interval": round(float(1 - share), 4),
            })  # fmt: skip
    return rows


def matrix_table(rows: list[dict[str, object]]) -> str:
    """Return the table of the page: mean over the truths and the worst truth, per method, size and metric."""
    lines = ["| method | items | " + " | ".join(OF_MATRICES) + " |", "|---|---|" + "---|" * len(OF_MATRICES)]
    for (method, n), group in itertools.groupby(rows, lambda r: (r["method"], r["items"])):
        mine = list(group)
        cells = []
        for metric in OF_MATRICES:
            values = np.array([r["coverage"] for r in mine if r["metric"] == metric], float)
            cells.append(f"{values.mean():.2f} / {values.min():.2f}" if len(values) else "")
        lines.append(f"| `{method}` | {n} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def write(name: str, rows: list[dict[str, object]], text: str) -> None:
    """Write all numbers as csv, and the table of the page."""
    write_rows(HERE / f"{name}.csv", rows)
    (HERE / f"{name}_table.inc").write_text(text)


def draw_proportion(n: int = 100) -> plt.Figure:
    """Draw coverage against p, one panel per method."""
    p = (np.arange(4000) + 0.5) / 4000
    figure, axes = plt.subplots(2, 4, figsize=(11, 4.6), sharex=True, sharey=True, layout="constrained")
    for i, (ax, (name, method)) in enumerate(zip(axes.flat, METHODS.values(), strict=True)):
        found = coverage(method, n, p)
        ax.axhline(LEVEL, color="0.35", linewidth=0.8)
        ax.plot(p, found, color="C0" if i < 5 else "C1", linewidth=0.7)
        ax.set_title(name, fontsize=9)
        ax.text(0.5, 0.853, f"mean {found.mean():.3f}", ha="center", va="bottom", fontsize=8, color="0.3")
        ax.set(ylim=(0.85, 1.002), xlim=(0, 1), xticks=[0, 0.5, 1], yticks=[0.85, 0.9, 0.95, 1])
        ax.grid(color="0.92")
    figure.supxlabel("true proportion p", fontsize=9)
    figure.supylabel("coverage", fontsize=9)
    figure.suptitle(
        f"Coverage of 95% intervals for a proportion, {n} trials, exact (blue: as in the thesis)", fontsize=10
    )
    return figure


def draw_f1(panels: dict[str, Array], precision: Array, recall: Array) -> plt.Figure:
    """Draw coverage over the (recall, precision) plane."""
    figure, axes = plt.subplots(1, len(panels), figsize=(11, 4.1), sharey=True, layout="constrained")
    colors = plt.get_cmap("RdBu_r").copy()
    colors.set_bad("0.8")
    for ax, (title, found) in zip(axes, panels.items(), strict=True):
        image = ax.pcolormesh(recall, precision, found, cmap=colors, vmin=0.9, vmax=1.0, rasterized=True)
        ax.set_title(title, fontsize=9)
        ax.set(xlabel="recall", aspect="equal", xticks=[0, 0.5, 1], yticks=[0, 0.5, 1], xlim=(0, 1), ylim=(0, 1))
        ax.set_facecolor("0.8")
        ax.text(0.65, 0.12, "no such\nclassifier", ha="center", fontsize=8, color="0.3")
    axes[0].set_ylabel("precision")
    figure.suptitle("95% credible interval of F1, 100 positives and 100 negatives, exact", fontsize=10)
    figure.colorbar(image, ax=axes, extend="min", label="coverage", shrink=0.85)
    return figure


def table(rows: list[dict[str, object]]) -> str:
    """Return the table of the page: mean, lowest in the middle and lowest anywhere, per interval and trials."""
    titles = {name: title for name, (title, _) in (METHODS | F1).items()}
    lines = ["| interval | " + " | ".join(f"n = {n}" for n in TRIALS) + " |", "|---|" + "---|" * len(TRIALS)]
    for name, title in titles.items():
        mine = [r for r in rows if r["interval"] == name]
        cells = [f"{r['mean']:.3f} / {r[COLUMNS[1]]:.2f} / {r['lowest']:.2f}" for r in mine]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    mpl.use("agg")
    quick = "--quick" in sys.argv
    trials, points = (TRIALS[:2], 1000) if quick else (TRIALS, POINTS)
    rows = [row(name, m, n, points) for name, (_, m) in (METHODS | F1).items() for n in trials]
    rates = np.linspace(0.1, 0.9, 3) if quick else np.arange(1, 100) / 100
    panels = {
        "As the thesis' program has it:\nF1 of new samples in one interval": of_f1_as_drawn(100, 100, rates, rates),
        "Coverage of the true F1,\n1 per cell (as the thesis)": of_f1(100, 100, 1.0, rates, rates),
        "Coverage of the true F1,\n1/2 per cell (bayescm's default)": of_f1(100, 100, 0.5, rates, rates),
    }
    for title, found in panels.items():
        inner = found[np.ix_((rates > 0.1) & (rates < 0.9), (rates > 0.1) & (rates < 0.9))]
        print(title.replace("\n", " "), "mean", np.nanmean(found).round(4), "lowest", np.nanmin(found).round(4),
              "inner: mean", np.nanmean(inner).round(4), "lowest", np.nanmin(inner).round(4))  # fmt: skip
    matrices = [
        r
        for m in ("delta", "bootstrap", "wilson", "summary")
        for n in ((6,) if quick else ITEMS)
        for r in of_matrices(m, n, 1000)
    ]
    print(matrix_table(matrices))
    if not quick:
        write("intervals", rows, table(rows))
        write("intervals_matrix", matrices, matrix_table(matrices))
        draw_proportion().savefig(HERE / "intervals_proportion.png", dpi=90)
        draw_f1(panels, rates, rates).savefig(HERE / "intervals_f1.png", dpi=90)
