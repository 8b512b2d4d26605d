"""From areas and intervals to a labelled Dataset; shared checks of arguments."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayescm.curves.area_intervals import Evidence, Found, bayesian, nothing, smoothed
from bayescm.data import validate
from bayescm.data.assumptions import EACH_CLASS, OWN_ITEMS, SAME_ITEMS, assumed
from bayescm.data.random import Stream, matrix_rng
from bayescm.data.schema import CI_BOUND, SYSTEM, UNIT, attributes, batch_names, interval_coordinate

METHOD, ESTIMATOR = "ci_method", "estimator"  # not "method": .sel(method=) means something else to xarray
Method = Callable[[Any, int, int], Found]

OF_DELONG = ("delong", "logit_delong")
_CREDIBLE = {"bayesian", "smoothed"}
_DRAWN = _CREDIBLE | {"bootstrap", "bca", "cross_validation"}

NO_ESTIMATE = "the estimate doesn't exist: it needs finite scores that vary in both classes"

BY_DESIGN = {"paired": SAME_ITEMS, "independent": OWN_ITEMS}
"""What is assumed of items."""
ALIKE = (
    "Both systems rank all items alike, so these items show no difference. That is certain only if the scores of one "
    "are a rising function of the other's."
)
ADVICE = "Take method='bayesian', which has an answer for few items and for perfect separation"
_OF_TWO = {
    "point": "First area minus second",
    "auc": "Area of the items themselves",
    "se": "Standard error of the difference",
    "interval": "Interval of the difference",
    "clipped": "Bound was beyond the range and was moved to its end",
    "p_value": "Two-sided p-value of no difference",
    "probability_better": "Probability that the first area is the larger",
}

LONG_NAMES = {
    "point": "Area of the items themselves",
    "se": "Standard error",
    "interval": "Interval of the area",
    "median": "Posterior median of the area",
    "clipped": "Bound was beyond the range and was moved to its end",
}


def chosen(name: str, value: str | Sequence[str], allowed: Collection[str]) -> tuple[str, ...]:
    """Return one word, or several different ones, of those allowed."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return (validate.choice(name, value, allowed),)
    if not value:
        raise ValueError(f"`{name}` is empty; give at least one of {', '.join(repr(word) for word in allowed)}.")
    words = tuple(validate.choice(name, word, allowed) for word in value)
    validate.unique(name, words)
    return words


def check_units(items: Any, methods: Collection[str]) -> None:
    """Refuse methods that take items for independent where these come in units."""
    if UNIT not in items.about:
        return
    known = ["bayesian"] if items.crossed else ["bayesian", *OF_DELONG]
    if others := sorted({*methods} - {*known}):
        served = ", ".join(map(repr, known))
        raise ValueError(f"`method`={others[0]!r} takes items for independent, and these come in units: {served}.")


def intervals(areas: Evidence[Any], methods: Mapping[str, Method]) -> list[tuple[tuple[int, int, int], Found]]:
    """Return every interval by its position: system, area, method."""
    found = []
    for place in np.ndindex(*areas.point.shape, len(methods)):
        system, name, number = place
        method = list(methods.values())[number]
        if np.isnan(areas.point[system, name]) and method not in (bayesian, smoothed):
            answer = nothing(NO_ESTIMATE)
        else:
            answer = method(areas, system, name)
        found.append((place, answer))
    return found


def of_draws(areas: Evidence[Any], methods: Collection[str]) -> dict[str, int]:
    """Return the attrs of methods that draw."""
    return {"draws": areas.draws, "random_seed": areas.seed} if _DRAWN & {*methods} else {}


def kind(methods: Collection[str]) -> str:
    """Return what the bounds of methods are: a credible interval has equal tails."""
    credible = _CREDIBLE & {*methods}
    if not credible:
        return "confidence"
    return "eti" if len(credible) == len(methods) else f"confidence, of {' and '.join(sorted(credible))} eti"


def dataset(
    areas: Evidence[Any],
    methods: Mapping[str, Method],
    drop: Sequence[str],
    attrs: Mapping[str, object],
) -> xr.Dataset:
    """Return the Dataset over system, estimator and method, without the dims that were given as one word.

    Parameters
    ----------
    areas : Evidence
    methods : mapping of str to callable
    drop : sequence of str
        Dims of one entry to leave out.
    attrs : mapping of str to object
        That say how the result was made.

    Returns
    -------
    xarray.Dataset
    """
    items = areas.items
    check_units(items, methods)
    batch_names("y_score", [items.dim, METHOD, ESTIMATOR])
    systems = [0] if items.systems is None else items.systems
    coords = {items.dim: systems, ESTIMATOR: list(areas.names), METHOD: list(methods)}
    table = np.full((*(len(values) for values in coords.values()), 4), np.nan)
    said: dict[str, None] = {}
    for place, answer in intervals(areas, methods):
        table[place] = *answer[:3], answer.median
        if answer.reason:
            said[_sentence(coords, drop, place, answer.reason)] = None
    about = {
        "assumptions": assumed(attrs.get("prevalence"), items=EACH_CLASS),
        **items.about,
        **of_draws(areas, methods),
        **_reason(said, areas),
        "ci_prob": areas.ci_prob,
    }
    dims, bounds = tuple(coords), table[..., 1:3]
    made = xr.Dataset(
        {
            "point": (dims[:2], areas.point),
            "se": (dims, table[..., 0]),
            "interval": ((*dims, CI_BOUND), np.clip(bounds, 0.0, areas.most)),
            "clipped": ((*dims, CI_BOUND), (bounds < 0.0) | (bounds > areas.most)),
        },
        coords={**coords, CI_BOUND: interval_coordinate(areas.ci_prob, kind(methods))},
        attrs=attributes(**attrs, **about),
    )
    if _CREDIBLE & {*methods}:
        made["median"] = dims, table[..., 3]
    for name in made.data_vars:
        made[name].attrs = {"long_name": LONG_NAMES[str(name)], "units": "1"}
    gone = [*drop, *([items.dim] if items.systems is None else [])]
    return made.isel(dict.fromkeys(gone, 0), drop=True)


def _sentence(coords: Mapping[str, Any], drop: Sequence[str], place: tuple[int, ...], reason: str) -> str:
    """Return what has no interval, and why."""
    names = [
        str(values[i])
        for (dim, values), i in zip(coords.items(), place, strict=True)
        if dim == METHOD or (dim not in drop and len(values) > 1)
    ]
    return f"{', '.join(names)}: {reason}"


def _reason(said: Mapping[str, None], areas: Evidence[Any]) -> dict[str, str]:
    """Warn of what has no interval, or no point in it, and return it as attrs."""
    if not said:
        missing = [name for name, values in zip(areas.names, areas.point.T, strict=True) if np.isnan(values).any()]
        if not missing:
            return {}
        text = f"{', '.join(missing)}: {NO_ESTIMATE}"
        validate.warn(f"There is no point by {text}. The interval is that of the area under the drawn curves.")
        return {"reason": text}
    text = "; ".join(said)
    advice = "Scores that aren't all alike have one" if "bayesian:" in text else ADVICE
    validate.warn(f"There is no interval by {text}. {advice}.")
    return {"reason": text}


def check_samples(y_true: Any, y_score: Mapping[str, Any]) -> None:
    """Refuse two samples without the labels of each."""
    if not isinstance(y_true, Mapping) or set(y_true) != set(y_score):
        raise ValueError(
            "`y_true` must have the labels of each sample for design='independent', by the names of `y_score`: "
            "auc_difference({'a': y_a, 'b': y_b}, {'a': scores_a, 'b': scores_b}, design='independent')."
        )


def same_classes(one: list[Any], other: list[Any]) -> None:
    """Refuse two samples with different classes."""
    if one != other:
        raise ValueError(f"`y_true` must have the same classes in both samples; got {one} and {other}.")


def of_second(seed: int) -> int:
    """Return the seed of the second of two samples."""
    return int(matrix_rng(seed, 0, Stream.SECOND_SAMPLE).integers(2**62))


def of_two(
    systems: Sequence[str], areas: Any, answers: Sequence[tuple[Found, float]], attrs: Mapping[str, Any],
    estimators: Sequence[str] | None = None, most: float = 1.0,
) -> xr.Dataset:  # fmt: skip
    """Return the Dataset of a difference: of areas (2, n), n answers, over the estimators if they have names."""
    limits = np.array([[found.lower, found.upper] for found, _ in answers])
    last = "probability_better" if attrs["method"] == "bayesian" else "p_value"
    found = xr.Dataset(
        {
            "point": (ESTIMATOR, areas[0] - areas[1]),
            "auc": ((SYSTEM, ESTIMATOR), areas),
            "se": (ESTIMATOR, [one.se for one, _ in answers]),
            "interval": ((ESTIMATOR, CI_BOUND), np.clip(limits, -most, most)),
            "clipped": ((ESTIMATOR, CI_BOUND), np.abs(limits) > most),
            last: (ESTIMATOR, [value for _, value in answers]),
        },
        coords={SYSTEM: list(systems), CI_BOUND: interval_coordinate(attrs["ci_prob"], kind([attrs["method"]]))},
        attrs=attributes(**{"assumptions": assumed(None, BY_DESIGN[attrs["design"]], items=EACH_CLASS)} | dict(attrs)),
    )
    for variable in found.data_vars:
        found[variable].attrs = {"long_name": _OF_TWO[str(variable)], "units": "1"}
    return found.isel({ESTIMATOR: 0}) if estimators is None else found.assign_coords({ESTIMATOR: list(estimators)})
