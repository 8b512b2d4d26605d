"""Metric uncertainty, the length of the interval, of a table of classifiers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayescm.data.counts import check_counts
from bayescm.data.schema import METRIC
from bayescm.inference.summaries import summary
from bayescm.metrics import parts, resolve
from bayescm.plots.checks import answer_of
from bayescm.plots.forest import on_the_common_scale
from bayescm.plots.frames import Axes, list_legend, new_axes, open_frame
from bayescm.plots.layers import MARKERS, Array, batch_of, selected, tell_apart
from bayescm.plots.letters import as_written
from bayescm.plots.style import palette, paper, tone
from bayescm.results.names import metric_names

_CLAIMED = 20.0  # items, from which on the rule is claimed
_UPRIGHT = 60  # letters of all tick labels together that fit side by side


@as_written
def plot_metric_uncertainty(
    data: xr.Dataset | xr.DataTree,
    *,
    metric: str | Sequence[str] | None = None,
    counts: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the metric uncertainty, the length of the interval, of several systems.

    Parameters
    ----------
    data : xarray.Dataset or xarray.DataTree
        From :func:`bayescm.summary`, with one batch dim; or a model's draws of several systems.
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
    data = answer_of(
        summary, data, (METRIC, "width", "interval"), ("ci_prob", "ci_kind"), metrics=metric,
        call="bayescm.plots.plot_metric_uncertainty(bayescm.summary(counts))",
    )  # fmt: skip
    batch = batch_of(data, "width", (METRIC,))
    if batch is None:
        raise ValueError("`data` must have one batch dim, the systems to be compared; got none.")
    shown = on_the_common_scale(data) if metric is None else selected(data, "metric", metric)
    names, systems = [str(name) for name in shown[METRIC].values], shown.sizes[batch]
    tell_apart(len(names), "metrics", argument="metric")
    items = None if counts is None else _items(counts, names, systems)
    ax = new_axes(ax, (6.4 if items is not None else max(4.8, 1.6 + 0.28 * systems), 3.8))
    lengths = shown["width"].transpose(METRIC, ...).values
    for i, (called, length) in enumerate(zip(metric_names(shown), lengths, strict=True)):
        x = np.arange(len(length)) if items is None else items[i]
        ax.plot(
            x, length, MARKERS[i], color=palette()[i], label=called.replace("_", " "), markersize=5.5,
            markeredgecolor=paper(), markeredgewidth=0.6, zorder=3,
        )  # fmt: skip
    if items is None:
        _draw_systems(ax, [str(value) for value in data[batch].values], batch, lengths)
    else:
        _draw_rule(ax, items)
    kind = {"hdi": "HDI", "eti": "ETI"}[str(data.attrs["ci_kind"])]
    open_frame(ax, y=f"length of the {100 * float(data.attrs['ci_prob']):g}% {kind}", grid="y")
    ax.set_ylim(bottom=0.0)
    list_legend(ax, ncols=4, columnspacing=1.2)
    return ax


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


def _draw_systems(ax: Axes, labels: list[str], dim: str, lengths: Array) -> None:
    """Name the systems below the axis, and join the marks of each by a thin line."""
    finite = np.where(np.isfinite(lengths), lengths, np.nan)
    ax.vlines(np.arange(len(labels)), 0.0, np.nanmax(finite, axis=0), color=tone(0.12), linewidth=1, zorder=1)
    ax.set_xticks(np.arange(len(labels)), labels, rotation=0 if sum(map(len, labels)) <= _UPRIGHT else 90)
    ax.set_xlim(-0.7, len(labels) - 0.3)
    ax.set_xlabel(dim)


def _draw_rule(ax: Axes, items: list[Array]) -> None:
    """Draw the rule of thumb, dotted where it isn't claimed."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = float(np.nanmin(items)), float(np.nanmax(items))
    for start, end, style, label in (
        (low, min(_CLAIMED, high), ":", None),
        (max(low, _CLAIMED), high, "-", "2/\u221an (rule for n > 20)"),
    ):
        if start < end:
            n = np.geomspace(start, end, 50)
            ax.plot(n, 2 / np.sqrt(n), style, color=tone(0.55), linewidth=1.2, label=label)
    ax.set_xscale("log")
    if high / low < 1000:
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("items n that the metric is about")
