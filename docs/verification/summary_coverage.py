"""Rebuild the coverage tables: ``python -m uv run python docs/verification/summary_coverage.py`` (10 minutes).

Writes coverage.csv (every scenario) and coverage_table.md (what the page shows); and, for classes a hundred times as
rare as others, coverage_rare.csv and coverage_rare_table.inc (``--rare``: these alone, a minute). ``--quick`` runs a
small part of it and writes nothing, as CI does.
"""

import itertools
import sys
from pathlib import Path

import numpy as np
from rows import write_rows

from bayescm.calibration.interval_coverage import confusion_probabilities, coverage

HERE = Path(__file__).parent
CLASSES = (2, 3, 5, 10, 20)
PRIORS = ("jeffreys", "laplace", "legendre", "perks", "jeffreys_cell", "haldane")
ACCURACY = (0.7, 0.9)
SKEW = (1, 10)
PER_CLASS = (10, 50)
RARE = 100
"""Items of the most frequent class for one of the rarest, in the study of rare classes."""
RARE_CLASSES, RARE_PRIORS, RARE_METRICS = (3, 5, 10), ("jeffreys", "perks"), ("accuracy", "f1_macro")
METRICS = ("recall", "precision", "accuracy", "f1_macro")
FIELDS = [
    "classes",
    "prior",
    "recall_of_each_class",
    "skew",
    "items",
    "metric",
    "coverage",
    "worst_class",
    "length",
    "refused",
]


def scenario(
    k: int, prior: str, accuracy: float, skew: float, per_class: int, repeats: int, metrics: tuple[str, ...] = METRICS
) -> list[dict[str, object]]:
    """Return one row per metric: coverage over the classes, the worst class, mean length."""
    result = coverage(
        confusion_probabilities(k, accuracy=accuracy, skew=skew), k * per_class, metrics, prior=prior,
        repeats=repeats, random_seed=1000 * k + per_class,
    )  # fmt: skip
    rows = []
    for metric in metrics:
        mine = [i for i, name in enumerate(result["metric"].values) if str(name).split("[")[0] == metric]
        shares, lengths = result["coverage"].values[mine], result["length"].values[mine]
        rows.append(
            dict(zip(FIELDS, (k, prior, accuracy, skew, k * per_class, metric, round(float(shares.mean()), 4),
                              round(float(shares.min()), 4), round(float(lengths.mean()), 4),
                              round(float(result.attrs["refused"]), 4)), strict=True))
        )  # fmt: skip
    return rows


def study(classes: tuple[int, ...], priors: tuple[str, ...], repeats: int) -> list[dict[str, object]]:
    """Run all scenarios."""
    rows = []
    for k, prior, accuracy, skew, per_class in itertools.product(classes, priors, ACCURACY, SKEW, PER_CLASS):
        rows += scenario(k, prior, accuracy, skew, per_class, repeats)
        print(k, prior, accuracy, skew, per_class, [row["coverage"] for row in rows[-len(METRICS) :]], flush=True)
    return rows


def table(rows: list[dict[str, object]]) -> str:
    """Return the table of the page: mean over scenarios and the worst scenario, per K, prior and metric."""
    lines = ["| K | prior | " + " | ".join(METRICS) + " |", "|---|---|" + "---|" * len(METRICS)]
    for k, prior in itertools.product(CLASSES, PRIORS):
        cells = []
        for metric in METRICS:
            mine = [r for r in rows if (r["classes"], r["prior"], r["metric"]) == (k, prior, metric)]
            values = np.array([r["coverage"] for r in mine], float)
            refused = float(np.mean([r["refused"] for r in mine]))
            if refused > 0.5:
                cells.append(f"refused {100 * refused:.0f}%")
            else:
                note = f" (refused {100 * refused:.0f}%)" if refused > 0 else ""
                cells.append(f"{np.nanmean(values):.3f} (worst {np.nanmin(values):.2f}){note}")
        lines.append(f"| {k} | `{prior}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def rare(classes: tuple[int, ...], repeats: int) -> list[dict[str, object]]:
    """Run the scenarios of rare classes."""
    rows = []
    for k, prior, accuracy, per_class in itertools.product(classes, RARE_PRIORS, ACCURACY, PER_CLASS):
        rows += scenario(k, prior, accuracy, RARE, per_class, repeats, RARE_METRICS)
        print(k, prior, accuracy, RARE, per_class, [row["coverage"] for row in rows[-2:]], flush=True)
    return rows


def rare_table(rows: list[dict[str, object]]) -> str:
    """Return the table of rare classes: coverage of each scenario, macro F1 and accuracy."""
    lines = [
        "| K | recall of each class | items | rarest class | " + " | ".join(
            f"{metric}, `{prior}`" for metric in ("f1_macro", "accuracy") for prior in RARE_PRIORS
        ) + " |",
        "|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for k, accuracy, per_class in itertools.product(RARE_CLASSES, ACCURACY, PER_CLASS):
        theta = confusion_probabilities(k, accuracy=accuracy, skew=RARE)
        cells = [
            f"{r['coverage']:.3f}"
            for metric in ("f1_macro", "accuracy")
            for prior in RARE_PRIORS
            for r in rows
            if (r["classes"], r["recall_of_each_class"], r["items"], r["metric"], r["prior"])
            == (k, accuracy, k * per_class, metric, prior)
        ]
        smallest = f"{k * per_class * theta.sum(1).min():.1f}"
        lines.append(f"| {k} | {accuracy} | {k * per_class} | {smallest} items | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if "--quick" in sys.argv:
        study((2, 3), ("jeffreys", "haldane"), 5)
        rare((3,), 5)
        sys.exit()
    of_rare = rare(RARE_CLASSES, 200)
    write_rows(HERE / "coverage_rare.csv", of_rare)
    (HERE / "coverage_rare_table.inc").write_text(rare_table(of_rare))
    if "--rare" not in sys.argv:
        result = study(CLASSES, PRIORS, 400)
        write_rows(HERE / "coverage.csv", result)
        (HERE / "coverage_table.md").write_text(table(result))
