"""Check shares by a judge with known errors: ``python -m uv run python docs/verification/quantification.py``.

A judge of K classes was compared with people on so many items of each, and then called 500 other items. How often 95%
intervals hold the shares of these items' population: the verdicts' shares with Wilson's interval; the adjusted count
(rates inverted) with the normal interval of the verdicts alone, the rates as if known, and with that of the rates, too;
and ``audited(..., of="others")``. In the last rows the judge errs more on the new items than on those that people saw.
Writes quantification.csv and quantification_table.inc. ``--quick`` runs one case, writes nothing and fails below .9.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rows import markdown, write_rows

from bayescm.distributions.misclassified import draw
from bayescm.inference.proportions import wilson

Array = NDArray[np.float64]

HERE = Path(__file__).parent
Z, ITEMS, REPEATS, DRAWS = 1.959963984540054, 500, 200, 1_000
SHARES = {2: [0.8, 0.2], 3: [0.6, 0.3, 0.1], 5: [0.4, 0.3, 0.15, 0.1, 0.05]}
WAYS = {"verdicts": "verdicts", "adjusted": "adjusted, rates as if known", "both": "adjusted, rates too",
        "others": "bayescm"}  # fmt: skip
CASES = [(k, 0.8, n, 0.0) for k in SHARES for n in (30, 100)] + [(3, 0.8, 100, shift) for shift in (0.05, 0.15)]


def rates_of(k: int, right: float) -> Array:
    """Return even errors."""
    rates = np.full((k, k), (1.0 - right) / (k - 1))
    np.fill_diagonal(rates, right)
    return rates


def adjusted(known: Array, totals: Array) -> tuple[Array, Array, Array]:
    """Return the adjusted count, and its standard errors without and with those of the rates."""
    rates, called = known / known.sum(1, keepdims=True), totals / totals.sum()
    inverse = np.linalg.pinv(rates.T)
    shares = inverse @ called
    of_called = (np.diag(called) - np.outer(called, called)) / totals.sum()
    of_rates = sum(
        share**2 * (np.diag(row) - np.outer(row, row)) / n
        for share, row, n in zip(shares, rates, known.sum(1), strict=True)
    )
    return shares, *(np.sqrt(np.diag(inverse @ v @ inverse.T)) for v in (of_called, of_called + of_rates))


def study(k: int, right: float, n: int, shift: float, repeats: int) -> dict[str, object]:
    """Return how often intervals hold, on average over the classes, and their mean lengths."""
    rng, true = np.random.default_rng([k, n, int(1000 * right), int(1000 * shift)]), np.array(SHARES[k])
    found: dict[str, list[Array]] = {name: [] for name in WAYS}
    for _ in range(repeats):
        known = np.stack([rng.multinomial(n, row) for row in rates_of(k, right)])
        totals = rng.multinomial(ITEMS, true @ rates_of(k, right - shift))
        shares, narrow, wide = adjusted(known, totals)
        found["verdicts"].append(np.stack(wilson(totals, np.full(k, ITEMS), 0.95)))
        for name, error in (("adjusted", narrow), ("both", wide)):
            found[name].append(np.stack([shares - Z * error, shares + Z * error]))
        drawn = draw(known, totals.astype(np.float64), rng, DRAWS).sum(-1)
        found["others"].append(np.quantile(drawn, [0.025, 0.975], axis=0))
    row: dict[str, object] = {"classes": k, "right": right, "shift": shift, "checked": n, "samples": repeats}
    for name, ends in found.items():
        low, high = np.array(ends).swapaxes(0, 1)
        row[name] = round(float(((low <= true) & (true <= high)).mean()), 4)
        row[f"{name}_width"] = round(float((high - low).mean()), 4)
    print(row, flush=True)
    return row


def main(quick: bool) -> None:
    """Run the study."""
    if quick:
        if float(str(study(3, 0.75, 30, 0.0, 60)["others"])) < 0.9:
            raise SystemExit("the posterior holds the shares too seldom")
        return
    rows = [study(*case, REPEATS) for case in CASES]
    write_rows(HERE / "quantification.csv", rows)
    shown = [
        {"classes": row["classes"], "right": row["right"], "less right here": row["shift"] or "", "checked of each":
         row["checked"]} | {what: f"{row[name]:.3f} ({row[f'{name}_width']:.2f})" for name, what in WAYS.items()}
        for row in rows
    ]  # fmt: skip
    (HERE / "quantification_table.inc").write_text(markdown(shown))


if __name__ == "__main__":
    main("--quick" in sys.argv)
