"""When draws of NUTS are right: against a closed form, against a truth, and as to divergences.

NUTS gives other draws on another machine: they depend on compiled code. So every bound here is one that another stream
passes, with the probability that stands beside it.
"""

import arviz as az
import numpy as np
import pytensor.tensor as pt
from scipy import stats

from bayescm.models import nuts

OVER = ("chain", "draw")
ALARM = 1e-6
"""Probability of a false alarm of one comparison."""
Z = float(stats.norm.isf(ALARM / 2))
DIVERGENT = 2e-3
"""Share of draws that may diverge: over twice that of the worst case of `divergence_cases.py`."""


def draw(program, seed, *, chains=2, draws=500, tune=500, **options):
    """Return posterior and statistics of a program, sampled as :func:`bayescm.posterior` does."""
    options |= {"tune": tune, "cores": 1, "progressbar": False}
    return nuts.sample(program, nuts.Run(chains, draws, seed, options=options))


def hardly_diverges(stats_of_draws):
    """Assert that no more draws diverged than a share of :data:`DIVERGENT` gives with probability 1e-6."""
    diverging = stats_of_draws["diverging"]
    assert int(diverging.sum()) <= stats.binom.isf(ALARM, diverging.size, DIVERGENT), int(diverging.sum())


def recovers(draws, truth):
    """Assert that a truth lies within five posterior standard deviations of the mean (6e-7), plus Monte Carlo error."""
    ess = az.ess(draws.to_dataset(name="v"))["v"]
    sd = draws.std(OVER)
    assert (abs(draws.mean(OVER) - truth) < Z * sd * (1 + 1 / np.sqrt(ess))).all(), draws.name


def has_moments(draws, mean, sd):
    """Assert mean and standard deviation within :data:`Z` Monte Carlo errors (1e-6 each; kurtosis by the draws)."""
    data = draws.to_dataset(name="v")
    ess, ess_squares = az.ess(data)["v"], az.ess((data - data.mean(OVER)) ** 2)["v"]
    fourth = ((draws - draws.mean(OVER)) ** 4).mean(OVER) / draws.std(OVER) ** 4
    assert (abs(draws.mean(OVER) - mean) < Z * sd / np.sqrt(ess)).all(), draws.name
    assert (abs(draws.std(OVER) / sd - 1) < Z * np.sqrt(np.maximum(fourth - 1, 1) / 4 / ess_squares)).all(), draws.name


def has_mean(draws, mean, error=0.0):
    """Assert a mean within :data:`Z` Monte Carlo errors (1e-6), and an error of its own."""
    ess = az.ess(draws.to_dataset(name="v"))["v"]
    assert (abs(draws.mean(OVER) - mean) < Z * draws.std(OVER) / np.sqrt(ess) + error).all(), draws.name


def has_quantiles(draws, quantile, shares=(0.05, 0.5, 0.95)):
    """Assert that shares of draws lie below the quantiles that `quantile` gives, within :data:`Z` errors."""
    for p in shares:
        below = (draws < quantile(p)).mean(OVER)
        ess = az.ess(draws.to_dataset(name="v"), method="quantile", prob=p)["v"]
        assert (abs(below - p) < Z * np.sqrt(p * (1 - p) / ess) + 0.005).all(), (draws.name, p)


def agree(nuts, exact):
    """Assert that means, standard deviations and quantiles are those of many draws of a closed form."""
    has_moments(nuts, exact.mean(OVER), exact.std(OVER))
    has_quantiles(nuts, lambda p: exact.quantile(p, OVER))


def log_density(program, **which):
    """Return the log density of a program (no Jacobian) as a function of values of its free variables."""
    function = program.compile_logp(jacobian=False, **which)

    def at(**values):
        point = program.initial_point()
        for name, value in values.items():
            variable, change = program[name], program.rvs_to_transforms[program[name]]
            inside = value if change is None else change.forward(pt.as_tensor(value), *variable.owner.inputs).eval()
            point[program.rvs_to_values[variable].name] = np.asarray(inside, float)
        return function(point)

    return at


def proportional(program, log_closed_form, points):
    """Assert that a program's density, prior times likelihood, is a closed form's but for a constant."""
    at = log_density(program)
    constant = [at(**point) - log_closed_form(**point) for point in points]
    np.testing.assert_allclose(constant, constant[0], rtol=0, atol=1e-6)
