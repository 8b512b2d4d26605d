"""Metrics against the prevalence, and net benefit against the threshold probability."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import xarray as xr

from bayescm.data import validate
from bayescm.data.schema import CI_BOUND, METRIC, THRESHOLD
from bayescm.planning.net_benefit import decision_curve
from bayescm.planning.prevalences import at_prevalences
from bayescm.plots.checks import answer_of
from bayescm.plots.frames import Axes, draw_band, draw_reference, list_legend, new_axes, open_frame, two_axes
from bayescm.plots.layers import STYLES, batch_labels, parts, selected, tell_apart
from bayescm.plots.letters import as_written
from bayescm.plots.nomogram import draw_nomogram
from bayescm.plots.style import MOST_COLORS, ink, palette, paper
from bayescm.results.names import metric_names
from bayescm.results.writing import percent

_BELOW, _EDGE = 0.35, 0.04  # how far below 0 net benefit is shown at most and at least, as shares of how far above
_SHOWN_PREVALENCES = 3
_SAME = 1e-9  # net benefits of calling all positive that differ by less are one line


@as_written
def plot_prevalence(
    data: xr.Dataset | xr.DataTree,
    *,
    metrics: str | Sequence[str] | None = None,
    kind: Literal["band", "nomogram"] = "band",
    log: bool = False,
    mark: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Draw metrics against the prevalence, with their bands; or both predictive values at one, as a nomogram.

    Parameters
    ----------
    data : xarray.Dataset or xarray.DataTree
        From :func:`bayescm.planning.at_prevalences`, with at most one batch dim; or a model's draws.
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
    >>> found = bayescm.planning.at_prevalences(bayescm.from_cells(tp=90, fn=10, fp=5, tn=95))
    >>> ax = bayescm.plots.plot_prevalence(found)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['precision', 'negative predictive value', 'prevalence of the counts: 0.5']
    >>> ax = bayescm.plots.plot_prevalence(found.isel(prevalence=[12]), kind="nomogram")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['positive result: 0.22 (0.12 to 0.42)', 'negative result: 0.0017 (0.0009 to 0.0029)']
    """
    has = (METRIC, "prevalence_distribution", "median", "interval")
    data = answer_of(at_prevalences, data, has, metrics=metrics)
    if validate.choice("kind", kind, ("band", "nomogram")) == "nomogram":
        return draw_nomogram(data, ax)
    shown = data if metrics is None else selected(data, "metrics", metrics)
    lines = _lines(shown, "prevalence", METRIC)
    ax = new_axes(ax, (6.4, 4.2))
    handles = []
    for i, (name, line) in enumerate(lines):
        known = line["prevalence_distribution"].values == "known"
        handles.append(_draw(ax, name, line.isel(prevalence=np.flatnonzero(known)), "prevalence", i))
        if not known.all():
            _draw_points(ax, line.isel(prevalence=np.flatnonzero(~known)), "prevalence", palette()[i])
    observed = np.unique(data["observed_prevalence"].values)
    if mark and len(observed) <= _SHOWN_PREVALENCES:
        values = observed[np.isfinite(observed)]
        handles += [draw_reference(ax, value, f"prevalence of the counts: {value:.2g}") for value in values]
    if log:
        ax.set_xscale("log")
    only = metric_names(shown)[0].replace("_", " ")
    open_frame(ax, "Prevalence", only if shown.sizes[METRIC] == 1 else "metric")
    together = bool(shown["simultaneous"].all())
    title = f"median with {percent(float(data.attrs['ci_prob']))} band, "
    title += "all prevalences together" if together else "pointwise: each prevalence alone"
    list_legend(ax, title, handles=handles, ncols=2)
    return ax


@as_written
def plot_decision_curve(data: xr.Dataset, *, ax: Sequence[Axes] | None = None) -> Any:
    """Draw net benefit against the threshold probability, and how probable it is that the classifier is useful.

    Parameters
    ----------
    data : xarray.Dataset
        From :func:`bayescm.planning.decision_curve`, with at most one batch dim of at most seven classifiers.
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
    >>> curve = bayescm.planning.decision_curve(bayescm.from_cells(tp=26, fn=4, fp=20, tn=150))
    >>> upper, lower = bayescm.plots.plot_decision_curve(curve)
    >>> [text.get_text() for text in upper.get_legend().get_texts()]
    ['classifier', 'all positive', 'all negative']
    """
    has = ("probability_useful", "action", "median", "interval")
    data = answer_of(decision_curve, data, has)
    lines = _lines(data.sel(action=["classifier"]), THRESHOLD, "action")
    upper, lower = two_axes(ax, 5.4, 3.0, "two Axes, for the net benefit and for P(useful)", width=6.4)
    everyone = _lines(data.sel(action=["all positive"]), THRESHOLD, "action")
    if np.ptp([one["median"].values for _, one in everyone], axis=0).max() < _SAME:
        everyone = everyone[:1]
    grey = [_draw(upper, "all positive", one, THRESHOLD, MOST_COLORS - 1) for _, one in everyone]
    handles = [_draw(upper, *line, THRESHOLD, i) for i, line in enumerate(lines)] + grey[:1]
    handles.append(upper.axhline(0.0, color=ink(), linewidth=1.2, linestyle=(0, (2, 2)), label="all negative"))
    for i, (_, line) in enumerate(lines):
        useful = line["probability_useful"].sortby(THRESHOLD)
        marker = "o" if useful.size == 1 else ""
        style: Any = {"linestyle": STYLES[i % len(STYLES)], "marker": marker}
        lower.plot(useful[THRESHOLD], useful, color=palette()[i], linewidth=1.6, **style)
    bounds = np.stack([line["interval"].values for _, line in lines])
    top = max(float(np.nanmax(bounds)), 1e-3) * 1.05
    upper.set_ylim(np.clip(float(np.nanmin(bounds)), -_BELOW * top, -_EDGE * top), top)
    lower.set_ylim(-0.03, 1.03)
    open_frame(upper, y="Net benefit")
    open_frame(lower, "Threshold probability", "P(useful)")
    list_legend(upper, f"median with {percent(float(data.attrs['ci_prob']))} band, pointwise", handles=handles, ncols=3)
    return np.array([upper, lower])


def _lines(data: xr.Dataset, along: str, other: str) -> list[tuple[str, xr.Dataset]]:
    """Return every line, over one dim: of each position of the batch and of the other dim, named after what differs."""
    several = parts("", data, "median", (along, other, CI_BOUND), labels=lambda batch: batch_labels(batch.values))
    called = metric_names(data) if other == METRIC else data[other].values.tolist()
    alone = len(several) == 1
    names = [label.replace("_", " ") if alone or len(called) > 1 else "" for label in called]
    lines = [
        (f"{'' if alone else name} {label}".strip(), one.isel({other: j}))
        for name, one in several
        for j, label in enumerate(names)
    ]
    tell_apart(len(lines), "lines", MOST_COLORS - (other != METRIC))
    return lines


def _draw(ax: Axes, name: str, data: xr.Dataset, along: str, i: int) -> Any:
    """Draw a line with its median and band."""
    if data.sizes[along] == 1:
        _draw_points(ax, data, along, palette()[i])
    data = data.sortby(along)
    lower, upper = data["interval"].transpose(CI_BOUND, along).values
    return draw_band(ax, data[along].values, (lower, data["median"].values, upper), i, name)


def _draw_points(ax: Axes, data: xr.Dataset, along: str, color: str) -> None:
    """Draw medians as circles with bars."""
    x, bounds = data[along].values, data["interval"].transpose(CI_BOUND, along).values
    ax.vlines(x, *bounds, color=color, linewidth=2.2, alpha=0.6, zorder=2)
    ax.plot(x, data["median"].values, "o", color=color, markerfacecolor=paper(), markersize=5.0, zorder=4)
