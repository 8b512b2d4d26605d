"""Tables, verdicts and pictures of docs/verification/methods.py, all from the rows of its files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

mpl.use("agg")
import matplotlib.pyplot as plt

Array = NDArray[np.float64]
Row = dict[str, Any]

HERE = Path(__file__).parent
LEVEL, LOW, HIGH, SHOWN, POOR = 0.95, 0.94, 0.975, 0.6, 0.8
"""Level; least and largest mean of a method that is recommended; least coverage drawn; what counts as failing."""
AVERAGE, LEAST = "average", "least"
FROM = 10
"""Items from which on a method is judged."""
TITLES = {
    "recall": "Recall, specificity, accuracy: a share of n items", "precision": "Precision", "f1": "F1",
    "balanced_accuracy": "Balanced accuracy", "matthews_correlation": "Matthews correlation (MCC)",
    "cohen_kappa": "Cohen's kappa", "other items": "Difference of two shares, other items for each system",
    "same items": "Difference of two accuracies, the same items", "three cells": "Three shares at once",
    "reliability": "All five bins of a reliability diagram", "roc curve": "A whole ROC curve",
    "pr curve": "A whole PR curve", "pr": "A point on the PR plane",
    "roc": "A point on the ROC plane", "auc": "Area under the ROC curve, 100 controls",
    "average_precision": "Average precision, nine controls a case",
}  # fmt: skip
SHORT = {"matthews_correlation": "MCC", "f1": "F1", "pr": "PR", "roc": "ROC", "auc": "AUC", "recall": "recall",
         "other items": "other items", "same items": "same items", "reliability": "reliability"}  # fmt: skip
ONE_TRUTH = ("auc", "average_precision")
"""Of which there is one true curve only: too little for advice."""
ORDER = {name: i for i, name in enumerate(TITLES)}
_HDI, _THREE = "summary, dirichlet jeffreys, hdi", "summary, three binomials jeffreys, eti"
_OWN = ("compare_systems, hdi", "compare_systems, eti")
PICTURES: dict[str, tuple[list[tuple[str, str]], int, tuple[str, ...]]] = {
    "proportion": ([("recall", f"rate {p}") for p in (0.5, 0.7, 0.9, 0.95, 0.99, 0.999)], 3,
                   ("wilson", "clopper_pearson", "jeffreys", "agresti_coull", "wald", _HDI)),
    "matrix": ([(q, f"good, prevalence {p}") for q in ("f1", "matthews_correlation") for p in (0.5, 0.1, 0.02)], 3,
               ("wilson", "wald", "delta", "bootstrap", _HDI, _THREE)),
    "difference": ([*(("other items", p) for p in ("0.5 and 0.5", "0.9 and 0.9", "0.99 and 0.99")),
                    *(("same items", f"{d} discordant, difference 0") for d in (0.4, 0.1, 0.02))], 3,
                   ("newcombe", "miettinen_nurminen", "agresti_caffo", "tango", *_OWN)),
    "simultaneous": ([*(("three cells", p) for p in ("0.33 0.33 0.33", "0.8 0.15 0.05", "0.98 0.01 0.01")),
                      *(("reliability", p) for p in ("even", "mean .05", "mean .01")),
                      ("roc curve", "weak"), ("roc curve", "strong"), ("pr curve", "strong")], 3,
                     ("goodman", "sison_glaz", "clopper_pearson", "wilson", "jeffreys", "simultaneous", "whole")),
    "region": ([(q, f"good, prevalence {p}") for q in ("pr", "roc") for p in (0.5, 0.1, 0.02)], 3,
               ("wilks", "exact", "exact, mid_p", "credible", "ellipse")),
    "area": ([("auc", "binormal"), ("average_precision", "binormal")], 2,
             ("delong", "logit_delong", "logit", "bootstrap", "bca", "bayesian", "smoothed")),
}  # fmt: skip
"""Panels (quantity, truth), columns, methods of the picture."""


class Found(NamedTuple):
    """What a quantity's rows say of a method at one size."""

    mean: float
    worst: float
    at: str
    below: float
    above: float
    width: float
    unanswered: float
    mcse: float
    mcse_mean: float


def number(row: Row, name: str) -> float:
    """Return a number of a row; NaN where there is none."""
    return float(row[name]) if str(row[name]) else float("nan")


def found(rows: Sequence[Row]) -> dict[str, dict[int, Found]]:
    """Return for each method and size the mean, the worst truth, misses, width; of the rows of one quantity."""
    made: dict[str, dict[int, Found]] = {}
    for method, n in dict.fromkeys((r["method"], int(r["n"])) for r in rows):
        mine = [r for r in rows if (r["method"], int(r["n"])) == (method, n)]
        truths = [r for r in mine if r["truth"] != AVERAGE]
        over = [r for r in mine if r["truth"] == AVERAGE] or truths
        least = min(truths, key=lambda r: number(r, "coverage"))
        mean, below, above, width, none, squares = (
            float(np.mean([number(r, name) ** power for r in over]))
            for name, power in (
                ("coverage", 1),
                ("below", 1),
                ("above", 1),
                ("width", 1),
                ("unanswered", 1),
                ("mcse", 2),
            )
        )
        place = str(least["at"] or least["truth"])
        made.setdefault(method, {})[n] = Found(
            mean,
            number(least, "coverage"),
            place,
            below,
            above,
            width,
            none,
            number(least, "mcse"),
            (squares / len(over)) ** 0.5,
        )
    return made


def share(value: float) -> str:
    """Return a coverage as the pages print it."""
    return f"{value:.3f}".removeprefix("0") if value < 0.9995 else "1"


def table_of(rows: Sequence[Row]) -> str:
    """Return the table of one quantity: a line per method; without what none of them has."""
    mine = found(rows)
    sizes = sorted({n for of_size in mine.values() for n in of_size})
    chosen = min(sizes, key=lambda n: abs(n - 20))
    sides, wide = (
        any(not np.isnan(getattr(s[chosen], name)) for s in mine.values() if chosen in s) for name in ("below", "width")
    )
    heads = ["method", *(f"n = {n}" for n in sizes), "worst at"]
    heads += [f"too low / too high, n = {chosen}"] * sides + [f"width, n = {chosen}"] * wide
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for method, of_size in mine.items():
        cells = [f"{share(of_size[n].mean)} / {share(of_size[n].worst)}" if n in of_size else "" for n in sizes]
        n = min(of_size, key=lambda n: of_size[n].worst)
        cells.append(f"{of_size[n].at}, n = {n}")
        at = of_size.get(chosen)
        if sides:
            cells.append("" if at is None or np.isnan(at.below) else f"{share(at.below)} / {share(at.above)}")
        if wide:
            cells.append("" if at is None or np.isnan(at.width) else f"{at.width:.2f}")
        lines.append(f"| `{method}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def counted(sizes: Mapping[int, Any]) -> dict[int, Any]:
    """Return what is found at the sizes that count: from ten items on, unless there are none."""
    return {n: found for n, found in sizes.items() if n >= FROM} or dict(sizes)


def judged(rows: Sequence[Row]) -> tuple[str | None, list[str], list[tuple[str, int | None]]]:
    """Return the method to take, those that never hold less, and those that fail with the size from which they don't.

    To take: of the methods whose mean is from .94 to .975, within two standard errors, at every size from ten items on,
    the one whose worst is the best, and of several within half a point the shortest; without any, the one whose mean is
    closest to the level.
    """
    mine = {m: counted(s) for m, s in found(rows).items()}
    every = max(len(s) for s in mine.values())
    whole = {m: s for m, s in mine.items() if len(s) == every}
    good = [m for m, s in whole.items()
            if all(LOW - 2 * f.mcse_mean <= f.mean <= HIGH + 2 * f.mcse_mean for f in s.values())]  # fmt: skip
    good = good or [closest_to_level(rows)]
    worst = {m: min(f.worst for f in s.values()) for m, s in mine.items()}
    sure = [m for m, s in whole.items() if all(f.worst >= LEVEL - 1e-6 - min(2 * f.mcse, 0.004) for f in s.values())]
    best = [m for m in good if worst[m] >= max(worst[g] for g in good) - 0.005]
    take = min(best, key=lambda m: np.nan_to_num(np.mean([f.width for f in whole[m].values()])))
    failing: list[tuple[str, int | None]] = []
    for method, of_size in mine.items():
        bad = [n for n, f in of_size.items() if f.worst < POOR]
        if bad and method != take:
            later = [n for n in of_size if n > max(bad)]
            failing.append((method, min(later) if later else None))
    return take, sure, failing


def closest_to_level(rows: Sequence[Row]) -> str:
    """Return the method whose mean coverage departs least from the level, at the size where it departs most."""
    mine = {m: [max(abs(f.mean - LEVEL) - 2 * f.mcse_mean, 0.0) for f in counted(s).values()]
            for m, s in found(rows).items()}  # fmt: skip
    every = max(len(s) for s in mine.values())
    return min((m for m in mine if len(mine[m]) == every), key=lambda m: round(max(mine[m]), 3))


def verdict(rows: Sequence[Row]) -> str:
    """Return the sentences above a table, from its numbers alone."""
    if rows[0]["quantity"] in ONE_TRUTH:
        return "One true curve is too little for advice: [which interval to quote](index.md#which-interval-to-quote)."
    take, sure, failing = judged(rows)
    mine = counted(found(rows)[str(take)])
    means = [f.mean for f in mine.values()]
    n = min(mine, key=lambda n: mine[n].worst)
    low, high = share(min(means)), share(max(means))
    said = [f"**Take `{take}`**: it holds the truth in {low if low == high else f'{low} to {high}'} on average, "
            f"at worst in {share(mine[n].worst)} ({mine[n].at}, n = {n})."]  # fmt: skip
    closest = closest_to_level(rows)
    if closest != take:
        near = counted(found(rows)[closest]).values()
        low, high = share(min(f.mean for f in near)), share(max(f.mean for f in near))
        said.append(f"On average the closest to 95% is `{closest}`: {low if low == high else f'{low} to {high}'}, "
                    f"at worst {share(min(f.worst for f in near))}.")  # fmt: skip
    if others := [f"`{m}`" for m in sure if m != take]:
        said.append("Never below 95% here: " + ", ".join(others) + ".")
    groups: dict[int | None, list[str]] = {}
    for method, size in failing:
        groups.setdefault(size, []).append(f"`{method}`")
    for size, methods in sorted(groups.items(), key=lambda one: (one[0] is None, one[0] or 0)):
        where = "At no size here" if size is None else f"Not below {size}"
        said.append(f"{where} (somewhere below .80): " + ", ".join(methods) + ".")
    return " ".join(said)


def quantities(rows: Sequence[Row]) -> list[str]:
    """Return the quantities of a family in the order of the page."""
    return sorted({str(r["quantity"]) for r in rows}, key=lambda q: ORDER.get(q, 99))


def table(_: str, rows: Sequence[Row]) -> str:
    """Return headings, verdicts and tables of a family."""
    made = []
    for quantity in quantities(rows):
        mine = [r for r in rows if r["quantity"] == quantity]
        made.append(f"### {TITLES[quantity]}\n\n{verdict(mine)}\n\n{table_of(mine)}")
    return "\n".join(made)


def summary(families: dict[str, list[Row]]) -> str:
    """Return the table of what to take: a line per quantity."""
    lines = ["| what you report | take | mean, worst from 10 items on | never below 95% here | somewhere below .80 |",
             "|---|---|---|---|---|"]  # fmt: skip
    for rows in families.values():
        for quantity in quantities(rows):
            if quantity in ONE_TRUTH:
                continue
            mine = [r for r in rows if r["quantity"] == quantity]
            take, sure, failing = judged(mine)
            of_size = counted(found(mine)[str(take)])
            means = [f.mean for f in of_size.values()]
            fails = [f"`{m}`" + ("" if size is None else f" below {size}") for m, size in failing]
            lines.append(
                f"| {TITLES[quantity]} | `{take}` | {share(min(means))} to {share(max(means))}, "
                f"{share(min(f.worst for f in of_size.values()))} | {', '.join(f'`{m}`' for m in sure)} | "
                f"{', '.join(fails)} |"
            )
    return "\n".join(lines) + "\n"


def draw(family: str, rows: Sequence[Row]) -> plt.Figure:
    """Draw coverage against n: a panel per truth, a line per method with its name at the right end."""
    panels, columns, methods = PICTURES[family]
    lines = -(-len(panels) // columns)
    height = 2.6 * lines + 0.9
    figure, axes = plt.subplots(lines, columns, figsize=(3.9 * columns, height), sharey=True, squeeze=False)
    figure.subplots_adjust(
        left=0.06 if columns > 2 else 0.09, right=0.995, wspace=0.06, hspace=0.32, top=1 - 0.65 / height,
        bottom=0.55 / height,
    )  # fmt: skip
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    for ax, (quantity, truth) in zip(axes.flat, panels, strict=False):
        panel(ax, [r for r in rows if (r["quantity"], r["truth"]) == (quantity, truth)], methods)
        name = TITLES[quantity].split(",")[0] if quantity not in SHORT else SHORT[quantity]
        ax.set_title(f"{name}: {truth}", fontsize=10)
    for ax in axes[:, 0]:
        ax.set_ylabel("coverage", fontsize=9)
    figure.supxlabel("cases" if family == "area" else "items", fontsize=9)
    said = "How often 95% intervals hold the truth; dashed: 95%; grey: what simulation leaves open"
    figure.suptitle(said, fontsize=10)
    return figure


def panel(ax: plt.Axes, rows: Sequence[Row], methods: tuple[str, ...]) -> None:
    """Draw one panel."""
    sizes = sorted({int(r["n"]) for r in rows})
    places = {n: i for i, n in enumerate(sizes)}
    ax.axhline(LEVEL, color="0.25", linewidth=1.2, linestyle=(0, (4, 2)), zorder=2)
    half = [1.96 * error_of_level([r for r in rows if int(r["n"]) == n]) for n in sizes]
    if any(half):
        ax.fill_between(range(len(sizes)), LEVEL - np.array(half), LEVEL + np.array(half), color="0.88", zorder=0)
    ends: list[tuple[float, float, str, str]] = []
    for k, method in enumerate(methods):
        mine = sorted((r for r in rows if r["method"] == method), key=lambda r: int(r["n"]))
        if not mine:
            continue
        values = np.array([number(r, "coverage") for r in mine])
        x, y = [places[int(r["n"])] for r in mine], np.maximum(values, SHOWN)
        color = f"C{k}"
        ax.plot(x, y, "-", color=color, linewidth=1.3)
        ax.plot([a for a, v in zip(x, values, strict=True) if v >= SHOWN], y[values >= SHOWN], "o", color=color, ms=3.5)
        ax.plot([a for a, v in zip(x, values, strict=True) if v < SHOWN], y[values < SHOWN], "v", color=color, ms=5,
                clip_on=False)  # fmt: skip
        ends.append((y[-1], x[-1], method, color))
    label(ax, ends, len(sizes) - 1)
    ax.set(ylim=(SHOWN - 0.005, 1.01), xlim=(-0.3, (len(sizes) - 1) * 1.62 + 0.3))
    ax.set_xticks(range(len(sizes)), [str(n) for n in sizes], fontsize=8)
    ax.tick_params(axis="y", labelsize=8)
    ax.grid(axis="y", color="0.93")
    ax.spines[["top", "right"]].set_visible(False)


def label(ax: plt.Axes, ends: list[tuple[float, float, str, str]], last: int) -> None:
    """Write each method's name beside the end of its line, at least a line's height apart."""
    step, ends = 0.031, sorted(ends, reverse=True)
    heights = [min(ends[0][0], 1.0)] if ends else []
    for y, *_ in ends[1:]:
        heights.append(min(y, heights[-1] - step))
    if heights and (under := SHOWN + 0.005 - heights[-1]) > 0:  # push up from below
        heights[-1] += under
        for i in range(len(heights) - 2, -1, -1):
            heights[i] = max(heights[i], heights[i + 1] + step)
    for (y, x, method, color), height in zip(ends, heights, strict=True):
        ax.plot([x, last + 0.28], [y, height], color=color, linewidth=0.5, alpha=0.7)
        ax.text(last + 0.32, height, shortened(method), color=color, fontsize=7.5, va="center")


def shortened(method: str) -> str:
    """Return a method's name in a picture."""
    names = {_HDI: "summary", _THREE: "summary, 3 binomials", _OWN[0]: "compare_systems", _OWN[1]: "the same, eti"}
    return names.get(method, method.replace("_", " "))


def error_of_level(rows: Sequence[Row]) -> float:
    """Return the standard error that a coverage of .95 has by the simulations behind rows; 0 by enumeration."""
    sizes = [c * (1 - c) / s**2 for r in rows if (s := number(r, "mcse")) > 0 and 0 < (c := number(r, "coverage")) < 1]
    return float(np.sqrt(LEVEL * (1 - LEVEL) / np.median(sizes))) if sizes else 0.0


def write(family: str, rows: Sequence[Row]) -> None:
    """Write the tables and the picture of a family."""
    (HERE / f"methods_{family}_table.inc").write_text(table(family, rows), encoding="utf-8")
    figure = draw(family, rows)
    figure.savefig(HERE / f"methods_{family}.png", dpi=80, pil_kwargs={"optimize": True})
    plt.close(figure)


def write_summary(families: dict[str, list[Row]]) -> None:
    """Write the table of what to take."""
    text = summary({name: rows for name, rows in families.items() if rows})
    (HERE / "methods_summary_table.inc").write_text(text, encoding="utf-8")
