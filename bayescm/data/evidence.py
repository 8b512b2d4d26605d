"""What was understood of the data that somebody gave."""

from dataclasses import dataclass
from typing import Any

import xarray as xr

from bayescm.data.schema import ACTUAL, LABEL, MATRIX, ONE_CLASS, PREDICTED, SCORED, TOTALS, as_read
from bayescm.data.shapes import is_reported, is_scored

SCORES = "scores"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evidence:
    """What was understood of the data that somebody gave, as :func:`bayescm.read` returns it; every question takes it.

    Attributes
    ----------
    data : xarray.DataArray, xarray.Dataset, xarray.DataTree or dict
        Counts, ``counts(..., actual, predicted)``; right and wrong answers, ``correct`` and ``wrong``; answers to the
        same items, ``actual(item)`` and ``predicted(system, item)``; scores, ``actual(item)`` and ``score([system,]
        item)``; the draws of a model; audits by system.
    how : str
        How it was read.
    """

    data: Any
    how: str

    @property
    def kind(self) -> str:
        """What it is."""
        data = self.data
        first = next(iter(data.values())) if isinstance(data, dict) else data
        if is_reported(first):
            return "printed metrics"
        if isinstance(data, dict):
            return "audits"
        if isinstance(data, xr.DataTree):
            return "draws of a model"
        if isinstance(data, xr.DataArray):
            joint = ACTUAL in data.dims and PREDICTED not in data.dims
            return "an audit" if TOTALS in data.coords else "answers to the same items" if joint else "counts"
        if "score" in data:
            return SCORES
        of_items = " to the same items" if PREDICTED in data else ""
        if is_scored(data):
            return f"{SCORED} of answers{of_items}"
        right = ONE_CLASS in data.attrs or {"correct", "wrong"} <= set(data.data_vars)
        return f"right and wrong answers{of_items}" if right else f"answers{of_items}"

    def places(self) -> tuple[Any, ...]:
        """Return the data as arguments: the truth and the scores, or the data themselves."""
        if self.kind != SCORES:
            return (self.data,)
        score = self.data["score"]
        several = (
            {name: score.isel({score.dims[0]: i}).values for i, name in enumerate(score[score.dims[0]].values.tolist())}
            if score.ndim > 1
            else {}
        )
        return self.data[ACTUAL].values, several or score.values

    def __repr__(self) -> str:
        """Say what was understood, in a few lines."""
        data, lines = self.data, [f"{self.kind}, read from {self.how}"]
        if isinstance(data, dict | xr.DataTree):
            return "\n".join([*lines, f"of {', '.join(map(str, data))}"])
        classes = data.coords.get(LABEL, data.coords.get(ACTUAL))
        if classes is not None and ONE_CLASS not in data.attrs and not self.kind.startswith("right"):
            known = classes.values.tolist()
            named = f"classes: {', '.join(map(str, known[:8]))}{', ...' * (len(known) > 8)}"
            positive = f"; the positive class is {known[1]}" if len(known) == 2 else ""
            read = as_read(data) if isinstance(data, xr.DataArray) and data.chunks is None else {}
            lines.append(named + positive + (f" ({read['counts']})" if "counts" in read else ""))
        over = [_dim(data, str(dim)) for dim in data.dims if dim not in (*MATRIX, LABEL)]
        return "\n".join([*lines, f"over {', '.join(over)}"] if over else lines)


def _dim(data: Any, dim: str) -> str:
    """Return the name of a dim, its size and the first names on it."""
    names = data[dim].values[:8].tolist() if dim in data.coords and dim != "item" else []
    more = ", ..." if len(names) < data.sizes[dim] else ""
    return f"{dim} ({data.sizes[dim]}{': ' if names else ''}{', '.join(map(str, names))}{more if names else ''})"
