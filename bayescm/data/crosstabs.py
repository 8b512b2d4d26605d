"""Square tables as people have them: which side is the truth, and margins that are no classes."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.schema import ACTUAL, PREDICTED

_SIDES = {
    "truth": ACTUAL, "actual": ACTUAL, "true": ACTUAL, "reference": ACTUAL, "gold": ACTUAL,
    "test": PREDICTED, "predicted": PREDICTED, "prediction": PREDICTED, "pred": PREDICTED, "classifier": PREDICTED,
}  # fmt: skip
_OF_A_SET = frozenset({"y", "set", "data", "label", "labels", "target", "targets", "class", "classes"})
_NOUNS = {"disease": ACTUAL, "condition": ACTUAL}  # "predicted condition" is a prediction all the same
_SIDED = re.compile(rf"({'|'.join([*_SIDES, *_NOUNS])})(?:[\s:_=]+(?=.)|(?=[+\-]))(.+)", re.IGNORECASE)
_MARGINS = frozenset({
    "total", "totals", "all", "sum", "sums", "margin", "margins", "gesamt", "summe", "insgesamt", "suma", "somme",
    "totale", "grand total", "row total", "column total", "row totals", "column totals",
})  # fmt: skip


def side(name: object) -> str | None:
    """Return which dim a name such as "y_true", "Predicted class" or "test" means; None where it doesn't say.

    Parameters
    ----------
    name : object

    Returns
    -------
    str or None
        "actual", "predicted" or None. "y_test" is None: in scikit-learn it is the truth of a test set.
    """
    words = set(re.findall(r"[a-z]+", str(name).casefold()))
    if words & _OF_A_SET:
        words -= {"test"}
    for known in (_SIDES, _NOUNS):
        found = {known[word] for word in words if word in known}
        if found:
            return found.pop() if len(found) == 1 else None
    return None


def is_margin(label: object) -> bool:
    """Say whether a label is a word for a sum."""
    return isinstance(label, str) and " ".join(label.casefold().split()) in _MARGINS


def without_margins(
    values: NDArray[np.int64], rows: Sequence[Any], columns: Sequence[Any]
) -> tuple[NDArray[np.int64], list[Any], list[Any]]:
    """Leave out a row and a column that are called a sum and are one, and say so.

    Parameters
    ----------
    values : ndarray of shape (..., rows, columns)
    rows, columns : sequence
        Their labels.

    Returns
    -------
    tuple
        The same three without margins.

    Raises
    ------
    ValueError
        If something is called a sum and isn't one.
    """
    kept = [list(rows), list(columns)]
    for axis, what in ((-2, "row"), (-1, "column")):
        labels = kept[axis]
        for label in [label for label in labels if is_margin(label)]:
            place = labels.index(label)
            rest = np.delete(values, place, axis)
            if not np.array_equal(rest.sum(axis), values.take(place, axis)):
                raise ValueError(
                    f"`array` has a {what} {label!r} that isn't the sum of the others. Mend or leave out the sums; a "
                    "class of that name needs another one."
                )
            validate.warn(f"The {what} {label!r} holds the sums of the other {what}s: it is left out.")
            values = rest
            labels.remove(label)
    return values, kept[0], kept[1]


def square(
    values: NDArray[np.int64], rows: list[Any], columns: list[Any], names: tuple[Any, Any], told: str | None
) -> tuple[NDArray[np.int64], list[Any]]:
    """Bring a labelled table to actual rows and predicted columns in the same order.

    Parameters
    ----------
    values : ndarray of shape (rows, columns)
    rows, columns : list
        Labels. What tells the sides ("Test+", "Predicted cat") may stand before all those of a side.
    names : tuple
        Of the rows and of the columns, or None. One name may hold both: "actual / predicted".
    told : str or None
        What the rows are, as the user says.

    Returns
    -------
    tuple
        The values, and the labels of both sides.
    """
    values, rows, columns = without_margins(values, rows, columns)
    parts = re.split(r"[\\/|]", str(names[0]))
    if names[1] is None and len(parts) == 2:
        names = (parts[0], parts[1])
    same = set(rows) == set(columns)  # then words before all labels tell nothing
    (of_rows, rows), (of_columns, columns) = (
        (side(name), labels) if same else _sided(labels, name)
        for labels, name in zip((rows, columns), names, strict=True)
    )
    if set(rows) != set(columns) or len(rows) != len(columns):
        raise ValueError(
            f"`array` has rows {rows} and columns {columns}; give both the same labels, in the same words."
        )
    turned = _rows_are(of_rows, of_columns, told) == PREDICTED
    values = values[:, [columns.index(label) for label in rows]]
    return (values.T if turned else values), rows


def _sided(labels: list[Any], name: Any) -> tuple[str | None, list[Any]]:
    """Return what the labels of a side say that it is, and the labels without that; else what its name says."""
    matches = [_SIDED.fullmatch(label.strip()) if isinstance(label, str) else None for label in labels]
    found = {side(match[1]) for match in matches if match}
    if all(matches) and len(found) == 1:
        return found.pop(), [match[2].strip() for match in matches if match]
    return side(name), labels


def _rows_are(of_rows: str | None, of_columns: str | None, told: str | None) -> str:
    """Return which dim the rows are, or say that it can't be known."""
    given = side(told)
    if told is not None and given is None:
        raise ValueError(f"`rows` must be 'truth' or 'test': what the rows of the table are; got {told!r}.")
    opposite = {ACTUAL: PREDICTED, PREDICTED: ACTUAL}
    said = {one for one in (of_rows, opposite.get(of_columns or ""), given) if one is not None}
    if len(said) > 1:
        which = f"the header of its rows says {of_rows}, that of its columns {of_columns}"
        raise ValueError(f"`rows` and `array` contradict each other: {which}, `rows` is {told!r}. Mend one of them.")
    if not said:
        raise ValueError(
            "`array` doesn't say whether its rows are the truth or the test. Say rows='truth' or rows='test' to "
            "bayescm.from_array (--rows on the command line), or name the sides, such as 'actual' and 'predicted'."
        )
    return said.pop()
