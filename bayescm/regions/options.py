"""Options and counts of region(), band() and region_level(): checked once, said once."""

from collections.abc import Sequence
from typing import Any, TypedDict, get_args

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm.data import validate
from bayescm.data.assumptions import assumed
from bayescm.data.counts import check_counts
from bayescm.data.schema import CI_BOUND, DRAW, MATRIX, METRIC, as_read, attributes, labels_of
from bayescm.data.words import RegionMethod
from bayescm.inference.options import PosteriorOptions
from bayescm.priors.concentrations import PriorLike, concentrations, resolved_prior
from bayescm.regions.credible import Credible, Density
from bayescm.regions.grid import SPACES, Array, Space
from bayescm.regions.methods import Anytime, Ellipse, Exact, Method, Simulate, Wilks

METHODS = get_args(RegionMethod)
LEVELS: tuple[float, ...] = (0.683, 0.954, 0.997)
_KEPT = {name for space in SPACES.values() for name in (space.y, space.x)} | {
    "level", "point", "statistic", "p_value", "contains", "area", "area_change", "extent", "ring", "vertex",
    "undefined", METRIC, CI_BOUND, DRAW,
}  # fmt: skip
"""Names that results use themselves."""
_ASSUMES = {
    "pr": "a random sample of items; given TP + FP + FN the three are trinomial",
    "roc": "independent items in both classes; given the class totals TP and FP are binomial",
}


class MethodOptions(TypedDict, total=False):
    """What the methods of regions take: see :func:`bayescm.region`."""

    prior: PriorLike | None
    ordering: str | None
    mid_p: bool | None
    extra_cov: ArrayLike | None
    draws: int | None
    random_seed: int | np.random.Generator | None


class RegionOptions(PosteriorOptions, total=False):
    """What methods take, and of a region by draws how its posterior is made: see :func:`bayescm.region`."""

    ordering: str | None
    mid_p: bool | None
    extra_cov: ArrayLike | None


class Options:
    """How a result is made: checked options, the method they make, and the attrs that say so."""

    def __init__(
        self,
        space: str,
        method: str,
        levels: Sequence[float] | None,
        *,
        prior: PriorLike | None = None,
        ordering: str | None = None,
        mid_p: bool | None = None,
        extra_cov: ArrayLike | None = None,
        draws: int | None = None,
        random_seed: int | np.random.Generator | None = None,
    ) -> None:
        self.space: Space = SPACES[validate.choice("space", space, tuple(SPACES))]
        self.name = validate.choice("method", method, METHODS)
        if method in ("exact", "credible", "anytime") and not self.space.factors:
            raise ValueError(
                f"`method`={method!r} has no answer on space={space!r}, where the likelihood depends on the prevalence "
                "too; take 'wilks', 'ellipse' or 'simulate', or of a posterior method='credible' with two metrics, "
                "space=('predicted_prevalence', 'recall')."
            )
        wanted = [] if levels is None else sorted(checked_levels(levels))
        self.complete = max(wanted, default=0.0)
        options = {
            "prior": (prior, "credible", "anytime"), "ordering": (ordering, "credible"), "mid_p": (mid_p, "exact"),
            "extra_cov": (extra_cov, "ellipse"), "draws": (draws, "simulate"),
            "random_seed": (random_seed, "simulate"),
        }  # fmt: skip
        for option, (value, *owners) in options.items():
            if value is not None and method not in owners:
                theirs = " and ".join(map(repr, owners))
                raise ValueError(f"`{option}` is for method={theirs} and has no effect on {method!r}; leave it out.")
        self.prior: PriorLike = resolved_prior(prior)
        self.ordering = validate.choice("ordering", ordering or "relative_belief", ("relative_belief", "density"))
        if mid_p is not None and not isinstance(mid_p, bool | np.bool_):
            raise TypeError(f"`mid_p` must be True or False; got {mid_p!r}.")
        self.mid_p = bool(mid_p)
        self.extra = _covariance(extra_cov)
        self.draws = validate.positive_integer("draws", 10_000 if draws is None else draws)
        self.seed = validate.seed(random_seed) if method == "simulate" else 0
        of_levels = {} if levels is None else {"levels": wanted, "complete_level": self.complete}
        self.attrs = attributes(method=method, space=space, **of_levels, **self._settings(), assumptions=assumed())

    def _settings(self) -> dict[str, Any]:
        """Return the settings that belong to the method."""
        if self.name == "credible":
            return {"prior": self.prior, "ordering": self.ordering}
        if self.name == "anytime":
            return {"prior": self.prior, "assumes": _ASSUMES[self.space.name]}
        if self.name == "exact":
            return {"mid_p": self.mid_p, "assumes": _ASSUMES[self.space.name]}
        if self.name == "simulate":
            return {"draws": self.draws, "random_seed": self.seed}
        return {"extra_cov": self.extra} if self.name == "ellipse" and self.extra.any() else {}

    def method(self, counts: xr.DataArray) -> Method:
        """Return the method with its settings; the attrs name the positive class."""
        self.attrs |= as_read(counts)
        if self.name == "wilks":
            return Wilks(self.space)
        if self.name == "exact":
            return Exact(self.space, self.mid_p)
        if self.name == "ellipse":
            return Ellipse(self.space, self.extra)
        if self.name == "simulate":
            return Simulate(self.space, self.draws, self.seed)
        prior = concentrations(self.prior, "dirichlet_multinomial", labels_of(counts)).rows.reshape(4)
        if self.name == "anytime":
            return Anytime(self.space, prior)
        return (Density if self.ordering == "density" else Credible)(self.space, prior)


def checked_levels(levels: Sequence[float]) -> tuple[float, ...]:
    """Return levels as floats in (0, 1), in the order given."""
    given = [levels] if np.ndim(levels) == 0 else list(levels)
    if not given:
        raise ValueError("`levels` is empty; give at least one level such as 0.95.")
    found = [validate.number("levels", level, 0, 1) for level in given]
    validate.unique("levels", found)
    if max(found) > 1.0 - 1e-9:
        raise ValueError(f"`levels` must not exceed 1 - 1e-9; got {max(found)}.")
    return tuple(found)


def _covariance(extra: ArrayLike | None) -> Array:
    """Return a covariance to be added."""
    if extra is None:
        return np.zeros((2, 2))
    made = np.asarray(extra, dtype=np.float64)
    if made.shape != (2, 2) or not np.isfinite(made).all() or made[0, 1] != made[1, 0]:
        raise ValueError(f"`extra_cov` must be a symmetric matrix of shape (2, 2); got {made.tolist()}.")
    if np.linalg.eigvalsh(made).min() < -1e-12 * abs(made).max():
        raise ValueError(f"`extra_cov` must be a covariance: it has a negative eigenvalue; got {made.tolist()}.")
    return made


def two_labels(counts: Any) -> xr.DataArray:
    """Return counts of two labels whose batch dims leave the names of the planes free."""
    checked = check_counts(counts)
    if checked.sizes[MATRIX[0]] != 2:
        raise ValueError(
            f"`counts` must have two labels here; it has {checked.sizes[MATRIX[0]]}. Make one class against the rest."
        )
    taken = [name for name in (*checked.dims, *checked.coords) if name in _KEPT]
    if taken:
        raise ValueError(
            f"`counts` can't have a dim or coordinate {taken[0]!r} here: the result keeps that name. Rename or drop it."
        )
    return checked


def flat(cells: NDArray[Any]) -> Array:
    """Return cells (T, 4) in the order TN, FP, FN, TP as floats; values that are lazy are checked here."""
    counted = validate.count_values("counts", cells)
    return np.ascontiguousarray(counted.reshape(-1, 4).astype(np.float64))
