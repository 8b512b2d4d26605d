"""The methods of regions: each knows its statistic, its level, and a box that holds every point below a level.

They work on plain numbers: cells (T, 4) in the order TN, FP, FN, TP, and axes or points.
"""

from functools import lru_cache, partial
from typing import override

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm._kernels.dispatch import in_blocks, kernel
from bayescm.inference.proportions import log_learned
from bayescm.regions import grid
from bayescm.regions.grid import Array, Space


class Method:
    """A method in a space. Subclasses give the statistic's limit of a level, and the levels of a grid and of points."""

    name = ""
    limit_at_corner = True
    """Whether the corner (0, 0) of a PR plane has the least limit of the statistic, which depends on the direction."""
    margin = 0.02
    """Around the regions in a picture."""

    def __init__(self, space: Space) -> None:
        self.space = space

    def limits(self, cells: Array, level: float) -> Array:
        """Return statistics (T,) that no point of at most this level exceeds."""
        return np.full(len(cells), -2.0 * np.log1p(-level))

    def boxes(self, cells: Array, level: float) -> Array:
        """Return boxes (T, 4) of y and x that hold every point of at most this level.

        The least deviance over all x at a given y is the binomial deviance of y alone, so the likelihood ratio
        intervals of y and x at the statistic's limit bound the region.
        """
        limits = self.limits(cells, level)
        found = np.empty((len(cells), 4))
        for side, rate in enumerate(self.space.rates):
            k, other = rate(cells)
            kernel("deviance", "bounds", 1e-4 * len(k))(k, k + other, limits, found[:, 2 * side : 2 * side + 2])
        return found

    def levels(self, cells: Array, axes: tuple[Array, Array], level: float) -> Array:
        """Return the least level (ny, nx) of all matrices on a grid; 1 beyond the boxes of `level`."""
        raise NotImplementedError

    def at(self, cells: Array, y: Array, x: Array) -> tuple[Array, Array, Array]:
        """Return statistic, level and p-value, each (E,), of one matrix and one point each."""
        raise NotImplementedError

    def surface(self, cells: Array, axes: tuple[Array, Array], level: float) -> Array:
        """Return the least level of all matrices on a grid (ny, nx)."""
        if len(cells) == 0:
            return np.ones((len(axes[0]), len(axes[1])))
        out = self.levels(np.ascontiguousarray(cells), axes, level)
        y, x = (np.full(len(cells), points[0]) for points in axes)
        if self.limit_at_corner and self.in_corner(cells, y, x).any():
            out[0, 0] = 0.0
        return out

    def shown(self, cells: Array, level: float) -> Array:
        """Return boxes (T, 4) for a picture of the regions."""
        return self.boxes(cells, level)

    def complaint(self, cells: Array) -> str:
        """Return what is wrong with the method for some of the matrices, or nothing."""
        return ""

    def _where(self, cells: Array, axes: tuple[Array, Array], level: float) -> NDArray[np.int64]:
        return grid.windows(axes, self.boxes(cells, level))

    def deviance(self, cells: Array, y: Array, x: Array) -> Array:
        """Return the likelihood ratio statistic (E,) at points or one (Urlus 2023, eq. 7, with p_TP and TN gone)."""
        counts = cells[..., [cell for group in self.space.groups for cell in group]]
        totals = [cells[..., list(group)].sum(-1) for group in self.space.groups]
        terms = special.xlogy(counts, counts) - counts * self.space.logs(y, x, cells)
        q = np.maximum(2.0 * (terms.sum(-1) - sum(special.xlogy(total, total) for total in totals)), 0.0)
        q[self.in_corner(cells, y, x)] = 0.0
        return np.asarray(q)

    def fitted(self, cells: Array, y: Array, x: Array) -> Array:
        """Return the cell probabilities (E, 4) of the largest likelihood at points (Urlus 2023, eqs 6 and 37)."""
        cells = np.where(cells.sum(-1, keepdims=True) > 0, cells, [1.0, 0.0, 0.0, 0.0])
        p, at, first = cells / cells.sum(-1, keepdims=True), np.exp(self.space.logs(y, x, cells)), 0
        for group in self.space.groups:
            share = p[:, list(group)].sum(-1, keepdims=True)
            p[:, list(group)] = share * at[:, first : first + len(group)]
            first += len(group)
        return np.asarray(p / p.sum(-1, keepdims=True))

    def in_corner(self, cells: Array, y: Array, x: Array) -> NDArray[np.bool_]:
        """Return which points (E,) are the corner (0, 0) of a PR plane with an estimate there."""
        estimate = (cells[..., 3] == 0) & (cells[..., 1] + cells[..., 2] > 0)
        return np.asarray((y == 0) & (x == 0) & estimate & self.space.trinomial)


class Wilks(Method):
    """Likelihood ratio, chi-squared with two degrees of freedom (Urlus 2023, section 5)."""

    name = "wilks"

    def weights(self, cells: Array) -> Array:
        """Return the weights (T, 5) of the planes whose sum is the statistic on the scale of chi-squared."""
        return self.space.weights(cells)

    @override
    def levels(self, cells: Array, axes: tuple[Array, Array], level: float) -> Array:
        if not self.space.factors:
            return self._by_points(cells, axes, level)
        weights = self.weights(cells)
        reduce = kernel("planes", "reduce", grid.seconds(len(cells), axes))
        return grid.evaluate(
            axes, self.space.planes(*axes), self._where(cells, axes, level),
            lambda planes, t, where, out: reduce(planes, weights[t], where, grid.CAP, out),
        )  # fmt: skip

    def _by_points(self, cells: Array, axes: tuple[Array, Array], level: float) -> Array:
        """Return the levels of a plane whose likelihood isn't a sum of shared planes, a window at a time."""

        def lower(part: tuple[Array, Array], which: NDArray[np.intp], where: NDArray[np.int64], out: Array) -> None:
            out[:] = grid.CAP
            for one, (top, bottom, left, right) in zip(cells[which], where.clip(0), strict=True):
                window = out[top:bottom, left:right]
                np.minimum(window, self.deviance(one, part[0][top:bottom, None], part[1][left:right]), out=window)
            out *= -0.5

        return grid.evaluate(axes, partial(grid.cut, axes), self._where(cells, axes, level), lower)

    @override
    def at(self, cells: Array, y: Array, x: Array) -> tuple[Array, Array, Array]:
        q = self.deviance(cells, y, x)
        return q, -np.expm1(-0.5 * q), np.exp(-0.5 * q)


class Anytime(Wilks):
    """At every look: points whose likelihood is above 1 - level of what the prior predicted (Ville 1939).

    The ratio of prediction and likelihood is a martingale of the items if the point is true, so with 1 - level at most
    it ever exceeds 1 / (1 - level). Likelihood ratio regions, each with a limit of its own.
    """

    name = "anytime"

    def __init__(self, space: Space, prior: Array) -> None:
        super().__init__(space)
        if min(value for factor in space.factors for value in factor(prior)) <= 0:
            raise ValueError("`prior` must have positive concentrations for method='anytime': it predicts the items.")
        self.prior = prior

    def learned(self, cells: Array) -> Array:
        """Return 2 log(largest likelihood / prediction) (T,)."""
        found = np.zeros(len(cells))
        for factor in self.space.factors:
            (k, other), (a, b) = factor(cells), factor(self.prior)
            found += 2.0 * log_learned(k, k + other, float(a), float(b))
        return found

    @override
    def limits(self, cells: Array, level: float) -> Array:
        return super().limits(cells, level) + self.learned(cells)

    @override
    def weights(self, cells: Array) -> Array:
        made = super().weights(cells)
        made[:, 0] -= self.learned(cells)
        return made

    @override
    def at(self, cells: Array, y: Array, x: Array) -> tuple[Array, Array, Array]:
        q = self.deviance(cells, y, x)
        rest = np.minimum(np.exp(0.5 * (self.learned(cells) - q)), 1.0)
        return q, 1.0 - rest, rest


class Exact(Method):
    """The exact test of a point: the probability of a smaller likelihood ratio (docs/theory)."""

    name = "exact"

    def __init__(self, space: Space, mid_p: bool) -> None:
        super().__init__(space)
        self.mid_p = mid_p

    @override
    def limits(self, cells: Array, level: float) -> Array:
        return np.full(len(cells), least_statistic(level, 2))

    def _trials(self, cells: Array) -> NDArray[np.int64]:
        if self.space.trinomial:
            m = cells[:, 1:].sum(-1)
            return np.stack([m, np.zeros_like(m)], -1).astype(np.int64)
        return np.stack([k + other for k, other in (rate(cells) for rate in self.space.rates)], -1).astype(np.int64)

    def _tables(self, trials: NDArray[np.int64]) -> tuple[Array, Array]:
        most = int(trials.max(initial=1))
        if most > MAX_TRIALS:
            raise ValueError(
                f"`method`='exact' adds up all outcomes and takes up to {MAX_TRIALS:,} items; got {most:,}. "
                "Take method='wilks', whose level differs little there."
            )
        return _log_tables(1 << max(most - 1, 1).bit_length())

    @override
    def levels(self, cells: Array, axes: tuple[Array, Array], level: float) -> Array:
        trials, weights = self._trials(cells), self.space.weights(cells)
        rest = self.space.trinomial, self.mid_p, *self._tables(trials)
        return grid.evaluate(
            axes, self.space.planes(*axes), self._where(cells, axes, level),
            lambda planes, t, where, out: kernel("exact_regions", "reduce")(
                planes, weights[t], where, trials[t], *rest, out
            ),
            log_rest=False,
        )  # fmt: skip

    @override
    def at(self, cells: Array, y: Array, x: Array) -> tuple[Array, Array, Array]:
        q = self.deviance(cells, y, x)
        trials = self._trials(cells)
        places = np.ascontiguousarray(self.space.logs(y, x, cells))
        level = np.empty(len(q))
        kernel("exact_regions", "points")(
            trials, q, places, self.space.trinomial, self.mid_p, *self._tables(trials), level
        )  # fmt: skip
        level[self.in_corner(cells, y, x)] = 0.0
        return q, level, 1.0 - level


MAX_TRIALS = 1_000_000
"""Most items that the exact test takes: the cost of a point grows with their number."""


class Ellipse(Method):
    """The bivariate normal (Urlus 2023, section 7), to which other covariances can be added."""

    name = "ellipse"
    limit_at_corner = False

    def __init__(self, space: Space, extra: Array) -> None:
        super().__init__(space)
        self.extra = extra

    def covariance(self, cells: Array) -> Array:
        """Return the covariances (T, 2, 2) of y and x (Urlus 2023, eqs 13 to 15 and 44 to 46)."""
        (a, b), (c, d) = (rate(cells) for rate in self.space.rates)
        made = np.zeros((len(cells), 2, 2))
        with np.errstate(invalid="ignore", divide="ignore"):
            made[:, 0, 0], made[:, 1, 1] = a * b / (a + b) ** 3, c * d / (c + d) ** 3
            made[:, 0, 1] = made[:, 1, 0] = self.space.covariance(cells)
        return made + self.extra

    def _normal(self, cells: Array) -> tuple[Array, Array]:
        """Return centres (T, 2) and inverse covariances (T, 2, 2), NaN where a covariance is singular."""
        made = self.covariance(cells)
        determinant = made[:, 0, 0] * made[:, 1, 1] - made[:, 0, 1] ** 2
        with np.errstate(invalid="ignore", divide="ignore"):
            centre = self.space.estimate(cells)
            inverse = np.stack([made[:, 1, 1], -made[:, 0, 1], -made[:, 0, 1], made[:, 0, 0]], -1).reshape(-1, 2, 2)
            singular = ~(determinant > 1e-12 * made[:, 0, 0] * made[:, 1, 1]) | np.isnan(centre).any(-1)
            inverse = np.where(singular[:, None, None], np.nan, inverse / determinant[:, None, None])
        return centre, inverse

    def exists(self, cells: Array) -> NDArray[np.bool_]:
        """Return which matrices (T,) have an ellipse."""
        return ~np.isnan(self._normal(cells)[1][:, 0, 0])

    @override
    def boxes(self, cells: Array, level: float) -> Array:
        centre, inverse = self._normal(cells)
        half = np.sqrt(self.limits(cells, level)[:, None] * self.covariance(cells)[:, [0, 1], [0, 1]])
        half[np.isnan(inverse[:, 0, 0])] = np.nan
        ends = np.stack([centre - half, centre + half], -1).reshape(-1, 4)
        return np.where(np.isnan(ends), [0.0, 1.0, 0.0, 1.0], np.clip(ends, 0.0, 1.0))

    @override
    def levels(self, cells: Array, axes: tuple[Array, Array], level: float) -> Array:
        there = cells[self.exists(cells)]
        if len(there) == 0:
            return np.full((len(axes[0]), len(axes[1])), np.nan)
        centres, precisions = self._normal(there)
        return grid.evaluate(
            axes, partial(grid.cut, axes), self._where(there, axes, level),
            lambda part, t, where, out: kernel("planes", "reduce_quadratic")(
                *part, centres[t], precisions[t], where, grid.CAP, out
            ),
        )  # fmt: skip

    @override
    def complaint(self, cells: Array) -> str:
        missing = int((~self.exists(cells)).sum())
        if not missing:
            return ""
        return (
            f"{missing} of {len(cells)} matrices have no ellipse: a rate is 0, 1 or undefined, which makes its "
            f"estimated variance 0; take method='wilks'{" or 'exact'" if self.space.factors else ''}, or "
            "add `extra_cov`."
        )

    @override
    def at(self, cells: Array, y: Array, x: Array) -> tuple[Array, Array, Array]:
        centre, inverse = self._normal(cells)
        offset = np.stack([y, x], -1) - centre
        q = np.einsum("ei,eij,ej->e", offset, inverse, offset)
        return q, -np.expm1(-0.5 * q), np.exp(-0.5 * q)


class Simulate(Method):
    """The papers' test by simulation (Urlus 2023, algorithm 1), kept as a check: TP + FP + FN is drawn as well."""

    name = "simulate"

    def __init__(self, space: Space, draws: int, seed: int) -> None:
        super().__init__(space)
        self.draws, self.seed = draws, seed

    @override
    def limits(self, cells: Array, level: float) -> Array:
        return np.full(len(cells), least_statistic(level, len(self.space.factors) or 3))

    @override
    def levels(self, cells: Array, axes: tuple[Array, Array], level: float) -> Array:
        where = self._where(cells, axes, level)
        out = np.ones((len(axes[0]), len(axes[1])))

        def rows(start: int, stop: int) -> None:
            for i in range(start, stop):
                for t in np.flatnonzero((where[:, 0] <= i) & (i < where[:, 1])):
                    left, right = where[t, 2:]
                    x = axes[1][left:right]
                    found = self.at(np.repeat(cells[t : t + 1], len(x), axis=0), np.full(len(x), axes[0][i]), x)[1]
                    out[i, left:right] = np.minimum(out[i, left:right], found)

        in_blocks(rows, len(axes[0]), 1)
        return out

    @override
    def at(self, cells: Array, y: Array, x: Array) -> tuple[Array, Array, Array]:
        q = self.deviance(cells, y, x)
        level = np.empty(len(q))
        for e, p in enumerate(self.fitted(cells, y, x)):
            # a stream of its own for every matrix and point, wherever in a batch or a grid they are
            place = np.array([y[e], x[e]]).view(np.uint64).tolist()
            rng = np.random.default_rng([self.seed, *cells[e].astype(int).tolist(), *place])
            drawn = rng.multinomial(int(cells[e].sum()), p, size=self.draws).astype(np.float64)
            level[e] = (self.deviance(drawn, y[e], x[e]) < q[e] - 1e-9 * max(1.0, q[e])).mean()
        return q, level, 1.0 - level


def least_statistic(level: float, binomials: int) -> float:
    """Return a statistic beyond which no level is below this one, where it is the sum of that many binomial deviances.

    It inverts the bound of :func:`bayescm._kernels.exact_regions.least_level`: each deviance is stochastically smaller
    than 2 log 2 plus an exponential variable, doubled.
    """
    return 2.0 * float(special.gammainccinv(binomials, 1.0 - level) + binomials * np.log(2.0))


BY_LIKELIHOOD = (Wilks, Exact, Simulate)
"""Methods that know the likeliest shares of the cells at a point."""


@lru_cache(maxsize=8)
def _log_tables(size: int) -> tuple[Array, Array]:
    """Return k log k and log k! for k = 0 to `size`."""
    logs, factorials = np.empty(size + 1), np.empty(size + 1)
    kernel("exact_regions", "tables")(size, logs, factorials)
    return logs, factorials
