"""read() and from_table(): what was understood of the data that somebody gave."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import xarray as xr

from bayescm.data import validate
from bayescm.data.answers import of_accuracies
from bayescm.data.counts import from_array
from bayescm.data.evidence import Evidence
from bayescm.data.harnesses import MISSING
from bayescm.data.labels import Label
from bayescm.data.recognisers import ANSWERS, BOARD, COUNTS, SYSTEMS, Given, understood
from bayescm.data.schema import WEIGHT
from bayescm.data.tables import tabulated
from bayescm.data.tabular import COLUMNS


def read(
    data: Any,
    answers: Any = None,
    *,
    labels: Sequence[Label] | None = None,
    pos_label: Label | tuple[Label, Label] | None = None,
    unit: Any = None,
    sample_weight: Any = None,
    runs: int | None = None,
    n_items: Any = None,
    missing: str | None = None,
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
        table (CSV, also with semicolons or tabs, .xlsx, .parquet, .json, .jsonl), or its text; or of logs of
        inspect_ai, lm-evaluation-harness, promptfoo, DeepEval, MLflow (traces with feedback) or OpenAI evals. A mapping
        of systems to such paths puts side by side what they answered.
    answers : array_like, mapping or int, optional
        Predicted labels, those of several systems by name, or scores; n of k of n.
    labels, pos_label
        As in :func:`confusion_matrix`.
    unit : str, array_like, or two of them, optional
        What was sampled, where it has several items (patients with lesions): a column of a table, a dim of counts, or
        one name for each item. Two that are crossed (readers who all read the same cases) as a pair.
    sample_weight : str or array_like, optional
        How much of the population each item stands for: a column of numbers, or one number for each item.
    runs : int, optional
        The data are numbers of passes among so many runs of each item.
    n_items : int, array_like or mapping, optional
        How many items accuracies by system were measured on.
    missing : {"refuse", "wrong"}, optional
        What an answer without a score is in a log of an evaluation, or in a table of answers: an error (default), or
        wrong.
    rows : {"truth", "test"}, optional
        What the rows of a square table are.
    columns : mapping of str to str, optional
        Columns of a table by what they mean: ``actual``, ``predicted`` (of several systems a list), ``n``, ``score``,
        ``system``, ``item``, ``run``, ``correct`` (of logs the score that counts), ``by``, which tells matrices
        apart, or tasks, and a list of ``covariates`` of matrices.
    about : {"counts", "systems", "board", "answers"}, optional
        Which questions it is for, where that decides: matrices; several systems; several by right and wrong answers;
        one system's answers item by item.

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
        validate.choice("about", about, (COUNTS, SYSTEMS, BOARD, ANSWERS))
    if missing is not None:
        validate.choice("missing", missing, MISSING)
    if wrong := [name for name in columns or () if name not in COLUMNS]:
        raise ValueError(f"`columns` may say which are {', '.join(COLUMNS)}; got {wrong[0]!r}.")
    options = {
        "labels": labels, "pos_label": pos_label, "unit": unit, WEIGHT: sample_weight, "runs": runs, "n_items": n_items,
        "rows": rows, "missing": None if missing == "refuse" else missing,
    }  # fmt: skip
    said = {name: one for name, one in (columns or {}).items() if one is not None}
    given = Given(data, answers, about, {name: one for name, one in options.items() if one is not None}, said)
    return understood(given) or Evidence(_matrix(given), "a matrix")


def from_table(
    table: Any,
    *,
    actual: str = "actual",
    predicted: str = "predicted",
    n: str | None = "n",
    dims: Sequence[str] | str = (),
    labels: Sequence[Label] | None = None,
    pos_label: Label | tuple[Label, Label] | None = None,
    unit: str | tuple[str, str] | None = None,
) -> xr.DataArray:
    """Count a long table with one row per cell, or one row per item.

    Parameters
    ----------
    table : data frame, path or str
        The path of a table (CSV and the like), or its text, read as :func:`bayescm.read` and the command line read it:
        a row per item where it has no column `n`, also matrices and cells. Any frame that narwhals knows (pandas,
        polars, pyarrow, duckdb, lazy ones), or a record batch of Arrow. Or an iterator over such chunks, such as
        ``pandas.read_csv(file, chunksize=10**6)`` or
        ``pyarrow.parquet.ParquetFile(file, pre_buffer=False).iter_batches()``: of items (``n=None``) only the counts
        are kept.
    actual, predicted : str
        Columns of labels.
    n : str or None
        Column of counts. None, or "n" where there is no such column: every row is one item.
    dims : str or sequence of str
        Columns that become batch dims, such as ``"system"`` or ``"fold"``.
    labels, pos_label
        As in :func:`confusion_matrix`.
    unit : str or pair of str, optional
        Column that names what was sampled, such as ``"patient"``, where it has several items: it becomes a dim, and
        every question takes the units, not the items, for independent. Two that are crossed: ``("reader", "case")``.

    Returns
    -------
    xarray.DataArray
        ``counts(*dims[, unit], actual, predicted)``; cells that the table leaves out are 0.

    Raises
    ------
    ValueError
        If a column is missing, a cell is given twice, a combination of `dims` has no row, or rows of counts hold sums
        ("Total"); and as :func:`confusion_matrix`.

    Examples
    --------
    >>> import bayescm, pandas as pd
    >>> long = pd.DataFrame({"actual": [0, 0, 1], "predicted": [0, 1, 1], "n": [6, 2, 26]})
    >>> bayescm.from_table(long).values
    array([[ 6,  2],
           [ 0, 26]])
    """
    if isinstance(table, str | PathLike):
        by = [dims] if isinstance(dims, str) else validate.listed("dims", dims)
        if len(by) > 1:
            raise ValueError("`dims` of a file is one column; of more read it first: from_table(pandas.read_csv(...)).")
        columns = {"actual": actual, "predicted": predicted, "n": n, "by": by[0] if by else None}
        return _of_file(table, columns, labels, pos_label, unit)
    return tabulated(
        table, actual=actual, predicted=predicted, n=n, dims=dims, labels=labels, pos_label=pos_label, unit=unit
    )


def _of_file(path: Any, columns: dict[str, Any], labels: Any, pos_label: Any, unit: Any) -> xr.DataArray:
    """Read a table of text, whose columns are called as always but for those that are said."""
    usual = {"actual": "actual", "predicted": "predicted", "n": "n"}
    said = {what: name for what, name in columns.items() if name != usual.get(what)}
    evidence = read(path, labels=labels, pos_label=pos_label, unit=unit, columns=said, about="counts")
    if evidence.kind != "counts":
        raise ValueError(f"`table` has {evidence.kind}, not counts: see bayescm.read.")
    counts: xr.DataArray = evidence.data
    return counts


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
