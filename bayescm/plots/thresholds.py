"""Metrics against the threshold, and where each is best."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayescm.data import validate
from bayescm.data.schema import CHAIN, DRAW, METRIC, THRESHOLD
from bayescm.distributions.sample import bounds
from bayescm.plots.areas import posterior_of
from bayescm.plots.checks import refuse
from bayescm.plots.frames import Axes, draw_band, draw_interval, list_legend, new_axes, open_frame
from bayescm.plots.layers import Array, stored_names, tell_apart
from bayescm.plots.letters import as_written
from bayescm.plots.style import palette, paper, tone
from bayescm.results.names import metric_names
from bayescm.results.writing import percent

_MOST = 6
_RATES = ("tpr", "fpr", "precision")


@as_written
def plot_thresholds(
    data: xr.DataTree | xr.Dataset,
    *,
    metrics: str | Sequence[str] | None = None,
    ci_prob: float = 0.95,
    best: bool = True,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw metrics against the threshold, with the interval of the best threshold of each.

    Parameters
    ----------
    data : xarray.DataTree or xarray.Dataset
        From :func:`bayescm.curve_posterior` with ``over="threshold"`` and `metrics`, or its group ``posterior``, of one
        system.
    metrics : str or sequence of str, optional
        Which of its variables, at most six. Default: the metrics that it was asked for; without these the rates.
    ci_prob : float
        Of the pointwise bands and of the intervals of the best thresholds, both equal-tailed.
    best : bool
        Whether the best thresholds are drawn: below the axis a bar for the interval of each, and a mark at the
        threshold that is best on average (``chosen_threshold``), which only the tree holds.
    legend : bool
        Whether there is a legend.
    ax : matplotlib.axes.Axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If a metric isn't there or there are more than six; with a batch dim.

    Notes
    -----
    Lines are posterior medians. A metric that is undefined in some draws has no line there. Infinite thresholds aren't
    drawn; a bar that reaches one ends in an arrow at the edge, and so does a mark.

    Examples
    --------
    >>> import bayescm
    >>> y = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]
    >>> s = [0.1, 0.2, 0.2, 0.3, 0.5, 0.6, 0.4, 0.7, 0.8, 0.9]
    >>> post = bayescm.curve_posterior(y, s, over="threshold", metrics=["f1", "mcc"], random_seed=1)
    >>> ax = bayescm.plots.plot_thresholds(post)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]  # doctest: +ELLIPSIS
    ['f1: best at 0... (0... to 0...)', 'matthews correlation: best at 0... (0... to 0...)']
    """
    level = validate.number("ci_prob", ci_prob, 0, 1)
    posterior = _one_system(posterior_of(data))
    names = _wanted(posterior, metrics)
    thresholds = posterior[THRESHOLD].values
    finite = np.isfinite(thresholds)
    if not finite.any():
        raise ValueError("`data` has no finite threshold to draw; give some to curve_posterior(points=...).")
    ax = new_axes(ax, (6.4, 4.0 + 0.22 * len(names)))
    bands = [_band(posterior[name], level)[:, finite] for name in names]
    x = thresholds[finite]
    handles = [draw_band(ax, x, band, i) for i, band in enumerate(bands)]
    known = [str(name) for name in posterior[METRIC].values] if METRIC in posterior.coords else []
    chosen = _chosen(data)
    bars = {i: _best(posterior, chosen, name, level) for i, name in enumerate(names) if best and name in known}
    low, step = _frame(ax, x, bands, len(bars))
    called = dict(zip(known, metric_names(posterior), strict=True)) if known else {}
    labels = [called.get(name, name).replace("_", " ") for name in names]
    ax.set_ylabel(labels[0] if len(names) == 1 else "metric")
    for row, (i, (interval, mark)) in enumerate(bars.items()):
        _draw_bar(ax, interval, mark, low - (row + 0.75) * step, palette()[i])
    if legend:
        digits = _digits([interval for interval, _ in bars.values()])
        labels = [_label(name, bars.get(i), digits) for i, name in enumerate(labels)]
        _draw_legend(ax, handles, labels, level, bars=bool(bars))
    return ax


def _one_system(posterior: xr.Dataset) -> xr.Dataset:
    """Return a posterior over thresholds, of one system."""
    if THRESHOLD not in posterior.dims or "tpr" not in posterior:
        wanted = "a posterior over thresholds, bayescm.curve_posterior(..., over='threshold', metrics=[...])"
        refuse("data", posterior, wanted)
    rest = [str(dim) for dim in posterior["tpr"].dims if dim not in (CHAIN, DRAW, THRESHOLD)]
    if rest:
        raise ValueError(
            f"`data` must be of one system or group; it has the dim {rest[0]!r}. "
            f"Select one: data['posterior'].to_dataset().sel({rest[0]}=...)."
        )
    return posterior.compute()


def _wanted(posterior: xr.Dataset, metrics: str | Sequence[str] | None) -> list[str]:
    """Return the names of the variables that are drawn."""
    known = [str(name) for name, one in posterior.data_vars.items() if THRESHOLD in one.dims]
    own = [str(name) for name in posterior[METRIC].values] if METRIC in posterior.coords else list(_RATES)
    names = stored_names("metrics", own if metrics is None else metrics, known)
    tell_apart(len(names), "metrics", _MOST, argument="metrics" if metrics is not None else "data")
    return names


def _band(draws: xr.DataArray, level: float) -> Array:
    """Return lower bound, median and upper bound (3, thresholds); NaN where a draw is undefined or a bound infinite."""
    values = draws.transpose(THRESHOLD, CHAIN, DRAW).values.reshape(draws.sizes[THRESHOLD], -1)
    found = bounds(values, level)
    return np.where(np.isfinite(found), found, np.nan)


def _chosen(data: Any) -> xr.DataArray | None:
    """Return the chosen thresholds that a tree holds."""
    if not isinstance(data, xr.DataTree) or "constant_data" not in data.children:
        return None
    return data.children["constant_data"].to_dataset()["chosen_threshold"]


def _best(posterior: xr.Dataset, chosen: xr.DataArray | None, name: str, level: float) -> tuple[Array, float]:
    """Return the bounds of the best threshold of a metric, which is one of the thresholds, and the chosen one."""
    draws = posterior["best_threshold"].sel({METRIC: name}).values.ravel()
    return bounds(draws, level, among=True)[[0, 2]], np.nan if chosen is None else float(chosen.sel({METRIC: name}))


def _frame(ax: Axes, x: Array, bands: list[Array], bars: int) -> tuple[float, float]:
    """Set limits and labels; return where the room for the bars begins, and how much each has."""
    known = np.concatenate([band[np.isfinite(band)] for band in bands])
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    low, high = min(low, 0.0), high if high > low else low + 1.0
    step = 0.055 * (high - low)
    margin = 0.02 * float(np.ptp(x)) or 0.5
    ax.set_xlim(float(x.min()) - margin, float(x.max()) + margin)
    ax.set_ylim(low, high + 0.02 * (high - low))
    ticks = [tick for tick in ax.get_yticks() if low <= tick <= high]
    ax.set_ylim(low - (bars + 0.4) * step if bars else low - 0.3 * step, high + 0.02 * (high - low))
    ax.set_yticks(ticks)
    if bars:
        ax.axhline(low, color=tone(0.4), linewidth=0.8, zorder=0)
    open_frame(ax, "Threshold")
    return low, step


def _draw_bar(ax: Axes, ends: Array, chosen: float, y: float, color: str) -> None:
    """Draw the interval of a best threshold and the chosen one; what lies beyond an edge is an arrow there."""
    left, right = ax.get_xlim()
    draw_interval(ax, np.clip(ends, left, right), y, color)
    beyond = [(left, "<")] * bool(ends[0] < left) + [(right, ">")] * bool(ends[1] > right)
    for edge, marker in beyond:
        ax.plot([edge], [y], marker, color=color, markersize=5.0, clip_on=False, zorder=2.5)
    mark = "<" if chosen < left else ">" if chosen > right else "D"
    at = np.clip(chosen, left, right)
    ax.plot([at], [y], mark, color=color, markersize=5.0, markerfacecolor=paper(), clip_on=False, zorder=3)


def _digits(intervals: list[Array]) -> int:
    """Return the decimals that the narrowest interval deserves."""
    widths = [float(np.ptp(one)) for one in intervals if np.isfinite(one).all() and np.ptp(one) > 0]
    return int(np.clip(2 - np.round(np.log10(min(widths))), 0, 12)) if widths else 4


def _label(name: str, bar: tuple[Array, float] | None, digits: int) -> str:
    """Return what the legend says of a metric."""
    if bar is None:
        return name
    (lower, upper), chosen = bar
    chosen, lower, upper = (round(value, digits) + 0.0 for value in (chosen, float(lower), float(upper)))
    place = "best" if np.isnan(chosen) else f"best at {chosen:.12g}"
    return f"{name}: {place} ({lower:.12g} to {upper:.12g})"


def _draw_legend(ax: Axes, handles: list[Any], labels: list[str], level: float, *, bars: bool) -> None:
    """Say which metric is which, and what bands and bars are."""
    title = f"median with {percent(level)} band, pointwise: each threshold alone"
    if bars:
        title += f"\nbelow: best threshold, chosen (mark) with {percent(level)} interval (bar)"
    list_legend(ax, title, handles=handles, labels=labels, ncols=1 if bars else 3, columnspacing=1.4)
