"""Time the trunk of bayescm beside NumPy, SciPy and prob-conf-mat, on one thread, in alternating rounds.

Run `python -m uv run --group peers python benchmarks/trunk.py`; ``--write`` puts the tables into results_trunk.md too.
"""
# ruff: noqa: E402

import os

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
os.environ |= dict.fromkeys(THREADS, "1") | {"BAYESCM_COMPILE": "1"}  # before NumPy is imported

import argparse
import datetime
import gc
import platform
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import peers
from numpy.typing import NDArray
from peers import COMMON, FN, FP, METRICS, PEER_NAMES, TN, TP, N
from scipy import special

import bayescm

Run = Callable[[int], Any]
Times = dict[str, list[float]]
Array = NDArray[np.float64]
CHAINS, BATCH = 4, 10**5
OURS, NUMPY, PEER = "bayescm", "NumPy", "prob-conf-mat"
NO_DASK = "import sys; sys.modules['dask'] = None\n"
FIRST_OURS = "import bayescm\nbayescm.summary(bayescm.from_cells(tp=26, fn=0, fp=2, tn=6))"
CELLS = ["summary", "--tp", "26", "--fn", "0", "--fp", "2", "--tn", "6"]


def alternate(runs: Mapping[str, Run], rounds: int) -> Times:
    """Time every run once per round, after one round to warm up; the first changes place each round."""
    times: Times = {name: [] for name in runs}
    for i in range(rounds + 1):
        for name in (*runs, *runs)[i % len(runs) :][: len(runs)]:
            gc.collect()  # a DataTree is a cycle: without this, each run pays for fresh memory while the last one waits
            start = time.perf_counter()
            result = runs[name](i)
            elapsed = time.perf_counter() - start
            del result
            if i:
                times[name].append(elapsed)
    return times


def ratio(times: Times, name: str, base: str) -> float:
    """Return the median over rounds of how many times as long as `base` a run took."""
    return float(np.median(np.array(times[name]) / np.array(times[base])))


def table(times: Times, base: str, unit: float = 1e3, head: str = "ms") -> str:
    """Return a markdown table of the ratios and the medians."""
    lines = [f"| | time / time of {base} | median, {head} |", "| --- | ---: | ---: |"]
    lines += [f"| {n} | {ratio(times, n, base):.2f} | {np.median(t) * unit:.4g} |" for n, t in times.items()]
    return "\n".join(lines)


def draw_ours(seed: int) -> Any:
    """Draw theta and the metrics with bayescm: the whole DataTree, prior draws and all."""
    counts = bayescm.from_cells(tp=TP, fn=FN, fp=FP, tn=TN)
    return bayescm.posterior(counts, metrics=METRICS, chains=CHAINS, draws=N // CHAINS, random_seed=seed)


def evaluate_ours(name: str, theta: Any, _: int) -> Any:
    """Evaluate one metric on given draws."""
    return bayescm.metrics.evaluate(theta, name)


def check_agreement() -> None:
    """Require that all three sample the same distribution: means within 6 standard errors of a difference."""
    ours, numpy, peer = draw_ours(1)["posterior"], peers.draw_numpy(2), peers.draw_peer(3)
    by_name = {metric.name: result.values[:, -1] for metric, result in peer.items()}
    for name in METRICS:
        mine = ours[name].values
        bound = 6 * mine.std() * np.sqrt(2 / N)
        for other in (numpy[name], by_name[PEER_NAMES[name]] if name in COMMON else mine):
            assert abs(mine.mean() - other.mean()) < bound, name


def section_a(rounds: int) -> str:
    """Time a million draws of twelve metrics."""
    check_agreement()
    floors = {"floor: standard_gamma alone": peers.draw_gamma, "floor: rng.dirichlet alone": peers.draw_theta_numpy}
    sides = {NUMPY: peers.draw_numpy, f"{NUMPY}, rates shared": peers.draw_numpy_shared, PEER: peers.draw_peer}
    whole = table(alternate({OURS: draw_ours, **sides, **floors}, rounds), OURS)
    theta, roots = draw_ours(1)["posterior"]["theta"], peers.draw_roots(1)
    cells = peers.draw_theta_numpy(1).T
    head = f"| metric, draws given | {NUMPY} / {OURS} | {PEER} / {OURS} | {OURS}, ms |"
    lines = [head, "| --- | ---: | ---: | ---: |"]
    for name in METRICS:
        one: dict[str, Run] = {
            OURS: partial(evaluate_ours, name, theta),
            NUMPY: partial(peers.evaluate_numpy, name, cells),
        }
        if name in COMMON:
            one[PEER] = partial(peers.evaluate_peer, name, roots)
        times = alternate(one, rounds)
        peer = f"{ratio(times, PEER, OURS):.2f}" if name in COMMON else "lacks it"
        lines.append(f"| {name} | {ratio(times, NUMPY, OURS):.2f} | {peer} | {np.median(times[OURS]) * 1e3:.1f} |")
    lacks = ", ".join(sorted({*METRICS} - {*COMMON})) or "none"
    title = f"## A. {N:,} draws of one matrix and {len(METRICS)} metrics ({PEER} lacks: {lacks})"
    return "\n\n".join([title, whole, "\n".join(lines)])


def process(command: list[str], _: int) -> None:
    """Run a command in a fresh process, outside the work tree."""
    subprocess.run(command, check=True, capture_output=True, cwd="/")


def fresh(code: str) -> Callable[[int], None]:
    """Return a run of code in a fresh interpreter."""
    return partial(process, [sys.executable, "-W", "ignore", "-c", code])


def section_b(rounds: int) -> str:
    """Time the first report in a fresh process, imports included."""
    runs = {
        f"{OURS}, 28 metrics": fresh(NO_DASK + FIRST_OURS),
        f"{OURS}, dask installed": fresh(FIRST_OURS),
        f"{PEER}, {len(peers.PEER_REPORT.split())} metrics, 10^4 draws": fresh(peers.FIRST_PEER),
        "floor: import xarray": fresh("import xarray"),
        "floor: import xarray, scipy.special": fresh("import xarray, scipy.special"),
    }
    return "## B. The first report in a fresh process\n\n" + table(alternate(runs, rounds), f"{OURS}, 28 metrics")


def section_c(rounds: int) -> str:
    """Time the command."""
    runs: dict[str, Run] = {
        "command": fresh(f"{NO_DASK}from bayescm.cli import main\nmain({CELLS})"),
        "command, dask installed": partial(process, [f"{sysconfig.get_path('scripts')}/bayescm", *CELLS]),
        "floor: python -c pass": fresh("pass"),
    }
    return f"## C. `bayescm {' '.join(CELLS)}`\n\n" + table(alternate(runs, rounds), "command")


def section_d(rounds: int) -> str:
    """Time a batch of matrices with exact metrics."""
    tp, fn, fp, tn = np.random.default_rng(1).integers(0, 200, (4, BATCH))
    counts = bayescm.from_cells(tp=tp, fn=fn, fp=fp, tn=tn)
    names = ["recall", "precision", "accuracy", "f1"]

    over, under = np.stack([tp, tp, tp + tn, tp], 1), np.stack([fn, fp, fn + fp, fn + fp], 1)
    a, b = over + np.array([0.5, 0.5, 1.0, 0.5]), under + np.array([0.5, 0.5, 1.0, 1.0])

    def floor(_: int) -> Array:
        bounds: Array = special.betaincinv(a[..., None], b[..., None], [0.025, 0.975])
        bounds[:, 3] = 2 * bounds[:, 3] / (1 + bounds[:, 3])
        return bounds

    eti, hdi = (partial(bayescm.summary, counts, names, ci_kind=kind) for kind in ("eti", "hdi"))
    np.testing.assert_allclose(eti().interval.values, floor(0), rtol=1e-9)
    kinds: dict[str, Run] = {f'{OURS}, ci_kind="eti"': lambda _: eti(), f'{OURS}, ci_kind="hdi"': lambda _: hdi()}
    times = alternate({**kinds, "floor: betaincinv at the two tails": floor}, rounds)
    title = f"## D. {BATCH:,} matrices, {len(names)} exact metrics: point, mean, median, sd and interval of each"
    return f"{title}\n\n" + table(times, f'{OURS}, ci_kind="eti"', 1e6 / BATCH, "microseconds per matrix")


def machine() -> str:
    """Return where and with what this ran."""
    info = Path("/proc/cpuinfo").read_text().splitlines()
    cpu = next((line.split(":")[1].strip() for line in info if "model name" in line), platform.processor())
    names = ("bayescm", "numpy", "scipy", "xarray", "pandas", "prob-conf-mat")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    here = f"{datetime.date.today()}, {cpu}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start"
    return f"{here}; one thread ({', '.join(THREADS)} = 1); Python {platform.python_version()}, {versions}."


def main() -> None:
    """Run the sections and print, or write, their tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results_trunk.md too")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="rounds of each comparison (default: 7)")
    parser.add_argument("--sections", default="ABCD", help="which to run (default: ABCD)")
    arguments = parser.parse_args()
    parts = ["# Results of trunk.py", machine()]
    for letter, section in zip("ABCD", (section_a, section_b, section_c, section_d), strict=True):
        if letter in arguments.sections.upper():
            parts.append(section(arguments.rounds))
            print(parts[-1], end="\n\n", flush=True)
    if arguments.write:
        Path(__file__).with_name("results_trunk.md").write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
