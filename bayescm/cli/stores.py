"""Counts that needn't fit into memory: read lazily from Zarr and Parquet."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import bayescm
from bayescm.cli.inputs import counts_of
from bayescm.cli.options import CELLS, refuse
from bayescm.data.needs import need
from bayescm.data.schema import ACTUAL, MATRIX, PREDICTED

if TYPE_CHECKING:
    import xarray as xr

PACKAGES = {".zarr": "zarr", ".parquet": "pyarrow"}


def lazy_counts(arguments: argparse.Namespace) -> "xr.DataArray":
    """Return the counts of ``--input``, of which nothing but labels and names of matrices is in memory.

    A Zarr store has one variable ``(..., actual, predicted)``, or `tp`, `fn`, `fp` and `tn`; a Parquet file, or folder
    of such files, has these as columns with a row for each matrix. Parquet of labels is counted at once, batch by
    batch, and other files are read as the commands read them always.
    """
    path = Path(arguments.input)
    suffix = path.suffix.lower()
    if not path.exists():
        raise FileNotFoundError(2, "No such file or folder", str(path))
    if suffix in PACKAGES:
        need(PACKAGES[suffix], f"--input {path}")
        refuse(arguments, ["unit", "sample_weight"], "needs a table of items; leave it out")
        refuse(arguments, ["pos_label"], f"doesn't apply to {suffix}: its last label is the positive one; leave it out")
    if suffix == ".zarr":
        refuse(arguments, ["by"], "doesn't apply to .zarr: its matrices have names already; leave it out")
        return _of_zarr(path)
    if suffix == ".parquet":
        return _of_parquet(path, arguments)
    arguments.file = [str(path)]
    return counts_of(arguments)


def _of_zarr(path: Path) -> "xr.DataArray":
    """Open a Zarr store."""
    import xarray as xr

    try:
        data = xr.open_zarr(path, consolidated=False).drop_encoding()
    except (FileNotFoundError, ValueError, KeyError) as error:
        raise ValueError(f"--input {path} isn't a Zarr group that xarray can open: {error}") from error
    matrices = [name for name, one in data.data_vars.items() if set(MATRIX) <= set(one.dims)]
    if set(CELLS) <= set(data.data_vars):
        names: list[Any] = list(CELLS)
        counts = bayescm.from_cells(**{cell: data[cell] for cell in CELLS})
    elif len(matrices) == 1:
        names = matrices
        counts = data[matrices[0]]
    else:
        raise ValueError(
            f"--input {path} must have one variable with the dims 'actual' and 'predicted', or the variables tp, fn, "
            f"fp and tn; it has {', '.join(map(str, data.data_vars)) or 'none'}."
        )
    _warn_of_absent(path, names)
    return counts


def _warn_of_absent(path: Path, names: list[Any]) -> None:
    """Say how many chunks aren't there: they read as zeros, whether they were zeros or were lost."""
    import warnings

    import zarr

    group = zarr.open_group(path, mode="r")
    for name in names:
        array: Any = group[str(name)]
        absent = array.nchunks - array.nchunks_initialized
        if absent:
            warnings.warn(
                f"{path}: {absent} of {array.nchunks} chunks of {name!r} aren't stored and read as "
                f"{array.fill_value}: all of their cells are that, or they were never written.",
                UserWarning, stacklevel=2,
            )  # fmt: skip


def _of_parquet(path: Path, arguments: argparse.Namespace) -> "xr.DataArray":
    """Open Parquet: rows of four cells lazily, one group of rows a block; labels are counted batch by batch."""
    import dask.array
    import pyarrow.dataset as ds
    import xarray as xr

    da: Any = dask.array
    data = ds.dataset(path, format="parquet")
    columns = {name.lower(): name for name in data.schema.names}
    if not set(CELLS) <= set(columns):
        if {arguments.actual, arguments.predicted} <= set(data.schema.names):
            n = arguments.count if arguments.count in data.schema.names else None
            if n is None and arguments.count != arguments.parser.get_default("count"):
                raise ValueError(f"--input {path} has no column {arguments.count!r} (see --count).")
            groups = [arguments.by] if arguments.by else []
            names = {"actual": arguments.actual, "predicted": arguments.predicted, "n": n}
            wanted = [name for name in (*names.values(), *groups) if name is not None]
            batches = iter(data.to_batches(columns=wanted))
            filled = (batch for batch in batches if batch.num_rows)
            return bayescm.from_table(filled, dims=groups, **names)
        raise ValueError(
            f"--input {path} has the columns {', '.join(data.schema.names)}; wanted are tp, fn, fp and tn, or "
            f"{arguments.actual} and {arguments.predicted}."
        )
    row_groups = [
        (part.path, group.id, group.num_rows)
        for fragment in data.get_fragments() for part in fragment.split_by_row_group() for group in part.row_groups
    ]  # fmt: skip
    names_of = [columns[cell] for cell in ("tn", "fp", "fn", "tp")]
    rows = tuple(n for *_, n in row_groups)
    values = da.map_blocks(
        _cells_of, chunks=(rows, (2,), (2,)), dtype=np.int64, meta=np.empty((0, 2, 2), np.int64), groups=row_groups,
        names=names_of,
    )  # fmt: skip
    others = [name for name in data.schema.names if name not in names_of]
    by = arguments.by or (others[0] if others else None)
    if by is not None and by not in data.schema.names:
        raise ValueError(f"--by must be a column; got {by!r}.")
    coords = {} if by is None else {"system": data.to_table(columns=[by])[by].to_numpy()}
    return xr.DataArray(values, dims=("system", *MATRIX), coords={ACTUAL: [0, 1], PREDICTED: [0, 1], **coords})


def _cells_of(groups: Any, names: Any, block_id: Any = None) -> Any:
    """Read one group of rows as matrices."""
    import pyarrow.parquet as pq

    path, group, _ = groups[block_id[0]]
    with pq.ParquetFile(path) as file:
        table = file.read_row_group(group, columns=names)
    return np.stack([table[name].to_numpy() for name in names], -1).reshape(-1, 2, 2)


def stamp(path: Path) -> list[int]:
    """Return how many bytes an input has, and when it was changed last (ns), so that another one is noticed."""
    files = [one for one in path.rglob("*") if one.is_file()] if path.is_dir() else [path]
    about = [one.stat() for one in files]
    return [sum(one.st_size for one in about), max((one.st_mtime_ns for one in about), default=0)]
