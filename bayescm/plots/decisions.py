"""Metrics against the prevalence, and net benefit against the threshold probability."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.schema import CI_BOUND, METRIC, THRESHOLD
from bayescm.metrics import resolve
from bayescm.plots.checks import require
from bayescm.plots.densities import COLORS, STYLES
from bayescm.plots.letters import as_written
from bayescm.plots.nomogram import draw_nomogram
from bayescm.plots.planes import batch_labels, list_legend, new_axes
from bayescm.results.names import metric_names
from bayescm.results.writing import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

_BELOW, _EDGE = 0.35, 0.04  # how far below 0 net benefit is shown at most and at least, as shares of how far above
_DEPTH = 0.16
_SHOWN_PREVALENCES = 3
_SAME = 1e-9  # net benefits of calling all positive that differ by less are one line


class _Line(NamedTuple):
    """A line with its band: a name and a Dataset over one dim."""

    name: str
    data: xr.Dataset


@as_written
def plot_prevalence(
    data: xr.Dataset,
    *,
    metrics: str | Sequence[str] | None = None,
    kind: str = "band",
    log: bool = False,
    mark: bool = True,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw metrics against the prevalence, with their bands; or both predictive values at one, as a nomogram.

    Parameters
    ----------
    data : xarray.Dataset
        From :func:`bayescm.at_prevalences`, with at most one batch dim.
    metrics : str or sequence of str, optional
        Which of its metrics; with the batch at most eight lines. Default: all.
    kind : {"band", "nomogram"}
        "nomogram": Fagan's, from the probability of a positive before the test, past the likelihood ratio, to the one
        after it, for a positive and for a negative result; of one known prevalence, and without `metrics`, `log` and
        `mark`.
    log : bool
        Whether the axis of the prevalence is logarithmic.
    mark : bool
        Whether the prevalence of the counts is marked, where there are at most three different ones.
    ax : matplotlib.axes.Axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        With more than one batch dim, a metric that isn't there, or more than eight lines; a nomogram of more than one
        prevalence or of one that is a Beta, of a batch, or without precision and negative predictive value.

    Notes
    -----
    Lines are posterior medians. A prevalence that is a Beta is a circle with a bar at its mean, because its interval
    holds more than that of a known prevalence.

    The odds after a result are the odds before it times its likelihood ratio, so on a nomogram the interval of a
    predictive value and that of the likelihood ratio end on the same lines.

    References
    ----------
    Fagan 1975, New England Journal of Medicine 293, 257.

    Examples
    --------
    >>> import bayescm
    >>> found = bayescm.at_prevalences(bayescm.from_cells(tp=90, fn=10, fp=5, tn=95))
    >>> ax = bayescm.plot_prevalence(found)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['precision', 'negative predictive value', 'prevalence of the counts: 0.5']
    >>> ax = bayescm.plot_prevalence(found.isel(prevalence=[12]), kind="nomogram")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['positive result: 0.22 (0.12 to 0.42)', 'negative result: 0.0017 (0.0009 to 0.0029)']
    """
    require("data", data, "bayescm.at_prevalences", (METRIC, "prevalence_distribution", "median", "interval"))
    if validate.choice("kind", kind, ("band", "nomogram")) == "nomogram":
        return draw_nomogram(data, ax)
    shown = _chosen(data, metrics)
    lines = _lines(shown, "prevalence", METRIC)
    ax = new_axes(ax, (6.4, 4.2))
    handles = []
    for i, line in enumerate(lines):
        known = line.data["prevalence_distribution"].values == "known"
        handles.append(_draw(ax, line.name, line.data.isel(prevalence=np.flatnonzero(known)), "prevalence", i))
        if not known.all():
            _draw_points(ax, line.data.isel(prevalence=np.flatnonzero(~known)), "prevalence", COLORS[i])
    observed = np.unique(data["observed_prevalence"].values)
    if mark and len(observed) <= _SHOWN_PREVALENCES:
        handles += [_mark(ax, float(value)) for value in observed[np.isfinite(observed)]]
    if log:
        ax.set_xscale("log")
    ax.set_xlabel("Prevalence")
    ax.set_ylabel(metric_names(shown)[0].replace("_", " ") if shown.sizes[METRIC] == 1 else "metric")
    ax.spines[["top", "right"]].set_visible(False)
    together = bool(shown["simultaneous"].all())
    title = f"median with {percent(float(data.attrs['ci_prob']))} band, "
    title += "all prevalences together" if together else "pointwise: each prevalence alone"
    list_legend(ax, title, handles=handles, ncols=2)
    return ax


@as_written
def plot_decision_curve(data: xr.Dataset, *, ax: "Sequence[Axes] | None" = None) -> Any:
    """Draw net benefit against the threshold probability, and how probable it is that the classifier is useful.

    Parameters
    ----------
    data : xarray.Dataset
        From :func:`bayescm.decision_curve`, with at most one batch dim of at most seven classifiers.
    ax : two matplotlib.axes.Axes, optional
        For the net benefit, and for P(useful). Default: a new figure.

    Returns
    -------
    ndarray of matplotlib.axes.Axes
        The two.

    Notes
    -----
    Lines are posterior medians, bands are pointwise. The net benefit of calling all positive is grey, and drawn once
    where it is the same for all classifiers; that of calling none is 0, dotted. What lies far below 0 is cut off.

    Examples
    --------
    >>> import bayescm
    >>> curve = bayescm.decision_curve(bayescm.from_cells(tp=26, fn=4, fp=20, tn=150))
    >>> upper, lower = bayescm.plot_decision_curve(curve)
    >>> [text.get_text() for text in upper.get_legend().get_texts()]
    ['classifier', 'all positive', 'all negative']
    """
    require("data", data, "bayescm.decision_curve", ("probability_useful", "action", "median", "interval"))
    if ax is not None and np.size(np.asarray(ax, dtype=object)) != 2:
        raise ValueError(f"`ax` must be two Axes, for the net benefit and for P(useful); got {ax!r}.")
    lines = _lines(data.sel(action=["classifier"]), THRESHOLD, "action")
    if ax is None:
        import matplotlib.pyplot as plt

        options: dict[str, Any] = {"sharex": True, "height_ratios": [3, 1], "layout": "constrained"}
        ax = plt.subplots(2, 1, figsize=(6.4, 5.4), **options)[1]
    upper, lower = ax
    everyone = _lines(data.sel(action=["all positive"]), THRESHOLD, "action")
    if np.ptp([one.data["median"].values for one in everyone], axis=0).max() < _SAME:
        everyone = everyone[:1]
    grey = [_draw(upper, "all positive", one.data, THRESHOLD, len(COLORS) - 1) for one in everyone]
    handles = [_draw(upper, *line, THRESHOLD, i) for i, line in enumerate(lines)] + grey[:1]
    handles.append(upper.axhline(0.0, color="black", linewidth=1.2, linestyle=(0, (2, 2)), label="all negative"))
    for i, line in enumerate(lines):
        useful = line.data["probability_useful"].sortby(THRESHOLD)
        marker = "o" if useful.size == 1 else ""
        style: Any = {"linestyle": STYLES[i % len(STYLES)], "marker": marker}
        lower.plot(useful[THRESHOLD], useful, color=COLORS[i], linewidth=1.6, **style)
    bounds = np.stack([line.data["interval"].values for line in lines])
    top = max(float(np.nanmax(bounds)), 1e-3) * 1.05
    upper.set_ylim(np.clip(float(np.nanmin(bounds)), -_BELOW * top, -_EDGE * top), top)
    upper.set_ylabel("Net benefit")
    lower.set_ylim(-0.03, 1.03)
    lower.set_ylabel("P(useful)")
    lower.set_xlabel("Threshold probability")
    for one in (upper, lower):
        one.spines[["top", "right"]].set_visible(False)
    list_legend(upper, f"median with {percent(float(data.attrs['ci_prob']))} band, pointwise", handles=handles, ncols=3)
    return np.array([upper, lower])


def _chosen(data: xr.Dataset, metrics: str | Sequence[str] | None) -> xr.Dataset:
    """Return the metrics that are wanted."""
    if metrics is None:
        return data
    stored = [str(name) for name in data[METRIC].values]
    given = [metrics] if isinstance(metrics, str) else validate.listed("metrics", metrics)
    names = [name if name in stored else resolve([name], 2)[0].name for name in given]
    missing = [name for name in names if name not in stored]
    if missing or not names:
        raise ValueError(f"`metrics` must be some of {', '.join(stored)}; got {metrics!r}.")
    return data.sel({METRIC: names})


def _lines(data: xr.Dataset, along: str, other: str) -> list[_Line]:
    """Return every line: of each position of the batch and of the other dim, named after what differs."""
    batch = [str(dim) for dim in data["median"].dims if dim not in (along, other)]
    if len(batch) > 1:
        raise ValueError(f"`data` must have at most one batch dim; got {batch}. Select one of the others.")
    if not batch:
        data, batch = data.expand_dims("_alone"), ["_alone"]
    named = batch_labels(data[batch[0]].values) if data.sizes[batch[0]] > 1 else [""]
    several = data.sizes[other] > 1 or named == [""]
    labels = metric_names(data) if other == METRIC else data[other].values.tolist()
    found = [
        _Line(
            f"{name} {str(label).replace('_', ' ') if several else ''}".strip(),
            data.isel({batch[0]: i, other: j}).compute(),
        )
        for i, name in enumerate(named)
        for j, label in enumerate(labels)
    ]
    if len(found) >= len(COLORS) + (other == METRIC):
        raise ValueError(f"`data` has {len(found)} lines, which can't be told apart; select some.")
    return found


def _draw(ax: "Axes", name: str, data: xr.Dataset, along: str, i: int) -> Any:
    """Draw a line with its median and band."""
    if data.sizes[along] == 1:
        _draw_points(ax, data, along, COLORS[i])
    data = data.sortby(along)
    x, bounds = data[along].values, data["interval"].transpose(CI_BOUND, along).values
    style = STYLES[i % len(STYLES)] if i < len(COLORS) - 1 else "-"
    ax.fill_between(x, *bounds, color=COLORS[i], alpha=_DEPTH, linewidth=0, zorder=1.3)
    return ax.plot(x, data["median"].values, style, color=COLORS[i], linewidth=1.6, label=name, zorder=3)[0]


def _draw_points(ax: "Axes", data: xr.Dataset, along: str, color: str) -> None:
    """Draw medians as circles with bars."""
    x, bounds = data[along].values, data["interval"].transpose(CI_BOUND, along).values
    ax.vlines(x, *bounds, color=color, linewidth=2.2, alpha=0.6, zorder=2)
    ax.plot(x, data["median"].values, "o", color=color, markerfacecolor="white", markersize=5.0, zorder=4)


def _mark(ax: "Axes", prevalence: float) -> Any:
    """Mark the prevalence of the counts."""
    label = f"prevalence of the counts: {prevalence:.2g}"
    return ax.axvline(prevalence, color="0.35", linestyle=(0, (4, 2)), linewidth=1, zorder=1.5, label=label)
