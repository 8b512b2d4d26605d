"""Rebuild the study of another prevalence: ``python -m uv run python docs/verification/exchanged.py`` (minutes).

Precision at a prevalence that isn't the items' own: what 95% intervals of the area under the PR curve cover, and where
estimates lie, for seven pairs of score distributions, five numbers of cases and controls and three prevalences; and
what lies at the same end of a ranking: the ROC area over low false positive rates, and precision at a fixed recall.
Writes exchanged.csv, exchanged_partial.csv and their tables. ``--quick`` runs a small part and writes nothing. Either
fails if a promise of the page is broken.
"""

import itertools
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rows import write_rows
from scipy import special, stats

from bayescm._kernels import dispatch
from bayescm.curves import area_samples, joint, options, pr_area, reading
from bayescm.curves.area_intervals import Areas
from bayescm.curves.exchanged import effective_controls
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.scores import rank

Array = NDArray[np.float64]
Row = dict[str, object]

HERE = Path(__file__).parent
QUICK = "--quick" in sys.argv
LEVEL = 0.95
SCENARIOS = {
    "normal, 0.5": (stats.norm(), stats.norm(0.5)),
    "normal, 1.5": (stats.norm(), stats.norm(1.5)),
    "normal, 3": (stats.norm(), stats.norm(3)),
    "heavy tails": (stats.t(3), stats.t(3, 1.5)),
    "exponential": (stats.expon(), stats.expon(scale=3)),
    "beta": (stats.beta(2, 5), stats.beta(5, 2)),
    "five levels": (stats.rv_discrete(values=(range(5), [0.4, 0.3, 0.15, 0.1, 0.05])),
                    stats.rv_discrete(values=(range(5), [0.05, 0.1, 0.2, 0.25, 0.4]))),
}  # fmt: skip
"""Scores of controls and of cases."""
SIZES = {(100, 100): 60, (200, 2000): 20, (20, 300): 60, (300, 20): 60, (50, 50): 60}
"""Cases and controls, and simulated test sets."""
PREVALENCES = (0.001, 0.01, 0.1)
PRIORS = ("prior_item", "smoothed")
NAMES = ("average_precision", "binormal")
METHODS = ("logit", "bca", "bayesian", "smoothed")
DRAWS, RESAMPLES = 250, 400
RANGES, RECALL = (0.01, 0.1), 0.5
LEAST = 0.1  # effective controls, below which nothing is promised
if QUICK:
    SCENARIOS = {name: SCENARIOS[name] for name in ("normal, 1.5", "five levels")}
    SIZES = {(100, 100): 40}


def truth(scenario: str, prevalence: float) -> dict[str, float]:
    """Return the average precision and the precision at a recall, of the distributions themselves."""
    x, y = SCENARIOS[scenario]
    if scenario == "five levels":
        t, f = (np.cumsum([one.pmf(k) for k in range(4, -1, -1)]) for one in (y, x))
        weights, at = np.diff(t, prepend=0.0), np.interp(RECALL, np.append(0, t), np.append(0, f))
    else:
        edges = special.expit(np.linspace(-40, 40, 200_001))
        t, weights = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
        f, at = x.sf(y.isf(t)), x.sf(y.isf(RECALL))
    precision = reading.precision_at(t, f, prevalence)
    return {"area": float((weights * precision).sum()),
            "precision": float(reading.precision_at(np.array(RECALL), np.array(at), prevalence))}  # fmt: skip


def true_part(scenario: str, end: float) -> float:
    """Return the ROC area over false positive rates from 0 to an end."""
    x, y = SCENARIOS[scenario]
    if scenario == "five levels":
        t, f = (np.append(0, np.cumsum([one.pmf(k) for k in range(4, -1, -1)])) for one in (y, x))
        rates = np.linspace(0, end, 10_001)
        return float(np.trapezoid(np.interp(rates, f, t), rates))
    rates = np.append(0, end * np.exp(np.linspace(-40, 0, 100_001)))
    return float(np.trapezoid(y.sf(x.isf(rates)), rates))


def curves(items: area_samples.Items, prior: str, seed: int) -> reading.Read:
    """Draw the curves of a test set, as many at each prevalence in turn."""
    scores = items.scores
    plan = options.plan(None, None, None, prior, None, 1, DRAWS, seed, scores, *[None] * 5)
    odds = np.repeat([(1 - p) / p for p in PREVALENCES], DRAWS)
    fprs, tprs = np.array([0.0, *RANGES]), np.array([RECALL])
    read = reading.room(1, len(odds), len(fprs), len(tprs), 0)
    ranked = [rank(scores.positive, scores.score[0])]
    shapes = plan.shapes(np.array([items.controls, items.cases], np.float64))
    draw = joint._kernel(scores.positive, ranked, np.empty((1, 0)), shapes, prior, read, odds, fprs, tprs)
    dispatch.in_blocks(lambda start, stop: draw(matrix_rng(seed, start, Stream.CURVE), start, stop), len(odds), DRAWS)
    return read


def one_set(rng: np.random.Generator, scenario: str, cases: int, controls: int) -> tuple[Array, Array]:
    """Return what one test set says of areas, (prevalences, values), and of partial areas and precision."""
    x, y = (
        one.rvs(size=size, random_state=rng) for one, size in zip(SCENARIOS[scenario], (controls, cases), strict=True)
    )
    own = area_samples.check_items(np.repeat([0, 1], [controls, cases]), np.concatenate([x, y]).astype(float))
    seed = int(rng.integers(2**62))
    drawn = [curves(own, prior, seed) for prior in PRIORS]
    tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    areas, others = [], []
    for i, prevalence in enumerate(PREVALENCES):
        items, mine = area_samples.at_prevalence(own, prevalence), slice(i * DRAWS, (i + 1) * DRAWS)
        size = pr_area.trials(items)
        found = Areas(items, NAMES[:1], size, LEVEL, RESAMPLES, 10, seed)
        bounds = [np.clip(pr_area.METHODS[name](found, 0, 0)[1:3], 0, 1) for name in METHODS[:2]]
        ap = [read.areas[0, mine, 1] for read in drawn]
        precision = [reading.precision_at(np.array(RECALL), read.fpr[0, mine, 0], prevalence) for read in drawn]
        medians = [float(np.median(one)) for one in ap]
        areas.append(np.concatenate([area_samples.values(items, NAMES)[0], medians, *bounds,
                                     *(np.quantile(one, tails) for one in ap)]))  # fmt: skip
        others.append(np.concatenate([np.quantile(one, tails) for one in precision]))
    parts = [np.quantile(read.under[0, :, k], tails) for k in (1, 2) for read in drawn]
    return np.stack(areas), np.concatenate([*others, *parts])


def held(bounds: Array, true: float) -> float:
    """Return the share of intervals (n, 2) that hold the truth; none doesn't."""
    return float(((bounds[:, 0] <= true) & (true <= bounds[:, 1])).mean())


def study(scenario: str, cases: int, controls: int, repeats: int) -> tuple[list[Row], list[Row]]:
    """Return rows of areas, and rows of what else is at the end of the ranking."""
    rng = np.random.default_rng([list(SCENARIOS).index(scenario), cases, controls])
    sets = [one_set(rng, scenario, cases, controls) for _ in range(repeats)]
    areas, others = (np.stack(part) for part in zip(*sets, strict=True))
    about: Row = {"scenario": scenario, "cases": cases, "controls": controls}
    made: list[Row] = []
    more: list[Row] = []
    for i, prevalence in enumerate(PREVALENCES):
        true, mine = truth(scenario, prevalence), areas[:, i]
        row = about | {"prevalence": prevalence, "simulations": repeats,
                       "effective_controls": round(effective_controls(controls, prevalence), 3),
                       "true_area": round(true["area"], 5)}  # fmt: skip
        for k, name in enumerate(("point", "binormal", "bayesian_median", "smoothed_median")):
            row |= {name: round(float(np.nanmean(mine[:, k])), 5)}
        row["standard_error_of_point"] = round(float(mine[:, 0].std() / repeats**0.5), 5)
        for k, name in enumerate(METHODS):
            bounds = mine[:, 4 + 2 * k : 6 + 2 * k]
            row |= {name: round(held(bounds, true["area"]), 4),
                    f"{name}_width": round(float(np.nanmean(bounds[:, 1] - bounds[:, 0])), 5)}  # fmt: skip
        made.append(row)
        found = {prior: round(held(others[:, 4 * i + 2 * j : 4 * i + 2 * j + 2], true["precision"]), 4)
                 for j, prior in enumerate(PRIORS)}  # fmt: skip
        more.append(about | {"quantity": f"precision at recall {RECALL:g}, prevalence {prevalence:g}",
                             "simulations": repeats} | found)  # fmt: skip
    start = 4 * len(PREVALENCES)
    for k, end in enumerate(RANGES):
        found = {prior: round(held(others[:, start + 4 * k + 2 * j : start + 4 * k + 2 * j + 2],
                                   true_part(scenario, end)), 4) for j, prior in enumerate(PRIORS)}  # fmt: skip
        more.append(about | {"quantity": f"ROC area, FPR to {end:g}", "simulations": repeats} | found)
    return made, more


def number(row: Row, name: str) -> float:
    """Return a number of a row."""
    return float(str(row[name]))


def broken(made: list[Row], more: list[Row]) -> list[str]:
    """Return the promises of the page that rows don't keep, with a margin of four standard errors."""
    said = []
    for row in [row for row in made if number(row, "effective_controls") >= LEAST] + more:
        least = 0.9 - 4 * (0.9 * 0.1 / number(row, "simulations")) ** 0.5
        if number(row, "smoothed") < least:
            said.append(f"smoothed: {row}")
    return said


def table(made: list[Row]) -> str:
    """Return estimates over the truth, and coverage, by prevalence and size: the worst scenario and the mean."""
    lines = [
        "| prevalence | cases / controls | effective controls | point / truth | median of `smoothed` / truth | "
        + " | ".join(f"`{name}`" for name in METHODS) + " |",
        "|---|---|---|---|---|" + "---|" * len(METHODS),
    ]  # fmt: skip
    for prevalence, (cases, controls) in itertools.product(PREVALENCES, SIZES):
        mine = [r for r in made if (r["prevalence"], r["cases"], r["controls"]) == (prevalence, cases, controls)]
        if not mine:
            continue
        ratios = [[number(r, name) / number(r, "true_area") for r in mine] for name in ("point", "smoothed_median")]
        cells = [f"{min(one):.2f} to {max(one):.2f}" for one in ratios]
        for name in METHODS:
            covered = [number(r, name) for r in mine]
            cells.append(f"{min(covered):.2f}, {np.mean(covered):.2f}")
        lines.append(f"| {prevalence:g} | {cases} / {controls} | {mine[0]['effective_controls']} | "
                     + " | ".join(cells) + " |")  # fmt: skip
    return "\n".join(lines) + "\n"


def scenario_table(made: list[Row]) -> str:
    """Return one setting, 100 cases and 100 controls, scenario by scenario."""
    lines = [
        "| scores | prevalence | true area | mean point | median: `bayesian` | `smoothed` | "
        + " | ".join(f"`{name}`" for name in METHODS) + " |",
        "|---|---|---|---|---|---|" + "---|" * len(METHODS),
    ]  # fmt: skip
    for row in (r for r in made if (r["cases"], r["controls"]) == (100, 100)):
        names = ("true_area", "point", "bayesian_median", "smoothed_median")
        cells = [f"{number(row, name):.3f}" for name in names]
        cells += [f"{number(row, name):.2f} / {number(row, f'{name}_width'):.2f}" for name in METHODS]
        lines.append(f"| {row['scenario']} | {row['prevalence']} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def partial_table(more: list[Row]) -> str:
    """Return the lowest and the mean coverage of other quantities over scenarios, by size and prior."""
    sizes = dict.fromkeys((r["cases"], r["controls"]) for r in more)
    columns = list(itertools.product(sizes, PRIORS))
    lines = ["| quantity | " + " | ".join(f"{a} / {b}, `{prior}`" for (a, b), prior in columns) + " |",
             "|---|" + "---|" * len(columns)]  # fmt: skip
    for quantity in dict.fromkeys(str(r["quantity"]) for r in more):
        cells = []
        for size, prior in columns:
            mine = [number(r, prior) for r in more if (r["quantity"], (r["cases"], r["controls"])) == (quantity, size)]
            cells.append(f"{min(mine):.2f}, {np.mean(mine):.2f}" if mine else "")
        lines.append(f"| {quantity} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def write(made: list[Row], more: list[Row]) -> None:
    """Write rows and tables."""
    write_rows(HERE / "exchanged.csv", made)
    write_rows(HERE / "exchanged_partial.csv", more)
    (HERE / "exchanged_table.inc").write_text(table(made))
    (HERE / "exchanged_scenarios_table.inc").write_text(scenario_table(made))
    (HERE / "exchanged_partial_table.inc").write_text(partial_table(more))


if __name__ == "__main__":
    start = time.process_time()
    made: list[Row] = []
    more: list[Row] = []
    for (size, repeats), scenario in itertools.product(SIZES.items(), SCENARIOS):
        rows = study(scenario, *size, repeats)
        made += rows[0]
        more += rows[1]
        if not QUICK:
            write(made, more)
        print(f"{scenario}, {size[0]} cases, {size[1]} controls: {time.process_time() - start:.0f} s", flush=True)
    print(table(made), partial_table(more), sep="\n")
    sys.exit("\n".join(broken(made, more)) or None)
