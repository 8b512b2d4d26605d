"""Items of which only some were checked: counts of the checked ones, totals of all, by stratum."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.counts import check_counts, labelled
from bayescm.data.labels import MISSING, Label, coded, grouped, label_array
from bayescm.data.schema import ACTUAL, BATCH, MATRIX, OF, PREDICTED, TOTALS, UNIT_OF_AUDIT, labels_of
from bayescm.data.tables import columns_of

Array = NDArray[np.float64]

MODEL = "stratified"
OTHERS = "others"
TARGETS = ("process", "population", "items", OTHERS)


class Strata(NamedTuple):
    """What is known of every group of items that was sampled by itself."""

    counts: NDArray[np.int64]
    """(group, actual, predicted) of the checked items."""
    totals: Array
    """(group,) of all items."""
    possible: NDArray[np.bool_]
    """(group, actual, predicted): cells that an item of the group can be in."""
    names: list[str]
    of: str
    by_verdict: bool
    """Whether all items of a group have the same predicted class."""
    alike: bool
    """Whether there are several strata; not where these are the verdicts of another system."""

    @property
    def checked(self) -> NDArray[np.int64]:
        """Return the number of checked items of each group."""
        return np.asarray(self.counts.sum((1, 2)))


def audited(
    data: Any,
    totals: Any = None,
    *,
    of: str = "process",
    actual: str = "actual",
    predicted: str = "predicted",
    stratum: str | None = None,
    n: str | None = None,
    unit: str | None = None,
    dims: str | Sequence[str] | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
) -> xr.DataArray:
    """Put counts of checked items and the totals of their strata together.

    The verdict (`predicted`: a classifier's, a judge's, a map's) is known of all items, the truth of some. Questions
    then answer for all items.

    Parameters
    ----------
    data : data frame, xarray.DataArray or array_like
        A table with a row per item, whose column `actual` is empty (NaN, None, "") where nobody looked. Or counts
        of the checked items, ``counts(actual, predicted)`` or ``counts(stratum, actual, predicted)`` with any name of
        the stratum: then `totals` is needed.
    totals : sequence, mapping or xarray.DataArray, optional
        All items, checked or not: of each predicted class, in the order of the labels or by label; or of each stratum;
        or a DataArray over ``(stratum, predicted)``. Over the stratum alone the verdict, too, is known of checked items
        only. For ``of="population"`` areas or shares do as well. Of several audits over `dims`, too, in front.
    of : {"process", "population", "items", "others"}
        What is asked about. "process": the system on further such items, of which these are a sample, so that the
        totals are uncertain, too. "population": one whose strata have exactly the shares of the totals (the area of a
        map). "items": these items and no others: what was checked is known, the rest is predicted. "others": the
        totals are of other items, of which none was checked: what carries over from those of `data` are the error rates
        of each actual class (for two classes as :func:`bayescm.inference.rogan_gladen`), not how frequent these are.
    actual, predicted : str
        Columns of a table.
    stratum : str, optional
        Column of a table by which, beside the verdict, items were chosen to be checked.
    n : str, optional
        Column of a table that counts the items of each row: so many checked ones of this truth, or, where the truth is
        empty, so many that nobody looked at. None: every row is one item.
    unit : str, optional
        Column of a table, or dim of counts, of what was checked whole, with several items each, such as the patient of
        each image: units weigh at random, and one more with them. For "process" and "population", without strata.
    dims : str or sequence of str, optional
        Columns of a table, or dims of counts, that tell several audits apart, such as ``"system"``: each is answered by
        itself. :func:`leaderboard` and :func:`compare_systems` take those over ``system``.
    labels, pos_label
        As in :func:`confusion_matrix`, of a table.

    Returns
    -------
    xarray.DataArray
        ``counts([*dims,] [stratum,] actual, predicted)`` of the checked items, with the coordinate ``totals`` over
        ``predicted``, the stratum or both (and the batch), and the attr ``audit_of``.

    Raises
    ------
    ValueError
        If fewer items are in a stratum than were checked in it, totals are missing, negative or (but for
        ``of="population"``) no whole numbers, or nothing was checked.

    Warns
    -----
    UserWarning
        If a stratum with items has no checked one: what is said of it is the prior's.

    Notes
    -----
    Right only where checking depended on stratum and verdict alone, not on the truth: at random within each, or any
    way that knows nothing more. Items checked because they looked wrong need a stratum that says so. Several strata
    share the prior of one matrix, and lean on one another.

    Examples
    --------
    2,000 answers, of which a judge calls 1,900 right. People checked 20 of these and 20 of the others:

    >>> import bayescm
    >>> audit = bayescm.audited([[17, 1], [3, 19]], totals=[100, 1900])
    >>> bayescm.summary(audit, "prevalence").interval.values.round(3)  # the share of right answers
    array([[0.757, 0.955]])
    """
    of = validate.choice("of", of, TARGETS)
    several = [] if dims is None else [dims] if isinstance(dims, str) else list(dims)
    if unit is not None and (stratum is not None or of in ("items", OTHERS)):
        raise ValueError("`unit` is for an audit without strata of='process' or 'population'; leave it out.")
    if hasattr(data, "columns") and totals is None:
        counts, known = _of_table(data, (actual, predicted, stratum or unit, n), several, labels, pos_label)
        known = known if unit is None else known.sum(unit)
    else:
        if totals is None:
            raise ValueError(
                "`totals` is needed beside counts: how many items there are, checked or not, of each predicted class "
                "(or stratum). Or give a table with a row per item, whose truth is empty where nobody looked."
            )
        if any(option is not None for option in (stratum, n, labels, pos_label)):
            raise ValueError(
                "`stratum`, `n`, `labels` and `pos_label` are for a table whose truth is empty where nobody looked; "
                "leave them out, or leave out `totals`."
            )
        counts = check_counts(data)
        if missing := [dim for dim in several if dim not in counts.dims or dim in MATRIX]:
            raise ValueError(f"`dims` must be dims of the counts, {list(counts.dims[:-2])}; got {missing[0]!r}.")
        if unit is not None and (unit not in counts.dims or unit in MATRIX):
            raise ValueError(f"`unit` must be a dim of the counts, {list(counts.dims[:-2])}; got {unit!r}.")
        counts = counts.transpose(*several, ...)
        known = _placed(totals, counts if unit is None else counts.sum(unit), several)
    made = counts.assign_coords({TOTALS: known}).assign_attrs(
        {OF: of} | ({} if unit is None else {UNIT_OF_AUDIT: unit})
    )
    made = made.assign_attrs({BATCH: json.dumps(several)}) if several else made
    for where, one in singles(made):
        _warn_of_unchecked(where, one)
    return made


def _warn_of_unchecked(where: dict[str, Any], counts: xr.DataArray) -> None:
    """Name the strata of which nothing was checked, with their part of all items."""
    prefix = "".join(f"{label}: " for label in where.values())
    try:
        strata = read(by_items(counts))
    except ValueError as error:
        raise ValueError(f"{prefix}{error}") from None
    if strata.of == OTHERS:
        for label in np.array(labels_of(counts))[strata.counts.sum((0, 2)) == 0]:
            validate.warn(f"{prefix}no item of class {label!s} was checked: what is said of its errors is the prior's.")
        return
    nothing = (strata.checked == 0) & (strata.totals > 0)
    for name, total in zip(np.array(strata.names)[nothing], strata.totals[nothing], strict=True):
        part = f"{total / strata.totals.sum():.2g} of all items" if strata.of == "population" else f"{total:g} items"
        validate.warn(
            f"{prefix}{name or 'all'} has {part} and none was checked: what is said of them is the prior's. Check some."
        )


def batch_dims(counts: xr.DataArray) -> list[str]:
    """Return the dims over which there are several audits."""
    return [dim for dim in json.loads(counts.attrs.get(BATCH, "[]")) if dim in counts.dims]


def singles(counts: xr.DataArray) -> list[tuple[dict[str, Any], xr.DataArray]]:
    """Return each audit of a batch, with its labels; one audit as it is."""
    found: list[tuple[dict[str, Any], xr.DataArray]] = [({}, counts)]
    for dim in batch_dims(counts):
        names = counts[dim].values.tolist() if dim in counts.coords else list(range(counts.sizes[dim]))
        found = [
            (where | {dim: name}, one.isel({dim: i}, drop=True)) for where, one in found for i, name in enumerate(names)
        ]
    return found


def is_audit(counts: Any) -> bool:
    """Say whether counts are of checked items and carry the totals of all."""
    return isinstance(counts, xr.DataArray) and TOTALS in counts.coords


def of_data(counts: Any, model: Any) -> Any:
    """Return the model of an audit, which its data decide, and any other as it is."""
    if not is_audit(counts):
        return model
    if model not in ("dirichlet_multinomial", MODEL):
        raise ValueError(f"`model` of audited counts is {MODEL!r}; got {model!r}. Leave it out.")
    return MODEL


def settings(counts: xr.DataArray) -> dict[str, Any]:
    """Return the attrs of an answer for an audit."""
    strata = read(by_items(counts))
    totals = dict(zip(strata.names, strata.totals.tolist(), strict=True))
    return {"of": strata.of, TOTALS: totals, "checked": int(strata.checked.sum())}


def read(counts: Any) -> Strata:
    """Return the groups of :func:`audited` counts, checked."""
    if not is_audit(counts):
        raise ValueError(
            "`counts` must carry the totals of all items, checked or not: build them with bayescm.audited(counts, "
            "totals)."
        )
    of = validate.choice("of", counts.attrs.get(OF, TARGETS[0]), TARGETS)
    if UNIT_OF_AUDIT in counts.attrs:
        raise ValueError(
            "`counts` are an audit of units that were checked whole, of which bayescm.summary, probability, "
            "leaderboard, compare_systems and decide answer; this takes items one by one."
        )
    if several := batch_dims(counts):
        raise ValueError(
            f"`counts` are audits over {', '.join(several)}, and this takes one: select, as in counts.isel("
            f"{several[0]}=0). bayescm.summary and bayescm.probability take all; leaderboard and compare_systems those "
            "over 'system'."
        )
    totals, plain = counts.coords[TOTALS], check_counts(without_totals(counts))
    others = [str(dim) for dim in plain.dims if dim not in MATRIX]
    _check_dims(totals, others)
    values = _check_totals(totals, of)
    by_verdict = PREDICTED in totals.dims
    labels, k = labels_of(plain), plain.sizes[ACTUAL]
    strata = [str(name) for name in plain[others[0]].values] if others else [""]
    matrices = plain.values.reshape(-1, k, k)
    if by_verdict:
        column = np.eye(k, dtype=bool)
        found = np.where(column[:, None, :], matrices[:, None], 0).reshape(-1, k, k)  # (stratum, verdict, ...)
        possible = np.tile(np.broadcast_to(column[:, None, :], (k, k, k)), (len(strata), 1, 1))
        names = [f"{name}, {label}" if name else f"predicted {label}" for name in strata for label in labels]
    else:
        found, possible, names = matrices, np.ones(matrices.shape, bool), strata
    if of == OTHERS and (others or not by_verdict):
        raise ValueError("`of`='others' is for totals of each predicted class and no strata; give these alone.")
    _check_sizes(found.sum((1, 2)), values, names, of)
    alike = len(strata) > 1
    if alike and by_verdict and others[0] in plain.coords:
        alike = not set(plain[others[0]].values.tolist()) <= set(labels)
    return Strata(found, values, possible, names, of, by_verdict, alike)


def by_items(counts: xr.DataArray) -> xr.DataArray:
    """Return an audit of units as that of their items; any other as it is."""
    unit = counts.attrs.get(UNIT_OF_AUDIT)
    if unit is None:
        return counts
    kept = {name: value for name, value in counts.attrs.items() if name != UNIT_OF_AUDIT}
    return counts.drop_attrs(deep=False).sum(unit).assign_attrs(kept)


def without_totals(counts: xr.DataArray) -> xr.DataArray:
    """Return the counts of the checked items as any others."""
    kept = {name: value for name, value in counts.attrs.items() if name not in (OF, BATCH, UNIT_OF_AUDIT)}
    return counts.drop_vars(TOTALS, errors="ignore").drop_attrs(deep=False).assign_attrs(kept)


def _check_dims(totals: xr.DataArray, others: list[str]) -> None:
    """Refuse totals that leave out the stratum, and more than one."""
    if len(others) > 1:
        raise ValueError(
            f"`counts` may have one dim of strata beside 'actual' and 'predicted'; got {others}. Where some tell "
            f"audits apart, say so: bayescm.audited(..., dims={others[0]!r}); else select, or stack the strata."
        )
    if set(totals.dims) not in [{PREDICTED, *others}, set(others) or {PREDICTED}]:
        wanted = f"{others[0]!r}, or {others[0]!r} and 'predicted'" if others else "'predicted'"
        raise ValueError(f"`totals` must be over {wanted}; got the dims {list(totals.dims)}.")


def _check_totals(totals: xr.DataArray, of: str) -> Array:
    """Return totals in the order of the groups."""
    order = [dim for dim in totals.dims if dim != PREDICTED] + [dim for dim in totals.dims if dim == PREDICTED]
    values = totals.transpose(*order).values.ravel()
    if values.dtype.kind not in "iuf":
        raise TypeError(f"`totals` must be numbers; got values of type {values.dtype}.")
    if not np.isfinite(values).all() or (values < 0).any() or not values.any():
        raise ValueError(f"`totals` must be finite, at least 0 and not all 0; got {values.tolist()}.")
    if of != "population" and (values != np.floor(values)).any():
        raise ValueError(
            f"`totals` must be whole numbers of items for of={of!r}; got {values.tolist()}. Areas and shares are known "
            "parts of a population: say of='population'."
        )
    if (values > validate.MAX_COUNT).any() and of != "population":
        raise ValueError(
            f"`totals` must not exceed {validate.MAX_COUNT:,} items for of={of!r}; got {values.max():g}. Of so many "
            "say of='population'."
        )
    return values.astype(np.float64)


def _check_sizes(checked: NDArray[np.int64], totals: Array, names: list[str], of: str) -> None:
    """Refuse strata with fewer items than were checked, and an audit of nothing."""
    if not checked.any():
        raise ValueError("`counts` has no checked item; give the truth of some.")
    if of == OTHERS:
        return
    for name, n, total in zip(names, checked, totals, strict=True):
        if (n > total and of != "population") or (n > 0 and total == 0):
            raise ValueError(
                f"`totals` must count all items, checked or not: {name} has {total:g} and {n} were checked."
            )


def _placed(totals: Any, counts: xr.DataArray, several: list[str]) -> xr.DataArray:
    """Return totals of any form over dims of the counts."""
    others = [dim for dim in counts.dims if dim not in (*MATRIX, *several)]
    if hasattr(totals, "index") and hasattr(totals, "to_dict"):
        totals = totals.to_dict()  # a pandas Series
    if isinstance(totals, xr.DataArray):
        return _aligned(totals, counts)
    dim = str(others[0]) if others else PREDICTED
    known = counts[dim].values.tolist() if dim in counts.coords else list(range(counts.sizes[dim]))
    if isinstance(totals, Mapping):
        if set(totals) != set(known):
            raise ValueError(f"`totals` must name {known}; got {list(totals)}.")
        return xr.DataArray([totals[label] for label in known], dims=dim)
    values = validate.array_of("totals", totals)
    dims = (*others, PREDICTED)[: values.ndim] if others else (PREDICTED,)
    if several:
        every = (*several, *others, PREDICTED)
        dims = every[: max(values.ndim, len(several) + 1)]
    if values.shape != tuple(counts.sizes[d] for d in dims) or values.ndim == 0:
        raise ValueError(
            f"`totals` must have a number for each of {known}{' (and each predicted class)' if others else ''}; got "
            f"shape {values.shape}."
        )
    return xr.DataArray(values, dims=dims)


def _aligned(totals: xr.DataArray, counts: xr.DataArray) -> xr.DataArray:
    """Put labelled totals into the order of the counts."""
    for dim in totals.dims:
        if dim not in counts.dims or totals.sizes[dim] != counts.sizes[dim]:
            raise ValueError(f"`totals` has {dim!r} of size {totals.sizes[dim]}, and `counts` {dict(counts.sizes)}.")
        if dim in totals.coords and dim in counts.coords:
            if set(totals[dim].values.tolist()) != set(counts[dim].values.tolist()):
                raise ValueError(f"`totals` and `counts` must have the same labels of {dim!r}.")
            totals = totals.sel({dim: counts[dim].values})
    return totals.drop_vars(list(totals.coords))


def _of_table(
    table: Any, names: tuple[str, str, str | None, str | None], several: list[str], labels: Any, pos_label: Any
) -> tuple[xr.DataArray, xr.DataArray]:
    """Count the checked rows of a table, and all."""
    actual, predicted, stratum, n = names
    groups = several if stratum is None else [*several, stratum]
    columns = columns_of(table, [actual, predicted, *groups, *([] if n is None else [n])])
    truth = columns[actual]
    empty = validate.missing(truth) | np.array([isinstance(value, str) and not value.strip() for value in truth])
    if empty.all():
        raise ValueError(f"column {actual!r} is empty in every row; give the truth of some items.")
    known = label_array(actual, truth[~empty] if truth.dtype.kind != "O" else np.array(truth[~empty].tolist()))
    for word in set(known.tolist()) - set(labels or ()):
        if isinstance(word, str) and word.casefold() in MISSING:
            raise ValueError(
                f"column {actual!r} has {word!r} in {int((known == word).sum()):,} rows: leave the truth of items that "
                f"weren't checked empty; if {word!r} is a class, name all classes in `labels`."
            )
    verdict = label_array(predicted, columns[predicted])
    row, column, order = coded({actual: known, predicted: verdict}, labels, pos_label)
    levels, places = grouped(groups, columns)
    sizes, k = [len(level) for level in levels], len(order)
    counts, totals = np.zeros((*sizes, k, k), np.int64), np.zeros((*sizes, k), np.int64)
    weight = np.ones(len(column), np.int64) if n is None else validate.count_values(n, columns[n])
    np.add.at(totals, (*places, column), weight)
    seen = (*(place[~empty] for place in places), row, column[~empty])
    np.add.at(counts, seen, weight[~empty])
    made = labelled(counts, order, groups).assign_coords(dict(zip(groups, levels, strict=True)))
    return made, xr.DataArray(totals, dims=(*groups, PREDICTED))
