"""The picture of a synthesis: studies on the ROC plane, their summary point, regions and curve."""

from typing import Any

import numpy as np
import xarray as xr

from bayescm.data.schema import METRIC
from bayescm.plots.frames import Axes, draw_legend, frame, new_axes, unit_limits
from bayescm.plots.style import fade, palette, paper, tone
from bayescm.results.writing import percent

AT = "at"
_LARGEST = 180.0
"""Of the largest study's circle, in square points; areas go with numbers of items."""


def draw_sroc(data: xr.DataTree, *, legend: bool = True, ax: Axes | None = None) -> Axes:
    """Draw each study, the median study with its region, the next study's region, and the summary ROC curve.

    With covariates each level has its curve and the region of its median study.
    """
    parts: dict[str, xr.Dataset] = {str(name): part.to_dataset() for name, part in data.children.items()}
    if not parts["studies"]["point"].notnull().any("study").all():
        raise ValueError(
            "`data` is of studies of one rate alone, and has no summary ROC curve; draw "
            'bayescm.plots.plot_forest(data["studies"].to_dataset()).'
        )
    ends = [float(parts["spread"].attrs[f"fpr_{end}"]) for end in ("low", "high")]
    level = percent(float(data.attrs["ci_prob"]))
    ax = new_axes(ax, (5.4, 4.9))
    frame(ax, "False positive rate", "Recall", unit_limits())
    lines: list[Any] = []
    with_levels = AT in parts["curve"].dims
    for i, name in enumerate(parts["curve"][AT].values.tolist() if with_levels else [""]):
        one = {key: part.sel({AT: name}) if AT in part.dims else part for key, part in parts.items()}
        color, hide = palette()[i % len(palette())], "_" if with_levels else ""  # what begins so isn't in the legend
        labels = f"{name or 'summary ROC curve'}, {level} at each rate", f"{hide}beyond the studies"
        lines += _draw_curve(one["curve"], ends, color, labels, ax)
        kinds = [("region", "-", "median study"), ("prediction", "--", "next study")]
        for of, style, label in kinds[:1] if with_levels else kinds:
            x, y = (np.append(end, end[0]) for end in _place(one[of]["outline"]))
            edge = color if with_levels else tone(0.8)
            lines += ax.plot(x, y, style, color=edge, linewidth=1.0, label=f"{hide}{label}, {level}")
        x, y = _place(one["region"]["median"])
        lines += ax.plot(x, y, "o", color=color, markeredgecolor=paper(), label=f"{hide}median study", zorder=4)
    items = parts["studies"]["n_items"].values
    circles: dict[str, Any] = {"facecolor": "none", "edgecolor": tone(0.55), "linewidth": 0.9, "clip_on": False}
    label = "a study, its area by items"
    place = _place(parts["studies"]["point"])
    lines.insert(-1, ax.scatter(*place, _LARGEST * items / items.max(), label=label, zorder=3, **circles))
    if legend:
        draw_legend(ax, "", [line for line in lines if not line.get_label().startswith("_")])
    return ax


def _draw_curve(curve: xr.Dataset, ends: list[float], color: Any, labels: tuple[str, str], ax: Axes) -> list[Any]:
    """Draw a summary ROC curve with its band, dotted beyond the studies."""
    fpr, recall = curve["fpr"].values, curve["recall"].values
    ax.fill_between(fpr, *curve["interval"].values.T, color=color, alpha=fade(0.12), linewidth=0)
    seen = (fpr >= ends[0]) & (fpr <= ends[1])
    lines = ax.plot(fpr[seen], recall[seen], color=color, linewidth=1.6, label=labels[0])
    return [*lines, *ax.plot(fpr, recall, color=color, linewidth=0.8, linestyle=":", label=labels[1])]


def _place(rates: xr.DataArray) -> tuple[Any, Any]:
    """Return false positive rates and recalls."""
    return np.atleast_1d(1.0 - rates.sel({METRIC: "specificity"})), np.atleast_1d(rates.sel({METRIC: "recall"}))
