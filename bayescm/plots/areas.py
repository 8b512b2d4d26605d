"""Posterior densities of the area under a curve, and of every other number that is read from drawn curves."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.needs import need
from bayescm.data.schema import CHAIN, DRAW
from bayescm.distributions.sample import bounds
from bayescm.plots.checks import refuse
from bayescm.plots.densities import Shape, draw_shapes
from bayescm.plots.frames import Axes, list_legend, new_axes
from bayescm.plots.layers import Array, batch_of, named, parts, renamed, tell_apart
from bayescm.plots.letters import as_written
from bayescm.results.writing import decimals_of, percent, probability


class _Draws(NamedTuple):
    """Draws of one area, with a name."""

    name: str
    values: Array


@as_written
def plot_areas(
    data: xr.DataTree | xr.Dataset | Mapping[str, xr.DataTree | xr.Dataset],
    *,
    metric: str = "auc",
    names: Sequence[str] | None = None,
    ci_prob: float = 0.95,
    reference: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the posterior density of an area under the curve.

    Parameters
    ----------
    data : xarray.DataTree, xarray.Dataset, or mapping of names to these
        From :func:`bayescm.curve_posterior`, or its group ``posterior``.
    metric : str
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
    >>> ax = bayescm.plots.plot_areas(post, reference=0.5)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]  # doctest: +ELLIPSIS
    ['median 0.8..., 95% ETI 0.5... to 0.9...', 'P(> 0.5) = 0.9...']
    """
    level = validate.number("ci_prob", ci_prob, 0, 1)
    if reference is not None:
        reference = validate.number("reference", reference, -np.inf, np.inf)
    shown, compared = _wanted(data, metric, names)
    ax = new_axes(ax, (6.4, 3.1 + 0.21 * len(shown)))
    densities = [density_of(one.values) for one in shown]
    tops = [float(density[1].max()) for density in densities if density is not None]
    top, alone = 1.06 * max(tops, default=1.0), len(shown) == 1
    each = None if alone else reference
    shapes = [_shape(one, density, level, top, each) for one, density in zip(shown, densities, strict=True)]
    line = None
    if reference is not None:
        above = share(f"P(> {reference:g})", shown[0].values > reference)
        line = reference, above if alone else f"reference {reference:g}"
    handles = draw_shapes(ax, shapes, top, "density" if tops else "", line)
    ax.set_xlabel(_title(data, metric))
    list_legend(ax, _more(*shown) if compared else None, handles=handles)
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


def _wanted(data: Any, metric: str, names: Sequence[str] | None) -> tuple[list[_Draws], bool]:
    """Return the draws of all densities, and whether they are two of one posterior that can be compared."""
    given = named(data, "posterior")
    shown = [_Draws(*pair) for name, one in given for pair in _singles(name, posterior_of(one), metric)]
    tell_apart(len(shown), "densities")
    called = renamed(names, [one.name for one in shown], "density")
    shown = [one._replace(name=name) for one, name in zip(shown, called, strict=True)]
    compared = False
    if len(shown) == 2 and len(given) == 1:
        posterior = posterior_of(given[0][1])
        batch = batch_of(posterior, metric, (CHAIN, DRAW))
        compared = "auc" in posterior and batch in posterior["auc"].dims  # not two points of one curve
    return shown, compared


def _singles(name: str, posterior: xr.Dataset, metric: str) -> list[tuple[str, Array]]:
    """Return the draws of every system or group."""
    known = [str(key) for key, one in posterior.data_vars.items() if {CHAIN, DRAW} <= set(one.dims) and one.ndim <= 3]
    if metric not in known:
        raise ValueError(f"`metric` must be one of {', '.join(known)}; got {metric!r}.")
    several = parts(name, posterior[[metric]], metric, (CHAIN, DRAW))
    return [(label, one[metric].transpose(CHAIN, DRAW).values.ravel()) for label, one in several]


def density_of(values: Array) -> tuple[Array, Array] | None:
    """Return a kernel density that ends with the draws; None if they are all the same or one is undefined."""
    array_stats = need("arviz_stats.base", "A density of draws").array_stats
    if not np.isfinite(values).all() or np.ptp(values) <= 1e-12 * max(1.0, float(np.abs(values).max())):
        return None
    x, y, _ = array_stats.kde(values)
    return np.asarray(x), np.asarray(y)


def _shape(
    one: _Draws, density: tuple[Array, Array] | None, level: float, top: float, reference: float | None
) -> Shape:
    """Return how a density is drawn; `reference` where each has its own probability of more."""
    prefix = f"{one.name}: " if one.name else ""
    if not np.isfinite(one.values).all():
        return Shape(f"{prefix}undefined in some draws", np.array([]), np.array([]))
    lower, median, upper = (float(value) for value in bounds(one.values, level))
    marks = {"median": (median, "")}
    if density is None:
        x, y = np.full(2, median), np.array([0.0, top])
        return Shape(f"{prefix}{median:g} in every draw", x, y, (lower, upper), marks)
    digits = decimals_of(lower, upper)
    label = f"{prefix}median {median:.{digits}f}, {percent(level)} ETI {lower:.{digits}f} to {upper:.{digits}f}"
    if reference is not None:
        label += f"; {share(f'P(> {reference:g})', one.values > reference)}"
    return Shape(label, *density, (lower, upper), marks, filled=True)


def _more(first: _Draws, second: _Draws) -> str | None:
    """Say how probable it is that the first has more."""
    defined = np.isfinite(first.values) & np.isfinite(second.values)
    if not defined.all():
        return None
    equal = first.values == second.values
    text = share(f"P({first.name} > {second.name})", first.values > second.values)
    return f"{text}, equal in {percent(round(float(equal.mean()), 4))} of the draws" if equal.any() else text


def _title(data: Any, metric: str) -> str:
    """Return what the axis shows."""
    first = posterior_of(named(data, "posterior")[0][1])
    whole = metric.removesuffix("_corrected")
    name = str(first[whole if whole in first else metric].attrs.get("long_name", metric))
    return name if whole == metric else f"{name}, corrected"
