"""Tables, JSON and pictures."""

import argparse
import sys
from collections.abc import Container, Iterable, Mapping
from typing import Any

from bayescm.data.schema import ALIAS, METRIC
from bayescm.results.escape import for_console
from bayescm.results.names import NO_ITEMS
from bayescm.results.names import called as called
from bayescm.results.writing import cell, show


def add_outputs(parser: argparse.ArgumentParser, saved: str, drawn: str | None) -> None:
    """Add the options that say where results go."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--save", metavar="FILE", help=f"save {saved} (.nc), the table (.csv, .xlsx) or the JSON (.json)"
    )
    if drawn is not None:
        parser.add_argument("--plot", metavar="FILE", help=f"save {drawn}, by its ending (.png, .svg, .pdf and others)")


def plain(value: Any) -> Any:
    """Return a number, or text where it isn't finite, because JSON has no word for it."""
    return str(value) if isinstance(value, float) and not abs(value) < float("inf") else value


def finite(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return records for JSON, which has no word for what isn't finite."""
    return [{name: plain(value) for name, value in record.items()} for record in records]


def positive(attrs: Mapping[Any, Any]) -> str:
    """Return the line of a caption that names the positive class; none where there is no such class."""
    return f"\npositive: {attrs['positive_class']}" if "positive_class" in attrs else ""


def ends(record: dict[str, Any], what: str = "") -> str:
    """Write the interval of a record."""
    return f"{show(record[f'{what}lower'])} to {show(record[f'{what}upper'])}"


def console() -> Any:
    """Return a console that is 100 columns wide where there is no terminal."""
    from rich.console import Console

    class Plain(Console):
        """Leaves a broken pipe to who prints."""

        def on_broken_pipe(self) -> None:
            raise

    return Plain(soft_wrap=False, width=None if sys.stdout.isatty() else 100)


def print_assumptions(attrs: Mapping[Any, Any]) -> None:
    """Print under the tables what the answer takes for granted."""
    if NO_ITEMS in attrs:
        console().print(for_console(f"Note: {attrs[NO_ITEMS]}."), highlight=False)
    console().print(f"Assumes: {for_console(str(attrs['assumptions']))}.", highlight=False)


def _text(name: str, value: Any) -> str:
    """Return a cell of a table; areas may be small."""
    if isinstance(value, float):
        return f"{value:.4g}" if name in ("area", "level") else cell(value, name)
    return for_console(value)


def named(record: dict[str, Any]) -> dict[str, Any]:
    """Name the metric of a record as the user did."""
    alias = record.get(ALIAS, "")
    return {name: called(value, alias) if name == METRIC else value for name, value in record.items() if name != ALIAS}


def print_records(records: list[dict[str, Any]], title: str, caption: str, left: Container[Any] = ()) -> None:
    """Print records as a table; columns of words go to the left."""
    from rich.table import Table

    records = [named(record) for record in records]
    longest = max(len(line) for line in (title, *caption.splitlines()))
    sheet = Table(title=for_console(title), caption=for_console(caption), min_width=min(max(60, longest), 100))
    for name in records[0]:
        words = name in left  # that are broken rather than cut where the table is too wide
        sheet.add_column(for_console(name), justify="left" if words else "right", no_wrap=not words, overflow="fold")
    for record in records:
        sheet.add_row(*(_text(name, value) for name, value in record.items()))
    console().print(sheet)
