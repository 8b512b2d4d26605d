"""Regions of any two metrics, from draws of any posterior.

The region is an ellipse in the normal scores of both numbers (the normal quantile of each one's own posterior
probability) that holds the stated share of the draws. So it stays inside the plane, follows skewed posteriors, and has
its level whether or not the scores are jointly normal; that it is an ellipse there approximates its shape alone. Under
the ordering "kde" the shape is where a kernel estimate of the scores' density is highest.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from scipy import special, stats

from bayescm.data import validate
from bayescm.data.schema import METRIC, attributes
from bayescm.inference.options import number_of_draws
from bayescm.inference.read import read
from bayescm.metrics import Metric, per_label, resolve
from bayescm.regions.grid import LONG_NAMES, SPACES, Array, around

_NAMES = {"pr": ("precision", "recall"), "roc": ("recall", "false_positive_rate")}
_DRAWS, _POINTS = 100_000, 257
_KERNELS, _CHECKED = 2_000, 20_000
"""Draws that the density is made of, and others that say how much lies where it is higher."""
_WIDER = 1.3  # may a region by kernels be than an ellipse
_MARGIN = 0.06  # of the window around the largest region
_BETWEEN = " over "
KDE = "kde"


class Pair(NamedTuple):
    """A plane of two numbers.

    Attributes
    ----------
    name : str
    y, x : str
        Of the axes.
    """

    name: str
    y: str
    x: str


def plane(name: str) -> Pair:
    """Return the plane that a surface's attr `space` names."""
    y, _, x = name.partition(_BETWEEN)
    return Pair(name, SPACES[name].y, SPACES[name].x) if name in SPACES else Pair(name, y, x)


def of_posterior(
    data: Any,
    space: str | Sequence[Any],
    levels: tuple[float, ...],
    axes: tuple[Array, Array] | None,
    sizes: tuple[int, int] = (_POINTS, _POINTS),
    **options: Any,
) -> xr.Dataset:
    """Return the credible region of one matrix by draws of its posterior: see :func:`bayescm.region`."""
    ordering = options.pop("ordering", None)
    size, seed = number_of_draws(options.get("draws"), _DRAWS), validate.seed(options.get("random_seed"))
    posterior = read(data, otherwise=_DRAWS, **options | {"random_seed": seed})
    block, over = posterior.whole()
    if over.dims:
        raise ValueError(f"`counts` must be one matrix here; it also has the dims {list(over.dims)}. Select one.")
    metrics, space_ = _plane(space, block.k)
    block.check(metrics)
    drawn = [_share(values, metric) for values, metric in zip(block.draws(metrics), metrics, strict=True)]
    if any(len(np.unique(values)) < len(values) // 2 for values in drawn):
        raise ValueError(
            f"`counts` leave {metrics[0].name} and {metrics[1].name} finitely many pairs of values, and no region that "
            "is bounded by a line: take draws, bayescm.posterior."
        )
    ordered = [np.sort(each) for each in drawn]
    scores = np.stack([_scores(v, o) for v, o in zip(drawn, ordered, strict=True)], -1)
    factor = np.linalg.cholesky(np.cov(scores.T))
    apart = np.sort(_distance(scores, factor))
    reach = float(np.sqrt(np.quantile(apart, max(levels))))
    distance_of = partial(_distance, factor=factor)
    if ordering == KDE:
        chosen = np.arange(len(scores)) % max(len(scores) // _KERNELS, 2) == 0
        distance_of = partial(_sparsity, kernels=stats.gaussian_kde(scores[chosen].T))
        rest = scores[~chosen]
        apart, reach = np.sort(distance_of(rest[:: max(len(rest) // _CHECKED, 1)])), _WIDER * reach
    n = len(apart)
    within = None if axes is None else [_share(axis, metric) for axis, metric in zip(axes, metrics, strict=True)]
    within = within or _window(ordered, reach, sizes)
    on_grid = [_scores(points, o) for points, o in zip(within, ordered, strict=True)]
    distance = distance_of(np.stack(np.meshgrid(*on_grid, indexing="ij"), -1))
    level = np.interp(distance, apart, (np.arange(n) + 0.5) / n, left=0.0, right=1.0)
    names = (space_.y, space_.x)
    shown = [m.lower + (m.upper - m.lower) * share for m, share in zip(metrics, within, strict=True)]
    settings = {"draws": size, "random_seed": seed} | dict(posterior.settings)
    settings |= {"method": "credible", "ordering": ordering or "ellipse in the normal scores", "space": space_.name}
    settings |= {"levels": str(sorted(levels)), "complete_level": max(levels)}
    found = xr.Dataset(
        {"level": (names, level), "point": (METRIC, [float(one) for one in block.points(metrics)])},
        coords={METRIC: list(names), **dict(zip(names, shown, strict=True))},
        attrs=attributes(**settings),
    )
    titles = dict(zip(names, (metric.title for metric in metrics), strict=True)) | LONG_NAMES | {
        "point": "Value of the data themselves", "level": "Share of the posterior in the smallest region with it",
    }  # fmt: skip
    for name in (*names, *found.data_vars):
        found[name].attrs = {"long_name": titles[str(name)]}
    return found


def _plane(space: str | Sequence[Any], k: int) -> tuple[list[Metric], Pair]:
    """Return the metrics of both axes, y and x, and what they are called."""
    if isinstance(space, str):
        if k > 2:
            raise ValueError(
                f"`space`={space!r} is a plane of two labels, and these are {k}: name two metrics, such as "
                "space=('precision_macro', 'recall_macro')."
            )
        return resolve(_NAMES[validate.choice("space", space, tuple(_NAMES))], k), plane(space)
    if len(space) != 2:
        raise ValueError(f"`space` must be 'pr', 'roc' or two metrics, y and x; got {space!r}.")
    metrics = resolve(list(space), k)
    for metric in metrics:
        if per_label(metric, k) or not np.isfinite([metric.lower, metric.upper]).all():
            raise ValueError(f"`space` takes metrics with one value between two bounds, which {metric.name} isn't.")
    y, x = (metric.name for metric in metrics)
    return metrics, Pair(f"{y}{_BETWEEN}{x}", y, x)


def _share(values: Array, metric: Metric) -> Array:
    """Return where values lie in a metric's range."""
    return np.asarray((values - metric.lower) / (metric.upper - metric.lower))


def _scores(values: Array, ordered: Array) -> Array:
    """Return normal scores of values among ordered draws."""
    n = len(ordered)
    return np.asarray(np.interp(values, ordered, special.ndtri((np.arange(n) + 0.5) / n)))


def _distance(scores: Array, factor: Array) -> Array:
    """Return the squared Mahalanobis distance of points (..., 2) from 0."""
    apart = np.linalg.solve(factor, scores.reshape(-1, 2).T)
    return np.asarray((apart**2).sum(0).reshape(scores.shape[:-1]))


def _sparsity(scores: Array, kernels: Any) -> Array:
    """Return minus the density of points (..., 2)."""
    return np.asarray(-kernels(scores.reshape(-1, 2).T).reshape(scores.shape[:-1]))


def _window(ordered: list[Array], reach: float, sizes: tuple[int, int]) -> list[Array]:
    """Return axes that hold the largest region."""
    found = []
    for draws, size in zip(ordered, sizes, strict=True):
        low, high = np.quantile(draws, special.ndtr([-reach, reach]))
        found.append(around(float(low), float(high), _MARGIN, size))
    return found
