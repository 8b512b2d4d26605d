"""Studies together and gaps of groups: how often intervals hold, and how often equal groups seem apart.

``python docs/verification/hierarchies.py`` (a minute or two) writes ``hierarchies.csv`` and ``hierarchies_gaps.csv``.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import bayescm
from bayescm import models

HERE = Path(__file__).parent
STUDIES = (3, 5, 10)
"""Studies of a review, of 30 to 200 items each."""
TRUE_GAPS = (0.0, 0.1, 0.2)
"""Of the recall of one of six groups, .8 in the others, 20 positives and 20 negatives each."""
REVIEWS, RUNS = 40, 30


def reviews(count: int) -> pd.DataFrame:
    """Return how often 95% intervals hold the truth of reviews drawn from the prior, spread HalfNormal(1)."""
    rows = []
    story = models.load("hierarchical")
    for k in STUDIES:
        held = []
        for run in range(count):
            rng = np.random.default_rng([k, run])
            world = story.simulate(rng, k, rng.integers(30, 200, k))
            form = story.exact(world["counts"])
            drawn = form.draw(rng, 1000)
            names = ("mean_recall", "mean_specificity", "new_recall", "new_specificity", "sd_logit", "correlation")
            one = {"trusted": not form.doubt}
            for name in names:
                low, high = np.quantile(drawn[name].values, [0.025, 0.975], axis=0)
                inside = (low <= world[name].values) & (world[name].values <= high)
                one[name] = float(np.mean(inside))
            held.append(one)
        rows.append({"studies": k, "reviews": count, **pd.DataFrame(held).mean().round(3).to_dict()})
    return pd.DataFrame(rows)


def gaps(count: int) -> pd.DataFrame:
    """Return how often a gap above 5 points of recall is claimed, and how often the interval holds the true gap."""
    rows = []
    for gap in TRUE_GAPS:
        recall = np.array([0.8 - gap, *[0.8] * 5])
        for pooled in (False, True):
            claimed, held = [], []
            for run in range(count):
                rng = np.random.default_rng([int(100 * gap), run])
                tp, tn = rng.binomial(20, recall), rng.binomial(20, 0.8, 6)
                counts = bayescm.from_cells(tp=tp, fn=20 - tp, fp=20 - tn, tn=tn, dims="group")
                found = bayescm.gaps(counts, metrics="recall", pooled=pooled, draws=2000, random_seed=run)
                low, high = found["interval"].values[0]
                claimed.append(low > 0.05)
                held.append(low <= gap <= high)
            rows.append({
                "true_gap": gap, "pooled": pooled, "runs": count, "claimed": round(float(np.mean(claimed)), 3),
                "held": round(float(np.mean(held)), 3),
            })  # fmt: skip
    return pd.DataFrame(rows)


if __name__ == "__main__":
    quick = "--quick" in sys.argv
    found = {"hierarchies": reviews(3 if quick else REVIEWS), "hierarchies_gaps": gaps(2 if quick else RUNS)}
    for name, table in found.items():
        print(table.to_string(index=False))
        if not quick:
            table.to_csv(HERE / f"{name}.csv", index=False)
