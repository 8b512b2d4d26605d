"""CSV files as they are written: every field is text until its column is taken for labels or for numbers."""

import csv
import re
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")
_POINT_ZERO = re.compile(r"(0|-?[1-9]\d{0,14})\.0")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
_DIVIDERS = (",", ";", "\t")
_COMMA = re.compile(r"^([+-]?\d+),(\d+)$")  # of decimals
_TRUTHS = (("False", "True"), ("false", "true"), ("FALSE", "TRUE"))


def read(path: str) -> Any:
    """Read a CSV file, or the first sheet of an .xlsx file, into a data frame of text.

    Fields are divided by commas, semicolons or tabs, whichever the header has most of; with semicolons "0,5" is 0.5.

    Parameters
    ----------
    path : str

    Returns
    -------
    pandas.DataFrame
        Fields without the spaces around them. Lines and unnamed columns without any entry are left out.

    Raises
    ------
    ValueError
        If the file isn't CSV, has no rows, rows that are longer or shorter than the header, or columns with one name.
    """
    import pandas as pd

    lines = _sheet(path) if path.casefold().endswith(".xlsx") else _lines(path)
    _, header = next(lines, (0, []))
    if not header:
        raise ValueError(f"{path} is empty.")
    rows = []
    for line, row in lines:
        if len(row) != len(header):
            many = "field" if len(row) == 1 else "fields"
            raise ValueError(f"{path}: line {line} has {len(row)} {many}, the header {len(header)}.")
        rows.append(row)
    if not rows:
        raise ValueError(f"{path} has a header and no rows.")
    kept = [i for i, name in enumerate(header) if name or i == 0 or any(row[i] for row in rows)]
    names = [header[i] for i in kept]
    if "" in names[1:]:
        raise ValueError(f"{path}: column {kept[names.index('', 1)] + 1} has no name in the header.")
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise ValueError(f"{path} has two columns called {twice[0]!r}; every column needs a name of its own.")
    return pd.DataFrame([[row[i] for i in kept] for row in rows], columns=names, dtype=object)


def _lines(path: str) -> Iterator[tuple[int, list[str]]]:
    """Give the fields of every line that has any entry, and its number."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            divider = _divider(file)
            reader = csv.reader(file, delimiter=divider, skipinitialspace=divider != "\t", strict=True)
            for row in reader:
                fields = [field.strip() for field in row]
                if divider == ";":
                    fields = [_COMMA.sub(r"\1.\2", field) for field in fields]
                if any(fields):
                    yield reader.line_num, fields
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a CSV file that can be read: {error}.") from None


def _divider(file: IO[str]) -> str:
    """Return what divides the fields of the first line that has any entry: the comma, if nothing more does."""
    first = next((line for line in file if line.strip()), "")
    file.seek(0)
    bare = re.sub(r'"[^"]*"', "", first)
    return max(_DIVIDERS, key=bare.count)


def _sheet(path: str) -> Iterator[tuple[int, list[str]]]:
    """Give the cells of every row of the first sheet that has any entry, and its number."""
    import pandas as pd

    with open(path, "rb") as file:  # says what is wrong with the place of the file
        try:
            sheet = pd.read_excel(file, header=None, dtype=object)
        except ImportError:
            raise ValueError(f"{path} can't be read without openpyxl: install it, or save the sheet as CSV.") from None
        except Exception as error:  # of a zip file, of its XML, ...
            raise ValueError(f"{path} is not an .xlsx file that can be read: {error}.") from None
    for number, row in enumerate(sheet.itertuples(index=False), start=1):
        fields = [
            "" if pd.isna(cell) else f"{cell:.15g}" if isinstance(cell, float) else str(cell).strip() for cell in row
        ]
        if any(fields):
            yield number, fields


def labels(*columns: Sequence[str]) -> list[NDArray[Any]]:
    """Return columns of labels: numbers, or True and False, where all columns are; else the text as it is written.

    "1" and "1.0" are the same number, but not in one column; "01" is text.
    """
    found = [_typed(list(column)) for column in columns]
    if any(array.dtype.kind == "U" for array in found):
        return [np.array(list(column), np.str_) for column in columns]
    return found


def _typed(texts: list[str]) -> NDArray[Any]:
    """Return numbers or truth values where all texts are written as one kind of them."""
    for pattern in (_WHOLE, _POINT_ZERO):
        if all(pattern.fullmatch(text) for text in texts):
            return np.array([int(text.removesuffix(".0")) for text in texts], np.int64)
    if any(set(texts) <= set(pair) for pair in _TRUTHS):
        return np.array([text.casefold() == "true" for text in texts])
    numbers = [float(text) for text in texts if _NUMBER.fullmatch(text)]
    if len(numbers) == len(texts) and any(number % 1 for number in numbers):
        return np.array(numbers)  # fractions: no labels, which is said where they are taken for some
    return np.array(texts, np.str_)


def is_number(text: str) -> bool:
    """Say whether a field is a number."""
    return _NUMBER.fullmatch(text) is not None


def numbers(frame: Any, name: str) -> NDArray[Any]:
    """Return a column of numbers, or say which row has none."""
    texts = frame[name].tolist()
    for row, text in enumerate(texts, start=1):
        if not _NUMBER.fullmatch(text):
            raise ValueError(f"column {name!r} has {text!r} in row {row} of the table; wanted is a number.")
    whole = all(re.fullmatch(r"[+-]?\d{1,18}", text) for text in texts)
    return np.array([int(text) if whole else float(text) for text in texts])
