"""Means over a known distribution, by quadrature in its normal quantile: what those of differences are made from."""

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayescm.distributions import beta_quantiles
from bayescm.distributions.beta import Beta

Array = NDArray[np.float64]
Values = Callable[[Array], Array]

_REACH = 8.25  # normal quantile: beyond it lies less than 1e-15
GOAL = 1e-9
"""Of the change at the last halving of the step, relative to the smaller tail."""
_SMALL = 1e-3  # below it a probability needs no relative precision
_NODES = 199  # of a table
_EACH = 6, 3, 1  # of these nodes: often the first are enough
_ONE_SD = 0.68  # probability within one standard deviation of a normal variable's mean
_BROKEN = 0.05  # error of a distribution that no finer nodes follow: of 1,500 random ones 1 was trusted after it
_FAR = 600.0  # logarithm
_LEAST = 1e-290  # of a logarithm's argument
_AWAY = np.split(np.concatenate([np.arange(13), 2.0 ** np.arange(4, 11)]), range(7, 20, 3))  # sds from the median
LINE = np.linspace(-_REACH, _REACH, 67)
"""Normal quantiles with a step of 1/4: means are right to rounding where nothing is cut."""
_WEIGHTS = np.exp(-0.5 * LINE**2) / np.sqrt(32.0 * np.pi)
_HALF_WEIGHTS = 2.0 * _WEIGHTS[1::2]
_FINE = np.linspace(-_REACH, _REACH, 265)
_STEPS = 2.0 ** -np.arange(3, 9)  # ratios that had no answer with 2^-6: 19 of 20 have one with 2^-7, all with 2^-8


class Table:
    """A distribution that is slow to evaluate, as splines between its normal quantiles and the log-odds of its value.

    Right to 1e-9 or so; much less where the distribution has a cusp, as that of informedness has with an empty cell:
    `worst` is the largest error seen between the nodes, or the probability beyond them.

    Parameters
    ----------
    dist : distribution
        With ``statistics`` and ``tails``, of one variable.
    lower, upper : float
        Range of the variable; `upper` may be infinite: then logarithms take the place of log-odds.
    """

    def __init__(self, dist: Any, lower: float, upper: float) -> None:
        from scipy.interpolate import make_interp_spline

        self.lower, self.upper = lower, upper
        self._about = about = dist.statistics(_ONE_SD, "eti")
        low, middle, high = self._place(np.array([about["lower"], about["median"], about["upper"]]))
        steps, rough = [low - middle, high - middle], np.empty((2, 0))
        for away in _AWAY:  # no farther than need be: values far out take longest
            new = self._known(dist, np.unique(middle + np.multiply.outer(steps, away)))
            rough = np.append(rough, new, 1)
            sides = {step: new[0, np.sign(new[0]) == np.sign(step)] for step in steps}
            steps = [step for step, normal in sides.items() if len(normal) and np.abs(normal).max() < _REACH]
            if not steps:
                break
        normal, place = rough[:, np.argsort(rough[1])]  # beyond the reach, too: a tail may end between two of them
        normal = np.maximum.accumulate(np.clip(normal, -_REACH - 0.5, _REACH + 0.5))
        places = np.interp(np.linspace(-_REACH, _REACH, _NODES), normal, place)
        known = np.empty((2, 0))
        for each in _EACH:
            nodes = np.unique(places[::each])
            inner = nodes[len(nodes) // 10 : -len(nodes) // 10]
            fresh, between = np.setdiff1d(nodes, known[1]), 0.5 * (inner[1:] + inner[:-1])[::2]
            found = self._known(dist, np.append(fresh, between))
            known = np.append(known, found[:, : len(fresh)], 1)
            normal, place = _rising(known)
            self.ends, self.range = (place[0], place[-1]), (normal[0], normal[-1])
            self.to_place = make_interp_spline(normal, place, 5)
            self.to_normal = make_interp_spline(place, normal, 5)
            off = np.abs(special.ndtr(self.to_normal(between)) - special.ndtr(found[0, len(fresh) :])).max()
            if not GOAL <= off < _BROKEN:
                break
        self.worst = float(max(off, *special.ndtr([self.range[0], -self.range[1]])))

    def _known(self, dist: Any, place: Array) -> Array:
        """Return normal quantiles of places that aren't too far out, and these places: (2, n)."""
        place = place[np.abs(place) < _FAR]
        below, above = dist.tails(self._value_at(place))
        return np.array([np.where(below < above, special.ndtri(below), -special.ndtri(above)), place])

    def mean(self) -> Any:
        """Return the mean."""
        return self._about["mean"]

    def sd(self) -> Any:
        """Return the standard deviation."""
        return self._about["sd"]

    def _place(self, x: Any) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = np.maximum(x - self.lower, 0.0), np.maximum(self.upper - x, 0.0)
            return np.log(low) if np.isinf(self.upper) else np.log(low) - np.log(high)

    def _normal(self, x: Any) -> Any:
        place = self._place(np.asarray(x, np.float64))
        inside = self.to_normal(np.clip(place, *self.ends))
        return np.where(place < self.ends[0], -np.inf, np.where(place > self.ends[1], np.inf, inside))

    def cdf(self, x: Any) -> Any:
        """Return P(X <= x)."""
        return special.ndtr(self._normal(x))

    def sf(self, x: Any) -> Any:
        """Return P(X > x)."""
        return special.ndtr(-self._normal(x))

    def tails(self, x: Any) -> tuple[Any, Any]:
        """Return both."""
        normal = self._normal(x)
        return special.ndtr(normal), special.ndtr(-normal)

    def ppf(self, p: Any) -> Any:
        """Return the quantile at `p`."""
        return self._value(special.ndtri(p))

    def isf(self, q: Any) -> Any:
        """Return the quantile with the probability `q` above it."""
        return self._value(-special.ndtri(q))

    def _value(self, normal: Any) -> Any:
        return self._value_at(self.to_place(np.clip(normal, *self.range)))

    def _value_at(self, place: Any) -> Any:
        if np.isinf(self.upper):
            return self.lower + np.exp(place)
        return self.lower + (self.upper - self.lower) * special.expit(place)


class Outer:
    """A distribution over which functions are averaged.

    Parameters
    ----------
    dist : distribution
        With ``cdf``, ``sf``, ``ppf``, ``isf``, ``mean`` and ``sd``, of one variable.
    lower, upper : float
        Range of the variable.
    """

    def __init__(self, dist: Any, lower: float, upper: float) -> None:
        self.dist, self.lower, self.upper = dist, lower, upper
        self.error = dist.worst

    @classmethod
    def of(cls, dist: Any, lower: float, upper: float) -> "Outer":
        """Return a distribution of any kind to average over, tabulated where it is slow to evaluate."""
        return cls(dist if isinstance(dist, Beta) else Table(dist.to_tabulate(), lower, upper), lower, upper)

    def quantiles(self, normal: Array) -> Array:
        """Return the variable at normal quantiles, each from its nearer end."""
        if isinstance(self.dist, Beta):
            return self.dist.at_log_odds(beta_quantiles.logit_at_normal(normal, self.dist.a, self.dist.b))
        found = np.empty(normal.shape)
        for side, end, call in ((normal < 0.0, normal, self.dist.ppf), (normal >= 0.0, -normal, self.dist.isf)):
            if side.any():
                found[side] = call(special.ndtr(end[side]))
        return found

    def _near(self, normal: Array) -> Array:
        """Return what :meth:`quantiles` does, of a Beta from splines that agree with it."""
        spline = self._spline
        return self.quantiles(normal) if spline is None else self.dist.at_log_odds(spline(normal))

    @cached_property
    def _spline(self) -> Any:
        """The log-odds of a Beta variable over normal quantiles, if right between the nodes; else None."""
        if not isinstance(self.dist, Beta):
            return None
        from scipy.interpolate import make_interp_spline

        a, b = float(self.dist.a), float(self.dist.b)
        spline = make_interp_spline(_FINE, beta_quantiles.logit_at_normal(_FINE, a, b), 7)
        between = 0.5 * (_FINE[1:] + _FINE[:-1])
        below, above = np.array_split(between, 2)
        found = beta_quantiles.logit_cdf(spline(below), a, b), beta_quantiles.logit_cdf(-spline(above), b, a)
        wanted = special.ndtr(below), special.ndtr(-above)
        right = all(np.allclose(one, p, rtol=GOAL, atol=0.0) for one, p in zip(found, wanted, strict=True))
        return spline if right else None

    @cached_property
    def line(self) -> Array:
        """The variable at the fixed nodes."""
        return self.quantiles(LINE)

    @cached_property
    def log_line(self) -> Array:
        """Their logarithms."""
        return np.log(np.maximum(self.line, _LEAST))

    def mean_of(self, values: Values, cuts: tuple[float, ...] = ()) -> tuple[Array, float]:
        """Return the mean of each row of ``values(x)``, two probabilities that add up to 1, and its error.

        Parameters
        ----------
        values : callable
            Takes x (n,) and returns (2, n).
        cuts : tuple of float
            Places where the values aren't smooth.

        Returns
        -------
        ndarray of shape (2,), float
            The error is the change at the last halving of the step, relative to the smaller of the two.
        """
        found, error = mean_on_line(values(self.line))
        if error > GOAL:
            ends = [-_REACH, *(z for z in sorted(self._normal(x) for x in cuts) if abs(z) < _REACH), _REACH]
            for k, step in enumerate(_STEPS):
                before, new = found, self._panels(values, ends, step, k > 0)
                found = new + 0.5 * before if k else new
                error = _change(found, before)
                if error < GOAL:
                    break
        return found / found.sum(), float(error)

    def _normal(self, x: float) -> float:
        """Return the normal quantile of a value."""
        below, above = float(self.dist.cdf(x)), float(self.dist.sf(x))
        return float(special.ndtri(below) if below < above else -special.ndtri(above))

    def _panels(self, values: Values, ends: list[float], step: float, between: bool) -> Array:
        """Return the means by tanh-sinh quadrature between cuts, where a power of the distance may vanish.

        `between`: of the nodes between those of twice the step only.
        """
        total = np.zeros(2)
        place, weight = _tanh_sinh(step, between)
        for low, high in pairwise(ends):
            normal = low + (high - low) * place
            total += values(self._near(normal)) @ (weight * (high - low) * _bell(normal))
        return total


def find_lines(outers: Sequence[Outer]) -> None:
    """Find the variables of Betas at the fixed nodes all at once: each keeps its own."""
    alike: dict[str, list[Outer]] = {}
    for outer in dict.fromkeys(outers):
        if isinstance(outer.dist, Beta) and "line" not in vars(outer):
            alike.setdefault(outer.dist.link, []).append(outer)
    for some in alike.values():
        dist = stacked([outer.dist for outer in some])
        for outer, line in zip(some, Outer(dist, 0.0, 1.0).quantiles(LINE)[:, 0], strict=True):
            outer.line = line


def stacked(dists: Sequence[Any]) -> Any:
    """Return Betas of one link as one, (n, 1, 1); of others, which are all the same, the first."""
    first = dists[0]
    if not isinstance(first, Beta):
        return first
    a, b = (np.array([getattr(dist, part) for dist in dists]).reshape(-1, 1, 1) for part in "ab")
    return Beta(a, b, first.link)


def mean_on_line(at: Array) -> tuple[Array, Any]:
    """Return the means of values (..., 2, n) at the fixed nodes of any distribution, (..., 2), and their errors."""
    found = at @ _WEIGHTS
    return found, _change(found, at[..., 1::2] @ _HALF_WEIGHTS)


def _rising(found: Array) -> Array:
    """Return normal quantiles and places, (2, n), in order and as far as both rise."""
    found = found[:, np.argsort(found[1])]
    found = found[:, np.abs(found[0]) < _REACH + 0.5]
    return found[:, np.diff(np.maximum.accumulate(found[0]), prepend=-np.inf) > 1e-6]


def _change(found: Array, before: Array) -> Any:
    return np.abs(found - before).max(-1) / np.maximum(found.min(-1), _SMALL)


def _bell(z: Array) -> Array:
    return np.asarray(np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi))


@lru_cache
def _tanh_sinh(step: float, between: bool) -> tuple[Array, Array]:
    """Return places in (0, 1) and their weights; if `between`, every second."""
    t = (np.arange(-round(3.5 / step), round(3.5 / step) + 1) * step)[between :: 1 + between]
    place = special.expit(np.pi * np.sinh(t))
    return place, step * np.pi * np.cosh(t) * place * special.expit(-np.pi * np.sinh(t))
