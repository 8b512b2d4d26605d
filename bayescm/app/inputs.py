"""From what a form sends, all of it text, to what the library takes; no code and no path of a file is ever read."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import bayescm
from bayescm.data import counts as data_counts
from bayescm.data import texts
from bayescm.data.crosstabs import side
from bayescm.data.evidence import Evidence
from bayescm.data.frames import looks_square
from bayescm.data.recognisers import COUNTS, SYSTEMS
from bayescm.data.schema import ACTUAL, SYSTEM
from bayescm.data.units import unit_of

CELLS = ("tp", "fn", "fp", "tn")
PAIRS = tuple(f"{truth}_{positive}" for truth in "dh" for positive in ("both", "a", "b", "none"))
"""Patients with the disease, and healthy ones, by which of two tests were positive."""
MOST_ITEMS = 1_000_000
"""Of two tests, each of which is an item of the library."""
MOST_ROWS, MOST_CLASSES, MOST_LISTED = 50_000, 50, 1000
MOST_SYSTEMS = 500
"""Or folds: 1,000 of them take 1.2 GB of a leaderboard, 500 half of that."""
MOST_UNPACKED = 50_000_000  # bytes
_NO_LABELS = frozenset({"fold", "item", "n", "score", "system"})  # columns of a table with a row per item
_POSITIVE, _UNIT = "pos_label", "unit"
_OF_COLUMNS = (_UNIT, "group", "subject", "covariates")
"""Fields that name columns."""
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
    except FieldError:
        raise
    except (ValueError, TypeError) as error:
        said = str(error)
        named = next((name for name in (_POSITIVE, *_OF_COLUMNS) if f"`{name}`" in said or f"--{name}" in said), field)
        raise FieldError(named, said) from None


def text(form: Mapping[str, Any], name: str, default: str = "") -> str:
    """Return what stands in a field."""
    value = form.get(name, default)
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise FieldError(name, "Write text or a number.")
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
    return words({name: re.sub(r"[;\s]+", ",", text(form, name, default))}, name)


def words(form: Mapping[str, Any], name: str) -> list[str]:
    """Return what stands between commas."""
    found = [word.strip() for word in text(form, name).split(",") if word.strip()]
    few(len(found), MOST_LISTED, "entries", name)
    return found


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
        evidence, code = table(form, COUNTS)
        with about("table"):
            return evidence.data if unit_of(evidence.data) else data_counts.one_matrix(evidence.data), code
    cells: dict[str, Any] = {name: whole(form, name) for name in CELLS}
    return data_counts.from_cells(**cells), f"bayescm.from_cells({', '.join(f'{k}={v}' for k, v in cells.items())})"


def pairs(form: Mapping[str, Any]) -> tuple[Evidence, str]:
    """Return several systems: of a table if there is one, else two tests on the same items by eight numbers."""
    if text(form, "table") or not any(name in form for name in PAIRS):
        return table(form, SYSTEMS)
    number = {name: whole(form, name) for name in PAIRS}
    few(sum(number.values()), MOST_ITEMS, "items", PAIRS[0])
    word = {True: "positive", False: "negative"}
    rows = [
        f"{word[name[0] == 'd']},{word[name[2:] in ('both', 'a')]},{word[name[2:] in ('both', 'b')]},{n}"
        for name, n in number.items()
    ]
    return table({"table": "\n".join(["actual,A,B,n", *rows])}, SYSTEMS)


def table(form: Mapping[str, Any], question: str | None, **columns: Any) -> tuple[Evidence, str]:
    """Return what a pasted table holds, for a question, with these columns; and the Python that reads it."""
    given, frame, shown = pasted(form)
    with about("table"):
        units = words(form, _UNIT)
        _check_size(frame, columns.get("by", SYSTEM), question, units)
        evidence, options = _read(given, text(form, "rows", "truth"), {
            "columns": columns or None, "about": question, _POSITIVE: text(form, _POSITIVE) or None,
            _UNIT: (tuple(units) if len(units) > 1 else units[0]) if units else None,
        })  # fmt: skip
        said = [f"{name}={value!r}" for name, value in options.items() if value is not None]
        return evidence, f"bayescm.read({', '.join([shown, *said])})"


def pasted(form: Mapping[str, Any]) -> tuple[str, Any, str]:
    """Return the text of a table, its frame with all columns that are named, and its Python, of a file where long."""
    text(form, "table")
    given = str(form.get("table", "")).strip(" \r\n")
    lines = [line for line in given.splitlines() if line.strip()]
    if not lines:
        raise FieldError("table", "Paste a table, or drop a CSV file here.")
    few(len(lines), MOST_ROWS, "lines")
    if not texts.is_pasted(given):  # so that it is never the path of a file
        raise FieldError("table", "The table has one line only; paste its header and its rows.")
    with about("table"):
        frame = texts.read_text(given)
    for field in _OF_COLUMNS:
        with about(field):
            texts.require(frame, "the table", words(form, field))
    return given, frame, repr(given if len(lines) <= MOST_CLASSES else "your-file.csv")


def units(form: Mapping[str, Any]) -> tuple[Any, str]:
    """Return what was sampled of each row of a table of scores, and a line of Python; nothing if nothing is said."""
    names = words(form, _UNIT)
    if not names:
        return None, ""
    if len(names) > 1:
        raise FieldError(_UNIT, "One column here: units that are crossed have no curve together.")
    (name,), (_, frame, shown) = names, pasted(form)
    shown = f"pd.read_csv({shown})[{name!r}]" if len(frame) >= MOST_CLASSES else frame[name].tolist()
    return frame[name].to_numpy(), f"\nunit = {shown}"


def _read(given: str, rows: str, options: dict[str, Any]) -> tuple[Evidence, dict[str, Any]]:
    """Return what a table holds; where it doesn't say what its rows are, they are what the form says."""
    try:
        return bayescm.read(given, **options), options
    except ValueError as error:
        try:
            return bayescm.read(given, rows=rows, **options), options | {"rows": rows}
        except ValueError as other:
            raise (error if "`rows`" in str(other) else other) from None


def _check_size(frame: Any, by: str, question: str | None, units: list[str]) -> None:
    """Refuse tables of too many classes, systems or columns."""
    few(frame.shape[1], MOST_SYSTEMS + 2, "columns")
    items = any(side(name) == ACTUAL for name in frame) and not looks_square(frame)
    if items:
        others = _NO_LABELS | {by, *units}
        few(len(set().union(*(frame[name] for name in frame if name not in others))), MOST_CLASSES, "classes")
    elif question == COUNTS and by == SYSTEM:
        few(len(frame), MOST_CLASSES, "classes")
    if question != COUNTS or by != SYSTEM:
        several = frame.shape[1] - 1 if items else len(frame)
        few(frame[by].nunique() if by in frame else several, MOST_SYSTEMS, f"{by}s")


def sheet(content: bytes) -> str:
    """Return the first sheet of an .xlsx file as text between tabs, which is what a spreadsheet would copy."""
    import zipfile

    with about("table"):
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as parts:
                if sum(part.file_size for part in parts.infolist()) > MOST_UNPACKED:
                    raise TooMuch("bytes of an unpacked spreadsheet", MOST_UNPACKED)
        except FieldError:
            raise
        except Exception as error:  # whatever it is that was sent
            raise FieldError("table", f"This is not an .xlsx file that can be read: {str(error)[:200]}.") from None
        rows = texts.cells_of_sheet(io.BytesIO(content), "the sheet", MOST_ROWS + 1)
    written = io.StringIO()
    csv.writer(written, delimiter="\t", lineterminator="\n").writerows(row for _, row in rows)
    return written.getvalue()
