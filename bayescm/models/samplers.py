"""Who draws from a program's posterior where no closed form does: NUTS, sequential Monte Carlo, or an approximation."""

import time
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bayescm.data import validate
from bayescm.data.needs import need
from bayescm.data.schema import CHAIN, in_chains
from bayescm.distributions.importance import pareto_k
from bayescm.models import nuts

PARETO_K = "pareto_k"
EVIDENCE = "log_marginal_likelihood"
TRUSTED = 0.7
"""Largest Pareto k at which an approximation can stand in for the posterior (Yao, Vehtari, Simpson and Gelman 2018)."""
_WEIGHED = 1000  # draws of an approximation that are held against the posterior's density
_FITTING = ("n", "start", "start_sigma", "obj_optimizer", "obj_n_mc", "callbacks", "inf_kwargs", "compile_kwargs",
            "progressbar")  # fmt: skip
_SEQUENTIAL = ("kernel", "start", "cores", "threshold", "correlation_threshold", "progressbar", "idata_kwargs",
               "compile_kwargs", "backend", "mp_ctx", "blas_cores")  # fmt: skip
_PATHS = ("num_paths", "num_draws_per_path", "maxcor", "maxiter", "ftol", "gtol", "maxls", "num_elbo_draws", "jitter",
          "epsilon", "importance_sampling", "progressbar", "concurrent", "inference_backend", "pathfinder_kwargs",
          "compile_kwargs", "initvals")  # fmt: skip


class Sampler(NamedTuple):
    """What is said of a sampler.

    Attributes
    ----------
    method : str
        Of the answer.
    library : str
        The package that draws.
    does : str
        In words, before the name of a model.
    options : tuple of str
        That it takes.
    """

    method: str
    library: str
    does: str
    options: tuple[str, ...]


SAMPLERS = {
    "nuts": Sampler("nuts", "pymc", "PyMC samples", nuts.OPTIONS),
    "nutpie": Sampler("nuts", "nutpie", "nutpie samples", nuts.OPTIONS + nuts.COMPILE_OPTIONS),
    "numpyro": Sampler("nuts", "numpyro", "NumPyro samples", nuts.OPTIONS),
    "blackjax": Sampler("nuts", "blackjax", "BlackJAX samples", nuts.OPTIONS),
    "smc": Sampler("smc", "pymc", "PyMC's sequential Monte Carlo samples", _SEQUENTIAL),
    "pathfinder": Sampler("pathfinder", "pymc_extras", "Pathfinder approximates", _PATHS),
    "advi": Sampler("advi", "pymc", "ADVI (independent normal curves) approximates", _FITTING),
    "fullrank_advi": Sampler("advi", "pymc", "ADVI (one normal distribution) approximates", _FITTING),
}
DIRECT = ("exact", "quadrature")
"""Ways without a sampler."""
CHOICES = ("auto", *DIRECT, *SAMPLERS)


def draw(program: Any, run: nuts.Run, *, hint: str = "") -> dict[str, xr.Dataset]:
    """Draw from a program's posterior, and warn of what is wrong with the draws.

    Parameters
    ----------
    program : pymc.Model
    run : bayescm.models.nuts.Run
    hint : str
        What a warning says besides.

    Returns
    -------
    dict of str to xarray.Dataset
        ``posterior``, with every free and deterministic variable over ``(chain, draw, ...)`` and the attrs
        ``sampling_time`` (seconds), ``tuning_steps`` of NUTS and ``pareto_k`` of an approximation; ``sample_stats`` of
        what isn't one.
    """
    began, method = time.perf_counter(), SAMPLERS[run.sampler].method
    if method in ("nuts", "smc"):
        posterior, stats = nuts.sample(program, run) if method == "nuts" else _sequential(program, run)
        free = posterior[[variable.name for variable in program.free_RVs]]  # of which all others are functions
        nuts.check_fit(free, stats, name=method.upper(), hint=hint)
        groups = {"posterior": posterior, "sample_stats": stats}
    else:
        groups = {"posterior": (_pathfinder if method == "pathfinder" else _variational)(program, run)}
        _warn_of_approximation(run.sampler, groups["posterior"].attrs.get(PARETO_K), hint)
    known = {"sampling_time": time.perf_counter() - began} | groups["posterior"].attrs
    return {name: group.assign_attrs(known) for name, group in groups.items()}


def _sequential(program: Any, run: nuts.Run) -> tuple[xr.Dataset, xr.Dataset]:
    """Sample by sequential Monte Carlo, whose statistic is each chain's estimate of the log marginal likelihood."""
    import pymc as pm

    with nuts.TURN, nuts.quietly():
        drawn = pm.sample_smc(
            run.draws, chains=run.chains, model=program, random_seed=run.seed % 2**32,
            compute_convergence_checks=False, **run.options,
        )  # fmt: skip
    stages = drawn["sample_stats"][EVIDENCE].values
    last = [np.asarray(chain, float)[-1] for chain in (stages if run.chains > 1 else [stages])]
    stats = xr.Dataset({EVIDENCE: (CHAIN, last)}, coords={CHAIN: np.arange(run.chains)})
    return nuts.variables(drawn["posterior"]), stats


def _variational(program: Any, run: nuts.Run) -> xr.Dataset:
    """Draw from a normal approximation in the sampler's coordinates, and hold it against the posterior."""
    import pymc as pm

    seed, options = run.seed % 2**32, {"obj_optimizer": pm.adam(learning_rate=0.01), "n": 20_000} | run.options
    with nuts.TURN, nuts.quietly():
        fitted = pm.fit(method=run.sampler, model=program, random_seed=seed, **options)
        drawn = fitted.sample(run.chains * run.draws, random_seed=seed)
        k = _pareto_k(program, fitted, seed)
    return in_chains(nuts.variables(drawn["posterior"]), run.chains).assign_attrs({PARETO_K: k})


def _pareto_k(program: Any, fitted: Any, seed: int) -> float:
    """Return the Pareto k of the weights that would turn a normal approximation's draws into the posterior's."""
    from scipy import stats

    normal = stats.multivariate_normal(fitted.mean.eval(), fitted.cov.eval(), allow_singular=True, seed=seed)
    places, log_posterior = fitted.groups[0].ordering.values(), program.compile_logp(mode="FAST_COMPILE")
    weights = np.empty(_WEIGHED)
    for i, flat in enumerate(normal.rvs(_WEIGHED).reshape(_WEIGHED, -1)):
        point = {name: flat[place].reshape(shape) for name, place, shape, _ in places}
        weights[i] = log_posterior(point) - normal.logpdf(flat)
    return pareto_k(np.exp(weights - weights.max()))


def _pathfinder(program: Any, run: nuts.Run) -> xr.Dataset:
    """Draw by Pathfinder of pymc-extras: normal approximations along paths to the mode, resampled by their weights."""
    extras = need("pymc_extras", "`sampler`='pathfinder'")
    n = run.chains * run.draws
    options = {"num_draws": n, "num_draws_per_path": max(n, 1000)} | run.options
    with nuts.TURN, nuts.quietly():
        drawn = extras.fit(method="pathfinder", model=program, random_seed=run.seed % 2**32, **options)
    k = drawn["pathfinder"].get("pareto_k") if "pathfinder" in drawn.children else None
    posterior = in_chains(nuts.variables(drawn["posterior"]), run.chains)
    return posterior if k is None else posterior.assign_attrs({PARETO_K: float(k.max())})


def _warn_of_approximation(sampler: str, k: float | None, hint: str) -> None:
    """Say that draws aren't the posterior's, and how far they may be from it."""
    good = k is not None and k < TRUSTED
    far = f"below {TRUSTED}, so that it is close" if good else f"above {TRUSTED}: it is no stand-in"
    validate.warn(
        f"{sampler} approximates the posterior by normal distributions in the sampler's coordinates"
        f"{'' if k is None else f'; Pareto k is {k:.2f}, {far}'}. "
        f"For the posterior itself take sampler='nuts'.{hint}"
    )
