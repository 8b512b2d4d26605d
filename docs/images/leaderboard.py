"""Make the picture of the leaderboard: ``python docs/images/leaderboard.py``."""

from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import bayescm

if __name__ == "__main__":
    board = bayescm.leaderboard(
        bayescm.datasets.kaggle2019(), design="independent", prior="laplace", prizes=[10_000, 2000, 1000]
    )
    ax = bayescm.plot_leaderboard(board)
    ax.figure.savefig(Path(__file__).with_suffix(".png"), dpi=110)
