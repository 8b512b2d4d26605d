"""Elicitation: intervals become Betas."""

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from bayescm.data import validate
from bayescm.priors.concentrations import LEAST

Array = NDArray[np.float64]


def beta_from_interval(lower: float, upper: float, *, ci_prob: float = 0.9) -> tuple[float, float]:
    """Turn "between `lower` and `upper` with probability `ci_prob`" into the two numbers of a Beta.

    Parameters
    ----------
    lower, upper : float in (0, 1)
        Ends of the interval.
    ci_prob : float in (0, 1)
        Probability inside; the rest is halved between the two sides.

    Returns
    -------
    tuple of float
        (a, b) of Beta(a, b), that of the event first: for ``prior={"recall": (a, b), ...}`` under
        ``model="three_binomial"``, and for ``prevalence=(a, b)``.

    Raises
    ------
    ValueError
        For a lower end that isn't below the upper one.

    Notes
    -----
    Solves I_lower(a, b) = 1 - I_upper(a, b) = (1 - ci_prob)/2 for log a and log b. The interval says all: a wide one
    with a high `ci_prob` gives a U-shaped Beta (a, b below 1), so look at it. For the flattest Beta with `ci_prob`
    inside but tails that may differ take ``preliz.maxent``, whose answer can be given as prior, too.

    Examples
    --------
    >>> import bayescm
    >>> a, b = bayescm.priors.beta_from_interval(0.70, 0.95, ci_prob=0.9)
    >>> round(a, 3), round(b, 3)
    (17.758, 3.287)
    """
    lower, upper = validate.ends(lower, upper)
    ci_prob = validate.number("ci_prob", ci_prob, 0, 1)
    tail = (1 - ci_prob) / 2

    def residual(logs: Array) -> Array:
        a, b = np.exp(logs)
        tails = np.log([special.betainc(a, b, lower), special.betaincc(a, b, upper)])
        away: Array = np.maximum(np.nan_to_num(tails, nan=-1e3), -1e3) - np.log(tail)
        return away

    mean, sd = (lower + upper) / 2, (upper - lower) / (-2 * special.ndtri(tail))
    with np.errstate(all="ignore"):  # what no float can hold is refused below
        total = max(mean * (1 - mean) / sd**2 - 1, 0.5)
        logs = optimize.root(residual, np.log([mean * total, (1 - mean) * total]), tol=1e-13).x
        a, b = (float(number) for number in np.exp(logs))
        solved = np.abs(residual(logs)).max() < 1e-9
    if not (solved and min(a, b) > LEAST and max(a, b) < validate.MAX_COUNT):
        raise ValueError(
            f"`lower` {lower:g} and `upper` {upper:g} with `ci_prob` {ci_prob:g} are no Beta that numbers can hold; "
            "take an interval that is less narrow and not so near to 0 or 1."
        )
    return a, b
