"""cell_summary(): mean, median, sd and interval of every cell's share."""

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm import distributions
from bayescm.data import validate
from bayescm.data.assumptions import assumed
from bayescm.data.counts import check_counts
from bayescm.data.inputs import takes_counts
from bayescm.data.schema import (
    ACTUAL,
    CI_BOUND,
    MATRIX,
    PREDICTED,
    attributes,
    by_matrix,
    interval_coordinate,
    labels_of,
    positive_class,
)
from bayescm.distributions import dirichlet
from bayescm.priors.concentrations import PriorLike, concentrations, resolved_prior

Array = NDArray[np.float64]


@takes_counts
def cell_summary(
    counts: Any,
    *,
    normalize: str = "actual",
    model: str = "dirichlet_multinomial",
    prior: PriorLike | None = None,
    ci_prob: float = 0.95,
    ci_kind: str = "hdi",
) -> xr.Dataset:
    """Summarise the posterior of every cell of the matrix, exactly.

    Parameters
    ----------
    counts : xarray.DataArray or array_like
        ``counts(..., actual, predicted)``.
    normalize : {"actual", "predicted", "all"}
        Share of the cell among the items of its actual class, of its predicted class, or of all. The last two need
        ``model="dirichlet_multinomial"``.
    model, prior, ci_prob, ci_kind
        As in :func:`summary`.

    Returns
    -------
    xarray.Dataset
        Over ``(..., actual, predicted)``: ``counts``, ``point``, ``mean``, ``median``, ``sd``, ``interval(ci_bound)``
        and ``ci_kind`` (as in :func:`summary`).

    Examples
    --------
    >>> import bayescm
    >>> cells = bayescm.cell_summary([[6, 2], [0, 26]], model="three_binomial", prior="laplace")
    >>> cells["mean"].values.round(3)
    array([[0.7  , 0.3  ],
           [0.036, 0.964]])
    """
    prior = resolved_prior(prior)
    counts = check_counts(counts)
    labels = labels_of(counts)
    axis = {"actual": (-1,), "predicted": (-2,), "all": (-2, -1)}[
        validate.choice("normalize", normalize, ("actual", "predicted", "all"))
    ]
    base = concentrations(prior, model, labels)
    if normalize != "actual" and not base.one_dirichlet:
        raise ValueError("`normalize` must be 'actual' under model='three_binomial' (only its rows are Dirichlet).")
    prob = validate.number("ci_prob", ci_prob, 0, 1)
    kind = validate.choice("ci_kind", ci_kind, ("hdi", "eti"))

    def kernel(values: NDArray[Any], _: NDArray[np.int64]) -> Array:
        whole = validate.count_values("counts", values)
        posterior = dirichlet.posterior(whole, base)
        dirichlet.check_proper(posterior, labels)
        a = posterior.rows
        dist = distributions.Beta(a, _rest(a, axis))
        lower, upper, is_hdi = dist.hdi(prob) if kind == "hdi" else (*dist.eti(prob), np.zeros(a.shape, bool))
        with np.errstate(invalid="ignore"):
            point = whole / whole.sum(axis, keepdims=True)
        return np.stack([point, dist.mean(), dist.ppf(0.5), dist.sd(), lower, upper, is_hdi], axis=-1)

    renamed = {"row": ACTUAL, "column": PREDICTED}
    table = by_matrix(kernel, counts, {"row": len(labels), "column": len(labels), "statistic": 7}).rename(renamed)
    table = table.assign_coords({dim: counts[dim] for dim in MATRIX})
    bound = interval_coordinate(prob, kind)
    interval = table.isel(statistic=slice(4, 6)).rename(statistic=CI_BOUND).assign_coords({CI_BOUND: bound})
    names = ("point", "mean", "median", "sd")
    return xr.Dataset(
        {
            "counts": counts,
            **{name: table.isel(statistic=i) for i, name in enumerate(names)},
            "interval": interval,
            "ci_kind": xr.where(table.isel(statistic=6) > 0, "hdi", "eti"),  # type: ignore[no-untyped-call]
        },
        attrs=attributes(
            model=model,
            prior=prior,
            normalize=normalize,
            ci_prob=prob,
            ci_kind=kind,
            assumptions=assumed(),
            **positive_class(counts),
        ),
    )


def _rest(a: Array, axis: tuple[int, ...]) -> Array:
    """Return, for each cell, the sum of the others along the axes, without a subtraction."""
    k = a.shape[-1]
    others = 1.0 - np.eye(k)
    if axis == (-1,):
        return np.asarray(a @ others)
    if axis == (-2,):
        return np.asarray(others @ a)
    flat = a.reshape(*a.shape[:-2], k * k)
    return np.asarray((flat @ (1.0 - np.eye(k * k))).reshape(a.shape))
