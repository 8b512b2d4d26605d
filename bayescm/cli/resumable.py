"""Lazy results are computed and written chunk by chunk; a run that was killed goes on where it was."""

import argparse
import contextlib
import itertools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import bayescm
from bayescm.cli.stores import PACKAGES, lazy_counts, stamp
from bayescm.data import validate
from bayescm.data.files import replace
from bayescm.data.needs import need
from bayescm.data.schema import CI_BOUND, MATRIX

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_AT_ONCE = 4
"""Chunks for each thread that are computed before they count as done."""
_PATIENCE = 1.0
"""Seconds that a lock is waited for: one whose process is gone is removed at the first look, and taken at the next."""

Region = dict[Any, slice]


def check(path: Path) -> None:
    """Refuse, before anything is computed, a store that can't be written."""
    if path.suffix.lower() not in PACKAGES:
        raise ValueError(f"--output must end with .zarr or .parquet; got {str(path)!r}.")
    need(PACKAGES[path.suffix.lower()], f"--output {path}")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise ValueError(f"--output {path}: there is no folder {path.parent}; make it first.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"--output {path}: nothing can be written into the folder {path.parent}; take another one.")
    if path.exists() and not manifest_of(path).exists():
        raise ValueError(
            f"--output {path} exists, and {manifest_of(path).name}, which says what is done, doesn't: take another "
            "name, or remove it."
        )


def answer(
    arguments: argparse.Namespace, settings: Mapping[str, Any], ask: Callable[["xr.DataArray", int], "xr.Dataset"]
) -> None:
    """Write the answer to the counts of ``--input`` to ``--output``, and say how much was there already.

    Parameters
    ----------
    arguments : argparse.Namespace
        With `input`, `output`, `chunk`, `scheduler` and `seed`.
    settings : mapping
        What is asked, for the manifest.
    ask : callable
        Takes lazy counts and a seed, and returns the lazy answer.
    """
    path = Path(arguments.output)
    if arguments.chunk < 1:
        raise ValueError(f"--chunk must be at least 1; got {arguments.chunk}.")
    need("dask", "--output")
    check(path)
    with _alone(path):
        _answer(path, arguments, settings, ask)


def _answer(
    path: Path, arguments: argparse.Namespace, settings: Mapping[str, Any],
    ask: Callable[["xr.DataArray", int], "xr.Dataset"],
) -> None:  # fmt: skip
    """Write the answer, while nobody else writes to its place."""
    counts = lazy_counts(arguments)
    sizes = chunk_sizes(counts, arguments.chunk)
    if not sizes:
        raise ValueError(f"--input {arguments.input} is one matrix: give it without --input.")
    seed = arguments.seed
    if seed is None:
        seed = known(path).get("seed", validate.seed(None))
    about = {
        "version": bayescm.__version__, "input": stamp(Path(arguments.input)), "chunk": sizes, "settings": settings,
        "seed": seed,
    }  # fmt: skip
    with threads(arguments.scheduler) as at_once:
        before = run(path, ask(counts.chunk(sizes), seed), sizes, json.loads(json.dumps(about)), at_once)
    total = known(path)["of"]
    matrices = prod(counts.sizes[dim] for dim in sizes)
    earlier = f", {before} of them by an earlier run" if before else ""
    print(f"{path}: {matrices:,} matrices in {total} chunks{earlier}.")


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep other processes from a store: beside it lies who writes to it, which goes when that process does."""
    import filelock

    beside = path.with_name(f"{path.name}.lock")
    lock = filelock.SoftFileLock(beside, timeout=_PATIENCE)
    try:
        lock.acquire()
    except filelock.Timeout:
        owner = " on ".join(beside.read_text().split()[:2]) if beside.exists() else "that just ended"
        raise ValueError(
            f"--output {path} is being written by another process ({owner}): wait for it, or take another name. If "
            f"that machine is no longer there, remove {beside.name}; what is done stays."
        ) from None
    try:
        yield
    finally:
        lock.release()


def manifest_of(path: Path) -> Path:
    """Return the file beside a store that says what of it is done."""
    return path.with_name(f"{path.name}.manifest.json")


def chunk_sizes(counts: "xr.DataArray", most: int) -> dict[Any, int]:
    """Cut the batch dims into chunks of at most so many matrices: the last dims stay whole as long as they fit."""
    sizes = {}
    for dim in reversed([dim for dim in counts.dims if dim not in MATRIX]):
        sizes[dim] = max(min(counts.sizes[dim], most), 1)
        most //= sizes[dim]
    return dict(reversed(sizes.items()))


def known(path: Path) -> dict[str, Any]:
    """Return what the manifest says; nothing where there is none."""
    file = manifest_of(path)
    try:
        return dict(json.loads(file.read_text())) if file.exists() else {}
    except ValueError as error:
        raise ValueError(f"{file} isn't the manifest of a run: {error}. Remove it and {path}.") from error


def begin(path: Path, about: Mapping[str, Any], chunks: int) -> int:
    """Return how many chunks are done by an earlier run, which must have been of the same question."""
    earlier = known(path) if path.exists() else {}
    for name, value in about.items() if earlier else ():
        if earlier.get(name) != value:
            raise ValueError(
                f"{path} was begun with another {name}: {json.dumps(earlier.get(name))}, now {json.dumps(value)}. Take "
                f"another --output, or remove {path} and {manifest_of(path).name}."
            )
    if not earlier:
        _note(path, about, 0, chunks)
    return int(earlier.get("done", 0))


def _note(path: Path, about: Mapping[str, Any], done: int, chunks: int) -> None:
    """Write the manifest anew, whole."""
    replace(manifest_of(path), (json.dumps({**about, "done": done, "of": chunks}, indent=1) + "\n").encode())


@contextlib.contextmanager
def threads(scheduler: str | None) -> Iterator[int]:
    """Compute on dask's threads, or on the cluster at an address; yield how many threads that are."""
    import dask

    if scheduler is None:
        yield int(dask.config.get("num_workers", None) or os.cpu_count() or 1)
        return
    need("distributed", f"--scheduler {scheduler}")
    import distributed

    make: Any = distributed.Client
    try:
        client = make(scheduler, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(f"--scheduler {scheduler} doesn't answer: {error}") from error
    with client:
        workers = client.nthreads()
        if not workers:
            raise ValueError(f"--scheduler {scheduler} has no workers yet; start one with dask worker {scheduler}.")
        with dask.config.set(scheduler=client.get):
            yield sum(workers.values())


def run(path: Path, result: "xr.Dataset", sizes: Mapping[Any, int], about: Mapping[str, Any], at_once: int) -> int:
    """Compute what isn't done yet, in the order of the matrices, and return how many chunks were done before.

    Parameters
    ----------
    path : Path
        Of the store, Zarr or Parquet by its ending.
    result : xarray.Dataset
        Lazy, in chunks of `sizes`.
    sizes : mapping of str to int
        Batch dims, and the matrices of a chunk along each.
    about : mapping
        What the run is of; an earlier run of something else is no beginning of this one.
    at_once : int
        Threads that compute.
    """
    os.environ.setdefault("BAYESCM_COMPILE", "1")  # a run that goes on writes the digits that it would have written
    ends = {dim: result.sizes[dim] for dim in sizes}
    grid = [-(-ends[dim] // size) for dim, size in sizes.items()]
    chunks = prod(grid)
    write = _Zarr(path) if path.suffix.lower() == ".zarr" else _Parquet(path)
    result = _plain_words(result)

    most = _AT_ONCE * at_once

    def there(until: int) -> int:
        """Return from which run of chunks on any is absent; `until` where none is."""
        for start, stop in _runs(0, until, grid, most):
            if not write.has(result, _region(start, stop, grid, sizes, ends), start, stop):
                return start
        return until

    before = done = there(begin(path, about, chunks))
    if done == 0:
        write.begin(result)
    for left in path.rglob("*.partial") if 0 < done < chunks else ():  # Zarr's, of an earlier run that was killed
        left.unlink()
    at = {}
    with _progress(path.name, done, chunks) as advance:
        try:
            for start, stop in _runs(done, chunks, grid, most):
                at = _region(start, stop, grid, sizes, ends)
                write(result, at, start, sizes)
                done = stop
                if stop == chunks and (done := there(chunks)) < chunks:
                    at = _region(done, done + 1, grid, sizes, ends)
                    _note(path, about, done, chunks)
                    raise RuntimeError("what was written there is gone")
                _note(path, about, done, chunks)
                advance(stop - start)
        except (OSError, RuntimeError, ValueError, TypeError) as error:
            where = ", ".join(f"{dim} {part.start} to {part.stop - 1}" for dim, part in at.items())
            why = str(error).strip().rstrip(".") or type(error).__name__
            raise ValueError(
                f"{path} stopped in the matrices {where} (counted from 0): {why}. "
                f"{done} of {chunks} chunks are done and stay; the same command goes on from there."
            ) from error
    return before


def _runs(done: int, until: int, grid: list[int], most: int) -> Iterator[tuple[int, int]]:
    """Yield runs of chunks that lie in one row along the last dim that is cut."""
    row = next((n for n in reversed(grid) if n > 1), 1)
    while done < until:
        stop = min(done + most, (done // row + 1) * row, until)
        yield done, stop
        done = stop


def _region(start: int, stop: int, grid: list[int], sizes: Mapping[Any, int], ends: Mapping[Any, int]) -> Region:
    """Return the matrices of a run of chunks along each dim."""
    low, high = np.unravel_index(start, grid), np.unravel_index(stop - 1, grid)
    return {
        dim: slice(int(a) * size, min((int(b) + 1) * size, ends[dim]))
        for (dim, size), a, b in zip(sizes.items(), low, high, strict=True)
    }


def _plain_words(result: "xr.Dataset") -> "xr.Dataset":
    """Store words with as many letters as each has: Zarr v3 has no other standard."""
    words = {
        name: one.astype(np.dtypes.StringDType()) for name, one in result.variables.items() if one.dtype.kind in "UO"
    }
    return result.assign({name: one for name, one in words.items() if name in result.data_vars}).assign_coords(
        {name: one for name, one in words.items() if name in result.coords}
    )


class _Zarr:
    """Writes regions of a Zarr v3 store, whose chunks carry checksums."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, result: "xr.Dataset") -> None:
        """Write names, attrs and all that isn't lazy."""
        from zarr.codecs import ZstdCodec

        packed = {"compressors": [ZstdCodec(level=3, checksum=True)]}
        encoding = {name: packed for name, one in result.data_vars.items() if one.dtype.kind in "fiu"}
        result.to_zarr(self.path, mode="w", zarr_format=3, consolidated=False, compute=False, encoding=encoding)

    def __call__(self, result: "xr.Dataset", at: Region, _start: int, _sizes: Mapping[Any, int]) -> None:
        part = result.isel(at)
        part = part.drop_vars([name for name, one in part.variables.items() if one.chunks is None])
        part.to_zarr(self.path, region=at, consolidated=False, write_empty_chunks=True)  # so that none is absent

    def has(self, result: "xr.Dataset", at: Region, _start: int, _stop: int) -> bool:
        """Say whether the chunks of a region are there, of every variable that is lazy."""
        return all(
            file.exists() for name, one in result.variables.items() if one.chunks for file in self._files(name, at)
        )

    def _files(self, name: Any, at: Region) -> Iterator[Path]:
        """Yield where the chunks of a variable lie; its description alone where that isn't there."""
        import zarr

        folder = self.path / str(name)
        yield folder / "zarr.json"
        array: Any = zarr.open_array(folder, mode="r")
        whole = (slice(0, n) for n in array.shape)
        parts = [at.get(dim, all_of) for dim, all_of in zip(array.metadata.dimension_names, whole, strict=True)]
        along = [range(one.start // size, -(-one.stop // size)) for one, size in zip(parts, array.chunks, strict=True)]
        for chunk in itertools.product(*along):
            yield folder / array.metadata.encode_chunk_key(chunk)


class _Parquet:
    """Writes a file for each chunk, with a row for each matrix and metric."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, _result: "xr.Dataset") -> None:
        """Make the folder."""
        self.path.mkdir(exist_ok=True)

    def __call__(self, result: "xr.Dataset", at: Region, start: int, sizes: Mapping[Any, int]) -> None:
        part = result.isel(at).compute()
        lows = {dim: range(0, piece.stop - piece.start, sizes[dim]) for dim, piece in at.items()}
        at_chunks = np.stack(np.meshgrid(*lows.values(), indexing="ij"), -1).reshape(-1, len(lows))
        for number, low in enumerate(at_chunks.tolist(), start):
            chunk = dict(zip(at, low, strict=True))
            piece = part.isel({dim: slice(first, first + sizes[dim]) for dim, first in chunk.items()})
            positions = {
                dim: np.arange(piece.sizes[dim]) + at[dim].start + first
                for dim, first in chunk.items() if dim not in piece.coords
            }  # fmt: skip
            frame = as_frame(piece.assign_coords(positions))
            replace(self._file(number), frame.to_parquet(None, index=False))

    def has(self, _result: "xr.Dataset", _at: Region, start: int, stop: int) -> bool:
        """Say whether the files of a run of chunks are there."""
        return all(self._file(number).exists() for number in range(start, stop))

    def _file(self, number: int) -> Path:
        return self.path / f"part-{number:06d}.parquet"


def as_frame(result: "xr.Dataset") -> "pd.DataFrame":
    """Return a row for each matrix and metric, the bounds of intervals in columns of their own."""
    pairs = {name: one for name, one in result.data_vars.items() if CI_BOUND in one.dims}
    bounds = {
        str(name).replace("interval", bound): one.sel({CI_BOUND: bound}, drop=True)
        for name, one in pairs.items() for bound in ("lower", "upper")
    }  # fmt: skip
    flat = result.drop_vars([*pairs, CI_BOUND]).assign(bounds)
    dims = sorted((list(one.dims) for one in flat.data_vars.values()), key=len)[-1]
    return flat.to_dataframe(dim_order=dims).reset_index()


@contextlib.contextmanager
def _progress(name: str, done: int, chunks: int) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how many chunks are done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(f"chunks of {name}", total=chunks, completed=done)
        yield lambda steps: bar.advance(task, steps)
