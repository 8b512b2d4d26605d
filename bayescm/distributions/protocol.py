"""What every distribution of a number can be asked for, by one spelling."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np


class Distribution(ABC):
    """The distribution of one number per matrix of a batch; what has no batch takes and returns plain numbers.

    Axes of an argument before those of the batch are more points for each matrix.
    """

    __slots__ = ()

    @abstractmethod
    def pdf(self, x: Any) -> Any:
        """Return the density."""

    @abstractmethod
    def cdf(self, x: Any) -> Any:
        """Return P(X <= x)."""

    @abstractmethod
    def sf(self, x: Any) -> Any:
        """Return P(X > x), precisely where it is small."""

    @abstractmethod
    def ppf(self, p: Any) -> Any:
        """Return the quantile at `p`."""

    @abstractmethod
    def mean(self) -> Any:
        """Return the mean."""

    @abstractmethod
    def sd(self) -> Any:
        """Return the standard deviation."""

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

    def interval(self, prob: float, kind: str) -> tuple[Any, Any]:
        """Return the interval of a kind, "hdi" or "eti"."""
        return self.hdi(prob)[:2] if kind == "hdi" else self.eti(prob)

    def statistics(self, prob: float, kind: str) -> dict[str, Any]:
        """Return mean, median, sd, lower, upper and whether the interval is a highest-density one."""
        lower, upper, is_hdi = self.hdi(prob) if kind == "hdi" else (*self.eti(prob), False)
        found = {"mean": self.mean(), "median": self.median(), "sd": self.sd(), "lower": lower, "upper": upper}
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

    def pdf(self, x: Any) -> Any:  # noqa: D102
        return self._at(x, "densities")[..., 2]

    def error(self, x: Any) -> Any:
        """Return the change of cdf and sf at x at the last halving, relatively."""
        return self._at(x, "probabilities")[..., 3]

    def ppf(self, p: Any) -> Any:  # noqa: D102
        return self._at(p, "quantiles")[..., 0]
