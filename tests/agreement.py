"""When draws of NUTS and of a closed form agree."""

import arviz as az
import numpy as np

OVER = ("chain", "draw")


def agree(nuts, exact):
    """Means, standard deviations and quantiles within five Monte Carlo errors."""
    ess = az.ess(nuts.to_dataset(name="v"), method="bulk")["v"]
    assert (abs(nuts.mean(OVER) - exact.mean(OVER)) < 5 * exact.std(OVER) / np.sqrt(ess)).all(), nuts.name
    assert (abs(nuts.std(OVER) / exact.std(OVER) - 1) < 5 / np.sqrt(2 * ess) + 0.02).all(), nuts.name
    for p in (0.05, 0.5, 0.95):
        # the share of NUTS draws below an exact quantile is p
        below = (nuts < exact.quantile(p, OVER)).mean(OVER)
        tail = az.ess(nuts.to_dataset(name="v"), method="quantile", prob=p)["v"]
        assert (abs(below - p) < 5 * np.sqrt(p * (1 - p) / tail) + 0.005).all(), (nuts.name, p)
