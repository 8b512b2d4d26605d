"""Check readers who all read the same cases: ``python -m uv run python docs/verification/readers.py`` (four minutes).

Studies are drawn from the model of Roe and Metz (1997): scores of a reader, a case and a system are sums of normal
parts that are shared by what is the same. How often 95% intervals hold the mean over all readers and cases of accuracy
(scores above the middle are calls) and of the area under the ROC curve, and how often two equal systems are called
different: by the items, as if independent; by cases as units; by readers and cases, crossed; by Obuchowski and
Rockette. Then the power that ``readers(difference=)`` tells beside how often such studies find the difference. Writes
readers_coverage.csv, readers_power.csv and readers_table.inc. ``--quick`` draws 20 studies of one kind, writes nothing
and fails where crossed units hold the truth too seldom.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rows import markdown, write_rows
from scipy.special import ndtr

import bayescm
from bayescm.inference.read import read
from bayescm.metrics import resolve

Array = NDArray[np.float64]

HERE = Path(__file__).parent
TAILS = [0.025, 0.975]
DRAWS = 1000
STUDIES = 150
APART = 1.5
"""Of the means of both classes, in standard deviations of cases and readings together."""
LEAST = 0.8
"""Coverage below which a quick run of 20 studies fails: of .95 one in four hundred falls as low."""


class Kind(NamedTuple):
    """Who reads how many cases; `reader` is the variance of readers, and again of readers by system."""

    readers: int
    cases: int
    reader: float = 0.011
    case: float = 0.3


KINDS = {
    "5 x 60": Kind(5, 60),
    "3 x 60": Kind(3, 60),
    "10 x 60": Kind(10, 60),
    "5 x 20": Kind(5, 20),
    "5 x 60, readers differ": Kind(5, 60, reader=0.05),
    "5 x 60, readings independent": Kind(5, 60, reader=0.0, case=0.0),
}


def study(rng: np.random.Generator, kind: Kind, gain: float = 0.0) -> tuple[NDArray[np.int64], Array]:
    """Draw the truth, and the scores (2, readers, cases), of which the second system's are apart by more."""
    r, c = kind.readers, kind.cases
    truth = (np.arange(c) < 0.4 * c).astype(np.int64)
    readers = (rng.standard_normal((r, 2)) + rng.standard_normal((2, r, 2)))[..., truth]  # of each class
    scores = np.sqrt(kind.reader) * readers + (APART + gain * np.array([0.0, 1.0]))[:, None, None] * truth
    scores += np.sqrt(kind.case) * (rng.standard_normal(c) + rng.standard_normal((2, 1, c)))
    left = 1.0 - 2.0 * kind.case
    return truth, scores + np.sqrt(left / 2) * (rng.standard_normal((r, c)) + rng.standard_normal((2, r, c)))


def truths(kind: Kind, gain: float = 0.0) -> tuple[float, float]:
    """Return accuracy and area of all readers and cases."""
    whole = np.sqrt(1.0 + 2.0 * kind.reader)
    return float(ndtr(APART / 2.0 / whole)), float(ndtr((APART + gain) / whole / np.sqrt(2.0)))


def answers(rng: np.random.Generator, kind: Kind) -> dict[str, tuple[Array, Array]]:
    """Return the interval of the first system, and that of the difference, by each way."""
    truth, scores = study(rng, kind)
    r, c = kind.readers, kind.cases
    calls, seed = (scores > APART / 2.0).astype(np.int64), int(rng.integers(2**31))
    reader, case = np.repeat(np.arange(r), c), np.tile(np.arange(c), r)
    both = {name: one.ravel() for name, one in zip("AB", calls, strict=True)}
    found = {}
    for name, unit in (("items", None), ("cases", case), ("crossed", (reader, case))):
        data = bayescm.predictions(np.tile(truth, r), both, unit=unit)
        if unit is None:
            counts = bayescm.confusion_matrix(np.tile(truth, r), both["A"])
            tree = bayescm.compare_systems(data, "accuracy", draws=DRAWS, random_seed=seed)["summary"]
            found[name] = bayescm.summary(counts, "accuracy").interval.values[0], tree.interval.values.ravel()
            continue
        block, _ = read(data, draws=DRAWS, random_seed=seed).whole()
        (drawn,) = block.draws(resolve("accuracy", 2))
        found[name] = np.quantile(drawn[0], TAILS), np.quantile(drawn[0] - drawn[1], TAILS)
    for metric, values in (("accuracy", calls), ("auc", scores)):
        given = {s: dict(enumerate(one)) for s, one in zip("AB", values, strict=True)}
        told = bayescm.readers(truth, given, metric, draws=DRAWS, random_seed=seed).sel(sampled="readers and cases")
        found[f"or {metric}"] = told.interval.values[0], told.interval.values[2]
        if metric == "auc":
            found["crossed auc"] = told.credible.values[0], told.credible.values[2]
    return found


WAYS = {"items": "accuracy", "cases": "accuracy", "crossed": "accuracy", "or accuracy": "accuracy",
        "crossed auc": "auc", "or auc": "auc"}  # fmt: skip


def coverage(kind: Kind, studies: int, seed: int) -> list[dict[str, float | str | int]]:
    """Return how often each way holds the truth, and calls equal systems different."""
    rng, true = np.random.default_rng(seed), dict(zip(("accuracy", "auc"), truths(kind), strict=True))
    held, false, wide = ({way: [] for way in WAYS} for _ in range(3))
    for _ in range(studies):
        for way, (one, difference) in answers(rng, kind).items():
            held[way].append(one[0] <= true[WAYS[way]] <= one[1])
            false[way].append(not difference[0] <= 0.0 <= difference[1])
            wide[way].append(one[1] - one[0])
    return [
        {"metric": metric, "way": way, "coverage": round(float(np.mean(held[way])), 3),
         "width": round(float(np.mean(wide[way])), 3), "false": round(float(np.mean(false[way])), 3),
         "studies": studies}
        for way, metric in WAYS.items()
    ]  # fmt: skip


def powers(studies: int) -> list[dict[str, float | int]]:
    """Return the power that pilots tell on average, and how often studies of that size find the difference."""
    rows = []
    for readers, cases in ((5, 60), (8, 120)):
        rng, gain, kind = np.random.default_rng(readers), 0.5, Kind(readers, cases)
        apart = truths(kind, gain)[1] - truths(kind)[1]
        told, rejected = [], []
        for _ in range(studies):
            pilot = as_given(study(rng, Kind(5, 60)))
            plan = bayescm.readers(
                *pilot, difference=apart, n_readers=[readers], n_cases=[cases], draws=DRAWS, random_seed=1
            )
            told.append(plan.power.item())
            found = bayescm.readers(*as_given(study(rng, kind, gain)), draws=DRAWS, random_seed=1)
            rejected.append(float(found.f_p_value.sel(sampled="readers and cases")) < 0.05)
        rows.append({
            "readers": readers, "cases": cases, "difference": round(apart, 3), "told": round(float(np.mean(told)), 3),
            "from": round(float(np.quantile(told, 0.1)), 2), "to": round(float(np.quantile(told, 0.9)), 2),
            "found": round(float(np.mean(rejected)), 3), "studies": studies,
        })  # fmt: skip
    return rows


def as_given(drawn: tuple[NDArray[np.int64], Array]) -> tuple[NDArray[np.int64], dict[str, dict[int, Array]]]:
    """Return a study as ``readers`` takes it."""
    truth, scores = drawn
    return truth, {s: dict(enumerate(one)) for s, one in zip("AB", scores, strict=True)}


def main() -> None:
    """Run the study."""
    warnings.simplefilter("ignore")
    if "--quick" in sys.argv:
        rows = coverage(KINDS["5 x 60"], 20, 1)
        low = [row for row in rows if str(row["way"]).startswith(("crossed", "or")) and float(row["coverage"]) < LEAST]
        print(markdown(rows))
        sys.exit(f"too low: {low}" if low else 0)
    rows = [{"kind": name} | row for i, (name, kind) in enumerate(KINDS.items()) for row in coverage(kind, STUDIES, i)]
    write_rows(HERE / "readers_coverage.csv", rows)
    power = powers(STUDIES)
    write_rows(HERE / "readers_power.csv", power)
    each = {name: {row["way"]: row for row in rows if row["kind"] == name} for name in KINDS}
    table = [
        {"readers x cases": name} | {way: f"{one['coverage']:.3f} ({one['false']:.3f})" for way, one in ways.items()}
        for name, ways in each.items()
    ]
    (HERE / "readers_table.inc").write_text(f"{markdown(table)}\n{markdown(power)}", encoding="utf-8")


if __name__ == "__main__":
    main()
