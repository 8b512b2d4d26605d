"""Redraw Figs 7 and 8 of Morais 2023, with other data: ``python docs/thesis_curves.py``.

Writes images/thesis_roc.png and images/thesis_pr.png. Fig. 5 is verification/intervals_proportion.png.
"""

import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import bayescm

HERE = Path(__file__).parent / "images"
AREAS = {"roc": "auc", "pr": "average_precision"}
WORDS = {"auc": "AUC", "average_precision": "AP"}
LABELS = {"roc": ("false positive rate", "recall"), "pr": ("recall", "precision")}


def systems() -> dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Return two systems on test sets of their own: many items that separate well, and few that do less."""
    made = {}
    rng = np.random.default_rng(42)
    for name, n, a, b in (("system 1", 200, 6, 10), ("system 2", 50, 7, 9)):
        score = np.concatenate([rng.beta(a, b, n), rng.beta(b, a, n)])
        made[name] = np.repeat([0, 1], n), score
    return made


def draw(space: str) -> Any:
    """Draw both curves with their flat 95% hulls, and say in the legend what the area's interval is."""
    fig, ax = plt.subplots(figsize=(6.2, 6), layout="constrained")
    step = "steps-pre" if space == "pr" else "default"
    if space == "pr":
        iso_f1(ax)
    for (name, (y, score)), color in zip(systems().items(), ("C0", "C1"), strict=True):
        intervals = bayescm.curves.intervals(y, score, space=space, method="flat")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the legend says it
            hull = bayescm.curves.hull(intervals)
        area = bayescm.curve_posterior(y, score, over=None, random_seed=1)["posterior"][AREAS[space]]
        held, between = area.quantile([0.025, 0.975]).values, hull["area"].values
        label = (
            f"{name}, {len(y)} items: {WORDS[AREAS[space]]} {float(area.median()):.3f}\n"
            f"  95% of the joint posterior: {held[0]:.3f} to {held[1]:.3f}\n"
            f"  between the hulls, no interval: {between[0]:.3f} to {between[1]:.3f}"
        )
        ax.plot(*intervals["point"].values.T, color=color, label=label, drawstyle=step)
        ax.fill(
            *np.concatenate(
                [hull["hull"].sel(ci_bound="lower").values, hull["hull"].sel(ci_bound="upper").values[::-1]]
            ).T,
            color=color,
            alpha=0.2,
            lw=0,
        )
        for side in ("lower", "upper"):
            ax.plot(*hull["hull"].sel(ci_bound=side).values.T, color=color, alpha=0.5, lw=0.7)
    x, y_label = LABELS[space]
    ax.set(xlim=(0, 1), ylim=(0, 1.005), xlabel=x, ylabel=y_label, aspect="equal")
    ax.legend(loc="lower right" if space == "roc" else "lower left", fontsize=8)
    return fig


def iso_f1(ax: Any) -> None:
    """Draw lines of equal F1."""
    for f1 in np.arange(0.1, 1.0, 0.1):
        recall = np.linspace(f1 / (2 - f1), 1, 200)
        ax.plot(recall, f1 * recall / (2 * recall - f1), color="0.85", lw=0.8, zorder=0)
        ax.annotate(f"F1 = {f1:.1f}", (1, f1 / (2 - f1)), (3, 0), textcoords="offset points", fontsize=7, color="0.5",
                    va="center", annotation_clip=False)  # fmt: skip


if __name__ == "__main__":
    for plane in ("roc", "pr"):
        draw(plane).savefig(HERE / f"thesis_{plane}.png", dpi=110)
