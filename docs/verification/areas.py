"""Rebuild the study of areas: ``python -m uv run python docs/verification/areas.py`` (25 minutes on one core).

Boyd, Eng and Page 2013, section 4: bias of eight estimators of the area under the PR curve, coverage, width and place
of 95% intervals, in three scenarios; and the coverage of intervals for the AUC with few cases. Writes areas_bias.csv,
areas_coverage.csv, areas_auc.csv, tables and areas_fig4.png to areas_fig8.png, which have the numbers of the
paper's figures. ``--draw`` makes tables and pictures from the files; ``--quick`` runs a small part and writes nothing.
Each fails if a promise of the page is broken.
"""

import csv
import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from rows import write_rows
from scipy import integrate, stats

from bayescm.curves import area_samples, pr_area, roc_area
from bayescm.curves.area_intervals import Areas
from bayescm.curves.area_samples import CODES

Array = NDArray[np.float64]
Row = dict[str, object]

HERE = Path(__file__).parent
QUICK = "--quick" in sys.argv
SCENARIOS = {
    "binormal": (stats.norm(0, 1), stats.norm(1, 1)),
    "bibeta": (stats.beta(2, 5), stats.beta(5, 2)),
    "offset uniform": (stats.uniform(0, 1), stats.uniform(0.5, 1)),
}
"""Scores of controls and of cases."""
SIZES = (100, 200, 500, 1000, 2000, 5000, 10000) if not QUICK else (100, 2000)
SHARES = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5) if not QUICK else (0.5,)
COVERED = (200, 500, 1000, 2000, 5000, 10000) if not QUICK else (200,)
ESTIMATORS = tuple(name for name in CODES if name != "auc")
"""Boyd's."""
CHOSEN = ("average_precision", "interpolated_median", "lower_trapezoid")
FEW = (1, 2, 5, 20)
CONTROLS = 100
METHODS = ("logit", "binomial", "bootstrap", "bca", "cross_validation", "bayesian", "smoothed")
OF_MANY = ("logit", "binomial", "cross_validation")
"""Methods that many items take: "smoothed" is for few, and the resampling ones would run for hours."""
AUC_METHODS = ("delong", "logit_delong", "hanley_mcneil", "bootstrap", "bca", "bayesian", "smoothed")
ESTIMATES, INTERVALS, AUCS = (5000, 1000, 2000) if not QUICK else (200, 60, 60)
"""Simulated data sets of a setting; of intervals from 5000 items on half as many."""
LOWEST = 0.75
"""Of the coverage that is drawn; what is lower stands on the border, as in the paper."""
DRAWS, FOLDS, LEVEL, PREVALENCE = 1000, 10, 0.95, 0.1


def draw(rng: np.random.Generator, scenario: str, cases: int, controls: int) -> area_samples.Items:
    """Return scores of one data set."""
    normal = {"binormal": (rng.normal(size=controls), rng.normal(1, 1, cases)),
              "bibeta": (rng.beta(2, 5, controls), rng.beta(5, 2, cases)),
              "offset uniform": (rng.random(controls), 0.5 + rng.random(cases))}[scenario]  # fmt: skip
    return area_samples.check_items(np.repeat([0, 1], [controls, cases]), np.concatenate(normal))


def true_area(scenario: str, prevalence: float) -> float:
    """Integrate precision over recall."""
    x, y = SCENARIOS[scenario]

    def precision(t: float) -> float:
        c = y.isf(t)
        return float(prevalence * t / (prevalence * t + (1 - prevalence) * x.sf(c))) if t > 0 else 1.0

    return float(integrate.quad(precision, 0, 1, limit=500, points=[0.5], epsabs=1e-9)[0])


def bias(scenario: str, size: int, prevalence: float) -> list[Row]:
    """Return a row per estimator: mean over data sets divided by the truth, and the ideal width of an interval."""
    cases = round(prevalence * size)
    rng = np.random.default_rng([1, list(SCENARIOS).index(scenario), size, cases])
    found = np.empty((ESTIMATES, len(ESTIMATORS)))
    for i in range(ESTIMATES):
        items = area_samples.at_prevalence(draw(rng, scenario, cases, size - cases), prevalence)
        found[i] = area_samples.values(items, ESTIMATORS)[0]
    truth = true_area(scenario, prevalence)
    low, high = np.quantile(found, [0.025, 0.975], axis=0)
    return [
        {
            "scenario": scenario, "items": size, "cases": cases, "prevalence": prevalence, "true_area": round(truth, 6),
            "estimator": name, "simulations": ESTIMATES, "bias_ratio": round(found[:, k].mean() / truth, 5),
            "se": round(found[:, k].std() / truth / ESTIMATES**0.5, 5),
            "ideal_width": round(high[k] - low[k], 5),
        }
        for k, name in enumerate(ESTIMATORS)
    ]  # fmt: skip


def place(areas: Areas, method: str, estimator: int, low: float, high: float) -> float:
    """Return where an interval stands: the estimate, the median of its draws, or the middle."""
    if method in ("logit", "binomial"):
        return float(areas.point[0, estimator])
    if method == "bootstrap":
        return float(np.median(areas.resampled[:, 0, estimator]))
    if method in ("bayesian", "smoothed"):
        prior = "smoothed" if method == "smoothed" else "prior_item"
        return float(np.median(areas.drawn(0, estimator, prior)))
    return (low + high) / 2


def intervals(areas: Areas, methods: dict[str, Callable[..., object]], names: tuple[str, ...]) -> Array:
    """Return lower and upper bound and place (names of areas, methods, 3)."""
    found = np.full((len(areas.names), len(names), 3), np.nan)
    for (e, _), (k, method) in itertools.product(enumerate(areas.names), enumerate(names)):
        answer = methods[method](areas, 0, e)
        low, high = np.clip([answer.lower, answer.upper], 0, 1)  # type: ignore[attr-defined]
        found[e, k] = low, high, place(areas, method, e, low, high)
    return found


def measured(found: Array, truth: float) -> dict[str, object]:
    """Return coverage (no interval doesn't cover), width and place of intervals (simulations, 3)."""
    low, high, where = found.T
    inside = (low <= truth) & (truth <= high)
    n = len(found)
    nothing = np.isnan(low)
    return {
        "simulations": n, "coverage": round(inside.mean(), 4),
        "se": round((inside.mean() * (1 - inside.mean()) / n) ** 0.5, 4),
        "truth_below": round((truth < low).mean(), 4), "truth_above": round((truth > high).mean(), 4),
        "no_interval": round(nothing.mean(), 4),
        "mean_width": round(float((high - low)[~nothing].mean()), 5) if not nothing.all() else "",
        "place_ratio": round(float(where[~nothing].mean()) / truth, 5) if not nothing.all() else "",
    }  # fmt: skip


def coverage(scenario: str, size: int, ideal: dict[str, float]) -> list[Row]:
    """Return a row per estimator and method."""
    cases = round(PREVALENCE * size)
    methods = METHODS if size <= 1000 else METHODS[:-1] if size <= 5000 else OF_MANY
    rng = np.random.default_rng([2, list(SCENARIOS).index(scenario), size])
    found = np.empty((INTERVALS // (1 if size < 5000 else 2), len(CHOSEN), len(methods), 3))
    for i in range(len(found)):
        items = area_samples.at_prevalence(draw(rng, scenario, cases, size - cases), PREVALENCE)
        areas = Areas(items, CHOSEN, cases, LEVEL, DRAWS, FOLDS, int(rng.integers(2**62)))
        found[i] = intervals(areas, pr_area.METHODS, methods)
    truth = true_area(scenario, PREVALENCE)
    made: list[Row] = []
    for (e, estimator), (k, method) in itertools.product(enumerate(CHOSEN), enumerate(methods)):
        row = measured(found[:, e, k], truth)
        ratio = round(float(str(row["mean_width"])) / ideal[estimator], 4)
        made.append({
            "scenario": scenario, "items": size, "cases": cases, "estimator": estimator, "method": method, **row,
            "width_ratio": ratio,
        })  # fmt: skip
    return made


def few_cases(cases: int) -> list[Row]:
    """Return a row per method for the AUC of binormal scores."""
    rng = np.random.default_rng([3, cases])
    found = np.empty((AUCS, len(AUC_METHODS), 3))
    for i in range(AUCS):
        items = draw(rng, "binormal", cases, CONTROLS)
        areas = Areas(items, ("auc",), cases, LEVEL, DRAWS, FOLDS, int(rng.integers(2**62)))
        found[i] = intervals(areas, roc_area.METHODS, AUC_METHODS)[0]
    truth = float(stats.norm.cdf(2**-0.5))
    return [
        {"cases": cases, "controls": CONTROLS, "method": method, **measured(found[:, k], truth)}
        for k, method in enumerate(AUC_METHODS)
    ]


def number(row: Row, column: str) -> float:
    """Return a number of a row."""
    return float(str(row[column]))


def broken(biases: list[Row], covered: list[Row], aucs: list[Row]) -> list[str]:
    """Return the promises of the page that rows don't keep; a mean may miss by four of its standard errors."""
    said = []
    for row in biases:
        name, ratio, margin = str(row["estimator"]), number(row, "bias_ratio"), 4 * number(row, "se")
        sound = name in CHOSEN or (name == "binormal" and row["scenario"] == "binormal")
        if sound and number(row, "cases") >= 200 and abs(ratio - 1) > 0.03 + margin:
            said.append(f"bias of {name}: {row}")
        if name in ("interpolated_convex", "upper_trapezoid", "interpolated_max") and ratio < 1 - margin:
            said.append(f"{name} is below the truth: {row}")
    return said + [f"coverage: {row}" for row in covered + aucs if not promised(row)]


def promised(row: Row) -> bool:
    """Return whether an interval covers what the page says, at least."""
    if "estimator" in row:
        least = {"logit": 0.95, "binomial": 0.95, "bootstrap": 0.89, "bca": 0.92, "bayesian": 0.91, "smoothed": 0.935}
        wanted = least.get(str(row["method"]), 0.0)
    else:
        bayesian = {1: 0.85, 2: 0.88, 5: 0.93, 20: 0.94}[int(number(row, "cases"))]
        wanted = {"bayesian": bayesian, "smoothed": 0.95}.get(str(row["method"]), 0.0)
    return number(row, "coverage") >= wanted - 4 * max(number(row, "se"), 0.001)


def bias_table(made: list[Row]) -> str:
    """Return the bias ratios at prevalence 0.1: a line per estimator, a column per scenario and size."""
    sizes = [100, 1000, 10000]
    columns = list(itertools.product(SCENARIOS, sizes))
    lines = [
        "| estimator | " + " | ".join(f"{scenario}, {size}" for scenario, size in columns) + " |",
        "|---|" + "---|" * len(columns),
    ]
    for name in ESTIMATORS:
        cells = []
        for scenario, size in columns:
            (row,) = (r for r in made if (r["scenario"], r["items"], r["prevalence"], r["estimator"])
                      == (scenario, size, PREVALENCE, name))  # fmt: skip
            cells.append(f"{number(row, 'bias_ratio'):.3f}")
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def coverage_table(made: list[Row]) -> str:
    """Return coverage and width ratio of average precision: a line per method and scenario, a column per size."""
    lines = [
        "| scenario | method | " + " | ".join(f"{size // 10} of {size}" for size in COVERED) + " |",
        "|---|---|" + "---|" * len(COVERED),
    ]
    for scenario, method in itertools.product(SCENARIOS, METHODS):
        mine = [r for r in made
                if (r["scenario"], r["method"], r["estimator"]) == (scenario, method, CHOSEN[0])]  # fmt: skip
        cells = [f"{number(r, 'coverage'):.3f} / {number(r, 'width_ratio'):.2f}" for r in mine]
        cells += [""] * (len(COVERED) - len(cells))
        if mine:
            lines.append(f"| {scenario} | `{method}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def method_table(made: list[Row]) -> str:
    """Return the range of coverage and width ratio of each method, over scenarios, estimators and sizes."""
    lines = ["| method | coverage: lowest | mean | highest | mean width / ideal width |", "|---|---|---|---|---|"]
    for method in METHODS:
        covered, widths = (
            np.array([number(r, column) for r in made if r["method"] == method])
            for column in ("coverage", "width_ratio")
        )
        if len(covered):
            lines.append(
                f"| `{method}` | {covered.min():.3f} | {covered.mean():.3f} | {covered.max():.3f} | "
                f"{widths.min():.2f} to {widths.max():.2f} |"
            )
    return "\n".join(lines) + "\n"


def auc_table(made: list[Row]) -> str:
    """Return coverage and mean width: a line per method, a column per number of cases."""
    titles = ["1 case", *(f"{n} cases" for n in FEW[1:])]
    lines = ["| method | " + " | ".join(titles) + " |", "|---|" + "---|" * len(FEW)]
    for method in AUC_METHODS:
        cells = []
        for row in (r for r in made if r["method"] == method):
            none = number(row, "no_interval")
            width = "none" if none == 1 else f"{number(row, 'coverage'):.3f} / {number(row, 'mean_width'):.2f}"
            cells.append(width + (f" ({none:.1%} none)" if 0 < none < 1 else ""))
        lines.append(f"| `{method}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def words(name: str) -> str:
    """Return the name of an estimator or a method as one reads it."""
    return {"bca": "BCa bootstrap", "bayesian": "Bayesian"}.get(name, name.replace("_", " "))


def lines(made: list[Row], x: str, names: tuple[str, ...]) -> plt.Figure:
    """Draw the bias ratio of every estimator against a column, a panel per scenario; thick are the sound ones."""
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 4), sharey=True, layout="constrained")
    for ax, scenario in zip(axes, SCENARIOS, strict=True):
        ax.axhline(1, color="0.35", linewidth=1)
        for k, name in enumerate(names):
            mine = [r for r in made if (r["scenario"], r["estimator"]) == (scenario, name)]
            mine.sort(key=lambda r: number(r, x))
            sound = name in CHOSEN
            ax.plot([number(r, x) for r in mine], [number(r, "bias_ratio") for r in mine], marker="os^vDPX*"[k],
                    markersize=6 if sound else 4, linewidth=2.2 if sound else 0.9, alpha=1.0 if sound else 0.75,
                    color=f"C{k}", label=words(name))  # fmt: skip
        ax.set_xscale("log")
        if x == "prevalence":
            ax.set_yscale("log")
            ax.set_yticks([0.4, 0.5, 0.7, 1, 1.5, 2, 3], ["0.4", "0.5", "0.7", "1", "1.5", "2", "3"])
        ticks = sorted({number(r, x) for r in made})
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks], rotation=45, fontsize=8)
        ax.minorticks_off()
        ax.set_title(scenario, fontsize=10)
        ax.grid(axis="y", color="0.92")
    axes[0].set_ylabel("estimate / true area", fontsize=9)
    figure.supxlabel({"items": "items, a tenth of them cases", "prevalence": "prevalence, 1000 items"}[x], fontsize=9)
    figure.legend(*axes[0].get_legend_handles_labels(), ncols=4, loc="outside upper center", fontsize=9)
    return figure


def grid(made: list[Row], y: str, label: str, methods: tuple[str, ...]) -> plt.Figure:
    """Draw one column of the coverage study against the items: a row per scenario, a column per estimator."""
    figure, axes = plt.subplots(3, 3, figsize=(10, 8.5), sharex=True, sharey="row" if y != "coverage" else True,
                                layout="constrained")  # fmt: skip
    for (i, scenario), (j, estimator) in itertools.product(enumerate(SCENARIOS), enumerate(CHOSEN)):
        ax = axes[i, j]
        ax.axhline(LEVEL if y == "coverage" else 1, color="0.35", linewidth=1)
        for method in methods:
            k = METHODS.index(method)
            mine = [r for r in made if (r["scenario"], r["estimator"], r["method"]) == (scenario, estimator, method)]
            across, up = (np.array([number(r, c) for r in mine]) for c in ("items", y))
            if y == "coverage":
                up = np.maximum(up, LOWEST)
            (line,) = ax.plot(across, up, marker="os^vDPX"[k], markersize=5, linewidth=1, color=f"C{k}",
                              label=words(method), clip_on=False, alpha=0.9)  # fmt: skip
            line.set_in_layout(False)
        ax.set_xscale("log")
        ax.set_xticks(COVERED, [str(size) for size in COVERED], fontsize=8)
        ax.minorticks_off()
        if y == "coverage":
            ax.set_ylim(LOWEST, 1)
        if i == 0:
            ax.set_title(words(estimator), fontsize=10)
        if j == 0:
            ax.set_ylabel(scenario, fontsize=10)
        ax.grid(axis="y", color="0.92")
    figure.supxlabel("items, a tenth of them cases", fontsize=9)
    figure.supylabel(label, fontsize=9)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), ncols=7, loc="outside upper center", fontsize=9)
    return figure


def write(biases: list[Row], covered: list[Row], aucs: list[Row]) -> None:
    """Write the tables and the pictures of the page."""
    for name, made, table in (
        ("bias", biases, bias_table), ("coverage", covered, coverage_table), ("methods", covered, method_table),
        ("auc", aucs, auc_table),
    ):  # fmt: skip
        (HERE / f"areas_{name}_table.inc").write_text(table(made))
    by_size = [r for r in biases if r["prevalence"] == PREVALENCE]
    by_share = [r for r in biases if r["items"] == 1000]
    figures = {
        4: lines(by_size, "items", ESTIMATORS),
        5: lines(by_share, "prevalence", ESTIMATORS),
        6: grid(covered, "coverage", "coverage of 95% intervals", METHODS),
        7: grid(covered, "width_ratio", "mean width / ideal width", METHODS),
        8: grid(covered, "place_ratio", "place of the interval / true area", METHODS[1:]),
    }  # fmt: skip
    for k, figure in figures.items():
        figure.savefig(HERE / f"areas_fig{k}.png", dpi=90, pil_kwargs={"optimize": True})


def read(name: str) -> list[Row]:
    """Read the rows that a run has written."""
    whole = ("items", "cases", "prevalence")
    with (HERE / f"areas_{name}.csv").open(encoding="utf-8") as table:
        return [{c: float(v) if c in whole else v for c, v in row.items()} for row in csv.DictReader(table)]


def run() -> tuple[list[Row], list[Row], list[Row]]:
    """Simulate everything, and keep what is done."""
    start = time.perf_counter()
    biases: list[Row] = []
    covered: list[Row] = []
    aucs: list[Row] = []

    def done(what: str) -> None:
        for name, made in (("bias", biases), ("coverage", covered), ("auc", aucs)):
            if made and not QUICK:
                write_rows(HERE / f"areas_{name}.csv", made)
        print(f"{what}: {time.perf_counter() - start:.0f} s", flush=True)

    for cases in FEW:
        aucs += few_cases(cases)
        done(f"AUC, {cases} cases")
    settings = [*((size, PREVALENCE) for size in (*SIZES, *COVERED)), *((1000, share) for share in SHARES)]
    for scenario, (size, share) in itertools.product(SCENARIOS, dict.fromkeys(settings)):
        biases += bias(scenario, size, share)
        done(f"bias, {scenario}, {size} items, prevalence {share}")
    for size, scenario in itertools.product(COVERED, SCENARIOS):
        ideal = {str(r["estimator"]): number(r, "ideal_width") for r in biases
                 if (r["scenario"], r["items"], r["prevalence"]) == (scenario, size, PREVALENCE)}  # fmt: skip
        covered += coverage(scenario, size, ideal)
        done(f"coverage, {scenario}, {size} items")
    return biases, covered, aucs


if __name__ == "__main__":
    mpl.use("agg")
    found = (read("bias"), read("coverage"), read("auc")) if "--draw" in sys.argv else run()
    if not QUICK:
        write(*found)
        print(bias_table(found[0]))
    print(coverage_table(found[1]), auc_table(found[2]), sep="\n")
    sys.exit("\n".join(broken(*found)) or None)
