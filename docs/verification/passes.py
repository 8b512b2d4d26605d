"""Check pass^k and pass@k: ``python -m uv run python docs/verification/passes.py`` (two minutes).

How often 95% intervals hold the truth: by the share of each task's runs to the power k, as tools print it; by the
unbiased estimates, where k is not above the runs, both with Student's t over tasks; and by the beta-binomial on a grid.
Tasks' chances are a Beta's, or in three lumps, which no Beta is. Then how often two equal systems on the same tasks get
a verdict at 95%. Writes passes.csv, passes_pairs.csv and passes_table.inc. ``--quick`` runs a small part, writes
nothing and fails where the grid holds the truth too seldom.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rows import markdown, write_rows
from scipy import special, stats

import bayescm
from bayescm.distributions.pass_rates import PassRate, grid

Array = NDArray[np.float64]

HERE = Path(__file__).parent
LUMPS, SHARES = np.array([0.97, 0.5, 0.05]), np.array([0.45, 0.275, 0.275])
CHANCES = {"Beta(1.2, .8)": (1.2, 0.8), "Beta(.3, .1)": (0.3, 0.1), "three lumps": None}
CASES = [(10, 5, 3), (40, 5, 4), (40, 5, 8), (150, 5, 8), (500, 3, 8)]
REPEATS, PAIRS = 500, 400
LEAST = 0.86
"""Coverage below which a quick run of 100 samples fails."""


def drawn(kind: str, tasks: int, rng: np.random.Generator) -> Array:
    """Draw the chances of tasks."""
    if (beta := CHANCES[kind]) is None:
        return rng.choice(LUMPS, tasks, p=SHARES)
    return rng.beta(*beta, tasks)


def truth(kind: str, k: int) -> float:
    """Return pass^k of all tasks."""
    if (beta := CHANCES[kind]) is None:
        return float(SHARES @ LUMPS**k)
    return float(np.exp(special.betaln(beta[0] + k, beta[1]) - special.betaln(*beta)))


def by_t(each: Array) -> Array:
    """Return the ends of Student's t interval of a mean."""
    reach = stats.t.ppf(0.975, len(each) - 1) * each.std(ddof=1) / np.sqrt(len(each))
    return np.array([each.mean() - reach, each.mean() + reach])


def study(kind: str, case: tuple[int, int, int], repeats: int) -> dict[str, object]:
    """Return how often intervals of pass^k hold the truth, and their mean lengths."""
    tasks, runs, k = case
    rng, true = np.random.default_rng([tasks, runs, k, len(kind)]), truth(kind, k)
    found: dict[str, list[Array]] = {"plug-in": [], "unbiased": [], "grid": []}
    for _ in range(repeats):
        passes = rng.binomial(runs, drawn(kind, tasks, rng))
        found["plug-in"].append(by_t((passes / runs) ** k))
        if k <= runs:
            found["unbiased"].append(by_t(special.comb(passes, k) / special.comb(runs, k)))
        found["grid"].append(np.array(PassRate(grid(passes, runs), k, True).eti(0.95), np.float64))
    row: dict[str, object] = {
        "chances": kind,
        "tasks": tasks,
        "runs": runs,
        "k": k,
        "truth": round(true, 4),
        "samples": repeats,
    }
    for name, ends in found.items():
        low, high = np.array(ends).reshape(-1, 2).T
        row[name] = round(float(((low <= true) & (true <= high)).mean()), 4) if len(low) else ""
        row[f"{name}_width"] = round(float((high - low).mean()), 4) if len(low) else ""
    print(row, flush=True)
    return row


def verdicts(kind: str, case: tuple[int, int, int], repeats: int) -> dict[str, object]:
    """Return how often equal systems on the same tasks, whose chances are theirs in common, are called different."""
    tasks, runs, k = case
    rng, decided = np.random.default_rng([7, *case]), 0
    for repeat in range(repeats):
        chance = drawn(kind, tasks, rng)
        told = {"a": rng.binomial(runs, chance), "b": rng.binomial(runs, chance)}
        pair = bayescm.compare_systems(told, f"pass^{k}", runs=runs, draws=500, random_seed=repeat)
        decided += pair["summary"].verdict.item() != "undecided"
    row: dict[str, object] = {"chances": kind, "tasks": tasks, "runs": runs, "k": k, "samples": repeats,
                              "called different": round(decided / repeats, 4)}  # fmt: skip
    print(row, flush=True)
    return row


def main(quick: bool) -> None:
    """Run the study."""
    if quick:
        rows = [study(kind, (40, 5, 8), 100) for kind in CHANCES]
        low = [row for row in rows if float(str(row["grid"])) < LEAST]
        if low:
            raise SystemExit(f"the grid holds the truth too seldom: {low}")
        return
    rows = [study(kind, case, REPEATS) for kind in CHANCES for case in CASES]
    pairs = [verdicts(kind, case, PAIRS) for kind in CHANCES for case in ((10, 5, 3), (40, 5, 4), (40, 5, 8))]
    write_rows(HERE / "passes.csv", rows)
    write_rows(HERE / "passes_pairs.csv", pairs)
    shown = [
        {
            "chances of tasks": row["chances"], "tasks": row["tasks"], "runs": row["runs"], "k": row["k"],
            **{
                what: f"{row[name]:.3f} ({row[f'{name}_width']:.2f})" if row[name] != "" else "-"
                for name, what in (("plug-in", "(c/n)^k"), ("unbiased", "unbiased"), ("grid", "bayescm"))
            },
        }
        for row in rows
    ]  # fmt: skip
    told = [{**pair, "called different": f"{pair['called different']:.3f}"} for pair in pairs]
    (HERE / "passes_table.inc").write_text(markdown(shown) + "\n" + markdown(told))


if __name__ == "__main__":
    main("--quick" in sys.argv)
