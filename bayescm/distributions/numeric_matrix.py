"""The distribution of one matrix behind :mod:`bayescm.distributions.numeric`: nodes, edges, tables, moments."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import interpolate, optimize, special
from scipy.optimize import elementwise

from bayescm.distributions import beta_quantiles
from bayescm.metrics import Metric, compute

Array = NDArray[np.float64]

_NORMAL = np.arange(-80, 81) / 10.0  # quantiles at which each rate is tabulated
_INSIDE = 4  # stride among them of the table in the rate inside
_STEPS = (0.8, 0.4, 0.2)  # of the nodes outside
_GOAL = 1e-5
_SMALL = 1e-6  # probability below which the error is no longer relative
_REACH = 7.2
_SLOPE = 0.5 * (np.sqrt(5.0) - 1.0)
_LEAST_RATE = 1e-60  # products of a few such numbers don't underflow
_LARGEST = 1e150
_INFINITE = 1e40  # a moment beyond it is made by the least rates
_SMALL_OF_TABLE = 0.1
_LOST = 1e-3  # share of a moment at the last nodes that is too much
_JUMP = 0.8  # of normal quantiles in the table
_PEAK = 1.1  # how far a density that is known with errors may rise outside
_EDGES = 100_000  # at a time
_TABLE = np.arange(-26, 27) / 5.0  # quantiles near which the cdf is tabulated


class Matrix:
    """The distribution of one matrix: log-odds of its three rates, the one inside, tables of metric and cdf."""

    def __init__(self, metric: Metric, rates: list[Array], inside: int, sign: int) -> None:
        self.metric, self.rates, self.inside, self.sign = metric, rates, inside, sign
        self.along = rates[inside][:: sign * _INSIDE]  # the metric rises
        use = np.diff(rates[inside], prepend=-np.inf) > 0.0  # all, unless numbers underflow
        self.normal = interpolate.CubicSpline(rates[inside][use], _NORMAL[use])
        self.levels: dict[float, tuple[Array, ...]] = {}
        self.lost = 0.0  # share of the nodes where the metric is undefined
        self.table: tuple[Array, Array] | None = None

    def level(self, step: float) -> tuple[Array, ...]:
        """Return weights, normal quantiles and log-odds (n, 2) of the nodes outside, and the metric (n, k) inside."""
        if step not in self.levels:
            outside = [i for i in range(3) if i != self.inside]
            normal = _lattice(step, (len(self.rates[outside[0]]) > 1, True))
            odds = [
                interpolate.CubicSpline(_NORMAL, self.rates[i])(w)
                if len(self.rates[i]) > 1
                else self.rates[i] + 0.0 * w
                for i, w in zip(outside, normal.T, strict=True)
            ]
            table = self._metric(self.along, *(odd[:, None] for odd in odds))
            use = ~np.isnan(table).any(-1)  # 0/0 far out, by rounding
            weight = np.exp(-0.5 * (normal**2).sum(-1))
            self.lost = max(self.lost, float(weight[~use].sum() / weight.sum()))
            found = weight / weight[use].sum(), normal, np.stack(odds, axis=-1), np.maximum.accumulate(table, axis=-1)
            self.levels[step] = tuple(part[use] for part in found)
        return self.levels[step]

    def _metric(self, inner: Array, first: Array, second: Array) -> Array:
        rates = [first, second]
        rates.insert(self.inside, inner)
        return value(self.metric, *rates)

    def probabilities(self, x: Array, small: float = _SMALL, *, densities: bool = False) -> Array:
        """Return cdf, sf, density (if asked for) and error at points: (n, 4)."""
        out = np.stack([np.full(len(x), np.nan)] * 3 + [np.where(np.isnan(x), np.nan, np.inf)], axis=-1)
        for step in _STEPS:
            left = np.flatnonzero(out[:, 3] > _GOAL)
            for part in np.array_split(left, max(1, len(left) * len(self.level(step)[0]) // _EDGES)):
                before = out[part, :2]
                out[part, :3] = self.integrals(x[part], step, densities=densities)
                change = np.abs(out[part, :2] - before).max(-1) / np.maximum(out[part, :2].min(-1), small)
                out[part, 3] = np.where(np.isnan(change), np.inf, np.maximum(change, self.lost))
        return out

    def densities(self, x: Array) -> Array:
        """Return the same with the density."""
        return self.probabilities(x, densities=True)

    def integrals(self, x: Array, step: float, *, densities: bool = False) -> Array:
        """Return cdf, sf and density at points with the nodes of one step: (n, 3)."""
        weight, _, odds, table = self.level(step)
        below = (table <= x[:, None, None]).sum(-1)
        normal = np.where(below == 0, -np.inf, np.inf)
        point, node = np.nonzero((below > 0) & (below < len(self.along)))
        start = self.along[below[point, node] - 1]
        width = self.along[below[point, node]] - start
        fixed = (start, width, *odds[node].T, x[point])

        def excess(t: Array, start: Array, width: Array, first: Array, second: Array, x: Array) -> Array:
            beyond = self._metric(start + t * width, first, second) - x
            return np.where(beyond == 0.0, -1e-300, beyond)  # M <= x includes a stretch where M = x

        density = np.zeros(below.shape)
        if len(point):
            found = elementwise.find_root(
                excess, (np.zeros(len(point)), np.ones(len(point))), args=fixed, tolerances=_TOLERANCES
            )
            t = np.where(found.success, found.x, 0.5)
            edge = start + t * width
            normal[point, node] = self.sign * self.normal(edge)
            if densities:
                rise = (excess(t + 1e-3, *fixed) - excess(t - 1e-3, *fixed)) / 2e-3
                slope = _bell(normal[point, node]) * self.normal(edge, 1) * np.abs(width)
                density[point, node] = np.divide(slope, rise, out=np.zeros_like(rise), where=rise > 0.0)
        sums = [special.ndtr(normal) @ weight, special.ndtr(-normal) @ weight, density @ weight]
        return np.asarray(np.minimum(np.stack(sums, axis=-1), [1.0, 1.0, np.inf]))

    def rough(self, normal: Array) -> Array:
        """Return least value, quantiles (at normal quantiles) and largest value of the metric at the coarsest nodes."""
        weight, _, _, table = self.level(_STEPS[0])
        order = np.argsort(table, axis=None)
        x, mass = table.ravel()[order], np.outer(weight, _INNER_WEIGHTS).ravel()[order]
        return np.concatenate([x[:1], np.interp(special.ndtr(normal), np.cumsum(mass) - 0.5 * mass, x), x[-1:]])

    def _tabulate(self) -> tuple[Array, Array]:
        """Return points that span the distribution, ascending, and their probabilities."""
        if self.table is None:
            x = np.unique(self.rough(_TABLE))
            self.table = x, self.probabilities(x, _SMALL_OF_TABLE)
        return self.table

    def quantiles(self, p: Array) -> Array:
        """Return the metric at probabilities: (n, 1)."""
        x, found = self._tabulate()
        last = len(x) - 1
        at = np.searchsorted(np.maximum.accumulate(found[:, 0]), p)
        low, high = x[np.clip(at - 2, 0, last)], x[np.clip(at + 1, 0, last)]
        scale = np.ptp(x[np.clip(np.searchsorted(found[:, 0], [0.16, 0.84]), 0, last)]) or np.ptp(x) or 1.0

        def excess(x: Array, p: Array) -> Array:
            here = self.probabilities(x)
            return np.where(p < 0.5, here[:, 0] - p, 1.0 - p - here[:, 1])

        tolerances = {"xatol": 1e-9 * scale, "xrtol": 1e-9}
        root = elementwise.find_root(excess, (low, high), args=(p,), tolerances=tolerances, maxiter=100).x
        root = np.where(np.isnan(root), np.where(p <= found[0, 0], x[0], x[-1]), root)
        lower, upper = self.metric.lower, self.metric.upper
        root = np.where((p == 0.0) & np.isfinite(lower), lower, np.where((p == 1.0) & np.isfinite(upper), upper, root))
        root = np.where(np.abs(root) < _LARGEST, root, np.copysign(np.inf, root))
        return np.where((p >= 0.0) & (p <= 1.0), root, np.nan)[:, None]

    def moments(self) -> tuple[float, float]:
        """Return mean and standard deviation by the product of the three trapezoid rules."""
        weight, normal, _, table = self.level(_STEPS[1])
        mass = np.outer(weight, _INNER_WEIGHTS)
        far = np.maximum(np.abs(normal).max(-1)[:, None], np.abs(_NORMAL[::_INSIDE]))
        mean = _total(mass * table, far)
        return mean, float(np.sqrt(_total(mass * (table - mean) ** 2, far))) if np.isfinite(mean) else np.nan

    def statistics(self, prob: float, kind: str) -> dict[str, Any]:
        """Return mean, median, sd, lower, upper, is_hdi and error."""
        below = self._mass_below(prob) if kind == "hdi" else None
        left = 0.5 * (1.0 - prob) if below is None else below
        ends = self.quantiles(np.array([0.5, left, min(left + prob, 1.0)]))[:, 0]
        mean, sd = self.moments()
        found = {"mean": mean, "sd": sd, **dict(zip(("median", "lower", "upper"), ends, strict=True))}
        return found | {"is_hdi": below is not None, "error": self.probabilities(ends)[:, 3].max()}

    def _mass_below(self, prob: float) -> float | None:
        """Return the mass left of the narrowest interval, or None where it isn't a highest-density one.

        By a spline through the quantiles of the table.
        """
        x, found = self._tabulate()
        low, high = found.T[:2]
        z = np.where(low < 0.5, special.ndtri(low), -special.ndtri(high))
        use = np.flatnonzero(np.abs(z) < _TABLE[-1] + 0.5)
        use = use[np.diff(np.maximum.accumulate(z[use]), prepend=-np.inf) > 1e-6]
        if len(use) < 4 or np.diff(z[use]).max() > _JUMP:
            return None  # a single point has a probability
        x, z, low = x[use], z[use], low[use]
        secants = np.diff(x) / np.diff(z)
        steepest = 3.0 * np.minimum(np.append(secants, np.inf), np.append(np.inf, secants))
        slope = np.clip(interpolate.CubicSpline(z, x)(z, 1), 0.0, steepest)  # so that it rises throughout
        quantile = interpolate.CubicHermiteSpline(z, x, slope)
        density = _bell(z) / np.maximum(slope, 1e-12 * slope.max())

        def width(left: float | Array) -> Any:
            return quantile(special.ndtri(left + prob)) - quantile(special.ndtri(left))

        grid = low[0] + (low[-1] - prob - low[0]) * special.expit(np.linspace(-12.0, 12.0, 1001))
        if not grid[0] < grid[-1]:
            return None
        best = int(np.argmin(width(grid)))
        bounds = grid[max(best - 1, 0)], grid[min(best + 1, 1000)]
        left = float(optimize.minimize_scalar(width, bounds=bounds, method="bounded", options={"xatol": 1e-9}).x)
        inside = (low > left) & (low < left + prob)
        level = float(np.interp(left if best > 500 else left + prob, low, density))
        is_one = (
            density[inside].min(initial=np.inf) > level / _PEAK and density[~inside].max(initial=0.0) < level * _PEAK
        )
        return None if not is_one else 0.0 if best == 0 else 1.0 - prob if best == 1000 else left


def matrix(metric: Metric, directions: tuple[int | None, ...], cells: Array, shares: Array, *, known: bool) -> Matrix:
    """Return the distribution for one matrix, with the rate inside that changes the answers least at the first halving.

    Of those in which the metric is monotone, and that carry at least a hundredth of the largest part of the variance.
    """
    tp, fn, fp, tn = cells
    prevalence = np.log(shares[1:] / shares[:1]) if known else _log_odds(shares[1], shares[0])
    rates = [prevalence, _log_odds(tp, fn), _log_odds(tn, fp)]
    part = np.full(3, -1.0)
    for i, rate in enumerate(rates):
        if directions[i] and len(rate) > 1:
            point: list[Any] = [r[len(r) // 2] for r in rates]
            point[i] = rate[[55, 70, 90, 105]]
            values = value(metric, *point)
            part[i] = np.nan_to_num((values[3] - values[0]) ** 2 + (values[2] - values[1]) ** 2)
    able = [Matrix(metric, rates, int(i), directions[i] or 1) for i in np.flatnonzero(part >= 0.01 * part.max())]
    if len(able) == 1:
        return able[0]
    x = able[0].rough(np.array([-2.0, -0.7, 0.7, 2.0]))[1:-1]
    changes = [np.abs(one.integrals(x, _STEPS[1]) - one.integrals(x, _STEPS[0])).max() for one in able]
    return able[int(np.argmin(changes))]


_TOLERANCES = {"xatol": 1e-7, "xrtol": 0.0, "fatol": 0.0, "frtol": 0.0}  # in widths of a step of the table


_INNER_WEIGHTS = np.exp(-0.5 * _NORMAL[::_INSIDE] ** 2) / np.exp(-0.5 * _NORMAL[::_INSIDE] ** 2).sum()


def _bell(z: Array) -> Array:
    return np.asarray(np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi))


def _total(parts: Array, far: Array) -> float:
    """Return a sum over nodes: infinite if it grows towards the end of the nodes, NaN if it doesn't vanish there."""
    size = np.abs(parts)
    if not size.sum() < _INFINITE:
        return float(np.inf * np.sign(parts.sum()))
    last, before = size[(far >= 6.4) & (far < 7.2)].sum(), size[(far >= 5.6) & (far < 6.4)].sum()
    if size[far >= 6.4].sum() > _LOST * size.sum():
        return float(np.inf * np.sign(parts.sum())) if last > before else np.nan
    return float(parts.sum())


@lru_cache(maxsize=16)
def _lattice(step: float, uncertain: tuple[bool, bool]) -> Array:
    """Return normal quantiles of the two rates outside, (n, 2), inside a circle.

    The lattice is turned by the golden ratio: no row of nodes runs along a kink that follows an axis.
    """
    if not all(uncertain):
        line = np.arange(-_REACH, _REACH + 1e-9, step / 8.0)
        return np.stack([line * certain for certain in uncertain], axis=-1)
    count = np.arange(-int(_REACH / step), int(_REACH / step) + 1) * step / np.hypot(1.0, _SLOPE)
    i, j = (part.ravel() for part in np.meshgrid(count, count, indexing="ij"))
    nodes = np.stack([i - _SLOPE * j, _SLOPE * i + j], axis=-1)
    return np.asarray(nodes[(nodes**2).sum(-1) <= _REACH**2])


def _log_odds(a: float, b: float) -> Array:
    """Return the log-odds of a Beta at the normal quantiles, in order."""
    return beta_quantiles.logit_at_normal(_NORMAL, a, b)


def value(metric: Metric, prevalence: Array, recall: Array, specificity: Array) -> Array:
    """Return the metric at log-odds of the three rates, which broadcast."""
    share, rest, hit, miss, quiet, alarm = (
        np.maximum(special.expit(side * odds), _LEAST_RATE)
        for odds in (prevalence, recall, specificity)
        for side in (1.0, -1.0)
    )
    cells = np.empty((2, 2, *np.broadcast_shapes(*map(np.shape, (prevalence, recall, specificity)))))
    cells[1, 1], cells[1, 0], cells[0, 1], cells[0, 0] = share * hit, share * miss, rest * alarm, rest * quiet
    return np.clip(compute([metric], np.moveaxis(cells, (0, 1), (-2, -1)))[0], -_LARGEST, _LARGEST)
