"""What a user waits for, by default settings: the first and later calls of a process, in two commits, and peers.

Run `python benchmarks/defaults.py e72346ba`: the commit's package is unpacked beside, and both sides make each call in
processes of their own, taking turns, with the same compiled kernels where their sources agree. Seconds of the processor
(all threads), without imports of the package; the least of the later calls; the peak of memory of the process beyond
what imports took, in MiB. The last rows are peers: plain NumPy or SciPy doing the same by draws. ``--write`` writes
results_defaults.md too.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SETUP = """
import resource, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
import bayescm as b
from bayescm import planning, curves
rng = np.random.default_rng(0)
one = [[45, 5], [8, 142]]
two = {"A": one, "B": [[40, 10], [6, 145]]}
five = ["accuracy", "recall", "precision", "f1", "mcc"]
twenty = {f"s{i}": rng.integers(5, 100, (2, 2)) for i in range(20)}
y = rng.integers(0, 2, 500)
score = rng.random(500) * .6 + y * .3
many_y = rng.integers(0, 2, 10**6)
many = rng.random(10**6)
tp, fp = rng.binomial(50, .8, 1000), rng.binomial(90, .2, 1000)
board = b.from_cells(tp=tp, fn=50 - tp, fp=fp, tn=90 - fp, dims="system")
share = np.eye(50) * .8 / 50 + .2 / 2500
fifty = rng.multinomial(5000, share.ravel() / share.sum()).reshape(50, 50)
hundred = rng.multinomial(10000, (np.eye(100) * .8 / 100 + .2 / 10**4).ravel()).reshape(100, 100)
cells = rng.integers(10, 200, (1000, 4))
thousand = b.from_cells(**dict(zip(("tp", "fn", "fp", "tn"), cells.T)), dims="item")
k, n = rng.integers(0, 50, 20000), np.full(20000, 60)
shares = b.from_cells(tp=k, fn=n - k, fp=3, tn=5, dims="item")
def draws():
    found = []
    for counts in two.values():
        tn, fp, fn, tp = rng.dirichlet(np.ravel(counts) + .5, 10**5).T
        found.append([tp + tn, tp / (tp + fn), tp / (tp + fp), 2 * tp / (2 * tp + fp + fn),
            (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))])
    gap = np.array(found[0]) - found[1]
    return np.quantile(gap, [.025, .5, .975], axis=1), (gap > 0).mean(1)
def test_draws():
    theta = rng.dirichlet(np.ravel(one) + .5, 10**5)
    tn, fp, fn, tp = rng.multinomial(200, theta).T
    return np.quantile(tp / (tp + fn), [.025, .975])
def share_ends():
    p, z = k / n, 1.959963984540054
    half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    return centre - half, centre + half
def mcc_draws():
    for one in cells:
        tp, fn, fp, tn = rng.dirichlet(one + .5, 10**4).T
        x = (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        x.mean(), x.std(), np.quantile(x, [.025, .5, .975])
def kappa_draws():
    for one in cells:
        tp, fn, fp, tn = rng.dirichlet(one + .5, 10**4).T
        x = 2 * (tp * tn - fp * fn) / ((tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))
        x.mean(), x.std(), np.quantile(x, [.025, .5, .975])
def kappa_shortest():
    for one in cells:
        tp, fn, fp, tn = rng.dirichlet(one + .5, 10**4).T
        x = np.sort(2 * (tp * tn - fp * fn) / ((tp + fp) * (fp + tn) + (tp + fn) * (fn + tn)))
        x.mean(), x.std(), (x[9499:] - x[:501]).argmin()
def measure(call):
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    taken = []
    for _ in range(LATER + 1):
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print("MEASURED", taken[0], min(taken[1:]), (peak - held) / 1024)
"""
CALLS = {
    "`compare_systems`, 2 systems, accuracy": "b.compare_systems(two)",
    "`compare_systems`, 2 systems, 5 metrics": "b.compare_systems(two, five)",
    "`compare_systems`, 20 systems, accuracy (190 pairs)": "b.compare_systems(twenty)",
    "`decision_curve`, 99 matrices": "planning.decision_curve(y, score)",
    "`decision_curve`, 1 matrix, 99 thresholds": "planning.decision_curve(one)",
    "`probability`, precision and NPV": "b.probability(one, 'precision > .8 and npv > .9')",
    "`replicate`, recall": "planning.replicate(one, 'recall')",
    "`replicate`, MCC": "planning.replicate(one, 'mcc')",
    "`replicate`, all metrics": "planning.replicate(one)",
    "`at_prevalences`, all metrics": "planning.at_prevalences(one, prevalence=[.1, .2, .3])",
    "`leaderboard` of 1,000": "b.leaderboard(board)",
    "`summary`, 50 classes": "b.summary(fifty)",
    "`summary`, 100 classes": "b.summary(hundred)",
    "`summary`, MCC of 1,000 matrices": "b.summary(thousand, 'mcc')",
    "`summary`, MCC of 1,000 matrices, HDI": "b.summary(thousand, 'mcc', ci_kind='hdi')",
    "`summary`, kappa of 1,000 matrices": "b.summary(thousand, 'kappa')",
    "`summary`, kappa of 1,000 matrices, HDI": "b.summary(thousand, 'kappa', ci_kind='hdi')",
    "`curve_band`": "b.curve_band(y, score)",
    "`counts_at_thresholds`, 10^6 scores": "curves.counts_at_thresholds(many_y, many)",
    "`interval`, Wilson, 20,000 shares": "b.interval(shares, 'recall', method='wilson')",
}
PEERS = {
    "NumPy, 10^5 draws of 2 systems and 5 metrics": "draws()",
    "NumPy, 10^5 second tests, recall": "test_draws()",
    "NumPy, 10^4 draws of each of 1,000 matrices, MCC": "mcc_draws()",
    "NumPy, 10^4 draws of each of 1,000 matrices, kappa": "kappa_draws()",
    "NumPy, 10^4 draws of each of 1,000 matrices, kappa, HDI": "kappa_shortest()",
    "NumPy, Wilson's formula, 20,000 shares": "share_ends()",
    "NumPy, argsort of 10^6 scores": "np.argsort(many)",
}


def measured(tree: Path, call: str, later: int) -> list[float]:
    """Make one call a few times in a process of its own; return first and later seconds, and MiB."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BAYESCM_THREADS", "BAYESCM_COMPILE"), "1")
    code = SETUP.replace("LATER", str(later)) + f"measure(lambda: {call})"
    run = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **one, "PYTHONPATH": str(tree)}, cwd=tree,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [float(v) for v in run.stdout.split("MEASURED")[1].split()]


def best(runs: list[list[float]]) -> str:
    """Return the least of several runs as cells of a table."""
    first, later, memory = (min(values) for values in zip(*runs, strict=True))
    return f"{1000 * first:,.0f} | {1000 * later:,.1f} | {memory:,.0f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="with which this tree is compared")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--later", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    lines = [
        "# Default settings, first and later calls", "",
        f"`python benchmarks/defaults.py {given.commit} --write`: milliseconds of the processor, MiB beyond imports; "
        "the least of the rounds, one thread of a shared machine.", "",
        f"| call | {given.commit}: first | later | MiB | now: first | later | MiB |", "|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", given.commit, "bayescm"], cwd=ROOT, capture_output=True, check=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        for name, call in CALLS.items():
            sides = [[measured(tree, call, given.later) for tree in (Path(folder), ROOT)] for _ in range(given.rounds)]
            before, now = zip(*sides, strict=True)
            lines.append(f"| {name} | {best([*before])} | {best([*now])} |")
            print(lines[-1], flush=True)
    for name, call in PEERS.items():
        lines.append(f"| {name} | | | | {best([measured(ROOT, call, given.later) for _ in range(given.rounds)])} |")
        print(lines[-1], flush=True)
    if given.write:
        (ROOT / "benchmarks" / "results_defaults.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
