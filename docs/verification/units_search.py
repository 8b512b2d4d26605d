"""Search the worst truth for the units' posterior, and check plans of units: some minutes.

``python -m uv run python docs/verification/units_search.py``: 200 truths at random (3 to 60 units of 1 to 40 items on
average, of even or log-normal sizes, correlation 0 to .9, accuracy .5 to .99), of which the ten that 95% intervals hold
least often in 60 samples are sampled 400 times anew. Then how often the interval is as narrow as planned with
``sample_size(..., unit_size=, icc=)``, and with the design effect alone; and one sample beside the model
``overdispersed`` by NUTS; and how often the better of two systems is found on as many units as planned. Writes
units_worst.csv, units_plans.csv, units_contests.csv, units_nuts.csv and units_search_table.inc.
``--quick`` does a part and writes nothing.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rows import markdown, write_rows
from units import beta

import bayescm
from bayescm.data.items import right_answers, with_units
from bayescm.inference.units import ByUnit
from bayescm.metrics import resolve

HERE = Path(__file__).parent
CONTESTS = ((0.85, 0.80, 0.1, 5, 0.3), (0.85, 0.75, 0.2, 10, 0.2))
DESIGNS = ((0.1, 5, 0.3), (0.15, 5, 0.1), (0.2, 10, 0.2), (0.1, 20, 0.05), (0.2, 5, 0.6))
"""Widths, items of a unit and their correlation."""
LEAST = 0.75
"""Coverage below which a quick run fails."""


class Truth(NamedTuple):
    """How units come about."""

    units: int
    items: float
    spread: float
    icc: float
    accuracy: float

    def sample(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw the matrices of units, of even classes."""
        size = np.maximum(rng.poisson(self.items * rng.lognormal(-(self.spread**2) / 2, self.spread, self.units)), 1)
        right = rng.binomial(size, beta(rng, self.accuracy, self.icc, self.units))
        made = np.zeros((self.units, 2, 2))
        made[:, 1, 1] = rng.binomial(right, 0.5)
        made[:, 1, 0] = rng.binomial(size - right, 0.5)
        made[:, 0, 0], made[:, 0, 1] = right - made[:, 1, 1], size - right - made[:, 1, 0]
        return made


def interval(counts: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return the 95% interval of accuracy."""
    block = ByUnit(counts, np.asarray(0), None, "items", seed, 1000)
    return np.quantile(block.draws(resolve("accuracy", 2))[0], [0.025, 0.975])


def coverage(truth: Truth, samples: int, seed: int) -> float:
    """Return how often intervals hold the accuracy."""
    rng = np.random.default_rng(seed)
    ends = np.array([interval(truth.sample(rng), i) for i in range(samples)])
    return float(((ends[:, 0] <= truth.accuracy) & (truth.accuracy <= ends[:, 1])).mean())


def worst(tried: int, samples: int, kept: int, again: int) -> list[dict[str, Any]]:
    """Return the truths that are held least often."""
    rng = np.random.default_rng(1)
    truths = [
        Truth(
            int(rng.integers(3, 61)), float(np.exp(rng.uniform(0, np.log(40)))), float(rng.choice([0.0, 0.5, 1.0])),
            float(rng.uniform(0, 0.9)), float(1 - np.exp(rng.uniform(np.log(0.01), np.log(0.5)))),
        )
        for _ in range(tried)
    ]  # fmt: skip
    low = sorted(truths, key=lambda one: coverage(one, samples, 2))[:kept]
    rows = [
        {name: round(value, 3) for name, value in one._asdict().items()} | {"held": round(coverage(one, again, 3), 3)}
        for one in low
    ]
    return sorted(rows, key=lambda row: row["held"])


def plan(width: float, size: int, icc: float, samples: int) -> dict[str, Any]:
    """Return how often intervals are as narrow as planned."""
    how: dict[str, Any] = {"width": width, "mode": 0.8, "concentration": None}
    found = bayescm.sample_size("accuracy", unit_size=size, icc=icc, **how)
    alone = bayescm.sample_size("accuracy", **how)["n_items"].item() * found.attrs["design_effect"]
    row: dict[str, Any] = {"width": width, "items of a unit": size, "ICC": icc}
    for name, units in (("planned", int(found["n_units"].item())), ("design effect alone", int(np.ceil(alone / size)))):
        rng, lengths = np.random.default_rng(1), []
        for i in range(samples):
            right = rng.binomial(size, beta(rng, 0.8, icc, units))
            made = np.zeros((units, 2, 2))
            made[:, 1, 1], made[:, 1, 0] = rng.binomial(right, 0.5), rng.binomial(size - right, 0.5)
            made[:, 0, 0], made[:, 0, 1] = right - made[:, 1, 1], size - right - made[:, 1, 0]
            lengths.append(np.ptp(interval(made, i)))
        row |= {f"{name}: units": units, f"{name}: narrow enough": round(float(np.mean(np.less(lengths, width))), 3)}
    return row


def contest(first: float, second: float, discordance: float, size: int, icc: float, tests: int) -> dict[str, Any]:
    """Return how often the better of two systems is found so on the same units, as many as planned, and an equal one.

    An item goes as its unit's, with the probability of the root of `icc`, or by itself.
    """
    how: dict[str, Any] = {"discordance": discordance, "unit_size": size, "icc": icc}
    found = bayescm.planning.sample_size_to_compare(first, second, **how)
    alone = bayescm.planning.sample_size_to_compare(first, second, discordance=discordance)["n_items"].item()
    row: dict[str, Any] = {"first": first, "second": second} | how
    wanted = int(found["n_units"].item()), int(np.ceil(alone * found.attrs["design_effect"] / size))
    for name, units in zip(("planned", "design effect alone"), wanted, strict=True):
        row[f"{name}: units"] = units
        for truth, gap in (("better", first - second), ("equal", 0.0)):
            rng, hits = np.random.default_rng(int(truth == "equal")), 0
            shares = [(discordance + gap) / 2, (discordance - gap) / 2, 1 - discordance]
            for i in range(tests):
                of_unit, own = rng.choice(3, units, p=shares)[:, None], rng.choice(3, (units, size), p=shares)
                kind = np.where(rng.random((units, size)) < np.sqrt(icc), of_unit, own).ravel()
                both = rng.random(kind.size) < (first - shares[0]) / shares[2]
                right = {"a": np.choose(kind, [1, 0, both]), "b": np.choose(kind, [0, 1, both])}
                kept = with_units(right_answers(right), "unit", np.repeat(np.arange(units), size))
                pair = bayescm.compare_systems(kept, random_seed=i, draws=4000)["summary"]
                lower, upper = pair["interval"].values.ravel()
                hits += lower > 0 if truth == "better" else (lower > 0) | (upper < 0)
            row[f"{name}: found, {truth}"] = round(hits / tests, 3)
    return row


def beside_nuts() -> list[dict[str, Any]]:
    """Return intervals of one sample of 20 units by their posterior and by the model ``overdispersed``, by NUTS."""
    made = Truth(20, 6, 0.5, 0.3, 0.8).sample(np.random.default_rng(5)).astype(int)
    counts, names = bayescm.from_array(made, dims="cluster"), ["recall", "f1", "accuracy"]
    how: dict[str, Any] = {"metrics": names, "chains": 2, "cores": 1, "progressbar": False, "random_seed": 1}
    found = {"units": bayescm.summary(counts, names, unit="cluster", random_seed=1)}
    for form in ("cells", "rates"):
        tree = bayescm.posterior(counts, model="overdispersed", overdispersion=form, **how)
        found[f"overdispersed, {form}"] = bayescm.summary(tree, names)
    found["items"] = bayescm.summary(counts.sum("cluster"), names)
    return [
        {"by": by} | {f"{name}, {end}": round(float(one["interval"].sel(metric=name, ci_bound=end)), 3)
                      for name in names for end in ("lower", "upper")}
        for by, one in found.items()
    ]  # fmt: skip


def main() -> int:
    """Run the search, or a part of it."""
    if "--quick" in sys.argv:
        rows = worst(20, 20, 2, 50)
        print(*rows, plan(*DESIGNS[2], 20), sep="\n")
        return int(min(row["held"] for row in rows) < LEAST)
    rows, plans = worst(200, 60, 10, 400), [plan(*design, 200) for design in DESIGNS]
    of_nuts = beside_nuts()
    write_rows(HERE / "units_contests.csv", [contest(*design, 120) for design in CONTESTS])
    write_rows(HERE / "units_nuts.csv", of_nuts)
    write_rows(HERE / "units_worst.csv", rows)
    write_rows(HERE / "units_plans.csv", plans)
    (HERE / "units_search_table.inc").write_text("\n".join(map(markdown, (rows, plans, of_nuts))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
