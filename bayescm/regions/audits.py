"""Regions of audits: where recall and precision of all items may lie, of which some were checked.

Two groups of items share recall, so that the likelihood of the plane isn't one of four cells. The region is made of
draws of the posterior: an ellipse in the normal scores of both numbers (the normal quantile of each one's own posterior
probability) that holds the stated share of the draws. So it stays inside the plane, follows skewed posteriors, and has
its level whether or not the scores are jointly normal; that it is an ellipse there approximates its shape alone.
"""

from typing import Any

import numpy as np
import xarray as xr
from scipy import special

from bayescm.data import validate
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import METRIC, labels_of
from bayescm.distributions import strata as groups
from bayescm.inference.audits import attrs_of, posterior_of
from bayescm.metrics import compute, resolve
from bayescm.priors.concentrations import PriorLike
from bayescm.regions.grid import LONG_NAMES, Array, Space, around

_NAMES = {"precision": "precision", "recall": "recall", "tpr": "recall", "fpr": "false_positive_rate"}
_DRAWS, _POINTS = 100_000, 257
_MARGIN = 0.06  # of the window around the largest region


def of_audit(
    counts: xr.DataArray,
    space: Space,
    levels: tuple[float, ...],
    prior: PriorLike,
    samples: int | None,
    random_seed: Any,
    axes: tuple[Array, Array] | None,
    sizes: tuple[int, int] = (_POINTS, _POINTS),
) -> xr.Dataset:
    """Return the credible region of an audit: see :func:`bayescm.region`."""
    of, posterior = posterior_of(counts, prior)
    labels = labels_of(counts)
    if len(labels) != 2:
        raise ValueError(f"`counts` must have two labels here; it has {len(labels)}.")
    if of.of == "items":
        raise ValueError(
            "`counts` of these items alone (of='items') have finitely many pairs of values, and no region that is "
            "bounded by a line: take draws, bayescm.posterior(counts, metrics=['precision', 'recall'])."
        )
    size = validate.draws(_DRAWS if samples is None else samples)
    seed = validate.seed(random_seed)
    metrics = resolve([_NAMES[space.y], _NAMES[space.x]], 2)
    values = compute(metrics, groups.draw(posterior, matrix_rng(seed, 0, Stream.AUDIT), size)[2])
    ordered = [np.sort(each) for each in values]
    drawn = np.stack([_scores(v, o) for v, o in zip(values, ordered, strict=True)], -1)
    factor = np.linalg.cholesky(np.cov(drawn.T))
    apart = np.sort(_distance(drawn, factor))
    if axes is None:
        axes = _window(ordered, float(np.sqrt(np.quantile(apart, max(levels)))), sizes)
    scores = [_scores(points, o) for points, o in zip(axes, ordered, strict=True)]
    share = (np.arange(size) + 0.5) / size
    distance = _distance(np.stack(np.meshgrid(*scores, indexing="ij"), -1), factor)
    level = np.interp(distance, apart, share, left=0.0, right=1.0)
    point = np.array(compute(metrics, groups.plug_in(of)))
    names = (space.y, space.x)
    settings: dict[str, Any] = {"method": "credible", "ordering": "ellipse in the normal scores", "space": space.name}
    settings |= {"levels": str(sorted(levels)), "complete_level": max(levels), "samples": size, "random_seed": seed}
    data = xr.Dataset(
        {"level": (names, level), "point": (METRIC, point)},
        coords={METRIC: list(names), **dict(zip(names, axes, strict=True))},
        attrs=attrs_of(counts, prior) | settings,
    )
    titles = LONG_NAMES | {
        "point": "Value of the stratified estimate", "level": "Share of the posterior in the smallest region with it",
    }  # fmt: skip
    for name in (*names, *data.data_vars):
        data[name].attrs = {"long_name": titles[str(name)]}
    return data


def _scores(values: Array, ordered: Array) -> Array:
    """Return normal scores of values among ordered draws."""
    n = len(ordered)
    return np.asarray(np.interp(values, ordered, special.ndtri((np.arange(n) + 0.5) / n)))


def _distance(scores: Array, factor: Array) -> Array:
    """Return the squared Mahalanobis distance of points (..., 2) from 0."""
    apart = np.linalg.solve(factor, scores.reshape(-1, 2).T)
    return np.asarray((apart**2).sum(0).reshape(scores.shape[:-1]))


def _window(ordered: list[Array], reach: float, sizes: tuple[int, int]) -> tuple[Array, Array]:
    """Return axes that hold the largest region."""
    found = []
    for draws, size in zip(ordered, sizes, strict=True):
        low, high = np.quantile(draws, special.ndtr([-reach, reach]))
        found.append(around(float(low), float(high), _MARGIN, size))
    return found[0], found[1]
