"""Rebuild the coverage of curves: ``python -m uv run python docs/verification/curves.py`` (half an hour on one core).

(a) Bands: of normal scores, N(0, 1) of controls and N(mu, 1) of cases, the share of data sets whose band holds the true
curve at every point of its stretch, and the mean share of points that a pointwise band holds. (b) Intervals of the AUC,
of areas from .75 to .999 and with few cases: what a prior item of each class should weigh, and the items themselves,
beside DeLong's interval. Class totals are fixed and the prevalence is given. Writes curves_bands.csv, curves_auc.csv
and their tables. ``--bands`` or ``--areas`` runs one part, ``--quick`` a small part of both and writes nothing. Either
fails if a promise of the page is broken.
"""

import itertools
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rows import write_rows
from scipy import integrate, optimize, stats

import bayescm
from bayescm.curves import area_samples, joint, reading, roc_area
from bayescm.curves.area_intervals import Areas
from bayescm.data.random import Stream, matrix_rng

Array = NDArray[np.float64]
Row = dict[str, object]

HERE = Path(__file__).parent
LEVEL = 0.95
SCENARIOS = {"weak, half cases": (1.0, 0.5), "strong, a fifth cases": (2.0, 0.2)}
"""Distance of the means, share of cases."""
SIZES = {20: 200, 50: 200, 200: 150, 1000: 100}
"""Items, and simulated test sets."""
DRAWS = 2000
PRIORS = ("prior_item", "smoothed")
AUC_SIZES = {(8, 92): 600, (30, 30): 600, (30, 300): 300, (100, 1000): 100, (1, 100): 600, (2, 100): 600, (5, 100): 600}
"""Cases and controls, and simulated test sets."""
AUC_SCORES = [
    *(("normal", area) for area in (0.75, 0.9, 0.98, 0.993, 0.999)), ("t2", 0.75), ("t2", 0.98), ("log-normal", 0.9),
    ("log-normal", 0.98), ("five levels", 0.75), ("five levels", 0.95),
]  # fmt: skip
"""Distributions, and the AUC; of five levels that of the normal scores behind them."""
AUC_DRAWS = 500
WEIGHTS: dict[str, tuple[float, float]] = {
    "bootstrap": (0, 0), "1/4, plain": (1 / 4, 0), "1/2, plain": (1 / 2, 0), "1, plain": (1, 0), "1/4": (1 / 4, 2),
    "1/3": (1 / 3, 2), "1/2": (1 / 2, 2),
}  # fmt: skip
"""What the prior item of a class weighs, and the k of the items' n / (n + k)."""
OTHERS = ("smoothed", "delong", "logit_delong")
CUTS = np.array([-0.5, 0.3, 1.0, 1.8])
"""Between five levels."""
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
            made = bayescm.curve_band(drawn, method=kind, space=space, ci_prob=LEVEL)["band"]
            axis = made["fpr" if space == "roc" else "recall"].values
            low, high = made.values.T
            shown = ~np.isnan(low)
            true = truth(mu, prevalence, space, axis)
            inside = (low - _EDGE <= true) & (true <= high + _EDGE)
            name = "none" if kind == "whole" else prior
            yield (name, kind, space), float(inside[shown].mean()), float((high - low)[shown].mean())


def bands(sizes: dict[int, int]) -> list[Row]:
    """Return a row per scenario, size, prior, kind and space."""
    made: list[Row] = []
    for (scenario, (mu, prevalence)), (n, repeats) in itertools.product(SCENARIOS.items(), sizes.items()):
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


def shift(scores: str, area: float) -> float:
    """Return how far the scores of cases lie above those of controls."""
    if scores in ("normal", "five levels"):
        return float(stats.norm.ppf(area) * np.sqrt(2))
    density, below = {
        "t2": (stats.t(2).pdf, lambda z, m: stats.t.cdf(z + m, 2)),
        "log-normal": (stats.norm.pdf, lambda z, m: stats.norm.cdf(np.logaddexp(z, np.log(m)))),
    }[scores]  # fmt: skip

    def missed(m: float) -> float:
        return float(integrate.quad(lambda z: density(z) * below(z, m), -np.inf, np.inf, limit=200)[0]) - area

    return float(optimize.brentq(missed, 1e-9, 200))


def true_auc(scores: str, area: float) -> float:
    """Return the AUC; of levels from their probabilities."""
    if scores != "five levels":
        return area
    x, y = (np.diff(stats.norm.cdf(CUTS - m), prepend=0, append=1) for m in (0.0, shift(scores, area)))
    return float((y * (np.cumsum(x) - x / 2)).sum())


def scored(rng: np.random.Generator, scores: str, m: float, cases: int, controls: int) -> area_samples.Items:
    """Return the items of one test set."""
    y = np.repeat([0, 1], [controls, cases])
    if scores == "t2":
        drawn = rng.standard_t(2, len(y)) + m * y
    elif scores == "log-normal":
        drawn = np.exp(rng.normal(size=len(y))) + m * y
    else:
        drawn = rng.normal(m * y)
        drawn = drawn if scores == "normal" else np.digitize(drawn, CUTS).astype(float)
    return area_samples.check_items(y, drawn)


def drawn_areas(items: area_samples.Items, weight: float, k: float, seed: int) -> Array:
    """Return draws of the AUC with prior items of a weight, where n items have masses of the shape n / (n + k)."""
    totals, none = np.array([items.controls, items.cases], np.float64), np.empty(0)
    shapes = np.stack([totals / (totals + k), np.full(2, weight)], axis=1)
    read, ranked = reading.room(1, AUC_DRAWS, 0, 0, 0), list(items.rankings)
    odds = np.ones(AUC_DRAWS)
    marks = np.empty((1, 0))
    draw = joint._kernel(items.scores.positive, ranked, marks, shapes, "prior_item", read, odds, none, none)
    draw(matrix_rng(seed, 0, Stream.CURVE), 0, AUC_DRAWS)
    return read.areas[0, :, 0]


def of_areas(scores: str, area: float, cases: int, controls: int, repeats: int) -> list[Row]:
    """Return a row per way to make an interval of the AUC."""
    true, m = true_auc(scores, area), shift(scores, area)
    rng = np.random.default_rng([round(1000 * area), cases, controls, len(scores)])
    bounds = np.empty((repeats, len(WEIGHTS) + len(OTHERS), 2))
    for repeat in range(repeats):
        items = scored(rng, scores, m, cases, controls)
        whole = Areas(items, ("auc",), min(cases, controls), LEVEL, AUC_DRAWS, 0, repeat)
        drawn = [np.quantile(drawn_areas(items, *one, repeat), whole.tails) for one in WEIGHTS.values()]
        others = [roc_area.METHODS[name](whole, 0, 0)[1:3] for name in OTHERS]
        bounds[repeat] = [*drawn, *others]
    low, high = np.moveaxis(bounds, -1, 0)
    inside = (low <= true) & (true <= high)  # none doesn't
    return [
        {
            "scores": scores, "auc": round(true, 4), "cases": cases, "controls": controls, "method": name,
            "repeats": repeats, "coverage": round(float(held.mean()), 4),
            "se": round(error(float(held.mean()), repeats), 4), "none": round(float(np.isnan(a).mean()), 4),
            "truth_below": round(float((true < a).mean()), 4), "truth_above": round(float((true > b).mean()), 4),
            "width": round(float(np.mean((b - a)[~np.isnan(a)])), 4) if not np.isnan(a).all() else "",
        }
        for name, held, a, b in zip([*WEIGHTS, *OTHERS], inside.T, low.T, high.T, strict=True)
    ]  # fmt: skip


def areas(sizes: dict[tuple[int, int], int]) -> list[Row]:
    """Return the rows of all settings; of very few cases only those of moderate areas."""
    made: list[Row] = []
    for ((cases, controls), repeats), (scores, area) in itertools.product(sizes.items(), AUC_SCORES):
        if cases <= 5 and (scores, area) not in AUC_SCORES[:2]:
            continue
        start = time.perf_counter()
        made += of_areas(scores, area, cases, controls, repeats)
        print(f"{scores}, AUC {area}, {cases} of {cases + controls}: {time.perf_counter() - start:.0f} s", flush=True)
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
        usual = row["method"] == "1/3" and int(str(row["cases"])) >= 8
        if usual and number(row, "coverage") + 4 * number(row, "se") < 0.935:
            said.append(f"AUC {row['auc']}, {row['scores']}, {row['cases']} cases")
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
    """Return the table of AUC intervals: coverage / mean width per way, then the lowest coverage and the mean."""
    names = [*WEIGHTS, *OTHERS]
    lines = ["| scores | AUC | cases / controls | " + " | ".join(f"`{n}`" for n in names) + " |",
             "|---|---|---|" + "---|" * len(names)]  # fmt: skip
    for key in dict.fromkeys((r["scores"], r["auc"], r["cases"], r["controls"]) for r in made):
        mine = [r for r in made if (r["scores"], r["auc"], r["cases"], r["controls"]) == key]
        cells = [
            f"{number(r, 'coverage'):.3f} / {number(r, 'width'):.3f}" if r["width"] != "" else "none" for r in mine
        ]
        lines.append(f"| {key[0]} | {key[1]:.3f} | {key[2]} / {key[3]} | " + " | ".join(cells) + " |")
    of = {n: np.array([number(r, "coverage") for r in made if r["method"] == n and number(r, "cases") >= 8])
          for n in names}  # fmt: skip
    for said, part in (("lowest from 8 cases on", np.min), ("mean", np.mean)):
        lines.append(f"| {said} | | | " + " | ".join(f"{part(of[n]):.3f}" for n in names) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    both = quick or not {"--bands", "--areas"} & {*sys.argv}
    area_rows = areas({(8, 92): 40} if quick else AUC_SIZES) if both or "--areas" in sys.argv else []
    band_rows = bands({20: 20} if quick else SIZES) if both or "--bands" in sys.argv else []
    for name, made, table in (("auc", area_rows, table_of_areas), ("bands", band_rows, table_of_bands)):
        if made:
            print(table(made))
        if made and not quick:
            write_rows(HERE / f"curves_{name}.csv", made)
            (HERE / f"curves_{name}_table.inc").write_text(table(made))
    said = broken(band_rows, area_rows)
    print(*said, sep="\n")
    sys.exit(1 if said else 0)
