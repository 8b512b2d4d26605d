"""The exact distribution of a metric as a curve, of one matrix or of several."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import xarray as xr

from bayescm.data import validate
from bayescm.data.schema import CI_BOUND
from bayescm.data.words import CiKind
from bayescm.inference.metric_distributions import MetricDistribution, metric_distribution
from bayescm.metrics import MetricLike
from bayescm.plots.checks import asked, require
from bayescm.plots.densities import Curve, draw_curves, draw_ridges, log_ticks, unlimited
from bayescm.plots.frames import Axes, new_axes
from bayescm.plots.layers import batch_labels, named, parts, tell_apart
from bayescm.plots.letters import as_written, wrapped

Drawn = MetricDistribution | xr.Dataset
_SHORT = {
    "matthews_correlation": "MCC",
    "negative_predictive_value": "NPV",
    "positive_likelihood_ratio": "LR+",
    "negative_likelihood_ratio": "LR-",
    "diagnostic_odds_ratio": "DOR",
}
_ENDS = (5e-4, 1 - 5e-4)  # quantiles at the ends of an axis
_GRID = 257


@as_written
def plot_distribution(
    data: Drawn | xr.DataTree | Mapping[str, Drawn | xr.DataTree] | Sequence[Drawn],
    *,
    metric: MetricLike | None = None,
    kind: Literal["pdf", "cdf", "ridge"] = "pdf",
    reference: float | None = None,
    ci_prob: float | None = None,
    ci_kind: CiKind | None = None,
    log: bool | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the exact distribution of a metric: its curve, interval, mean and median, and the value of the counts.

    Parameters
    ----------
    data : MetricDistribution, xarray.Dataset, xarray.DataTree, or several of these
        From :func:`bayescm.metric_distribution`, or its ``to_dataset()``, with at most one batch dim: the systems are
        drawn over one another. A mapping of names to distributions, or a sequence, compares prior and posterior, two
        models, or metrics that share a scale. A tree is a model's draws, of which `metric` is drawn.
    metric : str, Metric or callable, optional
        Of a tree, as in :func:`bayescm.metric_distribution`.
    kind : {"pdf", "cdf", "ridge"}
        Density, cumulative probability, or one density below another, each scaled to the same height, for more than
        eight distributions.
    reference : float, optional
        A value to compare with, drawn as a vertical line. The legend says P(metric > reference), exactly; a Dataset
        doesn't hold that, so there the line is all.
    ci_prob : float, optional
        Probability of the interval; default .95, of a Dataset what it was made with.
    ci_kind : {"eti", "hdi"}, optional
        Default "eti", of a Dataset what it was made with.
    log : bool, optional
        Logarithmic axis, with the density of the logarithm, so that areas are still probabilities. Default: for metrics
        without an upper limit (likelihood ratios, odds ratio).
    ax : matplotlib.axes.Axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        With more than one batch dim, with more than eight curves ("pdf" and "cdf"), or if some of the metrics have an
        upper limit and others don't.

    Notes
    -----
    Curves end at the quantiles .0005 and .9995. A density that is infinite at an end of the range is cut off, and a
    note says so. A known number (a prevalence that was exchanged) is a vertical line.

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
    >>> ax = bayescm.plots.plot_distribution(bayescm.metric_distribution(counts, "mcc"), reference=0.5)
    >>> print(ax.get_legend().get_texts()[-1].get_text())
    P(MCC > 0.5) = 0.974
    """
    validate.choice("kind", kind, ("pdf", "cdf", "ridge"))
    if reference is not None:
        reference = validate.number("reference", reference, -np.inf, np.inf)
    curves = [curve for one in _named(data, metric) for curve in _curves(*one, (ci_prob, ci_kind), reference, log=log)]
    log = _check(curves, kind, log)
    if log and reference is not None and reference <= 0:
        raise ValueError(f"`reference` must be above 0 on a logarithmic axis; got {reference:g}. Give log=False.")
    number, ridges = len(curves), kind == "ridge"
    lines = max(wrapped(curve.name).count("\n") + 1 for curve in curves)
    ax = new_axes(ax, (6.8, 1.2 + max(0.3, 0.15 * lines) * number) if ridges else (6.4, 3.1 + 0.21 * max(number, 2)))
    title = _marks(curves, dark=ridges) if number > 1 or ridges else None
    draw = draw_ridges if ridges else draw_curves
    draw(ax, curves, kind, reference, log=log, title=title)
    if log:
        log_ticks(ax)
    titles = dict.fromkeys(str(curve.data.attrs["title"]) for curve in curves)
    ax.set_xlabel(next(iter(titles)) if len(titles) == 1 else "value of the metric")
    return ax


def _marks(curves: list[Curve], *, dark: bool = False) -> str:
    """Say what the marks of several curves are."""
    attrs = curves[0].data.attrs
    shade = f"dark: {100 * float(attrs['ci_prob']):g}% {str(attrs['ci_kind']).upper()}   " if dark else ""
    return f"{shade}\u25cf mean   \u25cb median   | value of the counts"


def _named(data: Any, metric: MetricLike | None) -> list[tuple[str, Drawn]]:
    """Return the distributions by name; draws are asked for theirs."""
    several = isinstance(data, Sequence)
    pairs = [("", one) for one in data] if several else named(data, "distribution")
    if not pairs:
        raise ValueError("`data` is empty; give at least one distribution.")
    dists = [_distribution(one, metric) for _, one in pairs]
    names = [_title(one) for one in dists] if several else [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError(
            f"`data` has several distributions of one metric ({', '.join(names)}); "
            "give a mapping of names to them: {'prior': ..., 'posterior': ...}."
        )
    return list(zip(names, dists, strict=True))


def _distribution(dist: Any, metric: MetricLike | None) -> Drawn:
    """Return a distribution as it is, and that of draws."""
    if isinstance(dist, xr.DataTree):
        if metric is None:
            raise TypeError("`metric` must be given for draws, as in plot_distribution(tree, metric='f1'); got none.")
        dist = asked(metric_distribution, dist, metric=metric)
    if isinstance(dist, MetricDistribution):
        return dist
    of = "bayescm.metric_distribution or its to_dataset()"
    require("data", dist, of, ("x", "pdf", "cdf", "interval"), ("title",))
    if dist.sizes["grid"] < 3:
        raise ValueError("`data` as a Dataset must have at least 3 points; give more to to_dataset(points=).")
    stored: xr.Dataset = dist
    return stored


def _title(dist: Drawn) -> str:
    return str(dist.attrs["title"] if isinstance(dist, xr.Dataset) else dist.metric.title)


def _check(curves: list[Curve], kind: str, log: bool | None) -> bool:
    """Refuse curves that can't be drawn together; say whether the axis is logarithmic."""
    if kind != "ridge":
        tell_apart(len(curves), "distributions", or_else=", or take kind='ridge'")
    without = {_title(curve.data): unlimited(curve.data) for curve in curves}
    if len(set(without.values())) > 1:
        raise ValueError(
            f"`data` mixes metrics with and without an upper limit ({', '.join(without)}); "
            "draw them on axes of their own."
        )
    return log if log is not None else any(without.values())


def _curves(
    name: str, dist: Drawn, interval: tuple[float | None, str | None], reference: float | None, *, log: bool | None
) -> list[Curve]:
    """Return the curves of one distribution: one for each system of its batch."""
    data = _stored(dist, interval) if isinstance(dist, xr.Dataset) else _evaluated(dist, interval, log=log)
    several = parts(name, data, "point", (), labels=lambda batch: batch_labels(batch.values))
    claims = [""] * len(several)
    if reference is not None and isinstance(dist, MetricDistribution):
        short = _SHORT.get(dist.metric.name, dist.metric.title)
        text = f"P({short[0].lower() + short[1:] if short[1:2].islower() else short} > {reference:g})"
        pairs = zip(dist.sf(reference).values.flat, dist.cdf(reference).values.flat, strict=True)
        claims = [f"{text} {_probability(above, below)}" for above, below in pairs]
    return [Curve(*one, claim) for one, claim in zip(several, claims, strict=True)]


def _stored(data: xr.Dataset, interval: tuple[float | None, str | None]) -> xr.Dataset:
    """Return a Dataset as it is, if its interval is the one that is wanted."""
    for name, wanted in zip(("ci_prob", "ci_kind"), interval, strict=True):
        if wanted is not None and wanted != data.attrs[name]:
            raise ValueError(
                f"`{name}` of a Dataset is the one it was made with, {data.attrs[name]}; got {wanted!r}. "
                "Give it to to_dataset(), or give the distribution itself."
            )
    return data


def _evaluated(dist: MetricDistribution, interval: tuple[float | None, str | None], *, log: bool | None) -> xr.Dataset:
    """Return the Dataset of a distribution, on a grid that suits the axis."""
    prob, ci_kind = interval
    data = dist.to_dataset(0.95 if prob is None else prob, "eti" if ci_kind is None else ci_kind)
    data = data.assign_attrs(unlimited=not np.isfinite(dist.metric.upper))
    log = unlimited(data) if log is None else log
    if not (log or unlimited(data)):
        return data
    low, high = (dist.ppf(end) for end in _ENDS)
    if log:
        x = np.exp(np.log(low) + (np.log(high) - np.log(low)) * xr.DataArray(np.linspace(0.0, 1.0, _GRID), dims="grid"))
    else:  # the last thousandth may lie anywhere; inside the ends, where the density may be infinite
        upper = data["interval"].sel({CI_BOUND: "upper"}, drop=True)
        end = np.minimum(high, 1.25 * upper)
        start = xr.where(low - dist.metric.lower < 0.02 * (end - low), dist.metric.lower, low)  # type: ignore[no-untyped-call]
        x = start + (end - start) * xr.DataArray((np.arange(_GRID) + 0.5) / _GRID, dims="grid")
    return data.assign(x=x, pdf=dist.pdf(x).assign_attrs(data["pdf"].attrs), cdf=dist.cdf(x))


def _probability(above: float, below: float) -> str:
    """Write a probability so that it is never a false 0 or 1."""
    if below < 5e-4:
        return f"= 1 - {below:.1e}" if below > 0 else "= 1"
    return f"= {above:.3f}" if above >= 0.01 else f"= {above:.1e}" if above > 0 else "= 0"
