"""Tables, JSON and pictures."""

import argparse
import sys
from collections.abc import Callable
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


def console() -> Any:
    """Return a console that is 100 columns wide where there is no terminal."""
    from rich.console import Console

    return Console(soft_wrap=False, width=None if sys.stdout.isatty() else 100)


def show(value: float) -> str:
    """Format a number for the table."""
    if value != value:
        return "-"
    return f"{value:.3f}" if 0.001 <= abs(value) < 1000 or value == 0 else f"{value:.2g}"
