"""Forest of metrics: point, posterior mean and interval."""

from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bayescm.data import validate
from bayescm.data.schema import CI_BOUND, METRIC
from bayescm.inference.summaries import summary
from bayescm.metrics import available
from bayescm.plots.checks import answer_of
from bayescm.plots.frames import Axes, draw_reference, list_legend, new_axes
from bayescm.plots.layers import MARKERS, Array, batch_labels
from bayescm.plots.letters import as_written, wrapped
from bayescm.plots.style import ink, palette, paper, tone
from bayescm.results.names import metric_names
from bayescm.results.writing import percent

_ROOM = 0.7  # of a line, between the classes of two metrics, or two metrics of many systems
_BESIDE = 6  # systems that stand side by side in colours
_MANY, _MOST = 40, 250  # lines from which on they are narrow, and at most
_LONG = 15  # letters of a name in a legend, of which few fit side by side
_LINE, _LETTER = 1.3, 0.62  # of text, in units of the size of its font
_KINDS = {"hdi": "highest-density", "eti": "equal-tailed"}


class _Numbers(NamedTuple):
    """What is drawn of one line, or of each of several."""

    lower: Array
    upper: Array
    mean: Array
    point: Array


@as_written
def plot_forest(data: xr.Dataset | xr.DataTree, *, reference: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw intervals, one line each.

    Up to six systems stand side by side, in colours with markers. More, and those of one metric, have lines of their
    own with their names, those that are text sorted by the first metric, the best on top; those of a series in order.

    Parameters
    ----------
    data : xarray.Dataset or xarray.DataTree
        From :func:`bayescm.summary`, :func:`bayescm.interval`, :func:`bayescm.planning.replicate`,
        :func:`bayescm.drift`, :func:`bayescm.auc`, :func:`bayescm.aucpr` or :func:`bayescm.planning.decide`; or a
        model's draws, of which the summary is drawn.
    reference : float, optional
        A value to compare with, drawn as a vertical line.
    ax : matplotlib.axes.Axes, optional
        Default: a new figure, as high as its lines need.

    Returns
    -------
    matplotlib.axes.Axes

    Notes
    -----
    Metrics without an upper limit (likelihood ratios, odds ratio) whose interval leaves [-1, 1] are left out and named
    below the axis: they need a scale of their own. So are lines beyond the first 250.

    Examples
    --------
    >>> import bayescm
    >>> ax = bayescm.plots.plot_forest(bayescm.summary([[6, 2], [0, 26]], ["recall", "precision"]))
    """
    data = answer_of(
        summary, data, ("point", "interval"), ("ci_prob",), call="bayescm.plots.plot_forest(bayescm.summary(counts))"
    )  # fmt: skip
    if METRIC not in data["point"].dims:
        data = data[["point", "interval", *{"mean"} & set(data)]].expand_dims({METRIC: [_what(data)]})
    shown = on_the_common_scale(data)
    left_out = [str(name) for name in data[METRIC].values if name not in shown[METRIC].values]
    metrics = [name.replace("_", " ") for name in metric_names(shown)]
    systems, numbers = _of_systems(shown)
    alone = set(shown["point"].dims) == {METRIC}
    title, step, beside = "value", 0.0, not alone and len(systems) <= _BESIDE and len(metrics) > 1
    if beside or alone:
        names, rows, groups = metrics, _rows(metrics), numbers
    else:
        order = _order(shown, systems, numbers)
        systems, numbers = [systems[i] for i in order], [numbers[i] for i in order]
        step = len(systems) + (1 + _ROOM) * (len(metrics) > 1)
        rows = np.concatenate([step * j + np.arange(len(systems)) for j in range(len(metrics))])
        names = systems * len(metrics)
        groups = [_Numbers(*(np.transpose(part).ravel() for part in zip(*numbers, strict=True)))]
        title = metrics[0] if len(metrics) == 1 else title
    cut = len(names) - _MOST
    if cut > 0:
        names, rows, groups = names[:_MOST], rows[:_MOST], [_Numbers(*(p[:_MOST] for p in one)) for one in groups]
    ax = _axes(ax, names, rows, len(groups))
    handles = _draw_groups(ax, groups, rows, systems if beside else [])
    if reference is not None:
        draw_reference(ax, validate.number("reference", reference, -np.inf, np.inf))
    heads = [] if beside or alone or len(metrics) == 1 else metrics
    for at, head in zip(np.arange(len(heads)) * step - 1, heads, strict=True):
        if at < rows[-1]:
            ax.text(0.01, at, head, transform=ax.get_yaxis_transform(), va="center", fontweight="bold")
    ax.set_ylim(rows[-1] + 0.5, -0.5 - bool(heads))
    ax.grid(axis="x", color=tone(0.1))
    ax.set_axisbelow(True)
    ax.set_xlabel(_x_label(data, title, left_out, cut))
    narrow = max(map(len, systems)) > _LONG
    list_legend(ax, handles=handles, ncols=1 if narrow and beside else 8, handlelength=2.0)
    return ax


def on_the_common_scale(data: xr.Dataset) -> xr.Dataset:
    """Return the metrics whose intervals lie within [-1, 1]; all of them if none does."""
    bounds = data["interval"].transpose(METRIC, ...).values.reshape(data.sizes[METRIC], -1)
    inside = (np.abs(bounds) <= 1).all(axis=1)
    return data.isel({METRIC: np.flatnonzero(inside)}) if inside.any() else data


def _what(data: xr.Dataset) -> str:
    """Say what a result without metrics is about."""
    if "series" in data.attrs:
        return f"{data.attrs[METRIC]} by {data.attrs['series']}"
    return "cost" if "action" in data.dims else "area under the curve" if "cases" in data.attrs else "value"


def _of_systems(data: xr.Dataset) -> tuple[list[str], list[_Numbers]]:
    """Return the names and numbers of every position of the batch; one without a name if there is no batch."""
    batch = [str(dim) for dim in data["point"].dims if dim != METRIC]
    data = data.assign_coords({dim: np.arange(data.sizes[dim]) for dim in batch if dim not in data.coords})
    stacked = data.stack(place=batch, create_index=False) if batch else data.expand_dims("place")
    parts = [batch_labels(stacked[dim].values) for dim in batch]
    names = [", ".join(one) for one in zip(*parts, strict=True)] or [""] * stacked.sizes["place"]
    mean = stacked["mean" if "mean" in stacked else "point"].transpose("place", METRIC).values
    mean = mean if "mean" in stacked else np.full_like(mean, np.nan)
    ends = stacked["interval"].transpose("place", METRIC, CI_BOUND).values
    point = stacked["point"].transpose("place", METRIC).values
    return names, [_Numbers(ends[i, :, 0], ends[i, :, 1], mean[i], point[i]) for i in range(len(names))]


def _order(data: xr.Dataset, systems: list[str], numbers: list[_Numbers]) -> Any:
    """Return the systems from the best to the worst in the first metric; numbers keep their own order."""
    batch = [dim for dim in data["point"].dims if dim != METRIC]
    if len(batch) != 1 or data[batch[0]].dtype.kind not in "UOT" or "series" in data.attrs:
        return range(len(systems))
    first = np.array([one.mean[0] if np.isfinite(one.mean[0]) else one.point[0] for one in numbers])
    smaller = {"cost", *(metric.name for metric in available() if metric.loss)}
    better = first if str(data[METRIC].values[0]).partition("[")[0] in smaller else -first
    return np.argsort(better, kind="stable")


def _rows(names: list[str]) -> Any:
    """Return the places of lines, with room around the classes of one metric."""
    bases, of_class = [name.partition("[")[0] for name in names], ["[" in name for name in names]
    apart = [_ROOM * (bases[i] != bases[i - 1] and (of_class[i] or of_class[i - 1])) for i in range(1, len(names))]
    return np.arange(len(names)) + np.cumsum([0.0, *apart])


def _axes(ax: Axes | None, names: list[str], rows: Array, groups: int) -> Axes:
    """Return axes with a name at every line: a new figure is as large as they need, on others they shrink."""
    from matplotlib import rcParams

    base = float(rcParams["font.size"])
    broken = [wrapped(name) for name in names]
    lines = 1 + max(name.count("\n") for name in broken)
    size = base * (1.0 if lines == 1 else 0.85) * (1.0 if len(names) <= _MANY else 0.8)
    if ax is None:
        line = max(0.27 * size / 10, _LINE * size * lines / 72, 0.162 * groups * (groups > 1))
        wide = max(len(one) for name in broken for one in name.split("\n")) * _LETTER * size / 72
        ax = new_axes(None, (max(7.0, wide + 4.6), max(2.2, line * (rows[-1] + 1) + 1.1)))
    else:
        room = ax.get_window_extent().height * 72 / ax.figure.dpi / (rows[-1] + 1)
        size = max(min(size, room / (_LINE * lines)), 1.0)
    ax.set_yticks(rows, broken, fontsize=size)
    return ax


def _draw_groups(ax: Axes, groups: list[_Numbers], rows: Any, systems: list[str]) -> list[Any]:
    """Draw the lines and marks of one system, or of several side by side; return what the legend shows."""
    from matplotlib.lines import Line2D

    offsets = np.linspace(-0.35, 0.35, len(groups)) if len(groups) > 1 else [0.0]
    for row in rows[1::2] if len(groups) > 1 else []:
        ax.axhspan(row - 0.5, row + 0.5, color=tone(0.04), linewidth=0, zorder=0)
    found = []
    for i, (one, offset) in enumerate(zip(groups, offsets, strict=True)):
        y, color, averaged = rows + offset, palette()[i], bool(np.isfinite(one.mean).any())
        mark: dict[str, Any] = {"markersize": 5, "marker": MARKERS[i], "color": color, "markerfacecolor": paper()}
        tick: dict[str, Any] = {"markersize": 8 if systems else 12, "marker": "|", "color": ink(), "linestyle": "none"}
        ax.hlines(y, one.lower, one.upper, color=color, linewidth=2.2)
        if averaged or systems:
            ax.plot(one.mean if averaged else one.point, y, linestyle="none", zorder=3, **mark)
        found.append(Line2D([], [], linewidth=2.2, label=systems[i], **mark) if systems
                     else Line2D([], [], linewidth=2.2, color=color, label="interval"))  # fmt: skip
        if averaged and not systems:
            found.append(Line2D([], [], linestyle="none", label="posterior mean", **mark))
        if averaged or not systems:
            ax.plot(one.point, y, **tick)
    return found if systems else [*found, Line2D([], [], label="value of the counts", **tick)]


def _x_label(data: xr.Dataset, title: str, left_out: list[str], cut: int) -> str:
    kind = _KINDS.get(str(data.attrs.get("ci_kind")))
    bound = {"lower": "lower bound", "upper": "upper bound"}.get(str(data.attrs.get("bound")), "interval")
    method = "" if kind else f" ({data.attrs['method']})" if "method" in data.attrs else ""
    text = f"{title}, with {percent(float(data.attrs['ci_prob']))} {kind + ' ' if kind else ''}{bound}{method}"
    if left_out:
        names = ", ".join(name.replace("_", " ") for name in left_out)
        text += "\n" + wrapped(f"not shown (other scale): {names}", 75)
    return text + (f"\nnot shown: {cut} further lines; select some" if cut > 0 else "")
