"""Systems and their ranks: what compare_systems and leaderboard return."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bayescm.data.schema import METRIC, SYSTEM
from bayescm.data.units import plural
from bayescm.results.names import is_share, known, of_attrs, of_metric, words
from bayescm.results.writing import bounds, each, listed, percent, probability, with_interval

_NAMED = 3  # comparisons that a sentence names
_MOST_DIGITS = 6  # that keep an end beside 0 from reading 0


def verdict_on(first: str, second: str, verdict: str) -> str:
    """Say a verdict in words."""
    told = {"undecided": "no verdict on {0} and {1}", "equivalent": "{0} and {1} are equivalent"}
    return told.get(verdict, "{0} is {2} than {1}").format(first, second, verdict)


def of_differences(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return a record per comparison and metric."""
    records = []
    for names, cell in each(data.drop_vars("requirement", errors="ignore"), "point"):
        names = {"comparison": str(cell["comparison"].item())} | of_metric(cell) | names
        numbers = {name: float(cell[name]) for name in ("point", "mean", "sd")}
        sides = {str(side): float(cell["probability"].sel(side=side)) for side in cell["side"].values}
        more = {name: float(cell[name]) for name in ("probability_better", "ratio")}
        said: dict[str, Any] = {
            name: str(cell[name].item()) for name in ("verdict", "reason", "method") if name in cell
        }
        if "discordant" in cell:
            said |= {f"only_{side}": int(cell["discordant"].sel(only=side)) for side in cell["only"].values}
        records.append({
            **names, **numbers, **bounds(cell["interval"]), **sides, **more,
            **bounds(cell["ratio_interval"], "ratio_"), **said, "mcse": float(cell["mcse_probability"].max()),
        })  # fmt: skip
    return records


def answer(data: xr.Dataset) -> str:
    """Say which system is better, by how much, and what decides; of several comparisons which are decided."""
    first = data.isel({METRIC: 0}) if METRIC in data.dims else data
    cells = [cell for _, cell in each(first.drop_vars("requirement", errors="ignore"), "point")]
    if len(cells) == 1:
        return _of_two(cells[0], data.attrs)
    told = [_better(cell) for cell in cells if str(cell["verdict"].item()) != "undecided"]
    sure, rope = percent(float(data.attrs["ci_prob"])), _rope(cells[0], data.attrs)
    beyond = f" beyond a rope of {rope}" if rope else ""
    text = f"In {words(first)} {len(told) or 'none'} of {len(cells)} comparisons " + ("is" if len(told) < 2 else "are")
    return f"{text} decided{beyond}, all at once at {sure}" + (f": {listed(told, _NAMED)}." if told else ".")


def _of_two(cell: xr.Dataset, attrs: Mapping[Any, Any]) -> str:
    """Say what a comparison of two systems found in one metric."""
    metric, names, verdict = known(str(cell[METRIC].item())), _names(cell), str(cell["verdict"].item())
    loss = metric is not None and metric.loss
    mean, point = float(cell["mean"]), float(cell["point"])
    chances = {str(side): float(cell["probability"].sel(side=side)) for side in cell["side"].values}
    centre, likelier = mean if np.isfinite(mean) else point, chances["better"] >= chances["worse"]
    ahead = verdict == "better" or (verdict != "worse" and (-centre if loss else centre) >= 0.0)
    sign = -1.0 if loss == ahead else 1.0
    gain = sign * centre + 0.0  # no -0
    lower, upper = sorted(sign * cell["interval"].values)
    scale, digits = (100.0, 1) if is_share(metric) else (1.0, 3)
    while digits < _MOST_DIGITS and any(end != 0.0 == round(scale * end, digits) for end in (lower, upper)):
        digits += 1
    by = f"{scale * gain:.{digits}f}{' points' * (scale == 100.0)}{' on average' * (ahead != likelier)}"
    by += f" ({percent(float(attrs['ci_prob']))}: {scale * lower:.{digits}f} to {scale * upper:.{digits}f})"
    winner, loser = names if ahead else names[::-1]
    side, rope = "better" if ahead else "worse", _rope(cell, attrs)
    beyond = f" by more than {rope}" if rope else ""
    if verdict == "equivalent":
        text = f"{verdict_on(*names, verdict)} in {words(cell)}, within {rope or 0}: {winner} is ahead by {by}; "
        text += probability(chances[verdict], "P(equivalent)")
    elif verdict == "undecided":
        text = f"No verdict on {names[0]} and {names[1]} in {words(cell)}: {winner} is ahead by {by}; "
        text += probability(chances[side], f"P({winner} better{beyond})")
    else:
        text = f"{winner} is better than {loser} in {words(cell)} by {by}; "
        text += probability(chances[side], f"P(better{beyond})")
    return f"{text}{_because(cell, verdict)}{_at_once(attrs)}."


def _rope(cell: xr.Dataset, attrs: Mapping[Any, Any]) -> str:
    """Return the rope in the unit of the metric; nothing where there is none."""
    rope = float(attrs["rope"])
    if rope and is_share(known(str(cell[METRIC].item()))):
        return f"{100.0 * rope:g} point{'s' * (100.0 * rope != 1.0)}"
    return f"{rope:g}" if rope else ""


def _at_once(attrs: Mapping[Any, Any]) -> str:
    """Say of how many comparisons this is one, whose intervals hold together."""
    number = int(attrs["comparisons"])
    return f"; one of {number} comparisons that hold all at once at {percent(float(attrs['ci_prob']))}" * (number > 1)


def _because(cell: xr.Dataset, verdict: str) -> str:
    """Say on how many items a verdict rests, where that is known."""
    if "reason" not in cell:
        return ""
    reason = str(cell["reason"].item())
    decides = {"undecided": " don't decide it", "equivalent": ""}.get(verdict, " decide it")
    return f"; {reason}{decides if 'against' in reason else ''}"


def _better(cell: xr.Dataset) -> str:
    """Name the better of two systems first."""
    names, verdict = _names(cell), str(cell["verdict"].item())
    return verdict_on(*names[::-1], "better") if verdict == "worse" else verdict_on(*names, verdict)


def _names(cell: xr.Dataset) -> tuple[str, str]:
    return str(cell["first"].item()), str(cell["second"].item())


def of_board(data: xr.Dataset) -> list[dict[str, Any]]:
    """Return a record per system, the best first."""
    records = []
    for i in np.argsort(data["expected_rank"].values, kind="stable"):
        one = data.isel({SYSTEM: i})
        name = one[SYSTEM].item()
        tops = {f"top_{k}": float(one["top_probability"].sel(top=k)) for k in one["top"].values}
        more = {key: float(one[key]) for key in ("expected_prize", "win_rate") if key in one}
        more |= bounds(one["win_rate_interval"], "win_rate_") if "win_rate" in one else {}
        records.append({
            SYSTEM: str(name), "point": float(one["point"]), "mean": float(one["mean"]), **bounds(one["interval"]),
            "best": float(one["probability_best"]), **tops, "expected_rank": float(one["expected_rank"]),
            **bounds(one["rank_interval"], "rank_"),
            **bounds(one["simultaneous_rank_interval"], "simultaneous_rank_"), "best_set": bool(one["best_set"]),
            "tie_group": int(one["tie_group"]), **more,
            "rank_probability": one["rank_probability"].values.tolist(),
        })  # fmt: skip
    return records


def leader(data: xr.Dataset) -> str:
    """Say who leads, and how many can't be told apart from it."""
    attrs = data.attrs
    if data.sizes[SYSTEM] != data.sizes["rank"]:
        raise ValueError(f"`data` must have all {data.sizes['rank']} systems of the leaderboard; select after asking.")
    first = data.isel({SYSTEM: int(data["expected_rank"].argmin(SYSTEM))})
    name, sure = first[SYSTEM].item(), percent(float(attrs["ci_prob"]))
    tied = int((data["tie_group"] == first["tie_group"]).sum()) - 1
    others = f"{tied} other{'s' * (tied > 1)} can't be told apart from it at {sure}"
    value = with_interval(float(first["mean"]), first["interval"].values, attrs["ci_prob"])
    if data.sizes[SYSTEM] == 1:
        return f"{name} is the only system, with {value} in {of_attrs(attrs)}."
    text = f"{name} leads {data.sizes[SYSTEM]} systems in {of_attrs(attrs)} with {value}, "
    text += f"but {others}" if tied else f"and is told apart from all others, each by itself, at {sure}"
    best = probability(float(first["probability_best"]), "P(best)")
    if "win_rate" in first:
        wins = with_interval(float(first["win_rate"]), first["win_rate_interval"].values)
        best += f"; win rate over {plural(str(attrs['unit']))} {wins}"
    return f"{text}; {best}{_by_scatter(attrs)}."


def _by_scatter(attrs: Mapping[Any, Any]) -> str:
    """Say between which P(best) is, given how the systems scatter, where they hardly tell that."""
    if "probability_best_range" not in attrs:
        return ""
    low, high = json.loads(str(attrs["probability_best_range"]))
    return f", from {probability(low)} to {probability(high)} by how systems scatter, which these hardly tell"
