"""Statistics of independent draws, with their Monte Carlo errors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.needs import need
from bayescm.distributions.protocol import Distribution, Side, holds, placed

Array = NDArray[np.float64]

_BATCHES = 16


@dataclass(frozen=True, slots=True, eq=False)
class Draws(Distribution):
    """A distribution known by independent draws.

    Attributes
    ----------
    values : ndarray of shape (..., n)
    exact_mean : ndarray of shape (...), optional
        The mean, where it is known without draws.
    order : ndarray of shape (...)
        Moments of this order and above are infinite, whatever the draws say: 1 the mean, 2 the variance.
    """

    values: Array
    exact_mean: Array | None = None
    order: Array | float = np.inf
    words: ClassVar[str] = "by draws"
    has_density: ClassVar[bool] = False

    def at(self, *place: Any) -> Self:  # noqa: D102
        batch = self.values.shape[:-1]
        mean = None if self.exact_mean is None else placed(self.exact_mean, batch, place)
        return replace(
            self, values=self.values[(*place, slice(None))], exact_mean=mean, order=placed(self.order, batch, place)
        )

    def warn_undefined(self, name: str) -> None:  # noqa: D102
        warn_undefined({name: self.values})

    def side(self, x: Any, sign: str) -> Side:
        """Return the share of draws on a side of x; values that agree to twelve decimals are equal."""
        share = holds(self.values, sign, np.asarray(x)[..., None]).mean(-1)
        return Side(share, np.full(share.shape, np.nan), share_error(share, self.values.shape[-1]))

    def pdf(self, x: Any) -> Array:
        """Return the share of draws near x per unit."""
        near = self.sd() * self.values.shape[-1] ** -0.2
        return np.asarray((self.cdf(x + near) - self.cdf(x - near)) / (2.0 * near))

    def cdf(self, x: Any) -> Array:
        """Return the share of draws up to x."""
        return np.asarray((self.values <= np.asarray(x)[..., None]).mean(-1))

    def sf(self, x: Any) -> Array:
        """Return the share of draws above x."""
        return np.asarray((self.values > np.asarray(x)[..., None]).mean(-1))

    def ppf(self, p: Any) -> Array:
        """Return the quantile at `p`; further axes of `p` come first."""
        return np.asarray(np.quantile(self.values, p, axis=-1))

    def mean(self) -> Array:  # noqa: D102
        return np.asarray(self.values.mean(-1))

    def sd(self) -> Array:  # noqa: D102
        return np.asarray(self.values.std(-1))

    def error(self, x: Any) -> Array:
        """Return the Monte Carlo standard error of cdf and sf at x, relative to the smaller of them."""
        share, n = self.cdf(x), self.values.shape[-1]
        return np.asarray(share_error(share, n) / np.maximum(np.minimum(share, 1.0 - share), 1.0 / n))

    def eti(self, prob: float) -> tuple[Array, Array]:  # noqa: D102
        return interval(np.sort(self.values, axis=-1), prob, "eti")

    def hdi(self, prob: float) -> tuple[Array, Array, bool]:
        """Return the narrowest interval with enough draws."""
        return *interval(np.sort(self.values, axis=-1), prob, "hdi"), True

    def statistics(self, prob: float, kind: str) -> dict[str, Array]:
        """Return mean, median, sd and interval and their Monte Carlo errors; at least 160 draws or so are needed.

        Returns
        -------
        dict of str to ndarray
            ``mean median sd lower upper is_hdi`` and ``error mcse_mean mcse_lower mcse_upper``, each of shape (...).
            The errors of the bounds come from 16 batches of the draws; those of narrowest intervals shrink with the
            cube root of n. All but `is_hdi` are NaN where a draw is, `error` everywhere.
        """
        draws = self.values
        ordered = np.sort(draws, axis=-1)
        n = draws.shape[-1] // _BATCHES * _BATCHES
        batches = np.sort(draws[..., :n].reshape(*draws.shape[:-1], _BATCHES, -1), axis=-1)
        with np.errstate(invalid="ignore"):  # infinite draws: inf - inf
            sd = draws.std(-1)
            lower, upper = interval(ordered, prob, kind)
            undefined = np.isnan(ordered[..., -1])  # NaN sorts last
            lower, upper = np.where(undefined, np.nan, lower), np.where(undefined, np.nan, upper)
            rate = 1 / 2 if kind == "eti" else 1 / 3  # the ends of a narrowest interval converge more slowly
            errors = [bound.std(-1, ddof=1) / _BATCHES**rate for bound in interval(batches, prob, kind)]
        mean, mcse = draws.mean(-1), sd / np.sqrt(draws.shape[-1])
        if self.exact_mean is not None:
            mean, mcse = np.asarray(self.exact_mean), np.zeros(np.shape(mean))
        return {
            "mean": np.where(self.order <= 1.0, np.inf, mean),
            "median": np.median(ordered, axis=-1),
            "sd": np.where(self.order <= 1.0, np.nan, np.where(self.order <= 2.0, np.inf, sd)),
            "lower": lower,
            "upper": upper,
            "is_hdi": np.full(np.shape(lower), kind == "hdi"),
            "error": np.full(np.shape(lower), np.nan),
            "mcse_mean": np.where(self.order <= 2.0, np.nan, mcse),
            "mcse_lower": errors[0],
            "mcse_upper": errors[1],
        }


def interval(ordered: Array, ci_prob: float, ci_kind: str) -> tuple[Array, Array]:
    """Return the narrowest ("hdi") or the equal-tailed ("eti") interval of sorted draws."""
    if ci_kind == "eti":
        lower, upper = np.quantile(ordered, [(1 - ci_prob) / 2, (1 + ci_prob) / 2], axis=-1)
        return lower, upper
    n = ordered.shape[-1]
    inside = min(int(np.ceil(ci_prob * n)), n - 1)
    widths = ordered[..., inside:] - ordered[..., : n - inside]
    start = np.argmin(np.where(np.isnan(widths), np.inf, widths), axis=-1)[..., None]
    lower, upper = (np.take_along_axis(ordered, at, -1)[..., 0] for at in (start, start + inside))
    return lower, upper


def bounds(draws: Array, prob: float, *, among: bool = False) -> Array:
    """Return lower end, median and upper end (3, ...) of the equal-tailed interval of draws (..., n).

    On request they are draws themselves. NaN where a draw is.
    """
    at = [0.5 * (1 - prob), 0.5, 0.5 * (1 + prob)]
    with np.errstate(invalid="ignore"):  # infinite draws
        found = np.quantile(draws, at, axis=-1, method="inverted_cdf" if among else "linear")
    return np.where(np.isnan(draws).any(-1), np.nan, found)


def share_error(share: Array | float, n: int) -> Array:
    """Return the Monte Carlo standard error of shares of n draws, one draw's worth where they are 0 or 1."""
    near = (np.asarray(share) * n + 1.0) / (n + 2.0)
    return np.asarray(np.sqrt(near * (1.0 - near) / n))


@dataclass(frozen=True, slots=True, eq=False)
class Chains(Draws):
    """Draws of a sampler's chains, one chain after the other, which depend on one another: errors by ArviZ.

    Attributes
    ----------
    chains : int
    """

    chains: int = 1

    def _mcse(self, values: Array, **how: Any) -> Array:
        """Return Monte Carlo standard errors of values (..., chain and draw)."""
        array_stats = need("arviz_stats.base", "The error of a sampler's draws").array_stats
        by_chain = values.reshape(*values.shape[:-1], self.chains, -1)
        found = array_stats.mcse(by_chain, chain_axis=-2, draw_axis=-1, **how)
        return np.asarray(found)

    def side(self, x: Any, sign: str) -> Side:
        """Return the share of draws on a side of x, with an error by their effective number."""
        held = holds(self.values, sign, np.asarray(x)[..., None])
        share, n = held.mean(-1), held.shape[-1]
        error = self._mcse(held.astype(np.float64), method="mean")
        return Side(share, np.full(share.shape, np.nan), np.fmax(error, share_error(share, n)))

    def statistics(self, prob: float, kind: str) -> dict[str, Array]:
        """Return what :meth:`Draws.statistics` does, with errors for chains."""
        found = Draws.statistics(self, prob, kind)
        found["mcse_mean"] = np.fmax(found["mcse_mean"], self._mcse(self.values, method="mean"))
        for end, tail in (("mcse_lower", 0.5 - 0.5 * prob), ("mcse_upper", 0.5 + 0.5 * prob)):
            found[end] = np.fmax(found[end], self._mcse(self.values, method="quantile", prob=tail))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Each(Distribution):
    """One distribution of each matrix of a batch.

    Attributes
    ----------
    of : tuple of Distribution
        In the order of the batch; of classes, too, all have the same.
    batch : tuple of int
    """

    of: tuple[Distribution, ...]
    batch: tuple[int, ...]

    def _all(self, values: Sequence[Any]) -> Array:
        found = np.stack([np.asarray(value) for value in values])
        return found.reshape((*self.batch, *found.shape[1:]))

    @property
    def worst(self) -> float:  # noqa: D102
        return max(one.worst for one in self.of)

    @property
    def has_density(self) -> bool:  # type: ignore[override]  # noqa: D102
        return all(one.has_density for one in self.of)

    def at(self, *place: Any) -> Distribution:  # type: ignore[override]  # noqa: D102
        index = np.arange(len(self.of)).reshape(self.batch)
        if place and place[0] is Ellipsis:  # a class of each
            return replace(self, of=tuple(one.at(*place) for one in self.of))
        some, classes = index[place[: len(self.batch)]], place[len(self.batch) :]
        parts = tuple(self.of[i].at(*classes) for i in some.flat)
        return parts[0] if some.ndim == 0 else Each(parts, some.shape)

    def _spread(self, name: str, x: Any) -> Array:
        """Call a method of each at x, whose last axes are those of the batch (and the classes); others are points."""
        classes = np.shape(self.of[0].mean())
        shape = np.broadcast_shapes(np.shape(x), (*self.batch, *classes))
        points = np.broadcast_to(x, shape).reshape(-1, len(self.of), *classes)
        found = [getattr(one, name)(points[:, i]) for i, one in enumerate(self.of)]
        return np.stack(found, 1).reshape(shape)

    def pdf(self, x: Any) -> Array:  # noqa: D102
        return self._spread("pdf", x)

    def cdf(self, x: Any) -> Array:  # noqa: D102
        return self._spread("cdf", x)

    def sf(self, x: Any) -> Array:  # noqa: D102
        return self._spread("sf", x)

    def ppf(self, p: Any) -> Array:  # noqa: D102
        return self._spread("ppf", p)

    def error(self, x: Any) -> Array:  # noqa: D102
        return self._spread("error", x)

    def mean(self) -> Array:  # noqa: D102
        return self._all([one.mean() for one in self.of])

    def sd(self) -> Array:  # noqa: D102
        return self._all([one.sd() for one in self.of])

    def eti(self, prob: float) -> tuple[Array, Array]:  # noqa: D102
        lower, upper = zip(*(one.eti(prob) for one in self.of), strict=True)
        return self._all(lower), self._all(upper)

    def warn_undefined(self, name: str) -> None:  # noqa: D102
        for one in self.of:
            one.warn_undefined(name)

    def side(self, x: Any, sign: str) -> Side:  # noqa: D102
        return Side(*(self._all(part) for part in zip(*(one.side(x, sign) for one in self.of), strict=True)))

    def statistics(self, prob: float, kind: str) -> dict[str, Array]:  # noqa: D102
        found = [one.statistics(prob, kind) for one in self.of]
        return {name: self._all([one.get(name, 0.0) for one in found]) for name in set().union(*found)}


def warn_undefined(values: Mapping[str, Array]) -> None:
    """Warn in words where draws leave a metric undefined; `values` maps names to draws."""
    with np.errstate(invalid="ignore", over="ignore"):  # one pass, nothing allocated
        suspects = {name: draws for name, draws in values.items() if np.isnan(draws.sum())}
    undefined = {name: int(np.isnan(draws).sum()) for name, draws in suspects.items()}
    if not undefined:
        return
    worst = max(undefined, key=lambda name: undefined[name])
    if undefined[worst]:
        validate.warn(
            f"{undefined[worst]} draws leave {worst} undefined. For a metric of the table: a class has no items, and "
            "its concentrations are so small that its probabilities underflow (0/0); take a prior with larger ones."
        )
