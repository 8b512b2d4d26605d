"""Check the highest-density intervals: ``python -m uv run python docs/verification/hdi.py`` (some 3 minutes).

Random matrices with counts up to 10^9, every metric of the table with an exact distribution, both models, several
priors and kinds of prevalence: each interval by the distribution function at its ends (what it holds; equal tails, if
it says so), its order, and whether one as long but elsewhere holds more, which an interval that isn't the narrowest
would show. Writes hdi.csv and hdi_table.inc. ``--quick`` does a small part and writes nothing. Either fails if the
promise is broken.
"""

import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rows import write_rows

from bayescm.distributions import dirichlet, exact_distribution, integral
from bayescm.metrics import Metric, available
from bayescm.priors.concentrations import concentrations, exchange

Array = NDArray[np.float64]
HERE = Path(__file__).parent
PROB = 0.95
PROMISE = {"content": 1e-5, "gain": 1e-3}
"""By which an interval may hold another probability than 0.95; by which one elsewhere may hold more."""
SHIFTS = np.array([0.003, 0.03, 0.15, 0.6])  # of the interval's length, to both sides
MODELS = ("dirichlet_multinomial", "three_binomial")
PRIORS: tuple[Any, ...] = ("jeffreys", "laplace", 0.06, 30.0)
PREVALENCES: tuple[Any, ...] = (None, "fixed", 0.1, (0.5, 0.5), (2.0, 8.0))


def matrices(n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return counts (n, 2, 2): small ones, large ones and zeros in one matrix; no class without items."""
    largest = rng.choice([1.5, 3.0, 6.0, 9.0], (n, 1))
    counts = np.floor(10 ** (rng.uniform(0.0, 1.0, (n, 4)) * largest))
    counts[rng.random((n, 4)) < 0.2] = 0
    found = counts.astype(np.int64).reshape(n, 2, 2)
    found[found.sum(-1) == 0] = 1
    return found


def check(metric: Metric, counts: NDArray[np.int64], model: str, prior: Any, prevalence: Any) -> dict[str, Array]:
    """Return error of the content, gain of the best shift, is_hdi and whether in order, for each matrix."""
    base = concentrations(prior, model, 2)
    dist = exact_distribution(metric, dirichlet.posterior(counts, base, prevalence))
    assert dist is not None
    found = dist.statistics(PROB, "hdi")
    shape = (len(counts),)
    lower, median, upper = (np.broadcast_to(found[name], shape) for name in ("lower", "median", "upper"))
    length = upper - lower
    shift = np.concatenate([-SHIFTS, SHIFTS])[:, None] * length
    starts = np.concatenate([lower + shift, [np.full(shape, metric.lower)], [upper * 0 + metric.upper - length]])
    starts = np.where(np.isfinite(starts), np.clip(starts, metric.lower, metric.upper), lower)
    slack = 1e-7 * length + 4e-16 * np.abs(upper)  # in which a distribution may jump
    lowers = np.concatenate([[lower, lower - slack, lower + slack], starts])
    uppers = np.concatenate([[upper, upper + slack, upper - slack], starts + length])
    held = _content(dist, lowers, uppers)
    is_hdi, refused = np.broadcast_to(found["is_hdi"], shape), np.isnan(lower)
    return {
        "content": np.where(refused, 0.0, np.maximum(np.maximum(PROB - held[1], held[2] - PROB), 0.0)),
        "gain": np.where(is_hdi, held[3:].max(0) - held[0], 0.0), "is_hdi": is_hdi,
        "disorder": ~refused & ~((lower <= median) & (median <= upper)), "length": length, "refused": refused,
    }  # fmt: skip


def _content(dist: Any, lower: Array, upper: Array) -> Array:
    if not isinstance(dist, integral.Integral):
        return np.asarray(1.0 - dist.cdf(lower) - dist.sf(upper))
    both = dist._at(np.concatenate([lower, upper]), "probability")
    return np.asarray(1.0 - both[: len(lower), ..., 0] - both[len(lower) :, ..., 1])


def study(n: int, every: int) -> list[dict[str, Any]]:
    """Return one row for each metric: `n` matrices in one of `every` settings."""
    rng = np.random.default_rng(3)
    rows = []
    settings = list(itertools.product(MODELS, PRIORS, PREVALENCES))
    for k, metric in enumerate(available(2)):
        parts = []
        for model, prior, prevalence in settings[k % every :: every]:
            counts = matrices(n, rng)
            base = exchange(concentrations(prior, model, 2), prevalence, np.ones(2))
            if exact_distribution(metric, base) is None or (metric.name == "prevalence" and base.known):
                continue
            parts.append(part := check(metric, counts, model, prior, prevalence))
            for i in np.flatnonzero((part["content"] > 1e-4) | (part["gain"] > 1e-3) | part["disorder"]):
                print(metric.name, counts[i].tolist(), model, prior, prevalence, {n: v[i] for n, v in part.items()})
        if not parts:
            continue
        whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        rows.append({
            "metric": metric.name, "distributions": len(whole["gain"]), "highest_density": int(whole["is_hdi"].sum()),
            "content": f"{whole['content'].max():.1e}", "gain": f"{max(whole['gain'].max(), 0.0):.1e}",
            "disorder": int(whole["disorder"].sum()), "refused": int(whole["refused"].sum()),
        })  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows in Markdown."""
    lines = [
        "| metric | distributions | highest density | error | most gained elsewhere | not in order | refused |",
        "|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row.values())) + " |" for row in rows)]) + "\n"


def main() -> None:
    """Run the study."""
    quick = "--quick" in sys.argv
    integral._GOAL = integral._GOAL_OF_ONE = 1e-4  # of the cdf: enough to judge by
    rows = study(1, 8) if quick else study(6, 2)
    print(table(rows), sum(row["distributions"] for row in rows))
    if not quick:
        write_rows(HERE / "hdi.csv", rows)
        (HERE / "hdi_table.inc").write_text(table(rows), encoding="utf-8")
    broken = [
        row for row in rows
        if row["disorder"] or row["refused"] or any(float(row[name]) > most for name, most in PROMISE.items())
    ]  # fmt: skip
    sys.exit(f"broken: {broken}" if broken else 0)


if __name__ == "__main__":
    main()
