"""The picture of a synthesis: studies on the ROC plane, their summary point, regions and curve."""

from typing import Any

import numpy as np
import xarray as xr

from bayescm.data.schema import METRIC
from bayescm.plots.frames import Axes, draw_legend, frame, new_axes, unit_limits
from bayescm.plots.style import fade, palette, paper, tone
from bayescm.results.writing import percent

_LARGEST = 180.0
"""Of the largest study's circle, in square points; areas go with numbers of items."""


def draw_sroc(data: xr.DataTree, *, legend: bool = True, ax: Axes | None = None) -> Axes:
    """Draw each study, the median study with its region, the next study's region, and the summary ROC curve."""
    parts: dict[str, xr.Dataset] = {str(name): part.to_dataset() for name, part in data.children.items()}
    curve, low, high = parts["curve"], *(parts["spread"].attrs[f"fpr_{end}"] for end in ("low", "high"))
    color, level = palette()[0], percent(float(data.attrs["ci_prob"]))
    ax = new_axes(ax, (5.4, 4.9))
    frame(ax, "False positive rate", "Recall", unit_limits())
    fpr, recall = curve["fpr"].values, curve["recall"].values
    ax.fill_between(fpr, *curve["interval"].values.T, color=color, alpha=fade(0.12), linewidth=0)
    seen, label = (fpr >= low) & (fpr <= high), f"summary ROC curve, {level} at each rate"
    lines: list[Any] = ax.plot(fpr[seen], recall[seen], color=color, linewidth=1.6, label=label)
    lines += ax.plot(fpr, recall, color=color, linewidth=0.8, linestyle=":", label="beyond the studies")
    for name, style, label in (("region", "-", "median study"), ("prediction", "--", "next study")):
        x, y = _place(parts[name]["outline"])
        label = f"{label}, {level}"
        lines += ax.plot(np.append(x, x[0]), np.append(y, y[0]), style, color=tone(0.8), linewidth=1.0, label=label)
    items = parts["studies"]["n_items"].values
    circles: dict[str, Any] = {"facecolor": "none", "edgecolor": tone(0.55), "linewidth": 0.9, "clip_on": False}
    label = "a study, its area by items"
    lines.append(
        ax.scatter(*_place(parts["studies"]["point"]), _LARGEST * items / items.max(), label=label, zorder=3, **circles)
    )
    x, y = _place(parts["region"]["median"])
    lines += ax.plot(x, y, "o", color=color, markeredgecolor=paper(), label="median study", zorder=4)
    if legend:
        draw_legend(ax, "", lines)
    return ax


def _place(rates: xr.DataArray) -> tuple[Any, Any]:
    """Return false positive rates and recalls."""
    return np.atleast_1d(1.0 - rates.sel({METRIC: "specificity"})), np.atleast_1d(rates.sel({METRIC: "recall"}))
