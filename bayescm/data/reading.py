"""read(): what was understood of the data that somebody gave."""

from collections.abc import Mapping, Sequence
from typing import Any

import xarray as xr

from bayescm.data import validate
from bayescm.data.answers import of_accuracies
from bayescm.data.counts import from_array
from bayescm.data.evidence import Evidence
from bayescm.data.labels import Label
from bayescm.data.recognisers import BOARD, COUNTS, SYSTEMS, Given, understood
from bayescm.data.tabular import COLUMNS


def read(
    data: Any,
    answers: Any = None,
    *,
    labels: Sequence[Label] | None = None,
    pos_label: Label | tuple[Label, Label] | None = None,
    runs: int | None = None,
    n_items: Any = None,
    rows: str | None = None,
    columns: Mapping[str, Any] | None = None,
    about: str | None = None,
) -> Evidence:
    """Read anything that questions are asked about, and show what was understood.

    Parameters
    ----------
    data : any
        Actual labels, with `answers`; a matrix, cells by name, a data frame, matrices by system, a classification
        report, results of cross-validation, right and wrong answers, xarray objects, draws of a model; or the path of a
        table (CSV, also with semicolons or tabs, .xlsx, .parquet, .json), or its text.
    answers : array_like, mapping or int, optional
        Predicted labels, those of several systems by name, or scores; n of k of n.
    labels, pos_label
        As in :func:`confusion_matrix`.
    runs : int, optional
        The data are numbers of passes among so many runs of each item.
    n_items : int, array_like or mapping, optional
        How many items accuracies by system were measured on.
    rows : {"truth", "test"}, optional
        What the rows of a square table are.
    columns : mapping of str to str, optional
        Columns of a table by what they mean: ``actual``, ``predicted`` (of several systems a list), ``n``, ``score``,
        ``system``, ``item``, ``run``, ``correct``, and ``by``, which tells matrices apart.
    about : {"counts", "systems", "board"}, optional
        Which questions it is for, where that decides: matrices; several systems; several by right and wrong answers.

    Returns
    -------
    Evidence
        Printed, it says what was understood. Its ``data`` is what questions take; so is it itself.

    Raises
    ------
    ValueError, TypeError
        If it is nothing that is known, may be two things, or has an option that doesn't apply.

    Examples
    --------
    >>> import bayescm
    >>> tested = bayescm.read(["sick", "well", "sick"], ["sick", "sick", "well"])
    >>> tested
    counts, read from actual and predicted labels
    classes: well, sick; the positive class is sick (TP 1, FP 1, FN 1, TN 0)
    >>> bayescm.summary(tested, "recall").point.item()
    0.5
    """
    if about is not None:
        validate.choice("about", about, (COUNTS, SYSTEMS, BOARD))
    if wrong := [name for name in columns or () if name not in COLUMNS]:
        raise ValueError(f"`columns` may say which are {', '.join(COLUMNS)}; got {wrong[0]!r}.")
    options = {"labels": labels, "pos_label": pos_label, "runs": runs, "n_items": n_items, "rows": rows}
    said = {name: one for name, one in (columns or {}).items() if one is not None}
    given = Given(data, answers, about, {name: one for name, one in options.items() if one is not None}, said)
    return understood(given) or Evidence(_matrix(given), "a matrix")


def _matrix(given: Given) -> xr.DataArray:
    """Return the counts of a plain matrix, or say what else would be read."""
    if given.second is not None:
        raise TypeError(f"`answers` must be labels, scores, systems' answers or n of k of n; got {given.second!r:.60}.")
    if given.table is not None:
        raise ValueError(
            f"{given.table.source or 'the frame'} has the columns {', '.join(map(str, given.table.frame.columns))}; "
            "wanted are actual and predicted, or tp, fn, fp and tn with a row per matrix, or a square matrix with "
            "labels; of systems correct and wrong, or 0 and 1 with a column each. Else say which is which by `columns` "
            "(--actual, --predicted, --by, --item, --score). How many of an item's runs passed is runs=4 (--runs 4)."
        )
    of_accuracies(given.data, given.options.get("n_items"))
    if wrong := [name for name in (*given.options, *given.columns) if name not in ("labels", "pos_label", "rows")]:
        raise ValueError(f"`{wrong[0]}` doesn't apply to a matrix; leave it out.")
    labels, pos_label = given.how
    return from_array(given.data, labels=labels, pos_label=pos_label, rows=given.options.get("rows"))
