"""What a gate asks of areas: scores of both systems for the same items, by one posterior of both curves."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.comparison.rules import Rule
from bayescm.curves.area_samples import check_items
from bayescm.curves.roc_area import areas_of, given_part
from bayescm.data.logged import TASK
from bayescm.data.schema import ACTUAL, LABEL, METRIC, SYSTEM, UNIT
from bayescm.data.shapes import frame_of
from bayescm.data.sides import scores_beside
from bayescm.data.tabular import read_table

Array = NDArray[np.float64]
AREAS: Mapping[str, tuple[float, float] | None] = {"auc": None, "average_precision": (0.0, 1.0), "aucpr": (0.0, 1.0)}
"""Areas, and over which recalls; None of that under the ROC curve."""
_FLOOR = re.compile(r"(\w+)\s*>=?\s*(0?\.\d+|[01])")


def are_asked(*rules: Rule) -> bool:
    """Say whether rules are about areas; refuse those that are about other metrics, too."""
    floors = [re.split(r"[\s<>]", floor.strip())[0] for rule in rules for floor in rule.floors]
    names = [*(name for rule in rules for name in rule.metrics), *floors]
    areas = [name for name in names if name in AREAS]
    if areas and len(areas) < len(names):
        other = next(name for name in names if name not in AREAS)
        raise ValueError(f"`metrics`: {areas[0]} is of scores and {other} of answers; gate them one after the other.")
    return bool(areas)


def sides(given: Mapping[str, Any], columns: Mapping[str, Any], options: Mapping[str, Any]) -> xr.Dataset:
    """Return the scores of both systems for the same items, of tables with a row per item of each."""
    if odd := [name for name in options if name not in ("unit", "pos_label")]:
        raise ValueError(f"`{odd[0]}` doesn't apply to scores; leave it out.")
    if not isinstance(options.get("unit", ""), str):
        raise ValueError("`unit` must be one column where areas are gated; of readers and cases see bayescm.readers.")
    frames = {name: frame_of(one) if isinstance(one, Mapping) else one for name, one in given.items()}
    return scores_beside({name: read_table(one, dict(columns)) for name, one in frames.items()}, **options)


def differences(
    data: xr.Dataset, systems: Sequence[Any], task: str, rule: Rule, each: float, sure: float, n: int, seed: int
) -> list[dict[str, Any]]:
    """Compare the two systems in every area, as differences of the draws of both curves at once."""
    rows = []
    for metric in rule.metrics:
        point, drawn = _drawn(data.sel({SYSTEM: list(systems)}), metric, task, n, seed)
        gap = drawn[0] - drawn[1]
        lower, upper = np.quantile(gap, [(1.0 - each) / 2.0, (1.0 + each) / 2.0])
        least = -(rule.margin or 0.0)
        chance = float(((gap > least) + 0.5 * (gap == least)).mean())
        one = _row(data, task, metric, gap)
        rows.append(one | {
            "rule": f"{metric} > old{f' - {rule.margin:g}' if rule.margin else ''}", "new": point[0], "old": point[1],
            "point": point[0] - point[1], "interval": [lower, upper], "probability": chance,
            **rule.verdict(lower, upper, chance, (each, sure), (one["mean"], one["sd"], one["n_items"])),
            "margin": math.nan if rule.margin is None else rule.margin,
        })  # fmt: skip
    return rows


def floor(data: xr.Dataset, system: Any, task: str, claim: str, ci_prob: float, n: int, seed: int) -> dict[str, Any]:
    """Ask the new system for a floor of an area."""
    if not (match := _FLOOR.fullmatch(claim.strip())):
        raise ValueError(f"`require` of an area is written like 'auc >= .8'; got {claim!r}.")
    metric, least = match[1], float(match[2])
    point, drawn = _drawn(data.sel({SYSTEM: [system]}), metric, task, n, seed)
    chance = float((drawn[0] >= least).mean())
    tails = [(1.0 - ci_prob) / 2.0, (1.0 + ci_prob) / 2.0]
    one = _row(data, task, metric, drawn[0])
    return one | {
        "rule": claim, "new": point[0], "old": math.nan, "point": point[0], "interval": np.quantile(drawn[0], tails),
        "probability": chance, "margin": 0.0,
        **Rule.kept(chance, ci_prob, (one["mean"] - least, one["sd"], one["n_items"])),
    }  # fmt: skip


def _row(data: xr.Dataset, task: str, metric: str, drawn: Array) -> dict[str, Any]:
    """Return what every check says."""
    return {TASK: task, METRIC: metric, "mean": float(drawn.mean()), "sd": float(drawn.std()),
            "n_items": data.sizes["item"], "method": "draws"}  # fmt: skip


def _drawn(data: xr.Dataset, metric: str, task: str, n: int, seed: int) -> tuple[Array, Array]:
    """Return the areas (systems,) of the items, and joint draws (systems, 4 n) of them."""
    score = {str(name): one for name, one in zip(data[SYSTEM].values, data["score"].values, strict=True)}
    labels = data[LABEL].values.tolist()
    unit = data[str(data.attrs[UNIT])].values if UNIT in data.attrs else None
    try:
        items = check_items(data[ACTUAL].values, score, labels, labels[1], unit=unit)
    except ValueError as error:
        raise ValueError(f"{'' if task == 'all' else f'{task}: '}{error}") from None
    areas = areas_of(items, 0.95, 4 * n, seed, given_part(recall_range=AREAS[metric]))
    return areas.point[:, 0], np.stack([areas.drawn(i, 0) for i in range(len(score))])
