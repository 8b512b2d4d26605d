"""What every distribution of a number can be asked for, by one spelling."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

_EQUAL = 0.5e-12  # half a unit of the twelfth decimal: values that differ by less are equal
_COMPARED = {">": (np.greater, 1), ">=": (np.greater_equal, -1), "<": (np.less, -1), "<=": (np.less_equal, 1)}


class Side(NamedTuple):
    """The probability that a variable lies on one side of a number."""

    probability: Any
    error: Any
    """Estimated, relative to the smaller of it and its complement; NaN of draws."""
    mcse: Any
    """Monte Carlo standard error: 0 where no draws were made."""


class Distribution(ABC):
    """The distribution of one number per matrix of a batch; what has no batch takes and returns plain numbers.

    Axes of an argument before those of the batch are more points for each matrix.

    Attributes
    ----------
    words : str
        What it is, for people.
    worst : float
        The largest estimated error of the cdf, of any matrix; 0 for a closed form.
    concentrations : tuple of two ndarrays, or None
        Of a Beta variable, and of nothing else.
    has_density : bool
        Whether single numbers have no probability, and those between them some.
    """

    __slots__ = ()
    words: ClassVar[str] = "by its function"
    has_density: ClassVar[bool] = True

    @property
    def worst(self) -> float:  # noqa: D102
        return 0.0

    @property
    def concentrations(self) -> tuple[Any, Any] | None:  # noqa: D102
        return None

    @abstractmethod
    def pdf(self, x: Any) -> Any:
        """Return the density."""

    @abstractmethod
    def cdf(self, x: Any) -> Any:
        """Return P(X <= x)."""

    @abstractmethod
    def sf(self, x: Any) -> Any:
        """Return P(X > x), precisely where it is small."""

    def tails(self, x: Any) -> tuple[Any, Any]:
        """Return P(X <= x) and P(X > x)."""
        return self.cdf(x), self.sf(x)

    @abstractmethod
    def ppf(self, p: Any) -> Any:
        """Return the quantile at `p`."""

    @abstractmethod
    def mean(self) -> Any:
        """Return the mean."""

    @abstractmethod
    def sd(self) -> Any:
        """Return the standard deviation."""

    def warn_undefined(self, name: str) -> None:  # noqa: B027
        """Warn where what is known leaves a metric called `name` without a value."""

    def at(self, *place: Any) -> Self:
        """Return the distribution at a place of the batch, given as an index of an array is."""
        if place not in ((), (...,)):
            raise IndexError(f"{type(self).__name__} has no batch.")
        return self

    def minus(self, other: "Distribution") -> "Distribution | None":
        """Return the distribution of X - Y with Y, which has the other, independent of X; None where it isn't known."""
        return None

    def side(self, x: Any, sign: str) -> Side:
        """Return the probability of ``X > x``, or of what another `sign` says: ">", ">=", "<" or "<="."""
        at = np.nextafter(x, -np.inf) if sign == "<" else x
        found = self.sf(x) if sign[0] == ">" else self.cdf(at)
        return Side(found, self.error(x), np.zeros(np.shape(found)))

    def isf(self, q: Any) -> Any:
        """Return the quantile with the probability `q` above it."""
        return self.ppf(1.0 - np.asarray(q))

    def median(self) -> Any:
        """Return the median."""
        return self.ppf(0.5)

    def error(self, x: Any) -> Any:
        """Return an estimate of the relative error of cdf and sf at x: 0 for a closed form."""
        return np.zeros(np.shape(self.cdf(x)))

    def eti(self, prob: float) -> tuple[Any, Any]:
        """Return the equal-tailed interval."""
        left = 0.5 * (1.0 - prob)
        return self.ppf(left), self.ppf(left + prob)

    def hdi(self, prob: float) -> tuple[Any, Any, Any]:
        """Return the highest-density interval, and where it is one: here the shortest, of one number."""
        from scipy.optimize import minimize_scalar

        def width(left: float) -> float:
            return float(self.ppf(left + prob) - self.ppf(left))

        options = {"xatol": 1e-4 * (1.0 - prob)}
        left = float(minimize_scalar(width, bounds=(0.0, 1.0 - prob), method="bounded", options=options).x)
        return self.ppf(left), self.ppf(left + prob), True

    def to_tabulate(self) -> Any:
        """Return the same where no tail is asked for relatively, if that is sooner found."""
        return self

    def on_grid(self, x: Any) -> tuple[Any, Any]:
        """Return cdf and pdf at many x, no tail relatively."""
        return self.cdf(x), self.pdf(x)

    def interval(self, prob: float, kind: str) -> tuple[Any, Any]:
        """Return the interval of a kind, "hdi" or "eti"."""
        return self.hdi(prob)[:2] if kind == "hdi" else self.eti(prob)

    def median_and_interval(self, prob: float, kind: str) -> tuple[Any, Any, Any]:
        """Return the median and the bounds of an interval, which may be found together."""
        return self.median(), *self.interval(prob, kind)

    def statistics(self, prob: float, kind: str) -> dict[str, Any]:
        """Return mean, median, sd, lower, upper, is_hdi, and what isn't 0 of error, mcse_mean, mcse_lower, mcse_upper.

        `is_hdi`: whether the interval is a highest-density one. `error`: the estimated relative error of the
        probabilities behind the interval, NaN of draws. The others are Monte Carlo standard errors.
        """
        if kind == "hdi":
            median, (lower, upper, is_hdi) = self.median(), self.hdi(prob)
        else:
            (median, lower, upper), is_hdi = self.median_and_interval(prob, kind), False
        found = {"mean": self.mean(), "median": median, "sd": self.sd(), "lower": lower, "upper": upper}
        return found | {"is_hdi": np.broadcast_to(is_hdi, np.shape(lower))}


class Summarised(Distribution):
    """A distribution whose statistics are found together."""

    __slots__ = ()

    @abstractmethod
    def statistics(self, prob: float, kind: str) -> dict[str, Any]:
        """Return mean, median, sd, lower, upper, is_hdi, and perhaps the relative error of the probabilities."""

    def mean(self) -> Any:  # noqa: D102
        return self.statistics(0.5, "eti")["mean"]

    def sd(self) -> Any:  # noqa: D102
        return self.statistics(0.5, "eti")["sd"]

    def eti(self, prob: float) -> tuple[Any, Any]:  # noqa: D102
        found = self.statistics(prob, "eti")
        return found["lower"], found["upper"]

    def hdi(self, prob: float) -> tuple[Any, Any, Any]:
        """Return the highest-density interval, and where it is one: else it is equal-tailed."""
        found = self.statistics(prob, "hdi")
        return found["lower"], found["upper"], found["is_hdi"]


class Evaluated(Summarised):
    """A distribution whose probabilities, or quantiles, are found together with their errors."""

    __slots__ = ()

    @abstractmethod
    def _at(self, x: Any, what: str) -> Any:
        """Return cdf, sf, density and error at x; or ("quantiles") the quantile. The density only of "densities"."""

    def cdf(self, x: Any) -> Any:  # noqa: D102
        return self._at(x, "probabilities")[..., 0]

    def sf(self, x: Any) -> Any:  # noqa: D102
        return self._at(x, "probabilities")[..., 1]

    def tails(self, x: Any) -> tuple[Any, Any]:  # noqa: D102
        found = self._at(x, "probabilities")
        return found[..., 0], found[..., 1]

    def pdf(self, x: Any) -> Any:  # noqa: D102
        return self.on_grid(x)[1]

    def on_grid(self, x: Any) -> tuple[Any, Any]:  # noqa: D102
        found = self.to_tabulate()._at(x, "densities")
        return found[..., 0], found[..., 2]

    def error(self, x: Any) -> Any:
        """Return the change of cdf and sf at x at the last halving, relatively."""
        return self._at(x, "probabilities")[..., 3]

    def ppf(self, p: Any) -> Any:  # noqa: D102
        return self._at(p, "quantiles")[..., 0]


def holds(values: ArrayLike, sign: str, number: ArrayLike) -> NDArray[np.bool_]:
    """Compare values that agree to twelve decimals as equal."""
    compare, above = _COMPARED[sign]
    return np.asarray(compare(np.asarray(values) - number, above * _EQUAL))


def placed(values: Any, batch: tuple[int, ...], place: tuple[Any, ...], *, parts: bool = False) -> Any:
    """Return parameters at a place of a batch; with `parts` their last axis is no axis of the batch."""
    values = np.asarray(values)
    own = values.shape[-1:] if parts else ()
    return np.broadcast_to(values, (*batch, *own))[(*place, slice(None)) if parts else place]
