"""Studies together and gaps of groups: how often intervals hold, and how often equal groups seem apart.

``python docs/verification/hierarchies.py`` (eight minutes) writes ``hierarchies.csv``, ``hierarchies_gaps.csv``,
``hierarchies_covariates.csv`` and ``hierarchies_nuts.csv``; the names of some as arguments make those alone.
"""

import itertools
import sys
import time
from pathlib import Path

import arviz as az
import numpy as np
import pandas as pd
import xarray as xr
from scipy import special, stats

import bayescm
from bayescm import models

HERE = Path(__file__).parent
STUDIES = (3, 5, 10)
"""Studies of a review, of 30 to 200 items each."""
TRUE_GAPS = (0.0, 0.1, 0.2)
"""Of the recall of one of six groups, .8 in the others, 20 positives and 20 negatives each."""
EFFECTS = (0.0, 0.8, 1.6)
"""Differences of two groups of studies, in logits."""
REVIEWS, RUNS = 40, 30
HYPER = ("mean_recall", "mean_specificity", "sd_logit", "correlation")
WORLDS = (
    (3, 0.0, 0.5), (5, -0.9, 0.5), (5, 0.9, 0.5), (10, -0.5, 0.02), (30, -0.5, 0.5), (30, 0.5, 1.5),
    *itertools.product((3, 5, 10, 30), (-0.9, 0.0, 0.9), (0.02, 1.0)),
)  # fmt: skip
"""Studies, correlation and spread of logits of reviews for NUTS; medians .8 and .95 of 30 to 100 items."""
COMPARED = ((8, -0.5, 0.5, 0.0), (12, 0.0, 0.5, 1.6), (20, 0.5, 1.0, 0.8))
"""The same with a covariate: how far its two groups are apart in logits."""


def reviews(count: int) -> pd.DataFrame:
    """Return how often 95% intervals and regions hold the truth of reviews drawn from the prior, spread HalfNormal(1).

    With it the p-values of ranks of the truth among the draws, which are uniform if these are the posterior's.
    """
    rows = []
    story = models.load("hierarchical")
    for k in STUDIES:
        held, ranks = [], []
        for run in range(count):
            rng = np.random.default_rng([k, run])
            world = story.simulate(rng, k, rng.integers(30, 200, k))
            form = story.exact(world["counts"])
            drawn = form.draw(rng, 999)
            names = ("mean_recall", "mean_specificity", "new_recall", "new_specificity", "sd_logit", "correlation")
            one = {"trusted": not form.doubt}
            for name in names:
                low, high = np.quantile(drawn[name].values, [0.025, 0.975], axis=0)
                inside = (low <= world[name].values) & (world[name].values <= high)
                one[name] = float(np.mean(inside))
            for region, of in (("region", "mean"), ("prediction", "new")):
                pairs, truth = (
                    special.logit(np.stack([data[f"{of}_{rate}"].values for rate in ("recall", "specificity")], -1))
                    for data in (drawn, world)
                )
                inverse, centre = np.linalg.inv(np.cov(pairs.T)), pairs.mean(0)
                away = [np.einsum("...i,ij,...j", x - centre, inverse, x - centre) for x in (pairs, truth)]
                one[region] = float(away[1] <= np.quantile(away[0], 0.95))
            held.append(one)
            ranks.append(np.hstack([(drawn[name].values < world[name].values).mean(0) for name in HYPER]))
        p = stats.kstest(np.array(ranks), stats.uniform.cdf).pvalue.round(3)
        named = {f"p_{name}": p[i] for i, name in enumerate((*HYPER[:2], "sd_recall", "sd_specificity", HYPER[3]))}
        rows.append({"studies": k, "reviews": count, **pd.DataFrame(held).mean().round(3).to_dict(), **named})
    return pd.DataFrame(rows)


def review(
    rng: np.random.Generator, k: int, correlation: float, sd: float, effect: float = 0.0
) -> tuple[xr.DataArray, np.ndarray]:
    """Return the tables of a review and the median rates of its two groups of studies, apart by `effect` in logits."""
    median = special.logit([0.8, 0.95]) + np.outer([-0.5, 0.5], [effect, -effect])
    covariance = sd**2 * np.array([[1.0, correlation], [correlation, 1.0]])
    rates = special.expit(median[np.arange(k) % 2] + rng.multivariate_normal([0.0, 0.0], covariance, k))
    items = rng.integers(15, 50, (k, 2))
    tp, tn = rng.binomial(items, rates).T
    counts = bayescm.from_cells(tp=tp, fn=items[:, 0] - tp, fp=items[:, 1] - tn, tn=tn, dims="study")
    names = {"study": np.arange(k), "design": ("study", np.array(["a", "b"])[np.arange(k) % 2])}
    return counts.assign_coords(names), special.expit(median)


def against_nuts(count: int) -> pd.DataFrame:
    """Return posterior means by quadrature and by NUTS, how many Monte Carlo errors they are apart, and CPU seconds."""
    rows = []
    for number, (k, correlation, sd, effect) in enumerate([*((*one, None) for one in WORLDS), *COMPARED][:count]):
        counts, _ = review(np.random.default_rng(number), k, correlation, sd, effect or 0.0)
        compared = {"model": "regression", "covariates": "design", "groups": "study"}
        options = {"model": "hierarchical"} if effect is None else compared
        means, seconds = {}, {}
        for sampler in ("quadrature", "nuts"):
            start = time.process_time()
            tree = bayescm.posterior(
                counts, **options, sampler=sampler, chains=2, draws=1000, random_seed=number,
                **({"cores": 1, "progressbar": False} if sampler == "nuts" else {}),
            )  # fmt: skip
            seconds[sampler] = time.process_time() - start
            names = list(HYPER) if effect is None else ["typical", "coefficient", "study_sd", "study_correlation"]
            table = az.summary(tree["posterior"].to_dataset()[names], round_to="none")
            means[sampler] = table.drop(index=["typical[0, 1]", "typical[1, 0]"], errors="ignore")
        both = means["quadrature"], means["nuts"]
        for name in both[0].index:
            mean, error = (
                np.array([table.loc[name, column] for table in both], float) for column in ("mean", "mcse_mean")
            )
            rows.append({
                "studies": k, "correlation": correlation, "sd": sd, "effect": effect,
                "zero_cells": int((counts == 0).sum()), "parameter": name, "quadrature": round(mean[0], 4),
                "nuts": round(mean[1], 4), "errors_apart": round((mean[0] - mean[1]) / np.hypot(*error), 2),
                "cpu_quadrature": round(seconds["quadrature"], 1), "cpu_nuts": round(seconds["nuts"], 1),
            })  # fmt: skip
    return pd.DataFrame(rows)


def covariates(count: int) -> pd.DataFrame:
    """Return how often the difference of two groups of six studies is held, and how often it is told from none.

    By the scale of the coefficients' prior: that of the model, and that of synthesis.
    """
    rows = []
    for effect, scale in itertools.product(EFFECTS, (0.5, 1.0)):
        held, told = [], []
        for run in range(count):
            counts, rates = review(np.random.default_rng([int(10 * effect), run]), 12, -0.3, 0.5, effect)
            found = bayescm.synthesis(
                counts, ["recall", "specificity"], covariates="design", sampler="quadrature", draws=2000,
                random_seed=run, scale=scale,
            )  # fmt: skip
            low, high = found["summary"]["difference_interval"].values[1, 0].T
            held.append((low <= rates[1] - rates[0]) & (rates[1] - rates[0] <= high))
            told.append((low > 0) | (high < 0))
        parts = np.hstack([np.mean(held, 0), np.mean(told, 0)]).round(3)
        names = ("held_recall", "held_specificity", "told_recall", "told_specificity")
        rows.append({"effect": effect, "scale": scale, "reviews": count, **dict(zip(names, parts, strict=True))})
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
    if quick := "--quick" in sys.argv:
        STUDIES, TRUE_GAPS, EFFECTS = STUDIES[:1], TRUE_GAPS[1:], EFFECTS[2:]
    made = {
        "hierarchies": (reviews, 1, REVIEWS), "hierarchies_gaps": (gaps, 1, RUNS),
        "hierarchies_covariates": (covariates, 1, REVIEWS),
        "hierarchies_nuts": (against_nuts, 0, len(WORLDS) + len(COMPARED)),
    }  # fmt: skip
    for name in [name for name in sys.argv[1:] if name in made] or list(made)[: 3 if quick else 4]:
        make, few, many = made[name]
        table = make(few if quick else many)
        print(table.to_string(index=False))
        if not quick:
            table.to_csv(HERE / f"{name}.csv", index=False)
