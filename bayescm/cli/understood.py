"""The table as it was understood: printed with every answer, and in its JSON."""

from collections.abc import Hashable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from bayescm.data.schema import ACTUAL, CELLS_OF_TWO, PREDICTED, labels_of, positive_class
from bayescm.data.shapes import is_scored, is_weighted
from bayescm.data.units import without_units
from bayescm.models import same_items
from bayescm.results.summaries import of_matrix

if TYPE_CHECKING:
    import xarray as xr

_CELLS_WIDE, _ROWS = 66, 30  # what fits


def matrices_of(systems: Any) -> "xr.DataArray | None":
    """Return the confusion matrix of each system; None where only right and wrong answers, or scores, are known."""
    import xarray as xr

    if not isinstance(systems, xr.Dataset):
        matrices: xr.DataArray = systems
        return matrices
    if ACTUAL not in systems or is_scored(systems) or is_weighted(systems):
        return None
    return same_items.patterns(systems).labelled()


def records(counts: "xr.DataArray") -> list[dict[str, Any]]:
    """Return a record per matrix and cell."""
    counts = without_units(counts)
    named = _named(counts, counts.dims)
    return [names | {"n": n} for names, n in zip(named, counts.values.ravel().tolist(), strict=True)]


def _named(counts: "xr.DataArray", dims: Sequence[Hashable]) -> list[dict[str, Any]]:
    """Return what names each place in these dims, in their order."""
    axes = (counts[dim].values.tolist() for dim in dims)
    return [dict(zip(map(str, dims), names, strict=True)) for names in product(*axes)]


def table(counts: "xr.DataArray") -> tuple[list[dict[str, Any]], str, str]:
    """Return rows, title and note: of one matrix with its totals, or a row for each of several, or of many classes."""
    counts, labels = without_units(counts), labels_of(counts)
    digits = len(f"{int(counts.sum()):,}")
    fits = (len(labels) + 1) * (max(digits, 8) + 2) <= _CELLS_WIDE
    rows = _several(counts) if counts.ndim > 2 else (of_matrix if fits else _classes)(counts)
    told = positive_class(counts)
    about = f"positive: {told['positive_class']}" if told else f"{len(labels)} classes"
    more = f"{len(rows) - _ROWS} more" if len(rows) > _ROWS else ""
    return rows[:_ROWS], f"the counts as understood; {about}", more


def _classes(counts: "xr.DataArray") -> list[dict[str, Any]]:
    """Return a record per class, without the single mistakes."""
    totals = {"items": counts.values.sum(1), PREDICTED: counts.values.sum(0), "right": counts.values.diagonal()}
    return [
        {ACTUAL: label, **{name: int(n[i]) for name, n in totals.items()}} for i, label in enumerate(labels_of(counts))
    ]


def _several(counts: "xr.DataArray") -> list[dict[str, Any]]:
    """Return a record per matrix: its four cells, or its items."""
    found = []
    matrices = counts.values.reshape(-1, *counts.shape[-2:])
    for names, matrix in zip(_named(counts, counts.dims[:-2]), matrices, strict=True):
        if matrix.size == len(CELLS_OF_TWO):
            cells = dict(zip(CELLS_OF_TWO, matrix.ravel().tolist(), strict=True))
            found.append(names | {name: cells[name] for name in ("tp", "fn", "fp", "tn")})
        else:
            found.append(names | {"items": int(matrix.sum()), "right": int(matrix.trace())})
    return found
