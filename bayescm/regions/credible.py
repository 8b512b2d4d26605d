"""Credible regions: posterior mass of larger likelihood (relative belief) or of higher density."""

from dataclasses import dataclass
from functools import lru_cache
from typing import override

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm._kernels.codes import COEFFICIENTS, FIT_CELLS, FITTED, SERIES, STEPS
from bayescm._kernels.dispatch import in_blocks, kernel
from bayescm.regions import grid
from bayescm.regions.grid import Array, Planes, Space
from bayescm.regions.methods import Method

_BLOCK = 32  # matrices per thread


@dataclass(frozen=True)
class Scale:
    """Monotone functions, one per matrix, that map a statistic to the scale of chi-squared (2 degrees of freedom).

    They are polynomials up to the statistic `most`, or tables where `which` isn't negative; `limits` are the statistics
    that have the level asked for.
    """

    limits: Array
    most: Array
    coefficients: Array
    which: NDArray[np.int64]
    tables: Array


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
    def levels(self, cells: Array, axes: tuple[Array, Array], level: float) -> Array:
        weights, m = self.space.weights(cells), self.scale(cells, level)

        def lower(planes: Planes, t: NDArray[np.intp], where: NDArray[np.int64], out: Array) -> None:
            maps = m.most[t], m.coefficients[t], m.which[t], m.tables
            kernel("planes", "reduce_mapped")(planes, weights[t], where, *maps, grid.CAP, out)

        return grid.evaluate(axes, self.space.planes(*axes), self._where(cells, axes, level), lower)

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


_SIZES = (16, 24, 48, 96, 192)
_CLOSE = 1e-8  # error of masses by series, above which more terms are tried
_ENOUGH = 3e-7  # the same once there are no more: counts of 1e9 have that much rounding
_FIT = 3e-8  # of the polynomials, on the scale of mass
_LEAST_DIRECT = 0.05  # concentration that the other integral takes


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
    cells, prior = np.frombuffer(cells_bytes).reshape(-1, 4), np.frombuffer(prior_bytes)
    factors = _factors(cells, grid.SPACES[name], prior)
    count = len(cells)
    most = np.full(count, -2.6 * np.log1p(-level) + 1.0)
    columns = np.zeros((count, FITTED))
    which = np.full(count, -1)
    sizes = np.zeros(count, np.int64)
    todo = np.flatnonzero(factors[..., 1].sum(-1) > 0)  # where nothing was counted the statistic is 0 everywhere
    for n in _SIZES:
        made = _call_scales(factors[todo], level, most[todo], n, tables=False)
        most[todo], columns[todo], sizes[todo] = made[0], made[1], n
        error, reached = columns[todo, COEFFICIENTS + 1], columns[todo, COEFFICIENTS + 2]
        enough = _CLOSE if n < _SIZES[-1] else _ENOUGH
        good = (error < enough) & (reached >= level) & (reached < 1.0 + enough) & (most[todo] <= _longest(n))
        todo = todo[~good]
        if len(todo) == 0:
            break
    columns[todo, COEFFICIENTS], sizes[todo] = np.inf, 0
    poor = np.flatnonzero(columns[:, COEFFICIENTS] > _FIT)
    which[poor] = np.arange(len(poor))
    tables = np.empty((len(poor), FIT_CELLS + 1))
    for n in np.unique(sizes[poor]):
        mine = poor[sizes[poor] == n]
        if n == 0:
            for t in mine:
                most[t], columns[t, -1], tables[which[t]] = _direct_table(factors[t], level)
            continue
        _, columns[mine], tables[which[mine]] = _call_scales(factors[mine], level, most[mine], int(n), tables=True)
    return Scale(columns[:, -1], most, np.ascontiguousarray(columns[:, :COEFFICIENTS]), which, tables)


def _call_scales(factors: Array, level: float, most: Array, n: int, *, tables: bool) -> tuple[Array, Array, Array]:
    """Call the kernel in threads."""
    rules, of_pair, of_mass = _rules(factors, _gauss_size(n))
    nodes, fit = _chebyshev(n), _chebyshev(COEFFICIENTS + 5)
    most, out = most.copy(), np.empty((len(factors), FITTED))
    table = np.empty((len(factors) if tables else 1, FIT_CELLS + 1))

    def part(start: int, stop: int) -> None:
        mine = slice(start, stop)
        kernel("deviance", "scales")(
            factors[mine], level, most[mine], *nodes, rules, of_pair[mine], of_mass[mine], *fit, out[mine], tables,
            table[mine] if tables else table,
        )  # fmt: skip

    in_blocks(part, len(factors), _BLOCK)
    return most, out, table


def masses(cells: Array, space: Space, prior: Array, q: Array) -> Array:
    """Return the posterior mass (E,) of the points of one matrix with a smaller statistic than `q` (E,)."""
    factors = _factors(cells[None], space, prior)
    if factors[0, :, 1].sum() == 0:
        return np.zeros(len(q))
    convolve, mass = kernel("deviance", "convolve"), kernel("deviance", "mass")
    most = 40.0
    for n in _SIZES:
        rules, of_pair, of_mass = _rules(factors, _gauss_size(n))
        nodes, cosines = _chebyshev(n)
        series, work = np.empty(n), np.empty((SERIES, n))
        enough = _CLOSE if n < _SIZES[-1] else _ENOUGH
        while most <= _longest(n):
            power, error = convolve(*factors[0], most, nodes, cosines, rules[of_pair[0]], series, work)
            if not error < enough:
                break
            rule = rules[of_mass[0]]
            whole = mass(most, most, power, series, rule)
            if whole > 1.0 - max(error, 1e-10):
                if whole > 1.0 + 2.0 * enough:
                    break
                out = np.empty(len(q))
                kernel("deviance", "masses")(q, most, power, series, rule, out)
                return np.where(q > most, 1.0, np.clip(out, 0.0, 1.0))
            most *= 1.5
    return _direct(factors[0], q)


def _direct(factors: Array, q: Array) -> Array:
    """Return masses of one matrix where no series does: informative priors that contradict the counts."""
    if factors[factors[:, 1] > 0, 2:].min() < _LEAST_DIRECT:
        raise ValueError(
            "`prior` contradicts the counts and has concentrations near 0 at once, which credible regions by relative "
            "belief can't be computed for. Take concentrations of at least "
            f"{_LEAST_DIRECT}."
        )
    out = np.empty(len(q))
    kernel("deviance", "direct_masses")(*np.maximum(factors, [0, 0, 1e-9, 1e-9]), np.asarray(q), *_legendre(200), out)
    return np.clip(out, 0.0, 1.0)


def _direct_table(factors: Array, level: float) -> tuple[float, float, Array]:
    """Return the statistic that a table reaches, the one whose mass is `level`, and the table of one matrix."""
    most = -2.6 * np.log1p(-level) + 1.0
    while _direct(factors, np.array([most]))[0] < level:
        most *= 1.5
    q = most * (np.arange(FIT_CELLS + 1) / FIT_CELLS) ** 2
    mass = np.maximum.accumulate(_direct(factors, q))
    reached = q[min(int(np.searchsorted(mass, level)), FIT_CELLS)]
    return most, float(reached), -2.0 * np.log(np.maximum(1.0 - mass, 1e-15))


@lru_cache(maxsize=2)
def _legendre(n: int) -> tuple[Array, Array]:
    return np.polynomial.legendre.leggauss(n)


def _gauss_size(n: int) -> int:
    """Return the nodes of the integrals beside n of the series."""
    return max(12, n - 4)


def _longest(n: int) -> float:
    """Return the largest statistic for which the integrals are right to 1e-12."""
    return 3.0 * (_gauss_size(n) - 2)


_LEAST_DENSITY = 0.15


class Density(Method):
    """Posterior mass of the points of higher density: the papers' region (Urlus 2023, algorithm 3 corrected)."""

    name = "density"
    limit_at_corner = False
    margin = 0.25

    def __init__(self, space: Space, prior: Array) -> None:
        super().__init__(space)
        self.prior = prior

    @override
    def boxes(self, cells: Array, level: float) -> Array:
        return np.tile([0.0, 1.0, 0.0, 1.0], (len(cells), 1))

    @override
    def shown(self, cells: Array, level: float) -> Array:
        # there is no box of its own; the likelihood's with a wide margin does for pictures
        return Credible(self.space, self.prior).boxes(cells, level)

    @override
    def complaint(self, cells: Array) -> str:
        unbounded = np.minimum.reduce([c for rate in self.space.rates for c in rate(cells + self.prior)]) < 1.0
        if not unbounded.any():
            return ""
        return (
            f"{unbounded.sum()} of {len(cells)} posteriors have a density that is infinite on an edge of the plane, so "
            "the region of highest density hugs it; take ordering='relative_belief'."
        )

    def _tables(self, cells: Array) -> tuple[Array, Array, Array, Array]:
        concentrations = cells + self.prior
        weights = self.space.density_weights(concentrations)
        factors = np.ascontiguousarray(_factors(cells, self.space, self.prior)[..., 2:])
        if factors.size and factors.min() < _LEAST_DENSITY:
            raise ValueError(
                f"`ordering`='density' takes posterior concentrations of at least {_LEAST_DENSITY}: below that nearly "
                f"all density is at a point of the edge; got {factors.min():g}. Take ordering='relative_belief'."
            )
        tables = np.empty((len(cells), STEPS + 1))
        places = np.empty((len(cells), 2))

        def part(start: int, stop: int) -> None:
            for t in range(start, stop):
                places[t] = kernel("density", "tabulate")(factors[t], self.space.trinomial, weights[t], tables[t])

        in_blocks(part, len(cells), _BLOCK)
        return weights, places[:, 0].copy(), places[:, 1].copy(), tables

    @override
    def levels(self, cells: Array, axes: tuple[Array, Array], level: float) -> Array:
        made = self._tables(cells)
        return grid.evaluate(
            axes, self.space.planes(*axes), self._where(cells, axes, level),
            lambda planes, t, where, out: kernel("density", "reduce")(planes, *made, grid.CAP, out),
        )  # fmt: skip

    @override
    def at(self, cells: Array, y: Array, x: Array) -> tuple[Array, Array, Array]:
        unique, inverse = np.unique(cells, axis=0, return_inverse=True)
        weights, lowest, step, tables = self._tables(unique)
        i = inverse.reshape(-1)
        f = self.log_density(weights[i], y, x)
        z = kernel("density", "look_up_many")(f, lowest[i], step[i], i, tables)
        return f, -np.expm1(-0.5 * z), np.exp(-0.5 * z)

    def log_density(self, weights: Array, y: Array, x: Array) -> Array:
        """Return the log posterior density (E,) at points."""
        logs, w = np.moveaxis(self.space.logs(y, x, weights), -1, 0), np.moveaxis(weights, -1, 0)
        if not self.space.trinomial:
            return np.asarray(w[0] + (w[1:5] * logs).sum(0))
        a, b = logs[1] - logs[0], logs[2] - logs[0]
        of_edges = w[2] * np.logaddexp(0.0, a) + w[5] * np.logaddexp(0.0, b)
        return np.asarray(w[0] + w[1] * a + w[4] * b - w[3] * logs[0] - of_edges)
