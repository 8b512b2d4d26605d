"""Areas under a part of a curve, or all of it: ROC curves over rates of either class, precision over recalls.

And a rate of one class where that of the other is given, an ROC curve's height: a part that is a point.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.curves.area_intervals import Areas
from bayescm.curves.recalls import davis_goadrich
from bayescm.data.random import Stream, matrix_rng

Array = NDArray[np.float64]

_ROUNDING = 1e-12  # of rates
_DRAWS = 100  # resamples that share a stream of random numbers


@dataclass(frozen=True)
class PartialAreas(Areas):
    """Areas of every system under a part of its curve."""

    ends: tuple[float, float] = (0.0, 1.0)
    axis: str = "fpr_range"
    """What the ends are of: "fpr_range" or "tpr_range" of an ROC area, "recall_range" of an average precision; of a
    rate "at_specificity" or "at_sensitivity"."""

    @property
    def most(self) -> float:
        """Return the largest value: of an ROC area the length of the range, of a rate or a mean precision 1."""
        return self.ends[1] - self.ends[0] if self.of_range else 1.0

    @property
    def of_range(self) -> bool:
        """Return whether it is an ROC area."""
        return self.axis in ("fpr_range", "tpr_range")

    @property
    def at_point(self) -> bool:
        """Return whether it is a rate."""
        return self.axis.startswith("at_")

    @property
    def turned(self) -> bool:
        """Return whether rates of cases are given: then the curve of controls, found from below, has the area."""
        return self.axis in ("tpr_range", "at_sensitivity")

    @cached_property
    def point(self) -> Array:
        """Return the areas (systems, names) of the items themselves."""
        return np.array([self._of(one.cases[None], one.controls[None])[0] for one in self.items.rankings])

    @cached_property
    def placements(self) -> tuple[Array, Array]:
        """Return what each case and each control adds to an ROC area (systems, n) and (systems, m), but for a constant.

        A case adds the part of the range at which the curve has passed it, and a control in the range by how much the
        cases before it fall short of those at the end of the range. Over true positive rates they change places.
        """
        cases, controls = np.empty(self.items.case_step.shape), np.empty(self.items.control_step.shape)
        for s, one in enumerate(self.items.rankings):
            (t,), (f,), (low, high) = self._turn(_rates(one.cases[None]), _rates(one.controls[None]))
            passed = [_under(f, np.stack([np.zeros(len(f) - 1), np.ones(len(f) - 1)]), end) for end in (low, high)]
            of_found = (high - f[1:]).clip(0.0) - (low - f[1:]).clip(0.0) + passed[1] - passed[0]
            of_others = _short(t, f, high) - _short(t, f, low)
            if self.turned:
                of_found, of_others = of_others[::-1], of_found[::-1]
            cases[s], controls[s] = of_found[self.items.case_step[s]], of_others[self.items.control_step[s]]
        return cases, controls

    @cached_property
    def resampled(self) -> Array:
        """Return the areas (draws, systems, names) of stratified resamples, the same items for every system."""
        found = np.empty((self.draws, len(self.items.rankings), len(self.names)))
        for start in range(0, self.draws, _DRAWS):
            rng = matrix_rng(self.seed, start // _DRAWS, Stream.PARTIAL_BOOTSTRAP)
            size = min(_DRAWS, self.draws - start)
            picks = [rng.integers(n, size=(size, n)) for n in (self.items.cases, self.items.controls)]
            for s, one in enumerate(self.items.rankings):
                steps = (self.items.case_step[s], self.items.control_step[s])
                counts = [_counts(step[pick], len(one.score)) for step, pick in zip(steps, picks, strict=True)]
                found[start : start + size, s] = self._of(*counts)
        return found

    def _read(self, name: str) -> tuple[str, dict[str, Any]]:
        if self.at_point:
            return f"{'specificity' if self.turned else 'sensitivity'}_{self.axis}", {self.axis: self.ends[0]}
        if name == "auc":
            return f"partial_auc_{self.axis[:3]}", {self.axis: self.ends}
        return super()._read(name) if self.ends == (0.0, 1.0) else ("partial_pr_area", {"recall_range": self.ends})

    def _of(self, cases: NDArray[np.int64], controls: NDArray[np.int64]) -> Array:
        """Return the areas (D, names) of samples (D, K)."""
        t, f = _rates(cases), _rates(controls)
        return np.stack([self._area(name, t, f) for name in self.names], axis=1)

    def _turn(self, t: Array, f: Array) -> tuple[Array, Array, tuple[float, float]]:
        """Return the rates (D, K + 1) of those who are found and of the others, and the range of the latter."""
        low, high = self.ends
        return ((1.0 - f)[:, ::-1], (1.0 - t)[:, ::-1], (1.0 - high, 1.0 - low)) if self.turned else (t, f, self.ends)

    def _area(self, name: str, t: Array, f: Array) -> Array:
        if self.at_point:
            t, f, _ = self._turn(t, f)
            return height(t, f, 1.0 - self.ends[0])
        if name == "auc":
            return roc_area(*self._turn(t, f))
        if name == "davis_goadrich":
            return davis_goadrich(t, f, self.items.odds, self.ends)
        return average_precision(t, f, self.items.odds, self.ends)


def roc_area(t: Array, f: Array, ends: tuple[float, float]) -> Array:
    """Return the areas (D,) below ROC curves (D, K + 1) between two false positive rates, ties by straight lines."""
    inside = np.clip(f, *ends)
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = np.where(np.diff(f) > 0, np.diff(t) / np.diff(f), 0.0)
    left, right = (t[:, :-1] + slope * (edge - f[:, :-1]) for edge in (inside[:, :-1], inside[:, 1:]))
    return np.asarray((np.diff(inside) * (left + right) / 2.0).sum(1))


def height(t: Array, f: Array, at: float) -> Array:
    """Return the heights (D,) of ROC curves (D, K + 1) at a false positive rate: the largest; ties are lines."""
    before = ((f <= at + _ROUNDING).sum(1) - 1)[:, None]
    after = np.minimum(before + 1, f.shape[1] - 1)
    (t0, t1), (f0, f1) = ([np.take_along_axis(one, i, 1)[:, 0] for i in (before, after)] for one in (t, f))
    with np.errstate(invalid="ignore"):
        share = np.where(f1 > f0, np.clip((at - f0) / (f1 - f0), 0.0, 1.0), 0.0)
    return np.asarray(t0 + share * (t1 - t0))


def mcclish(part: Any, ends: Any, axis: str) -> Any:
    """Return partial ROC areas over "fpr" or "tpr", or bounds of them, so that chance has 1/2 and perfection 1."""
    low, high = ends
    length, middle = high - low, (low + high) / 2
    least = length * (middle if axis == "fpr" else 1 - middle)
    return (1 + (part - least) / (length - least)) / 2


def with_corrected(found: xr.Dataset, areas: Any, *, difference: bool = False) -> xr.Dataset:
    """Add the areas over a part of ROC curves, or their difference, as McClish corrects them."""
    if not (isinstance(areas, PartialAreas) and areas.of_range):
        return found
    less = mcclish(0.0, areas.ends, areas.axis[:3]) if difference else 0.0
    made = {
        name: (mcclish(found[of], areas.ends, areas.axis[:3]) - less).assign_attrs(
            long_name=f"{found[of].attrs['long_name']}, as McClish corrects it", units="1"
        )
        for name, of in (("corrected", "point"), ("corrected_interval", "interval"))
    }
    return found.assign(made)


def average_precision(t: Array, f: Array, odds: float, ends: tuple[float, float]) -> Array:
    """Return the mean precision (D,) over recalls, of rates (D, K + 1): each case's at its score and above."""
    with np.errstate(invalid="ignore"):
        precision = np.where(t > 0, t / (t + odds * f), 0.0)[:, 1:]
    steps = np.diff(np.clip(t, *ends))
    return np.asarray((steps * precision).sum(1) / (ends[1] - ends[0]))


def _rates(counts: NDArray[Any]) -> Array:
    """Return the shares (D, K + 1) of a class at and above each score, 0 first."""
    total = np.cumsum(counts, axis=1)
    return np.concatenate([np.zeros((len(counts), 1)), total / total[:, -1:]], axis=1)


def _counts(steps: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Return how often each of k steps occurs in each row."""
    rows = np.arange(len(steps))[:, None] * k
    return np.bincount((rows + steps).ravel(), minlength=len(steps) * k).reshape(len(steps), k)


def _under(f: Array, height: Array, end: float) -> Array:
    """Return the areas (K,) below the lines of each step, up to the rate `end`."""
    stop = np.clip(end, f[:-1], f[1:]) - f[:-1]
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = np.where(np.diff(f) > 0, (height[1] - height[0]) / np.diff(f), 0.0)
    return np.asarray(stop * (height[0] + slope * stop / 2.0))


def _short(t: Array, f: Array, end: float) -> Array:
    """Return the mean of the curve below its value at `end` (K,), over each step and where it lies before the end."""
    top = np.interp(end, f, t) if end < 1.0 else 1.0
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(np.diff(f) > 0, _under(f, np.stack([t[:-1] - top, t[1:] - top]), end) / np.diff(f), 0.0)
