"""Metric uncertainty, the length of the interval, of a table of classifiers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data.counts import check_counts
from bayescm.data.schema import METRIC
from bayescm.metrics import parts, resolve
from bayescm.plots.checks import require
from bayescm.plots.densities import COLORS
from bayescm.plots.forest import _on_the_common_scale
from bayescm.plots.letters import as_written
from bayescm.results.names import metric_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

_MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
_CLAIMED = 20.0  # items, from which on the rule is claimed
_UPRIGHT = 60  # letters of all tick labels together that fit side by side


@as_written
def plot_metric_uncertainty(
    data: xr.Dataset,
    *,
    metric: str | Sequence[str] | None = None,
    counts: Any = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the metric uncertainty, the length of the interval, of several systems.

    Parameters
    ----------
    data : xarray.Dataset
        From :func:`bayescm.summary`, with one batch dim.
    metric : str or sequence of str, optional
        Which of its metrics. Default: those whose intervals lie within [-1, 1].
    counts : xarray.DataArray or array_like, optional
        The counts of the summary. Given these, the horizontal axis is logarithmic and shows the number of items that a
        metric is about (for a proportion S/(S + T) that is S + T: the actual positives for recall; else all items),
        with the rule of thumb 2/sqrt(n) as a line. Else the systems stand side by side, in their order.
    ax : matplotlib.axes.Axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    References
    ----------
    Toetsch and Hoffmann 2021, Fig. 3B and eq. 15 (the rule: for n > 20 the 95% interval of a proportion is rarely
    longer than 2/sqrt(n)).

    Examples
    --------
    >>> import bayescm
    >>> s = bayescm.summary(bayescm.datasets.caelen2017(), ["recall", "precision"])
    >>> ax = bayescm.plots.plot_metric_uncertainty(s)
    """
    import matplotlib.pyplot as plt

    require(
        "data", data, "bayescm.summary", (METRIC, "width", "interval"), ("ci_prob", "ci_kind"),
        call="bayescm.plot_metric_uncertainty(bayescm.summary(counts))",
    )  # fmt: skip
    batch = [str(dim) for dim in data["width"].dims if dim != METRIC]
    if len(batch) != 1:
        raise ValueError(f"`data` must have one batch dim, the systems to be compared; got {batch}.")
    shown = _chosen(data, metric)
    names = [str(name) for name in shown[METRIC].values]
    if len(names) > len(COLORS):
        raise ValueError(f"`metric`: {len(names)} metrics can't be told apart; give at most {len(COLORS)}.")
    items = None if counts is None else _items(counts, names, shown.sizes[batch[0]])
    if ax is None:
        width = 6.4 if items is not None else max(4.8, 1.6 + 0.28 * shown.sizes[batch[0]])
        _, ax = plt.subplots(figsize=(width, 3.8), layout="constrained")
    lengths = shown["width"].transpose(METRIC, ...).values
    for i, (called, length) in enumerate(zip(metric_names(shown), lengths, strict=True)):
        x = np.arange(len(length)) if items is None else items[i]
        ax.plot(
            x, length, _MARKERS[i], color=COLORS[i], label=called.replace("_", " "), markersize=5.5,
            markeredgecolor="white", markeredgewidth=0.6, zorder=3,
        )  # fmt: skip
    if items is None:
        _draw_systems(ax, [str(value) for value in data[batch[0]].values], batch[0], lengths)
    else:
        _draw_rule(ax, items)
    kind = {"hdi": "HDI", "eti": "ETI"}[str(data.attrs["ci_kind"])]
    ax.set_ylabel(f"length of the {100 * float(data.attrs['ci_prob']):g}% {kind}")
    ax.set_ylim(bottom=0.0)
    ax.grid(axis="y", color="0.9")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, frameon=False, fontsize="small", columnspacing=1.2)
    return ax


def _chosen(summary: xr.Dataset, metric: str | Sequence[str] | None) -> xr.Dataset:
    """Return the metrics that are wanted, or those on the common scale."""
    if metric is None:
        return _on_the_common_scale(summary)
    stored = [str(name) for name in summary[METRIC].values]
    names = []
    for name in [metric] if isinstance(metric, str) else metric:
        canonical = name if name in stored else resolve([name], 2)[0].name
        if canonical not in stored:
            raise ValueError(f"`metric` {name!r} isn't in the summary, which has {', '.join(stored)}.")
        names.append(canonical)
    return summary.sel({METRIC: names})


def _items(counts: Any, names: Sequence[str], systems: int) -> list[Array]:
    """Return the number of items that each metric is about, of every system."""
    values = check_counts(counts).compute().values
    if values.ndim != 3 or len(values) != systems or values.shape[1:] != (2, 2):
        raise ValueError(
            f"`counts` must be those of the summary, {systems} matrices of two labels; got shape {values.shape}."
        )
    every = values.sum((-2, -1))
    resolved = resolve(list(names), 2)
    found = [every if metric.ratio is None else np.add(*parts(metric, values)) for metric in resolved]
    return [np.where(n > 0, n, np.nan) for n in found]


def _draw_systems(ax: "Axes", labels: list[str], dim: str, lengths: Array) -> None:
    """Name the systems below the axis, and join the marks of each by a thin line."""
    finite = np.where(np.isfinite(lengths), lengths, np.nan)
    ax.vlines(np.arange(len(labels)), 0.0, np.nanmax(finite, axis=0), color="0.88", linewidth=1, zorder=1)
    ax.set_xticks(np.arange(len(labels)), labels, rotation=0 if sum(map(len, labels)) <= _UPRIGHT else 90)
    ax.set_xlim(-0.7, len(labels) - 0.3)
    ax.set_xlabel(dim)


def _draw_rule(ax: "Axes", items: list[Array]) -> None:
    """Draw the rule of thumb, dotted where it isn't claimed."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = float(np.nanmin(items)), float(np.nanmax(items))
    for start, end, style, label in (
        (low, min(_CLAIMED, high), ":", None),
        (max(low, _CLAIMED), high, "-", "2/\u221an (rule for n > 20)"),
    ):
        if start < end:
            n = np.geomspace(start, end, 50)
            ax.plot(n, 2 / np.sqrt(n), style, color="0.45", linewidth=1.2, label=label)
    ax.set_xscale("log")
    if high / low < 1000:
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("items n that the metric is about")
