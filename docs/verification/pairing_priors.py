"""Rebuild the choice of a pair's prior: ``python -m uv run python docs/verification/pairing_priors.py`` (a minute).

Of the items that two systems answer, b are right by the first alone and c by the second alone. A verdict is "better"
or "worse" where I_1/2(c + a, b + a), or its complement, is at least `sure`, that is where the central interval of
probability 2 `sure` - 1 excludes 0; `a` is the prior's weight a side.
By enumeration: how often there is a verdict though the systems are equal, for expected numbers of discordant items
from 1/4 to 100 (Poisson) and for given ones from 1 to 60; how often the 95% interval of the difference holds it; how
often a verdict beyond a rope is wrong; and which share of the verdicts is right, where systems differ as a Beta says.
By simulation: the verdicts of metrics that have no exact distribution. Writes pairing_priors.csv, pairing_drawn.csv
and their tables. ``--quick`` runs a small part and writes nothing. Either fails if a promise of the page is broken.
"""

import sys
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from rows import write_rows
from scipy import special, stats

import bayescm

Array = NDArray[np.float64]
Row = dict[str, object]

HERE = Path(__file__).parent
WEIGHTS, SURE = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0), (0.95, 0.975, 0.995)
MOST, REST = 240, 1.0
EXPECTED = np.concatenate([np.arange(0.25, 20, 0.25), np.arange(20, 101, 2.0)])
SHARES = ((0.02, 0.0), (0.05, 0.0), (0.05, 0.03), (0.1, 0.0), (0.1, 0.05), (0.1, 0.09), (0.2, 0.0), (0.2, 0.1))
"""Share of discordant items, and the difference of the two accuracies."""
ROPE, GRADES = 0.02, (1.0, 5.0, 20.0)
METRICS = ("f1", "matthews_correlation", "balanced_accuracy", "precision")
SETTINGS = (
    (100, 0.3, 0.02, 0.06),
    (300, 0.02, 0.0, 0.5),
    (100, 0.3, 0.05, 0.05),
    (200, 0.1, 0.01, 0.1),
    (300, 0.05, 0.01, 0.2),
    (300, 0.3, 0.1, 0.1),
)
"""Items, prevalence, share of discordant items among the negatives and among the positives."""
FIRST, SECOND = np.arange(MOST + 1.0)[:, None], np.arange(MOST + 1.0)[None, :]


def verdicts(weight: float, sure: float) -> NDArray[np.bool_]:
    """Return where the first is found better, over the items for the first and for the second."""
    return np.asarray(special.betaincc(FIRST + weight, SECOND + weight, 0.5) >= sure)


def expected(better: NDArray[np.bool_]) -> Array:
    """Return how often either of two equal systems is found better, by the expected number of discordant items."""
    chances = stats.poisson.pmf(np.arange(MOST + 1), EXPECTED[:, None] / 2)
    return np.asarray(2 * ((chances @ better) * chances).sum(1))


def given(better: NDArray[np.bool_]) -> Array:
    """Return the same for 1 to 60 discordant items."""
    ways = [(np.arange(m + 1), m) for m in range(1, 61)]
    return np.array([2 * stats.binom.pmf(k, m, 0.5) @ better[k, m - k] for k, m in ways])


def right(weight: float, sure: float, grade: float, items: float = 10.0) -> tuple[float, float]:
    """Return the stated and the true share of right verdicts, the first system's part being Beta(grade, grade)."""
    better, m = verdicts(weight, sure), FIRST + SECOND
    ways = -np.log1p(m) - special.betaln(FIRST + 1, SECOND + 1)
    side = np.exp(ways + special.betaln(FIRST + grade, SECOND + grade) - special.betaln(grade, grade))
    chance = stats.poisson.pmf(m, items) * side * better
    parts = [special.betaincc(FIRST + a, SECOND + a, 0.5) for a in (weight, grade)]
    return tuple(float((chance * part).sum() / chance.sum()) for part in parts)  # type: ignore[return-value]


def below(b: Array, c: Array, rest: Array, x: float, weight: float) -> Array:
    """Return P(difference <= x) after given counts, by Gauss and Legendre over the share of discordant items."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    size = special.betaincinv((b + c + 2 * weight)[:, None], (rest + REST)[:, None], (nodes + 1) / 2)
    side = special.betainc((b + weight)[:, None], (c + weight)[:, None], np.clip(0.5 + 0.5 * x / size, 0, 1))
    return np.asarray(side @ weights / 2)


def outcomes(n: int, share: float, difference: float) -> tuple[Array, Array, Array]:
    """Return counts of n items, but for improbable ones, and their probabilities."""
    m = np.arange(int(stats.binom.isf(1e-5, n, share)) + 1)
    b, m = np.concatenate([np.stack([np.arange(k + 1), np.full(k + 1, k)], 1) for k in m]).T
    chance = stats.binom.pmf(m, n, share) * stats.binom.pmf(b, m, 0.5 + 0.5 * difference / share)
    use = chance > 1e-6
    return b[use].astype(float), (m - b)[use].astype(float), chance[use]


def coverage(weight: float, n: int) -> list[float]:
    """Return how often the equal-tailed 95% interval holds the difference."""
    found = []
    for share, difference in SHARES:
        b, c, chance = outcomes(n, share, difference)
        at = below(b, c, n - b - c, difference, weight)
        found.append(float(chance @ ((at > 0.025) & (at < 0.975)) / chance.sum()))
    return found


def beyond_rope(weight: float, n: int) -> float:
    """Return how often a system is found better than the rope allows where its gain is the rope itself."""
    found = []
    for share, _ in SHARES:
        b, c, chance = outcomes(n, share, ROPE)
        found.append(float(chance @ (below(b, c, n - b - c, ROPE, weight) <= 0.025)))
    return max(found)


def priors(weights: tuple[float, ...], sizes: tuple[int, ...]) -> list[Row]:
    """Return a row per weight and level."""
    made: list[Row] = []
    for weight in weights:
        held = [value for n in sizes for value in coverage(weight, n)]
        rope = max(beyond_rope(weight, n) for n in sizes)
        for sure in SURE:
            better = verdicts(weight, sure)
            wrong, fixed = expected(better), given(better)
            row: Row = {"weight": weight, "sure": sure, "meant": round(2 * (1 - sure), 4)}
            row |= {"worst": round(float(wrong.max()), 4), "worst_at": float(EXPECTED[wrong.argmax()])}
            row |= {f"at_{m}": round(float(wrong[m == EXPECTED][0]), 4) for m in (2, 3, 4, 10, 40)}
            row |= {"worst_given": round(float(fixed.max()), 4), "worst_given_at": int(fixed.argmax()) + 1}
            row |= {"fewest_that_decide": int(better[:, 0].argmax())}
            for grade in GRADES:
                stated, true = right(weight, sure, grade)
                row |= {f"stated_{grade:g}": round(stated, 4), f"true_{grade:g}": round(true, 4)}
            covered = {"coverage_least": min(held), "coverage_mean": float(np.mean(held)), "beyond_rope": rope}
            made.append(row | {name: round(value, 4) for name, value in covered.items()})
    return made


def drawn(repeats: int, draws: int) -> list[Row]:
    """Return a row per setting: wrong verdicts of metrics by draws, pairs independent a priori, and as they are."""
    made: list[Row] = []
    for n, prevalence, negative, positive in SETTINGS:
        half = [negative / 2, positive / 2]
        cells = [[0.9 - half[0], half[0], half[0], 0.1 - half[0]], [0.75 - half[1], half[1], half[1], 0.25 - half[1]]]
        chance = np.array(cells) * np.array([[1 - prevalence], [prevalence]])
        rng = np.random.default_rng([n, round(1000 * prevalence), round(1000 * positive)])
        counts = rng.multinomial(n, chance.ravel(), repeats).reshape(repeats, 2, 4)
        row: Row = {"items": n, "prevalence": prevalence, "discordant": round(n * float(chance[:, 1:3].sum()), 1)}
        for name, prior in CELLS.items():
            values = bayescm.metrics.evaluate(
                theta_of(rng.standard_gamma((counts + prior)[:, None], (repeats, draws, 2, 4))), METRICS
            )
            for metric in METRICS:
                p = (values[metric].sel(system="A") > values[metric].sel(system="B")).mean("draw").values
                row[f"{name}_{metric}"] = round(float(((p >= 0.975) | (p <= 0.025)).mean()), 4)
        made.append(row)
    return made


CELLS = {"independent": np.full(4, 0.25), "pair": np.array([0.0, 0.5, 0.5, 0.0])}
"""Prior concentrations of both, only the first, only the second, none right, in either class."""


def theta_of(weights: Array) -> xr.DataArray:
    """Return cell probabilities of both systems from weights of the negatives and of the positives, (..., 2, 4)."""
    both, first, second, none = np.moveaxis(weights / weights.sum((-2, -1), keepdims=True), -1, 0)
    right, wrong = np.stack([both + first, both + second], -2), np.stack([none + second, none + first], -2)
    theta = np.stack([np.stack([right[..., 0], wrong[..., 0]], -1), np.stack([wrong[..., 1], right[..., 1]], -1)], -2)
    coords = {"system": ["A", "B"], "actual": [0, 1], "predicted": [0, 1]}
    return xr.DataArray(theta, dims=("repeat", "draw", "system", "actual", "predicted"), coords=coords)


def table(made: list[Row]) -> str:
    """Return the priors as a table, of 95% intervals."""
    heads = (
        "| a side | worst | with 3 | with 10 | with 40 | worst of given ones | decides | coverage | right verdicts |"
    )
    rows = [
        f"| {r['weight']:g} | {r['worst']:.3f} at {r['worst_at']:g} | {r['at_3']:.3f} | {r['at_10']:.3f} | "
        f"{r['at_40']:.3f} | {r['worst_given']:.3f} of {r['worst_given_at']} | {r['fewest_that_decide']} | "
        f"{r['coverage_least']:.3f}, {r['coverage_mean']:.3f} | {r['stated_5']:.3f}, {r['true_5']:.3f} |"
        for r in made
        if r["sure"] == 0.975
    ]
    return "\n".join([heads, "|---" * 9 + "|", *rows]) + "\n"


def drawn_table(made: list[Row]) -> str:
    """Return the metrics by draws as a table."""
    heads = ["items", "positives", "discordant", "F1", "MCC", "balanced accuracy", "precision"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for r in made:
        cells = [f"{r[f'independent_{m}']:.3f} / {r[f'pair_{m}']:.3f}" for m in METRICS]
        lines.append(f"| {r['items']} | {r['prevalence']} | {r['discordant']} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def broken(made: list[Row], metrics: list[Row], repeats: int) -> list[str]:
    """Return the promises of the page that rows don't keep."""
    said = []
    for r in made:
        if r["weight"] == 1.0:
            if float(str(r["worst"])) > float(str(r["meant"])):
                said.append(f"a verdict errs too often at {r['sure']}")
            if float(str(r["coverage_least"])) < 0.95 or float(str(r["beyond_rope"])) > 0.0275:
                said.append("the interval, or a verdict beyond a rope, doesn't hold what it says")
    for r in metrics:
        errs = max(float(str(r[f"pair_{m}"])) for m in METRICS)
        if errs > 0.05 + 4 * np.sqrt(0.0475 / repeats):
            said.append(f"a metric by draws errs too often: {r}")
    return said


def run(*, quick: bool) -> list[str]:
    """Carry out the study, and return the promises that are broken."""
    repeats = 100 if quick else 1000
    made = priors((1.0,), (20,)) if quick else priors(WEIGHTS, (20, 50, 200))
    metrics = drawn(repeats, 200 if quick else 1000)
    if not quick:
        write_rows(HERE / "pairing_priors.csv", made)
        (HERE / "pairing_priors_table.inc").write_text(table(made))
        write_rows(HERE / "pairing_drawn.csv", metrics)
        (HERE / "pairing_drawn_table.inc").write_text(drawn_table(metrics))
    print(table(made), drawn_table(metrics), sep="\n", flush=True)
    return broken(made, metrics, repeats)


if __name__ == "__main__":
    said = run(quick="--quick" in sys.argv)
    print(*said, sep="\n")
    sys.exit(1 if said else 0)
