"""Probabilities left of, inside and right of a region of practical equivalence (rope)."""

from typing import Any

import numpy as np
import xarray as xr

from bayescm.data import validate
from bayescm.data.schema import attributes
from bayescm.models.closed_form import ClosedForm

SIDE = "side"
SIDES = ("worse", "equivalent", "better")


def rope_probabilities(posterior: Any, rope: float, *, variable: str = "mean_difference") -> xr.Dataset:
    """Return how probable a difference below, inside and above the rope is.

    Parameters
    ----------
    posterior : ClosedForm, distribution, xarray.DataTree or xarray.Dataset
        A closed form (its distribution of `variable` is used, no draws), anything with ``cdf``, or draws. Draws of the
        hierarchy of ``models/fold_scores.py`` (with ``sigma0`` and ``nu``) also tell of the next data set.
    rope : float
        Differences from -`rope` to `rope` count as none; in the unit of the scores.
    variable : str

    Returns
    -------
    xarray.Dataset
        Over ``side`` (worse, equivalent, better; a positive difference is better): the `variable`. For the hierarchy
        also ``next_dataset``, the probabilities of the difference on a data set to come, and ``largest``, the share of
        draws in which each side is the likeliest for that data set (what Corani et al. 2017 and baycomp report).

    References
    ----------
    Corani and Benavoli 2015; Corani, Benavoli, Demsar, Mangili and Zaffalon 2017, section 4.

    Examples
    --------
    >>> from scipy import stats
    >>> import bayescm
    >>> bayescm.models.rope_probabilities(stats.t(9, loc=1.0, scale=0.5), rope=0.5).mean_difference.values.round(3)
    array([0.007, 0.164, 0.828])
    """
    rope = validate.number("rope", rope, 0, np.inf, closed=True)
    if not np.isfinite(rope):
        raise ValueError(f"`rope` must be finite; got {rope}.")
    if isinstance(posterior, ClosedForm):
        posterior = _named(posterior.distributions, variable)
    if hasattr(posterior, "cdf"):
        if np.ndim(posterior.cdf(0.0)):
            raise ValueError("`posterior` must be one distribution; got a batch of them. Select one.")
        return _dataset({variable: sides(posterior, rope)}, rope)
    if isinstance(posterior, xr.DataTree):
        if "posterior" not in posterior.children:
            raise ValueError(f"`posterior` has no group 'posterior'; it has {sorted(posterior.children)}.")
        posterior = posterior["posterior"].to_dataset()
    if not isinstance(posterior, xr.Dataset):
        raise TypeError(
            f"`posterior` must be an exact posterior or draws (Dataset, DataTree); got {type(posterior).__name__}."
        )
    draws = _named(posterior, variable).values.ravel()
    out = {variable: np.array([(draws < -rope).mean(), (np.abs(draws) <= rope).mean(), (draws > rope).mean()])}
    if variable == "mean_difference" and {"nu", "sigma0"} <= set(posterior):
        from scipy import stats

        each = sides(stats.t(posterior["nu"].values.ravel(), draws, posterior["sigma0"].values.ravel()), rope)
        out["next_dataset"] = each.mean(1)
        out["largest"] = np.bincount(each.argmax(0), minlength=3) / len(draws)
    return _dataset(out, rope)


def _named(group: Any, variable: str) -> Any:
    if variable not in group:
        raise ValueError(f"`variable` must be one of {', '.join(map(str, group))}; got {variable!r}.")
    return group[variable]


def sides(dist: Any, rope: float) -> Any:
    """Return the three probabilities of a distribution (or of distributions) as an array of shape (3, ...)."""
    left, right = dist.cdf(-rope), dist.sf(rope) if hasattr(dist, "sf") else 1 - dist.cdf(rope)
    return np.stack([left, np.maximum(1 - left - right, 0), right])


def _dataset(values: dict[str, Any], rope: float) -> xr.Dataset:
    variables = {name: (SIDE, value) for name, value in values.items()}
    return xr.Dataset(variables, coords={SIDE: list(SIDES)}, attrs=attributes(rope=rope))
