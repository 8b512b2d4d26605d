"""cell_summary(): mean, median, sd and interval of every cell's share."""

from typing import Any, Literal, Unpack

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.inputs import takes_counts
from bayescm.data.schema import ACTUAL, CI_BOUND, MATRIX, PREDICTED, attributes, interval_coordinate
from bayescm.data.words import CiKind
from bayescm.inference import multinomial
from bayescm.inference.blocks import Block
from bayescm.inference.options import ModelOptions, number_of_draws
from bayescm.inference.read import read
from bayescm.priors.concentrations import PriorLike
from bayescm.results.objects import stamped

Array = NDArray[np.float64]

SIMULTANEOUS = {"goodman": multinomial.goodman, "sison_glaz": multinomial.sison_glaz}
_TOGETHER = "simultaneous_interval"
_AXES = {"actual": (-1,), "predicted": (-2,), "all": (-2, -1)}
_STATISTICS = ("counts", "point", "mean", "median", "sd", "is_hdi")


@stamped
@takes_counts
def cell_summary(
    counts: Any,
    *,
    normalize: Literal["actual", "predicted", "all"] = "actual",
    model: Any = "dirichlet_multinomial",
    prior: PriorLike | None = None,
    ci_prob: float = 0.95,
    ci_kind: CiKind = "eti",
    simultaneous: str | None = None,
    draws: int | None = None,
    random_seed: int | np.random.Generator | None = None,
    **options: Unpack[ModelOptions],
) -> xr.Dataset:
    """Summarise the posterior of every cell of the matrix: that of counts exactly.

    Parameters
    ----------
    counts : xarray.DataArray or array_like
        ``counts(..., actual, predicted)``, or what else :func:`bayescm.summary` takes: audits, systems on the same
        items, draws of any model.
    normalize : {"actual", "predicted", "all"}
        Share of the cell among the items of its actual class, of its predicted class, or of all.
    model, prior, ci_prob, ci_kind
        As in :func:`summary`.
    simultaneous : {"goodman", "sison_glaz"}, optional
        Confidence intervals that hold all shares of a sample at once: of a row, of a column or of the whole matrix, as
        `normalize` says. "goodman" is Wilson's at the level 1 - (1 - `ci_prob`)/cells and holds what it says;
        "sison_glaz" is shorter, and holds less: by a point or two with ten items in every cell, by far more with fewer.
        Of counts alone.
    draws, random_seed
        Of the draws for all but counts, and for "predicted" and "all" under ``model="three_binomial"``.
    **options
        As in :func:`bayescm.summary`.

    Returns
    -------
    xarray.Dataset
        Over ``(..., actual, predicted)``: ``counts`` (of an audit of the items that were checked; NaN where a model's
        draws don't say), ``point``, ``mean``, ``median``, ``sd``, ``interval(ci_bound)`` and ``ci_kind`` (as in
        :func:`summary`), of draws also ``mcse_mean`` and ``mcse_interval``. With `simultaneous` also
        ``simultaneous_interval(ci_bound)``.

    Raises
    ------
    ValueError
        For an unknown ``normalize`` or ``simultaneous``.

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
    >>> cells = bayescm.inference.cell_summary([[6, 2], [0, 26]], model="three_binomial", prior="laplace")
    >>> cells["mean"].values.round(3)
    array([[0.7  , 0.3  ],
           [0.036, 0.964]])
    >>> together = bayescm.inference.cell_summary([[6, 2], [0, 26]], normalize="all", simultaneous="goodman")
    >>> together["simultaneous_interval"].sel(actual=1, predicted=1).values.round(3)
    array([0.552, 0.896])
    """
    axis = _AXES[validate.choice("normalize", normalize, _AXES)]
    prob = validate.number("ci_prob", ci_prob, 0, 1)
    kind = validate.choice("ci_kind", ci_kind, ("eti", "hdi"))
    seed = validate.seed(random_seed)
    posterior = read(counts, model=model, prior=prior, draws=draws, random_seed=seed, **options)
    if simultaneous is not None:
        validate.choice("simultaneous", simultaneous, SIMULTANEOUS)
        posterior.counts(f"`simultaneous`={simultaneous!r}")
    labels = list(posterior.labels)

    def kernel(block: Block) -> dict[str, Array]:
        block.check(())
        seen, cells = block.seen(), block.cells()
        with np.errstate(invalid="ignore"):
            found = block.shares(axis).statistics(prob, kind) | {"point": cells / cells.sum(axis, keepdims=True)}
        pairs = {"interval": ("lower", "upper"), "mcse_interval": ("mcse_lower", "mcse_upper")}
        tables = {name: np.stack([found.get(end, 0.0 * seen) for end in ends], -1) for name, ends in pairs.items()}
        if simultaneous is not None:
            tables[_TOGETHER] = np.stack(_together(seen.astype(np.int64), axis, simultaneous, prob), -1)
        return found | tables | {"counts": seen, "mcse_mean": found.get("mcse_mean", 0.0 * seen)}

    cells = {"row": len(labels), "column": len(labels)}
    whole, exact = (
        posterior.by_structure(ask, "_").values.all()
        for ask in (lambda block: [block.seen().dtype.kind == "i"], lambda block: [block.knows_shares(axis)])
    )
    names = [*_STATISTICS, *([] if exact else ["mcse_mean"])]
    ranges = ["interval", *([] if exact else ["mcse_interval"]), *([] if simultaneous is None else [_TOGETHER])]
    tables = posterior.tables(kernel, dict.fromkeys(names, cells) | dict.fromkeys(ranges, cells | {CI_BOUND: 2}))
    renamed = {"row": ACTUAL, "column": PREDICTED}
    found = xr.Dataset({name: table.rename(renamed) for name, table in tables.items()})
    found = found.assign_coords(dict.fromkeys(MATRIX, labels) | {CI_BOUND: interval_coordinate(prob, kind)})
    found["counts"] = found["counts"].astype(np.int64) if whole else found["counts"]
    is_hdi = found["is_hdi"] > 0
    found["ci_kind"] = xr.where(is_hdi, "hdi", "eti")  # type: ignore[no-untyped-call]
    if simultaneous is not None:
        found[_TOGETHER].attrs = {"long_name": "Simultaneous confidence interval of all shares of a sample"}
    settings = ({} if exact else {"draws": number_of_draws(draws), "random_seed": seed}) | dict(posterior.settings)
    settings |= {"normalize": normalize, "ci_prob": prob, "ci_kind": kind}
    settings |= {} if simultaneous is None else {"simultaneous": simultaneous}
    return found.drop_vars("is_hdi").assign_attrs(attributes(**settings))


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
