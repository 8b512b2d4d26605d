"""Rebuild the calibration of ranks: ``python docs/verification/leaderboards.py`` (some half an hour on a busy machine).

Calibration: five systems with true accuracies from Beta(90, 10), 300 items, many leaderboards. Of all squares of
P(rank) whose stated probability falls into a bin, in how many does the system have that rank? Test sets of their own,
with the true prior, Jeffreys' and the learned one; the same items, half of which are as hard for one system as for
another: ranked together, and taken as independent. Writes leaderboards.csv and its table; what is stored as learned of
test sets of their own is by decision 31's first nodes, whose P(best) was within .01 where both were compared.

The winner's curse: systems whose true accuracies are close or spread, in groups, all the same but one, or some failed.
Is the favourite the best as often as stated? Does the interval of the one in front cover its accuracy? Do sets hold?
Writes leaderboards_winner.csv and its table.

``--quick`` runs a small part and writes nothing. Either fails if a promise of the page is broken.
"""

import itertools
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from rows import write_rows

import bayescm

Array = NDArray[np.float64]
Row = dict[str, object]

HERE = Path(__file__).parent
SYSTEMS, ITEMS, TRUTH, SHARED = 5, 300, (90.0, 10.0), 0.5
REPEATS, FEWER, DRAWS, ROPE = 4000, 150, 2000, 0.01
BINS = np.array([0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99, 1.0 + 1e-9])
LINES = (
    "true prior", "jeffreys", "learned", "same items, jeffreys", "same items, learned", "same items, as independent"
)  # fmt: skip
PRIORS = ("jeffreys", "learned")


def normal(mean: float, sd: float) -> Callable[[np.random.Generator, int], Array]:
    """Return a function that draws accuracies from a Beta with this mean and standard deviation."""
    size = mean * (1.0 - mean) / sd**2 - 1.0
    return lambda rng, systems: rng.beta(mean * size, (1.0 - mean) * size, systems)


def ahead(gap: float) -> Callable[[np.random.Generator, int], Array]:
    """Return a function that draws equal accuracies but for one, which is larger."""
    return lambda rng, systems: 0.85 + gap * (np.arange(systems) == 0) + rng.normal(0.0, 0.002, systems)


def in_groups(rng: np.random.Generator, systems: int) -> Array:
    """Draw accuracies in two groups."""
    return np.where(np.arange(systems) < systems // 2, 0.8, 0.88) + rng.normal(0.0, 0.005, systems)


def failed(near: int, low: float = 0.1, high: float = 0.3) -> Callable[[np.random.Generator, int], Array]:
    """Return a function that draws so many close accuracies, and the others from an interval far below."""
    return lambda rng, systems: np.r_[rng.normal(0.85, 0.003, near), rng.uniform(low, high, systems - near)]


def above(rng: np.random.Generator, systems: int) -> Array:
    """Draw four close accuracies above all others, which are spread."""
    return np.r_[rng.normal(0.9, 0.003, 4), np.minimum(rng.normal(0.78, 0.05, systems - 4), 0.88)]


# name: how true accuracies are drawn, systems, items, leaderboards, design
CASES = {
    "close, sd .017": (normal(0.85, 0.017), 20, 500, 60, "independent"),
    "closer, sd .005": (normal(0.85, 0.005), 100, 2000, 24, "independent"),
    "spread, sd .1": (normal(0.85, 0.1), 20, 500, 40, "independent"),
    "two groups": (in_groups, 20, 500, 40, "independent"),
    "all the same": (ahead(0.0), 20, 500, 40, "independent"),
    "one ahead by .05": (ahead(0.05), 20, 500, 40, "independent"),
    "one ahead by .10": (ahead(0.10), 20, 500, 40, "independent"),
    "3 systems, sd .017": (normal(0.85, 0.017), 3, 500, 80, "independent"),
    "5 systems, sd .017": (normal(0.85, 0.017), 5, 500, 80, "independent"),
    "5 systems, sd .005": (normal(0.85, 0.005), 5, 500, 80, "independent"),
    "5 systems, sd .02": (normal(0.85, 0.02), 5, 300, 84, "independent"),
    "5 systems, one ahead by .05": (ahead(0.05), 5, 500, 42, "independent"),
    "4 close and one that failed": (failed(4), 5, 300, 84, "independent"),
    "9 close and one at .2": (failed(9, 0.2, 0.2), 10, 300, 84, "independent"),
    "18 close and two that failed": (failed(18), 20, 300, 42, "independent"),
    "4 close above 16 spread": (above, 20, 500, 42, "independent"),
    "evenly from .5 to .95": (lambda rng, systems: rng.uniform(0.5, 0.95, systems), 20, 500, 42, "independent"),
    "same items, close, sd .017": (normal(0.85, 0.017), 20, 500, 60, "paired"),
    "same items, F1, sd .017": (normal(0.85, 0.017), 20, 500, 40, "paired f1"),
    "same items, one ahead by .05": (ahead(0.05), 20, 500, 40, "paired"),
    "same items as independent, sd .017": (normal(0.85, 0.017), 20, 500, 40, "shared"),
}


def answered(rng: np.random.Generator, accuracy: Array, items: int) -> xr.Dataset:
    """Draw answers to the same items, some of which are as hard for one system as for another."""
    systems = len(accuracy)
    common = rng.random(items) < SHARED
    hard = np.where(common, rng.random(items), rng.random((systems, items)))
    actual = rng.integers(0, 2, items)
    answers = {f"s{s}": np.where(hard[s] < accuracy[s], actual, 1 - actual) for s in range(systems)}
    return bayescm.predictions(actual, answers)


def counted(right: NDArray[np.int64], items: int) -> xr.Dataset:
    """Return right and wrong answers."""
    return xr.Dataset({"correct": ("system", right), "wrong": ("system", items - right)})


def boards(repeat: int) -> tuple[Array, dict[str, Array]]:
    """Return the true ranks of two designs and P(rank) as each line states it."""
    rng = np.random.default_rng(repeat)
    accuracy = rng.beta(*TRUTH, SYSTEMS)
    data = counted(rng.binomial(ITEMS, accuracy), ITEMS)
    told = answered(rng, accuracy, ITEMS)
    drawn = {"draws": DRAWS, "random_seed": repeat}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that the same items are taken as independent: the point of it
        stated = {
            LINES[0]: bayescm.leaderboard(data, prior=TRUTH),
            LINES[1]: bayescm.leaderboard(data, prior="jeffreys"),
            LINES[3]: bayescm.leaderboard(told, prior="jeffreys", **drawn),
            LINES[5]: bayescm.leaderboard(told, prior="jeffreys", design="independent"),
        }
        if repeat < FEWER:
            stated[LINES[2]] = bayescm.leaderboard(data, prior="learned")
            stated[LINES[4]] = bayescm.leaderboard(told, prior="learned", **drawn)
    ranks = np.eye(SYSTEMS)[np.argsort(np.argsort(-accuracy))]
    return ranks, {line: board["rank_probability"].values for line, board in stated.items()}


def calibration(repeats: int) -> list[Row]:
    """Return one row per line and bin of stated probabilities."""
    found = [boards(repeat) for repeat in range(repeats)]
    rows: list[Row] = []
    for line in LINES:
        mine = [(ranks.ravel(), board[line].ravel()) for ranks, board in found if line in board]
        truth, stated = (np.concatenate(side) for side in zip(*mine, strict=True))
        where = np.digitize(stated, BINS) - 1
        for b in range(len(BINS) - 1):
            inside = where == b
            if inside.sum() >= 20:
                spread = np.sqrt(stated[inside] * (1 - stated[inside])).mean()
                rows.append({
                    "line": line, "from": BINS[b], "to": min(BINS[b + 1], 1.0), "squares": int(inside.sum()),
                    "stated": round(float(stated[inside].mean()), 4), "true": round(float(truth[inside].mean()), 4),
                    "se": round(float(spread / inside.sum() ** 0.5), 4),
                })  # fmt: skip
    return rows


def judged(board: xr.Dataset, accuracy: Array) -> dict[str, float]:
    """Compare one leaderboard with the truth."""
    best, favourite = int(accuracy.argmax()), int(board["probability_best"].values.argmax())
    front = int(board["point"].values.argmax())
    rank = 1 + np.argsort(np.argsort(-accuracy))
    low, high = board["simultaneous_rank_interval"].values.T
    leader, pairs = board["interval"].values[front], np.triu_indices(len(accuracy), 1)
    near = np.abs(accuracy[:, None] - accuracy) <= ROPE
    return {
        "best_stated": float(board["probability_best"][favourite]), "best_true": float(favourite == best),
        "doubted": float("probability_best_range" in board.attrs),
        "covered": float(leader[0] <= accuracy[front] <= leader[1]),
        "bias": float(board["mean"][front]) - accuracy[front],
        "set_holds": float(board["best_set"][best]), "set_size": float(board["best_set"].sum()),
        "group_holds": float(board["tie_group"][best] == 1), "group_size": float((board["tie_group"] == 1).sum()),
        "ranks_hold": float(((low <= rank) & (rank <= high)).all()),
        "equivalent_stated": float(board["probability_equivalent"].values[pairs].mean()),
        "equivalent_true": float(near[pairs].mean()),
    }  # fmt: skip


def winners(share: float) -> list[Row]:
    """Return one row per case and prior."""
    rows: list[Row] = []
    for case, (truths, systems, items, repeats, design) in CASES.items():
        found: dict[str, list[dict[str, float]]] = {prior: [] for prior in PRIORS}
        for repeat in range(max(int(repeats * share), 2)):
            rng = np.random.default_rng([repeat, systems])
            accuracy = truths(rng, systems)
            if design == "independent":
                data = counted(rng.binomial(items, accuracy), items)
            else:
                told = answered(rng, accuracy, items)
                right = (told["predicted"] == told["actual"]).sum("item").values
                data = counted(right, items) if design == "shared" else told
            options = {"draws": DRAWS, "random_seed": repeat, "rope": ROPE, "pairwise": False}
            options |= {"metric": "f1"} if design.endswith("f1") else {}
            options |= {} if design.startswith("paired") else {"design": "independent"}
            for prior in PRIORS:
                found[prior].append(judged(bayescm.leaderboard(data, prior=prior, **options), accuracy))
        print(case, flush=True)
        for prior, each in found.items():
            mean = {name: round(float(np.mean([one[name] for one in each])), 4) for name in each[0]}
            rows.append({"case": case, "systems": systems, "items": items, "boards": len(each), "prior": prior} | mean)
    return rows


def check(rows: list[Row]) -> None:
    """Fail where ranks by the true prior are further from their frequencies than chance allows."""
    for row in rows:
        if row["line"] == LINES[0]:
            gap = abs(float(str(row["true"])) - float(str(row["stated"])))
            assert gap < 4.5 * float(str(row["se"])) + 1e-3, row


def check_winners(rows: list[Row]) -> None:
    """Fail where sets don't hold, or a learned interval doesn't where systems scatter as it supposes."""
    for row in rows:
        got = {name: float(str(row[name])) for name in ("boards", "covered", "set_holds", "ranks_hold")}
        room = 4.0 * (0.05 * 0.95 / got["boards"]) ** 0.5
        assert got["set_holds"] > 0.95 - room, row
        assert got["ranks_hold"] > 0.95 - room, row
        if row["prior"] == "learned" and "failed" in str(row["case"]):
            gap = float(str(row["best_stated"])) - float(str(row["best_true"]))
            assert gap < 0.1 + 2.5 * (0.3 * 0.7 / got["boards"]) ** 0.5, row
        if row["prior"] == "learned" and "sd" in str(row["case"]) and "independent" not in str(row["case"]):
            assert got["covered"] > 0.93 - room, row


def table(rows: list[Row]) -> str:
    """Return the frequencies beside what was stated."""
    lines = ["| stated | " + " | ".join(LINES) + " |", "| --- |" + " ---: |" * len(LINES)]
    for low, high in itertools.pairwise(BINS):
        cells = [
            next((f"{r['stated']:.3f}: {r['true']:.3f}" for r in rows if r["line"] == line and r["from"] == low), "")
            for line in LINES
        ]
        lines.append(f"| {low:g} to {min(high, 1):g} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def table_of_winners(rows: list[Row]) -> str:
    """Return the winner's curse, and what cures it."""
    heads = (
        "true accuracies", "systems, items", "boards", "prior", "P(best): stated, true", "range said",
        "interval covers", "mean off by",
        "first tie group: holds, size", "best set: holds, size", "all ranks hold", "P(equivalent): stated, true",
    )  # fmt: skip
    lines = [f"| {' | '.join(heads)} |", "| --- |" + " ---: |" * (len(heads) - 1)]
    for r in rows:
        cells = (
            r["case"], f"{r['systems']}, {r['items']}", r["boards"], r["prior"],
            f"{r['best_stated']:.2f}, {r['best_true']:.2f}", f"{r['doubted']:.2f}",
            f"{r['covered']:.2f}", f"{r['bias']:+.4f}",
            f"{r['group_holds']:.2f}, {r['group_size']:.1f}", f"{r['set_holds']:.2f}, {r['set_size']:.1f}",
            f"{r['ranks_hold']:.2f}", f"{r['equivalent_stated']:.2f}, {r['equivalent_true']:.2f}",
        )  # fmt: skip
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    quick = "--quick" in sys.argv[1:]
    of_winners = winners(0.05 if quick else 1.0)
    print(table_of_winners(of_winners))
    if not quick:
        write_rows(HERE / "leaderboards_winner.csv", of_winners)
        (HERE / "leaderboards_winner_table.inc").write_text(table_of_winners(of_winners), encoding="utf-8")
    check_winners(of_winners)
    found = calibration(6 if quick else REPEATS)
    print(table(found))
    if not quick:
        write_rows(HERE / "leaderboards.csv", found)
        (HERE / "leaderboards_table.inc").write_text(table(found), encoding="utf-8")
    check(found)
