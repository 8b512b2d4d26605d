"""Simulation-based calibration: truths from a model's prior, located in the posteriors of their data."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm import distributions
from bayescm.data import validate
from bayescm.data.schema import ACTUAL, CHAIN, DRAW, LABEL, MATRIX, TOTALS, attributes, tree
from bayescm.distributions import dirichlet
from bayescm.metrics import Metric, MetricsLike, compute, evaluate, per_label, resolve
from bayescm.models import data_of, fit, load, nuts
from bayescm.models.closed_form import SAMPLE, ClosedForm
from bayescm.priors.concentrations import Concentrations

Array = NDArray[np.float64]

LEAST_DRAWS = 100
THIN = 5
"""Every fifth draw of a chain is ranked, so that its correlation doesn't show."""
OF_THETA = ("accuracy", "matthews_correlation")
"""Metrics looked at by default."""


class _Truth(NamedTuple):
    """One simulated world: its data, its parameters, and the metrics of its theta."""

    data: xr.DataArray
    values: dict[str, Array]


def sbc(
    model: Any,
    variables: MetricsLike | Sequence[str] = None,
    *,
    simulations: int | None = None,
    method: str = "auto",
    prior: Any = None,
    fit_prior: Any = None,
    draws: int | None = None,
    tune: int = 500,
    random_seed: int | np.random.Generator | None = None,
    **options: Any,
) -> xr.DataTree:
    """Simulate truths and data from a model and locate each truth in its posterior.

    Parameters
    ----------
    model : str or model
        A name of :func:`bayescm.models.names`, or an object with the functions ``simulate``, ``model`` and, if there is
        a closed form, ``exact``.
    variables : str or sequence of str, optional
        Parameters that ``simulate`` returns, and metrics of its ``theta``. By default all parameters, accuracy, MCC.
    simulations : int, optional
        Number of truths: 500 where there is a closed form, else 200.
    method : {"auto", "exact", "nuts"}
        As in :func:`bayescm.inference.choose`.
    prior : optional
        Of the simulation and the fit; by default the one of ``simulate``. Proper.
    fit_prior : optional
        Of the fit, if it is to differ (to see that a wrong one is caught).
    draws : int, optional
        Posterior draws where there is no exact distribution: 999 independent ones, or 500 of one chain, of which every
        fifth is ranked.
    tune : int
        Tuning steps of the chain.
    random_seed : int, numpy.random.Generator or None
    **options
        Of the model's ``simulate`` (``n=50``) and ``model`` (``pooling="complete"``).

    Returns
    -------
    xarray.DataTree
        Group ``prior_sbc``: PIT values over ``(chain=1, draw=simulations)``, uniform if simulation and posterior belong
        together; ``az.plot_ecdf_pit`` reads it. By the exact distribution where there is one, else randomised ranks.
        The attr ``divergences`` counts those of all chains.

    Raises
    ------
    ValueError
        For a name that no model has.

    References
    ----------
    Talts et al. 2018; Saeilynoja, Buerkner and Vehtari 2022; Modrak et al. 2023.

    Examples
    --------
    >>> import bayescm
    >>> dt = bayescm.calibration.sbc("three_binomial", ["recall", "mcc"], simulations=200, n=50, random_seed=1)
    >>> bool(abs(dt.prior_sbc.recall.mean() - 0.5) < 0.06)
    True
    """
    validate.choice("method", method, fit.METHODS)
    model = fit.name_of(model)
    module: Any = load(model) if isinstance(model, str) else model
    if not (hasattr(module, "simulate") and hasattr(module, "model")):
        raise TypeError(f"`model` must be a name, or an object with the functions simulate and model; got {model!r}.")
    name = model if isinstance(model, str) else getattr(model, "__name__", "your own")
    seed = validate.seed(random_seed)
    rng = np.random.default_rng(seed)
    of_simulation = _options(module.simulate, options, prior)
    of_fit = _options(module.model, options, of_simulation.get("prior") if fit_prior is None else fit_prior)
    if unknown := set(options) - set(of_simulation) - set(of_fit):
        raise TypeError(f"`{sorted(unknown)[0]}` is an option of neither `simulate` nor `model` of this model.")
    if of_simulation.get("prior", "none asked") is None:
        raise ValueError("`prior` must be given: without it this model simulates from another prior than it fits by.")
    first = module.simulate(np.random.default_rng(seed), **of_simulation)
    form: Any = module.exact(data_of(first), **of_fit) if hasattr(module, "exact") and method != "nuts" else None
    if method == "exact" and form is None:
        raise ValueError("`method`='exact' can't answer: this model has no closed form with these options.")
    default = (200, 500) if form is None else (500, 999)
    count = validate.positive_integer("simulations", default[0] if simulations is None else simulations)
    draws = validate.positive_integer("draws", default[1] if draws is None else draws)
    if draws < LEAST_DRAWS:
        raise ValueError(f"`draws` must be at least {LEAST_DRAWS}, for ranks to tell anything; got {draws}.")
    averaged = form.averaged if isinstance(form, ClosedForm) else None
    names, metrics = _wanted(variables, first)
    cases = _truths([module.simulate(rng, **of_simulation) for _ in range(count)], names, metrics, averaged)
    if any(not np.isfinite(v).all() for simulated in cases[:1] for v in simulated.values.values()):
        raise ValueError("`prior` must be proper: a truth drawn from it isn't a number.")
    divergences = 0
    if form is None:
        ask = fit.BoundModel(name, module, None, None, of_fit)
        values, divergences = _by_nuts(ask, cases, metrics, draws, tune, seed)
    else:
        forms = [module.exact(w.data, **of_fit) for w in cases]
        if isinstance(form, Concentrations):
            values = _by_concentrations(cases, forms, metrics, draws, seed, rng)
        else:
            values = [_by_closed_form(f, w, metrics, draws, rng) for f, w in zip(forms, cases, strict=True)]
    dims = {v: first[v].dims for v in names} | {m.name: _metric_dims(m, first, averaged) for m in metrics}
    located = {v: ((CHAIN, DRAW, *dims[v]), np.stack([one[v] for one in values])[None]) for v in dims}
    group = xr.Dataset(located, coords={CHAIN: [0], DRAW: np.arange(count)})
    group = group.assign_coords({dim: c for dim, c in first.coords.items() if dim in group.dims})
    if LABEL in group.dims and LABEL not in group.coords:
        group = group.assign_coords({LABEL: first["counts"][ACTUAL].values})
    attrs = attributes(
        model=name, method="nuts" if form is None else getattr(form, "method", "exact"), simulations=count,
        random_seed=seed, divergences=divergences, **(of_fit | of_simulation),
    )  # fmt: skip
    return tree({"prior_sbc": group}, attrs)


def _options(function: Any, options: dict[str, Any], prior: Any) -> dict[str, Any]:
    """Return the options that a function takes, with its defaults."""
    taken = {name: options.get(name, default) for name, default in fit.defaults_of(function).items()}
    return taken | ({"prior": prior} if prior is not None and "prior" in taken else {})


def _wanted(variables: Any, simulated: xr.Dataset) -> tuple[list[str], list[Metric]]:
    """Split the variables into parameters of the world and metrics of its theta."""
    given = [str(name) for name in simulated.data_vars if name not in ("counts", "scores", "theta", "theta_cell")]
    k = simulated["theta"].sizes[ACTUAL] if "theta" in simulated else 0
    if variables is None:
        of_theta = [name for name in OF_THETA if name not in given] if k else []
        return given, resolve(of_theta, k) if of_theta else []
    single = isinstance(variables, str) or callable(variables)
    listed: list[Any] = [variables] if single else validate.listed("variables", variables)
    named = [v for v in listed if isinstance(v, str) and v in given]
    rest = [v for v in listed if v not in named]
    if rest and not k:
        raise ValueError(f"`variables` has {rest[0]!r}, which the model doesn't simulate; it has {', '.join(given)}.")
    return named, resolve(rest, k) if rest else []


def _theta(simulated: xr.Dataset) -> xr.DataArray:
    theta = simulated["theta"].drop_vars(TOTALS, errors="ignore")  # of an audit
    k = theta.sizes[ACTUAL]
    return theta.assign_coords({dim: np.arange(k) for dim in MATRIX if dim not in theta.coords})


def _truths(worlds: list[xr.Dataset], names: list[str], metrics: list[Metric], averaged: str | None) -> list[_Truth]:
    """Return all simulated worlds, whose metrics are measured at once."""
    every: dict[str, Array] = {name: np.stack([one[name].values for one in worlds]).astype(float) for name in names}
    if metrics:
        first = _theta(worlds[0])
        thetas = np.stack([one["theta"].transpose(*first.dims).values for one in worlds])
        theta = xr.DataArray(thetas, dims=(DRAW, *first.dims), coords=first.coords)
        every |= {str(name): v.values for name, v in _measure(theta, metrics, averaged).items()}
    return [_Truth(data_of(one), {name: v[i] for name, v in every.items()}) for i, one in enumerate(worlds)]


def _measure(theta: xr.DataArray, metrics: list[Metric], averaged: str | None) -> xr.Dataset:
    measured = evaluate(theta, metrics)
    return measured if averaged is None else measured.mean(averaged)


def _metric_dims(metric: Metric, simulated: xr.Dataset, averaged: str | None) -> tuple[Any, ...]:
    theta = simulated["theta"]
    rest = tuple(dim for dim in theta.dims if dim not in (*MATRIX, averaged))
    return (*rest, *((LABEL,) if per_label(metric, theta.sizes[ACTUAL]) else ()))


def _rank(draws: Array, truth: Array, rng: np.random.Generator) -> Array:
    """Return the randomised rank of a truth among draws (first axis), as a share."""
    below, ties = (draws < truth).sum(0), (draws == truth).sum(0)
    return np.asarray((below + rng.uniform(size=np.shape(truth)) * (ties + 1)) / (len(draws) + 1))


def _by_concentrations(
    cases: list[_Truth],
    forms: list[Concentrations],
    metrics: list[Metric],
    draws: int,
    seed: int,
    rng: np.random.Generator,
) -> list[dict[str, Array]]:
    """Locate all truths at once where every posterior is concentrations of one matrix."""
    rows, shares = (np.stack([getattr(form, part) for form in forms]) for part in ("rows", "shares"))
    posterior = Concentrations(rows, shares, one_dirichlet=forms[0].one_dirichlet)
    drawn = dirichlet.draw_batch(posterior, np.arange(len(cases)), 1, draws, seed, 9)[:, 0]
    located = {}
    for metric in metrics:
        truth = np.stack([w.values[metric.name] for w in cases])
        dist = distributions.exact_distribution(metric, posterior)
        ranked = (
            dist.cdf(truth) if dist is not None else _rank(np.moveaxis(compute([metric], drawn)[0], 1, 0), truth, rng)
        )
        located[metric.name] = ranked
    return [{name: values[i] for name, values in located.items()} for i in range(len(cases))]


def _by_closed_form(
    form: ClosedForm, simulated: _Truth, metrics: list[Metric], draws: int, rng: np.random.Generator
) -> dict[str, Array]:
    """Locate one truth by the exact distributions of its posterior, and by draws where there is none."""
    located: dict[str, Array] = {}
    for name, truth in simulated.values.items():
        if name in form.distributions:
            located[name] = np.asarray(form.distributions[name].cdf(truth))
    if form.cells is not None and form.averaged is None:
        found = {metric.name: distributions.exact_distribution(metric, form.cells) for metric in metrics}
        located |= {name: dist.cdf(simulated.values[name]) for name, dist in found.items() if dist is not None}
    rest = [name for name in simulated.values if name not in located]
    if rest:
        drawn = form.draw(rng, draws)
        if metrics and "theta" in drawn:
            drawn = drawn.assign(_measure(drawn["theta"], metrics, form.averaged))
        located |= {
            name: _rank(drawn[name].transpose(SAMPLE, ...).values, simulated.values[name], rng) for name in rest
        }
    return located


def _by_nuts(
    ask: fit.BoundModel, cases: list[_Truth], metrics: list[Metric], draws: int, tune: int, seed: int
) -> tuple[list[dict[str, Array]], int]:
    """Locate every truth among draws of one chain of a program compiled once."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    options = {"tune": tune, "cores": 1, "progressbar": False}
    located, divergences = [], 0
    kept: dict[str, Any] = {}
    for i, simulated in enumerate(cases):
        with ask._replace(data=simulated.data).compiled(kept) as program:
            posterior, stats = nuts.sample(program, nuts.Run(1, draws, seed + i, options=options))
        divergences += int(stats["diverging"].sum())
        thinned = posterior.isel({CHAIN: 0, DRAW: slice(THIN - 1, None, THIN)})
        if metrics:
            thinned = thinned.assign(_measure(thinned["theta"].transpose(DRAW, ..., *MATRIX), metrics, None))
        drawn = {name: thinned[name].transpose(DRAW, ...).values for name in simulated.values}
        located.append({name: _rank(drawn[name], truth, rng) for name, truth in simulated.values.items()})
    return located, divergences
