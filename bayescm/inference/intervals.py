"""interval(): an interval by its name, for every metric that the method serves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import strata, validate
from bayescm.data.assumptions import CHECKED, ITEMS, assumed
from bayescm.data.inputs import takes_counts
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import (
    CI_BOUND,
    MATRIX,
    METRIC,
    RATERS,
    as_read,
    attributes,
    by_matrix,
    interval_coordinate,
    labels_of,
)
from bayescm.data.units import by_unit, independent, plural
from bayescm.data.words import IntervalMethod
from bayescm.inference import by_stratum, null_tests, proportions, slopes
from bayescm.inference.read import read
from bayescm.metrics import OF_RATERS, Metric, MetricsLike, compute, coordinates, parts, per_label, resolve
from bayescm.results.objects import stamped

Array = NDArray[np.float64]
Found = list[tuple[Array, Array, Array, Array]]
"""For each metric the bounds, as the method gives them, the standard error, and the share of undefined resamples."""

FIXED_SAMPLE = ("wald", "wilson", "agresti_coull", "clopper_pearson", "jeffreys", "likelihood_ratio")
PROPORTION = (*FIXED_SAMPLE, "anytime")
ON_A_SCALE = ("logit", "probit", "cloglog", "wilson_cc")
"""More of a proportion, as other packages have them."""
BOUNDS = ("both", "lower", "upper")
METHODS = (*PROPORTION, *ON_A_SCALE, "delta", "bootstrap")
ALIASES = {  # as R and statsmodels call them
    "exact": "clopper_pearson", "beta": "clopper_pearson", "normal": "wald", "profile": "likelihood_ratio",
}  # fmt: skip
_WITH_ERROR = ("wald", "delta", "bootstrap")
_COLUMNS = ("point", "lower", "upper", "clipped_lower", "clipped_upper", "se", "undefined", "p_value")
_LONG_NAMES = {
    "point": "Value of the counts themselves",
    "interval": "Confidence interval",
    "se": "Standard error",
    "clipped": "Bound was beyond the metric's range",
    "undefined": "Share of the resamples that leave the metric undefined",
    "p_value": "P-value of the null value",
}
_NOISE = 1e-22  # variance of a metric that doesn't vary, from rounding: 1e-26; of the smallest real one: 1e-18


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is computed for every matrix."""

    metrics: tuple[Metric, ...]
    names: tuple[str, ...]
    method: str
    ci_prob: float
    bound: str
    null: float | str | None
    draws: int
    seed: int

    @property
    def level(self) -> float:
        """Return the level of the interval with two bounds, of which each alone is as sure as is asked for."""
        return self.ci_prob if self.bound == "both" or self.method == "anytime" else 2.0 * self.ci_prob - 1.0


@stamped
@takes_counts
def interval(
    counts: Any,
    metrics: MetricsLike,
    method: IntervalMethod = "wilson",
    *,
    ci_prob: float = 0.95,
    bound: str = "both",
    null: float | str | None = None,
    draws: int = 10_000,
    random_seed: int | np.random.Generator | None = None,
) -> xr.Dataset:
    """Give metrics an interval, or one bound, by the name of its method.

    Parameters
    ----------
    counts : xarray.DataArray or array_like
        ``counts(..., actual, predicted)``; a bare array is read as by :func:`bayescm.from_array`. May be lazy (dask).
        Of systems that answered the same items, each one's own. By "anytime" also an audit with ``of="population"``.
    metrics : str, callable, sequence or mapping
        One or several, as `metrics` of :func:`bayescm.summary`.
    method : str
        For proportions: "wilson", "wilson_cc" (corrected for continuity), "clopper_pearson" (also "exact" or "beta"),
        "jeffreys", "likelihood_ratio" (also "profile"), "agresti_coull", "wald" (also "normal"), Wald's on the scale
        "logit", "probit" or "cloglog", and "anytime", which holds at every look at a test that goes on. For any metric:
        "bootstrap" or "delta".
    null : number or "no_information_rate", optional
        Adds the p-value of the test that the metric is this, by `method`; with ``bound="lower"`` that it is at most
        this, with "upper" at least. Of the accuracy perhaps the share of the largest actual class.
    ci_prob : float
        Level of confidence.
    bound : {"both", "lower", "upper"}
        "lower" or "upper" gives that bound alone, at the level `ci_prob`, which must be above 0.5 then; the other one
        is the end of the metric's range. "At least" and "at most" claims need one.
    draws : int
        Resamples of the bootstrap, at least 1000.
    random_seed : int, numpy.random.Generator or None
        Of the bootstrap. Each position of a batch has a stream of its own.

    Returns
    -------
    xarray.Dataset
        Over ``(..., metric)``: ``point`` (NaN where it is 0/0), with `null` ``p_value``, ``interval(ci_bound)``,
        ``clipped(ci_bound)`` (whether the bound was beyond the metric's range and was moved to its end), of Wald's, the
        delta method and the bootstrap ``se`` (standard error) and, of the bootstrap, ``undefined`` (share of the
        resamples where the metric is 0/0; they are left out). For more than two labels a metric per class appears as
        ``recall[a]``, with the coordinate ``class_label``.

    Raises
    ------
    ValueError
        If a method for proportions is asked for a metric that is none, such as the Matthews correlation, or one bound
        for a level of a half or less.

    Warns
    -----
    UserWarning
        Where an interval has no length, where resamples leave a metric undefined, and where the delta method has no
        answer.

    Notes
    -----
    A proportion is S/(S + T), S and T sums of cells; F1 = 2J/(1 + J) counts as one, by the Jaccard index J. These
    methods take S + T as the number of trials, fixed: given it, S is binomial if the items are a random sample; for
    recall and specificity also if the class totals are fixed by design. The delta method and the bootstrap take all
    items as one multinomial sample of fixed size; of items that come in units the delta method takes the units as a
    sample (for kappa of two raters Fleiss, Cohen and Everitt 1969, for AC1 Gwet 2008), and no other method is for them.

    The delta method takes the derivatives of a metric, users' functions included, numerically. Where a cell is empty
    the metric must be smooth in it from above, or the bounds are NaN.

    "anytime" of an audit holds shares of all its items while labels are bought from whichever stratum seems best.

    The bootstrap is that of whole matrices, by percentiles without interpolation: bounds are values of resamples.

    References
    ----------
    Brown, Cai and DasGupta 2001, Interval estimation for a binomial proportion, Statistical Science 16; Newcombe 1998,
    Statistics in Medicine 17; Caelen 2017, section 6 (bootstrap); Goutte and Gaussier 2005 (F1 and the Jaccard index).

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
    >>> bayescm.interval(counts, ["recall", "precision", "f1"])["interval"].values.round(3)
    array([[0.871, 1.   ],
           [0.774, 0.98 ],
           [0.872, 0.99 ]])
    >>> bayescm.interval(counts, "recall", bound="lower")["interval"].values.round(3)
    array([[0.906, 1.   ]])
    >>> better = bayescm.interval(counts, "accuracy", "exact", bound="lower", null="no_information_rate")
    >>> round(better["p_value"].item(), 3)
    0.007
    """
    audit = method == "anytime" and strata.is_audit(counts)
    units = None if strata.is_audit(counts) else by_unit(counts)
    if units is not None and method != "delta":
        raise ValueError(
            f"`method`={method!r} takes items for independent, and these come in units or have weights: take 'delta', "
            "or bayescm.summary for a credible interval."
        )
    matrices = strata.without_totals(counts) if audit else units
    matrices = read(counts).counts("bayescm.interval") if matrices is None else matrices
    labels = labels_of(matrices)
    name = validate.choice("method", ALIASES.get(str(method), str(method).replace("-", "_")), METHODS)
    resolved = tuple(resolve(OF_RATERS if metrics is None and RATERS in matrices.attrs else metrics, len(labels)))
    coords = coordinates(resolved, labels)
    _check_proportions(resolved, name)
    plan = _Plan(
        metrics=resolved,
        names=tuple(coords[METRIC].values.tolist()),
        method=name,
        ci_prob=_level(ci_prob, validate.choice("bound", bound, BOUNDS)),
        bound=bound,
        null=null_tests.checked(null, name, resolved),
        draws=validate.draws(draws),
        seed=validate.seed(random_seed),
    )
    if audit:
        rows = [[*one, *[0.0] * 4, np.nan] for one in by_stratum.of_audit(counts, resolved, plan.ci_prob)]
        table = xr.DataArray(rows, dims=(METRIC, "statistic"))
    else:
        table = by_matrix(
            lambda c, i: _fill(c, i, plan), matrices, {METRIC: len(plan.names), "statistic": len(_COLUMNS)},
            core=MATRIX if units is None else units.dims[-3:],  # type: ignore[arg-type]
        )  # fmt: skip
    more: dict[str, Any] = {"draws": plan.draws, "random_seed": plan.seed} if name == "bootstrap" else {}
    more |= ({} if bound == "both" else {"bound": bound}) | ({} if null is None else {"null": null})
    items = CHECKED if audit else ITEMS if units is None else independent(plural(str(units.dims[-3])))
    return _dataset(
        table,
        plan,
        coords,
        attributes(method=name, ci_prob=plan.ci_prob, **more, assumptions=assumed(items=items), **as_read(matrices)),
    )


def _level(ci_prob: object, bound: str) -> float:
    """Return a level of confidence that one bound can have, if there is to be one."""
    level = validate.number("ci_prob", ci_prob, 0, 1)
    if bound != "both" and level <= 0.5:
        raise ValueError(f"`ci_prob` must be above 0.5 for one bound; got {level:g}. Take bound='both'.")
    return level


def _check_proportions(metrics: tuple[Metric, ...], method: str) -> None:
    """Refuse a method for proportions where a metric is none."""
    others = [metric.name for metric in metrics if metric.ratio is None]
    if others and method in (*PROPORTION, *ON_A_SCALE):
        raise ValueError(
            f"`method`={method!r} is for proportions of the items, and {others[0]} is none. Take method='bootstrap' or "
            "method='delta', which serve every metric, or bayescm.summary for a credible interval."
        )


def _fill(counts: NDArray[Any], index: NDArray[np.int64], plan: _Plan) -> Array:
    """Fill the table (..., metric, statistic) for plain counts (..., K, K)."""
    units = counts.ndim - index.ndim > len(MATRIX)
    each = np.asarray(counts, np.float64) if units else None
    counts = counts.sum(-3) if units else validate.count_values("counts", counts)
    bounds = {"delta": _delta, "bootstrap": _bootstrap}.get(plan.method, _proportion)
    columns = []
    for metric, point, (lower, upper, se, undefined) in zip(
        plan.metrics,
        compute(plan.metrics, counts),
        _delta_of_units(each, plan) if each is not None else bounds(counts, index, plan),
        strict=True,
    ):
        clipped = np.clip(lower, metric.lower, metric.upper), np.clip(upper, metric.lower, metric.upper)
        beyond = lower < metric.lower, upper > metric.upper
        p_value = null_tests.p_values(metric, counts, plan.method, plan.null, plan.bound, point, se, of_units=units)
        rows = np.stack([point, *clipped, *beyond, se, undefined, p_value])
        columns.append(rows if per_label(metric, counts.shape[-1]) else rows[..., None])
    table = np.moveaxis(np.concatenate(columns, axis=-1), 0, -1)
    _warn(table, plan)
    return table


def _proportion(counts: NDArray[np.int64], _: NDArray[np.int64], plan: _Plan) -> Found:
    """Return binomial intervals of S in S + T trials."""
    found = []
    for metric in plan.metrics:
        successes, failures = parts(metric, counts)
        n = successes + failures
        bounds = getattr(proportions, plan.method)(successes, n, plan.level)
        with np.errstate(invalid="ignore", divide="ignore"):
            se = np.sqrt(successes * (failures / n)) / n  # Wald's
            if metric.link == "f1":
                bounds = [2.0 * bound / (1.0 + np.abs(bound)) for bound in bounds]  # keeps the sign beyond 0
                se *= 2.0 / (1.0 + successes / n) ** 2
        found.append((*bounds, se, np.zeros_like(se)))
    return found


def _delta(counts: NDArray[np.int64], _: NDArray[np.int64], plan: _Plan) -> Found:
    """Return point +- z standard errors, with the multinomial variance sum n g^2 - (sum n g)^2 / N of slopes g."""
    cells = counts.astype(np.float64)
    points = compute(plan.metrics, cells)
    squares, firsts = ([np.zeros_like(point) for point in points] for _ in "ab")
    for i, j in np.ndindex(*counts.shape[-2:]):
        for m, slope in enumerate(slopes.in_cell(plan.metrics, cells, i, j)):
            n = slopes.along(cells[..., i, j], slope)
            squares[m] += n * slope**2
            firsts[m] += n * slope
    with np.errstate(invalid="ignore", divide="ignore"):
        variances = [
            square - first**2 / slopes.along(cells.sum((-2, -1)), first)
            for square, first in zip(squares, firsts, strict=True)
        ]
    return _around(points, variances, plan)


def _delta_of_units(each: Array, plan: _Plan) -> Found:
    """Return the same with the variance of what units add, n / (n - 1) sum (u - mean u)^2, u the slopes times cells."""
    cells = each.sum(-3)
    points = compute(plan.metrics, cells)
    added = [np.zeros((*point.shape, each.shape[-3])) for point in points]
    for i, j in np.ndindex(*cells.shape[-2:]):
        for one, slope in zip(added, slopes.in_cell(plan.metrics, cells, i, j), strict=True):
            of_cell = each[..., i, j]
            one += slope[..., None] * (of_cell[..., None, :] if slope.ndim > cells.ndim - 2 else of_cell)
    n = each.shape[-3]
    return _around(
        points, [n * one.var(-1, ddof=1) if n > 1 else np.full(one.shape[:-1], np.nan) for one in added], plan
    )


def _around(points: list[Array], variances: list[Array], plan: _Plan) -> Found:
    """Return point +- z standard errors."""
    found = []
    z = proportions.normal_quantile(plan.level)
    for point, variance in zip(points, variances, strict=True):
        with np.errstate(invalid="ignore"):
            se = np.sqrt(np.where(variance <= _NOISE * (1.0 + np.abs(point)) ** 2, 0.0, variance))
            found.append((point - z * se, point + z * se, se, np.zeros_like(point)))
    return found


def _bootstrap(counts: NDArray[np.int64], index: NDArray[np.int64], plan: _Plan) -> Found:
    """Return percentiles of the metrics of resampled matrices, one matrix at a time."""
    k = counts.shape[-1]
    rows = []
    for matrix, number in zip(counts.reshape(-1, k * k), index.flat, strict=True):
        n = int(matrix.sum())
        rng = matrix_rng(plan.seed, int(number), Stream.INTERVAL_BOOTSTRAP)
        resampled = rng.multinomial(n, matrix / max(n, 1), size=plan.draws).reshape(-1, k, k)
        rows.append([_percentiles(values, plan.level) for values in compute(plan.metrics, resampled)])
    found = []
    for per_matrix in zip(*rows, strict=True):
        stacked = (np.stack(values) for values in zip(*per_matrix, strict=True))
        lower, upper, se, undefined = (values.reshape((*index.shape, *values.shape[1:])) for values in stacked)
        found.append((lower, upper, se, undefined))
    return found


def _percentiles(values: Array, ci_prob: float) -> tuple[Array, Array, Array, Array]:
    """Return percentiles and standard deviation of values (n, ...) that are defined, and the share of the others."""
    ordered = np.sort(values, axis=0)  # NaN comes last
    defined = (~np.isnan(values)).sum(0)
    tail = (1.0 - ci_prob) / 2.0
    ranks = (np.maximum(np.ceil(share * defined - 1e-9) - 1.0, 0.0).astype(int) for share in (tail, 1.0 - tail))
    lower, upper = (np.take_along_axis(ordered, rank[None], axis=0)[0] for rank in ranks)
    with np.errstate(invalid="ignore", divide="ignore"):  # infinite values, or one at most
        centre = np.nansum(values, 0) / defined
        se = np.sqrt(np.nansum((values - centre) ** 2, 0) / (defined - 1.0))
    return lower, upper, np.where(np.isfinite(centre), se, np.nan), np.asarray(1.0 - defined / len(values))


def _warn(table: Array, plan: _Plan) -> None:
    """Say in words where an interval has no length, doesn't exist, or stands on a part of the resamples."""
    point, lower, upper, *_, undefined, _ = np.moveaxis(table, -1, 0)
    cases = {
        "has no length: the method sees no variation where there are no errors, or no successes, and that is not "
        "certainty. Take method='wilson' for a proportion, bayescm.summary for any metric": lower == upper,
        f"leaves out up to {undefined.max():.2%} of the resamples, where the metric is 0/0, and holds for the others "
        "only. Take method='wilson' for a proportion, bayescm.summary for any metric": undefined > 0,
    }
    if plan.method == "delta":
        cases[
            "doesn't exist: the metric is infinite, or it jumps or has an infinite slope where a cell is empty. Take "
            "method='bootstrap' or bayescm.summary"
        ] = np.isnan(lower) & ~np.isnan(point)
    for text, where in cases.items():
        which = np.flatnonzero(where.reshape(-1, len(plan.names)).any(0))
        if len(which):
            names = ", ".join(plan.names[i] for i in which[:5]) + (" and others" if len(which) > 5 else "")
            validate.warn(f"The {plan.method} interval of {names} {text}.")


def _dataset(
    table: xr.DataArray, plan: _Plan, coords: Mapping[str, Any], attrs: dict[str, str | int | float]
) -> xr.Dataset:
    """Give the table its names; the bound that isn't asked for is the end of the metric's range."""
    dims, columns = table.dims[:-1], table.data
    bound = interval_coordinate(plan.ci_prob, "confidence")
    interval, clipped = columns[..., 1:3], columns[..., 3:5] > 0
    if plan.bound != "both":
        ranges = {metric.name: metric.upper if plan.bound == "lower" else metric.lower for metric in plan.metrics}
        ends = [ranges[name if name in ranges else name.rpartition("[")[0]] for name in plan.names]
        stands = bound.values == plan.bound
        interval = np.where(stands | np.isnan(interval), interval, np.array(ends)[:, None])
        clipped = clipped & stands
    values = {"point": columns[..., 0], "interval": interval, "clipped": clipped}
    values |= {"se": columns[..., 5]} if plan.method in _WITH_ERROR else {}
    values |= {"undefined": columns[..., 6]} if plan.method == "bootstrap" else {}
    values |= {} if plan.null is None else {"p_value": columns[..., 7]}
    variables = {
        name: ((*dims, CI_BOUND)[: value.ndim], value, {"long_name": _LONG_NAMES[name], "units": "1"})
        for name, value in values.items()
    }
    return xr.Dataset(variables, {**table.coords, **coords, CI_BOUND: bound}, attrs)
