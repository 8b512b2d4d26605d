"""What a user waits for, by default settings: the first and later calls of a process, in two commits, and peers.

Run `python benchmarks/defaults.py e72346ba`: the commit's package is unpacked beside, and both sides make each call in
processes of their own, taking turns, with the same compiled kernels where their sources agree. Seconds of the processor
(all threads), without imports of the package; the least of the later calls; the peak of memory of the process beyond
what imports took, in MiB. The last rows are peers: plain NumPy doing the same by draws, and statsmodels where it is
(on PYTHONPATH, or in the folder that the variable PEERS names). ``--write`` writes results_defaults.md too.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
FIRST = 500
"""Milliseconds of a first call, the aim."""
SETUP = """
import functools, resource, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
import bayescm as b
from bayescm import planning, curves
rng = np.random.default_rng(0)
one = [[45, 5], [8, 142]]
two = {"A": one, "B": [[40, 10], [6, 145]]}
six = {f"s{i}": [[40 - i, 10 + i], [5 + i, 45 - i]] for i in range(6)}
five = ["accuracy", "recall", "precision", "f1", "mcc"]
def some(systems): return {f"s{i}": np.random.default_rng(i).integers(5, 100, (2, 2)) for i in range(systems)}
y = rng.integers(0, 2, 500)
score = rng.random(500) * .6 + y * .3
answers = {f"s{i}": np.where(rng.random(500) < .8, y, 1 - y) for i in range(10)}
@functools.cache
def many(): return rng.integers(0, 2, 10**7), rng.random(10**7)
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
    try:
        from statsmodels.stats.proportion import proportion_confint
        return proportion_confint(k, n, method="wilson")
    except ImportError:
        p, z = k / n, 1.959963984540054
        half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        return centre - half, centre + half
def mcc(tp, fn, fp, tn): return (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
def kappa(tp, fn, fp, tn): return 2 * (tp * tn - fp * fn) / ((tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))
def f1(tp, fn, fp, tn): return 2 * tp / (2 * tp + fp + fn)
def ends(x): return np.quantile(x, [.025, .5, .975])
def shortest(x):
    x = np.sort(x)
    return (x[9499:] - x[:501]).argmin()
def each_draws(metric, interval):
    for one in cells:
        x = metric(*rng.dirichlet(one + .5, 10**4).T)
        x.mean(), x.std(), interval(x)
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
    "`summary`, MCC of 1,000 matrices": ("b.summary(thousand, 'mcc')", "first 61,700", ("MCC", 20)),
    "`summary`, MCC of 1,000 matrices, HDI": ("b.summary(thousand, 'mcc', ci_kind='hdi')", "", ("MCC, HDI", 10)),
    "`summary`, kappa of 1,000 matrices": ("b.summary(thousand, 'kappa')", "", ("kappa", 20)),
    "`summary`, kappa of 1,000 matrices, HDI": ("b.summary(thousand, 'kappa', ci_kind='hdi')", "", ("kappa, HDI", 10)),
    "`summary`, F1 of 1,000 matrices": ("b.summary(thousand, 'f1')", "", ("F1", 20)),
    "`probability`, recall and precision": (
        "b.probability(one, 'recall > .8 and precision > .7')", "first 25,000; 168", 10),
    "`curve_posterior`": ("b.curve_posterior(y, score)", "first 13,400", "first"),
    "`region`, credible": ("b.region(one, method='credible')", "first 9,300", "first"),
    "`leaderboard` of 10": ("b.leaderboard(board.isel(system=range(10)))", "first 9,500", "first"),
    "`compare_systems`, 2 systems, accuracy": ("b.compare_systems(two)", "91", 40),
    "`compare_systems`, 2 systems, MCC": ("b.compare_systems(two, 'mcc')", "385", 40),
    "`compare_systems`, 2 systems, 5 metrics": ("b.compare_systems(two, five)", "1,052", 40),
    "`compare_systems`, 6 systems of 100 items each": ("b.compare_systems(six, design='independent')", "", None),
    "`compare_systems`, 10 systems (45 pairs)": ("b.compare_systems(some(10))", "1,800", 2 * 45),
    "`compare_systems`, 100 systems (4,950 pairs)": ("b.compare_systems(some(100))", "193,000", 2 * 4950),
    "`compare_systems`, 10 systems, same items, F1": ("b.compare_systems(y, answers, metrics='f1')", "", 2 * 45),
    "`leaderboard` of 30": ("b.leaderboard(board.isel(system=range(30)))", "384", None),
    "`leaderboard` of 1,000": ("b.leaderboard(board)", "14,400 (1,700 MiB)", 1000),
    "`decision_curve`, 99 thresholds": ("planning.decision_curve(one)", "1,900", 100),
    "`decision_curve`, 99 matrices": ("planning.decision_curve(y, score)", "", 100),
    "`replicate`, recall": ("planning.replicate(one, 'recall')", "262", 20),
    "`replicate`, MCC": ("planning.replicate(one, 'mcc')", "466", 20),
    "`replicate`, all metrics": ("planning.replicate(one)", "", None),
    "`curve_band`": ("b.curve_band(y, score)", "271", None),
    "`summary`, 50 classes": ("b.summary(fifty)", "3,800", None),
    "`summary`, 100 classes": ("b.summary(hundred)", "18,000", 2000),
    "`counts_at_thresholds`, 10^7 scores, with their making at first": (
        "curves.counts_at_thresholds(*many())", "5,600 (1,100 MiB)", None),
    "`region`, exact, 160,000 items": ("b.region([[70000, 10000], [9000, 71000]], method='exact')", "6,400", None),
    "`interval`, Wilson, 20,000 shares": (
        "b.interval(shares, 'recall', method='wilson')", ".11 of statsmodels' speed", ("Wilson", 1)),
    "`sample_size`, recall and specificity at a prevalence": (
        "b.sample_size(['recall', 'specificity'], width=.1, prevalence=.1)", "", None),
    "`at_prevalences`, all metrics": ("planning.at_prevalences(one, prevalence=[.1, .2, .3])", "", None),
}  # fmt: skip
"""Each with what it took when the aims were set, and the aim: milliseconds of later calls, how much faster than a peer,
or "first", .5 seconds of the first call."""
PEERS = {
    "two systems": ("NumPy, 10^5 draws of 2 systems and 5 metrics", "draws()"),
    "second tests": ("NumPy, 10^5 second tests, recall", "test_draws()"),
    "MCC": ("NumPy, 10^4 draws of each of 1,000 matrices, MCC", "each_draws(mcc, ends)"),
    "MCC, HDI": ("the same, shortest intervals", "each_draws(mcc, shortest)"),
    "kappa": ("NumPy, 10^4 draws of each of 1,000 matrices, kappa", "each_draws(kappa, ends)"),
    "kappa, HDI": ("the same, shortest intervals", "each_draws(kappa, shortest)"),
    "F1": ("NumPy, 10^4 draws of each of 1,000 matrices, F1", "each_draws(f1, ends)"),
    "Wilson": ("statsmodels' `proportion_confint`, 20,000 shares; NumPy's formula without it", "share_ends()"),
    "argsort": ("NumPy, argsort of 10^7 scores, with their making at first", "np.argsort(many()[1])"),
}


def measured(tree: Path, call: str, later: int) -> list[float]:
    """Make one call a few times in a process of its own; return first and later seconds, and MiB: NaN if refused."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BAYESCM_THREADS", "BAYESCM_COMPILE"), "1")
    code = SETUP.replace("LATER", str(later)) + f"measure(lambda: {call})"
    path = os.pathsep.join([str(tree), *filter(None, [os.environ.get("PEERS")])])
    run = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **one, "PYTHONPATH": path}, cwd=tree,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return [float(v) for v in run.stdout.split("MEASURED")[1].split()] if "MEASURED" in run.stdout else [np.nan] * 3


def command(tree: Path) -> float:
    """Return the processor's seconds of the command with all metrics, a whole process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = "from bayescm.cli import main; main()"
    subprocess.run(
        [sys.executable, "-c", code, "summary", "--tp", "26", "--fn", "0", "--fp", "2", "--tn", "6"],
        env={**os.environ, "PYTHONPATH": str(tree)}, cwd=tree, capture_output=True, check=True,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def best(runs: list[list[float]]) -> tuple[float, ...]:
    """Return the least of several runs: first and later milliseconds, and MiB."""
    first, later, memory = (min(values) for values in zip(*runs, strict=True))
    return 1000 * first, 1000 * later, memory


def shown(found: tuple[float, ...]) -> str:
    """Return that as cells of a table."""
    if np.isnan(found[0]):
        return "refused | | "
    return f"{found[0]:,.0f} | {found[1]:,.1f} | " + ("" if np.isnan(found[2]) else f"{found[2]:,.0f}")


def judged(found: tuple[float, ...], aim: object, peers: dict[str, float]) -> str:
    """Return the aim and whether it is met."""
    if aim is None:
        return " | "
    if aim == "first":
        return f"first {FIRST} | {'yes' if found[0] <= FIRST else 'no'}"
    if isinstance(aim, tuple):
        ratio = peers[aim[0]] / found[1]
        return f"{aim[1]} x {aim[0]} | {'yes' if ratio >= aim[1] else 'no'}: {ratio:.2g} x"
    return f"{aim:,} | {'yes' if found[1] <= float(str(aim)) else 'no'}"


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
        "the least of the rounds, one thread of a shared machine. Then: when the aims were set. Aims are of "
        "later calls, or how much faster than a peer below.", "",
        f"| call | then | {given.commit}: first | later | MiB | now: first | later | MiB | aim | met |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    peers = {}
    for key, (name, call) in PEERS.items():
        found = best([measured(ROOT, call, given.later) for _ in range(given.rounds)])
        peers[key] = found[1], f"| {name} ({key}) | | | | | {shown(found)} | | |"
        print(peers[key][1], flush=True)
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", given.commit, "bayescm"], cwd=ROOT, capture_output=True, check=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        trees = (Path(folder), ROOT)
        whole = [[1000 * min(command(tree) for _ in range(given.rounds + 1))] * 2 + [np.nan] for tree in trees]
        rows = [("a new process: the command, all metrics, with imports", "2,500", *whole, 1500)]
        for name, (call, then, aim) in CALLS.items():
            sides = [[measured(tree, call, given.later) for tree in trees] for _ in range(given.rounds)]
            before, now = (best([*side]) for side in zip(*sides, strict=True))
            rows.append((name, then, before, now, aim))
            print(name, shown(before), shown(now), flush=True)
    values = {key: taken for key, (taken, _) in peers.items()}
    for name, then, before, now, aim in rows:
        lines.append(f"| {name} | {then} | {shown(before)} | {shown(now)} | {judged(now, aim, values)} |")
    lines += [line for _, line in peers.values()]
    print("\n".join(lines))
    if given.write:
        (ROOT / "benchmarks" / "results_defaults.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
