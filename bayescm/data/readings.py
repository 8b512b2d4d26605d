"""Readings: what every reader said of every case with every system, from a table of rows or from arrays."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.labels import class_order, grouped, label_array
from bayescm.data.schema import ACTUAL, ITEM, PREDICTED, SYSTEM
from bayescm.data.scores import sign_of, signed
from bayescm.data.tabular import read_table

Array = NDArray[np.float64]

READER, CASE, SCORE = "reader", "case", "score"
_CALLED = {
    ACTUAL: ("actual", "truth", "true", "reference", "gold", "disease"),
    SCORE: ("score", "rating", "confidence"),
    PREDICTED: ("predicted", "prediction", "call", "decision"),
    READER: ("reader", "rater", "observer", "radiologist", "judge", "annotator"),
    CASE: ("case", "patient", "subject", "item", "image", "question"),
    SYSTEM: ("system", "modality", "treatment", "test", "model", "arm"),
}
"""What columns are called, by what they mean."""


class Readings(NamedTuple):
    """Checked readings.

    Attributes
    ----------
    value : ndarray of shape (systems, readers, cases)
        Scores, larger for the positive class, or 1 where it was called and 0 elsewhere; NaN where nothing was read.
    positive : ndarray of shape (cases,)
    systems, readers : ndarray
        Their names.
    labels : ndarray
        The negative and the positive class.
    calls : bool
        Whether values are calls.
    """

    value: Array
    positive: NDArray[np.bool_]
    systems: NDArray[Any]
    readers: NDArray[Any]
    labels: NDArray[Any]
    calls: bool

    @property
    def read(self) -> NDArray[np.bool_]:
        """Return which readings there are."""
        return ~np.isnan(self.value)


def readings(
    data: Any, y_score: Any, said: Mapping[str, Any], calls: bool | None, labels: Any, pos_label: Any, direction: str
) -> Readings:
    """Return readings of a table, or of labels and what was said of them.

    Parameters
    ----------
    data, y_score
        As in :func:`bayescm.readers`.
    said : mapping of str to str or None
        Columns by what they mean.
    calls : bool or None
        Whether labels are wanted and not scores; None: whatever there is, scores first.
    labels, pos_label, direction
        As in :func:`bayescm.auc`.
    """
    if y_score is None:
        truth, given, names, calls, pos_label = _of_table(data, said, calls, pos_label)
    elif any(name is not None for name in said.values()):
        raise ValueError("names of columns go with a table; labels and scores are arrays.")
    else:
        truth, given, names = _of_arrays(data, y_score)
        calls = bool(calls)
    sides = {"actual": truth} | ({"predicted": label_array("predicted", given)} if calls else {})
    coded, order = class_order(sides, labels, pos_label)
    if len(order) != 2:
        raise ValueError(f"`actual` must have two classes; got {order.tolist()}. Make one class against the rest.")
    if calls:
        values = (coded[1] == order[1]).astype(np.float64)
        sign_of(direction)
    else:
        values = signed(validate.real_numbers("score", given), sign_of(direction))
    (systems, readers, cases), places = grouped(list(names), names)
    shape = (len(systems), len(readers), len(cases))
    flat = np.ravel_multi_index(tuple(places), shape)
    _once(flat, shape, (systems, readers, cases))
    table = np.full(shape, np.nan)
    table.reshape(-1)[flat] = values
    positive = coded[0] == order[1]
    of_case = np.zeros(len(cases), bool)
    of_case[places[2]] = positive
    if (torn := of_case[places[2]] != positive).any():
        raise ValueError(
            f"`actual` must be one class in all rows of a case; case {cases[places[2][torn][0]]!s} has both."
        )
    return Readings(table, of_case, systems, readers, order, calls)


def _of_table(
    data: Any, said: Mapping[str, Any], calls: bool | None, pos_label: Any
) -> tuple[NDArray[Any], Any, dict[str, Any], bool, Any]:
    """Return labels, values, names of systems, readers and cases, whether values are calls, and the positive class."""
    data = data.to_dataframe().reset_index() if isinstance(data, xr.Dataset) else data
    table = read_table(data, {what: name for what, name in said.items() if name is not None})
    known = {name.removesuffix("_id"): column for name, column in table.columns.items()}

    def column(what: str) -> Any:
        if said.get(what) is not None:
            return said[what]
        return next((known[name] for name in _CALLED[what] if name in known), None)

    if calls is None:
        calls = said.get(SCORE) is None and (said.get(PREDICTED) is not None or column(SCORE) is None)
    value = PREDICTED if calls else SCORE
    found = {what: column(what) for what in (ACTUAL, value, READER, CASE, SYSTEM)}
    absent = [what for what, name in found.items() if name is None and what != SYSTEM]
    if absent:
        raise ValueError(
            f"the table has no column for `{absent[0]}` that is called so; it has "
            f"{', '.join(map(str, table.frame.columns))}. Name it: {absent[0]}='...'."
        )
    if len(set(map(str, found.values()))) < len(found):
        raise ValueError(f"every column has one meaning; got {found}.")
    sides = [found[ACTUAL], *([found[PREDICTED]] if calls else [])]
    columns = table.labels(*sides)
    truth = label_array(ACTUAL, columns[0])
    given = columns[1] if calls else table.numbers(found[SCORE])
    one = np.zeros(len(truth), np.int64)
    names = {  # text is text here: patient 1.1 isn't patient 1.10
        what: one
        if (name := found[what]) is None
        else np.array(table.names(name))
        if table.source
        else table.frame[name]
        for what in (SYSTEM, READER, CASE)
    }
    return truth, given, names, calls, table.positive(pos_label, *sides)


def _of_arrays(y_true: Any, y_score: Any) -> tuple[NDArray[Any], NDArray[Any], dict[str, Any]]:
    """Return labels, values and names, a row for each reading, of labels of cases and readings of them."""
    truth = label_array("y_true", y_true)
    if isinstance(y_score, xr.DataArray):
        if set(y_score.dims) - {SYSTEM} != {READER, ITEM}:
            raise ValueError(f"`y_score` must have the dims 'reader', 'item' and perhaps 'system'; got {y_score.dims}.")
        whole = y_score if SYSTEM in y_score.dims else y_score.expand_dims(SYSTEM)
        by_name = {
            s: {r: whole.isel({SYSTEM: i, READER: j}).values for j, r in enumerate(whole[READER].values.tolist())}
            for i, s in enumerate(whole[SYSTEM].values.tolist())
        }
    elif isinstance(y_score, Mapping) and y_score:
        by_name = {s: {r: np.asarray(one[r]) for r in one} for s, one in y_score.items()}
    else:
        raise TypeError(
            "`y_score` must be what readers said with each system, {'CT': {'reader 1': scores, ...}, ...}, or an "
            f"xarray.DataArray over system, reader and item; got {type(y_score).__name__}."
        )
    rows = [(s, r, values) for s, of_readers in by_name.items() for r, values in of_readers.items()]
    if not rows:
        raise ValueError("`y_score` is empty; give the scores of at least one reader.")
    for s, r, values in rows:
        if np.shape(values) != truth.shape:
            raise ValueError(
                f"`y_score`[{s!r}][{r!r}] must have one value per case, {len(truth)}; got {np.shape(values)}."
            )
    kept = [~validate.missing(values) for _, _, values in rows]
    cases = np.arange(len(truth))
    names = {
        SYSTEM: np.concatenate([np.repeat(s, one.sum()) for (s, _, _), one in zip(rows, kept, strict=True)]),
        READER: np.concatenate([np.repeat(r, one.sum()) for (_, r, _), one in zip(rows, kept, strict=True)]),
        CASE: np.concatenate([cases[one] for one in kept]),
    }
    given = np.concatenate([values[one] for (_, _, values), one in zip(rows, kept, strict=True)])
    return np.concatenate([truth[one] for one in kept]), given, names


def _once(flat: NDArray[np.intp], shape: tuple[int, ...], names: tuple[Any, ...]) -> None:
    """Refuse two values of one reading, and a reader who never used a system."""
    seen, times = np.unique(flat, return_counts=True)
    if times.max(initial=1) > 1:
        at = np.unravel_index(seen[np.argmax(times)], shape)
        what = ", ".join(f"{name} {names[i][at[i]]!s}" for i, name in enumerate((SYSTEM, READER, CASE)))
        raise ValueError(f"a reading stands in one row; {what} has {times.max()}.")
    there = np.zeros(shape[:2], bool)
    there.reshape(-1)[np.unique(flat // shape[2])] = True
    if not there.all():
        at = np.unravel_index(int(np.argmin(there)), shape[:2])
        raise ValueError(
            f"every reader must have read with every system; {names[1][at[1]]!s} didn't with {names[0][at[0]]!s}."
        )
