"""Gates: what a new system was asked, and whether it passed."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bayescm.data.schema import ITEM, METRIC, SYSTEM
from bayescm.results.names import is_share, known
from bayescm.results.writing import bounds, each, listed, percent, probability, with_interval

CHECK = "check"
_NAMED = 3


def of_gate(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return a record per check."""
    records = []
    for names, one in each(data.drop_vars("share", errors="ignore"), "point"):
        numbers = {name: float(one[name]) for name in ("new", "old", "point", "mean", "sd")}
        said = {name: str(one[name].item()) for name in ("task", METRIC, "rule", "method")}
        records.append({
            CHECK: str(names[CHECK]), **said, **numbers, **bounds(one["interval"]),
            "probability": float(one["probability"]), "n_items": int(one["n_items"]), "more": float(one["more"]),
            "verdict": str(one["verdict"].item()), "passes": bool(one["passes"].item()),
        })  # fmt: skip
    return records


def answer(data: xr.Dataset) -> str:
    """Say the verdict, what it rests on, and whether the new system passes."""
    attrs, checks = data.attrs, [one for _, one in each(data.drop_vars("share", errors="ignore"), "point")]
    verdict, number = str(attrs["verdict"]), int(attrs["checks"])
    if len(checks) < number:  # a selection
        return f"{len(checks)} of {number} checks of a gate whose verdict is: {verdict}."
    deciding = [one for one in checks if str(one["verdict"].item()) == verdict] or checks
    told = [f"{_check(one, attrs)}{_more(one)}" for one in deciding[:1]]
    others = [str(one[CHECK].item()) for one in deciding[1:]]
    text = f"{'Passes' if attrs['passed'] else 'Fails'}, {verdict}: {told[0]}"
    text += f"; so too {listed(others, _NAMED)}" if others else ""
    return f"{text}; one of {number} checks." if number > 1 else f"{text}."


def _check(one: xr.Dataset, attrs: Mapping[Any, Any]) -> str:
    """Say what was found of one check."""
    new, old, task = str(attrs["new"]), str(attrs["old"]), str(one["task"].item())
    about = str(one[METRIC].item()).replace("_", " ") + ("" if task == "all" else f" on {task}")
    chance = probability(float(one["probability"]), f"P({one['rule'].item()})")
    if math.isnan(float(one["old"])):
        value = with_interval(float(one["mean"]), one["interval"].values, attrs["ci_prob"])
        said = f"{about} of {new} is {value}; " if not math.isnan(float(one["mean"])) else ""
        return f"{said}{chance}"
    scale, digits, unit = (100.0, 1, " points") if is_share(known(str(one[METRIC].item()))) else (1.0, 3, "")
    lower, upper = (scale * value for value in one["interval"].values)
    level, number = percent(round(float(attrs["ci_prob_each"]), 4)), int(one["n_items"])
    by = f"{scale * float(one['point']):+.{digits}f}{unit} ({level}: {lower:+.{digits}f} to {upper:+.{digits}f}) on "
    by += f"{number:,} items"
    return f"{new} - {old} in {about} is {by}; {chance}"


def _more(one: xr.Dataset) -> str:
    """Say how many more items would decide."""
    if str(one["verdict"].item()) != "undecided":
        return ""
    more = float(one["more"])
    if math.isnan(more):
        return "; no number of items that anybody answers would decide a difference as small"
    return f"; about {_rounded(more):,} more items would decide it, if the difference is what it is here"


def _rounded(more: float) -> int:
    """Round to two digits, upwards."""
    step = 10 ** max(math.floor(math.log10(more)) - 1, 0)
    return int(math.ceil(more / step) * step)


def changes(data: xr.Dataset) -> dict[str, list[str]]:
    """Return the names of items that the new system got right and the old didn't, the other way, and what is flaky.

    Of several runs right is what is right in more than half of them; flaky is what is right in some, wrong in others.
    """
    if "share" not in data:
        return {}
    share, names = data["share"].values, np.array(data["share"][ITEM].values.astype(str))
    right = share > 0.5
    found: dict[str, Any] = {}
    if data.sizes[SYSTEM] > 1:
        found |= {"broken": names[~right[0] & right[1]], "mended": names[right[0] & ~right[1]]}
    found["flaky"] = names[((share > 0) & (share < 1)).any(0)]
    return {name: values.tolist() for name, values in found.items()}
