"""Kernels of the library beside the same ones compiled by Numba for this very processor: processor seconds, in turns.

Run `python benchmarks/kernels.py`: every call that the questions below make of a kernel is kept, with what it was
given, and made again by both. Numba compiles first what its cache doesn't have. ``--write`` writes
results_kernels.md too.
"""

import argparse
import copy
import os
import platform
import statistics
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

os.environ["BAYESCM_THREADS"] = "1"

import numpy as np

import bayescm
from bayescm._kernels import dispatch, library
from bayescm.curves import area_samples

RNG = np.random.default_rng(1)
MANY = bayescm.from_array(RNG.multinomial(100, [0.4, 0.1, 0.1, 0.4], 300).reshape(300, 2, 2))
ONE = bayescm.from_cells(tp=26, fn=3, fp=2, tn=60)
SYSTEMS = bayescm.from_array(RNG.multinomial(200, [0.4, 0.1, 0.1, 0.4], 30).reshape(30, 2, 2), dims="system")
Y = RNG.integers(0, 2, 300)
SCORE = Y + RNG.normal(size=(2, 300))
QUESTIONS = {
    "summary of 300, 4 metrics": lambda: bayescm.summary(MANY, ["mcc", "f1", "kappa", "dor"]),
    "points of a distribution": lambda: bayescm.metric_distribution(MANY[:20], "mcc").cdf([0.4, 0.6]),
    "quantiles of a distribution": lambda: bayescm.metric_distribution(MANY[:20], "mcc").ppf([0.1, 0.5]),
    "joint claim": lambda: bayescm.probability(ONE, "recall > .8 and precision > .7"),
    "regions": lambda: [bayescm.region(ONE, method=m) for m in ("wilks", "exact", "ellipse", "credible")],
    "region by density": lambda: bayescm.region(ONE, method="credible", ordering="density", prior="laplace"),
    "curve": lambda: bayescm.curve_posterior(Y, SCORE[0], random_seed=1),
    "two curves": lambda: bayescm.curve_posterior(Y, {"a": SCORE[0], "b": SCORE[1]}, random_seed=1),
    "smoothed curve": lambda: bayescm.curve_posterior(Y, SCORE[0], prior="smoothed", random_seed=1),
    "areas, resampled": lambda: area_samples.resamples(
        area_samples.check_items(Y, SCORE[0], None, None), ("auc", "average_precision"), 1000, 1
    ),
    "leaderboard of 30": lambda: bayescm.leaderboard(SYSTEMS, metric="recall", random_seed=1),
    "leaderboard of 30 by draws": lambda: bayescm.leaderboard(SYSTEMS, metric="recall", method="draws", random_seed=1),
}
ROUNDS = 7
Calls = dict[str, list[tuple[Any, ...]]]


def recorded() -> Calls:
    """Return what each kernel is given."""
    calls: Calls = defaultdict(list)
    get = library.get

    def recording(name: str) -> Any:
        kernel = get(name)

        def call(*given: Any) -> Any:
            calls[name].append(copy.deepcopy(given))
            return kernel(*given)

        return call

    library.get = recording
    for question in QUESTIONS.values():
        question()
    library.get = get
    return calls


def seconds(kernel: Any, calls: list[tuple[Any, ...]]) -> float:
    """Return the processor seconds that a kernel takes for calls."""
    again = copy.deepcopy(calls)
    start = time.process_time()
    for given in again:
        kernel(*given)
    return time.process_time() - start


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    lines = ["| kernel | calls | Numba, ms | library, ms | library / Numba |", "| --- | ---: | ---: | ---: | ---: |"]
    for name, calls in sorted(recorded().items()):
        module, function = name.split(".")
        kernels = getattr(dispatch.load(module), function), library.get(name)
        seconds(kernels[0], calls)  # compiles
        pairs = [(seconds(kernels[0], calls), seconds(kernels[1], calls)) for _ in range(ROUNDS)]
        was, now = (min(side) * 1e3 for side in zip(*pairs, strict=True))
        lines.append(
            f"| {name} | {len(calls)} | {was:.2f} | {now:.2f} | {statistics.median(b / a for a, b in pairs):.2f} |"
        )
        print(lines[-1], flush=True)
    if options.write:
        note = (
            f"Processor milliseconds, the least of {ROUNDS} rounds in turns, and the median ratio, on one thread of "
            f"{platform.machine()}; both with what a call from Python costs; load {os.getloadavg()[0]:.0f}."
        )
        text = f"# Kernels of the library beside those compiled here\n\n{note}\n\n" + "\n".join(lines) + "\n"
        Path(__file__).with_name("results_kernels.md").write_text(text)


if __name__ == "__main__":
    main()
