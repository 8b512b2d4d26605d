"""Draw the pictures of the page on planning: ``python docs/images/planning.py``."""

from pathlib import Path

import numpy as np

import bayescm

HERE = Path(__file__).parent


def main() -> None:
    """Draw the length of the interval against the number of items (Toetsch and Hoffmann 2021, Fig. 6)."""
    items = np.unique(np.geomspace(10, 1e6, 31).astype(int))
    plans = {
        "mode .8, concentration 10": bayescm.interval_width("accuracy", items),
        "mode .99, concentration 200": bayescm.interval_width("accuracy", items, mode=0.99, concentration=200),
    }
    ax = bayescm.plot_interval_width(plans)
    ax.figure.savefig(HERE / "planning.png", dpi=110)


if __name__ == "__main__":
    main()
