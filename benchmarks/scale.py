"""Cost per matrix: eager, dask with one thread and with two, and scipy.special by apply_ufunc, in one run.

``python benchmarks/scale.py`` takes some minutes; ``--write`` puts the tables into results_scale.md too. One thread
inside each call: what runs at the same time are dask's chunks.
"""
# ruff: noqa: E402

import argparse
import os
import platform
import resource
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "BAYESCM_THREADS")
os.environ |= dict.fromkeys(THREADS, "1")  # before NumPy is imported

import dask
import dask.array as da
import numpy as np
import xarray as xr
from scipy import special

import bayescm
from bayescm import metrics
from bayescm.distributions import Beta, interpolation

PEER = "prob-conf-mat" if find_spec("prob_conf_mat") else None
FOUR = ["recall", "precision", "accuracy", "f1"]
TEN = {
    "prevalence": ("tp fn", "fp tn"), "predicted_prevalence": ("tp fp", "fn tn"), "recall": ("tp", "fn"),
    "specificity": ("tn", "fp"), "precision": ("tp", "fp"), "negative_predictive_value": ("tn", "fn"),
    "accuracy": ("tp tn", "fn fp"), "error_rate": ("fn fp", "tp tn"), "jaccard": ("tp", "fn fp"), "f1": ("tp", "fn fp"),
}  # fmt: skip
"""Metrics of one Beta: the cells that are added to its concentrations."""
CHUNKS, ROUNDS, MANY_ROUNDS, SLICE, DRAWS = 8, 3, 2, 100_000, 10_000
Call = Callable[[xr.DataArray], Any]


def matrices(n: int) -> xr.DataArray:
    """Return n matrices: 20 to 2000 items, prevalence and rates all over the place."""
    rng = np.random.default_rng(1)
    p = rng.dirichlet([8.0, 1.0, 1.0, 4.0], n)
    return bayescm.from_array(rng.multinomial(rng.integers(20, 2000, n), p).reshape(n, 2, 2), dims="matrix")


def by_scipy(counts: xr.DataArray) -> xr.DataArray:
    """Return the equal-tailed bounds of the four proportions behind the four metrics, and nothing else."""

    def bounds(values: Any) -> Any:
        (tn, fp), (fn, tp) = np.moveaxis(values + 0.5, 0, -1)
        pairs = (tp, fn), (tp, fp), (tp + tn, fp + fn), (tp, fp + fn)
        tails = [special.betaincinv(a, b, q) for a, b in pairs for q in (0.025, 0.975)]
        return np.stack(tails, -1).reshape(*values.shape[:-2], 4, 2)

    return xr.apply_ufunc(
        bounds, counts, input_core_dims=[["actual", "predicted"]], output_core_dims=[["metric", "ci_bound"]],
        dask="parallelized", output_dtypes=[float], dask_gufunc_kwargs={"output_sizes": {"metric": 4, "ci_bound": 2}},
    )  # fmt: skip


def concentrations(values: Any) -> tuple[Any, Any]:
    """Return those of the ten Betas, (10, n)."""
    (tn, fp), (fn, tp) = np.moveaxis(values + 0.5, 0, -1)
    cells = {"tn": tn, "fp": fp, "fn": fn, "tp": tp}
    a, b = (np.stack([sum(cells[c] for c in names[k].split()) for names in TEN.values()]) for k in (0, 1))
    return a, b


def labelled(function: Callable[[Any, Any], Any], counts: xr.DataArray) -> xr.DataArray:
    """Return what a function makes of the concentrations, (metric, number)."""
    return xr.apply_ufunc(
        lambda values: np.moveaxis(function(*concentrations(values)), (0, 1), (-1, -2)), counts,
        input_core_dims=[["actual", "predicted"]], output_core_dims=[["metric", "number"]],
    )  # fmt: skip


def one_by_one(call: Call) -> Call:
    """Return a call in which no Beta is interpolated."""

    def called(counts: xr.DataArray) -> Any:
        few, interpolation.FEW = interpolation.FEW, 10**12
        try:
            return call(counts)
        finally:
            interpolation.FEW = few

    return called


def by_draws(counts: xr.DataArray) -> Any:
    """Return mean, sd, median and equal tails of the ten metrics from draws of each matrix."""
    rng, out = np.random.default_rng(1), np.empty((counts.sizes["matrix"], len(TEN), 5))
    for i, one in enumerate(counts.values):
        (tn, fp), (fn, tp) = theta = rng.standard_gamma(one[..., None] + 0.5, (2, 2, DRAWS))
        theta /= theta.sum((0, 1))
        jaccard, accuracy = tp / (tp + fn + fp), tp + tn
        values = np.stack([
            tp + fn, tp + fp, tp / (tp + fn), tn / (tn + fp), tp / (tp + fp), tn / (tn + fn), accuracy, 1.0 - accuracy,
            jaccard, 2.0 * jaccard / (1.0 + jaccard),
        ])  # fmt: skip
        out[i] = np.stack([values.mean(1), values.std(1), *np.quantile(values, [0.5, 0.025, 0.975], axis=1)], -1)
    return out


def by_peer(counts: xr.DataArray) -> Any:
    """Summarise nine of the metrics with prob-conf-mat, which has no predicted prevalence: HDIs of draws."""
    from prob_conf_mat import Study
    from prob_conf_mat.metrics import get_metric

    names = ["prevalence", "tpr", "tnr", "ppv", "npv", "accuracy", "fdr", "jaccard", "f1"]
    found = []
    for one in counts.values:
        study = Study(seed=1, num_samples=DRAWS, ci_probability=0.95)
        study.add_experiment("a/a", confusion_matrix=one.tolist(), prevalence_prior=1.0, confusion_prior=0.5)
        for name in names:
            study.add_metric(name)
            label = None if get_metric(name).is_multiclass else 1
            found.append(study.report_metric_summaries(name, class_label=label, table_fmt="records")[0])
    return found


def scipy_tails(*tails: float) -> Call:
    """Return a call for quantiles of the ten Betas."""
    return lambda c: labelled(lambda a, b: np.stack([special.betaincinv(a, b, q) for q in tails]), c)


MANY: dict[str, tuple[int, Call]] = {
    "bayescm.summary, ETI": (1_000_000, lambda c: bayescm.summary(c, [*TEN], ci_kind="eti")),
    "bayescm.summary, HDI": (1_000_000, lambda c: bayescm.summary(c, [*TEN])),
    "bayescm: ETIs alone, by apply_ufunc": (
        1_000_000, lambda c: labelled(lambda a, b: np.stack(Beta(a, b).eti(0.95)), c)
    ),
    "scipy.special.betaincinv: ETIs alone, by apply_ufunc": (10_000, scipy_tails(0.025, 0.975)),
    "scipy.special.betaincinv: ETIs and medians": (10_000, scipy_tails(0.025, 0.5, 0.975)),
    "bayescm.summary, ETI, no Beta interpolated": (
        10_000, one_by_one(lambda c: bayescm.summary(c, [*TEN], ci_kind="eti"))
    ),
    "bayescm.summary, HDI, no Beta interpolated": (10_000, one_by_one(lambda c: bayescm.summary(c, [*TEN]))),
    f"NumPy: {DRAWS:,} draws, ETI": (300, by_draws),
    **({f"{PEER}: {DRAWS:,} draws, HDI": (20, by_peer)} if PEER else {}),
}  # fmt: skip


def ten_metrics(quick: bool) -> list[str]:
    """Return the rows of the table of ten metrics of one Beta: the processor's microseconds per matrix."""
    times: dict[str, list[float]] = {name: [] for name in MANY}
    sizes = {name: n // 10 if quick else n for name, (n, _) in MANY.items()}
    counts = matrices(max(sizes.values()))
    for round_ in range(MANY_ROUNDS):
        for name, (_, call) in MANY.items():
            n, busy = sizes[name], 0.0
            if round_ == 0 and n > SLICE:  # which makes the tables
                call(counts[: min(n, SLICE)])
            for start in range(0, n, SLICE):
                busy += timed(partial(call, counts[start : min(start + SLICE, n)]))[1]
            times[name].append(busy / n * 1e6)
    means = {name: float(np.mean(values)) for name, values in times.items()}
    scipy = means["scipy.special.betaincinv: ETIs alone, by apply_ufunc"]
    return [f"| {name} | {sizes[name]:,} | {mean:,.3g} | {scipy / mean:,.2g} |" for name, mean in means.items()]


CALLS: dict[str, tuple[int, Call]] = {
    "evaluate: recall, F1, MCC of the counts": (1_000_000, lambda c: metrics.evaluate(c, ["recall", "f1", "mcc"])),
    "scipy: ETIs of four Betas alone": (20_000, by_scipy),
    "summary: four Betas, ETI": (20_000, lambda c: bayescm.summary(c, FOUR, ci_kind="eti")),
    "summary: four Betas, HDI": (20_000, lambda c: bayescm.summary(c, FOUR)),
    "probability: recall > .8": (20_000, lambda c: bayescm.probability(c, "recall > .8")),
    "interval: Wilson, three rates": (20_000, lambda c: bayescm.interval(c, FOUR[:3], method="wilson")),
    "summary: balanced accuracy (one integral)": (1_000, lambda c: bayescm.summary(c, "balanced_accuracy")),
    "summary: MCC (two integrals)": (400, lambda c: bayescm.summary(c, "mcc")),
    "posterior: 1,000 draws": (400, lambda c: bayescm.posterior(c, metrics=FOUR, chains=1, random_seed=1)),
    "replicate: recall, 50 items": (200, lambda c: bayescm.planning.replicate(c, "recall", n_items=50)),
    "decide: 10,000 draws": (100, lambda c: bayescm.decide(c, {"fn": 10, "fp": 1}, draws=10_000, random_seed=1)),
}  # fmt: skip


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    """Return the seconds of one call, and those of the processors."""
    start, busy = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - start, time.process_time() - busy


def of_chunks(call: Call, counts: xr.DataArray, workers: int) -> Any:
    """Compute in dask's threads."""
    with dask.config.set(scheduler="threads", num_workers=workers):
        return call(counts.chunk(matrix=-(-counts.sizes["matrix"] // CHUNKS))).compute()


def row(name: str, n: int, call: Call) -> str:
    """Return a row of the table: microseconds per matrix, medians of rounds in turns."""
    counts = matrices(n)
    ways = [partial(call, counts), partial(of_chunks, call, counts, 1), partial(of_chunks, call, counts, 2)]
    times = np.array([[timed(way) for way in ways] for _ in range(ROUNDS + 1)])[1:]
    wall, busy = np.moveaxis(np.median(times, 0), -1, 0) / n * 1e6
    cells = " | ".join(f"{value:,.3g}" for value in (*busy, *wall))
    return f"| {name} | {n:,} | {cells} |"


def reduced(n: int) -> str:
    """Return a row of the run that keeps one number per metric of n matrices, made chunk by chunk."""

    def block(block_info: Any = None) -> Any:
        low, high = block_info[None]["array-location"][0]
        return matrices(high - low).values

    data = da.map_blocks(block, chunks=((100_000,) * (n // 100_000), (2,), (2,)), dtype=np.int64)
    counts = xr.DataArray(data, dims=("matrix", "actual", "predicted"), coords={"actual": [0, 1], "predicted": [0, 1]})
    with dask.config.set(scheduler="threads", num_workers=2):
        seconds, busy = timed(lambda: bayescm.summary(counts, FOUR, ci_kind="eti").width.mean("matrix").compute())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    return f"| {n:,} | {seconds:.1f} | {busy:.1f} | {busy / n * 1e6:.2f} | {peak:,.0f} |"


def main(write: bool, quick: bool) -> None:
    """Print the tables."""
    load = os.getloadavg()[0]
    whole = [reduced(n) for n in ((100_000,) if quick else (100_000, 1_000_000))]  # before all else: peaks only grow
    ten = ten_metrics(quick)
    rows = [row(name, n // 10 if quick else n, call) for name, (n, call) in CALLS.items()]
    lines = [
        f"Microseconds per matrix, medians of {ROUNDS} rounds in turns; {CHUNKS} chunks; 2 cores, for which "
        f"{load:.1f} programs queued in the minute before. bayescm "
        f"{bayescm.__version__}, dask {version('dask')}, NumPy {np.__version__}, SciPy {version('scipy')}, Python "
        f"{platform.python_version()}.",
        "",
        "| call | matrices | processor: eager | dask, 1 thread | dask, 2 threads | wall: eager | dask, 1 thread | "
        "dask, 2 threads |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *rows,
        "",
        "Four Betas (recall, precision, accuracy, F1), chunks of 100,000 that are made, summarised (ETI) and reduced "
        "to a mean width; two threads; the peak is that of the process.",
        "",
        "| matrices | seconds | processor seconds | of these per matrix, microseconds | peak memory, MiB |",
        "| ---: | ---: | ---: | ---: | ---: |",
        *whole,
        "",
        f"Ten metrics of one Beta, exact, eager, slices of {SLICE:,} matrices, one thread: the processor's "
        f"microseconds per matrix, means of {MANY_ROUNDS} rounds in turns. "
        "The last column is what SciPy takes for ETIs alone over it. "
        + ("" if PEER else "prob-conf-mat isn't installed here: no row."),
        "",
        "| what | matrices | microseconds per matrix | SciPy's ETIs / this |",
        "| --- | ---: | ---: | ---: |",
        *ten,
    ]
    text = "\n".join(lines)
    print(text)
    if write:
        Path(__file__).with_name("results_scale.md").write_text(f"# Scale\n\n{text}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    main(options.write, options.quick)
