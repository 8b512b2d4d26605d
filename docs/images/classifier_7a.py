"""Make the picture of the home page and of the README: ``python docs/images/classifier_7a.py``."""

from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import bayescm

METRICS = ["recall", "specificity", "precision", "negative_predictive_value", "accuracy", "f1", "matthews_correlation",
           "informedness"]  # fmt: skip

if __name__ == "__main__":
    counts = bayescm.datasets.toetsch2021().sel(system="7a", drop=True)
    ax = bayescm.plot_forest(bayescm.summary(counts, METRICS, model="three_binomial", prior="laplace"))
    ax.figure.savefig(Path(__file__).with_suffix(".png"), dpi=150, pil_kwargs={"optimize": True})
