"""Square tables as people have them: which side is the truth, and margins that are no classes."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.data import validate
from bayescm.data.labels import OF_PEOPLE, OF_TESTS, positive_of, some
from bayescm.data.schema import ACTUAL, PREDICTED

_SIDES = {
    "truth": ACTUAL, "actual": ACTUAL, "true": ACTUAL, "reference": ACTUAL, "gold": ACTUAL,
    "test": PREDICTED, "predicted": PREDICTED, "prediction": PREDICTED, "pred": PREDICTED, "classifier": PREDICTED,
}  # fmt: skip
_OF_A_SET = frozenset({"y", "set", "data", "label", "labels", "target", "targets", "class", "classes"})
_NOUNS = {"disease": ACTUAL, "condition": ACTUAL}  # "predicted condition" is a prediction all the same
_SIDED = re.compile(rf"({'|'.join([*_SIDES, *_NOUNS])})(?:[\s:_=]+(?=.)|(?=[+\-]))(.+)", re.IGNORECASE)
_SHORT = {"d": ACTUAL, "t": PREDICTED}  # "D+", "T-"
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
    values: NDArray[np.int64],
    rows: list[Any],
    columns: list[Any],
    names: tuple[Any, Any],
    said: str | None,
    positives: Sequence[Any] = (),
) -> tuple[NDArray[np.int64], list[Any]]:
    """Bring a labelled table to actual rows and predicted columns in the same order.

    Parameters
    ----------
    values : ndarray of shape (rows, columns)
    rows, columns : list
        Labels. What tells the sides ("Test+", "Predicted cat") may stand before all those of a side.
    names : tuple
        Of the rows and of the columns, or None. One name may hold both: "actual / predicted".
    said : str or None
        What the rows are, as the user says.
    positives : sequence
        Positive labels, as the user says: one, or that of the truth and that of the test.

    Returns
    -------
    tuple
        The values, and the labels of both sides, in the words of the truth.
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
    if of_rows is None and of_columns is None:
        of_rows, of_columns = _by_words(rows, columns), _by_words(columns, rows)
    if set(rows) == set(columns) and len(rows) == len(columns):
        turned = _rows_are(of_rows, of_columns, said) == PREDICTED
        values = values[:, [columns.index(label) for label in rows]]
        return (values.T if turned else values), rows
    if len(rows) != 2 or len(columns) != 2 or set(rows) & set(columns):
        raise ValueError(
            f"`array` has rows {some(rows)} and columns {some(columns)}; give both the same labels, in the same words. "
            "Of a long table see bayescm.from_table; of 0 and 1, items by systems, bayescm.leaderboard."
        )
    if _rows_are(of_rows, of_columns, said) == PREDICTED:
        values, rows, columns = values.T, columns, rows
    at = [_place_of_positive(labels, positives) for labels in (rows, columns)]
    if None in at:
        raise ValueError(
            f"`array` has the true labels {some(rows)} and the test's {some(columns)}: say which are positive, that of "
            f"the truth first, such as bayescm.from_array(array, pos_label=({rows[0]!r}, {columns[0]!r})) (--pos-label "
            f"{rows[0]},{columns[0]} on the command line)."
        )
    turn = slice(None) if at[0] == at[1] else slice(None, None, -1)
    return values[:, turn], rows


def _by_words(labels: list[Any], others: list[Any]) -> str | None:
    """Return what a side is by its words: people are sick or well, tests positive or negative."""
    here, there = ({str(label).strip().casefold() for label in one} for one in (labels, others))
    return ACTUAL if here <= OF_PEOPLE and there <= OF_TESTS else None


def _place_of_positive(labels: list[Any], positives: Sequence[Any]) -> int | None:
    """Return the place of the positive one of two labels: the one that is named, else a well-known one."""
    named = [label for label in labels if label in positives]
    positive = named[0] if len(named) == 1 else positive_of(labels) if not named else None
    return None if positive is None else labels.index(positive)


def _sided(labels: list[Any], name: Any) -> tuple[str | None, list[Any]]:
    """Return what the labels of a side say that it is, and the labels without that; else what its name says."""
    matches = [_SIDED.fullmatch(label.strip()) if isinstance(label, str) else None for label in labels]
    found = {side(match[1]) for match in matches if match}
    if all(matches) and len(found) == 1:
        return found.pop(), [match[2].strip() for match in matches if match]
    short = {str(label).strip().casefold() for label in labels}
    for letter, what in _SHORT.items():
        if short == {f"{letter}+", f"{letter}-"}:
            return what, [str(label).strip()[1:] for label in labels]
    return side(name), labels


def _rows_are(of_rows: str | None, of_columns: str | None, rows: str | None) -> str:
    """Return which dim the rows are, or say that it can't be known."""
    given = side(rows)
    if rows is not None and given is None:
        raise ValueError(f"`rows` must be 'truth' or 'test': what the rows of the table are; got {rows!r}.")
    opposite = {ACTUAL: PREDICTED, PREDICTED: ACTUAL}
    said = {one for one in (of_rows, opposite.get(of_columns or ""), given) if one is not None}
    if len(said) > 1:
        which = f"the header of its rows says {of_rows}, that of its columns {of_columns}"
        raise ValueError(f"`rows` and `array` contradict each other: {which}, `rows` is {rows!r}. Mend one of them.")
    if not said:
        raise ValueError(
            "`array` doesn't say whether its rows are the truth or the test. Say rows='truth' or rows='test' to "
            "bayescm.from_array (--rows on the command line), or name the sides: 'actual / predicted' in the corner."
        )
    return said.pop()
