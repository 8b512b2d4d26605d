"""curve_band(): bands around a ROC or PR curve, each of which says what it is a band of."""

import inspect
import json
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, NamedTuple, get_args

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.curves.joint import curve_posterior
from bayescm.curves.names import LONG_NAMES
from bayescm.curves.options import stretch
from bayescm.curves.reading import precision_at
from bayescm.data import validate
from bayescm.data.options import reading
from bayescm.data.schema import CHAIN, CI_BOUND, DRAW, UNIT, attributes, interval_coordinate
from bayescm.data.scores import rank, sign_of, signed
from bayescm.data.shapes import is_table
from bayescm.data.words import BandMethod, Plane
from bayescm.distributions import beta_quantiles
from bayescm.inference import proportions
from bayescm.results.objects import stamped

Array = NDArray[np.float64]

KINDS = get_args(BandMethod)
_AXES = {"roc": ("tpr", "fpr"), "pr": ("precision", "recall")}
_WITHIN = (0.05, 0.95)
"""Stretch of the axis of a simultaneous band, if not given."""
_ROUNDING = 1e-9


class _Empirical(NamedTuple):
    """The curve of the items themselves: a polygon through the rates (K + 1,) at falling thresholds."""

    fpr: Array
    tpr: Array
    controls: int
    cases: int


def _of_scores(given: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    """Draw the posterior of a curve first, where its items are given."""
    if {"y_true", "y_score"} <= set(options):
        given = (options.pop("y_true"), options.pop("y_score"), *given)
    if len(given) < 2 and not (given and is_table(given[0])):
        return given
    own = set(inspect.signature(curve_band).parameters)
    known = [name for name in inspect.signature(curve_posterior).parameters if name in options and name not in own]
    return curve_posterior(*given[:2], **{name: options.pop(name) for name in known}), *given[2:]


@stamped
@reading(_of_scores)
def curve_band(
    data: xr.DataTree,
    *,
    method: BandMethod = "simultaneous",
    space: Plane = "roc",
    ci_prob: float = 0.95,
    within: tuple[float, float] | None = None,
    difference: tuple[Any, Any] | None = None,
) -> xr.Dataset:
    """Put a band around a ROC or PR curve.

    Parameters
    ----------
    data : xarray.DataTree
        From :func:`bayescm.curve_posterior` over rates. ``curve_band(y_true, y_score, ...)`` draws it first, with the
        options of that function.
    method : {"simultaneous", "pointwise", "whole"}
        "simultaneous": the curve lies in the band at all points of the axis in the stretch `within` at once, with
        probability `ci_prob`; from the draws. "pointwise": each point alone. "whole": the whole curve, frequentist, of
        the Kolmogorov-Smirnov type, from the items and not the draws.
    space : {"roc", "pr"}
    ci_prob : float
        Probability of the band.
    within : pair of rates, optional
        The stretch of false positive rates (PR: recall) that a band is about. Default: (0.05, 0.95) for "simultaneous",
        everything for the others.
    difference : pair of labels, optional
        Of two systems (or two groups) A and B: the band of curve A minus curve B, from draws.

    Returns
    -------
    xarray.Dataset
        ``band(..., fpr, ci_bound)`` (PR: ``recall``), NaN outside `within`; ``median``, of the draws, not for "whole";
        ``point``, the curve of the items themselves. The attr ``statement`` says what it is a band of.

    Raises
    ------
    ValueError
        If the tree holds no curves over rates, or there is no draw-free difference ("whole").

    Notes
    -----
    A simultaneous band is the smallest family of central pointwise intervals of one level that holds the share
    `ci_prob` of all drawn curves from end to end; a rank of a draw that is tied counts for the curve. Near the ends of
    the axis few items bound the curve, and draws know little beyond them: hence the stretch.
    Between two points of the axis a ROC curve, which rises, lies above the lower bound at the left and below the upper
    bound at the right one.

    A "whole" band joins the bands of both distribution functions, each of the level ci_prob^(1/2), whose half-widths
    are exact quantiles of Kolmogorov's statistic; on the PR plane with an estimated prevalence there are three, and
    the third is Clopper's and Pearson's of the prevalence. Its coverage isn't below the level, whatever the scores.

    References
    ----------
    Rubin 1981, Annals of Statistics 9, and Banks 1988, Biometrika 75 (draws); Campbell 1994, Statistics in Medicine 13
    (Kolmogorov-Smirnov); Massart 1990. docs/curves.md shows the coverage.

    Examples
    --------
    >>> import bayescm
    >>> y = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]
    >>> s = [0.1, 0.2, 0.2, 0.3, 0.5, 0.6, 0.4, 0.7, 0.8, 0.9]
    >>> post = bayescm.curve_posterior(y, s, random_seed=1)
    >>> band = bayescm.curve_band(post, within=(0.1, 0.9))
    >>> band.attrs["statement"]
    'simultaneous at 81 false positive rates from 0.1 to 0.9'
    >>> band["band"].sel(fpr=0.5).values.round(2)
    array([0.2, 1. ])
    """
    validate.choice("method", method, KINDS)
    validate.choice("space", space, _AXES)
    level = validate.number("ci_prob", ci_prob, 0, 1)
    y, x = _AXES[space]
    if not isinstance(data, xr.DataTree) or "posterior" not in data or x not in data["posterior"].dims:
        raise ValueError(
            f"`data` must be what bayescm.curve_posterior(..., over='rate') returns; got {type(data).__name__}. Of "
            "labels and scores: bayescm.curve_band(y_true, y_score)."
        )
    default = _WITHIN if method == "simultaneous" else (0.0, 1.0)
    ends = stretch("within", within) or default
    if difference is not None and method == "whole":
        raise ValueError("`method`='whole' has no band of a difference; take 'simultaneous' or 'pointwise'.")
    curves = _curves(data)
    points = _points(data, curves, space)
    if method == "whole":
        made = _of_items(data, curves, space, level)
    else:
        draws = _posterior(data)[y]
        if difference is not None:
            draws, points = (_minus(one, difference) for one in (draws, points))
        made = _of_draws(draws, x, ends, level, together=method == "simultaneous")
    inside = _inside(made[x], ends)
    made["band"] = made["band"].where(inside)
    shown = made[x].values[inside.values]
    bound = interval_coordinate(level, "confidence" if method == "whole" else "eti")
    made = made.assign(point=points).assign_coords({CI_BOUND: bound})
    for name, text in (("band", "Band"), ("median", "Posterior median"), ("point", "Value of the items themselves")):
        if name in made:
            made[name].attrs = {"long_name": text, "units": ""} if name == "band" else {"long_name": text}
    made[x].attrs["long_name"] = LONG_NAMES[x]
    extra = {} if difference is None else {"difference": list(difference)}
    if difference is None:
        made = made.assign(_area(data, curves, space, level))
    return made.assign_attrs(
        {**data.attrs, **attributes(method=method, space=space, ci_prob=level, within=list(ends),
                                    statement=_statement(method, space, shown), **extra)}
    )  # fmt: skip


def _area(data: xr.DataTree, curves: Sequence[_Empirical], space: str, level: float) -> dict[str, xr.DataArray]:
    """Return the area under each curve of the items, and its equal-tailed interval."""
    draws = _posterior(data)["auc" if space == "roc" else "average_precision"]
    ends = draws.quantile([(1 - level) / 2, (1 + level) / 2], _draws(draws)).rename(quantile=CI_BOUND)
    interval = ends.transpose(..., CI_BOUND).drop_vars(CI_BOUND)
    found = [_area_of(curve, None if space == "roc" else _share(data, curve)[0]) for curve in curves]
    return {"area": interval[..., 0].copy(data=np.reshape(found, interval.shape[:-1])), "area_interval": interval}


def _area_of(curve: _Empirical, share: float | None) -> float:
    """Return the area under a ROC curve, or with a share of cases the average precision."""
    if curve.cases == 0 or curve.controls == 0:
        return float("nan")
    if share is None:
        return float(np.trapezoid(curve.tpr, curve.fpr))
    return float(np.diff(curve.tpr) @ precision_at(curve.tpr[1:], curve.fpr[1:], share))


def _posterior(data: xr.DataTree) -> xr.Dataset:
    """Return the draws of a tree."""
    return data["posterior"].to_dataset()


def _inside(axis: xr.DataArray, ends: tuple[float, float]) -> xr.DataArray:
    """Return which points of an axis belong to a stretch."""
    inside: xr.DataArray = (axis >= ends[0] - _ROUNDING) & (axis <= ends[1] + _ROUNDING)
    if not inside.any():
        raise ValueError(f"`within` holds none of the points of the curve; got {list(ends)}.")
    return inside


def _statement(method: str, space: str, shown: Array) -> str:
    """Say what it is a band of."""
    if method == "pointwise":
        return "pointwise: each point alone"
    if method == "whole":
        return "whole curve (Kolmogorov-Smirnov)"
    what = {"roc": "false positive rates", "pr": "values of recall"}[space]
    return f"simultaneous at {len(shown)} {what} from {shown[0]:g} to {shown[-1]:g}"


def _draws(curves: xr.DataArray) -> list[str]:
    """Return the dims of draws, of which a selection may have left one."""
    return [dim for dim in (CHAIN, DRAW) if dim in curves.dims]


def _minus(curves: xr.DataArray, difference: tuple[Any, Any]) -> xr.DataArray:
    """Return curve A minus curve B."""
    if isinstance(difference, str) or len(difference) != 2:
        raise ValueError(f"`difference` must be two labels of systems or groups; got {difference!r}.")
    known = {dim: curves[dim].values.tolist() for dim in curves.dims if dim not in (CHAIN, DRAW, "fpr", "recall")}
    dims = [dim for dim, labels in known.items() if all(label in labels for label in difference)]
    if len(dims) != 1:
        raise ValueError(
            f"`difference` must be two labels of one dim of systems or groups, of {known}; got {difference!r}."
        )
    a, b = (curves.isel({dims[0]: known[dims[0]].index(label)}, drop=True) for label in difference)
    return a - b


def _of_draws(draws: xr.DataArray, x: str, ends: tuple[float, float], level: float, *, together: bool) -> xr.Dataset:
    """Return the band and the median of draws."""

    def kernel(values: Array) -> tuple[Array, Array]:  # (..., points, draws)
        ordered = np.sort(values, axis=-1)
        size = values.shape[-1]
        if together:
            own, rising = (one.reshape(-1, *values.shape[-2:])[:, inside] for one in (values, ordered))
            cut = np.reshape([_rank(a, b, level) for a, b in zip(own, rising, strict=True)], (*values.shape[:-2], 1, 1))
            at = np.concatenate([cut - 1, size - cut], -1)
            bounds = np.take_along_axis(ordered, np.broadcast_to(at, (*values.shape[:-1], 2)), -1)
        else:
            bounds = np.moveaxis(np.quantile(ordered, [(1 - level) / 2, (1 + level) / 2], axis=-1), 0, -1)
        return bounds, np.median(ordered, axis=-1)

    inside = _inside(draws[x], ends).values
    stacked = draws.stack({"sample": _draws(draws)}, create_index=False)
    if stacked.sizes["sample"] * (1 - level) < 2:
        validate.warn(f"{stacked.sizes['sample']} draws are too few for a band of {level:g}, which is too narrow then.")
    band, median = xr.apply_ufunc(
        kernel, stacked, input_core_dims=[[x, "sample"]], output_core_dims=[[x, CI_BOUND], [x]]
    )
    return xr.Dataset({"band": band, "median": median})


def _rank(values: Array, ordered: Array, level: float) -> int:
    """Return the largest k such that the share `level` of the draws (points, draws) lies between the k-th values."""
    size = values.shape[-1]

    def lie_between(k: int) -> bool:
        inside = (values >= ordered[:, k - 1, None]) & (values <= ordered[:, size - k, None])
        return bool(inside.all(0).sum() >= size - int((1 - level) * size))

    return 1 + bisect_left(range(2, size + 1), True, key=lambda k: not lie_between(k))


def _curves(data: xr.DataTree) -> list[_Empirical]:
    """Return the curve of the items of every group and system."""
    observed, posterior = data["observed_data"].to_dataset(), _posterior(data)
    batch = [str(dim) for dim in posterior["auc"].dims if dim not in (CHAIN, DRAW)]
    left = {str(name): c.values[()] for name, c in posterior.coords.items() if c.ndim == 0}
    groups = data.attrs.get("groups")
    if groups is not None and groups not in (*batch, *left):
        raise ValueError(f"`data` has lost which of its groups it is: keep the coordinate {groups!r}.")
    positive = observed["positive"].values.astype(bool)
    sign = sign_of(data.attrs.get("direction", "larger"))
    found = []
    for where in np.ndindex(*(posterior.sizes[dim] for dim in batch)):
        names = {dim: posterior[dim].values[i] for dim, i in zip(batch, where, strict=True)}
        score, mine = observed["score"], np.ones(len(positive), bool)
        for dim, name in (left | names).items():
            if dim in score.dims:
                score = score.sel({dim: name})
            elif dim == groups:
                mine &= observed[dim].values == name
        times = observed["n"].values[mine] if "n" in observed else None
        found.append(_empirical(positive[mine], signed(score.values[mine], sign), times))
    return found


def _empirical(positive: NDArray[np.bool_], score: Array, n: NDArray[np.int64] | None) -> _Empirical:
    """Return the polygon of items; NaN where a class has none."""
    ranking = rank(positive, score, n)
    with np.errstate(invalid="ignore"):
        tpr, fpr = (np.append(0, np.cumsum(part)) / part.sum() for part in (ranking.cases, ranking.controls))
    return _Empirical(fpr, tpr, int(ranking.controls.sum()), int(ranking.cases.sum()))


def _top(x: Array, along: Array, up: Array) -> Array:
    """Return the largest value of a rising polygon at x."""
    i = np.clip(np.searchsorted(along, x, side="right") - 1, 0, len(along) - 2)
    return _between(x, along, up, i)


def _bottom(x: Array, along: Array, up: Array) -> Array:
    """Return the least value of a rising polygon at x."""
    i = np.clip(np.searchsorted(along, x, side="left") - 1, 0, len(along) - 2)
    return _between(x, along, up, i)


def _between(x: Array, along: Array, up: Array, i: NDArray[np.intp]) -> Array:
    """Return a polygon at x in the segments that begin with the i-th vertices; flat beyond its ends."""
    run = along[i + 1] - along[i]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(run > 0, (x - along[i]) / run, x >= along[i + 1])
    return np.asarray(up[i] + np.clip(share, 0, 1) * (up[i + 1] - up[i]))


def _points(data: xr.DataTree, curves: Sequence[_Empirical], space: str) -> xr.DataArray:
    """Return the curves of the items over the axis of the draws."""
    _, x = _AXES[space]
    axis = _posterior(data)[x].values
    made = []
    for curve in curves:
        if curve.cases == 0 or curve.controls == 0:
            made.append(np.full(len(axis), np.nan))
        elif space == "roc":
            made.append(_top(axis, curve.fpr, curve.tpr))
        else:
            share = _share(data, curve)[0]
            made.append(precision_at(axis, _bottom(axis, curve.tpr, curve.fpr), share))
    return _like(data, x, np.array(made))


def _like(data: xr.DataTree, x: str, values: Array, *more: str) -> xr.DataArray:
    """Return values (curves, axis, ...) with the dims of the posterior."""
    posterior = _posterior(data)
    auc = posterior["auc"].isel(dict.fromkeys(_draws(posterior["auc"]), 0), drop=True)
    axis = posterior[x]
    shaped = values.reshape(*auc.shape, *values.shape[1:])
    return xr.DataArray(shaped, dims=(*auc.dims, x, *more), coords={**auc.coords, x: axis})


def _share(data: xr.DataTree, curve: _Empirical) -> tuple[float, tuple[float, float] | None]:
    """Return the prevalence, and the two numbers of its Beta where it is another population's."""
    given = data.attrs["prevalence"]
    stated = json.loads(given) if isinstance(given, str) and given != "fixed" else given
    if isinstance(stated, list):
        return stated[0] / sum(stated), (stated[0], stated[1])
    own = curve.cases / (curve.cases + curve.controls)
    return (float(stated) if isinstance(stated, int | float) else own), None


def _of_items(data: xr.DataTree, curves: Sequence[_Empirical], space: str, level: float) -> xr.Dataset:
    """Return the Kolmogorov-Smirnov band of every curve."""
    if UNIT in data.attrs:
        raise ValueError("`method`='whole' takes items for independent, and these come in units: 'simultaneous'.")
    _, x = _AXES[space]
    axis = _posterior(data)[x].values
    made = [_whole(data, curve, space, axis, level) for curve in curves]
    return xr.Dataset({"band": _like(data, x, np.array(made), CI_BOUND)})


def _whole(data: xr.DataTree, curve: _Empirical, space: str, axis: Array, level: float) -> Array:
    """Return the bounds (points, 2) of one curve; everything where a class has no items."""
    from scipy import stats  # late: it takes a second

    if curve.cases == 0 or curve.controls == 0:
        return np.tile([0.0, 1.0], (len(axis), 1))
    estimated = space == "pr" and data.attrs["prevalence"] == "null"
    each = level ** (1 / (3 if estimated or _share(data, curve)[1] else 2))
    of_fpr, of_tpr = (float(stats.kstwo.ppf(each, n)) for n in (curve.controls, curve.cases))
    if space == "roc":
        low = _bottom(axis - of_fpr, curve.fpr, curve.tpr) - of_tpr
        high = _top(axis + of_fpr, curve.fpr, curve.tpr) + of_tpr
        low = np.where(axis < of_fpr, 0.0, low)
        return np.clip(np.stack([low, high], -1), 0, 1)
    share, two = _share(data, curve)
    shares = share, share
    if estimated:
        low_, high_ = proportions.clopper_pearson(curve.cases, curve.cases + curve.controls, each)
        shares = float(low_), float(high_)
    elif two is not None:
        shares = float(beta_quantiles.ppf(0.5 * (1 - each), *two)), float(beta_quantiles.isf(0.5 * (1 - each), *two))
    least = np.clip(_bottom(axis - of_tpr, curve.tpr, curve.fpr) - of_fpr, 0, 1)
    most = np.clip(_top(axis + of_tpr, curve.tpr, curve.fpr) + of_fpr, 0, 1)
    return np.stack([precision_at(axis, most, shares[0]), precision_at(axis, least, shares[1])], -1)
