"""What metrics are made of: cells, sums of cells, and one another, each computed once."""

import inspect
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.metrics import binary
from bayescm.metrics.multiclass import Cells
from bayescm.metrics.table import BINARY

Array = NDArray[np.float64]

CELLS = ("tp", "fn", "fp", "tn")
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: function for name, function in vars(binary).items() if inspect.isfunction(function)},
    **{name: metric.function for metric in BINARY for name in (metric.name, *metric.aliases)},
}
KNOWN = frozenset((*CELLS, *FUNCTIONS))
_SET_UP = [binary.expected_cost, binary.net_benefit]
"""Given costs or a threshold, each a new function, which takes longer to inspect than to call."""


@lru_cache(maxsize=256)
def needs(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names that a function is given: what it can't do without, and what it knows of the optional ones."""
    if isinstance(function, partial) and not function.args and function.func in _SET_UP:
        return tuple(name for name in needs(function.func) if name not in function.keywords)
    bound = function.keywords if isinstance(function, partial) else {}
    return tuple(
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.name not in bound
        and (p.default is p.empty or p.name in KNOWN)
        and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    )


class Quantities:
    """The cells of one block of matrices, and what has been computed from them so far."""

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self._known: dict[str, Array] = dict(cells._asdict())

    def __getitem__(self, name: str) -> Array:
        if name not in self._known:
            value = self.call(FUNCTIONS[name])
            value.flags.writeable = False  # a user's function must not change what the next one gets
            self._known[name] = value
        return self._known[name]

    def call(self, function: Callable[..., Any]) -> Array:
        """Call a function with the quantities that its arguments name."""
        result: Array = function(**{name: self[name] for name in needs(function)})
        return result
