"""Time the same calls in two commits, in turn, to see that the house is as fast as it was.

Run `python benchmarks/commits.py 2f79c95`: the commit is checked out beside, its kernels compiled in a cache of their
own, and each call made by one process of each side, taking turns. A ratio is the median over rounds of (time now) /
(time then): below 1, now is faster. ``--write`` writes results_commits.md too.
"""

import argparse
import inspect
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
ROOT = Path(__file__).parents[1]
SETUP = """
import numpy as np, bayescm as b
rng = np.random.default_rng(1)
y = rng.integers(0, 2, 2000)
score = y + rng.normal(0, 1, 2000)
one = b.from_cells(tp=50, fn=10, fp=20, tn=120)
many = b.from_array(rng.integers(0, 200, (10_000, 2, 2)))
seven = b.from_array(rng.integers(1, 50, (7, 7)))
systems = b.from_array(np.moveaxis(rng.multinomial(500, [.4, .1, .1, .4], 30).reshape(30, 2, 2), 0, 0))
pair = b.predictions(y, {"a": score > .4, "b": score + rng.normal(0, .5, 2000) > .5})
curve = b.counts_at_thresholds(y, score)
some = curve.isel(threshold=slice(None, None, 20))
"""
CALLS = {
    "summary of one matrix": "b.summary(one)",
    "summary, three_binomial": "b.summary(one, model='three_binomial')",
    "summary, equal tails": "b.summary(one, ci_kind='eti')",
    "summary of 10,000 matrices, one Beta each": "b.summary(many, ['recall', 'precision', 'accuracy'])",
    "summary of 7 classes": "b.summary(seven)",
    "distribution of MCC": "b.metric_distribution(one, 'mcc').hdi(.95)",
    "10,000 draws": "b.posterior(one, draws=2500, random_seed=1)",
    "interval, Wilson": "b.interval(many, 'recall')",
    "region, Wilks": "b.region(one)",
    "region, exact": "b.region(one, method='exact')",
    "contour": "b.regions.contour(one)",
    "band of 100 thresholds": "b.band(some)",
    "area under ROC, DeLong": "b.auc(y, score, method='delong')",
    "area under ROC, posterior": "b.auc(y, score, method='bayesian', random_seed=1)",
    "average precision": "b.aucpr(y, score, method='logit')",
    "curve posterior": "b.curve_posterior(y, score, SAMPLES=500, random_seed=1)",
    "counts at thresholds": "b.counts_at_thresholds(y, score)",
    "comparison, same items": "b.compare_systems(pair, random_seed=1)",
    "leaderboard of 30": "b.leaderboard(systems, random_seed=1)",
    "leaderboard, Jeffreys": "b.leaderboard(systems, prior='jeffreys', random_seed=1)",
    "replication": "b.replicate(one, ['accuracy', 'recall'], random_seed=1)",
    "at other prevalences": "b.at_prevalences(one, prevalence=[.01, .1, .5], random_seed=1)",
    "sample size": "b.sample_size('recall', width=.1)",
}


def serve() -> None:
    """Make the calls that come in, and answer with their seconds."""
    found: dict[str, Any] = {}
    exec(SETUP, found)
    named = "samples" if "draws" in inspect.signature(found["b"].curve_posterior).parameters else "draws"
    print("ready", flush=True)
    for line in sys.stdin:
        call = compile(line.replace("SAMPLES", named), "call", "eval")
        begun = time.perf_counter()
        try:
            eval(call, found)
            answer: Any = time.perf_counter() - begun
        except Exception as error:  # the other commit may not have the call
            answer = f"{type(error).__name__}: {error}"[:80]
        print(json.dumps(answer), flush=True)


def git(*words: str) -> str:
    """Run git here, and return what it says."""
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True).stdout.strip()


class Side:
    """A process that runs one commit."""

    def __init__(self, folder: Path, cache: str) -> None:
        own = dict.fromkeys(THREADS, "1") | {"PYTHONPATH": str(folder), "BAYESCM_CACHE_DIR": cache}
        command = [sys.executable, "-W", "ignore", __file__, "--serve"]
        self.process = subprocess.Popen(
            command, cwd=folder, env=os.environ | own, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )  # fmt: skip
        self.line()

    def line(self) -> str:
        """Return the next line of the answer."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def seconds(self, call: str) -> float | str:
        """Return the seconds of a call, or why it failed."""
        assert self.process.stdin is not None
        self.process.stdin.write(call + "\n")
        self.process.stdin.flush()
        answer: float | str = json.loads(self.line())
        return answer


def compare(then: Side, now: Side, rounds: int) -> str:
    """Return a table of ratios."""
    rows = ["| call | now / then | now, ms |", "| --- | ---: | ---: |"]
    for name, call in CALLS.items():
        first = [side.seconds(call) for side in (then, now)]
        wrong = next((str(answer) for answer in first if isinstance(answer, str)), None)
        if wrong is not None:
            rows.append(f"| {name} | {wrong} | |")
            continue
        turns = [[float(side.seconds(call)) for side in (then, now)] for _ in range(rounds)]
        ratio = statistics.median(new / old for old, new in turns)
        rows.append(f"| {name} | {ratio:.2f} | {1000 * statistics.median(new for _, new in turns):.3g} |")
        print(rows[-1], flush=True)
    return "\n".join(rows)


def main() -> None:
    """Check the other commit out, time both, print or write the table."""
    parser = argparse.ArgumentParser(description="Time the same calls in two commits.")
    parser.add_argument("commit", nargs="?", default="2f79c95")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results_commits.md too")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
        git("worktree", "add", "--quiet", "--detach", folder, options.commit)
        try:
            now = Side(ROOT, os.environ.get("BAYESCM_CACHE_DIR", ""))
            table = compare(Side(Path(folder), cache), now, options.rounds)
        finally:
            git("worktree", "remove", "--force", folder)
    title = (
        f"# Results of commits.py\n\n{git('rev-parse', '--short', 'HEAD')} (now) beside {options.commit} (then), "
        f"taking turns, one thread, {options.rounds} rounds; load {os.getloadavg()[0]:.1f} at the end."
    )
    if options.write:
        Path(__file__).with_name("results_commits.md").write_text(f"{title}\n\n{table}\n")


if __name__ == "__main__":
    main()
