"""What questions return: a Dataset or DataTree of our own class, which xarray and ArviZ take as it is.

No method of xarray is replaced. A result that was computed with is a plain Dataset, or one whose stamp no longer fits
its numbers: it is shown by xarray. So is one that was loaded from a file, and its accessor ``.bayescm`` tells it.
"""

import textwrap
import types
from collections.abc import Callable
from functools import wraps
from typing import Any, overload

import xarray as xr

from bayescm.data.schema import METRIC
from bayescm.results.display import WIDE, Answer, contents, told
from bayescm.results.stamps import stamp


@overload
def stamped[**P](function: Callable[P, xr.DataTree]) -> Callable[P, "ResultTree"]: ...
@overload
def stamped[**P](function: Callable[P, xr.Dataset]) -> Callable[P, "Result"]: ...
def stamped(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function return a result, stamped; to all who look it is the same function of the same module."""

    def call(*given: Any, **options: Any) -> Any:
        return mark(function(*given, **options))

    mark = as_result
    made = types.FunctionType(call.__code__, function.__globals__, call.__name__, None, call.__closure__)
    return wraps(function)(made)


class Picture:
    """What draws a result: called, the picture that its kind has; else xarray's own ``.plot``."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __call__(self, **options: Any) -> Any:
        """Draw the result: see :meth:`Answer.plot`."""
        return Answer(self._data).plot(**options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(xr.Dataset.plot(self._data), name)


class Result(xr.Dataset):  # type: ignore[no-untyped-call]
    """A Dataset that bayescm returned: it is shown by its answer as long as it holds the numbers of that answer."""

    __slots__ = ()
    bayescm: Answer

    def __repr__(self) -> str:
        return _text(self, super().__repr__)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return _html(self, super()._repr_html_)

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)
        except KeyError as error:
            if isinstance(key, str) and METRIC in self.dims:
                raise KeyError(f"{error.args[0]} Of a metric: .bayescm[{key!r}], or .sel(metric={key!r}).") from None
            raise

    @property
    def plot(self) -> Picture:  # type: ignore[override]
        """Draw the result."""
        return Picture(self)


class ResultTree(xr.DataTree):  # type: ignore[no-untyped-call]
    """A DataTree that bayescm returned: it is shown by its answer as long as it holds the numbers of that answer."""

    __slots__ = ()
    bayescm: Answer

    def __repr__(self) -> str:  # type: ignore[override]
        return _text(self, super().__repr__)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return _html(self, super()._repr_html_)

    @property
    def plot(self) -> Picture:
        """Draw the result."""
        return Picture(self)


def as_result(made: Any) -> Any:
    """Make a Dataset or DataTree one of ours: words and yes or no are coordinates, so that arithmetic works."""
    if isinstance(made, xr.Dataset):
        made = made.set_coords(_words(made))
        made.__class__ = Result
    elif isinstance(made, xr.DataTree):
        for node in made.subtree:
            if words := _words(node):  # each new Dataset of a node is aligned with the others
                node.dataset = node.to_dataset().set_coords(words)
        made.__class__ = ResultTree
    return stamp(made)


def _words(data: xr.Dataset | xr.DataTree) -> list[Any]:
    """Return the variables that are no numbers."""
    variables = data.variables
    return [name for name in data.data_vars if variables[name].dtype.kind in "UTOb"]


def _text(data: xr.Dataset | xr.DataTree, otherwise: Callable[[], str]) -> str:
    shown = told(data, lambda answer: f"{answer!r}\n{textwrap.shorten(contents(data), WIDE, placeholder=' ...')}")
    return otherwise() if shown is None else shown


def _html(data: xr.Dataset | xr.DataTree, otherwise: Callable[[], str]) -> str:
    shown = told(data, lambda answer: answer.html(folded=otherwise()))
    return otherwise() if shown is None else shown
