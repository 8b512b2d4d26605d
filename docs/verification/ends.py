"""Check the ends of exact intervals: ``python -m uv run python docs/verification/ends.py`` (some minutes).

Equal-tailed intervals and medians of `summary` for random matrices of 10 to a million items, cells of no items and few
of them often among them, and what the distributions' own cdf, which takes a longer road and is checked in
``distributions.py``, says of the probabilities there. Writes ends.csv and ends_table.inc. ``--quick`` checks a
sixtieth, writes nothing and fails where an end is off by 1e-4 of the width or more than 2.5% of errors are larger than
stated.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
os.environ.setdefault("BAYESCM_COMPILE", "1")

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rows import markdown, write_rows

import bayescm
from bayescm.distributions import Integral
from bayescm.metrics.table import BINARY

Array = NDArray[np.float64]

HERE = Path(__file__).parent
MATRICES = 400
SIZES = {"10 to 30": (10, 30), "31 to 300": (31, 300), "301 to 10^6": (301, 10**6)}
LEVELS = np.array([0.025, 0.5, 0.975])
TAILS = np.minimum(LEVELS, 1.0 - LEVELS)
NOTHING = 1e-7  # of a tail: errors that nobody asks for


def matrices(rng: np.random.Generator, low: int, high: int, n: int) -> NDArray[np.int64]:
    """Return n matrices, (n, 2, 2): sizes on a logarithmic scale, cells of three degrees of scarcity."""
    sizes = np.exp(rng.uniform(np.log(low), np.log(high + 1), n)).astype(np.int64)
    shares = [rng.dirichlet(np.full(4, rng.choice([0.3, 1.0, 3.0]))) for _ in range(n)]
    return np.array([rng.multinomial(size, p) for size, p in zip(sizes, shares, strict=True)]).reshape(n, 2, 2)


def errors(counts: NDArray[np.int64], name: str, model: str) -> tuple[int, Array]:
    """Return the number of integrals, and of each matrix errors of tails, of places in widths, and the stated."""
    dist: Any = bayescm.metric_distribution(bayescm.from_array(counts), name, model=model).dist
    if not isinstance(dist, Integral):
        return 0, np.empty((0, 3))
    found = dist.statistics(0.95, "eti")
    x = np.array([found["lower"], found["median"], found["upper"]])
    off = np.where(LEVELS[:, None] < 0.6, dist.cdf(x) - LEVELS[:, None], 1.0 - LEVELS[:, None] - dist.sf(x))
    with np.errstate(divide="ignore", invalid="ignore"):
        places = np.abs(off) / (dist.pdf(x) * (x[2] - x[0]))
    return dist.integrals, np.array([(np.abs(off) / TAILS[:, None]).max(0), places.max(0), found["error"]]).T


def row(integrals: int, items: str, values: Array) -> dict[str, Any]:
    """Summarise the errors of many intervals."""
    tail, place, stated = values[np.isfinite(values).all(1)].T
    middle = [f"{v:.0e}" for v in np.quantile(place, [0.5, 0.99, 0.999, 1.0])]
    more = float((tail > np.maximum(stated, NOTHING)).mean())
    return {
        "integrals": integrals, "items": items, "intervals": len(tail),
        **dict(zip(("median", "99%", "99.9%", "worst"), middle, strict=True)),
        "worst of a tail": f"{tail.max():.0e}", "above the stated": f"{more:.2%}",
    }  # fmt: skip


def main() -> int:
    """Compare, and write the table."""
    quick, made = "--quick" in sys.argv, []
    for items, (low, high) in SIZES.items():
        counts = matrices(np.random.default_rng([low, high]), low, high, MATRICES // 60 if quick else MATRICES)
        parts = [errors(counts, metric.name, model) for metric in BINARY for model in
                 ("dirichlet_multinomial", "three_binomial")]  # fmt: skip
        for integrals in (1, 2):
            made.append(row(integrals, items, np.concatenate([v for n, v in parts if n == integrals])))
            print(made[-1], flush=True)
    if quick:
        return int(any(float(r["worst"]) > 1e-4 or float(r["above the stated"][:-1]) > 2.5 for r in made))
    write_rows(HERE / "ends.csv", made)
    (HERE / "ends_table.inc").write_text(markdown(made), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
