"""Pictures of plans: how wide intervals will be, and how a posterior narrows chunk by chunk."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from bayescm.data import validate
from bayescm.data.schema import CI_BOUND, METRIC
from bayescm.plots.checks import require
from bayescm.plots.frames import Axes, list_legend, new_axes, open_frame
from bayescm.plots.layers import STYLES, named, selected, tell_apart
from bayescm.plots.letters import as_written
from bayescm.plots.style import fade, ink, palette, tone
from bayescm.results.names import metric_names, words


@as_written
def plot_interval_width(data: xr.Dataset | Mapping[str, xr.Dataset], *, ax: Axes | None = None) -> Axes:
    """Draw how long intervals will be against the number of items (Toetsch and Hoffmann 2021, Fig. 6).

    Parameters
    ----------
    data : xarray.Dataset, or mapping of names to Datasets
        From :func:`bayescm.planning.interval_width`; several, such as of different modes, have lines of different
        dashes, and of one metric of different colours.
    ax : matplotlib.axes.Axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import bayescm
    >>> ax = bayescm.plots.plot_interval_width(bayescm.planning.interval_width(["accuracy", "recall"]))
    >>> ax.get_xscale(), ax.get_yscale()
    ('log', 'log')
    """
    pairs = named(data, "plan")
    plans = [one for _, one in pairs]
    for one in plans:
        require("data", one, "bayescm.planning.interval_width", ("width", "about", METRIC), ("ci_prob", "assurance"))
    metrics = list(dict.fromkeys(name for one in plans for name in metric_names(one)))
    tell_apart(len(metrics), "metrics")
    tell_apart(len(plans), "plans", len(STYLES))
    ax = new_axes(ax, (6.4, 4.2))
    for j, ((name, one), dash) in enumerate(zip(pairs, STYLES, strict=False)):
        for i, metric in enumerate(metric_names(one)):
            label = ", ".join(filter(None, [metric.replace("_", " "), name]))
            color = palette()[j if len(metrics) == 1 else metrics.index(metric)]
            line = one["width"].isel({METRIC: i}).sortby("n_items")
            ax.plot(line["n_items"].values, line.values, dash, color=color, label=label)
    items = np.unique(np.concatenate([one["n_items"].values for one in plans]))
    ax.plot(items, 2 / np.sqrt(items), color=tone(0.4), linewidth=1, dashes=(6, 3), label="2/\u221an", zorder=1)
    ax.set_xscale("log")
    ax.set_yscale("log")
    about = {str(value) for one in plans for value in one["about"].values}
    x = f"number of {about.pop()}" if len(about) == 1 else "number of items that a metric is about"
    open_frame(ax, x, _length(plans), grid="both")
    list_legend(ax)
    return ax


def _length(plans: list[xr.Dataset]) -> str:
    """Say whose length it is, and with which assurance, where all plans agree."""
    kinds = {f"{100 * float(one.attrs['ci_prob']):g}% {str(one.attrs['ci_kind']).upper()}" for one in plans}
    levels = {f", with {100 * float(one.attrs['assurance']):g}% assurance" for one in plans}
    return f"length of the {kinds.pop() if len(kinds) == 1 else 'interval'}{levels.pop() if len(levels) == 1 else ''}"


@as_written
def plot_sequential(
    data: xr.Dataset, *, metric: str | None = None, reference: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the median and the interval of a metric after each chunk of items.

    Parameters
    ----------
    data : xarray.Dataset
        From :func:`bayescm.planning.sequential`, without further batch dims.
    metric : str, optional
        Which of its metrics. Default: the first.
    reference : float, optional
        A value to compare with, drawn as a line.
    ax : matplotlib.axes.Axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import bayescm
    >>> chunks = bayescm.from_cells(tp=[9, 8, 10], fn=[1, 2, 0], fp=[2, 3, 1], tn=[8, 7, 9], dims="chunk")
    >>> ax = bayescm.plots.plot_sequential(bayescm.planning.sequential(chunks, "accuracy"), reference=0.5)
    >>> ax.get_ylabel()
    'accuracy: median and 95% ETI'
    """
    require("data", data, "bayescm.planning.sequential", (METRIC, "median", "interval", "n_items"), ("sequential",))
    if data["n_items"].ndim != 1:
        raise ValueError(f"`data` must have chunks and metrics only; it also has other dims: {data['n_items'].dims}.")
    one = (data if metric is None else selected(data, "metric", [metric])).isel({METRIC: 0})
    ax = new_axes(ax, (6.4, 3.8))
    lower, upper = one["interval"].transpose(CI_BOUND, ...).values
    ax.fill_between(one["n_items"], lower, upper, color=palette()[0], alpha=fade(0.25), linewidth=0)
    ax.plot(one["n_items"], one["median"], "o-", color=palette()[0], markersize=4)
    if reference is not None:
        reference = validate.number("reference", reference, -np.inf, np.inf)
        ax.axhline(reference, color=tone(0.5), linewidth=1)
    kind, level = str(data.attrs["ci_kind"]).upper(), 100 * float(data.attrs["ci_prob"])
    open_frame(ax, "items so far", f"{words(one)}: median and {level:g}% {kind}", grid="both")
    return ax


@as_written
def draw_label_value(data: xr.Dataset, ax: Axes | None = None) -> Axes:
    """Draw what labels save on average, and what is left of it, against their number.

    Parameters
    ----------
    data : xarray.Dataset
        From :func:`bayescm.planning.label_value`.
    ax : matplotlib.axes.Axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import bayescm
    >>> from bayescm.plots.planning import draw_label_value
    >>> trial = bayescm.audited([[4, 2], [1, 5]], totals=[600, 405])
    >>> ax = draw_label_value(bayescm.planning.label_value(trial, {"fn": 5, "fp": 2}, per_check=1, n_items=5000))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['value', 'less their price (1 each)', 'knowing all rates: 1,094', 'best: 50 labels']
    """
    require(
        "data", data, "bayescm.planning.label_value", ("value", "net", "best_n", "n_checks"), ("per_check", "n_items")
    )
    ax = new_axes(ax, (6.4, 3.8))
    n, best = data["n_checks"].values, int(data["best_n"])
    top = float(data["value_of_information"])
    ax.plot(n, data["value"], ".-", color=palette()[0], label="value")
    price = f"less their price ({float(data.attrs['per_check']):g} each)"
    ax.plot(n, data["net"], ".-", color=palette()[1], label=price)
    most = f"{top:,.0f}" if top >= 100.0 else f"{top:.3g}"
    ax.axhline(top, color=tone(0.4), linewidth=1, dashes=(6, 3), label=f"knowing all rates: {most}", zorder=1)
    if best:
        net = float(data["net"].sel(n_checks=best))
        ax.plot([best], [net], "o", color=ink(), label=f"best: {best:,} labels")
    if (n > 0).all():
        ax.set_xscale("log")
    else:
        ax.set_xscale("symlog", linthresh=1.0)
    least = min(0.0, float(data["net"].min()))
    ax.set_ylim(max(least, -1.1 * top if top > 0.0 else -1.0) * 1.05, 1.08 * top if top > 0.0 else None)
    decisions = f"of {int(data.attrs['n_items']):,} decisions, in units of cost"
    open_frame(ax, "further labels", decisions, grid="both")
    ax.legend(frameon=False, fontsize="small")
    return ax
