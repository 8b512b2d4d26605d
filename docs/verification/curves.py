"""Rebuild the coverage of curves: ``python -m uv run python docs/verification/curves.py`` (half an hour on one core).

Scores are normal, N(0, 1) of controls and N(mu, 1) of cases: the true curve is known. The class totals are fixed and
the prevalence is given. (a) Bands: the share of data sets whose band holds the true curve at every point of its
stretch, and the mean share of points that a pointwise band holds. (b) Intervals of the AUC with few cases, for several
concentrations of the Dirichlet process. Writes curves_bands.csv, curves_auc.csv and their tables. ``--quick`` runs a
small part and writes nothing. Either fails if a promise of the page is broken.
"""

import itertools
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rows import write_rows
from scipy import stats

import bayescm

Array = NDArray[np.float64]
Row = dict[str, object]

HERE = Path(__file__).parent
LEVEL = 0.95
SCENARIOS = {"weak, half cases": (1.0, 0.5), "strong, a fifth cases": (2.0, 0.2)}
"""Distance of the means, share of cases."""
SIZES, REPEATS, DRAWS = (20, 50, 200, 1000), 300, 2000
PRIORS = ("dirichlet_process", "smoothed")
CASES, CONTROLS, AUC_REPEATS, AUC_DRAWS = (1, 2, 5, 20), 100, 2000, 1000
AUC_PRIORS: dict[str, str | float] = {"0": "bootstrap", "0.5": 0.5, "1": 1.0, "2": 2.0, "smoothed": "smoothed"}
_EDGE = 1e-9  # rounding, where band and curve meet in a corner


def items(mu: float, cases: int, controls: int, seed: list[int]) -> tuple[Array, Array]:
    """Return labels and scores of one data set."""
    y = np.repeat([0.0, 1.0], [controls, cases])
    return y, np.random.default_rng(seed).normal(mu * y, 1)


def truth(mu: float, prevalence: float, space: str, axis: Array) -> Array:
    """Return the true curve."""
    if space == "roc":
        return np.asarray(stats.norm.sf(stats.norm.isf(axis) - mu))
    fpr = stats.norm.sf(stats.norm.isf(axis) + mu)
    return np.asarray(prevalence * axis / (prevalence * axis + (1 - prevalence) * fpr))


def held(mu: float, prevalence: float, n: int, repeat: int) -> Iterator[tuple[tuple[str, str, str], float, float]]:
    """Yield, by prior, kind and space, the share of points that the band of one data set holds, and its mean width."""
    cases = round(n * prevalence)
    y, score = items(mu, cases, n - cases, [repeat, n, cases])
    for prior in PRIORS:
        drawn = bayescm.curve_posterior(
            y, score, prior=prior, prevalence=prevalence, chains=1, draws=DRAWS, random_seed=repeat
        )
        kinds = ("pointwise", "simultaneous", "whole") if prior == PRIORS[0] else ("pointwise", "simultaneous")
        for kind, space in itertools.product(kinds, ("roc", "pr")):
            made = bayescm.curve_band(drawn, kind=kind, space=space, ci_prob=LEVEL)["band"]
            axis = made["fpr" if space == "roc" else "recall"].values
            low, high = made.values.T
            shown = ~np.isnan(low)
            true = truth(mu, prevalence, space, axis)
            inside = (low - _EDGE <= true) & (true <= high + _EDGE)
            name = "none" if kind == "whole" else prior
            yield (name, kind, space), float(inside[shown].mean()), float((high - low)[shown].mean())


def bands(sizes: tuple[int, ...], repeats: int) -> list[Row]:
    """Return a row per scenario, size, prior, kind and space."""
    made: list[Row] = []
    for (scenario, (mu, prevalence)), n in itertools.product(SCENARIOS.items(), sizes):
        start = time.perf_counter()
        found: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
        for repeat in range(repeats):
            for key, share, width in held(mu, prevalence, n, repeat):
                found.setdefault(key, []).append((share, width))
        for (prior, kind, space), values in found.items():
            shares, widths = np.array(values).T
            each = shares if kind == "pointwise" else shares == 1.0
            made.append({
                "scenario": scenario, "items": n, "prior": prior, "kind": kind, "space": space, "repeats": repeats,
                "coverage": round(float(each.mean()), 4),
                "se": round(error(float(each.mean()), repeats), 4),
                "width": round(float(widths.mean()), 4),
            })  # fmt: skip
        print(f"bands, {scenario}, {n} items: {time.perf_counter() - start:.0f} s", flush=True)
    return made


def error(share: float, repeats: int) -> float:
    """Return the standard error of a share of repeats, with one success and one failure added."""
    share = (share * repeats + 1) / (repeats + 2)
    return float(np.sqrt(share * (1 - share) / repeats))


def areas(repeats: int) -> list[Row]:
    """Return a row per distance, number of cases and concentration."""
    made: list[Row] = []
    for mu, cases in itertools.product((1.0, 2.0), CASES):
        start = time.perf_counter()
        true = float(stats.norm.cdf(mu / np.sqrt(2)))
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in AUC_PRIORS}
        for repeat in range(repeats):
            y, score = items(mu, cases, CONTROLS, [repeat, cases])
            for name, prior in AUC_PRIORS.items():
                drawn = bayescm.curve_posterior(
                    y, score, over=None, prior=prior, chains=1, draws=AUC_DRAWS, random_seed=repeat
                )["posterior"]["auc"].values  # fmt: skip
                low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
                found[name].append((float(low <= true <= high), high - low))
        for name, values in found.items():
            inside, widths = np.array(values).T
            made.append({
                "auc": round(true, 4), "cases": cases, "controls": CONTROLS, "concentration": name, "repeats": repeats,
                "coverage": round(float(inside.mean()), 4), "se": round(error(inside.mean(), repeats), 4),
                "width": round(float(widths.mean()), 4),
            })  # fmt: skip
        print(f"AUC {true:.3f}, {cases} cases: {time.perf_counter() - start:.0f} s", flush=True)
    return made


def number(row: Row, name: str) -> float:
    """Return a number of a row."""
    return float(str(row[name]))


def broken(of_bands: list[Row], of_areas: list[Row]) -> list[str]:
    """Return the promises of the page that rows don't keep, with a margin of four standard errors."""
    said = []
    for row in of_bands:
        promised = row["kind"] == "whole" or (row["kind"] == "simultaneous" and row["space"] == "roc")
        if promised and number(row, "coverage") + 4 * number(row, "se") < LEVEL:
            said.append(f"{row['kind']}, {row['space']}, {row['prior']}, {row['scenario']}, {row['items']} items")
    for row in of_areas:
        usual = row["concentration"] in ("1", "smoothed") and int(str(row["cases"])) >= 20
        if usual and abs(number(row, "coverage") - LEVEL) > 0.02 + 4 * number(row, "se"):
            said.append(f"AUC {row['auc']}, {row['cases']} cases, concentration {row['concentration']}")
    return said


def table_of_bands(made: list[Row]) -> str:
    """Return the table of bands: coverage / mean width per size."""
    lines = [
        "| band | prior | plane | scenario | " + " | ".join(f"n = {n}" for n in SIZES) + " |",
        "|---|---|---|---|" + "---|" * len(SIZES),
    ]
    keys = sorted({(str(r["kind"]), str(r["space"]), str(r["prior"]), str(r["scenario"])) for r in made})
    for kind, space, prior, scenario in keys:
        mine = [r for r in made if (r["kind"], r["space"], r["prior"], r["scenario"]) == (kind, space, prior, scenario)]
        cells = [f"{number(r, 'coverage'):.3f} / {number(r, 'width'):.2f}" for r in mine]
        told = "" if kind == "whole" else f"`{prior}`"
        lines.append(f"| {kind} | {told} | {space.upper()} | {scenario} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def table_of_areas(made: list[Row]) -> str:
    """Return the table of AUC intervals: coverage / mean width per concentration."""
    names = list(AUC_PRIORS)
    told = [f"concentration {n}" if n[0].isdigit() else f"`{n}`" for n in names]
    lines = ["| AUC | cases | " + " | ".join(told) + " |", "|---|---|" + "---|" * len(names)]
    for auc, cases in dict.fromkeys((r["auc"], r["cases"]) for r in made):
        mine = [r for r in made if (r["auc"], r["cases"]) == (auc, cases)]
        cells = [f"{number(r, 'coverage'):.3f} / {number(r, 'width'):.2f}" for r in mine]
        lines.append(f"| {auc:.3f} | {cases} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    of_areas = areas(60 if quick else AUC_REPEATS)
    of_bands = bands((20,) if quick else SIZES, 20 if quick else REPEATS)
    if not quick:
        write_rows(HERE / "curves_bands.csv", of_bands)
        write_rows(HERE / "curves_auc.csv", of_areas)
        (HERE / "curves_bands_table.inc").write_text(table_of_bands(of_bands))
        (HERE / "curves_auc_table.inc").write_text(table_of_areas(of_areas))
    print(table_of_areas(of_areas), table_of_bands(of_bands), sep="\n")
    said = broken(of_bands, of_areas)
    print(*said, sep="\n")
    sys.exit(1 if said else 0)
