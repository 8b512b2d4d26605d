"""Error rates and power of the gate's verdicts, beside McNemar's test and a t-test that is robust to clusters.

``python docs/verification/gates.py`` writes ``gates.csv``; ``--quick`` enumerates up to 500 items, makes one test a
row and writes nothing.
"""

import argparse
import csv
from functools import cache
from pathlib import Path

import numpy as np
from scipy import stats

import bayescm
from bayescm.data.items import right_answers

HERE = Path(__file__).parent
BOTH = 0.8
"""Share of items that both systems get right."""


@cache
def verdict(n, first, second, margin, ci_prob):
    """Return the verdict on n items, of which only the new system got `first` right, and only the old one `second`."""
    both = round(BOTH * (n - first - second))
    none = n - first - second - both
    new = [1] * (both + first) + [0] * (second + none)
    old = [1] * both + [0] * first + [1] * second + [0] * none
    return bayescm.gate(new, old, margin=margin, ci_prob=ci_prob).attrs["verdict"]


def mcnemar(first, second):
    """Return the mid-p value of McNemar's test."""
    n, k = first + second, min(first, second)
    return 1.0 if n == 0 else min(1.0, 2 * stats.binom.cdf(k, n, 0.5) - stats.binom.pmf(k, n, 0.5))


def clustered(apart):
    """Return the p-value of a t-test of sums over units (units,), robust to clusters."""
    sd = apart.std(ddof=1)
    return 1.0 if sd == 0 else 2 * stats.t.sf(abs(apart.mean()) / (sd / np.sqrt(len(apart))), len(apart) - 1)


def of_tasks(tests, tasks, n, only_new, only_old, margin, rng):
    """Return shares of tests with any "better" or "worse", with "not worse" of all items, and McNemar's of any task."""
    rows = tasks + 1 if tasks > 1 else 1
    each = 0.95 ** (1 / rows)
    found = {"better": 0, "worse": 0, "verdict": 0, "not worse": 0, "mcnemar": 0, "mcnemar_holm": 0}
    for _ in range(tests):
        counts = rng.multinomial(n, [only_new, only_old, 1 - only_new - only_old], tasks)
        cells = [(n, int(a), int(b)) for a, b, _ in counts]
        cells += [(n * tasks, int(counts[:, 0].sum()), int(counts[:, 1].sum()))] if tasks > 1 else []
        said = [verdict(*one, None, each) for one in cells]
        p = np.sort([mcnemar(*one[1:]) for one in cells])
        found["better"] += "better" in said
        found["worse"] += "worse" in said
        found["verdict"] += bool({"better", "worse"} & set(said))
        found["mcnemar"] += p[0] < 0.05
        found["mcnemar_holm"] += p[0] < 0.05 / len(p)
        if margin is not None:
            found["not worse"] += verdict(*cells[-1], margin, 0.95) in ("better", "not worse")
    return {name: count / tests for name, count in found.items()}


def exact_rates(n, discordances, level):
    """Return the probability of "better" or "worse" of two equal systems on n items, by how many tell them apart."""
    told, tail = np.zeros(len(discordances)), (1 - level) / 2
    for d in range(n + 1):
        side = stats.beta.sf(0.5, np.arange(d + 1) + 1, d - np.arange(d + 1) + 1)
        decided = (side > 1 - tail) | (side < tail)
        told += stats.binom.pmf(d, n, discordances) * stats.binom.pmf(np.arange(d + 1), d, 0.5)[decided].sum()
    return told


def exact_rows(most):
    """Give the rate of any false verdict, of one task and, with all items asked besides, of any of several tasks."""
    for tasks, n in (
        (1, 50),
        (1, 100),
        (1, 200),
        (1, 500),
        (1, 1000),
        (1, 2000),
        (5, 50),
        (5, 400),
        (20, 50),
        (20, 100),
    ):
        if n > most:
            continue
        each = 0.95 if tasks == 1 else 0.95 ** (1 / (tasks + 1))
        shares = [0.02, 0.05, 0.1, 0.3]
        for p, alone in zip(shares, exact_rates(n, shares, each).tolist(), strict=True):
            yield {"tasks": tasks, "items": n, "discordance": p, "rate": round(1 - (1 - alone) ** tasks, 4)}


def of_units(tests, units, size, gap, rng):
    """Return the same of units of `size` items, whose differences are alike: all or nothing in half of the units."""
    found = {"better": 0, "worse": 0, "mcnemar": 0, "cluster_t": 0}
    which = np.repeat(np.arange(units), size)
    for _ in range(tests):
        side = rng.choice([1, -1, 0], p=[0.1 + gap, 0.1, 0.8 - gap], size=units)[which]
        alone = rng.choice([1, -1, 0], p=[0.1 + gap, 0.1, 0.8 - gap], size=units * size)
        apart = np.where((np.arange(units) % 2 == 0)[which], side, alone)
        base = rng.random(len(apart)) < BOTH
        new, old = (np.where(apart == 0, base, apart == sign).astype(int) for sign in (1, -1))
        data = right_answers({"new": new, "old": old}).assign_coords(u=("item", which)).assign_attrs(unit="u")
        said = bayescm.gate(data).attrs["verdict"]
        found["better"] += said == "better"
        found["worse"] += said == "worse"
        found["mcnemar"] += mcnemar(int((apart == 1).sum()), int((apart == -1).sum())) < 0.05
        found["cluster_t"] += clustered(apart.reshape(units, size).sum(1)) < 0.05
    return {name: count / tests for name, count in found.items()}


def plan(tests, rng):
    """Give the rows of the table one by one."""
    for tasks, n in ((1, 50), (1, 200), (1, 2000), (5, 50), (20, 100)):
        yield {"about": "equal", "tasks": tasks, "unit": 1, "items": n, "tests": tests} | of_tasks(
            tests, tasks, n, 0.05, 0.05, None, rng
        )
    for margin, n in ((0.05, 50), (0.05, 200), (0.05, 1000), (0.02, 1000), (0.02, 2000)):
        for about, gap in (("at the margin", margin), ("equal, margin", 0.0)):
            found = of_tasks(tests, 1, n, 0.05, 0.05 + gap, margin, rng)
            yield {"about": f"{about} {margin:g}", "tasks": 1, "unit": 1, "items": n, "tests": tests} | found
    for n in (100, 200, 400, 800):
        found = of_tasks(tests, 1, n, 0.1, 0.05, None, rng)
        yield {"about": "5 points better", "tasks": 1, "unit": 1, "items": n, "tests": tests} | found
    for gap, about in ((0.0, "equal"), (0.1, "10 points better")):
        for units, size in ((50, 2), (40, 5), (20, 10)):
            found = of_units(tests, units, size, gap, rng)
            yield {"about": about, "tasks": 1, "unit": size, "items": units * size, "tests": tests} | found


NAMES = ("about", "tasks", "unit", "items", "tests", "better", "worse", "verdict", "not worse", "mcnemar",
         "mcnemar_holm", "cluster_t")  # fmt: skip


def main(quick):
    """Enumerate what can be, make the tests, and write both tables."""
    exact = list(exact_rows(most=500 if quick else 2000))
    assert max(row["rate"] for row in exact) <= 0.05
    if not quick:
        with (HERE / "gates_exact.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, exact[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(exact)
    rows = []
    for row in plan(1 if quick else 120, np.random.default_rng(20261125)):
        rows.append({name: round(value, 3) if isinstance(value, float) else value for name, value in row.items()})
        print(rows[-1], flush=True)
        if not quick:
            with (HERE / "gates.csv").open("w", newline="") as file:
                writer = csv.DictWriter(file, NAMES, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    main(parser.parse_args().quick)
