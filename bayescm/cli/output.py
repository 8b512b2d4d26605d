"""Tables, JSON and pictures."""

import argparse
import sys
from collections.abc import Callable, Iterable
from typing import Any


def add_outputs(parser: argparse.ArgumentParser, saved: str, drawn: str) -> None:
    """Add the options that say where results go."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--save", metavar="FILE.nc", help=f"save {saved}")
    parser.add_argument("--plot", metavar="FILE.png", help=f"save {drawn}")


def save_figure(draw: Callable[[], Any], path: str) -> None:
    """Draw without a screen and save the figure."""
    import matplotlib as mpl

    mpl.use("agg")
    figure = draw().get_figure(root=True)
    figure.savefig(path, dpi=150)


def plain(value: Any) -> Any:
    """Return a number, or text where it isn't finite, because JSON has no word for it."""
    return str(value) if isinstance(value, float) and not abs(value) < float("inf") else value


def finite(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return records for JSON, which has no word for what isn't finite."""
    return [{name: plain(value) for name, value in record.items()} for record in records]


def bounds(interval: Any, what: str = "") -> dict[str, Any]:
    """Return the ends of an interval, as a record has them."""
    lower, upper = interval.values.tolist()
    return {f"{what}lower": lower, f"{what}upper": upper}


def ends(record: dict[str, Any], what: str = "") -> str:
    """Write the interval of a record."""
    return f"{show(record[f'{what}lower'])} to {show(record[f'{what}upper'])}"


def console() -> Any:
    """Return a console that is 100 columns wide where there is no terminal."""
    from rich.console import Console

    return Console(soft_wrap=False, width=None if sys.stdout.isatty() else 100)


def show(value: float) -> str:
    """Format a number for the table."""
    if value != value:
        return "-"
    return f"{value:.3f}" if 0.001 <= abs(value) < 1000 or value == 0 else f"{value:.2g}"
