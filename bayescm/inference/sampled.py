"""Posteriors that are known by draws: of answers in several runs, and of a tree of any model's draws."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data.assumptions import assumed, of_runs
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import (
    ACTUAL,
    CELL,
    CHAIN,
    DRAW,
    LABEL,
    MATRIX,
    SYSTEM,
    as_read,
    as_set,
    matrix_of_cells,
    positive_class,
)
from bayescm.distributions.sample import Chains, Draws
from bayescm.inference.blocks import Block, exchanged
from bayescm.inference.labelled import Alike, Posterior
from bayescm.metrics import Metric, compute, per_label, resolve
from bayescm.models import same_items
from bayescm.models.cell_draws import draws_of_answers
from bayescm.priors.concentrations import PrevalenceLike, PriorLike
from bayescm.results.stamps import DRAWS_STAMP, digest

Array = NDArray[np.float64]

AVERAGED = "averaged"
"""The attr of a tree that names a dim of its cells over which its metrics are means."""
_OFF = 1e-5  # of a sum of single-precision draws
_COLUMN = "_column"  # the cells, and metrics that the model draws itself
_SAID = ("model", "prior", "assumptions", "target", "pooling", "runs", "random_seed")  # of a tree, and its answers


@dataclass(frozen=True)
class Sampled(Block):
    """Draws of some matrices' cells, and of metrics that aren't those of one matrix of cells.

    Attributes
    ----------
    theta : ndarray of shape (*shape, chains * draws, matrices, K, K)
        Metrics are means over so many matrices, mostly one.
    own : mapping of str to ndarray of shape (*shape[, class], chains * draws)
        Metrics that the model draws itself.
    observed : ndarray of shape (*shape, K, K)
        NaN where it isn't known.
    chains : int
        0 where draws are independent of one another.
    items : ndarray of shape (*shape, K, K)
        The counts of the items that were seen; NaN where they aren't known.
    index, seed
        Of the matrices to come.
    """

    theta: Array
    own: Mapping[str, Array]
    observed: Array
    chains: int
    items: Array
    index: NDArray[np.int64]
    seed: int

    @property
    def k(self) -> int:  # type: ignore[override]  # noqa: D102
        return int(self.theta.shape[-1])

    @property
    def n(self) -> int:  # type: ignore[override]  # noqa: D102
        return int(self.theta.shape[-4])

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]  # noqa: D102
        return self.theta.shape[:-4]

    def cells(self) -> Array:  # noqa: D102
        return self.observed

    def seen(self) -> Array:  # noqa: D102
        return self.items

    def singles(self) -> Iterator["Sampled"]:  # noqa: D102
        for place in np.ndindex(self.shape):
            own = {name: values[place] for name, values in self.own.items()}
            arrays = (self.observed[place], self.chains, self.items[place], self.index[place], self.seed)
            yield Sampled(self.theta[place], own, *arrays)

    def theta_blocks(self) -> Iterator[Array]:  # noqa: D102
        yield self.theta.mean(-3)

    def shares(self, axis: tuple[int, ...]) -> Draws:  # noqa: D102
        means = (self.theta / self.theta.sum(axis, keepdims=True)).mean(-3)
        return self.wrap(np.moveaxis(means, -3, -1))

    def draws(self, metrics: Sequence[Metric]) -> list[Array]:  # noqa: D102
        drawn = [metric for metric in metrics if metric.name not in self.own]
        found = dict(self.own)
        for metric, values in zip(drawn, compute(drawn, self.theta), strict=True):
            several = per_label(metric, self.k)
            means = values.mean(-2 if several else -1)
            found[metric.name] = np.moveaxis(means, -1, -2) if several else means
        return [found[metric.name] for metric in metrics]

    def data(self) -> NDArray[Any]:  # noqa: D102
        return self.theta[..., :1, :, :, :]

    def wrap(self, values: Array) -> Draws:  # noqa: D102
        return Chains(values, chains=self.chains) if self.chains else Draws(values)


def of_answers(answers: same_items.Patterns, prior: PriorLike, prevalence: PrevalenceLike, n: int, seed: int) -> Alike:
    """Return the posterior of systems that answered the same items, perhaps several times, by joint draws."""
    theta = draws_of_answers(answers, prior, prevalence, 1, n, seed)
    counts = answers.labelled()
    settings = {
        "model": "dirichlet_multinomial", "prior": prior, "prevalence": prevalence,
        "assumptions": assumed(prevalence, *of_runs(answers.runs)), **as_read(counts),
        **({"runs": answers.runs} if answers.runs > 1 else {}),
    }  # fmt: skip
    seen = counts.values.astype(np.float64)
    observed = seen
    if prevalence is not None and not isinstance(prevalence, str):
        observed = exchanged(seen[None], prevalence, None)[0]
    return _alike(theta, {}, observed, seen / answers.runs, settings, 1, chains=0, seed=seed)


def of_tree(tree: xr.DataTree, prevalence: PrevalenceLike, seed: int) -> Alike:
    """Return the posterior that a tree of draws is: of :func:`bayescm.posterior`, or of any program's.

    Parameters
    ----------
    tree : xarray.DataTree
        With the group ``posterior``: ``theta(chain, draw, ..., actual, predicted)``, probabilities of the cells, of
        every matrix over all other dims. Where there are metrics of the same dims by name, these are taken.
    prevalence : None, number or sequence
    seed : int
    """
    if "posterior" not in tree.children:
        raise ValueError(f"`counts` as a DataTree must have the group 'posterior'; it has {sorted(tree.children)}.")
    group = tree["posterior"].to_dataset()
    if "theta" not in group or not {CHAIN, DRAW, *MATRIX} <= set(group["theta"].dims):
        raise ValueError(
            "`counts` as a DataTree must hold draws of the cells, theta(chain, draw, ..., actual, predicted); its "
            f"posterior holds { {str(name): v.dims for name, v in group.data_vars.items()} }. Add them to the program: "
            "pm.Deterministic('theta', ..., dims=('actual', 'predicted'))."
        )
    averaged = [dim for dim in (tree.attrs.get(AVERAGED),) if dim in group["theta"].dims]
    theta = group["theta"].transpose(CHAIN, DRAW, ..., *averaged, *MATRIX)
    batch = theta.dims[2 : -2 - len(averaged)]
    off = np.abs(theta.sum(MATRIX).values - 1.0)
    if (theta.values < 0.0).any() or np.nanmax(off, initial=0.0) > _OFF:
        raise ValueError(
            "`counts` as a DataTree must hold probabilities of the cells: theta must add up to 1 over 'actual' and "
            f"'predicted', and differs from that by {np.nanmax(off):.2g}. The rates of a class times its share do."
        )
    if ACTUAL not in theta.coords:
        theta = theta.assign_coords(dict.fromkeys(MATRIX, np.arange(theta.sizes[ACTUAL])))
    seen, own = _observed(tree, theta, batch), {}
    observed = seen
    settings = {"model": "a program of your own"} | {
        name: as_set(tree.attrs[name]) for name in _SAID if name in tree.attrs
    }
    settings |= {"prevalence": prevalence, "draws": theta.sizes[CHAIN] * theta.sizes[DRAW]} | positive_class(theta)
    if isinstance(prevalence, str):
        raise ValueError("`prevalence`='fixed' is for counts; give the draws of a model another one as a number.")
    if prevalence is None:
        own = _own(group, theta.sizes[ACTUAL], batch)
    else:
        flat = theta.values.reshape(-1, *theta.shape[2:])
        moved = exchanged(flat, prevalence, matrix_rng(seed, 0, Stream.SHARES))
        theta = theta.copy(data=moved.reshape(theta.shape))
        observed = None if observed is None else exchanged(observed[None], prevalence, None)[0]
    return _alike(theta, own, observed, seen, settings, len(batch), chains=theta.sizes[CHAIN], seed=seed)


def unchanged(tree: xr.DataTree) -> tuple[xr.DataArray, str, PriorLike, PrevalenceLike] | None:
    """Return counts, model, prior and prevalence of a closed form's draws; None of others, or of a part of them.

    Parameters
    ----------
    tree : xarray.DataTree
        Of :func:`bayescm.posterior`.
    """
    if DRAWS_STAMP not in tree.attrs or not {"posterior", "observed_data"} <= set(tree.children):
        return None
    groups = {name: tree[name].to_dataset() for name in ("posterior", "observed_data")}
    if {"theta"} - set(groups["posterior"]) or digest(groups) != tree.attrs[DRAWS_STAMP]:
        return None
    counts = matrix_of_cells(groups["observed_data"]["counts"], groups["posterior"]["theta"])
    if counts is None:
        return None
    return counts, tree.attrs["model"], as_set(tree.attrs["prior"]), as_set(tree.attrs["prevalence"])


def over_systems(posterior: Posterior, name: str) -> tuple[Block, xr.DataArray]:
    """Return the posterior of several systems as one block, and their names over ``system``.

    Parameters
    ----------
    posterior : Posterior
    name : str
        Of the argument that it came as.
    """
    block, over = posterior.whole()
    if len(over.dims) != 1:
        raise ValueError(
            f"`{name}` as draws must be of several systems, over one dim beside 'actual' and 'predicted'; got "
            f"{list(map(str, over.dims))}. Select or stack."
        )
    over = over.rename({over.dims[0]: SYSTEM})
    return block, over if SYSTEM in over.coords else over.assign_coords({SYSTEM: np.arange(over.size)})


def _own(group: xr.Dataset, k: int, batch: tuple[Hashable, ...]) -> dict[str, xr.DataArray]:
    """Return the metrics that a model drew itself, over the dims that they have of its cells."""
    found = {}
    for name, variable in group.data_vars.items():
        with suppress(ValueError):  # another variable
            metric = resolve(str(name), k)[0]
            classes = (LABEL,) if per_label(metric, k) else ()
            if metric.name == name and set(variable.dims) == {CHAIN, DRAW, *batch, *classes}:
                found[metric.name] = variable.transpose(CHAIN, DRAW, *batch, *classes)
    return found


def _observed(tree: xr.DataTree, theta: xr.DataArray, batch: tuple[Hashable, ...]) -> Array | None:
    """Return the counts of a tree over the dims of its cells, summed over all others; None if it has none."""
    data = tree["observed_data"].to_dataset() if "observed_data" in tree.children else xr.Dataset()
    counts = data.get("counts")
    matrix = counts if counts is None or CELL not in counts.dims else matrix_of_cells(counts, theta)
    if matrix is None or not {*batch, *MATRIX} <= set(matrix.dims):
        return None
    summed = matrix.sum([dim for dim in matrix.dims if dim not in (*batch, *MATRIX)])
    return summed.transpose(*batch, *MATRIX).values.astype(np.float64)


def _alike(
    theta: xr.DataArray, own: Mapping[str, xr.DataArray], observed: Array | None, seen: Array | None,
    settings: dict[str, Any], n_batch: int, *, chains: int, seed: int,
) -> Alike:  # fmt: skip
    """Return the posterior of draws (chain, draw, ...): all of a matrix side by side, so that blocks are cut of one."""
    labels = tuple(theta[ACTUAL].values.tolist())
    k, batch, shape = len(labels), theta.dims[2 : 2 + n_batch], theta.shape[2 : 2 + n_batch]
    unknown = np.full((*shape, k, k), np.nan)
    cells, items = ((unknown if one is None else np.asarray(one)).reshape(-1, k, k) for one in (observed, seen))
    columns = [one.values.reshape(-1, *shape, math.prod(one.shape[2 + len(shape) :])) for one in (theta, *own.values())]
    ends = np.cumsum([column.shape[-1] for column in columns])
    coords = {name: c.variable for name, c in theta.coords.items() if set(c.dims) <= set(batch)}
    values = np.moveaxis(np.concatenate(columns, -1), 0, -1)  # (..., column, draw)
    data = xr.DataArray(values, dims=(*batch, _COLUMN, DRAW), coords=coords)

    def block(values: Array, index: NDArray[np.int64]) -> Sampled:
        matrix, *parts = np.split(values, ends[:-1], axis=-2)
        named = {name: part if part.shape[-2] > 1 else part[..., 0, :] for name, part in zip(own, parts, strict=True)}
        theta = np.moveaxis(matrix, -1, -2).reshape(*matrix.shape[:-2], matrix.shape[-1], -1, k, k)
        return Sampled(theta, named, cells[index], chains, items[index], index, seed)

    some = block(values[(0,) * len(shape)], np.asarray(0))
    return Alike(labels, settings, data, block, some, (_COLUMN, DRAW))
