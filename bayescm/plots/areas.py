"""Posterior densities of the area under a curve, and of every other number that is read from drawn curves."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.schema import CHAIN, DRAW
from bayescm.distributions.sample import bounds
from bayescm.plots.checks import refuse
from bayescm.plots.curves import labels_of
from bayescm.plots.densities import COLORS, STYLES
from bayescm.plots.letters import as_written
from bayescm.plots.planes import list_legend, new_axes, renamed
from bayescm.results.writing import decimals_of, percent, probability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

_SHADED = 4  # densities that may be shaded over one another


class _Draws(NamedTuple):
    """Draws of one area, with a name."""

    name: str
    values: Array


@as_written
def plot_areas(
    data: xr.DataTree | xr.Dataset | Mapping[str, xr.DataTree | xr.Dataset],
    *,
    var: str = "auc",
    names: Sequence[str] | None = None,
    ci_prob: float = 0.95,
    reference: float | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the posterior density of an area under the curve.

    Parameters
    ----------
    data : xarray.DataTree, xarray.Dataset, or mapping of names to these
        From :func:`bayescm.curve_posterior`, or its group ``posterior``.
    var : str
        A variable of it: "auc", "average_precision", "pr_area", "partial_auc_fpr" and so on, with at most one dim
        besides chains and draws, such as that of systems or groups: their densities are drawn over one another.
    names : sequence of str, optional
        Instead of the names in the legend, one for each density.
    ci_prob : float
        Of the equal-tailed interval, the bar below each density, with the median as a circle.
    reference : float, optional
        A value to compare with, drawn as a vertical line; the legend says how probable it is to be exceeded.
    ax : matplotlib.axes.Axes, optional
        Default: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If there is no such variable, or with more than one more dim or more than eight densities.

    Notes
    -----
    ArviZ's kernel density, which ends at the least and the largest draw, so never beyond 0 or 1. Two systems (or
    groups) of one posterior are compared draw by draw, and the title of the legend says how probable it is that the
    first has the larger area. A variable whose draws are all the same is a vertical line.

    Examples
    --------
    >>> import bayescm
    >>> y = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]
    >>> s = [0.1, 0.2, 0.2, 0.3, 0.5, 0.6, 0.4, 0.7, 0.8, 0.9]
    >>> post = bayescm.curve_posterior(y, s, over=None, random_seed=1)
    >>> ax = bayescm.plot_areas(post, reference=0.5)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]  # doctest: +ELLIPSIS
    ['median 0.8..., 95% ETI 0.5... to 0.9...', 'P(> 0.5) = 0.9...']
    """
    level = validate.number("ci_prob", ci_prob, 0, 1)
    if reference is not None:
        reference = validate.number("reference", reference, -np.inf, np.inf)
    shown, compared = _wanted(data, var, names)
    ax = new_axes(ax, (6.4, 3.1 + 0.21 * len(shown)))
    densities = [density_of(one.values) for one in shown]
    tops = [float(density[1].max()) for density in densities if density is not None]
    top = 1.06 * max(tops, default=1.0)
    step, handles = 0.06 * top, []
    for i, (one, density) in enumerate(zip(shown, densities, strict=True)):
        handles.append(_draw(ax, one, density, i, level, (top, -(i + 0.75) * step), reference, len(shown)))
    if reference is not None:
        handles.append(_draw_reference(ax, shown, reference))
    _frame(ax, top, -(len(shown) + 0.5) * step, _title(data, var), known=not tops)
    first, second = (shown + shown)[:2]
    list_legend(ax, _more(first, second) if compared else None, handles=handles)
    return ax


def posterior_of(data: Any) -> xr.Dataset:
    """Return the posterior of curves as a Dataset."""
    found = data.children.get("posterior", data).to_dataset() if isinstance(data, xr.DataTree) else data
    if not isinstance(found, xr.Dataset) or not {CHAIN, DRAW} <= set(found.dims):
        refuse("data", data, "what bayescm.curve_posterior returns, or its posterior")
    return found


def share(text: str, above: NDArray[np.bool_]) -> str:
    """Write the share of draws so that it is never a false 0 or 1."""
    return probability(float(above.mean()), text)


def _wanted(data: Any, var: str, names: Sequence[str] | None) -> tuple[list[_Draws], bool]:
    """Return the draws of all densities, and whether they are two of one posterior that can be compared."""
    several = isinstance(data, Mapping) and not isinstance(data, xr.Dataset | xr.DataTree)
    given = list(data.items()) if several else [("", data)]
    if not given:
        raise ValueError("`data` is empty; give at least one posterior.")
    found = [pair for name, one in given for pair in _singles(str(name), posterior_of(one), var)]
    if not 0 < len(found) <= len(COLORS):
        raise ValueError(f"`data` has {len(found)} densities; 1 to {len(COLORS)} can be told apart: select some.")
    called = renamed(names, [one.name for one in found], "density")
    found = [one._replace(name=name) for one, name in zip(found, called, strict=True)]
    compared = False
    if len(found) == 2 and len(given) == 1:
        posterior = posterior_of(given[0][1])
        rest = [dim for dim in posterior[var].dims if dim not in (CHAIN, DRAW)]
        compared = "auc" in posterior and rest[0] in posterior["auc"].dims  # not two points of one curve
    return found, compared


def _singles(name: str, posterior: xr.Dataset, var: str) -> list[_Draws]:
    """Return the draws of every system or group."""
    known = [str(key) for key, one in posterior.data_vars.items() if {CHAIN, DRAW} <= set(one.dims) and one.ndim <= 3]
    if var not in known:
        raise ValueError(f"`var` must be one of {', '.join(known)}; got {var!r}.")
    draws = posterior[var].compute()
    rest = [dim for dim in draws.dims if dim not in (CHAIN, DRAW)]
    if not rest:
        return [_Draws(name, draws.values.ravel())]
    values = draws.transpose(rest[0], CHAIN, DRAW).values
    return [
        _Draws(f"{name} {label}".strip(), one.ravel())
        for label, one in zip(labels_of(draws[rest[0]]), values, strict=True)
    ]


def density_of(values: Array) -> tuple[Array, Array] | None:
    """Return a kernel density that ends with the draws; None if they are all the same or one is undefined."""
    from arviz_stats.base import array_stats  # type: ignore[attr-defined]

    if not np.isfinite(values).all() or np.ptp(values) <= 1e-12 * max(1.0, float(np.abs(values).max())):
        return None
    x, y, _ = array_stats.kde(values)  # type: ignore[no-untyped-call]
    return np.asarray(x), np.asarray(y)


def _draw(
    ax: "Axes", one: _Draws, density: tuple[Array, Array] | None, i: int, level: float, heights: tuple[float, float],
    reference: float | None, number: int,
) -> Any:  # fmt: skip
    """Draw a density with its bar at a height below zero; return what the legend shows."""
    color, style = COLORS[i], STYLES[i % len(STYLES)]
    top, below = heights
    prefix = f"{one.name}: " if one.name else ""
    if not np.isfinite(one.values).all():
        return ax.plot([], [], style, color=color, label=f"{prefix}undefined in some draws")[0]
    lower, median, upper = (float(value) for value in bounds(one.values, level))
    digits = decimals_of(lower, upper)
    label = f"{prefix}median {median:.{digits}f}, {percent(level)} ETI {lower:.{digits}f} to {upper:.{digits}f}"
    if reference is not None and number > 1:
        label += f"; {share(f'P(> {reference:g})', one.values > reference)}"
    if density is None:
        (line,) = ax.plot(
            [median, median], [0.0, top], style, color=color, linewidth=1.8, label=f"{prefix}{median:g} in every draw"
        )
    else:
        x, y = density
        (line,) = ax.plot(x, y, style, color=color, linewidth=1.8, label=label)
        if number <= _SHADED:
            inside = np.unique([*x[(x > lower) & (x < upper)], *np.clip([lower, upper], x[0], x[-1])])
            alpha = 0.25 if number == 1 else 0.12
            ax.fill_between(inside, np.interp(inside, x, y), color=color, alpha=alpha, linewidth=0, zorder=1)
    ax.plot([lower, upper], [below, below], color=color, linewidth=2.2, solid_capstyle="butt", alpha=0.6, zorder=2)
    ax.plot([median], [below], "o", markersize=5.0, color=color, markerfacecolor="white", zorder=3)
    return line


def _draw_reference(ax: "Axes", shown: list[_Draws], reference: float) -> Any:
    """Draw the value to compare with; the legend says how probable more is."""
    alone = len(shown) == 1
    label = share(f"P(> {reference:g})", shown[0].values > reference) if alone else f"reference {reference:g}"
    ax.plot([reference], [0.0], linestyle="none")  # so that the margin goes beyond it
    line = ax.axvline(reference, color="0.35", linestyle=(0, (4, 2)), linewidth=1, zorder=1.5)
    line.set_label(label)
    return line


def _more(first: _Draws, second: _Draws) -> str | None:
    """Say how probable it is that the first has more."""
    defined = np.isfinite(first.values) & np.isfinite(second.values)
    if not defined.all():
        return None
    equal = first.values == second.values
    text = share(f"P({first.name} > {second.name})", first.values > second.values)
    return f"{text}, equal in {percent(round(float(equal.mean()), 4))} of the draws" if equal.any() else text


def _title(data: Any, var: str) -> str:
    """Return what the axis shows."""
    several = isinstance(data, Mapping) and not isinstance(data, xr.Dataset | xr.DataTree)
    first = posterior_of(next(iter(data.values())) if several else data)
    whole = var.removesuffix("_corrected")
    name = str(first[whole if whole in first else var].attrs.get("long_name", var))
    return name if whole == var else f"{name}, corrected"


def _frame(ax: "Axes", top: float, bottom: float, title: str, *, known: bool) -> None:
    """Set limits and labels."""
    ax.axhline(0.0, color="0.6", linewidth=0.8, zorder=0)
    ax.set_ylim(bottom, top)
    ax.set_yticks([] if known else [tick for tick in ax.get_yticks() if 0.0 <= tick <= top])
    ax.set_ylabel("" if known else "density")
    ax.set_xlabel(title)
    ax.spines[["top", "right"]].set_visible(False)
