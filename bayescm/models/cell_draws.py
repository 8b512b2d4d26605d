"""Draws of cell probabilities and of future matrices from closed forms, labelled; any batch of matrices, also lazy."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import ACTUAL, CHAIN, DRAW, LABEL, MATRIX, PREDICTED, by_matrix, flatten_cells, labels_of
from bayescm.distributions import dirichlet
from bayescm.distributions.sample import warn_undefined
from bayescm.metrics import MetricsLike, evaluate
from bayescm.models import same_items
from bayescm.models.nuts import exchange_draws, exchanged_shares
from bayescm.priors.concentrations import Concentrations, PrevalenceLike, PriorLike, exchange

Array = NDArray[np.float64]

PRIOR_DRAWS = 1000
RATES = ("specificity", "recall")  # of the negative class, of the positive class


def posterior_draws(
    counts: xr.DataArray, base: Concentrations, prevalence: PrevalenceLike, chains: int, draws: int, seed: int
) -> xr.DataArray:
    """Draw theta from the conjugate posterior."""
    labels = labels_of(counts)

    def kernel(values: NDArray[Any], index: NDArray[np.int64]) -> Array:
        which = dirichlet.posterior(validate.count_values("counts", values), base, prevalence)
        dirichlet.check_proper(which, labels)
        return dirichlet.draw_batch(which, index, chains, draws, seed, Stream.POSTERIOR)

    return label_theta(by_matrix(kernel, counts, sizes_of(counts, chains, draws)), counts)


def draws_of_answers(
    answers: same_items.Patterns, prior: PriorLike, prevalence: PrevalenceLike, chains: int, draws: int, seed: int
) -> xr.DataArray:
    """Draw theta of systems that answered the same items."""
    theta = same_items.draw(answers, prior, chains, draws, seed)
    if prevalence is None:
        return theta
    return exchange_draws(theta, _class_totals(answers), prevalence, matrix_rng(seed, 0, Stream.SHARES))


def draws_of_pairs(
    answers: same_items.Patterns, pairs: Sequence[tuple[int, int]], prior: PriorLike, prevalence: PrevalenceLike,
    n: int, seed: int,
) -> Iterator[tuple[int, slice, Array]]:  # fmt: skip
    """Draw theta of systems that answered the same items, two by two: see :func:`same_items.draw_pairs`."""
    shares = None
    if prevalence is not None:  # the same for all
        totals, rng = _class_totals(answers), matrix_rng(seed, 0, Stream.SHARES)
        shares = exchanged_shares(len(totals), totals, prevalence, rng, n)[:, None]
    for i, part, theta in same_items.draw_pairs(answers, pairs, prior, n, seed):
        yield i, part, theta if shares is None else theta / theta.sum(2, keepdims=True) * shares[..., part]


def _class_totals(answers: same_items.Patterns) -> Array:
    totals: Array = answers.matrices()[0].sum(-1).astype(np.float64)
    return totals


def shared(prevalence: PrevalenceLike, base: Concentrations) -> bool:
    """Say whether a prevalence is uncertain and the same for all systems."""
    return prevalence is not None and not isinstance(prevalence, str) and not exchange(base, prevalence).known


def prior_draws(
    counts: xr.DataArray, base: Concentrations, prevalence: PrevalenceLike, seed: int, chains: int, draws: int
) -> xr.DataArray:
    """Draw theta from the prior: once for all matrices, but for class shares fixed by each."""
    if not isinstance(prevalence, str):
        counts = counts.isel({dim: 0 for dim in counts.dims if dim not in MATRIX}, drop=True)

    def kernel(values: NDArray[Any], index: NDArray[np.int64]) -> Array:
        which = exchange(base, prevalence, values.sum(-1).astype(np.float64))
        return dirichlet.draw_batch(which, index, chains, draws, seed, Stream.PRIOR)

    return label_theta(by_matrix(kernel, counts, sizes_of(counts, chains, draws)), counts)


def sizes_of(counts: xr.DataArray, chains: int, draws: int) -> dict[str, int]:
    """Return the dims that draws of cells have before they are labelled."""
    k = counts.sizes[ACTUAL]
    return {CHAIN: chains, DRAW: draws, "row": k, "column": k}


def label_theta(theta: xr.DataArray, counts: xr.DataArray) -> xr.DataArray:
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


def with_variables(group: xr.Dataset, model: str) -> xr.Dataset:
    """Add the free variables of a conjugate model's program, which PyMC needs to go on from its draws.

    They come last, and follow from the cell probabilities; where a metric is one of them it stays as it is.
    """
    theta = group["theta"]
    free: dict[str, xr.DataArray] = {"theta_cell": flatten_cells(theta)}
    if model == "three_binomial":
        shares = theta.sum(PREDICTED)
        rates = theta / shares
        if theta.sizes[ACTUAL] == 2:
            free = {"prevalence": shares.isel({ACTUAL: 1}, drop=True)}
            free |= {name: rates.isel({ACTUAL: i, PREDICTED: i}, drop=True) for i, name in enumerate(RATES)}
        else:
            free = {"prevalence": shares.rename({ACTUAL: LABEL}), "rates": rates.transpose(..., *MATRIX)}
    return group.assign({name: variable for name, variable in free.items() if name not in group})


def replicates(
    theta: xr.DataArray, counts: xr.DataArray, metrics: MetricsLike, prevalence: PrevalenceLike, seed: int, size: int
) -> tuple[xr.Dataset, xr.Dataset]:
    """Draw future matrices, of the observed size if `size` is negative, and return them and their metrics."""
    keep = isinstance(prevalence, str)

    def kernel(values: NDArray[Any], index: NDArray[np.int64], theta: Array) -> NDArray[np.int64]:
        out = np.empty(theta.shape, np.int64)
        for position in np.ndindex(index.shape):
            rng = matrix_rng(seed, int(index[position]), Stream.REPLICATE)
            items = int(values[position].sum()) if size < 0 else size
            flat = theta[position].reshape(-1, *theta.shape[-2:])
            future = dirichlet.replicate_counts(flat, values[position].sum(-1), rng, items, keep)
            out[position] = future.reshape(theta.shape[-4:])
        return out

    sizes = sizes_of(counts, theta.sizes[CHAIN], theta.sizes[DRAW])
    future = by_matrix(kernel, counts, sizes, theta, dtype=np.int64)
    future = label_theta(future, counts).rename("counts")
    future.attrs = {"long_name": "Items of a future matrix", "units": "1"}
    return flatten_cells(future).to_dataset(), evaluate(future, metrics)


def constants(base: Concentrations, counts: xr.DataArray, model: str) -> xr.Dataset:
    """Return the prior's concentrations as the model's program calls them."""
    coords = {dim: counts[dim].values for dim in MATRIX}
    variables: dict[str, Any] = {"concentration": (MATRIX, base.rows, {"long_name": "Prior concentration of the cell"})}
    if model == "three_binomial":
        label = {"long_name": "Prior concentration of the class share"}
        variables["share_concentration"] = ((ACTUAL,), base.shares, label)
    return xr.Dataset(variables, coords=coords)
