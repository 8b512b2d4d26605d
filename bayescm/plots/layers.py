"""What a picture shows: which parts of the data, under which names, and in which colours."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.schema import METRIC
from bayescm.metrics import available
from bayescm.plots.style import MOST_COLORS, palette

Array = NDArray[np.float64]

STYLES = ("-", "--", "-.", ":")
MARKERS = "osD^v<>P"
LINE_STYLES = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))


class Layer(NamedTuple):
    """One thing to be drawn, without batch dims."""

    name: str
    data: xr.Dataset
    color: str
    style: Any


def named(data: Any, what: str) -> list[tuple[str, Any]]:
    """Return what was given with its names: those of a mapping, none of one alone."""
    several = isinstance(data, Mapping) and not isinstance(data, xr.Dataset | xr.DataTree)
    pairs = [(str(name), one) for name, one in data.items()] if several else [("", data)]
    if not pairs:
        raise ValueError(f"`data` is empty; give at least one {what}.")
    return pairs


def batch_of(data: xr.Dataset, variable: str, own: Sequence[Any], argument: str = "data") -> str | None:
    """Return the one batch dim that a variable has besides its own; None without any."""
    batch = [str(dim) for dim in data[variable].dims if dim not in own]
    if len(batch) > 1:
        raise ValueError(f"`{argument}` must have at most one batch dim; got {batch}. Select or stack first.")
    return batch[0] if batch else None


def labels_of(coordinate: xr.DataArray) -> list[str]:
    """Return the names of a batch: text alone, numbers behind the name of the dim."""
    values = batch_labels(coordinate.values)
    return values if coordinate.dtype.kind in "UO" else [f"{coordinate.name} {value}" for value in values]


def parts(
    name: str, data: xr.Dataset, variable: str, own: Sequence[Any], argument: str = "data",
    labels: Callable[[xr.DataArray], list[str]] = labels_of,
) -> list[tuple[str, xr.Dataset]]:  # fmt: skip
    """Return the parts of a batch with their names."""
    batch, data = batch_of(data, variable, own, argument), data.compute()
    if batch is None:
        return [(name, data)]
    if data.sizes[batch] == 0:
        raise ValueError(f"`{argument}` has a batch dim of size 0; give at least one of the {batch}s.")
    return [(f"{name} {label}".strip(), data.isel({batch: i})) for i, label in enumerate(labels(data[batch]))]


def batch_labels(values: NDArray[Any]) -> list[str]:
    """Write the coordinates of a batch, numbers with as few digits as tell them apart."""
    if values.dtype.kind != "f":
        return [str(value) for value in values]
    for digits in (3, 6):
        written = [f"{value:.{digits}g}" for value in values]
        if len(set(written)) == len(set(values.tolist())):
            return written
    return [str(value) for value in values]


def tell_apart(number: int, what: str, most: int = MOST_COLORS, argument: str = "data", or_else: str = "") -> None:
    """Refuse more than have colours of their own."""
    if number > most:
        raise ValueError(
            f"`{argument}` has {number} {what}, and more than {most} can't be told apart; select some{or_else}."
        )


def layers(
    pairs: Sequence[tuple[str, xr.Dataset]], names: Sequence[str] | None, what: str, taken: int = 0
) -> list[Layer]:
    """Give each thing its name, colour and line style, behind those already taken."""
    tell_apart(len(pairs), f"{what}s")
    called = renamed(names, [name for name, _ in pairs], what)
    return [
        Layer(name, one, palette()[i % MOST_COLORS], LINE_STYLES[i % len(LINE_STYLES)])
        for i, (name, (_, one)) in enumerate(zip(called, pairs, strict=True), start=taken)
    ]


def renamed(names: Sequence[str] | None, own: list[str], what: str) -> list[str]:
    """Return the names that were given instead of their own, one for each thing in a picture."""
    if names is None:
        return own
    if isinstance(names, str) or len(names) != len(own):
        raise ValueError(f"`names` must be {len(own)} names, one for each {what}; got {names!r}.")
    return [str(name) for name in names]


def stored_names(argument: str, wanted: str | Sequence[str], stored: Sequence[str]) -> list[str]:
    """Return the metrics that are wanted as they are stored; they may be given by their short names."""
    aliases = {alias: metric.name for metric in available() for alias in metric.aliases}
    given = [wanted] if isinstance(wanted, str) else validate.listed(argument, wanted)
    names = [name if name in stored else aliases.get(str(name).lower(), name) for name in given]
    missing = [one for one, name in zip(given, names, strict=True) if name not in stored]
    if missing or not names:
        what = repr(missing[0]) if missing else "none"
        raise ValueError(f"`{argument}` must be some of {', '.join(stored)}; got {what}.")
    validate.unique(argument, names)
    return names


def selected(data: xr.Dataset, argument: str, wanted: str | Sequence[str]) -> xr.Dataset:
    """Return the metrics of a Dataset that are wanted."""
    return data.sel({METRIC: stored_names(argument, wanted, [str(name) for name in data[METRIC].values])})
