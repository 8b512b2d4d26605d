"""From what a form sends, all of it text, to what the library takes; no code and no path of a file is ever read."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from bayescm.data import counts as data_counts
from bayescm.data.crosstabs import side
from bayescm.data.schema import ACTUAL

CELLS = ("tp", "fn", "fp", "tn")
MOST_ROWS, MOST_CLASSES, MOST_LISTED = 50_000, 50, 1000
MOST_SYSTEMS = 500
"""Or folds: 1,000 of them take 1.2 GB of a leaderboard, 500 half of that."""
MOST_UNPACKED = 50_000_000  # bytes
_NO_LABELS = frozenset({"fold", "item", "n", "score", "system"})  # columns of a table with a row per item
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


class FieldError(ValueError):
    """An error that belongs to one field of the form."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class TooMuch(FieldError):
    """An error of more than a page should compute or show; the library takes it."""

    def __init__(self, what: str, most: int, field: str = "table") -> None:
        super().__init__(field, f"At most {most:,} {what} here.")


def few(number: int, most: int, what: str, field: str = "table") -> None:
    """Refuse more than so many."""
    if number > most:
        raise TooMuch(what, most, field)


@contextmanager
def about(field: str) -> Iterator[None]:
    """Let an error of the library belong to a field."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise FieldError(field, str(error)) from None


def text(form: Mapping[str, Any], name: str, default: str = "") -> str:
    """Return what stands in a field."""
    value = form.get(name, default)
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise FieldError(name, f"Write text or a number; got {type(value).__name__}.")
    return str(value).strip() or default


def number(form: Mapping[str, Any], name: str, default: str = "") -> float:
    """Return a number, which may be written in percent."""
    written = text(form, name, default)
    bare = written.removesuffix("%").strip()
    if not _NUMBER.fullmatch(bare):
        raise FieldError(name, f'Write a number, such as 0.1 or 10%; got "{written}".')
    return float(bare) / (100 if written.endswith("%") else 1)


def whole(form: Mapping[str, Any], name: str, default: str = "") -> int:
    """Return a whole number of items."""
    written = text(form, name, default)
    if not re.fullmatch(r"\d{1,15}", written):
        raise FieldError(name, f'Write a whole number of items, 0 if there were none; got "{written}".')
    return int(written)


def listed(form: Mapping[str, Any], name: str, default: str) -> list[str]:
    """Return words between commas or spaces."""
    words = [word for word in re.split(r"[,;\s]+", text(form, name, default)) if word]
    few(len(words), MOST_LISTED, "entries", name)
    return words


def numbers(form: Mapping[str, Any], name: str, default: str) -> list[float]:
    """Return numbers between commas or spaces."""
    return [number({name: word}, name) for word in listed(form, name, default)]


def prior(form: Mapping[str, Any]) -> str | float:
    """Return a prior by its name or as a number."""
    written = text(form, "prior", "jeffreys")
    return float(written) if _NUMBER.fullmatch(written) else written


def prevalence(form: Mapping[str, Any]) -> str | float | tuple[float, ...] | None:
    """Return what is known of the prevalence: nothing, "fixed", a number, or the two numbers of a Beta."""
    written = text(form, "prevalence")
    if written in ("", "fixed"):
        return written or None
    found = numbers(form, "prevalence", "")
    if len(found) == 2 and "%" in written:
        raise FieldError("prevalence", "Two numbers are a Beta's, such as 2, 18; a known prevalence is one percentage.")
    return found[0] if len(found) == 1 else tuple(found)


def counts(form: Mapping[str, Any]) -> tuple[Any, str]:
    """Return a confusion matrix, and the Python that makes it: of a table if there is one, else of four cells."""
    if text(form, "table"):
        data, code = table(form)
        _of_items(data)
        return data, code
    cells: dict[str, Any] = {name: whole(form, name) for name in CELLS}
    return data_counts.from_cells(**cells), f"bayescm.from_cells({', '.join(f'{k}={v}' for k, v in cells.items())})"


def table(form: Mapping[str, Any]) -> tuple[Any, str]:
    """Return a pasted table as a square array of numbers, or as a data frame; and the Python that makes it."""
    import pandas as pd

    rows = _rows(text(form, "table"))
    if len(rows) == len(rows[0]) and all(_NUMBER.fullmatch(cell) for row in rows for cell in row):
        few(len(rows), MOST_CLASSES, "classes")
        square = [[_typed(cell) for cell in row] for row in rows]
        return np.array(square), repr(square)
    header, *body = rows
    if not body:
        raise FieldError("table", "The table has one line only; paste its header and its rows.")
    twice = [name for i, name in enumerate(header) if name in header[:i]]
    if twice:
        raise FieldError("table", f"Two columns are called {twice[0]!r}; every column needs a name of its own.")
    columns = {name: _column([row[i] for row in body]) for i, name in enumerate(header)}
    code = f"pd.DataFrame({columns!r})" if len(body) <= MOST_CLASSES else "pd.read_csv('your-file.csv')"
    frame = pd.DataFrame(columns)
    first, *others = header
    if (
        len(others) == len(body)
        and all(frame[name].dtype.kind in "iu" for name in others)
        and (first == "" or set(others) == set(map(str, frame[first])))
    ):
        few(len(body), MOST_CLASSES, "classes")
        return frame.set_index(first), f"{code}.set_index({first!r})"
    return frame, code


def named(form: Mapping[str, Any]) -> tuple[Any, str]:
    """Return a pasted table whose columns have names."""
    data, code = table(form)
    if isinstance(data, np.ndarray):
        raise FieldError("table", "Give the columns a first line with their names, such as system,tp,fn,fp,tn.")
    return data, code


def systems(form: Mapping[str, Any], by: str = "system") -> tuple[Any, str]:
    """Return a pasted table of systems or folds, a row for each or for each item; or a column for each."""
    frame, code = named(form)
    several = frame.shape[1] - 1 if _of_items(frame) else len(frame)
    few(frame[by].nunique() if by in frame else several, MOST_SYSTEMS, f"{by}s")
    return frame, code


def _of_items(data: Any) -> bool:
    """Say whether a table has a row per item; its classes must not be too many."""
    square = isinstance(data, np.ndarray) or data.index.name is not None
    if square or not any(side(name) == ACTUAL for name in data):
        return False
    few(len(set().union(*(data[name] for name in data if name not in _NO_LABELS))), MOST_CLASSES, "classes")
    return True


def column(frame: Any, name: str, kinds: str = "biufOU") -> Any:
    """Return a column of a table by its name."""
    if name not in frame:
        raise FieldError("table", f"There is no column {name!r}; the first line has {', '.join(map(str, frame))}.")
    values = frame[name].to_numpy()
    if values.dtype.kind not in kinds:
        raise FieldError("table", f"The column {name!r} must hold numbers; it has {str(values[0])[:40]!r}.")
    return values


def sheet(content: bytes) -> str:
    """Return the first sheet of an .xlsx file as text between tabs, which is what a spreadsheet would copy."""
    import zipfile

    import pandas as pd

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as parts:
            if sum(part.file_size for part in parts.infolist()) > MOST_UNPACKED:
                raise TooMuch("bytes of an unpacked spreadsheet", MOST_UNPACKED)
        cells = pd.read_excel(io.BytesIO(content), header=None, dtype=object, nrows=MOST_ROWS + 1)
    except FieldError:
        raise
    except ImportError:
        raise FieldError("table", "Reading .xlsx needs openpyxl: install it, or save the sheet as CSV.") from None
    except Exception as error:  # of a zip file, of its XML, ...
        raise FieldError("table", f"This is not an .xlsx file that can be read: {str(error)[:200]}.") from None
    written = io.StringIO()
    cells.dropna(how="all").to_csv(written, sep="\t", header=False, index=False, float_format="%.15g")
    return written.getvalue()


def _rows(pasted: str) -> list[list[str]]:
    """Return the cells of a pasted table: between tabs, as spreadsheets have them, or semicolons, commas, spaces."""
    lines = [line for line in pasted.splitlines() if line.strip()]
    if not lines:
        raise FieldError("table", "Paste a table, or drop a CSV file here.")
    few(len(lines), MOST_ROWS, "lines")
    divider = next((mark for mark in "\t;," if mark in lines[0]), " ")
    try:
        rows = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=divider, skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise FieldError("table", f"This is not a table that can be read: {error}.") from None
    rows = [[cell.strip() for cell in row] for row in rows]
    if {len(rows[0]) + 1} == {len(row) for row in rows[1:]}:
        rows[0].insert(0, "")  # the empty corner of a square table, which is lost where text is stripped
    for line, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise FieldError("table", f"Line {line} has {len(row)} cells, the first line {len(rows[0])}.")
    few(len(rows[0]), MOST_SYSTEMS + 2, "columns")
    return rows


def _typed(cell: str) -> int | float:
    """Return a number, whole if it is written so."""
    return int(cell) if re.fullmatch(r"[+-]?\d{1,18}", cell) else float(cell)


def _column(cells: list[str]) -> list[Any]:
    """Return a column as numbers if all cells are, else as text."""
    return [_typed(cell) for cell in cells] if all(_NUMBER.fullmatch(cell) for cell in cells) else cells
