"""The door to every question: what people give first is read, in as many places as it takes."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from bayescm.data import validate
from bayescm.data.answers import of_k_runs, refuse_numbers
from bayescm.data.counts import from_cells
from bayescm.data.evidence import Evidence
from bayescm.data.options import arguments_of, explained, reading, spread
from bayescm.data.rankings import PLACKETT_LUCE
from bayescm.data.recognisers import BOARD, COUNTS, K_OF_N, SYSTEMS, Given, understood
from bayescm.data.schema import (
    CELLS_OF_TWO,
    ITEM,
    MEAN_SCORE,
    ONE_CLASS,
    PREDICTED,
    RUN,
    STRATUM,
    SYSTEM,
    WEIGHT,
    column_key,
)
from bayescm.data.shapes import (
    are_answers,
    are_labels,
    are_passes,
    has_fractions,
    is_list,
    is_matrix,
    is_number,
    is_scored,
    is_table,
)
from bayescm.data.sides import scores_of
from bayescm.data.tabular import COVARIATES
from bayescm.data.thresholds import counts_at_thresholds
from bayescm.data.units import by_unit, marked

_OF_LABELS = ("labels", "pos_label")
_OF_TABLES = (*_OF_LABELS, "rows", "columns")
_OF_ANSWERS = {MEAN_SCORE: (MEAN_SCORE, "recall")} | dict.fromkeys(("accuracy", "acc"), ("accuracy", "recall"))
_OF_ANSWERS |= dict.fromkeys(("error_rate", "err"), ("error_rate", "false_negative_rate"))
"""What right and wrong answers have, as it is called, and the rate of the one class that it is."""


@dataclass(frozen=True)
class Door:
    """Let a function take all that can be read in place of its first argument; options it doesn't have are explained.

    Attributes
    ----------
    about : {"counts", "systems", "board"}
        What the function asks about.
    runs : bool
        Whether it takes several runs of an item that are no systems.
    """

    about: str = COUNTS
    runs: bool = False

    def __call__[**P, R](self, function: Callable[P, R]) -> Callable[P, R]:
        """Return the function as all see it, which reads first."""
        known, own = explained(function), arguments_of(function)

        def read(given: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
            given = _in_place(given, options, own[0], "y_pred")
            cells = {} if given else {column_key(name): name for name in options}
            if set(CELLS_OF_TWO) <= set(cells):
                given = (_taken(options, [cells[cell] for cell in CELLS_OF_TWO]),)
            if given:
                try:
                    given = self._read(_gathered(given, options, own) if self.about != COUNTS else given, options, own)
                except ValueError:
                    known(options)  # what wasn't understood may be what the data would have needed
                    raise
            if given and isinstance(given[0], Evidence):
                given = self._fitted(function, given, options)
            known(options)
            return given

        return reading(read)(function)

    def _read(self, given: tuple[Any, ...], options: dict[str, Any], own: Sequence[str]) -> tuple[Any, ...]:
        """Return evidence in place of what it was read from; what isn't known stays as it is, and so do rankings."""
        if self.about == BOARD and options.get("model") == PLACKETT_LUCE:
            return given
        if self.about != COUNTS and (stratum := options.pop(STRATUM, None)) is not None:
            if options.get("unit") is not None:
                raise ValueError("`unit` and `stratum`: give one of them.")
            options["unit"] = stratum
            try:
                evidence, *rest = self._read(given, options, own)
            except ValueError as error:
                raise ValueError(str(error).replace("`unit`", "`stratum`")) from None
            return replace(evidence, data=over_strata(evidence.data, stratum)), *rest
        first, *rest = given
        if all(map(is_number, (first, *rest[:2]))) and len(rest) > 1:
            refuse_numbers(first, *rest)
        second = rest[0] if rest and self._is_data(first, rest[0]) else None
        names = list(_OF_LABELS) if second is not None and not is_number(second) else []
        names += _OF_TABLES if is_table(first) else []
        names += ["runs"] if (self.runs or self.about != COUNTS) and are_passes(first) else []
        names += ["n_items"] if self.about != COUNTS else []
        names += ["unit", WEIGHT]
        taken = {name: value for name, value in _taken(options, names).items() if value is not None}
        columns = {**(taken.pop("columns", None) or {}), **_covariates(first, options)}
        evidence = understood(Given(first, second, self.about, taken, columns))
        if evidence is None:
            marked(first, taken.get("unit"))
        return given if evidence is None else (evidence, *(rest if second is None else rest[1:]))

    def _is_data(self, first: Any, second: Any) -> bool:
        """Say whether a second argument belongs to the data."""
        if self.about == COUNTS:
            return are_labels(first, second) or (is_number(first) and is_number(second))
        if is_list(first) and are_answers(second):
            return True
        answers = next(iter(first.values())) if isinstance(first, Mapping) and are_answers(first) else ()
        if is_list(second) and is_list(answers) and {*np.ravel(second).tolist()} & {*np.ravel(answers).tolist()}:
            raise ValueError(f"The truth comes first: (y_true, {{{', '.join(f'{name!r}: ...' for name in first)}}}).")
        if not isinstance(second, str | Mapping) and is_matrix(second):
            raise ValueError(
                "Two matrices go into one mapping: bayescm.compare_systems({'A': counts_a, 'B': counts_b})."
            )
        return False

    def _fitted(self, function: Callable[..., Any], given: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
        """Return the data as a function takes them: right and wrong answers as matrices with one class."""
        evidence, *rest = given
        data = evidence.data
        parameters = inspect.signature(function).parameters
        asked = next((name for name in ("metrics", "metric") if name in parameters), None)
        if ONE_CLASS in getattr(data, "attrs", {}) and by_unit(data) is not None:
            usual = MEAN_SCORE if is_scored(data) else "accuracy"
            if self.about == COUNTS and asked is None and "claims" not in parameters:
                raise ValueError(
                    f"`counts` of {evidence.kind} have a {usual.replace('_', ' ')} and no other metric; "
                    f"{function.__name__} takes matrices."
                )
            if asked is not None and (rest[0] if rest else options.get(asked)) is None:
                options[asked], rest = usual, rest[1:]
            return data, *rest
        if self.about != COUNTS or not evidence.kind.startswith("right"):
            return data, *rest
        if RUN in data.dims and self.runs and asked is None:
            return data, *rest
        rates = _rates(function.__name__, asked, evidence, rest, options)
        if RUN in data.dims and not self.runs:
            raise ValueError(
                f"`counts` has several runs of an item, which {function.__name__} would take for items of their own: "
                "bayescm.summary has their accuracy; one run is data.isel(run=0)."
            )
        metric: Any = rates if asked == "metrics" else next(iter(rates.values()))
        counts, more = data if RUN in data.dims else _of_one_class(data), rest if _is_one(evidence) else rest[1:]
        if parameters[str(asked)].kind is not inspect.Parameter.KEYWORD_ONLY:
            return counts, metric, *more
        options[str(asked)] = metric
        return counts, *more


takes_counts, takes_runs = Door(), Door(runs=True)
takes_systems, takes_board = Door(SYSTEMS), Door(BOARD)


def takes_scores[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Let a function of counts at thresholds take ``f(y_true, y_score, ...)``, too."""
    parameters = inspect.signature(function).parameters
    first = next(iter(parameters))

    def read(given: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
        given = _in_place(given, options, first, "y_score")
        if len(given) < 2 or not are_labels(given[0], given[1]) or not has_fractions(given[1]):
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


def takes_items[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Let a function of labels and scores take a table of them; options it doesn't have are explained."""
    known, (first, second, *_) = explained(function), arguments_of(function)

    def read(given: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
        given = _in_place(given, options, first, second)
        alone = len(given) == 1 and is_table(given[0])
        if alone and (table := Given(given[0], columns=options.pop("columns", None) or {}).table) is not None:
            unit = options.get("unit") if isinstance(options.get("unit"), str) else None
            data = scores_of(table, unit, options.pop("pos_label", None))
            if unit is not None:
                options["unit"] = data[unit].values
            given = spread((Evidence(data, "a table of scores"),), options)
        known(options)
        return given

    return reading(read)(function)


def over_strata(data: Any, stratum: str) -> xr.DataArray:
    """Return counts (system, stratum, actual, predicted) of those read by a column of strata."""
    if not isinstance(data, xr.DataArray) or not {SYSTEM, stratum} <= {*data.dims}:
        raise ValueError(
            "`stratum` is for systems on items of their own, a row for each with the columns system, actual and "
            "predicted, or with cells, or with correct and total; answers to the same items need none."
        )
    kept = {ONE_CLASS: 1} if ONE_CLASS in data.attrs else {}
    return data.rename({stratum: STRATUM}).drop_attrs(deep=False).assign_attrs(kept)


def _gathered(given: tuple[Any, ...], options: dict[str, Any], own: Sequence[str]) -> tuple[Any, ...]:
    """Put the predictions of several systems together: by place, or by names that no option has."""
    first, *rest = given
    if not rest and is_list(first):  # a=pred_a, b=pred_b
        named = [name for name, value in options.items() if name not in own and is_list(value)]
        return (first, _taken(options, named)) if len(named) > 1 else given
    several = next((i for i, one in enumerate(rest) if not is_list(one) or not are_answers(one)), len(rest))
    return (first, rest[:several], *rest[several:]) if is_list(first) and several > 1 else given


def _is_one(evidence: Evidence) -> bool:
    """Say whether evidence is one proportion, that has no other name."""
    return evidence.how == K_OF_N and not evidence.data.dims


def _rates(
    name: str, asked: str | None, evidence: Evidence, rest: list[Any], options: dict[str, Any]
) -> dict[str, str]:
    """Return the rates of the one class that are asked of right and wrong answers, by what they are called."""
    if _is_one(evidence):
        if asked is None or asked in options or any(map(is_number, rest)):
            right, wrong = (int(evidence.data[name]) for name in ("correct", "wrong"))
            refuse_numbers(right, right + wrong, *rest)
        return {"proportion": "recall"}
    if asked is None:
        raise ValueError(
            f"`counts` of right and wrong answers have an accuracy and no other metric; {name} takes "
            "matrices. The accuracy is in bayescm.summary and bayescm.interval, the probability that it is above .8 in "
            "bayescm.metric_distribution({'correct': 45, 'wrong': 5}).sf(.8)."
        )
    wanted = rest[0] if rest else options.pop(asked, None)
    metrics = ["accuracy"] if wanted is None else wanted if isinstance(wanted, list | tuple) else [wanted]
    known = _OF_ANSWERS | ({one: (one, one) for one in metrics if of_k_runs(one)} if RUN in evidence.data.dims else {})
    rates = dict(known[one] for one in metrics if isinstance(one, str) and one in known)
    if not rates or len(rates) < len(metrics) or (asked == "metric" and len(rates) > 1):
        raise ValueError(
            "`counts` of right and wrong answers have an accuracy and no other metric but its error rate; for another "
            "one give matrices: bayescm.from_cells(tp=45, fn=5, fp=10, tn=90)."
        )
    return rates


def _of_one_class(data: xr.Dataset) -> xr.DataArray:
    """Return right and wrong answers as matrices with one class."""
    right = data[PREDICTED].sum(ITEM) if PREDICTED in data else data["correct"]
    wrong = data.sizes[ITEM] - right if PREDICTED in data else data["wrong"]
    nothing = np.zeros_like(right.values)
    counts = from_cells(tp=right.values, fn=wrong.values, fp=nothing, tn=nothing).assign_attrs({ONE_CLASS: 1})
    return counts.assign_coords({SYSTEM: data[SYSTEM]}) if SYSTEM in data.coords else counts


def _in_place(given: tuple[Any, ...], options: dict[str, Any], first: str, second: str) -> tuple[Any, ...]:
    """Put what came by name before all else: the data, or the truth, and the predictions or scores."""
    for name, one in zip((first, second), given, strict=False):
        validate.columns_once(name, one)
    if not given:
        name = "y_true" if "y_true" in options else first
        given = (options.pop(name),) if name in options else ()
    return (given[0], options.pop(second), *given[1:]) if given and second in options else given


def _covariates(data: Any, options: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the columns of a table that a model takes for covariates, by name or in a formula."""
    asked = options.get(COVARIATES)
    if not isinstance(asked, str | list | tuple) or not is_table(data):
        return {}
    names = re.findall(r"\w+", asked.rpartition("~")[2]) if isinstance(asked, str) else asked
    return {COVARIATES: [name for name in names if name != "1"]}


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
            "bayescm.curves.counts_at_thresholds(y_true, y_score, thresholds=[0.5]).isel(threshold=0)."
        )
