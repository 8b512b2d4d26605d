"""Rebuild Tables 2 and 3 of Caelen (2017): ``python -m uv run python docs/verification/caelen.py`` (15 minutes).

His 16 data sets of UCI (``uci/``), each split at random into three parts of equal class shares: one trains a forest,
one gives a confusion matrix and an interval, one gives a second matrix. How often does the interval hold the second
matrix's value? Where the true value is known, in his equation 9, how often does it hold that? ``--repeats 200`` splits.
Beside his two ways: a second test under Jeffreys' prior, the same with the class totals that stratified splits fix, and
the interval of theta. Writes caelen.csv, caelen_sets.csv, caelen_sequential.csv and caelen_table.inc. ``--quick`` runs
two small sets, writes nothing, and fails if it contradicts the committed table.
"""

import argparse
import csv
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from arviz_stats.base import array_stats
from numpy.typing import NDArray
from rows import write_rows
from scipy import special
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import bayescm

Array = NDArray[np.float64]
Row = dict[str, Any]

HERE = Path(__file__).parent
SETS = {
    "iris": "Iris-versicolor", "wine": "1", "transfusion": "1", "diabetes": "1", "mammographic": "1", "glass": "1",
    "fertility": "Altered", "ecoli": "cp", "abalone": "9", "banknote": "1", "car": "acc", "chess": "won", "sonar": "M",
    "contraceptive": "1", "haberman": "2", "hayes_roth": "1",
}  # fmt: skip
"""Data sets in the paper's order, and the class that it calls positive."""
WITHOUT = "glass_without_number"
"""Glass as it should be: the paper's has the row number, and its rows are sorted by class."""
EQUATION_9 = "equation_9"
LEVELS = (0.9, 0.95, 0.99)
METRICS = ("accuracy", "f1", "fowlkes_mallows")
METHODS = {
    "algorithm_1": "Algorithm 1, an empty cell stays empty",
    "algorithm_2": "Algorithm 2, bootstrap",
    "replicate": "second test, Jeffreys",
    "replicate_fixed": "second test, Jeffreys, class totals fixed",
    "theta": "theta, Jeffreys",
}
DRAWS, TREES = 1000, 100
MORE = 40_000
"""Draws of Algorithm 4 in the paper; the ends of an interval of 1,000 are noisier than it is long."""
RUNS, STEPS = 200, (1, 2, 5, 10, 20, 50, 100, 150, 200, 250, 300)


def features(name: str) -> tuple[Array, NDArray[np.bool_]]:
    """Return the inputs of a data set, words as codes in alphabetical order, and which rows are positive."""
    data = pd.read_csv(HERE / "uci" / f"{name.removesuffix('_without_number')}.csv.gz", header=None, na_values="?")
    inputs = data.iloc[:, :-1]
    codes = inputs.select_dtypes(exclude="number").columns
    inputs = inputs.assign(**{str(c): inputs[c].astype("category").cat.codes for c in codes}).drop(columns=codes)
    if name == "hayes_roth":
        inputs = inputs.iloc[:, 1:]
    if name == "glass":
        inputs = inputs.assign(number=np.arange(len(inputs)))
    return inputs.to_numpy(np.float64), (data.iloc[:, -1].astype(str) == SETS[name.split("_without")[0]]).to_numpy()


def equation_9(n: int, rng: np.random.Generator) -> tuple[Array, NDArray[np.bool_]]:
    """Return n observations of his equation 9."""
    x = rng.uniform(0.0, 3.0, (n, 2))
    return x, signal(x) + rng.standard_normal(n) > 0.5


def signal(x: Array) -> Array:
    """Return what equation 9 adds noise to."""
    return np.asarray(np.sin((x**2).sum(1)) + np.cos(x**2).sum(1))


def true_cells(forest: RandomForestClassifier, side: int) -> Array:
    """Return a forest's true cells in equation 9, of a billion points, by the midpoint rule on side x side points.

    His large test set has 20,000,000 points; here the noise is integrated.
    """
    middle = (np.arange(side) + 0.5) * 3.0 / side
    x = np.stack(np.meshgrid(middle, middle), axis=-1).reshape(-1, 2)
    positive = special.ndtr(signal(x) - 0.5)
    said = forest.predict(x)
    cells = [[np.mean(p * ~said), np.mean(p * said)] for p in (1.0 - positive, positive)]
    return np.rint(np.array(cells) * 1e9)  # as counts, which metrics take


def matrix(forest: RandomForestClassifier, x: Array, y: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the confusion matrix [[TN, FP], [FN, TP]]."""
    return np.bincount(2 * y + forest.predict(x), minlength=4).reshape(2, 2)


def splits(name: str, repeats: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Array | None]:
    """Return first and second matrices of all splits, and for equation 9 the true cells."""
    first, second, truth = [], [], []
    x, y = features(name) if name != EQUATION_9 else equation_9(0, np.random.default_rng())
    for i in range(repeats):
        if name == EQUATION_9:
            x, y = equation_9(300, np.random.default_rng([9, i]))
        a, rest, y_a, y_rest = train_test_split(x, y, train_size=1 / 3, stratify=y, random_state=i)
        b, c, y_b, y_c = train_test_split(rest, y_rest, train_size=1 / 2, stratify=y_rest, random_state=i)
        forest = RandomForestClassifier(TREES, random_state=i).fit(a, y_a)
        first.append(matrix(forest, b, y_b))
        second.append(matrix(forest, c, y_c))
        if name == EQUATION_9:
            truth.append(true_cells(forest, 150))
    return np.array(first), np.array(second), np.array(truth) if truth else None


def drawn(method: str, counts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return second matrices by the paper's two algorithms: (matrix, draw, 2, 2).

    The paper has no prior: where a cell is empty, there is no posterior. R's ``rgamma`` gives 0 for a shape of 0, so
    its Dirichlet draws leave that cell empty in every draw. So do these.
    """
    flat = counts.reshape(-1, 1, 4).astype(np.float64)
    share = rng.standard_gamma(np.repeat(flat, DRAWS, 1)) if method == "algorithm_1" else np.repeat(flat, DRAWS, 1)
    found = rng.multinomial(counts.sum((1, 2))[:, None], share / share.sum(-1, keepdims=True))
    return found.reshape(*found.shape[:2], 2, 2)


def intervals(method: str, counts: NDArray[np.int64], metric: str, seed: int) -> list[Array]:
    """Return highest-density intervals of the metric for each level: (matrix, 2)."""
    given = bayescm.from_array(counts, dims="split")
    if method == "theta":
        return [bayescm.summary(given, metric, ci_prob=p).interval.isel(metric=0).values for p in LEVELS]
    if method.startswith("replicate"):
        prevalence = "fixed" if method == "replicate_fixed" else None
        kept = bayescm.posterior(
            given, metrics=metric, replicate=True, prevalence=prevalence, draws=DRAWS // 4, random_seed=seed
        )
        values = kept["replicate"][metric].stack(all=("chain", "draw")).transpose("split", "all").values
    else:
        made = drawn(method, counts, np.random.default_rng(seed))
        values = bayescm.metrics.evaluate(bayescm.from_array(made, dims=("split", "all")), metric)[metric].values
    return [array_stats.hdi(values, prob=p, axis=-1, skipna=True) for p in LEVELS]


def value(counts: Any, metric: str) -> Array:
    """Return the metric of each matrix."""
    return np.asarray(bayescm.metrics.evaluate(bayescm.from_array(counts, dims="split"), metric)[metric].values)


def turned(counts: Any) -> Any:
    """Return matrices whose positive class is the other one."""
    return counts[:, ::-1, ::-1]


def study(name: str, repeats: int) -> tuple[list[Row], Row]:
    """Return coverage and length of every interval of a data set, and what its matrices are like."""
    first, second, truth = splits(name, repeats)
    empty = (first == 0).any((1, 2))
    made = []
    for metric, method in ((m, w) for m in METRICS for w in METHODS):
        rate = metric != "accuracy"  # the paper's F1 and G are those of the other class
        given, later = (turned(t) if rate else t for t in (first, second))
        targets = {"second": value(later, metric)}
        if method == "algorithm_1":
            targets["second, of matrices without an empty cell"] = np.where(empty, np.nan, targets["second"])
        if truth is not None:
            targets["theta"] = value(turned(truth) if rate else truth, metric)
        for level, ends in zip(LEVELS, intervals(method, given, metric, seed=1), strict=True):
            row = {"dataset": name, "metric": metric, "method": method, "level": level, "repeats": repeats}
            for target, wanted in targets.items():
                known = ~np.isnan(wanted) & ~np.isnan(ends).any(1)
                inside = (ends[:, 0] - 1e-9 <= wanted) & (wanted <= ends[:, 1] + 1e-9)
                shares = {"coverage": inside[known], "length": np.diff(ends)[known], "answered": known}
                means = {k: round(float(v.mean()), 4) if v.size else np.nan for k, v in shares.items()}
                made.append(row | {"holds": target} | means)
    rates = {"recall_times_specificity": np.nanmean(value(first, "recall") * value(first, "specificity"))}
    rates |= {m: np.nanmean(value(first, m)) for m in METRICS}
    rates |= {f"{m}_other_class": np.nanmean(value(turned(first), m)) for m in METRICS[1:]}
    rates = {"empty_cell": empty.mean()} | rates
    about = {"dataset": name, "repeats": repeats, "items": int(first[0].sum()), "positives": int(first[0, 1].sum())}
    about |= {k: round(float(v), 4) for k, v in rates.items()}
    print(about, flush=True)
    return made, about


def sequential(runs: int, side: int) -> list[Row]:
    """Return how often 10% intervals of MCC hold the truth after so many steps of 100 items each (Algorithm 4).

    Matrices of a fixed forest are multinomial, so no test set is drawn. As printed, g is about a matrix of 100 items,
    however many were seen. So its interval stays as long as it is while the posterior gathers around the truth, and in
    the end holds it always, unless the ends of the interval are blurred by few draws. The shortest interval of 10% of
    1,000 draws lies anywhere near the mode; that with equal tails, of 40,000, doesn't.
    """
    rng, other = np.random.default_rng(4), np.random.default_rng(5)
    forest = RandomForestClassifier(TREES, random_state=4).fit(*equation_9(1000, rng))
    cells = true_cells(forest, side)
    truth = value(cells[None], "matthews_correlation")[0]
    steps = rng.multinomial(100, cells.ravel() / cells.sum(), (runs, STEPS[-1])).cumsum(1)
    made: list[Row] = []
    for step in STEPS:
        seen = steps[:, step - 1].reshape(-1, 2, 2)
        share = rng.standard_gamma(np.repeat(seen.reshape(-1, 1, 4).astype(float), DRAWS, 1))
        share /= share.sum(-1, keepdims=True)
        posterior = bayescm.summary(bayescm.from_array(seen, dims="run"), "mcc", ci_prob=0.1)
        ways = {"theta": posterior.interval.isel(metric=0).values}
        for way, size in (("as_printed", 100), ("all_items", 100 * step)):
            future = rng.multinomial(size, share).reshape(-1, DRAWS, 2, 2)
            mcc = bayescm.metrics.evaluate(bayescm.from_array(future, dims=("run", "all")), "mcc")[
                "matthews_correlation"
            ]
            ways[way] = array_stats.hdi(mcc.values, prob=0.1, axis=-1, skipna=True)
        ways["as_printed_equal_tails"] = np.array([printed(one, other) for one in seen])
        made += [
            {"step": step, "way": way, "truth": round(float(truth), 5), "runs": runs,
             "coverage": round(float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean()), 4),
             "length": round(float((ends[:, 1] - ends[:, 0]).mean()), 5)}
            for way, ends in ways.items()
        ]  # fmt: skip
    return made


def printed(counts: NDArray[np.int64], rng: np.random.Generator) -> Array:
    """Return the interval of MCC with equal tails that holds 10% of 40,000 draws of a second matrix of 100 items."""
    share = rng.standard_gamma(counts.reshape(4).astype(float), (MORE, 4))
    future = rng.multinomial(100, share / share.sum(-1, keepdims=True)).reshape(-1, 2, 2)
    return np.nanquantile(value(future, "matthews_correlation"), [0.45, 0.55])


def table(made: list[Row]) -> str:
    """Return the table of the page: means over the 16 data sets, beside the paper's."""
    with (HERE / "caelen_printed.csv").open(encoding="utf-8") as lines:
        printed = list(csv.DictReader(lines))
    columns = [f"{m}, {100 * p:g}%" for m in ("accuracy", "F1") for p in LEVELS]
    lines = ["| interval | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]

    def said(metric: str, key: str) -> str:
        return f"{np.mean([float(r[key]) for r in printed if r['metric'] == metric]):.3f}"

    both = ("accuracy", "f1")
    cells = [said(m, f"coverage_{100 * p:.0f}") for m in both for p in LEVELS]
    lines.append(f"| printed, Table 2 | {' | '.join(cells)} |")
    cells = [said(m, "bootstrap_coverage_90") if p == LEVELS[0] else "" for m in both for p in LEVELS]
    lines.append(f"| printed, Table 3 | {' | '.join(cells)} |")
    for method, words in METHODS.items():
        cells = []
        for metric in both:
            for level in LEVELS:
                few = [r["coverage"] for r in made if r["dataset"] in SETS and r["holds"] == "second"
                       and (r["metric"], r["method"], r["level"]) == (metric, method, level)]  # fmt: skip
                cells.append(f"{np.mean(few):.3f}")
        lines.append(f"| {words} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def broken(made: list[Row]) -> list[str]:
    """Return what contradicts the committed table: coverage by 4.5 standard errors, lengths by a third."""
    with (HERE / "caelen.csv").open(encoding="utf-8") as lines:
        committed = {key(r): r for r in csv.DictReader(lines)}
    said = []
    for row in made:
        before = committed[key(row)]
        p = np.clip(float(before["coverage"]), 0.02, 0.98)
        share = 1.0 / max(row["repeats"] * row["answered"], 1.0)  # that one split changes
        error = np.sqrt(p * (1.0 - p) * (share + 1.0 / int(before["repeats"])))
        length = float(before["length"])
        wrong = abs(row["coverage"] - float(before["coverage"])) > 4.5 * error + share / 2.0
        if wrong or abs(row["length"] - length) > 0.01 + length / 3.0:
            said.append(f"{row} is far from {before}")
    return said


def key(row: Row) -> tuple[str, ...]:
    """Return what names a row."""
    return tuple(str(row[name]) for name in ("dataset", "metric", "method", "level", "holds"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--repeats", type=int, default=200)
    args = parser.parse_args()
    names = ("iris", "sonar") if args.quick else (*SETS, WITHOUT, EQUATION_9)
    found = [study(name, 6 if args.quick else args.repeats) for name in names]
    rows = [row for some, _ in found for row in some]
    if args.quick:
        sys.exit("\n".join(broken(rows)) or None)
    write_rows(HERE / "caelen.csv", rows)
    write_rows(HERE / "caelen_sets.csv", [about for _, about in found])
    write_rows(HERE / "caelen_sequential.csv", sequential(RUNS, 1500))
    (HERE / "caelen_table.inc").write_text(table(rows))
    print(table(rows))
