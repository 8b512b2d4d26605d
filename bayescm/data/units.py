"""Units of sampling: patients with several lesions, questions with several answers, images with many objects.

Counts by unit have a dim for the units, answers one by one a coordinate of the items; the attr ``unit`` names it, so
that no question needs to be told again.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.assumptions import assumed
from bayescm.data.labels import codes, grouped, plain
from bayescm.data.schema import (
    ACTUAL,
    ASKS,
    ITEM,
    LABEL,
    MATRIX,
    ONE_CLASS,
    PREDICTED,
    RATERS,
    RUN,
    SYSTEM,
    TOTALS,
    UNIT,
    WEIGHT,
)
from bayescm.data.scores import Scores
from bayescm.data.shapes import is_scored, is_weighted

Array = NDArray[np.float64]

_OVER = {"items": "over all items of", "units": "mean over", "fixed_units": "mean over these"}
COUNT_AS = "effective_items"
"""The attr of counts of weighted items: as how many equal ones they count (Kish 1965)."""
KNOWN_WEIGHTS = "weights that are known, and say how much of the population each item stands for"
CROSSED = " \u00d7 "
"""Stands between the names of two units that are crossed, and between those of their levels."""
SAMPLED = "sampled"
"""The attr that says in words what was sampled, and what is averaged."""
FEW = 8
"""Units below which an interval rests much on the prior unit: see the study `units`."""
_MOST = 0.3
"""Share of one unit's items above which the others say little, if it is twice an even share: see the study."""
_TELLS = 2.5
"""Standard errors between the mean over units and that over items from which sizes go with accuracy."""
_ROUNDING = 1e-9  # of means where all units have as many items
_REPEATED = 0.75
"""Different names among rows, as a share, up to which rows are of the same units."""
_LIKELY = frozenset({
    "patient", "subject", "participant", "question", "image", "document", "doc", "query", "passage", "scene", "video",
    "dialogue", "conversation", "cluster", "slide", "study", "user",
})  # fmt: skip
"""Columns that mostly name what was sampled, also with "_id" behind."""
_WHO = frozenset({"reader", "rater", "judge", "annotator", "observer", "radiologist", "case", "item"})
"""Columns that mostly name a second unit beside one that was named."""


def unit_of(data: Any) -> str:
    """Return what counts or answers name as their unit of sampling; nothing where items were sampled."""
    name = getattr(data, "attrs", {}).get(UNIT, "")
    return name if name and (name in data.dims or (name in data.coords and ITEM in data[name].dims)) else ""


def named_units(unit: Any, name: str = UNIT) -> tuple[str, NDArray[Any]]:
    """Return the name and the values of units that were given as an array, or of two crossed ones.

    Parameters
    ----------
    unit : array_like of shape (n,), or two of them
        Two as a tuple, which may be columns of a frame, or as a mapping of their names to them.
    name : str
        Of one that has none.
    """
    parts = list(unit.values()) if isinstance(unit, Mapping) else unit
    names = list(unit) if isinstance(unit, Mapping) else [f"first {name}", f"second {name}"]
    if isinstance(parts, list | tuple) and len(parts) == 2 and all(np.ndim(one) == 1 for one in parts):
        if parts is unit:
            names = [str(getattr(one, "name", None) or told) for one, told in zip(parts, names, strict=True)]
        values = [plain("unit", one) for one in parts]
        validate.same_length(**dict(zip(("unit[0]", "unit[1]"), values, strict=True)))
        if any(CROSSED in str(level) for one in values for level in np.unique(one)):
            raise ValueError(f"names of crossed units can't hold {CROSSED!r}, which stands between them.")
        return CROSSED.join(map(str, names)), np.array(
            [CROSSED.join(map(str, row)) for row in zip(*values, strict=True)]
        )
    if isinstance(unit, Mapping):
        raise ValueError(f"`unit` must be an array, or two that are crossed; got {names}.")
    return name, plain("unit", unit)


def columns_of_units(unit: Any) -> list[Any]:
    """Return the columns that name units: none, one, or those of two that are crossed."""
    if isinstance(unit, list | tuple) and len(unit) == 2:
        return list(unit)
    return [] if unit is None else [unit]


def margins(name: str, values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return which of either unit each reading is of; None of units that aren't crossed."""
    if CROSSED not in name:
        return None
    first, _, second = zip(*(str(one).partition(CROSSED) for one in values), strict=True)
    return tuple(np.unique(one, return_inverse=True)[1].astype(np.int64) for one in (first, second))  # type: ignore[return-value]


def marked(data: Any, unit: Any) -> Any:
    """Return data that name their unit of sampling: a dim of counts, or a coordinate of items."""
    if unit is None:
        return data
    if isinstance(unit, list | tuple) and len(unit) == 2 and all(one in getattr(data, "coords", {}) for one in unit):
        return _crossed(data, *unit)
    known: list[Any] = []
    if isinstance(data, xr.DataArray) and set(MATRIX) <= set(data.dims) and TOTALS not in data.coords:
        known = [dim for dim in data.dims if dim not in (*MATRIX, SYSTEM)]
    elif isinstance(data, xr.Dataset) and PREDICTED in data:
        known = [name for name, c in data.coords.items() if c.dims == (ITEM,) and name not in (ITEM, WEIGHT)]
    if not isinstance(unit, str) or unit not in known:
        raise ValueError(
            f"`unit` must name a dim of counts or a column of a table, or be an array beside labels, such as "
            f"bayescm.confusion_matrix(y_true, y_pred, unit=patients); got {unit!r:.60}"
            f"{f', and there are {known}' if known else ''}."
        )
    return data.assign_attrs({UNIT: unit})


def _crossed(data: Any, first: str, second: str) -> Any:
    """Return data whose crossed units, two dims of counts or two coordinates of items, are one with both names."""
    name = CROSSED.join((first, second))
    if isinstance(data, xr.Dataset):
        _, values = named_units({first: data[first].values, second: data[second].values})
        return data.assign_coords({name: (ITEM, values)}).assign_attrs({UNIT: name})
    stacked = data.stack({name: (first, second)}, create_index=False)
    _, values = named_units({first: stacked[first].values, second: stacked[second].values})
    return stacked.drop_vars([first, second]).assign_coords({name: values}).assign_attrs({UNIT: name})


def by_unit(data: Any) -> xr.DataArray | None:
    """Return counts ``(..., unit, actual, predicted)`` of what was sampled by unit; None where items were sampled.

    Units of one item each are items, but for subjects of raters, and items with scores or weights, which are units.
    """
    unit = unit_of(data)
    if is_scored(data) or is_weighted(data):
        return _of_answers(data, unit or ITEM)
    if not unit:
        return None
    if isinstance(data, xr.DataArray):
        counts = data.transpose(..., unit, *MATRIX)
        single = (
            CROSSED not in unit
            and RATERS not in counts.attrs
            and counts.ndim == 3
            and counts.chunks is None
            and int(counts.sum(MATRIX).max()) < 2
        )
        return None if single else counts
    single = CROSSED not in unit and len(np.unique(data[unit])) == data.sizes[ITEM]
    return None if single else _of_answers(data, unit)


def without_units(data: Any) -> Any:
    """Return the items, of whatever units they are."""
    unit = unit_of(data)
    return data.sum(unit).drop_attrs() if unit and isinstance(data, xr.DataArray) else data


def _of_answers(data: xr.Dataset, unit: str) -> xr.DataArray:
    """Count answers by system and unit: of several runs of an item their shares, of scores their sums.

    Weights of items are made so that they add up to the number of items.
    """
    if SYSTEM not in data.dims:
        several = data.assign({PREDICTED: data[PREDICTED].expand_dims(SYSTEM)})
        return _of_answers(several, unit).isel({SYSTEM: 0}, drop=True)
    labels, names = data[LABEL].values, data[SYSTEM].values
    sorter, (k, n) = np.argsort(labels), (len(labels), data.sizes[ITEM])
    true = codes(data[ACTUAL].values, labels, sorter)
    (levels,), (place,) = grouped([unit], {unit: data[unit].values})
    given = data[PREDICTED].transpose(SYSTEM, ITEM, ...).values.reshape(len(names), n, -1)
    counts, weight = np.zeros((len(names), len(levels), k, k)), np.ones(n)
    known = {name: data.attrs[name] for name in (ASKS, ONE_CLASS) if name in data.attrs} | {UNIT: unit}
    if is_weighted(data):
        weight = data[WEIGHT].values / data[WEIGHT].values.mean()
        known[COUNT_AS] = n**2 / float(weight @ weight)
    for filled, answers in zip(counts, given, strict=True):
        if is_scored(data):
            filled[:, 1, 1], filled[:, 1, 0] = (
                np.bincount(place, weight * s) for s in (answers[:, 0], 1 - answers[:, 0])
            )
            continue
        flat = np.ravel_multi_index(
            (place[:, None], true[:, None], codes(answers, labels, sorter)), filled.shape, mode="raise"
        )
        each = np.repeat(weight / given.shape[-1], given.shape[-1])
        filled[...] = np.bincount(flat.ravel(), each, filled.size).reshape(filled.shape)
    coords = {SYSTEM: names, unit: levels} | dict.fromkeys(MATRIX, labels)
    runs = {"runs": data.sizes[RUN]} if RUN in data[PREDICTED].dims else {}
    return xr.DataArray(counts, dims=(SYSTEM, unit, *MATRIX), coords=coords, name="counts", attrs=known | runs)


def check_average(average: Any) -> str:
    """Return what is averaged, or say where averages over classes are asked for."""
    if average not in _OVER:
        raise ValueError(
            "`average` must be 'items' (pooled), 'units' (the mean over a sample of these) or 'fixed_units' (over all "
            f"that there are); averages over classes are in the name of a metric, such as 'f1_macro'; got {average!r}."
        )
    return str(average)


def plural(unit: str) -> str:
    """Return the name of several units: "patients" of "patient_id", "readers and cases" of crossed ones."""
    if CROSSED in unit:
        return " and ".join(map(plural, unit.split(CROSSED)))
    name = unit.removesuffix("_id").replace("_", " ")
    if name.endswith("y") and name[-2:-1] not in set("aeou"):
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith(("s", "x", "ch", "sh")) else f"{name}s"


def described(counts: xr.DataArray, average: str) -> tuple[str, list[str]]:
    """Say what was sampled and averaged, and where that may mislead.

    Parameters
    ----------
    counts : xarray.DataArray
        ``(..., unit, actual, predicted)``, computed.
    average : {"items", "units", "fixed_units"}
    """
    unit = str(counts.dims[-3])
    names, values, weighted = plural(unit), counts.values.reshape(-1, *counts.shape[-3:]), COUNT_AS in counts.attrs
    weighed = f"; weights count as {counts.attrs[COUNT_AS]:.3g} equal items" if weighted else ""
    if (which := margins(unit, counts[unit].values)) is not None:
        text, notes = _described_crossed(unit, values, which)
        return (text.partition(";")[0] if is_scored(counts) else text) + weighed, notes
    sizes = values.sum((-2, -1))
    tested, totals = (sizes > 0).sum(-1), sizes.sum(-1)
    effect = design_effect(values)
    n, most = int((sizes.sum(0) > 0).sum()), sizes.max(-1) / np.maximum(totals, 1)
    held, over = sizes[sizes > 0], f"{_OVER[average]} {n} {names}"
    few = _of_few(int(tested.min()), most.max(), names, "weight" if weighted else "items")
    if raters := counts.attrs.get(RATERS):
        return f"{'mean ' if average == 'units' else ''}over {n} {names} and pairs of {raters} raters", few
    text = f"over {n} items" if names == "items" else over if weighted or not held.size else f"{over}{_each(held)}"
    text += weighed
    if average == "fixed_units":
        return f"{text}, and no others", []
    if names != "items" and np.isfinite(effect).any() and not is_scored(counts):
        text += f"; design effect of accuracy {_span(effect[np.isfinite(effect)])}"
    return text, few + ([] if weighted else _of_sizes(values, names, average))


def _described_crossed(
    unit: str, values: Array, which: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> tuple[str, list[str]]:
    """Say of crossed units how many of either there are, what that does to accuracy, and what little they tell."""
    sums = [np.stack([values[:, one == i].sum(1) for i in range(one.max() + 1)], 1) for one in which]
    tested = [int((one.sum((0, -2, -1)) > 0).sum()) for one in sums]
    said = [f"{n} {plural(name)}" for n, name in zip(tested, unit.split(CROSSED), strict=True)]
    text, effect = (
        f"over all items of {' and '.join(said)}, crossed",
        design_effect(sums[0]) + design_effect(sums[1]) - 1.0,
    )
    if (known := effect[np.isfinite(effect)]).size:
        text += f"; design effect of accuracy {_span(np.maximum(known, 0.0))}"
    few = [one for n, one in zip(tested, said, strict=True) if n < FEW]
    return text, [f"{one} show little of how they differ, and where they do by much an interval is too short"
                  for one in few]  # fmt: skip


def _of_sizes(values: Array, names: str, average: str) -> list[str]:
    """Say where the mean accuracy over units differs surely from that over items."""
    for counts in values:
        size = counts.sum((-2, -1))
        size, right = size[size > 0], np.diagonal(counts, 0, -2, -1).sum(-1)[size > 0]
        n = len(size)
        if n < FEW:
            continue
        each, pooled = right / size, right.sum() / size.sum()
        apart = (right - pooled * size) / size.sum() - (each - each.mean()) / n
        error = np.sqrt(n / (n - 1) * (apart**2).sum())
        if abs(pooled - each.mean()) > _TELLS * error + _ROUNDING:
            which = "more" if pooled > each.mean() else "less"
            other = "units" if average == "items" else "items"
            return [
                f"{names} with more items are {which} accurate: {pooled:.2f} over all items, {each.mean():.2f} as mean "
                f"over {names} (average={other!r})"
            ]
    return []


def in_units(scores: Scores, unit: Any) -> Scores:
    """Return scores whose items are of units; units of one item each are items. Crossed units have a row for either."""
    if unit is None:
        return scores
    name, values = named_units(unit)
    validate.same_length(y_true=scores.positive, unit=values)
    if (crossed := margins(name, values)) is not None:
        return scores._replace(unit=np.stack(crossed))
    which = np.unique(values, return_inverse=True)[1].astype(np.int64)
    return scores if len(np.unique(which)) == len(which) else scores._replace(unit=which)


def one_by_one(scores: Scores) -> Scores:
    """Return scores of one kind of units, or of none."""
    if scores.unit is not None and scores.unit.ndim == 2:
        raise ValueError(
            "`unit`s that are crossed have no curve together, as each reader has a scale of its own; bayescm.auc takes "
            "them, and bayescm.readers compares systems by them."
        )
    return scores


def of_units(unit: NDArray[np.int64] | None, prevalence: Any = None) -> dict[str, Any]:
    """Return the attrs that say that the items of scores are of units; nothing where they aren't."""
    if unit is None:
        return {}
    if unit.ndim == 2:
        r, c = unit.max(1) + 1
        return {
            UNIT: CROSSED.join(("unit 1", "unit 2")), "units": int(r * c),
            SAMPLED: f"mean over {r} units, of the area of each, crossed with {c} units",
            "assumptions": assumed(items=independent("units of both kinds")),
        }  # fmt: skip
    sizes = np.bincount(unit)
    n, most = len(sizes), sizes.max() / len(unit)
    return {
        UNIT: "unit", "units": n, SAMPLED: f"over all items of {n} units{_each(sizes)}",
        "assumptions": assumed(None if isinstance(prevalence, str) else prevalence, items=independent("units")),
    } | _noted(_of_few(n, most, "units"))  # fmt: skip


def independent(names: str) -> str:
    """Return what is assumed of units."""
    return f"independent {names} of one population" + ("" if names == "items" else ", whose items may be alike")


def _noted(notes: list[str]) -> dict[str, str]:
    return {"carried_by": "; ".join(notes)} if notes else {}


def _each(sizes: NDArray[Any]) -> str:
    """Say how many items units have."""
    low, high = f"{sizes.min():.3g}", f"{sizes.max():.3g}"
    return f", of {low if low == high else f'{low} to {high}'} items each"


def _of_few(n: int, most: float, names: str, what: str = "items") -> list[str]:
    """Say where units are few, or one of them has most of the items, or of their weight."""
    notes = []
    if n < FEW:
        notes.append(f"with fewer than {FEW} {names} an interval rests much on the prior, which is one more of them")
    if most > max(_MOST, 2.0 / n):
        notes.append(f"one of the {names} holds {most:.0%} of the {what}")
    return notes


def design_effect(values: Array) -> Array:
    """Return by how much units make the variance of accuracy larger than independent items do, (B,) of (B, G, K, K)."""
    size, right = values.sum((-2, -1)), np.diagonal(values, 0, -2, -1).sum(-1)
    total, n = size.sum(-1), (size > 0).sum(-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        p = right.sum(-1) / total
        between = n / (n - 1) * ((right - p[:, None] * size) ** 2).sum(-1) / total**2
        return np.asarray(between / (p * (1 - p) / total))


def icc(values: Array) -> Array:
    """Return the intraclass correlation of right answers, cut at 0 and 1, (B,) of (B, G, K, K).

    By the analysis of variance: Fleiss 1981, Statistical Methods for Rates and Proportions, section 13.2.
    """
    size, right = values.sum((-2, -1)), np.diagonal(values, 0, -2, -1).sum(-1)
    total, n = size.sum(-1), (size > 0).sum(-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        each = np.where(size > 0, right / size, 0.0)
        between = (size * (each - (right.sum(-1) / total)[:, None]) ** 2).sum(-1) / (n - 1)
        within = (right * (1.0 - each)).sum(-1) / (total - n)
        typical = (total - (size**2).sum(-1) / total) / (n - 1)
        return np.asarray(np.clip((between - within) / (between + (typical - 1.0) * within), 0.0, 1.0))


def _span(values: Array) -> str:
    low, high = f"{values.min():.1f}", f"{values.max():.1f}"
    return low if low == high else f"{low} to {high}"


def names_units(column: Any) -> bool:
    """Say whether a column has a name that units mostly have."""
    return str(column).strip().casefold().removesuffix("_id") in _LIKELY


def asking[D: (xr.DataArray, xr.Dataset)](
    data: D, columns: Sequence[Any], read: Callable[[Any], Any], unit: tuple[str, Any] | None = None
) -> D:
    """Let data ask about a column with a name of units, of several rows each, that nobody called so.

    Parameters
    ----------
    data : xarray.DataArray or xarray.Dataset
    columns : sequence
        Those that nothing was said of.
    read : callable
        Returns the values of a column.
    unit : pair of str and ndarray, optional
        The name and the values of the column that was called so: then asked is about one that is crossed with it.
    """
    for name in columns:
        likely = names_units(name) or (unit is not None and str(name).strip().casefold().removesuffix("_id") in _WHO)
        values = np.asarray(read(name)).astype(str) if likely else np.empty(0)
        n = len(np.unique(values))
        if n < 2 or n > _REPEATED * len(values):
            continue
        several = plural(name.strip().casefold())
        if unit is None:
            text = f"{len(values)} rows are of {n} {several}; if {several} were sampled, say unit={name!r}"
            return data.assign_attrs({ASKS: text})
        named = np.asarray(unit[1]).astype(str)
        m, pairs = len(np.unique(named)), len(set(zip(named.tolist(), values.tolist(), strict=True)))
        if m > 1 and pairs > max(_REPEATED * m * n, m, n):
            text = f"{n} {several} share {m} {plural(unit[0])}; if both were sampled, say unit=({name!r}, {unit[0]!r})"
            return data.assign_attrs({ASKS: text})
    return data
