"""Areas under curves: ours, scikit-learn's in a bootstrap, plain NumPy and confidenceinterval, in one run, one thread.

``python -m uv run --group peers python benchmarks/curves.py`` (some 4 minutes). After a round to warm up every side
runs once per round, and the first changes place; ratios are medians over the rounds. ``--large SHARE`` is used by the
script itself: 10^7 scores in a process of their own, with its peak memory.
"""

import argparse
import gc
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BAYESCM_THREADS"), "1")
os.environ["BAYESCM_COMPILE"] = "1"

import numpy as np

import bayescm

DRAWS, PART = 1000, 20
"""Draws of a posterior; resamples of scikit-learn's that are timed, and multiplied."""
ROUNDS, LARGE, LARGE_DRAWS = 7, 10**7, 100


def items(n: int, share: float) -> tuple[Any, Any]:
    """Return labels and scores without ties."""
    rng = np.random.default_rng(1)
    y = (rng.random(n) < share).astype(int)
    return y, rng.normal(y, 1)


def ours(y: Any, score: Any, prior: str) -> tuple[float, float]:
    """Draw both areas."""
    made = bayescm.curve_posterior(
        y, score, over=None, prior=prior, prevalence="fixed", chains=1, draws=DRAWS, random_seed=1
    )["posterior"]  # fmt: skip
    return float(made["auc"].std()), float(made["average_precision"].std())


def presorted(y: Any, score: Any) -> tuple[float, float]:
    """Draw both areas with NumPy: a Bayesian bootstrap of items sorted once, without care for ties."""
    rng = np.random.default_rng(1)
    case = (y[np.argsort(-score)] == 1).astype(float)
    auc, ap = np.empty(DRAWS), np.empty(DRAWS)
    share = case.mean()
    for d in range(DRAWS):
        weight = rng.standard_exponential(len(case))
        up = weight * case
        t = np.cumsum(up)
        f = np.cumsum(weight) - t
        up /= t[-1]
        f /= f[-1]
        t /= t[-1]
        auc[d] = 1.0 - up @ f
        t *= share
        ap[d] = up @ (t / (t + (1 - share) * f))
    return float(auc.std()), float(ap.std())


def resampled(y: Any, score: Any) -> tuple[float, float]:
    """Resample items, and let scikit-learn compute both areas."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    rng = np.random.default_rng(1)
    found = []
    for _ in range(PART):
        chosen = rng.integers(0, len(y), len(y))
        found.append((roc_auc_score(y[chosen], score[chosen]), average_precision_score(y[chosen], score[chosen])))
    auc, ap = np.std(found, axis=0, ddof=1)
    return float(auc), float(ap)


def midranks(y: Any, score: Any) -> float:
    """Return DeLong's standard error by midranks of NumPy and loops over tie groups in arrays."""
    case, control = score[y == 1], score[y == 0]

    def rank(values: Any) -> Any:
        _, which, number = np.unique(values, return_inverse=True, return_counts=True)
        return (np.cumsum(number) - (number - 1) / 2)[which]

    together, m = rank(np.concatenate([case, control])), len(case)
    v10 = (together[:m] - rank(case)) / len(control)
    v01 = 1.0 - (together[m:] - rank(control)) / m
    return float(np.sqrt(v10.var(ddof=1) / m + v01.var(ddof=1) / len(control)))


def rounds(sides: dict[str, Callable[[], Any]], number: int) -> dict[str, tuple[float, float]]:
    """Return milliseconds, and the median over rounds of the time relative to the first side's."""
    names = list(sides)
    times: dict[str, list[float]] = {name: [] for name in names}
    for side in sides.values():
        side()
    for i in range(number):
        for name in names[i % len(names) :] + names[: i % len(names)]:
            gc.collect()
            start = time.perf_counter()
            sides[name]()
            times[name].append(time.perf_counter() - start)
    first = np.array(times[names[0]])
    return {n: (1000 * float(np.median(t)), float(np.median(np.array(t) / first))) for n, t in times.items()}


def large(share: float) -> None:
    """Print time and peak memory of 10^7 scores."""
    y, score = items(LARGE, share)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    start = time.perf_counter()
    made = bayescm.curve_posterior(y, score, over=None, chains=1, draws=LARGE_DRAWS, random_seed=1)["posterior"]
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    start = time.perf_counter()
    error = float(bayescm.auc(y, score, method="delong")["se"])
    delong = time.perf_counter() - start
    print(
        f"| {share:g} | {seconds:.0f} s | {before:.1f} GiB | {peak:.1f} GiB | {delong:.0f} s | "
        f"{float(made['auc'].std()):.2e} | {error:.2e} |"
    )


def head(*names: str) -> None:
    """Print the head of a table."""
    print("| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|")


def main() -> None:
    """Run all sections and print the tables."""
    print("## A. 1,000 draws of AUC and average precision, 10^4 scores, one thread\n")
    head("share of cases", "side", "milliseconds", "time / ours", "sd of AUC, of average precision")
    for share in (0.5, 0.1):
        y, score = items(10_000, share)
        sides: dict[str, Callable[[], Any]] = {
            "bayescm, prior item": lambda y=y, s=score: ours(y, s, "prior_item"),
            "bayescm, smoothed": lambda y=y, s=score: ours(y, s, "smoothed"),
            "NumPy, sorted once": lambda y=y, s=score: presorted(y, s),
            f"scikit-learn, {PART} resamples": lambda y=y, s=score: resampled(y, s),
        }
        for name, (ms, ratio) in rounds(sides, ROUNDS).items():
            factor = DRAWS / PART if name.startswith("scikit") else 1
            told = f"{name} x {factor:.0f}" if factor > 1 else name
            sd = " ".join(f"{value:.5f}" for value in sides[name]())
            print(f"| {share} | {told} | {ms * factor:.0f} | {ratio * factor:.2f} | {sd} |")
    print("\n## B. DeLong's standard error, 10^5 scores\n")
    head("side", "milliseconds", "time / ours", "standard error")
    from confidenceinterval.delong import delong_roc_variance

    y, score = items(100_000, 0.3)
    delongs: dict[str, Callable[[], Any]] = {
        "bayescm.auc": lambda: float(bayescm.auc(y, score, method="delong")["se"]),
        "NumPy midranks": lambda: midranks(y, score),
        "confidenceinterval": lambda: float(np.sqrt(delong_roc_variance(y, score)[1])),
    }
    for name, (ms, ratio) in rounds(delongs, ROUNDS).items():
        print(f"| {name} | {ms:.1f} | {ratio:.2f} | {delongs[name]():.8f} |")
    print(f"\n## C. 10^7 scores, {LARGE_DRAWS} draws\n")
    head("share of cases", "posterior", "memory before", "peak", "`auc` (DeLong)", "sd of the draws", "DeLong's")
    for share in (0.5, 0.01):
        call = [sys.executable, __file__, "--large", str(share)]
        print(subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip(), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", type=float)
    given = parser.parse_args().large
    if given is None:
        main()
    else:
        large(given)
