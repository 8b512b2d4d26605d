"""Tables of text, from a file or pasted: every field is text until its column is taken for labels or for numbers."""

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescm.data.needs import need

Lines = list[tuple[int, list[str]]]

_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}")
_POINT_ZERO = re.compile(r"(0|-?[1-9]\d{0,14})\.0")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
_DIVIDERS = (",", ";", "\t")
_COMMA = re.compile(r"^([+-]?\d+),(\d+)$")  # of decimals
_THOUSANDS = re.compile(r"^[1-9]\d{0,2}(,\d{3})+$")
_CELLS = {"tp", "fn", "fp", "tn"}
_TRUTHS = (("False", "True"), ("false", "true"), ("FALSE", "TRUE"))
_BARE = "actual / predicted"
"""The corner of a matrix of numbers alone, whose rows are the truth as those of any array are."""


def is_pasted(source: Any) -> bool:
    """Say whether text is a table itself, of several lines, and not the path of one."""
    return isinstance(source, str) and "\n" in source.strip()


def read_text(source: Any) -> Any:
    """Read a table into a data frame of text.

    Parameters
    ----------
    source : str or path
        A file of CSV, the first sheet of an .xlsx file, or text of several lines. Fields are divided by commas,
        semicolons or tabs, whichever the header has most of, pasted ones by spaces too. With semicolons or tabs "0,5"
        is 0.5; where all numbers with a comma have three digits behind it, "1,026" is 1026.

    Returns
    -------
    pandas.DataFrame
        Fields without the spaces around them. Lines and unnamed columns without any entry are left out. A square of
        numbers alone gets labels on both sides, from 0.

    Raises
    ------
    ValueError
        If this isn't CSV, has no rows, rows that are longer or shorter than the header, or columns with one name.
    """
    if is_pasted(source):
        return _framed(_lines(source, "the table"), "the table")
    path, called = Path(source), str(source)
    if isinstance(source, str) and not path.exists():
        raise FileNotFoundError(f"No such file: {called!r}, nor is it a table of several lines; labels are arrays.")
    if path.suffix.casefold() == ".xlsx":
        with path.open("rb") as file:  # says what is wrong with the place of the file
            return _framed(cells_of_sheet(file, called), called)
    try:
        return _framed(_lines(path.read_bytes().decode("utf-8-sig"), called), called)
    except UnicodeDecodeError as error:
        raise ValueError(f"{called} is not a CSV file that can be read: {error}.") from None


def _framed(lines: Lines, called: str) -> Any:
    """Return a data frame of lines, whose first is the header."""
    import pandas as pd

    if not lines:
        raise ValueError(f"{called} is empty.")
    (_, header), *body = lines
    rows = [row for _, row in body]
    if rows and all(len(row) == len(lines) and all(map(is_number, row)) for row in (header, *rows)):
        places = [str(i) for i in range(len(lines))]
        body = [(0, [place, *row]) for place, row in zip(places, (header, *rows), strict=True)]
        header, rows = [_BARE, *places], [row for _, row in body]
    if {len(header) + 1} == set(map(len, rows)) and _lost_corner(header, rows):
        header = ["", *header]
    if all(len(row) == 2 for row in (header, *rows)) and {row[0].casefold() for row in (header, *rows)} == _CELLS:
        header, *rows = map(list, zip(header, *rows, strict=True))  # a cell per line
        body = [(2, row) for row in rows]
    for line, row in body:
        if len(row) != len(header):
            many = "field" if len(row) == 1 else "fields"
            raise ValueError(f"{called}: line {line} has {len(row)} {many}, the header {len(header)}.")
    if not rows:
        raise ValueError(f"{called} has a header and no rows.")
    kept = [i for i, name in enumerate(header) if name or i == 0 or any(row[i] for row in rows)]
    names = [header[i] for i in kept]
    if "" in names[1:]:
        raise ValueError(f"{called}: column {kept[names.index('', 1)] + 1} has no name in the header.")
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise ValueError(f"{called} has two columns called {twice[0]!r}; every column needs a name of its own.")
    return pd.DataFrame([[row[i] for i in kept] for row in rows], columns=names, dtype=object)


def _lost_corner(header: list[str], rows: list[list[str]]) -> bool:
    """Say whether rows have names of their own before their numbers: those of the header, or words."""
    names, numbers = [row[0] for row in rows], [field for row in rows for field in row[1:]]
    return set(header) == set(names) or (all(map(is_number, numbers)) and not any(map(is_number, header + names)))


def _lines(text: str, called: str) -> Lines:
    """Return the fields of every line that has any entry, and its number."""
    first = re.sub(r'"[^"]*"', "", next((line for line in text.splitlines() if line.strip(" ")), ""))
    divider = max(_DIVIDERS, key=first.count)  # the comma, if nothing divides more
    divider = " " if divider not in first and is_pasted(text) and " " in first.strip() else divider
    made = []
    try:
        reader = csv.reader(
            io.StringIO(text, newline=""), delimiter=divider, skipinitialspace=divider != "\t", strict=True
        )
        for row in reader:
            fields = [field.strip() for field in row]
            if any(fields):
                made.append((reader.line_num, fields))
    except csv.Error as error:
        raise ValueError(f"{called} is not a CSV file that can be read: {error}.") from None
    return made if divider in ", " else _without_commas(made)


def _without_commas(lines: Lines) -> Lines:
    """Write numbers with commas without them: of decimals, or of thousands where all that have one may be these."""
    fields = [field for _, row in lines for field in row]
    thousands = all(map(_THOUSANDS.match, filter(_COMMA.match, fields)))

    def bare(field: str) -> str:
        if thousands and _THOUSANDS.match(field):
            return field.replace(",", "")
        return _COMMA.sub(r"\1.\2", field)

    return [(at, list(map(bare, row))) for at, row in lines]


def cells_of_sheet(file: Any, called: str, most: int | None = None) -> Lines:
    """Return the cells of every row, or so many, of the first sheet that has any entry, and its number."""
    import pandas as pd

    need("openpyxl", f"{called}, if not saved as CSV,")
    try:
        sheet = pd.read_excel(file, header=None, dtype=object, nrows=most)
    except Exception as error:  # of a zip file, of its XML, ...
        raise ValueError(f"{called} is not an .xlsx file that can be read: {str(error)[:200]}.") from None
    rows = (
        ["" if pd.isna(cell) else f"{cell:.15g}" if isinstance(cell, float) else str(cell).strip() for cell in row]
        for row in sheet.itertuples(index=False)
    )
    return [(number, row) for number, row in enumerate(rows, start=1) if any(row)]


def labels(*columns: Sequence[str]) -> list[NDArray[Any]]:
    """Return columns of labels: numbers, or True and False, where all columns are; else the text as it is written.

    "1" and "1.0" are the same number, but not in one column; "01" is text.
    """
    typed = [_typed(list(column)) for column in columns]
    if any(array.dtype.kind == "U" for array in typed):
        return [np.array(list(column), np.str_) for column in columns]
    return typed


def _typed(texts: list[str]) -> NDArray[Any]:
    """Return numbers or truth values where all texts are written as one kind of them."""
    for pattern in (_WHOLE, _POINT_ZERO):
        if all(pattern.fullmatch(text) for text in texts):
            return np.array([int(text.removesuffix(".0")) for text in texts], np.int64)
    if any(set(texts) <= set(pair) for pair in _TRUTHS):
        return np.array([text.casefold() == "true" for text in texts])
    numbers = [float(text) for text in texts if is_number(text)]
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
        if not is_number(text):
            raise ValueError(f"column {name!r} has {text!r} in row {row} of the table; wanted is a number.")
    whole = all(re.fullmatch(r"[+-]?\d{1,18}", text) for text in texts)
    return np.array([int(text) if whole else float(text) for text in texts])


def require(frame: Any, called: Any, names: Sequence[str]) -> None:
    """Refuse a table without these columns, or with rows where one is empty."""
    for name in names:
        if name not in frame:
            raise ValueError(f"{called} has no column {name!r}; it has {', '.join(map(str, frame.columns))}.")
        if (empty := (frame[name] == "").to_numpy()).any():
            raise ValueError(f"column {name!r} is empty in row {int(empty.argmax()) + 1} of the table.")


def positive_label(frame: Any, names: Sequence[str], given: Any) -> Any:
    """Return a positive class that was given as text in the type of the columns of labels; a pair of two sides."""
    if not isinstance(given, str):
        return given
    columns = [frame[name] for name in names if name in frame]
    texts = [text for column in columns for text in column]
    values = [value for array in labels(*columns) for value in array.tolist()]
    known = dict(zip(texts, values, strict=True)) | {str(value): value for value in values}
    pair = [word.strip() for word in given.split(",")]
    if len(pair) == 2 and set(pair) <= set(known):
        return known[pair[0]], known[pair[1]]
    if given not in known:
        raise ValueError(f"--pos-label must be one of {', '.join(sorted({*map(str, values)}))}; got {given}.")
    return known[given]
