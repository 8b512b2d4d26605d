"""Make the pictures of whole curves: ``python docs/images/curves.py``."""

from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import numpy as np
from numpy.typing import NDArray

import bayescm

HERE = Path(__file__).parent
METRICS = ["f1", "mcc", "balanced_accuracy"]


def items(n: int, cases: int, *gains: float) -> tuple[NDArray[np.int64], list[NDArray[np.float64]]]:
    """Return labels, and normal scores of as many systems as gains, which are correlated."""
    rng = np.random.default_rng(7)
    y = np.repeat([0, 1], [n - cases, cases])
    common = rng.normal(size=n)
    return y, [0.7 * common + 0.7 * rng.normal(size=n) + gain * y for gain in gains]


def main() -> None:
    """Save every picture beside this file."""
    y, (forest, logistic) = items(300, 150, 1.4, 0.9)
    one = bayescm.curve_posterior(y, forest, random_seed=1)
    two = bayescm.curve_posterior(y, {"forest": forest, "logistic": logistic}, random_seed=1)
    over = bayescm.curve_posterior(y, 1 / (1 + np.exp(-forest)), over="threshold", metrics=METRICS, random_seed=1)
    y_rare, (score,) = items(2000, 100, 1.8)
    rare = bayescm.curve_posterior(y_rare, score, random_seed=1)
    pictures = {
        "curve_roc": bayescm.plot_curve(bayescm.curve_band(one), median=True),
        "curve_pr": bayescm.plot_curve(bayescm.curve_band(rare, space="pr"), median=True, iso_f1=True),
        "curve_areas": bayescm.plot_areas(two),
        "curve_thresholds": bayescm.plot_thresholds(over),
        "curve_difference": bayescm.plot_curve(
            bayescm.curve_band(two), difference=bayescm.curve_band(two, difference=("forest", "logistic"))
        )[0],
    }
    for name, ax in pictures.items():
        ax.figure.savefig(HERE / f"{name}.png", dpi=100, pil_kwargs={"optimize": True})


if __name__ == "__main__":
    main()
