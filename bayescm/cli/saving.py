"""What ``--save`` and ``--plot`` write: a file is there whole, or what stood there is untouched."""

import argparse
import importlib.util
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bayescm
from bayescm.cli.output import plain
from bayescm.data.files import replace
from bayescm.results.writing import as_csv, as_xlsx

if TYPE_CHECKING:
    import xarray as xr

_SAVED = {".nc": "netCDF", ".csv": "the table", ".xlsx": "the table", ".json": "what --json prints"}


def check(arguments: argparse.Namespace) -> None:
    """Refuse, before anything is computed, files that can't be written."""
    if getattr(arguments, "save", None):
        written = ", ".join(f"{suffix} ({what})" for suffix, what in _SAVED.items())
        _check("--save", Path(arguments.save), _SAVED, written)
        if Path(arguments.save).suffix.lower() == ".xlsx" and importlib.util.find_spec("openpyxl") is None:
            raise ValueError("--save writes .xlsx with openpyxl: install it, or take .csv.")
    if getattr(arguments, "plot", None):
        from matplotlib.backend_bases import FigureCanvasBase

        suffixes = [f".{name}" for name in sorted(FigureCanvasBase.get_supported_filetypes())]
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


def written(
    arguments: argparse.Namespace,
    data: Callable[[], Any],
    document: Callable[[], dict[str, Any]],
    table: str,
    draw: Callable[[], Any] | None = None,
) -> bool:
    """Write the files and print the JSON that were asked for; say whether that is all, so that no table is printed.

    Parameters
    ----------
    arguments : argparse.Namespace
        With `json`, `save` and, where something can be drawn, `plot`.
    data, document, table
        As in :func:`save`.
    draw : callable, optional
        Draws the picture, and returns its axes.
    """
    if arguments.save:
        save(arguments.save, data, document, table)
    if draw is not None and arguments.plot:
        save_figure(draw, arguments.plot)
    if arguments.json:
        print(as_json(document()))
    return bool(arguments.json)


def with_draws(table: "xr.Dataset", counts: Any, metrics: Any, settings: dict[str, Any]) -> "xr.DataTree":
    """Return the posterior draws with the table."""
    tree = bayescm.posterior(counts, metrics=metrics, **settings)
    tree["summary"] = table
    return tree


def save(path: str, data: Callable[[], Any], document: Callable[[], dict[str, Any]], table: str) -> None:
    """Save a result by the ending of the name.

    Parameters
    ----------
    path : str
    data : callable
        Makes the Dataset or DataTree of a netCDF file.
    document : callable
        Makes what ``--json`` prints.
    table : str
        The key of the document with the rows of a CSV file.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".csv":
        content: Any = as_csv(document()[table]).encode()
    elif suffix == ".xlsx":
        content = as_xlsx(document()[table])
    elif suffix == ".json":
        content = (as_json(document()) + "\n").encode()
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


def as_json(document: dict[str, Any]) -> str:
    """Return JSON as it is printed and saved."""
    return json.dumps(document, indent=1, default=plain)
