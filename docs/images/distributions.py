"""Make two more pictures of the page on exact distributions: ``python docs/images/distributions.py``."""

from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import bayescm

HERE = Path(__file__).parent
TOETSCH = {"model": "three_binomial", "prior": "laplace"}


def main() -> None:
    """Save every picture beside this file."""
    counts = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
    published = bayescm.datasets.toetsch2021()
    pair = bayescm.metric_distribution(published.sel(system=["9a", "9b"]), "mcc", **TOETSCH)
    pictures = {
        "distribution_pair": bayescm.plots.plot_distribution(pair, reference=0.5),
        "distribution_infinite": bayescm.plots.plot_distribution(
            bayescm.metric_distribution(counts, "recall"), reference=0.9
        ),
    }
    for name, ax in pictures.items():
        ax.figure.savefig(HERE / f"{name}.png", dpi=100)


if __name__ == "__main__":
    main()
