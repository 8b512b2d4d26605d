"""Exact distributions in ArviZ's plots, which take them as statistics computed beforehand: no draws."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bayescm.data import validate
from bayescm.data.schema import CHAIN, DRAW
from bayescm.inference.metric_distributions import MetricDistribution
from bayescm.plots.checks import refuse


def arviz_options(
    data: MetricDistribution | Mapping[str, MetricDistribution],
    plot: str = "plot_dist",
    *,
    ci_probs: tuple[float, float] = (0.5, 0.95),
    ci_kind: str = "eti",
) -> tuple[xr.DataTree, dict[str, Any]]:
    """Return what ArviZ needs to draw exact distributions instead of draws.

    Parameters
    ----------
    data : MetricDistribution or mapping of str to MetricDistribution
        From :func:`bayescm.metric_distribution`, of any batch; of a mapping the names are ArviZ's variables.
    plot : {"plot_dist", "plot_forest"}
        ArviZ's function that draws them.
    ci_probs : tuple of two floats
        Of the thick and the thin line of a forest; ``plot_dist`` shows the larger.
    ci_kind : {"eti", "hdi"}

    Returns
    -------
    xarray.DataTree
        Its group ``posterior`` holds the means as one draw: ArviZ reads the names and dims of variables off it.
    dict
        Options of the plot, with densities, intervals and means in ``stats``.

    Notes
    -----
    A density that is infinite at an end of the range is drawn up to the last point of its grid only, and a known number
    has none: :func:`bayescm.plots.plot_distribution` shows both.

    Examples
    --------
    >>> import arviz as az
    >>> import bayescm
    >>> mcc = bayescm.metric_distribution(bayescm.datasets.caelen2017(), "mcc")
    >>> dt, options = bayescm.plots.arviz_options(mcc)
    >>> pc = az.plot_dist(dt, **options)
    """
    validate.choice("plot", plot, ("plot_dist", "plot_forest"))
    small, large = (validate.number("ci_probs", prob, 0, 1) for prob in sorted(ci_probs))
    named = {data.metric.name: data} if isinstance(data, MetricDistribution) else data
    known = isinstance(named, Mapping) and all(isinstance(dist, MetricDistribution) for dist in named.values())
    if not known or not named:
        refuse("data", data, "what bayescm.metric_distribution returns, or a mapping of names to these")
    stored = {name: dist.to_dataset(large, ci_kind) for name, dist in named.items()}
    means = xr.Dataset({name: d["mean"].drop_attrs() for name, d in stored.items()})
    wide = xr.Dataset({name: d["interval"].drop_attrs() for name, d in stored.items()})
    options: dict[str, Any] = {"ci_kind": ci_kind, "point_estimate": "mean"}
    if plot == "plot_dist":
        infinite = [name for name, d in stored.items() if not np.isfinite(d["pdf"]).all()]
        if infinite:
            raise ValueError(f"`data`: {', '.join(infinite)} is a known number and has no density; leave it out.")
        density = xr.Dataset({name: _density(d) for name, d in stored.items()})
        stats = {"dist": density, "credible_interval": wide, "point_estimate": means}
        options |= {"kind": "kde", "ci_prob": large}
    else:
        narrow = xr.Dataset({name: getattr(dist, ci_kind)(small).drop_attrs() for name, dist in named.items()})
        stats = {"trunk": narrow, "twig": wide, "point_estimate": means}
        options |= {"combined": True, "ci_probs": (small, large)}
    one_draw = means.expand_dims({CHAIN: 1, DRAW: 1})
    return xr.DataTree.from_dict({"posterior": one_draw}), options | {"stats": stats}


def _density(data: xr.Dataset) -> xr.DataArray:
    """Return a density in the layout of ArviZ's own: x and y along `plot_axis`."""
    both = xr.concat([data["x"].drop_attrs(), data["pdf"].drop_attrs()], "plot_axis").rename(grid="kde_dim")
    return both.assign_coords(plot_axis=["x", "y"]).assign_attrs(kind="kde")
