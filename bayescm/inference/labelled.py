"""A posterior as questions see it: labels outside, blocks of plain numbers inside."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data.schema import MATRIX, by_matrix, tables_of
from bayescm.inference.blocks import Block, Stack
from bayescm.metrics import Metric


class Posterior(ABC):
    """What is known of one matrix or a batch: labels outside, plain blocks inside.

    Attributes
    ----------
    labels : tuple
        The classes.
    settings : dict
        How it was made: attrs of every answer.
    over : xarray.DataArray
        Any values over the dims of the batch, with its coordinates.
    words : str
        What is known, in words.
    """

    labels: tuple[Any, ...]
    settings: Mapping[str, Any]
    over: xr.DataArray
    words: ClassVar[str]

    def counts(self, question: str) -> xr.DataArray:
        """Return the counts that all is known of, for a question which only these answer."""
        raise ValueError(
            f"`counts` are {self.words}, and {question} takes matrices of items whose truth is known of all. "
            "bayescm.summary answers by any posterior."
        )

    def notes(self, metrics: Sequence[Metric], ci_prob: float) -> dict[str, Any]:
        """Return attrs of an answer about these metrics with intervals of this level."""
        return {}

    @abstractmethod
    def map(self, kernel: Callable[..., Any], sizes: Mapping[str, int], *more: xr.DataArray) -> xr.DataArray:
        """Return the tables (..., *sizes) that a kernel makes of blocks; lazy where the data are.

        It takes `more`, too: plain values over the batch, and their further dims.
        """

    def tables(
        self, kernel: Callable[[Block], Mapping[str, Any]], sizes: Mapping[str, Mapping[str, int]]
    ) -> dict[str, xr.DataArray]:
        """Return several tables that a kernel makes of blocks, each block once."""
        return tables_of(self.map, kernel, sizes)

    @abstractmethod
    def beside(self, dim: Hashable) -> Self:
        """Return the same with a dim of the batch inside of the blocks, as their last one."""

    @abstractmethod
    def whole(self) -> tuple[Block, xr.DataArray]:
        """Return all as one block, computed, and any values over the dims of its batch with their coordinates."""

    @abstractmethod
    def by_structure(self, ask: Callable[[Block], Sequence[Any]], dim: str) -> xr.Variable:
        """Return what a block answers whatever its numbers are, over `dim`, and over the batch where it differs."""


@dataclass(frozen=True)
class Alike(Posterior):
    """Posteriors of one kind, made block by block from an array.

    Attributes
    ----------
    data : xarray.DataArray
        ``(..., *core)``; may be lazy.
    block : callable
        Takes plain data (..., *core) and the running numbers (...) of the matrices.
    some : Block
        One of any data, which knows what all know.
    core : tuple of str
    """

    labels: tuple[Any, ...]
    settings: Mapping[str, Any]
    data: xr.DataArray
    block: Callable[[NDArray[Any], NDArray[np.int64]], Block]
    some: Block
    core: tuple[Hashable, ...] = MATRIX
    words: ClassVar[str] = "draws of a model, or several runs of an item"

    @property
    def over(self) -> xr.DataArray:  # type: ignore[override]
        """Any values over the dims of the batch, with its coordinates."""
        return self.data.isel(dict.fromkeys(self.core, 0), drop=True)

    @cached_property
    def _all(self) -> Block:
        """All as one block, computed."""
        shape = self.data.shape[: self.data.ndim - len(self.core)]
        return self.block(self.data.values, np.arange(math.prod(shape)).reshape(shape))

    @property
    def typical(self) -> Block:
        """A block that knows what all know: all, unless the data are lazy."""
        return self._all if self.data.chunks is None else self.some

    def map(self, kernel: Callable[..., Any], sizes: Mapping[str, int], *more: xr.DataArray) -> xr.DataArray:  # noqa: D102
        if self.data.chunks is not None:
            return by_matrix(
                lambda values, index, *given: kernel(self.block(values, index), *given), self.data, sizes, *more,
                core=self.core,  # type: ignore[arg-type]
            )  # fmt: skip
        batch = self.data.dims[: self.data.ndim - len(self.core)]
        coords = {name: c for name, c in self.data.coords.items() if set(c.dims) <= set(batch)}
        given = [one.transpose(*batch, ...).values for one in more]
        return xr.DataArray(kernel(self._all, *given), dims=(*batch, *sizes), coords=coords)

    def whole(self) -> tuple[Block, xr.DataArray]:  # noqa: D102
        return self._all, self.over.compute()

    def beside(self, dim: Hashable) -> Self:  # noqa: D102
        n = self.data.sizes[dim]
        core = (dim, *self.core)
        return replace(
            self, data=self.data.transpose(..., *core), core=core,
            block=lambda values, index: self.block(values, index[..., None] * n + np.arange(n)),
        )  # fmt: skip

    def by_structure(self, ask: Callable[[Block], Sequence[Any]], dim: str) -> xr.Variable:  # noqa: D102
        return xr.Variable(dim, list(ask(self.typical)))


@dataclass(frozen=True)
class Separate(Posterior):
    """Posteriors that have nothing in common but their labels.

    Attributes
    ----------
    blocks : ndarray of object
        Of single matrices, over the batch.
    over : xarray.DataArray
        Any values over the dims of the batch, with its coordinates.
    """

    labels: tuple[Any, ...]
    settings: Mapping[str, Any]
    blocks: NDArray[Any]
    over: xr.DataArray
    words: ClassVar[str] = "audits, of whose items some were checked"

    def map(self, kernel: Callable[..., Any], sizes: Mapping[str, int], *more: xr.DataArray) -> xr.DataArray:  # noqa: D102
        given = [one.transpose(*self.over.dims, ...).values for one in more]
        places = np.ndindex(self.blocks.shape)
        found = np.stack([kernel(self.blocks[place], *(one[place] for one in given)) for place in places])
        shape = (*self.blocks.shape, *sizes.values())
        return xr.DataArray(found.reshape(shape), dims=(*self.over.dims, *sizes), coords=self.over.coords)

    def whole(self) -> tuple[Block, xr.DataArray]:  # noqa: D102
        if not self.blocks.shape:
            return self.blocks.item(), self.over
        return Stack(tuple(self.blocks.flat), self.blocks.shape), self.over

    def beside(self, dim: Hashable) -> Self:  # noqa: D102
        rows = np.moveaxis(self.blocks, self.over.dims.index(dim), -1)
        stacked = np.empty(rows.shape[:-1], object)
        for place in np.ndindex(stacked.shape):
            stacked[place] = Stack(tuple(rows[place]), rows.shape[-1:])
        return replace(self, blocks=stacked, over=self.over.isel({dim: 0}, drop=True))

    def by_structure(self, ask: Callable[[Block], Sequence[Any]], dim: str) -> xr.Variable:  # noqa: D102
        found = np.stack([np.asarray(ask(block)) for block in self.blocks.flat])
        if (found == found[0]).all():
            return xr.Variable(dim, found[0])
        return xr.Variable((*self.over.dims, dim), found.reshape(*self.blocks.shape, -1))
