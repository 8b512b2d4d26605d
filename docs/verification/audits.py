"""Audits, how often they hold: ``python -m uv run python docs/verification/audits.py`` (a minute or two).

A judge marks N answers and people a random n of them; and a map with a rare class, of which points are visited by map
class. Last a judge whose wrong answers are checked more often than right ones of the same verdict: then none holds; and
strata, many of few items, which share a prior, beside one of its own in each. 95% intervals of the share of right
answers, or of the area of the rare class: ours (as ``bayescm.summary`` gives them, HDI, and with equal tails),
prediction-powered inference (PPI++, Angelopoulos et al. 2023, with its best weight and normal theory), the labels alone
(Jeffreys), the judge alone (Wilson); for the map the stratified estimator with its normal interval (Olofsson et al.
2014). Writes audits_judge.csv, audits_map.csv, audits_selected.csv, their tables and audits_strata.csv.
``--quick`` runs few repeats, writes nothing and fails if ours holds too seldom or isn't what ``bayescm.summary`` gives.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rows import write_rows
from scipy import special

import bayescm
from bayescm.data.strata import Strata
from bayescm.distributions import Linear, exact_distribution
from bayescm.distributions import strata as groups
from bayescm.metrics import compute, resolve
from bayescm.priors.concentrations import Concentrations

Array = NDArray[np.float64]
Bounds = tuple[Array, Array]

HERE = Path(__file__).parent
Z = float(special.ndtri(0.975))
JUDGES = {"good": (0.98, 0.90), "fair": (0.95, 0.60)}  # P(called right | right), P(called wrong | wrong)
KINDS = {"audit, HDI": "hdi", "audit, equal tails": "eti"}
JUDGE_METHODS = ("audit, HDI", "audit, equal tails", "PPI++", "labels alone", "judge alone")
MAP_METHODS = ("audit, HDI", "audit, equal tails", "normal theory")
STRATA_METHODS = ("one prior for all strata", "one in each")
ASKED = ("accuracy", "difference of accuracies", "recall", "difference of recalls")
EVEN = np.full(20, 0.5)
OVER_STRATA = {  # items of each stratum, its weight, share of positives, and both systems' recall = specificity
    "4 of 50": (np.full(4, 50), None, EVEN[:4], 0.95, 0.75),
    "20 of 10": (np.full(20, 10), None, EVEN, 0.95, 0.75),
    "20 of 3": (np.full(20, 3), None, EVEN, 0.95, 0.75),
    "20 of 3, systems alike": (np.full(20, 3), None, EVEN, 0.85, 0.85),
    "20 of 3, from .5 to 1": (np.full(20, 3), None, EVEN, np.linspace(0.5, 1, 20), np.linspace(0.4, 0.9, 20)),
    "20 of 10, 5% positive": (np.full(20, 10), None, EVEN / 10, 0.95, 0.75),
    "a third in one of 100, 19 of 3": (np.r_[100, np.full(19, 3)], np.r_[10, np.ones(19)], EVEN, 0.95, 0.75),
    "half in one of 5, 19 of 20": (np.r_[5, np.full(19, 20)], np.r_[19, np.ones(19)], EVEN, 0.9, 0.7),
    "20 of 1": (np.ones(20, int), None, EVEN, 0.9, 0.7),
    "20 of 3 of each verdict": (np.full(20, 3), None, EVEN, 0.95, 0.75),
}


def answers(rng: np.random.Generator, accuracy: float, judge: tuple[float, float], n: int, repeats: int) -> Array:
    """Draw counts (repeats, truth, verdict) of `n` answers."""
    cells = [(1 - accuracy) * judge[1], (1 - accuracy) * (1 - judge[1]), accuracy * (1 - judge[0]), accuracy * judge[0]]
    return np.asarray(rng.multinomial(n, cells, repeats).reshape(-1, 2, 2), np.float64)


def audit(checked: Array, totals: Array, kinds: Mapping[str, str] = KINDS) -> dict[str, Bounds]:
    """Return the intervals of many audits at once: what the model does for one, prior jeffreys."""
    rows = checked.swapaxes(1, 2) + 0.5
    which = Concentrations(rows, totals + 1.0)
    dist: Any = exact_distribution(resolve(["predicted_prevalence"], 2)[0], which)
    found = {}
    for name, kind in kinds.items():
        statistics = dist.statistics(0.95, kind)
        found[name] = statistics["lower"], statistics["upper"]
    return found


def prediction_powered(checked: Array, unchecked: Array, *, bounded: bool = True) -> Bounds:
    """Return the normal interval of PPI++ for a mean: labels corrected by the verdicts with the best weight.

    `bounded` keeps the weight between 0 and 1. Some packages don't, and answer only where labels differ.
    """
    n, m = checked.sum((1, 2)), unchecked.sum(-1)
    y, f, both = checked[:, 1].sum(-1) / n, checked[..., 1].sum(-1) / n, checked[:, 1, 1] / n
    rest = unchecked[:, 1] / m
    pooled = (checked[..., 1].sum(-1) + unchecked[:, 1]) / (n + m)
    spread = pooled * (1 - pooled)
    weight = np.divide(both - y * f, (1 + n / m) * spread, out=np.zeros(len(y)), where=spread > 0)
    weight = np.clip(weight, 0.0, 1.0) if bounded else weight * n / (n - 1)
    mean = y + weight * (rest - f)
    residual = y - 2 * weight * both + weight**2 * f - (y - weight * f) ** 2
    se = np.sqrt(np.maximum(residual, 0.0) / (n - 1) + weight**2 * rest * (1 - rest) / m)
    return mean - Z * se, mean + Z * se


def alone(k: Array, n: Array, method: str) -> Bounds:
    """Return the interval of one proportion."""
    if method == "jeffreys":
        low, high = (special.betaincinv(k + 0.5, n - k + 0.5, p) for p in (0.025, 0.975))
        return np.where(k == 0, 0.0, low), np.where(k == n, 1.0, high)
    center, half = (k + Z**2 / 2) / (n + Z**2), Z * np.sqrt(k * (n - k) / n + Z**2 / 4) / (n + Z**2)
    return center - half, center + half


def judged(accuracy: float, judge: str, total: int, labelled: int, repeats: int, seed: int) -> list[dict[str, Any]]:
    """Say how often the intervals of the share of right answers hold it, and how long they are."""
    rng = np.random.default_rng([seed, total, labelled])
    checked = answers(rng, accuracy, JUDGES[judge], labelled, repeats)
    unchecked = answers(rng, accuracy, JUDGES[judge], total - labelled, repeats).sum(1)
    totals = checked.sum(1) + unchecked
    found = audit(checked, totals) | {
        "PPI++": prediction_powered(checked, unchecked),
        "labels alone": alone(checked[:, 1].sum(-1), checked.sum((1, 2)), "jeffreys"),
        "judge alone": alone(totals[:, 1], totals.sum(-1), "wilson"),
    }
    about = {"accuracy": accuracy, "judge": judge, "N": total, "labelled": labelled}
    return [about | held(name, found[name], accuracy, repeats) for name in JUDGE_METHODS]


def mapped(omission: float, points: tuple[int, int], repeats: int, seed: int) -> list[dict[str, Any]]:
    """Say the same of the area of a class that the map has on 2% of the land, nine tenths of them rightly."""
    rng, shares, right = np.random.default_rng([seed, *points]), np.array([0.02, 0.98]), np.array([0.9, omission])
    k, n = rng.binomial(points, right, (repeats, 2)), np.array(points)
    rates, truth = k / n, float(shares @ right)
    se = np.sqrt((shares**2 * rates * (1 - rates) / (n - 1)).sum(-1))
    some, place = np.unique(k, axis=0, return_inverse=True)  # many repeats see the same
    dist = Linear(shares, some + 0.5, n - some + 0.5)
    bounds = {"audit, HDI": dist.hdi(0.95)[:2], "audit, equal tails": dist.eti(0.95)}
    found: dict[str, Bounds] = {name: (low[place], high[place]) for name, (low, high) in bounds.items()}
    found |= {"normal theory": (rates @ shares - Z * se, rates @ shares + Z * se)}
    about = {"area": round(truth, 5), "missed in the large class": omission, "points": f"{points[0]} + {points[1]}"}
    return [about | held(name, found[name], truth, repeats) for name in MAP_METHODS]


def selected(judge: str, odds: float, repeats: int, seed: int) -> list[dict[str, Any]]:
    """Say the same where checking depends on the truth: a wrong answer is checked `odds` times as often as a right one.

    Of 2,000 answers, 1,800 right; so that 200 are checked on average.
    """
    rng, accuracy, total, labelled = np.random.default_rng([seed, 1]), 0.9, 2000, 200
    every = answers(rng, accuracy, JUDGES[judge], total, repeats)
    right = labelled / total / (accuracy + (1 - accuracy) * odds)
    checked = rng.binomial(every.astype(np.int64), np.array([[right * odds], [right]])).astype(np.float64)
    totals = every.sum(1)
    found = audit(checked, totals) | {
        "PPI++": prediction_powered(checked, totals - checked.sum(1)),
        "labels alone": alone(checked[:, 1].sum(-1), checked.sum((1, 2)), "jeffreys"),
        "judge alone": alone(totals[:, 1], totals.sum(-1), "wilson"),
    }
    about = {"judge": judge, "odds that a wrong answer is checked": odds}
    return [about | held(name, found[name], accuracy, repeats) for name in JUDGE_METHODS]


def drawn(counts: NDArray[np.int64], weight: Array, seed: int, *, shared: bool) -> list[Array]:
    """Return draws of accuracy and recall of one system, from counts (group, actual, predicted) of known weights."""
    by_verdict = len(counts) > len(EVEN)
    column = np.eye(2, dtype=bool)[:, None] if by_verdict else np.ones((1, 2, 2), bool)
    possible = np.broadcast_to(np.tile(column, (len(counts) // len(column), 1, 1)), counts.shape)
    one = Strata(counts, weight, possible, [""] * len(counts), "population", by_verdict, shared)
    posterior = groups.posterior_of(one, groups.prior_of(one, "jeffreys", [0, 1]))
    return compute(resolve(["accuracy", "recall"], 2), groups.draw(posterior, np.random.default_rng(seed), 2000)[2])


def stratified(name: str, repeats: int) -> list[dict[str, Any]]:
    """Say how often two systems' accuracy and recall, and their differences, are held over strata."""
    n, weight, positive, *rates = OVER_STRATA[name]
    weight = np.ones(len(n)) if weight is None else np.asarray(weight)
    rng, shares, found = np.random.default_rng([7, len(name), *n[:2]]), weight / weight.sum(), []
    cells = []
    for rate in rates:
        right = np.broadcast_to(rate, n.shape)
        cells.append(np.stack([(1 - positive) * right, (1 - positive) * (1 - right), positive * (1 - right),
                               positive * right], -1).reshape(-1, 2, 2))  # fmt: skip
    truth = [[shares @ p[:, 1, 1] + shares @ p[:, 0, 0], shares @ p[:, 1, 1] / (shares @ positive)] for p in cells]
    for _ in range(repeats):
        data = []
        for p in cells:
            if "verdict" in name:
                truths = rng.binomial(n[:, None], p[:, 1] / p.sum(1))  # of each verdict's items (stratum, verdict)
                counts = np.stack([n[:, None] - truths, truths], 2)[..., None] * np.eye(2, dtype=int)[:, None]
                data.append((counts.reshape(-1, 2, 2), (shares[:, None] * p.sum(1)).ravel()))
            else:
                data.append((rng.multinomial(n, p.reshape(-1, 4)).reshape(-1, 2, 2), shares))
        for shared in (True, False):
            both = [drawn(*one, seed, shared=shared) for seed, one in enumerate(data)]
            asked = np.stack([both[0][0], both[0][0] - both[1][0], both[0][1], both[0][1] - both[1][1]])
            found.append(np.quantile(asked, (0.025, 0.975), -1))
    bounds = np.reshape(found, (repeats, 2, 2, len(ASKED)))
    true = (truth[0][0], truth[0][0] - truth[1][0], truth[0][1], truth[0][1] - truth[1][1])
    return [
        {"strata": name, "asked": what} | held(method, (bounds[:, m, 0, i], bounds[:, m, 1, i]), true[i], repeats)
        for i, what in enumerate(ASKED) for m, method in enumerate(STRATA_METHODS)
    ]  # fmt: skip


def write_strata(repeats: int) -> None:
    """Write how often strata hold that share a prior."""
    rows = [row for name in OVER_STRATA for row in stratified(name, repeats)]
    write_rows(HERE / "audits_strata.csv", rows)


def held(name: str, bounds: Bounds, truth: float, repeats: int) -> dict[str, Any]:
    """Return coverage, misses on either side and mean length."""
    low, high = bounds
    below, above = float((high < truth).mean()), float((low > truth).mean())
    return {
        "method": name, "repeats": repeats, "coverage": round(1 - below - above, 4), "all below": round(below, 4),
        "all above": round(above, 4), "length": round(float((high - low).mean()), 5),
    }  # fmt: skip


def same_as_summary() -> bool:
    """Say whether what is studied here is what the library gives."""
    checked, totals = np.array([[[17.0, 1], [3, 19]]]), np.array([[100.0, 1900]])
    library = bayescm.summary(bayescm.audited(checked[0].astype(int), totals[0].astype(int)), "prevalence")
    low, high = audit(checked, totals)["audit, equal tails"]
    return bool(np.allclose(library["interval"].values[0], [low[0], high[0]], atol=1e-9))


def wide(rows: list[dict[str, Any]], methods: tuple[str, ...]) -> str:
    """Return a table with a row per scenario, and coverage and length of each method."""
    keys = [key for key in rows[0] if key not in ("method", "repeats", "coverage", "all below", "all above", "length")]
    lines = ["| " + " | ".join([*keys, *methods]) + " |", "|" + " ---: |" * (len(keys) + len(methods))]
    for i in range(0, len(rows), len(methods)):
        some = rows[i : i + len(methods)]
        cells = [f"{some[0][key]:,}" if isinstance(some[0][key], int) else f"{some[0][key]}" for key in keys]
        cells += [f"{row['coverage']:.3f} ({row['length']:.3g})" for row in some]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write_selected(repeats: int) -> None:
    """Write the table of audits whose assumption fails."""
    cases = [(judge, odds) for judge in JUDGES for odds in (1, 1.5, 3)]
    rows = [row for seed, case in enumerate(cases) for row in selected(*case, repeats, seed)]
    write_rows(HERE / "audits_selected.csv", rows)
    (HERE / "audits_selected.inc").write_text(wide(rows, JUDGE_METHODS) + "\n")


def main() -> int:
    """Run the study and write its tables, or a little of it."""
    quick, rows, maps = "--quick" in sys.argv, [], []
    repeats = 100 if quick else 500
    cases = [(0.97, "good", 2000, 40)] if quick else [
        (accuracy, judge, total, labelled)
        for accuracy in (0.97, 0.9, 0.7) for judge in JUDGES
        for total, labelled in ((500, 40), (2000, 40), (2000, 200))
    ]  # fmt: skip
    for seed, case in enumerate(cases):
        rows += judged(*case, repeats, seed)
    for seed, omission in enumerate((0.003,) if quick else (0.0005, 0.001, 0.003, 0.01)):
        for points in ((75, 300),) if quick else ((75, 300), (75, 1000)):
            maps += mapped(omission, points, 40 * repeats, seed)
    if quick:
        maps += [row for name in ("20 of 3", "20 of 3 of each verdict") for row in stratified(name, 20)]
        mine = [row for row in rows + maps if row["method"] in (*KINDS, STRATA_METHODS[0])]
        low = any(row["coverage"] < 0.92 - 4 * (0.95 * 0.05 / row["repeats"]) ** 0.5 for row in mine)
        return int(low or not same_as_summary())
    write_rows(HERE / "audits_judge.csv", rows)
    write_rows(HERE / "audits_map.csv", maps)
    (HERE / "audits_table.inc").write_text(f"{wide(rows, JUDGE_METHODS)}\n\n{wide(maps, MAP_METHODS)}\n")
    write_selected(repeats)
    write_strata(repeats)
    return 0


if __name__ == "__main__":
    sys.exit(main())
