"""Simulation-based calibration of every model: ``python -m uv run python docs/verification/sbc.py`` (half an hour).

Truths from each model's prior, data from the truths, and where each truth lies in its posterior: PIT values by the
exact distribution where there is one, else randomised ranks among draws. They are uniform if simulation, program,
sampler and closed form belong together. Writes ``sbc.csv``, what the page shows, and a picture for every line.
``--only NAME`` runs one line of the table; ``--quick`` runs 70 truths of those without NUTS, asserts that nothing is
wrong, and writes nothing.
"""

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from rows import write_rows
from scipy import stats

import bayescm
from bayescm import models
from bayescm.priors import LogitNormal

HERE = Path(__file__).parent
EXPERTS = {
    "prevalence": (2, 2),
    "recall": LogitNormal.from_interval(0.70, 0.95),
    "specificity": LogitNormal.from_interval(0.60, 0.95),
}
BETAS = {"prevalence": (2, 2), "recall": "laplace", "specificity": "jeffreys"}
BINORMAL = ["mu", "sigma", "auc"]
MULTICLASS = ["accuracy", "matthews_correlation", "cohen_kappa", "f1_macro"]
COLUMNS = 6  # of a picture, at most
TWO = ["recall", "precision", "f1", "matthews_correlation"]

STUDIES: dict[str, tuple[str, dict[str, Any]]] = {
    # line of the table: the model and the options of bayescm.calibration.sbc
    "dirichlet_multinomial": ("dirichlet_multinomial", {"prior": "jeffreys", "variables": TWO}),
    "dirichlet_multinomial, 3 labels": (
        "dirichlet_multinomial",
        {"prior": "jeffreys", "n_labels": 3, "variables": MULTICLASS},
    ),
    "dirichlet_multinomial, NUTS": ("dirichlet_multinomial", {"method": "nuts", "variables": TWO}),
    "three_binomial": ("three_binomial", {"prior": "jeffreys", "variables": TWO}),
    "three_binomial, 3 labels": ("three_binomial", {"prior": "jeffreys", "n_labels": 3, "variables": MULTICLASS}),
    "three_binomial, NUTS": ("three_binomial", {"method": "nuts", "variables": TWO}),
    "kfold, complete": ("kfold", {"pooling": "complete", "variables": TWO}),
    "kfold, average": ("kfold", {"pooling": "average", "variables": TWO}),
    "kfold, partial": (
        "kfold",
        {
            "method": "nuts",  # of the program, where the default is quadrature
            "folds": 5,
            "variables": ["recall", "specificity", "fold_sd", "correlation", "recall_fold", "f1"],
        },
    ),
    "informative, Betas": ("informative", {"prior": BETAS, "variables": TWO}),
    "informative": ("informative", {"prior": EXPERTS, "correlation": -0.4, "variables": ["specificity", *TWO]}),
    "paired": ("paired", {"variables": ["recall", "precision", "matthews_correlation"]}),
    "paired, difficulty": ("paired", {"dependence": "difficulty"}),
    "overdispersed": ("overdispersed", {}),
    "overdispersed, rates": ("overdispersed", {"overdispersion": "rates"}),
    "hierarchical": ("hierarchical", {}),
    "regression": ("regression", {"covariates": "x + (1 | site)", "shares": "common"}),
    "latent_class": ("latent_class", {}),
    "latent_class, dependence": ("latent_class", {"dependence": True, "tests": 3}),
    "fold_scores": ("fold_scores", {"prior": "standard"}),
    "fold_scores, NUTS": ("fold_scores", {"prior": "standard", "method": "nuts"}),
    "fold_scores, 8 data sets": (
        "fold_scores",
        {
            "prior": models.load("fold_scores").FIXED,
            "n_datasets": 8,
            "variables": ["mean_difference", "sigma0", "nu", "difference", "sigma"],
        },
    ),
    "binormal": ("binormal", {"variables": BINORMAL}),
    "binormal, NUTS": ("binormal", {"method": "nuts", "variables": BINORMAL}),
}
QUICK = [
    "dirichlet_multinomial", "dirichlet_multinomial, 3 labels", "three_binomial", "three_binomial, 3 labels",
    "kfold, complete", "kfold, average", "informative, Betas", "paired", "fold_scores", "binormal",
]  # fmt: skip
"""Those without NUTS, of which 70 truths take a second or two; a few truths of the others would show nothing."""


def study(name: str, simulations: int | None, seed: int) -> tuple[Any, float]:
    """Run one line: the PIT values, and the seconds that it took."""
    story, options = STUDIES[name]
    start = time.perf_counter()
    return bayescm.calibration.sbc(
        story, simulations=simulations, random_seed=seed, **options
    ), time.perf_counter() - start


def rows(name: str, tree: Any, seconds: float) -> list[dict[str, Any]]:
    """Return one row per variable: the p-value of uniformity (Kolmogorov and Smirnov), the smallest of its elements."""
    group = tree["prior_sbc"]
    made = []
    for variable, values in group.data_vars.items():
        columns = values.values.reshape(group.sizes["draw"], -1).T
        p = [float(stats.kstest(column, "uniform").pvalue) for column in columns]
        made.append(
            {
                "study": name, "method": tree.attrs["method"], "simulations": tree.attrs["simulations"],
                "variable": variable, "elements": len(p), "smallest_p": round(min(p), 4),
                "mean": round(float(columns.mean()), 3), "sd": round(float(columns.std()), 3),
                "divergences": tree.attrs["divergences"], "seconds": round(seconds, 1),
            }
        )  # fmt: skip
    return made


def picture(name: str) -> str:
    """Return the file of a line's picture."""
    return f"sbc_{name.replace(', ', '_').replace(' ', '_')}.png"


def draw(name: str, tree: Any) -> None:
    """Save the picture of one line: the first element of every variable, all pictures in one size.

    The distribution function of the PIT values minus that of a uniform one, between the lines that the test of
    Kolmogorov and Smirnov, which the table shows, rejects beyond at 5%.
    """
    group = tree["prior_sbc"].to_dataset()
    first = group.isel({dim: 0 for dim in group.dims if dim not in ("chain", "draw")})
    figure, axes = plt.subplots(1, COLUMNS, figsize=(11, 2.1), sharex=True, sharey=True, layout="constrained")
    top = 0.15
    for ax in axes[len(first.data_vars) :]:
        ax.set_axis_off()
    for ax, (variable, values) in zip(axes, first.data_vars.items(), strict=False):
        pit = np.sort(values.values.ravel())
        n = len(pit)
        edge = stats.kstwo.ppf(0.95, n)
        ax.axhspan(-edge, edge, color="0.92", linewidth=0)
        ax.axhline(0, color="0.5", linewidth=0.8)
        at = np.concatenate([[0.0], np.repeat(pit, 2), [1.0]])
        above = np.repeat(np.arange(n + 1) / n, 2) - at
        top = max(top, 1.05 * float(np.abs(above).max()))
        ax.plot(at, above, color="#0072B2", linewidth=1.2)
        ax.set_title(str(variable).replace("_", " "), fontsize=9)
        ax.set_xticks([0, 0.5, 1], ["0", ".5", "1"], fontsize=8)
        ax.tick_params(axis="y", labelsize=8)
    axes[0].set_ylim(-top, top)
    axes[0].set_ylabel("ECDF - uniform", fontsize=8)
    truths = f"{tree.attrs['simulations']} truths, {tree.attrs['method']}"
    title = f"{name}: {truths}; grey: 95% of uniform PIT values stay within"
    figure.suptitle(title, fontsize=9, x=0.01, ha="left")
    figure.savefig(HERE / picture(name), dpi=70, pil_kwargs={"optimize": True})
    plt.close(figure)


def write(fresh: list[dict[str, Any]]) -> None:
    """Put fresh rows into ``sbc.csv`` in the order of the studies, and write the table and the list of pictures."""
    file = HERE / "sbc.csv"
    old = list(csv.DictReader(file.open())) if file.exists() else []
    names = {row["study"] for row in fresh}
    kept = [row for row in old if row["study"] not in names and row["study"] in STUDIES]
    every = sorted([*kept, *fresh], key=lambda row: list(STUDIES).index(row["study"]))
    write_rows(file, every)
    table = [
        "| study | method | truths | values tested | smallest p | Holm's bound | diverged |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for name in dict.fromkeys(row["study"] for row in every):
        mine = [row for row in every if row["study"] == name]
        tested = sum(int(row["elements"]) for row in mine)
        smallest = min(float(row["smallest_p"]) for row in mine)
        table.append(
            f"| {name} | {mine[0]['method']} | {mine[0]['simulations']} | {tested} | {smallest:.3f} | "
            f"{0.05 / tested:.4f} | {mine[0]['divergences']} |"
        )
    tested = sum(int(row["elements"]) for row in every)
    smallest = min(float(row["smallest_p"]) for row in every)
    table.append(f"| all | | | {tested} | {smallest:.3f} | {0.05 / tested:.4f} | |")
    (HERE / "sbc_table.inc").write_text("\n".join(table) + "\n", encoding="utf-8")
    shown = dict.fromkeys(row["study"] for row in every)
    pictures = "\n\n".join(f"![{name}: PIT values]({picture(name)})" for name in shown)
    (HERE / "sbc_pictures.inc").write_text(pictures + "\n", encoding="utf-8")


def main() -> None:
    """Run the study that was asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=list(STUDIES))
    parser.add_argument("--simulations", type=int)
    asked = parser.parse_args()
    mpl.use("agg")
    for seed, name in enumerate(STUDIES):
        if asked.only not in (None, name) or (asked.quick and name not in QUICK):
            continue
        tree, seconds = study(name, 70 if asked.quick else asked.simulations, seed)
        made = rows(name, tree, seconds)
        print(name, f"{seconds:.0f} s", {row["variable"]: row["smallest_p"] for row in made}, flush=True)
        if asked.quick:
            assert min(row["smallest_p"] for row in made) > 1e-3, f"{name}: PIT values of {made}"
        else:
            write(made)
            draw(name, tree)


if __name__ == "__main__":
    main()
