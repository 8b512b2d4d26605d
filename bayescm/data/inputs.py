"""The door: what people give first becomes counts, or answers to the same items, where it has one meaning only."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayescm.data import validate
from bayescm.data.answers import read_passes, read_systems, right_and_wrong
from bayescm.data.counts import confusion_matrix, from_cells
from bayescm.data.items import predictions
from bayescm.data.options import explained, reading
from bayescm.data.readings import is_list, is_matrix, is_number, read_counts
from bayescm.data.schema import CELLS_OF_TWO, ITEM, ONE_CLASS, SYSTEM
from bayescm.data.thresholds import counts_at_thresholds

_OF_LABELS = ("labels", "pos_label")
_OF_ANSWERS = dict.fromkeys(("accuracy", "acc"), ("accuracy", "recall")) | dict.fromkeys(
    ("error_rate", "err"), ("error_rate", "false_negative_rate")
)
"""What right and wrong answers have, as it is called, and the rate of the one class that it is."""


def takes_counts[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Let a function that takes counts take what makes them, too.

    Two arrays of labels, ``f(y_true, y_pred, ...)`` with `labels` and `pos_label`; k of n, ``f(45, 50)``; right and
    wrong answers, ``{"correct": [...], "wrong": [...]}``; and all that :func:`read_counts` reads. Options that the
    function doesn't have are explained.
    """
    known, first = explained(function), next(iter(inspect.signature(function).parameters))

    def read(given: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
        given = _in_place(given, options, first, "y_pred")
        if not given and set(CELLS_OF_TWO) <= set(options):
            given = (from_cells(**_taken(options, CELLS_OF_TWO)),)
        if function.__name__ == "summary" and _takes_passes(given, options):
            given = _accuracy(function, read_passes(given[0], options.pop("runs")), given, options)
        elif len(given) > 1 and _are_labels(given[0], given[1]):
            given = (confusion_matrix(given[0], given[1], **_taken(options, _OF_LABELS)), *given[2:])
        elif len(given) > 1 and all(map(is_number, given[:2])):
            given = _proportion(function, given, options)
        elif given and (answers := right_and_wrong(given[0])) is not None:
            given = _accuracy(function, _of_one_class(answers), given, options)
        elif given and isinstance(given[0], xr.Dataset) and ONE_CLASS in given[0].attrs:
            given = _accuracy(function, given[0], given, options)
        elif given:
            given = (read_counts(given[0]), *given[1:])
        known(options)
        return given

    return reading(read)(function)


def takes_scores[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Let a function of counts at thresholds take ``f(y_true, y_score, ...)``, too."""
    parameters = inspect.signature(function).parameters
    first = next(iter(parameters))

    def read(given: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
        given = _in_place(given, options, first, "y_score")
        if len(given) < 2 or not _are_labels(given[0], given[1]) or not _has_fractions(given[1]):
            return given
        true, score, *rest = given
        cut = None
        if "thresholds" in parameters:  # of action, so that scores must be probabilities
            _check_probabilities(score)
            cut = rest.pop(0) if rest else options.pop("thresholds", None)
            cut = np.arange(1, 100) / 100.0 if cut is None else cut
        how = _taken(options, (*_OF_LABELS, "direction"))
        return (counts_at_thresholds(true, score, thresholds=cut, **how), *rest)

    return reading(read)(function)


def takes_systems[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Let a function that compares systems take ``f(y_true, {"A": y_pred, ...}, ...)`` and all of `read_systems`."""
    known, own = explained(function), list(inspect.signature(function).parameters)

    def read(given: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
        given = _in_place(given, options, own[0], "y_pred")
        if len(given) == 1 and is_list(given[0]):  # a=pred_a, b=pred_b
            named = [name for name, value in options.items() if name not in own and is_list(value)]
            given = (*given, _taken(options, named)) if len(named) > 1 else given
        if _takes_passes(given, options):
            given = (read_passes(given[0], options.pop("runs")), *given[1:])
        elif len(given) > 1 and is_list(given[0]) and _are_answers(given[1]):
            given = _with_answers(given, _taken(options, _OF_LABELS))
        elif len(given) > 1 and not isinstance(given[1], str | Mapping) and is_matrix(given[1]):
            raise ValueError(
                "Two matrices go into one mapping: bayescm.compare_systems({'A': counts_a, 'B': counts_b})."
            )
        elif given:
            given = (read_systems(given[0], leaderboard=function.__name__ == "leaderboard"), *given[1:])
        known(options)
        return given

    return reading(read)(function)


def _takes_passes(given: tuple[Any, ...], options: Mapping[str, Any]) -> bool:
    """Say whether data are numbers of passes, by system or of one; of counts `runs` says something else."""
    if "runs" not in options or not given or isinstance(given[0], xr.Dataset | xr.DataTree):
        return False
    if isinstance(given[0], Mapping):
        return all(map(is_list, given[0].values()))
    return not isinstance(given[0], xr.DataArray) or set(given[0].dims) == {ITEM, SYSTEM}


def _are_labels(first: Any, second: Any) -> bool:
    """Say whether two arguments are labels of the same items: text by text, or numbers by numbers."""
    shape: Any = getattr(second, "shape", ())
    columns = len(shape) == 2 and shape[0] > shape[1] and getattr(first, "shape", None) == shape  # one per class
    alike = is_list(first) or columns
    if not alike or second is None or isinstance(second, str | Mapping) or hasattr(second, "columns"):
        return False
    if callable(second) or np.ndim(second) not in (1, 2):
        return False
    words = [isinstance(np.ravel(np.asarray(one))[:1].tolist()[0], str) for one in (first, second) if np.size(one)]
    return len(words) == 2 and (words[0] or not words[1])


def _are_answers(second: Any) -> bool:
    """Say whether an argument is predictions of one or several systems, not names of metrics."""
    if isinstance(second, Mapping):
        return bool(second) and all(is_list(one) or is_matrix(one) for one in second.values())
    if hasattr(second, "columns") or hasattr(second, "to_numpy"):
        return True
    return isinstance(second, Sequence | np.ndarray | xr.DataArray) and not _are_words(second)


def _are_words(values: Any) -> bool:
    return isinstance(values, str) or all(isinstance(one, str) or callable(one) for one in values)


def _has_fractions(values: Any) -> bool:
    array = np.asarray(values)
    return bool(array.dtype.kind == "f" and (array != np.floor(array)).any())


def _proportion(function: Callable[..., Any], given: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    """Take k of n for one proportion: the recall of a matrix with one class."""
    k, n = given[:2]
    name = _name_of_metrics(function)
    whole = all(isinstance(one, int | np.integer) for one in (k, n))
    if not whole or not 0 <= k <= n or name is None or name in options or any(map(is_number, given[2:])):
        raise ValueError(
            f"`counts` can't be the numbers {', '.join(map(str, given))}. k of n items is summary(k, n) or "
            "interval(k, n), two whole numbers, P(> 0.8) metric_distribution(k, n).sf(0.8); four cells are "
            "bayescm.from_cells(tp=45, fn=5, fp=10, tn=90)."
        )
    metric: Any = {"proportion": "recall"} if name == "metrics" else "recall"
    counts = from_cells(tp=k, fn=n - k, fp=0, tn=0).assign_attrs({ONE_CLASS: 1})
    return _with_metric(function, counts, metric, given[2:], options)


def _accuracy(
    function: Callable[..., Any], answers: Any, given: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Any, ...]:
    """Take right and wrong answers for their accuracy or error rate: rates of the one class that they are of."""
    name = _name_of_metrics(function)
    if name is None:
        raise ValueError(
            f"`counts` of right and wrong answers have an accuracy and no other metric; {function.__name__} takes "
            "matrices. The accuracy is in bayescm.summary and bayescm.interval, the probability that it is above .8 in "
            "bayescm.metric_distribution({'correct': 45, 'wrong': 5}).sf(.8)."
        )
    if isinstance(answers, xr.Dataset) and function.__name__ != "summary":
        raise ValueError(
            f"`counts` has several runs of an item, which {function.__name__} would take for items of their own: "
            "bayescm.summary has their accuracy; one run is data.isel(run=0)."
        )
    wanted = given[1] if len(given) > 1 else options.pop(name, None)
    asked = ["accuracy"] if wanted is None else wanted if isinstance(wanted, list | tuple) else [wanted]
    rates = dict(_OF_ANSWERS[one] for one in asked if isinstance(one, str) and one in _OF_ANSWERS)
    if not rates or len(rates) < len(asked) or (name == "metric" and len(rates) > 1):
        raise ValueError(
            "`counts` of right and wrong answers have an accuracy and no other metric but its error rate; for another "
            "one give matrices: bayescm.from_cells(tp=45, fn=5, fp=10, tn=90)."
        )
    metric: Any = rates if name == "metrics" else next(iter(rates.values()))
    return _with_metric(function, answers, metric, given[2:], options)


def _of_one_class(answers: xr.Dataset) -> xr.DataArray:
    """Return right and wrong answers as matrices with one class."""
    nothing = np.zeros_like(answers["correct"].values)
    counts = from_cells(tp=answers["correct"].values, fn=answers["wrong"].values, fp=nothing, tn=nothing)
    counts = counts.assign_attrs({ONE_CLASS: 1})
    return counts.assign_coords({SYSTEM: answers[SYSTEM]}) if SYSTEM in answers.coords else counts


def _with_metric(
    function: Callable[..., Any], counts: Any, metric: Any, more: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Any, ...]:
    """Put a metric in its place, or by its name among the options where it has no place."""
    name = str(_name_of_metrics(function))
    if inspect.signature(function).parameters[name].kind is not inspect.Parameter.KEYWORD_ONLY:
        return (counts, metric, *more)
    options[name] = metric
    return (counts, *more)


def _name_of_metrics(function: Callable[..., Any]) -> str | None:
    """Return how a function calls its metrics; None where it has none."""
    parameters = inspect.signature(function).parameters
    return next((name for name in ("metrics", "metric") if name in parameters), None)


def _with_answers(given: tuple[Any, ...], how: dict[str, Any]) -> tuple[Any, ...]:
    """Put the truth and the predictions of several systems together."""
    true, answers, *rest = given
    one_by_one = [answers]
    while rest and is_list(answers) and is_list(rest[0]) and not _are_words(rest[0]):
        one_by_one.append(rest.pop(0))
    if len(one_by_one) > 1:
        answers = one_by_one
    elif is_list(answers) and not isinstance(answers, Mapping):
        raise ValueError(
            "`data` are two arrays of labels: the truth and one system, or two systems without the truth? Give both: "
            "bayescm.compare_systems(y_true, {'A': y_pred_a, 'B': y_pred_b})."
        )
    elif hasattr(answers, "columns"):
        answers = {str(name): answers[name] for name in answers.columns}
    elif isinstance(answers, np.ndarray):
        n = len(true)
        if answers.shape == (n, n) or n not in answers.shape:
            raise ValueError(
                f"`y_pred` has the shape {answers.shape} for {n} items; give {{'A': y_pred_a, 'B': y_pred_b}}."
            )
        answers = list(answers.T if len(answers) == n else answers)
    return predictions(true, answers, **how), *rest


def _in_place(given: tuple[Any, ...], options: dict[str, Any], first: str, second: str) -> tuple[Any, ...]:
    """Put what came by name before all else: the data, or the truth, and the predictions or scores."""
    for name, one in zip((first, second), given, strict=False):
        validate.columns_once(name, one)
    if not given:
        name = "y_true" if "y_true" in options else first
        given = (options.pop(name),) if name in options else ()
    return (given[0], options.pop(second), *given[1:]) if given and second in options else given


def _taken(options: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Take options out."""
    return {name: options.pop(name) for name in names if name in options}


def _check_probabilities(score: Any) -> None:
    """Refuse scores that are no probabilities."""
    values = validate.real_numbers("y_score", score)
    if values.min() < 0.0 or values.max() > 1.0:
        raise ValueError(
            "`y_score` must be probabilities here, whose thresholds are those of acting; got "
            f"{values.min():g} to {values.max():g}. Calibrate them, or give the matrix of one cut: "
            "bayescm.counts_at_thresholds(y_true, y_score, thresholds=[0.5]).isel(threshold=0)."
        )
