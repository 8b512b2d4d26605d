"""Rebuild the study of sequential looks: ``python docs/verification/stopping.py`` (minutes).

A test of accuracy is looked at after every so many items, and stopped as soon as the 95% interval of the posterior
(flat prior) excludes 1/2. How often does it stop although the accuracy IS 1/2? By forward recursion over the number of
right items among those that haven't stopped: exact, without simulation. And is the posterior right at the stop, when
the truth comes from the prior? And how often does an interval, looked at after every item, ever miss a share: that of
one look and method="anytime" (by recursion, exact), and its region of precision and recall (1,000 simulated tests)?
And where the next label comes from the stratum that tells least, and how many of the discoveries among 20 submissions
are false where e-BH is asked at every look and the test stops at the first one, by simulation.
Writes stopping.csv, anytime.csv and their tables, stopping_strata.csv and stopping_boards.csv.
``--quick`` does a small part and writes nothing.
Either fails if a promise of the page is broken.
"""

import sys
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rows import write_rows
from scipy import stats

import bayescm
from bayescm.comparison.frequentist import mcnemar
from bayescm.distributions import beta_quantiles
from bayescm.inference import by_stratum, proportions
from bayescm.regions import region_level

Array = NDArray[np.float64]
Row = dict[str, object]

HERE = Path(__file__).parent
_tested = cache(mcnemar)
LEVEL, CHANCE = 0.95, 0.5
MOST, EVERY = 500, (500, 100, 50, 10, 1)
WIDTHS = (50, 500, 5000)


def decided(n: int) -> NDArray[np.bool_]:
    """Return the numbers of right items after which the equal-tailed interval excludes chance."""
    k = np.arange(n + 1)
    below = stats.beta.cdf(CHANCE, k + 1, n - k + 1)
    return (below < (1 - LEVEL) / 2) | (below > (1 + LEVEL) / 2)


def stopped(every: int, most: int) -> float:
    """Return the probability of a stop at any look, if the accuracy is that of chance."""
    going, total = np.ones(1), 0.0
    for n in range(1, most + 1):
        going = CHANCE * (np.append(going, 0.0) + np.append(0.0, going))
        if n % every == 0:
            out = decided(n)
            total += float(going[out].sum())
            going[out] = 0.0
    return total


def covered(every: int, most: int, repeats: int) -> tuple[float, float]:
    """Return how often the interval at the stop holds an accuracy drawn from the prior, and how often it stops."""
    rng = np.random.default_rng(every)
    truth = rng.random(repeats)
    right = np.cumsum(rng.random((repeats, most)) < truth[:, None], axis=1)
    looks = np.arange(every, most + 1, every)
    seen = right[:, looks - 1]
    stop = np.stack([decided(int(n))[seen[:, i]] for i, n in enumerate(looks)], axis=1)
    first = np.where(stop.any(1), stop.argmax(1), len(looks) - 1)
    n, k = looks[first], seen[np.arange(repeats), first]
    low, high = (beta_quantiles.ppf(tail, k + 1, n - k + 1) for tail in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return float(((low <= truth) & (truth <= high)).mean()), float(stop.any(1).mean())


def rows(most: int, every: tuple[int, ...], repeats: int) -> list[Row]:
    """Return a row per number of looks."""
    made: list[Row] = []
    for step in every:
        share, stops = covered(step, most, repeats)
        made.append({
            "every": step, "looks": most // step, "items": most, "stopped_at_chance": round(stopped(step, most), 4),
            "coverage_at_stop": round(share, 4), "stopped_from_prior": round(stops, 4), "repeats": repeats,
        })  # fmt: skip
    return made


def ever_missed(method: str, share: float, most: int) -> float:
    """Return the probability that the interval after any of the trials misses the share."""
    going = np.ones(1)
    for n in range(1, most + 1):
        going = (1.0 - share) * np.append(going, 0.0) + share * np.append(0.0, going)
        low, high = getattr(proportions, method)(np.arange(n + 1), n, LEVEL)
        going[(low > share) | (share > high)] = 0.0
    return 1.0 - float(going.sum())


def regions_ever_missed(method: str, truth: tuple[float, ...], most: int, repeats: int) -> float:
    """Return how often the region of precision and recall after any of the items misses them; TN, FP, FN, TP."""
    _, fp, fn, tp = truth
    rng = np.random.default_rng(most)
    items = np.searchsorted(np.cumsum(truth)[:3], rng.random((repeats, most)), side="right")
    cells = np.cumsum(items[..., None] == np.arange(4), axis=1)
    looks = np.unique(cells[cells[..., 1:].sum(-1) > 0], axis=0)  # before, every point is possible
    counts = bayescm.from_array(looks.reshape(-1, 2, 2), dims="look", labels=[0, 1])
    level = region_level(counts, precision=tp / (tp + fp), recall=tp / (tp + fn), method=method)["level"].values
    off = {tuple(one) for one in looks[level > LEVEL]}
    return float(np.mean([any(tuple(one) in off for one in test) for test in cells]))


def anytime_rows(most: int, simulated: int, repeats: int) -> list[Row]:
    """Return a row per truth: how often what is looked at after every item is ever wrong, and how wide it is."""
    made: list[Row] = []
    for share in (0.5, 0.2, 0.05, 0.01):
        row: Row = {"what": f"share {share}", "looks": most}
        row |= {f"{one}_ever_misses": round(ever_missed(one, share, most), 4) for one in ("anytime", "wilson")}
        for n in WIDTHS:
            ends = {one: getattr(proportions, one)(round(share * n), n, LEVEL) for one in ("anytime", "wilson")}
            row[f"width_{n}"] = round(float(np.diff(ends["anytime"])[0] / np.diff(ends["wilson"])[0]), 2)
        made.append(row)
    for truth in ((0.5, 0.05, 0.1, 0.35), (0.94, 0.02, 0.02, 0.02)):
        row = {"what": "precision and recall of TN {}, FP {}, FN {}, TP {}".format(*truth), "looks": simulated}
        for name, one in (("anytime", "anytime"), ("wilson", "wilks")):
            row[f"{name}_ever_misses"] = round(regions_ever_missed(one, truth, simulated, repeats), 4)
        made.append(row | {f"width_{n}": "" for n in WIDTHS})
    return made


def strata_ever_missed(truth: tuple[float, ...], most: int, repeats: int) -> float:
    """Return how often the evidence is ever against the truth, the next label from whichever stratum tells least.

    More often than that the interval of ``interval(audit, "accuracy", "anytime")`` can't miss.
    """
    rng, p, missed = np.random.default_rng(most), np.array(truth), np.zeros(repeats, bool)
    k, n = np.zeros((2, repeats, len(p)))
    for _ in range(most):
        at = np.arange(repeats), (p * (n - k + 0.5) * (k + 0.5) / (n + 1.0) ** 3).argmax(1)
        n[at] += 1.0
        k[at] += rng.random(repeats) < p[at[1]]
        missed |= by_stratum.evidence(k, n, p).sum(1) > -np.log1p(-LEVEL)
    return float(missed.mean())


def discoveries(better: int, tests: int) -> Row:
    """Return false discovery rates of 20 submissions beside a baseline on the same items, looked at every 10 to 400.

    A test stops at the first look that discovers something. So many submissions are better, right on 85% of the items,
    the others on 80% as the baseline is; items are easy or hard for all.
    """
    rng, systems = np.random.default_rng(better), 20
    rates = np.where(np.arange(systems + 1) < better, 0.85, 0.80)
    false: dict[str, list[float]] = {"e-BH": [], "BH of mid-p": []}
    found: dict[str, list[float]] = {"e-BH": [], "BH of mid-p": []}
    for _ in range(tests):
        hard = rng.random((400, 1))
        right = (0.5 * hard + 0.5 * rng.random((400, systems + 1))) < _quantile(rates)
        first = np.cumsum(right[:, :-1] & ~right[:, -1:], 0)[9::10]
        second = np.cumsum(~right[:, :-1] & right[:, -1:], 0)[9::10]
        p = np.array([[_tested(*pair) for pair in zip(*look, strict=True)] for look in zip(first, second, strict=True)])
        for name, column in (("e-BH", 2), ("BH of mid-p", 1)):
            told = stats.false_discovery_control(p[..., column], axis=1) <= 1 - LEVEL
            at = told[int(told.any(1).argmax())]
            false[name].append(at[better:].sum() / max(at.sum(), 1))
            found[name].append(told[-1, :better].mean() if better else np.nan)
    row: Row = {"better of 20": better, "tests": tests}
    for name in false:
        row |= {f"{name}: false discovery rate": round(float(np.mean(false[name])), 3),
                f"{name}: found at the end": round(float(np.mean(found[name])), 3)}  # fmt: skip
    return row


def _quantile(rate: Array) -> Array:
    """Return the quantile of the mean of two uniform numbers."""
    low = np.sqrt(rate / 2.0)
    return np.where(rate <= 0.5, low, 1.0 - np.sqrt((1.0 - rate) / 2.0))


def anytime_table(made: list[Row]) -> str:
    """Return the table of what holds at every look."""
    lines = [
        '| 95% interval or region of | looks | `"anytime"` ever misses | Wilson, Wilks ever misses | width, times '
        f"Wilson's, after {', '.join(map(str, WIDTHS))} items |",
        "|---|---|---|---|---|",
    ]
    for row in made:
        widths = ", ".join(str(row[f"width_{n}"]) for n in WIDTHS if row[f"width_{n}"] != "") or "-"
        shares = " | ".join(f"{float(str(row[f'{one}_ever_misses'])):.3f}" for one in ("anytime", "wilson"))
        lines.append(f"| {row['what']} | {row['looks']} | {shares} | {widths} |")
    return "\n".join(lines) + "\n"


def table(made: list[Row]) -> str:
    """Return the table of the page."""
    lines = [
        "| looks at | number of looks | stops although the accuracy is 1/2 | interval at the stop holds an accuracy "
        "drawn from the prior |",
        "|---|---|---|---|",
    ]
    for row in made:
        when = (
            "the end only"
            if row["looks"] == 1
            else "every item"
            if row["every"] == 1
            else f"every {row['every']} items"
        )
        lines.append(
            f"| {when} | {row['looks']} | {float(str(row['stopped_at_chance'])):.3f} "
            f"| {float(str(row['coverage_at_stop'])):.3f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run, check and write."""
    quick = "--quick" in sys.argv
    made = rows(100, (100, 10), 4000) if quick else rows(MOST, EVERY, 20_000)
    print(table(made))
    error = 4 * np.sqrt(LEVEL * (1 - LEVEL) / int(str(made[0]["repeats"])))
    rates = [float(str(row["stopped_at_chance"])) for row in made]
    assert rates[0] < 0.065, "one look must stop about 5 times in 100"
    assert rates == sorted(rates), "more looks must stop more often"
    assert all(abs(float(str(row["coverage_at_stop"])) - LEVEL) < error for row in made), "the posterior must be right"
    always = anytime_rows(100, 60, 100) if quick else anytime_rows(1000, 600, 1000)
    print(anytime_table(always))
    assert all(float(str(row["anytime_ever_misses"])) <= 1 - LEVEL for row in always), "it must hold at every look"
    strata = [{"truth": one, "labels": 600, "ever misses": strata_ever_missed(one, 600, 200 if quick else 20_000)}
              for one in ((0.95, 0.6), (0.99, 0.9, 0.5), (0.8,) * 5)]  # fmt: skip
    boards = [discoveries(better, 4 if quick else 300) for better in (0, 5, 10)]
    print(*strata, *boards, sep="\n")
    assert all(float(str(row["ever misses"])) <= 1 - LEVEL for row in strata), "strata must hold at every look"
    assert quick or all(float(str(row["e-BH: false discovery rate"])) <= 1 - LEVEL for row in boards), "e-BH must hold"
    if not quick:
        write_rows(HERE / "stopping_strata.csv", strata)
        write_rows(HERE / "stopping_boards.csv", boards)
        write_rows(HERE / "anytime.csv", always)
        (HERE / "anytime_table.inc").write_text(anytime_table(always), encoding="utf-8")
        write_rows(HERE / "stopping.csv", made)
        (HERE / "stopping_table.inc").write_text(table(made), encoding="utf-8")


if __name__ == "__main__":
    main()
