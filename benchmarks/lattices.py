"""Two integrals by lattices in log-odds: errors against an earlier commit's kernels, over thousands of matrices.

Run `python benchmarks/lattices.py f30c2257`: the commit's package is unpacked beside, both sides summarise the same
matrices (with compiled kernels, where they have them), and the largest difference of mean, sd, median and both ends of
the interval is given in standard deviations of the metric. ``--write`` writes results_lattices.csv too.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[1]
WAYS = [("mcc", "dirichlet_multinomial"), ("kappa", "dirichlet_multinomial"), ("f1", "three_binomial")]
KINDS = ("eti", "hdi")
ANSWERS = """
import sys, warnings
import numpy as np
import bayescm
warnings.simplefilter("ignore")
given = np.load(sys.argv[1])
made = {}
for name in given.files:
    counts = bayescm.from_cells(**dict(zip(("tp", "fn", "fp", "tn"), given[name].T)), dims="item")
    for metric, model in WAYS:
        for kind in KINDS:
            found = bayescm.summary(counts, metric, model=model, ci_kind=kind)
            parts = [found[part].values.reshape(len(counts), -1) for part in ("mean", "sd", "median", "interval")]
            made[f"{name}/{metric}/{model}/{kind}"] = np.concatenate(parts, 1)
np.savez(sys.argv[2], **made)
"""


def matrices(n: int) -> dict[str, np.ndarray]:
    """Return cells tp, fn, fp, tn."""
    rng = np.random.default_rng(5)
    sizes = np.exp(rng.uniform(np.log(5), np.log(5000), 2 * n)).astype(int)
    any_cells = np.array([rng.multinomial(size, rng.dirichlet(np.ones(4))) for size in sizes])
    large = np.round(10 ** rng.uniform(1, 6, (n, 4)))
    return {"5 to 5,000 items": any_cells, "cells of 0 to 12": rng.integers(0, 13, (n, 4)), "10 to 10^6": large}


def answers(tree: Path, given: Path, out: Path) -> dict[str, np.ndarray]:
    """Summarise the matrices with the package of a tree."""
    code = f"WAYS, KINDS = {WAYS}, {KINDS}\n{ANSWERS}"
    environment = {**os.environ, "PYTHONPATH": str(tree), "BAYESCM_COMPILE": "1"}
    subprocess.run([sys.executable, "-c", code, str(given), str(out)], env=environment, cwd=tree, check=True)
    return dict(np.load(out))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="with which this tree is compared")
    parser.add_argument("--matrices", type=int, default=10_000, help="of each kind; twice as many of any cells")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", given.commit, "bayescm"], cwd=ROOT, capture_output=True, check=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        asked = Path(folder) / "asked.npz"
        np.savez(asked, **matrices(given.matrices))
        sides = [answers(tree, asked, Path(folder) / "out.npz") for tree in (Path(folder), ROOT)]
    rows = []
    for name, before in sides[0].items():
        off = np.abs(sides[1][name] - before) / before[:, 1:2]
        off = np.where(np.isnan(off), 0.0, off)
        places = off.max(1)
        rows.append(
            dict(zip(("cells", "metric", "model", "interval"), name.split("/"), strict=True))
            | {"matrices": len(off), "median": np.median(places), "q999": np.quantile(places, 0.999)}
            | {"worst": places.max(), "worst_of_moments": off[:, :2].max(), "worst_of_ends": off[:, 2:].max()}
        )
    table = pd.DataFrame(rows)
    print(table.to_string(index=False, float_format=lambda x: f"{x:.1e}"))
    if given.write:
        table.to_csv(ROOT / "benchmarks" / "results_lattices.csv", index=False, float_format="%.3g")


if __name__ == "__main__":
    main()
