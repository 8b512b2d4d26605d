"""Make the pictures of prevalences and decision curves: ``python docs/images/decisions.py``."""

from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import bayescm

HERE = Path(__file__).parent


def main() -> None:
    """Save every picture beside this file."""
    half = bayescm.from_cells(tp=90, fn=10, fp=5, tn=95)
    test = bayescm.from_cells(tp=26, fn=4, fp=20, tn=150)
    pictures = {
        "prevalence": bayescm.plot_prevalence(bayescm.at_prevalences(half)),
        "decision_curve": bayescm.plot_decision_curve(bayescm.decision_curve(test))[0],
    }
    for name, ax in pictures.items():
        ax.figure.savefig(HERE / f"{name}.png", dpi=100, pil_kwargs={"optimize": True})


if __name__ == "__main__":
    main()
