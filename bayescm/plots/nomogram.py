"""Fagan's nomogram: from the probability before a test, past the likelihood ratio, to the one after it."""

from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy.special import logit

from bayescm.data.schema import METRIC
from bayescm.plots.frames import Axes, new_axes
from bayescm.plots.layers import Array
from bayescm.plots.style import fade, on_paper, palette, tone
from bayescm.results.writing import percent, with_interval

_PER_TEN = (1, 2, 5)
_BELOW_HALF = [10.0**-n * k for k in _PER_TEN for n in (1, 2, 3, 4)] + [0.3, 0.4]  # round ones first
_PROBABILITIES = np.array([0.5, *(value for p in _BELOW_HALF for value in (p, 1 - p) if p < 0.5)])
_RATIOS = np.array([10.0**n * k for k in _PER_TEN for n in range(-4, 5)])
_REACH = 7.0  # log-odds at least at both ends: a probability of 0.001
_MOST = 9.3  # at most: one of 0.0001
_APART = 1 / 42  # of the height: numbers that are closer are left out
_BEYOND = 50.0  # where a probability of 0 or 1 is drawn: far outside
_METRICS = ("precision", "negative_predictive_value")


class _Result(NamedTuple):
    """What one result of the test does to the probability."""

    name: str
    median: float
    lower: float
    upper: float


def draw_nomogram(data: xr.Dataset, ax: Axes | None) -> Axes:
    """Draw the two results of a test at one known prevalence."""
    before, results = _read(data)
    found = np.abs(logit([before, *(value for one in results for value in one[1:])]))
    reach = float(np.clip(found[np.isfinite(found)].max() + 0.3, _REACH, _MOST))
    ax = new_axes(ax, (5.6, 6.0))
    start = float(np.clip(-logit(before), -_BEYOND, _BEYOND))
    for one, color in zip(results, palette(), strict=False):
        middle, low, high = (float(np.clip(logit(value), -_BEYOND, _BEYOND)) for value in one[1:])
        ax.fill([0, 2, 2], [start, low, high], color=color, alpha=fade(0.25), linewidth=0)
        ax.plot([0, 2], [start, middle], color=color, label=_said(one))
        ax.plot([2, 2], [low, high], color=color, linewidth=5, solid_capstyle="butt", alpha=0.7)
    chances = [f"{100 * value:.6g}%" for value in _PROBABILITIES]
    _scale(ax, 0, -logit(_PROBABILITIES), chances, reach, "right")
    _scale(ax, 1, np.log(_RATIOS) / 2, [f"{value:g}" for value in _RATIOS], reach, "right")
    _scale(ax, 2, logit(_PROBABILITIES), chances, reach, "left")
    ax.set_xlim(-0.5, 2.5)
    ax.set_ylim(-reach, reach)
    ax.set_xticks([0, 1, 2], ["before the test", "likelihood ratio", "after the test"])
    ax.tick_params(axis="x", length=0)
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    title = f"probability of a positive: median with {percent(float(data.attrs['ci_prob']))} interval"
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, fontsize="small", title=title)
    return ax


def _read(data: xr.Dataset) -> tuple[float, list[_Result]]:
    """Return the prevalence and what both results say there."""
    kinds = np.ravel(data["prevalence_distribution"].values).tolist()
    if kinds != ["known"]:
        raise ValueError(
            f"`data` must have one known prevalence for a nomogram; got {len(kinds)} ({', '.join(kinds[:3])}). Select "
            "one: `data.isel(prevalence=[0])`."
        )
    names = data[METRIC].values.tolist()
    missing = [name for name in _METRICS if name not in names]
    if missing:
        raise ValueError(
            f"`data` has no {missing[0]}, which a nomogram shows; ask bayescm.planning.at_prevalences for both."
        )
    batch = [str(dim) for dim in data["median"].dims if dim not in (METRIC, "prevalence")]
    if batch:
        raise ValueError(f"`data` must be of one matrix for a nomogram; it has the dim {batch[0]!r}. Select first.")
    one = data.squeeze("prevalence") if "prevalence" in data["median"].dims else data
    found = []
    for name, called in zip(_METRICS, ("positive result", "negative result"), strict=True):
        part = one.sel({METRIC: name})
        values = [float(part["median"]), *part["interval"].values.tolist()]
        found.append(_Result(called, *(values if name == "precision" else [1 - values[i] for i in (0, 2, 1)])))
    return float(one["prevalence"]), found


def _said(one: _Result) -> str:
    """Say the probability after a result."""
    return f"{one.name}: {with_interval(one.median, (one.lower, one.upper))}"


def _scale(ax: Axes, x: float, places: Array, names: list[str], reach: float, side: str) -> None:
    """Draw one of the three scales with its numbers on a side: the first ones, and others that find room."""
    ax.plot([x, x], [-reach, reach], color=tone(0.7), linewidth=1)
    sign, taken = -1 if side == "right" else 1, np.array([])
    for place, name in zip(places, names, strict=True):
        if abs(place) <= reach and (np.abs(taken - place) > 2 * reach * _APART).all():
            taken = np.append(taken, place)
            ax.plot([x, x + sign * 0.04], [place, place], color=tone(0.7), linewidth=0.8)
            ax.text(x + sign * 0.07, place, name, ha=side, va="center", fontsize="small", bbox=on_paper(0.6, 0.5))
