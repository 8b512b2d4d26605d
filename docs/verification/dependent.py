"""Rebuild the coverage for dependent items: ``python -m uv run python docs/verification/dependent.py`` (half an hour).

Clusters are chains of dependent items (``simulate_markov``: Morais 2023, conclusion), whose stationary rates are
known. Nominal 95% equal-tailed intervals of the summed counts as if independent (``bayescm.summary``), and of the story
``overdispersed`` in both forms. The story is compiled once per form and design; every repeat is one short chain, whose
equal-tailed interval of some 400 draws covers half a point less than it would with many. Writes dependent.csv and
dependent_table.inc. ``--quick`` runs a tiny part and writes nothing. Either fails if a promise of the page is broken.
"""

import csv
import itertools
import logging
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pymc as pm
import xarray as xr
from numpy.typing import NDArray

import bayescm
from bayescm import metrics, models
from bayescm.results import MATRIX

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


class Refitted:
    """The story, compiled once, and fitted to any number of data sets of one shape: pm.sample without its overhead."""

    def __init__(self, counts: xr.DataArray, form: str) -> None:
        self.program = story.model(counts, overdispersion=form)
        with self.program:
            (self.point,), self.step = pm.init_nuts(chains=1, random_seed=[1], progressbar=False)
            wanted = self.program.replace_rvs_by_values([self.program["theta"], self.program["design_effect"]])
            self.wanted = self.program.compile_fn(wanted, inputs=self.program.value_vars)
        self.fresh = self.step.sampling_state

    def fit(self, counts: xr.DataArray, seed: int) -> tuple[Array, Array, int]:
        """Return draws of theta (draw, 2, 2) and of the design effect (draw, ...), and the number of divergences."""
        self.step.sampling_state = self.fresh  # no adaptation to the data set before
        self.step.setup_chain(np.random.default_rng(seed), TUNE, DRAWS)
        with self.program:
            pm.set_data({"counts_data": counts.values.reshape(len(counts), -1)})
        point, diverged = self.point, 0
        kept = []
        for i in range(TUNE + DRAWS):
            if i == TUNE:
                self.step.stop_tuning()
            point, (stats,) = self.step.step(point)
            if i >= TUNE:
                kept.append(self.wanted(point))
                diverged += int(stats["diverging"])
        theta, effect = (np.stack(values) for values in zip(*kept, strict=True))
        return theta, effect, diverged


def naive(counts: xr.DataArray) -> Array:
    """Return intervals (metric, 2) of the summed counts."""
    summed = bayescm.summary(counts.sum(counts.dims[0]), METRICS, ci_prob=LEVEL, ci_kind="eti")
    return np.asarray(summed["interval"].transpose("metric", "ci_bound").values)


def of_draws(theta: Array) -> Array:
    """Return intervals (metric, 2) of draws (draw, 2, 2)."""
    draws = xr.DataArray(theta, dims=("draw", *MATRIX), coords={dim: [0, 1] for dim in MATRIX})
    values = metrics.evaluate(draws, METRICS)
    tails = (1 - LEVEL) / 2, (1 + LEVEL) / 2
    return np.stack([np.quantile(values[name], tails) for name in METRICS])


def rows(clusters: int, size: int, dependences: tuple[str, ...], repeats: int) -> list[Row]:
    """Return one row per dependence, method and metric of one design."""
    first = next(simulated("mild", clusters, size, 1))["counts"]
    programs = {form: Refitted(first, form) for form in METHODS[1:]}
    made: list[Row] = []
    for dependence in dependences:
        start = time.perf_counter()
        intervals: dict[str, list[Array]] = {method: [] for method in METHODS}
        diverged = dict.fromkeys(METHODS, 0)
        effects = []
        for repeat, data in enumerate(simulated(dependence, clusters, size, repeats)):
            intervals["independent items"].append(naive(data["counts"]))
            for form, program in programs.items():
                theta, effect, divergences = program.fit(data["counts"], repeat)
                intervals[form].append(of_draws(theta))
                diverged[form] += divergences
                if form == "rates":
                    effects.append(effect.mean(0))
        effect = [f"{value:.1f}" for value in np.mean(effects, 0)]
        true = metrics.evaluate(data["theta"], METRICS)
        truth = np.array([float(true[name]) for name in METRICS])
        for method in METHODS:
            low, high = np.moveaxis(np.stack(intervals[method]), -1, 0)
            inside = ((low <= truth) & (truth <= high)).mean(0)
            for i, name in enumerate(METRICS):
                made.append(
                    {
                        "clusters": clusters, "size": size, "dependence": dependence, "method": method, "metric": name,
                        "truth": round(float(truth[i]), 4), "repeats": repeats, "coverage": round(float(inside[i]), 4),
                        "standard_error": round(error(inside[i], repeats), 4),
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
    with (HERE / "dependent.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(made[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(made)
    (HERE / "dependent_table.inc").write_text(table(made))


ALLOWED = 0.005
"""What an interval from 400 draws may miss by."""


def broken(made: list[Row]) -> list[str]:
    """Return which promises the numbers break, each within four standard errors."""
    said = []
    for row in made:
        share, margin = float(str(row["coverage"])), 4 * float(str(row["standard_error"]))
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
    quick = "--quick" in sys.argv
    made: list[Row] = []
    for clusters, size in DESIGNS[:1] if quick else DESIGNS:
        levels = ("strong",) if quick else tuple(DEPENDENCE)
        made += rows(clusters, size, levels, QUICK_REPEATS if quick else REPEATS)
    if not quick:
        write(made)
    print(table(made))
    sys.exit("\n".join(broken(made)) or None)
