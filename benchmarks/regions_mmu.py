"""Time the compiled functions of mmu 0.1.2 and save their scores. Runs in an environment of its own.

mmu needs Python 3.11 and NumPy below 2, so it cannot share an environment with bayescm::

    python -m uv venv --python 3.11 DIR
    python -m uv pip install --python DIR mmu "numpy<2"
    python benchmarks/regions_data.py > cases.json
    DIR/bin/python benchmarks/regions_mmu.py cases.json scores.npz > times.json

Prints seconds: for each case the least and all of them, for each number of threads.
"""

import json
import sys
import time

import mmu
import numpy as np
from mmu.lib import _mmu_core as core

SIGMAS, EPSILON, SEED = 6.0, 1e-12, 1  # what the classes of mmu pass by default; seed 0 would mean a random one
FILL = {"wilks_band": 65.0, "ellipse_band": 1e4, "ellipse_point": 1e4}  # the score of a cell outside every window
FUNCTIONS = {
    "wilks_band": "{}_multn_grid_curve_error",  # PRCU, ROCCU
    "wilks_point": "{}_multn_error",  # PRU, ROCU
    "ellipse_band": "{}_bvn_grid_curve_error",  # PRCU, ROCCU with method="bvn"
    "ellipse_point": "{}_bvn_grid_error",  # no class calls it: PRU with "bvn" has the covariance alone
    "simulated_point": "{}_multn_sim_error",  # PrecisionRecallSimulatedUncertainty
}
NAMES = {"wilks_point": ("scores", "bounds"), "simulated_point": ("scores", "bounds"), "wilks_band": ("scores",)}


def axis(bins):
    """Return the axis of a curve, the same for both rates."""
    return np.linspace(1e-12, 1 - 1e-12, bins)


def function(case, threads):
    """Return the function for a case as mmu's classes choose it, without `_mt` for one thread, or None."""
    return getattr(core, FUNCTIONS[case["method"]].format(case["space"]) + ("_mt" if threads > 1 else ""), None)


def call(case, threads):
    """Return a function of no arguments that runs a case, or None where mmu has no such function."""
    run, grid = function(case, threads), axis(case["bins"])
    matrices = np.array(case["matrices"], dtype=np.int64)
    options = {"n_sigmas": SIGMAS, "epsilon": EPSILON} | ({"n_threads": threads} if threads > 1 else {})
    if case["method"] == "simulated_point":
        options |= {"n_sims": case["samples"], "seed": SEED}
    if case["method"] in ("wilks_point", "simulated_point"):
        options |= {"n_bins": case["bins"], "conf_mat": matrices[0]}
    else:
        options |= {"precs_grid": grid, "recs_grid": grid, "conf_mat": matrices}
    if case["method"].endswith("band"):
        options["n_conf_mats"] = len(matrices)
    elif case["method"] == "ellipse_point":
        options["conf_mat"] = matrices[0]
    return None if run is None else lambda: run(**options)


def measure(case, threads):
    """Run a case; return what to print and the arrays of the first number of threads."""
    runs = {n: one for n in threads if (one := call(case, n)) is not None}
    names = NAMES.get(case["method"], ("covariances", "scores"))
    results = {} if "samples" in case else {n: one() for n, one in runs.items()}  # to warm up, where that is quick
    times = {n: [] for n in runs}
    for i in range(case["rounds"]):
        for n in (list(runs) * 2)[i % len(runs) :][: len(runs)]:
            start = time.perf_counter()
            results[n] = runs[n]()
            times[n].append(time.perf_counter() - start)
    parts = {n: out if isinstance(out, tuple) else (out,) for n, out in results.items()}
    arrays = {n: dict(zip(names, part, strict=True)) for n, part in parts.items()}
    first, *rest = (one["scores"] for one in arrays.values())
    report = {
        "functions": {n: function(case, n).__name__ for n in runs},
        "best": {n: min(t) for n, t in times.items()},
        "all": times,
        "largest_difference_between_threads": max((float(np.abs(first - one).max()) for one in rest), default=0.0),
        "share_filled": float((first == FILL.get(case["method"])).mean()),
    }
    if "samples" in case:
        samples = case["samples"] * case["bins"] ** 2
        report["samples_per_second"] = {n: samples / min(t) for n, t in times.items()}
    return report, {f"{case['name']}/{name}": values for name, values in arrays[min(arrays)].items()}


def main():
    """Run all cases of the file given, save the scores, print the times."""
    with open(sys.argv[1]) as file:
        given = json.load(file)
    out, saved = {}, {}
    for case in given["cases"]:
        out[case["name"]], arrays = measure(case, given["threads"])
        saved |= arrays | {f"axis_{case['bins']}": axis(case["bins"])}
        print(case["name"], out[case["name"]]["best"], file=sys.stderr, flush=True)
    np.savez(sys.argv[2], **saved)
    versions = {"mmu": mmu.__version__, "numpy": np.__version__, "python": sys.version.split()[0]}
    print(json.dumps({"versions": versions, "seconds": out}, indent=1))


if __name__ == "__main__":
    main()
