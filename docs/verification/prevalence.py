"""Rebuild the study of predictive values elsewhere: ``python -m uv run python docs/verification/prevalence.py``.

So many cases and so many controls are tested, and precision is asked for where the prevalence is another. Every outcome
is enumerated, so a coverage is no estimate: how often 95% intervals of ``summary(..., "precision", prevalence=...)``
hold the truth, with equal tails (the default) and of highest density. Writes prevalence.csv and prevalence_table.inc
in a minute.
``--quick`` runs a small part and writes nothing. Either fails if equal tails hold less than the page promises.
"""

import sys
from pathlib import Path

import numpy as np
from rows import write_rows
from scipy import stats

import bayescm

Row = dict[str, object]

HERE = Path(__file__).parent
SIZES = ((5, 50), (20, 100), (20, 20), (100, 100))
"""Cases and controls."""
RATES = ((0.8, 0.01), (0.8, 0.05), (0.9, 0.1), (0.6, 0.3))
"""Recall and false positive rate."""
PREVALENCES, KINDS = (0.5, 0.1, 0.01, 0.001), ("eti", "hdi")
LEAST = 0.92
"""Coverage that equal tails have in every row: a promise of the page."""


def study(sizes: tuple[tuple[int, int], ...]) -> list[Row]:
    """Return a row per size, prevalence and rates."""
    made: list[Row] = []
    for cases, controls in sizes:
        tp, fp = (np.ravel(axis) for axis in np.meshgrid(np.arange(cases + 1), np.arange(controls + 1), indexing="ij"))
        counts = bayescm.from_cells(tp=tp, fn=cases - tp, fp=fp, tn=controls - fp, dims="outcome")
        for prevalence in PREVALENCES:
            ends = {
                kind: bayescm.summary(counts, "precision", prevalence=prevalence, ci_kind=kind).interval.values[:, 0].T
                for kind in KINDS
            }
            for recall, alarm in RATES:
                chance = stats.binom.pmf(tp, cases, recall) * stats.binom.pmf(fp, controls, alarm)
                truth = prevalence * recall / (prevalence * recall + (1 - prevalence) * alarm)
                row: Row = {
                    "cases": cases, "controls": controls, "prevalence": prevalence, "recall": recall,
                    "false_positive_rate": alarm,
                }  # fmt: skip
                for kind, (lower, upper) in ends.items():
                    row[kind] = round(float(chance @ ((lower <= truth) & (truth <= upper))), 4)
                    row[f"width_{kind}"] = round(float(chance @ (upper - lower)), 4)
                made.append(row)
    return made


def table(made: list[Row]) -> str:
    """Return mean and least coverage over the rates, by size and prevalence."""
    lines = ["| cases / controls | prevalence | equal tails | highest density |", "|---|---|---|---|"]
    for size in dict.fromkeys((r["cases"], r["controls"], r["prevalence"]) for r in made):
        mine = [r for r in made if (r["cases"], r["controls"], r["prevalence"]) == size]
        held = {kind: np.array([r[kind] for r in mine], float) for kind in KINDS}
        cells = [f"{held[kind].mean():.3f}, {held[kind].min():.3f}" for kind in KINDS]
        lines.append(f"| {size[0]} / {size[1]} | {size[2]} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    made = study(SIZES[2:3] if quick else SIZES)
    if not quick:
        write_rows(HERE / "prevalence.csv", made)
        (HERE / "prevalence_table.inc").write_text(table(made))
    print(table(made))
    sys.exit(min(float(str(r["eti"])) for r in made) < LEAST)
