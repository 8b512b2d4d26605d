"""Rebuild the coverage of regions: ``python -m uv run python docs/verification/regions.py`` (6 minutes on two cores).

By enumeration of every matrix of n items. Only the true classifiers are drawn: p ~ Dirichlet(2, 1, 1, 2) over TN, FP,
FN, TP (Urlus 2023, algorithm 2a), in independent groups of scrambled Sobol points, the same for every method. Writes
regions_coverage.csv, regions_pr_table.inc, regions_roc_table.inc and regions_coverage.png. ``--quick`` runs a small
part of it and writes nothing; ``--draw`` draws the stored numbers anew. A run fails if a
promise of the page is broken, above all that of the exact region: never below its level, whatever p is.
"""

import csv
import itertools
import sys
import time
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from rows import write_rows
from scipy import special, stats

from bayescm._kernels.dispatch import in_blocks
from bayescm.regions.credible import Credible
from bayescm.regions.grid import PR, ROC, Space
from bayescm.regions.methods import Ellipse, Exact, Method, Wilks

Array = NDArray[np.float64]
Row = dict[str, object]

HERE = Path(__file__).parent
LEVELS = (0.683, 0.95, 0.954, 0.997)
TRUTHS = {10: 1024, 30: 512, 100: 128}
QUICK = {10: 32, 30: 4}
"""Per group."""
GROUPS = 8
DRAWN, OWN = (2.0, 1.0, 1.0, 2.0), (0.5, 0.5, 0.5, 0.5)
"""The distribution of the truths; the prior of the credible regions, whose mean coverage under it is their level."""
METHODS = ("exact", "exact, mid_p", "credible", "wilks", "ellipse")
TICKS = (-50, -20, -10, -5, -2, 0, 2, 5, 10, 20)
SAID = {"exact, mid_p": "exact, mid-p", "wilks": "Wilks"}
NEGLIGIBLE = 1e-12
"""Matrices that are less probable are left out and count as not covered: at n = 100 a share of at most 2e-7."""


def truths(prior: tuple[float, ...], number: int, n: int) -> Array:
    """Return probabilities (GROUPS * number, 4) that follow a Dirichlet: each group fills the space evenly."""
    u = np.concatenate([stats.qmc.Sobol(3, rng=np.random.default_rng([n, g])).random(number) for g in range(GROUPS)])
    shares, rest = [], np.ones(len(u))
    for k in range(3):
        share = stats.beta.ppf(u[:, k], prior[k], sum(prior[k + 1 :]))
        shares.append(rest * share)
        rest = rest * (1 - share)
    return np.asarray(np.maximum(np.stack([*shares, rest], -1), 1e-290))


def matrices(n: int) -> Array:
    """Return all matrices of n items, as cells (T, 4) in the order TN, FP, FN, TP."""
    bars = np.array(list(itertools.combinations(range(n + 3), 3)))
    edges = np.c_[np.full(len(bars), -1), bars, np.full(len(bars), n + 3)]
    return np.ascontiguousarray(np.diff(edges) - 1.0)


def probabilities(cells: Array, p: Array) -> Array:
    """Return the multinomial probabilities of matrices."""
    ways = special.gammaln(cells[0].sum() + 1) - special.gammaln(cells + 1).sum(-1)
    return np.asarray(np.exp(ways + cells @ np.log(p)))


def place(space: Space, p: Array, size: int) -> tuple[Array, Array]:
    """Return y and x of a classifier, repeated."""
    y, x = (k / (k + other) for k, other in (rate(p) for rate in space.rates))
    return np.full(size, y), np.full(size, x)


def credible(space: Space) -> Credible:
    """Return the credible method with the default prior."""
    return Credible(space, np.array(OWN))


def coverage(space: Space, n: int, places: Array) -> tuple[Array, Array]:
    """Return the probability (methods, levels, truths) that a region holds the truth, and that there is no ellipse."""
    cells = matrices(n)
    limits = np.stack([credible(space).limits(cells, level) for level in LEVELS])  # one integral per matrix, not per p
    others: dict[str, Method] = {
        "exact": Exact(space, False), "exact, mid_p": Exact(space, True), "wilks": Wilks(space),
        "ellipse": Ellipse(space, np.zeros((2, 2))),
    }  # fmt: skip
    exists = Ellipse(space, np.zeros((2, 2))).exists(cells)
    levels = np.array(LEVELS)[:, None]
    found = np.empty((len(METHODS), len(LEVELS), len(places)))
    without = np.empty(len(places))

    def part(start: int, stop: int) -> None:
        for i in range(start, stop):
            mass = probabilities(cells, places[i])
            likely = np.flatnonzero(mass > NEGLIGIBLE)
            mine, mass = cells[likely], mass[likely]
            y, x = place(space, places[i], len(mine))
            for k, name in enumerate(METHODS):
                if name == "credible":
                    inside = Wilks(space).deviance(mine, y, x) <= limits[:, likely]
                else:
                    inside = others[name].at(mine, y, x)[1] <= levels  # NaN isn't
                found[k, :, i] = inside @ mass
            without[i] = mass[~exists[likely]].sum()

    in_blocks(part, len(places), 2)
    return found, without


def rows(space: Space, n: int, prior: tuple[float, ...], number: int) -> list[Row]:
    """Return one row per method and level: mean over the truths, its standard error, quantiles, the lowest."""
    drawn = truths(prior, number, n)
    found, without = coverage(space, n, drawn)
    made: list[Row] = []
    for (k, name), (c, level) in itertools.product(enumerate(METHODS), enumerate(LEVELS)):
        values = found[k, c]
        means = values.reshape(GROUPS, -1).mean(-1)
        worst = drawn[values.argmin()]
        made.append({
            "space": space.name, "items": n, "method": name, "level": level,
            "truths": len(drawn), "truths_dirichlet": " ".join(f"{a:g}" for a in prior),
            "error_in_points": round(100 * float(values.mean() - level), 4),
            "se": round(100 * float(means.std(ddof=1)) / GROUPS**0.5, 4),
            "lowest": float(values.min().round(9)),
            "quantile_0.05": round(float(np.quantile(values, 0.05)), 5),
            "quantile_0.95": round(float(np.quantile(values, 0.95)), 5),
            "share_below": round(float((values < level - 1e-9).mean()), 5),
            "without_region": round(float(without.mean()), 5) if name == "ellipse" else 0.0,
            "worst_tn_fp_fn_tp": " ".join(f"{share:.4f}" for share in worst),
        })  # fmt: skip
    return made


def broken(made: list[Row]) -> list[str]:
    """Return the promises of the page that rows don't keep; a mean may miss by four of its standard errors."""
    bounds = {  # of the mean error in points
        ("exact", 10): (0.0, 8.0), ("exact", 30): (0.0, 3.0), ("exact", 100): (0.0, 1.0),
        ("exact, mid_p", 10): (-0.1, 1.0), ("exact, mid_p", 30): (-0.1, 0.2), ("exact, mid_p", 100): (-0.1, 0.1),
        ("wilks", 10): (-3.2, 0.6), ("wilks", 30): (-2.7, 0.1), ("wilks", 100): (-1.3, 0.1),
        ("credible", 10): (-8.5, 0.0), ("credible", 30): (-5.0, 0.0), ("credible", 100): (-2.1, 0.0),
    }  # fmt: skip
    said = []
    for row in made:
        name, n, level = str(row["method"]), int(str(row["items"])), float(str(row["level"]))
        error, margin = float(str(row["error_in_points"])), 4 * float(str(row["se"]))
        low, high = bounds.get((name, n), (-np.inf, np.inf))
        if not of_drawn(row):
            # a matrix of true negatives alone says nothing of the PR plane, all of which is its region
            nothing = np.exp(special.betaln(OWN[0] + n, sum(OWN[1:])) - special.betaln(OWN[0], sum(OWN[1:])))
            low = high = 100 * (1 - level) * nothing * (row["space"] == "pr") if name == "credible" else np.nan
        what = f"{name}, {row['space']}, n = {n}, level {level}, truths {row['truths_dirichlet']}"
        if name == "exact" and float(str(row["lowest"])) < level - 1e-9:
            said.append(f"{what}: coverage {row['lowest']} at p = {row['worst_tn_fp_fn_tp']}")
        if error < low - margin or error > high + margin:
            said.append(f"{what}: mean error {error} beyond [{low}, {high}]")
    return said


def of_drawn(row: Row) -> bool:
    """Return whether a row is of the study itself, not of the check by the credible regions' own prior."""
    return row["truths_dirichlet"] == " ".join(f"{a:g}" for a in DRAWN)


def disagreements(space: Space, n: int, p: Array) -> list[str]:
    """Compare the credible limits, on which the study rests, with the levels of the method itself."""
    cells = matrices(n)
    y, x = place(space, p, len(cells))
    q, level, _ = credible(space).at(cells, y, x)
    said = []
    for c in LEVELS:
        clear = abs(level - c) > 1e-6
        wrong = clear & ((q <= credible(space).limits(cells, c)) != (level <= c))
        said += [f"credible, {space.name}: limit and level {c} differ at {one}" for one in cells[wrong].tolist()]
    return said


def table(made: list[Row]) -> str:
    """Return the table of one plane: mean error in points / 5% quantile / lowest, per method, items and level."""
    lines = [
        "| method | items | " + " | ".join(f"level {level}" for level in LEVELS) + " | no region |",
        "|---|---|" + "---|" * (len(LEVELS) + 1),
    ]
    for name in METHODS:
        for n in TRUTHS:
            mine = [r for r in made if (r["method"], r["items"]) == (name, n)]
            if mine:
                errors = [round(float(str(r["error_in_points"])), 1) + 0.0 for r in mine]  # not -0.0
                cells = [
                    f"{error:+.1f} / {r['quantile_0.05']:.3f} / {r['lowest']:.3f}"
                    for error, r in zip(errors, mine, strict=True)
                ]
                share = f"{100 * float(str(mine[0]['without_region'])):.0f}%" if name == "ellipse" else ""
                title = "`exact`, `mid_p`" if name.endswith("mid_p") else f"`{name}`"
                lines.append(f"| {title} | {n} | " + " | ".join(cells) + f" | {share} |")
    return "\n".join(lines) + "\n"


def write(made: list[Row]) -> None:
    """Write all numbers as csv, and the tables of the page."""
    write_rows(HERE / "regions_coverage.csv", made)
    for space in (PR, ROC):
        mine = [row for row in made if row["space"] == space.name and of_drawn(row)]
        (HERE / f"regions_{space.name}_table.inc").write_text(table(mine))


def draw(made: list[Row]) -> plt.Figure:
    """Draw the error of coverage against the items: mean, and from the 5% to the 95% quantile over the truths.

    The axis is linear within five points and logarithmic beyond, so that the ellipse has room.
    """
    figure, axes = plt.subplots(2, 2, figsize=(9, 6), sharex=True, sharey="row", layout="constrained")
    for (i, level), (j, space) in itertools.product(enumerate((0.683, 0.954)), enumerate((PR, ROC))):
        ax = axes[i, j]
        ax.axhline(0, color="0.35", linewidth=0.8)
        for k, name in enumerate(METHODS):
            mine = [
                r for r in made if (r["space"], r["level"], r["method"]) == (space.name, level, name) and of_drawn(r)
            ]
            x = np.arange(len(mine)) + 0.1 * (k - 2)
            error, low, high = (
                np.array([r[column] for r in mine], float)
                for column in ("error_in_points", "quantile_0.05", "quantile_0.95")
            )
            ax.vlines(x, 100 * (low - level), 100 * (high - level), color=f"C{k}", linewidth=1.2, alpha=0.5)
            ax.plot(x, error, "o-", color=f"C{k}", markersize=4, linewidth=0.8, label=SAID.get(name, name))
        ax.set_xticks(range(len(TRUTHS)), [str(n) for n in TRUTHS])
        ax.set_title(f"{space.name.upper()} plane, level {level}", fontsize=10)
        ax.grid(axis="y", color="0.92")
        ax.set_yscale("symlog", linthresh=5, linscale=1.5)
        ax.set_yticks(TICKS, [f"{tick:+d}" if tick else "0" for tick in TICKS])
        ax.minorticks_off()
    for ax in axes[1]:
        ax.set_xlabel("items", fontsize=9)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), ncols=len(METHODS), loc="outside upper center", fontsize=9)
    figure.supylabel("coverage minus level, percentage points", fontsize=9)
    return figure


def save(figure: plt.Figure) -> None:
    """Save the picture of the page."""
    figure.savefig(HERE / "regions_coverage.png", dpi=90, pil_kwargs={"optimize": True})


def read() -> list[Row]:
    """Read the rows that a run has written."""
    with (HERE / "regions_coverage.csv").open(encoding="utf-8") as lines:
        return [row | {"level": float(row["level"])} for row in csv.DictReader(lines)]


if __name__ == "__main__":
    mpl.use("agg")
    if "--draw" in sys.argv:
        save(draw(read()))
        sys.exit()
    quick = "--quick" in sys.argv
    numbers = QUICK if quick else TRUTHS
    made: list[Row] = []
    said: list[str] = []
    start = time.perf_counter()
    plan = [(10, OWN, numbers[10]), *((n, DRAWN, number) for n, number in numbers.items())]
    for (n, prior, number), space in itertools.product(plan, (PR, ROC)):
        made += rows(space, n, prior, number)
        print(f"{space.name}, {n} items, truths {prior}: {time.perf_counter() - start:.0f} s", flush=True)
        if not quick:
            write(made)
    for space in (PR, ROC):
        said += disagreements(space, 10, np.array([0.35, 0.12, 0.08, 0.45]))
        mine = [row for row in made if row["space"] == space.name]
        for title, those in (("study", of_drawn), ("own prior", lambda row: not of_drawn(row))):
            print(f"\n{space.name}, {title}\n" + table([row for row in mine if those(row)]))
    print("largest standard error, in points:")
    for n, name in itertools.product(numbers, METHODS):
        errors = [r["se"] for r in made if (r["items"], r["method"]) == (n, name) and of_drawn(r)]
        print(f"{n:4} {name:13}", max(float(str(error)) for error in errors))
    if not quick:
        save(draw(made))
    said += broken(made)
    sys.exit("\n".join(said) or None)
