"""What printed metrics leave of a matrix: the verdict, and a record per number."""

from typing import Any

import xarray as xr

from bayescm.data.schema import CELLS_OF_TWO, METRIC
from bayescm.results.writing import each

_SHOWN = ("tp", "fp", "fn", "tn")


def of_printed(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return a record per number: what its rounding allows, and where nothing fits what the others leave."""
    return [
        names
        | {"stated": float(one["stated"])}
        | dict(zip(("lower", "upper"), one["allowed"].values.tolist(), strict=True))
        | {"nearest": float(one["nearest"])}
        for names, one in each(data, "stated")
    ]


def answer(data: xr.Dataset) -> str:
    """Say whether any matrix has all of the numbers, and which."""
    number, n, verdict = float(data["matches"]), int(data.attrs["n"]), data.attrs["verdict"]
    if verdict == "impossible":
        return f"Impossible: no matrix of {n:,} items has all of these numbers, as they are rounded. {_at_odds(data)}"
    ends = (dict(zip(CELLS_OF_TWO, data[name].values.ravel(), strict=True)) for name in ("least", "most"))
    least, most = ends
    if verdict == "unique":
        cells = ", ".join(f"{cell.upper()} {least[cell]:,.0f}" for cell in _SHOWN)
        return f"One matrix of {n:,} items has all of these numbers: {cells}."
    cells = ", ".join(f"{cell.upper()} {least[cell]:,.0f} to {most[cell]:,.0f}" for cell in _SHOWN)
    about = "" if data.attrs["counted"] == "all" else "about "
    shown = f"{number:,.0f}" if number < 1e9 else f"{number:.2g}"
    return f"Possible: {about}{shown} matrices of {n:,} items have all of these numbers, with {cells}."


def _at_odds(data: xr.Dataset) -> str:
    """Say which numbers are at odds with the others, and what these leave."""
    names = [name for name in str(data.attrs["at_odds"]).split(", ") if name]
    if not names:
        return "No single one of them is at odds: without any one the others don't fit, either."
    known = data["nearest"].dropna(METRIC)
    nearest = dict(zip(known[METRIC].values.tolist(), known.values.tolist(), strict=True))
    told = [f"{name} (the others leave {nearest[name]:.10g})" if name in nearest else name for name in names]
    cause = "misprinted, of other items or of the other class, or a mean over folds"
    if len(names) == 1:
        return f"At odds is {told[0]}: {cause}?"
    return f"At odds is any one of {', '.join(told)}: {cause}?"


def of_sizes(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return a record per number of items."""
    pairs = zip(data["n_items"].values.tolist(), data["probability"].values.tolist(), strict=True)
    return [{"n_items": n, "probability": chance} for n, chance in pairs]


def size(data: xr.Dataset) -> str:
    """Say which numbers of items fit a board."""
    smallest, likeliest = int(data["smallest"]), int(data["likeliest"])
    chance, fit = float(data["probability"].max()), data.sizes["n_items"]
    what = f"{fit:,} numbers of items up to {int(data.attrs['most']):,} fit all {data.attrs['scores']} scores"
    return f"{what}; the smallest is {smallest:,}, the most probable {likeliest:,} ({chance:.2f})."
