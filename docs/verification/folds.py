"""Rebuild the coverage for folds: ``python -m uv run python docs/verification/folds.py`` (about a minute).

What is the interval of a cross-validation for? Data sets are drawn, a learner is cross-validated on each, and nominal
95% intervals of its accuracy are compared with two truths: the mean accuracy of the k models that were fitted to this
data set, and that of the recipe, the mean over all data sets. Two normal classes; the learners know too little to be
steady: one takes the single feature whose class means differ most, the other all features. Writes folds.csv and
folds_table.inc. ``--quick`` runs a small part and writes nothing. Either fails if a promise of the page is broken.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rows import write_rows
from scipy import special

import bayescm
from bayescm import models

Array = NDArray[np.float64]
Row = dict[str, object]

HERE = Path(__file__).parent
LEVEL = 0.95
REPEATS, QUICK_REPEATS = 400, 30
OF_AVERAGE = 60  # data sets; its draws take longer
fold_scores = models.load("fold_scores")


class Design(NamedTuple):
    """A learner, the items, folds and features, and the distance of the class means in the first feature."""

    learner: str
    items: int
    folds: int
    features: int
    distance: float


DESIGNS = (
    Design("all features", 100, 10, 20, 2.0),
    Design("one feature", 100, 10, 200, 1.0),
    Design("one feature", 60, 5, 50, 1.2),
    Design("one feature", 60, 10, 200, 1.2),
)


def weights(learner: str, x: Array, y: NDArray[np.int64]) -> tuple[Array, float]:
    """Train: return the weights and the threshold of a linear rule."""
    first, second = x[y == 1].mean(0), x[y == 0].mean(0)
    w = first - second
    if learner == "one feature":
        w = np.where(np.arange(len(w)) == np.argmax(np.abs(w)), w, 0.0)
    return w, float(w @ (first + second) / 2)


def one(design: Design, rng: np.random.Generator) -> tuple[NDArray[np.int64], Array]:
    """Cross-validate once: return matrices (fold, 2, 2) and the true accuracy of each fold's model."""
    mean = np.zeros(design.features)
    mean[0] = design.distance / 2
    y = rng.permutation(np.arange(design.items) % 2)
    x = rng.normal(size=(design.items, design.features)) + np.where(y[:, None] == 1, mean, -mean)
    fold = rng.permutation(design.items) % design.folds
    matrices, true = np.zeros((design.folds, 2, 2), np.int64), np.zeros(design.folds)
    for f in range(design.folds):
        w, c = weights(design.learner, x[fold != f], y[fold != f])
        np.add.at(matrices[f], (y[fold == f], (x[fold == f] @ w > c).astype(int)), 1)
        size = np.linalg.norm(w)
        true[f] = (special.ndtr((w @ mean - c) / size) + special.ndtr((w @ mean + c) / size)) / 2
    return matrices, true


def complete(matrices: NDArray[np.int64]) -> Array:
    """Return intervals (repeat, 2) of pooled counts."""
    pooled = bayescm.from_array(matrices.sum(1), dims="repeat")
    return np.asarray(bayescm.metric_distribution(pooled, "accuracy").eti(LEVEL).values)


def average(matrices: NDArray[np.int64]) -> Array:
    """Return intervals (repeat, 2) of the average over folds."""
    tails = (1 - LEVEL) / 2, (1 + LEVEL) / 2
    fits = (
        bayescm.posterior(bayescm.from_array(m, dims="fold"), model="kfold", pooling="average", metrics="accuracy",
                          random_seed=1)
        for m in matrices
    )  # fmt: skip
    return np.array([np.quantile(fit["posterior"]["accuracy"], tails) for fit in fits])


def corrected(matrices: NDArray[np.int64]) -> Array:
    """Return intervals (repeat, 2) of the model fold_scores, from the accuracy of each fold."""
    scores = np.trace(matrices, axis1=-2, axis2=-1) / matrices.sum((-2, -1))
    dists = [fold_scores.exact(one).distributions["mean_difference"] for one in scores]
    return np.array([[float(dist.ppf(q)) for q in ((1 - LEVEL) / 2, (1 + LEVEL) / 2)] for dist in dists])


INTERVALS = {"complete": complete, "average": average, "fold_scores": corrected}


def rows(design: Design, repeats: int) -> list[Row]:
    """Return one row per interval of a design."""
    rng = np.random.default_rng([design.items, design.folds, design.features, len(design.learner)])
    made = [one(design, rng) for _ in range(repeats)]
    matrices, fitted = np.stack([m for m, _ in made]), np.stack([t for _, t in made]).mean(1)
    found = []
    for name, function in INTERVALS.items():
        some = slice(min(OF_AVERAGE, repeats) if name == "average" else repeats)
        low, high = function(matrices[some]).T
        covers = {
            "of the fitted models": (low <= fitted[some]) & (fitted[some] <= high),
            "of the recipe": (low <= fitted.mean()) & (fitted.mean() <= high),
        }
        shares = {name: round(float(inside.mean()), 4) for name, inside in covers.items()}
        found.append(
            design._asdict() | {"intervals": name, "repeats": len(low)} | shares | {
                "length": round(float((high - low).mean()), 4), "recipe": round(float(fitted.mean()), 4),
                "sd_of_fitted": round(float(fitted.std()), 4),
            }
        )  # fmt: skip
    return found


def table(made: list[Row]) -> str:
    """Return the table of the page."""
    lines = [
        "| learner | items, folds, features | intervals | cover the fitted models | cover the recipe | length |",
        "|---|---|---|---|---|---|",
    ]
    for row in made:
        name = f"`{row['intervals']}`"
        told = [f"{row[key]:.3f}" for key in ("of the fitted models", "of the recipe", "length")]
        lines.append(
            f"| {row['learner']} | {row['items']}, {row['folds']}, {row['features']} | {name} | {' | '.join(told)} |"
        )
    return "\n".join(lines) + "\n"


def broken(made: list[Row]) -> list[str]:
    """Return which promises the numbers break, each within four standard errors."""
    said = []
    for row in made:
        margin = 4 * (0.95 * 0.05 / int(str(row["repeats"]))) ** 0.5
        what = f"{row['learner']}, {row['items']}, {row['features']} features, {row['intervals']}"
        if row["intervals"] == "complete" and float(str(row["of the fitted models"])) + margin < 0.93:
            said.append(f"{what}: the fitted models are covered {row['of the fitted models']} only")
        if row["intervals"] == "fold_scores" and float(str(row["of the recipe"])) + margin < 0.92:
            said.append(f"{what}: the recipe is covered {row['of the recipe']} only")
    return said


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    designs, repeats = (DESIGNS[-1:], QUICK_REPEATS) if quick else (DESIGNS, REPEATS)
    made = [row for design in designs for row in rows(design, repeats)]
    if not quick:
        write_rows(HERE / "folds.csv", made)
        (HERE / "folds_table.inc").write_text(table(made))
    print(table(made))
    sys.exit("\n".join(broken(made)) or None)
