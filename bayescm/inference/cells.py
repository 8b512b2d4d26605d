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
    as_read,
    attributes,
    by_matrix,
    interval_coordinate,
    labels_of,
)
from bayescm.distributions import dirichlet
from bayescm.inference import multinomial
from bayescm.priors.concentrations import PriorLike, concentrations, resolved_prior

Array = NDArray[np.float64]

SIMULTANEOUS = {"goodman": multinomial.goodman, "sison_glaz": multinomial.sison_glaz}


@takes_counts
def cell_summary(
    counts: Any,
    *,
    normalize: str = "actual",
    model: str = "dirichlet_multinomial",
    prior: PriorLike | None = None,
    ci_prob: float = 0.95,
    ci_kind: str = "eti",
    simultaneous: str | None = None,
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
    simultaneous : {"goodman", "sison_glaz"}, optional
        Confidence intervals that hold all shares of a sample at once: of a row, of a column or of the whole matrix, as
        `normalize` says. "goodman" is Wilson's at the level 1 - (1 - `ci_prob`)/cells and holds what it says;
        "sison_glaz" is shorter, and holds less: by a point or two with ten items in every cell, by far more with fewer.

    Returns
    -------
    xarray.Dataset
        Over ``(..., actual, predicted)``: ``counts``, ``point``, ``mean``, ``median``, ``sd``, ``interval(ci_bound)``
        and ``ci_kind`` (as in :func:`summary`). With `simultaneous` also ``simultaneous_interval(ci_bound)``.

    Raises
    ------
    ValueError
        If `normalize` doesn't go with the model.

    Warns
    -----
    UserWarning
        Where "sison_glaz" has intervals without length, as all items are in one cell.

    References
    ----------
    Goodman 1965, Technometrics 7, 247-254; Sison and Glaz 1995, JASA 90, 366-369.

    Examples
    --------
    >>> import bayescm
    >>> cells = bayescm.cell_summary([[6, 2], [0, 26]], model="three_binomial", prior="laplace")
    >>> cells["mean"].values.round(3)
    array([[0.7  , 0.3  ],
           [0.036, 0.964]])
    >>> together = bayescm.cell_summary([[6, 2], [0, 26]], normalize="all", simultaneous="goodman")
    >>> together["simultaneous_interval"].sel(actual=1, predicted=1).values.round(3)
    array([0.552, 0.896])
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
    kind = validate.choice("ci_kind", ci_kind, ("eti", "hdi"))
    if simultaneous is not None:
        validate.choice("simultaneous", simultaneous, SIMULTANEOUS)

    def kernel(values: NDArray[Any], _: NDArray[np.int64]) -> Array:
        whole = validate.count_values("counts", values)
        posterior = dirichlet.posterior(whole, base)
        dirichlet.check_proper(posterior, labels)
        a = posterior.rows
        dist = distributions.Beta(a, _rest(a, axis))
        lower, upper, is_hdi = dist.hdi(prob) if kind == "hdi" else (*dist.eti(prob), np.zeros(a.shape, bool))
        with np.errstate(invalid="ignore"):
            point = whole / whole.sum(axis, keepdims=True)
        more = [] if simultaneous is None else _together(whole, axis, simultaneous, prob)
        return np.stack([point, dist.mean(), dist.ppf(0.5), dist.sd(), lower, upper, is_hdi, *more], axis=-1)

    renamed = {"row": ACTUAL, "column": PREDICTED}
    sizes = {"row": len(labels), "column": len(labels), "statistic": 7 if simultaneous is None else 9}
    table = by_matrix(kernel, counts, sizes).rename(renamed).assign_coords({dim: counts[dim] for dim in MATRIX})
    bound = interval_coordinate(prob, kind)

    def ends(at: int) -> xr.DataArray:
        return table.isel(statistic=slice(at, at + 2)).rename(statistic=CI_BOUND).assign_coords({CI_BOUND: bound})

    found = xr.Dataset(
        {
            "counts": counts,
            **{name: table.isel(statistic=i) for i, name in enumerate(("point", "mean", "median", "sd"))},
            "interval": ends(4),
            "ci_kind": xr.where(table.isel(statistic=6) > 0, "hdi", "eti"),  # type: ignore[no-untyped-call]
        },
        attrs=attributes(
            model=model, prior=prior, normalize=normalize, ci_prob=prob, ci_kind=kind,
            **({} if simultaneous is None else {"simultaneous": simultaneous}),
            assumptions=assumed(), **as_read(counts),
        ),
    )  # fmt: skip
    if simultaneous is not None:
        text = {"long_name": "Simultaneous confidence interval of all shares of a sample"}
        found["simultaneous_interval"] = ends(7).assign_attrs(text)
    return found


def _together(counts: NDArray[np.int64], axis: tuple[int, ...], method: str, ci_prob: float) -> tuple[Array, Array]:
    """Return bounds of all cells (..., K, K) that hold for every sample along the axes at once."""
    samples = counts.swapaxes(-1, -2) if axis == (-2,) else counts
    if len(axis) == 2:
        samples = counts.reshape(*counts.shape[:-2], -1)
    lower, upper = SIMULTANEOUS[method](samples, ci_prob)
    if method == "sison_glaz" and ((lower == upper).all(-1) & (samples.sum(-1) > 0)).any():
        validate.warn(
            "The Sison-Glaz intervals of a sample with all items in one cell have no length, and that is not "
            "certainty. Take simultaneous='goodman'."
        )
    if axis == (-2,):
        return lower.swapaxes(-1, -2), upper.swapaxes(-1, -2)
    return lower.reshape(counts.shape), upper.reshape(counts.shape)


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
