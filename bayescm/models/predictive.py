"""The further groups of a Bayesian workflow: predictive draws, log likelihood, log prior.

Cell models of one matrix need no program for them: an item in a cell of probability p has log likelihood log p. Other
models take them from their PyMC program.
"""

from typing import Any

import numpy as np
import xarray as xr
from scipy import special

from bayescm.data.schema import CHAIN, DRAW
from bayescm.models import nuts
from bayescm.priors.concentrations import Concentrations

MAX_ITEMS = 100_000
MAX_VALUES = 2 * 10**8
ITEM = "item"


def log_likelihood(drawn: xr.Dataset | xr.DataTree, program: Any) -> xr.Dataset:
    """Return the log likelihood of every item, which :func:`arviz.loo` and :func:`arviz.psense_summary` read.

    Parameters
    ----------
    drawn : xarray.DataTree or xarray.Dataset
        Draws of the program's free variables, of :func:`bayescm.posterior` or :func:`pymc.sample`.
    program : pymc.Model

    Returns
    -------
    xarray.Dataset
        ``counts(chain, draw, item)``: the log probability of the item's cell, named by the coordinate ``cell``, in its
        matrix (fold, system). Of a program that observes something else than multinomial counts it is what
        :func:`pymc.compute_log_likelihood` returns: a value per cluster, score or fold.

    Notes
    -----
    An item is what is independent given the parameters, so models of one matrix and of several are compared by it.
    PyMC has one value for each matrix: the sum over its items, plus the multinomial coefficient, which is the same for
    all draws and models.

    Examples
    --------
    >>> import bayescm
    >>> from bayescm.models.predictive import log_likelihood
    >>> drawn = bayescm.posterior([[6, 2], [0, 26]], draws=10, random_seed=1)
    >>> program = bayescm.models.load("dirichlet_multinomial").model([[6, 2], [0, 26]])
    >>> dict(log_likelihood(drawn, program).sizes)
    {'chain': 4, 'draw': 10, 'item': 34}
    """
    posterior = drawn["posterior"].to_dataset() if isinstance(drawn, xr.DataTree) else drawn
    seen = program.observed_RVs[0]
    if type(seen.owner.op).__name__ != "MultinomialRV":
        return _log_density(program, program.observed_RVs, posterior)
    counts = observed(program)[seen.name]
    _, p = seen.owner.op.dist_params(seen.owner)
    (cells,) = _at_draws(program.free_RVs, [p + np.zeros(counts.shape)], posterior)
    return of_items(_labelled(program, {seen.name: cells}, posterior)[seen.name], counts)


def _log_density(program: Any, of: list[Any], posterior: xr.Dataset) -> xr.Dataset:
    """Return the log densities of some of a program's random variables, labelled, over ``(chain, draw, ...)``."""
    from pymc.model.transform.conditioning import remove_value_transforms

    plain = remove_value_transforms(program)  # draws are of the variables themselves
    densities = plain.logp(vars=[plain[rv.name] for rv in of], sum=False)
    values = _at_draws([plain.rvs_to_values[rv] for rv in plain.free_RVs], densities, posterior)
    labelled = _labelled(program, {rv.name: value for rv, value in zip(of, values, strict=True)}, posterior)
    return labelled.assign_coords(
        {dim: np.arange(n) for dim, n in labelled.sizes.items() if dim not in labelled.coords}
    )


def _at_draws(inputs: list[Any], outputs: list[Any], posterior: xr.Dataset) -> list[np.ndarray]:
    """Return expressions of a program's variables at all draws, over ``(chain, draw, ...)``.

    One evaluation of arrays with a leading axis needs no machine code, whose compiling takes longer than all else here.
    """
    from pymc.pytensorf import compile as evaluation
    from pytensor.graph.replace import vectorize_graph

    stacked = {v: v.type.clone(shape=(None, *v.type.shape))(v.name) for v in inputs}
    of_all = vectorize_graph(outputs, stacked)
    evaluate = evaluation([*stacked.values()], of_all, mode="FAST_COMPILE", on_unused_input="ignore")
    given = [posterior[v.name].transpose(CHAIN, DRAW, ...).values.astype(v.dtype) for v in inputs]
    values = evaluate(*(value.reshape(-1, *value.shape[2:]) for value in given))
    chains, draws = posterior.sizes[CHAIN], posterior.sizes[DRAW]
    inner = [value.shape[value.ndim - one.ndim :] for value, one in zip(values, outputs, strict=True)]
    return [  # what depends on no variable has no leading axis
        np.broadcast_to(value, (chains * draws, *shape)).reshape(chains, draws, *shape)
        for value, shape in zip(values, inner, strict=True)
    ]


def of_items(probabilities: xr.DataArray, counts: xr.DataArray) -> xr.Dataset:
    """Return the log likelihood ``counts(chain, draw, item)`` of probabilities (chain, draw, ...) of cells."""
    n, draws = int(counts.sum()), probabilities.sizes[CHAIN] * probabilities.sizes[DRAW]
    if n > MAX_ITEMS or n * draws > MAX_VALUES:
        raise ValueError(
            f"`workflow`=True would hold {n:,} items x {draws:,} draws of log likelihood; the limits are {MAX_ITEMS:,} "
            f"items and {MAX_VALUES:,} values. Take fewer draws, or bayescm.inference.loo, which needs none."
        )
    of_item = np.repeat(np.arange(counts.size), counts.values.ravel())
    cells = probabilities.transpose(CHAIN, DRAW, *counts.dims)
    values = np.log(cells.values.reshape(*cells.shape[:2], -1)[..., of_item])
    place = np.unravel_index(of_item, counts.shape)
    of = {dim: (ITEM, counts[dim].values[place[i]]) for i, dim in enumerate(counts.dims) if dim in counts.coords}
    coords = {dim: probabilities[dim].values for dim in (CHAIN, DRAW)} | {ITEM: np.arange(n)} | of
    return xr.Dataset({"counts": ((CHAIN, DRAW, ITEM), values)}, coords=coords)


def log_prior(theta: xr.DataArray, base: Concentrations) -> xr.Dataset:
    """Return the log density of the cell probabilities under a conjugate prior, over ``(chain, draw)``.

    The density of class shares and rates (for two labels prevalence, recall and specificity), as if they were the
    parameters; under one Dirichlet over the cells that of the cells.
    """
    with np.errstate(divide="ignore"):
        if base.one_dirichlet:
            density = _log_dirichlet(theta.values.reshape(*theta.shape[:-2], -1), base.rows.ravel())
        else:
            shares = theta.values.sum(-1)
            rates = theta.values / shares[..., None]
            density = _log_dirichlet(shares, base.shares) + _log_dirichlet(rates, base.rows).sum(-1)
    return xr.Dataset({"theta": ((CHAIN, DRAW), density)}, coords={d: theta[d] for d in (CHAIN, DRAW)})


def _log_dirichlet(p: np.ndarray, a: np.ndarray) -> np.ndarray:
    constant = special.gammaln(a.sum(-1)) - special.gammaln(a).sum(-1)
    return np.asarray(special.xlogy(a - 1, p).sum(-1) + constant)


def predictive(program: Any, posterior: xr.Dataset, seed: int) -> dict[str, xr.Dataset]:
    """Return the group ``posterior_predictive`` of any program, for draws of its free variables."""
    import pymc as pm

    with nuts.quietly():
        drawn = pm.sample_posterior_predictive(
            _tree(program, posterior), model=program, random_seed=_seeds(seed)[1], progressbar=False
        )
    return _datasets({"posterior_predictive": drawn["posterior_predictive"]})


def from_program(program: Any, posterior: xr.Dataset, seed: int, prior_draws: int) -> dict[str, xr.Dataset]:
    """Return the workflow's groups of any program, for draws of its variables.

    Parameters
    ----------
    program : pymc.Model
    posterior : xarray.Dataset
        With every free variable of the program.
    seed, prior_draws : int

    Returns
    -------
    dict of str to xarray.Dataset
        ``posterior_predictive``, ``log_likelihood`` (:func:`log_likelihood`), ``log_prior``, ``prior_predictive`` and
        ``prior``.
    """
    made = {
        "log_prior": _log_density(program, program.free_RVs, posterior),
        "log_likelihood": log_likelihood(posterior, program),
    }
    return made | predictive(program, posterior, seed) | before_data(program, _seeds(seed)[0], prior_draws)


def _tree(program: Any, posterior: xr.Dataset) -> xr.DataTree:
    """Return draws of the free variables as PyMC reads them; the data say that nothing has changed."""
    data = _labelled(program, {v.name: v.get_value() for v in program.data_vars})
    draws = posterior[[rv.name for rv in program.free_RVs]]
    return xr.DataTree.from_dict({"posterior": draws, "constant_data": data})


def _seeds(seed: int) -> list[int]:
    """Return the seeds of draws before and after the data."""
    return [int(s) for s in np.random.SeedSequence(seed).generate_state(2)]


def before_data(program: Any, seed: int, draws: int) -> dict[str, xr.Dataset]:
    """Return the groups ``prior`` and ``prior_predictive`` of a program."""
    import pymc as pm

    with nuts.quietly():
        drawn = pm.sample_prior_predictive(
            draws, model=program, random_seed=seed, compile_kwargs={"mode": "FAST_COMPILE"}
        )
    return _datasets({name: drawn[name] for name in ("prior", "prior_predictive")})


def _datasets(groups: dict[str, Any]) -> dict[str, xr.Dataset]:
    """Return groups as plain datasets without PyMC's attrs."""
    plain = {name: group.to_dataset() if isinstance(group, xr.DataTree) else group for name, group in groups.items()}
    return {name: group.drop_attrs() for name, group in plain.items()}


def observed(program: Any) -> xr.Dataset:
    """Return what a program observes, labelled."""
    values = {rv: np.asarray(program.rvs_to_values[rv].eval()) for rv in program.observed_RVs}
    return _labelled(program, {rv.name: value for rv, value in values.items()})


def constants(program: Any) -> xr.Dataset:
    """Return the data of a program that its free variables depend on, or that are not its observations, labelled."""
    from pytensor.graph.traversal import ancestors

    seen = set(ancestors([program.rvs_to_values[rv] for rv in program.observed_RVs])) - set(ancestors(program.free_RVs))
    return _labelled(program, {v.name: v.get_value() for v in program.data_vars if v not in seen})


def _labelled(program: Any, values: dict[str, np.ndarray], posterior: xr.Dataset | None = None) -> xr.Dataset:
    """Label values, or those at draws of a posterior, of which a density has no axes within one event."""
    draws = {} if posterior is None else {dim: posterior[dim].values for dim in (CHAIN, DRAW)}
    variables = {}
    for name, value in values.items():
        inner = np.ndim(value) - len(draws)
        own = program.named_vars_to_dims.get(name) or [f"{name}_dim_{i}" for i in range(inner)]
        variables[name] = (*draws, *own[:inner]), value
    used = {dim for names, _ in variables.values() for dim in names}
    coords = {dim: np.asarray(values) for dim, values in program.coords.items() if dim in used and values is not None}
    return xr.Dataset(variables, coords=draws | coords)
