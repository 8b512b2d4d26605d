"""Rebuild the study of pairing: ``python -m uv run python docs/verification/pairing.py`` (two minutes).

Two systems answer the same items. An item has an ease that both share, so that their errors are correlated on a latent
normal scale. Each data set is analysed as what it is, paired, and as if each system had had items of its own. A verdict
is wrong if it is "better" or "worse", the central 95% interval excluding 0, while both are equally accurate; power is
the share of data sets in which the better system is called better. The frequentist companions give a verdict where the
two-sided p-value is below .05: 2.5% a side, as the verdicts. Writes pairing.csv and pairing_table.inc, and runs
pairing_priors.py beside it, which shows the choice of the prior. ``--quick`` runs a small part and writes nothing.
Either fails if a promise of the page is broken.
"""

import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pairing_priors
from numpy.typing import NDArray
from rows import write_rows
from scipy import stats

from bayescm.comparison import frequentist
from bayescm.distributions import Beta
from bayescm.distributions.difference import Discordant, Independent
from bayescm.distributions.quadrature import Outer

Row = dict[str, object]
Cells = tuple[int, int, int, int]

HERE = Path(__file__).parent
SURE = 0.975
"""P(better) from which on the central 95% interval excludes 0."""
CORRELATIONS, SIZES, REPEATS = (0.0, 0.5, 0.9), (50, 200, 1000), 4000
ACCURACY, GAIN = 0.85, {50: 0.10, 200: 0.05, 1000: 0.02}
"""Accuracy of the second system, and what the first has more where there is a difference."""


def simulated(correlation: float, n: int, gain: float, repeats: int) -> NDArray[np.int64]:
    """Return how many items both, only the first, only the second and none got right: (repeats, 4)."""
    cuts = stats.norm.ppf([ACCURACY + gain, ACCURACY])
    normal = stats.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]])
    both = float(normal.cdf(cuts))
    first, second = ACCURACY + gain - both, ACCURACY - both
    rng = np.random.default_rng([n, round(1000 * correlation), round(1000 * gain)])
    return rng.multinomial(n, [both, first, second, 1 - both - first - second], repeats)


def paired(cells: Cells) -> float:
    """Return P(first better): one item a side is added to those that only the first, or the second, got right."""
    return Discordant(cells[1] + 1.0, cells[2] + 1.0, cells[0] + cells[3] + 1.0).sf(0.0)


def independent(cells: Cells) -> float:
    """Return the same as if each system had had items of its own."""
    both, first, second, _ = cells
    sides = [
        Outer(Beta(np.asarray(k + 1.0), np.asarray(sum(cells) - k + 1.0)), 0.0, 1.0)
        for k in (both + first, both + second)
    ]
    return Independent(*sides).sf(0.0)


def mcnemar(cells: Cells) -> float:
    """Return a probability that stands for the mid-p value of McNemar's test: its half on the losing side."""
    return _one_sided(float(frequentist.mcnemar(cells[1], cells[2])[1]), cells)


def score(cells: Cells) -> float:
    """Return the same of the score test for independent proportions."""
    both, first, second, _ = cells
    n = float(sum(cells))
    p_values = frequentist.independent_tests((float(both + first), float(both + second)), (n, n), slow=False)
    return _one_sided(float(p_values[1]), cells)


def _one_sided(p_value: float, cells: Cells) -> float:
    return 1 - p_value / 2 if cells[1] > cells[2] else p_value / 2 if cells[1] < cells[2] else 0.5


METHODS: dict[str, Callable[[Cells], float]] = {
    "paired": paired, "independent": independent, "McNemar mid-p": mcnemar, "score test": score,
}  # fmt: skip


def study(sizes: tuple[int, ...], repeats: int) -> list[Row]:
    """Return a row per correlation, size and method."""
    made: list[Row] = []
    for correlation, n in itertools.product(CORRELATIONS, sizes):
        start = time.perf_counter()
        same, gained = (simulated(correlation, n, gain, repeats) for gain in (0.0, GAIN[n]))
        for name, method in METHODS.items():
            known: dict[Cells, float] = {}

            def answer(cells: Cells, method: Callable[[Cells], float] = method, known: dict = known) -> float:
                return known.setdefault(cells, method(cells)) if cells not in known else known[cells]

            none, some = (np.array([answer(tuple(map(int, c))) for c in data]) for data in (same, gained))
            wrong = float(((none >= SURE) | (none <= 1 - SURE)).mean())
            made.append({
                "correlation": correlation, "items": n, "gain": GAIN[n], "method": name, "repeats": repeats,
                "wrong": round(wrong, 4), "se": round(float(np.sqrt(wrong * (1 - wrong) / repeats)), 4),
                "power": round(float((some >= SURE).mean()), 4),
                "reversed": round(float((some <= 1 - SURE).mean()), 4),
            })  # fmt: skip
        print(f"correlation {correlation}, {n} items: {time.perf_counter() - start:.0f} s", flush=True)
    return made


def table(made: list[Row]) -> str:
    """Return wrong verdicts / power, per method."""
    lines = [
        "| correlation of the errors | items | gain | " + " | ".join(METHODS) + " |",
        "|---|---|---|" + "---|" * len(METHODS),
    ]
    for correlation, n in dict.fromkeys((r["correlation"], r["items"]) for r in made):
        mine = {r["method"]: r for r in made if (r["correlation"], r["items"]) == (correlation, n)}
        cells = [f"{mine[name]['wrong']:.3f} / {mine[name]['power']:.3f}" for name in METHODS]
        lines.append(f"| {correlation} | {n} | {mine['paired']['gain']} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def broken(made: list[Row]) -> list[str]:
    """Return the promises of the page that rows don't keep, with a margin of four standard errors."""
    said = []
    for correlation, n in dict.fromkeys((r["correlation"], r["items"]) for r in made):
        mine = {str(r["method"]): r for r in made if (r["correlation"], r["items"]) == (correlation, n)}
        margin = 4 * float(str(mine["paired"]["se"]))
        wrong, power = ({name: float(str(row[what])) for name, row in mine.items()} for what in ("wrong", "power"))
        if wrong["paired"] > 0.05 + margin:
            said.append(f"paired errs too often: correlation {correlation}, {n} items")
        if float(str(correlation)) >= 0.5 and (power["paired"] < power["independent"] or wrong["independent"] > 0.04):
            said.append(f"independent isn't the weaker one: correlation {correlation}, {n} items")
    return said


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    made = study((50, 200) if quick else SIZES, 300 if quick else REPEATS)
    if not quick:
        write_rows(HERE / "pairing.csv", made)
        (HERE / "pairing_table.inc").write_text(table(made))
    said = broken(made) + ([] if quick else pairing_priors.run(quick=False))
    print(table(made), *said, sep="\n")
    sys.exit(1 if said else 0)
