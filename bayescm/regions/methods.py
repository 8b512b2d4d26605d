"""The methods of regions: each knows its statistic, its level, and a box that holds every point below a level.

They work on plain numbers: cells (T, 4) in the order TN, FP, FN, TP, and axes or points.
"""

from functools import lru_cache
from importlib import import_module
from typing import Any, override

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm import grid, threads
from bayescm.grid import Array, Scale, Space, Tile

_BLOCK = 32  # matrices per thread


class Method:
    """A method in a space. Subclasses give the statistic's limit of a level, and the levels of a grid and of points."""

    name = ""

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
            _kernels("deviance").bounds(k, k + other, limits, found[:, 2 * side : 2 * side + 2])
        return found

    def tile(self, cells: Array, axes: tuple[Array, Array], level: float, out: Array) -> Tile:
        """Return what puts the least level of all matrices into rows of `out`; 1 beyond the boxes of `level`."""
        raise NotImplementedError

    def at(self, cells: Array, y: Array, x: Array) -> tuple[Array, Array, Array]:
        """Return statistic, level and p-value, each (E,), of one matrix and one point each."""
        raise NotImplementedError

    def surface(self, cells: Array, axes: tuple[Array, Array], level: float) -> Array:
        """Return the least level of all matrices on a grid (ny, nx)."""
        out = np.empty((len(axes[0]), len(axes[1])))
        if len(cells) == 0:
            out[:] = 1.0
        else:
            grid.run(self.tile(np.ascontiguousarray(cells), axes, level, out), len(axes[0]))
            if self.space.trinomial and axes[0][0] == 0.0 and axes[1][0] == 0.0 and self.meets_corner(cells):
                out[0, 0] = 0.0
        return out

    def meets_corner(self, cells: Array) -> bool:
        """Return whether the corner (0, 0) of a PR plane is an estimate of some matrix: its least limit is 0 then."""
        return bool((cells[:, 3] == 0).any())

    def _where(self, cells: Array, axes: tuple[Array, Array], level: float) -> NDArray[np.int64]:
        return grid.windows(axes, self.boxes(cells, level))

    def deviance(self, cells: Array, y: Array, x: Array) -> Array:
        """Return the likelihood ratio statistic (E,) at points (Urlus 2023, eq. 7, with p_TP and TN gone)."""
        logs = self.space.logs(y, x)
        if self.space.trinomial:
            counts = cells[:, [3, 1, 2]]
            total = special.xlogy(counts.sum(-1), counts.sum(-1))
        else:
            pairs = [part for rate in self.space.rates for part in rate(cells)]
            counts = np.stack(pairs, -1)
            total = sum(special.xlogy(pair.sum(-1), pair.sum(-1)) for pair in (counts[:, :2], counts[:, 2:]))
        terms = special.xlogy(counts, counts) - counts * logs
        q = np.maximum(2.0 * (terms.sum(-1) - total), 0.0)
        q[self.in_corner(cells, y, x)] = 0.0
        return np.asarray(q)

    def in_corner(self, cells: Array, y: Array, x: Array) -> NDArray[np.bool_]:
        """Return which points (E,) are the corner (0, 0) of a PR plane with an estimate there."""
        return np.asarray((y == 0) & (x == 0) & (cells[:, 3] == 0) & self.space.trinomial)


class Wilks(Method):
    """Likelihood ratio, chi-squared with two degrees of freedom (Urlus 2023, section 5)."""

    name = "wilks"

    @override
    def tile(self, cells: Array, axes: tuple[Array, Array], level: float, out: Array) -> Tile:
        where = self._where(cells, axes, level)
        return grid.to_levels(
            grid.least_statistic(self.space.planes(*axes), self.space.weights(cells), where, out), out
        )  # fmt: skip

    @override
    def at(self, cells: Array, y: Array, x: Array) -> tuple[Array, Array, Array]:
        q = self.deviance(cells, y, x)
        return q, -np.expm1(-0.5 * q), np.exp(-0.5 * q)


class Exact(Method):
    """The exact test of a point: the probability of a smaller likelihood ratio (docs/theory)."""

    name = "exact"

    def __init__(self, space: Space, mid_p: bool) -> None:
        super().__init__(space)
        self.mid_p = mid_p

    @override
    def limits(self, cells: Array, level: float) -> Array:
        # the bound of bayescm._kernels.exact.least_level, inverted
        rest, t = 1.0 - level, 1.0
        for _ in range(60):
            t = np.log1p(t) - np.log(rest)
        return np.full(len(cells), 2.0 * (t + 2.0 * np.log(2.0)))

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
    def tile(self, cells: Array, axes: tuple[Array, Array], level: float, out: Array) -> Tile:
        trials = self._trials(cells)
        logs, factorials = self._tables(trials)
        arguments = (
            self.space.planes(*axes), self.space.weights(cells), self._where(cells, axes, level), trials,
            self.space.trinomial, self.mid_p, logs, factorials, out,
        )  # fmt: skip
        return lambda start, stop: _kernels("exact").reduce(start, stop, *arguments)

    @override
    def at(self, cells: Array, y: Array, x: Array) -> tuple[Array, Array, Array]:
        q = self.deviance(cells, y, x)
        trials = self._trials(cells)
        places = np.ascontiguousarray(self.space.logs(y, x))
        level = np.empty(len(q))
        _kernels("exact").points(
            trials, q, places, self.space.trinomial, self.mid_p, *self._tables(trials), level
        )  # fmt: skip
        level[self.in_corner(cells, y, x)] = 0.0
        return q, level, 1.0 - level


MAX_TRIALS = 200_000
"""Most items that the exact test takes: the cost of a point grows with their number."""


class Credible(Method):
    """Posterior mass of the points of larger likelihood: relative belief (Evans 2015)."""

    name = "credible"

    def __init__(self, space: Space, prior: Array) -> None:
        super().__init__(space)
        self.prior = prior

    @override
    def limits(self, cells: Array, level: float) -> Array:
        return self.scale(cells, level).limits

    def scale(self, cells: Array, level: float) -> Scale:
        """Return the maps of the statistics to the scale of chi-squared, up to a level."""
        return _scale(np.asarray(cells).tobytes(), self.space.name, self.prior.tobytes(), level)

    @override
    def tile(self, cells: Array, axes: tuple[Array, Array], level: float, out: Array) -> Tile:
        where = self._where(cells, axes, level)
        planes, weights = self.space.planes(*axes), self.space.weights(cells)
        return grid.to_levels(grid.least_mapped(planes, weights, where, self.scale(cells, level), out), out)

    @override
    def at(self, cells: Array, y: Array, x: Array) -> tuple[Array, Array, Array]:
        q = self.deviance(cells, y, x)
        level = np.empty(len(q))
        unique, inverse = np.unique(cells, axis=0, return_inverse=True)
        for i, one in enumerate(unique):
            mine = inverse.reshape(-1) == i
            level[mine] = masses(one, self.space, self.prior, q[mine])
        return q, level, 1.0 - level


@lru_cache(maxsize=16)
def _chebyshev(n: int) -> tuple[Array, Array]:
    """Return Chebyshev's nodes in (0, 1), increasing, and the cosines that turn values there into coefficients."""
    angles = np.pi * (n - np.arange(n) - 0.5) / n
    return 0.5 + 0.5 * np.cos(angles), np.cos(np.arange(n)[:, None] * angles)


@lru_cache(maxsize=256)
def _gauss_jacobi(n: int, right: float, left: float) -> Array:
    """Return nodes and weights (2, n) on (0, 1) for x^(left - 1) (1 - x)^(right - 1)."""
    x, w = special.roots_jacobi(n, right - 1.0, left - 1.0)
    return np.stack([(1.0 + x) / 2.0, w * 2.0 ** -(left + right - 1.0)])


def _powers(factors: Array) -> Array:
    """Return v (T, 2) of both factors: the power of the deviance that their densities begin with."""
    k, n, a, b = np.moveaxis(factors, -1, 0)
    return np.where(n == 0, 0.0, np.where(k == 0, a, np.where(k == n, b, 0.5)))


def _factors(cells: Array, space: Space, prior: Array) -> Array:
    """Return k, n and the two posterior concentrations (T, 2, 4) of both factors, which must be positive."""
    found = []
    for factor in space.factors:
        (k, other), (a, b) = factor(cells), factor(cells + prior)
        improper = np.flatnonzero(np.minimum(a, b) <= 0)
        if len(improper):
            raise ValueError(
                f"`prior` leaves the posterior of the counts {cells[improper[0]].astype(int).tolist()} "
                "(TN, FP, FN, TP) improper: a cell without items has a concentration of 0. Take prior='jeffreys', or "
                "any prior with positive concentrations."
            )
        found.append(np.stack([k, k + other, a, b], -1))
    return np.ascontiguousarray(np.stack(found, -2))


_SIZES = (16, 24, 48, 96, 192, 384)
_CLOSE = 1e-9  # of the last coefficients, relative to the largest
_FIT = 3e-8  # of the polynomials, on the scale of mass


def _rules(factors: Array, n: int) -> tuple[Array, NDArray[np.int64], NDArray[np.int64]]:
    """Return the rules (R, 2, n) that matrices need, and which one each takes for the density and for the mass."""
    powers = _powers(factors)
    wanted: dict[tuple[float, float], int] = {}
    of_pair = [wanted.setdefault((float(b), float(a)), len(wanted)) if a > 0 and b > 0 else 0 for a, b in powers]
    of_mass = [wanted.setdefault((1.0, float(a + b)), len(wanted)) if a + b > 0 else 0 for a, b in powers]
    if not wanted:
        wanted[1.0, 1.0] = 0
    rules = np.stack([_gauss_jacobi(n, right, left) for right, left in wanted])
    return rules, np.array(of_pair), np.array(of_mass)


@lru_cache(maxsize=8)
def _scale(cells_bytes: bytes, name: str, prior_bytes: bytes, level: float) -> Scale:
    """Return the maps of many matrices."""
    from bayescm._kernels.planes import COEFFICIENTS, TABLE

    cells, prior = np.frombuffer(cells_bytes).reshape(-1, 4), np.frombuffer(prior_bytes)
    factors = _factors(cells, grid.SPACES[name], prior)
    count = len(cells)
    most = np.full(count, -2.6 * np.log1p(-level) + 1.0)
    columns = np.zeros((count, COEFFICIENTS + 4))
    which = np.full(count, -1)
    sizes = np.zeros(count, np.int64)
    todo = np.flatnonzero(factors[..., 1].sum(-1) > 0)  # where nothing was counted the statistic is 0 everywhere
    for n in _SIZES:
        made = _call_scales(factors[todo], level, most[todo], n, tables=False)
        most[todo], columns[todo], sizes[todo] = made[0], made[1], n
        error, reached = columns[todo, COEFFICIENTS + 1], columns[todo, COEFFICIENTS + 2]
        todo = todo[~(error < _CLOSE) | (reached < level) | (most[todo] > _longest(n))]
        if len(todo) == 0:
            break
    else:
        raise ValueError(_CONFLICT.format(cells=cells[todo[0]].astype(int).tolist()))
    poor = np.flatnonzero(columns[:, COEFFICIENTS] > _FIT)
    which[poor] = np.arange(len(poor))
    tables = np.empty((len(poor), TABLE + 1))
    for n in np.unique(sizes[poor]):
        mine = poor[sizes[poor] == n]
        _, columns[mine], tables[which[mine]] = _call_scales(factors[mine], level, most[mine], int(n), tables=True)
    return Scale(columns[:, -1], most, np.ascontiguousarray(columns[:, :COEFFICIENTS]), which, tables)


def _call_scales(factors: Array, level: float, most: Array, n: int, *, tables: bool) -> tuple[Array, Array, Array]:
    """Call the kernel in threads."""
    from bayescm._kernels.planes import COEFFICIENTS, TABLE

    rules, of_pair, of_mass = _rules(factors, _gauss_size(n))
    nodes, fit = _chebyshev(n), _chebyshev(COEFFICIENTS + 5)
    most, out = most.copy(), np.empty((len(factors), COEFFICIENTS + 4))
    table = np.empty((len(factors) if tables else 1, TABLE + 1))

    def part(start: int, stop: int) -> None:
        mine = slice(start, stop)
        _kernels("deviance").scales(
            factors[mine], level, most[mine], *nodes, rules, of_pair[mine], of_mass[mine], *fit, out[mine], tables,
            table[mine] if tables else table,
        )  # fmt: skip

    threads.over(part, len(factors), _BLOCK)
    return most, out, table


def masses(cells: Array, space: Space, prior: Array, q: Array) -> Array:
    """Return the posterior mass (E,) of the points of one matrix with a smaller statistic than `q` (E,)."""
    factors = _factors(cells[None], space, prior)
    if factors[0, :, 1].sum() == 0:
        return np.zeros(len(q))
    kernels = _kernels("deviance")
    most = 40.0
    for n in _SIZES:
        rules, of_pair, of_mass = _rules(factors, _gauss_size(n))
        nodes, cosines = _chebyshev(n)
        series, work = np.empty(n), np.empty((4, n))
        while most <= _longest(n):
            power, error = kernels.convolve(*factors[0], most, nodes, cosines, rules[of_pair[0]], series, work)
            if not error < _CLOSE:
                break
            rule = rules[of_mass[0]]
            if kernels.mass(most, most, power, series, rule) > 1.0 - 1e-10:
                out = np.empty(len(q))
                kernels.masses(q, most, power, series, rule, out)
                return np.clip(out, 0.0, 1.0)
            most *= 1.5
    raise ValueError(_CONFLICT.format(cells=cells.astype(int).tolist()))


_CONFLICT = (
    "`prior` and the counts {cells} (TN, FP, FN, TP) contradict each other too much for a credible region by relative "
    "belief; take ordering='density'."
)


def _gauss_size(n: int) -> int:
    """Return the nodes of the integrals beside n of the series."""
    return max(12, n - 4)


def _longest(n: int) -> float:
    """Return the largest statistic for which the integrals are right to 1e-12."""
    return 3.0 * (_gauss_size(n) - 2)


class Density(Method):
    """Posterior mass of the points of higher density: the papers' region (Urlus 2023, algorithm 3 corrected)."""

    name = "density"

    def __init__(self, space: Space, prior: Array) -> None:
        super().__init__(space)
        self.prior = prior

    @override
    def boxes(self, cells: Array, level: float) -> Array:
        return np.tile([0.0, 1.0, 0.0, 1.0], (len(cells), 1))

    @override
    def meets_corner(self, cells: Array) -> bool:
        return False

    def _tables(self, cells: Array) -> tuple[Array, Array, Array, Array]:
        from bayescm._kernels.density import STEPS

        concentrations = cells + self.prior
        weights = self.space.density_weights(concentrations)
        factors = np.ascontiguousarray(_factors(cells, self.space, self.prior)[..., 2:])
        tables = np.empty((len(cells), STEPS + 1))
        places = np.empty((len(cells), 2))

        def part(start: int, stop: int) -> None:
            for t in range(start, stop):
                places[t] = _kernels("density").tabulate(factors[t], self.space.trinomial, weights[t], tables[t])

        threads.over(part, len(cells), _BLOCK)
        return weights, places[:, 0].copy(), places[:, 1].copy(), tables

    @override
    def tile(self, cells: Array, axes: tuple[Array, Array], level: float, out: Array) -> Tile:
        arguments = (self.space.planes(*axes), *self._tables(cells), grid.CAP, out)
        return grid.to_levels(lambda start, stop: _kernels("density").reduce(start, stop, *arguments), out)

    @override
    def at(self, cells: Array, y: Array, x: Array) -> tuple[Array, Array, Array]:
        unique, inverse = np.unique(cells, axis=0, return_inverse=True)
        weights, lowest, step, tables = self._tables(unique)
        i = inverse.reshape(-1)
        f = self.log_density(weights[i], y, x)
        z = _kernels("density").look_up_many(f, lowest[i], step[i], i, tables)
        return f, -np.expm1(-0.5 * z), np.exp(-0.5 * z)

    def log_density(self, weights: Array, y: Array, x: Array) -> Array:
        """Return the log posterior density (E,) at points."""
        logs = self.space.logs(y, x)
        w = np.moveaxis(weights, -1, 0)
        if not self.space.trinomial:
            return np.asarray(w[0] + (w[1:5] * np.moveaxis(logs, -1, 0)).sum(0))
        log_p, log_r = -np.logaddexp(0.0, logs[:, 1] - logs[:, 0]), -np.logaddexp(0.0, logs[:, 2] - logs[:, 0])
        odds_p, odds_r = logs[:, 1] - logs[:, 0], logs[:, 2] - logs[:, 0]
        return np.asarray(w[0] + w[1] * odds_p + w[2] * log_p - w[3] * logs[:, 0] + w[4] * odds_r + w[5] * log_r)


class Ellipse(Method):
    """The bivariate normal (Urlus 2023, section 7), to which other covariances can be added."""

    name = "ellipse"

    def __init__(self, space: Space, extra: Array) -> None:
        super().__init__(space)
        self.extra = extra

    def covariance(self, cells: Array) -> Array:
        """Return the covariances (T, 2, 2) of y and x (Urlus 2023, eqs 13 to 15 and 44 to 46)."""
        (a, b), (c, d) = (rate(cells) for rate in self.space.rates)
        made = np.zeros((len(cells), 2, 2))
        with np.errstate(invalid="ignore", divide="ignore"):
            made[:, 0, 0], made[:, 1, 1] = a * b / (a + b) ** 3, c * d / (c + d) ** 3
            if self.space.trinomial:
                made[:, 0, 1] = made[:, 1, 0] = a * b * d / (a + b) ** 2 / (c + d) ** 2
        return made + self.extra

    def _normal(self, cells: Array) -> tuple[Array, Array]:
        """Return centres (T, 2) and inverse covariances (T, 2, 2), NaN where a covariance is singular."""
        made = self.covariance(cells)
        determinant = made[:, 0, 0] * made[:, 1, 1] - made[:, 0, 1] ** 2
        with np.errstate(invalid="ignore", divide="ignore"):
            centre = np.stack([k / (k + other) for k, other in (rate(cells) for rate in self.space.rates)], -1)
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
    def tile(self, cells: Array, axes: tuple[Array, Array], level: float, out: Array) -> Tile:
        there = cells[self.exists(cells)]
        if len(there) == 0:
            return lambda start, stop: out[start:stop].fill(np.nan)
        weights = np.ascontiguousarray(grid.quadratic_weights(*self._normal(there)))
        where = self._where(there, axes, level)
        return grid.to_levels(grid.least_statistic(grid.quadratic(*axes), weights, where, out), out)

    @override
    def meets_corner(self, cells: Array) -> bool:
        return False

    @override
    def at(self, cells: Array, y: Array, x: Array) -> tuple[Array, Array, Array]:
        centre, inverse = self._normal(cells)
        offset = np.stack([y, x], -1) - centre
        q = np.einsum("ei,eij,ej->e", offset, inverse, offset)
        return q, -np.expm1(-0.5 * q), np.exp(-0.5 * q)


class Simulate(Method):
    """The paper's test by simulation (Urlus 2023, algorithm 1), kept as a check."""

    name = "simulate"

    def __init__(self, space: Space, draws: int, seed: int) -> None:
        super().__init__(space)
        self.draws, self.seed = draws, seed

    @override
    def limits(self, cells: Array, level: float) -> Array:
        return Exact(self.space, False).limits(cells, level)

    @override
    def tile(self, cells: Array, axes: tuple[Array, Array], level: float, out: Array) -> Tile:
        where = self._where(cells, axes, level)

        def tile(start: int, stop: int) -> None:
            out[start:stop] = 1.0
            for i in range(start, stop):
                for t in np.flatnonzero((where[:, 0] <= i) & (i < where[:, 1])):
                    left, right = where[t, 2:]
                    x = axes[1][left:right]
                    one = np.repeat(cells[t : t + 1], len(x), axis=0)
                    rng = np.random.default_rng([self.seed, int(t), i])
                    found = self._levels(one, np.full(len(x), axes[0][i]), x, rng)[1]
                    out[i, left:right] = np.minimum(out[i, left:right], found)

        return tile

    @override
    def at(self, cells: Array, y: Array, x: Array) -> tuple[Array, Array, Array]:
        q, level = self._levels(cells, y, x, np.random.default_rng([self.seed]))
        return q, level, 1.0 - level

    def _levels(self, cells: Array, y: Array, x: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return statistics and the shares of simulated ones that are smaller, (E,) each."""
        q = self.deviance(cells, y, x)
        level = np.empty(len(q))
        for e, p in enumerate(self._profile(cells, y, x)):
            drawn = rng.multinomial(int(cells[e].sum()), p, size=self.draws).astype(np.float64)
            one = np.full(self.draws, y[e]), np.full(self.draws, x[e])
            level[e] = (self.deviance(drawn, *one) < q[e] - 1e-9 * max(1.0, q[e])).mean()
        return q, level

    def _profile(self, cells: Array, y: Array, x: Array) -> Array:
        """Return the cell probabilities (E, 4) of the largest likelihood at points (Urlus 2023, eqs 6 and 37)."""
        n = np.maximum(cells.sum(-1), 1.0)
        at = np.exp(self.space.logs(y, x))
        if self.space.trinomial:
            m = cells[:, 1:].sum(-1) / n
            tp, fp, fn = (m * at[:, i] for i in range(3))
            p = np.stack([1.0 - m, fp, fn, tp], -1)
        else:
            positive = (cells[:, 2] + cells[:, 3]) / n
            rest = 1.0 - positive
            p = np.stack([rest * at[:, 3], rest * at[:, 2], positive * at[:, 1], positive * at[:, 0]], -1)
        return np.asarray(p / p.sum(-1, keepdims=True))


@lru_cache(maxsize=8)
def _log_tables(size: int) -> tuple[Array, Array]:
    """Return k log k and log k! for k = 0 to `size`."""
    logs, factorials = np.empty(size + 1), np.empty(size + 1)
    _kernels("exact").tables(size, logs, factorials)
    return logs, factorials


def _kernels(name: str) -> Any:
    return import_module(f"bayescm._kernels.{name}")
