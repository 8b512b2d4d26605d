"""A user's script for type checkers: CI runs mypy --strict and, if there, pyright on it, beside the installed wheel.

The last line is wrong, and each must say so.
"""

import xarray as xr

import bayescm

counts: xr.DataArray = bayescm.from_cells(tp=26, fn=0, fp=2, tn=6)
found: xr.Dataset = bayescm.summary(counts, ["recall", "f1"], ci_kind="hdi", ci_prob=0.9)
print(found.bayescm.sentence, bayescm.probability(counts, "recall > .8"))
ranked: xr.Dataset = bayescm.leaderboard({"a": counts, "b": [[5, 3], [2, 24]]})
draws: xr.DataTree = bayescm.posterior(counts, draws=100, random_seed=1)
bayescm.scorer(["f1", "mcc"], pos_label=1)
bayescm.CurveDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8], plot_chance_level=True)
bayescm.summary(counts, ci_kind="HDII")
