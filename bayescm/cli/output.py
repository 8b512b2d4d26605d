"""What a command answers, as text, Markdown, CSV, JSON, files and pictures."""

import argparse
import io
import json
import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayescm.cli import understood
from bayescm.data.files import replace
from bayescm.data.schema import ALIAS, METRIC
from bayescm.results.display import how
from bayescm.results.escape import for_terminal
from bayescm.results.names import called, notes_of
from bayescm.results.views import view_of
from bayescm.results.writing import as_csv, as_markdown, as_text, as_xlsx

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_NARROWEST, _WIDEST_TEXT = 40, 100


class Table(NamedTuple):
    """A table of an answer: records or a frame, a line above it and one below."""

    rows: "Sequence[dict[str, Any]] | pd.DataFrame"
    title: str = ""
    note: str = ""

    def frame(self) -> "pd.DataFrame":
        """Return the rows, with metrics named as the user did."""
        import pandas as pd

        if isinstance(self.rows, pd.DataFrame):
            return self.rows
        rows = [row | {METRIC: called(row[METRIC], row.get(ALIAS, ""))} if METRIC in row else row for row in self.rows]
        return pd.DataFrame(rows).drop(columns=ALIAS, errors="ignore")


def add_outputs(parser: argparse.ArgumentParser, saved: str, drawn: str | None) -> None:
    """Add the options that say in which form an answer is wanted, and where it goes."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON, with all digits and settings")
    form.add_argument("--csv", action="store_true", help="print the table as CSV, with all digits")
    form.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument(
        "--save", metavar="FILE", help=f"save {saved} (.nc), the table (.csv, .xlsx) or the JSON (.json)"
    )
    if drawn is not None:
        parser.add_argument("--plot", metavar="FILE", help=f"save {drawn}, by its ending (.png, .svg, .pdf and others)")


def tell(
    arguments: argparse.Namespace,
    result: Any,
    main: str,
    document: Mapping[str, Any] = MappingProxyType({}),
    tables: Mapping[str, Table] = MappingProxyType({}),
    *,
    counts: "xr.DataArray | None" = None,
    note: str = "",
    draw: Callable[[], Any] | None = None,
    data: Callable[[], Any] | None = None,
) -> None:
    """Write the files that were asked for, and print the answer in the form that was.

    Parameters
    ----------
    arguments : argparse.Namespace
        With the options of :func:`add_outputs`.
    result : xarray.Dataset or xarray.DataTree
        What the library returned: its sentence stands above the tables, and what it assumes below.
    main : str
        The key of the document, and of the tables, for what is one table alone: CSV, a spreadsheet, Markdown. It may be
        absent from both where Python has a table of the result.
    document : mapping
        What ``--json`` prints besides settings and counts.
    tables : mapping of str to Table
        In their order.
    counts : xarray.DataArray, optional
        As they were understood.
    note : str
        A line below the main table.
    draw : callable, optional
        Draws the picture, and returns its axes.
    data : callable, optional
        Makes what a netCDF file holds, if that isn't the result.
    """
    found = view_of(result)
    as_in_python = found is not None and main not in tables  # else the command has a table of its own
    made: dict[str, Any] = {"settings": dict(result.attrs)}
    if counts is not None:
        made["counts"] = understood.records(counts)
    if found is not None:
        view, told = found
        made[main] = view.records(told)
        if as_in_python:
            first, *more = result.bayescm.tables()
            left_out = result.bayescm.left_out()
            cut = f"{left_out:,} more rows: --json and --csv have them." if left_out else ""
            notes = " ".join(filter(None, [cut, note, of_draws(told)]))
            own = {main: Table(first, note=notes)} | {f"{main} {i}": Table(one) for i, one in enumerate(more)}
            tables = own | dict(tables)
    if counts is not None:
        tables = dict(tables) | {"counts": Table(*understood.table(counts))}
    made |= document
    document = {name: finite(value) if isinstance(value, list) else value for name, value in made.items()}
    if arguments.save:
        save(arguments.save, data or (lambda: result), document, document[main])
    if draw is not None and arguments.plot:
        save_figure(draw, arguments.plot)
    if arguments.json:
        print(as_json(document))
    elif arguments.csv:
        print(as_csv(document[main]), end="")
    elif arguments.markdown:
        print(result.bayescm.to_markdown() if as_in_python else as_markdown(tables[main].frame()), end="")
    else:
        print("\n\n".join(_paragraphs(result, tables.values())))


def _paragraphs(result: Any, tables: Iterable[Table]) -> Iterator[str]:
    """Give the sentence, the tables and the assumptions, as wide as the terminal or 80 columns."""
    width = max(shutil.get_terminal_size((80, 24)).columns, _NARROWEST)

    def wrapped(*texts: str) -> list[str]:
        lines = [line for text in texts for line in for_terminal(text).splitlines()]
        return [part for line in lines for part in textwrap.wrap(line, min(width, _WIDEST_TEXT))]

    known = view_of(result) is not None
    if known:
        yield "\n".join(wrapped(result.bayescm.sentence))
    for table in tables:
        if len(table.rows):
            sheet = as_text(table.frame(), width, "--json and --csv have them")
            yield "\n".join([*wrapped(table.title), sheet, *wrapped(table.note)])
    if known:
        yield "\n".join(wrapped(result.bayescm.assumptions))
        return
    note = f"{said}\n" if (said := notes_of(result.attrs)) else ""
    yield "\n".join(wrapped(f"{note}Assumes: {result.attrs['assumptions']}.\n{how(result)}"))


def of_draws(data: "xr.Dataset") -> str:
    """Say how far numbers by draws may be off; nothing where there are none."""
    found = [np.nanmax(one.values) for name, one in data.data_vars.items()
             if str(name).startswith("mcse") and np.nanmax(one.values, initial=0.0) > 0]  # fmt: skip
    return f"Monte Carlo error of numbers by draws: at most {max(found):.1g}." if found else ""


def finite(records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return records for JSON, which has no word for what isn't finite."""
    return [{name: _plain(value) for name, value in record.items()} for record in records]


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not abs(value) < float("inf") else value


def as_json(document: dict[str, Any]) -> str:
    """Return JSON as it is printed and saved."""
    return json.dumps(document, indent=1, default=_plain)


def save(path: str, data: Callable[[], Any], document: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Save a result by the ending of the name: as netCDF, its rows as a table, or the document as JSON."""
    suffix = Path(path).suffix.lower()
    if suffix == ".csv":
        content: Any = as_csv(rows).encode()
    elif suffix == ".xlsx":
        content = as_xlsx(rows)
    elif suffix == ".json":
        content = (as_json(document) + "\n").encode()
    else:  # in memory, because HDF5 ends the process where a disk is full
        content = data().to_netcdf(engine="h5netcdf")
    replace(Path(path), content)


def save_figure(draw: Callable[[], Any], path: str) -> None:
    """Draw without a screen and save the figure."""
    import matplotlib as mpl

    mpl.use("agg")
    made = io.BytesIO()
    draw().get_figure(root=True).savefig(made, format=Path(path).suffix[1:].lower(), dpi=150)
    replace(Path(path), made.getbuffer())
