"""A mixture of distributions of one number: with given probabilities it has one of several."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayescm.distributions.beta import Beta
from bayescm.distributions.protocol import Distribution

Array = NDArray[np.float64]

_SAME = 1e-14  # relative


@dataclass(frozen=True, slots=True, eq=False)
class Mixed(Distribution):
    """The mixture of distributions.

    Attributes
    ----------
    parts : Distribution
        Over (M,).
    weight : ndarray of shape (M,)
        Their probabilities.
    """

    parts: Distribution
    weight: Array
    words: ClassVar[str] = "a mixture"

    @classmethod
    def of(cls, parts: Distribution, weight: Array) -> Distribution:
        """Return the mixture; Betas that are the same count once."""
        if isinstance(parts, Beta):
            a, b = (np.broadcast_to(one, weight.shape) for one in (parts.a, parts.b))
            (a, b), which = np.unique(np.stack([a, b]), axis=1, return_inverse=True)
            parts, weight = Beta(a, b, parts.link), np.bincount(which.ravel(), weight)
        return parts.at(0) if len(weight) == 1 else cls(parts, weight / weight.sum())

    @property
    def worst(self) -> float:  # noqa: D102
        return self.parts.worst

    def _mean_of(self, value: Any, x: Any) -> Any:
        return np.asarray(value(np.asarray(x, np.float64)[..., None]) @ self.weight)[()]

    def pdf(self, x: Any) -> Any:  # noqa: D102
        return self._mean_of(self.parts.pdf, x)

    def cdf(self, x: Any) -> Any:  # noqa: D102
        return self._mean_of(self.parts.cdf, x)

    def sf(self, x: Any) -> Any:  # noqa: D102
        return self._mean_of(self.parts.sf, x)

    def error(self, x: Any) -> Any:  # noqa: D102
        return self._mean_of(self.parts.error, x)

    def warn_undefined(self, name: str) -> None:  # noqa: D102
        self.parts.warn_undefined(name)

    def ppf(self, p: Any) -> Any:
        """Return the quantile at `p`, between the least and the largest of the parts."""
        return self._quantile(p, self.parts.ppf, self.cdf, 1.0)

    def isf(self, q: Any) -> Any:  # noqa: D102
        return self._quantile(q, self.parts.isf, self.sf, -1.0)

    def _quantile(self, p: Any, of_parts: Any, tail: Any, sign: float) -> Any:
        """Invert a tail between the quantiles of the parts."""
        from scipy.optimize import elementwise  # late: it imports much

        p = np.asarray(p, np.float64)
        each = of_parts(p[..., None] + np.zeros_like(self.weight))
        low, high = each.min(-1), each.max(-1)
        same = high - low <= _SAME * high
        found = elementwise.find_root(
            lambda x, p: sign * (tail(x) - p), (low, np.where(same, high + _SAME, high)), args=(p,)
        )
        return np.where(same | ~found.success, np.where(same, low, np.nan), found.x)[()]

    def mean(self) -> Any:  # noqa: D102
        return float(self.parts.mean() @ self.weight)

    def sd(self) -> Any:  # noqa: D102
        means, sds = self.parts.mean(), self.parts.sd()
        return float(np.sqrt((sds**2 + (means - means @ self.weight) ** 2) @ self.weight))
