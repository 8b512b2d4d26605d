"""Differences of systems with what counts as none, and who is probably better than whom."""

from typing import Any

import numpy as np
import xarray as xr

from bayescm.comparison.boards import leaderboard
from bayescm.comparison.systems import compare_systems
from bayescm.data import validate
from bayescm.data.schema import CI_BOUND, LABEL, METRIC, SYSTEM
from bayescm.plots.areas import density_of
from bayescm.plots.checks import answer_of, asked, refuse
from bayescm.plots.frames import Axes, draw_reference, new_axes
from bayescm.plots.heat import draw_heat, short_probability
from bayescm.plots.layers import batch_labels, stored_names
from bayescm.plots.letters import as_written, wrapped
from bayescm.plots.style import fade, palette, paper, tone
from bayescm.results.systems import verdict_on
from bayescm.results.writing import decimals_of, percent, probability

_WORDS = ("worse", "equivalent", "better")
_FEW = 8  # systems with large cells
_BELOW = 1.4  # of the size of the font, that a line below the axis takes
_WIDE = 56  # letters of a line below the axis
_SHORT = 16  # letters of a system's name beside each probability


@as_written
def plot_difference(
    data: xr.DataTree,
    metric: str | None = None,
    comparison: str | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw the posterior density of the difference of two systems.

    Parameters
    ----------
    data : xarray.DataTree
        From :func:`bayescm.compare_systems`; or a model's draws of several systems, which are compared.
    metric : str, optional
        A metric of its summary, such as "accuracy" or "recall[a]". Default: the first.
    comparison : str, optional
        Such as "A - B". Default: the first; the title says of how many.
    ax : matplotlib.axes.Axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no such metric or comparison.

    Notes
    -----
    ArviZ's kernel density of the draws; what the legend says, the interval (bar) and the mean (circle) are those of the
    summary, exact where it is. Grey: what counts as no difference.

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=[40, 30], fn=[5, 12], fp=[4, 8], tn=[70, 66], dims="system")
    >>> found = bayescm.compare_systems(counts, rope=0.02, random_seed=1)
    >>> ax = bayescm.plots.plot_difference(found)
    >>> print(ax.get_legend().get_title().get_text())
    no verdict on 0 and 1 (at 95%)
    """
    data = _compared(data, metric)
    summary = data["summary"].to_dataset()
    stored = summary[METRIC].values.tolist()
    pairs = summary["comparison"].values.tolist()
    unsaid = {"metrics": len(stored) if metric is None else 1, "comparisons": len(pairs) if comparison is None else 1}
    metric = stored[0] if metric is None else stored_names("metric", metric, stored)[0]
    comparison = pairs[0] if comparison is None else validate.choice("comparison", comparison, pairs)
    row = summary.sel({METRIC: metric, "comparison": comparison})
    draws = _draws(data["posterior"].to_dataset().sel(comparison=comparison), row, metric)
    ax = new_axes(ax, (6.4, 3.9))
    density, color = density_of(draws.values.ravel()), palette()[0]
    rope = float(data.attrs["rope"])
    top = 1.06 * float(density[1].max()) if density is not None else 1.0
    if density is not None:
        ax.plot(*density, color=color, linewidth=1.8)
        ax.fill_between(*density, color=color, alpha=fade(0.2), linewidth=0)
    if rope > 0:
        ax.axvspan(-rope, rope, color=tone(0.15), zorder=0)
    draw_reference(ax, 0.0)
    lower, upper = (float(v) for v in row["interval"].values)
    ax.plot([lower, upper], [-0.05 * top] * 2, color=color, linewidth=2.4, solid_capstyle="butt", alpha=0.6)
    ax.plot([float(row["mean"])], [-0.05 * top], "o", markersize=5, color=color, markerfacecolor=paper())
    ax.set_ylim(-0.1 * top, top)
    if density is not None:  # a long tail would leave no room
        ax.set_xlim(*np.clip([1.6 * lower - 0.6 * upper, 1.6 * upper - 0.6 * lower], density[0][0], density[0][-1]))
    ax.set_yticks([])
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.set_xlabel(wrapped(f"{draws.attrs.get('long_name', metric)}, {comparison}", _WIDE))
    if said := " and ".join(f"{number} {what}" for what, number in unsaid.items() if number > 1):
        ax.set_title(f"the first of {said}", loc="left", fontsize="small")
    _say(ax, row, data.attrs, rope, certain=density is None)
    return ax


@as_written
def plot_pairwise(data: xr.Dataset | xr.DataTree, *, cmap: str = "RdBu", ax: Axes | None = None) -> Axes:
    """Draw how probably each system is better than each other one.

    Parameters
    ----------
    data : xarray.Dataset or xarray.DataTree
        With the variable ``probability_better(system, versus)``, as from :func:`bayescm.leaderboard`; or a model's
        draws of several systems.
    cmap : str
        Colours from 0 to 1.
    ax : matplotlib.axes.Axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import bayescm
    >>> import xarray as xr
    >>> names = ["A", "B"]
    >>> pairwise = xr.DataArray([[0.5, 0.9], [0.1, 0.5]], coords={"system": names, "versus": names})
    >>> ax = bayescm.plots.plot_pairwise(pairwise.to_dataset(name="probability_better"))
    """
    data = answer_of(
        leaderboard, data, ("probability_better", SYSTEM, "versus"), pairwise=True,
        call="bayescm.plots.plot_pairwise(bayescm.leaderboard(systems))",
    )  # fmt: skip
    if set(data["probability_better"].dims) != {SYSTEM, "versus"}:
        refuse("data", data["probability_better"], "probability_better(system, versus) of one metric")
    pairwise = _best_first(data["probability_better"].transpose(SYSTEM, "versus"))
    values, n = pairwise.values.astype(np.float64), pairwise.sizes[SYSTEM]
    said = np.isfinite(values) & ~np.eye(n, dtype=bool)
    texts = [
        np.array([write(float(value)) if known else "" for value, known in zip(values.flat, said.flat, strict=True)])
        for write in (probability, short_probability)
    ]
    names = batch_labels(pairwise[SYSTEM].values), batch_labels(pairwise["versus"].values)
    ax, _ = draw_heat(
        ax, values, names, [one.reshape(values.shape) for one in texts], cell=0.7 if n < _FEW else 0.5,
        bar="P(better)", vmin=0.0, vmax=1.0, cmap=cmap,
    )  # fmt: skip
    ax.set_xlabel("... is better than this one")
    ax.set_ylabel("This system ...")
    return ax


def _compared(data: Any, metric: str | None) -> xr.DataTree:
    """Return a comparison as it is; systems of other trees are compared."""
    groups = set(data.children) if isinstance(data, xr.DataTree) and "rope" in data.attrs else set()
    if not isinstance(data, xr.DataTree):
        call = "bayescm.plots.plot_difference(bayescm.compare_systems(systems))"
        refuse("data", data, "what bayescm.compare_systems returns", call)
    compared: xr.DataTree = data
    if not {"posterior", "summary"} <= groups:
        compared = asked(compare_systems, data, metrics=metric)
    return compared


def _best_first(pairwise: xr.DataArray) -> xr.DataArray:
    """Put the systems in the order of how many others each probably beats; the same order on both sides."""
    names = pairwise[SYSTEM].values
    if set(names.tolist()) != set(pairwise["versus"].values.tolist()):
        return pairwise
    order = names[np.argsort(-np.nanmean(pairwise.values, axis=1), kind="stable")]
    return pairwise.sel({SYSTEM: order, "versus": order})


def _draws(posterior: xr.Dataset, row: xr.Dataset, metric: str) -> Any:
    """Return the draws of a metric, or of a metric of one class."""
    if metric in posterior:
        return posterior[metric]
    label = str(row[LABEL].item())
    place = [str(value) for value in posterior[LABEL].values].index(label)
    draws = posterior[metric.removesuffix(f"[{label}]")].isel({LABEL: place})
    return draws.assign_attrs(long_name=f"{draws.attrs['long_name']}, class {label}")


def _say(ax: Axes, row: xr.Dataset, attrs: Any, rope: float, *, certain: bool) -> None:
    """Write the probabilities, the interval and the verdict."""
    first, second = str(row["first"].item()), str(row["second"].item())
    verdict, sure = str(row["verdict"].item()), percent(float(attrs["ci_prob"]))
    lower, upper = (float(v) for v in row["interval"].values)
    digits = decimals_of(lower, upper)
    kind = str(row[CI_BOUND].attrs.get("ci_kind", "")).upper()
    who = f"{first} " if len(first) <= _SHORT else ""
    said = [
        probability(
            float(row["probability"].sel(side=word)), f"P({'' if word == 'equivalent' else who}{word})", certain=certain
        )
        for word in _WORDS
        if rope > 0 or word != "equivalent"
    ]
    if rope > 0:
        said.append(f"rope \u00b1{rope:g}")
    said.append(f"{sure} {kind} {lower:.{digits}f} to {upper:.{digits}f}")
    handles = [ax.plot([], [], linestyle="none", label=line)[0] for line in said]
    from matplotlib.transforms import ScaledTranslation

    lines = 2.1 + ax.get_xlabel().count("\n")
    below = ScaledTranslation(0, -_BELOW * float(ax.xaxis.label.get_fontsize()) * lines / 72, ax.figure.dpi_scale_trans)
    reason = f": {row['reason'].item()}" if "reason" in row else ""
    title = wrapped(f"{verdict_on(first, second, verdict)} (at {sure}){reason}", _WIDE)
    legend = ax.legend(
        handles=handles, title=title, frameon=False, handlelength=0, handletextpad=0, loc="upper center",
        bbox_to_anchor=(0.5, 0.0), bbox_transform=ax.transAxes + below, ncols=2, alignment="center",
    )  # fmt: skip
    legend.get_title().set_multialignment("center")
