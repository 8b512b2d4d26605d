"""Costs of the cells of a matrix, and of the actions that it informs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.schema import CELLS_OF_TWO, MATRIX, cell_names, check_matrix
from bayescm.metrics.table import MAX_COST

Array = NDArray[np.float64]


def cost_matrix(costs: Any, labels: Sequence[Any]) -> Array:
    """Return the costs of the cells, (K, K), rows actual.

    Parameters
    ----------
    costs : mapping of cells to numbers, xarray.DataArray, or array_like of shape (K, K)
        A mapping has cells by their names, ``tp fn fp tn`` or, for more than two labels, ``"a->b"``; cells that it
        leaves out cost nothing.
    labels : sequence

    Returns
    -------
    ndarray of shape (K, K)
    """
    k = len(labels)
    if isinstance(costs, Mapping):
        names = cell_names(labels)
        unknown = [name for name in costs if name not in names]
        if unknown or not costs:
            came = repr(unknown[0]) if unknown else "an empty mapping"
            raise ValueError(f"`costs` as a mapping must name cells, some of {', '.join(names)}; got {came}.")
        costs = [[costs.get(name, 0.0) for name in names[i * k : (i + 1) * k]] for i in range(k)]
    elif isinstance(costs, xr.DataArray):
        costs = _in_order(check_matrix(costs, "costs"), list(labels))
    values = validate.array_of("costs", costs)
    if values.dtype.kind not in "iuf":
        raise TypeError(f"`costs` must be numbers; got {costs!r}.")
    if values.shape != (k, k) or not (np.abs(values) <= MAX_COST).all():
        raise ValueError(
            f"`costs` must be finite, at most {MAX_COST:g} in absolute value, and of shape {(k, k)}, rows actual; "
            f"got {values.tolist()}. Of two labels they may be given by name: {{'fn': 10, 'fp': 1}}."
        )
    return values.astype(np.float64)


def _in_order(costs: xr.DataArray, labels: list[Any]) -> NDArray[Any]:
    """Put labelled costs into the order of the classes."""
    known = costs[MATRIX[0]].values.tolist()
    if costs.ndim != len(MATRIX) or sorted(map(repr, known)) != sorted(map(repr, labels)):
        raise ValueError(f"`costs` must be one matrix with the labels {labels}; got {costs.dims} with {known}.")
    order = [known.index(label) for label in labels]
    ordered: NDArray[Any] = costs.values[np.ix_(order, order)]
    return ordered


def constant_actions(labels: Sequence[Any]) -> list[str]:
    """Name the actions that call all items the same."""
    if len(labels) == len(CELLS_OF_TWO) // 2:
        return ["all negative", "all positive"]
    return [f"always {label}" for label in labels]
