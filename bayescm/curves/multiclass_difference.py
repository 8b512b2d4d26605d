"""The difference of areas of more than two classes, of two systems on the same items or on two samples."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayescm.curves.area_intervals import NOISE, Found, nothing, of_draws, of_resamples, of_same, of_variance
from bayescm.curves.area_report import ALIKE, check_samples, of_second, of_two, reasons, same_classes
from bayescm.curves.multiclass import DRAWN, ESTIMATORS, Several, check_several
from bayescm.data import validate
from bayescm.inference.proportions import normal_quantile

Array = NDArray[np.float64]


def of_several(
    y_true: Any, y_score: Mapping[str, Any], items: tuple[Any, ...], options: tuple[Any, ...], attrs: dict[str, Any]
) -> xr.Dataset:
    """Return the Dataset over estimator; items are labels, class and direction, options those of auc_difference()."""
    method, design = attrs["method"], attrs["design"]
    ci_prob, samples, random_seed, *ranges = options
    if any(one is not None for one in ranges):
        raise ValueError("`fpr_range` and `recall_range` are for two classes; leave them out.")
    ci_prob, samples = validate.number("ci_prob", ci_prob, 0, 1), validate.draws(samples)
    seed = validate.seed(random_seed)
    paired = design == "paired"
    if paired:
        both = check_several(y_true, dict(y_score), *items)
        sides = ((both, 0), (both, 1))
    else:
        check_samples(y_true, y_score)
        one, other = (check_several(y_true[name], score, *items) for name, score in y_score.items())
        same_classes(one.labels, other.labels)
        sides = ((one, 0), (other, 0))
    (first, of_first), (second, of_other) = (several.shares(system) for several, system in sides)
    areas = np.stack([first, second])
    shares = [a - b for a, b in zip(of_first, of_other, strict=True)] if paired else [*of_first, *of_other]
    alike = paired and np.array_equal(both.steps(0), both.steps(1))
    if alike:
        answers = [of_same(method)] * len(ESTIMATORS)
    else:
        drawn = _drawn(sides, method, samples, seed) if method in DRAWN else None
        answers = [_answer(method, a - b, [one[i] for one in shares], None if drawn is None else drawn[:, i], ci_prob)
                   for i, (a, b) in enumerate(areas.T)]  # fmt: skip
    said = {f"{method}: {found.reason}": None for found, _ in answers if found.reason}
    same = alike and np.array_equal(both.scores[0], both.scores[1])
    more: dict[str, Any] = reasons(said)
    if alike and not same:
        validate.warn(ALIKE)
        more = {"note": ALIKE}
    sizes = [int(several.sizes.sum()) for several, _ in sides]
    attrs = {
        **attrs, "ci_prob": ci_prob, "classes": len(sides[0][0].labels), "items": sizes[0] if paired else sizes, **more,
        **({"samples": samples, "random_seed": seed} if method in DRAWN else {}),
    }  # fmt: skip
    return of_two(list(map(str, y_score)), areas, answers, attrs, ESTIMATORS)


def _answer(
    method: str, difference: float, shares: list[Array], drawn: Array | None, ci_prob: float
) -> tuple[Found, float]:
    """Return the interval and the p-value of one difference, or the probability that it is positive."""
    tails = np.array([1.0 - ci_prob, 1.0 + ci_prob]) / 2.0
    if method == "bayesian" and drawn is not None:
        return of_draws(drawn[0], drawn[1], tails)
    if min(len(one) for one in shares) < 2:
        return nothing("one item of a class alone doesn't show how scores vary"), np.nan
    if drawn is not None:
        return of_resamples(drawn[0] - drawn[1], tails, difference)
    variance = float(sum(one.var(ddof=1) / len(one) for one in shares))
    return of_variance(variance if variance > NOISE**2 else 0.0, normal_quantile(ci_prob), difference)


def _drawn(sides: Sequence[tuple[Several, int]], method: str, samples: int, seed: int) -> Array:
    """Return the areas (2, estimators, draws) of weighted items."""
    (one, first), (other, second) = sides
    drawn = one.drawn(method, samples, seed)
    further = drawn if one is other else other.drawn(method, samples, of_second(seed))
    return np.stack([drawn[first], further[second]])
