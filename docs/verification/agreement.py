"""Check agreement of raters: ``python -m uv run python docs/verification/agreement.py`` (three minutes).

Subjects have a class; every rater names it with the same chance of being right, else any other. How often 95%
intervals hold the coefficient of the population, and their mean lengths: Student's t interval with the variance over
subjects, as irrCAC prints it, and the posterior over subjects. Writes agreement.csv and agreement_table.inc.
``--quick`` runs a small part, writes nothing and fails where the posterior holds the truth too seldom.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import sys
import warnings
from pathlib import Path

import numpy as np
import xarray as xr
from rows import markdown, write_rows
from scipy import stats

import bayescm

HERE = Path(__file__).parent
CLASSES = {"even": [0.5, 0.5], "rare": [0.9, 0.1], "three": [0.5, 0.3, 0.2]}
RIGHT = (0.8, 0.95)
METRICS = ["fleiss_kappa", "gwets_ac1"]
SUBJECTS, RATERS = (10, 30, 100), (2, 3, 5)
REPEATS, DRAWS = 300, 4_000
LEAST = 0.85
"""Coverage below which a quick run of 100 samples fails."""


def truth(shares: list[float], right: float) -> list[float]:
    """Return the coefficients of all subjects, of whom two raters saw each."""
    k = len(shares)
    rates = np.full((k, k), (1.0 - right) / (k - 1))
    np.fill_diagonal(rates, right)
    pairs = np.einsum("c,ci,cj->ij", shares, rates, rates)
    return [one.item() for one in bayescm.metrics.evaluate(xr.DataArray(pairs, dims=("actual", "predicted"),
            coords=dict.fromkeys(("actual", "predicted"), range(k))), METRICS).values()]  # fmt: skip


def sample(shares: list[float], right: float, n: int, raters: int, rng: np.random.Generator) -> xr.DataArray:
    """Draw the ratings of one study."""
    k = len(shares)
    true = rng.choice(k, (n, 1), p=shares)
    other = (true + rng.integers(1, k, (n, raters))) % k
    ratings = np.where(rng.random((n, raters)) < right, true, other)
    return bayescm.agreement(ratings, labels=range(k))


def study(name: str, right: float, n: int, raters: int, repeats: int) -> list[dict[str, object]]:
    """Return a row per coefficient."""
    shares, rng = CLASSES[name], np.random.default_rng([n, raters, int(100 * right), list(CLASSES).index(name)])
    drawn = [sample(shares, right, n, raters, rng) for _ in range(repeats)]
    counts = xr.concat(drawn, "study", combine_attrs="override").assign_coords(study=range(repeats))
    found = bayescm.summary(counts, METRICS, draws=DRAWS, random_seed=1)["interval"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # samples in which all agree
        delta = bayescm.interval(counts, METRICS, "delta")
    reach = stats.t.ppf(0.975, n - 1) * delta["se"]
    rows = []
    for metric, true in zip(found["metric"].values, truth(shares, right), strict=True):
        lower, upper = found.sel(metric=metric).values.T
        point, half = (one.sel(metric=metric).values for one in (delta["point"], reach))
        known = np.isfinite(point)
        held = known & (np.abs(point - true) <= half)
        rows.append({
            "classes": name, "right": right, "subjects": n, "raters": raters, "metric": str(metric),
            "truth": round(true, 4), "samples": repeats,
            "t": round(float(held.mean()), 4), "t_width": round(float(2 * half[known].mean()), 4),
            "t_beyond_1": round(float(((point + half)[known] > 1).mean()), 4),
            "t_none": round(float((~known | (half == 0)).mean()), 4),
            "posterior": round(float(((lower <= true) & (true <= upper)).mean()), 4),
            "posterior_width": round(float((upper - lower).mean()), 4),
        })  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def main(quick: bool) -> None:
    """Run the study."""
    if quick:
        rows = [row for name in CLASSES for row in study(name, 0.8, 30, 3, 100)]
        if low := [row for row in rows if float(str(row["posterior"])) < LEAST]:
            raise SystemExit(f"the posterior holds the truth too seldom: {low}")
        return
    cases = [(name, right, n, raters) for name in CLASSES for right in RIGHT for n in SUBJECTS for raters in RATERS]
    rows = [row for case in cases for row in study(*case, REPEATS)]
    write_rows(HERE / "agreement.csv", rows)
    shown = []
    for name in CLASSES:
        for n in SUBJECTS:
            its = [row for row in rows if (row["classes"], row["subjects"]) == (name, n)]
            shown.append({"classes": name, "subjects": n} | {
                what: "{:.3f} to {:.3f}".format(*(end(float(str(row[key])) for row in its) for end in (min, max)))
                for key, what in (("t", "t interval"), ("posterior", "posterior"), ("t_beyond_1", "t past 1"),
                                  ("t_width", "length of t"), ("posterior_width", "of the posterior"))
            })  # fmt: skip
    (HERE / "agreement_table.inc").write_text(markdown(shown))


if __name__ == "__main__":
    main("--quick" in sys.argv)
