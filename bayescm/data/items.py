"""Two or more classifiers on the same items: the joint table of their answers.

A joint table is a DataArray of counts over ``("actual", <one dim per system>)`` with the same labels on every dim; the
names of the dims are the names of the systems. The separate confusion matrices are its margins; how often two systems
are wrong on the same items is in the table alone.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayescm.data import validate
from bayescm.data.labels import Label, class_order, codes, declared, label_array, plain, some
from bayescm.data.schema import (
    ACTUAL,
    CELL,
    ITEM,
    LABEL,
    ONE_CLASS,
    PREDICTED,
    RUN,
    RUNS_OF,
    SCORED,
    SYSTEM,
    UNIT,
    WEIGHT,
    batch_names,
)
from bayescm.data.units import named_units

MAX_CELLS = 10**7
"""Most cells of a joint table."""
_MAX_RUNS = 1000  # of an item, after systems with different numbers of them were brought to the same
_TAKEN = ("joint", "joint_cell", "difficulty_sd", "right", "positive_share")


def paired_counts(
    y_true: ArrayLike,
    y_pred: Mapping[str, ArrayLike] | Sequence[ArrayLike],
    *,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
) -> xr.DataArray:
    """Count the joint table of several systems' predictions of the same items.

    Parameters
    ----------
    y_true : array_like of shape (n,)
        Actual labels.
    y_pred : mapping of str to array_like of shape (n,), or sequence of such arrays
        Predicted labels of each system, by its name; in a sequence the systems are called ``predicted_1``,
        ``predicted_2`` and so on. One system is allowed.
    labels, pos_label
        As in :func:`bayescm.confusion_matrix`: of two labels the positive one is last.

    Returns
    -------
    xarray.DataArray
        ``counts(actual, <one dim per system>)``, int64.

    Raises
    ------
    ValueError
        For unequal lengths, empty input, missing or mixed labels, labels that `labels` doesn't name, or a name that
        results use for something else.

    Examples
    --------
    >>> import bayescm
    >>> table = bayescm.data.paired_counts([0, 0, 1, 1], {"A": [0, 1, 1, 1], "B": [0, 1, 0, 1]})
    >>> table.dims
    ('actual', 'A', 'B')
    >>> table.sel(actual=1).values
    array([[0, 0],
           [1, 1]])
    """
    systems, arrays, order = _answers(y_true, y_pred, labels, pos_label, runs=False)
    shape = (len(order),) * len(arrays)
    if len(order) ** len(arrays) > MAX_CELLS:
        raise ValueError(
            f"`y_pred` of {len(systems)} systems and {len(order)} labels makes a table of more than "
            f"{MAX_CELLS:,} cells; take bayescm.predictions, or fewer systems at a time."
        )
    flat = np.ravel_multi_index(tuple(arrays), shape)
    counts = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape).astype(np.int64)
    dims = (ACTUAL, *systems)
    return xr.DataArray(counts, dims=dims, coords=dict.fromkeys(dims, order), name="counts")


def predictions(
    y_true: ArrayLike,
    y_pred: Mapping[str, ArrayLike] | Sequence[ArrayLike],
    *,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    unit: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> xr.Dataset:
    """Keep the answers of any number of systems to the same items, one by one.

    Parameters
    ----------
    y_true, y_pred, labels, pos_label
        As in :func:`paired_counts`, whose joint table has a cell for every combination of answers: too many from some
        twenty systems on. Several runs of a system on the same items are a second dim of its predictions, (n, runs).
    unit : array_like of shape (n,), or two of them, optional
        What was sampled, where it has several items, as in :func:`bayescm.confusion_matrix`.
    sample_weight : array_like of shape (n,), optional
        How much of the population each item stands for, on any scale: weights of a survey, or of importance. They are
        taken for known.

    Returns
    -------
    xarray.Dataset
        ``actual(item)`` and ``predicted(system, item)``, of several runs ``predicted(system, item, run)``: labels; the
        coordinate ``class_label`` has them in order, of two the positive one last. :func:`bayescm.leaderboard`,
        :func:`bayescm.compare_systems` and :func:`bayescm.summary` take it. Only the shares of an item's answers count,
        so the runs of systems with fewer are repeated until all have as many.

    Raises
    ------
    ValueError
        As :func:`paired_counts`.

    Examples
    --------
    >>> import bayescm
    >>> kept = bayescm.predictions([0, 0, 1, 1], {"A": [0, 1, 1, 1], "B": [0, 1, 0, 1]})
    >>> kept.predicted.sel(system="B").values
    array([0, 1, 0, 1])
    """
    systems, (actual, *answers), order = _answers(y_true, y_pred, labels, pos_label)
    n = len(actual)
    each = [len(one) // n for one in answers]
    runs = math.lcm(*each)
    if runs > _MAX_RUNS:
        raise ValueError(
            f"`y_pred` has systems with {', '.join(map(str, each))} runs; give all the same number of runs."
        )
    given = order[np.stack([np.tile(one.reshape(n, -1), runs * n // len(one)) for one in answers])]
    dims, given = ((SYSTEM, ITEM, RUN), given) if runs > 1 else ((SYSTEM, ITEM), given[..., 0])
    kept = xr.Dataset({ACTUAL: (ITEM, order[actual]), PREDICTED: (dims, given)}, coords={SYSTEM: systems, LABEL: order})
    kept = kept.assign_coords({RUNS_OF: (SYSTEM, each)}) if len(set(each)) > 1 else kept
    kept = kept if unit is None else with_units(kept, *named_units(unit))
    return kept if sample_weight is None else with_weights(kept, sample_weight)


def with_weights(kept: xr.Dataset, sample_weight: ArrayLike) -> xr.Dataset:
    """Say of answers what their items weigh."""
    weight = validate.real_numbers(WEIGHT, sample_weight)
    validate.same_length(y_true=kept[ACTUAL].values, sample_weight=weight)
    if not (np.isfinite(weight) & (weight >= 0)).all() or not weight.any():
        raise ValueError(f"`{WEIGHT}` must be finite, none negative and one above 0; got {some(weight.tolist())}.")
    return kept.assign_coords({WEIGHT: (ITEM, weight)})


def with_units(kept: xr.Dataset, name: str, unit: ArrayLike) -> xr.Dataset:
    """Say of answers which units their items are of."""
    values = plain("unit", unit)
    validate.same_length(y_true=kept[ACTUAL].values, unit=values)
    return kept.assign_coords({name: (ITEM, values)}).assign_attrs({UNIT: name})


def right_answers(right: Mapping[str, ArrayLike]) -> xr.Dataset:
    """Keep right and wrong answers, 1 and 0, of systems to the same items: predictions of the one class 1.

    The attr ``of_one_class`` says that no item could have been of the other class, so that there is an accuracy alone,
    and whether answers may be right in part: then an item's is the mean score of its runs.
    """
    n = len(next(iter(right.values())))  # type: ignore[arg-type]
    known = {str(name): np.asarray(values) for name, values in right.items()}
    if any(values.dtype.kind == "f" for values in known.values()):
        validate.same_length(**known)
        scores = np.stack([values.reshape(n, -1).mean(1) for values in known.values()])
        return xr.Dataset(
            {ACTUAL: (ITEM, np.ones(n, np.int64)), PREDICTED: ((SYSTEM, ITEM), scores)},
            coords={SYSTEM: system_names("y_pred", list(known)), LABEL: [0, 1]}, attrs={ONE_CLASS: SCORED},
        )  # fmt: skip
    return predictions([1] * n, right, labels=[0, 1]).assign_attrs({ONE_CLASS: 1})


def _answers(
    y_true: ArrayLike, y_pred: Any, labels: Sequence[Label] | None, pos_label: Label | None, *, runs: bool = True
) -> tuple[list[str], list[NDArray[np.int64]], NDArray[Any]]:
    """Return the names of the systems, all labels as numbers (the actual ones first), and the labels in order.

    Of several runs the answers to an item follow one another.
    """
    if not isinstance(y_pred, Mapping):
        if not isinstance(y_pred, Sequence | zip) and np.ndim(y_pred) == 0:
            raise TypeError(f"`y_pred` must be the predictions of several systems; got {y_pred!r}.")
        y_pred = {f"{PREDICTED}_{i}": values for i, values in enumerate(y_pred, start=1)}
    if not y_pred:
        raise ValueError("`y_pred` is empty; give the predictions of at least one system.")
    systems = system_names("y_pred", list(y_pred))
    labels = declared(labels, y_true)
    named = {"y_true": label_array("y_true", y_true)}
    n = len(named["y_true"])
    for name in systems:
        called, shape = f"y_pred[{name!r}]", np.shape(y_pred[name])
        named[called] = label_array(called, np.ravel(y_pred[name]) if len(shape) == 2 else y_pred[name])
        if len(shape) == 2 and (shape[0] != n or not runs):
            cure = f"the shape ({n}, runs)" if runs else "one run: several are for bayescm.predictions"
            raise ValueError(f"`{called}` must have {cure}; got {shape}.")
        if len(shape) < 2:
            validate.same_length(y_true=named["y_true"], **{called: named[called]})
    if labels is None:
        no_passes(named)
    arrays, order = class_order(named, labels, pos_label)
    sorter = np.argsort(order)
    return systems, [codes(values, order, sorter) for values in arrays], order


def no_passes(named: Mapping[str, NDArray[Any]]) -> None:
    """Refuse numbers of passes: far more values than the truth has, from 0 up, or up to its only one."""
    (of_truth, truth), *others = ((name, np.unique(values)) for name, values in named.items())
    for name, found in others:
        strange = np.setdiff1d(found, truth) if found.dtype.kind == "i" and truth.dtype.kind in "bi" else found[:0]
        if len(strange) < (2 if len(truth) == 1 else 3) or found[0] < 0:
            continue
        if np.isin(truth, [0, 1]).all() or (len(truth) == 1 and found[-1] <= truth[0]):
            raise ValueError(
                f"`{name}` has the numbers {some(found.tolist())} and `{of_truth}` only {some(truth.tolist())}: how "
                "often an item was passed is no label. Passes of 4 runs are bayescm.leaderboard(passes, runs=4) or, "
                "with one answer per item, passes > 2; if they are classes, name all of them with `labels`."
            )


def margins(joint: Any) -> xr.DataArray:
    """Return each system's confusion matrix: the joint table summed over the other systems.

    Parameters
    ----------
    joint : xarray.DataArray
        Counts or probabilities over ``(..., actual, <one dim per system>)``, where ``...`` may be chain, draw or
        sample.

    Returns
    -------
    xarray.DataArray
        Over ``(..., system, actual, predicted)``; counts of a joint table are ``counts(system, actual, predicted)``,
        what every other function takes.

    Raises
    ------
    TypeError
        For anything but a joint table of :func:`bayescm.data.paired_counts`.

    Examples
    --------
    >>> import bayescm
    >>> table = bayescm.data.paired_counts([0, 0, 1, 1], {"A": [0, 1, 1, 1], "B": [0, 1, 0, 1]})
    >>> bayescm.data.margins(table).sel(system="B").values
    array([[1, 1],
           [1, 1]])
    """
    if not isinstance(joint, xr.DataArray) or ACTUAL not in joint.dims:
        joint = check_joint(joint)
    systems = systems_of(joint)
    each = [joint.sum([other for other in systems if other != name]).rename({name: PREDICTED}) for name in systems]
    stacked = xr.concat(each, SYSTEM, coords="minimal", compat="override", join="override")
    labelled: xr.DataArray = stacked.assign_coords({SYSTEM: systems}).transpose(..., SYSTEM, ACTUAL, PREDICTED)
    return labelled


def check_joint(counts: Any, *, least: int = 1) -> xr.DataArray:
    """Return a valid joint table with `actual` first.

    Parameters
    ----------
    counts : xarray.DataArray
    least : int
        Smallest number of systems.

    Returns
    -------
    xarray.DataArray
        ``counts(actual, <one dim per system>)``, int64.
    """
    if not isinstance(counts, xr.DataArray):
        raise TypeError(
            f"`counts` must be an xarray.DataArray with the dim 'actual' and one dim per system; got "
            f"{type(counts).__name__}. Build it with bayescm.data.paired_counts."
        )
    systems = [str(dim) for dim in counts.dims if dim != ACTUAL]
    if ACTUAL not in counts.dims or len(systems) < least:
        raise ValueError(
            f"`counts` must have the dim 'actual' and {'at least ' if least else ''}{least} more, one per system; got "
            f"{counts.dims}. Build it with bayescm.data.paired_counts."
        )
    return _labelled(counts.transpose(ACTUAL, ...), system_names("counts", systems), [ACTUAL])


def check_tests(counts: Any, population: str) -> xr.DataArray:
    """Return valid tables of tests without a gold standard: populations first, then one dim of two labels per test.

    Parameters
    ----------
    counts : xarray.DataArray
        Without the dim `population`: one population, called "all".
    population : str

    Returns
    -------
    xarray.DataArray
        ``counts(population, <one dim per test>)``, int64.
    """
    if not isinstance(counts, xr.DataArray):
        raise TypeError(
            f"`counts` must be an xarray.DataArray with one dim per test, and {population!r}; got "
            f"{type(counts).__name__}."
        )
    if population not in counts.dims:
        counts = counts.expand_dims({population: ["all"]})
    elif population not in counts.coords:
        counts = counts.assign_coords({population: np.arange(counts.sizes[population])})
    tests = system_names("counts", [str(dim) for dim in counts.dims if dim != population])
    if not tests or any(counts.sizes[test] != 2 for test in tests):
        raise ValueError(
            f"`counts` must have one dim of two labels per test, the positive last; got {dict(counts.sizes)}."
        )
    return _labelled(counts.transpose(population, ...), tests, [])


def _labelled(counts: xr.DataArray, systems: list[str], more: list[str]) -> xr.DataArray:
    """Check the values and the labels, which every dim must share."""
    dims = [*more, *systems]
    k = counts.sizes[dims[0]]
    counts = counts.assign_coords({dim: np.arange(counts.sizes[dim]) for dim in dims if dim not in counts.coords})
    labels = {dim: counts[dim].values.tolist() for dim in dims}
    different = [dim for dim in dims if labels[dim] != labels[dims[0]]]
    if different:
        raise ValueError(
            f"`counts` must have the same labels in the same order on every dim; got {labels[dims[0]]} on {dims[0]!r} "
            f"and {labels[different[0]]} on {different[0]!r}."
        )
    if k < 2:
        raise ValueError(f"`counts` must have at least two labels; got {labels[dims[0]]}.")
    validate.unique("labels", labels[dims[0]])
    checked: xr.DataArray = counts.copy(data=validate.count_values("counts", counts.values))
    checked.name = "counts"
    return checked


def system_names(name: str, systems: list[str]) -> list[str]:
    """Return names of systems that can be dims of a result, or say which can't."""
    batch_names(name, systems)
    taken = [system for system in systems if system in (SYSTEM, "test", "population", *_TAKEN)]
    if taken or not all(isinstance(system, str) for system in systems):
        bad = (taken or [system for system in systems if not isinstance(system, str)])[0]
        raise ValueError(f"`{name}` can't have a system called {bad!r}: take another name, as text.")
    return systems


def systems_of(joint: xr.DataArray) -> list[str]:
    """Return the names of the systems: the dims but `actual` and those of draws."""
    return [str(dim) for dim in joint.dims if dim not in (ACTUAL, "chain", "draw", "sample")]


def joint_cells(joint: xr.DataArray, leading: str | None = None) -> xr.DataArray:
    """Put a table's dims into one dim `cell`, named ``"actual->A,B"``, or ``"A,B"`` where a dim leads.

    Parameters
    ----------
    joint : xarray.DataArray
    leading : str, optional
        A dim that stays, first.

    Returns
    -------
    xarray.DataArray
    """
    dims = [str(dim) for dim in joint.dims if dim != leading]
    labels = joint[dims[0]].values.tolist()
    answers = len(dims) - (leading is None)
    names = [
        ("" if leading else f"{labels[code[0]]}->") + ",".join(str(labels[c]) for c in code[len(dims) - answers :])
        for code in np.ndindex(*(joint.sizes[dim] for dim in dims))
    ]
    first = [] if leading is None else [leading]
    values = joint.transpose(*first, *dims).values
    coords = {CELL: names} | {dim: joint[dim].values for dim in first}
    return xr.DataArray(
        values.reshape(*values.shape[: len(first)], len(names)), dims=(*first, CELL), coords=coords, name=joint.name
    )
