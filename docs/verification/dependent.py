"""Rebuild the coverage for dependent items: ``python -m uv run python docs/verification/dependent.py`` (half an hour).

Clusters are chains of dependent items (``simulate_markov``: Morais 2023, conclusion), whose stationary rates are
known. Nominal 95% equal-tailed intervals of the summed counts as if independent (``bayescm.summary``), and of the model
``overdispersed`` in both forms: one short chain a repeat, whose equal-tailed interval of some 400 draws covers half a
point less than it would with many. Writes dependent.csv and
dependent_table.inc. ``--quick`` runs a tiny part and writes nothing. Either fails if a promise of the page is broken.
"""

import itertools
import logging
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from rows import write_rows

import bayescm
from bayescm import metrics, models

Array = NDArray[np.float64]
Row = dict[str, object]

HERE = Path(__file__).parent
LEVEL = 0.95
METRICS = ("prevalence", "recall", "specificity", "precision", "accuracy", "f1")
RATES = {"prevalence": 0.3, "recall": 0.8, "specificity": 0.9}
DEPENDENCE = {"independent": 0.0, "mild": 0.5, "strong": 0.9}
"""Persistence of the truth and stickiness of the answers."""
DESIGNS = ((20, 50), (8, 200))
REPEATS, QUICK_REPEATS = 200, 20
METHODS = ("independent items", "cells", "rates")
TUNE, DRAWS = 300, 400
story = models.load("overdispersed")


def simulated(dependence: str, clusters: int, size: int, repeats: int) -> Iterator[xr.Dataset]:
    """Yield data sets of one scenario."""
    share = DEPENDENCE[dependence]
    for repeat in range(repeats):
        rng = np.random.default_rng([repeat, clusters, size, int(100 * share)])
        yield story.simulate_markov(rng, clusters, size, persistence=share, stickiness=share, **RATES)


def fitted(counts: xr.DataArray, form: str, seed: int) -> xr.DataTree:
    """Fit the model to one data set: a short chain of the program that is compiled once per form and design."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "NUTS")  # of few draws; divergences are counted
        return bayescm.posterior(
            counts, model="overdispersed", overdispersion=form, metrics=METRICS, chains=1, draws=DRAWS, tune=TUNE,
            cores=1, progressbar=False, random_seed=seed,
        )  # fmt: skip


def naive(counts: xr.DataArray) -> Array:
    """Return intervals (metric, 2) of the summed counts."""
    summed = bayescm.summary(counts.sum(counts.dims[0]), METRICS, ci_prob=LEVEL, ci_kind="eti")
    return np.asarray(summed["interval"].transpose("metric", "ci_bound").values)


def of_draws(posterior: xr.Dataset) -> Array:
    """Return intervals (metric, 2) of draws."""
    tails = (1 - LEVEL) / 2, (1 + LEVEL) / 2
    return np.stack([np.quantile(posterior[name], tails) for name in METRICS])


def rows(
    clusters: int, size: int, dependences: tuple[str, ...], repeats: int, methods: tuple[str, ...] = METHODS
) -> list[Row]:
    """Return one row per dependence, method and metric of one design."""
    made: list[Row] = []
    for dependence in dependences:
        start = time.perf_counter()
        intervals: dict[str, list[Array]] = {method: [] for method in methods}
        diverged = dict.fromkeys(methods, 0)
        effects = []
        for repeat, data in enumerate(simulated(dependence, clusters, size, repeats)):
            intervals["independent items"].append(naive(data["counts"]))
            for form in methods[1:]:
                fit = fitted(data["counts"], form, repeat)
                intervals[form].append(of_draws(fit["posterior"].to_dataset()))
                diverged[form] += int(fit["sample_stats"]["diverging"].sum())
                if form == "rates":
                    effects.append(fit["posterior"]["design_effect"].mean(("chain", "draw")))
        effect = [f"{value:.1f}" for value in np.mean(effects, 0)]
        true = metrics.evaluate(data["theta"], METRICS)
        truth = np.array([float(true[name]) for name in METRICS])
        for method in methods:
            low, high = np.moveaxis(np.stack(intervals[method]), -1, 0)
            inside = ((low <= truth) & (truth <= high)).mean(0)
            for i, name in enumerate(METRICS):
                made.append(
                    {
                        "clusters": clusters, "size": size, "dependence": dependence, "method": method, "metric": name,
                        "truth": round(float(truth[i]), 4), "repeats": repeats, "coverage": round(float(inside[i]), 4),
                        "se": round(error(inside[i], repeats), 4),
                        "length": round(float((high - low)[:, i].mean()), 4),
                        "diverged": round(diverged[method] / (repeats * DRAWS), 6),
                        "design_effects": " ".join(effect),
                    }
                )  # fmt: skip
        seconds = time.perf_counter() - start
        print(f"{clusters} of {size}, {dependence}: {seconds:.0f} s, diverged {diverged}", flush=True)
    return made


def error(share: float, repeats: int) -> float:
    """Return the standard error of a share of repeats, with one success and one failure added."""
    share = (share * repeats + 1) / (repeats + 2)
    return float(np.sqrt(share * (1 - share) / repeats))


def table(made: list[Row]) -> str:
    """Return the table of the page: coverage and mean length per design, dependence and method."""
    lines = [
        "| clusters | items | intervals | " + " | ".join(METRICS) + " |",
        "|---|---|---|" + "---|" * len(METRICS),
    ]
    for (clusters, size), dependence, method in itertools.product(DESIGNS, DEPENDENCE, METHODS):
        key = (clusters, size, dependence, method)
        mine = [r for r in made if (r["clusters"], r["size"], r["dependence"], r["method"]) == key]
        if mine:
            cells = [f"{r['coverage']:.3f} / {r['length']:.2f}" for r in mine]
            title = f"`{method}`" if method in METHODS[1:] else method
            lines.append(f"| {clusters} of {size} | {dependence} | {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def write(made: list[Row]) -> None:
    """Write all numbers as csv, and the table of the page."""
    write_rows(HERE / "dependent.csv", made)
    (HERE / "dependent_table.inc").write_text(table(made))


ALLOWED = 0.005
"""What an interval from 400 draws may miss by."""


def broken(made: list[Row]) -> list[str]:
    """Return which promises the numbers break, each within four standard errors."""
    said = []
    for row in made:
        share, margin = float(str(row["coverage"])), 4 * float(str(row["se"]))
        what = f"{row['method']}, {row['clusters']} of {row['size']}, {row['dependence']}, {row['metric']}: {share}"
        if row["method"] == "independent items" and row["dependence"] == "strong" and share + margin > LEVEL:
            said.append(f"{what}: dependence does no harm?")
        promised = row["method"] != "independent items" or row["dependence"] == "independent"
        if promised and share + margin < LEVEL - ALLOWED:
            said.append(f"{what}: too low")
        if float(str(row["diverged"])) > 1e-3:
            said.append(f"{what}: {row['diverged']} of the draws diverged")
    return said


if __name__ == "__main__":
    logging.getLogger("pymc").setLevel(logging.ERROR)
    warnings.simplefilter("ignore", FutureWarning)
    if "--quick" in sys.argv:
        made = rows(*DESIGNS[0], ("strong",), QUICK_REPEATS, ("independent items", "rates"))
    else:
        made = [row for design in DESIGNS for row in rows(*design, tuple(DEPENDENCE), REPEATS)]
        write(made)
    print(table(made))
    sys.exit("\n".join(broken(made)) or None)
