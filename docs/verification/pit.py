"""Rebuild the pictures of calibration: ``python -m uv run python docs/verification/pit.py`` (seconds).

PIT values of both stories, two and three labels, by ``az.plot_ecdf_pit``, with its p-value of uniformity.
"""

from pathlib import Path

import arviz as az
import matplotlib as mpl

from bayescm import models
from bayescm.calibration import pit

HERE = Path(__file__).parent
METRICS = ["accuracy", "matthews_correlation", "cohen_kappa", "f1_macro", "precision_macro", "balanced_accuracy"]

if __name__ == "__main__":
    mpl.use("agg")
    az.style.use("arviz-variat")
    for story in models.names():
        for k in (2, 3):
            tree = pit(story, METRICS, n=50, n_labels=k, prior="jeffreys", simulations=1000, random_seed=k)
            collection = az.plot_ecdf_pit(tree, figure_kwargs={"figsize": (13, 6)})
            for title in collection.viz["title"].dataset.data_vars.values():
                title.item().set_fontsize(11)
            figure = collection.viz["figure"].item()
            figure.suptitle(f"{story}, {k} labels: 1000 truths from the prior, matrices of 50 items", fontsize=12)
            figure.savefig(HERE / f"pit_{story}_{k}.png", dpi=60)
