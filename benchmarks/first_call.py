"""The first call of a process whose kernel cache is empty: seconds of the processor, in two commits.

Run `python benchmarks/first_call.py b720028`: the commit is checked out beside, and both sides make each call in
processes of their own, taking turns, each with a new cache folder and the .pyc files of both made before; this side has
the library of compiled kernels, as a wheel has it (`python -m bayescm._kernels.ahead` makes it). The seconds are those
of the whole process with all its threads, imports included; the first row is what imports alone take. ``--write``
writes results_first_call.md too.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bayescm._kernels.cache import sources
from bayescm._kernels.library import NAME, library

ROOT = Path(__file__).parents[1]
SETUP = """
import resource, sys
import numpy as np
import bayescm as b
rng = np.random.default_rng(1)
one = b.from_cells(tp=26, fn=0, fp=2, tn=6)
many = b.from_array(rng.multinomial(100, [.4, .1, .1, .4], 1000).reshape(1000, 2, 2))
larger = b.from_cells(tp=50, fn=10, fp=20, tn=120)
two = b.from_cells(tp=[26, 24], fn=[0, 2], fp=[2, 1], tn=[6, 8])
five = b.from_array(rng.multinomial(100, [.4, .1, .1, .4], 5).reshape(5, 2, 2))
three = b.from_array(rng.integers(1, 30, (3, 3)))
y = rng.integers(0, 2, 100)
score = y + rng.normal(0, 1, 100)
"""
AFTER = """
used = resource.getrusage(resource.RUSAGE_SELF)
print("SECONDS", used.ru_utime + used.ru_stime)
"""
CALLS = {
    "summary, recall (imports)": "b.summary(one, ['recall'])",
    "summary of 1,000, MCC": "b.summary(many, ['mcc'])",
    "joint claim": "b.probability(one, 'recall > .8 and precision > .7')",
    "curve posterior, 100 items": "b.curve_posterior(y, score, random_seed=1)",
    "credible region": "b.region(one, method='credible')",
    "summary, all 28 metrics": "b.summary(one)",
    "summary, MCC": "b.summary(one, ['mcc'])",
    "summary, three_binomial": "b.summary(larger, model='three_binomial')",
    "summary, three_binomial, no false negatives": "b.summary(one, model='three_binomial')",
    "summary, 3 classes": "b.summary(three)",
    "comparison of two matrices": "b.compare_systems(two, random_seed=1)",
    "region": "b.region(one)",
    "leaderboard of 5": "b.leaderboard(five, random_seed=1)",
    "curve band, 100 items": "b.curve_band(y, score, random_seed=1)",
}


def seconds(tree: Path, call: str) -> float:
    """Make one call in a process of its own with an empty cache; return the processor's seconds."""
    with tempfile.TemporaryDirectory() as empty:
        if tree == ROOT:
            Path(empty, sources()).mkdir()
            shutil.copy(library()._name, Path(empty, sources(), NAME))
        environment = os.environ | {"PYTHONPATH": str(tree), "BAYESCM_CACHE_DIR": empty, "BAYESCM_THREADS": "1"}
        environment.pop("BAYESCM_COMPILE", None)
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", f"{SETUP}{call}{AFTER}"],
            cwd=empty, env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
    return float(done.stdout.split("SECONDS")[1])


def main() -> None:
    """Time all calls, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--calls", nargs="*", default=list(CALLS))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if library() is None:
        parser.error("no library of these kernels: `python -m bayescm._kernels.ahead` makes it")
    lines = ["| call | old, s | new, s | old / new |", "| --- | ---: | ---: | ---: |"]
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder, "old")
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--detach", str(old), options.commit], check=True, capture_output=True)
        try:
            for tree in (old, ROOT):
                seconds(tree, "b.summary(one, ['recall'])")  # writes the .pyc files
            for name in options.calls:
                pairs = [(seconds(old, CALLS[name]), seconds(ROOT, CALLS[name])) for _ in range(options.rounds)]
                was, now = (statistics.median(side) for side in zip(*pairs, strict=True))
                gain = statistics.median(a / b for a, b in pairs)
                lines.append(f"| {name} | {was:.1f} | {now:.1f} | {gain:.1f} |")
                print(lines[-1], f"load {os.getloadavg()[0]:.1f}", flush=True)
        finally:
            subprocess.run([*git, "remove", "--force", str(old)], check=True, capture_output=True)
    table = "\n".join(lines)
    title = "# The first call of a process, from an empty kernel cache"
    note = (
        f"Processor seconds of the whole process, imports included (median of {options.rounds}; old: "
        f"{options.commit}); load of the {os.cpu_count()} processors at the end: {os.getloadavg()[1]:.0f}."
    )
    if options.write:
        (ROOT / "benchmarks" / "results_first_call.md").write_text(f"{title}\n\n{note}\n\n{table}\n")
    print(table)


if __name__ == "__main__":
    main()
