"""Make the picture of a difference: ``python docs/images/comparison.py``. The data are those of docs/comparison.md."""

from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import numpy as np

import bayescm

if __name__ == "__main__":
    truth = np.arange(250) % 3 == 0
    a_right = np.repeat([True, True, False, False], [191, 22, 7, 30])
    b_right = np.repeat([True, False, True, False], [191, 22, 7, 30])
    table = bayescm.paired_counts(truth, {"A": truth == a_right, "B": truth == b_right})
    ax = bayescm.plot_difference(bayescm.compare_systems(table, rope=0.01, random_seed=1))
    ax.figure.savefig(Path(__file__).with_suffix(".png"), dpi=110)
