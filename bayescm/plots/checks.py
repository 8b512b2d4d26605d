"""What a picture is made of: one check of the first argument, and one writing of probabilities."""

from collections.abc import Collection, Mapping
from typing import Any

import xarray as xr


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
