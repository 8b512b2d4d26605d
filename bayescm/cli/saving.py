"""Whether files that ``--save`` and ``--plot`` name can be written."""

import argparse
import os
from pathlib import Path
from typing import Any

from bayescm.data.needs import need

_SAVED = {".nc": "netCDF", ".csv": "the table", ".xlsx": "the table", ".json": "what --json prints"}


def check(arguments: argparse.Namespace) -> None:
    """Refuse, before anything is computed, files that can't be written."""
    if getattr(arguments, "save", None):
        written = ", ".join(f"{suffix} ({what})" for suffix, what in _SAVED.items())
        _check("--save", Path(arguments.save), _SAVED, written)
        if Path(arguments.save).suffix.lower() == ".xlsx":
            need("openpyxl", "--save to .xlsx, if not to .csv,")
    if getattr(arguments, "plot", None):
        backends = need("matplotlib.backend_bases", "--plot")
        suffixes = [f".{name}" for name in sorted(backends.FigureCanvasBase.get_supported_filetypes())]
        _check("--plot", Path(arguments.plot), suffixes, ", ".join(suffixes))


def _check(option: str, path: Path, suffixes: Any, written: str) -> None:
    """Refuse an ending that nothing is written for, and a place where no file can be."""
    if path.is_dir():
        raise ValueError(f"{option} must be a file; {path} is a folder. Give a name in it.")
    if path.suffix.lower() not in suffixes:
        raise ValueError(f"{option} writes by the ending of the name: {written}; got {str(path)!r}.")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise ValueError(f"{option} {path}: there is no folder {path.parent}; make it first.")
    if path.exists() and not path.is_file():
        raise ValueError(f"{option} must be a file; {path} is something else (a device or a pipe).")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"{option} {path}: nothing can be written into the folder {path.parent}; take another one.")
