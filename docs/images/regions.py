"""Make the pictures of the page on regions: ``python docs/images/regions.py``.

They redraw Figs 1, 3, 4, 7 and 9 of Urlus et al. 2023 with other data of the same size.
"""

import warnings
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import numpy as np
import xarray as xr

import bayescm

HERE = Path(__file__).parent
LOW = bayescm.from_cells(tn=255, fp=1, fn=189, tp=55)
MID = bayescm.from_cells(tn=201, fp=55, fn=41, tp=203)
LEVEL = 0.954  # of several methods: one level, else there are more lines than can be told apart
HIGH = bayescm.from_cells(tn=88, fp=168, fn=2, tp=242)
METHODS = ("wilks", "exact", "credible", "ellipse")
PRIORS = {"Jeffreys": "jeffreys", "uniform": "laplace", "Haldane, nearly": 0.01}


def curve(thresholds: list[float] | None = None) -> xr.DataArray:
    """Return the counts at thresholds of 500 normal scores, half of them positive, 1.5 deviations apart."""
    rng = np.random.default_rng(7)
    positive = np.repeat([0, 1], 250)
    score = rng.normal(1.5 * positive)
    return bayescm.curves.counts_at_thresholds(
        positive, 1.0 / (1.0 + np.exp(1.125 - 1.5 * score)), thresholds=thresholds
    )


def main() -> None:
    """Save every picture beside this file."""
    counts = curve()
    two = curve([0.5, 0.95])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # thresholds without an ellipse
        bands = [bayescm.band(counts, method=method) for method in ("wilks", "ellipse")]
    of_roc = bayescm.band(counts, space="roc")
    priors = {
        name: bayescm.region(LOW, method="credible", prior=prior, ordering="density") for name, prior in PRIORS.items()
    }
    pictures = {
        "band_roc": bayescm.plots.plot_band(of_roc, regions=bayescm.region(two, space="roc")),
        "band_methods": bayescm.plots.plot_band(bands, levels=LEVEL),
        "region_mid": bayescm.plots.plot_region(
            [bayescm.region(MID, method=method) for method in METHODS], levels=LEVEL
        ),
        "region_high": bayescm.plots.plot_region(
            [bayescm.region(HIGH, method=method) for method in METHODS], levels=LEVEL
        ),
        "region_priors": bayescm.plots.plot_region(priors, levels=LEVEL),
        "region_bootstrap": bayescm.plots.plot_region(
            bayescm.region(LOW), cloud=bayescm.regions.bootstrap(LOW, random_seed=1)
        ),
    }
    for name, ax in pictures.items():
        ax.figure.savefig(HERE / f"{name}.png", dpi=110, pil_kwargs={"optimize": True})


if __name__ == "__main__":
    main()
