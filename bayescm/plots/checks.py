"""What a picture is made of: an answer as it is, or a posterior, which is asked; anything else is refused."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import xarray as xr


def answer_of(
    question: Callable[..., Any], data: Any, has: Collection[str], attrs: Collection[str] = (), *, call: str = "",
    **options: Any,
) -> xr.Dataset:  # fmt: skip
    """Return data that answer a question as they are, and what the question says of a posterior.

    Parameters
    ----------
    question : callable
        A public function.
    data : xarray.Dataset or xarray.DataTree
        What it returns, or draws of a model.
    has, attrs, call
        As of :func:`require`.
    **options
        Of the question, where draws are asked; None is left out.
    """
    if isinstance(data, xr.DataTree):
        answer: xr.Dataset = asked(question, data, **options)
        return answer
    require("data", data, f"bayescm.{question.__name__}", has, attrs, call=call)
    answered: xr.Dataset = data
    return answered


def asked(question: Callable[..., Any], data: Any, **options: Any) -> Any:
    """Ask for the picture's `data`; a refusal says so."""
    try:
        return question(data, **{name: value for name, value in options.items() if value is not None})
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).replace("`counts`", "`data`", 1)) from None


def require(
    argument: str, data: Any, of: str, has: Collection[str], attrs: Collection[str] = (), *, call: str = ""
) -> None:
    """Refuse what isn't a Dataset with these variables or coordinates, and attrs.

    Parameters
    ----------
    argument : str
        Its name.
    data : Any
        What came.
    of : str
        The function that returns what is wanted.
    has, attrs : collection of str
        Names that tell it from other Datasets.
    call : str
        To be made instead.
    """
    if isinstance(data, xr.Dataset) and set(has) <= set(data.variables) and set(attrs) <= set(data.attrs):
        return
    refuse(argument, data, f"what {of} returns", call)


def refuse(argument: str, data: Any, wanted: str, call: str = "") -> None:
    """Raise a TypeError that says what is wanted, what came, and what to call instead."""
    cure = f" Call {call}." if call else ""
    raise TypeError(f"`{argument}` must be {wanted}; got {_came(data)}.{cure}")


def _came(data: Any) -> str:
    """Say what came."""
    if isinstance(data, xr.DataArray):
        return f"a DataArray over {', '.join(map(str, data.dims)) or 'nothing'}"
    if isinstance(data, xr.Dataset):
        names = [str(name) for name in data.data_vars]
        return f"a Dataset of {', '.join([*names[:4], *(['others'] if len(names) > 4 else [])]) or 'nothing'}"
    if isinstance(data, xr.DataTree):
        return f"a DataTree of {', '.join(data.children) or 'nothing'}"
    if isinstance(data, Mapping | list | tuple) and not data:
        return f"an empty {type(data).__name__}"
    return type(data).__name__
