"""Check the quantiles of Betas: ``python -m uv run python docs/verification/beta.py`` (some 2 minutes).

10^5 quantiles of `bayescm.distributions.beta_quantiles`, at random and at round concentrations from 0.5 to 10^9 and
tails from 1e-12 to 1/2, against the tables of `bayescm/_kernels/beta.py`, which share nothing with them (their own
sums, no gamma function); some hundred of them against mpmath at 30 digits, too. The error is that of the log-odds: the
relative error of x or 1 - x, whichever is smaller. Writes beta_quantiles.csv and beta_table.inc. ``--quick`` does a
small part and writes nothing. Either fails if the promise is broken.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray
from rows import write_rows
from scipy import special

from bayescm._kernels.beta import DESCRIPTION, MAX_CELLS, build, tails
from bayescm.distributions import beta_quantiles

Array = NDArray[np.float64]
HERE = Path(__file__).parent
MOST = (1e3, 1e6, 1e9 + 1)  # larger concentration, by rows of the table
PROMISE = 1e-11
"""Error of the log-odds against the tables, which have some 1e-11 themselves."""
PROMISE_MPMATH = 1e-13
ROUND = [
    *range(1, 11), 20, 50, 100, 500, 999, 1000, 1001, 2000, 5000, *range(9090, 20211, 97), 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
    *(2.0**k for k in range(1, 30)),
]  # fmt: skip


def cases(n: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return tails and concentrations."""

    def concentrations() -> Array:
        kind = rng.integers(0, 4, n)
        random = 10 ** rng.uniform(-0.5, 9, n)
        numbers = np.where(kind == 0, rng.choice(ROUND, n), np.where(kind == 3, random, np.floor(random)))
        return np.maximum(numbers + np.where(kind < 3, rng.choice([0.0, 0.5, 1.0], n), 0.0), 0.5)

    a, b = concentrations(), concentrations()
    a[: n // 10] = 1000.0
    usual = rng.choice([0.005, 0.025, 0.05, 0.25, 0.5], n)
    return np.where(rng.random(n) < 0.5, usual, 10 ** rng.uniform(-12, np.log10(0.5), n)), a, b


def by_tables(tail: Array, a: Array, b: Array, y: Array) -> Array:
    """Return the errors of log-odds y by the tables: what lacks of the tail, over the density."""
    table, dist, out = np.empty((MAX_CELLS + 1, 8)), np.empty(DESCRIPTION), np.empty(len(y))
    for i in range(len(y)):
        build(a[i], b[i], table, dist)
        low, _, density = tails(y[i], table, dist)
        out[i] = abs(low - tail[i]) / density
    return out


def fraction(a: Any, b: Any, x: Any) -> Any:
    """Return the continued fraction of the incomplete beta function, DLMF 8.17.22, by Lentz' method."""
    d = 1 / (1 - (a + b) * x / (a + 1))
    c, h, m = mpmath.mpf(1), d, 1
    while True:
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / (1 + term * d), 1 + term / c
            h *= c * d
        if abs(c * d - 1) < mpmath.mpf(10) ** -22:
            return h
        m += 1


def by_mpmath(tail: float, a: float, b: float, y: float) -> float:
    """Return the error of the log-odds y by mpmath."""
    with mpmath.workdps(30):
        tail_, a_, b_, y_ = (mpmath.mpf(float(v)) for v in (tail, a, b, y))
        x, rest = 1 / (1 + mpmath.exp(-y_)), 1 / (1 + mpmath.exp(y_))
        log = mpmath.loggamma(a_ + b_) - mpmath.loggamma(a_) - mpmath.loggamma(b_)
        density = mpmath.exp(log + a_ * mpmath.log(x) + b_ * mpmath.log(rest))
        if x < (a_ + 1) / (a_ + b_ + 2):
            low = density / a_ * fraction(a_, b_, x)
        else:
            low = 1 - density / b_ * fraction(b_, a_, rest)
        return float(abs(low - tail_) / density)


def study(n: int, slow: Sequence[int]) -> list[dict[str, Any]]:
    """Return one row for each range of concentrations; `slow` cases of each by mpmath."""
    tail, a, b = cases(n, np.random.default_rng(1))
    y = beta_quantiles.logit_ppf(tail, a, b)
    errors = by_tables(tail, a, b, y)
    scipy = np.abs(special.betainc(a, b, special.betaincinv(a, b, tail)) / tail - 1.0)
    rows, least = [], 0.0
    for most, few in zip(MOST, slow, strict=True):
        here = np.flatnonzero((np.maximum(a, b) <= most) & (np.maximum(a, b) > least))
        worst = here[np.argmax(errors[here])]
        exact = [by_mpmath(tail[i], a[i], b[i], y[i]) / (1.0 + abs(y[i])) for i in here[:few]]
        rows.append({
            "largest_concentration": f"{most:.0f}", "cases": len(here), "worst_by_tables": f"{errors[worst]:.2e}",
            "at": f"{tail[worst]:.4g} of Beta({a[worst]:.10g}, {b[worst]:.10g})", "by_mpmath": len(exact),
            "worst_by_mpmath": f"{max(exact):.2e}", "scipy_wrong_by_1e-6": int((scipy[here] > 1e-6).sum()),
        })  # fmt: skip
        least = most
    return rows


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows in Markdown."""
    lines = [
        "| larger concentration to | cases | worst error by tables | at | by mpmath | worst | SciPy's inverse wrong |",
        "|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row.values())) + " |" for row in rows)]) + "\n"


def main() -> None:
    """Run the study."""
    quick = "--quick" in sys.argv
    rows = study(2_000, (20, 5, 1)) if quick else study(100_000, (300, 100, 12))
    print(table(rows))
    if not quick:
        write_rows(HERE / "beta_quantiles.csv", rows)
        (HERE / "beta_table.inc").write_text(table(rows), encoding="utf-8")
    broken = [
        row for row in rows
        if float(row["worst_by_tables"]) > PROMISE or float(row["worst_by_mpmath"]) > PROMISE_MPMATH
    ]  # fmt: skip
    sys.exit(f"broken: {broken}" if broken else 0)


if __name__ == "__main__":
    main()
