"""Large data in little memory: a store of 10^7 matrices, and 10^8 scores of a Parquet file beside polars' group-by.

``python benchmarks/large.py`` takes some minutes and 1.5 GB of disk; ``--write`` puts the tables into
results_large.md too. Every row is a process of its own, with one thread inside each call.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "BAYESCM_THREADS", "POLARS_MAX_THREADS")
BATCH = 1_000_000
THRESHOLDS = 1000
Call = Callable[[Path, Path], None]


def make_matrices(path: Path, n: int) -> None:
    """Write n matrices of 20 to 2000 items to a Zarr store, 10^5 a chunk."""
    import dask.array as da
    import numpy as np
    import xarray as xr

    def block(block_id: Any) -> Any:
        rng = np.random.default_rng(block_id[0])
        p = rng.dirichlet([8.0, 1.0, 1.0, 4.0], 100_000)
        return rng.multinomial(rng.integers(20, 2000, 100_000), p).reshape(-1, 2, 2)

    values = da.map_blocks(block, chunks=((100_000,) * (n // 100_000), (2,), (2,)), dtype=np.int64)
    labels = {"actual": [0, 1], "predicted": [0, 1]}
    counts = xr.DataArray(values, dims=("matrix", "actual", "predicted"), coords=labels, name="counts")
    counts.to_zarr(path, zarr_format=3, consolidated=False)


def stored(metric: str, kind: str, threads: int, source: Path, out: Path) -> None:
    """Carry a store to a store, as the command does."""
    import dask

    from bayescm.cli import main

    arguments = ["summary", "--input", str(source), "--output", str(out), "--metrics", metric, "--ci-kind", kind]
    with dask.config.set(num_workers=threads):
        main([*arguments, "--chunk", "10000" if metric == "mcc" else "100000", "--seed", "1"])


def make_scores(path: Path, n: int) -> None:
    """Write n labels and scores to a Parquet file, a batch in each group of rows."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    writer = None
    for _ in range(n // BATCH):
        y = rng.random(BATCH) < 0.1
        score = 1 / (1 + np.exp(-rng.normal(2.0 * y - 1)))
        table = pa.table({"y": y.astype(np.int8), "score": score})
        writer = writer or pq.ParquetWriter(path, table.schema, compression="none")
        writer.write_table(table, row_group_size=BATCH)
    if writer is not None:
        writer.close()


def pairs(path: Path) -> Any:
    """Yield the labels and scores of a file, a group of rows at a time."""
    import pyarrow.parquet as pq

    for batch in pq.ParquetFile(path, pre_buffer=False).iter_batches(BATCH):
        yield batch["y"].to_numpy(), batch["score"].to_numpy()


def counted(path: Path, _out: Path) -> None:
    """Count at thresholds, and give both rates an interval at each."""
    import numpy as np

    import bayescm

    counts = bayescm.curves.counts_at_thresholds(pairs(path), thresholds=np.arange(1, THRESHOLDS) / THRESHOLDS)
    bayescm.summary(counts, ["recall", "false_positive_rate"])


def drawn(path: Path, _out: Path) -> None:
    """Draw whole curves of rounded scores, and a band."""
    import bayescm

    rounded = ((y, score.round(3)) for y, score in pairs(path))
    bayescm.curve_band(bayescm.curve_posterior(rounded, draws=250, random_seed=1))


def grouped(path: Path, _out: Path) -> None:
    """Group by label and rounded score with polars."""
    import polars as pl

    frame = pl.scan_parquet(path)
    frame.group_by("y", pl.col("score").round(3)).len().collect(engine="streaming")


STORED: dict[str, Call] = {
    f"{metric}, {kind}, {threads} thread{'s' * (threads > 1)}": partial(stored, metric, kind, threads)
    for metric, kind in (("recall", "eti"), ("recall", "hdi"), ("mcc", "eti"))
    for threads in (1, 2)
}
CALLS = STORED | {"counts_at_thresholds": counted, "curve_posterior, curve_band": drawn, "polars group_by": grouped}


def measured(call: str, source: Path, out: Path) -> dict[str, float]:
    """Return seconds, processor seconds and peak memory (MiB) of a call in a process of its own."""
    arguments = [sys.executable, __file__, "--call", call, str(source), str(out)]
    environment = os.environ | dict.fromkeys(THREADS, "1")
    return dict(
        json.loads(subprocess.run(arguments, check=True, capture_output=True, env=environment).stdout.splitlines()[-1])
    )


def one(call: str, source: Path, out: Path) -> None:
    """Carry out a call and print what it cost."""
    start, busy = time.perf_counter(), time.process_time()
    CALLS[call](source, out)
    words = Path("/proc/self/status").read_text().split()  # getrusage counts what the process before exec had
    peak = int(words[words.index("VmHWM:") + 1]) / 2**10
    cost = {"seconds": time.perf_counter() - start, "busy": time.process_time() - busy, "peak": peak}
    print(json.dumps(cost))


def is_row(name: str, n: int, sizes: list[int]) -> bool:
    """Say whether a row is of this size: MCC of the smallest store, one thread of the one but largest."""
    if "mcc" in name:
        return n == sizes[0]
    return name.endswith("2 threads") or n == sizes[-2:][0]


def main(write: bool, matrices: list[int], scores: int) -> None:
    """Print the tables."""
    load = os.getloadavg()[0]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n in matrices:
            source = Path(folder, f"{n}.zarr")
            make_matrices(source, n)
            for name in STORED:
                if is_row(name, n, matrices):
                    out = Path(folder, f"{n} {name}.zarr")
                    cost = measured(name, source, out)
                    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
                    rows.append(
                        f"| {n:,} | {name} | {cost['seconds']:.1f} | {cost['busy']:.1f} | "
                        f"{cost['busy'] / n * 1e6:.1f} | {cost['peak']:,.0f} | {size / n:.0f} |"
                    )
                    shutil.rmtree(out)
            shutil.rmtree(source)
        file = Path(folder, "scores.parquet")
        make_scores(file, scores)
        lines = []
        for call in list(CALLS)[len(STORED) :]:
            cost = measured(call, file, Path(folder))
            rate = scores / cost["busy"] / 1e6
            lines.append(f"| {call} | {cost['seconds']:.0f} | {cost['busy']:.0f} | {rate:.1f} | {cost['peak']:,.0f} |")
    text = "\n".join(
        [
            f"2 cores, for which {load:.1f} programs queued in the minute before: read the processor's time, in which "
            f"loading the libraries is. Zarr {version('zarr')}, dask {version('dask')}, pyarrow {version('pyarrow')}, "
            f"polars {version('polars')}, Python {platform.python_version()}.",
            "",
            "`bayescm summary --input IN.zarr --output OUT.zarr --metrics METRIC --ci-kind KIND --chunk 100000`",
            "(10000 for MCC):",
            "",
            "| matrices | what | seconds | processor seconds | microseconds each | peak memory, MiB | bytes each |",
            "| ---: | --- | ---: | ---: | ---: | ---: | ---: |",
            *rows,
            "",
            f"{scores:,} labels and scores of one Parquet file, batches of {BATCH:,}, one thread ({THRESHOLDS - 1} "
            "thresholds; scores rounded to three decimals):",
            "",
            "| call | seconds | processor seconds | million rows per processor second | peak memory, MiB |",
            "| --- | ---: | ---: | ---: | ---: |",
            *lines,
        ]
    )
    print(text)
    if write:
        Path(__file__).with_name("results_large.md").write_text(f"# Large data\n\n{text}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--matrices", default="100000,1000000,10000000", metavar="LIST", help="sizes of the stores")
    parser.add_argument("--scores", type=int, default=100_000_000, metavar="N", help="rows of the Parquet file")
    parser.add_argument(
        "--call", nargs=3, metavar=("CALL", "IN", "OUT"), help="one row, for the processes of the table"
    )
    options = parser.parse_args()
    if options.call:
        one(options.call[0], Path(options.call[1]), Path(options.call[2]))
    elif options.quick:
        main(options.write, [100_000], 1_000_000)
    else:
        main(options.write, [int(n) for n in options.matrices.split(",")], options.scores)
