"""What metrics are made of: cells, sums of cells, and one another, each computed once."""

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.metrics import binary
from bayescm.metrics.multiclass import Cells

Array = NDArray[np.float64]

CELLS = ("tp", "fn", "fp", "tn")
FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: function for name, function in vars(binary).items() if inspect.isfunction(function)
}


@lru_cache(maxsize=256)
def needs(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the arguments that a function can't do without."""
    named = (
        p for p in inspect.signature(function).parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    )
    return tuple(p.name for p in named if p.default is p.empty)


class Quantities:
    """The cells of one block of matrices, and what has been computed from them so far."""

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self._known: dict[str, Array] = dict(cells._asdict())

    def __getitem__(self, name: str) -> Array:
        if name not in self._known:
            self._known[name] = self.call(FUNCTIONS[name])
        return self._known[name]

    def call(self, function: Callable[..., Any]) -> Array:
        """Call a function with the quantities that its arguments name."""
        result: Array = function(**{name: self[name] for name in needs(function)})
        return result
