"""What scikit-learn's classification_report says of two labels, as text, mapping or frame, becomes counts."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bayescm.data.counts import from_array

_COLUMNS = ("precision", "recall", "f1-score", "support")
_ROW = re.compile(r"\s*(?P<label>\S.*?)" + 3 * r"\s+(\d\.\d+)" + r"\s+(\d+)(?:\.0+)?\s*")
_EXACT = 1e-9
_MOST = 1_000_000


class _Class(NamedTuple):
    """What a report says of one label, and half a step of the last digit of its numbers."""

    precision: float
    recall: float
    f1: float
    support: int
    step: float


def of_report(data: Any) -> xr.DataArray | None:
    """Return the counts behind a classification report; None for anything else.

    Parameters
    ----------
    data : str, mapping or data frame
        Of ``classification_report``; with ``output_dict=True``; this as a frame, its labels on either side.

    Returns
    -------
    xarray.DataArray or None
        ``counts(actual, predicted)``: the one table of two labels that all printed digits allow.

    Raises
    ------
    ValueError
        If it has more than two labels, or if no table or several have these digits.
    """
    if hasattr(data, "columns") and hasattr(data, "to_dict"):
        data = (data.T if set(_COLUMNS) <= set(data.columns) else data).to_dict()
    classes = _of_text(data) if isinstance(data, str) else _of_mapping(data) if isinstance(data, Mapping) else {}
    if not classes:
        return None
    if "accuracy" not in data:
        raise ValueError(
            "`counts` is a classification report without an accuracy: of some of the labels, or of several for an "
            "item. Give bayescm.confusion_matrix(y_true, y_pred)."
        )
    if len(classes) != 2:
        raise ValueError(
            f"`counts` is a classification report of {len(classes)} labels, which doesn't say which label was taken "
            "for which; give bayescm.confusion_matrix(y_true, y_pred), or scikit-learn's confusion_matrix."
        )
    tables = _tables(*classes.values())
    if len(tables) != 1:
        several = ", such as " + " and ".join(str(one.tolist()) for one in tables[:2]) if tables else ""
        raise ValueError(
            f"`counts` is a classification report whose digits fit {len(tables) or 'no'} tables{several}; give one by "
            "output_dict=True, or the table: bayescm.confusion_matrix(y_true, y_pred)."
        )
    whole = all(re.fullmatch(r"-?\d+", label) for label in classes)
    return from_array(tables[0], labels=[int(label) if whole else label for label in classes])


def _of_text(text: str) -> dict[str, _Class]:
    """Return the classes of a printed report."""
    first, *lines = text.strip("\n").split("\n")
    if first.split() != list(_COLUMNS):
        return {}
    found = {}
    for row in filter(None, map(_ROW.fullmatch, lines)):
        label, *numbers, support = row.groups()
        step = 0.5 * 10.0 ** -len(numbers[0].split(".")[1])
        if not label.endswith(" avg"):
            precision, recall, f1 = map(float, numbers)
            found[label] = _Class(precision, recall, f1, int(support), step + _EXACT)
    return found


def _of_mapping(data: Mapping[Any, Any]) -> dict[str, _Class]:
    """Return the classes of a report by name."""
    rows = {str(label): row for label, row in data.items() if isinstance(row, Mapping) and set(row) == set(_COLUMNS)}
    rows = {label: row for label, row in rows.items() if label != "accuracy" and not label.endswith(" avg")}
    return {
        label: _Class(precision, recall, f1, int(support), _EXACT)
        for label, row in rows.items()
        for precision, recall, f1, support in [[row[name] for name in _COLUMNS]]
    }


def _tables(negative: _Class, positive: _Class) -> list[np.ndarray[Any, Any]]:
    """Return all tables with these digits; of very many some."""
    right = [np.arange(*_range(one))[:_MOST] for one in (negative, positive)]
    right[0] = right[0][: max(_MOST // max(len(right[1]), 1), 1)]
    tn, tp = (grid.ravel() for grid in np.meshgrid(*right, indexing="ij"))
    fits = np.ones(len(tn), bool)
    for one, hit, wrong in ((negative, tn, positive.support - tp), (positive, tp, negative.support - tn)):
        for said, top, bottom in ((one.precision, hit, hit + wrong), (one.f1, 2 * hit, hit + wrong + one.support)):
            with np.errstate(invalid="ignore", divide="ignore"):
                fits &= (bottom == 0) | (np.abs(top / bottom - said) <= one.step)
    fn, fp = positive.support - tp, negative.support - tn
    return list(np.stack([tn, fp, fn, tp], -1)[fits].reshape(-1, 2, 2))


def _range(one: _Class) -> tuple[int, int]:
    """Return the least number of hits that a recall allows, and the one after the largest."""
    if one.support == 0:
        return 0, 1
    low, high = ((one.recall + side * one.step) * one.support for side in (-1.0, 1.0))
    return max(int(np.ceil(low)), 0), min(int(np.floor(high)), one.support) + 1
