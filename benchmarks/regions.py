"""Time regions and bands beside mmu, which runs in an environment of its own, in alternating rounds.

`python -m uv run python benchmarks/regions.py --mmu DIR/bin/python`; ``--write`` writes results_regions.md too. The
docstring of regions_mmu.py says how to make DIR.
"""

import argparse
import json
import os
import platform
import subprocess
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from regions_data import BINS, MATRIX, SAMPLES, SIMULATED_BINS, cases, matrices

import bayescm
from bayescm._kernels.cache import cache_folder
from bayescm.regions import credible, grid, methods

HERE = Path(__file__).parent
SIX_SIGMAS = -np.expm1(-18.0)  # the level of the statistic 36: as far as mmu's windows reach where they are right
HALF, NOTHING = np.full(4, 0.5), np.zeros((2, 2))
AXES = (grid.axis(BINS), grid.axis(BINS))
COARSE = (grid.axis(200), grid.axis(200))


def best(run: Callable[[], object], rounds: int) -> float:
    """Return the least time of some rounds, in milliseconds."""
    times = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times[1:] if len(times) > 1 else times)


def forget() -> None:
    """Empty the cache of maps."""
    credible._scale.cache_clear()


def surface(method: methods.Method, cells: Any, axes: Any, level: float) -> Callable[[], object]:
    """Return what computes a surface from nothing: planes, windows, maps, level."""

    def run() -> object:
        forget()
        return method.surface(cells, axes, level)

    return run


def points(method: methods.Method, cells: Any, axes: Any, level: float) -> int:
    """Return how many points of windows are evaluated."""
    where = grid.windows(axes, method.boxes(cells, level))
    return int(((where[:, 1] - where[:, 0]) * (where[:, 3] - where[:, 2])).sum())


def peer(python: str, wanted: list[dict[str, Any]], threads: list[int], folder: str) -> dict[str, Any]:
    """Run mmu and return its seconds by case and number of threads."""
    task, scores = Path(folder, "cases.json"), Path(folder, "scores.npz")
    task.write_text(json.dumps({"threads": threads, "cases": wanted}))
    done = subprocess.run(
        [python, str(HERE / "regions_mmu.py"), str(task), str(scores)], capture_output=True, text=True, check=True
    )  # fmt: skip
    return dict(json.loads(done.stdout)["seconds"])


def floor() -> float:
    """Return the nanoseconds per point of the inner loop on whole rows that stay in the first-level cache."""
    from bayescm._kernels.planes import _lower

    out, full, column = (np.random.default_rng(0).random(BINS) for _ in range(3))

    def loop() -> None:
        for _ in range(2000):
            _lower(out, full, column, 0.1, 0.2, 0.3)

    empty = np.empty(0)

    def calls() -> None:
        for _ in range(2000):
            _lower(empty, empty, empty, 0.1, 0.2, 0.3)

    return (best(loop, 20) - best(calls, 20)) / 2000 / BINS * 1e6


def rows() -> list[tuple[str, str | None, methods.Method, Any, Any, float, int]]:
    """Return what is timed: words, mmu's case, the method, matrices, axes, level, rounds."""
    small, large, one = (np.asarray(m, float) for m in (matrices(500), matrices(5000), [MATRIX]))
    (y, x), pr, roc = methods.Ellipse(grid.PR, NOTHING).boxes(one, SIX_SIGMAS)[0].reshape(2, 2), grid.PR, grid.ROC
    own = (np.linspace(*y, BINS), np.linspace(*x, BINS))
    own_coarse = (np.linspace(*y, SIMULATED_BINS), np.linspace(*x, SIMULATED_BINS))
    wilks, exact = methods.Wilks(pr), methods.Exact(pr, False)
    return [
        ("Wilks PR band, N = 500", "pr_wilks_band_500", wilks, small, AXES, 0.997, 15),
        ("the same, windows as wide as mmu's", "pr_wilks_band_500", wilks, small, AXES, SIX_SIGMAS, 15),
        ("Wilks PR band, N = 5,000", "pr_wilks_band_5000", wilks, large, AXES, 0.997, 15),
        ("the same, windows as wide as mmu's", "pr_wilks_band_5000", wilks, large, AXES, SIX_SIGMAS, 15),
        ("Wilks ROC band, N = 500", "roc_wilks_band_500", methods.Wilks(roc), small, AXES, 0.997, 15),
        ("the same, windows as wide as mmu's", "roc_wilks_band_500", methods.Wilks(roc), small, AXES, SIX_SIGMAS, 15),
        ("Wilks point on its window", "pr_wilks_point", wilks, one, own, SIX_SIGMAS, 25),
        ("Wilks point on the whole plane", "pr_wilks_point_on_axis", wilks, one, AXES, 0.997, 25),
        ("ellipse PR band, N = 500", "pr_ellipse_band_500", methods.Ellipse(pr, NOTHING), small, AXES, 0.997, 15),
        ("exact point, 100 x 100", "pr_simulated_point", exact, one, own_coarse, SIX_SIGMAS, 5),
        ("exact PR band, N = 500, 200 x 200", None, exact, small, COARSE, 0.997, 3),
        ("exact ROC band, N = 500, 200 x 200", None, methods.Exact(roc, False), small, COARSE, 0.997, 3),
        ("credible PR band, N = 500", None, credible.Credible(pr, HALF), small, AXES, 0.997, 15),
        ("credible ROC band, N = 500", None, credible.Credible(roc, HALF), small, AXES, 0.997, 15),
        ("credible PR band, Laplace's prior", None, credible.Credible(pr, np.ones(4)), small, AXES, 0.997, 9),
        ("highest-density PR band, N = 500", None, credible.Density(pr, HALF), small, AXES, 0.997, 2),
    ]


def agreement(python: str, folder: str) -> str:
    """Return how far levels differ from mmu's where its windows are wide enough."""
    names = ("pr_wilks_band_500", "roc_wilks_band_500")
    wanted = [case | {"rounds": 1} for case in cases() if case["name"] in names]
    peer(python, wanted, [1], folder)
    theirs = np.load(Path(folder, "scores.npz"))
    worst = 0.0
    cells = np.asarray(matrices(500), float)
    axis = np.linspace(1e-12, 1 - 1e-12, BINS)
    for name, space in zip(names, (grid.PR, grid.ROC), strict=True):
        ours = methods.Wilks(space).surface(cells, (axis, axis), 0.997)
        inside = ours <= 0.954
        worst = max(worst, float(abs(ours + np.expm1(-0.5 * theirs[f"{name}/scores"]))[inside].max()))
    return f"{worst:.0e}"


Times = dict[tuple[Any, int], float]
"""Least milliseconds by case and number of threads."""


def alternate(python: str, timed: list[Any], folder: str) -> tuple[Times, Times]:
    """Return the times of mmu and of bayescm: mmu, bayescm, mmu, bayescm; the least of both."""
    theirs: Times = {}
    ours: Times = {}
    for again in range(2):
        wanted = [case for case in cases() if again == 0 or case["method"] != "simulated_point"]
        for name, found in peer(python, wanted, [1, 2], folder).items():
            for threads, seconds in found["best"].items():
                key = (name, int(threads))
                theirs[key] = min(theirs.get(key, np.inf), 1e3 * seconds)
        for threads in (1, 2):
            os.environ["BAYESCM_THREADS"] = str(threads)
            for i, (_, _, method, cells, axes, level, rounds) in enumerate(timed):
                took = best(surface(method, cells, axes, level), rounds)
                ours[i, threads] = min(ours.get((i, threads), np.inf), took)
    os.environ["BAYESCM_THREADS"] = "1"
    return theirs, ours


def table(timed: list[Any], theirs: Times, ours: Times) -> list[str]:
    """Return the table of all times."""
    lines = [
        "| | mmu / bayescm, 1 thread | 2 threads | bayescm, ms, 1 thread | 2 threads | mmu, ms, 1 thread | points | "
        "ns per point |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for i, (words, case, method, cells, axes, level, _) in enumerate(timed):
        there = method.exists(cells) if isinstance(method, methods.Ellipse) else slice(None)
        evaluated = points(method, cells[there], axes, level)
        ratios = [f"{theirs[case, t] / ours[i, t]:.2g}" if (case, t) in theirs else "" for t in (1, 2)]
        mmu = f"{theirs[case, 1]:.3g}" if case else ""
        lines.append(
            f"| {words} | {' | '.join(ratios)} | {ours[i, 1]:.3g} | {ours[i, 2]:.3g} | {mmu} | {evaluated / 1e6:.3g} M "
            f"| {1e6 * ours[i, 1] / evaluated:.2g} |"
        )
    return lines


def notes(timed: list[Any], theirs: Times, ours: Times) -> list[str]:
    """Return what the table doesn't say."""
    curve = bayescm.from_array(np.asarray(matrices(500)).reshape(-1, 2, 2), dims="threshold")
    labelled = best(lambda: (forget(), bayescm.band(curve, grid=AXES)), 15)
    some, kept = np.random.default_rng(1).uniform(1.1, 3.0, (64, BINS)), np.empty((64, BINS))
    transcendental = best(lambda: (np.log(some, out=kept), np.exp(kept, out=kept)), 200) / some.size * 1e6
    rate = SAMPLES * SIMULATED_BINS**2 / theirs["pr_simulated_point", 1]  # per ms
    band = next(i for i, row in enumerate(timed) if row[0].startswith("exact PR band"))
    wide = points(timed[band][2], timed[band][3], COARSE, 0.997)
    ratio = {i: ours[i, 1] / ours[0, 1] for i, row in enumerate(timed) if row[0].startswith(("credible", "highest"))}
    return [
        f"- The exact PR band on 200 x 200 has {wide / 1e6:.2g} million points of windows. At mmu's measured "
        f"{rate / 1e3:.2g} million simulations a second, {SAMPLES:,} for each would take "
        f"{wide * SAMPLES / rate / 1e3 / 3600:.2g} hours on one thread: "
        f"{wide * SAMPLES / rate / ours[band, 1]:,.0f} times as long.",
        "- Beside our Wilks band: " + ", ".join(f"{timed[i][0]} {r:.1f}" for i, r in ratio.items()) + ".",
        f"- The labelled call `bayescm.band(...)` of the first row takes {labelled:.3g} ms.",
        f"- Floors: the inner loop on whole rows in the first-level cache takes {floor():.2g} ns per point (three "
        "loads, two fused multiply-adds, a minimum, a store). A logarithm and an exponential of NumPy, which each "
        f"point of a window's bounding box needs once however many matrices there are, take {transcendental:.2g} ns.",
    ]


def main() -> None:
    """Time everything and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mmu", required=True, help="python of the environment with mmu")
    parser.add_argument("--write", action="store_true", help="write results_regions.md")
    arguments = parser.parse_args()
    load, timed = os.getloadavg()[0], rows()
    with tempfile.TemporaryDirectory() as folder:
        agree = agreement(arguments.mmu, folder)
        theirs, ours = alternate(arguments.mmu, timed, folder)
    lines = [
        "# Results of regions.py",
        "",
        f"{time.strftime('%Y-%m-%d')}, {platform.processor() or platform.machine()}, {os.cpu_count()} cores, load "
        f"{load:.1f} at the start; Python {platform.python_version()}, bayescm {bayescm.__version__}, numpy "
        f"{version('numpy')}, numba {version('numba')}; mmu 0.1.2 on Python 3.11; kernels "
        f"{Path(cache_folder() or 'none').name}.",
        "",
        f"500 thresholds, {BINS} x {BINS} points unless said, one and two threads each; the least of two alternating "
        "runs of each side. Levels up to 95.4% agree with mmu's to " + agree + ".",
        "",
        *table(timed, theirs, ours),
        "",
        *notes(timed, theirs, ours),
    ]
    print("\n".join(lines))
    if arguments.write:
        (HERE / "results_regions.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
