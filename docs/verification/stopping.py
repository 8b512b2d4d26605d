"""Rebuild the study of sequential looks: ``python docs/verification/stopping.py`` (seconds).

A test of accuracy is looked at after every so many items, and stopped as soon as the 95% interval of the posterior
(flat prior) excludes 1/2. How often does it stop although the accuracy IS 1/2? By forward recursion over the number of
right items among those that haven't stopped: exact, without simulation. And is the posterior right at the stop, when
the truth comes from the prior? Writes stopping.csv and its table. ``--quick`` does a small part and writes nothing.
Either fails if a promise of the page is broken.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rows import write_rows
from scipy import stats

from bayescm.distributions import beta_quantiles

Array = NDArray[np.float64]
Row = dict[str, object]

HERE = Path(__file__).parent
LEVEL, CHANCE = 0.95, 0.5
MOST, EVERY = 500, (500, 100, 50, 10, 1)


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
    if not quick:
        write_rows(HERE / "stopping.csv", made)
        (HERE / "stopping_table.inc").write_text(table(made), encoding="utf-8")


if __name__ == "__main__":
    main()
