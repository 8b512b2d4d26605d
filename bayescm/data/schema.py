"""Names of dims, groups and attrs, and the only builders of results.

Everything public comes back as :class:`xarray.Dataset` or :class:`xarray.DataTree` in the layout that ArviZ
reads. Attributes are text and numbers only, so that a netCDF round trip gives the same object.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayescm.data import validate
from bayescm.data.labels import some

ACTUAL, PREDICTED = "actual", "predicted"
MATRIX = (ACTUAL, PREDICTED)
CHAIN, DRAW = "chain", "draw"
CELL, LABEL, METRIC, ALIAS, CI_BOUND = (
    "cell",
    "class_label",
    "metric",
    "alias",
    "ci_bound",
)  # ArviZ's summary keeps "label" for itself
THRESHOLD, SYSTEM, VERSUS, ITEM = "threshold", "system", "versus", "item"
FOLD, GROUP, RUN, STRATUM = "fold", "group", "run", "stratum"
RUNS_OF = "runs_of"  # coordinate of systems: how many runs each had, where these differ
ASKS = "asks"  # attr of data with a column that may name what was sampled, which nobody said
UNIT = "unit"  # attr that names the dim, or the coordinate of items, of what was sampled
WEIGHT = "sample_weight"  # coordinate of items: what each stands for, beside the others
TOTALS, OF, BATCH, UNIT_OF_AUDIT = (
    "totals",
    "audit_of",
    "audit_batch",
    "audit_unit",
)  # of items of which only some were checked
POSSIBLE, STANDS_FOR = "possible", "stands_for"  # matrices that a report allows, and how many each stands for
RATERS = "raters"  # attr of counts that are pairs of ratings by so many
ONE_CLASS = "of_one_class"  # attr of counts that were k of n: the other class is none of theirs
SCORED, MEAN_SCORE = "scores from 0 to 1", "mean_score"  # its value where answers are right in part; their metric
GROUPS = (
    "posterior",
    "prior",
    "posterior_predictive",
    "replicate",
    "prior_predictive",
    "prior_replicate",
    "log_likelihood",
    "log_prior",
    "sample_stats",
    "observed_data",
    "constant_data",
    "summary",
    "tests",
    "flips",
    "predictive_values",
    "prior_sbc",
    "studies",
    "spread",
    "curve",
    "region",
    "prediction",
    "likelihood",
    "asymmetry",
    "left_out",
)
CELLS_OF_TWO = ("tn", "fp", "fn", "tp")
_IN_WORDS = {
    f"{right} {sign}{ending}": right[0] + sign[0]
    for right in ("true", "false") for sign in ("positive", "negative") for ending in ("s", "")
}  # fmt: skip


RESERVED = {
    *MATRIX,
    CHAIN,
    DRAW,
    CELL,
    LABEL,
    METRIC,
    ALIAS,
    CI_BOUND,
    "row",
    "column",
    "statistic",
    "theta",
    "theta_cell",
    "counts",
    "label",
    "sample",
    TOTALS,
}
"""Names that batch dims and metrics can't have: results use them for something else."""


def check_matrix(matrix: Any, name: str) -> xr.DataArray:
    """Return a DataArray whose last two dims are `actual` and `predicted`, with the same labels on both."""
    if not isinstance(matrix, xr.DataArray):
        raise TypeError(
            f"`{name}` must be an xarray.DataArray; got {type(matrix).__name__}. Build it with bayescm.from_array or "
            "bayescm.confusion_matrix."
        )
    if TOTALS in matrix.coords or OF in matrix.attrs:
        raise ValueError(
            f"`{name}` are of items of which only some were checked (bayescm.audited), and this needs items that all "
            "were. For an audit: bayescm.summary, metric_distribution, probability, decide, region(audit), "
            "leaderboard or compare_systems({'A': audit_a, 'B': audit_b}), and posterior(audit, "
            "metrics=[...]), whose draws answer all else. Several in one array: dims= in bayescm.audited. The checked "
            "items alone are "
            ".drop_vars('totals').drop_attrs()."
        )
    if any(dim not in matrix.dims for dim in MATRIX):
        raise ValueError(
            f"`{name}` must have the dims 'actual' and 'predicted'; got {matrix.dims}. "
            "Rename its dims, or build it with bayescm.from_array or bayescm.from_cells."
        )
    validate.known_sizes(name, matrix)
    k = matrix.sizes[ACTUAL]
    if k != matrix.sizes[PREDICTED] or k < 2:
        raise ValueError(f"`{name}` must be square with at least two classes; got {dict(matrix.sizes)}.")
    for dim in MATRIX:
        if dim not in matrix.coords:
            matrix = matrix.assign_coords({dim: np.arange(k)})
    labels = [matrix[dim].values.tolist() for dim in MATRIX]
    if labels[0] != labels[1]:
        raise ValueError(
            f"`{name}` must have the same labels in the same order on both dims; got {some(labels[0])} and "
            f"{some(labels[1])}."
        )
    validate.unique("labels", labels[0])
    ordered: xr.DataArray = matrix.transpose(..., *MATRIX)
    return ordered if ordered.chunks is None else ordered.chunk(dict.fromkeys(MATRIX, -1))  # kernels take whole ones


def batch_names(name: str, names: Sequence[Any]) -> None:
    """Refuse batch dims that occur twice or that results use for something else."""
    validate.unique(name, names)
    taken = [dim for dim in names if dim in RESERVED]
    if taken:
        raise ValueError(f"`{name}` can't have {taken[0]!r}: results keep that name for something else. Rename it.")


def batch_dim(counts: xr.DataArray, dim: Any) -> str:
    """Return `dim` if it is a batch dim of counts."""
    batch = [name for name in counts.dims if name not in MATRIX]
    if dim not in batch:
        raise ValueError(f"`dim` must be a batch dim of `counts`, which has {batch}; got {dim!r}. Name it by `dim`.")
    return str(dim)


def labels_of(counts: xr.DataArray) -> list[Any]:
    """Return the class labels of a labelled matrix as Python objects."""
    values: list[Any] = counts[ACTUAL].values.tolist()
    return values


def positive_class(*data: Any) -> dict[str, str | int]:
    """Return the attr that names the positive class of the first of `data` that has two labels; none for others.

    Parameters
    ----------
    *data : xarray.DataArray, xarray.Dataset or list of labels
        With the coordinate `actual`, or others, which are left out.
    """
    for one in data:
        labels = one if isinstance(one, list) else one[ACTUAL].values.tolist() if ACTUAL in one.coords else []
        if len(labels) == 2:
            return {"positive_class": str(labels[1]) if isinstance(labels[1], bool) else labels[1]}
    return {}


def as_read(counts: xr.DataArray) -> dict[str, str | int]:
    """Return the attrs by which a matrix that was entered in another order is seen.

    These are the positive class and, of one matrix, ``counts``: ``"TP 26, FP 2, FN 0, TN 6"``.
    """
    named = positive_class(counts) | {name: counts.attrs[name] for name in (ASKS,) if name in counts.attrs}
    if counts.ndim > 2 or counts.sizes[ACTUAL] > 2:
        return named
    (tn, fp), (fn, tp) = counts.values.tolist()
    return named | {"counts": f"TP {tp:.15g}, FP {fp:.15g}, FN {fn:.15g}, TN {tn:.15g}"}


def column_key(name: object) -> str:
    """Return the name of a column as it is looked up: in small letters, and a cell in words by its two letters."""
    key = str(name).strip().casefold()
    return _IN_WORDS.get(key.replace("_", " "), key)


def cell_names(labels: Sequence[Any]) -> list[str]:
    """Name the cells in row order: `tn fp fn tp` for two labels, else ``"a->b"``."""
    if len(labels) == 2:
        return list(CELLS_OF_TWO)
    return [f"{a}->{b}" for a in labels for b in labels]


def flatten_cells(matrix: xr.DataArray) -> xr.DataArray:
    """Put the two matrix dims into one dim `cell`, which ArviZ's predictive plots can read."""
    names = cell_names(labels_of(matrix))
    rest = [dim for dim in matrix.dims if dim not in MATRIX]
    data = matrix.transpose(*rest, *MATRIX).data
    coords = {name: c for name, c in matrix.coords.items() if not set(c.dims) & set(MATRIX)}
    return xr.DataArray(
        data.reshape((*data.shape[:-2], len(names))),
        dims=(*rest, CELL),
        coords={**coords, CELL: names},
        name=matrix.name,
        attrs=matrix.attrs,
    )


def matrix_of_cells(cells: xr.DataArray, like: xr.DataArray) -> xr.DataArray | None:
    """Undo :func:`flatten_cells` for the labels of another matrix; None if the cells are others."""
    labels = labels_of(like)
    if CELL not in cells.dims or cells[CELL].values.tolist() != cell_names(labels):
        return None
    last = cells.transpose(..., CELL)
    coords = {name: c for name, c in last.coords.items() if CELL not in c.dims}
    values = last.values.reshape((*last.shape[:-1], len(labels), len(labels)))
    return xr.DataArray(values, dims=(*last.dims[:-1], *MATRIX), coords={**coords, **dict.fromkeys(MATRIX, labels)})


def in_chains(group: xr.Dataset, chains: int) -> xr.Dataset:
    """Cut one long chain of independent draws into several of equal length."""
    draws = group.sizes[DRAW] // chains
    made = {
        name: ((CHAIN, DRAW, *v.dims[2:]), v.transpose(CHAIN, DRAW, ...).values.reshape(chains, draws, *v.shape[2:]))
        for name, v in group.data_vars.items()
    }
    rest = {name: c for name, c in group.coords.items() if not {CHAIN, DRAW} & set(c.dims)}
    coords = {CHAIN: np.arange(chains), DRAW: np.arange(draws), **rest}
    return xr.Dataset(made, coords=coords, attrs=group.attrs)


def interval_coordinate(ci_prob: float, ci_kind: str) -> xr.Variable:
    """Return the coordinate `ci_bound` with the attrs that ArviZ gives it."""
    return xr.Variable(CI_BOUND, ["lower", "upper"], {"ci_prob": ci_prob, "ci_kind": ci_kind})


def attributes(**settings: object) -> dict[str, str | int | float]:
    """Return attrs that say how a result was made; anything but text and numbers becomes JSON."""
    from bayescm import __version__

    made: dict[str, str | int | float] = {"creation_library": "bayescm", "creation_library_version": __version__}
    for name, value in settings.items():
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            made[name] = json.dumps(value, default=_plain)
        else:
            made[name] = value
    return made


def as_set(value: Any) -> Any:
    """Return a setting as it was before it became an attr; text that isn't JSON as it is."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _plain(value: object) -> object:
    """Turn arrays and NumPy scalars into lists and numbers for JSON."""
    if isinstance(value, xr.DataArray | np.ndarray | np.generic):
        return value.values.tolist() if isinstance(value, xr.DataArray) else value.tolist()
    if hasattr(value, "alpha") and hasattr(value, "beta"):  # a PreliZ Beta
        return [float(value.alpha), float(value.beta)]
    node: Any = getattr(value, "owner", None)  # of a distribution of PyMC
    if hasattr(node, "op"):
        return type(node.op).__name__.removesuffix("RV")
    return str(value)


def tree(groups: Mapping[str, xr.Dataset], attrs: Mapping[str, str | int | float]) -> xr.DataTree:
    """Build a DataTree with one flat group per Dataset, in a fixed order and with the same attrs on every group."""
    named = {name: groups[name].assign_attrs(attrs) for name in GROUPS if name in groups}
    return xr.DataTree.from_dict({"/": xr.Dataset(attrs=attrs), **named})


def by_matrix(
    kernel: Callable[..., Any],
    counts: xr.DataArray,
    sizes: Mapping[str, int],
    *more: xr.DataArray,
    dtype: type = np.float64,
    core: Sequence[str] = MATRIX,
) -> xr.DataArray:
    """Apply a kernel to plain matrices, block by block where they are lazy (dask).

    Parameters
    ----------
    kernel : callable
        Takes counts (..., *core), the running number (...) of each matrix, which seeds its draws, and `more`
        (..., *further dims).
    counts : xarray.DataArray
        ``counts(..., actual, predicted)``.
    sizes : mapping of str to int
        Dims of the result behind the batch dims, and their sizes.
    *more : xarray.DataArray
        What else the kernel takes of each matrix, over dims of the batch and further ones.
    dtype : type
        Of the result.
    core : sequence of str
        Dims of the counts that the kernel needs whole: the matrix, and the system where systems are compared.

    Returns
    -------
    xarray.DataArray
    """
    if counts.chunks is not None:
        counts = counts.chunk(dict.fromkeys(core, -1))
    batch = [dim for dim in counts.dims if dim not in core]
    result: xr.DataArray = xr.apply_ufunc(
        kernel,
        counts,
        _running_number(counts, batch),
        *more,
        input_core_dims=[list(core), [], *([dim for dim in one.dims if dim not in batch] for one in more)],
        output_core_dims=[list(sizes)],
        dask="parallelized",
        output_dtypes=[dtype],
        dask_gufunc_kwargs={"output_sizes": dict(sizes)},
        keep_attrs=False,
    )
    return result


def _running_number(counts: xr.DataArray, batch: Sequence[Any]) -> xr.DataArray:
    """Return the running number of each matrix of a batch, in the same chunks."""
    sizes = [counts.sizes[dim] for dim in batch]
    if counts.chunks is None:
        return xr.DataArray(np.arange(math.prod(sizes), dtype=np.int64).reshape(sizes), dims=batch)
    import dask.array

    index = xr.DataArray(np.int64(0))
    for i, (dim, size) in enumerate(zip(batch, sizes, strict=True)):
        stride = math.prod(sizes[i + 1 :])
        steps = dask.array.arange(0, size * stride, stride, chunks=(counts.chunksizes[dim],), dtype=np.int64)
        index = index + xr.DataArray(steps, dims=[dim])
    return index


def tables_by_matrix(
    kernel: Callable[..., Mapping[str, Any]],
    counts: xr.DataArray,
    sizes: Mapping[str, Mapping[str, int]],
    *,
    core: Sequence[str] = MATRIX,
) -> dict[str, xr.DataArray]:
    """Apply a kernel with several results to plain matrices, as :func:`by_matrix`.

    Inside it is one array, which is split afterwards: engines that know a single output can run it, and no block is
    computed once for each result.

    Parameters
    ----------
    kernel : callable
        Takes counts (..., *core) and the running number (...) of each matrix, and returns the tables by name.
    counts : xarray.DataArray
    sizes : mapping of str to mapping of str to int
        For each table its dims behind the batch dims, and their sizes.
    core : sequence of str

    Returns
    -------
    dict of str to xarray.DataArray
        Floats.
    """

    def shaped(values: Any, index: Any) -> dict[str, Any]:
        found = kernel(values, index)
        return {name: np.reshape(found[name], (*index.shape, *dims.values())) for name, dims in sizes.items()}

    return tables_of(lambda flat, whole: by_matrix(flat, counts, whole, core=core), shaped, sizes)


def tables_of(
    mapped: Callable[[Callable[..., Any], Mapping[str, int]], xr.DataArray],
    kernel: Callable[..., Mapping[str, Any]],
    sizes: Mapping[str, Mapping[str, int]],
) -> dict[str, xr.DataArray]:
    """Return the tables of a kernel by what maps one of a single table: see :func:`tables_by_matrix`."""
    widths = {name: math.prod(dims.values()) for name, dims in sizes.items()}

    def flat(*given: Any) -> Any:
        found = {name: np.asarray(table) for name, table in kernel(*given).items()}
        batches = {name: found[name].shape[: found[name].ndim - len(dims)] for name, dims in sizes.items()}
        return np.concatenate([found[name].reshape(*batches[name], width) for name, width in widths.items()], -1)

    whole = mapped(flat, {"_value": sum(widths.values())})
    tables, start = {}, 0
    for name, dims in sizes.items():
        part = whole.data[..., start : start + widths[name]].reshape((*whole.shape[:-1], *dims.values()))
        tables[name] = xr.DataArray(part, dims=(*whole.dims[:-1], *dims), coords=whole.coords)
        start += widths[name]
    return tables


def words_at(places: xr.DataArray, words: Sequence[str]) -> xr.DataArray:
    """Return the words at places that a kernel gave as numbers."""
    known = np.array(words)
    found: xr.DataArray = xr.apply_ufunc(
        lambda at: known[np.asarray(at).astype(np.int64)], places, dask="parallelized", output_dtypes=[known.dtype]
    )
    return found
