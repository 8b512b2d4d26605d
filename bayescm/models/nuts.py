"""PyMC samples a program, compiled once, and the fit is checked."""

import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import xarray as xr

from bayescm.data import validate
from bayescm.data.needs import need
from bayescm.data.schema import ACTUAL, CHAIN, DRAW, PREDICTED
from bayescm.distributions import dirichlet
from bayescm.priors.concentrations import Concentrations, PrevalenceLike, exchange

RUN_OPTIONS = ("tune", "cores", "progressbar")
"""Options of :func:`pymc.sample` that a compiled program takes anew at every fit; others compile anew."""
STEP_OPTIONS = ("target_accept", "max_treedepth", "adaptation", "save_warmup", "store_unconstrained")
"""Options of NUTS itself, which :func:`pymc.sample` takes in `nuts`."""
COMPILE_OPTIONS = (
    "backend", "gradient_backend", "initial_points", "jitter_rvs", "default_initialization_strategy", "freeze_model",
)  # fmt: skip
"""Options of nutpie's compiler."""
OPTIONS = (
    *RUN_OPTIONS, *STEP_OPTIONS, "nuts", "init", "n_init", "jitter_max_retries", "initvals", "step",
    "trace", "callback", "idata_kwargs", "nuts_sampler_kwargs", "compile_kwargs", "backend", "quiet", "blas_cores",
    "mp_ctx", "progressbar_theme", "discard_tuned_samples", "keep_warning_stat", "var_names",
)  # fmt: skip
"""Options of :func:`pymc.sample`, of its NUTS, and of nutpie."""
TARGET_ACCEPT = 0.95
"""Of every program unless another is asked for: at PyMC's .8 a posterior of a rate diverges where one of its cells is
zero (57 of 4,000 draws of classifier 7a), for its log odds fall slowly on one side and steeply on the other."""
_KEPT_PROGRAMS = 16
TURN = threading.RLock()
"""Held while a program has the data of one fit: threads take turns."""
_programs: dict[str, Any] = {}
_compiled: "WeakKeyDictionary[Any, dict[str, Any]]" = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Run:
    """How to draw: the sampler's name and its options matter only where one is needed."""

    chains: int
    draws: int
    seed: int
    sampler: str = "nuts"
    options: dict[str, Any] = field(default_factory=dict)


def reused(key: str | None, program: Any, owner: Any, kept: dict[str, Any] | None) -> Any:
    """Return the program that was compiled before under the same key, with the data of the one given.

    A program's data are :class:`pymc.Data`, so giving it other counts costs no compilation. Hold :data:`TURN` while it
    is in use. The `owner`, whose identity is part of the key, is kept alive with it. Without a key nothing is kept.
    """
    if key is None:
        return program
    programs = _programs if kept is None else kept
    before, _ = programs.setdefault(key, (program, owner))
    if before is not program:
        for data in program.data_vars:
            before[data.name].set_value(data.get_value())
    if len(programs) > _KEPT_PROGRAMS:
        del programs[next(iter(programs))]
    return before


def sample(program: Any, run: Run) -> tuple[xr.Dataset, xr.Dataset]:
    """Sample a program with NUTS; a second call with the same program compiles nothing.

    Parameters
    ----------
    program : pymc.Model
    run : Run
        Its `sampler` is "nuts" (PyMC's own), "nutpie", "numpyro" or "blackjax".

    Returns
    -------
    posterior : xarray.Dataset
        Every free and deterministic variable over ``(chain, draw, ...)``.
    sample_stats : xarray.Dataset
        What netCDF can hold of the sampler's statistics.
    """
    settings = {"draws": run.draws, "chains": run.chains} | run.options
    if "step" not in settings:
        own = {name: settings.pop(name) for name in STEP_OPTIONS if name in settings}
        more = settings.pop("nuts_sampler_kwargs", {}) | settings.pop("nuts", {})
        settings["nuts"] = {"target_accept": TARGET_ACCEPT} | own | more
    seed = run.seed % 2**32
    with TURN:
        if run.sampler == "nutpie":
            fitted = _nutpie(program, seed, settings)
        elif run.sampler == "nuts":
            fitted = _pymc(program, seed, settings)
        else:
            need(run.sampler, f"`sampler`={run.sampler!r}")
            fitted = _plain(program, seed, settings, run.sampler)
    return variables(fitted["posterior"]), statistics(fitted["sample_stats"])


def variables(drawn: xr.DataTree) -> xr.Dataset:
    """Return the variables that a program names, without the sampler's own coordinates; of the attrs how it went."""
    group: xr.Dataset = drawn.to_dataset().drop_attrs()
    told = {name: drawn.attrs[name] for name in ("sampling_time", "tuning_steps") if name in drawn.attrs}
    return group[[name for name in group.data_vars if not str(name).endswith("__")]].assign_attrs(told)


def statistics(drawn: xr.DataTree) -> xr.Dataset:
    """Return what netCDF can hold of a sampler's statistics."""
    stats = drawn.to_dataset().drop_attrs()
    return stats.drop_vars([name for name, v in stats.items() if v.dtype.kind == "O"])


def _plain(program: Any, seed: int, settings: dict[str, Any], sampler: str = "pymc") -> Any:
    import pymc as pm

    return pm.sample(
        model=program, random_seed=seed, nuts_sampler=sampler, compute_convergence_checks=False, **settings
    )


def _pymc(program: Any, seed: int, settings: dict[str, Any]) -> Any:
    """Sample with a step method made once per program and set of options, from jittered starting points."""
    import pymc as pm
    from pymc.backends.ndarray import NDArray
    from pymc.initial_point import make_initial_point_fn

    if not set(settings) <= {*RUN_OPTIONS, "draws", "chains", "nuts"} or set(settings["nuts"]) != {"target_accept"}:
        return _plain(program, seed, settings)

    class Records(NDArray):  # type: ignore[misc]
        """Of one chain. PyMC copies what it is given for each, shallowly; given none, it compiles one for each."""

        def __copy__(self) -> NDArray:
            return NDArray(model=self.model, fn=self.fn, var_shapes=self.var_shapes, var_dtypes=self.var_dtypes)

    kept = _compiled.setdefault(program, {})
    target = settings.pop("nuts")
    key = f"pymc {target}"
    seeds = [int(s) for s in np.random.SeedSequence(seed).generate_state(settings["chains"])]
    if key not in kept:
        point = make_initial_point_fn(model=program, jitter_rvs=set(program.free_RVs))
        _, step = pm.init_nuts(
            init="adapt_diag", chains=1, random_seed=[0], progressbar=False, quiet=True, model=program,
            compile_kwargs={"trust_input": True}, **target,  # a check of each is a tenth of a step
        )  # fmt: skip
        kept[key] = point, step, NDArray(model=program, test_point=point(0)).fn
    point, step, recorded = kept[key]
    starts = [point(s) for s in seeds]
    trace = Records(model=program, fn=recorded, test_point=starts[0])
    with quietly():
        return _plain(program, seed, settings | {"step": step, "initvals": starts, "trace": trace})


def _nutpie(program: Any, seed: int, settings: dict[str, Any]) -> Any:
    """Sample with nutpie, compiled once per program and options, unless its data are part of the code (jax)."""
    nutpie = need("nutpie", "`sampler`='nutpie'")
    nested = settings.pop("nuts", {}) | settings.pop("compile_kwargs", {})
    given = settings | nested
    compiling = {name: given.pop(name) for name in COMPILE_OPTIONS if name in given}
    if "max_treedepth" in given:
        given["maxdepth"] = given.pop("max_treedepth")
    given["progress_bar"] = bool(given.pop("progressbar", True))
    if compiling:
        return nutpie.sample(nutpie.compile_pymc_model(program, **compiling), seed=seed, **given)
    kept = _compiled.setdefault(program, {})
    if "nutpie" not in kept:
        kept["nutpie"] = nutpie.compile_pymc_model(program)
    data = {data.name: data.get_value() for data in program.data_vars}
    return nutpie.sample(kept["nutpie"].with_data(**data), seed=seed, **given)


@contextmanager
def quietly() -> Iterator[None]:
    """Keep PyMC from announcing what it samples, and PyTensor from saying that a distribution is written in NumPy."""
    logger = logging.getLogger("pymc")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Numba will use object mode")
            yield
    finally:
        logger.setLevel(level)


def exchange_draws(
    theta: xr.DataArray, class_totals: np.ndarray | None, prevalence: PrevalenceLike, rng: np.random.Generator
) -> xr.DataArray:
    """Give every draw's rows the exchanged class shares."""
    k, shape = theta.sizes[ACTUAL], (theta.sizes[CHAIN], theta.sizes[DRAW])
    shares = exchanged_shares(k, class_totals, prevalence, rng, shape[0] * shape[1]).T.reshape((*shape, k))
    return theta / theta.sum(PREDICTED) * xr.DataArray(shares, dims=(CHAIN, DRAW, ACTUAL))


def exchanged_shares(
    k: int, class_totals: np.ndarray | None, prevalence: PrevalenceLike, rng: np.random.Generator, n: int
) -> np.ndarray:
    """Return n draws of the exchanged class shares, (K, n)."""
    return dirichlet.draw_shares(
        exchange(Concentrations(np.ones((k, k)), np.ones(k)), prevalence, class_totals), rng, n
    )


def check_fit(posterior: xr.Dataset, stats: xr.Dataset, *, name: str = "NUTS", hint: str = "") -> None:
    """Warn in words about divergences, R-hat and effective sample size.

    Parameters
    ----------
    posterior, stats : xarray.Dataset
        Over ``(chain, draw, ...)``.
    name : str
        What drew.
    hint : str
        What else to say.

    Warns
    -----
    UserWarning
    """
    az = need("arviz", "A sampled posterior")
    chains, draws = posterior.sizes[CHAIN], posterior.sizes[DRAW]
    problems = []
    if "diverging" in stats and (diverged := int(stats["diverging"].sum())):
        problems.append(f"{diverged} of {stats['diverging'].size} draws diverged: try target_accept=0.99")
    with np.errstate(invalid="ignore"):  # what is known doesn't vary
        rhat = _extreme(az.rhat(posterior), np.max) if chains > 1 else 1.0
        ess = min(_extreme(az.ess(posterior, method=kind), np.min) for kind in ("bulk", "tail"))
    if rhat > 1.01:
        tuned = "tune=2000 and " if name == "NUTS" else ""
        problems.append(f"R-hat is {rhat:.3f} (above 1.01): the chains disagree; try {tuned}draws={2 * draws}")
    if ess < 100 * chains:
        problems.append(
            f"the smallest effective sample size is {ess:.0f} (below {100 * chains}): try draws={4 * draws}"
        )
    if problems:
        validate.warn(f"{name}: " + "; ".join(problems) + "." + hint)


def _extreme(values: xr.Dataset, of: Any) -> float:
    """Return the largest or smallest of all values but NaN, which constants have."""
    flat = np.concatenate([np.ravel(v.values) for v in values.data_vars.values()])
    return float(of(flat[np.isfinite(flat)])) if np.isfinite(flat).any() else float("nan")
