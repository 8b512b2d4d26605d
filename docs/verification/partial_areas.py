"""Coverage of intervals of partial areas and of areas of several classes, by simulation (seven minutes).

``python -m uv run python docs/verification/partial_areas.py``. Normal scores. Writes partial_areas.csv and
partial_areas_table.inc. ``--quick`` runs a small part, writes nothing, and fails if DeLong's intervals of 100 items a
class cover much too little.
"""

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rows import write_rows
from scipy import integrate, stats

import bayescm

Array = NDArray[np.float64]

HERE = Path(__file__).parent
SHIFT = 1.5
CASES = (20, 50, 200)
"""And twice as many controls; of three classes as many each."""
REPEATS = {"auc": 400, "aucpr": 1000}
"""Test sets, by the function that is called; posteriors take longer."""
Sample = Callable[[np.random.Generator, int], tuple[Array, Array]]


def two(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Return labels and scores of cases and controls."""
    y = np.repeat([0, 1], [2 * n, n])
    return y, rng.normal(SHIFT * y)


def three(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    """Return labels and scores of three classes."""
    y = np.repeat([0, 1, 2], n)
    return y, rng.normal(size=(3 * n, 3)) + SHIFT * np.eye(3)[y]


def sensitivity(rate: Array) -> Array:
    """Return the true ROC curve."""
    return np.asarray(stats.norm.sf(stats.norm.isf(rate) - SHIFT))


def precision(recall: Array) -> Array:
    """Return the true precision at a recall, with a third of cases."""
    fpr = stats.norm.sf(stats.norm.isf(recall) + SHIFT)
    return np.asarray(recall / (recall + 2.0 * fpr))


POSTERIORS = ("bayesian", "bootstrap", "smoothed")
AREA = float(stats.norm.cdf(SHIFT / np.sqrt(2)))
QUESTIONS: dict[str, tuple[Sample, str, dict[str, object], tuple[str, ...], float]] = {
    "ROC area, false positive rates to 0.1": (
        two, "auc", {"fpr_range": (0, 0.1)}, ("bayesian", "delong", "bootstrap"), integrate.quad(sensitivity, 0, 0.1)[0]
    ),
    "ROC area, false positive rates to 0.3": (
        two, "auc", {"fpr_range": (0, 0.3)}, ("bayesian", "delong", "bootstrap"), integrate.quad(sensitivity, 0, 0.3)[0]
    ),
    "Average precision, recalls from 0.2": (
        two, "aucpr", {"recall_range": (0.2, 1)}, POSTERIORS, integrate.quad(precision, 0.2, 1)[0] / 0.8
    ),
    "Average precision, recalls from 0": (
        two, "aucpr", {"recall_range": (0, 1)}, POSTERIORS, integrate.quad(precision, 0, 1)[0]
    ),
    "Davis and Goadrich's area": (
        two, "aucpr", {"estimator": "davis_goadrich"}, POSTERIORS, integrate.quad(precision, 0, 1)[0]
    ),
    "Hand and Till's M": (three, "auc", {}, ("bayesian", "delong", "logit_delong", "bootstrap"), AREA),
}  # fmt: skip


def coverage(name: str, n: int, most: int | None = None) -> list[dict[str, object]]:
    """Return a row per method: share of the samples whose interval holds the truth, mean width and point."""
    sample, call, options, methods, truth = QUESTIONS[name]
    repeats, found = min(most or REPEATS[call], REPEATS[call]), []
    for repeat in range(repeats):
        rng = np.random.default_rng([n, repeat])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            made = getattr(bayescm.curves, call)(
                *sample(rng, n), method=list(methods), draws=1000, random_seed=repeat, **options
            )
        made = made.isel(estimator=0) if "estimator" in made.dims else made
        found.append(np.column_stack([made["interval"].values, np.broadcast_to(made["point"], len(methods))]))
    lower, upper, point = np.moveaxis(np.array(found), -1, 0)
    return [
        {
            "area": name, "cases": n, "method": method, "true": round(truth, 4),
            "mean_point": round(float(point[:, i].mean()), 4),
            "coverage": round(float(((lower <= truth) & (truth <= upper))[:, i].mean()), 4),
            "width": round(float(np.nanmean((upper - lower)[:, i])), 4), "samples": repeats,
        }
        for i, method in enumerate(methods)
    ]  # fmt: skip


def table(rows: list[dict[str, object]]) -> str:
    """Return the table of the page."""
    lines = ["| area | true | method | " + " | ".join(f"{n} cases" for n in CASES) + " |", "|---|---|---|---|---|---|"]
    for name, (_, _, _, methods, truth) in QUESTIONS.items():
        for method in methods:
            mine = {int(str(r["cases"])): r for r in rows if (r["area"], r["method"]) == (name, method)}
            cells = " | ".join(
                f"{mine[n]['coverage']:.3f} / {mine[n]['width']:.3f}" if n in mine else "not run" for n in CASES
            )
            lines.append(f"| {name} | {truth:.3f} | `{method}` | {cells} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    quickly = {"auc": 60, "aucpr": 15}
    rows = [r for name in QUESTIONS for n in ((100,) if quick else CASES)
            for r in coverage(name, n, quickly[QUESTIONS[name][1]] if quick else None)]  # fmt: skip
    for one in rows:
        print(one)
        if quick and one["method"] == "delong" and float(str(one["coverage"])) < 0.8:
            raise SystemExit(f"The coverage of {one} is off.")
    if not quick:
        write_rows(HERE / "partial_areas.csv", rows)
        (HERE / "partial_areas_table.inc").write_text(table(rows))
