"""Coverage of reliability()'s simultaneous band, and of its intervals of losses (seven minutes).

``python -m uv run python docs/verification/reliability.py``. Given the scores, the positives of a bin are a sum of
independent ones with unequal chances, and the bins are independent: whether a band holds the mean chances of all bins,
or all mean scores, has an exact probability, here for random sets of scores. The same and the losses by simulation
through the public function (``bayescm.calibration.coverage_of``), where scores are drawn anew, too; beside them the
losses' intervals of Student's t, which were the library's until 0.2. Losses have two truths more: 1% confidently wrong,
and the worst, a score that one item in a hundred has and nearly always is wrong, far from all others.

Writes reliability.csv and reliability_table.inc. ``--quick`` runs a small part, writes nothing, and fails if Clopper
and Pearson's band holds less often than it says, simulation and exact numbers disagree, or a loss of items that are
confidently wrong is held too seldom.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from rows import write_rows
from scipy import special, stats

import bayescm
from bayescm.calibration import coverage_of
from bayescm.curves.calibration_curve import METHODS

Array = NDArray[np.float64]
Row = dict[str, object]

HERE = Path(__file__).parent
LEVEL = 0.95
ITEMS = (20, 50, 200, 1000)
BINS = (5, 10)
LOSSES = ("brier", "log_loss")
OF_MEANS = ("bootstrap", "t")


class Mixed(NamedTuple):
    """Chances of which a share is one number, and the others scatter, or are another number."""

    share: float
    one: float
    others: Any

    def rvs(self, n: int, random_state: np.random.Generator) -> Array:
        """Draw chances."""
        return self.ppf(random_state.uniform(size=n))

    def ppf(self, tail: Array) -> Array:
        """Return the chance below which a part of them is, in an order of their own."""
        rest = np.clip((tail - self.share) / (1.0 - self.share), 0.0, 1.0)
        others = self.others if isinstance(self.others, float) else self.others.ppf(rest)
        return np.where(tail < self.share, self.one, others)


class Truth(NamedTuple):
    """How chances scatter, and what a score says of a chance."""

    chances: Any
    score: Callable[[Array], Array]


def bent(power: float, shift: float, chance: Array) -> Array:
    """Return the score whose log-odds are those of the chance, times a power, and shifted."""
    return np.asarray(special.expit(power * special.logit(chance) + shift))


COMMON, RARE = stats.beta(1, 3), stats.beta(0.3, 6)
TRUTHS = {
    "calibrated": Truth(COMMON, partial(bent, 1.0, 0.0)),
    "calibrated, 5% positive": Truth(RARE, partial(bent, 1.0, 0.0)),
    "too sure": Truth(COMMON, partial(bent, 2.0, 0.0)),
    "too timid": Truth(COMMON, partial(bent, 0.5, 0.0)),
    "too high": Truth(COMMON, partial(bent, 1.0, 0.5)),
}
FAR = 0.9, 1e-4  # the chance and the score of one item in a hundred
OF_LOSSES = {
    "1% confidently wrong": Truth(Mixed(0.5, 0.01, 0.99), partial(bent, 1.5, 0.0)),  # scores of .001 and .999
    "worst: a rare score far off": Truth(
        Mixed(0.01, FAR[0], COMMON), lambda chance: np.where(chance == FAR[0], FAR[1], chance)
    ),
}


def sample(truth: Truth, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return chances and scores of items."""
    chance = truth.chances.rvs(n, random_state=rng)
    return chance, truth.score(chance)


def positives(chance: Array) -> Array:
    """Return the probabilities of 0, 1, ... positives among items of these chances."""
    found = np.ones(1)
    for one in chance:
        found = np.convolve(found, [1.0 - one, one])
    return found


def exactly(truth: Truth, n: int, bins: int, sets: int) -> list[Row]:
    """Return a row per method: how probably a band holds all mean chances, and all mean scores."""
    rng = np.random.default_rng([n, bins, 1])
    held = {name: np.ones((sets, 2)) for name in METHODS}
    width = {name: np.zeros(sets) for name in METHODS}
    for i in range(sets):
        chance, score = sample(truth, n, rng)
        edges = bayescm.curves.reliability(np.arange(n) % 2, score, bins=bins)["bin_lower"].values
        place = np.searchsorted(edges, score, side="right") - 1
        for b in range(len(edges)):
            mine = place == b
            mass, k = positives(chance[mine]), np.arange(mine.sum() + 1.0)
            aims = np.array([chance[mine].mean(), score[mine].mean()])
            for name, method in METHODS.items():
                lower, upper = method(k, np.full(k.shape, k[-1]), LEVEL ** (1.0 / len(edges)))
                held[name][i] *= mass @ ((lower[:, None] <= aims) & (aims <= upper[:, None]))
                width[name][i] += mass @ (upper - lower) / len(edges)
    return [
        {"quantity": "band", "bins": bins, "method": name, "by": "exact", "coverage": held[name][:, 0].mean(),
         "least": held[name][:, 0].min(), "mcse": held[name][:, 0].std(ddof=1) / sets**0.5,
         "width": width[name].mean(), "some_bin_off": 1.0 - held[name][:, 1].mean()}
        for name in METHODS
    ]  # fmt: skip


def simulated(truth: Truth, n: int, bins: int, simulations: int) -> Row:
    """Return the same of Clopper and Pearson's band, through the public function."""

    def draw(rng: np.random.Generator, _: object) -> tuple[Array, xr.Dataset]:
        chance, score = sample(truth, n, rng)
        y = rng.uniform(size=n) < chance
        return chance, bayescm.curves.reliability(y, score, bins=bins, labels=[0, 1]).assign(
            score_of_item=("item", score)
        )

    def holds(data: tuple[Array, xr.Dataset], _: Array) -> Array:
        chance, found = data
        place = np.searchsorted(found["bin_lower"].values, found["score_of_item"].values, side="right") - 1
        mean = np.bincount(place, chance) / np.bincount(place)
        lower, upper = found["interval"].values.T
        return np.array([((lower <= mean) & (mean <= upper)).all(), found.attrs["off"] == 0], np.float64)

    found = coverage_of(holds, [0.0], simulate=draw, contains=True, simulations=simulations, random_seed=n + bins)
    coverage, calm = found["coverage"].values[0]
    return {
        "quantity": "band", "bins": bins, "method": "clopper_pearson", "by": "simulation", "coverage": coverage,
        "least": "", "mcse": found["mcse"].values[0, 0], "width": "", "some_bin_off": 1.0 - calm,
    }  # fmt: skip


def expected(truth: Truth) -> Array:
    """Return the expected Brier score and log loss."""
    tails = (np.arange(200_000) + 0.5) / 200_000
    chance = truth.chances.ppf(tails)
    score = truth.score(chance)
    brier = chance * (1.0 - score) ** 2 + (1.0 - chance) * score**2
    return np.array([brier.mean(), -(special.xlogy(chance, score) + special.xlog1py(1.0 - chance, -score)).mean()])


def losses(truth: Truth, n: int, simulations: int) -> list[Row]:
    """Return a row per loss and method: how often its interval holds the expected loss of new items."""

    def draw(rng: np.random.Generator, _: object) -> tuple[Array, Array]:
        chance, score = sample(truth, n, rng)
        return rng.uniform(size=n) < chance, score

    def bounds(data: tuple[Array, Array]) -> tuple[Array, Array]:
        found = bayescm.curves.reliability(*data, bins=1, labels=[0, 1])
        half = stats.t.isf((1.0 - LEVEL) / 2.0, n - 1) * found["loss_se"].values
        student = np.stack([found["mean_loss"] - half, found["mean_loss"] + half])
        return tuple(np.concatenate([found["loss_interval"].values.T, student], axis=1))

    found = coverage_of(
        bounds, [truth], target=lambda truth: np.tile(expected(truth), 2), simulate=draw, simulations=simulations,
        random_seed=n,
    ).isel(truth=0)  # fmt: skip
    return [
        {"quantity": loss, "bins": "", "method": method, "by": "simulation", "coverage": float(found["coverage"][i]),
         "least": "", "mcse": float(found["mcse"][i]), "width": float(found["width"][i]), "some_bin_off": ""}
        for i, (method, loss) in enumerate((method, loss) for method in OF_MEANS for loss in LOSSES)
    ]  # fmt: skip


def study(name: str, n: int, sets: int, simulations: int) -> list[Row]:
    """Return all rows of a truth and a number of items."""
    found = losses((TRUTHS | OF_LOSSES)[name], n, simulations)
    if name in TRUTHS:
        found = [simulated(TRUTHS[name], n, bins, simulations) for bins in BINS] + found
        found = [row for bins in BINS for row in exactly(TRUTHS[name], n, bins, sets)] + found
    return [
        {"truth": name, "items": n}
        | {key: round(float(v), 4) if isinstance(v, np.floating | float) else v for key, v in row.items()}
        for row in found
    ]


def disagree(rows: list[Row], simulations: int) -> list[str]:
    """Return where simulation and exact numbers are further apart than chance allows, or a band holds too seldom."""
    exact = {(r["truth"], r["items"], r["bins"]): r for r in rows if (r["method"], r["by"]) == (_DEFAULT, "exact")}
    found = [str(r) for r in exact.values() if float(str(r["least"])) < LEVEL - 1e-4]
    for row in rows:
        if (row["method"], row["by"]) == (_DEFAULT, "simulation"):
            wanted = exact[row["truth"], row["items"], row["bins"]]
            share = float(str(wanted["coverage"]))
            error = (share * (1.0 - share) / simulations + float(str(wanted["mcse"])) ** 2) ** 0.5
            if abs(float(str(row["coverage"])) - share) > 4.5 * error + 1.0 / simulations:
                found.append(f"{row} against {wanted}")
        rarely = float(str(row["coverage"])) < LEVEL - 0.02 - 4.5 * (LEVEL * (1.0 - LEVEL) / simulations) ** 0.5
        if rarely and (row["truth"], row["method"]) == ("1% confidently wrong", "bootstrap"):
            found.append(f"{row}: held too seldom")
    return found


_DEFAULT = "clopper_pearson"


def table(rows: list[Row]) -> str:
    """Return the tables of the page: what a band holds, what it finds, and losses."""
    head, rule = " | ".join(f"{n} items" for n in ITEMS), "---|" * len(ITEMS)
    lines = [f"| chances | bins | method | {head} |", "|---|---|---|" + rule]
    bands = [r for r in rows if r["by"] == "exact"]
    for name, called in (("calibrated", "a quarter positive"), ("calibrated, 5% positive", "5% positive")):
        for bins, method in ((bins, method) for bins in BINS for method in METHODS):
            mine = [r for r in bands if (r["truth"], r["bins"], r["method"]) == (name, bins, method)]
            cells = " | ".join(f"{r['coverage']:.3f} ({r['least']:.3f}) / {r['width']:.2f}" for r in mine)
            lines.append(f"| {called} | {bins} | `{method}` | {cells} |")
    lines += ["", f"| scores | bins | {head} |", "|---|---|" + rule]
    for name in TRUTHS:
        for bins in BINS:
            mine = [r for r in bands if (r["truth"], r["bins"], r["method"]) == (name, bins, _DEFAULT)]
            lines.append(f"| {name} | {bins} | " + " | ".join(f"{r['some_bin_off']:.3f}" for r in mine) + " |")
    lines += ["", f"| scores | loss | {head} |", "|---|---|" + rule]
    for name in TRUTHS | OF_LOSSES:
        for loss in LOSSES:
            ours, student = (
                [r for r in rows if (r["truth"], r["quantity"], r["method"]) == (name, loss, method)]
                for method in OF_MEANS
            )
            cells = " | ".join(
                f"{one['coverage']:.3f} / {one['width']:.3f} ({other['coverage']:.3f})"
                for one, other in zip(ours, student, strict=True)
            )
            lines.append(f"| {name} | {loss.replace('_', ' ')} | {cells} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    names, sizes = ([*list(TRUTHS)[:2], *OF_LOSSES], (20, 50)) if quick else (list(TRUTHS | OF_LOSSES), ITEMS)
    sets, simulations = (8, 150) if quick else (50, 1000)
    rows = [row for name in names for n in sizes for row in study(name, n, sets, simulations)]
    for one in rows:
        print(one, flush=True)
    if wrong := disagree(rows, simulations):
        raise SystemExit("\n".join(wrong))
    if not quick:
        write_rows(HERE / "reliability.csv", rows)
        (HERE / "reliability_table.inc").write_text(table(rows))
