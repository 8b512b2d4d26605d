"""The ladder: the closed form where the story has one, else PyMC, and why.

:func:`choose` says which rung would be taken; :func:`posterior` takes it. Both rungs return the same DataTree.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm import conjugate, models, sampling, validate
from bayescm.counts import check_counts
from bayescm.draws import warn_undefined
from bayescm.metrics import MetricsLike, evaluate, resolve
from bayescm.priors import Concentrations, PrevalenceLike, PriorLike, concentrations, exchange
from bayescm.results import (
    ACTUAL,
    CHAIN,
    DRAW,
    MATRIX,
    PREDICTED,
    attributes,
    by_matrix,
    flatten_cells,
    labels_of,
    tree,
)

Array = NDArray[np.float64]

METHODS = ("auto", "exact", "nuts")
SAMPLERS = ("pymc", "nutpie", "numpyro", "blackjax")
PRIOR_DRAWS = 1000
_POSTERIOR, _PRIOR, _REPLICATE, _SHARES = range(4)  # streams of random numbers


class Choice(NamedTuple):
    """The rung of the ladder that would be taken."""

    method: str
    reason: str

    def __str__(self) -> str:
        return f"{self.method}: {self.reason}"


def choose(
    counts: Any,
    *,
    model: str = "dirichlet_multinomial",
    prior: PriorLike = "jeffreys",
    prevalence: PrevalenceLike = None,
    method: str = "auto",
) -> Choice:
    """Say in words how :func:`posterior` would answer, and why.

    Parameters
    ----------
    counts, model, prior, prevalence, method
        As in :func:`posterior`.

    Returns
    -------
    Choice
        ``method`` ("exact" or "nuts") and ``reason``.

    Raises
    ------
    ValueError
        If the method asked for can't answer, with what to do.

    Examples
    --------
    >>> import bayescm
    >>> bayescm.choose([[6, 2], [0, 26]]).method
    'exact'
    """
    counts = check_counts(counts)
    return _choose(counts, concentrations(prior, model, labels_of(counts)), model, prevalence, method)


def _choose(counts: xr.DataArray, base: Concentrations, model: str, prevalence: PrevalenceLike, method: str) -> Choice:
    """Choose the rung for checked counts and a known prior."""
    validate.choice("method", method, METHODS)
    if counts.chunks is None:  # lazy counts are checked when they are computed
        conjugate.check_proper(conjugate.posterior(counts.values, base, prevalence), labels_of(counts))
    if method == "nuts":
        batch = [str(dim) for dim in counts.dims if dim not in MATRIX]
        if batch:
            raise ValueError(
                f"`method`='nuts' takes one matrix; `counts` also has {batch}. "
                "Select one, or use method='exact', which takes any batch."
            )
        if conjugate.improper(base) is not None:
            raise ValueError(
                "`prior` is improper, and PyMC needs a proper one; use method='exact' or prior='jeffreys'."
            )
        return Choice("nuts", f"asked for; PyMC samples the story models/{model}.py, which also has a closed form.")
    family = "one Dirichlet over the cells" if base.one_dirichlet else "a Dirichlet per row and one for the classes"
    return Choice(
        "exact",
        f"the prior is conjugate ({family}), so the posterior is the prior's concentrations plus the counts, "
        "and its draws are independent: no sampler, no diagnostics, any batch of matrices.",
    )


def posterior(
    counts: Any,
    *,
    model: str = "dirichlet_multinomial",
    prior: PriorLike = "jeffreys",
    prevalence: PrevalenceLike = None,
    metrics: MetricsLike = None,
    method: str = "auto",
    chains: int = 4,
    draws: int = 1000,
    random_seed: int | np.random.Generator | None = None,
    nuts_sampler: str = "pymc",
    replicate: bool | int = False,
    **sample_options: Any,
) -> xr.DataTree:
    """Draw from the posterior of the cell probabilities and of every metric.

    Parameters
    ----------
    counts : xarray.DataArray or array_like
        ``counts(..., actual, predicted)``. The closed form takes any batch dims, also lazy ones (dask).
    model : {"dirichlet_multinomial", "three_binomial"}
        A story of ``models/``.
    prior : str, number, array_like or mapping
        See :func:`bayescm.priors.concentrations`.
    prevalence : None, "fixed", number or sequence
        Estimated; fixed by design; exchanged for a number or for a Beta's two numbers (positives first).
    metrics
        As in :func:`bayescm.summary`.
    method : {"auto", "exact", "nuts"}
        See :func:`choose`.
    chains, draws : int
        Draws are independent under "exact"; the shape is the one that ArviZ expects.
    random_seed : int, numpy.random.Generator or None
        The seed used is stored in the attrs.
    nuts_sampler : {"pymc", "nutpie", "numpyro", "blackjax"}
        Passed to :func:`pymc.sample`.
    replicate : bool or int
        Also draw a future matrix for each draw: of the observed size if True, else of that many items. Its class
        totals are those observed (or a multiple) under ``prevalence="fixed"``.
    **sample_options
        Passed to :func:`pymc.sample` (``tune``, ``target_accept``, ``progressbar``, ``cores``); only for "nuts".

    Returns
    -------
    xarray.DataTree
        ``posterior`` and ``prior``: ``theta(chain, draw, ..., actual, predicted)`` and each metric (also over
        ``class_label`` where it is per class); no ``prior`` for an improper one. ``observed_data``:
        ``counts(..., cell)``. ``constant_data``: the prior's concentrations. With `replicate`,
        ``posterior_predictive``: ``counts``, and ``replicate``: the metrics of the future matrix. With "nuts",
        ``sample_stats``.

    Warns
    -----
    UserWarning
        If NUTS diverged, R-hat exceeds 1.01 or an effective sample size is below 100 per chain; or if draws leave a
        metric undefined.

    References
    ----------
    Caelen 2017, algorithm 1 (whose draws are the ``replicate`` ones); Toetsch and Hoffmann 2021.

    Examples
    --------
    >>> import bayescm
    >>> counts = bayescm.from_cells(tp=50, fn=30, fp=30, tn=35)
    >>> dt = bayescm.posterior(counts, prior="haldane", metrics="mcc", draws=25_000, random_seed=1)
    >>> round(float((dt.posterior.matthews_correlation > 0).mean()), 2)
    0.98
    """
    counts = check_counts(counts)
    base = concentrations(prior, model, labels_of(counts))
    choice = _choose(counts, base, model, prevalence, method)
    resolved = resolve(metrics, counts.sizes[ACTUAL])
    validate.choice("nuts_sampler", nuts_sampler, SAMPLERS)
    chains, draws = validate.positive_integer("chains", chains), validate.positive_integer("draws", draws)
    seed = validate.seed(random_seed)
    size = _replicate_size(replicate)
    groups: dict[str, xr.Dataset] = {}
    if choice.method == "nuts":
        program = models.load(model).model(counts, prior=prior)
        theta, groups["sample_stats"] = sampling.sample(
            program, chains=chains, draws=draws, seed=seed, nuts_sampler=nuts_sampler, options=sample_options
        )
        if prevalence is not None:
            rng = conjugate.matrix_rng(seed, 0, _SHARES)
            theta = sampling.exchange_draws(theta, counts, prevalence, rng)
        theta = _label_theta(theta, counts)
    else:
        if sample_options:
            raise TypeError(f"`{next(iter(sample_options))}` goes to pymc.sample, and this answer needs no sampler.")
        theta = _closed_form(counts, base, prevalence, chains, draws, seed)
    groups["posterior"] = with_metrics(theta, resolved)
    if size != 0:
        future = replicates(theta, counts, resolved, prevalence, seed, size)
        groups |= dict(zip(("posterior_predictive", "replicate"), future, strict=True))
    if conjugate.improper(base) is None:
        groups["prior"] = with_metrics(prior_draws(counts, base, prevalence, seed, 1, PRIOR_DRAWS), resolved)
    groups["observed_data"] = flatten_cells(counts).to_dataset()
    groups["constant_data"] = constants(base, counts)
    settings = {
        "model": model, "prior": prior, "prevalence": prevalence, "method": choice.method, "random_seed": seed,
        "inference_library": "bayescm" if choice.method == "exact" else nuts_sampler,
    }  # fmt: skip
    return tree(groups, attributes(**settings))


def _replicate_size(replicate: bool | int) -> int:
    """Return the size of a future matrix: 0 for none, -1 for the observed one."""
    if isinstance(replicate, bool):
        return -1 if replicate else 0
    return validate.positive_integer("replicate", replicate)


def _closed_form(
    counts: xr.DataArray, base: Concentrations, prevalence: PrevalenceLike, chains: int, draws: int, seed: int
) -> xr.DataArray:
    """Draw theta from the conjugate posterior."""
    labels = labels_of(counts)

    def kernel(values: NDArray[Any], index: NDArray[np.int64]) -> Array:
        which = conjugate.posterior(validate.count_values("counts", values), base, prevalence)
        conjugate.check_proper(which, labels)
        return conjugate.draw_batch(which, index, chains, draws, seed, _POSTERIOR)

    return _label_theta(by_matrix(kernel, counts, _theta_sizes(counts, chains, draws)), counts)


def prior_draws(
    counts: xr.DataArray, base: Concentrations, prevalence: PrevalenceLike, seed: int, chains: int, draws: int
) -> xr.DataArray:
    """Draw theta from the prior: once for all matrices, but for class shares fixed by each."""
    if not isinstance(prevalence, str):
        counts = counts.isel({dim: 0 for dim in counts.dims if dim not in MATRIX}, drop=True)

    def kernel(values: NDArray[Any], index: NDArray[np.int64]) -> Array:
        which = exchange(base, prevalence, values.sum(-1).astype(np.float64))
        return conjugate.draw_batch(which, index, chains, draws, seed, _PRIOR)

    return _label_theta(by_matrix(kernel, counts, _theta_sizes(counts, chains, draws)), counts)


def _theta_sizes(counts: xr.DataArray, chains: int, draws: int) -> dict[str, int]:
    k = counts.sizes[ACTUAL]
    return {CHAIN: chains, DRAW: draws, "row": k, "column": k}


def _label_theta(theta: xr.DataArray, counts: xr.DataArray) -> xr.DataArray:
    """Give drawn cell probabilities their dims, coordinates and name."""
    renamed = {"row": ACTUAL, "column": PREDICTED} if "row" in theta.dims else {}
    theta = theta.rename(renamed).transpose(CHAIN, DRAW, ..., *MATRIX)
    coords: Mapping[Any, Any] = {
        CHAIN: np.arange(theta.sizes[CHAIN]),
        DRAW: np.arange(theta.sizes[DRAW]),
        **{dim: counts[dim] for dim in MATRIX},
    }
    theta = theta.assign_coords(coords)
    theta.attrs = {"long_name": "Probability of the cell", "units": "1"}
    return theta.rename("theta")


def with_metrics(theta: xr.DataArray, metrics: MetricsLike) -> xr.Dataset:
    """Put theta and its metrics into one group, and say so where draws leave a metric undefined."""
    values = evaluate(theta, metrics)
    if theta.chunks is None:
        warn_undefined({str(name): value.values for name, value in values.items()})
    return xr.Dataset({"theta": theta, **values})


def replicates(
    theta: xr.DataArray, counts: xr.DataArray, metrics: MetricsLike, prevalence: PrevalenceLike, seed: int, size: int
) -> tuple[xr.Dataset, xr.Dataset]:
    """Draw future matrices, of the observed size if `size` is negative, and return them and their metrics."""
    keep = isinstance(prevalence, str)

    def kernel(values: NDArray[Any], index: NDArray[np.int64], theta: Array) -> NDArray[np.int64]:
        out = np.empty(theta.shape, np.int64)
        for position in np.ndindex(index.shape):
            rng = conjugate.matrix_rng(seed, int(index[position]), _REPLICATE)
            items = int(values[position].sum()) if size < 0 else size
            flat = theta[position].reshape(-1, *theta.shape[-2:])
            future = conjugate.replicate_counts(flat, values[position].sum(-1), rng, items, keep)
            out[position] = future.reshape(theta.shape[-4:])
        return out

    sizes = _theta_sizes(counts, theta.sizes[CHAIN], theta.sizes[DRAW])
    future = by_matrix(kernel, counts, sizes, theta=theta, dtype=np.int64)
    future = _label_theta(future, counts).rename("counts")
    future.attrs = {"long_name": "Items of a future matrix", "units": "1"}
    return flatten_cells(future).to_dataset(), evaluate(future, metrics)


def constants(base: Concentrations, counts: xr.DataArray) -> xr.Dataset:
    """Return the prior's concentrations, labelled."""
    coords = {dim: counts[dim].values for dim in MATRIX}
    variables: dict[str, Any] = {"concentration": (MATRIX, base.rows, {"long_name": "Prior concentration of the cell"})}
    if not base.one_dirichlet:
        label = {"long_name": "Prior concentration of the class share"}
        variables["share_concentration"] = ((ACTUAL,), base.shares, label)
    return xr.Dataset(variables, coords=coords)
